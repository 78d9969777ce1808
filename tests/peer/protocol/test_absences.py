"""Who is missing, and who says so: claims grow old on the way, one is kept for each member, and nothing is echoed."""

from __future__ import annotations

from sottovoce.peer.protocol.absences import LONGEST_AGE, Absence, Absences, Missing, Sight

ROLL = ("ada", "bob", "cyd", "dan", "eve")
GONE = Sight(contributed=True, silence=17.0)


def absences(place: int) -> Absences:
    """Those of one member; claims live for a minute, and five seconds are nothing."""
    return Absences(place, lifetime=60.0, patience=5.0)


def test_a_claim_travels_and_keeps_its_witness_and_both_ages() -> None:
    """Dan has missed Eve for 17 s; two hops and 14 s later Bob knows who, since when, by whom and how old that is."""
    dan, cyd, bob = absences(3), absences(2), absences(1)
    assert dan.see({"eve": GONE}, ROLL, 100.0)
    assert cyd.hear("dan", dan.say("cyd", 100.0), 0.0)  # every clock has its own zero
    assert bob.hear("cyd", cyd.say("bob", 10.0), 5000.0)
    (known,) = bob.known(ROLL, 5004.0)
    assert (known.name, known.contributed, known.witness) == ("eve", True, "dan")
    assert round(known.seconds, 2) == 31.0
    assert round(known.said, 2) == 14.0


def test_a_claim_that_nobody_repeats_is_forgotten_however_often_it_is_passed_on() -> None:
    """Two peers that tell each other the same claim for ever do not keep it alive: its age only grows."""
    ada, bob = absences(0), absences(1)
    ada.hear("dan", [Absence(4, 3, True, 1000, 0)], 0.0)
    for second in range(70):
        bob.hear("ada", ada.say("bob", second), second)
        ada.hear("bob", [one._replace(age=one.age) for one in bob.say("", second)], second)
    assert not ada.known(ROLL, 70.0)
    assert not bob.known(ROLL, 70.0)
    assert ada.say("bob", 70.0) == ()


def test_each_sender_makes_a_claim_older() -> None:
    """Even where no time passes at all, so that a circle of fast peers ends it too."""
    ada = absences(0)
    ada.hear("dan", [Absence(4, 3, True, 1000, 10)], 0.0)
    assert [one.age for one in ada.say("bob", 0.0)] == [11]


def test_nobody_is_told_what_it_said_itself() -> None:
    """A claim does not go back where it came from, and one's own words are not heard again when they come round."""
    cyd, dan = absences(2), absences(3)
    dan.see({"eve": GONE}, ROLL, 0.0)
    cyd.hear("dan", dan.say("cyd", 0.0), 0.0)
    assert cyd.say("dan", 1.0) == ()
    dan.see({}, ROLL, 1.0)  # eve is back
    assert not dan.hear("cyd", cyd.say("", 1.0), 1.0)
    assert not dan.known(ROLL, 1.0)


def test_of_each_member_the_last_word_is_kept() -> None:
    """A later claim takes the place of an earlier one, never the other way round; other members keep theirs."""
    ada = absences(0)
    assert ada.hear("bob", [Absence(4, 3, True, 9000, 2000), Absence(2, 1, False, 9000, 2000)], 100.0)
    assert not ada.hear("bob", [Absence(4, 2, True, 9000, 1000)], 100.0)
    assert not ada.hear("bob", [Absence(4, 3, True, 9000, 3000)], 100.0)
    assert [(one.name, one.witness) for one in ada.known(ROLL, 100.0)] == [("cyd", "bob"), ("eve", "cyd")]


def test_own_sight_comes_first() -> None:
    """What a peer sees itself is what it says and tells, whatever others claim about the same member."""
    dan = absences(3)
    dan.hear("cyd", [Absence(4, 2, True, 90_000, 0)], 100.0)
    dan.see({"eve": Sight(contributed=False, silence=1.0)}, ROLL, 90.0)
    assert dan.known(ROLL, 100.0) == [Missing("eve", contributed=False, seconds=10.0)]
    dan.see({"eve": Sight(contributed=False, silence=11.0)}, ROLL, 100.0)
    assert dan.say("cyd", 100.0) == (Absence(4, 3, False, 10_000, 1),)


def test_a_moment_is_not_told() -> None:
    """Others hear of a neighbour when it has been missing for a while, and that is news once."""
    dan = absences(3)
    blank = {"eve": Sight(contributed=False, silence=None)}
    assert not dan.see(blank, ROLL, 0.0)
    assert not dan.see(blank, ROLL, 4.0)
    assert dan.say("cyd", 4.0) == ()
    assert dan.see(blank, ROLL, 5.0)
    assert not dan.see(blank, ROLL, 6.0)
    assert len(dan.say("cyd", 6.0)) == 1
    assert not dan.see({"eve": Sight(contributed=True, silence=9.0)}, ROLL, 20.0)
    assert dan.see({"eve": Sight(contributed=True, silence=10.0)}, ROLL, 21.0)


def test_without_the_names_of_all_members_nothing_is_told() -> None:
    """A peer that does not know the places of the others keeps what it sees to itself."""
    dan = absences(3)
    assert not dan.see({"eve": GONE}, (), 0.0)
    assert dan.say("cyd", 0.0) == ()
    assert dan.known((), 0.0) == [Missing("eve", contributed=True, seconds=17.0)]


def test_ages_on_the_wire_are_bounded() -> None:
    """A clock that went back, or was set by decades, gives no age that another peer would refuse."""
    dan = absences(3)
    dan.see({"eve": Sight(contributed=True, silence=1e12)}, ROLL, 0.0)
    assert dan.say("cyd", 0.0)[0].since == LONGEST_AGE - 1
    assert dan.say("cyd", -2e12)[0].since == 0
