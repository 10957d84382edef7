"""Frames per second: datagrams as fast as the sender can by size, and senders in lockstep."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import ArrayLike

from netcalc.errors import DomainError
from netcalc.experiments.bulk import (
    LINGER_S,
    MAX_TOGETHER,
    MAX_TRANSFERS,
    moved,
    require_bounded_transfers,
    whole_numbers,
)
from netcalc.experiments.running.limits import (
    MAX_DURATION_S,
    finite,
    require_linux,
    require_path,
    require_processes,
    require_writable,
    whole_number,
)
from netcalc.experiments.running.run import Progress, finish
from netcalc.experiments.running.stopping import Stop, Stopping
from netcalc.experiments.transfers.placement import drain_s
from netcalc.experiments.transfers.transfer_run import Transfer, Transfers
from netcalc.path import Path
from netcalc.samples import BulkSamples

TESTER_FRAMES = (64, 128, 256, 512, 1024, 1280, 1518)
"""Frame sizes with FCS that testers use for Ethernet, RFC 2544 section 9.1. [byte]"""
FRAME_OVERHEAD_BYTES = 46
"""Of a frame: Ethernet header 14 and FCS 4, IPv4 header 20, UDP header 8. [byte]"""
WIRE_OVERHEAD_BYTES = 38
"""Around a packet on an Ethernet line: header 14, FCS 4, preamble 8, gap 12. [byte]"""
BOX_INPUT_PACKETS = 50
"""What the input of an emulated node holds: as in BSD, IFQ_MAXLEN. [packet]"""
MAX_PAIRS = 32
"""Connections in lockstep, at most. [1]"""
MAX_LOCKSTEP_BYTES = 65_536
"""Largest message or answer of a connection in lockstep. [byte]"""
_MIN_FRAME, _MAX_FRAME = 64, 9018
_MTU_BYTES, _FRAMING_BYTES = 1500, 18
_ENDLESS_COUNT = 1 << 40


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
    """Send datagrams as fast as the sender can, size by size, and count what arrives.

    On loopback there is no line: the sender or the receiver is the limit, and the samples say
    which. With ``routed`` a third kernel forwards every packet between two others: a router in
    software, whose limit nobody has set. Over a path whose node takes its time for each packet, and
    whose line for each byte, the limits are known.

    Parameters
    ----------
    frame_bytes : array_like
        Ethernet frames, FCS included, that the datagrams would have on a cable, 64 to 9018. [byte]
    duration_s : float
        How long each blast lasts, 0.01 to 10. [s]
    run_count : int
        Blasts of each size; the sizes take turns. [1]
    datagrams_per_call : int
        Datagrams that are handed to the kernel in one call (UDP_SEGMENT), up to 64. [1]
    buffer_bytes : int, optional
        Send and receive buffers to ask for; None leaves them to the kernel. [byte]
    routed : bool
        Run between two network namespaces with a third one between them, whose kernel routes.
    path : Path, optional
        Run between two hosts with this path between them, emulated on this machine. Its lines are
        those of Ethernet, with 38 bytes around each packet: ``Path.parse("1 Gbit/s, 10 Mbit/s",
        processing_s=1 / 2000)`` has a box that passes 2000 packets a second onto 10 Mbit/s.
    input_packets : int, optional
        Packets that the input of each node of the path holds; None has room for all. [1]
    link_buffer_bytes : int, optional
        What each link of the path holds; by default twice its bandwidth-delay product. [byte]
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
        One row a blast; ``write_bytes`` is the datagram, 46 bytes less than its frame. What was
        dropped is counted where it was, and ``limit`` says which place was the limit: of a row
        whose limit is the sender, what lies behind it may carry more.

    Raises
    ------
    DomainError
        If a size, count or time is not possible, or both ``routed`` and a path are asked for.
    ExperimentError
        If a limit would be passed, the system refuses namespaces, or the run breaks off; then
        ``partial`` has what was measured.

    Notes
    -----
    At most 10,000 blasts, 20 GB and 600 s, which nothing lifts; a run that has sent the 20 GB ends
    there, marked as partial. No limit of rate is set beside them: a blast never leaves this
    machine. Nothing waits for the receiver: it loses what it cannot take.

    Examples
    --------
    >>> samples = line_rate([64, 1518], duration_s=0.01, run_count=1)
    >>> samples.write_bytes.tolist()
    [18.0, 1472.0]

    References
    ----------
    RFC 2544, section 26.1; RFC 5180, appendix A.
    """
    require_processes()
    require_path(path)
    frames = whole_numbers("frame_bytes", frame_bytes, _MIN_FRAME, _MAX_FRAME)
    together = whole_number("datagrams_per_call", datagrams_per_call, 1, MAX_TOGETHER)
    largest = max(frames) - FRAME_OVERHEAD_BYTES
    if together * largest > 65_507:
        most = f"at most {65_507 // largest} of {largest} bytes"
        raise DomainError("datagrams_per_call", together, most)
    buffer = None
    if buffer_bytes is not None:
        buffer = whole_number("buffer_bytes", buffer_bytes, 1, 1 << 30)
    if input_packets is not None:
        input_packets = whole_number("input_packets", input_packets, 1, 1 << 30)
    linger_s = LINGER_S if path is None else LINGER_S + float(path.rtt_s(largest))
    limit_s = finite("duration_s", duration_s, 0.01, 10.0)
    transfers = [
        Transfer(
            protocol="udp",
            write_bytes=frame - FRAME_OVERHEAD_BYTES,
            write_count=_ENDLESS_COUNT,
            limit_s=limit_s,
            buffer_bytes=buffer,
            datagrams_per_call=together,
            linger_s=linger_s,
            drain_s=drain_s(path, buffer, link_buffer_bytes),
            endless=True,
        )
        for _ in range(whole_number("run_count", run_count, 1, MAX_TRANSFERS))
        for frame in frames
    ]
    given = f"line_rate({frames}, duration_s={limit_s:g}, run_count={run_count}"
    given += f", datagrams_per_call={together}, buffer_bytes={buffer}"
    between: dict[str, Any] = {}
    if routed or path is not None:
        between["mtu_bytes"] = max(_MTU_BYTES, max(frames) - _FRAMING_BYTES)
    if path is not None:
        between |= {"overhead_bytes": WIRE_OVERHEAD_BYTES, "input_packets": input_packets}
        given += f", input_packets={input_packets}"
    return _measured(
        transfers, tool="netcalc line-rate", command=given, protocol="UDP", routed=routed,
        path=path, link_buffer_bytes=link_buffer_bytes, progress=progress, stop=stop, save=save,
        **between,
    )  # fmt: skip


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
    """Let several senders each wait for an answer before they send again.

    Parameters
    ----------
    pair_count : array_like
        Connections at work at once, 1 to 32. [1]
    write_bytes : int
        What each sends before it waits, up to 64 KiB. [byte]
    reply_bytes : int
        The answer, up to 64 KiB. [byte]
    duration_s : float
        How long each run lasts, 0.01 to 10. [s]
    run_count : int
        Runs of each number of pairs; the numbers take turns. [1]
    routed : bool
        Run between two network namespaces with a third one between them, whose kernel routes.
    path : Path, optional
        Run between two hosts with this path between them, emulated on this machine.
    link_buffer_bytes : int, optional
        What each link of the path holds; by default twice its bandwidth-delay product. [byte]
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
        One row a run: ``goodput_bps`` of all pairs together, counted when it was answered, and
        ``cycle_s``, the median time from a write to its answer.

    Raises
    ------
    DomainError
        If a size, count or time is not possible.
    ExperimentError
        If a limit would be passed, or the run breaks off; then ``partial`` has what was measured.

    Notes
    -----
    At most 10,000 runs, 20 GB and 600 s, as of :func:`line_rate`. All senders are one program, and
    all receivers another: on loopback two processors are the limit, which few pairs reach.

    Examples
    --------
    >>> samples = lockstep([1, 2], duration_s=0.01, run_count=1)
    >>> samples.pair_count.tolist()
    [1.0, 2.0]

    References
    ----------
    :func:`netcalc.models.rates.packet_rates.stop_and_wait_goodput_bps`.
    """
    require_linux("the way one program waits for many connections")
    require_path(path)
    limit_s = finite("duration_s", duration_s, 0.01, 10.0)
    size = whole_number("write_bytes", write_bytes, 1, MAX_LOCKSTEP_BYTES)
    answer = whole_number("reply_bytes", reply_bytes, 1, MAX_LOCKSTEP_BYTES)
    counts = whole_numbers("pair_count", pair_count, 1, MAX_PAIRS)
    transfers = [
        Transfer(
            protocol="tcp",
            write_bytes=size,
            write_count=_ENDLESS_COUNT,
            limit_s=limit_s,
            pair_count=count,
            reply_bytes=answer,
            drain_s=drain_s(path, None, link_buffer_bytes),
            endless=True,
        )
        for _ in range(whole_number("run_count", run_count, 1, MAX_TRANSFERS))
        for count in counts
    ]
    given = f"lockstep({counts}, write_bytes={size}, reply_bytes={answer}"
    given += f", duration_s={limit_s:g}, run_count={run_count}"
    return _measured(
        transfers, tool="netcalc lockstep", command=given, protocol="TCP", routed=routed,
        path=path, link_buffer_bytes=link_buffer_bytes, progress=progress, stop=stop, save=save,
        facts={"reply_bytes": answer},
    )  # fmt: skip


def _measured(
    transfers: list[Transfer],
    *,
    tool: str,
    command: str,
    protocol: str,
    routed: bool,
    path: Path | None,
    link_buffer_bytes: int | None,
    progress: Progress | None,
    stop: Stop | None,
    save: str | os.PathLike[str] | None,
    facts: dict[str, Any] | None = None,
    **between: Any,
) -> BulkSamples:
    """Do the transfers on loopback, routed, or on a path; ``between`` as in :func:`moved`."""
    if link_buffer_bytes is not None:
        link_buffer_bytes = whole_number("link_buffer_bytes", link_buffer_bytes, 1, 1 << 30)
    if routed and path is not None:
        raise DomainError("routed", True, "False with a path: one or the other lies between")
    require_bounded_transfers(transfers)
    require_writable(save)
    where = "loopback"
    if path is not None:
        where = "emulated path"
        command += f", path={path!r}, link_buffer_bytes={link_buffer_bytes}"
    elif routed:
        where = "routed by a third namespace"
        command += ", routed=True"
    with Stopping(stop, limit_s=MAX_DURATION_S) as stopping:
        run = Transfers(
            tool=tool,
            target=f"{where}, {protocol}",
            total_count=len(transfers),
            unit="runs",
            host="127.0.0.1",
            port=None,
            stopping=stopping,
            progress=progress,
            save=save,
            command=command + ")",
        )
        run.facts.update(facts or {})
        between |= {"routed": routed, "path": path, "link_buffer_bytes": link_buffer_bytes}
        return finish(run, lambda: moved(run, transfers, **between))
