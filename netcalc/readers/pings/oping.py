"""The output of oping: probes of several hosts in turn."""

from __future__ import annotations

from netcalc.readers.format import ICMP_PROBES, Counted, Format, Input
from netcalc.readers.lines import Line, LineTable
from netcalc.readers.pings.runs import ProbeReader, Run


class _Oping(ProbeReader):
    tool = "oping"
    protocol = "icmp"
    marks = r"^PING \S+ \([^()\s]+\) [0-9]{1,18} bytes of data\.\s*$"
    hosts_take_turns = True
    table = LineTable(
        about=r"PING {target} \([^()\s]+\) {payload_bytes} bytes of data\.\s*$",
        reply=r"[0-9]+ bytes from {target} \([^()\s]+\): icmp_seq={sequence} (?:ttl={ttl} )?"
        r"(?:\S+=\S+ )*time={rtt_ms} ms",
        lost=r"echo reply from {target} \([^()\s]+\): icmp_seq={sequence} timeout",
        summary=r"--- (?P<host>\S+) ping statistics ---",
        totals=r"{sent} packets transmitted, {received} received, {loss_percent}% packet",
        other=r"RTT\[ms\]",
        multiplies=True,
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.summed: Run | None = None

    def summary(self, line: Line) -> None:
        """Take the totals that follow for those of a host."""
        self.summed = self.hosts.get(line["host"])

    def accepts(self, line: Line) -> bool:
        """Whether totals have the name of their host before them."""
        return line.kind != "totals" or self.summed is not None

    def totals(self, line: Line) -> None:
        """Keep the totals of the host that was named."""
        self.current = self.summed
        super().totals(line)


FORMAT = Format(
    name="oping",
    description="the output of oping",
    recognize=_Oping.recognize,
    read=_Oping.read,
    traps=(
        "Hosts take turns in the lines; each has its own rows and facts.",
        "The bytes of a reply are user data, without a header.",
        "The times of the summary are whole milliseconds, often 0: those of the lines count.",
        "A timeout is a lost probe, without a time.",
    ),
    tools={
        "oping": Counted(probes=ICMP_PROBES),
    },
)
