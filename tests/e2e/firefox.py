"""A system's Firefox for Playwright, which speaks WebDriver BiDi with it.

Playwright starts this module in the place of Firefox. It starts the real one, stands between the two, and says yes to
emulations (colour scheme, screen) that a release of Firefox does not know yet: Playwright asks for them always and
would give up. Everything else passes unchanged.

    python -m tests.e2e.firefox FIREFOX --remote-debugging-port 0 …
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


def answered(message: str | bytes) -> str | bytes:
    """What Playwright hears: an emulation that is not known counts as done.

    >>> answered('{"type": "error", "id": 3, "error": "unknown command", "message": "emulation.setThing"}')
    '{"type": "success", "id": 3, "result": {}}'
    >>> answered('{"type": "error", "id": 4, "error": "unknown command", "message": "script.run"}')
    '{"type": "error", "id": 4, "error": "unknown command", "message": "script.run"}'
    """
    head = message[:200] if isinstance(message, str) else message[:200].decode(errors="replace")
    if "unknown command" not in head:
        return message
    content = json.loads(message)
    if content.get("type") != "error" or not content.get("message", "").startswith("emulation."):
        return message
    return json.dumps({"type": "success", "id": content["id"], "result": {}})


def pass_on(page: ServerConnection, address: str) -> None:
    """Both directions until either side closes."""
    assert page.request is not None
    with connect(address + page.request.path, max_size=None, compression=None, origin=None) as firefox:

        def back() -> None:
            try:
                for message in firefox:
                    page.send(answered(message))
            except ConnectionClosed:
                pass
            page.close()

        thread = threading.Thread(target=back, daemon=True)
        thread.start()
        try:
            for message in page:
                firefox.send(message)
        except ConnectionClosed:
            pass


def main(arguments: list[str]) -> int:
    """Run Firefox until it ends; announce our own address where it announces its."""
    firefox = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, errors="replace")
    assert firefox.stderr is not None
    for line in firefox.stderr:
        found = LISTENING.search(line)
        if found is None:
            sys.stderr.write(line)
            continue
        address = found[1]
        server = serve(lambda page, to=address: pass_on(page, to), "127.0.0.1", 0, max_size=None, compression=None)  # type: ignore[misc]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        sys.stderr.write(f"WebDriver BiDi listening on ws://127.0.0.1:{port}\n")
        sys.stderr.flush()
    return firefox.wait()


if __name__ == "__main__":
    sys.stdout.flush()
    os._exit(main(sys.argv[1:]))
