"""``netcalc calc`` with ranges in, over one argument or solved for one."""

from __future__ import annotations

import csv
import io
import json
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from click.testing import CliRunner

from netcalc.cli import commands

TRANSFER = ["calc", "transfer", "1MB"]
SWEPT = [*TRANSFER, "--latency", "20..40ms", "--sweep", "bandwidth=1Mbit/s:8Mbit/s:2"]
SOLVED = [*TRANSFER, "--latency", "200..600ms", "--solve", "bandwidth", "--for", "1s"]


def run(*arguments):
    return CliRunner().invoke(commands, arguments, catch_exceptions=True)


def test_a_sweep_has_a_column_for_each_percentile():
    """Derived: 8 s and 1 s for the bits, and of 20 to 40 ms the percentiles 21, 30 and 39 ms."""
    lines = run(*SWEPT).stdout.splitlines()
    assert lines[0] == "transfer over bandwidth"
    assert lines[1].split() == ["bandwidth", "p5", "median", "p95"]
    assert lines[3].split() == ["8", "Mbit/s", "1.021", "s", "1.03", "s", "1.039", "s"]


def test_whole_numbers_of_a_range_are_said_of_counts_as_of_schemes():
    """Definition: there is no half a server."""
    for words, name in (
        (["erlang-b", "8..12", "--server-count", "10..12"], "server count"),
        (["wifi-rate", "7..9"], "mcs"),
    ):
        assert f"note: {name} is drawn as whole numbers" in run("calc", *words).stderr
    assert "whole numbers" not in run("calc", "erlang-b", "8..12", "--server-count", "12").stderr


def test_json_has_a_list_for_each_percentile():
    found = json.loads(run(*SWEPT, "--json", "--draws", "4096", "--seed", "2").stdout)
    assert found["result"]["median"] == pytest.approx([8.03, 1.03], abs=1e-5)
    assert (found["sweep"], found["values"]) == ("bandwidth_bps", [1e6, 8e6])
    assert (found["draws"], found["seed"], found["unit"]) == (4096, 2, "s")
    assert found["arguments"]["latency_s"] == "20 ms..40 ms"


def test_csv_has_a_column_for_each_percentile():
    rows = list(csv.reader(io.StringIO(run(*SWEPT, "--csv").stdout)))
    assert rows[0] == ["bandwidth_bps [bit/s, line]", "transfer_s p5 [s]", "transfer_s median [s]",
                       "transfer_s p95 [s]"]  # fmt: skip
    assert float(rows[2][3]) == pytest.approx(1.039, abs=1e-5)


def test_a_list_of_values_is_a_sweep():
    """Derived: 8 s and 16 s for the bits."""
    done = run("calc", "transfer", "1MB,2MB", "--latency", "20..40ms", "--bandwidth", "1Mbit/s")
    assert [line.split()[-2] for line in done.stdout.splitlines()[2:]] == ["8.039", "16.04"]


def test_two_sweeps_have_a_band_for_each_value_of_the_second():
    """Derived: as above, of one and two million bytes."""
    done = run(*SWEPT[:2], *SWEPT[3:], "--sweep", "payload=1MB:2MB:2", "--json")
    found = json.loads(done.stdout)
    assert found["sweep"] == ["payload_bytes", "bandwidth_bps"]
    assert found["values"] == [[1e6, 2e6], [1e6, 8e6]]
    assert found["result"]["median"][0] == pytest.approx([8.03, 1.03], abs=1e-5)
    assert found["result"]["median"][1] == pytest.approx([16.03, 2.03], abs=1e-5)
    heading = run(*SWEPT[:2], *SWEPT[3:], "--sweep", "payload=1MB:2MB:2").stdout.splitlines()[1]
    assert "median at 2 MB" in heading


@pytest.mark.each("suffix", ["html", "svg", "png"])
def test_a_band_is_drawn(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    done = run(*SWEPT, "--plot", str(path))
    assert done.exit_code == 0, done.output
    if suffix == "png":
        assert path.read_bytes().startswith(b"\x89PNG\r\n")
        return
    text = path.read_text(encoding="utf-8")
    if suffix == "svg":
        text = "".join(ElementTree.parse(path).getroot().itertext())
    for part in ("p5 to p95", "Band: p5 to p95 of 10,000 draws", "latency 20 ms..40 ms"):
        assert part in text


def test_a_solution_has_percentiles():
    """Derived: 8 Mbit in 1 s less 220, 400 and 580 ms."""
    assert run(*SOLVED).stdout.splitlines() == [
        "p5: 10.26 Mbit/s (line)", "median: 13.33 Mbit/s (line)", "p95: 19.05 Mbit/s (line)",
    ]  # fmt: skip


def test_the_share_without_a_solution_is_said():
    """Derived: of 0.5 to 1.5 s, half is above the time of 1 s."""
    more = [*TRANSFER, "--latency", "500..1500ms", "--solve", "bandwidth", "--for", "1s"]
    assert run(*more).stdout.splitlines()[-1] == "no solution in 50% of the draws"
    found = json.loads(run(*more, "--json").stdout)
    assert found["share_without_solution"] == pytest.approx(0.5, abs=1e-3)
    assert found["last"] is None


def test_no_solution_in_any_draw_is_an_exit_code():
    done = run(*SOLVED[:-3], "bandwidth=1Mbit/s:2Mbit/s", "--for", "1s")
    assert done.exit_code == 1
    assert done.stdout == "no solution in [1 Mbit/s, 2 Mbit/s] in any draw\n"


@pytest.mark.slow
def test_on_a_staircase_the_solution_is_an_interval():
    """Derived: the fourth round of windows w, 2 w, 4 w, 8 w goes from 7 w + 1 to 15 w."""
    done = run("calc", "rounds", "--initial-window-segments", "10..10.0001", "--solve", "segments",
               "--for", "4")  # fmt: skip
    assert done.stdout.splitlines()[1] == "median: 71 to 150"
    assert "200 draws" in done.stderr


@pytest.mark.each(
    ("arguments", "code"),
    [
        ([*SWEPT, "--bandwidth", "1..2Mbit/s"], "input-also-free"),
        ([*SOLVED, "--bandwidth", "1..2Mbit/s"], "input-also-free"),
        ([*SWEPT, "--dask", "local"], "options-exclusive"),
        ([*SOLVED, "--plot", "a.svg"], "options-exclusive"),
        ([*SOLVED, "--csv", "--json"], "options-exclusive"),
        ([*SWEPT, "--sweep", "bandwidth=1Mbit/s:2Mbit/s"], "swept-twice"),
        ([*SWEPT, "--sweep", "payload=1MB:2MB", "--sweep", "payload=1MB:2MB"], "too-many-sweeps"),
        ([*SWEPT[:2], *SWEPT[3:]], "is-required"),
        ([*SOLVED[:2], *SOLVED[3:]], "is-required"),
        ([*SWEPT, "--plot", "a.pdf"], "output-is-picture"),
        ([*TRANSFER, "--latency", "1..2ms", "--sweep", "bandwidth=0bit/s:1Mbit/s"], "not-positive"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, code):
    done = run(*arguments)
    assert getattr(done.exception, "code", None) == code


@pytest.mark.each("option", ["--sweep", "--solve"])
def test_the_examples_of_the_documentation_are_what_the_command_prints(option):
    text = (Path(__file__).parents[2] / "docs" / "uncertain.md").read_text(encoding="utf-8")
    examples = [part.partition("```")[0] for part in text.split("```text\n$ netcalc ")[1:]]
    [shown] = [one for one in examples if option in one.partition("\n")[0]]
    line, _, printed = shown.partition("\n")
    assert run(*shlex.split(line)).stdout == printed
