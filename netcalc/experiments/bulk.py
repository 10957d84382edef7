"""Bulk transfer from a source to a sink: TCP against UDP by write size, as in a book on sockets."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from netcalc.checks import choice, named_arguments
from netcalc.errors import DomainError
from netcalc.experiments.running import limits
from netcalc.experiments.running.run import Common, Progress
from netcalc.experiments.running.stopping import Stop
from netcalc.experiments.transfers.session import (
    MAX_TOGETHER,
    MAX_TOGETHER_BYTES,
    MAX_TRANSFERS,
    Placement,
    run_transfers,
)
from netcalc.experiments.transfers.transfer import Transfer
from netcalc.models.sizes.headers import UDP_HEADER_BYTES, ip_header_bytes
from netcalc.path import Path
from netcalc.samples import BulkSamples

BOOK_WRITES = (1440, 300)
"""The two sizes of Snader's tables 2.2 and 2.3. [byte]"""
MAX_WRITE_BYTES = 1 << 24
"""Largest write of a stream: the source holds one in memory. [byte]"""
MAX_LIMIT_S = 60.0
"""Longest transfer: a run has time for ten of them. [s]"""
BUFFER_ENDS = ("both", "receiver")
"""Ends whose socket buffer can be requested."""
_LEAST_MTU_BYTES = {4: 68, 6: 1280}  # RFC 791, RFC 8200


@named_arguments
def bulk(
    write_bytes: ArrayLike = BOOK_WRITES,
    *,
    protocol: str = "tcp",
    write_count: int = 5000,
    run_count: int = 5,
    buffer_bytes: ArrayLike | None = 32_768,
    buffer_end: str = "both",
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
    """Transfer data from a source to a sink on this machine: throughput, loss and CPU cost.

    Source and sink are separate processes. Each transfer has new sockets, whose buffers are set
    before they connect and listen. The settings alternate, so that a slow minute of the machine
    affects all of them.

    Parameters
    ----------
    write_bytes : array_like
        Sizes of the writes: for TCP up to 16 MiB, for UDP, where each is a datagram, up to 65,507
        (over IPv6 65,527). [byte]
    protocol : {'tcp', 'udp'}
        Protocol of the transfers.
    write_count : int
        Writes or datagrams of a transfer. [1]
    run_count : int
        Transfers with each setting. [1]
    buffer_bytes : array_like, optional
        Requested socket buffers (SO_SNDBUF, SO_RCVBUF), each combined with each size; None leaves
        them to the kernel, which tunes them for TCP. [byte]
    buffer_end : {'both', 'receiver'}
        Which ends have that buffer; ``'receiver'`` leaves the sender's to the kernel. [text]
    datagrams_per_call : int
        Datagrams per send call (UDP segmentation offload, UDP_SEGMENT), up to 64. [1]
    congestion_control : str
        Congestion control of TCP, such as ``'reno'``; empty leaves it to the system.
    limit_s : float
        Time limit of a transfer, 0.01 to 60. [s]
    host : str
        Loopback address, IPv4 or IPv6; with a path it selects the address family only.
    mtu_bytes : int, optional
        Run on a loopback of this MTU in a network namespace of its own; with a path, its MTU.
        [byte]
    path : Path, optional
        Path between source and sink, emulated on this machine.
    link_buffer_bytes : int, optional
        Buffer of each link of the path; by default twice the bandwidth-delay product. [byte]
    loss_ratio : float
        Packet loss of each link of the path, in both directions. [ratio]
    seed : int
        Random seed of the losses: the same seed drops the same packets.
    progress : callable, optional
        Called as ``progress(done, total, received_bytes)`` at most ten times a second and at
        the end; ``done`` includes the completed share of the current transfer.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every 2 s, at the end and on failure.

    Returns
    -------
    BulkSamples
        One row per transfer, with sent and received bytes and the time of each. After a stop, a
        first Ctrl-C or the time limit, the rows so far, the current transfer included, marked as
        partial.

    Raises
    ------
    DomainError
        If a size, count, time or choice is impossible.
    ExperimentError
        If the run would exceed a limit, the system does not grant the congestion control or the
        namespace, or the run fails; then ``partial`` has the samples so far.

    Notes
    -----
    At most 10,000 transfers, 20 GB and 600 s.

    The time of the source ends when its last write returns: over TCP the kernel then still holds
    data in its buffers. The kernel counts CPU time well in total, but divides that of a short run
    coarsely into user and system time.

    Linux grants twice the requested buffer, half of which is for its own records. The data in
    flight, ``window_bytes``, is read back from the kernel: over a path about the requested buffer.

    For a transfer longer than 0.1 s ``meta.instrument.intervals`` has the bytes received, ten
    times a second.

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
    common = Common(path=path, host=host, progress=progress, stop=stop, save=save)
    version = common.version
    placement = Placement(
        path=path,
        mtu_bytes=_checked_mtu_bytes(mtu_bytes, path, version),
        link_buffer_bytes=link_buffer_bytes,
        link_options=_link_losses(loss_ratio, seed, path),
    )
    choice("protocol", protocol, ("tcp", "udp"))
    most_bytes = MAX_WRITE_BYTES if protocol == "tcp" else limits.MAX_UDP_BYTES[version]
    sizes = limits.whole_numbers("write_bytes", write_bytes, 1, most_bytes)
    buffers: list[int | None] = [None]
    if buffer_bytes is not None:
        buffers = [*limits.whole_numbers("buffer_bytes", buffer_bytes, 1, 1 << 30)]
    pattern = Transfer(
        protocol=protocol,
        write_bytes=max(sizes),
        write_count=limits.whole_number("write_count", write_count, 1, limits.MAX_BULK_BYTES),
        buffer_end=choice("buffer_end", buffer_end, BUFFER_ENDS),
        limit_s=limits.finite("limit_s", limit_s, 0.01, MAX_LIMIT_S),
        datagrams_per_call=limits.whole_number(
            "datagrams_per_call", datagrams_per_call, 1, MAX_TOGETHER
        ),
        congestion_control=congestion_control,
        linger_s=placement.linger_s(max(sizes)),
    )
    _require_possible(pattern, placement.mtu_bytes, version)
    transfers = [
        replace(
            pattern,
            write_bytes=size,
            buffer_bytes=buffer,
            drain_s=placement.drain_s(buffer),
        )
        for _ in range(limits.whole_number("run_count", run_count, 1, MAX_TRANSFERS))
        for size in sizes
        for buffer in buffers
    ]
    command = (
        f"bulk({_argument(sizes)}, protocol={protocol!r}, write_count={write_count}, "
        f"run_count={run_count}, buffer_bytes={_argument(buffers)}, "
        f"buffer_end={buffer_end!r}, "
        f"datagrams_per_call={datagrams_per_call}, congestion_control={congestion_control!r}, "
        f"limit_s={limit_s:g}, host={common.address!r}, mtu_bytes={mtu_bytes}"
        + ("" if path is None else f", path={path!r}, link_buffer_bytes={link_buffer_bytes}")
        + (f", loss_ratio={loss_ratio:g}, seed={seed})" if loss_ratio else ")")
    )
    return run_transfers(
        transfers, placement, common, experiment="bulk", unit="transfers", command=command
    )


def _checked_mtu_bytes(mtu_bytes: int | None, path: Path | None, version: int) -> int | None:
    """Return the MTU as int; a loopback has a wider range than the devices of a path."""
    if mtu_bytes is None:
        return None
    low, high = (_LEAST_MTU_BYTES[version], 65_536) if path is None else (1280, 65_535)
    return limits.whole_number("mtu_bytes", mtu_bytes, low, high)


def _link_losses(loss_ratio: float, seed: int, path: Path | None) -> dict[str, Any]:
    """Return the losses as options of each link of the path."""
    loss_ratio = limits.finite("loss_ratio", loss_ratio, 0.0, 1.0)
    seed = limits.whole_number("seed", seed, 0, 1 << 32)
    if loss_ratio and path is None:
        raise DomainError("loss-needs-path", "loss_ratio", loss_ratio)
    return {} if path is None else {"loss_ratio": loss_ratio, "seed": seed}


def _require_possible(transfer: Transfer, mtu_bytes: int | None, version: int) -> None:
    """Refuse a combination that the protocol or the kernel does not allow."""
    if transfer.protocol == "udp" and transfer.congestion_control:
        raise DomainError("not-with-udp", "congestion_control", transfer.congestion_control)
    if transfer.datagrams_per_call == 1:
        return
    if transfer.protocol == "tcp":
        raise DomainError("not-with-tcp", "datagrams_per_call", transfer.datagrams_per_call)
    require_one_call(transfer.datagrams_per_call, transfer.write_bytes)
    most_bytes = (mtu_bytes or 1 << 16) - int(ip_header_bytes(version) + UDP_HEADER_BYTES)
    if mtu_bytes is not None and transfer.write_bytes > most_bytes:
        raise DomainError(
            "larger-than-mtu", "write_bytes", transfer.write_bytes,
            high=most_bytes, mtu_bytes=mtu_bytes,
        )  # fmt: skip


def require_one_call(datagrams_per_call: int, size_bytes: int) -> None:
    """Refuse more datagrams of a size than the kernel accepts in one call."""
    if datagrams_per_call * size_bytes > MAX_TOGETHER_BYTES:
        raise DomainError(
            "too-large-together", "datagrams_per_call", datagrams_per_call,
            high=MAX_TOGETHER_BYTES // size_bytes, size_bytes=size_bytes,
            limit_bytes=MAX_TOGETHER_BYTES,
        )  # fmt: skip


def _argument(values: Iterable[int | None]) -> str:
    """Write values as an argument: each once, a single one without a list."""
    distinct = list(dict.fromkeys(values))
    return str(distinct[0] if len(distinct) == 1 else distinct)
