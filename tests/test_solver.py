"""Formulas solved for a variable: every root in the range, or none; against algebra."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import netcalc
from netcalc import calculator
from netcalc.calculator import formula, parse_range, sweep
from netcalc.cli import commands
from netcalc.errors import ConvergenceError, DomainError
from netcalc.models.delays.latency import transfer_s
from netcalc.models.rates.line_rate import frame_rate_pps
from netcalc.solver import evaluate, solve


@given(size=st.floats(1e3, 1e9), latency=st.floats(1e-4, 1.0), sending=st.floats(1e-3, 100.0))
def test_the_bandwidth_is_the_one_that_algebra_gives(size, latency, sending):
    """Derived by hand: R = 8N / (t - d)."""
    [root] = solve(
        transfer_s, for_="bandwidth_bps", result=latency + sending, payload_bytes=size,
        latency_s=latency,
    )  # fmt: skip
    assert root.exact
    assert root.value == pytest.approx(8 * size / sending, rel=1e-6)


def test_any_variable_of_a_formula():
    given = {"payload_bytes": 1e6, "bandwidth_bps": 8e6, "latency_s": 0.03}
    for name, value in given.items():
        others = {n: v for n, v in given.items() if n != name}
        [root] = netcalc.solve(transfer_s, for_=name, result=1.03, **others)
        assert root.value == pytest.approx(value)


def test_no_root_is_an_empty_list():
    assert solve(
        transfer_s, for_="bandwidth_bps", result=0.01, payload_bytes=1e6, latency_s=0.03
    ) == []  # fmt: skip


def parabola(x, *, shift):
    """Stand-in formula with two roots, or one that only touches."""
    return (np.asarray(x) - 3.0) ** 2 - shift


def test_all_roots_are_found():
    # derived: (x - 3)^2 = 4 at 1 and 5
    values = [root.value for root in solve(parabola, for_="x", result=0, low=-9, high=9, shift=4)]
    assert values == pytest.approx([1, 5])


def test_a_root_that_only_touches():
    [root] = solve(parabola, for_="x", result=1.0, low=-9.05, high=9, shift=-1)
    assert root.value == pytest.approx(3, abs=1e-4)
    assert root.exact


def test_a_root_at_the_end_of_the_range():
    values = [root.value for root in solve(parabola, for_="x", result=0, low=1, high=4, shift=4)]
    assert values == [1]


def steps(x):
    """Stand-in formula that jumps from 1 to 3 at 2.5."""
    return np.where(np.asarray(x) < 2.5, 1.0, 3.0)


def test_a_jump_over_the_result_is_told():
    [root] = solve(steps, for_="x", result=2, low=0, high=10)
    assert root.value == pytest.approx(2.5)
    assert not root.exact
    assert root.result in (1, 3)


def test_whole_numbers_give_the_first_past_the_crossing():
    # derived: N packets need 8 (N + 1) ms on two lines of 1 Mbit/s, so 100 ms are passed by 12
    total = netcalc.models.delays.store_and_forward.store_and_forward_s
    [root] = solve(
        total, for_="packet_count", result=0.1, packet_bytes=1000, bandwidth_bps=[1e6, 1e6]
    )
    assert root.value == 12
    assert root.result == pytest.approx(0.104)
    assert not root.exact


@pytest.mark.each(
    ("options", "said"),
    [
        ({"for_": "speed"}, "bandwidth_bps"),
        ({"for_": "latency_s", "low": 2, "high": 1}, "range"),
        ({"for_": "latency_s", "payload_bytes": [1, 2], "bandwidth_bps": 1}, "one number"),
    ],
)
def test_mistakes_are_named(options, said):
    with pytest.raises(DomainError, match=said):
        solve(transfer_s, result=1.0, **options)


def test_impossible_values_are_no_numbers():
    assert np.isnan(evaluate(transfer_s, {"payload_bytes": 1, "bandwidth_bps": -1, "latency_s": 0}))


def test_ranges_of_a_sweep():
    size = formula("frame-rate").parameter("frame")
    assert parse_range("64B:1024B:log5", size).tolist() == pytest.approx([64, 128, 256, 512, 1024])
    assert parse_range("64 B:164 B:3", size).tolist() == [64, 114, 164]
    assert parse_range("64B, 1518B", size).tolist() == [64, 1518]
    assert parse_range("0B:98B", size).size == 50
    for wrong in ("1B:2B:x", "1B:2B:1", "0B:2B:log3", "1B:2B:3:4", "1B:2B:1000000"):
        with pytest.raises(DomainError):
            parse_range(wrong, size)


def test_a_sweep_equals_the_formula():
    rates = formula("frame-rate")
    swept = sweep(rates, {"bandwidth_bps": 1e8}, over="frame_bytes", values=np.array([64.0, 1518]))
    assert (
        swept.columns["result"].tolist() == frame_rate_pps([64, 1518], bandwidth_bps=1e8).tolist()
    )


def run(*arguments):
    return CliRunner().invoke(commands, ["calc", *arguments])


def complaint(*arguments):
    """What the command says of a mistake, whichever way it says it."""
    done = run(*arguments)
    return f"{done.output} {done.exception}"


def test_a_refusal_names_the_argument_as_it_is_typed():
    """Also where the number is computed with, and not only read."""
    error = run("transfer", "1MB", "--latency", "30ms", "--bandwidth", "0 bit/s").exception
    assert error.code == "not-positive"
    assert (error.name, error.value) == ("--bandwidth", "0 bit/s")
    assert str(error) == "--bandwidth must be greater than 0, got 0 bit/s"


def test_solve_in_a_terminal():
    asked = ["transfer", "--payload", "1MB", "--latency", "30ms", "--for", "1.03s"]
    assert run(*asked, "--solve", "bandwidth").stdout == "8 Mbit/s (line)\n"
    narrow = run(*asked, "--solve", "bandwidth=1kbit/s:1Mbit/s")
    assert narrow.output == "no solution in [1 kbit/s, 1 Mbit/s]\n"
    assert narrow.exit_code == 1
    none = run(*asked, "--solve", "bandwidth=1kbit/s:1Mbit/s", "--json")
    assert (json.loads(none.output)["roots"], none.exit_code) == ([], 1)
    document = json.loads(run(*asked, "--solve", "bandwidth", "--json").stdout)
    assert document["roots"][0]["value"] == pytest.approx(8e6)
    assert document["range"] == [1.0, 1e15]


def test_sweep_in_a_terminal(tmp_path):
    asked = ["frame-rate", "--bandwidth", "100 Mbit/s", "--sweep", "frame=64B,1518B"]
    assert "148.8 kpps" in run(*asked).output
    rows = run(*asked, "--csv").output.splitlines()
    assert rows[0] == "frame_bytes [byte],frame_rate_pps [packet/s]"
    assert float(rows[1].split(",")[1]) == pytest.approx(148_809.5238)
    document = json.loads(run(*asked, "--json").stdout)
    assert document["values"] == [64, 1518]
    out = tmp_path / "curve.html"
    assert run(*asked, "--plot", str(out)).exit_code == 0
    assert "frame rate" in out.read_text()
    assert "exists" in complaint(*asked, "--plot", str(out))


def test_explain_in_a_terminal():
    shown = run("transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms", "--explain").output
    for part in ("t = d + 8 N / R", "payload_bytes = 1 MB", "5.211 s", "Validity:", "Stevens"):
        assert part in shown


@pytest.mark.each(
    ("arguments", "said"),
    [
        (["--solve", "bandwidth"], "--for"),
        (["--for", "1s"], "--solve"),
        (["--solve", "colour", "--for", "1s"], "payload, bandwidth, latency"),
        (["--solve", "bandwidth", "--for", "1s"], "payload is required"),
        (["--solve", "bandwidth=1s:2s", "--for", "1s"], "unit of a time"),
        (
            ["--solve", "bandwidth", "--for", "1 MB", "--payload", "1B", "--latency", "1s"],
            "of a size",
        ),
        (["--sweep", "latency"], "LOW:HIGH"),
        (["--plot", "x.html"], "--sweep"),
    ],
)
def test_wrong_questions_are_told(arguments, said):
    assert said in complaint("transfer", *arguments)


@pytest.mark.each(
    ("options", "said"),
    [
        ({"low": 0, "high": np.inf}, "range"),
        ({"low": np.nan}, "range"),
        ({"result": np.nan}, "result"),
        ({"result": np.inf}, "result"),
    ],
)
def test_a_question_without_finite_numbers_is_refused(options, said):
    with pytest.raises(DomainError, match=said):
        solve(parabola, for_="x", **{"result": 0, "low": -9, "high": 9, "shift": 4, **options})


def test_a_search_that_finds_a_gap_tells_where_it_ended():
    def gap(x):
        x = np.asarray(x, dtype=float)
        return np.where((x > 2.401) & (x < 2.409), np.nan, x)

    with pytest.raises(ConvergenceError, match=r"2\.4 to 2\.41") as caught:
        solve(gap, for_="x", result=2.405, low=0, high=10)
    assert caught.value.last == pytest.approx(2.405)


def test_a_search_that_does_not_end_is_told(monkeypatch):
    brentq = optimize.brentq
    monkeypatch.setattr(
        optimize, "brentq", lambda *a, **options: brentq(*a, **{**options, "maxiter": 2})
    )
    with pytest.raises(ConvergenceError, match="did not converge in 2 iterations") as caught:
        solve(lambda x: np.asarray(x) ** 9, for_="x", result=0.0071, low=0, high=1)
    assert 0 < caught.value.last < 1
    assert abs(caught.value.residual) > 0


class Counted:
    """Stand-in formula that counts how often it is called, and with how many values."""

    def __init__(self, formula):
        self.formula = formula
        self.sizes = []

    def __call__(self, x):
        self.sizes.append(np.size(x))
        return self.formula(x)


def refused_from_five(x):
    if (np.asarray(x) >= 5).any():
        raise DomainError("x", "5 or more", "below 5")
    return np.asarray(x) ** 2


def test_a_formula_that_takes_arrays_is_asked_in_few_calls():
    counted = Counted(parabola_of_one)
    values = [root.value for root in solve(counted, for_="x", result=4, low=-9, high=9)]
    assert values == pytest.approx([1, 5])  # derived: (x - 3)^2 = 4
    assert len(counted.sizes) < 200  # a grid of 1001 points, and two roots
    assert max(counted.sizes) > 1


def parabola_of_one(x):
    return (np.asarray(x) - 3.0) ** 2


def test_what_is_impossible_in_a_part_of_the_range_is_left_out():
    counted = Counted(refused_from_five)
    [root] = solve(counted, for_="x", result=9, low=0, high=5.5)
    assert root.value == pytest.approx(3)  # derived: x^2 = 9
    assert len(counted.sizes) < 500  # of 1001 points a tenth is impossible


@pytest.mark.each(
    "formula_of_numbers",
    [
        math.sqrt,  # takes one number only
        lambda x: np.sqrt(np.cumsum(x))[-1:],  # one result of a list
        lambda x: np.sqrt(np.cumsum(x)),  # a running sum: of one number, itself
        lambda x: 7.0 if x > 100 else math.sqrt(x),  # cannot be asked about a list
    ],
)
def test_a_formula_of_single_numbers_is_solved_number_by_number(formula_of_numbers):
    """Derived: the square of 3 is 9, whatever the formula makes of a list."""
    [root] = solve(lambda x: formula_of_numbers(x), for_="x", result=3, low=0.5, high=1000)
    assert root.value == pytest.approx(9)


def test_two_numbers_are_no_single_one_however_long_the_list_is():
    with pytest.raises(DomainError, match="one number"):
        solve(
            lambda x, others: np.asarray(x) + others, for_="x", result=1, low=0, high=1,
            others=np.zeros(100),
        )  # fmt: skip


@pytest.mark.each("low", [-9.05, -9.033, -8.987])
def test_a_touch_between_the_points_of_the_grid_is_found_wherever_they_lie(low):
    [root] = solve(parabola, for_="x", result=1.0, low=low, high=9, shift=-1)
    assert root.value == pytest.approx(3, abs=1e-4)  # derived: the vertex


def test_a_dip_that_stays_away_is_no_root():
    assert solve(parabola, for_="x", result=1.0, low=-9.05, high=9, shift=-1.0001) == []


def test_a_level_stretch_is_one_root_with_its_ends():
    [root] = solve(lambda x: np.maximum(x, 2.0), for_="x", result=2.0, low=0, high=10)
    assert (root.value, root.last, root.exact) == (0.0, 2.0, True)  # identity


@pytest.mark.slow
@pytest.mark.each("wanted", calculator.formulas().values(), ids=lambda one: one.name)
def test_a_sweep_of_many_values_gives_what_each_alone_gives(wanted):
    """Identity, for every number of every formula that can be swept."""
    given = wanted.example
    for parameter in wanted.parameters:
        value = given.get(parameter.name, parameter.default)
        if parameter.kind != "number" or not isinstance(value, int | float) or np.isinf(value):
            continue
        values = value * np.linspace(0.5, 1.5, 12)
        try:
            swept = sweep(wanted, given, over=parameter.name, values=values, gaps=True)
        except (DomainError, TypeError):  # no single number, or none of the values is possible
            continue
        alone = []
        for one in swept.values:
            try:
                found = wanted.evaluate({**given, parameter.name: float(one)})
            except DomainError:
                found = np.nan
            alone.append(found._asdict() if hasattr(found, "_asdict") else {"result": found})
        for name, column in swept.columns.items():
            expected = [float(columns.get(name, np.nan)) for columns in alone]
            assert column.tolist() == pytest.approx(expected, rel=1e-12, nan_ok=True)
