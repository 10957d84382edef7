"""The process that carries the packets of an emulated path.

Started by :mod:`netcalc.emulation.wire.emulated_path` with one end of a socket pair as its only
connection: it reads its settings there, creates an unnamed network namespace for each host, answers
with their descriptors, and carries packets until the socket closes. The kernel removes namespaces
and devices when this process has ended and those descriptors are closed, in whichever way that
happens.

A :class:`Carrier` puts an emulated path between the hosts, a :class:`Router` a third namespace
whose kernel forwards.
"""

from __future__ import annotations

import errno
import ipaddress
import json
import math
import os
import select
import signal
import socket
import struct
import sys
import time
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from heapq import merge
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import Any

from netcalc.emulation.chain import Chain, JoinedChain
from netcalc.emulation.queue import LinkQueue
from netcalc.emulation.wire import ip_packets, kernel
from netcalc.emulation.wire.kernel import HEAD_BYTES, Arrivals

DEVICE = "wire0"
"""Name of the device at both ends."""


class Ends(ABC):
    """The unnamed namespaces of two hosts or more, and a device in each.

    Host 0 is A and host 1 is B; further ones are beside A.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._offload: bool = settings["offload"]
        self.sides = range(len(settings["addresses"]))
        self.namespaces: list[int] = []
        self.tuns: list[int] = []
        self.deleted = ""
        """The device that was deleted at one end; empty while both exist."""
        self.shared: list[int] = []
        """Descriptors of files that the owner reads."""

    def make(self) -> dict[str, Any]:
        """Create namespaces and devices; return the settings chosen."""
        way = "root"
        try:
            if self._settings["user_namespace"]:
                raise PermissionError
            kernel.unshare(kernel.NEW_NET, "create network namespace")
        except PermissionError:
            kernel.enter_user_namespace_as_root(kernel.NEW_NET)
            way = "user namespace"
        scheduling = kernel.request_priority()
        for side in self.sides:
            if side:
                kernel.unshare(kernel.NEW_NET, "create network namespace")
            self.namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        device = self._make_devices()
        for side in self.sides:
            kernel.enter(self.namespaces[side], kernel.NEW_NET, "enter network namespace")
            mtu_bytes = self._settings["mtu_bytes"]
            kernel.set_up("lo", [])
            kernel.set_up(DEVICE, self._settings["addresses"][side], mtu_bytes=mtu_bytes)
            for name, value in self._settings["sysctls"].items():
                kernel.set_sysctl(name, value)
        return {"way": way, "scheduling": scheduling, "device": device, "offload": self._offload}

    @abstractmethod
    def carry(self, control: socket.socket, parent: int | None) -> None:
        """Carry packets and answer requests until the control socket closes."""

    @abstractmethod
    def _make_devices(self) -> str:
        """Create the devices of all hosts; return their kind."""

    def _answer(self, control: socket.socket) -> bool:
        """Answer one request; return False when there will be no more."""
        line = read_line(control)
        if not line:
            return False
        request = json.loads(line)
        try:
            reply, descriptors, data = getattr(self, "do_" + request["do"])(**request["with"])
        except OSError as error:
            reply, descriptors, data = refusal(error, request["do"]), [], b""
        send(control, {**reply, "deleted": self.deleted, "bytes": len(data)}, descriptors)
        control.sendall(data)
        for descriptor in descriptors:
            os.close(descriptor)
        return True

    def do_socket(self, side: int, family: int, kind: int, protocol: int) -> Any:
        """Open a socket in one namespace; it stays there, whichever process uses it."""
        sock = self._inside(side, lambda: socket.socket(family, kind, protocol))
        return {}, [sock.detach()], b""

    def do_read(self, side: int, name: str) -> Any:
        """Read a file of /proc/net or /proc/sys/net as it is in one namespace."""
        allowed = name.startswith(("/proc/net/", "/proc/sys/net/")) and ".." not in name
        path = Path(name.replace("/proc/net/", "/proc/self/net/"))
        if not allowed:
            raise OSError(errno.EPERM, "not in /proc/net or /proc/sys/net", name)
        return {}, [], self._inside(side, path.read_bytes)

    def _inside(self, side: int, action: Callable[[], Any]) -> Any:
        kernel.enter(self.namespaces[side], kernel.NEW_NET, "enter network namespace")
        return action()


def read_line(control: socket.socket) -> bytes:
    """Read one line of JSON; empty at the end."""
    line = b""
    while not line.endswith(b"\n"):
        with suppress(ConnectionError):
            if more := control.recv(65_536):
                line += more
                continue
        return b""
    return line


def send(control: socket.socket, reply: dict[str, Any], descriptors: list[int]) -> None:
    """Write one line of JSON, with descriptors."""
    socket.send_fds(control, [json.dumps(reply).encode() + b"\n"], descriptors)


def refusal(error: OSError, step: str) -> dict[str, Any]:
    """Return what the owner needs to know of a call that failed, and the step if it has none."""
    return {
        "error": error.errno,
        "reason": error.strerror or str(error),
        "step": error.filename or step,
    }


ROUTER = 2
"""Index of the router's namespace, after A and B."""
PORTS = ("port0", "port1")
"""Devices of the router, towards A and towards B."""
FORWARDING = {"net.ipv4.ip_forward": "1", "net.ipv6.conf.all.forwarding": "1"}
"""Set in the namespace of the router, and nowhere else."""


class Router(Ends):
    """Two hosts, and a third namespace between them whose kernel routes.

    Its process creates the namespaces and the pairs of devices between them as the carrier does,
    and then only answers requests: no packet passes it.
    """

    def make(self) -> dict[str, Any]:
        """Create namespaces, devices and routes; return the settings chosen."""
        chosen = super().make()
        for side, routers in enumerate(self._settings["routers_of_hosts"]):
            kernel.enter(self.namespaces[side], kernel.NEW_NET, "enter network namespace")
            for router in routers:
                kernel.add_router(DEVICE, router)
        return chosen

    def _make_devices(self) -> str:
        """Create a pair of devices between each host and a third namespace."""
        kernel.unshare(kernel.NEW_NET, "create network namespace")
        self.namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        middle = self.namespaces[ROUTER]
        for name, value in FORWARDING.items():
            kernel.set_sysctl(name, value)
        for namespace in self.namespaces:
            kernel.enter(namespace, kernel.NEW_NET, "enter network namespace")
            with suppress(OSError):  # no other host is there: no duplicate address detection
                kernel.set_sysctl("net.ipv6.conf.default.accept_dad", "0")
        mtu_bytes = self._settings["mtu_bytes"]
        for side, port in enumerate(PORTS):
            kernel.enter(middle, kernel.NEW_NET, "enter network namespace")
            kernel.make_veth_pair(port, DEVICE, self.namespaces[side])
            # Both ends are set up before addresses: an IPv6 address is usable once its link is up.
            for name, namespace in ((DEVICE, self.namespaces[side]), (port, middle)):
                kernel.enter(namespace, kernel.NEW_NET, "enter network namespace")
                kernel.set_single_packets(name)
                kernel.set_up(name, [], mtu_bytes=mtu_bytes)
            addresses = self._settings["addresses_of_router"][side]
            kernel.set_up(port, addresses, mtu_bytes=mtu_bytes)
        return "router"

    def carry(self, control: socket.socket, parent: int | None) -> None:
        """Answer requests until the control socket closes; the kernel carries the packets."""
        watched = [control.fileno()] + ([] if parent is None else [parent])
        while True:
            ready = select.select(watched, [], [])[0]
            if parent in ready or not self._answer(control):
                return


SPIN_S = 6e-5
"""The process polls from this time before a packet is due. With timer slack 1 ns, sleeps of 0.3 ms
ended 39 us late in the median and 46 us at the 75th percentile on a shared two-core machine;
polling longer takes processor time from the programs at the ends. [s]"""
LONG_S, EARLY_S = 2e-3, 4e-4
"""A sleep longer than the first ends earlier by the second, and a short one follows: a processor
that slept longer wakes later. Sleeps of 5 ms ended 83 us late in the median and 114 us at the 75th
percentile on the machine of ``SPIN_S``. [s]"""
LATE_S = 5e-4
"""A packet is late if it is delivered, or was not read, for longer than this: ten times what an
idle machine needs, and 5 % of the round trip of a T1 of 5 ms, so that it shows in results. [s]"""
OVERDUE_S = 5e-5
"""For a packet delivered later than this its cause is counted: two of them are the 0.15 ms by which
a round trip may be wrong, less 25 us of either kernel. [s]"""
LOOK_S = 1e-3
"""A process that polls looks this often how much of the time it ran: little of a millisecond is
lost without a cause that shows. [s]"""
STAMPED = 4
"""Packets after a sleep for which stamps of the kernel are read: a process that has read these is
awake, and reads the next ones when they come. [packet]"""
BATCH = 32
"""Packets read from one end before the other end gets its turn: at some 5 us each, a flood from one
end delays the other by less than half of ``LATE_S``. [packet]"""
WRITTEN_TOGETHER = 128
"""Rows of a log that are written while packets come; before a long sleep those that are there. In
either case it takes less than 20 us, and nothing is due before. [packet]"""
LATENESS_BINS = 10_000
"""Bins of 1 us in which lateness is counted, up to 10 ms: 20 times ``LATE_S``. [1]"""
_HEADER = struct.Struct("<BBHHHH")  # of virtio: flags, type, header, segment, start, offset
_EBADFD: int = getattr(errno, "EBADFD", errno.EBADF)  # other systems import this module, too
_GONE = (_EBADFD, errno.ENETDOWN, errno.ENXIO, errno.ENODEV)
_clock, _ran = time.monotonic, time.thread_time
_when = itemgetter(0)


class Carrier(Ends):
    """A TUN device in the namespace of each host, and a chain in each direction.

    What A and the hosts beside it send enters the chain to B; what leaves the chain back goes to
    the host that it is addressed to.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self._routers: list[list[str]] = settings["routers"]  # addresses of each, nearest A first
        directions = settings["directions"]
        self._joined = [JoinedChain(links) for links in directions] if self._routers else []
        self.chains: Sequence[Chain] = self._joined or [
            Chain([LinkQueue(**link) for link in links]) for links in directions
        ]
        # A chain of one link is that link, by a shorter way.
        self._queues: list[Chain | LinkQueue] = [
            chain if len(chain.links) > 1 else chain.links[0] for chain in self.chains
        ]
        self._lateness_count = [0] * (LATENESS_BINS + 1)  # by microseconds, the rest in the last
        self._lateness_max_s = 0.0
        self._frame_heads: list[dict[int, bytes]] = []  # of veth: Ethernet header to each end
        self._arrivals: list[Arrivals] = []
        self._read_count = 0  # packets since the last sleep
        self._empty_s = [_clock() for _ in self.sides]  # when each end last had nothing to read
        self._entered_s = [0.0, 0.0]  # when the last packet of each direction entered its chain
        self._side_of = {
            ipaddress.ip_interface(address).ip.packed: side
            for side in self.sides
            for address in settings["addresses"][side]
        }
        self._unread_max_s = 0.0
        self._polled_s = 0.0  # when poll() last returned
        self._woke_s = -math.inf  # when the last sleep ended
        self._looked_s, self._had_run_s = _clock(), _ran()  # at the last look at both
        self._lost_s: float | None = None  # what the last look found, during a delivery
        self._overdue = dict.fromkeys(("asleep", "stopped", "busy"), 0)
        names = ("carried", "late", "noise", "refused", "answered", "unread")
        self.counts = dict.fromkeys(names, 0)
        towards_b = self.chains[0].links if settings.get("log") else []
        self._logs = [(number, link.log) for number, link in enumerate(towards_b)]

    def make(self) -> dict[str, Any]:
        """Create namespaces, devices and the file of the log; return the settings chosen."""
        if self._logs:
            self.shared = [os.memfd_create("netcalc log")]
        return super().make()

    def _make_devices(self) -> str:
        """Create a TUN device in each namespace, or a veth pair to each where TUN is refused."""
        device = self._settings["device"]
        try:
            if device == "veth":
                raise FileNotFoundError
            for side in self.sides:
                kernel.enter(self.namespaces[side], kernel.NEW_NET, "enter network namespace")
                self.tuns.append(kernel.open_tun(DEVICE, offload=self._offload))
        except OSError:
            if device == "tun":
                raise
            while self.tuns:
                os.close(self.tuns.pop())
        else:
            return "tun"
        self._offload = False
        kernel.unshare(kernel.NEW_NET, "create network namespace")
        with suppress(OSError):  # the carrying end sends no packets of its own
            kernel.set_sysctl("net.ipv6.conf.default.disable_ipv6", "1")
        middle = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        for side in self.sides:
            ours = f"end{side}"
            kernel.make_veth_pair(ours, DEVICE, self.namespaces[side])
            kernel.enter(self.namespaces[side], kernel.NEW_NET, "enter network namespace")
            address = kernel.prepare_veth(DEVICE)
            kernel.enter(middle, kernel.NEW_NET, "enter network namespace")
            kernel.set_up(ours, [], mtu_bytes=self._settings["mtu_bytes"])
            self.tuns.append(kernel.open_veth_frames(ours))
            self._frame_heads.append(
                {v: 2 * address + kind for v, kind in kernel.ETHERTYPES.items()}
            )
        os.close(middle)
        return "veth"

    def _open_arrivals(self) -> None:
        """Have the kernel stamp what both ends send, where it can."""
        if not self._offload:
            with suppress(OSError):
                self._arrivals = [self._inside(s, lambda: Arrivals(DEVICE)) for s in self.sides]

    def carry(self, control: socket.socket, parent: int | None) -> None:
        """Carry packets and answer requests until the control socket closes."""
        tuns, poll = self.tuns, select.epoll()
        for descriptor in (*tuns, control.fileno(), *([] if parent is None else [parent])):
            poll.register(descriptor, select.EPOLLIN)
        self._open_arrivals()
        while True:
            due_s = self._deliver(_clock())
            wait_s = None if due_s is None else self._wait_s(due_s - _clock())
            if self._logs:
                self._write_logs(1 if wait_s is None or wait_s > LONG_S else WRITTEN_TOGETHER)
            if wait_s != 0.0:
                self._read_count = 0
                for arrivals in self._arrivals:
                    arrivals.forget()
                select.select([poll], [], [], wait_s)  # the wait of epoll itself is in whole ms
            ready = {descriptor for descriptor, _ in poll.poll(0)}
            now_s = _clock()
            # After a sleep packets have just come; otherwise they came since the last poll.
            unread_s = 0.0 if wait_s != 0.0 else now_s - self._polled_s
            self._polled_s = now_s
            if wait_s != 0.0:
                self._woke_s = now_s
                self._stopped_s()
            elif not ready and now_s - self._looked_s > LOOK_S:
                self._stopped_s()
            if self.deleted:
                for descriptor in ready.intersection(tuns):
                    poll.unregister(descriptor)
            else:
                senders = [side for side in self.sides if side != 1 and tuns[side] in ready]
                if len(senders) == 1:
                    self._read(senders[0], unread_s)
                elif senders:
                    self._read_together(senders, unread_s)
                if tuns[1] in ready:
                    self._read(1, unread_s)
            if parent in ready or (control.fileno() in ready and not self._answer(control)):
                return

    def _write_logs(self, least: int) -> None:
        """Let the owner read what was logged, without a question that could make packets late."""
        for number, log in self._logs:
            if len(log.fate) - log.written_count >= least:
                data, written = log.new_bytes(number), 0
                with suppress(OSError):
                    written = os.write(self.shared[0], data)
                if written < len(data):  # no memory: what the owner has is whole up to here
                    self._logs = []

    def _stopped_s(self) -> float:
        """Return how long the process did not run since the last look, asleep or not. [s]"""
        now_s, run_s = _clock(), _ran()
        stopped_s = now_s - self._looked_s - (run_s - self._had_run_s)
        self._looked_s, self._had_run_s = now_s, run_s
        return stopped_s

    def _wait_s(self, left_s: float) -> float:
        """Return how long to sleep when the next packet is due in ``left_s``."""
        return max(0.0, left_s - (EARLY_S if left_s > LONG_S else SPIN_S))

    def _deliver(self, now_s: float) -> float | None:
        """Write the packets that have arrived; return when the next one will."""
        self._lost_s = None
        for side, queue in enumerate(self._queues):
            due_s = queue.next_event_s()
            if due_s is not None and due_s <= now_s:
                arrived = queue.take(now_s)
                if side == 0 or len(self.sides) == 2:
                    self._write(1 - side, arrived)
                else:
                    for arrival in arrived:
                        self._write(self._addressed(arrival[1]), [arrival])
            if self._joined:
                chain = self._joined[side]
                chain.advance(now_s)
                for when_s, node, packet in chain.take_expired(now_s):
                    self._answer_for_router(side, node, packet, when_s)
        # Only now: an answer of a router in the second chain enters the first one.
        first_s = None
        for queue in self._queues:
            due_s = queue.next_event_s()
            if due_s is not None and (first_s is None or due_s < first_s):
                first_s = due_s
        return first_s

    def _addressed(self, packet: bytes) -> int:
        """Return which of A and the hosts beside it a packet is for: A, if it is for none."""
        at = _HEADER.size if self._offload else 0
        begin, end = (16, 20) if packet[at] >> 4 == 4 else (24, 40)
        return self._side_of.get(packet[at + begin : at + end], 0)

    def _write(self, side: int, arrived: list[tuple[float, bytes]]) -> None:
        """Write packets that arrive at one end, each with the time at which it was due there."""
        tun, heads, clock, write = self.tuns[side], self._frame_heads, _clock, os.write
        lateness_count, carried_count = self._lateness_count, 0
        for when_s, packet in arrived:
            late_s = clock() - when_s
            try:
                write(tun, heads[side].get(packet[0] >> 4, b"") + packet if heads else packet)
            except OSError as error:
                self._failed(error)
                continue
            carried_count += 1
            if late_s > OVERDUE_S:
                if late_s > LATE_S:
                    self.counts["late"] += 1
                if when_s < self._woke_s:
                    cause = "asleep"
                else:
                    if self._lost_s is None:
                        self._lost_s = self._stopped_s()
                    cause = "stopped" if self._lost_s > late_s / 2 else "busy"
                self._overdue[cause] += 1
            if late_s > self._lateness_max_s:
                self._lateness_max_s = late_s
            microseconds = int(late_s * 1e6)
            lateness_count[microseconds if microseconds < LATENESS_BINS else LATENESS_BINS] += 1
        self.counts["carried"] += carried_count

    def _read(self, side: int, unread_s: float) -> None:
        """Let what one end sends enter its chain."""
        self._enter(int(side == 1), self._packets(side, unread_s))

    def _read_together(self, senders: Sequence[int], unread_s: float) -> None:
        """Let what several senders send enter the chain to B, whoever sent first first."""
        self._enter(0, merge(*(self._packets(side, unread_s) for side in senders), key=_when))

    def _enter(self, direction: int, packets: Iterable[tuple[float, bytes]]) -> None:
        """Let packets enter a chain, in the order of their times."""
        entered_s = self._entered_s[direction]
        push = None if self._offload or self._joined else self._queues[direction].push
        for sent_s, packet in packets:
            if sent_s > entered_s:
                entered_s = sent_s
            if push is None:
                self._take(direction, packet, entered_s)
            elif ip_packets.is_noise(packet):
                self.counts["noise"] += 1
            else:
                push(packet, entered_s, len(packet))
        self._entered_s[direction] = entered_s

    def _packets(self, side: int, unread_s: float) -> Iterator[tuple[float, bytes]]:
        """Read what one end sends, each packet with its stamp, or the time when it is read.

        ``unread_s`` is how long a packet without a stamp may have waited.
        """
        tun = self.tuns[side]
        size = 65_536 + 64 if self._offload else self._settings["mtu_bytes"] + 64
        skipped = kernel.ETHERNET_HEADER_BYTES if self._frame_heads else 0
        stamps: dict[bytes, float] = {}
        if self._arrivals and self._read_count < STAMPED:
            stamps = self._arrivals[side].take(self._empty_s[side])
        elif self._arrivals:
            self._arrivals[side].stale = True
        clock, read, read_count = _clock, os.read, 0
        for _ in range(BATCH):
            try:
                packet = read(tun, size)
            except BlockingIOError:
                self._empty_s[side] = clock()
                break
            except OSError as error:
                self._failed(error)
                break
            read_count += 1
            if skipped:
                packet = packet[skipped:]
            sent_s = stamps.get(packet[:HEAD_BYTES]) if stamps else None
            if sent_s is None:
                sent_s = clock()
                if unread_s > LATE_S:
                    self.counts["late"] += 1
                if unread_s > self._unread_max_s:
                    self._unread_max_s = unread_s
            yield sent_s, packet
        else:
            self._empty_s[side] = math.inf
        self._read_count += read_count

    def _take(self, side: int, packet: bytes, now_s: float) -> None:
        """Take a packet with a header of virtio in front, or with routers on its way."""
        at = _HEADER.size if self._offload else 0
        if ip_packets.is_noise(packet, at):
            self.counts["noise"] += 1
            return
        size = len(packet) - at
        if at:
            _, kind, header_bytes, segment_bytes, _, _ = _HEADER.unpack_from(packet)
            size = ip_packets.line_bytes(size, header_bytes, segment_bytes) if kind else size
        if self._joined:
            hops, routers = ip_packets.hop_limit(packet, at), len(self._routers)
            if hops <= routers:
                self._joined[side].push(packet[at:], now_s, size, ends_at=max(hops, 1))
                return
            packet = ip_packets.decrement_hops(packet, routers, at)
        self._queues[side].push(packet, now_s, size)

    def _answer_for_router(self, side: int, node: int, packet: bytes, when_s: float) -> None:
        """Send the answer of a router into the chain of the other direction."""
        router = node - 1 if side == 0 else len(self._routers) - node
        for address in self._routers[router]:
            answer = ip_packets.time_exceeded(packet, address)
            if answer is not None:
                size = len(answer)
                whole = bytes(_HEADER.size) + answer if self._offload else answer
                # Node n of one direction is behind its link n, and before link N-n of the other.
                first = len(self._routers) + 1 - node
                self._joined[1 - side].push(whole, when_s, size, first=first)
                self.counts["answered"] += 1
                return

    def _failed(self, error: OSError) -> None:
        if error.errno in _GONE:
            self.deleted = DEVICE
        else:
            self.counts["refused"] += 1

    def do_statistics(self) -> Any:
        """Return counters and lateness."""
        if self._frame_heads and not self.deleted:
            self.counts["unread"] += sum(map(kernel.dropped_frame_count, self.tuns))
        reply = {
            **{f"{name}_count": count for name, count in self.counts.items()},
            "lateness_p50_s": self._lateness_s(0.5),
            "lateness_p95_s": self._lateness_s(0.95),
            "lateness_p99_s": self._lateness_s(0.99),
            "unread_max_s": self._unread_max_s,
            "overdue": {f"{cause}_count": count for cause, count in self._overdue.items()},
            "links": [chain.counters for chain in self.chains],
            "empty": self._is_empty(),
        }
        return reply, [], b""

    def _is_empty(self) -> bool:
        """Return whether no packet is on the path, or waits at an end to be read."""
        if any(queue.next_event_s() is not None for queue in self._queues):
            return False
        return not select.select(self.tuns, [], [], 0)[0]

    def _lateness_s(self, share: float) -> float:
        """Return a quantile of the lateness, rounded up to whole microseconds. [s]"""
        counts = list(accumulate(self._lateness_count))
        index = bisect_left(counts, share * counts[-1])
        if index == LATENESS_BINS:
            return self._lateness_max_s
        return min(1e-6 * (index + 1), self._lateness_max_s)

    def do_events(self) -> Any:
        """Return the logs of all links, as bytes."""
        columns = [[link.log.to_bytes() for link in chain.links] for chain in self.chains]
        sizes = [[[len(column) for column in link] for link in chain] for chain in columns]
        data = b"".join(column for chain in columns for link in chain for column in link)
        unlogged = sum(link.log.unlogged_count for chain in self.chains for link in chain.links)
        return {"sizes": sizes, "unlogged": unlogged}, [], data


def main() -> int:
    """Carry the packets of one path; return the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the path ends with its owner
    control = socket.socket(fileno=int(sys.argv[1]))
    line = read_line(control)
    if not line:
        return 1  # the owner was killed before it sent settings
    settings = json.loads(line)
    parent = None
    with suppress(OSError, AttributeError):
        parent = os.pidfd_open(settings["parent"])
    if os.getppid() not in (settings["parent"], 0):
        return 1
    carrier = Router(settings) if "routers_of_hosts" in settings else Carrier(settings)
    try:
        try:
            chosen = carrier.make()
        except OSError as error:
            send(control, refusal(error, "set up"), [])
            return 2
        descriptors = carrier.namespaces[: len(carrier.sides)]
        if chosen["way"] == "user namespace":
            descriptors.append(os.open("/proc/self/ns/user", os.O_RDONLY | os.O_CLOEXEC))
        send(control, chosen, descriptors + carrier.shared)
        carrier.carry(control, parent)
    except ConnectionError:
        pass  # the owner is gone, and with it the programs at the ends
    return 0
