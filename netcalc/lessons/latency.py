"""Panels of the lesson on latency and bandwidth: theory, a live message, pings and echoes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcalc import compare, datasets, explain, plots
from netcalc.datasets import points_by, printed_numbers
from netcalc.errors import ExperimentError, ReaderError
from netcalc.experiments import BOOK_SIZES, echo, transactions
from netcalc.language import phrase, term
from netcalc.models.delays import latency
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, STAMPED_HEADERS_BYTES
from netcalc.path import Link, Path
from netcalc.plots import Axis, Plot, curves
from netcalc.rate_layers import LINE, named
from netcalc.samples import RttSamples, Samples, TransactionSamples, TransferSamples
from netcalc.units import line, show, show_rate
from netcalc.widgets.controls import Quantity, choice, path_box
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, in_unit, notes_of, panel, sweep_panel
from netcalc.widgets.peer import PeerField
from netcalc.widgets.run import run_button, upload

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

    def model(latency_s: float, bandwidth_bps: float, payload_bytes: float) -> Swept:
        times = {
            name: latency.transfer_s(_SIZES, bandwidth_bps=rate, latency_s=latency_s)
            for name, rate in {**rates, _YOURS: bandwidth_bps}.items()
        }
        path = Path.of([Link(bandwidth_bps, latency_s)])
        last_s = latency.transfer_s(payload_bytes, bandwidth_bps=bandwidth_bps, latency_s=latency_s)
        sentence = explain.transfer(payload_bytes, path=path).sentence
        return times, sentence, (payload_bytes, float(last_s))

    what = phrase("time of the last bit of your transfer over your line") if predict else ""
    return sweep_panel(
        model,
        over=_SIZES,
        book={"Stevens": (book["payload_bytes"], book["printed_transfer_s"])},
        controls={
            "latency_s": Quantity("latency", "30 ms", "10 us", "10 s", unit="s"),
            "bandwidth_bps": Quantity(_YOURS, "1 Gbit/s", "10 kbit/s", "100 Gbit/s", unit="bit/s"),
            "payload_bytes": Quantity("transfer size", "1 MB", "100 B", "1 GB", unit="byte"),
        },
        x=Axis("size", "byte", "log", 100, 1e9),
        y=Axis("transfer time", "s", "log", 1e-4, 1e4),
        title="How long does it take to arrive?",
        predict=what,
        unit="s",
    )


def balance_panel() -> Panel:
    """Map of the limiting factor: bandwidth above the line, latency below; and your transfer."""

    def model(latency_s: float, bandwidth_bps: float, payload_bytes: float) -> Swept:
        here = latency.half_rate_bytes(latency_s, bandwidth_bps=bandwidth_bps)
        share = latency.latency_share_ratio(
            payload_bytes, bandwidth_bps=bandwidth_bps, latency_s=latency_s
        )
        return {
            term("bandwidth-delay product"): latency.half_rate_bytes(
                latency_s, bandwidth_bps=_RATES
            ),
            term("your transfer"): ([bandwidth_bps], [payload_bytes]),
        }, phrase(
            "At {rate} and {latency} the pipe holds {held}. Latency is {share:.0%} of "
            "the transfer time of your {size}.",
            rate=show_rate(bandwidth_bps, LINE),
            latency=show(latency_s, "s"),
            **in_unit("byte", held=here, size=payload_bytes),
            share=float(share),
        )

    return sweep_panel(
        model,
        over=_RATES,
        controls={
            "latency_s": Quantity("latency", "30 ms", "10 us", "10 s", unit="s"),
            "bandwidth_bps": Quantity("bandwidth", "T1", "10 kbit/s", "100 Gbit/s", unit="bit/s"),
            "payload_bytes": Quantity("size", "1 MB", "1 B", "1 TB", unit="byte"),
        },
        x=Axis(named(phrase("bandwidth"), LINE), "bit/s", "log", 1e4, 1e11),
        y=Axis("size", "byte", "log", 1, 1e12),
        title="Above the line bandwidth limits, below it latency",
    )


def distance_panel() -> Panel:
    """Round-trip time against distance: light in vacuum and in fibre, and your path."""
    distances = np.linspace(0, 2e7, 101)
    speeds = {
        term("light in vacuum"): latency.SPEED_OF_LIGHT_M_S,
        term("light in fibre"): float(latency.signal_speed_m_s()),
    }
    light = {
        name: 2 * latency.propagation_s(distances, speed_m_s=speed)
        for name, speed in speeds.items()
    }

    def model(distance_m: float, rtt_s: float) -> Swept:
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
        return {**light, term("your path"): ([distance_m], [rtt_s])}, words

    return sweep_panel(
        model,
        over=distances,
        controls={
            "distance_m": Quantity(
                "distance", "4800 km", "10 km", "20000 km", unit="m", scale="linear"
            ),
            "rtt_s": Quantity("round trip", "60 ms", "0.1 ms", "250 ms", unit="s", scale="linear"),
        },
        x=Axis("distance", "m", "linear", 0, 2e7),
        y=Axis("round-trip time", "s", "linear", 0, 0.25),
        title="No bit is faster than light",
    )


def wan_panel() -> Panel:
    """The five intercepts of Fig. A-3 and the one line whose far end is printed."""
    t1 = line("T1").exact_bps

    def model(base_rtt_s: float, line_count: float) -> Swept:
        rtt = latency.echo_rtt_s(_ECHO_SIZES, base_rtt_s=base_rtt_s, bandwidth_bps=t1 / line_count)
        return {"theory": rtt}, phrase(
            "{count:.3g} T1 links in series each way are equivalent to one of {rate}: {empty} "
            "with no user data, {full} at 1400 bytes. Stevens printed 80 ms and 193 ms "
            "for connix.com to noao.edu.",
            count=line_count,
            rate=show_rate(t1 / line_count, LINE),
            **in_unit("s", empty=rtt[0], full=np.interp(1400, _ECHO_SIZES, rtt)),
        )

    return sweep_panel(
        model,
        over=_ECHO_SIZES,
        book=points_by("path", "wan_curves", "payload_bytes", "curve_rtt_s"),
        controls={
            "base_rtt_s": Quantity(
                "base round trip", "40 ms", "1 ms", "220 ms", unit="s", scale="linear"
            ),
            "line_count": Quantity("T1 links", 2.0, 1.0, 15.0, unit="1", scale="linear"),
        },
        x=Axis("user data", "byte", "linear", -50, 1500),
        y=Axis("round-trip time", "s", "linear", 0, 0.25),
        title="Ping across the Internet before 1996: the printed points of Fig. A-3",
    )


SIZES = (100, 1000, 4000, 16_000, 32_000, 64_000)
"""User data of the messages of a live run; a datagram holds 65,507 bytes at most. [byte]"""
LINES = {"T1": 1.544e6, "10 Mbit/s": 10e6, "100 Mbit/s": 100e6}
THEORY, MESSAGE, STREAM = (
    "d + 8N/R",
    term("one message (UDP), half of a round trip"),
    term("over TCP"),
)
STREAM_THEORY = term("over TCP, theory with its round trips")
_AT = np.geomspace(SIZES[0], SIZES[-1], 60)


def one_message_panel() -> Panel:
    """Time of one message against its size over an emulated line, by UDP and by TCP."""
    shown: list[TransactionSamples] = []
    lines = choice("line", LINES, 1.544e6)
    wait = Quantity("latency", "30 ms", "1 ms", "100 ms", unit="s", scale="linear")
    figure = Figure(_message_plot(None, Link(lines.value, wait.value)))

    def update(bandwidth_bps: float, latency_s: float) -> None:
        if shown and shown[0].meta.instrument.truth:
            shown.clear()  # the points are of the line before
        figure.draw(_message_plot(shown[0] if shown else None, Link(bandwidth_bps, latency_s)))

    def run(progress: Any, stop: Any, **far: Any) -> TransactionSamples:
        return transactions(
            SIZES,
            protocols=("udp", "tcp"),
            count=3,
            timeout_s=5.0,
            progress=progress,
            stop=stop,
            **(far or {"path": Path.of([Link(lines.value, wait.value)])}),
        )

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        truth = samples.meta.instrument.truth
        went = Path.from_truth(truth).links[0] if truth else Link(lines.value, wait.value)
        figure.draw(_message_plot(samples, went))

    live = run_button(
        "Send messages over this line", run, show_run, key="one message",
        experiment="transactions", peer=PeerField(),
    )  # fmt: skip
    return panel(figure, {"bandwidth_bps": lines, "latency_s": wait}, update, below=[live])


def _message_plot(samples: TransactionSamples | None, link: Link) -> Plot:
    """Draw the equation, and where there was a run, its messages and its transactions over TCP."""
    drawn = {THEORY: link.transfer_s(_AT)}
    points: dict[str, tuple[Any, Any]] = {MESSAGE: ([], []), STREAM: ([], [])}
    text = phrase(
        "No run yet. {size} take {transfer} by the equation.",
        size=show(float(_AT[-1]), "byte"),
        transfer=show(float(link.transfer_s(_AT[-1])), "s"),
    )
    drawn[STREAM_THEORY] = np.full(_AT.size, np.nan)
    if samples is not None and len(samples):
        sizes, both_ways_s = samples.minima("udp", column="response_s")
        one_way_s = both_ways_s / 2.0
        points[MESSAGE] = (sizes, one_way_s)
        text = ""
        if samples.meta.instrument.peer_machine:
            text = phrase("The curves are of the line that is chosen above, not of yours. ")
        elif sizes.size:
            by_equation = latency.transfer_s(
                sizes, bandwidth_bps=link.bandwidth_bps, latency_s=link.latency_s
            )
            over = one_way_s / by_equation - 1.0
            text = phrase(
                "The messages took {least:.1%} to {most:.1%} longer than d + 8N/R: the "
                "headers of IP and UDP, the fragments, and two programs. ",
                least=over.min(),
                most=over.max(),
            )
        stream = compare.transactions(samples, mode="tcp", path=Path.of([link]))
        points[STREAM] = (stream.x, stream.measured)
        if stream.x.size:
            drawn[STREAM_THEORY] = np.interp(_AT, stream.curve_x, stream.curve_y)
            text += phrase(
                "A transaction over TCP of {size} there and back took {time}: the handshake "
                "is a round trip more.",
                size=show(float(stream.x[0]), "byte"),
                time=show(float(stream.measured[0]), "s"),
            )
        text = " ".join([text, *map(str, samples.meta.warnings)])
    return curves(
        _AT,
        drawn,
        points=points,
        x_axis=Axis("user data", "byte", "log", SIZES[0], SIZES[-1]),
        y_axis=Axis("time", "s", "log"),
        title="One message: latency plus serialization",
        description=text,
    )


def round_trip_panel(
    start: RttSamples | TransferSamples | None = None,
    *,
    sizes: Sequence[float] = BOOK_SIZES,
    path: str | None = None,
) -> Panel:
    """Round trips against size: upload a file, or run an echo on this machine.

    Parameters
    ----------
    start : RttSamples or TransferSamples, optional
        The samples that are shown initially.
    sizes : sequence of float, optional
        User data of the live echo; by default the 15 sizes of the book. [byte]
    path : str, optional
        A path as text, ``"T1 5 ms, T3 1 ms"``: a box to change it appears, the theory of that path
        is drawn instead of a fit, and the live echo goes over it. Empty text fits.

    Returns
    -------
    Panel
        The widget to show.
    """
    box = path_box(path or "", when_empty="empty to fit")
    drawn: list[RttSamples | TransferSamples] = [start or RttSamples(payload_bytes=[], rtt_s=[])]
    figure = Figure(plots.overlay(compare.overlay(drawn[0])))

    def update(links: str = "") -> None:
        chosen = Path.parse(links) if links.strip() else None
        figure.draw(plots.overlay(compare.overlay(drawn[0], path=chosen)))

    def show(samples: Samples) -> None:
        if not isinstance(samples, RttSamples | TransferSamples):
            raise ReaderError(
                "no-sizes-and-times",
                file=samples.meta.source or phrase("this file"),
                expected=phrase("a ping, or columns of sizes and times"),
            )
        drawn[0] = samples
        shown.refresh()

    def run(progress: Any, stop: Any, **far: Any) -> RttSamples:
        text = box.value.strip()
        if far or not text:
            return echo(sizes, progress=progress, stop=stop, **far)
        return echo(sizes, path=Path.parse(text), count=3, progress=progress, stop=stop)

    live = run_button("Run an echo on this machine", run, show, key="echo", peer=PeerField())
    controls = {} if path is None else {"links": box}
    shown = panel(
        figure, controls, update, below=[upload("Your own ping file, or saved samples", show), live]
    )
    return shown


ROUTER_S = 0.5e-3
"""What the book assumes that each router takes for a packet. [s]"""
LOOPBACK, YOURS, LAN, PEER = "loopback", "yours", "10 Mbit/s Ethernet", "peer"
PATHS: Mapping[str, str] = {
    "loopback of this machine": LOOPBACK,
    "one T1 line, 40 ms": "T1 40 ms",
    "one T3 line, 40 ms": "T3 40 ms",
    "one line of 56 kbit/s, 40 ms": "56 kbit/s 40 ms",
    "12 routers: 6 T1, 6 T3, 1 Ethernet; 40 ms": "6 x T1 3 ms, 6 x T3 3 ms, 10 Mbit/s 4 ms",
    "a LAN: one Ethernet of 10 Mbit/s": LAN,
    "your own, typed below": YOURS,
}
"""Paths of the choice: all but loopback and LAN are as long as Stevens' connix.com to noao.edu."""
PROTOCOLS = {"UDP": "udp", "TCP": "tcp", "ICMP, as ping": "icmp"}
LOOPBACK_COUNT, PATH_COUNT = 10, 3
"""Probes of each size: the book's ten, and fewer where each takes a tenth of a second. [1]"""


@dataclass(frozen=True, slots=True)
class Target:
    """The path and the protocol of an echo."""

    links: str
    protocol: str

    @property
    def path(self) -> Path | None:
        """The emulated path; None for the loopback and a peer."""
        return (
            None
            if self.links in (LOOPBACK, PEER)
            else Path.parse(self.links, processing_s=ROUTER_S)
        )

    @property
    def name(self) -> str:
        """Name of the path."""
        if self.links == PEER:
            return phrase("to a second machine")
        return next((name for name, links in PATHS.items() if links == self.links), self.links)


def echo_panel(start: str = LOOPBACK) -> Panel:
    """Round trips against size over a path that is chosen, live.

    Parameters
    ----------
    start : str
        The path at first: one of the values of :data:`PATHS`.

    Returns
    -------
    Panel
        The widget to show.
    """
    runs: dict[Target, RttSamples] = {}
    paths, protocol = choice("path", PATHS, start), choice("protocol", PROTOCOLS, "udp")
    own = path_box("T1 5 ms, T1 1 ms", label="your own path")

    peer = PeerField(without=[paths, own])

    def target() -> Target:
        if peer.address:
            return Target(PEER, protocol.value)
        return Target(own.value if paths.value == YOURS else paths.value, protocol.value)

    figure = Figure(_echo_plot(target(), None))

    def update(**_values: str) -> None:
        own.layout.display = None if paths.value == YOURS else "none"
        figure.draw(_echo_plot(target(), runs.get(target())))

    def run(progress: Any, stop: Any, **far: Any) -> RttSamples:
        try:
            return _run(target(), progress=progress, stop=stop, **far)
        except ExperimentError as error:
            if error.phase != "wire" or error.partial is not None:
                raise
            paths.value, protocol.value = LOOPBACK, "udp"
            raise ExperimentError(
                "no-emulated-path-here", phase=error.phase, reason=error.what
            ) from error

    def show_run(samples: RttSamples) -> None:
        ran = _target_of(samples, target())
        runs[ran] = samples
        if ran.links == PEER:
            figure.draw(_echo_plot(ran, samples))
            return
        if ran.links in PATHS.values():
            paths.value = ran.links
        else:
            own.value, paths.value = ran.links, YOURS
        protocol.value = ran.protocol
        update()

    live = run_button(
        "Run an echo over this path", run, show_run, key="echo over a path", experiment="echo",
        peer=peer,
    )  # fmt: skip
    peer.inputs.observe(lambda _change: update(), "address")
    controls = {"links": paths, "protocol": protocol, "own": own}
    return panel(figure, controls, update, below=[live])


def _run(target: Target, **options: Any) -> RttSamples:
    path = target.path
    if target.links == LOOPBACK and target.protocol == "icmp":
        raise ExperimentError("icmp-needs-root", phase="start")
    return echo(
        BOOK_SIZES,
        protocol=target.protocol,
        count=LOOPBACK_COUNT if path is None else PATH_COUNT,
        timeout_s=1.0 if path is None else 1.0 + 1.5 * float(path.rtt_s(1500)),
        path=path,
        **options,
    )


def _target_of(samples: RttSamples, chosen: Target) -> Target:
    """Return the target of a run from its record, which may come from a file."""
    noted = samples.meta.target.rpartition(", ")[2].lower()
    protocol = noted if noted in PROTOCOLS.values() else chosen.protocol
    truth = samples.meta.instrument.truth
    if not truth:
        return Target(PEER if samples.meta.instrument.peer_machine else LOOPBACK, protocol)
    went = Path.from_truth(truth)
    for links in (chosen.links, *PATHS.values()):
        if links not in (LOOPBACK, YOURS) and went.same_lines(Path.parse(links)):
            return Target(links, protocol)
    return Target(went.text, protocol)


def _echo_plot(target: Target, samples: RttSamples | None) -> Plot:
    """Draw the book's points, those of the run if there was one, and theory or a fit."""
    path = target.path
    title = phrase("Echo by {protocol}: {path}", protocol=target.protocol.upper(), path=target.name)
    run = samples or RttSamples(payload_bytes=[], rtt_s=[])
    headers = STAMPED_HEADERS_BYTES if target.protocol == "tcp" else DATAGRAM_HEADERS_BYTES
    # Of a run, the path is the one that it noted.
    of_choice = path if samples is None else None
    comparison = compare.overlay(run, path=of_choice, header_bytes=headers, title=title)
    words = [comparison.sentence, *notes_of(samples)]
    if samples is None:
        words = [phrase("No run yet.")]
    if path is not None:
        whole = BOOK_SIZES[-1] + headers
        measured = "" if target.links == LAN else phrase("; Stevens measured 80 ms and 193 ms")
        words.append(
            phrase(
                "Theory: {empty} with no data and {full} with {size} bytes{measured}. One "
                "way, with {size} bytes: {sentence}",
                **in_unit("s", empty=path.rtt_s(headers), full=path.rtt_s(whole)),
                size=BOOK_SIZES[-1],
                measured=measured,
                sentence=explain.transfer(whole, path=path).sentence,
            )
        )
    return plots.overlay(
        replace(comparison, sentence=" ".join(words)),
        y_scale="log" if path is None else "linear",
        beside=_beside(target),
    )


def _beside(target: Target) -> dict[str, tuple[list[float], list[float]]]:
    """Return what is printed for such a path; of the LANs of Fig. A-2 no number is."""
    if target.links in (LAN, PEER):
        return {}
    return _book_on_loopback() if target.path is None else _book_far_away()


def _book_on_loopback() -> dict[str, tuple[list[float], list[float]]]:
    """Return the range that the book gives for UDP between two programs of one host."""
    printed = printed_numbers("loopback_transactions")
    # Application minus tcpdump, and tcpdump itself: together the application's time.
    ends = [printed["LB05"] + printed["LB09"], printed["LB06"] + printed["LB10"]]
    name = term("Stevens' loopback, UDP: minimum and maximum")
    return {name: ([100.0, 100.0, 1400.0, 1400.0], ends * 2)}


def _book_far_away() -> dict[str, tuple[list[float], list[float]]]:
    """Return the printed points of Fig. A-3, and the book's two estimates for one of its curves."""
    curves, printed = datasets.load("wan_curves").columns(), printed_numbers("wan_round_trips")
    here = curves["path"] == "connix.com - noao.edu"
    sizes, times = curves["payload_bytes"], curves["curve_rtt_s"]
    return {
        "Stevens: connix.com to noao.edu": (sizes[here].tolist(), times[here].tolist()),
        "Stevens: intercepts of the other curves": (sizes[~here].tolist(), times[~here].tolist()),
        "Stevens' estimates: one T1, 13 links": (
            [1400.0, 1400.0],
            [printed["SW11"], printed["SW12"]],
        ),
    }
