"""A live run's own figures: what one flow reaches of the framing ceiling, and what sampling costs.

The aims: goodput of one CUBIC flow within 3 % of 1448/1500 of the line at 10 and 100 Mbit/s with a
buffer of one bandwidth-delay product; sampling every 5 ms in less than 5 % of one processor.

Run: python tests/benchmarks/congestion_live.py [PAIRS [SECONDS]], or congestion.py --live; takes
two minutes, in which nothing else should run.
"""

from __future__ import annotations

import sys

import numpy as np

from netcalc.congestion import live
from netcalc.congestion.recording import Recording
from netcalc.scenario import Bottleneck, Flow, Scenario

CEILING = 1448 / 1500
"""Payload of a full packet. [ratio]"""
GOODPUT, CPU = 0.03, 0.05
"""The aims. [ratio]"""
SELDOM_S = 2.0
"""An interval of samples that costs nothing. [s]"""
PAIRS = 3
"""Comparisons, of which the median counts. [1]"""


def one_flow(rate_bps: float, end_s: float) -> Scenario:
    """Return one CUBIC flow over 40 ms and a buffer of one bandwidth-delay product."""
    link = Bottleneck.of(rate_bps=rate_bps, rtt_s=0.04, buffer_bdp=1)
    return Scenario(
        bottleneck=link, flows=(Flow(algorithm="cubic", stop_s=end_s),), end_s=end_s, warm_s=3.0
    )


def cpu_ratio(run: Recording) -> float:
    """Return the processor time of both hosts over the time of the run."""
    return sum(run.cpu_s) / run.ended_s


def verdict(found: float, aim: float) -> str:
    """Return whether a figure is within its aim."""
    return "met" if found <= aim else f"missed, the aim is {aim:.0%}"


def print_figures(pairs: int = PAIRS, end_s: float = 12.0) -> None:
    """Run and print both figures."""
    for rate_bps in (10e6, 100e6):
        run = live.record(one_flow(rate_bps, end_s))
        short = 1 - run.result().goodput_bps[0] / (rate_bps * CEILING)
        marks = ", ".join(notice.code for notice in run.meta.warnings) or "no mark"
        print(
            f"CUBIC at {rate_bps / 1e6:g} Mbit/s: {short:.2%} below the framing ceiling "
            f"({verdict(abs(short), GOODPUT)}); sender {run.cpu_s[0] / run.ended_s:.1%}, receiver "
            f"{run.cpu_s[1] / run.ended_s:.1%} of a processor; {marks}",
            flush=True,
        )
    for rate_bps in (10e6, 100e6):
        costs = []
        for _ in range(pairs):
            often, seldom = (
                live.record(one_flow(rate_bps, 5.0), sample_s=sample_s)
                for sample_s in (live.SAMPLE_S, SELDOM_S)
            )
            costs.append(cpu_ratio(often) - cpu_ratio(seldom))
        cost = float(np.median(costs))
        shown = ", ".join(f"{one:.1%}" for one in costs)
        print(
            f"sampling every {1e3 * live.SAMPLE_S:g} ms at {rate_bps / 1e6:g} Mbit/s: {cost:.1%} "
            f"of a processor more than every {SELDOM_S:g} s ({shown}; {verdict(cost, CPU)})",
            flush=True,
        )


if __name__ == "__main__":
    print_figures(*map(int, sys.argv[1:3]))
