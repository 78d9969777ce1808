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
_GATES = ("tests/peer/protocol/test_disclosure.py",)
_IDENTITY = ("tests/peer/membership/test_identity.py",)
_TLS = ("tests/peer/transport/test_tls.py",)
_TRANSPORTS = ("tests/peer/transport/test_transport_conformance.py",)
_STORE = ("tests/peer/store",)
_NODE = ("tests/peer/runtime",)
_KERNEL = ("tests/methods/test_standard.py", "tests/methods/test_noise_insertion.py")
_ENGINE = ("tests/simulation/test_engine.py::test_stopping_does_not_depend_on_the_unit_of_the_values",)

TARGETS = (
    Target("sottovoce.foundation.arguments", ("src/sottovoce/foundation", "tests/methods/test_base.py")),
    Target("sottovoce.foundation.files", ("tests/graphs/test_files.py",)),
    Target("sottovoce.privacy.gaussian.gdp", _GDP),
    Target("sottovoce.privacy.gaussian.account", _ACCOUNT),
    Target("sottovoce.methods.noise_insertion.update", _KERNEL),
    Target("sottovoce.methods.standard.update", _KERNEL),
    Target("sottovoce.peer.protocol.ledger", _LEDGER),
    Target("sottovoce.peer.protocol.stopping", _LEDGER),
    Target("sottovoce.peer.protocol.disclosure", _GATES),
    Target("sottovoce.peer.protocol.calling", ("tests/peer/protocol/test_calling.py", "src/sottovoce/peer/protocol")),
    Target("sottovoce.peer.protocol.machine", _LEDGER),
    Target("sottovoce.peer.runtime.randomness.normal_from_bytes", (*_NODE, "src/sottovoce/peer/runtime")),
    Target("sottovoce.peer.membership.identity.check_identity", _IDENTITY),
    Target("sottovoce.peer.membership.identity._single_name", _IDENTITY),
    Target("sottovoce.peer.membership.identity.Authority.sign", _IDENTITY),
    Target("sottovoce.peer.transport.codec", ("tests/peer/transport/test_codec.py",)),
    Target("sottovoce.peer.transport.grpc.GrpcTransport._neighbour", _TLS),
    Target("sottovoce.peer.store.sqlite", _STORE),
)

NAMED = (
    Named(
        "a peer without noise may show its estimate after an exchange",
        "sottovoce.peer.protocol.disclosure.shown_estimate",
        "if exchanged and state.noise is not None else None",
        "if exchanged else None",
        _GATES,
    ),
    Named(
        "an error bound is shown where the estimate is hidden",
        "sottovoce.peer.protocol.disclosure.shown_error",
        "None if shown_estimate(state) is None else rule.error_bound(state.shown)",
        "rule.error_bound(state.shown)",
        _GATES,
    ),
    Named(
        "a value is shown although too few edges are open",
        "sottovoce.peer.protocol.disclosure.may_show",
        "state.open_edges >= settings.min_open_edges and ",
        "",
        _GATES,
    ),
    Named(
        "the private value stays on the peer object",
        "sottovoce.peer.runtime.node.Peer._begin",
        "self._value = None  # kept in one place only",
        "pass",
        _NODE,
    ),
    Named(
        "the names in a request or a reply are not compared with the certificates",
        "sottovoce.peer.transport.codec.Codec.decode",
        "(message.src, message.dst) != (src, dst)",
        "False",
        _TRANSPORTS,
    ),
    Named(
        "a neighbour may speak in the name of another",
        "sottovoce.peer.runtime.talking.Talker._receive",
        "if message.src != name:",
        "if False:",
        _NODE,
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
        "sottovoce.peer.runtime.talking.Talker._ask",
        "self._keeper.commit()",
        "pass",
        _NODE,
    ),
    Named(
        "the settled margin covers one standard deviation instead of six",
        "sottovoce.peer.protocol.disclosure.NOISE_MARGIN",
        "6.0",
        "1.0",
        _GATES,
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
        "sottovoce.simulation.running._record",
        "squared <= stop_at * setup.scale",
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
