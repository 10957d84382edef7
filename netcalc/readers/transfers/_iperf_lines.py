"""Lines of iperf 2 and iperf3: an interval with its transfer and its rate.

Rates count K, M, G as powers of 1000, bytes as powers of 1024: ``KBytes`` are 1024 bytes, and
``MBytes/sec`` are 8 * 1024**2 bit/s.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Input
from netcalc.readers.transfers._runs import NAN, Way, flow_series
from netcalc.samples import FlowSeries

# At most two digits behind a decimal comma: 1,234 could be a thousand, and iperf never groups.
_NUMBER = r"-?(?:\d{1,30}(?:\.\d{1,30}|,\d{1,2})?|nan|inf)"
_TIME = r"\d+(?:[.,]\d+)?"
_ROW = re.compile(
    r"(?P<clock>.{0,60}?)"
    r"\[\s*(?P<id>SUM(?:-\w+)?|(?:\*\s*)?\d+)\](?:\[(?P<role>[TR]X-[CS])\])?"
    rf"\s+(?P<start>{_TIME})\s*-\s*(?P<end>{_TIME})\s+sec"
    rf"\s+(?P<size>{_NUMBER})\s+(?P<size_unit>[KMGTP]?)Bytes"
    rf"\s+(?P<rate>{_NUMBER})\s+(?P<rate_unit>[KMGTP]?)(?P<what>bits|Bytes)/sec(?P<rest>.*)"
)
_LIKE_A_ROW = re.compile(r"\[[^\]]{0,20}\](?:\[[^\]]{0,8}\])?.*\ssec\s")
_CONNECTED = re.compile(
    r".{0,60}?\[\s*(?P<id>(?:\*\s*)?\d+)\] local (?P<local>\S+) port (?P<local_port>\d{1,5})"
    r" connected (?P<word>to|with) (?P<remote>\S+) port (?P<remote_port>\d{1,5})(?!\d)(?P<rest>.*)"
)
_LOSSES = re.compile(
    rf"\s*(?P<jitter>{_NUMBER}) ms\s+(?P<lost>-?\d+)\s*/\s*(?P<total>-?\d+)"
    r"\s+\((?P<ratio>[-+\w.,]+)%\)"
)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


@dataclass(slots=True)
class Interval:
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

    @property
    def is_sum(self) -> bool:
        """Whether the line is a sum of streams."""
        return self.stream.startswith("SUM")


@dataclass(frozen=True, slots=True)
class Connection:
    """A line that names the two ends of a stream."""

    stream: str
    word: str
    local_port: int
    remote: str
    remote_port: int
    rest: str


@dataclass(slots=True)
class Remarks:
    """Errors that iperf printed, the numbers of lines that are unread or implausible, and how many
    intervals it printed twice."""

    messages: list[str] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    implausible: list[int] = field(default_factory=list)
    repeated: int = 0


def to_samples(
    given: Input,
    runs: list[list[Way]],
    remarks: Remarks,
    further: Sequence[Notice] = (),
    *,
    tool: str,
    version: str = "",
) -> FlowSeries:
    """Return the directions of all runs, with warnings; refuse a file without a run."""
    if not runs:
        raise ReaderError(
            "iperf-error-only" if remarks.messages else "iperf-nothing",
            file=given.name,
            line=remarks.unread[0] if remarks.unread else None,
            message=remarks.messages[0] if remarks.messages else "",
        )
    warnings = list(given.text.warnings)
    if remarks.messages:
        distinct = list(dict.fromkeys(remarks.messages))
        warnings.append(Notice("iperf-reported", {"messages": distinct}))
    if remarks.repeated:
        warnings.append(Notice("intervals-repeated", {"count": remarks.repeated}))
    if remarks.unread:
        warnings.append(Notice("iperf-lines-unread", {"numbers": remarks.unread}))
    if remarks.implausible:
        warnings.append(Notice("implausible-lines", {"numbers": remarks.implausible}))
    warnings += further
    return flow_series(given, runs, warnings, tool=tool, version=version)


def read_interval(line: str) -> Interval | None:
    """Return the interval of a line; None if it is not one that can be read with certainty."""
    found = _ROW.match(line)
    if found is None:
        return None
    size = number_of(found["size"]) * 1024 ** _POWERS[found["size_unit"]]
    bits, base = (1, 1000) if found["what"] == "bits" else (8, 1024)
    rate = number_of(found["rate"]) * bits * base ** _POWERS[found["rate_unit"]]
    right = size >= 0 and 0 <= rate < math.inf and size < math.inf
    return Interval(
        stream=found["id"].lstrip("* "),
        starred="*" in found["id"],
        role=found["role"] or "",
        start_s=number_of(found["start"]),
        end_s=number_of(found["end"]),
        byte_count=float(round(size)) if 0 <= size < math.inf else NAN,
        rate_bps=round(rate, 3) if 0 <= rate < math.inf else NAN,
        right=right,
        rest=found["rest"],
    )


_LONGEST = 200
"""Characters of a line in which an interval begins."""


def looks_like_interval(line: str) -> bool:
    """Whether a line that was not read may be an interval, so that it must not pass in silence."""
    return bool(_LIKE_A_ROW.search(line[:_LONGEST]))


def read_connection(line: str) -> Connection | None:
    """Return the two ends of a stream, if the line names them."""
    found = _CONNECTED.match(line)
    if found is None:
        return None
    return Connection(
        stream=found["id"].lstrip("* "),
        word=found["word"],
        local_port=int(found["local_port"]),
        remote=found["remote"],
        remote_port=int(found["remote_port"]),
        rest=found["rest"],
    )


@dataclass(frozen=True, slots=True)
class Losses:
    """What a receiver of datagrams says: its jitter, the datagrams lost, and all of them."""

    jitter_s: float
    lost_count: float
    datagram_count: float
    implausible: bool


def read_losses(rest: str) -> Losses | None:
    """Return jitter and losses from the end of a line; what cannot be is unknown."""
    found = _LOSSES.match(rest)
    if found is None:
        return None
    jitter = number_of(found["jitter"]) / 1e3
    lost, total = number_of(found["lost"]), number_of(found["total"])
    bad_jitter, bad_loss = jitter < 0, lost < 0 or lost > total
    return Losses(
        jitter_s=NAN if bad_jitter else jitter,
        lost_count=NAN if bad_loss else lost,
        datagram_count=NAN if total < 0 else total,
        implausible=bad_jitter or bad_loss,
    )


def number_of(text: str) -> float:
    """Return a number with a decimal point or comma; nan if it is not one."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return NAN
    return value if math.isfinite(value) else NAN
