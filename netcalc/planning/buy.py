"""What to buy: a map of what limits a transfer, and the cheapest step out of the limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, choice
from netcalc.errors import DomainError
from netcalc.messages import Notice
from netcalc.planning._evaluate import BINDING, center, one_page
from netcalc.planning._sending import LIMITS, limited_by, sending
from netcalc.planning.page import BindingMap, Plan, Step
from netcalc.planning.transfer import transfer

AXES = {
    "bandwidth_bps": "bit/s",
    "rtt_s": "s",
    "loss_ratio": "ratio",
    "window_bytes": "byte",
    "flow_count": "1",
}
"""Inputs that a map can have along its axes."""
_DECADES = 2.0  # of an axis, to each side of the point
_POINTS = 161
_SEARCHED = np.geomspace(1.0, 1e4, 801)
_DIRECTIONS = (  # the cheapest first: a setting, more flows, a cleaner path, a line, a near server
    ("window_bytes", 1.0),
    ("congestion_control", 0.0),
    ("flow_count", 1.0),
    ("loss_ratio", -1.0),
    ("bandwidth_bps", 1.0),
    ("rtt_s", -1.0),
)
_WORTH = 0.95
_NEAREST = 10.0**-_DECADES
"""Share of a round trip below which no nearer server is offered, as none is on the map."""


@one_page
def buy(
    payload_bytes: Any,
    *,
    bandwidth_bps: Any,
    rtt_s: Any,
    loss_ratio: Any = None,
    window_bytes: Any = None,
    flow_count: Any = 1.0,
    congestion_control: str = "cubic",
    mtu_bytes: float = 1500.0,
    over: tuple[str, str] = ("bandwidth_bps", "rtt_s"),
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> Plan:
    """Plan what to buy for a transfer: which limit binds around it, and the cheapest way out.

    Parameters
    ----------
    payload_bytes, bandwidth_bps, rtt_s, loss_ratio, window_bytes, flow_count
        As of :func:`netcalc.planning.transfer`; the map is drawn around their medians.
    congestion_control, mtu_bytes, draws, seed, truncate
        As of :func:`netcalc.planning.transfer`.
    over : pair of str
        Inputs along the axes of the map, of :data:`AXES`; each must have a value.

    Returns
    -------
    Plan
        The answers of :func:`netcalc.planning.transfer`; its chart is a
        :class:`~netcalc.planning.BindingMap`, and its steps are the smallest changes after which
        another limit binds, the cheapest first.

    Raises
    ------
    DomainError
        If a number is impossible, or an axis has no value.

    Examples
    --------
    >>> plan = buy(1e9, bandwidth_bps=1e9, rtt_s=0.04, window_bytes=65536)
    >>> plan.binding, plan.steps[0].change.code
    ('window_limit_bps', 'step-window')
    """
    given = {
        "bandwidth_bps": bandwidth_bps,
        "rtt_s": rtt_s,
        "loss_ratio": loss_ratio,
        "window_bytes": window_bytes,
        "flow_count": flow_count,
    }
    fixed: dict[str, Any] = {"congestion_control": congestion_control, "mtu_bytes": mtu_bytes}
    for name in over:
        choice("over", name, tuple(AXES))
        if given[name] is None:
            raise DomainError("axis-without-value", name)
    if over[0] == over[1]:
        raise DomainError("one-axis-twice", "over", over[0])
    page = transfer(payload_bytes, **given, **fixed, draws=draws, seed=seed, truncate=truncate)
    middle: dict[str, Any] = {
        name: center(value, whole=name.endswith("_count"))
        for name, value in given.items()
        if value is not None
    }
    for name in over:
        if not middle[name] > 0.0:
            raise DomainError("axis-without-value", name)
    size = center(payload_bytes)
    steps = _steps(size, {**middle, **fixed}, page["transfer_s"])
    stated = {one.name: one.typical for one in page.answers}
    values = {"limit": limited_by(page.binding, stated), "step": "" if not steps else str(steps[0])}
    return Plan(
        name="buy",
        said=Notice("plan-buy" if steps else "plan-buy-nothing", values),
        inputs=page.inputs,
        answers=page.answers,
        binding=page.binding,
        binding_shares=page.binding_shares,
        steps=steps,
        assumptions=page.assumptions,
        notices=page.notices,
        drivers=page.drivers,
        chart=_map(size, middle, fixed, over),
        sources=page.sources,
    )


def _steps(size: float, middle: Mapping[str, Any], time_s: float) -> tuple[Step, ...]:
    """Return the smallest change of each input after which another limit binds."""
    here = int(sending(size, **middle)[BINDING])
    found = []
    for name, direction in _DIRECTIONS:
        if name == "congestion_control":
            if middle[name] == "bbr" or not middle.get("loss_ratio"):
                continue
            value: Any = "bbr"
        else:
            if not middle.get(name):
                continue
            factor = _out(size, middle, name, direction, here)
            if factor is None:
                continue
            value = middle[name] * factor**direction
            if name == "rtt_s" and value < _NEAREST * middle[name]:
                continue
            value = float(np.ceil(value)) if name == "flow_count" else value
        after = sending(size, **{**middle, name: value})
        time = float(after["transfer_s"])
        if int(after[BINDING]) != here and np.isfinite(time) and time <= _WORTH * time_s:
            found.append(Step(change=_said(name, value), name="transfer_s", value=time, unit="s"))
    return tuple(found)


def _out(
    size: float, middle: Mapping[str, Any], name: str, direction: float, here: int
) -> float | None:
    """Return the smallest factor of an input after which another limit binds."""
    values = middle[name] * _SEARCHED**direction
    values = np.ceil(values) if name == "flow_count" else values
    binding = sending(size, **{**middle, name: values})[BINDING]
    others = np.flatnonzero(binding != here)
    return float(_SEARCHED[others[0]]) if others.size else None


def _said(name: str, value: Any) -> Notice:
    match name:
        case "window_bytes":
            return Notice("step-window", {"window_bytes": value})
        case "congestion_control":
            return Notice("step-bbr", {})
        case "flow_count":
            return Notice("step-flows", {"flows": f"{value:,.0f}"})
        case "loss_ratio":
            return Notice("step-loss", {"loss_ratio": value})
        case "bandwidth_bps":
            return Notice("step-line", {"bandwidth_bps": value})
    return Notice("step-near", {"rtt_s": value})


def _map(
    size: float, middle: Mapping[str, float], fixed: Mapping[str, Any], over: tuple[str, str]
) -> BindingMap:
    axes = (_along(over[0], middle[over[0]]), _along(over[1], middle[over[1]]))
    grid = dict(zip(over, np.meshgrid(*axes), strict=True))
    index = sending(size, **{**middle, **fixed, **grid})[BINDING].astype(np.int64)
    point = (middle[over[0]], middle[over[1]])
    return BindingMap(
        x=over[0], x_unit=AXES[over[0]], y=over[1], y_unit=AXES[over[1]],
        x_at=axes[0], y_at=axes[1], limits=LIMITS, index=index,
        point=point, step=_nearest(axes, index, over, point),
    )  # fmt: skip


def _along(name: str, value: float) -> FloatArray:
    """Return the values along an axis, two decades to each side as far as there are such."""
    low, high = value / 10.0**_DECADES, value * 10.0**_DECADES
    if name == "loss_ratio":
        high = min(high, 0.5)
    if name == "flow_count":
        return np.unique(np.round(np.geomspace(1.0, max(high, 100.0), _POINTS)))
    return np.geomspace(low, high, _POINTS)


def _nearest(
    axes: tuple[FloatArray, FloatArray],
    index: NDArray[np.int64],
    over: tuple[str, str],
    point: tuple[float, float],
) -> tuple[float, float]:
    """Return the point with another limit along the cheaper one of the axes that has any.

    It is the nearest one of that axis, to its better side.
    """
    closest = [
        int(np.argmin(np.abs(np.log(at / one)))) for at, one in zip(axes, point, strict=True)
    ]
    lines = (index[closest[1]], index[:, closest[0]])
    here = index[closest[1], closest[0]]
    cheapest = [name for name, _ in _DIRECTIONS if name in over]
    for name in cheapest:
        axis = over.index(name)
        at = axes[axis]
        distance = dict(_DIRECTIONS)[name] * np.log(at / point[axis])
        distance = np.where((lines[axis] != here) & (distance > 0.0), distance, np.inf)
        nearest = int(np.argmin(distance))
        if np.isfinite(distance[nearest]):
            moved = float(at[nearest])
            return (moved, point[1]) if axis == 0 else (point[0], moved)
    return (np.nan, np.nan)
