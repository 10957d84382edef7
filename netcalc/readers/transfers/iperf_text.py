"""Text of iperf3, of client and server, and the lines that iperf 2 prints in the same form.

Rates count K, M, G as powers of 1000, bytes as powers of 1024: ``KBytes`` are 1024 bytes, and
``MBytes/sec`` are 8 * 1024**2 bit/s.

Intervals of iperf3 have at most four digits; the totals of the last lines, one of the sender and
one of the receiver, are the facts. Headers say what the numbers behind a rate are.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import inf, isnan, nan
from typing import Any, TypeVar

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.lines import last_digit
from netcalc.readers.source import Text, note, shorten
from netcalc.readers.transfers import transfer
from netcalc.readers.transfers.transfer import number_of as plain_number
from netcalc.samples import FlowSeries

Run = TypeVar("Run")

# At most two digits behind a decimal comma: 1,234 could be a thousand, and iperf never groups.
_NUMBER = r"-?(?:\d{1,30}(?:\.\d{1,30}|,\d{1,2})?|nan|inf)"
_TIME = r"\d+(?:[.,]\d{1,30})?"
_ROW = re.compile(
    r"(?P<clock>.{0,60}?)"
    r"\[\s*(?P<id>SUM(?:-\w+)?|(?:\*\s*)?\d+)\](?:\[(?P<role>[TR]X-[CS])\])?"
    rf"\s+(?P<start>{_TIME})\s*-\s*(?P<end>{_TIME})\s+sec"
    rf"\s+(?P<size>{_NUMBER})\s+(?P<size_unit>[KMGTP]?)Bytes"
    rf"\s+(?P<rate>{_NUMBER})\s+(?P<rate_unit>[KMGTP]?)(?P<what>bits|Bytes)/sec(?P<rest>.*)"
)
_LIKE_A_ROW = re.compile(
    r"\[[^\]]{0,20}\](?:\[[^\]]{0,8}\])?(?:.*\ssec\s|\s+[\d.,]+\s*-\s*[\d.,]+\s+(?![\ss]))"
)
_CONNECTED = re.compile(
    r".{0,60}?\[\s*(?P<id>(?:\*\s*)?\d+)\] local (?P<local>\S+) port (?P<local_port>\d{1,5})"
    r" connected (?P<word>to|with) (?P<remote>\S+) port (?P<remote_port>\d{1,5})(?!\d)(?P<rest>.*)"
)
_LOSSES = re.compile(
    rf"\s*(?P<jitter>{_NUMBER}) ms\s+(?P<lost>-?\d+)\s*/\s*(?P<total>-?\d+)"
    r"\s+\((?P<ratio>[-+\w.,]+)%\)"
)
_COMMAND = re.compile(r"(?:^|[\s$#>%/\\:`])iperf(?P<version>3?)(?:\.exe)?\s+(?P<options>-.*)")
_WITH_VALUE = {
    "-c": "client", "--client": "client", "-b": "rate", "--bitrate": "rate", "--bandwidth": "rate",
    "-l": "write", "--length": "write", "--len": "write", "-w": "buffer", "--window": "buffer",
    "-P": "streams", "--parallel": "streams",
}  # fmt: skip
_FLAGS = {
    "-u": "udp", "--udp": "udp", "-R": "reverse", "--reverse": "reverse", "--bidir": "bidir",
    "--dont-fragment": "dont_fragment",
}  # fmt: skip
_SIZE = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,9})?)(?P<power>[KMGT]?)", re.IGNORECASE)


@dataclass(slots=True)
class IntervalLine:
    """What one line says of one stream, or of the sum of all."""

    stream: str
    starred: bool
    role: str
    start_s: float
    end_s: float
    byte_count: float
    rate_bps: float
    right: bool
    rest: str
    agrees: bool = True
    """Whether the rate is that of the size in the time."""
    shown: str = ""
    """Its time, size and rate as they are written."""

    @property
    def is_sum(self) -> bool:
        """Whether the line is a sum of streams."""
        return self.stream.startswith("SUM")

    def row(self, side: str, *, stream: str = "", omitted: bool = False) -> transfer.Interval:
        """Return what one side counted in the interval."""
        return transfer.Interval(
            start_s=self.start_s,
            duration_s=self.end_s - self.start_s,
            payload_bytes=self.byte_count if self.agrees else nan,
            throughput_bps=self.rate_bps if self.agrees else nan,
            stream=stream or self.stream,
            side=side,
            omitted=omitted,
        )


@dataclass(frozen=True, slots=True)
class StreamEnds:
    """A line that names the two ends of a stream."""

    stream: str
    local_port: int
    remote_port: int
    rest: str


@dataclass(slots=True)
class Remarks:
    """Errors that iperf printed, lines that are unread, lines with what is implausible in them, and
    how many intervals and runs are there twice."""

    messages: list[str] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    implausible: list[tuple[int, str]] = field(default_factory=list)
    repeated: int = 0
    copies: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IperfCommand:
    """What the command line of a client asks for, as it stands above its output.

    Sizes count K, M, G as powers of 1024 (k, m, g of iperf 2 as powers of 1000), rates as powers of
    1000. ``-b`` is asked of each stream; without it UDP of iperf3 has 1024**2 bit/s.
    """

    is_udp: bool = False
    is_reverse: bool = False
    stream_count: int = 1
    rate_bps: float = nan
    write_bytes: float = nan
    buffer_bytes: float = nan
    is_unfragmented: bool = False

    def printed(self) -> dict[str, Any]:
        """Return what it asks for, by the names of the JSON of iperf3."""
        asked: dict[str, Any] = {
            "asked_rate_bps": self.rate_bps,
            "write_bytes": self.write_bytes,
            "asked_buffer_bytes": self.buffer_bytes,
        }
        kept = {name: value for name, value in asked.items() if value > 0}
        return {**kept, "dont_fragment": True} if self.is_unfragmented else kept


def read_command(line: str) -> IperfCommand | None:
    """Return what a client of iperf was asked for, if a line is its command."""
    match = _COMMAND.search(line[:_LONGEST_COMMAND])
    if match is None:
        return None
    try:
        parts = shlex.split(match["options"].strip("`"))
    except ValueError:  # a quotation mark that is not closed
        return None
    asked: dict[str, str] = {}
    while parts:
        name, _, value = parts.pop(0).partition("=")
        short, glued = name[:2], name[2:]
        if name in _FLAGS:
            asked[_FLAGS[name]] = "yes"
        elif name in _WITH_VALUE:
            value = value or (parts.pop(0) if parts else "")
            asked[_WITH_VALUE[name]] = value
        elif not name.startswith("--") and glued and short in _WITH_VALUE:
            asked[_WITH_VALUE[short]] = glued
    if "client" not in asked or "bidir" in asked:
        return None
    is_udp = "udp" in asked
    usual = "1048576" if is_udp and match["version"] else "0"
    lower = 1024 if match["version"] else 1000
    count = asked.get("streams", "1")
    return IperfCommand(
        is_udp=is_udp,
        is_reverse="reverse" in asked,
        stream_count=int(count) if count.isdecimal() and len(count) < 4 else 1,
        rate_bps=_size(asked.get("rate", usual).partition("/")[0], (1000, 1000)),
        write_bytes=_size(asked.get("write", ""), (1024, lower)),
        buffer_bytes=_size(asked.get("buffer", ""), (1024, lower)),
        is_unfragmented="dont_fragment" in asked,
    )


def _size(text: str, bases: tuple[int, int]) -> float:
    """Return a number with a letter for its power, whose base is of large or of small letters.

    It is nan for anything else, such as ``10pps``.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        return nan
    power = match["power"]
    return float(match["number"]) * float(bases[power.islower()] ** transfer.POWERS[power.upper()])


def to_samples(
    file: Input,
    runs: list[list[transfer.Way]],
    remarks: Remarks,
    further: Sequence[Notice] = (),
    **meta: Any,
) -> FlowSeries:
    """Return the directions of all runs, with warnings; refuse a file without a run.

    ``meta`` is what else is known of them: tool and version, what was asked for, host, start.
    """
    if not runs:
        raise file.refusal(
            "iperf-error-only" if remarks.messages else "iperf-nothing",
            line=remarks.unread[0] if remarks.unread else None,
            message=remarks.messages[0] if remarks.messages else "",
        )
    warnings = list(file.text.warnings)
    note(warnings, "iperf-reported", messages=list(dict.fromkeys(remarks.messages)))
    note(warnings, "intervals-repeated", count=remarks.repeated)
    note(warnings, "iperf-lines-unread", numbers=remarks.unread)
    note(warnings, "runs-repeated", count=remarks.copies)
    note_implausible(warnings, remarks.implausible)
    return transfer.flow_series(file, runs, [*warnings, *further], **meta)


def note_implausible(warnings: list[Notice], odd: Sequence[tuple[int, str]]) -> None:
    """Add the warning about values that count as unknown, with their lines."""
    numbers, values = ([line for line, _ in odd], [shown for _, shown in odd])
    note(warnings, "implausible-lines", numbers=numbers, values=values)


def printed_of(command: IperfCommand | None, ways: Sequence[transfer.Way]) -> dict[str, Any]:
    """Return what a command asked for; nothing where the output shows that it is of another run."""
    if command is None or len(ways) != 1:
        return {}
    (way,) = ways
    is_own = (
        command.is_udp == (way.protocol == "udp")
        and command.is_reverse == (way.direction == transfer.DOWNLOAD)
        and command.stream_count == max(len(way.streams), 1)
    )
    return command.printed() if is_own else {}


def read_interval(line: str) -> IntervalLine | None:
    """Return the interval of a line; None if it is not one that can be read with certainty."""
    row = _ROW.match(line)
    if row is None:
        return None
    size = number_of(row["size"]) * 1024 ** transfer.POWERS[row["size_unit"]]
    bits, base = (1, 1000) if row["what"] == "bits" else (8, 1024)
    rate = number_of(row["rate"]) * bits * base ** transfer.POWERS[row["rate_unit"]]
    has_size, has_rate = 0 <= size < inf, 0 <= rate < inf
    start_s, end_s = number_of(row["start"]), number_of(row["end"])
    agrees = not (has_size and has_rate) or transfer.agree(
        transfer.Interval(0.0, end_s - start_s, size, rate),
        byte_step=last_digit(row["size"], 1024.0 ** transfer.POWERS[row["size_unit"]]),
        rate_step=last_digit(row["rate"], bits * float(base) ** transfer.POWERS[row["rate_unit"]]),
        time_step=last_digit(row["end"], 1.0),
    )
    return IntervalLine(
        stream=row["id"].lstrip("* "),
        starred="*" in row["id"],
        role=row["role"] or "",
        start_s=start_s,
        end_s=end_s,
        byte_count=float(round(size)) if has_size else nan,
        rate_bps=round(rate, 3) if has_rate else nan,
        right=has_size and has_rate,
        rest=row["rest"],
        agrees=agrees,
        shown=line[row.start("start") : row.start("rest")],
    )


_LAST_DIGITS = re.compile(r"(?<!\d)[\d.,]*\d$")


def certain_lines(text: Text) -> Iterator[tuple[int, str]]:
    """Yield the lines; a last one without its end without its last number, which may be cut."""
    cut = 0 if text.ends_complete or not text.numbers else text.numbers[-1]
    for number, line in zip(text.numbers, text.lines, strict=True):
        yield number, _LAST_DIGITS.sub("", line) if number == cut else line


_LONGEST, _LONGEST_COMMAND = 200, 1000
"""Characters of a line in which an interval begins, and those of a command that are read."""


def looks_like_interval(line: str) -> bool:
    """Whether a line that was not read may be an interval, so that it must not pass in silence."""
    return bool(_LIKE_A_ROW.search(line[:_LONGEST]))


_OUT_OF_ORDER = re.compile(
    r".{0,60}?\[\s*(?P<id>SUM|(?:\*\s*)?\d+)\](?:\[(?P<role>[TR]X-[CS])\])?"
    rf"\s+(?P<start>{_TIME})\s*-\s*(?P<end>{_TIME})\s+sec\s+(?P<count>\d{{1,15}})"
    r" datagrams received out-of-order"
)


@dataclass(frozen=True, slots=True)
class OutOfOrder:
    """A line that says how many datagrams came behind later ones."""

    stream: str
    role: str
    start_s: float
    end_s: float
    count: float


def read_out_of_order(line: str) -> OutOfOrder | None:
    """Return how many datagrams of a stream came out of order, if the line says it."""
    said = _OUT_OF_ORDER.match(line)
    if said is None:
        return None
    stream, role = said["id"].lstrip("* "), said["role"] or ""
    start_s, end_s = number_of(said["start"]), number_of(said["end"])
    return OutOfOrder(stream, role, start_s, end_s, number_of(said["count"]))


def sum_out_of_order(lines: Sequence[OutOfOrder]) -> float:
    """Return the datagrams out of order in a run; nan where no line says so.

    The last line of a stream is its total. iperf3 calls the line of each stream a sum.
    """
    of_streams = [line for line in lines if line.stream != "SUM"] or list(lines)
    total = 0.0 if lines else nan
    for stream in {line.stream for line in of_streams}:
        own = [line for line in of_streams if line.stream == stream]
        end_s = max(line.end_s for line in own)
        whole = [line for line in own if line.start_s == 0 and line.end_s == end_s]
        once = whole[-1:] if stream != "SUM" else whole
        total += sum(line.count for line in once or own)
    return total


def each_once(
    runs: Sequence[Run], links: Sequence[Sequence[StreamEnds]], ways: Sequence[list[transfer.Way]],
    remarks: Remarks,
) -> tuple[list[Run], list[list[transfer.Way]]]:  # fmt: skip
    """Return the runs that are no copy of the one before, pasted twice, with their directions.

    A copy has the same ports and the same numbers; how many there are is kept with the remarks.
    """
    kept = [
        at
        for at, ends in enumerate(links)
        if not (at and ends and ends == links[at - 1]) or repr(ways[at]) != repr(ways[at - 1])
    ]
    remarks.copies = len(runs) - len(kept)
    return [runs[at] for at in kept], [ways[at] for at in kept]


def without_direction(ways: Sequence[transfer.Way], *, knows_side: bool) -> list[Notice]:
    """Take the direction from the runs of an unknown end; return the warnings about them."""
    for way in ways:
        way.direction = ""
    codes = ["iperf-end-unknown", "iperf-csv-side"] if ways else []
    return [Notice(code) for code in (codes[:1] if knows_side else codes)]


def implausible(interval: IntervalLine, losses: DatagramLosses | None) -> list[str]:
    """Return what of an interval counts as unknown, as it is written."""
    is_right = interval.right and interval.agrees and interval.start_s <= interval.end_s
    odd = [] if is_right else [interval.shown]
    return odd + ([losses.shown] if losses is not None and losses.implausible else [])


def read_connection(line: str) -> StreamEnds | None:
    """Return the two ends of a stream, if the line names them."""
    ends = _CONNECTED.match(line)
    if ends is None:
        return None
    return StreamEnds(
        stream=ends["id"].lstrip("* "),
        local_port=int(ends["local_port"]),
        remote_port=int(ends["remote_port"]),
        rest=ends["rest"],
    )


@dataclass(frozen=True, slots=True)
class DatagramLosses:
    """What a receiver of datagrams says: its jitter, the datagrams lost, and all of them."""

    jitter_s: float
    lost_count: float
    datagram_count: float
    implausible: bool
    shown: str = ""
    """The numbers as they are written."""

    def put_in(self, row: transfer.Interval) -> None:
        """Put the numbers into the interval that they are of."""
        row.jitter_s, row.lost_count = self.jitter_s, self.lost_count
        row.datagram_count = self.datagram_count


def read_losses(rest: str) -> DatagramLosses | None:
    """Return jitter and losses from the end of a line; what cannot be is unknown."""
    printed = _LOSSES.match(rest)
    if printed is None:
        return None
    jitter = number_of(printed["jitter"]) / 1e3
    lost, total = number_of(printed["lost"]), number_of(printed["total"])
    bad_jitter, bad_loss = jitter < 0, lost < 0 or lost > total
    return DatagramLosses(
        jitter_s=nan if bad_jitter else jitter,
        lost_count=nan if bad_loss else lost,
        datagram_count=nan if total < 0 else total,
        implausible=bad_jitter or bad_loss,
        shown=printed[0].strip(),
    )


def number_of(text: str) -> float:
    """Return a number with a decimal point or comma; nan if it is not one."""
    return plain_number(text.replace(",", "."))


_MARKS = {
    "Connecting to host ": r"Connecting to host \S+, port \d+",
    "Server listening on ": r"Server listening on \d+",
    "iperf3: error - ": "iperf3: error - ",
    "Accepted connection from ": r"Accepted connection from \S+, port \d+",
    " connected to ": r"\[ *\d+\] local \S+ port \d+ connected to \S+ port \d+",
    " sec ": r"\[(?: *\d+|SUM)\](?:\[[TR]X-[CS]\])? +"
    r"\d+\.\d\d-\d+\.\d\d {2,}sec +[\d.]+ [KMGT]?Bytes",
}
"""The last is of an interval alone: iperf3 pads the end of the time, iperf 2 does not."""
_TARGET = re.compile(r"Connecting to host (\S+), port (\d+)")
_ACCEPTED = re.compile(r"Accepted connection from (\S+), port \d+")
_STARTING = re.compile(r"Starting Test: protocol: (\w+), .* omitting (\d+) seconds")
_VERBOSE = re.compile(
    r"\bTarget Bitrate: (?P<rate>\d{1,15})|\bStarting Test: .* (?P<write>\d{1,9}) byte blocks"
)
_VERSION = re.compile(r"\biperf (3\.\S+)")
_SYSTEM = re.compile(r"(?:Linux|FreeBSD|Darwin) \S+ \S.*")
_STARTED = re.compile(r"Time: (\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC))")
_ERROR = re.compile(r"iperf3: (.*)")
_CONGESTION = re.compile(r"snd_tcp_congestion (\S+)")
_LABEL = re.compile(r"\b(sender|receiver)\s*$")
_OF_SENDER = re.compile(r"\s*\d+\s+sender\s*$")
_CWND = re.compile(r"\s*(\d+)\s+(\d+(?:[.,]\d+)?) ([KMG]?)Bytes")
_COUNT = re.compile(r"\s*(\d+)(?=\s|$)")
_TAIL = re.compile(
    rf"\s*(?:\d+\s*(?:\s{_NUMBER} [KMG]?Bytes\s*)?)?(?:\(omitted\)|sender|receiver)?\s*"
)
"""All that may be behind a rate, if it is not losses."""
_SENT = re.compile(r"\[\s*\d+\] Sent (\d+) datagrams")
_FLUSHED = re.compile(r"\bthe (?:client|server) has terminated")
_SERVER_OUTPUT = re.compile(r"Server (?:JSON )?output:\s*")


_PORT, _CLIENT_PORTS = 5201, 32768
"""Usual port of a server of iperf3, and where systems begin to choose ports of their own."""


@dataclass(slots=True)
class _Iperf3Run:
    """The lines of one test."""

    is_client: bool
    """Whether a client wrote the lines; where the first lines are missing, whether it is likely."""
    target: str = ""
    has_end: bool = True
    """Whether a line says which end wrote them."""
    reverse: bool = False
    protocol: str = ""
    omitted_s: float = nan
    congestion_control: str = ""
    done: bool = False
    interrupted: bool = False
    is_of_server: bool = False
    """Whether the lines are those of the other end (``--get-server-output``)."""
    header: str = ""
    is_header_new: bool = False
    ways: dict[str, transfer.Way] = field(default_factory=dict)
    totals: dict[tuple[str, str], dict[str, transfer.Interval]] = field(default_factory=dict)
    unlabelled: set[str] = field(default_factory=set)
    """Directions whose total is one for both sides, as before version 3.7."""
    sent_count: float = nan
    command: IperfCommand | None = None
    links: list[StreamEnds] = field(default_factory=list)
    out_of_order: list[OutOfOrder] = field(default_factory=list)
    verbose: dict[str, float] = field(default_factory=dict)
    """What a verbose client says it was asked for."""

    def way(self, direction: str) -> transfer.Way:
        """Return a direction of the run."""
        return self.ways.setdefault(direction, transfer.Way(direction, target=self.target))


def _recognize(file: Input) -> bool:
    if file.is_json:
        return False
    # The plain words first: a search for a mark looks at 60 characters from every one.
    return any(
        word in file.first and file.seen(rf"^.{{0,60}}?{mark}") for word, mark in _MARKS.items()
    )


class _Iperf3Text:
    """The runs of a text: a line belongs to the last one, or begins another."""

    def __init__(self) -> None:
        self.runs: list[_Iperf3Run] = []
        self.remarks = Remarks()
        self.other_end: list[int] = []
        self.version = self.host = self.start = ""
        self.command: IperfCommand | None = None
        """The command above the lines of its run."""

    def add(self, number: int, line: str) -> None:
        """Add a line to its run."""
        self.version = self.version or "".join(_VERSION.findall(line)[:1])
        if error := _ERROR.search(line):
            self.remarks.messages.append(shorten(error[1], 100))
            if self.runs and _FLUSHED.search(line):
                self.runs[-1].interrupted = True
        elif self.runs and _is_of_server(self.runs[-1], line):
            self.other_end.append(number)
        else:
            self._add_own(number, line)

    def _add_own(self, number: int, line: str) -> None:
        """Add a line of the end that wrote the text."""
        self.command = read_command(line) or self.command
        if system := _SYSTEM.fullmatch(line.strip()):
            self.host = self.host or shorten(system[0], 200)
        if time := _STARTED.fullmatch(line.strip()):
            self.start = self.start or _iso(time[1])
        run = self._run_of(line)
        if not _read_line(run, line, self.remarks, number) and looks_like_interval(line):
            self.remarks.unread.append(number)

    def _run_of(self, line: str) -> _Iperf3Run:
        """Return the run of a line; another one begins where a client connects or is accepted."""
        last = self.runs[-1] if self.runs else None
        accepted = _ACCEPTED.search(line)
        if target := _TARGET.search(line):
            self.runs.append(_Iperf3Run(True, target[1], command=self.command))
            self.command = None
        elif last is None:
            is_server = accepted or "Server listening on " in line
            self.runs.append(_Iperf3Run(not is_server, has_end=bool(is_server)))
        elif accepted and (last.ways or last.is_client):
            self.runs.append(_Iperf3Run(is_client=False))
        elif _begins_again(last, line):  # without the line that names the server
            is_client, reverse, header = last.is_client, last.reverse, last.header
            self.runs.append(
                _Iperf3Run(is_client, has_end=last.has_end, reverse=reverse, header=header)
            )
        return self.runs[-1]


def _read(file: Input) -> FlowSeries:
    text = _Iperf3Text()
    for number, line in certain_lines(file.text):
        text.add(number, line)
    early = any(_FLUSHED.search(message) for message in text.remarks.messages)
    if early and len(text.runs) == 1:
        # Standard error may come before all lines of standard output.
        text.runs[0].interrupted = True
    runs = [run for run in text.runs if any(way.rows for way in run.ways.values()) or run.totals]
    ways = [_finish(run) for run in runs]
    runs, ways = each_once(runs, [run.links for run in runs], ways, text.remarks)
    pairs = zip(runs, ways, strict=True)
    unknown = [way for run, of_run in pairs if _is_of_unknown_end(run) for way in of_run]
    left_out = without_direction(unknown, knows_side=not any(map(_has_unknown_side, unknown)))
    note(left_out, "iperf-server-output", numbers=text.other_end)
    if any(_has_bytes_of_sender(run, way) for run in runs for way in run.ways.values()):
        left_out.append(Notice("udp-total-of-sender"))
    is_alone = len(runs) == 1 and not text.remarks.copies
    alone = printed_of(runs[0].command, ways[0]) | runs[0].verbose if is_alone else {}
    return to_samples(
        file, ways, text.remarks, left_out, tool="iperf3", version=text.version, printed=alone,
        host=text.host, start=text.start,
    )  # fmt: skip


def _begins_again(run: _Iperf3Run, line: str) -> bool:
    """Whether a line is of another run, pasted without its first line: the time begins again."""
    if read_connection(line) is not None:
        return any(way.rows for way in run.ways.values())
    interval = read_interval(line)
    if interval is None or interval.start_s > 0 or interval.is_sum:
        return False
    way = run.ways.get(_direction(run, interval)[0], transfer.Way(""))
    ends = [
        row.start_s + row.duration_s
        for row in way.rows
        if row.stream == interval.stream and not row.omitted
    ]
    return not _LABEL.search(interval.rest) and len(ends) > 1 and interval.end_s < ends[-1] - 0.01


def _iso(text: str) -> str:
    """Return a time of a verbose run as ISO 8601; nothing for one that is none."""
    try:
        return parsedate_to_datetime(text).astimezone(UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError):
        return ""


def _is_of_server(run: _Iperf3Run, line: str) -> bool:
    """Whether a line is of the server's own report, which a client prints inside its own."""
    if run.is_client and _SERVER_OUTPUT.fullmatch(line):
        run.is_of_server = True
        return True
    if not run.is_of_server:
        return False
    interval = read_interval(line)
    # With --bidir the client goes on behind it.
    is_back = interval is not None and interval.role.endswith("-C")
    run.is_of_server = not (is_back or "iperf Done." in line or _TARGET.search(line))
    return run.is_of_server


def _read_line(run: _Iperf3Run, line: str, remarks: Remarks, number: int) -> bool:
    """Read a line of a run; False if it says nothing of it."""
    if interval := read_interval(line):
        _interval(run, interval, remarks, number)
        return True
    if link := read_connection(line):
        run.links.append(link)
        return True
    if said := read_out_of_order(line):
        run.out_of_order.append(said)
        return True
    if "Interval" in line and "Transfer" in line:
        run.header, run.is_header_new = line, True
        return True
    if asked := _VERBOSE.search(line):
        names = {"rate": "asked_rate_bps", "write": "write_bytes"}
        run.verbose |= {names[key]: float(v) for key, v in asked.groupdict().items() if v}
    if starting := _STARTING.search(line):
        run.protocol = starting[1].lower()
        run.omitted_s = number_of(starting[2]) or nan
    elif sent := _SENT.search(line):
        run.sent_count = number_of(sent[1])
    elif congestion := _CONGESTION.search(line):
        run.congestion_control = congestion[1]
    elif "Reverse mode, remote host" in line:
        run.reverse = True
    elif "iperf Done." in line:
        run.done = True
    return False


def _interval(run: _Iperf3Run, interval: IntervalLine, remarks: Remarks, number: int) -> None:
    if not (run.has_end or run.ways or interval.role or run.reverse):
        _take_end(run, interval)
    direction, own = _direction(run, interval)
    way = run.way(direction)
    rest = interval.rest
    label = _LABEL.search(rest)
    losses = read_losses(rest)
    row = interval.row(own, omitted="(omitted)" in rest)
    row.line = number
    remarks.implausible += [(number, shown) for shown in implausible(interval, losses)]
    if losses is not None:
        losses.put_in(row)
    else:
        _put_counts(row, rest, run.header)
        if not _TAIL.fullmatch(rest):
            remarks.implausible.append((number, shorten(rest.strip())))
    if losses is not None or "Datagrams" in run.header:
        way.protocol = "udp"
    elif "Retr" in run.header:
        way.protocol = "tcp"
    if row.duration_s < 0:
        return
    if not label and _is_repeated(run, way, row):
        remarks.repeated += 1
        way.is_cut_short = True
        return
    if label or _is_total(way, row, interval):
        if not label:
            run.unlabelled.add(direction)
        side = label[1] if label else own if losses is None else transfer.SENDER
        run.totals.setdefault((direction, side), {})[row.stream] = row
    elif not interval.is_sum:
        way.rows.append(row)
        run.is_header_new = way.is_cut_short = False
    if not interval.is_sum:
        way.streams.add(row.stream)


def _take_end(run: _Iperf3Run, interval: IntervalLine) -> None:
    """Take the end that wrote a run without its first lines from the ports and the first interval.

    Of intervals, only those that a receiver prints have losses.
    """
    receives = bool(_LOSSES.match(interval.rest)) and not _LABEL.search(interval.rest)
    is_client = _is_client_by_ports(run.links[0]) if run.links else None
    if is_client is None:
        run.is_client = not receives
        return
    run.is_client, run.has_end = is_client, True
    run.reverse = is_client and receives


def _is_client_by_ports(link: StreamEnds) -> bool | None:
    """Whether the port of the other end is that of a server; None if that is not certain."""
    if (link.local_port == _PORT) != (link.remote_port == _PORT):
        return link.remote_port == _PORT
    is_local, is_remote = (port >= _CLIENT_PORTS for port in (link.local_port, link.remote_port))
    return is_local if is_local != is_remote else None


def _put_counts(row: transfer.Interval, rest: str, header: str) -> None:
    """Put the numbers behind the rate into the interval, as the header above says what they are."""
    count = _COUNT.match(rest)
    if count is None:
        return
    if "Total Datagrams" in header:
        row.datagram_count = number_of(count[1])
    elif "Retr" in header or (not header and (_CWND.match(rest) or _OF_SENDER.match(rest))):
        # Without a header the window behind it, or sender alone, shows that it is Retr.
        row.retransmit_count = number_of(count[1])
        if cwnd := _CWND.match(rest):
            row.cwnd_bytes = number_of(cwnd[2]) * 1024 ** transfer.POWERS[cwnd[3]]


def _direction(run: _Iperf3Run, interval: IntervalLine) -> tuple[str, str]:
    """Return the direction of a stream, and the side that wrote the line."""
    if interval.role:
        sends = interval.role.startswith("TX")
    elif run.is_client:
        sends = not run.reverse
    else:  # a server: the columns of a sender are others than those of a receiver
        sent_datagrams = "Total Datagrams" in run.header and "Lost/Total" not in run.header
        direct = "Retr" in run.header or sent_datagrams
        sends = direct if not run.ways else transfer.DOWNLOAD in run.ways
    direction = transfer.UPLOAD if sends == run.is_client else transfer.DOWNLOAD
    return direction, transfer.SENDER if sends else transfer.RECEIVER


def _is_repeated(run: _Iperf3Run, way: transfer.Way, row: transfer.Interval) -> bool:
    """Whether an interval is the last one of its stream again: the other end is gone.

    Behind a new header an equal line is the total of a run of one interval.
    """
    last = next((earlier for earlier in reversed(way.rows) if earlier.stream == row.stream), None)
    # As text, because an unknown number is not equal to itself.
    return last is not None and not run.is_header_new and repr(last) == repr(row)


def _is_total(way: transfer.Way, row: transfer.Interval, interval: IntervalLine) -> bool:
    """Whether an interval without a label is the total that versions before 3.7 give of UDP."""
    if row.omitted or row.start_s > 0 or interval.is_sum:
        return False
    ends = [
        earlier.start_s + earlier.duration_s
        for earlier in way.rows
        if earlier.stream == row.stream and not earlier.omitted
    ]
    return bool(ends) and row.duration_s >= ends[-1] - 0.01


def _finish(run: _Iperf3Run) -> list[transfer.Way]:
    """Return the directions of a run with their totals."""
    _take_for_total(run)
    exchanged = _has_exchanged(run)
    for direction, way in run.ways.items():
        own = transfer.side_of(direction, is_client=run.is_client)
        way.sent, way.received = (
            _total(run.totals.get((direction, side)), is_certain=exchanged or side == own)
            for side in (transfer.SENDER, transfer.RECEIVER)
        )
        _udp(run, way, exchanged=exchanged)
        way.out_of_order_count = sum_out_of_order(
            [said for said in run.out_of_order if len(run.ways) == 1 or _is_of(said, run, way)]
        )
        omitted = [row.start_s + row.duration_s for row in way.rows if row.omitted]
        way.omitted_s = run.omitted_s if run.omitted_s > 0 else max(omitted, default=nan)
        if not (run.protocol or way.protocol):  # a receiver of TCP has no header of its own
            has_losses = any(not isnan(row.datagram_count) for row in way.rows)
            way.protocol = "udp" if has_losses else "tcp"
        way.protocol = run.protocol or way.protocol
        way.congestion_control = run.congestion_control
        way.partial = run.interrupted or way.is_cut_short or not (way.sent or way.received)
        both = way.sent and way.received
        way.partial |= run.is_client and not (exchanged and (both or run.done))
    return transfer.in_order(run.ways)


def _is_of(said: OutOfOrder, run: _Iperf3Run, way: transfer.Way) -> bool:
    """Whether a line of datagrams out of order has the role of a direction (``--bidir``)."""
    is_upload = said.role.startswith("TX") == run.is_client
    return bool(said.role) and is_upload == (way.direction == transfer.UPLOAD)


def _total(
    parts: dict[str, transfer.Interval] | None, *, is_certain: bool
) -> transfer.Interval | None:
    """Return the total of one side; a 0 of the other end may say that it never sent its count."""
    total = transfer.join_totals(parts) if parts else None
    if total is None or not (is_certain or total.payload_bytes > 0):
        return None
    if total.duration_s == 0:
        total.duration_s = nan  # below the digits
    return total


def _take_for_total(run: _Iperf3Run) -> None:
    """Take the only line of losses for the total that it is, where the lines above are missing.

    A client that sends prints losses in its total alone, and behind it how many it sent.
    """
    if run.totals or isnan(run.sent_count):
        return
    for direction, way in run.ways.items():
        if len(way.rows) == 1 and not isnan(way.rows[0].datagram_count):
            row = way.rows.pop()
            run.unlabelled.add(direction)
            run.totals[direction, transfer.SENDER] = {row.stream: row}
            run.is_client = direction == transfer.UPLOAD


def _has_exchanged(run: _Iperf3Run) -> bool:
    """Whether a client received the server's counts, which come with the end of the test.

    Of an interrupted client standard output has no word of that: only ``iperf Done.`` is missing,
    and all counts of the other end are 0.
    """
    if not run.is_client or run.interrupted:
        return False
    other = {transfer.UPLOAD: transfer.RECEIVER, transfer.DOWNLOAD: transfer.SENDER}
    counts = [
        count
        for (direction, side), parts in run.totals.items()
        for total in parts.values()
        for count in (
            *((total.payload_bytes,) if side == other[direction] else ()),
            *((total.lost_count, total.jitter_s) if direction in run.unlabelled else ()),
        )
    ]
    return run.done or any(count > 0 for count in counts)


def _udp(run: _Iperf3Run, way: transfer.Way, *, exchanged: bool) -> None:
    """Take the losses of a single total of UDP for the receiver's, its bytes for the sender's.

    Where a total is labelled, a sender's losses are always 0 and nobody's.
    """
    own = transfer.side_of(way.direction, is_client=run.is_client)
    single = run.totals.get((way.direction, transfer.SENDER), {})
    lost = transfer.join_totals(single) if single else None
    is_single = way.direction in run.unlabelled and way.received is None
    knows = exchanged or own == transfer.RECEIVER
    if lost is not None and is_single and knows and not isnan(lost.lost_count):
        way.received = transfer.Interval(
            jitter_s=lost.jitter_s, lost_count=lost.lost_count, datagram_count=lost.datagram_count
        )
    if way.sent is None:
        return
    way.sent.lost_count = way.sent.jitter_s = nan
    if isnan(way.sent.datagram_count):
        way.sent.datagram_count = run.sent_count


def _is_of_unknown_end(run: _Iperf3Run) -> bool:
    """Whether no line says which end wrote the run, so that its direction is not known."""
    return not (run.has_end or len(run.ways) > 1 or run.reverse or not isnan(run.sent_count))


def _has_unknown_side(way: transfer.Way) -> bool:
    """Whether all intervals are without counts that only one end has."""
    counts = [(row.retransmit_count, row.datagram_count) for row in way.rows]
    return bool(counts) and all(isnan(count) for pair in counts for count in pair)


def _has_bytes_of_sender(run: _Iperf3Run, way: transfer.Way) -> bool:
    """Whether a receiver printed the sender's bytes as its total, and others in its intervals."""
    came = transfer.sum_of_side(way.rows, transfer.RECEIVER)
    if way.direction not in run.unlabelled or way.sent is None or came is None:
        return False
    return abs(way.sent.payload_bytes - came.payload_bytes) > 0.03 * way.sent.payload_bytes


FORMAT = Format(
    name="iperf3 text",
    description="the text output of iperf3",
    recognize=_recognize,
    read=_read,
    traps=(
        "KBytes are 1024 bytes and Mbits 1000 kbit, in one line.",
        "Sender and receiver count apart, and both are kept.",
        "The receiver's 0.00 Bytes of an interrupted client, and the sender's of a server, mean "
        "unknown; that it was interrupted may show in nothing but the missing iperf Done.",
        "The losses in a line that ends in sender are always 0, and no count of anybody.",
        "A server whose client is gone prints its last interval twice, and a total that counts "
        "what came later over the time before it.",
        "The server's own report inside that of a client (--get-server-output) is no second run.",
        "The only total of UDP before 3.7 has the bytes that were sent and the receiver's losses: "
        "the intervals have the bytes that came.",
        "A total that its own intervals contradict, or a rate that is not the bytes in the time, "
        "is not used.",
        "A [SUM] is not a stream, and a line that ends in sender or receiver is not an interval.",
        "A number behind the rate is Retr or Total Datagrams, as the header above it says.",
        "With --bidir the role in the line says the direction.",
        "Omitted intervals are kept and marked; they are in no total.",
        "A line like an interval that cannot be read with certainty is named.",
        "A command of the client above its output says -b, -l, -w, --dont-fragment; one whose -u, "
        "-R or -P is not that of the output is of another run and not used.",
        "Lines without their first lines have an unknown direction; of intervals only those of a "
        "receiver have losses.",
    ),
    parts=(
        r"^.{0,60}?\[ ID\](?:\[Role\])? Interval {5,}Transfer +(?:Bitrate|Bandwidth)",
        r"^.{0,60}?(?:iperf Done\.|iperf 3\.\d)",
        r"^.{0,60}?(?:Cookie: [a-z2-7]{36}|TCP MSS: \d+ \(default\)|Target Bitrate: \d+)$",
        r"^.{0,60}?(?:snd|rcv)_tcp_congestion \w+$|^CPU Utilization: local/",
        r"^.{0,60}?Control connection MSS \d+|^.{0,60}?Starting Test: protocol: ",
    ),
    needs="a line with a time in sec and a rate in bits/sec",
)
