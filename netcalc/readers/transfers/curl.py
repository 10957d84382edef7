"""The output of curl: its progress meter, and what ``-w`` writes of a transfer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import number, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import DOWNLOAD, NAN, UPLOAD
from netcalc.readers.transfers._text import whole_lines
from netcalc.readers.transfers._whole import Transfer, transfers
from netcalc.samples import TransferSamples

_SIZE = r"\d{1,15}(?:\.\d)?[kMGTP]?"
_CLOCK = r"(?:--:--:--|\d+:\d\d:\d\d|\d+d \d+h)"
_METER = re.compile(
    rf"\s*(?P<share>\d+)\s+(?P<total>{_SIZE})\s+(?P<p>\d+)\s+(?P<got>{_SIZE})\s+(?P<q>\d+)\s+"
    rf"(?P<put>{_SIZE})\s+(?P<down>{_SIZE})\s+(?P<up>{_SIZE})\s+{_CLOCK}\s+(?P<spent>{_CLOCK})\s+"
    rf"{_CLOCK}\s+(?P<now>{_SIZE})\s*"
)
_PAIR = re.compile(
    r"\s*(?P<name>time_\w+|size_\w+|speed_\w+)\s*[:=]\s*(?P<value>\d+(?:[.,]\d+)?)\s*s?\s*"
)
_POWERS = {"": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def _recognize(given: Input) -> bool:
    if given.is_json:
        return {"time_total", "size_download", "speed_download"} <= given.keys()
    return given.seen(r"^\s+% Total\s+% Received % Xferd|^\s*time_total\s*[:=]\s*\d")


def _read(given: Input) -> TransferSamples:
    warnings: list[Notice] = []
    found: list[Transfer] = []
    if given.is_json:
        warnings += given.json.warnings
        cut = given.json.fault is not None
        for one in given.json.documents:
            if isinstance(one, dict):
                target = shorten(words(one, "url_effective", "url"), 150)
                found.append(_from_numbers(one, target, number(one, "exitcode") > 0))
        return transfers(given, found, warnings, tool="curl", partial=cut)
    lines, cut = whole_lines(given, warnings)
    numbers: dict[str, float] = {}
    last: re.Match[str] | None = None
    for line_number, line in lines:
        meter, pair = _METER.fullmatch(line), _PAIR.fullmatch(line)
        if meter:
            last = meter
        elif pair:
            if "," in pair["value"]:
                raise ReaderError(
                    "not-a-number", file=given.name, line=line_number, field=pair["name"],
                    value=pair["value"],
                )  # fmt: skip
            if pair["name"] in numbers:
                found.append(_from_numbers(numbers, "", failed=False))
                numbers = {}
            numbers[pair["name"]] = float(pair["value"])
        elif "% Total" in line and last:
            found.append(_from_meter(last))
            last = None
    if last:
        found.append(_from_meter(last))
    if numbers:
        found.append(_from_numbers(numbers, "", failed=False))
    if last and found:
        warnings.append(Notice("curl-rounded"))
    return transfers(given, found, warnings, tool="curl", partial=cut)


def _from_numbers(one: Mapping[str, Any], target: str, failed: bool) -> Transfer:
    """Return a transfer of curl's variables: bytes, bytes per second, seconds."""
    sent = number(one, "size_upload") > max(number(one, "size_download"), 0.0)
    way = "upload" if sent else "download"
    time = number(one, "time_total")
    return Transfer(
        byte_count=number(one, f"size_{way}"),
        duration_s=time if time > 0 else NAN,
        rate_bps=8 * number(one, f"speed_{way}"),
        direction=UPLOAD if sent else DOWNLOAD,
        target=target,
        failed=failed,
        handshake_rtt_s=_handshake_s(one),
    )


def _handshake_s(one: Mapping[str, Any]) -> float:
    """Return the time of the TCP handshake; nan if the times have none of its own.

    After redirects the times are sums over several connections; a connection that is used again
    has no handshake, and that of HTTP/3 is QUIC's.
    """
    again = number(one, "time_redirect") > 0 or number(one, "num_redirects") > 0
    reused = number(one, "num_connects") == 0
    if again or reused or words(one, "http_version").startswith("3"):
        return NAN
    taken = number(one, "time_connect") - number(one, "time_namelookup")
    return round(taken, 6) if number(one, "time_namelookup") > 0 and taken > 0 else NAN


def _from_meter(meter: re.Match[str]) -> Transfer:
    got, put = _size(meter["got"]), _size(meter["put"])
    sent = put > got
    return Transfer(
        byte_count=put if sent else got,
        duration_s=NAN,
        rate_bps=8 * _size(meter["up" if sent else "down"]),
        direction=UPLOAD if sent else DOWNLOAD,
        failed=int(meter["share"][:9]) < 100,
    )


def _size(text: str) -> float:
    prefix = text[-1] if text[-1] in _POWERS else ""
    return float(text.removesuffix(prefix)) * 1024.0 ** _POWERS[prefix]


FORMAT = Format(
    name="curl",
    description="the output of curl",
    recognize=_recognize,
    read=_read,
    traps=(
        "The meter is rounded to powers of 1024 bytes, its times to whole seconds: sizes are "
        "approximate and the time is unknown; -w has all of them exactly.",
        "speed_download is in bytes per second, over the whole time with lookup and handshakes.",
        "time_connect less time_namelookup is the TCP handshake, a round trip to the server or its "
        "proxy; unless a redirect came before, the connection was used again, or it is HTTP/3.",
        "The meter's last line is the end; those before are progress.",
    ),
)
