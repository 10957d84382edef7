"""Every live experiment on emulated links with known parameters, compared with theory."""

from __future__ import annotations

from netcalc.truth.rows import TruthRow, TruthSummary, truth_rows, truth_summary
from netcalc.truth.table import LABS, validate

__all__ = ["LABS", "TruthRow", "TruthSummary", "truth_rows", "truth_summary", "validate"]
__dir__ = __all__.copy  # what TAB offers
