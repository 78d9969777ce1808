"""Alert rules and dashboard ask only for what a peer really exports, and Prometheus' own tool accepts them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sottovoce.peer.process.metrics import PeerObserver

ROOT = Path(__file__).parent.parent
ALERTS = ROOT / "deployment" / "alerts.yml"
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deployment" / "dashboard.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "how-to" / "run-a-peer.md").read_text(encoding="utf-8")
SERVICE_PAGE = (ROOT / "docs" / "how-to" / "keep-a-peer-running.md").read_text(encoding="utf-8")
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="there is no promtool; Debian has it in `prometheus`")

FROM_PROMETHEUS = {"up": {"job", "instance"}}
FROM_SCRAPING = {"instance", "job"}


def expressions() -> dict[str, str]:
    """Every expression of both files, by where it stands."""
    text = ALERTS.read_text(encoding="utf-8")
    found = dict(re.findall(r"- alert: (\w+)\n(?:\s+#.*\n)?\s+expr: (.*)$", text, flags=re.MULTILINE))
    assert len(found) == text.count("- alert:")
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            found[f"{panel['title']} {target['refId']}"] = target["expr"]
    return found


def exported() -> dict[str, set[str]]:
    """The series that a peer serves, with their labels."""
    observer = PeerObserver()
    observer.count("applied", "bob")
    observer.note_call("bob", 0.01)
    observer.update({"neighbours": {"bob": {"state": "open"}}})
    series: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*?)\})? \S+$", observer.render().decode(), flags=re.MULTILINE):
        series.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return series


EVENTS = set(re.findall(r"`([a-z-]+)`", PAGE[PAGE.index("Events that say") : PAGE.index("## Who is a member")]))
EVENTS |= {f"refused-handshake{tail}" for tail in EVENTS if tail.startswith("-")}
EVENTS |= {f"call-failed{tail}" for tail in EVENTS if tail.startswith("-")}


@pytest.mark.parametrize("where", expressions())
def test_every_expression_asks_for_what_there_is(where: str) -> None:
    """Series, labels and events that it names exist: a misspelt one would be silent for ever."""
    text, series = expressions()[where], exported() | FROM_PROMETHEUS
    bare = re.sub(r'"[^"]*"', '""', text)
    names = set(re.findall(r"\b(?:up|(?:sottovoce|process)_\w+)\b", bare))
    assert names
    assert names <= set(series), names - set(series)
    labels = FROM_SCRAPING.union(*(series[name] for name in names))
    asked = re.findall(r"(\w+)=~?\"", text) + re.findall(r"\w+", " ".join(re.findall(r"by \((.*?)\)", text)))
    assert set(asked) <= labels, set(asked) - labels
    for pattern in re.findall(r'event=~?"([^"]*)"', text):
        for one in pattern.split("|"):
            assert any(re.fullmatch(one, event) for event in EVENTS), one
    for state in re.findall(r'state="(\w+)"', text):
        assert f"`{state}`" in PAGE


def test_a_misspelt_series_is_noticed() -> None:
    """The control of the check above."""
    assert "sottovoce_setled" not in exported()
    assert exported()["sottovoce_neighbours"] == {"state"}
    assert "store-went-back" in EVENTS
    assert "refused-handshake-expired" in EVENTS


def test_the_dashboard_is_whole() -> None:
    """Panels have numbers of their own, do not overlap, and use the two variables that are defined."""
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    squares = [
        (x, y)
        for at in (panel["gridPos"] for panel in panels)
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(squares) == len(set(squares))
    assert max(x for x, _ in squares) < 24
    defined = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD["panels"])))
    assert used == defined


def test_the_page_names_every_alert() -> None:
    """What may wake somebody up is told."""
    for alert in re.findall(r"- alert: (\w+)", ALERTS.read_text(encoding="utf-8")):
        assert f"`{alert}`" in SERVICE_PAGE, alert


def promtool(*arguments: str | Path) -> None:
    assert PROMTOOL is not None
    done = subprocess.run([PROMTOOL, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_promtool_accepts_every_expression(tmp_path: Path) -> None:
    """The alert rules as they are, and the dashboard's expressions with their variables filled in."""
    promtool("check", "rules", ALERTS)
    rules = ["groups:", "  - name: dashboard", "    rules:"]
    for number, text in enumerate(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]):
        filled = text.replace("$instance", ".*")
        rules += [f"      - record: panel:{number}", f"        expr: {json.dumps(filled)}"]
    (tmp_path / "dashboard.yml").write_text("\n".join(rules), encoding="utf-8")
    promtool("check", "rules", tmp_path / "dashboard.yml")


@needs_promtool
def test_promtool_accepts_what_a_peer_serves() -> None:
    """Names, types and help texts of the page follow the conventions."""
    assert PROMTOOL is not None
    observer = PeerObserver()
    observer.count("applied", "bob")
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=observer.render(), capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


SCENARIO = """
rule_files: [{rules}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'up{{job="sottovoce", instance="ada"}}'
        values: '1x10 0x30'
      - series: 'sottovoce_neighbours{{instance="ada", state="unreachable"}}'
        values: '0x10 1x30'
      - series: 'sottovoce_neighbours{{instance="bob", state="unreachable"}}'
        values: '0x40'
      - series: 'sottovoce_events_total{{instance="ada", event="store-went-back", neighbour="bob"}}'
        values: '_x10 1x30'
      - series: 'sottovoce_certificate_expiry_timestamp_seconds{{instance="ada"}}'
        values: '864000x40'
      - series: 'sottovoce_certificate_expiry_timestamp_seconds{{instance="bob"}}'
        values: '8640000x40'
      - series: 'sottovoce_budget_spent_ratio{{instance="ada"}}'
        values: '0.5x20 0.95x20'
    alert_rule_test:
{expected}
"""


@needs_promtool
def test_alerts_come_when_they_should(tmp_path: Path) -> None:
    """Each fires for the peer with the trouble, after its time, and not before nor for another."""
    expected = []
    for minute, alert, labels in (
        (12, "SottovocePeerDown", None),
        (20, "SottovocePeerDown", {"severity": "critical", "job": "sottovoce", "instance": "ada"}),
        (15, "SottovoceNeighbourAway", None),
        (30, "SottovoceNeighbourAway", {"severity": "warning", "instance": "ada", "state": "unreachable"}),
        (9, "SottovoceStoreWentBack", None),
        (
            12,
            "SottovoceStoreWentBack",
            {"severity": "critical", "instance": "ada", "event": "store-went-back", "neighbour": "bob"},
        ),
        (5, "SottovoceCertificateEnds", {"severity": "warning", "instance": "ada"}),
        (15, "SottovoceBudgetNearlySpent", None),
        (30, "SottovoceBudgetNearlySpent", {"severity": "warning", "instance": "ada"}),
    ):
        expected += [f"      - eval_time: {minute}m", f"        alertname: {alert}"]
        if labels is not None:
            annotations = rendered(alert, labels, minute)
            expected += [
                "        exp_alerts:",
                f"          - exp_labels: {json.dumps(labels)}",
                f"            exp_annotations: {json.dumps(annotations)}",
            ]
    (tmp_path / "test.yml").write_text(SCENARIO.format(rules=ALERTS, expected="\n".join(expected)), encoding="utf-8")
    promtool("test", "rules", tmp_path / "test.yml")


def rendered(alert: str, labels: dict[str, str], minute: int) -> dict[str, str]:
    """The annotations of an alert with its labels and value filled in, as Prometheus would."""
    text = ALERTS.read_text(encoding="utf-8")
    block = text[text.index(f"- alert: {alert}\n") :].split("- alert:")[1]
    values = {
        "{{ $value }}": "1",
        "{{ $value | humanizePercentage }}": "95%",
        "{{ $value | humanizeDuration }}": f"9d 23h {60 - minute}m 0s",
    }
    found = dict(re.findall(r'(summary|description): "(.*)"', block))
    values |= {f"{{{{ $labels.{name} }}}}": value for name, value in labels.items()}
    return {key: re.sub(r"\{\{.*?\}\}", lambda match: values[match[0]], text) for key, text in found.items()}
