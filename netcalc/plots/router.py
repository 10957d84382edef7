"""The figure of what lies between two hosts: packets and bits per second over two limits."""

from __future__ import annotations

from dataclasses import replace

from netcalc import compare
from netcalc.checks import named_arguments
from netcalc.experiments import article_routers
from netcalc.language import phrase
from netcalc.plots.overlay import curves, overlay
from netcalc.plots.plot import Plot, together
from netcalc.plots.style import Axis, Theme
from netcalc.samples import BulkSamples


@named_arguments
def router(samples: BulkSamples, *, theme: Theme = "light") -> Plot:
    """Draw packets per second by frame size with two limits, and the same in bits per second.

    Parameters
    ----------
    samples : BulkSamples
        A run of :func:`netcalc.experiments.router`.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        Above the medians of each direction, the fitted limits with their 95% bands, and the routers
        of the article; in the middle the residuals, as shares; below the bits of the frames.
    """
    first, *others = compare.router(samples)
    notes = " ".join(f"{note}." for note in compare.router_notes(samples))
    upper = overlay(
        first, *others, x_scale="log", y_scale="log", beside=article_routers(), theme=theme
    )
    bits = [compare.frame_throughputs(each) for each in (first, *others)]
    lower = curves(
        bits[0].curve_x,
        {
            phrase("{direction}, two limits", direction=each.measured_label): each.curve_y
            for each in bits
        },
        points={
            phrase("{direction}, measured", direction=each.measured_label): (each.x, each.measured)
            for each in bits
        },
        x_axis=Axis(bits[0].x_name, bits[0].x_unit, "log"),
        y_axis=Axis(bits[0].y_name, bits[0].y_unit, "log"),
        title=bits[0].title,
        theme=theme,
    )
    both = together(upper, lower)
    return replace(both, description=f"{both.description} {notes}")
