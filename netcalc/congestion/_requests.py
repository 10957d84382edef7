"""Latency of requests beside flows: round trips of slow start, share of the link, repairs."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray
from netcalc.congestion._state import GOLDEN, INITIAL_WINDOW
from netcalc.congestion.result import Trajectory, segment_bytes
from netcalc.scenario import Requests, Scenario

REPAIR_ROUNDS = 2.0
"""Round trips that a lost packet costs: its probe (RFC 8985) or duplicate ACKs, and itself."""


def latencies_s(
    requests: Requests, scenario: Scenario, course: Trajectory, loss_ratio: float
) -> FloatArray:
    """Return the latency of each request of a loop, in their order. [s]

    A request takes a round trip for each doubling of the initial window that it needs, and the
    transmission at an equal share of the link; it does not load the link itself. Of the requests,
    those that the loss ratio hits take two round trips more.
    """
    link = scenario.bottleneck
    packets = float(np.ceil(requests.request_bytes / segment_bytes(scenario)))
    rounds = 1.0 + max(0.0, np.ceil(np.log2(packets / INITIAL_WINDOW + 1)) - 1.0)
    packet_s = 8 * link.mtu_bytes / link.rate_bps
    own_s = link.rtt_s + packet_s
    hit = 1.0 - (1.0 - loss_ratio) ** packets
    found = []
    time, number = requests.start_s, 0
    stop = min(requests.stop_s, scenario.end_s)
    starts = np.array([flow.start_s for flow in scenario.flows])
    stops = np.array([scenario.end_s if f.stop_s is None else f.stop_s for f in scenario.flows])
    times = course.time_s.tolist()
    rtts = course.rtt_s.tolist()
    at = 0
    while time < stop:
        while at < len(times) - 1 and times[at] < time:
            at += 1
        rtt = max(rtts[at], own_s) if times else own_s
        count = 1 + int(((starts <= time) & (time < stops)).sum())
        latency = rtt * rounds + (packets - 1) * packet_s * (count if rounds > 1 else 1)
        number += 1
        if (number * GOLDEN + 0.5) % 1.0 < hit:
            latency += REPAIR_ROUNDS * rtt
        if time >= scenario.warm_s:
            found.append(latency)
        time += latency
    return np.array(found)
