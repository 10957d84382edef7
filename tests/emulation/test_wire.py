"""Real packets through emulated paths: measured against Path.rtt_s, allowances stated."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import numpy as np
import pytest

from netcalc.emulation import EmulatedPath, Events
from netcalc.emulation.wire.carrier import LATE_S, LATENESS_BINS
from netcalc.errors import DomainError
from netcalc.path import Path

pytestmark = [pytest.mark.namespace, pytest.mark.usefixtures("nothing_left")]

SO_TIMESTAMPNS = 35
TCPI_SEGS_OUT, TCPI_BYTES_SENT = 136, 200
"""Of Linux: an option of a socket, and two offsets in struct tcp_info."""
LOWER_S = 2e-6
"""ping's shortest time is cut to microseconds, and its clock is read twice. [s]"""
UPPER_S, UPPER_RATIO = 1e-3, 0.02
"""The smallest of the round trips may be late by 1 ms and 2 %: a shared machine, no benchmark."""


def ping(wire, payload_bytes, *, count=10, version=4, wait_s=1):
    """Return what ping prints, each probe after the reply to the one before.

    For the last reply it waits no longer than an interval, or two round trips; where none came at
    all, as long as it is told.
    """
    shortest = 0.02 if count > 5 else 0.2
    interval_s = max(shortest, 1.1 * float(wire.path.rtt_s(payload_bytes + 48)))
    times = ["-c", str(count), "-i", f"{interval_s:.3f}", "-W", str(wait_s)]
    command = ["ping", f"-{version}", "-n", *times]
    return wire.run([*command, "-s", str(payload_bytes), wire.address("B", version)]).stdout


def ping_s(wire, payload_bytes, **options):
    """Return the round trips that ping prints, cut to three digits; 16 bytes at least. [s]"""
    out = ping(wire, payload_bytes, **options)
    return [float(text) / 1e3 for text in re.findall(r"time=([\d.]+) ms", out)]


def shortest_s(wire, payload_bytes, **options):
    """Return the shortest round trip that ping saw, to the microsecond; inf if none. [s]"""
    found = re.search(r"= ([\d.]+)/", ping(wire, payload_bytes, **options))
    return float(found[1]) / 1e3 if found else float("inf")


@pytest.mark.parametrize(
    ("text", "processing_s"),
    [
        ("T1 5 ms", 0.0), ("T3 5 ms", 0.0), ("56 kbit/s 10 ms", 0.0), ("100 Mbit/s 2 ms", 0.0),
        ("T1 5 ms, T1 1 ms", 0.001), ("4 x 10 Mbit/s 5 ms", 0.0),
        ("13 x 45 Mbit/s 1 ms", 0.0005),
    ],
)  # fmt: skip
def test_ping_takes_the_round_trip_of_the_path(text, processing_s):
    """identity: Path.rtt_s is the truth, ping an independent clock: never less, hardly more."""
    path = Path.parse(text, processing_s=processing_s)
    with EmulatedPath(path) as wire:
        for payload_bytes in (16, 1400):
            truth_s = float(path.rtt_s(payload_bytes + 28))
            upper_s = truth_s * (1 + UPPER_RATIO) + UPPER_S
            found_s = shortest_s(wire, payload_bytes, count=2 if truth_s > 0.1 else 6)
            assert truth_s - LOWER_S <= found_s <= upper_s, payload_bytes


@pytest.mark.parametrize("device", ["tun", "veth"])
def test_ping_over_ipv6(device):
    path = Path.parse("T1 5 ms, T1 1 ms")
    with EmulatedPath(path, device=device) as wire:
        assert wire.chosen["device"] == device
        found_s = ping_s(wire, 1000, version=6, count=6)
    truth_s = float(path.rtt_s(1048))  # derived: 40 bytes of IPv6 and 8 of ICMPv6 header
    assert truth_s - 1e-4 <= min(found_s) <= truth_s * (1 + UPPER_RATIO) + UPPER_S


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("program", ["traceroute", "mtr"])
@pytest.mark.parametrize(("device", "side"), [("tun", "A"), ("tun", "B"), ("veth", "A")])
def test_every_node_is_seen(program, version, device, side, wires):
    if not wires.programs[program]:
        pytest.skip(f"{program} is not installed")
    path = Path.parse("5 x 10 Mbit/s 3 ms")
    with EmulatedPath(path, device=device) as wire:
        far = wire.address("B" if side == "A" else "A", version)
        asked = [wires.programs[program], f"-{version}", "-n", *OPTIONS[program], far]
        nodes = [wire.router_address(place, version) for place in range(4)]
        expected = [*(nodes if side == "A" else reversed(nodes)), far]
        found = re.findall(LINES[program], wire.run(asked, side).stdout, re.MULTILINE)
        assert wire.statistics().answered_count >= 4
    assert [address for address, _ in found] == expected
    # derived: each link adds 3 ms there and 3 ms back, packets of 60 to 80 bytes and answers beside
    for place, (_, printed_ms) in enumerate(found, 1):
        # The best of several: a program that has just started may look at its first answer late.
        best_ms = min(map(float, re.findall(r"[\d.]+", printed_ms)))
        assert 6.0 * place <= best_ms <= 6.0 * place + 3.0


OPTIONS = {
    # One probe at a time: of many at once the far end answers but some, and traceroute waits 5 s.
    "traceroute": ["-q", "3", "-N", "1", "-w", "1"],
    "mtr": ["--report", "-c", "2", "-i", "0.1", "-G", "0.2", "-o", "B"],  # the best of two
}
LINES = {
    "traceroute": r"^ *\d+ +(\S+) +([\d.]+ ms(?: +[\d.]+ ms)*)",
    "mtr": r"^ *\d+\.\|-- (\S+) +([\d.]+)",
}


def test_a_node_answers_before_packets_that_are_still_far_from_it(wires):
    """The node next to A is 20 ms away; packets of B's ping are 80 ms on their way to it."""
    if not wires.programs["traceroute"]:
        pytest.skip("traceroute is not installed")
    with EmulatedPath(Path.parse("5 x T1 20 ms")) as wire:
        wire.start(["ping", "-q", "-i", "0.01", wire.address("A")], "B", stdout=subprocess.DEVNULL)
        end_s = time.monotonic() + 10.0
        while wire.statistics().carried_count < 20 and time.monotonic() < end_s:
            continue
        command = [wires.programs["traceroute"], "-n", "-q", "8", "-N", "1", "-w", "1", "-m", "1"]
        out = wire.run([*command, wire.address("B")]).stdout
    found_ms = [float(text) for text in re.findall(r"([\d.]+) ms", out)]
    # derived: 20 ms each way, 60 bytes there and 88 back at 1.544 Mbit/s, beside 84 of a ping
    assert len(found_ms) == 8
    assert 40.7 <= min(found_ms) <= 45.0


@pytest.mark.parametrize(
    ("text", "duration_s"), [("1.544 Mbit/s 5 ms", 2.0), ("10 Mbit/s 5 ms", 1.0)]
)
def test_tcp_reaches_the_framing_ceiling(text, duration_s):
    """derived: 1448 bytes of data in each packet of 1500 (20 IP, 20 TCP, 12 time stamps).

    What the buffer did not hold at first comes again in 0.6 s on the slow line. Each kind of device
    has a path of its own, all at the same time.
    """
    path = Path.parse(text)
    ceiling_bps = path.bottleneck_bps * 1448 / 1500
    with ExitStack() as running:
        wires = {
            name: running.enter_context(EmulatedPath(path, buffer_bytes=40_000, **options))
            for name, options in (
                ("tun", {}), ("offload", {"offload": True}), ("veth", {"device": "veth"}),
            )
        }  # fmt: skip
        threads = running.enter_context(ThreadPoolExecutor(len(wires)))
        sent = {
            name: threads.submit(received_bps, wire, duration_s) for name, wire in wires.items()
        }
        goodput_bps = {name: one.result() for name, one in sent.items()}
    assert goodput_bps == pytest.approx(dict.fromkeys(wires, ceiling_bps), rel=0.05)


def received_bps(wire, duration_s):
    """Send by cubic from A to B for a while; return what arrived in its second half. [bit/s]"""
    with wire.socket("B") as listener, wire.socket("A") as sender:
        listener.bind((wire.address("B"), 0))
        listener.listen()
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        sender.settimeout(5)
        sender.connect(listener.getsockname())
        receiver, _ = listener.accept()
        with receiver:
            receiver.settimeout(5)
            sender.setblocking(False)
            start_s = time.monotonic()
            middle, now_s, got = None, start_s, 0
            while now_s < start_s + duration_s:
                with suppress(BlockingIOError):
                    sender.send(bytes(65_536))
                got += len(receiver.recv(1 << 20))
                now_s = time.monotonic()
                if middle is None and now_s > start_s + duration_s / 2:
                    middle = (now_s, got)
    return (got - middle[1]) * 8 / (now_s - middle[0])


@pytest.mark.parametrize("device", ["tun", "veth"])
def test_a_packet_enters_its_path_when_it_came_not_when_it_was_read(device):
    """The process that carries it is stopped for 60 ms, the path takes 100 ms all the same."""
    with (
        EmulatedPath(Path.parse("100 Mbit/s 100 ms"), device=device) as wire,
        wire.socket("A", kind=socket.SOCK_DGRAM) as a,
        wire.socket("B", kind=socket.SOCK_DGRAM) as b,
    ):
        b.bind((wire.address("B"), 0))
        b.settimeout(5)
        found_s = []
        for number in range(3):
            os.kill(wire._control.pid, signal.SIGSTOP)
            start_s = time.monotonic()
            a.sendto(b"%d" % number, b.getsockname())
            while time.monotonic() < start_s + 0.06:
                continue
            os.kill(wire._control.pid, signal.SIGCONT)
            assert b.recv(100) == b"%d" % number
            found_s.append(time.monotonic() - start_s)
    assert 0.1 <= min(found_s) < 0.15  # by the time of reading it would be 160 ms


def test_lost_packets_are_lost_and_counted():
    with EmulatedPath(Path.parse("10 Mbit/s 1 ms"), loss_ratio=0.2, seed=3) as wire:
        first = len(ping_s(wire, 16, count=40))
        links = wire.statistics().links
    lost = links[0][0]["lost"] + links[1][0]["lost"]
    assert first == 40 - lost < 40
    # derived: 40 probes, each through two draws at 0.2: mean 14.4 of 40, 5 standard deviations
    assert abs(lost - 14.4) < 5 * (40 * 0.36 * 0.64) ** 0.5


def test_all_lost_is_no_reply_and_no_crash():
    with EmulatedPath(Path.parse("10 Mbit/s 1 ms"), loss_ratio=1.0) as wire:
        assert ping_s(wire, 16, count=6, wait_s=0.2) == []


@pytest.mark.parametrize("fault", ["duplicate_ratio", "corrupt_ratio"])
def test_duplicates_and_damage_reach_the_kernel(fault):
    with EmulatedPath(Path.parse("10 Mbit/s 1 ms"), **{fault: 1.0}) as wire:
        command = ["ping", "-n", "-c", "4", "-i", "0.05", "-W", "0.3", "-s", "500"]
        out = wire.run([*command, wire.address("B")]).stdout
    # derived: both directions double, so 4 replies a probe; a wrong checksum is dropped by B
    if fault == "duplicate_ratio":
        assert out.count("DUP!") in (9, 10, 11, 12)
    else:
        assert "0 received" in out


def test_a_socket_of_one_end_is_used_here():
    with (
        EmulatedPath(Path.parse("10 Mbit/s 2 ms")) as wire,
        wire.socket("A", kind=socket.SOCK_DGRAM) as a,
        wire.socket("B", socket.AF_INET, socket.SOCK_DGRAM) as b,
    ):
        b.bind((wire.address("B"), 0))
        b.settimeout(5)
        a.sendto(b"through the wire", b.getsockname())
        data, sender = b.recvfrom(100)
        assert (data, sender[0]) == (b"through the wire", wire.address("A"))


def test_the_log_has_the_events_of_each_direction():
    path = Path.parse("1 Mbit/s 1 ms, 2 Mbit/s 1 ms")
    with EmulatedPath(path, log=True) as wire:
        assert len(ping_s(wire, 972, count=3)) == 3
        there, back = wire.events("B"), wire.events("A")
    for events in (there, back):
        assert events.link.tolist() == [0, 0, 0, 1, 1, 1]
        assert set(events.packet_bytes.tolist()) == {1000}
    # derived: 8000 bits at 1 Mbit/s and then at 2 Mbit/s; the way back meets them in reverse
    assert (there.departure_s - there.arrival_s)[[0, 3]] == pytest.approx([0.008, 0.004])
    assert (back.departure_s - back.arrival_s)[[0, 3]] == pytest.approx([0.004, 0.008])


def test_the_log_is_shared_while_packets_are_carried():
    """identity: what comes without a question, call by call, is the log towards B at the end."""
    with EmulatedPath(Path.parse("1 Mbit/s 1 ms, 2 Mbit/s 1 ms"), log=True) as wire:
        parts = [wire.new_events()]
        assert len(parts[0]) == 0
        for count in (1, 3):
            assert len(ping_s(wire, 972, count=count)) == count
            deadline = time.monotonic() + 20
            while sum(map(len, parts)) < len(wire.events("B")) and time.monotonic() < deadline:
                parts.append(wire.new_events())
        found, whole = Events.concatenate(parts), wire.events("B")
        for link in (0, 1):
            assert found.at(link).sha256() == whole.at(link).sha256()
        assert len(whole) == 8
        os.kill(wire._control.pid, signal.SIGKILL)
        assert len(wire.new_events()) == 0, "of a process that is gone there is what it had shared"


@pytest.mark.parametrize("device", ["tun", "veth"])
@pytest.mark.parametrize("version", [4, 6])
def test_several_senders_share_the_path_and_each_gets_its_replies(version, device):
    """derived: the round trip is that of the path from each; identity: all are in the one log."""
    path = Path.parse("10 Mbit/s 5 ms, 20 Mbit/s 5 ms")
    with EmulatedPath(path, senders=3, log=True, device=device) as wire:
        assert wire.sides == ("A", "B", "A2", "A3")
        senders = [side for side in wire.sides if side != "B"]
        assert len({wire.address(side, version) for side in wire.sides}) == 4
        spaces = {wire.run(["readlink", "/proc/self/ns/net"], side).stdout for side in wire.sides}
        assert len(spaces) == 4
        command = ["ping", f"-{version}", "-n", "-c", "5", "-i", "0.05", "-s", "952"]
        command.append(wire.address("B", version))
        pings = [wire.start(command, side, stdout=subprocess.PIPE, text=True) for side in senders]
        for one in pings:
            times = re.findall(r"time=([\d.]+) ms", one.communicate(timeout=20)[0])
            assert len(times) == 5
            size = 952 + (28 if version == 4 else 48)
            # three pings that begin together wait for two packets at most, at the first link
            low_s = float(path.rtt_s(size))
            high_s = low_s + 2 * 2 * 8 * size / 10e6
            assert low_s - LOWER_S <= min(map(float, times)) / 1e3
            assert min(map(float, times)) / 1e3 <= high_s * (1 + UPPER_RATIO) + UPPER_S
        there, back = wire.events("B"), wire.events("A")
        drops = wire.statistics().device_drop_count
    for events in (there, back):
        assert np.sum((events.link == 0) & (events.packet_bytes == size)) == 15
        arrivals = events.arrival_s[events.link == 0]
        assert (np.diff(arrivals) >= 0).all()
    assert drops == 0


@pytest.mark.each(("senders", "links"), [(0, 1), (9, 1), (8, 247)])
def test_more_senders_than_addresses_are_refused(senders, links):
    """derived: 254 addresses, of which B has one, A's side 8 and the nodes 245."""
    path = Path.parse(f"{links} x 10 Mbit/s 1 ms")
    with pytest.raises(DomainError):
        EmulatedPath(path, senders=senders)
    EmulatedPath(Path.parse("246 x 10 Mbit/s 1 ms"), senders=8)


def test_both_ends_have_the_values_that_were_asked_for_and_nobody_else():
    name = "/proc/sys/net/ipv4/tcp_fastopen"
    with EmulatedPath(Path.parse("T1"), sysctls={"net.ipv4.tcp_fastopen": "3"}) as wire:
        assert wire.read(name, "A") == wire.read(name, "B") == "3\n"


def test_two_wires_at_once_do_not_meet():
    with (
        EmulatedPath(Path.parse("10 Mbit/s 1 ms")) as one,
        EmulatedPath(Path.parse("10 Mbit/s 20 ms")) as two,
    ):
        assert one.address("B") != two.address("B")
        for wire, truth_s in ((one, 0.002), (two, 0.04)):
            assert truth_s <= min(ping_s(wire, 16, count=6)) < truth_s + 0.01
        command = ["ping", "-c", "1", "-W", "0.2", two.address("B")]
        assert one.run(command).returncode != 0


CLOCKS_S = 1e-4
"""Two readings of two clocks, and lateness in whole microseconds: they differ by less than this."""


def tap(wire, side):
    """Return a socket that sees the packets of one end, with the times of the kernel."""
    sock = wire.socket(side, socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sock.setblocking(False)
    return sock


def stamps(sock):
    """Return the kernel's time of each datagram to port 9, by its payload. [s]"""
    found = {}
    with suppress(BlockingIOError):
        while True:
            packet, notes, _, _ = sock.recvmsg(2048, socket.CMSG_SPACE(16))
            if packet[:1] == b"\x45" and packet[9] == 17 and packet[22:24] == b"\x00\x09":
                seconds, rest_ns = struct.unpack("ll", notes[0][2])
                found[packet[28:]] = seconds + rest_ns * 1e-9
    return found


@pytest.mark.parametrize("device", ["tun", "veth"])
@pytest.mark.parametrize("stopped_s", [0.0, 0.02, 0.035])
def test_the_kernel_confirms_how_late_it_was(stopped_s, device):
    """identity: at both ends the kernel stamps each packet; what is beyond the path is lateness.

    Stopped while a packet is due, the process delivers it 5 or 20 ms late, or later, and says so.
    """
    path, count = Path.parse("10 Mbit/s 20 ms"), 12
    with (
        EmulatedPath(path, device=device) as wire,
        tap(wire, "A") as near,
        tap(wire, "B") as far,
        wire.socket("A", kind=socket.SOCK_DGRAM) as sender,
        wire.socket("B", kind=socket.SOCK_DGRAM) as receiver,
    ):
        receiver.bind((wire.address("B"), 9))
        receiver.settimeout(5)
        before = wire.statistics().carried_count
        for number in range(count):
            sender.sendto(b"%03d" % number, receiver.getsockname())
            if stopped_s:
                time.sleep(0.005)  # read, and on its way
                os.kill(wire._control.pid, signal.SIGSTOP)
                time.sleep(stopped_s)
                os.kill(wire._control.pid, signal.SIGCONT)
            assert receiver.recv(10) == b"%03d" % number
        found = wire.statistics()
        sent_s, received_s = stamps(near), stamps(far)
    truth_s = 0.02 + 8 * (3 + 28) / 10e6  # derived: latency, and 31 bytes on the line
    late_s = sorted(received_s[key] - sent_s[key] - truth_s for key in sent_s)
    assert len(late_s) == count
    assert found.carried_count - before == count
    own_count = round(found.late_ratio * found.carried_count)
    # It looks at its clock before it delivers, the kernel stamps after: on a machine where it waits
    # for a CPU in between the kernel says more, by any amount, and never less.
    # A packet that is read late without a stamp of the kernel, and delivered late, counts twice.
    most_each = 2 if found.unread_max_s > LATE_S else 1
    late_count = sum(packet_s > LATE_S - CLOCKS_S for packet_s in late_s)
    assert own_count <= most_each * late_count + before
    if stopped_s:  # each was due while the process was stopped in its sleep
        assert found.overdue.asleep_count + found.overdue.stopped_count >= count - 1
    # Lateness is counted up to 10 ms; of more than that only the maximum is kept.
    middle_s = late_s[count // 2 - 1]
    middle_s = middle_s if middle_s < 1e-6 * LATENESS_BINS else late_s[-1]
    assert found.lateness_p50_s <= middle_s + CLOCKS_S
    if stopped_s:  # no packet can be delivered before the process goes on
        assert own_count >= count
        assert found.lateness_p50_s > 0.005 + stopped_s - truth_s - CLOCKS_S
        assert found.invalid.code == "packets-late"


@pytest.mark.namespace("tun")
def test_super_packets_are_clocked_with_the_headers_of_their_segments():
    """identity: the kernel of A counts segments and bytes of its connection (TCP_INFO)."""
    total = 3_000_000
    with (
        EmulatedPath(Path.parse("1 Gbit/s 1 ms"), offload=True, log=True) as wire,
        wire.socket("B") as listener,
        wire.socket("A") as sender,
    ):
        listener.bind((wire.address("B"), 0))
        listener.listen()
        sender.settimeout(10)
        sender.connect(listener.getsockname())
        receiver, _ = listener.accept()
        with receiver:
            receiver.settimeout(10)
            left, received = memoryview(bytes(total)), 0
            while received < total:
                left = left[sender.send(left[:200_000]) :] if left else left
                received += len(receiver.recv(1 << 20))
            info = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        sizes = wire.events("B").packet_bytes
    (segments,) = struct.unpack_from("I", info, TCPI_SEGS_OUT)
    sent_bytes, again_bytes = struct.unpack_from("QQ", info, TCPI_BYTES_SENT)
    assert (sizes > 1500).any(), "no packet of several segments: nothing is shown"
    assert again_bytes == 0
    # derived: IPv4 20, TCP 20 and 12 of time stamps; the SYN has 8 bytes more of options
    expected = sent_bytes + 52 * segments + 8
    assert abs(int(sizes.sum()) - expected) <= 52 * 3, "acknowledgements of the end may follow"


@pytest.mark.namespace("tun")
def test_the_choice_of_offload_follows_the_rate_and_can_be_forced():
    for text, asked, chosen in (
        ("100 Mbit/s", None, False), ("1 Gbit/s", None, True), ("1 Gbit/s", False, False),
    ):  # fmt: skip
        with EmulatedPath(Path.parse(text), offload=asked) as wire:
            assert wire.truth()["offload"] is chosen
            assert len(ping_s(wire, 100, count=2)) == 2


@pytest.mark.parametrize("device", ["tun", "veth"])
def test_a_user_namespace_serves_as_well(device):
    with EmulatedPath(Path.parse("T1 1 ms"), user_namespace=True, device=device) as wire:
        assert wire.chosen["way"] == "user namespace"
        assert len(ping_s(wire, 16, count=2)) == 2
        assert wire.run(["cat", "/proc/self/uid_map"]).stdout.split()[:1] == ["0"]


def test_a_program_that_is_started_ends_with_the_wire():
    with EmulatedPath(Path.parse("T1")) as wire:
        process = wire.start(["sleep", "1000"], "B", stdout=subprocess.DEVNULL)
    assert process.returncode == -9
