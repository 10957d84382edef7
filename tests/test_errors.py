"""Errors as other programs meet them: pickled by a pool of processes, in JSON, in one line."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from netcalc import errors, units
from netcalc.samples import RttSamples

ERRORS = [
    errors.DomainError("out-of-range", "loss_ratio", 3, low=0, high=1),
    errors.ArgumentTypeError("not-numbers", "rtt_s", "'x'"),
    errors.UnitError(
        "ambiguous-unit",
        "5 M",
        expected="a rate",
        field="bandwidth",
        readings=["5 MB/s", "5 Mbit/s"],
    ),
    errors.ReaderError("damaged-line", file="ping.txt", line=3, value="x", expected="a time"),
    errors.DatasetError("data-missing", file="mbufs.csv", name="mbufs.csv"),
    errors.ConvergenceError("the root", iterations=3, residual=0.5, last=2.0),
    errors.ExperimentError(
        "peer-refused", reason="Connection refused", phase="connect", host="::1", port=7
    ),
    errors.MissingPackageError("bokeh", extra="lab", purpose="--plot"),
]


def test_every_error_is_among_the_examples():
    public = {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.NetcalcError)
    }
    assert {type(error) for error in ERRORS} == public - {errors.NetcalcError}


@pytest.mark.each("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.each("copied", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy])
def test_an_error_survives_the_way_from_another_process(error, copied):
    again = copied(error)
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.as_dict() == error.as_dict()
    assert json.dumps(error.as_dict())


def test_any_free_port_is_no_part_of_an_address():
    """Identity: port 0 asks for a free port; nothing listens there."""
    error = errors.ExperimentError("peer-silent", phase="echo", host="127.0.0.1", port=0)
    assert "127.0.0.1" in str(error)
    assert ":0" not in str(error)


def test_the_samples_of_a_broken_run_go_with_the_error():
    partial = RttSamples(payload_bytes=[8], rtt_s=[0.001])
    error = errors.ExperimentError("the peer is gone", phase="echo", partial=partial)
    assert pickle.loads(pickle.dumps(error)).partial.rtt_s.tolist() == [0.001]
    assert "partial" not in error.as_dict()


def test_long_text_is_repeated_in_part():
    with pytest.raises(errors.UnitError) as caught:
        units.parse("9" * 400 + " s", "s")
    assert len(str(caught.value)) < 200
    assert caught.value.text == "9" * 400 + " s"


@pytest.mark.each("value", [np.array([1.0, np.inf]), np.float64(2.0), np.nan, {1: object()}])
def test_the_facts_of_an_error_are_json(value):
    facts = errors.DomainError("not-positive", "service_s", value, high=np.inf).as_dict()
    assert json.loads(json.dumps(facts, allow_nan=False))["high"] == "inf"
