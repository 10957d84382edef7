"""Interfaces by their counters: size of packets, drops, rates, and the line at that size."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from netcalc.explain.evidence import MOST_PACKET_BYTES, first_known
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.known import Known
from netcalc.explain.rate_limits import COUNT_TOLERANCE
from netcalc.messages import Notice
from netcalc.rate_layers import FRAME
from netcalc.samples import COUNTER_LIMIT

MOST_FRAME_BYTES = MOST_PACKET_BYTES + 14
"""Longer packets of a counter are several, joined by the network card. [byte]"""
MOST_JOINED_BYTES = 2**19
"""No system joins packets to more than this: 512 KiB, BIG TCP of Linux. [byte]"""
UNSEEN_BYTES = 24
"""FCS, preamble and gap, which counters of an interface leave out. [byte]"""
SAR_UTILIZATION_STEP = 0.005
"""Half of the last digit of sar's utilization of an interface. [percent]"""
UNCOUNTED = ("interface-idle", "packets-without-bytes")
"""Notices of a direction without a mean size."""
_DROPS = re.compile(r"(?i).*(?:drop|drp|discard|missed|fifo|ovr|over|no_buf)")
_ERRORS = re.compile(r"(?i).*(?:err|crc|carrier|coll)")
_DIRECTIONS = {
    "received": ("rx_bytes", "rx_packets", "RX-OK", r"(?i)rx"),
    "sent": ("tx_bytes", "tx_packets", "TX-OK", r"(?i)tx"),
}  # fmt: skip


def interface_findings(name: str, one: Mapping[str, float], known: Known) -> list[Finding]:
    """Return what the counters of an interface say of each direction.

    Parameters
    ----------
    name : str
        The interface.
    one : mapping of str to float
        Its counters, as ``ip -s``, ``ethtool -S``, ``netstat -i`` or ``/proc/net/dev`` name them.
    known : Known
        ``line_bps`` gives the ceiling for packets of their mean size.

    Returns
    -------
    list of Finding
        One for each direction that has counted; empty if these are not those of an interface.
    """
    prefixed = [key for key in one if re.match("(?i)[rt]x[-_]", key)]
    if not prefixed:
        return []
    found = []
    odd = [key for key, value in one.items() if value >= COUNTER_LIMIT]
    one = {key: value for key, value in one.items() if key not in odd}
    for direction, (size, packets, frames, prefix) in _DIRECTIONS.items():
        count = first_known(one.get(packets), one.get(frames))
        mine = {key: value for key, value in one.items() if re.match(prefix, key) and value > 0}
        not_counted = [key for key in odd if re.match(prefix, key)]
        if mine or count > 0 or not_counted:
            label = f"{name}, {direction}" if name else direction
            mean = one.get(size, math.nan) / count if count > 0 else math.nan
            each = _direction(label, int(first_known(count, 0.0)), mean, mine, known)
            if not_counted:
                notice = Notice("counters-implausible", {"names": not_counted})
                kept = [said for said in each.notices if said.code not in UNCOUNTED]
                each = replace(each, notices=(notice, *kept))
            found.append(each)
    return found or [Finding(label=name, notices=(Notice("interface-idle"),))]


def _direction(
    label: str, count: int, mean_bytes: float, counted: Mapping[str, float], known: Known
) -> Finding:
    said, limits = [], []
    if mean_bytes > MOST_JOINED_BYTES:
        apart = {"count": count, "size_bytes": count * mean_bytes}
        said.append(Notice("counters-disagree", apart))
    elif mean_bytes > 0:
        said.append(Notice("mean-packet", {"count": count, "mean_bytes": mean_bytes}))
    if MOST_FRAME_BYTES < mean_bytes <= MOST_JOINED_BYTES:
        said.append(Notice("packets-joined", {"mean_bytes": mean_bytes}))
    elif 0 < mean_bytes <= MOST_FRAME_BYTES and known.line_bps is not None:
        limits.append(_line(mean_bytes, known.line_bps))
    dropped = {key: n for key, n in counted.items() if _DROPS.match(key)}
    failed = {key: n for key, n in counted.items() if _ERRORS.match(key) and key not in dropped}
    for code, rows in (("interface-drops", dropped), ("interface-errors", failed)):
        if rows:
            said.append(Notice(code, {"names": list(rows), "count": int(sum(rows.values()))}))
    asked = [Notice("ask-second-time")]
    if known.line_bps is None:
        asked.append(Notice("ask-line"))
    return Finding(
        label=label, limits=tuple(limits), notices=tuple(said) or (_nothing(count, counted),),
        missing=tuple(asked), layer=FRAME,
    )  # fmt: skip


def _nothing(count: int, counted: Mapping[str, float]) -> Notice:
    """Return that no packet was counted, or that those that were have no bytes."""
    packets = max([count, *(int(n) for key, n in counted.items() if key.upper().endswith("OK"))])
    if packets:
        return Notice("packets-without-bytes", {"count": packets})
    return Notice("interface-idle")


def _line(mean_bytes: float, line_bps: float, tolerance: float = COUNT_TOLERANCE) -> Limit:
    wire = mean_bytes + UNSEEN_BYTES
    values = {"line_bps": line_bps, "payload_bytes": mean_bytes, "wire_bytes": wire}
    return Limit("line", line_bps * mean_bytes / wire, "bit/s", tolerance, values)


def sar_findings(name: str, rows: Mapping[str, list[float]], known: Known) -> list[Finding]:
    """Return what sar says of each direction of an interface, in its busiest interval.

    Parameters
    ----------
    name : str
        The interface.
    rows : mapping of str to list of float
        Its values of each interval: ``rxkB/s`` (of 1024 bytes), ``rxpck/s``, ``%ifutil``.
    known : Known
        The line; by default the one that ``%ifutil`` implies.

    Returns
    -------
    list of Finding
        One for each direction with traffic; empty if these are not of sar's interfaces.
    """
    ends = ("/s", "")
    end = next((one for one in ends if f"rxkB{one}" in rows and f"txkB{one}" in rows), None)
    if end is None:
        return []
    sizes = {way: np.array(rows[f"{way}kB{end}"]) * 1024 for way in ("rx", "tx")}
    used = np.array(rows.get("%ifutil", rows.get("ifutil-percent", ())))
    found = []
    for way, direction in (("rx", "received"), ("tx", "sent")):
        at = int(np.argmax(sizes[way]))
        rate, packets = float(sizes[way][at]), rows.get(f"{way}pck{end}", ())
        if not rate > 0 or len(packets) <= at or not packets[at] > 0:
            continue
        mean, count = rate / packets[at], int(sizes[way].size)
        said = [Notice("busiest-interval", {"count": count})] if count > 1 else []
        said.append(Notice("mean-packet", {"count": int(packets[at]), "mean_bytes": mean}))
        if mean > MOST_FRAME_BYTES:
            said.append(Notice("packets-joined", {"mean_bytes": mean}))
        limits = []
        line, tolerance = first_known(known.line_bps), COUNT_TOLERANCE
        is_busier = rate >= max(float(one[at]) for one in sizes.values())
        if math.isnan(line) and is_busier and used.size > at and used[at] > 0:
            line = 8 * rate * 100 / float(used[at])  # the fuller direction is what sar divides
            tolerance = max(tolerance, SAR_UTILIZATION_STEP / float(used[at]))
        if line > 0:
            limits.append(_line(min(mean, 1514.0), line, tolerance))
        if known.device_pps is not None:
            values = {"device_pps": known.device_pps, "payload_bytes": mean, "share": 1.0}
            most = 8 * mean * known.device_pps
            limits.append(Limit("packet-rate", most, "bit/s", COUNT_TOLERANCE, values))
        found.append(
            Finding(
                label=f"{name}, {direction}", measured=8 * rate, notices=tuple(said),
                limits=tuple(sorted(limits, key=lambda one: one.value)),
                missing=() if line > 0 else (Notice("ask-line"),), layer=FRAME,
            )
        )  # fmt: skip
    if not found and not any(size.any() for size in sizes.values()):
        return [Finding(label=name, notices=(Notice("interface-idle"),))]
    return found
