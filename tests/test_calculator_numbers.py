"""Arguments, sweeps and equations of formulas that are made for the purpose, by hand."""

from __future__ import annotations

import inspect
import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from netcalc import calculator
from netcalc.calculator import catalogue
from netcalc.calculator.catalogue import Formula, _left_side, _quantity
from netcalc.calculator.parameter import Parameter, show
from netcalc.calculator.ranges import importance_line
from netcalc.calculator.sweeps import parse_range, solve_for, sweep, sweep_range
from netcalc.errors import DomainError, NetcalcError, UnitError

REQUIRED = inspect.Parameter.empty


def parameter(name="size_bytes", unit="byte", kind="number", default=REQUIRED, **more):
    return Parameter(name, unit, kind, default, "What it is.", **more)


class Parts(NamedTuple):
    half_bytes: object
    is_large: object


def doubled_s(size_bytes, *, factor=2.0, is_fast=False, mode="a", steps_s=(1.0, 2.0)):
    r"""Return a multiple.

    .. math:: t = k N

    Parameters
    ----------
    size_bytes : float
        Some bytes. [byte]
    factor : float
        How often. [1]
    is_fast : bool
        Nothing. [bool]
    mode : {"a", "b"}
        Which.
    steps_s : 1-D array_like
        Some times. [s]

    Returns
    -------
    float
        A time. [s]

    Notes
    -----
    Validity: always. Symbols: :math:`N` size_bytes, :math:`k` factor.

    Examples
    --------
    >>> float(doubled_s(3.0, factor=4.0))
    12.0
    """
    if np.ndim(size_bytes) == 0 and size_bytes > 900:
        raise DomainError("above-maximum", "size_bytes", size_bytes, high=900.0)
    return np.asarray(size_bytes, dtype=float) * factor


DOUBLED = Formula("own.doubled_s", doubled_s)


def halves(size_bytes):
    """Return two results.

    Parameters
    ----------
    size_bytes : float
        Some bytes. [byte]

    Returns
    -------
    Parts
        Two. [byte]
    """
    return Parts(np.asarray(size_bytes) / 2, np.asarray(size_bytes) > 8)


HALVES = Formula("own.halves", halves)


def test_what_a_docstring_says():
    assert (DOUBLED.subject, DOUBLED.function_name, DOUBLED.short_name) == (
        "own", "doubled_s", "doubled",
    )  # fmt: skip
    assert DOUBLED.symbols == {"N": "size_bytes", "k": "factor"}
    assert DOUBLED.equation == "t = k N"
    assert [(p.name, p.unit, p.kind, p.required) for p in DOUBLED.parameters] == [
        ("size_bytes", "byte", "number", True), ("factor", "1", "number", False),
        ("is_fast", "bool", "bool", False), ("mode", "1", "choice", False),
        ("steps_s", "s", "list", False),
    ]  # fmt: skip
    assert DOUBLED.parameter("mode").choices == ("a", "b")
    assert DOUBLED.example == {"size_bytes": 3.0, "factor": 4.0}
    assert DOUBLED.unit == "s"


def test_the_equation_with_numbers():
    text = DOUBLED.equation_text({"size_bytes": 3.0, "factor": 4.0}, 12.0)
    assert text == "t = 4 \u00b7 3 B = 12 s"
    assert DOUBLED.equation_text({"size_bytes": 3.0}, 6.0) == "t = 2 \u00b7 3 B = 6 s"
    assert DOUBLED.equation_text({"size_bytes": [3.0, 4.0]}) == "t = 2 \u00b7 N"


@pytest.mark.each(
    ("one", "text", "expected"),
    [
        (parameter(), "1 kB", 1000.0),
        (parameter("is_fast", "bool", "bool"), " Yes ", True),
        (parameter("is_fast", "bool", "bool"), "off", False),
        (parameter("mode", "1", "choice", choices=("a", "b")), "b", "b"),
        (parameter("title", "text", "text"), "1 kB", "1 kB"),
        (parameter(kind="list"), "1 kB", [1000.0]),
        (parameter(kind="list", default=5.0), "1 kB", 1000.0),
        (parameter(kind="list", default=5.0), "1 kB; 2 B", [1000.0, 2.0]),
        (parameter(kind="list", default=(5.0,)), "1 kB", [1000.0]),
        (parameter("flags", "bool", "list"), "yes; no", [True, False]),
        (parameter("packet_count", "1"), "1000", 1000.0),
        (parameter("cost", "s/packet"), "0.25 s/packet", 0.25),
    ],
)  # fmt: skip
def test_text_is_read_as_the_argument(one, text, expected):
    found = one.read(text)
    assert found == expected
    assert isinstance(found, type(expected))


@pytest.mark.each(
    ("one", "text", "code"),
    [
        (parameter("is_fast", "bool", "bool"), "perhaps", "not-yes-or-no"),
        (parameter("mode", "1", "choice", choices=("a", "b")), "c", "not-a-choice"),
        (parameter("packet_count", "1"), "1,000", "ambiguous-number"),
        (parameter(), "3 s", "unit-of-other-kind"),
    ],
)
def test_text_that_is_refused(one, text, code):
    with pytest.raises((DomainError, UnitError)) as caught:
        one.read(text)
    assert caught.value.code == code


@pytest.mark.each(
    ("kind", "expected", "readings"),
    [
        ("number", "a whole number", ["1", "250"]),
        ("list", "whole numbers", ["1.250", '"1, 250" (two numbers)']),
    ],
)
def test_the_two_readings_of_a_comma(kind, expected, readings):
    with pytest.raises(UnitError) as caught:
        parameter("packet_count", "1", kind).read("1,250")
    assert caught.value.expected == expected
    if kind == "list":
        assert caught.value.values["readings"] == readings
    assert len(caught.value.values["readings"]) == 2
    assert caught.value.field == "packet_count"


@pytest.mark.each(
    ("one", "value", "expected"),
    [
        (parameter(), 1500, "1500 B"), (parameter(), [8, 100], "8 B, 100 B"),
        (parameter(), True, "yes"), (parameter(), np.bool_(False), "no"),
        (parameter(), None, "None"), (parameter(), "text", "text"),
        (parameter("loss_ratio", "ratio"), 0.123456, "12.35%"),
    ],
)  # fmt: skip
def test_a_value_is_shown(one, value, expected):
    assert one.show(value) == expected


def test_a_value_is_shown_with_other_digits():
    assert parameter("loss_ratio", "ratio").show(0.123456, digits=6) == "12.3456%"
    assert parameter("t_s", "s").show([0.0123456, 1], digits=2) == "12 ms, 1 s"


def test_results_are_shown():
    assert show(np.bool_(True), "s") == "True"
    assert show("words", "s") == "words"
    assert show([0.001, 2], "s") == "1 ms, 2 s"
    assert show(np.array([[0.5]]), "s") == "500 ms"


def test_what_is_wanted():
    assert parameter("mode", "1", "choice", choices=("a", "b")).wanted == "a, b"
    assert parameter("flag", "bool", "bool").wanted == "yes or no"
    assert parameter("title", "text", "text").wanted == "a name"
    assert parameter("latency_s", "s").wanted == "a time such as 30 ms"
    error = parameter("latency_s", "s").required_error()
    assert (error.code, error.name) == ("is-required", "latency")
    assert error.values["example"] == "a time such as 30 ms"
    assert error.values["about"] == "What it is."


@pytest.mark.each("count", [1, 9, 10, 11, 25])
def test_long_sweeps_give_what_short_ones_give(count):
    values = np.linspace(1, 900, count)
    swept = sweep(DOUBLED, {"factor": 3.0}, over="size_bytes", values=values)
    assert swept.columns["result"] == pytest.approx(3 * values)
    assert swept.values == pytest.approx(values)
    assert (swept.name, swept.refused, swept.formula) == ("size_bytes", "", DOUBLED)


@pytest.mark.each(("count", "calls"), [(9, 9), (10, 4), (200, 4)])
def test_from_ten_values_on_one_call_is_compared_with_three(count, calls):
    asked = []

    def formula(size_bytes):
        """Return it.

        Parameters
        ----------
        size_bytes : float
            Some. [byte]
        """
        asked.append(np.size(size_bytes))
        return np.asarray(size_bytes) * 1.0

    swept = sweep(Formula("own.formula", formula), {}, over="size_bytes",
                  values=np.arange(float(count)))  # fmt: skip
    assert swept.columns["result"].tolist() == list(range(count))
    assert len(asked) == calls


@pytest.mark.each("wrong_at", ["first", "middle", "last"])
def test_a_formula_that_takes_a_list_as_one_thing_is_asked_one_by_one(wrong_at):
    at = {"first": 0, "middle": 10, "last": 20}[wrong_at]

    def formula(size_bytes):
        """Return it.

        Parameters
        ----------
        size_bytes : float
            Some. [byte]
        """
        found = np.asarray(size_bytes) * 1.0
        if found.ndim:
            found[at] += 1e-6 * (1 + found[at])
        return found

    swept = sweep(Formula("own.formula", formula), {}, over="size_bytes",
                  values=np.arange(21.0))  # fmt: skip
    assert swept.columns["result"].tolist() == list(range(21))


def test_several_results_have_columns_of_numbers():
    swept = sweep(HALVES, {}, over="size_bytes", values=np.arange(20.0))
    assert swept.columns["half_bytes"].tolist() == [n / 2 for n in range(20)]
    assert swept.columns["is_large"].tolist() == [float(n > 8) for n in range(20)]
    assert swept.columns["is_large"].dtype == np.float64
    assert calculator.result_lines(HALVES, halves(9.0)) == ["half_bytes: 4.5 B", "is_large: True"]


def test_gaps():
    values = np.array([800.0, 901.0, 900.0])
    swept = sweep(DOUBLED, {}, over="size_bytes", values=values, gaps=True)
    assert swept.columns["result"][[0, 2]].tolist() == [1600.0, 1800.0]
    assert np.isnan(swept.columns["result"][1])
    assert "901" in swept.refused
    for gaps, tried in ((False, values), (True, values[1:2])):
        with pytest.raises(DomainError) as caught:
            sweep(DOUBLED, {}, over="size_bytes", values=tried, gaps=gaps)
        assert caught.value.value == 901.0
    with pytest.raises(DomainError) as caught:
        sweep(DOUBLED, {}, over="size_bytes", values=np.array([903.0, 902.0]), gaps=True)
    assert caught.value.value == 903.0, "where all are refused, the first"


@pytest.mark.each(
    ("bandwidth", "said"),
    [
        (0.2, "20% of the variance; 20% by several at once"),
        (0.395, "39.5% of the variance"), (0.4, "40% of the variance"),
    ],
)  # fmt: skip
def test_what_several_inputs_do_at_once_is_said_above_a_hundredth(bandwidth, said):
    spread = SimpleNamespace(first_order={"bandwidth_bps": bandwidth, "rtt_s": 0.6})
    line = importance_line(calculator.formula("bdp"), spread)
    assert line == f"matters most: rtt 60%, bandwidth {said}"


def test_only_numbers_are_swept():
    for name, kind in (("mode", "a choice"), ("steps_s", "a list"), ("is_fast", "bool")):
        with pytest.raises(DomainError) as caught:
            sweep(DOUBLED, {}, over=name, values=np.array([1.0]))
        assert (caught.value.code, caught.value.value) == ("not-sweepable", kind)
        assert caught.value.values["numbers"] == ["size", "factor"]
        with pytest.raises(DomainError) as caught:
            parse_range("1:2", DOUBLED.parameter(name))
        assert caught.value.code == "not-sweepable"


@pytest.mark.each(
    ("unit", "value", "expected"),
    [
        ("s", 0.03, (0.003, 0.3, True)), ("byte", 1500.0, (150.0, 15000.0, True)),
        ("1", 1.0, (1.0, 10.0, True)), ("1", 5.0, (1.0, 50.0, True)),
        ("1", 30.0, (3.0, 300.0, True)),
        ("1", 0.5, (0.05, 5.0, True)), ("ratio", 0.05, (0.0, 1.0, False)),
        ("ratio", 0.04, (0.004, 0.4, True)), ("ratio", 0.049, (0.0049, 0.49, True)),
        ("s", 0.0, (0.0, 0.03, False)), ("ratio", 0.0, (0.0, 1.0, False)),
        ("1", 0.0, (0.0, 1.0, False)), ("1", -3.0, (0.0, 1.0, False)),
        ("s", math.inf, (0.0, 0.03, False)),
    ],
)  # fmt: skip
def test_ranges_around_a_value(unit, value, expected):
    """derived: a tenth to ten times; shares from 0 to 1, counts from 1 on."""
    *ends, is_log = sweep_range(parameter("x", unit), value)
    assert ends == pytest.approx(list(expected[:2]), rel=1e-12)
    assert is_log is expected[2]


@pytest.mark.each(
    ("text", "expected"),
    [
        ("1B:4B:4", [1, 2, 3, 4]), ("1B:4B:lin4", [1, 2, 3, 4]), ("1B:8B:log4", [1, 2, 4, 8]),
        ("1B:8B: log 4 ", [1, 2, 4, 8]), ("0B:4B:2", [0, 4]), (" 1B; 2B ", [1, 2]), ("7B", [7]),
    ],
)  # fmt: skip
def test_ranges_in_words(text, expected):
    assert parse_range(text, parameter()).tolist() == pytest.approx(expected)


def test_ranges_have_fifty_steps_and_at_most_a_hundred_thousand():
    assert parse_range("0B:49B", parameter()).tolist() == list(range(50))
    assert parse_range("0B:49B:100000", parameter()).size == 100_000
    for count in (0, 1, 100_001):
        with pytest.raises(DomainError) as caught:
            parse_range(f"0B:49B:{count}", parameter())
        values = caught.value.values
        assert (values["value"], values["low"], values["high"]) == (count, 2, 100_000)
    for text in ("0B:8B:log4", "8B:0B:log4"):
        with pytest.raises(DomainError) as caught:
            parse_range(text, parameter())
        assert caught.value.code == "log-sweep-not-positive"
    for text in ("1B:2B:3:4", "1B:2B:x"):
        with pytest.raises(DomainError) as caught:
            parse_range(text, parameter())
        assert caught.value.code == "malformed-sweep"


def test_solving_within_limits():
    found = solve_for(DOUBLED, {}, over="size", result="40 s", limits="1B:90B")
    assert [root.value for root in found.roots] == pytest.approx([20.0])
    assert (found.low, found.high, found.target) == (1.0, 90.0, 40.0)
    assert found.lines == ["20 B"]
    assert solve_for(DOUBLED, {}, over="size", result="40 s", limits="30B:90B").lines == [
        "no solution in [30 B, 90 B]"
    ]
    for wrong in ("1B", "1B:2B:3B"):
        with pytest.raises(DomainError) as caught:
            solve_for(DOUBLED, {}, over="size", result="40 s", limits=wrong)
        assert caught.value.code == "malformed-range"
    with pytest.raises(DomainError) as caught:
        solve_for(DOUBLED, {}, over="factor", result="40 s")
    assert (caught.value.code, caught.value.name) == ("is-required", "size")


def test_a_step_over_the_result_is_said():
    # derived: fragments carry 1480 bytes, so that two hold 2960 and the next byte takes a third
    found = solve_for(
        calculator.formula("fragment_count"),
        {"mtu_bytes": 1500.0}, over="ip_payload", result="2.5", limits="100B:9000B",
    )  # fmt: skip
    assert found.lines == ["2961 B (no value gives 2.5: 3 from here, the least for it, 2 below)"]


@pytest.mark.each("scale", [1e-12, 1.0, 1e12])
def test_one_call_is_compared_in_proportion(scale):
    """One millionth more than alone is another number, however small or large it is."""

    def formula(size_bytes):
        """Return it.

        Parameters
        ----------
        size_bytes : float
            Some. [byte]
        """
        found = np.asarray(size_bytes) * scale
        return found * (1 + 1e-6) if found.ndim else found

    swept = sweep(Formula("own.formula", formula), {}, over="size_bytes",
                  values=np.arange(1.0, 21.0))  # fmt: skip
    assert swept.columns["result"].tolist() == [n * scale for n in range(1, 21)]


def test_values_are_rounded_only_where_whole_ones_are_taken():
    """The named refusals: a fraction, or any of a count; 901.5 is refused for its size."""

    def counted(packet_count):
        """Return it.

        Parameters
        ----------
        packet_count : float
            Some. [1]
        """
        if np.any(np.asarray(packet_count) % 1):
            raise DomainError("above-maximum", "packet_count", 0.5, high=0.0)
        return np.asarray(packet_count) * 1.0

    swept = sweep(Formula("own.counted", counted), {}, over="packet_count", values=[1.2, 2.0, 2.4])
    assert swept.values.tolist() == [1, 2]
    whole = sweep(calculator.formula("stream_mbufs"), {}, over="payload_bytes",
                  values=[100.2, 199.9])  # fmt: skip
    assert whole.values.tolist() == [100, 200]
    kept = sweep(DOUBLED, {}, over="size_bytes", values=[1.5, 901.5], gaps=True)
    assert kept.values.tolist() == [1.5, 901.5]
    large = sweep(DOUBLED, {}, over="size_bytes", values=[901.5, 1.5, 902.5], gaps=True)
    assert large.values.tolist() == [901.5, 1.5, 902.5]
    assert "901.5" in large.refused, "the first of them"


def test_commands_and_searches():
    assert calculator.command(calculator.formula("latency.satellite_rtt_s")) == "satellite-rtt"
    # two files have a message_s
    for name in ("store_and_forward.message_s", "host_stack.message_s"):
        assert calculator.command(calculator.formula(name)) == name.replace("_", "-")
    found = [one.name for one in calculator.search("minclsize mlen_bytes")]
    assert "mbufs.datagram_mbufs" in found
    assert all(name.split(".")[0] in ("mbufs", "host_stack") for name in found)


def test_without_docstrings_there_are_no_formulas(monkeypatch):
    flags = SimpleNamespace(flags=SimpleNamespace(optimize=2))
    monkeypatch.setattr(catalogue, "sys", flags)
    with pytest.raises(NetcalcError) as refused:
        catalogue.subject_formulas.__wrapped__("latency")
    assert refused.value.code == "docstrings-removed"
    flags.flags.optimize = 1
    assert "latency.satellite_rtt_s" in catalogue.subject_formulas.__wrapped__("latency")


def test_a_quantity_as_an_equation_has_it():
    assert _quantity(parameter("is_fast", "bool", "bool"), True) == "yes"
    assert _quantity(parameter("is_fast", "bool", "bool"), False) == "no"
    assert _quantity(parameter("mode", "1", "choice", choices=("a", "b")), "b") == "b"
    assert _quantity(parameter("loss", "ratio"), 0.025) == "0.025", "no percentage"
    assert _quantity(parameter("steps_s", "s", "list"), [0.002, 1.0]) == "2 ms, 1 s"
    assert (_quantity(parameter(), [1.0, 2.0]), _quantity(parameter(), None)) == ("", "")
    assert _quantity(parameter(), REQUIRED) == ""
    assert _quantity(parameter(), 1234567.0) == "1.23457 MB", "six digits"


@pytest.mark.each(
    ("equation", "parts"),
    [
        ("t = k N", ("t", " = ", "k N")),
        (r"t \approx 2 = x", ("t", r" \approx ", "2 = x")),
        ("k N", ("", "", "k N")),
        ("x_{n=1} = 2", ("", "", "x_{n=1} = 2")),
        (r"a \lor b = 2", ("", "", r"a \lor b = 2")),
        ("x_{n} = y_{m=1}", ("x_{n}", " = ", "y_{m=1}")),
    ],
)
def test_the_left_side_is_what_is_before_the_first_equality(equation, parts):
    assert _left_side(equation) == parts
