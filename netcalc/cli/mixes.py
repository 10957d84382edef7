"""``netcalc mixes``: link combinations that explain a round-trip time."""

from __future__ import annotations

import re
from dataclasses import asdict

import numpy as np

from netcalc import units
from netcalc.checks import non_negative
from netcalc.cli import mistakes, options, output, print_json, put, say
from netcalc.errors import DomainError
from netcalc.fit import SEPARATION_HEADINGS, separations
from netcalc.models.delays.latency import path_mixes

SHOWN = 20
"""Combinations that are printed without ``--all``. [1]"""
MOST_LINKS = 9999
"""Links of the longest path that is tried at all: the models limit the combinations. [1]"""


@options.command(
    options.JSON,
    cls=options.QuantityCommand,
    names={
        "kinds": "--kind",
        "link_count": "--links",
        "packet_bytes": "--size",
        "base_rtt_s": "--base",
        "show_all": "--all",
    },
    types={"routers": options.WholeNumber(0)},
)
def mixes(
    rtt_s: float = 0.187,
    *,
    kinds: tuple[str, ...] = ("T1", "10 Mbit/s", "T3"),
    link_count: str = "12-13",
    packet_bytes: float = 1428.0,
    base_rtt_s: float = 0.08,
    routers: int = 12,
    processing_s: float = 0.5e-3,
    tolerance_s: float = 1e-3,
    resolution_s: float = 1e-3,
    show_all: bool = False,
    as_json: bool,
) -> None:
    """Find link combinations that explain the round-trip time RTT, and how to distinguish them.

    The default is the puzzle of Stevens, TCP/IP Illustrated vol. 3: 187 ms from connix.com to
    noao.edu through 12 routers, over links of unknown rates.

    \b
    netcalc mixes 187ms --kind "56 kbit/s" --kind T1 --kind "10 Mbit/s" --kind T3

    Parameters
    ----------
    rtt_s : [RTT]
        Round-trip time to explain. [s]
    kinds : RATE
        Rate of a kind of link.
    link_count : N[-M]
        Number of links, or a range of it.
    packet_bytes : float
        IP packet size, in both directions. [byte]
    base_rtt_s : float
        Round-trip propagation delay. [s]
    routers : int
        Number of routers.
    processing_s : float
        Processing delay of a router, in each direction. [s]
    tolerance_s : float
        Maximum deviation from RTT. [s]
    resolution_s : float
        Accuracy of one more round-trip measurement. [s]
    show_all : bool
        Print more than 20 combinations.
    """
    rates = [units.parse_typed(kind, "bit/s", field="--kind") for kind in kinds]
    counts = link_numbers(link_count)
    with mistakes.named_as_typed(bandwidth_bps=("--kind", "bit/s")):
        base_s = float(non_negative("base_rtt_s", base_rtt_s))
        base_s += 2 * routers * float(non_negative("processing_s", processing_s))
        combinations = path_mixes(
            rtt_s,
            bandwidth_bps=rates,
            link_count=counts,
            packet_bytes=packet_bytes,
            base_rtt_s=base_s,
            tolerance_s=tolerance_s,
        )
        apart = separations(
            combinations, bandwidth_bps=rates, packet_bytes=packet_bytes, resolution_s=resolution_s
        )
    if as_json:
        print_json(
            {
                "kinds": list(kinds),
                "bandwidth_bps": rates,
                "base_rtt_s": base_s,
                **combinations._asdict(),
                "told_apart": [asdict(separation) for separation in apart],
            }
        )
        return
    fitting = f"{len(combinations.rtt_s)} combination{'s' * (len(combinations.rtt_s) != 1)}"
    say(
        f"{fitting} of {link_count} links within {units.show(tolerance_s, 's')} of "
        f"{units.show(rtt_s, 's')}; propagation and routers take {units.show(base_s, 's')}."
    )
    if not combinations.rtt_s.size:
        times_s = [
            count * 2 * 8 * packet_bytes / rate + base_s
            for count, rate in ((counts[0], max(rates)), (counts[-1], min(rates)))
        ]
        say(why_none(rtt_s, tolerance_s, *times_s))
        return
    shown = len(combinations.rtt_s) if show_all else min(SHOWN, len(combinations.rtt_s))
    rows = []
    for row, rtt_s, residual_s in zip(*(column[:shown] for column in combinations), strict=True):
        numbers = [*map(int, row), int(np.sum(row))]
        times = [units.show(rtt_s, "s", digits=5), f"{residual_s * 1e3:+.2f} ms"]
        rows.append([*map(str, numbers), *times])
    output.print_rows([*kinds, "links", "round trip", "deviation"], rows)
    if shown < len(combinations.rtt_s):
        put(f"... and {len(combinations.rtt_s) - shown} more; --all prints them")
    put("\nOne more measurement that would distinguish them:")
    first, *_, last = SEPARATION_HEADINGS
    output.print_rows(
        SEPARATION_HEADINGS, (separation.texts() for separation in apart), left=(first, last)
    )


def why_none(rtt_s: float, tolerance_s: float, fastest_s: float, slowest_s: float) -> str:
    """Explain why no combination comes near a round-trip time, and what to change."""
    if rtt_s + tolerance_s < fastest_s:
        least = f"The fastest combination takes {units.show(fastest_s, 's')}"
        return f"{least}: try a smaller --base, fewer --links or a faster --kind."
    if rtt_s - tolerance_s > slowest_s:
        most = f"The slowest combination takes {units.show(slowest_s, 's')}"
        return f"{most}: try a larger --base, more --links or a slower --kind."
    between = f"Combinations take from {units.show(fastest_s, 's')} to {units.show(slowest_s, 's')}"
    return f"{between}, but none is that close: try a larger --tolerance or other kinds."


def link_numbers(text: str) -> list[int]:
    """Read "12" or "12-13" as a list of numbers."""
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", text)
    if match is None:
        raise DomainError("malformed-count", "--links", text)
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise DomainError("empty-range", "--links", text)
    if last > MOST_LINKS:
        raise DomainError("above-maximum", "--links", last, high=MOST_LINKS)
    return list(range(first, last + 1))
