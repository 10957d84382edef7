"""Scenarios by name, and matrices of them: the tests of a congestion control test bench.

Rates, times and sizes of the presets are those of L. Peterson, L. Brakmo, B. Davie, TCP Congestion
Control: A Systems Approach, section 3.4, and of the test tool behind it; the data set
``congestion_scenarios`` has them one by one. Its test beds have three sending hosts and a receiver
behind one bottleneck (Fig. 13 and 14): flows that join each other come from one host each.

The cases of the matrices, for two algorithms, are those of that tool, Netesto
(github.com/facebook/fbkutils, 2016 to 2018, BSD licence): ``rates`` are the 29 numbered tests of
its library ``inlib.rateTest``, ``versus`` the eight of ``tcpCA23`` in ``inlib.caTest``.
``requests`` are those of the book's figures 18 and 19 on the slow link, ``buffers`` of its figure
20, ``losses`` the random losses of the presets.

The section does not say on which test bed its figures 15 to 19 were measured. ``two-flows-10g`` and
the ``lan-...-against-...`` are what the figures leave: :data:`SIMPLIFIED` has the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from netcalc.checks import choice, named_arguments
from netcalc.errors import DomainError
from netcalc.scenario.facts import ALGORITHMS, Bottleneck, Flow, Requests, Scenario

_WAN_RTT_S = 0.04
_MANY = 100
"""Flows of the preset of a backbone. [1]"""
_TIMES = {
    "two-flows": ((0.0, 60.0), (22.0, 42.0)),
    "two-flows-netesto": ((0.0, 60.0), (23.0, 43.0)),
    "three-flows": ((0.0, 60.0), (12.0, 52.0), (26.0, 46.0)),
    "three-flows-netesto": ((0.0, 60.0), (13.0, 53.0), (25.0, 45.0)),
}
"""Start and stop of each flow; the tool computes its delays as 60/3 + 3, 60/6 + 3, 60/3 + 5. [s]"""
_STREAMS = (1, 2, 4, 8, 16)
_SIZES = {"10kB": 10e3, "1MB": 1e6}
_BUFFERS = {"half": 0.5, "1": 1.0, "2": 2.0, "4": 4.0, "8": 8.0}
_LOSSES = {"0.01": 1e-4, "0.1": 1e-3, "1": 0.01, "2": 0.02}


SIMPLIFIED = {
    "lan": "the source names no buffer: 1 MB, the lower of its switches",
    "wan-10g": "the source's switch has 1 to 2 MB: here 1.5, or --set buffer_bytes=1e6 and 2e6; "
    "its queue of 20,000 packets for the delayed ACKs, which never drops, is left out",
    "two-flows-10g": "inferred for Fig. 15 to 17, which name no set-up and no algorithm: 9.64 "
    "Gbit/s need 10 Gbit/s and more than 1500 B in a packet, windows of 1000 such packets need "
    "10 ms; flow 2 as the tool starts it, read at 23.5 s",
    "lan-10kB-against-1": "inferred for Fig. 19 (with 1MB 18), which name no set-up: 10 KB at 420 "
    "Mbit/s take 0.19 ms, so it is not the bed of 10 ms; for 10 s, as no length is said",
    "hundred-flows": "the source has other round trips and starts: here 80 to 120 ms, 0 to 5 s; "
    "--algorithm reno as in the source",
}
"""What a preset has otherwise than its source, or in addition to it."""


@named_arguments
def presets() -> tuple[str, ...]:
    """Return the names of all presets."""
    return tuple(_presets())


@named_arguments
def preset(name: str, *, algorithm: str = "cubic") -> Scenario:
    """Return a scenario by its name.

    Parameters
    ----------
    name : str
        One of :func:`presets`.
    algorithm : str
        Congestion control of the flows and request loops.

    Raises
    ------
    DomainError
        If there is no such preset or algorithm.

    Examples
    --------
    >>> preset("buffer-half-bdp", algorithm="reno").bottleneck.buffer_bytes
    25000.0
    """
    choice("preset", name, presets())
    choice("algorithm", algorithm, ALGORITHMS)
    scenario = _presets()[name]
    return replace(
        scenario,
        flows=tuple(replace(flow, algorithm=algorithm) for flow in scenario.flows),
        requests=tuple(replace(loop, algorithm=algorithm) for loop in scenario.requests),
    )


@cache
def _presets() -> dict[str, Scenario]:
    wan = _wan(10e6)
    flow = (_flow(0.0, 60.0),)
    scenarios = {
        "lan": Scenario(bottleneck=_lan(), flows=flow, end_s=60.0, warm_s=5.0),
        "wan-10g": Scenario(bottleneck=_fast_wan(), flows=flow, end_s=60.0, warm_s=5.0),
        "wan-10m": Scenario(bottleneck=wan, flows=flow, end_s=60.0, warm_s=5.0),
        "wan-100m": Scenario(bottleneck=_wan(100e6), flows=flow, end_s=60.0, warm_s=5.0),
        "wan-10m-10ms": Scenario(bottleneck=_near(10e6), flows=flow, end_s=60.0, warm_s=5.0),
        "wan-100m-10ms": Scenario(bottleneck=_near(100e6), flows=flow, end_s=60.0, warm_s=5.0),
    }
    for name, times in _TIMES.items():
        flows = tuple(_flow(*span) for span in times)
        scenarios[name] = Scenario(bottleneck=wan, flows=flows, end_s=60.0, senders=len(flows))
    pair = tuple(_flow(*span) for span in _TIMES["two-flows-netesto"])
    jumbo = replace(_fast_wan(), mtu_bytes=9000)
    scenarios["two-flows-10g"] = Scenario(bottleneck=jumbo, flows=pair, end_s=60.0, senders=2)
    for label, size in _SIZES.items():
        for count in _STREAMS:
            scenarios[f"requests-{label}-against-{count}"] = _against(wan, size, count)
    for label, size in _SIZES.items():
        for count in _STREAMS:
            scenarios[f"lan-{label}-against-{count}"] = _against(
                _lan(), size, count, start_s=1.0, end_s=10.0
            )
    for label, bdp in _BUFFERS.items():
        scenarios[f"buffer-{label}-bdp"] = _against(_wan(10e6, bdp), 10e3, 1)
    for label, loss in _LOSSES.items():
        lossy = replace(wan, loss_ratio=loss)
        scenarios[f"loss-{label}-percent"] = Scenario(
            bottleneck=lossy, flows=flow, end_s=60.0, warm_s=5.0
        )
    scenarios["hundred-flows"] = _hundred_flows()
    return scenarios


def _hundred_flows() -> Scenario:
    """A buffer of a product over the root of the number of flows, whose round trips differ.

    G. Appenzeller, I. Keslassy, N. McKeown, Sizing router buffers, SIGCOMM 2004: flows on an OC3
    with 129 packets of buffer. The round trips are spread by 20 % about 99.6 ms, the starts over 5
    s: the source has other ones.
    """
    link = Bottleneck(rate_bps=155.52e6, rtt_s=0.0996, buffer_bytes=129 * 1500)
    flows = tuple(
        Flow(
            algorithm="cubic",
            start_s=0.05 * number,
            stop_s=60.0,
            rtt_s=link.rtt_s * (0.8 + 0.4 * (37 * number % _MANY) / (_MANY - 1)),
        )
        for number in range(_MANY)
    )
    return Scenario(bottleneck=link, flows=flows, end_s=60.0, warm_s=20.0)


def _lan() -> Bottleneck:
    """10 Gbit/s and 20 us; the source names no buffer: 1 MB, the lower of its switches."""
    return Bottleneck(rate_bps=10e9, rtt_s=20e-6, buffer_bytes=1e6)


def _fast_wan() -> Bottleneck:
    """10 Gbit/s and 10 ms on the ACKs, through a switch with a buffer of 1 to 2 MB.

    The source's emulator holds the ACKs in a queue of 20,000 packets. A window of 12.5 MB needs
    some 4,300 delayed ones, so that it never drops, and is no part of the scenario.
    """
    return Bottleneck(rate_bps=10e9, rtt_s=0.01, buffer_bytes=1.5e6, delay_on_acks=True)


def _wan(rate_bps: float, buffer_bdp: float = 1.0) -> Bottleneck:
    return Bottleneck.of(rate_bps=rate_bps, rtt_s=_WAN_RTT_S, buffer_bdp=buffer_bdp)


def _near(rate_bps: float) -> Bottleneck:
    """The lower delay in the caption of the source's figure 14."""
    return Bottleneck.of(rate_bps=rate_bps, rtt_s=0.01, buffer_bdp=1.0)


def _flow(start_s: float, stop_s: float) -> Flow:
    return Flow(algorithm="cubic", start_s=start_s, stop_s=stop_s)


def _against(
    bottleneck: Bottleneck,
    request_bytes: float,
    count: int,
    *,
    start_s: float = 5.0,
    end_s: float = 60.0,
) -> Scenario:
    """A request loop against a number of long transfers."""
    loop = Requests(request_bytes=request_bytes, start_s=start_s, stop_s=end_s)
    flows = (_flow(0.0, end_s),) * count
    return Scenario(
        bottleneck=bottleneck, flows=flows, requests=(loop,), end_s=end_s, warm_s=start_s
    )


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
            scenario = preset(name, algorithm=others)
            flows = (replace(scenario.flows[0], algorithm=first), *scenario.flows[1:])
            yield f"{label}, {count} flows", replace(scenario, flows=flows)


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
