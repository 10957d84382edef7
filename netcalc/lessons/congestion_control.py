"""Panels of the lesson on congestion control: flows over time, phase plot, the book's figures."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import ipywidgets
import numpy as np

from netcalc import datasets, plots
from netcalc.congestion import Result, live, theory
from netcalc.congestion.recording import Recording, from_table
from netcalc.datasets import printed_numbers
from netcalc.errors import ReaderError
from netcalc.language import phrase, term
from netcalc.models.tcp.sharing import jain_index
from netcalc.models.tcp.window import bdp_bytes, throughput_bps
from netcalc.plots import Axis, Plot
from netcalc.plots.courses import WAYS
from netcalc.rate_layers import IP, TCP_PAYLOAD, named
from netcalc.samples import Samples
from netcalc.scenario import ALGORITHMS, Bottleneck, Flow, Scenario, as_document, preset
from netcalc.units import show, show_rate
from netcalc.widgets.controls import SHOWN_COUNT, Quantity, choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, in_unit, notes_of, panel, sweep_panel, values_of
from netcalc.widgets.run import run_button

END_S, STOP_S = 30.0, 25.0
"""End of the run and of flow 1, and stop of flow 2: a live run takes less than a minute."""
THREE_S = ((0.0, 30.0), (6.0, 26.0), (13.0, 23.0))
"""Start and stop of three flows: half of the times of the book's test. [s]"""
FLOWS = ("first", "second", "third")
"""Controls that have the algorithm of each flow."""
STACK = "linux"
"""Theory with the recovery and slow start of the kernel that runs live."""
TIMED = ("goodput", "window", "queue")
"""What the panels of flows draw over time."""
NAMES = {"reno": "Reno", "cubic": "CUBIC", "bbr": "BBR", "vegas": "Vegas", "dctcp": "DCTCP"}
GOODPUT_UNITS = {"B/s, as printed": 8.0, "kbit/s": 1e3, "Mbit/s": 1e6, "MB/s": 8e6}
"""Units that the axis of the book's figure 15 may have meant. [bit/s]"""
WINDOW_UNITS = {
    "bytes, as printed": 1.0,
    "segments of 1448 bytes": 1448.0,
    "segments of 8948 bytes": 8948.0,
    "kilobytes": 1e3,
}
"""Units that the axis of the book's figure 16 may have meant. [byte]"""
_FIGURES = {"Fig. 15": "two_flow_goodput", "Fig. 16": "two_flow_windows",
            "Fig. 17": "two_flow_goodput"}  # fmt: skip
_BOOK_BPS, _BOOK_RTT_S = "NE05", "NE04"
"""Rate and round-trip time of the book's test bench in ``congestion_scenarios``."""


def two_flows_panel() -> Panel:
    """Two flows on a bottleneck over time: theory while a slider moves, live by a button."""
    return _flows_panel(
        _controls(),
        _scenario,
        title="Two flows on one bottleneck",
        label="Run both flows on this machine",
        key="two flows",
    )


def three_flows_panel() -> Panel:
    """Three flows that come and go, of any algorithms: theory, and live by a button."""
    return _flows_panel(
        {**_algorithms("first", "second", "third"), **_link_controls()},
        _three_flows,
        title="Three flows on one bottleneck",
        label="Run three flows on this machine",
        key="three flows",
    )


def _flows_panel(
    controls: dict[str, ipywidgets.Widget],
    scenario_of: Callable[..., Scenario],
    *,
    title: str,
    label: str,
    key: str,
) -> Panel:
    """Return a panel of flows over time; ``scenario_of`` takes the values of the controls."""
    runs: dict[Scenario, Recording] = {}
    chosen: dict[str, Any] = {}

    def drawn(results: list[Result]) -> Plot:
        return plots.courses(results, parts=TIMED, title=title)

    figure = Figure(drawn([theory.run(scenario_of(**values_of(controls)), stack=STACK)]))

    def update(**values: Any) -> None:
        scenario = scenario_of(**values)
        results = [theory.run(scenario, stack=STACK)]
        recording = runs.get(scenario)
        if recording is not None:
            results.append(recording.result())
        figure.draw(drawn(results))
        words = [figure.description, *(_sharing(result) for result in results)]
        figure.describe(" ".join([*words, *notes_of(recording)]))

    def run(progress: Callable[..., object], stop: Any) -> Recording:
        chosen.update(values_of(controls))
        return live.record(scenario_of(**chosen), progress=progress, stop=stop)

    def show_run(result: Recording | Samples) -> None:
        if isinstance(result, Samples):  # of a file
            recording = from_table(result)
            chosen.update(_values_of(recording.scenario, scenario_of, list(controls)))
            runs[scenario_of(**chosen)] = recording
        else:
            runs[result.scenario] = result
        for name, value in chosen.items():  # a slider may have moved during the run
            controls[name].value = value
        shown.refresh()

    button = run_button(label, run, show_run, key=key, experiment="congestion")
    shown = panel(figure, controls, update, below=[button], more=_more(controls))
    return shown


def _more(controls: Collection[str]) -> list[str]:
    """Return the controls not shown at first: the algorithms and the buffer are."""
    last = [name for name in ("rtt_s", "start_s", "rate_bps") if name in controls]
    return last[: len(controls) - SHOWN_COUNT]


def phase_panel() -> Panel:
    """The window of one flow against that of the other, by theory, while both run."""
    controls = _controls()

    def draw(**values: Any) -> Plot:
        result = theory.run(_scenario(**values), stack=STACK)
        return plots.phase([result], title="Window against window")

    figure = Figure(draw(**values_of(controls)))

    return panel(
        figure, controls, lambda **values: figure.draw(draw(**values)), more=_more(controls)
    )


def goodput_unit_panel() -> Panel:
    """The book's goodputs of two flows in a unit that is chosen, beside the rate of the line."""
    rows = _rows("two_flow_goodput", "Fig. 15")
    line_bps = _stated(_BOOK_BPS)
    line = show_rate(line_bps, IP)
    name, at_s, goodputs = term("read off figure 15"), rows["time_s"], rows["axis_value"]

    def model(unit_bps: float) -> Swept:
        alone = float(goodputs[0])
        return {
            phrase("line of {line}", line=line): [line_bps, line_bps],
            name: (at_s, goodputs * unit_bps),
        }, phrase(
            "The axis has {alone:g} for flow 1 alone: {alone_2}, {share:.4g}% of the "
            "line's {line}.",
            alone=alone,
            alone_2=show_rate(alone * unit_bps, TCP_PAYLOAD),
            share=100 * (alone * unit_bps / line_bps),
            line=line,
        )

    return sweep_panel(
        model,
        over=[0.0, 60.0],
        controls={"unit_bps": choice("unit of the axis", GOODPUT_UNITS, 8.0)},
        x=Axis("time", "s", low=0.0, high=60.0),
        y=Axis(named("goodput", TCP_PAYLOAD), "bit/s", "log", 1e4, 1e12),
        title="Goodput of two flows, if this is the unit",
    )


def window_unit_panel() -> Panel:
    """The book's windows of two flows in a unit that is chosen, beside what fills the path."""
    rows = _rows("two_flow_windows")
    line_bps, rtt_s = _stated(_BOOK_BPS), _stated(_BOOK_RTT_S)
    fills = float(bdp_bytes(rtt_s, bandwidth_bps=line_bps))
    full = phrase("fills {line} over {rtt}", line=show_rate(line_bps, IP), rtt=show(rtt_s, "s"))
    name, reading, windows = term("read off figure 16"), rows["reading"], rows["axis_value"]

    def model(unit_bytes: float) -> Swept:
        alone = float(windows[-1])
        return {
            full: [fills, fills],
            "one segment of 1448 bytes": [1448.0, 1448.0],
            name: (reading, windows * unit_bytes),
        }, phrase(
            "The axis has {alone:g} for flow 1 alone at the end: a window of {window} "
            "carries {rate} over {rtt}; {fills} fill the path.",
            alone=alone,
            **in_unit("byte", window=alone * unit_bytes, fills=fills),
            rate=show_rate(float(throughput_bps(alone * unit_bytes, rtt_s=rtt_s)), TCP_PAYLOAD),
            rtt=show(rtt_s, "s"),
        )

    return sweep_panel(
        model,
        over=[float(reading.min()), float(reading.max())],
        controls={"unit_bytes": choice("unit of the axis", WINDOW_UNITS, 1.0)},
        x=Axis("reading, in the order of each curve", "1", low=0.0, high=14.0),
        y=Axis("window", "byte", "log", 100, 1e8),
        title="Windows of two flows, if this is the unit",
    )


def figures_panel() -> Panel:
    """Theory over the readings of the book's figures 15 to 17, on a test bench that is inferred."""
    names = {NAMES[algorithm]: algorithm for algorithm in ALGORITHMS}
    controls = {
        "shown": choice("figure", {name: name for name in _FIGURES}, "Fig. 15"),
        "first": choice(term("flow 1, or A"), names, "cubic"),
        "second": choice(term("flow 2, or B"), names, "cubic"),
    }

    def drawn(shown: str, first: str, second: str) -> Plot:
        bench = preset("two-flows-10g")
        flows = tuple(
            replace(flow, algorithm=algorithm)
            for flow, algorithm in zip(bench.flows, (first, second), strict=True)
        )
        scenario = replace(bench, flows=flows)
        return plots.readings(_FIGURES[shown], figure=shown, scenario=scenario)

    figure = Figure(drawn(**values_of(controls)))
    return panel(figure, controls, lambda **values: figure.draw(drawn(**values)))


def requests_panel() -> Panel:
    """The book's goodput of requests of 1 MB and of 10 KB beside long flows, and equal shares."""
    sets = {"18: 1 MB": "large_request_goodput", "19: 10 KB": "small_request_goodput"}
    controls = {"name": choice("figure", sets, "large_request_goodput")}
    figure = Figure(plots.readings("large_request_goodput"))
    return panel(figure, controls, lambda name: figure.draw(plots.readings(name)))


def _controls() -> dict[str, ipywidgets.Widget]:
    return {
        **_algorithms("first", "second"),
        **_link_controls(),
        "start_s": Quantity("start of flow 2", "8 s", "1 s", "20 s", unit="s", scale="linear"),
    }


def _algorithms(*flows: str) -> dict[str, ipywidgets.Widget]:
    """Return a choice of the algorithm for each flow."""
    names = {NAMES[algorithm]: algorithm for algorithm in ALGORITHMS}
    return {
        flow: choice(phrase("flow {number}", number=number), names, "cubic")
        for number, flow in enumerate(flows, start=1)
    }


def _link_controls() -> dict[str, ipywidgets.Widget]:
    return {
        "rate_bps": Quantity("rate", "10 Mbit/s", "2 Mbit/s", "100 Mbit/s", unit="bit/s"),
        "rtt_s": Quantity("round trip", "40 ms", "10 ms", "200 ms", unit="s"),
        "buffer_bdp": Quantity("buffer in BDP", 1.0, 0.25, 8.0, unit="1"),
    }  # fmt: skip


def _scenario(
    first: str, second: str, rate_bps: float, rtt_s: float, buffer_bdp: float, start_s: float
) -> Scenario:
    """Return two flows: the first for the whole time, the second from its start to its stop."""
    link = Bottleneck.of(rate_bps=rate_bps, rtt_s=rtt_s, buffer_bdp=buffer_bdp)
    flows = (
        Flow(algorithm=first, stop_s=END_S),
        Flow(algorithm=second, start_s=start_s, stop_s=STOP_S),
    )
    return Scenario(bottleneck=link, flows=flows, end_s=END_S)


def _three_flows(
    first: str, second: str, third: str, rate_bps: float, rtt_s: float, buffer_bdp: float
) -> Scenario:
    """Return three flows: each later one stops before those that began before it."""
    link = Bottleneck.of(rate_bps=rate_bps, rtt_s=rtt_s, buffer_bdp=buffer_bdp)
    flows = tuple(
        Flow(algorithm=algorithm, start_s=start_s, stop_s=stop_s)
        for algorithm, (start_s, stop_s) in zip((first, second, third), THREE_S, strict=True)
    )
    return Scenario(bottleneck=link, flows=flows, end_s=END_S)


def _values_of(
    scenario: Scenario, scenario_of: Callable[..., Scenario], names: list[str]
) -> dict[str, Any]:
    """Return the values of the controls of a panel that make a scenario."""
    link, flows = scenario.bottleneck, scenario.flows
    every_value: dict[str, Any] = {
        "rate_bps": link.rate_bps,
        "rtt_s": link.rtt_s,
        "buffer_bdp": link.buffer_bytes / link.bdp_bytes,
        **{name: flow.algorithm for name, flow in zip(FLOWS, flows, strict=False)},
    }
    if len(flows) > 1:
        every_value["start_s"] = flows[1].start_s
    values = {name: every_value[name] for name in names if name in every_value}
    like = as_document(scenario_of(**values)) if len(values) == len(names) else {}
    if like | {"buffer_bytes": link.buffer_bytes} != as_document(scenario):
        raise ReaderError(
            "other-experiment", file="saved run", expected="the flows that this panel runs"
        )
    return values


def _sharing(result: Result) -> str:
    """Say how fairly the flows shared while all ran; nothing of a run that ended before."""
    course, flows = result.trajectory, result.scenario.flows
    start_s = max(flow.start_s for flow in flows)
    if course is None or not course.time_s.size or course.time_s[-1] <= start_s:
        return ""
    stops = [result.scenario.end_s if flow.stop_s is None else flow.stop_s for flow in flows]
    end_s = min(*stops, float(course.time_s[-1]))
    rates = course.mean_goodput_bps(start_s, end_s)
    *most, last = (show_rate(float(rate), TCP_PAYLOAD) for rate in rates)
    return phrase(
        "From {start} to {end}, {ways}: {join} and {last}, Jain index {jain_index:.3f}.",
        **in_unit("s", start=start_s, end=end_s),
        ways=WAYS[result.by],
        join=", ".join(most),
        last=last,
        jain_index=float(jain_index(rates)),
    )


def _rows(name: str, figure: str = "") -> dict[str, Any]:
    """Return the readings of a figure that have a height, and a time if the set has times."""
    columns = datasets.load(name).columns()
    mine = np.isfinite(columns["axis_value"])
    if figure:
        mine &= (columns["figure"] == figure) & np.isfinite(columns["time_s"])
    return {key: values[mine] for key, values in columns.items()}


def _stated(number: str) -> float:
    """Return a number that the book's section states, by its id."""
    return printed_numbers("congestion_scenarios")[number]
