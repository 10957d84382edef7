"""The benchmark of causes: what it draws, how it judges, and a run over the emulated path."""

from __future__ import annotations

import random
from collections import Counter

import causes as benchmark
import pytest

from netcalc.explain import CAUSES, Cause


def test_each_class_is_drawn_as_often_as_the_others():
    count = len(benchmark.CLASSES)
    names = Counter(name for name, _ in benchmark.drawn(3 * count, 5, None))
    assert names == dict.fromkeys(benchmark.CLASSES, 3)
    assert benchmark.drawn(10, 5, None) == benchmark.drawn(10, 5, None)
    assert {name for name, _ in benchmark.drawn(4, 5, "line")} == {"line"}


@pytest.mark.each("name", list(benchmark.CLASSES))
def test_every_class_has_a_cause_that_is_named(name):
    run = benchmark.CLASSES[name](random.Random(1))
    assert set(run.right) | set(run.also) <= set(CAUSES)


@pytest.mark.parametrize(
    ("code", "confidence", "verdict"),
    [
        ("outage", "high", "right"),
        ("timeout", "medium", "acceptable"),
        ("unknown", "low", "unknown"),
        ("line", "low", "wrong"),
        ("line", "medium", "wrong and sure"),
        ("line", "high", "wrong and sure"),
    ],
)
def test_a_verdict_on_an_outage(code, confidence, verdict):
    run = benchmark.outage(random.Random(1))
    assert benchmark.verdict(run, Cause(code=code, confidence=confidence)) == verdict


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.parametrize("name", ["receiver's window", "server's time", "lost SYN"])
def test_a_run_over_the_emulated_path(name, tmp_path):
    """Their limits do not depend on how busy this machine is."""
    run = benchmark.CLASSES[name](random.Random(2))
    run.client, run.end = run.client or "A", run.end or "A"
    outcome = benchmark.measure(run, tmp_path / "run.pcap", seed=2)
    assert benchmark.verdict(run, outcome.cause) in ("right", "acceptable")
    assert outcome.loss_ratio == 0
    if name == "receiver's window":
        said, true = benchmark.numbers(run, outcome)["window share"]
        assert said == pytest.approx(true, abs=0.15)
