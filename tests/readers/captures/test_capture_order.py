"""Captures whose packets are in a wrong order, miss data, or show a closed window: by hand."""

from __future__ import annotations

import re
import struct

import pytest
import writer as w

from netcalc import explain, readers
from netcalc.cli.first_screen import first_screen
from netcalc.cli.read import flow_lines
from netcalc.readers.captures import read_capture
from netcalc.readers.captures.tcp import analyse_tcp, facts, flow_table, tcp_notices

MSS, COUNT, RTT_S = 1000, 40, 0.02
CLIENT, SERVER = "192.0.2.1", "198.51.100.2"


def transfer(*, stamped: bool = False) -> list[tuple[int, bytes, int]]:
    """Forty segments of the client, 2 ms apart, each acknowledged 20 ms later; at the client."""
    capture = w.Capture()
    one = w.Conversation(capture, stamped=stamped)
    begin_s = one.open(0.0, RTT_S, 0.0)
    for number in range(COUNT):
        at_s = begin_s + 0.002 * (number + 1)
        one.send(at_s, True, 1 + number * MSS, 1, payload=MSS)
        one.send(at_s + RTT_S, False, 1, 1 + (number + 1) * MSS)
    return sorted(capture.packets, key=lambda packet: packet[0])


def is_of_client(packet: tuple[int, bytes, int]) -> bool:
    return packet[1][26:30] == bytes(map(int, CLIENT.split(".")))


def later(packets: list, by_s: float) -> list:
    """The packets with those of the server at a clock that is ahead by so much."""
    by_ns = round(by_s * 1e9)
    return [(t if is_of_client((t, data, n)) else t + by_ns, data, n) for t, data, n in packets]


def by_time(packets: list) -> list:
    return sorted(packets, key=lambda packet: packet[0])


def halves(packets: list, *, client_first: bool) -> list:
    """One file behind another: all packets of one end, then all of the other."""
    return sorted(packets, key=lambda packet: is_of_client(packet) != client_first)


def two_interfaces(packets: list) -> bytes:
    blocks = [w.section("<")] + [w.block("<", 1, struct.pack("<HHI", 1, 0, 0))] * 2
    for time_ns, data, original in packets:
        number = 0 if is_of_client((time_ns, data, original)) else 1
        blocks.append(w.packet_block("<", 6, number, time_ns // 1000, data, original))
    return b"".join(blocks)


def read(packets: list) -> dict[str, object]:
    return row_of(w.Capture(packets).pcap(nano=True))


def row_of(data: bytes) -> dict[str, object]:
    trace = read_capture(data)
    columns = flow_table(trace).columns()
    row = {name: column[0] for name, column in columns.items()}
    assert facts(trace)[0]["tcp_retransmission_count"] == row["retransmission_count"]
    return row


@pytest.mark.each("stamped", (False, True))
@pytest.mark.each(
    "order",
    (
        lambda packets: packets,
        lambda packets: packets[::-1],
        lambda packets: halves(packets, client_first=True),
        lambda packets: halves(packets, client_first=False),
        lambda packets: packets[1::2] + packets[::2],
    ),
)
def test_a_file_in_another_order_is_read_in_that_of_its_times(order, stamped):
    row = read(order(transfer(stamped=stamped)))
    assert row["payload_bytes"] == COUNT * MSS
    assert row["retransmission_count"] == row["out_of_order_count"] == row["missed_bytes"] == 0
    assert row["handshake_rtt_s"] == pytest.approx(RTT_S)
    assert row["rtt_min_s"] == pytest.approx(RTT_S)
    assert row["rtt_max_s"] == pytest.approx(RTT_S)
    # the ACK of the handshake is 2 ms before the first of forty; the SYN 20 ms before it
    assert row["duration_s"] == pytest.approx(RTT_S + 0.002 * COUNT)


@pytest.mark.each("ahead_s", (-0.035, -5.0))
def test_acknowledgements_before_their_data_are_said_and_no_loss(ahead_s):
    """Two captures merged by times of clocks that are apart."""
    packets = by_time(later(transfer(), ahead_s))
    row = read(packets)
    assert row["payload_bytes"] == COUNT * MSS
    assert row["retransmission_count"] == 0
    assert not row["rtt_min_s"] > 0
    trace = read_capture(w.Capture(packets).pcap(nano=True))
    said = {notice.code: notice.values for notice in tcp_notices(analyse_tcp(trace))}
    assert said["data-after-ack"] == {"count": COUNT}
    first = explain.measurement(readers.read(w.Capture(packets).pcap(nano=True)), explain.Known())[
        0
    ]
    assert (first.cause.code, first.cause.confidence) == ("unknown", "low")


def test_two_interfaces_with_clocks_apart_have_no_round_trip_between_them():
    data = two_interfaces(later(transfer(), -0.035))
    row = row_of(data)
    assert row["payload_bytes"] == COUNT * MSS
    assert row["retransmission_count"] == 0
    assert not row["rtt_min_s"] > 0
    samples = readers.read(data)
    assert "time-goes-back" in [notice.code for notice in samples.meta.warnings]
    first = explain.measurement(samples, explain.Known())[0]
    assert (first.cause.code, first.cause.confidence) == ("unknown", "low")


def test_a_clock_that_was_set_takes_no_time_from_a_flow():
    packets = transfer()
    half = len(packets) // 2
    stepped = packets[:half] + [(t - 10**9, data, n) for t, data, n in packets[half:]]
    plain, row = read(packets), read(stepped)
    assert row["duration_s"] == pytest.approx(plain["duration_s"], abs=0.003)  # one gap is unseen
    assert row["retransmission_count"] == 0
    assert row["rtt_max_s"] == pytest.approx(RTT_S)


def test_a_segment_sent_again_though_acknowledged_is_still_one():
    capture = w.Capture()
    one = w.Conversation(capture)
    at_s = one.open(0.0, RTT_S, 0.0)
    for number in (0, 1, 2, 1):
        one.send(at_s + 0.01 * (len(capture.packets)), True, 1 + number * MSS, 1, payload=MSS)
        one.send(at_s + 0.01 * (len(capture.packets)), False, 1, 1 + 3 * MSS * (number > 1))
    row = read(capture.packets)
    assert row["spurious_retransmission_count"] == 1


@pytest.mark.each(
    ("captured", "acknowledged", "missed"),
    [
        # of ten segments; tshark 4.0 has tcp.analysis.lost_segment or ack_lost_segment in each
        (range(10), 10, 0),
        ((0, 1, 2, 4, 5, 7, 8, 9), 10, 2),
        ((3, 4, 5, 6, 7, 8, 9), 10, 3),  # the first ones: the SYN says where data begin
        ((0, 1, 2, 3, 4, 5, 6), 10, 3),  # the last ones
        ((), 10, 10),
        ((0, 1, 2, 5), 3, 0),  # what was not acknowledged may have been lost
    ],
)
@pytest.mark.each("fin", (False, True))
def test_what_was_acknowledged_and_not_captured_is_told(captured, acknowledged, missed, fin):
    capture = w.Capture()
    one = w.Conversation(capture)
    at_s = one.open(0.0, RTT_S, 0.0)
    for number in captured:
        one.send(at_s + 0.001 * number, True, 1 + number * MSS, 1, payload=MSS)
    whole = fin and acknowledged == 10
    if whole:
        one.send(at_s + 0.02, True, 1 + 10 * MSS, 1, flags=w.FIN | w.ACK)
    one.send(at_s + 0.05, False, 1, 1 + acknowledged * MSS + whole)
    row = read(capture.packets)
    assert row["missed_bytes"] == missed * MSS
    trace = readers.read(w.Capture(capture.packets).pcap())
    said = [str(notice) for notice in trace.meta.warnings if notice.code == "capture-missed"]
    assert len(said) == bool(missed)
    assert not missed or "lower bounds" in said[0]
    text = "\n".join(flow_lines(trace, None))
    assert ("and not captured" in text) == bool(missed and len(captured))


def test_a_flow_that_began_before_misses_nothing_before_its_first_segment():
    capture = w.Capture()
    one = w.Conversation(capture)
    one.send(0.0, False, 1, 50_001)
    one.send(0.01, True, 50_001, 1, payload=MSS)
    one.send(0.03, False, 1, 50_001 + MSS)
    assert read(capture.packets)["missed_bytes"] == 0


def closing(
    *, up: bool = True, opened: bool = True, small: int = 0, probes: bool = False,
    is_6: bool = False, cycles: int = 5,
) -> bytes:  # fmt: skip
    """Ten segments, then a window of ``small`` for a second; five times, open again at the end."""
    capture = w.Capture()
    one = w.Conversation(capture)
    at_s = one.open(0.0, RTT_S if up else 0.0, 0.0 if up else RTT_S) if opened else 0.0
    number = 0
    for _ in range(cycles):
        for last in range(10):
            one.send(at_s + 1e-4 * last, up, 1 + number * MSS, 1, payload=MSS)
            number += 1
            window = small if last == 9 else 1000
            one.send(at_s + 1e-4 * last + RTT_S, not up, 1, 1 + number * MSS, window=window)
        shut_s = at_s + 9e-4 + RTT_S
        for probe in range(2 * probes):  # the last byte again, answered by the closed window
            one.send(shut_s + 0.2 + 0.4 * probe, up, number * MSS, 1)
            one.send(shut_s + 0.22 + 0.4 * probe, not up, 1, 1 + number * MSS, window=small)
        at_s = shut_s + 1.0
        one.send(at_s, not up, 1, 1 + number * MSS)
        at_s += 1e-4
    one.send(at_s, up, 1 + number * MSS, 1, payload=MSS)
    packets = by_time(capture.packets)
    return w.Capture([in_ipv6(packet) for packet in packets] if is_6 else packets).pcap(nano=True)


def in_ipv6(packet: tuple[int, bytes, int]) -> tuple[int, bytes, int]:
    """The segment of a packet between two other hosts."""
    ends = ("2001:db8::1", "2001:db8::2")[:: 1 if is_of_client(packet) else -1]
    frame = w.ethernet(w.ipv6(packet[1][34:], 6, *ends), 0x86DD)
    return packet[0], frame, len(frame)


@pytest.mark.each(
    "how",
    (
        {},
        {"up": False},
        {"opened": False},  # the scale is unknown: 0 is 0 at any scale
        {"probes": True},
        {"up": False, "probes": True},
        {"cycles": 1},
        {"is_6": True},
    ),
)
def test_a_closed_window_is_counted_timed_and_explained(how):
    cycles = how.get("cycles", 5)
    samples = readers.read(closing(**how))
    sender = 0 if how.get("up", True) else 1
    columns = flow_table(samples).columns()
    assert columns["window_closed_count"][sender ^ 1] == cycles
    assert columns["window_closed_s"][sender ^ 1] == pytest.approx(cycles)
    assert columns["window_closed_count"][sender] == 0
    assert columns["retransmission_count"][sender] == 0
    times = "1 time" if cycles == 1 else "5 times"
    said = f"the receiver closed its window {times}, for {cycles} s in all"
    assert said in "\n".join(flow_lines(samples, None))
    screen = " ".join(first_screen("FILE", samples, None).split())
    assert f"the receiver closed its window {times.replace('1 time', 'once')}" in screen
    first = explain.measurement(samples, explain.Known())[0]
    assert first.cause.code == "receiver-program"
    assert first.cause.share_of_time > 0.9
    assert said in str(first)
    assert re.search("did not read", str(first))


def test_a_window_of_less_than_a_segment_is_as_good_as_closed():
    samples = readers.read(closing(small=5))  # 5 << 7 is 640 B
    assert flow_table(samples).columns()["window_closed_count"].tolist() == [0, 0]
    first = explain.measurement(samples, explain.Known())[0]
    assert first.cause.code == "receiver-program"


def test_a_window_that_never_opens_is_closed_to_the_end():
    capture = w.Capture()
    one = w.Conversation(capture)
    at_s = one.open(0.0, RTT_S, 0.0)
    one.send(at_s, True, 1, 1, payload=MSS)
    one.send(at_s + RTT_S, False, 1, 1 + MSS, window=0)
    one.send(at_s + 3.0, True, MSS, 1)  # a probe
    one.send(at_s + 3.02, False, 1, 1 + MSS, window=0)
    columns = flow_table(read_capture(w.Capture(capture.packets).pcap(nano=True))).columns()
    assert columns["window_closed_count"].tolist() == [0, 1]
    assert columns["window_closed_s"][1] == pytest.approx(3.0)
