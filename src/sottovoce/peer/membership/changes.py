"""Later rosters: a member more, a member less, another key or address. Each is a new number, signed by the founder.

A roster comes as a file, or from a neighbour that has a later one. Either way :func:`install` puts it in place, and
believes it only if it is the founder's and later. What a running peer can take over is said by :func:`successor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import ConfigError
from .config import IdentityFiles, PeerConfig
from .credentials import trusted_roster
from .exposure import exposed
from .files import from_roster
from .founding import FOUNDER_KEY, ROSTER, check_terms, put_down
from .keys import Card, certificate_of, key_pem, load_key, new_key, public_pem, self_signed, write_private
from .roster import Member, Roster, SignedRoster

__all__ = [
    "current",
    "install",
    "needs_a_yes",
    "new_card",
    "publish",
    "refound",
    "successor",
    "with_card",
    "with_member",
    "without_member",
]

_FOR_LIFE = ("unit", "dimension", "low", "high", "noise_std", "noise_decay", "seal_std")
"""Terms that a peer takes up when it starts: its stored numbers, its noise and its seals were made on them."""


def current(folder: Path) -> Roster:
    """The latest roster of the network that was founded in ``folder``."""
    return SignedRoster.load(folder / ROSTER).roster


def with_member(roster: Roster, card: Card, neighbours: Sequence[str], accepted: Iterable[str] = ()) -> Roster:
    """The next roster, with one member more, next to ``neighbours``."""
    _check_network(roster, card)
    if card.name in roster.members:
        raise ConfigError(f"{card.name!r} is a member already; another key or address for it is `network rekey`")
    for other in neighbours:
        if other not in roster.members:
            raise ConfigError(f"a neighbour not in the network: {other!r}")
    return replace(
        roster,
        number=roster.number + 1,
        members={**roster.members, card.name: Member(card.certificate, card.address)},
        edges=[*roster.edges, *((card.name, other) for other in neighbours)],
        accepted=[*roster.accepted, *accepted],
    )


def without_member(
    roster: Roster, name: str, links: Sequence[tuple[str, str]] = (), accepted: Iterable[str] = ()
) -> Roster:
    """The next roster, from which ``name`` is gone for good; ``links`` are new edges among those who stay."""
    if name not in roster.members:
        raise ConfigError(f"{name!r} is no member of network {roster.network!r}")
    return replace(
        roster,
        number=roster.number + 1,
        members={other: member for other, member in roster.members.items() if other != name},
        edges=[*(edge for edge in roster.edges if name not in edge), *links],
        tombstones={**roster.tombstones, name: roster.number + 1},
        accepted=[*(other for other in roster.accepted if other != name), *accepted],
    )


def with_card(roster: Roster, card: Card) -> Roster:
    """The next roster, with another key or address for a member."""
    _check_network(roster, card)
    if card.name not in roster.members:
        raise ConfigError(f"{card.name!r} is no member of network {roster.network!r}")
    changed: Mapping[str, Member] = {**roster.members, card.name: Member(card.certificate, card.address)}
    return replace(roster, number=roster.number + 1, members=changed)


def publish(folder: Path, roster: Roster) -> SignedRoster:
    """Sign the next roster with the founder's key in ``folder`` and put it in place of the last one there."""
    roster.check_replaces(current(folder))
    check_terms(roster)
    signed = roster.sign(load_key(folder / FOUNDER_KEY, "the founder's key"))
    signed.save(folder / ROSTER)
    return signed


def new_card(config: PeerConfig) -> Path:
    """Make a new key beside the one in use, for a change of key; returns the card for the founder.

    The key in use stays in place until :func:`install` gets a roster with the new one.
    """
    files = _files(config)
    address = trusted_roster(files, config.network).members[config.name].address
    key = new_key()
    card = Card(config.name, config.network, self_signed(key, config.certificate_name), address)
    write_private(_waiting(files), key_pem(key))
    path = files.key.with_name(f"{config.name}.card")
    card.save(path)
    return path


def refound(signed: SignedRoster, folder: Path) -> SignedRoster:
    """The next roster under a new founder's key, which is made in ``folder``; that folder must not exist.

    For a network whose founder's key is lost, stolen, or to pass into other hands. Nothing but the founder changes. The
    new key has no power by itself: each member decides whether to believe it, see :func:`install`.
    """
    key = new_key()
    roster = replace(signed.roster, number=signed.roster.number + 1, founder=public_pem(key))
    return put_down(folder, key, roster)


def install(config: PeerConfig, signed: SignedRoster, *, founder: str | None = None) -> None:
    """Put a later roster in place of the one that a peer has, and the new key if it has the new key's certificate.

    A roster from which this peer is gone is installed too: the peer will then say so and not start.

    Parameters
    ----------
    config, signed
        The peer as it is configured; the roster.
    founder
        The fingerprint of another founder's key whom this peer is to believe from now on; its own file has to say so
        too, see :func:`.files.edit_founder`.

    Raises
    ------
    ConfigError
        It is of another network or founder, or not later, or holds a certificate in this peer's name whose key the
        peer does not have. Nothing is changed.
    """
    files, roster = _files(config), signed.roster
    earlier = trusted_roster(files, config.network)
    if founder is not None:
        if founder != roster.founder_fingerprint:
            raise ConfigError(f"the roster is signed by {roster.founder_fingerprint}, not by {founder}")
        earlier = replace(earlier, founder=roster.founder)
    roster.check_replaces(earlier)
    if config.name in roster.members:
        own = certificate_of(roster.members[config.name].certificate, config.certificate_name, "the roster")
        keys = [path for path in (files.key, _waiting(files)) if path.exists()]
        owner = next((path for path in keys if load_key(path, "identity.key").public_key() == own.public_key()), None)
        if owner is None:
            raise ConfigError(
                f"roster {roster.number} holds a key for {config.name!r} that is not this peer's: somebody else made "
                "it. Do not install it; ask the founder and warn the other members"
            )
        if owner != files.key:
            owner.replace(files.key)  # a crash before the next line: the peer says that key and roster differ
    signed.save(files.roster)


def successor(config: PeerConfig, roster: Roster) -> PeerConfig:
    """The configuration of a running peer under a later roster.

    Raises
    ------
    ConfigError
        The peer is no member any more, or a term has changed that a peer takes up only when it starts.
    """
    if config.name not in roster.members:
        raise ConfigError(
            f"{config.name!r} is no member of network {config.network!r} any more, says roster {roster.number}"
        )
    fields = from_roster(roster, config.name, tuple(config.without))
    for term in _FOR_LIFE:
        before, now = getattr(config, term), fields[term]
        if before != now:
            raise ConfigError(
                f"roster {roster.number} changes {term} from {before} to {now}: a peer takes that up when it starts"
            )
    if config.min_open_edges == min(2, len(config.neighbours) + len(config.without)):  # it was not chosen
        fields["min_open_edges"] = min(2, roster.degrees[config.name])
    return replace(config, **fields)


def needs_a_yes(config: PeerConfig, before: Roster, roster: Roster) -> str | None:
    """Why a later roster must not be taken up without the operator, in a sentence; ``None``: it may.

    A founder could put invented members around somebody; so one that leaves this peer none of its present neighbours
    waits. So does one that puts it into a place where another member can know its value, unless it has said yes to
    such a place before, in the roster ``before``.
    """
    if not config.follow_rosters:
        return "follow_rosters is false"
    if config.name not in roster.members:
        return None
    around = {member.certificate for member in roster.neighbours_of(config.name).values()}
    if not any(member.certificate in around for member in before.neighbours_of(config.name).values()):
        return "none of the present neighbours would be left"
    known = {str(one) for one in exposed(before)}
    new = [str(one) for one in exposed(roster) if one.member == config.name and str(one) not in known]
    return new[0] if new and config.name not in before.accepted else None


def _files(config: PeerConfig) -> IdentityFiles:
    if config.identity is None:
        raise ConfigError("identity is missing: this peer belongs to no network")
    return config.identity


def _waiting(files: IdentityFiles) -> Path:
    return files.key.with_name(files.key.name + ".new")


def _check_network(roster: Roster, card: Card) -> None:
    if card.network != roster.network:
        raise ConfigError(f"the card is for network {card.network!r}, not {roster.network!r}")
