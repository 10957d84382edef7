"""Asymmetric paths: the RFC's examples, inverses."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.delays import asymmetry


def test_ack_limit_and_load_are_inverse():
    """Identity; and the limit is met exactly where k equals the segments per ACK."""
    sizes = {"ack_wire_bytes": 52, "mss_bytes": 1448, "segments_per_ack": np.array([1, 2])}
    limit = asymmetry.ack_limited_throughput_bps(256e3, **sizes)
    assert asymmetry.ack_bandwidth_bps(limit, **sizes) == pytest.approx(256e3)
    k = asymmetry.asymmetry_factor(
        limit, reverse_bandwidth_bps=256e3, wire_bytes=1448, ack_wire_bytes=52
    )
    assert k == pytest.approx([1, 2])


def test_published_asymmetric_paths():
    """Published: RFC 3449, 2: k = 8 over 10 Mbit/s and 50 kbit/s; 128 kbit/s returns 9.344."""
    k = asymmetry.asymmetry_factor(
        10e6, reverse_bandwidth_bps=50e3, wire_bytes=1000, ack_wire_bytes=40
    )
    assert k == pytest.approx(8)
    limit = asymmetry.ack_limited_throughput_bps(128e3, ack_wire_bytes=40, mss_bytes=1460)
    assert limit == pytest.approx(9.344e6)


def test_impossible():
    with pytest.raises(DomainError, match="ack_wire_bytes"):
        asymmetry.ack_limited_throughput_bps(128e3, ack_wire_bytes=0, mss_bytes=1460)
    with pytest.raises(DomainError, match="goodput_bps"):
        asymmetry.ack_bandwidth_bps(-1, ack_wire_bytes=40, mss_bytes=1460)
