"""Settings of the truth table that measure times and rates, one function for each experiment."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from netcalc import compare
from netcalc.emulation.stream import deliver
from netcalc.emulation.wire.emulated_path import OFFLOAD_BPS
from netcalc.errors import ExperimentError
from netcalc.experiments.bulk import FRAME_OVERHEAD_BYTES, bulk, line_rate, lockstep
from netcalc.experiments.probing import packet_trains, probing
from netcalc.experiments.running import instrument
from netcalc.experiments.small_writes import small_writes
from netcalc.experiments.transactions import transactions
from netcalc.fit.path_links import bottleneck, links
from netcalc.messages import Notice
from netcalc.models.rates.forwarding import forwarding_rate_pps
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES, ip_header_bytes
from netcalc.models.tcp import window
from netcalc.models.tcp.handshakes import round_trips
from netcalc.models.tcp.short_transfers import sending_s
from netcalc.models.tcp.slow_start import INITIAL_WINDOW_SEGMENTS, rounds
from netcalc.path import Path
from netcalc.samples import BulkSamples
from netcalc.truth.bench import HOLDS_ALL_BYTES, Bench, Cost, Kept, Measure, Setting, cost, least_s
from netcalc.truth.rows import TruthRow
from netcalc.units import show

ECHO_HEADERS_BYTES = {"udp": 8, "icmp": 8, "tcp": 32}
"""Headers between IP and the data of an echo. [byte]"""
_NAMES = {"udp": "UDP", "icmp": "ICMP", "tcp": "TCP"}


def _run(bench: Bench, experiment: Callable[..., Kept], *arguments: Any, **options: Any) -> Kept:
    """Run an experiment that ends with the table; return its samples, which are complete."""
    return bench.require_complete(experiment(*arguments, stop=bench.should_stop, **options))


def echo_setting(
    path_text: str,
    *sizes: int,
    protocol: str = "udp",
    version: int = 4,
    count: int = 8,
    runs: int = 1,
    **options: Any,
) -> Setting:
    """Round trips by size, compared with the time of the path for that size.

    With several runs the smallest of all counts, as several runs calibrate the hosts.
    """
    name = _NAMES[protocol] + (" IPv6" if version == 6 else "")
    what = tuple(f"{name} {size} B" for size in sizes)
    headers = ip_header_bytes(version) + ECHO_HEADERS_BYTES[protocol]

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        one_way_s = float(path.one_way_s(min(sizes) + headers))
        if runs > 1:
            bench.host_cost(protocol, one_way_s)  # before the runs, and once more after them
        runs_samples = [
            bench.run_echo(sizes, path=path, count=count, protocol=protocol, version=version)
            for _ in range(runs)
        ]
        samples = min(runs_samples, key=lambda run: least_s(run.best_s))
        added = cost(bench, protocol, samples, one_way_s)
        times_s = np.concatenate([run.best_s for run in runs_samples])
        at = np.concatenate([np.asarray(run.payload_bytes)[run.measured] for run in runs_samples])
        relayed = any(notice.code == "relay-used" for notice in samples.meta.warnings)
        by = ", relay" if relayed else ""
        for size, text in zip(sizes, what, strict=True):
            yield setting.row(
                text + by,
                predicted=float(path.rtt_s(size + headers)) + added.host.time_s(size),
                measured=least_s(times_s[at == size]),
                statistic=f"smallest of {runs * count}",
                **added.errors(payload_bytes=size),
            )

    options["needs_wire"] = protocol != "udp" or version != 4
    return Setting("echo", path_text, what, "round trip", "s", measure, **options)


def small_writes_setting(
    path_text: str, *modes: str, quickack: bool = False, count: int = 5, **options: Any
) -> Setting:
    """Requests in two writes, by mode; with Nagle's algorithm the first round is a separate row.

    The timer of a delayed acknowledgement may fire a tick of the kernel earlier or later.
    """
    shown = [(mode, False) for mode in modes]
    if "nagle" in modes and not quickack:
        shown.insert(0, ("nagle", True))
    suffix = ", quick ACK" if quickack else ""
    what = tuple(f"{mode}{', first round' if first else suffix}" for mode, first in shown)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = _run(bench, small_writes, modes=modes, quickack=quickack, count=count, path=path)
        compared = compare.small_writes(samples, path=path)
        rows = np.asarray(samples.measured)
        mode_of, warm_up = np.asarray(samples.mode)[rows], np.asarray(samples.warm_up)[rows]
        added = cost(bench, "tcp", samples, path.latency_s)
        for (mode, first), text in zip(shown, what, strict=True):
            at = (mode_of == mode) & (warm_up == first)
            waits = mode == "nagle"
            held = waits and not first and not quickack
            errors = added.errors(1 + waits)
            errors["own_error"] += instrument.tick_s() if held else 0.0
            times = compared.measured[at]
            if not times.size:
                raise ExperimentError("row-without-response", phase="small-writes", row=text)
            yield setting.row(
                text,
                predicted=float(np.median(compared.predicted[at]))
                + (1 + waits) * added.host.exchange_s,
                measured=float(np.median(times)) if held else least_s(times),
                statistic=f"{'median' if held else 'smallest'} of {times.size}",
                both_ways=held,
                **errors,
            )

    return Setting("small-writes", path_text, what, "response", "s", measure, **options)


def transactions_setting(
    path_text: str, size: int, *protocols: str, count: int = 6, **options: Any
) -> Setting:
    """A request and a response of one size, by protocol."""
    what = tuple(f"{protocol} {size} B" for protocol in protocols)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        options_of_run = {"protocols": protocols, "count": count, "path": path, "tap": False}
        samples = _run(bench, transactions, [size], **options_of_run)
        for protocol, text in zip(protocols, what, strict=True):
            compared = compare.transactions(samples, mode=protocol, path=path)
            transport, security, _ = compare.TRANSACTIONS_OVER[protocol]
            if not compared.x.size:
                raise ExperimentError("row-without-response", phase="transactions", row=text)
            exchange = {"ping": "icmp", "udp": "udp"}.get(protocol, "tcp")
            added = cost(bench, exchange, samples, path.latency_s)
            exchanges = float(round_trips(transport, security=security))
            yield setting.row(
                text,
                predicted=float(compared.predicted[0]) + exchanges * added.host.time_s(size),
                measured=float(compared.measured[0]),
                statistic=f"smallest of {count}",
                **added.errors(exchanges, payload_bytes=size),
            )

    return Setting("transactions", path_text, what, "transaction", "s", measure, **options)


RATIO_STEPS = 256
"""Steps of the scaling ratio (TCP_RMEM_TO_WIN_SCALE). [1]"""
GRANTED = 2
"""Granted of a buffer for each byte that was asked for (SO_RCVBUF, socket(7)). [1]"""
_SO_MEMINFO = 55  # the first of nine numbers is the memory of what was received and not read
_LEAST_TRUESIZE_BYTES = 2304


def receive_window_bytes(buffer_bytes: int, *, mss_bytes: int, truesize_bytes: int) -> int:
    """Return the window that Linux offers of a receive buffer once full segments have come.

    Linux grants twice the buffer that was asked for (SO_RCVBUF), and counts against it what a
    segment takes in memory, its *true size*, which is more than its data. From 6.6 on the window is
    the buffer times the share that data has of it, the scaling ratio, in 1/256; before the first
    segment the ratio is a half, so that the first window is what was asked for. The window grows
    while a segment is in the buffer, whose true size is not offered. A connection whose first
    window needs no scaling offers whole segments.

    >>> receive_window_bytes(32_768, mss_bytes=1448, truesize_bytes=2304)
    39096
    """
    ratio = RATIO_STEPS * mss_bytes // truesize_bytes
    window_bytes = (GRANTED * buffer_bytes - truesize_bytes) * ratio // RATIO_STEPS
    if buffer_bytes <= window.MAX_UNSCALED_WINDOW_BYTES:
        window_bytes = window_bytes // mss_bytes * mss_bytes
    return window_bytes


def segment_truesize_bytes(mss_bytes: int) -> int:
    """Return the size of a packet of this much data in a receive buffer of this kernel. [byte]

    Measured with an unread datagram; where the kernel does not report it, the size in Linux 6.18.
    """
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source,
    ):
        sink.bind(("127.0.0.1", 0))
        source.sendto(bytes(mss_bytes), sink.getsockname())
        try:
            memory = sink.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, 36)
        except OSError:
            return _LEAST_TRUESIZE_BYTES
    return int(struct.unpack("9I", memory)[0]) or _LEAST_TRUESIZE_BYTES


MSS_BYTES, PACKET_BYTES = 1448, 1500
"""Payload of a full segment with time stamps, and the IP packet around it. [byte]"""
WRITE_BYTES = 45 * MSS_BYTES
"""A write of a stream: whole segments. [byte]"""
WINDOW_RATIO = 0.03
"""Tolerance of a rate that a receive window limits: a window of 27 whole segments is known to half
of one, 2 %, and the host's cost. [ratio]"""
ENDS = ("sender", "receiver")
"""The programs that send and receive: limits of a blast that are not those of the node. What the
receiving socket drops has passed the node, and is counted; what was not sent cannot be."""


def _streams(
    bench: Bench, total_bytes: int, write_bytes: int = WRITE_BYTES, **options: Any
) -> BulkSamples:
    """Transfer streams over a path whose links lose nothing by a full buffer."""
    standard = {"buffer_bytes": None, "congestion_control": "reno", "limit_s": 10.0}
    return _run(
        bench, bulk, write_bytes, write_count=total_bytes // write_bytes,
        link_buffer_bytes=HOLDS_ALL_BYTES, **(standard | options),
    )  # fmt: skip


def bulk_setting(
    path_text: str, segments: int, *, quantity: str = "goodput", count: int = 2, **options: Any
) -> Setting:
    """A stream with Reno, without loss: slow start, then the rate of the link minus headers."""
    total_bytes = segments * MSS_BYTES
    write_bytes = min(total_bytes, WRITE_BYTES)
    what = f"TCP {show(total_bytes, 'byte', digits=3)}"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = _streams(bench, total_bytes, write_bytes, path=path, run_count=count)
        sent_bytes = float(samples.sent_bytes[0])
        added = cost(bench, "tcp", samples, path.latency_s)
        predicted_s = delivery_s(sent_bytes, path=path, host_s=added.host.exchange_s)
        round_count = float(
            rounds(np.ceil(sent_bytes / MSS_BYTES), initial_window_segments=INITIAL_WINDOW_SEGMENTS)
        )
        if setting.unit == "s":
            values = {"predicted": predicted_s, "measured": float(np.min(samples.delivery_s))}
            errors = added.errors(round_count)
        else:
            rate_bps = 8.0 * sent_bytes / predicted_s
            values = {"predicted": rate_bps, "measured": float(samples.goodput_bps.max())}
            errors = added.errors(round_count * rate_bps / predicted_s)
            if path.bottleneck_bps >= OFFLOAD_BPS:
                errors["own_error"] += max(0.0, rate_bps - bench.own_goodput_bps())
            if added.cpu_ratio < 1.0:
                reached_bps = min(rate_bps, bench.own_goodput_bps())
                errors["doubt_error"] += max(
                    0.0, reached_bps - bench.own_goodput_bps() * added.cpu_ratio
                )
        yield setting.row(what, statistic=f"fastest of {count}", **values, **errors)

    unit = "bit/s" if quantity == "goodput" else "s"
    return Setting("bulk", path_text, (what,), quantity, unit, measure, **options)


def buffers_setting(
    path_text: str, segments: int, *buffers: int, count: int = 3, **options: Any
) -> Setting:
    """Streams with receive buffers of several sizes: the window that Linux makes of each.

    The sender's buffer is the kernel's, which is never the limit. Theory is the stream in virtual
    time, with that window. Rows whose window fills the link have the common tolerance.
    """
    what = tuple(f"TCP, buffer {buffer / 1024:g} KiB" for buffer in buffers)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        truesize_bytes = segment_truesize_bytes(MSS_BYTES)
        samples = _streams(
            bench, segments * MSS_BYTES, path=path, run_count=count,
            buffer_bytes=buffers, buffer_end="receiver",
        )  # fmt: skip
        added = cost(bench, "tcp", samples, path.latency_s)
        sent = round(float(samples.sent_bytes[0]) / MSS_BYTES)
        round_trip_s = float(path.rtt_s(PACKET_BYTES, reply_bytes=STAMPED_HEADERS_BYTES))
        filling_bytes = float(window.bdp_bytes(round_trip_s, bandwidth_bps=path.bottleneck_bps))
        for buffer, text in zip(buffers, what, strict=True):
            window_bytes = receive_window_bytes(
                buffer, mss_bytes=MSS_BYTES, truesize_bytes=truesize_bytes
            )
            predicted_s = deliver(
                path, segments=sent, window_bytes=window_bytes, host_s=added.host.exchange_s
            ).delivery_s
            rate_bps = 8.0 * sent * MSS_BYTES / predicted_s
            # Where the window limits the rate, each window waits for its acknowledgement.
            waits = max(sent * MSS_BYTES / window_bytes, float(rounds(sent)))
            limits = window_bytes < filling_bytes
            yield setting.row(
                text,
                predicted=rate_bps,
                measured=float(samples.goodput_bps[samples.asked_buffer_bytes == buffer].max()),
                statistic=f"fastest of {count}, a window of {show(window_bytes, 'byte')}",
                tolerance_ratio=WINDOW_RATIO if limits else np.nan,
                **added.errors(waits * rate_bps / predicted_s),
            )

    return Setting("bulk", path_text, what, "goodput", "bit/s", measure, **options)


def delivery_s(payload_bytes: float, *, path: Path, host_s: float = 0.0) -> float:
    """Return the time from the first write of a stream to the arrival of its last byte. [s]"""
    clock_s = 8.0 * PACKET_BYTES / path.bottleneck_bps
    empty_s = float(path.rtt_s(PACKET_BYTES, reply_bytes=STAMPED_HEADERS_BYTES)) - clock_s
    sent_s = sending_s(
        payload_bytes / MSS_BYTES,
        packet_bytes=PACKET_BYTES,
        bandwidth_bps=path.bottleneck_bps,
        base_rtt_s=empty_s + host_s,
        initial_window_segments=INITIAL_WINDOW_SEGMENTS,
        growth=2.0,
    )
    return float(sent_s) + float(path.one_way_s(PACKET_BYTES)) - clock_s + host_s / 2.0


def lockstep_setting(
    path_text: str, *pairs: int, duration_s: float = 0.3, count: int = 2, **options: Any
) -> Setting:
    """Stop-and-wait senders: a cycle is a round trip, or the time of all on the link."""
    what = tuple(f"{pair} in lockstep" for pair in pairs)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = _run(
            bench, lockstep, pairs, write_bytes=MSS_BYTES, duration_s=duration_s,
            run_count=count, path=path, link_buffer_bytes=HOLDS_ALL_BYTES,
        )  # fmt: skip
        clock_s = 8.0 * PACKET_BYTES / path.bottleneck_bps
        added = cost(bench, "tcp", samples, path.latency_s)
        empty_s = float(path.rtt_s(PACKET_BYTES, reply_bytes=STAMPED_HEADERS_BYTES + 1))
        round_trip_s = empty_s + added.host.time_s(MSS_BYTES)
        for pair, text in zip(pairs, what, strict=True):
            carried_bps = window.serialized_throughput_bps(
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
                **added.errors(payload_bytes=MSS_BYTES),
            )

    return Setting("lockstep", path_text, what, "cycle", "s", measure, **options)


def line_rate_setting(
    path_text: str, *frames: int, device_pps: float, count: int = 3, **options: Any
) -> Setting:
    """Frames through a node of a known packet rate: its rate, or the rate of the link behind it.

    Frames are counted where they reach the receiving host, whether its program read them or not.
    Where the sender was the limit instead, the row says by how much.
    """
    duration_s = 0.2
    what = tuple(f"{frame} B frames" for frame in frames)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = _run(bench, line_rate, frames, duration_s=duration_s, run_count=count, path=path)
        added = cost(bench, "udp", samples, path.latency_s)
        unread_pps = np.nan_to_num(samples.receiver_drop_count) / samples.delivery_s
        arrived_pps = samples.rate_pps + unread_pps
        for frame, text in zip(frames, what, strict=True):
            predicted_pps = float(
                forwarding_rate_pps(frame, device_pps=device_pps, bandwidth_bps=path.bottleneck_bps)
            )
            is_of_size = samples.write_bytes == frame - FRAME_OVERHEAD_BYTES
            best = int(np.argmax(np.where(is_of_size, arrived_pps, -1.0)))
            errors = added.errors(predicted_pps / duration_s)
            errors["doubt_error"] += predicted_pps * (1.0 - added.cpu_ratio)
            if str(samples.limit[best]) in ENDS:
                errors |= limited_by_sender(samples, best, predicted_pps=predicted_pps)
            yield setting.row(
                text,
                predicted=predicted_pps,
                measured=float(arrived_pps[best]),
                statistic=f"fastest of {count}",
                **errors,
            )

    options["processing_s"] = 1.0 / device_pps
    return Setting("line-rate", path_text, what, "frame rate", "packet/s", measure, **options)


def limited_by_sender(samples: BulkSamples, row: int, *, predicted_pps: float) -> dict[str, Any]:
    """Return the doubt of a row whose sender offered less than the node carries, if it did."""
    offered_pps = samples.sent_bytes[row] / samples.write_bytes[row] / samples.wall_s[row]
    missing_pps = predicted_pps - float(offered_pps)
    if missing_pps <= 0.0:
        return {}
    notice = Notice("limited-by-end", {"end": "sender"})
    return {"doubt": str(notice), "doubt_code": notice.code, "doubt_error": missing_pps}


LOSSES_RATIO = 0.05
"""Tolerance of a mean over seeds: two standard errors of 2 %, and 1 % for the host. [ratio]"""


def losses_setting(
    path_text: str,
    loss_ratio: float,
    segments: int,
    *seeds: int,
    rule: str = "reno",
    **options: Any,
) -> Setting:
    """Streams on a link that is never full, with random losses, one for each seed.

    A seed determines which packets are lost. Theory is the stream in virtual time that loses the
    same ones, so that the choice of losses cancels in the comparison: what remains
    is the standard error of the mean over the seeds. Acknowledgements are sent and taken by the
    kernels, without waking a program, so that a round trip has nothing of the cost of an exchange
    (0.4 ms on a quiet virtual machine, which made 4 % here). Their first loss comes early enough to
    end slow start before the buffers of the kernel, which grow by rules of their own, limit it.
    """
    what = f"TCP {rule}, {show(loss_ratio, 'ratio')} lost"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        costs: list[Cost] = []
        predicted, measured, lost = [], [], 0
        for seed in seeds:
            losses: dict[str, Any] = {"loss_ratio": loss_ratio, "seed": seed}
            samples = _streams(
                bench, segments * MSS_BYTES, path=path, run_count=1,
                congestion_control=rule, limit_s=30.0, **losses,
            )  # fmt: skip
            costs.append(cost(bench, "tcp", samples, path.latency_s))
            sent = round(float(samples.sent_bytes[0]) / MSS_BYTES)
            stream = deliver(path, segments=sent, rule=rule, **losses)
            lost += stream.lost_count
            predicted.append(8.0 * sent * MSS_BYTES / stream.delivery_s)
            measured.append(float(samples.goodput_bps[0]))
        ratios = np.array(measured) / np.array(predicted)
        error_ratio = float(np.std(ratios, ddof=1) / np.sqrt(len(seeds)))
        rate_bps = float(np.mean(predicted))
        rtt_s = float(path.rtt_s(PACKET_BYTES, reply_bytes=STAMPED_HEADERS_BYTES))
        worst = max(costs, key=lambda each: each.disturbance_s)
        yield setting.row(
            what,
            predicted=rate_bps,
            measured=rate_bps * float(np.mean(ratios)),
            statistic=f"mean of {len(seeds)} seeds, {lost} lost, standard error "
            + show(error_ratio, "ratio", digits=2),
            tolerance_ratio=LOSSES_RATIO,
            **worst.errors(rate_bps / rtt_s),
        )

    return Setting("bulk", path_text, (what,), "goodput", "bit/s", measure, **options)


STANDARD_ERRORS = 2.0
"""Number of standard errors of an estimate that make its own error. [1]"""


PAYLOAD_BYTES = (520, 838, 1154, 1472)
"""Sizes of the probes: few, with many probes of each, because the smallest of more is closer to
the path, and the slope depends most on the ends. All answers have the same size. [byte]"""


PAYLOAD_V6_BYTES = (1184, 1274, 1362, 1452)
"""The same over IPv6, where a node quotes more of a probe. [byte]"""


def links_setting(
    path_text: str, link_count: int, *, count: int = 20, ip_version: int = 4, **options: Any
) -> Setting:
    """The rate of each link, from the slopes of time against size to its two ends."""
    over = " over IPv6" if ip_version == 6 else ""
    what = tuple(f"link {number}{over}" for number in range(1, link_count + 1))
    sizes_of_probes = PAYLOAD_V6_BYTES if ip_version == 6 else PAYLOAD_BYTES

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        options_of_run = {"path": setting.path, "count": count, "ip_version": ip_version}
        samples = _run(bench, probing, sizes_of_probes, **options_of_run)
        estimates = links(samples).links
        if len(estimates) < link_count:
            raise ExperimentError("node-silent", phase="probing", node=len(estimates) + 1)
        added = cost(bench, "udp", samples, setting.path.latency_s)
        sizes = np.asarray(samples.packet_bytes)
        span_bits = 8.0 * float(sizes.max() - sizes.min())
        for link, text in zip(estimates, what, strict=True):
            rate_bps = setting.path.links[link.hop - 1].bandwidth_bps
            is_known = not np.isnan(link.bandwidth_bps)
            # Two slopes make a link; each is off by a delay over the time from least to most bytes.
            errors = added.errors(2.0 * rate_bps**2 / span_bits)
            errors["own_error"] = STANDARD_ERRORS * link.bandwidth_stderr_bps
            yield setting.row(
                text,
                predicted=rate_bps,
                measured=link.bandwidth_bps,
                statistic=f"slope of the smallest of {count}",
                both_ways=True,
                why_not="" if is_known else link.why_not,
                why_not_code="" if is_known else "rate-unknown",
                **errors,
            )

    return _probing(path_text, what, measure, **options)


def packet_pairs_setting(path_text: str, *, count: int = 30, **options: Any) -> Setting:
    """The rate of the narrowest link, from packets sent back to back."""
    what = "packet pairs"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        samples = _run(bench, packet_trains, path=setting.path, count=count)
        estimate = bottleneck(samples)
        rate_bps = setting.path.bottleneck_bps
        # The time between two packets is off by a delay.
        errors = cost(bench, "udp", samples, setting.path.latency_s).errors(
            rate_bps**2 / (8.0 * float(np.max(samples.packet_bytes)))
        )
        errors["own_error"] = 0.5 * (estimate.high_bps - estimate.low_bps)
        yield setting.row(
            what,
            predicted=rate_bps,
            measured=estimate.bandwidth_bps,
            statistic=f"mode of {count}",
            both_ways=True,
            **errors,
        )

    return _probing(path_text, (what,), measure, **options)


def _probing(path_text: str, what: tuple[str, ...], measure: Measure, **options: Any) -> Setting:
    return Setting("probing", path_text, what, "rate of a link", "bit/s", measure, **options)
