"""Output of netperf (tables, ``-P 0``, keyval and CSV of omni, interim lines) and of qperf."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers.runs import (
    DOWNLOAD,
    NAN,
    RECEIVER,
    SENDER,
    UPLOAD,
    Row,
    columns_of,
    origin,
    whole_lines,
)
from netcalc.readers.transfers.runs import Way as _Way
from netcalc.samples import Fact, FlowSeries, Meta, Samples, Table, fact_row

_RATE = re.compile(r"10\^(?P<power>[0369])(?P<what>bits|Bytes)/s(?:ec)?")
_BINARY = re.compile(r"(?P<prefix>[KMG]?)Bytes/s(?:ec)?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3}
_DEFAULT = "10^6bits/s"


@dataclass(slots=True)
class Measured:
    """One test in SI units."""

    sent_bps: float = NAN
    received_bps: float = NAN
    duration_s: float = NAN
    direction: str = ""
    side: str = ""
    complete: bool = False
    unit_by_default: bool = False
    transactions: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def key_of(name: str) -> str:
    """Return the name of a column of CSV as keyval has it.

    >>> key_of("Elapsed Time (sec)"), key_of("Throughput Units")
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


def rate_bps(given: Input, line: int | None, text: str, unit: str) -> float:
    """Return a rate in bit/s; nan where netperf had none, an error for a unit that is not known."""
    value = _number(text)
    plain, binary = _RATE.fullmatch(unit), _BINARY.fullmatch(unit)
    if plain:
        bits = 8 if plain["what"] == "Bytes" else 1
        factor = bits * 10.0 ** int(plain["power"])
    elif binary:
        factor = 8 * 1024.0 ** _POWERS[binary["prefix"]]
    else:
        raise ReaderError("netperf-unit", file=given.name, line=line, value=shorten(unit))
    return value * factor if value >= 0 else NAN


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return NAN
    return value if math.isfinite(value) else NAN


def measured(
    given: Input,
    test: str,
    unit: str,
    head: str,
    known: Mapping[str, str],
    tables: Sequence[tuple[int, list[str]]],
) -> Measured:
    """Return what a test measured, of keyval and CSV or of a classic table."""
    if known:
        return _from_names(given, test, known)
    if not tables:
        return _directed(test)
    bare = not head and len(tables[0][1]) == 6 and len(tables) > 1
    if "Trans" in head or "REQUEST/RESPONSE" in test or bare:
        return _request_response(given, test, tables)
    return _stream(given, test, unit, head, tables)


def _directed(test: str, direction: str = "") -> Measured:
    made = Measured()
    back = "MAERTS" in test.upper() or direction.startswith("Recv")
    both = direction in ("Send|Recv", "Recv|Send")
    if both:
        return made
    made.direction = DOWNLOAD if back else UPLOAD
    made.side = RECEIVER if back else SENDER
    return made


def _stream(
    given: Input, test: str, unit: str, head: str, tables: Sequence[tuple[int, list[str]]]
) -> Measured:
    made = _directed(test)
    line, cells = tables[0]
    made.unit_by_default = not unit
    unit = unit or _DEFAULT
    udp = "Okay" in head or "UDP" in test
    made.complete = True
    if udp:
        if len(cells) < 6:
            raise ReaderError(
                "netperf-width", file=given.name, line=line, count=len(cells), wanted=6
            )
        made.duration_s = _number(cells[2])
        made.sent_bps = rate_bps(given, line, cells[5], unit)
        sent, lost = _number(cells[3]), NAN
        if len(tables) > 1 and len(tables[1][1]) >= 4:
            received = _number(tables[1][1][2])
            made.received_bps = rate_bps(given, tables[1][0], tables[1][1][3], unit)
            lost = sent - received if 0 <= received <= sent else NAN
        else:
            made.complete = False
        made.facts = {
            "datagram_count": sent,
            "lost_datagram_count": lost,
            "loss_ratio": lost / sent if sent > 0 else NAN,
            "sent_byte_count": sent * _number(cells[1]),
        }
    else:
        if len(cells) < 5:
            raise ReaderError(
                "netperf-width", file=given.name, line=line, count=len(cells), wanted=5
            )
        made.duration_s = _number(cells[3])
        rate = rate_bps(given, line, cells[4], unit)
        made.sent_bps, made.received_bps = (rate, NAN) if made.side == SENDER else (NAN, rate)
    made.facts |= {"protocol": "udp" if udp else "tcp", "direction": made.direction}
    made.facts |= _rates(made)
    return made


def _rates(made: Measured) -> dict[str, Any]:
    if made.duration_s == 0:
        made.duration_s = NAN
    return {
        "sent_rate_bps": made.sent_bps,
        "received_rate_bps": made.received_bps,
        "duration_s": made.duration_s,
    }


def _protocol(test: str) -> str:
    """Return the protocol that the title of a test names; that of an omni test names none."""
    first = test.partition(" ")[0].lower()
    return first if first in ("tcp", "udp", "sctp") else ""


def _request_response(given: Input, test: str, tables: Sequence[tuple[int, list[str]]]) -> Measured:
    line, cells = tables[0]
    if len(cells) < 6:
        raise ReaderError("netperf-width", file=given.name, line=line, count=len(cells), wanted=6)
    rate = _number(cells[5])
    made = Measured(complete=True, duration_s=_number(cells[4]))
    made.transactions = {
        "request_bytes": _number(cells[2]),
        "response_bytes": _number(cells[3]),
        "duration_s": made.duration_s,
        "transaction_rate": rate if rate >= 0 else NAN,
    }
    made.facts = {
        "protocol": _protocol(test),
        "duration_s": made.duration_s,
        "counter:Trans. Rate": rate if rate >= 0 else NAN,
    }
    return made


def _from_names(given: Input, test: str, known: Mapping[str, str]) -> Measured:
    """Return what a test measured, of the names of omni."""
    direction = known.get("DIRECTION", "")
    unit = known.get("THROUGHPUT_UNITS", "")
    made = _directed(known.get("TEST_NAME", "") or test, direction)
    made.duration_s = _number(known.get("ELAPSED_TIME", ""))
    retransmits = known.get(
        "REMOTE_TRANSPORT_RETRANS" if made.side == RECEIVER else "LOCAL_TRANSPORT_RETRANS", ""
    )
    facts: dict[str, Any] = {
        "protocol": known.get("PROTOCOL", "").lower() or _protocol(test),
        "retransmit_count": _positive(retransmits),
        "congestion_control": known.get("LOCAL_CONG_CONTROL", ""),
        "mss_bytes": _positive(known.get("TRANSPORT_MSS", "")),
    }
    rr = unit == "Trans/s" or direction in ("Send|Recv", "Recv|Send")
    for name, key in (("min", "MIN"), ("median", "P50"), ("max", "MAX")):
        latency = _positive(known.get(f"{key}_LATENCY", "")) / 1e6
        if rr:  # of a stream it is the time of a call
            facts[f"rtt_{name}_s"] = latency
    if rr:
        rate = _positive(known.get("THROUGHPUT", ""))
        made.transactions = {
            "request_bytes": _positive(known.get("REQUEST_SIZE", "") or known.get("RR_SIZE", "")),
            "response_bytes": _positive(known.get("RESPONSE_SIZE", "")),
            "duration_s": made.duration_s,
            "transaction_rate": rate,
        }
        made.facts = {**facts, "duration_s": made.duration_s, "counter:THROUGHPUT": rate}
    elif "THROUGHPUT" in known:
        made.unit_by_default = not unit
        rate = rate_bps(given, None, known["THROUGHPUT"], unit or _DEFAULT)
        made.sent_bps, made.received_bps = (NAN, rate) if made.side == RECEIVER else (rate, NAN)
        ends = ("LOCAL", "REMOTE") if made.side == SENDER else ("REMOTE", "LOCAL")
        made.facts = {
            **facts,
            **_rates(made),
            "direction": made.direction,
            "sent_byte_count": _above_0(known.get(f"{ends[0]}_BYTES_SENT", "")),
            "received_byte_count": _above_0(known.get(f"{ends[1]}_BYTES_RECVD", "")),
        }
    made.complete = "THROUGHPUT" in known
    return made


def _positive(text: str) -> float:
    value = _number(text)
    return value if value >= 0 else NAN


def _above_0(text: str) -> float:
    value = _number(text)
    return value if value > 0 else NAN


_TITLE = re.compile(
    r"(?:MIGRATED )?(?P<test>(?:TCP|UDP|SCTP|OMNI)[\w ./-]*?)(?: Send\|Recv)?"
    r"(?: TEST| test)(?P<rest>.*)"
)
_TARGET = re.compile(r" to (?P<name>\S+) \((?P<address>[^)]*)\)")
_INTERIM = re.compile(
    r"Interim result:\s*(?P<rate>\d+(?:\.\d+)?) (?P<unit>\S+)"
    r" over (?P<length>\d+(?:\.\d+)?) seconds"
    r"(?: ending at (?P<end>\d+\.\d+))?.*"
)
_NUMBERS = re.compile(r"\s*-?\d+(?:\.\d+)?(?:\s+-?\d+(?:\.\d+)?)*\s*")
_UNIT = re.compile(r"\b10\^\d+(?:bits|Bytes)/(?:sec|s)\b|\b[KMG]?Bytes/s(?:ec)?\b|per sec|Trans/s")
_TABLE_HEAD = re.compile(r"\s*(?:Recv|Socket|Size|bytes|Local|Send|Bytes|Utili|CPU|!!!)")
_KEYVAL = re.compile(r"(?P<name>[A-Z][A-Z0-9_]+)=(?P<value>.*)")


@dataclass(slots=True)
class _Run:
    """One test of netperf as its lines show it."""

    test: str = ""
    target: str = ""
    unit: str = ""
    head: str = ""
    known: dict[str, str] = field(default_factory=dict)
    tables: list[tuple[int, list[str]]] = field(default_factory=list)
    interim: list[Row] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.known or self.tables or self.interim)


def _recognize_netperf(given: Input) -> bool:
    if given.is_json:
        return given.seen(r"\"(?:MIGRATED |(?:TCP|UDP) )[\w ./-]* TEST (?:from|to) ")
    return (
        given.seen(r"^(?:MIGRATED )?(?:TCP|UDP|SCTP|OMNI)[\w ./|-]* (?:TEST|test)\b")
        or given.seen(r"^THROUGHPUT(?:_UNITS)?=|^Interim result:")
        or given.seen(r"^(?:[^\s,]+,)*Throughput,(?:.*,)?Throughput Units")
        or re.fullmatch(r"\s*\d+\s+\d+\s+\d+\s+\d+\.\d\d\s+\d+\.\d\d\s*", given.first) is not None
        or given.seen(r"^ *\d+ +\d+ +1 +1 +\d+\.\d\d +\d+\.\d\d *$")
    )


def _lines(given: Input, warnings: list[Notice]) -> tuple[list[tuple[int, str]], bool]:
    if given.is_json:  # lists of the lines of each run
        found: list[str] = []
        for document in given.json.documents:
            for one in document if isinstance(document, list) else []:
                lines = one if isinstance(one, list) else [one]
                found += [line for line in lines if isinstance(line, str)]
        return list(enumerate(found, 1)), given.json.fault is not None
    return whole_lines(given, warnings, padded=True)


def _read_netperf(given: Input) -> Samples:
    runs = [_Run()]
    unread: list[int] = []
    header: list[str] = []
    warnings: list[Notice] = []
    lines, cut = _lines(given, warnings)
    for number, line in lines:
        title, interim, pair = _TITLE.match(line), _INTERIM.fullmatch(line), _KEYVAL.fullmatch(line)
        if title and "=" not in line.split()[0]:
            header = []
            target = _TARGET.search(title["rest"])
            runs.append(_Run(title["test"].strip(), target["name"] if target else ""))
        elif interim:
            runs[-1].interim.append(_interval(given, number, interim))
        elif pair:
            name = pair["name"]
            if name in runs[-1].known:
                runs.append(_Run())
            runs[-1].known[name] = pair["value"].strip()
        elif "," in line and "Throughput" in line.split(","):
            header = line.split(",")
        elif header and line.count(",") == len(header) - 1:
            _row_of_csv(runs, header, line.split(","))
        elif header and "," in line:
            raise ReaderError(
                "netperf-width", file=given.name, line=number,
                count=line.count(",") + 1, wanted=len(header),
            )  # fmt: skip
        elif _NUMBERS.fullmatch(line) and line.strip():
            runs[-1].tables.append((number, line.split()))
        elif line.strip():
            unit = _UNIT.search(line)
            runs[-1].unit = unit[0] if unit else runs[-1].unit
            runs[-1].head += line + "\n"
            if not _TABLE_HEAD.match(line):
                unread.append(number)
    runs = [run for run in runs if not run.empty]
    ways: list[_Way] = []
    exchanges: list[dict[str, Any]] = []
    facts: list[dict[str, Fact]] = []
    guessed = False
    for index, run in enumerate(runs, 1):
        group = f"run {index}" if len(runs) > 1 else ""
        made = measured(given, run.test, run.unit, run.head, run.known, run.tables)
        guessed |= made.unit_by_default
        row = {"group": group, "target": run.target, **made.facts}
        row["partial"] = not made.complete or (cut and index == len(runs))
        if made.transactions:
            exchanges.append({"group": group, **made.transactions})
        else:
            way = _Way(made.direction or "", group=group)
            way.rows = _with_side(run.interim, made.side, group) or _whole(made, group)
            ways.append(way)
        facts.append(fact_row(row))
    if not any(way.rows for way in ways) and not exchanges:
        raise ReaderError("netperf-nothing", file=given.name)
    if guessed:
        warnings.append(Notice("netperf-default-unit"))
    if unread and not given.is_json:
        warnings.append(Notice("not-lines-of-netperf", {"numbers": unread}))
    return _samples(given, ways, exchanges, facts, warnings)


def _row_of_csv(runs: list[_Run], header: list[str], cells: list[str]) -> None:
    known = {key_of(name): cell.strip() for name, cell in zip(header, cells, strict=True)}
    if runs[-1].known:
        runs.append(_Run(runs[-1].test, runs[-1].target))
    runs[-1].known = known


def _interval(given: Input, number: int, found: re.Match[str]) -> Row:
    rate = rate_bps(given, number, found["rate"], found["unit"])
    length = float(found["length"])
    end = float(found["end"]) if found["end"] else NAN
    return Row(start_s=end - length, duration_s=length, throughput_bps=rate)


def _with_side(interim: list[Row], side: str, group: str) -> list[Row]:
    """Return the intervals from the start of the first, with the end that counted them."""
    begin = interim[0].start_s if interim else 0.0
    passed = 0.0
    for row in interim:
        row.start_s = row.start_s - begin if row.start_s == row.start_s else passed
        passed += row.duration_s
        row.side, row.group = side, group
    return interim


def _whole(made: Measured, group: str) -> list[Row]:
    """Return the whole run as one interval for each end that counted it."""
    return [
        Row(start_s=0.0, duration_s=made.duration_s, throughput_bps=rate, group=group, side=side)
        for side, rate in ((SENDER, made.sent_bps), (RECEIVER, made.received_bps))
        if rate == rate
    ]


def _samples(
    given: Input,
    ways: list[_Way],
    exchanges: list[dict[str, Any]],
    facts: list[dict[str, Fact]],
    warnings: list[Notice],
) -> Samples:
    targets = ", ".join(dict.fromkeys(str(row["target"]) for row in facts if "target" in row))
    common: dict[str, Any] = {
        "tool": "netperf",
        "target": shorten(targets, 200),
        **origin(given),
        "facts": tuple(facts),
        "warnings": tuple(warnings),
        "partial": given.unpacked.grew or any(bool(row.get("partial")) for row in facts),
    }
    if any(way.rows for way in ways):
        clock = "seconds since the start of the run"
        return FlowSeries(**columns_of(ways), meta=Meta(clock=clock, **common))
    names = list(exchanges[0])
    return Table(
        data={name: [one[name] for one in exchanges] for name in names},
        meta=Meta(
            units={
                "group": "text", "request_bytes": "byte", "response_bytes": "byte",
                "duration_s": "s", "transaction_rate": "1/s",
            },
            **common,
        ),
    )  # fmt: skip


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
)


_TEST = re.compile(r"(?P<test>(?P<protocol>[a-z0-9]+)_[a-z0-9_]+|conf|quit):\s*")
_VALUE = re.compile(r" {2,}(?P<name>[a-z_]+) += +(?P<value>\S(?:.*\S)?)\s*")
_RATE_QPERF = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ([KMGT]?)(B(?:ytes)?|bytes|b(?:its)?)/sec")
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) (ns|us|ms|sec)")
_SIZE = re.compile(r"(?:.*\()?(\d{1,3}(?:,\d{3})+|\d{1,9})(?: bytes)?\)?")
_POWERS_QPERF = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_SECONDS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "sec": 1.0}
_RATES = {"bw": "received_rate_bps", "send_bw": "sent_rate_bps", "recv_bw": "received_rate_bps"}
_LIKE = r"^ +(?:bw|send_bw|recv_bw|latency) += +\d"


@dataclass(slots=True)
class _Test:
    """One test."""

    test: str = ""
    protocol: str = ""
    sent_rate_bps: float = NAN
    received_rate_bps: float = NAN
    one_way_latency_s: float = NAN
    message_bytes: float = NAN
    duration_s: float = NAN

    @property
    def has_result(self) -> bool:
        """Whether it came to a result."""
        results = (self.sent_rate_bps, self.received_rate_bps, self.one_way_latency_s)
        return not all(map(math.isnan, results))


def _recognize_qperf(given: Input) -> bool:
    return given.seen(r"^[a-z0-9]+_[a-z0-9_]+: *\n +\S+ +=") and given.seen(_LIKE)


def _read_qperf(given: Input) -> Table:
    warnings: list[Notice] = []
    unread: list[int] = []
    tests: list[_Test] = []
    in_test = False
    lines, cut = whole_lines(given, warnings)
    for number, line in lines:
        if found := _TEST.fullmatch(line):
            in_test = found["protocol"] is not None
            if in_test:
                tests.append(_Test(found["test"], found["protocol"]))
        elif in_test and (found := _VALUE.fullmatch(line)):
            if not _kept(tests[-1], found["name"], found["value"]):
                unread.append(number)
        elif line.strip() and not (tests and not in_test):
            unread.append(number)
    partial = cut or any(not one.has_result for one in tests)
    tests = [one for one in tests if one.has_result]
    if not tests:
        raise ReaderError("qperf-nothing", file=given.name)
    if unread:
        warnings.append(Notice("qperf-lines-unread", {"numbers": unread}))
    names = [one.test for one in tests]
    groups = [
        name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]
    columns = [one.name for one in fields(_Test)]
    return Table(
        data={
            "group": groups,
            **{name: [getattr(one, name) for one in tests] for name in columns},
        },
        meta=Meta(
            tool="qperf",
            units={"group": "text"} | {name: _unit(name) for name in columns},
            layers=dict.fromkeys(
                ("sent_rate_bps", "received_rate_bps", "message_bytes"), "application"
            ),
            facts=tuple(_facts(one, group) for one, group in zip(tests, groups, strict=True)),
            warnings=tuple(warnings),
            partial=partial or given.unpacked.grew,
            **origin(given),
        ),
    )


def _kept(test: _Test, name: str, value: str) -> bool:
    """Keep a value; False if it is a result that cannot be read, or there twice."""
    if name == "latency" and not math.isnan(test.one_way_latency_s):
        return False
    if name in _RATES and not math.isnan(getattr(test, _RATES[name])):
        return False
    if name in (_RATES if test.test.endswith("_lat") else ()):
        return False
    if name == "latency" and test.test.endswith("_bw"):
        return False
    if name in _RATES:
        rate = _RATE_QPERF.fullmatch(value)
        if rate:
            bits = 1.0 if rate[3] in ("b", "bits") else 8.0
            setattr(test, _RATES[name], float(rate[1]) * bits * 1000.0 ** _POWERS_QPERF[rate[2]])
        return rate is not None
    if name in ("latency", "time"):
        time = _TIME.fullmatch(value)
        if time:
            seconds = float(time[1]) / _SECONDS[time[2]]
            setattr(test, "duration_s" if name == "time" else "one_way_latency_s", seconds)
        return time is not None
    if name == "msg_size":
        size = _SIZE.fullmatch(value)
        if size:
            test.message_bytes = float(size[1].replace(",", ""))
        return size is not None
    return True


def _unit(name: str) -> str:
    ends = {"_bps": "bit/s", "_s": "s", "_bytes": "byte"}
    return next((unit for end, unit in ends.items() if name.endswith(end)), "text")


def _facts(test: _Test, group: str) -> dict[str, Fact]:
    """Return the row of facts; a latency is the difference of no two clocks, but half of a time."""
    return fact_row(
        group=group,
        protocol=test.protocol,
        direction=UPLOAD if test.test.endswith("_bw") else None,
        sent_rate_bps=test.sent_rate_bps,
        received_rate_bps=test.received_rate_bps,
        rtt_s=2 * test.one_way_latency_s,
        duration_s=test.duration_s,
        partial=False,
    )


QPERF = Format(
    name="qperf",
    description="the output of qperf",
    recognize=_recognize_qperf,
    read=_read_qperf,
    traps=(
        "A latency is half of a measured round trip; the fact rtt_s is twice of it, the mean.",
        "Rates are in bytes (MB/sec, bytes/sec) or bits (Mb/sec, bits/sec), in powers of 1000.",
        "bw is what was received; of UDP, what was sent and what was received differ.",
        "All numbers are rounded to three digits.",
        "The size of a message is there with -vu only.",
        "A test without a result was cut.",
    ),
)
