"""The same quantity of several files: medians and their intervals, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc.compare import file_notices, files
from netcalc.samples import FlowSeries, RttSamples, TransferSamples


def pings(rtt_s, **columns):
    return RttSamples(payload_bytes=[56.0] * len(rtt_s), rtt_s=rtt_s, **columns)


def test_the_interval_of_a_median_covers_it_as_often_as_it_says():
    """Simulated: 2000 medians of 25 exponential times; the true median is ln 2."""
    generator = np.random.default_rng(7)
    rows = [files({"x": pings(generator.exponential(1.0, 25))})[0] for _ in range(2000)]
    covered = np.mean([row.low <= math.log(2) <= row.high for row in rows])
    assert 0.93 <= covered <= 0.99


def test_files_that_lie_apart_differ():
    one, other = pings(np.linspace(0.010, 0.012, 20)), pings(np.linspace(0.020, 0.024, 20))
    rows = files({"a.txt": one, "b.txt": other, "c.txt": one})
    differ, alike = file_notices(rows)
    assert differ.code == "files-differ"
    assert differ.values["factor"] == pytest.approx(2)  # 22 ms over 11 ms
    assert alike.code == "files-alike"
    assert str(differ).startswith("b.txt differs from a.txt")


def test_few_values_have_no_interval():
    rows = files({"a": pings([0.1, 0.2]), "b": pings([0.1, 0.2])})
    assert math.isnan(rows[0].low)
    assert [one.code for one in file_notices(rows)] == ["files-not-judged"]


def test_the_streams_of_an_interval_are_one_rate():
    """Derived: two streams of 1 Mbit/s each, as the receiver counts; the sender counts 3 Mbit/s."""
    flows = FlowSeries(
        start_s=[0.0, 0.0, 1.0, 1.0, 0.0], duration_s=[1.0] * 5,
        payload_bytes=[125e3] * 4 + [375e3], throughput_bps=[1e6] * 4 + [3e6],
        stream=["5", "7", "5", "7", "5"], side=["receiver"] * 4 + ["sender"],
    )  # fmt: skip
    row = files({"a": flows})[0]
    assert (row.value, row.count, row.unit) == (2e6, 2, "bit/s")


def test_groups_are_rows_of_their_own():
    """Derived: 8 kbit in 1 s and in 2 s."""
    transfers = TransferSamples(
        payload_bytes=[1000.0, 1000.0], duration_s=[1.0, 2.0], group=["up", "down"]
    )
    assert [(row.label, row.value) for row in files({"a": transfers})] == [
        ("up", 8000.0),
        ("down", 4000.0),
    ]
