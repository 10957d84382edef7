"""Packet rate by frame size, and the goodput of stop-and-wait senders."""

from __future__ import annotations

import os

from numpy.typing import ArrayLike

from netcalc.checks import named_arguments
from netcalc.experiments.bulk import require_one_call
from netcalc.experiments.running import limits
from netcalc.experiments.running.run import Common, Progress
from netcalc.experiments.running.stopping import Stop
from netcalc.experiments.transfers.session import (
    MAX_TOGETHER,
    MAX_TRANSFERS,
    Placement,
    run_transfers,
)
from netcalc.experiments.transfers.transfer import Transfer
from netcalc.path import Path
from netcalc.samples import BulkSamples

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
_ENDLESS_COUNT = 1 << 40


@named_arguments
def line_rate(
    frame_bytes: ArrayLike = TESTER_FRAMES,
    *,
    duration_s: float = 0.2,
    run_count: int = 3,
    datagrams_per_call: int = 1,
    buffer_bytes: int | None = None,
    routed: bool = False,
    path: Path | None = None,
    input_packets: int | None = BOX_INPUT_PACKETS,
    link_buffer_bytes: int | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
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
        File to save the samples to: written every 2 s, at the end and on failure.

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
    ends, marked as partial. The rate is not limited, as the packets never leave this machine.
    There is no flow control: the receiver drops what it cannot process.

    Examples
    --------
    >>> samples = line_rate([64, 1518], duration_s=0.01, run_count=1)
    >>> samples.write_bytes.tolist()
    [18.0, 1472.0]

    References
    ----------
    RFC 2544, section 26.1; RFC 5180, appendix A.
    """
    common = Common(path=path, progress=progress, stop=stop, save=save)
    frames = limits.whole_numbers("frame_bytes", frame_bytes, _MIN_FRAME, _MAX_FRAME)
    together = limits.whole_number("datagrams_per_call", datagrams_per_call, 1, MAX_TOGETHER)
    largest_bytes = max(frames) - FRAME_OVERHEAD_BYTES
    require_one_call(together, largest_bytes)
    buffer = None
    if buffer_bytes is not None:
        buffer = limits.whole_number("buffer_bytes", buffer_bytes, 1, 1 << 30)
    if input_packets is not None:
        input_packets = limits.whole_number("input_packets", input_packets, 1, 1 << 30)
    options = {"overhead_bytes": WIRE_OVERHEAD_BYTES, "input_packets": input_packets}
    placement = Placement(
        path=path,
        routed=routed,
        mtu_bytes=max(_MTU_BYTES, max(frames) - _FRAMING_BYTES) if routed or path else None,
        link_buffer_bytes=link_buffer_bytes,
        link_options={} if path is None else options,
    )
    limit_s = limits.finite("duration_s", duration_s, 0.01, 10.0)
    transfers = [
        Transfer(
            protocol="udp",
            write_bytes=frame - FRAME_OVERHEAD_BYTES,
            write_count=_ENDLESS_COUNT,
            limit_s=limit_s,
            buffer_bytes=buffer,
            datagrams_per_call=together,
            linger_s=placement.linger_s(largest_bytes),
            drain_s=placement.drain_s(buffer),
            endless=True,
        )
        for _ in range(limits.whole_number("run_count", run_count, 1, MAX_TRANSFERS))
        for frame in frames
    ]
    command = (
        f"line_rate({frames}, duration_s={limit_s:g}, run_count={run_count}, "
        f"datagrams_per_call={together}, buffer_bytes={buffer}"
        + ("" if path is None else f", input_packets={input_packets}")
        + f"{_placement_arguments(placement)})"
    )
    return run_transfers(
        transfers, placement, common, experiment="line_rate", unit="runs", command=command
    )


@named_arguments
def lockstep(
    pair_count: ArrayLike = (1, 2, 4, 8, 16),
    *,
    write_bytes: int = 1460,
    reply_bytes: int = 1,
    duration_s: float = 0.2,
    run_count: int = 3,
    routed: bool = False,
    path: Path | None = None,
    link_buffer_bytes: int | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
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
        File to save the samples to: written every 2 s, at the end and on failure.

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
    :func:`netcalc.models.rates.packet_rates.stop_and_wait_goodput_bps`.
    """
    common = Common(
        path=path, progress=progress, stop=stop, save=save,
        linux_for="waiting for many connections (epoll)",
    )  # fmt: skip
    placement = Placement(path=path, routed=routed, link_buffer_bytes=link_buffer_bytes)
    limit_s = limits.finite("duration_s", duration_s, 0.01, 10.0)
    size = limits.whole_number("write_bytes", write_bytes, 1, MAX_LOCKSTEP_BYTES)
    reply = limits.whole_number("reply_bytes", reply_bytes, 1, MAX_LOCKSTEP_BYTES)
    counts = limits.whole_numbers("pair_count", pair_count, 1, MAX_PAIRS)
    transfers = [
        Transfer(
            protocol="tcp",
            write_bytes=size,
            write_count=_ENDLESS_COUNT,
            limit_s=limit_s,
            pair_count=count,
            reply_bytes=reply,
            drain_s=placement.drain_s(None),
            endless=True,
        )
        for _ in range(limits.whole_number("run_count", run_count, 1, MAX_TRANSFERS))
        for count in counts
    ]
    command = (
        f"lockstep({counts}, write_bytes={size}, reply_bytes={reply}, duration_s={limit_s:g}, "
        f"run_count={run_count}{_placement_arguments(placement)})"
    )
    return run_transfers(
        transfers, placement, common, experiment="lockstep", unit="runs", command=command,
        facts={"reply_bytes": reply},
    )  # fmt: skip


def _placement_arguments(placement: Placement) -> str:
    """Write a placement as further arguments of a call."""
    if placement.path is not None:
        buffer = placement.link_buffer_bytes
        return f", path={placement.path!r}, link_buffer_bytes={buffer}"
    return ", routed=True" if placement.routed else ""
