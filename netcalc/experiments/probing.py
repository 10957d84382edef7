"""Probes of every node of a path: traceroute with sizes, packet pairs and trains.

Traceroute with sizes measures the round-trip time to every node of a path, by size.

The slope over the size is the serialization of the links up to a node; the difference between the
slopes of two neighbouring nodes belongs to the link between them. This is the method of pathchar
(Jacobson 1997).

Packet pairs and trains are packets sent back to back: their dispersion on arrival shows the
bottleneck alone.
"""

from __future__ import annotations

import os
import random
import secrets
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import choice, named_arguments, ratio
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import DomainError
from netcalc.experiments.exchange import DRAINED, set_timeout, slice_s
from netcalc.experiments.peers.far_trains import TAG_BYTES, received, tag
from netcalc.experiments.peers.helper import (
    CONTROL_BYTES,
    SO_TIMESTAMPNS,
    address_family,
    arrival_ns,
    stamp_ns,
)
from netcalc.experiments.peers.remote import FarEnd, FarLine, FarPeer
from netcalc.experiments.running import instrument, limits, record
from netcalc.experiments.running.stopping import Stop, Stopping
from netcalc.fit import to_node_s
from netcalc.messages import Notice
from netcalc.models.sizes import headers
from netcalc.path import Path
from netcalc.samples import HopSamples, TrainSamples

PROBE_SIZES = tuple(range(520, 1473, 136))
"""Eight sizes with answers of equal size: a node quotes 548 bytes of a packet. [byte]"""
PROBE_SIZES_V6 = tuple(range(1184, 1453, 67))
"""Five sizes with answers of equal size: over IPv6 a node quotes 1232 bytes of a packet. [byte]"""
MAX_PAYLOAD_BYTES, MAX_PAYLOAD_V6_BYTES = 1472, 1452
"""Payload of a packet of 1500 bytes, over IPv4 and over IPv6. [byte]"""
PORT = 33_434
"""Destination port of a probe, as of traceroute: nothing listens there. [1]"""
_PROBE_TAG_BYTES = 8  # sequence, session
_clock = time.perf_counter_ns
_TRIES, _STEP_NS = 5, 10**6
"""How often a train is sent during which the wall clock was set, and by how much. [1], [ns]"""


@dataclass(frozen=True, slots=True)
class ProbeProtocol:
    """Properties of probes and answers that IPv4 and IPv6 do not share."""

    version: int
    family: int
    sizes: tuple[int, ...]
    headers_bytes: int
    max_payload_bytes: int
    hop_limit: tuple[int, int]  # socket option
    answers: int  # protocol number of ICMP
    kinds: tuple[int, int]  # ICMP types: time exceeded, destination unreachable
    received_header: bool  # whether a raw socket returns the IP header of an answer
    sysctls: dict[str, str]  # settings of the far end: no rate limit of its answers


PROTOCOLS = {
    4: ProbeProtocol(
        version=4,
        family=socket.AF_INET,
        sizes=PROBE_SIZES,
        headers_bytes=headers.DATAGRAM_HEADERS_BYTES,
        max_payload_bytes=MAX_PAYLOAD_BYTES,
        hop_limit=(socket.IPPROTO_IP, socket.IP_TTL),
        answers=socket.IPPROTO_ICMP,
        kinds=(11, 3),
        received_header=True,
        sysctls={"net.ipv4.icmp_ratemask": "0"},
    ),
    6: ProbeProtocol(
        version=6,
        family=socket.AF_INET6,
        sizes=PROBE_SIZES_V6,
        headers_bytes=headers.DATAGRAM_HEADERS_V6_BYTES,
        max_payload_bytes=MAX_PAYLOAD_V6_BYTES,
        hop_limit=(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS),
        answers=socket.IPPROTO_ICMPV6,
        kinds=(3, 1),
        received_header=False,
        sysctls={"net.ipv6.icmp.ratelimit": "0"},
    ),
}


@named_arguments
def probing(
    payload_bytes: ArrayLike | None = None,
    *,
    path: Path,
    count: int = 10,
    ip_version: int = 4,
    timeout_s: float = 2.0,
    progress: record.Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> HopSamples:
    """Measure round-trip times to every node of an emulated path, by size.

    A probe is a UDP datagram with a limited TTL. The node where the TTL expires answers with *time
    exceeded*, the far end with *port unreachable*. Each probe waits for the answer to the one
    before. Hops and sizes alternate in random order, so that a stopped run has some of each. The
    first probe to each hop is warm-up and not among the samples.

    Parameters
    ----------
    payload_bytes : array_like, optional
        Payload of the probes, 8 to 1472 (1452 over IPv6), each sent ``count`` times to each hop.
        From 520 (1184) on the answers have equal size; shorter ones grow with the probe and are not
        used in estimates. By default eight (five) sizes of equal answers. [byte]
    path : Path
        The path, emulated between two namespaces of this machine. ``meta.instrument.truth`` has its
        settings.
    count : int
        Probes of each size to each hop. [1]
    ip_version : int
        4 or 6. [1]
    timeout_s : float
        Timeout of an answer, 0.001 to 60. [s]
    progress : callable, optional
        Called as ``progress(done, total, rtt_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every second, at the end and on failure.

    Returns
    -------
    HopSamples
        One row per probe. ``meta.instrument`` has the measurement error, ``meta.warnings`` what
        makes the times doubtful. A stopped run is as in :func:`netcalc.experiments.echo`.

    Raises
    ------
    DomainError
        If a size, count or time is impossible.
    ExperimentError
        If the run would exceed a limit, the system has no namespaces, or the run fails; then
        ``partial`` has the samples so far.

    Notes
    -----
    Over IPv6 a node quotes up to 1232 bytes of a probe, so that the sizes with equal answers span
    268 bytes in place of 952: the standard error of a rate is larger by this ratio.

    References
    ----------
    Jacobson, pathchar (1997); Downey, Using pathchar to estimate Internet link characteristics,
    SIGCOMM 1999; RFC 1812, 4.3.2.3 and RFC 4443, 3.3 (length of the quotation).
    """
    common = record.Common(path=path, needs_path=True, progress=progress, stop=stop, save=save)
    headers.ip_header_bytes(ip_version)  # refuses other versions
    protocol = PROTOCOLS[int(ip_version)]
    if payload_bytes is None:
        payload_bytes = protocol.sizes
    sizes = limits.whole_sizes(
        "size-for-probe",
        payload_bytes,
        _PROBE_TAG_BYTES,
        protocol.max_payload_bytes,
        carrier="a probe",
    )
    count = limits.whole_number("count", count, 1, limits.MAX_COUNT)
    timeout_s = limits.timeout_s(timeout_s)
    emulated = EmulatedPath(path, offload=False, sysctls=protocol.sysctls)
    address = emulated.address("B", ip_version)
    hops = range(1, len(path.hops) + 1)
    times_s = [
        to_node_s(
            np.array(sizes) + protocol.headers_bytes, path=path, hop=hop, ip_version=ip_version
        ).sum()
        for hop in hops
    ]
    limits.require_bounded(
        probe_count=count * len(sizes) * len(hops),
        carried_bytes=2 * count * sum(sizes) * len(hops),
        duration_s=count * float(sum(times_s)),
    )
    listed = "" if tuple(sizes) == protocol.sizes else f"{sizes}, "
    version = "" if ip_version == 4 else f", ip_version={ip_version}"
    return common.conduct(
        lambda run: run.measure(emulated, protocol, sizes, count=count, timeout_s=timeout_s),
        HopRun,
        experiment="probing",
        protocol="udp",
        target=f"{address}, UDP with growing TTL",
        total_count=count * len(sizes) * len(hops),
        unit="probes",
        host=address,
        port=PORT,
        command=f"probing({listed}path={path!r}, count={count}{version}, timeout_s={timeout_s:g})",
    )


class ProbeAnswer(NamedTuple):
    """The answer to a probe; its round trip is None if there was none."""

    sent_ns: int
    rtt_ns: int | None
    answer_bytes: float
    node: str


class HopExchange:
    """Probes over a datagram socket, with their answers over a raw one.

    A node quotes the beginning of the probe, and with it the number of the run and of the probe: no
    answer is taken for the answer to another probe.
    """

    def __init__(
        self,
        probes: socket.socket,
        answers: socket.socket,
        address: str,
        protocol: ProbeProtocol,
        *,
        timeout_s: float,
        stopping: Stopping,
    ) -> None:
        self._probes, self._answers, self._protocol = probes, answers, protocol
        self._address = (address, PORT)
        self._session = secrets.token_bytes(4)
        self._timeout_ns = int(timeout_s * 1e9)
        self._stopping = stopping
        self._buffer = bytearray(65_536)
        self._answered = 0
        self._unread_bytes = 0 if protocol.received_header else protocol.headers_bytes - 8
        self.counts = dict.fromkeys(("late_count", "foreign_count", "duplicate_count"), 0)
        set_timeout(answers, slice_s(timeout_s))
        answers.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)

    def exchange(self, payload: bytearray, hop: int, sequence: int) -> ProbeAnswer:
        """Send one probe with this TTL, and wait for the answer."""
        payload[:_PROBE_TAG_BYTES] = sequence.to_bytes(4, "little") + self._session
        self._probes.setsockopt(*self._protocol.hop_limit, hop)
        self._drain()
        answers, buffer, clock = self._answers, self._buffer, _clock
        sent_ns = clock()
        self._probes.sendto(payload, self._address)
        while True:
            try:
                got, control, _, sender = answers.recvmsg_into([buffer], CONTROL_BYTES)
                arrived_ns = arrival_ns(control, clock, sent_ns)
            except BlockingIOError:
                got, arrived_ns = -1, clock()
            in_time = arrived_ns - sent_ns <= self._timeout_ns
            answered = self._sequence(got)
            if in_time and answered == sequence:
                self._answered = sequence
                answer_bytes = float(got + self._unread_bytes)
                has_header = self._protocol.received_header
                node = socket.inet_ntoa(buffer[12:16]) if has_header else str(sender[0])
                return ProbeAnswer(sent_ns, arrived_ns - sent_ns, answer_bytes, node)
            self._sort(got, answered)
            if not in_time:
                return ProbeAnswer(sent_ns, None, np.nan, "")
            self._stopping.check()

    def _sequence(self, got: int) -> int | None:
        """Return the number of the probe that an answer quotes, or None if it is not of this run.

        An answer is ICMP, which quotes the headers and the data of the probe.
        """
        buffer, protocol = self._buffer, self._protocol
        icmp = 4 * (buffer[0] & 0xF) if protocol.received_header else 0
        quoted = icmp + 8
        if got < quoted + protocol.headers_bytes - 8 or buffer[icmp] not in protocol.kinds:
            return None
        # An IPv4 header may have options; an IPv6 header is as long as all headers less UDP's 8.
        is_v4 = protocol.family == socket.AF_INET
        header_bytes = 4 * (buffer[quoted] & 0xF) if is_v4 else protocol.headers_bytes - 8
        data = quoted + header_bytes + 8
        probe_tag = buffer[data : min(got, data + _PROBE_TAG_BYTES)]
        if len(probe_tag) < _PROBE_TAG_BYTES or probe_tag[4:] != self._session:
            return None
        return int.from_bytes(probe_tag[:4], "little")

    def _sort(self, got: int, sequence: int | None) -> None:
        if got < 0:
            return
        kind = (
            "foreign" if sequence is None else "duplicate" if sequence == self._answered else "late"
        )
        self.counts[f"{kind}_count"] += 1

    def _drain(self) -> None:
        for _ in range(DRAINED):
            try:
                got = self._answers.recv_into(self._buffer, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            self._sort(got, self._sequence(got))


class HopRun(record.Record[HopSamples]):
    """The probes of one run in progress."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._rows: list[tuple[int, int, ProbeAnswer]] = []  # hop, size, answer
        self._counts: dict[str, int] = {}
        self._timeout_s = np.nan
        self._headers_bytes = headers.DATAGRAM_HEADERS_BYTES

    @property
    def done_count(self) -> int:
        """Probes answered or lost so far."""
        return len(self._rows)

    def measure(
        self,
        emulated: EmulatedPath,
        protocol: ProbeProtocol,
        sizes: list[int],
        *,
        count: int,
        timeout_s: float,
    ) -> None:
        """Open the path and send all probes from its near end."""
        self._headers_bytes = protocol.headers_bytes
        self.record_machine(protocol.version)
        with (
            self.measuring(),
            self.over(emulated),
            emulated.socket("A", protocol.family, socket.SOCK_DGRAM) as probes,
            emulated.socket("A", protocol.family, socket.SOCK_RAW, protocol.answers) as answers,
        ):
            exchange = HopExchange(
                probes, answers, self.host, protocol,
                timeout_s=timeout_s, stopping=self.stopping,
            )  # fmt: skip
            self._counts, self._timeout_s = exchange.counts, timeout_s
            try:
                self._probe(exchange, sizes, len(emulated.path.hops), count)
            except OSError as error:
                raise self.failure(error) from error

    def _probe(self, exchange: HopExchange, sizes: list[int], hops: int, count: int) -> None:
        payloads = {size: bytearray((bytes(range(256)) * 6)[:size]) for size in sizes}
        sequence = 0
        with instrument.collector_off():
            for turn in range(-1, count):  # the first is warm-up
                self.phase = "probes" if turn >= 0 else "warm-up"
                every = list(product(range(1, hops + 1), sizes if turn >= 0 else sizes[:1]))
                for hop, size in random.sample(every, len(every)):
                    self.stopping.check()
                    sequence += 1
                    answer = exchange.exchange(payloads[size], hop, sequence)
                    self.count_silence(answer.rtt_ns is not None, "no-answers")
                    if turn >= 0:
                        self._rows.append((hop, size, answer))
                        self.advance(record.seconds(answer.rtt_ns))

    def samples(self) -> HopSamples:
        """Return the samples so far."""
        answers = [answer for *_, answer in self._rows]
        late = self._counts.get("late_count", 0)
        warnings = [Notice("late-replies", {"count": late, "timeout_s": self._timeout_s})]
        return HopSamples(
            hop=[hop for hop, _, _ in self._rows],
            packet_bytes=[size + self._headers_bytes for _, size, _ in self._rows],
            rtt_s=[record.seconds(a.rtt_ns) for a in answers],
            answer_bytes=[a.answer_bytes for a in answers],
            sequence=range(1, len(answers) + 1),
            lost=[a.rtt_ns is None for a in answers],
            sent_s=[self.since_start_s(a.sent_ns) for a in answers],
            node=[a.node for a in answers],
            meta=self.meta(self._counts, warnings if late else []),
        )


CLOCK_AGAIN_S = 2.0
"""Time between two measurements of a peer's clock: two clocks drift apart by up to 100 us/s or so,
and what is measured of one way would drift with them. [s]"""
MAX_TRAIN = 64
"""Packets of a train, at most: they fit the default socket buffer of the receiver. [packet]"""


@named_arguments
def packet_trains(
    payload_bytes: float = MAX_PAYLOAD_BYTES,
    *,
    path: Path | None = None,
    peer: FarPeer | None = None,
    direction: str = "forward",
    packet_count: int = 2,
    count: int = 40,
    cross_ratio: float = 0.0,
    timeout_s: float = 2.0,
    seed: int = 0,
    progress: record.Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> TrainSamples:
    """Send packet pairs or longer trains, one train at a time.

    They go through an emulated path, or to a peer on a second machine.

    The packets of a train are sent without a pause; the kernel of the far end stamps their arrival.
    The next train starts when the last one has arrived.

    Parameters
    ----------
    payload_bytes : float
        Payload of each packet, 12 to 1472. [byte]
    path : Path, optional
        The path, emulated between two namespaces of this machine. ``meta.instrument.truth`` has its
        settings.
    peer : Peer, optional
        A second machine, on which ``netcalc peer`` runs. One of the two is needed.
    direction : {'forward', 'back'}
        To the peer, or from it. [text]
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
        File to save the samples to: written every second, at the end and on failure.

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
    common = record.Common(
        path=path, peer=peer, needs_path=True, progress=progress, stop=stop, save=save
    )
    choice("direction", direction, ("forward", "back"))
    if peer is None and direction != "forward":
        raise DomainError("direction-needs-peer", "direction", direction)
    if peer is not None and cross_ratio:
        raise DomainError("not-with-peer", "cross_ratio", cross_ratio)
    [size] = limits.whole_sizes(
        "size-for-train",
        payload_bytes,
        TAG_BYTES,
        MAX_PAYLOAD_BYTES,
        carrier="a train",
    )
    plan = TrainPlan(
        payload_bytes=size,
        packet_count=limits.whole_number("packet_count", packet_count, 2, MAX_TRAIN),
        count=limits.whole_number("count", count, 1, limits.MAX_COUNT),
        cross_ratio=limits.finite(
            "cross_ratio", float(ratio("cross_ratio", cross_ratio)), 0.0, 1.0
        ),
        timeout_s=limits.timeout_s(timeout_s),
        seed=seed,
    )
    sent_count = plan.count * plan.packet_count
    packet_bytes = plan.payload_bytes + headers.DATAGRAM_HEADERS_BYTES
    one_s = 0.0
    if path is not None:
        one_s = float(path.one_way_s(packet_bytes, packet_count=plan.packet_count))
    limits.require_bounded(
        probe_count=sent_count,
        carried_bytes=sent_count * plan.payload_bytes,
        duration_s=plan.count * one_s,
    )
    where: dict[str, Any] = {"peer": peer, "direction": direction}
    if path is not None:
        where = {"path": path, "cross_ratio": plan.cross_ratio, "seed": seed}
    options = {
        "experiment": "packet_trains", "protocol": "udp", "total_count": plan.count,
        "unit": "trains", "command": record.written_call(
            "packet_trains", size, packet_count=plan.packet_count, count=plan.count,
            timeout_s=plan.timeout_s, **where,
        ),
    }  # fmt: skip
    if peer is not None:
        return common.conduct(
            lambda run: run.measure(peer, plan, direction),
            FarTrainRun,
            target=f"{common.place}, UDP in trains",
            note="times by this machine's clock; those of the peer are converted",
            host=peer.host,
            **options,
        )
    assert path is not None
    emulated = EmulatedPath(path, offload=False)
    return common.conduct(
        lambda run: run.measure(emulated, plan),
        TrainRun,
        target=f"{emulated.address('B')}, UDP in trains",
        note="times by the wall clock: the kernel stamps arrivals with it",
        host=emulated.address("B"),
        **options,
    )


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


class Trains(record.Record[TrainSamples]):
    """The trains of one run in progress, over a path or to a peer."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._packets: list[TrainPacket] = []
        self._done_count = 0

    @property
    def done_count(self) -> int:
        """Trains that arrived, or timed out."""
        return self._done_count

    def _add(self, train: int, packets: list[TrainPacket]) -> None:
        """Add a train; the first, 0, is warm-up."""
        self.count_silence(any(p.received_ns for p in packets), "no-packets")
        if train:
            self._packets += packets
            self._done_count += 1
            arrived = [p.received_ns for p in packets if p.received_ns]
            self.advance((max(arrived) - min(arrived)) * 1e-9 if arrived else np.nan)

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


class TrainRun(Trains):
    """The trains of a run over an emulated path."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._session = secrets.token_bytes(4)
        self._cross_address = ("", 0)

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
                self._add(train, self._stamped(sender, receiver, plan, train, draw))

    def _stamped(
        self,
        sender: socket.socket,
        receiver: socket.socket,
        plan: TrainPlan,
        train: int,
        draw: random.Random,
    ) -> list[TrainPacket]:
        """Send a train and await it; again where the wall clock, which stamps it, was set.

        The times are by the wall clock as it was at the start of the run.
        """
        for _ in range(_TRIES):
            self.stopping.check()
            ahead_ns, begin_ns = _wall_ahead_ns(), time.time_ns()
            packets = self._send(sender, plan, train, draw)
            self._await(receiver, packets, plan)
            times = [at for packet in packets for at in (packet.sent_ns, packet.received_ns) if at]
            within = begin_ns <= min(times) and max(times) <= time.time_ns()
            if within and abs(_wall_ahead_ns() - ahead_ns) < _STEP_NS:
                break
        else:  # set again and again: nobody knows when they arrived
            for packet in packets:
                packet.sent_ns, packet.received_ns = begin_ns, 0
        since_ns = ahead_ns - (self._start_wall_ns - self._start_ns)
        for packet in packets:
            packet.sent_ns -= since_ns
            packet.received_ns -= since_ns if packet.received_ns else 0
        return packets

    def _send(
        self, sender: socket.socket, plan: TrainPlan, train: int, draw: random.Random
    ) -> list[TrainPacket]:
        """Send the packets of a train back to back."""
        indices = range(1, plan.packet_count + 1)
        rest = bytes(plan.payload_bytes - TAG_BYTES)
        crossing = [index > 1 and draw.random() < plan.cross_ratio for index in indices]
        others = [bytes(draw.randint(TAG_BYTES, MAX_PAYLOAD_BYTES)) for _ in indices]
        datagrams = [tag(train, index, self._session) + rest for index in indices]
        size, packets = plan.payload_bytes + headers.DATAGRAM_HEADERS_BYTES, []
        for index, data, other, crossed in zip(indices, datagrams, others, crossing, strict=True):
            if crossed:
                sender.sendto(other, self._cross_address)
            packets.append(TrainPacket(train, index, size, time.time_ns(), crossed))
            sender.send(data)
        return packets

    def _await(self, receiver: socket.socket, packets: list[TrainPacket], plan: TrainPlan) -> None:
        """Record the arrival of each packet of a train, until all have arrived or the timeout."""
        end_s = time.monotonic() + plan.timeout_s
        expected = {packet.index: packet for packet in packets}
        while expected and time.monotonic() < end_s:
            self.stopping.check()
            try:
                data, control, _, _ = receiver.recvmsg(TAG_BYTES, 64)
            except BlockingIOError:
                continue
            if data[8:] != self._session or data[:4] != packets[0].train.to_bytes(4, "little"):
                continue
            packet = expected.pop(int.from_bytes(data[4:8], "little"), None)
            if packet is not None:
                packet.received_ns = stamp_ns(control)


def _wall_ahead_ns() -> int:
    """Return how far the wall clock is ahead of the one that never steps. [ns]"""
    readings = [(_clock(), time.time_ns(), _clock()) for _ in range(3)]
    before_ns, wall_ns, after_ns = min(readings, key=lambda it: it[2] - it[0])  # not interrupted
    return wall_ns - (before_ns + after_ns) // 2


class FarTrainRun(Trains):
    """The trains of a run to a peer, or from it."""

    def measure(self, peer: FarPeer, plan: TrainPlan, direction: str) -> None:
        """Send every train, from one end to the other."""
        self.record_machine(limits.ip_version(peer.host))
        self.phase = "peer"
        family = address_family(peer.host)
        train_of = self._forward if direction == "forward" else self._back
        with (
            FarEnd(peer, stopping=self.stopping) as far,
            record.measuring_with(self, far),
            record.attribute_errors(self, far),
            socket.socket(family, socket.SOCK_DGRAM) as sock,
            instrument.collector_off(),
        ):
            line = far.open([sock])
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            set_timeout(sock, slice_s(plan.timeout_s))
            clock_due_s = 0.0
            for train in range(plan.count + 1):
                self.phase = "trains" if train else "warm-up"
                self.stopping.check()
                if self.elapsed_s >= clock_due_s:
                    self._measure_clock(far)
                    clock_due_s = self.elapsed_s + CLOCK_AGAIN_S
                sent, received = train_of(far, line, sock, plan, train)
                size = plan.payload_bytes + (
                    headers.DATAGRAM_HEADERS_V6_BYTES if ":" in peer.host
                    else headers.DATAGRAM_HEADERS_BYTES
                )  # fmt: skip
                self._add(train, [
                    TrainPacket(train, index, size, at_ns, False, received.get(index, 0))
                    for index, at_ns in sent.items()
                ])  # fmt: skip

    def _measure_clock(self, far: FarEnd) -> None:
        """Measure the clock of the peer, and record the largest error of that so far."""
        error_s = far.measure_clock().error_ns * 1e-9
        self.facts["clock_error_s"] = max(error_s, self.facts.get("clock_error_s", 0.0))

    def _forward(
        self, far: FarEnd, line: FarLine, sock: socket.socket, plan: TrainPlan, train: int
    ) -> tuple[dict[int, int], dict[int, int]]:
        """Send a train; return when its packets were sent, and arrived there."""
        number = far.order(
            "catch_train", line=line.number, train=train, packet_count=plan.packet_count,
            limit_ms=max(1, round(1e3 * plan.timeout_s)),
        )  # fmt: skip
        rest = bytes(plan.payload_bytes - TAG_BYTES)
        indices = range(1, plan.packet_count + 1)
        datagrams = [tag(train, index, line.session) + rest for index in indices]
        sent = {}
        for index, data in zip(indices, datagrams, strict=True):
            sent[index] = _clock()
            sock.send(data)
        report = far.answer(number, plan.timeout_s)
        return self._by_wall(sent), self._by_wall(far.times_of(report))

    def _back(
        self, far: FarEnd, line: FarLine, sock: socket.socket, plan: TrainPlan, train: int
    ) -> tuple[dict[int, int], dict[int, int]]:
        """Let the peer send a train; return when its packets were sent there, and arrived."""
        number = far.order(
            "send_train", line=line.number, train=train, packet_count=plan.packet_count,
            payload_bytes=plan.payload_bytes,
        )  # fmt: skip
        arrivals: dict[int, int] = {}
        end_ns = _clock() + int(plan.timeout_s * 1e9)
        while len(arrivals) < plan.packet_count and _clock() < end_ns:
            self.stopping.check()
            try:
                data, arrived_ns = received(sock)
            except (BlockingIOError, TimeoutError):
                continue
            index = int.from_bytes(data[4:8], "little")
            if data[:TAG_BYTES] == tag(train, index, line.session):
                arrivals.setdefault(index, arrived_ns)
        sent = far.times_of(far.answer(number))
        if sent.keys() != set(range(1, plan.packet_count + 1)):
            far.fail("far-peer-malformed")
        return self._by_wall(sent), self._by_wall(arrivals)

    def _by_wall(self, times: dict[int, int]) -> dict[int, int]:
        """Return times of the monotonic clock by the wall clock of the start of the run. [ns]"""
        shift_ns = self._start_wall_ns - self._start_ns
        return {index: at_ns + shift_ns for index, at_ns in times.items()}
