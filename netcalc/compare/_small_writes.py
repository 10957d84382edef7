"""Comparison of requests in small writes: every round, and the segments packet taps recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netcalc.checks import FloatArray, as_float, named_arguments
from netcalc.compare._comparison import FULL_SEGMENT_BYTES, Comparison, emulated_path, points
from netcalc.compare._sizes import exchange_over
from netcalc.fit.costs import IPV6_EXTRA_BYTES, ip_version
from netcalc.language import phrase
from netcalc.models.hosts.delayed_ack import LINUX_ATO_MIN_S, tick_timer_wait_s
from netcalc.models.hosts.write_timeline import (
    HOLDS_ACK,
    RESPONSE,
    TO_CLIENT,
    TO_SERVER,
    Policy,
    WriteTimeline,
    write_timeline,
)
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.path import Path
from netcalc.samples import (
    TransactionSamples,
)
from netcalc.units import show

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
        The path between both hosts; by default that of the run, or one without delay.
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
    rtt_s = instrument.rtt_s or 0.0
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
    packet_bytes: list[float] = []
    sender: list[int] = []
    after: list[int] = []
    wait_s: list[float] = []
    arrivals: list[tuple[float, int]] = []  # at the other end, of which packet
    for row, (who, what) in enumerate(zip(steps.who, steps.what, strict=True)):
        if who not in (TO_SERVER, TO_CLIENT):
            continue
        side = int(who == TO_CLIENT)
        start_s = float(steps.start_s[row])
        came = [(at, k) for at, k in arrivals if sender[k] != side and at <= start_s + SAME_TIME_S]
        since_s, before = max(came, default=(0.0, -1))
        if not side and np.isclose(writes, start_s, rtol=0, atol=SAME_TIME_S).any():
            since_s, before = 0.0, -1
        sizes = [float(steps.payload_bytes[row])]
        if what == RESPONSE:
            full = int(np.ceil(reply_bytes / mss_bytes)) - 1
            sizes = [mss_bytes] * full + [reply_bytes - full * mss_bytes]
            read = [k for k, other in enumerate(sender) if not other][:2][-1]
            if quick or read > 0:  # Linux acknowledges the second part when it is read
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
    clocked = exchange_over(path, packet_bytes, sender, after, wait_s)
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
