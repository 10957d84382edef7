"""TCP flows as scripts in virtual time, and what a capture at either end has of them.

Each packet has a time at which it was sent and one at which it arrived (none if it was lost), so
that the truth of a test is the script itself. ``Script.trace`` writes what one end saw with the
writer of ``tests/readers/captures`` and reads it again.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import writer as w

from netcalc.readers.captures import read_capture
from netcalc.samples import PacketTrace

MSS = 1024
"""Payload of a full segment: windows of whole ones are whole units of their scale. [byte]"""
A, B = "A", "B"
HEADERS = 20 + 32
SCALE = 7
LOST = math.inf


@dataclass(slots=True)
class Packet:
    """A segment from one end to the other; ``came_s`` is inf if it was lost on its way."""

    sent_s: float
    came_s: float
    end: str
    sequence: int = 1
    ack: int = 1
    payload: int = 0
    window: int = 1 << 20
    flags: int = 0x10
    sack: tuple[int, int] | None = None
    copies: int = 0


@dataclass
class Script:
    """One flow; A opens it. ``rtt_s`` is the round trip of a packet that waits nowhere. [s]"""

    rtt_s: float
    port: int = 40000
    server_port: int = 9000
    mss: int = MSS
    hosts: tuple[str, str] = ("192.0.2.1", "198.51.100.2")
    stamped: bool = True
    window: int = 1 << 20
    """What B offers when the connection opens. [byte]"""
    packets: list[Packet] = field(default_factory=list)

    def open(self, at_s: float = 0.0, *, lost_syns: Sequence[float] = ()) -> float:
        """Add SYNs that are lost, each with the wait behind it, and a handshake; return its end."""
        for wait_s in lost_syns:
            self.packets.append(Packet(at_s, LOST, A, sequence=0, ack=0, flags=w.SYN))
            at_s += wait_s
        half = self.rtt_s / 2
        self.packets += [
            Packet(at_s, at_s + half, A, sequence=0, ack=0, flags=w.SYN),
            Packet(at_s + half, at_s + 2 * half, B, sequence=0, flags=w.SYN | w.ACK,
                   window=self.window),
            Packet(at_s + 2 * half, at_s + 3 * half, A),
        ]  # fmt: skip
        return at_s + 2 * half

    def send(self, at_s: float, end: str = A, **more) -> float:
        """Add a packet that takes half a round trip, unless it says otherwise; return its end."""
        more.setdefault("came_s", at_s + self.rtt_s / 2)
        packet = Packet(at_s, more.pop("came_s"), end, **more)
        self.packets.append(packet)
        return packet.came_s

    def transfer(
        self,
        begin_s: float,
        segments: int,
        *,
        window: Callable[[int], int],
        offered: int = 1 << 20,
        line_bps: float = 1e9,
        back_bps: float = 1e9,
        end: str = A,
        first: int = 1,
        wait_s: Callable[[int], float] = lambda number: 0.0,
    ) -> float:
        """Add segments through a line and their acknowledgements; return when the last one came.

        With ``window(k)`` segments under way after ``k`` acknowledgements. Every segment is
        acknowledged at once; acknowledgements pass a line of ``back_bps``. ``wait_s`` is how long
        the program waits before a segment.
        """
        peer = B if end == A else A
        acks, acked, left_s, back_s, sent_s = [], 0, -1.0, -1.0, begin_s
        for number in range(segments):
            while number >= acked + window(acked):
                acked += 1
            allowed_s = acks[acked - 1] if acked else begin_s
            sent_s = max(sent_s + 2e-6, allowed_s + 1e-5, begin_s) + wait_s(number)
            while acked < len(acks) and acks[acked] <= sent_s:
                acked += 1
            left_s = max(left_s, sent_s) + 8 * (self.mss + HEADERS) / line_bps
            came_s = left_s + self.rtt_s / 2
            sequence = first + number * self.mss
            self.send(sent_s, end, sequence=sequence, payload=self.mss, came_s=came_s)
            back_s = max(back_s, came_s) + 8 * HEADERS / back_bps
            acks.append(back_s + self.rtt_s / 2)
            self.send(came_s, peer, ack=sequence + self.mss, window=offered, came_s=acks[-1])
        return acks[-1]

    def seen(self, place: str) -> list[tuple[float, Packet]]:
        """Return the packets that a capture at one end has, with their times there."""
        rows = [(p.sent_s if p.end == place else p.came_s, p) for p in self.packets]
        rows += [(p.came_s + 1e-4, p) for _, p in rows for _ in range(p.copies) if p.end != place]
        return sorted((row for row in rows if row[0] < LOST), key=lambda row: row[0])

    def frames(self, place: str, *, shift_s: float = 0.0) -> list[tuple[int, bytes, int]]:
        """Return the packets of a capture at one end: time, headers, and length of the whole."""
        sent = sorted(self.packets, key=lambda p: p.sent_s)
        own = {side: [p for p in sent if p.end == side] for side in (A, B)}
        numbers = {id(p): number for side in (A, B) for number, p in enumerate(own[side])}
        echoes = self._echoes() if self.stamped else {}
        return [
            (round((time_s + shift_s) * 1e9) + w.START_NS, *self._frame(p, numbers[id(p)], echoes))
            for time_s, p in self.seen(place)
        ]

    def _echoes(self) -> dict[int, int]:
        """Return the stamp that each packet echoes: the last one that its sender had seen."""
        came = {
            side: sorted((p.came_s, p.sent_s) for p in self.packets if p.end == side)
            for side in (A, B)
        }
        echoes, at = {}, {A: 0, B: 0}
        for p in sorted(self.packets, key=lambda p: p.sent_s):
            peer = B if p.end == A else A
            while at[peer] < len(came[peer]) and came[peer][at[peer]][0] <= p.sent_s:
                at[peer] += 1
            echoes[id(p)] = _stamp(came[peer][at[peer] - 1][1]) if at[peer] else 0
        return echoes

    def _frame(self, p: Packet, number: int, echoes: dict[int, int]) -> tuple[bytes, int]:
        own, peer = (1000, 5000) if p.end == A else (5000, 1000)
        ports = (self.port, self.server_port)
        ends = self.hosts
        if p.end == B:
            ports, ends = ports[::-1], ends[::-1]
        options = b""
        if p.flags & w.SYN:
            options += struct.pack("!BBHBBBB", 2, 4, self.mss + 12, 1, 3, 3, SCALE)
        if self.stamped:
            options += w.timestamps(_stamp(p.sent_s), echoes[id(p)])
        if p.sack:
            options += struct.pack("!BBBBII", 1, 1, 5, 10, *(peer + edge for edge in p.sack))
        window = min(p.window >> (0 if p.flags & w.SYN else SCALE), 65535)
        acked = peer + p.ack if p.flags & w.ACK else 0
        segment = w.tcp(ports, own + p.sequence, acked, p.flags, window, options)
        total = 20 + len(segment) + p.payload
        frame = w.ethernet(w.ipv4(segment, 6, *ends, total=total, id=1 + number % 65535), 0x0800)
        return frame, 14 + total

    def trace(self, place: str, **more) -> PacketTrace:
        """Return the trace of a capture at one end."""
        return trace_of(self.frames(place, **more))


def _stamp(time_s: float) -> int:
    return int(1e3 * time_s) + 7000


def file_of(
    frames: Sequence[tuple[int, bytes, int]], *, snap: int = 65535, ordered: bool = True
) -> bytes:
    """Return packets as a capture file, in the order of their times or in their own."""
    capture = w.Capture()
    for time_ns, frame, size in sorted(frames, key=lambda row: row[0]) if ordered else frames:
        capture.add(time_ns, frame, size)
    return capture.pcap(nano=True, snap=snap)


def trace_of(frames: Sequence[tuple[int, bytes, int]], **more) -> PacketTrace:
    """Return packets as a trace, read from a file of them."""
    return read_capture(file_of(frames, **more))
