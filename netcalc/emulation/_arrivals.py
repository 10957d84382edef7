"""When packets came that an end sent: the kernel's stamps, for a process that was asleep then.

To wake takes a process 20 to 150 us, longer on a busy machine, and by so much each packet would
enter its path too late. A packet socket at the device sees it leave, with the time.
"""

from __future__ import annotations

import ctypes
import math
import socket
import struct
import time

HEAD_BYTES = 64
"""By so many first bytes a packet is known again. [byte]"""
_EVERY_PROTOCOL, _OUTGOING = 3, 4
_SO_ATTACH_FILTER, _SO_TIMESTAMPNS = 26, 35
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
_NOTE_BYTES = socket.CMSG_SPACE(16)


class Arrivals:
    """The stamps of what a device of this process' network namespace sends, the first few of them.

    There is room for three packets or so. More is not needed: whoever has several to read is awake.
    """

    def __init__(self, device: str) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        program = ctypes.create_string_buffer(_FILTER)
        code = struct.pack("HP", len(_FILTER) // 8, ctypes.addressof(program))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, code)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)  # the least there is
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._socket.setblocking(False)
        self._socket.bind((device, _EVERY_PROTOCOL))
        self.stale = False
        """Whether packets were read whose stamps may still be here, in the place of later ones."""

    def take(self, after_s: float) -> dict[bytes, float]:
        """Return the times of packets that came later than a time, by their first bytes.

        Times are those of ``time.monotonic``.
        """
        self.stale = False
        found: dict[bytes, float] = {}
        behind_s = None
        while True:
            try:
                head, notes, _, _ = self._socket.recvmsg(HEAD_BYTES, _NOTE_BYTES)
            except OSError:
                return found
            if behind_s is None:
                behind_s = time.time() - time.monotonic()
            seconds, rest_ns = struct.unpack("ll", notes[0][2])
            came_s = seconds - behind_s + rest_ns * 1e-9
            if came_s > after_s:
                found.setdefault(head, came_s)

    def forget(self) -> None:
        """Make room where there may be stamps of packets that were read."""
        if self.stale:
            self.take(math.inf)

    def close(self) -> None:
        """Close the packet socket."""
        self._socket.close()
