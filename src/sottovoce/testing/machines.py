"""Several machines out of one: network namespaces on a common bridge, each with its own interfaces and addresses.

Needs Linux, root and ``ip`` of iproute2; :func:`why_not` says what is missing. The bridge lives in a namespace of its
own and all names are random, so that nothing of this machine's own network is touched and two tests never meet.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from ..errors import PeerError

__all__ = ["Machines", "why_not"]

_HOSTS = Path("/etc/netns")
"""Where ``ip netns exec`` looks for files that a namespace sees in ``/etc``."""
_TRIALS = 3
"""Several processes may ask at the same time, and the first to make or remove a folder is in the way of the others."""
_PRIVILEGED = "1-32767"
"""Ports on which servers listen here. Answers to one's own calls come to higher ones."""


@functools.cache
def why_not() -> str:
    """Why there can be no such machines here; empty if there can."""
    if shutil.which("ip") is None:
        return "there is no ip command"
    if os.geteuid() != 0:
        return "network namespaces need root"
    for _ in range(_TRIALS):
        try:
            with Machines("trial"):
                return ""
        except (PeerError, OSError) as error:
            reason = f"network namespaces cannot be made here: {error}"
        time.sleep(0.1)
    return reason


class Machines:
    """Machines by name; use as a context manager, so that none outlives it.

    Parameters
    ----------
    *names
        Of the machines; each can be reached by the others as ``name.example.org``.
    """

    def __init__(self, *names: str) -> None:
        tag = secrets.token_hex(4)
        self._hub = f"sottovoce-{tag}"
        self._spaces = {name: f"sottovoce-{tag}-{name}" for name in names}

    def __enter__(self) -> Machines:
        try:
            _ip("netns", "add", self._hub)
            _ip("-n", self._hub, "link", "add", "bridge", "type", "bridge")
            _ip("-n", self._hub, "link", "set", "bridge", "up")
            for number, name in enumerate(self._spaces, start=1):
                self._connect(name, number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _connect(self, name: str, number: int) -> None:
        space, port = self._spaces[name], f"port{number}"
        _ip("netns", "add", space)
        _ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", port, "netns", self._hub)
        _ip("-n", self._hub, "link", "set", port, "master", "bridge", "up")
        _ip("-n", space, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", space, "link", "set", device, "up")
        _make_folder(_HOSTS / space)
        self.let_know(name, list(self._spaces))

    def __exit__(self, *_: object) -> None:
        for space in (*self._spaces.values(), self._hub):
            with contextlib.suppress(PeerError):
                _ip("netns", "del", space)
            shutil.rmtree(_HOSTS / space, ignore_errors=True)
        with contextlib.suppress(OSError):
            _HOSTS.rmdir()  # only if nobody else has anything there

    def address(self, name: str) -> str:
        """The machine's address on the bridge."""
        return f"10.77.0.{list(self._spaces).index(name) + 1}"

    def command(self, name: str, arguments: Sequence[str]) -> list[str]:
        """The command that runs ``arguments`` on that machine."""
        return ["ip", "netns", "exec", self._spaces[name], *arguments]

    def let_know(self, name: str, others: Sequence[str]) -> None:
        """From now on this machine can resolve these names and no others; its own as on Debian, to a loopback one."""
        known = {other: "127.0.1.1" if other == name else self.address(other) for other in others}
        lines = ["127.0.0.1 localhost", *(f"{address} {other}.example.org" for other, address in known.items()), ""]
        # Written in place: programs on that machine have this very file mounted.
        (_HOSTS / self._spaces[name] / "hosts").write_text("\n".join(lines), encoding="ascii")

    def put_behind_firewall(self, name: str) -> None:
        """From now on nobody's call reaches this machine; its own calls go out and their answers come back."""
        rule = ("-n", self._spaces[name], "rule")
        # Packets for this machine itself are found by the first rule, so ours has to come before it.
        _ip(*rule, "add", "pref", "100", "lookup", "local")
        _ip(*rule, "del", "pref", "0")
        _ip(*rule, "add", "pref", "10", "iif", "eth0", "ipproto", "tcp", "dport", _PRIVILEGED, "blackhole")

    def cut_off(self, name: str, *, back: bool = False) -> None:
        """Take the machine off the network, or put it back."""
        _ip("-n", self._spaces[name], "link", "set", "eth0", "up" if back else "down")


def _make_folder(path: Path) -> None:
    """With those above it, which another process may be removing at this moment because they are empty."""
    for _ in range(100):
        with contextlib.suppress(FileNotFoundError, FileExistsError):
            path.mkdir(parents=True)
        if path.is_dir():
            return
    path.mkdir(parents=True)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)  # noqa: S603, S607 - fixed words
    if done.returncode != 0:
        raise PeerError(f"ip {' '.join(words)}: {done.stderr.strip()}")
