"""WireGuard: padding to 16 that stops at the MTU of its device."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.sizes import vpn


def message_by_fields(inner, device_mtu, ip_version):
    """Second method: the padding rule of the kernel in whole numbers, then the fields."""
    padding = min(device_mtu, (inner + 15) & ~15) - inner
    ip_header, udp, kind, receiver, counter, tag = (20, 40)[ip_version == 6], 8, 4, 4, 8, 16
    return ip_header + udp + kind + receiver + counter + inner + padding + tag


@pytest.mark.each("ip_version", [4, 6])
@pytest.mark.each("device_mtu", [1280, 1420, 1412, 1440])
def test_sizes_against_the_fields(device_mtu, ip_version):
    inner = np.arange(0, device_mtu + 1)
    expected = [message_by_fields(int(n), device_mtu, ip_version) for n in inner]
    sizes = vpn.wireguard_packet_bytes(inner, device_mtu_bytes=device_mtu, ip_version=ip_version)
    np.testing.assert_array_equal(sizes, expected)
    assert (np.diff(sizes) >= 0).all()  # a smaller packet is never larger on the wire


def test_published_sizes():
    assert vpn.wireguard_overhead_bytes(4) == 60  # published: WireGuard paper, 5.4.6
    assert vpn.wireguard_overhead_bytes(6) == 80
    assert vpn.wireguard_packet_bytes(0) == 60  # a keepalive is an empty payload
    assert vpn.wireguard_mtu_bytes(1500, ip_version=6) == 1420  # published: wg-quick
    assert vpn.wireguard_mtu_bytes(1500) == 1440


def test_the_largest_packet_fits_exactly():
    # identity: a packet of the device's MTU fills the path's MTU, whatever its remainder
    for mtu_bytes in (1280, 1387, 1492, 1500):
        inner = vpn.wireguard_mtu_bytes(mtu_bytes)
        assert vpn.wireguard_packet_bytes(inner, device_mtu_bytes=inner) == mtu_bytes


def test_impossible_and_outside():
    assert np.isnan(vpn.wireguard_packet_bytes(1421))
    with pytest.raises(DomainError, match="mtu_bytes"):
        vpn.wireguard_mtu_bytes(59)
    with pytest.raises(DomainError, match="packet_bytes"):
        vpn.wireguard_packet_bytes(-1)
    with pytest.raises(DomainError, match="ip_version"):
        vpn.wireguard_overhead_bytes(0)
