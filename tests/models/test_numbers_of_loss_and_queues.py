"""Every element-wise formula of loss, sharing, queues and probing over a grid of bad numbers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.measuring import clock, probing
from netcalc.models.queues import backlog, erlang, md1, mm1, queueing, token_bucket
from netcalc.models.tcp import bbr, cubic, loss_limited, pftk, sharing

MATHIS = {"mss_bytes": 1460.0, "rtt_s": 0.1, "constant": 1.2}
PFTK = {"rtt_s": 0.1, "rto_s": 0.4, "max_window_packets": 100.0, "segments_per_ack": 2.0}
TFRC = {"mss_bytes": 1460.0, "rtt_s": 0.1, "segments_per_ack": 1.0, "timeout_rtts": 4.0}
CURVE = {"cubic_scale": 0.4, "decrease_factor": 0.7}
CUBIC = {"packet_bytes": 1500.0, "rtt_s": 0.1, **CURVE, "reno_constant": 1.2}
SAW = {"segments_per_ack": 1.0, "increase_packets": 1.0, "decrease_factor": 0.5}
ONE = {"service_s": 1e-3}
BUCKET = {"bucket_bytes": 1e5, "token_bps": 1e7, "peak_bps": 1e9}
FLUID = {"input_bps": 2e9, "output_bps": 1e9}

GOOD = {  # a function, and good numbers for all that it takes
    loss_limited.mathis_constant: {"segments_per_ack": 2.0},
    loss_limited.mathis_throughput_bps: {"loss_ratio": 0.01, **MATHIS},
    loss_limited.mathis_loss_ratio: {"throughput_bps": 1e7, **MATHIS},
    loss_limited.reno_window_packets: {"loss_ratio": 0.01, "constant": 1.2},
    loss_limited.reno_loss_interval_s: {
        "loss_ratio": 0.01, "packet_bytes": 1500.0, "bandwidth_bps": 1e9,
    },
    loss_limited.aimd_window_packets: {
        "loss_ratio": 0.01, "increase_packets": 1.0, "decrease_factor": 0.5,
    },
    pftk.pftk_window_packets: {"loss_ratio": 0.01, "segments_per_ack": 2.0},
    pftk.pftk_timeout_ratio: {"window_packets": 10.0, "loss_ratio": 0.01},
    pftk.pftk_backoff_factor: {"loss_ratio": 0.01},
    pftk.timeout_sequence_s: {"loss_ratio": 0.01, "rto_s": 1.0},
    pftk.pftk_rate_pps: {"loss_ratio": 0.01, **PFTK},
    pftk.pftk_throughput_pps: {"loss_ratio": 0.01, **PFTK},
    pftk.pftk_approx_rate_pps: {"loss_ratio": 0.01, **PFTK},
    pftk.pftk_loss_ratio: {"rate_pps": 50.0, **PFTK},
    pftk.pftk_approx_loss_ratio: {"rate_pps": 50.0, **PFTK},
    pftk.tfrc_rounds: {"loss_ratio": 0.01, "segments_per_ack": 1.0, "timeout_rtts": 4.0},
    pftk.tfrc_throughput_bps: {"loss_ratio": 0.01, **TFRC},
    pftk.tfrc_loss_ratio: {"throughput_bps": 1e6, **TFRC},
    cubic.cubic_window_packets: {"elapsed_s": 3.0, "peak_window_packets": 1e3, **CURVE},
    cubic.cubic_k_s: {"peak_window_packets": 1e3, **CURVE},
    cubic.cubic_loss_interval_s: {"loss_ratio": 0.01, "rtt_s": 0.1, **CURVE},
    cubic.cubic_increase_packets: {"decrease_factor": 0.7},
    cubic.cubic_raw_window_packets: {"loss_ratio": 0.01, "rtt_s": 0.1, **CURVE},
    cubic.cubic_mean_window_packets: {
        "loss_ratio": 0.01, "rtt_s": 0.1, **CURVE, "reno_constant": 1.2,
    },
    cubic.cubic_throughput_bps: {"loss_ratio": 0.01, **CUBIC},
    cubic.cubic_loss_ratio: {"throughput_bps": 1e7, **CUBIC},
    sharing.aimd_utilization: {"buffer_bdp": 0.3, "decrease_factor": 0.5},
    sharing.cubic_utilization: {"buffer_bdp": 0.2, "decrease_factor": 0.7},
    sharing.full_use_buffer_bdp: {"decrease_factor": 0.5},
    sharing.sawtooth_period_s: {"peak_window_packets": 100.0, "rtt_s": 0.1, **SAW},
    sharing.sawtooth_packets: {"peak_window_packets": 100.0, **SAW},
    sharing.buffer_rule_bytes: {"bandwidth_bps": 1e9, "rtt_s": 0.1, "flow_count": 100.0},
    sharing.drain_s: {"buffer_bytes": 1e6, "bandwidth_bps": 1e9},
    bbr.bbr_inflight_limit_bytes: {"bandwidth_bps": 1e9, "base_rtt_s": 0.1, "window_gain": 2.0},
    bbr.bbr_loss_tolerance_ratio: {"probe_gain": 1.25},
    bbr.bbr_probe_rtt_ratio: {"probe_rtt_s": 0.2, "probe_rtt_interval_s": 10.0},
    bbr.bbr_startup_rounds: {
        "bandwidth_bps": 1e9, "rtt_s": 0.1, "mss_bytes": 1460.0, "initial_window_segments": 10.0,
    },
    sharing.jain_one_deviating: {"deviation": 0.5, "flow_count": 3.0},
    sharing.proportional_long_flow_bps: {"link_count": 3.0, "capacity_bps": 1e9},
    sharing.proportional_short_flow_bps: {"link_count": 3.0, "capacity_bps": 1e9},
    token_bucket.token_bucket_transfer_s: {"traffic_bytes": 1e6, **BUCKET},
    token_bucket.token_bucket_passed_bytes: {"duration_s": 0.5, **BUCKET},
    token_bucket.token_bucket_burst_bytes: BUCKET,
    mm1.mm1_wait_s: {"utilization": 0.8, **ONE},
    mm1.mm1_sojourn_s: {"utilization": 0.8, **ONE},
    mm1.mm1_customers: {"utilization": 0.8},
    mm1.mm1_queue_length: {"utilization": 0.8},
    mm1.mm1_state_probability: {"utilization": 0.8, "customer_count": 3.0},
    mm1.mm1_wait_cdf: {"wait_s": 0.01, "utilization": 0.8, **ONE},
    mm1.mm1_wait_percentile_s: {"utilization": 0.8, **ONE, "quantile": 0.9},
    mm1.mm1_sojourn_percentile_s: {"utilization": 0.8, **ONE, "quantile": 0.9},
    md1.md1_wait_s: {"utilization": 0.8, **ONE},
    md1.md1_customers: {"utilization": 0.8},
    md1.md1_wait_cdf: {"wait_s": 0.01, "utilization": 0.8, **ONE},
    md1.md1_wait_percentile_s: {"utilization": 0.8, **ONE, "quantile": 0.9},
    queueing.little_number: {"rate_pps": 1e3, "sojourn_s": 0.1},
    queueing.mg1_wait_s: {"utilization": 0.8, **ONE, "service_scv": 2.0},
    queueing.kingman_wait_s: {"utilization": 0.8, **ONE, "arrival_scv": 2.0, "service_scv": 1.0},
    backlog.fluid_backlog_bytes: {"duration_s": 0.1, **FLUID},
    backlog.fluid_fill_s: {"buffer_bytes": 1e6, **FLUID},
    mm1.mm1k_blocking_ratio: {"utilization": 0.8, "place_count": 5.0},
    mm1.mm1k_customers: {"utilization": 0.8, "place_count": 5.0},
    mm1.mm1k_throughput_pps: {"utilization": 0.8, "place_count": 5.0, **ONE},
    mm1.mm1k_sojourn_s: {"utilization": 0.8, "place_count": 5.0, **ONE},
    mm1.mm1k_wait_s: {"utilization": 0.8, "place_count": 5.0, **ONE},
    mm1.mm1k_wait_cdf: {
        "wait_s": 0.01, "utilization": 0.8, "place_count": 5.0, **ONE,
    },
    erlang.erlang_b_ratio: {"offered_erlang": 8.0, "server_count": 10.0},
    erlang.erlang_b_load: {"blocking_ratio": 0.01, "server_count": 10.0},
    erlang.erlang_b_server_count: {"offered_erlang": 8.0, "blocking_ratio": 0.01},
    erlang.erlang_c_ratio: {"offered_erlang": 8.0, "server_count": 10.0},
    erlang.erlang_c_server_count: {
        "offered_erlang": 8.0, "service_level_ratio": 0.8, "within_s": 20.0, "service_s": 180.0,
    },
    erlang.service_level_ratio: {
        "offered_erlang": 8.0, "server_count": 10.0, "within_s": 20.0, "service_s": 180.0,
    },
    erlang.mmc_wait_s: {"offered_erlang": 8.0, "server_count": 10.0, **ONE},
    erlang.mmc_wait_percentile_s: {
        "offered_erlang": 8.0, "server_count": 10.0, **ONE, "quantile": 0.9,
    },
    probing.hop_bandwidth_bps: {"rtt_slope": 2e-6, "previous_rtt_slope": 1e-6},
    probing.pair_bandwidth_bps: {"dispersion_s": 1e-3, "packet_bytes": 1500.0},
    probing.train_rate_bps: {"dispersion_s": 1e-3, "packet_bytes": 1500.0, "packet_count": 5.0},
    clock.reading_error_std_s: {"tick_s": 1e-3},
    clock.interval_error_limit_s: {"tick_s": 1e-3},
    clock.interval_error_std_s: {"duration_s": 0.0073, "tick_s": 1e-3},
    clock.typical_interval_error_std_s: {"tick_s": 1e-3},
}  # fmt: skip
GRID = (0.0, 5e-324, 1e-300, 1e-9, 0.5, 1 - 1e-12, 1.0, 1 + 1e-12, 2.0, 3.0, 1e6, 1e300, 1e308)
SIGNED = {"deviation", "rtt_slope", "previous_rtt_slope"}
MAY_BE_INFINITE = {"max_window_packets", "peak_bps", "window_packets"}
CASES = [(function, name) for function, inputs in GOOD.items() for name in inputs]


def call(function, inputs):
    swept, *others = inputs
    return function(inputs[swept], **{name: inputs[name] for name in others})


@pytest.mark.each(("function", "name"), CASES)
def test_no_number_leaks_a_warning_or_a_negative(function, name):
    """Any number of the grid is refused by name, or gives a value of 0 or more, or inf."""
    refused: set[str] = set()
    for value in GRID:
        try:
            result = float(call(function, {**GOOD[function], name: value}))
        except DomainError as error:
            refused.add(error.name)
            continue
        is_unreachable = math.isnan(result) and function.__name__.endswith("loss_ratio")
        is_falling = function is probing.hop_bandwidth_bps
        assert result >= 0 or is_unreachable or is_falling, f"{name}={value:g} gives {result}"
    assert refused <= {name}


@pytest.mark.each(("function", "name"), CASES)
def test_impossible_and_missing_numbers(function, name):
    for value in (math.nan, math.inf):
        if (
            value == math.inf
            and name in MAY_BE_INFINITE
            and function is not (token_bucket.token_bucket_burst_bytes)
        ):
            continue
        assert math.isnan(call(function, {**GOOD[function], name: value})), f"{name}={value}"
    if name not in SIGNED:
        with pytest.raises(DomainError, match=name) as refused:
            call(function, {**GOOD[function], name: -1.0})
        assert refused.value.name == name


@pytest.mark.each(("function", "name"), CASES)
def test_arrays_of_any_kind(function, name):
    """Identity: an element alone or in a row, whatever holds the row; a missing one beside it."""
    good = GOOD[function]
    alone = float(call(function, good))
    value = good[name]
    for row in (
        [value, value],
        (value, value),
        np.array([value, value]),
        np.array([[value], [value]]),
        np.array([value, value], dtype=object),
        pd.Series([value, value]),
    ):
        result = call(function, {**good, name: row})
        np.testing.assert_allclose(np.ravel(result), [alone, alone], rtol=1e-13)
    assert np.shape(call(function, {**good, name: []})) == (0,)
    with pytest.warns(NotFiniteWarning, match=f"{name}: 1 of 2 values"):
        result = call(function, {**good, name: [value, math.nan]})
    np.testing.assert_allclose(result, [alone, math.nan], rtol=1e-13)
    masked = np.ma.array([value, value], mask=[False, True])
    with pytest.warns(NotFiniteWarning):
        result = call(function, {**good, name: masked})
    np.testing.assert_allclose(result, [alone, math.nan], rtol=1e-13)
    for wrong in ("5", [True], None):
        with pytest.raises(TypeError, match=name):
            call(function, {**good, name: wrong})


def test_whole_numbers_are_numbers():
    """Identity: integers, and integers of 32 bits whose product would not fit."""
    small = np.array([2_000_000_000], dtype=np.int32)
    assert sharing.drain_s(small, bandwidth_bps=np.int32(8)) == 2e9
    assert sharing.sawtooth_packets(small) == pytest.approx(0.375 * 4e18)
    assert queueing.little_number(small, sojourn_s=small) == 4e18
