"""Theory beside measurement: one object to print, to draw and to reason with.

>>> from netcalc.samples import TransferSamples
>>> transfers = TransferSamples(payload_bytes=[1e4, 1e5, 1e6], duration_s=[0.032, 0.048, 0.208])
>>> found = overlay(transfers)
>>> round(float(found.residual.max()), 4), found.predicted_label
(0.0, 'fit: 30.22 ms + 45 Mbit/s')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import fit
from netcalc.fit import ICMP_HEADER_BYTES, Costs, Fit
from netcalc.fit import datagram_costs as datagram_fit
from netcalc.models._domain import FloatArray, as_float, choice
from netcalc.models._headers import MIN_FRAME_BYTES
from netcalc.models.delayed_ack import LINUX_ATO_MIN_S, tick_timer_wait_s
from netcalc.models.exchange import ExchangeTimeline, exchange_timeline
from netcalc.models.fragmentation import fragment_count
from netcalc.models.framing import ethernet_frame_bytes
from netcalc.models.handshakes import round_trips
from netcalc.models.host_stack import message_s
from netcalc.models.line_rate import frame_rate_pps
from netcalc.models.probing import pair_dispersion_s
from netcalc.models.rate_reading import stop_and_wait_goodput_bps
from netcalc.models.window import throughput_bps
from netcalc.models.write_timeline import WriteTimeline, write_timeline
from netcalc.path import Path
from netcalc.samples import (
    BulkSamples,
    HopSamples,
    Meta,
    RttSamples,
    TrainSamples,
    TransactionSamples,
    TransferSamples,
)
from netcalc.units import show

CURVE_POINTS = 200
"""Points of the drawn curve."""
TCP_HEADERS_BYTES = 52
"""Headers of IPv4 and of TCP with its timestamps. [byte]"""
SEGMENT_BYTES = 1448
"""User data of a full segment with time stamps on a path of 1500 bytes. [byte]"""
OPENING_BYTES, COOKIE_BYTES = 60, 12
"""The packet that opens a stream, with the options of Linux; the cookie of Fast Open. [byte]"""
OPENING_PAYLOAD_BYTES = 1500 - OPENING_BYTES - COOKIE_BYTES
"""User data that fits beside them. [byte]"""
TRANSACTIONS_OVER = {
    "ping": ("udp", "none", 28),
    "udp": ("udp", "none", 28),
    "tfo": ("tfo", "none", TCP_HEADERS_BYTES),
    "tcp": ("tcp", "none", TCP_HEADERS_BYTES),
    "tls": ("tcp", "tls1.3", TCP_HEADERS_BYTES),
}
"""Transport, security and headers of each protocol of a live transaction."""
WRITING_POLICIES = {"nagle": "minshall", "flush": "minshall", "nodelay": "nodelay"}
"""Rule of the client by way of writing; the other ways send the request as one."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Measured points, the prediction at each, the band and what is left.

    Parameters
    ----------
    x, measured, predicted, residual : numpy.ndarray
        The points; ``residual`` is measured less predicted.
    outlier : numpy.ndarray of bool
        Points that did not enter the fit.
    curve_x, curve_y, curve_low, curve_high : numpy.ndarray
        The prediction over the range of ``x`` and its 95% band; the band is the curve itself
        where no uncertainty is known.
    x_name, x_unit, y_name, y_unit : str
        What is on the axes, and in which SI unit.
    title, measured_label, predicted_label : str
        For the figure and its legend.
    sentence : str
        What the comparison says.
    fit : Fit or None
        The fit behind the prediction, if it was fitted.
    """

    x: FloatArray
    measured: FloatArray
    predicted: FloatArray
    residual: FloatArray
    outlier: NDArray[np.bool_]
    curve_x: FloatArray
    curve_y: FloatArray
    curve_low: FloatArray
    curve_high: FloatArray
    x_name: str
    x_unit: str
    y_name: str
    y_unit: str
    title: str
    measured_label: str
    predicted_label: str
    sentence: str
    fit: Fit | None = None

    def rows(self) -> list[dict[str, float]]:
        """Return the points as rows: x, measured, predicted and residual."""
        return [
            {"x": float(a), "measured": float(b), "predicted": float(c), "residual": float(d)}
            for a, b, c, d in zip(self.x, self.measured, self.predicted, self.residual, strict=True)
        ]


def overlay(
    samples: RttSamples
    | TransferSamples
    | TransactionSamples
    | BulkSamples
    | HopSamples
    | TrainSamples,
    *,
    path: Path | None = None,
    header_bytes: int | None = None,
    title: str = "",
) -> Comparison:
    """Put theory over measured times: against size, or exchange by exchange.

    Parameters
    ----------
    samples : RttSamples, TransferSamples, TransactionSamples, BulkSamples, HopSamples, TrainSamples
        The measurement.
    path : Path, optional
        The path, if it is known: then nothing is fitted and the residual is the error of theory.
        By default the emulated path of the run; without one latency and rate are fitted.
    header_bytes : int, optional
        Headers in front of the user data of an echo; by default those of the run, or of ping.
        [byte]
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Measured, predicted, band and residual.
    """
    if isinstance(samples, HopSamples):
        return probes(samples, path=path, title=title)
    if isinstance(samples, TrainSamples):
        return trains(samples, path=path, title=title)
    if isinstance(samples, BulkSamples):
        return bulk(samples, path=path, title=title)
    if isinstance(samples, TransactionSamples):
        if "write_bytes" in samples.meta.instrument:
            return small_writes(samples, path=path, title=title)
        return transactions(samples, path=path, title=title)
    headers = 0 if header_bytes is None else header_bytes
    if isinstance(samples, TransferSamples):
        fitted = fit.transfer_against_size(samples)
    elif isinstance(samples, RttSamples):
        headers = _echo_headers(samples.meta) if header_bytes is None else header_bytes
        path = path or _emulated(samples.meta.instrument)
        fitted = fit.rtt_against_size(samples, header_bytes=headers)
    else:
        raise TypeError(
            f"samples must be round trips, transfers or transactions, not {type(samples).__name__}"
        )
    comparison = _from_fit(fitted, title or _title(samples))
    if path is None:
        return comparison
    # Nothing is fitted, so nothing is set aside.
    comparison = replace(comparison, outlier=np.zeros(comparison.x.shape, bool))
    if isinstance(samples, TransferSamples):
        return with_theory(
            comparison, lambda size: path.one_way_s(size), label="theory of the path"
        )
    return with_theory(
        comparison, lambda size: path.rtt_s(size + headers), label="theory of the path"
    )


def _echo_headers(meta: Meta) -> int:
    """Return the headers of an echo: those of a live run, else those of ping. [byte]"""
    of_tcp = meta.layers.get("payload_bytes") == "TCP payload"
    own = TCP_HEADERS_BYTES if of_tcp else ICMP_HEADER_BYTES
    return own + 20 * (meta.instrument.get("address_family") == "IPv6")


def small_writes(
    samples: TransactionSamples,
    *,
    path: Path | None = None,
    delayed_ack_s: float = LINUX_ATO_MIN_S,
    title: str = "",
) -> Comparison:
    """Put the theory of Nagle's rule and delayed acknowledgements over every round of a run.

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.small_writes`.
    path : Path, optional
        The path between the two ends; without it that of the run, or no distance.
    delayed_ack_s : float
        Time the server holds back an acknowledgement; Linux at least 40 ms. [s]
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Nothing is fitted: the residual is the error of theory, and the host's own time. The band is
        the tick of the kernel's timer, which is never early and up to a tick late: 40 to 44 ms
        where it ticks every 4 ms. Where rounds follow one another at once, they keep step with the
        tick, and the prediction is one time; elsewhere it is the middle of the band.
    """
    mode, warm_up = np.asarray(samples.mode), np.asarray(samples.warm_up)
    known = samples.meta.instrument
    path = path or _emulated(known)
    times = {
        (name, quick): _round_s(samples, name, path, delayed_ack_s, quick=quick)
        for name in samples.modes
        for quick in (False, True)
    }
    always = bool(known.get("quickack", False))
    in_step = ~warm_up & (np.roll(mode, 1) == mode) & ~np.roll(warm_up, 1)
    in_step &= not known.get("interval_s", 0.0)
    of_round = [
        times[name, quick or always]
        for name, quick in zip(mode.tolist(), warm_up.tolist(), strict=True)
    ]
    low, middle, step, high = np.array(of_round, dtype=float).reshape(-1, 4).T
    predicted = np.where(in_step, step, middle)
    rows = np.asarray(samples.measured)
    x = np.flatnonzero(rows) + 1.0
    measured = as_float("response_s", samples.response_s)[rows]

    def at_round(values: FloatArray) -> Callable[[FloatArray], FloatArray]:
        def theory(at: FloatArray) -> FloatArray:
            if not values.size:
                return at * np.nan
            found: FloatArray = values[np.clip(np.round(at).astype(int), 1, values.size) - 1]
            return found

        return theory

    compared = points(
        x,
        measured=measured,
        theory=at_round(predicted),
        x_name="exchange",
        x_unit="1",
        y_name="response time",
        y_unit="s",
        title=title or "Small writes: " + ", then ".join(samples.modes),
        predicted_label="theory, nothing fitted",
    )
    return replace(
        compared,
        curve_low=at_round(low)(compared.curve_x),
        curve_high=at_round(high)(compared.curve_x),
        sentence=_of_modes(samples, predicted),
    )


def _round_s(
    samples: TransactionSamples,
    mode: str,
    path: Path | None,
    delayed_ack_s: float,
    *,
    quick: bool,
) -> tuple[float, float, float, float]:
    """Return the time of a round: least, middle, in step with the tick, longest. [s]"""
    known = samples.meta.instrument
    sizes = known.get("write_bytes") or [1]
    gap_s, tick_s = float(known.get("write_gap_s", 0.0)), float(known.get("tick_s", 0.0))
    header_bytes = TCP_HEADERS_BYTES + 20.0 * (known.get("address_family") == "IPv6")
    writes: FloatArray = gap_s * np.arange(len(sizes), dtype=np.float64)
    policy = WRITING_POLICIES.get(mode, "nodelay")
    if mode not in WRITING_POLICIES:
        writes, sizes = writes[:1] if mode == "single" else writes[-1:], [sum(sizes)]
    rtt_s = float(known.get("rtt_s", 0.0))
    if path is not None:
        rtt_s = float(path.rtt_s(sizes[0] + header_bytes))
    reply = as_float("reply_bytes", samples.reply_bytes)
    reply_bytes = float(np.nanmax(reply, initial=0.0)) or 1.0
    mss_bytes = float(known.get("mss_bytes", 1448))

    def of(held_s: float) -> tuple[float, float]:
        """Return when the round is done, and the time from the timer to the next request."""
        steps = write_timeline(
            writes, write_bytes=sizes, rtt_s=rtt_s, delayed_ack_s=held_s, mss_bytes=mss_bytes,
            policy=policy, quickack=quick,
        )  # fmt: skip
        held = [end for what, end in zip(steps.what, steps.end_s, strict=True) if "holds" in what]
        if path is None:
            return steps.done_s, steps.done_s - (held[0] if held else 0.0) + rtt_s / 2
        done_s, first_s, later_s = _clocked(
            path, steps, writes, header_bytes, reply_bytes, mss_bytes, quick=quick
        )
        return done_s, done_s - (held[0] + later_s if held else 0.0) + first_s

    least_s, phase_s = of(delayed_ack_s)
    if not tick_s or quick:
        return least_s, least_s, least_s, least_s
    ticks = round(delayed_ack_s / tick_s)
    in_step_s = float(tick_timer_wait_s(phase_s, tick_count=ticks, tick_s=tick_s))
    middle_s, longest_s = (ticks + 0.5) * tick_s, (ticks + 1) * tick_s
    return of(ticks * tick_s)[0], of(middle_s)[0], of(in_step_s)[0], of(longest_s)[0]


def _clocked(
    path: Path,
    steps: WriteTimeline,
    writes: FloatArray,
    header_bytes: float,
    reply_bytes: float,
    mss_bytes: float,
    *,
    quick: bool,
) -> tuple[float, float, float]:
    """Clock the packets of a request in parts over a path.

    Returns when the response is there, when the first segment is, and how much later than without
    bytes on the lines an acknowledgement is sent.
    """
    packet_bytes: list[float] = []
    sender: list[int] = []
    after: list[int] = []
    wait_s: list[float] = []
    arrivals: list[tuple[float, int]] = []  # at the other end, of which packet
    for row, (who, what) in enumerate(zip(steps.who, steps.what, strict=True)):
        if not who.startswith("to "):
            continue
        side = int(who == "to client")
        start_s = float(steps.start_s[row])
        came = [(at, k) for at, k in arrivals if sender[k] != side and at <= start_s + 1e-12]
        since_s, before = max(came, default=(0.0, -1))
        if not side and np.isclose(writes, start_s, rtol=0, atol=1e-12).any():
            since_s, before = 0.0, -1
        sizes = [float(steps.payload_bytes[row])]
        if what == "response":
            full = int(np.ceil(reply_bytes / mss_bytes)) - 1
            sizes = [mss_bytes] * full + [reply_bytes - full * mss_bytes]
            read = [k for k, other in enumerate(sender) if not other][:2][-1]
            if quick or read > 0:  # Linux acknowledges the second part that was read, at once
                packet_bytes.append(header_bytes)
                sender.append(1)
                after.append(read)
                wait_s.append(0.0)
        arrivals.append((float(steps.end_s[row]), len(packet_bytes)))
        for size in sizes:
            packet_bytes.append(size + header_bytes)
            sender.append(side)
            after.append(before)
            wait_s.append(max(start_s - since_s, 0.0))
    clocked = _exchange_over(path, packet_bytes, sender, after, wait_s)
    first_s = float(clocked.received_s[0])
    return float(clocked.received_s[-1]), first_s, first_s - arrivals[0][0]


def _exchange_over(
    path: Path, packet_bytes: ArrayLike, sender: ArrayLike, after: ArrayLike, wait_s: ArrayLike
) -> ExchangeTimeline:
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


def ladder(samples: TransactionSamples, *, mode: str) -> WriteTimeline:
    """Return what packet taps saw of the second round of a mode: segments, and who waited.

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.small_writes`.
    mode : str
        The way of writing.

    Returns
    -------
    WriteTimeline
        The same rows as theory has, to be drawn in the same way; none where no tap was possible.
    """
    rows = samples.meta.instrument.get("ladder", {}).get(mode, [])
    responses = [row["end_s"] for row in rows if row["what"] == "response"]

    def column(name: str) -> FloatArray:
        return np.array([row[name] for row in rows], dtype=np.float64)

    return WriteTimeline(
        who=tuple(row["who"] for row in rows),
        what=tuple(row["what"] for row in rows),
        start_s=column("start_s"),
        end_s=column("end_s"),
        payload_bytes=column("payload_bytes"),
        done_s=max(responses, default=np.nan),
    )


def _of_modes(samples: TransactionSamples, predicted: FloatArray) -> str:
    """Say for each mode what is predicted, what was measured, and what the kernel counted."""
    parts = []
    for mode in samples.modes:
        rows = samples.of_mode(mode)
        if not rows.any():
            continue
        times = as_float("response_s", samples.response_s)[rows]
        text = (
            f"{mode}: predicted {show(float(np.median(predicted[rows])), 's')}, measured "
            f"{show(float(np.median(times)), 's')} in the median of {times.size}"
        )
        counters = samples.meta.instrument.get("counters", {}).get(mode, {})
        if "DelayedACKs" in counters:
            text += f", acknowledgements delayed: {counters['DelayedACKs']}"
        parts.append(text)
    if not parts:
        return "There are no rounds to compare with the theory."
    sentence = "After the warm-up of each mode: " + "; ".join(parts) + "."
    tick_s = float(samples.meta.instrument.get("tick_s", 0.0))
    if tick_s:
        sentence += f" The kernel's timer ticks every {show(tick_s, 's')} and is never early."
    return sentence


def transactions(
    samples: TransactionSamples,
    *,
    mode: str = "",
    clock: str = "program",
    path: Path | None = None,
    title: str = "",
) -> Comparison:
    """Put theory over the transactions of one protocol, size by size.

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.transactions`.
    mode : str
        The protocol; by default the first one.
    clock : {'program', 'tap'}
        Whose times: those of the program, or of the packet tap.
    path : Path, optional
        The path, if it is known: round trips of the protocol over it, and nothing is fitted. By
        default the emulated path of the run, if there was one. Without one a fixed time, a time a
        byte and a time for each further packet are fitted: what the host spends.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Of the smallest time of each size. The theory of a path has every packet of a stream on its
        lines, as long as the first window is enough: those that open it, the acknowledgement in
        front of the request and of the response, the end behind the response. Where a packet tap
        saw the packets, they are clocked as they were, those of the TLS handshake and of IPv6 too,
        and the sentence says what the two hosts took in between; otherwise a handshake's bytes are
        not in it: about 1.5 kB, 8 ms on a T1.
    """
    mode = mode or (samples.modes or ("udp",))[0]
    choice("mode", mode, tuple(TRANSACTIONS_OVER))
    transport, _, header_bytes = TRANSACTIONS_OVER[mode]
    known = samples.meta.instrument
    header_bytes = known.get("header_bytes", {}).get(mode, header_bytes)
    path = path or _emulated(known)
    seen = _known_packets(samples, mode, path) if path is not None else {}
    choice("clock", clock, ("program", "tap"))
    column = "response_s" if clock == "program" else "tap_s"
    sizes, times = samples.minima(mode, column=column)
    if path is not None:
        known_path = path

        def by_rule(size: FloatArray) -> FloatArray:
            if transport == "udp":
                return known_path.rtt_s(size + header_bytes)
            times = [_stream_s(float(one), mode, known_path) for one in np.ceil(size).flat]
            return np.array(times).reshape(size.shape)

        at = np.array(sorted(seen))
        more_s = np.array([seen[size][0] for size in at.tolist()]) - by_rule(at) if seen else at

        def of_path(size: FloatArray) -> FloatArray:
            return by_rule(size) + (np.interp(size, at, more_s) if seen else 0.0)

        theory: Callable[[FloatArray], FloatArray] = of_path
        label = "theory of the path" + (", packets known by the taps" if seen else "")
    else:
        mtu = float(known.get("loopback_mtu_bytes", np.inf))
        version = 6 if known.get("address_family") == "IPv6" else 4
        theory, label = _host_costs(mode, sizes, times, mtu, version, header_bytes)
    compared = points(
        sizes,
        measured=times,
        theory=theory,
        x_name="user data",
        x_unit="byte",
        y_name="transaction time",
        y_unit="s",
        title=title or f"Transactions over {mode}",
        measured_label=f"{mode}, smallest of each size",
        predicted_label=label,
    )
    if path is None:
        return replace(compared, sentence=_of_host(compared))
    hosts_s = [seen[size][1] for size in sizes.tolist() if size in seen]
    if not hosts_s:
        return compared
    own = show(float(np.median(hosts_s)), "s", digits=3)
    text = f"{mode}: {compared.sentence} Of it {own} is the two hosts' own, by the taps."
    return replace(compared, sentence=text)


def _known_packets(
    samples: TransactionSamples, mode: str, path: Path
) -> dict[float, tuple[float, float]]:
    """Return, by size, the time of the packets that taps saw, over a path, and the hosts' own."""
    known = samples.meta.instrument
    mtu_bytes = known.get("truth", {}).get("mtu_bytes", 1500)
    found = {}
    for size, rows in known.get("exchanges", {}).get(mode, {}).items():
        sizes, sender, after, wait_s = (
            [row[name] for row in rows] for name in ("packet_bytes", "sender", "after", "wait_s")
        )
        if max(sizes) <= mtu_bytes:  # else one that a card cuts, as on a loopback
            alone_s, done_s = (
                float(_exchange_over(path, sizes, sender, after, waits).received_s[-1])
                for waits in ([0.0] * len(rows), wait_s)
            )
            found[float(size)] = (alone_s, done_s - alone_s)
    return found


def _stream_s(payload_bytes: float, mode: str, path: Path) -> float:
    """Time of a request and its response over a stream of its own, until its end is read. [s]"""
    if mode == "tfo":  # what fits goes with the first packet, the rest after its answer
        first = min(payload_bytes, OPENING_PAYLOAD_BYTES)
        there = [OPENING_BYTES + COOKIE_BYTES + first]
        opening_s, answer = 0.0, OPENING_BYTES
        if payload_bytes > first:
            opening_s = float(path.rtt_s(there[0], reply_bytes=OPENING_BYTES))
            there, answer = _segments(payload_bytes - first), TCP_HEADERS_BYTES
    else:
        more = round_trips("tcp", security=TRANSACTIONS_OVER[mode][1]) - 2
        opening_s = float(path.rtt_s(OPENING_BYTES) + more * path.rtt_s(TCP_HEADERS_BYTES))
        there = [TCP_HEADERS_BYTES, *_segments(payload_bytes)]
        answer = TCP_HEADERS_BYTES
    back = [answer, *_segments(payload_bytes), TCP_HEADERS_BYTES]
    both_s = path.timeline(there).done_s[-1] + path.reverse.timeline(back).done_s[-1]
    return opening_s + float(both_s) - path.hops[-1].processing_s


def _segments(payload_bytes: float) -> list[float]:
    """Return the packets of a message over TCP."""
    full, rest = divmod(payload_bytes, SEGMENT_BYTES)
    whole = [float(SEGMENT_BYTES + TCP_HEADERS_BYTES)] * int(full)
    return whole + [rest + TCP_HEADERS_BYTES] * (rest > 0)


def _emulated(facts: Mapping[str, Any]) -> Path | None:
    """Return the path that a run was made to go, from what it noted; None without one."""
    truth = facts.get("truth")
    return Path.of_truth(truth) if truth else None


def _host_costs(
    mode: str,
    sizes: FloatArray,
    times: FloatArray,
    mtu_bytes: float,
    version: int,
    header_bytes: float,
) -> tuple[Callable[[FloatArray], FloatArray], str]:
    """Fit what a transaction costs: once, for each byte, for each packet after the first.

    A cost is never negative: where a slope is lost in the noise, it is 0.
    """
    from scipy.optimize import nnls  # late: half of the package does without scipy

    def parts(size: FloatArray) -> FloatArray:
        if mode in ("ping", "udp"):  # 8 bytes of header are data of the IP packet
            mtu = min(mtu_bytes, 65_535)
            count = fragment_count(np.ceil(size) + 8, mtu_bytes=mtu, ip_version=version)
        else:
            count = np.maximum(np.ceil(size / (mtu_bytes - header_bytes)), 1.0)
        return np.stack([np.ones_like(size), size, count - 1.0])

    if not sizes.size:
        return lambda size: np.full_like(size, np.nan), "no sizes to fit"
    columns = parts(sizes)
    used = [place for place in range(3) if place == 0 or np.ptp(columns[place]) > 0]
    if sizes.size < len(used):
        return lambda size: np.full_like(size, np.nan), "too few sizes to fit"
    costs = np.zeros(3)
    scale = columns[used].max(axis=1)  # of one size all: nnls stops at absolute tolerances
    costs[used] = nnls((columns[used] / scale[:, None]).T, times * 1e6)[0] / scale / 1e6
    label = f"fit: {show(costs[0], 's', digits=3)} + {show(costs[1], 's', digits=2)} a byte"
    if 2 in used:
        label += f" + {show(costs[2], 's', digits=2)} a further packet"
    return lambda size: costs @ parts(size), label


def datagram_costs(
    samples: TransactionSamples, *, clock: str = "program", relative: bool = False
) -> Comparison:
    """Put a sum of fitted costs over UDP transactions: is there a step where a datagram is cut?

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.transactions` with ``udp``, without a path.
    clock : {'program', 'tap'}
        Whose times: those of the program, or of the packet tap.
    relative : bool
        Whether times are shares of that of the largest datagram that is not cut.

    Returns
    -------
    Comparison
        Of the smallest time of each size, with the 95% band of the fit.
    """
    choice("clock", clock, ("program", "tap"))
    costs = datagram_fit(samples, column="response_s" if clock == "program" else "tap_s")
    mtu = min(float(samples.meta.instrument.get("loopback_mtu_bytes", np.inf)), 65_535.0)
    largest = np.array([mtu - ICMP_HEADER_BYTES])
    whole_s = float(costs.predict(largest)[0])
    of_mtu = f" of MTU {mtu:.0f}" if costs.x.size else ""
    name, unit, scale = "transaction time", "s", 1.0
    if relative and whole_s > 0:
        name, unit, scale = f"time, against that of {largest[0]:.0f} B", "ratio", 1 / whole_s
    bare = points(
        costs.x, measured=costs.measured * scale, theory=lambda size: costs.predict(size) * scale,
        x_name="user data", x_unit="byte", y_name=name, y_unit=unit,
        title=f"UDP on a loopback{of_mtu}: is there a step?",
        measured_label="smallest of each size",
        predicted_label="fit: sum of costs",
    )  # fmt: skip
    # Points of the curve stand on both sides of each step.
    curve_x = np.union1d(bare.curve_x, np.append(largest, largest + 1.0))
    curve_x = curve_x[curve_x <= bare.curve_x[-1]]
    curve, margin = costs.predict(curve_x) * scale, np.nan_to_num(costs.margin(curve_x)) * scale
    return replace(
        bare, outlier=costs.outlier, curve_x=curve_x, curve_y=curve,
        curve_low=curve - margin, curve_high=curve + margin,
        sentence=_of_step(costs, float(largest[0]), whole_s),
    )  # fmt: skip


def _of_step(costs: Costs, largest_bytes: float, whole_s: float) -> str:
    """Say whether a datagram that is cut takes longer, and one in more mbufs."""
    if not costs.x.size:
        return "There are no UDP transactions with a time."
    reason = costs.not_identifiable.get("packet_cost")
    if reason is not None:
        return f"No step can be told: {reason}."

    def with_margin(name: str) -> str:
        margin = show(costs.margin_of(name), "s", digits=2)
        return f"{show(costs.params[name], 's', digits=3)} ± {margin}"

    sizes = f"From {largest_bytes:.0f} to {largest_bytes + 1:.0f} bytes"
    if costs.is_seen("packet_cost"):
        share = costs.params["packet_cost"] / whole_s
        text = f"{sizes} time jumps by {with_margin('packet_cost')} (95%), {share:.0%} more."
    else:
        text = f"{sizes} no jump is to be told from the scatter: {with_margin('packet_cost')}."
    if "mbuf_s" in costs.not_identifiable:
        return text
    seen = "" if costs.is_seen("mbuf_s") else "no "
    return (
        f"{text} Each mbuf that 4.4BSD would take shows {seen}cost here: {with_margin('mbuf_s')}."
    )


def _of_host(compared: Comparison) -> str:
    if not compared.x.size:
        return "There are no transactions of this protocol with a time."
    spread = float(np.median(np.abs(compared.residual)))
    return (
        f"{compared.title}, {compared.predicted_label}; the points lie within "
        f"{show(spread, 's', digits=2)} of it in the median."
    )


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
        line. By frame: as :func:`frame_rates`. Otherwise: the smallest time of a write of each
        size, with a cost of each write and of each byte fitted.
    """
    if not len(samples):
        return points(
            [], measured=[], theory=lambda size: size, x_name="size of the write", x_unit="byte",
            y_name="time of a write", y_unit="s", title=title or "Transfers",
        )  # fmt: skip
    path = path or _emulated(samples.meta.instrument)
    buffers = np.asarray(samples.asked_buffer_bytes)
    if np.unique(np.asarray(samples.pair_count)).size > 1:
        return _by_pairs(samples, path, title)
    if samples.meta.tool == "netcalc line-rate":
        return frame_rates(samples, path=path, title=title)
    swept = np.unique(buffers[~np.isnan(buffers)]).size > 1
    if path is not None and swept and "UDP" not in samples.meta.target:
        return _by_buffer(samples, path, title)
    return _by_write(samples, title)


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
    path = path or _emulated(samples.meta.instrument)
    title = title or f"Frames a second, {samples.meta.target}"
    compared = _from_costs(samples, title) if path is None else _from_limits(samples, path, title)
    places: dict[str, list[str]] = {}
    for row in sorted(samples.by_setting(), key=lambda row: row["write_bytes"]):
        frame = float(ethernet_frame_bytes(row["write_bytes"] + ICMP_HEADER_BYTES))
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

    compared = points(
        ethernet_frame_bytes(found["write_bytes"] + ICMP_HEADER_BYTES),
        measured=found["rate_pps"],
        theory=theory,
        x_name="frame with FCS",
        x_unit="byte",
        y_name="received",
        y_unit="packet/s",
        title=title,
        measured_label="median",
        predicted_label=f"{node}line of {show(line_bps, 'bit/s')}",
    )
    frames = _frames_up_to(compared)
    curve = theory(frames)
    return replace(compared, curve_x=frames, curve_y=curve, curve_low=curve, curve_high=curve)


def _frames_up_to(compared: Comparison) -> FloatArray:
    """Return sizes for a curve: there is no frame below the smallest."""
    largest = max(float(compared.curve_x[-1]), 2 * MIN_FRAME_BYTES)
    return np.linspace(MIN_FRAME_BYTES, largest, CURVE_POINTS)


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

    compared = points(
        costs.x,
        measured=1.0 / costs.measured,
        theory=rate,
        x_name="frame with FCS",
        x_unit="byte",
        y_name="sent",
        y_unit="packet/s",
        title=title,
        measured_label="best of each size",
        predicted_label=f"fit: {label}",
    )
    frames = _frames_up_to(compared)
    return replace(
        compared,
        curve_x=frames,
        curve_y=rate(frames),
        curve_low=rate(frames, 1.0),
        curve_high=rate(frames, -1.0),
        sentence=f"A datagram takes its sender {label}.",
    )


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
    return points(
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
    found = samples.medians("goodput_bps", "window_bytes", by="asked_buffer_bytes")
    known = samples.meta.instrument
    mtu_bytes = known["truth"]["mtu_bytes"]
    headers_bytes = TCP_HEADERS_BYTES + 20 * (known.get("address_family") == "IPv6")
    line_bps = path.bottleneck_bps * (mtu_bytes - headers_bytes) / mtu_bytes
    rtt_s = float(path.rtt_s(mtu_bytes, reply_bytes=headers_bytes))
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
        predicted_label="a buffer each round trip, up to the line",
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


def _by_write(samples: BulkSamples, title: str) -> Comparison:
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
    return replace(compared, sentence=f"The sender spends {label}.{limit}")


def probes(samples: HopSamples, *, path: Path | None = None, title: str = "") -> Comparison:
    """Put theory over probes to every node of a path: one line a node, over the packet size.

    Parameters
    ----------
    samples : HopSamples
        A run of :func:`netcalc.experiments.probing`.
    path : Path, optional
        The path; by default the emulated one of the run. Without one a line is fitted to each node.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Points and curves of one node after the other; between two curves stands a nan.
    """
    found = fit.links(samples)
    path = path or _emulated(samples.meta.instrument)
    largest = max((float(size.max()) for size, _ in found.points), default=1500.0)
    curve_at = np.array([28.0, fit.QUOTED_BYTES, max(largest, fit.QUOTED_BYTES)])
    parts: list[tuple[FloatArray, FloatArray]] = []
    curves: list[tuple[FloatArray, FloatArray]] = []
    for hop, line in enumerate(found.lines, 1):
        size = found.points[hop - 1][0]
        if path is None or hop > len(path.hops):
            predicted, curve = (line.intercept + line.slope * x for x in (size, curve_at))
        else:
            predicted, curve = (fit.to_node_s(x, path=path, hop=hop) for x in (size, curve_at))
        parts.append((found.points[hop - 1][1], predicted))
        curves.append((np.append(curve_at, np.nan), np.append(curve, np.nan)))
    nothing = np.zeros(0)
    compared = points(
        np.concatenate([nothing, *(size for size, _ in found.points)]),
        measured=np.concatenate([nothing, *(measured for measured, _ in parts)]),
        theory=lambda x: np.full_like(x, np.nan),
        x_name="packet",
        x_unit="byte",
        y_name="round-trip time",
        y_unit="s",
        title=title or "Round trip to every node, against size",
        measured_label="smallest of each size",
        predicted_label="a line to each node" if path is None else "theory of the path",
    )
    curve_y = np.concatenate([nothing, *(curve for _, curve in curves)])
    predictions = np.concatenate([nothing, *(predicted for _, predicted in parts)])
    return replace(
        compared,
        predicted=predictions,
        residual=compared.measured - predictions,
        curve_x=np.concatenate([nothing, *(x for x, _ in curves)]),
        curve_y=curve_y,
        curve_low=curve_y,
        curve_high=curve_y,
        sentence=found.sentence,
    )


def trains(samples: TrainSamples, *, path: Path | None = None, title: str = "") -> Comparison:
    """Put theory over packets that were sent back to back: how far apart they arrive.

    Parameters
    ----------
    samples : TrainSamples
        A run of :func:`netcalc.experiments.packet_trains`.
    path : Path, optional
        The path; by default the emulated one of the run. Without one the rate of the narrowest link
        is estimated.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Train by train; trains with a packet of somebody else's in them are marked as outliers.
    """
    found = fit.bottleneck(samples)
    path = path or _emulated(samples.meta.instrument)
    rate = found.bandwidth_bps if path is None else path.bottleneck_bps
    rows = samples.trains()
    gap_s = rows["dispersion_s"] / (rows["packet_count"] - 1.0)
    size = float(np.median(rows["packet_bytes"])) if gap_s.size else 0.0
    apart_s = float(pair_dispersion_s(size, bandwidth_bps=rate)) if rate > 0 else np.nan
    compared = points(
        rows["train"],
        measured=gap_s,
        theory=lambda train: np.full_like(train, apart_s),
        x_name="train",
        x_unit="1",
        y_name="time between packets",
        y_unit="s",
        title=title or "Packets sent back to back",
        measured_label="at the far end",
        predicted_label="theory of the path" if path is not None else "the rate that most have",
    )
    return replace(compared, outlier=rows["crossed_count"] > 0, sentence=found.sentence)


def with_theory(
    comparison: Comparison, theory: Callable[[FloatArray], FloatArray], *, label: str
) -> Comparison:
    """Replace the prediction by a known formula: nothing is fitted, so there is no band."""
    curve = np.asarray(theory(comparison.curve_x), dtype=float)
    predicted = np.asarray(theory(comparison.x), dtype=float)
    residual = comparison.measured - predicted
    kept = residual[~comparison.outlier & np.isfinite(residual)]
    sentence = "There are no points to compare with the theory."
    if kept.size:
        worst = int(np.argmax(np.abs(kept)))
        sentence = (
            f"Measured less {label}: {show(float(np.median(kept)), comparison.y_unit)} in the "
            f"median of {kept.size} points, {show(float(kept[worst]), comparison.y_unit)} at most."
        )
    return replace(
        comparison,
        predicted=predicted,
        residual=residual,
        curve_y=curve,
        curve_low=curve,
        curve_high=curve,
        predicted_label=label,
        sentence=sentence,
        fit=None,
    )


def points(
    x: ArrayLike,
    *,
    measured: ArrayLike,
    theory: Callable[[FloatArray], FloatArray],
    x_name: str,
    x_unit: str,
    y_name: str,
    y_unit: str,
    title: str = "",
    measured_label: str = "measured",
    predicted_label: str = "theory",
) -> Comparison:
    """Compare points of any kind with a formula that has nothing to fit."""
    at, value = as_float("x", x), as_float("measured", measured)
    curve_x = _curve(at)
    empty = np.full(at.shape, np.nan)
    bare = Comparison(
        x=at,
        measured=value,
        predicted=empty,
        residual=empty,
        outlier=np.zeros(at.shape, bool),
        curve_x=curve_x,
        curve_y=curve_x,
        curve_low=curve_x,
        curve_high=curve_x,
        x_name=x_name,
        x_unit=x_unit,
        y_name=y_name,
        y_unit=y_unit,
        title=title,
        measured_label=measured_label,
        predicted_label=predicted_label,
        sentence="",
    )
    return with_theory(bare, theory, label=predicted_label)


def _from_fit(fitted: Fit, title: str) -> Comparison:
    from scipy.special import stdtrit  # late: half of the package does without scipy

    curve_x = _curve(fitted.x)
    curve = fitted.predict(curve_x)
    degrees = int((~fitted.outlier).sum()) - fitted.line.rank
    band = np.zeros_like(curve)
    if degrees > 0 and not np.isnan(fitted.line.covariance):
        band = float(stdtrit(degrees, 0.975)) * fitted.predict_stderr(curve_x)
    predicted = fitted.predict(fitted.x)
    is_rtt = fitted.y_name == "rtt_s"
    return Comparison(
        x=fitted.x,
        measured=fitted.measured,
        predicted=predicted,
        residual=fitted.measured - predicted,
        outlier=fitted.outlier,
        curve_x=curve_x,
        curve_y=curve,
        curve_low=curve - band,
        curve_high=curve + band,
        x_name="user data" if is_rtt else "size",
        x_unit="byte",
        y_name="round-trip time" if is_rtt else "transfer time",
        y_unit="s",
        title=title,
        measured_label="smallest of each size" if is_rtt else "measured",
        predicted_label=_fit_label(fitted),
        sentence=_fit_sentence(fitted),
        fit=fitted,
    )


def _fit_label(fitted: Fit) -> str:
    rate = fitted.params["bandwidth_bps"]
    if np.isnan(rate):
        what = "line" if fitted.line.slope else "mean"
        return f"{what} through the points: no rate to be seen"
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    return f"fit: {show(fitted.params[start], 's')} + {show(rate, 'bit/s', digits=3)}"


def _fit_sentence(fitted: Fit) -> str:
    if not fitted.x.size:
        return "There is no round trip with a size and a time in these samples."
    reason = fitted.not_identifiable.get("bandwidth_bps")
    start = "base_rtt_s" if fitted.y_name == "rtt_s" else "latency_s"
    if reason is not None:
        return f"The best time is {show(float(fitted.measured.min()), 's')}; {reason}."
    if start in fitted.not_identifiable:
        return (
            f"An equivalent rate of {show(fitted.params['bandwidth_bps'], 'bit/s')} fits, but no "
            f"latency is left: {fitted.not_identifiable[start]}."
        )
    largest = float(fitted.x.max())
    at_largest = float(fitted.predict(np.asarray(largest)))
    share = fitted.params[start] / at_largest
    limiting = "latency" if share >= 0.5 else "bandwidth"
    spread = float(np.median(np.abs(fitted.residual[~fitted.outlier])))
    return (
        f"At {show(largest, 'byte')} {share:.0%} of the {show(at_largest, 's')} is latency "
        f"({show(fitted.params[start], 's')}{_plus_minus(fitted, start, 's')}), the rest clocks "
        f"bits at an equivalent {show(fitted.params['bandwidth_bps'], 'bit/s', digits=3)}"
        f"{_plus_minus(fitted, 'bandwidth_bps', 'bit/s')}: {limiting} limits; the points lie "
        f"within {show(spread, 's', digits=2)} of the line in the median."
    )


def _plus_minus(fitted: Fit, name: str, unit: str) -> str:
    error = fitted.stderr[name]
    return "" if np.isnan(error) else f" ± {show(error, unit, digits=2)}"


def _title(samples: RttSamples | TransferSamples) -> str:
    what = "Round-trip time" if isinstance(samples, RttSamples) else "Transfer time"
    origin = samples.meta.target or samples.meta.source
    return f"{what} against size" + (f", {origin}" if origin else "")


def _curve(x: FloatArray) -> FloatArray:
    x = x[np.isfinite(x)]
    if not x.size:
        return np.linspace(0.0, 1500.0, CURVE_POINTS)
    return np.linspace(min(0.0, float(np.min(x))), float(np.max(x)) * 1.05 or 1.0, CURVE_POINTS)
