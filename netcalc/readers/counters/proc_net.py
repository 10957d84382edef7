"""Files of /proc/net: ``netstat``, ``snmp``, ``snmp6``, ``dev``, one or several in a row."""

from __future__ import annotations

import re

from netcalc.errors import ReaderError
from netcalc.readers.counters._counts import Counts, check_widths, lines_of, number_of, table_of
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.samples import Table

_PROTOCOLS = r"(?:TcpExt|IpExt|MPTcpExt|Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite)"
_PAIR = re.compile(rf"(?P<group>{_PROTOCOLS}):\s+(?P<rest>\S.*)")
_SINGLE = re.compile(r"(?P<name>(?:Ip6|Icmp6|Udp6|UdpLite6)\w+)\s+(?P<value>\d{1,30})\s*")
_DEVICES = r"^Inter-\|\s+Receive\s+\|\s+Transmit"
_NAMES = re.compile(r"\s*face\s*\|(?P<rx>[\w\s]+)\|(?P<tx>[\w\s]+)")
_DEVICE = re.compile(r"\s*(?P<group>[^\s:][^\s]*?):\s*(?P<rest>\d[\d\s]*)")


def _recognize(given: Input) -> bool:
    return given.seen(rf"^{_PROTOCOLS}: [A-Za-z]\w+(?: \w+)*\s*$|{_DEVICES}") or given.seen(
        r"^(?:Ip6|Icmp6|Udp6)(?:In|Out)\w+\s+\d+\s*$"
    )


def _read(given: Input) -> Table:
    counts = Counts()
    names: tuple[int, str, list[str]] | None = None
    columns: list[str] = []
    lines = lines_of(given, counts)
    for number, line in lines:
        pair, single, head = _PAIR.match(line), _SINGLE.fullmatch(line), _NAMES.fullmatch(line)
        device = _DEVICE.fullmatch(line) if columns else None
        if head:
            columns = [f"rx_{one}" for one in head["rx"].split()]
            columns += [f"tx_{one}" for one in head["tx"].split()]
        elif device:
            _add(given, number, counts, device["group"], columns, device["rest"].split())
        elif pair and names is None:
            names = (number, pair["group"], pair["rest"].split())
        elif pair and names is not None:
            if pair["group"] != names[1]:
                raise ReaderError(
                    "counter-pair", file=given.name, line=number, field=names[1],
                    value=shorten(line),
                )  # fmt: skip
            _add(given, number, counts, names[1], names[2], pair["rest"].split())
            names = None
        elif single:
            counts.add("", single["name"], int(single["value"]))
        elif line.strip() and not line.startswith("Inter-|"):
            counts.unread.append(number)
    counts.partial = counts.partial or names is not None
    return table_of(given, counts, tool="/proc/net")


def _add(
    given: Input, number: int, counts: Counts, group: str, names: list[str], cells: list[str]
) -> None:
    """Add a line of values, each below its name; another count of them is no such line."""
    check_widths(given, number, group, names, cells)
    for name, cell in zip(names, cells, strict=True):
        value = number_of(cell)
        if value is None:
            raise ReaderError(
                "not-a-number", file=given.name, line=number, field=name, value=shorten(cell)
            )
        counts.add(group, name, value)


FORMAT = Format(
    name="/proc/net counters",
    description="counters of /proc/net (netstat, snmp, snmp6, dev)",
    recognize=_recognize,
    read=_read,
    traps=(
        "A line of names comes before its line of values; another number of values is refused.",
        "A name such as InErrors is in several protocols: the protocol is the group.",
        "Counters run from the start of the system (or namespace); only differences are a run's.",
        "Some are not counters: RtoMin and RtoMax are in ms, a MaxConn of -1 means no limit.",
        "In dev, rx_ and tx_ are put before the names that both halves of the header share.",
    ),
)
