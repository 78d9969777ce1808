"""Cores that may be used: affinity and the quotas of control groups, both versions."""

from __future__ import annotations

import os

import pytest

from sottovoce.foundation import cores


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with eight cores, and control groups that a test describes."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(cores, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(cores, "MOUNT", tmp_path / "mount")

    def describe(groups, files):
        (tmp_path / "cgroup").write_text(groups)
        for name, text in files.items():
            path = tmp_path / "mount" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return describe


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/\n", {}, 8),
        ("0::/kube/pod\n", {"kube/pod/cpu.max": "200000 100000\n"}, 2),
        ("0::/kube/pod\n", {"kube/pod/cpu.max": "max 100000\n"}, 8),
        ("0::/kube/pod\n", {"kube/pod/cpu.max": "max 100000\n", "kube/cpu.max": "350000 100000\n"}, 4),
        ("0::/kube/pod\n", {"kube/pod/cpu.max": "20000 100000\n"}, 1),
        ("0::/kube/pod\n", {"kube/pod/cpu.max": "6400000 100000\n"}, 8),
        ("0::/host/path\n", {"cpu.max": "300000 100000\n"}, 3),
        ("0::/kube/pod\n", {"kube/pod/cpu.max": "nonsense\n"}, 8),
        ("4:cpu,cpuacct:/docker/abc\n", {
            "cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "150000\n",
            "cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000\n",
        }, 2),
        ("4:cpu,cpuacct:/docker/abc\n", {
            "cpu,cpuacct/cpu.cfs_quota_us": "100000\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        }, 1),
        ("4:cpu:/\n5:memory:/x\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        ("5:memory:/x\n6:cpuset:/\n", {"cpu.max": "100000 100000\n"}, 8),
    ],
)  # fmt: skip
def test_quotas_are_consulted(machine, groups, files, expected):
    """The tightest quota on the way up, rounded up; without one, all cores."""
    machine(groups, files)
    assert cores.available_cores() == expected


def test_without_control_groups_all_cores_count(machine):
    """Another operating system, or no such file."""
    assert cores.available_cores() == 8
