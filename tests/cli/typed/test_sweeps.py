"""The values of a sweep as they are typed: its steps, and ends without a unit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.calculator import formula, parse_range
from netcalc.cli import commands
from netcalc.uncertain import parse

WAIT = ["calc", "mm1-wait", "--service", "1ms"]


def run(*arguments):
    return CliRunner().invoke(commands, arguments)


@pytest.mark.each("steps", ["10%:120%:12", "120%:10%:12", "10%:100%:10", "30%:110%:9"])
def test_a_step_at_full_load_waits_for_ever(steps):
    """Identity: these steps are of 10%, one is 100%, where the mean wait is infinite."""
    done = run(*WAIT, "--sweep", f"utilization={steps}", "--json")
    found = json.loads(done.stdout)
    at = found["values"].index(1.0)
    assert found["result"][at] == "inf"
    assert "99.99" not in run(*WAIT, "--sweep", f"utilization={steps}").output


def test_steps_keep_the_ends_as_typed():
    """Identity: the ends of a sweep are those that were typed, to the last digit."""
    rtt = formula("bdp").parameter("rtt")
    for steps in ("1.2345678901234567ms:300ms:log7", "1.2345678901234567ms:300ms:7"):
        found = parse_range(steps, rtt)
        assert found[[0, -1]].tolist() == [rtt.read("1.2345678901234567ms"), 0.3]
    # derived: equal quotients, to the twelve digits that are kept
    inner = parse_range("1ms:300ms:log7", rtt)
    assert np.diff(np.log(inner)) == pytest.approx(np.log(300) / 6, rel=1e-11)


@pytest.mark.each(
    ("ends", "first", "last"),
    [  # identity: 0.5 is 50%, and 1 beside it is all
        ("0.5:1:6", 0.5, 1.0),
        ("1:0.5:6", 1.0, 0.5),
        ("0.5:1%:6", 0.005, 0.01),  # as in 0.5..1%
    ],
)
def test_both_ends_are_read_alike(ends, first, last):
    load = formula("mm1-wait").parameter("utilization")
    assert parse_range(ends, load)[[0, -1]].tolist() == pytest.approx([first, last])
    low, high = sorted(ends.split(":")[:2])
    if ends.startswith("0.5"):
        assert load.unit == "ratio"
        found = parse(f"{low}..{high}", "ratio", read=load.read)
        assert found.ppf(np.array([0.0, 1.0])).tolist() == pytest.approx([first, last])


@pytest.mark.each("ends", ["0:1:6", "1:5:6"])
def test_a_1_beside_no_share_is_refused(ends):
    done = run(*WAIT, "--sweep", f"utilization={ends}")
    assert "'1' needs a unit: 1% or 100%" in str(done.exception)


def test_a_share_above_1_is_offered_in_both_readings():
    done = run(*WAIT, "--utilization", "0.8..1.2")
    assert "'1.2' needs a unit: 1.2% or 120%" in str(done.exception)
