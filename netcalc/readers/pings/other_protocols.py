"""Probes of other protocols than ICMP: arping, hping, nping, tcping, PsPing and httping."""

from __future__ import annotations

import re
from math import nan

from netcalc.messages import Notice
from netcalc.readers.format import Input
from netcalc.readers.lines import NUMBER, LineTable, ToolLine
from netcalc.readers.pings.runs import Probe, ProbeReader
from netcalc.readers.places import (
    HTTP_REQUESTS,
    ICMP_PROBES,
    PROBES,
    ROUND_TRIP,
    SENDER,
    MeasuringPoint,
)
from netcalc.readers.source import note


class _Arping(ProbeReader):
    tool = "arping"
    protocol = "arp"
    counts_lost = True
    marks = (
        r"^ARPING \S+|^(?:Unicast|Broadcast) reply from \S+ \[[^\]]*\](?: for \S+ \[[^\]]*\])?"
        r"\s+[0-9.]+ms|^--- \S+ statistics ---|"
        r"^\d+ bytes from (?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2} \(\S+\): (?:icmp_seq|index)=\d|"
        r"% unanswered \(\d+ extra\)"
    )
    table = LineTable(
        about=r"ARPING {target}",
        reply=(
            r"[0-9]+ bytes from (?P<host>\S+ \([^()]+\)): (?:icmp_seq|index)=[0-9]+"
            r"(?: time={rtt_unit} (?P<unit>usec|msec|sec)|(?! time))",
            r"(?:Unicast|Broadcast) reply from (?P<host>\S+ \[[^\]]*\])(?: for \S+ \[[^\]]*\])?"
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

    def reply(self, line: ToolLine) -> None:
        """Add a reply, and keep who sent it: two may answer, and lines have no request."""
        super().reply(line)
        self.run.answered_by.append((self.run.probes[-1], line["host"]))
        self.run.hosts.add(line["host"])

    def totals(self, line: ToolLine) -> None:
        """Keep the totals; those with a loss count duplicates only where there are some."""
        super().totals(line)
        if "loss_ratio" in line:
            self.run.duplicates = line.get("duplicates", 0)

    def finish(self) -> None:
        """Add the probes without a line."""
        sent, received = self.run.sent, self.run.received
        self.run.printed = {} if sent is None else {"sent": sent, "received": received}
        super().finish()


ARPING = _Arping.format(
    "arping",
    probes=MeasuringPoint("arp", "ARP packets", SENDER, ROUND_TRIP),
    traps=(
        "The unit of a time differs from line to line: usec, msec and sec.",
        "The arping of iputils prints no line for a lost probe; the summary counts it.",
        "It measures the next node at layer 2 only.",
    ),
    parts=(r"^Timeout\s*$",),
    needs="its first line (ARPING ...), or a reply",
)


_PROTOCOL_OF_MODE = {"icmp": "icmp", "udp": "udp", "raw": ""}
"""First word of hping's mode -> protocol; the others are flags of TCP."""


class _Hping(ProbeReader):
    tool = "hping3"
    marks = (
        r"^HPING \S+ \(.*\): .+?, [0-9]{1,18} headers \+ [0-9]{1,18} data|"
        r"^(?:DUP! )?len=[0-9]{1,18} ip=\S+ ttl=|^--- \S+ hping statistic ---"
    )
    repeats = True
    table = LineTable(
        about=r"HPING {target} \(.*\): (?P<mode>.+?), [0-9]+ headers \+ {payload_bytes} data",
        reply=r"(?P<duplicate>DUP! )?len=[0-9]+ ip=\S+ (?:ttl={ttl} |(?!ttl=))"
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

    def about(self, line: ToolLine) -> None:
        """Take the protocol from the mode."""
        super().about(line)
        self.run.protocol = _PROTOCOL_OF_MODE.get(line["mode"].split()[0].lower(), "tcp")

    def spread(self, line: ToolLine) -> None:
        """Keep the times of the summary, which are 0 where nothing was received."""
        if self.run.received:
            self.totals(line)

    def error(self, line: ToolLine) -> None:
        """Count an error, which has no number."""
        self.errors.append(line.number)

    def finish(self) -> None:
        """Add the probes without a line."""
        self.run.fill(0, errors=len(self.errors))
        note(self.warnings, "errors-not-replies", numbers=self.errors)


HPING = _Hping.format(
    "hping",
    probes=PROBES,
    traps=(
        "A probe without an answer has no line: it is a gap in the numbers, or after the last one.",
        "Numbers count from 0.",
        "The summary may come before the lines, as they are different streams.",
        "Without an answer the summary says 0.0 ms, which is not a time.",
        "An ICMP error is counted as received by the tool, and is not a reply here.",
    ),
)


_PROTOCOL_SENT = re.compile(
    r"(?P<named>ICMPv6|ICMP|TCP|UDP|ARP)\b|Starting (?P<whole>TCP) Handshake|(?P<data>UDP) packet"
)
_TARGET = re.compile(r"> (?P<host>[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:]+)")


class _Nping(ProbeReader):
    tool = "nping"
    marks = (
        r"^Starting Nping |^(?:SENT|RCVD) \([0-9.]+s\) |^Raw packets sent: \d|"
        r"^TCP connection attempts: \d|^Max rtt: [0-9.]+ms \| Min rtt: "
    )
    unprinted = ("rtt_min_s", "rtt_max_s")
    table = LineTable(
        packet_sent=r"SENT \({}s\) (?P<packet>.*)$",
        packet_error=r"RCVD \({}s\) (?i:.*(?:unreachable|TTL=0|ttl-zero|time exceeded|prohibited"
        r"|fragmentation (?:required|needed)))",
        packet_received=r"RCVD \({}s\) ",
        totals=(
            r"Max rtt: {rtt_max_ms}ms \| Min rtt: {rtt_min_ms}ms \| Avg rtt: ",
            r"(?:Raw packets|UDP packets) sent: {sent} .*?\| Rcvd: {received} .*?"
            rf"\((?P<loss_percent>-?{NUMBER})%\)",
            r"TCP connection attempts: {sent} \| Successful connections: {received}"
            r" \| Failed: [0-9]+ \({loss_percent}%\)",
        ),
        other=r"(?!Max rtt: .*[0-9])",
        multiplies=True,
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.sent = self.received = self.errors = 0
        self.targets: set[str] = set()
        self.protocols: set[str] = set()

    def packet_sent(self, line: ToolLine) -> None:
        """Count a probe, and keep what it is and where it goes."""
        self.sent += 1
        if protocol := _PROTOCOL_SENT.match(line["packet"]):
            name = protocol[protocol.lastgroup or 0]
            self.protocols.add(name.lower().removesuffix("v6"))
        if target := _TARGET.search(line["packet"].replace(" Echo", "]")):
            self.targets.add(target["host"])

    def packet_error(self, line: ToolLine) -> None:
        """Count an error, which is received but is no reply."""
        self.errors += 1

    def packet_received(self, line: ToolLine) -> None:
        """Count a reply to a probe that has a line."""
        self.received += self.received < self.sent

    def finish(self) -> None:
        """Take the totals, less the errors; without totals the lines."""
        run = self.run
        if len(self.targets) == 1:
            run.target = self.targets.pop()
        if len(self.protocols) == 1:
            run.protocol = self.protocols.pop()
        if run.ended:
            run.received = (run.received or 0) - self.errors
        elif self.sent:
            run.sent, run.received = self.sent, self.received
        if self.errors:
            run.rtt_min_s = run.rtt_max_s = nan  # those of errors are among them
            self.warnings.append(Notice("errors-among-received", {"count": self.errors}))


NPING = _Nping.format(
    "nping",
    probes=PROBES,
    traps=(
        "The stamps of the lines are too coarse for a round trip; times are those of the summary.",
        "The numbers of the probes in the lines are not reliable and are not used.",
        "An ICMP error is received, but is not a reply.",
        "N/A means no time; it is not 0.",
    ),
)


_REFUSED = re.compile(r"closed|refused")
_CONNECTED = ("", "port is open", "reply", "connected", "open")


class _Tcping(ProbeReader):
    tool = "tcping"
    protocol = "tcp"
    counts_lost = True
    of_times = "connection-times"
    marks = (
        r"^PsPing v|^Probing \S+:\d+/tcp|^TCP connect to |^Connecting to \S+:\d+: from |"
        r"^(?:Reply|No reply) from \S+(?: \(\S+\))? on port \d+|"
        r"^Ping tcp://\S+ .*- time=|^Connected to \S+\[:\d+\]: seq=\d+ |"
        r"^seq \d+: (?:tcp response from \S+|no response \(timeout\))|"
        r"^Ping statistics (?:for \d+(?:\.\d+){3}|tcp://\S+):\d+\s*$|"
        r"^TCP connect statistics for \S+:\s*$|TCPing statistics ---$|\] tcping statistics ---$|"
        r"^\d+ (?:probes|packets) transmitted on port \d+|^\d+ connections, \d+ succe\w+, |"
        r"^\s*\d+ probes sent\.\s*$"
    )
    table = LineTable(
        about=r"TCP connect (?:statistics for|to) (?P<target>\S+?):\s*$",
        spread=r"\s*Minimum = {rtt_min_ms} ?ms, Maximum = {rtt_max_ms} ?ms",
        reply=(
            r"Probing {target}/tcp - (?P<answer>.+?) - time={rtt_ms} ?ms\s*$",
            r"(?P<answer>Reply|No reply) from {target}(?: \(\S+\))? on port \d{1,5}:?"
            r"(?: using \S+:)?(?: [Tt][Cc][Pp]_conn=\d{1,9})?(?: time={rtt_ms} ?ms)?\s*$",
            r"Connecting to (?P<target>\S+?):?(?P<warm> \(warmup\):)? from \S+:(?:\s+|$)"
            r"(?:{rtt_ms} ?ms|(?P<answer>\S.*)?)\s*$",
            r"Connecting to (?P<target>\S+?):?(?P<warm> \(warmup\):)? (?P<answer>[A-Z].*)$",
            r"Ping tcp://(?P<target>[^\s(]+)(?:\(\S+\))? (?:- )?(?P<answer>\w.*?) - "
            r"time={rtt_unit}(?P<unit>[nuµμ]?s|ms)(?: dns=\S+)?\s*$",
            r"Connected to (?P<target>\S+)\[:\d+\]: seq={sequence} "
            r"(?:time={rtt_ms} ms|(?P<answer>\S.*))\s*$",
            r"seq {sequence}: (?:tcp response from (?P<target>\S+)(?: \(\S+\))?"
            r"(?: \[(?P<answer>\w+)\])?\s+{rtt_ms} ms|(?P<gone>no response))",
        ),
        totals=(
            r"\s*Sent = {sent}, Received = {received}, Lost = ",
            r"{sent} (?:probes|packets) transmitted(?: on port \d+ \||,) {received} received, ",
            r"Sent= ?{sent}, Success= ?{received}, Failed=",
            r"{sent} connections, {received} succe\w+, \d+ failed",
            r"\s*{sent} probes sent\.\s*$",
            r"\s*{received} successful, \d{1,15} failed\.",
        ),
        other=r"\s*(?i:PsPing|Copyright|Sysinternals|TCPinging|TCP connect|PING|Ping statistics|"
        r"Approximate|rtt |\d+ iterations|Host is:|--- |successful probes|unsuccessful probes|"
        r"last |total |longest |TCPing started|TCPing ended|duration|This operation returned|"
        r"Port: |min(?:imum)? ?=|Infinite iter|probing|\*\* Pinging)",
    )

    def reply(self, line: ToolLine) -> None:
        """Add a probe by what came: the time of one without an answer is the time-out."""
        if self.run.ended:
            self.begin()
        self.run.target = self.run.target or line.get("target", "")
        answer = line.get("answer", "")
        if "warm" in line:
            return
        if "rtt_s" in line and answer.lower() in _CONNECTED:
            super().reply(line)
        else:
            refused = _REFUSED.search(answer) is not None
            sequence = float(line.get("sequence", nan))
            self.run.probes.append(Probe(sequence=sequence, lost=True, error_reply=refused))

    def accepts(self, line: ToolLine) -> bool:
        """Whether totals come behind a probe, or say how many were sent."""
        return line.kind in ("reply", "about") or "sent" in line or self.current is not None

    def spread(self, line: ToolLine) -> None:
        """Keep the times of the summary."""
        self.run.printed |= line.fields
        self.run.rtt_min_s = line.get("rtt_min_s", nan)
        self.run.rtt_max_s = line.get("rtt_max_s", nan)

    def totals(self, line: ToolLine) -> None:
        """Keep the totals; a run is whole with both counts."""
        super().totals(line)
        self.run.ended = self.run.sent is not None and self.run.received is not None


TCPING = _Tcping.format(
    "tcping",
    "the output of tcping or psping",
    probes=MeasuringPoint("tcp", "TCP handshakes", SENDER, ROUND_TRIP),
    traps=(
        "A time is that of a TCP handshake: SYN, SYN-ACK, and what the two systems took.",
        "The time of a probe without an answer is the time-out, and no round trip.",
        "A port that is closed answers with a reset: an error, which is no reply.",
        "TCP_conn counts the connections that were made: it is no number of a probe.",
        "The probes that PsPing sends to warm up are left out, as in its own summary.",
    ),
    parts=(
        r"^(?:un)?successful probes: |^(?:last (?:un)?successful probe|total (?:up|down)time): |"
        r"^\s*\d+ successful, \d+ failed\.|^TCPinging |^\d+ iterations \(warmup|"
        r"^rtt min/avg/max: |^Approximate trip times",
    ),
    needs="the lines of its probes, or the count of probes sent",
)


class _Paping(_Tcping):
    """Lines of connections, and of failures without a target."""

    tool = "paping"
    marks = (
        r"^paping v\d|^Connecting to \S+ (?:\[\S+\] )?on TCP \d+:|"
        r"^Connected to \S+: time=[\d.]+ms protocol=TCP port=\d+|"
        r"^\s*Attempted = \d+, Connected = \d+, Failed = "
    )
    table = LineTable(
        about=r"Connecting to {target} (?:\[\S+\] )?on TCP \d+:",
        reply=(
            r"Connected to {target}: time={rtt_ms}ms protocol=TCP port=\d+\s*$",
            r"(?P<answer>Connection timed out|Connection refused|Failed to connect|"
            r"Cannot resolve .*|General failure)\s*$",
        ),
        totals=r"\s*Attempted = {sent}, Connected = {received}, Failed = ",
        spread=r"\s*Minimum = {rtt_min_ms}ms, Maximum = {rtt_max_ms}ms",
        other=r"paping |Connection statistics|Approximate connection times",
    )


PAPING = _Paping.format(
    "paping",
    probes=MeasuringPoint("tcp", "TCP handshakes", SENDER, ROUND_TRIP),
    traps=(
        "A time is that of a TCP handshake; port= is a port, and there is no size.",
        "A failure has a line without a time: a lost probe, or a reset.",
    ),
    parts=(r"^Connection statistics:\s*$",),
    needs="the lines of its probes, or its counts",
)


class _PspingIcmp(ProbeReader):
    """PsPing without a port, which pings by ICMP; its first probes are to warm up."""

    tool = "PsPing"
    protocol = "icmp"
    counts_lost = True
    marks = (
        r"^Pinging \S+ with \d+ bytes of data:\s*\n\w+ iterations \(warmup|"
        r"^Reply from \S+: [\d.]+ms\s*$|^Ping statistics for \S+:\s*\n +Sent = \d+, "
    )
    table = LineTable(
        about=r"Pinging {target} with {payload_bytes} bytes of data:",
        warm_up=r"\w+ iterations \(warmup {warm_count}\) ping test:",
        reply=r"Reply from \S+: {rtt_ms} ?ms\s*$",
        lost=r"(?:Request timed out|.*(?P<error_reply>unreachable|expired)|Error)",
        totals=r"\s*Sent = {sent}, Received = {received}, Lost = ",
        spread=r"\s*Minimum = {rtt_min_ms} ?ms, Maximum = {rtt_max_ms} ?ms",
        other=r"PsPing|Copyright|Sysinternals|Ping statistics",
    )

    def warm_up(self, line: ToolLine) -> None:
        """Keep how many of the first probes are to warm up."""
        self.warm_count = int(line["warm_count"])

    warm_count = 0

    def finish(self) -> None:
        """Leave out the probes to warm up, and add those without a line."""
        del self.run.probes[: self.warm_count]
        super().finish()


PSPING_ICMP = _PspingIcmp.format(
    "PsPing",
    "the output of PsPing over ICMP",
    probes=ICMP_PROBES,
    traps=(
        "The probes that PsPing sends to warm up are left out, as in its own summary.",
        "Without a port PsPing sends ICMP echoes, and the size is that of the user data.",
    ),
    parts=(r"^Sysinternals - www\.sysinternals|^Copyright \(C\) .* Mark Russinovich",),
    needs="the lines of its probes, or its counts",
)


class _Dnsping(ProbeReader):
    """The dnsping of dnsdiag: the bytes of a line are those of the answer."""

    tool = "dnsping"
    counts_lost = True
    marks = (
        r"^\S*dnsping\S* DNS: |^--- \S+ dnsping statistics ---|"
        r"^\d+ +bytes from \S+: seq=\d+ {2,}time=[\d.]+ +ms|"
        r"^\d+ requests transmitted, \d+ responses received, "
    )
    table = LineTable(
        head=r"\S*dnsping\S* DNS: (?P<target>\S+?):\d+,(?:.*\bproto: (?P<protocol>UDP|TCP)\b)?",
        reply=r"\d+ +bytes from {target}: seq={sequence} +time={rtt_ms} +ms",
        lost=r"(?i:Request time|No response|No answer)",
        totals=r"{sent} requests transmitted, {received} responses received, +{loss_percent}% lost",
        spread=r"min={rtt_min_ms} ms, avg={} ms, max={rtt_max_ms} ms",
        other=r"--- ",
    )

    def reply(self, line: ToolLine) -> None:
        """Add a query that was answered."""
        self.run.target = self.run.target or line["target"]
        super().reply(line)


DNSPING = _Dnsping.format(
    "dnsping",
    probes=MeasuringPoint("", "DNS queries", SENDER, ROUND_TRIP),
    traps=(
        "A time is that of a DNS query and its answer: it includes the server's own time.",
        "The bytes of a line are those of the answer: the size of the query is unknown.",
    ),
)


class _L2ping(ProbeReader):
    tool = "l2ping"
    marks = (
        r"^Ping: (?:[0-9A-F]{2}:){5}[0-9A-F]{2} from |^\d+ bytes from (?:[0-9A-F]{2}:){5}\S+ id \d"
    )
    table = LineTable(
        about=r"Ping: {target} from \S+ \(data size {payload_bytes}\)",
        reply=r"{payload_bytes} bytes from {target} id {sequence} time {rtt_ms}ms",
        lost=r"no response from {target}: id {sequence}",
        totals=r"{sent} sent, {received} received, {loss_percent}% loss",
    )

    def finish(self) -> None:
        """Add the probes without a line."""
        self.run.fill(0, whole=bool(self.run.target))


L2PING = _L2ping.format(
    "l2ping",
    probes=MeasuringPoint("", "Bluetooth L2CAP echoes", SENDER, ROUND_TRIP),
    traps=("An echo of Bluetooth's L2CAP, not of ICMP; the size is that of its data.",),
)


class _Ibping(ProbeReader):
    tool = "ibping"
    counts_lost = True
    marks = r"^Pong from \S+.* \(Lid \d+\): time |^--- .* \(Lid \d+\) ibping statistics ---"
    table = LineTable(
        reply=r"Pong from (?P<host>\S+).* \(Lid \d+\): time {rtt_ms} ms",
        totals=r"{sent} packets transmitted, {received} received, {loss_percent}% packet loss",
        spread=r"rtt min/avg/max = {rtt_min_ms}/{}/{rtt_max_ms} ms",
        other=r"--- ",
    )

    def reply(self, line: ToolLine) -> None:
        """Add an answer."""
        self.run.target = line["host"]
        super().reply(line)


IBPING = _Ibping.format(
    "ibping",
    probes=MeasuringPoint("", "InfiniBand MADs", SENDER, ROUND_TRIP),
    traps=("A message of InfiniBand's management, not of ICMP; it has no number and no size.",),
)


class _TailscalePing(ProbeReader):
    tool = "tailscale ping"
    marks = r"^pong from \S+ \(\S+\) via \S+ in [\d.]+m?s\s*$"
    table = LineTable(
        reply=r"pong from {target} \(\S+\) via \S+(?: \S+)? in {rtt_unit}(?P<unit>m?s)\s*$",
        lost=r"(?:ping .* )?timed? ?out\b",
        other=r"direct connection not established|no reply",
    )


TAILSCALE_PING = _TailscalePing.format(
    "tailscale ping",
    probes=MeasuringPoint("udp", "Tailscale disco messages", SENDER, ROUND_TRIP),
    traps=(
        "A message of Tailscale itself, or of its relay (DERP), not of ICMP; without a size.",
        "The path may change from line to line: from the relay to a direct one.",
        "There is no summary: a run counts as partial.",
    ),
)


class _Httping(ProbeReader):
    tool = "httping"
    protocol = "tcp"
    counts_lost = True
    of_times = "http-exchanges"
    marks = (
        r"^PING \S+:[0-9]{1,18} \(/|^connected to \S+:[0-9]{1,18} \(|"
        r"^could not connect \(Connection |^\d+ connects, \d+ ok, [0-9.,]+% failed"
    )
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


HTTPING = _Httping.format(
    "httping",
    probes=HTTP_REQUESTS,
    traps=(
        "A time is that of a connection and an HTTP exchange: it includes the server's own time.",
        "With -S the parts precede their sum, which is the time.",
        "A connection that failed is a lost probe, without a time.",
    ),
)
