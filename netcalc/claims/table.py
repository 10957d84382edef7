"""Claims: printed numbers, each with the formula that should reproduce it.

A file of claims is a table with a header; ``docs/claims.md`` describes its columns.

>>> [claim] = read("id,quantity,printed,formula\\nA1,time of 1 MB on a T1,5.18 s,"
...                '"serialization(1 MB, bandwidth=T1)"\\n')
>>> claim.value, claim.unit
(5.18, 's')
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any

import numpy as np

from netcalc import datasets, documents
from netcalc.claims.expression import Quantity, evaluate, is_name
from netcalc.documents import Place
from netcalc.errors import NetcalcError, ReaderError
from netcalc.printable import excerpt
from netcalc.readers import Readable
from netcalc.readers.source import decode, open_source

COMPUTED = (
    "agree", "agree rounded", "disagree", "derived", "ambiguous", "physically inconsistent",
    "model fits", "model misses",
)  # fmt: skip
"""Verdicts of a number with a formula; ``ambiguous`` if its readings lead to different ones."""
UNCOMPUTED = ("input", "measured", "ambiguous", "not reproducible", "not computable")
"""Verdicts of a number without a formula, which are taken from the record."""

RELATIONS = {
    "": "the computed number rounds to the printed digits",
    "about": "within the tolerance: the text says about, or the number is visibly rounded",
    "cut": "the computed number gives the printed digits when the rest is cut off",
    "below": "the text says less than, or at most",
    "above": "the text says more than, or at least",
    "limit": "the formula gives the maximum that a link can carry",
    "model": "the printed number is measured; the formula is a model with an error of its own",
    "implies": "the printed number is measured or given; the formula gives a value that follows",
}
"""Relations between a printed number and the result of its formula."""

# A file of the wrong kind is refused before it fills the memory; the five sources have 327.
MAX_CLAIMS = 10_000
"""Largest number of claims in one file."""

_COLUMNS = (
    "id", "quantity", "printed", "unit", "formula", "relation", "tolerance", "verdict", "note",
    "source", "place",
)  # fmt: skip
_REQUIRED = ("id", "quantity", "printed", "formula")
_CODES = {"syntax": "claims-not-split"}
_SOURCES = {
    "latency_and_bandwidth": "stevens",
    "wan_round_trips": "stevens",
    "store_and_forward": "stevens",
    "loopback_transactions": "stevens",
    "mbufs": "stevens",
    "source_sink_1440": "snader",
    "source_sink_300": "snader",
    "source_sink_text": "snader",
    "router_forwarding": "router",
    "nagle_summary": "nagle",
    "congestion_scenarios": "netesto",
    "congestion_figures": "netesto",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A printed number, and the formula that should reproduce it.

    Parameters
    ----------
    id, quantity : str
        Its id, and a description of the quantity.
    printed : str
        The number as printed, with its unit; empty if it is derived and printed nowhere.
    value : float or None
        The printed number in ``unit``.
    unit : str
        SI unit.
    formula : str
        The formula, as :func:`netcalc.claims.evaluate` reads it; several readings are separated by
        semicolons.
    relation : str
        Relation between the printed number and the formula: one of ``RELATIONS``.
    tolerance : float or None
        Largest difference that agrees with "about", or that a model allows, in ``unit``; None if it
        follows from the printed digits.
    tolerance_reason : str
        Justification of the tolerance.
    verdict : str
        The verdict on record; empty if there is none.
    recorded : float or None
        The computed value on record, in ``unit`` (in ``implied_unit`` with ``implies``).
    implied_unit : str
        SI unit of the value that follows from the printed number, with ``implies``.
    note, source, work, place : str
        Explanation; short name of the text, its title, and the location in it.
    file : str
        The file of the claim.
    line : int
        The line in the file.
    """

    id: str
    quantity: str
    printed: str
    value: float | None
    unit: str
    formula: str
    relation: str = ""
    tolerance: float | None = None
    tolerance_reason: str = ""
    verdict: str = ""
    recorded: float | None = None
    implied_unit: str = ""
    note: str = ""
    source: str = ""
    work: str = ""
    place: str = ""
    file: str = ""
    line: int = 0

    def error(self, code: str, *, field: str, **values: Any) -> ReaderError:
        """Return an error with the file, the line and the field of this claim."""
        claim = excerpt(self.id)
        return ReaderError(code, file=self.file, line=self.line, field=field, claim=claim, **values)


def book() -> list[Claim]:
    """Return the audited numbers of the five sources, those read off figures included.

    Raises
    ------
    DatasetError
        If a data file is missing or was changed.

    Examples
    --------
    >>> len(book())
    327
    """
    lines = _rows("book_claims")
    formulas = {row["id"]: (number, row) for number, row in enumerate(lines, 2)}
    return [_audited(row, *formulas.get(row["id"], (0, {}))) for row in _rows("audit")]


def read(source: Readable, *, name: str | None = None) -> list[Claim]:
    """Read claims from a file.

    Parameters
    ----------
    source : path, str, bytes or file object
        The table; a ``str`` that contains a line break is the text itself.
    name : str, optional
        Name of the source in messages, if it is not a path.

    Returns
    -------
    list of Claim
        The claims in the order of the file.

    Raises
    ------
    ReaderError
        If it is not a table of claims, or a cell is invalid; with line and field.
    """
    opened = open_source(source, name=name)
    text = decode(opened)
    at = Place(opened.name, _CODES)
    rows = list(islice(_table(documents.records(text.lines, text.numbers, at)), MAX_CLAIMS + 1))
    if len(rows) > MAX_CLAIMS:
        raise rows[-1][0].refused("too-many-claims", limit=MAX_CLAIMS)
    claims: dict[str, Claim] = {}
    for here, row in rows:
        claim = _claim(here, row)
        if claim.id in claims:
            first_line = claims[claim.id].line
            raise claim.error("claim-id-in-use", field="id", first_line=first_line)
        claims[claim.id] = claim
    if not claims:
        raise ReaderError(
            "no-claims",
            file=opened.name,
            expected="a header and one line per claim",
            columns=",".join(_REQUIRED),
        )
    return list(claims.values())


def _rows(name: str) -> list[dict[str, Any]]:
    columns = datasets.load(name).columns()
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*(values.tolist() for values in columns.values()), strict=True)
    ]


def _audited(row: Mapping[str, Any], line: int, formula: Mapping[str, Any]) -> Claim:
    relation = str(formula.get("relation", ""))
    # A limit is compared with a number that was computed from printed ones.
    has_number = bool(row["printed"]) or relation == "limit"
    recorded = float(row["si_computed"])
    tolerance = str(formula.get("tolerance", ""))
    return Claim(
        id=row["id"],
        quantity=row["quantity"],
        printed=row["printed"],
        value=float(row["si_value"]) if has_number else None,
        unit=row["si_unit"],
        formula=str(formula.get("formula", "")),
        relation=relation,
        tolerance=evaluate(tolerance).to(row["si_unit"]).item() if tolerance else None,
        tolerance_reason=str(formula.get("tolerance_reason", "")),
        verdict=row["verdict"],
        recorded=None if np.isnan(recorded) else recorded,
        implied_unit=row["si_computed_unit"] if relation == "implies" else "",
        note=row["note"],
        source=_SOURCES[row["data_set"]],
        work=row["work"],
        place=row["place"],
        file=datasets.info("book_claims").file,
        line=line,
    )


def _table(rows: Iterator[tuple[Place, list[str]]]) -> Iterator[tuple[Place, dict[str, str]]]:
    """Yield the cells of each row by the name of their column."""
    names: list[str] = []
    for at, cells in rows:
        if not names:
            names = _header(at, cells)
        elif len(cells) != len(names):
            raise at.refused("claims-cell-count", count=len(cells), header_count=len(names))
        else:
            yield at, dict(zip(names, cells, strict=True))


def _header(at: Place, cells: list[str]) -> list[str]:
    names = [cell.lower() for cell in cells]
    missing = [name for name in _REQUIRED if name not in names]
    for name in names:
        if name not in _COLUMNS or names.count(name) > 1:
            twice = name in _COLUMNS
            raise at.inside(name or "(no name)").refused(
                "claims-column-twice" if twice else "claims-column-unknown",
                expected=f"the columns {', '.join(_COLUMNS)}",
                suggestions=[] if twice else get_close_matches(name, missing or _COLUMNS, n=1),
            )
    if missing:
        raise at.refused(
            "claims-columns-missing",
            expected=f"at least the columns {', '.join(_REQUIRED)}",
            columns=missing,
        )
    return names


def _claim(at: Place, row: Mapping[str, str]) -> Claim:
    def refused(column: str, code: str, **values: Any) -> ReaderError:
        return at.inside(column).refused(code, **values)

    if not is_name(row["id"]):
        raise refused("id", "claim-id-malformed", id=excerpt(row["id"]))
    relation = row.get("relation", "")
    if relation not in RELATIONS:
        raise refused(
            "relation", "relation-unknown", relation=excerpt(relation),
            known=list(filter(None, RELATIONS)),
        )  # fmt: skip
    verdict = row.get("verdict", "")
    computed = bool(row["formula"]) and relation != "implies"
    allowed = COMPUTED if computed else UNCOMPUTED
    if verdict not in allowed and (verdict or not computed):
        code = "verdict-of-computed" if computed else "verdict-of-uncomputed"
        if not verdict:
            code = "verdict-missing"
        raise refused("verdict", code, verdict=excerpt(verdict), allowed=list(allowed))
    if not row["printed"] and not row["formula"]:
        raise refused("printed", "printed-missing")
    if relation and not row["printed"]:
        raise refused("relation", "relation-without-number", relation=relation)
    if relation == "implies" and not row["formula"]:
        raise refused("relation", "relation-without-formula", relation=relation)
    value, unit = _printed(row, at)
    source = row.get("source", "") or at.file
    return Claim(
        id=row["id"],
        quantity=row["quantity"],
        printed=_with_unit(row),
        value=value,
        unit=unit,
        formula=row["formula"],
        relation=relation,
        tolerance=_tolerance(row, unit, at),
        tolerance_reason="given in the file" if row.get("tolerance") else "",
        verdict=verdict,
        note=row.get("note", ""),
        source=source,
        work=source,
        place=row.get("place", ""),
        file=at.file,
        line=at.line or 0,
    )


def _with_unit(row: Mapping[str, str]) -> str:
    return " ".join(filter(None, (row["printed"], row.get("unit", "")))) if row["printed"] else ""


def _printed(row: Mapping[str, str], at: Place) -> tuple[float | None, str]:
    """Return the printed number and its SI unit; a derived number has a unit at most."""
    text = _with_unit(row) or (f"1 {row['unit']}" if row.get("unit") else "")
    if not text:
        return None, ""
    quantity = _quantity(text, at.inside("printed" if row["printed"] else "unit"))
    unit = "ratio" if re.search(r"%|\bpercent\b|\bratio\b", text) else quantity.unit
    return (float(quantity.to(unit)) if row["printed"] else None), unit


def _tolerance(row: Mapping[str, str], unit: str, at: Place) -> float | None:
    text = row.get("tolerance", "")
    if not text:
        return None
    at = at.inside("tolerance")
    if row.get("relation") not in ("about", "model"):
        raise at.refused("tolerance-without-about")
    quantity = _quantity(text, at)
    if quantity.dimensions != Quantity.of(1, unit).dimensions or quantity.value <= 0:
        raise at.refused("tolerance-not-positive", text=text, unit_wanted=unit)
    return float(quantity.to(unit))


def _quantity(text: str, at: Place) -> Quantity:
    """Return text as one number with a unit."""
    try:
        quantity: Quantity = evaluate(text)
    except NetcalcError as error:
        raise at.refused("quantity-refused", cause=error.code, reason=str(error)) from None
    if not quantity.unit or quantity.value.ndim:
        raise at.refused("not-one-quantity", text=text)
    return quantity
