"""Privacy of the synchronous and the differentially private methods, where the literature has formulas.

The functions stand beside their methods in :mod:`sottovoce.methods`; here they are gathered by name. What an observer
infers from a run, round by round, is the audit's task.
"""

from __future__ import annotations

from ..methods.huang import huang_epsilon
from ..methods.mo_murray import mo_murray_disclosure
from ..methods.nozari import nozari_epsilon
from ..methods.pairwise_cancelling import cancelling_mu
from ..methods.seen import one_draw_information

__all__ = ["cancelling_mu", "huang_epsilon", "mo_murray_disclosure", "nozari_epsilon", "one_draw_information"]
