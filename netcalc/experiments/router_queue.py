"""A router as a queue: datagrams at a given load through one line with a finite buffer."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcalc.checks import FloatArray, choice, named_arguments
from netcalc.emulation.queue import DELIVERED, FULL, Events
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import DomainError
from netcalc.experiments.running import instrument, limits, record, stopping
from netcalc.messages import Notice
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.path import Path
from netcalc.samples import Meta, Table

ARRIVALS = ("poisson", "constant", "bursty")
SERVICES = ("constant", "exponential")
BURST = 5
"""Datagrams of a burst, sent back to back. [packet]"""
MAX_PAYLOAD_BYTES = 1472
MAX_BATCH_S = 1.0
"""Longest time between the interrupts of an input: far longer than real cards wait. [s]"""
DRAIN_S = 0.05
"""Time for the last datagrams to pass, beyond a full buffer. [s]"""
LOAD_TOLERANCE = 0.05
"""A run that takes longer than planned by a larger share had another load than asked. [ratio]"""
UNITS = {
    "arrival_s": "s", "wait_s": "s", "service_s": "s", "packet_bytes": "byte",
    "backlog_bytes": "byte", "dropped": "1",
}  # fmt: skip


@named_arguments
def router_queue(
    utilization: float = 0.7,
    *,
    path: Path,
    arrivals: str = "poisson",
    service: str = "constant",
    payload_bytes: float = 272,
    place_count: int = 50,
    batch_s: float = 0.0,
    count: int = 2000,
    seed: int = 0,
    progress: record.Progress | None = None,
    stop: stopping.Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Table:
    """Send datagrams at a load through a line with a finite buffer, and log the wait of each.

    The line is the server of the queue: a service is the serialization of a packet. Sizes that are
    exponential have exponential services, those of one size constant ones.

    Parameters
    ----------
    utilization : float
        Offered load: arrival rate times mean service time, 0.01 to 2. [ratio]
    path : Path
        The router's line: one link, emulated between two namespaces of this machine.
    arrivals : str
        "poisson", "constant", or "bursty": five back to back, the bursts as a Poisson process.
    service : str
        "constant" or "exponential".
    payload_bytes : float
        Payload of each datagram, or mean of the exponential sizes, 1 to 1472. [byte]
    place_count : int
        Capacity of the router, the packet on the line included. [1]
    batch_s : float
        Time for which the router's input collects packets before it hands them to the line
        together, as a network card with a delayed interrupt does; at most a second. [s]
    count : int
        Datagrams. [1]
    seed : int
        Random seed. [1]
    progress : callable, optional
        Called as ``progress(done, total, lateness_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every second, at the end and on failure.

    Returns
    -------
    Table
        One row per datagram that reached the line, by the router's own log: ``arrival_s``,
        ``wait_s`` (nan if it was dropped), ``service_s``, ``packet_bytes``, ``backlog_bytes`` that
        it found, ``dropped`` (0 or 1).

    Raises
    ------
    DomainError
        If a number or a name is impossible, or the path has several links.
    ExperimentError
        If the run would exceed a limit, the system has no namespaces, or the run fails.

    References
    ----------
    Kleinrock, Queueing Systems, vol. 1, 3.2, 3.6 and ch. 5.
    """
    common = record.Common(path=path, needs_path=True, progress=progress, stop=stop, save=save)
    if len(path.links) != 1:
        raise DomainError("above-maximum", "number of links", len(path.links), high=1)
    plan = QueuePlan(
        load=limits.finite("utilization", utilization, 0.01, 2.0),
        rate_bps=path.links[0].bandwidth_bps,
        arrivals=choice("arrivals", arrivals, ARRIVALS),
        service=choice("service", service, SERVICES),
        payload_bytes=limits.whole_number(
            "payload_bytes", int(payload_bytes), 1, MAX_PAYLOAD_BYTES
        ),
        count=limits.whole_number("count", count, 1, limits.MAX_COUNT),
        seed=limits.whole_number("seed", seed, 0, 1 << 62),
    )
    places = limits.whole_number("place_count", place_count, 1, 1 << 20)
    batch_s = limits.finite("batch_s", batch_s, 0.0, MAX_BATCH_S)
    there = {"buffer_packets": places, "batch_s": batch_s}
    emulated = EmulatedPath(path, offload=False, there=there, seed=plan.seed, log=True)
    limits.require_bounded(
        probe_count=plan.count,
        carried_bytes=plan.count * plan.payload_bytes,
        duration_s=plan.count * plan.gap_s,
    )
    drain_s = DRAIN_S + batch_s + places * plan.gap_s * plan.load
    return common.conduct(
        lambda run: run.measure(emulated, plan, drain_s),
        QueueRun,
        experiment="router_queue",
        protocol="udp",
        target=f"a line of {plan.rate_bps:g} bit/s with {places} places, UDP",
        note=f"{plan.arrivals} arrivals, {plan.service} service",
        total_count=plan.count,
        unit="datagrams",
        host=emulated.address("B"),
        command=record.written_call(
            "router_queue", f"{plan.load:g}", path=path, arrivals=arrivals, service=service,
            payload_bytes=plan.payload_bytes, place_count=places, batch_s=batch_s,
            count=plan.count, seed=plan.seed,
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlan:
    """The checked parameters of a run."""

    load: float
    rate_bps: float
    arrivals: str
    service: str
    payload_bytes: int
    count: int
    seed: int

    @property
    def gap_s(self) -> float:
        """Mean time between two datagrams. [s]"""
        packet_bytes = self.payload_bytes + DATAGRAM_HEADERS_BYTES
        return 8.0 * packet_bytes / self.rate_bps / self.load

    def datagrams(self) -> Iterator[tuple[float, int]]:
        """Yield the time and the payload of each datagram. [s], [byte]"""
        draw = random.Random(self.seed)
        at_s = 0.0
        for number in range(self.count):
            if self.arrivals == "constant":
                at_s += self.gap_s
            elif self.arrivals == "poisson":
                at_s += draw.expovariate(1.0 / self.gap_s)
            elif number % BURST == 0:
                at_s += draw.expovariate(1.0 / (BURST * self.gap_s))
            yield at_s, self._payload(draw)

    def _payload(self, draw: random.Random) -> int:
        if self.service == "constant":
            return self.payload_bytes
        packet = draw.expovariate(1.0 / (self.payload_bytes + DATAGRAM_HEADERS_BYTES))
        return max(0, min(MAX_PAYLOAD_BYTES, round(packet) - DATAGRAM_HEADERS_BYTES))


class QueueRun(record.Record[Table]):
    """The datagrams of one run in progress."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._sent_count = 0
        self._events: Events | None = None
        self._emulated: EmulatedPath | None = None
        self._parts: list[Events] = []
        self._rate_bps = np.nan
        self._planned_s: list[float] = []

    @property
    def done_count(self) -> int:
        """Datagrams sent."""
        return self._sent_count

    def measure(self, emulated: EmulatedPath, plan: QueuePlan, drain_s: float) -> None:
        """Open the path, send every datagram at its time, and fetch the log of the line."""
        self.record_machine()
        self._rate_bps = plan.rate_bps
        kind = (socket.AF_INET, socket.SOCK_DGRAM)
        with (
            self.measuring(),
            self.over(emulated, judged=False),
            emulated.socket("A", *kind) as sender,
            emulated.socket("B", *kind) as receiver,
        ):
            self._emulated = emulated
            receiver.bind((self.host, 0))  # nobody reads: what its buffer does not hold is lost
            sender.connect(receiver.getsockname())
            try:
                with instrument.collector_off():
                    self._send_all(sender, plan)
                self.phase = "drain"
                self.stopping.sleep(drain_s)
            except OSError as error:
                raise self.failure(error) from error
            finally:
                self._emulated = None
                self._events = emulated.events("B")

    def _send_all(self, sender: socket.socket, plan: QueuePlan) -> None:
        self.phase = "datagrams"
        begin_ns = self.clock.now_ns()
        for at_s, payload in plan.datagrams():
            wait_s = at_s - (self.clock.now_ns() - begin_ns) * 1e-9
            late_s = self.stopping.sleep(wait_s) if wait_s > 0 else -wait_s
            self.stopping.check()
            self.delays_s.append(late_s)
            sender.send(bytes(payload))
            self._planned_s.append(at_s)
            self._sent_count += 1
            self.advance(late_s)

    def samples(self) -> Table:
        """Return the samples; before the end those of which the line has written its log."""
        if self._emulated is not None:
            self._parts.append(self._emulated.new_events())
        events = self._events
        if events is None and self._parts:
            events = Events.concatenate(self._parts)
        if events is None:
            empty = dict.fromkeys(UNITS, np.zeros(0))
            return Table(data=dict(empty), meta=self._meta())
        columns = waits(events, self._rate_bps)
        late = late_load(self._planned_s, columns["arrival_s"])
        return Table(data=columns, meta=self._meta(*late))

    def _meta(self, *warnings: Notice) -> Meta:
        return replace(self.meta(warnings=warnings), units=UNITS)


def late_load(planned_s: Sequence[float], arrival_s: FloatArray) -> tuple[Notice, ...]:
    """Return a warning if the datagrams took longer than planned: the load is another one.

    Parameters
    ----------
    planned_s, arrival_s : sequence of float
        Times of all datagrams, as planned, and at the router. [s]
    """
    if len(planned_s) < 2 or len(arrival_s) < 2:
        return ()
    planned, took = planned_s[-1] - planned_s[0], float(arrival_s[-1] - arrival_s[0])
    if took <= planned * (1.0 + LOAD_TOLERANCE):
        return ()
    return (Notice("load-not-offered", {"planned_s": planned, "took_s": took}),)


def waits(events: Events, rate_bps: float) -> dict[str, Any]:
    """Return the columns of a run from the log of its line; times begin with the first arrival."""
    rows = np.isin(events.fate, (DELIVERED, FULL))
    arrival, departure = events.arrival_s[rows], events.departure_s[rows]
    packet = events.packet_bytes[rows].astype(float)
    service = 8.0 * packet / rate_bps
    waited = departure - arrival - service
    return {
        "arrival_s": arrival - arrival[0] if arrival.size else arrival,
        "wait_s": np.where(np.abs(waited) < 1e-9, 0.0, waited),
        "service_s": service,
        "packet_bytes": packet,
        "backlog_bytes": events.backlog_bytes[rows].astype(float),
        "dropped": (events.fate[rows] == FULL).astype(float),
    }
