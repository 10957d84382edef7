"""Transfers and blasts: by buffer, by pairs, by size of the write or of the frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netcalc import fit
from netcalc.checks import FloatArray
from netcalc.compare._comparison import (
    CURVE_POINTS,
    TCP_HEADERS_BYTES,
    Comparison,
    emulated_path,
    points,
    with_theory,
)
from netcalc.models.hosts.host_stack import message_s
from netcalc.models.rates.line_rate import frame_rate_pps
from netcalc.models.rates.packet_rates import stop_and_wait_goodput_bps
from netcalc.models.sizes.framing import ethernet_frame_bytes
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, MIN_FRAME_BYTES
from netcalc.models.tcp.loss_limited import mathis_throughput_bps
from netcalc.models.tcp.window import throughput_bps
from netcalc.path import Path
from netcalc.samples import (
    BulkSamples,
)
from netcalc.units import show


def bulk(samples: BulkSamples, *, path: Path | None = None, title: str = "") -> Comparison:
    """Put theory over transfers: by pairs in lockstep, by buffer, or by size of the write.

    Parameters
    ----------
    samples : BulkSamples
        A run of :func:`netcalc.experiments.bulk`, ``line_rate`` or ``lockstep``.
    path : Path, optional
        The path; by default the emulated one of the run, if there was one.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        By pairs: the median goodput, against so many cycles of a single pair, up to the largest
        rate that was measured; over a path, against cycles of its own length, up to its slowest
        line. By buffer, over a path: the median goodput, against a buffer a round trip, up to the
        line; also of no rows, if a path is given. By frame: as :func:`frame_rates`. Otherwise: the
        smallest time of a write of each size, with a cost of each write and of each byte fitted.
    """
    if not len(samples):
        if path is not None:
            return _by_buffer(samples, path, title)
        return points(
            [], measured=[], theory=lambda size: np.full_like(size, np.nan),
            x_name="size of the write", x_unit="byte", y_name="time of a write", y_unit="s",
            title=title or "Transfers",
        )  # fmt: skip
    path = path or emulated_path(samples.meta.instrument)
    buffers = np.asarray(samples.asked_buffer_bytes)
    if np.unique(np.asarray(samples.pair_count)).size > 1 or _in_lockstep(samples):
        return _by_pairs(samples, path, title)
    if samples.meta.tool == "netcalc line-rate":
        return frame_rates(samples, path=path, title=title)
    swept = np.unique(buffers[~np.isnan(buffers)]).size > 1
    if path is not None and swept and "UDP" not in samples.meta.target:
        return _by_buffer(samples, path, title)
    return _by_write(samples, path, title)


def frame_rates(samples: BulkSamples, *, path: Path | None = None, title: str = "") -> Comparison:
    """Put theory over blasts of datagrams, packets a second by size of the frame.

    Parameters
    ----------
    samples : BulkSamples
        A run of :func:`netcalc.experiments.line_rate`.
    path : Path, optional
        The path; by default the emulated one of the run, if there was one.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Over a path: the median of what arrived, against the slowest node and the slowest line of
        Ethernet, with nothing fitted. Otherwise: the most that was sent, as all that the sender's
        processor does for a datagram is in its time, with a cost of each datagram and of each byte
        of its frame fitted, and its 95% band.
    """
    path = path or emulated_path(samples.meta.instrument)
    title = title or f"Frames a second, {samples.meta.target}"
    compared = _from_costs(samples, title) if path is None else _from_limits(samples, path, title)
    places: dict[str, list[str]] = {}
    for row in sorted(samples.by_setting(), key=lambda row: row["write_bytes"]):
        frame = float(ethernet_frame_bytes(row["write_bytes"] + DATAGRAM_HEADERS_BYTES))
        places.setdefault(row["limit"] or "not known", []).append(f"{frame:.0f}")
    limits = [f"The limit at {', '.join(at)} bytes: {place}." for place, at in places.items()]
    if len(limits) == 1:
        limits = [f"The limit at every size: {place}." for place in places]
    return replace(compared, sentence=" ".join((compared.sentence, *limits)))


def _from_limits(samples: BulkSamples, path: Path, title: str) -> Comparison:
    """Compare what arrived with the slowest node and the slowest line, an Ethernet."""
    found = samples.medians("rate_pps")
    slowest_s = max(path.source_processing_s, *(hop.processing_s for hop in path.hops))
    line_bps = path.bottleneck_bps
    node_pps = 1.0 / slowest_s if slowest_s else np.inf
    node = f"node of {show(node_pps, 'packet/s')}, " if slowest_s else ""

    def theory(frame: FloatArray) -> FloatArray:
        return np.minimum(node_pps, frame_rate_pps(frame, bandwidth_bps=line_bps))

    return _over_frames(
        ethernet_frame_bytes(found["write_bytes"] + DATAGRAM_HEADERS_BYTES),
        measured=found["rate_pps"],
        theory=theory,
        y_name="received",
        title=title,
        measured_label="median",
        predicted_label=f"{node}line of {show(line_bps, 'bit/s')}",
    )


def _over_frames(
    frames: FloatArray,
    *,
    measured: FloatArray,
    theory: Callable[[FloatArray], FloatArray],
    **labels: str,
) -> Comparison:
    """Compare rates with a formula; the curve begins at the smallest frame there is."""
    compared = points(
        frames,
        measured=measured,
        theory=theory,
        x_name="frame with FCS",
        x_unit="byte",
        y_unit="packet/s",
        **labels,
    )
    largest = max(float(compared.curve_x[-1]), 2 * MIN_FRAME_BYTES)
    curve_x = np.linspace(MIN_FRAME_BYTES, largest, CURVE_POINTS)
    curve = theory(curve_x)
    return replace(compared, curve_x=curve_x, curve_y=curve, curve_low=curve, curve_high=curve)


def _from_costs(samples: BulkSamples, title: str) -> Comparison:
    """Compare what was sent with a time for each datagram and each byte, fitted, and its band."""
    costs = fit.frame_costs(samples)
    parts = []
    for name, what in (("packet_cost", "each"), ("byte_cost", "a byte")):
        if name not in costs.not_identifiable:
            text = show(costs.params[name], "s", digits=3)
            if np.isfinite(margin := costs.margin_of(name)):
                text += f" ± {show(margin, 's', digits=2)}"
            parts.append(f"{text} {what}")
    label = " + ".join(parts) or "no times to fit"

    def rate(frame: FloatArray, deviations: float = 0.0) -> FloatArray:
        spent_s = costs.predict(frame)
        off_s = np.minimum(np.nan_to_num(costs.margin(frame)), 0.9 * spent_s)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / (spent_s + deviations * off_s))

    compared = _over_frames(
        costs.x,
        measured=1.0 / costs.measured,
        theory=rate,
        y_name="sent",
        title=title,
        measured_label="best of each size",
        predicted_label=f"fit: {label}",
    )
    return replace(
        compared,
        curve_low=rate(compared.curve_x, 1.0),
        curve_high=rate(compared.curve_x, -1.0),
        sentence=f"A datagram takes its sender {label}.",
    )


def _in_lockstep(samples: BulkSamples) -> bool:
    """Whether every sender waited for an answer before it sent again."""
    return bool(np.isfinite(np.asarray(samples.cycle_s)).all())


def _by_pairs(samples: BulkSamples, path: Path | None, title: str) -> Comparison:
    found = samples.medians("goodput_bps", "cycle_s", by="pair_count")
    pairs, goodput = found["pair_count"], found["goodput_bps"]
    size = float(np.max(samples.write_bytes))
    if path is None:
        cycle_s, most_bps = float(found["cycle_s"][0]) / pairs[0], float(goodput.max())
        label = f"pairs of {show(cycle_s, 's', digits=3)} a cycle, up to what was reached"
    else:
        known = samples.meta.instrument
        cycle_s, most_bps = lockstep_cycle(
            path,
            write_bytes=size,
            reply_bytes=known.get("reply_bytes", 1),
            segment_bytes=known.get("mss_bytes", size),
        )
        label = f"pairs of {show(cycle_s, 's', digits=3)} a cycle, up to {show(most_bps, 'bit/s')}"
    compared = points(
        pairs,
        measured=goodput,
        theory=lambda count: stop_and_wait_goodput_bps(
            np.round(count), payload_bytes=size, cycle_s=cycle_s, capacity_bps=most_bps
        ),
        x_name="pairs in lockstep",
        x_unit="1",
        y_name="goodput",
        y_unit="bit/s",
        title=title or f"Writes of {show(size, 'byte')}, each waiting for its answer",
        measured_label="median",
        predicted_label=label,
    )
    if path is None and pairs.size == 1:
        own = show(float(found["cycle_s"][0]), "s", digits=3)
        each = "A pair in lockstep" if pairs[0] == 1 else f"Each of {pairs[0]:g} pairs in lockstep"
        tells = "another number of pairs tells how many pay"
        return replace(compared, sentence=f"{each} sends a message every {own}; {tells}.")
    sentence = f"A pair in lockstep sends a message every {show(cycle_s, 's', digits=3)}"
    most = f"{show(most_bps, 'bit/s')}, {'all that was reached' if path is None else 'the line'}"
    off = compared.residual / compared.predicted
    worst = float(off[np.argmax(np.abs(off))])
    return replace(
        compared,
        sentence=f"{sentence}, and goodput grows with their number up to {most}: what was measured "
        f"is off that by {np.median(off):+.1%} in the median and by {worst:+.1%} at most.",
    )


def lockstep_cycle(
    path: Path, *, write_bytes: float = 1460, reply_bytes: float = 1, segment_bytes: float = 1448
) -> tuple[float, float]:
    """Return what one cycle of a pair in lockstep takes over a path, and what fills the path.

    Parameters
    ----------
    path : Path
        The path.
    write_bytes, reply_bytes : float
        What is sent, and the answer. [byte]
    segment_bytes : float
        Largest payload of a segment: 1448 on Ethernet, with the timestamps of TCP. [byte]

    Returns
    -------
    tuple of float
        Time from a write to the next [s]; goodput that fills the slowest line [bit/s].
    """
    count = int(np.ceil(write_bytes / segment_bytes))
    packets = np.full(count, float(segment_bytes + TCP_HEADERS_BYTES))
    packets[-1] -= count * segment_bytes - write_bytes
    there_s = float(path.timeline(packets).done_s[-1])
    answer_s = float(path.reverse.one_way_s(reply_bytes + TCP_HEADERS_BYTES))
    cycle_s = there_s + answer_s - path.hops[-1].processing_s
    return cycle_s, path.bottleneck_bps * write_bytes / float(packets.sum())


def _by_buffer(samples: BulkSamples, path: Path, title: str) -> Comparison:
    found = dict.fromkeys(("asked_buffer_bytes", "goodput_bps", "window_bytes"), np.zeros(0))
    if len(samples):
        found = samples.medians("goodput_bps", "window_bytes", by="asked_buffer_bytes")
    known = samples.meta.instrument
    mtu_bytes = known.get("truth", {}).get("mtu_bytes", 1500)
    headers_bytes = TCP_HEADERS_BYTES + 20 * (known.get("address_family") == "IPv6")
    line_bps = path.bottleneck_bps * (mtu_bytes - headers_bytes) / mtu_bytes
    rtt_s = float(path.rtt_s(mtu_bytes, reply_bytes=headers_bytes))
    lost_ratio = 1.0 - (1.0 - _link_loss_ratio(known)) ** len(path.hops)
    lossy_bps = mathis_throughput_bps(lost_ratio, mss_bytes=mtu_bytes - headers_bytes, rtt_s=rtt_s)
    line_bps = min(line_bps, float(lossy_bps))
    loss = f", or what {show(lost_ratio, 'ratio', digits=3)} of loss lets through"
    compared = points(
        found["asked_buffer_bytes"],
        measured=found["goodput_bps"],
        theory=lambda size: throughput_bps(size, rtt_s=rtt_s, bandwidth_bps=line_bps),
        x_name="buffer",
        x_unit="byte",
        y_name="goodput",
        y_unit="bit/s",
        title=title or f"Buffer against a round trip of {show(rtt_s, 's', digits=3)}",
        measured_label="median",
        predicted_label="a buffer each round trip, up to the line" + loss * (lost_ratio > 0),
    )
    if not len(samples):
        return with_theory(
            replace(compared, curve_x=np.linspace(0.0, 65_536.0, CURVE_POINTS)),
            lambda size: throughput_bps(size, rtt_s=rtt_s, bandwidth_bps=line_bps),
            label=compared.predicted_label,
        )
    share = found["window_bytes"] / found["asked_buffer_bytes"]
    if not np.isfinite(share).any():
        return compared
    low, high = (show(float(edge), "1", digits=2) for edge in (np.nanmin(share), np.nanmax(share)))
    return replace(
        compared,
        sentence=f"{compared.sentence} The window of the theory is the buffer that was asked for; "
        f"seen in flight at once were {low} to {high} of it.",
    )


def _link_loss_ratio(known: Mapping[str, Any]) -> float:
    """Return the share that each link of an emulated path was told to lose. [ratio]"""
    return float(known.get("truth", {}).get("links", {}).get("loss_ratio") or 0.0)


def _by_write(samples: BulkSamples, path: Path | None, title: str) -> Comparison:
    spent_s = np.asarray(samples.wall_s) / np.asarray(samples.write_count)
    sizes = np.unique(np.asarray(samples.write_bytes)[np.isfinite(spent_s)])
    least_s = np.array(
        [float(np.nanmin(spent_s[samples.write_bytes == size])) for size in sizes.tolist()]
    )
    line = fit.robust_line(sizes, least_s)
    byte_cost = max(line.slope, 0.0)  # a slope that is lost in the noise is none
    write_cost = max(line.intercept if line.slope >= 0 else float(np.mean(least_s)), 0.0)
    what = "a datagram" if "UDP" in samples.meta.target else "a write"
    label = f"{show(write_cost, 's', digits=3)} {what} + {show(byte_cost, 's', digits=3)} a byte"
    if sizes.size == 1:  # two costs are not known from one size
        label = f"{show(write_cost, 's', digits=3)} {what} of {show(float(sizes[0]), 'byte')}"
    compared = points(
        sizes,
        measured=least_s,
        theory=lambda size: message_s(size, packet_cost=write_cost, copy_cost=byte_cost),
        x_name="size of the write",
        x_unit="byte",
        y_name=f"time of {what}",
        y_unit="s",
        title=title or f"Cost of {what}, {samples.meta.target}",
        measured_label="smallest of each size",
        predicted_label=f"fit: {label}",
    )
    saturated = int((samples.limit == "sender").sum())
    limit = f" In {saturated} of {len(samples)} runs the sender was the limit." if saturated else ""
    sentence = f"The sender spends {label}."
    if path is not None:  # which blocks it
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (np.asarray(samples.user_s) + np.asarray(samples.system_s)) / samples.wall_s
        busy = float(np.median(share))
        computes = f", of which it computes {busy:.0%}" * bool(np.isfinite(busy))
        sentence = f"By the clock the sender takes {label}{computes}; the rest it waits for room."
    return replace(compared, sentence=f"{sentence}{limit}")
