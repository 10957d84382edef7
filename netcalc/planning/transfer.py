"""Transfers over a path: their time, what limits it, whether a backup fits, what to buy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, at_least, choice, non_negative, positive, ratio, rounded_up
from netcalc.errors import DomainError
from netcalc.messages import Notice
from netcalc.models.tcp.ceilings import path_ceilings
from netcalc.models.tcp.transfer_time import transfer_parts, transfer_time_s
from netcalc.models.tcp.window import bdp_bytes
from netcalc.planning import page
from netcalc.planning.link import next_size_bps

LIMITS = ("line_limit_bps", "window_limit_bps", "loss_limit_bps", "start_s")
"""What can bind: the line, the window, the loss, or the rounds before the rate is reached."""
SOURCES = (
    "Cardwell, Savage and Anderson, INFOCOM 2000, doi:10.1109/INFCOM.2000.832574",
    "Mathis et al., CCR 27 (1997), doi:10.1145/263932.264023; Padhye et al., SIGCOMM 1998",
    "RFC 9438 (CUBIC); RFC 6349 (window and round trip)",
)
_LIMIT_TABLE = {
    "line_limit_bps": "TCP payload", "window_limit_bps": "TCP payload",
    "loss_limit_bps": "TCP payload", "start_s": "",
}  # fmt: skip
_NEEDS = {"loss_limit_bps": "loss_ratio", "window_limit_bps": "window_bytes"}
"""Limits of which there are none without an input."""
_WORTH = 0.9
"""A step is worth a line if the time shrinks at least to this share."""
_FASTER_LINE = 10.0
_MORE_FLOWS = 4.0
_MOST_FLOWS = 16.0
"""Flows that a step asks for at most: what aria2 opens to one server, and few programs more."""
_NEAR_S = 0.02
"""Round trip below which no nearer server is offered: 2,000 km of fibre, there and back. [s]"""
_LESS_LOSS = 10.0
_CHANGES = {  # the cheapest first: a setting, more flows, a cleaner path, a line, a near server
    "window_bytes": (1.0, "step-window"),
    "congestion_control": (0.0, "step-bbr"),
    "flow_count": (1.0, "step-flows"),
    "loss_ratio": (-1.0, "step-loss"),
    "bandwidth_bps": (1.0, "step-line"),
    "rtt_s": (-1.0, "step-near"),
}
"""Inputs that a step changes: whether more or less of them is better, and what the step says."""


def _evaluate_path(
    function: Callable[..., Mapping[str, ArrayLike]],
    inputs: page.Inputs,
    table: page.Layers,
    sender: page.Inputs,
    **draws: Any,
) -> tuple[page.Evaluated, dict[str, Any]]:
    """Return the answers, and the medians of the inputs with the settings of the sender."""
    settings = {name: value for name, (value, _) in sender.items()}
    page.mtu(settings["mtu_bytes"])
    there = {
        name: layer
        for name, layer in table.items()
        if inputs[_NEEDS.get(name, "rtt_s")][0] is not None
    }
    evaluated = page.evaluate(partial(function, **settings), inputs, there, limits=LIMITS, **draws)
    return evaluated, {**evaluated.middle, **settings}


def sending(payload_bytes: ArrayLike, **path: Any) -> dict[str, FloatArray]:
    """Return the time of a transfer, its ceilings, and the index of the one that binds.

    ``path`` is what :func:`netcalc.models.tcp.transfer_time.transfer_parts` takes.
    """
    parts = transfer_parts(payload_bytes, **path)
    limits = path_ceilings(**path)
    start = parts.handshake_s + parts.start_s + parts.recovery_s + parts.delivery_s
    whole = start + parts.steady_s
    # At a loss of 1 nothing passes the line either: the loss is named, as it comes first.
    ceilings = np.stack((limits.loss_bps, limits.window_bps, limits.line_bps), axis=0)
    lowest = 2 - np.argmin(np.where(np.isnan(ceilings), np.inf, ceilings), axis=0)
    return {
        "transfer_s": whole,
        "goodput_bps": 8.0 * np.asarray(payload_bytes) / whole,
        "line_limit_bps": limits.line_bps,
        "window_limit_bps": limits.window_bps,
        "loss_limit_bps": limits.loss_bps,
        "start_s": start,
        page.BINDING: np.where(start > parts.steady_s, 3.0, lowest.astype(float)),
    }


def _limited_by(binding: str, answers: Mapping[str, float]) -> Notice:
    """Return which limit binds, as a part of a sentence.

    Slow start before the first loss may be faster than the steady rate under loss, and then the
    goodput of the whole is above that limit.
    """
    if binding == "loss_limit_bps" and answers["goodput_bps"] > answers[binding]:
        return Notice("limited-by-loss-after-start", {})
    code = f"limited-by-{binding.replace('_', '-')}"
    return Notice(code, {})


def _changes(middle: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return inputs of a transfer with other values, the cheapest first."""
    line, rtt = middle["bandwidth_bps"], middle["rtt_s"]
    loss, flows = middle.get("loss_ratio", 0.0), middle.get("flow_count", 1.0)
    window = float(rounded_up(line * rtt / 8.0 / flows))
    changes: list[tuple[str, Any]] = []
    if middle.get("window_bytes", np.inf) < window:
        changes.append(("window_bytes", window))
    if loss > 0.0 and middle["congestion_control"] != "bbr":
        changes.append(("congestion_control", "bbr"))
    counts = sorted({_MORE_FLOWS * flows, _MOST_FLOWS})
    changes += [("flow_count", count) for count in counts if flows < count <= _MOST_FLOWS]
    if loss > 0.0:
        changes.append(("loss_ratio", loss / _LESS_LOSS))
    changes.append(("bandwidth_bps", float(next_size_bps(_FASTER_LINE * line))))
    return [*changes, ("rtt_s", rtt / 2.0)] if rtt >= _NEAR_S else changes


def _step(name: str, value: Any, time_s: float, answer: str = "transfer_s") -> page.Step:
    """Return the step that changes an input to a value, with the time after it."""
    values = {} if name == "congestion_control" else {name: value}
    if name == "flow_count":
        values = {"flows": f"{value:,.0f}"}
    return page.Step(change=Notice(_CHANGES[name][1], values), name=answer, value=time_s)


def _steps(
    payload_bytes: float, middle: Mapping[str, Any], *, answer: str, time_s: float, binding: str
) -> tuple[page.Step, ...]:
    """Return the changes that are worth it, with the time of each.

    More flows are one step, the fewest that are worth it. Another place is none where a change
    here does as much, unless the round trips of the start limit the transfer.
    """
    steps: dict[str, page.Step] = {}
    for name, value in _changes(middle):
        changed: Any = {**middle, name: value}
        after_s = float(transfer_time_s(payload_bytes, **changed))
        before_s = steps[name].value if name in steps else time_s
        if name == "rtt_s" and binding != "start_s":
            before_s = min([time_s, *(step.value for step in steps.values())])
        if np.isfinite(after_s) and after_s <= _WORTH * before_s:
            steps[name] = _step(name, value, after_s, answer)
    return tuple(steps.values())


_TRANSFER_TABLE = {
    "transfer_s": "", "goodput_bps": "TCP payload", **_LIMIT_TABLE, "line_bdp_bytes": "",
}  # fmt: skip
_CHART_POINTS = 200


@page.one_page
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
) -> page.Plan:
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
    inputs = page.with_units(
        payload_bytes=payload_bytes,
        bandwidth_bps=bandwidth_bps,
        rtt_s=rtt_s,
        flow_count=flow_count,
        loss_ratio=loss_ratio,
        window_bytes=window_bytes,
    )
    sender = page.with_units(congestion_control=congestion_control, mtu_bytes=mtu_bytes)
    evaluated, middle = _evaluate_path(
        _transfer_answers, inputs, _TRANSFER_TABLE, sender,
        draws=draws, seed=seed, truncate=truncate,
    )  # fmt: skip
    typical, time_s = evaluated.typical, evaluated.columns["transfer_s"]
    size = middle.pop("payload_bytes")
    values = {
        "size_bytes": size,
        "time_s": page.quantity(typical["transfer_s"], "s"),
        "goodput_bps": typical["goodput_bps"],
        "limit": _limited_by(evaluated.binding, typical),
    }
    ends = np.isfinite(typical["transfer_s"])
    return evaluated.page(
        "transfer",
        Notice("plan-transfer" if ends else "plan-never", values),
        settings=sender,
        steps=_steps(size, middle, answer="transfer_s", time_s=time_s, binding=evaluated.binding),
        assumptions=(
            Notice("assumes-transfer", {"congestion_control": congestion_control.upper()}),
        ),
        chart=_chart(size, middle, time_s),
        sources=SOURCES,
    )


def _transfer_answers(**arguments: Any) -> dict[str, Any]:
    answers: dict[str, Any] = sending(arguments.pop("payload_bytes"), **arguments)
    rtt_s, bandwidth_bps = arguments["rtt_s"], arguments["bandwidth_bps"]
    return answers | {"line_bdp_bytes": bdp_bytes(rtt_s, bandwidth_bps=bandwidth_bps)}


def _chart(
    payload_bytes: float, middle: Mapping[str, Any], time_s: float, name: str = "transfer_s"
) -> page.Chart:
    """Return the time of a transfer over the rate of its line."""
    line = middle["bandwidth_bps"]
    rates = np.geomspace(line / 30.0, line * 30.0, _CHART_POINTS)
    shape: Any = {**middle, "bandwidth_bps": rates}
    return page.Chart(
        x="bandwidth_bps", x_unit="bit/s", y=name, y_unit="s", at=rates,
        lines={name: transfer_time_s(payload_bytes, **shape)},
        marks={"bandwidth_bps": (line, time_s)},
        log_x=True, log_y=True,
    )  # fmt: skip


_BACKUP_TABLE = {
    "backup_s": "", "window_utilization": "", "changed_bytes": "", "goodput_bps": "TCP payload",
    "needed_bps": "TCP payload", "full_backup_s": "", "largest_bytes": "", **_LIMIT_TABLE,
}  # fmt: skip


@page.one_page
def backup(
    data_bytes: Any,
    *,
    window_s: Any,
    bandwidth_bps: Any,
    rtt_s: Any,
    change_ratio: Any = 1.0,
    reduction_factor: Any = 1.0,
    loss_ratio: Any = None,
    window_bytes: Any = None,
    flow_count: Any = 1.0,
    congestion_control: str = "cubic",
    mtu_bytes: float = 1500.0,
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> page.Plan:
    """Plan a backup over a line in a window of time.

    Parameters
    ----------
    data_bytes : float or range
        Data that is kept. [byte]
    window_s : float or range
        Time in which the backup must end. [s]
    bandwidth_bps : float or range
        Rate of the line that the backup may use. [bit/s]
    rtt_s : float or range
        Round-trip time of the idle path. [s]
    change_ratio : float or range
        Share of the data that changes from one backup to the next; 100 % for a full backup.
        [ratio]
    reduction_factor : float or range
        Factor by which compression and deduplication shrink the changes, at least 1. [1]
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
        Answers ``backup_s``, ``window_utilization`` (above 1 it does not fit), ``changed_bytes``
        (sent), ``goodput_bps``, ``needed_bps``, ``full_backup_s``, ``largest_bytes`` (data that
        fits, at this change rate), ``line_limit_bps``, ``start_s``; with a window
        ``window_limit_bps``, with a loss ``loss_limit_bps``, with ranges ``fit_ratio``: the share
        of the draws in which it fits.

    Raises
    ------
    DomainError
        If a number is impossible.

    Examples
    --------
    >>> plan = backup(1e12, window_s=8 * 3600, bandwidth_bps=1e9, rtt_s=0.02, change_ratio=0.1)
    >>> round(plan["window_utilization"], 3), plan.binding
    (0.03, 'line_limit_bps')
    """
    inputs = page.with_units(
        data_bytes=data_bytes,
        window_s=window_s,
        change_ratio=change_ratio,
        reduction_factor=reduction_factor,
        bandwidth_bps=bandwidth_bps,
        rtt_s=rtt_s,
        flow_count=flow_count,
        loss_ratio=loss_ratio,
        window_bytes=window_bytes,
    )
    sender = page.with_units(congestion_control=congestion_control, mtu_bytes=mtu_bytes)
    evaluated, middle = _evaluate_path(
        _backup_answers, inputs, _BACKUP_TABLE, sender, draws=draws, seed=seed, truncate=truncate
    )
    answers, typical = list(evaluated.answers), evaluated.typical
    used = evaluated.answer("window_utilization")
    if used.spread is not None:
        fit = float(np.mean(used.spread.samples <= 1.0))
        answers.insert(2, page.Answer(name="fit_ratio", value=fit))
    window, size = middle["window_s"], evaluated.columns["changed_bytes"]
    time_s = evaluated.columns["backup_s"]
    path = {name: value for name, value in middle.items() if name not in _OF_DATA}
    values = {
        "changed_bytes": typical["changed_bytes"],
        "time_s": page.quantity(typical["backup_s"], "s"),
        "share": typical["window_utilization"],
        "window_s": page.quantity(window, "s"),
        "limit": _limited_by(evaluated.binding, typical),
    }
    fits = typical["window_utilization"] <= 1.0
    code = "plan-backup-fits" if fits else "plan-backup-late"
    if not np.isfinite(typical["backup_s"]):
        code = "plan-backup-never"
    # What makes it fit by itself comes first.
    steps = sorted(
        _steps(size, path, answer="backup_s", time_s=time_s, binding=evaluated.binding),
        key=lambda step: step.value > window,
    )
    return evaluated.page(
        "backup",
        Notice(code, values),
        settings=sender,
        answers=tuple(answers),
        steps=() if fits else tuple(steps),
        assumptions=(
            Notice("assumes-transfer", {"congestion_control": congestion_control.upper()}),
            Notice("assumes-backup", {}),
        ),
        chart=_chart(size, path, time_s, "backup_s"),
        sources=SOURCES,
    )


_OF_DATA = ("data_bytes", "window_s", "change_ratio", "reduction_factor")


def _backup_answers(**arguments: Any) -> dict[str, Any]:
    data = positive("data_bytes", arguments.pop("data_bytes"))
    window = positive("window_s", arguments.pop("window_s"))
    share = ratio("change_ratio", arguments.pop("change_ratio"))
    factor = at_least("reduction_factor", arguments.pop("reduction_factor"), 1.0)
    changed = data * share / factor
    answers: dict[str, Any] = sending(non_negative("data_bytes", changed), **arguments)
    time = answers.pop("transfer_s")
    # What the steady rate carries in what is left of the window, in data that is kept.
    ceilings = (answers[name] for name in LIMITS[:3])
    steady = np.minimum.reduce(np.broadcast_arrays(*ceilings))
    sent = np.maximum(window - answers["start_s"], 0.0) * steady / 8.0
    with np.errstate(divide="ignore"):
        largest = np.where(share > 0.0, sent * factor / share, np.inf)
    return {
        **answers,
        "backup_s": time,
        "window_utilization": time / window,
        "changed_bytes": changed,
        "needed_bps": 8.0 * changed / window,
        "full_backup_s": transfer_time_s(data / factor, **arguments),
        "largest_bytes": largest,
    }


AXES = ("bandwidth_bps", "rtt_s", "loss_ratio", "window_bytes", "flow_count")
"""Inputs that a map can have along its axes."""
_DECADES = 2.0  # of an axis, to each side of the point
_MAP_POINTS = 161
_SEARCHED = np.geomspace(1.0, 1e4, 801)
_WORTH_BUYING = 0.95
_NEAREST = 0.25
"""Share of a round trip below which no nearer server is offered: there are few so near."""


@page.one_page
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
) -> page.Plan:
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
    path = dict(
        zip(AXES, (bandwidth_bps, rtt_s, loss_ratio, window_bytes, flow_count), strict=True)
    )
    sender: dict[str, Any] = {"congestion_control": congestion_control, "mtu_bytes": mtu_bytes}
    for name in over:
        choice("over", name, AXES)
        if path[name] is None:
            raise DomainError("axis-without-value", name)
    if over[0] == over[1]:
        raise DomainError("one-axis-twice", "over", over[0])
    transfer_plan = transfer(
        payload_bytes, **path, **sender, draws=draws, seed=seed, truncate=truncate
    )
    middle: dict[str, Any] = {
        name: page.center(value, whole=name.endswith("_count"))
        for name, value in path.items()
        if value is not None
    }
    for name in over:
        if not middle[name] > 0.0:
            raise DomainError("axis-without-value", name)
    middle |= sender
    size = page.center(payload_bytes)
    steps = _ways_out(size, middle, transfer_plan["transfer_s"])
    stated = {answer.name: answer.typical for answer in transfer_plan.answers}
    values = {
        "limit": _limited_by(transfer_plan.binding, stated),
        "step": str(steps[0]) if steps else "",
    }
    return replace(
        transfer_plan,
        name="buy",
        said=Notice("plan-buy" if steps else "plan-buy-nothing", values),
        steps=steps,
        chart=_map(size, middle, over),
    )


def _ways_out(size: float, middle: Mapping[str, Any], time_s: float) -> tuple[page.Step, ...]:
    """Return the smallest change of each input after which another limit binds."""
    here = int(sending(size, **middle)[page.BINDING])
    steps = []
    for name, (direction, _) in _CHANGES.items():
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
            if name == "rtt_s" and (middle[name] < _NEAR_S or value < _NEAREST * middle[name]):
                continue
            value = float(np.ceil(value)) if name == "flow_count" else value
            if name == "flow_count" and value > _MOST_FLOWS:
                continue
        after = sending(size, **{**middle, name: value})
        after_s = float(after["transfer_s"])
        moved = int(after[page.BINDING]) != here
        if moved and np.isfinite(after_s) and after_s <= _WORTH_BUYING * time_s:
            steps.append(_step(name, value, after_s))
    return tuple(steps)


def _out(
    size: float, middle: Mapping[str, Any], name: str, direction: float, here: int
) -> float | None:
    """Return the smallest factor of an input after which another limit binds."""
    values = middle[name] * _SEARCHED**direction
    values = np.ceil(values) if name == "flow_count" else values
    binding = sending(size, **{**middle, name: values})[page.BINDING]
    others = np.flatnonzero(binding != here)
    return float(_SEARCHED[others[0]]) if others.size else None


def _map(size: float, middle: Mapping[str, Any], over: tuple[str, str]) -> page.BindingMap:
    axes = (_along(over[0], middle[over[0]]), _along(over[1], middle[over[1]]))
    grid = dict(zip(over, np.meshgrid(*axes), strict=True))
    index = sending(size, **{**middle, **grid})[page.BINDING].astype(np.int64)
    point = (middle[over[0]], middle[over[1]])
    return page.BindingMap(
        x=over[0], x_unit=page.unit_of(over[0]), y=over[1], y_unit=page.unit_of(over[1]),
        x_at=axes[0], y_at=axes[1], limits=LIMITS, index=index,
        point=point, step=_nearest(axes, index, over, point),
    )  # fmt: skip


def _along(name: str, value: float) -> FloatArray:
    """Return the values along an axis, two decades to each side as far as there are such."""
    low, high = value / 10.0**_DECADES, value * 10.0**_DECADES
    if name == "loss_ratio":
        high = min(high, 0.5)
    if name == "flow_count":
        return np.unique(np.round(np.geomspace(1.0, max(high, 100.0), _MAP_POINTS)))
    return np.geomspace(low, high, _MAP_POINTS)


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
        int(np.argmin(np.abs(np.log(at / own)))) for at, own in zip(axes, point, strict=True)
    ]
    lines = (index[closest[1]], index[:, closest[0]])
    here = index[closest[1], closest[0]]
    for name in (name for name in _CHANGES if name in over):
        axis = over.index(name)
        at = axes[axis]
        distance = _CHANGES[name][0] * np.log(at / point[axis])
        distance = np.where((lines[axis] != here) & (distance > 0.0), distance, np.inf)
        nearest = int(np.argmin(distance))
        if np.isfinite(distance[nearest]):
            moved = float(at[nearest])
            return (moved, point[1]) if axis == 0 else (point[0], moved)
    return (np.nan, np.nan)
