"""Addresses of a capture replaced: who is who stays secret, who shares a network stays visible."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from dataclasses import replace

from netcalc.samples import PacketTrace


def anonymized(trace: PacketTrace, *, key: bytes) -> PacketTrace:
    """Replace the addresses of a trace, so that common prefixes stay common.

    Two addresses that share their first n bits share exactly the first n bits afterwards; the same
    key gives the same replacement in every capture. Ports, times and sizes stay, and may still say
    who it was.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    key : bytes
        A secret; whoever has it can repeat the replacement.

    Returns
    -------
    PacketTrace
        The same packets with other addresses, without the names of host and file.

    References
    ----------
    J. Xu, J. Fan, M. H. Ammar, S. B. Moon, "Prefix-preserving IP address anonymization",
    Proc. IEEE ICNP 2002, doi:10.1109/ICNP.2002.1181415
    """
    one = trace.rows(slice(None))
    meta = replace(trace.meta, host="", target="", source="", sha256="", command="")
    object.__setattr__(one, "addresses", tuple(_replaced(text, key) for text in trace.addresses))
    object.__setattr__(one, "meta", meta)
    return one


def _replaced(text: str, key: bytes) -> str:
    """Flip each bit of an address or not, as a keyed hash of the bits before it says."""
    if not text:
        return text
    address = ipaddress.ip_address(text)
    width, number, flips = address.max_prefixlen, int(address), 0
    for length in range(width):
        prefix = f"{address.version}/{length}/{number >> (width - length):x}"
        digest = hmac.new(key, prefix.encode(), hashlib.sha256).digest()
        flips = flips << 1 | digest[0] >> 7
    return str(type(address)(number ^ flips))
