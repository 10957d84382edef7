"""Impossible and doubtful draws, fits as inputs, workers, and an end by Ctrl-C."""

from __future__ import annotations

import math
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from netcalc import uncertain
from netcalc.checks import note
from netcalc.errors import DomainError, NetcalcError
from netcalc.fit import rtt_against_size, transfer_against_size, write_costs
from netcalc.models.delays.latency import echo_rtt_s, transfer_s
from netcalc.models.tcp.loss_limited import mathis_throughput_bps
from netcalc.samples import RttSamples, TransferSamples
from netcalc.uncertain.sampling import BLOCK_DRAWS, DrawPlan, Draws

GIVEN = {"mss_bytes": 1460, "rtt_s": 0.05}


def of(found, code):
    return [one.values for one in found.notes if one.code == code]


def test_the_share_beyond_the_published_range_is_that_of_the_input():
    """Derived: of 0.1% to 2%, 10/19 lie above the 1% that the formula was published for."""
    loss = uncertain.uniform(0.001, 0.02)
    found = uncertain.spread(mathis_throughput_bps, {"loss_ratio": loss, **GIVEN})
    [values] = of(found, "draws-doubtful")
    assert values["share"] == pytest.approx(10 / 19, abs=1e-12)
    assert values["doubt"].values["value"] == pytest.approx(0.02, rel=1e-4)


def test_a_value_at_the_limit_is_not_beyond_it():
    """Identity: a half of the values are 1%, which the source vouches for."""
    loss = uncertain.empirical([0.01, 0.02])
    found = uncertain.spread(mathis_throughput_bps, {"loss_ratio": loss, **GIVEN})
    assert of(found, "draws-doubtful")[0]["share"] == 0.5


def test_other_doubts_are_counted_among_the_draws():
    """Identity: a fifth of the draws are above 0.8."""

    def model(x):
        if np.any(np.asarray(x) > 0.8):
            note("beyond-published-range", name="result", value=1.0, limit=0.8)
        return x * 1.0

    found = uncertain.spread(model, {"x": uncertain.uniform(0, 1)})
    [values] = of(found, "draws-doubtful")
    # Of 1024 draws of one input each thousandth part has one.
    assert values["share"] == pytest.approx(0.2, abs=9e-4)


def test_each_doubt_has_a_share_of_its_own():
    """Identity: a half of the draws are above 0.5, three quarters above 0.25."""

    def model(x):
        for limit, name in ((0.5, "load"), (0.25, "rate")):
            if np.any(np.asarray(x) > limit):
                note("beyond-published-range", name=name, value=1.0, limit=limit)
        return x * 1.0

    found = uncertain.spread(model, {"x": uncertain.uniform(0, 1)})
    shares = {one["doubt"].values["name"]: one["share"] for one in of(found, "draws-doubtful")}
    assert shares == pytest.approx({"load": 0.5, "rate": 0.75}, abs=1e-3)


def test_blocks_of_draws_are_the_same_in_any_order():
    """Identity."""
    plan = DrawPlan({"x": uncertain.uniform(0, 1), "y": uncertain.normal(0, 1)}, seed=5)
    whole = plan.block(0, 3000)
    stream = Draws(plan)
    for start, count in ((1000, 500), (0, 1000), (2500, 500), (1500, 1000)):
        block = stream.block(start, count)
        for name, values in whole.items():
            assert np.array_equal(block[name], values[start : start + count])


def test_a_doubt_about_single_numbers_is_told_of_draws():
    """Identity: the model judges single numbers, of which half are above 0.5."""

    def model(x):
        if np.size(x) == 1 and float(np.reshape(x, ())) > 0.5:
            note("beyond-published-range", name="result", value=1.0, limit=0.5)
        return x * 1.0

    found = uncertain.spread(model, {"x": uncertain.uniform(0, 1)})
    assert of(found, "draws-doubtful")[0]["share"] == pytest.approx(0.5, abs=2e-3)


def test_draws_that_are_impossible_together_are_refused_or_left_out():
    """Derived: of two uniforms from 0 to 1, x > y + 0.5 in a triangle of 1/8."""

    def model(x, *, y):
        x, y = np.asarray(x), np.asarray(y)
        if np.any(x > y + 0.5):
            raise DomainError("above-argument", "window", 1.0, other="buffer")
        return x * 1.0

    given = {"x": uncertain.uniform(0, 1), "y": uncertain.uniform(0, 1)}
    with pytest.raises(DomainError) as caught:
        uncertain.spread(model, given, draws=4096)
    assert caught.value.code == "draws-refused"
    assert caught.value.values["share"] == pytest.approx(1 / 8, abs=2e-3)
    found = uncertain.spread(model, given, draws=4096, truncate=True)
    assert found.samples.size == pytest.approx(4096 * 7 / 8, abs=8)
    assert of(found, "draws-left-out")[0]["share"] == pytest.approx(1 / 8, abs=2e-3)


def test_only_what_may_be_truncated_is():
    loss = uncertain.truncated(uncertain.normal(0.01, 0.01))
    found = uncertain.spread(mathis_throughput_bps, {"loss_ratio": loss, **GIVEN})
    assert of(found, "draws-truncated")
    given = {"loss_ratio": loss, "mss_bytes": 1460, "rtt_s": uncertain.normal(0.01, 0.01)}
    with pytest.raises(DomainError) as caught:
        uncertain.spread(mathis_throughput_bps, given)
    assert (caught.value.code, caught.value.name) == ("draws-impossible", "rtt_s")


def measured_line():
    rng = np.random.default_rng(7)
    size = np.repeat([1e5, 4e5, 8e5, 16e5], 5)
    duration = 0.030 + size / 1e6 + rng.normal(0, 5e-3, size.size)
    return transfer_against_size(TransferSamples(payload_bytes=size, duration_s=duration))


def test_a_fitted_line_becomes_the_band_of_its_own_fit():
    """Derived: the standard error of the line at a size, by the fit itself."""
    line = measured_line()
    given = {**uncertain.fitted(line), "payload_bytes": 1.2e6}
    found = uncertain.spread(transfer_s, given, draws=1 << 14)
    middle, error = line.predict(np.array([1.2e6]))[0], line.predict_stderr(np.array([1.2e6]))[0]
    t_95 = 1.734063607  # published: Student's t, 18 degrees of freedom, 95%
    assert found.median == pytest.approx(middle, rel=1e-3)
    assert found.percentiles[95.0] - middle == pytest.approx(t_95 * error, rel=0.05)
    assert middle - found.percentiles[5.0] == pytest.approx(t_95 * error, rel=0.05)
    correlation = found.correlations["latency_s", "bandwidth_bps"]
    assert correlation > 0.5  # a steeper line is a lower rate and a smaller intercept


def test_a_fit_may_be_given_under_other_names():
    line = measured_line()
    own = uncertain.fitted(line)

    def backup(rate, *, rtt):
        return 1e6 / rate + rtt

    found = uncertain.spread(backup, {"rate": own["bandwidth_bps"], "rtt": own["latency_s"]})
    assert list(found.correlations) == [("rate", "rtt")]


def test_what_a_fit_took_as_given_is_a_number():
    """Identity: the headers of an echo, 28 bytes."""
    size = np.repeat([8.0, 500.0, 1000.0, 1400.0], 3)
    rtt = 0.080 + 16 * (size + 28) / 198e3 + np.tile([0.0, 1e-4, 2e-4], 4) * size / 1000
    own = uncertain.fitted(rtt_against_size(RttSamples(payload_bytes=size, rtt_s=rtt)))
    assert own["header_bytes"] == 28.0
    found = uncertain.spread(echo_rtt_s, {**own, "payload_bytes": 1400.0})
    assert found.median == pytest.approx(0.080 + 16 * 1428 / 198e3, rel=1e-3)


def test_what_a_fit_does_not_know_is_refused():
    size = np.array([1e5, 2e5])
    line = transfer_against_size(TransferSamples(payload_bytes=size, duration_s=0.03 + size / 1e6))
    with pytest.raises(DomainError) as caught:
        uncertain.fitted(line)
    assert caught.value.code == "fit-without-errors"
    same = TransferSamples(payload_bytes=[1e5, 1e5], duration_s=[0.13, 0.131])
    with pytest.raises(DomainError) as caught:
        uncertain.fitted(transfer_against_size(same))
    assert caught.value.code == "fit-without-value"


def test_costs_are_inputs_with_their_own_covariance():
    """Derived: np.polyfit of the same points."""
    size = np.array([1e2, 2e2, 4e2, 8e2, 16e2, 3e2])
    spent = 5e-6 + 1e-9 * size + np.array([1e-8, -1e-8, 5e-9, -5e-9, 2e-9, -3e-9])
    costs = write_costs(size, spent)
    with pytest.raises(DomainError) as caught:
        uncertain.fitted(costs)
    assert caught.value.code == "fit-without-value"
    own = uncertain.fitted(costs, ["transaction_s", "byte_cost"])

    def write_s(size, *, transaction_s, byte_cost):
        return transaction_s + byte_cost * size

    found = uncertain.spread(write_s, {"size": 1000.0, **own}, draws=1 << 14)
    line, square = np.polyfit(size, spent, 1, cov=True)
    row = np.array([1000.0, 1.0])
    deviation = np.sqrt(row @ square @ row)
    assert found.median == pytest.approx(row @ line, rel=1e-4)
    t_95 = 2.131846786  # published: Student's t, 4 degrees of freedom, 95%
    assert found.percentiles[95.0] - row @ line == pytest.approx(t_95 * deviation, rel=0.1)


class Client:
    """Workers in this process, which get everything as other processes would."""

    def __init__(self, address, timeout):
        if address == "tcp://192.0.2.1:1":
            raise OSError("no route")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, function, *arguments, pure):
        done = pickle.loads(pickle.dumps(arguments))
        result = pickle.dumps(function(*done))
        return SimpleNamespace(result=lambda: pickle.loads(result), key=object())


class Future(SimpleNamespace):
    __hash__ = object.__hash__


@pytest.fixture
def workers(monkeypatch):
    class Hashing(Client):
        def submit(self, function, *arguments, pure):
            return Future(**vars(super().submit(function, *arguments, pure=pure)))

    dask = SimpleNamespace(Client=Hashing, as_completed=lambda waiting: reversed(waiting))
    monkeypatch.setitem(sys.modules, "distributed", dask)


def test_workers_give_the_same_answer_in_any_order(workers):
    """Identity: the same seed, here and there."""
    given = {
        "loss_ratio": uncertain.uniform(0.001, 0.02),
        "mss_bytes": 1460,
        "rtt_s": uncertain.lognormal(0.03, value=0.06),
    }
    draws = 2 * BLOCK_DRAWS + 1000
    here = uncertain.spread(mathis_throughput_bps, given, draws=draws, seed=3)
    there = uncertain.spread(mathis_throughput_bps, given, draws=draws, seed=3, dask="tcp://a:1")
    assert np.array_equal(here.samples, there.samples)
    assert here.percentiles == there.percentiles
    assert list(map(str, here.notes)) == list(map(str, there.notes))


def of_one(x, y):
    return math.exp(math.log(x) + math.log(y))  # takes no arrays


def test_workers_give_the_same_indices_of_a_function_of_single_numbers(workers):
    given = {"x": uncertain.uniform(1, 2), "y": uncertain.uniform(1, 2)}
    here = uncertain.spread(of_one, given, draws=500)
    there = uncertain.spread(of_one, given, draws=500, dask="local")
    assert here.first_order == there.first_order


def test_workers_hand_over_what_a_model_refuses(workers):
    given = {"loss_ratio": uncertain.normal(0.01, 0.01), **GIVEN}
    with pytest.raises(DomainError) as caught:
        uncertain.spread(mathis_throughput_bps, given, dask="local")
    assert caught.value.code == "draws-impossible"
    found = uncertain.spread(mathis_throughput_bps, given, truncate=True, dask="local")
    here = uncertain.spread(mathis_throughput_bps, given, truncate=True)
    assert np.array_equal(found.samples, here.samples)


def test_a_scheduler_that_is_not_there_is_one_sentence(workers):
    with pytest.raises(NetcalcError) as caught:
        uncertain.spread(
            transfer_s,
            {"payload_bytes": 1e6, "bandwidth_bps": uncertain.uniform(1e6, 2e6), "latency_s": 0.1},
            dask="tcp://192.0.2.1:1",
        )
    assert caught.value.code == "dask-unreachable"


def test_an_interrupt_ends_the_draws_at_once():
    calls = []

    def model(x):
        calls.append(np.size(x))
        if sum(size == BLOCK_DRAWS for size in calls) == 2:
            raise KeyboardInterrupt
        return x * 1.0

    with pytest.raises(KeyboardInterrupt):
        uncertain.spread(model, {"x": uncertain.uniform(0, 1)}, draws=20 * BLOCK_DRAWS)
    assert sum(size == BLOCK_DRAWS for size in calls) == 2


def test_the_worst_of_numbers_that_are_too_few_is_the_least():
    """Identity: of 1 to 9 where the formula asks for 5, the least is the furthest below."""

    def model(x):
        least = float(np.min(x))
        if least < 5.0:
            note("few-losses", name="loss_count", value=least, limit=5.0)
        return x * 1.0

    found = uncertain.spread(model, {"x": uncertain.uniform(1, 9)})
    [values] = of(found, "draws-doubtful")
    assert values["doubt"].values["value"] == pytest.approx(1.0, abs=0.01)
