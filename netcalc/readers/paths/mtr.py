"""The output of mtr: its text report, CSV, JSON, and the raw lines of its events."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from netcalc.messages import Notice
from netcalc.readers.document import closed_after_whole_parts, member, number, rows, words
from netcalc.readers.format import Format, Input, seen
from netcalc.readers.paths import traces
from netcalc.readers.places import TO_NODES, Counted
from netcalc.readers.source import csv_rows, no_measurement, note, shorten
from netcalc.samples import PathSamples, Table

_START = re.compile(r"^Start: (\S.*)$")
_HOST = re.compile(
    r"^(?:HOST: ?|\s*Host\s+(?=(?:Loss%|Drop|Rcv|Snt|Last|Best|Avg)\s))(?P<rest>.*)$"
)
_SCREEN = re.compile(r"^\s*(?P<host>\S+) \([^\s()]+\) -> (?P<target>[^\s()]+)(?:\s|$)")
_COMMAND = re.compile(
    r"(?:^|[\s/])mtr\s(?:.*\s)?(?:-[A-Za-z46]*s ?|--psize[ =])(?P<size>[0-9]{2,5})(?![0-9.])"
)
"""The command in front of a report, with the size of its probes."""
_FRAME = re.compile(
    r"^\s*(?:My traceroute {2}\[|Keys: {2}|Packets\s+Pings|\S+ \([0-9A-Fa-f.:]+\)\s)"
)
_SILENT = re.compile(
    r"^\s*(?P<hop>[0-9]{1,3})\.(?:\|--)?\s+(?:AS\S+\s+)?(?:\?\?\?|\(waiting for reply\))\s*$"
)
"""A node of the screen that has not answered: it has no figures there."""
_WORD = re.compile(r"[A-Z][A-Za-z]*%?")
_HOP = re.compile(r"^\s*(?P<hop>[0-9]{1,3})\.(?:\|--|\s)\s*(?P<rest>\S.*)$")
_OTHER = re.compile(
    r"^\s*(?:\|\s+)?[|`]--\s*(?P<node>\S+(?: \(\S+\))?)"
    r"|^\s{4,}(?:AS(?:\d+|\?+)\s+)?(?P<bare>\S*[.:]\S*|\S+ \(\S+\))\s*$"
)
_AS = re.compile(r"^AS(?:[0-9]+|\?+)\s+")
_MPLS = re.compile(r"^\s*(?:\|\s*)*(?:\+--\s*)?\[MPLS: |^\s*\|\s+\+--\[MPLS")


def _read(file: Input) -> Table:
    text = file.text
    reports: list[traces.Report] = []
    headings: list[str] = []
    skipped: list[int] = []
    others: list[int] = []
    start = above = screen = target = size = ""
    for line_number, line, cut in text.numbered_lines():
        if _MPLS.match(line):
            continue
        if begun := _START.match(line):
            start = begun[1].rstrip()
        elif shown := _SCREEN.match(line):
            screen, target = shown["host"], shown["target"]
        elif header := _HOST.match(line):
            if cut:
                continue
            host, headings = _headings(header["rest"].split())
            reports.append(traces.Report(target, host=host or screen, start=_iso(start)))
            reports[-1].packet_bytes = _packet_bytes(size)
        elif (silent := _SILENT.match(line)) and headings and not cut:
            reports[-1].hops.append(traces.ReportedHop(float(silent["hop"])))
        elif hop := _HOP.match(line):
            if not headings:
                headings = _default_headings(file, line_number)
                reports.append(traces.Report(partial=True))
            if reports[-1].hops and int(hop["hop"]) <= reports[-1].hops[-1].hop:
                reports.append(traces.Report(host=reports[-1].host, start=reports[-1].start))
            if cut and not _is_whole(line, above):
                reports[-1].partial = True
                continue
            above = line
            reports[-1].hops.append(_hop(file, line_number, hop, headings))
        elif (other := _OTHER.match(line)) and reports and reports[-1].hops:
            if not cut:
                reports[-1].hops[-1].further.append(other["node"] or other["bare"])
                others.append(line_number)
        elif asked := _COMMAND.search(line):
            size = asked["size"]
        elif not _FRAME.match(line):
            skipped.append(line_number)
    warnings: list[Notice] = []
    if any("" in columns for columns in [headings]):
        warnings.append(Notice("mtr-without-header"))
    note(warnings, "mtr-other-nodes", numbers=others)
    note(warnings, "not-of-a-path", numbers=skipped)
    return _table(file, reports, warnings)


def _table(file: Input, reports: list[traces.Report], warnings: list[Notice], **meta: Any) -> Table:
    """Return the reports that have a hop."""
    reports = [report for report in reports if report.hops]
    if not reports:
        raise no_measurement("mtr-no-hop", file.unpacked, file.text)
    return traces.to_table(file, reports, "mtr", [*file.text.warnings, *warnings], **meta)


def _headings(words_: list[str]) -> tuple[str, list[str]]:
    """Return the name of the host, and the names of the columns behind it, which it may look like.

    >>> _headings(["Mac", "Book", "Loss%", "Snt"]), _headings(["pc", "Loss%", "X"])
    (('Mac Book', ['Loss%', 'Snt']), ('pc', ['Loss%', 'X']))
    """
    first = len(words_)
    while first and _WORD.fullmatch(words_[first - 1]):
        first -= 1
    while first < len(words_) and not traces.is_heading(words_[first]):
        first += 1
    return " ".join(words_[:first]), words_[first:]


_FIGURE = re.compile(r"[0-9]+(?:\.[0-9]*)?%?")


def _hop(file: Input, line: int, hop: re.Match[str], headings: list[str]) -> traces.ReportedHop:
    cells = hop["rest"].split()
    count = len(headings)
    if len(cells) < count or _FIGURE.fullmatch(
        "".join(cells[-count - 1 : -count])
    ):  # a blank in a number
        raise file.refusal("mtr-unreadable", line=line, field="columns", value=str(len(cells)))
    figures = cells[len(cells) - count :]
    node, name = traces.split_name(_AS.sub("", " ".join(cells[: len(cells) - count])))
    shown = [pair for pair in zip(headings, figures, strict=True) if pair[0]]
    values = traces.read_figures(file, line, shown)
    return traces.ReportedHop(float(hop["hop"]), node, name, values)


_DECIMALS = re.compile(r"\s[0-9]+(\.[0-9]+|%)$")


def _is_whole(line: str, above: str) -> bool:
    """Whether the last number of a row has all its decimals: those of the row above."""
    own, other = _DECIMALS.search(line.rstrip()), _DECIMALS.search(above.rstrip())
    return own is not None and other is not None and len(own[1]) == len(other[1])


_SURE = ["Loss%", "Snt", "", "", "Best", "Wrst", ""]
"""Columns of mtr's own order that a row without a header shows: the least and the largest time."""
_SURE_ROW = re.compile(r".*\s[0-9.]+%?\s+[0-9]+((?:\s+[0-9]+\.[0-9]){4})\s+[0-9]+\.[0-9]\s*")


def _default_headings(file: Input, line: int) -> list[str]:
    """Return the columns of rows without a header, if each row has the order of mtr's own."""
    for row in filter(_HOP.match, file.text.lines):
        match = _SURE_ROW.fullmatch(row)
        times = [float(word) for word in match[1].split()] if match else [0.0, 0.0, 1.0, 0.0]
        if times[2] > min(times) or times[3] < max(times):
            raise file.refusal("mtr-no-header", line=line, field="header")
    return _SURE


def _iso(written: str) -> str:
    """Return a start with its zone; older versions write a date without one, which is left out."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)([+-]\d\d):?(\d\d)", written)
    return f"{match[1]}{match[2]}:{match[3]}" if match else ""


REPORT = Format(
    name="mtr",
    description="the output of mtr",
    recognize=seen(
        r"^HOST: ?\S*\s.*\bSnt\b|^HOST: ?\S*\s+Loss%",
        r"^\s*[0-9]{1,2}\.\|--\s",
        r"^\s*My traceroute {2}\[v|^\s*Host\s+Loss%\s+Snt\s",
        r"^ {1,2}[0-9]{1,2}\. \S.*\s[0-9]+\.[0-9]%?\s+[0-9]+(?:\s+[0-9]+\.[0-9]){5}\s*$",
    ),
    read=_read,
    traps=(
        "The order of the columns is the user's (-o) and is taken from the header of each run; of "
        "rows without a header, only loss, counts, least and largest time are read.",
        "Times are in milliseconds with one decimal, a loss in percent.",
        "A hop that never answered has times of 0 in the file, and none here.",
        "Loss at a hop is not loss of the path, and is not called so.",
        "The name behind HOST: is the sender; a report does not name its target, and the screen of "
        "a run does in newer versions.",
        "Several targets follow each other, each with a header.",
        "Further nodes that answered at a hop have lines of their own, without figures: those of "
        "the hop are of all its nodes.",
    ),
    tools={"mtr": Counted(probes=TO_NODES)},
)


_FIRST = 6
"""Cells before the figures: version, start, status, target, hop, node."""

_ROW = re.compile(r"^MTR\.(\S+?)[;,]")
_HEADER = re.compile(r"^Mtr_Version[;,]")

# The order of a version that writes no header; 0.93 and older.
_DEFAULT = ["Loss%", "Snt", "", "Last", "Avg", "Best", "Wrst", "StDev"]
_OLD = ["Loss%", "Snt", "Last", "Avg", "Best", "Wrst", "StDev"]


def _read_csv(file: Input) -> Table:
    text = file.text
    reports: list[traces.Report] = []
    headings: list[str] | None = None
    skipped: list[int] = []
    version = ""
    for line_number, line, cut in text.numbered_lines():
        separator = ";" if line.count(";") > line.count(",") else ","
        (cells,) = csv_rows([(line_number, line)], file.unpacked, delimiter=separator)
        if _HEADER.match(line):
            headings = cells[_FIRST:]
            reports.append(traces.Report())
            continue
        row = _ROW.match(line)
        if row is None or len(cells) < _FIRST:
            skipped.append(line_number)
            continue
        version = version or row[1]
        _begin(reports, cells)
        if headings is None:
            width = len(cells) - _FIRST
            headings = next((order for order in (_DEFAULT, _OLD) if len(order) == width), None)
            if headings is None:
                raise file.refusal(
                    "mtr-no-header", line=line_number, field="header", value=str(width)
                )
        is_cut = cut and not re.search(r"\.[0-9]{2}$", line)
        reports[-1].hops.append(_csv_hop(file, line_number, cells, headings, cut=is_cut))
        reports[-1].partial |= is_cut
    warnings: list[Notice] = []
    note(warnings, "not-of-a-path", numbers=skipped)
    return _table(file, reports, warnings, tool_version=shorten(version, 40))


def _begin(reports: list[traces.Report], cells: list[str]) -> None:
    """Begin a report where the hops start again without a header."""
    target, hop = cells[3], cells[4]
    last = reports[-1] if reports else None
    fresh = last is None or (
        bool(last.hops)
        and (last.target != target or (_is_hop(hop) and int(hop) < last.hops[-1].hop))
    )
    if fresh:
        reports.append(traces.Report())
    if not reports[-1].hops:
        reports[-1].target = target
        reports[-1].start = _start_of_csv(cells[1])


def _is_hop(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,3}", text) is not None


def _csv_hop(
    file: Input, line: int, cells: list[str], headings: list[str], *, cut: bool
) -> traces.ReportedHop:
    if not _is_hop(cells[4]):
        raise file.refusal("mtr-unreadable", line=line, field="Hop", value=shorten(cells[4]))
    node, name = traces.split_name(cells[5])
    figures = cells[_FIRST:]
    if cut:
        figures = figures[:-1]  # the last one may have lost its end
    shown = [pair for pair in zip(headings, figures, strict=False) if traces.is_heading(pair[0])]
    return traces.ReportedHop(float(cells[4]), node, name, traces.read_figures(file, line, shown))


def _start_of_csv(epoch: str) -> str:
    if not re.fullmatch(r"[0-9]{9,11}", epoch):
        return ""
    return datetime.fromtimestamp(int(epoch), UTC).isoformat()


CSV = Format(
    name="mtr CSV",
    description="the CSV of mtr",
    recognize=seen(_HEADER.pattern, _ROW.pattern),
    read=_read_csv,
    traps=(
        "The order of the columns is the user's (-o); the header says it, not the version.",
        "A column without a name holds nothing.",
        "Times are in milliseconds, a loss in percent.",
        "A hop that never answered has times of 0 in the file, and none here.",
        "A header may come again, for another target.",
    ),
)


def _recognize_json(file: Input) -> bool:
    if not file.is_json:
        return False
    names = file.keys()
    return "report" in names or (not names and file.seen('"hubs"') and file.seen('"(?:Loss%|mtr)"'))


def _read_json(file: Input) -> Table:
    documents = file.json
    whole = [*documents.documents, *_whole_hubs(documents.rest)]
    reports = [_report(each) for each in whole if member(each, "report")]
    reports = [report for report in reports if report.hops]
    if not reports:
        if _NO_HUB.search(documents.rest):
            raise file.refusal("mtr-stopped", field="hubs")
        if documents.fault is not None:
            raise documents.fault
        raise file.refusal("mtr-no-hop", field="hubs")
    reports[-1].partial = documents.fault is not None
    return traces.to_table(file, reports, "mtr", documents.warnings_of_cut("mtr-document-cut"))


_NO_HUB = re.compile(r'"hubs"\s*:\s*\[\s*\}')
"""What mtr writes where no hop answered: it is no JSON."""


def _whole_hubs(rest: str) -> list[Any]:
    """Return a document that ends too early, as far as its hops are whole."""
    try:
        return [json.loads(closed_after_whole_parts(rest, 3))] if '"hubs"' in rest else []
    except ValueError:
        return []


def _report(document: Any) -> traces.Report:
    about = member(document, "report", "mtr")
    made = traces.Report(target=words(about, "dst"), host=words(about, "src"))
    made.packet_bytes = _packet_bytes(words(about, "psize") or str(about.get("psize", "")))
    for index, hub in enumerate(rows(member(document, "report"), "hubs"), 1):
        made.hops.append(_json_hop(hub, index))
    return made


def _packet_bytes(written: str) -> float:
    """Return the size of the probes; nan where they have several: a number below 0 asks for that.

    >>> _packet_bytes("64"), _packet_bytes("-1500"), _packet_bytes("")
    (64.0, nan, nan)
    """
    return float(written) if re.fullmatch(r"[0-9]{2,5}", written) else math.nan


def _json_hop(hub: Mapping[str, Any], index: int) -> traces.ReportedHop:
    """Return one hop: its number is text in old versions."""
    count = number(hub, "count")
    if count != count and words(hub, "count").isdecimal():
        count = float(words(hub, "count"))
    node, name = traces.split_name(words(hub, "host", "ip"))
    made = traces.ReportedHop(count if count >= 1 else float(index), node, name)
    for heading, value in hub.items():
        values = traces.HEADINGS.get(str(heading).strip().lower())
        if values is not None and not isinstance(value, bool) and isinstance(value, int | float):
            made.values[values[0]] = number(hub, heading) * values[1]
    return made


JSON = Format(
    name="mtr JSON",
    description="mtr JSON",
    recognize=_recognize_json,
    read=_read_json,
    traps=(
        "The number of a hop is text up to version 0.92 and a number later.",
        "Times are in milliseconds, a loss in percent.",
        "A hop that never answered has times of 0 in the file, and none here.",
        "Loss at a hop is not loss of the path, and is not called so.",
        "An empty list of hops is not a measurement; mtr writes it as [ }, which is no JSON.",
    ),
)


_XML_RUN = re.compile(
    r"<MTR SRC=\"?(?P<src>[^\s\">]*)\"? DST=\"?(?P<dst>[^\s\">]*)(?:.* PSIZE=\"?(?P<size>[0-9]+))?"
)
_XML_HUB = re.compile(r"<HUB COUNT=\"?(?P<hop>[0-9]{1,3})\"? HOST=\"?(?P<node>[^\"<>]*?)\"?>")
_XML_CELL = re.compile(r"<(?P<heading>[A-Z][A-Za-z]{1,5}%?)>(?P<cell>[^<]{1,20})</(?P=heading)>")


def _read_xml(file: Input) -> Table:
    text = file.text
    reports: list[traces.Report] = []
    for line_number, line, _ in text.numbered_lines():
        if run := _XML_RUN.search(line):
            target = html.unescape(run["dst"])
            host, size = html.unescape(run["src"]), _packet_bytes(run["size"] or "")
            reports.append(traces.Report(target, host=host, packet_bytes=size, partial=True))
        elif hub := _XML_HUB.search(line):
            if not reports:
                reports.append(traces.Report(partial=True))
            node, name = traces.split_name(html.unescape(hub["node"]))
            reports[-1].hops.append(traces.ReportedHop(float(hub["hop"]), node, name))
        elif (cell := _XML_CELL.search(line)) and reports and reports[-1].hops:
            heading = cell["heading"].replace("Loss%", "Loss").replace("Loss", "Loss%")
            if traces.is_heading(heading):
                pairs = [(heading, cell["cell"])]
                reports[-1].hops[-1].values |= traces.read_figures(file, line_number, pairs)
        elif "</MTR>" in line and reports:
            reports[-1].partial = False
    return _table(file, reports, [])


XML = Format(
    name="mtr XML",
    description="the XML of mtr",
    recognize=seen(_XML_RUN.pattern, _XML_HUB.pattern),
    read=_read_xml,
    traps=(
        "Names such as Loss% are no names of XML: the file is read by lines.",
        "Times are in milliseconds, a loss in percent.",
        "A hop that never answered has times of 0 in the file, and none here.",
        "Loss at a hop is not loss of the path, and is not called so.",
    ),
)


_LINE = re.compile(
    r"^(?:x (?P<sent>\d{1,3}) (?P<sent_id>\d+)"
    r"|h (?P<host>\d{1,3}) (?P<address>\S+)"
    r"|d (?P<named>\d{1,3}) (?P<name>\S+)"
    r"|p (?P<answered>\d{1,3}) (?P<usec>\d{1,18})(?: (?P<id>\d+))?"
    r"|[mty] \d.*)$"
)


def _recognize_raw(file: Input) -> bool:
    lines = [line for line in file.first.split("\n") if line.strip()]
    return (
        len(lines) > 1
        and all(_LINE.match(line) for line in lines[:-1])
        and any(line.startswith(("h ", "x ")) for line in lines)
    )


def _read_raw(file: Input) -> PathSamples:
    text = file.text
    trace = traces.Trace(ended=True)
    nodes: dict[int, str] = {}
    names: dict[int, str] = {}
    open_probes: dict[str, traces.HopProbe] = {}
    skipped: list[int] = []
    has_sent = any(line.startswith("x ") for line in text.lines)
    late = 0
    for line_number, line, cut in text.numbered_lines():
        match = _LINE.match(line)
        if cut:
            trace.cut = True
        elif match is None:
            skipped.append(line_number)
        elif match["sent"]:
            probe = traces.HopProbe(int(match["sent"]) + 1, lost=True)
            trace.probes.append(probe)
            open_probes[match["sent_id"]] = probe
        elif match["host"]:
            nodes[int(match["host"])] = match["address"]
        elif match["named"]:
            names[int(match["named"])] = match["name"]
        elif match["answered"]:
            hop = int(match["answered"])
            answered = open_probes.pop(match["id"] or "", None)
            if answered is None and has_sent:
                late += 1
                continue
            if answered is None:
                answered = traces.HopProbe(hop + 1)
                trace.probes.append(answered)
            answered.rtt_s, answered.lost = int(match["usec"]) * 1e-6, False
            answered.node, answered.node_name = nodes.get(hop, ""), names.get(hop, "")
    if not trace.probes:
        raise traces.no_hop(file, "mtr")
    warnings = list(text.warnings)
    note(warnings, "probes-beyond-target", count=_drop_beyond(trace))
    if not has_sent:
        warnings.append(Notice("lost-probes-unknown"))
    note(warnings, "answers-without-probe", count=late)
    note(warnings, "not-of-a-path", numbers=skipped)
    return traces.to_samples(file, [trace], "mtr", warnings)


def _drop_beyond(trace: traces.Trace) -> int:
    """Leave out hops behind the first one that the last node answered: it is the target."""
    answered = {probe.hop: probe.node for probe in trace.probes if probe.node}
    if not answered:
        return 0
    end = max(answered)
    while answered.get(end - 1) == answered[end]:
        end -= 1
    if end == max(answered):  # else hops behind it that nobody answered go, too
        return 0
    kept = [probe for probe in trace.probes if probe.hop <= end]
    dropped = len(trace.probes) - len(kept)
    trace.probes = kept
    return dropped


RAW = Format(
    name="mtr raw",
    description="the raw output of mtr",
    recognize=_recognize_raw,
    read=_read_raw,
    traps=(
        "Hops count from 0 in the file and from 1 here; times are in microseconds.",
        "An answer belongs to the probe of its number, not to the one sent last.",
        "A probe without an answer has a line only since 0.93 (x); before, losses are unknown.",
        "The target also answers probes that would go further; they are not hops.",
    ),
)
