"""The methods: one file each, named as in the literature."""

from __future__ import annotations

from .base import Method, PairMethod
from .noise_insertion import NoiseInsertion
from .standard import StandardGossip

__all__ = ["Method", "NoiseInsertion", "PairMethod", "StandardGossip"]
