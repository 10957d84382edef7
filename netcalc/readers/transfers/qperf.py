"""The output of qperf: a rate or a latency for each test."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.transfers._runs import NAN, UPLOAD
from netcalc.readers.transfers._text import origin, whole_lines
from netcalc.samples import Fact, Meta, Table, fact_row

_TEST = re.compile(r"(?P<test>(?P<protocol>[a-z0-9]+)_[a-z0-9_]+|conf|quit):\s*")
_VALUE = re.compile(r" {2,}(?P<name>[a-z_]+) += +(?P<value>\S(?:.*\S)?)\s*")
_RATE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ([KMGT]?)(B(?:ytes)?|bytes|b(?:its)?)/sec")
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) (ns|us|ms|sec)")
_SIZE = re.compile(r"(?:.*\()?(\d{1,3}(?:,\d{3})+|\d{1,9})(?: bytes)?\)?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
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


def _recognize(given: Input) -> bool:
    return given.seen(r"^[a-z0-9]+_[a-z0-9_]+: *\n +\S+ +=") and given.seen(_LIKE)


def _read(given: Input) -> Table:
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
        rate = _RATE.fullmatch(value)
        if rate:
            bits = 1.0 if rate[3] in ("b", "bits") else 8.0
            setattr(test, _RATES[name], float(rate[1]) * bits * 1000.0 ** _POWERS[rate[2]])
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


FORMAT = Format(
    name="qperf",
    description="the output of qperf",
    recognize=_recognize,
    read=_read,
    traps=(
        "A latency is half of a measured round trip; the fact rtt_s is twice of it, the mean.",
        "Rates are in bytes (MB/sec, bytes/sec) or bits (Mb/sec, bits/sec), in powers of 1000.",
        "bw is what was received; of UDP, what was sent and what was received differ.",
        "All numbers are rounded to three digits.",
        "The size of a message is there with -vu only.",
        "A test without a result was cut.",
    ),
)
