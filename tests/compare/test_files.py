"""The same quantity of several files: medians and their intervals, by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.compare import axis_notice, file_notices, files, on_one_axis
from netcalc.errors import DomainError, ReaderError
from netcalc.samples import FlowSeries, Layer, Meta, PacketTrace, RttSamples, TransferSamples


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


def test_totals_alone_are_the_rates_of_runs():
    """As printed; the receiver's count is that of what arrived."""
    received, sent = (
        FlowSeries(
            start_s=[], duration_s=[], payload_bytes=[], throughput_bps=[],
            meta=Meta(facts=(row,)),
        )
        for row in ({"sent_rate_bps": 1.31e6, "received_rate_bps": 1.3e6},
                    {"sent_rate_bps": 2.62e6})
    )  # fmt: skip
    rows = files({"a": received, "b": sent})
    assert [(row.value, row.side, row.count) for row in rows] == [
        (1.3e6, "receiver", 1), (2.62e6, "sender", 1),
    ]  # fmt: skip
    assert "no-common-quantity" not in [notice.code for notice in file_notices(rows)]


def test_groups_are_rows_of_their_own():
    """Derived: 8 kbit in 1 s and in 2 s."""
    transfers = TransferSamples(
        payload_bytes=[1000.0, 1000.0], duration_s=[1.0, 2.0], group=["up", "down"]
    )
    assert [(row.label, row.value) for row in files({"a": transfers})] == [
        ("up", 8000.0),
        ("down", 4000.0),
    ]


EPOCH_S = 1_795_392_000  # 2026-11-23T00:00:00Z, 20780 days after 1970


def test_two_files_share_a_time_axis_by_the_offset_that_is_stated():
    """By hand: b's clock is 0.5 s ahead, so its 0.6 s and 1.6 s are 0.1 s and 1.1 s of a's."""
    stamped = pings([0.010, 0.020], sent_s=[EPOCH_S + 0.0, EPOCH_S + 1.0])
    flow = FlowSeries(
        start_s=[0.6, 1.6], duration_s=[1, 1], payload_bytes=[1e6, 2e6],
        meta=Meta(start="2026-11-23T01:00:00+01:00"),
    )  # fmt: skip
    merged = on_one_axis({"a": stamped, "b": flow}, clock_offset_s=0.5)
    assert (merged["time_s"] - EPOCH_S).tolist() == pytest.approx([0.0, 0.1, 1.0, 1.1], abs=1e-6)
    assert merged["file"].tolist() == ["a", "b", "a", "b"]
    assert merged["value"].tolist() == [0.010, 8e6, 0.020, 16e6]
    assert merged["unit"].tolist() == ["s", "bit/s", "s", "bit/s"]
    values = axis_notice(merged).values
    assert values["common_s"] == pytest.approx(0.9, abs=1e-6)
    assert (values["count"], values["other_count"]) == (1, 1)


def test_files_are_not_merged_without_an_offset_or_a_clock():
    stamped = pings([0.010], sent_s=[EPOCH_S + 0.0])
    with pytest.raises(DomainError) as caught:
        on_one_axis({"a": stamped, "b": stamped})
    assert caught.value.code == "clock-offset-unknown"
    for other in (
        pings([0.010]),  # no times
        pings([0.010], sent_s=[0.5]),  # times of a run whose start is not known
        pings([0.010], sent_s=[0.5], meta=Meta(start="2026-11-23T01:00:00")),  # of no zone
    ):
        with pytest.raises(ReaderError) as refused:
            on_one_axis({"a": stamped, "b.txt": other}, clock_offset_s=0.0)
        assert refused.value.code == "no-clock-to-merge"
        assert "b.txt" in str(refused.value)
    with pytest.raises(DomainError):
        on_one_axis({"a": stamped}, clock_offset_s=0.0)
    with pytest.raises(DomainError):
        on_one_axis({"a": stamped, "b": stamped}, clock_offset_s=math.inf)


def test_the_second_file_may_begin_earlier():
    """By hand: b at -0.5, 1.5 and 2.5 s by the clock of a, a at 1 and 9 s: 1.5 s in common."""
    one, other = (
        RttSamples(payload_bytes=[56.0] * len(sent), rtt_s=[0.01] * len(sent), sent_s=sent)
        for sent in ([1.7e9 + 1, 1.7e9 + 9], [1.7e9, 1.7e9 + 2, 1.7e9 + 3])
    )
    merged = on_one_axis({"a": one, "b": other}, clock_offset_s=0.5)
    assert merged["file"].tolist() == ["b", "a", "b", "b", "a"]
    values = axis_notice(merged).values
    assert (values["one"], values["other"]) == ("a", "b")
    assert (values["count"], values["other_count"]) == (1, 2)
    assert values["common_s"] == pytest.approx(1.5)


def test_the_command_says_whether_files_share_an_axis(tmp_path):
    lines = "".join(
        f"[{EPOCH_S + n}.000000] 64 bytes from 192.0.2.1: icmp_seq={n} ttl=64 time=1.0 ms\n"
        for n in range(1, 8)
    )
    one, other = tmp_path / "a.txt", tmp_path / "b.txt"
    one.write_text(lines)
    other.write_text(lines)
    done = CliRunner().invoke(commands, ["explain", str(one), str(other), "--json"])
    said = json.loads(done.output.splitlines()[-1])
    assert [notice["code"] for notice in said["notices"]][-1] == "not-on-one-axis"
    assert "merged" not in said
    done = CliRunner().invoke(
        commands, ["explain", str(one), str(other), "--clock-offset", "1.5s", "--json"]
    )
    said = json.loads(done.output.splitlines()[-1])
    notice = said["notices"][-1]
    assert notice["code"] == "on-one-axis"
    # a: 1 s to 7 s; b is 1.5 s earlier by a's clock, so that 1 s to 5.5 s are common.
    assert notice["values"]["common_s"] == pytest.approx(4.5, abs=1e-6)
    assert (notice["values"]["count"], notice["values"]["other_count"]) == (5, 5)
    assert len(said["merged"]["time_s"]) == 14
    done = CliRunner().invoke(commands, ["explain", str(one), "--clock-offset", "2s"])
    assert done.exception.code == "offset-of-two-files"


def test_short_intervals_are_not_summed_and_streams_a_little_apart_are():
    """By hand: two streams of 1 Mbit/s in intervals of 50 ms, the second 4 ms later: 2 Mbit/s."""
    start = [0.0, 0.05, 0.1, 0.004, 0.054, 0.104]
    flows = FlowSeries(
        start_s=start, duration_s=[0.05] * 6, payload_bytes=[6250.0] * 6,
        stream=["5"] * 3 + ["7"] * 3, meta=Meta(start="2026-11-23T00:00:00+00:00"),
    )  # fmt: skip
    (row,) = files({"a": flows})
    assert (row.value, row.count) == (pytest.approx(2e6), 3)
    merged = on_one_axis({"a": flows, "b": flows}, clock_offset_s=-0.01)
    # b's clock is 10 ms behind, so its intervals begin 10 ms later by a's.
    assert (merged["time_s"] - EPOCH_S).tolist() == pytest.approx(
        [0.0, 0.01, 0.05, 0.06, 0.1, 0.11], abs=1e-6
    )
    assert merged["file"].tolist() == ["a", "b"] * 3
    assert merged["value"].tolist() == pytest.approx([2e6] * 6)


def capture(start):
    """A client sends 5 segments of 1000 bytes, each 0.1 s later, acknowledged after 20 ms."""
    open_and_data = [(0.0, 0, 0x02, 0, 0, 0), (0.02, 1, 0x12, 0, 0, 1), (0.021, 0, 0x10, 0, 1, 1)]
    for at in range(5):
        begin = 0.1 * (at + 1)
        open_and_data += [
            (begin, 0, 0x10, 1000, 1 + 1000 * at, 1),
            (begin + 0.02, 1, 0x10, 0, 1, 1001 + 1000 * at),
        ]
    time_s, side, flags, size, sequence, ack = zip(*open_and_data, strict=True)
    ports = {0: 40000, 1: 80}
    return PacketTrace(
        time_s=time_s, kept_bytes=[54 + one for one in size],
        original_bytes=[54 + one for one in size],
        layers=[int(Layer.IPV4 | Layer.TCP)] * len(size), ip_version=[4] * len(size),
        ip_protocol=[6] * len(size), packet_bytes=[40 + one for one in size],
        payload_bytes=size, source=side, destination=[1 - one for one in side],
        source_port=[ports[one] for one in side], destination_port=[ports[1 - one] for one in side],
        tcp_sequence=sequence, acknowledged=ack, tcp_flags=flags, window=[1000] * len(size),
        addresses=("192.0.2.1", "192.0.2.2"), meta=Meta(start=start),
    )  # fmt: skip


def test_two_captures_share_a_time_axis():
    """By hand: data is acknowledged 20 ms later; 10 tenths of 0.5 s from the SYN to the last."""
    one, other = capture("2026-11-23T00:00:00+00:00"), capture("2026-11-23T00:00:01+00:00")
    merged = on_one_axis({"a": one, "b": other}, clock_offset_s=0.75)
    time_s = merged["time_s"] - EPOCH_S
    for file, first in (("a", 0.0), ("b", 0.25)):
        mine = merged["file"] == file
        trips = mine & (merged["quantity"] == "time to the acknowledgement")
        assert time_s[trips].tolist() == pytest.approx(
            [first + 0.1 * at for at in range(1, 6)], abs=1e-6
        )
        assert merged["value"][trips].tolist() == pytest.approx([0.02] * 5)
        rates = mine & (merged["quantity"] == "rate")
        assert time_s[rates].tolist() == pytest.approx(
            [first + 0.05 * at for at in range(10)], abs=1e-6
        )
        assert merged["value"][rates].sum() * 0.05 == pytest.approx(8 * 5000)
    assert axis_notice(merged).values["common_s"] == pytest.approx(0.25, abs=1e-6)


def test_what_has_no_times_says_how_it_is_compared():
    transfers = TransferSamples(payload_bytes=[1000.0], duration_s=[1.0])
    with pytest.raises(ReaderError) as refused:
        on_one_axis({"a": transfers, "b": transfers}, clock_offset_s=0.0)
    assert refused.value.code == "no-values-to-merge"
    assert "without a clock offset" in str(refused.value)
