"""Access networks: seeded arrivals between grants, and frames byte by byte."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.media import access
from netcalc.models.sizes import serial_lines


@pytest.mark.each(("interval", "way", "work"), [(2e-3, 1e-4, 1e-3), (125e-6, 5e-5, 0.0)])
def test_requests_and_grants_event_by_event(interval, way, work):
    """Second method: random packets, chances to ask and grants at random phases."""
    draws = np.random.default_rng(6)
    arrival = draws.random(100_000) * 1000 * interval
    phase = draws.random(100_000) * interval
    asked = (np.floor(arrival / interval) + 1) * interval + way
    granted = (np.floor((asked - phase) / interval) + 1) * interval + phase
    wait = granted + work + way - arrival
    times = {"propagation_s": way, "processing_s": work}
    mean = access.request_grant_s(interval, **times)
    assert abs(wait.mean() - mean) < 4 * wait.std() / np.sqrt(wait.size)
    longest = float(access.request_grant_max_s(interval, **times))
    assert longest - 0.03 * interval < wait.max() <= longest * (1 + 1e-9)


@pytest.mark.each("size", [40, 41, 42, 43, 576, 1500])
def test_vdsl_line_byte_by_byte(size):
    """Second method: one more byte for each 64, or part of them; published: 1546 for 1500."""
    line = 0
    for sent in range(size + 22):
        line += 2 if sent % 64 == 0 else 1
    assert access.ptm_wire_bytes(size) == line
    assert access.ptm_wire_bytes(1500) == 1546


def test_efficiency_of_serial_lines():
    """Derived: the bytes of a frame one by one; identity: what the wire size says."""
    frame = len([0x7E, 0xFF, 0x03, 0x00, 0x21, *[0] * 1500, 0, 0, 0x7E])
    assert access.ppp_efficiency_ratio(1500) == pytest.approx(1500 / frame, rel=1e-13)
    wire = float(serial_lines.ppp_wire_bytes(40, stuffing_ratio=0.0161))
    found = access.ppp_efficiency_ratio(40, stuffing_ratio=0.0161)
    assert found == pytest.approx(40 / wire, rel=1e-13)
    # Cisco's HDLC has as many bytes as PPP; that of the standard has two less
    assert access.hdlc_efficiency_ratio(1500) == pytest.approx(1500 / frame, rel=1e-13)
    plain = access.hdlc_efficiency_ratio(1500, header_bytes=2)
    assert plain == pytest.approx(1500 / (frame - 2), rel=1e-13)


def test_only_what_is_between_the_flags_is_stuffed():
    """Derived: 1 flag, and (4 + 100 + 4) x 1.1 between, against 4 flags and (4 + 100 + 1) x 1.1."""
    found = access.ppp_efficiency_ratio(100, fcs_bytes=4, flag_bytes=1, stuffing_ratio=0.1)
    assert found == pytest.approx(100 / (1 + 108 * 1.1), rel=1e-12)
    found = access.hdlc_efficiency_ratio(100, fcs_bytes=4, flag_bytes=1, stuffing_ratio=0.1)
    assert found == pytest.approx(100 / (1 + 108 * 1.1), rel=1e-12)
