"""What limits a transfer or a rate: all parts of a time, or all limits of a rate, in order.

>>> from netcalc.path import Path
>>> path = Path.parse("1 Gbit/s 40 ms")
>>> print(transfer(1e6, path=path).sentence)
Latency limits this transfer: 40 ms of 48 ms (83%).
>>> print(rate(path, window_bytes=65535, loss_ratio=1e-4).sentence)
The window limits this path to 6.552 Mbit/s (TCP payload); the next limit is loss at \
22.95 Mbit/s (TCP payload).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from netcalc.checks import choice, named_arguments, non_negative, positive, ratio, whole
from netcalc.errors import DomainError, UnitError, doubts
from netcalc.language import phrase, term
from netcalc.messages import Notice, sentence
from netcalc.models.rates import goodput
from netcalc.models.sizes import framing
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES, TIMESTAMP_BYTES
from netcalc.models.tcp import transfer_time
from netcalc.models.tcp.ceilings import CONGESTION_CONTROLS, CongestionControl, path_ceilings
from netcalc.models.tcp.slow_start import INITIAL_WINDOW_SEGMENTS
from netcalc.models.tcp.timers import MIN_RTO_S
from netcalc.path import Path
from netcalc.rate_layers import TCP_PAYLOAD
from netcalc.units import line, show, show_rate

# Timeouts become frequent at about 1% loss (Padhye et al., Modeling TCP throughput, 1998).
HIGH_LOSS_RATIO = 0.01
"""Loss above which timeouts decide, and a formula is an estimate. [ratio]"""
CONTROL_NAMES: dict[CongestionControl, str] = {"cubic": "CUBIC", "reno": "Reno", "bbr": "BBR"}
"""Congestion controls as people write them."""


class _Said:
    """What says itself by its name and its values: what it is, the numbers behind it, a test."""

    __slots__ = ()
    name: str
    values: Mapping[str, Any]
    _of: ClassVar[str] = "path"

    @property
    def subject(self) -> str:
        """What it is, in a few words."""
        return sentence(f"limit-path-{self.name}", self.values)

    @property
    def arithmetic(self) -> str:
        """The numbers behind it."""
        return sentence(self._how, self.values)

    @property
    def _how(self) -> str:
        return f"how-{self._of}-{self.name}"

    @property
    def test(self) -> str:
        """The cheapest test that confirms it."""
        return sentence(f"confirm-{self._of}-{self.name}", self.values)

    def _as_dict(self, **numbers: Any) -> dict[str, Any]:
        return {"name": self.name, **numbers, "arithmetic": self.arithmetic, "test": self.test}


@dataclass(frozen=True, slots=True)
class Part(_Said):
    """One part of a transfer's time; ``values`` are those of its sentences."""

    name: str
    time_s: float
    share_ratio: float
    values: Mapping[str, Any] = field(default_factory=dict)
    _of: ClassVar[str] = "transfer"

    def as_dict(self) -> dict[str, Any]:
        """Return the part as JSON has it."""
        return self._as_dict(time_s=self.time_s, share_ratio=self.share_ratio)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What limits a transfer, and the parts of its time, the largest first."""

    parts: tuple[Part, ...]
    total_s: float

    @property
    def sentence(self) -> str:
        """What limits the transfer, in one sentence."""
        if not self.parts:
            return written(Notice("transfer-instant"))
        first = self.parts[0]
        code = f"transfer-{first.name}"
        own = {"time_s": first.time_s, "total_s": self.total_s, "share": first.share_ratio}
        return written(Notice(code, {**first.values, **own}))

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON has it."""
        parts = [part.as_dict() for part in self.parts]
        return {"sentence": self.sentence, "parts": parts, "total_s": self.total_s}

    def __str__(self) -> str:
        lines = [self.sentence, *part_lines(self.parts)]
        lines += [phrase("To confirm: {test}.", test=part.test) for part in self.parts[:1]]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Ceiling(_Said):
    """An upper limit of the rate; ``values`` are those of its sentences."""

    name: str
    rate_bps: float
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _how(self) -> str:
        lossy = "-lossy" if self.name == "line" and self.values["loss_ratio"] > 0 else ""
        return f"how-path-{self.name}{lossy}"

    def as_dict(self) -> dict[str, Any]:
        """Return the limit as JSON has it."""
        return self._as_dict(rate_bps=self.rate_bps, layer=TCP_PAYLOAD)


@dataclass(frozen=True, slots=True)
class RateExplanation:
    """What limits a rate: all its limits, the lowest first.

    ``by_congestion_control`` is the rate of the path with each congestion control, whichever the
    limits are of; ``assumptions`` say what was taken for granted.
    """

    ceilings: tuple[Ceiling, ...]
    rtt_s: float
    high_loss: bool = False
    by_congestion_control: Mapping[CongestionControl, float] = field(default_factory=dict)
    assumptions: tuple[Notice, ...] = ()

    @property
    def rate_bps(self) -> float:
        """The lowest limit: the highest rate of the path. [bit/s]"""
        return self.ceilings[0].rate_bps

    @property
    def sentence(self) -> str:
        """What limits the rate, in one sentence."""
        first, *others = self.ceilings
        values: dict[str, Any] = {
            "subject": first.subject,
            "value": first.rate_bps,
            "layer": TCP_PAYLOAD,
        }
        code = "path-limited"
        if others:
            code = "path-limited-next"
            values |= {"next": others[0].subject, "next_value": others[0].rate_bps}
        notices = [Notice(code, values)]
        if self.high_loss:
            notices.append(Notice("path-timeouts", {"loss_ratio": HIGH_LOSS_RATIO}))
        return written(*notices)

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON has it."""
        return {
            "sentence": self.sentence,
            "rate_bps": self.rate_bps,
            "layer": TCP_PAYLOAD,
            "ceilings": [ceiling.as_dict() for ceiling in self.ceilings],
            "rtt_s": self.rtt_s,
            "by_congestion_control": {
                name: {"rate_bps": rate_bps, "layer": TCP_PAYLOAD}
                for name, rate_bps in self.by_congestion_control.items()
            },
            "assumptions": [str(assumption) for assumption in self.assumptions],
        }

    def __str__(self) -> str:
        lines = [self.sentence]
        lines += [
            f"  {phrase(ceiling.name)}: {rate_text(ceiling.rate_bps)}: {ceiling.arithmetic}"
            for ceiling in self.ceilings
        ]
        lines += by_control_line(self.by_congestion_control)
        lines += assumed_line(self.assumptions)
        lines.append(phrase("To confirm: {test}.", test=self.ceilings[0].test))
        return "\n".join(lines)


def part_lines(parts: Iterable[Part]) -> list[str]:
    """Return a line of each part: its time, its share, and the numbers behind it."""
    return [
        f"  {phrase(part.name)}: {show(part.time_s, 's')} ({part.share_ratio:.0%}): "
        f"{part.arithmetic}"
        for part in parts
    ]


def rate_text(rate_bps: float) -> str:
    """Write a rate of TCP payload with its layer."""
    return show_rate(rate_bps, TCP_PAYLOAD)


def by_control_line(rates: Mapping[CongestionControl, float]) -> list[str]:
    """Return a line of what each congestion control makes of it; none without loss."""
    texts = [f"{CONTROL_NAMES[name]} {rate_text(value)}" for name, value in rates.items()]
    return [f"By congestion control: {', '.join(texts)}."] if texts else []


def assumed_line(assumptions: tuple[Notice, ...]) -> list[str]:
    """Return a line of what was taken for granted."""
    return [f"Assumed: {'; '.join(map(str, assumptions))}."] if assumptions else []


def written(*notices: Notice) -> str:
    """Write notices as one sentence."""
    text = "; ".join(map(str, notices))
    return phrase("{text}.", text=f"{text[:1].upper()}{text[1:]}")


@named_arguments
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
    unit = min(size, float(positive("packet_bytes", packet_bytes, allow_inf=True)))
    # Of one packet on each link, framing included where the link has one.
    clocked = sorted(float(link.serialization_s(unit)) for link in path.links)
    slowest = path.bottleneck_bps
    on_slowest = clocked[-1] * (size / unit if unit else 1.0)
    again = sum(clocked[:-1])
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
        term("line"): on_slowest,
        term("latency"): path.latency_s,
        term("store-and-forward"): again,
        "processing": path.processing_s,
    }
    total = sum(times.values())
    order = sorted((name for name, time in times.items() if time > 0), key=lambda n: -times[n])
    parts = tuple(Part(name, times[name], times[name] / total, values) for name in order)
    return Explanation(parts, total)


@named_arguments
def rate(
    path: Path,
    *,
    rtt_s: float | None = None,
    window_bytes: float | None = None,
    loss_ratio: float = 0.0,
    mtu_bytes: float = 1500,
    reverse_bandwidth_bps: float | None = None,
    congestion_control: CongestionControl = "cubic",
    flow_count: int = 1,
) -> RateExplanation:
    """Find what limits the rate of long TCP transfers over a path.

    Parameters
    ----------
    path : Path
        The path; its bottleneck link is assumed to be Ethernet with this MTU.
    rtt_s : float, optional
        Round-trip time; by default the path's for a full packet and a bare ACK. [s]
    window_bytes : float, optional
        Largest window of a flow: the smaller of both hosts' buffers; by default unlimited. [byte]
    loss_ratio : float
        Random packet loss, without drops of a full buffer. [ratio]
    mtu_bytes : float
        Largest packet. [byte]
    reverse_bandwidth_bps : float, optional
        Rate of the reverse direction, which carries the acknowledgements; by default it does not
        limit. [bit/s]
    congestion_control : {'cubic', 'reno', 'bbr'}
        Congestion control of the sender.
    flow_count : int
        Flows that share the path equally.

    Returns
    -------
    RateExplanation
        The sentence, and all limits as payload of TCP, of all flows together: ``line``,
        ``window``, ``loss``, ``acknowledgements``.

    Raises
    ------
    DomainError
        If a quantity is impossible, or the round trip below that of the path.
    """
    loss_ratio = float(ratio("loss_ratio", loss_ratio))
    if window_bytes == math.inf:  # no limit, as by default
        window_bytes = None
    if window_bytes is not None:
        window_bytes = float(positive("window_bytes", window_bytes))
    choice("congestion_control", congestion_control, CONGESTION_CONTROLS)
    flows = float(whole("flow_count", flow_count, low=1))
    ack = float(goodput.tcp_ack_wire_bytes(TIMESTAMP_BYTES))
    mss = float(framing.tcp_payload_bytes(mtu_bytes, tcp_option_bytes=TIMESTAMP_BYTES))
    rtt = round_trip_s(path, rtt_s=rtt_s, mtu_bytes=mtu_bytes)
    values = {
        "payload_bytes": mss,
        "wire_bytes": float(framing.ethernet_wire_bytes(mtu_bytes)),
        "line_bps": path.bottleneck_bps,
        "window_bytes": window_bytes,
        "loss_ratio": loss_ratio,
        "rtt_s": rtt,
        "rto_s": rtt + MIN_RTO_S,
        "ack_bytes": ack,
        "reverse_bps": reverse_bandwidth_bps,
        "flow_count": int(flows),
        "control": CONTROL_NAMES[congestion_control],
        "layer": TCP_PAYLOAD,
    }
    arguments = _stated(
        rtt_s=rtt, flow_count=flows, mtu_bytes=mtu_bytes, loss_ratio=loss_ratio,
        window_bytes=window_bytes, reverse_bandwidth_bps=reverse_bandwidth_bps,
    )  # fmt: skip
    ceilings_of = partial(path_ceilings, path.bottleneck_bps, **arguments)
    own = ceilings_of(congestion_control=congestion_control)
    limits = own._asdict().items()
    rates = {name.removesuffix("_bps"): float(limit) for name, limit in limits if limit < math.inf}
    by_control = {}
    if loss_ratio > 0:
        with doubts():  # those of the others are no doubt about this answer
            by_control = {
                rule: float(min(ceilings_of(congestion_control=rule)))
                for rule in CONGESTION_CONTROLS
            }
    ceilings = [Ceiling(name, rate_bps, values) for name, rate_bps in rates.items()]
    ceilings.sort(key=lambda ceiling: ceiling.rate_bps)
    return RateExplanation(
        tuple(ceilings),
        rtt,
        high_loss=loss_ratio > HIGH_LOSS_RATIO,
        by_congestion_control=by_control,
        assumptions=(
            *_as_ethernet(path),
            *((Notice("assumed-tcp", values),) if by_control else ()),
        ),
    )


def _stated(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that have a value."""
    return {name: value for name, value in arguments.items() if value is not None}


def _as_ethernet(path: Path) -> tuple[Notice, ...]:
    """Return that a T, E or OC line is taken for an Ethernet, where one is the bottleneck."""
    slowest = min(path.links, key=lambda link: link.bandwidth_bps)
    try:
        line(slowest.name)
    except UnitError:
        return ()
    return (Notice("assumed-ethernet", {"line": slowest.name, "rate": slowest.bandwidth_bps}),)


def round_trip_s(path: Path, *, rtt_s: float | None, mtu_bytes: float) -> float:
    """Return the round trip of a full packet and a bare ACK, or the one that is given.

    Raises
    ------
    DomainError
        If the one given is below what the links and nodes of the path take.
    """
    if rtt_s is None:
        return float(path.rtt_s(mtu_bytes, reply_bytes=STAMPED_HEADERS_BYTES))
    stated_s = float(positive("rtt_s", rtt_s))
    least = float(path.rtt_s(0.0))
    if stated_s < least * (1.0 - 1e-9):
        raise DomainError("below-path-rtt", "rtt_s", stated_s, low=least)
    return stated_s


_PARTS = {"handshake_s": "handshake", "start_s": "slow-start", "recovery_s": "recovery",
          "delivery_s": "latency"}  # fmt: skip
"""Parts of the model that are called the same whatever limits; the rest is called by its limit."""


class TcpPart(Part):
    """One part of the time of a TCP transfer."""

    __slots__ = ()
    _of = "path"

    @property
    def _how(self) -> str:
        if self.name == "line" and "one_frame_bytes" in self.values:
            return "how-tcp-frame"
        return f"how-tcp-{self.name if self.name in _PARTS.values() else 'rest'}"


@dataclass(frozen=True, slots=True)
class TcpTransfer:
    """What limits a TCP transfer, the parts of its time, and the rate that it reaches.

    ``by_congestion_control`` is the time with each congestion control; empty without loss, where
    all are alike.
    """

    parts: tuple[TcpPart, ...]
    total_s: float
    rate: RateExplanation
    congestion_control: CongestionControl
    by_congestion_control: Mapping[CongestionControl, float]
    assumptions: tuple[Notice, ...]

    @property
    def sentence(self) -> str:
        """What limits the transfer, in one sentence."""
        first = self.parts[0]
        values = {
            "subject": first.subject,
            "time_s": first.time_s,
            "total_s": self.total_s,
            "share": first.share_ratio,
        }
        if not self.by_congestion_control:
            return written(Notice("tcp-limited", values))
        names = {name: CONTROL_NAMES[name] for name in self.by_congestion_control}
        values["control"] = names.pop(self.congestion_control)
        for at, (name, control) in enumerate(names.items()):
            values[f"other_{at}"], values[f"time_{at}"] = control, self.by_congestion_control[name]
        return written(Notice("tcp-limited-by-control", values))

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON has it."""
        return {
            "sentence": self.sentence,
            "parts": [part.as_dict() for part in self.parts],
            "total_s": self.total_s,
            "congestion_control": self.congestion_control,
            "by_congestion_control": dict(self.by_congestion_control),
            "assumptions": [str(assumption) for assumption in self.assumptions],
        }

    def __str__(self) -> str:
        lines = [self.sentence, *part_lines(self.parts)]
        lines += assumed_line(self.assumptions)
        lines.append(phrase("To confirm: {test}.", test=self.parts[0].test))
        return "\n".join(lines)


@named_arguments
def tcp_transfer(
    payload_bytes: float,
    *,
    path: Path,
    rtt_s: float | None = None,
    window_bytes: float | None = None,
    loss_ratio: float = 0.0,
    mtu_bytes: float = 1500,
    reverse_bandwidth_bps: float | None = None,
    congestion_control: CongestionControl = "cubic",
    flow_count: int = 1,
) -> TcpTransfer:
    """Find what limits a TCP transfer over a new connection, and how long it takes.

    The time is that of :func:`netcalc.models.tcp.transfer_time.transfer_time_s`, and its rate that
    of :func:`rate`: what limits the one limits the other.

    Parameters
    ----------
    payload_bytes : float
        Bytes to transfer. [byte]
    path : Path
        The path; its bottleneck link is assumed to be Ethernet with this MTU.
    rtt_s, window_bytes, loss_ratio, mtu_bytes, reverse_bandwidth_bps : float, optional
        As for :func:`rate`.
    congestion_control : {'cubic', 'reno', 'bbr'}
        Congestion control of the sender.
    flow_count : int
        Flows that share the transfer equally.

    Returns
    -------
    TcpTransfer
        The sentence, and the parts of the time, the largest first: ``handshake``, ``slow-start``,
        ``recovery`` from the first loss, ``latency`` of the last byte, and the rest by what limits
        it, ``line``, ``window``, ``loss`` or ``acknowledgements``.

    Raises
    ------
    DomainError
        If a quantity is impossible, or the round trip below that of the path.

    Examples
    --------
    >>> from netcalc.path import Path
    >>> path = Path.parse("1 Gbit/s 20 ms")
    >>> print(tcp_transfer(1e9, path=path, window_bytes=65536).sentence)
    The window limits this transfer: 610.5 s of 610.6 s (100%).
    """
    size = float(non_negative("payload_bytes", payload_bytes))
    facts: dict[str, Any] = {
        "rtt_s": rtt_s, "window_bytes": window_bytes, "loss_ratio": loss_ratio,
        "mtu_bytes": mtu_bytes, "reverse_bandwidth_bps": reverse_bandwidth_bps,
        "flow_count": flow_count,
    }  # fmt: skip
    steady = rate(path, congestion_control=congestion_control, **facts)
    arguments = _stated(
        bandwidth_bps=path.bottleneck_bps, tcp_option_bytes=TIMESTAMP_BYTES,
        **{**facts, "rtt_s": steady.rtt_s},
    )  # fmt: skip
    model = transfer_time.transfer_parts(size, congestion_control=congestion_control, **arguments)
    times = {name: float(time_s) for name, time_s in model._asdict().items()}
    total = sum(times.values())
    lowest = steady.ceilings[0]
    values = {
        **lowest.values,
        "rate_bps": lowest.rate_bps,
        "how": lowest.arithmetic,
        "trips": round(times["start_s"] / steady.rtt_s),
        "first_segments": INITIAL_WINDOW_SEGMENTS,
        "rto_s": steady.rtt_s + MIN_RTO_S,
    }
    if (
        lowest.name == "line"
        and loss_ratio == 0
        and 0 < size < flow_count * values["payload_bytes"]
    ):
        values["size_bytes"] = size
        values["one_frame_bytes"] = times["steady_s"] * path.bottleneck_bps / 8.0 / flow_count
    named = {_PARTS.get(name, lowest.name): time_s for name, time_s in times.items()}
    order = sorted((name for name, time_s in named.items() if time_s > 0), key=lambda n: -named[n])
    by_control = {}
    if steady.by_congestion_control:
        by_control = {
            name: float(transfer_time.transfer_time_s(size, congestion_control=name, **arguments))
            for name in steady.by_congestion_control
        }
    parts = tuple(TcpPart(name, named[name], _share(named[name], total), values) for name in order)
    assumed = steady.assumptions
    if not steady.by_congestion_control:  # it says nothing of timeouts; slow start counts anyway
        assumed = (*assumed, Notice("assumed-tcp", lowest.values))
    return TcpTransfer(parts, total, steady, congestion_control, by_control, assumed)


def _share(time_s: float, total_s: float) -> float:
    """Return a share; of an endless time all."""
    return 1.0 if time_s == total_s else time_s / total_s
