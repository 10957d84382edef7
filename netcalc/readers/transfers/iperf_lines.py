"""Lines of iperf 2 and iperf3: an interval with its transfer and its rate.

Rates count K, M, G as powers of 1000, bytes as powers of 1024: ``KBytes`` are 1024 bytes, and
``MBytes/sec`` are 8 * 1024**2 bit/s.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Input
from netcalc.readers.source import note
from netcalc.readers.transfers.runs import DOWNLOAD, NAN, POWERS, Interval, Way, flow_series
from netcalc.readers.transfers.runs import number_of as plain_number
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
_COMMAND = re.compile(r"(?:^|[\s$#>%/\\:`])iperf(?P<version>3?)(?:\.exe)?\s+(?P<options>-.*)")
_WITH_VALUE = {
    "-c": "client", "--client": "client", "-b": "rate", "--bitrate": "rate", "--bandwidth": "rate",
    "-l": "write", "--length": "write", "--len": "write", "-w": "buffer", "--window": "buffer",
    "-P": "streams", "--parallel": "streams",
}  # fmt: skip
_FLAGS = {
    "-u": "udp", "--udp": "udp", "-R": "reverse", "--reverse": "reverse", "--bidir": "bidir",
    "--dont-fragment": "dont_fragment",
}  # fmt: skip
_SIZE = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,9})?)(?P<power>[KMGT]?)", re.IGNORECASE)


@dataclass(slots=True)
class IntervalLine:
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

    def row(self, side: str, *, stream: str = "", omitted: bool = False) -> Interval:
        """Return what one side counted in the interval."""
        return Interval(
            start_s=self.start_s,
            duration_s=self.end_s - self.start_s,
            payload_bytes=self.byte_count,
            throughput_bps=self.rate_bps,
            stream=stream or self.stream,
            side=side,
            omitted=omitted,
        )


@dataclass(frozen=True, slots=True)
class StreamEnds:
    """A line that names the two ends of a stream."""

    stream: str
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


@dataclass(frozen=True, slots=True, kw_only=True)
class IperfCommand:
    """What the command line of a client asks for, as it stands above its output.

    Sizes count K, M, G as powers of 1024 (k, m, g of iperf 2 as powers of 1000), rates as powers of
    1000. ``-b`` is asked of each stream; without it UDP of iperf3 has 1024**2 bit/s.
    """

    is_udp: bool = False
    is_reverse: bool = False
    stream_count: int = 1
    rate_bps: float = NAN
    write_bytes: float = NAN
    buffer_bytes: float = NAN
    is_unfragmented: bool = False

    def printed(self) -> dict[str, Any]:
        """Return what it asks for, by the names of the JSON of iperf3."""
        asked: dict[str, Any] = {
            "asked_rate_bps": self.rate_bps,
            "write_bytes": self.write_bytes,
            "asked_buffer_bytes": self.buffer_bytes,
        }
        kept = {name: value for name, value in asked.items() if value > 0}
        return {**kept, "dont_fragment": True} if self.is_unfragmented else kept


def read_command(line: str) -> IperfCommand | None:
    """Return what a client of iperf was asked for, if a line is its command."""
    match = _COMMAND.search(line[:_LONGEST_COMMAND])
    if match is None:
        return None
    try:
        parts = shlex.split(match["options"].strip("`"))
    except ValueError:  # a quotation mark that is not closed
        return None
    asked: dict[str, str] = {}
    while parts:
        name, _, value = parts.pop(0).partition("=")
        short, glued = name[:2], name[2:]
        if name in _FLAGS:
            asked[_FLAGS[name]] = "yes"
        elif name in _WITH_VALUE:
            value = value or (parts.pop(0) if parts else "")
            asked[_WITH_VALUE[name]] = value
        elif not name.startswith("--") and glued and short in _WITH_VALUE:
            asked[_WITH_VALUE[short]] = glued
    if "client" not in asked or "bidir" in asked:
        return None
    is_udp = "udp" in asked
    usual = "1048576" if is_udp and match["version"] else "0"
    lower = 1024 if match["version"] else 1000
    count = asked.get("streams", "1")
    return IperfCommand(
        is_udp=is_udp,
        is_reverse="reverse" in asked,
        stream_count=int(count) if count.isdecimal() and len(count) < 4 else 1,
        rate_bps=_size(asked.get("rate", usual).partition("/")[0], (1000, 1000)),
        write_bytes=_size(asked.get("write", ""), (1024, lower)),
        buffer_bytes=_size(asked.get("buffer", ""), (1024, lower)),
        is_unfragmented="dont_fragment" in asked,
    )


def _size(text: str, bases: tuple[int, int]) -> float:
    """Return a number with a letter for its power, whose base is of large or of small letters.

    It is nan for anything else, such as ``10pps``.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        return NAN
    power = match["power"]
    return float(match["number"]) * float(bases[power.islower()] ** POWERS[power.upper()])


def to_samples(
    file: Input,
    runs: list[list[Way]],
    remarks: Remarks,
    further: Sequence[Notice] = (),
    **meta: Any,
) -> FlowSeries:
    """Return the directions of all runs, with warnings; refuse a file without a run.

    ``meta`` is what else is known of them: tool and version, what was asked for, host, start.
    """
    if not runs:
        raise ReaderError(
            "iperf-error-only" if remarks.messages else "iperf-nothing",
            file=file.name,
            line=remarks.unread[0] if remarks.unread else None,
            message=remarks.messages[0] if remarks.messages else "",
        )
    warnings = list(file.text.warnings)
    note(warnings, "iperf-reported", messages=list(dict.fromkeys(remarks.messages)))
    note(warnings, "intervals-repeated", count=remarks.repeated)
    note(warnings, "iperf-lines-unread", numbers=remarks.unread)
    note(warnings, "implausible-lines", numbers=remarks.implausible)
    return flow_series(file, runs, [*warnings, *further], **meta)


def printed_of(command: IperfCommand | None, ways: Sequence[Way]) -> dict[str, Any]:
    """Return what a command asked for; nothing where the output shows that it is of another run."""
    if command is None or len(ways) != 1:
        return {}
    (way,) = ways
    is_own = (
        command.is_udp == (way.protocol == "udp")
        and command.is_reverse == (way.direction == DOWNLOAD)
        and command.stream_count == max(len(way.streams), 1)
    )
    return command.printed() if is_own else {}


def read_interval(line: str) -> IntervalLine | None:
    """Return the interval of a line; None if it is not one that can be read with certainty."""
    row = _ROW.match(line)
    if row is None:
        return None
    size = number_of(row["size"]) * 1024 ** POWERS[row["size_unit"]]
    bits, base = (1, 1000) if row["what"] == "bits" else (8, 1024)
    rate = number_of(row["rate"]) * bits * base ** POWERS[row["rate_unit"]]
    has_size, has_rate = 0 <= size < math.inf, 0 <= rate < math.inf
    return IntervalLine(
        stream=row["id"].lstrip("* "),
        starred="*" in row["id"],
        role=row["role"] or "",
        start_s=number_of(row["start"]),
        end_s=number_of(row["end"]),
        byte_count=float(round(size)) if has_size else NAN,
        rate_bps=round(rate, 3) if has_rate else NAN,
        right=has_size and has_rate,
        rest=row["rest"],
    )


_LONGEST, _LONGEST_COMMAND = 200, 1000
"""Characters of a line in which an interval begins, and those of a command that are read."""


def looks_like_interval(line: str) -> bool:
    """Whether a line that was not read may be an interval, so that it must not pass in silence."""
    return bool(_LIKE_A_ROW.search(line[:_LONGEST]))


def read_connection(line: str) -> StreamEnds | None:
    """Return the two ends of a stream, if the line names them."""
    ends = _CONNECTED.match(line)
    if ends is None:
        return None
    return StreamEnds(
        stream=ends["id"].lstrip("* "),
        remote_port=int(ends["remote_port"]),
        rest=ends["rest"],
    )


@dataclass(frozen=True, slots=True)
class DatagramLosses:
    """What a receiver of datagrams says: its jitter, the datagrams lost, and all of them."""

    jitter_s: float
    lost_count: float
    datagram_count: float
    implausible: bool

    def put_in(self, row: Interval) -> None:
        """Put the numbers into the interval that they are of."""
        row.jitter_s, row.lost_count = self.jitter_s, self.lost_count
        row.datagram_count = self.datagram_count


def read_losses(rest: str) -> DatagramLosses | None:
    """Return jitter and losses from the end of a line; what cannot be is unknown."""
    printed = _LOSSES.match(rest)
    if printed is None:
        return None
    jitter = number_of(printed["jitter"]) / 1e3
    lost, total = number_of(printed["lost"]), number_of(printed["total"])
    bad_jitter, bad_loss = jitter < 0, lost < 0 or lost > total
    return DatagramLosses(
        jitter_s=NAN if bad_jitter else jitter,
        lost_count=NAN if bad_loss else lost,
        datagram_count=NAN if total < 0 else total,
        implausible=bad_jitter or bad_loss,
    )


def number_of(text: str) -> float:
    """Return a number with a decimal point or comma; nan if it is not one."""
    return plain_number(text.replace(",", "."))
