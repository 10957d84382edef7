"""Claims: printed numbers, each with the formula that should give it.

A file of claims is a table with a header; ``docs/claims.md`` describes its columns.

>>> [claim] = read("id,quantity,printed,formula\\nA1,time of 1 MB on a T1,5.18 s,"
...                '"serialization(1 MB, bandwidth=T1)"\\n')
>>> claim.value, claim.unit
(5.18, 's')
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from netcalc import datasets
from netcalc.claims.expression import evaluate, is_name
from netcalc.claims.quantity import Quantity
from netcalc.errors import NetcalcError, ReaderError
from netcalc.printable import excerpt
from netcalc.readers import Readable
from netcalc.readers.source import decode, open_source

COMPUTED = ("agree", "agree rounded", "disagree", "derived", "ambiguous", "physically inconsistent")
"""Verdicts that follow from a formula; ``ambiguous`` from several that do not agree."""
UNCOMPUTED = ("input", "measured", "ambiguous", "not reproducible", "not computable")
"""Verdicts of a number that has no formula."""

RELATIONS = {
    "": "the printed digits come out",
    "about": "within 10 %: the text says about, or visibly rounds",
    "cut": "the printed digits come out when the rest is cut off",
    "below": "the text says less than, or at most",
    "above": "the text says more than, or at least",
    "limit": "the formula gives the most that a line can carry",
}
"""How a printed number stands to what its formula gives."""

MAX_CLAIMS = 10_000
"""Most claims of one file."""

_COLUMNS = (
    "id", "quantity", "printed", "unit", "formula", "relation", "verdict", "note", "source",
    "place",
)  # fmt: skip
_REQUIRED = ("id", "quantity", "printed", "formula")
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
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A printed number, and the formula that should give it.

    Parameters
    ----------
    id, quantity : str
        Its name, and what it is.
    printed : str
        The number as printed, with its unit; empty if it is derived and nowhere printed.
    value : float or None
        The printed number in ``unit``.
    unit : str
        SI unit.
    formula : str
        What should give it, as :func:`netcalc.claims.evaluate` reads it; several readings are
        separated by semicolons.
    relation : str
        How it stands to what the formula gives: one of ``RELATIONS``.
    verdict : str
        The verdict on record; empty if there is none.
    recorded : float or None
        What was computed when the verdict was recorded, in ``unit``.
    note, source, work, place : str
        Why; a short name of the text, its title, and where in it.
    file : str
        The file of the claim.
    line : int
        The line in it.
    """

    id: str
    quantity: str
    printed: str
    value: float | None
    unit: str
    formula: str
    relation: str = ""
    verdict: str = ""
    recorded: float | None = None
    note: str = ""
    source: str = ""
    work: str = ""
    place: str = ""
    file: str = ""
    line: int = 0

    def error(self, what: str, *, field: str) -> ReaderError:
        """Return an error that names the file, the line and the field of this claim."""
        what = f"{what} (claim {excerpt(self.id)})"
        return ReaderError(what, file=self.file, line=self.line, field=field)


def book() -> list[Claim]:
    """Return the audited numbers of the five sources.

    Raises
    ------
    DatasetError
        If a data file is missing or was changed.

    Examples
    --------
    >>> len(book())
    276
    """
    lines = _rows("book_claims")
    formulas = {row["id"]: (number, row) for number, row in enumerate(lines, 2)}
    return [_audited(row, *formulas.get(row["id"], (0, {}))) for row in _rows("audit")]


def read(source: Readable, *, name: str | None = None) -> list[Claim]:
    """Read claims from a file.

    Parameters
    ----------
    source : path, str, bytes or file object
        The table; a ``str`` with a line end in it is the text itself.
    name : str, optional
        What to call the source, if it is not a path.

    Returns
    -------
    list of Claim
        Its claims.

    Raises
    ------
    ReaderError
        If it is no such table, or a cell cannot be read; with line and field.
    """
    opened = open_source(source, name=name)
    text = decode(opened)
    claims: dict[str, Claim] = {}
    for line, row in _records(opened.name, text.lines, text.numbers):
        claim = _claim(opened.name, line, row)
        if claim.id in claims:
            raise claim.error(f"stands in line {claims[claim.id].line} too", field="id")
        claims[claim.id] = claim
        if len(claims) > MAX_CLAIMS:
            raise ReaderError(f"has more than {MAX_CLAIMS} claims", file=opened.name, line=line)
    if not claims:
        raise ReaderError(
            "there are no claims in it",
            file=opened.name,
            expected="a header and a line for each claim",
            hint=f"The header is {','.join(_REQUIRED)}, and more as docs/claims.md says",
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
    known = bool(row["printed"]) or relation == "limit"
    recorded = float(row["si_computed"])
    return Claim(
        id=row["id"],
        quantity=row["quantity"],
        printed=row["printed"],
        value=float(row["si_value"]) if known else None,
        unit=row["si_unit"],
        formula=str(formula.get("formula", "")),
        relation=relation,
        verdict=row["verdict"],
        recorded=None if np.isnan(recorded) else recorded,
        note=row["note"],
        source=_SOURCES[row["data_set"]],
        work=row["work"],
        place=row["place"],
        file=datasets.info("book_claims").file,
        line=line,
    )


def _records(
    file: str, lines: list[str], numbers: list[int]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Read the rows of a table by their column names; each with the line it ends in."""
    header = next((place for place, line in enumerate(lines) if line.strip()), None)
    if header is None:
        return
    first = lines[header]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(
        (line + "\n" for line in lines[header:]),
        delimiter=delimiter,
        skipinitialspace=True,
        strict=True,
    )
    names: list[str] = []
    while True:
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            line = numbers[min(header + reader.line_num, len(numbers)) - 1]
            raise ReaderError(
                f"cannot be cut into cells: {error}",
                file=file,
                line=line,
                hint="Put a cell that has a comma in it in double quotes",
            ) from None
        line = numbers[header + reader.line_num - 1]
        if not any(cells):
            continue
        if not names:
            names = _header(file, line, cells)
            continue
        if len(cells) != len(names):
            raise ReaderError(
                f"has {len(cells)} cells, the header {len(names)}",
                file=file,
                line=line,
                hint="Put a cell that has a comma in it in double quotes",
            )
        yield line, dict(zip(names, cells, strict=True))


def _header(file: str, line: int, cells: list[str]) -> list[str]:
    names = [cell.lower() for cell in cells]
    missing = [name for name in _REQUIRED if name not in names]
    for name in names:
        if name not in _COLUMNS or names.count(name) > 1:
            close = get_close_matches(name, missing or _COLUMNS, n=1)
            raise ReaderError(
                "there are two such columns" if name in _COLUMNS else "no column of claims",
                file=file,
                line=line,
                field=excerpt(name) or "(no name)",
                expected=f"the columns {', '.join(_COLUMNS)}",
                hint=f"Did you mean {close[0]}?" if close else None,
            )
    if missing:
        raise ReaderError(
            f"there is no column {' and no column '.join(missing)}",
            file=file,
            line=line,
            expected=f"at least the columns {', '.join(_REQUIRED)}",
        )
    return names


def _claim(file: str, line: int, row: Mapping[str, str]) -> Claim:
    def refused(field: str, what: str) -> ReaderError:
        return ReaderError(what, file=file, line=line, field=field)

    if not is_name(row["id"]):
        wanted = "write letters, digits, _ - and . as in A-2, and not the name of a line"
        raise refused("id", f"{excerpt(row['id'])!r} is no name: {wanted}")
    relation = row.get("relation", "")
    if relation not in RELATIONS:
        known = ", ".join(filter(None, RELATIONS))
        raise refused("relation", f"{excerpt(relation)!r} is none; write {known}, or nothing")
    verdict = row.get("verdict", "")
    allowed = COMPUTED if row["formula"] else UNCOMPUTED
    if verdict not in allowed and (verdict or not row["formula"]):
        which = "with" if row["formula"] else "without"
        found = f"is {excerpt(verdict)!r}" if verdict else "is empty"
        raise refused("verdict", f"{found}; {which} a formula it is one of {', '.join(allowed)}")
    if not row["printed"] and not row["formula"]:
        raise refused("printed", "is empty, and there is no formula that derives the number")
    if relation and not row["printed"]:
        raise refused("relation", "is given, but there is no printed number to compare")
    value, unit = _printed(refused, row)
    return Claim(
        id=row["id"],
        quantity=row["quantity"],
        printed=_with_unit(row),
        value=value,
        unit=unit,
        formula=row["formula"],
        relation=relation,
        verdict=verdict,
        note=row.get("note", ""),
        source=row.get("source", "") or file,
        work=row.get("source", "") or file,
        place=row.get("place", ""),
        file=file,
        line=line,
    )


def _with_unit(row: Mapping[str, str]) -> str:
    return " ".join(filter(None, (row["printed"], row.get("unit", "")))) if row["printed"] else ""


def _printed(refused: Any, row: Mapping[str, str]) -> tuple[float | None, str]:
    """Return the printed number and its SI unit; a derived one has only a unit, if any."""
    text = _with_unit(row) or (f"1 {row['unit']}" if row.get("unit") else "")
    if not text:
        return None, ""
    try:
        found: Quantity = evaluate(text)
    except NetcalcError as error:
        raise refused("printed" if row["printed"] else "unit", str(error)) from None
    if not found.unit or found.value.ndim:
        raise refused("printed", f"{text!r} is no single quantity of a known kind")
    unit = "ratio" if re.search(r"%|\bpercent\b|\bratio\b", text) else found.unit
    return (float(found.to(unit)) if row["printed"] else None), unit
