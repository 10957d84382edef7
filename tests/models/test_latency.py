"""Latency, propagation and transfer time, against printed numbers and identities.

Stevens is TCP/IP Illustrated vol. 3, appendix A.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.delays import latency


@pytest.mark.each(
    ("bandwidth_bps", "expected_s", "within_s", "source"),
    [
        (1.544e6, 5.21, 0.005, "published: Stevens A.3, T1, 5.18 + 0.03 s"),
        (45e6, 0.208, 0.0005, "published: Stevens A.3, T3, 178 + 30 ms"),
        (
            155e6,
            0.082,
            0.0005,
            "published: Stevens A.3, printed for 150 Mb/s, 52 + 30 ms; it fits 155",
        ),
        (150e6, 0.08333, 0.00001, "derived: 8e6 / 150e6 = 53.33 ms; the book's slip"),
    ],
)
def test_a_million_bytes_with_30_ms(bandwidth_bps, expected_s, within_s, source):
    time = latency.transfer_s(1e6, bandwidth_bps=bandwidth_bps, latency_s=0.03)
    assert time == pytest.approx(expected_s, abs=within_s), source


def test_the_book_s_82_ms_do_not_belong_to_150_mbit():
    time = latency.transfer_s(1e6, bandwidth_bps=150e6, latency_s=0.03)
    assert abs(time - 0.082) > 0.001  # derived: 83.33 ms, 1.3 ms more than printed


@pytest.mark.each(
    ("size", "bandwidth_bps", "expected_s", "source"),
    [
        (552, 56e3, 0.080, "published: Stevens A.3, 80 ms, rounded from 78.86"),
        (552, 1.544e6, 0.00286, "published: Stevens A.3, 2.86 ms"),
        (552, 45e6, 0.0001, "published: Stevens A.3, 0.10 ms"),
        (1538, 1e9, 12.304e-6, "derived: 8 x 1538 ns"),
    ],
)
def test_serialization(size, bandwidth_bps, expected_s, source):
    time = latency.serialization_s(size, bandwidth_bps=bandwidth_bps)
    assert time == pytest.approx(expected_s, rel=0.02), source


def test_propagation_coast_to_coast():
    # published: Stevens A.3, light takes 16 ms one way; derived: 3000 miles are 4828 km.
    vacuum = latency.propagation_s(4.828e6, speed_m_s=latency.SPEED_OF_LIGHT_M_S)
    assert vacuum == pytest.approx(0.016, abs=0.0005)
    assert latency.propagation_s(4.828e6) == pytest.approx(vacuum * 1.468)
    with pytest.raises(DomainError, match="speed_m_s"):
        latency.propagation_s(1.0, speed_m_s=3e8)


def test_signal_speed_and_satellite():
    assert latency.signal_speed_m_s(1.0) == latency.SPEED_OF_LIGHT_M_S
    # published: RFC 2488 gives 239.6 ms one way below the satellite, so 479 ms; derived with
    # 35,786 km: 477.5 ms.
    assert latency.satellite_rtt_s() == pytest.approx(0.4775, abs=1e-4)


POSITIVE = st.floats(min_value=1e-3, max_value=1e9)


@given(size=POSITIVE, bandwidth=POSITIVE, delay=POSITIVE)
def test_every_inverse_gives_its_variable_back(size, bandwidth, delay):
    """Identity: each inverse undoes the transfer time."""
    time = latency.transfer_s(size, bandwidth_bps=bandwidth, latency_s=delay)
    sending = 8 * size / bandwidth
    lost = 1e-15 * float(time) / sending  # digits that the sum drops of the smaller part
    if lost < 1e-6:
        assert latency.arrived_bytes(
            time, bandwidth_bps=bandwidth, latency_s=delay
        ) == pytest.approx(size, rel=1e-9 + 10 * lost)
        assert latency.transfer_bandwidth_bps(
            time, payload_bytes=size, latency_s=delay
        ) == pytest.approx(bandwidth, rel=1e-9 + 10 * lost)
    assert latency.transfer_latency_s(
        time * (1 + 1e-12), payload_bytes=size, bandwidth_bps=bandwidth
    ) == pytest.approx(delay, abs=1e-11 * float(time))


@given(size=POSITIVE, bandwidth=POSITIVE, delay=POSITIVE)
def test_at_the_balance_half_of_the_time_and_half_of_the_rate(size, bandwidth, delay):
    """Identity: Hockney's half-performance length."""
    balance = latency.half_rate_bytes(delay, bandwidth_bps=bandwidth)
    assert latency.latency_share_ratio(
        balance, bandwidth_bps=bandwidth, latency_s=delay
    ) == pytest.approx(0.5)
    assert latency.transfer_throughput_bps(
        balance, bandwidth_bps=bandwidth, latency_s=delay
    ) == pytest.approx(bandwidth / 2)


def test_the_share_of_latency_on_a_t3_is_a_sixth():
    # published: Stevens A.3, "about one sixth" of the bandwidth's 178 ms.
    share = latency.latency_share_ratio(1e6, bandwidth_bps=45e6, latency_s=0.03)
    assert share / (1 - share) == pytest.approx(1 / 6, abs=0.003)


@given(st.lists(POSITIVE, min_size=2, max_size=20), POSITIVE, POSITIVE)
def test_a_longer_transfer_takes_longer(sizes, bandwidth, delay):
    times = latency.transfer_s(np.sort(sizes), bandwidth_bps=bandwidth, latency_s=delay)
    assert (np.diff(times) >= 0).all()


def test_outside_the_model():
    nan_and_inf = latency.transfer_bandwidth_bps([0.02, 0.03], payload_bytes=1e6, latency_s=0.03)
    assert np.isnan(nan_and_inf[0])
    assert np.isposinf(nan_and_inf[1])
    assert latency.arrived_bytes(0.02, bandwidth_bps=1e6, latency_s=0.03) == 0
    assert np.isnan(latency.transfer_latency_s(0.1, payload_bytes=1e6, bandwidth_bps=1e6))
    assert np.isnan(latency.latency_share_ratio(0, bandwidth_bps=1e6, latency_s=0))


def test_the_echo_of_fig_a3():
    # published: connix to noao, 80 ms at no user data and 193 ms at 1400 bytes (Stevens A.3).
    slope = 0.113 / 1400
    bandwidth = 16 / slope
    base = 0.080 - 28 * slope
    rtt = latency.echo_rtt_s([0, 1400], base_rtt_s=base, bandwidth_bps=bandwidth)
    assert rtt.tolist() == pytest.approx([0.080, 0.193])


@pytest.mark.each(
    "value",
    [[1500], (1500,), np.array([1500], np.int32), np.array([1500], np.int64),
     np.array([1500.0], np.float32), np.array([1500], object), np.ma.array([1500])],
)  # fmt: skip
def test_all_kinds_of_arrays_give_the_same(value):
    time = latency.serialization_s(value, bandwidth_bps=12_000_000)
    assert time.tolist() == [0.001]
    assert time.dtype == np.float64


def test_pandas_series_and_integers_that_would_overflow():
    series = pd.Series([2**31 - 1], dtype="int32")
    # derived: 8 x (2^31 - 1) bits at 8 bit/s; in int32 the product would wrap.
    assert float(np.asarray(latency.serialization_s(series, bandwidth_bps=8))[0]) == 2**31 - 1


def test_masked_elements_become_nan_and_are_told():
    masked = np.ma.array([1500.0, 10.0], mask=[False, True])
    with pytest.warns(NotFiniteWarning, match="1 of 2 values are not finite, the first at index 1"):
        time = latency.serialization_s(masked, bandwidth_bps=12e6)
    assert time[0] == 0.001
    assert np.isnan(time[1])


def test_nan_among_good_values_is_one_warning():
    with pytest.warns(NotFiniteWarning) as caught:
        time = latency.serialization_s([1500, np.nan, np.inf, 1500], bandwidth_bps=12e6)
    assert len(caught) == 1
    assert "wire_bytes: 2 of 4 values are not finite, the first at index 1" in str(
        caught[0].message
    )
    assert np.isnan(time).tolist() == [False, True, True, False]


def test_a_lone_nan_gives_nan_without_a_warning():
    assert np.isnan(latency.serialization_s(np.nan, bandwidth_bps=12e6))


@pytest.mark.each("wrong", ["1500", b"1500", True, ["a"], [1j], None, {"a": 1}])
def test_what_is_no_number_is_a_type_error_naming_the_argument(wrong):
    with pytest.raises(TypeError, match="wire_bytes must contain numbers"):
        latency.serialization_s(wrong, bandwidth_bps=1e6)


@pytest.mark.each("empty", [[], np.empty((0, 3))])
def test_empty_in_empty_out(empty):
    assert latency.serialization_s(empty, bandwidth_bps=1e6).size == 0


@pytest.mark.each(
    ("arguments", "value", "index"),
    [
        ({"bandwidth_bps": 0}, 0, None),
        ({"bandwidth_bps": -1e6}, -1e6, None),
        ({"bandwidth_bps": [1e6, 2e6, -5]}, -5, 2),
    ],
)
def test_impossible_numbers_name_argument_value_and_range(arguments, value, index):
    with pytest.raises(DomainError) as refused:
        latency.serialization_s(1500, **arguments)
    error = refused.value
    assert (error.code, error.name, error.value) == ("not-positive", "bandwidth_bps", value)
    assert error.values["index"] == index
    assert error.allowed == "greater than 0"
    assert ("(at index 2)" in str(error)) is (index == 2)


def test_extremes_leak_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isposinf(latency.serialization_s(1e308, bandwidth_bps=1e-308))
        assert latency.serialization_s(5e-324, bandwidth_bps=1e308) == 0
        assert latency.transfer_s(1e308, bandwidth_bps=1e308, latency_s=1e-308) == 8


def test_inputs_are_not_changed():
    sizes = np.array([1.0, 2.0])
    latency.transfer_s(sizes, bandwidth_bps=8.0, latency_s=1.0)
    latency.echo_rtt_s(sizes, bandwidth_bps=8.0, base_rtt_s=1.0)
    assert sizes.tolist() == [1.0, 2.0]
