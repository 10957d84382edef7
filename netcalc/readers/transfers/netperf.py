"""Output of netperf, of qperf, and of a program for small writes: rates and times of requests.

netperf prints tables, numbers alone (``-P 0``), keyval and CSV of omni, and interim lines. A
program for small writes prints a line for each request: ``RTT:62 ,receive:hello world``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, isnan, nan
from statistics import median
from typing import Any

from netcalc.messages import Notice
from netcalc.rate_layers import PAYLOAD
from netcalc.readers.format import Format, Input, columns_of, joined
from netcalc.readers.places import CLIENT, REQUESTS, TRANSPORT, Counted, MeasuringPoint
from netcalc.readers.source import WholeLines, note, shorten
from netcalc.readers.transfers import transfer
from netcalc.samples import Fact, Meta, Samples, Table, TransactionSamples, fact_row
from netcalc.units import show_rate

_RATE = re.compile(r"10\^(?P<power>[0369])(?P<what>bits|Bytes)/s(?:ec)?")
_BINARY = re.compile(r"(?P<prefix>[KMG]?)Bytes/s(?:ec)?")
_DEFAULT = "10^6bits/s"
_BOTH_WAYS = ("Send|Recv", "Recv|Send")


@dataclass(slots=True)
class _NetperfTest:
    """One test of netperf as its lines show it."""

    test: str = ""
    target: str = ""
    unit: str = ""
    head: str = ""
    values: dict[str, str] = field(default_factory=dict)
    tables: list[tuple[int, list[str]]] = field(default_factory=list)
    interim: list[transfer.Interval] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.values or self.tables or self.interim)


@dataclass(slots=True)
class _Measured:
    """One test in SI units."""

    sent_bps: float = nan
    received_bps: float = nan
    duration_s: float = nan
    direction: str = ""
    side: str = ""
    complete: bool = False
    unit_by_default: bool = False
    transactions: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def set_rate(self, rate: float) -> None:
        """Set the rate that netperf's own end counted."""
        if self.side == transfer.RECEIVER:
            self.received_bps = rate
        else:
            self.sent_bps = rate

    def rates(self) -> dict[str, float]:
        """Return the facts of a stream's rates; a duration of 0 is unknown."""
        if self.duration_s == 0:
            self.duration_s = nan
        return {
            "sent_rate_bps": self.sent_bps,
            "received_rate_bps": self.received_bps,
            "duration_s": self.duration_s,
        }

    def add_transactions(self, request: float, response: float, rate: float) -> None:
        """Set the columns of a test of requests and responses."""
        self.transactions = {
            "request_bytes": request,
            "response_bytes": response,
            "duration_s": self.duration_s,
            "transaction_rate": rate,
        }

    def way(self, group: str, interim: list[transfer.Interval]) -> transfer.Way:
        """Return the direction of a stream: with interim lines, or the whole run as one."""
        way = transfer.Way(self.direction, group=group)
        way.sent = transfer.Interval(duration_s=self.duration_s, throughput_bps=self.sent_bps)
        way.received = replace(way.sent, throughput_bps=self.received_bps)
        way.rows = _with_side(interim, self.side) or transfer.whole_run(way)
        return way


def _key_of(name: str) -> str:
    """Return the name of a column of CSV as keyval has it.

    >>> _key_of("Elapsed Time (sec)"), _key_of("Throughput Units")
    ('ELAPSED_TIME', 'THROUGHPUT_UNITS')
    """
    plain = re.sub(r"\s*\([^)]*\)", "", name).strip().upper().replace(" ", "_")
    return {
        "50TH_PERCENTILE_LATENCY_MICROSECONDS": "P50_LATENCY",
        "MINIMUM_LATENCY_MICROSECONDS": "MIN_LATENCY",
        "MAXIMUM_LATENCY_MICROSECONDS": "MAX_LATENCY",
        "MEAN_LATENCY_MICROSECONDS": "MEAN_LATENCY",
        "LOCAL_TRANSPORT_RETRANSMISSIONS": "LOCAL_TRANSPORT_RETRANS",
        "REMOTE_TRANSPORT_RETRANSMISSIONS": "REMOTE_TRANSPORT_RETRANS",
        "TRANSPORT_MSS_BYTES": "TRANSPORT_MSS",
        "LOCAL_CONGESTION_CONTROL_ALGORITHM": "LOCAL_CONG_CONTROL",
        "LOCAL_BYTES_RECEIVED": "LOCAL_BYTES_RECVD",
        "REMOTE_BYTES_RECEIVED": "REMOTE_BYTES_RECVD",
    }.get(plain, plain)


def _rate_bps(file: Input, line: int | None, text: str, unit: str) -> float:
    """Return a rate in bit/s; nan where netperf had none, an error for a unit that is not known."""
    plain, binary = _RATE.fullmatch(unit), _BINARY.fullmatch(unit)
    if plain:
        factor = (8 if plain["what"] == "Bytes" else 1) * 10.0 ** int(plain["power"])
    elif binary:
        factor = 8 * 1024.0 ** transfer.POWERS[binary["prefix"]]
    else:
        raise file.refusal("netperf-unit", line=line, value=shorten(unit))
    return _positive(text) * factor


def _measured(file: Input, run: _NetperfTest) -> _Measured:
    """Return what a test measured, of keyval and CSV or of a classic table."""
    if run.values:
        return _from_names(file, run.test, run.values)
    if not run.tables:
        return _directed(run.test)
    bare = not run.head and len(run.tables[0][1]) == 6 and len(run.tables) > 1
    if (
        "Trans" in run.head
        or run.unit in ("per sec", "Trans/s")
        or "REQUEST/RESPONSE" in run.test
        or bare
    ):
        return _request_response(file, run)
    return _stream(file, run)


def _directed(test: str, direction: str = "") -> _Measured:
    if direction in _BOTH_WAYS:
        return _Measured()
    back = "MAERTS" in test.upper() or direction.startswith("Recv")
    if back:
        return _Measured(direction=transfer.DOWNLOAD, side=transfer.RECEIVER)
    return _Measured(direction=transfer.UPLOAD, side=transfer.SENDER)


def _first_cells(file: Input, run: _NetperfTest, count: int) -> tuple[int, list[str]]:
    """Return the first line of a table; refuse one with fewer numbers, or with one more."""
    line, cells = run.tables[0]
    if len(cells) < count or len(cells) == count + 1:  # a blank in a number
        raise file.refusal("netperf-width", line=line, count=len(cells), wanted=count)
    return line, cells


def _stream(file: Input, run: _NetperfTest) -> _Measured:
    made = _directed(run.test)
    made.unit_by_default = not run.unit
    unit = run.unit or _DEFAULT
    made.complete = True
    if not ("Okay" in run.head or "UDP" in run.test or re.search(r"# +#", run.head)):
        line, cells = _first_cells(file, run, 5)
        made.duration_s = transfer.number_of(cells[3])
        made.set_rate(_rate_bps(file, line, cells[4], unit))
        made.facts = {"protocol": "tcp", "direction": made.direction, **made.rates()}
        return made
    line, cells = _first_cells(file, run, 6)
    made.duration_s = transfer.number_of(cells[2])
    made.sent_bps = _rate_bps(file, line, cells[5], unit)
    sent, lost = transfer.number_of(cells[3]), nan
    if len(run.tables) > 1 and len(run.tables[1][1]) in (4, 6):  # 5: a blank in a number
        below, counted = run.tables[1]
        received = transfer.number_of(counted[2])
        made.received_bps = _rate_bps(file, below, counted[3], unit)
        lost = sent - received if 0 <= received <= sent else nan
    else:
        made.complete = False
    made.facts = {
        "datagram_count": sent,
        "lost_datagram_count": lost,
        "loss_ratio": lost / sent if sent > 0 else nan,
        "sent_byte_count": sent * transfer.number_of(cells[1]),
        "protocol": "udp",
        "direction": made.direction,
        **made.rates(),
    }
    return made


def _protocol(test: str) -> str:
    """Return the protocol that the title of a test names; the title of an omni test names none."""
    first = test.partition(" ")[0].lower()
    return first if first in ("tcp", "udp", "sctp") else ""


def _request_response(file: Input, run: _NetperfTest) -> _Measured:
    _, cells = _first_cells(file, run, 6)
    rate = _positive(cells[5])
    made = _Measured(complete=True, duration_s=transfer.number_of(cells[4]))
    made.add_transactions(transfer.number_of(cells[2]), transfer.number_of(cells[3]), rate)
    made.facts = {
        "protocol": _protocol(run.test),
        "duration_s": made.duration_s,
        "counter:Trans. Rate": rate,
    }
    return made


def _from_names(file: Input, test: str, values: Mapping[str, str]) -> _Measured:
    """Return what a test measured, of the names of omni."""

    def text(*names: str) -> str:
        return next((values[name] for name in names if values.get(name)), "")

    direction, unit = text("DIRECTION"), text("THROUGHPUT_UNITS")
    made = _directed(text("TEST_NAME") or test, direction)
    made.duration_s = transfer.number_of(text("ELAPSED_TIME"))
    made.complete = "THROUGHPUT" in values
    sender, receiver = ("LOCAL", "REMOTE") if made.side == transfer.SENDER else ("REMOTE", "LOCAL")
    own = "REMOTE" if made.side == transfer.RECEIVER else "LOCAL"
    facts: dict[str, Any] = {
        "protocol": text("PROTOCOL").lower() or _protocol(test),
        "retransmit_count": _positive(text(f"{own}_TRANSPORT_RETRANS")),
        "congestion_control": text("LOCAL_CONG_CONTROL"),
        "mss_bytes": _positive(text("TRANSPORT_MSS")),
    }
    if unit == "Trans/s" or direction in _BOTH_WAYS:
        for name, key in (("min", "MIN"), ("median", "P50"), ("max", "MAX")):
            # Of a stream it is the time of a call.
            facts[f"rtt_{name}_s"] = _positive(text(f"{key}_LATENCY")) / 1e6
        rate = _positive(text("THROUGHPUT"))
        request = _positive(text("REQUEST_SIZE", "RR_SIZE"))
        made.add_transactions(request, _positive(text("RESPONSE_SIZE")), rate)
        made.facts = {**facts, "duration_s": made.duration_s, "counter:THROUGHPUT": rate}
    elif made.complete:
        made.unit_by_default = not unit
        made.set_rate(_rate_bps(file, None, values["THROUGHPUT"], unit or _DEFAULT))
        made.facts = {
            **facts,
            **made.rates(),
            "direction": made.direction,
            "sent_byte_count": _above_0(text(f"{sender}_BYTES_SENT")),
            "received_byte_count": _above_0(text(f"{receiver}_BYTES_RECVD")),
        }
    return made


def _positive(text: str) -> float:
    value = transfer.number_of(text)
    return value if value >= 0 else nan


def _above_0(text: str) -> float:
    value = transfer.number_of(text)
    return value if value > 0 else nan


_TITLE = re.compile(
    r"(?:MIGRATED )?(?P<test>(?:TCP|UDP|SCTP|OMNI)[\w ./-]*?)(?: Send\|Recv)?"
    r"(?: TEST| test)(?P<rest>.*)"
)
_TARGET = re.compile(r" to (?P<name>\S+) \((?P<address>[^)]*)\)")
_INTERIM = re.compile(
    r"Interim result:\s*(?P<rate>\d+(?:\.\d+)?) (?P<unit>\S+)"
    r" over (?P<length>\d+(?:\.\d+)?) seconds"
    r"(?: ending at (?P<end>\d+\.\d+)(?!\S)|(?! ending)).*"
)
_NUMBERS = re.compile(r"\s*-?\d+(?:\.\d+)?(?:\s+-?\d+(?:\.\d+)?)*\s*")
_UNIT = re.compile(r"\b10\^\d+(?:bits|Bytes)/(?:sec|s)\b|\b[KMG]?Bytes/s(?:ec)?\b|per sec|Trans/s")
_TABLE_HEAD = re.compile(r"\s*(?:Recv|Socket|Size|bytes|Local|Send|Bytes|Utili|CPU|!!!)")
_NUMERIC = re.compile(r"THROUGHPUT|ELAPSED_TIME|\w+_(?:LATENCY|RETRANS|MSS|SENT|RECVD|SIZE)")
"""Names whose values are numbers."""
_KEYVAL = re.compile(r"(?P<name>[A-Z][A-Z0-9_]+)=(?P<value>.*)")


def _recognize_netperf(file: Input) -> bool:
    if file.is_json:
        return file.seen(r"\"(?:MIGRATED |(?:TCP|UDP) )[\w ./-]* TEST (?:from|to) ")
    return (
        file.seen(r"^(?:MIGRATED )?(?:TCP|UDP|SCTP|OMNI)[\w ./|-]* (?:TEST|test)\b")
        or file.seen(r"^THROUGHPUT(?:_UNITS)?=|^Interim result:")
        or file.seen(r"^(?:[^\s,]+,)*Throughput,(?:.*,)?Throughput Units")
        or re.fullmatch(r"\s*\d+\s+\d+\s+\d+\s+\d+\.\d\d\s+\d+\.\d\d\s*", file.first) is not None
        or file.seen(r"^ *\d+ +\d+ +1 +1 +\d+\.\d\d +\d+\.\d\d *$")
        or file.seen(r"^bytes +[bB]ytes .*secs\.? .*(?:/s(?:ec)?|per sec) *\n\s*\d+ +\d+ ")
    )


def _lines(file: Input, warnings: list[Notice]) -> tuple[list[tuple[int, str]], bool]:
    if file.is_json:  # lists of the lines of each run
        lines: list[str] = []
        for document in file.json.documents:
            for part in document if isinstance(document, list) else []:
                run = part if isinstance(part, list) else [part]
                lines += [line for line in run if isinstance(line, str)]
        return list(enumerate(lines, 1)), file.json.fault is not None
    return file.text.whole_lines(warnings, padded=True)


class _NetperfText:
    """The tests of a text: a line belongs to the last one, or begins another."""

    def __init__(self, file: Input) -> None:
        self.file = file
        self.tests = [_NetperfTest()]
        self.unread: list[int] = []
        self.damaged: list[int] = []
        """Lines with a number that is none."""
        self.header: list[str] = []
        """The names of the columns of CSV."""

    def add(self, number: int, line: str) -> None:
        """Add a line to its test."""
        if (title := _TITLE.match(line)) and "=" not in line.split()[0]:
            self.header = []
            ends = _TARGET.search(title["rest"])
            self._begin(title["test"].strip(), ends["name"] if ends else "")
        elif interim := _INTERIM.fullmatch(line):
            self.tests[-1].interim.append(_interval(self.file, number, interim))
        elif pair := _KEYVAL.fullmatch(line):
            if pair["name"] in self.tests[-1].values:
                self._begin()
            self._set(number, {pair["name"]: pair["value"].strip()})
        elif "," in line and (self.header or "Throughput" in line.split(",")):
            self._add_csv(number, line.split(","))
        elif _NUMBERS.fullmatch(line) and line.strip():
            self.tests[-1].tables.append((number, line.split()))
        elif line.strip():
            self._add_head(number, line)

    def _begin(self, test: str = "", target: str = "") -> None:
        self.tests.append(_NetperfTest(test, target))

    def _add_csv(self, number: int, cells: list[str]) -> None:
        """Take the names of the columns, or the values of a test."""
        if "Throughput" in cells:
            self.header = cells
            return
        if len(cells) != len(self.header):
            raise self.file.refusal(
                "netperf-width", line=number, count=len(cells), wanted=len(self.header)
            )
        if self.tests[-1].values:
            self._begin(self.tests[-1].test, self.tests[-1].target)
        names = map(_key_of, self.header)
        self._set(number, {name: cell.strip() for name, cell in zip(names, cells, strict=True)})

    def _set(self, number: int, values: dict[str, str]) -> None:
        self.tests[-1].values |= values
        for name, value in values.items():
            if _NUMERIC.fullmatch(name) and value and isnan(transfer.number_of(value)):
                self.damaged.append(number)

    def _add_head(self, number: int, line: str) -> None:
        """Add a line above a table, which may name the unit."""
        if unit := _UNIT.search(line):
            self.tests[-1].unit = unit[0]
        self.tests[-1].head += line + "\n"
        if not _TABLE_HEAD.match(line):
            self.unread.append(number)


def _read_netperf(file: Input) -> Samples:
    warnings: list[Notice] = []
    lines, cut = _lines(file, warnings)
    text = _NetperfText(file)
    for number, line in lines:
        text.add(number, line)
    tests = [test for test in text.tests if not test.empty]
    ways: list[transfer.Way] = []
    exchanges: list[dict[str, Any]] = []
    facts: list[dict[str, Fact]] = []
    has_default_unit = False
    for index, test in enumerate(tests, 1):
        group = f"run {index}" if len(tests) > 1 else ""
        made = _measured(file, test)
        if said := _contradicted(made, test.interim):
            warnings.append(said)
        has_default_unit |= made.unit_by_default
        partial = not made.complete or (cut and index == len(tests))
        row = {"group": group, "target": test.target, **made.facts, "partial": partial}
        facts.append(fact_row(row))
        if made.transactions:
            exchanges.append({"group": group, **made.transactions})
        else:
            ways.append(made.way(group, test.interim))
    has_rows = any(way.rows for way in ways)
    if not has_rows and not exchanges:
        raise file.refusal("netperf-nothing")
    if has_default_unit:
        warnings.append(Notice("netperf-default-unit"))
    note(warnings, "transfer-lines-unread", numbers=text.damaged)
    if not file.is_json:
        note(warnings, "not-lines-of-netperf", numbers=text.unread)
    about: dict[str, Any] = {
        "target": joined(str(row.get("target", "")) for row in facts),
        "partial": file.unpacked.grew or any(bool(row.get("partial")) for row in facts),
    }
    if has_rows:
        return transfer.series_of(
            file, ways, warnings, facts=facts, tool="netperf",
            clock="seconds since the start of the run", **about,
        )  # fmt: skip
    units = {"request_bytes": "byte", "response_bytes": "byte", "duration_s": "s"}
    return file.table(
        "netperf",
        exchanges,
        {"group": "text", **units, "transaction_rate": "1/s"},
        facts=facts,
        warnings=warnings,
        **about,
    )


def _contradicted(made: _Measured, interim: list[transfer.Interval]) -> Notice | None:
    """Take the rate of the interim lines where they fill the run, and the total is another."""
    passed_s = fsum(row.duration_s for row in interim)
    total = made.received_bps if made.side == transfer.RECEIVER else made.sent_bps
    mean = fsum(row.duration_s * row.throughput_bps for row in interim) / (passed_s or nan)
    if not abs(passed_s / made.duration_s - 1 if made.duration_s else nan) < 0.03:
        return None
    if isnan(total) or not abs(mean - total) > 0.5 * max(mean, total):
        return None
    made.set_rate(mean)
    made.facts |= made.rates()
    rates = {"total": show_rate(total, PAYLOAD), "intervals": show_rate(mean, PAYLOAD)}
    return Notice("total-contradicts-intervals", {"side": made.side, **rates})


def _interval(file: Input, number: int, line: re.Match[str]) -> transfer.Interval:
    rate = _rate_bps(file, number, line["rate"], line["unit"])
    length = float(line["length"])
    end = float(line["end"]) if line["end"] else nan
    return transfer.Interval(start_s=end - length, duration_s=length, throughput_bps=rate)


def _with_side(interim: list[transfer.Interval], side: str) -> list[transfer.Interval]:
    """Return the intervals from the start of the first, with the end that counted them."""
    begin = interim[0].start_s if interim else 0.0
    passed = 0.0
    for row in interim:
        row.start_s = passed if isnan(row.start_s) else row.start_s - begin
        passed += row.duration_s
        row.side = side
    return interim


NETPERF = Format(
    name="netperf",
    description="the output of netperf",
    recognize=_recognize_netperf,
    read=_read_netperf,
    traps=(
        "The unit of a rate is in the header or in THROUGHPUT_UNITS; K, M and G of bytes are "
        "powers of 1024.",
        "-P 0 prints no header: the rate is taken in 10^6bits/s, the default, with a warning.",
        "A rate is what netperf's own end counted: sent by STREAM, received by MAERTS.",
        "The second line of UDP_STREAM is the receiver's; the first has all that was written.",
        "TCP_RR prints transactions in a second, no rate of bytes.",
        "A throughput of -1 or an elapsed time of 0 is unknown.",
    ),
    tools={
        "netperf": Counted(  # its manual, 4.1: bytes of the sends and receives, "good" data
            probes=REQUESTS,
            facts={"counter:*": MeasuringPoint("", "application requests", CLIENT)},
            rates=TRANSPORT,
            loss_at_receiver=True,
        ),
    },
    parts=(
        r"^(?:Send +Recv +Size|bytes +Bytes +bytes|Socket +Message +Elapsed)\b",
        r"^\d+ +\d+ +\d+\.\d\d +\d+ +\d+ +[\d.]+\s*$",
        r"^(?:THROUGHPUT_UNITS|ELAPSED_TIME|(?:LOCAL|REMOTE)_[A-Z_]+|[A-Z0-9]+_LATENCY|RR_SIZE"
        r"|TRANSPORT_MSS|REQUEST_SIZE|RESPONSE_SIZE)=",
        r"^Recv +Send +Send *$|^Socket +Socket +Message +Elapsed|^Socket +Message +Elapsed"
        r"|^Local /Remote *$|^Socket Size +Request +Resp\.|^bytes +bytes +(?:bytes +)?secs\.?",
    ),
    needs="the line of numbers below the head, or THROUGHPUT and THROUGHPUT_UNITS",
)


_TEST = re.compile(r"(?P<test>(?P<protocol>[a-z0-9]+)_[a-z0-9_]+|conf|quit):\s*")
_CLOSED = re.compile(r" +\w+ +=.* (?:ns|us|ms|sec|[KMGT]?[bB](?:ytes|its)?/sec|[KMG]?B|bytes)")
_VALUE = re.compile(r" {2,}(?P<name>[a-z_]+) += +(?P<value>\S(?:.*\S)?)\s*")
_RATE_LINE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ([KMGT]?)(B(?:ytes)?|bytes|b(?:its)?)/sec")
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) (ns|us|ms|sec)")
_SIZE = re.compile(r"(?:.*\()?(\d{1,3}(?:,\d{3})+|\d{1,9})(?: bytes)?\)?")
_SECONDS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "sec": 1.0}
_RATES = {"bw": "received_rate_bps", "send_bw": "sent_rate_bps", "recv_bw": "received_rate_bps"}
_NAMES = (*_RATES, "latency", "time", "msg_size", "msg_rate")
_TITLED, _RESULT = (
    r"^[a-z0-9]+_[a-z0-9_]+: *\n +\S+ +=",
    r"^ +(?:bw|send_bw|recv_bw|latency) += +\d",
)
_LIKE = (
    r"\A\s*?(?:^ {2,}[a-z_]+ += .*\n)*^ {2,}"
    r"(?:(?:bw|send_bw|recv_bw) += +[\d.]+ \S+/sec|latency += +[\d.]+ (?:ns|us|ms|sec)) *$"
)
"""A result that no line stands above but others of the same test."""


@dataclass(slots=True)
class _QperfTest:
    """One test."""

    test: str = ""
    protocol: str = ""
    sent_rate_bps: float = nan
    received_rate_bps: float = nan
    one_way_latency_s: float = nan
    message_bytes: float = nan
    duration_s: float = nan

    @property
    def has_result(self) -> bool:
        """Whether it came to a result."""
        results = (self.sent_rate_bps, self.received_rate_bps, self.one_way_latency_s)
        return not all(map(isnan, results))

    def keep(self, name: str, value: str) -> bool:
        """Keep a value; False if it is a result that cannot be read, or there twice."""
        of_other_test = {"_lat": (*_RATES,), "_bw": ("latency",)}
        if any(name in names and self.test.endswith(end) for end, names in of_other_test.items()):
            return False
        number = nan
        if name in _RATES:
            column = _RATES[name]
            if rate := _RATE_LINE.fullmatch(value):
                bits = 1.0 if rate[3] in ("b", "bits") else 8.0
                number = transfer.scaled(rate[1], rate[2]) * bits
        elif name in ("latency", "time"):
            column = "duration_s" if name == "time" else "one_way_latency_s"
            if time := _TIME.fullmatch(value):
                number = float(time[1]) / _SECONDS[time[2]]
        elif name == "msg_size":
            column = "message_bytes"
            if size := _SIZE.fullmatch(value):
                number = float(size[1].replace(",", ""))
        else:
            return True
        is_result = name in _RATES or name == "latency"
        if isnan(number) or (is_result and not isnan(getattr(self, column))):
            return False
        setattr(self, column, number)
        return True

    def facts(self, group: str) -> dict[str, Fact]:
        """Return the row of facts; a latency is half of a time, no difference of two clocks."""
        return fact_row(
            group=group,
            protocol=self.protocol,
            direction=transfer.UPLOAD if self.test.endswith("_bw") else None,
            sent_rate_bps=self.sent_rate_bps,
            received_rate_bps=self.received_rate_bps,
            rtt_s=2 * self.one_way_latency_s,
            duration_s=self.duration_s,
            partial=not self.test,
        )


def _read_qperf(file: Input) -> Table:
    tests: list[_QperfTest] = []
    in_test = True
    lines = WholeLines(file.text, closed=_CLOSED)
    for number, line in lines:
        if title := _TEST.fullmatch(line):
            in_test = title["protocol"] is not None
            if in_test:
                tests.append(_QperfTest(title["test"], title["protocol"]))
        elif in_test and (pair := _VALUE.fullmatch(line)) and (tests or pair["name"] in _NAMES):
            if not tests:  # the line with its name is missing
                tests.append(_QperfTest())
            if not tests[-1].keep(pair["name"], pair["value"]):
                lines.unread.append(number)
        elif line.strip() and not (tests and not in_test):
            lines.unread.append(number)
    partial = lines.cut or any(not (test.test and test.has_result) for test in tests)
    partial |= file.unpacked.grew
    tests = [test for test in tests if test.has_result]
    if not tests:
        raise file.refusal("qperf-nothing")
    names = [test.test for test in tests]
    groups = [
        name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]
    columns = {"group": groups, **columns_of(_QperfTest, tests)}
    return file.table(
        "qperf",
        columns,
        layers=dict.fromkeys(
            ("sent_rate_bps", "received_rate_bps", "message_bytes"), "application"
        ),
        facts=[test.facts(group) for test, group in zip(tests, groups, strict=True)],
        warnings=lines.with_unread("qperf-lines-unread"),
        partial=partial,
    )


QPERF = Format(
    name="qperf",
    description="the output of qperf",
    recognize=lambda file: file.seen(_LIKE) or (file.seen(_TITLED) and file.seen(_RESULT)),
    read=_read_qperf,
    traps=(
        "A latency is half of a measured round trip; the fact rtt_s is twice of it, the mean.",
        "Rates are in bytes (MB/sec, bytes/sec) or bits (Mb/sec, bits/sec), in powers of 1000.",
        "bw is what was received; of UDP, what was sent and what was received differ.",
        "All numbers are rounded to three digits.",
        "The size of a message is there with -vu only.",
        "A test without a result was cut.",
    ),
    tools={
        # qperf(1): bytes of the application's buffers
        "qperf": Counted(probes=REQUESTS, rates=TRANSPORT),
    },
    parts=(
        r"^ {2,}(?:msg_rate|msg_size|time|msgs_sent|msgs_recv|timeout|port"
        r"|(?:loc|rem|send|recv)_(?:cost|cpus_used|node|cpu|os|qperf)) += +\S",
    ),
    needs="a line that begins with bw or latency",
)


_LINE = re.compile(r"\s*RTT:\s?(?P<ms>\d{1,9})\s?,\s?receive:(?P<reply>.*)")


_MODE = "small writes"  # how the program wrote its request, it does not print
LEAST_HEADINGS = 2


def _headings(lines: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Return the headings of several runs by their lines, where the file begins with one.

    A heading stands right before times; a message of the program may, too, but not before all.
    """
    written = [(number, line.strip()) for number, line in lines if line.strip()]
    is_time = [bool(_LINE.fullmatch(line)) for _, line in written]
    headings = {
        number: line
        for at, (number, line) in enumerate(written[:-1])
        if not is_time[at] and is_time[at + 1]
    }
    begins = bool(headings) and written[0][0] in headings
    return headings if begins and len(headings) >= LEAST_HEADINGS else {}


def _read_small_writes(file: Input) -> TransactionSamples:
    times: list[float] = []
    sizes: list[float] = []
    modes: list[str] = []
    lines = WholeLines(file.text)
    headings, mode = _headings(lines.lines), _MODE
    for number, line in lines:
        row = _LINE.fullmatch(line)
        mode = headings.get(number, mode)
        if row:
            modes.append(mode)
            times.append(int(row["ms"]) / 1e3)
            sizes.append(float(len(row["reply"].encode("utf-8", "surrogatepass"))))
        elif line.strip() and number not in headings:
            lines.unread.append(number)
    if not times:
        raise file.refusal("transfer-nothing", tool="small writes")
    return TransactionSamples(
        mode=modes,
        sequence=[float(index) for index in range(1, len(times) + 1)],
        payload_bytes=[nan] * len(times),
        response_s=times,
        reply_bytes=sizes,
        meta=Meta(
            tool="small writes",
            units=dict(TransactionSamples.column_units),
            resolutions={"response_s": 1e-3},
            facts=(
                fact_row(
                    rtt_min_s=min(times), rtt_median_s=median(times), rtt_max_s=max(times),
                    reply_count=len(times), partial=lines.cut,
                ),
            ),
            warnings=tuple(lines.with_unread("not-small-writes")),
            partial=lines.cut,
            **file.origin,
        ),
    )  # fmt: skip


SMALL_WRITES = Format(
    name="small writes",
    description="the lines of a program for small writes (RTT:62 ,receive:...)",
    recognize=lambda file: file.seen(r"^\s*RTT:\s?\d+\s?,\s?receive:"),
    read=_read_small_writes,
    traps=(
        "RTT is in milliseconds of a clock that is cut to whole ones: 0 is less than 1 ms.",
        "It is the time of a whole request and its reply, with the waits of the sender (Nagle) and "
        "of the receiver (delayed ACK): no round trip of a packet.",
        "A request without a reply has no line.",
        "Headings over several runs are their modes, where the file begins with one.",
    ),
    tools={
        "small writes": Counted(probes=REQUESTS),
    },
)
