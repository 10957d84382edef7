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
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netcalc.checks import non_negative, positive, ratio
from netcalc.messages import Notice, sentence
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


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a transfer's time; ``values`` are those of its sentences."""

    name: str
    time_s: float
    share_ratio: float
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arithmetic(self) -> str:
        """The numbers behind it."""
        return sentence(f"how-transfer-{self.name}", self.values)

    @property
    def test(self) -> str:
        """The cheapest test that confirms it."""
        return sentence(f"confirm-transfer-{self.name}", self.values)

    def as_dict(self) -> dict[str, Any]:
        """Return the part as JSON has it."""
        return {
            "name": self.name,
            "time_s": self.time_s,
            "share_ratio": self.share_ratio,
            "arithmetic": self.arithmetic,
            "test": self.test,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """What limits a transfer, and the parts of its time, the largest first."""

    parts: tuple[Part, ...]
    total_s: float

    @property
    def sentence(self) -> str:
        """What limits the transfer, in one sentence."""
        if not self.parts:
            return _write(Notice("transfer-instant"))
        first = self.parts[0]
        code = f"transfer-{first.name}"
        own = {"time_s": first.time_s, "total_s": self.total_s, "share": first.share_ratio}
        return _write(Notice(code, {**first.values, **own}))

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON has it."""
        parts = [one.as_dict() for one in self.parts]
        return {"sentence": self.sentence, "parts": parts, "total_s": self.total_s}

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
    """An upper limit of the rate; ``values`` are those of its sentences."""

    name: str
    rate_bps: float
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """What it is, in a few words."""
        return sentence(f"limit-path-{self.name}", self.values)

    @property
    def arithmetic(self) -> str:
        """The numbers behind it."""
        return sentence(f"how-path-{self.name}", self.values)

    @property
    def test(self) -> str:
        """The cheapest test that confirms it."""
        return sentence(f"confirm-path-{self.name}", self.values)

    def as_dict(self) -> dict[str, Any]:
        """Return the limit as JSON has it."""
        return {
            "name": self.name,
            "rate_bps": self.rate_bps,
            "arithmetic": self.arithmetic,
            "test": self.test,
        }


@dataclass(frozen=True, slots=True)
class RateExplanation:
    """What limits a rate: all its limits, the lowest first."""

    ceilings: tuple[Ceiling, ...]
    rtt_s: float
    high_loss: bool = False

    @property
    def rate_bps(self) -> float:
        """The lowest limit: the highest rate of the path. [bit/s]"""
        return self.ceilings[0].rate_bps

    @property
    def sentence(self) -> str:
        """What limits the rate, in one sentence."""
        first, *others = self.ceilings
        values: dict[str, Any] = {"subject": first.subject, "value": first.rate_bps}
        code = "path-limited"
        if others:
            code = "path-limited-next"
            values |= {"next": others[0].subject, "next_value": others[0].rate_bps}
        notices = [Notice(code, values)]
        if self.high_loss:
            notices.append(Notice("path-timeouts", {"loss_ratio": HIGH_LOSS_RATIO}))
        return _write(*notices)

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON has it."""
        return {
            "sentence": self.sentence,
            "ceilings": [one.as_dict() for one in self.ceilings],
            "rtt_s": self.rtt_s,
        }

    def __str__(self) -> str:
        lines = [self.sentence]
        lines += [
            f"  {ceiling.name}: {show(ceiling.rate_bps, 'bit/s')}: {ceiling.arithmetic}"
            for ceiling in self.ceilings
        ]
        lines.append(f"To confirm: {self.ceilings[0].test}.")
        return "\n".join(lines)


def _write(*notices: Notice) -> str:
    """Write notices as one sentence."""
    text = "; ".join(map(str, notices))
    return f"{text[:1].upper()}{text[1:]}."


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
    others = sorted(link.bandwidth_bps for link in path.links)[1:]
    again = 0.0
    if others:
        together = store_and_forward.equivalent_bandwidth_bps(others)
        again = float(latency.serialization_s(unit, bandwidth_bps=together))
    repeated = (
        Notice("whole-message") if unit == size else Notice("each-packet", {"packet_bytes": unit})
    )
    values = {
        "size_bytes": size,
        "line_bps": slowest,
        "repeated": str(repeated),
        "link_count": len(path.links),
        "other_count": len(path.links) - 1,
        "node_count": len(path.links) + 1,
    }
    times = {
        "line": on_slowest,
        "latency": path.latency_s,
        "store-and-forward": again,
        "processing": path.processing_s,
    }
    total = sum(times.values())
    order = sorted((name for name, time in times.items() if time > 0), key=lambda n: -times[n])
    parts = tuple(Part(name, times[name], times[name] / total, values) for name in order)
    return Explanation(parts, total)


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
    if window_bytes == math.inf:  # no limit, as by default
        window_bytes = None
    if window_bytes is not None:
        window_bytes = float(positive("window_bytes", window_bytes))
    mss = float(framing.tcp_payload_bytes(mtu_bytes, tcp_option_bytes=TIMESTAMP_BYTES))
    rtt = (
        float(path.rtt_s(mtu_bytes, reply_bytes=BARE_ACK_BYTES))
        if rtt_s is None
        else float(positive("rtt_s", rtt_s))
    )
    slowest = path.bottleneck_bps
    wire = float(framing.ethernet_wire_bytes(mtu_bytes))
    ack = float(goodput.tcp_ack_wire_bytes(TIMESTAMP_BYTES))
    values = {
        "payload_bytes": mss,
        "wire_bytes": wire,
        "line_bps": slowest,
        "window_bytes": window_bytes,
        "loss_ratio": loss_ratio,
        "rtt_s": rtt,
        "ack_bytes": ack,
        "reverse_bps": reverse_bandwidth_bps,
    }
    rates = {
        "line": goodput.tcp_goodput_bps(
            mtu_bytes, bandwidth_bps=slowest, tcp_option_bytes=TIMESTAMP_BYTES
        )
    }
    if window_bytes is not None and rtt > 0:
        rates["window"] = window.throughput_bps(window_bytes, rtt_s=rtt)
    if loss_ratio > 0 and rtt > 0:
        rates["loss"] = loss_limited.mathis_throughput_bps(loss_ratio, mss_bytes=mss, rtt_s=rtt)
    if reverse_bandwidth_bps is not None:
        rates["acknowledgements"] = asymmetry.ack_limited_throughput_bps(
            reverse_bandwidth_bps, ack_wire_bytes=ack, mss_bytes=mss
        )
    ceilings = [Ceiling(name, float(rate_bps), values) for name, rate_bps in rates.items()]
    ceilings.sort(key=lambda ceiling: ceiling.rate_bps)
    return RateExplanation(tuple(ceilings), rtt, high_loss=loss_ratio > HIGH_LOSS_RATIO)
