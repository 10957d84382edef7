"""The book check: every audited number, held to the audit's own arithmetic and totals."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from netcalc import calculator, claims, datasets
from netcalc.models import latency

CHECKED = claims.check(claims.book())
BY_ID = {item.claim.id: item for item in CHECKED}


def test_every_verdict_is_the_one_on_record():
    assert [(item.claim.id, item.fault) for item in CHECKED if item.fault] == []


def test_the_totals_are_those_of_the_audit():
    # As the audit states them in its sheet, apart from any file that is read here.
    assert claims.counts(CHECKED) == {
        "agree": 76,
        "input": 76,
        "derived": 37,
        "measured": 31,
        "ambiguous": 21,
        "agree rounded": 17,
        "not computable": 8,
        "disagree": 7,
        "not reproducible": 2,
        "physically inconsistent": 1,
    }
    assert len(CHECKED) == 276


def test_every_number_that_can_be_computed_has_a_formula():
    computed = {"agree", "agree rounded", "disagree", "derived", "physically inconsistent"}
    assert {item.claim.id for item in CHECKED if item.claim.verdict in computed} <= {
        item.claim.id for item in CHECKED if item.claim.formula
    }
    ambiguous = [item for item in CHECKED if item.verdict == "ambiguous" and item.claim.formula]
    assert [item.claim.id for item in ambiguous] == ["SF26", "SN17", "RP10"]
    formulas = datasets.load("book_claims").columns()
    assert set(formulas["id"].tolist()) <= set(BY_ID)
    for text, readings in zip(formulas["formula"], formulas["readings"], strict=True):
        assert str(text).count(";") + 1 == readings


@pytest.mark.parametrize(
    ("number", "computed", "source"),
    [
        ("SL13", "83.33 ms", "derived: 8e6 / 150e6 + 0.03"),
        ("SL14", "53.33 ms", "derived: 8e6 / 150e6"),
        ("SF11", "23 ms", "derived: 14.5 + 1 + 7.5"),
        ("MB09", "3 mbuf", "derived: 100 + 8 bytes, and the IP header in front"),
        ("MB10", "2 mbuf", "derived: 208 bytes take a cluster"),
        ("RP05", "0.148649 Mpps", "derived: 176e6 / (8 * 148)"),
        ("NG-c2", "100 ms", "published: xnu, TCP_RETRANSHZ / 10"),
    ],
)
def test_what_disagrees(number, computed, source):
    item = BY_ID[number]
    assert (item.verdict, item.computed_text) == ("disagree", computed), source
    assert item.reason


def test_what_is_missing_or_not_possible_is_said():
    for number in ("SW12", "RP24"):
        assert BY_ID[number].verdict == "not reproducible"
        assert BY_ID[number].reason
    assert BY_ID["SN23"].verdict == "physically inconsistent"
    assert BY_ID["SF26"].computed_text == "91.5 ms; 90.5 ms"  # with the last ms, and without


def test_the_numbers_come_from_models():
    # Bare arithmetic is left where no model says more: sums of header sizes, counts, ratios.
    called = {
        name
        for item in CHECKED
        for name in re.findall(r"([\w-]+)\(", item.claim.formula)
        if name not in ("data", *claims.expression.FUNCTIONS)
    }
    assert all(calculator.formula(name) for name in called)
    assert len(called) >= 30
    bare = [
        item.claim.id
        for item in CHECKED
        if item.claim.formula and not re.search(r"[a-z_]{3,}\(", item.claim.formula)
    ]
    assert len(bare) <= 30, bare


def test_an_error_in_a_model_shows_up(monkeypatch):
    right = latency.serialization_s

    def wrong(wire_bytes, *, bandwidth_bps):
        """Forget that a byte has eight bits."""
        return right(wire_bytes, bandwidth_bps=bandwidth_bps) / 8

    formula = replace(calculator.formula("serialization"))
    object.__setattr__(formula, "function", right)
    parameters = formula.parameters
    broken = replace(formula, function=wrong)
    broken.__dict__["parameters"] = parameters
    broken.__dict__["_doc"] = formula._doc
    monkeypatch.setattr(
        calculator, "formula",
        lambda name, known=calculator.formula: broken if name == "serialization" else known(name),
    )  # fmt: skip
    faults = {item.claim.id for item in claims.check(claims.book()) if item.fault}
    assert {"SL06", "SL09", "SL14", "SF20", "SF22"} <= faults


def test_a_changed_record_shows_up():
    found = [replace(claim) for claim in claims.book()]
    place = next(i for i, claim in enumerate(found) if claim.id == "SL05")
    found[place] = replace(found[place], verdict="disagree")
    assert [i.claim.id for i in claims.check(found) if i.fault] == ["SL05"]
    found[place] = replace(found[place], verdict="agree", recorded=5.3)
    (item,) = (i for i in claims.check(found) if i.fault)
    assert item.fault == "The computed value on record is 5.3 s"


def test_errors_name_the_line_of_the_bundled_file():
    found = [
        replace(claim, formula="1 s +") if claim.id == "SL01" else claim for claim in claims.book()
    ]
    with pytest.raises(Exception, match=r"book_claims.csv, line 2, field formula"):
        claims.check(found)
