"""Several links in series, with the nodes between them, in virtual time.

>>> from netcalc.path import Link, Path
>>> path = Path.parse("T1 5 ms, T1 1 ms")
>>> run = simulate(path, packet_bytes=[1428], sent_s=[0.0])
>>> round(float(run.received_s[0]), 6), round(float(path.one_way_s(1428)), 6)
(0.020798, 0.020798)

Where no link reorders, a packet goes through all of them when it is pushed, in computed time: no
later packet can overtake it, so its times are final. Then a chain of many links wakes its driver
once a packet, as one link does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netcalc.emulation.events import Events
from netcalc.emulation.queue import LinkQueue
from netcalc.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from netcalc.path import Link, Path


class Chain:
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

    def push(self, packet: Any, now_s: float, packet_bytes: int | None = None) -> None:
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

    def pop_ready(self, now_s: float) -> list[Any]:
        """Return the packets that have arrived at the far end."""
        return [packet for _, packet in self.take(now_s)]

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
    if link.framing == "none":
        return {}
    return {
        "overhead_bytes": int(link.overhead_bytes),
        "min_wire_bytes": int(link.min_wire_bytes),
    }


def chain_of(path: Path, **settings: Any) -> Chain:
    """Make the chain of a path in one direction.

    The settings are those of :func:`netcalc.emulation.link_settings`.
    """
    return Chain([LinkQueue(**link) for link in link_settings(path, **settings)])


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
