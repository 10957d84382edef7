"""The step where IP fragments a datagram, measured on this machine and printed by Stevens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from netcalc import compare, datasets, plots
from netcalc.experiments import transactions
from netcalc.lessons.mbufs import COSTS
from netcalc.models.hosts import host_stack
from netcalc.models.sizes import framing
from netcalc.plots import Plot
from netcalc.plots.style import Theme
from netcalc.samples import TransactionSamples
from netcalc.units import show
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import run_button

COUNT = 30
"""Transactions of each size. [1]"""
AROUND = (-100, -50, -8, 0, 1, 8, 50, 100)
"""Sizes around the largest datagram that is not cut. [byte]"""
VIEWS = {"ratio to the time before the step": True, "times": False}
CLOCKS = {"program": "program", "packet tap": "tap"}


def step_panel(*, theme: Theme = "light") -> Panel:
    """UDP transactions by size on a loopback with a chosen MTU: the fragmentation step."""
    shown: list[TransactionSamples] = []
    figure = Figure(_drawn(None, "program", True, theme))
    mtu = Quantity(
        "MTU of the run", "1536 B", unit="byte", low="576 B", high="9000 B", whole=True
    )  # fmt: skip
    clock, relative = choice("clock", CLOCKS, "program"), choice("show", VIEWS, True)

    def update(mtu_bytes: float, clock: str, relative: bool) -> None:
        figure.draw(_drawn(shown[0] if shown else None, clock, relative, theme))

    def run(progress: Any, stop: Any) -> TransactionSamples:
        return transactions(
            live_sizes(mtu.value), protocols=["udp"], count=COUNT, mtu_bytes=int(mtu.value),
            progress=progress, stop=stop,
        )  # fmt: skip

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        figure.draw(_drawn(samples, clock.value, relative.value, theme))

    live = run_button(
        "Run UDP transactions here", run, show_run, key="step", tool="netcalc transactions"
    )
    controls = {"mtu_bytes": mtu, "clock": clock, "relative": relative}
    return panel(figure, controls, update, below=[live])


def live_sizes(mtu_bytes: float) -> list[int]:
    """Return sizes where 4.4BSD takes one, two and three mbufs, and others around the step."""
    largest = int(framing.udp_payload_bytes(mtu_bytes))
    small = (8, 50, 101, 150, 207, 208, 250)
    wide = range(2500, largest + 600, 500)
    return sorted({*small, *range(100, 2001, 100), *wide, *(largest + more for more in AROUND)})


def _drawn(samples: TransactionSamples | None, clock: str, relative: bool, theme: Theme) -> Plot:
    known = samples or TransactionSamples(mode=[], sequence=[], payload_bytes=[], response_s=[])
    found = compare.datagram_costs(known, clock=clock, relative=relative)
    words = ["No run yet: the points are those of Stevens."]
    if samples is not None:
        words = [found.sentence, *(f"Note: {warning}." for warning in samples.meta.warnings)]
    printed = _printed()
    words.append(
        f"Stevens: almost {printed['LB04']:.0%} more; {_range(printed, *WHOLE)} unfragmented, "
        f"{_range(printed, *CUT)} in two fragments."
    )
    found = replace(found, sentence=" ".join(words))
    if relative and not found.x.size:
        found = replace(found, y_name="time relative to 1508 B", y_unit="ratio")
    return plots.overlay(
        found,
        y_scale="linear" if relative else "log",
        beside=_book(printed, relative),
        theme=theme,
    )


# Application minus tcpdump, and tcpdump itself: together the application's time.
WHOLE = (("LB05", "LB09"), ("LB06", "LB10"))
CUT = (("LB11", "LB13"), ("LB12", "LB14"))


def _ends(printed: dict[str, float], *ends: tuple[str, str]) -> list[float]:
    return [sum(printed[name] for name in names) for names in ends]


def _range(printed: dict[str, float], *ends: tuple[str, str]) -> str:
    low, high = (show(time_s, "s", digits=2) for time_s in _ends(printed, *ends))
    return f"{low} to {high}"


def _book(printed: dict[str, float], relative: bool) -> dict[str, tuple[list[float], list[float]]]:
    """Return what the book says of its step, and the sum of costs that may have been its."""
    whole, cut = printed["LB02"], printed["LB03"]
    sizes = np.array([100.0, 200.0, *range(300, 1501, 200), whole, cut, 1700.0, 1900.0])
    times = host_stack.transaction_s(sizes, protocol="udp", **COSTS)
    scale = 1 / times[sizes == whole].item() if relative else 1.0
    summed = {"4.4BSD, sum of the costs above": (sizes.tolist(), (times * scale).tolist())}
    if relative:
        return {"Stevens: almost 25% more": ([whole, cut], [1.0, 1 + printed["LB04"]]), **summed}
    ranges = [*_ends(printed, *WHOLE), *_ends(printed, *CUT)]
    return {"Stevens: minimum and maximum": ([whole, whole, cut, cut], ranges), **summed}


def _printed() -> dict[str, float]:
    columns = datasets.load("loopback_transactions").columns()
    return dict(zip(columns["id"].tolist(), columns["si_value"].tolist(), strict=True))
