"""Packets of a capture, a row each: header fields without payload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.samples.columns import Column, Samples, Seconds
from netcalc.samples.meta import Meta

if TYPE_CHECKING:
    import pandas as pd


IntColumn: TypeAlias = NDArray[np.integer[Any]] | Sequence[int]
UInt8: TypeAlias = Annotated[IntColumn, Column("1", whole=np.uint8)]
UInt16: TypeAlias = Annotated[IntColumn, Column("1", whole=np.uint16)]
UInt32: TypeAlias = Annotated[IntColumn, Column("1", whole=np.uint32)]


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

    text_lists: ClassVar[frozenset[str]] = frozenset({"addresses"})

    time_s: Seconds
    kept_bytes: Annotated[IntColumn, Column("byte", "captured frame", np.uint32)]
    original_bytes: Annotated[IntColumn, Column("byte", "captured frame", np.uint32)]
    layers: UInt32 = ()
    interface: UInt32 = ()
    link_number: UInt16 = ()
    tag_count: UInt8 = ()
    ip_version: UInt8 = ()
    ip_protocol: UInt8 = ()
    ttl: UInt8 = ()
    traffic_class: UInt8 = ()
    ip_id: UInt16 = ()
    packet_bytes: Annotated[IntColumn, Column("byte", "IP packet", np.uint32)] = ()
    source: UInt32 = ()
    destination: UInt32 = ()
    source_port: UInt16 = ()
    destination_port: UInt16 = ()
    payload_bytes: Annotated[IntColumn, Column("byte", "TCP, UDP or ICMP payload", np.uint32)] = ()
    tcp_sequence: UInt32 = ()
    acknowledged: UInt32 = ()
    tcp_flags: UInt16 = ()
    window: UInt16 = ()
    timestamp: UInt32 = ()
    timestamp_echo: UInt32 = ()
    shift: UInt8 = ()
    sack_count: UInt8 = ()
    sack_left: UInt32 = ()
    sack_right: UInt32 = ()
    mss_bytes: Annotated[IntColumn, Column("byte", whole=np.uint16)] = ()
    icmp_type: UInt8 = ()
    icmp_code: UInt8 = ()
    echo_id: UInt16 = ()
    echo_sequence: UInt16 = ()
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
        times = times[~np.isnan(times)]
        return float(times.max() - times.min()) if times.size else float("nan")

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
