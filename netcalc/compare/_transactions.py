"""Comparison of transactions by size, over a path or on one host, and of small writes by round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, as_float, choice, named_arguments
from netcalc.compare._comparison import PATH_LABEL, Comparison, points
from netcalc.compare._runs import FULL_SEGMENT_BYTES, emulated_path, truth_value
from netcalc.fit import Costs
from netcalc.fit import datagram_costs as datagram_fit
from netcalc.fit.costs import IPV6_EXTRA_BYTES, LARGEST_PACKET_BYTES, ip_version, loopback_mtu_bytes
from netcalc.language import phrase, term
from netcalc.models.delays.store_and_forward import ExchangeTimeline, exchange_timeline
from netcalc.models.hosts.small_writes import (
    HOLDS_ACK,
    LINUX_ATO_MIN_S,
    RESPONSE,
    TO_CLIENT,
    TO_SERVER,
    Policy,
    WriteTimeline,
    tick_timer_wait_s,
    write_timeline,
)
from netcalc.models.sizes.fragmentation import fragment_count
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, STAMPED_HEADERS_BYTES
from netcalc.models.tcp.handshakes import Security, Transport, round_trips
from netcalc.path import Path
from netcalc.samples import TransactionSamples
from netcalc.units import show


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
        label, costs = (
            PATH_LABEL + (phrase(", packets recorded by taps") if seen else ""),
            "",
        )
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
    text = show(costs[0], "s", digits=3)
    if costs[1] > 0.0:  # 0 is of sizes that take no longer
        text += phrase(" + {costs} per byte", costs=show(costs[1], "s", digits=2))
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
            "{sizes} the time increases by {share:.0%}: {with_margin}.",
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


WRITING_POLICIES: dict[str, Policy] = {
    "nagle": "minshall", "flush": "minshall", "nodelay": "nodelay",
}  # fmt: skip
"""Sender's rule for each mode of writing; the other modes send the request in one write."""
# Times of a timeline are sums of the times of writes; they differ from those by rounding only.
SAME_TIME_S = 1e-12
"""Events closer than this are simultaneous. [s]"""


@named_arguments
def small_writes(
    samples: TransactionSamples,
    *,
    path: Path | None = None,
    delayed_ack_s: float = LINUX_ATO_MIN_S,
    title: str = "",
) -> Comparison:
    """Compare every round of a run with Nagle's rule and delayed acknowledgements.

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.small_writes`.
    path : Path, optional
        The path between both hosts; by default that of the run, or one without delay. Of a run
        with a peer the round trip is the time of the fastest round.
    delayed_ack_s : float
        Time the server delays an acknowledgement; on Linux at least 40 ms. [s]
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Nothing is fitted: the residual is the error of the prediction and the hosts' processing.
        The band is the tick of the kernel's timer, which is never early and up to a tick late: 40
        to 44 ms with a tick of 4 ms. Rounds that follow one another immediately are in phase with
        the tick, and the prediction is one time; otherwise it is the middle of the band.
    """
    mode, warm_up = np.asarray(samples.mode), np.asarray(samples.warm_up)
    instrument = samples.meta.instrument
    path = path or emulated_path(instrument)
    times = {
        (name, quick): _round_s(samples, name, path, delayed_ack_s, quick=quick)
        for name in samples.modes
        for quick in (False, True)
    }
    always = bool(instrument.quickack)
    in_step = ~warm_up & (np.roll(mode, 1) == mode) & ~np.roll(warm_up, 1)
    in_step &= not instrument.interval_s
    rounds = [
        times[name, quick or always]
        for name, quick in zip(mode.tolist(), warm_up.tolist(), strict=True)
    ]
    low, middle, step, high = np.array(rounds, dtype=float).reshape(-1, 4).T
    predicted = np.where(in_step, step, middle)
    rows = np.asarray(samples.measured)
    x = np.flatnonzero(rows) + 1.0
    measured = as_float("response_s", samples.response_s)[rows]

    def at_round(values: FloatArray) -> Callable[[FloatArray], FloatArray]:
        def theory(at: FloatArray) -> FloatArray:
            if not values.size:
                return at * np.nan
            taken: FloatArray = values[np.clip(np.round(at).astype(int), 1, values.size) - 1]
            return taken

        return theory

    compared = points(
        x,
        measured=measured,
        theory=at_round(predicted),
        x_name="exchange",
        x_unit="1",
        y_name=phrase("response time"),
        y_unit="s",
        title=title or "Small writes: " + ", then ".join(samples.modes),
        predicted_label=phrase("predicted, nothing fitted"),
    )
    return replace(
        compared,
        curve_low=at_round(low)(compared.curve_x),
        curve_high=at_round(high)(compared.curve_x),
        sentence=_mode_sentence(samples, predicted),
    )


def _round_s(
    samples: TransactionSamples,
    mode: str,
    path: Path | None,
    delayed_ack_s: float,
    *,
    quick: bool,
) -> tuple[float, float, float, float]:
    """Return the time of a round: shortest, middle, in phase with the tick, longest. [s]"""
    instrument = samples.meta.instrument
    sizes = list(instrument.write_bytes or [1])
    gap_s, tick_s = instrument.write_gap_s or 0.0, instrument.tick_s or 0.0
    header_bytes = STAMPED_HEADERS_BYTES + float(IPV6_EXTRA_BYTES * (ip_version(instrument) == 6))
    writes: FloatArray = gap_s * np.arange(len(sizes), dtype=np.float64)
    policy = WRITING_POLICIES.get(mode, "nodelay")
    if mode not in WRITING_POLICIES:
        writes, sizes = writes[:1] if mode == "single" else writes[-1:], [sum(sizes)]
    rtt_s = instrument.rtt_s or (_fastest_s(samples) if instrument.peer_machine else 0.0)
    if path is not None:
        rtt_s = float(path.rtt_s(sizes[0] + header_bytes))
    reply = as_float("reply_bytes", samples.reply_bytes)
    reply_bytes = float(np.nanmax(reply, initial=0.0)) or 1.0
    mss_bytes = float(instrument.mss_bytes or FULL_SEGMENT_BYTES)

    def round_s(held_s: float) -> tuple[float, float]:
        """Return when the round is done, and the time from the timer to the next request."""
        steps = write_timeline(
            writes, write_bytes=sizes, rtt_s=rtt_s, delayed_ack_s=held_s, mss_bytes=mss_bytes,
            policy=policy, quickack=quick,
        )  # fmt: skip
        held = [end for what, end in zip(steps.what, steps.end_s, strict=True) if what == HOLDS_ACK]
        if path is None:
            return steps.done_s, steps.done_s - (held[0] if held else 0.0) + rtt_s / 2
        done_s, first_s, later_s = _clocked(
            path, steps, writes, header_bytes, reply_bytes, mss_bytes, quick=quick
        )
        return done_s, done_s - (held[0] + later_s if held else 0.0) + first_s

    shortest_s, phase_s = round_s(delayed_ack_s)
    if not tick_s or quick:
        return shortest_s, shortest_s, shortest_s, shortest_s
    ticks = round(delayed_ack_s / tick_s)
    in_step_s = float(tick_timer_wait_s(phase_s, tick_count=ticks, tick_s=tick_s))
    middle_s, longest_s = (ticks + 0.5) * tick_s, (ticks + 1) * tick_s
    waits_s = (ticks * tick_s, middle_s, in_step_s, longest_s)
    shortest_s, middle_s, in_step_s, longest_s = (round_s(wait_s)[0] for wait_s in waits_s)
    return shortest_s, middle_s, in_step_s, longest_s


def _fastest_s(samples: TransactionSamples) -> float:
    """Return the time of the fastest round; 0 without any. [s]"""
    times = as_float("response_s", samples.response_s)[np.asarray(samples.measured)]
    return float(times.min()) if times.size else 0.0


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
    """Return the arrival times of the packets of a request in parts over a path.

    These are the arrival of the response, that of the first segment, and the time by which
    serialization delays the acknowledgement.
    """
    packets: list[tuple[float, int, int, float]] = []  # size, sender, after which, and how long
    arrivals: list[tuple[float, int]] = []  # at the other end, of which packet
    for row, (who, what) in enumerate(zip(steps.who, steps.what, strict=True)):
        if who not in (TO_SERVER, TO_CLIENT):
            continue
        side = int(who == TO_CLIENT)
        start_s = float(steps.start_s[row])
        last_s = start_s + SAME_TIME_S
        came = [(at, k) for at, k in arrivals if packets[k][1] != side and at <= last_s]
        since_s, before = max(came, default=(0.0, -1))
        if not side and np.isclose(writes, start_s, rtol=0, atol=SAME_TIME_S).any():
            since_s, before = 0.0, -1
        sizes = [float(steps.payload_bytes[row])]
        if what == RESPONSE:
            full = int(np.ceil(reply_bytes / mss_bytes)) - 1
            sizes = [mss_bytes] * full + [reply_bytes - full * mss_bytes]
            read = [k for k, packet in enumerate(packets) if not packet[1]][:2][-1]
            if quick or read > 0:  # Linux acknowledges the second part when it is read
                packets.append((header_bytes, 1, read, 0.0))
        arrivals.append((float(steps.end_s[row]), len(packets)))
        wait_s = max(start_s - since_s, 0.0)
        packets += [(size + header_bytes, side, before, wait_s) for size in sizes]
    clocked = exchange_over(path, *zip(*packets, strict=True))
    first_s = float(clocked.received_s[0])
    return float(clocked.received_s[-1]), first_s, first_s - arrivals[0][0]


@named_arguments
def ladder(samples: TransactionSamples, *, mode: str) -> WriteTimeline:
    """Return the segments and waits that packet taps recorded in the second round of a mode.

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.small_writes`.
    mode : str
        The mode of writing.

    Returns
    -------
    WriteTimeline
        Rows as predicted ones, drawn in the same way; none where no tap was possible.
    """
    rows = (samples.meta.instrument.ladder or {}).get(mode, [])
    responses = [row["end_s"] for row in rows if row["what"] == RESPONSE]

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


def _of_client(waits: Mapping[str, Any]) -> str:
    """Say how the client acknowledged responses, where a pause between rounds shows it."""
    rounds, held = waits.get("client_round_count", 0), waits.get("client_held_count", 0)
    if not rounds:
        return ""
    if not held:
        return phrase(
            ", the client acknowledged the response at once (in {rounds} rounds with a pause)",
            rounds=rounds,
        )
    median = show(float(waits["client_held_median_s"]), "s", digits=3)
    return phrase(
        ", the client acknowledged the response after {value} (in {held} of {rounds} rounds)",
        value=median,
        held=held,
        rounds=rounds,
    )


def _mode_sentence(samples: TransactionSamples, predicted: FloatArray) -> str:
    """Summarize each mode: predicted and measured medians, and the kernel's delayed ACKs."""
    parts = []
    for mode in samples.modes:
        rows = samples.in_mode(mode)
        if not rows.any():
            continue
        times = as_float("response_s", samples.response_s)[rows]
        text = phrase(
            "{mode}: predicted {value}, measured {value_2} (median of {size})",
            mode=mode,
            value=show(float(np.median(predicted[rows])), "s"),
            value_2=show(float(np.median(times)), "s"),
            size=times.size,
        )
        counters = (samples.meta.instrument.counters or {}).get(mode, {})
        if "DelayedACKs" in counters:
            text += phrase(
                ", delayed acknowledgements: {counters}",
                counters=counters["DelayedACKs"],
            )
        parts.append(text + _of_client((samples.meta.instrument.waits or {}).get(mode, {})))
    if not parts:
        return phrase("There are no rounds to compare with the prediction.")
    sentence = phrase("After the warm-up of each mode: ") + "; ".join(parts) + "."
    tick_s = samples.meta.instrument.tick_s
    if tick_s:
        sentence += phrase(
            " The kernel's timer has a tick of {tick} and is never early.",
            tick=show(tick_s, "s"),
        )
    return sentence
