"""Files of claims: what is read from them, what is compared, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netcalc.claims import check, counts, read
from netcalc.errors import ReaderError

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


@pytest.mark.parametrize(
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
    ],
)
def test_verdicts(printed, formula, relation, verdict):
    # Derived: half a step of the last printed digit, 10 %, or the bound, by hand.
    assert one(printed, formula, relation).verdict == verdict


@pytest.mark.parametrize(
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
    assert one("5 s", "5 s", verdict="agree").fault == ""
    assert one("5 s", "5 s", verdict="disagree").fault == "The verdict on record is disagree"
    assert one("5 s", "5 s").fault == ""


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
        "name of a model",
    ),
    "wrong unit": (
        f"{HEADER}\nA,it,5 MB,1 s\n",
        "line 2, field formula",
        "is 1 s, a time, but '5 MB' is printed",
    ),
    "unit of a derived": (
        f"{HEADER},unit\nA,it,,1 s,MB\n",
        "field formula",
        "but the unit is byte",
    ),
    "no unit": (f"{HEADER}\nA,it,5,1 s\n", "field formula", "but '5' is printed"),
    "ambiguous unit": (f"{HEADER}\nA,it,5 mb,1 B\n", "field printed", "is ambiguous"),
    "unknown unit": (f"{HEADER},unit\nA,it,5,1 s,parsec\n", "field printed", "is unknown"),
    "unit twice": (f"{HEADER},unit\nA,it,5 s,1 s,ms\n", "field printed", "invalid syntax"),
    "odd unit": (f"{HEADER}\nA,it,5 s * 1 s,1 s\n", "field printed", "not a single quantity"),
    "missing column": ("id,quantity,printed\nA,it,1\n", "line 1", "lacks the column formula"),
    "misspelt column": (
        "id,quantity,printed,formla\nA,it,1,1\n",
        "field formla",
        "Did you mean formula?",
    ),
    "foreign column": (
        f"{HEADER},colour\nA,it,1,1,red\n",
        "field colour",
        "is not a column of claims",
    ),
    "column twice": (f"{HEADER},id\nA,it,1,1,A\n", "field id", "appears twice"),
    "circle": (f"{HEADER}\nA,it,,B\nB,it,,A\n", "line 2, field formula", "A -> B -> A"),
    "itself": (f"{HEADER}\nA,it,1,A\n", "field formula", "A -> A"),
    "chain": (
        HEADER + "".join(f"\nA{i},it,,A{i + 1}" for i in range(80)) + "\nA80,it,,1\n",
        "field formula",
        "more than 50 claims",
    ),
    "unknown claim": (f"{HEADER}\nA,it,1,B\n", "field formula", "the id of a claim"),
    "glued minus": (
        f"{HEADER}\nA,it,1,B-C\nB,it,1,1\nC,it,1,1\n",
        "line 2",
        "Put spaces around a minus sign",
    ),
    "division by zero": (f"{HEADER}\nA,it,1,1 / (2 - 2)\n", "field formula", "divisor is 0"),
    "several numbers": (f'{HEADER}\nA,it,1,"[1, 2]"\n', "field formula", "not a single number"),
    "too long": (f"{HEADER}\nA,it,1,{'1+' * 900}1\n", "field formula", "too many operators"),
    "empty file": ("", "mine.csv", "no claims"),
    "blank file": (" \n\n", "mine.csv", "no claims"),
    "header alone": (HEADER + "\n", "mine.csv", "no claims"),
    "picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "mine.csv, byte", "binary"),
    "binary": (bytes(range(256)) * 4, "mine.csv, byte", "binary"),
    "cells": (f"{HEADER}\nA,it,1 s,max(1 s, 2 s)\n", "line 2", "has 5 cells, but the header has 4"),
    "quotes": (f'{HEADER}\nA,it,1,"1\n', "line 2", "double quotes"),
    "id twice": (
        f"{HEADER}\nA,it,1,1\nA,it,1,1\n",
        "line 3, field id",
        "is already used in line 2",
    ),
    "id of a line": (f"{HEADER}\nT1,it,1,1\n", "field id", "not the name of a line"),
    "id with blanks": (f"{HEADER}\nA 1,it,1,1\n", "field id", "is not a valid id"),
    "no formula, no verdict": (
        f"{HEADER}\nA,it,1,\n",
        "field verdict",
        "is empty; without a formula to compare it must be one of input",
    ),
    "unknown verdict": (f"{HEADER},verdict\nA,it,1,1,fine\n", "field verdict", "'fine'"),
    "verdict of nothing": (
        f"{HEADER},verdict\nA,it,1,,agree\n",
        "field verdict",
        "without a formula to compare",
    ),
    "unknown relation": (
        f"{HEADER},relation\nA,it,1,1,approx\n",
        "field relation",
        "use about, cut",
    ),
    "relation to nothing": (
        f"{HEADER},relation\nA,it,,1,about\n",
        "field relation",
        "no number is printed",
    ),
    "nothing": (f"{HEADER},verdict\nA,it,,,input\n", "field printed", "is empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_files_are_refused_in_one_sentence(name):
    text, place, said = REFUSED[name]
    with pytest.raises(ReaderError) as refusal:
        check(read(text, name="mine.csv"))
    message = str(refusal.value)
    assert message.startswith("mine.csv")
    assert place in message
    assert said in message
    assert "\n" not in message


def test_too_many_claims():
    text = HEADER + "".join(f"\nA{i},it,1,1" for i in range(10_001))
    with pytest.raises(ReaderError, match="more than 10000 claims"):
        read(text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ReaderError, match="no such file"):
        read(tmp_path / "none.csv")
