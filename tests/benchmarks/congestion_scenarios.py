"""The scenarios in which theory is held against ns-3 and live runs, by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

Part = tuple[str, float, float | None, float | None]
"""Algorithm, start, stop and size of a flow."""


def scenario(
    parts: list[Part],
    *,
    rate: float = 10e6,
    rtt: float = 0.04,
    bdp: float = 1.0,
    loss: float = 0.0,
    end: float = 60.0,
    warm: float = 5.0,
) -> Scenario:
    """Make a scenario of a few numbers."""
    return Scenario(
        bottleneck=Bottleneck.of(
            rate_bps=rate, rtt_s=rtt, buffer_packets=max(1, int(rate * rtt / 12000 * bdp)),
            loss_ratio=loss,
        ),
        flows=tuple(
            Flow(algorithm=name, start_s=start, stop_s=stop, size_bytes=size)
            for name, start, stop, size in parts
        ),
        end_s=end,
        warm_s=warm,
    )  # fmt: skip


def _same(name: str, count: int, end: float = 60.0) -> list[Part]:
    return [(name, 0.0, end, None)] * count


SCENARIOS = {
    **{
        f"{name} alone, {bdp:g} BDP": scenario(_same(name, 1), bdp=bdp)
        for name in ("reno", "cubic", "bbr")
        for bdp in (0.25, 0.5, 1.0, 2.0)
    },
    **{
        f"{name} alone, 20 Mbit/s, 20 ms": scenario(_same(name, 1), rate=20e6, rtt=0.02)
        for name in ("reno", "cubic", "bbr", "vegas", "dctcp")
    },
    "cubic alone, 8 BDP": scenario(_same("cubic", 1), bdp=8.0),
    "reno alone, 100 Mbit/s": scenario(_same("reno", 1), rate=100e6, end=60.0),
    "cubic alone, 100 Mbit/s": scenario(_same("cubic", 1), rate=100e6, end=60.0),
    "two cubic, the second 22-42 s": scenario([("cubic", 0, 60, None), ("cubic", 22, 42, None)]),
    "two reno, the second 22-42 s": scenario([("reno", 0, 60, None), ("reno", 22, 42, None)]),
    "two bbr, the second 22-42 s": scenario([("bbr", 0, 60, None), ("bbr", 22, 42, None)]),
    "three cubic that come and go": scenario(
        [("cubic", 0, 60, None), ("cubic", 12, 52, None), ("cubic", 26, 46, None)]
    ),
    "three bbr that come and go": scenario(
        [("bbr", 0, 60, None), ("bbr", 12, 52, None), ("bbr", 26, 46, None)]
    ),
    **{
        f"two {name} staggered by 5 s, {bdp:g} BDP": scenario(
            [(name, 0, 60, None), (name, 5, 60, None)], bdp=bdp, warm=10.0
        )
        for name in ("reno", "cubic")
        for bdp in (0.5, 2.0)
    },
    **{
        f"bbr against {name}, {bdp:g} BDP": scenario(
            [("bbr", 0, 60, None), (name, 0, 60, None)], bdp=bdp
        )
        for name, bdp in (
            ("cubic", 0.5), ("cubic", 1.0), ("cubic", 2.0), ("cubic", 4.0), ("reno", 2.0)
        )
    },
    "cubic against reno": scenario([("cubic", 0, 60, None), ("reno", 0, 60, None)]),
    "cubic against vegas": scenario([("cubic", 0, 60, None), ("vegas", 0, 60, None)]),
    **{f"{n} cubic": scenario(_same("cubic", n), rate=20e6) for n in (4, 8)},
    **{f"{n} reno": scenario(_same("reno", n), rate=20e6) for n in (4, 8)},
    **{f"{n} bbr": scenario(_same("bbr", n), rate=20e6) for n in (4,)},
    **{
        f"{name}, loss {loss:.2%}": scenario(_same(name, 1), loss=loss)
        for name in ("reno", "cubic", "bbr")
        for loss in (0.001, 0.01)
    },
    "cubic 1 MB and 5 MB beside reno": scenario(
        [("reno", 0, 60, None), ("cubic", 10, None, 1e6), ("cubic", 30, None, 5e6)]
    ),
    "cubic 2 MB alone": scenario([("cubic", 0, None, 2e6)], end=20.0, warm=0.0),
    "reno 2 MB alone": scenario([("reno", 0, None, 2e6)], end=20.0, warm=0.0),
    "bbr 2 MB alone": scenario([("bbr", 0, None, 2e6)], end=20.0, warm=0.0),
    "two dctcp": scenario([("dctcp", 0, 60, None), ("dctcp", 10, 60, None)], warm=15.0),
}  # fmt: skip

REQUESTS = {
    f"10 KB requests beside {count} of cubic, {bdp:g} BDP": replace(
        scenario(_same("cubic", count, 20.0), bdp=bdp, end=20.0),
        requests=(Requests(request_bytes=10e3, stop_s=20.0),),
    )
    for count, bdp in ((1, 1.0), (2, 1.0), (4, 2.0))
}
"""Request loops beside flows, of 20 s each."""

ONE_FLOW = {
    f"{size / 1e3:g} KB requests beside {name}, {bdp:g} BDP": replace(
        scenario(_same(name, 1), bdp=bdp),
        requests=(Requests(request_bytes=size, algorithm=name, stop_s=60.0),),
    )
    for size in (10e3, 1e6)
    for name in ("reno", "cubic", "bbr")
    for bdp in (0.5, 1.0, 2.0, 4.0)
}
"""Requests beside one flow over the buffers of the book's figure 20, of 60 s each."""

FURTHER = {
    **REQUESTS,
    **{
        f"bbr, and cubic {late:g} s later, {bdp:g} BDP": scenario(
            [("bbr", 0, 60, None), ("cubic", late, 60, None)], bdp=bdp
        )
        for late in (0.3, 0.7, 1.1)
        for bdp in (1.0, 2.0, 4.0)
    },
    **{
        f"two {name}, the second {22 + late:g}-42 s": scenario(
            [(name, 0, 60, None), (name, 22 + late, 42, None)]
        )
        for late in (0.3, 0.7, 1.1)
        for name in ("reno", "bbr")
    },
    **{
        f"three {name}, {late:g} s later": scenario(
            [(name, 0, 60, None), (name, 12 + late, 52, None), (name, 26 + late, 46, None)]
        )
        for late in (0.3, 0.7, 1.1)
        for name in ("cubic", "bbr")
    },
    **{
        f"{count} {name}, {rate / 1e6:g} Mbit/s, {1e3 * rtt:g} ms": scenario(
            [(name, gap * number, 60, None) for number in range(count)],
            rate=rate, rtt=rtt, bdp=bdp, warm=warm,
        )
        for rate, rtt in ((50e6, 0.02), (20e6, 0.08), (5e6, 0.03))
        for name in ("reno", "cubic", "bbr")
        for count, gap, bdp, warm in ((1, 0.0, 0.7, 5.0), (2, 8.0, 1.5, 12.0), (4, 0.3, 1.0, 5.0))
    },
    **{
        f"{name}, and reno 3 s later, 20 Mbit/s": scenario(
            [(name, 0, 60, None), ("reno", 3, 60, None)], rate=20e6, bdp=bdp
        )
        for name, bdp in (("cubic", 2.0), ("bbr", 1.0))
    },
    **{
        f"{name} {size / 1e6:g} MB, {rate / 1e6:g} Mbit/s": scenario(
            [(name, start, None, size)], rate=rate, end=30.0, warm=0.0
        )
        for name in ("reno", "cubic", "bbr")
        for size, rate, start in ((10e6, 10e6, 0.0), (0.5e6, 20e6, 1.0))
    },
}  # fmt: skip
"""Scenarios that came later: constants of the model were chosen by the others, but for BBR's."""


def drawn(seed: int, count: int = 30) -> dict[str, Scenario]:
    """Draw scenarios that nobody chose: a tenth of each kind, with any link."""
    random = np.random.default_rng(seed)
    found = {}
    for number in range(count):
        kind = _KINDS[number % len(_KINDS)]
        rate = 1e6 * float(random.choice([5, 10, 20, 50]))
        rtt = 1e-3 * float(random.choice([10, 20, 40, 80]))
        bdp = float(random.choice([0.25, 0.5, 1.0, 2.0]))
        parts, loss = _draw_parts(kind, random)
        name = (
            f"{number + 1}. {kind}: {' '.join(part[0] for part in parts)},"
            f" {rate / 1e6:g} Mbit/s, {1e3 * rtt:g} ms, {bdp:g} BDP"
        )
        found[name] = scenario(
            parts, rate=rate, rtt=rtt, bdp=max(bdp, 5 * 12000 / (rate * rtt)), loss=loss
        )
    return found


_KINDS = (
    "alone", "staggered", "come and go", "unlike", "four", "random losses", "sized", "alone",
    "staggered", "eight",
)  # fmt: skip


def _draw_parts(kind: str, random: np.random.Generator) -> tuple[list[Part], float]:
    """Return the flows of a scenario, and its loss ratio."""
    first, second = (str(name) for name in random.choice(["reno", "cubic", "bbr"], 2, False))
    late = round(float(random.uniform(2, 20)), 1)
    whole = (first, 0.0, 60.0, None)
    if kind == "staggered":
        return [whole, (first, late, 60.0, None)], 0.0
    if kind == "come and go":
        return [whole, (first, late, late + 30, None), (first, late + 10, late + 20, None)], 0.0
    if kind == "unlike":
        return [whole, (second, float(random.choice([0.0, late])), 60.0, None)], 0.0
    if kind in ("four", "eight"):
        count, gap = (4 if kind == "four" else 8), float(random.choice([0.0, 0.2, 1.0]))
        return [(first, gap * number, 60.0, None) for number in range(count)], 0.0
    if kind == "random losses":
        return [whole], float(random.choice([0.0005, 0.002, 0.005, 0.01, 0.02]))
    if kind == "sized":
        sizes = 1e6 * random.choice([1, 3, 8], 2)
        return [(second, 0.0, None, sizes[0]), (first, late, None, sizes[1])], 0.0
    return [whole], 0.0


LIVE = {
    **{
        f"{name} alone, {bdp:g} BDP": scenario(_same(name, 1, 20.0), bdp=bdp, end=20.0)
        for name in ("reno", "cubic", "bbr")
        for bdp in (0.25, 0.5, 1.0, 2.0)
    },
    **{
        f"two {name}, 6 to 14 s": scenario(
            [(name, 0.0, 20.0, None), (name, 6.0, 14.0, None)], end=20.0
        )
        for name in ("reno", "cubic", "bbr")
    },
    "cubic against reno": scenario(_same("cubic", 1, 20.0) + _same("reno", 1, 20.0), end=20.0),
    "bbr against cubic, 1 BDP": scenario(_same("bbr", 1, 20.0) + _same("cubic", 1, 20.0), end=20.0),
    "bbr against cubic, 2 BDP": scenario(
        _same("bbr", 1, 20.0) + _same("cubic", 1, 20.0), bdp=2.0, end=20.0
    ),
    "4 reno": scenario(_same("reno", 4, 20.0), end=20.0),
    "8 cubic": scenario(_same("cubic", 8, 20.0), end=20.0),
    **{
        f"{name}, {loss:.1%} lost": scenario(_same(name, 1, 20.0), loss=loss, end=20.0)
        for name in ("reno", "cubic", "bbr")
        for loss in (0.001, 0.01)
    },
    "cubic alone, 50 Mbit/s, 20 ms": scenario(
        _same("cubic", 1, 20.0), rate=50e6, rtt=0.02, end=20.0
    ),
    "reno alone, 100 Mbit/s, 10 ms": scenario(
        _same("reno", 1, 20.0), rate=100e6, rtt=0.01, end=20.0
    ),
    "2 MB of cubic": scenario([("cubic", 0.0, None, 2e6)], end=20.0, warm=0.0),
    "2 MB of reno beside reno": scenario(
        [("reno", 0.0, 20.0, None), ("reno", 4.0, None, 2e6)], end=20.0
    ),
    **REQUESTS,
}
"""Scenarios for live runs, of 20 s each."""
