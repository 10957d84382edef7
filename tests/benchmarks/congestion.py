"""Theory of flows at a bottleneck against ns-3, and against live runs: each miss named.

The aims: goodput of each flow within 10 %, utilization within 0.03, mean and median queueing delay
within 20 %, or 0.5 of a packet's time; one scenario of two flows in 20 ms, 10,000 of them in 20 s.
Takes a minute or two with ns-3, and says so in a sentence without it; ``--live`` takes ten minutes
more, for which nothing else should run, and compares with the theory of Linux' stack.

Run: python tests/benchmarks/congestion.py [--python PYTHON_WITH_NS3] [--only WORDS] [--seeds 1]
     [--live]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from congestion_live import print_figures
from congestion_scenarios import FURTHER, LIVE, REASONS, SCENARIOS

from netcalc.congestion import Result, ns3, theory
from netcalc.errors import ExperimentError
from netcalc.scenario import Bottleneck, Flow, Scenario

GOODPUT, UTILIZATION, QUEUE = 0.10, 0.03, 0.20
"""The aims: relative, absolute, relative."""


@dataclass(frozen=True)
class Row:
    """A scenario, computed, and simulated or run."""

    name: str
    theory: Result
    judge: Result

    def misses(self) -> list[str]:
        """Return which aims are missed, by how much."""
        found = []
        for number, (own, other) in enumerate(
            zip(self.theory.goodput_bps, self.judge.goodput_bps, strict=True), 1
        ):
            if abs(own / other - 1) > GOODPUT:
                found.append(f"goodput {number} {own / other - 1:+.0%}")
        apart = self.theory.utilization - self.judge.utilization
        if abs(apart) > UTILIZATION:
            found.append(f"utilization {apart:+.3f}")
        packet = self.theory.scenario.bottleneck.mtu_bytes
        for which in ("mean", "median"):
            own = getattr(self.theory, f"queue_{which}_bytes")
            other = getattr(self.judge, f"queue_{which}_bytes")
            if abs(own - other) > max(QUEUE * other, 0.5 * packet):
                found.append(f"{which} queue {(own - other) / packet:+.1f} packets")
        return found

    def text(self) -> str:
        """Return the row."""
        own, other = self.theory, self.judge
        packet = own.scenario.bottleneck.mtu_bytes
        cells = [
            f"{self.name:38}",
            " ".join(f"{value / 1e6:.2f}" for value in own.goodput_bps),
            " ".join(f"{value / 1e6:.2f}" for value in other.goodput_bps),
            f"{own.utilization:.3f} {other.utilization:.3f}",
            f"{own.queue_mean_bytes / packet:.1f} {other.queue_mean_bytes / packet:.1f}",
            f"{own.queue_median_bytes / packet:.1f} {other.queue_median_bytes / packet:.1f}",
            f"{own.drop_count:.0f} {other.drop_count:.0f}",
        ]
        missed = self.misses()
        reasons = REASONS if self.judge.by == "ns3" else {}
        reason = next((text for word, text in reasons.items() if word in self.name), "")
        cells.append("met" if not missed else f"missed: {', '.join(missed)}. {reason}".strip())
        return " | ".join(cells)


def run_live(scenario: Scenario) -> Result:
    """Return the means of a live run."""
    from netcalc.congestion import live

    return live.run(scenario)


def simulated(scenario: Scenario, simulator: ns3.Simulator, seeds: int) -> Result:
    """Return ns-3's result; with random losses and several seeds the mean goodput of all."""
    results = [
        simulator.run(replace(scenario, seed=seed))
        for seed in range(1, (seeds if scenario.bottleneck.loss_ratio else 1) + 1)
    ]
    return replace(results[0], goodput_bps=np.mean([one.goodput_bps for one in results], axis=0))


def compare(
    scenarios: dict[str, Scenario],
    judge: Callable[[Scenario], Result],
    *,
    only: str,
    by: str,
    stack: str = "ns3",
) -> None:
    """Print the table, and how many rows meet each aim."""
    names = [name for name in scenarios if only in name]
    rows = []
    print(
        f"scenario | goodput, theory | {by} [Mbit/s] | utilization, both | mean queue, both"
        " | median queue, both [packet] | drops, both | verdict"
    )
    for name in names:
        scenario = scenarios[name]
        row = Row(name, theory.run(scenario, stack=stack), judge(scenario))
        rows.append(row)
        print(row.text(), flush=True)
    for aim in ("goodput", "utilization", "mean queue", "median queue"):
        met = sum(not any(miss.startswith(aim) for miss in row.misses()) for row in rows)
        print(f"{aim}: {met} of {len(rows)} within the aim")
    flows = [
        abs(own / other - 1) <= GOODPUT
        for row in rows
        for own, other in zip(row.theory.goodput_bps, row.judge.goodput_bps, strict=True)
    ]
    print(f"goodput of single flows: {sum(flows)} of {len(flows)} within the aim")


def speed() -> None:
    """Print how long one scenario of two flows takes, and 10,000."""
    flows = (Flow(algorithm="cubic", stop_s=60.0), Flow(algorithm="cubic", start_s=22, stop_s=42))
    link = Bottleneck.of(rate_bps=10e6, rtt_s=0.04, buffer_bdp=1)
    one = Scenario(bottleneck=link, flows=flows, end_s=60.0)
    theory.run(one)
    times = []
    for _ in range(9):
        start = time.perf_counter()
        theory.run(one)
        times.append(time.perf_counter() - start)
    print(f"two flows, 60 s: {1e3 * sorted(times)[4]:.1f} ms")
    packets = 8 + np.arange(10_000) % 125
    many = [
        replace(one, bottleneck=replace(link, buffer_bytes=1500.0 * count)) for count in packets
    ]
    start = time.perf_counter()
    theory.run_many(many)
    print(f"10,000 of them: {time.perf_counter() - start:.1f} s")


def main() -> None:
    """Compare, then time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="interpreter that has ns-3")
    parser.add_argument("--only", default="", help="words in the names of the scenarios")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of scenarios with losses")
    parser.add_argument("--live", action="store_true", help="also run scenarios live")
    given = parser.parse_args()
    try:
        with ns3.Simulator(given.python) as simulator:
            for scenarios in (SCENARIOS, FURTHER):
                judge = partial(simulated, simulator=simulator, seeds=given.seeds)
                compare(scenarios, judge, only=given.only, by="ns-3")
    except ExperimentError as error:
        print(error)
    if given.live:
        compare(LIVE, run_live, only=given.only, by="live", stack="linux")
        print_figures()
    speed()


if __name__ == "__main__":
    main()
