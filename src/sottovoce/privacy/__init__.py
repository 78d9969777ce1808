"""What an observer learns: views, audits, attacks, and the account a node keeps by itself.

Names are imported when first used, so that :mod:`.gaussian.account` and :mod:`.gaussian.gdp` stay cheap for a
networked peer.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..foundation.extras import require

if TYPE_CHECKING:
    from . import synchronous
    from .analysers.peer_transcripts import audit_transcript
    from .analysers.row_space import Reconstruction, reconstruct, recoverable
    from .attacks import Attack, attack
    from .auditing import audit, audit_rounds
    from .exposures import Exposure, exposure
    from .firewall import FirewallLaw, expected_information, firewall_law, firewall_std, price_of_hiding
    from .frontiers import Frontier, frontier
    from .gaussian.account import Account
    from .gaussian.gdp import compose, delta, epsilon, largest_mu
    from .gaussian.seals import WorstCoalition, sealed_covariance, sealed_std, worst_coalition
    from .limits import disclosed_by_broadcast, disclosed_eventually, firewalled, groups
    from .records import Drawn, Moved, Sealed, Shown, TranscriptReport
    from .releases import Contribution, Release, ReleaseCost
    from .report import Report, RoundsReport
    from .schedules import ExposureQuantile, exposure_quantile
    from .view import CuriousNodes, EveryoneBut, Pooled, View, WireTap

# No module here is named like a function: importing it would hide the function behind it.
_HOME = {
    "Account": "gaussian.account",
    "Attack": "attacks",
    "Contribution": "releases",
    "CuriousNodes": "view",
    "Drawn": "records",
    "EveryoneBut": "view",
    "Exposure": "exposures",
    "ExposureQuantile": "schedules",
    "FirewallLaw": "firewall",
    "Frontier": "frontiers",
    "Moved": "records",
    "Pooled": "view",
    "Reconstruction": "analysers.row_space",
    "Release": "releases",
    "ReleaseCost": "releases",
    "Report": "report",
    "RoundsReport": "report",
    "Sealed": "records",
    "Shown": "records",
    "TranscriptReport": "records",
    "View": "view",
    "WireTap": "view",
    "WorstCoalition": "gaussian.seals",
    "attack": "attacks",
    "audit": "auditing",
    "audit_rounds": "auditing",
    "audit_transcript": "analysers.peer_transcripts",
    "compose": "gaussian.gdp",
    "delta": "gaussian.gdp",
    "disclosed_by_broadcast": "limits",
    "disclosed_eventually": "limits",
    "epsilon": "gaussian.gdp",
    "expected_information": "firewall",
    "exposure": "exposures",
    "exposure_quantile": "schedules",
    "firewall_law": "firewall",
    "firewall_std": "firewall",
    "firewalled": "limits",
    "frontier": "frontiers",
    "groups": "limits",
    "largest_mu": "gaussian.gdp",
    "price_of_hiding": "firewall",
    "reconstruct": "analysers.row_space",
    "recoverable": "analysers.row_space",
    "sealed_covariance": "gaussian.seals",
    "sealed_std": "gaussian.seals",
    "worst_coalition": "gaussian.seals",
}

_LIGHT = ("gaussian.", "records", "releases", "view")  # what a peer uses: NumPy is enough

__all__ = [
    "Account",
    "Attack",
    "Contribution",
    "CuriousNodes",
    "Drawn",
    "EveryoneBut",
    "Exposure",
    "ExposureQuantile",
    "FirewallLaw",
    "Frontier",
    "Moved",
    "Pooled",
    "Reconstruction",
    "Release",
    "ReleaseCost",
    "Report",
    "RoundsReport",
    "Sealed",
    "Shown",
    "TranscriptReport",
    "View",
    "WireTap",
    "WorstCoalition",
    "attack",
    "audit",
    "audit_rounds",
    "audit_transcript",
    "compose",
    "delta",
    "disclosed_by_broadcast",
    "disclosed_eventually",
    "epsilon",
    "expected_information",
    "exposure",
    "exposure_quantile",
    "firewall_law",
    "firewall_std",
    "firewalled",
    "frontier",
    "groups",
    "largest_mu",
    "price_of_hiding",
    "reconstruct",
    "recoverable",
    "sealed_covariance",
    "sealed_std",
    "synchronous",
    "worst_coalition",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        if not _HOME[name].startswith(_LIGHT):
            require("scipy", by=f"privacy.{name}")
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    if name == "synchronous":
        require("scipy", by="privacy.synchronous")
        return importlib.import_module(".synchronous", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
