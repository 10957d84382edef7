"""A transfer: its time, what limits it, and what would make it faster."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from netcalc.messages import Notice
from netcalc.models.tcp.transfer_time import transfer_time_s
from netcalc.models.tcp.window import bdp_bytes
from netcalc.planning._evaluate import evaluate, inputs_as_dict, one_page
from netcalc.planning._sending import (
    LIMIT_TABLE,
    LIMITS,
    SOURCES,
    limited_by,
    of_given,
    path_inputs,
    sender_as_dict,
    sending,
    steps,
)
from netcalc.planning.page import Chart, Plan, quantity

_TABLE = {
    "transfer_s": ("s", ""),
    "goodput_bps": ("bit/s", "TCP payload"),
    **LIMIT_TABLE,
    "line_bdp_bytes": ("byte", ""),
}
_POINTS = 200


@one_page
def transfer(
    payload_bytes: Any,
    *,
    bandwidth_bps: Any,
    rtt_s: Any,
    loss_ratio: Any = None,
    window_bytes: Any = None,
    flow_count: Any = 1.0,
    congestion_control: str = "cubic",
    mtu_bytes: float = 1500.0,
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> Plan:
    """Plan a TCP transfer over Ethernet.

    Parameters
    ----------
    payload_bytes : float or range
        Bytes to transfer. [byte]
    bandwidth_bps : float or range
        Rate of the line. [bit/s]
    rtt_s : float or range
        Round-trip time of the idle path. [s]
    loss_ratio : float or range, optional
        Random loss of packets. [ratio]
    window_bytes : float or range, optional
        Largest window of a flow; without it the window is no limit. [byte]
    flow_count : float or range
        Flows that share the transfer. [1]
    congestion_control : {'cubic', 'reno', 'bbr'}
        Congestion control of the sender.
    mtu_bytes : float
        Size of the full IP packets. [byte]
    draws, seed : int
        Of the ranges, as in :func:`netcalc.uncertain.spread`; 0 draws for its own number.
    truncate : bool
        Whether impossible values are left out of the ranges, with a note, instead of an error.

    Returns
    -------
    Plan
        Answers ``transfer_s``, ``goodput_bps``, ``line_limit_bps``, ``start_s`` (all rounds that
        are not at the steady rate), ``line_bdp_bytes``; with a window ``window_limit_bps``, with a
        loss ``loss_limit_bps``. ``binding`` is one of the limits.

    Raises
    ------
    DomainError
        If a number is impossible.

    Examples
    --------
    >>> plan = transfer(1e9, bandwidth_bps=1e9, rtt_s=0.04, window_bytes=65536)
    >>> round(plan["transfer_s"]), plan.binding
    (610, 'window_limit_bps')
    """
    inputs = {
        "payload_bytes": (payload_bytes, "byte"),
        **path_inputs(
            bandwidth_bps=bandwidth_bps,
            rtt_s=rtt_s,
            flow_count=flow_count,
            loss_ratio=loss_ratio,
            window_bytes=window_bytes,
        ),
    }
    fixed: dict[str, Any] = {"congestion_control": congestion_control, "mtu_bytes": mtu_bytes}
    known = evaluate(
        partial(_answers, **fixed),
        inputs,
        _TABLE,
        limits=LIMITS,
        draws=draws,
        seed=seed,
        truncate=truncate,
    )
    found, typical = known.found, known.typical
    middle: dict[str, Any] = {**known.middle, **fixed}
    size = middle.pop("payload_bytes")
    values = {
        "size_bytes": size,
        "time_s": quantity(typical["transfer_s"], "s"),
        "goodput_bps": typical["goodput_bps"],
        "limit": limited_by(known.binding, typical),
    }
    return Plan(
        name="transfer",
        said=Notice(
            "plan-transfer" if np.isfinite(typical["transfer_s"]) else "plan-never", values
        ),
        inputs={
            **inputs_as_dict(inputs),
            **sender_as_dict(congestion_control, mtu_bytes),
        },
        answers=tuple(of_given(known.answers, inputs)),
        binding=known.binding,
        binding_shares=known.binding_shares,
        steps=steps(size, middle, name="transfer_s", time_s=found["transfer_s"]),
        assumptions=(
            Notice("assumes-transfer", {"congestion_control": congestion_control.upper()}),
        ),
        notices=known.notices,
        drivers=known.drivers,
        chart=chart(size, middle, found["transfer_s"]),
        sources=SOURCES,
    )


def _answers(**given: Any) -> dict[str, Any]:
    size = given.pop("payload_bytes")
    found: dict[str, Any] = sending(size, **given)
    found["line_bdp_bytes"] = bdp_bytes(given["rtt_s"], bandwidth_bps=given["bandwidth_bps"])
    return found


def chart(
    payload_bytes: float, middle: Mapping[str, Any], time_s: float, name: str = "transfer_s"
) -> Chart:
    """Return the time of a transfer over the rate of its line."""
    line = middle["bandwidth_bps"]
    rates = np.geomspace(line / 30.0, line * 30.0, _POINTS)
    shape: Any = {**middle, "bandwidth_bps": rates}
    return Chart(
        x="bandwidth_bps", x_unit="bit/s", y=name, y_unit="s", at=rates,
        lines={name: transfer_time_s(payload_bytes, **shape)},
        marks={"bandwidth_bps": (line, time_s)},
        log_x=True, log_y=True,
    )  # fmt: skip
