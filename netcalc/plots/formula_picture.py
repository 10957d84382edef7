"""Curves of a formula as a PNG or SVG file, for documents and slides: by matplotlib."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from netcalc.display import show
from netcalc.errors import MissingPackageError
from netcalc.plots.formula import SHADES, FormulaCurves
from netcalc.plots.style import PALETTES, Axis
from netcalc.samples import write_atomically

_STYLES = ("-", "--", ":", "-.", (0, (8, 3)), (0, (4, 2, 1, 2, 1, 2)))
_DOTS_PER_INCH = 150
_LINE_INCH = 0.22


def formula_picture(curves: FormulaCurves, path: str | Path) -> None:
    """Write the figure to a file, in the form of its suffix.

    Parameters
    ----------
    curves : FormulaCurves
        The figure.
    path : path
        A file that ends with ``.png`` or ``.svg``.

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter
    except ImportError as error:
        raise MissingPackageError("matplotlib", extra="lab", purpose="PNG and SVG") from error
    path = Path(path)
    below = _LINE_INCH * len(curves.lines_below)
    # Without times and random numbers in it the same figure is the same file.
    with rc_context({"svg.hashsalt": "netcalc", "svg.fonttype": "none", "text.parse_math": False}):
        sheet = Figure(figsize=(8.0, 4.6 + below), layout="constrained")
        chart = sheet.add_subplot()
        for shade in curves.shades:
            chart.axvspan(
                shade.low, shade.high, facecolor="0.93", edgecolor="0.7", linewidth=0.0,
                hatch=2 * SHADES[shade.code][1],
            )  # fmt: skip
        for i, (name, one) in enumerate(curves.lines.items()):
            color = PALETTES["light"][i % len(PALETTES["light"])]
            style: Any = _STYLES[i % len(_STYLES)]
            chart.plot(one.x, one.y, color=color, linestyle=style, linewidth=2.0, label=name)
        for axis, drawn in ((curves.x_axis, chart.xaxis), (curves.y_axis, chart.yaxis)):
            drawn.set_label_text(axis.name)
            drawn.axes.set(**{f"{drawn.axis_name}scale": axis.scale})
            drawn.set_major_formatter(FuncFormatter(_ticks(axis)))
        chart.grid(visible=True, color="0.9")
        chart.set_axisbelow(True)
        chart.margins(x=0)
        chart.set_ylim(curves.y_axis.low, curves.y_axis.high)
        if len(curves.lines) > 1:
            chart.legend()
        chart.set_title(curves.title)
        sheet.supxlabel("\n".join(curves.lines_below), x=0.02, ha="left", fontsize=9)
        written = io.BytesIO()
        sheet.savefig(
            written, format=path.suffix[1:], dpi=_DOTS_PER_INCH,
            metadata={"Date": None} if path.suffix == ".svg" else None,
        )  # fmt: skip
    write_atomically(path, written.getvalue())


def _ticks(axis: Axis) -> Any:
    """Return what writes a tick as people read it: ``20 ms``, ``1.5 kB``."""

    def text(value: float, _position: int | None) -> str:
        return show(value, axis.unit) if axis.unit != "1" else f"{value:g}"

    return text
