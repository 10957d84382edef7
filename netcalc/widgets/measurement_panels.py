"""Panels for measurements: a file of one's own, a live run, theory through both."""

from __future__ import annotations

from collections.abc import Sequence

from netcalc import compare, plots
from netcalc.errors import ReaderError
from netcalc.experiments import BOOK_SIZES, echo
from netcalc.path import Path
from netcalc.plots.style import Theme
from netcalc.samples import RttSamples, Samples, TransferSamples
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import run_button
from netcalc.widgets.upload import upload


def round_trip_panel(
    start: RttSamples | TransferSamples | None = None,
    *,
    sizes: Sequence[float] = BOOK_SIZES,
    path: Path | None = None,
    theme: Theme = "light",
) -> Panel:
    """Round trips against size: upload a file, or run an echo on this machine.

    Parameters
    ----------
    start : RttSamples or TransferSamples, optional
        What is drawn at first.
    sizes : sequence of float, optional
        User data of the live echo; by default the 15 sizes of the book. [byte]
    path : Path, optional
        The path, if it is known: its theory is drawn instead of a fit.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Panel
        The widget to show; ``panel.samples`` is what is drawn.
    """
    shown = start or RttSamples(payload_bytes=[], rtt_s=[])
    figure = Figure(plots.overlay(compare.overlay(shown, path=path), theme=theme))

    def show(samples: Samples) -> None:
        if not isinstance(samples, RttSamples | TransferSamples):
            raise ReaderError(
                "has no sizes and times to draw",
                file=samples.meta.source or "this file",
                expected="a ping, or columns of sizes and times",
            )
        figure.draw(plots.overlay(compare.overlay(samples, path=path), theme=theme))

    live = run_button(
        "Run an echo on this machine",
        lambda progress, stop: echo(sizes, progress=progress, stop=stop),
        show,
        key="echo",
    )
    return panel(figure, {}, lambda: None, below=[upload("Your own ping file", show), live])
