"""A path for UDP without namespaces: a relay on the loopback, with the queues of the wire.

::

    with Relay(Path.parse("T1 5 ms"), target=("127.0.0.1", 4000)) as relay:
        client.connect(relay.address)

A client sends to the relay instead of the server; the relay carries its datagrams to the server,
and the replies back, as late as the path would. It runs in a thread and needs no privilege.

What it cannot show: anything but UDP (no TCP, so no congestion control; no ICMP, so no ``ping`` and
no ``traceroute``); fragments, for a datagram stays whole; the addresses of the ends, for both see
the relay; packets of other sizes than ``header_bytes`` more than their data. Its thread waits for
Python's other threads: it is later than a wire, and says how late it was.
"""

from __future__ import annotations

import ipaddress
import select
import socket
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from netcalc.emulation.chain import Chain, both_directions
from netcalc.emulation.queue import LinkQueue
from netcalc.errors import DomainError, ExperimentError
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES

if TYPE_CHECKING:
    from netcalc.path import Path

CANNOT_SHOW = (
    "TCP and its congestion control",
    "ICMP: ping and traceroute",
    "IP fragments and the MTU",
    "the addresses of the two ends",
)
"""What a wire shows and a relay does not."""
MAX_HELD_BYTES = 64 << 20
_LARGEST_BYTES = 65_535
_LONGEST_WAIT_S = 0.2  # so often a wish to end is looked at
_SPIN_S = 2e-4
_KEPT = 100_000
_clock = time.monotonic


class Relay:
    """A port on the loopback behind which a server seems to be at the end of a path.

    Parameters
    ----------
    path : Path
        The path from the client to the server; the way back is its reverse.
    target : tuple of str and int
        Address of the server, on the loopback.
    header_bytes : int
        What a datagram takes on a link beside its data: 28 of IPv4 and UDP. [byte]
    faults, seed, every
        As of :class:`netcalc.emulation.wire.emulated_path.EmulatedPath`.

    Raises
    ------
    DomainError
        If a parameter is not possible.
    ExperimentError
        If the target is not on the loopback; when it is opened, if this process has too many files
        open.
    """

    def __init__(
        self,
        path: Path,
        *,
        target: tuple[str, int],
        header_bytes: int = DATAGRAM_HEADERS_BYTES,
        seed: int = 0,
        faults: Any = None,
        **every: Any,
    ) -> None:
        if not _is_loopback(target[0]):
            raise ExperimentError(
                "this target is refused: it is not a loopback address", phase="target",
                host=target[0], port=target[1], hint="A relay goes to 127.0.0.1 or ::1",
            )  # fmt: skip
        if not 0 <= header_bytes <= 1000:
            raise DomainError("header_bytes", header_bytes, "from 0 to 1000")
        if every.get("buffer_bytes") is None and every.get("buffer_packets") is None:
            every["buffer_bytes"] = MAX_HELD_BYTES
        settings = both_directions(path, seed=seed, faults=faults, log=False, **every)
        self._chains = [Chain([LinkQueue(**link) for link in links]) for links in settings]
        self._target = target
        self._header_bytes = header_bytes
        self._family = socket.AF_INET6 if ":" in target[0] else socket.AF_INET
        self._client: Any = None
        self._lateness_s: list[float] = []
        self.foreign_count = self.unsent_count = 0
        self._stop = threading.Event()

    def __enter__(self) -> Self:
        host = "::1" if self._family == socket.AF_INET6 else "127.0.0.1"
        self._near = socket.socket(self._family, socket.SOCK_DGRAM)
        self._far = socket.socket(self._family, socket.SOCK_DGRAM)
        try:
            self._near.bind((host, 0))
            self._far.connect(self._target)
            self._near.setblocking(False)
            self._far.setblocking(False)
            _require_low_descriptors(self._near, self._far)
            self._thread = threading.Thread(target=self._carry, daemon=True, name="relay")
            self._thread.start()
        except BaseException:
            self._near.close()
            self._far.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._near.close()
        self._far.close()

    @property
    def address(self) -> tuple[str, int]:
        """Where the client sends to."""
        host, port = self._near.getsockname()[:2]
        return host, port

    @property
    def counters(self) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
        """The counters of each link, to the server and back."""
        return self._chains[0].counters, self._chains[1].counters

    def lateness_s(self, share: float = 0.5) -> float:
        """Return how late datagrams went out: the median, or another quantile. [s]"""
        late = sorted(self._lateness_s)
        return late[int(share * (len(late) - 1))] if late else 0.0

    def _carry(self) -> None:
        while not self._stop.is_set():
            self._deliver()
            times = [chain.next_event_s() for chain in self._chains]
            due_s = min((time_s for time_s in times if time_s is not None), default=None)
            wait_s = _LONGEST_WAIT_S
            if due_s is not None:
                wait_s = min(wait_s, max(0.0, due_s - _clock() - _SPIN_S))
            for sock in select.select([self._near, self._far], [], [], wait_s)[0]:
                self._read(sock)

    def _deliver(self) -> None:
        now_s = _clock()
        for direction, chain in enumerate(self._chains):
            for when_s, data in chain.take(now_s):
                try:
                    if direction == 0:
                        self._far.send(data)
                    elif self._client is not None:
                        self._near.sendto(data, self._client)
                except OSError:
                    self.unsent_count += 1
                if len(self._lateness_s) < _KEPT:
                    self._lateness_s.append(_clock() - when_s)

    def _read(self, sock: socket.socket) -> None:
        """Take one datagram; the first sender is the client, others are not served."""
        try:
            data, sender = sock.recvfrom(_LARGEST_BYTES)
        except OSError:  # nobody listens at the target: the client hears nothing, as on a path
            self.unsent_count += 1
            return
        if sock is self._near:
            if self._client is None:
                self._client = sender
            if sender != self._client:
                self.foreign_count += 1
                return
        chain = self._chains[sock is self._far]
        chain.push(data, _clock(), len(data) + self._header_bytes)


def _require_low_descriptors(*sockets: socket.socket) -> None:
    """Refuse sockets that ``select`` does not take; others wait in whole milliseconds only."""
    try:
        select.select(sockets, [], [], 0.0)
    except ValueError as error:
        raise ExperimentError(
            "this process has too many files open: the relay needs two numbers below 1024",
            phase="relay",
            hint="Close some, or run it in a process of its own",
        ) from error


def _is_loopback(host: str) -> bool:
    """Whether a text is an address of the loopback; a name is none, whatever it stands for."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
