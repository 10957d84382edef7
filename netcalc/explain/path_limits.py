"""What limits a transfer or a rate: all parts of a time, or all limits of a rate, in order.

>>> from netcalc.path import Path
>>> path = Path.parse("1 Gbit/s 40 ms")
>>> print(transfer(1e6, path=path).sentence)
Latency limits this transfer: 40 ms of 48 ms (83%).
>>> print(rate(path, window_bytes=65535, loss_ratio=1e-5).sentence)
The window limits this path to 6.552 Mbit/s; the next limit is loss at 56.07 Mbit/s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from netcalc.checks import non_negative, positive, ratio
from netcalc.models.delays import asymmetry, latency, store_and_forward
from netcalc.models.rates import goodput
from netcalc.models.sizes import framing
from netcalc.models.tcp import loss_limited, window
from netcalc.path import Path
from netcalc.units import show

TIMESTAMP_BYTES = 12
"""TCP options of every segment: timestamps, padded. [byte]"""
BARE_ACK_BYTES = 52
"""IPv4 packet of an acknowledgement: 20 bytes of IP, 20 of TCP, 12 of timestamps. [byte]"""
# The formula of Mathis has no timeouts, which become frequent at about 1% loss (Padhye et al.,
# Modeling TCP throughput, 1998).
HIGH_LOSS_RATIO = 0.01
"""Loss above which timeouts make the true rate lower than the formula. [ratio]"""


SUBJECTS = {
    "line": "The bottleneck link",
    "latency": "Latency",
    "store-and-forward": "Store-and-forward",
    "processing": "Processing",
    "window": "The window",
    "loss": "Loss",
    "acknowledgements": "The rate of acknowledgements",
}
"""Subject of a sentence about each part or limit, by its name."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a transfer's time, with its arithmetic and a test that confirms it."""

    name: str
    time_s: float
    share_ratio: float
    arithmetic: str
    test: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What limits a transfer, in one sentence, and the parts of its time, the largest first."""

    sentence: str
    parts: tuple[Part, ...]
    total_s: float

    def __str__(self) -> str:
        lines = [self.sentence]
        lines += [
            f"  {part.name}: {show(part.time_s, 's')} ({part.share_ratio:.0%}): {part.arithmetic}"
            for part in self.parts
        ]
        lines += [f"To confirm: {part.test}." for part in self.parts[:1]]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """An upper limit of the rate, with its arithmetic and a test that confirms it."""

    name: str
    rate_bps: float
    arithmetic: str
    test: str


@dataclass(frozen=True, slots=True)
class RateExplanation:
    """What limits a rate, in one sentence, and all its limits, the lowest first."""

    sentence: str
    ceilings: tuple[Ceiling, ...]
    rtt_s: float

    @property
    def rate_bps(self) -> float:
        """The lowest limit: the highest rate of the path. [bit/s]"""
        return self.ceilings[0].rate_bps

    def __str__(self) -> str:
        lines = [self.sentence]
        lines += [
            f"  {ceiling.name}: {show(ceiling.rate_bps, 'bit/s')}: {ceiling.arithmetic}"
            for ceiling in self.ceilings
        ]
        lines.append(f"To confirm: {self.ceilings[0].test}.")
        return "\n".join(lines)


def transfer(payload_bytes: float, *, path: Path, packet_bytes: float = math.inf) -> Explanation:
    """Find the part of a path that limits a one-way transfer.

    Parameters
    ----------
    payload_bytes : float
        Bytes to transfer. [byte]
    path : Path
        The path.
    packet_bytes : float
        Payload of a packet. By default everything is one message, which each node receives
        completely before it forwards it. [byte]

    Returns
    -------
    Explanation
        The sentence, and the parts of the time: latency, serialization on the bottleneck link
        (``line``), store-and-forward on the other links, processing.
    """
    size = float(non_negative("payload_bytes", payload_bytes))
    slowest = path.bottleneck_bps
    on_slowest = float(latency.serialization_s(size, bandwidth_bps=slowest))
    unit = min(size, float(positive("packet_bytes", packet_bytes, allow_inf=True)))
    again = float(
        latency.serialization_s(
            unit,
            bandwidth_bps=store_and_forward.equivalent_bandwidth_bps(
                [link.bandwidth_bps for link in path.links]
            ),
        )
    )
    again -= float(latency.serialization_s(unit, bandwidth_bps=slowest))
    repeated = "the whole message" if unit == size else f"each packet of {show(unit, 'byte')}"
    count = len(path.links)
    times = {
        "line": (
            on_slowest,
            f"8 x {show(size, 'byte')} / {show(slowest, 'bit/s')}",
            f"serialization of {show(size, 'byte')} at {show(slowest, 'bit/s')}",
            "send twice as much: the time nearly doubles",
        ),
        "latency": (
            path.latency_s,
            f"sum over {count} link{'s' * (count > 1)}",
            "",
            "ping with the smallest size: half of the round-trip time is about the latency",
        ),
        "store-and-forward": (
            max(again, 0.0),
            f"serialization of {repeated} on the other {count - 1} links",
            f"serialization of {repeated} on {count - 1} more link{'s' * (count > 2)}",
            "halve the packet size: this part halves, as more packets overlap on the links",
        ),
        "processing": (
            path.processing_s,
            f"sum over {count + 1} nodes",
            "",
            "ping a near host with the smallest size: the round-trip time is mostly processing",
        ),
    }
    total = sum(time for time, *_ in times.values())
    order = sorted((name for name in times if times[name][0] > 0), key=lambda n: -times[n][0])
    if not order:
        return Explanation("Nothing limits this transfer: its time is 0.", (), 0.0)
    parts = tuple(
        Part(name, times[name][0], times[name][0] / total, arithmetic, test)
        for name in order
        for _, arithmetic, _, test in [times[name]]
    )
    first = parts[0]
    detail = times[first.name][2]
    takes = f"{detail} takes " if detail else ""
    sentence = (
        f"{SUBJECTS[first.name]} limits this transfer: {takes}{show(first.time_s, 's')} of "
        f"{show(total, 's')} ({first.share_ratio:.0%})."
    )
    return Explanation(sentence, parts, total)


def rate(
    path: Path,
    *,
    rtt_s: float | None = None,
    window_bytes: float | None = None,
    loss_ratio: float = 0.0,
    mtu_bytes: float = 1500,
    reverse_bandwidth_bps: float | None = None,
) -> RateExplanation:
    """Find what limits the rate of one long TCP transfer over a path.

    Parameters
    ----------
    path : Path
        The path; its bottleneck link is assumed to be Ethernet with this MTU.
    rtt_s : float, optional
        Round-trip time; by default that of the path for a full packet and a bare ACK. [s]
    window_bytes : float, optional
        Largest window: the smaller of both hosts' buffers; by default unlimited. [byte]
    loss_ratio : float
        Random packet loss, not that of a full buffer. [ratio]
    mtu_bytes : float
        Largest packet. [byte]
    reverse_bandwidth_bps : float, optional
        Rate of the reverse direction, which carries the acknowledgements; by default it does not
        limit. [bit/s]

    Returns
    -------
    RateExplanation
        The sentence, and all limits as goodput: ``line``, ``window``, ``loss``,
        ``acknowledgements``.

    Raises
    ------
    DomainError
        If a quantity is impossible.
    """
    loss_ratio = float(ratio("loss_ratio", loss_ratio))
    if window_bytes is not None:
        window_bytes = float(positive("window_bytes", window_bytes, allow_inf=True))
    mss = float(framing.tcp_payload_bytes(mtu_bytes, tcp_option_bytes=TIMESTAMP_BYTES))
    rtt = (
        float(path.rtt_s(mtu_bytes, reply_bytes=BARE_ACK_BYTES))
        if rtt_s is None
        else float(positive("rtt_s", rtt_s))
    )
    slowest = path.bottleneck_bps
    wire = float(framing.ethernet_wire_bytes(mtu_bytes))
    on_line = goodput.tcp_goodput_bps(
        mtu_bytes, bandwidth_bps=slowest, tcp_option_bytes=TIMESTAMP_BYTES
    )
    ceilings = [
        Ceiling(
            "line",
            float(on_line),
            f"{show(mss, 'byte')} of every {show(wire, 'byte')} on {show(slowest, 'bit/s')}",
            "send UDP at that rate and measure the received rate",
        )
    ]
    if window_bytes is not None and rtt > 0:
        ceilings.append(
            Ceiling(
                "window",
                float(window.throughput_bps(window_bytes, rtt_s=rtt)),
                f"{show(window_bytes, 'byte')} in flight per round trip of {show(rtt, 's')}",
                "use two connections at once: together they are twice as fast",
            )
        )
    if loss_ratio > 0 and rtt > 0:
        ceilings.append(
            Ceiling(
                "loss",
                float(loss_limited.mathis_throughput_bps(loss_ratio, mss_bytes=mss, rtt_s=rtt)),
                f"Reno at {show(loss_ratio, 'ratio')} loss and {show(rtt, 's')} (Mathis)",
                "count retransmissions (ss -ti): about "
                f"{show(loss_ratio, 'ratio')} of the segments",
            )
        )
    if reverse_bandwidth_bps is not None:
        ack = float(goodput.tcp_ack_wire_bytes(TIMESTAMP_BYTES))
        ceilings.append(
            Ceiling(
                "acknowledgements",
                float(
                    asymmetry.ack_limited_throughput_bps(
                        reverse_bandwidth_bps, ack_wire_bytes=ack, mss_bytes=mss
                    )
                ),
                f"one ACK of {show(ack, 'byte')} for two segments, at "
                f"{show(reverse_bandwidth_bps, 'bit/s')} in the reverse direction",
                "stop all other traffic in the reverse direction: the transfer gets faster",
            )
        )
    ceilings.sort(key=lambda ceiling: ceiling.rate_bps)
    first = ceilings[0]
    sentence = f"{SUBJECTS[first.name]} limits this path to {show(first.rate_bps, 'bit/s')}"
    if len(ceilings) > 1:
        second = ceilings[1]
        sentence += f"; the next limit is {second.name} at {show(second.rate_bps, 'bit/s')}"
    if loss_ratio > HIGH_LOSS_RATIO:
        sentence += "; above 1% loss, timeouts make the true rate lower"
    return RateExplanation(sentence + ".", tuple(ceilings), rtt)
