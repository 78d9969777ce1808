"""Which code is mutated, which tests must notice, and the mistakes that have a name.

Code is referred to by its dotted name: a module, class, function, method or constant. When code moves, its line here
moves with it; a quick test says which lines lead nowhere.
"""

from __future__ import annotations

from .kinds import CODEC, DISCLOSURE, IDENTITY, PROTOCOL, RANDOMNESS, ROSTERS, RUNTIME, STORE, TLS, Named, Target
from .peers import PEERS

__all__ = ["HARMLESS", "NAMED", "TARGETS", "WANTED"]

WANTED = 0.85
"""The share of the unnamed mutants that must be killed. Named ones must all be."""


_ARGUMENTS = ("tests/foundation", "src/sottovoce/foundation")
_GDP = ("tests/privacy/gaussian/test_gdp.py", "src/sottovoce/privacy/gaussian/gdp.py")
_ACCOUNT = (
    "tests/privacy/gaussian/test_account.py",
    "src/sottovoce/privacy/gaussian/account.py",
    "tests/agreement/test_account_is_audit.py",
)
_ACCOUNT_PARTS = (
    "Account.__post_init__",
    "Account.with_budget",
    "Account.std",
    "Account.mu",
    "Account.cost_of",
    "Account.affords",
    "Account.spend",
    "Account.rearmed",
    "Account.new_secret",
    "Account.carrying",
)
_AUDIT = ("tests/privacy/test_auditing.py",)
_RULES = (
    "tests/methods/test_standard.py",
    "tests/methods/test_noise_insertion.py",
    "tests/simulation/test_engine.py::test_noise_below_any_effect_is_zero",
)
_DRIVER = ("tests/simulation/random", "tests/agreement/test_kernel_equals_reference.py")
_TEAM = ("tests/simulation/test_team.py",)
_STOPPING = ("tests/simulation/test_engine.py::test_stopping_does_not_depend_on_the_unit_of_the_values",)

TARGETS = (
    Target("sottovoce.foundation.arguments", _ARGUMENTS),
    Target("sottovoce.foundation.files", ("tests/foundation/test_files.py",)),
    Target("sottovoce.privacy.gaussian.gdp", _GDP),
    # Not `Account.remaining`: its formula is only a first guess, and most mistakes in it cost nothing but time.
    *(Target(f"sottovoce.privacy.gaussian.account.{name}", _ACCOUNT) for name in _ACCOUNT_PARTS),
    Target("sottovoce.methods.noise_insertion.information", _ACCOUNT),
    Target("sottovoce.privacy.gaussian.fisher", _AUDIT),
    Target("sottovoce.methods.noise_insertion.update", _RULES),
    Target("sottovoce.methods.standard.update", _RULES),
    Target("sottovoce.simulation.kinds.pair.drive", _DRIVER),
    Target("sottovoce.simulation.random.kernels", _DRIVER),
    Target("sottovoce.peer.protocol.disclosure", DISCLOSURE),
    Target("sottovoce.peer.protocol.noise", PROTOCOL),
    Target("sottovoce.peer.protocol.ledger", PROTOCOL),
    Target("sottovoce.peer.protocol.stopping", PROTOCOL),
    Target("sottovoce.peer.protocol.intervals", PROTOCOL),
    Target("sottovoce.peer.protocol.terms", ("tests/peer/protocol/test_machine.py", *ROSTERS)),
    Target("sottovoce.peer.runtime.following", ROSTERS),
    Target("sottovoce.peer.runtime.keeping", RUNTIME),
    Target("sottovoce.peer.runtime.talking", RUNTIME),
    Target("sottovoce.peer.runtime.randomness", RANDOMNESS),
    Target("sottovoce.peer.membership.credentials", IDENTITY),
    Target("sottovoce.peer.membership.keys.certificate_of", IDENTITY),
    Target("sottovoce.peer.membership.roster.Roster.check_replaces", IDENTITY),
    Target("sottovoce.peer.transport.codec", CODEC),
    Target("sottovoce.peer.transport.grpc.GrpcTransport._neighbour", TLS),
    Target("sottovoce.peer.store.sqlite", STORE),
)

_CHANGING = ("tests/agreement/test_changing_networks.py", "tests/simulation/changing")
_SUMS = ("tests/attacks/test_sums_leave_sizes_open.py",)
_HIDING = ("tests/statistics/test_hiding.py",)
NAMED = (
    *PEERS,
    Named(
        "where an answer is lost, the end that was called is undone instead of the caller",
        "sottovoce.simulation.changing.pairs.drive",
        "undone = j if act == FIRST else i",
        "undone = i if act == FIRST else j",
        _CHANGING,
    ),
    Named(
        "a stage is entered again wherever a span begins in it",
        "sottovoce.simulation.changing.running.StagedRunner._begin",
        "at == period.start",
        "at >= period.start",
        _CHANGING,
    ),
    Named(
        "a record at the beginning of a stage belongs to that stage",
        "sottovoce.simulation.changing.timetable.Timetable.seen_at",
        "max(0, num_steps - 1)",
        "num_steps",
        _CHANGING,
    ),
    Named(
        "the kernel does not withdraw the old noise",
        "sottovoce.methods.noise_insertion.update",
        "shown_i = nodes[i, VALUE] + (fresh_i - nodes[i, OUTSTANDING])",
        "shown_i = nodes[i, VALUE] + fresh_i",
        _RULES,
    ),
    Named(
        "the wanted error is compared with the unscaled error",
        "sottovoce.simulation.running.advance",
        "runner.watched_span(at, end, stop_at * state.setup.scale)",
        "runner.watched_span(at, end, stop_at)",
        _STOPPING,
    ),
    Named(
        "a helper draws into a place whose steps are still being made",
        "sottovoce.simulation.kinds.together.draw_ahead",
        "wait_for(desk.made, 0, turn + 1 - PLACES)",
        "wait_for(desk.made, 0, turn - PLACES)",
        _TEAM,
    ),
    Named(
        "a helper sums nodes before the steps up to the record are made",
        "sottovoce.simulation.kinds.together.draw_ahead",
        "wait_for(desk.made, 0, turn)",
        "wait_for(desk.made, 0, turn - 1)",
        _TEAM,
    ),
    Named(
        "an error is recorded before all helpers have summed their nodes",
        "sottovoce.simulation.kinds.together.make",
        "wait_for(desk.summed, helper, row + 1)",
        "wait_for(desk.summed, helper, row)",
        _TEAM,
    ),
    Named(
        "the guarantee of noise insertion ignores the noise",
        "sottovoce.methods.noise_insertion.NoiseInsertion.guarantee",
        "max(1.0 - chances.contraction_gap, float(noise[noisy].max(initial=0.0)))",
        "1.0 - chances.contraction_gap",
        _RULES,
    ),
    Named(
        "a value known a thousand times less well counts as disclosed",
        "sottovoce.privacy.analysers.exchanges.audit",
        "disclosed=flat[-1] <= question.tolerance * scale",
        "disclosed=flat[-1] <= 1000 * question.tolerance * scale",
        _AUDIT,
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
        "self.cost_of(num_messages) <=",
        "self.cost_of(num_messages - 1) <=",
        _ACCOUNT,
    ),
    Named(
        "other values need not give the same report of what is shown in bins",
        "sottovoce.statistics.alternatives._Values._same_report",
        "changed = np.flatnonzero((before != found).any(axis=1))",
        "changed = np.flatnonzero((before != found).any(axis=1))[:0]",
        _SUMS,
    ),
    Named(
        "groups over several cells together are not looked at",
        "sottovoce.statistics.alternatives.few_follow",
        "[every] * (len(every) > 1)",
        "[every] * (len(every) > 2)",
        _SUMS,
    ),
    Named(
        "hidden groups that are all of one row may follow from that",
        "sottovoce.statistics.hiding._follows",
        "(own == 1).all() or ",
        "",
        _HIDING,
    ),
)

_TERMS = "more terms of a continued fraction that has converged"
_BORDER = "both ways hold at the border"
_BRACKET = "a wider bracket for the same bisection"
_SLOWER = "only slower: what is not brought near is waited for"
_DRIVE = "sottovoce.simulation.kinds.pair.drive"
HARMLESS: dict[str, str] = {
    "sottovoce.privacy.gaussian.gdp._tail: 60 → 60000": _TERMS,
    "sottovoce.privacy.gaussian.gdp._tail: 200 → 200000": _TERMS,
    "sottovoce.privacy.gaussian.gdp._tail: 5.0 → 5000.0": _TERMS,
    "sottovoce.privacy.gaussian.gdp._tail: x < 5.0 → (x <= 5.0)": _TERMS,
    "sottovoce.privacy.gaussian.gdp._mills: x < 5.0 → (x <= 5.0)": _BORDER,
    "sottovoce.privacy.gaussian.gdp._mills_slope: x < 2.0 → (x <= 2.0)": _BORDER,
    "sottovoce.privacy.gaussian.gdp.delta: mu < _SMALL → (mu <= _SMALL)": _BORDER,
    "sottovoce.privacy.gaussian.gdp.delta: a <= 0.0 → (a < 0.0)": _BORDER,
    "sottovoce.privacy.gaussian.gdp.largest_mu: 2.0 → 2000.0": _BRACKET,
    "sottovoce.privacy.gaussian.gdp.epsilon: 0.5 → 500.0": _BRACKET,
    "sottovoce.privacy.gaussian.gdp._mills_difference: True → False": "the two lengths are equal",
    f"{_DRIVE}: bring_ahead(nodes, edges, coming, later, k) → pass": _SLOWER,
    f"{_DRIVE}: bring_ahead(nodes, edges, coming, later, k) → pass (2)": _SLOWER,
    f"{_DRIVE}: bring_ahead(nodes, edges, coming, later, q) → pass": _SLOWER,
    "sottovoce.simulation.random.kernels.fill_edges: bring(accept, fired[k]) → pass": _SLOWER,
    "sottovoce.simulation.random.kernels.fill_edges: bring(alias, fired[k]) → pass": _SLOWER,
    f"{_DRIVE}: nodes.size > NEAR → (nodes.size >= NEAR)": _BORDER,
    "sottovoce.foundation.files.write_atomically: True → False (3)": "the file is there whenever this is reached",
    "sottovoce.foundation.files._ordinary: 0 → 1": "the mask is set back at once",
    "sottovoce.peer.store.sqlite._connect: 1.0 → 1000.0": "one process holds the file, so nobody is waited for",
    "sottovoce.peer.store.sqlite._connect: 1.0 → 0.001": "one process holds the file, so nobody is waited for",
}
"""Unnamed mutants that do nothing wrong: their name as the program prints it → why. They are not tried."""
