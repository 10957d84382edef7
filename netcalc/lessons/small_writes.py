"""Panels of the lesson on small writes: Nagle's rule meets the delayed acknowledgement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from netcalc import compare, datasets, experiments, plots
from netcalc.checks import FloatArray
from netcalc.language import phrase, term
from netcalc.models.hosts import small_writes
from netcalc.path import Link, Path
from netcalc.plots import Axis
from netcalc.samples import TransactionSamples
from netcalc.widgets.controls import Quantity, choice, family_choice, switch
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, in_unit, panel, sweep_panel
from netcalc.widgets.peer import PeerField
from netcalc.widgets.playback import Activity, Crossing, Kind, Playback
from netcalc.widgets.run import run_button

ROUNDS = np.arange(1, 11, dtype=float)
TWO, NODELAY, ONE = (
    term("theory: two writes"),
    term("theory: TCP_NODELAY"),
    term("theory: one write"),
)
VIEWS = {
    "times of all rounds": "",
    "packets: two writes": "nagle",
    "packets: TCP_NODELAY": "nodelay",
    "packets: one write": "single",
}
"""Views of a live run: times, or the packets of one round by mode."""
WAYS = {
    "nagle": term("two writes"),
    "flush": term("two writes and a flush"),
    "nodelay": "TCP_NODELAY",
    "single": term("one write"),
}
"""Names of the write modes in figures."""
ARTICLE_NAMES = (
    term("Nagle on"), term("Nagle off"), term("Nagle on, flush"), term("single write"),
)  # fmt: skip
"""Runs of the article, as its data set names them."""
ARTICLE_RUNS = {"Nagle on": term("two writes"), "single write": term("one write")}
"""Runs of the article shown with the live ones: the slowest and the fastest."""
PAUSES = {"none": 0.0, "0.1 s": 0.1, "1 s, as in the article": 1.0}
"""Pauses before a request; the article slept to see how the client acknowledges. [s]"""
LIVE_BPS = 100e6
"""Rate of the emulated path of a live run. [bit/s]"""


def article_panel() -> Panel:
    """The forty response times of the article, and the theory with a round trip to find."""
    article = datasets.points_by("run", "nagle_round_trips", "exchange_number", "response_s")
    measured = float(np.median(article["Nagle on"][1][1:]))

    def model(rtt_s: float, delayed_ack_s: float, write_gap_s: float) -> Swept:
        theory = _theory(rtt_s, delayed_ack_s, write_gap_s)
        sentence = phrase(
            "Two writes take {theory} (the article's median is {measured}), the first "
            "exchange of a connection {theory_2}; with TCP_NODELAY {theory_3}, one write "
            "{theory_4}.",
            **in_unit("s", theory=theory[TWO][1], measured=measured, theory_2=theory[TWO][0]),
            **in_unit("s", theory_3=theory[NODELAY][1], theory_4=theory[ONE][1]),
        )
        return theory, sentence, (2.0, float(theory[TWO][1]))

    return sweep_panel(
        model,
        over=ROUNDS,
        book={run: article[run] for run in ARTICLE_NAMES},
        controls={**_times(), "write_gap_s": _gap()},
        x=Axis("exchange", "1", "linear", 0, 11),
        y=Axis("response time", "s", "linear", 0, 0.25),
        title="Four ways to write thirteen bytes",
        predict=term("response time of a request in two writes, from its second exchange on"),
        unit="s",
    )


def _theory(rtt_s: float, delayed_ack_s: float, write_gap_s: float) -> dict[str, FloatArray]:
    """Return the time of each round: the first one is acknowledged at once."""
    common: dict[str, Any] = {"delayed_ack_s": delayed_ack_s, "write_gap_s": write_gap_s}
    two = np.full(ROUNDS.size, float(small_writes.write_write_read_s(rtt_s, **common)))
    two[0] = float(small_writes.write_write_read_s(rtt_s, quickack=True, **common))
    apart = float(small_writes.write_write_read_s(rtt_s, nagle=False, **common))
    return {TWO: two, NODELAY: np.full(ROUNDS.size, apart), ONE: np.full(ROUNDS.size, rtt_s)}


def _times() -> dict[str, Any]:
    return {
        "rtt_s": Quantity("round trip", "20 ms", "0 s", "80 ms", unit="s", scale="linear"),
        "delayed_ack_s": Quantity(
            "delayed ACK", "100 ms", "0 s", "200 ms", unit="s", scale="linear"
        ),
    }


def _gap() -> Quantity:
    return Quantity("between writes", "0 s", "0 s", "30 ms", unit="s", scale="linear")


def ladder_panel() -> Panel:
    """The segments of one request, and the cause of each wait."""
    figure = Figure(
        plots.ladder(small_writes.write_timeline([0, 0], write_bytes=[6, 7], rtt_s=0.03))
    )
    moving = Playback(["client", "server"])

    def update(
        rtt_s: float,
        delayed_ack_s: float,
        write_count: float,
        write_bytes: float,
        policy: small_writes.Policy,
        quickack: bool,
    ) -> None:
        count = int(write_count)
        steps = small_writes.write_timeline(
            [0.0] * count,
            write_bytes=[write_bytes] * count,
            rtt_s=rtt_s,
            delayed_ack_s=delayed_ack_s,
            policy=policy,
            quickack=quickack,
        )
        figure.draw(plots.ladder(steps, title="Segments of one request"))
        moving.show(*between(steps))

    times = _times()
    times["rtt_s"].value, times["delayed_ack_s"].value = 0.03, 0.04
    controls = {
        **times,
        "write_count": Quantity("writes", 2.0, 1.0, 8.0, unit="1", scale="linear", whole=True),
        "write_bytes": Quantity("bytes per write", "7 B", "1 B", "4000 B", unit="byte", whole=True),
        "policy": choice(
            "client's algorithm",
            {"Nagle": "nagle", "Nagle as in Linux (Minshall)": "minshall", "none": "nodelay"},
            "nagle",
        ),
        "quickack": switch("quick ACKs on the server"),
    }
    return panel(figure, controls, update, more=("write_bytes", "quickack"), below=[moving])


def between(
    steps: small_writes.WriteTimeline, *, kind: Kind = "theory"
) -> tuple[list[Crossing], list[Activity]]:
    """Return the segments of a ladder as they move, and what both ends wait for."""
    crossings, waitings = [], []
    rows = zip(steps.who, steps.what, steps.start_s, steps.end_s, steps.payload_bytes, strict=True)
    for who, what, start_s, end_s, size in rows:
        times = max(float(start_s), 0.0), max(float(end_s), 0.0)
        if who in (small_writes.TO_SERVER, small_writes.TO_CLIENT):
            ends = (0, 1) if who == small_writes.TO_SERVER else (1, 0)
            text = f"{what} of {size:.0f} B" if size else what
            four = (times[0], times[0], times[1], times[1])
            crossings.append(Crossing(text, *ends, *four, kind=kind, small=not size))
        else:
            waitings.append(Activity(int(who == small_writes.SERVER), what, *times, kind=kind))
    return crossings, waitings


def live_panel() -> Panel:
    """Small writes on this machine over an emulated path of known latency."""
    shown: list[TransactionSamples] = []
    drawn = [""]
    figure = Figure(_live_plot(None, 0.03, 0.0))
    view, family = choice("show", VIEWS, ""), family_choice()
    moving = Playback(["client", "server"])
    moving.layout.display = "none"
    latency = Quantity("one-way latency", "15 ms", "0 s", "50 ms", unit="s", scale="linear")
    gap = _gap()
    pause = choice("pause before a request", PAUSES, 0.0)

    def update(
        latency_s: float, write_gap_s: float, pause_s: float, family: str, view: str
    ) -> None:
        if not shown:
            figure.draw(_live_plot(None, 2 * latency_s, write_gap_s))
        elif view != drawn[-1]:  # the others are of the next run
            draw_run(view)

    def draw_run(view: str) -> None:
        drawn[:] = [view]
        if shown[0].meta.instrument.peer_machine:
            view = ""  # no packet is captured there
        moving.layout.display = None if view else "none"
        if view:
            steps = compare.ladder(shown[0], mode=view)
            facts = shown[0].meta.instrument
            written = _written(shown[0], view)
            theory = small_writes.write_timeline(
                written["write_s"],
                write_bytes=written["write_bytes"],
                rtt_s=facts.rtt_s or 0.0,
                delayed_ack_s=small_writes.LINUX_ATO_MIN_S,
                policy="nagle" if view == "nagle" else "nodelay",
            )
            captured, ours = between(steps, kind="captured"), between(theory)
            moving.show(ours[0] + captured[0], ours[1] + captured[1])
            figure.draw(plots.ladder(steps, title="The second round, captured at both ends"))
        else:
            figure.draw(_live_plot(shown[0], 0.0, 0.0))

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        draw_run(view.value)

    def run(progress: Any, stop: Any, **far: Any) -> TransactionSamples:
        path = Path.of([Link(LIVE_BPS, latency.value)]) if latency.value else None
        return experiments.small_writes(
            write_gap_s=gap.value,
            interval_s=pause.value,
            count=5 if pause.value else 10,
            progress=progress,
            stop=stop,
            **(far or {"host": family.value, "path": path}),
        )

    live = run_button(
        "Write on this machine", run, show_run, key="small writes", experiment="small_writes",
        peer=PeerField(without=[latency, view, family], directions=("forward", "back")),
    )  # fmt: skip
    controls = {
        "latency_s": latency, "write_gap_s": gap, "pause_s": pause, "view": view, "family": family,
    }  # fmt: skip
    return panel(figure, controls, update, below=[live, moving], more=("family",))


def _written(samples: TransactionSamples, mode: str) -> dict[str, list[float]]:
    """Return when the parts of a request were written, and their sizes, by the record of a run."""
    facts = samples.meta.instrument
    sizes = [float(size) for size in facts.write_bytes or [1]]
    gap_s = facts.write_gap_s or 0.0
    if mode == "single":
        return {"write_s": [0.0], "write_bytes": [sum(sizes)]}
    return {"write_s": [gap_s * n for n in range(len(sizes))], "write_bytes": sizes}


def _live_plot(samples: TransactionSamples | None, rtt_s: float, write_gap_s: float) -> plots.Plot:
    """Draw the article's rounds, those of a run, and the theory of its path."""
    points: dict[str, tuple[Any, Any]] = dict(_article())
    points.update((phrase("yours: {name}", name=name), ([], [])) for name in WAYS.values())
    lines = _theory(rtt_s, small_writes.LINUX_ATO_MIN_S, write_gap_s)
    text = phrase("No run yet: the lines are the theory.")
    if samples is not None:
        comparison = compare.small_writes(samples)
        of = np.asarray(samples.mode)[np.asarray(samples.measured)]
        at = np.asarray(samples.sequence)[np.asarray(samples.measured)]
        for mode, name in WAYS.items():
            points[phrase("yours: {name}", name=name)] = (
                at[of == mode],
                comparison.measured[of == mode],
            )
        for name, mode in ((TWO, "nagle"), (NODELAY, "nodelay"), (ONE, "single")):
            lines[name] = np.full(ROUNDS.size, np.nan)
            lines[name][at[of == mode].astype(int) - 1] = comparison.predicted[of == mode]
        text = " ".join([comparison.sentence, *map(str, samples.meta.warnings)])
    return plots.curves(
        ROUNDS,
        lines,
        points=points,
        x_axis=Axis("exchange", "1", "linear", 0, 11),
        y_axis=Axis("response time", "s", low=0.0),
        title="The article, this machine, and the theory",
        description=text,
    )


def _article() -> dict[str, tuple[Any, Any]]:
    """Return the exchanges of the article, in the words of the figure."""
    article = datasets.points_by("run", "nagle_round_trips", "exchange_number", "response_s")
    return {
        phrase("article: {name}", name=name): article[run] for run, name in ARTICLE_RUNS.items()
    }


REQUEST_WRITES = (180, 60)
"""A request in two writes: the header, then a body of a form. [byte]"""
RESPONSE_BYTES = 400
REQUESTS = np.arange(1.0, 9.0)
SHORT, LONG = term("short connections, one request each"), term("one long connection")


def http_panel() -> Panel:
    """Requests with header and body in two writes: on connections of their own, and on one."""
    figure = Figure(_http_plot({}, 0.02))
    wait = Quantity("one-way latency", "10 ms", "0 s", "50 ms", unit="s", scale="linear")

    def update(latency_s: float) -> None:
        figure.draw(_http_plot({}, 2 * latency_s))

    def run(progress: Any, stop: Any, **far: Any) -> list[TransactionSamples]:
        path = Path.of([Link(LIVE_BPS, wait.value)]) if wait.value else None
        counts = [1] * REQUESTS.size + [int(REQUESTS.size)]
        runs: list[TransactionSamples] = []
        for count in counts:
            done = sum(len(samples) for samples in runs)
            runs.append(
                experiments.small_writes(
                    REQUEST_WRITES, modes=["nagle"], count=count, reply_bytes=RESPONSE_BYTES,
                    stop=stop, **(far or {"path": path}),
                    progress=lambda now, _total, *_, done=done: progress(done + now, sum(counts)),
                )
            )  # fmt: skip
        return runs

    def show_run(runs: list[TransactionSamples]) -> None:
        times = [np.asarray(samples.response_s, dtype=float) for samples in runs]
        short = np.concatenate([samples for samples in times if samples.size == 1] or [np.empty(0)])
        long = next((samples for samples in times if samples.size > 1), np.empty(0))
        rtt_s = 2 * wait.value
        if runs and runs[0].meta.instrument.peer_machine:
            rtt_s = min(float(samples.min(initial=np.inf)) for samples in times)
        figure.draw(_http_plot({SHORT: short, LONG: long}, rtt_s))

    live = run_button(
        "Send requests", run, show_run, key="requests", experiment="small_writes", several=True,
        peer=PeerField(without=[wait]),
    )  # fmt: skip
    return panel(figure, {"latency_s": wait}, update, below=[live])


def _http_plot(times: Mapping[str, FloatArray], rtt_s: float) -> plots.Plot:
    """Draw theory of both kinds, and the response times of a run by the number of its request."""
    fresh, warm = (
        float(
            small_writes.write_write_read_s(
                rtt_s, delayed_ack_s=small_writes.LINUX_ATO_MIN_S, quickack=quick
            )
        )
        for quick in (True, False)
    )
    points: dict[str, tuple[Any, Any]] = {}
    for name in (SHORT, LONG):
        measured_s = times.get(name, np.empty(0))
        points[name] = (np.arange(1.0, measured_s.size + 1), measured_s)
    text = phrase(
        "Theory: {fresh} for a request on a fresh connection, where Linux acknowledges "
        "at once, and {warm} on one in use, where the body waits for a delayed "
        "acknowledgement.",
        **in_unit("s", fresh=fresh, warm=warm),
    )
    if times and times[SHORT].size and times[LONG].size:
        text += phrase(
            " Measured, median: {value} on short connections, {value_2} on the long one. "
            "The connection itself takes a round trip more for each short one, which is "
            "not counted here.",
            **in_unit("s", value=np.median(times[SHORT]), value_2=np.median(times[LONG])),
        )
    return plots.curves(
        REQUESTS,
        {
            "theory: acknowledged at once": np.full(REQUESTS.size, fresh),
            "theory: acknowledgement delayed": np.full(REQUESTS.size, warm),
        },
        points=points,
        x_axis=Axis("request", "1", "linear", 0, REQUESTS[-1] + 1),
        y_axis=Axis("response time", "s", low=0.0),
        title="Short connections hide what long ones show",
        description=text,
    )
