"""Comparison of times against size: of round trips, where a latency and a rate are fitted, and of
transactions over a path or on one host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, choice, named_arguments
from netcalc.compare._comparison import (
    FULL_SEGMENT_BYTES,
    PATH_LABEL,
    Comparison,
    curve_over,
    emulated_path,
    points,
    truth_value,
)
from netcalc.fit import Costs, Fit
from netcalc.fit import datagram_costs as datagram_fit
from netcalc.fit.costs import LARGEST_PACKET_BYTES, ip_version, loopback_mtu_bytes
from netcalc.language import phrase, term
from netcalc.models.delays.exchange import ExchangeTimeline, exchange_timeline
from netcalc.models.sizes.fragmentation import fragment_count
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, STAMPED_HEADERS_BYTES
from netcalc.models.tcp.handshakes import Security, Transport, round_trips
from netcalc.path import Path
from netcalc.rate_layers import IN_HEADING, LINE, in_words
from netcalc.samples import RttSamples, TransactionSamples, TransferSamples
from netcalc.units import show, show_rate


def from_fit(fitted: Fit, title: str) -> Comparison:
    """Return the points, the line through them and its 95% band."""
    curve_x = curve_over(fitted.x)
    curve = fitted.predict(curve_x)
    low, high = fitted.band(curve_x)
    predicted = fitted.predict(fitted.x)
    is_rtt = fitted.y_name == "rtt_s"
    return Comparison(
        x=fitted.x,
        measured=fitted.measured,
        predicted=predicted,
        residual=fitted.residual,
        outlier=fitted.outlier,
        curve_x=curve_x,
        curve_y=curve,
        curve_low=low,
        curve_high=high,
        x_name=phrase("user data") if is_rtt else phrase("size"),
        x_unit="byte",
        y_name=phrase("round-trip time") if is_rtt else phrase("transfer time"),
        y_unit="s",
        title=title,
        measured_label=phrase("measured, minimum of each size") if is_rtt else phrase("measured"),
        predicted_label=_fit_label(fitted),
        sentence=_fit_sentence(fitted),
        fit=fitted,
    )


def _fit_label(fitted: Fit) -> str:
    rate = fitted.params["bandwidth_bps"]
    if np.isnan(rate):
        if fitted.line.slope:
            return phrase("line of the points, no rate")
        return phrase("mean of the points, no rate")
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    return phrase(
        "fitted: {start} + {rate}",
        start=show(fitted.params[start], "s"),
        rate=show_rate(rate, LINE, digits=3),
    )


def _fit_sentence(fitted: Fit) -> str:
    if not fitted.x.size:
        if fitted.y_name == "rtt_s":
            return phrase("No round trip has both a size and a time.")
        return phrase("No transfer has both a size and a time.")
    reason = fitted.not_identifiable.get("bandwidth_bps")
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    steps = "" if fitted.stepped is None else "; ".join(map(str, fitted.stepped.said)) + ". "
    if reason is not None:
        return steps + phrase(
            "Minimum time {time}; {reason}.",
            time=show(float(fitted.measured.min()), "s"),
            reason=reason,
        )
    if start in fitted.not_identifiable:
        return steps + phrase(
            "Equivalent rate {rate}, latency unknown: {reason}.",
            rate=show_rate(fitted.params["bandwidth_bps"], LINE),
            reason=fitted.not_identifiable[start],
        )
    largest = float(fitted.x.max())
    at_largest = float(fitted.predict(np.asarray(largest)))
    share = fitted.params[start] / at_largest
    said = "" if np.isnan(fitted.stderr["bandwidth_bps"]) else phrase(" (± 1 standard error)")
    kept, predicted = ~fitted.outlier, fitted.predict(fitted.x)
    if np.unique(fitted.x[kept]).size < 3:
        quality = phrase("two sizes, so the line is exact: a third size would test it")
    else:
        spread = float(np.median(np.abs(fitted.residual[kept])))
        quality = phrase(
            "median absolute residual {spread}",
            spread=show(spread, "s", digits=2),
        )
    if fitted.line.is_relative:
        spread = float(np.median(np.abs(fitted.residual[kept] / predicted[kept])))
        quality = phrase("median absolute residual {spread} of the time", spread=f"{spread:.2g}")
    if fitted.stepped is not None:
        return steps + _stepped_sentence(fitted, start, quality)
    sentence = (
        term(
            "At {largest}, {share:.0%} of the {at_largest} is latency ({start}), the rest is "
            "serialization at an equivalent rate of {rate} ({layer}){said}: latency limits; "
            "{quality}."
        )
        if share >= 0.5
        else term(
            "At {largest}, {share:.0%} of the {at_largest} is latency ({start}), the rest is "
            "serialization at an equivalent rate of {rate} ({layer}){said}: bandwidth limits; "
            "{quality}."
        )
    )
    rate = show_rate(fitted.params["bandwidth_bps"], IN_HEADING, digits=3)
    return phrase(
        sentence,
        largest=show(largest, "byte"),
        share=share,
        at_largest=show(at_largest, "s"),
        start=show(fitted.params[start], "s") + _plus_minus(fitted, start, "s"),
        rate=rate + _plus_minus(fitted, "bandwidth_bps", "bit/s"),
        layer=in_words(LINE),
        said=said,
        quality=quality,
    )


def _stepped_sentence(fitted: Fit, start: str, quality: str) -> str:
    """Return what the time at the largest size consists of, steps among it."""
    largest = float(fitted.x.max())
    at_largest = float(fitted.predict(np.asarray(largest)))
    rate = show_rate(fitted.params["bandwidth_bps"], IN_HEADING, digits=3)
    return phrase(
        "At {largest}, {share:.0%} of the {at_largest} is latency ({start}) and {stepped:.0%} "
        "steps, the rest is serialization at an equivalent rate of {rate} ({layer}){said}; "
        "{quality}.",
        largest=show(largest, "byte"),
        share=fitted.params[start] / at_largest,
        at_largest=show(at_largest, "s"),
        start=show(fitted.params[start], "s") + _plus_minus(fitted, start, "s"),
        stepped=sum(step.jump for step in fitted.steps) / at_largest,
        rate=rate + _plus_minus(fitted, "bandwidth_bps", "bit/s"),
        layer=in_words(LINE),
        said=phrase(" (± 1 standard error)"),
        quality=quality,
    )


def _plus_minus(fitted: Fit, name: str, unit: str) -> str:
    error = fitted.stderr[name]
    return "" if np.isnan(error) else f" ± {show(error, unit, digits=2)}"


def size_title(samples: RttSamples | TransferSamples) -> str:
    """Return the title of a figure of times against size."""
    origin = samples.meta.target or samples.meta.source
    is_rtt = isinstance(samples, RttSamples)
    what = phrase("Round-trip time against size" if is_rtt else "Transfer time against size")
    return what + (f", {origin}" if origin else "")


def exchange_over(
    path: Path, packet_bytes: ArrayLike, sender: ArrayLike, after: ArrayLike, wait_s: ArrayLike
) -> ExchangeTimeline:
    """Return when the packets of an exchange pass the links and nodes of a path."""
    return exchange_timeline(
        packet_bytes,
        sender=sender,
        after=after,
        wait_s=wait_s,
        bandwidth_bps=[link.bandwidth_bps for link in path.links],
        latency_s=[link.latency_s for link in path.links],
        processing_s=[hop.processing_s for hop in path.hops[:-1]],
        source_processing_s=path.source_processing_s,
        destination_processing_s=path.hops[-1].processing_s,
    )


OPENING_BYTES, COOKIE_BYTES = 60, 12
"""SYN packet with the TCP options of Linux; the Fast Open cookie. [byte]"""
OPENING_PAYLOAD_BYTES = 1500 - OPENING_BYTES - COOKIE_BYTES
"""User data that fits into a SYN packet with a cookie. [byte]"""
# A fit with as many costs as sizes leaves residuals of rounding only.
EXACT_FIT_S = 1e-9
"""Median residual below which a fit counts as exact: a nanosecond. [s]"""
# nnls stops at absolute tolerances near 1e-12, and a cost per byte in seconds is about 1e-9.
FIT_UNIT_S = 1e-6
"""Unit in which times are fitted. [s]"""
TRANSACTIONS_OVER: dict[str, tuple[Transport, Security, int]] = {
    "ping": ("udp", "none", 28),
    "udp": ("udp", "none", 28),
    "tfo": ("tfo", "none", STAMPED_HEADERS_BYTES),
    "tcp": ("tcp", "none", STAMPED_HEADERS_BYTES),
    "tls": ("tcp", "tls1.3", STAMPED_HEADERS_BYTES),
}
"""Transport, security and headers of each protocol of a live transaction."""


@named_arguments
def transactions(
    samples: TransactionSamples,
    *,
    mode: str = "",
    clock: str = "program",
    path: Path | None = None,
    title: str = "",
) -> Comparison:
    """Compare the transactions of one protocol with predictions, by size.

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.transactions`.
    mode : str
        The protocol; by default the first one.
    clock : {'program', 'tap'}
        Times measured by the program, or by the packet tap.
    path : Path, optional
        The path, if it is known: the prediction is the protocol's round trips over it, and nothing
        is fitted. By default the emulated path of the run, if there was one. Without one the costs
        of the host are fitted: a fixed time, a time per byte and a time per further packet.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Points are the minimum time of each size. The prediction for a path includes every packet
        of a stream that fits the initial window: the handshake, the acknowledgements before
        request and response, and the FIN after the response. Where a packet tap recorded the
        packets, these are used, including those of the TLS handshake and of IPv6, and the sentence
        states the processing time of both hosts; otherwise the bytes of the TLS handshake are not
        included: about 1.5 kB, 8 ms on a T1.
    """
    mode = mode or (samples.modes or ("udp",))[0]
    choice("mode", mode, tuple(TRANSACTIONS_OVER))
    transport, _, header_bytes = TRANSACTIONS_OVER[mode]
    instrument = samples.meta.instrument
    header_bytes = (instrument.header_bytes or {}).get(mode, header_bytes)
    path = path or emulated_path(instrument)
    seen = _recorded_packets(samples, mode, path) if path is not None else {}
    choice("clock", clock, ("program", "tap"))
    column = "response_s" if clock == "program" else "tap_s"
    sizes, times = samples.minima(mode, column=column)
    if path is not None:
        known_path = path

        def by_rule(size: FloatArray) -> FloatArray:
            if transport == "udp":
                return known_path.rtt_s(size + header_bytes)
            times = [
                _stream_s(float(write_bytes), mode, known_path)
                for write_bytes in np.ceil(size).flat
            ]
            return np.array(times).reshape(size.shape)

        at = np.array(sorted(seen))
        more_s = np.array([seen[size][0] for size in at.tolist()]) - by_rule(at) if seen else at

        def with_recorded(size: FloatArray) -> FloatArray:
            return by_rule(size) + (np.interp(size, at, more_s) if seen else 0.0)

        theory: Callable[[FloatArray], FloatArray] = with_recorded
        label, costs = PATH_LABEL + (phrase(", packets recorded by taps") if seen else ""), ""
    else:
        mtu = float(instrument.loopback_mtu_bytes or np.inf)
        theory, costs = _host_costs(mode, sizes, times, mtu, ip_version(instrument), header_bytes)
        label = (
            phrase("fitted: {costs}", costs=costs) if costs else phrase("not fitted, too few sizes")
        )
    compared = points(
        sizes,
        measured=times,
        theory=theory,
        x_name=phrase("user data"),
        x_unit="byte",
        y_name=phrase("transaction time"),
        y_unit="s",
        title=title or phrase("Transactions over {mode}", mode=mode),
        measured_label=phrase("{mode}, minimum of each size", mode=mode),
        predicted_label=label,
    )
    if path is None:
        return replace(compared, sentence=_host_sentence(compared, mode, costs))
    hosts_s = [seen[size][1] for size in sizes.tolist() if size in seen]
    if not hosts_s:
        return compared
    processing = show(float(np.median(hosts_s)), "s", digits=3)
    text = phrase(
        "{mode}: {sentence} According to the taps, both hosts took {processing} of it.",
        mode=mode,
        sentence=compared.sentence,
        processing=processing,
    )
    return replace(compared, sentence=text)


def _recorded_packets(
    samples: TransactionSamples, mode: str, path: Path
) -> dict[float, tuple[float, float]]:
    """Return, by size, the time of the recorded packets over a path, and that of the hosts."""
    instrument = samples.meta.instrument
    mtu_bytes = truth_value(instrument, "mtu_bytes", 1500)
    times = {}
    for size, rows in (instrument.exchanges or {}).get(mode, {}).items():
        sizes, sender, after, wait_s = (
            [row[name] for row in rows] for name in ("packet_bytes", "sender", "after", "wait_s")
        )
        if max(sizes) <= mtu_bytes:  # otherwise segmented later by the card, as on a loopback
            alone_s, done_s = (
                float(exchange_over(path, sizes, sender, after, waits).received_s[-1])
                for waits in ([0.0] * len(rows), wait_s)
            )
            times[float(size)] = (alone_s, done_s - alone_s)
    return times


def _stream_s(payload_bytes: float, mode: str, path: Path) -> float:
    """Time of a request and its response over a stream of its own, until the FIN is read. [s]"""
    if mode == "tfo":  # the SYN carries the first data, the rest follows the SYN-ACK
        first = min(payload_bytes, OPENING_PAYLOAD_BYTES)
        there = [OPENING_BYTES + COOKIE_BYTES + first]
        opening_s, answer = 0.0, OPENING_BYTES
        if payload_bytes > first:
            opening_s = float(path.rtt_s(there[0], reply_bytes=OPENING_BYTES))
            there, answer = _segments(payload_bytes - first), STAMPED_HEADERS_BYTES
    else:
        more = round_trips("tcp", security=TRANSACTIONS_OVER[mode][1]) - 2
        opening_s = float(path.rtt_s(OPENING_BYTES) + more * path.rtt_s(STAMPED_HEADERS_BYTES))
        there = [STAMPED_HEADERS_BYTES, *_segments(payload_bytes)]
        answer = STAMPED_HEADERS_BYTES
    back = [answer, *_segments(payload_bytes), STAMPED_HEADERS_BYTES]
    both_s = path.timeline(there).done_s[-1] + path.reverse.timeline(back).done_s[-1]
    return opening_s + float(both_s) - path.hops[-1].processing_s


def _segments(payload_bytes: float) -> list[float]:
    """Return the packets of a message over TCP."""
    full, rest = divmod(payload_bytes, FULL_SEGMENT_BYTES)
    whole = [float(FULL_SEGMENT_BYTES + STAMPED_HEADERS_BYTES)] * int(full)
    return whole + [rest + STAMPED_HEADERS_BYTES] * (rest > 0)


def _host_costs(
    mode: str,
    sizes: FloatArray,
    times: FloatArray,
    mtu_bytes: float,
    version: int,
    header_bytes: float,
) -> tuple[Callable[[FloatArray], FloatArray], str]:
    """Fit the costs of a transaction: fixed, per byte, and per packet after the first.

    No cost is negative: one that is not significant may be 0. The text of the costs is empty where
    there are too few sizes to fit them.
    """
    from scipy.optimize import nnls  # late, as half of the package works without scipy

    def parts(size: FloatArray) -> FloatArray:
        if mode in ("ping", "udp"):  # 8 bytes of header are data of the IP packet
            mtu = min(mtu_bytes, LARGEST_PACKET_BYTES)
            count = fragment_count(np.ceil(size) + 8, mtu_bytes=mtu, ip_version=version)
        else:
            count = np.maximum(np.ceil(size / (mtu_bytes - header_bytes)), 1.0)
        return np.stack([np.ones_like(size), size, count - 1.0])

    if not sizes.size:
        return lambda size: np.full_like(size, np.nan), ""
    columns = parts(sizes)
    used = [index for index in range(3) if index == 0 or np.ptp(columns[index]) > 0]
    if sizes.size < len(used):
        return lambda size: np.full_like(size, np.nan), ""
    costs = np.zeros(3)
    scale = columns[used].max(axis=1)  # to columns of one magnitude, for nnls as well
    solved = nnls((columns[used] / scale[:, None]).T, times / FIT_UNIT_S)[0]
    costs[used] = solved / scale * FIT_UNIT_S
    text = phrase(
        "{costs} + {costs_2} per byte",
        costs=show(costs[0], "s", digits=3),
        costs_2=show(costs[1], "s", digits=2),
    )
    if 2 in used:
        text += phrase(" + {costs} per further packet", costs=show(costs[2], "s", digits=2))
    return lambda size: costs @ parts(size), text


def _host_sentence(compared: Comparison, mode: str, costs: str) -> str:
    """Summarize the costs of a transaction on one host, and the residuals."""
    sizes = compared.x.size
    if not sizes:
        return phrase("{mode}: no transaction has a time.", mode=mode)
    first = phrase(
        "{mode}: a transaction of {x} takes ",
        mode=mode,
        x=show(float(compared.x[0]), "byte"),
    )
    first += show(float(compared.measured[0]), "s", digits=3)
    if sizes == 1:
        return phrase("{first}; the cost per byte requires more sizes.", first=first)
    if not costs:
        return phrase(
            "{first}; the costs per byte and per further packet require more sizes.",
            first=first,
        )
    spread = float(np.median(np.abs(compared.residual)))
    sentence = phrase(
        "{mode}: a transaction takes {costs} (fitted)",
        mode=mode,
        costs=costs,
    )
    if spread < EXACT_FIT_S:
        return f"{sentence}."
    return phrase(
        "{sentence}; median absolute residual {spread}.",
        sentence=sentence,
        spread=show(spread, "s", digits=2),
    )


@named_arguments
def datagram_costs(
    samples: TransactionSamples, *, clock: str = "program", relative: bool = False
) -> Comparison:
    """Compare UDP transactions with a sum of fitted costs, which has a step at fragmentation.

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.transactions` with ``udp``, without a path.
    clock : {'program', 'tap'}
        Times measured by the program, or by the packet tap.
    relative : bool
        Divide all times by that of the largest datagram that is not fragmented.

    Returns
    -------
    Comparison
        Points are the minimum time of each size, with the 95% band of the fit.
    """
    choice("clock", clock, ("program", "tap"))
    costs = datagram_fit(samples, column="response_s" if clock == "program" else "tap_s")
    mtu = loopback_mtu_bytes(samples)
    largest = np.array([mtu - DATAGRAM_HEADERS_BYTES])
    whole_s = float(costs.predict(largest)[0])
    with_mtu = phrase(" with MTU {mtu:.0f}", mtu=mtu) if costs.x.size else ""
    name, unit, scale = term("transaction time"), "s", 1.0
    if relative and whole_s > 0:
        name, unit, scale = (
            phrase("time relative to {largest:.0f} B", largest=largest[0]),
            "ratio",
            1 / whole_s,
        )
    bare = points(
        costs.x, measured=costs.measured * scale, theory=lambda size: costs.predict(size) * scale,
        x_name=phrase("user data"), x_unit="byte", y_name=name, y_unit=unit,
        title=phrase("UDP on loopback{with_mtu}: fragmentation step", with_mtu=with_mtu),
        measured_label=phrase("measured, minimum of each size"),
        predicted_label=phrase("fitted: sum of costs"),
    )  # fmt: skip
    # The curve has a point on both sides of each step.
    curve_x = np.union1d(bare.curve_x, np.append(largest, largest + 1.0))
    curve_x = curve_x[curve_x <= bare.curve_x[-1]]
    curve, margin = costs.predict(curve_x) * scale, np.nan_to_num(costs.margin(curve_x)) * scale
    return replace(
        bare, outlier=costs.outlier, curve_x=curve_x, curve_y=curve,
        curve_low=curve - margin, curve_high=curve + margin,
        sentence=_step_sentence(costs, float(largest[0]), whole_s),
    )  # fmt: skip


def _step_sentence(costs: Costs, largest_bytes: float, whole_s: float) -> str:
    """Summarize the cost of a further fragment, and of a further mbuf."""
    if not costs.x.size:
        return phrase("There are no UDP transactions with a time.")
    reason = costs.not_identifiable.get("packet_cost")
    if reason is not None:
        return phrase("No step can be determined: {reason}.", reason=reason)

    def with_margin(name: str) -> str:
        margin = show(costs.margin_of(name), "s", digits=2)
        return f"{show(costs.params[name], 's', digits=3)} ± {margin} (95%)"

    sizes = phrase(
        "From {largest:.0f} to {largest_2:.0f} bytes",
        largest=largest_bytes,
        largest_2=largest_bytes + 1,
    )
    if costs.is_seen("packet_cost"):
        share = costs.params["packet_cost"] / whole_s
        text = phrase(
            "{sizes} the time increases by {share:.0%}: {with_margin} (95%).",
            sizes=sizes,
            share=share,
            with_margin=with_margin("packet_cost"),
        )
    else:
        text = phrase(
            "{sizes} there is no significant step: {with_margin}.",
            sizes=sizes,
            with_margin=with_margin("packet_cost"),
        )
    if "mbuf_s" in costs.not_identifiable:
        return text
    seen = "a significant" if costs.is_seen("mbuf_s") else phrase("no significant")
    return phrase(
        "{text} A further mbuf of 4.4BSD has {seen} cost here: {with_margin}.",
        text=text,
        seen=seen,
        with_margin=with_margin("mbuf_s"),
    )
