"""The panels of the lesson on collectives: the numbers that they show, by hand and as published."""

from __future__ import annotations

import html
import re
from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.lessons import collectives as panels
from netcalc.samples import Meta, TransferSamples, fact_row
from netcalc.widgets.run import Upload

INPUTS = Path(__file__).parents[1] / "readers" / "inputs" / "transfers"


def column(panel, source, name="y"):
    return np.asarray(panel.figure.plot.sources[source].data[name])


def at(panel, source, size):
    """The value of a curve at a size that it is computed at."""
    return column(panel, source)[np.isclose(column(panel, source, "x"), size)][0]


def rows(panel):
    """The rows of the table below the figure, without its head."""
    found = re.findall(r"<tr>(.*?)</tr>", panel.children[-1].value)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in found]
    return [[html.unescape(cell) for cell in row] for row in cells[1:]]


def put(panel, **values):
    with panel.at_once():
        for name, value in values.items():
            panel.controls[name].value = value


def field(panel):
    return next(child for child in panel.children if isinstance(child, Upload))


def test_an_all_reduce_by_three_algorithms():
    panel = panels.allreduce_panel()
    put(panel, payload_bytes=1e6, rank_count=8.0, latency_s=1e-5, bandwidth_bps=1e11)
    # derived: a megabyte takes 80 us; the ring sends 14 parts of an eighth, the trees all of it
    # twice in 6 steps, recursive doubling three times in 3
    assert rows(panel) == [
        ["ring", "14", "1.75 MB", "280 µs", "50%"],
        ["two trees", "6", "2 MB", "220 µs", "27%"],
        ["recursive doubling", "3", "3 MB", "270 µs", "11%"],
    ]
    assert panel.figure.description.endswith("the fastest is two trees with 220 µs.")
    assert column(panel, panels.YOURS).tolist() == pytest.approx([280e-6])
    # derived: 8 bytes take no time, 2**37 bytes (137 GB) take 11 s a time
    for name, empty_s, full in (
        (panels.RING, 140e-6, 1.75),
        (panels.TREES, 60e-6, 2.0),
        (panels.DOUBLING, 30e-6, 3.0),
    ):
        assert at(panel, name, 8.0) == pytest.approx(empty_s, rel=1e-3)
        assert at(panel, name, 2.0**37) == pytest.approx(full * 8 * 2**37 / 1e11, rel=1e-3)


def test_the_time_over_a_ring_is_guessed_first():
    panel = panels.allreduce_panel()
    assert panel.prediction.covered
    # derived: 14 GB, 1.75 times, at 50 GB/s, and 14 steps of 10 us
    assert panel.prediction.model == pytest.approx((14e9, 0.49014))
    panel.prediction.take("280 ms", reveal=True)  # derived: the vector once
    assert "280 ms" in panel.prediction.sentence
    assert "1.8 times your guess" in panel.prediction.sentence


def test_a_rank_less_than_a_power_of_two_needs_two_steps_more():
    panel = panels.allreduce_panel()
    put(panel, payload_bytes=8.0, rank_count=12.0)
    assert [row[1] for row in rows(panel)] == ["22", "8", "5"]  # derived: 2 (p - 1), 2 x 4, 3 + 2


def test_latency_ends_later_with_more_ranks():
    panel = panels.half_rate_panel()
    put(panel, rank_count=8.0, latency_s=1e-5, bandwidth_bps=4e11)
    # derived: 2 (p - 1) steps; p d R / 8, and nine times that for 90 %
    assert rows(panel) == [
        ["2", "2", "1 MB", "9 MB"],
        ["8", "14", "4 MB", "36 MB"],
        ["64", "126", "32 MB", "288 MB"],
        ["512", "1,022", "256 MB", "2.304 GB"],
    ]
    assert "Up to 4 MB" in panel.figure.description
    assert column(panel, panels.HALF, "x").tolist() == pytest.approx([4e6])
    assert column(panel, panels.HALF).tolist() == pytest.approx([2e11])
    for name, half in (("2 ranks", 1e6), ("your ranks", 4e6), ("512 ranks", 256e6)):
        x, y = column(panel, name, "x"), column(panel, name)
        # derived: S / (S + half) of the line, whatever the ranks
        assert y == pytest.approx(4e11 * x / (x + half))
    assert set(column(panel, panels.THE_LINE)) == {4e11}


@pytest.mark.each("operation", ["all-gather", "reduce-scatter"])
def test_half_of_an_all_reduce_has_the_same_knee(operation):
    panel = panels.half_rate_panel()
    put(panel, operation=operation, rank_count=8.0)
    assert rows(panel)[1][:3] == ["8", "7", "4 MB"]  # derived: half of the steps and of the data
    assert column(panel, "your ranks")[-1] == pytest.approx(4e11, rel=1e-3)


def test_a_broadcast_of_two_parts_has_half_of_the_line():
    panel = panels.half_rate_panel()
    put(panel, operation="broadcast", rank_count=8.0, latency_s=1e-5, bandwidth_bps=4e11)
    # derived: 3 + 7 steps, and 1.75 times the vector, of which the bus bandwidth counts one
    half = 10 * 1e-5 * 4e11 / 8 / 1.75
    assert column(panel, panels.HALF, "x").tolist() == pytest.approx([half])
    assert column(panel, "your ranks")[-1] == pytest.approx(4e11 / 1.75, rel=1e-3)
    assert rows(panel)[1][1] == "10"


def test_the_published_run_is_above_the_line():
    panel = panels.measured_panel()
    sizes, bus = column(panel, panels.MEASURED, "x"), column(panel, panels.MEASURED)
    assert sizes.tolist() == [2.0**k for k in range(3, 35)]
    # published: GB/s of the in-place column, for 1 MiB, 64 MiB, 1 GiB and 16 GiB
    for size, busbw in ((2**20, 68.14), (2**26, 361.68), (2**30, 467.85), (2**34, 479.99)):
        assert bus[sizes == size][0] / 8e9 == pytest.approx(busbw, abs=0.02)
    assert "3.84 Tbit/s (payload), 107% of the line" in panel.figure.description
    assert "no ring has more than the line" in panel.figure.description
    put(panel, latency_s=13.03e-6 / 14)
    first = rows(panel)[0]  # derived: 14 steps, as measured; 8 bytes take 31 ps
    assert first == ["8 B", "13.03 µs", "13.03 µs", "1.00", "8.596 Mbit/s (payload)"]


def test_an_own_run_brings_its_ranks():
    panel = panels.measured_panel()
    field(panel).take((INPUTS / "nccl_all_gather.txt").read_bytes(), "nccl.txt")
    assert "Read nccl.txt." in field(panel).message.value
    assert panel.controls["rank_count"].value == 4.0
    assert panel.controls["operation"].value == "all-gather", "by its bus factor, 3/4"
    # published with the file: 20.13 GB/s of busbw out-of-place, the first of its two runs
    assert "this all-gather is 161" in panel.figure.description
    put(panel, bandwidth_bps=2e11)
    assert "81% of the line." in panel.figure.description


def test_a_file_without_ranks_keeps_those_of_the_slider():
    panel = panels.measured_panel()
    put(panel, rank_count=16.0)
    field(panel).take((INPUTS / "osu_allreduce.txt").read_bytes(), "osu.txt")
    assert panel.controls["rank_count"].value == 16.0
    # derived: 2 x 15 / 16 of 1 MiB in the 974.18 us of the file
    assert column(panel, panels.MEASURED)[-1] == pytest.approx(1.875 * 8 * 2**20 / 974.18e-6)


@pytest.mark.each("name", ["osu_latency.txt", "osu_bw.txt"])
def test_messages_between_two_ranks_are_no_collective(name):
    panel = panels.measured_panel()
    field(panel).take((INPUTS / name).read_bytes(), name)
    assert "has no collective to draw" in field(panel).message.value
    assert column(panel, panels.MEASURED).size == 32, "nothing changes"


def test_a_table_of_sizes_and_times_may_be_any_collective():
    panel = panels.measured_panel()
    put(panel, operation="broadcast", rank_count=4.0)
    field(panel).take(b"size [B],time [us]\n8,10\n1000000,100\n100000000,9000\n", "mine.csv")
    assert "does not name its collective" in field(panel).message.value
    # derived: the vector once
    assert column(panel, panels.MEASURED).tolist() == pytest.approx([6.4e6, 8e10, 8e8 / 9e-3])


@pytest.mark.each(
    ("ranks", "factor", "operation"),
    [
        (2.0, 1.0, ""),  # 2(n-1)/n of an all-reduce is 1, and so is that of a broadcast
        (128.0, 1.0, ""),  # (n-1)/n is 0.992
        (8.0, 1.0, "broadcast"),
        (8.0, 1.75, "all-reduce"),
        (8.0, 0.875, "all-gather"),  # a reduce-scatter takes as long
        (8.0, 0.5, None),
    ],
)
def test_a_collective_by_its_bus_factor(ranks, factor, operation):
    fact = fact_row(rank_count=ranks, bus_factor=factor)
    samples = TransferSamples(payload_bytes=[8.0], duration_s=[1.0], meta=Meta(facts=(fact,)))
    if operation is None:
        with pytest.raises(ReaderError, match="all-reduce"):
            panels.run_of(samples)
    else:
        assert panels.run_of(samples).operation == operation
