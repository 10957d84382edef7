"""Short reports of transfers: mininet's iperf, IxChariot's pairs, a source and a sink, latte.

A source writes and a sink reads; what they took is what the shell's ``time`` prints.
"""

from __future__ import annotations

import csv
import re
from math import isnan, nan
from typing import Any

from netcalc.readers.format import Format, Input, groups_of, seen
from netcalc.readers.places import CLIENT, HOST, TRANSPORT, Counted, MeasuringPoint
from netcalc.readers.source import WholeLines
from netcalc.readers.transfers.transfer import UPLOAD, number_of, scaled
from netcalc.samples import Table, fact_row

_RESULTS = re.compile(r"\*\*\* Results: (?P<rates>\[.*\])\s*")
_TESTING = re.compile(
    r"\*\*\* Iperf: testing (?P<protocol>TCP|UDP) bandwidth between \S+ and (?P<server>\S+)"
)
_RATE = re.compile(r"(?P<number>\d+(?:\.\d+)?) (?P<power>[KMGT]?)(?P<what>bits|Bytes)/sec")


def _rate_bps(text: str) -> float:
    """Return a rate of iperf: bits in powers of 1000, bytes in powers of 1024.

    >>> _rate_bps("21.9 Gbits/sec"), _rate_bps("1 KBytes/sec"), _rate_bps("10M")
    (21900000000.0, 8192.0, nan)
    """
    rate = _RATE.fullmatch(text.strip())
    if rate is None:
        return nan
    bits, base = (1, 1000.0) if rate["what"] == "bits" else (8, 1024.0)
    return round(bits * scaled(rate["number"], rate["power"], base), 3)


def _read_mininet(file: Input) -> Table:
    runs: list[dict[str, Any]] = []
    about: dict[str, str] = {}
    lines = WholeLines(file.text, closed=_RESULTS)
    for number, line in lines:
        if testing := _TESTING.match(line):
            about = {"protocol": testing["protocol"].lower(), "target": testing["server"]}
        elif results := _RESULTS.fullmatch(line):
            rates = [_rate_bps(text) for text in re.findall(r"'([^']*)'", results["rates"])]
            measured = rates[1:] if len(rates) == 3 else rates  # UDP: the rate that was asked for
            if len(measured) != 2 or any(map(isnan, measured)):
                lines.unread.append(number)
                continue
            protocol = "udp" if len(rates) == 3 else "tcp"
            runs.append({
                "protocol": protocol, "target": "", **about,
                "sent_rate_bps": measured[1], "received_rate_bps": measured[0],
            })  # fmt: skip
            about = {}
        elif line.startswith("*** Results:") and "'" in line:
            lines.unread.append(number)
            about = {}
    if not runs:
        raise file.refusal("transfer-nothing", tool="mininet")
    groups = groups_of([run["target"] for run in runs])
    rows = [{"group": group, **run} for group, run in zip(groups, runs, strict=True)]
    return file.table(
        "mininet",
        rows,
        facts=[fact_row(row, direction=UPLOAD, partial=False) for row in rows],
        warnings=lines.with_unread(),
        partial=lines.cut,
    )


MININET = Format(
    name="mininet",
    description="the results that mininet prints of its iperf",
    recognize=seen(_RESULTS.pattern.replace("?P<rates>", "?:") + r"$"),
    read=_read_mininet,
    traps=(
        "The first rate is the server's, who received, the second the client's, who sent.",
        "Of UDP the first of three is the rate that was asked for.",
        "Gbits are 1000**3 bit, MBytes 1024**2 bytes; neither size nor time is printed.",
    ),
    tools={"mininet": Counted(rates=TRANSPORT)},
    parts=(r"^\*\*\* Iperf: testing (?:TCP|UDP) bandwidth between ",),
    needs="the line that begins with *** Results:",
)


_AVERAGE = re.compile(r"(?:Throughput )?(?P<what>Average|Minimum|Maximum) \((?P<unit>[GMk]bps)\)")
_RATES = {
    "Average": "throughput_bps", "Minimum": "throughput_min_bps", "Maximum": "throughput_max_bps",
}  # fmt: skip
_BITS = {"Gbps": 1e9, "Mbps": 1e6, "kbps": 1e3}
_PAIR = re.compile(r"(?:Pair )?\d+")
_SUMS = ("all pairs", "totals", "total")
_HEAD = r"^[^\n]*\bPairs?\b[^\n]*[,;\t]\s*\"?(?:Throughput )?Average \([GMk]bps\)"


def _read_ixchariot(file: Input) -> Table:
    lines = WholeLines(file.text)
    delimiter, names, rows, total = ",", [], [], nan
    for number, line in lines:
        if re.match(_HEAD, line):
            delimiter = next(mark for mark in ",;\t" if mark in line)
            names = next(csv.reader([line], delimiter=delimiter))
        elif names and line.strip():
            cells = next(csv.reader([line], delimiter=delimiter))
            values = _pair(dict(zip(names, cells, strict=False)))
            if values is None or len(cells) > len(names):
                lines.unread.append(number)
            elif values["group"].lower() in _SUMS:
                total = values["throughput_bps"]
            else:
                rows.append(values)
    if not rows:
        raise file.refusal("transfer-nothing", tool="IxChariot")
    return file.table(
        "IxChariot",
        rows,
        facts=[
            fact_row(
                group=row["group"], received_rate_bps=row["throughput_bps"],
                duration_s=row["duration_s"], partial=False,
            )
            for row in rows
        ],
        warnings=lines.with_unread(),
        printed={} if isnan(total) else {"all_pairs_bps": total},
        partial=lines.cut,
    )  # fmt: skip


def _pair(row: dict[str, str]) -> dict[str, Any] | None:
    """Return a row of pairs in SI units; None for one that is none."""
    cells = {head.strip().strip('"'): cell.strip() for head, cell in row.items()}
    name = next((cell for head, cell in cells.items() if re.search(r"\bPairs?\b", head)), "")
    rates = dict.fromkeys(_RATES.values(), nan)
    for head, cell in cells.items():
        if rate := _AVERAGE.fullmatch(head):
            rates[_RATES[rate["what"]]] = round(number_of(cell) * _BITS[rate["unit"]], 3)
    if isnan(rates["throughput_bps"]) or not (name.lower() in _SUMS or _PAIR.fullmatch(name)):
        return None
    time = next((cell for head, cell in cells.items() if head.startswith("Measured Time")), "")
    if time and isnan(number_of(time)):
        return None
    group = f"Pair {name}" if name.isdecimal() else name
    return {"group": group, **rates, "duration_s": number_of(time)}


IXCHARIOT = Format(
    name="IxChariot",
    description="the pairs that IxChariot exports as CSV",
    recognize=seen(_HEAD),
    read=_read_ixchariot,
    traps=(
        "A pair is a number of its own, no count of pairs.",
        "All Pairs is a sum and no pair.",
        "Gbps, Mbps and kbps count powers of 1000; other units are not read.",
        "The rate is that of the script: bytes that endpoint 2 confirmed, over the measured time.",
    ),
    tools={"IxChariot": Counted(rates=TRANSPORT)},
    parts=(r"^(?:All Pairs|Pair \d+),",),
    needs="the line that names the columns",
)


_SINK = re.compile(
    r"(?:(?P<program>(?:tcp|udp)sink): )?(?:(?P<bytes>\d{1,18}) bytes received"
    r"|получено байт: (?P<received>\d{1,18})"
    r"|(?P<count>\d{1,15}) (?:messages|datagrams) received)\s*"
)
_SOURCE = re.compile(
    r"(?:.*[$#%>]\s*|\s*)(?:time )?(?:\./)?(?P<protocol>tcp|udp)source(?P<options> .*)"
)
_OPTION = re.compile(r" -(?P<name>[sbc]) ?(?P<value>\d{1,12})\b")
_TIME = re.compile(
    r"(?P<name>real|user|sys)\s+(?:(?P<m>\d{1,6})m)?(?P<s>\d{1,9}(?:[.,]\d{1,9})?)s?\s*"
)
_LIKE_SOURCE = re.compile(
    r"(?:real|user|sys)\s.*\d|.*(?:(?:tcp|udp)sink: | received|получено байт)"
)
_CLOCKS = {"real": "wall_s", "user": "user_s", "sys": "system_s"}
_OPTIONS = {"s": "write_bytes", "b": "buffer_bytes", "c": "write_count"}


def _recognize_source(file: Input) -> bool:
    has_end = file.seen(r"^(?:tcp|udp)sink: \d|получено байт: \d")
    return has_end or (file.seen(r"^real\s+\d") and file.seen(r"(?:tcp|udp)source "))


def _read_source(file: Input) -> Table:
    """Read runs: a run begins with its command, or where a clock or a count is there again."""
    runs: list[dict[str, Any]] = [{}]
    lines = WholeLines(file.text, closed=re.compile(r"(?:real|user|sys)\s.*s|.*received"))
    for number, line in lines:
        values: dict[str, Any] = {}
        if source := _SOURCE.fullmatch(line):
            values = {"protocol": source["protocol"]}
            for option in _OPTION.finditer(source["options"]):
                values[_OPTIONS[option["name"]]] = float(option["value"])
            if len(values) <= len(re.findall(r" -[sbc]\b", source["options"])):
                lines.unread.append(number)
        elif sink := _SINK.fullmatch(line):
            values = {"protocol": (sink["program"] or "tcp")[:3]}
            size = sink["bytes"] or sink["received"]
            name = "received_bytes" if size else "received_count"
            values[name] = float(size or sink["count"])
        elif time := _TIME.fullmatch(line):
            seconds = 60.0 * int(time["m"] or 0) + float(time["s"].replace(",", "."))
            values = {_CLOCKS[time["name"]]: seconds}
        elif _LIKE_SOURCE.match(line):
            lines.unread.append(number)
        again = values.keys() & runs[-1].keys() - {"protocol"}
        if again or (line.strip() and source and len(runs[-1]) > 1):
            runs.append({})
        runs[-1] |= values
    runs = [run for run in runs if run.keys() & {"wall_s", "received_bytes", "received_count"}]
    if not runs:
        raise file.refusal("transfer-nothing", tool="a source and a sink")
    groups = groups_of([""] * len(runs))
    rows = [{"group": group, **run} for group, run in zip(groups, runs, strict=True)]
    return file.table(
        "source and sink", rows, facts=map(_facts, rows), warnings=lines.with_unread(),
        partial=lines.cut,
    )  # fmt: skip


def _facts(run: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a run: what was sent is known of a command with both options."""
    sent = run.get("write_bytes", nan) * run.get("write_count", nan)
    wall_s = run.get("wall_s", nan)
    lost = run.get("write_count", nan) - run.get("received_count", nan)
    return fact_row(
        group=run["group"],
        protocol=run.get("protocol"),
        direction=UPLOAD,
        sent_byte_count=sent,
        received_byte_count=run.get("received_bytes"),
        sent_rate_bps=8 * sent / wall_s if wall_s > 0 else nan,
        duration_s=wall_s,
        lost_datagram_count=lost if lost >= 0 else nan,
        partial=False,
    )


SOURCE = Format(
    name="source and sink",
    description="the lines of a source and a sink with the times of the shell",
    recognize=_recognize_source,
    read=_read_source,
    traps=(
        "real is the time of the whole program, with its start and its connection; the rate sent "
        "is the bytes over it. A sink also waits: its rate is unknown.",
        "-s and -c of the command say what was sent; without them it is unknown.",
        "user and sys are times of the processor.",
    ),
    tools={"source and sink": Counted(rates=TRANSPORT)},
    parts=(r"^(?:real|user|sys)\t\d+m\d+\.\d{3}s$",),
    needs="the command of the source, or what the sink received",
)


_LATTE = re.compile(r"(?P<name>[A-Z][\w()%/]+)\s{1,14}(?P<value>\S+)(?:\s+\(.*\))?\s*")
_BIN = re.compile(r"\s*(?P<usec>\d{1,9})\s+(?P<count>\d{1,15})\s*")
_COUNTERS = ("Latency(usec)", "CPU(%)", "CtxSwitch/sec", "SysCall/sec", "Interrupt/sec")
_NUMBERED = (*_COUNTERS, "Iterations", "MsgSize(byte)")
_LATTE_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def _read_latte(file: Input) -> Table:
    said: dict[str, str] = {}
    bins: list[tuple[float, float]] = []
    lines = WholeLines(file.text)
    for number, line in lines:
        if (histogram := _BIN.fullmatch(line)) and "Interval(usec)" in said:
            if int(histogram["count"]):
                bins.append((int(histogram["usec"]) / 1e6, float(histogram["count"])))
        elif (pair := _LATTE.fullmatch(line)) and (
            pair["name"] not in _NUMBERED or _LATTE_NUMBER.fullmatch(pair["value"])
        ):
            said.setdefault(pair["name"], pair["value"])
        elif line.startswith(_NUMBERED) or ("Interval(usec)" in said and line.strip()):
            lines.unread.append(number)
    if isnan(number_of(said.get("Latency(usec)", ""))):
        raise file.refusal("transfer-nothing", tool="latte")
    counters = {f"counter:{name}": number_of(said.get(name, "")) for name in _COUNTERS}
    return file.table(
        "latte",
        {"latency_s": [delay for delay, _ in bins], "exchange_count": [n for _, n in bins]},
        facts=[
            fact_row(
                counters, protocol=said.get("Protocol", "").lower(),
                reply_count=number_of(said.get("Iterations", "")), partial=lines.cut,
            )
        ],
        warnings=lines.with_unread(),
        printed={"message_bytes": number_of(said.get("MsgSize(byte)", ""))},
        partial=lines.cut,
    )  # fmt: skip


LATTE = Format(
    name="latte",
    description="the output of latte",
    recognize=lambda file: (
        (file.seen(r"^Latency\(usec\)\s+\d") and file.seen(r"^Iterations\s+\d"))
        or file.seen(r"^\s*Interval\(usec\)\s+Frequency\s*$")
    ),
    read=_read_latte,
    traps=(
        "Its manual does not say whether Latency(usec) is a round trip or half of it: it is a "
        "counter of that name, and no round trip.",
        "Bins of the histogram without a message are left out.",
    ),
    tools={
        "latte": Counted(
            facts={
                "counter:Latency(usec)": MeasuringPoint("", "application messages", CLIENT),
                "counter:*": MeasuringPoint("", "the system", HOST),
            }
        )
    },
    parts=(
        r"^\s*Interval\(usec\)\s+Frequency",
        r"^(?:SendMethod|ReceiveMethod|SO_SNDBUF|SO_RCVBUF|MsgSize\(byte\)|Iterations) +\S+\s*$",
        r"^(?:Latency\(usec\)|CPU\(%\)|(?:CtxSwitch|SysCall|Interrupt)/sec) +\d",
    ),
    needs="the lines of Iterations and of Latency(usec)",
)
