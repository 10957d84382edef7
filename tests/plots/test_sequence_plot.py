"""Bytes of a flow against time: a window far above them does not press them onto the axis."""

import math
import re
from pathlib import Path

import pytest

from netcalc import plots
from netcalc.readers import read

PUZZLES = Path(__file__).parents[2] / "data" / "puzzles"


def test_the_axis_ends_with_the_data_where_the_window_is_far():
    """derived: the last byte sent, which the description names, and a tenth; not 64 KiB."""
    drawn = plots.sequences(read(PUZZLES / "stall.pcap.gz"))
    last = int(re.search(r"up to byte (\d+)", drawn.description)[1])
    assert last < 1000
    assert drawn.figure.y_range.end == pytest.approx(1.1 * last)
    assert "far above" in drawn.description


def test_the_axis_follows_the_data_where_the_sender_reaches_the_window():
    drawn = plots.sequences(read(PUZZLES / "window.pcap.gz"))
    assert not math.isfinite(drawn.figure.y_range.end), "identity: the figure finds it"
    assert "far above" not in drawn.description
