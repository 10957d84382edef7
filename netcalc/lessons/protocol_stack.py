"""Panels of the lesson on the protocol stack: the cost of a transaction, by protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from netcalc import compare, datasets, plots
from netcalc.checks import FloatArray
from netcalc.experiments import transactions
from netcalc.experiments.transactions import PROTOCOLS
from netcalc.language import phrase, term
from netcalc.models.tcp.handshakes import Security, Transport, first_byte_s, round_trips
from netcalc.path import Link, Path
from netcalc.plots import Axis
from netcalc.samples import TransactionSamples
from netcalc.units import show
from netcalc.widgets.controls import Quantity, choice, family_choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, panel, sweep_panel
from netcalc.widgets.peer import PeerField
from netcalc.widgets.run import run_button

HANDSHAKES: dict[str, tuple[Transport, Security]] = {
    "UDP, and Fast Open": ("udp", "none"),
    "TCP": ("tcp", "none"),
    "TCP with TLS 1.3": ("tcp", "tls1.3"),
    "TCP with TLS 1.2": ("tcp", "tls1.2"),
    "QUIC": ("quic", "none"),
}
"""Transport and security of each line of the figure."""
NAMES = {"ping": "ping", "udp": "UDP", "tfo": term("Fast Open"), "tcp": "TCP", "tls": "TLS 1.3"}
THEORY, FIT, BOOK = term("theory of the path"), term("fit of the host's costs"), "Stevens: "
LINES = {"100 Mbit/s": 100e6, "10 Mbit/s": 10e6, "T1": 1.544e6, "56 kbit/s": 56e3}
"""Rates of the emulated path of a live run. [bit/s]"""
SIZES = np.unique(np.concatenate([np.linspace(0, 2000, 401), [1508, 1509]]))
"""Where curves are drawn; the step of the book's loopback is among them. [byte]"""
SHORT_SIZES = (8, 700, 1400)
"""Sizes of a run over a path, where each transaction takes round trips. [byte]"""


def handshake_panel() -> Panel:
    """Time to the first byte of a response, against the distance, by protocol."""
    rtts = np.linspace(0, 0.2, 41)

    def model(rtt_s: float, server_s: float) -> Swept:
        times, parts = {}, []
        for name, (transport, security) in HANDSHAKES.items():
            protocol: Any = {"transport": transport, "security": security, "server_s": server_s}
            times[name] = first_byte_s(rtts, **protocol)
            count = int(round_trips(transport, security=security))
            said = {"name": name, "time": show(float(first_byte_s(rtt_s, **protocol)), "s")}
            parts.append(
                phrase("{name} {time} (1 round trip)", **said)
                if count == 1
                else phrase("{name} {time} ({count} round trips)", count=count, **said)
            )
        return times, phrase(
            "With a round trip of {rtt}: {join}.", rtt=show(rtt_s, "s"), join=", ".join(parts)
        )

    return sweep_panel(
        model,
        over=rtts,
        controls={
            "rtt_s": Quantity(
                "your round trip", "60 ms", "0 s", "200 ms", unit="s", scale="linear"
            ),
            "server_s": Quantity("server time", "1 ms", "0 s", "100 ms", unit="s", scale="linear"),
        },
        x=Axis("round trip", "s", "linear", 0, 0.2),
        y=Axis("time to the response", "s", "linear", 0, 0.9),
        title="Time to the first byte of a response",
    )


def live_panel() -> Panel:
    """Transactions on this machine and those of Stevens, by protocol, size and clock."""
    shown: list[TransactionSamples] = []
    drawn = ["program"]
    figure = Figure(_live_plot(None, drawn[0]))
    latency = Quantity("one-way latency", "0 s", "0 s", "50 ms", unit="s", scale="linear")
    line = choice("line", LINES, 100e6)
    family = family_choice()
    clock = choice("clock", {"program": "program", "packet tap": "tap"}, "program")

    def update(latency_s: float, bandwidth_bps: float, family: str, clock: str) -> None:
        if clock != drawn[-1]:  # the others are of the next run
            drawn[:] = [clock]
            figure.draw(_live_plot(shown[0] if shown else None, clock))

    def run(progress: Any, stop: Any, **far: Any) -> TransactionSamples:
        options: dict[str, Any] = {"progress": progress, "stop": stop, **far}
        if far:
            return transactions(SHORT_SIZES, count=5, timeout_s=5.0, **options)
        options["host"] = family.value
        if not latency.value:
            return transactions(**options)
        path = Path.of([Link(line.value, latency.value)])
        count = 5 if line.value > 1e6 else 2
        return transactions(SHORT_SIZES, path=path, count=count, timeout_s=5.0, **options)

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        figure.draw(_live_plot(samples, clock.value))

    live = run_button(
        "Run transactions on this machine",
        run,
        show_run,
        key="transactions",
        experiment="transactions",
        peer=PeerField(without=[latency, line, family]),
    )
    controls = {"latency_s": latency, "bandwidth_bps": line, "family": family, "clock": clock}
    return panel(figure, controls, update, below=[live])


def comparisons(least_s: Mapping[str, float], packets: Mapping[str, float] | None) -> list[str]:
    """Return what a run says of Stevens' two ratios and of the packets of each protocol.

    Parameters
    ----------
    least_s : mapping of str to float
        Time of the smallest transaction, by protocol. [s]
    packets : mapping of str to float, optional
        Packets captured for each transaction, by protocol. [packet]

    Returns
    -------
    list of str
        Sentences; none about what was not measured.
    """
    stevens = datasets.printed_numbers("loopback_transactions")
    pairs = (("tfo", "udp", "LB20"), ("tcp", "tfo", "LB21"))
    said = [
        phrase(
            "{names} over {names_2} {least:.2f} (Stevens, with T/TCP: {stevens:.3g})",
            names=NAMES[upper],
            names_2=NAMES[lower],
            least=least_s[upper] / least_s[lower],
            stevens=stevens[row],
        )
        for upper, lower, row in pairs
        if {upper, lower} <= least_s.keys()
    ]
    text = [phrase("Ratios: {join}.", join=", ".join(said))] if said else []
    counted = [f"{NAMES[mode]} {count:.1f}" for mode, count in (packets or {}).items()]
    return (
        [
            *text,
            phrase(
                "Packets of a transaction, in the mean of all sizes: {join}.",
                join=", ".join(counted),
            ),
        ]
        if counted
        else text
    )


def _live_plot(samples: TransactionSamples | None, clock: str) -> plots.Plot:
    """Draw the minimum time of each size and protocol, theory or a fit, and Stevens' curves."""
    points: dict[str, Any] = {NAMES[mode]: ([], []) for mode in PROTOCOLS}
    over_path = samples is not None and samples.meta.instrument.truth is not None
    book = {} if over_path else book_lines(clock)
    curves: list[tuple[Any, Any]] = []
    text, off_ratio = [phrase("No run yet.")], 0.0
    least_s: dict[str, float] = {}
    if samples is not None and len(samples):
        text = []
        for mode in samples.modes:
            comparison = compare.transactions(samples, mode=mode, clock=clock)
            points[NAMES[mode]] = (comparison.x, comparison.measured)
            if comparison.x.size:
                low, high = np.searchsorted(SIZES, [comparison.x.min(), comparison.x.max() + 1])
                at = SIZES[low:high]
                curves.append((at, np.interp(at, comparison.curve_x, comparison.curve_y)))
                least_s[mode] = float(comparison.measured[0])
                text.append(f"{NAMES[mode]}: {show(least_s[mode], 's')}")
                off_ratio = max(
                    off_ratio, float(np.abs(comparison.residual / comparison.predicted).max())
                )
        text = [
            phrase(
                "At the smallest size, by the clock of the {clock}: {join}.",
                clock=clock,
                join=", ".join(text),
            )
        ]
        text += comparisons(least_s, samples.meta.instrument.packets)
        if over_path:
            text.append(phrase("The largest deviation from theory is {off:.1%}.", off=off_ratio))
    if book:
        said = [
            f"{name.removeprefix(BOOK)} {show(float(line[1][0]), 's')}"
            for name, line in book.items()
        ]
        text.append(phrase("Stevens, 1996: {join}.", join=", ".join(said)))
    text += map(str, samples.meta.warnings) if samples is not None else ()
    x, lines = _together(
        {THEORY if over_path else FIT: curves, **{name: [line] for name, line in book.items()}}
    )
    return plots.curves(
        x,
        lines,
        points=points,
        x_axis=Axis("user data", "byte", "linear", -50, 2050),
        y_axis=Axis("transaction time", "s", "log"),
        title="One request, one response",
        description=" ".join(text),
    )


def book_lines(clock: str) -> dict[str, tuple[Any, Any]]:
    """Return sizes and times of the curves that Stevens' text describes, by the clock.

    For UDP it gives ranges, whose midpoint is drawn; the curves over TCP follow by its factors.
    """
    said = datasets.printed_numbers("loopback_transactions")

    def middle(low: str, high: str) -> float:
        return float(said[low] + said[high]) / 2

    tap = np.array([middle("LB09", "LB10"), middle("LB13", "LB14")])
    udp = tap + np.array([middle("LB05", "LB06"), middle("LB11", "LB12")])
    ttcp = float(udp[0]) * said["LB20"]
    tcp = ttcp * said["LB21"]
    if clock == "tap":
        udp, ttcp, tcp = tap, ttcp - said["LB15"], tcp - said["LB16"]
    whole, largest = said["LB02"], said["LB25"]
    return {
        BOOK + "UDP": (np.array([0.0, whole, whole + 1, 2000.0]), np.repeat(udp, 2)),
        BOOK + "T/TCP": (np.array([0.0, largest]), np.full(2, ttcp)),
        BOOK + "TCP": (np.array([0.0, largest]), np.full(2, tcp)),
    }


def _together(lines: dict[str, list[tuple[Any, Any]]]) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Put curves with sizes of their own one after the other, apart by a gap."""
    x: list[Any] = [[np.nan]]
    y: dict[str, list[Any]] = {name: [[np.nan]] for name in lines}
    for name, parts in lines.items():
        for sizes, times in parts:
            x += [sizes, [np.nan]]
            for other, columns in y.items():
                columns += [times if other == name else np.full(len(sizes), np.nan), [np.nan]]
    return np.concatenate(x), {name: np.concatenate(columns) for name, columns in y.items()}
