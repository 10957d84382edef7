"""Packets of a capture, a row each: header fields without payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.samples.columns import FloatColumn, Samples
from netcalc.samples.meta import Meta

if TYPE_CHECKING:
    import pandas as pd


IntColumn: TypeAlias = NDArray[np.integer[Any]] | Sequence[int]


class Layer(IntFlag):
    """What a packet holds, and what of it could not be read: bits of the column ``layers``."""

    IPV4 = 1
    IPV6 = 2
    TCP = 4
    """The header of the innermost packet is there as a whole; so UDP and ICMP."""
    UDP = 8
    ICMP = 16
    VLAN = 32
    MPLS = 64
    PPPOE = 128
    GRE = 256
    VXLAN = 512
    """VXLAN or Geneve."""
    TUNNEL = 1024
    """An IP packet in another one; the columns are those of the inner one."""
    EXTENSION = 2048
    """Extension headers of IPv6, fragments apart."""
    FRAGMENT = 4096
    LATER_FRAGMENT = 8192
    """A fragment behind the first, which has no transport header."""
    LLC = 16384
    """802.2 instead of an EtherType."""
    ARP = 32768
    CUT = 65536
    """The snap length cut a header."""
    MALFORMED = 131072
    """A length that does not agree with those around it."""
    OFFLOADED = 262144
    """An IP length of 0: the network card was to cut the data into packets."""
    TIMESTAMPS = 524288
    WINDOW_SCALE = 1048576
    SACK_PERMITTED = 2097152


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PacketTrace(Samples):
    """Packets of a capture: one row each, in the order of the file.

    Of a packet in another one (a tunnel) the columns are those of the inner one. A field that a
    packet does not have is 0; ``layers`` says which it has.

    Parameters
    ----------
    time_s : array_like
        When it was captured, from the first packet with a time on; nan where the file has none. [s]
    kept_bytes, original_bytes : array_like
        Bytes of the frame that the file holds, and those it had when it was captured. [byte]
    layers : array_like
        The headers it has: :class:`Layer`. [1]
    interface, link_number : array_like
        Number of the interface in the file, and its link type. [1]
    tag_count : array_like
        VLAN tags. [1]
    ip_version, ip_protocol, ttl, traffic_class, ip_id : array_like
        Fields of the IP header; ``ip_protocol`` is that behind the extension headers. [1]
    packet_bytes : array_like
        Length of the IP packet, as its header says. [byte]
    source, destination : array_like
        Index into ``addresses``. [1]
    source_port, destination_port : array_like
        Ports of TCP or UDP. [1]
    payload_bytes : array_like
        Bytes behind the transport header, by the lengths in the headers. [byte]
    tcp_sequence, acknowledged, tcp_flags, window : array_like
        Fields of the TCP header; the flags are the lower nine bits. [1]
    timestamp, timestamp_echo : array_like
        The option of RFC 7323. [1]
    shift, sack_count : array_like
        Shift of the window scale option, and ranges that SACK reports. [1]
    sack_left, sack_right : array_like
        The first of these ranges, which has the newest segment (RFC 2018), as sequence numbers. [1]
    mss_bytes : array_like
        The MSS option; 0 without it. [byte]
    icmp_type, icmp_code, echo_id, echo_sequence : array_like
        Fields of ICMP. [1]
    addresses : tuple of str
        The addresses, each once.
    start_ns : int or None
        When ``time_s`` is 0: nanoseconds since 1970 by the clock of the capture.
    snap_bytes : int or None
        Longest frame that was kept whole, as the file says; the least of several interfaces. [byte]
    """

    column_units: ClassVar[Mapping[str, str]] = {
        "time_s": "s",
        "kept_bytes": "byte",
        "original_bytes": "byte",
        "layers": "1",
        "interface": "1",
        "link_number": "1",
        "tag_count": "1",
        "ip_version": "1",
        "ip_protocol": "1",
        "ttl": "1",
        "traffic_class": "1",
        "ip_id": "1",
        "packet_bytes": "byte",
        "source": "1",
        "destination": "1",
        "source_port": "1",
        "destination_port": "1",
        "payload_bytes": "byte",
        "tcp_sequence": "1",
        "acknowledged": "1",
        "tcp_flags": "1",
        "window": "1",
        "timestamp": "1",
        "timestamp_echo": "1",
        "shift": "1",
        "sack_count": "1",
        "sack_left": "1",
        "sack_right": "1",
        "mss_bytes": "byte",
        "icmp_type": "1",
        "icmp_code": "1",
        "echo_id": "1",
        "echo_sequence": "1",
    }
    column_layers: ClassVar[Mapping[str, str]] = {
        "kept_bytes": "captured frame",
        "original_bytes": "captured frame",
        "packet_bytes": "IP packet",
        "payload_bytes": "TCP, UDP or ICMP payload",
    }
    column_types: ClassVar[Mapping[str, type[np.generic]]] = {
        **dict.fromkeys(("kept_bytes", "original_bytes", "packet_bytes"), np.uint32),
        **dict.fromkeys(("payload_bytes", "tcp_sequence", "acknowledged"), np.uint32),
        **dict.fromkeys(("timestamp", "timestamp_echo", "layers"), np.uint32),
        **dict.fromkeys(("sack_left", "sack_right"), np.uint32),
        **dict.fromkeys(("source", "destination", "interface"), np.uint32),
        **dict.fromkeys(("source_port", "destination_port", "ip_id", "link_number"), np.uint16),
        **dict.fromkeys(("window", "tcp_flags", "mss_bytes"), np.uint16),
        **dict.fromkeys(("echo_id", "echo_sequence"), np.uint16),
        **dict.fromkeys(("tag_count", "ip_version", "ip_protocol", "ttl"), np.uint8),
        **dict.fromkeys(("traffic_class", "shift", "sack_count"), np.uint8),
        **dict.fromkeys(("icmp_type", "icmp_code"), np.uint8),
    }
    text_lists: ClassVar[frozenset[str]] = frozenset({"addresses"})

    time_s: FloatColumn | Sequence[float]
    kept_bytes: IntColumn
    original_bytes: IntColumn
    layers: IntColumn = ()
    interface: IntColumn = ()
    link_number: IntColumn = ()
    tag_count: IntColumn = ()
    ip_version: IntColumn = ()
    ip_protocol: IntColumn = ()
    ttl: IntColumn = ()
    traffic_class: IntColumn = ()
    ip_id: IntColumn = ()
    packet_bytes: IntColumn = ()
    source: IntColumn = ()
    destination: IntColumn = ()
    source_port: IntColumn = ()
    destination_port: IntColumn = ()
    payload_bytes: IntColumn = ()
    tcp_sequence: IntColumn = ()
    acknowledged: IntColumn = ()
    tcp_flags: IntColumn = ()
    window: IntColumn = ()
    timestamp: IntColumn = ()
    timestamp_echo: IntColumn = ()
    shift: IntColumn = ()
    sack_count: IntColumn = ()
    sack_left: IntColumn = ()
    sack_right: IntColumn = ()
    mss_bytes: IntColumn = ()
    icmp_type: IntColumn = ()
    icmp_code: IntColumn = ()
    echo_id: IntColumn = ()
    echo_sequence: IntColumn = ()
    addresses: tuple[str, ...] = ()
    start_ns: int | None = None
    snap_bytes: int | None = None
    meta: Meta = field(default_factory=Meta)

    def __post_init__(self) -> None:
        Samples.__post_init__(self)
        object.__setattr__(self, "addresses", tuple(self.addresses))
        highest = max(int(self.ints(name).max(initial=0)) for name in ("source", "destination"))
        if highest >= max(len(self.addresses), 1):
            raise DomainError("address-index", "addresses", len(self.addresses), index=highest)

    def ints(self, name: str) -> NDArray[Any]:
        """Return a column of whole numbers, which the constructor made an array."""
        column: NDArray[Any] = getattr(self, name)
        return column

    def has(self, layer: int) -> NDArray[np.bool_]:
        """Return a mask of the packets that have one of these :class:`Layer` bits."""
        mask: NDArray[np.bool_] = self.ints("layers") & np.uint32(layer) != 0
        return mask

    @property
    def span_s(self) -> float:
        """Time from the earliest packet to the latest; nan if no packet has a time. [s]"""
        times = np.asarray(self.time_s)
        known = times[~np.isnan(times)]
        return float(known.max() - known.min()) if known.size else float("nan")

    def rows(self, chosen: NDArray[Any] | slice) -> PacketTrace:
        """Return some of the packets, as a trace of its own."""
        columns = {name: column[chosen] for name, column in self.columns().items()}
        return PacketTrace(
            **columns,
            addresses=self.addresses,
            start_ns=self.start_ns,
            snap_bytes=self.snap_bytes,
            meta=self.meta,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas frame, with the addresses as text."""
        frame = Samples.to_frame(self)
        names = np.array(self.addresses or ("",), dtype=object)
        for name in ("source", "destination"):
            frame[name] = names[self.ints(name)]
        return frame
