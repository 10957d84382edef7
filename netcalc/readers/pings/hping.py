"""The output of hping3: a line for each answer; probes without one are gaps in the numbers."""

from __future__ import annotations

from netcalc.messages import Notice
from netcalc.readers.format import PROBES, Counted, Format, Input
from netcalc.readers.lines import Line, LineTable
from netcalc.readers.pings.runs import ProbeReader

_PROTOCOLS = {"icmp": "icmp", "udp": "udp", "raw": ""}
"""First word of hping's mode -> protocol; the others are flags of TCP."""


class _Hping(ProbeReader):
    tool = "hping3"
    marks = (
        r"^HPING \S+ \(.*\): .+?, [0-9]{1,18} headers \+ [0-9]{1,18} data|"
        r"^(?:DUP! )?len=[0-9]{1,18} ip=\S+ ttl="
    )
    repeats = True
    table = LineTable(
        about=r"HPING {target} \(.*\): (?P<mode>.+?), [0-9]+ headers \+ {payload_bytes} data",
        reply=r"(?P<duplicate>DUP! )?len=[0-9]+ ip=\S+ (?:ttl={ttl} )?"
        r".{0,99}?\b(?:icmp_)?seq={sequence}\b.{0,99}\brtt={rtt_ms,} ms",
        totals=r"{sent} packets (?:tran?s?mitt?ed), {received} packets received, "
        r"(?P<loss_percent>-?[0-9]{1,18})% packet loss",
        spread=r"round-trip min/avg/max = {printed_rtt_min_ms}/{}/{printed_rtt_max_ms} ms",
        error=r"ICMP |TTL 0 during ",
        other=r"---|status=| ",
        multiplies=True,
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.errors: list[int] = []

    def about(self, line: Line) -> None:
        """Take the protocol from the mode."""
        super().about(line)
        self.run.protocol = _PROTOCOLS.get(line["mode"].split()[0].lower(), "tcp")

    def spread(self, line: Line) -> None:
        """Keep the times of the summary, which are 0 where nothing was received."""
        if self.run.received:
            self.totals(line)

    def error(self, line: Line) -> None:
        """Count an error, which has no number."""
        self.errors.append(line.number)

    def finish(self) -> None:
        """Add the probes without a line."""
        self.run.fill(0, errors=len(self.errors))
        if self.errors:
            self.warnings.append(Notice("errors-not-replies", {"numbers": self.errors}))


FORMAT = Format(
    name="hping",
    description="the output of hping",
    recognize=_Hping.recognize,
    read=_Hping.read,
    traps=(
        "A probe without an answer has no line: it is a gap in the numbers, or after the last one.",
        "Numbers count from 0.",
        "The summary may come before the lines, as they are different streams.",
        "Without an answer the summary says 0.0 ms, which is not a time.",
        "An ICMP error is counted as received by the tool, and is not a reply here.",
    ),
    tools={
        "hping3": Counted(probes=PROBES),
    },
)
