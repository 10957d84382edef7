"""What limits a TCP transfer over a path: the parts of its time, by the same ceilings as its rate.

>>> from netcalc.path import Path
>>> found = tcp_transfer(1e9, path=Path.parse("1 Gbit/s 20 ms"), window_bytes=65536)
>>> print(found.sentence)
The window limits this transfer: 610.5 s of 610.6 s (100%).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netcalc.checks import named_arguments, non_negative
from netcalc.explain.path_limits import (
    CONTROL_NAMES,
    Part,
    RateExplanation,
    assumed_line,
    part_lines,
    rate,
    written,
)
from netcalc.language import phrase
from netcalc.messages import Notice, sentence
from netcalc.models.sizes.headers import TIMESTAMP_BYTES
from netcalc.models.tcp import transfer_time
from netcalc.models.tcp.ceilings import CongestionControl
from netcalc.models.tcp.slow_start import INITIAL_WINDOW_SEGMENTS
from netcalc.models.tcp.timers import MIN_RTO_S
from netcalc.path import Path

_PARTS = {"handshake_s": "handshake", "start_s": "slow-start", "recovery_s": "recovery",
          "delivery_s": "latency"}  # fmt: skip
"""Parts of the model that are called the same whatever limits; the rest is called by its limit."""


class TcpPart(Part):
    """One part of the time of a TCP transfer."""

    __slots__ = ()

    @property
    def subject(self) -> str:
        """What it is, in a few words."""
        return sentence(f"limit-path-{self.name}", self.values)

    @property
    def arithmetic(self) -> str:
        """The numbers behind it."""
        name = self.name if self.name in _PARTS.values() else "rest"
        if self.name == "line" and "one_frame_bytes" in self.values:
            name = "frame"
        return sentence(f"how-tcp-{name}", self.values)

    @property
    def test(self) -> str:
        """The cheapest test that confirms it."""
        return sentence(f"confirm-path-{self.name}", self.values)


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
            "parts": [one.as_dict() for one in self.parts],
            "total_s": self.total_s,
            "congestion_control": self.congestion_control,
            "by_congestion_control": dict(self.by_congestion_control),
            "assumptions": [str(one) for one in self.assumptions],
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
    """
    size = float(non_negative("payload_bytes", payload_bytes))
    found = rate(
        path,
        rtt_s=rtt_s,
        window_bytes=window_bytes,
        loss_ratio=loss_ratio,
        mtu_bytes=mtu_bytes,
        reverse_bandwidth_bps=reverse_bandwidth_bps,
        congestion_control=congestion_control,
        flow_count=flow_count,
    )
    given: dict[str, Any] = {
        "bandwidth_bps": path.bottleneck_bps,
        "rtt_s": found.rtt_s,
        "loss_ratio": loss_ratio,
        "flow_count": flow_count,
        "mtu_bytes": mtu_bytes,
        "tcp_option_bytes": TIMESTAMP_BYTES,
    }
    if window_bytes is not None:
        given["window_bytes"] = window_bytes
    if reverse_bandwidth_bps is not None:
        given["reverse_bandwidth_bps"] = reverse_bandwidth_bps
    model = transfer_time.transfer_parts(size, congestion_control=congestion_control, **given)
    times = {name: float(time_s) for name, time_s in model._asdict().items()}
    total = sum(times.values())
    lowest = found.ceilings[0]
    values = {
        **lowest.values,
        "rate_bps": lowest.rate_bps,
        "how": lowest.arithmetic,
        "trips": round(times["start_s"] / found.rtt_s),
        "first_segments": INITIAL_WINDOW_SEGMENTS,
        "rto_s": found.rtt_s + MIN_RTO_S,
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
    if found.by_congestion_control:
        by_control = {
            name: float(transfer_time.transfer_time_s(size, congestion_control=name, **given))
            for name in found.by_congestion_control
        }
    parts = tuple(TcpPart(name, named[name], _share(named[name], total), values) for name in order)
    assumed = found.assumptions
    if not found.by_congestion_control:  # it says nothing of timeouts; slow start counts anyway
        assumed = (*assumed, Notice("assumed-tcp", lowest.values))
    return TcpTransfer(parts, total, found, congestion_control, by_control, assumed)


def _share(time_s: float, total_s: float) -> float:
    """Return a share; of an endless time all."""
    return 1.0 if time_s == total_s else time_s / total_s
