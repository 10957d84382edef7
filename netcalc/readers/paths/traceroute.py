"""The text of traceroute: Linux, BSD and macOS, BusyBox, inetutils, and of routers.

A line is a hop number and then, for each probe, a node where it changes, and a time or a star. A
line without a number goes on with the hop above it.
"""

from __future__ import annotations

import re

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.paths._traces import ADDRESS, Probe, Trace, to_samples
from netcalc.readers.source import no_measurement, shorten
from netcalc.samples import PathSamples

_HEADER = re.compile(
    r"^\s*(?:traceroute6?\s+to\s+|Tracing the (?:route|path) to\s+)"
    r"(?P<name>[^\s()]+)\s*(?:\((?P<address>[^()\s]+)\))?(?P<rest>.*)$"
)
_LIMIT = re.compile(r"(?<!\d)(\d{1,9}) hops max|max hops: ?(\d{1,9})(?!\d)")
_MESSAGE = re.compile(r"^(?:\S*/)?(?:tcp)?traceroute6?: (.*)$")
_HOP = re.compile(r"^\s*(?P<hop>[0-9]{1,3})[:.]?(?:\s+(?P<rest>\S.*)?)?$")
_UNITS = {"ms": 1e-3, "msec": 1e-3, "usec": 1e-6, "us": 1e-6, "s": 1.0, "sec": 1.0}
_UNIT = r"(?:msec|usec|sec|ms|us|s)(?=[\s!]|$)"
_TOKEN = re.compile(
    rf"(?P<time>[0-9]+(?:[.,][0-9]+)?)\s*(?P<unit>{_UNIT})"
    r"|(?P<star>\*)(?=\s|$|\*)"
    r"|(?P<mark>![^\s!]*)"
    r"|F=(?P<mtu>[0-9]{1,9})(?![0-9])"
    r"|(?P<bracket>\[[^\]]*\])"
    r"|\((?P<paren>[^()\s]+)\)"
    r"|(?P<aside><[^>]*>|\([^()]*\)|'-?[0-9]+')"
    r"|(?P<word>\S+)"
)
_ADDRESS_LATER = re.compile(rf"[^()*]*\((?:{ADDRESS.pattern})\)")
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_HOP_LINE = (
    r"^\s{0,3}[0-9]{1,2}\s+(?:\[\S+\] ?)?"
    rf"(?:\*|\S+ \([^()\s]+\)\s+(?:[0-9.,]+\s*{_UNIT}|\*)|{ADDRESS.pattern}\s+[0-9.,]+\s*{_UNIT})"
)
_STARS = r"^\s{0,3}[0-9]{1,2}\s+\*(?:\s+\*)*\s*$"
_NOISE = re.compile(
    r"^(?:\s*(?:Type escape sequence|VRF info:|Selected device|send failed)|.*press CTRL_C)"
)


def _recognize(given: Input) -> bool:
    if given.seen(_HEADER.pattern) or given.seen(_MESSAGE.pattern):
        return True
    return given.seen(_HOP_LINE) and not given.seen(r"(?:\s\*|\bms)\s+\S+ \[[0-9A-Fa-f.:]+\]\s*$")


class _File:
    """The lines of a file, sorted into runs."""

    def __init__(self, given: Input) -> None:
        self.text = given.text
        self.traces: list[Trace] = []
        self.unread: list[int] = []
        self.skipped: list[int] = []
        self.messages: list[str] = []
        self.cut = False

    def read(self) -> None:
        """Read every line."""
        last = len(self.text.lines) - 1
        for index, (number, line) in enumerate(
            zip(self.text.numbers, self.text.lines, strict=True)
        ):
            self._line(number, line, cut=index == last and not self.text.ends_complete)
        self.traces = [trace for trace in self.traces if trace.probes]

    def _line(self, number: int, line: str, *, cut: bool) -> None:
        header = _HEADER.match(line)
        if header:
            limit = _LIMIT.search(header["rest"])
            self.traces.append(
                Trace(
                    target=header["name"].rstrip(",;"),
                    address=header["address"] or "",
                    limit=int(limit[1] or limit[2]) if limit else 0,
                    has_header=True,
                )
            )
            return
        if message := _MESSAGE.match(line):
            self.messages.append(shorten(message[1], 100))
            return
        if not line.strip() or _NOISE.match(line):
            return
        if not self._hop(number, line, cut=cut):
            self.skipped.append(number)

    def _hop(self, number: int, line: str, *, cut: bool) -> bool:
        """Read a line of probes; False if it is not one."""
        numbered = _HOP.match(line)
        if numbered and not re.match(_UNIT, numbered["rest"] or ""):
            hop, rest = int(numbered["hop"]), numbered["rest"] or ""
            goes_on = False
        elif line[:1].isspace() and self.traces and self.traces[-1].probes:
            hop, rest, goes_on = int(self.traces[-1].last_hop), line.strip(), True
        else:
            return False
        if not goes_on and not self._run_for(hop):
            self.unread.append(number)
            return True
        trace = self.traces[-1]
        above = trace.probes[-1] if goes_on else None
        found = read_probes(hop, rest, above, cut=cut)
        if found is None:
            if cut:
                trace.cut = self.cut = True
            else:
                self.unread.append(number)
            return True
        probes, mtu = found
        trace.probes += probes
        if mtu:
            trace.path_mtu_bytes = mtu
        if cut and len(probes) < _most_probes(trace):
            trace.cut = True
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


def _most_probes(trace: Trace) -> int:
    """Return how many probes the hops of a run have."""
    counts: dict[float, int] = {}
    for probe in trace.probes:
        counts[probe.hop] = counts.get(probe.hop, 0) + 1
    return max(counts.values(), default=0)


def read_probes(
    hop: int, text: str, above: Probe | None = None, *, cut: bool = False
) -> tuple[list[Probe], int] | None:
    """Read the probes of one line, and the path MTU that it reports; None if it is not readable.

    A line that ends the file in the middle loses its last word, which may be part of a number.
    """
    probes: list[Probe] = []
    words: list[str] = []
    node = name = ""
    mtu = 0
    if above is not None:
        node, name = above.node, above.node_name
    for token in _TOKEN.finditer(text):
        if token["time"]:
            if words:
                node, name, words = words[-1], "", []
                if _NUMBER.fullmatch(node) or node in _UNITS:
                    return None  # a time without a unit, or a unit without its number
            if not node:
                return None
            if cut and token.end() == len(text) and token["unit"] not in ("ms", "msec"):
                return None
            rtt_s = float(token["time"].replace(",", ".")) * _UNITS[token["unit"]]
            probes.append(Probe(hop, rtt_s, node=node, node_name=name))
        elif token["star"]:
            if words:
                return None
            probes.append(Probe(hop, lost=True))
        elif token["mark"]:
            last = probes[-1] if probes else above
            if last is not None:
                last.add_mark(token["mark"])
        elif token["mtu"]:
            mtu = int(token["mtu"])
        elif token["paren"] and words and _is_of_name(token["paren"], text, token.end()):
            words.append(token[0])
        elif token["paren"] and words:
            node, name, words = token["paren"], " ".join(words), []
            name = "" if name == node else name
        elif token["word"]:
            words.append(token["word"])
    if words and not cut:
        return None
    return probes, mtu


def _is_of_name(within: str, text: str, end: int) -> bool:
    """Whether brackets belong to a name, as the address follows in brackets of its own."""
    if ADDRESS.fullmatch(within):
        return False
    later = _ADDRESS_LATER.match(text, end)
    return later is not None and not any(one["time"] for one in _TOKEN.finditer(later[0]))


def _read(given: Input) -> PathSamples:
    file = _File(given)
    file.read()
    if not file.traces:
        if file.unread:
            index = file.text.numbers.index(file.unread[0])
            raise ReaderError(
                "traceroute-unreadable",
                file=given.name,
                line=file.unread[0],
                field="time",
                value=shorten(file.text.lines[index]),
                unit="ms",
            )
        if file.messages:
            raise ReaderError("path-message-only", file=given.name, message=file.messages[0])
        raise no_measurement("no-path", given.unpacked, file.text)
    warnings = list(file.text.warnings)
    if file.messages:
        warnings.append(Notice("path-message", {"messages": file.messages}))
    if file.cut:
        warnings.append(Notice("last-line-cut", {"number": file.text.numbers[-1]}))
    if file.unread:
        warnings.append(Notice("path-lines-unread", {"numbers": file.unread}))
    if file.skipped:
        warnings.append(Notice("not-of-a-path", {"numbers": file.skipped}))
    if any(not trace.has_header for trace in file.traces):
        warnings.append(Notice("path-without-header", {}))
    return to_samples(given, file.traces, "traceroute", warnings)


FORMAT = Format(
    name="traceroute",
    description="the output of traceroute",
    recognize=_recognize,
    read=_read,
    traps=(
        "Each probe of a hop keeps the address that answered it, of which a hop may have several.",
        "A star is a probe without an answer, also between two times; it has no time of 0.",
        "A name is the text before the brackets, and may not be the name of a host.",
        "Marks such as !H, !X and !F-1300 are kept with their probe.",
        "A line without a hop number goes on with the hop above it.",
        "A run whose header is missing, or that ends before its target, is partial.",
        "Hops that never answered count, up to the last line.",
    ),
)
