"""One scenario several ways: theory, live and ns-3, and where they part."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import choice, named_arguments
from netcalc.congestion import ns3, theory
from netcalc.congestion.quantities import averaged_over_s, document
from netcalc.congestion.result import Result
from netcalc.errors import DomainError, NetcalcError
from netcalc.rate_layers import IP, TCP_PAYLOAD, RateLayer
from netcalc.samples import json_ready
from netcalc.scenario import Scenario

WAYS = ("theory", "live", "ns3")
"""The ways to a result, in the order in which they are compared."""

LIMITS = {
    "goodput_bps": 0.10,
    "utilization": 0.03,
    "queue_mean_bytes": 0.20,
    "queue_median_bytes": 0.20,
    "request_p99_s": 0.30,
}
"""Relative differences beyond which two ways part: the aims of the theory. [ratio]"""

UNITS = {
    "goodput_bps": "bit/s", "utilization": "ratio", "queue_mean_bytes": "byte",
    "queue_median_bytes": "byte", "queue_p95_bytes": "byte", "request_p99_s": "s",
    "request_p50_s": "s", "request_mean_s": "s", "request_count": "1", "finish_s": "s",
    "rate_min_bps": "bit/s", "rate_max_bps": "bit/s", "window_mean_packets": "1",
    "window_max_packets": "1", "rtt_mean_s": "s", "probe_rtt_mean_s": "s", "drop_count": "1",
    "resent_ratio": "ratio", "jain_end": "1", "convergence_s": "s", "release_s": "s",
}  # fmt: skip
"""Quantities that are compared, with their units."""

LAYERS: dict[str, RateLayer] = {
    "rate_bps": IP, "goodput_bps": TCP_PAYLOAD, "rate_min_bps": TCP_PAYLOAD,
    "rate_max_bps": TCP_PAYLOAD,
}  # fmt: skip
"""Layers of the rates: a bottleneck forwards IP packets, and flows carry the payload of TCP."""


@dataclass(frozen=True, slots=True)
class Parting:
    """One quantity as each way has it.

    Parameters
    ----------
    quantity : str
        A name of :data:`UNITS`.
    number : int or None
        Flow or request loop, from 1.
    values : mapping of str to float
        By way; nan where it is not known.
    least : float
        Difference that never counts: half a packet of a queue. In the quantity's unit.
    cut : tuple of str
        Ways that ended early; nothing is compared with their values.
    resolution : float
        Values below it are nothing, and no relative difference from them means anything: the time
        over which rates are averaged, of times that are read off them. In the quantity's unit.
    """

    quantity: str
    number: int | None
    values: Mapping[str, float]
    least: float = 0.0
    cut: tuple[str, ...] = ()
    resolution: float = 0.0

    @property
    def limit_ratio(self) -> float | None:
        """Relative difference beyond which two ways part; None if none is set. [ratio]"""
        return LIMITS.get(self.quantity)

    def differences(self) -> dict[str, float]:
        """Return how far the first way is above each other one, relative to that one. [ratio]

        Examples
        --------
        >>> found = Parting("goodput_bps", 1, {"theory": 9e6, "ns3": 10e6}).differences()
        >>> {way: round(value, 6) for way, value in found.items()}
        {'ns3': -0.1}
        """
        return self._compare(_relative)

    def apart(self) -> dict[str, float]:
        """Return how far the first way is above each other one, in the quantity's unit.

        Examples
        --------
        >>> Parting("release_s", 1, {"theory": 0.0, "live": 0.5}).apart()
        {'live': -0.5}
        """
        return self._compare(operator.sub)

    def _compare(self, compare: Callable[[float, float], float]) -> dict[str, float]:
        (first, first_value), *others = self.values.items()
        return {
            way: np.nan if {first, way} & set(self.cut) else compare(first_value, value)
            for way, value in others
        }

    def is_relative(self, way: str) -> bool:
        """Whether the difference from a way means something as a ratio: neither value is nothing.

        Examples
        --------
        >>> Parting("release_s", 1, {"theory": 0.0, "live": 0.5}).is_relative("live")
        False
        """
        ends = np.abs([next(iter(self.values.values())), self.values[way]])
        return bool(ends.min() > 0 and ends.min() >= self.resolution)

    def beyond(self) -> tuple[str, ...]:
        """Return the ways from which the first one is further than the limit."""
        first, limit = next(iter(self.values.values())), self.limit_ratio
        if limit is None:
            return ()
        return tuple(
            way
            for way, difference in self.differences().items()
            if abs(difference) > limit + 1e-12 and abs(first - self.values[way]) > self.least
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON can hold it."""
        ready: dict[str, Any] = json_ready({
            "quantity": self.quantity, "number": self.number, "unit": UNITS[self.quantity],
            "values": dict(self.values), "relative_difference": self.differences(),
            "difference": self.apart(), "resolution": self.resolution,
            "limit_ratio": self.limit_ratio, "beyond": list(self.beyond()), "cut": list(self.cut),
        })  # fmt: skip
        return ready


@named_arguments
def evaluate(
    ways: Sequence[str], how: Mapping[str, Callable[[], Result]]
) -> tuple[list[Result], dict[str, NetcalcError]]:
    """Evaluate a scenario in several ways, and keep why one of them has no result.

    Parameters
    ----------
    ways : sequence of str
        Of :data:`WAYS`, without repetition.
    how : mapping of str to callable
        What returns the result of each way; see :func:`evaluations`.

    Returns
    -------
    results : list of Result
        In the order of :data:`WAYS`.
    absent : dict of str to NetcalcError
        Why the other ways have no result.

    Raises
    ------
    DomainError
        If no way is given, or one is unknown or repeated.
    NetcalcError
        If no way has a result: the error of the first.
    """
    if not ways:
        raise DomainError("no-ways", "by", "an empty list", choices=list(WAYS))
    for way in ways:
        choice("by", way, WAYS)
    if len(set(ways)) < len(ways):
        raise DomainError("name-in-use", "by", list(ways))
    results: list[Result] = []
    absent: dict[str, NetcalcError] = {}
    for way in (way for way in WAYS if way in ways):
        try:
            results.append(how[way]())
        except NetcalcError as error:
            absent[way] = error
    if not results:
        raise next(iter(absent.values()))
    return results, absent


@named_arguments
def evaluations(
    scenario: Scenario, *, stack: str = "ns3", python: str | None = None
) -> dict[str, Callable[[], Result]]:
    """Return what evaluates a scenario in each way.

    Parameters
    ----------
    scenario : Scenario
        What is evaluated.
    stack : str
        For theory: "ns3" or "linux".
    python : str, optional
        For ns-3: the interpreter that has it.
    """

    def by_live() -> Result:
        from netcalc.congestion import live  # late: theory needs no sockets

        return live.run(scenario)

    return {
        "theory": lambda: theory.run(scenario, stack=stack),
        "live": by_live,
        "ns3": lambda: ns3.run(scenario, python=python),
    }


@named_arguments
def stack_for(ways: Sequence[str]) -> str:
    """Return the stack of theory that fits the other ways: Linux's if only live runs are compared.

    Examples
    --------
    >>> stack_for(["theory", "live"]), stack_for(["theory", "live", "ns3"])
    ('linux', 'ns3')
    """
    return "linux" if "live" in ways and "ns3" not in ways else "ns3"


@named_arguments
def partings(results: Sequence[Result], *, cut: Sequence[str] = ()) -> tuple[Parting, ...]:
    """Compare what several ways found for one scenario.

    Parameters
    ----------
    results : sequence of Result
        Of one scenario; the first is compared with each other one.
    cut : sequence of str
        Ways that ended before the scenario did, as a live run that was interrupted: their values
        are listed, and compared with nothing.

    Returns
    -------
    tuple of Parting
        A row for each quantity of :data:`UNITS` that at least one of them has, and for each flow or
        request loop.

    Raises
    ------
    DomainError
        If there is no result, if they are of several scenarios, or two of one way.
    """
    if not results:
        raise DomainError("no-results", "results", "an empty list")
    ways = [result.by for result in results]
    if any(result.scenario != results[0].scenario for result in results):
        raise DomainError("scenarios-differ", "results", ways)
    if len(set(ways)) < len(ways):
        raise DomainError("name-in-use", "results", ways)
    return tuple(_rows(results, tuple(cut)))


def _rows(results: Sequence[Result], cut: tuple[str, ...]) -> Iterator[Parting]:
    documents = {result.by: document(result) for result in results}
    packet = results[0].scenario.bottleneck.mtu_bytes
    averaged_s = averaged_over_s(results[0].scenario)
    for quantity in UNITS:
        by_way = {way: values.get(quantity) for way, values in documents.items()}
        least = 0.5 * packet if quantity.startswith("queue") else 0.0
        resolution = averaged_s if quantity in ("convergence_s", "release_s") else 0.0
        count = max((len(each) for each in by_way.values() if isinstance(each, list)), default=0)
        for number in range(1, count + 1) if count else (None,):
            values = {way: _number(each, number) for way, each in by_way.items()}
            if not np.isnan(list(values.values())).all():
                yield Parting(quantity, number, values, least, cut, resolution)


def _number(value: Any, number: int | None) -> float:
    """Return a value, or the value of a flow or loop; nan if it is not known."""
    if number is not None:
        value = value[number - 1] if value else None
    return np.nan if value is None else float(value)


def _relative(value: float, other: float) -> float:
    if value == other:
        return 0.0
    return value / other - 1.0 if other else float(np.sign(value) * np.inf)
