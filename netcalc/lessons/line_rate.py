"""Panels of the lesson on line rate: frames, forwarding devices, and live runs on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from netcalc import compare, datasets, fit, plots, solver
from netcalc.checks import FloatArray
from netcalc.datasets import points_by, printed_numbers
from netcalc.errors import ExperimentError, ReaderError
from netcalc.experiments import line_rate as blasts
from netcalc.experiments import lockstep, router
from netcalc.language import phrase, term
from netcalc.models.rates import forwarding, line_rate
from netcalc.models.sizes import framing
from netcalc.path import Link, Path
from netcalc.plots import Axis, Plot, curves
from netcalc.rate_layers import ETHERNET_LINE, TCP_PAYLOAD, named
from netcalc.samples import BulkSamples, Samples
from netcalc.units import show, show_rate
from netcalc.widgets.controls import Quantity
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, in_layer, in_unit, panel, sweep_panel, values_of
from netcalc.widgets.peer import PeerField
from netcalc.widgets.run import run_button, upload

_FRAMES = np.unique(np.geomspace(64, 9018, 150).round())
_CAPTURED = np.linspace(60, 1514, 150)
_LINE_BPS = 100e6
_YOUR_DEVICE = term("your device")


def frame_rate_panel() -> Panel:
    """Frames per second by size, at the speeds of Ethernet."""
    speeds = {"100 Mbit/s": 1e8, "1 Gbit/s": 1e9, "10 Gbit/s": 1e10, "100 Gbit/s": 1e11}
    # RFC 5180, appendix A.1; RFC 2544, appendix B, has Ethernet of 10 Mbit/s only.
    table = {64: 148_809, 128: 84_459, 256: 45_289, 512: 23_496, 1024: 11_973, 1518: 8_127}

    def model(frame_bytes: float, bandwidth_bps: float) -> Swept:
        rates = {
            name: line_rate.frame_rate_pps(_FRAMES, bandwidth_bps=speed)
            for name, speed in {**speeds, term("your line"): bandwidth_bps}.items()
        }
        rate = float(line_rate.frame_rate_pps(frame_bytes, bandwidth_bps=bandwidth_bps))
        framed = float(line_rate.frame_throughput_bps(frame_bytes, bandwidth_bps=bandwidth_bps))
        sentence = phrase(
            "{frame} at {bandwidth}: {rate}, one every {rate_2}; {framed:.1%} of the line "
            "rate is frames, the rest preamble and gap.",
            frame=show(frame_bytes, "byte"),
            bandwidth=show_rate(bandwidth_bps, ETHERNET_LINE),
            rate=show(rate, "packet/s", digits=6),
            rate_2=show(1 / rate, "s"),
            framed=framed / bandwidth_bps,
        )
        return rates, sentence, (frame_bytes, rate)

    return sweep_panel(
        model,
        over=_FRAMES,
        book={"RFC 5180, 100 Mbit/s": (list(map(float, table)), list(map(float, table.values())))},
        controls={
            "frame_bytes": Quantity("frame", "64 B", "64 B", "9018 B", unit="byte", whole=True),
            "bandwidth_bps": Quantity(
                "your line", "10 Gbit/s", "10 Mbit/s", "800 Gbit/s", unit="bit/s"
            ),
        },
        x=Axis("frame with FCS", "byte", "log", 60, 9500),
        y=Axis("frames", "packet/s", "log", 1e2, 1e9),
        title="Small frames are the demanding case",
        predict=term("frames in a second of this size on your line"),
        unit="packet/s",
    )


def router_panel() -> Panel:
    """Two broadband routers: the packet rate of the device and the limit of its line."""
    frames = framing.captured_frame_bytes(_CAPTURED)
    limit = line_rate.frame_rate_pps(frames, bandwidth_bps=_LINE_BPS)

    def model(device_pps: float, byte_cost: float) -> Swept:
        own = forwarding.affine_rate_pps(frames, packet_cost=1 / device_pps, byte_cost=byte_cost)
        crossed = np.flatnonzero(limit <= own)
        where = (
            phrase(
                "From {captured} captured, the line is the limit",
                captured=show(float(_CAPTURED[crossed[0]]), "byte"),
            )
            if crossed.size
            else phrase("The device is the limit at every size")
        )
        passed, carried = (float(np.interp(64, _CAPTURED, rate)) for rate in (own, limit))
        return {
            term("limit of the 100 Mbit/s line"): limit,
            term("device with these costs"): np.minimum(own, limit),
        }, phrase(
            "{where}; at 64 bytes the device forwards {passed} of the {carried} that the "
            "line can carry.",
            where=where,
            **in_unit("packet/s", passed=passed, carried=carried),
        )

    def show_own(samples: Samples) -> None:
        x, y = (_column(samples, unit) for unit in ("byte", "packet/s"))
        board.figure.update(_YOUR_DEVICE, x=x, y=y)

    board = sweep_panel(
        model,
        over=_CAPTURED,
        book={**_routers("frame_rate_pps"), _YOUR_DEVICE: ([np.nan], [np.nan])},
        controls={
            "device_pps": Quantity(
                "device, 0 bytes", "11400 pps", "1 kpps", "300 kpps", unit="packet/s"
            ),
            "byte_cost": Quantity(
                "time per byte", "15.5 ns/B", "0 ns/B", "100 ns/B", unit="s/byte", scale="linear"
            ),
        },
        x=Axis("captured frame", "byte", "linear", 0, 1600),
        y=Axis("data frames", "packet/s", "log", 1e3, 3e5),
        title="Is the limit the device or its line?",
        below=[upload("Your own device, columns of frame size and packet rate", show_own)],
    )
    return board


def _routers(column: str) -> dict[str, tuple[Any, Any]]:
    """Return what the article measured of each router, by the size of the captured frame."""
    label = phrase("router of {name}")
    return points_by("router", "router_throughput", "captured_bytes", column, label=label)


def _column(samples: Samples, unit: str) -> FloatArray:
    """The first column of that unit."""
    for name, values in samples.columns().items():
        if samples.meta.units.get(name) == unit:
            return values
    raise ReaderError(
        "no-column-of-unit",
        wanted_unit=unit,
        file=samples.meta.source or "this file",
        expected='columns such as "frame [B]" and "rate [pps]"',
    )


def behind_printed_rate(
    printed_pps: float = 3146.0, *, captured_bytes: tuple[float, ...] = (256, 512, 1024, 1514)
) -> dict[float, float]:
    """Data frames per second behind a rate that the article printed, by the size it might be of.

    Parameters
    ----------
    printed_pps : float
        Rate that the article computed, with 6 Mbit/s added to a goodput. [packet/s]
    captured_bytes : tuple of float
        Sizes of which it might be; one at which the goodput would be negative is left out. [byte]

    Returns
    -------
    dict of float to float
        Size [byte] to data frames per second [packet/s].
    """
    behind = {}
    for size in captured_bytes:
        for root in solver.solve(
            line_rate.constant_offset_rate_pps,
            for_="goodput_bps",
            result=printed_pps,
            frame_bytes=size,
        ):
            payload = framing.captured_tcp_payload_bytes(size)
            behind[size] = float(line_rate.goodput_rate_pps(root.value, payload_bytes=payload))
    return behind


def conversion_panel() -> Panel:
    """From goodput to packets per second: the constant 6 Mbit/s against the proportional part."""
    data = datasets.load("router_throughput").columns()
    cheap = data["router"] == "100 yuan"
    modes = {"one record a frame, 100 pairs": 100, "default script, 1 pair": 1}
    rows = {name: cheap & (data["pair_count"] == count) for name, count in modes.items()}
    behind = behind_printed_rate()
    payload = framing.captured_tcp_payload_bytes(_CAPTURED)

    def model(device_pps: float, offset_bps: float) -> Swept:
        goodput = line_rate.rate_goodput_bps(device_pps, payload_bytes=payload)
        wrong = line_rate.constant_offset_rate_pps(
            np.asarray(goodput), frame_bytes=_CAPTURED, offset_bps=offset_bps, min_frame_bytes=0
        )
        at_64, at_1514 = (
            float(
                line_rate.constant_offset_rate_pps(
                    line_rate.rate_goodput_bps(
                        device_pps, payload_bytes=float(framing.captured_tcp_payload_bytes(size))
                    ),
                    frame_bytes=size,
                    offset_bps=offset_bps,
                )
            )
            for size in (64.0, 1514.0)
        )
        return {
            term("adding a constant"): wrong,
            term("dividing by the payload"): line_rate.goodput_rate_pps(
                goodput, payload_bytes=payload
            ),
        }, phrase(
            "A device of {device} at every size: adding {offset} to its goodput yields "
            "{at_64} at 64 bytes and {at_1514} at 1514. The article printed 9346 and 3146; "
            "behind the second are at most {value}, of whichever size.",
            **in_unit("packet/s", device=device_pps, at_64=at_64, at_1514=at_1514),
            value=show(max(behind.values()), "packet/s"),
            offset=show_rate(offset_bps, TCP_PAYLOAD),
        )

    return sweep_panel(
        model,
        over=_CAPTURED,
        book={
            **{
                name: (data["captured_bytes"][row], data["frame_rate_pps"][row])
                for name, row in rows.items()
            },
            "what 3146 pps would be": (list(behind), list(behind.values())),
        },
        controls={
            "device_pps": Quantity(
                "the device", "3512 pps", "1 kpps", "10 kpps", unit="packet/s", scale="linear"
            ),
            "offset_bps": Quantity(
                "constant", "6 Mbit/s", "0 bit/s", "10 Mbit/s", unit="bit/s", scale="linear"
            ),
        },
        x=Axis("captured frame", "byte", "linear", 0, 1600),
        y=Axis("packets", "packet/s", "linear", 0, 12_000),
        title="One device, two conversions: most of the fall is the constant",
    )


def two_devices_panel() -> Panel:
    """Two devices on one line: one forwards twice the packets, and only small ones show it."""
    slow, fast = term("the one device"), term("the other device")
    payload = framing.captured_tcp_payload_bytes(_CAPTURED)
    frames = framing.captured_frame_bytes(_CAPTURED)
    line_pps = line_rate.frame_rate_pps(frames, bandwidth_bps=_LINE_BPS)

    def model(device_pps: float, other_pps: float) -> Swept:
        rates = {slow: device_pps, fast: other_pps, term("limit of the 100 Mbit/s line"): np.inf}
        goodput = {
            name: line_rate.rate_goodput_bps(np.minimum(rate, line_pps), payload_bytes=payload)
            for name, rate in rates.items()
        }
        ratio = goodput[fast] / goodput[slow]
        smallest = float(line_rate.frame_rate_pps(64, bandwidth_bps=_LINE_BPS))
        return goodput, phrase(
            "At 64 bytes captured the other device passes {interp:.2f} times as much, at "
            "1514 {ratio:.2f} times: large frames fill the line first. {device} are "
            "1/{whole:.1f} of the {whole_2} that 100 Mbit/s carry in the smallest frames; "
            "the article rounds that of 10,000 to 1/14.",
            interp=np.interp(64, _CAPTURED, ratio),
            ratio=ratio[-1],
            device=show(device_pps, "packet/s"),
            whole=smallest / device_pps,
            whole_2=show(smallest, "packet/s", digits=6),
        )

    return sweep_panel(
        model,
        over=_CAPTURED,
        book=_routers("goodput_bps"),
        controls={
            "device_pps": Quantity(slow, "10 kpps", "1 kpps", "150 kpps", unit="packet/s"),
            "other_pps": Quantity(fast, "20 kpps", "1 kpps", "150 kpps", unit="packet/s"),
        },
        x=Axis("captured frame", "byte", "linear", 0, 1600),
        y=Axis(named("goodput", TCP_PAYLOAD), "bit/s", "log", 1e5, 2e8),
        title="Twice the packets: when does it show?",
    )


WAYS = {
    "loopback": term("this machine, loopback"),
    "routed": term("this machine, routed"),
    "box": term("emulated device"),
    "peer": term("with a second machine"),
}
"""Paths of a datagram, and their names in the figure."""
FITTED = {"loopback": term("loopback, fitted"), "routed": term("routed, fitted")}
"""The paths whose costs are unknown, and their curves."""
UPLINK_BPS = 1e9
"""Rate of the link in front of the emulated box. [bit/s]"""
BLAST_S = 0.1
"""How long each blast lasts. [s]"""
BLAST_RUNS = 2
"""Blasts of each size on each way. [1]"""
PAIRS = (1, 2, 4, 8, 16)
"""Pairs in lockstep. [1]"""
PAIRS_OF = {"box": "path", "peer": "peer"}
"""Paths of pairs besides the loopback, by those of datagrams."""
KNOWN_ROUTER = Path.parse("1 Gbit/s, 10 Mbit/s", processing_s=1 / 2000)
"""The router of the recorded run."""
ROUTER_S = 1.0
"""Duration of each transfer through a router. [s]"""
_PAYLOAD_BYTES = 1460.0  # of the article
_ETHERNET_FRAMES = np.linspace(64, 1518, 120)
_PAIRS = np.unique(np.geomspace(1, 128, 60).round())
_NOTHING = ([np.nan], [np.nan])
_CLEARED = {"x": [np.nan], "y": [np.nan]}


def three_ways_panel() -> Panel:
    """Datagrams through loopback, a routing kernel and an emulated device, with two routers."""
    figure = Figure(_three_ways())
    runs_by_way: dict[str, BulkSamples] = {}
    refused: list[str] = []

    def update(device_pps: float, bandwidth_bps: float) -> None:
        runs_by_way.pop("box", None)  # that was another box
        theory = forwarding.forwarding_rate_pps(
            _ETHERNET_FRAMES, device_pps=device_pps, bandwidth_bps=bandwidth_bps
        )
        figure.update_all({"emulated device, theory": {"y": theory}, WAYS["box"]: _CLEARED})
        figure.describe(_describe_ways(runs_by_way, refused, device_pps, bandwidth_bps))

    def run(progress: Callable[..., object], stop: Any, **far: Any) -> list[BulkSamples]:
        box = values_of(controls)
        links = [Link(UPLINK_BPS), Link(box["bandwidth_bps"])]
        ways: dict[str, dict[str, Any]] = {
            "loopback": {},
            "routed": {"routed": True},
            "box": {"path": Path.of(links, processing_s=1 / box["device_pps"])},
        }
        if far:
            ways = {"loopback": {}, "peer": far}
        measured: dict[str, BulkSamples] = {}
        refused.clear()
        for index, (way, options) in enumerate(ways.items()):
            if stop.is_set():
                break
            advance = _part(progress, index, len(ways))
            try:
                measured[way] = blasts(
                    duration_s=BLAST_S, run_count=BLAST_RUNS, progress=advance, stop=stop, **options
                )
            except ExperimentError as error:
                if way in ("loopback", "peer"):
                    raise
                refused.append(f"{WAYS[way].capitalize()}: {error}.")
        if values_of(controls) != box:  # it was moved meanwhile: the measurement is of another one
            measured.pop("box", None)
        return list(measured.values())

    def draw(runs: list[BulkSamples]) -> None:
        ways = {_way_of(run): run for run in runs}
        if "box" in ways:  # of saved runs, the box may be another one
            went = Path.from_truth(ways["box"].meta.instrument.truth)
            controls["device_pps"].value = 1 / went.processing_s
            controls["bandwidth_bps"].value = went.links[-1].bandwidth_bps
        runs_by_way.clear()
        runs_by_way.update(ways)
        for way, name in WAYS.items():
            new: dict[str, dict[str, Any]] = {name: _CLEARED}
            if way in FITTED:
                new[FITTED[way]] = {"y": _ETHERNET_FRAMES * np.nan}
            if way in runs_by_way:
                compared = compare.frame_rates(runs_by_way[way])
                new[name] = {"x": compared.x, "y": compared.measured}
                if way in FITTED:
                    new[FITTED[way]] = {
                        "y": np.interp(_ETHERNET_FRAMES, compared.curve_x, compared.curve_y)
                    }
            figure.update_all(new)
        figure.describe(_describe_ways(runs_by_way, refused, **values_of(controls)))

    controls = {
        "device_pps": Quantity("device rate", "2 kpps", "500 pps", "20 kpps", unit="packet/s"),
        "bandwidth_bps": Quantity("its line", "10 Mbit/s", "1 Mbit/s", "100 Mbit/s", unit="bit/s"),
    }
    button = run_button(
        "Send datagrams on three paths", run, draw, key="three ways", experiment="line_rate",
        several=True, peer=PeerField(directions=("forward", "back")),
    )  # fmt: skip
    return panel(figure, controls, update, below=[button])


def _three_ways() -> Plot:
    """Return the figure with the article's points and the line of its routers."""
    data = datasets.load("router_throughput").columns()
    frames = framing.captured_frame_bytes(data["captured_bytes"])
    routers = {name: data["router"] == name for name in map(str, data["router"])}
    return curves(
        _ETHERNET_FRAMES,
        {
            "line of 100 Mbit/s": line_rate.frame_rate_pps(
                _ETHERNET_FRAMES, bandwidth_bps=_LINE_BPS
            ),
            "emulated device, theory": _ETHERNET_FRAMES,
            **dict.fromkeys(FITTED.values(), _ETHERNET_FRAMES * np.nan),
        },
        points={
            **{
                phrase("router of {name}", name=name): (frames[rows], data["frame_rate_pps"][rows])
                for name, rows in routers.items()
            },
            **dict.fromkeys(WAYS.values(), _NOTHING),
        },
        x_axis=Axis("frame with FCS", "byte", "linear", 0, 1600),
        y_axis=Axis("frames", "packet/s", "log", 3e2, 1e6),
        title="Three paths through this machine, and two routers",
    )


def _describe_ways(
    runs: dict[str, BulkSamples], refused: list[str], device_pps: float, bandwidth_bps: float
) -> str:
    """Describe the device in theory, and the measurement on each path."""
    crossed = float(forwarding.crossover_frame_bytes(device_pps, bandwidth_bps=bandwidth_bps))
    where = (
        phrase("the device is the limit at every size")
        if crossed > 1518
        else phrase("its line is the limit at every size")
    )
    if 64 <= crossed <= 1518:
        where = phrase(
            "the device is the limit up to frames of {crossed:.0f} bytes, then its line",
            crossed=crossed,
        )
    texts = [
        phrase(
            "A device of {device} at {bandwidth}: {where}.",
            device=show(device_pps, "packet/s"),
            bandwidth=show_rate(bandwidth_bps, ETHERNET_LINE),
            where=where,
        )
    ]
    for way, samples in runs.items():
        texts.append(f"{WAYS[way].capitalize()}: {compare.frame_rates(samples).sentence}")
        texts += _warnings(samples)
    if {"loopback", "routed"} <= set(runs):
        plain, routed = (fit.frame_costs(runs[way]) for way in ("loopback", "routed"))
        more_s = routed.params["packet_cost"] - plain.params["packet_cost"]
        margin_s = np.hypot(routed.margin_of("packet_cost"), plain.margin_of("packet_cost"))
        price = f"{show(more_s, 's', digits=2)} ± {show(float(margin_s), 's', digits=2)} (95%)"
        texts.append(
            phrase("Forwarding adds {price} per packet.", price=price)
            if more_s > margin_s
            else phrase("The cost of forwarding is below the scatter of these runs.")
        )
    return " ".join((*texts, *refused))


def _way_of(run: BulkSamples) -> str:
    """Return the path of a run from its record, which may come from a file."""
    facts = run.meta.instrument
    if facts.peer_machine:
        return "peer"
    return "box" if facts.truth else "routed" if facts.routed else "loopback"


def your_router_panel() -> Panel:
    """What lies between two hosts: the recorded run one way at a time, and then one's own."""
    recorded = datasets.load("router_emulated")
    assert isinstance(recorded, BulkSamples)
    is_one_way = ~np.char.endswith(np.asarray(recorded.direction, dtype=str), " of both")
    columns: dict[str, Any] = {name: each[is_one_way] for name, each in recorded.columns().items()}
    figure = Figure(plots.router(replace(recorded, **columns)))

    def run(progress: Callable[..., object], stop: Any, **far: Any) -> BulkSamples:
        way: dict[str, Any] = far or {"path": KNOWN_ROUTER}
        return router(duration_s=ROUTER_S, run_count=1, progress=progress, stop=stop, **way)

    def draw(samples: BulkSamples) -> None:
        figure.draw(plots.router(samples))

    button = run_button(
        "Measure an emulated router", run, draw, key="router", experiment="router",
        peer=PeerField(),
    )  # fmt: skip
    return panel(figure, {}, lambda: None, below=[button])


def lockstep_panel() -> Panel:
    """Goodput of N stop-and-wait pairs: an article, an emulated path, this loopback."""
    figure = Figure(_pairs())
    runs_by_way: dict[str, BulkSamples] = {}
    refused: list[str] = []

    def update(bandwidth_bps: float, latency_s: float) -> None:
        runs_by_way.pop("path", None)  # that was another path
        cycle_s, most_bps = compare.lockstep_cycle(Path.of([Link(bandwidth_bps, latency_s)]))
        theory = line_rate.stop_and_wait_goodput_bps(
            _PAIRS, payload_bytes=_PAYLOAD_BYTES, cycle_s=cycle_s, capacity_bps=most_bps
        )
        figure.update_all({"path, theory": {"y": theory}, "path, measured": _CLEARED})
        figure.describe(_describe_pairs(runs_by_way, refused, cycle_s, most_bps))

    def chosen() -> Path:
        return Path.of([Link(controls["bandwidth_bps"].value, controls["latency_s"].value)])

    def run(progress: Callable[..., object], stop: Any, **far: Any) -> list[BulkSamples]:
        path = chosen()
        refused.clear()
        measured = {
            "loopback": lockstep(PAIRS, run_count=1, progress=_part(progress, 0, 2), stop=stop)
        }
        if far:
            advance = _part(progress, 1, 2)
            measured["peer"] = lockstep(PAIRS, run_count=1, progress=advance, stop=stop, **far)
            return list(measured.values())
        try:
            measured["path"] = lockstep(
                PAIRS, run_count=1, path=path, progress=_part(progress, 1, 2), stop=stop
            )
        except ExperimentError as error:
            refused.append(phrase("Path: {error}.", error=error))
        if chosen() != path:  # it was moved meanwhile: the measurement is of another one
            measured.pop("path", None)
        return list(measured.values())

    def draw(runs: list[BulkSamples]) -> None:
        ways = {PAIRS_OF.get(_way_of(run), "loopback"): run for run in runs}
        if "path" in ways:  # of saved runs, the path may be another one
            [link] = Path.from_truth(ways["path"].meta.instrument.truth).links
            controls["bandwidth_bps"].value = link.bandwidth_bps
            controls["latency_s"].value = link.latency_s
        runs_by_way.clear()
        runs_by_way.update(ways)
        new: dict[str, dict[str, Any]] = {
            "path, measured": _CLEARED,
            "loopback, measured": _CLEARED,
            "peer, measured": _CLEARED,
            "loopback, fitted": {"y": _PAIRS * np.nan},
        }
        for name, samples in list(runs_by_way.items()):
            if np.unique(np.asarray(samples.pair_count)).size < 2:
                del runs_by_way[name]  # stopped before there was anything to compare
                continue
            compared = compare.bulk(samples)
            new[f"{name}, measured"] = {"x": compared.x, "y": compared.measured}
            if name == "loopback":
                curve = np.interp(_PAIRS, compared.curve_x, compared.curve_y)
                new["loopback, fitted"] = {"y": curve}
        figure.update_all(new)
        figure.describe(_describe_pairs(runs_by_way, refused, *compare.lockstep_cycle(chosen())))

    controls = {
        "bandwidth_bps": Quantity("line rate", "20 Mbit/s", "1 Mbit/s", "100 Mbit/s", unit="bit/s"),
        "latency_s": Quantity("one-way latency", "2 ms", "100 us", "50 ms", unit="s"),
    }
    button = run_button(
        "Run pairs in lockstep", run, draw, key="lockstep", experiment="lockstep", several=True,
        peer=PeerField(directions=("forward", "back")),
    )  # fmt: skip
    return panel(figure, controls, update, below=[button])


def _pairs() -> Plot:
    """Return the figure with the article's goodput of one pair and of a hundred."""
    printed = printed_numbers("router_forwarding")
    one_bps, hundred_bps = printed["RP33"], printed["RP18"]
    line_pps = line_rate.frame_rate_pps(1518, bandwidth_bps=_LINE_BPS)
    cycle_s = 1 / line_rate.goodput_rate_pps(one_bps, payload_bytes=_PAYLOAD_BYTES)
    return curves(
        _PAIRS,
        {
            "the article's line": line_rate.stop_and_wait_goodput_bps(
                _PAIRS,
                payload_bytes=_PAYLOAD_BYTES,
                cycle_s=cycle_s,
                capacity_bps=line_rate.rate_goodput_bps(line_pps, payload_bytes=_PAYLOAD_BYTES),
            ),
            "path, theory": _PAIRS,
            "loopback, fitted": _PAIRS * np.nan,
        },
        points={
            "the article": ([1.0, 100.0], [one_bps, hundred_bps]),
            "path, measured": _NOTHING,
            "loopback, measured": _NOTHING,
            "peer, measured": _NOTHING,
        },
        x_axis=Axis("pairs in lockstep", "1", "log", 0.9, 150),
        y_axis=Axis(named("goodput", TCP_PAYLOAD), "bit/s", "log", 1e5, 1e10),
        title="How many stop-and-wait pairs fill the line?",
    )


def _describe_pairs(
    runs: dict[str, BulkSamples], refused: list[str], cycle_s: float, most_bps: float
) -> str:
    """Describe the path in theory, and the measurement."""
    chosen = {"payload_bytes": _PAYLOAD_BYTES, "cycle_s": cycle_s}
    one_bps = float(line_rate.stop_and_wait_goodput_bps(1, capacity_bps=most_bps, **chosen))
    count = float(line_rate.saturating_pair_count(most_bps, **chosen))
    texts = [
        phrase(
            "A cycle over the path takes {cycle}: one pair gets {one}, and {count:.0f} "
            "fill the line at {most}.",
            cycle=show(cycle_s, "s"),
            **in_layer(TCP_PAYLOAD, one=one_bps, most=most_bps),
            count=count,
        )
    ]
    for name, samples in runs.items():
        texts.append(f"{name.capitalize()}: {compare.bulk(samples).sentence}")
        texts += _warnings(samples)
    return " ".join((*texts, *refused))


def _warnings(samples: BulkSamples) -> list[str]:
    texts = map(str, samples.meta.warnings)
    return [f"{text[:1].upper()}{text[1:]}." for text in texts]


def _part(progress: Callable[..., object], index: int, count: int) -> Callable[..., object]:
    """Return the progress of one of several runs, as a part of all."""
    return lambda done, total, *_: progress(index * total + done, count * total)
