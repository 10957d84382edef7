"""The carrying process without namespaces: what it counts, and the sizes that it gives its queues.

Two socket pairs serve as the devices of both ends, and the times are given.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from types import SimpleNamespace

import pytest

from netcalc.emulation.wire import carrier as carrier_module
from netcalc.emulation.wire.carrier import LATE_S, LATENESS_BINS, Carrier
from netcalc.emulation.wire.emulated_path import Overdue
from netcalc.emulation.wire.ip_packets import line_bytes

IP = bytes.fromhex("45000014000000004011000a0a000001 0a000002".replace(" ", ""))
ADDRESSES = [["10.0.0.1/24"], ["10.0.0.2/24"], ["10.0.0.3/24", "fd00::3/64"]]


@pytest.fixture
def made():
    """Make a carrier between two socket pairs; the far ends of both are the hosts."""
    opened = []

    def make(**changed):
        link = {"bandwidth_bps": 1e9, "latency_s": 0.001, "log": True}
        settings = {
            "directions": [[link], [dict(link)]], "routers": [], "offload": False,
            "mtu_bytes": 1500, "device": None, "addresses": ADDRESSES[:2], **changed,
        }  # fmt: skip
        found = Carrier(settings)
        hosts = []
        for _ in settings["addresses"]:
            ours, host = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            ours.setblocking(False)
            host.settimeout(1)
            opened.extend((ours, host))
            found.tuns.append(ours.fileno())
            hosts.append(host)
        return found, hosts

    yield make
    for sock in opened:
        sock.close()


def counted(carrier):
    """Return the counters as the owner receives them."""
    return json.loads(json.dumps(carrier.do_statistics()[0]))


def test_a_late_packet_is_counted_and_its_lateness_known(made, monkeypatch):
    """by hand: of 10 packets 2 are late by 20 ms, 8 by 100 us, by a clock that stands still."""
    carrier, hosts = made()
    monkeypatch.setattr(carrier_module, "_clock", lambda: 100.0)
    for late_s in [1e-4] * 4 + [0.02] * 2 + [1e-4] * 4:
        carrier._write(1, [(100.0 - late_s, IP)])
        assert hosts[1].recv(100) == IP
    found = counted(carrier)
    assert (found["carried_count"], found["late_count"]) == (10, 2)
    assert found["lateness_p50_s"] == pytest.approx(1e-4, abs=1.1e-6)
    assert found["lateness_p99_s"] == pytest.approx(0.02, abs=1e-9)


@pytest.mark.parametrize(
    ("late_s", "late_count"),
    [(0.0, 0), (LATE_S * 0.99, 0), (LATE_S * 1.01, 1), (LATENESS_BINS * 2e-6, 1)],
)
def test_the_limit_of_lateness(made, monkeypatch, late_s, late_count):
    """by hand: the limit is 0.5 ms, and lateness beyond the bins is still known."""
    assert LATE_S == 0.5e-3
    carrier, _ = made()
    monkeypatch.setattr(carrier_module, "_clock", lambda: 50.0 + late_s)
    carrier._write(0, [(50.0, IP)])
    found = counted(carrier)
    assert found["late_count"] == late_count
    assert found["lateness_p50_s"] == pytest.approx(late_s, abs=1.1e-6)


def test_quantiles_of_lateness(made, monkeypatch):
    """by hand: 1 to 1000 us, once each; a quantile is rounded up to whole microseconds."""
    carrier, hosts = made()
    for microseconds in range(1, 1001):
        monkeypatch.setattr(carrier_module, "_clock", lambda now=microseconds: now * 1e-6)
        carrier._write(0, [(0.0, IP)])
        hosts[0].recv(100)
    found = counted(carrier)
    assert found["lateness_p50_s"] == pytest.approx(500e-6, abs=2e-6)
    assert found["lateness_p95_s"] == pytest.approx(950e-6, abs=2e-6)
    assert found["lateness_p99_s"] == pytest.approx(990e-6, abs=2e-6)
    assert found["late_count"] == 500


def test_a_packet_that_was_not_read_in_time_is_counted(made):
    """by hand: three packets read after a poll 10 ms ago, then one at once."""
    carrier, hosts = made()
    for _ in range(3):
        hosts[0].send(IP)
    carrier._read(0, 0.01)
    found = counted(carrier)
    assert (found["late_count"], found["unread_max_s"]) == (3, 0.01)
    hosts[0].send(IP)
    carrier._read(0, 0.0001)
    found = counted(carrier)
    assert (found["late_count"], found["unread_max_s"]) == (3, 0.01)
    assert found["links"][0][0]["arrived"] == 4


def test_a_path_is_empty_once_everything_is_read_and_delivered(made):
    """by hand: a packet waits at an end, then is on the link, then has arrived."""
    carrier, hosts = made()
    empty = [counted(carrier)["empty"]]
    hosts[0].send(IP)
    empty.append(counted(carrier)["empty"])
    carrier._read(0, 0.0)
    empty.append(counted(carrier)["empty"])
    carrier._deliver(math.inf)
    empty.append(counted(carrier)["empty"])
    assert empty == [True, False, False, True]
    assert hosts[1].recv(100) == IP


def test_frames_that_the_kernel_dropped_unread_are_counted(made, monkeypatch):
    """by hand: 3 and 4 of the two devices, then none; the count of before stays."""
    carrier, _ = made()
    carrier._frame_heads = [{}, {}]
    dropped = iter([3, 4, 0, 0])
    monkeypatch.setattr(
        carrier_module.kernel, "dropped_frame_count", lambda descriptor: next(dropped)
    )
    assert counted(carrier)["unread_count"] == 7
    assert counted(carrier)["unread_count"] == 7


@pytest.mark.parametrize(
    ("payload_bytes", "segment_bytes", "expected", "source"),
    [
        (14_480, 1448, 15_000, "derived: 10 segments of 1448 + 52 bytes"),
        (14_481, 1448, 15_053, "derived: one byte more is an 11th segment, with 52 of headers"),
        (1448, 1448, 1500, "derived: one segment"),
        (100, 1448, 152, "derived: one segment that is not full"),
        (100, 0, 152, "derived: no segmentation was asked for"),
        (65_160, 1448, 67_500, "derived: 45 segments of 1500"),
    ],
)
def test_a_super_packet_takes_the_headers_of_each_segment(
    made, payload_bytes, segment_bytes, expected, source
):
    """IPv4 20, TCP 20 and 12 of time stamps in each segment on the line."""
    head = IP + bytes(32)
    assert line_bytes(52 + payload_bytes, 52, segment_bytes) == expected, source
    carrier, hosts = made(offload=True)
    virtio = struct.pack("<BBHHHH", 1, 1 if segment_bytes else 0, 52, segment_bytes, 34, 16)
    hosts[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    hosts[0].send(virtio + head + bytes(payload_bytes))
    carrier._read(0, 0.0)
    assert carrier.chains[0].links[0].log.events().packet_bytes.tolist() == [expected], source


def test_a_packet_is_delivered_when_it_is_due(made):
    """identity: 1 us for 125 bytes at 1 Gbit/s, and 1 ms."""
    carrier, hosts = made()
    before_s = time.monotonic()
    hosts[0].send(IP + bytes(105))
    carrier._read(0, 0.0)
    due_s = carrier._deliver(before_s)
    assert due_s >= before_s + 0.001001 - 1e-9
    assert carrier._deliver(due_s) is None
    assert len(hosts[1].recv(2000)) == 125
    assert counted(carrier)["carried_count"] == 1


def packet(source, destination, number):
    """Return a packet of IPv4, of which the number of its host is that of the test."""
    head = bytes.fromhex("4500001500000000401100000a0000000a000000")
    head = bytearray(head + bytes([number]))
    head[15], head[19] = source, destination
    return bytes(head)


def test_what_several_senders_send_enters_in_the_order_of_its_times(made, monkeypatch):
    """by hand: A sent at 1.0 and 3.0, A2 at 2.0 and 4.0, and both are read at once."""
    carrier, hosts = made(addresses=ADDRESSES)
    sent = {1.0: (0, 1), 3.0: (0, 2), 2.0: (2, 3), 4.0: (2, 4)}
    stamps = [{}, {}, {}]
    for at_s, (side, number) in sent.items():
        one = packet(side + 1, 2, number)
        hosts[side].send(one)
        stamps[side][one] = at_s
    monkeypatch.setattr(carrier_module, "_clock", lambda: 5.0)
    carrier._arrivals = [SimpleNamespace(take=lambda _, found=found: found) for found in stamps]
    carrier._read_together([0, 2], 0.0)
    events = carrier.chains[0].links[0].log.events()
    assert events.arrival_s.tolist() == [1.0, 2.0, 3.0, 4.0]
    carrier._deliver(5.0)
    assert [hosts[1].recv(100)[-1] for _ in range(4)] == [1, 3, 2, 4]


@pytest.mark.parametrize("offload", [False, True])
def test_a_reply_goes_to_the_sender_that_it_is_for(made, offload):
    """identity: by the destination, of either version; of nobody's address to A."""
    carrier, hosts = made(addresses=ADDRESSES, offload=offload)
    head = bytes(10) if offload else b""
    v6 = bytes.fromhex("6000000000003b40") + bytes(16) + bytes.fromhex("fd00") + bytes(13) + b"\3"
    for one, side in ((packet(2, 1, 9), 0), (packet(2, 3, 9), 2), (v6, 2), (packet(2, 99, 9), 0)):
        hosts[1].send(head + one)
        carrier._read(1, 0.0)
        carrier._deliver(time.monotonic() + 1.0)
        assert hosts[side].recv(100) == head + one


def test_a_super_packet_arrives_with_its_header(made):
    """identity: what is read is written, header of virtio included."""
    carrier, hosts = made(offload=True)
    sent = struct.pack("<BBHHHH", 1, 1, 52, 1448, 34, 16) + IP + bytes(3000)
    hosts[0].send(sent)
    carrier._read(0, 0.0)
    assert carrier._deliver(time.monotonic() + 1.0) is None
    assert hosts[1].recv(5000) == sent
    assert counted(carrier)["carried_count"] == 1


def test_a_packet_that_one_end_refuses_does_not_keep_the_next_one(made):
    """by hand: of two packets due at once the first is longer than the socket buffer."""
    carrier, hosts = made()
    ours = socket.socket(fileno=carrier.tuns[1])
    try:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 12)
        carrier._write(1, [(0.0, IP + bytes(1 << 16)), (0.0, IP)])
    finally:
        ours.detach()
    assert hosts[1].recv(100) == IP
    found = counted(carrier)
    assert (found["carried_count"], found["refused_count"]) == (1, 1)


@pytest.mark.parametrize(
    ("woke_s", "ran_s", "cause"),
    [
        (10.0000, 0.0100, "asleep_count"),  # the sleep ended after the packet was due
        (9.9000, 0.0050, "stopped_count"),  # 0.1 ms late; of 10 ms it did not run 5
        (9.9000, 0.00996, "busy_count"),  # 0.04 of 10 ms: less than half of the delay
    ],
)
def test_why_a_packet_is_overdue(made, monkeypatch, woke_s, ran_s, cause):
    """by hand: due at 9.9999 s and delivered at 10 s; the last look was 10 ms ago."""
    carrier, _ = made()
    monkeypatch.setattr(carrier_module, "_clock", lambda: 10.0)
    monkeypatch.setattr(carrier_module, "_ran", lambda: ran_s)
    carrier._woke_s, carrier._looked_s, carrier._had_run_s = woke_s, 9.99, 0.0
    carrier._write(1, [(9.9999, IP), (9.9999, IP), (9.99996, IP)])  # the last is 40 us late
    overdue = counted(carrier)["overdue"]
    assert overdue.pop(cause) == 2
    assert set(overdue.values()) == {0}


def test_the_share_of_the_host_in_overdue_packets():
    """by hand: 3 and 1 of 8 are the host's; of none there is no share."""
    assert (Overdue(3, 1, 4).count, Overdue(3, 1, 4).host_ratio) == (8, 0.5)
    assert Overdue(0, 0, 0).host_ratio == 0.0
