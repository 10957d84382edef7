"""Flows of captures that are made here: the limit that was built in is the one that is named."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest

from netcalc.explain import Evidence, Known, measurement
from netcalc.explain.evidence import from_capture
from netcalc.samples import Layer, PacketTrace

NAN = math.nan
SYN, ACK = 0x02, 0x10
CLIENT, SERVER = 0, 1
RTT_S, MSS = 0.040, 1460


def packet(time_s, sender, *, flags=ACK, sequence=0, acknowledged=0, payload=0, window=5840, mss=0):
    return {
        "time_s": time_s, "source": sender, "destination": 1 - sender,
        "source_port": (40000, 80)[sender], "destination_port": (80, 40000)[sender],
        "tcp_flags": flags, "tcp_sequence": sequence, "acknowledged": acknowledged,
        "payload_bytes": payload, "window": window, "mss_bytes": mss,
        "packet_bytes": 40 + payload, "original_bytes": 54 + payload, "kept_bytes": 54 + payload,
        "layers": int(Layer.IPV4 | Layer.TCP), "ip_version": 4, "ip_protocol": 6, "link_number": 1,
    }  # fmt: skip


def trace(packets):
    names = packets[0]
    columns = {name: np.array([one[name] for one in packets]) for name in names}
    return PacketTrace(**columns, addresses=("192.0.2.1", "192.0.2.2"))


def handshake():
    return [
        packet(0.0, CLIENT, flags=SYN, mss=MSS),
        packet(RTT_S, SERVER, flags=SYN | ACK, acknowledged=1, mss=MSS),
        packet(RTT_S, CLIENT, sequence=1, acknowledged=1),
    ]


def windows(count, *, per_round=4):
    """Return rounds of four segments, acknowledged a round trip later, seen at the client."""
    packets, sequence, now = handshake(), 1, RTT_S
    for _ in range(count):
        for _ in range(per_round):
            packets.append(packet(now, CLIENT, sequence=sequence, acknowledged=1, payload=MSS))
            sequence += MSS
        now += RTT_S
        packets.append(packet(now, SERVER, sequence=1, acknowledged=sequence))
    return packets


def test_a_full_receive_window_limits():
    """Derived: 5840 B per 40 ms are 1.168 Mbit/s; 100 rounds take 99 round trips."""
    found = measurement(trace(windows(100)), Known(line_bps=100e6))[0]
    assert found.binding.name == "receive-window"
    assert found.binding.value == pytest.approx(8 * 5840 / 0.040)
    assert found.confidence == "high"
    assert found.label == "192.0.2.1 port 40000 to 192.0.2.2 port 80"
    assert "{" not in str(found)


def test_few_rounds_are_slow_start():
    """Derived: 10, 20 and 40 segments in three rounds; the window of 64 kB is never full."""
    packets, sequence, now = handshake(), 1, RTT_S
    for segments in (10, 20, 40):
        for _ in range(segments):
            row = packet(now, CLIENT, sequence=sequence, acknowledged=1, payload=MSS, window=65535)
            packets.append(row)
            sequence += MSS
        now += RTT_S
        packets.append(packet(now, SERVER, sequence=1, acknowledged=sequence, window=65535))
    packets[1]["window"] = 65535
    found = measurement(trace(packets), Known(line_bps=1e9))[0]
    assert found.binding.name == "slow-start"
    assert found.binding.values["rounds"] == 3
    assert found.binding.value == pytest.approx(8 * 70 * MSS / 0.120)


def test_writes_that_wait_for_a_delayed_acknowledgement():
    """Derived: 200 B, and 200 B more after 40 ms of timer and a round trip of 1 ms."""
    packets = [
        packet(0.0, CLIENT, flags=SYN, mss=MSS),
        packet(0.001, SERVER, flags=SYN | ACK, acknowledged=1, mss=MSS),
        packet(0.001, CLIENT, sequence=1, acknowledged=1),
    ]
    sequence, answered, now = 1, 1, 0.002
    for _ in range(20):
        for wait_s, reply in ((0.041, 0), (0.001, 100)):
            packets.append(
                packet(now, CLIENT, sequence=sequence, acknowledged=answered, payload=200)
            )
            sequence += 200
            now += wait_s
            packets.append(
                packet(now, SERVER, sequence=answered, acknowledged=sequence, payload=reply)
            )
            answered += reply
            now += 1e-5
    found = measurement(trace(packets), Known(line_bps=1e9))[0]
    limit = next(one for one in found.limits if one.name == "delayed-ack")
    assert limit.values["count"] == 20
    assert limit.values["wait_s"] == pytest.approx(0.040, abs=0.001)
    assert found.binding.name == "delayed-ack"
    # derived: 40 x 200 B in 20 x (40 + 2 x 1) ms: the second part leaves after the first came back
    assert limit.value == pytest.approx(8 * 8000 / (20 * 0.042), rel=0.02)


def test_datagrams_in_fragments():
    """Derived: 1480 B as 1376 + 104, 1434 + 162 B on the wire: 1472 of 1596 B of 100 Mbit/s."""
    packets, now = [], 0.0
    for _ in range(50):
        for size, layers in (
            (1396, Layer.IPV4 | Layer.UDP | Layer.FRAGMENT),
            (124, Layer.IPV4 | Layer.FRAGMENT | Layer.LATER_FRAGMENT),
        ):
            row = packet(now, CLIENT, flags=0)
            row |= {"packet_bytes": size, "original_bytes": size + 14, "ip_protocol": 17}
            packets.append(row | {"kept_bytes": size + 14, "layers": int(layers)})
        now += 8 * 1596 / 100e6
    found = measurement(trace(packets), Known(line_bps=100e6))[0]
    assert found.binding.name == "fragments"
    assert found.binding.value == pytest.approx(100e6 * 1472 / 1596, rel=1e-3)
    assert "fragments-seen" in {one.code for one in found.notices}


def same(one, **expected):
    """Compare every field; those that are not named are not known."""
    for name, default in asdict(Evidence()).items():
        wanted = expected.get(name, default)
        if isinstance(wanted, float):
            assert getattr(one, name) == pytest.approx(wanted, nan_ok=True), name
        else:
            assert getattr(one, name) == wanted, name


def talk(*, opened=True, mss=MSS, layers=Layer.IPV4 | Layer.TCP):
    """Return 3000 B in segments of 1000 B; the last is lost once and sent again."""
    packets = handshake() if opened else []
    for one in packets[:2]:
        one["mss_bytes"] = mss
    for time_s, sender, sequence, acknowledged, window in (
        (1.0, CLIENT, 1, 1, 4000), (1.05, SERVER, 1, 1001, 7000),
        (2.0, CLIENT, 1001, 1, 4000), (2.07, SERVER, 1, 2001, 8000),
        (3.5, CLIENT, 2001, 1, 4000), (3.8, CLIENT, 2001, 1, 4000), (3.86, SERVER, 1, 3001, 6000),
    ):  # fmt: skip
        row = packet(
            time_s, sender, sequence=sequence, acknowledged=acknowledged, window=window,
            payload=1000 if sender == CLIENT else 0,
        )  # fmt: skip
        packets.append(row | {"layers": int(layers)})
    return packets


LABEL = "192.0.2.1 port 40000 to 192.0.2.2 port 80"
TALK = {
    "label": LABEL, "size_bytes": 3000.0, "retransmit_count": 1.0, "loss_ratio": 0.25,
    "retransmitted_bytes": 1000.0, "receive_window_bytes": 8000.0, "in_flight_bytes": 1000.0,
    "gap_s": 1.5,
    # the middle of 40 (SYN), 50 and 70 ms; a segment that was sent again has none (Karn)
    "rtt_s": 0.05, "option_bytes": 0.0,
}  # fmt: skip


def test_everything_that_a_flow_says():
    """By hand: four segments, one again; the client sent for 3.8 s, the gap is from 2 to 3.5 s."""
    (one,) = from_capture(trace(talk()))
    whole = {"rate_bps": 24000 / 3.8, "duration_s": 3.8, "base_rtt_s": 0.04, "mtu_bytes": 1500.0}
    same(one, **TALK, **whole)


def test_a_flow_without_its_handshake():
    """The base is the least round trip, and nothing says the largest segment or the scale."""
    (one,) = from_capture(trace(talk(opened=False)))
    assert one.is_from_start is False
    assert (one.base_rtt_s, one.rtt_s) == (pytest.approx(0.05), pytest.approx(0.06))
    assert (one.duration_s, one.rate_bps) == (pytest.approx(2.8), pytest.approx(24000 / 2.8))
    assert math.isnan(one.mtu_bytes)
    assert math.isnan(one.receive_window_bytes)


@pytest.mark.each(("mss", "mtu"), [(1, 41), (536, 576), (9216, 9256), (9217, NAN), (0, NAN)])
def test_segments_that_the_card_joined_have_no_packet(mss, mtu):
    (one,) = from_capture(trace(talk(mss=mss)))
    assert one.mtu_bytes == pytest.approx(mtu, nan_ok=True)


def test_options_of_every_segment():
    (one,) = from_capture(trace(talk(layers=Layer.IPV4 | Layer.TCP | Layer.TIMESTAMPS)))
    assert one.option_bytes == 12


def test_a_handshake_that_was_slower_than_the_data():
    """Its round trip is then also that under load."""
    packets = talk()
    for one in packets[1:3]:
        one["time_s"] = 0.9
    (found,) = from_capture(trace(packets))
    assert (found.base_rtt_s, found.rtt_s) == (pytest.approx(0.9), pytest.approx(0.9))


def test_a_flow_without_round_trips_has_none():
    packets = [one for one in talk(opened=False) if one["source"] == CLIENT]
    (found,) = from_capture(trace(packets))
    assert math.isnan(found.rtt_s)
    assert math.isnan(found.base_rtt_s)
    assert found.size_bytes == 3000


def sent(port, payload, *, at_s=0.0):
    """Return two segments of one flow, 0.5 s apart."""
    rows = [packet(at_s, CLIENT, sequence=1, payload=payload)]
    rows.append(packet(at_s + 0.5, CLIENT, sequence=1 + payload, payload=payload))
    return [row | {"source_port": port} for row in rows]


def test_the_five_flows_that_carried_most():
    packets = [row for n in range(1, 8) for row in sent(40000 + n, 100 * n)]
    packets += [row | {"time_s": 0.1} for row in sent(50000, 900)]  # all at once: no rate
    packets.sort(key=lambda row: row["time_s"])
    found = from_capture(trace(packets))
    assert [one.size_bytes for one in found] == [1400, 1200, 1000, 800]
    assert found[0].label == "192.0.2.1 port 40007 to 192.0.2.2 port 80"
    known = packets + [row | {"time_s": 0.2} for row in sent(50001, 100)]
    assert len(from_capture(trace(known))) == 4
    rest = [row for row in packets if row["source_port"] < 50000]
    assert [one.size_bytes for one in from_capture(trace(rest))] == [1400, 1200, 1000, 800, 600]


def datagrams(times_s, *, payload=100):
    rows = []
    for time_s in times_s:
        size = payload + 28
        row = packet(time_s, CLIENT, flags=0) | {"layers": int(Layer.IPV4 | Layer.UDP)}
        rows.append(row | {"packet_bytes": size, "original_bytes": size + 14, "ip_protocol": 17})
    return rows


UDP = {"label": "UDP", "protocol": "udp", "datagram_bytes": 100.0}


def test_everything_that_datagrams_say():
    """By hand: 100 B in frames of 14 + 128 + 4, with 20 B of preamble and gap; 5 in 5 of 4 gaps."""
    (one,) = from_capture(trace(datagrams([0.0, 0.1, 0.2, 0.3, 0.5])))
    rate = 8 * 400 / 0.5
    same(one, **UDP, rate_bps=rate, received_rate_bps=rate, size_bytes=500.0, duration_s=0.5,
         payload_share=100 / 166)  # fmt: skip


def test_fragments_of_datagrams():
    """By hand: 1480 + 28 B as 1396 and 132 - 8, twice: 2952 B of 2 x (1434 + 162)."""
    rows = []
    for first, later in zip(datagrams([0.0, 0.25]), datagrams([0.0, 0.25]), strict=True):
        rows.append(first | {"packet_bytes": 1396, "original_bytes": 1410})
        rows.append(later | {"packet_bytes": 124, "original_bytes": 138,
                             "layers": int(Layer.IPV4 | Layer.LATER_FRAGMENT)})  # fmt: skip
    (one,) = from_capture(trace(rows))
    # 1396 - 28 and 124 - 20: 1472 B of a datagram
    rate = 8 * 1472 / 0.25
    same(one, label="UDP", protocol="udp", datagram_bytes=1472.0, rate_bps=rate,
         received_rate_bps=rate, size_bytes=2944.0, duration_s=0.25, payload_share=1472 / 1596,
         fragment_ratio=0.5)  # fmt: skip


def test_one_datagram_in_fragments_has_no_rate():
    first, later = datagrams([0.0, 0.25])
    later |= {"layers": int(Layer.IPV4 | Layer.LATER_FRAGMENT)}
    assert from_capture(trace([first, later])) == []


def test_datagrams_without_a_rate():
    assert from_capture(trace(datagrams([0.5]))) == []
    assert from_capture(trace(datagrams([0.5, 0.5]))) == []
    (two,) = from_capture(trace(datagrams([0.0, 2.0])))
    assert two.rate_bps == pytest.approx(400)
    (some,) = from_capture(trace(datagrams([0.0, NAN, 4.0])))
    assert (some.duration_s, some.rate_bps) == (4.0, pytest.approx(400))


def test_the_larger_of_a_flow_and_of_datagrams_comes_first():
    few, many = datagrams([0.0, 1.0]), datagrams([0.01 * n for n in range(400)])
    assert [one.label for one in from_capture(trace(talk() + few))] == [LABEL, "UDP"]
    both = from_capture(trace(sorted(talk() + many, key=lambda row: row["time_s"])))
    assert [one.label for one in both] == ["UDP", LABEL]
    assert both[0].payload_share == pytest.approx(100 / 166), "without the bytes of TCP"
    assert both[0].size_bytes == 40_000
