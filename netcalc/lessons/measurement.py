"""Panels for measurements: an uploaded file or a live run, with theory or a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netcalc import compare, plots
from netcalc.errors import ReaderError
from netcalc.experiments import BOOK_SIZES, echo
from netcalc.language import phrase
from netcalc.path import Path
from netcalc.samples import RttSamples, Samples, TransferSamples
from netcalc.widgets.controls import path_box
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import run_button
from netcalc.widgets.upload import upload


def round_trip_panel(
    start: RttSamples | TransferSamples | None = None,
    *,
    sizes: Sequence[float] = BOOK_SIZES,
    path: str | None = None,
) -> Panel:
    """Round trips against size: upload a file, or run an echo on this machine.

    Parameters
    ----------
    start : RttSamples or TransferSamples, optional
        The samples that are shown initially.
    sizes : sequence of float, optional
        User data of the live echo; by default the 15 sizes of the book. [byte]
    path : str, optional
        A path as text, ``"T1 5 ms, T3 1 ms"``: a box to change it appears, the theory of that path
        is drawn instead of a fit, and the live echo goes over it. Empty text fits.

    Returns
    -------
    Panel
        The widget to show.
    """
    box = path_box(path or "", when_empty="empty to fit")
    drawn: list[RttSamples | TransferSamples] = [start or RttSamples(payload_bytes=[], rtt_s=[])]
    figure = Figure(plots.overlay(compare.overlay(drawn[0])))

    def update(links: str = "") -> None:
        known = Path.parse(links) if links.strip() else None
        figure.draw(plots.overlay(compare.overlay(drawn[0], path=known)))

    def show(samples: Samples) -> None:
        if not isinstance(samples, RttSamples | TransferSamples):
            raise ReaderError(
                "no-sizes-and-times",
                file=samples.meta.source or phrase("this file"),
                expected=phrase("a ping, or columns of sizes and times"),
            )
        drawn[0] = samples
        shown.refresh()

    def run(progress: Any, stop: Any) -> RttSamples:
        text = box.value.strip()
        if not text:
            return echo(sizes, progress=progress, stop=stop)
        return echo(sizes, path=Path.parse(text), count=3, progress=progress, stop=stop)

    live = run_button(
        "Run an echo on this machine",
        run,
        show,
        key="echo",
    )
    controls = {} if path is None else {"links": box}
    shown = panel(
        figure, controls, update, below=[upload("Your own ping file, or saved samples", show), live]
    )
    return shown
