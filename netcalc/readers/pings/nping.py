"""The output of nping: its counts and times; the lines of packets have no round trip."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import PROBES, Counted, Format, Input
from netcalc.readers.lines import NUMBER, Line, LineTable
from netcalc.readers.pings.runs import NAN, ProbeReader

_PROTOCOL = re.compile(
    r"(?P<named>ICMPv6|ICMP|TCP|UDP|ARP)\b|Starting (?P<whole>TCP) Handshake|(?P<data>UDP) packet"
)
_TARGET = re.compile(r"> (?P<host>[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:]+)")


class _Nping(ProbeReader):
    tool = "nping"
    marks = r"^Starting Nping |^(?:SENT|RCVD) \([0-9.]+s\) "
    unprinted = ("rtt_min_s", "rtt_max_s")
    table = LineTable(
        packet_sent=r"SENT \({}s\) (?P<packet>.*)$",
        packet_error=r"RCVD \({}s\) (?i:.*(?:unreachable|TTL=0|ttl-zero|time exceeded|prohibited))",
        packet_received=r"RCVD \({}s\) ",
        totals=(
            r"Max rtt: {rtt_max_ms}ms \| Min rtt: {rtt_min_ms}ms \| Avg rtt: ",
            r"(?:Raw packets|UDP packets) sent: {sent} .*?\| Rcvd: {received} .*?"
            rf"\((?P<loss_percent>-?{NUMBER})%\)",
            r"TCP connection attempts: {sent} \| Successful connections: {received}"
            r" \| Failed: [0-9]+ \({loss_percent}%\)",
        ),
        other=r"",
        multiplies=True,
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.sent = self.received = self.errors = 0
        self.targets: set[str] = set()
        self.protocols: set[str] = set()

    def packet_sent(self, line: Line) -> None:
        """Count a probe, and keep what it is and where it goes."""
        self.sent += 1
        if protocol := _PROTOCOL.match(line["packet"]):
            name = protocol[protocol.lastgroup or 0]
            self.protocols.add(name.lower().removesuffix("v6"))
        if target := _TARGET.search(line["packet"].replace(" Echo", "]")):
            self.targets.add(target["host"])

    def packet_error(self, line: Line) -> None:
        """Count an error, which is received but is no reply."""
        self.errors += 1

    def packet_received(self, line: Line) -> None:
        """Count a reply."""
        self.received += 1

    def finish(self) -> None:
        """Take the totals, less the errors; without totals the lines."""
        run = self.run
        if len(self.targets) == 1:
            run.target = self.targets.pop()
        if len(self.protocols) == 1:
            run.protocol = self.protocols.pop()
        if run.ended:
            run.received = (run.received or 0) - self.errors
        else:
            run.sent, run.received = self.sent, self.received
        if self.errors:
            run.rtt_min_s = run.rtt_max_s = NAN  # those of errors are among them
            self.warnings.append(Notice("errors-among-received", {"count": self.errors}))


FORMAT = Format(
    name="nping",
    description="the output of nping",
    recognize=_Nping.recognize,
    read=_Nping.read,
    traps=(
        "The stamps of the lines are too coarse for a round trip; times are those of the summary.",
        "The numbers of the probes in the lines are not reliable and are not used.",
        "An ICMP error is received, but is not a reply.",
        "N/A means no time; it is not 0.",
    ),
    tools={
        "nping": Counted(probes=PROBES),
    },
)
