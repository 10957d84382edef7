"""An emulated path for UDP without namespaces: a relay on loopback, with the same queues.

::

    with Relay(Path.parse("T1 5 ms"), target=("127.0.0.1", 4000)) as relay:
        client.connect(relay.address)

A client sends to the relay instead of the server; the relay forwards its datagrams to the server,
and the replies back, as late as the path would deliver them. It runs in a thread and needs no
privilege, so that ``echo(path=...)`` works where a system refuses namespaces.

Not emulated is what :data:`NOT_SHOWN` lists. A datagram stays whole, and takes ``header_bytes``
more than its data on each link. The thread competes with the other threads of Python: the relay is
later than a path between namespaces, and reports by how much.
"""

from __future__ import annotations

import errno
import ipaddress
import select
import socket
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Self

from netcalc.emulation.chain import Chain, both_directions, set_values
from netcalc.emulation.queue import LinkQueue
from netcalc.emulation.wire.carrier import LATE_S
from netcalc.emulation.wire.emulated_path import Statistics
from netcalc.errors import DomainError, ExperimentError

if TYPE_CHECKING:
    from netcalc.path import Path

NOT_SHOWN = ("TCP", "ICMP", "IP fragments and the MTU", "the addresses of the two ends")
"""What a path between namespaces shows and a relay does not."""
UDP_HEADERS_BYTES = {socket.AF_INET: 20 + 8, socket.AF_INET6: 40 + 8}
"""IP and UDP headers of a datagram, by address family. [byte]"""
MAX_BUFFER_BYTES = 64 << 20
"""Buffer of each link where none is given, as on a path between namespaces. [byte]"""
MAX_CLIENTS = 64
"""Clients that are served at once; a further one replaces the one that was silent longest. Each
takes a file descriptor, of which a process often has 1024. [1]"""
MAX_HEADER_BYTES = 1000
_LARGEST_BYTES = 65_535
_STOP_S = 0.2  # how often the thread checks whether it is to end
_SPIN_S = 2e-4  # polled before a packet is due: a thread of Python wakes later than a process
_MAX_KEPT = 100_000  # lateness values: 100,000 probes are the most of an echo
_MAX_DESCRIPTOR = 1024  # of select(); poll() waits in whole milliseconds only
_clock = time.monotonic


class Relay:
    """A port on loopback behind which a server seems to be at the end of a path.

    Parameters
    ----------
    path : Path
        The path from the client to the server; the way back is its reverse.
    target : tuple of str and int
        Address of the server, on loopback.
    header_bytes : int, optional
        What a datagram takes on a link beyond its data; None for the headers of UDP and of the IP
        version of ``target``: 28 for IPv4, 48 for IPv6. [byte]
    faults, seed, every
        As of :class:`netcalc.emulation.wire.emulated_path.EmulatedPath`.

    Raises
    ------
    DomainError
        If a parameter is not possible.
    ExperimentError
        If the target is not on loopback; when it is opened, if this process has too many files
        open.
    """

    def __init__(
        self,
        path: Path,
        *,
        target: tuple[str, int],
        header_bytes: int | None = None,
        seed: int = 0,
        faults: Any = None,
        **every: Any,
    ) -> None:
        if not _is_loopback(target[0]):
            raise ExperimentError(
                "not-loopback-target", phase="target", host=target[0], port=target[1]
            )
        self._family = socket.AF_INET6 if ":" in target[0] else socket.AF_INET
        if header_bytes is None:
            header_bytes = UDP_HEADERS_BYTES[self._family]
        if not 0 <= header_bytes <= MAX_HEADER_BYTES:
            raise DomainError(
                "out-of-range", "header_bytes", header_bytes, low=0, high=MAX_HEADER_BYTES
            )
        if every.get("buffer_bytes") is None and every.get("buffer_packets") is None:
            every["buffer_bytes"] = MAX_BUFFER_BYTES
        settings = both_directions(path, seed=seed, faults=faults, log=False, **every)
        self._chains = [Chain([LinkQueue(**link) for link in links]) for links in settings]
        self.path = path
        self._target = target
        self._header_bytes = header_bytes
        self._to_target: OrderedDict[Any, socket.socket] = OrderedDict()  # by client, last one last
        self._lateness_s: list[float] = []
        self._carried_count = self._late_count = 0
        self.unsent_count = 0
        """Datagrams that the system refused, such as those to a server that does not listen."""
        self._stop = threading.Event()

    def __enter__(self) -> Self:
        host = "::1" if self._family == socket.AF_INET6 else "127.0.0.1"
        self._near = socket.socket(self._family, socket.SOCK_DGRAM)
        try:
            self._near.bind((host, 0))
            self._near.setblocking(False)
            if self._near.fileno() >= _MAX_DESCRIPTOR:
                raise ExperimentError("too-many-files", phase="relay", limit=_MAX_DESCRIPTOR)
            self._thread = threading.Thread(target=self._forward, daemon=True, name="relay")
            self._thread.start()
        except BaseException:
            self._near.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        for sock in (self._near, *self._to_target.values()):
            sock.close()

    @property
    def address(self) -> tuple[str, int]:
        """The address to which clients send."""
        host, port = self._near.getsockname()[:2]
        return host, port

    @property
    def counters(self) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
        """The counters of each link, to the server and back."""
        return self._chains[0].counters, self._chains[1].counters

    def lateness_s(self, share: float = 0.5) -> float:
        """Return how late datagrams were delivered: the median, or another quantile. [s]"""
        late = sorted(self._lateness_s)
        return late[int(share * (len(late) - 1))] if late else 0.0

    def statistics(self) -> Statistics:
        """Return the counters of the relay so far, in the form of an emulated path."""
        return Statistics(
            carried_count=self._carried_count,
            lateness_p50_s=self.lateness_s(0.5),
            lateness_p95_s=self.lateness_s(0.95),
            lateness_p99_s=self.lateness_s(0.99),
            late_ratio=self._late_count / self._carried_count if self._carried_count else 0.0,
            refused_count=self.unsent_count,
            links=self.counters,
        )

    def truth(self) -> dict[str, Any]:
        """Return the parameters of the path as they were set, for the samples of a run."""
        return {
            **set_values(self.path),
            "header_bytes": self._header_bytes,
            "device": "relay",
        }

    def _forward(self) -> None:
        """Forward datagrams until the relay is closed."""
        while not self._stop.is_set():
            self._deliver()
            times = [chain.next_event_s() for chain in self._chains]
            due_s = min((time_s for time_s in times if time_s is not None), default=None)
            wait_s = _STOP_S
            if due_s is not None:
                wait_s = min(wait_s, max(0.0, due_s - _clock() - _SPIN_S))
            clients = {sock: client for client, sock in self._to_target.items()}
            for sock in select.select([self._near, *clients], [], [], wait_s)[0]:
                self._read(sock, clients.get(sock))

    def _deliver(self) -> None:
        """Send the datagrams that have arrived at the server or at their client."""
        now_s = _clock()
        for direction, chain in enumerate(self._chains):
            for when_s, (data, client) in chain.take(now_s):
                try:
                    if direction == 0:
                        self._socket_of(client).send(data)
                    else:
                        self._near.sendto(data, client)
                except OSError:
                    self.unsent_count += 1
                    continue
                late_s = _clock() - when_s
                self._carried_count += 1
                self._late_count += late_s > LATE_S
                if len(self._lateness_s) < _MAX_KEPT:
                    self._lateness_s.append(late_s)

    def _socket_of(self, client: Any) -> socket.socket:
        """Return the socket to the server for a client: by its port the reply finds the client."""
        sock = self._to_target.get(client)
        if sock is None:
            if len(self._to_target) >= MAX_CLIENTS:
                self._to_target.popitem(last=False)[1].close()
            sock = socket.socket(self._family, socket.SOCK_DGRAM)
            try:
                if sock.fileno() >= _MAX_DESCRIPTOR:
                    raise OSError(errno.EMFILE, "no file descriptor that select() takes")
                sock.connect(self._target)
                sock.setblocking(False)
            except BaseException:
                sock.close()
                raise
            self._to_target[client] = sock
        self._to_target.move_to_end(client)
        return sock

    def _read(self, sock: socket.socket, client: Any) -> None:
        """Push one datagram into the path: of a client, or of the server to a client."""
        try:
            data, sender = sock.recvfrom(_LARGEST_BYTES)
        except OSError:  # nobody listens at the target: the client gets no reply, as on a path
            self.unsent_count += 1
            return
        to_server = sock is self._near
        item = (data, sender if to_server else client)
        self._chains[not to_server].push(item, _clock(), len(data) + self._header_bytes)


def _is_loopback(host: str) -> bool:
    """Whether a text is an address of loopback; a name is none, whatever it resolves to."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
