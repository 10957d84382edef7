"""Packet lists of Wireshark (CSV in any language, plain text), and what tshark prints.

In plain text seven columns are padded to their widths. A cell may be empty or hold blanks, so a row
is read where the header shows its columns, or where both of its ends are addresses. What fits
neither is refused: no row is guessed at.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile
from math import isnan, log2, nan
from typing import Any

import numpy as np

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.captures import flows
from netcalc.readers.captures.flows import find_segments
from netcalc.readers.captures.lists import traces
from netcalc.readers.document import member
from netcalc.readers.format import Format, Input, damaged_addresses
from netcalc.readers.source import csv_rows, no_measurement, note, shorten, unit_of
from netcalc.samples import Fact, FloatColumn, Meta, Table, TextColumn, fact_row

_PORT = r"(?:[\w-]{1,40}\()?(\d{1,5})\)?"
_MARKS = r"(?:\[TCP [^\]]{1,80}\]\s?,?\s?)*"
_TCP = re.compile(
    rf"{_MARKS}{_PORT}\s+(?:\N{{RIGHTWARDS ARROW}}|->|>)\s+{_PORT}\s+\[([A-Za-z, -]{{1,80}})\]"
    r"(?: Seq=(\d{1,10}))?(?: Ack=(\d{1,10}))?(?: Win=(\d{1,10}))?(?: .*?)?\bLen=(\d{1,9})(.*)"
)
_UDP = re.compile(
    rf"{_PORT}\s+(?:\N{{RIGHTWARDS ARROW}}|->|>)\s+{_PORT}\s+(?:\[[^\]]{{1,80}}\] )?Len=(\d{{1,9}})"
)
_ECHO = re.compile(r"Echo \(ping\) (request|reply)\s+id=0x([0-9a-f]{1,4}), seq=(\d{1,5})(?!\d)")
_MARK = re.compile(r"\[TCP ([^\]]{1,80})\]\s?,?\s?")
_OPTIONS = {
    "mss_bytes": re.compile(r"\bMSS=(\d{1,5})\b"),
    "timestamp": re.compile(r"\bTSval=(\d{1,10})\b"),
    "timestamp_echo": re.compile(r"\bTSecr=(\d{1,10})\b"),
}
_SCALE = re.compile(r"\bWS=(\d{1,5})\b")
_FLAGS = {
    "FIN": 0x01, "SYN": 0x02, "RST": 0x04, "PSH": 0x08, "ACK": 0x10, "URG": 0x20,
    "ECE": 0x40, "ECN": 0x40, "ECN-Echo": 0x40, "CWR": 0x80, "AE": 0x100, "NS": 0x100,
}  # fmt: skip
_RETRANSMISSIONS = {"Retransmission", "Fast Retransmission", "Spurious Retransmission"}
_NO_IP = frozenset({"ARP", "RARP", "LLDP", "STP", "RSTP", "CDP", "LOOP", "EAPOL", "LACP"})
_ICMP = frozenset({"ICMP", "ICMPv6"})
_NO_PORTS = _NO_IP | _ICMP | {"IGMP", "IGMPv1", "IGMPv2", "IGMPv3", "OSPF", "VRRP", "PIMv2", "ESP"}
_ON_UDP = frozenset(
    {"MDNS", "SSDP", "DHCP", "DHCPv6", "LLMNR", "NBNS", "NTP", "QUIC", "TFTP", "SNMP"}
)
"""Protocols that come without TCP; they are listed without their ports."""


def facts_of(
    cells: Mapping[str, Sequence[str]], times: Sequence[float]
) -> tuple[dict[str, Fact | None], list[Notice]]:
    """Return what the columns of a list are certain of, and what they warn of.

    Parameters
    ----------
    cells : mapping
        The columns by what they are: ``source``, ``destination``, ``protocol``, ``info``.
    times : sequence of float
        When each packet came; nan where that is not known. [s]
    """
    if not {"source", "destination", "protocol", "info"} <= cells.keys():
        return {}, []
    packets, whole = _packets(cells, times, [nan] * len(times))
    protocols = set(cells["protocol"])
    facts, notices = traces.listed(packets, Meta()).facts()
    notices = notices if whole else []
    # Wireshark marks data behind their acknowledgement, too, though nobody sent them again.
    after_ack = sum(note.values["count"] for note in notices if note.code == "data-after-ack")
    marked = sum(bool(_RETRANSMISSIONS & _marks(info)) for info in cells["info"])
    facts["tcp_retransmission_count"] = max(marked - after_ack, 0)
    if whole:
        tcp = [packet for packet in packets if packet.protocol == "tcp"]
        facts["tcp_flow_count"] = len({packet.ends for packet in tcp}) + _reused_count(tcp)
        if not protocols & _ON_UDP:
            facts["udp_flow_count"] = len(
                {packet.ends for packet in packets if packet.protocol == "udp"}
            )
    versions = [
        -1 if protocol in _NO_IP else traces.ip_version_of(source)
        for protocol, source in zip(cells["protocol"], cells["source"], strict=True)
    ]
    if 0 not in versions:
        facts["ipv4_packet_count"] = versions.count(4)
        facts["ipv6_packet_count"] = versions.count(6)
    return facts, notices


_OF_NUMBERS = frozenset({"TCP", "UDP", *_ICMP})
"""Protocols whose packets are described by numbers alone."""
_BEHIND = r"(?:,? (?![\d ])|,?$)"
_DAMAGED = re.compile(
    rf"\b(?:Seq|Ack|Win|Len|TSval|TSecr|MSS|WS)=(?!\d+{_BEHIND})|\bid=(?!0x[0-9a-f]{{4}}[ ,])"
    r"|\bseq=(?!\d+(?:/\d+)?(?:, | \(|$))|\b(?:ttl|hop limit)=(?!\d+(?:[),]| \(|$))"
    r"|\((?:request|reply) in (?!\d+\))"
)
_ANY_PORT = r"(?:\d{1,5}|[A-Za-z][\w.+-]{0,40}(?:\(\d{1,5}\))?)"
_BETWEEN_PORTS = re.compile(
    rf"{_MARKS}{_ANY_PORT}\s+(?:\N{{RIGHTWARDS ARROW}}|->|>)\s+{_ANY_PORT} (?:\[|Len=)"
)
_ARROWS = ("\N{RIGHTWARDS ARROW}", " -> ", " > ")


def _doubts(cells: Mapping[str, Sequence[str]]) -> list[Notice]:
    """Return the warnings about addresses and numbers that cannot be what was printed."""
    if not {"source", "destination", "protocol", "info"} <= cells.keys():
        return []
    rows = zip(cells["protocol"], cells["info"], strict=True)
    damaged = [number for number, row in enumerate(rows, 1) if _is_damaged(*row)]
    notices = damaged_addresses([*cells["source"], *cells["destination"]])
    note(notices, "packet-numbers-damaged", count=len(damaged), numbers=damaged)
    return notices


def _is_damaged(protocol: str, info: str) -> bool:
    """Whether the text of a packet has something else where a number or a port has to be."""
    first, *others = protocol.split() or [""]
    if first not in _OF_NUMBERS:
        return False
    info = info.rstrip()
    has_ports = first not in _ICMP and any(arrow in info for arrow in _ARROWS)
    is_broken = bool(others) or (has_ports and _BETWEEN_PORTS.match(info) is None)
    return is_broken or _DAMAGED.search(info) is not None


def _reused_count(packets: Sequence[traces.ListedPacket]) -> int:
    """Return how often a connection began between ports that had been used in the list."""
    seen, count = set(), 0
    for packet in packets:
        count += packet.is_reused and packet.ends in seen
        seen.add(packet.ends)
    return count


def trace_of(table: Table) -> traces.Listed | None:
    """Return a list of Wireshark as a trace; None if it has no times or no Info."""
    columns = table.columns()
    if columns.keys() >= _FIELDS_OF_TCP:
        return _trace_of_fields(columns, table.meta)
    names = ("source", "destination", "protocol", "info")
    if not {"time_s", *names} <= columns.keys():
        return None
    times = np.asarray(columns["time_s"], dtype=float)
    if not np.isfinite(times).all():
        return None
    cells = {name: [str(cell) for cell in columns[name]] for name in names}
    sizes = np.asarray(columns.get("original_bytes", np.full(times.size, nan)), dtype=float)
    packets, whole = _packets(cells, times.tolist(), sizes.tolist())
    trace = traces.listed(packets, table.meta)
    return traces.Listed(trace.trace, is_whole=trace.is_whole and whole)


_FIELDS_OF_TCP = frozenset({
    "time_s", "tcp.srcport", "tcp.dstport", "tcp.flags", "tcp_sequence", "acknowledged",
    "payload_bytes",
})  # fmt: skip
"""Columns of fields of which a flow is made."""


def _trace_of_fields(columns: Mapping[str, Any], meta: Meta) -> traces.Listed | None:
    """Return fields that tshark printed as a trace; None without times."""
    times = np.asarray(columns["time_s"], dtype=float)
    ends = [
        [next((cell for cell in row if cell), "")
         for row in zip(*(columns[name] for name in names if name in columns), strict=True)]
        for names in (("ip.src", "ipv6.src"), ("ip.dst", "ipv6.dst"))
    ]  # fmt: skip
    if not np.isfinite(times).all() or not all(ends):
        return None
    fields = dict(_FIELDS)
    if "tcp.window_size_value" in columns:  # as in the header
        fields["window"] = "tcp.window_size_value"
    numbers = {
        name: np.array([_whole_number(cell) for cell in columns[field]])
        for name, field in fields.items()
        if field in columns
    }
    names = {"sequence": "tcp_sequence", "acknowledged": "acknowledged"}
    for name, column in {**names, "payload_bytes": "payload_bytes"}.items():
        numbers[name] = np.asarray(columns[column], dtype=float)
    rows = np.flatnonzero([bool(cell) for cell in columns["tcp.srcport"]])
    needed = np.array([numbers.get(name, np.full(times.size, nan)) for name in _NEEDED_OF_TCP])
    is_known = np.isfinite(needed[:, rows]).all(axis=0)
    flags = np.nan_to_num(numbers.pop("flags")).astype(int)
    packets = []
    for row in rows[is_known].tolist():
        packet = traces.ListedPacket(
            times[row], "tcp", ends[0][row], ends[1][row], flags=int(flags[row])
        )
        for name, values in numbers.items():
            setattr(packet, name, float(values[row]))
        packets.append(packet)
    if "tcp.window_size_value" not in columns:
        _rescale(packets)
    elif "tcp.options.wscale.shift" not in columns:
        for packet in packets:
            packet.is_cut = bool(packet.flags & flows.SYN)
    trace = traces.listed(packets, meta)
    return traces.Listed(
        trace.trace, is_whole=trace.is_whole and bool(packets) and bool(is_known.all())
    )


def _rescale(packets: Sequence[traces.ListedPacket]) -> None:
    """Take the scale off windows in bytes: the least one with which they fit into a header."""
    by_sender: dict[object, list[traces.ListedPacket]] = {}
    for packet in packets:
        sender = (packet.source, packet.source_port, packet.destination, packet.destination_port)
        by_sender.setdefault(sender, []).append(packet)
    for sent in by_sender.values():
        scaled = [packet for packet in sent if not packet.flags & flows.SYN]
        most = max((packet.window for packet in scaled), default=0.0)
        shift = max(int(most).bit_length() - 16, 0)
        for packet in sent:
            if packet.flags & flows.SYN:
                packet.shift = shift
            else:
                packet.window = float(int(packet.window) >> shift)


def _whole_number(cell: str) -> float:
    return float(int(cell, 0)) if _WHOLE.fullmatch(cell) else nan


_NEEDED_OF_TCP = (
    "source_port", "destination_port", "flags", "sequence", "payload_bytes", "window",
)  # fmt: skip
_WHOLE = re.compile(r"(?:0x[0-9a-f]{1,8}|\d{1,10})")
_FIELDS = {
    "source_port": "tcp.srcport", "destination_port": "tcp.dstport", "flags": "tcp.flags",
    "window": "tcp.window_size", "shift": "tcp.options.wscale.shift",
    "mss_bytes": "tcp.options.mss_val", "timestamp": "tcp.options.timestamp.tsval",
    "timestamp_echo": "tcp.options.timestamp.tsecr",
}  # fmt: skip
"""Number of a packet -> field of tshark."""


def _marks(info: str) -> set[str]:
    """Return what Wireshark found of a segment, which stands before anything else."""
    marks, at = set(), 0
    while mark := _MARK.match(info, at):
        marks.add(mark[1])
        at = mark.end()
    return marks


def _packets(
    cells: Mapping[str, Sequence[str]], times: Sequence[float], sizes: Sequence[float]
) -> tuple[list[traces.ListedPacket], bool]:
    """Return the packets that can be read, and whether these are all of TCP and UDP."""
    packets, whole = [], True
    names = ("source", "destination", "protocol", "info")
    rows = zip(*(cells[name] for name in names), times, sizes, strict=True)
    scales: dict[object, float] = {}
    for source, destination, protocol, info, time_s, size in rows:
        packet = _packet(source, destination, protocol, info, time_s)
        if packet is None:
            whole = whole and protocol in _NO_PORTS | _ON_UDP
            continue
        packet.original_bytes = size
        if packet.protocol == "tcp":
            _unscale(packet, scales)
        packets.append(packet)
    return packets, whole


def _packet(
    source: str, destination: str, protocol: str, info: str, time_s: float
) -> traces.ListedPacket | None:
    tcp = _TCP.match(info)
    if tcp and tcp[4] is not None:
        rest = tcp[8]
        packet = traces.ListedPacket(
            time_s, "tcp", source, destination, float(tcp[1]), float(tcp[2]),
            payload_bytes=float(tcp[7]), sequence=float(tcp[4]),
            acknowledged=float(tcp[5]) if tcp[5] else nan,
            window=float(tcp[6]) if tcp[6] else nan,
            flags=sum({_FLAGS.get(flag.strip(), 0) for flag in tcp[3].split(",")}),
            is_reused="Port numbers reused" in _marks(info),
        )  # fmt: skip
        for name, value in traces.numbers_in(rest, _OPTIONS).items():
            setattr(packet, name, value)
        if (scale := _SCALE.search(rest)) and float(scale[1]) >= 1:
            packet.shift = log2(float(scale[1]))
        return packet if packet.source_port < 65536 > packet.destination_port else None
    udp = _UDP.match(info) if protocol == "UDP" else None
    if udp and int(udp[1]) < 65536 > int(udp[2]):
        return traces.ListedPacket(
            time_s, "udp", source, destination, float(udp[1]), float(udp[2]),
            payload_bytes=float(udp[3]),
        )  # fmt: skip
    echo = _ECHO.match(info) if protocol in _ICMP else None
    if echo:
        version = 6 if protocol == "ICMPv6" else 4
        return traces.ListedPacket(
            time_s, "icmpv6" if version == 6 else "icmp", source, destination,
            icmp_type=traces.ECHO_TYPES[echo[1], version], echo_id=int(echo[2], 16),
            echo_sequence=int(echo[3]),
        )  # fmt: skip
    return None


def _unscale(packet: traces.ListedPacket, scales: dict[object, float]) -> None:
    """Take the scale off a window, as the header has it; without that its flow is uncertain."""
    sender = (packet.source, packet.source_port, packet.destination, packet.destination_port)
    receiver = (packet.destination, packet.destination_port, packet.source, packet.source_port)
    if packet.flags & flows.SYN:
        scales[sender] = packet.shift  # the window of a SYN itself is never scaled
        return
    shift, other = scales.get(sender, nan), scales.get(receiver, nan)
    # Windows are scaled where both ends offered a scale; nan is an end whose SYN is not listed.
    if not (isnan(shift) or isnan(other)):
        packet.window /= 2**shift
    # What is left has to be a number of 16 bits. If it is not, Wireshark knew a scale that the list
    # does not show: without its payload the segment is left out of the analysis of its flow.
    if not packet.window <= 65535 or packet.window != int(packet.window):
        packet.payload_bytes = nan


_FIRST = {"no", "nr", "n°", "nº", "№", "number", "num", "numero", "número", "номер", "编号", "序号"}
_NAMES = """
time: time zeit temps tiempo tempo czas время 时间 時間 tid tijd aika
source: source quelle origen origine sorgente źródło источник 源 来源 來源 src bron
destination: destination ziel destino destinazione cel назначение получатель 目标 目的地 目的 dst
protocol: protocol protokoll protocole protocolo protocollo protokół протокол 协议 協定 プロトコル
length: length länge laenge longueur longitud lunghezza comprimento długość длина 长度 長度 lengte
info: info information información informations informazioni инфо 信息 資訊
"""
NAMES = {
    kind: frozenset(names.split())
    for kind, names in (line.split(": ") for line in _NAMES.strip().splitlines())
}
"""What a column is -> its names in the languages of Wireshark."""


def _plain(name: str) -> str:
    return name.strip().strip('"').strip().rstrip(".").lower()


def is_first(name: str) -> bool:
    """Whether a name is that of the column of packet numbers."""
    return _plain(name) in _FIRST


def kind_of(name: str) -> str:
    """Return what the column of a name is: a key of :data:`NAMES`, or nothing."""
    plain = _plain(name)
    return next((kind for kind, names in NAMES.items() if plain in names), "")


def _cells(line: str) -> tuple[str, list[str]]:
    """Return the separator of the header and its names."""
    delimiter = max(",;\t", key=line.count)
    try:
        return delimiter, next(iter(csv.reader([line], delimiter=delimiter)), [])
    except csv.Error:  # a cell longer than any
        return delimiter, line.split(delimiter)


def _recognize_wireshark_list(file: Input) -> bool:
    first = next((line for line in file.first.lstrip("\ufeff").split("\n") if line.strip()), "")
    if first.count("\t") + first.count(",") + first.count(";") < 3:
        return False
    _, names = _cells(first)
    kinds = {kind_of(name) for name in names[1:]}
    return is_first(names[0]) and {"source", "destination"} <= kinds


def _read_wireshark_list(file: Input) -> Table:
    text = file.text
    lines = [(n, line) for n, line in zip(text.numbers, text.lines, strict=True) if line.strip()]
    delimiter, names = _cells(lines[0][1])
    rows = csv_rows(lines[1:], file.unpacked, delimiter=delimiter)
    rows, partial = whole_rows(file, [number for number, _ in lines[1:]], rows, len(names))
    cells: dict[str, list[str]] = {}
    for index, name in enumerate(names):
        key = kind_of(name) or (name.strip() if index else "number")
        if key in cells:
            raise file.refusal("packet-columns-alike", line=lines[0][0], field=shorten(name))
        cells[key] = [row[index] for row in rows]
    return packet_table(file, cells, tool="Wireshark", count=len(rows), partial=partial)


def whole_rows(
    file: Input, numbers: Sequence[int], rows: list[list[str]], width: int
) -> tuple[list[list[str]], bool]:
    """Return rows of so many cells, and whether a last row was left out because it is cut.

    Parameters
    ----------
    file : Input
        The file; refused without a row, and with one of another width.
    numbers : sequence of int
        The number of the line of each row.
    rows : list of list of str
        The cells.
    width : int
        How many columns the header names.
    """
    text = file.text
    is_cut = bool(rows) and len(rows[-1]) < width and not text.ends_complete
    rows = rows[:-1] if is_cut else rows
    if not rows:
        raise no_measurement("packet-list-empty", file.unpacked, text)
    for number, row in zip(numbers, rows, strict=False):
        if len(row) != width:
            raise file.refusal("packet-row-width", line=number, found=len(row), wanted=width)
    return rows, is_cut


def packet_table(
    file: Input,
    cells: dict[str, list[str]],
    *,
    tool: str,
    count: int,
    partial: bool,
    skipped: Sequence[int] = (),
) -> Table:
    """Return a list of packets from its columns of text, named by what they are.

    ``skipped`` are the numbers of lines that are no packets.
    """
    warnings = list(file.text.warnings)
    note(warnings, "packet-lines-skipped", count=len(skipped), numbers=list(skipped))
    times, notices = traces.times_of(cells.pop("time", [""] * count))
    certain, said = facts_of(cells, np.asarray(times).tolist())
    notices += [*_doubts(cells), *said]
    data: dict[str, FloatColumn | TextColumn] = {"time_s": times}
    columns = {"number": "number", "length": "original_bytes"}
    for name, column in cells.items():
        if name in columns:
            data[columns[name]] = _whole(file, name, column)
        else:
            data[name] = np.array(column, dtype=object)
    units = {name: unit_of(name) for name in data if name in ("time_s", *columns.values())}
    if partial:
        notices.append(Notice("packet-row-cut"))
    facts = fact_row(packet_count=count, span_s=traces.span_s(times), **certain, partial=partial)
    layers = {"original_bytes": "captured frame"} if "original_bytes" in data else {}
    return file.table(
        tool, data, units, facts=(facts,), warnings=(*warnings, *notices), partial=partial,
        layers=layers,
    )  # fmt: skip


def _whole(file: Input, name: str, cells: list[str]) -> FloatColumn:
    for packet, cell in enumerate(cells, 1):
        if not re.fullmatch(r"\d{1,15}", cell.strip()):
            raise _not_a_number(file, name, cell, packet)
    return np.array([float(cell.strip()) for cell in cells])


def _not_a_number(file: Input, name: str, cell: str, packet: int) -> ReaderError:
    return file.refusal("packet-field-not-a-number", field=name, value=shorten(cell), packet=packet)


_END = r"[0-9A-Fa-f:.]{3,45}"
WIRESHARK_LIST = Format(
    parts=(
        rf'^"?\d{{1,9}}"?[,;\t]"?[\d.,: -]{{1,40}}"?[,;\t]"?{_END}"?[,;\t]"?{_END}"?[,;\t]'
        r'"?[A-Z][\w./-]{1,20}"?[,;\t]"?\d{1,6}"?[,;\t]',
    ),
    needs="the first line of the list, which names its columns",
    name="Wireshark list",
    description="a packet list exported from Wireshark",
    recognize=_recognize_wireshark_list,
    read=_read_wireshark_list,
    traps=(
        "Names of columns are those of the user's language and preferences.",
        "The time is since the start, since the last packet, or of the day: where the numbers do "
        "not show which, it stays missing.",
        "The length is that of the frame without FCS, not of its data.",
        "A display filter leaves packets out: the list has no word of it.",
    ),
)


_COLUMNS = ("number", "time", "source", "destination", "protocol", "length", "info")
_NEEDED = frozenset({"time", "source", "destination", "protocol"})
_NUMBER = r"\d{1,12}"
_TIME = r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d[.,]\d{1,9}|\d{1,10}[.,]\d{1,9}"
_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_ADDRESS = (
    rf"(?:{_IPV4}|(?:[0-9a-fA-F]{{2}}:){{5}}[0-9a-fA-F]{{2}}"
    r"|(?=[0-9a-fA-F:.]{0,45}::|(?:[0-9a-fA-F]{1,4}:){7})[0-9a-fA-F:.]{2,45})"
)
_BEGIN = rf" {{0,12}}(?P<number>{_NUMBER})[ \t]{{1,12}}(?P<time>{_TIME})[ \t]"
_GAP = r"[ \t]{1,60}"
_BETWEEN_ADDRESSES = (
    rf"{_BEGIN}[ \t]{{0,60}}(?P<source>{_ADDRESS}){_GAP}(?P<destination>{_ADDRESS}){_GAP}"
    r"(?P<protocol>(?!\d+[ \t])[^ \t]{1,40}(?: [^ \t]{1,40}){0,3}?)[ \t]{1,20}"
    rf"(?P<length>\d{{1,10}})(?:{_GAP}(?P<info>.*))?"
)
_PING_LINE = r"\bEcho \(ping\) .*id=0x[0-9a-f]{1,4}, seq=\d"
"""How Wireshark alone describes a ping: its number is in both orders of bytes."""
_NO_CSV = r"^(?!\s*\"?[\d.: -]+\"?[,;\t]).*?"
"""No row of a list that was exported as CSV, or of fields: it has no widths."""
_ROW, _ANY_ROW = re.compile(_BETWEEN_ADDRESSES), re.compile(_BEGIN)
_CELLS = {"number": re.compile(_NUMBER), "time": re.compile(_TIME), "length": re.compile(r"\d+")}


def _is_header(line: str) -> bool:
    names = line.split()
    return bool(names) and is_first(names[0]) and set(map(kind_of, names[1:])) >= _NEEDED


def _recognize_wireshark_text(file: Input) -> bool:
    if file.columns is not None or file.is_json:
        return False
    lines = [line for line in file.first.split("\n") if line.strip()]
    if any(_is_header(line) for line in lines):
        return True
    return bool(lines and _ROW.fullmatch(lines[0])) or file.seen(_NO_CSV + _PING_LINE)


def _read_wireshark_text(file: Input) -> Table:
    text = file.text
    rows: list[dict[str, str]] = []
    skipped: list[int] = []
    starts: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if _is_header(line):
            starts = _starts(file, number, line)
        elif _ANY_ROW.match(line) or re.search(_PING_LINE, line):
            rows.append(_row(file, number, line, starts))
        elif line.strip():
            skipped.append(number)
    return _table_of_rows(file, rows, skipped, tool="Wireshark")


def _table_of_rows(
    file: Input, rows: list[dict[str, str]], skipped: Sequence[int], *, tool: str
) -> Table:
    """Return the packets of lines as a table; refuse a file without one."""
    text = file.text
    if not rows:
        raise no_measurement("packet-list-empty", file.unpacked, text)
    # Of a last line without its end, digits of the length may be missing.
    partial = not text.ends_complete and not rows[-1]["info"]
    rows = rows[:-1] if partial else rows
    cells = {name: [row[name] for row in rows] for name in _COLUMNS}
    return packet_table(file, cells, tool=tool, count=len(rows), partial=partial, skipped=skipped)


def _starts(file: Input, number: int, line: str) -> list[int]:
    """Return where the columns of a header begin; refused if they are not the seven of a list."""
    words = list(re.finditer(r"\S+", line))
    names = [word[0] for word in words]
    if ["number", *map(kind_of, names[1:])] != list(_COLUMNS):
        raise file.refusal("packet-text-columns", line=number, value=shorten(" ".join(names)))
    return [word.start() for word in words]


def _row(file: Input, number: int, line: str, starts: Sequence[int]) -> dict[str, str]:
    if starts and (cells := _padded(line, starts)):
        return cells
    if match := _ROW.fullmatch(line):
        return {name: cell.strip() for name, cell in match.groupdict("").items()}
    raise file.refusal("packet-text-row", line=number, value=shorten(line.strip()))


def _padded(line: str, starts: Sequence[int]) -> dict[str, str] | None:
    """Return the cells of a row by the widths of its columns; None if they do not fit.

    Each cell is padded to its width and followed by one blank; a longer one ends at its blank.
    """
    cells: dict[str, str] = {}
    at = 0
    for name, start, after in zip(_COLUMNS, starts, starts[1:], strict=False):
        end = at + after - start - 1
        if line[end : end + 1] != " ":
            end = line.find(" ", end)
        end = len(line) if end < 0 else end
        cell = line[at:end].rstrip()
        cells[name] = cell.lstrip() if name == "number" else cell
        at = end + 1
    cells["info"] = line[at:].strip()
    fits = all(pattern.fullmatch(cells[name]) for name, pattern in _CELLS.items())
    # A cell that begins with a blank is one that was cut in two.
    begun = not any(cell.startswith((" ", "\t")) for cell in cells.values())
    return cells if fits and begun and cells["protocol"] else None


WIRESHARK_TEXT = Format(
    name="Wireshark text",
    description="a packet list exported from Wireshark as plain text",
    recognize=_recognize_wireshark_text,
    read=_read_wireshark_text,
    traps=(
        "A ping of which it tells is no output of ping: the rows are packets, with their times.",
        "A source or destination may be missing: a row is read by the widths of the header, or "
        "between two addresses, or refused.",
        "The time is since the start, since the last packet, or of the day: where the numbers do "
        "not show which, it stays missing.",
        "Details and bytes of packets, exported with the list, are left out.",
    ),
)


_NAME = r'"?(?:_ws\.col\.|[a-z][a-z0-9_]*\.)[A-Za-z0-9_.]+"?'
_HEADER = re.compile(rf"({_NAME})(?:([\t,;| /]){_NAME}(?:\2{_NAME})*)?\s*")
_LAYERS = re.compile(r'(?m)^"?(?:frame|ip|ipv6|tcp|udp|eth|icmp|icmpv6|_ws)\.')

SI_NAMES = {
    "frame.len": ("original_bytes", "byte"),
    "frame.cap_len": ("kept_bytes", "byte"),
    "ip.len": ("packet_bytes", "byte"),
    "ip.ttl": ("ttl", "1"),
    "tcp.len": ("payload_bytes", "byte"),
    "tcp.seq": ("tcp_sequence", "1"),
    "tcp.ack": ("acknowledged", "1"),
    "frame.time_delta": ("delta_s", "s"),
    "tcp.analysis.ack_rtt": ("ack_rtt_s", "s"),
    "tcp.analysis.initial_rtt": ("handshake_rtt_s", "s"),
}
"""Field of tshark -> column of netcalc and its unit; the others keep their names."""
_TIMES = ("frame.time_relative", "frame.time_epoch")
_RETRANSMISSION = "tcp.analysis.retransmission"
TEXT_NAMES = (
    *_TIMES, "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "tcp.stream", "udp.stream",
    _RETRANSMISSION,
)  # fmt: skip
"""Further fields that facts are made of."""


def _recognize_tshark_fields(file: Input) -> bool:
    first = next((line for line in file.first.split("\n") if line.strip()), "")
    return bool(_HEADER.fullmatch(first) and _LAYERS.search(first))


def _read_tshark_fields(file: Input) -> Table:
    numbered = zip(file.text.numbers, file.text.lines, strict=True)
    below = dropwhile(lambda numbered: not numbered[1].strip(), numbered)
    lines = [(number, line) for number, line in below if line]
    header = _HEADER.fullmatch(lines[0][1])
    delimiter = (header and header[2]) or "\t"
    if delimiter != " ":
        lines = [(number, line.rstrip(" ")) for number, line in lines]
    rows = csv_rows(lines, file.unpacked, delimiter=delimiter)
    names = rows[0]
    body, partial = whole_rows(file, [number for number, _ in lines[1:]], rows[1:], len(names))
    cells = {name: [row[index] for row in body] for index, name in enumerate(names)}
    return table_of_fields(file, cells, count=len(body), partial=partial)


def table_of_fields(
    file: Input, cells: dict[str, list[str]], *, count: int, partial: bool
) -> Table:
    """Return fields of packets as a table: name -> a cell for each packet, empty if it has none."""
    notices: list[Notice] = []
    data: dict[str, FloatColumn | TextColumn] = {}
    units: dict[str, str] = {}
    clock = next((name for name in _TIMES if name in cells), None)
    if clock is not None:
        # What tshark calls relative counts from the first frame of the file: the mode is certain.
        data["time_s"] = _numbers(file, clock, cells[clock], notices)
        if clock == "frame.time_epoch":
            data["time_s"], doubts = traces.times_of(cells[clock])
            notices += doubts
        units["time_s"] = "s"
    for name, column in cells.items():
        target, unit = SI_NAMES.get(name, (name, ""))
        if unit:
            data[target], units[target] = _numbers(file, name, column, notices), unit
        else:
            data[name] = np.array(column, dtype=object)
    facts = _facts(cells, data, count=count, partial=partial)
    if data.keys() >= _FIELDS_OF_TCP and (listed := _trace_of_fields(data, Meta())) is not None:
        certain, said = listed.facts()
        if listed.is_whole:
            flow_count = len(find_segments(listed.trace).flows.first)
            facts = {**fact_row(tcp_flow_count=flow_count, **certain), **facts}
            notices += said
    warnings = (*file.text.warnings, *notices)
    return file.table("tshark", data, units, facts=(facts,), warnings=warnings, partial=partial)


def _facts(
    cells: dict[str, list[str]], data: dict[str, FloatColumn | TextColumn], *, count: int,
    partial: bool,
) -> dict[str, Fact]:  # fmt: skip
    def present(name: str) -> int | None:
        return sum(map(bool, cells[name])) if name in cells else None

    def streams(name: str) -> int | None:
        values = cells.get(name)
        if values is None or any("," in cell for cell in values):
            return None
        return len({cell for cell in values if cell})

    kept = data.get("kept_bytes")
    first = np.asarray(data.get("handshake_rtt_s", ()), dtype=float)
    timed = first[~np.isnan(first)]
    return fact_row(
        packet_count=count,
        captured_byte_count=None if kept is None else float(np.sum(kept)),
        span_s=traces.span_s(np.asarray(data.get("time_s", ()), dtype=float)),
        ipv4_packet_count=present("ip.src"),
        ipv6_packet_count=present("ipv6.src"),
        tcp_flow_count=streams("tcp.stream"),
        udp_flow_count=streams("udp.stream"),
        tcp_retransmission_count=present(_RETRANSMISSION),
        handshake_rtt_min_s=float(timed.min()) if timed.size else None,
        partial=partial,
    )


def _numbers(file: Input, name: str, cells: list[str], notices: list[Notice]) -> FloatColumn:
    """Return a field as numbers: nan where a packet does not have it, or has it several times."""
    numbers = np.full(len(cells), np.nan)
    several = 0
    for row, cell in enumerate(cells):
        if re.fullmatch(r"-?\d+(?:\.\d+)?", cell):
            numbers[row] = float(cell)
        elif re.fullmatch(r"-?[\d.]+(?:,-?[\d.]+)+", cell):
            several += 1
        elif cell:
            raise _not_a_number(file, name, cell, row + 1)
    note(notices, "packet-field-several", count=several, field=name)
    return numbers


TSHARK_FIELDS = Format(
    parts=(r'^"?(?:\d{1,9}"?[,\t]"?)?\d{1,10}\.\d{9}"?[,\t]"?\d{1,6}"?[,\t]',),
    needs="the line with the names of the fields, which -E header=y prints",
    name="tshark fields",
    description="fields printed by tshark -T fields -E header=y",
    recognize=_recognize_tshark_fields,
    read=_read_tshark_fields,
    traps=(
        "Without -E header=y the columns are not named.",
        "A packet in another one has a field twice (1,2): that number stays missing.",
        "tcp.seq is relative to the flow unless tshark had another setting: kept as printed.",
        "frame.time_delta counts from the last packet captured, not the last one listed.",
    ),
)


_JSON_NAMES = {*SI_NAMES, *TEXT_NAMES}
_EMPTY = "1"
"""What stands for a field without a value: it is there."""


def _read_tshark_json(file: Input) -> Table:
    if file.json.fault is not None:
        raise file.json.fault
    packets = [
        _fields(packet)
        for document in file.json.documents
        for packet in (document if isinstance(document, list) else [document])
    ]
    names = [name for name in (*TEXT_NAMES, *SI_NAMES) if any(name in fields for fields in packets)]
    if not names:
        raise file.refusal("packet-list-empty")
    cells = {name: [fields.get(name, "") for fields in packets] for name in names}
    return table_of_fields(file, cells, count=len(packets), partial=False)


def _fields(packet: Any) -> dict[str, str]:
    """Return the fields of a packet, of which one inside another is in an object of its own."""
    fields: dict[str, str] = {}
    for name, value in _leaves(member(packet, "_source", "layers"), 0):
        if name in _JSON_NAMES:
            fields[name] = f"{fields[name]},{value}" if name in fields else value
    return fields


def _leaves(part: Any, depth: int) -> Iterator[tuple[str, str]]:
    for name, value in part.items():
        if isinstance(value, dict) and depth < 20:
            yield from _leaves(value, depth + 1)
        elif isinstance(value, str):
            yield name, value or _EMPTY
        elif isinstance(value, list):
            yield name, ",".join(part for part in value if isinstance(part, str)) or _EMPTY


TSHARK_JSON = Format(
    name="tshark -T json",
    description="the JSON of tshark",
    recognize=lambda file: (
        file.is_json and {"_index", "_source"} <= file.keys() and '"layers"' in file.first
    ),
    read=_read_tshark_json,
    traps=(
        "Of a layer that a packet has twice (tunnels) JSON has one name twice: the last one counts "
        "and a warning says so.",
        "A layer that tshark was told to leave out is not counted as 0: its facts are missing.",
        "Only lengths, times, addresses and what tshark found of TCP are kept.",
    ),
)


_TSHARK_TIME = r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d{1,9}|-?\d{1,10}\.\d{1,9}"
_ARROW = "(?:\N{RIGHTWARDS ARROW}|->)"
# The columns are padded to a width: a source may be missing, a destination too.
_PACKET = (
    rf" {{0,10}}(?P<number>\d{{1,12}}) {{1,12}}(?P<time>{_TSHARK_TIME}) {{1,60}}"
    rf"(?:(?P<source>\S{{1,200}}) {{1,60}})?{_ARROW} {{1,60}}"
    r"(?:(?P<destination>\S{1,200}) {1,60})?"
    r"(?P<protocol>(?!\d+ )[^ ]{1,40}(?: [^ ]{1,40}){0,3}?) {1,20}"
    r"(?P<length>\d{1,10})(?: (?P<info>.*))?"
)
_LINE = re.compile(_PACKET)
_TWO_ENDS = re.compile(r"\d\s.*\S (?:→|->) \S")


def _read_tshark_text(file: Input) -> Table:
    rows: list[dict[str, str]] = []
    skipped: list[int] = []
    for number, line in zip(file.text.numbers, file.text.lines, strict=True):
        if row := _LINE.fullmatch(line):
            rows.append(row.groupdict(""))
        elif line.strip() and (rows or _TWO_ENDS.search(line)):
            skipped.append(number)
    return _table_of_rows(file, rows, skipped, tool="tshark")


TSHARK_TEXT = Format(
    name="tshark text",
    description="the lines of packets that tshark prints",
    recognize=lambda file: file.seen(rf"^{_PACKET}$"),
    read=_read_tshark_text,
    traps=(
        "The time is since the first packet unless -t says otherwise: where the numbers do not "
        "show which, it stays missing.",
        "Seq and Ack are relative to the first of their flow, and no numbers of a ping.",
        "The length is that of the frame without FCS, not of its data.",
        "A display filter leaves packets out: the list has no word of it.",
    ),
)
