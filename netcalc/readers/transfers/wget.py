"""The output of wget: the last line of each file, with or without its progress."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import NAN
from netcalc.readers.transfers._text import whole_lines
from netcalc.readers.transfers._whole import Transfer, transfers
from netcalc.samples import TransferSamples

_STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
_SAVED = re.compile(
    rf"{_STAMP} \((?P<rate>\d+(?:[.,]\d{{1,2}})?) (?P<unit>[KMGT]?B|[KMGT]?b)/s\) [-–—] "
    r"(?P<what>\S.*?)(?<=\S)\s+\[(?P<got>\d{1,18})(?:/(?P<all>\d{1,18}))?\]\s*"
)
_BROKEN = re.compile(
    rf"{_STAMP} \((?P<rate>\d+(?:[.,]\d{{1,2}})?) (?P<unit>[KMGT]?B|[KMGT]?b)/s\) [-–—] "
    r".* (?:at byte|byte) (?P<got>\d{1,18})(?:/(?P<all>\d{1,18}))?.*"
)
_QUIET = re.compile(rf"{_STAMP} URL:\s?(?P<url>\S+) \[(?P<got>\d+)(?:/(?P<all>\d+))?\] -> .*")
_TIME = re.compile(r".*(?:100%|<=>).*?[=\s](?:in )?(?:(?P<m>\d+)m )?(?P<s>\d+(?:[.,]\d{1,3})?)s\s*")
_START = re.compile(rf"--{_STAMP}--\s+(?P<url>\S+)\s*")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def _recognize(given: Input) -> bool:
    return given.seen(_START.pattern) or given.seen(
        rf"^{_STAMP} (?:URL:|\([\d.,]+ [KMGT]?[Bb]/s\) [-–—] )"
    )


def _read(given: Input) -> TransferSamples:
    warnings: list[Notice] = []
    found: list[Transfer] = []
    target = ""
    time_s = NAN
    pending = False
    lines, cut = whole_lines(given, warnings)
    for _, line in lines:
        start, time = _START.fullmatch(line), _TIME.fullmatch(line)
        end = _SAVED.fullmatch(line) or _BROKEN.fullmatch(line)
        quiet = _QUIET.fullmatch(line)
        if start:
            target, time_s, pending = shorten(start["url"], 150), NAN, True
        elif end:
            rate = _rate(end["rate"], end["unit"])
            size = float(end["got"])
            whole = float(end["all"]) if end["all"] else size
            found.append(Transfer(size, time_s, rate, target=target, failed=size < whole))
            time_s, pending = NAN, False
        elif quiet:
            size = float(quiet["got"][:18])
            whole = float(quiet["all"][:18]) if quiet["all"] else size
            url = shorten(quiet["url"], 150)
            found.append(Transfer(size, target=url, failed=size < whole))
            pending = False
        elif time:
            minutes = int((time["m"] or "0")[:6])
            time_s = 60.0 * minutes + float(time["s"].replace(",", "."))
    return transfers(given, found, warnings, tool="wget", partial=cut or pending)


def _rate(text: str, unit: str) -> float:
    """Return the rate in bit/s: bytes in powers of 1024, bits in powers of 1000."""
    value, prefix = float(text.replace(",", ".")), unit[:-1]
    if unit.endswith("b"):
        return value * 1000.0 ** _POWERS[prefix]
    return 8 * value * 1024.0 ** _POWERS[prefix]


FORMAT = Format(
    name="wget",
    description="the output of wget",
    recognize=_recognize,
    read=_read,
    traps=(
        "KB/s and MB/s are powers of 1024 bytes; Mb/s (--report-speed=bits) are bits.",
        "The bytes are exact, the rate has three digits, the time of the progress fewer.",
        "The file of a quiet run (-nv) has no time: it is unknown.",
        "Fewer bytes than announced are a failed transfer.",
        "A file that grew from an earlier attempt (-c) has bytes that this run did not get.",
    ),
)
