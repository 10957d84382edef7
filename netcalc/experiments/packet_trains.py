"""Packet pairs and trains: packets sent back to back, and how far apart they arrive."""

from __future__ import annotations

import os
import random
import secrets
import socket
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import ratio
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import ExperimentError
from netcalc.experiments.exchanges.exchange import limit_receive, slice_s
from netcalc.experiments.probing import MAX_PAYLOAD_BYTES
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import (
    MAX_COUNT,
    MAX_DURATION_S,
    finite,
    require_bounded,
    require_path,
    require_processes,
    require_writable,
    whole_number,
    whole_sizes,
)
from netcalc.experiments.running.run import SILENT_COUNT, Progress, Record, finish
from netcalc.experiments.running.stamps import SO_TIMESTAMPNS, stamp_ns
from netcalc.experiments.running.stopping import Stop, Stopping
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.path import Path
from netcalc.samples import TrainSamples

MAX_TRAIN = 64
"""Packets of a train at most: so many fit the receiver's buffer. [packet]"""
_TAG_BYTES = 12


def packet_trains(
    payload_bytes: float = MAX_PAYLOAD_BYTES,
    *,
    path: Path,
    packet_count: int = 2,
    count: int = 40,
    cross_ratio: float = 0.0,
    timeout_s: float = 2.0,
    seed: int = 0,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> TrainSamples:
    """Send pairs or longer trains of packets through an emulated path, one train at a time.

    The packets of a train are handed to the kernel without a pause; the kernel of the far end notes
    when each one arrives. The next train waits until the last one is through.

    Parameters
    ----------
    payload_bytes : float
        User data of each packet, 12 to 1472. [byte]
    path : Path
        The path, emulated between two namespaces of this machine. ``meta.instrument["truth"]`` has
        what was set.
    packet_count : int
        Packets of a train, 2 to 64: 2 are a packet pair. [1]
    count : int
        Trains. [1]
    cross_ratio : float
        Share of the packets, but the first of a train, before which a packet of somebody else's
        gets onto the path, of any size up to 1500 bytes. [ratio]
    timeout_s : float
        How long the packets of a train are awaited, 0.001 to 60. [s]
    seed : int
        Of the draws of the packets of somebody else's. [1]
    progress : callable, optional
        Called as ``progress(done, total, dispersion_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File that receives the samples: every few seconds, at the end, and if the run breaks off.

    Returns
    -------
    TrainSamples
        One row a packet. ``meta.instrument`` has the error of the run itself, ``meta.warnings``
        what makes it doubtful. A run that was stopped is as in :func:`netcalc.experiments.echo`.

    Raises
    ------
    DomainError
        If a size, count, share or time is not possible.
    ExperimentError
        If a limit would be passed, the system has no namespaces, or the run breaks off; then
        ``partial`` has what was measured.

    References
    ----------
    Keshav, SIGCOMM 1991; Dovrolis, Ramanathan and Moore, INFOCOM 2001.
    """
    require_processes()
    require_path(path, needed=True)
    [size] = whole_sizes(
        payload_bytes,
        _TAG_BYTES,
        MAX_PAYLOAD_BYTES,
        carrier="a packet of a train",
        why="It starts with 12 bytes of its own, and is at most 1500 bytes with its headers",
    )
    plan = Trains(
        payload_bytes=size,
        packet_count=whole_number("packet_count", packet_count, 2, MAX_TRAIN),
        count=whole_number("count", count, 1, MAX_COUNT),
        cross_ratio=finite("cross_ratio", float(ratio("cross_ratio", cross_ratio)), 0.0, 1.0),
        timeout_s=finite("timeout_s", timeout_s, 0.001, 60.0),
        seed=seed,
    )
    wire = EmulatedPath(path, offload=False)
    sent_count = plan.count * plan.packet_count
    one_s = path.one_way_s(
        plan.payload_bytes + DATAGRAM_HEADERS_BYTES, packet_count=plan.packet_count
    )
    require_bounded(
        probe_count=sent_count,
        carried_bytes=sent_count * plan.payload_bytes,
        duration_s=plan.count * float(one_s),
    )
    require_writable(save)
    command = (
        f"packet_trains({size}, path={path!r}, packet_count={plan.packet_count}, "
        f"count={plan.count}, cross_ratio={plan.cross_ratio:g}, timeout_s={plan.timeout_s:g}, "
        f"seed={seed})"
    )
    with Stopping(stop, limit_s=MAX_DURATION_S) as stopping:
        run = TrainRun(
            total_count=plan.count,
            unit="trains",
            host=wire.address("B"),
            port=None,
            stopping=stopping,
            progress=progress,
            save=save,
            command=command,
        )
        return finish(run, lambda: run.through(wire, plan))


@dataclass(frozen=True, slots=True)
class Trains:
    """What was asked for, checked."""

    payload_bytes: int
    packet_count: int
    count: int
    cross_ratio: float
    timeout_s: float
    seed: int


@dataclass(slots=True)
class Packet:
    """One packet of a train: when it was sent and when it came, by the wall clock; 0 if never."""

    train: int
    place: int
    packet_bytes: int
    sent_ns: int
    crossed: bool
    received_ns: int = 0


class TrainRun(Record[TrainSamples]):
    """The trains of one run, as they come."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._packets: list[Packet] = []
        self._done_count = self._silent_count = 0
        self._session = secrets.token_bytes(4)
        self._elsewhere = ("", 0)

    @property
    def done_count(self) -> int:
        """Trains that were sent and awaited."""
        return self._done_count

    def through(self, wire: EmulatedPath, plan: Trains) -> None:
        """Open the wire and send every train from its near end."""
        self.facts.update(instrument.machine(), **instrument.timer(), address_family="IPv4")
        self.measure_own_error()
        kind = (socket.AF_INET, socket.SOCK_DGRAM)
        with (
            wire,
            wire.socket("A", *kind) as sender,
            wire.socket("B", *kind) as receiver,
            wire.socket("B", *kind) as elsewhere,
        ):
            self.facts["truth"] = wire.truth()
            # Nobody reads there: what is somebody else's takes no room from a train.
            elsewhere.bind((self.host, 0))
            self._elsewhere = elsewhere.getsockname()
            receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            receiver.bind((self.host, 0))
            sender.connect(receiver.getsockname())
            limit_receive(receiver, slice_s(plan.timeout_s))
            try:
                self._send_all(sender, receiver, plan)
            except OSError as error:
                raise self.failure(error) from error
            self.note_wire(wire.statistics())
        self.measure_own_error()

    def _send_all(self, sender: socket.socket, receiver: socket.socket, plan: Trains) -> None:
        draw = random.Random(plan.seed)
        with instrument.collector_off():
            for train in range(plan.count + 1):
                self.phase = "trains" if train else "warm-up"
                self.stopping.check()
                packets = self._send(sender, plan, train, draw)
                self._await(receiver, packets, plan)
                self._listen_to_silence(packets)
                if train:
                    self._packets += packets
                    self._done_count += 1
                    arrived = [p.received_ns for p in packets if p.received_ns]
                    self.tell((max(arrived) - min(arrived)) * 1e-9 if arrived else np.nan)

    def _send(
        self, sender: socket.socket, plan: Trains, train: int, draw: random.Random
    ) -> list[Packet]:
        """Hand the packets of a train to the kernel, one right after the other."""
        places = range(1, plan.packet_count + 1)
        rest = bytes(plan.payload_bytes - _TAG_BYTES)
        crossing = [place > 1 and draw.random() < plan.cross_ratio for place in places]
        others = [bytes(draw.randint(_TAG_BYTES, MAX_PAYLOAD_BYTES)) for _ in places]
        datagrams = [self._tag(train, place) + rest for place in places]
        size, packets = plan.payload_bytes + DATAGRAM_HEADERS_BYTES, []
        for place, data, other, crossed in zip(places, datagrams, others, crossing, strict=True):
            if crossed:
                sender.sendto(other, self._elsewhere)
            packets.append(Packet(train, place, size, time.time_ns(), crossed))
            sender.send(data)
        return packets

    def _tag(self, train: int, place: int) -> bytes:
        return train.to_bytes(4, "little") + place.to_bytes(4, "little") + self._session

    def _await(self, receiver: socket.socket, packets: list[Packet], plan: Trains) -> None:
        """Note when each packet of a train arrives, until all have or the time is over."""
        end_s = time.monotonic() + plan.timeout_s
        awaited = {packet.place: packet for packet in packets}
        while awaited and time.monotonic() < end_s:
            self.stopping.check()
            try:
                data, control, _, _ = receiver.recvmsg(_TAG_BYTES, 64)
            except BlockingIOError:
                continue
            if data[8:] != self._session or data[:4] != packets[0].train.to_bytes(4, "little"):
                continue
            packet = awaited.pop(int.from_bytes(data[4:8], "little"), None)
            if packet is not None:
                packet.received_ns = stamp_ns(control)

    def _listen_to_silence(self, packets: list[Packet]) -> None:
        self._silent_count = 0 if any(p.received_ns for p in packets) else self._silent_count + 1
        if self._silent_count >= SILENT_COUNT:
            raise ExperimentError(
                f"of {self._silent_count} trains in a row no packet arrived",
                phase=self.phase,
                host=self.host,
                hint="Wait longer for each: timeout_s",
            )

    def samples(self) -> TrainSamples:
        """Return what was measured so far."""
        rows, start_ns = self._packets, self._start_wall_ns
        lost_count = sum(not packet.received_ns for packet in rows)
        return TrainSamples(
            train=[packet.train for packet in rows],
            place=[packet.place for packet in rows],
            packet_bytes=[packet.packet_bytes for packet in rows],
            sent_s=[(packet.sent_ns - start_ns) * 1e-9 for packet in rows],
            received_s=[
                (packet.received_ns - start_ns) * 1e-9 if packet.received_ns else np.nan
                for packet in rows
            ],
            crossed=[packet.crossed for packet in rows],
            meta=self.meta(
                tool="netcalc packet trains",
                target=f"{self.host}, UDP in trains",
                layers={},
                counts={"lost_count": lost_count},
                remarks=[f"packets that did not arrive: {lost_count}"] if lost_count else [],
                note="times by the wall clock: the kernel notes arrivals by it",
            ),
        )
