"""Data from a source to a sink: bulk transfers, packet rates, and stop-and-wait senders.

Bulk transfers compare TCP with UDP by write size, as in a book on sockets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from netcalc.checks import choice, named_arguments
from netcalc.errors import DomainError
from netcalc.experiments import transfer
from netcalc.experiments.far_transfer import DIRECTIONS, far_ends
from netcalc.experiments.peers.remote import FarPeer
from netcalc.experiments.running import limits, record, stopping
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
FAR_LINGER_S, FAR_DRAIN_S = 0.3, 5.0
"""Time without a datagram after which a sink of two machines stops: a queue on the way may hold
it so long; and the longest time for what was sent to arrive. [s]"""
PASSING = "handing sockets to another process"
"""For what a run on one machine requires Linux."""
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
    peer: FarPeer | None = None,
    direction: str = "forward",
    mtu_bytes: int | None = None,
    path: Path | None = None,
    link_buffer_bytes: int | None = None,
    loss_ratio: float = 0.0,
    seed: int = 0,
    progress: record.Progress | None = None,
    stop: stopping.Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> BulkSamples:
    """Transfer data from a source to a sink: throughput, loss and CPU cost.

    Both are on this machine; with a peer, the second one is on the peer's.

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
    peer : Peer, optional
        A second machine, on which ``netcalc peer`` runs.
    direction : {'forward', 'back', 'both'}
        To the peer, from it, or both at once, which makes two rows. [text]
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
        File to save the samples to: written every second, at the end and on failure.

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
    data in its buffers. The kernel counts CPU time well in total, but divides the time of a short
    run coarsely into user and system time.

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
    common = record.Common(
        path=path, host=host, peer=peer, progress=progress, stop=stop, save=save,
        linux_for=PASSING,
    )  # fmt: skip
    require_alone(peer, direction, mtu_bytes=mtu_bytes)
    version = common.version
    placement = transfer.Placement(
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
    pattern = transfer.Transfer(
        protocol=protocol,
        write_bytes=max(sizes),
        write_count=limits.whole_number("write_count", write_count, 1, limits.MAX_BULK_BYTES),
        buffer_end=choice("buffer_end", buffer_end, BUFFER_ENDS),
        limit_s=limits.finite("limit_s", limit_s, 0.01, MAX_LIMIT_S),
        datagrams_per_call=limits.whole_number(
            "datagrams_per_call", datagrams_per_call, 1, transfer.MAX_TOGETHER
        ),
        congestion_control=congestion_control,
        linger_s=FAR_LINGER_S if peer else placement.linger_s(max(sizes)),
    )
    _require_possible(pattern, placement.mtu_bytes, version)
    transfers = [
        replace(
            pattern,
            write_bytes=size,
            buffer_bytes=buffer,
            drain_s=FAR_DRAIN_S if peer else placement.drain_s(buffer),
        )
        for _ in range(limits.whole_number("run_count", run_count, 1, transfer.MAX_TRANSFERS))
        for size in sizes
        for buffer in buffers
    ]
    losses = {"loss_ratio": loss_ratio, "seed": seed} if loss_ratio else {}
    command = record.written_call(
        "bulk", _argument(sizes), protocol=protocol, write_count=write_count, run_count=run_count,
        buffer_bytes=_argument(buffers), buffer_end=buffer_end,
        datagrams_per_call=datagrams_per_call, congestion_control=congestion_control,
        limit_s=limit_s, **_where(common, direction, host=common.address, mtu_bytes=mtu_bytes),
        **_placement_arguments(placement), **losses,
    )  # fmt: skip
    return transfer.run_transfers(
        transfers, *_ends(common, placement, direction), common,
        experiment="bulk", unit="transfers", command=command,
    )  # fmt: skip


Ends = Callable[[transfer.Transfers], AbstractContextManager[transfer.TransferEnds]]


def _ends(common: record.Common, placement: transfer.Placement, direction: str) -> tuple[str, Ends]:
    """Return where a run goes, and the function that starts both ends."""
    if common.peer is None:
        return placement.name, partial(transfer.both_ends, placement=placement)
    return common.place, partial(far_ends, peer=common.peer, direction=direction)


def require_alone(peer: FarPeer | None, direction: str, **options: object) -> None:
    """Refuse a direction without a peer, and a peer with an option of this machine."""
    choice("direction", direction, tuple(DIRECTIONS))
    if peer is None and direction != "forward":
        raise DomainError("direction-needs-peer", "direction", direction)
    for name, value in options.items():
        if peer is not None and value:
            raise DomainError("not-with-peer", name, value)


def _where(common: record.Common, direction: str, **options: Any) -> dict[str, Any]:
    """Return where a run goes as arguments of a call; a token is not among them."""
    if common.peer is None:
        return options
    return {"peer": common.peer, "direction": direction}


def _checked_mtu_bytes(mtu_bytes: int | None, path: Path | None, version: int) -> int | None:
    """Return the MTU as int; a loopback has a wider range than the devices of a path."""
    low, high = (_LEAST_MTU_BYTES[version], 65_536) if path is None else (1280, 65_535)
    return limits.whole_or_none("mtu_bytes", mtu_bytes, low, high)


def _link_losses(loss_ratio: float, seed: int, path: Path | None) -> dict[str, Any]:
    """Return the losses as options of each link of the path."""
    loss_ratio = limits.finite("loss_ratio", loss_ratio, 0.0, 1.0)
    seed = limits.whole_number("seed", seed, 0, 1 << 32)
    if loss_ratio and path is None:
        raise DomainError("loss-needs-path", "loss_ratio", loss_ratio)
    return {} if path is None else {"loss_ratio": loss_ratio, "seed": seed}


def _require_possible(plan: transfer.Transfer, mtu_bytes: int | None, version: int) -> None:
    """Refuse a combination that the protocol or the kernel does not allow."""
    if plan.protocol == "udp" and plan.congestion_control:
        raise DomainError("not-with-udp", "congestion_control", plan.congestion_control)
    if plan.datagrams_per_call == 1:
        return
    if plan.protocol == "tcp":
        raise DomainError("not-with-tcp", "datagrams_per_call", plan.datagrams_per_call)
    limits.require_linux("several datagrams in one call (UDP_SEGMENT)")
    require_one_call(plan.datagrams_per_call, plan.write_bytes)
    most_bytes = (mtu_bytes or 1 << 16) - int(ip_header_bytes(version) + UDP_HEADER_BYTES)
    if mtu_bytes is not None and plan.write_bytes > most_bytes:
        raise DomainError(
            "larger-than-mtu", "write_bytes", plan.write_bytes,
            high=most_bytes, mtu_bytes=mtu_bytes,
        )  # fmt: skip


def require_one_call(datagrams_per_call: int, size_bytes: int) -> None:
    """Refuse more datagrams of a size than the kernel accepts in one call."""
    if datagrams_per_call * size_bytes > transfer.MAX_TOGETHER_BYTES:
        raise DomainError(
            "too-large-together", "datagrams_per_call", datagrams_per_call,
            high=transfer.MAX_TOGETHER_BYTES // size_bytes, size_bytes=size_bytes,
            limit_bytes=transfer.MAX_TOGETHER_BYTES,
        )  # fmt: skip


def _argument(values: Iterable[int | None]) -> object:
    """Return values as an argument: each once, a single value without a list."""
    distinct = list(dict.fromkeys(values))
    return distinct[0] if len(distinct) == 1 else distinct


TESTER_FRAMES = (64, 128, 256, 512, 1024, 1280, 1518)
"""Frame sizes with FCS that testers use for Ethernet, RFC 2544 section 9.1. [byte]"""
FRAME_OVERHEAD_BYTES = 46
"""Headers of a frame: Ethernet 14 and FCS 4, IPv4 20, UDP 8. [byte]"""
WIRE_OVERHEAD_BYTES = 38
"""Overhead of a packet on an Ethernet line: header 14, FCS 4, preamble 8, gap 12. [byte]"""
BOX_INPUT_PACKETS = 50
"""Input queue of an emulated node, as in BSD (IFQ_MAXLEN). [packet]"""
MAX_PAIRS = 32
"""Stop-and-wait connections at once: one program serves them all, and is itself the limit. [1]"""
MAX_LOCKSTEP_BYTES = 65_536
"""Largest message or response of a stop-and-wait connection: fits a socket buffer. [byte]"""
_MIN_FRAME, _MAX_FRAME = 64, 9018
_MTU_BYTES, _FRAMING_BYTES = 1500, 18
ENDLESS_COUNT = 1 << 40


@named_arguments
def line_rate(
    frame_bytes: ArrayLike = TESTER_FRAMES,
    *,
    duration_s: float = 0.2,
    run_count: int = 3,
    datagrams_per_call: int = 1,
    buffer_bytes: int | None = None,
    peer: FarPeer | None = None,
    direction: str = "forward",
    routed: bool = False,
    path: Path | None = None,
    input_packets: int | None = BOX_INPUT_PACKETS,
    link_buffer_bytes: int | None = None,
    progress: record.Progress | None = None,
    stop: stopping.Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> BulkSamples:
    """Send datagrams at full speed, size by size: packet rate, and where packets are dropped.

    On loopback there is no line: the sender or the receiver is the limit, and the samples show
    which. With ``routed`` a third namespace forwards every packet between two others, as a software
    router. Over a path with a processing time per packet and a line rate the limits are known.

    Parameters
    ----------
    frame_bytes : array_like
        Ethernet frame sizes with FCS that correspond to the datagrams, 64 to 9018. [byte]
    duration_s : float
        Duration of each run, 0.01 to 10. [s]
    run_count : int
        Runs of each size; the sizes alternate. [1]
    datagrams_per_call : int
        Datagrams per send call (UDP segmentation offload, UDP_SEGMENT), up to 64. [1]
    buffer_bytes : int, optional
        Requested socket buffers (SO_SNDBUF, SO_RCVBUF); None leaves them to the kernel. [byte]
    peer : Peer, optional
        A second machine, on which ``netcalc peer`` runs.
    direction : {'forward', 'back', 'both'}
        To the peer, from it, or both at once, which makes two rows. [text]
    routed : bool
        Run between two network namespaces, with a third that routes between them.
    path : Path, optional
        Path between the two ends, emulated on this machine. Its lines are Ethernet, with 38 bytes
        of overhead per packet: ``Path.parse("1 Gbit/s, 10 Mbit/s", processing_s=1 / 2000)`` has a
        node that forwards 2000 packets per second onto 10 Mbit/s.
    input_packets : int, optional
        Input queue of each node of the path; None is unbounded. [packet]
    link_buffer_bytes : int, optional
        Buffer of each link of the path; by default twice the bandwidth-delay product. [byte]
    progress : callable, optional
        Called as ``progress(done, total, received_bytes)`` at most ten times a second and at
        the end; ``done`` includes the completed share of the current transfer.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every second, at the end and on failure.

    Returns
    -------
    BulkSamples
        One row per run; ``write_bytes`` is the datagram, 46 bytes less than its frame. Drops are
        counted where they happen, and ``limit`` names the bottleneck: where it is the sender,
        the rest of the path may carry more.

    Raises
    ------
    DomainError
        If a size, count or time is impossible, or ``routed`` is combined with a path.
    ExperimentError
        If the run would exceed a limit, the system refuses namespaces, or the run fails; then
        ``partial`` has the samples so far.

    Notes
    -----
    At most 10,000 runs, 20 GB and 600 s; no option raises these limits. At 20 GB the experiment
    ends, marked as partial. The rate is not limited: the packets stay on this machine, or go to a
    peer whose user has agreed, and may limit it. There is no flow control: the receiver drops what
    it cannot process.

    Examples
    --------
    >>> samples = line_rate([64, 1518], duration_s=0.01, run_count=1)
    >>> samples.write_bytes.tolist()
    [18.0, 1472.0]

    References
    ----------
    RFC 2544, section 26.1; RFC 5180, appendix A.
    """
    common = record.Common(
        path=path, peer=peer, progress=progress, stop=stop, save=save, linux_for=PASSING
    )
    require_alone(peer, direction, routed=routed)
    overhead_bytes = frame_overhead_bytes(common.version)
    least_bytes = max(_MIN_FRAME, overhead_bytes + 1)
    frames = limits.whole_numbers("frame_bytes", frame_bytes, least_bytes, _MAX_FRAME)
    together = limits.whole_number(
        "datagrams_per_call", datagrams_per_call, 1, transfer.MAX_TOGETHER
    )
    largest_bytes = max(frames) - overhead_bytes
    require_one_call(together, largest_bytes)
    buffer = limits.whole_or_none("buffer_bytes", buffer_bytes, 1, 1 << 30)
    input_packets = limits.whole_or_none("input_packets", input_packets, 1, 1 << 30)
    options = {"overhead_bytes": WIRE_OVERHEAD_BYTES, "input_packets": input_packets}
    placement = transfer.Placement(
        path=path,
        routed=routed,
        mtu_bytes=max(_MTU_BYTES, max(frames) - _FRAMING_BYTES) if routed or path else None,
        link_buffer_bytes=link_buffer_bytes,
        link_options={} if path is None else options,
    )
    limit_s = limits.finite("duration_s", duration_s, 0.01, 10.0)
    transfers = [
        transfer.Transfer(
            protocol="udp",
            write_bytes=frame - overhead_bytes,
            write_count=ENDLESS_COUNT,
            limit_s=limit_s,
            buffer_bytes=buffer,
            datagrams_per_call=together,
            linger_s=FAR_LINGER_S if peer else placement.linger_s(largest_bytes),
            drain_s=FAR_DRAIN_S if peer else placement.drain_s(buffer),
            endless=True,
        )
        for _ in range(limits.whole_number("run_count", run_count, 1, transfer.MAX_TRANSFERS))
        for frame in frames
    ]
    inputs = {} if path is None else {"input_packets": input_packets}
    command = record.written_call(
        "line_rate", frames, duration_s=limit_s, run_count=run_count,
        datagrams_per_call=together, buffer_bytes=buffer,
        **inputs, **_placement_arguments(placement), **_where(common, direction),
    )  # fmt: skip
    return transfer.run_transfers(
        transfers, *_ends(common, placement, direction), common,
        experiment="line_rate", unit="runs", command=command,
    )  # fmt: skip


def frame_overhead_bytes(version: int) -> int:
    """Return the headers around the datagram in an Ethernet frame with FCS, by version of IP."""
    return FRAME_OVERHEAD_BYTES + int(ip_header_bytes(version) - ip_header_bytes(4))


@named_arguments
def lockstep(
    pair_count: ArrayLike = (1, 2, 4, 8, 16),
    *,
    write_bytes: int = 1460,
    reply_bytes: int = 1,
    duration_s: float = 0.2,
    run_count: int = 3,
    peer: FarPeer | None = None,
    direction: str = "forward",
    routed: bool = False,
    path: Path | None = None,
    link_buffer_bytes: int | None = None,
    progress: record.Progress | None = None,
    stop: stopping.Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> BulkSamples:
    """Measure the goodput of N stop-and-wait senders, each waiting for a response to its message.

    Parameters
    ----------
    pair_count : array_like
        Simultaneous connections, 1 to 32. [1]
    write_bytes : int
        Message of each sender, up to 64 KiB. [byte]
    reply_bytes : int
        Response, up to 64 KiB. [byte]
    duration_s : float
        Duration of each run, 0.01 to 10. [s]
    run_count : int
        Runs of each number of pairs; the numbers alternate. [1]
    peer : Peer, optional
        A second machine, on which ``netcalc peer`` runs.
    direction : {'forward', 'back', 'both'}
        To the peer, from it, or both at once, which makes two rows. [text]
    routed : bool
        Run between two network namespaces, with a third that routes between them.
    path : Path, optional
        Path between the two ends, emulated on this machine.
    link_buffer_bytes : int, optional
        Buffer of each link of the path; by default twice the bandwidth-delay product. [byte]
    progress : callable, optional
        Called as ``progress(done, total, received_bytes)`` at most ten times a second and at
        the end; ``done`` includes the completed share of the current transfer.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True.
    save : path, optional
        File to save the samples to: written every second, at the end and on failure.

    Returns
    -------
    BulkSamples
        One row per run: ``goodput_bps`` of all pairs together, counted when answered, and
        ``cycle_s``, the median time from a write to its response.

    Raises
    ------
    DomainError
        If a size, count or time is impossible.
    ExperimentError
        If the run would exceed a limit, or the run fails; then ``partial`` has the samples so far.

    Notes
    -----
    At most 10,000 runs, 20 GB and 600 s, as for :func:`line_rate`. All senders are one program, and
    all receivers another: on loopback a few pairs saturate two processors.

    Examples
    --------
    >>> samples = lockstep([1, 2], duration_s=0.01, run_count=1)
    >>> samples.pair_count.tolist()
    [1.0, 2.0]

    References
    ----------
    :func:`netcalc.models.rates.line_rate.stop_and_wait_goodput_bps`.
    """
    common = record.Common(
        path=path, peer=peer, progress=progress, stop=stop, save=save, linux_for=PASSING
    )
    require_alone(peer, direction, routed=routed)
    placement = transfer.Placement(path=path, routed=routed, link_buffer_bytes=link_buffer_bytes)
    limit_s = limits.finite("duration_s", duration_s, 0.01, 10.0)
    size = limits.whole_number("write_bytes", write_bytes, 1, MAX_LOCKSTEP_BYTES)
    reply = limits.whole_number("reply_bytes", reply_bytes, 1, MAX_LOCKSTEP_BYTES)
    counts = limits.whole_numbers("pair_count", pair_count, 1, MAX_PAIRS)
    transfers = [
        transfer.Transfer(
            protocol="tcp",
            write_bytes=size,
            write_count=ENDLESS_COUNT,
            limit_s=limit_s,
            pair_count=count,
            reply_bytes=reply,
            drain_s=placement.drain_s(None),
            endless=True,
        )
        for _ in range(limits.whole_number("run_count", run_count, 1, transfer.MAX_TRANSFERS))
        for count in counts
    ]
    command = record.written_call(
        "lockstep", counts, write_bytes=size, reply_bytes=reply, duration_s=limit_s,
        run_count=run_count, **_placement_arguments(placement), **_where(common, direction),
    )  # fmt: skip
    return transfer.run_transfers(
        transfers, *_ends(common, placement, direction), common,
        experiment="lockstep", unit="runs", command=command,
        facts={"reply_bytes": reply},
    )  # fmt: skip


def _placement_arguments(placement: transfer.Placement) -> dict[str, Any]:
    """Return a placement as further arguments of a call."""
    if placement.path is not None:
        return {"path": placement.path, "link_buffer_bytes": placement.link_buffer_bytes}
    return {"routed": True} if placement.routed else {}
