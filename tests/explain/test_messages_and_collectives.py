"""What times of messages and collectives say: latency, bus bandwidth, and its share of the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.explain import Known, measurement
from netcalc.plots import explained
from netcalc.readers import read

INPUTS = Path(__file__).parents[1] / "readers" / "inputs" / "transfers"


def findings(name, line_bps):
    return measurement(read(INPUTS / name), Known(line_bps=line_bps))


def notices(finding):
    return {notice.code: notice.values for notice in finding.notices}


@pytest.mark.each(
    ("name", "index", "line_bps", "bus_bps"),
    [
        # by hand: what the files were made of, times 2 x 7 / 8, 3 / 4 and 2 x 15 / 16
        ("nccl_all_reduce.txt", 0, 400e9, 8 * 42e9),
        ("nccl_all_reduce.txt", 1, 400e9, 8 * 42e9),
        ("nccl_all_gather.txt", 0, 400e9, 8 * 20e9),
        ("imb_mpi1.txt", 1, 100e9, 8 * 2e9 * 1.875),
    ],
)
def test_bus_bandwidth_as_a_share_of_the_line(name, index, line_bps, bus_bps):
    said = notices(findings(name, line_bps)[index])
    assert said["sizes-bus"]["bus_bps"] == pytest.approx(bus_bps, rel=0.02)
    assert said["sizes-bus-line"]["share"] == pytest.approx(bus_bps / line_bps, rel=0.02)


def test_a_full_line_limits_beyond_the_size_of_half_the_rate():
    """By hand: 336 of 400 Gbit/s are 84 %; of 800 they are not full; n½ is 12 µs x 192 Gbit/s."""
    full, _ = findings("nccl_all_reduce.txt", 400e9)
    assert (full.cause.code, full.confidence, full.layer) == ("line", "medium", "payload")
    assert full.cause.sign("even_bytes") == pytest.approx(12e-6 * 24e9, rel=0.02)
    assert "beyond that the line limits" in full.sentence
    part, _ = findings("nccl_all_reduce.txt", 800e9)
    assert (part.cause.code, part.confidence) == ("unknown", "low")
    assert "ib_write_bw" in str(part.cause.test)


def test_more_than_the_line_is_said():
    """By hand: 336 of 200 Gbit/s: the ranks of a node have a network of their own."""
    above, _ = findings("nccl_all_reduce.txt", 200e9)
    assert notices(above)["sizes-bus-above"]["share"] == pytest.approx(1.68, rel=0.02)
    assert above.cause.code == "unknown"


def test_one_way_and_what_is_unknown():
    """A message is one way; of OSU's collectives the ranks are unknown; rates have a gap only."""
    (message,) = findings("osu_latency.txt", 100e9)
    assert "sizes-one-way" in notices(message)
    assert notices(message)["sizes-bus-line"]["share"] == pytest.approx(0.84, rel=0.02)
    (collective,) = findings("osu_allreduce.txt", 100e9)
    assert {"sizes-collective", "sizes-bus-unknown"} <= set(notices(collective))
    assert "sizes-bus-line" not in notices(collective)
    (rates,) = findings("osu_bw.txt", 100e9)
    assert "sizes-gap" in notices(rates)
    assert rates.cause.sign("latency_s") == pytest.approx(0.25e-6, rel=0.05)
    assert notices(rates)["sizes-bus-line"]["share"] == pytest.approx(0.984, rel=0.02)


OSU = ((0, 1.21), (1, 1.22), (64, 1.3), (1024, 1.71), (8192, 4.2), (65536, 10.9),
       (1048576, 92.1), (4194304, 348))  # fmt: skip
"""As osu_latency prints them: size [byte], time [us]."""


@pytest.mark.each("rows", [OSU, OSU[:1] + OSU[2:]])
@pytest.mark.each(
    ("head", "comma", "variant"),
    [
        ("# OSU MPI Latency Test v7.1\n# Size  Latency (us)", "  ", "messages-bend"),
        ("size (B),latency (us)", ",", "sizes-bend"),
    ],
)
def test_ends_of_times_that_no_line_has(rows, head, comma, variant):
    """By hand: 8 x (4194304 - 1048576) B / 255.9 us and 8 x 4194304 B / 348 us."""
    lines = [f"{size}{comma}{time:.2f}" for size, time in rows]
    (finding,) = measurement(read("\n".join([head, *lines, ""]).encode()), Known())
    cause = finding.cause
    assert (cause.variant, cause.confidence) == (variant, "low")
    assert (cause.sign("least_s"), cause.sign("least_bytes")) == (pytest.approx(1.21e-6), 0)
    assert cause.sign("fitted_bps") == pytest.approx(98.343e9, rel=1e-4)
    assert cause.sign("largest_bps") == pytest.approx(96.421e9, rel=1e-4)


def test_no_line_is_slower_than_its_largest_message_was():
    """By hand: 8 x 134217728 B / 1050.1 us are 1.0225 Tbit/s, as the printed 127.81 GB/s;
    x 1.75 they are the printed 223.67 GB/s; less 1 MiB in 61.2 us they are 1.0773 Tbit/s."""
    rows = [(8, 24.11, 0, 0), (1024, 25.31, 0.04, 0.07), (1048576, 61.2, 17.13, 29.98),
            (134217728, 1050.1, 127.81, 223.67)]  # fmt: skip
    text = (INPUTS / "nccl_all_reduce.txt").read_text()
    head = [line for line in text.splitlines() if line.startswith("#") and "Out of" not in line]
    head = [line for line in head if "Avg" not in line]
    lines = [
        f"{size} {size // 4} float sum -1 {time} {rate} {bus} 0 {time} {rate} {bus} 0"
        for size, time, rate, bus in rows
    ]
    finding, _ = measurement(read("\n".join([*head, *lines, ""]).encode()), Known())
    assert finding.cause.variant == "messages-bend"
    assert finding.measured == finding.cause.sign("largest_bps")
    assert finding.measured == pytest.approx(8 * 127.81e9, rel=1e-4)
    assert finding.cause.sign("fitted_bps") == pytest.approx(1.0773e12, rel=1e-4)
    assert notices(finding)["sizes-bus"]["bus_bps"] == pytest.approx(8 * 223.67e9, rel=1e-4)
    assert "within" not in finding.sentence


def test_what_is_off_by_the_rounding_is_no_outlier():
    """10 ms + size / 100 Mbit/s, written to 0.1 ms: 90.2 for 90.0 is off by two steps."""
    text = "| Größe | Zeit |\n|---|---|\n| 1 kB | 10,1 ms |\n| 10 kB | 10,8 ms |\n"
    text += "| 100 kB | 18,0 ms |\n| 1 MB | 90,2 ms |\n| 10 MB | 810 ms |\n"
    (finding,) = measurement(read(text.encode()), Known())
    assert "outliers-set-aside" not in notices(finding)
    (latency,) = [sign for sign in finding.cause.signs if sign.name == "latency_s"]
    assert latency.low < 10e-3 < latency.high
    assert latency.high - latency.low > 0.05e-3, "half of the step of 0.1 ms"


def test_the_line_that_is_stated_is_ruled_out_by_its_number():
    """By hand: 10 ms + size / 92.9 Mbit/s; 1448 of 1538 B of 1 Gbit/s are 941.5 Mbit/s."""
    text = "size [MB],time [ms]\n0.01,10.9\n0.1,18.5\n1,96.3\n10,871\n50,4316\n"
    (finding,) = measurement(read(text.encode()), Known(line_bps=1e9))
    assert notices(finding)["sizes-below-line"]["share"] == pytest.approx(92.9 / 941.5, rel=5e-3)


def test_times_of_sizes_without_limits_are_drawn():
    text = "size (B),latency (us)\n" + "".join(f"{size},{time}\n" for size, time in OSU)
    samples = read(text.encode())
    drawn = explained(samples, measurement(samples, Known()))
    shown = [dict(source.data) for source in drawn.sources.values()]
    assert any(len(column) == len(OSU) for data in shown for column in data.values())
