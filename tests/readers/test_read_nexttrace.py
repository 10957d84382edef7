"""NextTrace: a hop has its place and operator in one line, and its times in the next."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "paths"


def near(*times_ms):
    return pytest.approx([time / 1e3 for time in times_ms], nan_ok=True)


def test_text():
    """By eye: a lost probe between two, two nodes at hop 2, no answer at hop 3."""
    samples = read(INPUTS / "nexttrace.txt")
    assert sniff(INPUTS / "nexttrace.txt") == "NextTrace"
    assert samples.hop.tolist() == [1, 1, 1, 2, 2, 2, 3, 4]
    assert samples.rtt_s.tolist() == near(0.9, np.nan, 1.1, 1.73, 2.73, 2.8, np.nan, 11.35)
    assert samples.lost.tolist() == [False, True, False, False, False, False, True, False]
    assert samples.node[3:6].tolist() == ["198.51.100.7", "198.51.100.8", "198.51.100.8"]
    assert samples.node_name[3] == "core.example"
    (row,) = samples.facts()
    assert (row["target"], row["hop_count"], row["partial"]) == ("203.0.113.9", 4, False)
    assert "packet_bytes" not in row, "52 bytes are those of the payload"


def test_raw_lines():
    samples = read(INPUTS / "nexttrace_raw.txt")
    assert sniff(INPUTS / "nexttrace_raw.txt") == "NextTrace"
    assert samples.hop.tolist() == [1, 1, 2, 3, 4]
    assert samples.rtt_s.tolist() == near(0.9, np.nan, 1.73, np.nan, 11.35)
    assert samples.node_name[2] == "core.example"


def test_three_lines_of_it():
    lines = (INPUTS / "nexttrace.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    samples = read("".join(lines[6:9]).encode())
    assert samples.hop.tolist() == [2]
    assert samples.rtt_s.tolist() == near(1.73)
    assert samples.meta.partial


def test_what_has_no_hop_is_refused():
    head = "NextTrace v1.3.4 2024\ntraceroute to 192.0.2.9, 30 hops max, 52 bytes payload\n"
    with pytest.raises(ReaderError, match="no hop"):
        read(head.encode())


DAMAGED = {
    # what is there -> what a slip makes of it, the times that are left, and the line
    ("1.73 ms", "1x73 ms"): ([1, 1, 1, 2, 2, 3, 4], 8),
    ("2.80 ms", "2.8.0 ms"): ([1, 1, 1, 2, 3, 4], 10),
    ("11.35 ms", "11..35 ms"): ([1, 1, 1, 2, 2, 2, 3], 14),
    ("2   198.51.100.7", "2   198.51.100.x"): ([1, 1, 1, 3, 4], 7),
    ("2   198.51.100.7", "x   198.51.100.7"): ([1, 1, 1, 3, 4], 7),
}


@pytest.mark.each("slip", DAMAGED)
def test_a_damaged_line_is_told_and_its_times_are_of_no_other_hop(slip):
    text = (INPUTS / "nexttrace.txt").read_text(encoding="utf-8").replace(*slip)
    samples = read(text.encode())
    hops, line = DAMAGED[slip]
    assert samples.hop.tolist() == hops
    (unread,) = [each for each in samples.meta.warnings if each.code == "path-lines-unread"]
    assert unread.values["numbers"][0] == line
