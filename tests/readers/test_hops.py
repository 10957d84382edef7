"""Hops as rows: by hand from the fixtures, whose probes are read off the files by eye."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import plots
from netcalc.cli import commands
from netcalc.explain import Known
from netcalc.plots.measured import measured
from netcalc.readers import read
from netcalc.readers.paths.traces import hop_rows
from netcalc.samples import RttSamples, Table

INPUTS = Path(__file__).parent / "inputs"
LINUX, REPORT, PATHPING = (
    INPUTS / "paths" / name for name in ("traceroute_linux.txt", "mtr_lossy.txt", "pathping.txt")
)
TEXT = (
    "traceroute to 203.0.113.9 (203.0.113.9), 30 hops max, 60 byte packets\n"
    " 1  192.0.2.1  1.0 ms  2.0 ms  9.0 ms\n"
    " 2  198.51.100.1  30.0 ms  31.0 ms *\n"
    " 3  * * *\n"
    " 4  203.0.113.9  11.0 ms  12.0 ms  13.0 ms\n"
)


def test_a_row_has_the_probes_of_its_hop():
    """By hand from TEXT. Hop 2 takes 30 ms to answer, but hop 4 is reached in 11 ms: the path up
    to hop 2 takes 11 ms at most, 10 ms more than hop 1, and hop 4 adds nothing beyond."""
    one, two, three, four = hop_rows(read(TEXT))
    assert (one.hop, one.node, one.sent_count, one.loss_ratio) == (1, "192.0.2.1", 3, 0)
    assert (one.rtt_min_s, one.rtt_median_s) == (0.001, 0.002)
    assert one.rtt_max_s == pytest.approx(0.009)
    assert math.isnan(one.rtt_mean_s)
    assert (one.increase_s, one.answers_slowly) == (0.001, False)
    assert two.loss_ratio == pytest.approx(1 / 3)
    assert (two.rtt_median_s, two.answers_slowly) == (pytest.approx(0.0305), True)
    assert two.increase_s == pytest.approx(0.010)
    assert (three.node, three.loss_ratio) == ("", 1.0)
    assert math.isnan(three.increase_s)
    assert four.increase_s == pytest.approx(0.0)
    assert three.as_dict()["increase_s"] is None


def test_a_report_has_its_own_counts_and_means():
    """By eye: 0.4, 11 and 20 ms are the least times of hops 1, 3 and 4; hop 2 was silent."""
    one, two, three, four = hop_rows(read(REPORT))
    assert (one.node, two.node, two.loss_ratio) == ("192.0.2.1", "", 1.0)
    assert (three.loss_ratio, three.sent_count) == (0.4, 10)
    assert [row.increase_s for row in (one, three, four)] == pytest.approx([4e-4, 0.0106, 0.009])
    assert (four.rtt_mean_s, math.isnan(four.rtt_median_s)) == (pytest.approx(0.0211), True)
    # means alone: 0.5, 22 and 24 ms
    rows = hop_rows(read(PATHPING))
    assert [row.increase_s for row in (rows[0], rows[1], rows[3])] == pytest.approx(
        [0.0005, 0.0215, 0.002]
    )


def test_runs_have_their_own_increases():
    rows = hop_rows(read(INPUTS / "paths" / "mtr_two.txt"))
    assert [row.group for row in rows] == ["run 1"] * 3 + ["run 2"] * (len(rows) - 3)
    first = [row.increase_s for row in rows if row.hop == 1]
    assert first == [1e-4, 1e-4]  # 0.1 ms, from the start of each run


def test_other_samples_have_no_hops():
    assert hop_rows(RttSamples(payload_bytes=[1.0], rtt_s=[1.0])) == ()
    assert hop_rows(Table(data={"a": [1.0]})) == ()


def run(*arguments):
    return CliRunner().invoke(commands, list(arguments), env={"COLUMNS": "140"})


@pytest.mark.parametrize(
    "name",
    [path.name for path in sorted((INPUTS / "paths").glob("*[!v]")) if path.suffix != ".csv"],
)
def test_every_path_is_printed_with_its_hops(name):
    path = INPUTS / "paths" / name
    printed = run("read", str(path), "--all").output
    rows = hop_rows(read(path))
    assert rows
    assert "increase" in printed
    for row in rows[:3]:
        assert row.node.split(" ")[0][:12] in printed
    assert "return by the same path" in printed  # the caveat
    document = json.loads(run("read", str(path), "--json").stdout)
    assert document["hops"] == [row.as_dict() for row in rows]


def test_a_table_of_hops_in_a_terminal(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    lines = run("read", str(tmp_path / "a.txt"), "--all").output.splitlines()
    second = next(line for line in lines if "198.51.100.1" in line)
    assert second.split() == ["2", "198.51.100.1", "3", "33.33%", "30", "ms", "30.5", "ms", "31",
                              "ms", "10", "ms", "slow"]  # fmt: skip
    assert "probes, answered by ICMP, round trip, sender" in "\n".join(lines)


def test_ticks_of_hops_are_whole_numbers():
    plot = measured(read(TEXT), Known())
    ticker = plot.figure.xaxis[0].ticker
    assert (ticker.min_interval, ticker.num_minor_ticks) == (1, 0)
    picture = plots.svg(measured(read(TEXT.replace(" 3  * * *\n", "")), Known()))
    labels = [part.partition("<")[0] for part in picture.split(">")]
    numbers = [float(one) for one in labels if one.replace(".", "").isdecimal()]
    assert np.unique(numbers).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_lost_line_of_a_hop_is_told():
    """A tool prints a line for each hop; stars are a line, too."""
    head = "traceroute to 192.0.2.9 (192.0.2.9), 30 hops max, 60 byte packets\n"
    lines = [
        " 1  192.0.2.1 (192.0.2.1)  1.1 ms  1.2 ms  1.3 ms\n",
        " 2  * * *\n",
        " 3  192.0.2.3 (192.0.2.3)  3.1 ms  3.2 ms  3.3 ms\n",
        " 4  192.0.2.9 (192.0.2.9)  4.1 ms  4.2 ms  4.3 ms\n",
    ]
    assert "hops-without-line" not in codes(read(head + "".join(lines)))
    (told,) = (
        warning
        for warning in read(head + lines[0] + "".join(lines[2:])).meta.warnings
        if warning.code == "hops-without-line"
    )
    assert told.values == {"count": 1, "listed": "2"}
    assert "hops-without-line" not in codes(read("".join(lines[2:])))


def codes(samples):
    return [warning.code for warning in samples.meta.warnings]
