"""The book check: numbers printed in a text, recomputed by the models of netcalc.

>>> results = {checked.claim.id: checked for checked in check(book())}
>>> results["SL13"].computed_text, results["SL13"].verdict
('83.33 ms', 'disagree')

A claim is a printed number with the formula that should reproduce it. :func:`book` returns the
claims of the five sources, :func:`read` those of a file; :func:`check` computes them and compares
each result with the printed number and with the verdict on record. ``docs/claims.md`` describes the
file.
"""

from __future__ import annotations

from netcalc.claims.check import BASES, Checked, basis_counts, check, counts
from netcalc.claims.expression import Quantity, evaluate
from netcalc.claims.table import COMPUTED, RELATIONS, UNCOMPUTED, Claim, book, read

__all__ = [
    "BASES",
    "COMPUTED",
    "RELATIONS",
    "UNCOMPUTED",
    "Checked",
    "Claim",
    "Quantity",
    "basis_counts",
    "book",
    "check",
    "counts",
    "evaluate",
    "read",
]
__dir__ = __all__.copy  # what TAB offers
