"""Formulas that are staircases, solved: all of a step, in whole numbers of what is counted."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.calculator import formula, solve_for
from netcalc.cli import commands
from netcalc.models.rates.voice import voip_call_count
from netcalc.models.sizes.vpn import esp_payload_bytes
from netcalc.models.tcp.slow_start import rounds, window_growth_s
from netcalc.models.tcp.window import connection_count, throughput_bps
from netcalc.solver import solve


def test_rounds_of_slow_start():
    # derived: 10 + 20 + 40 = 70 segments take 3 rounds, with 80 more, 150, it is 4
    [root] = solve(rounds, for_="segments", result=4)
    assert (root.value, root.last, root.exact) == (71, 150, True)
    assert (float(rounds(71)), float(rounds(150))) == (4, 4)


def test_connections_that_fill_a_path():
    # derived: the product over 65,535 bytes, rounded up to 10: above 9 and up to 10 windows
    [root] = solve(connection_count, for_="bdp_bytes", result=10, window_bytes=65_535)
    assert (root.value, root.last) == (9 * 65_535 + 1, 10 * 65_535)


def test_calls_on_a_line():
    one_bps = 8.72e6 / 100  # identity: one call's rate times the calls
    given = {"payload_bytes": 160.0, "link_bytes": 18.0}
    [root] = solve(voip_call_count, for_="bandwidth_bps", result=100, **given)
    assert root.value == pytest.approx(100 * one_bps, rel=1e-12)
    assert root.last == pytest.approx(101 * one_bps, rel=1e-12)
    assert root.last < 101 * one_bps, "the last value below that of 101 calls"


def test_the_least_of_what_no_value_gives():
    # derived: blocks of 16 bytes hold 1398 or 1402 bytes of payload at 1455 and at 1456 (W4)
    [root] = solve(esp_payload_bytes, for_="mtu_bytes", result=1400)
    assert (root.value, root.result, root.before, root.exact) == (1456, 1402, 1398, False)
    assert float(esp_payload_bytes(1456)) == 1402
    assert float(esp_payload_bytes(1455)) == 1398


def test_windows_that_grow_in_as_many_rounds():
    """identity: every whole window from the first to the last, and none beside them."""
    given = {"rtt_s": 0.1, "mss_bytes": 1460}
    wanted = float(window_growth_s(100_000, **given))
    [root] = solve(window_growth_s, for_="window_bytes", result=wanted, **given)
    inside = np.arange(root.value, root.last + 1)
    assert (np.asarray(window_growth_s(inside, **given)) == wanted).all()
    for beside in (root.value - 1, root.last + 1):
        assert float(window_growth_s(beside, **given)) != wanted


def test_a_step_to_the_end_of_the_range():
    # derived: from the product, 100 Mbit/s x 100 ms / 8 = 1.25 MB, the line is the limit
    [root] = solve(throughput_bps, for_="window_bytes", result=1e8, rtt_s=0.1, bandwidth_bps=1e8)
    assert (root.value, root.last) == (1_250_000, 1e15)


def falling(x):
    """Stand-in formula that falls in steps of whole numbers."""
    return -np.floor(np.asarray(x, dtype=float))


def test_a_falling_staircase_and_its_ends():
    [root] = solve(falling, for_="x", result=-3, low=0.5, high=9.5)
    assert root.value == 3.0
    assert root.last == math.nextafter(4.0, 0.0)
    [root] = solve(falling, for_="x", result=-9, low=0.5, high=9.5)
    assert (root.value, root.last) == (9.0, 9.5)
    [root] = solve(falling, for_="x", result=-2.5, low=0.5, high=9.5)
    assert not root.exact
    assert (root.value, root.before, root.result) == (pytest.approx(3.0), -2.0, -3.0)


def test_a_single_root_is_its_own_last():
    [root] = solve(lambda x: 2 * np.asarray(x), for_="x", result=3, low=0, high=9)
    assert root.last == root.value == 1.5


@pytest.mark.each(
    ("asked", "said"),
    [
        ("rounds --solve segments --for 4", "71 to 150"),
        (
            "esp-payload --solve mtu --for 1400B",
            "1456 B (no value gives 1400 B: 1402 B from here, the least for it, 1398 B below)",
        ),
        ("connection-count --window 65535B --solve bdp --for 10", "589.816 kB to 655.35 kB"),
        (
            "throughput --rtt 100ms --bandwidth 100Mbit/s --solve window --for 100Mbit/s",
            "1.25 MB or more (to the end of the range, 1 PB)",
        ),
    ],
)
def test_the_interval_in_a_terminal(asked, said):
    assert CliRunner().invoke(commands, ["calc", *asked.split()]).stdout.strip() == said


def test_the_interval_as_json():
    asked = ["calc", "rounds", "--solve", "segments", "--for", "4", "--json"]
    (root,) = json.loads(CliRunner().invoke(commands, asked).stdout)["roots"]
    assert (root["value"], root["last"], root["exact"], root["before"]) == (71, 150, True, None)


def test_the_interval_in_python():
    found = solve_for(formula("rounds"), {}, over="segments", result="4")
    assert [(root.value, root.last) for root in found.roots] == [(71, 150)]


def test_results_around_a_step_have_the_digits_to_differ():
    """Derived: a window of n segments is sent n by n; 611 s is between two such windows."""
    transfer = formula("transfer-time")
    known = transfer.arguments({"payload": "1GB", "bandwidth": "1Gbit/s", "rtt": "40ms"})
    found = solve_for(transfer, known, over="window", result="611 s")
    [line], [root] = found.lines, found.roots
    assert "(no value gives 611 s: 610.98 s from here, 611.02 s below)" in line
    # identity: those are the results at the root and below it, which differ in the fifth digit
    assert (root.result, root.before) == (
        pytest.approx(610.98, abs=0.005), pytest.approx(611.02, abs=0.005)
    )  # fmt: skip
    at = [float(transfer.evaluate({**known, "window_bytes": root.value - less})) for less in (0, 1)]
    assert at == pytest.approx([root.result, root.before], rel=1e-6)
