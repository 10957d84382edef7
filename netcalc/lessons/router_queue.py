"""Panel on a router as a queue: waits at a load, and why the first comparison may fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from netcalc import compare, experiments, plots
from netcalc.experiments.router_queue import ARRIVALS, SERVICES
from netcalc.language import phrase, term
from netcalc.models.queues.finite_queues import mm1k_wait_cdf, mm1k_wait_s
from netcalc.models.queues.md1 import md1_wait_cdf, md1_wait_s
from netcalc.models.queues.mm1 import mm1_wait_cdf, mm1_wait_s
from netcalc.path import Path
from netcalc.plots import Axis, Plot
from netcalc.samples import Table
from netcalc.units import show
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import run_button

LINE = "1 Mbit/s 1 ms"
"""The router's line: slow, so that a service of 2.4 ms is long beside the timers of a machine."""
PAYLOAD_BYTES = 272
RUN_S = 20.0
"""Time over which the datagrams of a run are sent. [s]"""
FINITE = "M/M/1/K"
WAITS, GAPS, BATCHES = "wait", "gaps", "batches"
VIEWS = {
    "the waits": WAITS,
    "the times between arrivals": GAPS,
    "how many come together": BATCHES,
}
_REPLAYED = term("one server, these arrivals")
_MODELS = {name: name for name in ("M/M/1", "M/D/1", FINITE, _REPLAYED)}


def router_panel() -> Panel:
    """Waits in a router by three queues, and live; the arrivals tell why they differ."""
    shown: list[tuple[dict[str, Any], Table]] = []
    chosen: dict[str, Any] = {}
    controls = _controls()
    figure = Figure(_theory({name: control.value for name, control in controls.items()}))

    def update(view: str, model: str, **setting: Any) -> None:
        run = shown[0][1] if shown and shown[0][0] == setting else None
        values = {**setting, "view": view, "model": model}
        figure.draw(_theory(values) if run is None else _measured(run, values))

    def run(progress: Callable[..., object], stop: Any) -> Table:
        chosen.update(_setting(controls))
        return experiments.router_queue(
            chosen["utilization"],
            path=Path.parse(LINE),
            arrivals=chosen["arrivals"],
            service=chosen["service"],
            payload_bytes=PAYLOAD_BYTES,
            place_count=int(chosen["place_count"]),
            batch_s=chosen["batch_s"],
            count=max(2, int(RUN_S * chosen["utilization"] / _service_s())),
            progress=progress,
            stop=stop,
        )

    def show_run(samples: Table) -> None:
        for name, value in chosen.items():  # a slider may have moved during the run
            controls[name].value = value
        chosen.clear()
        shown[:] = [(_setting(controls), samples)]
        board.refresh()

    live = run_button(
        "Send datagrams through this router",
        run,
        show_run,
        key="router queue",
        tool="netcalc router-queue",
    )
    more = ("service", "batch_s", "model")
    board = panel(figure, controls, update, below=[live], more=more)
    return board


def _controls() -> dict[str, Any]:
    return {
        "utilization": Quantity(
            "load", "80 %", unit="ratio", low="10 %", high="150 %", scale="linear"
        ),
        "place_count": Quantity("capacity K", 50.0, unit="1", low=1.0, high=200.0, whole=True),
        "arrivals": choice("arrivals", {name: name for name in ARRIVALS}, "poisson"),
        "service": choice("services", {name: name for name in SERVICES}, "constant"),
        "batch_s": Quantity(
            "input collects for", "0 s", unit="s", low="0 s", high="50 ms", scale="linear"
        ),
        "view": choice("figure", VIEWS, WAITS),
        "model": choice("theory", _MODELS, "M/M/1"),
    }  # fmt: skip


def _setting(controls: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run depends on: neither the view nor the theory."""
    return {name: one.value for name, one in controls.items() if name not in ("view", "model")}


def _service_s() -> float:
    """Return the mean service: the serialization of a packet. [s]"""
    line = Path.parse(LINE).links[0]
    return float(line.serialization_s(PAYLOAD_BYTES + 28))


def _theory(values: Mapping[str, Any]) -> Plot:
    """Draw what the queues of theory say of the waits, before a run."""
    load, places, service_s = values["utilization"], int(values["place_count"]), _service_s()
    with_load = {"utilization": load, "service_s": service_s}
    at = np.linspace(0.0, 30.0 * service_s, 300)
    finite = f"M/M/1/{places}"
    means = {
        "M/M/1": mm1_wait_s(load, service_s=service_s),
        "M/D/1": md1_wait_s(load, service_s=service_s),
        finite: mm1k_wait_s(load, place_count=places, service_s=service_s),
    }
    said = ", ".join(f"{name} {show(float(value), 's')}" for name, value in means.items())
    none = (
        phrase(" Without limit there is no steady state from a load of 1 on.")
        if load >= 1.0
        else ""
    )
    return plots.curves(
        at,
        {
            "M/M/1": mm1_wait_cdf(at, **with_load),
            "M/D/1": md1_wait_cdf(at, **with_load),
            "M/M/1/K": mm1k_wait_cdf(at, place_count=places, **with_load),
        },
        x_axis=Axis("wait", "s", low=0.0, high=30.0 * service_s),
        y_axis=Axis("share of the packets", "ratio", low=0.0, high=1.05),
        title="Wait in a router: distribution",
        description=(
            phrase(
                "No run with these settings yet. Mean wait at a load of {load:.3g} and a "
                "service of {service}: {said}.{none}",
                load=load,
                service=show(service_s, "s"),
                said=said,
                none=none,
            )
        ),
    )


def _measured(run: Table, values: Mapping[str, Any]) -> Plot:
    """Draw a run: its waits over the chosen theory beside the others, or its arrivals."""
    if values["view"] == GAPS:
        return plots.overlay(compare.arrival_gaps(run))
    if values["view"] == BATCHES:
        return plots.overlay(compare.arrival_batches(run))
    models = compare.wait_models(run)
    finite = f"M/M/1/{int(values['place_count'])}"
    wanted = finite if values["model"] == FINITE else values["model"]
    name = wanted if wanted in models else "M/M/1"  # of a file with another capacity
    found = compare.waits(run, model=name)
    others = {
        other: (found.curve_x, model(found.curve_x))
        for other, model in models.items()
        if other != name
    }
    return plots.overlay(found, lines=others)
