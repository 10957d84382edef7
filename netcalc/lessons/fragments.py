"""The step where IP fragments a datagram, measured on this machine and printed by Stevens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from netcalc import compare, datasets, plots
from netcalc.checks import FloatArray
from netcalc.errors import DomainError
from netcalc.experiments import transactions
from netcalc.fit.steps import ChangePoints, change_points
from netcalc.language import phrase, term
from netcalc.lessons.mbufs import COSTS
from netcalc.models.hosts import host_stack
from netcalc.models.sizes import framing
from netcalc.plots import Axis, Plot
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


def step_panel() -> Panel:
    """UDP transactions by size on a loopback with a chosen MTU: the fragmentation step."""
    shown: list[TransactionSamples] = []
    figure = Figure(_drawn(None, "program", True))
    mtu = _mtu()
    clock, relative = choice("clock", CLOCKS, "program"), choice("show", VIEWS, True)

    def update(mtu_bytes: float, clock: str, relative: bool) -> None:
        figure.draw(_drawn(shown[0] if shown else None, clock, relative))

    def run(progress: Any, stop: Any) -> TransactionSamples:
        return _around_the_step(mtu.value, progress, stop)

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        figure.draw(_drawn(samples, clock.value, relative.value))

    live = run_button(
        "Run UDP transactions here", run, show_run, key="step", tool="netcalc transactions"
    )
    controls = {"mtu_bytes": mtu, "clock": clock, "relative": relative}
    return panel(figure, controls, update, below=[live])


def _mtu() -> Quantity:
    return Quantity("MTU of the run", "1536 B", unit="byte", low="576 B", high="9000 B", whole=True)


def _around_the_step(mtu_bytes: float, progress: Any, stop: Any) -> TransactionSamples:
    return transactions(
        live_sizes(mtu_bytes), protocols=["udp"], count=COUNT, mtu_bytes=int(mtu_bytes),
        progress=progress, stop=stop,
    )  # fmt: skip


def live_sizes(mtu_bytes: float) -> list[int]:
    """Return sizes where 4.4BSD takes one, two and three mbufs, and others around the step."""
    largest = int(framing.udp_payload_bytes(mtu_bytes))
    small = (8, 50, 101, 150, 207, 208, 250)
    wide = range(2500, largest + 600, 500)
    return sorted({*small, *range(100, 2001, 100), *wide, *(largest + more for more in AROUND)})


def clocks_panel() -> Panel:
    """Time of the program minus time of the packet tap, by size: the stack above the tap."""
    figure = Figure(_clocks(None))
    mtu = _mtu()

    def run(progress: Any, stop: Any) -> TransactionSamples:
        return _around_the_step(mtu.value, progress, stop)

    def show_run(samples: TransactionSamples) -> None:
        figure.draw(_clocks(samples))

    live = run_button(
        "Run UDP transactions here", run, show_run, key="clocks", tool="netcalc transactions"
    )
    return panel(figure, {"mtu_bytes": mtu}, lambda mtu_bytes: None, below=[live])


def _clocks(samples: TransactionSamples | None) -> Plot:
    """Draw the difference of the clocks, Stevens' ranges, and the line with steps through it."""
    printed = _printed()
    whole, cut, largest = printed["LB02"], printed["LB03"], 2000.0
    sizes = [100.0, whole, cut, largest]
    ends = [
        [printed[whole_gap]] * 2 + [printed[cut_gap]] * 2
        for whole_gap, cut_gap in (("LB05", "LB11"), ("LB06", "LB12"))
    ]
    mine, fitted = term("here, smallest of each size"), term("here, line with steps")
    grid = np.unique(np.concatenate([np.arange(8.0, 2600.0, 8.0), [whole, cut]]))
    lines = {fitted: np.full(grid.size, np.nan)}
    points: dict[str, tuple[Any, Any]] = {
        "Stevens, minimum": (sizes, ends[0]), "Stevens, maximum": (sizes, ends[1]), mine: ([], []),
    }  # fmt: skip
    words = [
        phrase(
            "Stevens: {printed} to {printed_2} unfragmented and {printed_3} to {printed_4} "
            "in two fragments, so less than 1 ms for each way through the stack.",
            printed=show(printed["LB05"], "s"),
            printed_2=show(printed["LB06"], "s"),
            printed_3=show(printed["LB11"], "s"),
            printed_4=show(printed["LB12"], "s"),
        )
    ]
    if samples is not None and len(samples):
        points[mine] = _smallest(samples, "above")
        try:
            found = change_points(*points[mine])
        except DomainError as error:  # stopped early, or without a tap
            words.insert(0, f"{error}.")
        else:
            lines[fitted] = found(grid)
            words.insert(0, phrase("Above the tap: {said}", said=_said(found)))
        words += [phrase("Note: {warning}.", warning=warning) for warning in samples.meta.warnings]
    return plots.curves(
        grid,
        lines,
        points=points,
        x_axis=Axis("user data", "byte", "linear", 0, 2600),
        y_axis=Axis("program minus tap", "s", "log", 1e-6, 1e-2),
        title="The time that the packet tap does not see",
        description=" ".join(words),
    )


THRESHOLD_SIZES = np.unique(
    np.concatenate([np.arange(16, 640, 24), np.arange(640, 9001, 88)])
).astype(float)
"""Sizes of a search for thresholds: closer where 4.4BSD had its own. [byte]"""
BSD_STEPS = {"2nd mbuf": 73, "3rd mbuf": 101, "cluster": 208, "2nd fragment": 1509}
"""First sizes of a UDP datagram with which 4.4BSD did more, at an MTU of 1536. [byte]"""
PROTOCOLS = {"UDP": "udp", "TCP": "tcp"}
LOOPBACKS = {
    "1536 B, as in 4.4BSD": 1536,
    "9000 B, jumbo frames": 9000,
    "65536 B, as in Linux": 65_536,
}


def thresholds_panel() -> Panel:
    """Where does a byte more cost more today? Steps that a sweep over sizes shows."""
    shown: list[TransactionSamples] = []
    protocol, mtu = choice("protocol", PROTOCOLS, "udp"), choice("MTU of the run", LOOPBACKS, 1536)
    clock = choice("clock", CLOCKS, "program")
    figure = Figure(_swept(None, "program"))

    def update(protocol: str, mtu_bytes: int, clock: str) -> None:
        figure.draw(_swept(shown[0] if shown else None, clock))

    def run(progress: Any, stop: Any) -> TransactionSamples:
        return transactions(
            THRESHOLD_SIZES, protocols=[protocol.value], count=COUNT, mtu_bytes=mtu.value,
            progress=progress, stop=stop,
        )  # fmt: skip

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        figure.draw(_swept(samples, clock.value))

    live = run_button(
        "Search for steps here", run, show_run, key="thresholds", tool="netcalc transactions"
    )
    controls = {"protocol": protocol, "mtu_bytes": mtu, "clock": clock}
    return panel(figure, controls, update, below=[live])


def found_steps(samples: TransactionSamples, *, clock: str = "program") -> ChangePoints:
    """Return the steps in the smallest times of a run's first protocol, by size of its data."""
    return change_points(*_smallest(samples, clock))


def _smallest(samples: TransactionSamples, clock: str) -> tuple[FloatArray, FloatArray]:
    """Return the sizes of a run, and the smallest time of each by a clock. [byte], [s]

    The smallest, as in Stevens' figures: what another program adds to single ones is not in it. By
    the clock "above" it is the program's time less that of the tap.
    """
    kept = np.asarray(samples.measured) & (np.asarray(samples.mode) == samples.modes[0])
    program_s, tap_s = (np.asarray(one, float) for one in (samples.response_s, samples.tap_s))
    times = {"program": program_s, "tap": tap_s, "above": program_s - tap_s}[clock][kept]
    sizes = np.asarray(samples.payload_bytes, float)[kept]
    known = np.isfinite(times)
    at = np.unique(sizes[known])
    return at, np.array([times[known & (sizes == size)].min() for size in at])


def _said(found: ChangePoints) -> str:
    """Return the steps in words."""
    if not found.steps:
        return phrase(
            "No step stands out of a scatter of {scatter}: a byte costs {slope} at every size.",
            scatter=show(found.scatter, "s", digits=2),
            slope=show(found.slope, "s", digits=2),
        )
    steps = [
        phrase(
            "between {after:.0f} and {before:.0f} bytes (95%: {low:.0f} to {high:.0f}) "
            "{jump} more, with a standard error of {jump_stderr}"
            if step.jump > 0
            else "between {after:.0f} and {before:.0f} bytes (95%: {low:.0f} to {high:.0f}) "
            "{jump} less, with a standard error of {jump_stderr}",
            after=step.after,
            before=step.before,
            low=step.low,
            high=step.high,
            jump=show(abs(step.jump), "s", digits=2),
            jump_stderr=show(step.jump_stderr, "s", digits=2),
        )
        for step in found.steps
    ]
    return phrase("Steps here: {join}.", join="; ".join(steps))


def _swept(samples: TransactionSamples | None, clock: str) -> Plot:
    bsd = np.array(list(BSD_STEPS.values()), dtype=float)
    grid = np.unique(np.concatenate([THRESHOLD_SIZES, bsd, bsd - 1]))
    summed = host_stack.transaction_s(grid, protocol="udp", **COSTS)
    mine, fitted = term("here, smallest of each size"), term("here, line with steps")
    lines = {
        "4.4BSD, sum of the costs above": np.where(grid <= 2000, summed, np.nan),
        fitted: np.full(grid.size, np.nan),
    }
    first = host_stack.transaction_s(bsd, protocol="udp", **COSTS)
    points: dict[str, tuple[Any, Any]] = {
        "4.4BSD: first sizes with more mbufs, a cluster, a fragment": (bsd, first),
        mine: ([], []),
    }
    words = [phrase("No run yet: the curve is that of 4.4BSD.")]
    if samples is not None and len(samples):
        points[mine] = _smallest(samples, clock)
        try:
            found = found_steps(samples, clock=clock)
        except DomainError as error:  # stopped early, or without a tap
            words = [f"{error}."]
        else:
            lines[fitted], words = found(grid), [_said(found)]
        words += [phrase("Note: {warning}.", warning=warning) for warning in samples.meta.warnings]
    return plots.curves(
        grid,
        lines,
        points=points,
        x_axis=Axis("user data", "byte", "log", 16, 9000),
        y_axis=Axis("transaction time", "s", "log"),
        title="Where a byte more costs more",
        description=" ".join(words),
    )


def _drawn(samples: TransactionSamples | None, clock: str, relative: bool) -> Plot:
    known = samples or TransactionSamples(mode=[], sequence=[], payload_bytes=[], response_s=[])
    found = compare.datagram_costs(known, clock=clock, relative=relative)
    words = [phrase("No run yet: the points are those of Stevens.")]
    if samples is not None:
        words = [
            found.sentence,
            *(phrase("Note: {warning}.", warning=warning) for warning in samples.meta.warnings),
        ]
    printed = _printed()
    words.append(
        phrase(
            "Stevens: almost {printed:.0%} more; {range} unfragmented, {range_2} in two fragments.",
            printed=printed["LB04"],
            range=_range(printed, *WHOLE),
            range_2=_range(printed, *CUT),
        )
    )
    found = replace(found, sentence=" ".join(words))
    if relative and not found.x.size:
        found = replace(found, y_name=phrase("time relative to 1508 B"), y_unit="ratio")
    return plots.overlay(
        found,
        y_scale="linear" if relative else "log",
        beside=_book(printed, relative),
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
