"""The audited numbers as their two files have them, read here with the csv module alone."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from netcalc import claims
from netcalc.claims import book, read
from netcalc.errors import ReaderError

DATA = Path(__file__).resolve().parents[2] / "data"
HEADER = "id,quantity,printed,formula"
# The five texts of the record, by the data sets that are of them.
TEXTS = {
    "stevens": {"latency_and_bandwidth", "wan_round_trips", "store_and_forward",
                "loopback_transactions", "mbufs"},
    "snader": {"source_sink_1440", "source_sink_300", "source_sink_text"},
    "router": {"router_forwarding"},
    "nagle": {"nagle_summary"},
    "netesto": {"congestion_scenarios", "congestion_figures"},
}  # fmt: skip


def rows(name):
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [(number, row) for number, row in enumerate(csv.DictReader(file), 2)]


def test_each_number_has_the_fields_of_its_two_rows():
    formulas = {row["id"]: (line, row) for line, row in rows("book_claims")}
    listed = book()
    recorded = [row for _, row in rows("audit")]
    assert [claim.id for claim in listed] == [row["id"] for row in recorded]
    for claim, row in zip(listed, recorded, strict=True):
        line, formula = formulas.get(claim.id, (0, {}))
        same = {name: row[name] for name in ("quantity", "printed", "verdict", "note", "work",
                                             "place")}  # fmt: skip
        same |= {"unit": row["si_unit"], "formula": formula.get("formula", ""),
                 "relation": formula.get("relation", ""), "line": line,
                 "tolerance_reason": formula.get("tolerance_reason", "")}  # fmt: skip
        assert {name: getattr(claim, name) for name in same} == same
        assert row["data_set"] in TEXTS[claim.source]
        assert claim.file.endswith("book_claims.csv")
        has_value = row["printed"] or claim.relation == "limit"
        assert claim.value == (float(row["si_value"]) if has_value else None)
        assert claim.recorded == (float(row["si_computed"]) if row["si_computed"] else None)
        implied = row["si_computed_unit"] if claim.relation == "implies" else ""
        assert claim.implied_unit == implied
        assert (claim.tolerance is None) == (not formula.get("tolerance"))


REFUSED = [
    # one cell that is wrong, and what the refusal says of it, by hand
    (f"{HEADER},relation,tolerance\nA,it,1 s,1 s,about,5 B\n", "tolerance",
     {"text": "5 B", "unit_wanted": "s"}),
    (f"{HEADER},relation\nA,it,1,1,approx\n", "relation",
     {"relation": "approx",
      "known": ["about", "cut", "below", "above", "limit", "model", "implies"]}),
    (f"{HEADER},verdict\nA,it,1,1,fine\n", "verdict",
     {"verdict": "fine", "allowed": list(claims.COMPUTED)}),
    (f"{HEADER},verdict\nA,it,1,,agree\n", "verdict",
     {"verdict": "agree", "allowed": list(claims.UNCOMPUTED)}),
    (f"{HEADER}\nA 1,it,1,1\n", "id", {"id": "A 1"}),
    (f"{HEADER},relation\nA,it,,1,about\n", "relation", {"relation": "about"}),
    (f'{HEADER}\nA,it,"[1, 2]",1\n', "printed", {"text": "[1, 2]"}),
    (f"{HEADER}\nA,it,1 s,1 s,2\n", None, {"count": 5, "header_count": 4}),
    (f"{HEADER},colour\nA,it,1,1,red\n", "colour", {"suggestions": []}),
    ("id,quantity,printed,formla\nA,it,1,1\n", "formla", {"suggestions": ["formula"]}),
    (f"{HEADER},id\nA,it,1,1,A\n", "id", {"suggestions": []}),
    ("id,quantity\nA,it\n", None, {"columns": ["printed", "formula"]}),
    (f"{HEADER}\nA,it,1,1\n\nA,it,1,1\n", "id", {"claim": "A", "first_line": 2}),
]  # fmt: skip


@pytest.mark.each(("text", "field", "values"), REFUSED)
def test_a_wrong_cell_is_named_with_its_values(text, field, values):
    with pytest.raises(ReaderError) as refused:
        read(text, name="mine.csv")
    found = refused.value.values
    assert found.get("field") == field
    assert {name: found[name] for name in values} == values
    first = text.splitlines()
    wrong_header = field in ("colour", "formla") or "columns" in values or "suggestions" in values
    assert found["line"] == (1 if wrong_header else len(first))


def test_the_columns_of_a_file_are_the_fields_of_its_claims():
    text = (
        "id;quantity;printed;unit;formula;relation;tolerance;verdict;note;source;place\n"
        "A;a time;5;ms;5 ms;about;1 ms;agree;as said;a book;page 3\n"
        "\n"
        "B;a share;3 %;;0.03;;;;;;\n"
        "C;a size;;kB;2 kB;;;;;;\n"
        "D;a count;;;7;;;;;;\n"
    )
    a, b, c, d = read(text, name="mine.csv")
    assert (a.id, a.quantity, a.printed, a.unit) == ("A", "a time", "5 ms", "s")
    assert (a.value, a.tolerance) == (pytest.approx(0.005), pytest.approx(0.001))
    assert (a.relation, a.verdict, a.note) == ("about", "agree", "as said")
    assert (a.source, a.work, a.place) == ("a book", "a book", "page 3")
    assert (a.file, a.line, a.tolerance_reason) == ("mine.csv", 2, "given in the file")
    assert (b.value, b.unit, b.line, b.source, b.tolerance) == (
        pytest.approx(0.03), "ratio", 4, "mine.csv", None,
    )  # fmt: skip
    assert (c.value, c.unit, c.printed, c.tolerance_reason) == (None, "byte", "", "")
    assert (d.value, d.unit) == (None, "")
