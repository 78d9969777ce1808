"""The built page: every served file is the one that was built, from the sources that are here."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from sottovoce.studio.app import STATIC

SOURCES = Path(__file__).parents[2] / "studio-web"

needs_sources = pytest.mark.skipif(
    not SOURCES.is_dir(), reason="the front end's sources are not part of an installation"
)


def recorded() -> dict[str, str]:
    """Name → digest, as the build wrote them down; ``studio-web`` stands for the sources."""
    lines = (STATIC / "build.sha256").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def test_every_served_file_is_the_one_that_was_built() -> None:
    """A bundle changed by hand, left over or missing is noticed without Node.js."""
    served = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in STATIC.iterdir()
        if path.name != "build.sha256"
    }
    built = recorded()
    del built["studio-web"]
    assert served == built


@needs_sources
def test_the_page_was_built_from_its_sources() -> None:
    """Who changes the page builds it: ``npm ci && npm run build`` in ``studio-web``."""
    digest = hashlib.sha256()
    for path in [*sorted((SOURCES / "src").iterdir(), key=lambda path: path.name), SOURCES / "package-lock.json"]:
        digest.update(path.read_bytes())
    assert recorded()["studio-web"] == digest.hexdigest()


@needs_sources
def test_licences_of_all_bundled_packages_travel_along() -> None:
    """Each package that the page asks for is named with its licence; the build checks those that they bring along."""
    text = (STATIC / "LICENSES.txt").read_text(encoding="utf-8")
    needed = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert "uplot" in needed
    for name in needed:
        assert f"\n{name} " in text
    assert text.count("Copyright") >= len(needed)


@needs_sources
def test_the_lock_file_names_no_address() -> None:
    """Where packages come from is the builder's configuration; what they are is pinned by digest."""
    packages = json.loads((SOURCES / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert not any("resolved" in entry for entry in packages.values())
    assert all("integrity" in entry for name, entry in packages.items() if name)
