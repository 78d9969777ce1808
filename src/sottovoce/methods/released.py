"""What a method shows, as frozen descriptions in the manner of ``dp_accounting``: facts, and no analysis.

A method says once what its messages are made of (:meth:`sottovoce.methods.base.Method.releases`); everyone who says
something about privacy asks for that description and never for the method's class. What follows from a description
is found by :mod:`sottovoce.privacy.analysers`, each of which says which descriptions it understands.

===================== ==========================================================================================
:class:`NotStated`    nothing is said, so nothing may be concluded: *not analysed*
:class:`InTheClear`   the first message of a node is its private value
:class:`Comparisons`  the two ends learn only which value is larger, or whether they differ by a gap
:class:`WithdrawnNoise`  pairwise exchanges of the value under Gaussian noise that is replaced at every activation
:class:`SealedNoise`  the same, after the two ends of every edge shared a random number that cancels between them
:class:`FrozenNoise`  the same, with noise that is not replaced any more after a number of activations
:class:`LinearRounds` broadcasts in rounds, linear in the private values and in independent noise
:class:`LinearSystem` rounds in which nodes remember several numbers, all linear in the same sense
:class:`LinearSteps`  the same, where one node acts in a step
:class:`NotGaussian`  something is hidden, but not by Gaussian noise: *not analysed*, with the reason in words
===================== ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse

__all__ = [
    "Comparisons",
    "FadingNoise",
    "FrozenNoise",
    "InTheClear",
    "LinearRound",
    "LinearRounds",
    "LinearSteps",
    "LinearSystem",
    "NotGaussian",
    "NotStated",
    "Released",
    "SealedNoise",
    "WithdrawnNoise",
]

Array = npt.NDArray[np.float64]


class Released:
    """Base of all descriptions."""

    words: ClassVar[str]
    """For a table, when no analysis is made."""

    in_rounds: ClassVar[bool] = False
    """Whether all nodes speak at once; time is then counted in rounds, and no edge fires."""

    by_nodes: ClassVar[bool] = False
    """Whether one node speaks to all its neighbours in a step; a run is then a list of nodes, not of edges."""

    hearing: str = "messages are broadcast: curious nodes hear all messages of their neighbours"
    """What a curious node hears of its neighbours in a round, for a report."""

    epsilon: float | None = None
    """Proved differential privacy of values one apart against an observer of all messages; ``None``: none is."""

    def without_noise(self) -> Released:
        """The same messages with all noise left out."""
        return self


@dataclass(frozen=True)
class NotStated(Released):
    """The method does not say what it shows. Neither *in the clear* nor *private*: not analysed."""

    words: ClassVar[str] = "not analysed"


@dataclass(frozen=True)
class InTheClear(Released):
    """The first thing a node says to a neighbour is its private value."""

    words: ClassVar[str] = "values in the clear"


@dataclass(frozen=True)
class NotGaussian(Released):
    """What is said is hidden by something that the audits do not cover, such as secret weights or sums modulo p."""

    words: str  # type: ignore[misc]  # what hides it, and when it is said, differ from method to method
    in_rounds: bool = True  # type: ignore[misc]


@dataclass(frozen=True)
class Comparisons(Released):
    """An exchange tells its two ends the outcome of one comparison of their values and nothing else."""

    words: ClassVar[str] = "comparisons only"


@dataclass(frozen=True, eq=False)
class WithdrawnNoise(Released):
    """At its t-th activation (t = 0, 1, …) node i shows x_i with fresh noise, of deviation σ_i φ_i^t,
    in place of its last.

    The exchange then moves both ends to the mean of what they showed. σ = 0 is standard gossip.
    """

    noise_std: Array
    """``(n,)`` σ."""
    noise_decay: Array
    """``(n,)`` φ in [0, 1)."""

    words: ClassVar[str] = "values under withdrawn noise"

    def without_noise(self) -> WithdrawnNoise:
        return WithdrawnNoise(np.zeros_like(self.noise_std), np.zeros_like(self.noise_decay))


@dataclass(frozen=True, eq=False)
class FrozenNoise(Released):
    """Withdrawn noise for a node's first T_i activations; after them the noise of the last of these stays in its value.

    A node that makes no further draw shows its value as it is.
    """

    noise_std: Array
    """``(n,)`` σ."""
    noise_decay: Array
    """``(n,)`` φ in [0, 1)."""
    draws: Array
    """``(n,)`` T ≥ 1."""

    words: ClassVar[str] = "values under noise that is left in place"

    def without_noise(self) -> WithdrawnNoise:
        return WithdrawnNoise(np.zeros_like(self.noise_std), np.zeros_like(self.noise_decay))


@dataclass(frozen=True, eq=False)
class SealedNoise(Released):
    """Before the first exchange every edge shares a number m ~ N(0, s²), which one end adds and the other subtracts.

    From then on it is pairwise exchanges under withdrawn noise. The two ends know m, nobody else does.
    """

    seal_std: float
    """s."""
    after: WithdrawnNoise | FrozenNoise

    words: ClassVar[str] = "values under seals"

    def without_noise(self) -> WithdrawnNoise:
        return self.after.without_noise()


@dataclass(frozen=True, eq=False)
class FadingNoise:
    """Independent noise of every node in rounds 0 ≤ k < rounds, of standard deviation std · decay^k (0⁰ = 1)."""

    std: Array
    """``(n,)`` standard deviation in round 0."""
    decay: Array
    """``(n,)`` share kept per round."""
    rounds: Array
    """``(n,)`` how many rounds have noise; may be infinite."""
    law: str = "normal"
    """``"normal"`` or ``"laplace"``."""

    @classmethod
    def equal(cls, num_nodes: int, *, std: float, decay: float = 1.0, rounds: float = np.inf) -> FadingNoise:
        """The same at every node."""
        return cls(np.full(num_nodes, std), np.full(num_nodes, decay), np.full(num_nodes, rounds))

    @classmethod
    def none(cls, num_nodes: int) -> FadingNoise:
        """No noise."""
        return cls.equal(num_nodes, std=0.0, rounds=0)

    def in_round(self, k: int) -> Array:
        """``(n,)`` standard deviations in round k."""
        # Powers of plain floats: those of NumPy's arrays differ in the last bit between processors.
        faded = [std * decay**k for std, decay in zip(self.std.tolist(), self.decay.tolist(), strict=True)]
        return np.where(k < self.rounds, faded, 0.0)


@dataclass(frozen=True, eq=False)
class LinearRounds(Released):
    """In round k all nodes broadcast s = z + noise, less all they added so far in the round where they take that back.

    z is the node's value less what it will withdraw by itself; it starts at the private value and becomes
    kept·z + moved·s. In round 0 the ends of every edge may also add, with opposite signs, a number of deviation
    ``pair_std`` that both know.
    """

    kept: Array
    """``(n,)``."""
    moved: scipy.sparse.csr_array
    """``(n, n)``."""
    noise: FadingNoise
    taken_back: Array | None = None
    """``(n,)`` the round in which a node subtracts everything it added to earlier messages; ``None``: never."""
    pair_std: float = 0.0
    epsilon: float | None = None

    words: ClassVar[str] = "linear in the values and noise"
    in_rounds: ClassVar[bool] = True

    @property
    def gaussian(self) -> bool:
        """Whether all noise is normal, so that audits are exact."""
        return self.noise.law == "normal"

    def without_noise(self) -> LinearRounds:
        """With s = z a round is z ← (kept + moved)·z."""
        import scipy.sparse

        weights = scipy.sparse.csr_array(self.moved + scipy.sparse.diags_array(self.kept))
        return LinearRounds(np.zeros_like(self.kept), weights, FadingNoise.none(len(self.kept)))


@dataclass(frozen=True, eq=False)
class LinearRound:
    """One round of a :class:`LinearSystem`: messages and new rows, both from the rows before it and the same draws."""

    said: scipy.sparse.csr_array
    """``(messages, rows)``."""
    moved: scipy.sparse.csr_array
    """``(rows, rows)``."""
    said_noise: scipy.sparse.csr_array | None = None
    """``(messages, draws)``; ``None``: no draws in the messages."""
    moved_noise: scipy.sparse.csr_array | None = None
    """``(rows, draws)``; ``None``: no draws in the rows."""
    noise_std: float = 1.0
    """Deviation of the draws, so that rounds that differ in nothing else may share their matrices."""


@dataclass(frozen=True, eq=False)
class LinearSystem(Released):
    """Rounds in which every node holds some numbers (*rows*); messages and changes are linear in rows and fresh draws.

    Draws are independent and normal, of deviation 1 unless a round says otherwise. What a node does to its rows follows
    from them, from its draws and from messages that it hears. An observer knows the rows, draws and private values of
    its own nodes.
    """

    holders: npt.NDArray[np.int64]
    """``(rows,)`` the node that holds each row."""
    start: scipy.sparse.csr_array
    """``(rows, n)`` the rows before the first round, as far as they follow from private values …"""
    start_noise: scipy.sparse.csr_array
    """… and ``(rows, first draws)`` from draws made before."""
    start_known: npt.NDArray[np.int64]
    """``(first draws, 2)`` the one or two nodes that know each of these."""
    speakers: npt.NDArray[np.int64]
    """``(messages,)`` who sends each message of a round."""
    listeners: npt.NDArray[np.int64]
    """``(messages,)`` who hears it; −1: all neighbours of the speaker."""
    rounds: Callable[[int], LinearRound]
    """What happens in round k."""
    draws_known: npt.NDArray[np.int64]
    """``(draws,)`` the node that knows each draw of a round."""

    words: ClassVar[str] = "linear in the values and noise"
    in_rounds: ClassVar[bool] = True
    gaussian: ClassVar[bool] = True

    @property
    def hearing(self) -> str:  # type: ignore[override]
        """What a curious node hears of its neighbours in a round, for a report."""
        apart = "every neighbour is told something else: curious nodes hear what their neighbours tell them"
        return apart if (self.listeners >= 0).any() else Released.hearing

    @classmethod
    def broadcast(
        cls,
        *,
        start: Any,
        rounds: Callable[[int], LinearRound],
        start_noise: Any = None,
        start_known: npt.NDArray[np.int64] | None = None,
    ) -> LinearSystem:
        """Every node says one number to all its neighbours in a round, and has one draw in a round of its own.

        Rows come in blocks of n, node by node. ``start_noise``, if there is any, has one draw per node unless
        ``start_known`` says otherwise.
        """
        import scipy.sparse

        rows, n = start.shape
        everyone = np.arange(n)
        noise = scipy.sparse.csr_array((rows, 0)) if start_noise is None else scipy.sparse.csr_array(start_noise)
        if start_known is None:
            start_known = np.stack([everyone, everyone], axis=1)[: noise.shape[1]]
        return cls(
            holders=np.tile(everyone, rows // n),
            start=scipy.sparse.csr_array(start),
            start_noise=noise,
            start_known=start_known,
            speakers=everyone,
            listeners=np.full(n, -1),
            rounds=rounds,
            draws_known=everyone,
        )

    def without_noise(self) -> LinearSystem:
        """The same with all draws zero."""

        def quiet(k: int) -> LinearRound:
            return replace(self.rounds(k), said_noise=None, moved_noise=None)

        return replace(self, start_noise=self.start_noise[:, :0], start_known=self.start_known[:0], rounds=quiet)


@dataclass(frozen=True, eq=False)
class LinearSteps(LinearSystem):
    """A linear system in which one node acts in a step: ``rounds`` is asked with the node and not with the round.

    The only messages of the step that say anything are those of that node. Rows that are not its neighbours' or its own
    stay as they are.
    """

    in_rounds: ClassVar[bool] = False
    by_nodes: ClassVar[bool] = True
