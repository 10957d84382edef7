"""The addresses of an emulated path: a range to which this machine has no route."""

from __future__ import annotations

import ipaddress
import random
from contextlib import suppress
from pathlib import Path as File
from typing import Any

from netcalc.errors import ExperimentError

_SHORTEST_V4, _LONGEST_DEFAULT_V6 = 8, 8  # lengths of prefixes


def free_subnets() -> dict[int, Any]:
    """Return a subnet of IPv4 and one of IPv6 to which this machine has no route.

    They exist in the namespaces of the path only; but a reader of the results should not mistake
    them for real ones. IPv4 is from 198.18.0.0/15, reserved for benchmarks (RFC 2544).
    """
    taken = routes()
    for number in random.sample(range(512), 512):
        subnet = ipaddress.ip_network((int(ipaddress.ip_address("198.18.0.0")) + 256 * number, 24))
        if not any(route.version == 4 and route.overlaps(subnet) for route in taken):
            break
    else:
        raise ExperimentError("no-free-subnet", phase="emulated path", range="198.18.0.0/15")
    while True:
        start = (0xFD << 120) | (random.getrandbits(40) << 80)
        subnet_v6 = ipaddress.ip_network((start, 64))
        if not any(route.version == 6 and route.overlaps(subnet_v6) for route in taken):
            return {4: subnet, 6: subnet_v6}


def routes() -> list[Any]:
    """Return the networks to which this machine has routes, default routes left out.

    So are prefixes shorter than any real network: a VPN overrides the default route by two halves,
    0.0.0.0/1 and 128.0.0.0/1.
    """
    found: list[Any] = []
    with suppress(OSError):
        for line in File("/proc/net/route").read_text().splitlines()[1:]:
            fields = line.split()
            network, mask = (int(fields[column], 16).to_bytes(4, "little") for column in (1, 7))
            prefix = f"{ipaddress.IPv4Address(network)}/{ipaddress.IPv4Address(mask)}"
            route = ipaddress.ip_network(prefix, strict=False)
            if route.prefixlen >= _SHORTEST_V4:
                found.append(route)
    with suppress(OSError):
        for line in File("/proc/net/ipv6_route").read_text().splitlines():
            fields = line.split()
            length = int(fields[1], 16)
            if length > _LONGEST_DEFAULT_V6:  # of multicast, too
                found.append(ipaddress.ip_network((int(fields[0], 16), length), strict=False))
    return found
