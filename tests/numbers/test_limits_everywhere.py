"""What no network can have is refused, noted or nan by rule: in every formula that can be asked it.

A formula or an argument that is new is asked too; one that may answer without a word stands in a
table here, with the reason.
"""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import pytest
import test_signs as signs
from base_arguments import BASE

from netcalc import calculator
from netcalc.errors import NetcalcError, doubts

FORMULAS = calculator.formulas()


def asked(formula, **arguments):
    """Return the numbers of an answer, and the codes of its notes; None if it is refused."""
    with warnings.catch_warnings(), doubts() as found:
        warnings.simplefilter("ignore", UserWarning)
        try:
            result = FORMULAS[formula].function(**{**BASE[formula], **arguments})
        except NetcalcError:
            return None
    return signs.parts(result), [doubt.code for doubt in found]


def noted(formula, **arguments):
    """Return the codes of the notes, each with what it is about."""
    with doubts() as found:
        FORMULAS[formula].function(**{**BASE[formula], **arguments})
    return {(doubt.code, doubt.values.get("name")) for doubt in found}


def silent(formula, name, value):
    """Whether a formula answers with a finite number and without a word about it.

    What is noted of the base arguments, too, is of another one.
    """
    parameter = FORMULAS[formula].parameter(name)
    given = BASE[formula].get(name, parameter.default)
    wanted = [value] * len(given) if isinstance(given, list | tuple) else value
    answer = asked(formula, **{name: wanted})
    if answer is None or not any(np.isfinite(part).any() for part in answer[0]):
        return False
    return not answer[1] or noted(formula, **{name: wanted}) <= noted(formula)


def arguments(judge):
    """Return the formulas and arguments of which something holds."""
    return [
        (name, parameter.name)
        for name, formula in FORMULAS.items()
        for parameter in formula.parameters
        if parameter.kind in ("number", "list") and judge(parameter)
    ]


def silences(judge, *values):
    return {
        case for case in arguments(judge) for value in values if silent(*case, value)
    }  # fmt: skip


def test_a_share_is_from_0_to_1():
    is_share = lambda p: p.unit == "ratio" and p.name != "utilization"  # noqa: E731
    assert silences(is_share, -0.1, 1.1, 30.0) <= {
        ("growth.grown_traffic_bps", "annual_growth"),  # 110 % more in a year
        ("growth.exhaustion_s", "annual_growth"),
    }


def test_a_load_in_percent_is_noticed_everywhere():
    """80 for 80 %: a queue that is offered 80 times what it can serve."""
    loads = arguments(lambda p: p.name == "utilization")
    assert len(loads) > 25
    for formula, name in loads:
        given = BASE[formula][name]
        answer = asked(formula, **{name: [80.0] * len(given) if isinstance(given, list) else 80.0})
        assert answer is None or answer[1], formula


def test_an_ip_packet_ends_at_65535_bytes():
    """Published: RFC 791, 3.1 (total length of 16 bits); RFC 8200, 3, without jumbograms."""
    is_packet = lambda p: "IP packet" in p.description and p.unit == "byte"  # noqa: E731
    may = {
        # the MTU of Linux' loopback is 65,536; no larger packet comes of it
        *(("fragmentation." + name, "mtu_bytes")
          for name in ("fragment_count", "fragments_bytes", "fragmented_bytes",
                       "fragmented_wire_bytes")),
    }  # fmt: skip
    assert silences(is_packet, 65_536.0 + 16.0) == may


def test_a_window_beyond_tcp_is_noted():
    """Published: RFC 7323, 2.3; 65,535 bytes shifted by 14."""
    is_window = lambda p: "window" in p.name and p.name.endswith("_bytes")  # noqa: E731
    may = {("small_writes.nagle_may_send", "max_window_bytes")}  # yes or no
    assert silences(is_window, 2.0**31) <= may


def test_a_timeout_below_the_round_trip_is_noted():
    both = [
        name
        for name, formula in FORMULAS.items()
        if {"rtt_s", "srtt_s"} & {p.name for p in formula.parameters}
        and {"rto_s", "syn_timeout_s", "max_rto_s"} & {p.name for p in formula.parameters}
    ]
    assert len(both) >= 8
    for name in both:
        timeout = next(
            p.name for p in FORMULAS[name].parameters
            if p.name in ("rto_s", "syn_timeout_s", "max_rto_s")
        )  # fmt: skip
        assert "timeout-below-round-trip" in asked(name, **{timeout: 1e-3})[1], name


def test_numbers_of_things_are_whole():
    kinds = ("_count", "fragments")
    is_count = lambda p: p.name.endswith(kinds) and p.unit == "1"  # noqa: E731
    assert silences(is_count, 2.5) == {("multiplexing.busy_hour_erlang", "call_count")}  # a mean
    windows = silences(lambda p: p.name == "window_packets", 2.5)
    assert windows == {("pftk.pftk_timeout_ratio", "window_packets")}  # a mean


def draws(name, count=150):
    """Yield valid arguments, several of them at their limits at a time, and the answer."""
    rng = random.Random(f"limits of {name}")
    for _ in range(count):
        given = signs.arguments(rng, name, FORMULAS[name].function)
        answer = asked(name, **given)
        if answer is not None:
            yield given, *answer


SHARES = [name for name, one in FORMULAS.items()
          if one.unit == "ratio" and name != "growth.annual_growth"]  # fmt: skip
"""Formulas of a share; a growth may be above 1."""


@pytest.mark.slow
@pytest.mark.each("name", SHARES)
def test_no_share_is_above_1_without_a_word(name):
    for given, parts, notes in draws(name):
        largest = max((float(np.nanmax(p, initial=0.0)) for p in parts), default=0.0)
        assert largest <= 1 + 1e-9 or notes, (given, largest)


LINES = [
    name
    for name, one in FORMULAS.items()
    if one.unit == "bit/s"
    and "bandwidth_bps" in {p.name for p in one.parameters}
    and name != "ceilings.path_ceilings"  # each limit by itself, whatever the line
]


@pytest.mark.each("name", LINES)
def test_no_line_carries_more_than_itself_without_a_word(name):
    for given, parts, notes in draws(name):
        line = given.get("bandwidth_bps", math.inf)
        most = line if np.isscalar(line) else np.max(line)
        largest = max((float(np.nanmax(p, initial=0.0)) for p in parts), default=0.0)
        assert largest <= most * (1 + 1e-9) or notes, (given, largest)
