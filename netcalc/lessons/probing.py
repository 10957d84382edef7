"""Panels on probing a path from its ends: traceroute with sizes, packet trains, mixes of links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets
import numpy as np

from netcalc import compare, fit, plots
from netcalc.checks import FloatArray
from netcalc.errors import NetcalcError
from netcalc.experiments import packet_trains, probing
from netcalc.language import phrase, term
from netcalc.models.delays.latency import PathMixes, path_mixes
from netcalc.models.measuring.probing import pair_dispersion_s
from netcalc.path import Link, Path
from netcalc.plots import Axis
from netcalc.rate_layers import IP
from netcalc.samples import HopSamples, TrainSamples
from netcalc.units import parse, show, show_rate
from netcalc.widgets.controls import Quantity, path_box, switch
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, html_table, in_unit, notes_of, panel, sweep_panel
from netcalc.widgets.peer import PeerField
from netcalc.widgets.run import run_button

PATHS = (
    "10 Mbit/s 1 ms, T1 5 ms, T3 2 ms",
    "T3 2 ms, 10 Mbit/s 1 ms, T1 5 ms",
    "T1 1 ms, T1 1 ms, T1 1 ms, T1 1 ms",
    "T1 1 ms, 1 Gbit/s 5 ms",
    "100 Mbit/s 1 ms, 10 Mbit/s 2 ms, 100 Mbit/s 1 ms",
)
"""Suggested paths; others can be typed."""
PROBE_COUNT = 6
"""Probes of each size to each node in a panel's run. [1]"""
SHOWN_MIXES = 12
"""Rows of the table. [1]"""
KINDS = {"56k": "56 kbit/s", "T1": "T1", "ethernet": "10 Mbit/s", "T3": "T3", "fast": "100 Mbit/s"}
"""Kinds of links in the puzzle, by the name of their switch."""
BOOK_RTT_S, BOOK_BASE_S, BOOK_ROUTERS = 0.187, 0.080, 12
"""Stevens' round trip for connix.com to noao.edu: computed, with no data, and the routers."""


def links_panel() -> Panel:
    """Traceroute with sizes over a selectable path: each link, measured and as configured.

    The lines are theory and are shown before the run.
    """
    shown: list[HopSamples] = []
    table = ipywidgets.HTML()
    figure = Figure(_lines_to_nodes(Path.parse(PATHS[0])))

    def update(path: str) -> None:
        chosen = Path.parse(path)
        if shown and _is_of(shown[0], chosen):
            figure.draw(plots.overlay(compare.probes(shown[0], path=chosen)))
            figure.describe(" ".join([compare.probes(shown[0]).sentence, *notes_of(shown[0])]))
            fitted = fit.links(shown[0])
            table.value = html_table(fit.LINK_HEADINGS, [link.texts() for link in fitted.links])
            return
        figure.draw(_lines_to_nodes(chosen))
        table.value = ""

    def show_run(samples: HopSamples) -> None:
        shown[:] = [samples]
        _go_where(samples, box)
        board.refresh()

    box = path_box(PATHS[0], offered=PATHS, when_empty="empty it for suggestions")

    def run(progress: Any, stop: Any) -> HopSamples:
        return probing(path=Path.parse(box.value), count=PROBE_COUNT, progress=progress, stop=stop)

    live = run_button("Probe this path", run, show_run, key="probing", experiment="probing")
    board = panel(figure, {"path": box}, update, below=[table, live])
    return board


def _lines_to_nodes(path: Path) -> plots.Plot:
    """Draw the theoretical round trip to every node."""
    sizes = np.array([28.0, fit.QUOTED_BYTES, 1500.0])
    at, times = np.zeros(0), np.zeros(0)
    for hop in range(1, len(path.hops) + 1):
        at = np.concatenate((at, sizes, [np.nan]))
        times = np.concatenate((times, fit.to_node_s(sizes, path=path, hop=hop), [np.nan]))
    return plots.curves(
        at,
        {"theory of the path": times},
        x_axis=Axis("packet", "byte", "linear", 0, 1550),
        y_axis=Axis("round-trip time", "s"),
        title="Round trip to every node, against size",
        description=(
            phrase(
                "No run yet. Theory: one line to each of {hops} nodes; at 1500 bytes {times} "
                "to the first, {times_2} to the last. Up to {quoted_bytes} bytes the answer "
                "grows as well.",
                hops=len(path.hops),
                **in_unit("s", times=times[2], times_2=times[-2]),
                quoted_bytes=fit.QUOTED_BYTES,
            )
        ),
    )


def trains_panel() -> Panel:
    """Packet pairs and trains: their dispersion, and the narrow link that it shows."""
    shown: list[TrainSamples] = []
    figure = Figure(_dispersion_plot(Path.parse(PATHS[0]), None))

    def update(path: str, cross_ratio: float, packet_count: float) -> None:
        chosen = Path.parse(path)
        run = shown[0] if shown and (_is_far(shown[0]) or _is_of(shown[0], chosen)) else None
        figure.draw(_dispersion_plot(chosen, run))

    def show_run(samples: TrainSamples) -> None:
        shown[:] = [samples]
        _go_where(samples, controls["path"])
        board.refresh()

    controls = {
        "path": path_box(PATHS[0], offered=PATHS, when_empty="empty it for suggestions"),
        "cross_ratio": Quantity(
            "cross traffic", "0 %", "0 %", "60 %", unit="ratio", scale="linear"
        ),
        "packet_count": Quantity(
            "packets per train", 2.0, 2.0, 20.0, unit="1", scale="linear", whole=True
        ),
    }

    def run(progress: Any, stop: Any, **far: Any) -> TrainSamples:
        here = {"cross_ratio": controls["cross_ratio"].value}
        return packet_trains(
            path=None if far else Path.parse(controls["path"].value),
            packet_count=int(controls["packet_count"].value),
            progress=progress,
            stop=stop,
            **(far or here),
        )

    off = [controls["path"], controls["cross_ratio"]]
    live = run_button(
        "Send pairs through this path", run, show_run, key="packet trains",
        experiment="packet_trains", peer=PeerField(without=off, directions=("forward", "back")),
    )  # fmt: skip
    board = panel(figure, controls, update, below=[live])
    return board


def _dispersion_plot(path: Path, samples: TrainSamples | None) -> plots.Plot:
    rate = path.bottleneck_bps
    if samples is not None and _is_far(samples):
        rate = fit.bottleneck(samples).bandwidth_bps or rate
    apart_s = float(pair_dispersion_s(1500, bandwidth_bps=rate))
    nothing = np.zeros(0)
    number, gap_s, alone = nothing, nothing, nothing.astype(bool)
    text = phrase(
        "No run yet. Theory: 1500 bytes are {apart} apart at {rate}.",
        apart=show(apart_s, "s"),
        rate=show_rate(rate, IP),
    )
    if samples is not None:
        rows = samples.trains()
        number, alone = rows["train"], rows["crossed_count"] == 0
        gap_s = rows["dispersion_s"] / (rows["packet_count"] - 1.0)
        text = " ".join([compare.trains(samples).sentence, *notes_of(samples)])
    theory = phrase("1500 bytes at {rate}", rate=show_rate(rate, IP))
    points = {"no cross traffic between": (number[alone], gap_s[alone])}
    if not alone.all():
        points[phrase("cross traffic between")] = (number[~alone], gap_s[~alone])
    most = max(41.0, float(number.max(initial=0.0)) + 1.0)
    highest_s = 1.25 * max(2 * apart_s, float(gap_s.max(initial=0.0)))
    return plots.curves(
        [0.0, most],
        {theory: [apart_s, apart_s]},
        points=points,
        x_axis=Axis("train", "1", "linear", 0, most),
        y_axis=Axis("time between packets", "s", "linear", 0, highest_s),
        title="Dispersion of packet trains",
        description=text,
    )


def mixes_panel() -> Panel:
    """All link combinations that explain Stevens' 187 ms, and how to distinguish them."""
    sizes = np.linspace(28.0, 1500.0, 60)
    table = ipywidgets.HTML()

    def model(
        rtt_s: float, tolerance_s: float, link_count: float, router_s: float, **used: bool
    ) -> Swept:
        names = [name for kind, name in KINDS.items() if used[f"has_{kind}"]]
        rates = [parse(name, "bit/s") for name in names]
        base_s = BOOK_BASE_S + 2 * BOOK_ROUTERS * router_s
        fast = slow = np.full(sizes.size, np.nan)
        table.value, sentence = "", phrase("No kind of link is selected.")
        if rates:
            mixes = path_mixes(
                rtt_s,
                bandwidth_bps=rates,
                link_count=[link_count - 1, link_count],
                packet_bytes=1428,
                base_rtt_s=base_s,
                tolerance_s=tolerance_s,
            )
            fast, slow = (
                base_s + _serialization_s(mixes, which, sizes, rates)
                for which in (np.argmin, np.argmax)
            )
            table.value = _mix_tables(names, mixes, rates)
            count = int(mixes.rtt_s.size)
            links = {"link": link_count - 1, "link_2": link_count}
            text = (
                phrase("1 combination of {link:g} or {link_2:g} links", **links)
                if count == 1
                else phrase(
                    "{count} combinations of {link:g} or {link_2:g} links", count=count, **links
                )
            )
            sentence = phrase(
                "{text} within {tolerance} of {rtt}; {base} of it is not serialization.",
                text=text,
                **in_unit("s", tolerance=tolerance_s, rtt=rtt_s, base=base_s),
            )
        return {
            term("the fastest combination"): fast,
            term("the slowest combination"): slow,
        }, sentence

    controls: dict[str, Any] = {
        "rtt_s": Quantity("round trip", "187 ms", "100 ms", "250 ms", unit="s", scale="linear"),
        "tolerance_s": Quantity("tolerance", "1 ms", "0.1 ms", "10 ms", unit="s", scale="log"),
        "link_count": Quantity(
            "maximum links", 13.0, 2.0, 20.0, unit="1", scale="linear", whole=True
        ),
        "router_s": Quantity("each router", "0.5 ms", "0 s", "3 ms", unit="s", scale="linear"),
        **{f"has_{kind}": switch(
            phrase("{name} links", name=name), kind in ("T1", "ethernet", "T3"))
           for kind, name in KINDS.items()},
    }  # fmt: skip
    return sweep_panel(
        model,
        over=sizes,
        book={
            "computed (Stevens)": ([1428], [BOOK_RTT_S]),
            "measured (Stevens)": ([28, 1428], [0.080, 0.193]),
        },
        controls=controls,
        x=Axis("packet", "byte", "linear", 0, 1550),
        y=Axis("round-trip time", "s", "linear", 0.06, 0.26),
        title="Combinations with the same round trip look alike from the ends",
        below=[table],
        more=[f"has_{kind}" for kind in KINDS],
    )


def _serialization_s(
    mixes: PathMixes, which: Callable[[FloatArray], Any], sizes: FloatArray, rates: list[float]
) -> FloatArray:
    """Return the serialization time of the fastest or the slowest combination, by size. [s]"""
    if not mixes.rtt_s.size:
        return np.full(sizes.size, np.nan)
    counts = mixes.link_count[which(mixes.rtt_s)]
    return Path.of([Link(rate) for rate in np.repeat(rates, counts)]).rtt_s(sizes)


def _mix_tables(names: list[str], mixes: PathMixes, rates: list[float]) -> str:
    """Return the combinations as a table, and the measurements that would tell them apart."""
    if not mixes.rtt_s.size:
        return ""
    apart = fit.separations(
        mixes, bandwidth_bps=rates, packet_bytes=1428, resolution_s=1e-3, other_bytes=1500
    )
    separations = [separation.texts() for separation in apart]
    return (
        _mix_table(names, mixes)
        + f"<p>{phrase('Measurements that would distinguish them:')}</p>"
        + html_table(fit.SEPARATION_HEADINGS, separations)
    )


def _mix_table(names: list[str], mixes: PathMixes) -> str:
    rows: list[list[str]] = []
    for counts, rtt_s, residual_s in list(zip(*mixes, strict=True))[:SHOWN_MIXES]:
        off = f"{residual_s * 1e3:+.2f} ms"
        numbers = [str(int(number)) for number in counts]
        rows.append([str(len(rows) + 1), *numbers, str(sum(map(int, counts))),
                     show(float(rtt_s), "s", digits=5), off])  # fmt: skip
    if not rows:
        return ""
    more = mixes.rtt_s.size - len(rows)
    note = f"<p>{phrase('and {more:,} more', more=more)}</p>" if more > 0 else ""
    return html_table(("", *names, "links", phrase("round trip"), "error"), rows) + note


def _is_of(samples: HopSamples | TrainSamples, path: Path) -> bool:
    """Whether a run went this path."""
    truth = samples.meta.instrument.truth
    if not truth:
        return False
    return Path.from_truth(truth).same_lines(path)


def _is_far(samples: TrainSamples) -> bool:
    """Whether a run was with a second machine, over a path that nobody knows."""
    return samples.meta.instrument.peer_machine is not None


def _go_where(samples: HopSamples | TrainSamples, box: Any) -> None:
    """Show the path that saved samples went, if the box shows another one."""
    try:
        shown = Path.parse(box.value)
    except NetcalcError:
        shown = None
    truth = samples.meta.instrument.truth
    if truth and (shown is None or not _is_of(samples, shown)):
        box.value = Path.from_truth(truth).text
