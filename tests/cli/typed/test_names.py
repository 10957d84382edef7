"""Names that people type: of formulas, of options, of values; numbers derived by hand."""

from __future__ import annotations

import json
import math

import pytest

from tests.cli.test_commands import assert_mistake, netcalc


def answer(*words):
    """Return the number of an answer, and what is said beside it."""
    done = netcalc(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["result"], done.stderr


@pytest.mark.each(
    ("words", "value", "said"),
    [
        # derived: the bits of the rate in a round trip
        (["calc", "BDP", "1G", "10ms"], 1e9 * 0.01 / 8, ""),
        (["calc", "bandwidth delay product", "1G", "10ms"], 1e9 * 0.01 / 8, ""),
        (["calc", "bdp", "1Gbps,", "40ms"], 1e9 * 0.04 / 8, ""),
        (["calc", "bdp", "1G", "--RTT", "10ms"], 1e9 * 0.01 / 8, ""),
        (
            ["calc", "bdp", "1G", "--latency", "20ms"],
            2.5e6,
            "--latency is read as --rtt, the round",
        ),
        # derived: the bits of the size into the rate, and half of the round trip
        (["transfer", "1MB", "8Mbps", "--rtt", "60ms"], 1.03, "read as --latency 30 ms, one way"),
        (["transfer", "1MB", "8Mbps", "--rtt=60ms"], 1.03, "read as --latency 30 ms, one way"),
        # derived: rho/(1 - rho) of the service time, rho = lambda/mu
        (["calc", "mm1-wait", "--lambda", "800/s", "--mu", "1000/s"], 4e-3, "--service 1 ms"),
        (["calc", "mm1-wait", "--mu=1000", "--lambda", "800"], 4e-3, "--utilization 0.8"),
        # published: RFC 7348: 50 bytes of outer headers; WireGuard over IPv4: 20 + 8 + 32
        (["calc", "vxlan", "1500"], 1450, "--stack vxlan is read as vxlan4"),
        (["calc", "wireguard", "1500"], 1440, "--stack wireguard is read as wireguard4"),
        # derived: 64 kbit/s for 20 ms, and 78 bytes of RTP, UDP, IP, Ethernet, preamble and gap
        (["calc", "voip", "64kbps", "20ms"], 50 * 8 * (160 + 78), "64kbps is read as 160 B"),
        # derived: 2 of 3: 3 A^2 (1 - A) + A^3
        (["calc", "k-of-n-availability", "99.9%", "--n", "3", "--k", "2"], 0.999997002, ""),
        # derived: the sum over the root of the count times the sum of squares
        (["calc", "jain", "10M", "20M", "30M"], 3600 / (3 * 1400), ""),
        (["calc", "parallel-availability", "99%", "99%"], 0.9999, ""),
        # derived: twice up and down at the speed of light: 4 x 35,786 km / c
        (["calc", "satellite-rtt", "geo"], 4 * 35_786e3 / 299_792_458, "geo is read as 35790 km"),
        (["calc", "propagation", "300km", "--medium", "vacuum"], 3e5 / 299_792_458, ""),
        # derived: 1 - (1 - p)^bits
        (["calc", "ber", "--ber", "1e-6", "--frame", "125"], 1 - (1 - 1e-6) ** 1000, ""),
        # published: RFC 8200: 40 bytes of header, RFC 7323: 12 of options, of the 1538 on the wire
        (["calc", "goodput", "1G", "--mtu", "1500", "--ipv6"], 1e9 * 1428 / 1538, ""),
        (["calc", "growth", "1G", "--growth", "100%", "--elapsed", "2y"], 4e9, ""),
    ],
)
def test_what_people_call_things_is_understood(words, value, said):
    result, errors = answer(*words)
    assert result == pytest.approx(value, rel=1e-9)
    assert said in errors


def test_values_of_one_unit_are_said_by_their_names():
    _, errors = answer("calc", "overload", "35", "10%", "10")
    assert "the values are read as --active-count 35, --user-count 10" in errors
    _, errors = answer("calc", "bdp", "1G", "10ms")
    assert errors == ""


@pytest.mark.each(
    ("words", "said"),
    [
        (["calc", "rtt", "6000km"], ["a distance", "netcalc calc propagation 6000km"]),
        (["calc", "bdp", "1G", "6000 km"], ["netcalc calc propagation 6000 km"]),
        (
            ["calc", "convert", "12", "MB/s"],
            ["a command of netcalc, not a formula", "netcalc convert"],
        ),
        (["calc", "transfer", "1MB", "1G", "--rtt", "3 B"], ["--rtt 3 B", "half", "--latency"]),
        (["calc", "mm1-wait", "--lambda", "8", "--mu", "0"], ["greater than 0, got 0"]),
        (["calc", "mm1-wait", "--lambda", "800/s"], ["no option --lambda"]),
        (["calc", "tunnel-goodput", "ipsec"], ["--bandwidth is required"]),
        (["calc", "tunnel-overhead", "1500", "--mss", "1460"], ["no option --mss"]),
        (["plan", "backup", "2TB", "--window", "8h", "--rate", "1G"], ["a time", "--in or --rtt"]),
        (["explain", "1G 20ms", "--speed", "2G", "--line", "1 foo"], ["--line", "foo"]),
        (["convert", "1 GEE"], ["Did you mean"]),
    ],
)
def test_what_is_refused_comes_with_what_to_write(words, said):
    assert_mistake(netcalc(*words), *said)


@pytest.mark.each(
    ("words", "same"),
    [
        (
            ["transfer", "--size", "10", "GB", "--bw", "1", "Gbit/s", "--ping", "40", "ms"],
            ["transfer", "10GB", "--rate", "1Gbit/s", "--rtt", "40ms"],
        ),
        (
            ["link", "--users=500", "--per-user", "2Mbps", "--active", "0.1", "--quantile", "p95"],
            ["link", "500", "--each", "2Mbit/s", "--active", "10%", "--percentile", "95%"],
        ),
        (
            ["buffer", "--bw", "10G", "--RTT", "100ms", "--connections", "1000"],
            ["buffer", "10Gbit/s", "--rtt", "100ms", "--flows", "1000"],
        ),
        (
            ["voice", "1200/h", "--aht", "180s", "--gos", "1%"],
            ["voice", "1200 calls/h", "--holding", "3min", "--blocking", "1%"],
        ),
        (["tunnel", "gre,ipsec"], ["tunnel", "gre+esp4:aes-gcm-16"]),
        (
            ["backup", "2TB", "--deadline", "8h", "--speed", "1G", "--rtt", "5ms", "--cc", "reno"],
            ["backup", "2TB", "--in", "8h", "--rate", "1G", "--rtt", "5ms", "--algorithm", "reno"],
        ),
    ],
)
def test_a_plan_takes_the_names_of_the_field(words, same):
    done = netcalc("plan", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout == netcalc("plan", *same).stdout


def test_a_search_needs_no_quotes():
    quoted = netcalc("calc", "--search", "how many calls", "--json").stdout
    assert netcalc("calc", "--search", "how", "many", "calls", "--json").stdout == quoted
    assert_mistake(netcalc("calc", "--search"), "--search requires a value")


def test_convert_knows_rates_by_the_names_of_ethernet():
    assert netcalc("convert", "100GE", "Gbit/s").stdout == "100 Gbit/s\n"
    assert netcalc("convert", "2", "years", "months").stdout == "24 months\n"


@pytest.mark.each(
    ("words", "value"),
    [
        # derived: the bits of the rate in a round trip
        (["calc", "bdp", "rtt=40ms", "bw=10G"], 1e10 * 0.04 / 8),
        (["calc", "bdp", "--gbps", "10", "--ms", "40"], 1e10 * 0.04 / 8),
        (["calc", "bdp", "10G", "@", "40ms"], 1e10 * 0.04 / 8),
        (["calc", "bdp", "250 GB/h", "72s"], 250e9 / 50),
        # published: RFC 7348, 50 bytes; RFC 4303 with AES-GCM: 20 + 8 + 8 + 2 + 16 and padding to 4
        (["calc", "tunnel-overhead", "1400", "vxlan", "over", "ipsec"], 104),
        (["calc", "growth", "1G", "--growth", "20%/year", "--years", "2"], 1.44e9),
        (["calc", "annual-growth", "--from", "1G", "--to", "4G", "--years", "2"], 1.0),
        # derived: B log2(1 + 1000)
        (["calc", "shannon", "--khz", "3", "--db", "30"], 3000 * math.log2(1001)),
        (["calc", "frame-rate", "64-byte", "1G"], 1e9 / (8 * 84)),
        (["calc", "mg1-wait", "0.5", "--service", "1ms", "--scv", "0"], 0.5e-3),
        (["calc", "core-rate", "300", "--clock", "3GHz", "--cores", "2"], 2e7),
        # derived: 500 of 100 Mbit/s into 10 Gbit/s
        (["calc", "oversubscription", "500", "--rate", "100M", "--uplink", "10G"], 5),
        (["calc", "frame-error", "1e-6", "--size", "125-byte"], 1 - (1 - 1e-6) ** 1000),
    ],
)
def test_what_is_typed_in_another_form_is_understood(words, value):
    result, _ = answer(*words)
    assert result == pytest.approx(value, rel=1e-9)


def test_a_range_keeps_its_equals_sign():
    done = netcalc("calc", "bdp", "1G", "--sweep", "rtt=10ms,20ms", "--csv")
    assert [row.split(",")[1] for row in done.stdout.split()[3:]] == ["1250000", "2500000"]


def test_a_load_below_one_erlang_is_said():
    _, errors = answer("calc", "mmc-wait", "0.8", "--c", "4", "--service", "10ms")
    assert "0.8 is read as a load in erlang, 20% of 4 servers" in errors
