"""Counters of protocols: netstat -s and -i, nstat, and the files of /proc/net."""

from __future__ import annotations

import re

from netcalc.errors import ReaderError
from netcalc.readers.counters.counts import Counts, check_widths, lines_of, number_of, table_of
from netcalc.readers.document import member
from netcalc.readers.format import Format, Input
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
    counts = Counts()
    lines = lines_of(file, counts)
    if file.seen(_INTERFACES):
        _interfaces(lines, counts)
        return table_of(file, counts, tool="netstat -i")
    if file.seen(_BSD_INTERFACES):
        _bsd_interfaces(lines, counts)
        return table_of(file, counts, tool="netstat -i (BSD)")
    group = part = ""
    opened: tuple[int, int] | None = None
    for number, line in lines:
        indent = len(line) - len(line.lstrip())
        if opened and line.strip() and indent <= opened[1]:
            counts.unread.append(opened[0])  # a name without its number
        opened = None if line.strip() else opened
        title, named = _GROUP.fullmatch(line), _NAMED.fullmatch(line)
        counted = _COUNTED.fullmatch(line)
        if title:
            group, part = title["name"], ""
        elif named:
            value = number_of(named["value"])
            name = (
                f"{part}: {named['name']}" if part and line.startswith(" " * 8) else named["name"]
            )
            if value is not None:
                counts.add(group, name, value)
        elif counted:
            _count(counts, group, counted)
        elif line.rstrip().endswith(":"):
            part = line.strip().rstrip(":")
            opened = (number, indent)
        elif line.strip():
            counts.unread.append(number)
    return table_of(file, counts, tool="netstat -s")


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


def _interfaces(lines: list[tuple[int, str]], counts: Counts) -> None:
    names: list[str] = []
    for number, line in lines:
        cells = line.split()
        if cells[:2] == ["Iface", "MTU"]:
            names = cells
        elif names and len(cells) == len(names):
            for name, cell in zip(names[1:], cells[1:], strict=True):
                value = number_of(cell)
                if value is not None:
                    counts.add(cells[0], name, value)
                elif cell[:1].isdigit():
                    counts.unread.append(number)
        elif line.strip() and not line.startswith("Kernel Interface"):
            counts.unread.append(number)


def _bsd_interfaces(lines: list[tuple[int, str]], counts: Counts) -> None:
    """Add the counters of the interfaces, and those of each of their addresses.

    The cell of the address may be empty, so the counters are counted from the end of the line.
    """
    names: list[str] = []
    for number, line in lines:
        cells = line.split()
        if cells[:4] == ["Name", "Mtu", "Network", "Address"]:
            names = cells[4:]
        elif names and 3 <= len(cells) - len(names) <= 4:
            name, mtu, network, *address = cells[: -len(names)]
            name = name.rstrip("*")  # of an interface that is down
            group = name if network.startswith("<Link") else f"{name} {(address or [network])[0]}"
            values = zip(["Mtu", *names], [mtu, *cells[-len(names) :]], strict=True)
            for counter, cell in values:
                value = number_of(cell)
                if value is not None:
                    counts.add(group, counter, value)
                elif cell[:1].isdigit():
                    counts.unread.append(number)
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
    counts = Counts()
    group = ""
    heads: tuple[str, str] | None = None
    for number, line in lines_of(file, counts):
        if not line.strip():
            continue
        if not line[0].isspace():
            title = _TITLE.fullmatch(line)
            group, heads = (title["name"] if title else ""), None
            if title is None:
                counts.unread.append(number)
        elif found := _VALUE.fullmatch(line):
            counts.add(group, found["name"], int(found["value"]))
        elif heads and (found := _BOTH.fullmatch(line)):
            for head, side in zip(heads, ("one", "other"), strict=True):
                counts.add(group, f"{found['name']} ({head})", int(found[side]))
        elif found := _HEADS.fullmatch(line):
            heads = (found["one"], found["other"])
        else:
            counts.unread.append(number)
    return table_of(file, counts, tool="netstat -s (Windows)")


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
        return bool(kernel) and all(isinstance(one, int | float) for one in kernel.values())
    return file.seen(r"^#(?:kernel|\d+\.\d+)(?:\s|$)") and file.seen(
        r"^[A-Z]\w+[ \t]+-?\d+[ \t]+-?\d+\.\d[ \t]*$"
    )


def _read_nstat(file: Input) -> Table:
    counts = Counts()
    if file.is_json:
        found = file.json
        counts.warnings += found.warnings
        counts.partial = found.fault is not None
        for document in found.documents:
            for name, value in member(document, "kernel").items():
                if type(value) in (int, float):
                    counts.add("", name, value)
        if found.fault is not None and not counts.rows:
            raise found.fault
        return table_of(file, counts, tool="nstat")
    for number, line in lines_of(file, counts):
        row = _LINE.fullmatch(line)
        value = number_of(row["value"]) if row else None
        if row and value is not None:
            counts.add("", row["name"], value)
        elif line.strip() and not _HEAD.fullmatch(line):
            counts.unread.append(number)
    return table_of(file, counts, tool="nstat")


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
    counts = Counts()
    names: tuple[int, str, list[str]] | None = None
    columns: list[str] = []
    lines = lines_of(file, counts)
    for number, line in lines:
        pair, single, head = _PAIR.match(line), _SINGLE.fullmatch(line), _NAMES.fullmatch(line)
        device = _DEVICE.fullmatch(line) if columns else None
        if head:
            columns = [f"rx_{one}" for one in head["rx"].split()]
            columns += [f"tx_{one}" for one in head["tx"].split()]
        elif device:
            _add(file, number, counts, device["group"], columns, device["rest"].split())
        elif pair and names is None:
            names = (number, pair["group"], pair["rest"].split())
        elif pair and names is not None:
            if pair["group"] != names[1]:
                raise ReaderError(
                    "counter-pair", file=file.name, line=number, field=names[1],
                    value=shorten(line),
                )  # fmt: skip
            _add(file, number, counts, names[1], names[2], pair["rest"].split())
            names = None
        elif single:
            counts.add("", single["name"], int(single["value"]))
        elif line.strip() and not line.startswith("Inter-|"):
            counts.unread.append(number)
    counts.partial = counts.partial or names is not None
    return table_of(file, counts, tool="/proc/net")


def _add(
    file: Input, number: int, counts: Counts, group: str, names: list[str], cells: list[str]
) -> None:
    """Add a line of values, each below its name; another count of them is no such line."""
    check_widths(file, number, group, names, cells)
    for name, cell in zip(names, cells, strict=True):
        value = number_of(cell)
        if value is None:
            raise ReaderError(
                "not-a-number", file=file.name, line=number, field=name, value=shorten(cell)
            )
        counts.add(group, name, value)


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
)
