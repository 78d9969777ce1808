"""The report of a study: a table for each statistic. The same at all parties.

It has no date and no party of its own in it, so that all parties' files are equal byte by byte.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..privacy.releases import ReleaseCost
from .base import Row
from .releasing import StudyRelease
from .showing import FORMAT, page_of, text_of
from .study import Study

__all__ = ["Released", "Result", "StudyReport"]


@dataclass(frozen=True)
class Result:
    """What was found for one statistic.

    Parameters
    ----------
    name, kind
        As in the study.
    about
        The column that it is of; empty where there is none, or where the rows name several.
    rows
        One or more for each cell; ``None`` stands where fewer rows than the smallest group would be shown.
    """

    name: str
    kind: str
    rows: tuple[Row, ...]
    about: str = ""


@dataclass(frozen=True)
class Released:
    """What the noise in a report protects.

    Parameters
    ----------
    agreed
        What the parties have agreed on.
    cost
        What this run tells if as many as agreed were honest.
    """

    agreed: StudyRelease
    cost: ReleaseCost

    def epsilon_reached(self, honest: int) -> float:
        """The ε of this run at the agreed δ if so many parties, not those agreed, added their noise and told nobody."""
        fewer = ReleaseCost(self.cost.rho * self.agreed.honest / honest, self.cost.closeness)
        return fewer.epsilon(self.agreed.delta)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        agreed = self.agreed
        fewer = sorted({1, -(-agreed.honest // 2)} - {agreed.honest})
        return {
            "protects": agreed.protects,
            "honest": agreed.honest,
            "delta": agreed.delta,
            "epsilon": self.cost.epsilon(agreed.delta),
            "epsilon_by_honest": {str(honest): self.epsilon_reached(honest) for honest in fewer},
            "runs": agreed.runs,
            "epsilon_of_all_runs": self.cost.times(agreed.runs).epsilon(agreed.delta),
            "rho": self.cost.rho,
            "closeness": self.cost.closeness,
        }


@dataclass(frozen=True)
class StudyReport:
    """All results of a study.

    Parameters
    ----------
    study
        What was asked.
    contributors
        Whose rows these are.
    num_rows
        How many rows all of them have.
    clipped
        How many numbers of each column were moved to a bound, over all parties.
    results
        In the order of the study.
    released
        What the noise in it protects; ``None``: there is no noise.
    """

    study: Study
    contributors: tuple[str, ...]
    num_rows: int
    clipped: Mapping[str, int]
    results: tuple[Result, ...]
    released: Released | None = None

    def __getitem__(self, name: str) -> list[Row]:
        """The rows of one statistic."""
        return next(list(result.rows) for result in self.results if result.name == name)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        smallest = self.study.smallest_group
        return {
            "format": FORMAT,
            "study": self.study.name,
            "digest": self.study.digest,
            "smallest_group": smallest,
            "release": None if self.released is None else self.released.as_dict(),
            "contributors": list(self.contributors),
            "rows": None if 0 < self.num_rows < smallest else self.num_rows,
            "clipped": {name: None if 0 < count < smallest else count for name, count in self.clipped.items()},
            "results": [{"name": r.name, "kind": r.kind, "about": r.about, "rows": list(r.rows)} for r in self.results],
        }

    def to_json(self) -> str:
        """The file that ``study run`` writes."""
        return json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n"

    def to_text(self) -> str:
        """For a terminal."""
        return text_of(self.as_dict())

    def to_html(self) -> str:
        """A page without scripts or anything from elsewhere."""
        return page_of(self.as_dict())
