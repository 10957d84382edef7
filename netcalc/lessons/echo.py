"""A live echo over a selectable path, with the points of Stevens and the theory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from netcalc import compare, datasets, explain, plots
from netcalc.errors import ExperimentError
from netcalc.experiments import BOOK_SIZES, echo
from netcalc.language import phrase, term
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, STAMPED_HEADERS_BYTES
from netcalc.path import Path
from netcalc.plots import Plot
from netcalc.samples import RttSamples
from netcalc.units import show
from netcalc.widgets.controls import choice, path_box
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import run_button

ROUTER_S = 0.5e-3
"""What the book assumes that each router takes for a packet. [s]"""
LOOPBACK, YOURS, LAN = "loopback", "yours", "10 Mbit/s Ethernet"
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
        """The emulated path; None for the loopback."""
        return None if self.links == LOOPBACK else Path.parse(self.links, processing_s=ROUTER_S)

    @property
    def name(self) -> str:
        """Name of the path."""
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

    def target() -> Target:
        return Target(own.value if paths.value == YOURS else paths.value, protocol.value)

    figure = Figure(_drawn(target(), None))

    def update(**_values: str) -> None:
        own.layout.display = None if paths.value == YOURS else "none"
        figure.draw(_drawn(target(), runs.get(target())))

    def run(progress: Any, stop: Any) -> RttSamples:
        try:
            return _run(target(), progress, stop)
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
        if ran.links in PATHS.values():
            paths.value = ran.links
        else:
            own.value, paths.value = ran.links, YOURS
        protocol.value = ran.protocol
        update()

    live = run_button(
        "Run an echo over this path", run, show_run, key="echo over a path", tool="netcalc echo"
    )
    controls = {"links": paths, "protocol": protocol, "own": own}
    return panel(figure, controls, update, below=[live])


def _run(target: Target, progress: Any, stop: Any) -> RttSamples:
    path = target.path
    if path is None and target.protocol == "icmp":
        raise ExperimentError(
            "icmp-needs-root",
            phase="start",
        )
    return echo(
        BOOK_SIZES,
        protocol=target.protocol,
        count=LOOPBACK_COUNT if path is None else PATH_COUNT,
        timeout_s=1.0 if path is None else 1.0 + 1.5 * float(path.rtt_s(1500)),
        path=path,
        progress=progress,
        stop=stop,
    )


def _target_of(samples: RttSamples, chosen: Target) -> Target:
    """Return the target of a run from its record, which may come from a file."""
    noted = samples.meta.target.rpartition(", ")[2].lower()
    protocol = noted if noted in PROTOCOLS.values() else chosen.protocol
    truth = samples.meta.instrument.truth
    if not truth:
        return Target(LOOPBACK, protocol)
    went = Path.from_truth(truth)
    for links in (chosen.links, *PATHS.values()):
        if links not in (LOOPBACK, YOURS) and went.same_lines(Path.parse(links)):
            return Target(links, protocol)
    return Target(went.text, protocol)


def _drawn(target: Target, samples: RttSamples | None) -> Plot:
    """Draw the book's points, those of the run if there was one, and theory or a fit."""
    path = target.path
    title = phrase(
        "Echo by {protocol}: {path}",
        protocol=target.protocol.upper(),
        path=target.name,
    )
    known = samples or RttSamples(payload_bytes=[], rtt_s=[])
    headers = STAMPED_HEADERS_BYTES if target.protocol == "tcp" else DATAGRAM_HEADERS_BYTES
    # Of a run, the path is the one that it noted.
    of_choice = path if samples is None else None
    found = compare.overlay(known, path=of_choice, header_bytes=headers, title=title)
    words = [
        found.sentence,
        *(phrase("Note: {warning}.", warning=warning) for warning in known.meta.warnings),
    ]
    if samples is None:
        words = [phrase("No run yet.")]
    if path is not None:
        whole = BOOK_SIZES[-1] + headers
        measured = "" if target.links == LAN else phrase("; Stevens measured 80 ms and 193 ms")
        words.append(
            phrase(
                "Theory: {empty} with no data and {full} with {size} bytes{measured}. One "
                "way, with {size} bytes: {sentence}",
                empty=show(float(path.rtt_s(headers)), "s"),
                full=show(float(path.rtt_s(whole)), "s"),
                size=BOOK_SIZES[-1],
                measured=measured,
                sentence=explain.transfer(whole, path=path).sentence,
            )
        )
    return plots.overlay(
        replace(found, sentence=" ".join(words)),
        y_scale="log" if path is None else "linear",
        beside=_beside(target),
    )


def _beside(target: Target) -> dict[str, tuple[list[float], list[float]]]:
    """Return what is printed for such a path; of the LANs of Fig. A-2 no number is."""
    if target.links == LAN:
        return {}
    return _book_on_loopback() if target.path is None else _book_far_away()


def _book_on_loopback() -> dict[str, tuple[list[float], list[float]]]:
    """Return the range that the book gives for UDP between two programs of one host."""
    printed = _printed("loopback_transactions")
    # Application minus tcpdump, and tcpdump itself: together the application's time.
    ends = [printed["LB05"] + printed["LB09"], printed["LB06"] + printed["LB10"]]
    name = term("Stevens' loopback, UDP: minimum and maximum")
    return {name: ([100.0, 100.0, 1400.0, 1400.0], ends * 2)}


def _book_far_away() -> dict[str, tuple[list[float], list[float]]]:
    """Return the printed points of Fig. A-3, and the book's two estimates for one of its curves."""
    curves, printed = datasets.load("wan_curves").columns(), _printed("wan_round_trips")
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


def _printed(name: str) -> dict[str, float]:
    """Return the printed numbers of a data set, in SI units, by their name in the audit."""
    columns = datasets.load(name).columns()
    return dict(zip(columns["id"].tolist(), columns["si_value"].tolist(), strict=True))
