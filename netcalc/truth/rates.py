"""Settings of the truth table that measure rates: streams, lockstep, blasts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netcalc.emulation.wire.emulated_path import OFFLOAD_BPS
from netcalc.experiments.bulk import bulk
from netcalc.experiments.line_rate import FRAME_OVERHEAD_BYTES, line_rate, lockstep
from netcalc.models.rates.forwarding import forwarding_rate_pps
from netcalc.models.tcp.short_transfers import sending_s
from netcalc.models.tcp.slow_start import rounds
from netcalc.models.tcp.window import bdp_bytes, serialized_throughput_bps
from netcalc.path import Path
from netcalc.truth.bench import HOLDS_ALL_BYTES, Bench, Setting, doubt, own_error_s
from netcalc.truth.rows import TruthRow
from netcalc.units import show

INITIAL_WINDOW_SEGMENTS = 10
"""First window of Linux. (RFC 6928) [1]"""
MSS_BYTES, PACKET_BYTES = 1448, 1500
"""Payload of a full segment with time stamps, and the IP packet around it. [byte]"""
TCP_HEADERS_BYTES = PACKET_BYTES - MSS_BYTES
"""Headers of a segment, and what an acknowledgement is. [byte]"""
WRITE_BYTES = 45 * MSS_BYTES
"""A write of a stream: whole segments. [byte]"""
KERNEL_WINDOW_RATIO = 0.25
"""How far the window that Linux makes of a buffer may be from the buffer. [ratio]"""


def of_bulk(
    path_text: str, segments: int, *, quantity: str = "goodput", count: int = 2, **options: Any
) -> Setting:
    """A stream over Reno, without loss: slow start, then the framing ceiling of the line."""
    total_bytes = segments * MSS_BYTES
    write_bytes = min(total_bytes, WRITE_BYTES)
    what = f"TCP {show(total_bytes, 'byte', digits=3)}"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = bench.complete(
            bulk(
                write_bytes,
                write_count=total_bytes // write_bytes,
                run_count=count,
                buffer_bytes=None,
                congestion_control="reno",
                limit_s=10.0,
                path=path,
                link_buffer_bytes=HOLDS_ALL_BYTES,
                stop=bench.over,
            )
        )
        sent_bytes = float(samples.sent_bytes[0])
        predicted_s = delivery_s(sent_bytes, path=path)
        own_s = own_error_s(bench, "tcp", samples) * float(
            rounds(sent_bytes / MSS_BYTES, initial_window_segments=INITIAL_WINDOW_SEGMENTS)
        )
        if setting.unit == "s":
            values = {"predicted": predicted_s, "measured": float(np.min(samples.delivery_s))}
            own_error = own_s
        else:
            rate_bps = 8.0 * sent_bytes / predicted_s
            values = {"predicted": rate_bps, "measured": float(samples.goodput_bps.max())}
            own_error = own_s * rate_bps / predicted_s
            if path.bottleneck_bps >= OFFLOAD_BPS:
                own_error += max(0.0, rate_bps - bench.own_goodput_bps())
        yield setting.row(
            what,
            statistic=f"fastest of {count}",
            own_error=own_error,
            doubt=doubt(samples),
            **values,
        )

    return Setting(
        lab="bulk",
        path_text=path_text,
        what=(what,),
        quantity=quantity,
        unit="bit/s" if quantity == "goodput" else "s",
        measure=measure,
        **options,
    )


def of_buffers(
    path_text: str, segments: int, *buffers: int, count: int = 2, **options: Any
) -> Setting:
    """Streams with buffers of several sizes: a buffer each round trip, up to the line.

    What window the kernel makes of a buffer is its own rule. A row in which that decides is held to
    how far the rule goes; one in which every such window fills the line, as all others.
    """
    what = tuple(f"TCP, buffer {buffer / 1024:g} KiB" for buffer in buffers)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = bench.complete(
            bulk(
                MSS_BYTES,
                write_count=segments,
                run_count=count,
                buffer_bytes=buffers,
                congestion_control="reno",
                limit_s=10.0,
                path=path,
                link_buffer_bytes=HOLDS_ALL_BYTES,
                stop=bench.over,
            )
        )
        round_trip_s = float(path.rtt_s(PACKET_BYTES, reply_bytes=TCP_HEADERS_BYTES))
        filling_bytes = float(bdp_bytes(round_trip_s, bandwidth_bps=path.bottleneck_bps))
        own_s = own_error_s(bench, "tcp", samples)
        for buffer, text in zip(buffers, what, strict=True):
            decides = (1.0 - KERNEL_WINDOW_RATIO) * buffer < filling_bytes
            sent_bytes = float(segments * MSS_BYTES)
            predicted_s = delivery_s(sent_bytes, path=path, window_bytes=buffer)
            slow_start = rounds(segments, initial_window_segments=INITIAL_WINDOW_SEGMENTS)
            # Where the window decides, each one waits for its acknowledgement.
            wait_count = sent_bytes / buffer if decides else float(slow_start)
            rate_bps = 8.0 * sent_bytes / predicted_s
            yield setting.row(
                text,
                predicted=rate_bps,
                measured=float(samples.goodput_bps[samples.asked_buffer_bytes == buffer].max()),
                statistic=f"fastest of {count}" + ", the kernel's window" * decides,
                own_error=wait_count * own_s * rate_bps / predicted_s,
                tolerance_ratio=KERNEL_WINDOW_RATIO if decides else np.nan,
                doubt=doubt(samples),
            )

    return Setting(
        lab="bulk",
        path_text=path_text,
        what=what,
        quantity="goodput",
        unit="bit/s",
        measure=measure,
        **options,
    )


def delivery_s(payload_bytes: float, *, path: Path, window_bytes: float = np.inf) -> float:
    """Return when the last byte of a stream is at the far end, after the first was written. [s]"""
    clock_s = 8.0 * PACKET_BYTES / path.bottleneck_bps
    empty_s = float(path.rtt_s(PACKET_BYTES, reply_bytes=TCP_HEADERS_BYTES)) - clock_s
    sent_s = sending_s(
        payload_bytes / MSS_BYTES,
        packet_bytes=PACKET_BYTES,
        bandwidth_bps=path.bottleneck_bps,
        base_rtt_s=empty_s,
        initial_window_segments=INITIAL_WINDOW_SEGMENTS,
        growth=2.0,
        max_window_segments=window_bytes / MSS_BYTES,
    )
    return float(sent_s) + float(path.one_way_s(PACKET_BYTES)) - clock_s


def of_lockstep(
    path_text: str, *pairs: int, duration_s: float = 0.6, count: int = 2, **options: Any
) -> Setting:
    """Senders that each wait for an answer: a round trip, or their turn on the line."""
    what = tuple(f"{pair} in lockstep" for pair in pairs)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = bench.complete(
            lockstep(
                pairs,
                write_bytes=MSS_BYTES,
                duration_s=duration_s,
                run_count=count,
                path=path,
                link_buffer_bytes=HOLDS_ALL_BYTES,
                stop=bench.over,
            )
        )
        clock_s = 8.0 * PACKET_BYTES / path.bottleneck_bps
        round_trip_s = float(path.rtt_s(PACKET_BYTES, reply_bytes=TCP_HEADERS_BYTES + 1))
        for pair, text in zip(pairs, what, strict=True):
            carried_bps = serialized_throughput_bps(
                pair,
                packet_bytes=PACKET_BYTES,
                bandwidth_bps=path.bottleneck_bps,
                base_rtt_s=round_trip_s - clock_s,
            )
            yield setting.row(
                text,
                predicted=pair * 8.0 * PACKET_BYTES / float(carried_bps),
                measured=float(np.min(samples.cycle_s[samples.pair_count == pair])),
                statistic=f"smallest median of {count}",
                own_error=own_error_s(bench, "tcp", samples),
                doubt=doubt(samples),
            )

    return Setting(
        lab="lockstep",
        path_text=path_text,
        what=what,
        quantity="cycle",
        unit="s",
        measure=measure,
        **options,
    )


def of_line_rate(
    path_text: str, *frames: int, device_pps: float, count: int = 4, **options: Any
) -> Setting:
    """Frames through a box: so many packets a second, or what the line behind it carries.

    Where the limit was before the box or behind it, at the two programs, the run itself says so.
    """
    duration_s = 0.2
    what = tuple(f"{frame} B frames" for frame in frames)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = bench.complete(
            line_rate(frames, duration_s=duration_s, run_count=count, path=path, stop=bench.over)
        )
        own_s = own_error_s(bench, "udp", samples)
        for frame, text in zip(frames, what, strict=True):
            predicted_pps = float(
                forwarding_rate_pps(frame, device_pps=device_pps, bandwidth_bps=path.bottleneck_bps)
            )
            of_frame = samples.write_bytes == frame - FRAME_OVERHEAD_BYTES
            best = int(np.argmax(np.where(of_frame, samples.rate_pps, -1.0)))
            limit = str(samples.limit[best])
            own_limit = f"the {limit} was the limit" if limit in ("sender", "receiver") else ""
            yield setting.row(
                text,
                predicted=predicted_pps,
                measured=float(samples.rate_pps[best]),
                statistic=f"fastest of {count}",
                own_error=predicted_pps * own_s / duration_s,
                doubt=own_limit or doubt(samples),
            )

    return Setting(
        lab="line-rate",
        path_text=path_text,
        what=what,
        quantity="frames a second",
        unit="packet/s",
        measure=measure,
        processing_s=1.0 / device_pps,
        **options,
    )
