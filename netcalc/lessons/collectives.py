"""Panels of the lesson on collectives: time by size, bus bandwidth by ranks, and a measured one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import ipywidgets
import numpy as np

from netcalc.checks import FloatArray
from netcalc.errors import ReaderError
from netcalc.language import phrase, term
from netcalc.models.collectives import all_reduce, broadcast, bus_bandwidth
from netcalc.models.collectives.bus_bandwidth import Operation
from netcalc.plots import Axis
from netcalc.rate_layers import PAYLOAD, named
from netcalc.samples import Meta, Samples, TransferSamples, fact_row
from netcalc.units import show, show_rate
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.panel import Panel, Swept, html_table, in_unit, sweep_panel
from netcalc.widgets.run import upload

Model = Callable[..., FloatArray]

SIZES = np.geomspace(8.0, 2.0**37, 171)
RING, TREES, DOUBLING = term("ring"), term("two trees"), term("recursive doubling")
ALGORITHMS: dict[str, Model] = {
    RING: all_reduce.ring_allreduce_s,
    TREES: all_reduce.double_tree_allreduce_s,
    DOUBLING: all_reduce.recursive_doubling_allreduce_s,
}
OPERATIONS: dict[Operation, Model] = {
    "all-reduce": all_reduce.ring_allreduce_s,
    "all-gather": broadcast.ring_allgather_s,
    "reduce-scatter": broadcast.ring_allgather_s,
    "broadcast": broadcast.scatter_allgather_broadcast_s,
}
"""Collectives of the second figure, over a ring: a broadcast is a scatter and an all-gather."""
YOURS, HALF = term("your vector"), term("half of the rate")
THE_LINE, MEASURED, THEORY = term("the line"), term("measured"), term("ring, theory")
MORE_RANKS = (2, 64, 512)
NCCL_US = (
    13.03, 13.07, 13.52, 14.72, 15.79, 15.77, 16.01, 16.17, 16.43, 16.46, 16.83, 17.24, 18.68,
    18.85, 19.19, 19.50, 19.70, 26.93, 42.09, 53.82, 82.03, 123.0, 198.9, 324.7, 586.0, 1113.4,
    2149.3, 4016.4, 7938.0, 15754, 31328, 62636,
)  # fmt: skip
"""In-place times of an all-reduce of 8 B, 16 B, ... 16 GiB among the eight H100 of one DGX, as
nccl-tests printed them: NVIDIA, dgxc-benchmarking, README of the recipe of NCCL. [us]"""


def _controls(*, latency: str, rate: str) -> dict[str, ipywidgets.Widget]:
    """Return the controls of a network: ranks, alpha and 1/beta."""
    return {
        "rank_count": Quantity("ranks", 8.0, 2.0, 4096.0, unit="1", whole=True),
        "latency_s": Quantity("latency of a step", latency, "100 ns", "1 ms", unit="s"),
        "bandwidth_bps": Quantity("rate of a rank", rate, "1 Gbit/s", "10 Tbit/s", unit="bit/s"),
    }


def allreduce_panel() -> Panel:
    """The time of an all-reduce by three algorithms, against the size of the vector."""
    about = ipywidgets.HTML()

    def model(payload_bytes: float, **network: float) -> Swept:
        times = {name: float(time(payload_bytes, **network)) for name, time in ALGORITHMS.items()}
        best = min(times, key=lambda name: times[name])
        empty_s = {name: float(time(0.0, **network)) for name, time in ALGORITHMS.items()}
        about.value = html_table(
            (term("algorithm"), term("steps"), term("each rank sends"), "time", "latency"),
            [
                (
                    phrase(name),
                    f"{steps_of(time, network['rank_count']):,.0f}",
                    show((times[name] - empty_s[name]) * network["bandwidth_bps"] / 8.0, "byte"),
                    show(times[name], "s"),
                    show(empty_s[name] / times[name], "ratio", digits=2),
                )
                for name, time in ALGORITHMS.items()
            ],
        )
        sentence = phrase(
            "{size} among {ranks:,.0f} ranks: of the three, the fastest is {name} with {time}.",
            size=show(payload_bytes, "byte"),
            ranks=network["rank_count"],
            time=show(times[best], "s"),
            name=phrase(best),
        )
        columns: dict[str, Any] = {
            name: time(SIZES, **network) for name, time in ALGORITHMS.items()
        }
        columns[YOURS] = ([payload_bytes], [times[RING]])
        return columns, sentence, (payload_bytes, times[RING])

    return sweep_panel(
        model,
        over=SIZES,
        controls={
            "payload_bytes": Quantity("vector", "14 GB", "8 B", "100 GB", unit="byte"),
            **_controls(latency="10 µs", rate="400 Gbit/s"),
        },
        x=Axis("vector of each rank", "byte", "log", 4.0, 2.0**37),
        y=Axis("time of the all-reduce", "s", "log", 1e-6, 100),
        title="Small vectors wait for steps, large ones for the line",
        predict=term("time of the all-reduce over a ring"),
        unit="s",
        below=[about],
    )


def half_rate_panel() -> Panel:
    """Bus bandwidth against the size, for more and more ranks: where latency ends."""
    about = ipywidgets.HTML()

    def model(operation: Operation, rank_count: float, **network: float) -> Swept:
        def bus(ranks: float) -> FloatArray:
            return ring_bus_bps(operation, ranks, SIZES, **network)

        line_bps = network["bandwidth_bps"]
        counts = sorted({*map(float, MORE_RANKS), rank_count})
        halves = {ranks: half_rate_bytes(operation, ranks, **network) for ranks in counts}
        half = halves[rank_count]
        about.value = html_table(
            (term("ranks"), term("steps"), term("half of its rate at"), term("90% of it at")),
            [
                (
                    f"{ranks:,.0f}",
                    f"{steps_of(OPERATIONS[operation], ranks):,.0f}",
                    *(show(factor * halves[ranks], "byte") for factor in (1.0, 9.0)),
                )
                for ranks in counts
            ],
        )
        sentence = phrase(
            "Up to {half} latency takes the larger part of the time of this {operation}, above it "
            "the data.",
            operation=phrase(operation),
            half=show(half, "byte"),
        )
        columns: dict[str, Any] = {
            phrase("{ranks:,.0f} ranks", ranks=float(ranks)): bus(float(ranks))
            for ranks in MORE_RANKS
        }
        columns[term("your ranks")] = bus(rank_count)
        columns[THE_LINE] = np.full(SIZES.size, line_bps)
        columns[HALF] = ([half], [most_bps(operation, rank_count, line_bps) / 2.0])
        return columns, sentence

    return sweep_panel(
        model,
        over=SIZES,
        controls={
            "operation": choice("collective", list(OPERATIONS), "all-reduce"),
            **_controls(latency="10 µs", rate="400 Gbit/s"),
        },
        x=Axis("vector", "byte", "log", 4.0, 2.0**37),
        y=Axis(named(phrase("bus bandwidth"), PAYLOAD), "bit/s", "log", 1e6, 1e13),
        title="The more ranks, the later latency ends",
        below=[about],
    )


def ring_bus_bps(
    operation: Operation, rank_count: float, payload_bytes: Any, **network: float
) -> FloatArray:
    """Return the bus bandwidth that theory has for a collective over a ring. [bit/s, payload]"""
    time_s = OPERATIONS[operation](payload_bytes, rank_count=rank_count, **network)
    bus: FloatArray = bus_bandwidth.bus_bandwidth_bps(
        payload_bytes, duration_s=time_s, rank_count=rank_count, operation=operation
    )
    return bus


def steps_of(time: Model, rank_count: float) -> float:
    """Return the steps of a collective: its time where each takes a second without data. [1]"""
    return float(time(0.0, rank_count=rank_count, latency_s=1.0, bandwidth_bps=1.0))


def most_bps(operation: Operation, rank_count: float, line_bps: float) -> float:
    """Return the bus bandwidth of a collective without any latency. [bit/s, payload]"""
    network = {"latency_s": 0.0, "bandwidth_bps": line_bps}
    return float(ring_bus_bps(operation, rank_count, 1e9, **network))


def half_rate_bytes(operation: Operation, rank_count: float, **network: float) -> float:
    """Return the size whose data take as long as the latency of all steps. [byte]"""
    time = OPERATIONS[operation]
    empty_s = float(time(0.0, rank_count=rank_count, **network))
    byte_s = float(time(1.0, rank_count=rank_count, **{**network, "latency_s": 0.0}))
    return empty_s / byte_s


def dgx_run() -> TransferSamples:
    """Return the all-reduce of eight GPUs that NVIDIA published."""
    return TransferSamples(
        payload_bytes=[8.0 * 2.0**k for k in range(len(NCCL_US))],
        duration_s=[1e-6 * time for time in NCCL_US],
        meta=Meta(tool="nccl-tests", facts=(fact_row(operation="all-reduce", rank_count=8.0),)),
    )


def measured_panel(start: TransferSamples | None = None) -> Panel:
    """A measured collective against a ring whose latency and rate are set by hand.

    Parameters
    ----------
    start : TransferSamples, optional
        What is shown at first; by default :func:`dgx_run`.
    """
    runs = [run_of(start or dgx_run())]
    about = ipywidgets.HTML()

    def model(operation: Operation, rank_count: float, **network: float) -> Swept:
        sizes, times = runs[0].payload_bytes, runs[0].duration_s
        bus = bus_bandwidth.bus_bandwidth_bps(
            sizes, duration_s=times, rank_count=rank_count, operation=operation
        )
        theory_s = OPERATIONS[operation](sizes, rank_count=rank_count, **network)
        about.value = html_table(
            ("size", "measured", THEORY, term("measured / theory"), "bus bandwidth"),
            [
                (
                    show(sizes[row], "byte"),
                    *in_unit("s", measured=times[row], theory=theory_s[row]).values(),
                    f"{times[row] / theory_s[row]:.2f}",
                    show_rate(bus[row], PAYLOAD),
                )
                for row in _chosen(sizes)
            ],
        )
        line_bps, largest_bps = network["bandwidth_bps"], float(bus.max())
        share, of_bus = largest_bps / line_bps, show_rate(largest_bps, PAYLOAD)
        values: dict[str, Any] = {"operation": phrase(operation), "bus": of_bus, "share": share}
        sentence = (
            phrase(
                "The largest bus bandwidth of this {operation} is {bus}, {share:.0%} of the line: "
                "no ring has more than the line.",
                **values,
            )
            if share > 1.0
            else phrase(
                "The largest bus bandwidth of this {operation} is {bus}, {share:.0%} of the line.",
                **values,
            )
        )
        return {
            THEORY: ring_bus_bps(operation, rank_count, SIZES, **network),
            THE_LINE: np.full(SIZES.size, line_bps),
            MEASURED: (sizes, bus),
        }, sentence

    def take(samples: Samples) -> None:
        runs[0] = run_of(samples)
        with board.at_once():
            for name in ("operation", "rank_count"):
                if value := getattr(runs[0], name):
                    board.controls[name].value = value

    def say(_samples: Samples) -> str:
        if runs[0].is_known:
            return ""
        return phrase("The file does not name its collective or its ranks: set them above.")

    board = sweep_panel(
        model,
        over=SIZES,
        controls={
            "operation": choice("collective", list(OPERATIONS), runs[0].operation or "all-reduce"),
            **_controls(latency="1 µs", rate="3.6 Tbit/s"),
        },
        x=Axis("vector", "byte", "log", 4.0, 2.0**37),
        y=Axis(named(phrase("bus bandwidth"), PAYLOAD), "bit/s", "log", 1e6, 1e13),
        title="Is the line full?",
        below=[upload("Your own run of nccl-tests or OSU", take, say=say), about],
    )
    return board


@dataclass(frozen=True, slots=True)
class Run:
    """The sizes and times of one collective; what its file does not say is empty."""

    payload_bytes: FloatArray
    duration_s: FloatArray
    operation: Operation | Literal[""] = ""
    rank_count: float = 0.0

    @property
    def is_known(self) -> bool:
        """Whether its file says which collective it is, and of how many ranks."""
        return bool(self.operation and self.rank_count)


def run_of(samples: Samples) -> Run:
    """Return the first collective of a file.

    Raises
    ------
    ReaderError
        If there is none that the second figure has.
    """
    if isinstance(samples, TransferSamples):
        for fact in samples.facts():
            operation = _operation_of(fact)
            rows = samples.measured & (np.asarray(samples.payload_bytes, dtype=float) > 0.0)
            if "group" in fact:
                rows &= np.asarray(samples.group) == fact["group"]
            if operation is not None and rows.any():
                return Run(
                    np.asarray(samples.payload_bytes, dtype=float)[rows],
                    np.asarray(samples.duration_s, dtype=float)[rows],
                    operation,
                    float(fact.get("rank_count", 0.0)),
                )
    raise ReaderError(
        "no-collective",
        file=samples.meta.source or "this file",
        expected="a run of " + " or ".join(OPERATIONS),
    )


def _operation_of(fact: Mapping[str, Any]) -> Operation | Literal[""] | None:
    """Return the collective of a test, by its name or by its bus factor.

    Empty where neither says it: two ranks have one factor for an all-reduce and a broadcast. None
    of a test that is none of the collectives here.
    """
    name, ranks = fact.get("operation", ""), float(fact.get("rank_count", 0.0))
    if name or fact.get("way"):
        return next((operation for operation in OPERATIONS if operation == name), None)
    if "bus_factor" not in fact or ranks < 2.0:
        return ""
    fits = [
        operation
        for operation in OPERATIONS
        if abs(
            bus_bandwidth.bus_bandwidth_bps(
                0.125, duration_s=1.0, rank_count=ranks, operation=operation
            )
            - fact["bus_factor"]
        )
        < 0.01
    ]
    if len({OPERATIONS[operation] for operation in fits}) > 1:
        return ""
    return fits[0] if fits else None


def _chosen(sizes: FloatArray) -> Iterable[int]:
    """Return the rows of the table: five sizes from the smallest to the largest."""
    order = np.argsort(sizes, kind="stable")
    return [int(order[i]) for i in np.unique(np.linspace(0, sizes.size - 1, 5).round().astype(int))]
