"""The files of the sources' own experiments, each with the sentence that is so."""

from __future__ import annotations

import pytest

from netcalc import explain, readers
from netcalc.explain import Known, measurement
from netcalc.samples import FlowSeries, Meta
from tests.readers.captures.writer import Capture, Conversation

ARTICLE = [62, 107, 100, 109, 104, 104, 100, 100, 100, 100]
"""Nagle article, the ten times of the run without options. [ms]"""
WITHOUT_NAGLE = [44, 47, 45, 37, 48, 50, 49, 41, 49, 50]
"""The same with TCP_NODELAY. [ms]"""
AT_ONCE = [38, 36, 45, 37, 46, 31, 42, 36, 41, 44]
"""The same with one write. [ms]"""


def lines(times_ms):
    """Return what the program of the article prints."""
    return "".join(f"RTT:{each} ,receive:hello world\n" for each in times_ms).encode()


def explained(text, **known):
    return measurement(readers.read(text), Known(**known))


def notices(finding):
    return {one.code: one.values for one in finding.notices}


def test_the_ten_lines_of_the_article():
    """The article: 40 ms of delayed ACK; by hand 62 = 2 x 31, and 100 - 62 = 38 ms."""
    (found,) = explained(lines(ARTICLE))
    assert found.cause.code == "nagle-delayed-ack"
    assert {one.name: one.value for one in found.limits} == pytest.approx(
        {"round-trips": 0.062, "ack-timer": 0.038}
    )
    said = notices(found)["stall-arithmetic"]
    assert (said["timer_s"], said["trips"]) == (0.04, 2)
    # 45 and 40 ms in the article, 31 of them the round trip, the rest the hosts
    assert said["free_s"] == pytest.approx(0.031)
    assert found.cause.share_of_time == pytest.approx(0.69)
    assert "one more round trip of 31 ms, and 38 ms for a timer of 40 ms" in found.sentence


@pytest.mark.each("times_ms", [WITHOUT_NAGLE, AT_ONCE])
def test_the_lines_without_a_wait(times_ms):
    """The article: no delayed ACK with TCP_NODELAY, and none with one write."""
    (found,) = explained(lines(times_ms))
    assert found.cause is None
    assert found.binding.name == "round-trips"
    assert found.binding.values["count"] == 1


@pytest.mark.each(
    ("rtt_ms", "later_ms"),
    [(30, [101, 104, 103, 102, 104]), (2, [44, 45, 47, 44, 46]), (150, [341, 344, 343, 342, 340])],
)
def test_a_run_of_one_s_own(rtt_ms, later_ms):
    """Derived: first two round trips, then those and Linux's 40 ms, in ticks of 4 ms."""
    (found,) = explained(lines([2 * rtt_ms, *later_ms]))
    trips = next(one for one in found.limits if one.name == "round-trips")
    assert trips.values == pytest.approx({"count": 2, "rtt_s": rtt_ms / 1e3})
    assert found.cause.code == "nagle-delayed-ack"
    assert notices(found)["stall-arithmetic"]["held_s"] == pytest.approx(2e-3 * rtt_ms + 0.04)


def test_a_run_without_its_first_exchange():
    """Held responses alone show no timer: nothing says that one was faster."""
    (found,) = explained(lines(ARTICLE[1:]))
    assert found.cause is None
    assert found.confidence == "medium", "one round trip of 100 ms is but a guess"
    (stated,) = explained(lines(ARTICLE[1:]), rtt_s=0.03)
    assert stated.cause.code == "nagle-delayed-ack"
    assert stated.cause.confidence == "medium", "their order does not show the timer"
    assert explained(lines(ARTICLE), rtt_s=0.03)[0].cause.confidence == "high"


def test_a_server_that_varies_has_no_timer():
    """By hand: median 60 ms, 40 beyond two round trips of 10, but quartiles of 20 and 60."""
    (found,) = explained(lines([60, 20, 30, 40, 60, 60, 80, 90, 100]), rtt_s=0.01)
    assert "ack-timer" in [one.name for one in found.limits]
    assert found.cause is None


def test_the_whole_output_of_the_article():
    """Its headings: Null, 1 and 3, what the program was started with."""
    text = b"".join(
        heading + b"\n" + lines(times) + b"\n"
        for heading, times in ((b"Null", ARTICLE), (b"1", WITHOUT_NAGLE), (b"3", AT_ONCE))
    )
    by_mode = {one.label: one for one in explained(text)}
    assert list(by_mode) == ["Null", "1", "3"]
    assert [one.measured for one in by_mode.values()] == pytest.approx([0.1, 0.0475, 0.0395])
    assert by_mode["Null"].cause.code == "nagle-delayed-ack"
    assert notices(by_mode["Null"])["modes-apart"]["other"] == "3"
    message = lines(ARTICLE[:5]) + b"Connection reset\n" + lines(ARTICLE[5:])
    (found,) = explained(message)
    assert found.label == "small writes"


def rows_of_modes(name):
    rows = [
        *(f"nagle,{each}" for each in ARTICLE),
        *(f"nodelay,{each}" for each in WITHOUT_NAGLE),
        *(f"one write,{each}" for each in AT_ONCE),
    ]
    return "\n".join([f"mode,{name}", *rows, ""]).encode()


def columns_of_modes():
    rows = zip(ARTICLE, WITHOUT_NAGLE, AT_ONCE, strict=True)
    text = "\n".join(",".join(map(str, row)) for row in rows)
    return f"nagle [ms],nodelay [ms],one write [ms]\n{text}\n".encode()


@pytest.mark.each(
    "text",
    [rows_of_modes("time_ms"), rows_of_modes("rtt_ms"), rows_of_modes("response_ms"),
     columns_of_modes()],
)  # fmt: skip
def test_a_table_of_modes(text):
    """By hand: medians 100, 47.5 and 39.5 ms: 60.5 between them are 38 + 31 less 39.5 - 31."""
    by_mode = {one.label: one for one in explained(text)}
    assert list(by_mode) == ["nagle", "nodelay", "one write"]
    assert by_mode["nagle"].cause.code == "nagle-delayed-ack"
    assert by_mode["nodelay"].cause is None
    assert by_mode["one write"].cause is None
    apart = notices(by_mode["nagle"])["modes-apart"]
    assert apart["other"] == "one write"
    assert apart["host_s"] == pytest.approx(0.0085)
    assert apart["wait_s"] == pytest.approx(0.038)
    assert apart["rtt_s"] == pytest.approx(0.031)


def test_modes_that_say_nothing_of_writes_are_not_explained_by_them():
    with pytest.raises(readers.ReaderError):
        explained(b"mode,time_ms\nbus,62\nbus,107\nbus,100\ntrain,44\ntrain,47\ntrain,45\n")


def small_writes(*, way, pause_s=0.0, count=10, trip_s=0.03, timer_s=0.04):
    """Return a capture of the article's program: two writes, the second held, and an answer.

    The receiver acknowledges the first part at once in the first exchange, by its timer later.
    ``way`` is where the capture is made: 0 at the client, 1 at the server.
    """
    half_s = trip_s / 2
    packets = []

    def add(sent_s, to_server, sequence, ack, **more):
        late_s = half_s * (way if to_server else 1 - way)
        packets.append((sent_s + late_s, to_server, sequence, ack, more))

    ours, theirs, now_s = 1, 1, trip_s
    for number in range(count):
        wait_s = timer_s if number else 0.0
        add(now_s, True, ours, theirs, payload=6)
        add(now_s + half_s + wait_s, False, theirs, ours + 6)
        add(now_s + trip_s + wait_s, True, ours + 6, theirs, payload=7)
        add(now_s + trip_s + wait_s + half_s, False, theirs, ours + 13, payload=13)
        ours, theirs = ours + 13, theirs + 13
        now_s += 2 * trip_s + wait_s
        if pause_s:
            add(now_s, True, ours, theirs)  # in a pause the answer is acknowledged by itself
        now_s += pause_s
    capture = Capture()
    dialogue = Conversation(capture)
    dialogue.open(half_s * way, trip_s * (1 - way), trip_s * way)
    for time_s, to_server, sequence, ack, more in sorted(packets, key=lambda row: row[0]):
        dialogue.send(time_s, to_server, sequence, ack, **more)
    return capture.pcap(nano=True)


@pytest.mark.each("way", [0.0, 0.5, 1.0])
def test_the_program_captured_at_either_end_or_between(way):
    """By hand: handshake 30, the first exchange 60, nine of 100 ms, of which 70 are held."""
    (found,) = explained(small_writes(way=way))
    assert found.cause.code == "nagle-delayed-ack"
    # from the SYN to the last segment of the client, 30 ms before the end
    whole_s = 0.03 + 0.06 + 9 * 0.1 - 0.03
    assert found.cause.duration_s == pytest.approx(whole_s, rel=0.02)
    assert found.cause.share_of_time == pytest.approx(9 * 0.07 / whole_s, rel=0.03)
    limit = next(one for one in found.limits if one.name == "delayed-ack")
    assert limit.value == pytest.approx(8 * 130 / (9 * (0.04 + 2 * 0.03)), rel=0.02)
    assert "line" not in [one.name for one in found.limits]
    assert notices(found)["stall-arithmetic"]["held_s"] == pytest.approx(0.1, rel=0.01)


@pytest.mark.each("way", [0.0, 0.5, 1.0])
def test_the_pauses_of_the_program_are_those_of_the_sender(way):
    """The article's sleep of 1 s: nine pauses between ten exchanges."""
    (found,) = explained(small_writes(way=way, pause_s=1.0))
    assert found.cause.code == "sender-program"
    whole_s = 0.03 + 0.06 + 9 * 1.1 - 0.03
    assert found.cause.share_of_time == pytest.approx(9 / whole_s, rel=0.03)
    assert found.cause.shares["nagle-delayed-ack"] == pytest.approx(9 * 0.07 / whole_s, rel=0.1)


def iperf3(rate_bps, *, printed, seconds=5, rtt_s=0.04, cwnd_bytes=57_920.0, **facts):
    """Return a run as iperf3 reports it, an interval a second."""
    size = rate_bps / 8
    row = {
        "protocol": "tcp", "sent_rate_bps": rate_bps, "received_rate_bps": rate_bps,
        "received_byte_count": size * seconds, "duration_s": float(seconds),
        "retransmit_count": 0, "stream_count": 1, **facts,
    }  # fmt: skip
    return FlowSeries(
        start_s=[float(at) for at in range(seconds)], duration_s=[1.0] * seconds,
        payload_bytes=[size] * seconds, throughput_bps=[rate_bps] * seconds,
        rtt_s=[rtt_s] * seconds, cwnd_bytes=[cwnd_bytes] * seconds,
        meta=Meta(tool="iperf3", facts=(row,), printed=printed),
    )  # fmt: skip


@pytest.mark.each(
    ("asked_bytes", "rate_bps", "ceiling_bps", "confidence"),
    [
        (4096, 1.07e6, 1.6384e6, "medium"),
        (8192, 2.97e6, 3.2768e6, "high"),
        (16384, 6.34e6, 6.5536e6, "high"),
    ],
)
def test_a_sweep_of_buffers(asked_bytes, rate_bps, ceiling_bps, confidence):
    """Recorded with iperf3 -w over 40 ms; by hand: twice the size asked for over the round trip."""
    actual = {"send_buffer_bytes": 2 * asked_bytes, "receive_buffer_bytes": 2 * asked_bytes}
    run = iperf3(rate_bps, printed={"asked_buffer_bytes": asked_bytes, **actual})
    (found,) = measurement(run)
    assert (found.cause.code, found.confidence) == ("sender-buffer", confidence)
    limits = {one.name: one for one in found.limits}
    assert limits["socket-buffer"].value == pytest.approx(ceiling_bps)
    assert "send-window" not in limits, "the congestion window is not what is in flight"
    assert "ask-window" not in [one.code for one in found.missing]
    assert found.binding.name == "socket-buffer"


def test_the_smaller_of_both_buffers_is_the_receivers():
    """Recorded: iperf3 -w 16K over 42.5 ms offers 18,824 B, and 3.39 Mbit/s arrive."""
    printed = {
        "asked_buffer_bytes": 16_384, "send_buffer_bytes": 32_768, "receive_buffer_bytes": 32_768,
        "streams": [{"rtt_min_s": 0.042534, "offered_window_bytes": 18_824}],
    }  # fmt: skip
    run = iperf3(3.386e6, printed=printed, rtt_s=0.04342)
    (found,) = measurement(run)
    assert found.cause.code == "receiver-window"
    limits = {one.name: one.value for one in found.limits if one.name != "slow-start"}
    # by hand: 8 x 18,824 B and 8 x 32,768 B over 43.42 ms
    assert limits == pytest.approx(
        {"receive-window": 3.4683e6, "socket-buffer": 6.0374e6}, rel=1e-4
    )


def test_a_full_window_stands_in_the_queue_of_a_line():
    """Recorded: iperf3 -w 64K over 10 Mbit/s and 41 ms: 66 ms of round trip, 9.48 Mbit/s."""
    printed = {
        "asked_buffer_bytes": 65_536, "send_buffer_bytes": 131_072,
        "streams": [{"rtt_min_s": 0.065936, "offered_window_bytes": 80_480}],
    }  # fmt: skip
    run = iperf3(9.478e6, printed=printed, rtt_s=0.06652, cwnd_bytes=153_488)
    (found,) = measurement(run, Known(rtt_s=0.041))
    assert found.cause.code == "line"


def test_a_buffer_that_nobody_set_is_no_ceiling():
    """Linux lets it grow: what it was at the beginning is no limit of the run."""
    run = iperf3(20e6, printed={"send_buffer_bytes": 16_384}, cwnd_bytes=110_000.0)
    (found,) = measurement(run)
    assert "socket-buffer" not in [one.name for one in found.limits]


def test_datagrams_that_came_later_are_not_lost():
    """Recorded: 12 Mbit/s for 4 s into a line of 10: 5.998 of 5.999 MB came, in 5.04 s."""
    row = {
        "protocol": "udp", "sent_rate_bps": 11.998e6, "received_rate_bps": 9.5206e6,
        "sent_byte_count": 5_999_040, "received_byte_count": 5_997_600, "loss_ratio": 0.0,
        "datagram_count": 4166, "duration_s": 4.0, "stream_count": 1,
    }  # fmt: skip
    run = FlowSeries(
        start_s=[0.0], duration_s=[4.0], payload_bytes=[5_999_040.0], throughput_bps=[11.998e6],
        meta=Meta(tool="iperf3", facts=(row,), printed={"asked_rate_bps": 12e6}),
    )  # fmt: skip
    (found,) = measurement(run)
    said = notices(found)
    assert "sender-not-receiver" not in said
    # by hand: 9.5206 of 11.998 Mbit/s are 20.6 % less, and all arrived
    assert said["receiver-took-longer"]["share"] == pytest.approx(0.2065, abs=1e-3)
    assert "did not arrive" not in str(found)
    assert found.cause.code == "line"


def test_an_interface_without_a_column_of_bytes_is_not_idle():
    """netstat -i, Snader's own tool: packets alone."""
    text = (
        b"Kernel Interface table\n"
        b"Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n"
        b"eth0      1500    14292      0      0 0          9120      0      0      0 BMRU\n"
    )
    found = {one.label: notices(one) for one in explained(text)}
    assert found["eth0, received"] == {"packets-without-bytes": {"count": 14292}}
    assert found["eth0, sent"] == {"packets-without-bytes": {"count": 9120}}


ROUTER = "frame [B],rate [pps]\n64,21010\n128,20950\n256,20890\n512,20750\n1024,11973\n1518,8127\n"
"""A router of 21 kpps in front of 100 Mbit/s: 11,973 and 8,127 frames of 1044 and 1538 B."""


@pytest.mark.each("known", [{}, {"line_bps": 100e6}])
def test_the_router_with_and_without_its_line(known):
    """By hand: 1e8 / (8 x 1044) and 1e8 / (8 x 1538) frames a second are the line's."""
    found = explained(ROUTER.encode(), **known)
    line = "line" if known else "likely-line"
    assert [one.binding.name for one in found] == ["packet-rate"] * 4 + [line] * 2
    assert all(one.is_explained for one in found)
    large = {one.name: one for one in found[-1].limits}
    assert large[line].value == pytest.approx(1e8 * 1518 / 1538)
    if not known:
        assert found[-1].confidence == "medium"
        assert large["frame-costs"].for_comparison, "the other reading is said, too"
        assert "ask-line" in [one.code for one in found[-1].missing]
        theory = explain.table_theory(readers.read(ROUTER.encode()), Known())
        assert list(theory.lines) == ["a line of 100 Mbit/s (Ethernet line)", "the device"]


@pytest.mark.each(
    "rates",
    [
        [21010, 20950, 20890, 20750, 15000, 10000],  # below the line at all sizes
        [21010, 20950, 20890, 20750, 20600, 8127],  # one size alone on a line
        [148810, 84459, 45290, 23496, 11973, 8127],  # all of them
    ],
)
def test_no_line_without_two_of_the_largest_sizes_on_it(rates):
    rows = zip([64, 128, 256, 512, 1024, 1518], rates, strict=True)
    text = "frame [B],rate [pps]\n" + "".join(f"{size},{rate}\n" for size, rate in rows)
    names = {limit.name for one in explained(text.encode()) for limit in one.limits}
    assert "likely-line" not in names


def megabits(overhead_bytes, pps=11_000):
    """Return a table of a router of 11,000 frames a second, counting frames less an overhead."""
    rows = [
        (size, 8 * (size - overhead_bytes) * min(pps, 1e8 / 8 / (size + 20)) / 1e6)
        for size in (64, 128, 256, 512, 1024, 1518)
    ]
    text = "".join(f"{size},{rate:.4f}\n" for size, rate in rows)
    return f"frame [B],throughput [Mbit/s]\n{text}".encode()


@pytest.mark.each(
    ("overhead_bytes", "layer", "other"),
    [(0, "Ethernet frame", "TCP payload"), (58, "TCP payload", "Ethernet frame")],
)
def test_the_router_in_megabits(overhead_bytes, layer, other):
    """Derived: 11,000 frames a second; IxChariot counts the payload, 58 B a frame less."""
    found = explained(megabits(overhead_bytes), line_bps=100e6)
    assert all(one.is_explained for one in found)
    assert [one.binding.name for one in found] == ["packet-rate"] * 5 + ["line"]
    assert {one.layer for one in found} == {"unknown"}
    assert notices(found[0])["rate-layer-open"] == {"layer": layer, "other": other}
    assert "ask-rate-layer" in [one.code for one in found[0].missing]
    device = next(one for one in found[0].limits if one.name == "packet-rate")
    assert device.values["device_pps"] == pytest.approx(11_000)
    (said,) = explained(b"frame [B],frame_throughput [Mbit/s]\n64,5.632\n", line_bps=100e6)
    assert said.layer == "Ethernet frame"
    assert "rate-layer-open" not in notices(said)


AT_ONCE_TRACE = """traceroute to 198.19.52.254 (198.19.52.254), 30 hops max, 1400 byte packets
 1  198.19.52.2  3.610 ms  4.682 ms  5.793 ms
 2  198.19.52.3  57.161 ms  64.394 ms  71.632 ms
 3  * * *
 4  * 198.19.52.254  60.074 ms  67.358 ms
"""
"""Recorded over 10 Mbit/s 1 ms, T1 20 ms and 100 Mbit/s 3 ms, with traceroute's 16 probes."""
ONE_BY_ONE = """traceroute to 198.19.52.254 (198.19.52.254), 30 hops max, 1400 byte packets
 1  198.19.52.2  3.622 ms  3.604 ms  3.600 ms
 2  198.19.52.3  53.848 ms  53.850 ms  53.852 ms
 3  198.19.52.254  60.068 ms  60.063 ms  60.079 ms
"""
"""Recorded over the same path with -N 1."""
JITTER = """traceroute to 192.0.2.9 (192.0.2.9), 30 hops max, 60 byte packets
 1  192.0.2.1  1.120 ms  1.310 ms  1.240 ms
 2  192.0.2.5  8.410 ms  9.950 ms  9.970 ms
 3  192.0.2.9  20.100 ms  20.900 ms  23.300 ms
"""


def test_probes_that_wait_for_each_other():
    """By hand: a packet of 1400 B takes 1400 x 8 / 1.544e6 = 7.25 ms on a T1."""
    (found,) = explained(AT_ONCE_TRACE.encode())
    assert notices(found)["probes-at-once"]["step_s"] == pytest.approx(7.25e-3, rel=0.01)
    assert found.confidence == "low"
    assert "-N 1" in str(found)


def test_hops_before_the_slow_line_do_not_show_its_steps():
    """A quick first hop is a matter of luck; behind it the steps are those of the T1."""
    text = AT_ONCE_TRACE.replace("3.610 ms  4.682 ms  5.793 ms", "0.612 ms  0.402 ms  0.398 ms")
    (found,) = explained(text.encode())
    assert notices(found)["probes-at-once"]["step_s"] == pytest.approx(7.25e-3, rel=0.01)


def test_tools_that_send_one_probe_after_the_other():
    """The times of tracert and of Cisco's traceroute rise by chance: there is no -N to advise."""
    rows = "  1     1 ms     2 ms     3 ms  192.0.2.1\n  2    11 ms    12 ms    13 ms  192.0.2.9\n"
    (found,) = explained(f"Tracing route to 192.0.2.9 over a maximum of 30 hops\n\n{rows}".encode())
    assert "probes-at-once" not in notices(found)


@pytest.mark.each("text", [ONE_BY_ONE, JITTER])
def test_probes_that_do_not(text):
    (found,) = explained(text.encode())
    assert "probes-at-once" not in notices(found)
    assert "-N 1" not in str(found)


def test_steps_of_one_hop_alone():
    """The review's trace: five probes in steps of 7.2 ms."""
    text = (
        "traceroute to 192.0.2.9 (192.0.2.9), 30 hops max, 1400 byte packets\n"
        " 1  192.0.2.9  58.97 ms  66.17 ms  73.37 ms  80.56 ms  87.75 ms\n"
    )
    (found,) = explained(text.encode())
    assert notices(found)["probes-at-once"]["step_s"] == pytest.approx(7.195e-3, rel=1e-3)
