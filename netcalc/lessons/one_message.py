"""One message over a line, live: latency plus serialization, and what TCP adds to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from netcalc import compare
from netcalc.experiments import transactions
from netcalc.language import phrase, term
from netcalc.models.delays import latency
from netcalc.path import Link, Path
from netcalc.plots import Axis, Plot, curves
from netcalc.samples import TransactionSamples
from netcalc.units import show
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import run_button

SIZES = (100, 1000, 4000, 16_000, 32_000, 64_000)
"""User data of the messages of a live run; a datagram holds 65,507 bytes at most. [byte]"""
LINES = {"T1": 1.544e6, "10 Mbit/s": 10e6, "100 Mbit/s": 100e6}
THEORY, MESSAGE, STREAM = (
    "d + 8N/R",
    term("one message (UDP), half of a round trip"),
    term("over TCP"),
)
STREAM_THEORY = term("over TCP, theory with its round trips")
_AT = np.geomspace(SIZES[0], SIZES[-1], 60)


def one_message_panel() -> Panel:
    """Time of one message against its size over an emulated line, by UDP and by TCP."""
    shown: list[TransactionSamples] = []
    lines = choice("line", LINES, 1.544e6)
    wait = Quantity("latency", "30 ms", unit="s", low="1 ms", high="100 ms", scale="linear")
    figure = Figure(_drawn(None, Link(lines.value, wait.value)))

    def update(bandwidth_bps: float, latency_s: float) -> None:
        shown.clear()  # the points are of the line before
        figure.draw(_drawn(None, Link(bandwidth_bps, latency_s)))

    def run(progress: Any, stop: Any) -> TransactionSamples:
        return transactions(
            SIZES,
            protocols=("udp", "tcp"),
            count=3,
            path=Path.of([Link(lines.value, wait.value)]),
            timeout_s=5.0,
            progress=progress,
            stop=stop,
        )

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        went = Path.from_truth(samples.meta.instrument.truth).links[0]
        figure.draw(_drawn(samples, went))

    live = run_button(
        "Send messages over this line",
        run,
        show_run,
        key="one message",
        tool="netcalc transactions",
    )
    return panel(figure, {"bandwidth_bps": lines, "latency_s": wait}, update, below=[live])


def _drawn(samples: TransactionSamples | None, link: Link) -> Plot:
    """Draw the equation, and where there was a run, its messages and its transactions over TCP."""
    drawn = {THEORY: link.transfer_s(_AT)}
    points: dict[str, tuple[Any, Any]] = {MESSAGE: ([], []), STREAM: ([], [])}
    text = phrase(
        "No run yet. {size} take {transfer} by the equation.",
        size=show(float(_AT[-1]), "byte"),
        transfer=show(float(link.transfer_s(_AT[-1])), "s"),
    )
    drawn[STREAM_THEORY] = np.full(_AT.size, np.nan)
    if samples is not None and len(samples):
        sizes, both_ways_s = samples.minima("udp", column="response_s")
        one_way_s = both_ways_s / 2.0
        points[MESSAGE] = (sizes, one_way_s)
        text = ""
        if sizes.size:
            by_equation = latency.transfer_s(
                sizes, bandwidth_bps=link.bandwidth_bps, latency_s=link.latency_s
            )
            over = one_way_s / by_equation - 1.0
            text = phrase(
                "The messages took {least:.1%} to {most:.1%} longer than d + 8N/R: the "
                "headers of IP and UDP, the fragments, and two programs. ",
                least=over.min(),
                most=over.max(),
            )
        stream = compare.transactions(samples, mode="tcp")
        points[STREAM] = (stream.x, stream.measured)
        if stream.x.size:
            drawn[STREAM_THEORY] = np.interp(_AT, stream.curve_x, stream.curve_y)
            text += phrase(
                "A transaction over TCP of {size} there and back took {time}: the handshake "
                "is a round trip more.",
                size=show(float(stream.x[0]), "byte"),
                time=show(float(stream.measured[0]), "s"),
            )
        text = " ".join([text, *map(str, samples.meta.warnings)])
    return curves(
        _AT,
        drawn,
        points=points,
        x_axis=Axis("user data", "byte", "log", SIZES[0], SIZES[-1]),
        y_axis=Axis("time", "s", "log"),
        title="One message: latency plus serialization",
        description=text,
    )
