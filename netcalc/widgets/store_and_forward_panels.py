"""Panels of the lesson on store-and-forward."""

from __future__ import annotations

import numpy as np

from netcalc import datasets
from netcalc.models import store_and_forward
from netcalc.path import Hop, Link, Path
from netcalc.plots import Axis, curves, timeline
from netcalc.plots.style import Theme
from netcalc.units import line, show
from netcalc.widgets.controls import Quantity
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel

BOOK_PACKET_BYTES = 1428
BOOK_SERIALIZATION_S = 7.5e-3
"""What the book takes for 1428 bytes on a T1; at 1.544 Mbit/s it is 7.399 ms."""


def book_path() -> Path:
    """Return the two lines and three nodes of Fig. A-9."""
    rate = 8 * BOOK_PACKET_BYTES / BOOK_SERIALIZATION_S
    first, second = Link(rate, 5e-3, "T1"), Link(rate, 1e-3, "T1")
    return Path((Hop(first, 1e-3), Hop(second, 1e-3)), source_processing_s=1e-3)


def timeline_panel(*, theme: Theme = "light") -> Panel:
    """Fig. A-9: two lines, a router, any number of packets, bit by bit."""
    figure = Figure(timeline(book_path().timeline([BOOK_PACKET_BYTES]), _NODES, theme=theme))

    def update(
        packet_bytes: float,
        first_bps: float,
        second_bps: float,
        processing_s: float,
        packet_count: float,
    ) -> None:
        links = [Link(first_bps, 5e-3), Link(second_bps, 1e-3)]
        path = Path.of(
            links,
            processing_s=processing_s,
            source_processing_s=processing_s,
            destination_processing_s=processing_s,
        )
        steps = path.timeline([packet_bytes] * int(packet_count))
        figure.draw(timeline(steps, _NODES, theme=theme))
        done = float(steps.done_s[-1])
        rate = 8 * packet_bytes * packet_count / done
        figure.describe(
            f"The last bit arrives at {show(float(steps.last_bit_s[-1, -1]), 's')}, all is done at "
            f"{show(done, 's')}: {show(rate, 'bit/s')}, {rate / path.bottleneck_bps:.0%} of the "
            "slowest line."
        )

    rate = f"{8 * BOOK_PACKET_BYTES / BOOK_SERIALIZATION_S / 1e6:.4f} Mbit/s"
    controls = {
        "packet_bytes": Quantity("packet", "1428 B", unit="byte", low="40 B", high="9000 B"),
        "first_bps": Quantity("first line", rate, unit="bit/s", low="56 kbit/s", high="100 Mbit/s"),
        "second_bps": Quantity(
            "second line", rate, unit="bit/s", low="56 kbit/s", high="100 Mbit/s"
        ),
        "processing_s": Quantity(
            "each node", "1 ms", unit="s", low="0 s", high="10 ms", scale="linear"
        ),
        "packet_count": Quantity(
            "packets", 1.0, unit="1", low=1.0, high=20.0, scale="linear", whole=True
        ),
    }
    return panel(figure, controls, update)


_NODES = ["source", "router", "destination"]


def train_panel(*, theme: Theme = "light") -> Panel:
    """Time of a train of packets: overlapped on the lines, or one after the other."""
    counts = np.arange(1, 31, dtype=float)
    overlapped, alone = "sent back to back", "each waits for the one before"
    plot = curves(
        counts,
        {overlapped: counts, alone: counts},
        points={"printed in the book": ([1, 10], [24e-3, 91.5e-3])},
        x_axis=Axis("packets", "1", "linear", 0, 30),
        y_axis=Axis("time until all is done", "s", "linear", 0, 0.75),
        title="Packets overlap on the lines",
        theme=theme,
    )
    figure = Figure(plot)

    def update(packet_bytes: float, router_count: float) -> None:
        middle = book_path()
        hops = (*[middle.hops[0]] * int(router_count), middle.hops[-1])
        path = Path(hops, middle.source_processing_s)
        one = float(path.one_way_s(packet_bytes))
        together = path.one_way_s(packet_bytes, packet_count=counts)
        figure.update_all({overlapped: {"y": together}, alone: {"y": counts * one}})
        rate = 8 * 10 * packet_bytes / float(together[9])
        figure.describe(
            f"One packet takes {show(one, 's')}, ten together {show(float(together[9]), 's')} "
            f"({show(rate, 'bit/s')}), ten one by one {show(10 * one, 's')}."
        )

    controls = {
        "packet_bytes": Quantity("packet", "1428 B", unit="byte", low="40 B", high="1500 B"),
        "router_count": Quantity(
            "routers", 1.0, unit="1", low=1.0, high=10.0, scale="linear", whole=True
        ),
    }
    return panel(figure, controls, update)


def hops_panel(*, theme: Theme = "light") -> Panel:
    """Store-and-forward of a typical packet over T1 and T3 lines, hop by hop."""
    hops = np.arange(1, 21)
    names = {"T1": line("T1").exact_bps, "T3": line("T3").nominal_bps}
    printed = datasets.load("serialization_times").columns()
    chosen = (printed["packet_bytes"] == 552) & (printed["line"] != "56 kb/s")
    plot = curves(
        hops,
        {f"{name} lines": hops for name in names},
        points={
            "printed in the book": (printed["hop_count"][chosen], printed["printed_s"][chosen])
        },
        x_axis=Axis("lines in a row", "1", "linear", 0, 21),
        y_axis=Axis("time to clock the packet", "s", "log", 1e-5, 1),
        title="Every line clocks the whole packet again",
        theme=theme,
    )
    figure = Figure(plot)

    def update(packet_bytes: float) -> None:
        times = {
            name: np.array(
                [
                    float(
                        store_and_forward.store_and_forward_s(
                            packet_bytes, bandwidth_bps=[rate] * n
                        )
                    )
                    for n in hops
                ]
            )
            for name, rate in names.items()
        }
        figure.update_all({f"{name} lines": {"y": time} for name, time in times.items()})
        figure.describe(
            f"{show(packet_bytes, 'byte')} over ten lines: {show(times['T1'][9], 's')} on T1, "
            f"{show(times['T3'][9], 's')} on T3."
        )

    controls = {"packet_bytes": Quantity("packet", "552 B", unit="byte", low="40 B", high="9000 B")}
    return panel(figure, controls, update)


def mix_panel(*, theme: Theme = "light") -> Panel:
    """Which mix of lines makes 187 ms? The path of connix.com to noao.edu as a puzzle."""
    sizes = np.linspace(0, 1500, 61)
    mix, naive = "this mix of lines", "one T1 only (95 ms at 1400 B)"
    plot = curves(
        sizes,
        {mix: sizes, naive: 0.080 + 2 * BOOK_SERIALIZATION_S * sizes / 1400},
        points={
            "measured (book)": ([0, 1400], [0.080, 0.193]),
            "computed (book)": ([1400], [0.187]),
        },
        x_axis=Axis("user data", "byte", "linear", -50, 1500),
        y_axis=Axis("round-trip time", "s", "linear", 0.06, 0.26),
        title="A path of 12 routers whose lines nobody wrote down",
        theme=theme,
    )
    figure = Figure(plot)

    def update(t1_count: float, t3_count: float, ethernet_count: float, router_s: float) -> None:
        t1, t3 = line("T1").exact_bps, line("T3").nominal_bps
        links = [Link(t1)] * int(t1_count) + [Link(t3)] * int(t3_count)
        links += [Link(10e6)] * int(ethernet_count)
        if not links:
            figure.update(mix, y=np.full(sizes.size, np.nan))
            figure.describe("No line at all: nothing arrives.")
            return
        bare, path = Path.of(links), Path.of(links, processing_s=router_s)
        rtt = 0.080 + path.rtt_s(sizes + 28) - bare.rtt_s(28)
        figure.update(mix, y=rtt)
        at_1400 = float(np.interp(1400, sizes, rtt))
        figure.describe(
            f"{len(links)} lines, {len(links) - 1} routers: {show(at_1400, 's')} at 1400 bytes, "
            f"{show(at_1400 - 0.187, 's')} from the 187 ms that the book computes and "
            f"{show(at_1400 - 0.193, 's')} from the 193 ms that it measured."
        )

    whole = {"unit": "1", "low": 0.0, "high": 13.0, "scale": "linear", "whole": True}
    controls = {
        "t1_count": Quantity("T1 lines", 1.0, **whole),  # type: ignore[arg-type]
        "t3_count": Quantity("T3 lines", 11.0, **whole),  # type: ignore[arg-type]
        "ethernet_count": Quantity("10 Mbit/s lines", 1.0, **whole),  # type: ignore[arg-type]
        "router_s": Quantity(
            "each router", "0.5 ms", unit="s", low="0 s", high="3 ms", scale="linear"
        ),
    }
    return panel(figure, controls, update)
