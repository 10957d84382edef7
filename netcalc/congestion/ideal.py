"""The ideal of a scenario: every flow has its max-min fair share of the link at every moment."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray
from netcalc.compare import ideal_shares
from netcalc.congestion.result import segment_bytes
from netcalc.scenario import Scenario


def payload_rate_bps(scenario: Scenario) -> float:
    """Return the payload rate of the full link: that of full packets without their headers.

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> round(payload_rate_bps(preset("wan-10m")))
    9653333
    """
    link = scenario.bottleneck
    return link.rate_bps * segment_bytes(scenario) / link.mtu_bytes


def fair_ends_s(scenario: Scenario) -> FloatArray:
    """Return when each flow would end if all had equal shares without a pause, shape (flow,). [s]

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> fair_ends_s(preset("two-flows")).tolist()
    [60.0, 42.0]
    """
    flows = scenario.flows
    start: FloatArray = np.array([flow.start_s for flow in flows])
    stop = [scenario.end_s if flow.stop_s is None else flow.stop_s for flow in flows]
    end: FloatArray = np.minimum(np.array(stop), scenario.end_s)
    left: FloatArray = np.array(
        [np.inf if flow.size_bytes is None else flow.size_bytes for flow in flows]
    )
    now, last = 0.0, scenario.end_s
    while now < last:
        runs = (start <= now) & (end > now)
        share = payload_rate_bps(scenario) / 8.0 / max(int(np.count_nonzero(runs)), 1)
        done = np.where(runs, now + left / share, np.inf)
        later = np.concatenate([start[start > now], end[runs], done[runs], [last]])
        then = float(later.min())
        left[runs] -= share * (then - now)
        end[runs & (done <= then)] = then
        now = then
    return end


def fair_shares_bps(scenario: Scenario) -> tuple[FloatArray, FloatArray]:
    """Return the max-min fair goodput of each flow over time, as steps.

    Returns
    -------
    time_s : numpy.ndarray
        Both sides of each step. [s]
    rate_bps : numpy.ndarray
        One row for each flow; nan while it does not run. [bit/s]
    """
    if not scenario.flows:
        return np.zeros(0), np.zeros((0, 0))
    start = np.array([flow.start_s for flow in scenario.flows])
    return ideal_shares(
        start,
        duration_s=fair_ends_s(scenario) - start,
        capacity_bps=payload_rate_bps(scenario),
    )
