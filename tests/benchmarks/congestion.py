"""Theory of flows at a bottleneck against ns-3, and against live runs: each miss named.

The aims: goodput of each flow within 10 %, utilization within 0.03, mean and median queueing delay
within 20 %, or 0.5 of a packet's time, p99 of requests within 30 %, or their mean where they are
too few; one scenario of two flows in 20 ms, 10,000 of them in 20 s. The reason of a miss is
measured: ns-3 simulates the scenario again, with starts some milliseconds later or other seeds, and
what spreads there no theory can meet. Live, each scenario that is missed is run again in the same
way; a flow alone is run again as it is.

Takes ten minutes with ns-3, and says so in a sentence without it; ``--live`` takes an hour
more, for which nothing else should run, and compares with the theory of Linux' stack. Each live row
has the marks of its runs.

Run: python tests/benchmarks/congestion.py [--python PYTHON_WITH_NS3]
     [--sets tuned,further,requests,drawn] [--drawn-seed 20261] [--only WORDS] [--again 2] [--live]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
from congestion_live import print_figures
from congestion_scenarios import FURTHER, LIVE, ONE_FLOW, SCENARIOS, drawn

from netcalc.checks import FloatArray
from netcalc.congestion import Result, ns3, theory
from netcalc.errors import ExperimentError
from netcalc.scenario import Bottleneck, Flow, Scenario

GOODPUT, UTILIZATION, QUEUE, REQUESTS = 0.10, 0.03, 0.20, 0.30
"""The aims: relative, absolute, relative, relative."""

DROPS, FEW_DROPS = 0.30, 3.0
"""The aim for dropped packets, relative, and a difference that is always met; counted by itself."""

SHIFT_S = 0.0137
"""What a flow starts later in a repetition, for each flow before it: no part of a round trip."""


@dataclass(frozen=True)
class Row:
    """A scenario, computed, and simulated or run."""

    name: str
    theory: Result
    judge: Result
    again: tuple[Result, ...] = ()

    def misses(self) -> list[str]:
        """Return which aims are missed, by how much."""
        found = []
        for number, apart in enumerate(self._apart(self.judge), 1):
            if abs(apart) > GOODPUT:
                found.append(f"goodput {number} {apart:+.0%}")
        apart = self.theory.utilization - self.judge.utilization
        if abs(apart) > UTILIZATION:
            found.append(f"utilization {apart:+.3f}")
        packet = self.theory.scenario.bottleneck.mtu_bytes
        for which in ("mean", "median"):
            own = getattr(self.theory, f"queue_{which}_bytes")
            other = getattr(self.judge, f"queue_{which}_bytes")
            if abs(own - other) > max(QUEUE * other, 0.5 * packet):
                found.append(f"{which} queue {(own - other) / packet:+.1f} packets")
        return found + self._request_misses()

    def _request_misses(self) -> list[str]:
        """Return which p99 of requests are missed, or which mean if so few have none."""
        found = []
        pairs = zip(self.theory.requests or (), self.judge.requests or (), strict=True)
        for number, (own, other) in enumerate(pairs, 1):
            name, one, two = "p99", own.percentile_s(0.99), other.percentile_s(0.99)
            if np.isnan(one / two):
                name, one, two = "mean", own.mean_s, other.mean_s
            if abs(one / two - 1) > REQUESTS:
                found.append(f"requests {number} {name} {one / two - 1:+.0%}")
        return found

    def _requests_text(self) -> str:
        """Return median and p99 of the requests of both, and the mean [ms]."""
        pairs = zip(self.theory.requests or (), self.judge.requests or (), strict=True)
        return ", ".join(
            f"p50 {1e3 * own.percentile_s(0.5):.0f} {1e3 * other.percentile_s(0.5):.0f}"
            f" p99 {1e3 * own.percentile_s(0.99):.0f} {1e3 * other.percentile_s(0.99):.0f}"
            f" mean {1e3 * own.mean_s:.0f} {1e3 * other.mean_s:.0f}"
            for own, other in pairs
        )

    def has_drops(self) -> bool:
        """Return whether the dropped packets are within their aim."""
        own, other = self.theory.drop_count, self.judge.drop_count
        return abs(own - other) <= max(DROPS * other, FEW_DROPS)

    def reasons(self) -> list[str]:
        """Return what was measured about the misses: how far the judge is from itself."""
        marks = [mark for one in (self.judge, *self.again) for mark in one.about.get("marks", ())]
        found = [f"marks: {', '.join(dict.fromkeys(marks))}"] if marks else []
        if not self.again:
            return found
        moved = [np.abs(_apart(one, self.judge)) for one in self.again]
        spread = np.max(moved, axis=0)
        missed = np.abs(self._apart(self.judge)) > GOODPUT
        unsteady = missed & (spread > GOODPUT)
        if unsteady.any():
            most = spread[unsteady].max()
            found.append(f"its own goodput moves by {most:.0%} in {len(self.again)} repetitions")
        if (missed & ~unsteady).any():
            most = spread[missed & ~unsteady].max()
            found.append(f"the model: its own goodput moves by {most:.0%} only")
        if any(miss.startswith("requests") for miss in self.misses()):
            moves = [_requests_apart(one, self.judge) for one in self.again]
            found.append(f"its own requests move by {max(moves):.0%}")
        if any("utilization" in miss or "queue" in miss for miss in self.misses()):
            moves = [abs(one.utilization - self.judge.utilization) for one in self.again]
            queue = [
                abs(one.queue_mean_bytes / self.judge.queue_mean_bytes - 1) for one in self.again
            ]
            found.append(
                f"its own utilization moves by {max(moves):.3f}, queue by {max(queue):.0%}"
            )
        return found

    def predicts_itself(self) -> bool:
        """Return whether each repetition has the goodput of each flow within the aim."""
        return all((np.abs(_apart(one, self.judge)) <= GOODPUT).all() for one in self.again)

    def _apart(self, judge: Result) -> FloatArray:
        return _apart(self.theory, judge)

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
        if own.requests:
            cells.append(self._requests_text())
        missed = self.misses()
        if missed:
            reason = (
                "; ".join(self.reasons()) or "the model: nothing in the judge is left to chance"
            )
            cells.append(f"missed: {', '.join(missed)}. {reason}")
        else:
            cells.append("met")
        return " | ".join(cells)


def _apart(one: Result, other: Result) -> FloatArray:
    """Return the relative difference of the goodputs; nothing in both is no difference."""
    both = np.maximum(one.goodput_bps, other.goodput_bps)
    return np.where(both > 0, one.goodput_bps / np.maximum(other.goodput_bps, 1.0) - 1, 0.0)


def _requests_apart(one: Result, other: Result) -> float:
    """Return the largest relative difference of the p99 of requests, or of means without one."""
    pairs = zip(one.requests or (), other.requests or (), strict=True)
    ends = [(a.percentile_s(0.99) / b.percentile_s(0.99), a.mean_s / b.mean_s) for a, b in pairs]
    return max(abs((mean if np.isnan(p99) else p99) - 1) for p99, mean in ends)


def run_live(scenario: Scenario) -> Result:
    """Return the means of a live run."""
    from netcalc.congestion import live

    run = live.record(scenario)
    found = run.result()
    return replace(found, about={**found.about, "marks": [one.code for one in run.meta.warnings]})


def repetitions(scenario: Scenario, count: int) -> list[Scenario]:
    """Return the scenario with later starts, or with other random losses; alone, nothing is new."""
    if scenario.bottleneck.loss_ratio:
        return [replace(scenario, seed=scenario.seed + number) for number in range(1, count + 1)]
    if len(scenario.flows) < 2:
        return []
    return [
        replace(
            scenario,
            flows=tuple(
                replace(flow, start_s=flow.start_s + SHIFT_S * number * place)
                for place, flow in enumerate(scenario.flows, 1)
            ),
        )
        for number in range(1, count + 1)
    ]


def run_again(scenario: Scenario, count: int) -> list[Scenario]:
    """Return what is run again live, where a flow alone has chance enough in its timers."""
    return repetitions(scenario, count) or [scenario] * count


def _judged(judge: Callable[[Scenario], Result], scenarios: list[Scenario]) -> tuple[Result, ...]:
    """Return the results that there are: a live run may break off."""
    found = []
    for one in scenarios:
        try:
            found.append(judge(one))
        except ExperimentError as error:
            print(f"a repetition has no result: {error}", flush=True)
    return tuple(found)


def simulated(stack: ExitStack, python: str | None) -> Callable[[Scenario], Result]:
    """Return what simulates scenarios; after one that ended ns-3 it is started again."""
    running = stack.enter_context(ns3.Simulator(python))

    def run(scenario: Scenario) -> Result:
        nonlocal running
        try:
            return running.run(scenario)
        except ExperimentError as error:
            if error.code == "ns3-failed":
                running = stack.enter_context(ns3.Simulator(python))
            raise

    return run


def compare(
    scenarios: dict[str, Scenario],
    judge: Callable[[Scenario], Result],
    *,
    only: str,
    by: str,
    stack: str = "ns3",
    again: int = 0,
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
        try:
            row = Row(name, theory.run(scenario, stack=stack), judge(scenario))
        except ExperimentError as error:
            print(f"{name:38} | no result: {error}", flush=True)
            continue
        if by == "live":  # which takes its time: only where there is something to explain
            others = run_again(scenario, again) if row.misses() else []
        else:
            others = repetitions(scenario, again)
        row = replace(row, again=_judged(judge, others))
        rows.append(row)
        print(row.text(), flush=True)
    aims = ["goodput", "utilization", "mean queue", "median queue"]
    if any(row.theory.request_p99_s is not None for row in rows):
        aims.append("requests")
    for aim in aims:
        rated = rows
        if aim == "requests":
            rated = [row for row in rows if row.theory.request_p99_s is not None]
        met = sum(not any(miss.startswith(aim) for miss in row.misses()) for row in rated)
        print(f"{aim}: {met} of {len(rated)} within the aim")
    print(f"drops: {sum(row.has_drops() for row in rows)} of {len(rows)} within the aim")
    repeated = [row for row in rows if row.again and by != "live"]
    steady = [row for row in repeated if row.predicts_itself()]
    met = sum(not any(miss.startswith("goodput") for miss in row.misses()) for row in steady)
    if repeated:
        print(
            f"{by} meets its own goodput in {len(steady)} of {len(repeated)},"
            f" theory in {met} of these"
        )
    flows = np.concatenate([np.abs(_apart(row.theory, row.judge)) <= GOODPUT for row in rows])
    print(f"goodput of single flows: {flows.sum()} of {len(flows)} within the aim")


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
    parser.add_argument("--sets", default="tuned,further,requests,drawn", help="which scenarios")
    parser.add_argument("--drawn-seed", type=int, default=20261, help="seed of the drawn ones")
    parser.add_argument("--again", type=int, default=2, help="repetitions")
    parser.add_argument("--live", action="store_true", help="also run scenarios live")
    given = parser.parse_args()
    sets = {
        "tuned": SCENARIOS,
        "further": FURTHER,
        "requests": ONE_FLOW,
        "drawn": drawn(given.drawn_seed),
    }
    try:
        with ExitStack() as stack:
            judge = simulated(stack, given.python)
            for name in given.sets.split(","):
                print(f"== {name}")
                compare(sets[name], judge, only=given.only, by="ns-3", again=given.again)
    except ExperimentError as error:
        print(error)
    if given.live:
        live = {**LIVE, **ONE_FLOW}
        compare(live, run_live, only=given.only, by="live", stack="linux", again=given.again)
        print_figures()
    speed()


if __name__ == "__main__":
    main()
