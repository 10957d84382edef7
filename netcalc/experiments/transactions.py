"""One request, one response: what a connection, its security and a fragment cost, by size."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import as_float, choice, one_dimensional
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.exchanges.responses import Responses, place_of, save_capture, taps_of
from netcalc.experiments.exchanges.transaction_run import STREAMS, TransactionPlan, Transactions
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import (
    MAX_COUNT,
    MAX_DURATION_S,
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

PROTOCOLS = ("ping", "udp", "tfo", "tcp", "tls")
"""What carries a transaction: TCP Fast Open is what T/TCP was, TLS is TLS 1.3 over TCP."""
BOOK_TRANSACTION_SIZES = (0, *range(100, 1501, 100), 1508, 1509, *range(1600, 2001, 100))
"""The sizes of Fig. A-4 to A-6; ping starts at 8 there, for its time stamp. [byte]"""
BOOK_MTU_BYTES = 1536
"""MTU of the book's loopback: 1508 bytes of UDP fit one packet, 1509 do not. [byte]"""
MAX_CONNECTIONS = 20_000
"""Connections of one run, at most: each keeps its port for a minute. [1]"""
HEADER_BYTES = {
    4: {"ping": 28, "udp": 28, "tfo": 52, "tcp": 52, "tls": 52},
    6: {"ping": 48, "udp": 48, "tfo": 72, "tcp": 72, "tls": 72},
}
"""Headers of each protocol by version of IP, those of TCP with its timestamps. [byte]"""
MIN_MTU_BYTES = {4: 576, 6: 1280}
"""Smallest loopback of a run, by version of IP. [byte]"""
_FASTOPEN = "net.ipv4.tcp_fastopen"
_LARGEST = {"ping": 65_507, "udp": 65_507, "tfo": 1 << 16, "tcp": 1 << 16, "tls": 1 << 16}


def transactions(
    payload_bytes: ArrayLike = BOOK_TRANSACTION_SIZES,
    *,
    protocols: Sequence[str] = PROTOCOLS,
    count: int = 10,
    host: str = "127.0.0.1",
    path: Path | None = None,
    mtu_bytes: int = BOOK_MTU_BYTES,
    timeout_s: float = 1.0,
    tap: bool = True,
    pcap: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> TransactionSamples:
    """Measure a request and a response of the same size, each on a socket of its own.

    Over TCP the client connects, writes, ends its side of the stream and reads to the end of the
    response; the server answers as soon as the request is complete. The time is that of the
    program: from before the first packet until the response is read. Beside it stands the time of
    a packet tap: from the first packet to the last one of the server.

    Parameters
    ----------
    payload_bytes : array_like
        Sizes of the request, and of the response: up to 65,507, over TCP 65,536. Below 8 only UDP
        can go; the others carry 8 instead, as the book's ping does. [byte]
    protocols : sequence of {'ping', 'udp', 'tfo', 'tcp', 'tls'}
        ``ping``: ICMP echo, answered by the kernel. ``udp``: a datagram, answered by a program.
        ``tfo``: TCP Fast Open, the request in the first segment. ``tcp``. ``tls``: TLS 1.3 over
        TCP, with a certificate made for the run.
    count : int
        Transactions of each size and protocol. [1]
    host : str
        Address on the loopback, of IPv4 or IPv6. In a namespace of the run's own, and over a path,
        its family counts.
    path : Path, optional
        An emulated path between client and server, each in a namespace of its own; without it
        both are on a loopback.
    mtu_bytes : int
        Largest packet of that loopback, 576 (over IPv6 1280) to 65,536; the book's had 1536.
        [byte]
    timeout_s : float
        How long a response is awaited, 0.001 to 60. [s]
    tap : bool
        Whether a packet tap takes its times, too. It costs each packet a copy.
    pcap : path, optional
        File that receives the heads of the packets, for other tools.
    progress : callable, optional
        Called as ``progress(done, total, response_s)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File that receives the samples: every few seconds, at the end, and if the run breaks off.

    Returns
    -------
    TransactionSamples
        One row a transaction, ``mode`` is the protocol. ``meta.instrument["counters"]`` has what
        the kernel counted, ``["packets"]`` how many packets a transaction took,
        ``["first_response_s"]`` the time of the first one, which is not among the rows: over Fast
        Open it fetches the cookie. ``["exchanges"]`` has, by protocol and size, the packets of the
        fastest transaction, and what each waited for.

    Raises
    ------
    DomainError
        If a size, protocol, count or time is not possible.
    ExperimentError
        If a limit would be passed, or the run breaks off; then ``partial`` has what was measured.

    Notes
    -----
    At most 100,000 transactions, 20,000 connections, 2 GB in both directions and 600 s.

    Ping, Fast Open, the tap and the MTU need a network namespace of the run; where the system
    allows none, they are left out, and ``meta.warnings`` says so. No setting of the host is
    changed; in the run's own namespace connections use Reno, which does not pace its segments.

    Examples
    --------
    >>> samples = transactions([8, 1400], protocols=["udp", "tcp"], count=2)
    >>> samples.modes, len(samples), int(samples.failed.sum())
    (('udp', 'tcp'), 8, 0)

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, appendix A.2, Fig. A-4 to A-8; RFC 7413; RFC 8446.
    """
    require_linux("its counters and its Fast Open")
    require_path(path)
    given = _protocols(protocols)
    address = loopback_address(host)
    least_bytes = MIN_MTU_BYTES[6 if ":" in address else 4]
    plan = TransactionPlan(
        sizes=_sizes(payload_bytes, given),
        protocols=given,
        count=whole_number("count", count, 1, MAX_COUNT),
        mtu_bytes=whole_number("mtu_bytes", mtu_bytes, least_bytes, 65_536),
        timeout_s=finite("timeout_s", timeout_s, 0.001, 60.0),
        tap=bool(tap) or pcap is not None,
        host=address,
    )
    require_bounded(
        probe_count=plan.transaction_count,
        carried_bytes=2 * sum(plan.sizes) * len(given) * plan.count,
        duration_s=_least_s(plan, path),
    )
    connections = len(set(given) & set(STREAMS)) * len(plan.sizes) * plan.count
    if connections > MAX_CONNECTIONS:
        raise ExperimentError(
            f"the run would take {connections:,} connections, at most {MAX_CONNECTIONS:,}",
            phase="plan",
            hint="Ask for fewer: each connection keeps its port for a minute",
        )
    require_writable(save)
    require_writable(pcap)
    with Stopping(stop, limit_s=MAX_DURATION_S) as stopping:
        run = Responses(
            tool="netcalc transactions",
            target="loopback" if path is None else "emulated path",
            total_count=plan.transaction_count,
            unit="transactions",
            host="",
            port=None,
            stopping=stopping,
            progress=progress,
            save=save,
            command=plan.command(BOOK_TRANSACTION_SIZES, path),
        )
        return finish(run, lambda: _measure(run, plan, path, pcap))


def _least_s(plan: TransactionPlan, path: Path | None) -> float:
    """Return the time of a datagram and its answer of each size, for an estimate of the run's."""
    if path is None:
        return 0.0
    packets = np.array(plan.sizes) + HEADER_BYTES[plan.version]["udp"]
    return float(path.rtt_s(packets).sum()) * len(plan.protocols) * plan.count


def _sizes(payload_bytes: ArrayLike, protocols: tuple[str, ...]) -> tuple[int, ...]:
    sizes = one_dimensional("payload_bytes", as_float("payload_bytes", payload_bytes))
    largest = min(_LARGEST[protocol] for protocol in protocols)
    for place, size in enumerate(sizes.tolist()):
        whole_number(f"payload_bytes[{place}]", size, 0, largest)
    return tuple(int(size) for size in sizes)


def _protocols(protocols: Sequence[str]) -> tuple[str, ...]:
    given = (protocols,) if isinstance(protocols, str) else tuple(protocols)
    if not given:
        raise DomainError("protocols", "empty", "at least one of " + ", ".join(PROTOCOLS))
    for protocol in given:
        choice("protocols", protocol, PROTOCOLS)
    if len(set(given)) < len(given):
        raise DomainError("protocols", ", ".join(given), "each protocol once")
    return given


def _measure(
    run: Responses,
    plan: TransactionPlan,
    path: Path | None,
    pcap: str | os.PathLike[str] | None,
) -> None:
    """Make the place, open the tap, and go through the protocols that are possible there."""
    run.facts.update(instrument.machine(), **instrument.timer())
    run.facts.update(warm_up_count=0, header_bytes=HEADER_BYTES[plan.version])
    for name in ("counters", "packets", "exchanges", "first_response_s"):
        run.facts[name] = {}
    # So long a connection's last packets are under way, which would hold up the next one's first.
    settle_s = 0.0 if path is None else float(path.rtt_s(HEADER_BYTES[plan.version]["tcp"]))
    run.facts["rtt_s"] = 0.0 if path is None else float(path.rtt_s(40))
    with (
        place_of(
            run, path, mtu_bytes=plan.mtu_bytes, version=plan.version, sysctls={_FASTOPEN: "3"}
        ) as place,
        taps_of(run, place, wanted=plan.tap) as taps,
    ):
        try:
            for protocol in plan.protocols:
                if protocol in ("ping", "tfo") and not place.own:
                    run.warnings.append(f"{protocol} is left out: it needs a namespace of its own")
                    run.total_count -= len(plan.sizes) * plan.count
                else:
                    Transactions(run, plan, place, taps, protocol, settle_s).go()
        finally:
            save_capture(run, taps, pcap)
