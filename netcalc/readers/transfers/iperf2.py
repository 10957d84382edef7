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

import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from math import fsum, isnan, nan
from statistics import median
from typing import Any

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input, groups_of, joined, seen
from netcalc.readers.lines import compiled
from netcalc.readers.places import (
    CLIENT,
    HANDSHAKE,
    REQUESTS,
    SEGMENTS,
    TRANSPORT,
    Counted,
    MeasuringPoint,
)
from netcalc.readers.source import WholeLines, csv_rows, note, shorten, unit_of
from netcalc.readers.transfers import iperf_text, transfer
from netcalc.samples import FlowSeries, Samples, Table, fact_row

_CLIENT = re.compile(r"Client connecting to (\S+?), (TCP|UDP) port (\d{1,5})(?!\S| \d)")
_SERVER = re.compile(r"Server listening on (TCP|UDP) port (\d{1,5})(?!\S| \d)")
_ALONE = (
    r"^\[(?: *\*? *\d+|SUM(?:-\d+)?)\] +"
    r"(?:\d+\.(?:\d|\d{4})- *\d+\.(?:\d|\d{4}) +|\d+\.\d\d-\d+\.\d\d )sec +[\d.]+ [KMGT]?Bytes"
)
"""An interval alone: one or four decimals, or two without the blanks that iperf3 has behind."""
_REPORT = re.compile(r"\[\s*(?:\*\s*)?(\d+)\] Server Report:")
_SENT = re.compile(r"\[\s*(?:\*\s*)?(\d+)\] Sent (\d+) datagrams")
_FAILED = re.compile(
    r"((?:tcp |udp )?(?:connect|write|read|bind|listener bind|socket)\w* failed.*)"
    r"|WARNING: (did not receive ack.*|ack of last datagram failed.*)"
)
_LIKE_HEAD = re.compile(
    r"(?:Client connecting to|Server listening on) .*\d|\[ *\*? *\S+\] local .*(?:connected with|$)"
)
"""The first line of a run or of a connection, of which a part is damaged."""
_LIKE_ROW = re.compile(r"\[ *(?:(?:\* *)?\d+|SUM)?(?:\] *[\d.]*(?:- *[\d.]*)?)? *")
"""The beginning of an interval."""
_SOCKET = re.compile(r"\bicwnd/mss/irtt=\d{1,9}/(?P<mss>\d{1,9})/(?P<rtt>\d{1,12})\b")
_EXCHANGES = compiled(
    r"\s*{reply_count}={mean_ms}/{least_ms}/{most_ms}(?:/{std_ms})? ms"
    r"(?:.*?\s(?:(?P<rps>\d[\d.]*) rps|RPS=(?P<last>\d[\d.]*)))?"
)
"""End of a line of ``--bounceback``: requests and their replies, no transfer."""
_SIZES = compiled(
    r".*?req/reply(?: size = {request_bytes} Byte/ *{response_bytes} Byte"
    r"|/hold=(?P<request>\d{1,9})/(?P<response>\d{1,9})/)"
)
_DAMAGED_LOSSES = re.compile(r"\d/\s*\S+ \(\S*%\)|\S/\s*\d\S* \(\S*%\)")
_DETAILS = re.compile(r"\s(?:[A-Z]{1,2}8(?:\(f\))?-PDF:|OWD |trip-time \()")
"""Lines behind a total: histograms (``T8-PDF: bin(w=1ms):...``), delays one way."""
_WRITES = re.compile(
    r"\s+\d+/\d+\s+(?P<retries>-?\d+)"
    r"(?:\s+(?:-?\d+K\(\d+\)/)?(?P<cwnd>-?\d+)K(?:\(\d+\))?"
    r"/(?P<rtt>-?\d+)(?:\((?P<rttvar>-?\d+)\))? us)?"
)


@dataclass(frozen=True, slots=True)
class _Exchanges:
    """What a line says of requests and their replies."""

    start_s: float
    duration_s: float
    reply_count: int
    rtt_mean_s: float
    rtt_min_s: float
    rtt_max_s: float
    rtt_std_s: float
    transaction_rate: float

    @property
    def is_possible(self) -> bool:
        """Whether least, mean and most are in order, and no longer than the interval and 1 s."""
        in_order = self.rtt_min_s <= self.rtt_mean_s <= self.rtt_max_s
        return in_order and self.rtt_max_s <= max(self.duration_s, 1.0)


@dataclass(slots=True)
class _Iperf2Run:
    """The lines of one test, or of one connection of a server."""

    is_client: bool
    protocol: str
    port: int
    target: str = ""
    has_end: bool = True
    """Whether a line says which end wrote them."""
    ways: dict[str, transfer.Way] = field(default_factory=dict)
    links: dict[str, iperf_text.StreamEnds] = field(default_factory=dict)
    totals: dict[tuple[str, str], dict[str, transfer.Interval]] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)
    sent_counts: dict[str, float] = field(default_factory=dict)
    out_of_order: list[iperf_text.OutOfOrder] = field(default_factory=list)
    sizes: tuple[float, float] = (nan, nan)
    exchanges: list[_Exchanges] = field(default_factory=list)

    def way(self, direction: str) -> transfer.Way:
        """Return a direction of the run."""
        empty = transfer.Way(direction, protocol=self.protocol, target=self.target)
        return self.ways.setdefault(direction, empty)


class _Iperf2Text:
    """The runs of a text: a line belongs to the run that has its stream, or begins another."""

    def __init__(self) -> None:
        self.runs: list[_Iperf2Run] = []
        self.remarks = iperf_text.Remarks()
        self.sizes = (nan, nan)
        """Sizes of a request and its reply (``--bounceback``)."""
        self.commands: list[iperf_text.IperfCommand] = []
        self.sums: list[iperf_text.IntervalLine] = []

    def add(self, number: int, line: str) -> None:
        """Add a line to its run."""
        if command := iperf_text.read_command(line):
            self.commands.append(command)
        if sizes := _SIZES.match(line):
            request = sizes["request_bytes"] or sizes["request"]
            response = sizes["response_bytes"] or sizes["response"]
            self.sizes = (float(request), float(response))
        if failed := _FAILED.search(line):
            self.remarks.messages.append(shorten(failed[1] or failed[2], 100))
        elif self._begin_run(line):
            return
        elif said := iperf_text.read_out_of_order(line):
            self._run_of(said.stream).out_of_order.append(said)
        elif interval := iperf_text.read_interval(line):
            if interval.is_sum:
                self.sums.append(replace(interval, stream="all"))
            run = self._run_of(interval.stream)
            if exchanges := _EXCHANGES.match(interval.rest):
                said_of = _exchanges_of(interval, exchanges)
                if said_of.is_possible:
                    run.exchanges.append(said_of)
                else:
                    self.remarks.implausible.append((number, exchanges[0].strip()))
                return
            if re.match(r"\s*[^\s=]{1,9}=\S+/", interval.rest):  # damaged
                self.remarks.unread.append(number)
                return
            if _begins_again(run, interval):
                links = dict(run.links)
                run = _Iperf2Run(run.is_client, run.protocol, run.port, run.target, links=links)
                self.runs.append(run)
            odd = _interval(run, interval, number)
            self.remarks.implausible += [(number, shown) for shown in odd]
        elif report := _REPORT.search(line):
            self._run_of(report[1]).reported.add(report[1])
        elif sent := _SENT.search(line):
            self._run_of(sent[1]).sent_counts[sent[1]] = iperf_text.number_of(sent[2])
        elif (
            (iperf_text.looks_like_interval(line) and not _DETAILS.search(line))
            or _LIKE_HEAD.match(line)
            or _LIKE_ROW.fullmatch(line)
        ):
            self.remarks.unread.append(number)

    def _begin_run(self, line: str) -> bool:
        """Begin a run where a client starts, or where a server is connected to the next one."""
        last = self.runs[-1] if self.runs else None
        if client := _CLIENT.search(line):
            if last and not last.links and not last.is_client:
                self.runs.pop()  # a dual test: the client has a server of its own
            self.runs.append(_Iperf2Run(True, client[2].lower(), int(client[3]), client[1]))
            return True
        if server := _SERVER.search(line):
            if last is None or not last.is_client or last.ways:
                self.runs.append(_Iperf2Run(False, server[1].lower(), int(server[2])))
            return True
        link = iperf_text.read_connection(line)
        if link is None:
            return False
        if last is None:
            is_server = link.local_port < _CLIENT_PORTS <= link.remote_port
            port = link.local_port if is_server else link.remote_port
            self.runs.append(_Iperf2Run(not is_server, "", port))
        elif last.ways and not last.is_client:
            self.runs.append(_Iperf2Run(False, last.protocol, last.port))
        self.runs[-1].links[link.stream] = link
        return True

    def _run_of(self, stream: str) -> _Iperf2Run:
        """Return the latest run that has a stream."""
        if not self.runs:
            self.runs.append(_Iperf2Run(is_client=True, protocol="", port=0, has_end=False))
        return next((run for run in reversed(self.runs) if stream in run.links), self.runs[-1])


def _read_text(file: Input) -> Samples:
    text = _Iperf2Text()
    for number, line in iperf_text.certain_lines(file.text):
        text.add(number, line)
    if any(run.exchanges for run in text.runs):
        return _exchanges(file, text)
    if len(text.runs) == 1 and not text.runs[0].ways:
        for interval in text.sums:  # of lines that are not there
            _interval(text.runs[0], interval, None)
    runs = [run for run in text.runs if run.totals or any(way.rows for way in run.ways.values())]
    ways = [_finish(run) for run in runs]
    links = [list(run.links.values()) for run in runs]
    runs, ways = iperf_text.each_once(runs, links, ways, text.remarks)
    pairs = zip(runs, ways, strict=True)
    unknown = [way for run, of_run in pairs if not run.has_end for way in of_run]
    if not all(len(run.ways) == 1 for run in runs):
        unknown = []
    is_sender = any(row.side == transfer.SENDER for way in unknown for row in way.rows)
    further = iperf_text.without_direction(unknown, knows_side=not is_sender)
    alone = len(runs) == len(text.commands) == 1 and runs[0].is_client
    printed = iperf_text.printed_of(text.commands[0], ways[0]) if alone else {}
    return iperf_text.to_samples(file, ways, text.remarks, further, tool="iperf 2", printed=printed)


def _exchanges_of(interval: iperf_text.IntervalLine, said: re.Match[str]) -> _Exchanges:
    mean, least, most, std = (
        round(float(said[f"{name}_ms"] or nan) / 1e3, 9)
        for name in ("mean", "least", "most", "std")
    )
    rate = iperf_text.number_of(said["rps"] or said["last"] or "")
    length_s, count = interval.end_s - interval.start_s, int(said["reply_count"])
    return _Exchanges(interval.start_s, length_s, count, mean, least, most, std, rate)


def _exchanges(file: Input, text: _Iperf2Text) -> Table:
    """Return requests and replies: a row for each interval, and a row of facts for each run.

    The last line of several, from 0, is their total; a line alone is both.
    """
    runs = [run for run in text.runs if run.exchanges]
    groups = groups_of([""] * len(runs))
    rows: list[dict[str, Any]] = []
    sizes = dict(zip(("request_bytes", "response_bytes"), text.sizes, strict=True))
    sizes = {name: size for name, size in sizes.items() if not isnan(size)}
    facts = []
    for group, run in zip(groups, runs, strict=True):
        last = run.exchanges[-1]
        is_whole = last.start_s == 0
        intervals = run.exchanges[:-1] if is_whole and len(run.exchanges) > 1 else run.exchanges
        rows += [{"group": group, **sizes, **asdict(row)} for row in intervals]
        facts.append(
            fact_row(
                {"counter:rps": last.transaction_rate if is_whole else nan},
                group=group,
                target=run.target,
                protocol=run.protocol or "tcp",
                reply_count=last.reply_count if is_whole else sum(r.reply_count for r in intervals),
                rtt_min_s=min(row.rtt_min_s for row in run.exchanges),
                rtt_s=last.rtt_mean_s if is_whole else nan,
                rtt_max_s=max(row.rtt_max_s for row in run.exchanges),
                duration_s=last.duration_s if is_whole else nan,
                partial=not is_whole,
            )
        )
    units = {name: unit_of(name) for name in rows[0]}
    warnings = list(file.text.warnings)
    note(warnings, "iperf-lines-unread", numbers=text.remarks.unread)
    iperf_text.note_implausible(warnings, text.remarks.implausible)
    return file.table(
        "iperf 2 (bounceback)",
        rows,
        {**units, "group": "text", "transaction_rate": "1/s"},
        facts=facts,
        warnings=warnings,
        target=joined(run.target for run in runs),
        clock="seconds since the start of the run",
        partial=file.unpacked.grew or any(bool(row["partial"]) for row in facts),
    )


def _begins_again(run: _Iperf2Run, interval: iperf_text.IntervalLine) -> bool:
    """Whether an interval is of another run, pasted without its first lines."""
    starts = [
        row.start_s
        for way in run.ways.values()
        for row in way.rows
        if row.stream.lstrip("*") == interval.stream
    ]
    is_reported = any(
        side == transfer.RECEIVER and interval.stream in parts
        for (_, side), parts in run.totals.items()
    )
    is_back = interval.start_s == 0 and (interval.stream not in run.reported or is_reported)
    return is_back and len(starts) > 1 and interval.end_s <= starts[-1]


def _interval(run: _Iperf2Run, interval: iperf_text.IntervalLine, number: int | None) -> list[str]:
    """Add a line to a run; return what of it cannot be right."""
    if interval.is_sum:
        return []  # a sum of the lines above it
    link = run.links.get(interval.stream)
    back = interval.starred or (link is not None and "(reverse)" in link.rest)
    if run.is_client and link is not None and link.remote_port != run.port:
        back = True  # the server's half of a dual test
    direction = transfer.DOWNLOAD if back else transfer.UPLOAD
    losses = iperf_text.read_losses(interval.rest)
    if not run.has_end and not back and losses is not None and not run.ways:
        run.is_client = False  # only a receiver prints them
    side = transfer.SENDER if run.is_client != back else transfer.RECEIVER
    way = run.way(direction)
    stream = f"*{interval.stream}" if interval.starred else interval.stream
    row = interval.row(side, stream=stream)
    row.line = number
    odd = iperf_text.implausible(interval, losses)
    if row.duration_s < 0:
        return odd
    if losses is not None:
        way.protocol = way.protocol or "udp"
        losses.put_in(row)
    elif _DAMAGED_LOSSES.search(interval.rest):
        odd.append(shorten(interval.rest.strip()))
    elif writes := _WRITES.match(interval.rest):
        row.retransmit_count = _known(writes["retries"])
        row.cwnd_bytes = _known(writes["cwnd"]) * 1024
        row.rtt_s = _known(writes["rtt"]) / 1e6
        row.rttvar_s = _known(writes["rttvar"]) / 1e6
    if interval.stream != "all":
        way.streams.add(stream)
    is_total = row.start_s == 0.0 and any(earlier.stream == stream for earlier in way.rows)
    if is_total or interval.stream in run.reported:
        side = transfer.RECEIVER if interval.stream in run.reported else side
        run.totals.setdefault((direction, side), {})[stream] = row
    else:
        way.rows.append(row)
    return odd


def _known(text: str | None) -> float:
    """Return a number; nan if there is none, or if it is below 0: the kernel had none."""
    return nan if text is None or text.startswith("-") else iperf_text.number_of(text)


def _finish(run: _Iperf2Run) -> list[transfer.Way]:
    """Return the directions of a run with their totals."""
    for direction, way in run.ways.items():
        sent, received = (
            run.totals.get((direction, side)) for side in (transfer.SENDER, transfer.RECEIVER)
        )
        way.sent = transfer.join_totals(sent) if sent else None
        way.received = transfer.join_totals(received) if received else None
        if way.received is not None and isnan(way.received.datagram_count):
            way.received.datagram_count = fsum(run.sent_counts.values()) or nan
        own = run.totals.get((direction, transfer.side_of(direction, is_client=run.is_client)), {})
        lengths = Counter(row.stream for row in way.rows)
        way.partial = any(count > 1 and stream not in own for stream, count in lengths.items())
        way.protocol = way.protocol or "tcp"
        if len(run.ways) == 1:
            way.out_of_order_count = iperf_text.sum_out_of_order(run.out_of_order)
        _add_sockets(run, way)
    return transfer.in_order(run.ways)


def _add_sockets(run: _Iperf2Run, way: transfer.Way) -> None:
    """Add what the lines of the connections say of their sockets (``-e``)."""
    links = [run.links[stream] for stream in sorted(way.streams) if stream in run.links]
    sockets = [socket for link in links if (socket := _SOCKET.search(link.rest))]
    sizes = {float(socket["mss"]) for socket in sockets}
    if len(sockets) == len(way.streams) and sockets:
        way.rtt_s = float(median(float(socket["rtt"]) for socket in sockets)) / 1e6
        way.mss_bytes = sizes.pop() if len(sizes) == 1 else nan


TEXT = Format(
    name="iperf 2",
    description="the text output of iperf 2",
    recognize=seen(
        _CLIENT.pattern,
        _SERVER.pattern,
        _ALONE,
        r"^Bounceback test \(req/reply size",
        r"^\[ *\d+\] local \S+ port \d+ connected with \S+ port \d+",
    ),
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
        "--bounceback prints requests and replies: round trips, and no rate of a transfer.",
        "Lines without their first lines have an unknown direction; only a receiver prints losses.",
    ),
    tools={
        "iperf 2": Counted(  # the bytes that write and read return
            probes=SEGMENTS,
            facts={"rtt_s": HANDSHAKE},
            rates=TRANSPORT,
            loss_at_receiver=True,
        ),
        "iperf 2 (bounceback)": Counted(  # its manual: a request until its reply is read
            probes=REQUESTS,
            facts={"counter:rps": MeasuringPoint("", "application requests", CLIENT)},
        ),
    },
    parts=(
        r"^(?:Bounceback test|Bursting request|TCP congestion control using|TOS set to) ",
        r"^(?:TCP window size|UDP buffer size|(?:Write|Read) buffer size): +[\d.]+ [KMG]?Byte",
        r"^\[ ID\] Interval +Transfer +Bandwidth *(?:$| {2})",
        r"^\[ *\d+\] (?:Sent \d+ datagrams|WARNING: |Server Report:)",
        r"^Sending \d+ byte datagrams|^Receiving \d+ byte datagrams",
    ),
    needs="a line with a time in sec and a rate in bits/sec",
)


_LINE = (
    r"^\d{14}(?:\.\d{1,6})?(?:[+-]\d{4})?,[0-9A-Fa-f.:%\w]*,\d{1,5},[0-9A-Fa-f.:%\w]*,\d{1,5},-?\d{1,9},"
    r"\d+\.\d+-\d+\.\d+,-?\d+,-?\d+(?:,|$)"
)
_PLAIN, _UDP = 9, 14
_SUM = "-1"
_CLIENT_PORTS = 32768  # where systems begin to choose ports of their own


@dataclass(slots=True)
class _CsvStream:
    """The lines of one stream of one run."""

    receives: bool
    is_udp: bool
    ends: tuple[str, ...] = ()
    target: str = ""
    rows: list[transfer.Interval] = field(default_factory=list)
    total: transfer.Interval | None = None
    report: transfer.Interval | None = None

    def whole(self) -> transfer.Interval | None:
        """Return the total, or a line alone, which is one."""
        return self.total or (replace(self.rows[0]) if len(self.rows) == 1 else None)


def _read_csv(file: Input) -> FlowSeries:
    text = file.text
    runs: list[dict[str, _CsvStream]] = []
    unread: list[int] = []
    odd: list[tuple[int, str]] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        line = line.rstrip()
        if not re.match(_LINE, line):
            if line.strip():
                unread.append(number)
            continue
        (cells,) = csv_rows([(number, line)], file.unpacked)
        if len(cells) not in (_PLAIN, _UDP):
            raise file.refusal(
                "iperf-csv-width", line=number, count=len(cells), value=shorten(line)
            )
        if cells[5] != _SUM and not _add(runs, cells):
            odd.append((number, shorten(",".join(cells[6:]))))
    if not runs:
        raise file.refusal("iperf-nothing")
    ways = [_ways(run) for run in runs]
    warnings = list(text.warnings)
    note(warnings, "not-lines-of-iperf", numbers=unread)
    iperf_text.note_implausible(warnings, odd)
    if any(way.sent and not way.received for run in ways for way in run):
        warnings.append(Notice("iperf-csv-side"))
    return transfer.flow_series(file, ways, warnings, tool="iperf 2")


def _add(runs: list[dict[str, _CsvStream]], cells: list[str]) -> bool:
    """Add a line to its stream; False if a part of it cannot be right."""
    row, right = _row(cells)
    ends = tuple(sorted([",".join(cells[1:3]), ",".join(cells[3:5])]))
    is_udp = len(cells) == _UDP
    earlier = runs[-1].get(cells[5]) if runs else None
    if earlier and is_udp and not earlier.is_udp and earlier.ends == ends:
        earlier.report = row
        return right
    first, second = int(cells[2]), int(cells[4])
    _add_row(runs, row, _CsvStream(first < second and first < _CLIENT_PORTS, is_udp, ends))
    return right


def _add_row(runs: list[dict[str, _CsvStream]], row: transfer.Interval, made: _CsvStream) -> None:
    """Add a line to its stream; a stream that goes on after its total is of another run."""
    earlier = runs[-1].get(row.stream) if runs else None
    begins = earlier and (earlier.ends != made.ends or (row.start_s == 0 and earlier.total))
    if not runs or begins:
        runs.append({})
    stream = runs[-1].setdefault(row.stream, made)
    stream.receives |= row.jitter_s > 0
    if stream.rows and row.start_s == 0:
        stream.total = row
    else:
        stream.rows.append(row)


def _row(cells: list[str]) -> tuple[transfer.Interval, bool]:
    begin, end = map(iperf_text.number_of, cells[6].split("-"))
    size, rate = iperf_text.number_of(cells[7]), iperf_text.number_of(cells[8])
    row = transfer.Interval(
        start_s=begin,
        duration_s=max(end - begin, 0.0),
        payload_bytes=nan if size < 0 else size,
        throughput_bps=nan if rate < 0 else rate,
        stream=cells[5],
    )
    right = size >= 0 and rate >= 0 and end >= begin
    if right and not transfer.agree(row, rate_step=8.0, time_step=0.1):
        row.throughput_bps, right = nan, False
    if len(cells) == _UDP:
        jitter, lost, packets = map(iperf_text.number_of, cells[9:12])
        unknown = packets == -1  # the last line of a client
        bad_loss = lost < 0 or lost > packets
        row.jitter_s = nan if jitter < 0 else jitter / 1e3
        row.lost_count = nan if unknown or bad_loss else lost
        row.datagram_count = nan if packets < 0 else packets
        is_counted = jitter >= 0 and 0 <= lost <= packets
        right = right and (unknown or is_counted)
    return row, right


def _ways(run: dict[str, _CsvStream]) -> list[transfer.Way]:
    """Return the directions of a run; where it has both, received streams are the download."""
    sent = {name: stream for name, stream in run.items() if not stream.receives}
    received = {name: stream for name, stream in run.items() if stream.receives}
    ways = [_way(sent, transfer.UPLOAD, receives=False)] if sent else []
    if received:
        direction = transfer.DOWNLOAD if sent else transfer.UPLOAD
        ways.append(_way(received, direction, receives=True))
    return ways


def _way(streams: dict[str, _CsvStream], direction: str, *, receives: bool) -> transfer.Way:
    """Return one direction, with what the end that wrote the lines counted."""
    way = transfer.Way(direction, streams=set(streams))
    way.target = next((stream.target for stream in streams.values() if stream.target), "")
    way.rows = [row for stream in streams.values() for row in stream.rows]
    is_udp = any(stream.is_udp or stream.report for stream in streams.values())
    way.protocol = "udp" if is_udp else "tcp"
    for row in way.rows:
        row.side = transfer.RECEIVER if receives else transfer.SENDER
        if not receives:  # what a sender writes there is 0 in any case
            row.jitter_s = row.lost_count = nan
    totals = {name: total for name, stream in streams.items() if (total := stream.whole())}
    way.partial = len(totals) < len(streams)
    total = None if way.partial else transfer.join_totals(totals)
    way.sent, way.received = (None, total) if receives else (total, None)
    if way.sent and isnan(way.sent.retransmit_count):
        way.sent.retransmit_count = fsum(row.retransmit_count for row in way.rows)
    if reports := {name: stream.report for name, stream in streams.items() if stream.report}:
        way.received = transfer.join_totals(reports)
    return way


CSV = Format(
    name="iperf 2 CSV",
    description="the lines of commas of iperf 2",
    recognize=lambda file: file.seen(_LINE),
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


def _read_enhanced_csv(file: Input) -> FlowSeries:
    odd: list[tuple[int, str]] = []
    runs: list[dict[str, _CsvStream]] = []
    names: list[str] = []
    lines = WholeLines(file.text)
    for number, line in lines:
        if line.startswith(_HEADER):
            names = line.strip().split(",")
            runs.append({})
        elif names and re.match(r"\d", line):
            if lost := _add_named(file, runs, number, names, line.strip().split(",")):
                odd.append((number, lost))
        elif line.strip():
            lines.unread.append(number)
    runs = [run for run in runs if run]
    if not runs:
        raise file.refusal("iperf-nothing")
    warnings = lines.with_unread("not-lines-of-iperf")
    iperf_text.note_implausible(warnings, odd)
    ways = [_ways(run) for run in runs]
    ways[-1][-1].partial |= lines.cut
    return transfer.flow_series(file, ways, warnings, tool="iperf 2")


def _add_named(
    file: Input, runs: list[dict[str, _CsvStream]], number: int, names: list[str], cells: list[str]
) -> str:
    """Add a line to the last run, or to another one with the same fields that it begins.

    Return its losses, if they are more than all datagrams.
    """
    if len(cells) != len(names):
        raise file.refusal(
            "iperf-csv-fields", line=number, count=len(cells), wanted=len(names),
            value=shorten(",".join(cells)),
        )  # fmt: skip
    named = dict(zip(names, cells, strict=True))
    if named["transferid"] != _SUM:
        made = _CsvStream(receives="readcnt" in named, is_udp="datagrams" in named)
        made.target = shorten(named["dstaddr"], 100)
        _add_row(runs, _named_row(file, number, named), made)
    lost, datagrams = (iperf_text.number_of(named.get(n, "")) for n in ("errors", "datagrams"))
    return f"{lost:.0f}/{datagrams:.0f}" if lost > datagrams >= 0 else ""


def _named_row(file: Input, number: int, named: dict[str, str]) -> transfer.Interval:
    values: dict[str, float] = {}
    for name in (
        "istart", "iend", "bytes", "speed", "jitter", "errors", "datagrams", "tcpretry", "tcpcwnd",
        "tcprtt", "tcprttvar",
    ):  # fmt: skip
        text = named.get(name, "")
        if name in named and not _NUMBER.fullmatch(text):
            raise file.refusal("iperf-csv-number", line=number, field=name, value=shorten(text))
        value = float(text) if text else nan
        values[name] = nan if value < 0 else value  # -1 is what a system without it writes
    has_details = values["tcprtt"] > 0  # without details of TCP all of them are 0
    lost, datagrams = values["errors"], values["datagrams"]
    receives = "readcnt" in named
    return transfer.Interval(
        start_s=values["istart"],
        duration_s=max(values["iend"] - values["istart"], 0.0),
        payload_bytes=values["bytes"],
        throughput_bps=values["speed"],
        stream=named["transferid"],
        retransmit_count=values["tcpretry"] if has_details else nan,
        cwnd_bytes=values["tcpcwnd"] * 1024 if has_details else nan,
        rtt_s=values["tcprtt"] / 1e6 if has_details else nan,
        rttvar_s=values["tcprttvar"] / 1e6 if has_details else nan,
        jitter_s=values["jitter"] / 1e3 if receives else nan,
        datagram_count=datagrams,
        lost_count=lost if receives and lost <= datagrams else nan,
    )


ENHANCED_CSV = Format(
    name="iperf 2 enhanced CSV",
    description="the enhanced lines of commas of iperf 2",
    recognize=lambda file: file.seen(rf"^{_HEADER}"),
    read=_read_enhanced_csv,
    traps=(
        "A header names the fields; a line with more or fewer is refused.",
        "Fields with readcnt are of the end that received, those with writecnt of the sender.",
        "speed is in bit/s, jitter in ms, tcprtt in microseconds, tcpcwnd in units of 1024 bytes.",
        "The last line of a stream, from 0, is the total of its intervals and no interval.",
        "Transfer -1 is a sum of streams and no stream; -1 in other fields is unknown.",
        "Losses and jitter that a sender writes are 0 in any case: unknown.",
    ),
    parts=(r"^\d{14}\.\d{3}(?:[+-]\d{4})?,[^,]*,\d{1,5},[^,]*,\d{1,5},-?\d+,\d+\.\d+,\d+\.\d+,\d",),
    needs="the line that names the fields, which begins with time,srcaddress",
)
