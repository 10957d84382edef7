"""Packets of a list as a trace: their times, and the numbers that their lines show for certain."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import isnan, nan
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc.messages import Notice
from netcalc.readers.captures.flows import ACK, RST, SYN
from netcalc.readers.captures.order import in_order
from netcalc.readers.captures.round_trips import find_echoes
from netcalc.readers.captures.tcp import TcpAnalysis, analyse_tcp
from netcalc.readers.source import note
from netcalc.samples import Fact, FloatColumn, Layer, Meta, PacketTrace

Nanoseconds: TypeAlias = NDArray[np.int64]

SECOND_NS = 1_000_000_000
DAY_NS = 86_400 * SECOND_NS
EPOCH_NS = 100_000_000 * SECOND_NS
"""Plain numbers from here on are seconds since 1970 (March 1973). [ns]"""
LATEST_NS = 2**62
"""Whole nanoseconds are below, in the year 2116: later is no time of a packet. [ns]"""
FEWEST_RISING = 5
"""Steps that all rise by which times since the start are known from times since the last packet."""
RISING_FOR_A_FALL = 20
"""Steps that rise for each that falls, from which on a clock went back in times since the start.

Of times since the last packet about every second step falls.
"""

_CLOCK = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\d)[T ])?(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?:[.,](?P<f>\d{1,9}))?"
    r"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
)
_SECONDS = re.compile(r"(?P<s>\d{1,10})(?:[.,](?P<f>\d{1,9}))?")


def times_of(texts: Sequence[str], *, relative: bool = False) -> tuple[FloatColumn, list[Notice]]:
    """Return times from the first one on, and why they are missing if the mode is not certain.

    Parameters
    ----------
    texts : sequence of str
        The times as printed: seconds, a time of day, a date with a time; empty where there is none.
    relative : bool
        A time of day is a time since something (tcpdump -ttt and -ttttt).
    """
    stamps = [text.strip() for text in texts]
    times = [_nanoseconds(stamp) for stamp in stamps]
    unread = [stamp for stamp, time in zip(stamps, times, strict=True) if stamp and time is None]
    missing = np.full(len(stamps), np.nan)
    if unread:
        return missing, [Notice("packet-time-unread", {"value": unread[0][:60]})]
    index = np.array([n for n, time in enumerate(times) if time is not None], dtype=np.int64)
    if not index.size:
        return missing, []
    values: Nanoseconds = np.array([time for time in times if time is not None], dtype=np.int64)
    clock = any(":" in stamp for stamp in stamps)
    doubts: list[Notice] = []
    if clock and not relative:
        if not any("-" in stamp[:10] for stamp in stamps):
            # A time of day that is more than half a day before the last one is of the next day.
            values += np.cumsum(np.diff(values, prepend=values[0]) < -DAY_NS // 2) * DAY_NS
    elif clock or values.min() < EPOCH_NS:
        values, doubts = _times_from_first(values, relative=relative)
    if not doubts:
        missing[index] = (values - values[0]) / 1e9
    return missing, doubts


def _times_from_first(values: Nanoseconds, *, relative: bool) -> tuple[Nanoseconds, list[Notice]]:
    """Return times since the first packet, if their origin is certain."""
    steps = np.diff(values)
    rising, falling = np.count_nonzero(steps > 0), np.count_nonzero(steps < 0)
    if falling * RISING_FOR_A_FALL > rising:
        # Times since the last packet: packets left out of the list are not in their sum.
        if relative and values[0] == 0:
            return np.cumsum(values), []
        return values, [Notice("packet-times-since-last")]
    if rising < FEWEST_RISING:
        return values, [Notice("packet-times-ambiguous")]
    return values, []


def span_s(times: NDArray[np.float64]) -> float:
    """Return the time from the earliest packet to the latest; nan without one. [s]"""
    timed = times[~np.isnan(times)]
    return float(timed.max() - timed.min()) if timed.size else float("nan")


def _nanoseconds(text: str) -> int | None:
    """Return a time in whole nanoseconds, of which a float since 1970 cannot hold all digits.

    None is no time of a packet.
    """
    printed = _SECONDS.fullmatch(text) or _CLOCK.fullmatch(text)
    if printed is None:
        return None
    seconds = int(printed["s"])
    if clock := printed.groupdict().get("h"):
        seconds += int(clock) * 3600 + int(printed["m"]) * 60
        if printed["date"]:
            try:
                day = date.fromisoformat(printed["date"])
            except ValueError:
                return None
            seconds += (day - date(1970, 1, 1)).days * 86_400
    time_ns = seconds * SECOND_NS + int(f"{printed['f'] or ''}000000000"[:9])
    return time_ns if time_ns < LATEST_NS else None


_PROTOCOLS = {"tcp": 6, "udp": 17, "icmp": 1, "icmpv6": 58}
_BITS = {"tcp": Layer.TCP, "udp": Layer.UDP, "icmp": Layer.ICMP, "icmpv6": Layer.ICMP}
_NUMBER_BITS = 0xFFFF_FFFF
MOST_WINDOW = 0xFFFF
"""Largest window of a header. [byte]"""
_APART = 1_000_003
"""Distance of the first numbers of connections that follow each other on the same ports."""

_COLUMNS = (
    "source_port", "destination_port", "payload_bytes", "window", "timestamp", "timestamp_echo",
    "shift", "mss_bytes", "icmp_type", "echo_id", "echo_sequence", "acknowledged",
)  # fmt: skip
"""Numbers of a packet that a trace has by the same name."""

_MOST = {
    **dict.fromkeys(("source_port", "destination_port", "window", "mss_bytes"), 0xFFFF),
    **dict.fromkeys(("echo_id", "echo_sequence", "payload_bytes"), 0xFFFF),
    **dict.fromkeys(("sequence", "acknowledged", "timestamp", "timestamp_echo"), _NUMBER_BITS),
    **dict.fromkeys(("icmp_type", "shift"), 0xFF),
    "original_bytes": _NUMBER_BITS,
}
"""The largest number that each field of a header holds."""

ECHO_TYPES = {("request", 4): 8, ("reply", 4): 0, ("request", 6): 128, ("reply", 6): 129}
"""What an ICMP echo is, and the version of IP -> its type."""

ERROR_TYPES = {("unreachable", 4): 3, ("expired", 4): 11, ("unreachable", 6): 1, ("expired", 6): 3}
"""What an ICMP error says, and the version of IP -> its type."""

Ends = tuple[tuple[str, int], tuple[str, int]]


@dataclass(slots=True)
class ListedPacket:
    """One packet of a list; nan where its line does not say a number."""

    time_s: float
    protocol: str
    source: str
    destination: str
    source_port: float = 0
    destination_port: float = 0
    payload_bytes: float = nan
    original_bytes: float = nan
    flags: int = 0
    sequence: float = nan
    acknowledged: float = nan
    window: float = nan
    mss_bytes: float = 0
    shift: float = nan
    timestamp: float = nan
    timestamp_echo: float = nan
    icmp_type: float = 0
    echo_id: float = 0
    echo_sequence: float = 0
    is_reused: bool = False
    """Whether it opens a new connection between the ports of an earlier one."""
    is_cut: bool = False
    """Whether the list leaves out its options: a scale may have been offered."""

    @property
    def version(self) -> int:
        """4 or 6, by the address."""
        return 6 if ":" in self.source else 4

    @property
    def ends(self) -> Ends:
        """Both ends, the same for both directions."""
        return self.ends_and_side()[0]

    def ends_and_side(self) -> tuple[Ends, int]:
        """Return both ends, and which of the two sent it."""
        sender = (self.source, int(self.source_port))
        receiver = (self.destination, int(self.destination_port))
        return ((sender, receiver), 0) if sender <= receiver else ((receiver, sender), 1)


@dataclass(slots=True)
class _Flow:
    """The numbers of one connection so far, each counted from the first one of its sender."""

    first: list[float] = field(default_factory=lambda: [nan, nan])
    reach: list[int] = field(default_factory=lambda: [0, 0])
    is_relative: bool | None = None
    base: int = 0

    def begin(self, base: int) -> None:
        """Begin again with a SYN that is not the one before sent again."""
        self.first, self.reach = [nan, nan], [0, 0]
        self.is_relative, self.base = None, base

    def settle(self, packet: ListedPacket, side: int) -> bool:
        """Count the numbers of a packet from the first ones; False if that is not certain."""
        is_syn = bool(packet.flags & SYN)
        if is_syn:
            self.first[side] = packet.sequence
        elif isnan(self.first[side]):
            if not (packet.flags & RST and self.reach[1 - side] == 1):
                return False
            packet.sequence, packet.acknowledged = self.base, self.base + 1  # it refuses a SYN
            return True
        if not is_syn and self.is_relative is None:
            self._choose(packet, side)
        sequence = 0 if is_syn else self._from_first(packet.sequence, side)
        if sequence is None:
            return False
        packet.sequence = (self.base + sequence) & _NUMBER_BITS
        if packet.flags & ACK:
            acked = self._from_first(packet.acknowledged, 1 - side, absolute=is_syn)
            if acked is None or isnan(packet.acknowledged):
                return False
            packet.acknowledged = (self.base + acked) & _NUMBER_BITS
        control = bool(packet.flags & 0x03)
        self.reach[side] = max(self.reach[side], sequence + int(packet.payload_bytes) + control)
        return True

    def _choose(self, packet: ListedPacket, side: int) -> None:
        """Find out from the first number behind a SYN what the numbers count from."""
        for number, sender in ((packet.sequence, side), (packet.acknowledged, 1 - side)):
            first = self.first[sender]
            if isnan(number) or isnan(first):
                continue
            if number == 1 and first != 0:
                self.is_relative = True
            elif number == (int(first) + 1) & _NUMBER_BITS:
                self.is_relative = False
            if self.is_relative is not None:
                return

    def _from_first(self, number: float, side: int, *, absolute: bool = False) -> int | None:
        """Return a number from the first of its sender; a packet without one has the next."""
        if isnan(number):
            return self.reach[side]
        first = self.first[side]
        if isnan(first) or (self.is_relative is None and not absolute):
            return None
        if self.is_relative and not absolute:
            return int(number)
        return (int(number) - int(first)) & _NUMBER_BITS


@dataclass(frozen=True, slots=True)
class Listed:
    """The trace of a list, and whether it has every TCP segment with its numbers."""

    trace: PacketTrace
    is_whole: bool

    def facts(self) -> tuple[dict[str, Fact | None], list[Notice]]:
        """Return what the analysis of the packets is certain of, and what it warns of."""
        pair_count = find_echoes(self.trace).pair_count
        if not np.isfinite(np.asarray(self.trace.time_s)).all():
            return {"icmp_echo_pair_count": pair_count}, []
        analysis = analyse_tcp(in_order(self.trace))
        handshakes = analysis.handshakes.rtt_s
        timed = handshakes[handshakes >= 0]
        again = int(np.count_nonzero(analysis.losses.retransmitted))
        facts: dict[str, Fact | None] = {
            "tcp_retransmission_count": again if self.is_whole else None,
            "icmp_echo_pair_count": pair_count,
            "handshake_rtt_min_s": float(timed.min()) if timed.size else None,
        }
        return facts, self._notices(analysis) if self.is_whole else []

    def _notices(self, analysis: TcpAnalysis) -> list[Notice]:
        notices: list[Notice] = []
        note(notices, "data-after-ack", count=int(np.count_nonzero(analysis.losses.after_ack)))
        if missed := int(analysis.missed_bytes.sum()):
            notices.append(Notice("list-missed", {"missing_bytes": missed}))
        return notices


def listed(packets: Sequence[ListedPacket], meta: Meta) -> Listed:
    """Return the packets as a trace; segments whose numbers are not certain are no TCP in it.

    Parameters
    ----------
    packets : sequence of ListedPacket
        Packets of TCP, UDP and ICMP, in the order of the list.
    meta : Meta
        The tool and the file.
    """
    flows: dict[Ends, _Flow] = {}
    chosen, is_whole = [], True
    for packet, can_be in zip(packets, _can_be(packets), strict=True):
        if not can_be:
            is_whole = False
        elif packet.protocol != "tcp" or _settle(flows, packet):
            chosen.append(packet)
        elif not packet.flags & RST:  # behind a cut opening it has no number of its own
            is_whole = False
    return Listed(_trace(chosen, meta), is_whole=is_whole)


def _can_be(packets: Sequence[ListedPacket]) -> list[bool]:
    """Return for each packet whether the fields of a header can have its numbers."""
    numbers = np.array(list(map(attrgetter(*_MOST), packets)), dtype=np.float64)
    beyond = numbers.reshape(-1, len(_MOST)) > np.array(list(_MOST.values()))
    return [not bad for bad in np.any(beyond, axis=1)]


def _settle(flows: dict[Ends, _Flow], packet: ListedPacket) -> bool:
    if isnan(packet.payload_bytes):
        return False
    ends, side = packet.ends_and_side()
    flow = flows.get(ends)
    if flow is None:
        flow = flows[ends] = _Flow()
    if packet.flags & (SYN | ACK) == SYN:
        if isnan(packet.sequence):
            return False
        first = flow.first[side]
        if not isnan(first) and (first != packet.sequence or packet.is_reused):
            flow.begin(flow.base + _APART)
    return flow.settle(packet, side)


def _trace(packets: Sequence[ListedPacket], meta: Meta) -> PacketTrace:
    addresses = list(dict.fromkeys(packet for p in packets for packet in (p.source, p.destination)))
    places = {address: place for place, address in enumerate(addresses)}
    source = np.array([places[packet.source] for packet in packets], dtype=np.int64)
    protocol = np.array([_PROTOCOLS[packet.protocol] for packet in packets], dtype=np.int64)
    is_ipv6 = np.array([":" in address for address in addresses], dtype=bool)[source]
    read = {
        name: np.array([getattr(packet, name) for packet in packets], dtype=np.float64)
        for name in (*_COLUMNS, "original_bytes", "sequence")
    }
    is_stamped = ~np.isnan(read["timestamp"])
    # A window that a line does not show is not a closed one.
    read["window"] = np.where(np.isnan(read["window"]), MOST_WINDOW, read["window"])
    # The line of a packet does not say its headers: those without unusual options.
    is_tcp = protocol == _PROTOCOLS["tcp"]
    headers = np.where(is_ipv6, 40, 20) + np.where(is_tcp, 20 + 12 * is_stamped, 8)
    sizes = read["payload_bytes"] + headers
    original = np.where(np.isnan(read["original_bytes"]), sizes + 14, read["original_bytes"])
    layers = np.array([int(_BITS[packet.protocol]) for packet in packets], dtype=np.int64)
    layers |= np.where(is_ipv6, int(Layer.IPV6), int(Layer.IPV4))
    layers |= np.where(is_stamped, int(Layer.TIMESTAMPS), 0)
    layers |= np.where(np.isnan(read["shift"]), 0, int(Layer.WINDOW_SCALE))
    layers |= np.where([packet.is_cut for packet in packets], int(Layer.CUT), 0)
    columns: dict[str, Any] = {name: _whole(read[name]) for name in _COLUMNS}
    return PacketTrace(
        time_s=[packet.time_s for packet in packets],
        kept_bytes=_whole(original),
        original_bytes=_whole(original),
        layers=layers,
        ip_version=np.where(is_ipv6, 6, 4),
        ip_protocol=np.where(is_ipv6 & (protocol == 1), 58, protocol),
        packet_bytes=_whole(sizes),
        source=source,
        destination=[places[packet.destination] for packet in packets],
        tcp_sequence=_whole(read["sequence"]),
        tcp_flags=[packet.flags for packet in packets],
        addresses=tuple(addresses),
        meta=Meta(tool=meta.tool, source=meta.source),
        **columns,
    )


def _whole(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.nan_to_num(values).astype(np.int64)


def numbers_in(text: str, patterns: Mapping[str, re.Pattern[str]]) -> dict[str, float]:
    """Return the numbers that patterns find in a text, by the names of the patterns."""
    return {
        name: float(match[1])
        for name, pattern in patterns.items()
        if (match := pattern.search(text))
    }


def ip_version_of(text: str) -> int:
    """Return 4 or 6 for an address, 0 for a name.

    >>> ip_version_of("192.0.2.1"), ip_version_of("2001:db8::1"), ip_version_of("router")
    (4, 6, 0)
    """
    try:
        return ipaddress.ip_address(text.partition("%")[0]).version
    except ValueError:
        return 0
