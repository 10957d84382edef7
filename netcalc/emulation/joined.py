"""A chain into which nodes send packets of their own: answers to those that expire there.

A :class:`Chain` computes a packet through all links when it is pushed. That is right as long as
packets enter at the first link only. A router's answer enters at a middle one, ahead of all packets
that reach that link later, even if they were pushed long ago. So here each packet stays on its link
until the time it leaves it. The driver does not wake for each of these steps: it looks when the
first packet could arrive if it never had to wait, and then catches up, link by link.
"""

from __future__ import annotations

import heapq
import math
from bisect import insort
from collections import deque
from operator import itemgetter
from typing import Any

from netcalc.emulation.chain import Chain
from netcalc.emulation.queue import LinkQueue

_Item = tuple[Any, int, int | None]  # packet, its bytes, the node where it ends


class JoinedChain(Chain):
    """Links in series, made from the parameters of each, where packets may enter at any of them."""

    def __init__(self, settings: list[dict[str, Any]]) -> None:
        super().__init__([LinkQueue(**link) for link in settings])
        self._expired: list[tuple[float, int, int, Any]] = []  # (when, count, node, packet), a heap
        self._expired_count = 0
        # What a link has computed; one that does not reorder keeps it in this form itself.
        self._on_way: list[deque[tuple[float, _Item]]] = [
            link.held if link.in_order else deque() for link in self.links
        ]
        self._pushed_s = [-math.inf] * len(settings)
        self._ending_count = 0  # packets in flight that will expire
        self._moves_s = math.inf  # when the next packet reaches a node
        self._due_s: float | None = None
        # Time of a packet over all links behind one if it never waits: fixed part, and per byte.
        self._rest = [(0.0, 0.0)]
        for link in reversed(settings[1:]):
            rest_s, rest_byte_s = self._rest[0]
            byte_s = 8.0 / link["bandwidth_bps"]
            rest_s += link.get("processing_s", 0.0) + link.get("latency_s", 0.0)
            rest_s += byte_s * link.get("overhead_bytes", 0)
            self._rest.insert(0, (rest_s, rest_byte_s + byte_s))

    def push(
        self,
        packet: Any,
        now_s: float,
        packet_bytes: int | None = None,
        *,
        first: int = 0,
        ends_at: int | None = None,
    ) -> None:
        """Take a packet.

        ``first`` is the link that it enters; with ``ends_at`` it is not delivered but expires at
        that node, where node 1 is the one between the first two links. The time may lie in the
        past, but not before that of the last packet of the same link.
        """
        size = len(packet) if packet_bytes is None else packet_bytes
        if first:
            self.advance(now_s)  # packets that reached this link earlier go first
        now_s = self._pushed_s[first] = max(now_s, self._pushed_s[first])
        if ends_at is None:
            self.links[first].push((packet, size, None), now_s, size)
        else:
            self._push(first, (packet, size, ends_at), now_s)
        self._collect(first, ends_at is not None)
        if self._on_way[first] and first < len(self.links) - 1:
            self._moves_s = min(self._moves_s, self._on_way[first][0][0])
        # A packet behind others arrives after them, so that the time to look next stays the same.
        if self._due_s is None or first or self._ending_count or self._stops:
            self._due_s = self._first_due_s()

    def advance(self, now_s: float) -> None:
        """Move each packet to the link that it is on at ``now_s``, but take none from the last."""
        if now_s < self._moves_s:
            return
        self._moves_s = math.inf
        on_way = self._on_way[0]
        for index in range(len(self.links) - 1):
            if on_way and on_way[0][0] <= now_s:
                push, ending = self.links[index + 1].push, False
                while on_way and on_way[0][0] <= now_s:
                    when_s, item = on_way.popleft()
                    if item[2] is None:
                        push(item, when_s, item[1])
                        continue
                    self._ending_count -= 1
                    if item[2] == index + 1:
                        self._expired_count += 1
                        entry = (when_s, self._expired_count, index + 1, item[0])
                        heapq.heappush(self._expired, entry)
                    else:
                        ending = True
                        self._push(index + 1, item, when_s)
                self._pushed_s[index + 1] = when_s
                self._collect(index + 1, ending)
            if on_way and on_way[0][0] < self._moves_s:
                self._moves_s = on_way[0][0]
            on_way = self._on_way[index + 1]
        self._due_s = self._first_due_s()

    def take(self, now_s: float) -> list[tuple[float, Any]]:
        """Return the packets that have arrived at the far end, with their times."""
        self.advance(now_s)
        taken, last = [], self._on_way[-1]
        while last and last[0][0] <= now_s:
            when_s, item = last.popleft()
            taken.append((when_s, item[0]))
        self._due_s = self._first_due_s()
        return taken

    def take_expired(self, now_s: float) -> list[tuple[float, int, Any]]:
        """Return the packets that expired: when, at which node, which one."""
        taken = []
        while self._expired and self._expired[0][0] <= now_s:
            when_s, _, node, packet = heapq.heappop(self._expired)
            taken.append((when_s, node, packet))
        if taken:
            self._due_s = self._first_due_s()
        return taken

    def next_event_s(self) -> float | None:
        """Return the first time at which a packet could arrive at the far end, or expire."""
        return self._due_s

    def _push(self, index: int, item: _Item, now_s: float) -> None:
        """Push a packet that will expire, and count it as often as it comes out again."""
        link = self.links[index]
        before_count = len(link.held)
        link.push(item, now_s, item[1])
        if link.in_order:
            self._ending_count += len(link.held) - before_count

    def _collect(self, index: int, ending: bool) -> None:
        """Take the packets that a link which reorders has computed, each with its time."""
        link = self.links[index]
        if link.in_order:
            return
        computed = link.take(math.inf)
        if ending:
            self._ending_count += sum(item[2] is not None for _, item in computed)
        for entry in computed:
            insort(self._on_way[index], entry, key=itemgetter(0))

    def _first_due_s(self) -> float | None:
        due_s = self._expired[0][0] if self._expired else math.inf
        for index in range(len(self.links) - 1, -1, -1):
            if on_way := self._on_way[index]:
                when_s, item = on_way[0]
                rest_s, rest_byte_s = self._rest[index]
                if self._ending_count:  # it may end at the next node
                    due_s = min(due_s, when_s)
                elif self._stops:  # a smaller packet may overtake it
                    due_s = min(due_s, when_s + rest_s)
                else:
                    due_s = min(due_s, when_s + rest_s + item[1] * rest_byte_s)
                    break
        return None if due_s == math.inf else due_s
