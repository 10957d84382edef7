"""Calls that do not fit: the function, the wrong name, the nearest one, and what it takes."""

from __future__ import annotations

import inspect
import pickle

import pandas as pd
import pytest

import netcalc
from netcalc import Hop, Link, Path, experiments, planning
from netcalc.checks import model, named_arguments
from netcalc.errors import ArgumentTypeError, NetcalcError
from netcalc.models.delays.latency import transfer_s
from netcalc.models.tcp.loss_limited import mathis_throughput_bps
from netcalc.scenario import Flow

WRONG = {
    "a formula": (lambda: transfer_s(1e6, bandwidth=1e6, latency_s=0.03), "bandwidth"),
    "a misspelled one": (lambda: transfer_s(1e6, bandwith_bps=1e6, latency_s=0.03), "bandwith_bps"),
    "of a series": (lambda: transfer_s(pd.Series([1e6]), bandwidth=1e6), "bandwidth"),
    "a link": (lambda: Link(bandwidth=1e6), "bandwidth"),
    "planning": (lambda: planning.transfer(1e9, bandwidth=1e6, rtt_s=0.1), "bandwidth"),
}


@pytest.mark.each("what", WRONG)
def test_a_wrong_name_is_answered_with_the_nearest(what):
    call, name = WRONG[what]
    with pytest.raises(ArgumentTypeError) as caught:
        call()
    error = caught.value
    assert (error.code, error.values["name"]) == ("no-such-argument", name)
    assert error.values["suggestions"] == ["bandwidth_bps"]
    assert isinstance(error, TypeError)
    assert error.__suppress_context__  # no second traceback, of Python's own TypeError
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_sentence_says_function_name_and_what_it_takes():
    with pytest.raises(ArgumentTypeError) as caught:
        transfer_s(1e6, bandwidth=1e6, latency_s=0.03)
    assert str(caught.value) == (
        "transfer_s has no argument bandwidth; it takes payload_bytes, bandwidth_bps, latency_s. "
        "Did you mean bandwidth_bps?"
    )


@pytest.mark.each(
    ("call", "function", "meant"),
    [
        (lambda: Hop(Link(1e6), processing=1), "Hop", ["processing_s"]),
        (lambda: Path(hop=()), "Path", ["hops"]),
        (lambda: Path.parse("T1", source_processing=1), "Path.parse", ["source_processing_s"]),
        (lambda: Path.of([Link(1e6)], procesing_s=1), "Path.of", ["processing_s"]),
        (lambda: Flow(algoritm="cubic"), "Flow", ["algorithm"]),
        (lambda: netcalc.read("x", unit={}), "read", ["units"]),
        (lambda: experiments.echo(timeout=1), "echo", ["timeout_s"]),
        # the name without its unit is nearer than any letters: "rtt", and "mtu" of another formula
        (lambda: mathis_throughput_bps(0.01, mss=1460, rtt_s=0.1), "mathis_throughput_bps",
         ["mss_bytes"]),
        (lambda: transfer_s(1e6, colour="red", latency_s=0.03), "transfer_s", []),
        # what is there already is not meant again
        (lambda: transfer_s(1e6, bandwidth_bps=1e6, bandwidth=1e6, latency_s=0.03), "transfer_s",
         []),
    ],
)  # fmt: skip
def test_front_doors_and_names_without_a_neighbour(call, function, meant):
    with pytest.raises(ArgumentTypeError) as caught:
        call()
    values = caught.value.values
    assert (values["function"], values["suggestions"]) == (function, meant)


def test_a_number_without_a_name_and_one_that_is_missing():
    with pytest.raises(ArgumentTypeError) as caught:
        transfer_s(1e6, 1.5e6, latency_s=0.03)
    assert (caught.value.code, caught.value.values["name"]) == (
        "argument-without-name", "bandwidth_bps"
    )  # fmt: skip
    assert str(caught.value) == (
        "transfer_s takes 1 positional argument, so 1500000.0 needs a name: it takes "
        "payload_bytes, bandwidth_bps, latency_s"
    )
    with pytest.raises(ArgumentTypeError) as caught:
        transfer_s(1e6, latency_s=0.03)
    assert (caught.value.code, caught.value.values["name"]) == (
        "argument-not-given", "bandwidth_bps"
    )  # fmt: skip
    with pytest.raises(ArgumentTypeError, match="Hop takes 2 arguments, so 7 is one too many"):
        Hop(Link(1e6), 0.001, 7)
    with pytest.raises(ArgumentTypeError, match="solve requires for_;"):
        netcalc.solve(transfer_s, result=1.0)


def test_an_argument_that_is_there_twice_is_said_by_python():
    with pytest.raises(TypeError, match="multiple values for argument 'payload_bytes'") as caught:
        transfer_s(1e6, payload_bytes=1.0, bandwidth_bps=1.0, latency_s=0.0)
    assert not isinstance(caught.value, NetcalcError)


@pytest.mark.each("decorate", [model, named_arguments])
def test_a_type_error_from_inside_is_not_hidden(decorate):
    @decorate
    def broken(size_bytes, *, rtt_s=1.0):
        return len(3)  # a mistake of the formula, and not of the call

    with pytest.raises(TypeError, match="object of type 'int' has no len") as caught:
        broken(1.0)
    assert not isinstance(caught.value, NetcalcError)
    with pytest.raises(ArgumentTypeError, match="broken has no argument rtt"):
        broken(1.0, rtt=1.0)


def test_signatures_and_names_stay():
    assert list(inspect.signature(Link).parameters) == [
        "bandwidth_bps", "latency_s", "name", "framing"
    ]  # fmt: skip
    assert list(inspect.signature(Path.parse).parameters)[:2] == ["text", "processing_s"]
    assert netcalc.read.__name__ == "read"
    assert pickle.loads(pickle.dumps(Link(1e6))) == Link(1e6)


def test_any_name_or_number_of_arguments_is_left_to_python():
    @named_arguments
    def free(first, *rest, **others):
        return first

    assert free(1, 2, name=3) == 1
    with pytest.raises(ArgumentTypeError, match="free requires first; it takes first"):
        free()
