"""Text of traceroute, of many systems, and of tracepath; JSON of jc and of dublin-traceroute.

A line of traceroute is a hop number and then, for each probe, a node where it changes, and a time
or a star; a line without a number goes on with the hop above it. A line of tracepath is an answer,
with the path MTU where it becomes known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from math import isnan, nan
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input, seen
from netcalc.readers.lines import UNITS_S
from netcalc.readers.paths.traces import (
    ADDRESS,
    HopProbe,
    Trace,
    facts_of,
    icmp_mark,
    no_hop,
    short_rows,
    split_name,
    to_samples,
)
from netcalc.readers.places import TO_NODES, UDP_TO_NODES, Counted
from netcalc.readers.source import note, shorten
from netcalc.samples import PathSamples

_HEADER = re.compile(
    r"^\s*(?:trace(?:route6?)?\s+(?P<scamper>from \S+ )?to\s+|Tracing the (?:route|path) to\s+"
    r"|traceroute \[\([^\s()]+\) -> \((?=[^\s()]+:\d+\)\]))"
    r"(?P<name>[^\s()]+)\s*(?:\((?P<address>[^()\s]+)\))?(?P<rest>.*)$"
)
_LIMIT = re.compile(r"(?<!\d)(\d{1,9}) hops (?:max|at most)|max hops: ?(\d{1,9})(?!\d)")
_SIZE = re.compile(r"(?<!\d)(\d{1,5}) bytes? (?:each )?packets?(?![\w-])")
_MESSAGE = re.compile(r"^(?:\S*/)?(?:tcp)?traceroute6?: (.*)$")
_HOP = re.compile(r"^\s*(?P<hop>[0-9]{1,3})[:.]?(?:\s+(?P<rest>\S.*)?)?$")
_GOES_ON = re.compile(r"\s+(?![A-Za-z]{1,2}\s)")
_UNITS = "msec|usec|sec|ms|us|s"
_UNIT = rf"(?:{_UNITS})(?=[\s!]|$)"
_TOKEN = re.compile(
    rf"(?P<time>[0-9]{{1,9}}(?:[.,][0-9]{{1,9}})?)\s*(?P<unit>{_UNIT})"
    r"|(?P<star>\*)(?=\s|$|\*)"
    r"|(?P<mark>![^\s!]*)"
    r"|F=(?P<mtu>[0-9]{1,9})(?![0-9])"
    r"|(?P<bracket>\[[^\]]*\])"
    r"|\((?P<paren>[^()\s]+)\)"
    r"|(?P<aside><[^>]*>|\([^()]*\)|'-?[0-9]+')"
    r"|(?P<word>\S+)"
)
_ADDRESS_LATER = re.compile(
    rf"(?:[^()*]{{0,200}}\([^()*]{{0,200}}\)){{0,3}}?[^()*]{{0,200}}\((?:{ADDRESS.pattern})\)"
)
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_HOP_LINE = (
    r"^\s{0,3}[0-9]{1,2}\s+(?:\[\S+\] ?)?"
    rf"(?:\*|\S+ \([^()\s]+\)\s+(?:[0-9.,]+\s*{_UNIT}|\*)|{ADDRESS.pattern}\s+[0-9.,]+\s*{_UNIT})"
)
_NOISE = re.compile(
    r"^(?:\s+MPLS Label \d|.*press CTRL_C"
    r"|\s*(?:Type escape sequence|VRF info:|Selected device|send failed))"
)


def _recognize(file: Input) -> bool:
    if file.seen(_HEADER.pattern) or file.seen(_MESSAGE.pattern):
        return True
    return file.seen(_HOP_LINE) and not file.seen(r"(?:\s\*|\bms)\s+\S+ \[[0-9A-Fa-f.:]+\]\s*$")


class _TracerouteRuns:
    """The lines of a file, sorted into runs."""

    def __init__(self, file: Input) -> None:
        self.text = file.text
        self.traces: list[Trace] = []
        self.unread: list[int] = []
        self.skipped: list[int] = []
        self.messages: list[str] = []
        self.cut = 0
        self.tool = "traceroute"

    def read(self) -> None:
        """Read every line."""
        last = len(self.text.lines) - 1
        for index, (line_number, line) in enumerate(
            zip(self.text.numbers, self.text.lines, strict=True)
        ):
            self._line(line_number, line, cut=index == last and not self.text.ends_complete)
        self.traces = [trace for trace in self.traces if trace.probes]

    def _line(self, line_number: int, line: str, *, cut: bool) -> None:
        header = _HEADER.match(line)
        if header:
            limit = _LIMIT.search(header["rest"])
            self.tool = "scamper" if header["scamper"] else self.tool
            self.traces.append(
                Trace(
                    target=_target(header),
                    address=header["address"] or "",
                    limit=int(limit[1] or limit[2]) if limit else 0,
                    packet_bytes=_packet_bytes(header),
                    has_header=True,
                )
            )
            return
        if message := _MESSAGE.match(line):
            self.messages.append(shorten(message[1], 100))
            return
        if not line.strip() or _NOISE.match(line):
            return
        if not self._hop(line_number, line, cut=cut):
            self.skipped.append(line_number)

    def _hop(self, number: int, line: str, *, cut: bool) -> bool:
        """Read a line of probes; False if it is not one."""
        numbered = _HOP.match(line)
        if numbered and not re.match(_UNIT, numbered["rest"] or ""):
            hop, rest = int(numbered["hop"]), numbered["rest"] or ""
            goes_on = False
        elif self.traces and self.traces[-1].probes and _GOES_ON.match(line):
            hop, rest, goes_on = int(self.traces[-1].last_hop), line.strip(), True
        else:
            return False
        if not goes_on and not self._run_for(hop):
            self.unread.append(number)
            return True
        trace = self.traces[-1]
        above = trace.probes[-1] if goes_on else None
        read = read_probes(hop, rest, above, cut=cut)
        if read is None:
            if cut:
                trace.cut, self.cut = True, number
            else:
                self.unread.append(number)
            return True
        probes, mtu = read
        trace.probes += probes
        if mtu:
            trace.path_mtu_bytes = mtu
        trace.cut |= cut and trace.ends_in_a_hop
        return True

    def _run_for(self, hop: int) -> bool:
        """Begin a run where the hops start again; False if the hop belongs nowhere."""
        if not self.traces:
            self.traces.append(Trace())
        trace = self.traces[-1]
        if hop > trace.last_hop:
            return True
        if hop <= 1:
            self.traces.append(Trace())
            return True
        return False


def _target(header: re.Match[str]) -> str:
    """Return the target; paris-traceroute prints its port with it."""
    name = header["name"].rstrip(",;")
    return name.rpartition(":")[0] if header[0].lstrip().startswith("traceroute [") else name


def _packet_bytes(header: re.Match[str]) -> float:
    """Return the size of the packets of a run; nan where the tool counts without their headers.

    Those are the programs for IPv6 of BSD and of iputils, and an MTU that is looked for.
    """
    size = _SIZE.search(header["rest"])
    is_ipv6 = ":" in (header["address"] or header["name"])
    of_data = "traceroute6" in header[0] or (is_ipv6 and " from " in header["rest"])
    least, most = (48 if is_ipv6 else 28), 65000 - 1
    return float(size[1]) if size and not of_data and least <= int(size[1]) <= most else nan


def _unreadable(file: Input, line: int) -> ReaderError:
    """Return the error about a line in which no time can be read."""
    written = shorten(file.text.lines[file.text.numbers.index(line)])
    return file.refusal("traceroute-unreadable", line=line, field="time", value=written, unit="ms")


def read_probes(
    hop: int, text: str, above: HopProbe | None = None, *, cut: bool = False
) -> tuple[list[HopProbe], int] | None:
    """Read the probes of one line, and the path MTU that it reports; None if it is not readable.

    A line that ends the file in the middle loses its last word, which may be part of a number.
    """
    line = _HopLine(hop, above)
    for token in _TOKEN.finditer(text):
        if cut and token.end() == len(text):
            if token["unit"] not in (None, "ms", "msec"):
                return None
            if token["mark"] and token["mark"][-1].isdigit():
                continue
        if not line.add(token):
            return None
    return None if line.words and not cut else (line.probes, line.path_mtu_bytes)


class _HopLine:
    """The probes of a line as far as it was read, and the words that may name another node."""

    def __init__(self, hop: int, above: HopProbe | None) -> None:
        self.hop, self.above = hop, above
        self.node, self.name = (above.node, above.node_name) if above else ("", "")
        self.has_node = False
        """Whether the line itself names a node."""
        self.probes: list[HopProbe] = []
        self.words: list[str] = []
        self.path_mtu_bytes = 0

    def add(self, token: re.Match[str]) -> bool:
        """Add a word of the line; False if the line is not readable."""
        match token.lastgroup:
            case "unit":
                return self._add_time(token["time"], token["unit"])
            case "star":
                self.probes.append(HopProbe(self.hop, lost=True))
                return not self.words
            case "mark":
                self._add_mark(token["mark"])
            case "mtu":
                self.path_mtu_bytes = int(token["mtu"])
            case "paren" if self.words and _is_of_name(token["paren"], token.string, token.end()):
                self.words.append(token[0])
            case "paren" if self.words:
                name = " ".join(self.words)
                if self.probes and _NUMBER.fullmatch(self.words[0]):
                    return False  # a time without a unit
                self.node, self.words, self.has_node = token["paren"], [], True
                self.name = "" if name == self.node else name
            case "word":
                self.words.append(token["word"])
        return True

    def _add_mark(self, mark: str) -> None:
        """Add a mark to the time before it; where there is none, it is an answer without a time."""
        last = self.probes[-1] if self.probes else self.above
        if self.words and ADDRESS.fullmatch(self.words[-1]):
            self.node, self.name, self.words, self.has_node = self.words[-1], "", [], True
            last = None
        if last is not None and not isnan(last.rtt_s) and (self.probes or not self.has_node):
            last.add_mark(mark)
        elif self.has_node:
            self.probes.append(HopProbe(self.hop, node=self.node, node_name=self.name, mark=mark))

    def _add_time(self, number: str, unit: str) -> bool:
        """Add a probe that was answered by the node that the words before it name, or the last."""
        if self.words:
            self.node, self.name, self.words, self.has_node = self.words[-1], "", [], True
            if _NUMBER.fullmatch(self.node) or re.fullmatch(_UNITS, self.node):
                return False  # a time without a unit, or a unit without its number
        rtt_s = float(number.replace(",", ".")) * UNITS_S[unit]
        self.probes.append(HopProbe(self.hop, rtt_s, node=self.node, node_name=self.name))
        return bool(self.node)


def _is_of_name(within: str, text: str, end: int) -> bool:
    """Whether brackets belong to a name, as the address follows in brackets of its own."""
    if ADDRESS.fullmatch(within):
        return False
    later = _ADDRESS_LATER.match(text, end)
    return later is not None and not any(token["time"] for token in _TOKEN.finditer(later[0]))


def _read(input_: Input) -> PathSamples:
    file = _TracerouteRuns(input_)
    file.read()
    if not file.traces:
        if file.unread:
            raise _unreadable(input_, file.unread[0])
        if file.messages:
            raise input_.refusal("path-message-only", message=file.messages[0])
        raise no_hop(input_, file.tool)
    if file.unread and all(probe.lost for trace in file.traces for probe in trace.probes):
        raise _unreadable(input_, file.unread[0])
    warnings = list(file.text.warnings)
    note(warnings, "path-message", messages=file.messages)
    note(warnings, "last-line-cut", number=file.cut)
    note(warnings, "path-lines-unread", numbers=file.unread)
    note(warnings, "not-of-a-path", numbers=file.skipped)
    if any(not trace.has_header for trace in file.traces):
        warnings.append(Notice("path-without-header", {}))
    warnings += [] if file.unread else short_rows(file.traces)
    return to_samples(input_, file.traces, file.tool, warnings)


TRACEROUTE = Format(
    name="traceroute",
    description="the output of traceroute",
    recognize=_recognize,
    read=_read,
    traps=(
        "Each probe of a hop keeps the address that answered it, of which a hop may have several.",
        "A star is a probe without an answer, also between two times; it has no time of 0.",
        "A name is the text before the brackets, and may not be the name of a host.",
        "Marks such as !H, !X and !F-1300 are kept with their probe, also without a time. They say "
        "that the target is unreachable: such a run did not reach it, and has no round trip to it.",
        "A time before !H is the wait of the last router for an address that nobody has (ARP): it "
        "is no delay of the path.",
        "Linux sends 16 probes at once, which wait for each other in front of a slow line: -N 1 "
        "sends each alone.",
        "A line without a hop number goes on with the hop above it.",
        "A run whose header is missing, or that ends before its target, is partial.",
        "Hops that never answered count, up to the last line.",
    ),
    tools={"traceroute": Counted(probes=TO_NODES)},
    parts=(rf"^\s{{2,}}\S+ \((?:{ADDRESS.pattern})\)\s+[0-9.,]+\s*{_UNIT}",),
    needs="the line with the number of the hop",
)


_KEYS = {"destination_ip", "destination_name", "hops"}


def _read_jc(file: Input) -> PathSamples:
    if file.json.fault is not None:
        raise file.json.fault
    documents = list(file.json.objects())
    traces = [trace for trace in map(_trace, documents) if trace.probes]
    if not traces:
        raise file.refusal("no-path", field="hops", tool="traceroute")
    warnings = [*file.json.warnings, Notice("lost-probes-left-out")]
    hops = [hop for run in documents for hop in rows(run, "hops")]
    note(warnings, "implausible-hops", count=sum(not number(hop, "hop") > 0 for hop in hops))
    return to_samples(file, traces, "traceroute (jc)", warnings, has_lost=False)


def _trace(run: dict[str, Any]) -> Trace:
    made = Trace(
        target=shorten(words(run, "destination_name", "destination_ip"), 100),
        address=shorten(words(run, "destination_ip"), 100),
        has_header=True,
    )
    for hop in rows(run, "hops"):
        count = number(hop, "hop")
        for printed in rows(hop, "probes") if count > 0 else ():
            rtt_ms = number(printed, "rtt")
            node, name = words(printed, "ip"), words(printed, "name")
            if not node or not rtt_ms >= 0:
                continue
            probe = HopProbe(count, rtt_ms / 1e3, node=node)
            probe.node_name = shorten(name, 200) if name != node else ""
            probe.mark = shorten(words(printed, "annotation"), 20)
            made.probes.append(probe)
    return made


JC = Format(
    name="traceroute JSON",
    description="the JSON of jc about a traceroute",
    recognize=lambda file: file.is_json and file.keys() >= _KEYS,
    read=_read_jc,
    traps=(
        "Times (rtt) are milliseconds.",
        "jc leaves out the stars of lost probes, so that their number is unknown.",
    ),
)


def _recognize_dublin(file: Input) -> bool:
    if not {"flows"} <= file.keys():
        return False
    return any(
        isinstance(hop, dict) and {"sent", "is_last", "rtt_usec"} <= set(hop)
        for hops in member(file.json.documents[0], "flows").values()
        for hop in (hops if isinstance(hops, list) else [])
    )


def _read_dublin(file: Input) -> PathSamples:
    traces: list[Trace] = []
    several = len(file.json.documents) > 1
    for count, document in enumerate(file.json.documents, 1):
        flows = member(document, "flows")  # port -> its hops
        for port, hops in flows.items():
            made = Trace(ended=True)
            if len(flows) > 1 or several:
                made.group = f"port {shorten(port, 10)}" + (f", run {count}" if several else "")
            for hop in hops if isinstance(hops, list) else []:
                if isinstance(hop, dict):
                    _add(made, hop)
            if made.probes:
                traces.append(made)
    if not traces:
        raise file.refusal("no-path", field="flows", tool="dublin-traceroute")
    traces[-1].cut = file.json.fault is not None
    return to_samples(file, traces, "dublin-traceroute", file.text.warnings)


def _add(trace: Trace, hop: Mapping[str, Any]) -> None:
    """Add the probe of one hop."""
    sent = member(hop, "sent", "ip")
    count = number(sent, "ttl")
    if not count > 0:
        return
    trace.target = words(sent, "dst") or trace.target
    trace.protocol = "udp" if member(hop, "sent", "udp") else trace.protocol
    if not isinstance(hop.get("received"), dict):
        trace.probes.append(HopProbe(count, lost=True))
        return
    rtt = number(hop, "rtt_usec")
    node, name = words(member(hop, "received", "ip"), "src"), words(hop, "name")
    made = HopProbe(count, rtt * 1e-6 if rtt > 0 else nan, node=node)
    made.node_name = shorten(name, 200) if name != node else ""
    made.ttl = number(member(hop, "received", "ip"), "ttl")
    icmp = member(hop, "received", "icmp")
    if isinstance(icmp.get("type"), int) and isinstance(icmp.get("code"), int):
        made.mark = icmp_mark(icmp["type"], icmp["code"], ipv6=":" in node)
    trace.probes.append(made)


DUBLIN = Format(
    name="dublin-traceroute",
    description="the JSON of dublin-traceroute",
    recognize=_recognize_dublin,
    read=_read_dublin,
    traps=(
        "Each flow, named by its port, is a path of its own: balancers send them different ways.",
        "A hop without what was received is a lost probe, and its time of 0 is none.",
        "Times (rtt_usec) are microseconds.",
        "A NAT on the way (nat_id) may show the address of another node.",
    ),
    tools={"dublin-traceroute": Counted(probes=UDP_TO_NODES)},
)


_DUBLIN_TARGET = re.compile(
    r"^Traceroute from \S+:[0-9]+ to (?P<target>\S+):[0-9]+~[0-9]+ \(probing"
)
_DUBLIN_FLOW = re.compile(r"^== Flow ID (?P<port>[0-9]{1,5}) ==$")
_DUBLIN_HOP = re.compile(
    rf"^(?P<hop>[0-9]{{1,3}})\s+(?:(?P<lost>\*)|(?P<node>{ADDRESS.pattern}) \((?P<name>[^()]*)\), "
    r"IP ID: [0-9]+ RTT (?P<time>[0-9]{1,6}(?:\.[0-9]{1,6})?) ms\s+"
    r"ICMP \(type=(?P<type>[0-9]{1,3}), code=(?P<code>[0-9]{1,3})\).*)\s*$"
)


def _read_dublin_text(file: Input) -> PathSamples:
    traces: list[Trace] = []
    skipped: list[int] = []
    target = ""
    for line_number, line, cut in file.text.numbered_lines():
        if header := _DUBLIN_TARGET.match(line):
            target = header["target"]
        elif flow := _DUBLIN_FLOW.match(line.rstrip()):
            traces.append(Trace(target, target, ended=True, protocol="udp"))
            traces[-1].group = f"port {flow['port']}"
        elif hop := _DUBLIN_HOP.match(line):
            if not traces:
                traces.append(Trace(target, target, protocol="udp", cut=True))
            traces[-1].probes.append(_dublin_probe(hop))
        elif line[0].isdigit():
            skipped.append(line_number)
            if traces and cut:
                traces[-1].cut = True
    traces = [trace for trace in traces if trace.probes]
    if not traces:
        raise no_hop(file, "dublin-traceroute")
    warnings = list(file.text.warnings)
    note(warnings, "path-lines-unread", numbers=skipped)
    return to_samples(file, traces, "dublin-traceroute", warnings)


def _dublin_probe(line: re.Match[str]) -> HopProbe:
    if line["lost"]:
        return HopProbe(int(line["hop"]), lost=True)
    made = HopProbe(int(line["hop"]), float(line["time"]) * 1e-3, node=line["node"])
    made.node_name = shorten(line["name"], 200) if line["name"] != line["node"] else ""
    made.mark = icmp_mark(int(line["type"]), int(line["code"]), ipv6=":" in line["node"])
    return made


DUBLIN_TEXT = Format(
    name="dublin-traceroute text",
    description="the output of dublin-traceroute",
    recognize=seen(
        _DUBLIN_TARGET.pattern,
        _DUBLIN_FLOW.pattern,
        r"^[0-9]{1,3}\s+\S+ \([^()]*\), IP ID: [0-9]+ RTT",
    ),
    read=_read_dublin_text,
    traps=(
        "Each flow, named by its port, is a path of its own: balancers send them different ways.",
        "The name of a node is in brackets behind its address.",
        "A NAT on the way (NAT ID) may show the address of another node.",
    ),
)


_TRACEPATH_LINE = re.compile(r"^\s?(?P<hop>[0-9]{1,3})(?P<own>\?)?:\s+(?P<rest>\S(?:.*\S)?)\s*$")
_ANSWER = re.compile(
    r"^(?P<node>\S.*?)(?<=\S)\s+(?:asymm\s+(?P<asymm>[0-9]+)\s+)?"
    r"(?P<time>[0-9]+(?:[.,][0-9]+)?)\s*ms(?=\s|$)(?P<more>.*)$"
)
_MTU = re.compile(r"pmtu ([0-9]+)")
_RESUME = re.compile(r"^\s*Resume: pmtu (?P<mtu>[0-9]+)(?:(?P<whole>\s)|$)")
_TOO_MANY = re.compile(r"^\s*Too many hops: pmtu ([0-9]+)")
_WHOLE_ANSWER = re.compile(r"(?:[0-9]\s*ms|reached|no reply|!\S|\s)$|pmtu [0-9]+ back")
"""End of a line of tracepath that can have lost nothing but its line end."""
TOO_LARGE = "pmtu"
"""Mark of an answer that says the probe was too large for a link ahead."""


def _read_tracepath(file: Input) -> PathSamples:
    text = file.text
    traces: list[Trace] = []
    unread: list[int] = []
    skipped: list[int] = []
    last_line_cut = False
    for line_number, line, cut in text.numbered_lines():
        resume = _RESUME.match(line)
        if cut and not (resume["whole"] if resume else _WHOLE_ANSWER.search(line)):
            last_line_cut = True
        elif resume:
            if traces:
                traces[-1].ended = True
                traces[-1].path_mtu_bytes = float(resume["mtu"])
        elif match := _TRACEPATH_LINE.match(line):
            if not traces or traces[-1].ended or (match["own"] and traces[-1].probes):
                traces.append(Trace())
            if match["own"]:
                if mtu := _MTU.search(match["rest"]):
                    traces[-1].path_mtu_bytes = float(mtu[1])
            elif not _add_answer(traces[-1], int(match["hop"]), match["rest"]):
                unread.append(line_number)
        elif many := _TOO_MANY.match(line):
            if traces:
                traces[-1].gave_up = True
                traces[-1].path_mtu_bytes = float(many[1])
        else:
            skipped.append(line_number)
    traces = [trace for trace in traces if trace.probes]
    if not traces:
        if unread:
            raise _unreadable(file, unread[0])
        raise no_hop(file, "tracepath")
    for trace in traces:
        trace.target = next((p.node for p in trace.probes if "reached" in p.mark), "")
        trace.gave_up |= trace.ended and not trace.target
        is_over = trace.ended or trace.gave_up
        trace.cut = not is_over or (last_line_cut and trace is traces[-1])
    warnings = list(text.warnings)
    note(warnings, "path-lines-unread", numbers=unread)
    note(warnings, "not-of-a-path", numbers=skipped)
    samples = to_samples(file, traces, "tracepath", warnings)
    return _without_too_large(samples, traces)


def _add_answer(trace: Trace, hop: int, rest: str) -> bool:
    """Add the line of a hop; False if it is not readable."""
    if rest == "no reply":
        trace.probes.append(HopProbe(hop, lost=True))
        return True
    match = _ANSWER.match(rest)
    if match is None or _NUMBER.fullmatch(match["node"].split()[-1]):  # a blank in a time
        return rest.startswith("send failed")
    node, name = split_name(match["node"])
    if name == "???":
        name = ""
    rtt_s = float(match["time"].replace(",", ".")) * 1e-3
    made = HopProbe(hop, rtt_s, node=node, node_name=name)
    for mark in match["more"].split():
        if mark.startswith("!") or mark == "reached":
            made.add_mark(mark)
    if mtu := _MTU.search(match["more"]):
        trace.path_mtu_bytes = float(mtu[1])
        made.add_mark(f"{TOO_LARGE} {mtu[1]}")
    trace.probes.append(made)
    return True


def _without_too_large(samples: PathSamples, traces: list[Trace]) -> PathSamples:
    """Take no time and no hop from answers that a probe is too large: they are from before it.

    They are answers all the same, and counted as such.
    """
    columns: dict[str, Any] = samples.columns()
    kept = [TOO_LARGE not in mark for mark in columns["mark"].tolist()]
    of_hops = PathSamples(**{name: column[kept] for name, column in columns.items()})
    facts = []
    for trace in traces:
        answers = samples.hop_facts(trace.group)
        counted = {name: answers[name] for name in ("probe_count", "reply_count")}
        facts.append({**facts_of(trace, of_hops), **counted})
    return replace(samples, meta=replace(samples.meta, facts=tuple(facts)))


TRACEPATH = Format(
    name="tracepath",
    description="the output of tracepath",
    recognize=seen(
        r"^\s?[0-9]{1,3}\?: +\[LOCALHOST\]",
        r"^\s?[0-9]{1,3}: {2}\S+.*[0-9.]+ ?ms(?:\s+(?:pmtu [0-9]+|reached|!\S))?\s*$",
        r"^\s?[0-9]{1,3}: {2}no reply\s*$",
        r"^\s*(?:Resume|Too many hops): pmtu ",
    ),
    read=_read_tracepath,
    traps=(
        "The first line, with a question mark, is the sender itself and no hop.",
        "Times have no blank before their unit, and may be many seconds: late answers are printed "
        "under the hop they belong to.",
        "The path MTU is that of the last line, which is the smallest found.",
        "An answer with a path MTU comes from before its hop: it counts for no time of that hop.",
        "Without its last line (Resume) a run was interrupted.",
    ),
    tools={"tracepath": Counted(probes=UDP_TO_NODES)},
)
