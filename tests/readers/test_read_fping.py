"""fping: each host has its own probes; a dash is no time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "pings"

# Read off the files by eye: sent, received, least, median and largest time [us] of each host.
CASES = {
    "fping_each.txt": [(5, 5, 52, 59, 61), (5, 0, None, None, None)],
    "fping_each_quiet.txt": [(5, 5, 55, 78, 98), (5, 0, None, None, None)],
    "fping_count.txt": [(4, 4, 41, 57, 385), (4, 0, None, None, None)],
    "fping_count_quiet.txt": [(4, 4, 43, None, 73), (4, 0, None, None, None)],
    "fping_stamps.txt": [(3, 3, 57, 72, 74)],
    "fping_alive.txt": [(1, 1, 74, 74, 74), (1, 0, None, None, None)],
    "fping_stats.txt": [(3, 3, 68, 75, 75)],
    "fping_interval.txt": [(12, 12, 47, None, 76)],
    "fping_loop.txt": [(7, 7, 50, 58, 88)],
}


@pytest.mark.each("file", CASES)
def test_files(file):
    rows = read(INPUTS / file).facts()
    names = ("sent_count", "received_count", "rtt_min_s", "rtt_median_s", "rtt_max_s")
    for row, (sent, received, *times) in zip(rows, CASES[file], strict=True):
        expected = (
            sent,
            received,
            *(None if t is None else pytest.approx(t * 1e-6) for t in times),
        )
        assert tuple(row.get(name) for name in names) == expected
        assert row["loss_ratio"] == 1 - received / sent
        assert row["partial"] is False


def test_hosts_take_turns():
    samples = read(INPUTS / "fping_count.txt")
    far = samples.group == "192.88.99.7"
    assert samples.lost[far].all()
    assert np.isnan(samples.rtt_s[far]).all()
    assert samples.sequence[far].tolist() == [0, 1, 2, 3]
    assert set(samples.payload_bytes[~far]) == {56}


def test_stamps_are_of_the_reply():
    samples = read(INPUTS / "fping_stamps.txt")
    assert samples.sent_s[0] == pytest.approx(1795352813.93758 - 57e-6, abs=1e-6)


def test_a_row_with_a_dash_between_times():
    """By hand: the third of four had no answer."""
    samples = read("192.0.2.1 : 0.05 0.06 - 0.07\n")
    assert samples.lost.tolist() == [False, False, True, False]
    assert samples.rtt_s.tolist() == pytest.approx([5e-5, 6e-5, np.nan, 7e-5], nan_ok=True)
    assert samples.resolution_s[0] == pytest.approx(1e-5)


def test_duplicates_and_errors():
    text = (
        "a.example : [0], 64 bytes, 0.50 ms (0.50 avg, 0% loss)\n"
        "a.example : duplicate for [0], 64 bytes, 0.90 ms\n"
        "a.example : [1], timed out (0.50 avg, 50% loss)\n\n"
        "a.example : xmt/rcv/%loss = 2/1/50%, min/avg/max = 0.50/0.50/0.50\n"
    )
    (row,) = read(text).facts()
    assert (row["sent_count"], row["received_count"], row["duplicate_count"]) == (2, 1, 1)
    assert row["rtt_max_s"] == 0.5e-3


def test_lines_and_totals_that_disagree():
    text = (INPUTS / "fping_stamps.txt").read_text().replace("3/3/0%", "4/4/0%")
    samples = read(text)
    differs = [n.values for n in samples.meta.warnings if n.code == "count-differs"]
    assert [(d["quantity"], d["printed"], d["counted"]) for d in differs] == [
        ("sent", 4, 3), ("received", 4, 3),
    ]  # fmt: skip
    assert samples.meta.printed["sent"] == 4
    assert samples.facts()[0]["sent_count"] == 3


def test_a_loss_that_cannot_be():
    text = "a : xmt/rcv/%loss = 4/5/-25%, min/avg/max = 0.1/0.1/0.1\n"
    with pytest.raises(ReaderError) as caught:
        read(text)
    assert caught.value.code == "more-received-than-sent"


def test_cut_at_every_line():
    lines = (INPUTS / "fping_count.txt").read_text().splitlines(keepends=True)
    for end in range(1, 9):
        row = read("".join(lines[:end])).facts()[0]
        assert row["partial"] is True
        assert row["sent_count"] == sum("203.0.113.2 :" in line for line in lines[:end])
