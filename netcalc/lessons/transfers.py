"""Panels of the lesson on TCP and UDP: a source, a sink, and their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from netcalc import compare, datasets, plots
from netcalc.checks import FloatArray
from netcalc.datasets import printed_numbers
from netcalc.experiments import bulk
from netcalc.language import phrase, term
from netcalc.models.hosts import host_stack
from netcalc.models.rates import goodput, line_rate
from netcalc.models.sizes import framing, headers
from netcalc.path import Path
from netcalc.plots import Axis, curves
from netcalc.rate_layers import ETHERNET_LINE, PAYLOAD, UDP_PAYLOAD, named
from netcalc.samples import BulkSamples
from netcalc.units import show, show_rate
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, in_layer, in_unit, panel, sweep_panel
from netcalc.widgets.peer import PeerField
from netcalc.widgets.run import RunButton, run_button

_SEGMENTS = np.round(np.geomspace(100, 65_536, 150))
_PACKETS = np.round(np.linspace(46, 1500, 150))
_DATAGRAMS = framing.udp_payload_bytes(_PACKETS)
_COSTS = "theory"
_BOOK_PACKET = 1468.0
_BOOK_BYTES = 7.2e6
_ETHERNET_SEGMENT, _LOOPBACK_SEGMENT = 1448.0, 16_332.0
LIVE_SIZES = (64, 300, 700, 1440, 4096, 16_384, 65_000)
"""Sizes of the writes of the live run. [byte]"""
FAR_WRITES = 300
"""Writes of each size with a second machine: 160 MB in a run of TCP and UDP. [1]"""
LIVE_MTUS = (1500, 4096, 16_384, 65_536)
"""MTU of the loopback in the live runs. [byte]"""
LIVE_BUFFERS = (4096, 8192, 16_384, 32_768, 65_536)
"""Buffers of the live sweep. [byte]"""


def byte_cost_panel() -> Panel:
    """Rate of a source by segment size, with the theory that only bytes cost time."""

    def model(byte_cost: float) -> Swept:
        rates, slow_s, _ = _rates(packet_cost=0.0, byte_cost=byte_cost)
        return {_COSTS: rates}, phrase(
            "{byte_cost} per byte and nothing else: 7.2 MB take {slow} in segments of 1448 "
            "bytes and in segments of 16332. Snader measured 2.88 s and 0.9558 s.",
            byte_cost=show(byte_cost, "s"),
            slow=show(slow_s, "s", digits=3),
        )

    return sweep_panel(
        model, controls={"byte_cost": _byte_cost("10 ns/B", low="1 ns/B")}, **_one_host()
    )


def segment_cost_panel() -> Panel:
    """Rate of a source by segment size: a cost per segment and a cost per byte."""

    def model(packet_cost: float, byte_cost: float) -> Swept:
        rates, slow_s, fast_s = _rates(packet_cost=packet_cost, byte_cost=byte_cost)
        fast = line_rate.rate_goodput_bps(1 / fast_s, payload_bytes=_BOOK_BYTES)
        sentence = phrase(
            "{packet_cost} per segment and {byte_cost} per byte: 7.2 MB take {slow} in "
            "segments of 1448 bytes and {fast} in segments of 16332, {slow_2:.2f} times "
            "less. Snader measured 2.88 s and 0.9558 s.",
            **in_unit("s", packet_cost=packet_cost, byte_cost=byte_cost),
            **in_unit("s", slow=slow_s, fast=fast_s, digits=3),
            slow_2=slow_s / fast_s,
        )
        return {_COSTS: rates}, sentence, (_LOOPBACK_SEGMENT, float(fast))

    return sweep_panel(
        model,
        controls=_two_costs(),
        predict=term("rate of the source in segments of 16332 bytes, if 1448 bytes give 20 Mbit/s"),
        unit="bit/s",
        **_one_host(),
    )


def sparc_panel() -> Panel:
    """Rate of a source to another host: the two costs, and the line of 10 Mbit/s."""
    limit_bps = _stream_limit_bps(_SEGMENTS)
    segment_limit_bps = float(_stream_limit_bps(np.array([_ETHERNET_SEGMENT]))[0])

    def model(packet_cost: float, byte_cost: float) -> Swept:
        rates, *_ = _rates(packet_cost=packet_cost, byte_cost=byte_cost)
        own = float(np.interp(_ETHERNET_SEGMENT, _SEGMENTS, rates))
        limit = phrase("the hosts are") if own < segment_limit_bps else phrase("the line is")
        return {
            term("two costs and the line"): np.minimum(rates, limit_bps),
            term("maximum of 10 Mbit/s Ethernet"): limit_bps,
        }, phrase(
            "In segments of 1448 bytes the two costs allow {own} and the line {most}: "
            "{limit} the limit. Snader measured 8.016 Mbit/s over TCP, 85% of the line, "
            "and wrote 9.88 Mbit/s over UDP, more than the line carries: 440 of 5000 "
            "datagrams never arrived.",
            **in_layer(PAYLOAD, own=own, most=segment_limit_bps),
            limit=limit,
        )

    return sweep_panel(
        model,
        over=_SEGMENTS,
        book=_sent({"sparc": _ETHERNET_SEGMENT}),
        controls=_two_costs(),
        x=Axis("segment or datagram", "byte", "log", 100, 2000),
        y=Axis(named("rate of the source", PAYLOAD), "bit/s", "log", 1e6, 2e7),
        title="A source, and a sink on the sparc",
    )


def _stream_limit_bps(segment_bytes: FloatArray) -> FloatArray:
    """Return what Ethernet of 10 Mbit/s carries in such segments; nan where none is so large."""
    packet_bytes = segment_bytes + headers.STAMPED_HEADERS_BYTES
    fits = packet_bytes <= 1500.0
    limit_bps = np.full(packet_bytes.shape, np.nan)
    limit_bps[fits] = goodput.tcp_goodput_bps(packet_bytes[fits], bandwidth_bps=10e6)
    return limit_bps


def processor_panel() -> Panel:
    """Processor time of a source for each write: Snader's tables, and this machine."""
    rows = _book_rows()
    servers = {"": ("bsd", "localhost"), " to the sparc": ("sparc",)}
    runs: dict[str, BulkSamples] = {}

    def own_points(protocol: str, part: str) -> tuple[Any, Any]:
        if protocol not in runs:
            return [], []
        own = runs[protocol].medians(f"{part}_s", "write_count")
        return own["write_bytes"], own[f"{part}_s"] / own["write_count"]

    def model(part: str) -> Swept:
        points: dict[str, tuple[Any, Any]] = {}
        words = [
            phrase(
                "Snader's source took 1.7 to 11 us of its own time for each write, and 89 to "
                "325 us of the system's. UDP to the sparc has more system time with 300 bytes "
                "(287 us) than with 1440 (169 us): no cost per byte explains that, and the "
                "text does not mention it."
            )
        ]
        for protocol in ("TCP", "UDP"):
            for name, hosts in servers.items():
                pairs = [
                    (row["payload_bytes"], row[f"{part}_s"] / row["write_count"])
                    for row in rows
                    if row["protocol"] == protocol and row["server"] in hosts
                ]
                name = phrase("Snader, {protocol}{name}", protocol=protocol, name=name)
                points[name] = _columns(pairs)
            sizes, spent_s = own_points(protocol, part)
            points[phrase("yours, {protocol}", protocol=protocol)] = sizes, spent_s
            words += [
                phrase(
                    "Yours, {protocol}: {spent} for a write of {size}.",
                    protocol=protocol,
                    spent=show(float(spent), "s", digits=3),
                    size=show(float(size), "byte"),
                )
                for size, spent in list(zip(sizes, spent_s, strict=True))[:: max(len(sizes) - 1, 1)]
            ]
        return points, " ".join(words)

    def show_both(both: tuple[BulkSamples, BulkSamples]) -> None:
        runs.update(zip(("TCP", "UDP"), both, strict=True))
        board.refresh()

    parts = {"of the system": "system", "of the program": "user"}
    board = sweep_panel(
        model,
        over=np.array([50.0, 80_000.0]),
        controls={"part": choice("time", parts, "system")},
        x=Axis("size of the write", "byte", "log", 50, 80_000),
        y=Axis("processor time for each write", "s", "log", 1e-7, 1e-3),
        title="What a write costs the source",
        below=[_source_and_sink(show_both)],
    )
    return board


def wire_panel() -> Panel:
    """UDP to another host: the rate that was sent and the rate that arrived, against the line."""
    rows = [row for row in _book_rows() if (row["server"], row["protocol"]) == ("sparc", "UDP")]
    sent, arrived = (
        [(row["payload_bytes"], row[column]) for row in rows]
        for column in ("sent_rate_bps", "goodput_bps")
    )

    def model(bandwidth_bps: float) -> Swept:
        ceiling = goodput.udp_goodput_bps(_PACKETS, bandwidth_bps=bandwidth_bps)
        most = float(goodput.udp_goodput_bps(_BOOK_PACKET, bandwidth_bps=bandwidth_bps))
        return {term("maximum of the line"): ceiling}, phrase(
            "At 1440 bytes a line of {bandwidth} carries {most}; {sent} were sent, "
            "{sent_2:.1%} of that, and {arrived} arrived.",
            bandwidth=show_rate(bandwidth_bps, ETHERNET_LINE),
            **in_layer(UDP_PAYLOAD, most=most, sent=sent[0][1], arrived=arrived[0][1]),
            sent_2=sent[0][1] / most,
        )

    return sweep_panel(
        model,
        over=_DATAGRAMS,
        book={"sent, as printed": _columns(sent), term("arrived"): _columns(arrived)},
        controls={
            "bandwidth_bps": Quantity("line", "10 Mbit/s", "1 Mbit/s", "100 Mbit/s", unit="bit/s")
        },
        x=Axis("datagram", "byte", "linear", 0, 1500),
        y=Axis(named("rate", UDP_PAYLOAD), "bit/s", "linear", 0, 12e6),
        title="UDP to the sparc: faster than the line?",
    )


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

    def show_both(both: tuple[BulkSamples, BulkSamples]) -> None:
        stream, datagrams = both
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
        figure.update(theory, y=line_rate.rate_goodput_bps(1 / spent_s, payload_bytes=axis))
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

    button = _source_and_sink(show_both, "forward", "back", "both")
    return panel(figure, {}, lambda: None, below=[button])


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
            term("Snader's bsd, and its localhost"): (
                [_ETHERNET_SEGMENT, _LOOPBACK_SEGMENT],
                printed,
            ),
        },
        x_axis=Axis("segment", "byte", "log", 100, 70_000),
        y_axis=Axis("time for 7.2 MB", "s", "log", 1e-3, 10),
        title="The same 5000 writes in smaller and larger segments",
        description=phrase(
            "Snader measured {small} in segments of 1448 bytes and {large} in segments of 16332. "
            "Press the button to measure this machine.",
            **in_unit("s", small=printed[0], large=printed[1]),
        ),
    )
    figure = Figure(plot)

    def run(progress: Callable[..., object], stop: Any) -> list[BulkSamples]:
        runs = []
        for index, mtu in enumerate(LIVE_MTUS):
            progress(index, len(LIVE_MTUS))
            runs.append(bulk(1440, run_count=5, mtu_bytes=mtu, stop=stop))
            if runs[-1].meta.partial:
                break
        progress(len(runs), len(LIVE_MTUS))
        return runs

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
            **in_unit("s", times=times[0], times_2=times[2], digits=3),
            times_3=times[0] / times[2],
        )
        if packet_cost < 0 or byte_cost < 0:
            figure.describe(
                phrase("{text} No pair of costs fits both: the machine is too busy.", text=text)
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
                **in_unit("s", packet_cost=packet_cost, byte_cost=byte_cost, digits=3),
            )
        )

    button = run_button(
        "Run at four MTUs", run, show_all, key="mtu", experiment="bulk", several=True
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

    label = phrase("Sweep the buffer over {path}", path=path)
    button = run_button(label, run, draw, key="buffer sweep", experiment="bulk")
    return panel(figure, {}, lambda: None, below=[button])


def _one_host() -> dict[str, Any]:
    """Return the figure of the rates that Snader printed for one host by the size of segments."""
    return {
        "over": _SEGMENTS,
        "book": _sent({"bsd": _ETHERNET_SEGMENT, "localhost": _LOOPBACK_SEGMENT}),
        "x": Axis("segment or datagram", "byte", "log", 100, 70_000),
        "y": Axis(named("rate of the source", PAYLOAD), "bit/s", "log", 1e6, 3e8),
        "title": term("A source and a sink on one host, before 2000"),
    }


def _sent(segments: Mapping[str, float]) -> dict[str, tuple[list[float], list[float]]]:
    """Return the rates that Snader's source sent to some servers, by the size of a piece.

    Parameters
    ----------
    segments : mapping of str to float
        The servers, and the size of the segments of TCP to each. [byte]
    """
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in _book_rows():
        if row["server"] in segments:
            protocol, size = row["protocol"], row["payload_bytes"]
            name = phrase("{row}, writes of {size:.0f} B", row=protocol, size=size)
            piece = segments[row["server"]] if protocol == "TCP" else size
            groups.setdefault(name, []).append((piece, row["sent_rate_bps"]))
    return {name: _columns(pairs) for name, pairs in groups.items()}


def _rates(**costs: float) -> tuple[FloatArray, float, float]:
    """Return the theory of two costs: rates by size, and the times of Snader's two segments."""
    elapsed_s = host_stack.bulk_s(_BOOK_BYTES, segment_bytes=_SEGMENTS, **costs)
    pieces = [_ETHERNET_SEGMENT, _LOOPBACK_SEGMENT]
    slow_s, fast_s = host_stack.bulk_s(
        np.asarray(_BOOK_BYTES), segment_bytes=pieces, **costs
    ).tolist()
    rates = line_rate.rate_goodput_bps(1 / elapsed_s, payload_bytes=_BOOK_BYTES)
    return np.asarray(rates), slow_s, fast_s


def _two_costs() -> dict[str, Quantity]:
    return {
        "packet_cost": Quantity("time per segment", "425 us", "1 us", "2 ms", unit="s"),
        "byte_cost": _byte_cost("107 ns/B"),
    }


def _byte_cost(value: str, *, low: str = "0 ns/B") -> Quantity:
    return Quantity("time per byte", value, low, "300 ns/B", unit="s/byte", scale="linear")


def _source_and_sink(show_both: Callable[[Any], object], *directions: str) -> RunButton:
    return run_button(
        "Run source and sink", _both, show_both, key="source and sink", experiment="bulk",
        several=True, peer=PeerField(directions=directions),
    )  # fmt: skip


def _both(
    progress: Callable[..., object], stop: Any, **far: Any
) -> tuple[BulkSamples, BulkSamples]:
    """Run TCP, then UDP, with one bar for both."""
    runs = 3
    half = runs * len(LIVE_SIZES)

    def run(protocol: str, before: int) -> BulkSamples:
        return bulk(
            LIVE_SIZES, protocol=protocol, write_count=FAR_WRITES if far else 2000, run_count=runs,
            buffer_bytes=None, stop=stop, **far,
            progress=lambda done, total, *_: progress(before + done, 2 * half),
        )  # fmt: skip

    return run("tcp", 0), run("udp", half)


def _reference_lines(sizes: FloatArray) -> dict[str, FloatArray]:
    """Return the rates that Snader's text states for other networks, as level lines."""
    stated = printed_numbers("source_sink_text")
    return {
        name: np.full(sizes.size, float(stated[row]))
        for name, row in (
            (phrase("FDDI, line"), "SN19"),
            ("Myrinet 1999, XP1000", "SN20"),
            (phrase("Myrinet 1999, PII-450: more than"), "SN21"),
        )
    }


def _medians(samples: BulkSamples, column: str) -> dict[str, Any]:
    """Return the median for each size; of a run in both directions, one for each of them."""
    rows = samples.by_setting()
    return {"x": [row["write_bytes"] for row in rows], "y": [row[column] for row in rows]}


def _book_rows(*sizes: int) -> list[dict[str, Any]]:
    """Return the rows of the tables of the book: writes of 1440 and of 300 bytes, or of one."""
    tables = [datasets.load(f"source_sink_{size}").columns() for size in sizes or (1440, 300)]
    return [
        dict(zip(columns, row, strict=True))
        for columns in tables for row in zip(*columns.values(), strict=True)
    ]  # fmt: skip


def _book_on_one_host() -> dict[str, tuple[list[float], list[float]]]:
    """Return what the book received on one host: its loopback, or at 300 bytes its own name."""
    rows = [row for row in _book_rows(1440) if row["server"] == "localhost"]
    rows += [row for row in _book_rows(300) if row["server"] == "bsd"]
    return {
        phrase("{protocol}, received (Snader)", protocol=protocol): _columns(
            [(r["payload_bytes"], r["goodput_bps"]) for r in rows if r["protocol"] == protocol]
        )
        for protocol in ("TCP", "UDP")
    }


def _columns(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in pairs], [y for _, y in pairs]
