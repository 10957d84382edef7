"""A network as facts: links, the nodes between them, and a path from host to host.

>>> path = Path.parse("T1 5 ms, T1 1 ms", processing_s=0.001, source_processing_s=0.001,
...     destination_processing_s=0.001)
>>> round(float(path.one_way_s(1428)), 4)
0.0238
>>> path.bottleneck_bps
1544000.0

All of it is frozen; the methods only hand the fields to ``netcalc.models``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks, units
from netcalc.errors import ArgumentTypeError, DomainError, NetcalcError, UnitError, doubts
from netcalc.messages import Notice
from netcalc.models.delays import latency, store_and_forward
from netcalc.models.delays.store_and_forward import Timeline
from netcalc.models.sizes.headers import (
    FCS_BYTES,
    MAC_HEADER_BYTES,
    MIN_FRAME_BYTES,
    PREAMBLE_AND_GAP_BYTES,
)
from netcalc.printable import excerpt, safe_repr, safe_str

__all__ = [
    "Framing", "Hop", "Link", "Path", "latency_reading",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

Framing: TypeAlias = Literal["none", "ethernet"]
"""What a line adds to a packet."""

_LONGEST_TEXT = 80
"""Longest text of all links that ``print(path)`` writes, so that it is a line. [character]"""
_ETHERNET_BYTES = MAC_HEADER_BYTES + FCS_BYTES + PREAMBLE_AND_GAP_BYTES
_FRAMINGS: Mapping[str, tuple[float, float]] = {
    "none": (0.0, 0.0),
    "ethernet": (_ETHERNET_BYTES, MIN_FRAME_BYTES + PREAMBLE_AND_GAP_BYTES),
}
"""What each framing adds to a packet, and the least that a packet takes with it. [byte]"""
_LIGHT_YEAR_S = 365.25 * 86400.0
"""Latency of a light year, beyond which there is no path. [s]"""
_ROUND_TRIP = r"\b(?:rtt|round[ -]?trip(?:[ -]time)?|ping)\b"
_ONE_WAY = r"\b(?:one[ -]?way(?:[ -](?:delay|latency))?|owd)\b"
_MEANING = re.compile(f"(?P<round_trip>{_ROUND_TRIP})|{_ONE_WAY}", re.IGNORECASE)
"""Words that say which latency a time is."""
_TIME = r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?\s*[a-zµμ]*"
_LINKS = re.compile(rf"[;,](?!\d)(?!\s*(?:{_ROUND_TRIP}|{_ONE_WAY}))", re.IGNORECASE)
"""What separates links: a comma between digits is a decimal one."""


@checks.named_arguments
@dataclass(frozen=True, slots=True)
class Link:
    """A link: its rate and its one-way latency.

    Parameters
    ----------
    bandwidth_bps : float
        Rate, the same in both directions. [bit/s]
    latency_s : float
        One-way latency. [s]
    name : str
        What to call it in figures.
    framing : {'none', 'ethernet'}
        What the line adds to a packet: nothing, or Ethernet's header, FCS, preamble and gap, after
        padding to the smallest frame.

    Examples
    --------
    Pings of 8 and of 18 bytes are equal on Ethernet: both are padded to its smallest frame.

    >>> lan = Link(10e6, framing="ethernet")
    >>> (lan.serialization_s([36, 46, 1428]) * 1e6).round(1).tolist()
    [67.2, 67.2, 1172.8]
    """

    bandwidth_bps: float
    latency_s: float = 0.0
    name: str = ""
    framing: Framing = "none"

    def __post_init__(self) -> None:
        checks.choice("framing", self.framing, ("none", "ethernet"))
        object.__setattr__(self, "bandwidth_bps", _scalar(checks.positive, "bandwidth_bps", self))
        object.__setattr__(self, "latency_s", _scalar(checks.non_negative, "latency_s", self))

    def __str__(self) -> str:
        """Write the link in a few words: its name, rate, framing and latency.

        Examples
        --------
        >>> print(Link.parse("T1 5 ms"))
        T1: 1.544 Mbit/s 5 ms
        >>> print(Link.parse("10 Mbit/s Ethernet"))
        10 Mbit/s Ethernet
        """
        words = [units.show(self.bandwidth_bps, "bit/s")]
        if self.name and self.name != words[0]:
            words.insert(0, f"{excerpt(safe_str(self.name), 40)}:")
        words += ["Ethernet"] if self.framing == "ethernet" else []
        words += [units.show(self.latency_s, "s")] if self.latency_s else []
        return " ".join(words)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a link from a rate and, if there is one, a latency: one way, or as ``rtt 80 ms``.

        Examples
        --------
        >>> Link.parse("T1, 5 ms")
        Link(bandwidth_bps=1544000.0, latency_s=0.005, name='T1', framing='none')
        >>> Link.parse("10 Mbit/s")
        Link(bandwidth_bps=10000000.0, latency_s=0.0, name='10 Mbit/s', framing='none')
        >>> Link.parse("10 Mbit/s Ethernet 1 ms").framing
        'ethernet'
        >>> Link.parse("10G rtt 80ms").latency_s
        0.04

        Raises
        ------
        UnitError
            If there are two times, or a round trip without one.
        DomainError
            If the latency is negative, or that of more than a light year.
        """
        bare, removed = re.subn(r"\bethernet\b", " ", safe_str(text), flags=re.IGNORECASE)
        rate, time, is_round_trip = _split_link(bare)
        delay = units.parse_typed(time, "s", field="latency") if time else 0.0
        if checks.non_negative("latency_s", delay) > _LIGHT_YEAR_S * (1 + is_round_trip):
            raise DomainError("beyond-light-year", "latency_s", delay)
        delay /= 1 + is_round_trip
        bandwidth_bps = units.parse_typed(rate, "bit/s", field="link rate")
        return cls(bandwidth_bps, delay, rate, "ethernet" if removed else "none")

    def wire_bytes(self, packet_bytes: ArrayLike) -> checks.FloatArray:
        """What a packet takes on the link. [byte]"""
        return np.maximum(
            checks.non_negative("packet_bytes", packet_bytes) + self.overhead_bytes,
            self.min_wire_bytes,
        )

    @property
    def overhead_bytes(self) -> float:
        """What the framing adds to a packet. [byte]"""
        return _FRAMINGS[self.framing][0]

    @property
    def min_wire_bytes(self) -> float:
        """The least that a packet takes on the link. [byte]"""
        return _FRAMINGS[self.framing][1]

    def serialization_s(self, packet_bytes: ArrayLike) -> checks.FloatArray:
        """Time to clock a packet onto the link. [s]"""
        wire_bytes = self.wire_bytes(packet_bytes)
        return latency.serialization_s(wire_bytes, bandwidth_bps=self.bandwidth_bps)

    def transfer_s(self, payload_bytes: ArrayLike) -> checks.FloatArray:
        """Time from the first bit of one packet sent to the last received. [s]"""
        return latency.transfer_s(
            self.wire_bytes(payload_bytes),
            bandwidth_bps=self.bandwidth_bps,
            latency_s=self.latency_s,
        )

    def half_rate_bytes(self) -> float:
        """Size at which latency and serialization take the same time. [byte]"""
        return latency.half_rate_bytes(self.latency_s, bandwidth_bps=self.bandwidth_bps)


@checks.named_arguments
@dataclass(frozen=True, slots=True)
class Hop:
    """A link and the node it leads to.

    Parameters
    ----------
    link : Link
        The line.
    processing_s : float
        Time the node at its far end takes for a packet, from last bit in to first bit out. [s]
    """

    link: Link
    processing_s: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "processing_s", _scalar(checks.non_negative, "processing_s", self))

    def __str__(self) -> str:
        """Write the link, and the time of the node if it takes any."""
        return f"{self.link}{_processing_text(self.processing_s)}"


@checks.named_arguments
@dataclass(frozen=True, slots=True)
class Path:
    """Hops from one host to another; the last hop's node is the destination.

    Parameters
    ----------
    hops : tuple of Hop
        At least one.
    source_processing_s : float
        Time the sending host takes for a packet. [s]
    """

    hops: tuple[Hop, ...]
    source_processing_s: float = 0.0

    def __post_init__(self) -> None:
        hops: object = self.hops
        if isinstance(hops, str) or not isinstance(hops, Iterable):
            raise ArgumentTypeError("not-hops", "hops", value=hops)
        try:
            object.__setattr__(self, "hops", tuple(self.hops))
        except Exception as error:  # an array of one number has a length of nothing
            raise ArgumentTypeError("not-hops", "hops", value=hops) from error
        if not self.hops:
            raise DomainError("no-hops", "hops", "an empty list")
        for hop in self.hops:
            if not isinstance(hop, Hop):
                raise ArgumentTypeError("not-hops", "hops", value=hop)
        source = _scalar(checks.non_negative, "source_processing_s", self)
        object.__setattr__(self, "source_processing_s", source)

    def __str__(self) -> str:
        """Write the links in one line, equal neighbours together; many as what they are in sum.

        Examples
        --------
        >>> print(Path.parse("T1 5 ms, 3 x 100 Mbit/s 1 ms", processing_s=0.001))
        T1: 1.544 Mbit/s 5 ms, 3 x 100 Mbit/s 1 ms, processing 3 ms
        """
        runs = [(str(link), len(list(same))) for link, same in groupby(self.links)]
        text = ", ".join(f"{count} x {link}" if count > 1 else link for link, count in runs)
        if len(text) > _LONGEST_TEXT:
            rate, time = units.show(self.bottleneck_bps, "bit/s"), units.show(self.latency_s, "s")
            text = f"{len(self.hops)} links, slowest {rate}, latency {time}"
        return text + _processing_text(self.processing_s)

    @classmethod
    @checks.named_arguments
    def of(
        cls,
        links: Sequence[Link],
        *,
        processing_s: float = 0.0,
        source_processing_s: float = 0.0,
        destination_processing_s: float = 0.0,
    ) -> Self:
        """Make a path of links with nodes that are all alike.

        Examples
        --------
        >>> len(Path.of([Link(1.544e6)] * 10, processing_s=0.0005).hops)
        10
        """
        listed: object = links
        try:
            if isinstance(listed, str) or not isinstance(listed, Iterable):
                raise TypeError
            links = list(listed)
        except TypeError as error:  # an array of one number has no elements
            raise ArgumentTypeError(
                "not-of-class", "links", value=listed, expected="a list of Link"
            ) from error
        last = len(links) - 1
        return cls(
            tuple(
                Hop(link, destination_processing_s if index == last else processing_s)
                for index, link in enumerate(links)
            ),
            source_processing_s,
        )

    @classmethod
    @checks.named_arguments
    def parse(
        cls,
        text: str,
        *,
        processing_s: float = 0.0,
        source_processing_s: float = 0.0,
        destination_processing_s: float = 0.0,
    ) -> Self:
        """Read a path from links between commas; ``6 x T1 1 ms`` repeats one.

        Examples
        --------
        >>> [link.name for link in Path.parse("2 x T1 1 ms, 10 Mbit/s").links]
        ['T1', 'T1', '10 Mbit/s']
        """
        links: list[Link] = []
        for part in _LINKS.split(safe_str(text)):
            repeated = re.fullmatch(r"\s*(\d+)\s*[x×*]\s*(.+)", part, re.DOTALL)
            count, hop = (int(repeated[1]), repeated[2]) if repeated else (1, part)
            if not 1 <= count <= 1000:
                raise DomainError("out-of-range", "number of links", count, low=1, high=1000)
            links += [Link.parse(hop)] * count
        return cls.of(
            links,
            processing_s=processing_s,
            source_processing_s=source_processing_s,
            destination_processing_s=destination_processing_s,
        )

    @classmethod
    def from_truth(cls, truth: Mapping[str, Any] | None) -> Self:
        """Return the emulated path of a live run, from its record.

        Raises
        ------
        DomainError
            If it recorded none: the run was not over an emulated path.

        Examples
        --------
        >>> Path.from_truth({"bandwidths_bps": [1e6], "latencies_s": [0.001],
        ...     "processings_s": [0.0, 0.002]}).processing_s
        0.002
        """
        if truth is None:
            raise DomainError("path-not-recorded", "truth")
        try:
            source_s, *nodes_s = truth["processings_s"]
            facts = zip(truth["bandwidths_bps"], truth["latencies_s"], strict=True)
            links = [Link(*fact) for fact in facts]
            framings = truth.get("framings", ["none"] * len(links))  # noted where there is one
            links = [
                replace(link, framing=framing)
                for link, framing in zip(links, framings, strict=True)
            ]
            hops = tuple(Hop(*pair) for pair in zip(links, nodes_s, strict=True))
        except NetcalcError:
            raise
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise DomainError("path-record-damaged", "truth", safe_repr(truth)) from error
        return cls(hops, source_s)

    def until(self, hop: int) -> Path:
        """Return the part of the path that ends at a node, 1 being the first.

        Examples
        --------
        >>> Path.parse("T1, T3, 10 Mbit/s").until(2).bottleneck_bps
        1544000.0
        """
        number = checks.scalar("hop", checks.as_float("hop", hop))
        if number != np.floor(number):
            raise DomainError("not-whole", "hop", number, low=1)
        if not 1 <= number <= len(self.hops):
            raise DomainError("out-of-range", "hop", number, low=1, high=len(self.hops))
        return Path(self.hops[: int(number)], self.source_processing_s)

    def noted_framings(self) -> dict[str, list[Framing]]:
        """Return the framing of each link for the record of a run, if any link has one."""
        framings = [link.framing for link in self.links]
        return {"framings": framings} if set(framings) != {"none"} else {}

    @property
    def links(self) -> tuple[Link, ...]:
        """The links in order."""
        return tuple(hop.link for hop in self.hops)

    @property
    def text(self) -> str:
        """The links as :meth:`parse` reads them, without the time of the nodes.

        Examples
        --------
        >>> Path.of([Link(1.544e6, 0.005), Link(1e7)]).text
        '1.544 Mbit/s 5 ms, 10 Mbit/s 0 s'
        """
        return ", ".join(
            f"{units.show(link.bandwidth_bps, 'bit/s', digits=12)} "
            f"{'Ethernet ' if link.framing == 'ethernet' else ''}"
            f"{units.show(link.latency_s, 's', digits=12)}"
            for link in self.links
        )

    def same_lines(self, other: Path) -> bool:
        """Whether another path has the same links, whatever their names and its nodes."""
        return [replace(link, name="") for link in self.links] == [
            replace(link, name="") for link in other.links
        ]

    @property
    def reverse(self) -> Path:
        """The same path from the other end."""
        nodes = (self.source_processing_s, *(hop.processing_s for hop in self.hops))[::-1]
        return Path(tuple(map(Hop, self.links[::-1], nodes[1:])), nodes[0])

    @property
    def bottleneck_bps(self) -> float:
        """Rate of the slowest link, at which a long train arrives. [bit/s]"""
        return min(link.bandwidth_bps for link in self.links)

    @property
    def equivalent_bps(self) -> float:
        """Rate of the one line that takes as long for a packet. [bit/s]"""
        return float(store_and_forward.equivalent_bandwidth_bps(self._rates()))

    @property
    def latency_s(self) -> float:
        """One-way latency of all links, without processing. [s]"""
        return float(sum(link.latency_s for link in self.links))

    @property
    def processing_s(self) -> float:
        """Processing of all nodes, both hosts included. [s]"""
        return self.source_processing_s + float(sum(hop.processing_s for hop in self.hops))

    def one_way_s(
        self, packet_bytes: ArrayLike, *, packet_count: ArrayLike = 1
    ) -> checks.FloatArray:
        """Time until the last of a train of equal packets is complete at the far end. [s]

        Every node processes one packet at a time.
        """
        with doubts():  # which meaning of processing it is, is said here
            return store_and_forward.store_and_forward_s(
                packet_bytes,
                bandwidth_bps=self._rates(),
                latency_s=self._latencies(),
                processing_s=self._between(),
                source_processing_s=self.source_processing_s,
                destination_processing_s=self.hops[-1].processing_s,
                packet_count=packet_count,
                overhead_bytes=self._overheads(),
                min_wire_bytes=self._least(),
            )

    def rtt_s(
        self, packet_bytes: ArrayLike, *, reply_bytes: ArrayLike | None = None
    ) -> checks.FloatArray:
        """Round trip of one packet and its reply, of the same size by default. [s]

        The destination turns the packet round in its processing time, which counts once; so does
        the source's at each end of the exchange.
        """
        reply = packet_bytes if reply_bytes is None else reply_bytes
        there, back = self.one_way_s(packet_bytes), self.reverse.one_way_s(reply)
        return there + back - self.hops[-1].processing_s

    def timeline(self, packet_bytes: ArrayLike) -> Timeline:
        """Follow a train of packets, of any sizes, through nodes that process one at a time."""
        with doubts():
            return store_and_forward.pipeline_timeline(
                packet_bytes,
                bandwidth_bps=self._rates(),
                latency_s=self._latencies(),
                processing_s=self._between(),
                source_processing_s=self.source_processing_s,
                destination_processing_s=self.hops[-1].processing_s,
                overhead_bytes=self._overheads(),
                min_wire_bytes=self._least(),
            )

    def rate_bps(self, packet_bytes: float) -> float:
        """Rate at which a long train of such packets arrives, counted without framing. [bit/s]

        Examples
        --------
        >>> round(Path.parse("100 Mbit/s Ethernet").rate_bps(1500))
        97529259
        """
        slowest_s = max(float(link.serialization_s(packet_bytes)) for link in self.links)
        return 8.0 * packet_bytes / slowest_s

    def _overheads(self) -> list[float]:
        return [link.overhead_bytes for link in self.links]

    def _least(self) -> list[float]:
        return [link.min_wire_bytes for link in self.links]

    def _rates(self) -> list[float]:
        return [link.bandwidth_bps for link in self.links]

    def _latencies(self) -> list[float]:
        return [link.latency_s for link in self.links]

    def _between(self) -> list[float]:
        return [hop.processing_s for hop in self.hops[:-1]]


def _processing_text(time_s: float) -> str:
    return f", processing {units.show(time_s, 's')}" if time_s else ""


@checks.named_arguments
def latency_reading(text: str, path: Path) -> Notice | None:
    """Return which latency the times of a path were taken for; None if its text says one way.

    Examples
    --------
    >>> str(latency_reading("10G rtt 80ms", Path.parse("10G rtt 80ms")))
    '80 ms read as round trip: 40 ms one way'
    """
    values = {"latency_s": path.latency_s, "rtt_s": 2.0 * path.latency_s}
    if not path.latency_s:
        return None
    if re.search(_ROUND_TRIP, safe_str(text), re.IGNORECASE):
        return Notice("read-as-round-trip" if len(path.hops) == 1 else "round-trip-of-path", values)
    if re.search(_ONE_WAY, safe_str(text), re.IGNORECASE):
        return None
    return Notice("read-as-one-way" if len(path.hops) == 1 else "sum-read-as-one-way", values)


def _split_link(text: str) -> tuple[str, str, bool]:
    """Split "10 Mbit/s, 5 ms" or "rtt 80 ms 10G" into rate and latency; is that a round trip?"""
    plain = safe_str(text).strip()
    marks = list(_MEANING.finditer(plain))
    if not marks:
        rate, time = _rate_and_time(plain)
        if not time and (swapped := _leading_time(rate)) and _reads(swapped[1], "bit/s"):
            time, rate = swapped
        times = [time] if time else []
    else:
        before, after = plain[: marks[0].start()], plain[marks[0].end() :]
        before, time = _rate_and_time(before.rstrip(" ,;@+:="))
        if not time and _reads(before, "s"):
            before, time = "", before
        times = [time] if _reads(time, "s") else []
        following = _leading_time(after.lstrip(" :="))
        times += following[:1]
        rate = f"{before} {following[1] if following else after}".strip(" ,;@+")
        if not times:
            raise _refused("link-without-time", plain, word=marks[0][0])
    if len(marks) > 1 or len(times) > 1 or (times and _has_time(rate)):
        raise _refused("link-times", plain)
    if marks and not rate:
        raise _refused("link-without-rate", plain)
    return rate, times[0] if times else "", bool(marks and marks[0]["round_trip"])


def _refused(code: str, text: str, **values: str) -> UnitError:
    return UnitError(code, text, expected="a link", field="link", **values)


def _leading_time(text: str) -> list[str]:
    """Return a time in front and the rest behind it, or nothing."""
    match = re.fullmatch(rf"({_TIME})(?![\w/])\s*(.*)", text, re.IGNORECASE | re.DOTALL)
    return [match[1], match[2]] if match is not None and _reads(match[1], "s") else []


def _has_time(rate: str) -> bool:
    """Whether what should be a rate has a time in it."""
    return bool(_leading_time(rate)) or _reads(_rate_and_time(rate)[1] or "-", "s")


def _rate_and_time(text: str) -> tuple[str, str]:
    """Split "10 Mbit/s, 5 ms" or "T1 5 ms" into its rate and its latency."""
    # A comma between two digits is a decimal one.
    words, *time = re.split(r"\s*(?:[;@+]|,(?!\d)|(?<!\d),)\s*", text, maxsplit=1)
    if time:
        return words, time[0]
    match = re.fullmatch(rf"(.*\S)\s+({_TIME})", words, re.IGNORECASE | re.DOTALL)
    if match is not None and (_reads(match[2], "s") or _reads(match[1], "bit/s")):
        return match[1], match[2]
    return words, ""


def _reads(text: str, unit: str) -> bool:
    try:
        units.parse_typed(text, unit)
    except UnitError:
        return False
    return True


def _scalar(
    check: Callable[[str, ArrayLike], checks.FloatArray], name: str, holder: object
) -> float:
    value = np.asarray(check(name, getattr(holder, name)))
    if value.ndim or not np.isfinite(value):
        raise DomainError("not-one-number", name, value)
    return float(value)
