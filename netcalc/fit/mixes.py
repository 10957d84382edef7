"""Further measurements that distinguish the mixes of links that fit one round-trip time.

>>> from netcalc.models.delays.path_mixes import path_mixes
>>> kinds = [1.544e6, 10e6, 45e6]
>>> found = path_mixes(0.187, bandwidth_bps=kinds, link_count=[12, 13], packet_bytes=1428,
...     base_rtt_s=0.092)
>>> apart = separations(found, bandwidth_bps=kinds, packet_bytes=1428, resolution_s=2e-3)
>>> [(one.measurement, one.group_count) for one in apart[2:4]]
[('packet pairs', 1), ('traceroute', 2)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, named_arguments
from netcalc.language import phrase, term
from netcalc.models.delays.path_mixes import PathMixes
from netcalc.units import show


@dataclass(frozen=True, slots=True)
class Separation:
    """How well one further measurement distinguishes mixes of links.

    Parameters
    ----------
    measurement : str
        The measurement.
    group_count : int
        Number of groups that it distinguishes. [1]
    largest_count : int
        Number of mixes in the largest group, which are left in the worst case. [1]
    why : str
        The property of a path that it measures.
    """

    measurement: str
    group_count: int
    largest_count: int
    why: str

    def texts(self) -> tuple[str, ...]:
        """Return the cells of a table with :data:`SEPARATION_HEADINGS`."""
        return (self.measurement, str(self.group_count), str(self.largest_count), self.why)


SEPARATION_HEADINGS = (term("measurement"), term("groups"), term("largest"), term("measures"))
"""Headings of a table of separations."""


@named_arguments
def separations(
    mixes: PathMixes,
    *,
    bandwidth_bps: ArrayLike,
    packet_bytes: float,
    resolution_s: float,
    other_bytes: float = 1500.0,
) -> tuple[Separation, ...]:
    """Return how well further measurements distinguish the mixes that fit one round-trip time.

    Parameters
    ----------
    mixes : PathMixes
        The mixes found by :func:`netcalc.models.delays.path_mixes.path_mixes`.
    bandwidth_bps : 1-D array_like
        Rate of each kind of link, in the order of the mixes. [bit/s]
    packet_bytes : float
        Size of the packet that was timed. [byte]
    resolution_s : float
        Smallest difference of round-trip times that can be measured. [s]
    other_bytes : float
        Size of a second packet. [byte]

    Returns
    -------
    tuple of Separation
        The measurements, each with its number of groups.
    """
    counts = np.asarray(mixes.link_count)
    rates = np.atleast_1d(np.asarray(bandwidth_bps, dtype=float))
    if not counts.size:
        return ()
    used = np.where(counts > 0, rates, np.inf)
    slowest, number = used.min(axis=1), counts.sum(axis=1)
    again = _steps(mixes.rtt_s, resolution_s)
    other = _steps(mixes.rtt_s * (other_bytes / packet_bytes), resolution_s)
    size, time = show(other_bytes, "byte"), show(resolution_s, "s")
    return (
        _separation(
            phrase("the same size again, to {time}", time=time),
            [again],
            phrase("the sum of 1/rate"),
        ),
        _separation(
            phrase("another size, {size}, to {time}", size=size, time=time),
            [other],
            phrase("the sum of 1/rate"),
        ),
        _separation(phrase("packet pairs"), [slowest], phrase("the bottleneck link")),
        _separation("traceroute", [number], phrase("the number of links")),
        _separation(
            phrase("packet pairs and traceroute"),
            [slowest, number],
            phrase("the bottleneck link and the number of links"),
        ),
        _separation(phrase("traceroute with sizes"), list(counts.T), phrase("each link")),
    )


def _steps(times_s: FloatArray, resolution_s: float) -> FloatArray:
    """Number groups of times; a gap larger than the resolution begins a new group."""
    order = np.argsort(times_s, kind="stable")
    steps = np.concatenate(([0], np.cumsum(np.diff(times_s[order]) > resolution_s)))
    numbers = np.empty(times_s.size)
    numbers[order] = steps
    return numbers


def _separation(measurement: str, seen: list[Any], why: str) -> Separation:
    _, sizes = np.unique(np.column_stack(seen), axis=0, return_counts=True)
    return Separation(measurement, int(sizes.size), int(sizes.max()), why)
