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
_PROTOCOL = ("tests/peer/protocol",)
_DISCLOSURE = ("tests/peer/protocol/test_disclosure.py", "tests/peer/protocol/test_noise.py")
_RUNTIME = ("tests/peer/runtime",)
_MOMENT = ("tests/attacks/test_a_moment_and_no_more.py",)
_RANDOMNESS = ("tests/peer/runtime/test_randomness.py", "src/sottovoce/peer/runtime/randomness.py")
_IDENTITY = ("tests/peer/membership/test_credentials.py", "tests/peer/membership/test_roster.py")
_CODEC = ("tests/peer/transport/test_codec.py",)
_TLS = ("tests/peer/transport/test_tls.py",)
_STORE = ("tests/peer/store",)
_UNITS = ("tests/peer/protocol/test_units.py",)
_LIMITS = ("tests/peer/protocol/test_limits.py", "tests/peer/protocol/test_machine.py")
_TOPICS = ("tests/peer/protocol/test_closing.py", "tests/attacks/test_topics_are_not_mixed.py")
_LEDGER = ("tests/peer/protocol/test_ledger.py", "tests/peer/protocol/test_machine.py")
_ROSTERS = ("tests/peer/membership/test_roster.py", "tests/peer/runtime/test_following.py")
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
    Target("sottovoce.peer.protocol.disclosure", _DISCLOSURE),
    Target("sottovoce.peer.protocol.noise", _PROTOCOL),
    Target("sottovoce.peer.protocol.ledger", _PROTOCOL),
    Target("sottovoce.peer.protocol.stopping", _PROTOCOL),
    Target("sottovoce.peer.protocol.intervals", _PROTOCOL),
    Target("sottovoce.peer.protocol.terms", ("tests/peer/protocol/test_machine.py", *_ROSTERS)),
    Target("sottovoce.peer.runtime.following", _ROSTERS),
    Target("sottovoce.peer.runtime.keeping", _RUNTIME),
    Target("sottovoce.peer.runtime.talking", _RUNTIME),
    Target("sottovoce.peer.runtime.randomness", _RANDOMNESS),
    Target("sottovoce.peer.membership.credentials", _IDENTITY),
    Target("sottovoce.peer.membership.keys.certificate_of", _IDENTITY),
    Target("sottovoce.peer.membership.roster.Roster.check_replaces", _IDENTITY),
    Target("sottovoce.peer.transport.codec", _CODEC),
    Target("sottovoce.peer.transport.grpc.GrpcTransport._neighbour", _TLS),
    Target("sottovoce.peer.store.sqlite", _STORE),
)

_CHANGING = ("tests/agreement/test_changing_networks.py", "tests/simulation/changing")
NAMED = (
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
        "a peer without noise shows its estimate, as after a lost disk",
        "sottovoce.peer.protocol.disclosure.shown_estimate",
        "exchanged and state.noise is not None",
        "exchanged",
        _DISCLOSURE,
    ),
    Named(
        "a peer shows its estimate before the first exchange",
        "sottovoce.peer.protocol.disclosure.shown_estimate",
        "exchanged and state.noise is not None",
        "state.noise is not None",
        _DISCLOSURE,
    ),
    Named(
        "the settled margin covers one standard deviation instead of six",
        "sottovoce.peer.protocol.disclosure.NOISE_MARGIN",
        "6.0",
        "1.0",
        _DISCLOSURE,
    ),
    Named(
        "the private value stays on the peer object",
        "sottovoce.peer.runtime.life.Living._begin",
        "self._value = None  # kept in one place only",
        "pass",
        _RUNTIME,
    ),
    Named(
        "who does not answer requests is asked all the same",
        "sottovoce.peer.protocol.calling.Contacts.may_call",
        " and now >= contact.ask_after",
        "",
        _PROTOCOL,
    ),
    Named(
        "a message may carry another sender's name than the certificate",
        "sottovoce.peer.transport.codec.Codec.decode",
        "(message.src, message.dst) != (src, dst)",
        "message.dst != dst",
        _CODEC,
    ),
    Named(
        "the protocol believes the sender's name in the message",
        "sottovoce.peer.runtime.talking.Talker._receive",
        "message = replace(message, src=name)",
        "pass",
        _RUNTIME,
    ),
    Named(
        "a caller's certificate may carry two names",
        "sottovoce.peer.transport.grpc.GrpcTransport._neighbour",
        "len(names) != 1",
        "not names",
        _TLS,
    ),
    Named(
        "a peer's own certificate may carry two names",
        "sottovoce.peer.membership.keys.certificate_of",
        "if [str(entry.value) for entry in names] != [name]",
        "if name not in [str(entry.value) for entry in names]",
        _IDENTITY,
    ),
    Named(
        "callers need no certificate",
        "sottovoce.peer.transport.grpc.GrpcTransport._open",
        "require_client_auth=True",
        "require_client_auth=False",
        _TLS,
    ),
    Named(
        "a state is not on disk when the store says so",
        "sottovoce.peer.store.sqlite.SqliteStore._prepare",
        "synchronous = FULL",
        "synchronous = OFF",
        _STORE,
    ),
    Named(
        "a message is sent before the state is stored",
        "sottovoce.peer.runtime.talking.Talker._ask",
        "self._keeper.commit()",
        "pass",
        _RUNTIME,
    ),
    Named(
        "a register may go back",
        "sottovoce.peer.protocol.ledger._merge",
        "if m.s > edge.r:  # R13",
        "if m.s != edge.r:",
        _PROTOCOL,
    ),
    Named(
        "a store that went back is not noticed",
        "sottovoce.peer.protocol.ledger._merge",
        "if m.r > edge.s:  # R12",
        "if False:",
        _PROTOCOL,
    ),
    Named(
        "half an odd difference is always rounded down",
        "sottovoce.peer.protocol.steps.half",
        "moved = difference + coin(len(difference)).astype(np.int64, copy=False)",
        "moved = difference.copy()",
        _LIMITS,
    ),
    Named(
        "a private value is rounded to the unit below it",
        "sottovoce.peer.protocol.units.Unit.from_values",
        "np.rint(scaled)",
        "np.floor(scaled)",
        _UNITS,
    ),
    Named(
        "a unit may be so small that the last digits of a message tell the value",
        "sottovoce.peer.protocol.limits.check_resolution",
        "if h.number < RESOLUTION * max(noise_std, seal_std):",
        "if False:",
        _LIMITS,
    ),
    Named(
        "an adopted register is not checked against the limit",
        "sottovoce.peer.protocol.ledger._merge",
        'event="adopted", moved=True',
        'event="adopted", moved=False',
        _LIMITS,
    ),
    Named(
        "a bound on what an edge holds does not grow with what is moved",
        "sottovoce.peer.protocol.bounds.Bounds.copied",
        "self.flow + step",
        "self.flow",
        ("tests/peer/protocol/test_bounds.py",),
    ),
    Named(
        "noise is taken for decided where a further digit would change it",
        "sottovoce.peer.runtime.randomness.second_guess",
        "least -= known.bend.take(index)",
        "pass",
        _RANDOMNESS,
    ),
    Named(
        "an answer may move more than the limit of the edge",
        "sottovoce.peer.protocol.steps.kept_within",
        "kept = np.clip(amount, lowest, highest)",
        "kept = amount",
        _LIMITS,
    ),
    Named(
        "the first exchange of a register has the counter of a seal",
        "sottovoce.peer.protocol.ledger.step",
        "max(edge.s, SEAL) + 1",
        "edge.s + 1",
        _LEDGER,
    ),
    Named(
        "an edge opens without a seal",
        "sottovoce.peer.protocol.noise.draw_seal",
        "settings.seal_std / settings.units.number",
        "0.0",
        _PROTOCOL,
    ),
    Named(
        "a value is shown before enough edges are sealed",
        "sottovoce.peer.protocol.disclosure.may_show",
        "live_sealed_edges(state, links) >= settings.min_open_edges and may_draw(state)",
        "may_draw(state)",
        _DISCLOSURE,
    ),
    Named(
        "a roster is believed without its founder's signature",
        "sottovoce.peer.membership.roster._verify",
        "key.verify(base64.b64decode(signature, validate=True), signed, ec.ECDSA(hashes.SHA256()))",
        "base64.b64decode(signature, validate=True)",
        _ROSTERS,
    ),
    Named(
        "a peer lets a roster lay its value open without a yes",
        "sottovoce.peer.membership.changes.needs_a_yes",
        "return new[0] if new and config.name not in before.accepted else None",
        "return None",
        _ROSTERS,
    ),
    Named(
        "an epoch goes on under another roster",
        "sottovoce.peer.protocol.members.Membership.reconfigure",
        "self.rule.resize(settings.diameter, settings.tolerance_units, settings.index)",
        "pass",
        ("tests/peer/protocol/test_machine.py",),
    ),
    Named(
        "numbers in another unit are read while rosters differ",
        "sottovoce.peer.protocol.terms.dispute",
        "if same_roster else _ALWAYS",
        "if same_roster else ()",
        ("tests/peer/protocol/test_machine.py",),
    ),
    Named(
        "greetings with news cost nothing",
        "sottovoce.peer.protocol.core.Core._tell_news",
        "self._links[name].news -= 1.0",
        "pass",
        ("tests/peer/protocol/test_machine.py",),
    ),
    Named(
        "an answer that nobody waits for any more counts as told",
        "sottovoce.peer.runtime.holding.HeldAnswers.waits",
        "name in self._held and not self._held[name].answer.done()",
        "name in self._held",
        ("tests/peer/runtime/test_holding.py",),
    ),
    Named(
        "calls that wait for an answer take the places of others",
        "sottovoce.peer.transport.admission._Desk.finish_one",
        "return waiting is not None",
        "return False",
        ("tests/peer/transport/test_tls.py",),
    ),
    Named(
        "news that were lost in an answer are not told again",
        "sottovoce.peer.protocol.arrival.Arrivals._doubt",
        "link.doubtful = _round_of(message)",
        "pass",
        ("tests/peer/protocol/test_machine.py",),
    ),
    Named(
        "a neighbour that does not answer stops the clock for the others",
        "sottovoce.peer.protocol.calling.Contacts.to_rest_for",
        "return min(seconds, _SLOW * (self._first if usual is None else usual))",
        "return seconds",
        ("tests/peer/protocol/test_calling.py",),
    ),
    Named(
        "the message of a caller that has hung up is kept until its time",
        "sottovoce.peer.runtime.holding.HeldAnswers.hold",
        "answer.add_done_callback(partial(self._hung_up, name))",
        "pass",
        _MOMENT,
    ),
    Named(
        "an answer that is held back far away comes too late",
        "sottovoce.peer.runtime.talking.Talker._wait",
        " + held_back(settings, kind)",
        "",
        _MOMENT,
    ),
    Named(
        "the first by name waits for the other to greet, too",
        "sottovoce.peer.protocol.core.Core.speaks_second",
        "name < self.settings.name and not told",
        "not told",
        ("tests/peer/protocol/test_machine.py",),
    ),
    Named(
        "two that ask each other both wait",
        "sottovoce.peer.protocol.core.Core.may_wait",
        "return self.pending.peer != name or name < self.settings.name",
        "return True",
        ("tests/peer/protocol/test_machine.py",),
    ),
    Named(
        "in a topic neighbours are drawn and take no turns",
        "sottovoce.peer.protocol.core.Core.whose_turn",
        "if self.settings.missing and names",
        "if False",
        ("tests/peer/protocol/test_turns.py",),
    ),
    Named(
        "an exchange is no turn",
        "sottovoce.peer.protocol.core.Core._exchanged",
        "self._have_turn(name)",
        "pass",
        ("tests/peer/protocol/test_turns.py",),
    ),
    Named(
        "a topic is declared before all contributors are bound",
        "sottovoce.peer.protocol.closing.renewed",
        "found.contributors & ~found.ready == 0",
        "True",
        _TOPICS,
    ),
    Named(
        "who holds a certificate leaves members out all the same",
        "sottovoce.peer.protocol.members.Membership.drop",
        "if edge is None or self.bound:",
        "if edge is None:",
        _TOPICS,
    ),
    Named(
        "with wait, some members are enough",
        "sottovoce.peer.protocol.closing.renewed",
        "everyone = found.contributors.bit_count() == members",
        "everyone = True",
        _TOPICS,
    ),
    Named(
        "a restart unbinds",
        "sottovoce.peer.protocol.core.Core._heed_certificate",
        'self.rule.bound = self.rule.bound or (held is not None and self.settings.missing == "drop")',
        "pass",
        _TOPICS,
    ),
    Named(
        "whoever has declared lets others declare another set",
        "sottovoce.peer.protocol.stopping.RangeRule._gather",
        "self._rumoured & ~self._allowed or (interval is None and not version)",
        "interval is None and not version",
        ("tests/peer/protocol/test_stopping.py",),
    ),
    Named(
        "whoever has declared and comes back waits for rounds of those who have closed",
        "sottovoce.peer.protocol.stopping.RangeRule.stop_for",
        "return self._final_word(name)",
        "pass",
        ("tests/peer/protocol/test_closing_model.py",),
    ),
    Named(
        "an interval that was left out and is lacking counts as heard",
        "sottovoce.peer.protocol.stopping.RangeRule.hear",
        "possible and not self._complete(name, stop)",
        "False",
        ("tests/peer/protocol/test_stopping.py",),
    ),
    Named(
        "a wider interval keeps the number of the narrower one",
        "sottovoce.peer.protocol.stopping.RangeRule._widen",
        "self._version += 1",
        "pass",
        ("tests/peer/protocol/test_stopping.py",),
    ),
    Named(
        "members count without their interval",
        "sottovoce.peer.protocol.stopping.RangeRule._gather",
        "if interval is not None or version in (0, self._taken.get(name)):",
        "if True:",
        ("tests/peer/protocol/test_stopping.py",),
    ),
    Named(
        "the word of who is bound to another set counts",
        "sottovoce.peer.protocol.ending.Ending._conclude",
        "m.held and m.held == self._held",
        "m.held",
        ("tests/peer/protocol/test_closing.py",),
    ),
    Named(
        "an answer is taken over although the own value lies elsewhere",
        "sottovoce.peer.protocol.ending.Ending._taken_over",
        "return offer if width(union((own, own), offer.interval)) <= settings.tolerance_units else held",
        "return offer",
        ("tests/peer/protocol/test_closing.py",),
    ),
    Named(
        "a claim that comes round is heard by its own witness",
        "sottovoce.peer.protocol.absences.Absences.hear",
        "self._place == one.witness or now - said > self._lifetime",
        "now - said > self._lifetime",
        ("tests/peer/protocol/test_absences.py",),
    ),
    Named(
        "two that met a large difference do not find out whether they agree now",
        "sottovoce.peer.protocol.machine.Protocol._has_said_enough",
        "not settings.missing or link.disagreement > settings.tolerance_units",
        "not settings.missing",
        ("tests/peer/protocol/test_closing.py",),
    ),
    Named(
        "a value that moved elsewhere is not shown any more",
        "sottovoce.peer.protocol.core.Core._exchanged",
        "link.moved += step",
        "link.moved = 0.0",
        ("tests/peer/protocol/test_closing.py",),
    ),
    Named(
        "the length of a message tells how large its numbers are",
        "sottovoce.peer.transport.codec.Codec.encode",
        "pack(vector, self._value_bytes)",
        "pack(vector, max(1, int(abs(vector).max()).bit_length() // 8 + 1))",
        _CODEC,
    ),
    Named(
        "a second topic forgets what the first has shown of the secret",
        "sottovoce.peer.runtime.topics.Topics.shown",
        "if record.secret == secret",
        "if False",
        ("tests/peer/runtime/test_topics.py",),
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
        "a sum is carried on over another register",
        "sottovoce.peer.protocol.state.PeerState.with_edge",
        "elif before is None or not before.same_registers(edge):",
        "elif before is None:",
        ("tests/peer/protocol/test_state.py",),
    ),
    Named(
        "a sum is carried on to another value",
        "sottovoce.peer.protocol.state.PeerState._valid_sum",
        "known.value is self.value and ",
        "",
        ("tests/peer/protocol/test_state.py",),
    ),
    Named(
        "what was checked for other members is believed",
        "sottovoce.peer.protocol.messages.check_arrived",
        "if m.checked != members:",
        "if not m.checked:",
        ("tests/peer/protocol/test_messages.py",),
    ),
    Named(
        "a peer that cannot keep up asks on",
        "sottovoce.peer.protocol.calling.rest",
        "return RESTS * took",
        "return 0.0 * took",
        ("tests/peer/runtime/test_talking.py",),
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
