"""Reports with a row for each hop: of WinMTR, of trippy, and of MikroTik's traceroute."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input, seen
from netcalc.readers.paths import traces
from netcalc.readers.places import ICMP_PROBES, TO_NODES, Counted
from netcalc.readers.source import csv_rows, shorten
from netcalc.samples import Table

_WINMTR_COLUMNS = ("Loss%", "Snt", "Rcv", "Best", "Avg", "Wrst", "Last")
_SILENT = "No response from host"
_COUNT = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,3})?")
_WINMTR_HEADING = r"^\|\s+Host\s+-\s+%+\s+\|\s*Sent\s*\|\s*Recv"
_WINMTR_ROW = r"^\|\s*\S[^|]{0,120}- {1,4}[0-9]{1,3} \|(?:\s*[0-9.]{1,8} \|){6}\s*$"
_WINMTR_HTML = (
    r"<title>WinMTR Statistics</title>|<h2>WinMTR statistics</h2>"
    r"|^<tr><td>[^<]{1,120}</td>(?: ?<td> {0,3}[0-9.]{1,8}</td>){7} ?</tr>\s*$"
)


_CUT_ROW = re.compile(r"\|[^|]*[^\W_]")


def _read_winmtr(file: Input) -> Table:
    report = traces.Report(partial=True)
    skipped: list[int] = []
    is_html, has_head = file.seen(_WINMTR_HTML), False
    for line_number, line, cut in file.text.numbered_lines():
        cells = _html_cells(line) if is_html else _bar_cells(line)
        figures = cells[1:]
        if cut and line[-1] not in "|>":
            continue  # its last number may have lost digits
        if len(figures) == len(_WINMTR_COLUMNS) and all(map(_COUNT.fullmatch, figures)):
            hop = len(report.hops) + len(skipped) + 1 if has_head else nan
            report.hops.append(_winmtr_hop(cells, hop))
        elif re.match(r"\|_{9}|.*</table>", line):
            report.partial = not has_head
        elif re.match(_WINMTR_HEADING, line) or cells[:2] == ["Host", "%"]:
            has_head = True
        elif (cells and cells[0] != "Host") or (has_head and _CUT_ROW.match(line)):
            skipped.append(line_number)
    return traces.table_of_text(
        file, [report], "WinMTR", code="winmtr-no-hop", unread=skipped, has_numbers=has_head
    )


def _bar_cells(line: str) -> list[str]:
    """Return the host, the loss and the numbers of a row between bars."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    host, dash, loss = cells[0].rpartition("- ")
    return [host.strip(), loss.strip(), *cells[1:]] if dash and len(cells) > 1 else []


def _html_cells(line: str) -> list[str]:
    return [html.unescape(cell).strip() for cell in re.findall(r"<td>([^<]{0,300})</td>", line)]


def _winmtr_hop(cells: Sequence[str], hop: float) -> traces.ReportedHop:
    """Return one hop; its loss is that of its counts, of which it prints whole percents."""
    pairs = zip(_WINMTR_COLUMNS, cells[1:], strict=True)
    values = dict(filter(None, (traces.figure(heading, cell) for heading, cell in pairs)))
    sent, received = values["probe_count"], values["reply_count"]
    values["loss_ratio"] = 1 - received / sent if sent else nan
    node, name = traces.split_name("" if cells[0] == _SILENT else shorten(cells[0], 200))
    made = traces.ReportedHop(hop, node, name, values)
    for column in values:
        if column.startswith("rtt_") and values[column] == 0:
            values[column] = 0.5e-3
    return made


WINMTR = Format(
    name="WinMTR",
    description="a report of WinMTR",
    recognize=seen(r"^\|\s+WinMTR statistics", _WINMTR_HEADING, _WINMTR_ROW, _WINMTR_HTML),
    read=_read_winmtr,
    traps=(
        "The file is the text or the HTML that WinMTR exports; hops have no numbers there, and are "
        "counted from its heading.",
        "Times are whole milliseconds; 0 is less than 1 ms.",
        "The loss of a hop is that of its counts (Sent, Recv): % is rounded to whole percents.",
        "Loss at a hop is not loss of the path, and is not called so.",
        "The report does not name its target.",
    ),
    tools={"WinMTR": Counted(probes=ICMP_PROBES)},
    needs="a row of a hop",
)


_TRIPPY_HEADER = (
    r"^Target,TargetIp,Hop,(?:IPs,)?Addrs,Loss%,Snt,Recv,"
    r"|^\s*[|│]\s*Hop\s*[|┆]\s*(?:IPs\s*[|┆]\s*)?Addrs\s*[|┆]\s*Loss%\s*[|┆]"
)
_TRIPPY_JSON = {
    "loss_pct": "Loss%", "sent": "Snt", "recv": "Rcv", "last": "Last", "avg": "Avg",
    "best": "Best", "worst": "Wrst", "stddev": "StDev",
}  # fmt: skip


_OF_MTR = {"Recv": "Rcv", "StdDev": "StDev"}
"""Headings of trippy as mtr has them."""


def _read_trippy(file: Input) -> Table:
    reports: list[traces.Report] = []
    names: list[str] = []
    skipped: list[int] = []
    for line_number, line, cut in file.text.numbered_lines():
        cells = _trippy_cells(file, line_number, line)
        row = dict(zip(names, cells, strict=False))
        if {"Hop", "Loss%"} <= set(cells):
            names = cells
            reports.append(traces.Report())
        elif cut and not _WHOLE_ROW.search(line):
            reports[-1:] = [replace(report, partial=True) for report in reports[-1:]]
        elif len(cells) == len(names) and re.fullmatch(r"[0-9]{1,3}", row.get("Hop", "")):
            _begin_trippy(reports, row.get("Target", ""))
            reports[-1].hops.append(_trippy_row(file, line_number, row))
        elif len(cells) == len(names) and row.get("Hop") == "" and reports and reports[-1].hops:
            reports[-1].hops[-1].further += _nodes(row["IPs"])
        elif names and re.search(r"\w", line):
            skipped.append(line_number)
    return traces.table_of_text(file, reports, "trippy", code="trippy-no-hop", unread=skipped)


_WHOLE_ROW = re.compile(r"(?:\.[0-9]{2},?|[|│┘])\s*$")
"""End of a row that is whole: two decimals, or the border of a table."""


def _trippy_cells(file: Input, number: int, line: str) -> list[str]:
    """Return the cells of a line of the CSV, or of the table."""
    if re.match(r"\s*[|│]", line):
        return [cell.strip() for cell in re.split("[|│┆]", line.strip().strip("|│"))]
    (cells,) = csv_rows([(number, line)], file.unpacked)
    return [cell.strip() for cell in cells]


def _begin_trippy(reports: list[traces.Report], target: str) -> None:
    if reports[-1].hops and reports[-1].target != target:
        reports.append(traces.Report())
    reports[-1].target = target


def _trippy_row(file: Input, line: int, row: Mapping[str, str]) -> traces.ReportedHop:
    shown = [
        (_OF_MTR.get(name, name), cell) for name, cell in row.items() if cell != traces.UNKNOWN
    ]
    values = traces.read_figures(file, line, [pair for pair in shown if traces.is_heading(pair[0])])
    nodes, hosts = _nodes(row.get("IPs", "")), _nodes(row.get("Addrs", ""))
    node = nodes[0] if nodes else ""
    name = hosts[0] if len(hosts) == 1 and hosts[0] != node else ""
    made = traces.ReportedHop(float(row["Hop"]), node or name, name if node else "", values)
    made.further = nodes[1:]
    return made


def _nodes(cell: str) -> list[str]:
    """Return the nodes of a cell, which joins them by colons; addresses of IPv6 are not told apart.

    >>> _nodes("192.0.2.1:192.0.2.5"), _nodes("2001:db8::1"), _nodes("???")
    (['192.0.2.1', '192.0.2.5'], ['2001:db8::1'], [])
    """
    parts = cell.split(":")
    if cell in ("", traces.UNKNOWN):
        return []
    return [cell] if any("." not in part for part in parts) else parts


TRIPPY_CSV = Format(
    name="trippy",
    description="the CSV or a table of trippy",
    recognize=seen(_TRIPPY_HEADER),
    read=_read_trippy,
    traps=(
        "Times are in milliseconds, a loss in percent; ??? is none.",
        "Addresses that answered at one hop are joined by colons, or follow in rows of a table.",
        "Loss at a hop is not loss of the path, and is not called so.",
    ),
    tools={"trippy": Counted(probes=TO_NODES)},
    parts=(
        rf"^[^,\s]{{1,200}},(?:{traces.ADDRESS.pattern}),[0-9]{{1,3}},[^,]+,[^,]+,[0-9.]+,[0-9]+,",
    ),
    needs="its header",
)


def _recognize_trippy(file: Input) -> bool:
    hops = rows(file.first_object, "hops")
    return bool(member(file.first_object, "info", "target")) and bool(hops) and "ttl" in hops[0]


def _read_trippy_json(file: Input) -> Table:
    reports = []
    for document in file.json.objects():
        target = member(document, "info", "target")
        made = traces.Report(target=words(target, "hostname", "ip"), address=words(target, "ip"))
        made.hops = [_trippy_hop(hop) for hop in rows(document, "hops") if number(hop, "ttl") > 0]
        reports += [made] if made.hops else []
    if not reports:
        raise file.refusal("trippy-no-hop", field="hops")
    reports[-1].partial = file.json.fault is not None
    return traces.to_table(file, reports, "trippy", file.json.warnings_of_cut("mtr-document-cut"))


def _trippy_hop(hop: Mapping[str, Any]) -> traces.ReportedHop:
    """Return one hop: its numbers are text, and those of older versions numbers."""
    hosts = rows(hop, "hosts")
    made = traces.ReportedHop(number(hop, "ttl"))
    if hosts:
        made.node, name = words(hosts[0], "ip"), words(hosts[0], "hostname")
        made.node_name = shorten(name, 200) if name != made.node else ""
        made.further = [words(host, "ip") for host in hosts[1:]]
    for name, heading in _TRIPPY_JSON.items():
        value = traces.figure(heading, words(hop, name) or str(number(hop, name)))
        if value is not None:
            made.values[value[0]] = value[1]
    return made


TRIPPY = Format(
    name="trippy JSON",
    description="the JSON of trippy",
    recognize=_recognize_trippy,
    read=_read_trippy_json,
    traps=(
        "Times are in milliseconds, a loss in percent, and all are text with two decimals.",
        "Loss at a hop is not loss of the path, and is not called so.",
    ),
)


_MIKROTIK_HEADING = (
    r"^\s*(?:#\s+)?ADDRESS\s+LOSS\s+SENT\s+LAST\s+AVG\s+BEST\s+WORST\s+STD-DEV(?:\s+STA\S*)?\s*$"
)
_MIKROTIK_PART = (
    r"^\s*(?:[0-9]{1,3}\s+)?[0-9A-Fa-f.:]{3,45}\s+[0-9]{1,3}%\s+[0-9]{1,6}\s+[0-9.]{1,9}ms"
    r"(?:\s+[0-9.]{1,9}){4}(?:\s|$)"
)
_MIKROTIK_ROW = re.compile(
    r"^\s*(?:[0-9]{1,3}\s+)?(?:(?P<node>[^\s%]{3,60})\s+)?(?P<loss>[0-9]{1,3})%\s+"
    r"(?P<sent>[0-9]{1,6})(?P<rest>\s+\S.*)?$"
)
_MIKROTIK_TIMES = re.compile(
    r"\s+(?P<last>[0-9.]{1,9})ms\s+(?P<avg>[0-9.]{1,9})(?:ms)?\s+(?P<best>[0-9.]{1,9})(?:ms)?\s+"
    r"(?P<worst>[0-9.]{1,9})(?:ms)?\s+(?P<stdev>[0-9.]{1,9})(?:ms)?(?P<status>\s+(?!\s|[0-9.]+(?:\s|$)).*)?$"
)
_MIKROTIK_COLUMNS = {
    "last": "Last", "avg": "Avg", "best": "Best", "worst": "Wrst", "stdev": "StDev",
}  # fmt: skip
_PROMPT = re.compile(r"^\[\S+@[^\]]+\] .*traceroute\s(?:.*\baddress=)?(?P<target>[^\s=]+)(?=\s|$)")
_STATUS = re.compile(r"(?P<what>host|net\w*|protocol) unreachable|(?P<prohibited>prohibited)")


def _read_mikrotik(file: Input) -> Table:
    reports: list[traces.Report] = []
    skipped: list[int] = []
    is_new = has_head = False
    for line_number, line, cut in file.text.numbered_lines():
        if prompt := _PROMPT.match(line):
            reports.append(traces.Report(prompt["target"], prompt["target"]))
        elif re.match(_MIKROTIK_HEADING, line):
            is_new = has_head = True  # the table is painted again, with more probes
        elif match := _MIKROTIK_ROW.match(line):
            if not reports:
                reports.append(traces.Report(partial=not has_head))
            if is_new:
                reports[-1] = replace(reports[-1], hops=[], refusal=None, partial=False)
                is_new = False
            if cut:
                reports[-1].partial = True
            elif not _add_mikrotik(reports[-1], match, has_head=has_head):
                skipped.append(line_number)
        elif "%" in line:
            skipped.append(line_number)
    return traces.table_of_text(
        file, reports, "traceroute (MikroTik)", code="mikrotik-no-hop", unread=skipped,
        has_numbers=has_head,
    )  # fmt: skip


def _add_mikrotik(report: traces.Report, row: re.Match[str], *, has_head: bool) -> bool:
    """Add the row of a hop, and what its status says of the target; False if times are damaged."""
    values = {"loss_ratio": int(row["loss"]) / 100, "probe_count": float(row["sent"])}
    times = _MIKROTIK_TIMES.match(row["rest"] or "")
    if times:
        for name, heading in _MIKROTIK_COLUMNS.items():
            values |= dict(filter(None, [traces.figure(heading, times[name])]))
    node = (row["node"] or "").strip("()")
    node = "" if node == "timeout" else node
    hop = float(len(report.hops) + 1) if has_head else nan
    report.hops.append(traces.ReportedHop(hop, node, "", values))
    status = _STATUS.search(row["rest"] or "")
    if status:
        mark = "!X" if status["prohibited"] else f"!{status['what'][0].upper()}"
        report.refusal = (f"{hop:.0f}" if has_head else "?", node or "?", mark)
        report.partial = True
    return times is not None or not re.match(r"\s+[0-9.]", row["rest"] or "")


MIKROTIK = Format(
    name="MikroTik traceroute",
    description="the output of traceroute on a MikroTik router",
    recognize=seen(_MIKROTIK_HEADING, _MIKROTIK_PART),
    read=_read_mikrotik,
    traps=(
        "The table is painted again with each round of probes: the last one counts.",
        "Times are in milliseconds, also where only the first has its unit; a row of a timeout has "
        "none.",
        "Loss at a hop is not loss of the path, and is not called so.",
    ),
    tools={"traceroute (MikroTik)": Counted(probes=TO_NODES)},
)
