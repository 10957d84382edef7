"""Several links in series, with the nodes between them, in virtual time.

>>> from netcalc.path import Link, Path
>>> path = Path.parse("T1 5 ms, T1 1 ms")
>>> run = simulate(path, packet_bytes=[1428], sent_s=[0.0])
>>> round(float(run.received_s[0]), 6), round(float(path.one_way_s(1428)), 6)
(0.020798, 0.020798)

Where no link reorders, a packet goes through all of them when it is pushed, in computed time: no
later packet can overtake it, so its times are final. Then a chain of many links wakes its driver
once a packet, as one link does.

A :class:`JoinedChain` also takes packets at the nodes between its links, such as a router's answers
to those that expire there.
"""

from __future__ import annotations

import heapq
import math
from bisect import insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from netcalc.emulation.queue import Events, LinkQueue, Size, Taken
from netcalc.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from netcalc.path import Link, Path


class Chain(Taken):
    """Links in series: a packet that leaves one enters the next.

    Parameters
    ----------
    links : sequence of LinkQueue
        At least one.
    """

    def __init__(self, links: Sequence[LinkQueue]) -> None:
        self.links = tuple(links)
        if not self.links:
            raise DomainError("no-links", "links", [])
        self._stops = [index for index, link in enumerate(self.links) if not link.in_order]

    def push(self, packet: Any, now_s: float, packet_bytes: Size = None) -> None:
        """Take a packet."""
        size = len(packet) if packet_bytes is None else packet_bytes
        links = self.links
        links[0].push((packet, size), now_s, size)
        if len(links) > 1:
            self._advance(0, now_s)

    def take(self, now_s: float) -> list[tuple[float, Any]]:
        """Return the packets that have arrived at the far end, with their times."""
        for index in self._stops:
            self._advance(index, now_s)
        return [(when_s, item[0]) for when_s, item in self.links[-1].take(now_s)]

    def next_event_s(self) -> float | None:
        """Return when a packet has to be moved or taken next, or None."""
        due_s = self.links[-1].next_event_s()
        if not self._stops:
            return due_s
        times = [due_s, *(self.links[index].next_event_s() for index in self._stops)]
        return min((time_s for time_s in times if time_s is not None), default=None)

    @property
    def counters(self) -> list[dict[str, int]]:
        """The counters of each link."""
        return [link.counters for link in self.links]

    def events(self) -> Events:
        """Return the log of all links."""
        return Events.concatenate([link.log.events(index) for index, link in enumerate(self.links)])

    def _advance(self, index: int, now_s: float) -> None:
        """Move packets to the next links, as far as no later packet can overtake them."""
        last = len(self.links) - 1
        while index < last:
            link = self.links[index]
            following = self.links[index + 1]
            for when_s, item in link.take(math.inf if link.in_order else now_s):
                following.push(item, when_s, item[1])
            index += 1


def link_settings(
    path: Path,
    *,
    seed: int = 0,
    log: bool = True,
    faults: Mapping[int, Mapping[str, Any]] | None = None,
    turns_round: bool = False,
    **every: Any,
) -> list[dict[str, Any]]:
    """Return the parameters of a :class:`LinkQueue` for each link of a path.

    The destination's processing is a last link without latency, unless the destination
    ``turns_round`` and its processing counts on the way back, as in ``Path.rtt_s``. ``every``
    applies to each link, its ``input_packets`` to each node; ``faults`` to one link, by its index.
    """
    hops = path.hops
    nodes = (path.source_processing_s, *(hop.processing_s for hop in hops))
    settings = [
        {
            "bandwidth_bps": hop.link.bandwidth_bps,
            "latency_s": hop.link.latency_s,
            "processing_s": nodes[index],
            "seed": seed * 1000 + index,
            "log": log,
            **_framing(hop.link),
            **every,
            **(faults or {}).get(index, {}),
        }
        for index, hop in enumerate(hops)
    ]
    if unknown := set(faults or {}) - set(range(len(hops))):
        raise DomainError("no-such-link", "faults", sorted(unknown), high=len(hops) - 1)
    if nodes[-1] and not turns_round:
        last = {"bandwidth_bps": math.inf, "processing_s": nodes[-1], "log": log}
        settings.append({**last, "input_packets": every.get("input_packets")})
    return settings


def _framing(link: Link) -> dict[str, int]:
    """Return what the framing of a link adds to packets; a link without one says nothing."""
    names = () if link.framing == "none" else ("overhead_bytes", "min_wire_bytes")
    return {name: int(getattr(link, name)) for name in names}


def chain_of(path: Path, **settings: Any) -> Chain:
    """Make the chain of a path in one direction.

    The settings are the arguments of :func:`netcalc.emulation.link_settings`.
    """
    return Chain([LinkQueue(**link) for link in link_settings(path, **settings)])


def set_values(path: Path) -> dict[str, Any]:
    """Return the parameters of a path as they were set, for the samples of a run."""
    return {
        "bandwidths_bps": [link.bandwidth_bps for link in path.links],
        "latencies_s": [link.latency_s for link in path.links],
        **path.noted_framings(),
        "processings_s": [path.source_processing_s, *(hop.processing_s for hop in path.hops)],
    }


def both_directions(
    path: Path,
    *,
    there: Mapping[str, Any] | None = None,
    back: Mapping[str, Any] | None = None,
    **settings: Any,
) -> tuple[list[Any], list[Any]]:
    """Return the link parameters there and back, so that a round trip takes ``path.rtt_s``.

    The first end's processing counts when it sends and when it receives, the other end's once.
    ``there`` and ``back`` apply to every link of one direction, before ``faults``.
    """
    faults = settings.pop("faults", None) or {}
    mirrored = {len(path.hops) - 1 - index: fault for index, fault in faults.items()}
    seed = settings.pop("seed", 0)
    one_way, other_way = {**settings, **(there or {})}, {**settings, **(back or {})}
    return (
        link_settings(path, turns_round=True, seed=2 * seed, faults=faults, **one_way),
        link_settings(path.reverse, seed=2 * seed + 1, faults=mirrored, **other_way),
    )


@dataclass(frozen=True, eq=False)
class Simulated:
    """The packets of a chain in virtual time.

    Parameters
    ----------
    received_s : array
        When each packet was complete at the far end; nan if it never was. [s]
    received_count : array
        How often each arrived.
    events : Events
        The log of all links.
    counters : list of dict
        The counters of each link.
    """

    received_s: NDArray[np.float64]
    received_count: NDArray[np.int64]
    events: Events
    counters: list[dict[str, int]]


def simulate(
    path: Path,
    *,
    packet_bytes: ArrayLike,
    sent_s: ArrayLike,
    **settings: Any,
) -> Simulated:
    """Send packets through the chain of a path in virtual time.

    Parameters
    ----------
    path : Path
        The links and nodes.
    packet_bytes : array_like
        Size of each packet, or one for all. [byte]
    sent_s : array_like
        When the sending host gets each, in ascending order. [s]
    settings : dict
        As in :func:`netcalc.emulation.link_settings`: buffers, faults, ``seed``.

    Returns
    -------
    Simulated
        Times and log; the same seed gives the same ones.

    Raises
    ------
    DomainError
        If times are not in order, or a size or setting is not possible.
    """
    import numpy as np

    times = np.atleast_1d(np.asarray(sent_s, dtype=float))
    sizes = np.broadcast_to(np.asarray(packet_bytes), times.shape)
    if times.ndim != 1 or not np.isfinite(times).all() or (np.diff(times) < 0).any():
        raise DomainError("not-sorted-times", "sent_s")
    if (sizes < 0).any() or (sizes != np.floor(sizes)).any():
        bad = sizes[(sizes < 0) | (sizes != np.floor(sizes))]
        raise DomainError("not-whole", "packet_bytes", bad[0].item(), low=0)
    line = chain_of(path, **settings)
    received_s, count = np.full(times.size, np.nan), np.zeros(times.size, int)

    def receive(until_s: float) -> None:
        while (next_s := line.next_event_s()) is not None and next_s <= until_s:
            for when_s, number in line.take(next_s):
                if not count[number]:
                    received_s[number] = when_s
                count[number] += 1

    for number, (now_s, size) in enumerate(zip(times.tolist(), sizes.tolist(), strict=True)):
        receive(now_s)
        line.push(number, now_s, int(size))
    receive(math.inf)
    return Simulated(received_s, count, line.events(), line.counters)


_Item = tuple[Any, int, int | None]  # packet, its bytes, the node where it ends


class JoinedChain(Chain):
    """Links in series, made from the parameters of each, where packets may enter at any of them.

    A :class:`Chain` computes a packet through all links when it is pushed. That is right as long as
    packets enter at the first link only. A router's answer enters at a middle one, ahead of all
    packets that reach that link later, even if they were pushed long ago. So here each packet stays
    on its link until the time it leaves it. The driver does not wake for each of these steps: it
    looks when the first packet could arrive if it never had to wait, and then catches up, link by
    link.
    """

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
        packet_bytes: Size = None,
        *,
        first: int = 0,
        ends_at: int | None = None,
    ) -> None:
        """Take a packet.

        ``first`` is the link that it enters; with ``ends_at`` it is not delivered but expires at
        that node, where node 1 is the one between the first two links. The time may lie in the
        past, but not before the last packet entered the same link.
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
