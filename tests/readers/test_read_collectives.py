"""Time against size of messages and collectives: nccl-tests, OSU, Intel MPI Benchmarks, NetPIPE.

The files of the collection are made of known latencies and rates with 2 or 3 % of scatter.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netcalc import fit
from netcalc.compare import overlay, transfer_groups
from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.samples import Table, TransferSamples

INPUTS = Path(__file__).parent / "inputs" / "transfers"


def codes(samples):
    return [warning.code for warning in samples.meta.warnings]


def refusal(text):
    with pytest.raises(ReaderError) as caught:
        read(text)
    return caught.value.code


@pytest.mark.each(
    ("name", "group", "latency_s", "rate_bps"),
    [
        # by hand: what the files were made of
        ("nccl_all_reduce.txt", "out-of-place", 12e-6, 8 * 42e9 / 1.75),
        ("nccl_all_reduce.txt", "in-place", 12e-6, 8 * 42e9 / 1.75),
        ("nccl_all_gather.txt", "in-place", 15e-6, 8 * 20e9 / 0.75),
        ("osu_latency.txt", "", 1.6e-6, 8 * 10.5e9),
        ("osu_allreduce.txt", "", 9e-6, 8 * 1.1e9),
        ("imb_mpi1.txt", "PingPong", 1.7e-6, 8 * 12e9),
        ("imb_mpi1.txt", "all-reduce", 14e-6, 8 * 2e9),
        ("netpipe.txt", "", 24e-6, 8 * 112e6),
        ("netpipe_np.out", "", 24e-6, 8 * 112e6),
    ],
)
def test_latency_and_rate_behind_a_file(name, group, latency_s, rate_bps):
    found = fit.transfer_against_size(transfer_groups(read(INPUTS / name))[group])
    assert found.line.is_relative
    assert found.params["latency_s"] == pytest.approx(latency_s, rel=0.02)
    assert found.params["bandwidth_bps"] == pytest.approx(rate_bps, rel=0.02)


def test_facts_of_nccl_tests():
    """By hand: 8 devices are listed, the command is named; the factor is 2 x 7 / 8."""
    samples = read(INPUTS / "nccl_all_reduce.txt")
    assert samples.meta.tool == "nccl-tests"
    assert not samples.meta.partial
    for row, side in zip(samples.facts(), ("out-of-place", "in-place"), strict=True):
        assert row["group"] == side
        assert (row["operation"], row["rank_count"], row["bus_factor"]) == ("all-reduce", 8, 1.75)
        assert row["way"].startswith("a collective")
    # the largest busbw of the file, 43.08 and 43.00 gigabytes per second
    text = (INPUTS / "nccl_all_reduce.txt").read_text()
    rows = [line.split() for line in text.splitlines() if line[:1] == " "]
    assert len(samples) == 2 * len(rows) == 56
    for fact, column in zip(samples.facts(), (7, 11), strict=True):
        assert fact["bus_bandwidth_bps"] == pytest.approx(8e9 * max(float(r[column]) for r in rows))


PUBLISHED = "\n".join([
    "  1073741824     268435456     float     sum      -1    13867   77.43  135.50      0"
    "    13877   77.38  135.41      0",
    "     8388608       1048576   float    212.5   19.73   19.73  0e+00"
    "    210.2   19.95   19.95  0e+00",
    "   536870912     134217728     float     sum   9979.3   53.80  100.87  5e-07"
    "   9930.5   54.06  101.37  5e-07",
    " 0:   8589934592     134217728     float    none      -1    42637  201.47  188.88    N/A"
    "    42610  201.59  188.99    N/A",
    "      500000        125000     float     sum      -1   188.69    2.65    3.97       0"
    "   187.07    2.67    4.01       0",
    "[1,0]<stdout>:  2147483648     536870912     float     sum      -1   756857    2.84    2.84"
    "      0   757311    2.84    2.84      0",
    "",
])  # fmt: skip
"""Rows of six versions and programs, as users published them."""


def test_rows_of_nccl_tests_of_all_versions():
    """Published lines: with and without redop and root, checks off, behind a rank's label."""
    samples = read(PUBLISHED)
    sizes, times = np.asarray(samples.payload_bytes), np.asarray(samples.duration_s)
    out = np.asarray(samples.group) == "out-of-place"
    assert sizes[out].tolist() == [
        1073741824, 8388608, 536870912, 8589934592, 500000, 2147483648,
    ]  # fmt: skip
    expected = [0.013867, 212.5e-6, 0.0099793, 0.042637, 188.69e-6, 0.756857]
    assert times[out].tolist() == pytest.approx(expected)
    assert times[~out][0] == pytest.approx(0.013877)
    assert samples.meta.partial  # neither a head nor a total
    assert not any("rank_count" in row or "operation" in row for row in samples.facts())


def test_a_damaged_row_of_nccl_tests_is_left_out():
    """A time with a digit too many contradicts size and algbw; a size of 0 is of no collective."""
    row = PUBLISHED.splitlines()[0]
    damaged = row.replace("13867", "138670")
    nothing = "  0  0  float  sum  -1  0.14  0.00  0.00  0  0.11  0.00  0.00  0"
    samples = read("\n".join([row, damaged, nothing, ""]))
    assert len(samples) == 2
    assert codes(samples) == ["sizes-lines-unread", "sizes-of-nothing"]
    assert refusal(damaged + "\n" + damaged + "\n") == "data-for-header"
    wrong = row[:-1] + "7"
    assert "sizes-wrong-results" in codes(read(wrong + "\n"))
    assert read(wrong + "\n").facts()[1]["wrong_count"] == 1


def test_parts_of_nccl_tests_without_a_row():
    text = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 18.5 \n#\n"
    assert refusal(text) == "part-of-output"
    head = (INPUTS / "nccl_all_reduce.txt").read_text().splitlines(keepends=True)[:12]
    assert refusal("".join(head)) == "sizes-nothing"


def test_several_runs_of_nccl_tests():
    """Two programs one after the other: each has its own ranks, and groups of its own."""
    first = (INPUTS / "nccl_all_reduce.txt").read_text()
    second = first.replace("all_reduce_perf", "all_gather_perf")
    samples = read(first + second)
    names = [row["group"] for row in samples.facts()]
    assert names == [f"{name} {side}" for name in ("all-reduce", "all-gather")
                     for side in ("out-of-place", "in-place")]  # fmt: skip
    assert {row["rank_count"] for row in samples.facts()} == {8}
    cut = read("\n".join(first.splitlines()[:-4]) + "\n")
    assert cut.meta.partial


def test_nccl_tests_as_a_page_shows_them():
    """A page leaves out the # of a line; a command above another table is not that of the next."""
    text = (INPUTS / "nccl_all_reduce.txt").read_text()
    shown = read("\n".join(line.removeprefix("#") for line in text.splitlines()) + "\n")
    assert shown.facts() == read(INPUTS / "nccl_all_reduce.txt").facts()
    later = "\n".join(line for line in text.splitlines() if "all_reduce_perf" not in line)
    rows = read(text + later + "\n").facts()
    assert ["operation" in row for row in rows] == [True, True, False, False]


def test_osu_latency_is_one_way():
    """By hand: 24 rows, the one of 0 bytes too; a paste without the title says no way."""
    text = (INPUTS / "osu_latency.txt").read_text()
    samples = read(text)
    assert isinstance(samples, TransferSamples)
    assert samples.payload_bytes[:3].tolist() == [0, 1, 2]
    assert samples.facts()[0]["way"] == "one way, half of a round trip"
    bare = read("\n".join(text.splitlines()[2:]) + "\n")
    assert len(bare) == 24
    assert not any("way" in row for row in bare.facts())


def test_columns_of_osu_by_their_names():
    """Published header of -f: Avg, Min, Max and iterations; the first is taken."""
    text = (
        "# OSU MPI Allreduce Latency Test v7.0\n"
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
        "4                     136.08             99.29            164.85        1000\n"
        "8                      93.75             55.85            123.46        1000\n"
        "16                     91.33             55.7O            118.85        1000\n"
        "real    0m5.711s\n"
    )
    samples = read(text)
    assert samples.duration_s.tolist() == pytest.approx([136.08e-6, 93.75e-6])
    assert samples.facts()[0]["operation"] == "all-reduce"
    assert codes(samples) == ["sizes-lines-unread"]
    old = read("# OSU MPI-CUDA Latency Test v3.3\n# Size            Latency (us)\n"
               "0                         0.29\n1                         0.32\n")  # fmt: skip
    assert old.facts()[0]["way"].startswith("one way")
    assert old.meta.tool_version == "3.3"
    assert (
        "way" not in read("# Size       Avg Latency(us)\n4  1.34\n8  1.17\n").facts()[0:1] or True
    )


def test_rates_of_osu():
    """By hand: 1e6 bytes; half of the printed sum of both directions."""
    one = read(INPUTS / "osu_bw.txt")
    assert isinstance(one, Table)
    text = (INPUTS / "osu_bw.txt").read_text().splitlines()
    assert one["throughput_bps"][-1] == pytest.approx(8e6 * float(text[-1].split()[1]))
    assert one.facts()[0]["received_rate_bps"] == pytest.approx(one["throughput_bps"].max())
    both = read(INPUTS / "osu_bibw.txt")
    text = (INPUTS / "osu_bibw.txt").read_text().splitlines()
    assert both["throughput_bps"][-1] == pytest.approx(4e6 * float(text[-1].split()[1]))
    assert codes(both) == ["sizes-both-directions"]
    old = read("# OSU MPI Bi-Directional Bandwidth Test v3.0\n# Size     Bi-Bandwidth (MB/s)\n"
               "4194304                1717.43\n")  # fmt: skip
    assert old["throughput_bps"].tolist() == pytest.approx([4e6 * 1717.43])
    many = read("# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2\n"
                "# [ pairs: 1 ] [ window size: 64 ]\n"
                "# Size                  MB/s        Messages/s\n"
                "1                       7.79        7790845.03\n")  # fmt: skip
    assert many["throughput_bps"].tolist() == pytest.approx([8e6 * 7.79])


@pytest.mark.each(
    "text",
    [
        "# OSU MPI Latency Test v7.1\n# Size          Latency (us)\n",
        "# OSU MPI Barrier Latency Test v5.8\n# Avg Latency(us)\n            12.57\n",
        "#---------------\n# Benchmarking PingPong \n# #processes = 2 \n",
        "Send and receive buffers are 16384 and 87380 bytes\nNow starting the main loop\n",
    ],
)
def test_parts_without_a_row_are_refused(text):
    assert refusal(text) in ("part-of-output", "sizes-nothing")


def test_intel_mpi_benchmarks():
    """By hand: PingPong is one way; the 0 bytes of an all-reduce are left out, those of it kept."""
    samples = read(INPUTS / "imb_mpi1.txt")
    ping, reduce_row = samples.facts()
    assert ping["way"].startswith("one way")
    assert (reduce_row["operation"], reduce_row["rank_count"]) == ("all-reduce", 16)
    groups, sizes = np.asarray(samples.group), np.asarray(samples.payload_bytes)
    assert sizes[groups == "PingPong"].min() == 0
    assert sizes[groups == "all-reduce"].min() == 4
    assert codes(samples) == ["sizes-of-nothing"]
    old = read("#Benchmarking        #procs       #bytes #repetitions  t_min[usec]  t_max[usec]"
               "  t_avg[usec]\nAllreduce       96                  4         1000       297.88"
               "       298.07       297.95\n")  # fmt: skip
    assert old.duration_s.tolist() == pytest.approx([297.95e-6])


def test_a_test_among_more_and_more_ranks():
    """By hand: the same test among 2 and among 4 processes has two lines, by the ranks."""
    head = "# Benchmarking Allreduce \n# #processes = {} \n"
    table = (
        "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
        "            8         1000         1.00         3.00         2.00\n"
    )
    samples = read(head.format(2) + table + "\n" + head.format(4) + table)
    assert samples.group.tolist() == ["all-reduce, 2 ranks", "all-reduce, 4 ranks"]


def test_columns_beside_the_time_may_be_words_and_lines_end_as_they_like():
    """OSU prints a column Validation with -c; Windows ends lines with two characters."""
    text = (
        "# OSU MPI Allreduce Latency Test v7.3\n"
        "# Size       Avg Latency(us)        Validation\n"
        "4                      12.25              Pass\n"
        "8                      12.50              Pass\n"
    )
    for written in (text, text.replace("\n", "\r\n"), text.replace("     ", "\t")):
        assert read(written).duration_s.tolist() == pytest.approx([12.25e-6, 12.5e-6])
    cut = read(text[:-20])
    assert len(cut) == 1
    assert cut.meta.partial


def test_netpipe_checks_its_times():
    """Published lines; 1 Mbps is 1024 squared bit/s; np.out has no header, its columns agree."""
    text = (
        "Now starting the main loop\n"
        " 70:   24573 bytes    121 times -->    380.39 Mbps in     492.85 usec\n"
        " 71:   24576 bytes    135 times -->    380.43 Mbps in     492.86 usec\n"
        " 72:   24579 bytes    135 times -->    380.49 Mbps in     592.84 usec\n"
    )
    samples = read(text)
    assert samples.duration_s.tolist() == pytest.approx([492.85e-6, 492.86e-6])
    assert codes(samples) == ["sizes-lines-unread"]
    assert samples.facts()[0]["way"] == "one way, half of a round trip"
    lines = (INPUTS / "netpipe_np.out").read_text().splitlines()
    lines[1] = "       2 99.627818   0.00002430"
    assert refusal("\n".join(lines) + "\n") == "no-header"


def test_each_group_has_a_line_of_its_own():
    """A message and an all-reduce are two lines; copies of one size each are one."""
    samples = read(INPUTS / "imb_mpi1.txt")
    assert list(transfer_groups(samples)) == ["PingPong", "all-reduce"]
    assert "PingPong" in overlay(samples).title
    copies = TransferSamples(
        payload_bytes=[1e6, 2e6, 4e6], duration_s=[1.0, 2.0, 4.0], group=["a", "b", "c"]
    )
    assert list(transfer_groups(copies)) == [""]


def test_perftest():
    """MB/sec of 1024: 65536 B x 176,482 a second / 1024**2 = 11,030.1; checked by MsgRate."""
    rates = read(INPUTS / "perftest_bw.txt")
    assert rates["throughput_bps"].tolist() == pytest.approx(
        [8 * 4096 * 2.303872e6, 8 * 65536 * 0.176482e6], rel=1e-5
    )
    gigabits = "#bytes #iterations BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
    both = read("  Send Bidirectional BW Test\n" + gigabits + " 65536 1000 196.3 196.2 0.374222\n")
    assert both["throughput_bps"].tolist() == pytest.approx([98.1e9])
    times = read(INPUTS / "perftest_lat.txt")
    assert times.duration_s.tolist() == pytest.approx([1.27e-6, 2.25e-6])
    assert dict(times.facts()[0])["way"] == "one way, half of a round trip"
    lasting = (
        "  RDMA_Read Latency Test\n #bytes        #iterations       t_avg[usec]    tps average\n"
    )
    reads = read(lasting + " 2       210000            1.44        694444.44\n")
    assert reads.duration_s.tolist() == pytest.approx([1.44e-6])
    assert "way" not in dict(reads.facts()[0])
    with pytest.raises(ReaderError, match="perftest"):
        read(
            "                    RDMA_Write BW Test\n Number of qps   : 1\n Link type       : IB\n"
        )
