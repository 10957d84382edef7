"""Requests written in small parts: what Nagle's rule and a delayed acknowledgement make of them."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from numpy.typing import ArrayLike

from netcalc.checks import as_float, choice, one_dimensional
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.exchanges.responses import (
    Place,
    Responses,
    counted,
    grown,
    place_of,
    save_capture,
    taps_of,
)
from netcalc.experiments.exchanges.tap import Tap
from netcalc.experiments.exchanges.write_run import Rounds, WritePlan
from netcalc.experiments.peers.namespace import LOOPBACK_MTU_BYTES
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import (
    MAX_BYTES,
    MAX_COUNT,
    MAX_DURATION_S,
    MAX_TCP_BYTES,
    finite,
    loopback_address,
    require_bounded,
    require_linux,
    require_path,
    require_writable,
    whole_number,
)
from netcalc.experiments.running.run import Progress, finish
from netcalc.experiments.running.stopping import Stop, Stopping
from netcalc.path import Path
from netcalc.samples import TransactionSamples

ARTICLE_WRITES = (6, 7)
"""The two writes of the article: "hello " and "world" with its line end. [byte]"""
ARTICLE_MODES = ("nagle", "nodelay", "flush", "single")
"""The four runs of the article."""
MODES = (*ARTICLE_MODES, "cork", "more")
"""All ways of writing a request."""
MAX_WRITES = 1000
"""Writes of one request, at most. [1]"""
TCP_HEADERS_BYTES = {4: 52, 6: 72}
"""Headers of IP, by version, and of TCP with its timestamps. [byte]"""
COUNTED = ("DelayedACKs", "DelayedACKLost", "TCPAutoCorking", "TCPLossProbes", "TCPPureAcks")
"""Counters of the kernel that tell why a round took as long as it did."""
_AUTOCORKING = "net.ipv4.tcp_autocorking"


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
    """Measure how long a request takes that is written in small parts, by the way of writing.

    A client writes a request over TCP, part by part, and waits for the response; a process of its
    own answers when the request is whole. Each mode has a connection of its own. Its first round,
    and those after it in which the kernel still acknowledges at once, are marked as warm-up.

    Parameters
    ----------
    write_bytes : array_like
        Sizes of the writes that make one request, at most 1000 and 1 MiB together. [byte]
    modes : sequence of {'nagle', 'nodelay', 'flush', 'single', 'cork', 'more'}
        ``nagle``: write after write, as a plain program does. ``nodelay``: with TCP_NODELAY.
        ``flush``: as ``nagle``, with a call of flush after the last write, which does nothing.
        ``single``: all in one write. ``cork``: with TCP_CORK around the writes. ``more``: with
        MSG_MORE on all writes but the last.
    count : int
        Rounds in each mode. [1]
    reply_bytes : int
        User data of the response. [byte]
    interval_s : float
        Time from one round to the next, at least; 0 goes on at once. [s]
    write_gap_s : float
        Time that the client sleeps between two writes of a request. [s]
    quickack : bool
        The server asks the kernel before every read to acknowledge at once (TCP_QUICKACK).
    autocorking : bool
        Let Linux put small segments together while an earlier one is in its queues; off in the
        run's own namespaces by default, because it changes how many segments there are.
    host : str
        Address on the loopback, of IPv4 or IPv6. In a namespace of the run's own, and over a path,
        its family counts.
    path : Path, optional
        An emulated path between client and server, each in a namespace of its own; without it
        both are on a loopback.
    timeout_s : float
        How long a response is awaited after the last write, 0.001 to 60. [s]
    pcap : path, optional
        File that receives the heads of the packets as the client's end saw them, for other tools.
    progress : callable, optional
        Called as ``progress(done, total, response_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File that receives the samples: every few seconds, at the end, and if the run breaks off.

    Returns
    -------
    TransactionSamples
        One row a round. ``meta.instrument["counters"]`` has, by mode, which counters of the kernel
        grew: ``DelayedACKs`` proves what the times suggest; over a path also by end.
        ``["ladder"]`` has the packets of the second round, seen by taps
        (:func:`netcalc.compare.ladder`); ``["waits"]``, by mode, in how many rounds the server
        held an acknowledgement and the client waited for one, and how long in the median. After a
        stop, a first Ctrl-C or the time limit, what was measured until then, marked as partial.

    Raises
    ------
    DomainError
        If a size, mode, count or time is not possible.
    ExperimentError
        If a limit would be passed, or the run breaks off; then ``partial`` has what was measured.

    Notes
    -----
    At most 100,000 rounds, 2 GB in both directions and 600 s.

    The two ends are in a network namespace of the run where the system allows one, so that its
    counters are the run's alone, of both ends together; otherwise on the host's loopback, and
    ``meta.warnings`` says so. There connections use Reno, because BBR, the default of some systems,
    spreads the segments of a response over the round trip.

    Examples
    --------
    >>> samples = small_writes(modes=["nodelay", "single"], count=3)
    >>> samples.modes, len(samples), int(samples.warm_up.sum())
    (('nodelay', 'single'), 6, 2)

    References
    ----------
    RFC 896 (Nagle's rule); RFC 1122, 4.2.3.2 (delayed acknowledgements).
    """
    require_linux("its counters of acknowledgements")
    require_path(path)
    plan = WritePlan(
        sizes=_write_sizes(write_bytes),
        modes=_modes(modes),
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
    require_writable(save)
    require_writable(pcap)
    with Stopping(stop, limit_s=MAX_DURATION_S) as stopping:
        run = Responses(
            tool="netcalc small-writes",
            target="loopback, TCP" if path is None else "emulated path, TCP",
            total_count=plan.round_count,
            unit="rounds",
            host="",
            port=None,
            stopping=stopping,
            progress=progress,
            save=save,
            command=plan.command(path),
        )
        return finish(run, lambda: _measure(run, plan, path, pcap))


def _least_s(plan: WritePlan, path: Path | None) -> float:
    """Return the time of the bytes of a round on a path, without headers. [s]"""
    if path is None:
        return 0.0
    return float(path.rtt_s(plan.request_bytes, reply_bytes=plan.reply_bytes))


def _write_sizes(write_bytes: ArrayLike) -> tuple[int, ...]:
    """Return the sizes as whole numbers; refuse what one request cannot be."""
    sizes = one_dimensional("write_bytes", as_float("write_bytes", write_bytes))
    if sizes.size > MAX_WRITES:
        raise DomainError("write_bytes", f"{sizes.size} writes", f"at most {MAX_WRITES}")
    for place, size in enumerate(sizes.tolist()):
        whole_number(f"write_bytes[{place}]", size, 1, MAX_TCP_BYTES)
    if sizes.sum() > MAX_TCP_BYTES:
        raise DomainError("write_bytes", f"{sizes.sum():.0f} in all", f"at most {MAX_TCP_BYTES}")
    return tuple(int(size) for size in sizes)


def _modes(modes: Sequence[str]) -> tuple[str, ...]:
    given = (modes,) if isinstance(modes, str) else tuple(modes)
    if not given:
        raise DomainError("modes", "empty", "at least one of " + ", ".join(MODES))
    for mode in given:
        choice("modes", mode, MODES)
    if len(set(given)) < len(given):
        raise DomainError("modes", ", ".join(given), "each mode once")
    for mode, needed in (("cork", "TCP_CORK"), ("more", "MSG_MORE")):
        if mode in given and not hasattr(socket, needed):
            raise ExperimentError(f"this system has no {needed}", phase="plan")
    return given


def _measure(
    run: Responses,
    plan: WritePlan,
    path: Path | None,
    pcap: str | os.PathLike[str] | None,
) -> None:
    run.facts.update(instrument.machine(), **instrument.timer())
    run.facts["rtt_s"] = 0.0  # of the path; the host's own time is in the samples
    if path is not None:
        packet_bytes = max(plan.sizes) + TCP_HEADERS_BYTES[plan.version]
        run.facts["rtt_s"] = float(path.rtt_s(packet_bytes))
    sysctls = {_AUTOCORKING: str(int(plan.autocorking))}
    with (
        place_of(
            run, path, mtu_bytes=LOOPBACK_MTU_BYTES, version=plan.version, sysctls=sysctls
        ) as place,
        taps_of(run, place) as taps,
    ):
        try:
            measure_writes(run, plan, place, taps)
        finally:
            save_capture(run, taps, pcap)


def measure_writes(run: Responses, plan: WritePlan, place: Place, taps: Sequence[Tap]) -> None:
    """Start the server and go through the modes, each on a connection of its own."""
    facts = run.facts
    facts.update(
        quickack=plan.quickack,
        write_bytes=list(plan.sizes),
        write_gap_s=plan.write_gap_s,
        interval_s=plan.interval_s,
        tick_s=instrument.tick_s(),
        autocorking=place.read_number(_AUTOCORKING),
        **{name: {} for name in ("counters", "nodelay", "ladder", "waits")},
    )
    with place.listener(socket.SOCK_STREAM) as listener:
        run.port = listener.getsockname()[1]
        settings = {
            "protocol": "rounds",
            "host": place.server_host,
            "port": run.port,
            "fd": listener.fileno(),
            "session": plan.session.hex(),
            "duration_s": MAX_DURATION_S + 30,
            "bytes": MAX_BYTES + 100_000_000,
            "message_bytes": plan.request_bytes,
            "reply_bytes": plan.reply_bytes,
            "quickack": plan.quickack,
        }
        with Peer(settings, stopping=run.stopping, passed=[listener.fileno()]) as peer:
            address = listener.getsockname()
            listener.close()  # the peer's alone now: nobody connects to a dead one
            facts.update({f"peer_{name}": value for name, value in peer.report.items()})
            try:
                for mode in plan.modes:
                    before = place.counters()
                    Rounds(run, plan, mode, taps).go(place, address)
                    facts["counters"][mode] = counted(grown(before, place.counters()), COUNTED)
            except (OSError, ExperimentError) as error:
                failure = run.failure(error) if isinstance(error, OSError) else error
                if (death := peer.death()) is not None:
                    failure = ExperimentError(
                        f"{failure.what}; {death}",
                        phase=failure.phase,
                        host=run.host,
                        port=run.port,
                    )
                raise failure from error
            finally:
                counts = peer.close()
                facts.update({f"peer_{name}_count": value for name, value in counts.items()})
