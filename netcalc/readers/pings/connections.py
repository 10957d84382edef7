"""Times of connections: the output of tcping, PsPing and httping."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import HTTP_REQUESTS, ROUND_TRIP, SENDER, Counted, Format, Place
from netcalc.readers.lines import Line, LineTable
from netcalc.readers.pings.runs import Probe, ProbeReader

_REFUSED = re.compile(r"closed|refused")


class _Tcping(ProbeReader):
    tool = "tcping"
    protocol = "tcp"
    marks = (
        r"^PsPing v|^Probing \S+:\d+/tcp|^TCP connect to |^Connecting to \S+:\d+: from |"
        r"^(?:Reply|No reply) from \S+(?: \(\S+\))? on port \d+"
    )
    table = LineTable(
        reply=(
            r"Probing {target}/tcp - (?P<answer>.+?) - time={rtt_ms} ?ms\s*$",
            r"(?P<answer>Reply|No reply) from {target}(?: \(\S+\))? on port \d{1,5}:?"
            r"(?: using \S+:)?(?: [Tt][Cc][Pp]_conn=\d{1,9})?(?: time={rtt_ms} ?ms)?\s*$",
            r"Connecting to (?P<target>\S+?):?(?P<warm> \(warmup\):)? from \S+:(?:\s+|$)"
            r"(?:{rtt_ms} ?ms|(?P<answer>\S.*)?)\s*$",
            r"Connecting to (?P<target>\S+?):?(?P<warm> \(warmup\):)? (?P<answer>[A-Z].*)$",
        ),
        totals=(
            r"\s*Sent = {sent}, Received = {received}, Lost = ",
            r"{sent} (?:probes|packets) transmitted(?: on port \d+ \||,) {received} received, ",
            r"Sent= ?{sent}, Success= ?{received}, Failed=",
            r"\s*{sent} probes sent\.\s*$",
            r"\s*{received} successful, \d{1,15} failed\.",
        ),
        other=r"\s*(?i:PsPing|Copyright|Sysinternals|TCPinging|TCP connect|PING|Ping statistics|"
        r"Approximate|rtt |\d+ iterations|Host is:|--- |successful probes|unsuccessful probes|"
        r"last |total |longest |TCPing started|TCPing ended|duration|This operation returned|"
        r"Port: |Minimum ?=|probing|\*\* Pinging)",
    )

    def reply(self, line: Line) -> None:
        """Add a probe by what came: the time of one without an answer is the time-out."""
        if self.run.ended:
            self.begin()
        self.run.target = self.run.target or line["target"]
        answer = line.get("answer", "")
        if "warm" in line:
            return
        if "rtt_s" in line and answer in ("", "Port is open", "Reply"):
            super().reply(line)
        else:
            refused = _REFUSED.search(answer) is not None
            self.run.probes.append(Probe(lost=True, error_reply=refused))

    def accepts(self, line: Line) -> bool:
        """Whether totals come behind a probe."""
        return line.kind == "reply" or self.current is not None

    def totals(self, line: Line) -> None:
        """Keep the totals; a run is whole with both counts."""
        super().totals(line)
        self.run.ended = self.run.sent is not None and self.run.received is not None

    def finish(self) -> None:
        """Add the probes without a line, and say what the times are."""
        for run in self.runs:
            run.fill_unnumbered()
        self.warnings.append(Notice("connection-times", {}))


TCPING = Format(
    name="tcping",
    description="the output of tcping or psping",
    recognize=_Tcping.recognize,
    read=_Tcping.read,
    traps=(
        "A time is that of a TCP handshake: SYN, SYN-ACK, and what the two systems took.",
        "The time of a probe without an answer is the time-out, and no round trip.",
        "A port that is closed answers with a reset: an error, which is no reply.",
        "TCP_conn counts the connections that were made: it is no number of a probe.",
        "The probes that PsPing sends to warm up are left out, as in its own summary.",
    ),
    tools={
        "tcping": Counted(probes=Place("tcp", "TCP handshakes", SENDER, ROUND_TRIP)),
    },
)


class _Httping(ProbeReader):
    tool = "httping"
    protocol = "tcp"
    marks = r"^PING \S+:[0-9]{1,18} \(/|^connected to \S+:[0-9]{1,18} \("
    unprinted = ("loss_ratio",)
    table = LineTable(
        about=r"PING (?P<target>\S+?):[0-9]{1,18} \(",
        reply=r"(?:connected to|pinged host) \S+ \([0-9]+ bytes\), seq={sequence} "
        r"time= *(?:[-0-9., +n/a]*= *)?{rtt_ms,} ms",
        lost=r"(?i:could not connect|timeout|connect time out|error )(?P<error_reply>.*refused)?",
        totals=(
            r"{sent} connects, {received} ok, {loss_percent,}% failed",
            r"round-trip min/avg/max(?:/\S+)? = {printed_rtt_min_ms}/{}/{printed_rtt_max_ms}",
        ),
        other=r"---|Transfer speed",
        multiplies=True,
    )

    def finish(self) -> None:
        """Say what the times include."""
        self.warnings.append(Notice("http-exchanges", {}))


HTTPING = Format(
    name="httping",
    description="the output of httping",
    recognize=_Httping.recognize,
    read=_Httping.read,
    traps=(
        "A time is that of a connection and an HTTP exchange: it includes the server's own time.",
        "With -S the parts precede their sum, which is the time.",
        "A connection that failed is a lost probe, without a time.",
    ),
    tools={
        "httping": Counted(probes=HTTP_REQUESTS),
    },
)
