"""Sensible terms for a new network, from what its founder knows about the values: their range and their step."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from typing import Any

from ...errors import ConfigError

__all__ = ["KINDS", "suggest"]

KINDS: dict[str, dict[str, Any]] = {
    "money": {"step": "0.01"},
    "percent": {"step": "0.1", "low": 0.0, "high": 100.0},
    "count": {"step": "1"},
}
"""What is usual: money in cents, percentages with one digit after the point, whole numbers."""


def suggest(kind: str | None, members: int, max_degree: int, **given: Any) -> dict[str, Any]:
    """Complete the terms: ``step`` and range from the kind, tolerance and unit from the step.

    The tolerance is the largest power of ten up to half a step. The unit is the largest power of ten up to step/(2n),
    so that the sum of all values can be told without any error, and small enough that the tolerance is at least
    2 max_degree + 2 units.

    Parameters
    ----------
    kind
        One of :data:`KINDS`, or ``None``.
    members, max_degree
        Of the network.
    **given
        ``step``, ``low``, ``high``, ``unit``, ``tolerance``, ``seal_std``; what is ``None`` is suggested.

    Raises
    ------
    ConfigError
        Something has to be told and was not. The seal is never suggested silently, because it decides privacy.

    Examples
    --------
    >>> found = suggest("money", 5, 4, low=0.0, high=9000.0, seal_std=27000.0)
    >>> found["unit"], found["tolerance"]
    ('0.0001', 0.001)
    """
    known = {name: value for name, value in given.items() if value is not None}
    terms = (KINDS[kind] if kind is not None else {}) | known
    for name in ("low", "high"):
        if name not in terms:
            raise ConfigError(f"{name} is missing: the range in which every private value lies, --low and --high")
    if "seal_std" not in terms:
        width = terms["high"] - terms["low"]
        raise ConfigError(
            f"seal_std has no default, because it decides privacy: 3 (high - low) = {3 * width:g} hides nearly all "
            "that can be hidden"
        )
    if "unit" in terms and "tolerance" in terms:
        return terms
    if "step" not in terms:
        raise ConfigError("step is missing: of what are the values multiples? 0.01 for money, or use --of money")
    step = _decimal(terms["step"])
    tolerance = Decimal(str(terms.get("tolerance", _power(step / 2))))
    unit = min(_power(step / (2 * members)), _power(tolerance / (2 * max_degree + 2)))
    return {"tolerance": float(tolerance), "unit": f"{unit:f}"} | terms


def _decimal(text: object) -> Decimal:
    try:
        number = Decimal(str(text))
    except InvalidOperation:
        number = Decimal(0)
    if not number.is_finite() or number <= 0:
        raise ConfigError(f"step must be a positive decimal number such as 0.01, got {text!r}")
    return number


def _power(number: Decimal) -> Decimal:
    """The largest power of ten that is not larger."""
    return Decimal(1).scaleb(int(number.log10().to_integral_value(ROUND_FLOOR)))
