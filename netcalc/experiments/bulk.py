"""From a source to a sink: TCP against UDP by size of the write, as in a book on sockets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import as_float, choice, one_dimensional
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.running.limits import (
    MAX_BULK_BYTES,
    MAX_DURATION_S,
    finite,
    loopback_address,
    require_path,
    require_processes,
    require_writable,
    whole_number,
)
from netcalc.experiments.running.run import Progress, finish
from netcalc.experiments.running.stopping import Stop, Stopping
from netcalc.experiments.transfers.placement import both_ends, drain_s
from netcalc.experiments.transfers.transfer_run import Transfer, Transfers
from netcalc.models.sizes.headers import UDP_HEADER_BYTES, ip_header_bytes
from netcalc.path import Path
from netcalc.samples import BulkSamples
from netcalc.units import show

BOOK_WRITES = (1440, 300)
"""The two sizes of Snader's tables 2.2 and 2.3. [byte]"""
MAX_WRITE_BYTES = 1 << 24
"""Largest write of a stream. [byte]"""
MAX_TRANSFERS = 10_000
"""A run has at most this many transfers. [1]"""
LINGER_S = 0.05
"""A sink of datagrams gives up this long after the last one; on a path a round trip later. [s]"""
MAX_LIMIT_S = 60.0
"""Longest time of one transfer. [s]"""
MAX_TOGETHER = 64
"""Datagrams that the kernel takes in one call, at most. [1]"""
_UDP_LIMIT_BYTES = {4: 65_507, 6: 65_527}  # by version of IP: the payload that UDP can carry
_TOGETHER_BYTES = 65_507


def bulk(
    write_bytes: ArrayLike = BOOK_WRITES,
    *,
    protocol: str = "tcp",
    write_count: int = 5000,
    run_count: int = 5,
    buffer_bytes: ArrayLike | None = 32_768,
    datagrams_per_call: int = 1,
    congestion_control: str = "",
    limit_s: float = 10.0,
    host: str = "127.0.0.1",
    mtu_bytes: int | None = None,
    path: Path | None = None,
    link_buffer_bytes: int | None = None,
    loss_ratio: float = 0.0,
    seed: int = 0,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> BulkSamples:
    """Move many bytes from a source to a sink on this machine, and measure what that takes.

    Source and sink are processes of their own. Each transfer has new sockets, whose buffers are
    set before they connect and listen. The settings take turns, so that a slow minute of the
    machine falls on all of them.

    Parameters
    ----------
    write_bytes : array_like
        Sizes of the writes: for TCP up to 16 MiB, for UDP, where each is a datagram, up to 65,507
        (over IPv6 65,527). [byte]
    protocol : {'tcp', 'udp'}
        What carries them.
    write_count : int
        Writes or datagrams of a transfer. [1]
    run_count : int
        Transfers with each setting. [1]
    buffer_bytes : array_like, optional
        Send and receive buffers to ask for, each with each size; None leaves them to the kernel,
        which then adapts them for TCP. [byte]
    datagrams_per_call : int
        Datagrams that are handed to the kernel in one call (UDP_SEGMENT), up to 64. [1]
    congestion_control : str
        Rule of TCP, such as ``'reno'``; empty leaves it to the system.
    limit_s : float
        A transfer ends after this time with what it moved, 0.01 to 60. [s]
    host : str
        Address on the loopback, of IPv4 or IPv6; with a path, its address family counts.
    mtu_bytes : int, optional
        Run on a loopback of this MTU in a network namespace of its own; with a path, its MTU.
        [byte]
    path : Path, optional
        Run between two hosts with this path between them, emulated on this machine.
    link_buffer_bytes : int, optional
        What each link of the path holds; by default twice its bandwidth-delay product. [byte]
    loss_ratio : float
        Share of the packets that each link of the path loses, in both directions. [ratio]
    seed : int
        Of the losses: the same seed loses the same packets, counted from the first.
    progress : callable, optional
        Called as ``progress(done, total, received_bytes)`` at most ten times a second and at
        the end: what the run has moved so far, and ``done`` with the share of a transfer under way.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File that receives the samples: every few seconds, at the end, and if the run breaks off.

    Returns
    -------
    BulkSamples
        One row a transfer. What was sent and what arrived are kept apart, each with its time.
        After a stop, a first Ctrl-C or the time limit, what was measured until then, the transfer
        under way included, marked as partial.

    Raises
    ------
    DomainError
        If a size, count, time or choice is not possible.
    ExperimentError
        If a limit would be passed, the system does not grant the congestion control or the
        namespace, or the run breaks off; then ``partial`` has what was measured.

    Notes
    -----
    At most 10,000 transfers, 20 GB and 600 s.

    The time of the source ends when its last write returns: over TCP the kernel then still holds
    what fits its buffers. The kernel counts processor time well as a sum; how it divides a short
    run into user and system time is coarse.

    Linux grants twice the buffer that is asked for, as half of it is for its own records. What was
    in flight at once, ``window_bytes``, is read back from the kernel: over a path about as much as
    was asked for.

    Of a transfer that takes longer than a tenth of a second ``meta.instrument["intervals"]`` has
    what the sink had received, ten times a second.

    Examples
    --------
    >>> samples = bulk(1440, write_count=100, run_count=2)
    >>> len(samples), samples.received_bytes.tolist()
    (2, [144000.0, 144000.0])

    References
    ----------
    Snader, Effective TCP/IP Programming, tip on TCP against UDP (tables 2.2 and 2.3: 5000 writes,
    buffers of 32 KiB, 50 runs).
    """
    require_processes()
    require_path(path)
    address = loopback_address(host)
    version = 6 if ":" in address else 4
    if mtu_bytes is not None:
        smallest = 68 if path is None and version == 4 else 1280
        largest = 65_536 if path is None else 65_535
        mtu_bytes = whole_number("mtu_bytes", mtu_bytes, smallest, largest)
    if link_buffer_bytes is not None:
        link_buffer_bytes = whole_number("link_buffer_bytes", link_buffer_bytes, 1, 1 << 30)
    loss_ratio = finite("loss_ratio", loss_ratio, 0.0, 1.0)
    if loss_ratio and path is None:
        raise DomainError("loss_ratio", loss_ratio, "0 on a loopback", hint="A path has losses")
    seed = whole_number("seed", seed, 0, 1 << 32)
    transfers = planned(
        write_bytes,
        version=version,
        protocol=protocol,
        write_count=write_count,
        run_count=run_count,
        buffer_bytes=buffer_bytes,
        datagrams_per_call=datagrams_per_call,
        congestion_control=congestion_control,
        limit_s=limit_s,
        mtu_bytes=mtu_bytes,
        path=path,
        link_buffer_bytes=link_buffer_bytes,
    )
    sizes = _listed(dict.fromkeys(transfer.write_bytes for transfer in transfers))
    buffers = _listed(dict.fromkeys(transfer.buffer_bytes for transfer in transfers))
    command = (
        f"bulk({sizes}, protocol={protocol!r}, write_count={write_count}, run_count={run_count}, "
        f"buffer_bytes={buffers}, datagrams_per_call={datagrams_per_call}, "
        f"congestion_control={congestion_control!r}, limit_s={limit_s:g}, host={address!r}, "
        f"mtu_bytes={mtu_bytes}"
        + ("" if path is None else f", path={path!r}, link_buffer_bytes={link_buffer_bytes}")
        + (f", loss_ratio={loss_ratio:g}, seed={seed})" if loss_ratio else ")")
    )
    require_writable(save)
    with Stopping(stop, limit_s=MAX_DURATION_S) as stopping:
        run = Transfers(
            tool="netcalc bulk",
            target=f"{'loopback' if path is None else 'emulated path'}, {protocol.upper()}",
            total_count=len(transfers),
            unit="transfers",
            host=address,
            port=None,
            stopping=stopping,
            progress=progress,
            save=save,
            command=command,
        )
        return finish(
            run,
            lambda: moved(
                run,
                transfers,
                mtu_bytes=mtu_bytes,
                path=path,
                link_buffer_bytes=link_buffer_bytes,
                loss_ratio=loss_ratio,
                seed=seed,
            ),
        )


def planned(
    write_bytes: ArrayLike,
    *,
    version: int,
    protocol: str,
    write_count: int,
    run_count: int,
    buffer_bytes: ArrayLike | None,
    datagrams_per_call: int,
    congestion_control: str,
    limit_s: float,
    mtu_bytes: int | None,
    path: Path | None,
    link_buffer_bytes: int | None,
) -> list[Transfer]:
    """Return the transfers of a run in the order in which they are done, all checked."""
    choice("protocol", protocol, ("tcp", "udp"))
    most = MAX_WRITE_BYTES if protocol == "tcp" else _UDP_LIMIT_BYTES[version]
    sizes = whole_numbers("write_bytes", write_bytes, 1, most)
    count = whole_number("write_count", write_count, 1, MAX_BULK_BYTES)
    runs = whole_number("run_count", run_count, 1, MAX_TRANSFERS)
    limit = finite("limit_s", limit_s, 0.01, MAX_LIMIT_S)
    buffers: list[int | None] = [None]
    if buffer_bytes is not None:
        buffers = [*whole_numbers("buffer_bytes", buffer_bytes, 1, 1 << 30)]
    together = whole_number("datagrams_per_call", datagrams_per_call, 1, MAX_TOGETHER)
    if together > 1:
        headers_bytes = int(ip_header_bytes(version) + UDP_HEADER_BYTES)
        _require_together(together, sizes, protocol, mtu_bytes, headers_bytes)
    if congestion_control and protocol == "udp":
        raise DomainError(
            "congestion_control", repr(congestion_control), "empty for UDP, which has none"
        )
    linger_s = LINGER_S if path is None else LINGER_S + float(path.rtt_s(max(sizes)))
    transfers = [
        Transfer(
            protocol=protocol,
            write_bytes=size,
            write_count=count,
            limit_s=limit,
            buffer_bytes=buffer,
            datagrams_per_call=together,
            congestion_control=congestion_control,
            linger_s=linger_s,
            drain_s=drain_s(path, buffer, link_buffer_bytes),
        )
        for _ in range(runs)
        for size in sizes
        for buffer in buffers
    ]
    require_bounded_transfers(transfers)
    return transfers


def require_bounded_transfers(transfers: Sequence[Transfer]) -> None:
    """Refuse a run that would go beyond a limit, with the estimate."""
    carried_bytes = sum(
        transfer.write_bytes * transfer.write_count
        for transfer in transfers
        if not transfer.endless
    )
    duration_s = sum(transfer.limit_s for transfer in transfers if transfer.endless)
    if duration_s > MAX_DURATION_S:
        found, most = show(duration_s, "s"), show(MAX_DURATION_S, "s")
    elif len(transfers) > MAX_TRANSFERS:
        found, most = f"{len(transfers):,} transfers", f"{MAX_TRANSFERS:,}"
    elif carried_bytes > MAX_BULK_BYTES:
        found, most = show(carried_bytes, "byte"), show(MAX_BULK_BYTES, "byte")
    else:
        return
    raise ExperimentError(
        f"the run would take {found}, at most {most} are allowed",
        phase="plan",
        hint="Ask for fewer, smaller or fewer sizes of writes, or fewer runs",
    )


def moved(run: Transfers, transfers: Sequence[Transfer], **between: Any) -> None:
    """Do the transfers, one after the other; ``between`` as in :func:`both_ends`."""
    with both_ends(run, **between) as ends:
        for transfer in transfers:
            run.stopping.check()
            ends.move(transfer)


def whole_numbers(name: str, values: ArrayLike, low: int, high: int) -> list[int]:
    """Return a list of whole numbers; refuse a fraction and what is outside ``[low, high]``."""
    array = np.atleast_1d(one_dimensional(name, np.atleast_1d(as_float(name, values))))
    return [whole_number(name, value, low, high) for value in array.tolist()]


def _require_together(
    together: int, sizes: Sequence[int], protocol: str, mtu_bytes: int | None, headers_bytes: int
) -> None:
    """Refuse datagrams that the kernel does not take in one call."""
    if protocol == "tcp":
        raise DomainError("datagrams_per_call", together, "1 for TCP, which has no datagrams")
    largest = max(sizes)
    if together * largest > _TOGETHER_BYTES:
        most = _TOGETHER_BYTES // largest
        raise DomainError(
            "datagrams_per_call", together, f"at most {most} of {largest} bytes",
            hint=f"One call takes {_TOGETHER_BYTES} bytes of datagrams",
        )  # fmt: skip
    if mtu_bytes is not None and largest + headers_bytes > mtu_bytes:
        raise DomainError(
            "write_bytes", largest, f"at most {mtu_bytes - headers_bytes} for this MTU",
            hint="Datagrams that are handed over together are not fragmented",
        )  # fmt: skip


def _listed(values: dict[int, None] | dict[int | None, None]) -> str:
    found = list(values)
    return str(found[0] if len(found) == 1 else found)
