"""Which headers the packets of a run carry beside its user data."""

from __future__ import annotations

from netcalc.checks import named_arguments
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, STAMPED_HEADERS_BYTES
from netcalc.samples import Instrument, Meta

IPV6_EXTRA_BYTES = 20
"""Bytes by which the header of IPv6 is longer than that of IPv4: 40 minus 20. [byte]"""


def protocol(meta: Meta) -> str:
    """Return the transport of a run: that recorded, or for an older file the end of its target.

    Files saved before ``meta.protocol`` existed have a target such as ``emulated path, TCP``.
    """
    return meta.protocol or meta.target.rpartition(", ")[2].lower()


def ip_version(facts: Instrument) -> int:
    """Return the IP version of a run: 4 where none was recorded."""
    return 6 if facts.address_family == "IPv6" else 4


@named_arguments
def echo_headers(meta: Meta) -> int:
    """Return the headers of an echo: those of a live run, else those of ping. [byte]"""
    over_tcp = protocol(meta) == "tcp" or meta.layers.get("payload_bytes") == "TCP payload"
    headers = STAMPED_HEADERS_BYTES if over_tcp else DATAGRAM_HEADERS_BYTES
    return headers + IPV6_EXTRA_BYTES * (ip_version(meta.instrument) == 6)
