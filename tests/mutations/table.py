"""Which code is mutated, which tests must notice, and the mistakes that have a name.

Code is referred to by its dotted name: a module, class, function, method or constant. When code moves, its line here
moves with it; a quick test says which lines lead nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HARMLESS", "NAMED", "TARGETS", "WANTED", "Named", "Target"]

WANTED = 0.85
"""The share of the unnamed mutants that must be killed. Named ones must all be."""


@dataclass(frozen=True)
class Target:
    """Code in which every usual mistake is tried, and the tests that are run for it."""

    code: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Named:
    """One particular mistake: in ``code``, ``old`` (which stands there once) becomes ``new``."""

    title: str
    code: str
    old: str
    new: str
    tests: tuple[str, ...]


_GDP = ("tests/privacy/gaussian/test_gdp.py", "src/sottovoce/privacy/gaussian/gdp.py")
_ACCOUNT = (
    "tests/privacy/gaussian/test_account.py",
    "src/sottovoce/privacy/gaussian/account.py",
    "tests/agreement/test_account_is_audit.py",
)
_LEDGER = ("tests/peer/protocol",)
_IDENTITY = ("tests/peer/membership/test_identity.py",)
_TLS = ("tests/peer/transport/test_tls.py",)
_HOSTILE = ("tests/attacks/test_a_hostile_neighbour.py::test_refused_messages_leave_the_store_as_it_was",)
_STORE = ("tests/peer/store",)
_NODE = ("tests/peer/runtime",)
_KERNEL = ("tests/methods/test_standard.py", "tests/methods/test_noise_insertion.py")
_ENGINE = ("tests/simulation/test_engine.py::test_early_stop",)

TARGETS = (
    Target("sottovoce.foundation.arguments", ("src/sottovoce/foundation", "tests/methods/test_base.py")),
    Target("sottovoce.foundation.files", ("tests/graphs/test_files.py",)),
    Target("sottovoce.privacy.gaussian.gdp", _GDP),
    Target("sottovoce.privacy.gaussian.account", _ACCOUNT),
    Target("sottovoce.methods.noise_insertion.update", _KERNEL),
    Target("sottovoce.methods.standard.update", _KERNEL),
    Target("sottovoce.peer.protocol.ledger", _LEDGER),
    Target("sottovoce.peer.protocol.stopping", _LEDGER),
    Target("sottovoce.peer.runtime.budget.normal_from_bytes", ("tests/peer/protocol", "src/sottovoce/peer/runtime")),
    Target("sottovoce.peer.membership.identity.check_identity", _IDENTITY),
    Target("sottovoce.peer.membership.identity._single_name", _IDENTITY),
    Target("sottovoce.peer.membership.identity.Authority.sign", _IDENTITY),
    Target("sottovoce.peer.transport.codec", ("tests/peer/transport/test_codec.py",)),
    Target("sottovoce.peer.transport.grpc.GrpcTransport._neighbour", _TLS),
    Target("sottovoce.peer.store.sqlite", _STORE),
)

NAMED = (
    Named(
        "a peer without noise may show its value after an exchange",
        "sottovoce.peer.runtime.node._was_moved",
        "return exchanged and state.noise is not None",
        "return exchanged",
        _NODE,
    ),
    Named(
        "the private value stays on the peer object",
        "sottovoce.peer.runtime.node.Peer._begin",
        "self._value = None  # kept in one place only",
        "pass",
        _NODE,
    ),
    Named(
        "the names in a reply are not compared with the certificate",
        "sottovoce.peer.transport.grpc.GrpcTransport.call",
        "(reply.src, reply.dst) != (dst, self.name)",
        "False",
        _TLS,
    ),
    Named(
        "the names in a request are not compared with the certificate",
        "sottovoce.peer.transport.grpc.GrpcTransport._decode",
        "message is None or (message.src, message.dst) != (src, self.name)",
        "message is None",
        _HOSTILE,
    ),
    Named(
        "a caller's certificate may carry two names",
        "sottovoce.peer.transport.grpc.GrpcTransport._neighbour",
        "len(names) != 1",
        "not names",
        _TLS,
    ),
    Named(
        "a certificate with two names may be used",
        "sottovoce.peer.membership.identity._single_name",
        "if len(names) != 1 or len(list(extension.value)) != 1:",
        "if not names:",
        _IDENTITY,
    ),
    Named(
        "callers need no certificate",
        "sottovoce.peer.transport.grpc.GrpcTransport.serve",
        "require_client_auth=True",
        "require_client_auth=False",
        _TLS,
    ),
    Named(
        "a state is not on disk when it is said to be",
        "sottovoce.peer.store.sqlite.SqliteStore._prepare",
        "synchronous = FULL",
        "synchronous = OFF",
        _STORE,
    ),
    Named(
        "what is sent is not stored first",
        "sottovoce.peer.runtime.node.Peer._ask",
        "self._commit()",
        "pass",
        _NODE,
    ),
    Named(
        "the settled margin covers one standard deviation instead of six",
        "sottovoce.peer.protocol.stopping.NOISE_MARGIN",
        "6.0",
        "1.0",
        _LEDGER,
    ),
    Named(
        "a register may go back",
        "sottovoce.peer.protocol.ledger._merge",
        "if m.s > edge.r:  # R13",
        "if m.s != edge.r:",
        _LEDGER,
    ),
    Named(
        "a store that went back is not noticed",
        "sottovoce.peer.protocol.ledger._merge",
        "if m.r > edge.s:  # R12",
        "if False:",
        _LEDGER,
    ),
    Named(
        "the kernel does not withdraw the old noise",
        "sottovoce.methods.noise_insertion.update",
        "shown_i = nodes[i, VALUE] + (fresh_i - nodes[i, OUTSTANDING])",
        "shown_i = nodes[i, VALUE] + fresh_i",
        _KERNEL,
    ),
    Named(
        "the wanted error is compared with the unscaled error",
        "sottovoce.simulation.solution.Solution.record",
        "squared <= stop_at * self._scale",
        "squared <= stop_at",
        _ENGINE,
    ),
    Named(
        "the guarantee of noise insertion ignores the noise",
        "sottovoce.methods.noise_insertion.NoiseInsertion.guarantee",
        "max(1.0 - chances.contraction_gap, float(noise[noisy].max(initial=0.0)))",
        "1.0 - chances.contraction_gap",
        ("tests/methods/test_noise_insertion.py",),
    ),
    Named(
        "a value known a thousand times less well counts as disclosed",
        "sottovoce.privacy.analysers.exchanges",
        "disclosed=flat[-1] <= question.tolerance * scale",
        "disclosed=flat[-1] <= 1000 * question.tolerance * scale",
        ("tests/privacy/test_auditing.py", "tests/privacy/test_limits.py"),
    ),
    Named(
        "the largest permitted μ is rounded up",
        "sottovoce.privacy.gaussian.gdp.largest_mu",
        "return low",
        "return high",
        _GDP,
    ),
    Named(
        "a budget allows one message too many",
        "sottovoce.privacy.gaussian.account.Account.affords",
        "self.information + self.cost_of(num_messages) <= self.budget",
        "self.information <= self.budget",
        _ACCOUNT,
    ),
)

HARMLESS: dict[str, str] = {}
"""Unnamed mutants that do nothing wrong: their name as the program prints it → why. They are not tried."""
