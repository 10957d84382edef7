"""The text of pathping (Windows), in any language: the words are not looked at."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.paths._reports import Hop, Report, to_table
from netcalc.readers.paths._windows import node_in
from netcalc.readers.source import no_measurement, shorten
from netcalc.samples import Table

_SHARE = r"(?P<{0}lost>\d{{1,6}})/\s*(?P<{0}sent>\d{{1,6}}) =\s*\d{{1,3}} ?%"
_ROW = re.compile(
    r"\s{0,3}(?P<hop>\d{1,2})\s+(?:(?P<time>\d{1,6}) ?ms|---)\s+"
    + _SHARE.format("")
    + r"\s+"
    + _SHARE.format("node_")
    + r"\s+(?P<node>\S(?:.*\S)?)\s*"
)
_LINK = re.compile(r"\s+" + _SHARE.format("") + r"\s+\|\s*")
_LISTED = re.compile(r"\s{0,3}(?P<hop>\d{1,2})\s+(?P<node>[^\s*\d]\S*.*|[0-9A-Fa-f.:]{3,}.*)")
_START = r"^Computing statistics for \d+ seconds"


def _recognize(given: Input) -> bool:
    return given.seen(rf"^{_ROW.pattern}$") or given.seen(_START)


def _read(given: Input) -> Table:
    text = given.text
    report = Report()
    listed = 0
    link_lost: float | None = None
    skipped: list[int] = []
    cut = False
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete and line.strip():
            cut = True
            continue
        if found := _ROW.fullmatch(line):
            report.hops.append(_hop(found, link_lost))
            link_lost = None
        elif found := _LINK.fullmatch(line):
            link_lost = float(found["lost"])
        elif "/" in line and "%" in line:
            skipped.append(number)
        elif found := _LISTED.fullmatch(line):
            listed = max(listed, int(found["hop"]))
            if int(found["hop"]) == 0:
                report.host = shorten(node_in(found["node"])[1] or found["node"].strip(), 100)
        elif not report.target and not listed:
            address, name = node_in(line)
            report.target = name or address
    if not report.hops:
        raise no_measurement("pathping-no-statistics", given.unpacked, text)
    report.partial = cut or report.hops[-1].hop < listed
    warnings = list(text.warnings)
    if skipped:
        warnings.append(Notice("path-lines-unread", {"numbers": skipped}))
    return to_table(given, [report], "pathping", warnings)


def _hop(found: re.Match[str], link_lost: float | None) -> Hop:
    address, name = node_in(found["node"])
    lost, sent = float(found["lost"]), float(found["sent"])
    made = Hop(float(found["hop"]), address or shorten(found["node"], 100), name)
    made.values = {
        "loss_ratio": lost / sent if sent else float("nan"),
        "lost_count": lost,
        "reply_count": sent - lost,
        "probe_count": sent,
        "node_lost_count": float(found["node_lost"]),
    }
    if link_lost is not None:
        made.values["link_lost_count"] = link_lost
    if found["time"]:
        made.values["rtt_mean_s"] = int(found["time"]) / 1e3 or 0.5e-3
    return made


FORMAT = Format(
    name="pathping",
    description="the output of pathping",
    recognize=_recognize,
    read=_read,
    traps=(
        "The words are translated and are not looked at; numbers and their positions are.",
        "Source to Here is the loss up to a node, This Node/Link that at the node; the line with | "
        "is the link before it.",
        "A loss at a node on the way is no loss of the path.",
        "RTT is a mean in whole milliseconds; 0ms is a mean below 1 ms, and --- is none.",
        "The list of nodes at the start has no times.",
    ),
)
