"""Matrices of scenarios: the tests of a congestion control test bench, for two algorithms.

The cases are those of Netesto (github.com/facebook/fbkutils, 2016 to 2018, BSD licence), the test
tool behind L. Peterson, L. Brakmo, B. Davie, TCP Congestion Control: A Systems Approach, section
3.4: ``rates`` are the 29 numbered tests of its library ``inlib.rateTest``, ``versus`` the eight of
``tcpCA23`` in ``inlib.caTest``. ``requests`` are those of the book's figures 18 and 19, ``buffers``
of its figure 20, ``losses`` the random losses of the presets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from netcalc.checks import choice, named_arguments
from netcalc.errors import DomainError
from netcalc.scenario.facts import ALGORITHMS, Flow, Requests, Scenario
from netcalc.scenario.presets import preset, presets

RATES: tuple[tuple[int, int, tuple[float, ...]], ...] = (
    (1, 0, (1e6,)),
    (1, 1, ()),
    (2, 0, (1e6,)),
    (2, 1, ()),
    (2, 0, (1e6, 1e6)),
    (2, 0, (16e6, 16e6)),
    (2, 0, (1e6, 1e6, 10e3)),
    (2, 0, (16e6, 16e6, 10e3)),
    *((3, 0, (1e6,) * count) for count in (1, 2, 4, 8, 16, 32)),
    *((3, count, ()) for count in (4, 8, 16)),
    *((3, 0, (10e3, 1e6) * count) for count in (1, 2, 4, 8, 16, 32)),
    *((3, 0, (8e6, 1e6, 50e3, 10e3) * count) for count in (1, 2, 4, 8, 16, 32)),
)
"""Clients that send to one server, and of each client: streams, and the request loops by their
sizes in bytes, with replies of one byte; in the order of the library's list, from 1. K and M are
read as decimal. Its repetitions of single tests are left to whoever runs them."""

END_S = 60.0
"""How long each case lasts. [s]"""
WARM_S = 5.0
"""Time before which nothing counts. [s]"""


@named_arguments
def matrices() -> tuple[str, ...]:
    """Return the names of all matrices."""
    return tuple(_MATRICES)


@named_arguments
def matrix(name: str, *, baseline: str = "cubic", test: str = "bbr") -> dict[str, Scenario]:
    """Return the scenarios of a matrix by the names of its cases.

    All are on the link of the preset ``wan-10m``: 10 Mbit/s, 40 ms, one bandwidth-delay product.
    What has one algorithm is there for both of them.

    Parameters
    ----------
    name : str
        One of :func:`matrices`.
    baseline, test : str
        Two congestion control algorithms.

    Raises
    ------
    DomainError
        If there is no such matrix or algorithm, or both are the same.

    Examples
    --------
    >>> found = matrix("versus", baseline="cubic", test="bbr")
    >>> [flow.algorithm for flow in found["vs1, 3 flows"].flows]
    ['cubic', 'bbr', 'bbr']
    """
    choice("matrix", name, matrices())
    choice("baseline", baseline, ALGORITHMS)
    choice("test", test, ALGORITHMS)
    if baseline == test:
        raise DomainError("matrix-algorithms-alike", "test", test)
    return dict(_MATRICES[name](baseline, test))


_Cases = Iterator[tuple[str, Scenario]]


def _versus(baseline: str, test: str) -> _Cases:
    pairs = {"baseline": (baseline, baseline), "test": (test, test)}
    pairs |= {"vs1": (baseline, test), "vs2": (test, baseline)}
    for label, (first, others) in pairs.items():
        for count, name in ((2, "two-flows-netesto"), (3, "three-flows-netesto")):
            found = preset(name, algorithm=others)
            flows = (replace(found.flows[0], algorithm=first), *found.flows[1:])
            yield f"{label}, {count} flows", replace(found, flows=flows)


def _rates(baseline: str, test: str) -> _Cases:
    link = preset("wan-10m").bottleneck
    for algorithm in (baseline, test):
        for number, (clients, streams, sizes) in enumerate(RATES, 1):
            flows = (Flow(algorithm=algorithm, stop_s=END_S),) * (clients * streams)
            loops = tuple(
                Requests(request_bytes=size, algorithm=algorithm, stop_s=END_S) for size in sizes
            )
            yield (
                f"rate {number}, {algorithm}",
                Scenario(
                    bottleneck=link,
                    flows=flows,
                    requests=loops * clients,
                    end_s=END_S,
                    warm_s=WARM_S,
                ),
            )


def _presets_of(start: str) -> Callable[[str, str], _Cases]:
    def cases(baseline: str, test: str) -> _Cases:
        for algorithm in (baseline, test):
            for name in presets():
                if name.startswith(start):
                    yield f"{name}, {algorithm}", preset(name, algorithm=algorithm)

    return cases


def _netesto(baseline: str, test: str) -> _Cases:
    yield from _versus(baseline, test)
    yield from _rates(baseline, test)


_MATRICES: dict[str, Callable[[str, str], _Cases]] = {
    "netesto": _netesto,
    "versus": _versus,
    "rates": _rates,
    "requests": _presets_of("requests-"),
    "buffers": _presets_of("buffer-"),
    "losses": _presets_of("loss-"),
}
