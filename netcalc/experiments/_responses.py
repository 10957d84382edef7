"""Requests and responses of one run, as they come, and the place where they are exchanged."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from netcalc.emulation.wire import Wire
from netcalc.experiments import _instrument
from netcalc.experiments._room import Room
from netcalc.experiments._run import Record
from netcalc.experiments._tap import Tap
from netcalc.path import Path
from netcalc.samples import TransactionSamples

CLIENT, SERVER = "127.0.0.1", "127.0.0.2"
"""Addresses of the two ends on a loopback: two, so that a packet tells its direction."""
DEVICE = "wire0"
"""Interface of an end of an emulated path."""
COUNTERS = "/proc/net/netstat"
FASTOPEN = "/proc/sys/net/ipv4/tcp_fastopen"
CONNECT_S = 5.0
"""Time limit of a connection to the peer. [s]"""


class End(Protocol):
    """One end of an exchange: a namespace that opens sockets, and shows its kernel's files."""

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket there."""

    def read(self, path: str) -> str:
        """Read a file of the kernel as it is there."""


@dataclass(frozen=True, slots=True)
class WireEnd:
    """One end of an emulated path."""

    wire: Wire
    side: str

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket there."""
        return self.wire.socket(self.side, family, kind, protocol)

    def read(self, path: str) -> str:
        """Read a file of the kernel as it is there."""
        return self.wire.read(path, self.side)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the two ends of an exchange are: a namespace for each, or one for both."""

    client: End
    server: End
    client_host: str
    server_host: str
    own: bool
    interface: str

    def tap(self, end: End) -> Tap:
        """Open a packet tap at one end."""
        sock = end.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
        try:
            return Tap(sock, self.interface, both_ends=self.client is self.server)
        except BaseException:
            sock.close()
            raise

    def listener(self, kind: int) -> socket.socket:
        """Open a socket of the server on a port that the kernel picks."""
        sock = self.server.socket(socket.AF_INET, kind)
        try:
            sock.bind((self.server_host, 0))
            if kind == socket.SOCK_STREAM:
                sock.listen(64)
        except BaseException:
            sock.close()
            raise
        return sock

    def counters(self) -> dict[str, int]:
        """Return the kernel's counters of both ends together."""
        found = counters_of(self.client)
        if self.server is not self.client:
            for name, count in counters_of(self.server).items():
                found[name] = found.get(name, 0) + count
        return found


@contextmanager
def place_of(
    run: Responses, path: Path | None, *, mtu_bytes: int, fastopen: bool = False
) -> Iterator[Place]:
    """Make the place of a run: an emulated path, or a loopback that belongs to the run alone.

    Where the system allows no namespace, the loopback is that of the host, and a warning says so.
    """
    with _loopback(run, mtu_bytes, fastopen) if path is None else _wire(run, path, fastopen) as at:
        run.host = at.server_host
        run.measure_own_error()
        yield at
        run.measure_own_error()


@contextmanager
def _loopback(run: Responses, mtu_bytes: int, fastopen: bool) -> Iterator[Place]:
    with (
        _instrument.one_processor() as processor,
        Room(stopping=run.stopping, mtu_bytes=mtu_bytes) as room,
    ):
        run.facts.update(_instrument.loopback(), shared_processor=processor)
        run.facts["namespace"] = "its own" if room.own else "the host's"
        if room.own:
            run.facts["loopback_mtu_bytes"] = mtu_bytes
            if fastopen:
                room.write(FASTOPEN, "3")
        else:
            run.warnings.append(
                f"no namespace of its own ({room.refused}): the loopback is the host's, and its "
                "counters are those of all its programs"
            )
        yield Place(room, room, CLIENT, SERVER, room.own, "lo")


@contextmanager
def _wire(run: Responses, path: Path, fastopen: bool) -> Iterator[Place]:
    sysctls = {"net.ipv4.tcp_fastopen": "3"} if fastopen else {}
    with Wire(path, sysctls=sysctls) as wire:
        run.facts.update(namespace="its own", truth=wire.truth())
        near, far = WireEnd(wire, "A"), WireEnd(wire, "B")
        yield Place(near, far, wire.address("A"), wire.address("B"), True, DEVICE)
        found = wire.statistics()
        run.facts["wire_lateness_p99_s"] = found.lateness_p99_s
        run.facts["wire_late_ratio"] = found.late_ratio
        if found.invalid is not None:
            run.warnings.append(found.invalid)


class Responses(Record[TransactionSamples]):
    """The requests of one run, each with the response and its time."""

    def __init__(self, *, tool: str, target: str, note: str = "", **record: Any) -> None:
        super().__init__(**record)
        self._tool, self._target, self._note = tool, target, note
        self._rows: list[tuple[str, int, int, int, int, int | None, float, bool]] = []

    def add(
        self,
        mode: str,
        sequence: int,
        *,
        payload_bytes: int,
        reply_bytes: int,
        sent_ns: int,
        response_ns: int | None,
        tap_s: float = np.nan,
        warm_up: bool = False,
    ) -> None:
        """Note an exchange."""
        self._rows.append(
            (mode, sequence, payload_bytes, reply_bytes, sent_ns, response_ns, tap_s, warm_up)
        )
        self.tell(np.nan if response_ns is None else response_ns * 1e-9)

    @property
    def done_count(self) -> int:
        """Exchanges so far."""
        return len(self._rows)

    def samples(self) -> TransactionSamples:
        """Return what was measured so far."""
        rows = self._rows
        return TransactionSamples(
            mode=[row[0] for row in rows],
            sequence=[row[1] for row in rows],
            payload_bytes=[row[2] for row in rows],
            reply_bytes=[row[3] for row in rows],
            sent_s=[self.since_start_s(row[4]) for row in rows],
            response_s=[np.nan if row[5] is None else row[5] * 1e-9 for row in rows],
            tap_s=[row[6] for row in rows],
            failed=[row[5] is None for row in rows],
            warm_up=[row[7] for row in rows],
            meta=self.meta(
                tool=self._tool,
                target=self._target,
                note=self._note,
                layers={},
                counts={},
                remarks=self._remarks(),
            ),
        )

    def _remarks(self) -> list[str]:
        failed = sum(row[5] is None for row in self._rows)
        return [f"exchanges without a response in time: {failed}"] if failed else []


def counters_of(end: End) -> dict[str, int]:
    """Return the kernel's counters of TCP and IP at one end."""
    lines = [line.split() for line in end.read(COUNTERS).splitlines()]
    return {
        name: int(value)
        for names, values in zip(lines[::2], lines[1::2], strict=True)
        for name, value in zip(names[1:], values[1:], strict=True)
    }


def grown(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return the counters that grew, and by how much."""
    return {
        name: count - before.get(name, 0)
        for name, count in after.items()
        if count != before.get(name, 0)
    }
