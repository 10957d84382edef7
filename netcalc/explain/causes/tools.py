"""The cause of a run of a tool: what the kernel or the tool says itself, then what it counted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.errors import doubts
from netcalc.explain.causes.cause import HIGH, LOW, MEDIUM, UNKNOWN_CAUSE, Cause, Sign
from netcalc.explain.evidence import LEAST_SEGMENTS, Known, Pace, Pause, offered_windows, pace_of
from netcalc.explain.frame_tables import ETHERNET_BPS
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.models.tcp import cubic, loss_limited
from netcalc.rate_layers import ETHERNET_LINE, UDP_PAYLOAD
from netcalc.samples import FlowSeries, Table

ASKED_LOW, ASKED_HIGH = 0.9, 1.1
"""A tool that sends at the rate asked for is within these; it begins with a burst. [ratio]"""
PACED_LOW = 0.98
"""A sender of datagrams that keeps its rate is not below this share of it. [ratio]"""
MOST_TRIPS, TRIP_ERROR = 4, 0.05
"""A time of few whole round trips, as exactly as this share of one, is that of them."""
LEAST_ZEROS = 3
"""Fewer intervals without a byte are no black hole. [1]"""
MOST_IN_BUFFER_BYTES = 2**22
"""The socket of Linux takes no more for sending (tcp_wmem), whether it leaves or not. [byte]"""
FEW_RECEIVED_BYTES = 9000
"""Less than one large segment. [byte]"""
FULL_RATIO = 0.85
HALF_RATIO = 0.45
"""Of a buffer that Linux doubles for its bookkeeping so much is data, or more. [ratio]"""
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
PAUSE_SHARE, AGAIN_IN_PAUSE = 0.25, 3
"""A pause of less of the time is a note; timers repeat no more in an interval of one. [ratio]"""
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
    sent = first_of(float(rows["bytes_sent"][-1]), float(rows["bytes_acked"][-1]))
    mss = float(rows["mss_bytes"][-1])
    loss = math.nan  # of a few segments it is no ratio
    if sent >= LEAST_SEGMENTS * mss:
        loss = first_of(float(rows["bytes_retransmitted"][-1]), again * mss) / sent
    control = str(rows["congestion_control"][-1]) if "congestion_control" in rows else ""
    name = "slow-start" if whole_s < SLOW_START_ROUNDS * least else "other"
    if queued:
        name = "line"
    elif loss > LEAST_LOSS_OF_TCP:
        with doubts():  # a bound to judge by, that no answer shows
            allowed = float(loss_limited.mathis_throughput_bps(loss, mss_bytes=mss, rtt_s=least))
        # Losses do not hold a sender that is much faster with them than they allow, nor BBR.
        moved = first_of(_spent(rows["bytes_sent"]), _spent(rows["bytes_acked"]))
        moved = moved if times.size > 1 else sent
        held = 8 * moved / busy < BURSTY_RATIO * allowed if busy > 0 else True
        name = "random-loss" if held and not control.startswith("bbr") else "loss"
    elif np.mean(rows["is_application_limited"] > 0) > 0.5:
        name = "sender-program"
    times_of = {
        "receiver-window": window,
        "sender-buffer": buffer,
        name: network,
    }
    idle = max(whole_s - busy, 0.0)
    times_of["sender-program"] = times_of.get("sender-program", 0.0) + idle
    signs = (
        Sign(name="base_rtt_s", value=least, unit="s", origin="minrtt"),
        Sign(
            name="queue_s", value=max(float(np.median(rtt)) - least, 0.0), unit="s", origin="rtt"
        ),
        Sign(name="loss_ratio", value=loss, unit="ratio", origin="retrans"),
        Sign(
            name="window_bytes", value=float(rows["offered_window_bytes"][-1]), unit="byte",
            origin="snd_wnd",
        ),
        Sign(name="busy_s", value=busy, unit="s", origin="busy"),
    )  # fmt: skip
    return _largest(times_of, whole_s, signs)


def _spent(counter: FloatArray) -> float:
    """Return by how much a counter rose from the first list to the last."""
    return float(counter[-1] - counter[0]) if counter.size > 1 else 0.0


def first_of(*values: float) -> float:
    """Return the first value that is known; nan if none is."""
    return next((value for value in values if not math.isnan(value)), math.nan)


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


def _kernel_cause(flows: FlowSeries, fact: Mapping[str, Any]) -> Cause | None:
    """Return what the kernel of the sender counted, which a tool passed on; None if it did not."""
    names = ("busy_s", "receive_window_limited_s", "send_buffer_limited_s")
    last = [_fact(fact, name) for name in names]
    whole_s = _fact(fact, "duration_s")
    if any(math.isnan(value) for value in last) or not whole_s > 0:
        return None
    own = _own(flows, fact)
    rtt = np.asarray(flows.rtt_s)[own]
    middle = float(np.median(rtt[rtt > 0])) if (rtt > 0).any() else _fact(fact, "rtt_s")
    unknown = (
        "unacked_packets", "offered_window_bytes", "is_application_limited",
    )  # fmt: skip
    counted = ("retransmit_total_count", "bytes_sent", "bytes_acked", "bytes_retransmitted")
    rows = {name: np.array([0.0, value]) for name, value in zip(names, last, strict=True)}
    rows |= {name: np.array([0.0, _fact(fact, name)]) for name in counted}
    rows |= {name: np.full(2, _fact(fact, name)) for name in ("rtt_min_s", "mss_bytes")}
    rows |= {name: np.full(2, math.nan) for name in unknown}
    rows |= {"time_s": np.array([0.0, whole_s]), "rtt_s": np.full(2, middle)}
    return _socket_cause(rows)


def run_cause(
    flows: FlowSeries, fact: Mapping[str, Any], stated: Known, *, in_fragments: bool = False
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
        ``unknown`` where no sign is there.
    """
    printed = flows.meta.printed
    rate = _fact(fact, "received_rate_bps", "sent_rate_bps")
    streams = max(_fact(fact, "stream_count"), 1.0) if fact.get("stream_count") else 1.0
    asked = _number(printed.get("asked_rate_bps")) * streams
    kernel = _kernel_cause(flows, fact)
    rows = _own(flows, fact)
    pace = pace_of(flows, rows)
    if kernel is not None:
        is_mixed = pace.levels is not None and kernel.confidence == HIGH
        return replace(kernel, confidence=MEDIUM) if is_mixed else kernel
    is_udp = fact.get("protocol") == "udp"
    paused = None if is_udp else _hole(flows, fact) or _pause_cause(flows, fact, pace)
    if paused is None and rate == 0:
        return _nothing(fact)
    if is_udp:
        return _udp_cause(flows, fact, asked, in_fragments=in_fragments)
    if asked > 0 and ASKED_LOW * asked <= rate <= ASKED_HIGH * asked:
        kept_rate = (
            Sign(name="rate_bps", value=rate, unit="bit/s", origin="the tool"),
            Sign(name="asked_rate_bps", value=asked, unit="bit/s", origin="-b"),
        )
        return Cause(code="sender-program", confidence=HIGH, signs=kept_rate, variant="asked")
    if paused is not None:
        return paused
    rtt = np.asarray(flows.rtt_s)[rows]
    rtt = rtt[rtt > 0]
    kept = [row for row in printed.get("streams", ()) if isinstance(row, Mapping)]
    least = min((v for row in kept if (v := _number(row.get("rtt_min_s"))) > 0), default=math.nan)
    offered = offered_windows(printed)
    rates = pace.rate_bps
    later = rates[1:] if rates.size > 2 else rates
    steady = later.size > 1 and float(np.std(later)) <= STEADY_RATIO * float(np.mean(later))
    again = _fact(fact, "retransmit_count")
    mss = first_of(_number(printed.get("mss_bytes")), 1448.0)
    middle = float(np.median(rtt)) if rtt.size else math.nan
    flight = rate * middle / 8 / streams
    cwnd = np.asarray(flows.cwnd_bytes)[rows]
    cwnd = cwnd[cwnd > 0]
    window = float(np.median(cwnd)) if cwnd.size else math.inf
    bound = min(min(offered, default=math.inf), window)
    buffer = _number(printed.get("send_buffer_bytes"))
    is_near = HALF_RATIO * buffer <= flight <= buffer + SUPER_SEGMENT_BYTES
    is_set = buffer > 0 and buffer != GROWING_BUFFER_BYTES
    held = is_set and is_near and flight < 0.8 * bound and not again > 0
    held &= steady and rates.size >= 3
    likely = _likely_line(pace, rate, mss) if stated.line_bps is None else None
    if likely is not None and not held:
        return likely
    if pace.levels is not None:
        return Cause(variant="levels")
    if not rtt.size:
        is_even = steady and not again > 0
        return _asked_window(printed, rate / streams, stated) if is_even else Cause()
    signs: tuple[Sign, ...] = (
        Sign(name="rate_bps", value=rate, unit="bit/s", origin="the tool"),
        Sign(name="base_rtt_s", value=least, unit="s", origin="min_rtt"),
        Sign(name="in_flight_bytes", value=flight, unit="byte", origin="rate times round trip"),
        Sign(
            name="window_bytes", value=max(offered, default=math.nan), unit="byte", origin="snd_wnd"
        ),
    )  # fmt: skip
    is_queued = stated.rtt_s is not None and middle > stated.rtt_s * (1 + QUEUE_RATIO) + QUEUE_S
    if is_queued and steady and not again > 0:
        return Cause(code="line", confidence=MEDIUM, signs=signs)  # a full window stands in a queue
    if offered and flight >= FULL_RATIO * min(offered) and min(offered) <= 1.05 * window:
        return Cause(code="receiver-window", confidence=HIGH, signs=signs)
    is_asked = _number(printed.get("asked_buffer_bytes")) > 0
    if is_asked and HALF_RATIO * buffer <= flight <= 1.05 * buffer and not again > 0:
        set_signs = tuple(each for each in signs if each.name != "window_bytes")
        sign = Sign(name="window_bytes", value=buffer, unit="byte", origin="sndbuf_actual")
        return Cause(
            code="sender-buffer", confidence=HIGH if flight >= FULL_RATIO * buffer else MEDIUM,
            signs=(*set_signs, sign),
        )  # fmt: skip
    if not again > 0:
        # The congestion window grows until the sender keeps less in flight.
        late = cwnd[cwnd.size // 2 :]
        is_flat = late.size > 1 and float(np.std(late)) <= FLAT_RATIO * float(np.mean(late))
        is_idle = not middle > least * (1 + QUEUE_RATIO) + QUEUE_S
        held |= is_flat and is_idle and FULL_RATIO * window <= flight <= 1.05 * window
        if steady and rates.size >= 3 and held:
            sure = LOW if likely is not None else MEDIUM  # or a line of just this rate was full
            return Cause(code="sender-buffer", confidence=sure, signs=signs)
        return Cause(signs=signs)
    size = _fact(fact, "sent_byte_count", "received_byte_count")
    segments = size / mss + again
    if segments < LEAST_SEGMENTS or str(fact.get("congestion_control", "")).startswith("bbr"):
        return Cause(signs=signs)  # too few for a ratio, or a sender that losses do not hold
    loss = again / segments
    signs = (*signs, Sign(name="loss_ratio", value=loss, unit="ratio", origin="retransmits"))
    if streams > 1:
        if _is_shared_out(flows, rows):
            return Cause(code="line", confidence=MEDIUM, signs=signs)
        return Cause(signs=signs)
    low, high = np.percentile(rtt, [10, 90])
    base = min(stated.rtt_s, middle) if stated.rtt_s is not None else low
    if high > (1 + VARIES_RATIO) * low + QUEUE_S / 2 or middle > base * (1 + QUEUE_RATIO) + QUEUE_S:
        return Cause(code="line", confidence=MEDIUM, signs=signs)
    if loss > MOST_LOSS:
        return Cause(signs=signs, variant="again")
    with doubts():  # bounds to judge by, that no answer shows
        allowed = streams * max(
            float(loss_limited.mathis_throughput_bps(loss, mss_bytes=mss, rtt_s=middle)),
            float(cubic.cubic_throughput_bps(loss, packet_bytes=mss, rtt_s=middle)),
        )
    sure = MEDIUM if rates.size >= 3 else LOW
    if rate > BURSTY_RATIO * allowed and loss >= LEAST_LOSS and rates.size >= 3:
        return Cause(code="policer", confidence=MEDIUM, signs=signs)
    if allowed / BURSTY_RATIO < rate < LIKELY_RATIO * allowed:
        return Cause(code="random-loss", confidence=sure, signs=signs)
    return Cause(signs=signs)


def _nothing(fact: Mapping[str, Any]) -> Cause:
    """Return what is known of a run of which nothing arrived: no cause."""
    signs = (
        Sign(name="received_bytes", value=0.0, unit="byte", origin="the tool"),
        Sign(name="run_s", value=_fact(fact, "duration_s"), unit="s", origin="the tool"),
    )
    return Cause(signs=signs, variant="nothing")


def _pause_cause(flows: FlowSeries, fact: Mapping[str, Any], pace: Pace) -> Cause | None:
    """Return the cause of a time without a byte: an outage if timers repeated something in it.

    Bytes of a sender are those written, which a buffer takes at once, so that a slow line has
    intervals without any; one as long as several buffers is no such.
    """
    pause = pace.pause
    if pause is None or pause.share_of_time < PAUSE_SHARE:
        return None
    own = _own(flows, fact)
    printed = flows.meta.printed
    usual_bps = float(np.median(pace.rate_bps[pace.rate_bps > 0]))
    taken = first_of(_number(printed.get("write_bytes")), WRITE_BYTES)
    streams = max(np.unique(np.asarray(flows.stream)[own]).size, 1)
    if (np.asarray(flows.side)[own] != "receiver").any():
        cwnd = np.asarray(flows.cwnd_bytes)[own]
        cwnd = cwnd[cwnd > 0]
        taken += 2 * float(cwnd.max()) if cwnd.size else MOST_IN_BUFFER_BYTES
    if usual_bps / 8 * pause.duration_s < 4 * taken * streams:
        return None
    signs = _signs_of(pause)
    sent, received = _fact(fact, "sent_byte_count"), _fact(fact, "received_byte_count")
    all_came = pause.is_last and received >= sent > 0
    is_timer = 0 < pause.again_count <= AGAIN_IN_PAUSE * pause.interval_count * streams
    cause = Cause(
        share_of_time=pause.share_of_time, duration_s=float(pace.end_s[-1] - pace.start_s[0]),
        signs=signs, variant="pause",
    )  # fmt: skip
    if is_timer and not all_came:
        return replace(cause, code="outage", confidence=MEDIUM, variant="run")
    return cause


def _signs_of(pause: Pause) -> tuple[Sign, ...]:
    """Return the facts of intervals without a byte."""
    return (
        Sign(name="begin_s", value=pause.begin_s, unit="s", origin="intervals without a byte"),
        Sign(name="pause_s", value=pause.duration_s, unit="s", origin="intervals without a byte"),
        Sign(name="again_count", value=pause.again_count, unit="1", origin="retransmits in them"),
    )


def _likely_line(pace: Pace, rate_bps: float, mss_bytes: float) -> Cause | None:
    """Return the line of Ethernet that an even rate fills, with the headers of full segments."""
    later = pace.rate_bps[1:]
    is_even = later.size > 1 and float(np.std(later)) <= EVEN_RATIO * float(np.mean(later))
    share = mss_bytes / float(ethernet_wire_bytes(mss_bytes + STAMPED_HEADERS_BYTES))
    for line_bps in ETHERNET_BPS:
        if is_even and FULL_LINE <= rate_bps / (share * line_bps) <= OVER_LINE:
            signs = (
                Sign(name="rate_bps", value=rate_bps, unit="bit/s", origin="the tool"),
                Sign(
                    name="line_bps", value=share * line_bps, unit="bit/s",
                    origin="full segments on that line",
                ),
                Sign(
                    name="ethernet_bps", value=line_bps, unit="bit/s", origin="IEEE 802.3",
                    layer=ETHERNET_LINE,
                ),
            )  # fmt: skip
            return Cause(code="line", confidence=MEDIUM, signs=signs, variant="ethernet")
    return None


def _asked_window(printed: Mapping[str, Any], rate_bps: float, stated: Known) -> Cause:
    """Return the window of a buffer that was asked for, where no round trip was measured.

    Linux grants twice of it, of which half or more is the window.
    """
    asked = _number(printed.get("asked_buffer_bytes"))
    if not 0 < asked <= SMALL_BUFFER_BYTES:
        return Cause()
    sign = Sign(name="asked_buffer_bytes", value=asked, unit="byte", origin="-w")
    if stated.rtt_s is None:
        return Cause(code="receiver-window", signs=(sign,), variant="asked")
    flight = rate_bps * stated.rtt_s / 8
    if not HALF_RATIO * 2 * asked <= flight <= 1.05 * 2 * asked:
        return Cause()
    signs = (
        sign,
        Sign(name="window_bytes", value=2 * asked, unit="byte", origin="twice -w, as Linux grants"),
        Sign(name="base_rtt_s", value=stated.rtt_s, unit="s", origin="as stated"),
    )
    return Cause(code="receiver-window", confidence=HIGH, signs=signs)


def _udp_cause(
    flows: FlowSeries, fact: Mapping[str, Any], asked: float, *, in_fragments: bool
) -> Cause:
    """Return the cause of a run of datagrams: what was lost, or what was sent."""
    sent, received = _fact(fact, "sent_rate_bps"), _fact(fact, "received_rate_bps")
    loss = _fact(fact, "loss_ratio")
    sent = first_of(sent, received / (1 - loss) if loss < 1 else math.nan)
    received = first_of(received, sent * (1 - loss))
    signs = (
        Sign(name="rate_bps", value=first_of(received, sent), unit="bit/s", origin="the receiver"),
        Sign(name="sent_rate_bps", value=sent, unit="bit/s", origin="the sender"),
        Sign(name="asked_rate_bps", value=asked or math.nan, unit="bit/s", origin="-b"),
        Sign(name="loss_ratio", value=loss, unit="ratio", origin="numbers of datagrams"),
    )

    def cause(code: str, variant: str = "") -> Cause:
        sure = LOW if code == UNKNOWN_CAUSE else MEDIUM
        return Cause(code=code, confidence=sure, signs=signs, layer=UDP_PAYLOAD, variant=variant)

    pause = pace_of(flows, _own(flows, fact) & (np.asarray(flows.side) == "receiver")).pause
    if pause is not None and pause.share_of_time >= PAUSE_SHARE and loss > LEAST_LOSS:
        # What is missing is that of a time, not of a rate.
        is_all = loss <= 1.2 * pause.share_of_time
        return Cause(
            code="outage" if is_all else UNKNOWN_CAUSE, confidence=MEDIUM if is_all else LOW,
            share_of_time=pause.share_of_time, duration_s=_fact(fact, "duration_s"),
            signs=(*signs, *_signs_of(pause)), layer=UDP_PAYLOAD,
            variant="datagrams",
        )  # fmt: skip
    if loss > 0.05:
        # One lost fragment loses a datagram, and a line never passes more than it does when full.
        is_clear = not in_fragments and not _fell(flows, fact)
        return cause("line" if is_clear else UNKNOWN_CAUSE, "datagrams")
    if received < 0.95 * sent * (1 - loss):
        return cause("line")  # a buffer drained afterwards
    if loss > LEAST_LOSS / 2:
        return cause("loss-udp", "run")
    if not math.isnan(loss) and asked > 0:
        if sent < PACED_LOW * asked:
            return cause("host", "sender")
        return cause("sender-program", "asked")
    return cause(UNKNOWN_CAUSE)


def _fell(flows: FlowSeries, fact: Mapping[str, Any]) -> bool:
    """Whether more arrived in the first interval than later, when much was lost."""
    own = _own(flows, fact) & (np.asarray(flows.side) == "receiver")
    rates, lost = np.asarray(flows.rate_bps)[own], np.asarray(flows.lost_count)[own]
    if rates.size < 4 or np.unique(np.asarray(flows.stream)[own]).size != 1:
        return False
    return bool(rates[0] > 1.3 * np.median(rates[1:]) and lost[0] < 0.5 * np.median(lost[1:]))


def _own(flows: FlowSeries, fact: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return the intervals of a row of facts that count."""
    own: NDArray[np.bool_] = flows.measured & (
        np.asarray(flows.group) == str(fact.get("group", ""))
    )
    return own


def _hole(flows: FlowSeries, fact: Mapping[str, Any]) -> Cause | None:
    """Return a black hole of the path MTU: a window leaves, nothing arrives, timers repeat it.

    The connection was opened and the test ended in order, so that small packets passed.
    """
    own = _own(flows, fact) & (np.asarray(flows.side) == "sender")
    starts = np.round(np.asarray(flows.start_s)[own], 1)
    sizes = np.asarray(flows.payload_bytes)[own]
    again = np.asarray(flows.retransmit_count)[own]
    streams = max(np.unique(np.asarray(flows.stream)[own]).size, 1)
    is_first = starts == starts.min(initial=math.inf)
    later = int(np.unique(starts[~is_first]).size)
    received = _fact(fact, "received_byte_count")
    if later < LEAST_ZEROS or sizes[~is_first].any() or not sizes[is_first].sum() > 0:
        return None
    in_buffer = sizes[is_first].max() <= MOST_IN_BUFFER_BYTES
    is_timer = 0 < np.nansum(again[~is_first]) <= later * streams
    if not (in_buffer and is_timer and received <= FEW_RECEIVED_BYTES * streams):
        return None
    share = later / (later + 1)
    duration_s = float(_fact(fact, "duration_s"))
    signs = (
        Sign(name="received_bytes", value=received, unit="byte", origin="the receiver"),
        Sign(name="intervals", value=float(later), unit="1", origin="intervals without a byte"),
    )
    return Cause(
        code="path-mtu", share_of_time=share, duration_s=duration_s, confidence=MEDIUM, signs=signs
    )


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
    count = round(duration_s / rtt_s)
    if not 1 <= count <= MOST_TRIPS or abs(duration_s - count * rtt_s) > TRIP_ERROR * rtt_s:
        return Cause()
    signs = (
        Sign(name="base_rtt_s", value=rtt_s, unit="s", origin="as stated"),
        Sign(name="trip_count", value=float(count), unit="1", origin="time over round trip"),
    )
    return Cause(
        code="round-trips", share_of_time=count * rtt_s / max(duration_s, count * rtt_s),
        duration_s=duration_s, confidence=MEDIUM, signs=signs, variant="counted",
    )  # fmt: skip


def _number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else math.nan


def _fact(fact: Mapping[str, Any], *names: str) -> float:
    return first_of(*(_number(fact.get(name)) for name in names))
