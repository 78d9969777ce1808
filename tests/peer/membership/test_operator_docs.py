from __future__ import annotations

from pathlib import Path

from sottovoce.peer.membership.explanations import EXPLANATIONS
from sottovoce.peer.process.metrics import PeerObserver

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "run-a-peer.md").read_text(encoding="utf-8")


def test_the_page_explains_every_field_in_the_same_words() -> None:
    """The how-to page and the configuration files say the same about each field."""
    for name, told in EXPLANATIONS.items():
        assert f"`{name}` (default:" in PAGE
        for part in told:
            assert part in PAGE, (name, part)


def test_the_page_names_every_metric() -> None:
    """Whatever Prometheus will collect is described."""
    observer = PeerObserver()
    observer.update({"neighbours": {"b": {"state": "open"}}})
    observer.count("applied")
    for metric in observer.registry.collect():
        assert f"`{metric.name}" in PAGE or f" `{metric.name}" in PAGE, metric.name
