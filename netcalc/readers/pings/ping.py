"""The text that ping prints, of any system and language, as round trips.

Read are iputils (Linux), BusyBox, BSD and macOS with ``ping6`` and size sweeps, GNU inetutils and
Windows. The words are ignored, since they are translated; only numbers and their positions count.

Rules
-----
Size: the user data of a probe is what the header says (``56(84) bytes of data``, ``56 data
bytes``, ``with 32 bytes of data``). Without a header it is the size of the reply less the 8 bytes
of ICMP header, except on Windows, which prints the user data itself.

Probes: those without a line are rows too, lost, from the first sequence number to the last one
sent, where the summary or the lines show it. A probe is answered by an echo reply; an error from a
router, an "unreachable" that Windows calls a reply, and "no answer yet" are not.

Times: a time is read only if its unit is known. ``<1 ms`` is 0.5 ms with a resolution of 1 ms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input, damaged_addresses, joined
from netcalc.readers.pings import ping_lines, ping_runs
from netcalc.readers.pings.ping_lines import PingLine
from netcalc.readers.places import ICMP_PROBES, Counted
from netcalc.readers.source import Source, Text, fixed, no_measurement, note, shorten
from netcalc.samples import Fact, Meta, RttSamples, fact_row

_STATISTICS = re.compile(r"ping.*stat|stat.*ping|estad.*ping|ping.*(?:统计|統計)", re.IGNORECASE)
"""Above the counts of a ping of Windows, in any language that has such letters."""


def _facts(run: ping_runs.RunLines, result: ping_runs.Probes, *, partial: bool) -> dict[str, Fact]:
    rows, sent, received = result.rows, result.sent, result.received
    times = rows.rtt_s[~rows.duplicate & ~rows.lost & ~np.isnan(rows.rtt_s)]
    counted: dict[str, Any] = {}
    if times.size:
        counted = {
            "rtt_min_s": times.min(),
            "rtt_median_s": np.median(times),
            "rtt_max_s": times.max(),
        }
        if times.size < received and not rows.duplicate.any():
            counted |= _wider(run, counted, float(rows.resolution_s.max()))
    elif result.counted_only and not run.counts.get("duplicates"):
        # Duplicates would be in these two; the mean is not a median.
        counted = {name: run.spread.get(name) for name in ("rtt_min_s", "rtt_max_s")}
    loss = run.counts.get("loss_ratio")
    return fact_row(
        target=_target(run),
        sent_count=sent,
        received_count=received,
        duplicate_count=(
            run.counts.get("duplicates", result.duplicates)
            if result.counted_only
            else int(rows.duplicate.sum())
        ),
        **counted,
        printed_loss_ratio=loss if loss is not None and 0.0 <= loss <= 1.0 else None,
        loss_ratio=1.0 - received / sent if sent else None,
        path_mtu_bytes=run.path_mtu_bytes,
        partial=partial,
    )


def _wider(run: ping_runs.RunLines, facts: dict[str, Any], width_s: float) -> dict[str, Any]:
    """Return the summary's extremes beyond those of the lines: of replies without a time."""
    low, high = (run.spread.get(f"rtt_{name}_s") for name in ("min", "max"))
    wider: dict[str, Any] = {}
    if low is not None and 0 < low < facts["rtt_min_s"] - width_s:
        wider["rtt_min_s"] = low
    if high is not None and high > facts["rtt_max_s"] + width_s:
        wider["rtt_max_s"] = high
    return wider


def _target(run: ping_runs.RunLines) -> str:
    return run.header.target if run.header else ""


_AT_A_TIME = 512
_FEW = 8
"""Lines that are read one by one where not all of them are plain replies."""

_TOOLS = {
    "iputils": "ping (iputils)",
    "iputils 6": "ping (iputils)",
    "toybox": "ping (toybox)",
    "BSD": "ping (BSD or macOS)",
    "sweep": "ping (BSD or macOS)",
    "PING6": "ping6 (BSD or macOS)",
    "Windows": "ping (Windows)",
    "other": "ping",
}


_WARNINGS = {"wrong data byte": "replies-changed", "time of day goes back": "clock-went-back"}
"""Lines about no probe of their own, and what they mean."""
_COMMAS_OF_A_ROW = 3
"""A line with so many commas may say "fragmented" or "hop limit", and is a row of a CSV. [1]"""


def looks_like_ping(lines: Iterable[str]) -> bool:
    """Whether a line of ping is among the first few hundred."""
    for number, text in enumerate(lines):
        if number > 400:
            break
        if len(text) > ping_lines.LONGEST:
            continue
        line = ping_lines.read_line(text)
        line = line or ping_lines.windows_line(text)
        is_row = text.count(",") >= _COMMAS_OF_A_ROW
        if line is not None and line.kind in ("reply", "error", "waiting", "silent") and not is_row:
            return True
        bare = ping_lines.without_clock(text)
        if ping_lines.read_header(bare) or ping_lines.read_statistics_head(bare):
            return True
        if bare.startswith(("ping: ", "Ping request could not find host")):
            return True
        if ping_lines.is_counts(bare) and ping_lines.read_counts(bare):
            return True
        if ping_lines.is_windows_counts(bare):
            return True
    return False


def to_samples(source: Source, text: Text) -> RttSamples:
    """Turn decoded text into samples."""
    file = _PingRuns(text)
    file.read()
    if any(run.events.reply_count for run in file.runs):
        text.let_go()  # only a file without a reply is refused by the words of a line
    results = [ping_runs.probes(run) for run in file.runs]
    _refuse_uncertain(source, file, results)
    for run in file.runs:
        run.events.parts.clear()
    rows = ping_runs.Rows.join([result.rows for result in results])
    columns: dict[str, Any] = fixed(
        {name: getattr(rows, name) for name in ping_runs.Rows.__slots__}
    )
    targets = [_target(run) for run in file.runs]
    if len(set(targets)) > 1:
        lengths = [len(result.rows) for result in results]
        columns["group"] = np.repeat(np.array(targets, dtype=object), lengths)
    totals: dict[str, Any] = {}
    if any(result.counted_only for result in results):
        totals["sent_count"] = sum(result.sent for result in results)
        totals["received_count"] = sum(result.received for result in results)
    if int(rows.error_reply.sum()) != sum(result.errors for result in results):
        totals["error_count"] = sum(result.errors for result in results)
    return RttSamples(**columns, **totals, meta=_meta(source, text, file, results, rows))


class _PingRuns:
    """The lines of a file, sorted into runs."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.runs: list[ping_runs.RunLines] = []
        self.command = ""
        self.version = ""
        self.skipped: list[int] = []
        self.cut = 0
        self.messages: list[tuple[int, str]] = []
        self.warned: dict[str, list[int]] = {}
        self.wrapped = ""
        self.busybox = self.integer_loss = self.timeouts = False

    @property
    def run(self) -> ping_runs.RunLines:
        if not self.runs:
            self.runs.append(ping_runs.RunLines())
        return self.runs[-1]

    def read(self) -> None:
        """Read every line, then forget runs about which nothing is known."""
        begin, last = 0, len(self.text.lines) - 1
        for block in self.text.lines.blocks():
            lines = block.split("\n")
            numbers = self.text.numbers[begin : begin + len(lines)]
            for place in range(0, len(lines), _AT_A_TIME):
                some = slice(place, place + _AT_A_TIME)
                ends = begin + place + _AT_A_TIME > last and not self.text.ends_complete
                self._read_lines(lines[some], numbers[some], last_is_cut=ends)
            begin += len(lines)
        self.runs = [run for run in self.runs if not run.empty]

    def _read_lines(
        self, lines: Sequence[str], numbers: Sequence[int], *, last_is_cut: bool
    ) -> None:
        """Read some lines; plain replies at once, halves of them where there is another line."""
        if not last_is_cut and self._read_replies(lines, numbers):
            return
        if len(lines) > _FEW and any(map(ping_runs.may_be_plain, lines)):
            middle = len(lines) // 2
            self._read_lines(lines[:middle], numbers[:middle], last_is_cut=False)
            self._read_lines(lines[middle:], numbers[middle:], last_is_cut=last_is_cut)
            return
        for number, line in zip(numbers[:-1], lines[:-1], strict=True):
            self._read_line(number, line, cut=False)
        if lines:
            self._read_line(numbers[-1], lines[-1], cut=last_is_cut)

    def _read_replies(self, lines: Sequence[str], numbers: Sequence[int]) -> bool:
        """Take lines that are all plain replies of the run so far; False if they are not."""
        if not ping_runs.may_be_plain(lines[0]):
            return False
        run = self.run
        if run.counts and not run.windows:
            return False
        plain = ping_runs.plain_replies(lines, numbers)
        if plain is None:
            return False
        replies, busybox = plain
        if replies["sequence"][0] == ping_runs.NONE:
            if not run.windows and (run.header is not None or run.events.numbered_replies):
                return False
            run.events.extend(replies)
            return True
        if run.windows or _sweeps(run):
            return False
        # Another size, or the first number again, may be another run.
        sizes = set(replies["size"].tolist())
        sizes_seen = {run.sizes[next(iter(run.sizes))]} if run.sizes else sizes
        if len(sizes) > 1 or sizes != sizes_seen or run.sizes_differ:
            return False
        fresh = dict.fromkeys(replies["sequence"].tolist(), int(replies["size"][0]))
        if run.header is None and run.sizes and next(iter(run.sizes)) in fresh:
            return False
        if run.header is None and not run.sizes and len(fresh) < len(replies):
            return False
        run.sizes.update(fresh)
        run.events.extend(replies)
        self.busybox |= busybox
        return True

    def _read_line(self, number: int, text: str, cut: bool) -> None:
        if len(text) > ping_lines.LONGEST:
            self.skipped.append(number)
            return
        if code := next((code for words, code in _WARNINGS.items() if words in text), ""):
            self.warned.setdefault(code, []).append(number)
            return
        if self._in_replies() and not ping_lines.may_speak(text):
            if not ping_lines.is_noise(text):
                self.skipped.append(number)
            return
        bare = ping_lines.without_clock(text)
        header = ping_lines.read_header(bare)
        if header is not None:
            self.runs.append(ping_runs.RunLines(header=header))
            return
        if "seq=" not in bare and self._summary(number, bare):
            return
        line = ping_lines.read_line(text)
        text = bare
        if line is None and not ping_lines.is_noise(text):
            line = self._status_of_windows(text) or self._line_of_windows(text)
        if line is not None:
            if line.kind == "error":
                self._learn(number, text)
            self.busybox |= line.kind == "reply" and " seq=" in text
            self._event(number, line, cut)
        elif text.strip():
            self._other(number, text)

    def _in_replies(self) -> bool:
        """Whether the lines of a run are read that has begun, and whose summary has not."""
        run = self.run
        return bool(run.events) and not (run.windows or run.counts or run.statistics_begun)

    def _summary(self, number: int, text: str) -> bool:
        if ping_lines.read_statistics_head(text) is not None:
            self.run.statistics_begun = True
            return True
        run = self.run
        if run.statistics_begun or "transmitted" in text:
            counts = None if run.counts else ping_lines.read_counts(text)
            if counts is not None:
                run.counts, run.counts_line, run.statistics_begun = counts, number, True
                self.integer_loss = "." not in text.partition("%")[0].rpartition(" ")[2]
                return True
            spread = ping_lines.read_spread(text)
            if spread is not None:
                run.spread = spread
                return True
        if not run.windows and not (run.empty and run.header is None):
            return False
        counts = ping_lines.read_windows_counts(self.wrapped + text)
        self.wrapped = text if ping_lines.is_wrapped_counts(text) else ""
        spread = ping_lines.read_windows_spread(text)
        run.counts = counts or run.counts
        run.events.windows |= run.header is None and ping_lines.is_windows_counts(text)
        run.spread = spread or run.spread
        return counts is not None or spread is not None or bool(self.wrapped)

    def _status_of_windows(self, text: str) -> PingLine | None:
        """A line without numbers between header and summary of a Windows ping."""
        run = self.run
        if run.header is None or run.header.dialect != "Windows" or run.counts:
            return None
        if text.rstrip().endswith((":", "：")) or ping_lines.read_command(text):
            return None
        if ping_lines.windows_error(text):
            return PingLine("error")
        if any(c.isdigit() for c in text) or not any(c.isalpha() for c in text):
            return None
        return PingLine("error" if ping_lines.names_error(text) else "silent", words=text.strip())

    def _line_of_windows(self, text: str) -> PingLine | None:
        """A line of a Windows ping whose first line is missing."""
        run = self.run
        headless = run.header is None and not run.events.numbered_replies and not run.counts
        return ping_lines.windows_line(text) if headless else None

    def _learn(self, number: int, text: str) -> None:
        """Keep who reported an error in which words, and the least MTU of the path it names."""
        code, node, words = ping_lines.said_by(text)
        said = code, shorten(node, 60), shorten(words, 100)
        self.run.said.setdefault(said, []).append(number)
        self.run.path_mtu_bytes = np.fmin(
            self.run.path_mtu_bytes, ping_lines.path_mtu_bytes(text)
        ).item()

    def _event(self, number: int, line: PingLine, cut: bool) -> None:
        if cut and not _certain(line, self.run):
            self.cut = number
            return
        if cut:
            line.ttl = (
                line.ttl if not math.isnan(line.rtt_s) and line.sequence is not None else None
            )
        if self._starts_again(line):
            self.runs.append(ping_runs.RunLines())
        if line.kind == "dump":
            # What an error quotes: a line above it that was not understood is an error, too.
            above = self.run.events.last or line
            if above.sequence is None and above.kind in ("damaged", "error"):
                above.kind, above.sequence = "error", line.sequence
            return
        if line.kind == "reply" and line.sequence is not None:
            self.run.sizes.setdefault(line.sequence, line.size)
            self.run.sizes_differ |= self.run.sizes[next(iter(self.run.sizes))] != line.size
        self.timeouts |= line.kind == "waiting"
        self.run.events.append(number, line)

    def _starts_again(self, line: PingLine) -> bool:
        """Whether a reply belongs to another run, whose header is not in the file."""
        run = self.run
        if line.kind != "reply" or run.windows:
            return False
        if run.counts:
            return True
        if line.sequence is None or line.marked_duplicate:
            return False
        if line.sequence not in run.sizes:
            return False
        first, last = next(iter(run.sizes)), next(reversed(run.sizes))
        # A wrap of the 16-bit number is not a new start.
        restarted = run.header is None and line.sequence == first and 0 < len(run.sizes) < 65_000
        return (restarted and last != first) or (
            run.sizes[line.sequence] != line.size and not _sweeps(run)
        )

    def _other(self, number: int, text: str) -> None:
        if ping_lines.is_local_error(text) and not self.run.counts:
            self.run.events.append(number, PingLine("error"))
            self._learn(number, text)
            if "local error" not in text:
                self.messages.append((number, text))
            return
        command = ping_lines.read_command(text)
        if command:
            self.command = self.command or command
        elif text.startswith(("ping", "connect:", "Ping request")):
            self.messages.append((number, text))
            self.version = self.version or text.partition("iputils")[2].lstrip(" -").strip()
        elif not (
            ping_lines.is_noise(text)
            or (self.run.counts and not ping_lines.is_like_spread(text))
            or self._titles_statistics(text)
        ):
            self.skipped.append(number)

    def _titles_statistics(self, text: str) -> bool:
        """Whether a line is above the counts of Windows, maybe the first of a paste."""
        is_title = self.run.windows or _STATISTICS.search(text)
        return bool(is_title) and text.rstrip().endswith((":", "："))


def _sweeps(run: ping_runs.RunLines) -> bool:
    return run.header is not None and run.header.sizes_vary


def _certain(line: PingLine, run: ping_runs.RunLines) -> bool:
    """Whether a line that ends the file without a line end is whole enough to be believed."""
    if line.kind == "reply":
        timed = run.events.timed
        return not math.isnan(line.rtt_s) or (line.ttl is not None and not timed and not line.fault)
    return line.kind == "error"


def _refuse_uncertain(source: Source, file: _PingRuns, results: list[ping_runs.Probes]) -> None:
    too_far = max((result.too_far for result in results), default=0)
    if too_far:
        raise ReaderError("sequences-too-far", file=source.name, field="icmp_seq", count=too_far)
    row_count = sum(len(result.rows) + result.sent for result in results)
    alone = ((n, line) for run in file.runs for n, line in run.events.alone())
    damaged = next((each for each in alone if each[1].kind == "damaged"), None)
    if damaged and not any(run.events.reply_count for run in file.runs):
        number, line = damaged
        written = file.text.lines[file.text.numbers.index(number)]
        raise ReaderError(
            "unreadable-replies",
            file=source.name,
            line=number,
            field="reply",
            value=shorten(written),
            unit="ms",
            fault=line.fault,
        )
    if row_count == 0 and file.messages:
        number, message = file.messages[0]
        raise ReaderError(
            "no-ping-but-message", file=source.name, line=number, message=shorten(message, 120)
        )
    if row_count == 0:
        raise no_measurement("no-ping", source, file.text)
    for run, result in zip(file.runs, results, strict=True):
        if result.counted_only and result.received > result.sent:
            raise ReaderError(
                "more-received-than-sent", file=source.name, line=run.counts_line or None,
                field="received", value=str(result.received), sent=result.sent,
            )  # fmt: skip
        if result.counted_only and ping_lines.is_contradictory(run.counts):
            raise ReaderError(
                "contradictory-summary",
                file=source.name,
                line=run.counts_line or None,
                field="received",
                **ping_runs.printed_counts(run),
            )
        factor = ping_runs.scale_error(run, result)
        if factor is not None:
            raise ReaderError(
                "wrong-scale",
                file=source.name,
                line=run.events.first_number,
                field="time",
                unit="s",
                factor=factor,
            )


def _meta(
    source: Source,
    text: Text,
    file: _PingRuns,
    results: list[ping_runs.Probes],
    rows: ping_runs.Rows,
) -> Meta:
    warnings = [*text.warnings, *_warnings(results)]
    warnings += damaged_addresses(map(_target, file.runs))
    note(warnings, "last-line-cut", number=file.cut)
    note(warnings, "not-ping", numbers=file.skipped)
    for code, numbers in file.warned.items():
        note(warnings, code, numbers=numbers)
    unsent = [at for run in file.runs for said, at in run.said.items() if not said[1]]
    own = {number for numbers in unsent for number in numbers}
    said_at: dict[str, list[int]] = {}
    for number, message in file.messages:
        if number not in own:
            said_at.setdefault(shorten(message, 100), []).append(number)
            own |= {number} if ping_lines.is_unsent(message) else set()
    for message, numbers in said_at.items():
        note(warnings, "ping-message", message=message, numbers=numbers)
    note(warnings, "probes-unsent", numbers=sorted(own))
    stamped = rows.sent_s[~np.isnan(rows.sent_s)]
    cut = bool(file.cut) or source.grew
    return Meta(
        tool=" and ".join(dict.fromkeys(_tool(run, file) for run in file.runs)),
        tool_version=shorten(file.version, 40),
        command=shorten(file.command, 200),
        target=joined(map(_target, file.runs)),
        source=source.name if source.is_file else "",
        sha256=source.sha256,
        clock="wall clock of the pinging host (ping -D)" if stamped.size else "",
        start=_iso(float(stamped.min())) if stamped.size else "",
        note=_note(results, stamped=stamped.size > 0),
        printed=_printed(file.runs),
        facts=tuple(
            _facts(run, result, partial=_unfinished(run, result) or (cut and run is file.runs[-1]))
            for run, result in zip(file.runs, results, strict=True)
        ),
        warnings=tuple(warnings),
        partial=cut or any(map(_unfinished, file.runs, results)),
    )


def _warnings(results: list[ping_runs.Probes]) -> list[Notice]:
    """Return the warnings of the runs, each once, with the numbers of the runs it is about."""
    about: list[tuple[Notice, list[int]]] = []
    for run, result in enumerate(results, 1):
        for warning in result.warnings:
            values = next((runs for notice, runs in about if notice == warning), None)
            if values is None:
                about.append((warning, [run]))
            else:
                values.append(run)
    if len(results) == 1:
        return [notice for notice, _ in about]
    return [Notice(each.code, {**each.values, "run_numbers": runs}) for each, runs in about]


def _note(results: list[ping_runs.Probes], *, stamped: bool) -> str:
    notes = []
    if len(results) > 1:
        notes.append(f"{len(results)} runs of ping in one file")
    if stamped:
        notes.append("sent_s is the printed time of the reply less its round trip")
    return "; ".join(notes)


def _unfinished(run: ping_runs.RunLines, result: ping_runs.Probes) -> bool:
    if not run.counts or result.lines_missing:
        return True
    if run.header is None and (result.counted_only or not result.received):
        return True  # the end of a run, of which the rest is not in the file
    return run.events.timed and not run.spread


def _tool(run: ping_runs.RunLines, file: _PingRuns) -> str:
    if run.header is None:
        return "ping (Windows)" if run.windows else "ping"
    named = _TOOLS[run.header.dialect]
    if run.header.dialect != "BSD":
        return named
    if file.timeouts:
        return "ping (macOS)"
    has_three = run.spread and "rtt_mdev_s" not in run.spread
    if file.busybox or (has_three and file.integer_loss):
        return "ping (BusyBox)"
    if not run.spread:
        return "ping (BSD, BusyBox or inetutils)"
    return "ping (GNU inetutils)" if file.integer_loss else named


def _printed(runs: list[ping_runs.RunLines]) -> dict[str, Any]:
    """What the summaries say, in SI units; of several runs the totals and each one's own."""
    each: list[dict[str, Any]] = [{**run.counts, **run.spread} for run in runs if run.counts]
    if len(each) <= 1:
        return each[0] if each else {}
    total: dict[str, Any] = {
        name: sum(run[name] for run in each if name in run)
        for name in ("sent", "received", "duplicates", "errors")
        if any(name in run for run in each)
    }
    for name, pick in (("rtt_min_s", min), ("rtt_max_s", max)):
        values = [run[name] for run in each if name in run]
        if values:
            total[name] = pick(values)
    return {**total, "runs": each}


def _iso(epoch_s: float) -> str:
    try:
        return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="microseconds")
    except (OverflowError, OSError, ValueError):
        return ""


def read_whole(file: Input) -> RttSamples:
    """Read an input that is the output of ping."""
    text = file.text
    file.let_go()
    return to_samples(file.unpacked, text)


FORMAT = Format(
    name="ping",
    description="the output of ping",
    recognize=lambda file: looks_like_ping(file.text.lines),
    read=read_whole,
    traps=(
        "The words are translated and are not looked at; numbers and their positions are.",
        "The size in the header is user data, that of a reply has 8 bytes of ICMP more; Windows "
        "prints user data in both.",
        "A probe without a line is lost, also over the wrap of the sequence number.",
        "An error from a router counts as received on Windows; here it is not a reply.",
        "Duplicates enter no round-trip time; in the tool's own summary they do.",
        "<1 ms is 0.5 ms in an interval of 1 ms, not 1 and not 0.",
        "A decimal comma beside decimal points never makes a factor of 1000.",
        "Lines and summary that disagree are both kept, with a warning.",
    ),
    tools={"ping": Counted(probes=ICMP_PROBES)},
    parts=(
        r"^ \d +\d +[0-9a-f]{2} [0-9a-f]{4} [0-9a-f]{4} +\d [0-9a-f]{4} ",
        r"^Vr HL TOS  Len   ID Flg  off TTL Pro  cks",
        r"^(?:rtt|round-trip) min/avg/max\S* = \d|^ *Minimum = \d+ ?ms, ",
    ),
    needs="the lines of its replies and errors, or that of the packets it counted,",
)
