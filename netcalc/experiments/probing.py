"""Traceroute with sizes: the round trip to every node of a path, size by size.

What grows with the size is what the links clock; what one node has more than the node before it is
the link between them. The idea is that of pathchar (Jacobson 1997).
"""

from __future__ import annotations

import os
import random
import secrets
import socket
import time
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import ExperimentError
from netcalc.experiments.exchanges.exchange import DRAINED, limit_receive, slice_s
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
from netcalc.experiments.running.stopping import Stop, Stopping
from netcalc.fit import to_node_s
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.path import Path
from netcalc.samples import HopSamples

PROBE_SIZES = tuple(range(520, 1473, 136))
"""Eight sizes whose answers are all alike: a node quotes 548 bytes of a packet. [byte]"""
MAX_PAYLOAD_BYTES = 1472
"""User data of a packet of 1500 bytes. [byte]"""
PORT = 33_434
"""Where a probe goes, as traceroute's do: at the far end nobody listens there. [1]"""
SYSCTLS = {"net.ipv4.icmp_ratemask": "0"}
"""The far end answers every probe, however many there are."""
_TAG_BYTES = 8
_TIME_EXCEEDED, _UNREACHABLE = 11, 3
_clock = time.perf_counter_ns


def probing(
    payload_bytes: ArrayLike = PROBE_SIZES,
    *,
    path: Path,
    count: int = 10,
    timeout_s: float = 2.0,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> HopSamples:
    """Measure round trips to every node of an emulated path, size by size.

    A probe is a UDP datagram that may go so many hops; the node where they end says so, and the far
    end says that nobody listens. Each probe waits for the answer to the one before; all hops and
    sizes take their turn before the next round, so that a run that is stopped has some of each. The
    first probe to each hop is warm-up and not among the samples.

    Parameters
    ----------
    payload_bytes : array_like
        User data of the probes, 8 to 1472, each sent ``count`` times to each hop. Answers are of
        equal size from 520 on; shorter ones grow with the probe and do not enter an estimate.
        [byte]
    path : Path
        The path, emulated between two namespaces of this machine. ``meta.instrument["truth"]`` has
        what was set.
    count : int
        Probes of each size to each hop. [1]
    timeout_s : float
        How long an answer is awaited, 0.001 to 60. [s]
    progress : callable, optional
        Called as ``progress(done, total, rtt_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File that receives the samples: every few seconds, at the end, and if the run breaks off.

    Returns
    -------
    HopSamples
        One row a probe. ``meta.instrument`` has the error of the run itself, ``meta.warnings`` what
        makes it doubtful. A run that was stopped is as in :func:`netcalc.experiments.echo`.

    Raises
    ------
    DomainError
        If a size, count or time is not possible.
    ExperimentError
        If a limit would be passed, the system has no namespaces, or the run breaks off; then
        ``partial`` has what was measured.

    Notes
    -----
    IPv4 only: over IPv6 a node quotes up to 1232 bytes, which leaves too few sizes.

    References
    ----------
    Jacobson, pathchar (1997); Downey, Using pathchar to estimate Internet link characteristics,
    SIGCOMM 1999; RFC 1812, 4.3.2.3 (how much is quoted).
    """
    require_processes()
    require_path(path, needed=True)
    sizes = whole_sizes(
        payload_bytes,
        _TAG_BYTES,
        MAX_PAYLOAD_BYTES,
        carrier="a probe",
        why="A probe starts with 8 bytes of its own, and is one packet of 1500 bytes at most",
    )
    count = whole_number("count", count, 1, MAX_COUNT)
    timeout_s = finite("timeout_s", timeout_s, 0.001, 60.0)
    wire = EmulatedPath(path, offload=False, sysctls=SYSCTLS)
    hops = range(1, len(path.hops) + 1)
    times_s = [
        to_node_s(np.array(sizes) + DATAGRAM_HEADERS_BYTES, path=path, hop=hop).sum()
        for hop in hops
    ]
    require_bounded(
        probe_count=count * len(sizes) * len(hops),
        carried_bytes=2 * count * sum(sizes) * len(hops),
        duration_s=count * float(sum(times_s)),
    )
    require_writable(save)
    listed = "PROBE_SIZES" if tuple(sizes) == PROBE_SIZES else str(sizes)
    command = f"probing({listed}, path={path!r}, count={count}, timeout_s={timeout_s:g})"
    with Stopping(stop, limit_s=MAX_DURATION_S) as stopping:
        run = HopRun(
            total_count=count * len(sizes) * len(hops),
            unit="probes",
            host=wire.address("B"),
            port=PORT,
            stopping=stopping,
            progress=progress,
            save=save,
            command=command,
        )
        return finish(run, lambda: run.through(wire, sizes, count=count, timeout_s=timeout_s))


class Answer(NamedTuple):
    """What became of a probe: None and nothing more if nobody answered."""

    sent_ns: int
    rtt_ns: int | None
    answer_bytes: float
    node: str


class HopExchange:
    """Probes over a datagram socket, and their answers over a raw one beside it.

    A node quotes the beginning of what it answers, and with it the number of the run and of the
    probe: no answer is taken for another one.
    """

    def __init__(
        self,
        probes: socket.socket,
        answers: socket.socket,
        address: str,
        *,
        timeout_s: float,
        stopping: Stopping,
    ) -> None:
        self._probes, self._answers = probes, answers
        self._address = (address, PORT)
        self._session = secrets.token_bytes(4)
        self._timeout_ns = int(timeout_s * 1e9)
        self._stopping = stopping
        self._buffer = bytearray(65_536)
        self._answered = 0
        self.counts = dict.fromkeys(("late_count", "foreign_count", "duplicate_count"), 0)
        limit_receive(answers, slice_s(timeout_s))

    def exchange(self, payload: bytearray, hop: int, sequence: int) -> Answer:
        """Send one probe that may go so many hops, and wait for the answer."""
        payload[:_TAG_BYTES] = sequence.to_bytes(4, "little") + self._session
        self._probes.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hop)
        self._drain()
        answers, buffer, clock = self._answers, self._buffer, _clock
        sent_ns = clock()
        self._probes.sendto(payload, self._address)
        while True:
            try:
                got = answers.recv_into(buffer)
                arrived_ns = clock()
            except BlockingIOError:
                got, arrived_ns = -1, clock()
            in_time = arrived_ns - sent_ns <= self._timeout_ns
            found = self._sequence(got)
            if in_time and found == sequence:
                self._answered = sequence
                node = socket.inet_ntoa(buffer[12:16])
                return Answer(sent_ns, arrived_ns - sent_ns, float(got), node)
            self._sort(got, found)
            if not in_time:
                return Answer(sent_ns, None, np.nan, "")
            self._stopping.check()

    def _sequence(self, got: int) -> int | None:
        """Return the number of the probe that an answer quotes, or None if it is not of this run.

        What comes is an IP packet with ICMP in it, and in that the probe's own headers and data.
        """
        buffer = self._buffer
        inner = 4 * (buffer[0] & 0xF) + 8
        if got < inner + 20 or buffer[inner - 8] not in (_TIME_EXCEEDED, _UNREACHABLE):
            return None
        data = inner + 4 * (buffer[inner] & 0xF) + 8
        if got < data + _TAG_BYTES or buffer[data + 4 : data + _TAG_BYTES] != self._session:
            return None
        return int.from_bytes(buffer[data : data + 4], "little")

    def _sort(self, got: int, found: int | None) -> None:
        if got < 0:
            return
        kind = "foreign" if found is None else "duplicate" if found == self._answered else "late"
        self.counts[f"{kind}_count"] += 1

    def _drain(self) -> None:
        for _ in range(DRAINED):
            try:
                got = self._answers.recv_into(self._buffer, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            self._sort(got, self._sequence(got))


class HopRun(Record[HopSamples]):
    """The probes of one run, as they come."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._rows: list[tuple[int, int, Answer]] = []  # hop, size, answer
        self._silent_count = 0
        self._counts: dict[str, int] = {}

    @property
    def done_count(self) -> int:
        """Probes answered or lost so far."""
        return len(self._rows)

    def through(
        self, wire: EmulatedPath, sizes: list[int], *, count: int, timeout_s: float
    ) -> None:
        """Open the wire and send all probes from its near end."""
        self.facts.update(instrument.machine(), **instrument.timer(), address_family="IPv4")
        self.measure_own_error()
        with (
            wire,
            wire.socket("A", socket.AF_INET, socket.SOCK_DGRAM) as probes,
            wire.socket("A", socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as answers,
        ):
            self.facts["truth"] = wire.truth()
            exchange = HopExchange(
                probes, answers, self.host, timeout_s=timeout_s, stopping=self.stopping
            )
            self._counts = exchange.counts
            try:
                self._probe(exchange, sizes, len(wire.path.hops), count)
            except OSError as error:
                raise self.failure(error) from error
            self.note_wire(wire.statistics())
        self.measure_own_error()

    def _probe(self, exchange: HopExchange, sizes: list[int], hops: int, count: int) -> None:
        payloads = {size: bytearray((bytes(range(256)) * 6)[:size]) for size in sizes}
        sequence = 0
        with instrument.collector_off():
            for turn in range(-1, count):
                self.phase = "probes" if turn >= 0 else "warm-up"
                every = list(product(range(1, hops + 1), sizes if turn >= 0 else sizes[:1]))
                for hop, size in random.sample(every, len(every)):
                    self.stopping.check()
                    sequence += 1
                    answer = exchange.exchange(payloads[size], hop, sequence)
                    self._listen_to_silence(answer)
                    if turn >= 0:
                        self._rows.append((hop, size, answer))
                        rtt_ns = answer.rtt_ns
                        self.tell(np.nan if rtt_ns is None else rtt_ns * 1e-9)

    def _listen_to_silence(self, answer: Answer) -> None:
        self._silent_count = 0 if answer.rtt_ns is not None else self._silent_count + 1
        if self._silent_count >= SILENT_COUNT:
            raise ExperimentError(
                f"{self._silent_count} probes in a row had no answer",
                phase=self.phase,
                host=self.host,
                hint="Wait longer for each: timeout_s",
            )

    def samples(self) -> HopSamples:
        """Return what was measured so far."""
        answers = [answer for *_, answer in self._rows]
        remarks = []
        if late := self._counts.get("late_count"):
            remarks.append(f"answers after the time limit, their probes are lost: {late}")
        return HopSamples(
            hop=[hop for hop, _, _ in self._rows],
            packet_bytes=[size + DATAGRAM_HEADERS_BYTES for _, size, _ in self._rows],
            rtt_s=[np.nan if a.rtt_ns is None else a.rtt_ns * 1e-9 for a in answers],
            answer_bytes=[a.answer_bytes for a in answers],
            sequence=range(1, len(answers) + 1),
            lost=[a.rtt_ns is None for a in answers],
            sent_s=[self.since_start_s(a.sent_ns) for a in answers],
            node=[a.node for a in answers],
            meta=self.meta(
                tool="netcalc probing",
                target=f"{self.host}, UDP with growing time to live",
                layers={},
                counts=self._counts,
                remarks=remarks,
            ),
        )
