"""The text of iperf 2, of client and server, plain and enhanced (``-e``).

The last line of a stream, from 0 to its end, is the total of its intervals; a line alone is both. A
server's report that a client of UDP prints is the receiver's total.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from statistics import median

from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._iperf_lines import (
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
from netcalc.readers.transfers._runs import (
    DOWNLOAD,
    NAN,
    RECEIVER,
    SENDER,
    UPLOAD,
    Row,
    Total,
    Way,
    join_totals,
    total_of,
)
from netcalc.samples import FlowSeries

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


def _recognize(given: Input) -> bool:
    return (
        given.seen(_CLIENT.pattern)
        or given.seen(_SERVER.pattern)
        or given.seen(r"^\[ *\d+\] local \S+ port \d+ connected with \S+ port \d+")
        or given.seen(_ALONE)
    )


def _read(given: Input) -> FlowSeries:
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


FORMAT = Format(
    name="iperf 2",
    description="the text output of iperf 2",
    recognize=_recognize,
    read=_read,
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
