"""What a capture cannot show, or shows of its own making, as notices."""

from __future__ import annotations

import numpy as np

from netcalc.messages import Notice
from netcalc.readers.captures import decode, link
from netcalc.readers.captures.blocks import MISSING_NS, FileFacts, Ints
from netcalc.readers.captures.flows import MIRROR_S, mirrored
from netcalc.samples import Layer, PacketTrace

ETHERNET_FRAME_BYTES = 1522
"""Longest Ethernet frame without FCS that carries 1500 bytes: with two tags. [byte]"""

JUMBO_FRAME_BYTES = 9100
"""Longer than any jumbo frame in use. [byte]"""


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
    large = trace.has(Layer.TCP) & (trace.ints("packet_bytes") > JUMBO_FRAME_BYTES)
    if large.any():
        values = {
            "count": int(np.count_nonzero(large)),
            "largest_bytes": int(trace.ints("packet_bytes")[large].max()),
        }
        found.append(Notice("offload-frames", values))
    return found
