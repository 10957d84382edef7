"""Lines that engineers typed in vain: the answer, or the line that gives it."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.errors import DomainError
from tests.cli.test_commands import netcalc


def invoke(line):
    return CliRunner().invoke(commands, shlex.split(line))


REFUSED = [
    ("calc transfer 4TB --bandwidth 10G --rtt 80ms --window 64KiB", "option-of-no-argument",
     "calc transfer-time 4TB --bandwidth 10G --rtt 80ms --window 64KiB"),
    ("calc transfer 4TB 10G --loss 1%", "option-of-no-argument",
     "calc transfer-time 4TB --bandwidth 10G --rtt RTT --loss 1%"),
    ("calc transfer 50TB --in 60h", "option-of-no-argument",
     "calc transfer 50TB --latency LATENCY --solve bandwidth --for 60h"),
    ("calc mathis 0.01% --flows 8 --rtt 50ms", "option-of-no-argument",
     "calc congestion-limit 0.01% --rtt 50ms --flow-count 8"),
    ("calc mm1-wait 85% --service 1ms --percentile 99%", "option-of-no-argument",
     "calc mm1-wait-percentile 85% --service 1ms --quantile 99%"),
    ("calc mss 1500 --tunnel vxlan", "option-of-no-argument",
     "calc tunnel-tcp-payload 1500 --stack vxlan"),
    ("calc availability 99.9% 99.9%", "unit-of-other-kind",
     'calc parallel-availability "99.9%; 99.9%"'),
]  # fmt: skip


@pytest.mark.each(("line", "code", "right"), REFUSED)
def test_what_a_formula_does_not_take_is_typed_anew_for_the_one_that_does(line, code, right):
    error = invoke(line).exception
    assert error.code == code
    assert f"netcalc {right}" in error.values["suggestions"]
    complete = re.sub(r"\b[A-Z]{3,}\b", "80ms", right)  # what is in capitals has to be filled in
    assert invoke(complete).exit_code == 0


@pytest.mark.each("line", [
    "calc transfer 4TB 10G 80ms --bogus 7",
    "calc echo-rtt 1400B --loss 1%",  # no other formula has user data of an echo and a loss
    "calc propagation 30ms",
    "calc transfer --window '$(touch x)' 4TB",
])  # fmt: skip
def test_nothing_is_proposed_where_nothing_takes_it(line):
    assert not invoke(line).exception.values.get("suggestions")


@pytest.mark.each(("line", "right"), [
    ("plan tunnel wireguard pppoe", "pppoe+wireguard4"),
    ("calc tunnel-mtu 1500B --stack wireguard,pppoe", "pppoe+wireguard4"),
    ("plan tunnel wireguard+pppoe+vlan", "tag+pppoe+wireguard4"),
])  # fmt: skip
def test_a_stack_in_an_impossible_order_is_answered_with_the_possible_one(line, right):
    error = invoke(line).exception
    assert isinstance(error, DomainError)
    assert (error.code, error.values["suggestions"]) == ("only-on-ethernet", [right])
    assert invoke(f"plan tunnel {right}").exit_code == 0


def test_an_order_that_no_stack_has_is_refused_without_a_proposal():
    assert invoke("plan tunnel pppoe pppoe").exception.values["suggestions"] == []


@pytest.mark.each("line", [
    "calc tunnel-mtu 1500 --stack pppoe wireguard",
    "calc tunnel-mtu 1500 --stack 'pppoe wireguard'",
    "calc tunnel-mtu 1500 pppoe wireguard",
])  # fmt: skip
def test_layers_are_words(line):
    """Derived: 1500 B less 8 (PPPoE, RFC 2516) and 60 (IPv4, UDP and WireGuard)."""
    assert netcalc(*shlex.split(line)).stdout == "1432 B\n"


@pytest.mark.each(("line", "expected"), [
    # A frame of 1500 B takes 1520 B of the line with preamble and gap: 1.216 us, times 0.85 / 0.3.
    ("calc md1-wait 85% --rate 10Gbit/s --frame 1500B", "3.445 µs"),
    ("calc md1-wait 85% --bandwidth 10G --packet 1482", "3.445 µs"),  # 18 B of header and FCS
    ("calc mm1-wait 85% --rate=10G --wire=1500", "6.8 µs"),  # 1.2 us times 0.85 / 0.15
    ("calc mm1-customers --lambda 800/s --mu 1000/s", "4"),
    ("calc trunks --calls-per-hour 500 --holding 3min --blocking 1%", "36"),  # of 25 E: Erlang B
])  # fmt: skip
def test_two_quantities_give_the_argument_of_a_queue(line, expected):
    answered = netcalc(*shlex.split(line))
    assert answered.stdout == f"{expected}\n"
    assert " is read as --" in answered.stderr


@pytest.mark.each(("line", "code", "suggestions"), [
    ("calc md1-wait 85% --rate 10G", "option-of-no-argument", ["--rate 10G --frame FRAME"]),
    ("calc trunks --calls-per-hour 500 --blocking 1%", "option-of-no-argument",
     ["--calls-per-hour 500 --holding HOLDING"]),
    ("calc md1-wait 85% --rate 0 --frame 1500", "not-positive", None),
    ("calc md1-wait 85% --rate 10G --frame 0", "not-positive", None),
    ("calc sneakernet 9 20TB --distance 5km --speed 0m/s", "not-positive", None),
    ("calc md1-wait 85% --rate 10G --frame 1s", "unit-of-other-kind", None),
    ("calc mm1-wait --utilization 0.5 --lambda 1 --mu 2", "argument-typed-twice", None),
    ("calc mm1-wait --rho=0.5 --lambda 1 --mu 2", "argument-typed-twice", None),
    ("calc md1-wait 85% --rate 10G --frame 64B --service 1ms", "argument-typed-twice", None),
])  # fmt: skip
def test_one_of_two_quantities_names_the_other(line, code, suggestions):
    error = invoke(line).exception
    assert (error.code, error.values.get("suggestions")) == (code, suggestions)


@pytest.mark.each(("line", "count"), [
    ("plan voice --calls 200", 200), ("plan voice '10,000 concurrent calls'", 10_000),
    ("plan voice --concurrent 200", 200), ("plan voice '200 calls'", 200),
])  # fmt: skip
def test_calls_at_the_same_time_are_planned(line, count):
    """Derived: 95.2 kbit/s of G.711 on Ethernet and 50 packets a second for each."""
    answers = json.loads(invoke(f"{line} --json").stdout)["answers"]
    assert answers["calls_line_bps"]["value"] == pytest.approx(95_200 * count)
    assert answers["calls_rate_pps"]["value"] == pytest.approx(50 * count)


@pytest.mark.each(("line", "code"), [
    ("plan voice 200", "calls-ambiguous"),
    ("plan voice 1200calls/h --concurrent 3", "calls-or-erlang"),
    ("plan voice --concurrent 1.5", "not-whole"), ("plan voice --concurrent 0", "not-whole"),
    ("plan voice --concurrent 1e300", "above-maximum"),
    ("plan voice '99999999999999999999 calls'", "above-maximum"),
    ("plan voice '1,5 calls'", "unit-unknown"),
])  # fmt: skip
def test_calls_that_cannot_be_are_refused(line, code):
    assert invoke(line).exception.code == code


def test_a_formula_has_the_rate_of_several_calls():
    assert netcalc("voip-bandwidth", "G.711", "--calls", "200").stdout.startswith("19.04 Mbit/s")


def test_a_word_for_another_argument_is_no_slip_of_one():
    """--servers is no misspelling of --service, and a lone option proposes nothing."""
    error = invoke("calc mm1-wait 85% --service 1ms --servers 4").exception
    assert error.code == "option-of-no-argument"
    assert "suggestions" not in invoke("calc transfer 4TB --window").exception.values
