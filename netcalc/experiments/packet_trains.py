"""Packet pairs and trains: packets sent back to back, and their dispersion on arrival."""

from __future__ import annotations

import os
import random
import secrets
import socket
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from netcalc.checks import named_arguments, ratio
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.experiments.exchanges.exchange import set_timeout, slice_s
from netcalc.experiments.probing import MAX_PAYLOAD_BYTES
from netcalc.experiments.running import instrument, limits
from netcalc.experiments.running.run import Common, Progress, Record
from netcalc.experiments.running.sockets import SO_TIMESTAMPNS, stamp_ns
from netcalc.experiments.running.stopping import Stop
from netcalc.messages import Notice
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.path import Path
from netcalc.samples import TrainSamples

MAX_TRAIN = 64
"""Packets of a train, at most: they fit the default socket buffer of the receiver. [packet]"""
_TAG_BYTES = 12


@named_arguments
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
    """Send packet pairs or longer trains through an emulated path, one train at a time.

    The packets of a train are sent without a pause; the kernel of the far end stamps their arrival.
    The next train starts when the last one has arrived.

    Parameters
    ----------
    payload_bytes : float
        Payload of each packet, 12 to 1472. [byte]
    path : Path
        The path, emulated between two namespaces of this machine. ``meta.instrument.truth`` has its
        settings.
    packet_count : int
        Packets per train, 2 to 64: 2 are a packet pair. [1]
    count : int
        Trains. [1]
    cross_ratio : float
        Probability that a packet of cross traffic, of up to 1500 bytes, is sent before a packet of
        a train, except before its first. [ratio]
    timeout_s : float
        Timeout of the packets of a train, 0.001 to 60. [s]
    seed : int
        Random seed of the cross traffic. [1]
    progress : callable, optional
        Called as ``progress(done, total, dispersion_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every 2 s, at the end and on failure.

    Returns
    -------
    TrainSamples
        One row per packet. ``meta.instrument`` has the measurement error, ``meta.warnings`` what
        makes the times doubtful. A stopped run is as in :func:`netcalc.experiments.echo`.

    Raises
    ------
    DomainError
        If a size, count, share or time is impossible.
    ExperimentError
        If the run would exceed a limit, the system has no namespaces, or the run fails; then
        ``partial`` has the samples so far.

    References
    ----------
    Keshav, SIGCOMM 1991; Dovrolis, Ramanathan and Moore, INFOCOM 2001.
    """
    common = Common(path=path, needs_path=True, progress=progress, stop=stop, save=save)
    [size] = limits.whole_sizes(
        "size-for-train", payload_bytes, _TAG_BYTES, MAX_PAYLOAD_BYTES, carrier="a train"
    )
    plan = TrainPlan(
        payload_bytes=size,
        packet_count=limits.whole_number("packet_count", packet_count, 2, MAX_TRAIN),
        count=limits.whole_number("count", count, 1, limits.MAX_COUNT),
        cross_ratio=limits.finite(
            "cross_ratio", float(ratio("cross_ratio", cross_ratio)), 0.0, 1.0
        ),
        timeout_s=limits.finite("timeout_s", timeout_s, 0.001, 60.0),
        seed=seed,
    )
    emulated = EmulatedPath(path, offload=False)
    sent_count = plan.count * plan.packet_count
    one_s = path.one_way_s(
        plan.payload_bytes + DATAGRAM_HEADERS_BYTES, packet_count=plan.packet_count
    )
    limits.require_bounded(
        probe_count=sent_count,
        carried_bytes=sent_count * plan.payload_bytes,
        duration_s=plan.count * float(one_s),
    )
    make = partial(
        TrainRun,
        experiment="packet_trains",
        protocol="udp",
        target=f"{emulated.address('B')}, UDP in trains",
        note="times by the wall clock: the kernel stamps arrivals with it",
        total_count=plan.count,
        unit="trains",
        host=emulated.address("B"),
        command=(
            f"packet_trains({size}, path={path!r}, packet_count={plan.packet_count}, "
            f"count={plan.count}, cross_ratio={plan.cross_ratio:g}, "
            f"timeout_s={plan.timeout_s:g}, seed={seed})"
        ),
    )
    measure = partial(TrainRun.measure, emulated=emulated, plan=plan)
    return common.conduct(make, measure)


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """The checked parameters of a run of trains."""

    payload_bytes: int
    packet_count: int
    count: int
    cross_ratio: float
    timeout_s: float
    seed: int


@dataclass(slots=True)
class TrainPacket:
    """One packet of a train, with its times by the wall clock; 0 if it did not arrive."""

    train: int
    index: int
    packet_bytes: int
    sent_ns: int
    crossed: bool
    received_ns: int = 0


class TrainRun(Record[TrainSamples]):
    """The trains of one run in progress."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._packets: list[TrainPacket] = []
        self._done_count = 0
        self._session = secrets.token_bytes(4)
        self._cross_address = ("", 0)

    @property
    def done_count(self) -> int:
        """Trains that arrived, or timed out."""
        return self._done_count

    def measure(self, emulated: EmulatedPath, plan: TrainPlan) -> None:
        """Open the path and send every train from its near end."""
        self.record_machine()
        kind = (socket.AF_INET, socket.SOCK_DGRAM)
        with (
            self.measuring(),
            self.over(emulated),
            emulated.socket("A", *kind) as sender,
            emulated.socket("B", *kind) as receiver,
            emulated.socket("B", *kind) as cross,
        ):
            # Nobody reads there: cross traffic takes no room in the receiver's buffer.
            cross.bind((self.host, 0))
            self._cross_address = cross.getsockname()
            receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            receiver.bind((self.host, 0))
            sender.connect(receiver.getsockname())
            set_timeout(receiver, slice_s(plan.timeout_s))
            try:
                self._send_all(sender, receiver, plan)
            except OSError as error:
                raise self.failure(error) from error

    def _send_all(self, sender: socket.socket, receiver: socket.socket, plan: TrainPlan) -> None:
        draw = random.Random(plan.seed)
        with instrument.collector_off():
            for train in range(plan.count + 1):
                self.phase = "trains" if train else "warm-up"
                self.stopping.check()
                packets = self._send(sender, plan, train, draw)
                self._await(receiver, packets, plan)
                self.count_silence(any(p.received_ns for p in packets), "no-packets")
                if train:
                    self._packets += packets
                    self._done_count += 1
                    arrived = [p.received_ns for p in packets if p.received_ns]
                    self.advance((max(arrived) - min(arrived)) * 1e-9 if arrived else np.nan)

    def _send(
        self, sender: socket.socket, plan: TrainPlan, train: int, draw: random.Random
    ) -> list[TrainPacket]:
        """Send the packets of a train back to back."""
        indices = range(1, plan.packet_count + 1)
        rest = bytes(plan.payload_bytes - _TAG_BYTES)
        crossing = [index > 1 and draw.random() < plan.cross_ratio for index in indices]
        others = [bytes(draw.randint(_TAG_BYTES, MAX_PAYLOAD_BYTES)) for _ in indices]
        datagrams = [self._tag(train, index) + rest for index in indices]
        size, packets = plan.payload_bytes + DATAGRAM_HEADERS_BYTES, []
        for index, data, other, crossed in zip(indices, datagrams, others, crossing, strict=True):
            if crossed:
                sender.sendto(other, self._cross_address)
            packets.append(TrainPacket(train, index, size, time.time_ns(), crossed))
            sender.send(data)
        return packets

    def _tag(self, train: int, index: int) -> bytes:
        return train.to_bytes(4, "little") + index.to_bytes(4, "little") + self._session

    def _await(self, receiver: socket.socket, packets: list[TrainPacket], plan: TrainPlan) -> None:
        """Record the arrival of each packet of a train, until all have arrived or the timeout."""
        end_s = time.monotonic() + plan.timeout_s
        expected = {packet.index: packet for packet in packets}
        while expected and time.monotonic() < end_s:
            self.stopping.check()
            try:
                data, control, _, _ = receiver.recvmsg(_TAG_BYTES, 64)
            except BlockingIOError:
                continue
            if data[8:] != self._session or data[:4] != packets[0].train.to_bytes(4, "little"):
                continue
            packet = expected.pop(int.from_bytes(data[4:8], "little"), None)
            if packet is not None:
                packet.received_ns = stamp_ns(control)

    def samples(self) -> TrainSamples:
        """Return the samples so far."""
        rows, start_ns = self._packets, self._start_wall_ns
        lost_count = sum(not packet.received_ns for packet in rows)
        warnings = [Notice("packets-lost", {"count": lost_count})]
        return TrainSamples(
            train=[packet.train for packet in rows],
            index=[packet.index for packet in rows],
            packet_bytes=[packet.packet_bytes for packet in rows],
            sent_s=[(packet.sent_ns - start_ns) * 1e-9 for packet in rows],
            received_s=[
                (packet.received_ns - start_ns) * 1e-9 if packet.received_ns else np.nan
                for packet in rows
            ],
            crossed=[packet.crossed for packet in rows],
            meta=self.meta({"lost_count": lost_count}, warnings if lost_count else []),
        )
