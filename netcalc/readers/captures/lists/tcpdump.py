"""Text of tcpdump, a line for each packet or two with -v: a table, and a trace for each run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.messages import Notice
from netcalc.readers.captures.lists import traces
from netcalc.readers.format import Format, Input, damaged_addresses
from netcalc.readers.source import no_measurement, note, unit_of
from netcalc.samples import FactRow, Meta, Table, fact_row

_FLAGS = {
    "F": 0x01, "S": 0x02, "R": 0x04, "P": 0x08, ".": 0x10, "U": 0x20, "E": 0x40, "W": 0x80,
    "e": 0x100,
}  # fmt: skip
_NUMBERS = {
    **dict.fromkeys(("source_port", "destination_port", "mss_bytes"), 0.0),
    **dict.fromkeys(("payload_bytes", "acknowledged", "window", "shift", "timestamp"), nan),
    **dict.fromkeys(("timestamp_echo", "icmp_type", "echo_id", "echo_sequence"), nan),
}
"""Columns of numbers, and what stands for one that a line does not have."""
_NAMES = {"time_s", "protocol", "source", "destination", "tcp_flags", "tcp_sequence", *_NUMBERS}


def run_of(columns: Mapping[str, Any], rows: Sequence[int], meta: Meta) -> traces.Listed:
    """Return one run as a trace.

    Parameters
    ----------
    columns : mapping
        The columns of the table of a text of tcpdump.
    rows : sequence of int
        The rows of the run.
    meta : Meta
        The tool and the file.
    """
    chosen = np.asarray(rows, dtype=np.int64)
    named = {name: column[chosen].tolist() for name, column in columns.items() if name in _NAMES}
    unknown = [nan] * len(rows)
    numbers: dict[str, list[Any]] = {
        name: [default if value != value else value for value in named.get(name, unknown)]
        for name, default in _NUMBERS.items()
    }
    is_hidden = "" in named["protocol"]  # DNS and others come without the word UDP
    bits = {text: _bits(text) for text in set(named["tcp_flags"])}
    columns_by_field = {
        **{name: named[name] for name in ("time_s", "protocol", "source", "destination")},
        **numbers,
        "original_bytes": unknown,
        "flags": [bits[text] for text in named["tcp_flags"]],
        "sequence": named.get("tcp_sequence", unknown),
    }
    ordered = [
        columns_by_field[value.name]
        for value in fields(traces.ListedPacket)
        if value.name in columns_by_field
    ]
    chosen_ones = {"tcp"} if is_hidden else {"tcp", "udp"}
    packets = [
        packet
        for packet in map(traces.ListedPacket, *ordered)
        if packet.protocol in chosen_ones or (packet.protocol == "icmp" and packet.icmp_type >= 0)
    ]
    return traces.listed(packets, meta)


def _bits(text: str) -> int:
    return 0 if text == "none" else sum({_FLAGS.get(letter, 0) for letter in text})


def traces_of(table: Table) -> list[traces.Listed]:
    """Return a trace for each run of a table of tcpdump with known times."""
    columns = table.columns()
    groups = np.asarray(columns["group"])
    runs = []
    for run in dict.fromkeys(groups.tolist()):
        rows = np.flatnonzero(groups == run)
        if np.isfinite(np.asarray(columns["time_s"], dtype=float)[rows]).all():
            runs.append(run_of(columns, rows.tolist(), table.meta))
    return runs


ICMP_ECHO_HEADER_BYTES = 8
IPV6_HEADER_BYTES = 40

_STAMP = r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d{6,9}|\d{9,10}\.\d{6,9}"
_INTERFACE = r"\S{1,40} {1,20}(?:In|Out|B|M|P) {1,4}"  # of a capture on all interfaces
_PACKET = re.compile(
    rf"(?P<blank> ?)(?:(?P<time>{_STAMP}) )?(?:{_INTERFACE})?(?P<kind>IP6?|ARP),? (?P<rest>.+)"
)
_FRAME = re.compile(  # of tcpdump -e
    rf"(?P<blank> ?)(?:(?P<time>{_STAMP}) )?(?:\S.{{0,300}}?\bethertype|AF) "
    r"(?P<kind>IPv4|IPv6|ARP) \((?:0x[0-9a-f]{4}|\d{1,2})\), (?:length \d{1,9}: )?(?P<rest>.+)"
)
_OTHER = re.compile(rf"(?P<blank> ?)(?P<time>{_STAMP}) (?P<rest>\S.*)")
_SHORT = re.compile(r"truncated-ip6? - \d{1,9} bytes missing! ?")
_KINDS = {"IPv4": "IP", "IPv6": "IP6"}
_HEAD = re.compile(
    r"\((?P<inside>(?:tos|class|flowlabel|hlim)\b.*?(?:length:? \d+))"
    r"(?:, (?:options|bad cksum \w{1,8}) \([^()]*\)!?){0,2}\)(?P<rest>.*)"
)
_ENDS = re.compile(r"\s*(?P<source>\S+) > (?P<destination>[^\s:]\S*): (?P<what>.*)")
_TRAILER = re.compile(r"(?P<count>\d{1,18}) packets? captured")
_OPENING = re.compile(r"(?:tcpdump: )?(?:listening on |reading from file )")
_LINK_TYPE = re.compile(r"link-type (\w{1,40})")
_LINK_NAMES = {
    "EN10MB": "Ethernet", "LINUX_SLL": "SLL", "LINUX_SLL2": "SLL2", "IPV4": "IPv4", "IPV6": "IPv6",
    "PPP_ETHER": "PPPoE", "IEEE802_11": "802.11", "IEEE802_11_RADIO": "802.11 radiotap",
}  # fmt: skip
"""Names of link types that differ in libpcap from those of the facts of a capture."""
_MESSAGE = re.compile(r"tcpdump: |dropped privs|\d+ packets? (?:received by|dropped by)")
_PATTERNS = {
    "tcp_sequence": re.compile(r"\bseq (\d+)"),
    "acknowledged": re.compile(r"\back (\d+)"),
    "window": re.compile(r"\bwin (\d+)"),
}
_HEAD_NUMBERS = {
    "ttl": re.compile(r"\b(?:ttl|hlim) (\d+)"),
    "packet_bytes": re.compile(r"\blength (\d+)$"),
}
_LENGTH = re.compile(r"\blength (\d+)(?:: .*)?$")
_OPTIONS = {
    "mss_bytes": re.compile(r"\bmss (\d{1,5})\b"),
    "shift": re.compile(r"\bwscale (\d{1,2})\b"),
    "timestamp": re.compile(r"\bTS val (\d{1,10})\b"),
    "timestamp_echo": re.compile(r"\becr (\d{1,10})\b"),
}
_LISTED_OPTIONS = re.compile(r"\boptions \[([^\]]*)\]")
_ERROR = re.compile(
    r"ICMP6?,? (?:(?P<expired>time exceeded in-transit)|(?!.*need to frag)[^,]*\bunreachable\b)"
)
_ECHO = re.compile(r"ICMP6?,? echo (request|reply), id (\d{1,5}), seq (\d{1,5})\b")
_COLUMNS = ("packet_bytes", "ttl", "source_port", "destination_port", "payload_bytes", *_PATTERNS,
            *_OPTIONS, "icmp_type", "echo_id", "echo_sequence")  # fmt: skip
_TEXTS = ("group", "ip_version", "protocol", "source", "destination", "tcp_flags")


_BEHIND = r"(?:[,)\]]|$| (?![\d,]))"
_DAMAGED = re.compile(
    rf"\b(?:ack|win|mss|wscale|TS val|ecr) (?!\d+{_BEHIND})"
    r"|\blength (?!\d+(?:$|[:)]))"
    rf"|\bseq (?!\d+(?::\d+)?{_BEHIND})"
)
_DAMAGED_HEADER = re.compile(r"\b(?:ttl|hlim|id|offset|length:?) (?!\d+(?:[,)]|$))")
_DAMAGED_ECHO = re.compile(r", id (?!\d{1,5}, seq \d{1,5}(?:, |$))|, length (?!\d+(?:$|[^\w. ]))")
_DAMAGED_PORT = re.compile(r"\.(?:\d+[A-Za-z_]\w*|[A-Za-z]\d{2,4})$")
_ANY_ECHO = re.compile(r"ICMP6?,? echo re(?:quest|ply)")
_UDP = re.compile(r"(?:\[[^\]]*\] )?UDP\b")
_SEGMENT = re.compile(r"Flags \[[^\]]*\].*?(?:\blength \d+(?=$|:)|$)")
"""A segment without what an application says in it."""


_USUAL = re.compile(
    r"Flags \[([^\]]*)\],(?: cksum 0x[0-9a-f]{1,4} \([a-z]+\),)?(?: seq (\d+)(?::\d+)?,)?"
    r"(?: ack (\d+),)?(?: win (\d+),)?(?: options \[nop,nop,TS val (\d{1,10}) ecr (\d{1,10})\],)?"
    r" length (\d+)"
)
"""A segment without anything rare, whose numbers are found in one step."""
_USUAL_NUMBERS = ("tcp_sequence", "acknowledged", "window", "timestamp", "timestamp_echo",
                  "payload_bytes")  # fmt: skip


@dataclass(slots=True)
class _Packets:
    """The packets so far: their texts and their numbers in one list each, row after row."""

    stamps: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    numbers: list[float | None] = field(default_factory=list)
    relative: set[str] = field(default_factory=set)
    skipped: list[int] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)
    link_types: dict[str, str] = field(default_factory=dict)
    tunnels: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)

    def add(self, stamp: str, texts: Mapping[str, str], numbers: Mapping[str, float]) -> None:
        self.stamps.append(stamp)
        self.texts.extend([texts.get(name, "") for name in _TEXTS])
        self.numbers.extend(map(numbers.get, _COLUMNS))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the rows as columns; nan where a line does not have a number."""
        texts = np.array(self.texts, dtype=object).reshape(-1, len(_TEXTS))
        numbers = np.array(self.numbers, dtype=np.float64).reshape(-1, len(_COLUMNS))
        return {
            **{name: texts[:, at].copy() for at, name in enumerate(_TEXTS)},
            **{name: numbers[:, at].copy() for at, name in enumerate(_COLUMNS)},
        }


def _recognize_tcpdump(file: Input) -> bool:
    if file.seen(r"^(?:tcpdump: )?listening on \S+, link-type|^reading from file .*link-type"):
        return True
    return (
        file.seen(rf"^ ?(?:{_STAMP}) (?:{_INTERFACE})?(?:IP6? (?:\(|truncated-ip|\S+ > )|ARP, )")
        or file.seen(rf"^ ?(?:{_STAMP}) \S.{{0,100}}\bethertype \S+ \(0x[0-9a-f]{{4}}\), ")
        or file.seen(rf"^ ?(?:{_STAMP}) AF IPv[46] \(\d\d?\), length ")
        or file.seen(r"^IP6? \S+ > \S+: (?:Flags \[|UDP, length|ICMP6?[ ,])")
    )


def _read_tcpdump(file: Input) -> Table:
    text = file.text
    lines = [line.rstrip() for line in text.lines]
    packets, run, captured = _Packets(), 1, dict[str, int]()
    opened = False
    for index, line in enumerate(lines):
        trailer = _TRAILER.match(line)
        if trailer:
            captured[str(run)] = int(trailer["count"])
            run, opened = run + 1, False
        elif _OPENING.match(line):
            run, opened = run + opened, True
            if named := _LINK_TYPE.search(line):
                packets.link_types[str(run)] = _LINK_NAMES.get(named[1], named[1])
        else:
            opened |= _add(packets, line, lines[index + 1 : index + 2], str(run), index)
    if not packets.stamps:
        raise no_measurement("packet-list-empty", file.unpacked, text)
    return _table(file, packets, captured)


_LIKE_PACKET = re.compile(r" \S{0,40}[.:]\S{0,12} IP6? ")
"""The line of a packet whose time cannot be read: the lines below a packet have no time."""


_LIKE_IP = re.compile(r"IP\w? {1,2}\S{2,60} > \S{2,60}: ")
"""A packet whose kind is damaged."""


def _add(packets: _Packets, line: str, below: list[str], run: str, index: int) -> bool:
    """Add the packet of a line, if it has one; return whether it has."""
    packet = _PACKET.match(line) or _FRAME.match(line)
    if packet is None:
        return _add_other(packets, line, run, index)
    if not packet["time"] and packets.stamps and packets.stamps[-1]:
        if packet["blank"]:  # which stands before a time
            packets.skipped.append(index + 1)
            return False
        packets.tunnels.add(run)  # what the packet of the line before carries
        return True
    kind = _KINDS.get(packet["kind"], packet["kind"])
    texts = {"group": run, "protocol": kind.lower()}
    numbers: dict[str, float] = {}
    if kind != "ARP":
        texts |= {"ip_version": "6" if kind == "IP6" else "4", "protocol": ""}
        ends = _read_ip(packet["rest"], below, numbers)
        if ends is None:
            packets.skipped.append(index + 1)
            return False
        _read_transport(ends, texts, numbers)
        if _is_damaged(packet["rest"], ends):
            packets.damaged.append(len(packets.stamps) + 1)
        if not texts["protocol"] and "Flags [" in ends["what"]:
            packets.tunnels.add(run)
    stamp = packet["time"] or ""
    if packet["blank"] or stamp.startswith("00:00:00.0000000"[: len(stamp)]):
        packets.relative.add(run)
    packets.add(stamp, texts, numbers)
    return True


def _add_other(packets: _Packets, line: str, run: str, index: int) -> bool:
    """Add a frame of something else than IP and ARP; return whether the line has one."""
    if frame := _OTHER.match(line):
        if _LIKE_IP.match(frame["rest"]):
            packets.damaged.append(len(packets.stamps) + 1)
        if re.search(r"\bIP(?:v?[46])?\b", frame["rest"]):  # it carries IP that is not read
            packets.unread.add(run)
        packets.add(frame["time"], {"group": run, "protocol": "other"}, {})
        return True
    below_another = line[:1].isspace() and not _LIKE_PACKET.match(line)
    if line.strip() and not below_another and not _MESSAGE.match(line):
        packets.skipped.append(index + 1)
    return False


def _read_ip(rest: str, below: list[str], numbers: dict[str, float]) -> re.Match[str] | None:
    """Read the IP header of -v, and return the ends of the packet, which may be the line below."""
    if "truncated-ip" in rest:
        rest = _SHORT.sub("", rest, count=1)
    if rest.startswith("(") and (head := _HEAD.match(rest)):
        numbers |= _read_ip_header(head["inside"])
        rest = head["rest"] if head["rest"].strip() else "".join(below)
    return _ENDS.match(rest)


def _read_ip_header(inside: str) -> dict[str, float]:
    numbers = traces.numbers_in(inside, _HEAD_NUMBERS)
    if payload := re.search(r"payload length: (\d+)", inside):
        numbers["packet_bytes"] = float(payload[1]) + IPV6_HEADER_BYTES
    return numbers


def _is_damaged(rest: str, ends: re.Match[str]) -> bool:
    """Whether the text of a packet has something else where a number or a port has to be."""
    what = ends["what"]
    if rest.startswith(" "):
        return True
    header = _HEAD.match(rest) if rest.startswith("(") else None
    if header and _DAMAGED_HEADER.search(header["inside"]):
        return True
    if segment := _SEGMENT.match(what):
        if not _USUAL.fullmatch(what) and _DAMAGED.search(segment[0]):
            return True
    elif _UDP.match(what):
        if _LENGTH.search(what) is None:
            return True
    else:
        return _ANY_ECHO.search(what) is not None and _DAMAGED_ECHO.search(what) is not None
    return any(_DAMAGED_PORT.search(ends[name]) for name in ("source", "destination"))


def _read_transport(ends: re.Match[str], texts: dict[str, str], numbers: dict[str, float]) -> None:
    what = ends["what"]
    if usual := _USUAL.fullmatch(what):
        texts |= {"protocol": "tcp", "tcp_flags": usual[1]}
        for name, number in zip(_USUAL_NUMBERS, usual.groups()[1:], strict=True):
            if number is not None:
                numbers[name] = float(number)
        _read_ends(ends, texts, numbers, ports=True)
        return
    flags = re.match(r"Flags \[([^\]]*)\]", what)
    length = _LENGTH.search(what)
    echo = _ANY_ECHO.search(what)
    short = re.match(r"tcp (\d{1,9})\b", what)  # of tcpdump -q
    ports = bool(flags or short) or _UDP.match(what) is not None
    if short:
        texts["protocol"] = "tcp"
        numbers["payload_bytes"] = float(short[1])
    elif flags:
        texts |= {"protocol": "tcp", "tcp_flags": flags[1]}
        options = _LISTED_OPTIONS.search(what)
        numbers |= traces.numbers_in(what, _PATTERNS) | traces.numbers_in(
            options[1] if options else "", _OPTIONS
        )
    elif ports:
        texts["protocol"] = "udp"
    elif "ICMP" in what[:30]:
        texts["protocol"] = "icmp"
    _read_ends(ends, texts, numbers, ports=ports)
    if length and ports:
        numbers["payload_bytes"] = float(length[1])
    elif length and echo and float(length[1]) >= ICMP_ECHO_HEADER_BYTES:
        numbers["payload_bytes"] = float(length[1]) - ICMP_ECHO_HEADER_BYTES
    if error := _ERROR.match(what):
        kind = "expired" if error["expired"] else "unreachable"
        numbers["icmp_type"] = float(traces.ERROR_TYPES[kind, int(texts["ip_version"])])
    if numbered := _ECHO.search(what):
        numbers["icmp_type"] = float(traces.ECHO_TYPES[numbered[1], int(texts["ip_version"])])
        numbers["echo_id"], numbers["echo_sequence"] = float(numbered[2]), float(numbered[3])


def _read_ends(
    ends: re.Match[str], texts: dict[str, str], numbers: dict[str, float], *, ports: bool
) -> None:
    for name, column in (("source", "source_port"), ("destination", "destination_port")):
        end = ends[name]
        address, dot, port = end.rpartition(".")
        # A port follows the last dot of an IPv4 address with five parts, or of an IPv6 address.
        has_port = ports or end.count(".") == (1 if texts["ip_version"] == "6" else 4)
        texts[name] = address if has_port and dot else end
        if has_port and port.isdecimal():
            numbers[column] = float(port)


def _table(file: Input, packets: _Packets, captured: Mapping[str, int]) -> Table:
    read = packets.columns()
    groups, version = read["group"], read["ip_version"]
    times, notices = np.full(groups.size, np.nan), list[Notice]()
    facts: list[FactRow] = []
    for run in dict.fromkeys(groups.tolist()):
        here = np.flatnonzero(groups == run)
        stamps = [packets.stamps[index] for index in here]
        times[here], doubts = traces.times_of(stamps, relative=run in packets.relative)
        notices += [doubt for doubt in doubts if doubt not in notices]
        is_read = run not in packets.unread
        columns = {"time_s": times, **read}
        is_certain = is_read and run not in packets.tunnels and not packets.skipped
        certain, said = run_of(columns, here.tolist(), Meta()).facts() if is_certain else ({}, [])
        notices += said
        facts.append(
            fact_row(
                group=run,
                packet_count=here.size,
                span_s=traces.span_s(times[here]),
                ipv4_packet_count=int(np.count_nonzero(version[here] == "4")) if is_read else None,
                ipv6_packet_count=int(np.count_nonzero(version[here] == "6")) if is_read else None,
                link_type=packets.link_types.get(run),
                **(_flow_counts(read, here) if is_read and run not in packets.tunnels else {}),
                **certain,
                partial=False,
            )
        )
    skipped, damaged = packets.skipped, packets.damaged
    notices += damaged_addresses([*read["source"], *read["destination"]])
    note(notices, "packet-numbers-damaged", count=len(damaged), numbers=damaged)
    note(notices, "packet-lines-skipped", count=len(skipped), numbers=skipped)
    shown = {name: read[name] for name in _COLUMNS if not np.isnan(read[name]).all()}
    return file.table(
        "tcpdump",
        {"time_s": times, **{name: read[name] for name in _TEXTS}, **shown},
        {name: unit_of(name) for name in ("time_s", *shown)},
        printed={f"captured_count_{run}": count for run, count in captured.items()},
        facts=facts,
        warnings=(*file.text.warnings, *notices),
    )


def _flow_counts(columns: Mapping[str, NDArray[Any]], here: NDArray[np.intp]) -> dict[str, int]:
    """Return how many flows of TCP and UDP there are, where every packet says what it is."""
    protocols = columns["protocol"][here].tolist()
    # Ports that are not known are all alike, as nan is not.
    ends = [
        column.tolist()
        for name in ("source", "destination")
        for column in (
            columns[name][here], np.nan_to_num(columns[f"{name}_port"][here], nan=-1),
        )
    ]  # fmt: skip
    both = list(zip(*ends, strict=True))
    flows: dict[str, set[tuple[object, ...]]] = {"tcp": set(), "udp": set()}
    for protocol, row in set(zip(protocols, both, strict=True)):
        if protocol in flows:
            flows[protocol].add(_pair(row))
    begun: dict[tuple[object, ...], set[float]] = {}
    sequence = columns["tcp_sequence"][here]
    is_syn = (columns["tcp_flags"][here] == "S") & ~np.isnan(sequence)
    for at in np.flatnonzero(is_syn & (columns["protocol"][here] == "tcp")).tolist():
        begun.setdefault(_pair(both[at]), set()).add(float(sequence[at]))
    # The ports of a later connection may be those of an earlier one; its first number is not.
    again = sum(len(numbers) - 1 for numbers in begun.values())
    counts = {"tcp_flow_count": len(flows["tcp"]) + again}
    if "" not in protocols:  # DNS and others come without the word UDP
        counts["udp_flow_count"] = len(flows["udp"])
    return counts


def _pair(row: tuple[Any, ...]) -> tuple[object, ...]:
    """Return both ends, the same for both directions."""
    return tuple(sorted((row[:2], row[2:])))


TCPDUMP = Format(
    name="tcpdump",
    description="the text output of tcpdump",
    recognize=_recognize_tcpdump,
    read=_read_tcpdump,
    traps=(
        "Sequence numbers after a SYN are relative to it unless tcpdump ran with -S: as printed.",
        "The window is as in the header: without its scale.",
        "Times of -ttt count from the last packet, those of -ttttt from the first: if neither is "
        "certain, they stay missing.",
        "The length of ICMP includes its header of 8 bytes, that of TCP and UDP does not.",
        "Over midnight the time of day begins again.",
        "A line without a time below one with a time is what a tunnel carries: no packet more.",
        "DNS and others come without the word UDP: then flows of UDP are not counted.",
    ),
)
