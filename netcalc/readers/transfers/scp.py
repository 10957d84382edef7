"""The progress line of scp and sftp as it ends: name, share, size, rate, time."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import NAN
from netcalc.readers.transfers._text import whole_lines
from netcalc.readers.transfers._whole import Transfer, transfers
from netcalc.samples import TransferSamples

_LINE = re.compile(
    r"(?P<name>\S.*?)(?<=\S)\s+(?P<share>\d{1,3})%\s+(?P<size>\d+)(?P<prefix>[KMGTP]?)B?\s+"
    r"(?P<rate>\d+\.\d)(?P<rate_prefix>[KMGTP]?)B/s\s+"
    r"(?P<time>(?:\d+:)?\d\d:\d\d|--:--)(?P<left> ETA)?(?: - stalled -)?\s*"
)
_RATE = re.compile(r"\d%\s+\d+[KMGTP]?B?\s+\d+\.\d[KMGTP]?B/s\s")
_LIKE = re.compile(r"%\s.*[KMGTP]?B/s\s")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def _recognize(given: Input) -> bool:
    # The pattern of a line begins with any name, and is slow to find in a file that has none.
    return given.seen(_RATE.pattern) and given.seen(_LINE.pattern + "$")


def _read(given: Input) -> TransferSamples:
    warnings: list[Notice] = []
    last: dict[str, re.Match[str]] = {}
    lines, cut = whole_lines(given, warnings)
    unread = []
    for number, line in lines:
        row = _LINE.fullmatch(line)
        if row:
            last[row["name"]] = row
        elif _LIKE.search(line):
            unread.append(number)
    if unread:
        warnings.append(Notice("transfer-lines-unread", {"numbers": unread}))
    found = [_transfer(name, row) for name, row in last.items()]
    warnings.append(Notice("scp-rounded"))
    return transfers(given, found, warnings, tool="scp", partial=cut)


def _transfer(name: str, row: re.Match[str]) -> Transfer:
    seconds = 0
    done = row["share"] == "100" and not row["left"]
    if ":" in row["time"] and "-" not in row["time"] and done:
        for part in row["time"].split(":"):
            seconds = 60 * seconds + int(part)
    return Transfer(
        byte_count=float(row["size"][:15]) * 1024.0 ** _POWERS[row["prefix"]],
        duration_s=float(seconds) if seconds else NAN,
        rate_bps=8 * float(row["rate"]) * 1024.0 ** _POWERS[row["rate_prefix"]],
        direction="",
        target=shorten(name, 100),
        failed=not done,
    )


FORMAT = Format(
    name="scp",
    description="the output of scp",
    recognize=_recognize,
    read=_read,
    traps=(
        "KB and MB are powers of 1024 bytes and rounded: the size is approximate.",
        "The time is in whole seconds; 00:00 is unknown. With ETA it is what remains.",
        "The direction is not in the line.",
    ),
)
