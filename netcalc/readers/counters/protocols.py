"""Counters of protocols: netstat -s and -i, nstat, and the files of /proc/net."""

from __future__ import annotations

import re

from netcalc.errors import ReaderError
from netcalc.rate_layers import FRAME_WITHOUT_FCS
from netcalc.readers.counters.counts import Counts, number_of
from netcalc.readers.document import member
from netcalc.readers.format import Format, Input, of_kernel
from netcalc.readers.source import shorten
from netcalc.samples import Table

_GROUP = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9-]*):\s*")
_NAMED = re.compile(r"\s+(?P<name>[A-Za-z][\w ,/().-]*?):\s+(?P<value>-?\d+)\s*")
_COUNTED = re.compile(
    r"\s+(?P<before>[A-Za-z][^\d]*? )?(?P<value>\d+) (?P<after>[A-Za-z](?:.*\S)?)\s*"
)
_BYTES = re.compile(r" \((?:for )?(\d{1,30}) bytes?\)")
_INTERFACES = r"^Iface\s+MTU\s+(?:Met\s+)?RX-OK\s+RX-ERR"
_BSD_INTERFACES = r"^Name[ \t]+Mtu[ \t]+Network[ \t]+Address[ \t]+\S"


def _recognize_netstat(file: Input) -> bool:
    return (
        file.seen(_INTERFACES)
        or file.seen(_BSD_INTERFACES)
        or file.seen(r"^(?:Ip|Icmp|Tcp|Udp|TcpExt|ip|icmp|tcp|udp|tcp6|udp6|ip6):[ \t]*\n\s+\S.*\d")
    )


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
    for number, line in counts.lines():
        indent = len(line) - len(line.lstrip())
        if opened and line.strip() and indent <= opened[1]:
            counts.unread.append(opened[0])  # a name without its number
        opened = None if line.strip() else opened
        if title := _GROUP.fullmatch(line):
            group, part = title["name"], ""
        elif named := _NAMED.fullmatch(line):
            value = number_of(named["value"])
            before = f"{part}: " if part and line.startswith(" " * 8) else ""
            if value is not None:
                counts.add(group, before + named["name"], value)
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
    value = number_of(counted["value"])
    if value is not None:
        counts.add(group, (counted["before"] or "") + after, value)


def _interfaces(counts: Counts) -> None:
    names: list[str] = []
    for number, line in counts.lines():
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
        value = number_of(cell)
        if value is not None:
            counts.add(group, name, value)
        elif cell[:1].isdigit():
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
    recognize=_recognize_netstat,
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
)


_TITLE = re.compile(r"(?P<name>\S(?:[^=]*[^=\s])?)\s*")
_VALUE = re.compile(r"\s+(?P<name>\S[^=]*?)(?<=\S) += (?P<value>\d{1,18})\s*")
_HEADS = re.compile(r"\s{10,}(?P<one>\S+(?: \S+)*)\s{2,}(?P<other>\S+(?: \S+)*)\s*")
_BOTH = re.compile(r"\s+(?P<name>\S.*?)(?<=\S)\s{2,}(?P<one>\d{1,18})\s+(?P<other>\d{1,18})\s*")


def _recognize_netstat_windows(file: Input) -> bool:
    return file.seen(
        r"^\S[^=\n]*\b(?:IP|ICMP|TCP|UDP)(?:v[46])?\b[^=\n]*\n\s*\n {2,}\S[^=\n]*? += \d+ *$"
    )


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
    recognize=_recognize_netstat_windows,
    read=_read_netstat_windows,
    traps=(
        "A counter has the name that the system's language gives it.",
        "ICMP has two columns, received and sent: each is a counter of its own.",
        "Counters run from the start of the system; only differences are a run's.",
    ),
)


_HEAD = re.compile(r"#(?P<source>\S+)(?:\s.*)?")
_LINE = re.compile(r"(?P<name>[A-Za-z]\w+)\s+(?P<value>-?\d+)\s+(?P<rate>-?\d+\.\d)\s*")


def _recognize_nstat(file: Input) -> bool:
    if file.is_json:
        kernel = member(file.json.documents[0] if file.json.documents else None, "kernel")
        return bool(kernel) and all(isinstance(value, int | float) for value in kernel.values())
    return file.seen(r"^#(?:kernel|\d+\.\d+)(?:\s|$)") and file.seen(
        r"^[A-Z]\w+[ \t]+-?\d+[ \t]+-?\d+\.\d[ \t]*$"
    )


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
    for number, line in counts.lines():
        row = _LINE.fullmatch(line)
        value = number_of(row["value"]) if row else None
        if row and value is not None:
            counts.add("", row["name"], value)
        elif line.strip() and not _HEAD.fullmatch(line):
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
_DEVICES = r"^Inter-\|\s+Receive\s+\|\s+Transmit"
_NAMES = re.compile(r"\s*face\s*\|(?P<rx>[\w\s]+)\|(?P<tx>[\w\s]+)")
_DEVICE = re.compile(r"\s*(?P<group>[^\s:][^\s]*?):\s*(?P<rest>\d[\d\s]*)")


def _recognize_proc_net(file: Input) -> bool:
    return file.seen(rf"^{_PROTOCOLS}: [A-Za-z]\w+(?: \w+)*\s*$|{_DEVICES}") or file.seen(
        r"^(?:Ip6|Icmp6|Udp6)(?:In|Out)\w+\s+\d+\s*$"
    )


def _read_proc_net(file: Input) -> Table:
    counts = Counts(file)
    names: tuple[str, list[str]] | None = None
    columns: list[str] = []
    for number, line in counts.lines():
        if head := _NAMES.fullmatch(line):
            columns = [f"rx_{name}" for name in head["rx"].split()]
            columns += [f"tx_{name}" for name in head["tx"].split()]
        elif columns and (device := _DEVICE.fullmatch(line)):
            counts.add_cells(number, device["group"], columns, device["rest"].split())
        elif pair := _PAIR.match(line):
            cells = pair["rest"].split()
            if names is None:
                names = (pair["group"], cells)
                continue
            if pair["group"] != names[0]:
                raise ReaderError(
                    "counter-pair", file=file.name, line=number, field=names[0],
                    value=shorten(line),
                )  # fmt: skip
            counts.add_cells(number, *names, cells)
            names = None
        elif single := _SINGLE.fullmatch(line):
            counts.add("", single["name"], int(single["value"]))
        elif line.strip() and not line.startswith("Inter-|"):
            counts.unread.append(number)
    counts.partial = counts.partial or names is not None
    return counts.table(tool="/proc/net")


PROC_NET = Format(
    name="/proc/net counters",
    description="counters of /proc/net (netstat, snmp, snmp6, dev)",
    recognize=_recognize_proc_net,
    read=_read_proc_net,
    traps=(
        "A line of names comes before its line of values; another number of values is refused.",
        "A name such as InErrors is in several protocols: the protocol is the group.",
        "Counters run from the start of the system (or namespace); only differences are a run's.",
        "Some are not counters: RtoMin and RtoMax are in ms, a MaxConn of -1 means no limit.",
        "In dev, rx_ and tx_ are put before the names that both halves of the header share.",
    ),
    tools={
        "/proc/net": of_kernel("counters of the kernel", FRAME_WITHOUT_FCS),
    },
)
