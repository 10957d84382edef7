"""Transaction time by size: the cost of a connection, of TLS and of a fragment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import as_float, named_arguments, one_dimensional
from netcalc.errors import ExperimentError
from netcalc.experiments.exchanges.endpoints import open_endpoints, open_taps, save_capture
from netcalc.experiments.exchanges.responses import Responses
from netcalc.experiments.exchanges.transaction_run import STREAMS, TransactionPlan, Transactions
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import (
    MAX_COUNT,
    MAX_UDP_BYTES,
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
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.samples import TransactionSamples

PROTOCOLS = ("ping", "udp", "tfo", "tcp", "tls")
"""Protocols of a transaction: TCP Fast Open for the T/TCP of the book, TLS 1.3 over TCP."""
BOOK_TRANSACTION_SIZES = (0, *range(100, 1501, 100), 1508, 1509, *range(1600, 2001, 100))
"""The sizes of Fig. A-4 to A-6; ping starts at 8 there, for its time stamp. [byte]"""
BOOK_MTU_BYTES = 1536
"""MTU of the book's loopback: 1508 bytes of UDP fit one packet, 1509 do not. [byte]"""
MAX_CONNECTIONS = 20_000
"""Connections of one run, at most: each keeps its port for a minute, and Linux has 28,000. [1]"""
HEADER_BYTES = {
    4: {"ping": 28, "udp": 28, "tfo": 52, "tcp": 52, "tls": 52},
    6: {"ping": 48, "udp": 48, "tfo": 72, "tcp": 72, "tls": 72},
}
"""Headers of each protocol by version of IP; those of TCP with timestamps. [byte]"""
MIN_MTU_BYTES = {4: 576, 6: 1280}
"""Smallest MTU of the loopback, by version of IP. [byte]"""
_FASTOPEN = "net.ipv4.tcp_fastopen"
_LARGEST = dict.fromkeys(PROTOCOLS, 1 << 16) | dict.fromkeys(("ping", "udp"), MAX_UDP_BYTES[4])


@named_arguments
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
    """Measure a request and a response of the same size, each over a new socket.

    Over TCP the client connects, writes, ends its side of the stream and reads to the end of the
    response; the server answers as soon as the request is complete. The response time is that of
    the program, from before the first packet until the response is read. A packet tap gives a
    second time, from the first packet to the last one of the server.

    Parameters
    ----------
    payload_bytes : array_like
        Sizes of request and response: up to 65,507, over TCP 65,536. Below 8 bytes protocols other
        than UDP carry 8 instead, as the book's ping does. [byte]
    protocols : sequence of {'ping', 'udp', 'tfo', 'tcp', 'tls'}
        ``ping``: ICMP echo, answered by the kernel. ``udp``: a datagram, answered by a program.
        ``tfo``: TCP Fast Open, the request in the first segment. ``tcp``. ``tls``: TLS 1.3 over
        TCP, with a published test certificate.
    count : int
        Transactions of each size and protocol; the sizes alternate. [1]
    host : str
        Loopback address, IPv4 or IPv6. In a namespace of the run, and over a path, it selects the
        address family only.
    path : Path, optional
        Path between client and server, emulated on this machine; without it both are on a
        loopback.
    mtu_bytes : int
        MTU of that loopback, 576 (over IPv6 1280) to 65,536; the book's was 1536. [byte]
    timeout_s : float
        Response timeout, 0.001 to 60. [s]
    tap : bool
        Measure with a packet tap as well, which copies each packet.
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
        One row per transaction; ``mode`` is the protocol. ``meta.instrument.counters`` has the
        kernel's counters, ``packets`` the packets per transaction, ``first_response_s`` the time of
        the first transaction, which is not among the rows: over Fast Open it fetches the cookie.
        ``exchanges`` has, by protocol and size, the packets of the fastest transaction and the
        wait of each.

    Raises
    ------
    DomainError
        If a size, protocol, count or time is impossible.
    ExperimentError
        If the run would exceed a limit, or the run fails; then ``partial`` has the samples so far.

    Notes
    -----
    At most 100,000 transactions, 20,000 connections, 2 GB in both directions and 600 s.

    Ping, Fast Open, the tap and the MTU need a network namespace of the run; where the system
    permits none, they are left out with a warning. No setting of the host is changed; in the
    namespace connections use Reno, which does not pace its segments.

    Examples
    --------
    >>> samples = transactions([8, 1400], protocols=["udp", "tcp"], count=2)
    >>> samples.modes, len(samples), int(samples.failed.sum())
    (('udp', 'tcp'), 8, 0)

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, appendix A.2, Fig. A-4 to A-8; RFC 7413; RFC 8446.
    """
    require_linux("its counters and TCP Fast Open")
    require_path(path)
    given = distinct_choices("protocols", protocols, PROTOCOLS)
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
            "too-many-connections", phase="plan", count=connections, limit=MAX_CONNECTIONS
        )
    require_writable(pcap)
    make = partial(
        Responses,
        experiment="transactions",
        protocol=", ".join(given),
        target="loopback" if path is None else "emulated path",
        total_count=plan.transaction_count,
        unit="transactions",
        host="",
        command=plan.command(BOOK_TRANSACTION_SIZES, path),
    )
    measure = partial(_measure, plan=plan, path=path, pcap=pcap)
    return conduct(make, measure, progress=progress, stop=stop, save=save)


def _least_s(plan: TransactionPlan, path: Path | None) -> float:
    """Return the time of all transactions on a path, as datagrams. [s]"""
    if path is None:
        return 0.0
    packets = np.array(plan.sizes) + HEADER_BYTES[plan.version]["udp"]
    return float(path.rtt_s(packets).sum()) * len(plan.protocols) * plan.count


def _sizes(payload_bytes: ArrayLike, protocols: tuple[str, ...]) -> tuple[int, ...]:
    sizes = one_dimensional("payload_bytes", as_float("payload_bytes", payload_bytes))
    largest = min(_LARGEST[protocol] for protocol in protocols)
    for index, size in enumerate(sizes.tolist()):
        whole_number(f"payload_bytes[{index}]", size, 0, largest)
    return tuple(int(size) for size in sizes)


def _measure(
    run: Responses,
    plan: TransactionPlan,
    path: Path | None,
    pcap: str | os.PathLike[str] | None,
) -> None:
    """Open the ends and the taps, and measure every protocol that is possible there."""
    run.facts.update(instrument.machine(), **instrument.timer())
    run.facts.update(warm_up_count=0, header_bytes=HEADER_BYTES[plan.version])
    for name in ("counters", "packets", "exchanges", "first_response_s"):
        run.facts[name] = {}
    # The last packets of a connection take this long, and would delay the first of the next.
    settle_s = 0.0 if path is None else float(path.rtt_s(HEADER_BYTES[plan.version]["tcp"]))
    run.facts["rtt_s"] = 0.0 if path is None else float(path.rtt_s(40))
    with (
        open_endpoints(
            run, path, mtu_bytes=plan.mtu_bytes, version=plan.version, sysctls={_FASTOPEN: "3"}
        ) as endpoints,
        open_taps(run, endpoints, wanted=plan.tap) as taps,
    ):
        try:
            for protocol in plan.protocols:
                if protocol in ("ping", "tfo") and not endpoints.own:
                    run.warnings.append(Notice("left-out", {"protocol": protocol}))
                    run.total_count -= len(plan.sizes) * plan.count
                else:
                    Transactions(run, plan, endpoints, taps, protocol, settle_s).measure()
        finally:
            save_capture(run, taps, pcap)
