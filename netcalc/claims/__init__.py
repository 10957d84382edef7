"""The book check: numbers that somebody printed, computed again by the models of netcalc.

>>> numbers = {checked.claim.id: checked for checked in check(book())}
>>> numbers["SL13"].computed_text, numbers["SL13"].verdict
('83.33 ms', 'disagree')

A claim is a printed number with the formula that should give it. :func:`book` has those of the
five sources, :func:`read` those of a file; :func:`check` computes them, compares, and holds the
outcome against the verdict on record. ``docs/claims.md`` describes the file.
"""

from __future__ import annotations

from netcalc.claims.check import Checked, check, counts
from netcalc.claims.expression import evaluate
from netcalc.claims.quantity import Quantity
from netcalc.claims.table import COMPUTED, RELATIONS, UNCOMPUTED, Claim, book, read

__all__ = [
    "COMPUTED",
    "RELATIONS",
    "UNCOMPUTED",
    "Checked",
    "Claim",
    "Quantity",
    "book",
    "check",
    "counts",
    "evaluate",
    "read",
]
