"""Transactions, live: packets and round trips are counted, times bounded by the path's truth.

Where a number comes from: sizes and the step at 1509 bytes are published (Stevens, TCP/IP
Illustrated vol. 3, appendix A.2); round trips are those of RFC 9293, 7413 and 8446; all others are
counted by hand.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import ssl
import struct
import threading
from pathlib import Path

import numpy as np
import pytest

from netcalc import compare, samples
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import BOOK_TRANSACTION_SIZES, transactions
from netcalc.experiments.endpoints import TappedPacket, exchange_rows, exchange_s
from netcalc.experiments.peers.process import Namespace
from netcalc.experiments.peers.responder import CERTIFICATE
from netcalc.experiments.transactions import PROTOCOLS
from netcalc.messages import Notice
from netcalc.path import Path as NetworkPath

pytestmark = [
    pytest.mark.live, pytest.mark.namespace, pytest.mark.usefixtures("every_row_is_told"),
]  # fmt: skip

RTT_S = 0.02


def after(count, act):
    def progress(done, total, response_s):
        if done == count:
            act()

    return progress


def test_the_books_sizes():
    assert len(BOOK_TRANSACTION_SIZES) == 23, "published: Fig. A-4"
    assert {0, 100, 1508, 1509, 2000} <= set(BOOK_TRANSACTION_SIZES)
    assert list(BOOK_TRANSACTION_SIZES) == sorted(BOOK_TRANSACTION_SIZES)


def test_every_protocol_on_the_loopback(nothing_left):
    result = transactions([0, 1400], count=2)
    assert isinstance(result, samples.TransactionSamples)
    assert result.modes == PROTOCOLS
    assert not result.failed.any()
    assert not result.meta.partial
    sizes = {mode: result.payload_bytes[result.mode == mode].tolist() for mode in PROTOCOLS}
    # Alternating: a machine that becomes faster or slower makes no step between two sizes.
    assert sizes["udp"] == [0, 1400, 0, 1400]
    # Below 8 bytes only a datagram can go; the book's ping starts at 8, too.
    assert all(sizes[mode] == [8, 1400, 8, 1400] for mode in set(PROTOCOLS) - {"udp"})
    # What the tap sees lies within what the program sees.
    assert (result.tap_s > 0).all()
    assert (result.tap_s < result.response_s).all()
    counters = result.meta.instrument.counters
    # 3 of warm-up, of which the first fetches the cookie, and 4 that count: all carry data.
    assert counters["tfo"]["TCPFastOpenPassive"] >= 6
    assert counters["tcp"]["TCPFastOpenPassive"] == 0


def test_a_datagram_of_1509_bytes_is_two_packets(nothing_left):
    packets = {
        size: transactions([size], protocols=["ping", "udp"], count=3).meta.instrument.packets
        for size in (1508, 1509)
    }
    # published: 1508 + 8 + 20 = 1536, the MTU of the book's loopback
    assert packets[1508] == {"ping": 2.0, "udp": 2.0}
    assert packets[1509] == {"ping": 4.0, "udp": 4.0}


def test_segments_of_a_tcp_transaction():
    result = transactions([100], protocols=["tcp"], count=20)
    # published: 9 at least (3 to open, request, reply, 2 FIN, 2 of their acknowledgements); the
    # request may be acknowledged by itself, and so may the reply.
    assert 8 <= result.meta.instrument.packets["tcp"] <= 12


def test_round_trips_over_a_path(nothing_left):
    path = NetworkPath.parse("100 Mbit/s 10 ms")
    result = transactions([8, 1000], count=2, path=path)
    assert not result.failed.any()
    # published: RFC 768 and 7413: 1, RFC 9293: 2, RFC 8446 over TCP: 3; a packet is never early,
    # and a busy machine is late by less than a further round trip in the best of two.
    for mode, count in (("ping", 1), ("udp", 1), ("tfo", 1), ("tcp", 2), ("tls", 3)):
        _, times = result.minima(mode)
        assert (times > 0.999 * count * RTT_S).all(), mode
        assert times.min() < (count + 0.9) * RTT_S, mode
        found = compare.transactions(result, mode=mode, path=path)
        assert found.predicted[0] == pytest.approx(count * RTT_S, rel=0.01)
        assert found.fit is None
    assert result.meta.instrument.truth["latencies_s"] == [0.01]


def host_times(costs, sizes, packets):
    """Samples whose truth is known: so much once, a byte, a further packet."""
    once, byte, packet = costs
    times = once + byte * np.asarray(sizes) + packet * (np.asarray(packets) - 1)
    return samples.TransactionSamples(
        mode=["udp"] * len(sizes),
        sequence=np.arange(len(sizes)) + 1,
        payload_bytes=sizes,
        response_s=times,
        meta=samples.Meta(instrument={"loopback_mtu_bytes": 1536}),
    )


def test_costs_of_the_host_are_found_again():
    sizes = [0, 500, 1000, 1508, 1509, 2000, 3000]
    packets = [1, 1, 1, 1, 2, 2, 2]  # counted: 1512 bytes of IP payload a fragment
    found = compare.overlay(host_times((30e-6, 2e-9, 9e-6), sizes, packets))
    assert found.predicted_label == "fitted: 30 µs + 2 ns per byte + 9 µs per further packet"
    assert np.abs(found.residual).max() < 1e-9
    one_packet = compare.transactions(host_times((30e-6, 2e-9, 0.0), sizes[:4], packets[:4]))
    assert one_packet.predicted_label == "fitted: 30 µs + 2 ns per byte"
    falling = compare.transactions(host_times((30e-6, -1e-9, 0.0), sizes[:4], packets[:4]))
    assert "per byte" not in falling.predicted_label, "a cost is never negative"


def test_too_few_sizes_and_none():
    empty = samples.TransactionSamples(mode=[], sequence=[], payload_bytes=[], response_s=[])
    assert "no transaction has a time" in compare.transactions(empty).sentence
    with pytest.raises(DomainError) as caught:
        compare.transactions(empty, mode="sctp")
    assert (caught.value.code, caught.value.name) == ("not-a-choice", "mode")


REFUSED = [
    ({"payload_bytes": []}, "payload_bytes", "not-one-dimensional"),
    ({"payload_bytes": [-1]}, "payload_bytes[0]", "not-whole"),
    ({"payload_bytes": [65_508]}, "payload_bytes[0]", "whole-out-of-range"),
    ({"protocols": []}, "protocols", "empty-choice"),
    ({"protocols": ["quic"]}, "protocols", "not-a-choice"),
    ({"protocols": ["udp", "udp"]}, "protocols", "repeated-choice"),
    ({"count": 0}, "count", "not-whole"),
    ({"mtu_bytes": 100}, "mtu_bytes", "not-whole"),
    ({"mtu_bytes": 1279, "host": "::1"}, "mtu_bytes", "not-whole"),
    ({"timeout_s": 61}, "timeout_s", "out-of-range"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "name", "code"), REFUSED)
def test_impossible_numbers_are_refused(arguments, name, code, no_process):
    with pytest.raises(DomainError) as caught:
        transactions(**arguments)
    assert (caught.value.name, caught.value.code) == (name, code)


@pytest.mark.parametrize(
    ("count", "code", "estimate"),
    # derived: 23 sizes x 1000 x 5 protocols; 23 x 300 x 3 protocols with connections
    [
        (1000, "too-many-probes", {"count": 115_000, "limit": 100_000}),
        (300, "too-many-connections", {"count": 20_700, "limit": 20_000}),
    ],
)
def test_a_run_beyond_a_limit_is_refused(count, code, estimate, no_process):
    with pytest.raises(ExperimentError) as caught:
        transactions(count=count)
    assert caught.value.code == code
    assert estimate.items() <= caught.value.values.items()


def test_stop_keeps_what_was_measured(nothing_left, tmp_path):
    stop = threading.Event()
    result = transactions(
        [8], count=20, stop=stop, progress=after(25, stop.set), save=tmp_path / "run.json"
    )
    assert (len(result), result.meta.partial) == (25, True)
    kept = samples.TransactionSamples.load(tmp_path / "run.json")
    assert kept.modes == ("ping", "udp")


def test_ctrl_c_with_tls(nothing_left):
    result = transactions(
        [8], protocols=["tls"], count=50,
        progress=after(3, lambda: os.kill(os.getpid(), signal.SIGINT)),
    )  # fmt: skip
    assert (len(result), result.meta.instrument.ended_by) == (3, "interrupt")


@pytest.mark.parametrize("protocol", ["udp", "tcp", "tls"])
def test_a_peer_that_is_killed_is_told(protocol, nothing_left, peers):
    with pytest.raises(ExperimentError) as caught:
        transactions(
            [8], protocols=[protocol], count=500, timeout_s=0.3,
            progress=after(5, lambda: os.kill(peers[-1], signal.SIGKILL)),
        )  # fmt: skip
    assert (caught.value.code, caught.value.values["status"]) == ("peer-ended", "SIGKILL")
    assert caught.value.partial.in_mode(protocol).sum() >= 5


def test_another_host_is_refused(no_process):
    with pytest.raises(ExperimentError) as caught:
        transactions(host="192.0.2.1")
    assert caught.value.code == "target-not-loopback"


def test_every_protocol_over_ipv6(nothing_left):
    result = transactions([0, 1400], count=2, host="::1")
    assert result.modes == PROTOCOLS
    assert not result.failed.any()
    assert (result.tap_s > 0).all()
    assert (result.tap_s < result.response_s).all()
    facts = result.meta.instrument
    assert facts.address_family == "IPv6"
    assert facts.counters["tfo"]["TCPFastOpenPassive"] >= 6
    exchanges = facts.exchanges
    # counted by hand: 40 bytes of IPv6, 8 of UDP or ICMP
    assert [row["packet_bytes"] for row in exchanges["ping"]["8"]] == [56, 56]
    assert [row["packet_bytes"] for row in exchanges["udp"]["1400"]] == [1448, 1448]


def test_a_datagram_of_1489_bytes_is_two_packets_of_ipv6(nothing_left):
    for size, expected in ((1488, 2.0), (1489, 4.0)):  # derived: 1488 + 8 + 40 = 1536
        found = transactions([size], protocols=["ping", "udp"], count=3, host="::1")
        assert found.meta.instrument.packets == {"ping": expected, "udp": expected}
        assert len(found.meta.instrument.exchanges["udp"][str(size)]) == expected


SLOW = [
    # path, family, protocols: a line where the bytes of a handshake take longer than its latency
    ("56 kbit/s 5 ms", "127.0.0.1", ("udp", "tcp", "tls")),
    ("T1 5 ms", "127.0.0.1", PROTOCOLS),
    ("T1 5 ms", "::1", ("ping", "tfo", "tls")),
]


ROUND_TRIPS = {"ping": 1, "udp": 1, "tfo": 1, "tcp": 2, "tls": 3}
"""published: RFC 792, 768, 7413, 9293 and 8446: round trips until the response. [1]"""


def late_s(instrument, mode):
    """Return by how much the hosts of a run may be late, as the run itself measured it. [s]

    In each round trip both programs wake up, and two packets cross the emulator. The work of the
    hosts is some 0.1 ms of a quiet machine for each, and the certificates of TLS 1 ms.
    """
    waking_s = 2 * instrument.scheduling_delay_p99_s
    crossing_s = 2 * (instrument.wire_lateness_p99_s or 0.0)
    work_s = 5e-4 / instrument.processor_ratio
    return ROUND_TRIPS[mode] * (waking_s + crossing_s + work_s)


@pytest.mark.parametrize(("path", "host", "protocols"), SLOW)
def test_prediction_over_a_slow_line_knows_every_packet(path, host, protocols, nothing_left):
    path = NetworkPath.parse(path)
    result = transactions([100], protocols=protocols, count=4, path=path, host=host, timeout_s=5.0)
    line_s = 8 / path.bottleneck_bps
    header = 72 if host == "::1" else 52
    for mode in protocols:
        found = compare.transactions(result, mode=mode)
        measured, predicted = float(found.measured[0]), float(found.predicted[0])
        assert "packets recorded by taps" in found.predicted_label
        # No packet is early, and none is later than the run's own instrument.
        latest_s = 1.05 * predicted + late_s(result.meta.instrument, mode)
        assert 0.999 * predicted < measured < latest_s, mode
        if mode == "tcp":
            # derived by hand: SYN and its answer; ACK and request; ACK, response, end; twice 10 ms
            packets = 2 * (header + 8) + 2 * header + 100 + 3 * header + 100
            assert predicted == pytest.approx(packets * line_s + 0.02, rel=0.01)
        if mode == "tls":
            # published: RFC 8446; hello and answer with a certificate are more than 700 bytes
            assert predicted > (3 * 0.01 + (700 + 10 * header) * line_s)
            assert "According to the taps, both hosts took" in found.sentence


def test_the_first_fast_open_fetches_the_cookie(nothing_left):
    path = NetworkPath.parse("10 Mbit/s 60 ms")
    # A path longer than a look at the stop button: the stream must not end before it stands.
    result = transactions([100], protocols=["tfo", "udp"], count=2, path=path, timeout_s=5.0)
    facts = result.meta.instrument
    assert not result.failed.any()
    # derived: two round trips of 120 ms with the cookie's, then one
    assert facts.first_response_s["tfo"] > 0.239
    assert facts.first_response_s["udp"] < 0.239
    assert result.minima("tfo")[1][0] < 0.239
    assert facts.counters["tfo"]["server"]["TCPFastOpenPassive"] >= 4
    assert facts.counters["tfo"]["client"]["TCPFastOpenPassive"] == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_without_namespaces_what_needs_one_is_left_out(host, nothing_left, monkeypatch):
    started = Namespace.__init__

    def refused(room, **options):
        started(room, **{**options, "own": False})
        room.refused, room.own = "Operation not permitted", False

    monkeypatch.setattr(Namespace, "__init__", refused)
    before = Path("/proc/sys/net/ipv4/tcp_fastopen").read_text()
    result = transactions([8], count=2, host=host)
    assert result.modes == ("udp", "tcp", "tls")
    assert not result.meta.partial
    assert np.isnan(result.tap_s).all()
    assert Notice("left-out", {"protocol": "tfo"}) in result.meta.warnings
    assert Path("/proc/sys/net/ipv4/tcp_fastopen").read_text() == before


def test_the_capture_is_one_that_other_tools_read(tmp_path, nothing_left):
    transactions([100], protocols=["udp"], count=2, pcap=tmp_path / "run.json")
    data = (tmp_path / "run.json").read_bytes()
    # published: libpcap's file format; nanoseconds, version 2.4, raw IP
    assert struct.unpack_from("<IHH", data) == (0xA1B23C4D, 2, 4)
    assert struct.unpack_from("<I", data, 20) == (101,)
    at, stamps = 24, []
    while at < len(data):
        seconds, rest_ns, kept, size = struct.unpack_from("<IIII", data, at)
        assert (kept, size) == (128, 128), "20 + 8 + 100 bytes"
        stamps.append(seconds * 10**9 + rest_ns)
        at += 16 + kept
    assert at == len(data)
    assert len(stamps) == 2 * (3 + 2), "request and reply: 3 of warm-up, 2 that count"
    assert stamps == sorted(stamps)


def test_time_of_an_exchange_by_the_tap():
    client, server = (socket.inet_aton(address) for address in ("127.0.0.1", "127.0.0.2"))
    seen = [TappedPacket(1000, client, 40, b""), TappedPacket(5000, server, 40, b""),
            TappedPacket(9000, client, 40, b"")]  # fmt: skip
    assert exchange_s(seen, "127.0.0.2") == pytest.approx(4e-6)  # derived: 5000 - 1000 ns
    assert np.isnan(exchange_s(seen[:1], "127.0.0.2"))


def tcp_packet(at_ns, source, number, flags, size, *, version=4):
    """A packet as a tap keeps it: the headers of IP and TCP without options."""
    tcp = bytes(4) + number.to_bytes(4, "big") + bytes(4) + bytes([0x50, flags]) + bytes(6)
    if version == 4:
        address = socket.inet_aton(source)
        total = (40 + size).to_bytes(2, "big")
        head = b"\x45\0" + total + bytes(4) + b"\x40\x06\0\0" + address + bytes(4)
        return TappedPacket(at_ns, address, 40 + size, head + tcp)
    address = socket.inet_pton(socket.AF_INET6, source)
    head = b"\x60\0\0\0" + (20 + size).to_bytes(2, "big") + b"\x06\x40" + address + bytes(16)
    return TappedPacket(at_ns, address, 60 + size, head + tcp)


@pytest.mark.parametrize(("client", "server"), [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")])
def test_packets_of_an_exchange_and_what_each_waited_for(client, server):
    version, header = (6, 60) if ":" in client else (4, 40)
    sent = [
        (0, 10, client, 1, 0x02, 0), (12, 22, server, 1, 0x12, 0),
        (23, 33, client, 2, 0x10, 0), (25, 35, client, 3, 0x18, 100),
        (36, 46, server, 2, 0x18, 200), (37, 47, server, 3, 0x11, 0),
        (46, 56, client, 4, 0x10, 0), (48, 58, client, 5, 0x11, 0),
    ]  # fmt: skip
    near, far = [], []
    for start, end, source, number, flags, size in sent:
        here, there = (start, end) if source == client else (end, start)
        near.append(tcp_packet(here * 1000, source, number, flags, size, version=version))
        far.append(tcp_packet(there * 1000, source, number, flags, size, version=version))
    near.sort()
    rows = exchange_rows(near, far[:-1], server=server)  # the last one is still under way
    # counted by hand: up to the server's end of the stream, at 47 us
    assert [row.sender for row in rows] == [0, 1, 0, 0, 1, 1]
    assert [row.after for row in rows] == [-1, 0, 1, 1, 3, 3]
    assert [row.packet_bytes - header for row in rows] == [0, 0, 0, 100, 200, 0]
    assert [round(row.wait_s * 1e6) for row in rows] == [0, 2, 1, 3, 1, 2]
    assert exchange_rows(near[:1], far[:1], server=server) == []


def test_the_test_key_belongs_to_its_certificate():
    pem = CERTIFICATE.read_text()
    own = ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERTIFICATE") :])
    context = ssl.create_default_context(cafile=CERTIFICATE)
    assert context.get_ca_certs(binary_form=True) == [own]
    # OpenSSL checks here that the key is that of the certificate.
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(CERTIFICATE)
    assert pem.startswith("PUBLIC TEST KEY")


def test_the_command_runs_as_it_stands():
    result = transactions([8], protocols=["udp"], count=1, tap=False)
    again = eval(result.meta.command, {"transactions": transactions})
    assert len(again) == 1
    assert np.isnan(again.tap_s).all()
    assert re.search("mtu_bytes=1536", result.meta.command)
