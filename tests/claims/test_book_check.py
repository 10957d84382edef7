"""The book check: every audited number, held to the audit's own arithmetic and totals."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from netcalc import calculator, claims, datasets
from netcalc.messages import Notice
from netcalc.models.delays import latency

CHECKED = claims.check(claims.book())
BY_ID = {item.claim.id: item for item in CHECKED}


def test_every_verdict_is_the_one_on_record():
    assert [(item.claim.id, item.fault) for item in CHECKED if item.fault] == []


def test_the_totals_are_those_of_the_audit():
    # As the audit states them in its sheet, apart from any file that is read here.
    assert claims.counts(CHECKED) == {
        "agree": 73 + 12,  # each: printed numbers, and those read off the figures 15 to 20
        "input": 76 + 1,
        "derived": 38 + 7,
        "measured": 31 + 3,
        "ambiguous": 23 + 2,
        "agree rounded": 15 + 2,
        "model misses": 1 + 11,
        "model fits": 4 + 7,
        "not computable": 8,
        "disagree": 6 + 3,
        "not reproducible": 2,
        "physically inconsistent": 1 + 1,
    }
    assert len(CHECKED) == 279 + 48


def test_every_number_that_can_be_computed_has_a_formula():
    computed = set(claims.COMPUTED) - {"ambiguous"}
    assert {item.claim.id for item in CHECKED if item.claim.verdict in computed} <= {
        item.claim.id for item in CHECKED if item.claim.formula
    }
    ambiguous = [item for item in CHECKED if item.verdict == "ambiguous" and item.claim.formula]
    assert [item.claim.id for item in ambiguous] == [
        "SF26", "MB09", "MB10", "SN17", "NE44", "NE82", "RP10",
    ]  # fmt: skip
    formulas = datasets.load("book_claims").columns()
    assert set(formulas["id"].tolist()) <= set(BY_ID)
    for text, readings in zip(formulas["formula"], formulas["readings"], strict=True):
        assert str(text).count(";") + 1 == readings


@pytest.mark.each(
    ("number", "computed", "source"),
    [
        ("SL13", "83.33 ms", "derived: 8e6 / 150e6 + 0.03"),
        ("SL14", "53.33 ms", "derived: 8e6 / 150e6"),
        ("SF11", "23 ms", "derived: 14.5 + 1 + 7.5"),
        ("RP05", "0.148649 Mpps", "derived: 176e6 / (8 * 148)"),
        ("RP31", "6.72043%", "derived: 10000 / 148800"),
        ("SN30", "0 count", "derived: lines 31 and 32 of the listing call setsockopt"),
        ("NE47", "1.17685e+09 B/s", "derived: 1e10 / 8 * 1448 / 1538"),
        ("NE52", "1448 byte", "derived: 1500 - 20 - 20 - 12"),
        ("NE55", "1.23755e+09 B/s", "derived: 1e10 / 8 * 8948 / 9038"),
    ],
)
def test_what_disagrees(number, computed, source):
    item = BY_ID[number]
    assert (item.verdict, item.computed_text) == ("disagree", computed), source
    assert item.reason


def test_each_verdict_follows_from_the_two_rows_of_its_number():
    """From the numbers as the files have them, by arithmetic of this test's own."""
    seen: Counter[str] = Counter()
    for item in CHECKED:
        relation = item.claim.relation
        if not item.claim.printed or not item.computed or relation in ("implies", "cut"):
            continue
        printed, low, high = item.claim.value, min(item.computed), max(item.computed)
        if relation in ("below", "limit"):
            greater = low > printed if relation == "below" else printed > high
            bad = {"below": "disagree", "limit": "physically inconsistent"}[relation]
            expected = bad if greater and abs(low / printed - 1) > 1e-9 else "agree"
        elif relation == "model":
            error = item.claim.tolerance or half_a_step(item.claim.printed, printed)
            within = low - error <= printed <= high + error
            expected = "model fits" if within else "model misses"
        else:
            half = item.claim.tolerance or half_a_step(item.claim.printed, printed, relation)
            single = {
                "agree" if abs(one - printed) <= 1e-9 * abs(one)
                else "disagree" if abs(one - printed) > half * (1 + 1e-9)
                else "agree rounded" if relation else "agree"
                for one in item.computed
            }  # fmt: skip
            expected = single.pop() if len(single) == 1 else "ambiguous"
        assert item.verdict == expected, item.claim.id
        seen[relation] += 1
    # Counted in the file of formulas: every relation, and all 23 models.
    assert seen["model"] == 23
    assert min(seen[name] for name in ("", "about", "below", "limit")) >= 2


def half_a_step(printed, value, relation=""):
    """Half of the last printed digit in the unit of ``value``; with about, of the last that counts.

    A fraction is rounded to a whole denominator.
    """
    if "/" in printed.split()[0] or "*" in printed:
        bottom = int(printed.split()[0].split("/")[-1]) if relation else 1
        return value * (1 - bottom / (bottom + 0.5)) if relation else 0.0
    digits = printed.split()[0]
    decimals = len(digits.partition(".")[2])
    step = 10.0**-decimals
    if relation and not decimals:
        step = 10.0 ** (len(digits) - len(digits.rstrip("0")))
    half = step / 2 * (value / float(digits) if float(digits) else 1.0)
    return min(half, value / 10) if relation else half


@pytest.mark.each(
    ("number", "verdict", "source"),
    [
        ("NE60", "model misses", "derived: 0.30 is 0.05 above 0.25, 0.025 (1 + 5/9) is 0.039"),
        ("NE61", "model fits", "derived: 0.38 and 0.68 * 5 / 9"),
        ("NE62", "model misses", "derived: 0.40 and 0.40 * 9 / 17"),
        ("NE77", "model fits", "derived: 1.45 is within 1.08 to 4.65"),
        ("NE78", "model misses", "derived: 0.40 is below 0.60 to 1.04"),
        ("NE87", "model misses", "derived: 140 ms is 20.8 above 119.2, 10 + 8 are less"),
        ("NE89", "model fits", "derived: 350 ms is 9.2 below 359.2"),
        ("NG-c1", "model fits", "published: 40 to 200 ms, Linux"),
        ("NG-c2", "model misses", "published: 100 to 200 ms, xnu"),
    ],
)
def test_a_measured_number_is_held_to_the_error_of_its_model(number, verdict, source):
    assert BY_ID[number].claim.relation == "model"
    assert BY_ID[number].verdict == verdict, source


@pytest.mark.each(
    ("number", "text", "value", "unit", "verdict", "source"),
    [
        ("RP18", "7809.25 pps", 91.212e6 / 8 / 1460, "packet/s", "measured", "derived: goodput"),
        ("RP19", "8007.11 pps", 93.523e6 / 8 / 1460, "packet/s", "measured", "derived: goodput"),
        ("RP20", "4044.41 pps", 49.633e6 / 8 / 1534, "packet/s", "measured",
         "derived: the article adds 6 Mbit/s and 20 B"),
        ("RP21", "3512.5 pps", 0.281e6 / 8 / 10, "packet/s", "measured", "derived: 64 - 54 bytes"),
        ("RP22", "11.3375 kpps", 0.907e6 / 8 / 10, "packet/s", "measured",
         "derived: 64 - 54 bytes"),
        ("NE53", "1.33216 Gbit/s", 1150 * 1448 * 8 / 0.01, "bit/s", "measured",
         "derived: a window in a round trip"),
        ("NE83", "3.30833 MB", (80e3 / 0.03e9 - 20e-6) * 10e9 / 8, "byte", "measured",
         "derived: the latency less the round trip, at the rate of the line"),
        ("NE84", "213.095 kB", (80e3 / 0.42e9 - 20e-6) * 10e9 / 8, "byte", "measured",
         "derived: the latency less the round trip, at the rate of the line"),
        ("RP33", "584 µs", 1460 * 8 / 20e6, "s", "measured", "derived: one frame at 20 Mbit/s"),
        ("RP36", "855.405 ms", 80 / 93.523, "s", "input", "derived: 10 MB at the rate of RP19"),
    ],
)  # fmt: skip
def test_values_that_follow_from_measurements(number, text, value, unit, verdict, source):
    item = BY_ID[number]
    assert item.computed == pytest.approx([value], rel=1e-12), source
    assert (item.unit, item.computed_text, item.verdict) == (unit, text, verdict)
    assert (item.basis, item.tolerance, item.claim.implied_unit) == ("implied", None, unit)


def test_a_model_that_is_off_by_a_millionth_differs_from_the_record():
    """Each of the ten values that follow from measurements, and none of the other claims."""
    right = {item.claim.id: item for item in CHECKED if item.basis == "implied"}
    changed = [
        replace(claim, recorded=right[claim.id].computed[0] * (1 + 2e-6))
        if claim.id in right else claim
        for claim in claims.book()
    ]  # fmt: skip
    faults = {found.claim.id: found.fault for found in claims.check(changed) if found.fault}
    assert set(faults) == set(right)
    assert len(faults) == 10  # by hand, as they stand above
    for number, fault in faults.items():
        assert fault.code == "record-value-differs"
        assert fault.values["si_unit"] == right[number].unit


def test_how_many_are_computed():
    # 143 formulas of verdicts and seven values above, and the rest of the 279; 45 and three of
    # the 48 numbers on the figures 15 to 20.
    assert claims.basis_counts(CHECKED) == {
        "computed": 143 + 45, "implied": 7 + 3, "recorded": 129,
    }  # fmt: skip
    for item in CHECKED:
        assert (item.basis == "recorded") == (item.computed == ()) == (item.claim.formula == "")
        assert (item.basis == "implied") == (item.claim.relation == "implies")
        if item.basis == "recorded":
            assert (item.tolerance, item.unit) == (None, item.claim.unit)


@pytest.mark.each(
    ("number", "tolerance", "reason", "source"),
    [
        ("SL02", 0.5e6, "significant", "derived: 45 Mbit/s to a whole Mbit/s"),
        ("SL11", 1 / 6 - 1 / 6.5, "significant", "derived: 1/6 to a whole denominator"),
        ("SW14", 0.25e-3, "half a millisecond", "derived: 7.5 ms, twice is 15 ms"),
        ("SF02", 0.25e-3, "half a millisecond", "derived: 7.5 ms, twice is 15 ms"),
        ("SF19", 5e-3, "rounded to tens", "derived: 80 ms to tens"),
        ("SF23", 0.05e-3, "ten times 0.10 ms", "derived: ten times half of 0.01 ms"),
        ("LB17", 0.25e-3, "half a millisecond", "derived: inputs of 1.5 to 3.0 ms"),
        ("SN15", 0.3, "at most 10 %", "derived: a tenth of 3"),
        ("RP05", 50, "176 Mbit/s", "derived: half of 0.0001 Mpps"),
        ("RP27", 500, "significant", "derived: 8000 to thousands"),
        ("RP28", 500, "thousands", "derived: 10000 to thousands"),
        ("RP30", 50, "significant", "derived: 148800 to hundreds"),
        ("RP31", 1 / 14 - 1 / 14.5, "significant", "derived: 1/14 to a whole denominator"),
        ("RP23", 1, "cut off", "derived: one packet per second"),
        ("NG-c7", 0.5e-3, "whole milliseconds", "derived: half of 1 ms"),
        ("NG-c8", 2e-3, "at least 31 ms", "derived: two round trips, 1 ms each"),
        ("SL13", 0.5e-3, "printed digit", "derived: 82 ms to a whole ms"),
    ],
)
def test_each_claim_has_a_tolerance_of_its_own(number, tolerance, reason, source):
    item = BY_ID[number]
    assert item.tolerance == pytest.approx(tolerance), source
    assert reason in item.tolerance_reason


def test_no_tolerance_is_a_tenth_without_a_reason():
    for item in CHECKED:
        if item.claim.relation == "about":
            assert 0 < item.tolerance <= 0.1 * abs(item.claim.value) * (1 + 1e-9)
        assert bool(item.claim.tolerance) == bool(item.claim.tolerance_reason)
        assert bool(item.tolerance) == bool(item.tolerance_reason)


def test_the_fields_of_an_audited_number():
    claim = BY_ID["SF19"].claim
    assert (claim.source, claim.work[:7], claim.place) == (
        "stevens", "Stevens", "A.3, store and forward",
    )  # fmt: skip
    assert (claim.printed, claim.value, claim.unit, claim.relation) == ("80 ms", 0.08, "s", "about")
    assert claim.recorded == pytest.approx(552 * 8 / 56e3)
    assert claim.quantity == "serialization of 552 B at 56 kb/s"
    assert (claim.note[:8], claim.verdict) == ("78.86 ms", "agree rounded")
    assert (claim.file, BY_ID["SL01"].claim.line) == ("book_claims.csv", 2)
    assert claim.implied_unit == ""
    # A limit is printed nowhere, and compared all the same.
    assert (BY_ID["SN23"].claim.printed, BY_ID["SN23"].claim.value > 0) == ("", True)
    assert BY_ID["SW13"].claim.value is None
    assert BY_ID["SL04"].claim.recorded is None
    # Derived: the rows of the audit by their data set.
    assert Counter(item.claim.source for item in CHECKED) == {
        "stevens": 113, "snader": 40, "router": 46, "nagle": 37, "netesto": 43 + 48,
    }  # fmt: skip


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
    index = next(i for i, claim in enumerate(found) if claim.id == "SL05")
    found[index] = replace(found[index], verdict="disagree")
    assert [i.claim.id for i in claims.check(found) if i.fault] == ["SL05"]
    found[index] = replace(found[index], verdict="agree", recorded=5.3)
    (item,) = (i for i in claims.check(found) if i.fault)
    assert item.fault == Notice("record-value-differs", {"recorded": 5.3, "si_unit": "s"})
    assert str(item.fault) == "The computed value on record is 5.3 s"


def test_errors_name_the_line_of_the_bundled_file():
    found = [
        replace(claim, formula="1 s +") if claim.id == "SL01" else claim for claim in claims.book()
    ]
    with pytest.raises(Exception, match=r"book_claims.csv, line 2, field formula"):
        claims.check(found)
