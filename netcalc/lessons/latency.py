"""Panels of the lesson on latency and bandwidth."""

from __future__ import annotations

import numpy as np

from netcalc import datasets, explain
from netcalc.language import phrase, term
from netcalc.models.delays import latency
from netcalc.path import Link, Path
from netcalc.plots import Axis, curves
from netcalc.rate_layers import LINE, named
from netcalc.units import line, show, show_rate
from netcalc.widgets.controls import Quantity
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel

_YOURS = term("your line")
_SIZES = np.geomspace(100, 1e9, 200)
_RATES = np.geomspace(1e4, 1e11, 200)
_ECHO_SIZES = np.linspace(0, 1500, 61)


def transfer_panel(*, predict: bool = True) -> Panel:
    """Transfer time against size: three lines of the book, one of yours, the book's points.

    Parameters
    ----------
    predict : bool
        Whether the reader guesses the time of the last bit before the figure is shown.

    Returns
    -------
    Panel
        The widget to show.
    """
    book = datasets.load("transfer_times").columns()
    rates = {
        name: float(rate) for name, rate in zip(book["line"], book["bandwidth_bps"], strict=True)
    }
    plot = curves(
        _SIZES,
        dict.fromkeys((*rates, _YOURS), _SIZES),
        points={"Stevens": (book["payload_bytes"], book["printed_transfer_s"])},
        x_axis=Axis("size", "byte", "log", 100, 1e9),
        y_axis=Axis("transfer time", "s", "log", 1e-4, 1e4),
        title="How long does it take to arrive?",
    )
    figure = Figure(plot)

    def update(latency_s: float, bandwidth_bps: float, payload_bytes: float) -> tuple[float, float]:
        lines = {**rates, _YOURS: bandwidth_bps}
        figure.update_all(
            {
                name: {"y": latency.transfer_s(_SIZES, bandwidth_bps=rate, latency_s=latency_s)}
                for name, rate in lines.items()
            }
        )
        path = Path.of([Link(bandwidth_bps, latency_s)])
        figure.describe(explain.transfer(payload_bytes, path=path).sentence)
        last_s = latency.transfer_s(payload_bytes, bandwidth_bps=bandwidth_bps, latency_s=latency_s)
        return payload_bytes, float(last_s)

    controls = {
        "latency_s": Quantity("latency", "30 ms", unit="s", low="10 us", high="10 s"),
        "bandwidth_bps": Quantity(
            _YOURS, "1 Gbit/s", unit="bit/s", low="10 kbit/s", high="100 Gbit/s"
        ),
        "payload_bytes": Quantity("transfer size", "1 MB", unit="byte", low="100 B", high="1 GB"),
    }
    what = phrase("time of the last bit of your transfer over your line") if predict else ""
    return panel(figure, controls, update, predict=what, unit="s")


def balance_panel() -> Panel:
    """Map of the limiting factor: bandwidth above the line, latency below; and your transfer."""
    border = term("bandwidth-delay product")
    yours = term("your transfer")
    plot = curves(
        _RATES,
        {border: _RATES},
        points={yours: ([1e6], [1e6])},
        x_axis=Axis(named(phrase("bandwidth"), LINE), "bit/s", "log", 1e4, 1e11),
        y_axis=Axis("size", "byte", "log", 1, 1e12),
        title="Above the line bandwidth limits, below it latency",
    )
    figure = Figure(plot)

    def update(latency_s: float, bandwidth_bps: float, payload_bytes: float) -> None:
        balance = latency.half_rate_bytes(latency_s, bandwidth_bps=_RATES)
        figure.update_all(
            {border: {"y": balance}, yours: {"x": [bandwidth_bps], "y": [payload_bytes]}}
        )
        here = float(latency.half_rate_bytes(latency_s, bandwidth_bps=bandwidth_bps))
        share = float(
            latency.latency_share_ratio(
                payload_bytes, bandwidth_bps=bandwidth_bps, latency_s=latency_s
            )
        )
        figure.describe(
            phrase(
                "At {rate} and {latency} the pipe holds {held}. Latency is {share:.0%} of "
                "the transfer time of your {size}.",
                rate=show_rate(bandwidth_bps, LINE),
                latency=show(latency_s, "s"),
                held=show(here, "byte"),
                share=share,
                size=show(payload_bytes, "byte"),
            )
        )

    controls = {
        "latency_s": Quantity("latency", "30 ms", unit="s", low="10 us", high="10 s"),
        "bandwidth_bps": Quantity(
            "bandwidth", "T1", unit="bit/s", low="10 kbit/s", high="100 Gbit/s"
        ),
        "payload_bytes": Quantity("size", "1 MB", unit="byte", low="1 B", high="1 TB"),
    }
    return panel(figure, controls, update)


def distance_panel() -> Panel:
    """Round-trip time against distance: light in vacuum and in fibre, and your path."""
    distances = np.linspace(0, 2e7, 101)
    vacuum, fibre, yours = term("light in vacuum"), term("light in fibre"), term("your path")
    plot = curves(
        distances,
        {vacuum: distances, fibre: distances},
        points={yours: ([4.8e6], [0.06])},
        x_axis=Axis("distance", "m", "linear", 0, 2e7),
        y_axis=Axis("round-trip time", "s", "linear", 0, 0.25),
        title="No bit is faster than light",
    )
    figure = Figure(plot)
    slowest = {vacuum: latency.SPEED_OF_LIGHT_M_S, fibre: float(latency.signal_speed_m_s())}
    figure.update_all(
        {
            name: {"y": 2 * latency.propagation_s(distances, speed_m_s=speed)}
            for name, speed in slowest.items()
        }
    )

    def update(distance_m: float, rtt_s: float) -> None:
        figure.update(yours, x=[distance_m], y=[rtt_s])
        floor = 2 * float(latency.propagation_s(distance_m))
        words = phrase(
            "Light in fibre takes {floor} for {distance} and back. ",
            floor=show(floor, "s"),
            distance=show(distance_m, "m"),
        )
        if rtt_s < floor:
            words += phrase(
                "A shorter round trip is impossible: the distance or the time is wrong."
            )
        else:
            words += phrase(
                "A round trip of {rtt} is {times:.1f} times that: the rest is detours, routers "
                "and queues.",
                rtt=show(rtt_s, "s"),
                times=rtt_s / floor,
            )
        figure.describe(words)

    controls = {
        "distance_m": Quantity(
            "distance", "4800 km", unit="m", low="10 km", high="20000 km", scale="linear"
        ),
        "rtt_s": Quantity(
            "round trip", "60 ms", unit="s", low="0.1 ms", high="250 ms", scale="linear"
        ),
    }
    return panel(figure, controls, update)


def wan_panel() -> Panel:
    """The five intercepts of Fig. A-3 and the one line whose far end is printed."""
    wan = datasets.load("wan_curves").columns()
    names = list(dict.fromkeys(str(name) for name in wan["path"]))
    points = {
        name: (wan["payload_bytes"][wan["path"] == name], wan["curve_rtt_s"][wan["path"] == name])
        for name in names
    }
    theory = "theory"
    plot = curves(
        _ECHO_SIZES,
        {theory: _ECHO_SIZES},
        points=points,
        x_axis=Axis("user data", "byte", "linear", -50, 1500),
        y_axis=Axis("round-trip time", "s", "linear", 0, 0.25),
        title="Ping across the Internet before 1996: the printed points of Fig. A-3",
    )
    figure = Figure(plot)
    t1 = line("T1").exact_bps

    def update(base_rtt_s: float, line_count: float) -> None:
        rtt = latency.echo_rtt_s(_ECHO_SIZES, base_rtt_s=base_rtt_s, bandwidth_bps=t1 / line_count)
        figure.update(theory, y=rtt)
        figure.describe(
            phrase(
                "{count:.3g} T1 links in series each way are equivalent to one of {rate}: {empty} "
                "with no user data, {full} at 1400 bytes. Stevens printed 80 ms and 193 ms "
                "for connix.com to noao.edu.",
                count=line_count,
                rate=show_rate(t1 / line_count, LINE),
                empty=show(float(rtt[0]), "s"),
                full=show(float(np.interp(1400, _ECHO_SIZES, rtt)), "s"),
            )
        )

    controls = {
        "base_rtt_s": Quantity(
            "base round trip", "40 ms", unit="s", low="1 ms", high="220 ms", scale="linear"
        ),
        "line_count": Quantity("T1 links", 2.0, unit="1", low=1.0, high=15.0, scale="linear"),
    }
    return panel(figure, controls, update)
