"""ATM: cells counted one by one, the published table of encapsulations, the step at a cell."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.sizes import serial_lines

# published: RFC 2684 and 2364 header by header, 8 bytes of AAL5 trailer last
LLC, SNAP, NLPID, PAD, ETH, PPP, PPPOE, TRAILER = 3, 5, 1, 2, 14, 2, 6, 8
PARTS = {
    "none": (),
    "ipoa-vcmux": (TRAILER,),
    "ipoa-llcsnap": (LLC, SNAP, TRAILER),
    "bridged-vcmux": (PAD, ETH, TRAILER),
    "bridged-llcsnap": (LLC, SNAP, PAD, ETH, TRAILER),
    "pppoa-vcmux": (PPP, TRAILER),
    "pppoa-llc": (LLC, NLPID, PPP, TRAILER),
    "pppoe-vcmux": (PAD, ETH, PPPOE, PPP, TRAILER),
    "pppoe-llcsnap": (LLC, SNAP, PAD, ETH, PPPOE, PPP, TRAILER),
}


@pytest.mark.each(("encapsulation", "parts"), PARTS.items())
def test_overhead_and_cells(encapsulation, parts):
    overhead = sum(parts)
    assert serial_lines.atm_overhead_bytes(encapsulation) == overhead
    packets = np.arange(0, 1600)
    expected = []
    for size in packets:  # derived: fill one cell after the other
        left, cells = int(size) + overhead, 0
        while left > 0:
            left, cells = left - 48, cells + 1
        expected.append(cells)
    found = serial_lines.atm_cell_count(packets, encapsulation=encapsulation)
    np.testing.assert_array_equal(found, expected)
    wire = serial_lines.atm_wire_bytes(packets, encapsulation=encapsulation)
    np.testing.assert_array_equal(wire, 53 * np.array(expected))


def test_published_sizes():
    assert serial_lines.atm_wire_bytes(100, encapsulation="none") == 159  # published: tc-stab(8)
    assert (
        serial_lines.atm_cell_count(40, encapsulation="ipoa-vcmux") == 1
    )  # a bare ACK in one cell
    assert serial_lines.atm_cell_count(40, encapsulation="ipoa-llcsnap") == 2  # or in two
    share = serial_lines.atm_efficiency_ratio(1500, encapsulation="ipoa-llcsnap")
    assert share == pytest.approx(1500 / 1696)  # derived: 32 cells
    assert (
        serial_lines.atm_efficiency_ratio(48, encapsulation="none") == 48 / 53
    )  # the cell tax of 9.4 %
    assert np.isnan(serial_lines.atm_efficiency_ratio(0, encapsulation="none"))


def test_frame_that_keeps_its_fcs():
    # derived: a bridged ACK is padded to 64 with FCS: 10 + 64 + 8 = 82, two cells
    assert serial_lines.atm_cell_count(40, encapsulation="bridged-llcsnap", fcs=True) == 2
    # derived: 10 + 14 + 1446 + 4 + 8 = 1482, 31 cells; without the FCS 1478, 31 too
    assert serial_lines.atm_cell_count(1446, encapsulation="bridged-llcsnap", fcs=True) == 31
    # derived: 2 + 14 + 8 + 1462 + 8 = 1494 is 32 cells; 1456 without FCS 1488 = 31, with 32
    assert serial_lines.atm_cell_count(1456, encapsulation="pppoe-vcmux") == 31
    assert serial_lines.atm_cell_count(1456, encapsulation="pppoe-vcmux", fcs=True) == 32
    # derived: 2 + 64 + 8 = 74 for the smallest PPPoE frame: two cells, however small the packet
    assert serial_lines.atm_cell_count(1, encapsulation="pppoe-vcmux", fcs=True) == 2
    # no Ethernet, no FCS
    assert serial_lines.atm_cell_count(1492, encapsulation="ipoa-vcmux", fcs=True) == 32


def test_packet_rate():
    # derived: 1 Mbit/s of cells, two for each ACK of PPPoA
    assert serial_lines.atm_packet_rate_pps(40, bandwidth_bps=1e6) == pytest.approx(1e6 / 8 / 106)


@pytest.mark.each(
    ("call", "facts"),
    [
        (
            lambda: serial_lines.atm_overhead_bytes("ipoa"),
            {"code": "not-a-choice", "name": "encapsulation"},
        ),
        (lambda: serial_lines.atm_cell_count(40, encapsulation="ptm"), {"name": "encapsulation"}),
        (lambda: serial_lines.atm_wire_bytes(-40), {"name": "packet_bytes"}),
        (lambda: serial_lines.atm_packet_rate_pps(40, bandwidth_bps=0), {"name": "bandwidth_bps"}),
    ],
)
def test_impossible_arguments_are_named(call, facts):
    with pytest.raises(DomainError) as refused:
        call()
    assert {"code": refused.value.code, **refused.value.values}.items() >= facts.items()


@pytest.mark.each(("encapsulation", "parts"), PARTS.items())
def test_frames_that_keep_their_fcs_part_by_part(encapsulation, parts):
    """derived: an Ethernet frame, wherever there is one, has an FCS of 4 and 64 bytes at least."""
    for packet in range(1600):
        before, frame = list(parts[:-1]), packet
        if ETH in before:
            at = before.index(ETH)
            frame = max(sum(before[at:]) + packet + 4, 64)
            before = before[:at]
        total = sum(before) + frame + sum(parts[-1:])
        expected = -(-total // 48)
        found = serial_lines.atm_cell_count(packet, encapsulation=encapsulation, fcs=True)
        assert found == expected, (packet, total)


def test_further_headers_of_each_packet():
    # derived: 30 + 10 + 8 bytes fill one cell, with one more byte two
    one = {"encapsulation": "ipoa-vcmux", "extra_bytes": 10}
    assert serial_lines.atm_cell_count(30, **one) == 1
    assert serial_lines.atm_cell_count(31, **one) == 2
    assert serial_lines.atm_wire_bytes(31, **one) == 106
    assert serial_lines.atm_efficiency_ratio(31, **one) == pytest.approx(31 / 106)
    assert serial_lines.atm_packet_rate_pps(31, bandwidth_bps=848e3, **one) == pytest.approx(1000)
    with pytest.raises(DomainError):
        serial_lines.atm_cell_count(31, extra_bytes=-1)


@pytest.mark.each(
    ("call", "bare", "framed"),
    [
        # derived: 10 bytes of packet, LLC/SNAP with Ethernet: 42, or 10 + 64 + 8 = 82 with its FCS
        (serial_lines.atm_cell_count, 1, 2),
        (serial_lines.atm_wire_bytes, 53, 106),
        (serial_lines.atm_efficiency_ratio, 10 / 53, 10 / 106),
    ],
)
def test_the_fcs_reaches_every_formula(call, bare, framed):
    setting = {"encapsulation": "bridged-llcsnap"}
    assert call(10, **setting) == pytest.approx(bare)
    assert call(10, fcs=False, **setting) == pytest.approx(bare)
    assert call(10, fcs=True, **setting) == pytest.approx(framed)
    assert serial_lines.atm_packet_rate_pps(10, bandwidth_bps=848e3, fcs=True, **setting) == 1000
    assert serial_lines.atm_packet_rate_pps(10, bandwidth_bps=848e3, **setting) == 2000


def test_pppoa_by_vcmux_is_assumed():
    # derived: 38 + 10 bytes fill one cell, 39 two
    assert [float(serial_lines.atm_cell_count(size)) for size in (38, 39)] == [1, 2]
    assert [float(serial_lines.atm_wire_bytes(size)) for size in (38, 39)] == [53, 106]
    assert serial_lines.atm_efficiency_ratio(38) == pytest.approx(38 / 53)
    assert serial_lines.atm_packet_rate_pps(38, bandwidth_bps=424e3) == pytest.approx(1000)


def test_a_packet_of_no_cells_has_no_limit():
    assert np.isinf(serial_lines.atm_packet_rate_pps(0, bandwidth_bps=1e6, encapsulation="none"))
