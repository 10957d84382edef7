"""Labels of pandas and xarray: aligned and kept, or refused with the reason; never by place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from netcalc.errors import ArgumentTypeError
from netcalc.models.delays.store_and_forward import pipeline_timeline, store_and_forward_s
from netcalc.models.hosts.mbufs import stream_mbufs
from netcalc.models.measuring.sample_statistics import ipdv_s, median, percentile
from netcalc.models.tcp.window import bdp_bytes

RTT = pd.Series([0.01, 0.02], index=["near", "far"])
BANDWIDTH = pd.Series([1e6, 1e9], index=["far", "near"])


def refusal(function, *args, **kwargs):
    with pytest.raises(ArgumentTypeError) as error:
        function(*args, **kwargs)
    return error.value.code


def test_series_meet_by_label():
    found = bdp_bytes(RTT, bandwidth_bps=BANDWIDTH)
    # derived by hand: 10 ms of 1 Gbit/s, 20 ms of 1 Mbit/s
    pd.testing.assert_series_equal(found, pd.Series([1.25e6, 2500.0], index=["near", "far"]))


def test_one_series_beside_numbers_keeps_its_labels():
    found = bdp_bytes(0.01, bandwidth_bps=BANDWIDTH)
    pd.testing.assert_series_equal(found, pd.Series([1250.0, 1.25e6], index=["far", "near"]))
    found = bdp_bytes(RTT, bandwidth_bps=[1e9, 1e6])  # that has places only, as pandas takes it
    pd.testing.assert_series_equal(found, pd.Series([1.25e6, 2500.0], index=["near", "far"]))


def test_columns_of_a_result_are_labelled():
    found = stream_mbufs(pd.Series([100, 5000], index=["small", "large"]))
    assert list(found.clusters.index) == ["small", "large"]
    assert found.clusters["small"] == 0  # by definition: 100 bytes fit one mbuf


def test_missing_numbers_of_pandas_are_nan():
    with pytest.warns(match="not finite"):
        found = bdp_bytes(pd.Series([1, None], dtype="Int64"), bandwidth_bps=8.0)
    pd.testing.assert_series_equal(found, pd.Series([1.0, np.nan]))


def test_lists_as_one_thing_are_aligned_with_each_other():
    rate = pd.Series([1e6, 1e7], index=["a", "b"])
    latency = pd.Series([0.5, 0.25], index=["b", "a"])
    found = pipeline_timeline([1000], bandwidth_bps=rate, latency_s=latency)
    # derived: 8 ms on a, then 0.25 s; 0.8 ms on b, then 0.5 s
    assert found.last_bit_s.tolist() == [pytest.approx([0.258, 0.7588])]
    assert type(store_and_forward_s(1000, bandwidth_bps=rate, latency_s=latency)) is float


def test_statistics_of_a_series():
    values = pd.Series([5.0, 1.0, 3.0], index=["x", "y", "z"])
    assert median(values) == 3.0  # by definition
    quantile = pd.Series([0.0, 0.5, 1.0], index=["low", "middle", "high"])
    found = percentile(values, quantile=quantile)
    pd.testing.assert_series_equal(found, pd.Series([1.0, 3.0, 5.0], index=quantile.index))
    assert type(percentile(values, quantile=[0.0, 0.5, 1.0])) is np.ndarray
    assert type(ipdv_s(values)) is np.ndarray  # one fewer than there are labels


@pytest.mark.each(
    ("code", "bandwidth"),
    [
        ("labels-differ", pd.Series([1e6, 1e9], index=["far", "middle"])),
        ("labels-differ", pd.Series([1e6, 1e9, 1e9], index=["far", "near", "middle"])),
        ("labels-differ", pd.Series([1e6, 1e9], index=["far", "far"])),
        ("labels-not-kept", np.array([[1e6], [1e9]])),
        ("labels-not-kept", [1e6, 1e9, 1e9]),
        ("table-for-numbers", BANDWIDTH.to_frame()),
        ("labels-not-kept", xr.DataArray([1e6, 1e9], dims="site")),
    ],
)
def test_series_that_do_not_fit_are_refused(code, bandwidth):
    assert refusal(bdp_bytes, RTT, bandwidth_bps=bandwidth) == code


GRID_RTT = xr.DataArray([0.01, 0.02], dims="rtt", coords={"rtt": ["near", "far"]})


def test_dimensions_make_a_grid():
    bandwidth = xr.DataArray([1e6, 1e9], dims="bw", coords={"bw": ["slow", "fast"]})
    found = bdp_bytes(GRID_RTT, bandwidth_bps=bandwidth)
    assert found.dims == ("rtt", "bw")
    # derived by hand
    assert found.sel(rtt="far", bw="fast") == pytest.approx(2.5e6)
    assert found.sel(rtt="near", bw="slow") == pytest.approx(1250.0)


def test_arrays_meet_by_label_within_a_dimension():
    bandwidth = xr.DataArray([1e6, 1e9], dims="rtt", coords={"rtt": ["far", "near"]})
    found = bdp_bytes(GRID_RTT, bandwidth_bps=bandwidth)
    expected = xr.DataArray([1.25e6, 2500.0], dims="rtt", coords={"rtt": ["near", "far"]})
    xr.testing.assert_allclose(found, expected)
    assert found.name is None
    assert found.attrs == {}


@pytest.mark.each(
    ("code", "bandwidth"),
    [
        ("labels-differ", xr.DataArray([1e6], dims="rtt", coords={"rtt": ["near"]})),
        ("labels-differ", xr.DataArray([1e6, 1e9, 1e9], dims="rtt")),
        ("labels-not-kept", [1e6, 1e9]),
        ("labels-not-kept", BANDWIDTH),
        ("table-for-numbers", xr.Dataset({"bandwidth": GRID_RTT})),
    ],
)
def test_arrays_that_do_not_fit_are_refused(code, bandwidth):
    assert refusal(bdp_bytes, GRID_RTT, bandwidth_bps=bandwidth) == code


def test_dimensions_for_a_list_are_refused():
    assert refusal(median, GRID_RTT) == "list-with-dimensions"


def test_every_refusal_names_the_way_out():
    for code in ("labels-differ", "labels-not-kept", "table-for-numbers", "list-with-dimensions"):
        error = ArgumentTypeError(code, "rtt_s", "Series", other="bandwidth_bps")
        assert ".to_numpy()" in str(error)
