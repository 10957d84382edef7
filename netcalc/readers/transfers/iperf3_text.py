"""The text output of iperf3, of client and server.

Intervals have at most four digits; the totals of the last lines, one of the sender and one of the
receiver, are the facts. Headers say what the numbers behind a rate are.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers.iperf_lines import (
    IntervalLine,
    IperfCommand,
    Remarks,
    looks_like_interval,
    number_of,
    printed_of,
    read_command,
    read_connection,
    read_interval,
    read_losses,
    to_samples,
)
from netcalc.readers.transfers.runs import (
    DOWNLOAD,
    NAN,
    POWERS,
    RECEIVER,
    SENDER,
    UPLOAD,
    Interval,
    Total,
    Way,
    join_totals,
    sum_of_side,
    total_of,
)
from netcalc.samples import FlowSeries

_MARKS = {
    "Connecting to host ": r"Connecting to host \S+, port \d+",
    "Server listening on ": r"Server listening on \d+",
    "Accepted connection from ": r"Accepted connection from \S+, port \d+",
    " connected to ": r"\[ *\d+\] local \S+ port \d+ connected to \S+ port \d+",
    " sec ": r"\[(?: *\d+|SUM)\] +\d+\.\d\d-\d+\.\d\d {2,}sec +[\d.]+ [KMGT]?Bytes",
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
_TIME = re.compile(r"Time: (\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC))")
_ERROR = re.compile(r"iperf3: (.*)")
_CONGESTION = re.compile(r"snd_tcp_congestion (\S+)")
_CWND = re.compile(r"\s*(\d+)\s+(\d+(?:[.,]\d+)?) ([KMG]?)Bytes")
_COUNT = re.compile(r"\s*(\d+)(?=\s|$)")
_SENT = re.compile(r"\[\s*\d+\] Sent (\d+) datagrams")
_FLUSHED = re.compile(r"\bthe (?:client|server) has terminated")
_SERVER_OUTPUT = re.compile(r"Server (?:JSON )?output:\s*")


@dataclass(slots=True)
class _Iperf3Run:
    """The lines of one test."""

    is_client: bool
    target: str = ""
    reverse: bool = False
    protocol: str = ""
    omitted_s: float = NAN
    congestion_control: str = ""
    done: bool = False
    interrupted: bool = False
    is_of_server: bool = False
    """Whether the lines are those of the other end (``--get-server-output``)."""
    header: str = ""
    is_header_new: bool = False
    ways: dict[str, Way] = field(default_factory=dict)
    totals: dict[tuple[str, str], dict[str, Total]] = field(default_factory=dict)
    unlabelled: set[str] = field(default_factory=set)
    """Directions whose total is one for both sides, as before version 3.7."""
    sent_count: float = NAN
    command: IperfCommand | None = None
    verbose: dict[str, float] = field(default_factory=dict)
    """What a verbose client says it was asked for."""

    def way(self, direction: str) -> Way:
        """Return a direction of the run."""
        return self.ways.setdefault(direction, Way(direction, target=self.target))


def _recognize(file: Input) -> bool:
    if file.is_json:
        return False
    # The plain words first: a search for a mark looks at 60 characters from every one.
    return any(
        word in file.first and file.seen(rf"^.{{0,60}}?{mark}") for word, mark in _MARKS.items()
    )


def _read(file: Input) -> FlowSeries:
    text = file.text
    runs: list[_Iperf3Run] = []
    remarks = Remarks()
    other_end: list[int] = []
    version = ""
    host = start = ""
    command: IperfCommand | None = None
    for number, line in zip(text.numbers, text.lines, strict=True):
        version = version or "".join(_VERSION.findall(line)[:1])
        if error := _ERROR.search(line):
            remarks.messages.append(shorten(error[1], 100))
            if runs and _FLUSHED.search(line):
                runs[-1].interrupted = True
            continue
        if runs and _is_of_server(runs[-1], line):
            other_end.append(number)
            continue
        command = read_command(line) or command
        if system := _SYSTEM.fullmatch(line.strip()):
            host = host or shorten(system[0], 200)
        if time := _TIME.fullmatch(line.strip()):
            start = start or _iso(time[1])
        begun = len(runs)
        _open_run(runs, line)
        if len(runs) > begun and runs[-1].is_client:
            runs[-1].command, command = command, None
        if not runs:
            runs.append(_Iperf3Run(is_client=True))
        if not _read_line(runs[-1], line, remarks, number) and looks_like_interval(line):
            remarks.unread.append(number)
    early = any(_FLUSHED.search(message) for message in remarks.messages)
    if early and len(runs) == 1:
        # Standard error may come before all lines of standard output.
        runs[0].interrupted = True
    runs = [run for run in runs if any(way.rows for way in run.ways.values()) or run.totals]
    ways = [_finish(run) for run in runs]
    left_out = [Notice("iperf-server-output", {"numbers": other_end})] if other_end else []
    printed = {}
    if len(runs) == 1:
        printed = printed_of(runs[0].command, ways[0]) | runs[0].verbose
    return to_samples(
        file, ways, remarks, left_out, tool="iperf3", version=version, printed=printed,
        host=host, start=start,
    )  # fmt: skip


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


def _open_run(runs: list[_Iperf3Run], line: str) -> None:
    """Begin a run where a client connects or a server accepts."""
    target, accepted = _TARGET.search(line), _ACCEPTED.search(line)
    if target:
        runs.append(_Iperf3Run(is_client=True, target=target[1]))
        return
    if not accepted and "Server listening on " not in line:
        return
    if not runs or (accepted and (runs[-1].ways or runs[-1].is_client)):
        runs.append(_Iperf3Run(is_client=False))


def _read_line(run: _Iperf3Run, line: str, remarks: Remarks, number: int) -> bool:
    """Read a line of a run; False if it says nothing of it."""
    if interval := read_interval(line):
        _interval(run, interval, remarks, number)
        return True
    if read_connection(line) is not None:
        return True
    if "Interval" in line and "Transfer" in line:
        run.header, run.is_header_new = line, True
        return True
    if said := _VERBOSE.search(line):
        names = {"rate": "asked_rate_bps", "write": "write_bytes"}
        run.verbose |= {names[key]: float(v) for key, v in said.groupdict().items() if v}
    if starting := _STARTING.search(line):
        run.protocol = starting[1].lower()
        run.omitted_s = number_of(starting[2]) or NAN
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
    direction, own = _direction(run, interval)
    way = run.way(direction)
    rest = interval.rest
    label = re.search(r"\b(sender|receiver)\s*$", rest)
    losses = read_losses(rest)
    if not interval.right or (losses is not None and losses.implausible):
        remarks.implausible.append(number)
    row = interval.row(own, omitted="(omitted)" in rest)
    if losses is not None:
        losses.put_in(row)
    elif "Total Datagrams" in run.header and (count := _COUNT.match(rest)):
        row.datagram_count = number_of(count[1])
    elif "Retr" in run.header and (count := _COUNT.match(rest)):
        row.retransmit_count = number_of(count[1])
        if cwnd := _CWND.match(rest):
            row.cwnd_bytes = number_of(cwnd[2]) * 1024 ** POWERS[cwnd[3]]
    if losses is not None or "Datagrams" in run.header:
        way.protocol = "udp"
    elif "Retr" in run.header:
        way.protocol = "tcp"
    if row.duration_s < 0:
        remarks.implausible.append(number)
        return
    if not label and _is_repeated(run, way, row):
        remarks.repeated += 1
        way.is_cut_short = True
        return
    if label or _is_total(way, row, interval):
        if not label:
            run.unlabelled.add(direction)
        side = label[1] if label else own
        run.totals.setdefault((direction, side), {})[row.stream] = total_of(row)
    elif not interval.is_sum:
        way.rows.append(row)
        run.is_header_new = way.is_cut_short = False
    if not interval.is_sum:
        way.streams.add(row.stream)


def _direction(run: _Iperf3Run, interval: IntervalLine) -> tuple[str, str]:
    """Return the direction of a stream, and the side that wrote the line."""
    if interval.role:
        sends = interval.role.startswith("TX")
    elif run.is_client:
        sends = not run.reverse
    else:  # a server: the columns of a sender are others than those of a receiver
        sent_datagrams = "Total Datagrams" in run.header and "Lost/Total" not in run.header
        direct = "Retr" in run.header or sent_datagrams
        sends = direct if not run.ways else DOWNLOAD in run.ways
    direction = UPLOAD if sends == run.is_client else DOWNLOAD
    return direction, SENDER if sends else RECEIVER


def _is_repeated(run: _Iperf3Run, way: Way, row: Interval) -> bool:
    """Whether an interval is the last one of its stream again: the other end is gone.

    Behind a new header an equal line is the total of a run of one interval.
    """
    last = next((earlier for earlier in reversed(way.rows) if earlier.stream == row.stream), None)
    # As text, because an unknown number is not equal to itself.
    return last is not None and not run.is_header_new and repr(last) == repr(row)


def _is_total(way: Way, row: Interval, interval: IntervalLine) -> bool:
    """Whether an interval without a label is the total that versions before 3.7 give of UDP."""
    if row.omitted or row.start_s > 0 or interval.is_sum:
        return False
    ends = [
        earlier.start_s + earlier.duration_s
        for earlier in way.rows
        if earlier.stream == row.stream and not earlier.omitted
    ]
    return bool(ends) and row.duration_s >= ends[-1] - 0.01


def _finish(run: _Iperf3Run) -> list[Way]:
    """Return the directions of a run with their totals."""
    _take_for_total(run)
    exchanged = _has_exchanged(run)
    for direction, way in run.ways.items():
        own = SENDER if (direction == UPLOAD) == run.is_client else RECEIVER
        for side in (SENDER, RECEIVER):
            parts = run.totals.get((direction, side))
            total = join_totals(parts) if parts else None
            if total and side != own and not exchanged and not total.byte_count > 0:
                total = None  # the other end never sent it
            if total and total.duration_s == 0:
                total.duration_s = NAN  # below the digits
            setattr(way, "sent" if side == SENDER else "received", total)
        _udp(run, way, exchanged=exchanged)
        _count_what_came(way)
        omitted = [row.start_s + row.duration_s for row in way.rows if row.omitted]
        way.omitted_s = run.omitted_s if run.omitted_s > 0 else max(omitted, default=NAN)
        if not (run.protocol or way.protocol):  # a receiver of TCP has no header of its own
            has_losses = any(not math.isnan(row.datagram_count) for row in way.rows)
            way.protocol = "udp" if has_losses else "tcp"
        way.protocol = run.protocol or way.protocol
        way.congestion_control = run.congestion_control
        way.partial = run.interrupted or way.is_cut_short or not (way.sent or way.received)
        both = way.sent and way.received
        way.partial |= run.is_client and not (exchanged and (both or run.done))
    return [run.ways[name] for name in (UPLOAD, DOWNLOAD) if name in run.ways]


def _take_for_total(run: _Iperf3Run) -> None:
    """Take the only line of losses for the total that it is, where the lines above are missing.

    A client that sends prints losses in its total alone, and behind it how many it sent.
    """
    if run.totals or math.isnan(run.sent_count):
        return
    for direction, way in run.ways.items():
        if len(way.rows) == 1 and not math.isnan(way.rows[0].datagram_count):
            row = way.rows.pop()
            run.unlabelled.add(direction)
            run.totals[direction, SENDER] = {row.stream: total_of(row)}


def _has_exchanged(run: _Iperf3Run) -> bool:
    """Whether a client received the server's counts, which come with the end of the test.

    Of an interrupted client standard output has no word of that: only ``iperf Done.`` is missing,
    and all counts of the other end are 0.
    """
    if not run.is_client or run.interrupted:
        return False
    other = {UPLOAD: RECEIVER, DOWNLOAD: SENDER}
    counts = [
        count
        for (direction, side), parts in run.totals.items()
        for total in parts.values()
        for count in (
            *((total.byte_count,) if side == other[direction] else ()),
            *((total.lost_count, total.jitter_s) if direction in run.unlabelled else ()),
        )
    ]
    return run.done or any(count > 0 for count in counts)


def _udp(run: _Iperf3Run, way: Way, *, exchanged: bool) -> None:
    """Take the losses of a single total of UDP for the receiver's, its bytes for the sender's.

    Where a total is labelled, a sender's losses are always 0 and nobody's.
    """
    if way.sent is None:
        return
    lost = way.sent
    is_single = way.direction in run.unlabelled and way.received is None and exchanged
    if is_single and not math.isnan(lost.lost_count):
        way.received = Total(
            jitter_s=lost.jitter_s, lost_count=lost.lost_count, datagram_count=lost.datagram_count
        )
    way.sent.lost_count = way.sent.jitter_s = NAN
    if math.isnan(way.sent.datagram_count):
        way.sent.datagram_count = run.sent_count


def _count_what_came(way: Way) -> None:
    """Take the receiver's bytes from its intervals where its total has those that were sent."""
    total, intervals = way.received, sum_of_side(way.rows, RECEIVER)
    if total is None or intervals is None or not total.lost_count > 0:
        return
    came = total.byte_count * (1 - total.lost_count / total.datagram_count)
    apart = abs(intervals.byte_count / came - 1) if came > 0 else math.inf
    if intervals.byte_count < 0.97 * total.byte_count and apart < 0.25:
        total.byte_count, total.rate_bps = intervals.byte_count, intervals.rate_bps


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
        "A receiver's total of 3.0 and 3.1 may have the bytes that were sent: its intervals have "
        "those that came.",
        "A [SUM] is not a stream, and a line that ends in sender or receiver is not an interval.",
        "A number behind the rate is Retr or Total Datagrams, as the header above it says.",
        "With --bidir the role in the line says the direction.",
        "Omitted intervals are kept and marked; they are in no total.",
        "A line like an interval that cannot be read with certainty is named.",
        "A command of the client above its output says -b, -l, -w, --dont-fragment; one whose -u, "
        "-R or -P is not that of the output is of another run and not used.",
    ),
)
