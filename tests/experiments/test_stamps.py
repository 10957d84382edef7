"""When a packet arrived, by the stamp of the kernel and the clock of a run."""

import socket
import struct
import time

import pytest

from netcalc.experiments.peers.helper import LATEST_READ_NS, SO_TIMESTAMPNS, arrival_ns

WALL_NS, CLOCK_NS = 1_700_000_000_123_456_789, 5_000_000_000


def stamped(before_ns):
    """Ancillary data whose stamp is that long before the wall clock of the test."""
    at_ns = WALL_NS - before_ns
    data = struct.pack("=qq", at_ns // 10**9, at_ns % 10**9)
    return [(socket.SOL_SOCKET, SO_TIMESTAMPNS, data)]


@pytest.mark.each(
    ("control", "waited_ns", "source"),
    [
        (stamped(40_000), 40_000, "derived: stamped 40 us before it was read"),
        (stamped(0), 0, "identity: read at once"),
        ([], 0, "identity: no stamp, so the time of reading"),
        ([(socket.SOL_SOCKET, SO_TIMESTAMPNS + 1, b"")], 0, "identity: another option"),
        (stamped(-1), 0, "identity: a stamp of the future: the wall clock was set back"),
        (stamped(LATEST_READ_NS + 1), 0, "identity: the wall clock was set forward"),
    ],
)
def test_an_arrival_is_when_the_kernel_stamped_it(monkeypatch, control, waited_ns, source):
    monkeypatch.setattr(time, "time_ns", lambda: WALL_NS)
    assert arrival_ns(control, lambda: CLOCK_NS) == CLOCK_NS - waited_ns, source


def test_the_kernel_of_this_machine_stamps_a_datagram():
    """identity: it arrives when it is sent, not when it is read.

    The kernel begins to stamp some time after it was asked to: until then the stamp is the reading.
    """
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with receiver, sender:
        receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(5.0)
        for _ in range(50):
            before_ns = time.perf_counter_ns()
            sender.sendto(b"x", receiver.getsockname())
            time.sleep(0.05)
            reading_ns = time.perf_counter_ns()
            _, control, _, _ = receiver.recvmsg(8, 64)
            arrived_ns = arrival_ns(control, time.perf_counter_ns)
            if arrived_ns < reading_ns:
                break
    assert before_ns - 100_000 <= arrived_ns < reading_ns, "0.1 ms: the clocks differ by slewing"
