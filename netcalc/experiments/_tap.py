"""A packet tap: what passed an interface, and when, by the clock of the kernel.

The second clock of a measurement: it sees packets where the application sees calls. What lies
between the two is the time of the protocol stack, and of the application itself.
"""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from netcalc.samples import write_atomically

SNAP_BYTES = 128
"""So much of each packet is kept: the headers. [byte]"""
MAX_PACKETS = 200_000
"""Packets that are kept for a file; more of them are timed only. [packet]"""
_ALL_PROTOCOLS = 0x0003
_SO_TIMESTAMPNS = 35
_OUTGOING = 4
_TIMESPEC = struct.Struct("=qq")
_PCAP_NS, _RAW_IP = 0xA1B23C4D, 101
_BUFFER_BYTES = 4 << 20


class Packet(NamedTuple):
    """A packet of IPv4 on an interface."""

    at_ns: int
    source: bytes
    packet_bytes: int
    head: bytes


class Tap:
    """Reads the packets of one interface of a namespace, through a socket that was opened there.

    Parameters
    ----------
    sock : socket.socket
        A packet socket (``AF_PACKET``, ``SOCK_DGRAM``); it is closed with this object.
    interface : str
        Name of the interface.
    both_ends : bool
        Both ends are in this namespace: each packet is noted once, when it goes out.
    """

    def __init__(self, sock: socket.socket, interface: str, *, both_ends: bool) -> None:
        self._sock = sock
        self._both_ends = both_ends
        self.packets: list[Packet] = []
        self.seen_count = 0
        sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        sock.bind((interface, _ALL_PROTOCOLS))
        sock.setblocking(False)

    def close(self) -> None:
        """Close the socket."""
        self._sock.close()

    def read(self) -> list[Packet]:
        """Return the packets since the last call."""
        found = []
        with suppress(BlockingIOError):
            while True:
                head, control, _, origin = self._sock.recvmsg(SNAP_BYTES, 64)
                if self._both_ends and origin[2] != _OUTGOING:
                    continue
                if len(head) < 20 or head[0] >> 4 != 4:
                    continue
                found.append(
                    Packet(
                        _stamp_ns(control),
                        head[12:16],
                        int.from_bytes(head[2:4], "big"),
                        head,
                    )
                )
        self.seen_count += len(found)
        self.packets += found[: max(0, MAX_PACKETS - len(self.packets))]
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the packets as a capture file with times in nanoseconds."""
        parts = [struct.pack("<IHHiIII", _PCAP_NS, 2, 4, 0, 0, SNAP_BYTES, _RAW_IP)]
        for packet in self.packets:
            seconds, rest_ns = divmod(packet.at_ns, 10**9)
            size = max(packet.packet_bytes, len(packet.head))
            parts.append(struct.pack("<IIII", seconds, rest_ns, len(packet.head), size))
            parts.append(packet.head)
        write_atomically(Path(path), b"".join(parts))


def exchange_s(packets: list[Packet], server: str) -> float:
    """Return the time from the first packet to the last one of the server; nan without. [s]"""
    address = socket.inet_aton(server)
    last = [packet.at_ns for packet in packets if packet.source == address]
    if not last:
        return np.nan
    return (max(last) - packets[0].at_ns) * 1e-9


def ladder_rows(
    near: list[Packet], far: list[Packet], *, server: str, begin_ns: int
) -> list[dict[str, Any]]:
    """Return the segments of one request and its response, and who waited for what.

    Parameters
    ----------
    near, far : list of Packet
        What a tap saw at the client and at the server; the same list where one sees both.
    server : str
        Address of the server.
    begin_ns : int
        When the request was written, by the taps' clock. [ns]

    Returns
    -------
    list of dict
        Rows as :class:`netcalc.models.write_timeline.WriteTimeline` has them.
    """
    address = socket.inet_aton(server)
    at_far = {packet.head[:8] + packet.source: packet.at_ns for packet in far}
    rows: list[dict[str, Any]] = []
    for packet in near:
        here, there = packet.at_ns, at_far.get(packet.head[:8] + packet.source)
        if there is None:
            continue
        to_client = packet.source == address
        start_ns, end_ns = (there, here) if to_client else (here, there)
        size = _tcp_payload_bytes(packet)
        what = "acknowledgement" if not size else "response" if to_client else "segment"
        who = "to client" if to_client else "to server"
        rows.append(_row(who, what, start_ns - begin_ns, end_ns - begin_ns, size))
    return sorted(rows + _waits(rows), key=lambda row: float(row["start_s"]))


def _waits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Name the waits: a later part for the acknowledgement of the first, and that itself."""
    parts = [row for row in rows if row["what"] == "segment"]
    acks = [row for row in rows if (row["who"], row["what"]) == ("to client", "acknowledgement")]
    if len(parts) < 2 or not acks or acks[0]["end_s"] > parts[1]["start_s"]:
        return []
    held_ns = (parts[0]["end_s"] * 1e9, acks[0]["start_s"] * 1e9)
    return [
        _row("client", "waits for acknowledgement", 0, parts[1]["start_s"] * 1e9, 0),
        _row("server", "holds acknowledgement", *held_ns, 0),
    ]


def _row(who: str, what: str, start_ns: float, end_ns: float, size: int) -> dict[str, Any]:
    return {
        "who": who,
        "what": what,
        "start_s": start_ns * 1e-9,
        "end_s": end_ns * 1e-9,
        "payload_bytes": size,
    }


def _tcp_payload_bytes(packet: Packet) -> int:
    ip_bytes = 4 * (packet.head[0] & 15)
    return packet.packet_bytes - ip_bytes - 4 * (packet.head[ip_bytes + 12] >> 4)


def _stamp_ns(control: list[tuple[int, int, bytes]]) -> int:
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS:
            seconds, rest_ns = _TIMESPEC.unpack_from(data)
            return int(seconds * 10**9 + rest_ns)
    return 0
