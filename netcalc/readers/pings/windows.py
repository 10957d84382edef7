"""Probes of Windows: the output of hrPING, and the tables of Test-Connection (PowerShell)."""

from __future__ import annotations

from netcalc.readers.lines import NUMBER, LineTable, ToolLine
from netcalc.readers.pings.runs import Probe, ProbeReader
from netcalc.readers.places import ICMP_PROBES


class _HrPing(ProbeReader):
    """Versions 2 and 5, which have the TTL at the end and in the middle."""

    tool = "hrPING"
    protocol = "icmp"
    marks = (
        r"^This is hrPING v|^Packets: sent=\d+, rcvd=\d+, error=|"
        r"^(?:Reply f|F)rom \S+: (?:bytes=\d+ )?seq=[0-9a-f]{4} "
    )
    repeats = True
    table = LineTable(
        convert={"sequence": lambda digits: int(digits, 16)},
        about=(
            r"This is hrPING v{version} ",
            r"Pinging \S+ \[{target}\]",
            r"Pinging (?P<target>\S+?):*(?:\s|$)",
            r"with {payload_bytes} bytes data \(\d{1,5} bytes IP\):?\s*$",
        ),
        reply=(
            r"(?:From|Reply from) \S+: (?:bytes={packet_bytes} )?seq=(?P<sequence>[0-9a-f]{4}) "
            r"TTL={ttl} ID=[0-9a-f]{1,4} time={rtt_ms}ms\s*$",
            r"(?:From|Reply from) \S+: (?:bytes={packet_bytes} )?seq=(?P<sequence>[0-9a-f]{4}) "
            r"time={rtt_ms}ms(?: TTL={ttl} ID=[0-9a-f]{1,4})?\s*$",
        ),
        lost=r".*(?:[Tt]imeout|timed out).*seq=(?P<sequence>[0-9a-f]{4})\b",
        totals=(
            r"Packets: sent={sent}, rcvd={received}, error={errors}, lost=-?\d{1,15} "
            rf"\((?P<loss_percent>-?{NUMBER})% loss\)",
            r"RTTs in ms: min/avg/max/dev: {rtt_min_ms} / {} / {rtt_max_ms} / ",
        ),
        other=r"(?:Source address is|Bandwidth in|Correlation:|Statistics for) ",
    )

    def finish(self) -> None:
        """Add the probes without a line."""
        for run in self.runs:
            if run.probes:
                run.fill(1, whole=bool(run.target))


_STATUS = r"(?:Success|TimedOut|TtlExpired|Destination\w+Unreachable)"
_HEAD_7 = r"\s*Ping\s+Source\s+Address\s+(?P<latency>Latency)"
_HEAD_5 = r"\s*Source\s+Destination\s+IPV4Address\s+IPV6Address\s+Bytes\s+Time\(ms\)\s*$"


class _TestConnection(ProbeReader):
    """PowerShell 7, with the status of each probe, and Windows PowerShell 5."""

    tool = "Test-Connection"
    protocol = "icmp"
    marks = rf"^(?:{_HEAD_7}|{_HEAD_5})|^\s*\d+ \S+ +\S+ +(?:\d+|\*) +(?:\d+|\*) {_STATUS}\s*$"
    hosts_take_turns = True
    table = LineTable(
        closed=rf".*\s{_STATUS}\s*",
        about=r"\s*Destination: {target}\s*$",
        head=(_HEAD_7, _HEAD_5),
        row_7=r"\s*{sequence}\s+\S.*?\s+(?P<address>\S+)\s+(?:(?P<rtt_ms>\d{1,9})|\*)"
        r"\s+(?:{payload_bytes}|\*)\s+(?P<status>[A-Z]\w{1,40})\s*$",
        row_5=r"\s*\S+\s+{target}\s+(?:[0-9A-Fa-f.:%]+\s+){0,2}{payload_bytes}\s+(?P<rtt_ms>\d{1,9})\s*$",
        failed=(
            r"(?i:Test-Connection ?: .*'(?P<host>[^']+)' failed: )",
            r"(?i:Test-Connection ?: .*computer (?P<host>\S+) failed: )",
        ),
        other=r"\s*\(ms\)\s+\(B\)\s*$|[-\s]+$",
    )
    columns = 0  # those of PowerShell 7 or 5

    def head(self, line: ToolLine) -> None:
        """Begin a table of one of the versions."""
        self.columns = 7 if "latency" in line else 5

    def accepts(self, line: ToolLine) -> bool:
        """Whether a row is of the table that has begun."""
        if not self.columns and line.kind == "row_7":
            self.columns = 7  # its heading is missing, but the row has a status
        return line.kind not in ("row_7", "row_5") or line.kind == f"row_{self.columns}"

    def row_7(self, line: ToolLine) -> None:
        """Add a probe by its status."""
        if line["status"] == "Success" and "rtt_s" in line:
            self.reply(line)
        else:
            self.lost(line)
            answered = line["status"] not in ("TimedOut", "Unknown") and line["address"] != "*"
            self.run.probes[-1].error_reply = answered

    def row_5(self, line: ToolLine) -> None:
        """Add a reply: there are no rows of others."""
        self.reply(line)

    def reply(self, line: ToolLine) -> None:
        """Add a reply; 0 is a time below 1 ms."""
        super().reply(line)
        probe = self.run.probes[-1]
        probe.rtt_s = probe.rtt_s or probe.resolution_s / 2

    def failed(self, line: ToolLine) -> None:
        """Add a lost probe of a host, whose table the rows that follow need not be."""
        before = self.current
        self.turn_to(line["host"])
        self.run.probes.append(Probe(lost=True))
        self.current = before

    def finish(self) -> None:
        """Take a file that ends with a whole line as complete: there is no summary."""
        for run in self.runs:
            run.ended = self.file.text.ends_complete and bool(run.target)


HRPING = _HrPing.format(
    "hrping",
    "the output of hrPING",
    probes=ICMP_PROBES,
    traps=(
        "seq is hexadecimal.",
        "bytes= is the size of the IP packet: user data is 28 bytes less.",
        "A line that is neither a reply nor a time-out is left out, and said so; its probe counts "
        "as lost.",
    ),
    parts=(
        r"^Source address is \S+; using ICMP|^with \d+ bytes data \(\d+ bytes IP\)|"
        r"^RTTs in ms: min/avg/max/dev: ",
    ),
    needs="the lines of its probes, or of the packets sent",
)

TEST_CONNECTION = _TestConnection.format(
    "Test-Connection",
    "the output of Test-Connection (PowerShell)",
    probes=ICMP_PROBES,
    traps=(
        "Times are whole milliseconds; 0 is a time below 1 ms.",
        "Only Success is a reply: TtlExpired and others have the address of the node that says so.",
        "PowerShell 5 has no row for a lost probe, but an error message, if it was kept.",
        "There is no summary: a file that ends with a whole line counts as complete.",
    ),
    parts=(
        r"^\s*Destination: \S+\s*$|^\s*\(ms\)\s+\(B\)\s*$|"
        r"^\S+\s+\S+\s+\d+\.\d+\.\d+\.\d+ {20,}\d+ {3,}\d+\s*$",
    ),
    needs="the heading of its table",
)
