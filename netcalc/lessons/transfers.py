"""Panels of the lesson on TCP and UDP: a source, a sink, and their limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netcalc import compare, datasets, plots
from netcalc.checks import FloatArray
from netcalc.experiments import bulk
from netcalc.language import phrase, term
from netcalc.models.hosts import host_stack
from netcalc.models.rates import goodput, packet_rates
from netcalc.models.sizes import framing
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.path import Path
from netcalc.plots import Axis, Plot, curves
from netcalc.rate_layers import ETHERNET_LINE, PAYLOAD, UDP_PAYLOAD, named
from netcalc.samples import BulkSamples
from netcalc.units import show, show_rate
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import run_button

_SEGMENTS = np.geomspace(100, 65_536, 150)
_PACKETS = np.linspace(46, 1500, 150)
_DATAGRAMS = framing.udp_payload_bytes(_PACKETS)
_COSTS = "theory"
_BOOK_PACKET = 1468.0
_BOOK_BYTES = 7.2e6
_ETHERNET_SEGMENT, _LOOPBACK_SEGMENT = 1448.0, 16_332.0
LIVE_SIZES = (64, 300, 700, 1440, 4096, 16_384, 65_000)
"""Sizes of the writes of the live run. [byte]"""
LIVE_MTUS = (1500, 4096, 16_384, 65_536)
"""MTU of the loopback in the live runs. [byte]"""
LIVE_BUFFERS = (4096, 8192, 16_384, 32_768, 65_536)
"""Buffers of the live sweep. [byte]"""


def byte_cost_panel() -> Panel:
    """Rate of a source by segment size, with the theory that only bytes cost time."""
    figure = Figure(_cost_plot())

    def update(byte_cost: float) -> None:
        slow_s, _ = _draw_costs(figure, packet_cost=0.0, byte_cost=byte_cost)
        figure.describe(
            phrase(
                "{byte_cost} per byte and nothing else: 7.2 MB take {slow} in segments of 1448 "
                "bytes and in segments of 16332. Snader measured 2.88 s and 0.9558 s.",
                byte_cost=show(byte_cost, "s"),
                slow=show(slow_s, "s", digits=3),
            )
        )

    return panel(figure, {"byte_cost": _byte_cost("10 ns/B", low="1 ns/B")}, update)


def segment_cost_panel() -> Panel:
    """Rate of a source by segment size: a cost per segment and a cost per byte."""
    figure = Figure(_cost_plot())

    def update(packet_cost: float, byte_cost: float) -> tuple[float, float]:
        slow_s, fast_s = _draw_costs(figure, packet_cost=packet_cost, byte_cost=byte_cost)
        figure.describe(
            phrase(
                "{packet_cost} per segment and {byte_cost} per byte: 7.2 MB take {slow} in "
                "segments of 1448 bytes and {fast} in segments of 16332, {slow_2:.2f} times "
                "less. Snader measured 2.88 s and 0.9558 s.",
                packet_cost=show(packet_cost, "s"),
                byte_cost=show(byte_cost, "s"),
                slow=show(slow_s, "s", digits=3),
                fast=show(fast_s, "s", digits=3),
                slow_2=slow_s / fast_s,
            )
        )
        fast = packet_rates.rate_goodput_bps(1 / fast_s, payload_bytes=_BOOK_BYTES)
        return _LOOPBACK_SEGMENT, float(fast)

    controls = {
        "packet_cost": Quantity("time per segment", "425 us", unit="s", low="1 us", high="2 ms"),
        "byte_cost": _byte_cost("107 ns/B"),
    }
    what = term("rate of the source in segments of 16332 bytes, if 1448 bytes give 20 Mbit/s")
    return panel(figure, controls, update, predict=what, unit="bit/s")


def sparc_panel() -> Panel:
    """Rate of a source to another host: the two costs, and the line of 10 Mbit/s."""
    rows = [
        row
        for row in _book("source_sink_1440") + _book("source_sink_300")
        if row["server"] == "sparc"
    ]
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        stream = row["protocol"] == "TCP"
        piece = _ETHERNET_SEGMENT if stream else row["payload_bytes"]
        name = phrase(
            "{row}, writes of {row_2:.0f} B",
            row=row["protocol"],
            row_2=row["payload_bytes"],
        )
        points.setdefault(name, []).append((piece, row["sent_rate_bps"]))
    theory, wire = term("two costs and the line"), term("maximum of 10 Mbit/s Ethernet")
    plot = curves(
        _SEGMENTS,
        {theory: _SEGMENTS, wire: _stream_limit_bps(_SEGMENTS)},
        points={name: _columns(found) for name, found in points.items()},
        x_axis=Axis("segment or datagram", "byte", "log", 100, 2000),
        y_axis=Axis(named("rate of the source", PAYLOAD), "bit/s", "log", 1e6, 2e7),
        title="A source, and a sink on the sparc",
    )
    figure = Figure(plot)

    def update(packet_cost: float, byte_cost: float) -> None:
        elapsed_s = host_stack.bulk_s(
            _BOOK_BYTES, segment_bytes=_SEGMENTS, packet_cost=packet_cost, byte_cost=byte_cost
        )
        rate = packet_rates.rate_goodput_bps(1 / elapsed_s, payload_bytes=_BOOK_BYTES)
        figure.update(theory, y=np.minimum(rate, _stream_limit_bps(_SEGMENTS)))
        own = float(np.interp(_ETHERNET_SEGMENT, _SEGMENTS, rate))
        most = float(_stream_limit_bps(np.array([_ETHERNET_SEGMENT]))[0])
        limit = phrase("the hosts are") if own < most else phrase("the line is")
        figure.describe(
            phrase(
                "In segments of 1448 bytes the two costs allow {own} and the line {most}: "
                "{limit} the limit. Snader measured 8.016 Mbit/s over TCP, 85% of the line, "
                "and wrote 9.88 Mbit/s over UDP, more than the line carries: 440 of 5000 "
                "datagrams never arrived.",
                own=show_rate(own, PAYLOAD),
                most=show_rate(most, PAYLOAD),
                limit=limit,
            )
        )

    controls = {
        "packet_cost": Quantity("time per segment", "425 us", unit="s", low="1 us", high="2 ms"),
        "byte_cost": _byte_cost("107 ns/B"),
    }
    return panel(figure, controls, update)


def _stream_limit_bps(segment_bytes: FloatArray) -> FloatArray:
    """Return what Ethernet of 10 Mbit/s carries in such segments; nan where none is so large."""
    packet_bytes = segment_bytes + STAMPED_HEADERS_BYTES
    fits = packet_bytes <= 1500.0
    limit_bps = np.full(packet_bytes.shape, np.nan)
    limit_bps[fits] = goodput.tcp_goodput_bps(packet_bytes[fits], bandwidth_bps=10e6)
    return limit_bps


def processor_panel() -> Panel:
    """Processor time of a source for each write: Snader's tables, and this machine."""
    rows = _book("source_sink_1440") + _book("source_sink_300")
    servers = {"": ("bsd", "localhost"), " to the sparc": ("sparc",)}
    runs: dict[str, BulkSamples] = {}

    def points(part: str) -> dict[str, tuple[Any, Any]]:
        found: dict[str, tuple[Any, Any]] = {}
        for protocol in ("TCP", "UDP"):
            for name, known in servers.items():
                found[phrase("Snader, {protocol}{name}", protocol=protocol, name=name)] = _columns(
                    [
                        (row["payload_bytes"], row[f"{part}_s"] / row["write_count"])
                        for row in rows
                        if row["protocol"] == protocol and row["server"] in known
                    ]
                )
            found[phrase("yours, {protocol}", protocol=protocol)] = ([], [])
            if protocol in runs:
                own = runs[protocol].medians(f"{part}_s", "write_count")
                spent_s = own[f"{part}_s"] / own["write_count"]
                found[phrase("yours, {protocol}", protocol=protocol)] = (
                    own["write_bytes"],
                    spent_s,
                )
        return found

    plot = curves(
        np.array([50.0, 80_000.0]),
        {},
        points=points("system"),
        x_axis=Axis("size of the write", "byte", "log", 50, 80_000),
        y_axis=Axis("processor time for each write", "s", "log", 1e-7, 1e-3),
        title="What a write costs the source",
    )
    figure = Figure(plot)

    def update(part: str) -> None:
        drawn = points(part)
        figure.update_all({name: {"x": x, "y": y} for name, (x, y) in drawn.items()})
        words = [
            phrase(
                "Snader's source took 1.7 to 11 us of its own time for each write, and 89 to "
                "325 us of the system's. UDP to the sparc has more system time with 300 bytes "
                "(287 us) than with 1440 (169 us): no cost per byte explains that, and the "
                "text does not mention it."
            )
        ]
        for protocol in runs:
            sizes, spent_s = drawn[phrase("yours, {protocol}", protocol=protocol)]
            words += [
                phrase(
                    "Yours, {protocol}: {spent} for a write of {size}.",
                    protocol=protocol,
                    spent=show(float(spent), "s", digits=3),
                    size=show(float(size), "byte"),
                )
                for size, spent in list(zip(sizes, spent_s, strict=True))[:: max(len(sizes) - 1, 1)]
            ]
        figure.describe(" ".join(words))

    parts = choice("time", {"of the system": "system", "of the program": "user"}, "system")

    def show_both(found: tuple[BulkSamples, BulkSamples]) -> None:
        runs.update(zip(("TCP", "UDP"), found, strict=True))
        update(parts.value)

    return panel(
        figure, {"part": parts}, update,
        below=[run_button(
            "Run source and sink", _both, show_both, key="source and sink", tool="netcalc bulk",
            several=True,
        )],
    )  # fmt: skip


def wire_panel() -> Panel:
    """UDP to another host: the rate that was sent and the rate that arrived, against the line."""
    rows = [
        row
        for row in _book("source_sink_1440") + _book("source_sink_300")
        if (row["server"], row["protocol"]) == ("sparc", "UDP")
    ]
    sent = [(row["payload_bytes"], row["sent_rate_bps"]) for row in rows]
    arrived = [(row["payload_bytes"], row["goodput_bps"]) for row in rows]
    ceiling = term("maximum of the line")
    plot = curves(
        _DATAGRAMS,
        {ceiling: _DATAGRAMS},
        points={"sent, as printed": _columns(sent), "arrived": _columns(arrived)},
        x_axis=Axis("datagram", "byte", "linear", 0, 1500),
        y_axis=Axis(named("rate", UDP_PAYLOAD), "bit/s", "linear", 0, 12e6),
        title="UDP to the sparc: faster than the line?",
    )
    figure = Figure(plot)

    def update(bandwidth_bps: float) -> None:
        figure.update(ceiling, y=goodput.udp_goodput_bps(_PACKETS, bandwidth_bps=bandwidth_bps))
        most = float(goodput.udp_goodput_bps(_BOOK_PACKET, bandwidth_bps=bandwidth_bps))
        figure.describe(
            phrase(
                "At 1440 bytes a line of {bandwidth} carries {most}; {sent} were sent, "
                "{sent_2:.1%} of that, and {arrived} arrived.",
                bandwidth=show_rate(bandwidth_bps, ETHERNET_LINE),
                most=show_rate(most, UDP_PAYLOAD),
                sent=show_rate(sent[0][1], UDP_PAYLOAD),
                sent_2=sent[0][1] / most,
                arrived=show_rate(arrived[0][1], UDP_PAYLOAD),
            )
        )

    controls = {
        "bandwidth_bps": Quantity(
            "line", "10 Mbit/s", unit="bit/s", low="1 Mbit/s", high="100 Mbit/s"
        )
    }
    return panel(figure, controls, update)


def source_sink_panel() -> Panel:
    """TCP and UDP between two programs of this machine, by size of the write, live."""
    theory = term("UDP, theory with fitted costs")
    names = (term("TCP, received"), term("UDP, sent"), term("UDP, received"))
    nothing: tuple[list[float], list[float]] = ([], [])
    axis = np.geomspace(min(LIVE_SIZES), max(LIVE_SIZES), 100)
    plot = curves(
        axis,
        {theory: np.full(axis.size, np.nan), **_reference_lines(axis)},
        points={**dict.fromkeys(names, nothing), **_book_on_one_host()},
        x_axis=Axis("size of the write", "byte", "log", 50, 80_000),
        y_axis=Axis(named("rate", PAYLOAD), "bit/s", "log", 1e6, 1e11),
        title="A source and a sink on this machine",
        description=phrase("Press the button to measure this machine."),
    )
    figure = Figure(plot)

    def show_both(found: tuple[BulkSamples, BulkSamples]) -> None:
        stream, datagrams = found
        figure.update_all(
            {
                names[0]: _medians(stream, "goodput_bps"),
                names[1]: _medians(datagrams, "sent_rate_bps"),
                names[2]: _medians(datagrams, "goodput_bps"),
            }
        )
        if not len(datagrams):
            return
        fitted = compare.bulk(datagrams)
        spent_s = np.interp(axis, fitted.curve_x, fitted.curve_y)
        figure.update(theory, y=packet_rates.rate_goodput_bps(1 / spent_s, payload_bytes=axis))
        lost = float(np.nanmedian(datagrams.loss_ratio))
        warned = " ".join(map(str, datagrams.meta.warnings))
        figure.describe(
            phrase(
                "UDP: {sentence} {lost:.1%} of the datagrams were lost. {warned}",
                sentence=fitted.sentence,
                lost=lost,
                warned=warned,
            )
        )

    return panel(
        figure, {}, lambda: None,
        below=[run_button(
            "Run source and sink", _both, show_both, key="source and sink", tool="netcalc bulk",
            several=True,
        )],
    )  # fmt: skip


def mtu_panel() -> Panel:
    """TCP over a private loopback, by MTU: why localhost was the faster name."""
    theory, measured = term("two costs, from the first and the third point"), "measured"
    book = datasets.load("source_sink_1440").columns()
    printed = [
        float(book["wall_s"][(book["protocol"] == "TCP") & (book["server"] == server)][0])
        for server in ("bsd", "localhost")
    ]
    plot = curves(
        _SEGMENTS,
        {theory: np.full(_SEGMENTS.size, np.nan)},
        points={
            measured: ([], []),
            "Snader's bsd, and its localhost": ([_ETHERNET_SEGMENT, _LOOPBACK_SEGMENT], printed),
        },
        x_axis=Axis("segment", "byte", "log", 100, 70_000),
        y_axis=Axis("time for 7.2 MB", "s", "log", 1e-3, 10),
        title="The same 5000 writes in smaller and larger segments",
        description=phrase(
            "Snader measured {small} in segments of 1448 bytes and {large} in segments of 16332. "
            "Press the button to measure this machine.",
            small=show(printed[0], "s"),
            large=show(printed[1], "s"),
        ),
    )
    figure = Figure(plot)

    def run(progress: Callable[..., object], stop: Any) -> list[BulkSamples]:
        found = []
        for index, mtu in enumerate(LIVE_MTUS):
            progress(index, len(LIVE_MTUS))
            found.append(bulk(1440, run_count=5, mtu_bytes=mtu, stop=stop))
            if found[-1].meta.partial:
                break
        progress(len(found), len(LIVE_MTUS))
        return found

    def show_all(runs: list[BulkSamples]) -> None:
        whole = [samples for samples in runs if not samples.meta.partial]
        segments = [float(samples.meta.instrument.mss_bytes or np.nan) for samples in whole]
        times = [float(np.median(samples.wall_s)) for samples in whole]
        figure.update(measured, x=segments, y=times)
        if len(whole) < len(LIVE_MTUS):
            return
        costs = host_stack.two_point_costs(
            times[0:3:2],
            packet_count=np.ceil(_BOOK_BYTES / np.array(segments[0:3:2])),
            payload_bytes=[_BOOK_BYTES] * 2,
        )
        packet_cost, byte_cost = float(costs.packet_cost), float(costs.byte_cost)
        text = phrase(
            "{times} at an MTU of 1500, {times_2} at 16384: {times_3:.2f} times less; "
            "Snader measured 3.01.",
            times=show(times[0], "s", digits=3),
            times_2=show(times[2], "s", digits=3),
            times_3=times[0] / times[2],
        )
        if packet_cost < 0 or byte_cost < 0:
            figure.describe(
                phrase(
                    "{text} No pair of costs fits both: the machine is too busy.",
                    text=text,
                )
            )
            return
        figure.update(
            theory,
            y=host_stack.bulk_s(
                _BOOK_BYTES, segment_bytes=_SEGMENTS, packet_cost=packet_cost, byte_cost=byte_cost
            ),
        )
        figure.describe(
            phrase(
                "{text} That is {packet_cost} per segment and {byte_cost} per byte.",
                text=text,
                packet_cost=show(packet_cost, "s", digits=3),
                byte_cost=show(byte_cost, "s", digits=3),
            )
        )

    button = run_button(
        "Run at four MTUs", run, show_all, key="mtu", tool="netcalc bulk", several=True
    )
    return panel(figure, {}, lambda: None, below=[button])


def buffer_panel(path: str = "10 Mbit/s 10 ms") -> Panel:
    """Goodput by socket buffer over an emulated path, live, and one buffer per round trip.

    Parameters
    ----------
    path : str
        The path, as text.

    Returns
    -------
    Panel
        The widget to show.
    """
    links = Path.parse(path)
    empty = BulkSamples(
        write_bytes=[], write_count=[], sent_bytes=[], received_bytes=[], wall_s=[], delivery_s=[]
    )
    figure = Figure(plots.overlay(compare.bulk(empty, path=links)))

    def run(progress: Callable[..., object], stop: Any) -> BulkSamples:
        return bulk(
            1440, write_count=150, run_count=1, buffer_bytes=LIVE_BUFFERS, path=links,
            progress=progress, stop=stop,
        )  # fmt: skip

    def draw(samples: BulkSamples) -> None:
        figure.draw(plots.overlay(compare.bulk(samples)))

    button = run_button(
        phrase("Sweep the buffer over {path}", path=path),
        run,
        draw,
        key="buffer sweep",
        tool="netcalc bulk",
    )
    return panel(figure, {}, lambda: None, below=[button])


def _cost_plot() -> Plot:
    """Draw the rates that Snader printed for one host by the size of the segments."""
    rows = _book("source_sink_1440") + _book("source_sink_300")
    segment = {"bsd": _ETHERNET_SEGMENT, "localhost": _LOOPBACK_SEGMENT}
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row["server"] == "sparc":
            continue
        size, stream = row["payload_bytes"], row["protocol"] == "TCP"
        name = phrase("{row}, writes of {size:.0f} B", row=row["protocol"], size=size)
        piece = segment[row["server"]] if stream else size
        groups.setdefault(name, []).append((piece, row["sent_rate_bps"]))
    return curves(
        _SEGMENTS,
        {_COSTS: _SEGMENTS},
        points={name: _columns(found) for name, found in groups.items()},
        x_axis=Axis("segment or datagram", "byte", "log", 100, 70_000),
        y_axis=Axis(named("rate of the source", PAYLOAD), "bit/s", "log", 1e6, 3e8),
        title="A source and a sink on one host, before 2000",
    )


def _draw_costs(figure: Figure, **cost: float) -> tuple[float, float]:
    """Draw the theory of two costs; return the times of Snader's two segment sizes."""
    elapsed_s = host_stack.bulk_s(_BOOK_BYTES, segment_bytes=_SEGMENTS, **cost)
    rate = packet_rates.rate_goodput_bps(1 / elapsed_s, payload_bytes=_BOOK_BYTES)
    figure.update(_COSTS, y=rate)
    pieces = [_ETHERNET_SEGMENT, _LOOPBACK_SEGMENT]
    slow_s, fast_s = host_stack.bulk_s(
        np.asarray(_BOOK_BYTES), segment_bytes=pieces, **cost
    ).tolist()
    return slow_s, fast_s


def _byte_cost(value: str, *, low: str = "0 ns/B") -> Quantity:
    return Quantity("time per byte", value, unit="s/byte", low=low, high="300 ns/B", scale="linear")


def _both(progress: Callable[..., object], stop: Any) -> tuple[BulkSamples, BulkSamples]:
    """Run TCP, then UDP, with one bar for both."""
    runs = 3
    half = runs * len(LIVE_SIZES)

    def one(protocol: str, before: int) -> BulkSamples:
        return bulk(
            LIVE_SIZES, protocol=protocol, write_count=2000, run_count=runs, buffer_bytes=None,
            progress=lambda done, total, *_: progress(before + done, 2 * half), stop=stop,
        )  # fmt: skip

    return one("tcp", 0), one("udp", half)


def _reference_lines(sizes: FloatArray) -> dict[str, FloatArray]:
    """Return the rates that Snader's text states for other networks, as level lines."""
    columns = datasets.load("source_sink_text").columns()
    stated = dict(zip(columns["id"].tolist(), columns["si_value"].tolist(), strict=True))
    return {
        name: np.full(sizes.size, float(stated[row]))
        for name, row in (
            (phrase("FDDI, line"), "SN19"),
            ("Myrinet 1999, XP1000", "SN20"),
            (phrase("Myrinet 1999, PII-450: more than"), "SN21"),
        )
    }


def _medians(samples: BulkSamples, column: str) -> dict[str, Any]:
    found = samples.medians(column)
    return {"x": found["write_bytes"], "y": found[column]}


def _book(name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of the book."""
    columns = datasets.load(name).columns()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _book_on_one_host() -> dict[str, tuple[list[float], list[float]]]:
    """Return what the book received on one host: its loopback, or at 300 bytes its own name."""
    rows = [row for row in _book("source_sink_1440") if row["server"] == "localhost"]
    rows += [row for row in _book("source_sink_300") if row["server"] == "bsd"]
    return {
        phrase("{protocol}, received (Snader)", protocol=protocol): _columns(
            [(r["payload_bytes"], r["goodput_bps"]) for r in rows if r["protocol"] == protocol]
        )
        for protocol in ("TCP", "UDP")
    }


def _columns(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in pairs], [y for _, y in pairs]
