"""Experiments: the published figures, comparisons, sweeps."""

from __future__ import annotations
