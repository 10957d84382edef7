"""Copies of files: the line with size, time and rate of dd, scp, rsync, wget and curl."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

from netcalc.messages import Notice
from netcalc.rate_layers import FILE, HTTP_BODY
from netcalc.readers.document import number, words
from netcalc.readers.format import Format, Input, groups_of, seen
from netcalc.readers.places import HANDSHAKE, HOST, OF_ROW, Counted, MeasuringPoint
from netcalc.readers.source import WholeLines, note, shorten
from netcalc.readers.transfers.transfer import DOWNLOAD, POWERS, UPLOAD, scaled
from netcalc.samples import Meta, TransferSamples, fact_row


@dataclass(slots=True)
class Copy:
    """One copy of a file as its line shows it."""

    byte_count: float = nan
    duration_s: float = nan
    rate_bps: float = nan
    direction: str = DOWNLOAD
    target: str = ""
    failed: bool = False
    handshake_rtt_s: float = nan


def transfers(
    file: Input, copies: list[Copy], warnings: list[Notice], *, tool: str, partial: bool = False
) -> TransferSamples:
    """Return the copies as samples; refuse a file without one."""
    if not copies:
        raise file.refusal("transfer-nothing", tool=tool)
    groups = groups_of([""] * len(copies))
    facts = []
    for group, copy in zip(groups, copies, strict=True):
        end = "received" if copy.direction == DOWNLOAD else "sent"
        row: dict[str, Any] = {
            "group": group,
            "target": copy.target,
            "direction": copy.direction,
            "duration_s": copy.duration_s,
            "handshake_rtt_min_s": copy.handshake_rtt_s,
            "partial": copy.failed or (partial and copy is copies[-1]),
            f"{end}_byte_count": copy.byte_count,
            f"{end}_rate_bps": copy.rate_bps,
        }
        facts.append(fact_row(row))
    return TransferSamples(
        payload_bytes=[copy.byte_count for copy in copies],
        duration_s=[copy.duration_s for copy in copies],
        failed=[copy.failed for copy in copies],
        group=groups,
        meta=Meta(
            tool=tool,
            target=", ".join(dict.fromkeys(copy.target for copy in copies if copy.target)),
            facts=tuple(facts),
            warnings=tuple(warnings),
            partial=partial or any(copy.failed for copy in copies),
            **file.origin,
        ),
    )


def rate_of(byte_count: float, duration_s: float) -> float:
    """Return bytes over time in bit/s; nan where one of them is not known."""
    rate = 8 * byte_count / duration_s if duration_s > 0 else nan
    return rate if isfinite(rate) else nan


_NUMBER = r"\d{1,20}(?:[.,]\d{1,20})?(?:e[+-]\d\d)?"
_LINE = re.compile(
    r"(?P<bytes>\d{1,20}) (?:[Bb]ytes?|octets)(?: \([^)]*\))*,? \S+(?: \S+)?,? "
    rf"(?P<time>{_NUMBER}) ?"
    rf"(?:s|secs?|seconds|Sek\.)\s*,?\s*\(?(?P<rate>{_NUMBER}|Infinity) ?(?P<prefix>[kKMGT]?)"
    r"(?:i?B/s|bytes/sec)\)?\s*"
)
_LIKE = r"^\d+ (?:[Bb]ytes?|octets)(?: \([^)]*\))*,? (?:copied|transferred|kopiert|copiés)\b"
_RECORDS = r"^\d+\+\d+ (?:records|Datensätze) "


def _recognize_dd(file: Input) -> bool:
    return file.seen(_LIKE) or (file.seen(_RECORDS) and file.seen(r"^\d+ (?:[Bb]ytes?|octets) "))


def _read_dd(file: Input) -> TransferSamples:
    copies: list[Copy] = []
    unsure: list[int] = []
    lines = WholeLines(file.text, closed=re.compile(r".*(?:B/s|bytes/sec\))"))
    for line_number, line in lines:
        row = _LINE.fullmatch(line)
        if row is None:
            if re.match(_LIKE, line):
                lines.unread.append(line_number)
            continue
        size, time = float(row["bytes"]), float(row["time"].replace(",", "."))
        rate = rate_of(size, time)
        # The printed rate shows whether the decimal sign was read rightly.
        if rate == rate and not _agrees(rate / 8, row):
            unsure.append(line_number)
            time = rate = nan
        copies.append(Copy(size, time if time > 0 else nan, rate, direction=""))
    warnings = lines.with_unread()
    note(warnings, "transfer-rate-differs", numbers=unsure)
    return transfers(file, copies, warnings, tool="dd", partial=lines.cut)


def _agrees(bytes_per_s: float, row: re.Match[str]) -> bool:
    if row["rate"] == "Infinity":
        return True
    printed = float(row["rate"].replace(",", "."))
    power = POWERS[row["prefix"]]
    low, high = 0.9 * bytes_per_s, 1.1 * bytes_per_s
    return any(low < printed * base**power < high for base in (1000.0, 1024.0))


DD = Format(
    name="dd",
    description="the output of dd",
    recognize=_recognize_dd,
    read=_read_dd,
    traps=(
        "The bytes and the time are exact; the rate is rounded, in powers of 1000 by GNU and of "
        "1024 by BusyBox, and serves as a check only.",
        "A time that does not fit the rate (a comma that may group) is unknown.",
        "Without conv=fsync or a pipe to a network, dd measures the cache.",
    ),
    tools={
        "dd": Counted(
            facts=dict.fromkeys(
                ("*_byte_count", "*_rate_bps"),
                MeasuringPoint(OF_ROW, "data that dd copied, of any device", HOST),
            ),
            rates=FILE,
        ),
    },
)


_SCP_LINE = re.compile(
    r"(?P<name>\S.*?)(?<=\S)\s+(?P<share>\d{1,3})%\s+(?P<size>\d+)(?P<prefix>[KMGTP]?)B?\s+"
    r"(?P<rate>\d+\.\d)(?P<rate_prefix>[KMGTP]?)B/s\s+"
    r"(?P<time>(?:\d+:)?\d\d:\d\d|--:--)(?P<left> ETA)?(?: - stalled -)?\s*"
)
_RATE = re.compile(r"\d%\s+\d+[KMGTP]?B?\s+\d+\.\d[KMGTP]?B/s\s")
_LIKE_RATE = re.compile(r"%\s.*[KMGTP]?B/s\s|\d%\s.*\s\d\d:\d\d")


def _read_scp(file: Input) -> TransferSamples:
    last: dict[str, re.Match[str]] = {}
    lines = WholeLines(file.text)
    for line_number, line in lines:
        row = _SCP_LINE.fullmatch(line)
        if row:
            last[row["name"]] = row
        elif _LIKE_RATE.search(line):
            lines.unread.append(line_number)
    copies = [_transfer(name, row) for name, row in last.items()]
    warnings = [*lines.with_unread(), Notice("scp-rounded")]
    return transfers(file, copies, warnings, tool="scp", partial=lines.cut)


def _transfer(name: str, row: re.Match[str]) -> Copy:
    seconds = 0
    done = row["share"] == "100" and not row["left"]
    if ":" in row["time"] and "-" not in row["time"] and done:
        for part in row["time"].split(":"):
            seconds = 60 * seconds + int(part)
    return Copy(
        byte_count=scaled(row["size"][:15], row["prefix"], 1024.0),
        duration_s=float(seconds) if seconds else nan,
        rate_bps=8 * scaled(row["rate"], row["rate_prefix"], 1024.0),
        direction="",
        target=shorten(name, 100),
        failed=not done,
    )


SCP = Format(
    name="scp",
    description="the output of scp",
    recognize=lambda file: file.seen(_RATE.pattern) and file.seen(_SCP_LINE.pattern + "$"),
    read=_read_scp,
    traps=(
        "KB and MB are powers of 1024 bytes and rounded: the size is approximate.",
        "The time is in whole seconds; 00:00 is unknown. With ETA it is what remains.",
        "The direction is not in the line.",
    ),
    tools={
        "scp": Counted(rates=FILE),
    },
)


_GROUPED = r"\d[\d.,]{0,23}[KMGT]?"
_RSYNC_END = re.compile(
    rf"sent (?P<sent>{_GROUPED}) bytes  received (?P<received>{_GROUPED}) bytes  "
    rf"(?P<rate>{_GROUPED}) bytes/sec\s*"
)
_RSYNC_FILE = re.compile(
    rf"\s*(?P<size>{_GROUPED}) +100% +(?P<rate>\d+[.,]\d\d)(?P<prefix>[kMGT])B/s +"
    r"(?P<time>\d+:\d\d:\d\d)  ?\((?:xfr|xfer)#\d+, \S+\)\s*"
)
_RSYNC_LIKE = re.compile(r"sent .*bytes/sec|.* 100% .*\(xfe?r#")


def _read_rsync(file: Input) -> TransferSamples:
    runs: list[Copy] = []
    copies: list[Copy] = []
    lines = WholeLines(file.text, closed=re.compile(r".*(?:bytes/sec|xfe?r#.*\))"))
    for line_number, line in lines:
        if (end := _RSYNC_END.fullmatch(line)) and (run := _run_of_rsync(end)):
            runs.append(run)
        elif (row := _RSYNC_FILE.fullmatch(line)) and not end:
            hours, minutes, seconds = map(int, row["time"].split(":"))
            time_s = 3600.0 * hours + 60.0 * minutes + seconds
            rate = 8 * scaled(row["rate"].replace(",", "."), row["prefix"], 1024.0)
            copies.append(Copy(_grouped(row["size"]), time_s or nan, rate or nan, direction=""))
        elif _RSYNC_LIKE.match(line):
            lines.unread.append(line_number)
    warnings = lines.with_unread()
    note(warnings, "rsync-whole-seconds", is_so=True)
    partial = lines.cut or not runs
    return transfers(file, runs or copies, warnings, tool="rsync", partial=partial)


def _run_of_rsync(end: re.Match[str]) -> Copy | None:
    """Return a whole run; None of a line whose numbers disagree.

    The rate is that of both directions, over half a second more than the whole seconds it took.
    """
    sent, received = _grouped(end["sent"]), _grouped(end["received"])
    rate = _grouped(end["rate"], digits=2)
    time_s = (sent + received) / rate - 0.5 if rate else nan
    whole_s = float(round(time_s)) if isfinite(time_s) else nan
    is_rounded = end[0].count("bytes") != len(re.findall(r"\d bytes", end[0]))
    if not is_rounded and not abs(time_s - whole_s) < 0.02 + 0.01 * time_s / rate:
        return None
    byte_count, way = max((sent, UPLOAD), (received, DOWNLOAD))
    return Copy(byte_count, whole_s or nan, rate_of(byte_count, whole_s), way)


def _grouped(text: str, digits: int = 0) -> float:
    """Return a number with its thousands in groups, and so many digits behind the decimal sign.

    >>> _grouped("734,182,514"), _grouped("36.275.769,44", 2), _grouped("2.98G")
    (734182514.0, 36275769.44, 2980000000.0)
    """
    if text[-1] in POWERS:
        return scaled(re.sub(r"[.,](?=.*[.,])", "", text[:-1]).replace(",", "."), text[-1])
    has_point = digits and re.search(rf"[.,]\d{{{digits}}}$", text)
    return float(re.sub(r"[.,]", "", text)) / (10**digits if has_point else 1)


RSYNC = Format(
    name="rsync",
    description="the output of rsync",
    recognize=seen(_RSYNC_END.pattern + "$", _RSYNC_FILE.pattern + "$"),
    read=_read_rsync,
    traps=(
        "sent and received count what crossed the connection, after compression and without parts "
        "that the other side had; the run is one row, whatever its files.",
        "Its bytes/sec are of both directions together, over half a second more than the time in "
        "whole seconds: the rate is that of the larger direction over that time.",
        "Without that line the rows are the files: kB/s and MB/s are powers of 1024, and count "
        "parts that the other side had.",
        "2.98G bytes (-h) are powers of 1000, of 1024 with -hh, which the output does not say.",
    ),
    tools={"rsync": Counted(rates=FILE)},
    parts=(
        r"^(?:sending|receiving) (?:incremental )?file list",
        r"^total size is .* speedup is ",
        r"^Number of (?:created |deleted |regular )?files(?: transferred)?: ",
        r"^(?:Literal|Matched) data: |^File list (?:size|\w+ time): ",
        r"^Total bytes (?:sent|received): ",
        r"^\s*[\d.,]+[KMGT]? +\d+% +[\d.,]+[kMGT]B/s +\d+:\d\d:\d\d\s*$",
    ),
    needs="the line with sent, received and bytes/sec",
)


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
_TIME = re.compile(r".*(?:100%|<=>).*?(?:=|\sin )(?:(?P<m>\d+)m ?)?(?P<s>\d+(?:[.,]\d{1,3})?)s\s*")
_LIKE_TIME = re.compile(r".*100%.*(?:=|\sin )\S.*")
_START = re.compile(rf"--{_STAMP}--\s+(?P<url>\S+)\s*")


def _read_wget(file: Input) -> TransferSamples:
    copies: list[Copy] = []
    target = ""
    time_s = nan
    pending = False
    lines = WholeLines(file.text, closed=re.compile(r".*\[\d+(?:/\d+)?\]"))
    for line_number, line in lines:
        if start := _START.fullmatch(line):
            target, time_s, pending = shorten(start["url"], 150), nan, True
        elif end := _SAVED.fullmatch(line) or _BROKEN.fullmatch(line):
            rate = _rate(end["rate"], end["unit"])
            copies.append(_copy_of_wget(end, time_s, rate, target=target))
            time_s, pending = nan, False
        elif quiet := _QUIET.fullmatch(line):
            copies.append(_copy_of_wget(quiet, target=shorten(quiet["url"], 150)))
            pending = False
        elif time := _TIME.fullmatch(line):
            minutes = int((time["m"] or "0")[:6])
            time_s = 60.0 * minutes + float(time["s"].replace(",", "."))
        elif _LIKE_TIME.fullmatch(line):
            lines.unread.append(line_number)
    partial = lines.cut or pending
    return transfers(file, copies, lines.with_unread(), tool="wget", partial=partial)


def _copy_of_wget(
    line: re.Match[str], time_s: float = nan, rate_bps: float = nan, *, target: str
) -> Copy:
    size = float(line["got"][:18])
    whole = float(line["all"][:18]) if line["all"] else size
    return Copy(size, time_s, rate_bps, target=target, failed=size < whole)


def _rate(text: str, unit: str) -> float:
    """Return the rate in bit/s: bytes in powers of 1024, bits in powers of 1000."""
    number, prefix = text.replace(",", "."), unit[:-1]
    return scaled(number, prefix) if unit[-1] == "b" else 8 * scaled(number, prefix, 1024.0)


WGET = Format(
    name="wget",
    description="the output of wget",
    recognize=seen(_START.pattern, rf"^{_STAMP} (?:URL:|\([\d.,]+ [KMGT]?[Bb]/s\) [-–—] )"),
    read=_read_wget,
    traps=(
        "KB/s and MB/s are powers of 1024 bytes; Mb/s (--report-speed=bits) are bits.",
        "The bytes are exact, the rate has three digits, the time of the progress fewer.",
        "The file of a quiet run (-nv) has no time: it is unknown.",
        "Fewer bytes than announced are a failed transfer.",
        "A file that grew from an earlier attempt (-c) has bytes that this run did not get.",
    ),
    tools={
        "wget": Counted(rates=HTTP_BODY),
    },
    parts=(
        r"^Length: (?:\d+ .*|unspecified )\[",
        r"^Saving to: ",
        r"^\S+ +\d+%\[[ =>]*\] ",
        r"^ *\d+K (?:[.,]{10} ?){1,5}",
        r"^HTTP request sent, awaiting response",
    ),
    needs="the line with the rate and the bytes in brackets, or a URL and these",
)


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


_OWN_PAIR = re.compile(
    r"\s*(?P<name>[A-Za-z][\w -]{1,24}?)\s*[:=]\s*(?P<value>\d+(?:\.\d{6})?)\s*(?:s|B|bytes)?\s*"
)
_LABELS: Mapping[str, str] = {
    "dns": "time_namelookup", "dns_lookup": "time_namelookup", "lookup": "time_namelookup",
    "namelookup": "time_namelookup", "connect": "time_connect", "tcp": "time_connect",
    "tcp_connect": "time_connect", "redirect": "time_redirect", "total": "time_total",
    "size": "size_download",
}  # fmt: skip
"""Variable by a label of a person's own, without ``time``: times in s with the six decimals of
curl, which has no other unit. A ``speed`` may be in any."""
_LIKE_PAIR = re.compile(r"\s*(?:time|size|speed)_\w+\s*[:=]")
_NUMBERS = ("time_total", "time_connect", "time_namelookup", *(
    f"{what}_{way}load" for what in ("size", "speed") for way in ("up", "down")
))  # fmt: skip
_VARIABLES = r"^\s*(?:time_total|(?:size|speed)_(?:down|up)load)\s*[:=]\s*\d"


def _recognize_curl(file: Input) -> bool:
    if file.is_json:
        return {"time_total", "size_download", "speed_download"} <= file.keys()
    if file.seen(r"^\s+% Total\s+% Received % Xferd|" + _VARIABLES):
        return True
    return {"time_connect", "time_total"} <= {_own(line)[0] for line in file.first.splitlines()}


def _read_curl(file: Input) -> TransferSamples:
    copies: list[Copy] = []
    if file.is_json:
        warnings = list(file.json.warnings)
        cut = file.json.fault is not None
        for row in file.json.documents:
            if isinstance(row, dict):
                target = shorten(words(row, "url_effective", "url"), 150)
                copies.append(_from_numbers(row, target, number(row, "exitcode") > 0))
                odd = [name for name in _NUMBERS if isinstance(row.get(name), str)]
                note(warnings, "implausible-values", count=len(odd), name=", ".join(odd))
        return transfers(file, copies, warnings, tool="curl", partial=cut)
    lines = WholeLines(file.text)
    numbers: dict[str, float] = {}
    last: re.Match[str] | None = None
    for line_number, line in lines:
        meter, pair = _METER.fullmatch(line), _PAIR.fullmatch(line)
        name, value = (pair["name"], pair["value"]) if pair else _own(line)
        if meter:
            last = meter
        elif name:
            if "," in value:
                raise file.refusal("not-a-number", line=line_number, field=name, value=value)
            if name in numbers:
                copies.append(_from_numbers(numbers, "", failed=False))
                numbers = {}
            numbers[name] = float(value)
        elif "% Total" in line:
            copies += [_from_meter(last)] if last else []
            last = None
        elif _LIKE_PAIR.match(line):
            lines.unread.append(line_number)
    warnings = lines.with_unread()
    if last:
        copies.append(_from_meter(last))
    if numbers:
        copies.append(_from_numbers(numbers, "", failed=False))
    if last and copies:
        warnings.append(Notice("curl-rounded"))
    return transfers(file, copies, warnings, tool="curl", partial=lines.cut)


def _own(line: str) -> tuple[str, str]:
    """Return the variable that a label of a person's own stands for, and its value, or nothing."""
    pair = _OWN_PAIR.fullmatch(line)
    if pair is None:
        return "", ""
    label = re.sub(r"[ -]", "_", pair["name"].lower())
    name = _LABELS.get(label.removeprefix("time_").removesuffix("_time"), "")
    is_like_curl = name.startswith("time_") == ("." in pair["value"])
    return (name, pair["value"]) if is_like_curl else ("", "")


def _from_numbers(row: Mapping[str, Any], target: str, failed: bool) -> Copy:
    """Return a transfer of curl's variables: bytes, bytes per second, seconds."""
    sent = number(row, "size_upload") > max(number(row, "size_download"), 0.0)
    way = "upload" if sent else "download"
    time, rate = number(row, "time_total"), 8 * number(row, f"speed_{way}")
    return Copy(
        byte_count=number(row, f"size_{way}"),
        duration_s=time if time > 0 else nan,
        rate_bps=rate if rate >= 0 else rate_of(number(row, f"size_{way}"), time),
        direction=UPLOAD if sent else DOWNLOAD,
        target=target,
        failed=failed,
        handshake_rtt_s=_handshake_s(row),
    )


def _handshake_s(row: Mapping[str, Any]) -> float:
    """Return the time of the TCP handshake; nan if the times have none of its own.

    After redirects the times are sums over several connections; a connection that is used again
    has no handshake, and that of HTTP/3 is QUIC's.
    """
    again = number(row, "time_redirect") > 0 or number(row, "num_redirects") > 0
    reused = number(row, "num_connects") == 0
    if again or reused or words(row, "http_version").startswith("3"):
        return nan
    taken = number(row, "time_connect") - number(row, "time_namelookup")
    return round(taken, 6) if number(row, "time_namelookup") > 0 and taken > 0 else nan


def _from_meter(meter: re.Match[str]) -> Copy:
    got, put = _size(meter["got"]), _size(meter["put"])
    sent = put > got
    return Copy(
        byte_count=put if sent else got,
        duration_s=nan,
        rate_bps=8 * _size(meter["up" if sent else "down"]),
        direction=UPLOAD if sent else DOWNLOAD,
        failed=int(meter["share"][:9]) < 100,
    )


def _size(text: str) -> float:
    prefix = text[-1] if text[-1] in POWERS else ""
    return scaled(text.removesuffix(prefix), prefix, 1024.0)


CURL = Format(
    name="curl",
    description="the output of curl",
    recognize=_recognize_curl,
    read=_read_curl,
    traps=(
        "The meter is rounded to powers of 1024 bytes, its times to whole seconds: sizes are "
        "approximate and the time is unknown; -w has all of them exactly.",
        "speed_download is in bytes per second, over the whole time with lookup and handshakes.",
        "time_connect less time_namelookup is the TCP handshake, a round trip to the server or its "
        "proxy; unless a redirect came before, the connection was used again, or it is HTTP/3.",
        "The meter's last line is the end; those before are progress.",
    ),
    tools={
        # curl(1), size_download and speed_download: the body, without headers
        "curl": Counted(facts={"handshake_rtt_min_s": HANDSHAKE}, rates=HTTP_BODY),
    },
    parts=(
        r"^ +Dload +Upload +Total +Spent",
        r"^[ \d]{3} +[\d.]+[kMG]? .*(?:--:--:--|\d:\d\d:\d\d) +[\d.]+[kMG]?\s*$",
        r"^\s*time_(?:namelookup|connect|appconnect|starttransfer)\s*[:=]\s*\d",
    ),
    needs="size_download, speed_download and time_total",
)
