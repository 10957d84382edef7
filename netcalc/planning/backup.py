"""A backup: whether what changes fits its window, and what would make it fit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from netcalc.checks import at_least, non_negative, positive, ratio
from netcalc.messages import Notice
from netcalc.models.tcp.transfer_time import transfer_time_s
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
from netcalc.planning.page import Answer, Plan, Step, quantity
from netcalc.planning.transfer import chart

_TABLE = {
    "backup_s": ("s", ""),
    "window_utilization": ("ratio", ""),
    "changed_bytes": ("byte", ""),
    "goodput_bps": ("bit/s", "TCP payload"),
    "needed_bps": ("bit/s", "TCP payload"),
    "full_backup_s": ("s", ""),
    "largest_bytes": ("byte", ""),
    **LIMIT_TABLE,
}


@one_page
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
) -> Plan:
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
        Share of the data that changes from one backup to the next; 1 for a full one. [ratio]
    reduction_factor : float or range
        What compression and deduplication divide the changes by, at least 1. [1]
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
    inputs = {
        "data_bytes": (data_bytes, "byte"),
        "window_s": (window_s, "s"),
        "change_ratio": (change_ratio, "ratio"),
        "reduction_factor": (reduction_factor, "1"),
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
    answers = of_given(known.answers, inputs)
    used = next(one for one in answers if one.name == "window_utilization")
    if used.spread is not None:
        fit = float(np.mean(used.spread.samples <= 1.0))
        answers.insert(2, Answer(name="fit_ratio", value=fit, unit="ratio"))
    middle: dict[str, Any] = {**known.middle, **fixed}
    window, size = middle["window_s"], found["changed_bytes"]
    path = {n: v for n, v in middle.items() if n not in ("data_bytes", *_OF_DATA)}
    fits = typical["window_utilization"] <= 1.0
    values = {
        "changed_bytes": typical["changed_bytes"],
        "time_s": quantity(typical["backup_s"], "s"),
        "share": typical["window_utilization"],
        "window_s": quantity(window, "s"),
        "limit": limited_by(known.binding, typical),
    }
    return Plan(
        name="backup",
        said=Notice(_sentence(typical), values),
        inputs={
            **inputs_as_dict(inputs),
            **sender_as_dict(congestion_control, mtu_bytes),
        },
        answers=tuple(answers),
        binding=known.binding,
        binding_shares=known.binding_shares,
        steps=() if fits else _steps(size, path, found["backup_s"], window),
        assumptions=(
            Notice("assumes-transfer", {"congestion_control": congestion_control.upper()}),
            Notice("assumes-backup", {}),
        ),
        notices=known.notices,
        drivers=known.drivers,
        chart=chart(size, path, found["backup_s"], "backup_s"),
        sources=SOURCES,
    )


def _sentence(typical: Mapping[str, float]) -> str:
    """Return the code of the sentence of the page."""
    if not np.isfinite(typical["backup_s"]):
        return "plan-backup-never"
    return "plan-backup-fits" if typical["window_utilization"] <= 1.0 else "plan-backup-late"


_OF_DATA = ("window_s", "change_ratio", "reduction_factor")


def _answers(**given: Any) -> dict[str, Any]:
    data = positive("data_bytes", given.pop("data_bytes"))
    window = positive("window_s", given.pop("window_s"))
    share = ratio("change_ratio", given.pop("change_ratio"))
    factor = at_least("reduction_factor", given.pop("reduction_factor"), 1.0)
    changed = data * share / factor
    found: dict[str, Any] = sending(non_negative("data_bytes", changed), **given)
    time = found.pop("transfer_s")
    # What the steady rate carries in what is left of the window, in data that is kept.
    ceilings = (found[name] for name in LIMITS[:3])
    steady = np.minimum.reduce(np.broadcast_arrays(*ceilings))
    sent = np.maximum(window - found["start_s"], 0.0) * steady / 8.0
    with np.errstate(divide="ignore"):
        largest = np.where(share > 0.0, sent * factor / share, np.inf)
    return {
        **found,
        "backup_s": time,
        "window_utilization": time / window,
        "changed_bytes": changed,
        "needed_bps": 8.0 * changed / window,
        "full_backup_s": transfer_time_s(data / factor, **given),
        "largest_bytes": largest,
    }


def _steps(size: float, path: dict[str, Any], time_s: float, window_s: float) -> tuple[Step, ...]:
    """Return what would help; first what makes it fit by itself."""
    found = steps(size, path, name="backup_s", time_s=time_s)
    return tuple(sorted(found, key=lambda one: one.value > window_s))
