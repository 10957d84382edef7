"""Tunnels of a plan that leave too little of a packet."""

from __future__ import annotations

import pytest

from netcalc import planning
from netcalc.errors import DomainError
from netcalc.models.sizes.encapsulation import tunnel_mtu_bytes

STACK = "esp4:aes-gcm-16"


def test_an_mtu_that_a_tunnel_fills_is_refused_with_what_is_left_inside():
    """Derived: 20 B of IPv4, 20 B of TCP and 12 B of options are more than what is left."""
    with pytest.raises(DomainError) as refused:
        planning.tunnel(STACK, mtu_bytes=60.0)
    values = refused.value.values
    assert (refused.value.code, refused.value.name) == ("tunnel-too-small", "mtu_bytes")
    assert values["value"] == 60.0
    assert values["left_bytes"] == float(tunnel_mtu_bytes(60.0, stack=STACK)) == 6.0
    assert values["needed_bytes"] == 52.0


def test_the_least_mtu_that_leaves_room_is_planned():
    """Identity: one that leaves the headers of TCP and no payload is planned, one below is not."""
    least = next(
        size for size in range(60, 200) if float(tunnel_mtu_bytes(size, stack=STACK)) >= 52.0
    )
    assert planning.tunnel(STACK, mtu_bytes=least)["tunnel_mtu_bytes"] >= 52.0
    with pytest.raises(DomainError):
        planning.tunnel(STACK, mtu_bytes=least - 1)
