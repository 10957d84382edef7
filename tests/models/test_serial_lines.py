"""Serial lines: stuffing by a real stuffer, SONET by counting columns, published rates."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import units
from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.sizes import serial_lines


def stuffed_bits(bits):
    """Second method: ISO 13239, a zero after five ones in a row."""
    added, run = 0, 0
    for bit in bits:
        run = run + 1 if bit else 0
        if run == 5:
            added, run = added + 1, 0
    return added


@pytest.mark.each("ones_ratio", [0.3, 0.5, 0.8])
def test_bit_stuffing_against_a_stuffer(ones_ratio):
    bits = np.random.default_rng(7).random(200_000) < ones_ratio
    expected = stuffed_bits(bits.tolist()) / bits.size
    error = 4 * np.sqrt(expected / bits.size)  # four deviations of a count
    assert float(serial_lines.bit_stuffing_ratio(ones_ratio)) == pytest.approx(expected, abs=error)


def test_bit_stuffing_limits():
    assert serial_lines.bit_stuffing_ratio(0.5) == pytest.approx(1 / 62)  # published: RFC 4814
    assert serial_lines.bit_stuffing_ratio(1.0) == pytest.approx(stuffed_bits([1] * 50) / 50)
    assert serial_lines.bit_stuffing_ratio(0.0) == 0


@pytest.mark.each("accm", [0x00000000, 0x000A0000, 0xFFFFFFFF])
def test_byte_stuffing_against_all_values(accm):
    # derived: RFC 1662: each of the 256 values once, those reserved are escaped
    reserved = {0x7D, 0x7E} | {value for value in range(32) if accm >> value & 1}
    found = serial_lines.byte_stuffing_ratio(accm.bit_count())
    assert found == len(reserved) / 256


def test_ppp_sizes_and_rates():
    # published: RFC 6349 section 4.1: 8 bytes, 3664 frames per second on a T3
    assert serial_lines.ppp_wire_bytes(1500) == 1508
    assert int(serial_lines.ppp_packet_rate_pps(1500, bandwidth_bps=44.21e6)) == 3664
    # derived: 32-bit check, shared flag, and a fifth more bits between the flags
    worst = serial_lines.ppp_wire_bytes(1500, fcs_bytes=4, flag_bytes=1, stuffing_ratio=0.2)
    assert worst == pytest.approx(1508 * 1.2 + 1)


@pytest.mark.each("sts", [1, 3, 12, 48, 192, 768])
def test_sonet_by_counting_columns(sts):
    # derived: ANSI T1.105: 90 columns for each STS, 3 of transport overhead, 1 of path overhead,
    # and N/3 - 1 of fixed stuff; 9 rows, 8000 times a second
    per_column = 9 * 8 * 8000
    assert serial_lines.sonet_line_bps(sts) == pytest.approx(90 * sts * per_column)
    stuff = max(0, sts // 3 - 1)
    payload = (90 * sts - 3 * sts - 1 - stuff) * per_column
    assert serial_lines.sonet_payload_bps(sts) == pytest.approx(payload)
    # identity: the named lines of netcalc.units say the same
    named = units.line(f"OC-{sts}")
    assert named.exact_bps == pytest.approx(90 * sts * per_column)
    assert named.payload_bps == pytest.approx(payload)


def test_fixed_stuff_is_not_forgotten():
    # the trap: 599.04, not 600.77 Mbit/s for STS-12c
    assert serial_lines.sonet_payload_bps(12) == 599.04e6  # published: RFC 5180 appendix A.2


@pytest.mark.each(
    ("sts", "frame_bytes", "expected"),
    [(3, 47, 390_000), (3, 64, 288_000), (12, 47, 1_560_000), (48, 47, 6_240_000)],
)
def test_published_rates_of_packet_over_sonet(sts, frame_bytes, expected):
    # published: RFC 5180 appendix A.2
    assert serial_lines.pos_frame_rate_pps(frame_bytes, sts_count=sts) == pytest.approx(expected)


def test_channels():
    assert serial_lines.channel_payload_bps(24) == 1.536e6  # published: RFC 6349, T1
    assert serial_lines.channel_payload_bps(24) == units.line("T1").payload_bps
    assert serial_lines.channel_payload_bps(31) == units.line("E1").payload_bps


@pytest.mark.each(
    ("call", "facts"),
    [
        (lambda: serial_lines.bit_stuffing_ratio(1.1), {"name": "ones_ratio"}),
        (lambda: serial_lines.byte_stuffing_ratio(33), {"name": "control_count"}),
        (lambda: serial_lines.byte_stuffing_ratio(0.5), {"name": "control_count"}),
        (lambda: serial_lines.sonet_line_bps(0), {"name": "sts_count"}),
        (
            lambda: serial_lines.sonet_payload_bps([3, 4]),
            {"code": "not-a-multiple", "name": "sts_count", "value": 4, "factor": 3},
        ),
        (lambda: serial_lines.ppp_wire_bytes(1500, stuffing_ratio=20), {"name": "stuffing_ratio"}),
        (lambda: serial_lines.channel_payload_bps(1.5), {"name": "channel_count"}),
    ],
)
def test_impossible_numbers_are_named(call, facts):
    with pytest.raises(DomainError) as refused:
        call()
    assert {"code": refused.value.code, **refused.value.values}.items() >= facts.items()


def test_nan_goes_through():
    with pytest.warns(NotFiniteWarning):
        rates = serial_lines.sonet_line_bps([3, np.nan])
    assert rates[0] == 155.52e6
    assert np.isnan(rates[1])
