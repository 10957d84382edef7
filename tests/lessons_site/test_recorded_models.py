"""A model written down: what is recorded, both ways of a decision, and what is told instead."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from netcalc.lessons.site.recording import (
    Branch,
    NotRecorded,
    Recorded,
    Refuse,
    Return,
    record,
)
from netcalc.models.queues.erlang import erlang_b_ratio
from netcalc.models.tcp.loss_limited import mathis_throughput_bps


def operations(found: Recorded | NotRecorded) -> list[str]:
    assert isinstance(found, Recorded), found
    return [one.operation for one in found.body.operations]


def test_a_closed_form_is_its_operations_in_order():
    found = record(lambda size, rate: 8 * size / rate, {"size": 1, "rate": 1})
    assert operations(found) == ["input", "input", "multiply", "divide"]
    assert found.names == ("size", "rate")


def test_the_same_operation_on_the_same_inputs_is_recorded_once():
    found = record(lambda x: np.sqrt(x) + np.sqrt(x), {"x": 1})
    assert operations(found) == ["input", "sqrt", "add"]


def test_a_decision_on_a_value_is_recorded_both_ways():
    def refused(x):
        return x if x > 1 else mathis_throughput_bps(2.0, mss_bytes=1, rtt_s=1)

    found = record(refused, {"x": 5})
    assert isinstance(found, Recorded)
    assert isinstance(found.body.end, Branch)
    assert found.body.end.condition.operation == "greater"
    assert isinstance(found.body.end.yes.end, Return)
    assert isinstance(found.body.end.no.end, Refuse)
    assert found.body.end.no.end.code == "percent-for-ratio"


def test_two_ways_that_both_give_a_number_pick_it():
    found = record(lambda x: x * 2 if x > 1 else x, {"x": 0.5})
    assert operations(found) == ["input", "greater", "multiply", "where"]


def test_a_check_keeps_its_rules_and_its_published_range():
    found = record(mathis_throughput_bps, {"loss_ratio": 0.5, "mss_bytes": 1, "rtt_s": 1})
    assert isinstance(found, Recorded)
    loss = next(one for one in found.body.operations if one.operation == "check")
    assert loss.value["name"] == "loss_ratio"
    assert (loss.value["low"], loss.value["high"]) == (0.0, 1.0)
    assert loss.value["limits"] == (-np.inf, 0.01)  # Range: loss_ratio up to 0.01


@pytest.mark.parametrize(
    ("model", "given", "code"),
    [
        (lambda x: sum(range(int(x))), {"x": 3}, "int"),
        (lambda x: {1.0: 2.0}[x], {"x": 1}, "lookup"),
        (lambda x: np.array([1.0, 2.0])[np.argsort(x)], {"x": [1, 2]}, "array"),
        (lambda x: x[x > 1], {"x": [1, 2]}, "selection"),
        (lambda x: np.linalg.svd(x), {"x": [1, 2]}, "function"),
        (lambda x: np.outer(x, x), {"x": [1, 2]}, "function"),
        (lambda x: x[:, None] * x, {"x": [1, 2]}, "axes"),
        (lambda x: np.bitwise_and(x.astype(int), 1), {"x": 1}, "bits"),
    ],
)
def test_what_has_no_form_is_told_with_its_reason(model, given, code):
    found = record(model, given)
    assert isinstance(found, NotRecorded)
    assert found.code == code
    assert found.reason


def test_a_search_is_told_with_its_line():
    def halved(x):
        while x > 1:
            x = x / 2
        return x

    assert record(halved, {"x": 9}).code == "loop"
    found = record(erlang_b_ratio, {"offered_erlang": 20, "server_count": 30})
    assert isinstance(found, NotRecorded)
    assert found.where.startswith("queues/erlang.py:")


def test_models_are_as_ever_after_a_recording():
    before = vars(mathis_throughput_bps.__wrapped__.__globals__["np"])
    record(mathis_throughput_bps, {"loss_ratio": 0.5, "mss_bytes": 1, "rtt_s": 1})
    record(lambda x: 1 / 0, {"x": 1})
    assert mathis_throughput_bps.__wrapped__.__globals__["np"] is np
    assert "float" not in mathis_throughput_bps.__wrapped__.__globals__
    assert before is vars(np)


def test_a_recording_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        record(mathis_throughput_bps, {"loss_ratio": 0.5, "mss_bytes": 1, "rtt_s": 1})
