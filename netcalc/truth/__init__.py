"""Every live experiment on emulated links with known parameters, compared with theory."""

from __future__ import annotations

from netcalc.truth.rows import TruthRow
from netcalc.truth.table import truth, truth_rows, truth_summary

__all__ = ["TruthRow", "truth", "truth_rows", "truth_summary"]
