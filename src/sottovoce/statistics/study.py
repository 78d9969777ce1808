"""A study: the columns that every party has, the statistics that are asked for, and the smallest group to be shown.

It is declared in one TOML file, the same at all parties: its digest is compared before anything is contributed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import InvalidFile
from .base import Statistic, Summed, factor
from .columns import Categories, Column, Numbers, column_from
from .counting import Extremes, Histogram, Proportion, Quantiles
from .moments import Correlation, Count, Mean, Sum, Variance
from .regression import Linear, Logistic
from .releasing import StudyRelease
from .table import Table, read_table

__all__ = ["KINDS", "Study"]

MOST_ROWS, MOST_BINS, MOST_ROUNDS, MOST_PARTIES, MOST_RUNS = 10**9, 10_000, 100, 10**6, 10**6
MOST_CELLS = 100_000
LONGEST_NAME = 80
_SHARE = re.compile(r"\d{1,50}/\d{1,50}|(\d{1,50}\.?\d{0,50}|\.\d{1,50})([eE][+-]?\d{1,3})?", re.ASCII)
"""A fraction or a decimal number; not one whose exponent takes for ever to write out."""
NAMES: dict[Any, str] = {str: "text", int: "a whole number", list: "a list", int | float: "a number"}


@dataclass(frozen=True)
class Study:
    """What is asked, of which columns.

    Parameters
    ----------
    name
        Letters, digits, ``-`` and ``_``: part of the names of its topics.
    smallest_group
        Cells, bins and words with fewer rows than this, over all parties, are not shown.
    most_rows
        The most rows that one party may have; it decides how much room sums need.
    columns, statistics
        By name.
    description
        Everything that the file says, as JSON, and the order of its statistics; not comments and the order of keys.
    release
        What is agreed about noise that stays in the results; ``None``: they are exact.
    """

    name: str
    smallest_group: int
    most_rows: int
    columns: Mapping[str, Column]
    statistics: tuple[Statistic, ...]
    description: str
    release: StudyRelease | None = None

    @property
    def digest(self) -> str:
        """Of the description: the same at all parties."""
        return hashlib.sha256(self.description.encode("utf-8")).hexdigest()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Study:
        """Read a study's TOML.

        Raises
        ------
        InvalidFile
            It cannot be read, or something in it is missing, unknown or impossible.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidFile(f"{path} cannot be read ({type(error).__name__})") from None
        return cls.from_text(text, str(path))

    @classmethod
    def from_text(cls, text: str, where: str = "the study") -> Study:
        """The same from text; ``where`` it is from, for messages."""
        try:
            given = tomllib.loads(text)
            return _study(given)
        except tomllib.TOMLDecodeError as error:
            raise InvalidFile(f"{where} is not TOML: {error}") from None
        except InvalidFile as error:
            raise InvalidFile(f"{where}: {error}") from None
        except ValueError:  # Python's limit on the digits of a number
            raise InvalidFile(f"{where} has a number of too many digits") from None
        except RecursionError:
            raise InvalidFile(f"{where} has lists or tables that are nested too deeply") from None

    def read(self, path: str | PathLike[str]) -> Table:
        """A party's rows, checked."""
        return read_table(path, self.columns, most_rows=self.most_rows)


def _study(given: Mapping[str, Any]) -> Study:
    for key in given:
        if key not in {"study", "columns", "statistics", "release"}:
            raise InvalidFile(f"unknown table {key!r}; known are study, columns, statistics and release")
    head = _Keys("study", given.get("study"))
    name = head.take("name", str)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", name):
        raise InvalidFile("study.name must be at most 40 letters, digits, - and _")
    smallest = head.whole("smallest_group", low=1, high=MOST_ROWS)
    most_rows = head.whole("most_rows", low=1, high=MOST_ROWS)
    head.end()
    columns = {key: column_from(key, each) for key, each in _table("columns", given).items()}
    statistics = tuple(_statistic(key, each, columns) for key, each in _table("statistics", given).items())
    said = {**given, "order": {"statistics": list(given["statistics"])}}
    description = json.dumps(said, sort_keys=True, default=str)
    release = _release(given["release"], statistics) if "release" in given else None
    return Study(name, smallest, most_rows, columns, statistics, description, release)


def _release(given: Any, statistics: Sequence[Statistic]) -> StudyRelease:
    keys = _Keys("release", given)
    epsilon, delta = keys.number("epsilon", low=0.0, high=100.0), keys.number("delta", low=0.0, high=1.0)
    honest = keys.whole("honest", low=1, high=MOST_PARTIES)
    runs = keys.whole("runs", low=1, high=MOST_RUNS, default=1)
    protects = keys.take("protects", str)
    if protects not in ("row", "party"):
        raise InvalidFile(f'release.protects must be "row" or "party", got {protects!r}')
    keys.end()
    for statistic in statistics:
        if not isinstance(statistic, Summed) or not statistic.releasable:
            raise InvalidFile(
                f"statistics.{statistic.name} is {statistic.kind!r}, which is not offered with a release: sums with "
                "noise would not give it"
            )
    return StudyRelease(epsilon, delta, honest, runs, protects)


def _table(name: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    table = given.get(name)
    if not isinstance(table, Mapping) or not table:
        raise InvalidFile(f"there must be at least one table [{name}.…]")
    return table


class _Keys:
    """The keys of one table, each taken once."""

    def __init__(self, where: str, given: Any) -> None:
        if not isinstance(given, Mapping):
            raise InvalidFile(f"there must be a table [{where}]")
        self.where, self._left = where, dict(given)

    def take(self, key: str, kind: Any, default: Any = None) -> Any:
        value = self._left.pop(key, default)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InvalidFile(f"{self.where}.{key} must be given, as {NAMES[kind]}")
        return value

    def whole(self, key: str, *, low: int, high: int, default: int | None = None) -> int:
        value: int = self.take(key, int, default)
        if not low <= value <= high:
            raise InvalidFile(f"{self.where}.{key} must be in [{low}, {high}], got {value}")
        return value

    def number(self, key: str, *, low: float, high: float) -> float:
        value = self.take(key, int | float)
        if not low < value < high:
            raise InvalidFile(f"{self.where}.{key} must be between {low:g} and {high:g}, got {value!r}")
        return float(value)

    def end(self) -> None:
        for key in self._left:
            raise InvalidFile(f"{self.where} has an unknown key {key!r}")


class _Choice(_Keys):
    """The keys of a statistic, with the columns that they name."""

    def __init__(self, name: str, given: Any, columns: Mapping[str, Column]) -> None:
        super().__init__(f"statistics.{name}", given)
        self.name, self._columns = name, columns
        self.kind: str = self.take("kind", str)

    def by(self) -> tuple[Categories, ...]:
        names = self.take("by", list, [])
        columns = tuple(self._words(f"by[{place}]", name) for place, name in enumerate(names))
        if len(set(columns)) != len(columns):
            raise InvalidFile(f"{self.where}.by must be different columns")
        if math.prod(len(column.words) for column in columns) > MOST_CELLS:
            raise InvalidFile(f"{self.where}.by must have at most {MOST_CELLS} combinations of words")
        return columns

    def words(self, key: str) -> Categories:
        return self._words(key, self.take(key, str))

    def numbers(self, key: str) -> Numbers:
        return self._numbers(key, self.take(key, str))

    def several(self, key: str, least: int) -> tuple[Column, ...]:
        names = self.take(key, list)
        if len(names) < least or len(set(map(str, names))) != len(names):
            raise InvalidFile(f"{self.where}.{key} must be at least {least} different columns")
        return tuple(self._column(f"{key}[{place}]", name) for place, name in enumerate(names))

    def bins(self) -> int:
        return self.whole("bins", low=1, high=MOST_BINS)

    def _column(self, key: str, name: Any) -> Column:
        if not isinstance(name, str) or name not in self._columns:
            raise InvalidFile(f"{self.where}.{key} must be one of {', '.join(self._columns)}, got {name!r}")
        return self._columns[name]

    def _words(self, key: str, name: Any) -> Categories:
        column = self._column(key, name)
        if not isinstance(column, Categories):
            raise InvalidFile(f"{self.where}.{key} must be a column with categories, and {name!r} has none")
        return column

    def _numbers(self, key: str, name: Any) -> Numbers:
        column = self._column(key, name)
        if not isinstance(column, Numbers):
            raise InvalidFile(f"{self.where}.{key} must be a column of numbers, and {name!r} has categories")
        return column


def _binned(column: Numbers, bins: int, where: str) -> tuple[Numbers, int]:
    if bins > column.span + 1:
        raise InvalidFile(f"{where}.bins must be at most {column.span + 1}, one for each unit, got {bins}")
    return column, bins


def _quantiles(choice: _Choice) -> Statistic:
    by, column, bins = choice.by(), choice.numbers("column"), choice.bins()
    given = choice.take("probabilities", list)
    try:
        shares = tuple(Fraction(str(p)) for p in given if _SHARE.fullmatch(str(p)))
    except ZeroDivisionError:
        shares = ()
    if not shares or len(shares) < len(given) or not all(0 < p <= 1 for p in shares):
        raise InvalidFile(f"{choice.where}.probabilities must be numbers in (0, 1]")
    return Quantiles(choice.name, by, *_binned(column, bins, choice.where), shares)


def _proportion(choice: _Choice) -> Statistic:
    by, column = choice.by(), choice.words("column")
    if column in by:
        raise InvalidFile(f"{choice.where}.by must not have the column among them whose shares are asked for")
    return Proportion(choice.name, by, column)


def _correlation(choice: _Choice) -> Statistic:
    by, columns = choice.by(), choice.several("columns", 2)
    if not all(isinstance(column, Numbers) for column in columns):
        raise InvalidFile(f"{choice.where}.columns must be columns of numbers")
    return Correlation(choice.name, by, tuple(factor(column) for column in columns if isinstance(column, Numbers)))


def _predictors(choice: _Choice, outcome: Column) -> tuple[Column, ...]:
    columns = choice.several("predictors", 1)
    if outcome in columns:
        raise InvalidFile(f"{choice.where}.predictors must not have the outcome among them")
    return tuple(factor(column) if isinstance(column, Numbers) else column for column in columns)


def _linear(choice: _Choice) -> Statistic:
    outcome = factor(choice.numbers("outcome"))
    return Linear(choice.name, (), outcome, _predictors(choice, outcome))


def _logistic(choice: _Choice) -> Statistic:
    outcome, rounds = choice.words("outcome"), choice.whole("rounds", low=1, high=MOST_ROUNDS, default=25)
    if len(outcome.words) != 2:
        raise InvalidFile(f"{choice.where}.outcome must be a column with two categories")
    return Logistic(choice.name, (), rounds, outcome, _predictors(choice, outcome))


KINDS: dict[str, Callable[[_Choice], Statistic]] = {
    "count": lambda c: Count(c.name, c.by()),
    "sum": lambda c: Sum(c.name, c.by(), c.numbers("column")),
    "mean": lambda c: Mean(c.name, c.by(), c.numbers("column")),
    "variance": lambda c: Variance(c.name, c.by(), factor(c.numbers("column"))),
    "correlation": _correlation,
    "histogram": lambda c: Histogram(c.name, c.by(), *_binned(c.numbers("column"), c.bins(), c.where)),
    "quantiles": _quantiles,
    "extremes": lambda c: Extremes(c.name, c.by(), *_binned(c.numbers("column"), c.bins(), c.where)),
    "proportion": _proportion,
    "linear": _linear,
    "logistic": _logistic,
}
"""What a study can ask for, and how it is declared."""


def _statistic(name: str, given: Any, columns: Mapping[str, Column]) -> Statistic:
    if not name.isprintable() or not 1 <= len(name) <= LONGEST_NAME:  # part of the names of topics
        raise InvalidFile(f"the name of a statistic must be printable text of 1 to {LONGEST_NAME} characters")
    choice = _Choice(name, given, columns)
    if choice.kind not in KINDS:
        raise InvalidFile(f"{choice.where}.kind must be one of {', '.join(KINDS)}, got {choice.kind!r}")
    statistic = KINDS[choice.kind](choice)
    choice.end()
    return statistic
