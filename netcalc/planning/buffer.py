"""A buffer: for flows that share a line, for bursts of many senders, and the delay it adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.messages import Notice
from netcalc.models.queues.shared_buffer import incast_backlog_bytes
from netcalc.models.tcp.cubic import CUBIC_DECREASE
from netcalc.models.tcp.sharing import buffer_rule_bytes, drain_s, full_use_buffer_bdp
from netcalc.models.tcp.window import bdp_bytes
from netcalc.planning import page

SOURCES = (
    "Appenzeller, Keslassy and McKeown, SIGCOMM 2004, doi:10.1145/1015467.1015499",
    "Villamizar and Song, CCR 24 (1994), doi:10.1145/205511.205520",
    "Kleinrock, Queueing Systems vol. 2, 2.7 (bursts as a fluid)",
)
MANY_FLOWS = 100.0
"""Flows from which on their sawteeth are independent enough for the square root."""
_NEAR_STEP = (50.0, 400.0)
"""Flows between which the answer is said to depend on :data:`MANY_FLOWS`."""
_PACKET_BYTES = 1500.0
_LIMITS = ("flows_buffer_bytes", "burst_buffer_bytes")
_TABLE = {
    "buffer_bytes": "", "buffer_delay_s": "", "flows_buffer_bytes": "", "burst_buffer_bytes": "",
    "line_bdp_bytes": "", "buffer_packet_count": "", "burst_s": "",
}  # fmt: skip


@page.one_page
def buffer(
    bandwidth_bps: Any,
    *,
    rtt_s: Any,
    flow_count: Any = 1.0,
    sender_count: Any = 1.0,
    burst_bytes: Any = None,
    sender_bps: Any = None,
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> page.Plan:
    """Plan the buffer in front of a line, in bytes and in the delay that it adds when full.

    Parameters
    ----------
    bandwidth_bps : float or range
        Rate of the line. [bit/s]
    rtt_s : float or range
        Mean round-trip time of the flows without load. [s]
    flow_count : float or range
        Long flows that share the line. [1]
    sender_count : float or range
        Senders that start a burst at the same time. [1]
    burst_bytes : float or range, optional
        Burst of each of them. [byte]
    sender_bps : float or range, optional
        Rate of a sender; by default the rate of the line. [bit/s]
    draws, seed : int
        Of the ranges, as in :func:`netcalc.uncertain.spread`; 0 draws for its own number.
    truncate : bool
        Whether impossible values are left out of the ranges, with a note, instead of an error.

    Returns
    -------
    Plan
        Answers ``buffer_bytes``, ``buffer_delay_s`` (one way), ``flows_buffer_bytes``,
        ``line_bdp_bytes``, ``buffer_packet_count``; with bursts ``burst_buffer_bytes`` and
        ``burst_s``, and the larger of both buffers is the answer.

    Raises
    ------
    DomainError
        If a number is impossible.

    Examples
    --------
    The line of the abstract of Appenzeller: 10 Gbit/s, 250 ms and 50,000 flows need 11 Mbit.

    >>> round(8 * buffer(10e9, rtt_s=0.25, flow_count=50_000)["buffer_bytes"] / 1e6, 1)
    11.2
    """
    bursts = burst_bytes is not None
    inputs = page.with_units(
        bandwidth_bps=bandwidth_bps,
        rtt_s=rtt_s,
        flow_count=flow_count,
        sender_count=sender_count if bursts else None,
        burst_bytes=burst_bytes,
        sender_bps=sender_bps if bursts else None,
    )
    evaluated = page.evaluate(
        _answers,
        inputs,
        _TABLE,
        limits=_LIMITS,
        draws=draws,
        seed=seed,
        truncate=truncate,
    )
    columns, middle = evaluated.columns, evaluated.middle
    by_burst = evaluated.binding == "burst_buffer_bytes"
    few = middle["flow_count"] < MANY_FLOWS
    near = not by_burst and _NEAR_STEP[0] < middle["flow_count"] < _NEAR_STEP[1]
    values = {
        "buffer_bytes": evaluated.typical["buffer_bytes"],
        "delay_s": evaluated.typical["buffer_delay_s"],
        "flows": int(middle["flow_count"]),
        "senders": int(middle.get("sender_count", 1.0)),
        "burst_bytes": middle.get("burst_bytes", 0.0),
    }
    return evaluated.page(
        "buffer",
        Notice("plan-buffer-burst" if by_burst else "plan-buffer-flows", values),
        notices=(*evaluated.notices, *([_step_notice(middle)] if near else [])),
        steps=tuple(_steps(middle, columns, by_burst=by_burst)),
        assumptions=(
            Notice("assumes-buffer-few" if few else "assumes-buffer-many", {"most": MANY_FLOWS}),
            *([Notice("assumes-buffer-burst", {})] if bursts else []),
        ),
        chart=_chart(middle, columns),
        sources=SOURCES,
    )


def _answers(
    *,
    bandwidth_bps: ArrayLike,
    rtt_s: ArrayLike,
    flow_count: ArrayLike,
    sender_count: ArrayLike = 1.0,
    burst_bytes: ArrayLike | None = None,
    sender_bps: ArrayLike | None = None,
) -> dict[str, checks.FloatArray]:
    line = checks.positive("bandwidth_bps", bandwidth_bps)
    flows = checks.whole("flow_count", flow_count, low=1)
    # Below MANY_FLOWS they lose packets at the same time and behave as one.
    independent = np.where(flows < MANY_FLOWS, 1.0, flows)
    for_flows = buffer_rule_bytes(line, rtt_s=rtt_s, flow_count=independent)
    columns = {
        "flows_buffer_bytes": for_flows,
        "line_bdp_bytes": bdp_bytes(rtt_s, bandwidth_bps=line),
    }
    burst = np.zeros(())
    if burst_bytes is not None:
        senders = checks.whole("sender_count", sender_count, low=1)
        each = line if sender_bps is None else checks.positive("sender_bps", sender_bps)
        lasting = 8.0 * checks.non_negative("burst_bytes", burst_bytes) / each
        burst = incast_backlog_bytes(
            senders, burst_bytes=burst_bytes, sender_bps=each, bandwidth_bps=line
        )
        columns |= {"burst_buffer_bytes": burst, "burst_s": lasting}
    size = np.maximum(for_flows, burst)
    return {
        **columns,
        "buffer_bytes": size,
        "buffer_delay_s": drain_s(size, bandwidth_bps=line),
        "buffer_packet_count": checks.rounded_up(size / _PACKET_BYTES),
        page.BINDING: np.where(burst > for_flows, 1.0, 0.0),
    }


def _step_notice(middle: Mapping[str, float]) -> Notice:
    """Return a note on how far the answer falls where flows become independent."""
    around: dict[str, Any] = {**middle, "flow_count": np.array([MANY_FLOWS - 1.0, MANY_FLOWS])}
    sizes = _answers(**around)
    below, above = sizes["flows_buffer_bytes"].tolist()
    values = {"most": MANY_FLOWS, "below_bytes": below, "above_bytes": above}
    return Notice("buffer-near-step", {**values, "factor": below / above})


def _steps(
    middle: Mapping[str, float], columns: Mapping[str, float], *, by_burst: bool
) -> list[page.Step]:
    """Return what would let a smaller buffer do."""
    if by_burst:
        faster = {**middle, "bandwidth_bps": 10.0 * middle["bandwidth_bps"]}
        faster.setdefault("sender_bps", middle["bandwidth_bps"])
        size = float(_answers(**faster)["burst_buffer_bytes"])
        change = Notice("step-buffer-line", {"bandwidth_bps": faster["bandwidth_bps"]})
        return [page.Step(change=change, name="burst_buffer_bytes", value=size)]
    steps = []
    if middle["flow_count"] < MANY_FLOWS:
        share = float(full_use_buffer_bdp(CUBIC_DECREASE))
        size = share * columns["line_bdp_bytes"]
        change = Notice("step-buffer-cubic", {"share": share})
        steps.append(page.Step(change=change, name="buffer_bytes", value=size))
    return steps


def _chart(middle: Mapping[str, float], columns: Mapping[str, float]) -> page.Chart:
    highest = max(10.0 * middle["flow_count"], 1e4)
    flows = np.round(np.geomspace(1.0, highest, 200))
    flows = np.unique([*flows, MANY_FLOWS - 1.0, MANY_FLOWS])
    over_flows: dict[str, Any] = {**middle, "flow_count": flows}
    lines = {
        "flows_buffer_bytes": _answers(**over_flows)["flows_buffer_bytes"],
        "line_bdp_bytes": np.full(flows.size, columns["line_bdp_bytes"]),
    }
    if "burst_buffer_bytes" in columns:
        lines["burst_buffer_bytes"] = np.full(flows.size, columns["burst_buffer_bytes"])
    return page.Chart(
        x="flow_count", x_unit="1", y="buffer_bytes", y_unit="byte", at=flows, lines=lines,
        marks={"buffer_bytes": (middle["flow_count"], columns["buffer_bytes"])},
        log_x=True, log_y=True,
    )  # fmt: skip
