"""``netcalc explain`` of a path: one answer for the time and for the rate, whatever limits."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from netcalc import explain
from netcalc.cli import commands, main
from netcalc.errors import DomainError
from netcalc.path import Path


def run(*arguments):
    return CliRunner().invoke(commands, ["explain", *arguments])


def document(*arguments):
    done = run(*arguments, "--json")
    assert done.exception is None, done.exception
    return json.loads(done.output)


@pytest.mark.each(
    ("options", "name", "time_s", "tolerance", "source"),
    [
        # derived: 10^4 segments before the first loss, the rest at 131 segments of 1448 B in 40 ms,
        # the square-root law with the 1.31 of random losses (Mathis 1997, table 1) at 0.01 %
        (["--loss", "0.01%", "--algorithm", "reno"], "loss", 208.3, 0.01, "derived: Reno"),
        (
            ["--loss", "0.01%", "--algorithm", "cubic"],
            "loss",
            208.3,
            0.01,
            "derived: CUBIC, there as Reno",
        ),
        # derived: 64 KiB in each round trip of 40.0124 ms
        (["--window", "64KiB"], "window", 610.6, 0.001, "derived: a window a round trip"),
        # derived: 1448 of 1538 B of 1 Gbit/s, and nine rounds in which the window grows
        (
            ["--loss", "0.01%", "--algorithm", "bbr"],
            "line",
            8.86,
            0.001,
            "derived: BBR has the line",
        ),
        ([], "line", 8.86, 0.001, "derived: the line"),
    ],
)
def test_the_time_and_the_rate_name_one_limit(options, name, time_s, tolerance, source):
    found = document("1 Gbit/s 20 ms", "--size", "1GB", *options)
    transfer, rate = found["transfer"], found["rate"]
    assert transfer["total_s"] == pytest.approx(time_s, rel=tolerance), source
    assert transfer["parts"][0]["name"] == rate["ceilings"][0]["name"] == name
    assert sum(part["time_s"] for part in transfer["parts"]) == pytest.approx(transfer["total_s"])
    # identity: no transfer is faster than its rate
    assert transfer["total_s"] > 8e9 / rate["rate_bps"] * 0.98
    assert rate["layer"] == "TCP payload"


def test_the_formula_and_the_explanation_are_one_model():
    explained = document("1GB", "1 Gbit/s 20 ms", "--loss", "0.01%", "--algorithm", "cubic")
    rtt_s = explained["rate"]["rtt_s"]
    asked = ["calc", "transfer-time", "1GB", "--bandwidth", "1Gbit/s", "--rtt", f"{rtt_s!r} s",
             "--loss", "0.01%", "--json"]  # fmt: skip
    alone = json.loads(CliRunner().invoke(commands, asked).stdout)
    assert alone["result"] == pytest.approx(explained["transfer"]["total_s"], rel=1e-12)


def test_other_congestion_controls_are_beside_it():
    found = document("10 Gbit/s 20 ms", "--loss", "1ppm", "--algorithm", "cubic", "--size", "1TB")
    rates = found["rate"]["by_congestion_control"]
    assert {one["layer"] for one in rates.values()} == {"TCP payload"}
    by_control = {name: one["rate_bps"] for name, one in rates.items()}
    # derived: RFC 9438 eq. 5, Mathis with 1.31 at 40 ms, payload of 1448 B; BBR has the line
    assert by_control["cubic"] == pytest.approx(863.1e6, rel=1e-3)
    assert by_control["reno"] == pytest.approx(1310 * 1448 * 8 / 0.04, rel=2e-3)
    assert by_control["bbr"] == pytest.approx(10e9 * 1448 / 1538, rel=1e-4)
    times = found["transfer"]["by_congestion_control"]
    assert times["bbr"] < times["cubic"] < times["reno"]
    shown = run("1 Gbit/s 20 ms", "--loss", "0.01%", "--size", "1GB", "--algorithm", "bbr").output
    assert "with CUBIC it takes 208.4 s, with Reno 208.4 s" in shown
    assert "BBR 941.4 Mbit/s (TCP payload)" in shown


def test_flows_share_the_path():
    one, four = (
        document("1 Gbit/s 20 ms", "--window", "64KiB", "--flows", flows) for flows in ("1", "4")
    )
    # identity: four windows
    assert four["rate"]["rate_bps"] == pytest.approx(4 * one["rate"]["rate_bps"])


@pytest.mark.each(
    ("text", "name", "said"),
    [
        ("bbr\n", "BBR", "which this system uses"),
        ("cubic\n", "CUBIC", "which this system uses"),
        ("htcp\n", "CUBIC", "there is no model here for this system's htcp"),
        (None, "CUBIC", "default of Linux"),
    ],
)
def test_the_congestion_control_of_the_system_counts(text, name, said, tmp_path, monkeypatch):
    at = tmp_path / (text or "none").strip()
    if text is not None:
        at.write_text(text, encoding="ascii")
    monkeypatch.setattr("netcalc.cli.explain._OF_SYSTEM", str(at))
    shown = run("1 Gbit/s 20 ms", "--loss", "0.01%", "--size", "1GB").output
    assert shown.startswith(f"With {name} ")
    assert said in shown
    assert "the timeout is 240 ms (the round trip plus the 200 ms of Linux)" in shown
    assert "one segment for each one acknowledged" in shown
    given = run("1 Gbit/s 20 ms", "--loss", "0.01%", "--algorithm", "reno").output
    assert said not in given, "it was asked for"


def test_a_round_trip_below_that_of_the_path_is_refused():
    refused = run("1 Gbit/s 20 ms", "--rtt", "5ms").exception
    assert isinstance(refused, DomainError)
    assert refused.code == "below-path-rtt"
    assert refused.values["low"] == pytest.approx(0.04)
    # a small packet is faster than a full one, which is no mistake
    assert document("T1 5 ms", "--rtt", "10.1ms")["rate"]["rtt_s"] == pytest.approx(0.0101)


def test_one_link_has_no_others():
    for path in ("1 Gbit/s 20 ms", "T1 5 ms"):
        assert "store-and-forward" not in run(path, "--size", "1MB").output
        names = [part.name for part in explain.transfer(1e6, path=Path.parse(path)).parts]
        assert "store-and-forward" not in names


def test_flows_are_of_a_path(tmp_path):
    refused = run("--claim", "94 Mbit/s", "--line", "100Mbit/s", "--flows", "2")
    assert refused.exception.code == "option-of-path"


def test_a_t1_is_said_to_count_as_an_ethernet():
    for options in ([], ["--size", "1MB"], ["--loss", "1%", "--algorithm", "reno"]):
        shown = run("T1 5 ms", *options).output
        assert shown.count("T1 is treated as an Ethernet of 1.544 Mbit/s (line)") == 1
    assert "is treated as an Ethernet" not in run("10 Mbit/s 5 ms").output


def test_json_has_the_notes_of_the_text(capsys):
    """Derived: 1e9/1448 segments, of which 0.01% are lost."""
    asked = ["explain", "1GB", "1 Gbit/s one way 20 ms", "--loss", "0.01%"]
    with pytest.raises(SystemExit):
        main(asked)
    said = capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*asked, "--json"])
    printed = capsys.readouterr()
    [notice] = json.loads(printed.out)["notices"]
    assert f"{1e9 / 1448 * 1e-4:.4g} expected losses" in notice["text"]
    assert said == printed.err == f"netcalc: note: {notice['text']}.\n"
    assert document("1 Gbit/s 20 ms")["notices"] == []


def test_a_path_with_a_round_trip_is_that_of_half_as_much_one_way():
    half = document("4TB", "10G 40ms", "--window", "64KiB")
    for words in (
        ["10G rtt 80ms"],
        ["rtt", "80", "ms", "10G"],
        ["10", "Gbit/s", "80", "ms", "rtt"],
    ):
        assert document("4TB", *words, "--window", "64KiB") == half


def test_how_a_latency_was_read_is_said_once_below_the_answer():
    said = CliRunner().invoke(commands, ["explain", "4TB", "10G 80ms"])
    assert said.stderr.count("80 ms read as one way: round trip 160 ms") == 1
    assert said.output.rstrip().endswith("write rtt 80 ms")
    planned = CliRunner().invoke(commands, ["plan", "transfer", "1GB", "--path", "10G rtt 80ms"])
    assert planned.stderr == "netcalc: note: 80 ms read as round trip: 40 ms one way\n"
    for words in (["--json"], ["--claim", "9 Gbit/s", "--json"]):
        assert CliRunner().invoke(commands, ["explain", "10G 80ms", *words]).stderr == ""
    claimed = CliRunner().invoke(commands, ["explain", "10G 80ms", "--claim", "9 Gbit/s"])
    assert "read as one way" in claimed.stderr


HOW_LONG = ("calc transfer", "calc transfer-time", "explain", "plan transfer")


@pytest.mark.each("command", HOW_LONG)
def test_the_four_commands_that_say_how_long_name_each_other(command):
    shown = CliRunner().invoke(commands, [*command.split(), "--help"]).output
    said = " ".join(shown.split())
    for other in HOW_LONG:
        name = f"{other} (" if other != "explain" else "explain SIZE PATH ("
        assert (name in said) == (other != command), other


def test_a_time_with_a_limit_names_the_commands_that_say_why():
    asked = ["calc", "transfer-time", "4TB", "10G", "80ms"]
    assert "plan transfer" in CliRunner().invoke(commands, [*asked, "--window", "64KiB"]).stderr
    for more in ([], ["--window", "64KiB", "--json"], ["--window", "64KiB", "--explain"]):
        assert "plan transfer" not in CliRunner().invoke(commands, [*asked, *more]).stderr
