"""The output of arping, of Thomas Habets and of iputils."""

from __future__ import annotations

from netcalc.readers.format import ROUND_TRIP, SENDER, Counted, Format, Place
from netcalc.readers.lines import Line, LineTable
from netcalc.readers.pings.runs import ProbeReader


class _Arping(ProbeReader):
    tool = "arping"
    protocol = "arp"
    marks = (
        r"^ARPING \S+|^(?:Unicast|Broadcast) reply from \S+ \[[^\]]*\](?: for \S+ \[[^\]]*\])?"
        r"\s+[0-9.]+ms"
    )
    table = LineTable(
        about=r"ARPING {target}",
        reply=(
            r"[0-9]+ bytes from \S+ \([^()]+\): (?:icmp_seq|index)=[0-9]+"
            r"(?: time={rtt_unit} (?P<unit>usec|msec|sec))?",
            r"(?:Unicast|Broadcast) reply from \S+ \[[^\]]*\](?: for \S+ \[[^\]]*\])?"
            r"\s+{rtt_ms}ms",
        ),
        lost=r"\s*Timeout\s*$",
        totals=(
            r"{sent} packets transmitted, {received} packets received, +"
            r"(?P<loss_percent>-?[0-9]+)% unanswered(?: \({duplicates} extra\))?",
            r"Sent {sent} probes?\b",
            r"Received {received} (?:response|repl)",
        ),
        other=r"---|rtt ",
        multiplies=True,
    )

    def totals(self, line: Line) -> None:
        """Keep the totals; those with a loss count duplicates only where there are some."""
        super().totals(line)
        if "loss_ratio" in line:
            self.run.duplicates = line.get("duplicates", 0)

    def finish(self) -> None:
        """Add the probes without a line."""
        sent, received = self.run.sent, self.run.received
        self.run.printed = {} if sent is None else {"sent": sent, "received": received}
        self.run.fill_unnumbered()


FORMAT = Format(
    name="arping",
    description="the output of arping",
    recognize=_Arping.recognize,
    read=_Arping.read,
    traps=(
        "The unit of a time differs from line to line: usec, msec and sec.",
        "The arping of iputils prints no line for a lost probe; the summary counts it.",
        "It measures the next node at layer 2 only.",
    ),
    tools={
        "arping": Counted(probes=Place("arp", "ARP packets", SENDER, ROUND_TRIP)),
    },
)
