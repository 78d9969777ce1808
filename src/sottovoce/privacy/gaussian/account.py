"""The privacy account: what one node can promise alone, against everyone else colluding.

If all others pool what they know, the flows into a node are known to them, so that its t-th message
amounts to its private value plus an independent draw of standard deviation σφ^t. The Fisher
information about the value is then the sum of 1/(σ²φ^{2t}) over the messages shown, whatever the graph
and whoever called (:func:`~sottovoce.methods.noise_insertion.information`): it bounds what *any* observer
learns. Newer messages carry almost all of it: the noise a node has left is its privacy.

What a particular observer learns, usually far less, is :func:`~sottovoce.privacy.audit`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ...errors import InvalidParameter, Unsupported
from ...methods.noise_insertion import information
from . import gdp

__all__ = ["Account"]

_ROUNDING = 1e-9
"""A budget is kept to one part in 10⁹: sums of information are not exact in floating point."""


@dataclass(frozen=True)
class Account:
    """What a node has shown of its private value so far, and what it may still show.

    Frozen: spending and fresh starts return a new account, so that a caller can store the new one
    before it acts on it. ``information`` and ``messages`` are all the state there is.

    Parameters
    ----------
    noise_std
        σ ≥ 0 of the node's first noise.
    noise_decay
        φ in [0, 1): the share of amplitude kept per message.
    budget
        The most information that may ever be shown about one private value; infinite means no limit.
        Use :meth:`with_budget` to give it as μ, as (ε, δ) or as a standard deviation.
    information
        Information A = Σ 1/(σ²φ^{2t}) over the messages shown since the private value last changed.
    messages
        Messages shown since the noise last started afresh; the next one carries noise σφ^messages.

    Examples
    --------
    >>> account = Account(noise_std=1.0, noise_decay=0.5, budget=100.0)
    >>> account.remaining()
    4
    >>> account = account.spend(3)
    >>> round(account.information, 6), round(account.std, 6), account.remaining()
    (21.0, 0.218218, 1)
    >>> account.rearmed().remaining(), account.new_secret().remaining()
    (3, 4)
    """

    noise_std: float
    noise_decay: float
    budget: float = math.inf
    information: float = 0.0
    messages: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.noise_std) and self.noise_std >= 0.0):
            raise InvalidParameter(f"noise_std must be finite and in [0, inf), got {self.noise_std:g}")
        if not 0.0 <= self.noise_decay < 1.0:
            raise InvalidParameter(f"noise_decay must be in [0, 1), got {self.noise_decay:g}")
        if not self.budget >= 0.0:
            raise InvalidParameter(f"budget must be at least 0, got {self.budget:g}")
        if not self.information >= 0.0:
            raise InvalidParameter(f"information must be at least 0, got {self.information:g}")
        if self.messages < 0 or self.messages != int(self.messages):
            raise InvalidParameter(f"messages must be a whole number of at least 0, got {self.messages}")

    @classmethod
    def with_budget(
        cls,
        *,
        noise_std: float,
        noise_decay: float,
        mu: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        std: float | None = None,
        sensitivity: float | None = None,
    ) -> Account:
        """An account whose budget is given in privacy terms.

        Parameters
        ----------
        noise_std, noise_decay
            σ and φ of the node.
        mu
            Budget in Gaussian differential privacy, for two values ``sensitivity`` apart.
        epsilon, delta
            Budget as (ε, δ)-differential privacy, for two values ``sensitivity`` apart.
        std
            Budget as the smallest standard deviation that an unbiased estimate of the value may reach.
        sensitivity
            Δ > 0: how far apart two values are that must not be told apart. No default: it decides
            what is promised.

        Examples
        --------
        >>> Account.with_budget(noise_std=1.0, noise_decay=0.5, mu=2.0, sensitivity=0.2).budget
        100.0
        >>> round(Account.with_budget(noise_std=1.0, noise_decay=0.5, std=0.1).budget, 6)
        100.0
        """
        given = [name for name, value in (("mu", mu), ("epsilon", epsilon), ("std", std)) if value is not None]
        if len(given) != 1 or (epsilon is None) != (delta is None):
            raise InvalidParameter(
                f"give the budget as exactly one of mu, epsilon with delta, or std; got {given or 'nothing'}"
            )
        if std is not None:
            if not std > 0.0:
                raise InvalidParameter(f"std must be above 0, got {std:g}")
            return cls(noise_std, noise_decay, budget=std**-2)
        if sensitivity is None or not 0.0 < sensitivity < math.inf:
            raise InvalidParameter(f"sensitivity must be given, finite and above 0, got {sensitivity}")
        if epsilon is not None and delta is not None:
            mu = gdp.largest_mu(epsilon, delta)
        if mu is None or not mu >= 0.0:
            raise InvalidParameter(f"mu must be at least 0, got {mu}")
        return cls(noise_std, noise_decay, budget=(mu / sensitivity) ** 2)

    # -- what has been shown --------------------------------------------------------------------

    @property
    def std(self) -> float:
        """Standard deviation of the best unbiased estimate everyone else together can make: A^{−1/2}."""
        if self.information == 0.0:
            return math.inf
        return 0.0 if math.isinf(self.information) else self.information**-0.5

    def mu(self, sensitivity: float) -> float:
        """μ of Gaussian differential privacy for two values ``sensitivity`` apart: Δ√A."""
        if not 0.0 <= sensitivity < math.inf:
            raise InvalidParameter(f"sensitivity must be finite and at least 0, got {sensitivity:g}")
        return 0.0 if sensitivity == 0.0 else sensitivity * math.sqrt(self.information)

    def epsilon(self, delta: float, *, sensitivity: float) -> float:
        """The ε of (ε, δ)-differential privacy for two values ``sensitivity`` apart."""
        return gdp.epsilon(self.mu(sensitivity), delta)

    def delta(self, epsilon: float, *, sensitivity: float) -> float:
        """The δ of (ε, δ)-differential privacy for two values ``sensitivity`` apart."""
        return gdp.delta(self.mu(sensitivity), epsilon)

    # -- what may still be shown ----------------------------------------------------------------

    @property
    def next_noise_std(self) -> float:
        """σφ^t: the noise the next message would carry."""
        return self.noise_std * self.noise_decay**self.messages

    @property
    def cost(self) -> float:
        """Information the next message would add: 1/(σ²φ^{2t})."""
        std = self.next_noise_std
        return math.inf if std == 0.0 else 1.0 / std / std

    def cost_of(self, num_messages: int) -> float:
        """Information that the next ``num_messages`` messages would add together."""
        if num_messages == 1:
            return self.cost
        return float(information(self.next_noise_std, self.noise_decay, num_messages))

    def affords(self, num_messages: int = 1) -> bool:
        """Whether that many more messages stay within the budget (to one part in 10⁹)."""
        return math.isinf(self.budget) or self.information + self.cost_of(num_messages) <= self.budget * (
            1.0 + _ROUNDING
        )

    def remaining(self) -> float:
        """How many more exchanges the budget allows: a whole number, or infinity without a budget.

        An exchange shows one message. The account's own arithmetic confirms the answer: this many are
        affordable and one more is not.
        """
        if math.isinf(self.budget):
            return math.inf
        if not self.affords(1):
            return 0
        count = 1
        if self.noise_decay > 1e-20:  # otherwise one step outgrows all budgets but a few
            growth = -2.0 * math.log(self.noise_decay)
            left = self.budget * (1.0 + _ROUNDING) - self.information
            room = math.log(left) + 2.0 * math.log(self.next_noise_std) + math.log(math.expm1(growth))
            # log(1 + exp(room)), in logarithms because σ² may leave the range of floating point.
            count = max(1, math.floor((max(room, 0.0) + math.log1p(math.exp(-abs(room)))) / growth))
        while self.affords(count + 1):
            count += 1
        while count > 0 and not self.affords(count):
            count -= 1
        return count

    # -- changes --------------------------------------------------------------------------------

    def spend(self, num_messages: int = 1) -> Account:
        """The account after showing ``num_messages`` more messages, each with a fresh draw.

        A message that repeats an earlier one, bit for bit, or whose noise is the old draw left in
        place, shows nothing new and is not spent.

        Raises
        ------
        Unsupported
            If the budget does not allow it.
        """
        if num_messages < 0:
            raise InvalidParameter(f"num_messages must be at least 0, got {num_messages}")
        if num_messages and not self.affords(num_messages):
            raise Unsupported(
                f"the privacy budget allows {self.remaining()} more messages, {num_messages} were asked for; "
                "stop, keep the noise that is in place, or raise the budget"
            )
        return replace(
            self, information=self.information + self.cost_of(num_messages), messages=self.messages + num_messages
        )

    def rearmed(self) -> Account:
        """Fresh noise for the same private value: amplitude σ again, information carried over."""
        return replace(self, messages=0)

    def new_secret(self) -> Account:
        """A fresh start for an unrelated private value: full noise, nothing shown.

        Only right if the new value tells nothing about the old one. For a correlated series, such as
        a meter read every hour, keep the account and use :meth:`rearmed`.
        """
        return replace(self, messages=0, information=0.0)

    def allowing(self, information: float) -> Account:
        """A budget for so much more than was shown already.

        Examples
        --------
        >>> Account(noise_std=1.0, noise_decay=0.5, information=5.0).allowing(16.0).remaining()
        2
        """
        return replace(self, budget=self.information + information if information > 0.0 else 0.0)

    def carrying(self, information: float) -> Account:
        """Composition: add what was shown of the same value elsewhere, under independent noise."""
        return replace(self, information=self.information + information)
