"""Flows of captures that are made here: the limit that was built in is the one that is named."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.explain import Known, measurement
from netcalc.samples import Layer, PacketTrace

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
    # derived: 40 x 200 B in 20 x (40 + 1) ms
    assert limit.value == pytest.approx(8 * 8000 / (20 * 0.041), rel=0.02)


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
