"""Comparison of transfers and blasts: by buffer, by pairs, by size of the write or of the frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from netcalc import fit
from netcalc.checks import FloatArray, named_arguments
from netcalc.compare._comparison import CURVE_POINTS, Comparison, points, with_theory
from netcalc.compare._router import is_router, router
from netcalc.compare._runs import FULL_SEGMENT_BYTES, emulated_path, experiment, truth_value
from netcalc.errors import DomainError
from netcalc.fit.costs import IPV6_EXTRA_BYTES, ip_version, protocol
from netcalc.language import phrase, term
from netcalc.models.hosts.host_stack import message_s
from netcalc.models.rates.line_rate import frame_rate_pps, stop_and_wait_goodput_bps
from netcalc.models.sizes import headers
from netcalc.models.sizes.framing import ethernet_frame_bytes
from netcalc.models.tcp.loss_limited import mathis_throughput_bps
from netcalc.models.tcp.window import throughput_bps
from netcalc.path import Path
from netcalc.rate_layers import ETHERNET_LINE, TCP_PAYLOAD, named
from netcalc.samples import BulkSamples, Instrument
from netcalc.units import show, show_rate

# The band of a rate is 1 / (time + margin) to 1 / (time - margin): at 0.9 it ends at ten times the
# rate, which is off any figure, and stays finite.
WIDEST_MARGIN_RATIO = 0.9
"""Largest margin of a time that is drawn, as a share of the time. [ratio]"""
DRAWN_BUFFER_BYTES = 65_536.0
"""Largest buffer of a curve without points: the largest window without scaling. [byte]"""


@named_arguments
def bulk(samples: BulkSamples, *, path: Path | None = None, title: str = "") -> Comparison:
    """Compare transfers with predictions: by pairs in lockstep, by buffer, or by size of the write.

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
        By pairs: the median goodput; the prediction is n times that of one pair, up to the largest
        measured rate, or over a path that of the path's own cycle, up to its bottleneck link. By
        buffer, over a path: the median goodput; the prediction is one buffer per round trip, up to
        the bottleneck link, also for no rows if a path is given. By frame: as :func:`frame_rates`.
        Otherwise: the minimum time of a write of each size, with fitted costs per write and byte.
        Of transfers in both directions at once, those of the first row's direction.
    """
    if not len(samples):
        if path is not None:
            return _by_buffer(samples, path, title)
        return points(
            [], measured=[], theory=lambda size: np.full_like(size, np.nan),
            x_name=phrase("size of the write"), x_unit="byte",
            y_name=phrase("time of a write"), y_unit="s",
            title=title or "Transfers",
        )  # fmt: skip
    path = path or emulated_path(samples.meta.instrument)
    directions = np.asarray(samples.direction)
    if not is_router(samples) and np.unique(directions).size > 1:
        first = str(directions[0])
        columns = {name: column[directions == first] for name, column in samples.columns().items()}
        compared = bulk(replace(samples, **columns), path=path, title=title)
        said = phrase("Of {direction}: {text}", direction=first, text=compared.sentence)
        return replace(compared, title=f"{compared.title}, {first}", sentence=said)
    buffers = np.asarray(samples.asked_buffer_bytes)
    if np.unique(np.asarray(samples.pair_count)).size > 1 or _in_lockstep(samples):
        return _by_pairs(samples, path, title)
    if is_router(samples):
        ways = router(samples, title=title)
        if not ways:
            raise DomainError("router-hosts-alone", "samples", len(samples))
        return ways[0]
    if experiment(samples.meta) == "line_rate":
        return frame_rates(samples, path=path, title=title)
    swept = np.unique(buffers[~np.isnan(buffers)]).size > 1
    if path is not None and swept and protocol(samples.meta) != "udp":
        return _by_buffer(samples, path, title)
    return _by_write(samples, path, title)


@named_arguments
def frame_rates(samples: BulkSamples, *, path: Path | None = None, title: str = "") -> Comparison:
    """Compare blasts of datagrams with predictions: packet rate by frame size.

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
        Over a path: the median received rate; the prediction is the rate of the slowest node or
        the bottleneck Ethernet link, and nothing is fitted. Otherwise: the highest sent rate, with
        fitted costs per datagram and per byte of its frame, and their 95% band; the sender's time
        includes all processing of a datagram.
    """
    path = path or emulated_path(samples.meta.instrument)
    title = title or phrase("Frame rate, {target}", target=samples.meta.target)
    compared = _from_costs(samples, title) if path is None else _from_limits(samples, path, title)
    frames: dict[str, list[str]] = {}
    for row in sorted(samples.by_setting(), key=lambda row: row["write_bytes"]):
        frame = float(ethernet_frame_bytes(row["write_bytes"] + headers.DATAGRAM_HEADERS_BYTES))
        frames.setdefault(row["limit"] or "unknown", []).append(f"{frame:.0f}")
    limits = [
        phrase("Limit at {join} bytes: {limit}.", join=", ".join(sizes), limit=limit)
        for limit, sizes in frames.items()
    ]
    if len(limits) == 1:
        limits = [phrase("Limit at every size: {limit}.", limit=limit) for limit in frames]
    return replace(compared, sentence=" ".join((compared.sentence, *limits)))


def _from_limits(samples: BulkSamples, path: Path, title: str) -> Comparison:
    """Compare the received rate with the slowest node and the bottleneck Ethernet link."""
    medians = samples.medians("rate_pps")
    slowest_s = max(path.source_processing_s, *(hop.processing_s for hop in path.hops))
    link_bps = path.bottleneck_bps
    node_pps = 1.0 / slowest_s if slowest_s else np.inf
    node = phrase("node of {node}, ", node=show(node_pps, "packet/s")) if slowest_s else ""

    def theory(frame: FloatArray) -> FloatArray:
        padded = np.maximum(frame, headers.MIN_FRAME_BYTES)  # the curve begins at nothing
        return np.minimum(node_pps, frame_rate_pps(padded, bandwidth_bps=link_bps))

    return _over_frames(
        ethernet_frame_bytes(medians["write_bytes"] + headers.DATAGRAM_HEADERS_BYTES),
        measured=medians["rate_pps"],
        theory=theory,
        y_name="received",
        title=title,
        measured_label=phrase("measured, median"),
        predicted_label=phrase(
            "predicted: {node}link of {link}",
            node=node,
            link=show_rate(link_bps, ETHERNET_LINE),
        ),
    )


def _over_frames(
    frames: FloatArray,
    *,
    measured: FloatArray,
    theory: Callable[[FloatArray], FloatArray],
    **labels: str,
) -> Comparison:
    """Compare rates with a formula; the curve begins at the smallest Ethernet frame."""
    compared = points(
        frames,
        measured=measured,
        theory=theory,
        x_name=phrase("frame with FCS"),
        x_unit="byte",
        y_unit="packet/s",
        **labels,
    )
    largest = max(float(compared.curve_x[-1]), 2 * headers.MIN_FRAME_BYTES)
    curve_x = np.linspace(headers.MIN_FRAME_BYTES, largest, CURVE_POINTS)
    curve = theory(curve_x)
    return replace(compared, curve_x=curve_x, curve_y=curve, curve_low=curve, curve_high=curve)


def _from_costs(samples: BulkSamples, title: str) -> Comparison:
    """Compare the sent rate with fitted costs per datagram and byte, and their band."""
    costs = fit.frame_costs(samples)
    parts = []
    for name, what in (("packet_cost", phrase("per datagram")), ("byte_cost", phrase("per byte"))):
        if name not in costs.not_identifiable:
            text = show(costs.params[name], "s", digits=3)
            if np.isfinite(margin := costs.margin_of(name)):
                text += f" ± {show(margin, 's', digits=2)} (95%)"
            parts.append(f"{text} {what}")
    text = " + ".join(parts)

    def rate(frame: FloatArray, deviations: float = 0.0) -> FloatArray:
        spent_s = costs.predict(frame)
        margin_s = np.minimum(np.nan_to_num(costs.margin(frame)), WIDEST_MARGIN_RATIO * spent_s)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / (spent_s + deviations * margin_s))

    compared = _over_frames(
        costs.x,
        measured=1.0 / costs.measured,
        theory=rate,
        y_name="sent",
        title=title,
        measured_label=phrase("measured, maximum of each size"),
        predicted_label=phrase("fitted: {text}", text=text)
        if text
        else phrase("not fitted, no times"),
    )
    return replace(
        compared,
        curve_low=rate(compared.curve_x, 1.0),
        curve_high=rate(compared.curve_x, -1.0),
        sentence=phrase("The sender takes {text}.", text=text)
        if text
        else phrase("No datagram has a time."),
    )


def _in_lockstep(samples: BulkSamples) -> bool:
    """Whether every sender waited for an answer before its next write."""
    return bool(np.isfinite(np.asarray(samples.cycle_s)).all())


def _by_pairs(samples: BulkSamples, path: Path | None, title: str) -> Comparison:
    medians = samples.medians("goodput_bps", "cycle_s", by="pair_count")
    pairs, goodput = medians["pair_count"], medians["goodput_bps"]
    size = float(np.max(samples.write_bytes))
    if path is None:
        cycle_s, most_bps = float(medians["cycle_s"][0]) / pairs[0], float(goodput.max())
        most = term("the largest measured rate")
    else:
        instrument = samples.meta.instrument
        cycle_s, most_bps = lockstep_cycle(
            path,
            write_bytes=size,
            reply_bytes=instrument.reply_bytes or 1,
            segment_bytes=instrument.mss_bytes or size,
        )
        most = show_rate(most_bps, TCP_PAYLOAD)
    label = phrase(
        "predicted: one write per cycle of {cycle}, up to {most}",
        cycle=show(cycle_s, "s", digits=3),
        most=most,
    )
    compared = points(
        pairs,
        measured=goodput,
        theory=lambda count: stop_and_wait_goodput_bps(
            np.round(count), payload_bytes=size, cycle_s=cycle_s, capacity_bps=most_bps
        ),
        x_name=phrase("pairs in lockstep"),
        x_unit="1",
        y_name=named("goodput", TCP_PAYLOAD),
        y_unit="bit/s",
        title=title
        or phrase(
            "Goodput of stop-and-wait senders, writes of {size}",
            size=show(size, "byte"),
        ),
        measured_label=phrase("measured, median"),
        predicted_label=label,
    )
    if path is None and pairs.size == 1:
        every = show(float(medians["cycle_s"][0]), "s", digits=3)
        each = (
            phrase("A pair in lockstep")
            if pairs[0] == 1
            else phrase("Each of {pairs:g} pairs in lockstep", pairs=pairs[0])
        )
        return replace(
            compared,
            sentence=phrase(
                "{each} sends a message every {every}; the largest useful number of pairs "
                "needs runs with different numbers.",
                each=each,
                every=every,
            ),
        )
    limit = phrase("the largest measured rate") if path is None else phrase("the bottleneck link")
    error = compared.residual / compared.predicted
    worst = float(error[np.argmax(np.abs(error))])
    return replace(
        compared,
        sentence=phrase(
            "A pair in lockstep sends a message every {cycle}; goodput is proportional to "
            "the number of pairs up to {most}, {limit}. Measured minus predicted: median "
            "{value:+.1%}, worst {worst:+.1%}.",
            cycle=show(cycle_s, "s", digits=3),
            most=show_rate(most_bps, TCP_PAYLOAD),
            limit=limit,
            value=np.median(error),
            worst=worst,
        ),
    )


@named_arguments
def lockstep_cycle(
    path: Path,
    *,
    write_bytes: float = 1460,
    reply_bytes: float = 1,
    segment_bytes: float = FULL_SEGMENT_BYTES,
) -> tuple[float, float]:
    """Return the cycle time of a pair in lockstep over a path, and the goodput of a full path.

    Parameters
    ----------
    path : Path
        The path.
    write_bytes, reply_bytes : float
        Sizes of the write and of its answer. [byte]
    segment_bytes : float
        Largest payload of a segment: 1448 on Ethernet, with TCP timestamps. [byte]

    Returns
    -------
    tuple of float
        Time from one write to the next [s]; goodput that fills the bottleneck link [bit/s].
    """
    count = int(np.ceil(write_bytes / segment_bytes))
    packets = np.full(count, float(segment_bytes + headers.STAMPED_HEADERS_BYTES))
    packets[-1] -= count * segment_bytes - write_bytes
    there_s = float(path.timeline(packets).done_s[-1])
    answer_s = float(path.reverse.one_way_s(reply_bytes + headers.STAMPED_HEADERS_BYTES))
    cycle_s = there_s + answer_s - path.hops[-1].processing_s
    return cycle_s, path.rate_bps(float(packets.max())) * write_bytes / float(packets.sum())


def _by_buffer(samples: BulkSamples, path: Path, title: str) -> Comparison:
    medians = dict.fromkeys(("asked_buffer_bytes", "goodput_bps", "window_bytes"), np.zeros(0))
    if len(samples):
        medians = samples.medians("goodput_bps", "window_bytes", by="asked_buffer_bytes")
    instrument = samples.meta.instrument
    mtu_bytes = truth_value(instrument, "mtu_bytes", 1500)
    headers_bytes = headers.STAMPED_HEADERS_BYTES + IPV6_EXTRA_BYTES * (ip_version(instrument) == 6)
    link_bps = path.rate_bps(mtu_bytes) * (mtu_bytes - headers_bytes) / mtu_bytes
    rtt_s = float(path.rtt_s(mtu_bytes, reply_bytes=headers_bytes))
    lost_ratio = 1.0 - (1.0 - _link_loss_ratio(instrument)) ** len(path.hops)
    lossy_bps = mathis_throughput_bps(lost_ratio, mss_bytes=mtu_bytes - headers_bytes, rtt_s=rtt_s)
    most_bps = min(link_bps, float(lossy_bps))
    most = term("the link")
    if lost_ratio > 0:
        most += phrase(
            " or the limit at {lost} loss",
            lost=show(lost_ratio, "ratio", digits=3),
        )
    compared = points(
        medians["asked_buffer_bytes"],
        measured=medians["goodput_bps"],
        theory=lambda size: throughput_bps(size, rtt_s=rtt_s, bandwidth_bps=most_bps),
        x_name="buffer",
        x_unit="byte",
        y_name=named("goodput", TCP_PAYLOAD),
        y_unit="bit/s",
        title=title
        or phrase(
            "Goodput against buffer, round trip {rtt}",
            rtt=show(rtt_s, "s", digits=3),
        ),
        measured_label=phrase("measured, median"),
        predicted_label=phrase("predicted: one buffer per round trip, up to {most}", most=most),
    )
    if not len(samples):
        return with_theory(
            replace(compared, curve_x=np.linspace(0.0, DRAWN_BUFFER_BYTES, CURVE_POINTS)),
            lambda size: throughput_bps(size, rtt_s=rtt_s, bandwidth_bps=most_bps),
            label=compared.predicted_label,
        )
    share = medians["window_bytes"] / medians["asked_buffer_bytes"]
    if not np.isfinite(share).any():
        return compared
    low, high = (show(float(edge), "1", digits=2) for edge in (np.nanmin(share), np.nanmax(share)))
    return replace(
        compared,
        sentence=phrase(
            "{sentence} The predicted window is the requested buffer; the data in flight "
            "was at most {low} to {high} of it.",
            sentence=compared.sentence,
            low=low,
            high=high,
        ),
    )


def _link_loss_ratio(instrument: Instrument) -> float:
    """Return the loss ratio that was set for each link of an emulated path. [ratio]"""
    return float(truth_value(instrument, "links", {}).get("loss_ratio") or 0.0)


def _by_write(samples: BulkSamples, path: Path | None, title: str) -> Comparison:
    spent_s = np.asarray(samples.wall_s) / np.asarray(samples.write_count)
    sizes = np.unique(np.asarray(samples.write_bytes)[np.isfinite(spent_s)])
    least_s = np.array(
        [float(np.nanmin(spent_s[samples.write_bytes == size])) for size in sizes.tolist()]
    )
    line = fit.robust_line(sizes, least_s)
    byte_cost = max(line.slope, 0.0)  # a negative slope is scatter
    write_cost = max(line.intercept if line.slope >= 0 else float(np.mean(least_s)), 0.0)
    what = "datagram" if protocol(samples.meta) == "udp" else "write"
    text = phrase(
        "{write_cost} per {what}",
        write_cost=show(write_cost, "s", digits=3),
        what=what,
    )
    if sizes.size == 1:  # one size does not determine two costs
        text += f" of {show(float(sizes[0]), 'byte')}"
    elif byte_cost > 0.0:
        text += phrase(" + {byte_cost} per byte", byte_cost=show(byte_cost, "s", digits=3))
    else:
        text += phrase("; larger ones take no longer, so that no cost per byte can be told")
    compared = points(
        sizes,
        measured=least_s,
        theory=lambda size: message_s(size, packet_cost=write_cost, copy_cost=byte_cost),
        x_name=phrase("size of the write"),
        x_unit="byte",
        y_name=phrase("time per {what}", what=what),
        y_unit="s",
        title=title or phrase("Cost per {what}, {target}", what=what, target=samples.meta.target),
        measured_label=phrase("measured, minimum of each size"),
        predicted_label=phrase("fitted: {text}", text=text),
    )
    saturated = int((samples.limit == "sender").sum())
    counts = {"saturated": saturated, "samples": len(samples)}
    limit = phrase(" In {saturated} of {samples} runs the sender was the limit.", **counts)
    limit = limit if saturated else ""
    sentence = phrase("The sender takes {text}.", text=text)
    if path is not None or samples.meta.instrument.peer_machine is not None:
        # The sender blocks while its buffer is full.
        busy = float(np.median(samples.sender_utilization))
        computes = phrase(", {busy:.0%} of it on the CPU", busy=busy) * bool(np.isfinite(busy))
        sentence = phrase(
            "The sender takes {text}{computes}; the rest is waiting for buffer space.",
            text=text,
            computes=computes,
        )
    return replace(compared, sentence=f"{sentence}{limit}")
