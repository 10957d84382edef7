"""From the lines of a ping to its probes: one run for each time the program was started."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from netcalc.messages import LONGEST_LIST, Notice
from netcalc.readers._ping_lines import Header, Line, names_timeout
from netcalc.readers._ping_summary import is_contradictory

MAX_UNSEEN = 1_000_000
"""Most rows that are made for probes without a line."""

ICMP_HEADER_BYTES = 8

_FROM_1 = ("iputils", "iputils 6", "toybox")


@dataclass(slots=True)
class Row:
    """One probe, or one duplicate reply."""

    payload_bytes: float = math.nan
    rtt_s: float = math.nan
    sequence: float = math.nan
    lost: bool = False
    duplicate: bool = False
    error_reply: bool = False
    resolution_s: float = 0.0
    sent_s: float = math.nan
    ttl: float = math.nan


@dataclass(slots=True)
class Run:
    """The lines of a ping from its header to its summary."""

    header: Header | None = None
    events: list[tuple[int, Line]] = field(default_factory=list)
    counts: dict[str, float] = field(default_factory=dict)
    spread: dict[str, float] = field(default_factory=dict)
    statistics_begun: bool = False
    counts_line: int = 0
    sizes: dict[int, int | None] = field(default_factory=dict)

    @property
    def windows(self) -> bool:
        """Whether the replies carry no sequence number."""
        if self.header is not None:
            return self.header.dialect == "Windows"
        kinds = [line.sequence is None for _, line in self.events if line.kind == "reply"]
        return bool(kinds) and all(kinds)

    @property
    def empty(self) -> bool:
        """Whether nothing is known about any probe."""
        return not self.events and not self.counts


@dataclass(slots=True)
class Probes:
    """The rows of a run, its totals where rows do not give them, and contradictions."""

    rows: list[Row] = field(default_factory=list)
    sent: int = 0
    received: int = 0
    errors: int = 0
    counted_only: bool = False
    without_first: int = 0
    warnings: list[Notice] = field(default_factory=list)

    def warn(self, code: str, **values: Any) -> None:
        """Add a warning."""
        self.warnings.append(Notice(code, values))


def probes(run: Run) -> Probes:
    """Work out every probe of a run: answered, lost, answered by an error, duplicated."""
    _mark_outliers(run)
    result = Probes()
    _warn_about_lines(run, result)
    if _only_counted(run):
        result.counted_only = True
        result.sent, result.received = int(run.counts["sent"]), int(run.counts["received"])
        result.errors = int(run.counts.get("errors", 0))
        result.warn("summary-only")
    elif run.windows:
        _in_order(run, result)
    else:
        _by_sequence(run, result)
    if not result.counted_only:
        result.sent = sum(not row.duplicate for row in result.rows)
        result.received = sum(not row.lost and not row.duplicate for row in result.rows)
    _compare(run, result)
    return result


def _warn_about_lines(run: Run, result: Probes) -> None:
    """Name the lines that cannot be read, by their fault, the commonest first."""
    damaged = [(number, line) for number, line in run.events if line.kind == "damaged"]
    for fault, _ in Counter(line.fault for _, line in damaged).most_common():
        lines = [(number, line) for number, line in damaged if line.fault == fault]
        found = list(dict.fromkeys(line.found for _, line in lines if line.found))
        known = {"found": found[:LONGEST_LIST]} if found else {}
        result.warn(fault, numbers=[number for number, _ in lines], **known)
    trailing = [n for n, line in run.events if line.kind == "reply" and line.fault]
    if trailing:
        result.warn("text-after-numbers", numbers=trailing)


def _only_counted(run: Run) -> bool:
    if not run.counts:
        return False
    answered = any(line.kind in ("reply", "damaged") for _, line in run.events)
    unseen = run.counts["sent"] > MAX_UNSEEN
    return not answered and (run.counts["received"] > 0 or unseen)


def _in_order(run: Run, result: Probes) -> None:
    """Rows of a ping without sequence numbers: one for each line about a probe."""
    for _, line in run.events:
        row = Row(payload_bytes=_windows_payload(run, line))
        if line.kind in ("reply", "damaged"):
            row.rtt_s, row.resolution_s = line.rtt_s, line.resolution_s
            row.ttl = math.nan if line.ttl is None else line.ttl
        elif line.kind in ("error", "silent", "waiting", "redirect"):
            row.lost, row.error_reply = True, line.kind == "error"
        else:
            continue
        result.rows.append(row)
    sent = int(run.counts.get("sent", len(result.rows)))
    if len(result.rows) > sent:
        _drop_other_words(run, result, len(result.rows) - sent)
    missing = sent - len(result.rows)
    if 0 < missing <= MAX_UNSEEN:
        size = math.nan if run.header is None or run.header.size is None else run.header.size
        result.rows += [Row(payload_bytes=size, lost=True) for _ in range(missing)]
        result.warn("probes-without-line", count=missing)
    errors = sum(row.error_reply for row in result.rows)
    result.errors = errors
    counted = run.counts.get("received")
    answered = sum(not row.lost for row in result.rows)
    if errors and counted is not None and counted == answered + errors:
        counts = {"counted": int(counted), "count": errors, "answered": answered}
        result.warn("errors-counted-as-replies", **counts)


def _drop_other_words(run: Run, result: Probes, surplus: int) -> None:
    """Lines without numbers beyond the probes sent are no timeouts: the rarest texts go first."""
    silent = [(number, line) for number, line in run.events if line.kind == "silent"]
    common = Counter(line.words for _, line in silent)
    silent.sort(key=lambda item: (names_timeout(item[1].words), common[item[1].words], -item[0]))
    dropped = silent[:surplus]
    if not dropped:
        return
    unanswered = [row for row in result.rows if row.lost and not row.error_reply]
    gone = {id(row) for row in unanswered[: len(dropped)]}
    result.rows = [row for row in result.rows if id(row) not in gone]
    result.warn("not-about-a-probe", numbers=sorted(number for number, _ in dropped))


def _windows_payload(run: Run, line: Line) -> float:
    if line.size is not None:
        return line.size
    if run.header is not None and run.header.size is not None:
        return run.header.size
    return math.nan


def _by_sequence(run: Run, result: Probes) -> None:
    """Rows of a ping with sequence numbers: one for each number, lost or not."""
    sequences = list(_unwrapped(run))
    first: dict[int, tuple[int, Line]] = {}
    again: list[tuple[int, int, Line]] = []
    answered_unread: set[int] = set()
    errors: set[int] = set()
    seen: set[int] = set()
    loose_errors = 0
    for (number, line), sequence in zip(run.events, sequences, strict=True):
        if line.kind in ("dump", "redirect", "silent"):
            continue
        if sequence is None:
            loose_errors += line.kind == "error"
            continue
        seen.add(sequence)
        if line.kind == "error":
            errors.add(sequence)
        elif line.kind == "damaged" and line.size is not None:
            answered_unread.add(sequence)
        elif line.kind == "reply" and not line.corrupt:
            if sequence in first or line.marked_duplicate:
                again.append((sequence, number, line))
                answered_unread.add(sequence)
            else:
                first[sequence] = (number, line)
    answered_unread |= _gaps_of_damaged(run, sequences, seen)
    answered_unread -= first.keys()
    alone = {number: sequence for sequence, number, _ in again if sequence not in first}
    if alone:
        result.without_first = len(set(alone.values()))
        result.warn("duplicates-without-first", numbers=sorted(alone))
    seen |= answered_unread
    sizes = {line.size for _, line in first.values()}
    usual = first[min(first)][1] if len(sizes) == 1 else None
    for sequence in _range(run, seen, result, len(first) + len(answered_unread)):
        row = Row(payload_bytes=_payload(run, usual), sequence=sequence)
        if sequence in first:
            row = _reply_row(run, sequence, first[sequence][1])
        elif sequence not in answered_unread:
            row.lost, row.error_reply = True, sequence in errors
        result.rows.append(row)
    for sequence, _, line in again:
        duplicate = _reply_row(run, sequence, line)
        duplicate.duplicate = True
        result.rows.append(duplicate)
    result.rows.sort(key=lambda row: row.sequence)
    _attribute_errors(run, result, loose_errors)
    _warn_about_replies(run, result)


def _reply_row(run: Run, sequence: int, line: Line) -> Row:
    return Row(
        payload_bytes=_payload(run, line),
        rtt_s=line.rtt_s,
        sequence=sequence,
        resolution_s=line.resolution_s,
        sent_s=line.stamp_s - (0.0 if math.isnan(line.rtt_s) else line.rtt_s),
        ttl=math.nan if line.ttl is None else line.ttl,
    )


def _payload(run: Run, line: Line | None) -> float:
    """User data of the probe: what the header says, or the reply less its ICMP header."""
    header = run.header
    if header is not None and header.size is not None and not header.sizes_vary:
        return header.size
    return math.nan if line is None or line.size is None else line.size - ICMP_HEADER_BYTES


def _unwrapped(run: Run) -> Iterator[int | None]:
    """Sequence numbers counted on over 65535, each near the highest one before."""
    highest: int | None = None
    for _, line in run.events:
        if line.sequence is None:
            yield None
            continue
        sequence = line.sequence
        if highest is not None and highest + _step(highest, sequence) >= 0:
            sequence = highest + _step(highest, sequence)
        highest = sequence if highest is None else max(highest, sequence)
        yield sequence


def _step(before: int, after: int) -> int:
    return (after - before + 32_768) % 65_536 - 32_768


def _mark_outliers(run: Run) -> None:
    """Give up sequence numbers that run far ahead of the lines before and after them."""
    numbered = [line for _, line in run.events if line.sequence is not None]
    raw = [line.sequence or 0 for line in numbered]
    for index in range(len(raw) if len(raw) > 1 else 0):
        near = [raw[i] for i in (index - 1, index + 1) if 0 <= i < len(raw)]
        agree = abs(_step(near[0], near[-1])) <= 1000
        if len(near) == 1:
            agree = bool(run.counts) and raw[index] > run.counts["sent"]
        far = all(abs(_step(other, raw[index])) > 1000 and raw[index] > other for other in near)
        if agree and far:
            line = numbered[index]
            line.kind, line.sequence, line.fault = "damaged", None, "sequence-jumps"


def _gaps_of_damaged(run: Run, sequences: list[int | None], seen: set[int]) -> set[int]:
    """Probes whose replies are damaged lines: those missing between their neighbours."""
    found: set[int] = set()
    before = _start(run, seen) - 1 if seen else None
    waiting = 0
    for (_, line), sequence in zip(run.events, sequences, strict=True):
        if sequence is None:
            waiting += line.stands_for if line.kind == "damaged" else 0
            continue
        if before is not None and waiting and sequence - before - 1 == waiting:
            found |= set(range(before + 1, sequence))
        before, waiting = sequence, 0
    if before is not None and waiting and run.counts:
        end = _start(run, seen) + int(run.counts["sent"])
        if end - before - 1 == waiting:
            found |= set(range(before + 1, end))
    return found


def _start(run: Run, seen: set[int]) -> int:
    """First sequence number of a run: 1 with iputils, 0 elsewhere, or what the lines show."""
    lowest = min(seen, default=None)
    if run.header is None and not run.counts:
        return 1 if lowest is None else lowest
    start = 1 if run.header is None or run.header.dialect in _FROM_1 else 0
    if lowest is not None and lowest < start:
        return lowest
    counted_from_1 = bool(run.counts and seen) and max(seen) == run.counts["sent"]
    return 1 if counted_from_1 and lowest != 0 else start


def _range(run: Run, seen: set[int], result: Probes, answered: int) -> range:
    start = _start(run, seen)
    end = max(seen, default=start - 1) + 1
    if not run.counts:
        return range(start, end)
    sent, received = int(run.counts["sent"]), int(run.counts["received"])
    if run.header is None and seen and min(seen) > start and received > answered:
        # The beginning of the run is not in the file: probes missing there were not lost.
        result.counted_only, result.sent, result.received = True, sent, received
        result.warn("beginning-missing", answered=answered, received=received)
        return range(min(seen), max(end, min(start + sent, end + MAX_UNSEEN)))
    if start + sent < end:
        result.warn("sequence-beyond-sent", highest=end - 1, sent=sent)
    elif start + sent - end > MAX_UNSEEN:
        result.warn("too-many-unseen", sent=sent)
    else:
        end = start + sent
    return range(start, end)


def _attribute_errors(run: Run, result: Probes, loose: int) -> None:
    lost = [row for row in result.rows if row.lost]
    unmarked = [row for row in lost if not row.error_reply]
    if loose and loose >= len(unmarked):
        for row in unmarked:
            row.error_reply = True
    marked = sum(row.error_reply for row in lost)
    printed = int(run.counts.get("errors", 0))
    result.errors = min(len(lost), max(marked + (loose if loose < len(unmarked) else 0), printed))


def _warn_about_replies(run: Run, result: Probes) -> None:
    header = run.header
    size = header.size if header is not None and not header.sizes_vary else None
    replies = [(number, line) for number, line in run.events if line.kind == "reply"]
    if size is not None:
        expected = size + ICMP_HEADER_BYTES
        for code, odd in (
            ("short-replies", [n for n, line in replies if (line.size or 0) < expected]),
            ("long-replies", [n for n, line in replies if (line.size or 0) > expected]),
        ):
            if odd:
                result.warn(code, reply_bytes=expected, payload_bytes=size, numbers=odd)
    corrupt = [number for number, line in replies if line.corrupt]
    if corrupt:
        result.warn("bad-checksums", numbers=corrupt)
    redirects = [number for number, line in run.events if line.kind == "redirect"]
    if redirects:
        result.warn("redirects-ignored", numbers=redirects)


def _compare(run: Run, result: Probes) -> None:
    """Hold what the tool printed against what its lines say."""
    if not run.counts:
        result.warn("no-summary")
        return
    if result.counted_only:
        return
    if is_contradictory(run.counts):
        result.warn("contradictory-summary", **printed_counts(run))
    for name, counted in (("sent", result.sent), ("received", result.received)):
        printed = int(run.counts[name])
        if printed != counted and not (run.windows and printed == counted + result.errors):
            result.warn("count-differs", quantity=name, printed=printed, counted=counted)
    doubled = sum(row.duplicate for row in result.rows)
    printed = int(run.counts.get("duplicates", doubled))
    if printed != doubled:
        result.warn("count-differs", quantity="duplicates", printed=printed, counted=doubled)
    _compare_times(run, result)


def printed_counts(run: Run) -> dict[str, Any]:
    """Return the packets sent, received and lost according to a summary."""
    counts = run.counts
    return {
        "sent": int(counts["sent"]),
        "received": int(counts["received"]),
        "loss_ratio": counts["loss_ratio"],
    }


def _compare_times(run: Run, result: Probes) -> None:
    # The tools count duplicates into their own minimum, mean and maximum.
    timed = [row for row in result.rows if not math.isnan(row.rtt_s)]
    if not run.spread or not timed:
        return
    # A first reply whose line is missing is no reason to believe a summary that differs.
    read = len(timed) + result.without_first
    unread = result.received + sum(row.duplicate for row in result.rows) > read
    tolerance_s = 1e-6 + max(max(row.resolution_s, 0.0) for row in timed)
    times = [row.rtt_s for row in timed]
    own = {"min": min(times), "avg": math.fsum(times) / len(times), "max": max(times)}
    for name, value in own.items():
        printed = run.spread.get(f"rtt_{name}_s")
        if printed is None or abs(printed - value) <= tolerance_s:
            continue
        inside = (name == "min" and printed < value) or (name == "max" and printed > value)
        if unread and (inside or name == "avg"):
            continue
        result.warn("time-differs", quantity=name, printed_s=printed, computed_s=value)


def scale_error(run: Run, result: Probes) -> float | None:
    """Return the factor by which lines and summary differ throughout, if it is a gross one."""
    times = [row.rtt_s for row in result.rows if row.rtt_s > 0]
    low, high = run.spread.get("rtt_min_s", 0.0), run.spread.get("rtt_max_s", 0.0)
    if not times or low <= 0 or high <= 0:
        return None
    ratios = (min(times) / low, max(times) / high)
    if min(ratios) > 500 or max(ratios) < 1 / 500:
        return ratios[0]
    return None
