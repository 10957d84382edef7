"""What the Info column of Wireshark says of a packet, in English in every language."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from netcalc.readers.captures.lists.traces import NAN, Listed, Packet, ip_version_of, listed
from netcalc.samples import Fact, Meta, Table

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
_ECHO_TYPES = {("request", 4): 8, ("reply", 4): 0, ("request", 6): 128, ("reply", 6): 129}
_NO_IP = frozenset({"ARP", "RARP", "LLDP", "STP", "RSTP", "CDP", "LOOP", "EAPOL", "LACP"})
_ICMP = frozenset({"ICMP", "ICMPv6"})
_NO_PORTS = _NO_IP | _ICMP | {"IGMP", "IGMPv1", "IGMPv2", "IGMPv3", "OSPF", "VRRP", "PIMv2", "ESP"}
_ON_UDP = frozenset(
    {"MDNS", "SSDP", "DHCP", "DHCPv6", "LLMNR", "NBNS", "NTP", "QUIC", "TFTP", "SNMP"}
)
"""Protocols that come without TCP; they are listed without their ports."""


def facts_of(cells: Mapping[str, Sequence[str]], times: Sequence[float]) -> dict[str, Fact | None]:
    """Return what the columns of a list are certain of.

    Parameters
    ----------
    cells : mapping
        The columns by what they are: ``source``, ``destination``, ``protocol``, ``info``.
    times : sequence of float
        When each packet came; nan where that is not known. [s]
    """
    if not {"source", "destination", "protocol", "info"} <= cells.keys():
        return {}
    packets, whole = _packets(cells, times, [NAN] * len(times))
    protocols = set(cells["protocol"])
    known = listed(packets, Meta()).facts()
    known["tcp_retransmission_count"] = sum(
        bool(_RETRANSMISSIONS & _marks(info)) for info in cells["info"]
    )
    if whole:
        tcp = [one for one in packets if one.protocol == "tcp"]
        known["tcp_flow_count"] = len({one.ends for one in tcp}) + _reused_count(tcp)
        if not protocols & _ON_UDP:
            known["udp_flow_count"] = len({one.ends for one in packets if one.protocol == "udp"})
    versions = [
        -1 if protocol in _NO_IP else ip_version_of(source)
        for protocol, source in zip(cells["protocol"], cells["source"], strict=True)
    ]
    if 0 not in versions:
        known["ipv4_packet_count"] = versions.count(4)
        known["ipv6_packet_count"] = versions.count(6)
    return known


def _reused_count(packets: Sequence[Packet]) -> int:
    """Return how often a connection began between ports that had been used in the list."""
    seen, count = set(), 0
    for one in packets:
        count += one.is_reused and one.ends in seen
        seen.add(one.ends)
    return count


def trace_of(table: Table) -> Listed | None:
    """Return a list of Wireshark as a trace; None if it has no times or no Info."""
    columns = table.columns()
    names = ("source", "destination", "protocol", "info")
    if not {"time_s", *names} <= columns.keys():
        return None
    times = np.asarray(columns["time_s"], dtype=float)
    if not np.isfinite(times).all():
        return None
    cells = {name: [str(one) for one in columns[name]] for name in names}
    sizes = np.asarray(columns.get("original_bytes", np.full(times.size, NAN)), dtype=float)
    packets, whole = _packets(cells, times.tolist(), sizes.tolist())
    found = listed(packets, table.meta)
    return Listed(found.trace, is_whole=found.is_whole and whole)


def _marks(info: str) -> set[str]:
    """Return what Wireshark found of a segment, which stands before anything else."""
    found, at = set(), 0
    while mark := _MARK.match(info, at):
        found.add(mark[1])
        at = mark.end()
    return found


def _packets(
    cells: Mapping[str, Sequence[str]], times: Sequence[float], sizes: Sequence[float]
) -> tuple[list[Packet], bool]:
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
) -> Packet | None:
    tcp = _TCP.match(info)
    if tcp and tcp[4] is not None:
        rest = tcp[8]
        packet = Packet(
            time_s, "tcp", source, destination, float(tcp[1]), float(tcp[2]),
            payload_bytes=float(tcp[7]), sequence=float(tcp[4]),
            acknowledged=float(tcp[5]) if tcp[5] else NAN,
            window=float(tcp[6]) if tcp[6] else NAN,
            flags=sum({_FLAGS.get(one.strip(), 0) for one in tcp[3].split(",")}),
            is_reused="Port numbers reused" in _marks(info),
        )  # fmt: skip
        for name, pattern in _OPTIONS.items():
            if option := pattern.search(rest):
                setattr(packet, name, float(option[1]))
        if (scale := _SCALE.search(rest)) and float(scale[1]) >= 1:
            packet.shift = math.log2(float(scale[1]))
        return packet if packet.source_port < 65536 > packet.destination_port else None
    udp = _UDP.match(info) if protocol == "UDP" else None
    if udp and int(udp[1]) < 65536 > int(udp[2]):
        return Packet(
            time_s, "udp", source, destination, float(udp[1]), float(udp[2]),
            payload_bytes=float(udp[3]),
        )  # fmt: skip
    echo = _ECHO.match(info) if protocol in _ICMP else None
    if echo:
        version = 6 if protocol == "ICMPv6" else 4
        return Packet(
            time_s, "icmpv6" if version == 6 else "icmp", source, destination,
            icmp_type=_ECHO_TYPES[echo[1], version], echo_id=int(echo[2], 16),
            echo_sequence=int(echo[3]),
        )  # fmt: skip
    return None


def _unscale(packet: Packet, scales: dict[object, float]) -> None:
    """Take the scale off a window, as the header has it; without that its flow is uncertain."""
    key = (packet.source, packet.source_port, packet.destination, packet.destination_port)
    back = (packet.destination, packet.destination_port, packet.source, packet.source_port)
    if packet.flags & 0x02:
        scales[key] = packet.shift
        return
    shift, other = scales.get(key, NAN), scales.get(back, NAN)
    if shift == shift and other == other:
        packet.window /= 2**shift
    if not packet.window <= 65535 or packet.window != int(packet.window):
        packet.payload_bytes = NAN
