"""Every ceiling of a measured rate that can be computed from the known facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from netcalc.errors import doubts, tell_doubts
from netcalc.explain.evidence import DEFAULT_MTU_BYTES, NAN, Evidence, Known, first_known
from netcalc.explain.finding import Limit
from netcalc.messages import Notice
from netcalc.models.delays import asymmetry
from netcalc.models.hosts.small_writes import write_write_read_s
from netcalc.models.rates import goodput
from netcalc.models.sizes import fragmentation, framing
from netcalc.models.tcp import ceilings, pftk, sharing, slow_start, timers, window
from netcalc.models.tcp.timers import MIN_RTO_S
from netcalc.rate_layers import TCP_PAYLOAD, UDP_PAYLOAD
from netcalc.readers.captures.losses import TIMER_TOLERANCE, TIMERS_S

LINE_TOLERANCE = 0.04
OFFERED_TOLERANCE = 0.1
"""A tool that is paced begins with a burst. [ratio]"""
OFFERED_LOSS_RATIO = 0.005
WINDOW_TOLERANCE = 0.2
LOSS_TOLERANCE = 0.6
SLOW_START_TOLERANCE = 0.4
COUNT_TOLERANCE = 0.05
WAIT_TOLERANCE = 0.35
BUSY_RATIO = 0.05
"""A processor less busy than this says nothing about its limit. [ratio]"""
ONE_PROCESSOR_RATIO = 1.05
"""Above this more than one processor worked; up to it is the error of the count. [ratio]"""
FULL_WINDOW_RATIO = 0.8
"""A receive window filled to this share limits; one that is never filled does not. [ratio]"""
PAUSE_SHARE = 0.2
"""A pause of this share of a flow is reported: its program was idle, or waited. [ratio]"""
SHORT_SHARE = 0.2
"""Slow start for less of the time does not limit a transfer. [ratio]"""
BLOATED_RATIO = 2.0
"""Round trips this many times the base are attributed to a queue. [ratio]"""
LEAST_QUEUE_BYTES = 1500.0
"""Less than a full packet is no queue: a host answered late. [byte]"""


@dataclass(frozen=True, slots=True)
class _Situation:
    """The known facts of one transfer: those stated, then those of the file."""

    evidence: Evidence
    stated: Known

    @property
    def mtu_bytes(self) -> float:
        return first_known(self.stated.mtu_bytes, self.evidence.mtu_bytes, DEFAULT_MTU_BYTES)

    @property
    def mss_bytes(self) -> float:
        return self.mtu_bytes - 40 - self.evidence.option_bytes

    @property
    def base_rtt_s(self) -> float:
        return first_known(self.stated.rtt_s, self.evidence.base_rtt_s)

    @property
    def rtt_s(self) -> float:
        """The round trip under load, which windows and loss see."""
        return first_known(self.evidence.rtt_s, self.base_rtt_s)

    @property
    def loss_ratio(self) -> float:
        return first_known(self.stated.loss_ratio, self.evidence.loss_ratio)

    @property
    def congestion_control(self) -> str:
        """The algorithm as stated, or as the file names it; CUBIC where neither does."""
        named = self.stated.congestion_control or self.evidence.congestion_control.lower()
        if named.startswith("bbr"):
            return "bbr"
        return "reno" if named in ("reno", "newreno") else "cubic"

    @property
    def layer(self) -> str:
        return UDP_PAYLOAD if self.evidence.is_udp else TCP_PAYLOAD

    @property
    def streams(self) -> float:
        return self.evidence.stream_count


def rate_limits(evidence: Evidence, stated: Known) -> tuple[Limit, ...]:
    """Return every ceiling of a transfer's goodput, the lowest first.

    Parameters
    ----------
    evidence : Evidence
        What the file says.
    stated : Known
        Facts stated besides it; they take precedence over the file.

    Returns
    -------
    tuple of Limit
        Ceilings in bit/s; those of other algorithms, for comparison, among them.
    """
    at = _Situation(evidence, stated)
    limits = [*_line(at), *_device(at), *_host(at)]
    if not evidence.is_udp:
        limits += [*_windows(at), *_losses(at), *_start(at), *_acknowledgements(at)]
    good = [limit for limit in limits if 0 < limit.value < math.inf]
    return tuple(sorted(good, key=lambda limit: limit.value))


def line_ceiling_bps(evidence: Evidence, stated: Known) -> float:
    """Return the goodput that the line allows a transfer; nan if the line is not known. [bit/s]"""
    limits = _line(_Situation(evidence, stated))
    return limits[0].value if limits else math.nan


def _line(at: _Situation) -> list[Limit]:
    """The line with the headers of that packet size, its fragments, and a buffer that is short."""
    line = at.stated.line_bps
    if line is None:
        return []
    if not math.isnan(at.evidence.payload_share):
        name = "fragments" if at.evidence.fragment_ratio > 0 else "line"
        wire = at.evidence.datagram_bytes / at.evidence.payload_share
        return [_line_limit(name, line, at.evidence.datagram_bytes, wire)]
    if at.evidence.is_udp:
        size = round(first_known(at.evidence.datagram_bytes, at.mtu_bytes - 28))  # a mean of a file
        size = min(size, int(framing.udp_payload_limit_bytes()))
        whole = size + 28 <= at.mtu_bytes
        wire = float(fragmentation.fragmented_wire_bytes(size + 8, mtu_bytes=at.mtu_bytes))
        return [_line_limit("line" if whole else "fragments", line, size, wire)]
    wire = float(framing.ethernet_wire_bytes(at.mtu_bytes))
    limits = [_line_limit("line", line, at.mss_bytes, wire)]
    buffer, rtt = at.stated.buffer_bytes, at.base_rtt_s
    if buffer is not None and rtt > 0:
        bdp = float(window.bdp_bytes(rtt, bandwidth_bps=line))
        reno = at.congestion_control == "reno"
        use = sharing.aimd_utilization if reno else sharing.cubic_utilization
        share = float(use(buffer / bdp))
        values = {"buffer_bytes": buffer, "bdp_bytes": bdp, "share": share}
        limit = Limit("buffer", limits[0].value * share, "bit/s", COUNT_TOLERANCE, values)
        if share < 1 and at.streams == 1 and at.congestion_control != "bbr":
            limits.append(limit)
    return limits


def _line_limit(name: str, line_bps: float, payload_bytes: float, wire_bytes: float) -> Limit:
    values = {"line_bps": line_bps, "payload_bytes": payload_bytes, "wire_bytes": wire_bytes}
    rate = line_bps * payload_bytes / wire_bytes
    return Limit(name, rate, "bit/s", LINE_TOLERANCE, values)


def _device(at: _Situation) -> list[Limit]:
    """The packet rate of a device, acknowledgements included."""
    rate = at.stated.device_pps
    if rate is None:
        return []
    size = (
        first_known(at.evidence.datagram_bytes, at.mtu_bytes - 28)
        if at.evidence.is_udp
        else at.mss_bytes
    )
    share = 1.0 if at.evidence.is_udp else 2 / 3  # two segments for an acknowledgement
    values = {"device_pps": rate, "payload_bytes": size, "share": share}
    return [Limit("packet-rate", 8.0 * rate * size * share, "bit/s", COUNT_TOLERANCE, values)]


def _host(at: _Situation) -> list[Limit]:
    """The hosts: the offered rate, and the processor of the sender and of the receiver."""
    evidence, limits = at.evidence, []
    offered = evidence.asked_rate_bps
    if offered > 0:
        values = {"offered_bps": offered}
        # Of datagrams it is the limit only where all of them are known to arrive.
        is_lost = evidence.is_udp and not evidence.loss_ratio <= OFFERED_LOSS_RATIO
        limits.append(Limit("offered", offered, "bit/s", OFFERED_TOLERANCE, values, is_lost))
    for name, busy in (
        ("processor", evidence.processor_ratio),
        ("receiver-processor", evidence.receiver_processor_ratio),
    ):
        if busy > ONE_PROCESSOR_RATIO:  # a thread for each stream, on processors of their own
            busy /= evidence.stream_count
        if BUSY_RATIO <= busy <= ONE_PROCESSOR_RATIO and evidence.rate_bps > 0:
            values = {"busy": busy, "measured_bps": evidence.rate_bps}
            limits.append(Limit(name, evidence.rate_bps / busy, "bit/s", COUNT_TOLERANCE, values))
    return limits


def _windows(at: _Situation) -> list[Limit]:
    """The windows over the round trip; data in flight anyway is not a cause."""
    evidence, rtt, limits = at.evidence, at.rtt_s, []
    if not rtt > 0:
        return []

    def over(name: str, size: float, *, for_comparison: bool = False) -> Limit:
        rate = at.streams * float(window.throughput_bps(size, rtt_s=rtt))
        values = {"window_bytes": size, "rtt_s": rtt, "streams": int(at.streams)}
        return Limit(name, rate, "bit/s", WINDOW_TOLERANCE, values, for_comparison)

    if at.stated.window_bytes is not None:
        limits.append(over("window", at.stated.window_bytes))
    if evidence.cwnd_bytes > 0:
        limits.append(over("congestion-window", evidence.cwnd_bytes))
    if evidence.send_buffer_bytes > 0:
        limits.append(over("socket-buffer", evidence.send_buffer_bytes))
    receive, flight = evidence.receive_window_bytes, evidence.in_flight_bytes
    if receive > 0:
        filled = math.isnan(flight) or flight >= FULL_WINDOW_RATIO * receive
        limits.append(over("receive-window", receive, for_comparison=not filled))
    if flight > 0:
        is_cause = evidence.is_window_steady and at.stated.window_bytes is None
        limits.append(over("send-window", flight, for_comparison=not is_cause))
    return limits


def _losses(at: _Situation) -> list[Limit]:
    """Loss by three formulas; the one of the sender's algorithm is a limit, the others compare.

    A sender has selective acknowledgements; what Reno has without them, by PFTK, compares.
    """
    loss, rtt, mss = at.loss_ratio, at.rtt_s, at.mss_bytes
    if not (0 < loss < 1 and rtt > 0):
        return []
    limit = partial(ceilings.congestion_limit_bps, loss, rtt_s=rtt, mss_bytes=mss)
    rto = float(timers.rto_s(rtt, rttvar_s=0.0, min_rto_s=MIN_RTO_S, floor="variation"))
    formulas: dict[str, Callable[[], float]] = {
        "loss-mathis": lambda: limit(congestion_control="reno"),
        "loss-cubic": lambda: limit(congestion_control="cubic"),
        "loss-pftk": lambda: 8.0 * mss * pftk.pftk_throughput_pps(loss, rtt_s=rtt, rto_s=rto),
    }
    named = at.congestion_control
    own = "loss-mathis" if named == "reno" else "loss-cubic"
    rates = {}
    for name, formula in formulas.items():
        with doubts() as doubtful:
            rates[name] = formula()
        if name == own:  # those of the others are no doubt about this answer
            tell_doubts(doubtful)
    stated = (at.stated.congestion_control or at.evidence.congestion_control).lower()
    values: dict[str, Any] = {"loss_ratio": loss, "rtt_s": rtt, "mss_bytes": mss, "rto_s": rto}
    control = "CUBIC" if stated.startswith("cubic") else "if it is CUBIC"
    return [
        Limit(
            name, at.streams * rate, "bit/s", LOSS_TOLERANCE,
            {**values, "control": control} if name == "loss-cubic" else values,
            name != own or named == "bbr",
        )
        for name, rate in rates.items()
    ]  # fmt: skip


def _start(at: _Situation) -> list[Limit]:
    """The growth of the window from the first segments on."""
    size, rtt = at.evidence.size_bytes / at.streams, at.base_rtt_s
    if not (at.evidence.is_from_start and size > 0 and rtt > 0):
        return []
    first = float(slow_start.initial_window_bytes(at.mss_bytes)) / at.mss_bytes
    count = float(slow_start.rounds(math.ceil(size / at.mss_bytes), initial_window_segments=first))
    duration_s = first_known(
        at.evidence.duration_s, 8 * at.evidence.size_bytes / (at.evidence.rate_bps or NAN)
    )
    values = {"size_bytes": size, "rounds": int(count), "rtt_s": rtt}
    rate = 8.0 * at.evidence.size_bytes / (count * rtt)
    is_over = count * rtt < SHORT_SHARE * duration_s
    limits = [Limit("slow-start", rate, "bit/s", SLOW_START_TOLERANCE, values, is_over)]
    waits, wait = at.evidence.wait_count, at.evidence.wait_s
    if waits > 0 and wait > 0:
        # Where requests are answered, a round trip brings the acknowledgement, another the answer.
        trips = 2 if at.evidence.is_answered else 1
        values = {
            "count": int(waits), "wait_s": wait, "rtt_s": rtt, "size_bytes": size, "trips": trips,
        }  # fmt: skip
        rate = 8.0 * size / (waits * (wait + trips * rtt))
        limit = Limit("delayed-ack", rate, "bit/s", WAIT_TOLERANCE, values)
        if not limit.refuted(at.evidence.rate_bps):  # faster than that: it does not wait for them
            limits.append(limit)
    return limits


def _acknowledgements(at: _Situation) -> list[Limit]:
    """The reverse direction, which carries an acknowledgement for two segments."""
    reverse = at.stated.reverse_bps
    if reverse is None:
        return []
    ack = float(goodput.tcp_ack_wire_bytes(at.evidence.option_bytes))
    rate = float(
        asymmetry.ack_limited_throughput_bps(reverse, ack_wire_bytes=ack, mss_bytes=at.mss_bytes)
    )
    values = {"ack_bytes": ack, "reverse_bps": reverse}
    return [Limit("acknowledgements", rate, "bit/s", WINDOW_TOLERANCE, values)]


def rate_notices(evidence: Evidence, stated: Known) -> tuple[Notice, ...]:
    """Return what else the numbers show: two counts that differ, a queue, fragments, a refusal."""
    at, limits = _Situation(evidence, stated), rate_limits(evidence, stated)
    notices = [notice for said in _NOTICES for notice in said(at)]
    if not evidence.is_udp:
        is_held = any(limit.name == "delayed-ack" for limit in limits)
        notices += stalls_of(evidence, at.base_rtt_s, is_held=is_held)
    for limit in limits:
        if not limit.for_comparison and limit.refuted(evidence.rate_bps):
            facts = {
                "subject": limit.subject, "value": limit.value, "measured": evidence.rate_bps,
                "assumption": str(limit.assumption),
            }  # fmt: skip
            notices.append(Notice("limit-refuted", facts))
    return tuple(notices)


def _ends_apart(at: _Situation) -> Iterator[Notice]:
    """Say that both ends count differently, or that the receiver counts nothing."""
    evidence = at.evidence
    sent, received = evidence.sent_rate_bps, evidence.received_rate_bps
    apart = abs(received / sent - 1) if sent > 0 else NAN
    if sent > 0 and math.isnan(received):
        yield Notice("sender-count-only")
    if not (received > 0 and apart > LINE_TOLERANCE):
        return
    values = {"sent_bps": sent, "received_bps": received, "share": apart, "layer": at.layer}
    code = "sender-not-receiver" if evidence.is_udp else "sender-buffer"  # TCP repeats its losses
    if received > sent:
        code = "receiver-counts-more"
    elif evidence.is_udp and evidence.loss_ratio < apart / 4:
        code = "receiver-took-longer"
    elif evidence.is_udp:  # the ends may count over different times
        values["share"] = first_known(evidence.loss_ratio, apart)
    yield Notice(code, values)


def _queue(at: _Situation) -> Iterator[Notice]:
    rtt, base, rate = at.rtt_s, at.base_rtt_s, at.evidence.rate_bps
    queue_bytes = (rtt - base) * rate / 8
    if rtt > BLOATED_RATIO * base and queue_bytes >= LEAST_QUEUE_BYTES:
        values = {"rtt_s": rtt, "base_rtt_s": base, "queue_bytes": queue_bytes}
        yield Notice("queue-in-buffer", values)
    both_s = at.evidence.both_ways_rtt_s
    if both_s > BLOATED_RATIO * base:
        yield Notice("queue-both-ways", {"rtt_s": both_s, "base_rtt_s": base})


def _pauses(at: _Situation) -> Iterator[Notice]:
    evidence = at.evidence
    if evidence.gap_s > PAUSE_SHARE * evidence.duration_s:
        values = {"gap_s": evidence.gap_s, "duration_s": evidence.duration_s}
        yield Notice("sender-paused", values)
    if not evidence.empty_count > 0:
        return
    counts = {"count": int(evidence.empty_count), "total": int(evidence.interval_count)}
    if evidence.pause is None:
        yield Notice("intervals-of-nothing", counts)
    else:
        pause = {"begin_s": evidence.pause.begin_s, "pause_s": evidence.pause.duration_s}
        yield Notice("intervals-of-a-pause", counts | pause)


def _levels(at: _Situation) -> Iterator[Notice]:
    levels = at.evidence.levels
    if levels is not None:
        values = {"before_bps": levels.before_bps, "after_bps": levels.after_bps}
        yield Notice("rate-levels", {**values, "at_s": levels.at_s, "layer": at.layer})


def _fragments(at: _Situation) -> Iterator[Notice]:
    """Say that a packet is lost less often than its fragments, and that a file has fragments."""
    evidence, size = at.evidence, at.evidence.datagram_bytes
    if evidence.is_cut(at.mtu_bytes) and size <= float(framing.udp_payload_limit_bytes()):
        cut = int(fragmentation.fragment_count(round(size) + 8, mtu_bytes=at.mtu_bytes))
        if cut > 1 and 0 < evidence.loss_ratio < 1:
            values = {
                "size_bytes": size, "count": cut, "mtu_bytes": at.mtu_bytes,
                "packet_loss_ratio": 1 - (1 - evidence.loss_ratio) ** (1 / cut),
            }  # fmt: skip
            yield Notice("fragments-lost", values)
    if evidence.fragment_ratio > 0:
        yield Notice("fragments-seen", {"share": evidence.fragment_ratio})


_NOTICES = (_ends_apart, _queue, _pauses, _levels, _fragments)
"""What numbers show beside the limits, in the order in which it is told."""


def above_line(rate_bps: float, stated: Known) -> tuple[Notice, ...]:
    """Say that a rate is more than the stated line carries; nothing of one that is not."""
    line = Known(line_bps=stated.line_bps, mtu_bytes=stated.mtu_bytes)
    said = rate_notices(Evidence(rate_bps=rate_bps), line)
    return tuple(notice for notice in said if notice.code == "limit-refuted")


def missing(evidence: Evidence, stated: Known) -> tuple[Notice, ...]:
    """Return what to state for further limits, by the option that states it."""
    at, questions = _Situation(evidence, stated), []
    if stated.line_bps is None:
        questions.append(Notice("ask-line"))
    if evidence.is_udp:
        return tuple(questions)
    if math.isnan(at.base_rtt_s):
        questions.append(Notice("ask-rtt"))
    seen = (
        evidence.is_window_on_record
        or evidence.cwnd_bytes > 0
        or not math.isnan(evidence.receive_window_bytes)
    )
    if stated.window_bytes is None and not seen:
        questions.append(Notice("ask-window"))
    if math.isnan(at.loss_ratio):
        questions.append(Notice("ask-loss"))
    return tuple(questions)


def missing_of_unexplained(evidence: Evidence, stated: Known) -> tuple[Notice, ...]:
    """Return the rarer facts to state where limits are known, and none explains the rate."""
    notices = []
    if stated.reverse_bps is None and not evidence.is_udp:
        notices.append(Notice("ask-reverse"))
    if stated.device_pps is None:
        notices.append(Notice("ask-device"))
    if stated.buffer_bytes is None and stated.line_bps is not None and not evidence.is_udp:
        notices.append(Notice("ask-buffer"))
    return tuple(notices)


TIMEOUT_TOLERANCE = 0.1
MOST_DOUBLINGS = 3


def timer_of(wait_s: float) -> float | None:
    """Return the timer in use that a wait fits; None if none does. [s]"""
    return next((t for t in TIMERS_S if abs(wait_s / t - 1) <= TIMER_TOLERANCE), None)


def stall_notice(timer_s: float, *, rtt_s: float, trips: int = 2) -> Notice:
    """Return how long a request takes that waits for a delayed acknowledgement, and without.

    Parameters
    ----------
    timer_s : float
        The timer of the receiver. [s]
    rtt_s : float
        Round trip of the path. [s]
    trips : int
        Round trips of a request: 2 if its second part waits for the acknowledgement of the first.

    Returns
    -------
    Notice
        With its values in seconds.
    """
    held = trips * rtt_s + timer_s
    if trips == 2:
        held = float(write_write_read_s(rtt_s, delayed_ack_s=timer_s))
    free = float(write_write_read_s(rtt_s, nagle=False))
    values = {"rtt_s": rtt_s, "timer_s": timer_s, "trips": trips, "held_s": held, "free_s": free}
    return Notice("stall-arithmetic", values)


def stalls_of(evidence: Evidence, rtt_s: float, *, is_held: bool) -> list[Notice]:
    """Return the arithmetic of the stalls of a flow.

    Parameters
    ----------
    evidence : Evidence
        Its waits, and its longest pause.
    rtt_s : float
        Round trip without load. [s]
    is_held : bool
        Whether it waits for delayed acknowledgements.

    Returns
    -------
    list of Notice
        Of delayed acknowledgements with a known timer, and of a pause as long as a timeout.
    """
    notices = []
    timer = timer_of(evidence.wait_s) if is_held else None
    if timer is not None:
        notices.append(stall_notice(timer, rtt_s=rtt_s))
    if evidence.retransmit_count > 0 and first_known(evidence.gap_s, 0.0) > 0 and rtt_s > 0:
        rto = float(timers.rto_s(rtt_s, rttvar_s=0.0, min_rto_s=MIN_RTO_S, floor="variation"))
        factor = 2 ** max(round(math.log2(evidence.gap_s / rto)), 0)
        is_near = abs(evidence.gap_s / (factor * rto) - 1) <= TIMEOUT_TOLERANCE
        if is_near and factor < 2**MOST_DOUBLINGS:
            values = {
                "gap_s": evidence.gap_s, "rtt_s": rtt_s, "least_s": MIN_RTO_S,
                "rto_s": factor * rto, "factor": factor,
            }  # fmt: skip
            notices.append(Notice("stall-of-timeout", values))
    return notices
