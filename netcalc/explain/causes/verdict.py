"""The cause of a transfer's pace: shares of its time by cause, and how sure the largest is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from netcalc.checks import FloatArray
from netcalc.explain.causes import intervals
from netcalc.explain.causes.cause import HIGH, LOW, MEDIUM, UNKNOWN_CAUSE, Cause, Sign
from netcalc.explain.causes.dialogue import SENDER, UNKNOWN, Dialogue
from netcalc.explain.causes.intervals import GapRounds, Gaps, Intervals, LineRate
from netcalc.explain.evidence import Evidence, Known, first_known
from netcalc.explain.rate_limits import line_ceiling_bps
from netcalc.messages import Notice
from netcalc.models.tcp.window import throughput_bps
from netcalc.readers.captures.groups import Bools

MOST_AFTER_ACK = 0.1
"""Nothing is waited for where more segments come after their acknowledgement. [ratio]"""
LEAST_SHARE = 0.4
"""A cause of less of the time is not named. [ratio]"""
SURE_SHARE = 0.6
"""A cause of this share of the time, or more, may be sure. [ratio]"""
KINDS_OF_LOSS, SURE_ROUNDS = ("random-loss", "shallow-buffer", "policer"), 30
"""What kind of loss it is shows in the losses of so many rounds. [1]"""
OF_A_BASE = ("line", "shared-line", "reverse-path", "round-trips", "server-time", "slow-start")
"""Causes that the round trip without a queue tells from each other."""
MOST_TIMES = 30
"""Segments in a row that are so many times faster than the flow left a network card. [1]"""
LEAST_FILLED = 0.5
"""Full windows carry at least this share of a window for each round trip; seen: 0.97. [ratio]"""
MOST_USE, LEAST_WAIT, LEAST_WAIT_S = 1.05, 0.02, 3e-4
"""A line carries no more than this, and in front of a full one packets wait for this share of the
round trip and this time. [ratio], [ratio], [s]"""
LEAST_QUEUE_S = 0.005
"""A shorter wait of one direction alone is no queue. [s]"""
FULL_LINE_RATIO = 0.85
"""A line that carries this share of its rate is full. [ratio]"""
SLOW_START_ROUNDS = 12
"""A flow of no more rounds that never stopped to grow is slow start: from 10 segments on twelve
doublings are 60 MB. [1]"""
ROUNDS_WITHIN = 30
"""Within a flow so many rounds without a change show that its window does not grow. [1]"""
ALIKE_ROUNDS, ALIKE_RATIO = 4, 1.15
"""So many rounds with no more in flight than this ratio apart are no slow start. [1], [ratio]"""
SMALL_SEGMENT_BYTES = 500
"""Of shorter segments headers are a tenth and more of a line. [byte]"""
SHARED_RATIO = 0.8
"""A flow that never has more of a full line shares it. [ratio]"""
LEAST_COPIES, MOST_COPIES = 0.02, 0.4
"""A path that doubles packets doubles some of them. [ratio]"""
OWN_SHARE = 0.5
"""Queues of others are more than twice those of the flow's own segments; seen: 12 times. [ratio]"""
EMPTIED_RATIO, EMPTIED_SHARE = 0.7, 0.25
"""Below this share of its rate a line is not full if queues are often below this share of their
median. [ratio]"""
BLURRED = ("line", "policer", "shallow-buffer", "random-loss", "flat", "other", "slow-start")
"""Causes that packets in batches can be taken for."""
LEAST_NEEDLESS, MOST_NEEDLESS = 0.5, 1.5
"""So many copies reported for each repetition are those of segments out of order; with more the
path doubles packets. [ratio]"""
FEWEST_EPISODES, USUAL_RTT_S = 3, 0.02
"""Losses at fewer times do not show their kind; a round trip where none is known. [1], [s]"""
POLICED_RATIO = 0.12
"""A flow that loses bursts at less of a line than this is policed. [ratio]"""
LEAST_PARTS = 0.05
"""Segments that are not full, above this share: a program writes them. [ratio]"""
LEAST_ROWS, LEAST_PART_OF_ROWS, ROWS_SPREAD = 20, 0.1, 0.06
"""A line that is not full shows in so many rows of packets, as a share of all segments, too, and as
alike. [1], [ratio], [ratio]"""
QUEUED_SHARE = 0.2
"""From this share of the time on losses are those of a full buffer. [ratio]"""
SHALLOW_USE, BURSTY_USE, DELAYED_USE, SHORT_QUEUE_S = 0.5, 0.33, 0.14, 1.2e-3
"""A short buffer drops single segments from this use of its line on, bursts from this, and from
this if round trips vary by so much. [ratio], [ratio], [ratio], [s]"""
FEW_LOSSES, LEAST_LOSSES, LEAST_EPISODES = 3, 8, 4
"""No more losses hold no program back; fewer, or at fewer times, are of no policer. [1]"""
BURST = 2.0
"""Segments lost together, on average, from which on losses are those of a full bucket or buffer."""
SPECIAL_SHARE = 0.3
"""From this share of the time on a timer is the cause, whatever was waited for besides. [ratio]"""
LEAST_REORDERED, MOST_LOST_OF_REORDERED = 0.004, 3
"""Segments out of order, as a share of all, hold a flow that lost less than so many times as many.
[ratio], [1]"""
LEAST_SMALL_SEGMENTS = 200
"""Fewer short segments are a question or an answer. [1]"""
BATCH_PAUSE_S, LEAST_BATCHES = 3e-3, 30
"""Batches are apart by more than this, and so many show it. [s], [1]"""
EVEN_PAUSES, PART_OF_A_TRIP, PAUSED_SHARE = 1.4, 0.75, 0.7
"""Pauses of one timer differ by less than this ratio, are shorter than this part of a round trip,
and take this share of the time. [ratio], [ratio], [ratio]"""
LEAST_GAPS_IN_A_BATCH, DENSE_RATIO = 1.5, 0.005
"""Gaps within a batch: so many for each pause, and shorter than this part of it. [1], [ratio]"""
SILENT_SHARE, LEAST_MSS_BYTES = 0.25, 1220
"""A path that is too narrow for full segments is silent for this share of the time; a segment that
IPv6 lets pass everywhere, 1280 bytes without headers, is none. [ratio], [byte]"""
MOST_OPTIONS_BYTES, ALIKE_BYTES, AGAIN_AND_AGAIN = 60, 40, 3
"""A segment that is smaller than was agreed by more than its options is; segments this near are as
large; and one is sent so often before it is believed to vanish. [byte], [byte], [1]"""


LEAST_FLIGHTS, ALIKE_HALVES, MOSTLY_FULL = 20, 0.88, 0.8
"""Data in flight stop to grow if so many values are there, the highest of both halves are this
near, and a tenth of them reaches this share of the highest. [1], [ratio], [ratio]"""
OUTAGE_TIMERS, OUTAGE_S, OUTAGE_SEGMENTS, OUTAGE_TRIES = 2, 1.0, 5, 2
"""Nothing passes if so many timers ran for so long, a window of so many segments was lost, and one
of them was sent so often in vain. [1], [s], [1], [1]"""
LEAST_SHARED, MOST_LINES, THIRDS = 300, 30, 3
"""Of fewer segments, and on a line so many times faster than the flow, no sharing shows; each of so
many parts of the time must have room for others. [1], [1], [1]"""


def judge(
    d: Dialogue, *, sender_is_client: bool, held_s: float = 0.0
) -> tuple[Cause, Intervals | None]:
    """Return what limited a direction of a flow.

    Parameters
    ----------
    d : Dialogue
        The direction.
    sender_is_client : bool
        Whether its sender opened the connection.
    held_s : float
        Time of acknowledgements that came by a timer. [s]

    Returns
    -------
    Cause
        ``unknown`` where nothing has 40 % of the time.
    Intervals or None
        What each moment was waited for; None for one direction alone.
    """
    line = intervals.line_rate(d)
    if d.is_one_sided:
        return _one_sided(d, line), None
    gaps = intervals.find_gaps(d)
    rounds = intervals.find_rounds(d, gaps)
    paced = _paced(d, gaps, rounds)
    waits = intervals.find_intervals(
        d, gaps, rounds, sender_is_client=sender_is_client, paced=paced
    )
    loss = _kind_of_loss(d, line)
    if waits.shares().get("line", 0.0) > QUEUED_SHARE:
        loss = "line"  # what a full buffer drops is no cause of its own
    waits = waits.renamed(_settled(d, gaps, rounds, line, loss))
    if line.is_clear and _is_emptied(d, line):
        waits = waits.renamed({"line": "other"})  # bursts wait for themselves, and then it is idle
    shares, total_s = waits.shares(), waits.total_s
    if not shares:  # no time passed
        return Cause(signs=_signs(d, line, shares)), waits
    signs = (*_signs(d, line, shares), *_signs_of_rounds(d, gaps, rounds))
    code, share = next(iter(shares.items()))
    if code == "line" and not d.is_gappy and _is_shared(d, line):
        code = "shared-line"
    special = _special(d, gaps, shares, held_s=held_s)
    if special in ("timeout", "outage"):
        shares = _renamed(shares, "timeout", special)
        code, share = special, shares[special]
    elif special:
        code, share = special, shares.get(special, share)
    names = shares
    if code not in shares:
        names = shares = _renamed(shares, next(iter(shares)), code)
        if code == "nagle-delayed-ack":  # of that wait the timers took a part
            signs = tuple(each for each in signs if each.name != "line_bps")  # that was their pace
            share = min(held_s / total_s, share)
            shares = {**shares, code: share, "other": shares.get("other", 0.0)}
            shares["other"] += 1 - sum(shares.values())
            shares = dict(sorted(shares.items(), key=lambda item: -item[1]))
    confidence = _confidence(d, line, rounds, code, share)
    is_open = code in (*intervals.OPEN, UNKNOWN_CAUSE) or d.after_ack_ratio > MOST_AFTER_ACK
    if not (share >= LEAST_SHARE or special) or is_open or _is_contradicted(d, code, share):
        code, confidence = UNKNOWN_CAUSE, LOW
    cause = Cause(
        code=code, share_of_time=share, duration_s=total_s, confidence=confidence, shares=shares,
        signs=signs,
    )  # fmt: skip
    # The names of the shares, in whose order those of the intervals are.
    return cause, waits.renamed(dict(zip(waits.shares(), names, strict=True)))


def unsure(cause: Cause) -> Cause:
    """Return a cause that its evidence does not carry: an unknown one, with its shares."""
    return replace(cause, code=UNKNOWN_CAUSE, confidence=LOW)


def _confidence(d: Dialogue, line: LineRate, rounds: GapRounds, code: str, share: float) -> str:
    """Return how sure it is that a cause has this share of the time."""
    if share < LEAST_SHARE or d.is_coarse:
        return LOW
    is_few = rounds.kinds.size < SURE_ROUNDS or _episodes(d) < FEWEST_EPISODES
    is_few |= code == "policer" and not line.is_clear  # it passes bursts at the line's rate
    if code in KINDS_OF_LOSS and is_few:
        return LOW
    if share < SURE_SHARE or d.place == UNKNOWN or d.is_gappy or d.clock_steps:
        return MEDIUM
    if code == "receiver-window" and d.scale_is_inferred:
        return MEDIUM
    # Within a flow the least round trip may have a queue in it.
    is_based = d.handshake_rtt_s > 0 or d.rate_bps > FULL_LINE_RATIO * line.rate_bps
    if code in OF_A_BASE and not is_based:
        return MEDIUM
    # Without stamps a round trip does not show whether its queue was there or back.
    if code == "line" and d.place == SENDER and not np.isfinite(d.ack_late_s).any():
        return MEDIUM
    return HIGH


def _is_contradicted(d: Dialogue, code: str, share: float) -> bool:
    """Whether a window that is said to be full for so long would have carried far more."""
    if code != "receiver-window" or not d.base_rtt_s > 0 or not np.isfinite(d.window).any():
        return False
    # The path may have become longer: then the base is not what a window waited for.
    loaded_s = float(np.percentile(d.trip_s, 90)) if d.trip_s.size else 0.0
    full_bps = 8 * float(np.nanmedian(d.window)) / max(loaded_s, d.base_rtt_s)
    return d.rate_bps < LEAST_FILLED * share * full_bps


def _renamed(shares: Mapping[str, float], name: str, code: str) -> dict[str, float]:
    """Return the shares with the name of one replaced."""
    return {(code if each == name else each): share for each, share in shares.items()}


def _signs(d: Dialogue, line: LineRate, shares: Mapping[str, float]) -> tuple[Sign, ...]:
    """Return the facts of a direction that do not depend on what it waited for."""
    by_place = "repetitions at the sender" if d.place == SENDER else "repetitions seen"
    if d.place != SENDER and d.ids is not None:
        by_place = "missing packet numbers"
    # At the pace of something else a row of packets may look like a line.
    is_line = line.is_clear and line.rate_bps < MOST_TIMES * d.rate_bps
    is_full = shares.get("line", 0.0) > QUEUED_SHARE
    is_line &= is_full or (line.rate_bps > 1.5 * d.rate_bps and _is_seen(d, line))
    how = "acknowledgements in a row" if d.place == SENDER else "segments in a row"
    rates_bps = (line.rate_bps, line.low_bps, line.high_bps) if is_line else (math.nan,) * 3
    by_order = "packet numbers" if d.ids is not None else "holes filled early"
    trips = "handshake" if d.handshake_rtt_s > 0 else "fastest answers"
    return (
        Sign("rate_bps", d.rate_bps, "new payload"),
        Sign("base_rtt_s", d.base_rtt_s, trips),
        Sign("loss_ratio", d.loss_ratio, by_place),
        Sign("line_bps", rates_bps[0], how, low=rates_bps[1], high=rates_bps[2]),
        Sign("mss_bytes", float(d.mss_bytes), "segments"),
        Sign("reordered_ratio", float(np.mean(d.is_reordered)), by_order),
        Sign(
            "missing_bytes", float(d.missing_bytes), "acknowledged, and in no packet of the capture"
        ),
    )


def _is_seen(d: Dialogue, line: LineRate) -> bool:
    """Whether estimates of a line that is not full agree so well that no program made them."""
    least = max(LEAST_ROWS, LEAST_PART_OF_ROWS * d.seen_s.size)
    return line.count >= least and line.high_bps < (1 + ROWS_SPREAD) * line.low_bps


def _signs_of_rounds(d: Dialogue, gaps: Gaps, rounds: GapRounds) -> tuple[Sign, ...]:
    """Return the facts of the waits: queues, data in flight, the window."""
    where = "round trips" if d.place == SENDER else "time stamps"
    window = float(np.nanmax(d.window)) if np.isfinite(d.window).any() else math.nan
    scale = "windows by the least scale that fits" if d.scale_is_inferred else "windows"
    flight = float(np.percentile(gaps.in_flight, 90))
    queue_s, back_s = (
        float(np.percentile(each, 75)) if d.handshake_rtt_s > 0 else math.nan  # beside no base
        for each in (rounds.queue_s, rounds.back_s)
    )
    return (
        Sign("queue_s", queue_s if math.isnan(queue_s) else max(queue_s, 0.0), where),
        Sign("back_queue_s", back_s, "time stamps"),
        Sign("in_flight_bytes", flight, "sent and not acknowledged"),
        Sign("window_bytes", window, scale),
    )


def _paced(d: Dialogue, gaps: Gaps, rounds: GapRounds) -> Bools:
    """Return the gaps in which the sender waited for nothing but itself."""
    paced: Bools = (gaps.kind == intervals.PACED) & ~np.isin(
        rounds.kind, (intervals.QUEUED, intervals.QUEUED_BACK)
    )
    if not d.sees_queue:
        return np.zeros(paced.size, np.bool_)  # a queue before the capture spaces packets, too
    if _lost(d)[1] > FEW_LOSSES:  # a program that is paced is not held back by its losses
        paced &= rounds.kind != intervals.AFTER_LOSS
    return paced


def _settled(
    d: Dialogue, gaps: Gaps, rounds: GapRounds, line: LineRate, loss: str
) -> dict[str, str]:
    """Return the causes of times whose cause depends on the whole transfer."""
    lossless = not d.is_repeated.any() and d.lost_before == 0
    few = rounds.kinds.size <= SLOW_START_ROUNDS and d.handshake_rtt_s > 0
    part = np.mean((d.payload < 0.95 * d.mss_bytes) & ~d.is_repeated)
    names = {"loss": loss}
    if part > LEAST_PARTS and lossless and d.sequence.size > 50:
        names |= {"flat": "sender-program", "other": "sender-program"}
    elif lossless and few and not _has_stopped(rounds):
        names |= {"flat": "slow-start", "other": "slow-start"}
    elif lossless and _is_flat(gaps) and _shows_the_sender(d, line, rounds):
        names["flat"] = "sender-buffer"
    elif loss == "line":
        names |= {"flat": "line", "other": "line"}
    return names


def _has_stopped(rounds: GapRounds) -> bool:
    """Whether the data in flight are alike in some rounds in a row: slow start doubles them."""
    if rounds.in_flight.size < ALIKE_ROUNDS:
        return False
    rows = np.lib.stride_tricks.sliding_window_view(rounds.in_flight, ALIKE_ROUNDS)
    low, high = rows.min(axis=1), rows.max(axis=1)
    return bool(((low > 0) & (high < ALIKE_RATIO * low)).any())


def _shows_the_sender(d: Dialogue, line: LineRate, rounds: GapRounds) -> bool:
    """Whether no window that is not known, queue that always stood or loss before can be it."""
    use = d.rate_bps / line.rate_bps if line.is_clear else 0.0
    is_free = use < FULL_LINE_RATIO and rounds.kinds.size >= ROUNDS_WITHIN
    is_free |= d.handshake_rtt_s > 0
    sees = d.sees_queue or line.rate_bps > 2 * d.rate_bps
    return bool(is_free and sees and np.isfinite(d.window).any())


def _is_flat(gaps: Gaps) -> bool:
    """Whether the data in flight stop to grow: their highest values are alike all the time."""
    middle = gaps.in_flight[gaps.in_flight.size // 3 :]
    if middle.size < LEAST_FLIGHTS:
        return False
    halves = middle[: middle.size // 2].max(), middle[middle.size // 2 :].max()
    is_full = np.percentile(middle, 90) > MOSTLY_FULL * middle.max()
    return bool(is_full and min(halves) > ALIKE_HALVES * max(halves))


def _lost(d: Dialogue) -> tuple[FloatArray, int]:
    """Return when segments were lost, as far as the capture shows it, and how many were. [s]"""
    if d.place != SENDER and d.ids is not None:
        return d.seen_s[1:][np.diff(d.ids) > 1], d.lost_before
    if d.place != SENDER:
        return d.seen_s[d.is_repeated], int(np.count_nonzero(d.is_repeated))
    top = np.maximum.accumulate(d.end)
    first = np.searchsorted(top, d.sequence[d.is_repeated], side="right")
    lost_s = np.sort(d.seen_s[np.minimum(first, d.seen_s.size - 1)])
    return lost_s, int(lost_s.size)


def _episodes(d: Dialogue) -> int:
    """Return at how many times segments were lost: within half a round trip it is one."""
    lost_s, _ = _lost(d)
    base_s = d.base_rtt_s if d.base_rtt_s > 0 else USUAL_RTT_S
    return 1 + int(np.count_nonzero(np.diff(np.sort(lost_s)) > max(0.5 * base_s, 0.01)))


def _kind_of_loss(d: Dialogue, line: LineRate) -> str:
    """Return what losses without a standing queue come from."""
    count = _lost(d)[1]
    if count == 0:
        return "random-loss"
    base_s = d.base_rtt_s if d.base_rtt_s > 0 else USUAL_RTT_S
    episodes = _episodes(d)
    burst = count / episodes
    use = d.rate_bps / line.rate_bps if line.is_clear else math.nan
    queue_s = _queues_s(d)
    is_queued = not queue_s.size or np.median(queue_s) > max(LEAST_WAIT * base_s, LEAST_WAIT_S)
    if use > MOST_USE or (use > FULL_LINE_RATIO and not is_queued):
        use = math.nan  # rows at the pace of the flow itself
    if use > FULL_LINE_RATIO:
        return "line"
    if burst > BURST and not d.sees_queue and not use < POLICED_RATIO:
        return "loss"  # a full buffer, a short one or a policer: a queue would tell
    if burst <= BURST:
        return "shallow-buffer" if use > SHALLOW_USE else "random-loss"
    # Lost in bursts: a policer passes bursts at the full rate of a line that is much faster, a
    # short buffer delays some packets before it drops others.
    if use > BURSTY_USE or (use > DELAYED_USE and _short_queue_s(d) > SHORT_QUEUE_S):
        return "shallow-buffer"
    if count < LEAST_LOSSES:
        return "random-loss"
    return "policer" if episodes >= LEAST_EPISODES else "loss"


def _short_queue_s(d: Dialogue) -> float:
    """Return how far round trips, or the way here, vary: the 95th percentile beyond the 5th. [s]"""
    values = d.trip_s if d.place == SENDER else d.late_s[np.isfinite(d.late_s)]
    if values.size < 20:
        return 0.0
    low, high = np.percentile(values, [5, 95])
    return float(high - low)


def _special(d: Dialogue, gaps: Gaps, shares: Mapping[str, float], *, held_s: float) -> str:
    """Return a cause that shows in other signs than the largest share of the time; '' if none."""
    whole_s = max(d.end_s - d.begin_s, 1e-9)
    if _is_black_hole(d, shares):
        return "path-mtu"
    largest = max(shares, key=shares.__getitem__)
    if largest in BLURRED and _is_batched(d):
        return "delay-variation"
    if held_s > SPECIAL_SHARE * whole_s:
        return "nagle-delayed-ack"
    if shares.get("timeout", 0.0) > SPECIAL_SHARE:
        return "outage" if _is_outage(d, gaps) else "timeout"
    repeated = int(np.count_nonzero(d.is_repeated))
    if d.place == SENDER and largest in BLURRED:
        if d.copies > LEAST_LOSSES + MOST_NEEDLESS * repeated:
            return "duplicates"  # more came twice than was sent twice
        if d.copies > max(LEAST_LOSSES, LEAST_NEEDLESS * repeated):
            return "reordering"  # what was sent again had arrived
    copied = float(np.mean(d.is_copied))
    if copied > LEAST_COPIES:
        return (
            "duplicates" if copied < MOST_COPIES else UNKNOWN_CAUSE
        )  # of nearly all: two captures
    ratio = float(np.mean(d.is_reordered))
    if ratio > LEAST_REORDERED and d.loss_ratio < MOST_LOST_OF_REORDERED * ratio:
        return "reordering"
    is_full = shares.get("line", 0.0) > LEAST_SHARE
    if d.mss_bytes < SMALL_SEGMENT_BYTES and d.sequence.size > LEAST_SMALL_SEGMENTS and is_full:
        return "small-segments"
    return ""


def _is_outage(d: Dialogue, gaps: Gaps) -> bool:
    """Whether a whole window was lost, and its first segment more than once: nothing passed."""
    timers = np.flatnonzero(gaps.kind == intervals.TIMER)
    if timers.size < OUTAGE_TIMERS or gaps.waited_s[timers].sum() < OUTAGE_S:
        return False
    _, counts = np.unique(d.sequence[1:][timers], return_counts=True)
    is_window = gaps.in_flight[timers[0]] > OUTAGE_SEGMENTS * d.mss_bytes
    return bool(is_window and counts.max() >= OUTAGE_TRIES)


def _is_black_hole(d: Dialogue, shares: Mapping[str, float]) -> bool:
    """Whether full segments vanish again and again while smaller packets pass."""
    silent = shares.get("timeout", 0.0)
    if silent < SILENT_SHARE or d.mss_bytes <= LEAST_MSS_BYTES:
        return False
    is_smaller = d.mss_bytes < d.offered_mss_bytes - MOST_OPTIONS_BYTES
    if d.place != SENDER and silent > LEAST_SHARE and is_smaller:
        return True  # what came is smaller than was agreed, after a long silence
    again, counts = np.unique(d.sequence[d.is_repeated], return_counts=True)
    if not again.size or counts.max() < AGAIN_AND_AGAIN:
        return False
    lost = again[np.argmax(counts)]
    rows = np.flatnonzero(d.sequence == lost)
    big = d.payload[rows].max()
    acks = np.flatnonzero(d.came_s < d.sent_s[rows[1]])
    if acks.size and ((d.payload > big - ALIKE_BYTES) & (d.end <= d.acknowledged[acks[-1]])).any():
        return False  # as large ones had passed
    passed = d.acknowledged[-1] <= lost
    later = d.payload[(d.sequence >= lost) & (d.seen_s > d.seen_s[rows[-1]])]
    return bool(passed or (later.size and later.max() < big - ALIKE_BYTES))


def _is_shared(d: Dialogue, line: LineRate) -> bool:
    """Whether a full line carries others: in no third of the time the flow has most of it.

    What waits in front of a line that it has for itself are its own segments.
    """
    if not line.is_clear or d.seen_s.size < LEAST_SHARED or line.rate_bps > MOST_LINES * d.rate_bps:
        return False
    queue_s = _queues_s(d)
    if queue_s.size and np.median(_own_queue_s(d, line.rate_bps)) > OWN_SHARE * np.median(queue_s):
        return False
    if not line.lasts:
        return False
    edges = np.linspace(0, d.seen_s.size, THIRDS + 1).astype(int)
    for low, high in itertools.pairwise(edges):
        span_s = d.seen_s[high - 1] - d.seen_s[low]
        if span_s <= 0 or 8 * d.payload[low:high].sum() / span_s > SHARED_RATIO * line.rate_bps:
            return False
    return True


def _is_emptied(d: Dialogue, line: LineRate) -> bool:
    """Whether a line that is not full by far has no queue again and again."""
    queue_s = _queues_s(d)
    if d.rate_bps > EMPTIED_RATIO * line.rate_bps or not queue_s.size:
        return False
    low, middle = np.percentile(queue_s[queue_s.size // 3 :], [5, 50])
    return bool(low < EMPTIED_SHARE * middle) and not _is_shared(d, line)


def _queues_s(d: Dialogue) -> FloatArray:
    """Return how long segments waited on their way, as far as the capture shows it. [s]"""
    at_sender = d.place == SENDER
    queue_s = d.trip_s - d.base_rtt_s if at_sender else d.late_s[np.isfinite(d.late_s)]
    return queue_s if queue_s.size >= 20 else np.zeros(0)


def _own_queue_s(d: Dialogue, rate_bps: float) -> FloatArray:
    """Return how long each segment would wait in front of an idle line for those of its flow. [s]

    It leaves when it was sent, or when the one before has left, and what it takes itself later.
    """
    took_s = 8.0 * d.payload / rate_bps
    left_s = np.cumsum(took_s)
    began_s: FloatArray = np.maximum.accumulate(d.sent_s - (left_s - took_s)) + left_s - took_s
    return began_s - d.sent_s


def _is_batched(d: Dialogue) -> bool:
    """Whether packets come in batches at even intervals well below a round trip."""
    time_s = d.came_s if d.place == SENDER else d.seen_s
    gaps_s = np.diff(time_s)
    pauses_s = gaps_s[gaps_s > BATCH_PAUSE_S]
    if pauses_s.size < LEAST_BATCHES or not d.base_rtt_s > 0:
        return False
    low, middle, high = np.percentile(pauses_s, [10, 50, 90])
    is_even = high < EVEN_PAUSES * low and middle < PART_OF_A_TRIP * d.base_rtt_s
    within_s = gaps_s[gaps_s <= BATCH_PAUSE_S]
    is_many = within_s.size > LEAST_GAPS_IN_A_BATCH * pauses_s.size
    is_dense = is_many and np.median(within_s) < DENSE_RATIO * middle
    return bool(is_even and is_dense and pauses_s.sum() > PAUSED_SHARE * gaps_s.sum())


def _one_sided(d: Dialogue, line: LineRate) -> Cause:
    """Return what one direction alone shows: a full line if packets leave it one after another."""
    use = d.rate_bps / line.rate_bps if line.is_clear else math.nan
    queue_s = np.nanpercentile(d.late_s, 75) if np.isfinite(d.late_s).any() else 0.0
    is_full = use > FULL_LINE_RATIO and queue_s > LEAST_QUEUE_S
    signs = (
        *_signs(d, line, {"line": use} if is_full else {}),
        Sign("queue_s", float(queue_s), "time stamps"),
    )
    if is_full:
        return Cause(
            code="line", share_of_time=use, duration_s=d.span_s, confidence=MEDIUM,
            shares={"line": use, UNKNOWN_CAUSE: 1 - use} if use < 1 else {"line": 1.0}, signs=signs,
        )  # fmt: skip
    return Cause(duration_s=d.span_s, signs=signs)


LARGER_WINDOWS = (2**16, 2**18, 2**20, 2**22, 2**24)
"""Windows that are tried. [byte]"""


def counterfactuals(cause: Cause, evidence: Evidence, stated: Known) -> tuple[Notice, ...]:
    """Return what the rate or the time would be with the cause removed."""
    line_bps = first_known(line_ceiling_bps(evidence, stated), cause.sign("line_bps"))
    if cause.code in ("receiver-window", "sender-buffer"):
        return _with_windows(cause, evidence, line_bps)
    if cause.code in ("random-loss", "shallow-buffer") and line_bps > evidence.rate_bps:
        return (Notice("without-loss", {"rate_bps": line_bps, "layer": cause.layer}),)
    if cause.code == "small-segments" and line_bps > 0:
        # The same line with full segments: the headers take less of each packet.
        small = cause.sign("mss_bytes")
        overhead = 78.0 + evidence.option_bytes
        full = 1460.0 - evidence.option_bytes
        rate = line_bps * (small + overhead) / small * full / (full + overhead)
        return (
            Notice(
                "with-full-segments", {"mss_bytes": full, "rate_bps": rate, "layer": cause.layer}
            ),
        )
    return _without(cause, evidence, line_bps)


def _with_windows(cause: Cause, evidence: Evidence, line_bps: float) -> tuple[Notice, ...]:
    """Return the rate with the next larger window, and with the one that fills the line."""
    rtt_s = cause.sign("base_rtt_s")
    now = cause.sign("window_bytes" if cause.code == "receiver-window" else "in_flight_bytes")
    window = next((size for size in LARGER_WINDOWS if size >= 2 * now), None)
    if not rtt_s > 0 or window is None:
        return ()
    rate = float(throughput_bps(window, rtt_s=rtt_s))
    if rate <= evidence.rate_bps:
        return ()
    if rate >= line_bps:
        values = {"window_bytes": line_bps * rtt_s / 8, "rate_bps": line_bps}
        if values["window_bytes"] <= now:
            return ()
        return (Notice("with-window-to-line", {**values, "layer": cause.layer}),)
    values = {"window_bytes": float(window), "rate_bps": rate}
    return (Notice("with-window", {**values, "layer": cause.layer}),)


def _without(cause: Cause, evidence: Evidence, line_bps: float) -> tuple[Notice, ...]:
    """Return the time that is left without the waits for a cause: the least there can be."""
    others = [code for code in cause.shares if code != cause.code]
    left_s = cause.duration_s * (1 - cause.share_of_time)
    if cause.code in ("line", "shared-line", UNKNOWN_CAUSE, "host") or not others or not left_s > 0:
        return ()
    if math.isnan(evidence.size_bytes) or cause.share_of_time > 0.98:
        return ()
    rate = float(np.fmin(8 * evidence.size_bytes / left_s, line_bps))
    if cause.waterfall or not rate > evidence.rate_bps:
        return ()
    values = {
        "left_s": left_s,
        "duration_s": cause.duration_s,
        "rate_bps": rate,
        "next": others[0],
        "layer": cause.layer,
    }
    return (Notice("without-cause", values),)
