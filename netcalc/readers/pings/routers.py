"""The pings of routers: Cisco, Huawei, MikroTik and Nokia, and the rapid ping of Juniper."""

from __future__ import annotations

import re
from itertools import count
from math import isnan, nan

from netcalc.readers.format import Input
from netcalc.readers.lines import LineTable, ToolLine, time_of_parts
from netcalc.readers.pings.runs import Probe, ProbeReader, payload_of
from netcalc.readers.places import ICMP_PROBES, ROUND_TRIP, SENDER, MeasuringPoint
from netcalc.readers.source import note


class _Cisco(ProbeReader):
    """A mark for each probe, and a summary; of a broadcast or multicast a line for each answer."""

    tool = "ping (Cisco)"
    repeats = True
    marks = (
        r"^Sending [0-9]{1,18}, [0-9]{1,18}-byte (?:ICMP|UDP|\S+) Echos? to [^\s,]+"
        r"|^Success rate is [0-9]{1,18} percent \([0-9]{1,18}/[0-9]{1,18}\)"
        r"|^\.*Reply to request [0-9]{1,9} (?:from \S+, [0-9]{1,9}|\([0-9]{1,9}) ms"
    )
    table = LineTable(
        reads_cut=True,
        multiplies=True,
        head=r"Sending \d+, {packet_bytes}-byte (?P<protocol>\S+) Echos? to "
        r"(?P<target>[^\s,]+)",
        marked=r"(?P<marks>[!.UQMNIP?&R]+)\s*$",
        reply=r"(?P<marks>\.*)Reply to request {sequence} (?:from (?P<host>\S+), {rtt_ms} ms"
        r"|\((?P<time_ms>[0-9]{1,9}) ms\))(?P<more>\.*)",
        lost=r"Request {sequence} timed out",
        totals=r"Success rate is \d+ percent \({received}/{sent}\)"
        r"(?:(?!, round-trip)"
        r"|, round-trip min/avg/max = (?P<rtt_min_ms>\d+)/\d+/(?P<rtt_max_ms>\d+) ms)",
        unread=r"Success rate is |Sending .{0,100} Echos? to ",
        other=r"",
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.times_alone: list[int] = []

    def head(self, line: ToolLine) -> None:
        """Begin a run; the size is that of its IP packets."""
        super().head(line)
        self.run.payload_bytes = payload_of(line["packet_bytes"], self.run.target)

    def accepts(self, line: ToolLine) -> bool:
        """Whether marks are those of a run that has begun; a head that is none is not read."""
        if line.kind == "marked":
            return self.current is not None and not self.run.ended
        return line.kind != "unread"

    def marked(self, line: ToolLine) -> None:
        """Add a probe for each mark."""
        self.add_marks(line["marks"])

    def add_marks(self, marks: str) -> None:
        """Add a probe for each mark."""
        for mark in marks:
            probe = Probe(payload_bytes=self.run.payload_bytes, lost=mark != "!")
            probe.error_reply = mark not in "!."
            self.run.probes.append(probe)

    def reply(self, line: ToolLine) -> None:
        """Add an answer, of which a request to many hosts has several; dots are lost requests."""
        self.add_marks(line["marks"])
        probe = self.probe(line)
        if "time_s" in line:
            probe.rtt_s, probe.resolution_s = line["time_s"], 1e-3
        self.run.probes.append(probe)
        self.run.hosts.add(line.get("host", ""))
        self.add_marks(line["more"])

    def totals(self, line: ToolLine) -> None:
        """Keep a summary; times without a reply are nonsense."""
        if self.run.ended:
            self.begin()
        super().totals(line)
        if "rtt_min_s" in line and not self.run.received:
            self.times_alone.append(line.number)
            self.run.rtt_min_s = self.run.rtt_max_s = nan
            del self.run.printed["rtt_min_s"], self.run.printed["rtt_max_s"]

    def finish(self) -> None:
        """Take a run whose marks are missing for a part, and number the lost requests."""
        for run in self.runs:
            run.ended &= not (run.target and run.counted_only)
            numbers = {probe.sequence for probe in run.probes if not isnan(probe.sequence)}
            if not numbers:
                continue
            free = (float(number) for number in count() if number not in numbers)
            for probe in run.probes:
                if isnan(probe.sequence):
                    probe.sequence = next(free)
            run.fill(0, whole=bool(run.target))
        note(self.warnings, "times-without-reply", numbers=self.times_alone)


CISCO = _Cisco.format(
    "Cisco ping",
    "the output of ping on a Cisco router",
    traps=(
        "A mark has no time: only the least and the largest of the summary are known.",
        "The size is that of the IP packet: user data is 28 bytes less, 48 with IPv6.",
        "U, Q, M and ? are errors or congestion, no replies.",
        "The summary says the share that succeeded, not the loss.",
        "Times without a reply are nonsense and are not used.",
        "Of a broadcast or multicast each answer has a line; those beyond the first to a request "
        "are duplicates, and there is no summary.",
    ),
)


class _Huawei(ProbeReader):
    """The ping of VRP, and of the PCs of Huawei's simulator."""

    tool = "ping (Huawei)"
    protocol = "icmp"
    marks = r"^\s*P(?:ING|ing) \S+: \d{1,5}\s+data bytes, [Pp]ress \w+|bytes=\d+ "
    marks += r"(?:Sequence|seq)=\d+ ttl=|^\s*\d+ packet\(s\) (?:transmitted|received)\s*$"
    repeats = True
    last_total = "loss_ratio"
    table = LineTable(
        head=r"\s*P(?:ING|ing) {target}: {payload_bytes}\s+data bytes, [Pp]ress \w+",
        reply=r"\s*(?:Reply f|F)rom \S+: bytes={payload_bytes} (?:Sequence|seq)={sequence} "
        r"(?:ttl|hop limit)={ttl}\s+time ?(?:=|(?P<below><)) ?(?P<rtt_ms>\d{1,9}) ms\s*$",
        lost=r"\s*(?i:Request time ?out)!?\s*$",
        totals=(
            r"\s*{sent} packet\(s\) transmitted\s*$",
            r"\s*{received} packet\(s\) received\s*$",
            r"\s*{loss_percent}% packet loss\s*$",
        ),
        spread=r"\s*round-trip min/avg/max = {rtt_min_ms}/{}/{rtt_max_ms} ms\s*$",
        other=r"\s*--- \S+ ping statistics ---\s*$",
        error=r"(?:\s{0,9}Error|.*[Uu]nreachable|.*[Tt]tl exceeded|.*TTL expired)",
    )

    def accepts(self, line: ToolLine) -> bool:
        """Whether a run has begun; an error comes before its totals."""
        if self.current is None:
            return line.kind in ("head", "reply", "totals")
        return line.kind != "error" or self.run.sent is None

    def lost(self, line: ToolLine) -> None:
        """Add a lost probe; the line has no number, so it is the one behind the last."""
        super().lost(line)
        probe = self.run.probes.pop()
        probe.sequence = 1 + max((each.sequence for each in self.run.probes), default=0.0)
        self.run.probes.append(probe)

    def error(self, line: ToolLine) -> None:
        """Take an error for a lost probe."""
        self.lost(line)
        self.run.probes[-1].error_reply = True

    def finish(self) -> None:
        """Add the probes without a line."""
        for run in self.runs:
            run.fill(1, whole=bool(run.target))


HUAWEI = _Huawei.format(
    "Huawei ping",
    "the output of ping on a Huawei router",
    traps=(
        "Times are whole milliseconds.",
        "A time-out has a line without a number: it is that of the probe behind the last one.",
        "The size is that of the user data.",
        "An error message is no reply.",
    ),
    parts=(r"^\s+\d+\.\d\d% packet loss\s*$",),
    needs="the lines of the packets transmitted and received",
)


_PARTS = r"(?:\d{1,6}s)?(?:\d{1,6}ms)?(?:\d{1,6}us)?"


def _seconds(text: str) -> tuple[float, float]:
    """Return a time in parts, and the width of its last part; ``0ms`` is below it.

    >>> _seconds("10ms663us"), _seconds("0ms")
    ((0.010663, 1e-06), (0.0005, 0.001))
    """
    time_s, step_s = time_of_parts(text)
    return time_s or step_s / 2, step_s


_ADDRESS = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]+)"
_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}")
_MAC_PING = "mac"


class _MikroTik(ProbeReader):
    """The table of RouterOS, and its totals."""

    tool = "ping (MikroTik)"
    protocol = "icmp"
    marks = (
        r"^\s*(?:SEQ )?HOST\s+SIZE\s+TTL\s+TIME\b|"
        r"^\s*(?:sent=\d+ received=\d+ packet-loss=-?\d+%|"
        rf"\d{{1,9}} {_ADDRESS}\s+(?:\d{{1,5}} +(?:\d{{1,3}} +)?(?=\d){_PARTS}"
        r"(?: +[a-z][a-z ]*)?|timeout) *$)|"
        rf"^\s*(?:[0-9A-Fa-f]{{2}}:){{5}}[0-9A-Fa-f]{{2}} +\d{{1,5}} +(?=\d){_PARTS} *$"
    )
    repeats = True
    table = LineTable(
        convert={
            "rtt": _seconds,
            "printed_rtt_min_s": lambda text: _seconds(text)[0],
            "printed_rtt_max_s": lambda text: _seconds(text)[0],
        },
        other=r"\s*(?:SEQ )?HOST\s+SIZE\s+TTL\s+TIME\b|\s*STATUS\s*$",
        row=(
            rf"\s*{{sequence}}(?: (?P<host>\S+))?"
            rf"(?:\s+{{packet_bytes}}(?:\s+{{ttl}})?\s+(?P<rtt>(?=\d){_PARTS}))?"
            r"(?:\s+(?P<status>[A-Za-z][\w -]*?))?\s*$",
            rf"\s*(?P<host>\S*[.:]\S*)"
            rf"(?:\s+{{packet_bytes}}(?:\s+{{ttl}})?\s+(?P<rtt>(?=\d){_PARTS}))?"
            r"(?:\s+(?P<status>[A-Za-z][\w -]*?))?\s*$",
            r"\s+(?P<status>timeout)\s*$",
        ),
        command=r"\[[^\]]+\] > /?(?:tool )?ping (?:address=)?{target}",
        totals=r"\s*sent={sent} received={received} packet-loss=(?P<loss_percent>-?\d{1,9})%"
        rf"(?: min-rtt=(?P<printed_rtt_min_s>(?=\d){_PARTS})? avg-rtt={_PARTS} "
        rf"max-rtt=(?P<printed_rtt_max_s>(?=\d){_PARTS})?)?\s*$",
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.typed: list[str] = []

    def row(self, line: ToolLine) -> None:
        """Add a probe; of a row with another status, HOST is the node that sent the error."""
        run, highest = self.current, self.highest()
        sequence = float(line.get("sequence", highest + 1.0))
        if run is None or (run.ended and sequence <= highest):
            run = self.begin()
        run.ended = False
        answered = "rtt" in line
        replied = answered and line.get("status", "") in ("", "echo reply")
        host = line.get("host", "")
        if replied or not answered:
            run.target = run.target or host
        if not replied:
            run.probes.append(Probe(sequence=sequence, lost=True, error_reply=answered))
            return
        probe = self.probe(line)
        probe.sequence = sequence
        probe.payload_bytes = payload_of(line["packet_bytes"], host)
        if _MAC.fullmatch(host):
            run.protocol, probe.payload_bytes = _MAC_PING, nan
        probe.rtt_s, probe.resolution_s = line["rtt"]
        run.probes.append(probe)
        run.answered_by.append((probe, host))

    def highest(self) -> float:
        """Return the highest number of the run."""
        return (
            max((p.sequence for p in self.current.probes), default=-1.0) if self.current else -1.0
        )

    def accepts(self, line: ToolLine) -> bool:
        """Whether totals belong to a run that has begun."""
        return self.current is not None or line.kind != "totals"

    def command(self, line: ToolLine) -> None:
        """Begin a run with the target that was typed."""
        self.begin().target = line["target"]
        self.typed.append(line["target"])

    def totals(self, line: ToolLine) -> None:
        """Keep totals, of which a run may have several: the last ones are those of the run."""
        self.run.printed = {}
        super().totals(line)

    def finish(self) -> None:
        """Add the probes without a row; answers of many hosts are numbered, not their requests."""
        for run in self.runs:
            run.hosts = {host for _, host in run.answered_by}
            if len(run.hosts) > 1:
                run.target = run.target if run.target in self.typed else ""
                run.ended &= (run.received or 0) <= len(run.answered_by)
            else:
                run.answered_by = []
                run.fill(0, whole=False)


MIKROTIK = _MikroTik.format(
    "MikroTik ping",
    "the output of ping on a MikroTik router",
    probes=ICMP_PROBES,
    probes_by={_MAC_PING: MeasuringPoint(_MAC_PING, "frames", SENDER, ROUND_TRIP)},
    traps=(
        "The size is that of the IP packet: user data is 28 bytes less, 48 with IPv6.",
        "0ms is a time below 1 ms, not 0.",
        "A time is written in parts: 10ms663us.",
        "A row with a status is no reply; HOST is then the node that sent the error.",
        "Totals in the middle of a run count from its start: the last ones are those of the run.",
        "Numbers begin with 0.",
        "Of a multicast the answers are numbered, not the requests: those of other hosts than the "
        "first are duplicates.",
        "A ping to a MAC address has no TTL, and the user data is unknown.",
    ),
)


class _Nokia(ProbeReader):
    """The ping of SR OS, and the rapid ping of Nokia and Juniper: a mark for each probe."""

    tool = "ping (router)"
    protocol = "icmp"
    marks = (
        r"^---- \S+ PING Statistics ----|"
        r"^PING [^\s(]+ \(\S+\): [0-9]+ data bytes *\n\.*![!.]* *$|"  # dots alone: a flood
        r"^PING [^\s(]+ [0-9]+ data bytes *\n(?:[!.]+ *$|Request timed out\. icmp_seq=|"
        r"[0-9]+ bytes from \S+ icmp_seq=\d+ ttl=\d+ time[=<][0-9.]+ms\.$)"
    )
    table = LineTable(
        head=r"PING (?P<target>[^\s(]+)(?: \(\S+\):)? {payload_bytes} data bytes\s*$",
        reply=r"[0-9]+ bytes from \S+?:? icmp_seq={sequence} (?:ttl|hlim)={ttl} "
        r"time(?:=|(?P<below><)){rtt_ms} ?ms\.?\s*$",
        lost=r"Request timed out\. icmp_seq={sequence}\.?\s*$",
        marked=r"(?P<marks>[!.]+)\s*$",
        totals=r"{sent} packets transmitted,(?: {errors} packets bounced,)? "
        r"{received} packets received(?:, \+?{duplicates} duplicates)?"
        r"(?:, {loss_percent}% packet loss)?\s*$",
        spread=(
            r"round-trip min = {rtt_min_ms}ms, avg = {}ms, max = {rtt_max_ms}ms(?:, .*)?\s*$",
            r"round-trip min/avg/max(?:/stddev)? = {rtt_min_ms}/{}/{rtt_max_ms}(?:/\S+)? ms\s*$",
        ),
        open_ends=r".* packets received",
        other=r"-{3,4} ?\S+ (?:PING Statistics|ping statistics) ?-{3,4}\s*$",
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.marked_runs: dict[int, str] = {}

    def accepts(self, line: ToolLine) -> bool:
        """Whether a run has begun, and not ended but for its times."""
        if line.kind == "head" or (self.current is None and line.kind == "totals"):
            return True
        return self.current is not None and (not self.run.ended or line.kind == "spread")

    def marked(self, line: ToolLine) -> None:
        """Keep the marks of a run until its duplicates are known."""
        index = len(self.runs) - 1
        self.marked_runs[index] = self.marked_runs.get(index, "") + line["marks"]

    def spread(self, line: ToolLine) -> None:
        """Keep the times; with duplicates they include those of duplicates."""
        super().spread(line)
        if self.run.duplicates:
            self.run.rtt_min_s = self.run.rtt_max_s = nan

    def finish(self) -> None:
        """Add a row for each mark; none where it is not certain which replies were duplicates."""
        for index, run in enumerate(self.runs):
            marks, twice = self.marked_runs.get(index, ""), run.duplicates or 0
            if not (twice and run.received):
                probes = [Probe(payload_bytes=run.payload_bytes, lost=m == ".") for m in marks]
                if twice and marks.count("!") == twice:
                    for probe in probes:
                        probe.duplicate = not probe.lost
                run.probes += probes
            bounced = run.printed.get("errors", 0)  # neither marked nor listed
            if run.counted_only and not marks and (run.sent or 0) > bounced:
                run.ended = False


NOKIA = _Nokia.format(
    "router ping",
    "the output of ping on a Nokia router, or of a rapid ping",
    traps=(
        "A mark of a rapid ping has no time: only the least and the largest of the summary are "
        "known.",
        "A duplicate has the mark of a reply: with replies and duplicates it is not certain which "
        "is which, and only the counts of the summary are used.",
        "With duplicates the times of the summary include theirs and are not used.",
        "A bounced packet was answered by an error and is lost.",
        "The size is that of the user data.",
    ),
)


class _Vpp(ProbeReader):
    """The ping of VPP, whose times below 1 ms begin with the point."""

    tool = "ping (VPP)"
    protocol = "icmp"
    marks = (
        r"^\d+ bytes from \S+: icmp_seq=\d+ ttl=\d+ time=\d*\.\d{4} ms\s*$|"
        r"^Statistics: \d+ sent, \d+ received, [\d.]+% packet loss"
    )
    table = LineTable(
        reply=r"\d+ bytes from {target}: icmp_seq={sequence} ttl={ttl} "
        r"time=(?P<rtt_ms>[0-9]{0,9}\.[0-9]{1,9}) ms",
        totals=r"Statistics: {sent} sent, {received} received, {loss_percent}% packet loss",
    )

    def reply(self, line: ToolLine) -> None:
        """Add a reply."""
        self.run.target = self.run.target or line["target"]
        super().reply(line)

    def finish(self) -> None:
        """Add the probes without a line."""
        for run in self.runs:
            run.fill(1, whole=run.sent is not None)


VPP = _Vpp.format(
    "VPP ping",
    "the output of ping in VPP",
    probes=ICMP_PROBES,
    traps=(
        ".2910 ms is 0.2910 ms.",
        "A probe without an answer has no line: it is a gap in the numbers, or after the last one.",
        "What the bytes of a line count is not stated: user data is unknown.",
    ),
)
