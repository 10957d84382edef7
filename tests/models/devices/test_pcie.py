"""PCI Express: published rates, and every packet written out."""

from __future__ import annotations

import pytest

from netcalc.models.hosts import pcie


@pytest.mark.each(
    ("generation", "lanes", "gbps"),
    [
        # Published: the usual table of gigabyte per second and direction
        ("gen1", 1, 0.250 * 8), ("gen2", 8, 4.0 * 8), ("gen3", 8, 7.877 * 8),
        ("gen4", 16, 31.508 * 8), ("gen5", 16, 63.015 * 8),
    ],
)  # fmt: skip
def test_published_rates(generation, lanes, gbps):
    assert pcie.pcie_link_bps(lanes, generation=generation) == pytest.approx(gbps * 1e9, rel=1e-4)


def packets(size, most, header):
    """Second method: the transaction layer packets, one after the other."""
    total = 0
    while size > 0:
        part = min(size, most)
        total, size = total + header + part, size - part
    return total


@pytest.mark.each("size", [0, 1, 64, 255, 256, 257, 1500, 4096])
@pytest.mark.each("most", [128, 256, 512])
def test_bytes_packet_by_packet(size, most):
    written = pcie.pcie_write_bytes(size, max_payload_bytes=most)
    # Framing 2, sequence number and check 6, header of 16 with a long address, or of 12
    assert written == packets(size, most, 2 + 6 + 16)
    assert pcie.pcie_read_bytes(size, max_payload_bytes=most) == packets(size, most, 2 + 6 + 12)


def test_rates_are_shares_of_the_link():
    """Derived: headers of 24 bytes, one for each 256 bytes or part of them."""
    for size, share in ((64, 64 / 88), (256, 256 / 280), (257, 257 / 305)):
        found = pcie.pcie_write_throughput_bps(size, bandwidth_bps=57.88e9)
        assert found == pytest.approx(57.88e9 * share, rel=1e-12)


def test_reads_by_whichever_direction_is_full():
    """Derived: requests of 24 bytes fill their direction below a data of 4 bytes."""
    for size in (1, 3, 4, 5, 64, 512, 513, 4096):
        data = packets(size, 256, 20)
        asked = 24 * -(-size // 512)
        found = pcie.pcie_read_throughput_bps(size, bandwidth_bps=1e9)
        assert found == pytest.approx(1e9 * size / max(data, asked), rel=1e-12)
