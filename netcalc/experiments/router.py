"""What lies between two hosts: packets per second by frame size, forward, back and both at once."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from netcalc import datasets
from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import far_transfer, transfer
from netcalc.experiments.bulk import (
    BOX_INPUT_PACKETS,
    ENDLESS_COUNT,
    FAR_DRAIN_S,
    FAR_LINGER_S,
    WIRE_OVERHEAD_BYTES,
    frame_overhead_bytes,
)
from netcalc.experiments.iperf3 import LEAST_DURATION_S, LEAST_PAYLOAD_BYTES, Iperf3, Passed
from netcalc.experiments.iperf3 import PORT as IPERF3_PORT
from netcalc.experiments.peers import far_costs, helper
from netcalc.experiments.peers.bulk_peer import ByteCounts
from netcalc.experiments.peers.job import Job
from netcalc.experiments.peers.remote import FarEnd, FarPeer, require_one_host
from netcalc.experiments.running import limits, record, stopping
from netcalc.experiments.running.wifi import wifi_links
from netcalc.language import phrase
from netcalc.messages import Notice
from netcalc.models.sizes.framing import captured_frame_bytes
from netcalc.models.sizes.headers import FCS_BYTES
from netcalc.path import Path
from netcalc.samples import BulkSamples

ARTICLE_SIZES = (64, 128, 256, 512, 1024, 1514)
"""Sizes of the article on two broadband routers, as a capture shows them. [byte]"""
DIRECTIONS = tuple(far_transfer.DIRECTIONS)
THIS_ALONE, PEER_ALONE = "this host alone", "peer alone"
"""Directions of rows in which a host sends to itself."""
ALONE_S = 1.0
"""Duration of a run of a host alone, and of the first run at full speed. [s]"""
OFFERED_RATIO = 1.25
"""A path is offered this much more than it has carried: it is overloaded, and both hosts have time
to count. [ratio]"""
RAISED_RATIO, RAISED_COUNT = 1.5, 4
"""By how much, and how often, an offer is raised that does not overload the path."""
OVERLOAD_RATIO = 0.1
"""A path is overloaded that loses this share: bursts overflow its queue and lose a few hundredths
at an offer that it could carry, so that less than it can arrives. [ratio]"""
IDLE_BPS, TRIP_S = 100e3, 3
"""Rate of a connection that leaves a path idle [bit/s], and time of the loaded one. [s]"""
PROBE_S = 0.1
"""Time between two echoes beside a transfer, of whose packets they are one in a thousand and less,
but through a very slow device. [s]"""
ECHO_S = 1.0
"""Time after which an echo is lost. [s]"""
LOADING_S = 0.15
"""Time after a report of progress in which the next one comes. [s]"""
_MIN_CAPTURED, _MAX_CAPTURED = 60, 9014


@named_arguments
def article_routers() -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the two routers of the article: frames with FCS [byte], packets per second of each."""
    points = datasets.points_by(
        "router", "router_throughput", "captured_bytes", "frame_rate_pps",
        label=phrase("the {name} router of 2009"),
    )  # fmt: skip
    return {
        name: (captured_frame_bytes(captured), np.asarray(pps))
        for name, (captured, pps) in points.items()
    }


@named_arguments
def router(
    captured_bytes: ArrayLike = ARTICLE_SIZES,
    *,
    directions: Sequence[str] = DIRECTIONS,
    duration_s: float = 4.0,
    run_count: int = 2,
    peer: FarPeer | None = None,
    iperf3: str = "",
    port: int = IPERF3_PORT,
    path: Path | None = None,
    input_packets: int | None = BOX_INPUT_PACKETS,
    progress: record.Progress | None = None,
    stop: stopping.Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> BulkSamples:
    """Send datagrams through whatever lies between two hosts: packet rate by frame size.

    The second host runs ``netcalc peer``, or only ``iperf3 -s``. The hosts are measured alone
    first, over their own loopbacks, so that the path is not blamed for them; then the sizes
    alternate, forward, back and both at once. A round trip is measured on the idle path and under
    load.

    Parameters
    ----------
    captured_bytes : array_like
        Frames as a capture shows them, without FCS, 60 to 9014. [byte]
    directions : sequence of str
        "forward" to the second host, "back" from it, "both" at once; over a path "forward" only.
    duration_s : float
        Duration of each run, 0.01 to 10; with iperf3 whole seconds, at least 3, of which the first
        and the last do not count. [s]
    run_count : int
        Runs of each size and direction. [1]
    peer : Peer, optional
        The second host, on which ``netcalc peer`` runs.
    iperf3 : str
        Address of the second host, on which ``iperf3 -s`` runs.
    port : int
        Port of ``iperf3 -s``. [1]
    path : Path, optional
        In place of a second host, a path that is emulated on this one.
    input_packets : int, optional
        Input queue of each node of the path; None is unbounded. [packet]
    progress : callable, optional
        Called as ``progress(done, total, received_bytes)`` at most ten times a second and at
        the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every second, at the end and on failure.

    Returns
    -------
    BulkSamples
        One row per run and direction; ``write_bytes`` is the datagram, and ``direction`` says where
        it went. The rows of a host alone come first. ``meta.instrument.round_trips`` has the round
        trips, ``wifi`` the Wi-Fi links before and after, where the system says them.

    Raises
    ------
    DomainError
        If a size, count, time or direction is impossible, or there is not one second host.
    ExperimentError
        If the second host is not reached, the run would exceed a limit, or fails; then ``partial``
        has the samples so far.

    Notes
    -----
    At most 20 GB and 600 s. Datagrams are sent as fast as the sender can; with iperf3 then again at
    a quarter more than what arrived, so that a host that is busy with sending does not miss what
    arrives. With iperf3 only this host is measured alone, and the round trips are those of a TCP
    connection, as the kernel of this host measures them.

    References
    ----------
    RFC 2544 section 26.1; RFC 2285 section 3.5 (forwarding rate).
    """
    common = record.Common(path=path, peer=peer, progress=progress, stop=stop, save=save)
    if sum((peer is not None, bool(iperf3), path is not None)) != 1:
        raise DomainError("one-second-host", "peer")
    possible = DIRECTIONS if path is None else DIRECTIONS[:1]
    if path is not None and tuple(directions) == DIRECTIONS:
        directions = possible
    ways = limits.distinct_choices("directions", directions, possible)
    address = common.address
    if iperf3:
        require_one_host(iperf3)
        limits.whole_number("port", port, 1, 65_535)
        address = iperf3
    sizes = limits.whole_numbers("captured_bytes", captured_bytes, _MIN_CAPTURED, _MAX_CAPTURED)
    count = limits.whole_number("run_count", run_count, 1, transfer.MAX_TRANSFERS)
    least_s = LEAST_DURATION_S if iperf3 else 0.01
    limit_s = limits.finite("duration_s", duration_s, least_s, 10.0)
    if iperf3:
        limit_s = limits.whole_number("duration_s", limit_s, LEAST_DURATION_S, 10)
    overhead = frame_overhead_bytes(limits.ip_version(address)) - int(FCS_BYTES)
    least_bytes = LEAST_PAYLOAD_BYTES if iperf3 else 1
    payloads = [max(least_bytes, size - overhead) for size in sizes]
    runs = count * len(sizes) * len(ways)
    limits.refuse_above(
        limits.Estimate("transfers-too-long", "duration_s", runs * limit_s,
                        "limit_s", limits.MAX_DURATION_S),
    )  # fmt: skip
    carried = partial(
        _carrier, payloads=payloads, ways=ways, peer=peer, iperf3=(iperf3, port), path=path,
        input_packets=input_packets,
    )  # fmt: skip
    where: dict[str, Any] = {"peer": peer} if peer else {"path": path}
    if iperf3:
        where = {"iperf3": iperf3, "port": port}

    def measure(run: RouterRun) -> None:
        raised = [size for size in sizes if size - overhead < least_bytes]
        if raised:
            captured = least_bytes + overhead
            run.warnings.append(
                Notice("sizes-raised", {"sizes": raised, "captured_bytes": captured})
            )
        with carried(run) as carrier, run.beside_wifi():
            run.measure(
                carrier, [payload for _ in range(count) for payload in payloads], duration_s=limit_s
            )

    return common.conduct(
        measure,
        RouterRun,
        experiment="router",
        protocol="udp",
        target=f"{_place(common, iperf3)}, UDP",
        total_count=runs,
        unit="runs",
        host=address,
        port=port if iperf3 else None,
        command=record.written_call(
            "router", sizes, directions=ways, duration_s=limit_s, run_count=count, **where
        ),
    )  # fmt: skip


def _place(common: record.Common, iperf3: str) -> str:
    if iperf3:
        return f"iperf3 {iperf3}"
    return "emulated path" if common.path is not None else common.place


class Carrier(Protocol):
    """What carries datagrams between two hosts, and adds the rows of each run."""

    ways: Sequence[str]
    """Directions that it can."""
    alone_count: int
    """Hosts that it can measure alone. [1]"""

    def trips(self, *, is_loaded: bool) -> tuple[list[float], str]:
        """Return round trips of the idle or the loaded path, and by what. [s]"""

    def send_alone(self, payload_bytes: int) -> None:
        """Measure each host that can be over its own loopback."""

    def send(self, payload_bytes: int, way: str, *, duration_s: float, offer_pps: float) -> None:
        """Send datagrams in a direction, at a rate; with 0 as fast as the sender can."""


class RouterRun(transfer.Transfers):
    """The runs through a path in progress."""

    alone = ""
    """The host that is measured alone now; empty while datagrams go through the path."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._tried: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._offers_pps: dict[tuple[int, str], float] = {}
        self._arrived_s, self._arrived_bytes = 0.0, 0

    def measure(self, carrier: Carrier, payloads: Sequence[int], *, duration_s: float) -> None:
        """Measure the hosts alone, the idle path, every size in each direction, and the load."""
        each = sum(len(far_transfer.DIRECTIONS[way]) for way in carrier.ways)
        self.total_count = carrier.alone_count * len(set(payloads)) + each * len(payloads)
        self._note_trips("idle", *carrier.trips(is_loaded=False))
        for payload in dict.fromkeys(payloads):
            carrier.send_alone(payload)
            self._keep()
        for payload in payloads:
            for way in carrier.ways:
                self.stopping.check()
                try:
                    self._overload(carrier, payload, way, duration_s)
                finally:
                    self._keep()
        self._note_trips("loaded", *carrier.trips(is_loaded=True))

    def add(self, row: dict[str, Any], *, ended: bool, cut: bool, wrong_count: int) -> None:
        """Add a run, with its direction."""
        row = {**row, "direction": self.alone or row.get("direction") or "forward"}
        self._tried.append((row, {"ended": ended, "cut": cut, "wrong_count": wrong_count}))

    def rows_so_far(self) -> list[dict[str, Any]]:
        """Return the rows so far, those of runs that may be tried again included."""
        return [*self._rows, *(row for row, _ in self._tried), *self.under_way]

    def advance_within(self, share: float, *, at_ns: int, received_bytes: int) -> None:
        """Record and report the progress of the current transfer."""
        if received_bytes > self._arrived_bytes:
            self._arrived_s = time.monotonic()
        self._arrived_bytes = received_bytes
        super().advance_within(share, at_ns=at_ns, received_bytes=received_bytes)

    @property
    def is_loading(self) -> bool:
        """Whether data arrives: both ends report it ten times a second, also while they wait."""
        return time.monotonic() - self._arrived_s < LOADING_S

    def _keep(self) -> None:
        """Keep the last runs that were tried."""
        for row, counts in self._tried:
            super().add(row, **counts)
        self._tried.clear()

    def _overload(self, carrier: Carrier, payload: int, way: str, duration_s: float) -> None:
        """Offer a path a little more than it carries; as fast as the sender can if that is less."""
        setting = payload, way
        if setting not in self._offers_pps:
            carrier.send(payload, way, duration_s=min(duration_s, ALONE_S), offer_pps=0.0)
            most_pps = max((_passed_pps(row) for row, _ in self._tried if _is_full(row)), default=0)
            self._offers_pps[setting] = OFFERED_RATIO * most_pps
        for _ in range(RAISED_COUNT):
            self._tried.clear()
            offer_pps = self._offers_pps[setting]
            carrier.send(payload, way, duration_s=duration_s, offer_pps=offer_pps)
            # Of both ways at once one is enough: more would drown what the hosts tell each other.
            if not offer_pps or any(_is_full(row) for row, _ in self._tried):
                return
            self._offers_pps[setting] *= RAISED_RATIO

    def add_counts(self, payload_bytes: int, passed: Passed, direction: str = "") -> None:
        """Add a run of which no more is known than what was sent and what arrived."""
        row: dict[str, Any] = dict.fromkeys(BulkSamples.column_units, np.nan)
        row |= {
            "write_bytes": payload_bytes, "write_count": passed.sent,
            "sent_bytes": passed.sent * payload_bytes,
            "received_bytes": passed.arrived * payload_bytes, "wall_s": passed.seconds,
            "delivery_s": passed.seconds, "lost_count": max(0.0, passed.sent - passed.arrived),
            "pair_count": 1, "direction": direction,
        }  # fmt: skip
        self.add(row, ended=False, cut=False, wrong_count=0)

    @contextmanager
    def alone_as(self, name: str) -> Iterator[None]:
        """Mark rows as those of a host alone."""
        self.alone = name
        try:
            yield
        finally:
            self.alone = ""

    @contextmanager
    def beside_wifi(self) -> Iterator[None]:
        """Record the Wi-Fi links before and after, if there are any."""
        before = wifi_links()
        try:
            yield
        finally:
            if before:
                self.facts["wifi"] = {"before": before, "after": wifi_links()}

    def _note_trips(self, name: str, trips_s: list[float], tool: str) -> None:
        if trips_s:
            known = self.facts.setdefault("round_trips", {"tool": tool})
            known[f"{name}_s"] = trips_s


def _in_socket(row: dict[str, Any]) -> float:
    """Return the datagrams that passed, and were dropped at the socket of the receiver. [1]"""
    return float(np.nan_to_num(row["receiver_drop_count"]))


def _passed_pps(row: dict[str, Any]) -> float:
    """Return the datagrams per second that passed."""
    passed = row["received_bytes"] / row["write_bytes"] + _in_socket(row)
    return float(passed / row["delivery_s"]) if row["delivery_s"] > 0 else 0.0


def _is_full(row: dict[str, Any]) -> bool:
    """Whether the path was overloaded."""
    return bool(row["lost_count"] - _in_socket(row) >= OVERLOAD_RATIO * row["write_count"])


@contextmanager
def _carrier(
    run: RouterRun,
    *,
    payloads: Sequence[int],
    ways: Sequence[str],
    peer: FarPeer | None,
    iperf3: tuple[str, int],
    path: Path | None,
    input_packets: int | None,
) -> Iterator[Carrier]:
    """Open what carries the datagrams."""
    if iperf3[0]:
        program = Iperf3.installed(*iperf3, stopping=run.stopping)
        run.record_machine(limits.ip_version(run.host))
        with run.measuring():
            yield Iperf3Carrier(run, program, ways)
    elif peer is not None:
        with _peer_carrier(run, peer, ways) as carrier:
            yield carrier
    else:
        placement = transfer.Placement(
            path=path, mtu_bytes=max(1500, *payloads) + 28,
            link_options={
                "overhead_bytes": WIRE_OVERHEAD_BYTES, "input_packets": input_packets
            },
        )  # fmt: skip
        with transfer.both_ends(run, placement) as ends:
            yield PathCarrier(ends, placement)


def _blast(
    payload_bytes: int,
    duration_s: float,
    *,
    offer_pps: float = 0.0,
    linger_s: float = transfer.LINGER_S,
    drain_s: float = 0.0,
) -> transfer.Transfer:
    """Return a transfer of datagrams at a rate; with 0 as fast as the sender can."""
    return transfer.Transfer(
        protocol="udp", write_bytes=payload_bytes, write_count=ENDLESS_COUNT, limit_s=duration_s,
        linger_s=linger_s, drain_s=drain_s, endless=True,
        gap_ns=round(1e9 / offer_pps) if offer_pps else 0,
    )  # fmt: skip


class PathCarrier:
    """An emulated path: this host sends to itself through it."""

    ways: Sequence[str] = DIRECTIONS[:1]
    alone_count = 0

    def __init__(self, ends: transfer.TransferEnds, placement: transfer.Placement) -> None:
        self._ends, self._placement = ends, placement

    def trips(self, *, is_loaded: bool) -> tuple[list[float], str]:
        """Return nothing: the delay of a path is set."""
        return [], ""

    def send_alone(self, payload_bytes: int) -> None:
        """Do nothing: each row says which queue dropped, those of the host too."""

    def send(self, payload_bytes: int, way: str, *, duration_s: float, offer_pps: float) -> None:
        """Send datagrams from the beginning of the path to its end."""
        blast = _blast(
            payload_bytes, duration_s, offer_pps=offer_pps,
            linger_s=self._placement.linger_s(payload_bytes), drain_s=self._placement.drain_s(None),
        )  # fmt: skip
        self._ends.move(blast)


class PeerCarrier:
    """A peer on a second machine."""

    alone_count = 2

    def __init__(
        self,
        run: RouterRun,
        far: FarEnd,
        own: transfer.TransferEnds | None,
        ends: dict[str, transfer.TransferEnds],
    ) -> None:
        self._run, self._far, self._own, self._ends = run, far, own, ends
        self.ways: Sequence[str] = tuple(ends)
        self._loaded_s: list[float] = []

    def trips(self, *, is_loaded: bool) -> tuple[list[float], str]:
        """Return round trips of UDP echoes: on the idle path, or beside the transfers so far."""
        if is_loaded:
            return self._loaded_s, "UDP echo"
        with self._echoes(lambda: True) as trips_s:
            self._run.stopping.sleep(1.0)
        return trips_s, "UDP echo"

    def send_alone(self, payload_bytes: int) -> None:
        """Measure this host over its loopback, and the peer over its own."""
        run = self._run
        host, run.host = run.host, "::1" if ":" in run.host else "127.0.0.1"
        try:
            with run.alone_as(THIS_ALONE):
                if self._own is None:
                    self._add_rates(payload_bytes, *self._own_rates(payload_bytes))
                else:
                    self._own.move(_blast(payload_bytes, ALONE_S))
        finally:
            run.host = host
        rates_pps = self._far.own_rates(payload_bytes, limit_s=ALONE_S)
        with run.alone_as(PEER_ALONE):
            self._add_rates(payload_bytes, *rates_pps)

    def _add_rates(self, payload_bytes: int, send_pps: float, receive_pps: float) -> None:
        self._run.add_counts(payload_bytes, Passed(send_pps, receive_pps, 1.0))

    def _own_rates(self, payload_bytes: int) -> tuple[float, float]:
        """Measure this host as the peer measures itself: sockets go to no other process here."""
        order = {"payload_bytes": payload_bytes, "limit_s": ALONE_S}
        job = Job(far_costs.own_rates, (), order, ByteCounts())
        while job.report is None:
            self._run.stopping.sleep(stopping.SLICE_S)
        return job.report["send_pps"], job.report["receive_pps"]

    def send(self, payload_bytes: int, way: str, *, duration_s: float, offer_pps: float) -> None:
        """Send datagrams to the peer, from it, or both, with echoes beside them."""
        blast = _blast(
            payload_bytes, duration_s, offer_pps=offer_pps,
            linger_s=FAR_LINGER_S, drain_s=FAR_DRAIN_S,
        )  # fmt: skip
        with self._echoes(lambda: self._run.is_loading) as trips_s:
            self._ends[way].move(blast)
        self._loaded_s += trips_s

    @contextmanager
    def _echoes(self, counts: Callable[[], bool]) -> Iterator[list[float]]:
        """Send an echo now and then; yield the list of their round trips, of those that count."""
        family = helper.address_family(self._run.host)
        trips_s: list[float] = []
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            line = self._far.open([sock])
            number = self._far.echo(line, 64)
            ended = threading.Event()
            thread = threading.Thread(
                target=_echo, args=(sock, line.session, trips_s, ended, counts)
            )
            thread.start()
            try:
                yield trips_s
            finally:
                ended.set()
                thread.join()
                with suppress(ExperimentError):  # the peer may be gone
                    self._far.end(number)


def _echo(
    sock: socket.socket,
    session: bytes,
    trips_s: list[float],
    ended: threading.Event,
    counts: Callable[[], bool],
) -> None:
    """Send an echo, wait for it, and again, until the end; keep the times of those that count."""
    sock.settimeout(ECHO_S)
    number = 0
    while not ended.wait(PROBE_S):
        number += 1
        message = number.to_bytes(4, "big") + session[:4]
        is_counted, sent_s = counts(), time.perf_counter()
        with suppress(OSError):
            sock.send(message)
            while sock.recv(64) != message:  # one that is late
                pass
            trip_s = time.perf_counter() - sent_s
            if is_counted and counts():
                trips_s.append(trip_s)


@contextmanager
def _peer_carrier(run: RouterRun, peer: FarPeer, ways: Sequence[str]) -> Iterator[PeerCarrier]:
    """Reach the peer, and start the workers of this machine."""
    run.record_machine(limits.ip_version(run.host))
    run.host, run.port, run.phase = peer.host, peer.port, "peer"
    with ExitStack() as opened:
        own = None
        if helper.PASSES_SOCKETS:
            own = opened.enter_context(transfer.TransferEnds(run, wake_bytes=transfer.WAKE_BYTES))
        far = opened.enter_context(FarEnd(peer, stopping=run.stopping))
        ends: dict[str, transfer.TransferEnds] = {
            way: opened.enter_context(far_transfer.FarEnds(run, far, far_transfer.DIRECTIONS[way]))
            for way in ways
        }
        opened.enter_context(record.measuring_with(run, far))
        yield PeerCarrier(run, far, own, ends)


class Iperf3Carrier:
    """iperf3 here, and ``iperf3 -s`` on the second host."""

    alone_count = 1

    def __init__(self, run: RouterRun, program: Iperf3, ways: Sequence[str]) -> None:
        self._run, self._program = run, program
        self.ways: Sequence[str] = [way for way in ways if way != "both" or program.has_both]
        if len(self.ways) < len(ways):
            run.warnings.append(
                Notice("iperf3-without-both", {"version": "{}.{}".format(*program.version)})
            )

    def trips(self, *, is_loaded: bool) -> tuple[list[float], str]:
        """Return the round trips of a TCP connection of little rate, or of all it gets."""
        rate_bps, duration_s = (0.0, TRIP_S) if is_loaded else (IDLE_BPS, 1)
        return self._program.round_trips(duration_s=duration_s, rate_bps=rate_bps), "TCP"

    def send_alone(self, payload_bytes: int) -> None:
        """Measure this host over its loopback; nobody can order that of the other."""
        with self._program.alone() as own, self._run.alone_as(THIS_ALONE):
            self._add(payload_bytes, own.send(payload_bytes, "forward", duration_s=1))

    def send(self, payload_bytes: int, way: str, *, duration_s: float, offer_pps: float) -> None:
        """Send datagrams to the host, from it, or both."""
        passed = self._program.send(
            payload_bytes, way, duration_s=max(1, int(duration_s)),
            rate_bps=8 * payload_bytes * offer_pps,
        )  # fmt: skip
        self._add(payload_bytes, passed, way)

    def _add(self, payload_bytes: int, passed: dict[str, Passed], way: str = "forward") -> None:
        """Add a row for each direction."""
        names = dict(zip(passed, far_transfer.DIRECTIONS[way], strict=True))
        for name, part in passed.items():
            self._run.add_counts(payload_bytes, part, names[name])
