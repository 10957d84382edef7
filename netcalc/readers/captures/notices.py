"""What a capture cannot show, or shows of its own making, as notices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from netcalc.messages import Notice
from netcalc.readers.captures import decode, link
from netcalc.readers.captures.blocks import MISSING_NS, FileFacts, Ints
from netcalc.readers.captures.flows import MIRROR_S, SYN, mirrored
from netcalc.readers.captures.scans import Bools
from netcalc.samples import Layer, PacketTrace

ETHERNET_FRAME_BYTES = 1522
"""Longest Ethernet frame without FCS that carries 1500 bytes: with two tags. [byte]"""

JUMBO_FRAME_BYTES = 9100
"""Longer than any jumbo frame in use: above it, where no MSS was seen, is no frame. [byte]"""

COMMON_PACKET_BYTES = 1500
"""Longest IP packet of Ethernet without jumbo frames. [byte]"""

_NO_LIMIT = 65535
"""The MSS that stands for any length (RFC 2675, section 5)."""


def notices_of(trace: PacketTrace, facts: FileFacts, times: Ints) -> list[Notice]:
    """Return the notices of a whole capture."""
    return [*_file_notices(trace, facts), *_clock_notices(times), *_packet_notices(trace)]


def _file_notices(trace: PacketTrace, facts: FileFacts) -> list[Notice]:
    found = []
    if facts.capture_drop_count:
        found.append(Notice("capture-dropped", {"count": facts.capture_drop_count}))
    seen, counts = np.unique(trace.ints("link_number"), return_counts=True)
    for number, count in zip(seen.tolist(), counts.tolist(), strict=True):
        if not decode.is_read(number):
            name = link.NAMES.get(number, "unknown")
            found.append(
                Notice("link-type-skipped", {"number": number, "name": name, "count": count})
            )
    return found


def _clock_notices(times: Ints) -> list[Notice]:
    found = []
    known = times != MISSING_NS
    missing = int(times.size - np.count_nonzero(known))
    if missing:
        found.append(Notice("packets-without-time", {"count": missing}))
    steps = np.diff(times[known])
    back = steps < 0
    if back.any():
        values = {"count": int(back.sum()), "largest_s": float(-steps.min() / 1e9)}
        found.append(Notice("time-goes-back", values))
    return found


def _packet_notices(trace: PacketTrace) -> list[Notice]:
    found = []
    kept, original = trace.ints("kept_bytes"), trace.ints("original_bytes")
    beyond = int(np.count_nonzero(kept > original))
    if beyond:
        found.append(Notice("kept-above-original", {"count": beyond}))
    shorter = int(np.count_nonzero(kept < original))
    if shorter:
        values = {"count": shorter, "snap_bytes": int(kept[kept < original].max())}
        found.append(Notice("snap-length", values))
    counts = {
        "headers-cut": Layer.CUT,
        "lengths-disagree": Layer.MALFORMED,
        "ip-fragments": Layer.FRAGMENT,
        "length-left-to-card": Layer.OFFLOADED,
    }
    for code, layer in counts.items():
        count = int(np.count_nonzero(trace.has(layer)))
        if count:
            found.append(Notice(code, {"count": count}))
    copies = int(np.count_nonzero(mirrored(trace)))
    if copies:
        found.append(Notice("packets-mirrored", {"count": copies, "within_s": MIRROR_S}))
    no_ip = ~trace.has(Layer.IPV4 | Layer.IPV6 | Layer.ARP)
    no_ip &= np.isin(trace.ints("link_number"), list(link.READ))
    if no_ip.any():
        found.append(Notice("packets-without-ip", {"count": int(np.count_nonzero(no_ip))}))
    above, unlimited = _above_mss(trace)
    for code, large in (("offload-frames", above), ("offload-or-jumbo", unlimited)):
        if large.any():
            values = {
                "count": int(np.count_nonzero(large)),
                "largest_bytes": int(trace.ints("packet_bytes")[large].max()),
            }
            found.append(Notice(code, values))
    return found


def _above_mss(trace: PacketTrace) -> tuple[Bools, Bools]:
    """Return masks of the TCP segments that are no packets of the link, and that may be none.

    The first have more payload than the MSS that their receiver offered, or where no offer was
    seen, more than any frame; the others fill more than a common frame, and no offer was seen.
    """
    is_tcp = trace.has(Layer.TCP)
    payload, mss = trace.ints("payload_bytes"), trace.ints("mss_bytes")
    offers = np.flatnonzero(is_tcp & (trace.ints("tcp_flags") & SYN != 0) & (mss > 0))
    size = trace.ints("packet_bytes")
    found: Bools = is_tcp & (size > JUMBO_FRAME_BYTES)
    doubtful: Bools = is_tcp & (size > COMMON_PACKET_BYTES)
    if not offers.size:
        return found, doubtful & ~found
    rows = np.flatnonzero(is_tcp & (payload > mss[offers].min()) | doubtful)
    if not rows.size:
        return found, doubtful & ~found
    source, destination = _ends(trace, "source"), _ends(trace, "destination")
    ends = np.unique(np.append(source[offers], destination[offers]))
    ways = np.searchsorted(ends, destination[offers]) * ends.size
    ways += np.searchsorted(ends, source[offers])
    known, which = np.unique(ways, return_inverse=True)
    limits = np.zeros(known.size, np.int64)
    offered = mss[offers].astype(np.int64)
    np.maximum.at(limits, which, np.where(offered == _NO_LIMIT, 2**32, offered))

    one, other = np.searchsorted(ends, source[rows]), np.searchsorted(ends, destination[rows])
    way = one * ends.size + other
    place = np.minimum(np.searchsorted(known, way), known.size - 1)
    last = ends.size - 1
    has_offer = (ends[np.minimum(one, last)] == source[rows]) & (known[place] == way)
    has_offer &= ends[np.minimum(other, last)] == destination[rows]
    found[rows] = np.where(has_offer, payload[rows] > limits[place], found[rows])
    doubtful[rows] &= ~has_offer
    return found, doubtful & ~found


def _ends(trace: PacketTrace, name: str) -> NDArray[np.uint64]:
    """Return address and port of the senders, or of the receivers."""
    address = trace.ints(name).astype(np.uint64) << np.uint64(16)
    ends: NDArray[np.uint64] = address | trace.ints(f"{name}_port")
    return ends
