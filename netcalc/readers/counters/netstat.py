"""Counters of netstat: ``netstat -s`` (Linux, BSD, macOS) and ``netstat -i`` (the same)."""

from __future__ import annotations

import re

from netcalc.readers.counters._counts import Counts, lines_of, number_of, table_of
from netcalc.readers.format import Format, Input
from netcalc.samples import Table

_GROUP = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9-]*):\s*")
_NAMED = re.compile(r"\s+(?P<name>[A-Za-z][\w ,/().-]*?):\s+(?P<value>-?\d+)\s*")
_COUNTED = re.compile(
    r"\s+(?P<before>[A-Za-z][^\d]*? )?(?P<value>\d+) (?P<after>[A-Za-z](?:.*\S)?)\s*"
)
_BYTES = re.compile(r" \((?:for )?(\d{1,30}) bytes?\)")
_INTERFACES = r"^Iface\s+MTU\s+(?:Met\s+)?RX-OK\s+RX-ERR"
_BSD_INTERFACES = r"^Name[ \t]+Mtu[ \t]+Network[ \t]+Address[ \t]+\S"


def _recognize(given: Input) -> bool:
    return (
        given.seen(_INTERFACES)
        or given.seen(_BSD_INTERFACES)
        or given.seen(
            r"^(?:Ip|Icmp|Tcp|Udp|TcpExt|ip|icmp|tcp|udp|tcp6|udp6|ip6):[ \t]*\n\s+\S.*\d"
        )
    )


def _read(given: Input) -> Table:
    counts = Counts()
    lines = lines_of(given, counts)
    if given.seen(_INTERFACES):
        _interfaces(lines, counts)
        return table_of(given, counts, tool="netstat -i")
    if given.seen(_BSD_INTERFACES):
        _bsd_interfaces(lines, counts)
        return table_of(given, counts, tool="netstat -i (BSD)")
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
    return table_of(given, counts, tool="netstat -s")


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


FORMAT = Format(
    name="netstat counters",
    description="the counters of netstat -s or netstat -i",
    recognize=_recognize,
    read=_read,
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
