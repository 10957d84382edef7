"""Counters of the kernel as rows: group, time, name and value; a row of facts for each group.

Of interfaces, queues and network cards: ip -s link, tc -s qdisc, ethtool -S. Of protocols: netstat
-s and -i, nstat, and the files of /proc/net.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

from netcalc.messages import Notice
from netcalc.rate_layers import FRAME_WITHOUT_FCS, UNKNOWN
from netcalc.readers.document import member, words
from netcalc.readers.format import Format, Input, seen
from netcalc.readers.places import of_kernel
from netcalc.readers.source import note, shorten
from netcalc.samples import COUNTER_LIMIT, Fact, Table, fact_row

_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,20})?")

Number = int | float


def number_of(text: str) -> Number | None:
    """Return a number as it is written, a whole one exactly; None if it is not one."""
    if not _NUMBER.fullmatch(text):
        return None
    return float(text) if "." in text else int(text)


@dataclass(slots=True)
class Counts:
    """The counters of a file, and its unread lines."""

    file: Input
    rows: list[tuple[str, float, str, Number]] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)
    partial: bool = False
    summary: dict[tuple[str, str], Number] = field(default_factory=dict)
    """Group and counter -> value for the facts, where it is not that of the last row."""
    cut_line: int = 0
    """Number of a last line of numbers that has no end: its last number may have lost digits."""

    def lines(
        self, closed: re.Pattern[str] | None = None, *, numbers: re.Pattern[str] | None = None
    ) -> list[tuple[int, str]]:
        """Return the numbered lines; the last one only if its end is there.

        A last line without its end is whole if ``closed`` matches it, and has all of its numbers
        but the last if ``numbers`` does.
        """
        text, warnings = self.file.text, list[Notice]()
        lines, cut = text.whole_lines(warnings, closed=closed)
        if cut and numbers is not None and numbers.fullmatch(text.lines[-1]):
            self.cut_line = text.numbers[-1]
            warnings[-1] = Notice("last-number-cut", {"number": self.cut_line})
            lines.append((self.cut_line, text.lines[-1]))
        self.warnings += warnings
        self.partial |= cut
        return lines

    def objects(self) -> Iterator[dict[str, Any]]:
        """Return the objects of a JSON text; a damaged one is refused."""
        if self.file.json.fault is not None:
            raise self.file.json.fault
        self.warnings += self.file.json.warnings
        return self.file.json.objects()

    def add(self, group: str, counter: str, value: Number, time_s: float = nan) -> None:
        """Add the value of one counter; one that no float holds is unknown."""
        if abs(value) > sys.float_info.max:
            value = nan
        self.rows.append((shorten(group, 100), time_s, shorten(counter, 100), value))

    def add_text(self, group: str, counter: str, text: str) -> bool:
        """Add the value of one counter as it is written; False if it is no number."""
        value = number_of(text)
        if value is not None:
            self.add(group, counter, value)
        return value is not None

    def add_numbers(self, group: str, row: Mapping[str, Any], *, before: str = "") -> None:
        """Add the members of an object that are numbers, with a word before their names."""
        for name, value in row.items():
            if type(value) in (int, float):
                self.add(group, before + name, value)

    def add_cells(self, line: int, group: str, names: Sequence[str], cells: Sequence[str]) -> None:
        """Add a line of numbers, each below its name; another line is refused."""
        if line == self.cut_line:  # it may end in any column
            names, cells = names[: len(cells) - 1], cells[:-1]
        self.check_widths(line, group, len(cells), len(names))
        for name, cell in zip(names, cells, strict=True):
            self.add(group, name, self.number(line, name, cell))

    def number(self, line: int, name: str, cell: str) -> Number:
        """Return the number in a cell; refuse anything else."""
        value = number_of(cell)
        if value is None:
            raise self.file.refusal("not-a-number", line=line, field=name, value=shorten(cell))
        return value

    def check_widths(self, line: int, group: str, count: int, names: int) -> None:
        """Refuse a line with another number of values than there are names."""
        if count != names:
            raise self.file.refusal(
                "counter-widths", line=line, field=group or None, count=count, names=names
            )

    def facts(self) -> list[dict[str, Fact]]:
        """Return a row of facts for each group: the last value of each counter, or its summary."""
        last: dict[str, dict[str, Number]] = {}
        for group, _, counter, value in self.rows:
            last.setdefault(group, {})[f"counter:{counter}"] = value
        for (group, counter), value in self.summary.items():
            last.setdefault(group, {})[f"counter:{counter}"] = value
        return [
            fact_row(values, group=group, partial=self.partial) for group, values in last.items()
        ]

    def table(
        self, *, tool: str, facts: Sequence[dict[str, Fact]] | None = None, **meta: Any
    ) -> Table:
        """Return the counters as a table; refuse a file without one."""
        if not self.rows:
            raise self.file.refusal("counters-nothing")
        note(self.warnings, "counter-lines-unread", numbers=self.unread)
        odd = dict.fromkeys(name for _, _, name, value in self.rows if value >= COUNTER_LIMIT)
        note(self.warnings, "counters-implausible", names=list(odd))
        self.partial = self.partial or self.file.unpacked.grew
        groups, times, counters, values = zip(*self.rows, strict=True)
        data = {
            "group": list(groups),
            "time_s": [float(time_s) for time_s in times],
            "counter": list(counters),
            "value": [float(value) for value in values],
        }
        facts = self.facts() if facts is None else facts
        meta |= {"facts": facts, "warnings": self.warnings, "partial": self.partial}
        return self.file.table(tool, data, **meta)


_LINK = re.compile(r"\d+: (?P<name>[^\s:@]+)(?:@\S+)?: <[^>]*>.*")
_HEAD = re.compile(r"\s+(?P<way>RX|TX)(?P<errors> errors)?:\s+(?P<names>[a-z].*)")
_ROW = re.compile(r"\s+\d+(?:\s+\d+)+\s*")
_SUFFIX = "kKMGT"


def _recognize_ip_link(file: Input) -> bool:
    if file.is_json:
        return {"ifname", "ifindex"} <= file.keys() and '"stats' in file.head.decode(
            "utf-8", "replace"
        )
    is_listed = file.seen(r"^\d+: \S+: <[A-Z,_0-9-]*>")
    errors = "" if is_listed else r"\s+errors\s"
    return file.seen(rf"^\s+[RT]X:\s+bytes\s+packets{errors}")


def _read_ip_link(file: Input) -> Table:
    counts = Counts(file)
    if file.is_json:
        for link in counts.objects():
            name = words(link, "ifname")
            stats = member(link, "stats64") or member(link, "stats")
            if not stats:
                counts.warnings.append(Notice("link-without-counters", {"names": [shorten(name)]}))
            for way in ("rx", "tx"):
                counts.add_numbers(name, member(stats, way), before=f"{way}_")
    else:
        _read_links(counts)
    return counts.table(tool="ip -s link")


def _read_links(counts: Counts) -> None:
    group = ""
    names: list[str] = []
    before = counts.file.text.lines[-2:][0].rpartition(":")[2].split()
    whole = re.compile(rf"\s+(?:\d+\s+){{{len(before)}}}")
    for number, line in counts.lines(whole, numbers=_ROW):
        if link := _LINK.fullmatch(line):
            group, names = link["name"], []
        elif head := _HEAD.fullmatch(line):
            errors = "errors_" if head["errors"] else ""
            names = [f"{head['way'].lower()}_{errors}{name}" for name in head["names"].split()]
        elif names:
            cells = line.split()
            if number == counts.cut_line:
                names, cells = names[: len(cells) - 1], cells[:-1]
            counts.check_widths(number, group, len(cells), len(names))
            for name, cell in zip(names, cells, strict=True):
                if number_of(cell) is None and cell[-1:] in _SUFFIX:
                    raise counts.file.refusal(
                        "counter-rounded", line=number, field=f"{group} {name}", value=shorten(cell)
                    )
                counts.add(group, name, counts.number(number, f"{group} {name}", cell))
            counts.partial |= not group  # the line with its name is not there
            names = []
        elif not re.match(r"\s+(?:link/|inet|valid_lft|altname|vf )", line) and line.strip():
            counts.unread.append(number)


IP_LINK = Format(
    name="ip -s link",
    description="the counters of ip -s link",
    recognize=_recognize_ip_link,
    read=_read_ip_link,
    traps=(
        "RX and TX have the same names: rx_ and tx_ are put before them.",
        "Text and JSON name some counters differently (mcast and multicast); both stay as printed.",
        "Numbers rounded by -h (1.5M) are refused: the counts are not in the file.",
        "dropped of RX is before the protocols: it includes those for no protocol in use.",
    ),
    tools={
        # struct rtnl_link_stats64 of Linux, rx_bytes: the length of frames, without the FCS
        "ip -s link": of_kernel("frames at the interface", FRAME_WITHOUT_FCS),
    },
    parts=(r"^\s+[RT]X errors:\s+[a-z]", r"^ {4}link/(?:ether|loopback) \S+ brd \S+"),
    needs="a line of names with its line of numbers",
)


_INTERFACE = re.compile(r"(?P<name>[^\s:]+)(?:: flags=\d+<.*| +Link encap:.*)")
_WORD_AND_COUNT = r"[a-z]+[: ]\d{1,20}(?![\w.])"
_COUNTS = re.compile(
    rf"(?P<way>[RT]X) (?P<pairs>{_WORD_AND_COUNT}(?: +{_WORD_AND_COUNT})*)(?: \([^()]*\))?"
)
_COLLISIONS = re.compile(r"\s+collisions:(\S*)(?: .*)?")


def _read_ifconfig(file: Input) -> Table:
    counts = Counts(file)
    group = ""
    for number, line in counts.lines(re.compile(r".*\(.*\)\s*|.*<.*>.*")):
        if device := _INTERFACE.fullmatch(line):
            group = device["name"]
        elif collisions := _COLLISIONS.fullmatch(line):
            if not counts.add_text(group, "tx_collisions", collisions[1]):
                counts.unread.append(number)
        elif re.match(r"\s+[RT]X\b", line):
            counts.partial |= not group  # the line with its name is not there
            for row in _COUNTS.finditer(line):
                for name, value in re.findall(r"([a-z]+)[: ](\d+)", row["pairs"]):
                    counts.add_text(group, f"{row['way'].lower()}_{name}", value)
            if _COUNTS.sub("", line).strip():
                counts.unread.append(number)
    return counts.table(tool="ifconfig")


IFCONFIG = Format(
    name="ifconfig counters",
    description="the counters of ifconfig of Linux",
    recognize=seen(r"^\s+[RT]X packets[: ]\d+ "),
    read=_read_ifconfig,
    traps=(
        "The bytes are exact; those in brackets are rounded, and not read.",
        "ifconfig of macOS and of BSD has no counters: netstat -ib has them.",
    ),
    tools={"ifconfig": of_kernel("frames at the interface", FRAME_WITHOUT_FCS)},
    parts=(
        r"^\s+[RT]X (?:errors \d|bytes:\d)",
        r"^\s+collisions:\d+ txqueuelen:\d",
        r"^\s+(?:inet6? \S+  (?:netmask|prefixlen)|ether \S+  txqueuelen) ",
    ),
    needs="the lines of RX packets and TX packets",
)


_QUEUE = re.compile(
    r"(?P<what>qdisc|class) (?P<kind>\S+) (?P<handle>\S+)"
    r"(?: dev (?P<device>\S+))?(?P<rest>(?: .*)?)"
)
_SENT = re.compile(
    r" Sent (?P<bytes>\d{1,30}) bytes (?P<pkt>\d{1,30}) pkts? "
    r"\(dropped (?P<dropped>\d{1,30}), overlimits (?P<overlimits>\d{1,30}) "
    r"requeues (?P<requeues>\d{1,30})\)\s*"
)
_BACKLOG = re.compile(r" backlog (?P<bytes>\d+(?:\.\d+)?[KMG]?)b (?P<packets>\d{1,30})p(?: .*)?")
_WHOLE_BACKLOG = re.compile(rf"{_BACKLOG.pattern.removesuffix('(?: .*)?')} requeues \d+")
_RATE = re.compile(r" rate \S+ \d+pps backlog .*")
_UNREAD = re.compile(
    r" \d+ [a-z_]+\s*$| [a-z_]+ {2,}[a-z_]+ \d|"
    r" (?!\d+(?:\.\d+)?[A-Za-z/]*[,)]?(?:\s|$))\d\S*"
)
"""A name without a number, or what begins as a number and is none, with or without a unit."""
_PAIRS = re.compile(r"([a-z][a-z_]*) (\d+)(?![\w.])")
_JSON = ("kind", "handle", "parent", "dev", "root", "refcnt", "options")


def _recognize_qdisc(file: Input) -> bool:
    if file.is_json:
        return {"kind", "handle", "overlimits"} <= file.keys()
    return file.seen(r"^ Sent \d+ bytes \d+ pkts? \(dropped \d")


def _read_qdisc(file: Input) -> Table:
    counts = Counts(file)
    if file.is_json:
        for row in counts.objects():
            group = _group(words(row, "dev"), words(row, "kind"), words(row, "handle"))
            counts.add_numbers(group, {k: value for k, value in row.items() if k not in _JSON})
    else:
        _read_queues(counts)
    return counts.table(tool="tc -s qdisc")


def _read_queues(counts: Counts) -> None:
    group = ""
    for number, line in counts.lines(_WHOLE_BACKLOG):
        if head := _QUEUE.fullmatch(line):
            group = _group(head["device"] or "", head["kind"], head["handle"])
        elif sent := _SENT.fullmatch(line):
            for name, value in sent.groupdict().items():
                counts.add(group, name, int(value))
            counts.partial |= not group
        elif backlog := _BACKLOG.fullmatch(line):
            counts.add_text(group, "backlog_bytes", backlog["bytes"])  # but one rounded: 12Kb
            counts.add(group, "backlog_packets", int(backlog["packets"]))
        elif line.startswith("  ") and group:
            for name, text in _PAIRS.findall(line):
                counts.add_text(group, name, text)
            if _UNREAD.search(line):
                counts.unread.append(number)
        elif line.strip() and not _RATE.fullmatch(line):
            counts.unread.append(number)


def _group(device: str, kind: str, handle: str) -> str:
    return " ".join(part for part in (device, kind, handle) if part)


QDISC = Format(
    name="tc -s qdisc",
    description="the counters of tc -s qdisc",
    recognize=_recognize_qdisc,
    read=_read_qdisc,
    traps=(
        "A queue inside another counts the same packets again: do not add them.",
        "dropped counts what the queue refused; a queue such as fq_codel also drops packets "
        "that it had taken, which are in the same number.",
        "Text and JSON name some counters differently (pkt and packets, dropped and drops); both "
        "stay as printed.",
        "A backlog rounded to K or M is left out; it is what waits now, no counter.",
    ),
    tools={
        # the packets of an interface, while they are in its queue
        "tc -s qdisc": of_kernel("packets at the queue", FRAME_WITHOUT_FCS),
    },
    parts=(
        r"^ backlog \w+b \d+p requeues \d+",
        r"^ {2}(?:maxpacket|new_flows_len|flows|ecn_mark|marked) \d+ ",
    ),
    needs="the line of the queue (qdisc ...), and what it sent",
)


_COUNT = re.compile(r"\s*-?\d+\s*")
_ETHTOOL_HEAD = r"^(?:NIC|PHY) statistics:\s*$"


def _recognize_ethtool(file: Input) -> bool:
    if file.is_json:
        keys = file.keys()
        first = file.json.documents[0] if file.json.documents else None
        row = first[0] if isinstance(first, list) and first else None
        return (
            isinstance(row, dict)
            and "ifname" in keys
            and "ifindex" not in keys
            and sum(type(value) is int for value in row.values()) >= len(row) - 1 > 0
        )
    return file.seen(rf"{_ETHTOOL_HEAD}|^ {{5}}[rt]x_\w+: \d+\s*$")


def _read_ethtool(file: Input) -> Table:
    counts = Counts(file)
    if file.is_json:
        for row in counts.objects():
            counts.add_numbers(words(row, "ifname"), row)
        return counts.table(tool="ethtool -S")
    counts.partial = not file.seen(_ETHTOOL_HEAD)
    for number, line in counts.lines():
        name, _, count = line.rpartition(":")
        is_counter = name[:1].isspace() and name.strip() and _COUNT.fullmatch(count)
        if is_counter and counts.add_text("", name.strip(), count.strip()):
            continue
        if line.strip() and not re.fullmatch(r"(?:NIC|PHY) statistics:\s*", line):
            counts.unread.append(number)
    return counts.table(tool="ethtool -S")


ETHTOOL = Format(
    name="ethtool -S",
    description="the counters of ethtool -S",
    recognize=_recognize_ethtool,
    read=_read_ethtool,
    traps=(
        "Each driver has names of its own: rx_missed_errors of one is rx_no_buffer of another.",
        "The text does not name the interface.",
        "Counters of queues are part of those of the card: do not add them.",
    ),
    tools={
        # what it counts is up to the driver
        "ethtool -S": of_kernel("packets at the network card", UNKNOWN),
    },
)


_GROUP = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9-]*):\s*")
_NAMED = re.compile(r"\s+(?P<name>[A-Za-z][\w ,/().-]*?):\s+(?P<value>-?\d+)\s*")
_COUNTED = re.compile(
    r"\s+(?P<before>[A-Za-z][^\d]*? )?(?P<value>\d+) (?P<after>[A-Za-z](?:.*\S)?)\s*"
)
_BYTES = re.compile(r" \((?:for )?(\d{1,30}) bytes?\)")
_INTERFACES = r"^Iface\s+MTU\s+(?:Met\s+)?RX-OK\s+RX-ERR"
_WITH_FLAGS = re.compile(r"\S+(?:\s+\d+){9,10}\s+[A-Z]+")
_BSD_INTERFACES = r"^Name[ \t]+Mtu[ \t]+Network[ \t]+Address[ \t]+\S"


def _read_netstat(file: Input) -> Table:
    counts = Counts(file)
    if file.seen(_INTERFACES):
        _interfaces(counts)
        return counts.table(tool="netstat -i")
    if file.seen(_BSD_INTERFACES):
        _bsd_interfaces(counts)
        return counts.table(tool="netstat -i (BSD)")
    group = part = ""
    opened: tuple[int, int] | None = None
    for number, line in counts.lines(_GROUP):
        indent = len(line) - len(line.lstrip())
        if opened and line.strip() and indent <= opened[1]:
            counts.unread.append(opened[0])  # a name without its number
        opened = None if line.strip() else opened
        if title := _GROUP.fullmatch(line):
            group, part = title["name"], ""
        elif named := _NAMED.fullmatch(line):
            before = f"{part}: " if part and line.startswith(" " * 8) else ""
            counts.add_text(group, before + named["name"], named["value"])
        elif counted := _COUNTED.fullmatch(line):
            _count(counts, group, counted)
        elif line.rstrip().endswith(":"):
            part = line.strip().rstrip(":")
            opened = (number, indent)
        elif line.strip():
            counts.unread.append(number)
    return counts.table(tool="netstat -s")


def _count(counts: Counts, group: str, counted: re.Match[str]) -> None:
    """Add a counter that is a sentence: its name is the sentence without the number."""
    after = counted["after"]
    size = _BYTES.search(after)
    if size:
        after = _BYTES.sub("", after)
        counts.add(group, f"{after} (bytes)", int(size[1]))
    counts.add_text(group, (counted["before"] or "") + after, counted["value"])


def _interfaces(counts: Counts) -> None:
    names: list[str] = []
    for number, line in counts.lines(_WITH_FLAGS):
        cells = line.split()
        if cells[:2] == ["Iface", "MTU"]:
            names = cells
        elif names and len(cells) == len(names):
            _add_readable(counts, number, cells[0], names[1:], cells[1:])
        elif line.strip() and not line.startswith("Kernel Interface"):
            counts.unread.append(number)


def _add_readable(
    counts: Counts, line: int, group: str, names: list[str], cells: list[str]
) -> None:
    """Add the cells that are numbers; one that begins as a number and is none is named."""
    for name, cell in zip(names, cells, strict=True):
        is_count = name.startswith(("RX-", "TX-")) and cell != "-"
        if not counts.add_text(group, name, cell) and (is_count or cell[:1].isdigit()):
            counts.unread.append(line)


def _bsd_interfaces(counts: Counts) -> None:
    """Add the counters of the interfaces, and those of each of their addresses.

    The cell of the address may be empty, so the counters are counted from the end of the line.
    """
    names: list[str] = []
    for number, line in counts.lines():
        cells = line.split()
        if cells[:4] == ["Name", "Mtu", "Network", "Address"]:
            names = cells[4:]
        elif names and 3 <= len(cells) - len(names) <= 4:
            name, mtu, network, *address = cells[: -len(names)]
            name = name.rstrip("*")  # of an interface that is down
            group = name if network.startswith("<Link") else f"{name} {(address or [network])[0]}"
            values = [mtu, *cells[-len(names) :]]
            _add_readable(counts, number, group, ["Mtu", *names], values)
        elif line.strip():
            counts.unread.append(number)


NETSTAT = Format(
    name="netstat counters",
    description="the counters of netstat -s or netstat -i",
    recognize=seen(
        _INTERFACES,
        _BSD_INTERFACES,
        r"^(?:Ip|Icmp|Tcp|Udp|TcpExt|ip|icmp|tcp|udp|tcp6|udp6|ip6):[ \t]*\n\s+\S.*\d",
    ),
    read=_read_netstat,
    traps=(
        "A counter of netstat -s is a sentence; its name is the sentence without its number, and "
        "it differs between systems and languages.",
        "A number of bytes in brackets is a counter of its own.",
        "BSD and macOS count each address of an interface in a line of its own, within the line of "
        "the interface (<Link#1>); a dash there is no counter.",
        "Counters run from the start of the system; only differences are a run's.",
        "Lists of sockets (netstat -an) are not counters and are not read.",
    ),
    tools={
        "netstat -i": of_kernel("frames at the interface"),
        "netstat -s": of_kernel("counters of the kernel's protocols"),
    },
    parts=(
        r"^(?:Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|TcpExt|IpExt|MPTcpExt):\s*$",
        r"^ {4}(?: {4})?\d+ [a-z]+ [a-z]+[\w ,()'-]*$",
        r"^ {4}(?: {4})?(?:[A-Z]\w+|[a-z ]+|Quick ack mode was activated): ?\d+(?: times)?\s*$",
        r"^ {4}Quick ack mode was activated \d+ times",
        r"^\s+ICMP (?:input|output) histogram:\s*$",
        r"^(?: {4,8}|\t+)\d+ (?:\w+ )?(?:segments?|packets?|connections?|resets?|retransmit\w*"
        r"|acks?|datagrams?|timeouts?|messages?|delayed acks|fast retransmits)\b(?!.*[,;])",
        r"^ {4}TCP[A-Z]\w+: \d+\s*$",
        r"^ {4}(?:In|Out)(?:\w*Octets|\w*Pkts): \d+\s*$",
    ),
    needs="the line that names the protocol (Tcp:)",
)


_TITLE = re.compile(r"(?P<name>\S(?:[^=]*[^=\s])?)\s*")
_VALUE = re.compile(r"\s+(?P<name>\S[^=]*?)(?<=\S) += (?P<value>\d{1,18})\s*")
_HEADS = re.compile(r"\s{10,}(?P<one>\S+(?: \S+)*)\s{2,}(?P<other>\S+(?: \S+)*)\s*")
_BOTH = re.compile(r"\s+(?P<name>\S.*?)(?<=\S)\s{2,}(?P<one>\d{1,18})\s+(?P<other>\d{1,18})\s*")


def _read_netstat_windows(file: Input) -> Table:
    counts = Counts(file)
    group = ""
    heads: tuple[str, str] | None = None
    for number, line in counts.lines():
        if not line.strip():
            continue
        if not line[0].isspace():
            title = _TITLE.fullmatch(line)
            group, heads = (title["name"] if title else ""), None
            if title is None:
                counts.unread.append(number)
        elif single := _VALUE.fullmatch(line):
            counts.add(group, single["name"], int(single["value"]))
        elif heads and (pair := _BOTH.fullmatch(line)):
            for head, side in zip(heads, ("one", "other"), strict=True):
                counts.add(group, f"{pair['name']} ({head})", int(pair[side]))
        elif both := _HEADS.fullmatch(line):
            heads = (both["one"], both["other"])
        else:
            counts.unread.append(number)
    return counts.table(tool="netstat -s (Windows)")


NETSTAT_WINDOWS = Format(
    name="netstat counters (Windows)",
    description="the counters of netstat -s on Windows",
    recognize=seen(
        r"^\S[^=\n]*\b(?:IP|ICMP|TCP|UDP)(?:v[46])?\b[^=\n]*\n\s*\n {2,}\S[^=\n]*? += \d+ *$"
    ),
    read=_read_netstat_windows,
    traps=(
        "A counter has the name that the system's language gives it.",
        "ICMP has two columns, received and sent: each is a counter of its own.",
        "Counters run from the start of the system; only differences are a run's.",
    ),
    parts=(
        r"^ {10,}(?:Received|Empfangen) +(?:Sent|Gesendet)\s*$",
        r"^ {2}(?:Messages|Errors|Meldungen|Fehler|Echo\w*(?: \w+)?|Destination Unreachable"
        r"|Time Exceeded) +\d+ +\d+\s*$",
        r"^ {2}[A-Z][A-Za-z ()-]*? += \d+\s*$",
        r"^(?:IP|ICMP|TCP|UDP)(?:v[46])? Statistics",
    ),
    needs="the line that names the protocol, with its counters",
)


_NSTAT_HEAD = r"^#(?:kernel|\d+\.\d+)(?:\s|$)"
_SOURCE = re.compile(r"#(?P<source>\S+)(?:\s.*)?")
_LINE = re.compile(r"(?P<name>[A-Za-z]\w+)\s+(?P<value>-?\d+)\s+(?P<rate>-?\d+\.\d)\s*")


def _recognize_nstat(file: Input) -> bool:
    if file.is_json:
        kernel = member(file.json.documents[0] if file.json.documents else None, "kernel")
        return bool(kernel) and all(isinstance(value, int | float) for value in kernel.values())
    protocols = r"(?:Ip|Icmp|Tcp|Udp|MPTcp)\w*" if not file.seen(_NSTAT_HEAD) else r"[A-Z]\w+"
    return file.seen(rf"^{protocols}[ \t]+-?\d+[ \t]+-?\d+\.\d[ \t]*$")


def _read_nstat(file: Input) -> Table:
    counts = Counts(file)
    if file.is_json:
        counts.warnings += file.json.warnings
        counts.partial = file.json.fault is not None
        for document in file.json.documents:
            counts.add_numbers("", member(document, "kernel"))
        if file.json.fault is not None and not counts.rows:
            raise file.json.fault
        return counts.table(tool="nstat")
    counts.partial = not file.seen(_NSTAT_HEAD)
    for number, line in counts.lines(_LINE):
        row = _LINE.fullmatch(line)
        if row and counts.add_text("", row["name"], row["value"]):
            continue
        if line.strip() and not _SOURCE.fullmatch(line):
            counts.unread.append(number)
    return counts.table(tool="nstat")


NSTAT = Format(
    name="nstat",
    description="the output of nstat",
    recognize=_recognize_nstat,
    read=_read_nstat,
    traps=(
        "Without -a the values are differences since the last call of nstat, and a counter that "
        "did not change is not listed; the file does not say which it is.",
        "The last column is a rate per second of the nstat daemon, 0.0 without one: not read.",
        "Names join protocol and counter: TcpExtDelayedACKs is DelayedACKs of TcpExt.",
    ),
    tools={
        "nstat": of_kernel("counters of the kernel's protocols"),
    },
)


_PROTOCOLS = r"(?:TcpExt|IpExt|MPTcpExt|Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite)"
_PAIR = re.compile(rf"(?P<group>{_PROTOCOLS}):\s+(?P<rest>\S.*)")
_SINGLE = re.compile(r"(?P<name>(?:Ip6|Icmp6|Udp6|UdpLite6)\w+)\s+(?P<value>\d{1,30})\s*")
_NUMBERS = re.compile(r"\s*[^\s:]+:(?:\s*-?\d+)(?:\s+-?\d+)+\s*|[A-Z6]+:(?: [a-z]+ -?\d+)+")
_SOCKSTAT = re.compile(
    r"(?P<group>sockets|TCP6?|UDP6?|UDPLITE6?|RAW6?|FRAG6?):(?P<rest>(?: [a-z]+ -?\d+)+)\s*"
)
_OF_PROCESSOR = ("softnet_processed", "softnet_dropped", "softnet_time_squeeze")
_SOFTNET = re.compile(r"[0-9a-f]{8}(?: [0-9a-f]{8}){8,14} ?")
_DEVICES = r"^Inter-\|\s+Receive\s+\|\s+Transmit"
_NAMES = re.compile(r"\s*face\s*\|(?P<rx>[\w\s]+)\|(?P<tx>[\w\s]+)")
_DEVICE = re.compile(r"\s*(?P<group>[^\s:][^\s]*?):\s*(?P<rest>\d[\d\s]*)")


def _read_proc_net(file: Input) -> Table:
    counts = Counts(file)
    names: tuple[str, list[str]] | None = None
    columns: list[str] = []
    for number, line in counts.lines(_SOFTNET, numbers=_NUMBERS):
        if head := _NAMES.fullmatch(line):
            columns = [f"rx_{name}" for name in head["rx"].split()]
            columns += [f"tx_{name}" for name in head["tx"].split()]
        elif columns and (device := _DEVICE.fullmatch(line)):
            counts.add_cells(number, device["group"], columns, device["rest"].split())
        elif pair := _PAIR.match(line):
            cells = pair["rest"].split()
            if names is None and number_of(cells[0]) is not None:  # its names are not there
                counts.unread.append(number)
                counts.partial = True
                continue
            if names is None:
                names = (pair["group"], cells)
                continue
            if pair["group"] != names[0]:
                raise file.refusal("counter-pair", line=number, field=names[0], value=shorten(line))
            counts.add_cells(number, *names, cells)
            names = None
        elif single := _SINGLE.fullmatch(line):
            counts.add("", single["name"], int(single["value"]))
        elif sockets := _SOCKSTAT.fullmatch(line):
            words = sockets["rest"].split()
            counts.add_cells(number, sockets["group"], words[::2], words[1::2])
        elif _SOFTNET.fullmatch(line):
            values = [int(cell, 16) for cell in line.split()]
            # The number of the processor is in its row since Linux 5.10: those offline have none.
            group = f"CPU {values[12]}" if len(values) > 12 else f"row {len(counts.rows) // 3}"
            for name, count in zip(_OF_PROCESSOR, values, strict=False):
                counts.add(group, name, count)
        elif line.strip() and not line.startswith("Inter-|"):
            counts.unread.append(number)
    counts.partial = counts.partial or names is not None
    return counts.table(tool="/proc/net")


PROC_NET = Format(
    name="/proc/net counters",
    description="counters of /proc/net (netstat, snmp, snmp6, dev, sockstat, softnet_stat)",
    recognize=seen(
        rf"^{_PROTOCOLS}: [A-Za-z]\w+(?: \w+)*\s*$|{_DEVICES}",
        r"^(?:Ip6|Icmp6|Udp6)(?:In|Out)\w+\s+\d+\s*$",
        r"^(?:sockets: used|(?:TCP|UDP|UDPLITE|RAW|FRAG)6?: inuse) \d+",
        rf"^{_SOFTNET.pattern}$",
    ),
    read=_read_proc_net,
    traps=(
        "A line of names comes before its line of values; another number of values is refused.",
        "A name such as InErrors is in several protocols: the protocol is the group.",
        "Counters run from the start of the system (or namespace); only differences are a run's.",
        "Some are not counters: RtoMin and RtoMax are in ms, a MaxConn of -1 means no limit.",
        "In dev, rx_ and tx_ are put before the names that both halves of the header share.",
        "sockstat counts the sockets of now; mem is in pages of memory, not in bytes.",
        "softnet_stat is hexadecimal, without names: packets processed, those dropped at a full "
        "backlog, and how often a run used up its budget; the other columns are left out.",
    ),
    tools={
        "/proc/net": of_kernel("counters of the kernel", FRAME_WITHOUT_FCS),
    },
    parts=(
        r"^(?:Ip6|Icmp6|Udp6|UdpLite6)\w+ *\t\d+\s*$",
        rf"^{_PROTOCOLS}: -?\d+(?: -?\d+)*\s*$",
        r"^\s*[\w@.-]+:\s*\d+(?:\s+\d+){15}\s*$",
    ),
    needs="the line of names above the numbers",
)
