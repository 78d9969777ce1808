"""``sottovoce studio``: serve the page and open it."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import webbrowser
from pathlib import Path

import click

from ..errors import InvalidParameter
from ..foundation.extras import require
from .kinds import FileName, Whole
from .output import json_option, load_option, print_json

DEFAULT_PORT = 8321


@click.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True,
    help="Address to listen on. Choose one that other machines reach only if they may use the page.",
)  # fmt: skip
@click.option(
    "--port", type=Whole(0, 65535),
    help=f"Port to listen on; 0 is any free one. [default: {DEFAULT_PORT}, or any free one if it is taken]",
)  # fmt: skip
@click.option("--network", type=FileName(), help="Folder of a network of peers, for the live view.")
@load_option
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.")
@json_option
def command(host: str, port: int | None, network: Path | None, browser: bool, as_json: bool) -> None:
    """Watch private gossip happen, in the browser.

    \b
    sottovoce studio
    sottovoce studio --port 9000 --no-browser
    """
    require("starlette", "uvicorn", "websockets", by="the studio")
    from ..studio.thinking import Thinkers

    listener = _listen(host, port)
    thinkers = Thinkers()
    thinkers.start()  # while the server is being imported
    import uvicorn

    from ..studio.app import LOOPBACK, create_app
    from ..studio.live import Watcher

    address, bound = listener.getsockname()[:2]
    names = _own_names() if _is_any(address) else (address,)
    urls = [f"http://[{name}]:{bound}/" if ":" in name else f"http://{name}:{bound}/" for name in names]
    if not _is_loopback(address):
        click.echo(
            f"warning: {host} can be reached from other machines; whoever reaches it can use this page", err=True
        )
    hosts = (*LOOPBACK, *names, host.lower())
    if as_json:
        print_json({"url": urls[0], "urls": urls})
    else:
        click.echo(f"The studio is at {' and '.join(urls)} (Ctrl-C ends it)")
    config = uvicorn.Config(
        create_app(hosts=hosts, watcher=Watcher(network), thinkers=thinkers),
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=2**24,
        timeout_graceful_shutdown=2,
    )
    if browser:
        threading.Timer(0.5, webbrowser.open, [urls[0]]).start()
    with contextlib.closing(listener), contextlib.closing(thinkers):
        uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int | None) -> socket.socket:
    """A listening socket; the default port may give way to any free one."""
    for attempt in (port,) if port is not None else (DEFAULT_PORT, 0):
        try:
            family = socket.getaddrinfo(host, attempt, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((host, attempt), family=family)
        except socket.gaierror:
            raise InvalidParameter(f"--host must be an address of this machine, got {host!r}") from None
        except OSError as error:
            problem = error.strerror
    raise InvalidParameter(f"cannot listen on {host} port {port}: {problem}")


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def _is_any(address: str) -> bool:
    return ipaddress.ip_address(address).is_unspecified


def _own_names() -> tuple[str, ...]:
    """Names and addresses under which this machine may be reached, itself first."""
    name = socket.gethostname()
    found = ["127.0.0.1"]
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent: it only says which way it would go
        found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        found += socket.gethostbyname_ex(name)[2]
        found.append(name.lower())
    return tuple(dict.fromkeys(found))
