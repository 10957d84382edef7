"""Panels of the lesson on store-and-forward: over links and routers, and on one Ethernet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc import datasets
from netcalc.checks import FloatArray
from netcalc.errors import ReaderError
from netcalc.experiments import echo, packet_trains
from netcalc.language import phrase, term
from netcalc.models.delays import store_and_forward
from netcalc.models.delays.store_and_forward import Timeline
from netcalc.models.hosts import host_stack
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.path import Hop, Link, Path
from netcalc.plots import Axis, Plot, curves, timeline
from netcalc.rate_layers import LINE
from netcalc.samples import RttSamples, TrainSamples
from netcalc.units import line, show, show_rate
from netcalc.widgets.controls import Quantity, choice
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, in_layer, in_unit, panel, sweep_panel
from netcalc.widgets.playback import Activity, Crossing, Kind, Playback
from netcalc.widgets.run import run_button

BOOK_PACKET_BYTES = 1428
BOOK_SERIALIZATION_S = 7.5e-3
"""Stevens' time for 1428 bytes on a T1; at 1.544 Mbit/s it is 7.399 ms."""
LIVE_HOPS = (1, 2, 4, 8, 12)
"""Numbers of links that a run measures. [1]"""
HOP_LATENCY_S = 1e-3
"""Latency of each of them, one way. [s]"""


def book_path() -> Path:
    """Return the two lines and three nodes of Fig. A-9."""
    rate = 8 * BOOK_PACKET_BYTES / BOOK_SERIALIZATION_S
    first, second = Link(rate, 5e-3, "T1"), Link(rate, 1e-3, "T1")
    return Path((Hop(first, 1e-3), Hop(second, 1e-3)), source_processing_s=1e-3)


def timeline_panel() -> Panel:
    """Fig. A-9: two links, a router, any number of packets."""
    figure = Figure(timeline(book_path().timeline([BOOK_PACKET_BYTES]), _NODES))
    moving = Playback(_NODES)

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
        figure.draw(timeline(steps, _NODES))
        moving.show(*along(steps, _NODES))
        done = float(steps.done_s[-1])
        rate = 8 * packet_bytes * packet_count / done
        figure.describe(
            phrase(
                "The last bit arrives at {last_bit}, processing ends at {done}: {rate}, "
                "{rate_2:.0%} of the slowest link.",
                **in_unit("s", last_bit=steps.last_bit_s[-1, -1], done=done),
                rate=show_rate(rate, LINE),
                rate_2=rate / path.bottleneck_bps,
            )
        )

    rate = f"{8 * BOOK_PACKET_BYTES / BOOK_SERIALIZATION_S / 1e6:.4f} Mbit/s"
    controls = {
        "packet_bytes": Quantity("packet", "1428 B", "40 B", "9000 B", unit="byte"),
        "first_bps": Quantity("first link", rate, "56 kbit/s", "100 Mbit/s", unit="bit/s"),
        "second_bps": Quantity("second link", rate, "56 kbit/s", "100 Mbit/s", unit="bit/s"),
        "processing_s": Quantity("each node", "1 ms", "0 s", "10 ms", unit="s", scale="linear"),
        "packet_count": Quantity("packets", 1.0, 1.0, 20.0, unit="1", scale="linear", whole=True),
    }
    return panel(figure, controls, update, more=("processing_s",), below=[moving])


def along(
    steps: Timeline, nodes: Sequence[str], *, done_s: Sequence[float] | None = None
) -> tuple[list[Crossing], list[Activity]]:
    """Return the packets of a timeline on each link, and when each node processes.

    Parameters
    ----------
    steps : Timeline
        Of the packets, by theory.
    nodes : sequence of str
        Names of the nodes.
    done_s : sequence of float, optional
        When each packet of a run was processed at the far end: it is drawn as well, late against
        theory by what was measured there. Taps are at the two ends only. [s]
    """
    crossings: list[Crossing] = []
    waitings: list[Activity] = []
    for number, starts in enumerate(steps.start_s):
        name = phrase("packet {number}", number=number + 1)
        measured = done_s is not None and number < len(done_s)
        late_s = done_s[number] - float(steps.done_s[number]) if done_s and measured else 0.0
        for link, leaves in enumerate(starts.tolist()):
            first = float(steps.first_bit_s[number, link])
            last = float(steps.last_bit_s[number, link])
            times = (leaves, leaves + last - first, first, last)
            crossings.append(_crossing(name, link, times))
            if measured:
                shifted = tuple(max(time + late_s, 0.0) for time in times)
                crossings.append(_crossing(name, link, shifted, kind="captured"))
        for node in range(len(nodes)):
            begin = float(steps.processing_start_s[number, node])
            end = float(steps.processing_end_s[number, node])
            if end > begin:
                waitings.append(Activity(node, phrase("processes {name}", name=name), begin, end))
    return crossings, waitings


def _crossing(name: str, link: int, times: tuple[float, ...], *, kind: Kind = "theory") -> Crossing:
    leaves, left, reaches, reached = times
    return Crossing(name, link, link + 1, leaves, left, reaches, reached, kind=kind)


_NODES = ["source", "router", "destination"]


def train_panel() -> Panel:
    """Time of a packet train: back to back, or stop-and-wait.

    A run sends such a train over these links on this machine.
    """
    counts = np.arange(1, 31, dtype=float)
    overlapped, alone, live = (
        term("back to back"),
        term("each waits for the one before"),
        term("this machine"),
    )
    plot = curves(
        counts,
        {overlapped: counts, alone: counts},
        points={"Stevens": ([1, 10], [24e-3, 91.5e-3]), live: ([], [])},
        x_axis=Axis("packets", "1", "linear", 0, 30),
        y_axis=Axis("time to the last packet", "s", "linear", 0, 0.75),
        title="Packets overlap on the links",
    )
    figure = Figure(plot)
    shown: list[tuple[Path, float, TrainSamples]] = []
    moving = Playback(_NODES)

    def update(packet_bytes: float, router_count: float) -> tuple[float, float]:
        path = _with_routers(router_count)
        single_s = float(path.one_way_s(packet_bytes))
        together = path.one_way_s(packet_bytes, packet_count=counts)
        if shown and shown[0][:2] != (path, packet_bytes):
            shown.clear()
        number, done_s = _completions(*shown[0][::2]) if shown else ([], [])
        figure.update_all(
            {overlapped: {"y": together}, alone: {"y": counts * single_s},
             live: {"x": number, "y": done_s}}
        )  # fmt: skip
        rate = 8 * 10 * packet_bytes / float(together[9])
        text = phrase(
            "One packet takes {one}, ten back to back {together} at {rate}, ten one by one "
            "{one_2}.",
            **in_unit("s", one=single_s, together=together[9], one_2=10 * single_s),
            rate=show_rate(rate, LINE),
        )
        if len(done_s) > 9:
            text += phrase(" This machine: ten back to back {done}.", done=show(done_s[9], "s"))
        figure.describe(text)
        nodes = [
            phrase("source"),
            *[phrase("router {n}", n=n + 1) for n in range(int(router_count))],
            phrase("destination"),
        ]
        moving.nodes = nodes
        moving.show(*along(path.timeline([packet_bytes] * 10), nodes, done_s=done_s[:10] or None))
        return 10.0, float(together[9])

    controls = {
        "packet_bytes": Quantity("packet", "1428 B", "40 B", "1500 B", unit="byte", whole=True),
        "router_count": Quantity("routers", 1.0, 1.0, 10.0, unit="1", scale="linear", whole=True),
    }

    def run(progress: Any, stop: Any) -> TrainSamples:
        return packet_trains(
            controls["packet_bytes"].value - DATAGRAM_HEADERS_BYTES,
            path=_with_routers(controls["router_count"].value),
            packet_count=30,
            count=3,
            progress=progress,
            stop=stop,
        )

    def show_run(samples: TrainSamples) -> None:
        if not len(samples):
            return
        went = Path.from_truth(samples.meta.instrument.truth)
        path, size = _with_routers(len(went.hops) - 1), float(np.asarray(samples.packet_bytes)[0])
        if not went.same_lines(path):
            raise ReaderError("other-links", file="the train", value=went.text)
        controls["router_count"].value, controls["packet_bytes"].value = len(path.hops) - 1, size
        shown[:] = [(path, size, samples)]
        board.refresh()

    label = term("Send thirty packets over these links")
    button = run_button(label, run, show_run, key="train", experiment="packet_trains")
    board = panel(
        figure, controls, update, below=[button, moving],
        predict="time until the last of ten packets is there, sent back to back", unit="s",
    )  # fmt: skip
    return board


def _with_routers(router_count: float) -> Path:
    """Return the book's path with more routers like the first one."""
    middle = book_path()
    hops = (*[middle.hops[0]] * int(router_count), middle.hops[-1])
    return Path(hops, middle.source_processing_s)


def _completions(path: Path, samples: TrainSamples) -> tuple[list[float], list[float]]:
    """Return when each packet of the trains was processed, the earliest time by its number.

    The kernel stamps a packet when its last bit has arrived; the processing at the destination,
    which it cannot know, is added.
    """
    number, sent_s = np.asarray(samples.index), np.asarray(samples.sent_s)
    begin_s = np.repeat(sent_s[number == 1], 30)[: number.size]
    done_s = np.asarray(samples.received_s) - begin_s + path.hops[-1].processing_s
    numbers = np.unique(number[np.isfinite(done_s)])
    return numbers.tolist(), [float(np.nanmin(done_s[number == index])) for index in numbers]


def live_hops_panel() -> Panel:
    """The same packet over 1 to 12 links: this machine, store-and-forward and cut-through.

    A cut-through switch starts to send as soon as it has read the header.
    """
    figure = Figure(_hops_plot(1428.0, "T1", []))
    shown: list[tuple[float, str, list[tuple[int, RttSamples]]]] = []

    def update(packet_bytes: float, line_name: str) -> None:
        is_of = shown and shown[0][:2] == (packet_bytes, line_name)
        figure.draw(_hops_plot(packet_bytes, line_name, shown[0][2] if is_of else []))

    controls = {
        "packet_bytes": Quantity("packet", "1428 B", "40 B", "1500 B", unit="byte", whole=True),
        "line_name": choice("each link", ["T1", "10 Mbit/s", "T3"], "T1"),
    }

    def run(progress: Any, stop: Any) -> list[RttSamples]:
        size = controls["packet_bytes"].value - DATAGRAM_HEADERS_BYTES
        rate = line_rate(controls["line_name"].value)
        runs: list[RttSamples] = []
        for number in LIVE_HOPS:
            if stop.is_set():
                break
            path = Path.of([Link(rate, HOP_LATENCY_S)] * number)
            runs.append(echo([size], path=path, count=4, stop=stop))
            progress(len(runs), len(LIVE_HOPS))
        return runs

    def show_run(runs: list[RttSamples]) -> None:
        runs = [run for run in runs if len(run)]
        if not runs:
            return
        paths = [Path.from_truth(run.meta.instrument.truth) for run in runs]
        names = {line_rate(name): name for _, name in controls["line_name"].options}
        name = names[paths[0].bottleneck_bps]
        size = float(np.asarray(runs[0].payload_bytes)[0]) + DATAGRAM_HEADERS_BYTES
        controls["line_name"].value, controls["packet_bytes"].value = name, size
        hop_counts = [len(path.hops) for path in paths]
        shown[:] = [(size, name, list(zip(hop_counts, runs, strict=True)))]
        board.refresh()

    label = term("Send it on this machine")
    button = run_button(label, run, show_run, key="hops", experiment="echo", several=True)
    board = panel(figure, controls, update, below=[button])
    return board


def _hops_plot(packet_bytes: float, name: str, runs: list[tuple[int, RttSamples]]) -> Plot:
    """Draw the round trip over 1 to 12 links, by both kinds of switches, and the measurement."""
    numbers = np.arange(1, LIVE_HOPS[-1] + 1)
    rate = line_rate(name)
    paths = [Path.of([Link(rate, HOP_LATENCY_S)] * number) for number in numbers]
    stored = np.array([float(path.rtt_s(packet_bytes)) for path in paths])
    through = 2 * np.array(
        [
            float(
                store_and_forward.cut_through_s(
                    packet_bytes,
                    bandwidth_bps=[rate] * number,
                    latency_s=HOP_LATENCY_S,
                    header_bytes=min(20.0, packet_bytes),
                )
            )
            for number in numbers
        ]
    )
    best = {number: float(samples.best_s.min()) for number, samples in runs
            if samples.best_s.size}  # fmt: skip
    text = phrase(
        "Round trip of {packet} over twelve links: {stored} by store-and-forward, "
        "{through} by cut-through.",
        packet=show(packet_bytes, "byte"),
        **in_unit("s", stored=stored[-1], through=through[-1]),
    )
    if best:
        worst = max(best[number] - stored[number - 1] for number in best)
        text += phrase(
            " This machine is at most {worst} above store-and-forward.",
            worst=show(worst, "s", digits=2),
        )
    return curves(
        numbers,
        {"store-and-forward": stored, "cut-through": through},
        points={"this machine": (list(best), list(best.values()))},
        x_axis=Axis("links in series", "1", "linear", 0, LIVE_HOPS[-1] + 1),
        y_axis=Axis("round-trip time", "s", "linear", 0, 1.1 * stored[-1]),
        title="Every router receives the whole packet before it forwards it",
        description=text,
    )


def line_rate(name: str) -> float:
    """Return the rate of a line by its name. [bit/s]"""
    return Link.parse(name).bandwidth_bps


def hops_panel() -> Panel:
    """Store-and-forward of a typical packet over T1 and T3 links, hop by hop."""
    hops = np.arange(1, 21)
    rates = {"T1": line("T1").exact_bps, "T3": line("T3").nominal_bps}
    printed = datasets.load("serialization_times").columns()
    chosen = (printed["packet_bytes"] == 552) & (printed["line"] != "56 kb/s")

    def model(packet_bytes: float) -> Swept:
        def times_s(rate: float) -> FloatArray:
            paths = ([rate] * count for count in hops)
            return np.array([
                float(store_and_forward.store_and_forward_s(packet_bytes, bandwidth_bps=path))
                for path in paths
            ])  # fmt: skip

        times = {name: times_s(rate) for name, rate in rates.items()}
        return {phrase("{name} links", name=name): time for name, time in times.items()}, phrase(
            "{packet} over ten links: {times} on T1, {times_2} on T3.",
            packet=show(packet_bytes, "byte"),
            **in_unit("s", times=times["T1"][9], times_2=times["T3"][9]),
        )

    return sweep_panel(
        model,
        over=hops,
        book={"Stevens": (printed["hop_count"][chosen], printed["printed_s"][chosen])},
        controls={"packet_bytes": Quantity("packet", "552 B", "40 B", "9000 B", unit="byte")},
        x=Axis("links in series", "1", "linear", 0, 21),
        y=Axis("serialization time", "s", "log", 1e-5, 1),
        title="Every link serializes the whole packet again",
    )


def mix_panel() -> Panel:
    """Which combination of links takes 187 ms? The path of connix.com to noao.edu as a puzzle."""
    sizes = np.linspace(0, 1500, 61)
    naive = 0.080 + 2 * BOOK_SERIALIZATION_S * sizes / 1400

    def model(t1_count: float, t3_count: float, ethernet_count: float, router_s: float) -> Swept:
        t1, t3 = line("T1").exact_bps, line("T3").nominal_bps
        links = [Link(t1)] * int(t1_count) + [Link(t3)] * int(t3_count)
        links += [Link(10e6)] * int(ethernet_count)
        rtt, sentence = np.full(sizes.size, np.nan), phrase("No links are selected.")
        if links:
            bare, path = Path.of(links), Path.of(links, processing_s=router_s)
            alone_s = bare.rtt_s(DATAGRAM_HEADERS_BYTES)
            rtt = 0.080 + path.rtt_s(sizes + DATAGRAM_HEADERS_BYTES) - alone_s
            at_1400 = float(np.interp(1400, sizes, rtt))
            sentence = phrase(
                "{links} links, {links_2} routers: {at_1400} at 1400 bytes, {at_1400_2} from "
                "the 187 ms that Stevens computed and {at_1400_3} from the 193 ms that he "
                "measured.",
                links=len(links),
                links_2=len(links) - 1,
                **in_unit(
                    "s", at_1400=at_1400, at_1400_2=at_1400 - 0.187, at_1400_3=at_1400 - 0.193
                ),
            )
        return {
            term("this combination of links"): rtt,
            term("one T1 only (95 ms at 1400 B)"): naive,
        }, sentence

    def count(label: str, start: float) -> Quantity:
        return Quantity(label, start, 0.0, 13.0, unit="1", scale="linear", whole=True)

    return sweep_panel(
        model,
        over=sizes,
        book={
            "measured (Stevens)": ([0, 1400], [0.080, 0.193]),
            "computed (Stevens)": ([1400], [0.187]),
        },
        controls={
            "t1_count": count(phrase("T1 links"), 1.0),
            "t3_count": count(phrase("T3 links"), 11.0),
            "ethernet_count": count(phrase("10 Mbit/s links"), 1.0),
            "router_s": Quantity("each router", "0.5 ms", "0 s", "3 ms", unit="s", scale="linear"),
        },
        x=Axis("user data", "byte", "linear", -50, 1500),
        y=Axis("round-trip time", "s", "linear", 0.06, 0.26),
        title="A path of 12 routers with unknown links",
    )


SIZES: FloatArray = np.arange(0.0, 1401.0, 2.0)
"""User data of the pings; Stevens took 8 bytes and 100 to 1400. [byte]"""
SMALLEST, LARGEST = 8, 1400


def lan_panel() -> Panel:
    """Round trip against size on one Ethernet: the least, with hosts, with the laptop's card."""

    def model(bandwidth_bps: float, packet_s: float, byte_s: float, port_bps: float) -> Swept:
        wire, port = ethernet(bandwidth_bps), behind_port(bandwidth_bps, port_bps)
        times = {
            term("the wire alone"): ping_s(wire, SIZES),
            term("with the hosts"): ping_s(wire, SIZES, packet_s=packet_s, byte_s=byte_s),
            term("with a card on the parallel port"): ping_s(
                port, SIZES, packet_s=packet_s, byte_s=byte_s
            ),
        }
        least, here, slow = (slope_s(time) for time in times.values())
        return times, phrase(
            "Between {smallest} and {largest} bytes of user data the wire of {bandwidth} "
            "takes {least} for each byte there and back, with the hosts {here}, as one "
            "line of {here_2} would. Up to 18 bytes the frame is padded, and all pings are "
            "equal. Behind the parallel port it is {slow}, as over a line of {slow_2}: it "
            "looks like a WAN.",
            smallest=SMALLEST,
            largest=LARGEST,
            **in_layer(LINE, bandwidth=bandwidth_bps, here_2=16.0 / here, slow_2=16.0 / slow),
            **in_unit("s", least=least, here=here, slow=slow),
        )

    return sweep_panel(
        model,
        over=SIZES,
        controls={
            "bandwidth_bps": Quantity(
                "Ethernet", "10 Mbit/s", "10 Mbit/s", "1 Gbit/s", unit="bit/s"
            ),
            "packet_s": Quantity("hosts, for each packet", "0.2 ms", "1 us", "1 ms", unit="s"),
            "byte_s": Quantity("hosts, for each byte", "0.2 us", "1 ns", "1 us", unit="s"),
            "port_bps": Quantity(
                "parallel port", "1 Mbit/s", "100 kbit/s", "10 Mbit/s", unit="bit/s"
            ),
        },
        x=Axis("user data", "byte", "linear", 0, 1400),
        y=Axis("round-trip time", "s", "linear", 0, 0.02),
        title="Ping on one Ethernet",
    )


def ethernet(bandwidth_bps: float) -> Path:
    """Return a path of one Ethernet."""
    return Path((Hop(Link(bandwidth_bps, framing="ethernet")),))


def behind_port(bandwidth_bps: float, port_bps: float) -> Path:
    """Return a path of one Ethernet and a card that stores a frame and hands it on slowly."""
    return Path((Hop(Link(bandwidth_bps, framing="ethernet")), Hop(Link(port_bps))))


def ping_s(
    path: Path, payload_bytes: ArrayLike, *, packet_s: float = 0.0, byte_s: float = 0.0
) -> FloatArray:
    """Return the round trip of a ping, with what two hosts take for its request and reply. [s]

    Parameters
    ----------
    path : Path
        The network.
    payload_bytes : array_like
        User data of the ping. [byte]
    packet_s : float
        What a host takes for each packet that it sends or receives: four times in all. [s]
    byte_s : float
        What a host takes for each byte of it. [s/byte]

    Examples
    --------
    >>> ping_s(ethernet(10e6), [8, 18, 1400]).round(7).tolist()
    [0.0001344, 0.0001344, 0.0023456]
    """
    packet_bytes = np.asarray(payload_bytes) + DATAGRAM_HEADERS_BYTES
    host_s = host_stack.message_s(packet_bytes, packet_cost=packet_s, copy_cost=byte_s)
    return path.rtt_s(packet_bytes) + 4.0 * host_s


def slope_s(times_s: FloatArray) -> float:
    """Return the mean time for each byte between the smallest and the largest ping. [s/byte]"""
    ends = np.interp([SMALLEST, LARGEST], SIZES, times_s)
    return float(ends[1] - ends[0]) / (LARGEST - SMALLEST)
