"""The output of tracert and pathping (Windows), in any language, and of the tracert of Huawei.

The words of Windows are translated and are not looked at.
"""

from __future__ import annotations

import re
from math import isnan

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input, seen
from netcalc.readers.paths import traces
from netcalc.readers.places import ICMP_PROBES, TO_NODES, Counted
from netcalc.readers.source import note, shorten
from netcalc.samples import PathSamples, Table

_NAMED = re.compile(rf"(?<!\S)(?P<name>\S+) \[(?P<address>{traces.ADDRESS.pattern})\]")
_BARE = re.compile(rf"(?<![\w.:]){traces.ADDRESS.pattern}(?![\w.:])")


def node_in(text: str) -> tuple[str, str]:
    """Return the address in a text, and the name before it if it is in brackets."""
    if both := _NAMED.search(text):
        return both["address"], both["name"]
    bare = _BARE.search(text)
    return (bare[0], "") if bare else ("", "")


_CELL = r"(?:<\s?1\s*\S{1,6}|[0-9]{1,5}\s*(?:ms|мс|мсек|毫秒|ミリ秒|밀리초|ms\.)|\*)"
_HOP = re.compile(
    rf"^\s{{0,3}}(?P<hop>[0-9]{{1,2}})\s+(?P<cells>{_CELL}(?:\s+{_CELL}){{2}})(?P<rest>\s.*)?$"
)
# A time next to the number of the hop, or stars and words: traceroute has the node there.
_TIMED = re.compile(rf"^\s{{0,3}}[0-9]{{1,2}}\s+(?!\*){_CELL}(?:\s+{_CELL}){{2}}\s+\S")
_STARS = r"^\s{1,3}[0-9]{1,2}(?:\s{4,}\*){3}\s+[^\s*0-9]"
_PLAIN = re.compile(r"^\s{0,3}(?P<hop>[0-9]{1,2})\s{2,}(?P<rest>[^\s*<0-9]\S*.*|[0-9.]{7,}.*)$")
_REPORT = re.compile(
    rf"^\s{{0,3}}(?P<hop>[0-9]{{1,2}})\s+(?P<cells>(?:{_CELL}\s+){{0,2}})"
    rf"(?P<node>[^\s*<]\S*(?: \[[^\s\]]+\])?)\s+(?P<report>[^\s\d*<\[]\S*\s*\S.*)$"
)
"""A node that reports something instead of a time: "reports: Destination host unreachable."."""
_REPORTED = (
    rf"^\s{{1,3}}[0-9]{{1,2}}\s+(?:{_CELL}\s+){{0,2}}"
    rf"(?:\S+ \[(?:{traces.ADDRESS.pattern})\]|(?:{traces.ADDRESS.pattern}))"
    r"\s+\S+\s?[:：]\s?\S.*[.。]\s*$"
)
_LIMIT = re.compile(r"(?<![\w.:])([0-9]{1,3})(?![\w.:])")
_REASONS = (("host unreachable", "!H"), ("net unreachable", "!N"), ("protocol unreachable", "!P"))
_LIKE_HOP = re.compile(r"^\s{0,3}[0-9]{0,3}\s.*(?:\s\*\s|[0-9]\s*ms\s)|^\s{1,3}[0-9]{1,3}\s{2,}\S")
_TIMES = re.compile(r"\s\*\s|[0-9]\s*ms\s")
_HEADER = re.compile(
    r"^\s*(?:Tracing route to|Routenverfolgung zu|Détermination de l'itinéraire vers|Traza a"
    r"|Traccia instradamento verso|Rastreando a rota para|A traçar a rota para|Śledzenie trasy do"
    r"|Traceren van de route naar|Spårar väg till|Трассировка маршрута к|Výpis trasy k)\s"
    r"|^\s*(?:\S+ \[\S+\] へのルートをトレースしています|通过最多 [0-9]+ 个跃点跟踪)"
)


def _recognize(file: Input) -> bool:
    if file.seen(r"^Computing statistics for \d+ seconds"):
        return False
    return any(map(file.seen, (_TIMED.pattern, _STARS, _REPORTED, _HEADER.pattern)))


class _TracertRuns:
    """The lines of a file, sorted into runs."""

    def __init__(self) -> None:
        self.runs: list[traces.Trace] = []
        self.above: list[str] = []
        """Lines between a run and the first hop of the next one."""
        self.skipped: list[int] = []
        self.last_line_cut = 0

    def add(self, number: int, line: str, *, cut: bool) -> None:
        """Add a line to its run."""
        has_hops = self.runs and self.runs[-1].probes
        match = _HOP.match(line)
        if match and not (cut and self._may_go_on(match["rest"] or "")):
            hop = int(match["hop"])
            self._run_with(hop).probes += _probes(hop, match["cells"], match["rest"] or "")
        elif (match := _REPORT.match(line)) and node_in(match["node"])[0] and self._goes_on(match):
            hop, (node, name) = int(match["hop"]), node_in(match["node"])
            probes = _probes(hop, match["cells"], match["node"])
            probes.append(traces.HopProbe(hop, node=node, node_name=name, mark=_reason(match)))
            self._run_with(hop).probes += probes
        elif cut and any(map(str.isdigit, line)):
            self.last_line_cut = number
        elif has_hops and not _TIMES.search(line) and (plain := _PLAIN.match(line)):
            self._run_with(int(plain["hop"]))
            self.skipped.append(number)
        elif self.runs and (_LIKE_HOP.match(line) or _is_message_of_a_hop(line)):
            self.skipped.append(number)
        else:
            if has_hops and not (cut or _HEADER.match(line) or node_in(line)[0]):
                self.runs[-1].ended = True  # "Trace complete."
            self.above.append(line)

    def _may_go_on(self, rest: str) -> bool:
        """Whether a last line without its end may have lost some of its node."""
        address = self.runs[-1].address if self.runs else ""
        return not rest.endswith("]") and rest.strip() not in (address, f"{address}.")

    def _goes_on(self, report: re.Match[str]) -> bool:
        """Whether a report belongs to the run above it, or is its first line."""
        if self.runs and self.runs[-1].probes:
            return True
        is_part = not any(map(str.strip, self.above))
        return is_part or (int(report["hop"]) == 1 and any(node_in(line)[0] for line in self.above))

    def _run_with(self, hop: int) -> traces.Trace:
        """Return the run of a hop; another one begins where the hops start again."""
        if not self.runs or hop <= self.runs[-1].last_hop:
            self.runs.append(_begun(self.above, hop))
        self.above = []
        return self.runs[-1]


def _read(file: Input) -> PathSamples:
    lines = _TracertRuns()
    for number, line, cut in file.text.numbered_lines():
        lines.add(number, line, cut=cut)
    if not lines.runs:
        above = lines.above
        if len(above) > 1 and _HEADER.match(above[0]) and not _LIMIT.search(above[-1]):
            raise file.refusal("path-message-only", message=shorten(above[-1], 100))
        raise traces.no_hop(file, "tracert (Windows)")
    lines.runs[-1].cut |= bool(lines.last_line_cut)
    warnings = list(file.text.warnings)
    note(warnings, "last-line-cut", number=lines.last_line_cut)
    note(warnings, "path-lines-unread", numbers=lines.skipped)
    if any(not run.target for run in lines.runs):
        warnings.append(Notice("path-without-header", {}))
    warnings += [] if lines.skipped else traces.short_rows(lines.runs)
    return traces.to_samples(file, lines.runs, "tracert (Windows)", warnings)


def _is_message_of_a_hop(line: str) -> bool:
    """Whether a line that is indented, as a hop is, says an address: its number is missing."""
    return line.startswith("  ") and not _HEADER.match(line) and bool(node_in(line)[0])


def _begun(above: list[str], hop: int) -> traces.Trace:
    """Return a run of the lines between the last one and its first hop: target and limit."""
    made = traces.Trace(cut=hop > 1)
    for line in above:
        address, name = node_in(line)
        if address:
            made.target, made.address = name or address, address
            line = line.replace(address, "").replace(name, "")
        limit = _LIMIT.search(line)
        if limit:
            made.limit = int(limit[1])
    return made


def _reason(report: re.Match[str]) -> str:
    """Return the mark of a report; the words of other languages are not looked at."""
    text = report["report"].lower()
    return next((mark for words, mark in _REASONS if words in text), traces.UNNAMED)


def _probes(hop: int, cells: str, rest: str) -> list[traces.HopProbe]:
    node, name = node_in(rest)
    probes = []
    for cell in re.findall(_CELL, cells):
        if cell == "*":
            probes.append(traces.HopProbe(hop, lost=True))
            continue
        number = int(re.sub(r"[^0-9]", "", cell.partition("m")[0])[:5] or 0)
        rtt_s = 0.5e-3 if cell.startswith("<") else number * 1e-3
        probes.append(traces.HopProbe(hop, rtt_s, node=node, node_name=name, resolution_s=1e-3))
    return probes


WINDOWS = Format(
    name="tracert",
    description="the output of tracert (Windows)",
    recognize=_recognize,
    read=_read,
    traps=(
        "The words are translated and are not looked at; numbers and their positions are.",
        "<1 ms is 0.5 ms in an interval of 1 ms, not 1 and not 0.",
        "A star is a probe without an answer, also between two times.",
        "Times are whole milliseconds.",
        "A node that reports the target unreachable has no time: the path ends there, and the "
        "target was not reached.",
    ),
    tools={"tracert": Counted(probes=ICMP_PROBES)},
)


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


def _read_pathping(file: Input) -> Table:
    text = file.text
    report = traces.Report()
    listed = 0
    link_lost: float | None = None
    skipped: list[int] = []
    for number, line, cut in text.numbered_lines():
        if match := _ROW.fullmatch(line):
            made = _hop(match, link_lost)
            link_lost = None
            if cut and not line.endswith("]") and made.node != report.address:
                report.partial = True  # the address may be longer
            else:
                report.hops.append(made)
        elif cut and any(map(str.isdigit, line)):
            report.partial = True
        elif match := _LINK.fullmatch(line):
            link_lost = float(match["lost"])
        elif "/" in line and "%" in line and any(map(str.isdigit, line)):
            skipped.append(number)
        elif match := _LISTED.fullmatch(line):
            listed = max(listed, int(match["hop"]))
            if int(match["hop"]) == 0:
                report.host = shorten(node_in(match["node"])[1] or match["node"].strip(), 100)
        elif not report.target and not listed:
            report.address, name = node_in(line)
            report.target = name or report.address
    report.partial |= not report.hops or report.hops[-1].hop < listed
    return traces.table_of_text(
        file, [report], "pathping", code="pathping-no-statistics", unread=skipped
    )


def _hop(match: re.Match[str], link_lost: float | None) -> traces.ReportedHop:
    address, name = node_in(match["node"])
    lost, sent = float(match["lost"]), float(match["sent"])
    made = traces.ReportedHop(float(match["hop"]), address or shorten(match["node"], 100), name)
    made.values = {
        "loss_ratio": lost / sent if sent else float("nan"),
        "lost_count": lost,
        "reply_count": sent - lost,
        "probe_count": sent,
        "node_lost_count": float(match["node_lost"]),
    }
    if link_lost is not None:
        made.values["link_lost_count"] = link_lost
    if match["time"]:
        made.values["rtt_mean_s"] = int(match["time"]) / 1e3 or 0.5e-3
    return made


PATHPING = Format(
    name="pathping",
    description="the output of pathping",
    recognize=seen(rf"^{_ROW.pattern}$", _START, r"^\s{0,3}0\s+\S+ \[[^\]\s]+\]\s*$"),
    read=_read_pathping,
    traps=(
        "The words are translated and are not looked at; numbers and their positions are.",
        "Source to Here is the loss up to a node, This Node/Link that at the node; the line with | "
        "is the link before it.",
        "A loss at a node on the way is no loss of the path.",
        "RTT is a mean in whole milliseconds; 0ms is a mean below 1 ms, and --- is none.",
        "The list of nodes at the start has no times.",
    ),
    tools={"pathping": Counted(probes=ICMP_PROBES)},
    parts=(r"Lost/Sent = Pct", rf"^{_LINK.pattern}$"),
    needs="a row of a node with its statistics",
)


_HUAWEI_HEADER = re.compile(
    r"\s*traceroute to\s+(?P<host>[^\s(]+)\s*\((?P<address>[^()\s]+)\), "
    r"max hops: ?(?P<limit>\d{1,3}) ?, ?packet length: ?(?P<size>\d{1,5}).*"
)
_HUAWEI_HOP = re.compile(
    rf"\s{{0,4}}(?P<hop>\d{{1,3}})\s+"
    rf"(?:(?P<node>{traces.ADDRESS.pattern})(?:\[MPLS (?P<labels>[^\]]*)\])?\s+)?"
    r"(?P<cells>(?:\d{1,6} ms|\*|![A-Z])(?:\s+(?:\d{1,6} ms|\*|![A-Z]))*)\s*"
)
_HUAWEI_CELL = re.compile(r"(\d{1,6}) ms|\*|![A-Z]")


def _read_huawei(file: Input) -> PathSamples:
    text = file.text
    runs: list[traces.Trace] = []
    skipped: list[int] = []
    last_line_cut = 0
    for number, line, cut in text.numbered_lines():
        if cut and line[-1:].isdigit():
            last_line_cut = number
        elif match := _HUAWEI_HEADER.fullmatch(line):
            made = traces.Trace(target=match["host"], address=match["address"], has_header=True)
            made.limit, made.packet_bytes = int(match["limit"]), float(match["size"])
            runs.append(made)
        elif runs and (match := _HUAWEI_HOP.fullmatch(line)):
            runs[-1].probes += _probes_huawei(match)
        elif runs and re.match(r"\s{0,4}\d{0,6}\S{0,3}\s+(?:\d|\*)", line):
            skipped.append(number)
    runs = [trace for trace in runs if trace.probes]
    if not runs:
        raise traces.no_hop(file, "tracert (Huawei)")
    runs[-1].cut |= bool(last_line_cut) or (not text.ends_complete and runs[-1].ends_in_a_hop)
    warnings = list(text.warnings)
    note(warnings, "last-line-cut", number=last_line_cut)
    note(warnings, "path-lines-unread", numbers=skipped)
    warnings += [] if skipped else traces.short_rows(runs)
    return traces.to_samples(file, runs, "tracert (Huawei)", warnings)


def _probes_huawei(match: re.Match[str]) -> list[traces.HopProbe]:
    hop, node = float(match["hop"]), match["node"] or ""
    probes: list[traces.HopProbe] = []
    is_timed = "ms" in match["cells"]
    for cell in _HUAWEI_CELL.finditer(match["cells"]):
        if cell[0].startswith("!"):
            if probes and not isnan(probes[-1].rtt_s):
                probes[-1].add_mark(cell[0])
            elif node and (probes or not is_timed):
                probes.append(traces.HopProbe(hop, node=node, mark=cell[0]))
        elif cell[0] == "*":
            probes.append(traces.HopProbe(hop, lost=True))
        else:
            probes.append(traces.HopProbe(hop, int(cell[1]) / 1e3, node=node, resolution_s=1e-3))
    return probes


HUAWEI = Format(
    name="Huawei tracert",
    description="the output of tracert on a Huawei router",
    recognize=seen(r"^\s*traceroute to\s+[^\s(]+\s*\([^()\s]+\), max hops: ?\d+ ?, ?packet length"),
    read=_read_huawei,
    traps=(
        "Labels of MPLS stand behind the address, in brackets; they are no name and no node.",
        "Times are whole milliseconds.",
        "A star is a probe without an answer, also between two times.",
    ),
    tools={"tracert (Huawei)": Counted(probes=TO_NODES)},
)
