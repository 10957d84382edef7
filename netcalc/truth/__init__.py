"""Every live experiment on emulated links with known parameters, compared with theory."""

from __future__ import annotations

from netcalc.truth.rows import TruthRow
from netcalc.truth.table import truth_rows, truth_summary, validate

__all__ = ["TruthRow", "truth_rows", "truth_summary", "validate"]
