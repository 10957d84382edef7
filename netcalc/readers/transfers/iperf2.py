"""Output of iperf 2: text, plain and enhanced (``-e``), and lines of commas (``-y C``).

In all of them the last line of a stream, from 0 to its end, is the total of its intervals; a line
alone is both. A server's report that a client of UDP prints is the receiver's total.

Plain lines of commas have fields by position and no header. Nine: when, address and port of one
end, of the other, stream, interval, bytes, bit/s. Fourteen, of UDP: jitter in ms, datagrams lost,
all datagrams, loss in percent, datagrams out of order. Which end wrote a line is not in it.
Versions up to 2.0 write their own end first, so that a first port below the other is a server's,
which received. Later ones write the client first on both ends: a line of TCP is taken for the
client's, with a warning; a line of UDP with a jitter is a receiver's.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from statistics import median

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import csv_rows, shorten
from netcalc.readers.transfers.iperf_lines import (
    Command,
    Connection,
    Interval,
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
    RECEIVER,
    SENDER,
    UPLOAD,
    Row,
    Total,
    Way,
    columns_of,
    flow_series,
    join_totals,
    name_groups,
    origin,
    total_of,
    whole_lines,
)
from netcalc.samples import FlowSeries, Meta

_CLIENT = re.compile(r"Client connecting to (\S+?), (TCP|UDP) port (\d{1,5})(?!\d)")
_SERVER = re.compile(r"Server listening on (TCP|UDP) port (\d{1,5})(?!\d)")
_ALONE = r"^\[(?: *\d+|SUM)\] +\d+\.(?:\d|\d{4})- *\d+\.(?:\d|\d{4}) +sec +[\d.]+ [KMGT]?Bytes"
"""An interval alone: one or four decimals, where iperf3 has two."""
_REPORT = re.compile(r"\[\s*(?:\*\s*)?(\d+)\] Server Report:")
_SENT = re.compile(r"\[\s*(?:\*\s*)?(\d+)\] Sent (\d+) datagrams")
_FAILED = re.compile(
    r"((?:tcp |udp )?(?:connect|write|read|bind|listener bind|socket)\w* failed.*)"
    r"|WARNING: (did not receive ack.*|ack of last datagram failed.*)"
)
_SOCKET = re.compile(r"\bicwnd/mss/irtt=\d{1,9}/(?P<mss>\d{1,9})/(?P<rtt>\d{1,12})\b")
_WRITES = re.compile(
    r"\s+\d+/\d+\s+(?P<retries>-?\d+)"
    r"(?:\s+(?P<cwnd>-?\d+)K/(?P<rtt>-?\d+)(?:\((?P<rttvar>-?\d+)\))? us)?"
)


@dataclass(slots=True)
class _Run:
    """The lines of one test, or of one connection of a server."""

    is_client: bool
    protocol: str
    port: int
    target: str = ""
    ways: dict[str, Way] = field(default_factory=dict)
    links: dict[str, Connection] = field(default_factory=dict)
    totals: dict[tuple[str, str], dict[str, Total]] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)
    sent_counts: dict[str, float] = field(default_factory=dict)

    def way(self, direction: str) -> Way:
        """Return a direction of the run."""
        made = Way(direction, protocol=self.protocol, target=self.target)
        return self.ways.setdefault(direction, made)


def _recognize_text(given: Input) -> bool:
    return (
        given.seen(_CLIENT.pattern)
        or given.seen(_SERVER.pattern)
        or given.seen(r"^\[ *\d+\] local \S+ port \d+ connected with \S+ port \d+")
        or given.seen(_ALONE)
    )


def _read_text(given: Input) -> FlowSeries:
    text = given.text
    runs: list[_Run] = []
    remarks = Remarks()
    commands: list[Command] = []
    sums: list[Interval] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if command := read_command(line):
            commands.append(command)
        if failed := _FAILED.search(line):
            remarks.messages.append(shorten(failed[1] or failed[2], 100))
            continue
        if _begin_run(runs, line):
            continue
        found = read_interval(line)
        if found is not None:
            run = _run_of(runs, found.stream)
            if found.is_sum:
                sums.append(replace(found, stream="all"))
            if not _interval(run, found):
                remarks.implausible.append(number)
        elif report := _REPORT.search(line):
            _run_of(runs, report[1]).reported.add(report[1])
        elif sent := _SENT.search(line):
            _run_of(runs, sent[1]).sent_counts[sent[1]] = number_of(sent[2])
        elif looks_like_interval(line) and "datagrams received out-of-order" not in line:
            remarks.unread.append(number)
    if sums and len(runs) == 1 and not runs[0].ways:
        for found in sums:  # of lines that are not there
            _interval(runs[0], found)
    runs = [run for run in runs if run.totals or any(way.rows for way in run.ways.values())]
    ways = [_finish(run) for run in runs]
    alone = len(runs) == len(commands) == 1 and runs[0].is_client
    printed = printed_of(commands[0], ways[0]) if alone else {}
    return to_samples(given, ways, remarks, tool="iperf 2", printed=printed)


def _begin_run(runs: list[_Run], line: str) -> bool:
    """Begin a run where a client starts, or where a server is connected to the next one."""
    if client := _CLIENT.search(line):
        protocol, port = client[2].lower(), int(client[3])
        begun = runs and not runs[-1].links and not runs[-1].is_client
        made = _Run(is_client=True, protocol=protocol, port=port, target=client[1])
        if begun:
            runs[-1] = made  # a dual test: the client has a server of its own
        else:
            runs.append(made)
        return True
    if server := _SERVER.search(line):
        if not runs or not runs[-1].is_client or runs[-1].ways:
            protocol, port = server[1].lower(), int(server[2])
            runs.append(_Run(is_client=False, protocol=protocol, port=port))
        return True
    link = read_connection(line)
    if link is None:
        return False
    if not runs:
        runs.append(_Run(is_client=True, protocol="", port=link.remote_port))
    if runs[-1].ways and not runs[-1].is_client:
        last = runs[-1]
        runs.append(_Run(is_client=False, protocol=last.protocol, port=last.port))
    runs[-1].links[link.stream] = link
    return True


def _run_of(runs: list[_Run], stream: str) -> _Run:
    """Return the latest run that has a stream."""
    if not runs:
        runs.append(_Run(is_client=True, protocol="", port=0))
    return next((run for run in reversed(runs) if stream in run.links), runs[-1])


def _interval(run: _Run, found: Interval) -> bool:
    """Add a line to a run; False if a part of it cannot be right."""
    if found.is_sum:
        return True  # a sum of the lines above it
    report = found.stream in run.reported
    link = run.links.get(found.stream)
    back = found.starred or (link is not None and "(reverse)" in link.rest)
    if run.is_client and link is not None and link.remote_port != run.port:
        back = True  # the server's half of a dual test
    direction = DOWNLOAD if back else UPLOAD
    sends = run.is_client != back
    own = SENDER if sends else RECEIVER
    way = run.way(direction)
    stream = f"{found.stream}" if not found.starred else f"*{found.stream}"
    row = Row(
        start_s=found.start_s,
        duration_s=found.end_s - found.start_s,
        payload_bytes=found.byte_count,
        throughput_bps=found.rate_bps,
        stream=stream,
        side=own,
    )
    if row.duration_s < 0:
        return False
    right = found.right
    losses = read_losses(found.rest)
    if losses is not None:
        way.protocol = way.protocol or "udp"
        row.jitter_s, row.lost_count = losses.jitter_s, losses.lost_count
        row.datagram_count = losses.datagram_count
        right = right and not losses.implausible
    elif writes := _WRITES.match(found.rest):
        row.retransmit_count = _known(writes["retries"])
        row.cwnd_bytes = _known(writes["cwnd"]) * 1024
        row.rtt_s = _known(writes["rtt"]) / 1e6
        row.rttvar_s = _known(writes["rttvar"]) / 1e6
    way.streams.add(stream)
    earlier = [one for one in way.rows if one.stream == stream]
    if report:
        run.totals.setdefault((direction, RECEIVER), {})[stream] = total_of(row)
    elif earlier and row.start_s == 0.0:
        run.totals.setdefault((direction, own), {})[stream] = total_of(row)
    else:
        way.rows.append(row)
    return right


def _known(text: str | None) -> float:
    """Return a number; nan if there is none, or if it is below 0: the kernel had none."""
    return NAN if text is None or text.startswith("-") else number_of(text)


def _finish(run: _Run) -> list[Way]:
    """Return the directions of a run with their totals."""
    for direction, way in run.ways.items():
        sent, received = (run.totals.get((direction, side)) for side in (SENDER, RECEIVER))
        way.sent = join_totals(sent) if sent else None
        way.received = join_totals(received) if received else None
        if way.received is not None and math.isnan(way.received.datagram_count):
            way.received.datagram_count = math.fsum(run.sent_counts.values()) or NAN
        lengths = dict.fromkeys(way.streams, 0)
        for row in way.rows:
            lengths[row.stream] += 1
        own = sent if (direction == UPLOAD) == run.is_client else received
        unfinished = [stream for stream, count in lengths.items() if count > 1]
        way.partial = any(stream not in (own or {}) for stream in unfinished)
        way.protocol = way.protocol or "tcp"
        _add_sockets(run, way)
    return [run.ways[name] for name in (UPLOAD, DOWNLOAD) if name in run.ways]


def _add_sockets(run: _Run, way: Way) -> None:
    """Add what the lines of the connections say of their sockets (``-e``)."""
    links = [run.links[one] for one in sorted(way.streams) if one in run.links]
    found = [socket for link in links if (socket := _SOCKET.search(link.rest))]
    sizes = {float(one["mss"]) for one in found}
    if len(found) == len(way.streams) and found:
        way.rtt_s = float(median(float(one["rtt"]) for one in found)) / 1e6
        way.mss_bytes = sizes.pop() if len(sizes) == 1 else NAN


TEXT = Format(
    name="iperf 2",
    description="the text output of iperf 2",
    recognize=_recognize_text,
    read=_read_text,
    traps=(
        "KBytes are 1024 bytes and Mbits 1000 kbit, in one line; cwnd has K of 1024 bytes.",
        "The last line of a stream, from 0, is the total of its intervals and no interval.",
        "A [SUM] is not a stream.",
        "The server's report that a client prints is the receiver's count.",
        "An asterisk, (reverse), or a connection to the client's own port is the way back.",
        "Datagrams sent and datagrams in the server's report differ by the last one.",
        "The mss of a connection has no TCP options in it, its irtt is in microseconds.",
        "A jitter below 0, a loss below 0 or above all is unknown, with its line.",
    ),
)


_LINE = (
    r"^\d{14}(?:\.\d{1,6})?(?:[+-]\d{4})?,[0-9A-Fa-f.:%\w]*,\d{1,5},[0-9A-Fa-f.:%\w]*,\d{1,5},-?\d{1,9},"
    r"\d+\.\d+-\d+\.\d+,-?\d+,-?\d+(?:,|$)"
)
_PLAIN, _UDP = 9, 14
_SUM = "-1"
_CLIENT_PORTS = 32768  # where systems begin to choose ports of their own


@dataclass(slots=True)
class _Stream:
    """The lines of one stream of one run."""

    ends: tuple[str, ...]
    width: int
    receives: bool
    rows: list[Row] = field(default_factory=list)
    total: Total | None = None
    report: Total | None = None


def _recognize_csv(given: Input) -> bool:
    return given.seen(_LINE)


def _read_csv(given: Input) -> FlowSeries:
    text = given.text
    runs: list[dict[str, _Stream]] = []
    unread: list[int] = []
    odd: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        line = line.rstrip()
        if not re.match(_LINE, line):
            if line.strip():
                unread.append(number)
            continue
        (cells,) = csv_rows([(number, line)], given.unpacked)
        if len(cells) not in (_PLAIN, _UDP):
            raise ReaderError(
                "iperf-csv-width",
                file=given.name,
                line=number,
                count=len(cells),
                value=shorten(line),
            )
        if cells[5] != _SUM and not _add(runs, cells):
            odd.append(number)
    if not runs:
        raise ReaderError("iperf-nothing", file=given.name)
    ways = [_ways(run) for run in runs]
    warnings = list(text.warnings)
    if unread:
        warnings.append(Notice("not-lines-of-iperf", {"numbers": unread}))
    if odd:
        warnings.append(Notice("implausible-lines", {"numbers": odd}))
    if any(way.sent and not way.received for one in ways for way in one):
        warnings.append(Notice("iperf-csv-side"))
    return flow_series(given, ways, warnings, tool="iperf 2")


def _add(runs: list[dict[str, _Stream]], cells: list[str]) -> bool:
    """Add a line to its stream; False if a part of it cannot be right."""
    row, right = _row(cells)
    ends = tuple(sorted([",".join(cells[1:3]), ",".join(cells[3:5])]))
    known = runs[-1].get(cells[5]) if runs else None
    report = known is not None and known.width < len(cells) and known.ends == ends
    if known is not None and report:
        known.report = total_of(row)
        return right
    again = known is not None and (known.ends != ends or (row.start_s == 0 and known.total))
    if not runs or again:
        runs.append({})
    first, second = int(cells[2]), int(cells[4])
    made = _Stream(ends, len(cells), receives=first < second and first < _CLIENT_PORTS)
    stream = runs[-1].setdefault(cells[5], made)
    stream.receives |= row.jitter_s > 0
    if stream.rows and row.start_s == 0:
        stream.total = total_of(row)
    else:
        stream.rows.append(row)
    return right


def _row(cells: list[str]) -> tuple[Row, bool]:
    begin, end = (_number(part) for part in cells[6].split("-"))
    size, rate = _number(cells[7]), _number(cells[8])
    row = Row(
        start_s=begin,
        duration_s=max(end - begin, 0.0),
        payload_bytes=NAN if size < 0 else size,
        throughput_bps=NAN if rate < 0 else rate,
        stream=cells[5],
    )
    right = size >= 0 and rate >= 0 and end >= begin
    if len(cells) == _UDP:
        jitter, lost, packets = (_number(cell) for cell in cells[9:12])
        unknown = packets == -1  # the last line of a client
        bad = not unknown and (jitter < 0 or lost < 0 or lost > packets)
        row.jitter_s = NAN if jitter < 0 else jitter / 1e3
        row.lost_count = NAN if unknown or lost < 0 or lost > packets else lost
        row.datagram_count = NAN if packets < 0 else packets
        right = right and not bad
    return row, right


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        return NAN
    return value if math.isfinite(value) else NAN


def _ways(run: dict[str, _Stream]) -> list[Way]:
    """Return the directions of a run; where it has both, received streams are the download."""
    both = len({stream.receives for stream in run.values()}) == 2
    ways = []
    for receives in (False, True):
        chosen = {name: one for name, one in run.items() if one.receives == receives}
        if not chosen:
            continue
        way = Way(DOWNLOAD if both and receives else UPLOAD)
        way.streams.update(chosen)
        way.rows = [row for one in chosen.values() for row in one.rows]
        udp = any(one.width == _UDP or one.report for one in chosen.values())
        way.protocol = "udp" if udp else "tcp"
        side = RECEIVER if receives else SENDER
        for row in way.rows:
            row.side = side
            if not receives:  # what a sender writes there is 0 in any case
                row.jitter_s = row.lost_count = NAN
        totals = {
            name: one.total or total_of(one.rows[0])
            for name, one in chosen.items()
            if one.total or len(one.rows) == 1
        }
        way.partial = len(totals) < len(chosen)
        total = None if way.partial else join_totals(totals)
        reports = {name: one.report for name, one in chosen.items() if one.report}
        way.sent, way.received = (None, total) if receives else (total, None)
        if reports:
            way.received = join_totals(reports)
        ways.append(way)
    return ways


CSV = Format(
    name="iperf 2 CSV",
    description="the lines of commas of iperf 2",
    recognize=_recognize_csv,
    read=_read_csv,
    traps=(
        "Fields have no names: nine of TCP and fourteen of UDP; another number is refused.",
        "The line does not say which end wrote it: versions up to 2.0 write their own end first, "
        "later ones the client.",
        "The last line of a stream, from 0, is the total of its intervals and no interval.",
        "Stream -1 is a sum; -1 datagrams in a client's last line are unknown.",
        "A client of UDP writes 0 for jitter and losses: unknown, until the server's report.",
    ),
)


_HEADER = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,"
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,9})?")


@dataclass(slots=True)
class _Table:
    """The lines below one header: which end wrote them, and what each stream carried."""

    names: list[str]
    rows: dict[str, list[Row]] = field(default_factory=dict)
    totals: dict[str, Total] = field(default_factory=dict)
    target: str = ""

    @property
    def receives(self) -> bool:
        """Whether the fields are those of an end that reads."""
        return "readcnt" in self.names

    @property
    def udp(self) -> bool:
        """Whether the fields are those of datagrams."""
        return "datagrams" in self.names


def _recognize_enhanced_csv(given: Input) -> bool:
    return given.seen(rf"^{_HEADER}")


def _read_enhanced_csv(given: Input) -> FlowSeries:
    warnings: list[Notice] = []
    unread: list[int] = []
    runs: list[_Table] = []
    lines, cut = whole_lines(given, warnings)
    for number, line in lines:
        if line.startswith(_HEADER):
            runs.append(_Table(line.strip().split(",")))
        elif runs and re.match(r"\d", line):
            _add_named(given, runs, number, line.strip().split(","))
        elif line.strip():
            unread.append(number)
    runs = [run for run in runs if run.rows or run.totals]
    if not runs:
        raise ReaderError("iperf-nothing", file=given.name)
    if unread:
        warnings.append(Notice("not-lines-of-iperf", {"numbers": unread}))
    ways = [_way(run) for run in runs]
    ways[-1].partial |= cut
    name_groups([[way] for way in ways])
    return FlowSeries(
        **columns_of(ways),
        meta=Meta(
            tool="iperf 2",
            target=", ".join(dict.fromkeys(way.target for way in ways if way.target)),
            clock="seconds since the start of the run",
            facts=tuple(way.facts() for way in ways),
            warnings=tuple(warnings),
            partial=given.unpacked.grew or any(way.partial for way in ways),
            **origin(given),
        ),
    )


def _add_named(given: Input, runs: list[_Table], number: int, cells: list[str]) -> None:
    """Add a line to the last run, or to another one with the same fields that it begins."""
    run = runs[-1]
    if len(cells) != len(run.names):
        raise ReaderError(
            "iperf-csv-fields",
            file=given.name,
            line=number,
            count=len(cells),
            wanted=len(run.names),
            value=shorten(",".join(cells)),
        )
    named = dict(zip(run.names, cells, strict=True))
    stream = named["transferid"]
    if stream == _SUM:
        return
    row = _named_row(given, run, number, named)
    if stream in run.totals and row.start_s == 0:
        run = _Table(run.names)
        runs.append(run)
    run.target = run.target or shorten(named["dstaddr"], 100)
    kept = run.rows.setdefault(stream, [])
    if kept and row.start_s == 0:
        run.totals[stream] = total_of(row)
    else:
        kept.append(row)


def _named_row(given: Input, run: _Table, number: int, named: dict[str, str]) -> Row:
    values: dict[str, float] = {}
    for name in (
        "istart", "iend", "bytes", "speed", "jitter", "errors", "datagrams", "tcpretry", "tcpcwnd",
        "tcprtt", "tcprttvar",
    ):  # fmt: skip
        text = named.get(name, "")
        if name in named and not _NUMBER.fullmatch(text):
            raise ReaderError(
                "iperf-csv-number", file=given.name, line=number, field=name, value=shorten(text)
            )
        value = float(text) if text else NAN
        values[name] = NAN if value < 0 else value  # -1 is what a system without it writes
    known = values["tcprtt"] > 0  # without details of TCP all of them are 0
    lost, datagrams = values["errors"], values["datagrams"]
    return Row(
        start_s=values["istart"],
        duration_s=max(values["iend"] - values["istart"], 0.0),
        payload_bytes=values["bytes"],
        throughput_bps=values["speed"],
        stream=named["transferid"],
        side=RECEIVER if run.receives else SENDER,
        retransmit_count=values["tcpretry"] if known else NAN,
        cwnd_bytes=values["tcpcwnd"] * 1024 if known else NAN,
        rtt_s=values["tcprtt"] / 1e6 if known else NAN,
        rttvar_s=values["tcprttvar"] / 1e6 if known else NAN,
        jitter_s=values["jitter"] / 1e3 if run.receives else NAN,
        datagram_count=datagrams,
        lost_count=lost if run.receives and lost <= datagrams else NAN,
    )


def _way(run: _Table) -> Way:
    way = Way(UPLOAD, protocol="udp" if run.udp else "tcp", target=run.target)
    way.streams.update(run.rows)
    way.rows = [row for rows in run.rows.values() for row in rows]
    for name, rows in run.rows.items():
        if name not in run.totals and len(rows) == 1:
            run.totals[name] = total_of(rows[0])
    way.partial = len(run.totals) < len(run.rows)
    total = None if way.partial else join_totals(run.totals)
    if total is not None and math.isnan(total.retransmit_count):
        counts = [row.retransmit_count for row in way.rows]
        total.retransmit_count = math.fsum(counts)
    way.sent, way.received = (None, total) if run.receives else (total, None)
    return way


ENHANCED_CSV = Format(
    name="iperf 2 enhanced CSV",
    description="the enhanced lines of commas of iperf 2",
    recognize=_recognize_enhanced_csv,
    read=_read_enhanced_csv,
    traps=(
        "A header names the fields; a line with more or fewer is refused.",
        "Fields with readcnt are of the end that received, those with writecnt of the sender.",
        "speed is in bit/s, jitter in ms, tcprtt in microseconds, tcpcwnd in units of 1024 bytes.",
        "The last line of a stream, from 0, is the total of its intervals and no interval.",
        "Transfer -1 is a sum of streams and no stream; -1 in other fields is unknown.",
        "Losses and jitter that a sender writes are 0 in any case: unknown.",
    ),
)
