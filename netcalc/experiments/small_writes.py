"""Requests written in small parts: what Nagle's rule and a delayed acknowledgement make of them."""

from __future__ import annotations

import itertools
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import _instrument
from netcalc.experiments._exchange import limit_receive, peer_of
from netcalc.experiments._limits import (
    MAX_BYTES,
    MAX_COUNT,
    MAX_DURATION_S,
    MAX_TCP_BYTES,
    finite,
    require_bounded,
    require_processes,
    require_writable,
    whole_number,
)
from netcalc.experiments._peer import TAG_BYTES
from netcalc.experiments._process import Peer
from netcalc.experiments._responses import (
    CONNECT_S,
    Place,
    Responses,
    grown,
    place_of,
)
from netcalc.experiments._room import LOOPBACK_MTU_BYTES
from netcalc.experiments._run import Progress, finish
from netcalc.experiments._stopping import SLICE_S, Stop, Stopping
from netcalc.experiments._tap import Tap, ladder_rows
from netcalc.models._domain import as_float, choice, one_dimensional
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
TCP_HEADERS_BYTES = 52
"""Headers of IPv4 and of TCP with its timestamps. [byte]"""
COUNTED = ("DelayedACKs", "DelayedACKLost", "TCPAutoCorking", "TCPLossProbes", "TCPPureAcks")
"""Counters of the kernel that tell why a round took as long as it did."""
_clock = time.perf_counter_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """What was asked for, checked."""

    sizes: tuple[int, ...]
    modes: tuple[str, ...]
    count: int
    reply_bytes: int
    interval_s: float
    quickack: bool
    timeout_s: float
    session: bytes = field(default_factory=lambda: secrets.token_bytes(TAG_BYTES))

    @property
    def request_bytes(self) -> int:
        """User data of a request."""
        return sum(self.sizes)

    @property
    def round_count(self) -> int:
        """Rounds of the whole run."""
        return len(self.modes) * self.count

    def request(self) -> bytes:
        """Return a request: the session of the run, then anything."""
        return (self.session * (self.request_bytes // TAG_BYTES + 1))[: self.request_bytes]

    def pieces(self) -> list[bytes]:
        """Return the parts in which a request is written."""
        ends = np.cumsum([0, *self.sizes]).tolist()
        whole = self.request()
        return [whole[start:end] for start, end in itertools.pairwise(ends)]

    def command(self, path: Path | None) -> str:
        """Return the call that asks for this plan."""
        sizes = str(list(self.sizes))
        if len(self.sizes) > 32:
            sizes = f"[{self.sizes[0]}, ... {len(self.sizes)} writes ..., {self.sizes[-1]}]"
        return (
            f"small_writes({sizes}, modes={list(self.modes)}, count={self.count}, "
            f"reply_bytes={self.reply_bytes}, interval_s={self.interval_s:g}, "
            f"quickack={self.quickack}, timeout_s={self.timeout_s:g}"
            f"{'' if path is None else f', path={path}'})"
        )


def small_writes(
    write_bytes: ArrayLike = ARTICLE_WRITES,
    *,
    modes: Sequence[str] = ARTICLE_MODES,
    count: int = 10,
    reply_bytes: int = 13,
    interval_s: float = 0.0,
    quickack: bool = False,
    path: Path | None = None,
    timeout_s: float = 5.0,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> TransactionSamples:
    """Measure how long a request takes that is written in small parts, by the way of writing.

    A client writes a request over TCP, part by part, and waits for the response; a process of its
    own answers when the request is whole. Each mode has a connection of its own. The first round
    of a connection is marked as warm-up: the kernel acknowledges the first segments at once.

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
    quickack : bool
        The server asks the kernel before every read to acknowledge at once (TCP_QUICKACK).
    path : Path, optional
        An emulated path between client and server, each in a namespace of its own; without it
        both are on a loopback.
    timeout_s : float
        How long a response is awaited, 0.001 to 60. [s]
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
        grew: ``DelayedACKs`` proves what the times suggest; ``["ladder"]`` has the packets of the
        second round, seen by taps (:func:`netcalc.compare.ladder`). After a stop, a first Ctrl-C
        or the time limit, what was measured until then, marked as partial.

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
    ``meta.warnings`` says so.

    Examples
    --------
    >>> samples = small_writes(modes=["nodelay", "single"], count=3)
    >>> samples.modes, len(samples), int(samples.warm_up.sum())
    (('nodelay', 'single'), 6, 2)

    References
    ----------
    RFC 896 (Nagle's rule); RFC 1122, 4.2.3.2 (delayed acknowledgements).
    """
    require_processes()
    plan = WritePlan(
        sizes=_write_sizes(write_bytes),
        modes=_modes(modes),
        count=whole_number("count", count, 1, MAX_COUNT),
        reply_bytes=whole_number("reply_bytes", reply_bytes, 1, MAX_TCP_BYTES),
        interval_s=finite("interval_s", interval_s, 0.0, MAX_DURATION_S),
        quickack=bool(quickack),
        timeout_s=finite("timeout_s", timeout_s, 0.001, 60.0),
    )
    require_bounded(
        probe_count=plan.round_count,
        carried_bytes=plan.round_count * (plan.request_bytes + plan.reply_bytes),
        duration_s=plan.interval_s * (plan.round_count - 1),
    )
    require_writable(save)
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
        return finish(run, lambda: _measure(run, plan, path))


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


def _measure(run: Responses, plan: WritePlan, path: Path | None) -> None:
    run.facts.update(_instrument.machine(), **_instrument.timer())
    run.facts["rtt_s"] = 0.0  # of the path; the host's own time is in the samples
    if path is not None:
        run.facts["rtt_s"] = float(path.rtt_s(max(plan.sizes) + TCP_HEADERS_BYTES))
    with place_of(run, path, mtu_bytes=LOOPBACK_MTU_BYTES) as place:
        measure_writes(run, plan, place)


def measure_writes(run: Responses, plan: WritePlan, place: Place) -> None:
    """Start the server and go through the modes, each on a connection of its own."""
    facts = run.facts
    facts.update(
        quickack=plan.quickack, write_bytes=list(plan.sizes), counters={}, nodelay={}, ladder={}
    )
    facts["autocorking"] = _setting(place, "/proc/sys/net/ipv4/tcp_autocorking")
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
                    with _taps(place) as taps:
                        _rounds(run, plan, place, mode, address, taps)
                    counted = grown(before, place.counters())
                    facts["counters"][mode] = {n: counted.get(n, 0) for n in COUNTED}
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


@contextmanager
def _taps(place: Place) -> Iterator[list[Tap]]:
    """Open a packet tap at each end, or one that sees both; none on the host's loopback."""
    taps: list[Tap] = []
    try:
        if place.own:
            taps.append(place.tap(place.client))
            if place.server is not place.client:
                taps.append(place.tap(place.server))
        yield taps
    finally:
        for tap in taps:
            tap.close()


def _rounds(
    run: Responses,
    plan: WritePlan,
    place: Place,
    mode: str,
    address: tuple[str, int],
    taps: list[Tap],
) -> None:
    """Go through the rounds of one mode; the packets of the second one are kept as a ladder."""
    run.phase = "connect"
    with place.client.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.settimeout(CONNECT_S)
        sock.connect(address)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, mode == "nodelay")
        limit_receive(sock, SLICE_S)
        granted = _instrument.granted(sock)
        run.facts["nodelay"][mode] = granted.pop("nodelay")
        run.facts.update(granted)
        write = _writer(sock, mode, plan)
        view = memoryview(bytearray(plan.reply_bytes))
        run.phase = "round"
        sent_ns = 0
        with _instrument.collector_off():
            for sequence in range(1, plan.count + 1):
                if sent_ns and plan.interval_s:
                    run.pace(sent_ns, plan.interval_s)
                run.stopping.check()
                for tap in taps:
                    tap.read()
                begin_ns = time.time_ns()
                sent_ns = _clock()
                write()
                response_ns = _read(run, sock, view, sent_ns, plan.timeout_s)
                if any(view):
                    raise ExperimentError(
                        "the peer speaks another protocol", phase="round", **peer_of(sock)
                    )
                if taps and sequence == min(2, plan.count):
                    seen = [tap.read() for tap in taps]
                    run.facts["ladder"][mode] = ladder_rows(
                        seen[0], seen[-1], server=place.server_host, begin_ns=begin_ns
                    )
                run.add(
                    mode,
                    sequence,
                    payload_bytes=plan.request_bytes,
                    reply_bytes=plan.reply_bytes,
                    sent_ns=sent_ns,
                    response_ns=response_ns,
                    warm_up=sequence == 1,
                )


def _read(
    run: Responses, sock: socket.socket, view: memoryview, sent_ns: int, timeout_s: float
) -> int:
    """Read one response; return when it was whole, after the first write. [ns]"""
    have = 0
    while True:
        try:
            got = sock.recv_into(view[have:])
            now_ns = _clock()
        except BlockingIOError:
            got, now_ns = -1, _clock()
        if got == 0:
            raise ConnectionResetError("it closed the connection")
        have += max(got, 0)
        if have == len(view):
            return now_ns - sent_ns
        if now_ns - sent_ns > timeout_s * 1e9:
            raise ExperimentError(
                f"no response within {timeout_s:g} s",
                phase="round",
                hint="The peer hangs, or a firewall drops the packets",
                **peer_of(sock),
            )
        run.stopping.check()


def _writer(sock: socket.socket, mode: str, plan: WritePlan) -> Callable[[], Any]:
    """Return what writes a request in one of the ways."""
    pieces, whole = plan.pieces(), plan.request()
    if mode == "single":
        return lambda: sock.sendall(whole)
    if mode == "more":
        return lambda: _write_more(sock, pieces)
    if mode == "cork":
        return lambda: _write_corked(sock, pieces)
    if mode == "flush":
        return lambda: _write_and_flush(sock, pieces)
    return lambda: _write(sock, pieces)


def _write(sock: socket.socket, pieces: list[bytes]) -> None:
    for piece in pieces:
        sock.sendall(piece)


def _write_and_flush(sock: socket.socket, pieces: list[bytes]) -> None:
    """Write as a program with a stream does; flush empties the program's buffer, and none is."""
    with sock.makefile("wb", buffering=0) as stream:
        for piece in pieces:
            if (done := stream.write(piece) or 0) < len(piece):
                sock.sendall(piece[done:])
        stream.flush()


def _write_corked(sock: socket.socket, pieces: list[bytes]) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    _write(sock, pieces)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)


def _write_more(sock: socket.socket, pieces: list[bytes]) -> None:
    for piece in pieces[:-1]:
        sock.sendall(piece, socket.MSG_MORE)
    sock.sendall(pieces[-1])


def _setting(place: Place, path: str) -> int | None:
    """Read a whole number that the kernel shows; None where it has no such setting."""
    try:
        return int(place.client.read(path))
    except (OSError, ValueError):
        return None
