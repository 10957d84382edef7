"""Tables of rates: writes and wall times, pairs, frame sizes; the sources' own among them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc import datasets, explain, readers
from netcalc.explain import Known, measurement
from netcalc.samples import RttSamples, Table


def table(text):
    return readers.read(text.encode())


def limits(finding):
    return {one.name: one.value for one in finding.limits}


UDP_OF_TWO_SIZES = """\
protocol,server,payload_bytes,write_count,wall_s,user_s,system_s,lost_count
UDP,bsd,1440,5000,1.9618,0.0316,1.1934,336
UDP,bsd,300,5000,1.6324,0.0324,0.9998,212
TCP,bsd,1440,5000,2.88,0.0292,1.4198,
"""


def test_writes_of_two_sizes_have_a_cost_per_write_and_per_byte():
    """By hand: 392.36 and 326.48 us a write: 57.789 ns per byte, 309.143 us per write."""
    found = measurement(table(UDP_OF_TWO_SIZES))
    assert [one.label for one in found] == [
        "UDP, bsd, writes of 1440 B", "UDP, bsd, writes of 300 B", "TCP, bsd, writes of 1440 B",
    ]  # fmt: skip
    long, short, tcp = found
    (cost,) = [one for one in long.limits if one.name == "host-costs"]
    assert cost.values["byte_cost_s"] == pytest.approx(57.789e-9, rel=1e-4)
    assert cost.values["write_cost_s"] == pytest.approx(309.143e-6, rel=1e-4)
    assert cost.value == pytest.approx(8 * 1440 / 392.36e-6)
    assert limits(short)["host-costs"] == pytest.approx(8 * 300 / 326.48e-6)
    # what arrived: 4664 of 5000 datagrams
    assert long.measured == pytest.approx(8 * 1440 * 4664 / 1.9618)
    # 1.225 s of processor in 1.9618 s
    assert limits(long)["processor"] == pytest.approx(long.measured * 1.9618 / 1.225)
    assert "host-costs" not in limits(tcp), "one size gives one number"
    assert long.binding.name == "host-costs"
    assert long.confidence == "low", "two sizes give any two costs"
    assert "309.1 µs per write + 57.79 ns per byte" in str(long)
    assert "sender-not-receiver" in {one.code for one in long.notices}


def test_a_table_of_one_size_says_what_a_write_costs():
    """By hand: 0.9558 s / 5000 is 191.2 us, (0.0096 + 0.6316) s / 5000 is 128.2 us."""
    found = measurement(datasets.load("source_sink_1440"), Known(line_bps=10e6))
    by_label = {one.label: one for one in found}
    local = by_label["TCP, localhost, writes of 1440 B"]
    (cost,) = [one for one in local.notices if one.code == "write-cost"]
    assert cost.values["write_s"] == pytest.approx(191.16e-6)
    assert cost.values["processor_s"] == pytest.approx(128.24e-6)
    assert limits(local)["processor"] == pytest.approx(local.measured * 0.9558 / 0.6412)
    # the line of 10 Mbit/s carries 1440 of every 1506 B: 9.562 Mbit/s; 9.013 arrived
    udp = by_label["UDP, sparc, writes of 1440 B"]
    assert limits(udp)["line"] == pytest.approx(10e6 * 1440 / 1506)
    assert udp.measured == pytest.approx(8 * 1440 * 4560 / 5.8284)
    assert limits(measurement(datasets.load("source_sink_300"))[0]).keys() == {"processor"}


def test_sizes_and_writes_are_no_whole_transfers():
    """A column of writes makes the size that of a write: 800 bit x 1000 in 2 s."""
    for time in ("wall_s", "time_s", "elapsed [s]"):
        found = measurement(table(f"size_bytes,writes,{time}\n100,1000,2\n200,1000,3\n"))
        assert [one.measured for one in found] == pytest.approx([400e3, 1600e3 / 3]), time


def test_steps_of_buffers_are_costs_where_they_fit():
    """Derived: 100 us, 20 ns a byte, 50 us for each mbuf after the first: 1, 2, 3, 3, 2, 2, 2.

    4.4BSD: up to 72 B one mbuf with headers, to 100 two, to 207 three, from 208 a cluster.
    """
    sizes, mbufs = [40, 90, 150, 200, 300, 700, 1400], [1, 2, 3, 3, 2, 2, 2]
    noise = [1.001, 0.999, 1.001, 0.999, 1.001, 0.999, 1.0]
    rows = [
        f"UDP,{size},1000,{1000 * (1e-4 + 2e-8 * size + 5e-5 * (count - 1)) * factor:.9f}"
        for size, count, factor in zip(sizes, mbufs, noise, strict=True)
    ]
    found = measurement(table("\n".join(["protocol,write_bytes,writes,wall_s", *rows]) + "\n"))
    (cost,) = [one for one in found[0].limits if one.name == "host-costs-mbufs"]
    assert cost.values["mbuf_cost_s"] == pytest.approx(5e-5, rel=0.02)
    assert cost.values["byte_cost_s"] == pytest.approx(2e-8, rel=0.05)
    straight = [
        f"UDP,{size},1000,{1000 * (1e-4 + 2e-8 * size) * factor:.9f}"
        for size, factor in zip(sizes, noise, strict=True)
    ]
    plain = measurement(table("\n".join(["protocol,write_bytes,writes,wall_s", *straight]) + "\n"))
    assert "host-costs" in limits(plain[0])
    assert "host-costs-mbufs" not in limits(plain[0])


PAIRS = "pairs,goodput_Mbit/s\n1,20\n2,40.2\n4,79.8\n8,94.1\n16,94.0\n"


def test_series_by_a_large_size_have_a_fixed_time_of_0_at_least():
    """By hand: 1 MB in 0.12 s and 100 MB in 9.1 s are 88 Mbit/s, and a fixed time near 0."""
    found = measurement(
        table("Size [MB],WiFi [s],LAN [s]\n1,0.4,0.12\n10,3.1,0.95\n100,30.2,9.1\n")
    )
    assert [one.label for one in found] == ["WiFi", "LAN"]
    (fixed,) = (sign for sign in found[1].cause.signs if sign.name == "latency_s")
    assert fixed.low == 0.0 < fixed.value < fixed.high


def test_pairs_in_lockstep_share_until_something_is_full():
    """By hand: 20 Mbit/s a pair, so that 4 have 80; 8 would have 160 and reach 94.1."""
    found = measurement(table(PAIRS))
    assert [one.label for one in found] == ["1 pair", *(f"{n} pairs" for n in (2, 4, 8, 16))]
    four, eight = found[2], found[3]
    assert limits(four) == pytest.approx({"pair-share": 80e6, "saturation": 94.1e6})
    assert (four.binding.name, four.following.name) == ("pair-share", "saturation")
    assert limits(eight)["pair-share"] == pytest.approx(160e6)
    assert (eight.binding.name, eight.share_ratio) == ("saturation", pytest.approx(1.0))
    assert "ask-line" in {one.code for one in eight.missing}
    # 1448 of 1538 B: 94.15 Mbit/s is nearer than what was merely seen
    line = measurement(table(PAIRS), Known(line_bps=100e6))[3]
    assert line.binding.name == "line"
    assert line.confidence != "low"


def test_pairs_have_a_window_each():
    """By hand: 65,536 B in 26.2144 ms are 20 Mbit/s, and 40 for two."""
    found = measurement(table(PAIRS), Known(window_bytes=65536, rtt_s=0.0262144))
    assert [limits(one)["window"] for one in found[:2]] == pytest.approx([20e6, 40e6])
    assert found[0].binding.name == "window"


def test_pairs_that_never_fill_it_have_no_saturation():
    found = measurement(table("streams,rate_Mbit/s\n1,10\n2,20\n3,29\n"))
    assert [one.label for one in found] == ["1 stream", "2 streams", "3 streams"]
    assert all(limits(one).keys() == {"pair-share"} for one in found)
    assert "more-pairs" in {one.code for one in found[0].missing}
    flat = measurement(table("streams,rate_Mbit/s\n1,94\n2,94\n"))
    assert [one.binding.name for one in flat] == ["saturation", "saturation"]


def test_what_the_fewest_reach_is_no_next_limit_below_that_of_all():
    """9.1 of 9.4 Gbit/s with one stream: nearly all; what it has alone is no other limit."""
    one, two, _ = measurement(table("streams,rate_Gbit/s\n1,9.1\n2,9.3\n4,9.4\n"))
    assert (one.binding.name, one.following) == ("saturation", None)
    assert (two.following.name, two.following.value) == ("pair-share", pytest.approx(18.2e9))


FRAMES = "frame_bytes,rate_Mbit/s\n64,5.12\n128,10.24\n512,40.96\n1518,98.7\n"


def test_frame_sizes_and_rates_are_of_a_line_or_of_a_device():
    """By hand: 10,000 frames a second up to 512 B; 1518 of 1538 B of 100 Mbit/s are 98.7."""
    found = measurement(table(FRAMES), Known(line_bps=100e6))
    assert [one.label for one in found] == ["64 B", "128 B", "512 B", "1518 B"]
    assert [one.measured for one in found] == pytest.approx([5.12e6, 10.24e6, 40.96e6, 98.7e6])
    small, large = found[0], found[-1]
    # 148,810 frames of 64 B on the line (RFC 2544, appendix B)
    assert limits(small) == pytest.approx({"packet-rate": 5.12e6, "line": 8 * 64 * 1e8 / 8 / 84})
    assert small.binding.name == "packet-rate"
    assert large.binding.name == "line"
    assert limits(large)["line"] == pytest.approx(1e8 * 1518 / 1538)
    unknown = measurement(table(FRAMES))
    assert [one.code for one in unknown[0].missing] == ["ask-line", "ask-rate-layer"]


def test_a_rate_at_one_size_is_no_device_that_does_more_at_another():
    """20,000 frames of 64 B are not all that a device does which forwards 23,496 of 512 B."""
    small, large = measurement(
        table("frame_bytes,rate_Mbit/s\n64,10.24\n512,96.24\n"), Known(line_bps=100e6)
    )
    assert limits(small).keys() == {"line"}
    assert large.binding.name == "line"


def test_a_device_with_a_cost_per_byte():
    """The article's router: 10,100 frames of 64 B and 10,000 of 128 B: 98.02 us, 15.5 ns a byte.

    Derived, as these two are within 10 %, with three times the time per byte: 46.4 ns.
    """
    sizes = np.array([64.0, 1518.0])
    pps = 1 / (98.02e-6 + 46.4e-9 * sizes)
    data = {"frame_bytes": sizes, "rate_pps": pps}
    small, _ = measurement(Table(data=data), Known(line_bps=1e9))
    (cost,) = [one for one in small.limits if one.name == "frame-costs"]
    assert cost.values["packet_cost_s"] == pytest.approx(98.02e-6)
    assert cost.values["byte_cost_s"] == pytest.approx(46.4e-9)
    assert cost.value == pytest.approx(8 * 64 * pps[0])


def test_the_routers_of_the_article():
    """By hand: 10 of 88 B on the wire (60 and padding to 64, FCS, preamble, gap) of 100 Mbit/s.

    A captured frame of 64 B is one of 68 B; 11,337.5 a second are 0.907 Mbit/s of 10 B each.
    """
    found = measurement(datasets.load("router_throughput"), Known(line_bps=100e6))
    assert [one.label for one in found][:2] == ["1000 yuan, 68 B", "1000 yuan, 1518 B"]
    small, large = found[0], found[1]
    assert small.measured == pytest.approx(0.907e6)
    assert limits(small)["line"] == pytest.approx(100e6 * 10 / 88)
    assert small.binding.name == "packet-rate"
    assert large.binding.name == "line"
    assert limits(large)["line"] == pytest.approx(100e6 * 1460 / 1538)
    # 3512.5 and 3735.7 a second, in two modes, both far below the line: the device's
    cheap = found[3:]
    assert {one.binding.name for one in cheap} == {"packet-rate"}
    assert cheap[0].binding.values["device_pps"] == pytest.approx(3624.1, rel=1e-3)


def test_rates_above_what_frames_can_have_are_of_another_layer():
    """RFC 2544's line rate with preamble and gap: 100 Mbit/s at 64 B, where frames have 76.19."""
    found = measurement(table("frame_bytes,rate_Mbit/s\n64,100\n1518,100\n"), Known(line_bps=1e8))
    assert [one.code for one in found[0].notices] == ["limit-refuted", "rate-layer-open"]
    assert "frames with FCS" in str(found[0])


def test_responses_and_round_trips_of_tables():
    """The article: median 100 ms = two round trips of 31 ms, and 38 ms near a timer of 40 ms."""
    by_mode = {one.label: one for one in measurement(datasets.load("nagle_round_trips"))}
    held = by_mode["Nagle on"]
    assert held.measured == pytest.approx(0.1)
    parts = {one.name: one.value for one in held.limits}
    assert parts == pytest.approx({"round-trips": 0.062, "ack-timer": 0.038})
    assert [one.name for one in by_mode["single write"].limits] == ["round-trips", "host"]
    curves = {one.label: one for one in measurement(datasets.load("wan_curves"))}
    assert curves["connix.com - noao.edu"].measured == pytest.approx(0.193)


def test_the_time_of_a_transfer_by_rate_and_latency():
    """Stevens: a megabyte on a T1 takes 5.18 s, and 30 ms more; on a T3 178 and 30 ms."""
    found = measurement(datasets.load("transfer_times"))
    assert [one.label for one in found] == ["T1", "T3", "150 Mb/s"]
    first, second, third = found
    assert {one.name: one.value for one in first.limits} == pytest.approx(
        {"row-serialization": 8e6 / 1.544e6, "row-latency": 0.03}
    )
    assert first.measured == pytest.approx(5.21)
    assert second.binding.name == "row-serialization"
    assert [one.code for one in second.notices] == []
    # 8e6 / 150e6 + 0.03 is 83.3 ms; the book prints 82
    assert [one.code for one in third.notices] == ["parts-differ"]
    hops = measurement(datasets.load("serialization_times"))
    (slow,) = [one for one in hops[3].limits if one.name == "row-serialization"]
    assert slow.value == pytest.approx(10 * 8 * 552 / 1.544e6)


def test_theory_is_drawn_where_there_is_any():
    pairs = explain.table_theory(table(PAIRS), Known(line_bps=100e6))
    assert (pairs.x_name, pairs.y_unit) == ("pairs", "bit/s")
    at = dict(zip(pairs.x.tolist(), pairs.lines["pairs alike"].tolist(), strict=True))
    assert at[4.0] == pytest.approx(80e6)
    assert pairs.lines["the line"][0] == pytest.approx(100e6 * 1448 / 1538)
    frames = explain.table_theory(table(FRAMES), Known(line_bps=100e6))
    assert frames.lines["the line"][0] == pytest.approx(100e6 * 64 / 84)
    assert frames.lines["the device"][0] == pytest.approx(10e3 * 8 * 64)
    writes = explain.table_theory(table(UDP_OF_TWO_SIZES), Known())
    assert writes.lines["UDP, bsd: costs"][0] == pytest.approx(326.48e-6)
    assert set(writes.points) == {"UDP, bsd", "TCP, bsd"}
    assert explain.table_theory(table("a [s],b [s]\n1,2\n"), Known()) is None
    assert explain.table_theory(datasets.load("source_sink_1440"), Known()) is None, "one size"
    ping = RttSamples(payload_bytes=[56.0], rtt_s=[0.1])
    assert explain.table_theory(ping, Known()) is None


def test_rows_that_are_unknown_are_left_out():
    found = measurement(table("pairs,goodput_Mbit/s\n1,20\n2,\n4,80\n"))
    assert [one.label for one in found] == ["1 pair", "4 pairs"]
    nothing = table("write_bytes,writes,wall_s\n100,0,1\n100,5,0\n")
    with pytest.raises(Exception, match="no theory"):
        measurement(nothing)
    assert all(math.isfinite(one.measured) for one in found)


@pytest.mark.each(
    "text",
    [
        "captured_bytes,goodput_bps,payload_bytes\n1500,1000,nan\n64,nan,0\n3,0,0\n1e300,64,1\n64,800,10\n",
        "frame_bytes,rate_pps\n0,3\n,1518\nnan,5\n1e300,1e300\n64,1000\n",
        "pairs,goodput_Mbit/s\n0.001,1500\n1e300,5\n-1,100\n1e-300,1e300\n1,9\n2,9\n",
        "write_bytes,writes,wall_s\n1500,1e-300,1\n65536,1e300,1e300\n64,5,1\n1e300,5,1\n",
        "bandwidth_bps,payload_bytes,latency_s,printed_transfer_s\n0.1,3,nan,1e300\n1000,1,,0.01\n",
        "payload_bytes,curve_rtt_s\nnan,\n1518,0\n",
    ],
)
def test_rows_of_any_numbers_are_computed_or_left_out(text):
    """Nothing but what can be: warnings are errors here, and each finding can be written."""
    samples = table(text)
    for known in (Known(), Known(line_bps=1e9, rtt_s=0.04, device_pps=1e4)):
        for one in measurement(samples, known):
            assert "inf" not in str(one.rows()).replace("infer", "")
            assert one.as_dict()["limits"] is not None
        explain.table_theory(samples, known)


@pytest.mark.each(
    "header",
    [
        "write_bytes,write_count,wall_s",
        "write_bytes,writes,wall_time_s",
        "write size (B),write count,wall time (s)",
        "write_bytes,total_bytes,wall_s",
    ],
)
def test_writes_are_named_in_several_ways(header):
    """By hand: 64 B x 10,000 in 10.2 s are 501.96 kbit/s; their sum is 640,000 B."""
    is_total = "total" in header
    counts = (64 * 10000, 8192 * 10000) if is_total else (10000, 10000)
    samples = table(f"{header}\n64,{counts[0]},10.2\n8192,{counts[1]},18\n")
    assert samples.meta.warnings == ()
    first, second = measurement(samples)
    assert first.measured == pytest.approx(8 * 64 * 10000 / 10.2)
    assert second.measured == pytest.approx(8 * 8192 * 10000 / 18)


@pytest.mark.each("header", ["write size (KiB),wall time (s)", "write_bytes,wall_time_s"])
def test_writes_without_a_count_ask_for_it(header):
    (found,) = measurement(table(f"{header}\n1,10.2\n2,5.4\n"))
    assert [one.code for one in found.missing] == ["ask-write-count"]
    assert "total_bytes" in str(found)


def test_a_table_of_sizes_and_times_may_be_one_of_writes():
    said = " ".join(str(one) for one in explain.described(table("chunk [B],wall [s]\n1,2\n2,3\n")))
    assert "write_bytes" in said
    assert "write_count" in said


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "server",
            "{},rtt [ms],goodput [Mbit/s]\na,10,52.4\na,20,26.2\na,40,13.1\n"
            "b,10,5.24\nb,20,2.62\nb,40,1.31\n",
        ),
        (
            "mode",
            "{},time [ms]\none write,1.1\none write,1.2\nlength first,41.1\nlength first,41.2\n",
        ),
    ],
)
def test_the_name_of_a_series_may_have_capitals(name, rows):
    """52.4 Mbit/s over 10 ms are 65.5 kB, 5.24 Mbit/s 6.55 kB: two series, each with a window."""
    lower, upper = (measurement(table(rows.format(each))) for each in (name, name.title()))
    assert [each.label for each in upper] == [each.label for each in lower]
    assert [each.sentence for each in upper] == [each.sentence for each in lower]
    assert len({each.label for each in lower}) >= 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rtt [ms],rate [Mbit/s]\n10,52.4\n20,26.2\n40,13.1\n", [["rate_bps"]]),
        ("rtt [ms],throughput [Mbit/s]\n10,52.4\n20,26.2\n40,13.1\n", [["throughput_bps"]]),
        ("size [B],time [ms]\n100,1\n500,2\n1000,3\n1500,4\n", []),
    ],
)
def test_an_assumed_layer_is_said_once_where_read_states_none(text, expected):
    found = measurement(table(text))
    said = [one for each in found for one in each.notices if one.code == "assumed-layer"]
    assert [one.values["names"] for one in said] == expected
    assert all("TCP payload" in str(one) for one in said)
