"""Live panels of the lesson on line rate: three paths through this machine, and lockstep pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netcalc import compare, datasets, fit
from netcalc.errors import ExperimentError
from netcalc.experiments import line_rate as blasts
from netcalc.experiments import lockstep
from netcalc.language import phrase, term
from netcalc.models.rates import forwarding, line_rate, packet_rates
from netcalc.models.sizes import framing
from netcalc.path import Link, Path
from netcalc.plots import Axis, Plot, curves
from netcalc.rate_layers import ETHERNET_LINE, TCP_PAYLOAD, named
from netcalc.samples import BulkSamples
from netcalc.units import show, show_rate
from netcalc.widgets.controls import Quantity
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import run_button

WAYS = {
    "loopback": term("this machine, loopback"),
    "routed": term("this machine, routed"),
    "box": term("emulated device"),
}
"""Three paths of a datagram, and their names in the figure."""
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
_LINE_BPS, _PAYLOAD_BYTES = 100e6, 1460.0  # of the article
_FRAMES = np.linspace(64, 1518, 120)
_PAIRS = np.unique(np.geomspace(1, 128, 60).round())
_NOTHING = ([np.nan], [np.nan])
_CLEARED = {"x": [np.nan], "y": [np.nan]}


def three_ways_panel() -> Panel:
    """Datagrams through loopback, a routing kernel and an emulated device, with two routers."""
    figure = Figure(_three_ways())
    found: dict[str, BulkSamples] = {}
    refused: list[str] = []

    def update(device_pps: float, bandwidth_bps: float) -> None:
        found.pop("box", None)  # that was another box
        theory = forwarding.forwarding_rate_pps(
            _FRAMES, device_pps=device_pps, bandwidth_bps=bandwidth_bps
        )
        figure.update_all({"emulated device, theory": {"y": theory}, WAYS["box"]: _CLEARED})
        figure.describe(_describe_ways(found, refused, device_pps, bandwidth_bps))

    def chosen() -> dict[str, float]:
        return {name: control.value for name, control in controls.items()}

    def run(progress: Callable[..., object], stop: Any) -> list[BulkSamples]:
        box = chosen()
        links = [Link(UPLINK_BPS), Link(box["bandwidth_bps"])]
        ways: dict[str, dict[str, Any]] = {
            "loopback": {},
            "routed": {"routed": True},
            "box": {"path": Path.of(links, processing_s=1 / box["device_pps"])},
        }
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
                if way == "loopback":
                    raise
                refused.append(f"{WAYS[way].capitalize()}: {error}.")
        if chosen() != box:  # it was moved meanwhile: the measurement is of another one
            measured.pop("box", None)
        return list(measured.values())

    def draw(runs: list[BulkSamples]) -> None:
        ways = {_way_of(run): run for run in runs}
        if "box" in ways:  # of saved runs, the box may be another one
            went = Path.from_truth(ways["box"].meta.instrument.truth)
            controls["device_pps"].value = 1 / went.processing_s
            controls["bandwidth_bps"].value = went.links[-1].bandwidth_bps
        found.clear()
        found.update(ways)
        for way, name in WAYS.items():
            new: dict[str, dict[str, Any]] = {name: _CLEARED}
            if way in FITTED:
                new[FITTED[way]] = {"y": _FRAMES * np.nan}
            if way in found:
                compared = compare.frame_rates(found[way])
                new[name] = {"x": compared.x, "y": compared.measured}
                if way in FITTED:
                    new[FITTED[way]] = {"y": np.interp(_FRAMES, compared.curve_x, compared.curve_y)}
            figure.update_all(new)
        figure.describe(_describe_ways(found, refused, **chosen()))

    controls = {
        "device_pps": Quantity(
            "device rate", "2 kpps", unit="packet/s", low="500 pps", high="20 kpps"
        ),
        "bandwidth_bps": Quantity(
            "its line", "10 Mbit/s", unit="bit/s", low="1 Mbit/s", high="100 Mbit/s"
        ),
    }
    button = run_button(
        "Send datagrams on three paths",
        run,
        draw,
        key="three ways",
        tool="netcalc line-rate",
        several=True,
    )
    return panel(figure, controls, update, below=[button])


def _three_ways() -> Plot:
    """Return the figure with the article's points and the line of its routers."""
    data = datasets.load("router_throughput").columns()
    frames = framing.captured_frame_bytes(data["captured_bytes"])
    routers = {str(name): data["router"] == name for name in data["router"]}
    return curves(
        _FRAMES,
        {
            "line of 100 Mbit/s": line_rate.frame_rate_pps(_FRAMES, bandwidth_bps=_LINE_BPS),
            "emulated device, theory": _FRAMES,
            **dict.fromkeys(FITTED.values(), _FRAMES * np.nan),
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
    found: dict[str, BulkSamples], refused: list[str], device_pps: float, bandwidth_bps: float
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
    for way, samples in found.items():
        texts.append(f"{WAYS[way].capitalize()}: {compare.frame_rates(samples).sentence}")
        texts += [
            f"{warning[:1].upper()}{warning[1:]}." for warning in map(str, samples.meta.warnings)
        ]
    if {"loopback", "routed"} <= set(found):
        plain, routed = (fit.frame_costs(found[way]) for way in ("loopback", "routed"))
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
    return "box" if facts.truth else "routed" if facts.routed else "loopback"


def lockstep_panel() -> Panel:
    """Goodput of N stop-and-wait pairs: an article, an emulated path, this loopback."""
    figure = Figure(_pairs())
    found: dict[str, BulkSamples] = {}
    refused: list[str] = []

    def update(bandwidth_bps: float, latency_s: float) -> None:
        found.pop("path", None)  # that was another path
        cycle_s, most_bps = compare.lockstep_cycle(Path.of([Link(bandwidth_bps, latency_s)]))
        theory = packet_rates.stop_and_wait_goodput_bps(
            _PAIRS, payload_bytes=_PAYLOAD_BYTES, cycle_s=cycle_s, capacity_bps=most_bps
        )
        figure.update_all({"path, theory": {"y": theory}, "path, measured": _CLEARED})
        figure.describe(_describe_pairs(found, refused, cycle_s, most_bps))

    def chosen() -> Path:
        return Path.of([Link(controls["bandwidth_bps"].value, controls["latency_s"].value)])

    def run(progress: Callable[..., object], stop: Any) -> list[BulkSamples]:
        path = chosen()
        refused.clear()
        measured = {
            "loopback": lockstep(PAIRS, run_count=1, progress=_part(progress, 0, 2), stop=stop)
        }
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
        ways = {"path" if _way_of(run) == "box" else "loopback": run for run in runs}
        if "path" in ways:  # of saved runs, the path may be another one
            [link] = Path.from_truth(ways["path"].meta.instrument.truth).links
            controls["bandwidth_bps"].value = link.bandwidth_bps
            controls["latency_s"].value = link.latency_s
        found.clear()
        found.update(ways)
        new: dict[str, dict[str, Any]] = {
            "path, measured": _CLEARED,
            "loopback, measured": _CLEARED,
            "loopback, fitted": {"y": _PAIRS * np.nan},
        }
        for name, samples in list(found.items()):
            if np.unique(np.asarray(samples.pair_count)).size < 2:
                del found[name]  # stopped before there was anything to compare
                continue
            compared = compare.bulk(samples)
            new[f"{name}, measured"] = {"x": compared.x, "y": compared.measured}
            if name == "loopback":
                curve = np.interp(_PAIRS, compared.curve_x, compared.curve_y)
                new["loopback, fitted"] = {"y": curve}
        figure.update_all(new)
        figure.describe(_describe_pairs(found, refused, *compare.lockstep_cycle(chosen())))

    controls = {
        "bandwidth_bps": Quantity(
            "line rate", "20 Mbit/s", unit="bit/s", low="1 Mbit/s", high="100 Mbit/s"
        ),
        "latency_s": Quantity("one-way latency", "2 ms", unit="s", low="100 us", high="50 ms"),
    }
    button = run_button(
        "Run pairs in lockstep", run, draw, key="lockstep", tool="netcalc lockstep", several=True
    )
    return panel(figure, controls, update, below=[button])


def _pairs() -> Plot:
    """Return the figure with the article's goodput of one pair and of a hundred."""
    audit = datasets.load("router_forwarding").columns()
    printed = dict(zip(audit["id"].tolist(), audit["si_value"].tolist(), strict=True))
    one_bps, hundred_bps = printed["RP33"], printed["RP18"]
    line_pps = line_rate.frame_rate_pps(1518, bandwidth_bps=_LINE_BPS)
    cycle_s = 1 / packet_rates.goodput_rate_pps(one_bps, payload_bytes=_PAYLOAD_BYTES)
    return curves(
        _PAIRS,
        {
            "the article's line": packet_rates.stop_and_wait_goodput_bps(
                _PAIRS,
                payload_bytes=_PAYLOAD_BYTES,
                cycle_s=cycle_s,
                capacity_bps=packet_rates.rate_goodput_bps(line_pps, payload_bytes=_PAYLOAD_BYTES),
            ),
            "path, theory": _PAIRS,
            "loopback, fitted": _PAIRS * np.nan,
        },
        points={
            "the article": ([1.0, 100.0], [one_bps, hundred_bps]),
            "path, measured": _NOTHING,
            "loopback, measured": _NOTHING,
        },
        x_axis=Axis("pairs in lockstep", "1", "log", 0.9, 150),
        y_axis=Axis(named("goodput", TCP_PAYLOAD), "bit/s", "log", 1e5, 1e10),
        title="How many stop-and-wait pairs fill the line?",
    )


def _describe_pairs(
    found: dict[str, BulkSamples], refused: list[str], cycle_s: float, most_bps: float
) -> str:
    """Describe the path in theory, and the measurement."""
    chosen = {"payload_bytes": _PAYLOAD_BYTES, "cycle_s": cycle_s}
    one_bps = float(packet_rates.stop_and_wait_goodput_bps(1, capacity_bps=most_bps, **chosen))
    count = float(packet_rates.saturating_pair_count(most_bps, **chosen))
    texts = [
        phrase(
            "A cycle over the path takes {cycle}: one pair gets {one}, and {count:.0f} "
            "fill the line at {most}.",
            cycle=show(cycle_s, "s"),
            one=show_rate(one_bps, TCP_PAYLOAD),
            count=count,
            most=show_rate(most_bps, TCP_PAYLOAD),
        )
    ]
    for name, samples in found.items():
        texts.append(f"{name.capitalize()}: {compare.bulk(samples).sentence}")
        texts += [
            f"{warning[:1].upper()}{warning[1:]}." for warning in map(str, samples.meta.warnings)
        ]
    return " ".join((*texts, *refused))


def _part(progress: Callable[..., object], index: int, count: int) -> Callable[..., object]:
    """Return the progress of one of several runs, as a part of all."""
    return lambda done, total, *_: progress(index * total + done, count * total)
