"""Plans that send by TCP: what their sentences and steps say at the ends of their range."""

from __future__ import annotations

import math

import pytest

from netcalc import planning
from netcalc.planning.page import quantity
from netcalc.units import parse

LOSSY = {"bandwidth_bps": 1e9, "rtt_s": 0.04, "loss_ratio": 1e-4}
LOST = {**LOSSY, "loss_ratio": 1.0}
FASTER = "slow start before the first loss is faster"
MADE = {
    "transfer": lambda **path: planning.transfer(1e9, **path),
    "backup": lambda **path: planning.backup(1e9, window_s=1.0, **path),
    "buy": lambda **path: planning.buy(1e9, **path),
}


@pytest.mark.each("name", MADE)
@pytest.mark.each("flow_count", [1, 4])
def test_a_goodput_above_the_limit_of_the_loss_is_explained(name, flow_count):
    """Identity: the sentence says it where the two answers of the page are in that order."""
    made = MADE[name](flow_count=flow_count, **LOSSY)
    assert made.binding == "loss_limit_bps"
    assert (made["goodput_bps"] > made["loss_limit_bps"]) == (FASTER in made.sentence)


def test_slow_start_is_faster_where_flows_share_a_transfer():
    assert FASTER in MADE["transfer"](flow_count=4, **LOSSY).sentence


@pytest.mark.each("name", MADE)
def test_what_does_not_help_against_a_loss_of_all_is_no_step(name):
    """Derived: where all is lost only less loss lets anything arrive."""
    made = MADE[name](**LOST)
    assert all(math.isfinite(one.value) for one in made.steps)
    assert {one.change.code for one in made.steps} <= {"step-loss"}
    assert "takes never" not in str(made)


def test_a_backup_that_never_ends_says_so_once():
    made = MADE["backup"](**LOST)
    assert made.sentence == "It does not fit: sending 1 GB never ends; the loss limits it."
    assert made.answer("window_utilization").text == "infinite"
    assert "no limit" not in str(made)


def test_a_limit_that_is_absent_is_no_limit():
    assert quantity(math.inf, "byte") == quantity(math.inf, "bit/s") == "no limit"


def test_large_sizes_and_long_times_are_in_words():
    """Derived: 1 PB at 941.5 bit/s is 8e15 / 941.5 / 31557600 years."""
    made = planning.transfer(1e15, bandwidth_bps=1e3, rtt_s=0.04)
    years = 8e15 / (1e3 * 1448 / 1538) / (365.25 * 86_400)
    assert made.sentence.startswith(f"1 PB takes {years / 1e3:.4g} thousand years")
    assert quantity(1e18, "byte") == "1 EB"
    assert parse("1EB", "byte") == 1e18
    assert parse("E1", "bit/s") == 2.048e6
