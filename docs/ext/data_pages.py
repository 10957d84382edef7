"""A page for each bundled data set: a picture, the line that loads it, and its sheet."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from gallery import write
from sphinx.application import Sphinx

from netcalc import compare, datasets, plots
from netcalc.plots import Axis, Plot
from netcalc.samples import Table

DATA = Path(__file__).parents[2] / "data"
_BYTES, _RATE = Axis("size", "byte"), Axis("rate", "bit/s", "log")
COLUMNS = {
    "transfer_times": ("bandwidth_bps", "printed_transfer_s", "line", _RATE, Axis("time", "s")),
    "serialization_times": ("bandwidth_bps", "printed_s", "line", _RATE, Axis("time", "s", "log")),
    "store_and_forward_timeline": ("time_s", "row", "node", Axis("time", "s"), Axis("event", "1")),
    "source_sink_1440": ("row", "wall_s", "protocol", Axis("row", "1"), Axis("time", "s")),
    "source_sink_300": ("row", "wall_s", "protocol", Axis("row", "1"), Axis("time", "s")),
    "router_throughput": (
        "captured_bytes", "goodput_bps", "router", _BYTES, Axis("goodput", "bit/s"),
    ),
    "access_latencies": (
        "row", "rtt_s", "technology", Axis("row", "1"), Axis("round trip", "s", "log"),
    ),
}  # fmt: skip
"""What is drawn of a table: the columns of x, of y and of the groups, and the axes."""
_SIX = 6
"""Groups that have a marker of their own."""


def picture(name: str) -> Plot | None:
    """Return the figure of a data set; None if it has nothing to draw."""
    if name in plots.drawn_sets():
        return plots.readings(name)
    if name == "ping_emulated_t1":
        return plots.overlay(compare.overlay(datasets.load(name)))
    if name == "router_emulated":
        return plots.router(datasets.load(name))
    if name in ("wan_curves", "nagle_round_trips"):
        runs = {one: datasets.load(name, series=one) for one in datasets.series(name)}
        if name == "wan_curves":
            points = {one: (run.payload_bytes, run.rtt_s) for one, run in runs.items()}
            return _points(points, _BYTES, Axis("round trip", "s", low=0.0))
        points = {one: (run.sequence, run.rtt_s) for one, run in runs.items()}
        return _points(points, Axis("request", "1"), Axis("response", "s", low=0.0))
    table = datasets.load(name)
    if not isinstance(table, Table):
        return None
    if name in COLUMNS:
        x, y, groups, x_axis, y_axis = COLUMNS[name]
        return _points(_grouped(table, x, y, groups), x_axis, y_axis)
    if "relative_difference" in table.columns():
        return _differences(table)
    return None


def _column(table: Table, name: str) -> np.ndarray:
    rows = len(next(iter(table.columns().values())))
    if name == "row":
        return np.arange(1.0, rows + 1)
    return np.asarray(table[name], float)


def _grouped(table: Table, x: str, y: str, groups: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    xs, ys, names = _column(table, x), _column(table, y), np.asarray(table[groups], str)
    kept = np.isfinite(xs) & np.isfinite(ys)
    every = list(dict.fromkeys(names[kept].tolist()))
    if len(every) > _SIX:
        return {"published": (xs[kept], ys[kept])}
    return {one: (xs[kept & (names == one)], ys[kept & (names == one)]) for one in every}


def _differences(table: Table) -> Plot | None:
    """Return the figure of an audit: how far each recomputed number is from the printed one."""
    row, off = _column(table, "row"), _column(table, "relative_difference")
    verdict = np.asarray(table["verdict"], str)
    kept = np.isfinite(off)
    if not kept.any():
        return None
    agree = np.char.startswith(verdict, "agree")
    groups = {"agrees": kept & agree, "does not, or is not sure": kept & ~agree}
    points = {name: (row[which], off[which]) for name, which in groups.items() if which.any()}
    return _points(points, Axis("row", "1"), Axis("recomputed / printed - 1", "ratio"))


def _points(points: dict[str, tuple[np.ndarray, np.ndarray]], x_axis: Axis, y_axis: Axis) -> Plot:
    return plots.curves([1.0], {}, points=points, x_axis=x_axis, y_axis=y_axis)


def page_text(name: str, *, drawn: bool) -> str:
    """Return the page of a data set."""
    sheet = (DATA / f"{name}.md").read_text(encoding="utf-8")
    title, _, rest = sheet.partition("\n")
    parts = [title, f"```python\nfrom netcalc import datasets\n\ndatasets.load({name!r})\n```"]
    if drawn:
        alt = f"The numbers of {name}, as described below."
        parts.append(f"```{{image}} {name}.svg\n:class: netcalc-figure\n:alt: {alt}\n```")
    return "\n\n".join([*parts, rest.strip()]) + "\n"


def index_text(facts: list[dict[str, object]], licence: str, drawn: set[str]) -> str:
    """Return the page that lists the data sets."""
    kinds = "Each loads by its name: `datasets.load('wan_curves')`, or `netcalc data wan_curves`."
    parts = [
        "# Data sets",
        f"{len(facts)} data sets come with netcalc: the numbers of five texts on networks, what "
        f"was read off their figures, and a recorded ping. {kinds} Each has a sheet with its "
        "source, its columns with their units, its known errors, and what is not in it.",
        f"Licence: {licence}",
        "| data set | rows | loads as | columns |\n|---|--:|---|--:|",
    ]
    parts[-1] += "".join(
        f"\n| [{one['title']}]({one['name']}.md) | {one['rows']} | {one['kind']} "
        f"| {len(dict(one['columns'])) or ''} |"  # type: ignore[call-overload]
        for one in facts
    )
    parts.append('<div class="netcalc-gallery">')
    for one in facts:
        if (name := str(one["name"])) in drawn:
            parts += [
                "<div>",
                f"```{{image}} {name}.svg\n:class: netcalc-figure\n:alt: {one['title']}\n"
                f":target: {name}.html\n```",
                f'<a href="{name}.html">{one["title"]}</a>\n</div>',
            ]
    parts.append("</div>")
    names = "\n".join(str(one["name"]) for one in facts)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```")
    return "\n\n".join(parts) + "\n"


def write_data_pages(app: Sphinx) -> None:
    """Draw the data sets and write their pages."""
    folder = Path(app.srcdir, "generated", "data")
    index = json.loads((DATA / "index.json").read_text(encoding="utf-8"))
    drawn = set()
    for name in datasets.names():
        if (plot := picture(name)) is not None:
            write(folder / f"{name}.svg", plots.svg(plot))
            drawn.add(name)
        write(folder / f"{name}.md", page_text(name, drawn=name in drawn))
    write(folder / "index.md", index_text(index["sets"], index["licence"], drawn))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages of the data sets before the pages are read."""
    app.connect("builder-inited", write_data_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
