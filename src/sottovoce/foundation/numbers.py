"""Numbers that several rooms agree on."""

from __future__ import annotations

__all__ = ["NEGLIGIBLE"]

NEGLIGIBLE = 2.0**-511
"""Amplitudes σφ^t below this are set to zero: their square, which is what an error or a variance would see of them, is
below the smallest normal double. Without the cut φ^t passes through denormal numbers, where one multiplication costs
a hundred ordinary ones."""
