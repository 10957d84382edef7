"""The last line of dd: GNU, BusyBox, BSD and macOS."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.transfers._runs import NAN
from netcalc.readers.transfers._text import whole_lines
from netcalc.readers.transfers._whole import Transfer, rate_of, transfers
from netcalc.samples import TransferSamples

_NUMBER = r"\d{1,20}(?:[.,]\d{1,20})?(?:e[+-]\d\d)?"
_LINE = re.compile(
    r"(?P<bytes>\d{1,20}) (?:[Bb]ytes?|octets)(?: \([^)]*\))*,? \S+(?: \S+)?,? "
    rf"(?P<time>{_NUMBER}) ?"
    rf"(?:s|secs?|seconds|Sek\.)\s*,?\s*\(?(?P<rate>{_NUMBER}|Infinity) ?(?P<prefix>[kKMGT]?)"
    r"(?:i?B/s|bytes/sec)\)?\s*"
)
_LIKE = r"^\d+ (?:[Bb]ytes?|octets)(?: \([^)]*\))*,? (?:copied|transferred|kopiert|copiés)\b"
_RECORDS = r"^\d+\+\d+ (?:records|Datensätze) "
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}


def _recognize(given: Input) -> bool:
    return given.seen(_LIKE) or (given.seen(_RECORDS) and given.seen(r"^\d+ (?:[Bb]ytes?|octets) "))


def _read(given: Input) -> TransferSamples:
    warnings: list[Notice] = []
    found: list[Transfer] = []
    unread: list[int] = []
    unsure: list[int] = []
    lines, cut = whole_lines(given, warnings)
    for number, line in lines:
        row = _LINE.fullmatch(line)
        if row is None:
            if re.match(_LIKE, line):
                unread.append(number)
            continue
        size, time = float(row["bytes"]), float(row["time"].replace(",", "."))
        rate = rate_of(size, time)
        # The printed rate shows whether the decimal sign was read rightly.
        if rate == rate and not _agrees(rate / 8, row):
            unsure.append(number)
            time = rate = NAN
        found.append(Transfer(size, time if time > 0 else NAN, rate, direction=""))
    if unread:
        warnings.append(Notice("transfer-lines-unread", {"numbers": unread}))
    if unsure:
        warnings.append(Notice("transfer-rate-differs", {"numbers": unsure}))
    return transfers(given, found, warnings, tool="dd", partial=cut)


def _agrees(bytes_per_s: float, row: re.Match[str]) -> bool:
    if row["rate"] == "Infinity":
        return True
    printed = float(row["rate"].replace(",", "."))
    power = _POWERS[row["prefix"]]
    low, high = 0.9 * bytes_per_s, 1.1 * bytes_per_s
    return any(low < printed * base**power < high for base in (1000.0, 1024.0))


FORMAT = Format(
    name="dd",
    description="the output of dd",
    recognize=_recognize,
    read=_read,
    traps=(
        "The bytes and the time are exact; the rate is rounded, in powers of 1000 by GNU and of "
        "1024 by BusyBox, and serves as a check only.",
        "A time that does not fit the rate (a comma that may group) is unknown.",
        "Without conv=fsync or a pipe to a network, dd measures the cache.",
    ),
)
