"""Files of claims: what is read from them, what is compared, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from netcalc.claims import BASES, basis_counts, check, counts, read, table
from netcalc.errors import ReaderError
from netcalc.messages import Notice

PAGE = Path(__file__).parents[2] / "docs" / "claims.md"
HEADER = "id,quantity,printed,formula"


def one(printed, formula, relation="", verdict=""):
    """Check one claim."""
    text = f'{HEADER},relation,verdict\nA,it,{printed},"{formula}",{relation},{verdict}\n'
    (found,) = check(read(text, name="mine.csv"))
    return found


def test_the_example_of_the_page(tmp_path):
    example = re.search(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    assert len(example.splitlines()) < 10
    file = tmp_path / "mine.csv"
    file.write_text(example, encoding="utf-8")
    found = {item.claim.id: item for item in check(read(file))}
    # The outcome as the page tells it.
    assert {name: item.verdict for name, item in found.items()} == {
        "MTU": "input",
        "A-1": "agree",
        "A-2": "agree rounded",
        "A-3": "disagree",
    }
    assert found["A-3"].computed_text == "53.33 ms"
    assert found["A-1"].claim.source == "mine.csv"
    assert found["A-1"].claim.place == "p. 4"


@pytest.mark.each(
    ("printed", "formula", "relation", "verdict"),
    [
        ("5.21 s", "5.2149 s", "", "agree"),
        ("5.21 s", "5.2151 s", "", "disagree"),
        ("5.21 s", "5.215 s", "", "agree"),
        ("0.10 ms", "0.0981 ms", "", "agree"),
        ("0.10 ms", "0.0949 ms", "", "disagree"),
        ("80 ms", "80.4 ms", "", "agree"),
        ("80 ms", "81 ms", "", "disagree"),
        ("0 ms", "0.4 ms", "", "agree"),
        ("0 ms", "0.6 ms", "", "disagree"),
        ("-3", "-3.2", "", "agree"),
        ("1/3", "1/3", "", "agree"),
        ("1/3", "0.3333", "", "disagree"),
        ("1/3", "0.31", "about", "agree rounded"),
        ("80 ms", "78.9 ms", "about", "agree rounded"),
        ("80 ms", "80 ms", "about", "agree"),
        ("80 ms", "89 ms", "about", "disagree"),
        ("9346 pps", "9346.7 pps", "cut", "agree"),
        ("9346 pps", "9347.1 pps", "cut", "disagree"),
        ("9346 pps", "9345.9 pps", "cut", "disagree"),
        ("1 ms", "1 ms", "below", "agree"),
        ("1 ms", "1.01 ms", "below", "disagree"),
        ("1 ms", "1 ms", "above", "agree"),
        ("1 ms", "0.99 ms", "above", "disagree"),
        ("9 Mbit/s", "10 Mbit/s", "limit", "agree"),
        ("11 Mbit/s", "10 Mbit/s", "limit", "physically inconsistent"),
        ("1 MB", "8 Mbit", "", "agree"),
        ("20 %", "0.2", "", "agree"),
        ("5 s", "5 s; 5.2 s", "", "agree"),
        ("5 s", "5 s; 6 s", "", "ambiguous"),
        ("", "5 s", "", "derived"),
        ("5 s", "4.5 s; 5.2 s", "about", "agree rounded"),
        ("-9346 pps", "-9346.7 pps", "cut", "agree"),
        ("9346 pps", "-9346.7 pps", "cut", "disagree"),
        ("9346 pps", "9346 pps", "cut", "agree"),
        ("9346 pps", "9347 pps", "cut", "disagree"),
        ("9346 pps", "9346.99 pps", "cut", "agree"),
        ("80 ms", "84.9 ms", "about", "agree rounded"),
        ("80 ms", "85 ms", "about", "agree rounded"),
        ("80 ms", "75 ms", "about", "agree rounded"),
        ("80 ms", "85.1 ms", "about", "disagree"),
        ("80. ms", "80.6 ms", "about", "disagree"),
        ("80.0 ms", "80.06 ms", "about", "disagree"),
        ("80.0 ms", "80.04 ms", "about", "agree rounded"),
        ("8e1 ms", "84.9 ms", "about", "agree rounded"),
        ("80e1 ms", "850 ms", "about", "agree rounded"),
        ("80e1 ms", "851 ms", "about", "disagree"),
        ("1 ms", "1.1 ms", "about", "agree rounded"),
        ("1 ms", "1.11 ms", "about", "disagree"),
        ("-80 ms", "-84 ms", "about", "agree rounded"),
        ("0 ms", "0.4 ms", "about", "agree rounded"),
        ("0 ms", "0.6 ms", "about", "disagree"),
        ("0.0 ms", "0.04 ms", "", "agree"),
        ("0.0 ms", "0.06 ms", "", "disagree"),
        ("0", "0.4", "", "agree"),
        ("0", "0.6", "", "disagree"),
        ("1e3 B", "1499 B", "", "agree"),
        ("1e3 B", "1501 B", "", "disagree"),
        ("1/6", "1/6.4", "about", "agree rounded"),
        ("1/6", "1/6.6", "about", "disagree"),
        ("1/6 ratio", "1/6.4", "about", "agree rounded"),
        ("2 * 5 B", "10.9 B", "about", "agree rounded"),
        ("2 * 5 B", "11.1 B", "about", "disagree"),
        ("2 * 5 B", "10.1 B", "", "disagree"),
        ("1 ms", "1.0000000001 ms", "below", "agree"),
        ("1 ms", "0.9999999999 ms", "above", "agree"),
        ("1 ms", "0.5 ms", "below", "agree"),
        ("1 ms", "1.5 ms", "above", "agree"),
        ("10 Mbit/s", "10 Mbit/s", "limit", "agree"),
        ("10.1 Mbit/s", "10 Mbit/s", "limit", "physically inconsistent"),
        ("5 s", "4 s; 6 s", "", "disagree"),
    ],
)
def test_verdicts(printed, formula, relation, verdict):
    # Derived by hand: half of the last printed or significant digit, 10 %, or the bound.
    assert one(printed, formula, relation).verdict == verdict


@pytest.mark.each(
    ("printed", "formula", "shown"),
    [
        ("52 ms", "8 Mbit / 150 Mbit/s", "53.33 ms"),
        ("0.1488 Mpps", "148812 pps", "0.148812 Mpps"),
        ("7", "22 / 3", "7.33333"),
        ("1/6", "1/8", "0.125"),
        ("", "1 / 8 ms", "125 pps"),
        ("5 s", "5 s; 6 s", "5 s; 6 s"),
    ],
)
def test_computed_numbers_are_shown_in_the_printed_unit(printed, formula, shown):
    assert one(printed, formula).computed_text == shown


def test_a_bound_is_shown_as_one():
    assert one("1 ms", "0.5 ms", "below").printed_text == "< 1 ms"
    assert one("1 ms", "1.5 ms", "above").printed_text == "> 1 ms"


def test_a_verdict_on_record_is_held_against_the_computed_one():
    assert one("5 s", "5 s", verdict="agree").fault is None
    assert one("5 s", "5 s", verdict="disagree").fault == Notice(
        "record-verdict-differs", {"recorded": "disagree"}
    )
    assert one("5 s", "5 s").fault is None


def test_a_name_means_the_printed_number_or_the_computed_one():
    text = f"{HEADER}\nA,it,7.5 ms,7.4 ms\nB,it,,A * 2\nC,it,,B + A\n"
    values = [item.computed[0] for item in check(read(text))]
    assert values == pytest.approx([0.0074, 0.015, 0.0225])


def test_tables_of_other_programs():
    text = (
        '\ufeffID;Quantity;Formula;Printed;Unit\r\n\r\nA;it;"max(1 s, 2 s)";2;s\r\nB;it;;3;\r\n'
    ).replace("B;it;;3;\r\n", "B;it;3;3;\r\n")
    found = check(read(text.encode("utf-8")))
    assert [item.verdict for item in found] == ["agree", "agree"]
    assert [item.claim.line for item in found] == [3, 4]
    assert found[0].claim.printed == "2 s"
    (item,) = check(read(HEADER.replace(",", "\t") + "\nA\tit\t1\t1\n"))
    assert item.verdict == "agree"


def test_counts():
    text = f"{HEADER}\nA,it,1,1\nB,it,2,2\nC,it,3,4\n"
    assert counts(check(read(text))) == {"agree": 2, "disagree": 1}


REFUSED = {
    "unknown formula": (
        f"{HEADER}\nA,it,1,speed(1 s)\n",
        "line 2, field formula",
        "claim-formula-refused",
    ),
    "wrong unit": (
        f"{HEADER}\nA,it,5 MB,1 s\n",
        "line 2, field formula",
        "claim-kind-printed",
    ),
    "unit of a derived": (
        f"{HEADER},unit\nA,it,,1 s,MB\n",
        "field formula",
        "claim-kind-of-unit",
    ),
    "no unit": (f"{HEADER}\nA,it,5,1 s\n", "field formula", "claim-kind-printed"),
    "ambiguous unit": (f"{HEADER}\nA,it,5 mb,1 B\n", "field printed", "formula-ambiguous-unit"),
    "unknown unit": (
        f"{HEADER},unit\nA,it,5,1 s,parsec\n",
        "field printed",
        "formula-unknown-unit",
    ),
    "unit twice": (f"{HEADER},unit\nA,it,5 s,1 s,ms\n", "field printed", "formula-syntax"),
    "odd unit": (f"{HEADER}\nA,it,5 s * 1 s,1 s\n", "field printed", "not-one-quantity"),
    "missing column": ("id,quantity,printed\nA,it,1\n", "line 1", "claims-columns-missing"),
    "misspelt column": (
        "id,quantity,printed,formla\nA,it,1,1\n",
        "field formla",
        "claims-column-unknown",
    ),
    "foreign column": (
        f"{HEADER},colour\nA,it,1,1,red\n",
        "field colour",
        "claims-column-unknown",
    ),
    "column twice": (f"{HEADER},id\nA,it,1,1,A\n", "field id", "claims-column-twice"),
    "circle": (f"{HEADER}\nA,it,,B\nB,it,,A\n", "line 2, field formula", "claim-circle"),
    "itself": (f"{HEADER}\nA,it,1,A\n", "field formula", "claim-circle"),
    "chain": (
        HEADER + "".join(f"\nA{i},it,,A{i + 1}" for i in range(80)) + "\nA80,it,,1\n",
        "field formula",
        "claim-chain",
    ),
    "unknown claim": (f"{HEADER}\nA,it,1,B\n", "field formula", "unknown-claim"),
    "glued minus": (
        f"{HEADER}\nA,it,1,B-C\nB,it,1,1\nC,it,1,1\n",
        "line 2",
        "unknown-claim-with-minus",
    ),
    "division by zero": (f"{HEADER}\nA,it,1,1 / (2 - 2)\n", "field formula", "division-by-zero"),
    "several numbers": (
        f'{HEADER}\nA,it,1,"[1, 2]"\n',
        "field formula",
        "claim-not-one-number",
    ),
    "too long": (f"{HEADER}\nA,it,1,{'1+' * 900}1\n", "field formula", "formula-chain"),
    "empty file": ("", "mine.csv", "no-claims"),
    "blank file": (" \n\n", "mine.csv", "no-claims"),
    "header alone": (HEADER + "\n", "mine.csv", "no-claims"),
    "picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "mine.csv, byte", ""),
    "binary": (bytes(range(256)) * 4, "mine.csv, byte", ""),
    "cells": (f"{HEADER}\nA,it,1 s,max(1 s, 2 s)\n", "line 2", "claims-cell-count"),
    "quotes": (f'{HEADER}\nA,it,1,"1\n', "line 2", "claims-not-split"),
    "id twice": (
        f"{HEADER}\nA,it,1,1\nA,it,1,1\n",
        "line 3, field id",
        "claim-id-in-use",
    ),
    "id of a line": (f"{HEADER}\nT1,it,1,1\n", "field id", "claim-id-malformed"),
    "id with blanks": (f"{HEADER}\nA 1,it,1,1\n", "field id", "claim-id-malformed"),
    "no formula, no verdict": (
        f"{HEADER}\nA,it,1,\n",
        "field verdict",
        "verdict-missing",
    ),
    "unknown verdict": (
        f"{HEADER},verdict\nA,it,1,1,fine\n",
        "field verdict",
        "verdict-of-computed",
    ),
    "verdict of nothing": (
        f"{HEADER},verdict\nA,it,1,,agree\n",
        "field verdict",
        "verdict-of-uncomputed",
    ),
    "unknown relation": (
        f"{HEADER},relation\nA,it,1,1,approx\n",
        "field relation",
        "relation-unknown",
    ),
    "relation to nothing": (
        f"{HEADER},relation\nA,it,,1,about\n",
        "field relation",
        "relation-without-number",
    ),
    "tolerance without about": (
        f"{HEADER},tolerance\nA,it,1,1,0.5\n",
        "field tolerance",
        "tolerance-without-about",
    ),
    "tolerance of another unit": (
        f"{HEADER},relation,tolerance\nA,it,1 s,1 s,about,5 B\n",
        "field tolerance",
        "tolerance-not-positive",
    ),
    "tolerance of nothing": (
        f"{HEADER},relation,tolerance\nA,it,1 s,1 s,about,0 s\n",
        "field tolerance",
        "tolerance-not-positive",
    ),
    "tolerance that is a list": (
        f'{HEADER},relation,tolerance\nA,it,1 s,1 s,about,"[1 s, 2 s]"\n',
        "field tolerance",
        "not-one-quantity",
    ),
    "implied by nothing": (
        f"{HEADER},relation,verdict\nA,it,1 s,,implies,measured\n",
        "field relation",
        "relation-without-formula",
    ),
    "implied without a verdict": (
        f"{HEADER},relation,verdict\nA,it,1 s,A,implies,\n",
        "field verdict",
        "verdict-missing",
    ),
    "implied with a computed verdict": (
        f"{HEADER},relation,verdict\nA,it,1 s,A,implies,agree\n",
        "field verdict",
        "verdict-of-uncomputed",
    ),
    "computed with a recorded verdict": (
        f"{HEADER},verdict\nA,it,1 s,1 s,measured\n",
        "field verdict",
        "verdict-of-computed",
    ),
    "list printed": (f'{HEADER}\nA,it,"[1, 2]",1\n', "field printed", "not-one-quantity"),
    "unit alone is unknown": (
        f"{HEADER},unit\nA,it,,1,parsec\n",
        "field unit",
        "formula-unknown-unit",
    ),
    "nothing": (f"{HEADER},verdict\nA,it,,,input\n", "field printed", "printed-missing"),
}


@pytest.mark.each("name", REFUSED)
def test_bad_files_are_refused_in_one_sentence(name):
    text, place, code = REFUSED[name]
    with pytest.raises(ReaderError) as refusal:
        check(read(text, name="mine.csv"))
    message = str(refusal.value)
    assert message.startswith("mine.csv")
    assert (f"{place}:" if "field" in place else place) in message
    assert code in (refusal.value.code, refusal.value.values.get("cause"), "")
    assert "\n" not in message


@pytest.mark.each(
    ("text", "sentence"),
    [
        (
            "id,quantity,printed\nA,it,1\n",
            "line 1: required columns are missing: formula; expected at least the columns "
            "id, quantity, printed, formula",
        ),
        (
            "id,quantity,printed,formla\nA,it,1,1\n",
            "line 1, field formla: is not a column of claims; expected the columns id, quantity, "
            "printed, unit, formula, relation, tolerance, verdict, note, source, place. "
            "Did you mean formula?",
        ),
        (
            f"{HEADER}\nA,it,,B\nB,it,,A\n",
            "line 2, field formula: refers to itself: A -> B -> A (claim A)",
        ),
        (
            f"{HEADER}\nA,it,1,1 / (2 - 2)\n",
            "line 2, field formula: the divisor is 0 (claim A)",
        ),
        (
            f"{HEADER}\nA,it,1 s,max(1 s, 2 s)\n",
            "line 2: has 5 cells, but the header has 4. Put double quotes around a cell that "
            "contains a comma",
        ),
        (
            f"{HEADER}\nT1,it,1,1\n",
            "line 2, field id: 'T1' is not a valid id: use letters, digits, _ - and . as in A-2, "
            "and not the name of a line",
        ),
        (
            f"{HEADER}\nA,it,5 s,1 B\n",
            "line 2, field formula: is 1 B, a size, but '5 s' is printed (claim A)",
        ),
    ],
)
def test_bad_files_as_sentences(text, sentence):
    with pytest.raises(ReaderError) as refusal:
        check(read(text, name="mine.csv"))
    assert str(refusal.value) == f"mine.csv, {sentence}"


def test_too_many_claims():
    text = HEADER + "".join(f"\nA{i},it,1,1" for i in range(10_001))
    with pytest.raises(ReaderError) as refusal:
        read(text)
    assert (refusal.value.code, refusal.value.values["limit"]) == ("too-many-claims", 10_000)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ReaderError, match="no such file"):
        read(tmp_path / "none.csv")


def test_a_tolerance_of_ones_own():
    header = f"{HEADER},relation,tolerance\n"
    text = f"{header}A,it,80 ms,78.9 ms,about,1 ms\nB,it,80 ms,78.9 ms,about,1.2 ms\n"
    narrow, wide = check(read(text))
    assert (narrow.verdict, wide.verdict) == ("disagree", "agree rounded")
    assert narrow.tolerance == pytest.approx(0.001)
    assert narrow.reason == "Tolerance 1 ms: given in the file"
    (fraction,) = check(read(f"{header}A,it,1/14,1/14.9,about,1/14 - 1/15\n"))
    assert fraction.verdict == "agree rounded"
    (size,) = check(read(f"{header}A,it,80 kB,79 kB,about,8 kbit\n"))
    assert (size.verdict, size.tolerance) == ("agree rounded", 1000)


@pytest.mark.each(
    ("printed", "relation", "tolerance", "text"),
    [
        ("80 ms", "", 0.0005, "half of the last printed digit"),
        ("80 ms", "about", 0.005, "half of the last significant digit, at most 10 %"),
        ("1 ms", "about", 0.0001, "half of the last significant digit, at most 10 %"),
        ("80 ms", "cut", 0.001, "one unit of the last printed digit, as the rest is cut off"),
        ("80 ms", "below", 0.0, ""),
        ("80 ms", "above", 0.0, ""),
        ("80 ms", "limit", 0.0, ""),
        ("", "", None, ""),
    ],
)
def test_each_claim_has_a_tolerance(printed, relation, tolerance, text):
    item = one(printed, "70 ms", relation)
    assert item.tolerance == (tolerance if tolerance is None else pytest.approx(tolerance))
    assert item.tolerance_reason == text
    if text:
        assert item.tolerance_text.endswith(f": {text}")
        assert item.tolerance_text in item.reason
    else:
        assert item.tolerance_text == item.reason == ""


def test_what_follows_from_a_measured_number():
    text = (
        f"{HEADER},relation,verdict\n"
        'A,goodput,8 Mbit/s,"goodput_rate(A, payload=B)",implies,measured\n'
        "B,payload,1000 B,,,input\nC,it,1000 pps,A / B,,agree\n"
    )
    rate, payload, agreed = check(read(text))
    # Derived: 8 000 000 / 8 / 1000.
    assert rate.computed == pytest.approx([1000])
    assert (rate.unit, rate.computed_text, rate.verdict) == ("packet/s", "1000 pps", "measured")
    assert (rate.tolerance, rate.reason, rate.fault) == (None, "", None)
    assert [item.basis for item in (rate, payload, agreed)] == ["implied", "recorded", "computed"]
    assert (payload.computed, payload.verdict, payload.unit) == ((), "input", "byte")
    assert basis_counts([rate, payload, agreed]) == {"computed": 1, "implied": 1, "recorded": 1}
    assert basis_counts([]) == {"computed": 0, "implied": 0, "recorded": 0}
    assert list(BASES) == ["computed", "implied", "recorded"]


def test_a_claim_as_a_row():
    text = (
        "source;place;id;quantity;printed;relation;verdict;formula;note\n"
        "book;p. 3;A-1;a time;80 ms;about;agree;81 ms;see there\n"
    )
    (item,) = check(read(text, name="mine.csv"))
    assert item.as_dict() == {
        "source": "book", "work": "book", "place": "p. 3", "id": "A-1", "quantity": "a time",
        "printed": "80 ms", "relation": "about", "value": pytest.approx(0.08),
        "computed": [pytest.approx(0.081)], "unit": "s", "formula": "81 ms",
        "verdict": "agree rounded", "recorded_verdict": "agree", "reason": "see there",
        "fault": "The verdict on record is agree", "basis": "computed", "computed_unit": "s",
        "tolerance": pytest.approx(0.005),
        "tolerance_reason": "half of the last significant digit, at most 10 %",
    }  # fmt: skip
    (derived,) = check(read(f"{HEADER}\nA,it,,5 s\n"))
    (given,) = check(read(f"{HEADER},verdict\nA,it,5 s,,input\n"))
    assert (derived.as_dict()["unit"], given.as_dict()["unit"]) == ("s", "s")
    assert item.reason == (
        "The verdict on record is agree. see there. "
        "Tolerance 5 ms: half of the last significant digit, at most 10 %"
    )


def test_the_record_is_precise_to_a_millionth():
    (claim,) = read(f"{HEADER}\nA,it,1 s,1 s\n")
    for recorded, fault in (
        (1 + 5e-7, None),
        (1 - 5e-7, None),
        (1 + 2e-6, "The computed value on record is 1.000002 s"),
        (1 - 2e-6, "The computed value on record is 0.999998 s"),
    ):
        (item,) = check([replace(claim, recorded=recorded)])
        assert (item.fault and str(item.fault)) == fault
        assert item.as_dict()["fault"] == (fault or "")


def test_a_recorded_verdict_outranks_a_recorded_value():
    (claim,) = read(f"{HEADER}\nA,it,1 s,1 s\n")
    (item,) = check([replace(claim, recorded=3.0, verdict="disagree")])
    assert item.fault == Notice("record-verdict-differs", {"recorded": "disagree"})


def test_a_chain_of_fifty_claims_is_computed():
    def chain(count):
        rows = "".join(f"\nA{i},it,,A{i + 1}" for i in range(count - 1))
        return check(read(f"{HEADER}{rows}\nA{count - 1},it,,7\n"))

    assert chain(50)[0].computed == (7,)
    with pytest.raises(ReaderError) as refusal:
        chain(51)
    assert (refusal.value.code, refusal.value.values["limit"]) == ("claim-chain", 50)


def test_a_formula_that_fails_does_not_hide_the_next_fault():
    text = f"{HEADER}\nA,it,1,B + 1\nB,it,2,C\nC,it,3,(\n"
    with pytest.raises(ReaderError) as refusal:
        check(read(text, name="mine.csv"))
    assert (refusal.value.file, refusal.value.line) == ("mine.csv", 4)
    assert refusal.value.field == "formula"


def test_the_fields_of_a_claim():
    text = (
        "\n  \nid,quantity,printed,formula,unit,note,verdict\n"
        'A.1,"a, b\nc",25,1 MB,percent,why,\n\nB_2,it,30 %,,,,measured\nC,it,3,1,ratio,,\n'
        "D,it,,1 kB,kB,,\nE,it,2,3,,,\n"
    )
    found = read(text, name="mine.csv")
    assert [(claim.id, claim.line) for claim in found] == [
        ("A.1", 5), ("B_2", 7), ("C", 8), ("D", 9), ("E", 10),
    ]  # fmt: skip
    first, second, third, fourth, fifth = found
    assert (first.quantity, first.note, first.verdict) == ("a, b\nc", "why", "")
    assert (first.printed, first.value, first.unit) == ("25 percent", 0.25, "ratio")
    assert (first.source, first.work, first.place, first.file) == (
        "mine.csv", "mine.csv", "", "mine.csv",
    )  # fmt: skip
    assert (second.value, second.unit, second.verdict) == (pytest.approx(0.3), "ratio", "measured")
    assert (third.value, third.unit) == (3, "ratio")
    assert (fourth.printed, fourth.value, fourth.unit) == ("", None, "byte")
    assert (fifth.value, fifth.unit, fifth.relation, fifth.recorded) == (2, "1", "", None)
    assert (fifth.tolerance, fifth.tolerance_reason, fifth.implied_unit) == (None, "", "")


@pytest.mark.each("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_the_one_of_the_header(delimiter):
    text = f"{HEADER}\nA,thing,1,1\n".replace(",", delimiter)
    (claim,) = read(text.replace("thing", f'"i{delimiter}t"'))
    assert claim.quantity == f"i{delimiter}t"


def test_as_many_claims_as_allowed(monkeypatch):
    monkeypatch.setattr(table, "MAX_CLAIMS", 2)
    rows = "\nA,it,1,1\nB,it,1,1\n"
    assert len(read(HEADER + rows)) == 2
    with pytest.raises(ReaderError) as refusal:
        read(f"{HEADER}{rows}C,it,1,1\n", name="mine.csv")
    assert (refusal.value.code, refusal.value.values["limit"]) == ("too-many-claims", 2)
    assert (refusal.value.file, refusal.value.line) == ("mine.csv", 4)


def test_errors_of_a_table_have_their_parts():
    with pytest.raises(ReaderError) as refusal:
        read("id,quantity\nA,it\n", name="mine.csv")
    assert refusal.value.code == "claims-columns-missing"
    assert refusal.value.values["columns"] == ["printed", "formula"]
    assert refusal.value.what == "required columns are missing: printed, formula"
    assert refusal.value.expected == "at least the columns id, quantity, printed, formula"
    with pytest.raises(ReaderError) as refusal:
        read("\n\n", name="mine.csv")
    assert refusal.value.expected == "a header and one line per claim"
    with pytest.raises(ReaderError) as refusal:
        read(f"{HEADER},,\nA,it,1,1,,\n", name="mine.csv")
    assert (refusal.value.field, refusal.value.line) == ("(no name)", 1)
    with pytest.raises(ReaderError) as refusal:
        read(f'{HEADER}\nA,it,1,1\nB,it,1,"1\n', name="mine.csv")
    assert refusal.value.line == 3
    with pytest.raises(ReaderError) as refusal:
        read(f"{HEADER},ID\nA,it,1,1,A\n", name="mine.csv")
    assert refusal.value.hint is None
    with pytest.raises(ReaderError) as refusal:
        check(read(f"{HEADER}\nA,it,1,B\nB,it,,C + 1\n", name="mine.csv"))
    assert (refusal.value.line, refusal.value.field) == (3, "formula")
    assert "Put spaces" not in str(refusal.value)


@pytest.mark.each(
    ("formula", "verdicts"),
    [
        ("1", "agree, agree rounded, disagree, derived, ambiguous, physically inconsistent"),
        ("", "input, measured, ambiguous, not reproducible, not computable"),
    ],
)
def test_the_verdicts_of_a_file_are_those_of_the_page(formula, verdicts):
    for verdict in verdicts.split(", "):
        (claim,) = read(f"{HEADER},verdict\nA,it,1,{formula},{verdict}\n")
        assert claim.verdict == verdict
        assert f"**{verdict}**" in " ".join(PAGE.read_text(encoding="utf-8").split())
