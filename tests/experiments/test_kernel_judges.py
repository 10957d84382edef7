"""Where the kernel keeps a state or a stamp of its own, it judges what a live run measured.

A stamp of the kernel lies between two events whatever the machine does meanwhile, so that none of
these tests has a tolerance.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from itertools import product

import numpy as np
import pytest

from netcalc.experiments.exchange import IcmpExchange, TcpExchange, UdpExchange, set_timeout
from netcalc.experiments.peers import bulk_peer
from netcalc.experiments.peers.far_writes import _write_corked
from netcalc.experiments.peers.helper import SO_TIMESTAMPNS, stamp_ns
from netcalc.experiments.probing import HopRun, ProbeAnswer, TrainPacket, TrainPlan, TrainRun
from netcalc.experiments.running.stopping import Stopping
from netcalc.experiments.transactions import RequestPlan
from netcalc.experiments.transfer import Transfer, wake_bytes

SESSION = b"sessions"
HOST = "127.0.0.1"


def to_wall_ns(clock=time.perf_counter_ns):
    """Return what to add to a reading of the clock for wall time, at most. [ns]

    The wall clock is read before the other one, so that the sum is never later than the event.
    """
    found = []
    for _ in range(200):
        wall_ns = time.time_ns()
        found.append(wall_ns - clock())
    return max(found)


class Echoing(threading.Thread):
    """Sends back what arrives, and keeps the kernel's stamp of each arrival."""

    def __init__(self, sock):
        super().__init__(daemon=True)
        self.sock, self.arrived_ns, self.answered_ns = sock, [], []
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        sock.settimeout(10.0)

    def run(self):
        while True:
            try:
                data, control, _, sender = self.sock.recvmsg(4096, 256)
            except OSError:
                return
            if not data:
                return
            self.arrived_ns.append(stamp_ns(control))
            self.answered_ns.append(time.time_ns())
            self.sock.sendto(data, sender) if sender else self.sock.sendall(data)

    def end(self):
        """End the thread: by an empty datagram, or as the client has closed the stream."""
        if self.sock.type == socket.SOCK_DGRAM:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                sock.sendto(b"", self.sock.getsockname())
        self.join(10.0)
        assert not self.is_alive()
        self.sock.close()


def udp_exchange(stopping):
    there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    there.bind((HOST, 0))

    def connect():
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.connect(there.getsockname())
        return sock

    echoing = Echoing(there)
    echoing.start()
    return echoing, UdpExchange(connect, SESSION, timeout_s=5.0, stopping=stopping)


def tcp_pair():
    with socket.create_server((HOST, 0)) as listener:
        here = socket.create_connection(listener.getsockname())
        there, _ = listener.accept()
    here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return here, there


def tcp_exchange(stopping):
    here, there = tcp_pair()
    echoing = Echoing(there)
    echoing.start()
    here.settimeout(5.0)
    exchange = TcpExchange(here, SESSION, largest_bytes=1400, timeout_s=5.0, stopping=stopping)
    echoing.arrived_ns.clear()  # of the greeting
    echoing.answered_ns.clear()
    return echoing, exchange


@pytest.mark.live
@pytest.mark.parametrize("make", [udp_exchange, tcp_exchange])
def test_a_round_trip_begins_before_the_arrival_at_the_peer_and_ends_after_its_answer(make):
    """identity: by the kernel's stamp; a clock read after send() would begin too late."""
    offset_ns = to_wall_ns()
    with Stopping(None, limit_s=60.0) as stopping:
        echoing, exchange = make(stopping)
        times = [exchange.exchange(bytearray(100), number) for number in range(1, 41)]
        exchange.close()
    echoing.end()
    offset_ns = min(offset_ns, to_wall_ns())  # where the wall clock was slewed meanwhile
    sent_ns = np.array([sent for sent, _ in times]) + offset_ns
    done_ns = sent_ns + np.array([rtt for _, rtt in times])
    assert len(echoing.arrived_ns) == 40
    assert min(echoing.arrived_ns) > 0, "stamped by the kernel"
    assert (sent_ns <= np.array(echoing.arrived_ns)).all()
    # The reading at the end may be too early by as much as the offset is; that is below 1 us.
    assert (done_ns + 10_000 >= np.array(echoing.answered_ns)).all()


class SlowSocket(socket.socket):
    """A socket whose calls to send() return 5 ms after the packet is on its way."""

    def send(self, *arguments):
        done = super().send(*arguments)
        time.sleep(5e-3)
        return done


class Endpoints:
    """The client's end of the exchanges of a run, on loopback."""

    version, server_host = 4, HOST

    def client_socket(self, kind, protocol=0):
        return SlowSocket(socket.AF_INET, kind, protocol)


@pytest.mark.live
def test_a_transaction_begins_before_its_datagram_is_sent():
    """derived: sending takes 5 ms here; a clock that is read after it would miss them."""
    there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    there.bind((HOST, 0))
    echoing = Echoing(there)
    echoing.start()
    with Stopping(None, limit_s=60.0) as stopping:
        requests = RequestPlan("udp", Endpoints(), largest_bytes=100, timeout_s=5.0,
                            stopping=stopping)  # fmt: skip
        requests.address = there.getsockname()
        times = [requests.response_ns(bytes([number]) * 100, number) for number in range(1, 6)]
    echoing.end()
    assert min(times) >= 5_000_000


class Pinged:
    """A raw socket on which every echo request is answered while send() goes on, for 5 ms."""

    family = socket.AF_INET

    def __init__(self):
        self.replies = []

    def settimeout(self, value):
        assert value is None

    def setsockopt(self, *option):
        assert option[0] == socket.SOL_SOCKET

    def send(self, packet):
        # published: RFC 791 and 792: a header of 20 bytes; type 0 is the reply to a request, 8
        self.replies.append(b"\x45" + bytes(19) + b"\0" + packet[1:])
        time.sleep(5e-3)

    def recv_into(self, buffer, *_):
        if not self.replies:
            raise BlockingIOError
        reply = self.replies.pop()
        buffer[: len(reply)] = reply
        return len(reply)


def test_a_ping_begins_before_its_request_is_sent():
    """derived: sending takes 5 ms here; a clock that is read after it would miss them."""
    with Stopping(None, limit_s=60.0) as stopping:
        exchange = IcmpExchange(Pinged(), SESSION, timeout_s=5.0, stopping=stopping)
        times = [exchange.exchange(bytearray(100), number) for number in range(1, 6)]
    assert min(rtt for _, rtt in times) >= 5_000_000


def test_a_cork_is_in_while_the_request_is_written_and_out_after_it():
    """identity: by the kernel's own state of the option."""
    here, there = tcp_pair()
    corked = []

    def is_corked():
        return here.getsockopt(socket.IPPROTO_TCP, socket.TCP_CORK)

    def send(piece):
        here.sendall(piece)
        corked.append(is_corked())

    with here, there:
        _write_corked(here, send, iter([b"first ", b"second"]))
        assert corked == [1, 1]
        assert is_corked() == 0
        there.settimeout(10.0)
        assert there.recv(12, socket.MSG_WAITALL) == b"first second"


@pytest.mark.live
def test_trains_have_the_arrival_times_of_the_kernel():
    """identity: both packets arrived before the pause after which they are read."""
    session = b"\x01\x02\x03\x04"
    plan = TrainPlan(payload_bytes=100, packet_count=2, count=1, cross_ratio=0.0, timeout_s=10.0,
                  seed=1)  # fmt: skip
    packets = [TrainPacket(1, index, 128, 0, False) for index in (1, 2)]
    with (
        Stopping(None, limit_s=60.0) as stopping,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        run = TrainRun(experiment="packet_trains", protocol="udp", target="", total_count=1,
                       unit="trains", host=HOST, stopping=stopping)  # fmt: skip
        run._session = session
        receiver.bind((HOST, 0))
        receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        time.sleep(0.1)  # the kernel begins to stamp what arrives a moment after it was asked to
        set_timeout(receiver, 1.0)
        before_ns = time.time_ns()
        for packet in packets:
            tag = (1).to_bytes(4, "little") + packet.index.to_bytes(4, "little") + session
            sender.sendto(tag + bytes(88), receiver.getsockname())
        after_ns = time.time_ns()
        time.sleep(0.02)
        run._await(receiver, packets, plan)
    assert before_ns <= packets[0].received_ns <= packets[1].received_ns <= after_ns


class Informed:
    """A connection of which the kernel says what a test gives."""

    def __init__(self, *, sent, again, acked):
        # published: linux/tcp.h, struct tcp_info: 8 bytes, 24 numbers of 32 bits, four of 64 (two
        # pacing rates, bytes acknowledged and received), six of 32, delivery rate, three times,
        # two counts of deliveries, then bytes sent and bytes sent again.
        self.info = struct.pack(
            "=8x24I4Q6I4Q2I2Q", *[0] * 24, 0, 0, acked, 0, *[0] * 6, *[0] * 4, 0, 0, sent, again
        )

    def getsockopt(self, level, option, size):
        assert (level, option) == (socket.IPPROTO_TCP, socket.TCP_INFO)
        return self.info[:size]


@pytest.mark.each(
    ("sent", "again", "acked", "in_flight", "source"),
    [
        (5000, 0, 0, 5000, "identity: nothing is acknowledged"),
        (5000, 0, 2001, 3000, "derived: the SYN is acknowledged as a byte"),
        (5000, 1500, 2001, 1500, "derived: 1500 of the bytes sent are the same bytes again"),
        (5000, 2999, 2001 + 1500, 0, "identity: never below nothing"),
    ],
)
def test_bytes_in_flight_are_counted_once(sent, again, acked, in_flight, source):
    found = bulk_peer.in_flight_bytes(Informed(sent=sent, again=again, acked=acked))
    assert found == in_flight, source


def test_datagrams_of_another_size_are_counted_as_damaged():
    """derived: of five datagrams one is cut and one is longer."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    control, _other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here, there, control, _other:
        for size in (100, 57, 100, 130, 100):
            here.send(bytes(size))
        counts = bulk_peer.ByteCounts()
        orders = bulk_peer.Orders(control, counts)
        orders.end = {"sent_bytes": 487, "linger_s": 1.0, "drain_s": 1.0, "now": False}
        order = {"write_bytes": 100, "merged": False}
        found = bulk_peer.receive_datagrams(there, order, orders, counts)
    assert counts.received_bytes == 487
    assert found["damaged_count"] == 2


def test_a_sink_sleeps_until_much_is_there_and_loses_nothing():
    """identity: all that was sent arrives, also the end that is less than the sink waits for."""
    control, _other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with socket.create_server((HOST, 0)) as listener, control, _other:
        source = socket.create_connection(listener.getsockname())
        sink, _ = listener.accept()
        with source, sink:
            source.sendall(bytes(100_001))
            source.shutdown(socket.SHUT_WR)
            counts = bulk_peer.ByteCounts()
            order = {"read_bytes": 4096, "wake_bytes": 65_536}
            bulk_peer.receive_stream(sink, order, bulk_peer.Orders(control, counts), counts)
            kept = sink.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)
    assert (counts.received_bytes, kept) == (100_001, 65_536)


@pytest.mark.each(
    ("changed", "expected", "source"),
    [
        ({}, 262_144, "derived: 1e6 writes of 1440 B are far more than 128 times as much"),
        ({"write_count": 5000}, 56_250, "derived: 5000 * 1440 / 128, as less than 1 % of it"),
        ({"write_count": 1}, 11, "derived: 1440 / 128, rounded down"),
        ({"buffer_bytes": 32_768}, 1, "derived: a buffer of 32 KiB never holds 256 KiB"),
        ({"reply_bytes": 1}, 1, "derived: one message a time would never be enough"),
        ({"protocol": "udp"}, 1, "published: socket(7), the option is of streams"),
    ],
)
def test_the_sink_wakes_where_it_changes_nothing(changed, expected, source):
    facts = {"protocol": "tcp", "write_bytes": 1440, "write_count": 1_000_000, "limit_s": 1.0}
    assert wake_bytes(Transfer(**{**facts, **changed}), 262_144) == expected, source


class Answering:
    """A path on which every node answers at once; keeps the order of the probes."""

    def __init__(self):
        self.asked = []

    def exchange(self, payload, hop, sequence):
        self.asked.append((hop, len(payload)))
        return ProbeAnswer(0, 1, 56.0, HOST)


def test_probes_of_a_turn_are_all_of_them_in_random_order():
    """derived: of 30 probes two turns of twenty have one order once in 10^30 runs."""
    sizes, hops, turns = [100, 200, 300, 400, 500, 600], 5, 20
    every = list(product(range(1, hops + 1), sizes))
    with Stopping(None, limit_s=60.0) as stopping:
        run = HopRun(experiment="probing", protocol="udp", target="", unit="probes",
                     total_count=turns * len(every), host=HOST, stopping=stopping)  # fmt: skip
        path = Answering()
        run._probe(path, sizes, hops, turns)
    asked = path.asked[hops:]  # after the warm-up
    orders = [tuple(asked[i : i + len(every)]) for i in range(0, len(asked), len(every))]
    assert len(orders) == turns
    assert all(sorted(order) == every for order in orders)
    assert len({*orders, tuple(every)}) == turns + 1
    # The first probe of a turn is anywhere: by chance all twenty are of one hop in 5^19 runs.
    assert len({order[0][0] for order in orders}) > 1
