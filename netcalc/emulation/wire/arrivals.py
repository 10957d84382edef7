"""When an end sent its packets: the kernel's stamps, for a process that was asleep then.

A process takes 20 to 150 us to wake, longer on a busy machine, and each packet would enter its path
later by that time. A packet socket at the device stamps it when it leaves, in memory shared with
the kernel: reading a stamp takes no system call.
"""

from __future__ import annotations

import ctypes
import mmap
import socket
import struct
import time

HEAD_BYTES = 64
"""First bytes by which a packet is matched with its stamp: IP, TCP or UDP headers with sequence
numbers, options and the start of the data. [byte]"""
_EVERY_PROTOCOL, _OUTGOING = 3, 4
_SO_ATTACH_FILTER = 26
_ABOUT_PACKET, _KIND_OF_PACKET = 0xFFFFF000, 4  # SKF_AD_OFF, SKF_AD_PKTTYPE
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06  # of a filter: BPF_LD | BPF_W | BPF_ABS and so on
_FILTER = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (_LOAD, 0, 0, _ABOUT_PACKET + _KIND_OF_PACKET),
        (_JUMP_IF_EQUAL, 0, 1, _OUTGOING),
        (_RETURN, 0, 0, HEAD_BYTES),
        (_RETURN, 0, 0, 0),
    )
)
_SOL_PACKET, _PACKET_RX_RING, _PACKET_VERSION, _TPACKET_V2 = 263, 5, 10, 1
_FRAME_BYTES, _RING_BYTES = 256, 4096  # one page, the least the kernel takes: 16 frames
_STATUS = struct.Struct("I")
_HEAD = struct.Struct("IIIHHII")  # status, length, kept, link header, packet, seconds, nanoseconds
_FULL = 1  # TP_STATUS_USER


class Arrivals:
    """The stamps of the last 16 packets that a device of this network namespace sent.

    A process with more packets to read is awake and needs no stamps.
    """

    def __init__(self, device: str) -> None:
        with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0) as sock:
            program = ctypes.create_string_buffer(_FILTER)
            code = struct.pack("HP", len(_FILTER) // 8, ctypes.addressof(program))
            sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, code)
            sock.setsockopt(_SOL_PACKET, _PACKET_VERSION, _TPACKET_V2)
            ring = struct.pack("IIII", _RING_BYTES, 1, _FRAME_BYTES, _RING_BYTES // _FRAME_BYTES)
            sock.setsockopt(_SOL_PACKET, _PACKET_RX_RING, ring)
            self._ring = mmap.mmap(sock.fileno(), _RING_BYTES)
            sock.bind((device, _EVERY_PROTOCOL))
            self._descriptor = sock.detach()
        self._at = 0
        self.stale = False
        """Whether the ring may hold stamps of packets that were already read."""

    def take(self, after_s: float) -> dict[bytes, float]:
        """Return the times of packets sent later than a time, by their first bytes.

        Times are those of ``time.monotonic``.
        """
        self.stale = False
        ring, at = self._ring, self._at
        found: dict[bytes, float] = {}
        behind_s = None
        while True:
            status, _, kept, _, start, seconds, rest_ns = _HEAD.unpack_from(ring, at)
            if not status & _FULL:
                self._at = at
                return found
            if behind_s is None:
                behind_s = time.time() - time.monotonic()
            sent_s = seconds - behind_s + rest_ns * 1e-9
            if sent_s > after_s:
                found.setdefault(ring[at + start : at + start + kept], sent_s)
            _STATUS.pack_into(ring, at, 0)
            at = (at + _FRAME_BYTES) % _RING_BYTES

    def forget(self) -> None:
        """Drop stamps of packets that were already read."""
        if not self.stale:
            return
        self.stale = False
        while _STATUS.unpack_from(self._ring, self._at)[0] & _FULL:
            _STATUS.pack_into(self._ring, self._at, 0)
            self._at = (self._at + _FRAME_BYTES) % _RING_BYTES
