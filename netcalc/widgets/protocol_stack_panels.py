"""Panels of the lesson on the protocol stack: what a transaction costs, and where."""

from __future__ import annotations

from typing import Any

import numpy as np

from netcalc import compare, plots
from netcalc.experiments import transactions
from netcalc.experiments.transactions import PROTOCOLS
from netcalc.models.handshakes import first_byte_s, round_trips
from netcalc.path import Link, Path
from netcalc.plots import Axis
from netcalc.plots.style import Theme
from netcalc.samples import TransactionSamples
from netcalc.units import show
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import run_button

HANDSHAKES = {
    "UDP, and Fast Open": ("udp", "none"),
    "TCP": ("tcp", "none"),
    "TCP with TLS 1.3": ("tcp", "tls1.3"),
    "TCP with TLS 1.2": ("tcp", "tls1.2"),
    "QUIC": ("quic", "none"),
}
"""Transport and security of each line of the figure."""
NAMES = {"ping": "ping", "udp": "UDP", "tfo": "Fast Open", "tcp": "TCP", "tls": "TLS 1.3"}
LIVE_BPS = 100e6
"""Rate of the emulated path of a live run. [bit/s]"""
SHORT_SIZES = (8, 700, 1400)
"""Sizes of a run over a path, where each transaction takes round trips. [byte]"""


def handshake_panel(*, theme: Theme = "light") -> Panel:
    """Time to the first byte of a response, against the distance, by protocol."""
    rtts = np.linspace(0, 0.2, 41)
    plot = plots.curves(
        rtts,
        dict.fromkeys(HANDSHAKES, rtts),
        x_axis=Axis("round trip", "s", "linear", 0, 0.2),
        y_axis=Axis("time to the response", "s", "linear", 0, 0.9),
        title="Round trips before an answer",
        theme=theme,
    )
    figure = Figure(plot)

    def update(rtt_s: float, server_s: float) -> None:
        figure.update_all(
            {
                name: {
                    "y": first_byte_s(
                        rtts, transport=transport, security=security, server_s=server_s
                    )
                }
                for name, (transport, security) in HANDSHAKES.items()
            }
        )
        parts = []
        for name, (transport, security) in HANDSHAKES.items():
            time_s = float(
                first_byte_s(rtt_s, transport=transport, security=security, server_s=server_s)
            )
            count = int(round_trips(transport, security=security))
            parts.append(f"{name} {show(time_s, 's')} ({count} round trip{'s' * (count > 1)})")
        figure.describe(f"{show(rtt_s, 's')} away: {', '.join(parts)}.")

    controls = {
        "rtt_s": Quantity(
            "your round trip", "60 ms", unit="s", low="0 s", high="200 ms", scale="linear"
        ),
        "server_s": Quantity(
            "server's time", "1 ms", unit="s", low="0 s", high="100 ms", scale="linear"
        ),
    }
    return panel(figure, controls, update)


def live_panel(*, theme: Theme = "light") -> Panel:
    """Transactions on this machine, a minute ago: by protocol, size and clock."""
    shown: list[TransactionSamples] = []
    figure = Figure(_live_plot(None, "program", theme))
    latency = Quantity("one-way latency", "0 s", unit="s", low="0 s", high="50 ms", scale="linear")

    def update(latency_s: float, clock: str) -> None:
        figure.draw(_live_plot(shown[0] if shown else None, clock, theme))

    controls = {
        "latency_s": latency,
        "clock": choice("clock", {"the program's": "program", "a packet tap's": "tap"}, "program"),
    }

    def run(progress: Any, stop: Any) -> TransactionSamples:
        if latency.value:
            path = Path.of([Link(LIVE_BPS, latency.value)])
            return transactions(SHORT_SIZES, path=path, count=5, progress=progress, stop=stop)
        return transactions(progress=progress, stop=stop)

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        figure.draw(_live_plot(samples, controls["clock"].value, theme))

    live = run_button(
        "Run transactions on this machine",
        run,
        show_run,
        key="transactions",
        tool="netcalc transactions",
    )
    return panel(figure, controls, update, below=[live])


def _live_plot(samples: TransactionSamples | None, clock: str, theme: Theme) -> plots.Plot:
    """Draw the smallest time of each size and protocol, with what theory or a fit says."""
    x = np.linspace(0, 2000, 401)
    points: dict[str, Any] = {NAMES[mode]: ([], []) for mode in PROTOCOLS}
    lines: dict[str, Any] = {f"theory: {NAMES[mode]}": x * np.nan for mode in PROTOCOLS}
    text = ["No run yet."]
    if samples is not None and len(samples):
        text = []
        for mode in samples.modes:
            found = compare.transactions(samples, mode=mode, clock=clock)
            points[NAMES[mode]] = (found.x, found.measured)
            if found.x.size:
                within = np.where(x <= found.x.max(), x, np.nan)
                lines[f"theory: {NAMES[mode]}"] = np.interp(
                    within, found.curve_x, found.curve_y, left=np.nan
                )
                text.append(f"{NAMES[mode]}: {show(float(found.measured[0]), 's')}")
        text = [f"At the smallest size, by the clock of the {clock}: {', '.join(text)}."]
        text += samples.meta.warnings
    return plots.curves(
        x,
        lines,
        points=points,
        x_axis=Axis("user data", "byte", "linear", -50, 2050),
        y_axis=Axis("transaction time", "s", "log"),
        title="One request, one response",
        description=" ".join(text),
        theme=theme,
    )
