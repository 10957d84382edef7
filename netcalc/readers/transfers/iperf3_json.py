"""JSON of iperf3, versions 3.0 to 3.21: ``iperf3 -J``, ``--json-stream``, of client and server.

The intervals become rows, one for each stream; the sums in them do not, nor the ``end``, whose
totals are the facts. A direction has the sender's count and the receiver's count, each
from its own total; a count of the other end that was never exchanged is unknown (a server lacks
the client's count, an interrupted client the server's).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import fsum, isnan, nan
from statistics import median
from typing import Any

from netcalc.messages import Notice
from netcalc.readers import document
from netcalc.readers.format import Format, Input
from netcalc.readers.places import SEGMENTS, TRANSPORT, Counted
from netcalc.readers.source import Source, decode, note, shorten
from netcalc.readers.transfers import transfer
from netcalc.samples import FlowSeries

_Object = Mapping[str, Any]

_FIRST_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_MARKS = r'"(?:test_start|connecting_to|accepted_connection|tcp_mss_default)"|"iperf 3\.'
_WITHIN_TEXT = r"^Server JSON output:"
"""Mark of the text of a client that holds the JSON of its server."""
_REVERSED = "_bidir_reverse"
_SUMS = ("sum", "sum_sent", "sum_received")
"""Until 3.10 both directions of --bidir have them: the last of a name hides the one before."""


def _recognize(file: Input) -> bool:
    if file.seen(_WITHIN_TEXT):
        return False
    if not (file.seen(_MARKS) or file.seen(r'"event"\s*:\s*"(?:start|interval|end|error)"')):
        return _is_bare(file)
    return file.is_json or file.seen(_FIRST_OBJECT.pattern)


def _is_bare(file: Input) -> bool:
    """Whether a document without the usual marks has the three parts of a run."""
    return file.is_json and {"start", "intervals", "end"} <= file.keys()


def _read(file: Input) -> FlowSeries:
    documents, warnings = _documents(file)
    runs = _runs_of(documents)
    begun = _whole_parts(documents.rest)
    if fault := documents.fault:
        if not runs and not begun:
            raise fault
        runs += begun
        cut = {"line": fault.line, "offset": fault.offset}
        warnings.append(Notice("iperf3-document-cut", cut))
    runs, copies = _each_once(runs)
    odd = _Odd()
    tests = [_Run(run, odd) for run in runs]
    ways = [test.ways() for test in tests]
    for way in ways[-1] if begun else ():
        way.partial = True
    errors = list(dict.fromkeys(filter(None, (document.words(run, "error") for run in runs))))
    if not any(way.rows or way.sent or way.received for run in ways for way in run):
        if errors:
            message = shorten(errors[0], 120)
            raise file.refusal("iperf-error-only", message=message)
        raise file.refusal("iperf-nothing")
    note(warnings, "iperf-reported", messages=[shorten(text, 100) for text in errors])
    note(warnings, "runs-repeated", count=copies)
    note(warnings, "intervals-repeated", count=odd.repeated)
    for name, values in odd.values.items():
        warnings.append(Notice("impossible-values", {"name": name, "values": values}))
    start = document.member(runs[0], "start")
    return transfer.flow_series(
        file,
        [run for run in ways if run],
        [*_used(documents.warnings, tests), *warnings],
        partial=documents.fault is not None,
        tool="iperf3",
        version=document.words(start, "version").removeprefix("iperf "),
        host=shorten(document.words(start, "system_info").strip(), 200),
        start=_iso(document.number(document.member(start, "timestamp"), "timesecs")),
        printed=_printed(runs[0]) if len(runs) == 1 else {},
    )


def _documents(file: Input) -> tuple[document.Documents, list[Notice]]:
    """Return the documents of a file; text before the first and behind the last is left out."""
    warnings: list[Notice] = []
    source = file.unpacked
    documents = file.json
    if not file.is_json:
        text = "\n".join(decode(source).whole)
        begin = _FIRST_OBJECT.search(text)
        before = text[: begin.start()] if begin else text
        # Blanks instead of it keep lines and bytes of a fault where they are.
        blank = re.sub(r"[^\n]", " ", before)
        data = (blank + text[len(before) :]).encode("utf-8", "surrogatepass")
        documents = document.read_documents(Source(source.name, data, source.sha256))
        numbers = list(range(1, before.count("\n") + 1))
        warnings.append(Notice("text-beside-json", {"numbers": numbers}))
    fault = documents.fault
    if (
        fault is not None
        and documents.documents
        and not str(fault.value or "{").startswith(("{", '"'))
    ):
        line = fault.line or 1
        warnings.append(Notice("text-beside-json", {"numbers": [line]}))
        documents = replace(documents, fault=None)
    return documents, warnings


def _whole_parts(text: str) -> list[dict[str, Any]]:
    """Return the run in a document that was cut: its start, and the intervals that are whole."""
    if not text:
        return []
    closed = document.closed_after_whole_parts(text, 2)
    documents = document.read_documents(Source("", closed.encode("utf-8", "surrogatepass"), ""))
    if documents.fault is not None or len(documents.documents) != 1:
        return []
    run = documents.documents[0]
    return [run] if isinstance(run, dict) and document.rows(run, "intervals") else []


def _runs_of(documents: document.Documents) -> list[dict[str, Any]]:
    """Return the runs in the documents: whole ones, and those of a stream of events."""
    runs: list[dict[str, Any]] = []
    streamed: dict[str, Any] | None = None
    for row in documents.objects():
        if "event" not in row:
            if row.keys() & {"start", "intervals", "end", "error"}:
                runs.append(row)
            continue
        event, data = row.get("event"), row.get("data")
        if event == "start" or streamed is None:
            streamed = {"start": {}, "intervals": [], "end": {}, "streamed": True}
            runs.append(streamed)
        if event == "interval":
            streamed["intervals"].append(data)
        elif event in ("start", "end", "error"):
            streamed[event] = data
            streamed["ended"] = event == "end"
    whole = {
        document.words(document.member(run, "start"), "cookie")
        for run in runs
        if "streamed" not in run
    } - {""}
    return [
        run
        for run in runs
        if "streamed" not in run
        or document.words(document.member(run, "start"), "cookie") not in whole
    ]


@dataclass(slots=True)
class _Odd:
    """What cannot be: the values of each name, and how many intervals are there twice."""

    values: dict[str, list[str]] = field(default_factory=dict)
    repeated: int = 0

    def add(self, name: str, value: Any) -> None:
        """Keep a value that counts as unknown."""
        self.values.setdefault(name, []).append(shorten(str(value)))


def _each_once(runs: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Return the runs without copies of the one before, and how many there were.

    The cookie is the test's, the time that of its end: 3.16 and 3.17 may write a document twice.
    """
    kept: list[dict[str, Any]] = []
    for run in runs:
        start = document.member(run, "start")
        before = document.member(kept[-1], "start") if kept else {}
        ends = [document.member(part, "end") for part in (run, *kept[-1:])]
        is_whole = "cookie" in start and all(ends)
        if not kept or (run != kept[-1] and not (is_whole and start == before)):
            kept.append(run)
    return kept, len(runs) - len(kept)


def _used(warnings: Sequence[Notice], tests: Sequence[_Run]) -> list[Notice]:
    """Return the warnings without that of sums with one name, where none of them is used."""
    said = []
    for warning in warnings:
        names = [name for name in warning.values.get("names", ()) if name not in _SUMS]
        if warning.code != "json-twins" or not any(test.has_twins for test in tests):
            said.append(warning)
        elif names:
            said.append(Notice("json-twins", {"names": names}))
    return said


class _Run:
    """The directions of a run that were measured, and what its beginning says of all of them."""

    def __init__(self, run: _Object, odd: _Odd) -> None:
        self.run, self.odd = run, odd
        start, self.end = document.member(run, "start"), document.member(run, "end")
        self.test = document.member(start, "test_start")
        self.target = document.words(document.member(start, "connecting_to"), "host")
        self.protocol = document.words(self.test, "protocol").lower()
        self.is_client = "accepted_connection" not in start
        self.is_reverse = bool(document.number(self.test, "reverse") > 0)
        has_ended = "streamed" not in run or run.get("ended")
        self.partial = bool(document.words(run, "error")) or not self.end or not has_ended
        self.by_direction: dict[str, transfer.Way] = {}
        self.sends: dict[float, bool] = {}
        """Socket -> whether the end that wrote the file sent by it, as the intervals say."""
        self.has_twins = False
        """Whether the sums of both directions have one name, so that one of them is lost."""

    def ways(self) -> list[transfer.Way]:
        """Return the directions."""
        self._add_intervals()
        main, other = transfer.UPLOAD, transfer.DOWNLOAD
        if self.is_reverse:
            main, other = other, main
        self.has_twins = self._are_twins()
        if self.has_twins:
            self._add_streams(main)
            self._add_streams(other)
        else:
            self._add_totals("", main)
            self._add_totals(_REVERSED, other)
        for way in self.by_direction.values():
            self._complete(way)
        return transfer.in_order(self.by_direction)

    def _way(self, direction: str) -> transfer.Way:
        way = transfer.Way(direction, self.protocol, self.target, partial=self.partial)
        return self.by_direction.setdefault(direction, way)

    def _add_intervals(self) -> None:
        """Add the intervals of the streams, each once."""
        seen: set[tuple[str, float, bool]] = set()
        for interval in document.rows(self.run, "intervals"):
            for stream in document.rows(interval, "streams"):
                sends = stream.get("sender")
                if not isinstance(sends, bool):
                    sends = self.is_client != self.is_reverse
                way = self._way(transfer.UPLOAD if sends == self.is_client else transfer.DOWNLOAD)
                row = _row(stream, transfer.SENDER if sends else transfer.RECEIVER, self.odd)
                if row is None:
                    continue
                self.sends[document.number(stream, "socket")] = sends
                key = (row.stream, row.start_s, row.omitted)
                if key in seen:
                    self.odd.repeated += 1
                    way.is_cut_short = self.partial
                    continue
                seen.add(key)
                way.rows.append(row)
                way.streams.add(row.stream)

    def _add_totals(self, suffix: str, direction: str) -> None:
        """Add the totals of a direction, whose names in the ``end`` have this suffix."""
        own = transfer.side_of(direction, is_client=self.is_client)
        exchanged = self.is_client and not self.partial
        totals = _totals(self.end, suffix, own, self.odd, exchanged=exchanged)
        if any(totals):
            way = self._way(direction)
            way.sent, way.received = totals
            way.congestion_control = document.words(self.end, "sender_tcp_congestion")

    def _are_twins(self) -> bool:
        flags = [_parts(stream)[0].get("sender") for stream in document.rows(self.end, "streams")]
        both = any(flag is True for flag in flags) and any(flag is False for flag in flags)
        is_bidir = both or document.number(self.test, "bidir") > 0 or len(self.by_direction) > 1
        return is_bidir and not any(name.endswith(_REVERSED) for name in self.end)

    def _add_streams(self, direction: str) -> None:
        """Add the totals of a direction from those of its streams, whose flag says which it is."""
        sends = (direction == transfer.UPLOAD) == self.is_client
        own = transfer.side_of(direction, is_client=self.is_client)
        exchanged = self.is_client and not self.partial
        sent: dict[str, transfer.Interval] = {}
        received: dict[str, transfer.Interval] = {}
        for index, stream in enumerate(document.rows(self.end, "streams")):
            sender, receiver = _parts(stream)
            flag = sender.get("sender", self.sends.get(document.number(sender, "socket")))
            if flag is not sends:
                continue
            parts = {"sum": sender} if sender is receiver else {
                "sum_sent": sender, "sum_received": receiver
            }  # fmt: skip
            totals = _totals(parts, "", own, self.odd, exchanged=exchanged)
            for kept, total in zip((sent, received), totals, strict=True):
                if total is not None:
                    kept[str(index)] = total
        if sent or received:
            way = self._way(direction)
            way.sent, way.received = (
                transfer.join_totals(totals) if totals else None for totals in (sent, received)
            )
            way.congestion_control = document.words(self.end, "sender_tcp_congestion")

    def _complete(self, way: transfer.Way) -> None:
        """Add what was left out of the run, how many streams it had, and its protocol."""
        omitted_s = document.number(self.test, "omit")
        ends = [row.start_s + row.duration_s for row in way.rows if row.omitted]
        if omitted_s > 0 or ends:
            way.omitted_s = transfer.first_known(omitted_s, max(ends, default=nan))
        if transfer.side_of(way.direction, is_client=self.is_client) == transfer.RECEIVER:
            # The other end never learns it, and writes 0.
            came = [udp for udp, _ in map(_parts, document.rows(self.end, "streams"))]
            counts = [
                document.number(udp, "out_of_order")
                for udp in came
                if udp.get("sender") in (None, False) or len(self.by_direction) == 1
            ]
            way.out_of_order_count = fsum(counts) or nan  # the text, too, has no line of none
        if not way.streams:
            count = int(transfer.first_known(document.number(self.test, "num_streams"), 0))
            way.streams.update(map(str, range(min(count, 1000))))
        if not self.protocol:
            is_udp = "sum" in self.end or any(not isnan(row.datagram_count) for row in way.rows)
            way.protocol = "udp" if is_udp else "tcp" if way.rows else ""


def _parts(stream: _Object) -> tuple[_Object, _Object]:
    """Return the sender's and the receiver's total of a stream; of UDP one has both."""
    if udp := document.member(stream, "udp"):
        return udp, udp
    return document.member(stream, "sender"), document.member(stream, "receiver")


def _row(stream: _Object, side: str, odd: _Odd) -> transfer.Interval | None:
    start, length = document.number(stream, "start"), document.number(stream, "seconds")
    if isnan(length):
        length = document.number(stream, "end") - start
    if isnan(start) or not length >= 0:
        odd.add("seconds", stream.get("seconds"))
        return None
    socket = document.number(stream, "socket")
    return replace(
        _counted(stream, odd, duration_s=length),
        start_s=start,
        stream="" if isnan(socket) else str(int(socket)),
        side=side,
        omitted=stream.get("omitted") is True,
        # 0 and -1 are what a system without it gives.
        cwnd_bytes=transfer.above_0(stream, "snd_cwnd"),
        rtt_s=transfer.above_0(stream, "rtt") / 1e6,
        rttvar_s=transfer.above_0(stream, "rttvar") / 1e6,
        path_mtu_bytes=transfer.above_0(stream, "pmtu"),
    )


def _counted(part: _Object, odd: _Odd, *, duration_s: float | None = None) -> transfer.Interval:
    """Return what one side counted of a stream in an interval, or in all of a run."""
    packets, lost = _losses(part, odd)
    return transfer.Interval(
        payload_bytes=_count(part, "bytes", odd),
        duration_s=_count(part, "seconds", odd) if duration_s is None else duration_s,
        throughput_bps=_count(part, "bits_per_second", odd),
        retransmit_count=_count(part, "retransmits", odd),
        jitter_s=_count(part, "jitter_ms", odd) / 1e3,
        datagram_count=packets,
        lost_count=lost,
    )


def _losses(row: _Object, odd: _Odd) -> tuple[float, float]:
    """Return the datagrams, and how many of them were lost; a loss that cannot be is unknown."""
    packets, lost = document.number(row, "packets"), document.number(row, "lost_packets")
    if lost > packets or lost < 0:
        odd.add("lost_packets", row.get("lost_packets"))
        lost = nan
    return packets, lost


def _count(row: _Object, name: str, odd: _Odd) -> float:
    """Return a number that cannot be below 0; one that is, is counted and unknown."""
    value = document.number(row, name)
    if value < 0:
        odd.add(name, value)
        return nan
    return value


def _totals(
    end: _Object, suffix: str, own: str, odd: _Odd, *, exchanged: bool
) -> tuple[transfer.Interval | None, transfer.Interval | None]:
    """Return the sender's and the receiver's totals of one direction.

    ``own`` is the side that wrote the file, ``exchanged`` whether it received the other's count:
    otherwise a 0 is unknown.
    """
    sent, received = (
        _side(document.member(end, name + suffix), odd, sure=exchanged or side == own)
        for side, name in ((transfer.SENDER, "sum_sent"), (transfer.RECEIVER, "sum_received"))
    )
    both = document.member(end, "sum" + suffix)
    if sent is not None:
        sent.lost_count = sent.jitter_s = nan  # written as 0
    if not both or "packets" not in both:
        return sent, received
    losses = _counted(both, odd)
    if sent is None and received is None and (exchanged or own == transfer.SENDER):
        # Until 3.10 there is one sum: bytes and rate of the sender, losses of the receiver.
        sent = replace(losses, lost_count=nan, jitter_s=nan)
    if received is None and (exchanged or own == transfer.RECEIVER):
        received = transfer.Interval()
    if received is not None:
        received.jitter_s = losses.jitter_s
        received.lost_count = losses.lost_count
        received.datagram_count = losses.datagram_count
    return sent, received


def _side(part: _Object, odd: _Odd, *, sure: bool) -> transfer.Interval | None:
    """Return the total of one side; None if there is none, or a 0 that may mean unknown."""
    if not part:
        return None
    total = _counted(part, odd)
    return total if sure or total.payload_bytes > 0 else None


def _printed(run: _Object) -> dict[str, Any]:
    """Return what iperf3 says of sockets, processors and each stream, in SI units."""
    start, end = document.member(run, "start"), document.member(run, "end")
    test, processors = (
        document.member(start, "test_start"),
        document.member(end, "cpu_utilization_percent"),
    )
    ends = ("remote", "host") if "accepted_connection" in start else ("host", "remote")
    plain = {
        "mss_bytes": transfer.first_known(
            transfer.above_0(start, "tcp_mss"), transfer.above_0(start, "tcp_mss_default")
        ),
        "send_buffer_bytes": document.number(start, "sndbuf_actual"),
        "receive_buffer_bytes": document.number(start, "rcvbuf_actual"),
        "asked_buffer_bytes": transfer.above_0(start, "sock_bufsize"),
        "write_bytes": document.number(test, "blksize"),
        "asked_rate_bps": transfer.above_0(test, "target_bitrate"),
        "client_processor_ratio": transfer.above_0(processors, f"{ends[0]}_total") / 100,
        "server_processor_ratio": transfer.above_0(processors, f"{ends[1]}_total") / 100,
    }
    printed: dict[str, Any] = _numbers(plain)
    streams, windows = [], _windows(run)
    for stream in document.rows(end, "streams"):
        sender = document.member(stream, "sender") or document.member(stream, "udp")
        numbers = {
            "stream": document.number(sender, "socket"),
            "rtt_min_s": transfer.above_0(sender, "min_rtt") / 1e6,
            "rtt_avg_s": transfer.above_0(sender, "mean_rtt") / 1e6,
            "rtt_max_s": transfer.above_0(sender, "max_rtt") / 1e6,
            "cwnd_bytes": transfer.above_0(sender, "max_snd_cwnd"),
            "offered_window_bytes": transfer.above_0(sender, "max_snd_wnd"),
            "offered_window_median_bytes": windows.get(document.number(sender, "socket"), nan),
        }
        streams.append(_numbers(numbers))
    return {**printed, "streams": streams} if streams else printed


def _numbers(row: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers that are known."""
    return {name: value for name, value in row.items() if not isnan(value)}


def _windows(run: _Object) -> dict[float, float]:
    """Return the median of the windows that the receiver of each stream offered. [byte]"""
    sizes: dict[float, list[float]] = {}
    for interval in document.rows(run, "intervals"):
        for stream in document.rows(interval, "streams"):
            if (size := transfer.above_0(stream, "snd_wnd")) > 0:
                sizes.setdefault(document.number(stream, "socket"), []).append(size)
    return {socket: median(offered) for socket, offered in sizes.items()}


def _iso(epoch_s: float) -> str:
    try:
        return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return ""


FORMAT = Format(
    name="iperf3 JSON",
    description="the JSON of iperf3",
    recognize=_recognize,
    read=_read,
    traps=(
        "Sender and receiver count apart, and both are kept; neither replaces the other.",
        "A server without the client's count writes 0 for the sender, an interrupted client 0 for "
        "the receiver: unknown, not 0.",
        "The sum of UDP has the sender's bytes and the receiver's losses; sum_sent and "
        "sum_received are used where they are (3.11 and later).",
        "snd_cwnd is in bytes, rtt and rttvar in microseconds, jitter_ms in milliseconds; 0 and -1 "
        "of a system without them are unknown.",
        "Omitted intervals are kept and marked; they are in no total.",
        "A sum of streams is not a stream.",
        "With --bidir each direction has its own row of facts; sender in an interval is true of "
        "the end that wrote the file.",
        "Of a document that was cut the intervals that are whole are used; a sum that did not "
        "come is unknown.",
        "When the other end is gone, the last interval may be written twice; it is used once.",
        "A run with an error or without totals is partial; a file of errors alone is refused with "
        "its message.",
        "nan, -nan and negative counts or losses are unknown, and said so.",
    ),
    tools={
        "iperf3": Counted(  # its FAQ: the bytes that write and read return, without headers
            probes=SEGMENTS,
            rates=TRANSPORT,
            loss_at_receiver=True,
        ),
    },
)
