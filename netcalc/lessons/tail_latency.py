"""Panels of the lesson on buffers: goodput, delay and p99 against the buffer, a router's queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from netcalc import compare, datasets, experiments, plots
from netcalc.checks import FloatArray
from netcalc.congestion import Result, live, theory
from netcalc.congestion.recording import Recording
from netcalc.experiments.router_queue import ARRIVALS, SERVICES
from netcalc.language import phrase, term
from netcalc.lessons.congestion_control import NAMES
from netcalc.models.queues.md1 import md1_wait_cdf, md1_wait_s
from netcalc.models.queues.mm1 import mm1_wait_cdf, mm1_wait_s, mm1k_wait_cdf, mm1k_wait_s
from netcalc.models.tcp.sharing import drain_s
from netcalc.models.tcp.window import bdp_packets
from netcalc.path import Path
from netcalc.plots import Axis, Plot
from netcalc.plots.courses import WAYS
from netcalc.rate_layers import IP, TCP_PAYLOAD
from netcalc.samples import Table
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario
from netcalc.units import show, show_rate
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, in_unit, notes_of, panel, sweep_panel, values_of
from netcalc.widgets.run import run_button

STACK = "linux"
"""Theory with the recovery and slow start of the kernel that runs live."""
REQUEST_BYTES = 10e3
"""Requests of the book's figure 20. [byte]"""
END_S, START_S, WARM_S = 50.0, 3.0, 8.0
"""End, start of the flow, and when counting begins. A buffer of 8 BDP delays each by 0.36 s;
42 s have room for 100 requests, below which no 99th percentile is given. [s]"""
BUFFERS = tuple(float(bdp) for bdp in 2.0 ** np.arange(-2.0, 3.01, 0.5))
"""Buffers of the drawn curves, from 1/4 to 8 bandwidth-delay products. [BDP]"""
PACKET_BYTES = 1500.0
"""Full packets of the link: a buffer holds at least one. [byte]"""
RATE_BPS, RTT_S = 10e6, 0.04
"""Link of the book's figure 20, and of the live runs. [bit/s], [s]"""
P99, P50, QUEUE, FULL = (
    term("p99 of requests"), term("median of requests"),
    term("mean queueing delay"), term("round trip and full buffer")
)  # fmt: skip
SLOW_S = 1.0
"""Computing beyond which the panel says before it that it will last. [s]"""
GOODPUT, HERE, GOODPUT_HERE = (
    term("goodput of all"),
    term("this buffer"),
    term("goodput with this buffer"),
)
OVER_TIME, DISTRIBUTION, AGAINST_BUFFER = "time", "distribution", "buffer"


class BufferOutcome(NamedTuple):
    """What one buffer leaves a flow and the requests beside it; the goodput is that of both."""

    goodput_ratio: float
    queue_s: float
    p50_s: float
    p99_s: float


NOTHING = BufferOutcome(*[float("nan")] * 4)
"""Of a buffer that does not hold a packet."""


def buffer_panel() -> Panel:
    """Goodput, queueing delay and p99 of requests against the buffer, by theory."""
    controls = {
        "buffer_bdp": Quantity("buffer in BDP", 1.0, 0.25, 8.0, unit="1"),
        "algorithm": _algorithm(),
        "rate_bps": Quantity("rate", "10 Mbit/s", "2 Mbit/s", "100 Mbit/s", unit="bit/s"),
        "rtt_s": Quantity("round trip", "40 ms", "10 ms", "200 ms", unit="s"),
    }  # fmt: skip
    at = np.array(BUFFERS)
    axis = Axis("buffer in BDP", "1", low=0.0, high=8.5)
    empty = np.full(at.size, np.nan)
    figure = Figure(
        plots.together(
            plots.curves(
                at,
                dict.fromkeys((P99, P50, QUEUE, FULL), empty),
                points={HERE: ([1.0], [np.nan])},
                x_axis=axis,
                y_axis=Axis("delay", "s", "log", 1e-3, 10.0),
                title="Delay beside one flow, against the buffer",
            ),
            plots.curves(
                at,
                {GOODPUT: empty},
                points={GOODPUT_HERE: ([1.0], [np.nan])},
                x_axis=axis,
                y_axis=Axis("share of the line", "ratio", low=0.0, high=1.05),
                title="Goodput of flow and requests, against the buffer",
            ),
        )
    )

    def update(
        buffer_bdp: float, algorithm: str, rate_bps: float, rtt_s: float
    ) -> tuple[float, float]:
        awaited_s = computing_s(algorithm, rate_bps, rtt_s)
        if awaited_s > SLOW_S:
            figure.describe(
                phrase(
                    "Theory computes {size} buffers, for about {awaited:.0f} s.",
                    size=at.size,
                    awaited=awaited_s,
                )
            )
        by_buffer = outcomes(algorithm, rate_bps, rtt_s)
        here = outcome(algorithm, rate_bps, rtt_s, buffer_bdp)
        full_s = rtt_s + drain_s(at * rate_bps * rtt_s / 8.0, bandwidth_bps=rate_bps)
        figure.update_all(
            {
                P99: {"y": [result.p99_s for result in by_buffer]},
                P50: {"y": [result.p50_s for result in by_buffer]},
                QUEUE: {"y": [result.queue_s for result in by_buffer]},
                FULL: {"y": full_s},
                HERE: {"x": [buffer_bdp] * 3, "y": [here.p99_s, here.p50_s, here.queue_s]},
                GOODPUT: {"y": [result.goodput_ratio for result in by_buffer]},
                GOODPUT_HERE: {"x": [buffer_bdp], "y": [here.goodput_ratio]},
            }
        )
        figure.describe(_said(here, buffer_bdp, algorithm, rate_bps, rtt_s))
        return buffer_bdp, here.p99_s

    what = term("99th percentile of the requests at this buffer")
    return panel(figure, controls, update, predict=what, unit="s")


def _said(
    here: BufferOutcome, buffer_bdp: float, algorithm: str, rate_bps: float, rtt_s: float
) -> str:  # fmt: skip
    if not _holds_packet(rate_bps, rtt_s, buffer_bdp):
        return phrase(
            "{buffer_bdp:.3g} BDP of {rate} and {rtt} are {buffer_bdp_2}: no packet of "
            "{packet_bytes} fits into this buffer. The curves begin where one does.",
            buffer_bdp=buffer_bdp,
            rate=show_rate(rate_bps, IP),
            rtt=show(rtt_s, "s"),
            **in_unit(
                "byte", buffer_bdp_2=buffer_bdp * rate_bps * rtt_s / 8.0, packet_bytes=PACKET_BYTES
            ),
        )
    link = Bottleneck.of(rate_bps=rate_bps, rtt_s=rtt_s, buffer_bdp=buffer_bdp)
    return phrase(
        "One flow of {names} over {rate} and {rtt}, buffer of {buffer_bdp:.3g} BDP "
        "({buffer}, {buffer_packets} packets): goodput of all {goodput}, mean queueing "
        "delay {queue}; requests of {request_bytes}: median {p50}, {p99}.",
        names=NAMES[algorithm],
        rate=show_rate(rate_bps, IP),
        **in_unit("s", rtt=rtt_s, queue=here.queue_s, p50=here.p50_s),
        buffer_bdp=buffer_bdp,
        **in_unit("byte", buffer=link.buffer_bytes, request_bytes=REQUEST_BYTES),
        buffer_packets=link.buffer_packets,
        goodput=show_rate(here.goodput_ratio * rate_bps, TCP_PAYLOAD),
        p99=_p99(here.p99_s),
    )


def readings_panel() -> Panel:
    """The book's percentiles against the buffer, the full buffer's delay, and theory."""
    rows = datasets.load("request_latency").columns()
    shown = np.isfinite(rows["p99_s"])
    book = {
        name: (
            rows["buffer_packets"][shown & (rows["algorithm"] == name)],
            rows["p99_s"][shown & (rows["algorithm"] == name)],
        )
        for name in dict.fromkeys(rows["algorithm"].tolist())
    }
    fills = float(bdp_packets(RTT_S, bandwidth_bps=RATE_BPS, packet_bytes=1500))
    at = np.array(BUFFERS) * fills
    full_s = RTT_S + drain_s(at * 1500.0, bandwidth_bps=RATE_BPS)
    red = ", ".join(f"{show(float(s), 's')} at {n:.0f}" for n, s in zip(*book["red"], strict=True))

    def model(algorithm: str) -> Swept:
        p99_s = np.array([result.p99_s for result in outcomes(algorithm, RATE_BPS, RTT_S)])
        sentence = phrase(
            "{fills:.0f} packets are one bandwidth-delay product. A round trip and a full "
            "buffer take {full} to {full_2}; p99 of requests beside {names}, by theory, "
            "{p99} to {p99_2}. Red: ",
            fills=fills,
            **in_unit("s", full=full_s[0], full_2=full_s[-1], p99=p99_s[0], p99_2=p99_s[-1]),
            names=NAMES[algorithm],
        )
        within = phrase(" packets. All readings are within 10 ms.")
        return {FULL: full_s, phrase("{p99}, theory", p99=P99): p99_s}, sentence + red + within

    return sweep_panel(
        model,
        over=at,
        book=book,
        controls={"algorithm": _algorithm(phrase("theory of"))},
        x=Axis("buffer in packets", "1", low=0.0, high=280.0),
        y=Axis("99th percentile", "s", low=0.0, high=0.9),
        title="Requests of 10 KB beside one flow, read off the figure 20",
    )


def bufferbloat_panel() -> Panel:
    """Requests beside one flow on this machine: over time, and their p99 against the buffer."""
    runs: dict[Scenario, Recording] = {}
    chosen: dict[str, Any] = {}
    controls = {
        "algorithm": _algorithm(),
        "buffer_bdp": Quantity("buffer in BDP", 4.0, 0.25, 8.0, unit="1"),
        "view": choice(
            "figure",
            {
                "over time": OVER_TIME,
                "their distribution": DISTRIBUTION,
                "p99 against the buffer": AGAINST_BUFFER,
            },
            OVER_TIME,
        ),
    }

    def draw(algorithm: str, buffer_bdp: float, view: str) -> tuple[Plot, list[str]]:
        scenario = _scenario(algorithm, RATE_BPS, RTT_S, buffer_bdp)
        recording = runs.get(scenario)
        if view == AGAINST_BUFFER:
            alike = [run for run in runs.values() if run.scenario.flows == scenario.flows]
            return _against_buffer(alike, algorithm), []
        if view == DISTRIBUTION:
            results = [_evaluated(scenario), *([recording.result()] if recording else [])]
            title = term("Requests of 10 KB beside one flow: distribution")
            return plots.latencies(results, title=title), notes_of(recording)
        return _over_time(scenario, recording), notes_of(recording)

    figure = Figure(draw("cubic", 4.0, OVER_TIME)[0])

    def update(**values: Any) -> None:
        plot, notes = draw(**values)
        figure.draw(plot)
        figure.describe(" ".join(filter(None, (plot.description, *notes))))

    def run(progress: Callable[..., object], stop: Any) -> Recording:
        chosen.update({name: controls[name].value for name in ("algorithm", "buffer_bdp")})
        scenario = _scenario(chosen["algorithm"], RATE_BPS, RTT_S, chosen["buffer_bdp"])
        return live.record(scenario, progress=progress, stop=stop)

    def show_run(recording: Recording) -> None:
        runs[recording.scenario] = recording
        for name, value in chosen.items():  # a slider may have moved during the run
            controls[name].value = value
        shown.refresh()

    button = run_button("Send requests beside a flow", run, show_run, key="bufferbloat")
    shown = panel(figure, controls, update, below=[button])
    return shown


def _over_time(scenario: Scenario, recording: Recording | None) -> Plot:
    """Draw the round trip of theory, and the latency of each live request."""
    result = _evaluated(scenario)
    course = result.trajectory
    assert course is not None  # of one scenario it is always there
    link = scenario.bottleneck
    full_s = float(link.rtt_s + drain_s(link.buffer_bytes, bandwidth_bps=link.rate_bps))
    at_s, latency_s = np.zeros(0), np.zeros(0)
    said = [_percentiles(result)]
    if recording is not None:
        rows = recording.requests[recording.requests["index"] == len(scenario.flows)]
        at_s, latency_s = rows["at_ns"] * 1e-9, (rows["value"] - rows["at_ns"]) * 1e-9
        said.append(_percentiles(recording.result()))
        before = latency_s[at_s < START_S]
        if before.size:
            said.append(
                phrase(
                    "Before the flow: median {value}.", value=show(float(np.median(before)), "s")
                )
            )
    else:
        said.append(phrase("No run with these settings yet."))
    time_s = np.append(course.time_s, scenario.end_s)
    rtt_s = np.append(course.rtt_s, course.rtt_s[-1])
    return plots.curves(
        time_s,
        {"round trip, theory": rtt_s, FULL: np.full(time_s.size, full_s)},
        points={"requests, live": (at_s, latency_s)},
        x_axis=Axis("time", "s", low=0.0, high=scenario.end_s),
        y_axis=Axis("latency", "s", low=0.0, high=1.5 * full_s),
        title=phrase("Requests of 10 KB; a flow begins after {start_s:g} s", start_s=START_S),
        description=" ".join(said),
    )


def _against_buffer(recordings: list[Recording], algorithm: str) -> Plot:
    """Draw the percentiles of all runs with an algorithm over those of theory."""
    at = np.array(BUFFERS)
    results = [recording.result() for recording in recordings]
    link = [result.scenario.bottleneck for result in results]
    x = np.array([result.buffer_bytes / result.bdp_bytes for result in link])
    p99_s = np.array([_first(result.request_p99_s) for result in results])
    # A run that was stopped early may have too few requests for a 99th percentile.
    is_measured = np.isfinite(p99_s)
    by_theory = np.array([result.p99_s for result in outcomes(algorithm, RATE_BPS, RTT_S)])
    full_s = RTT_S + drain_s(at * RATE_BPS * RTT_S / 8.0, bandwidth_bps=RATE_BPS)

    def predicted(buffer_bdp: FloatArray) -> FloatArray:
        inside = (buffer_bdp >= at[0]) & (buffer_bdp <= at[-1] * (1 + 1e-9))
        return np.where(inside, np.interp(buffer_bdp, at, by_theory), np.nan)

    compared = compare.points(
        x[is_measured],
        measured=p99_s[is_measured],
        theory=predicted,
        x_name=phrase("buffer in BDP"),
        x_unit="1",
        y_name=phrase("99th percentile"),
        y_unit="s",
        title="Requests of 10 KB beside one flow: p99",
        measured_label="live",
        predicted_label=phrase("theory, {names}", names=NAMES[algorithm]),
    )
    # The curve reaches over all buffers, not only to the largest one that was run.
    compared = replace(
        compared, curve_x=at, curve_y=by_theory, curve_low=by_theory, curve_high=by_theory
    )
    return plots.overlay(compared, lines={FULL: (at, full_s)})


def _percentiles(result: Result) -> str:
    """Say the median and the 99th percentile of the requests of one way."""
    p50_s, p99_s = _first(result.request_p50_s), _first(result.request_p99_s)
    middle = (
        phrase("no requests")
        if np.isnan(p50_s)
        else phrase("median {p50}, {p99}", p50=show(p50_s, "s"), p99=_p99(p99_s))
    )
    return phrase(
        "From {warm_s:g} s on, {ways}: {middle}.",
        warm_s=WARM_S,
        ways=WAYS[result.by],
        middle=middle,
    )


def _p99(p99_s: float) -> str:
    """Say a 99th percentile, which fewer than a hundred requests do not have."""
    return phrase("too few requests for a p99") if np.isnan(p99_s) else f"p99 {show(p99_s, 's')}"


def _first(values: FloatArray | None) -> float:
    """Return the percentile of the one request loop."""
    return float(values[0]) if values is not None else float("nan")


def _algorithm(label: str = "flow") -> Any:
    return choice(label, {name: algorithm for algorithm, name in NAMES.items()}, "cubic")


def _scenario(algorithm: str, rate_bps: float, rtt_s: float, buffer_bdp: float) -> Scenario:
    """Return a flow and a request loop, which begins before it."""
    return Scenario(
        bottleneck=Bottleneck.of(rate_bps=rate_bps, rtt_s=rtt_s, buffer_bdp=buffer_bdp),
        flows=(Flow(algorithm=algorithm, start_s=START_S, stop_s=END_S),),
        requests=(Requests(request_bytes=REQUEST_BYTES, algorithm=algorithm, stop_s=END_S),),
        end_s=END_S,
        warm_s=WARM_S,
    )


@lru_cache(maxsize=64)
def _evaluated(scenario: Scenario) -> Result:
    return theory.run(scenario, stack=STACK)


@lru_cache(maxsize=500)
def outcomes(algorithm: str, rate_bps: float, rtt_s: float) -> tuple[BufferOutcome, ...]:
    """Return what theory says of all :data:`BUFFERS`; kept, as a slider comes back.

    Buffers that do not hold a packet have nan.
    """
    scenarios = _scenarios(algorithm, rate_bps, rtt_s)
    results = theory.run_many(scenarios, stack=STACK, with_course=True)
    below = len(BUFFERS) - len(scenarios)
    return (NOTHING,) * below + tuple(_outcome(result) for result in results)


def computing_s(algorithm: str, rate_bps: float, rtt_s: float) -> float:
    """Return about how long :func:`outcomes` takes at first: together hardly more than one. [s]"""
    return max(map(theory.estimated_s, _scenarios(algorithm, rate_bps, rtt_s)))


def outcome(algorithm: str, rate_bps: float, rtt_s: float, buffer_bdp: float) -> BufferOutcome:
    """Return what theory says of one buffer, nan if it does not hold a packet.

    One of :data:`BUFFERS` is taken from :func:`outcomes`, not computed a second time.
    """
    if buffer_bdp in BUFFERS:
        return outcomes(algorithm, rate_bps, rtt_s)[BUFFERS.index(buffer_bdp)]
    if not _holds_packet(rate_bps, rtt_s, buffer_bdp):
        return NOTHING
    return _outcome(_evaluated(_scenario(algorithm, rate_bps, rtt_s, buffer_bdp)))


def _scenarios(algorithm: str, rate_bps: float, rtt_s: float) -> list[Scenario]:
    """Return the scenarios of all buffers that hold a packet."""
    fit = [bdp for bdp in BUFFERS if _holds_packet(rate_bps, rtt_s, bdp)]
    return [_scenario(algorithm, rate_bps, rtt_s, bdp) for bdp in fit]


def _holds_packet(rate_bps: float, rtt_s: float, buffer_bdp: float) -> bool:
    return rate_bps * rtt_s / 8.0 * buffer_bdp >= PACKET_BYTES


def _outcome(result: Result) -> BufferOutcome:
    rate_bps = result.scenario.bottleneck.rate_bps
    counted_s = result.scenario.end_s - result.scenario.warm_s
    requests_bps = sum(
        8 * loop.request_bytes * got.count / counted_s
        for loop, got in zip(result.scenario.requests, result.requests or (), strict=False)
    )
    return BufferOutcome(
        goodput_ratio=(float(result.goodput_bps[0]) + requests_bps) / rate_bps,
        queue_s=float(drain_s(result.queue_mean_bytes, bandwidth_bps=rate_bps)),
        p50_s=_first(result.request_p50_s),
        p99_s=_first(result.request_p99_s),
    )


LINE = "1 Mbit/s 1 ms"
"""The router's line: slow, so that a service of 2.4 ms is long beside the timers of a machine."""
PAYLOAD_BYTES = 272
RUN_S = 20.0
"""Time over which the datagrams of a run are sent. [s]"""
FINITE = "M/M/1/K"
WAITS, GAPS, BATCHES = "wait", "gaps", "batches"
VIEWS = {"the waits": WAITS, "the times between arrivals": GAPS, "how many come together": BATCHES}
_REPLAYED = term("one server, these arrivals")
_MODELS = {name: name for name in ("M/M/1", "M/D/1", FINITE, _REPLAYED)}


def router_panel() -> Panel:
    """Waits in a router by three queues, and live; the arrivals tell why they differ."""
    shown: list[tuple[dict[str, Any], Table]] = []
    chosen: dict[str, Any] = {}
    controls = _controls()
    figure = Figure(_theory(values_of(controls)))

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
        experiment="router_queue",
    )
    more = ("service", "batch_s", "model")
    board = panel(figure, controls, update, below=[live], more=more)
    return board


def _controls() -> dict[str, Any]:
    return {
        "utilization": Quantity("load", "80 %", "10 %", "150 %", unit="ratio", scale="linear"),
        "place_count": Quantity("capacity K", 50.0, 1.0, 200.0, unit="1", whole=True),
        "arrivals": choice("arrivals", {name: name for name in ARRIVALS}, "poisson"),
        "service": choice("services", {name: name for name in SERVICES}, "constant"),
        "batch_s": Quantity("input collects for", "0 s", "0 s", "50 ms", unit="s", scale="linear"),
        "view": choice("figure", VIEWS, WAITS),
        "model": choice("theory", _MODELS, "M/M/1"),
    }  # fmt: skip


def _setting(controls: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run depends on: neither the view nor the theory."""
    return values_of({name: controls[name] for name in controls.keys() - {"view", "model"}})


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
    chosen = finite if values["model"] == FINITE else values["model"]
    name = chosen if chosen in models else "M/M/1"  # of a file with another capacity
    comparison = compare.waits(run, model=name)
    others = {
        other: (comparison.curve_x, model(comparison.curve_x))
        for other, model in models.items()
        if other != name
    }
    return plots.overlay(comparison, lines=others)
