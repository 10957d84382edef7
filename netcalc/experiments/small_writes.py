"""Requests in several small writes: Nagle's algorithm and delayed acknowledgements."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from functools import partial

from numpy.typing import ArrayLike

from netcalc.checks import as_float, named_arguments, one_dimensional
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.exchanges.endpoints import (
    Endpoints,
    counter_growth,
    open_endpoints,
    open_taps,
    save_capture,
    select_counters,
)
from netcalc.experiments.exchanges.responses import Responses
from netcalc.experiments.exchanges.tap import Tap
from netcalc.experiments.exchanges.write_run import Rounds, WritePlan
from netcalc.experiments.peers.namespace import LOOPBACK_MTU_BYTES
from netcalc.experiments.peers.process import LIFETIME_S, PEER_BYTES, Peer, record_peer
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import (
    MAX_COUNT,
    MAX_DURATION_S,
    MAX_TCP_BYTES,
    distinct_choices,
    finite,
    loopback_address,
    require_bounded,
    require_linux,
    require_path,
    require_writable,
    whole_number,
)
from netcalc.experiments.running.run import Progress, conduct
from netcalc.experiments.running.stopping import Stop
from netcalc.models.sizes.headers import TIMESTAMP_BYTES, tcp_ip_header_bytes
from netcalc.path import Path
from netcalc.samples import TransactionSamples

ARTICLE_WRITES = (6, 7)
"""The two writes of the article: "hello " and "world" with its line end. [byte]"""
ARTICLE_MODES = ("nagle", "nodelay", "flush", "single")
"""The four modes of the article."""
MODES = (*ARTICLE_MODES, "cork", "more")
"""All modes of writing a request."""
MAX_WRITES = 1000
"""Writes of one request, at most: each is a system call and may be a segment. [1]"""
COUNTED = ("DelayedACKs", "DelayedACKLost", "TCPAutoCorking", "TCPLossProbes", "TCPPureAcks")
"""Counters of the kernel that explain the time of a round."""
_AUTOCORKING = "net.ipv4.tcp_autocorking"


@named_arguments
def small_writes(
    write_bytes: ArrayLike = ARTICLE_WRITES,
    *,
    modes: Sequence[str] = ARTICLE_MODES,
    count: int = 10,
    reply_bytes: int = 13,
    interval_s: float = 0.0,
    write_gap_s: float = 0.0,
    quickack: bool = False,
    autocorking: bool = False,
    host: str = "127.0.0.1",
    path: Path | None = None,
    timeout_s: float = 5.0,
    pcap: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> TransactionSamples:
    """Measure the response time of requests in several small writes, by mode of writing.

    A client writes a request over TCP, part by part, and waits for the response, which a server
    process sends when the request is complete. Each mode has its own connection. Its first round,
    and those after it in which the kernel still acknowledges at once, are marked as warm-up.

    Parameters
    ----------
    write_bytes : array_like
        Sizes of the writes that make one request, at most 1000 and 1 MiB together. [byte]
    modes : sequence of {'nagle', 'nodelay', 'flush', 'single', 'cork', 'more'}
        ``nagle``: separate writes with default options. ``nodelay``: with TCP_NODELAY. ``flush``:
        as ``nagle``, with a flush after the last write, which has no effect. ``single``: one
        write. ``cork``: with TCP_CORK around the writes. ``more``: with MSG_MORE on all writes but
        the last.
    count : int
        Rounds in each mode. [1]
    reply_bytes : int
        User data of the response. [byte]
    interval_s : float
        Minimum time from one round to the next; with 0 it follows immediately. [s]
    write_gap_s : float
        Pause of the client between two writes of a request. [s]
    quickack : bool
        The server sets TCP_QUICKACK before every read: immediate acknowledgements.
    autocorking : bool
        Let Linux merge small segments while an earlier one is in its queues; off by default in the
        namespaces of the run, because it changes the number of segments.
    host : str
        Loopback address, IPv4 or IPv6. In a namespace of the run, and over a path, it selects the
        address family only.
    path : Path, optional
        Path between client and server, emulated on this machine; without it both are on a
        loopback.
    timeout_s : float
        Response timeout, counted from the last write, 0.001 to 60. [s]
    pcap : path, optional
        Capture file for the packet headers, as seen at the client.
    progress : callable, optional
        Called as ``progress(done, total, response_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every 2 s, at the end and on failure.

    Returns
    -------
    TransactionSamples
        One row per round. ``meta.instrument.counters`` has, by mode, the growth of the kernel's
        counters, over a path also by end: ``DelayedACKs`` proves what the times suggest.
        ``ladder`` has the packets of the second round, seen by taps
        (:func:`netcalc.compare.ladder`); ``waits``, by mode, how many rounds had a held
        acknowledgement or a waiting client, and the median of each; with
        ``interval_s`` also in how many the client held its acknowledgement of the response, and
        the median. After a stop, a first Ctrl-C
        or the time limit, the rows so far, marked as partial.

    Raises
    ------
    DomainError
        If a size, mode, count or time is impossible.
    ExperimentError
        If the run would exceed a limit, or the run fails; then ``partial`` has the samples so far.

    Notes
    -----
    At most 100,000 rounds, 2 GB in both directions and 600 s.

    Both ends are in a network namespace of the run where the system permits one, so that its
    counters are those of the run alone; otherwise they are on the host's loopback, with a warning.
    In a namespace connections use Reno, because BBR, the default of some systems, spreads the
    segments of a response over the round trip.

    Examples
    --------
    >>> samples = small_writes(modes=["nodelay", "single"], count=3)
    >>> samples.modes, len(samples), int(samples.warm_up.sum())
    (('nodelay', 'single'), 6, 2)

    References
    ----------
    RFC 896 (Nagle's algorithm); RFC 1122, 4.2.3.2 (delayed acknowledgements).
    """
    require_linux("its counters of delayed acknowledgements")
    require_path(path)
    plan = WritePlan(
        sizes=_checked_sizes(write_bytes),
        modes=_checked_modes(modes),
        count=whole_number("count", count, 1, MAX_COUNT),
        reply_bytes=whole_number("reply_bytes", reply_bytes, 1, MAX_TCP_BYTES),
        interval_s=finite("interval_s", interval_s, 0.0, MAX_DURATION_S),
        write_gap_s=finite("write_gap_s", write_gap_s, 0.0, MAX_DURATION_S),
        quickack=bool(quickack),
        autocorking=bool(autocorking),
        host=loopback_address(host),
        timeout_s=finite("timeout_s", timeout_s, 0.001, 60.0),
    )
    require_bounded(
        probe_count=plan.round_count,
        carried_bytes=plan.round_count * (plan.request_bytes + plan.reply_bytes),
        duration_s=max(plan.round_s, _least_s(plan, path)) * (plan.round_count - 1),
    )
    require_writable(pcap)
    make = partial(
        Responses,
        experiment="small_writes",
        protocol="tcp",
        target="loopback, TCP" if path is None else "emulated path, TCP",
        total_count=plan.round_count,
        unit="rounds",
        host="",
        command=plan.command(path),
    )
    measure = partial(_measure, plan=plan, path=path, pcap=pcap)
    return conduct(make, measure, progress=progress, stop=stop, save=save)


def _least_s(plan: WritePlan, path: Path | None) -> float:
    """Return the time of a round on a path, headers not included. [s]"""
    if path is None:
        return 0.0
    return float(path.rtt_s(plan.request_bytes, reply_bytes=plan.reply_bytes))


def _checked_sizes(write_bytes: ArrayLike) -> tuple[int, ...]:
    """Return the sizes as whole numbers; refuse more than one request may have."""
    sizes = one_dimensional("write_bytes", as_float("write_bytes", write_bytes))
    if sizes.size > MAX_WRITES:
        raise DomainError("too-many-writes", "write_bytes", sizes.size, high=MAX_WRITES)
    for index, size in enumerate(sizes.tolist()):
        whole_number(f"write_bytes[{index}]", size, 1, MAX_TCP_BYTES)
    if sizes.sum() > MAX_TCP_BYTES:
        raise DomainError("sum-too-large", "write_bytes", int(sizes.sum()), high=MAX_TCP_BYTES)
    return tuple(int(size) for size in sizes)


def _checked_modes(modes: Sequence[str]) -> tuple[str, ...]:
    """Return the modes; refuse those that the system does not have."""
    names = distinct_choices("modes", modes, MODES)
    for mode, option in (("cork", "TCP_CORK"), ("more", "MSG_MORE")):
        if mode in names and not hasattr(socket, option):
            raise ExperimentError("option-unavailable", phase="plan", option=option)
    return names


def _measure(
    run: Responses,
    plan: WritePlan,
    path: Path | None,
    pcap: str | os.PathLike[str] | None,
) -> None:
    run.facts.update(instrument.machine(), **instrument.timer())
    run.facts["rtt_s"] = 0.0  # of the path; the host's own time is in the samples
    if path is not None:
        packet_bytes = max(plan.sizes) + int(tcp_ip_header_bytes(plan.version, TIMESTAMP_BYTES))
        run.facts["rtt_s"] = float(path.rtt_s(packet_bytes))
    sysctls = {_AUTOCORKING: str(int(plan.autocorking))}
    with (
        open_endpoints(
            run, path, mtu_bytes=LOOPBACK_MTU_BYTES, version=plan.version, sysctls=sysctls
        ) as endpoints,
        open_taps(run, endpoints) as taps,
    ):
        try:
            measure_writes(run, plan, endpoints, taps)
        finally:
            save_capture(run, taps, pcap)


def measure_writes(
    run: Responses, plan: WritePlan, endpoints: Endpoints, taps: Sequence[Tap]
) -> None:
    """Start the server and measure each mode on a connection of its own."""
    facts = run.facts
    facts.update(
        quickack=plan.quickack,
        write_bytes=list(plan.sizes),
        write_gap_s=plan.write_gap_s,
        interval_s=plan.interval_s,
        tick_s=instrument.tick_s(),
        autocorking=endpoints.read_number(_AUTOCORKING),
        **{name: {} for name in ("counters", "nodelay", "ladder", "waits")},
    )
    with endpoints.listener(socket.SOCK_STREAM) as listener:
        run.port = listener.getsockname()[1]
        settings = {
            "protocol": "rounds",
            "host": endpoints.server_host,
            "port": run.port,
            "fd": listener.fileno(),
            "session": plan.session.hex(),
            "duration_s": LIFETIME_S,
            "bytes": PEER_BYTES,
            "message_bytes": plan.request_bytes,
            "reply_bytes": plan.reply_bytes,
            "quickack": plan.quickack,
        }
        with (
            Peer(settings, stopping=run.stopping, passed=[listener.fileno()]) as peer,
            record_peer(run, peer),
        ):
            address = listener.getsockname()
            listener.close()  # now the peer's alone: nobody connects to a dead one
            for mode in plan.modes:
                before = endpoints.counters()
                Rounds(run, plan, mode, taps).measure(endpoints, address)
                growth = counter_growth(before, endpoints.counters())
                facts["counters"][mode] = select_counters(growth, COUNTED)
