"""The cause of a run of a tool: what the kernel or the tool says itself, then what it counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.errors import doubts
from netcalc.explain import evidence
from netcalc.explain.causes import datagrams
from netcalc.explain.causes.cause import HIGH, LOW, MEDIUM, Cause, Sign
from netcalc.explain.frame_tables import ETHERNET_BPS
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.models.tcp import cubic, loss_limited
from netcalc.rate_layers import ETHERNET_LINE, TCP_PAYLOAD, UDP_PAYLOAD
from netcalc.samples import BulkSamples, FlowSeries, Table

ASKED_LOW, ASKED_HIGH = 0.9, 1.1
"""A tool that sends at the rate asked for is within these; it begins with a burst. [ratio]"""
MOST_TRIPS, TRIP_ERROR = 4, 0.05
"""A time of few whole round trips, as exactly as this share of one, is that of them."""
LEAST_ZEROS = 3
"""Fewer intervals without a byte are no black hole. [1]"""
MOST_IN_BUFFER_BYTES = 2**22
"""The socket of Linux takes no more for sending (tcp_wmem), whether it leaves or not. [byte]"""
FEW_RECEIVED_BYTES = 9000
"""Less than one large segment. [byte]"""
FULL_RATIO, OVER_RATIO = 0.85, 1.05
"""A window is full with this share of it in flight; a rate and a round trip say so much more of it
at most. [ratio]"""
HALF_RATIO = 0.45
"""Of a buffer that Linux doubles for its bookkeeping so much is data, or more. [ratio]"""
BELOW_WINDOW_RATIO = 0.8
"""Less of a window in flight than this is not held by it. [ratio]"""
LEAST_INTERVALS = 3
"""Fewer intervals do not show that a run is steady. [1]"""
USUAL_MSS_BYTES = 1448.0
"""Payload of a full segment on Ethernet, with time stamps. [byte]"""
BUFFERS_IN_PAUSE = 4
"""A pause is one if so many buffers would have been written in it. [1]"""
QUEUE_RATIO, QUEUE_S = 0.25, 0.003
STEADY_RATIO = 0.1
VARIES_RATIO = 0.12
"""Round trips of intervals that vary by more are those of a queue. [ratio]"""
LIKELY_RATIO = 1.3
"""Up to this multiple of what they allow losses may be random. [ratio]"""
BURSTY_RATIO = 2.2
"""Above this multiple of what random losses allow, losses come in bursts. [ratio]"""
SMALL_BUFFER_BYTES = 131_072
GROWING_BUFFER_BYTES = 16_384
"""What Linux begins with for sending (tcp_wmem) where nobody set it: it grows. [byte]"""
SUPER_SEGMENT_BYTES = 2**16
"""A buffer that is not full takes one more of these. [byte]"""
FLAT_RATIO = 0.02
"""A congestion window that varies by less does not grow. [ratio]"""
FULL_LINE, OVER_LINE, EVEN_RATIO = 0.985, 1.003, 0.03
"""A line of Ethernet is likely that carries so much of its payload, as evenly. [ratio]"""
MOST_LOSS = 0.21
"""No formula of losses is published beyond. [ratio]"""
AGAIN_IN_PAUSE = 3
"""Timers repeat no more in an interval of a pause. [1]"""
WRITE_BYTES = 131_072
"""What iperf3 writes at once where nothing else was asked for. [byte]"""
LEAST_LOSS, LEAST_LOSS_OF_TCP = 0.01, 1e-4
SLOW_START_ROUNDS = 20
"""No window grows from its first size for longer. [1]"""
OPEN = ("slow-start", "other", "loss")
"""What was waited for where the counters do not say why."""


def socket_causes(samples: Table) -> dict[str, Cause]:
    """Return the cause of each connection of lists of sockets, by its name.

    Linux counts how long a connection was busy, and how long of that the receiver's window or the
    buffer of the sender's socket held it.
    """
    columns = samples.columns()
    if "busy_s" not in columns:
        return {}
    causes = {}
    groups = columns["group"]
    for name in dict.fromkeys(groups[np.isfinite(columns["busy_s"])].tolist()):
        rows = np.flatnonzero((groups == name) & np.isfinite(columns["busy_s"]))
        cause = _socket_cause({key: column[rows] for key, column in columns.items()})
        if cause is not None:
            causes[str(name)] = cause
    return causes


def _socket_cause(rows: Mapping[str, Any]) -> Cause | None:
    busy, window, buffer = (
        _spent(rows[name])
        for name in ("busy_s", "receive_window_limited_s", "send_buffer_limited_s")
    )
    times = rows["time_s"]
    whole_s = float(times[-1] - times[0]) if times.size > 1 else math.nan
    if times.size == 1 or math.isnan(whole_s) or whole_s <= 0:
        whole_s, busy = float(rows["busy_s"][-1]), float(rows["busy_s"][-1])
        window = float(rows["receive_window_limited_s"][-1])
        buffer = float(rows["send_buffer_limited_s"][-1])
    if not whole_s > 0:
        return None
    busy, window, buffer = (min(max(value, 0.0), whole_s) for value in (busy, window, buffer))
    network = max(busy - window - buffer, 0.0)
    in_flight = rows["unacked_packets"] * rows["mss_bytes"]
    filled = in_flight >= FULL_RATIO * rows["offered_window_bytes"]
    if window > 0 and np.mean(filled) > 0.5:
        # Where both bind in turns, the window is what a larger buffer of the sender would meet.
        window, buffer = window + buffer, 0.0
    rtt, least = rows["rtt_s"], float(rows["rtt_min_s"][-1])
    queued = np.median(rtt) > least + max(QUEUE_RATIO * least, QUEUE_S)
    again = float(rows["retransmit_total_count"][-1])
    sent = evidence.first_known(float(rows["bytes_sent"][-1]), float(rows["bytes_acked"][-1]))
    mss = float(rows["mss_bytes"][-1])
    loss = math.nan  # of a few segments it is no ratio
    if sent >= evidence.LEAST_SEGMENTS * mss:
        resent = evidence.first_known(float(rows["bytes_retransmitted"][-1]), again * mss)
        loss = resent / sent if resent <= sent else math.nan
    control = str(rows["congestion_control"][-1]) if "congestion_control" in rows else ""
    name = "slow-start" if whole_s < SLOW_START_ROUNDS * least else "other"
    if queued:
        name = "line"
    elif loss > LEAST_LOSS_OF_TCP:
        with doubts():  # a bound to judge by, that no answer shows
            allowed = float(loss_limited.mathis_throughput_bps(loss, mss_bytes=mss, rtt_s=least))
        # Losses do not hold a sender that is much faster with them than they allow, nor BBR.
        moved = evidence.first_known(_spent(rows["bytes_sent"]), _spent(rows["bytes_acked"]))
        moved = moved if times.size > 1 else sent
        held = 8 * moved / busy < BURSTY_RATIO * allowed if busy > 0 else True
        name = "random-loss" if held and not control.startswith("bbr") else "loss"
    elif np.mean(rows["is_application_limited"] > 0) > 0.5:
        name = "sender-program"
    times_of = {"receiver-window": window, "sender-buffer": buffer, name: network}
    idle = max(whole_s - busy, 0.0)
    times_of["sender-program"] = times_of.get("sender-program", 0.0) + idle
    signs = (
        Sign("base_rtt_s", least, "minrtt"),
        Sign("queue_s", max(float(np.median(rtt)) - least, 0.0), "rtt"),
        Sign("loss_ratio", loss, "retrans"),
        Sign("window_bytes", float(rows["offered_window_bytes"][-1]), "snd_wnd"),
        Sign("busy_s", busy, "busy"),
    )  # fmt: skip
    return _largest(times_of, whole_s, signs)


def _spent(counter: FloatArray) -> float:
    """Return by how much a counter rose from the first list to the last."""
    return float(counter[-1] - counter[0]) if counter.size > 1 else 0.0


def _largest(times: Mapping[str, float], whole_s: float, signs: tuple[Sign, ...]) -> Cause:
    shares = {
        code: value / whole_s
        for code, value in sorted(times.items(), key=lambda item: -item[1])
        if value > 0
    }
    if not shares:
        return Cause(duration_s=whole_s, signs=signs)
    code, share = next(iter(shares.items()))
    sure = HIGH if share >= 0.6 else MEDIUM
    if share < 0.4 or code in OPEN:
        code, sure = "unknown", "low"
    return Cause(
        code=code, share_of_time=share, duration_s=whole_s, confidence=sure, shares=shares,
        signs=signs,
    )  # fmt: skip


class _Run:
    """A run of a tool: its intervals, its row of facts, and what both say of its sender."""

    def __init__(self, flows: FlowSeries, fact: Mapping[str, Any], stated: evidence.Known) -> None:
        self.flows, self.fact, self.stated = flows, fact, stated
        self.printed = flows.meta.printed
        self.is_udp = fact.get("protocol") == "udp"
        self.rate_bps = evidence.number_in(fact, "received_rate_bps", "sent_rate_bps")
        self.streams = max(evidence.first_known(evidence.number_in(fact, "stream_count"), 1.0), 1.0)
        self.asked_bps = evidence.number_in(self.printed, "asked_rate_bps") * self.streams
        self.rows = datagrams.rows_of_fact(flows, fact)
        self.pace = evidence.pace_of(flows, self.rows)
        rates = self.pace.rate_bps
        self.later_bps = rates[1:] if rates.size > 2 else rates
        self.is_steady = evidence.is_alike(self.later_bps, STEADY_RATIO)
        self.has_several = rates.size >= LEAST_INTERVALS
        self.again = evidence.number_in(fact, "retransmit_count")
        self.is_lossless = not self.again > 0
        self.mss_bytes = evidence.first_known(
            evidence.number_in(self.printed, "mss_bytes"), USUAL_MSS_BYTES
        )
        self.trips_s = evidence.above_zero(flows.rtt_s, self.rows)
        self.rtt_s = evidence.middle_of(self.trips_s)
        least = (
            evidence.number_in(row, "rtt_min_s")
            for row in evidence.rows_in(self.printed, "streams")
        )
        self.least_rtt_s = min((rtt_s for rtt_s in least if rtt_s > 0), default=math.nan)
        self.flight_bytes = self.rate_bps * self.rtt_s / 8 / self.streams
        self.cwnd_bytes = evidence.above_zero(flows.cwnd_bytes, self.rows)
        self.window_bytes = (
            evidence.middle_of(self.cwnd_bytes) if self.cwnd_bytes.size else math.inf
        )
        self.offered_bytes = evidence.offered_windows(self.printed)
        self.buffer_bytes = evidence.number_in(self.printed, "send_buffer_bytes")

    def fills(self, size_bytes: float, least_ratio: float = FULL_RATIO) -> bool:
        """Whether so many bytes are in flight, within the error of a rate and a round trip."""
        return least_ratio * size_bytes <= self.flight_bytes <= OVER_RATIO * size_bytes

    def is_queued(self, base_s: float) -> bool:
        """Whether the round trip is longer than a base by a queue."""
        return self.rtt_s > base_s * (1 + QUEUE_RATIO) + QUEUE_S

    @cached_property
    def paused(self) -> Cause | None:
        """The cause of a time without a byte; None without one, and for datagrams."""
        if self.is_udp:
            return None
        return _hole(self) or _pause_cause(self)

    @cached_property
    def is_in_buffer(self) -> bool:
        """Whether a steady sender keeps as much in flight as its buffer holds, and no window."""
        buffer = self.buffer_bytes
        is_set = buffer > 0 and buffer != GROWING_BUFFER_BYTES
        is_near = HALF_RATIO * buffer <= self.flight_bytes <= buffer + SUPER_SEGMENT_BYTES
        bound = min(*self.offered_bytes, self.window_bytes, math.inf)
        is_below = self.flight_bytes < BELOW_WINDOW_RATIO * bound
        is_even = self.is_lossless and self.is_steady and self.has_several
        return is_set and is_near and is_below and is_even

    @cached_property
    def likely_line(self) -> Cause | None:
        """The line of Ethernet that the rate fills, where none is stated."""
        return None if self.stated.line_bps is not None else _likely_line(self)

    @cached_property
    def signs(self) -> tuple[Sign, ...]:
        """What the tool printed of windows and round trips."""
        return (
            Sign("rate_bps", self.rate_bps, "the tool"),
            Sign("base_rtt_s", self.least_rtt_s, "min_rtt"),
            Sign("in_flight_bytes", self.flight_bytes, "rate times round trip"),
            Sign("window_bytes", max(self.offered_bytes, default=math.nan), "snd_wnd"),
        )


def run_cause(
    flows: FlowSeries,
    fact: Mapping[str, Any],
    stated: evidence.Known,
    *,
    in_fragments: bool = False,
) -> Cause:
    """Return the cause of a run with a row of facts and its intervals.

    Parameters
    ----------
    flows : FlowSeries
        Intervals of the run, and what the tool printed of its sockets.
    fact : mapping
        Row of facts of one direction.
    stated : Known
        ``rtt_s`` is the round trip without load.
    in_fragments : bool
        Whether a datagram of UDP takes several packets.

    Returns
    -------
    Cause
        ``unknown`` where no sign is there: that of the first of :data:`JUDGES` who knows.
    """
    run = _Run(flows, fact, stated)
    judges = _JUDGES_OF_DATAGRAMS if run.is_udp else _JUDGES
    cause = next(filter(None, (judge(run) for judge in judges)), None)
    if cause is not None:
        return cause
    return datagrams.datagram_run_cause(flows, fact, run.asked_bps, in_fragments=in_fragments)


def _by_kernel(run: _Run) -> Cause | None:
    """Return what the kernel of the sender counted, which a tool passed on; None if it did not."""
    names = ("busy_s", "receive_window_limited_s", "send_buffer_limited_s")
    counted = ("retransmit_total_count", "bytes_sent", "bytes_acked", "bytes_retransmitted")
    steady = ("rtt_min_s", "mss_bytes")
    unknown = ("unacked_packets", "offered_window_bytes", "is_application_limited")
    numbers = {
        name: evidence.number_in(run.fact, name)
        for name in (*names, *counted, *steady, "duration_s", "rtt_s")
    }
    whole_s = numbers["duration_s"]
    if any(math.isnan(numbers[name]) for name in names) or not whole_s > 0:
        return None
    middle = run.rtt_s if run.trips_s.size else numbers["rtt_s"]
    rows = {name: np.array([0.0, numbers[name]]) for name in (*names, *counted)}
    rows |= {name: np.full(2, numbers.get(name, math.nan)) for name in (*steady, *unknown)}
    rows |= {"time_s": np.array([0.0, whole_s]), "rtt_s": np.full(2, middle)}
    cause = _socket_cause(rows)
    if cause is not None and cause.confidence == HIGH and run.pace.levels is not None:
        return replace(cause, confidence=MEDIUM)
    return cause


def _of_nothing(run: _Run) -> Cause | None:
    """Return what is known of a run of which nothing arrived: no cause."""
    if run.paused is not None or run.rate_bps != 0:
        return None
    length_s = evidence.number_in(run.fact, "duration_s")
    if math.isnan(length_s):  # nothing in no known time is no measurement
        return None
    signs = (
        Sign("received_bytes", 0.0, "the tool"),
        Sign("run_s", length_s, "the tool"),
    )
    return Cause(signs=signs, variant="nothing")


def _at_asked_rate(run: _Run) -> Cause | None:
    if not 0 < run.asked_bps * ASKED_LOW <= run.rate_bps <= ASKED_HIGH * run.asked_bps:
        return None
    signs = (
        Sign("rate_bps", run.rate_bps, "the tool"),
        Sign("asked_rate_bps", run.asked_bps, "-b"),
    )
    return Cause(code="sender-program", confidence=HIGH, signs=signs, variant="asked")


def _without_trips(run: _Run) -> Cause | None:
    if run.trips_s.size:
        return None
    if not (run.is_steady and run.is_lossless):
        return Cause()
    return _asked_window(run)


def _in_queue(run: _Run) -> Cause | None:
    is_queued = run.stated.rtt_s is not None and run.is_queued(run.stated.rtt_s)
    if is_queued and run.is_steady and run.is_lossless:
        return Cause(code="line", confidence=MEDIUM, signs=run.signs)
    return None


def _at_offered_window(run: _Run) -> Cause | None:
    least = min(run.offered_bytes, default=math.inf)
    if run.flight_bytes >= FULL_RATIO * least and least <= OVER_RATIO * run.window_bytes:
        return Cause(code="receiver-window", confidence=HIGH, signs=run.signs)
    return None


def _at_asked_buffer(run: _Run) -> Cause | None:
    is_asked = evidence.number_in(run.printed, "asked_buffer_bytes") > 0
    if not (is_asked and run.fills(run.buffer_bytes, HALF_RATIO) and run.is_lossless):
        return None
    buffer = Sign("window_bytes", run.buffer_bytes, "sndbuf_actual")
    return Cause(
        code="sender-buffer",
        confidence=HIGH if run.flight_bytes >= FULL_RATIO * run.buffer_bytes else MEDIUM,
        signs=(*(sign for sign in run.signs if sign.name != "window_bytes"), buffer),
    )


def _without_losses(run: _Run) -> Cause | None:
    """Return the buffer of a sender whose congestion window grew until it kept less in flight."""
    if not run.is_lossless:
        return None
    is_flat = evidence.is_alike(run.cwnd_bytes[run.cwnd_bytes.size // 2 :], FLAT_RATIO)
    is_held = is_flat and not run.is_queued(run.least_rtt_s) and run.fills(run.window_bytes)
    if run.is_in_buffer or (is_held and run.is_steady and run.has_several):
        # Or a line of just this rate was full.
        confidence = MEDIUM if run.likely_line is None else LOW
        return Cause(code="sender-buffer", confidence=confidence, signs=run.signs)
    return Cause(signs=run.signs)


def _by_losses(run: _Run) -> Cause:
    """Return what the losses of a run come from, by what they allow."""
    size = evidence.number_in(run.fact, "sent_byte_count", "received_byte_count")
    segments = size / run.mss_bytes + run.again
    control = str(run.fact.get("congestion_control", ""))
    if segments < evidence.LEAST_SEGMENTS or control.startswith("bbr"):
        return Cause(signs=run.signs)  # too few for a ratio, or a sender that losses do not hold
    loss = run.again / segments
    cause = Cause(signs=(*run.signs, Sign("loss_ratio", loss, "retransmits")))
    of_line = replace(cause, code="line", confidence=MEDIUM)
    if run.streams > 1:
        return of_line if _is_shared_out(run.flows, run.rows) else cause
    low, high = np.percentile(run.trips_s, [10, 90])
    base = min(run.stated.rtt_s, run.rtt_s) if run.stated.rtt_s is not None else low
    if high > (1 + VARIES_RATIO) * low + QUEUE_S / 2 or run.is_queued(base):
        return of_line
    if loss > MOST_LOSS:
        return replace(cause, variant="again")
    mss, rtt_s = run.mss_bytes, run.rtt_s
    with doubts():  # bounds to judge by, that no answer shows
        allowed = run.streams * max(
            float(loss_limited.mathis_throughput_bps(loss, mss_bytes=mss, rtt_s=rtt_s)),
            float(cubic.cubic_throughput_bps(loss, packet_bytes=mss, rtt_s=rtt_s)),
        )
    if run.rate_bps > BURSTY_RATIO * allowed and loss >= LEAST_LOSS and run.has_several:
        return replace(cause, code="policer", confidence=MEDIUM)
    if allowed / BURSTY_RATIO < run.rate_bps < LIKELY_RATIO * allowed:
        confidence = MEDIUM if run.has_several else LOW
        return replace(cause, code="random-loss", confidence=confidence)
    return cause


_JUDGES_OF_DATAGRAMS: tuple[Callable[[_Run], Cause | None], ...] = (_by_kernel, _of_nothing)
"""Who judges a run of datagrams before its losses do."""
_JUDGES: tuple[Callable[[_Run], Cause | None], ...] = (
    _by_kernel,  # it counted what all others infer
    _of_nothing,  # no rate, no limit
    _at_asked_rate,  # a program that keeps its rate has pauses of its own
    lambda run: run.paused,  # rates with a pause in them are no rates of a path
    lambda run: None if run.is_in_buffer else run.likely_line,  # such an even rate is no chance
    lambda run: None if run.pace.levels is None else Cause(variant="levels"),  # two are none
    _without_trips,  # the judges below need a round trip
    _in_queue,  # a full window stands in a queue
    _at_offered_window,  # the receiver says how much it takes
    _at_asked_buffer,  # somebody set it, so that it does not grow
    _without_losses,  # what is left of a run that lost nothing
    _by_losses,
)
"""Who judges a run, in this order; the first who knows a cause, or that there is none, decides."""


def _pause_cause(run: _Run) -> Cause | None:
    """Return the cause of a time without a byte: an outage if timers repeated something in it.

    Bytes of a sender are those written, which a buffer takes at once, so that a slow line has
    intervals without any; one as long as several buffers is no such.
    """
    flows, pace, pause = run.flows, run.pace, run.pace.pause
    if pause is None or pause.share_of_time < datagrams.PAUSE_SHARE:
        return None
    usual_bps = float(np.median(pace.rate_bps[pace.rate_bps > 0]))
    taken = evidence.first_known(evidence.number_in(run.printed, "write_bytes"), WRITE_BYTES)
    streams = max(np.unique(np.asarray(flows.stream)[run.rows]).size, 1)
    if (np.asarray(flows.side)[run.rows] != "receiver").any():
        cwnd = run.cwnd_bytes
        taken += 2 * float(cwnd.max()) if cwnd.size else MOST_IN_BUFFER_BYTES
    if usual_bps / 8 * pause.duration_s < BUFFERS_IN_PAUSE * taken * streams:
        return None
    signs = datagrams.signs_of_pause(pause)
    sent = evidence.number_in(run.fact, "sent_byte_count")
    received = evidence.number_in(run.fact, "received_byte_count")
    all_came = pause.is_last and received >= sent > 0
    is_timer = 0 < pause.again_count <= AGAIN_IN_PAUSE * pause.interval_count * streams
    cause = Cause(
        share_of_time=pause.share_of_time, duration_s=float(pace.end_s[-1] - pace.start_s[0]),
        signs=signs, variant="pause",
    )  # fmt: skip
    if is_timer and not all_came:
        return replace(cause, code="outage", confidence=MEDIUM, variant="run")
    return cause


def _likely_line(run: _Run) -> Cause | None:
    """Return the line of Ethernet that an even rate fills, with the headers of full segments.

    Of a run without intervals nobody knows how even it was.
    """
    is_total = run.pace.rate_bps.size < 2
    is_even = is_total or evidence.is_alike(run.pace.rate_bps[1:], EVEN_RATIO)
    share = run.mss_bytes / float(ethernet_wire_bytes(run.mss_bytes + STAMPED_HEADERS_BYTES))
    for line_bps in ETHERNET_BPS:
        if is_even and FULL_LINE <= run.rate_bps / (share * line_bps) <= OVER_LINE:
            signs = (
                Sign("rate_bps", run.rate_bps, "the tool"),
                Sign("line_bps", share * line_bps, "full segments on that line"),
                Sign("ethernet_bps", line_bps, "IEEE 802.3", layer=ETHERNET_LINE),
            )  # fmt: skip
            confidence = LOW if is_total else MEDIUM
            return Cause(code="line", confidence=confidence, signs=signs, variant="ethernet")
    return None


_OF_PLACES = {
    "sender's queue": ("host", "sender-full"), "sender": ("host", "sender-busy"),
    "input of the box": ("packet-rate", "full"), "buffer of the line": ("line", "full"),
    "receiver": ("host", "receiver-full"),
}  # fmt: skip
"""Causes, and their variants, of the limits that a live run of netcalc records."""


def setting_cause(row: Mapping[str, Any], samples: BulkSamples) -> Cause:
    """Return what limited a setting of a live run: the queue in which it counted drops."""
    if row["limit"]:
        code, variant = _OF_PLACES[row["limit"]]
        signs = (
            Sign("rate_bps", float(row["goodput_bps"]), "the receiver"),
            Sign("sent_rate_bps", float(row["sent_rate_bps"]), "the sender"),
            Sign("loss_ratio", float(row["loss_ratio"]), "the run"),
        )
        layer = UDP_PAYLOAD if samples.meta.protocol == "udp" else TCP_PAYLOAD
        return Cause(code=code, confidence=HIGH, signs=signs, variant=variant, layer=layer)
    if samples.meta.target.startswith("loopback"):
        return Cause(code="host", confidence=MEDIUM)
    return Cause()


def _asked_window(run: _Run) -> Cause:
    """Return the window of a buffer that was asked for, where no round trip was measured.

    Linux grants twice of it, of which half or more is the window.
    """
    asked = evidence.number_in(run.printed, "asked_buffer_bytes")
    if not 0 < asked <= SMALL_BUFFER_BYTES:
        return Cause()
    sign = Sign("asked_buffer_bytes", asked, "-w")
    rtt_s = run.stated.rtt_s
    if rtt_s is None:
        return Cause(code="receiver-window", signs=(sign,), variant="asked")
    flight = run.rate_bps / run.streams * rtt_s / 8
    if not HALF_RATIO * 2 * asked <= flight <= OVER_RATIO * 2 * asked:
        return Cause()
    signs = (
        sign,
        Sign("window_bytes", 2 * asked, "twice -w, as Linux grants"),
        Sign("base_rtt_s", rtt_s, "as stated"),
    )
    return Cause(code="receiver-window", confidence=HIGH, signs=signs)


def _hole(run: _Run) -> Cause | None:
    """Return a path MTU black hole: a window leaves, nothing arrives, timers repeat it.

    The connection was opened and the test ended in order, so that small packets passed.
    """
    flows, own = run.flows, run.rows & (np.asarray(run.flows.side) == "sender")
    starts = np.round(np.asarray(flows.start_s)[own], 1)
    sizes = np.asarray(flows.payload_bytes)[own]
    again = np.asarray(flows.retransmit_count)[own]
    streams = max(np.unique(np.asarray(flows.stream)[own]).size, 1)
    is_first = starts == starts.min(initial=math.inf)
    later = int(np.unique(starts[~is_first]).size)
    received = evidence.number_in(run.fact, "received_byte_count")
    if later < LEAST_ZEROS or sizes[~is_first].any() or not sizes[is_first].sum() > 0:
        return None
    in_buffer = sizes[is_first].max() <= MOST_IN_BUFFER_BYTES
    is_timer = 0 < np.nansum(again[~is_first]) <= later * streams
    if not (in_buffer and is_timer and received <= FEW_RECEIVED_BYTES * streams):
        return None
    signs = (
        Sign("received_bytes", received, "the receiver"),
        Sign("intervals", float(later), "intervals without a byte"),
    )
    return Cause(
        code="path-mtu", share_of_time=later / (later + 1), confidence=MEDIUM, signs=signs,
        duration_s=evidence.number_in(run.fact, "duration_s"),
    )  # fmt: skip


def _is_shared_out(flows: FlowSeries, rows: NDArray[np.bool_]) -> bool:
    """Whether streams vary far more than their sum: what one loses, the others have."""
    starts = np.round(np.asarray(flows.start_s)[rows], 1)
    rates, names = np.asarray(flows.rate_bps)[rows], np.asarray(flows.stream)[rows]
    first = starts > starts.min(initial=math.inf)
    each = [rates[first & (names == name)] for name in np.unique(names)]
    if len(each) < 2 or len({part.size for part in each}) != 1 or each[0].size < 3:
        return False
    together = np.sum(each, axis=0)
    alone = float(np.mean([np.std(part) for part in each]))
    return bool(np.std(together) < 0.1 * np.mean(together) and np.std(together) < 2 * alone)


def trips_cause(duration_s: float, rtt_s: float) -> Cause:
    """Return the round trips of a transfer whose time is just some of them; else unknown."""
    count = round(duration_s / rtt_s) if duration_s > 0 else 0
    if not 1 <= count <= MOST_TRIPS or abs(duration_s - count * rtt_s) > TRIP_ERROR * rtt_s:
        return Cause()
    signs = (
        Sign("base_rtt_s", rtt_s, "as stated"),
        Sign("trip_count", float(count), "time over round trip"),
    )
    return Cause(
        code="round-trips", share_of_time=count * rtt_s / max(duration_s, count * rtt_s),
        duration_s=duration_s, confidence=MEDIUM, signs=signs, variant="counted",
    )  # fmt: skip
