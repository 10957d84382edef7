"""The words of the command line: other names, values without one, tables, units, completion."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import pytest

from netcalc import calculator
from netcalc.calculator import names as _names
from netcalc.cli.options import joined
from netcalc.errors import UnitError
from netcalc.models.sizes.encapsulation import tunnel_mtu_bytes
from tests.cli.test_commands import assert_mistake, netcalc


def test_the_list_begins_with_fifteen_and_goes_on_by_chapter():
    lines = netcalc("calc", "--list").stdout.splitlines()
    assert lines[0] == "most needed"
    assert [line[:4] for line in lines[1:16]] == ["    "] * 15
    assert lines[16:19] == ["", "sizes", "  framing"]
    first = [line.split()[0] for line in lines[1:16]]
    assert first[:4] == ["transfer-time", "transfer", "fetch", "bdp"]
    every = {calculator.command(one) for one in calculator.formulas().values()}
    printed = [line.split()[0] for line in lines[19:] if line.startswith("    ")]
    assert sorted(printed) == sorted(every), "each once in its chapter"


def test_a_search_prints_the_best_first_and_counts_the_rest():
    lines = netcalc("calc", "--search", "tcp").stdout.splitlines()
    assert len(lines) == 13
    assert lines[-1].endswith("more; --json lists all")
    found = json.loads(netcalc("calc", "--search", "vxlan", "--json").stdout)
    assert found[0]["command"] == "tunnel-mtu"


def test_a_table_that_answers_comes_first_in_text_and_json():
    lines = netcalc("calc", "--search", "5G latency").stdout.splitlines()
    assert lines[0] == "published values: netcalc data access_latencies"
    assert lines[1].startswith("request-grant ")
    found = json.loads(netcalc("calc", "--search", "5G latency", "--json").stdout)
    assert found[0] == {"table": "access_latencies", "command": "data access_latencies"}
    assert [one["command"] for one in found[1:]] == ["request-grant"]
    assert netcalc(*found[0]["command"].split()).returncode == 0
    every = json.loads(netcalc("calc", "--list", "--json").stdout)
    assert not any("table" in one for one in every)


def test_what_is_told_is_written_as_it_is_typed():
    done = netcalc("calc", "wifi-rate", "7", "--channel", "33MHz")
    assert_mistake(done, "--channel must be one of 20 MHz, 40 MHz, 80 MHz, 160 MHz")
    nodes = ["--service", "1ms;1ms", "--from-node", "0,0", "--to-node", "1,0"]
    done = netcalc("calc", "jackson-sojourn", "30pps;1pps", *nodes, "--routing", "60%,60%")
    assert_mistake(done, "--routing adds up to 120% of what leaves node 0, which is more than 100%")
    done = netcalc("calc", "ofdm-throughput", "1500B", "--bandwidth", "54Mbit/s", "--explain")
    assert "ack_bps = the highest of them that is not above the data rate (default)" in done.stdout
    done = netcalc("congestion", "--preset", "wan-10m", "--set", "end_s=5")
    assert_mistake(done, "give an earlier warm_s, too")


def test_calc_may_be_left_out():
    # published: Stevens vol. 3: 5.21 s
    done = netcalc("transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms")
    assert (done.returncode, done.stdout) == (0, "5.211 s\n")
    assert_mistake(netcalc("trasnfer"), "calc transfer")
    assert_mistake(netcalc("raed"), "Did you mean read?")
    assert_mistake(netcalc("qqqq"), "netcalc --help")


def test_a_table_over_one_list_and_over_two():
    rtt = ["--rtt", "10ms,100ms"]
    assert netcalc("calc", "bdp", "--bw", "1G", *rtt).stdout.split() == [
        "rtt", "bdp", "10", "ms", "1.25", "MB", "100", "ms", "12.5", "MB",
    ]  # fmt: skip
    both = ["calc", "bdp", "--bw", "1G,10G", *rtt]
    lines = netcalc(*both).stdout.splitlines()
    assert lines[0] == "bdp over bandwidth, for each rtt"
    assert lines[1].split() == ["bandwidth", "10", "ms", "100", "ms"]
    assert lines[2].split() == ["1", "Gbit/s", "1.25", "MB", "12.5", "MB"]
    document = json.loads(netcalc(*both, "--json").stdout)
    assert document["sweep"] == ["rtt_s", "bandwidth_bps"]
    assert document["values"] == [[0.01, 0.1], [1e9, 1e10]]
    assert document["result"] == [[1.25e6, 12.5e6], [12.5e6, 125e6]]
    rows = list(csv.reader(io.StringIO(netcalc(*both, "--csv").stdout)))
    assert rows[0] == ["bandwidth_bps [bit/s]", "10 ms [byte]", "100 ms [byte]"]
    assert [float(cell) for cell in rows[2]] == [1e10, 12.5e6, 125e6]


def test_a_table_over_two_of_several_results_has_columns_for_each():
    both = ["datagram-mbufs", "100B,300B", "--header", "28B,60B"]
    lines = netcalc("calc", *both).stdout.splitlines()
    assert "mbufs at 100 B" in lines[1]
    assert "clusters at 300 B" in lines[1]


def test_a_family_of_curves(tmp_path):
    path = tmp_path / "family.html"
    sweeps = ["--sweep", "bw=10M:1G:log5", "--sweep", "latency=1ms,10ms"]
    done = netcalc("calc", "transfer", "1MB", *sweeps, "--plot", str(path))
    assert done.returncode == 0, done.stderr
    text = path.read_text(encoding="utf-8")
    assert "latency 1 ms" in text
    assert "latency 10 ms" in text


@pytest.mark.each(
    ("arguments", "said"),
    [
        (["bdp", "10ms,20ms", "1G", "--sweep", "rtt=1ms,2ms"], ["swept twice"]),
        (["transfer", "1MB,2MB", "--bw", "1G,2G", "--latency", "1ms,2ms"], ["two", "--sweep"]),
        (["bdp", "10ms,20ms", "--solve", "bw", "--for", "1MB"], ["--solve", "--rtt"]),
        (["packet-mix-wait", "0.5", "--hops", "64"], ["no option --hops", "--wire"]),
        (["mm1-wait", "0.5", "1ms", "2ms"], ["unexpected argument: 2ms"]),
        (["device-byte-cost", "1Mpps", "--rates", "1Mpps"], ["Did you mean --rate"]),
    ],
)
def test_what_is_too_much_is_refused(arguments, said):
    assert_mistake(netcalc("calc", *arguments), *said)


def test_a_name_for_two_arguments_is_refused_with_both():
    done = netcalc("calc", "ack-limited-throughput", "1 Mbit/s", "--mss", "1460", "--size", "84")
    assert_mistake(done, "no option --size", "--ack-wire")
    done = netcalc("calc", "delivered-goodput", "10", "1", "--p", "3")
    assert_mistake(done, "no option --p", "--write-count")
    done = netcalc("calc", "payload-throughput", "--size", "84", "--bw", "1G")
    assert_mistake(
        done,
        "--size of netcalc calc payload-throughput is ambiguous: it may be --payload or --wire",
    )


def test_numbers_and_units_are_put_together():
    assert joined(["1", "MB", "10", "Mbit/s"]) == ["1 MB", "10 Mbit/s"]
    assert joined(["--flows", "10", "flows", "5"]) == ["--flows", "10 flows", "5"]
    assert joined(["40", "megabits", "per", "second"]) == ["40 megabits per second"]
    assert joined(["1", "2", "3"]) == ["1", "2", "3"]


@pytest.mark.each(("name", "aliases"), _names.CHOICE_ALIASES.items())
def test_other_names_of_choices_are_names_of_choices(name, aliases):
    parameters = [p for f in calculator.formulas().values() for p in f.parameters if p.name == name]
    for alias, meant in aliases.items():
        for parameter in parameters:
            known = parameter.choices or _names.known_names(name)
            if meant in known or not known:
                assert parameter.read(alias) == parameter.read(meant) == meant
        assert any(meant in (p.choices or _names.known_names(name) or [meant]) for p in parameters)


@pytest.mark.each(("alias", "layers"), _names.LAYER_ALIASES.items())
def test_other_names_of_layers_are_layers(alias, layers):
    below = {"eth": "mpls+", "tag": "vxlan4+", "tag+tag": "vxlan4+"}.get(layers, "")
    stack = below + layers
    assert tunnel_mtu_bytes(1500, stack=stack) < 1500
    assert _names.stack(alias) == layers


def test_other_names_of_arguments_are_names_of_arguments():
    every = {p.short_name for f in calculator.formulas().values() for p in f.parameters}
    for alias, names in _names.ARGUMENT_ALIASES.items():
        assert not names or every & set(names), alias


@pytest.mark.each(
    ("words", "said"),
    [
        (["12", "MB/s", "Mbit/s"], "96 Mbit/s\n"),
        (["12 MB/s in Mbit/s"], "96 Mbit/s\n"),
        (["50%", "ratio"], "0.5 ratio\n"),
        (["1", "h"], "3.6e+12 ns\n3600000000 us\n3600000 ms\n3600 s\n60 min\n1 h\n"),
    ],
)
def test_convert(words, said):
    assert netcalc("convert", *words).stdout == said  # by the definitions of the units


def test_convert_to_json():
    document = json.loads(netcalc("convert", "12MB/s", "Mbit/s", "--json").stdout)
    assert document["si_value"] == 96e6
    assert document["results"] == [{"value": 96.0, "unit": "Mbit/s"}]


@pytest.mark.each(
    "words", [[], ["5 foo"], ["12", "MB/s", "bar"], ["fast"], ["1 mb"], ["1 MB", "b"]]
)
def test_convert_refuses(words):
    assert_mistake(netcalc("convert", *words))


@pytest.mark.each(
    ("name", "parameter", "text", "value"),
    [
        ("erlang-b", "offered_erlang", "33.3 E", 33.3),
        ("buffer-rule", "flow_count", "10k flows", 1e4),
        ("tcp-payload", "ip_version", "IPv6", 6.0),
        ("two-point-costs", "packet_count", "10,20", [10.0, 20.0]),
        ("affine-rate", "packet_cost", "25 us/packet", 25e-6),
        ("affine-rate", "packet_cost", "25us per packet", 25e-6),
        ("mm1-wait-percentile", "quantile", "99th percentile", 0.99),
        ("atm-wire", "fcs", "y", True),
        ("transfer", "latency", "0", 0.0),
    ],
)
def test_what_an_argument_makes_plain(name, parameter, text, value):
    assert calculator.formula(name).parameter(parameter).read(text) == pytest.approx(value)


@pytest.mark.each(
    ("name", "parameter", "text"),
    [
        ("transfer", "payload", "1500"),
        ("throughput", "window", "64"),
        ("frame-rate", "frame", "64.5"),
        ("frame-rate", "frame", "64b"),
        ("erlang-b", "offered_erlang", "33.3 V"),
    ],
)
def test_what_an_argument_leaves_open_is_refused(name, parameter, text):
    with pytest.raises(UnitError):
        calculator.formula(name).parameter(parameter).read(text)


def test_completion_offers_commands_and_formulas():
    def offered(words):
        done = subprocess.run(
            [sys.executable, "-m", "netcalc"],
            env={
                **os.environ, "_NETCALC_COMPLETE": "bash_complete", "COMP_WORDS": words,
                "COMP_CWORD": str(len(words.split()) - 1),
            },
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert offered("netcalc conv") == ["convert"]
    assert offered("netcalc calc tunnel-m") == ["tunnel-mtu"]
    assert "--latency" in offered("netcalc calc transfer --la")


def test_what_was_tried_for_other_arguments_is_not_said():
    found = netcalc("calc", "voip-call-count", "E1", "--payload", "20B")
    assert found.stderr.count("E1 is treated as an Ethernet") == 1


def test_a_missing_name_is_described_once():
    found = netcalc("calc", "round-trips")
    assert found.returncode == 2
    assert found.stderr.count("Transport of the request") == 1


def test_growth_and_repair_have_their_names_of_the_field():
    assert netcalc("calc", "availability", "--mtbf", "99h", "--mttr", "1h").stdout == "99%\n"
    grown = netcalc("calc", "exhaustion", "500Mbit/s", "--capacity", "1G", "--growth", "100%")
    own = netcalc("calc", "exhaustion", "500Mbit/s", "--capacity", "1G", "--annual-growth", "100%")
    assert grown.stdout == own.stdout
