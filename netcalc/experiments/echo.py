"""Round trips against size: the ping experiment of a book, over UDP or TCP on the loopback."""

from __future__ import annotations

import os
import socket

from numpy.typing import ArrayLike

from netcalc.errors import ExperimentError
from netcalc.experiments import _instrument
from netcalc.experiments._exchange import Exchange, TcpExchange, UdpExchange
from netcalc.experiments._limits import (
    MAX_BYTES,
    MAX_COUNT,
    MAX_DURATION_S,
    finite,
    loopback_address,
    payload_sizes,
    require_bounded,
    require_processes,
    require_writable,
    whole_number,
)
from netcalc.experiments._process import Peer
from netcalc.experiments._run import Plan, Progress, Run, finish
from netcalc.experiments._stopping import Stop, Stopping
from netcalc.models._domain import choice
from netcalc.samples import RttSamples

BOOK_SIZES = (8, *range(100, 1401, 100))
"""The 15 sizes of Stevens, TCP/IP Illustrated vol. 3, appendix A. [byte]"""
CONNECT_S = 5.0
"""Time limit of a connection to the peer. [s]"""


def echo(
    payload_bytes: ArrayLike = BOOK_SIZES,
    *,
    protocol: str = "udp",
    count: int = 10,
    interval_s: float = 0.0,
    timeout_s: float = 1.0,
    host: str = "127.0.0.1",
    port: int = 0,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> RttSamples:
    """Measure round trips to a process of its own on this machine, size by size.

    Each probe waits for the reply to the one before. A few exchanges before each size are warm-up
    and not among the samples. A probe is lost if no reply comes within ``timeout_s``; a reply that
    comes later is counted, never taken for another one.

    Parameters
    ----------
    payload_bytes : array_like
        Sizes of the probes, each sent ``count`` times: user data of a datagram, 0 to 65,507 (over
        IPv6 65,527), or of a TCP message, 8 to 1 MiB. [byte]
    protocol : {'udp', 'tcp'}
        Datagrams, or messages over one connection without Nagle's delay.
    count : int
        Probes of each size. [1]
    interval_s : float
        Time from one probe to the next, at least; 0 sends at once. [s]
    timeout_s : float
        How long a reply is awaited, 0.001 to 60. [s]
    host : str
        Address on the loopback, of IPv4 or IPv6.
    port : int
        Port of the peer; with 0 the kernel picks a free one. [1]
    progress : callable, optional
        Called as ``progress(done, total, rtt_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File that receives the samples: every few seconds, at the end, and if the run breaks off.

    Returns
    -------
    RttSamples
        One row a probe, one a duplicate. ``meta.instrument`` has the error of the run itself,
        ``meta.warnings`` what makes it doubtful. After a stop, a first Ctrl-C or the time limit,
        what was measured until then: ``meta.partial`` is True, ``meta.instrument["ended_by"]``
        says why. A second Ctrl-C raises KeyboardInterrupt at once.

    Raises
    ------
    DomainError
        If a size, count, time or port is not possible.
    ExperimentError
        If the target is not the loopback, a limit would be passed, or the run breaks off; then
        ``partial`` has what was measured.

    Notes
    -----
    At most 100,000 probes, 2 GB in both directions and 600 s.

    Client and peer share one processor where the system lets them: the times are then those of the
    calls and of the kernel's path, without the wake-up of another processor from its sleep.

    A datagram of 8 bytes or more carries a sequence number and a number of the run. A shorter one
    is told from others by its port: it has a socket of its own, which costs nothing visible.

    Examples
    --------
    >>> samples = echo([8, 1400], count=3)
    >>> samples.sent, samples.meta.tool, samples.meta.partial
    (6, 'netcalc echo', False)

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, appendix A.2 (15 sizes, 10 probes each).
    """
    require_processes()
    protocol = choice("protocol", protocol, ("udp", "tcp"))
    address = loopback_address(host)
    plan = Plan(
        sizes=payload_sizes(payload_bytes, protocol=protocol, host=address),
        count=whole_number("count", count, 1, MAX_COUNT),
        protocol=protocol,
        host=address,
        port=whole_number("port", port, 0, 65_535),
        interval_s=finite("interval_s", interval_s, 0.0, MAX_DURATION_S),
        timeout_s=finite("timeout_s", timeout_s, 0.001, 60.0),
    )
    require_bounded(
        probe_count=plan.probe_count,
        carried_bytes=plan.carried_bytes,
        duration_s=plan.interval_s * (plan.probe_count - 1),
    )
    require_writable(save)
    with Stopping(stop, limit_s=MAX_DURATION_S) as stopping:
        run = Run(
            plan,
            stopping=stopping,
            progress=progress,
            save=save,
            command=plan.command(BOOK_SIZES),
        )
        return finish(run, lambda: with_own_peer(run))


def with_own_peer(run: Run) -> None:
    """Note the error of the instrument, start a peer on the same processor, send the probes."""
    plan, facts = run.plan, run.facts
    facts.update(_instrument.machine(), **_instrument.loopback(), **_instrument.timer())
    facts["address_family"] = "IPv6" if ":" in plan.host else "IPv4"
    settings = {
        "protocol": plan.protocol,
        "host": plan.host,
        "port": plan.port,
        "session": plan.session.hex(),
        "duration_s": MAX_DURATION_S + 30,
        "bytes": MAX_BYTES + 100_000_000,
        "message_bytes": max(plan.sizes),
    }
    with _instrument.one_processor() as processor:
        facts["shared_processor"] = processor
        run.measure_own_error()
        with Peer(settings, stopping=run.stopping) as peer:
            facts.update({f"peer_{name}": value for name, value in peer.report.items()})
            facts["exchange_call_s"] = _instrument.exchange_call_s(plan.host)
            try:
                probe_at(run, (plan.host, peer.port))
            except ExperimentError as error:
                if (death := peer.death()) is None:
                    raise
                raise ExperimentError(
                    f"{error.what}; {death}", phase=error.phase, host=plan.host, port=peer.port
                ) from error
            finally:
                counts = peer.close()
                facts.update({f"peer_{name}_count": value for name, value in counts.items()})
        run.measure_own_error()


def probe_at(run: Run, address: tuple[str, int]) -> None:
    """Send the probes of a run to whoever echoes at an address."""
    run.phase, run.port = "connect", address[1]
    try:
        exchange = connected(run, address)
    except OSError as error:
        raise run.failure(error) from error
    try:
        run.probe(exchange)
    finally:
        exchange.close()


def connected(run: Run, address: tuple[str, int]) -> Exchange:
    """Open the sockets of a run, and note what the kernel granted."""
    plan = run.plan
    if plan.protocol == "udp":
        with open_udp(address) as sock:
            run.facts.update(_instrument.granted(sock))
        return UdpExchange(
            lambda: open_udp(address),
            plan.session,
            timeout_s=plan.timeout_s,
            stopping=run.stopping,
        )
    sock = open_tcp(address)
    try:
        run.facts.update(_instrument.granted(sock))
        return TcpExchange(
            sock,
            plan.session,
            largest_bytes=max(plan.sizes),
            timeout_s=plan.timeout_s,
            stopping=run.stopping,
        )
    except BaseException:
        sock.close()
        raise


def open_udp(address: tuple[str, int]) -> socket.socket:
    """Open a datagram socket that hears one address only."""
    sock = socket.socket(_family(address), socket.SOCK_DGRAM)
    try:
        sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return sock


def open_tcp(address: tuple[str, int]) -> socket.socket:
    """Open a connection without Nagle's delay."""
    sock = socket.socket(_family(address), socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(CONNECT_S)
        sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return sock


def _family(address: tuple[str, int]) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address[0] else socket.AF_INET
