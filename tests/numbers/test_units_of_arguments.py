"""Quantities of pint: converted to the unit of the argument's name, or refused; never bare."""

from __future__ import annotations

import numpy as np
import pandas
import pint
import pytest
import xarray

from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.models.delays.latency import propagation_s, serialization_s
from netcalc.models.hosts.host_stack import bulk_s
from netcalc.models.links.channel import shannon_bps
from netcalc.models.measuring.sample_statistics import median
from netcalc.models.rates.line_rate import line_utilization
from netcalc.models.sizes.vpn import esp_packet_bytes
from netcalc.models.tcp.loss_limited import mathis_throughput_bps
from netcalc.models.tcp.window import bdp_bytes
from netcalc.path import Link

UNITS = pint.UnitRegistry()
Q = UNITS.Quantity


def test_a_quantity_is_converted_to_the_unit_in_the_name():
    # derived: 10e9 bit/s x 0.08 s / 8
    assert bdp_bytes(Q(80, "ms"), bandwidth_bps=Q(10, "Gbit/s")) == pytest.approx(1e8)


@pytest.mark.each(
    "rtt",
    [
        Q(np.array([80.0, 160.0]), "ms"),
        [Q(80, "ms"), Q(0.16, "s")],
        [0.08, Q(160, "ms")],
        np.array([Q(80, "ms"), 0.16], dtype=object),
    ],
)
def test_arrays_and_lists_of_quantities(rtt):
    found = bdp_bytes(rtt, bandwidth_bps=Q(10, "Gbit/s"))
    assert type(found) is np.ndarray
    assert found == pytest.approx([1e8, 2e8])  # derived, as above


def test_other_units_of_the_same_kind():
    # derived: 8192 bit at 1.024 Mbit/s; 2 Mm at 200 m/us
    assert serialization_s(Q(1, "KiB"), bandwidth_bps=Q(1.024, "Mbit/s")) == pytest.approx(0.008)
    assert propagation_s(Q(2, "Mm"), speed_m_s=Q(200, "m/us")) == pytest.approx(0.010)
    costs = {"packet_cost": Q(2, "us"), "byte_cost": Q(3, "ns/byte")}
    bare = {"packet_cost": 2e-6, "byte_cost": 3e-9}
    assert bulk_s(7000, segment_bytes=1000, **costs) == pytest.approx(
        bulk_s(7000, segment_bytes=1000, **bare)
    )  # identity
    assert mathis_throughput_bps(Q(0.5, "percent"), mss_bytes=1460, rtt_s=0.1) == pytest.approx(
        mathis_throughput_bps(0.005, mss_bytes=1460, rtt_s=0.1)
    )  # identity


def test_a_width_of_a_channel_in_megahertz():
    # published: Shannon, C = B log2(1 + S/N); 3.1 kHz and 0 dB are 3100 bit/s
    assert shannon_bps(Q(3.1, "kHz"), snr_db=0) == pytest.approx(3100, rel=1e-15)
    with pytest.raises(ArgumentTypeError, match="takes hertz"):
        shannon_bps(Q(3.1, "kbit/s"), snr_db=0)


def test_whole_bytes_stay_whole_in_another_unit():
    """Identity: 0.208 kB is 207.99999999999997 B in floating point."""
    for size in (208, 542, 1001, 1500):
        same = esp_packet_bytes(size)
        assert esp_packet_bytes(Q(size / 1000, "kB")) == same
        assert esp_packet_bytes(Q([size / 1000, 0.1], "kB"))[0] == same
    with pytest.raises(DomainError):
        esp_packet_bytes(Q(0.2085, "kB"))


@pytest.mark.each(
    ("quantity", "name"),
    [
        (Q(1500, "meter"), "wire_bytes"),
        (Q(1500, ""), "wire_bytes"),  # pint takes a bit for a bare number
        (Q(1500, "byte/s"), "wire_bytes"),
        (Q(10, "kelvin"), "bandwidth_bps"),
        (Q(10, "1/s"), "bandwidth_bps"),
        (Q(10, "byte"), "bandwidth_bps"),
    ],
)
def test_a_unit_of_another_kind_is_refused(quantity, name):
    arguments = {"wire_bytes": 1500, "bandwidth_bps": 1e9, name: quantity}
    with pytest.raises(ArgumentTypeError) as error:
        serialization_s(arguments["wire_bytes"], bandwidth_bps=arguments["bandwidth_bps"])
    assert error.value.code == "unit-of-another-kind"
    assert error.value.values["name"] == name


def test_a_bit_rate_is_no_packet_rate():
    with pytest.raises(ArgumentTypeError) as error:
        line_utilization(Q(1, "Gbit/s"), frame_bytes=64, bandwidth_bps=1e9)
    assert error.value.code == "unit-of-another-kind"
    # derived: 1e6 frames of 64 + 20 bytes are 672 Mbit/s
    found = line_utilization(Q(1, "1/us"), frame_bytes=64, bandwidth_bps=Q(1, "Gbit/s"))
    assert found == pytest.approx(0.672)


def test_numbers_of_one_unit_cannot_be_told_which():
    with pytest.raises(ArgumentTypeError) as error:
        median([Q(1, "ms"), Q(2, "ms")])
    assert error.value.code == "unit-of-another-kind"


def test_facts_take_quantities_too():
    assert Link(Q(1, "Gbit/s"), Q(5, "ms")).transfer_s(125_000) == pytest.approx(0.006)  # derived


class Measured(np.ndarray):
    """What packages of units make that derive from numpy's arrays."""

    unit = "ms"


def test_units_that_are_not_known_are_refused():
    with pytest.raises(ArgumentTypeError) as error:
        bdp_bytes(np.array([80.0]).view(Measured), bandwidth_bps=1e9)
    assert error.value.code == "unit-not-read"


def test_units_inside_of_labels():
    rtt = xarray.DataArray(Q(np.array([80.0, 160.0]), "ms"), dims="path")
    with pytest.raises(
        ArgumentTypeError, match="rtt_s has a unit that cannot be used here"
    ) as error:
        bdp_bytes(rtt, bandwidth_bps=1e9)
    assert error.value.values["name"] == "rtt_s"
    several = pandas.Series([Q(80, "ms"), Q(160, "ms")], index=["a", "b"], dtype=object)
    found = bdp_bytes(several, bandwidth_bps=1e9)
    assert found.to_dict() == pytest.approx({"a": 1e7, "b": 2e7})  # derived: 1e9 x 0.08 / 8


@pytest.mark.parametrize("count", [3, 20_000])
def test_a_list_of_quantities_is_converted_whatever_its_length(count):
    sizes = serialization_s([Q(1.0, "kB")] * count, bandwidth_bps=1e6)
    assert sizes.tolist() == [0.008] * count
    rates = serialization_s([1000.0] * count, bandwidth_bps=[Q(1.0, "Mbit/s")])
    assert rates.tolist() == [0.008] * count
    with pytest.raises(ArgumentTypeError):
        serialization_s([1000.0] * count, bandwidth_bps=[Q(1.0, "meter")])
