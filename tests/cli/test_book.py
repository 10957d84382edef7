"""``netcalc book`` as people use it."""

from __future__ import annotations

import csv
import io
import json

import pytest
from click.testing import CliRunner

from netcalc import claims
from netcalc.cli import commands, main

HEADER = "id,quantity,printed,formula,verdict\n"


def book(*arguments, text=None):
    """Run the command 80 columns wide."""
    return CliRunner().invoke(commands, ["book", *arguments], input=text, env={"COLUMNS": "80"})


def test_the_whole_book_fits_80_columns():
    done = book()
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    for work in ("Stevens", "Snader", "Peterson", "router forwarding", "Nagle"):
        assert work in done.stdout
    assert "327 numbers: 85 agree, 77 input, 45 derived," in done.stdout
    # Counted by hand: 143 formulas of verdicts and the seven values of the router article; 45 and
    # three of the figures 15 to 20.
    assert done.stdout.endswith(
        "Computed by the models: 198 (188 verdicts, 10 values that follow from measured\n"
        "or given numbers). Only recorded: 129.\n"
        "All 198 computed results match the record.\n"
    )


def test_what_disagrees_and_why():
    done = book("--verdict", "disagree")
    assert done.exit_code == 0
    rows = [line.split()[0] for line in done.stdout.splitlines() if " disagree" in line[60:]]
    # Six printed ones, and three units of axes.
    assert sorted(rows) == [
        "NE47", "NE52", "NE55", "RP05", "RP31", "SF11", "SL13", "SL14", "SN30",
    ]  # fmt: skip
    assert "misprint" in done.stdout
    assert "9 numbers: 9 disagree." in done.stdout


@pytest.mark.each(
    ("source", "count"),
    [("stevens", 113), ("snader", 40), ("router", 46), ("nagle", 37), ("netesto", 91)],
)
def test_one_source(source, count):
    document = json.loads(book("--source", source, "--json").stdout)
    # Derived: the rows of the audit by their data set.
    assert {row["source"] for row in document["claims"]} == {source}
    assert len(document["claims"]) == sum(document["counts"].values()) == count


def test_json_and_csv_carry_the_same():
    document = json.loads(book("--verdict", "ambiguous", "--json").stdout)
    rows = list(csv.DictReader(io.StringIO(book("--verdict", "ambiguous", "--csv").stdout)))
    assert [row["id"] for row in rows] == [row["id"] for row in document["claims"]]
    train = next(row for row in document["claims"] if row["id"] == "SF26")
    assert train["computed"] == pytest.approx([0.0915, 0.0905])
    assert next(row for row in rows if row["id"] == "SF26")["computed"] == "0.0915; 0.0905"
    assert (document["faults"], document["counts"]) == (0, {"ambiguous": 25})
    assert book("--source", "nagle", "--verdict", "not computable", "--csv").stdout == ""


def test_json_says_what_is_computed():
    document = json.loads(book("--source", "router", "--json").stdout)
    # Counted by hand: 15 formulas of verdicts and 7 values of the 46 numbers.
    assert document["basis"] == {"computed": 15, "implied": 7, "recorded": 24}
    rows = {row["id"]: row for row in document["claims"]}
    implied = rows["RP33"]
    assert (implied["basis"], implied["unit"], implied["computed_unit"]) == (
        "implied", "bit/s", "s",
    )  # fmt: skip
    assert implied["computed"] == pytest.approx([584e-6])
    assert (rows["RP32"]["basis"], rows["RP32"]["tolerance"]) == ("recorded", None)
    assert rows["RP28"]["tolerance"] == 500
    assert rows["RP28"]["tolerance_reason"].startswith("rounded to thousands")


@pytest.mark.each(
    ("arguments", "last"),
    [
        (
            ["--source", "netesto", "--verdict", "measured"],
            [
                "7 numbers: 7 measured.",
                "Computed by the models: 3 (0 verdicts, 3 values that follow from measured or",
                "given numbers). Only recorded: 4.",
                "All 3 computed results match the record.",
            ],
        ),
        (
            ["--verdict", "disagree"],
            [
                "Computed by the models: 9. Only recorded: 0.",
                "All 9 computed results match the record.",
            ],
        ),
        (
            ["--source", "nagle", "--verdict", "disagree", "--claims", "-"],
            ["No number has this verdict."],
        ),
    ],
)
def test_the_summary_counts_what_is_shown(arguments, last):
    text = "id,quantity,printed,formula,source\nA,it,1,1,nagle\n"
    done = book(*arguments, text=text)
    assert done.stdout.splitlines()[-len(last) :] == last


def test_claims_of_another_text(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(HEADER + "A,it,5 ms,1 kB / 8 Mbit/s,\nB,it,1 ms,1 kB / 8 Mbit/s,agree\n")
    done = book("--claims", str(file))
    assert done.exit_code == 0
    assert "mine.csv" in done.stdout
    assert "2 numbers: 1 disagree, 1 agree." in done.stdout
    again = book("--claims", "-", text=file.read_text())
    assert again.stdout.splitlines()[-2:] == done.stdout.splitlines()[-2:]


def test_text_of_a_claim_is_no_formula_of_a_spreadsheet():
    text = HEADER + "A,=1+2,1 ms,1 kB / 8 Mbit/s,\n"
    done = book("--claims", "-", "--csv", text=text)
    row = next(csv.DictReader(done.stdout.splitlines()))
    assert row["quantity"] == "'=1+2"


def test_a_verdict_that_is_not_on_record_gives_exit_code_1():
    text = HEADER + "A,it,5 ms,1 ms,agree\n"
    done = book("--claims", "-", text=text)
    assert done.exit_code == 1
    assert "Different from the record: A." in done.stdout
    assert "The verdict on record" in done.stdout
    done = book("--claims", "-", "--json", text=text)
    assert (done.exit_code, json.loads(done.stdout)["faults"]) == (1, 1)


def test_a_fault_in_the_book_is_not_hidden(monkeypatch):
    changed = [
        claim if claim.id != "SL05" else claims.Claim(**{**_fields(claim), "verdict": "disagree"})
        for claim in claims.book()
    ]
    monkeypatch.setattr(claims, "book", lambda: changed)
    done = book("--source", "stevens")
    assert done.exit_code == 1
    assert "Different from the record: SL05." in done.stdout


def _fields(claim):
    return {name: getattr(claim, name) for name in type(claim).__slots__}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--source", "tanenbaum"], "one of stevens, snader"),
        (["--verdict", "perhaps"], "--verdict"),
        (["--claims", "no-such-file.csv"], "no such file"),
        (["--claims", "."], "is a directory"),
    ],
)
def test_mistakes_are_one_sentence(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["book", *arguments])
    assert ended.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith("netcalc: ")
    assert said in message
    assert message.count("\n") == 1
