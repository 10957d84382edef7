"""What happened in TCP connections of known course: every expected value is the course itself."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import writer as w

from netcalc import readers
from netcalc.errors import DomainError
from netcalc.readers.captures import read_capture
from netcalc.readers.captures.round_trips import (
    echo_samples,
    find_echoes,
    find_udp_openings,
    udp_samples,
)
from netcalc.readers.captures.tcp import analyse_tcp, facts, ladder, tcp_flows, tcp_notices

MSS = 1000


def table(capture: w.Capture) -> dict[str, list]:
    found = tcp_flows(analyse_tcp(read_capture(capture.pcap(nano=True))))
    return {name: column.tolist() for name, column in found.columns().items()}


def transfer(one: w.Conversation, begin_s: float, segments: int, *, rtt_s: float) -> float:
    """Ten segments of the server in flight at once, each pair acknowledged an RTT later."""
    sequence, time_s = 1, begin_s
    for first in range(0, segments, 10):
        for number in range(first, min(first + 10, segments)):
            one.send(time_s + 1e-5 * (number - first), False, sequence, 1, payload=MSS)
            sequence += MSS
        for number in range(2, 11, 2):
            acked = 1 + (first + number) * MSS
            one.send(time_s + rtt_s + 1e-5 * (number - 1), True, 1, acked)
        time_s += rtt_s + 2e-4
    return time_s


def test_a_transfer_without_loss():
    capture = w.Capture()
    one = w.Conversation(capture, stamped=False)
    begin_s = one.open(0.0, 0.0, 0.020)  # seen at the server: all of the round trip behind it
    transfer(one, begin_s + 0.001, 20, rtt_s=0.020)
    found = table(capture)
    assert found["direction"] == ["to server", "to client"]
    assert found["source"] == ["192.0.2.1", "198.51.100.2"]
    assert found["destination_port"] == [80, 40000]
    assert found["payload_bytes"] == [0, 20 * MSS]
    assert found["data_segment_count"] == [0, 20]
    assert found["retransmission_count"] == found["out_of_order_count"] == [0, 0]
    assert found["duplicate_ack_count"] == [0, 0]
    assert found["handshake_rtt_s"] == pytest.approx([0.020] * 2)
    assert found["rtt_min_s"][1] == pytest.approx(0.020)
    assert found["rtt_count"][1] == 10 + 1  # every second segment, and the SYN
    assert found["in_flight_bytes"][1] == 10 * MSS
    assert found["window_max_bytes"] == [1000 << 7] * 2
    assert found["window_shift"] == [7, 7]
    assert found["mss_bytes"] == [1460, 1460]
    assert found["goodput_bps"][1] == pytest.approx(8 * 20 * MSS / found["duration_s"][1])


def test_where_the_capture_was_made_shows_in_the_handshake():
    capture = w.Capture()
    w.Conversation(capture).open(0.0, 0.030, 0.010)
    found = table(capture)
    assert found["to_server_s"] == pytest.approx([0.030] * 2)
    assert found["to_client_s"] == pytest.approx([0.010] * 2)
    assert found["handshake_rtt_s"] == pytest.approx([0.040] * 2)


def lossy() -> w.Capture:
    """One segment lost, three duplicate ACKs, a fast retransmission; then a timeout."""
    capture = w.Capture()
    one = w.Conversation(capture)
    t = one.open(0.0, 0.010, 0.010)
    for number in range(5):  # the second one is lost behind the capture
        one.send(t + 1e-4 * number, False, 1 + number * MSS, 1, payload=MSS)
    one.send(t + 0.0100, True, 1, 1 + MSS)
    for number in range(3):
        one.send(t + 0.0102 + 1e-4 * number, True, 1, 1 + MSS)
    one.send(t + 0.0110, False, 1 + MSS, 1, payload=MSS)
    one.send(t + 0.0210, True, 1, 1 + 5 * MSS)
    one.send(t + 0.1000, False, 1 + 5 * MSS, 1, payload=MSS)
    one.send(t + 0.4000, False, 1 + 5 * MSS, 1, payload=MSS)  # after a timeout
    one.send(t + 0.4100, True, 1, 1 + 6 * MSS)
    one.send(t + 0.4200, False, 1 + 5 * MSS, 1, payload=MSS)  # though it was acknowledged
    return capture


def test_losses_are_told_apart():
    found = table(lossy())
    assert found["retransmission_count"] == [0, 3]
    assert found["fast_retransmission_count"] == [0, 1]
    assert found["spurious_retransmission_count"] == [0, 1]
    assert found["duplicate_ack_count"] == [3, 0]
    assert found["payload_bytes"] == [0, 6 * MSS]
    assert found["retransmitted_bytes"] == [0, 3 * MSS]
    analysis = analyse_tcp(read_capture(lossy().pcap()))
    trips = analysis.round_trips
    answered = trips.segment[trips.series == 1]
    # Karn: of the data only the first segment was sent once and acknowledged at its end; the fifth
    # too, whose acknowledgement waited for the second.
    sent = analysis.segments.sequence[answered].tolist()
    assert sent == [0, 1, 1 + 4 * MSS]


def test_reordering_is_no_loss():
    capture = w.Capture()
    one = w.Conversation(capture)
    t = one.open(0.0, 0.010, 0.010)
    for number, at in ((0, 0.0), (2, 1e-4), (1, 2e-4), (3, 3e-4)):
        one.send(t + at, False, 1 + number * MSS, 1, payload=MSS)
    found = table(capture)
    assert found["out_of_order_count"] == [0, 1]
    assert found["retransmission_count"] == [0, 0]


def test_sequence_numbers_may_wrap():
    capture = w.Capture()
    one = w.Conversation(capture, numbers=(2**32 - 2, 2**32 - 5 * MSS))
    begin_s = one.open(0.0, 0.0, 0.020)
    transfer(one, begin_s, 20, rtt_s=0.020)
    found = table(capture)
    assert found["payload_bytes"] == [0, 20 * MSS]
    assert found["retransmission_count"] == [0, 0]
    assert found["in_flight_bytes"][1] == 10 * MSS


def test_ports_used_again_make_another_flow():
    capture = w.Capture()
    for begin_s, number in ((0.0, 100), (5.0, 777_000)):
        one = w.Conversation(capture, numbers=(number, number + 50))
        one.send(begin_s, True, 0, 0, flags=w.SYN)
        one.send(begin_s + 1, True, 0, 0, flags=w.SYN)  # the same SYN again is no new flow
        one.send(begin_s + 1.01, False, 0, 1, flags=w.SYN | w.ACK)
        one.send(begin_s + 1.02, True, 1, 1)
    trace = read_capture(capture.pcap())
    analysis = analyse_tcp(trace)
    assert analysis.flow_count == 2
    assert np.count_nonzero(analysis.losses.retransmitted) == 2
    assert facts(trace)[0]["handshake_rtt_min_s"] == pytest.approx(0.02)
    assert [one.code for one in tcp_notices(analysis)] == ["handshakes-repeated"]


def test_what_a_capture_cannot_tell_is_unknown():
    capture = w.Capture()
    one = w.Conversation(capture)
    for number in range(4):  # one direction, begun midway
        one.send(0.001 * number, False, 1 + number * MSS, 1, payload=MSS)
    found = table(capture)
    analysis = analyse_tcp(read_capture(capture.pcap()))
    assert [one.code for one in tcp_notices(analysis)] == ["flows-begun-before", "flows-one-sided"]
    for name in ("window_shift", "window_max_bytes", "handshake_rtt_s", "rtt_min_s",
                 "in_flight_bytes"):  # fmt: skip
        assert all(math.isnan(value) for value in found[name]), name
    assert "handshake_rtt_min_s" not in facts(read_capture(capture.pcap()))[0]


def test_a_window_is_scaled_only_if_both_ends_offered_it():
    capture = w.Capture()
    one = w.Conversation(capture)
    one.send(0.0, True, 0, 0, flags=w.SYN, options=b"\x03\x03\x07\x01", window=5000)
    one.send(0.1, False, 0, 1, flags=w.SYN | w.ACK, window=5000)
    one.send(0.2, True, 1, 1, window=4000)
    found = table(capture)
    assert found["window_shift"] == [0, 0]
    assert found["window_max_bytes"][0] == 4000


def small_writes(delay_s: float) -> w.Capture:
    """A sender of two small writes each time: the second waits for the ACK of the first."""
    capture = w.Capture()
    one = w.Conversation(capture)
    t, sequence = one.open(0.0, 0.0005, 0.0005), 1
    one.send(t, True, sequence, 1, payload=100)  # an ACK without delay, for comparison
    one.send(t + 0.001, False, 1, sequence + 100)
    sequence, t = sequence + 100, t + 0.1
    for _ in range(5):
        one.send(t, True, sequence, 1, payload=100)
        one.send(t + 0.001 + delay_s, False, 1, sequence + 100)
        one.send(t + 0.0012 + delay_s, True, sequence + 100, 1, payload=50)
        one.send(t + 0.0022 + delay_s, False, 1, sequence + 150)
        sequence, t = sequence + 150, t + 1.0
    return capture


@pytest.mark.each("delay_s", [0.040, 0.200])
def test_delayed_acknowledgements_and_nagle_are_named(delay_s):
    found = table(small_writes(delay_s))
    assert found["delayed_ack_count"] == [5, 0]  # in the row of the data they acknowledge
    assert found["delayed_ack_s"][0] == pytest.approx(delay_s)
    assert found["held_count"] == [5, 0]
    assert found["held_s"][0] == pytest.approx(delay_s + 0.0012)
    stalls = analyse_tcp(read_capture(small_writes(delay_s).pcap())).stalls
    assert stalls.timer_s.tolist() == [delay_s] * 5
    assert stalls.is_held_by_delay.all()


def test_prompt_acknowledgements_are_not_called_delayed():
    found = table(small_writes(0.0))
    assert found["delayed_ack_count"] == [0, 0]


def test_round_trips_by_time_stamps():
    capture = w.Capture()
    ends = (("192.0.2.1", "192.0.2.2", (1, 2)), ("192.0.2.2", "192.0.2.1", (2, 1)))
    for number in range(4):
        for side, at in ((0, 0.0), (1, 0.025)):
            source, to, ports = ends[side]
            stamp = w.timestamps(100 + number, 900 + number - 1 + side)
            if side:
                stamp = w.timestamps(900 + number, 100 + number)
            segment = w.tcp(ports, 1 + 10 * number, 1 + 10 * (number + side), w.ACK, 9, stamp,
                            b"d" * 10)  # fmt: skip
            capture.add(w.START_NS + round((number + at) * 1e9), w.ipv4(segment, 6, source, to))
    analysis = analyse_tcp(read_capture(capture.pcap(link=101)))
    trips = analysis.timestamp_round_trips
    assert trips.rtt_s[trips.series == 0].tolist() == pytest.approx([0.025] * 3)
    assert trips.rtt_s[trips.series == 1].tolist() == pytest.approx([0.975] * 3)


def test_a_ladder_has_the_packets_of_one_flow():
    analysis = analyse_tcp(read_capture(lossy().pcap()))
    rungs = ladder(analysis, flow=0)
    assert rungs["flags"][:3].tolist() == ["SYN", "SYN ACK", "ACK"]
    assert rungs["direction"][:2].tolist() == ["to server", "to client"]
    marks = rungs["mark"].tolist()
    assert marks.count("duplicate ACK") == 3
    assert marks.count("fast retransmission") == 1
    assert rungs["sequence"].max() == 1 + 5 * MSS
    with pytest.raises(DomainError):
        ladder(analysis, flow=1)


def echoes() -> w.Capture:
    """Four requests: answered, answered twice, lost, answered in IPv6; and a stray reply."""
    capture = w.Capture()
    ask, answer = ("192.0.2.1", "192.0.2.2"), ("192.0.2.2", "192.0.2.1")
    course = [
        (0.000, 8, 1, ask), (0.010, 0, 1, answer),
        (1.000, 8, 2, ask), (1.020, 0, 2, answer), (1.030, 0, 2, answer),
        (2.000, 8, 3, ask),
        (3.000, 0, 9, answer),
    ]  # fmt: skip
    for at, kind, sequence, ends in course:
        message = w.icmp(kind, 77, sequence)
        capture.add(w.START_NS + round(at * 1e9), w.ipv4(message, 1, *ends))
    for at, kind, ends in ((4.0, 128, ("2001:db8::1", "2001:db8::2")),
                           (4.005, 129, ("2001:db8::2", "2001:db8::1"))):  # fmt: skip
        capture.add(w.START_NS + round(at * 1e9), w.ipv6(w.icmp(kind, 5, 1), 58, *ends))
    return capture


def test_echoes_are_matched():
    trace = read_capture(echoes().pcap(link=101))
    found = find_echoes(trace)
    assert (found.pair_count, found.duplicate.tolist()) == (3, [4])
    samples = echo_samples(trace)
    assert samples.lost.tolist() == [False, False, True, False]
    assert samples.best_s.tolist() == pytest.approx([0.010, 0.020, 0.005])
    assert samples.payload_bytes.tolist() == [56] * 4


@pytest.mark.each(
    ("asked", "hosts", "is_6"),
    [
        ("224.0.0.1", ("192.0.2.1", "192.0.2.2", "192.0.2.3"), False),
        ("192.0.2.255", ("192.0.2.1", "192.0.2.2"), False),
        ("ff02::1", ("fe80::1", "fe80::2"), True),
    ],
)
def test_a_group_is_answered_by_its_first_host(asked, hosts, is_6):
    """Four pings, each answered by all hosts, 1 ms after each other; another host is not asked."""
    capture, own = w.Capture(), "fe80::10" if is_6 else "192.0.2.10"
    kinds, protocol = ((128, 129), 58) if is_6 else ((8, 0), 1)
    header = w.ipv6 if is_6 else w.ipv4
    for number in range(4):
        at_ns = w.START_NS + number * 10**9
        capture.add(at_ns, header(w.icmp(kinds[0], 7, number), protocol, own, asked))
        for place, host in enumerate(hosts, 1):
            reply = w.icmp(kinds[1], 7, number)
            capture.add(at_ns + place * 10**6, header(reply, protocol, host, own))
    trace = read_capture(capture.pcap(link=101))
    found = find_echoes(trace)
    assert (found.pair_count, found.other.size, found.duplicate.size) == (4, 4 * len(hosts), 0)
    assert echo_samples(trace).rtt_s.tolist() == pytest.approx([0.001] * 4)
    said = [one for one in tcp_notices(analyse_tcp(trace)) if one.code == "echo-other-hosts"]
    assert [one.values for one in said] == [{"count": 4 * len(hosts), "hosts": len(hosts)}]


def test_the_reply_of_another_host_answers_no_ping_to_one():
    """Two pings with the same numbers, as of fping; a request of them was not captured."""
    capture = w.Capture()
    capture.add(w.START_NS, w.ipv4(w.icmp(8, 7, 1), 1, "192.0.2.10", "192.0.2.1"))
    capture.add(w.START_NS + 10**6, w.ipv4(w.icmp(0, 7, 1), 1, "192.0.2.2", "192.0.2.10"))
    found = find_echoes(read_capture(capture.pcap(link=101)))
    assert (found.pair_count, found.other.size) == (0, 0)


def test_udp_requests_and_replies_are_matched():
    capture = w.Capture()
    ask, answer = ("192.0.2.1", "192.0.2.53"), ("192.0.2.53", "192.0.2.1")
    for number, rtt_s in enumerate((0.010, 0.030)):
        ports = (5000 + number, 53)
        packet = w.ipv4(w.udp(ports, bytes(20 + number)), 17, *ask)
        capture.add(w.START_NS + number * 10**9, packet)
        reply = w.ipv4(w.udp(ports[::-1], bytes(90)), 17, *answer)
        capture.add(w.START_NS + number * 10**9 + round(rtt_s * 1e9), reply)
    trace = read_capture(capture.pcap(link=101))
    samples = udp_samples(trace)
    assert samples.rtt_s.tolist() == pytest.approx([0.010, 0.030])
    assert samples.payload_bytes.tolist() == [20, 21]
    assert facts(trace)[0]["udp_flow_count"] == 2


def test_captures_without_tcp_have_empty_tables():
    analysis = analyse_tcp(read_capture(echoes().pcap(link=101)))
    assert len(tcp_flows(analysis)) == 0


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_counts_agree_with_tshark(tmp_path):
    """An independent program reads the same files: flows, retransmissions, handshakes."""
    made = {"lossy": lossy(), "writes": small_writes(0.04)}
    paths = [tmp_path / f"{name}.pcap" for name in made]
    for path, capture in zip(paths, made.values(), strict=True):
        path.write_bytes(capture.pcap())
    paths += sorted((Path(__file__).parents[1] / "inputs" / "captures").glob("*.pcap*"))
    for path in paths:
        (row,) = readers.read(path).facts()
        fields = ("tcp.stream", "udp.stream", "tcp.analysis.retransmission",
                  "tcp.analysis.initial_rtt", "frame.cap_len")  # fmt: skip
        command = ["tshark", "-n", "-r", str(path), "-T", "json"]
        for name in fields:
            command += ["-e", name]
        said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        layers = [one["_source"]["layers"] for one in json.loads(said)]
        seen = {name: [one[name][0] for one in layers if name in one] for name in fields}
        assert row["packet_count"] == len(layers)
        assert row["captured_byte_count"] == sum(map(int, seen["frame.cap_len"]))
        assert row["tcp_flow_count"] == len(set(seen["tcp.stream"]))
        assert row["udp_flow_count"] == len(set(seen["udp.stream"]))
        assert row["tcp_retransmission_count"] == len(seen["tcp.analysis.retransmission"])
        assert row["handshake_rtt_min_s"] == pytest.approx(
            min(map(float, seen["tcp.analysis.initial_rtt"])), abs=1e-9
        )


def test_the_opening_of_a_stream_is_no_part_of_it():
    """4 bytes there and back, then data one way; a conversation both ways has no opening."""
    client, server, ports = ("192.0.2.1", "192.0.2.5"), ("192.0.2.5", "192.0.2.1"), (5000, 5201)
    ways = {"c": (client, ports), "s": (server, ports[::-1])}
    for order, opening in (("cscccc", [0, 1]), ("csssss", [0, 1]), ("cscscs", []), ("csc", []),
                           ("cccccs", [])):  # fmt: skip
        capture = w.Capture()
        for number, one in enumerate(order):
            hosts, numbers = ways[one]
            packet = w.ipv4(w.udp(numbers, bytes(4)), 17, *hosts)
            capture.add(w.START_NS + number * 10**6, packet)
        found = find_udp_openings(read_capture(capture.pcap(link=101)))
        assert found.tolist() == opening, order
