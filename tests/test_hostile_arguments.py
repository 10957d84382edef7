"""Hostile arguments: what a formula, a path, the solver or a unit is asked and cannot answer.

Each call gives a result or an error of netcalc that says which argument is meant.
"""

from __future__ import annotations

from decimal import Decimal

import hostile_arguments as hostile
import numpy as np
import pytest

from netcalc import samples, units
from netcalc.emulation.stream import deliver
from netcalc.errors import ArgumentTypeError, DomainError, NetcalcError, ReaderError
from netcalc.models.delays import latency
from netcalc.models.queues import md1
from netcalc.models.rates import forwarding
from netcalc.models.sizes import encapsulation, fragmentation, framing, headers, layers, vpn
from netcalc.models.tcp import slow_start
from netcalc.path import Link, Path
from netcalc.solver import default_range, solve

CALLS = 1_500


def test_hostile_arguments_give_a_result_or_an_own_error():
    found, faults, _ = hostile.run(CALLS, seed=4, timed=False)
    assert faults == []
    assert found["foreign"] == 0
    assert found["a result"] > CALLS / 10
    assert found["DomainError"] + found["ArgumentTypeError"] > CALLS / 3


# function, arguments, and the two names and shapes that the error says
UNFIT = {
    "columns of another length": (
        lambda: latency.transfer_s(np.ones(2), bandwidth_bps=np.ones(3), latency_s=0.1),
        ("payload_bytes", [2], "bandwidth_bps", [3]),
    ),
    "a list and a grid": (
        lambda: md1.md1_wait_cdf([1.0] * 5, utilization=0.8, service_s=np.ones((4, 3))),
        ("wait_s", [5], "service_s", [4, 3]),
    ),
    "only the last two": (
        lambda: latency.transfer_s(1.0, bandwidth_bps=[1.0, 2.0], latency_s=[0.1, 0.2, 0.3]),
        ("bandwidth_bps", [2], "latency_s", [3]),
    ),
    "nothing and two": (
        lambda: latency.transfer_s([], bandwidth_bps=[1.0, 2.0], latency_s=0.0),
        ("payload_bytes", [0], "bandwidth_bps", [2]),
    ),
}


@pytest.mark.each("what", UNFIT)
def test_shapes_that_do_not_fit_are_named(what):
    call, (name, shape, other, other_shape) = UNFIT[what]
    with pytest.raises(DomainError) as refused:
        call()
    error = refused.value
    assert error.code == "shapes-differ"
    assert (error.name, error.value) == (name, shape)
    assert (error.values["other"], error.values["other_shape"]) == (other, other_shape)
    for part in (name, other, str(shape[0]), str(other_shape[-1])):
        assert part in str(error)


def test_a_wrong_call_stays_a_wrong_call():
    """An argument that there is not is a mistake in the program; shapes are not looked at."""
    wrong = {"bandwidth_bps": [1.0, 2.0, 3.0], "latency_s": 0.0, "lateny_s": 0.0}
    with pytest.raises(TypeError, match="lateny_s") as refused:
        latency.transfer_s([1.0, 2.0], **wrong)
    assert refused.value.code == "no-such-argument"


def test_a_grid_beyond_all_memory_is_refused():
    """Derived: 10^5 by 10^5 numbers of 8 bytes are 80 GB."""
    with pytest.raises(DomainError) as refused:
        latency.transfer_s(np.ones((100_000, 1)), bandwidth_bps=np.ones(100_000), latency_s=0)
    assert refused.value.code == "too-many-elements"
    assert refused.value.values["shape"] == [100_000, 100_000]


NO_NUMBERS = {
    "signaling nan": Decimal("sNaN"),
    "list with a signaling nan": [1.0, Decimal("sNaN")],
    "lists of unequal length": [[1.0, 2.0], [3.0]],
    "an object without a form": type("Own", (), {"__array__": lambda *_: 1 / 0})(),
}


@pytest.mark.each("what", NO_NUMBERS)
def test_what_gives_no_float_is_refused_by_name(what):
    with pytest.raises(ArgumentTypeError) as refused:
        latency.transfer_s(1.0, bandwidth_bps=NO_NUMBERS[what], latency_s=0.0)
    assert refused.value.values["name"] == "bandwidth_bps"


def test_an_integer_beyond_float_is_refused_by_name():
    with pytest.raises(DomainError) as refused:
        latency.transfer_s(10**400, bandwidth_bps=1.0, latency_s=0.0)
    assert refused.value.code == "integer-too-long"


class Mute:
    """Fails when it is to be shown."""

    def __repr__(self):
        raise RuntimeError("no name today")


UNHASHABLE = ([], {}, bytearray(b"x"), np.array(["a"]), Mute())


@pytest.mark.parametrize("suite", UNHASHABLE, ids=lambda one: type(one).__name__)
def test_a_suite_that_is_no_text_is_refused_before_it_is_looked_up(suite):
    for call in (headers.suite_sizes, lambda one: vpn.esp_packet_bytes(1500, suite=one)):
        with pytest.raises(ArgumentTypeError) as refused:
            call(suite)
        assert (refused.value.code, refused.value.values["name"]) == ("not-text", "suite")
        assert str(refused.value)


VERSIONED = {
    "udp_payload_bytes": lambda version: framing.udp_payload_bytes(1500, ip_version=version),
    "fragmented_bytes": lambda version: fragmentation.fragmented_bytes(
        4000, mtu_bytes=1500, ip_version=version
    ),
    "tunnel_tcp_payload_bytes": lambda version: encapsulation.tunnel_tcp_payload_bytes(
        1500, stack="gre4", ip_version=version
    ),
}


@pytest.mark.each("name", VERSIONED)
@pytest.mark.parametrize("version", [np.void(b"1"), Mute(), [Mute()]], ids=("void", "mute", "list"))
def test_a_version_that_compares_with_nothing_is_refused_in_words(name, version):
    with pytest.raises(DomainError) as refused:
        VERSIONED[name](version)
    assert (refused.value.code, refused.value.name) == ("not-a-choice", "ip_version")
    assert "ip_version" in str(refused.value)
    assert refused.value.as_dict()["allowed"] == refused.value.allowed


MUTE = {
    "hops": lambda: Path(Mute()),
    "stack": lambda: layers.stack_layers(Mute()),
    "payload_bytes": lambda: latency.transfer_s(Mute(), bandwidth_bps=1.0, latency_s=0.0),
    "rule": lambda: deliver(Path.parse("T1 5 ms"), segments=1, rule=Mute()),
}


@pytest.mark.each("name", MUTE)
def test_what_cannot_be_shown_is_called_by_its_class(name):
    with pytest.raises((ArgumentTypeError, DomainError)) as refused:
        MUTE[name]()
    assert refused.value.values["name"] == name
    assert "Mute" in str(refused.value)


@pytest.mark.parametrize("hops", [np.array(1.0), np.ma.masked], ids=["number", "masked"])
def test_what_is_no_list_of_hops_is_refused(hops):
    with pytest.raises(ArgumentTypeError) as refused:
        Path(hops)
    assert refused.value.code == "not-hops"


TEXTS = {
    "units.parse": lambda: units.parse(Mute(), "s"),
    "Link.parse": lambda: Link.parse(Mute()),
    "Path.parse": lambda: Path.parse(Mute()),
}


@pytest.mark.each("name", TEXTS)
def test_text_that_cannot_be_shown_is_refused(name):
    with pytest.raises(NetcalcError) as refused:
        TEXTS[name]()
    assert "Mute" in str(refused.value)
    assert refused.value.as_dict()["message"] == str(refused.value)


@pytest.mark.parametrize("given", [1, None, Mute(), [b"{}"]], ids=lambda one: type(one).__name__)
def test_saved_samples_are_bytes_and_their_file_is_a_path(given):
    for call, name in ((samples.loads, "data"), (samples.load, "path")):
        with pytest.raises(ArgumentTypeError) as refused:
            call(given)
        assert refused.value.values["name"] == name
        assert type(given).__name__ in str(refused.value)


@pytest.mark.parametrize("name", [1, None, [], Mute()], ids=lambda one: type(one).__name__)
def test_the_name_of_saved_samples_is_text(name):
    with pytest.raises(ArgumentTypeError) as refused:
        samples.loads(b"{}", file=name)
    assert refused.value.values["name"] == "file"


def test_a_file_that_no_system_can_name_is_refused():
    with pytest.raises(ReaderError) as refused:
        samples.load("run\0.json")
    assert refused.value.code == "unreadable-file"


OTHERS = {
    "suite": lambda: headers.suite_sizes(1),
    "hop": lambda: Path.parse("T1").until("1"),
    "links": lambda: Path.of(3),
    "truth": lambda: Path.from_truth("T1 5 ms"),
    "for_": lambda: solve(latency.transfer_s, for_=["a"], result=1.0),
    "low": lambda: solve(latency.transfer_s, for_="payload_bytes", result=1.0, low=[1, 2]),
    "name": lambda: default_range(3),
    "unit": lambda: units.parse("1", ["s"]),
    "value": lambda: units.convert("1", "ms", "s"),
    "to_unit": lambda: units.convert(1, "ms", 3),
}


def test_an_array_of_one_number_is_no_list_of_links():
    with pytest.raises(ArgumentTypeError) as refused:
        Path.of(np.array(1.0))
    assert (refused.value.code, refused.value.values["name"]) == ("not-of-class", "links")


@pytest.mark.each("name", OTHERS)
def test_other_arguments_are_refused_by_name(name):
    with pytest.raises((ArgumentTypeError, DomainError)) as refused:
        OTHERS[name]()
    assert refused.value.values["name"] == name


def test_a_crossover_is_never_below_zero():
    """Derived: at 100 Mbit/s and 684,932 packets/s a packet has 18.25 byte, 1.75 less than its gap.

    A packet of 100 kbit/s and 500 packets/s has 25, 5 more.
    """
    given = {"bandwidth_bps": [100e6, 100e3], "overhead_bytes": 20, "min_frame_bytes": 0}
    found = forwarding.crossover_frame_bytes([684_932, 500], **given)
    assert found.tolist() == pytest.approx([np.nan, 5], nan_ok=True)
    assert np.isnan(forwarding.crossover_frame_bytes(np.nan, **given)).all()


def test_rounds_beyond_counting_are_refused():
    """Derived: a window that grows by one a round needs about sqrt(2 n) rounds for n segments."""
    slow = {"initial_window_segments": 1, "segments_per_ack": 1e9}
    assert float(slow_start.rounds_delayed_ack(4.5e9, **slow)) == pytest.approx(9.4868e4, rel=1e-3)
    with pytest.raises(DomainError) as refused:
        slow_start.rounds_delayed_ack(1e38, **slow)
    assert refused.value.code == "too-many-rounds"
