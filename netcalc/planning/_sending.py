"""What a TCP transfer of a plan is limited by, and what would make it faster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray
from netcalc.messages import Notice
from netcalc.models.tcp.ceilings import CongestionControl, path_ceilings
from netcalc.models.tcp.transfer_time import transfer_parts, transfer_time_s
from netcalc.planning._evaluate import BINDING, Inputs
from netcalc.planning.page import Answer, Step

LIMITS = ("line_limit_bps", "window_limit_bps", "loss_limit_bps", "start_s")
"""What can bind: the line, the window, the loss, or the rounds before the rate is reached."""
SOURCES = (
    "Cardwell, Savage and Anderson, INFOCOM 2000, doi:10.1109/INFCOM.2000.832574",
    "Mathis et al., CCR 27 (1997), doi:10.1145/263932.264023; Padhye et al., SIGCOMM 1998",
    "RFC 9438 (CUBIC); RFC 6349 (window and round trip)",
)
LIMIT_TABLE = {
    "line_limit_bps": ("bit/s", "TCP payload"),
    "window_limit_bps": ("bit/s", "TCP payload"),
    "loss_limit_bps": ("bit/s", "TCP payload"),
    "start_s": ("s", ""),
}
_WORTH = 0.9
"""A step is worth a line if the time shrinks at least to this share."""
_FASTER_LINE = 10.0
_MORE_FLOWS = 4.0
_LESS_LOSS = 10.0


def path_inputs(
    *, bandwidth_bps: Any, rtt_s: Any, flow_count: Any, loss_ratio: Any, window_bytes: Any
) -> dict[str, tuple[Any, str]]:
    """Return what is given of a path with its units; without a loss or a window, none of it."""
    given = {
        "bandwidth_bps": (bandwidth_bps, "bit/s"),
        "rtt_s": (rtt_s, "s"),
        "flow_count": (flow_count, "1"),
        "loss_ratio": (loss_ratio, "ratio"),
        "window_bytes": (window_bytes, "byte"),
    }
    return {name: known for name, known in given.items() if known[0] is not None}


def sender_as_dict(congestion_control: str, mtu_bytes: float) -> dict[str, dict[str, Any]]:
    """Return the settings of the sender as JSON has them beside the inputs."""
    return {
        "congestion_control": {"value": congestion_control, "unit": "text"},
        "mtu_bytes": {"value": mtu_bytes, "unit": "byte"},
    }


def of_given(answers: Iterable[Answer], inputs: Inputs) -> list[Answer]:
    """Return the answers without the limits by a loss or a window that is not given."""
    limits = {"loss_limit_bps": "loss_ratio", "window_limit_bps": "window_bytes"}
    return [one for one in answers if limits.get(one.name, "rtt_s") in inputs]


def sending(
    payload_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    rtt_s: ArrayLike,
    loss_ratio: ArrayLike = 0.0,
    window_bytes: ArrayLike = np.inf,
    flow_count: ArrayLike = 1.0,
    mtu_bytes: ArrayLike = 1500.0,
    congestion_control: CongestionControl = "cubic",
) -> dict[str, FloatArray]:
    """Return the time of a transfer, its ceilings, and the index of the one that binds."""
    shape: Any = {
        "bandwidth_bps": bandwidth_bps,
        "rtt_s": rtt_s,
        "loss_ratio": loss_ratio,
        "window_bytes": window_bytes,
        "flow_count": flow_count,
        "mtu_bytes": mtu_bytes,
        "congestion_control": congestion_control,
    }
    parts = transfer_parts(payload_bytes, **shape)
    found = path_ceilings(**shape)
    start = parts.handshake_s + parts.start_s + parts.recovery_s + parts.delivery_s
    whole = start + parts.steady_s
    # At a loss of 1 nothing passes the line either: the loss is named, as it comes first.
    ceilings = np.stack((found.loss_bps, found.window_bps, found.line_bps), axis=0)
    lowest = 2 - np.argmin(np.where(np.isnan(ceilings), np.inf, ceilings), axis=0)
    return {
        "transfer_s": whole,
        "goodput_bps": 8.0 * np.asarray(payload_bytes) / whole,
        "line_limit_bps": found.line_bps,
        "window_limit_bps": found.window_bps,
        "loss_limit_bps": found.loss_bps,
        "start_s": start,
        BINDING: np.where(start > parts.steady_s, 3.0, lowest.astype(float)),
    }


def limited_by(binding: str, answers: Mapping[str, float]) -> Notice:
    """Return which limit binds, as a part of a sentence.

    Slow start before the first loss may be faster than the steady rate under loss, and then the
    goodput of the whole is above that limit.
    """
    if binding == "loss_limit_bps" and answers["goodput_bps"] > answers[binding]:
        return Notice("limited-by-loss-after-start", {})
    code = f"limited-by-{binding.replace('_', '-')}"
    return Notice(code, {})


def changes(middle: Mapping[str, Any]) -> list[tuple[Notice, dict[str, Any]]]:
    """Return changes of a transfer, the cheapest first: settings, then lines and places."""
    line, rtt = middle["bandwidth_bps"], middle["rtt_s"]
    loss, flows = middle.get("loss_ratio", 0.0), middle.get("flow_count", 1.0)
    found: list[tuple[Notice, dict[str, Any]]] = []
    full = float(np.ceil(line * rtt / 8.0 / flows))
    if middle.get("window_bytes", np.inf) < full:
        found.append((Notice("step-window", {"window_bytes": full}), {"window_bytes": full}))
    if loss > 0.0 and middle["congestion_control"] != "bbr":
        found.append((Notice("step-bbr", {}), {"congestion_control": "bbr"}))
    more = _MORE_FLOWS * flows
    found.append((Notice("step-flows", {"flows": f"{more:,.0f}"}), {"flow_count": more}))
    if loss > 0.0:
        less = loss / _LESS_LOSS
        found.append((Notice("step-loss", {"loss_ratio": less}), {"loss_ratio": less}))
    faster = _FASTER_LINE * line
    found.append((Notice("step-line", {"bandwidth_bps": faster}), {"bandwidth_bps": faster}))
    found.append((Notice("step-near", {"rtt_s": rtt / 2.0}), {"rtt_s": rtt / 2.0}))
    return found


def steps(
    payload_bytes: float, middle: Mapping[str, Any], *, name: str, time_s: float
) -> tuple[Step, ...]:
    """Return the changes that are worth it, with the time of each."""
    found = []
    for change, new in changes(middle):
        shape: Any = {**middle, **new}
        other = float(transfer_time_s(payload_bytes, **shape))
        if np.isfinite(other) and other <= _WORTH * time_s:
            found.append(Step(change=change, name=name, value=other, unit="s"))
    return tuple(found)
