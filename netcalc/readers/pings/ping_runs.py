"""From the lines of a ping to its probes: one run for each time the program was started.

The lines of a run are kept as tables: plain replies many at a time, all others one by one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from netcalc.messages import LONGEST_LIST, Notice
from netcalc.readers.pings.ping_lines import Header, PingLine, is_contradictory, names_timeout
from netcalc.readers.quantities import exact_decimals
from netcalc.readers.source import note

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.signedinteger[Any]]

KINDS = ("reply", "damaged", "error", "redirect", "waiting", "dump", "silent")
"""What a line may be; its column holds the position here."""
REPLY, DAMAGED, ERROR, REDIRECT, WAITING, DUMP, SILENT = range(7)
NONE = -1
"""A sequence number, a size or a TTL that a line does not have."""

# A reply with nothing unusual in it, in any language that writes it in this order.
_UNIX = re.compile(
    r"(?:\[([0-9]{9,10}\.[0-9]{1,6})\] )?([0-9]{1,5}) [^\W\d_]+ [^\W\d_]+ [^\s=<>()]{1,255}"
    r"(?: \([^\s=<>()]{1,60}\))? ?: (icmp_)?seq=([0-9]{1,5}) ttl=([0-9]{1,3})"
    r" [^\W\d_]+=([0-9]{1,9}(?:[.,][0-9]{1,6})?) ms"
)
_WINDOWS = re.compile(
    r"(?!From )[^\W\d_]+ [^\W\d_]+ [0-9]{1,3}(?:\.[0-9]{1,3}){3}: [^\W\d_]+=([0-9]{1,5})"
    r" [^\W\d_]+([=<])([0-9]{1,9})ms TTL=([0-9]{1,3})"
)
_MARK = "\x01"


LINES = np.dtype(
    [
        ("number", np.int32), ("kind", np.int8), ("sequence", np.int64), ("size", np.int32),
        ("ttl", np.int16), ("rtt_s", np.float64), ("resolution_s", np.float64),
        ("stamp_s", np.float64), ("duplicate", np.bool_), ("corrupt", np.bool_),
    ],
    align=True,
)  # fmt: skip
"""Lines as a table: a row for each, in their order."""
Lines: TypeAlias = NDArray[Any]


def table_of(lines: Sequence[tuple[int, PingLine]]) -> Lines:
    """Return lines that were read one by one as a table."""

    def whole(value: int | None) -> int:
        return NONE if value is None else value

    rows = [
        (
            number, KINDS.index(line.kind), whole(line.sequence), whole(line.size),
            whole(line.ttl), line.rtt_s, line.resolution_s, line.stamp_s,
            line.marked_duplicate, line.corrupt,
        )
        for number, line in lines
    ]  # fmt: skip
    return np.array(rows, dtype=LINES)


@dataclass(slots=True)
class LineEvents:
    """The lines of a run in their order."""

    parts: list[Lines | list[tuple[int, PingLine]]] = field(default_factory=list)
    """Tables of plain replies, and lines that were read by themselves with their numbers."""
    numbered_replies: int = 0
    other_replies: int = 0
    timed: bool = False
    windows: bool = False
    """Whether a line is an error or a time-out as only Windows prints it."""
    first_number: int | None = None

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def reply_count(self) -> int:
        """Replies so far."""
        return self.numbered_replies + self.other_replies

    def append(self, number: int, line: PingLine) -> None:
        """Add a line that was read by itself."""
        if not self.parts or not isinstance(self.parts[-1], list):
            self.parts.append([])
        cast(list[tuple[int, PingLine]], self.parts[-1]).append((number, line))
        self.windows |= line.windows
        if line.kind == "reply":
            self.numbered_replies += line.sequence is not None
            self.other_replies += line.sequence is None
            self.timed |= not math.isnan(line.rtt_s)
        self.first_number = number if self.first_number is None else self.first_number

    def extend(self, replies: Lines) -> None:
        """Add plain replies."""
        self.parts.append(replies)
        if replies["sequence"][0] == NONE:
            self.other_replies += len(replies)
        else:
            self.numbered_replies += len(replies)
        self.timed = True
        if self.first_number is None:
            self.first_number = int(replies["number"][0])

    @property
    def last(self) -> PingLine | None:
        """The last line, if it was read by itself."""
        last = self.parts[-1] if self.parts else None
        return last[-1][1] if isinstance(last, list) else None

    def alone(self) -> Iterator[tuple[int, PingLine]]:
        """Yield the lines that were read by themselves."""
        for part in self.parts:
            if isinstance(part, list):
                yield from part


def may_be_plain(line: str) -> bool:
    """Whether a line may be a plain reply, at a glance."""
    return line.endswith(" ms") or ("TTL=" in line and "ms" in line)


def plain_replies(lines: Sequence[str], numbers: Sequence[int]) -> tuple[Lines, bool] | None:
    """Return lines as a table if each is a plain reply of one kind; and whether of BusyBox."""
    if not lines:
        return None
    pattern = _UNIX if "seq=" in lines[0] else _WINDOWS
    matches = [pattern.fullmatch(line) for line in lines]
    if not all(matches):
        return None
    groups = list(zip(*(match.groups() for match in matches if match), strict=True))
    if pattern is _UNIX:
        return _unix(groups, numbers)
    replies = _windows(groups, numbers)
    return None if replies is None else (replies, False)


def _unix(groups: list[tuple[Any, ...]], numbers: Sequence[int]) -> tuple[Lines, bool] | None:
    stamps, sizes, icmp, sequences, ttls, times = groups
    rtt = _milliseconds(times)
    size, sequence = np.array(sizes, dtype=np.int64), np.array(sequences, dtype=np.int64)
    if rtt is None or size.min() < 8 or sequence.max() > 65_535 or len(set(map(bool, stamps))) > 1:
        return None
    stamp = np.fromiter(map(float, stamps), np.float64, size.size) if stamps[0] else np.nan
    ttl = np.array(ttls, dtype=np.int64)
    return _replies(numbers, sequence, size, ttl, rtt, stamp), not all(icmp)


def _windows(groups: list[tuple[Any, ...]], numbers: Sequence[int]) -> Lines | None:
    sizes, signs, times, ttls = groups
    rtt = _milliseconds(times)
    size = np.array(sizes, dtype=np.int64)
    if rtt is None or size.max() > 65_535:
        return None
    below = np.array(signs) == "<"
    rtt_s, resolution_s = rtt
    rtt = (np.where(below, rtt_s / 2, rtt_s), np.where(below, rtt_s, resolution_s))
    return _replies(numbers, NONE, size, np.array(ttls, dtype=np.int64), rtt, np.nan)


def _milliseconds(times: Sequence[str]) -> tuple[Floats, Floats] | None:
    """Return times and the width of their last digits; a comma is a decimal one."""
    written = _MARK.join(times).replace(",", ".") + _MARK
    digits = exact_decimals(written, ".")
    if digits is None:
        return None
    mantissa, places = digits
    steps: Floats = (10.0 ** (places + 3)).astype(np.float64)  # exact: powers up to 22
    return mantissa / steps, 1.0 / steps


def _replies(
    numbers: Sequence[int], sequence: Whole | int, size: Whole, ttl: Whole,
    rtt: tuple[Floats, Floats], stamp_s: Floats | float,
) -> Lines:  # fmt: skip
    replies = np.zeros(size.size, dtype=LINES)  # 0 is REPLY, and no duplicate
    replies["number"], replies["sequence"], replies["size"] = numbers, sequence, size
    replies["ttl"] = np.where(ttl <= 255, ttl, NONE)
    replies["rtt_s"], replies["resolution_s"] = rtt
    replies["stamp_s"] = stamp_s
    return replies


MAX_UNSEEN = 1_000_000
"""Most rows that are made for probes without a line."""

ICMP_HEADER_BYTES = 8

LATEST_FIRST = 1000
"""A ping whose first sequence number is above this, began with it or before the file did."""

_FROM_1 = ("iputils", "iputils 6", "toybox")


@dataclass(slots=True)
class Rows:
    """Probes and duplicate replies: a row for each, as the columns of the samples."""

    payload_bytes: Floats
    rtt_s: Floats
    sequence: Floats
    lost: NDArray[np.bool_]
    duplicate: NDArray[np.bool_]
    error_reply: NDArray[np.bool_]
    resolution_s: Floats
    sent_s: Floats
    ttl: Floats

    @classmethod
    def empty(cls, count: int = 0, payload_bytes: float = math.nan) -> Rows:
        """Return probes about which nothing is known but their size."""
        nan = [np.full(count, math.nan) for _ in range(4)]
        lost, duplicate, error = (np.zeros(count, dtype=np.bool_) for _ in range(3))
        size = np.full(count, payload_bytes)
        return cls(
            size, nan[0], nan[1], lost, duplicate, error, np.zeros(count), nan[2], nan[3]
        )  # fmt: skip

    def __len__(self) -> int:
        return int(self.rtt_s.size)

    def taken(self, rows: Any) -> Rows:
        """Return some of the rows, or all in another order."""
        return Rows(*(getattr(self, name)[rows] for name in Rows.__slots__))

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """Return rows one after another."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in cls.__slots__))


@dataclass(slots=True)
class RunLines:
    """The lines of a ping from its header to its summary."""

    header: Header | None = None
    events: LineEvents = field(default_factory=LineEvents)
    counts: dict[str, float] = field(default_factory=dict)
    spread: dict[str, float] = field(default_factory=dict)
    statistics_begun: bool = False
    counts_line: int = 0
    sizes: dict[int, int | None] = field(default_factory=dict)
    sizes_differ: bool = False
    path_mtu_bytes: float = math.nan
    said: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)
    """Lines of errors by what they mean, who reported them, and their words."""

    @property
    def windows(self) -> bool:
        """Whether the replies carry no sequence number."""
        if self.header is not None:
            return self.header.dialect == "Windows"
        unnumbered = self.events.other_replies or self.events.windows
        return bool(unnumbered) and not self.events.numbered_replies

    @property
    def stated_size(self) -> int | None:
        """User data of all probes, as the header says; None without it, and of a sweep."""
        return None if self.header is None or self.header.sizes_vary else self.header.size

    @property
    def empty(self) -> bool:
        """Whether nothing is known about any probe."""
        return not self.events and not self.counts


@dataclass(slots=True)
class Probes:
    """The rows of a run, its totals where rows do not give them, and contradictions."""

    rows: Rows = field(default_factory=Rows.empty)
    sent: int = 0
    received: int = 0
    errors: int = 0
    counted_only: bool = False
    without_first: int = 0
    duplicates: int = 0
    too_far: int = 0
    lines_missing: bool = False
    warnings: list[Notice] = field(default_factory=list)

    def warn(self, code: str, **values: Any) -> None:
        """Add a warning."""
        self.warnings.append(Notice(code, values))


class _Seen:
    """The lines of a run as a table, beside those that were read by themselves, by their row."""

    def __init__(self, run: RunLines) -> None:
        self.alone: dict[int, PingLine] = {}
        tables, start = [np.empty(0, dtype=LINES)], 0
        for part in run.events.parts:
            if isinstance(part, list):
                self.alone |= {start + row: line for row, (_, line) in enumerate(part)}
            tables.append(table_of(part) if isinstance(part, list) else part)
            start += len(part)
        self.lines = np.concatenate(tables)
        self._give_up_outliers(run)
        self.sequences = _unwrapped(self.lines["sequence"])

    def is_kind(self, *kinds: int) -> NDArray[np.bool_]:
        """Mark the lines of some kinds."""
        marked = np.zeros(len(self.lines), dtype=np.bool_)
        for kind in kinds:  # numpy's isin takes ten times as long for one or two kinds
            marked |= self.lines["kind"] == kind
        return marked

    def numbers(self, rows: NDArray[Any]) -> list[int]:
        """Return the line numbers of some rows."""
        numbers: list[int] = self.lines["number"][rows].tolist()
        return numbers

    def lines_of_kind(self, kind: str) -> list[tuple[int, PingLine]]:
        """Return the lines of a kind that were read by themselves, with their numbers."""
        kept = sorted((row, line) for row, line in self.alone.items() if line.kind == kind)
        return [(int(self.lines["number"][row]), line) for row, line in kept]

    def _give_up_outliers(self, run: RunLines) -> None:
        """Give up sequence numbers that run far ahead of the lines before and after them."""
        rows = np.flatnonzero(self.lines["sequence"] != NONE)
        raw = self.lines["sequence"][rows]
        if raw.size < 2:
            return
        before, after = np.roll(raw, 1), np.roll(raw, -1)
        before[0], after[-1] = after[0], before[-1]
        agree = np.abs(_step(before, after)) <= 1000
        agree[[0, -1]] = raw[[0, -1]] > run.counts["sent"] if run.counts else False
        far = [(np.abs(_step(near, raw)) > 1000) & (raw > near) for near in (before, after)]
        for row in rows[agree & far[0] & far[1]].tolist():
            line = self.alone.setdefault(row, PingLine("damaged"))
            line.kind, line.sequence, line.fault = "damaged", None, "sequence-jumps"
            self.lines["kind"][row], self.lines["sequence"][row] = DAMAGED, NONE


def probes(run: RunLines) -> Probes:
    """Work out every probe of a run: answered, lost, answered by an error, duplicated."""
    seen = _Seen(run)
    result = Probes()
    _warn_about_lines(seen, result)
    for (code, node, words), numbers in run.said.items():
        if node:
            result.warn(code, node=node, message=words, numbers=numbers)
        else:
            result.warn("ping-message", message=words, numbers=numbers)
    if _only_counted(run, seen):
        result.counted_only = True
        result.sent, result.received = int(run.counts["sent"]), int(run.counts["received"])
        result.errors = int(run.counts.get("errors", 0))
        if result.sent == 1 < result.received:  # a broadcast: further answers are duplicates
            result.duplicates, result.received = result.received - 1, 1
        result.warn("summary-only")
    elif run.windows:
        _in_order(run, seen, result)
    else:
        _by_sequence(run, seen, result)
    if not result.counted_only:
        rows = result.rows
        result.sent = int((~rows.duplicate).sum())
        result.received = int((~rows.lost & ~rows.duplicate).sum())
    _compare(run, result)
    return result


def _warn_about_lines(seen: _Seen, result: Probes) -> None:
    """Name the lines that cannot be read, by their fault, the commonest first."""
    damaged = seen.lines_of_kind("damaged")
    for fault, _ in Counter(line.fault for _, line in damaged).most_common():
        lines = [(number, line) for number, line in damaged if line.fault == fault]
        unread = list(dict.fromkeys(line.unread for _, line in lines if line.unread))
        values = {"found": unread[:LONGEST_LIST]} if unread else {}
        result.warn(fault, numbers=[number for number, _ in lines], **values)
    trailing = [number for number, line in seen.lines_of_kind("reply") if line.fault]
    note(result.warnings, "text-after-numbers", numbers=trailing)


def _only_counted(run: RunLines, seen: _Seen) -> bool:
    if not run.counts:
        return False
    if run.counts["sent"] > MAX_UNSEEN:
        return not seen.is_kind(REPLY, DAMAGED).any()
    if run.counts["received"] <= 0 or seen.is_kind(REPLY, DAMAGED).any():
        return False
    # Where the summary can only have counted errors as replies, the lines are right.
    errors, silent = (int(seen.is_kind(kind).sum()) for kind in (ERROR, SILENT))
    if run.windows:
        timeouts = sum(names_timeout(line.words) for _, line in seen.lines_of_kind("silent"))
        return not errors and (silent < run.counts["sent"] or not timeouts)
    numbered = np.unique(seen.sequences[seen.is_kind(ERROR) & (seen.sequences != NONE)])
    return not numbered.size or numbered.size + run.counts["received"] <= run.counts["sent"]


def _in_order(run: RunLines, seen: _Seen, result: Probes) -> None:
    """Rows of a ping without sequence numbers: one for each line about a probe."""
    about = np.flatnonzero(~seen.is_kind(DUMP))
    lines, header = seen.lines, run.header
    usual = math.nan if header is None or header.size is None else header.size
    rows = Rows.empty(about.size)
    size, ttl = lines["size"][about], lines["ttl"][about]
    answered = seen.is_kind(REPLY, DAMAGED)[about]
    rows.payload_bytes = np.where(size == NONE, usual, size)
    rows.rtt_s = np.where(answered, lines["rtt_s"][about], math.nan)
    rows.resolution_s = np.where(answered, lines["resolution_s"][about], 0.0)
    rows.ttl = np.where(answered & (ttl != NONE), ttl, math.nan)
    rows.lost = ~answered
    rows.error_reply = seen.is_kind(ERROR)[about]
    result.rows = rows
    sent = int(run.counts.get("sent", len(result.rows)))
    errors, replies = int(rows.error_reply.sum()), int(answered.sum())
    received = int(run.counts.get("received", 0))
    if received > replies + errors and len(rows) < sent:
        if errors and (header is None or not replies):
            # Errors count as received there, so that nothing is known of probes without a line.
            result.warn("errors-among-unseen", count=sent - len(rows))
            result.errors, result.lines_missing = errors, True
            return
        if header is None:
            result.counted_only, result.sent, result.received = True, sent, received
            result.warn("beginning-missing", answered=replies, received=received)
            return
    if len(result.rows) > sent:
        _drop_other_words(seen, result, len(result.rows) - sent)
    missing = sent - len(result.rows)
    if 0 < missing <= MAX_UNSEEN:
        unseen = Rows.empty(missing, usual)
        unseen.lost[:] = True
        result.rows = Rows.join([result.rows, unseen])
        result.warn("probes-without-line", count=missing)
    errors = int(result.rows.error_reply.sum())
    result.errors = errors
    counted = run.counts.get("received")
    replies = int((~result.rows.lost).sum())
    if errors and counted is not None and counted == replies + errors:
        counts = {"counted": int(counted), "count": errors, "answered": replies}
        result.warn("errors-counted-as-replies", **counts)


def _drop_other_words(seen: _Seen, result: Probes, surplus: int) -> None:
    """Lines without numbers beyond the probes sent are not timeouts: the rarest texts go first."""
    silent = seen.lines_of_kind("silent")
    common = Counter(line.words for _, line in silent)
    silent.sort(key=lambda item: (names_timeout(item[1].words), common[item[1].words], -item[0]))
    dropped = silent[:surplus]
    if not dropped:
        return
    unanswered = np.flatnonzero(result.rows.lost & ~result.rows.error_reply)
    kept = np.delete(np.arange(len(result.rows)), unanswered[: len(dropped)])
    result.rows = result.rows.taken(kept)
    result.warn("not-about-a-probe", numbers=sorted(number for number, _ in dropped))


def _by_sequence(run: RunLines, seen: _Seen, result: Probes) -> None:
    """Rows of a ping with sequence numbers: one for each number, lost or not."""
    lines, sequences = seen.lines, seen.sequences
    counts = ~seen.is_kind(DUMP, REDIRECT, SILENT)
    numbered = counts & (sequences != NONE)
    is_error = seen.is_kind(ERROR)
    errors = np.unique(sequences[numbered & is_error])
    replies = np.flatnonzero(numbered & seen.is_kind(REPLY) & ~lines["corrupt"])
    # Of the replies that are not marked as duplicates, the first with its number answers the probe;
    # all others repeat it. A marked one whose first reply has no line is an orphan: its probe was
    # answered, but nobody knows when.
    candidates = replies[~lines["duplicate"][replies]]
    first_numbers, indexes = np.unique(sequences[candidates], return_index=True)
    firsts = candidates[indexes]
    repeats = np.setdiff1d(replies, firsts)
    orphans = repeats[~np.isin(sequences[repeats], first_numbers)]
    if orphans.size:
        result.without_first = int(np.unique(sequences[orphans]).size)
        result.warn("duplicates-without-first", numbers=sorted(seen.numbers(orphans)))
    # A line that cannot be read may be a reply: its probe is not lost, but its time is not known.
    damaged = numbered & seen.is_kind(DAMAGED) & (lines["size"] != NONE)
    seen_numbers = sequences[numbered]
    gaps = _gaps_of_damaged(run, seen, seen_numbers)
    unread_numbers = np.unique(np.concatenate((sequences[repeats], sequences[damaged], gaps)))
    unread_numbers = np.setdiff1d(unread_numbers, first_numbers)
    seen_numbers = np.concatenate((seen_numbers, unread_numbers))
    range_ = _range(run, seen_numbers, result, first_numbers.size + unread_numbers.size)
    # Numbers far beyond the lines come of damage (or of a file without most of its lines): rows for
    # all of them would fill the memory. Ten probes for each line leave room for a loss of 90 %.
    if len(range_) > MAX_UNSEEN + 10 * len(lines):
        result.too_far = len(range_)
        return

    one_size = firsts.size > 0 and bool((lines["size"][firsts] == lines["size"][firsts[0]]).all())
    usual = float(lines["size"][firsts[0]]) - ICMP_HEADER_BYTES if one_size else math.nan
    rows = Rows.empty(len(range_), usual if run.stated_size is None else run.stated_size)
    rows.sequence = np.arange(range_.start, range_.stop, dtype=np.float64)
    inside = (first_numbers >= range_.start) & (first_numbers < range_.stop)
    answered = first_numbers[inside] - range_.start
    replied = _replied(run, seen, firsts[inside])
    for name in Rows.__slots__:
        if name not in ("lost", "duplicate", "error_reply"):
            getattr(rows, name)[answered] = getattr(replied, name)
    rows.lost = ~np.isin(rows.sequence, unread_numbers)
    rows.lost[answered] = False
    rows.error_reply = rows.lost & np.isin(rows.sequence, errors)
    if repeats.size:
        doubled = _replied(run, seen, repeats)
        doubled.duplicate[:] = True
        rows = Rows.join([rows, doubled])
        rows = rows.taken(np.argsort(rows.sequence, kind="stable"))
    result.rows = rows
    _attribute_errors(run, result, int((counts & ~numbered & is_error).sum()))
    _warn_about_replies(run, seen, result)


def _replied(run: RunLines, seen: _Seen, at: NDArray[Any]) -> Rows:
    """Return the rows of some replies."""
    lines = seen.lines[at]
    rows = Rows.empty(at.size)
    size, ttl, rtt_s = lines["size"], lines["ttl"], lines["rtt_s"]
    if run.stated_size is None:
        rows.payload_bytes = np.where(size == NONE, math.nan, size - float(ICMP_HEADER_BYTES))
    else:
        rows.payload_bytes[:] = run.stated_size
    rows.rtt_s = rtt_s
    rows.sequence = seen.sequences[at].astype(np.float64)
    rows.resolution_s = lines["resolution_s"]
    rows.sent_s = lines["stamp_s"] - np.where(np.isnan(rtt_s), 0.0, rtt_s)
    rows.ttl = np.where(ttl == NONE, math.nan, ttl)
    return rows


def _unwrapped(raw: Whole) -> Whole:
    """Sequence numbers counted on over 65535, each near the highest one before."""
    rows = np.flatnonzero(raw != NONE)
    numbers = raw[rows]
    if not numbers.size:
        return raw
    unwrapped = raw.copy()
    steps = _step(numbers[:-1], numbers[1:])
    near = numbers[0] + np.concatenate(([0], np.cumsum(steps)))
    highest = np.maximum.accumulate(near)
    # As long as none is far behind, the number before is as good as the highest one.
    if (near >= 0).all() and (near[1:] - highest[:-1] > -32_768).all():
        unwrapped[rows] = near
        return unwrapped
    top: int | None = None
    for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        if top is not None and top + _step(top, number) >= 0:
            number = top + _step(top, number)
        top = number if top is None else max(top, number)
        unwrapped[row] = number
    return unwrapped


def _step(before: Any, after: Any) -> Any:
    return (after - before + 32_768) % 65_536 - 32_768


def _gaps_of_damaged(run: RunLines, seen: _Seen, bounds: Whole) -> Whole:
    """Probes whose replies are damaged lines: those missing between their neighbours."""
    loose = seen.is_kind(DAMAGED) & (seen.sequences == NONE)
    gaps: list[int] = []
    if not loose.any():
        return np.array(gaps, dtype=np.int64)
    stands_for = [0] * len(seen.lines)
    for row in np.flatnonzero(loose).tolist():
        stands_for[row] = seen.alone[row].stands_for
    before = _start(run, bounds) - 1 if bounds.size else None
    waiting = 0
    for many, sequence in zip(stands_for, seen.sequences.tolist(), strict=True):
        if sequence == NONE:
            waiting += many
            continue
        if before is not None and waiting and sequence - before - 1 == waiting:
            gaps += range(before + 1, sequence)
        before, waiting = sequence, 0
    if before is not None and waiting and run.counts:
        end = _start(run, bounds) + int(run.counts["sent"])
        if end - before - 1 == waiting:
            gaps += range(before + 1, end)
    return np.array(gaps, dtype=np.int64)


def _start(run: RunLines, seen: Whole) -> int:
    """First sequence number of a run: 1 with iputils, 0 elsewhere, or what the lines show."""
    lowest = int(seen.min()) if seen.size else None
    if run.header is None and not run.counts:
        return 1 if lowest is None else lowest
    start = 1 if run.header is None or run.header.dialect in _FROM_1 else 0
    if lowest is not None and (lowest < start or _begins_late(run, lowest - start)):
        return lowest
    counted_from_1 = bool(run.counts) and seen.size > 0 and int(seen.max()) == run.counts["sent"]
    return 1 if counted_from_1 and lowest != 0 else start


def _begins_late(run: RunLines, missing: int) -> bool:
    """Whether so many probes before the first line were not lost: the run did not begin there."""
    if not run.counts:
        return missing > LATEST_FIRST
    return missing > LATEST_FIRST and run.counts["sent"] <= missing


def _range(run: RunLines, seen: Whole, result: Probes, answered: int) -> range:
    start = _start(run, seen)
    end = int(seen.max(initial=start - 1)) + 1
    if start > LATEST_FIRST and run.header is not None:
        result.warn("sequence-begins-late", first=start)
    if not run.counts:
        return range(start, end)
    sent, received = int(run.counts["sent"]), int(run.counts["received"])
    if run.header is None and seen.size and int(seen.min()) > start and received > answered:
        # The beginning of the run is not in the file: probes missing there were not lost.
        result.counted_only, result.sent, result.received = True, sent, received
        result.warn("beginning-missing", answered=answered, received=received)
        return range(int(seen.min()), max(end, min(start + sent, end + MAX_UNSEEN)))
    if start + sent < end:
        result.warn("sequence-beyond-sent", highest=end - 1, sent=sent)
    elif start + sent - end > MAX_UNSEEN:
        result.warn("too-many-unseen", sent=sent)
    else:
        end = start + sent
    return range(start, end)


def _attribute_errors(run: RunLines, result: Probes, loose: int) -> None:
    rows = result.rows
    unmarked = rows.lost & ~rows.error_reply
    unexplained = int(unmarked.sum())
    if not run.counts and loose > unexplained:  # probes of which only the error has a line
        unnumbered = Rows.empty(
            loose - unexplained, math.nan if run.stated_size is None else run.stated_size
        )
        unnumbered.lost[:] = True
        rows = result.rows = Rows.join([rows, unnumbered])
        unmarked = rows.lost & ~rows.error_reply
        unexplained = loose
    if loose and loose >= unexplained:
        rows.error_reply |= unmarked
    lost, marked = int(rows.lost.sum()), int((rows.lost & rows.error_reply).sum())
    printed = int(run.counts.get("errors", 0))
    result.errors = min(lost, max(marked + (loose if loose < unexplained else 0), printed))


def _warn_about_replies(run: RunLines, seen: _Seen, result: Probes) -> None:
    lines = seen.lines
    size, is_reply = run.stated_size, seen.is_kind(REPLY)
    if size is not None:
        expected = size + ICMP_HEADER_BYTES
        for code, odd in (
            ("short-replies", seen.numbers(is_reply & (lines["size"] < expected))),
            ("long-replies", seen.numbers(is_reply & (lines["size"] > expected))),
        ):
            if odd:
                result.warn(code, reply_bytes=expected, payload_bytes=size, numbers=odd)
    note(result.warnings, "bad-checksums", numbers=seen.numbers(is_reply & lines["corrupt"]))
    note(result.warnings, "redirects-ignored", numbers=seen.numbers(seen.is_kind(REDIRECT)))


def _compare(run: RunLines, result: Probes) -> None:
    """Hold what the tool printed against what its lines say."""
    if not run.counts:
        result.warn("no-summary")
        return
    if result.counted_only:
        return
    if is_contradictory(run.counts):
        result.warn("contradictory-summary", **printed_counts(run))
    doubled = int(result.rows.duplicate.sum())
    for name, counted in (("sent", result.sent), ("received", result.received)):
        printed = int(run.counts[name])
        if name == "received" and result.sent < printed == counted + doubled:
            continue  # of each of many hosts
        if printed != counted and not (run.windows and printed == counted + result.errors):
            result.warn("count-differs", quantity=name, printed=printed, counted=counted)
    printed = int(run.counts.get("duplicates", doubled))
    if printed != doubled:
        result.warn("count-differs", quantity="duplicates", printed=printed, counted=doubled)
    _compare_times(run, result)


def printed_counts(run: RunLines) -> dict[str, Any]:
    """Return the packets sent, received and lost according to a summary."""
    counts = run.counts
    return {
        "sent": int(counts["sent"]),
        "received": int(counts["received"]),
        "loss_ratio": counts["loss_ratio"],
    }


def _compare_times(run: RunLines, result: Probes) -> None:
    # The tools count duplicates into their own minimum, mean and maximum.
    timed = ~np.isnan(result.rows.rtt_s)
    if not run.spread or not timed.any():
        return
    times = result.rows.rtt_s[timed]
    # A first reply whose line is missing is no reason to believe a summary that differs.
    read = int(timed.sum()) + result.without_first
    unread = result.received + int(result.rows.duplicate.sum()) > read
    tolerance_s = 1e-6 + float(result.rows.resolution_s[timed].max())
    mean_s = math.fsum(times.tolist()) / times.size
    own = {"min": float(times.min()), "avg": mean_s, "max": float(times.max())}
    for name, value in own.items():
        printed = run.spread.get(f"rtt_{name}_s")
        if printed is None or abs(printed - value) <= tolerance_s:
            continue
        inside = (name == "min" and printed < value) or (name == "max" and printed > value)
        if unread and (inside or name == "avg"):
            continue
        result.warn("time-differs", quantity=name, printed_s=printed, computed_s=value)


def scale_error(run: RunLines, result: Probes) -> float | None:
    """Return the factor by which lines and summary differ throughout, if it is a gross one."""
    times = result.rows.rtt_s[result.rows.rtt_s > 0]
    low, high = run.spread.get("rtt_min_s", 0.0), run.spread.get("rtt_max_s", 0.0)
    if not times.size or low <= 0 or high <= 0:
        return None
    ratios = (float(times.min()) / low, float(times.max()) / high)
    if min(ratios) > 500 or max(ratios) < 1 / 500:
        return ratios[0]
    return None
