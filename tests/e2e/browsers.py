"""Real browsers for the tests of the studio: which are here, a visit to a page, and the engine's own numbers.

Driven by Playwright on installed browsers (``make test`` installs Debian's Chromium and Firefox where it can); it
downloads none. Firefox is reached through :mod:`.firefox`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sottovoce as sv
from sottovoce.scenario.values import uniform

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

    from ..studio.helpers import Studio

PATIENCE = 200.0
"""Seconds to wait for anything on a page; a busy machine is slow."""

AXE = Path(__file__).parents[2] / "studio-web" / "node_modules" / "axe-core" / "axe.min.js"


def _found(variable: str, *names: str) -> str | None:
    candidates = (os.environ.get(variable, ""), *names)
    return next((found for name in candidates if name and (found := shutil.which(name))), None)


EXECUTABLES = {
    "chromium": _found("SOTTOVOCE_BROWSER", "chromium", "chromium-browser", "google-chrome"),
    "firefox": _found("SOTTOVOCE_FIREFOX", "firefox-esr", "firefox"),
}

LEAST_FIREFOX = 153
"""Playwright says things that earlier ones do not understand, 140 for one."""

NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)
METHOD = "method=noise-insertion:noise_std~1,noise_decay~0.9"


def launch(driver: Playwright, name: str, folder: Path) -> Browser:
    """Start an installed browser; without one, the test is skipped."""
    executable = EXECUTABLES[name]
    if executable is None:
        pytest.skip(f"no {name} on this machine: `make browser` installs one")
    if name == "chromium":
        return driver.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu"], timeout=1000 * PATIENCE
        )
    said = subprocess.run([executable, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"\d+", said)
    if version is None or int(version[0]) < LEAST_FIREFOX:
        pytest.skip(f"{said.strip()} is older than {LEAST_FIREFOX}: `make browser` installs Debian's newest")
    between = folder / "firefox"
    script = Path(__file__).with_name("firefox.py")
    between.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "{executable}" "$@"\n', encoding="utf-8")
    between.chmod(0o755)
    return driver.firefox.launch(channel="moz-firefox", executable_path=between, timeout=1000 * PATIENCE)


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A fresh profile with a window of the usual size."""
    return browser.new_context(**({"viewport": {"width": 1300, "height": 900}, "accept_downloads": True} | options))


class Visit:
    """A page in the browser, with everything that went wrong on it and everywhere it went."""

    def __init__(self, server: Studio, page: Page) -> None:
        self.server, self.page = server, page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.set_default_timeout(1000 * PATIENCE)

    def open(self, address: str = "#graph=cycle:10") -> Visit:
        """The playground, as this address describes it."""
        self.page.goto(f"http://{self.server.address}/{address}")
        self.wait("window.studio?.problemShown && studio.lanes[0]?.picture")
        return self

    def wait(self, expression: str, argument: Any = None) -> None:
        """Until this is true on the page. (Playwright's own way evaluates text there, which the policy forbids.)"""
        deadline = time.monotonic() + PATIENCE
        while not self.page.evaluate(expression, argument):
            assert time.monotonic() < deadline, f"never true: {expression}; complaints: {self.complaints}"
            self.page.wait_for_timeout(40)

    def settle(self, step: int) -> None:
        """Until this step is shown: numbers are written when the browser draws next, a moment after they came."""
        self.wait("step => studio.step === step && Number(document.querySelector('#timeline').value) === step", step)
        self.wait(
            """() => studio.lanes.every((lane, index) => {
                const shown = document.querySelector(`[data-lane='${index}'] .error`);
                return !shown || shown.dataset.value === String(lane.picture.error);
            })"""
        )

    def run_to_end(self) -> None:
        self.page.click("#end")
        self.settle(self.page.evaluate("studio.problemShown.numSteps"))

    def error(self, lane: int = 0) -> float:
        """The relative error that the page shows, in full."""
        shown = self.page.locator(f"[data-lane='{lane}'] .error").get_attribute("data-value")
        assert shown is not None
        return float(shown)

    def values(self) -> list[float]:
        found: list[float] = self.page.evaluate("Array.from(studio.lanes[0].picture.values)")
        return found

    def click_node(self, node: int) -> None:
        """A real click on the drawing, where the node is."""
        self.wait("studio.lanes[0].network.places?.length === studio.problemShown.graph.numNodes")
        x, y = self.page.evaluate("node => studio.lanes[0].network.places[node]", node)
        self.page.locator("[data-lane='0'] canvas").click(position={"x": x, "y": y})

    def violations(self) -> list[str]:
        """What axe finds wrong on the page as it is now, one line each."""
        if not AXE.is_file():
            pytest.skip("axe-core is not installed: `npm ci` in studio-web")
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [f"{v['id']}: {v['help']}: {[node['html'][:120] for node in v['nodes'][:3]]}" for v in found]


def engine(num_steps: int, *, graph: sv.Graph | None = None, method: sv.Method = NOISY, seed: int = 1) -> sv.Solution:
    graph = graph or sv.graphs.cycle(10)
    values = uniform(graph.num_nodes, seed)
    return sv.simulate(graph, values, method, num_steps=num_steps, seed=seed, record=400)
