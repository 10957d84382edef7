"""Counters of hosts, queues and interfaces: what each means, and the limits that they imply."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from netcalc.explain.evidence import MOST_PACKET_BYTES, NAN, Evidence, Known, first_known
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.rate_limits import COUNT_TOLERANCE, missing, rate_limits
from netcalc.messages import Notice
from netcalc.models.hosts.small_writes import LINUX_ATO_MIN_S
from netcalc.models.tcp.timers import MIN_RTO_S
from netcalc.rate_layers import FRAME, TCP_PAYLOAD
from netcalc.samples import COUNTER_LIMIT, Samples, Table

_PREFIXES = ("TcpExt", "Tcp", "Udp", "IpExt", "Ip", "")
"""What nstat puts before a counter: its group in /proc/net."""
_RETRANSMITTED = (
    "RetransSegs", "TCPRetransSegs", "segments retransmitted", "segments retransmited",
    "Segments Retransmitted", "data packets retransmitted", "retrans/s", "retrans",
)  # fmt: skip
_SENT = (
    "OutSegs", "segments sent out", "segments send out", "Segments Sent", "data packets", "oseg/s",
    "oseg",
)  # fmt: skip
_MEANINGS: tuple[tuple[str, float, tuple[str, ...]], ...] = (
    ("counted-timeouts", MIN_RTO_S, ("TCPTimeouts", "other TCP timeouts")),
    ("counted-delayed-acks", LINUX_ATO_MIN_S, ("DelayedACKs", "delayed acks sent")),
    ("counted-listen-overflows", NAN, (
        "ListenOverflows", "times the listen queue of a socket overflowed")),
    ("counted-listen-drops", NAN, ("ListenDrops", "SYNs to LISTEN sockets dropped")),
    ("counted-receive-buffer", NAN, ("RcvbufErrors", "receive buffer errors")),
    ("counted-send-buffer", NAN, ("SndbufErrors", "send buffer errors")),
    ("counted-pruned", NAN, (
        "PruneCalled", "packets pruned from receive queue because of socket buffer overrun")),
    ("counted-backlog", NAN, ("TCPBacklogDrop",)),
    ("counted-softnet", NAN, ("softnet_dropped",)),
    ("counted-zero-window", NAN, ("TCPToZeroWindowAdv",)),
    ("counted-spurious", NAN, ("TCPDSACKRecv", "TCPDSACKRecvSegs")),
    ("counted-reordering", NAN, ("TCPSACKReorder", "TCPTSReorder")),
    ("counted-congestion-marks", NAN, ("InCEPkts",)),
    ("counted-checksum-errors", NAN, ("InCsumErrors",)),
    ("counted-discards", NAN, ("InDiscards", "incoming packets discarded")),
    ("counted-fragments-lost", NAN, ("ReasmFails", "packet reassembles failed")),
)  # fmt: skip
"""Meanings of counters, the gravest first: the least wait that each stands for, and its names."""


_OF_NOW = frozenset({
    "used", "inuse", "orphan", "tw", "alloc", "mem", "memory", "Total", "TCP", "estab", "closed",
    "orphaned", "synrecv", "timewait", "IP", "IPv6",
})  # fmt: skip
"""Numbers of sockets that are open now (sockstat, ss -s): nothing was counted since a start."""


def explain_counters(samples: Table, stated: Known) -> tuple[Finding, ...]:
    """Return what counters say: loss and its ceilings, waits, drops; and what is missing.

    Parameters
    ----------
    samples : Table
        Columns ``group``, ``counter`` and ``value``, as readers of counters make them.
    stated : Known
        ``rtt_s`` and ``line_bps`` make ceilings of it.

    Returns
    -------
    tuple of Finding
        One for each queue, or each direction of an interface, or one for a host; empty for other
        tables. Where nothing was measured, a finding has ceilings only.
    """
    columns = samples.columns()
    if not {"counter", "value"} <= set(columns):
        return ()
    if {*columns["counter"].tolist()} <= _OF_NOW:
        return (Finding(notices=(Notice("sockets-of-now"),)),)
    findings: list[Finding] = []
    others: dict[str, float] = {}
    for name, rows in _groups(samples).items():
        own = sar_findings(name, rows, stated) or _of_group(name, rows, stated)
        findings += own
        if not own:
            for counter, values in rows.items():
                others[counter] = others.get(counter, 0.0) + values[0]
    if others or not findings:
        said = _of_host(others, _busiest(samples), stated)
        findings += [said] if said.limits or said.notices[0].code != "counters-quiet" else []
        findings = findings or [said]
    return tuple(findings)


def _groups(samples: Samples) -> dict[str, dict[str, list[float]]]:
    """Return the values of each counter of each group, in the order of the file."""
    columns = samples.columns()
    values = columns["value"].tolist()
    groups = columns.get("group", np.full(len(values), "", object))
    rows_of: dict[str, dict[str, list[float]]] = {}
    for group, name, value in zip(
        groups.tolist(), columns["counter"].tolist(), values, strict=True
    ):
        rows_of.setdefault(str(group), {}).setdefault(str(name), []).append(float(value))
    return rows_of


def _of_group(name: str, rows: Mapping[str, list[float]], stated: Known) -> list[Finding]:
    counters = {counter: values[0] for counter, values in rows.items()}
    if "overlimits" in counters:
        return [_of_queue(name, counters, stated)]
    return interface_findings(name, counters, stated)


def _first(counted: Mapping[str, float], names: Iterable[str]) -> float:
    values = (counted.get(f"{prefix}{name}") for name in names for prefix in _PREFIXES)
    return first_known(*(value for value in values if value is None or value < COUNTER_LIMIT))


def _busiest(samples: Samples) -> float:
    """Return how busy the processors were at most, of sar's idle times; nan without them."""
    rows = _groups(samples).values()
    idle = [value for row in rows for name in ("%idle", "idle") for value in row.get(name, ())]
    shares = [value for value in idle if 0 <= value <= 100]
    return 1 - min(shares) / 100 if shares else NAN


def _of_host(counted: Mapping[str, float], busy_ratio: float, stated: Known) -> Finding:
    """Return the loss of a host, and what its other counters mean."""
    again, sent = _first(counted, _RETRANSMITTED), _first(counted, _SENT)
    said: list[Notice] = []
    evidence = Evidence()
    if sent > 0 and again >= 0:
        values = {"count": int(again), "total": int(sent), "share": again / sent}
        said.append(Notice("segments-again", values))
        evidence = Evidence(loss_ratio=min(again / sent, 1.0))
    for code, wait_s, names in _MEANINGS:
        count = _first(counted, names)
        if count > 0:
            waits = {} if math.isnan(wait_s) else {"wait_s": count * wait_s}
            said.append(Notice(code, {"count": int(count), **waits}))
    odd = [name for name, count in counted.items() if count >= COUNTER_LIMIT]
    if odd:
        said.append(Notice("counters-implausible", {"names": odd}))
    if busy_ratio >= 0:
        said.append(Notice("cpu-busy", {"busy": busy_ratio}))
    return Finding(
        limits=rate_limits(evidence, stated) if said else (),
        notices=tuple(said) or (Notice("counters-quiet"),),
        missing=missing(evidence, stated) if evidence.loss_ratio >= 0 else (),
        layer=TCP_PAYLOAD,
    )


def _of_queue(name: str, counters: Mapping[str, float], stated: Known) -> Finding:
    """Return what a queueing discipline dropped, marked and holds."""
    passed = _first(counters, ("pkt", "packets"))
    dropped = _first(counters, ("dropped", "drops"))
    held = _first(counters, ("backlog_bytes", "backlog"))
    said, seen = [], Evidence()
    if passed > 0 and dropped > 0:
        share = dropped / (passed + dropped)
        values = {"count": int(dropped), "total": int(passed + dropped), "share": share}
        said.append(Notice("queue-drops", values))
        seen = Evidence(loss_ratio=share)
    if counters.get("ecn_mark", 0) > 0:
        said.append(Notice("queue-marks", {"count": int(counters["ecn_mark"])}))
    if counters["overlimits"] > 0:
        said.append(Notice("shaper-held", {"count": int(counters["overlimits"])}))
    if held > 0 and stated.line_bps is not None:
        values = {"queue_bytes": held, "delay_s": 8 * held / stated.line_bps}
        said.append(Notice("queue-length", values))
    elif held > 0:
        said.append(Notice("queue-length-bytes", {"queue_bytes": held}))
    # What a queue passes is one direction of its interface.
    size = counters.get("bytes", math.nan)
    sent = interface_findings(name, {"tx_bytes": size, "tx_packets": passed}, stated)[0]
    limits = [limit for limit in rate_limits(seen, stated) if limit.name != "line"]
    return Finding(
        label=name,
        limits=tuple(sorted((*sent.limits, *limits), key=lambda limit: limit.value)),
        notices=(*said, *sent.notices),
        missing=missing(seen, stated) if said else sent.missing,
        layer=FRAME,
    )


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


def interface_findings(name: str, counters: Mapping[str, float], stated: Known) -> list[Finding]:
    """Return what the counters of an interface say of each direction.

    Parameters
    ----------
    name : str
        The interface.
    counters : mapping of str to float
        Its counters, as ``ip -s``, ``ethtool -S``, ``netstat -i`` or ``/proc/net/dev`` name them.
    stated : Known
        ``line_bps`` gives the ceiling for packets of their mean size.

    Returns
    -------
    list of Finding
        One for each direction that has counted; empty if these are not those of an interface.
    """
    prefixed = [key for key in counters if re.match("(?i)[rt]x[-_]", key)]
    if not prefixed:
        return []
    findings = []
    odd = [key for key, value in counters.items() if value >= COUNTER_LIMIT]
    counters = {key: value for key, value in counters.items() if key not in odd}
    for direction, (size, packets, frames, prefix) in _DIRECTIONS.items():
        count = first_known(counters.get(packets), counters.get(frames))
        mine = {
            key: value for key, value in counters.items() if re.match(prefix, key) and value > 0
        }
        not_counted = [key for key in odd if re.match(prefix, key)]
        if mine or count > 0 or not_counted:
            label = f"{name}, {direction}" if name else direction
            mean = counters.get(size, math.nan) / count if count > 0 else math.nan
            each = _direction(label, int(first_known(count, 0.0)), mean, mine, stated)
            if not_counted:
                notice = Notice("counters-implausible", {"names": not_counted})
                kept = [said for said in each.notices if said.code not in UNCOUNTED]
                each = replace(each, notices=(notice, *kept))
            findings.append(each)
    return findings or [Finding(label=name, notices=(Notice("interface-idle"),))]


def _direction(
    label: str, count: int, mean_bytes: float, counted: Mapping[str, float], stated: Known
) -> Finding:
    said, limits = [], []
    if mean_bytes > MOST_JOINED_BYTES:
        apart = {"count": count, "size_bytes": count * mean_bytes}
        said.append(Notice("counters-disagree", apart))
    elif mean_bytes > 0:
        said.append(Notice("mean-packet", {"count": count, "mean_bytes": mean_bytes}))
    if MOST_FRAME_BYTES < mean_bytes <= MOST_JOINED_BYTES:
        said.append(Notice("packets-joined", {"mean_bytes": mean_bytes}))
    elif 0 < mean_bytes <= MOST_FRAME_BYTES and stated.line_bps is not None:
        limits.append(_line(mean_bytes, stated.line_bps))
    dropped = {key: n for key, n in counted.items() if _DROPS.match(key)}
    failed = {key: n for key, n in counted.items() if _ERRORS.match(key) and key not in dropped}
    for code, rows in (("interface-drops", dropped), ("interface-errors", failed)):
        if rows:
            said.append(Notice(code, {"names": list(rows), "count": int(sum(rows.values()))}))
    asked = [Notice("ask-second-time")]
    if stated.line_bps is None:
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


def sar_findings(name: str, rows: Mapping[str, list[float]], stated: Known) -> list[Finding]:
    """Return what sar says of each direction of an interface, in its busiest interval.

    Parameters
    ----------
    name : str
        The interface.
    rows : mapping of str to list of float
        Its values of each interval: ``rxkB/s`` (of 1024 bytes), ``rxpck/s``, ``%ifutil``.
    stated : Known
        The line; by default the one that ``%ifutil`` implies.

    Returns
    -------
    list of Finding
        One for each direction with traffic; empty if these are not of sar's interfaces.
    """
    ends = ("/s", "")
    end = next((end for end in ends if f"rxkB{end}" in rows and f"txkB{end}" in rows), None)
    if end is None:
        return []
    sizes = {way: np.array(rows[f"{way}kB{end}"]) * 1024 for way in ("rx", "tx")}
    used = np.array(rows.get("%ifutil", rows.get("ifutil-percent", ())))
    findings = []
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
        line, tolerance = first_known(stated.line_bps), COUNT_TOLERANCE
        is_busier = rate >= max(float(size[at]) for size in sizes.values())
        if math.isnan(line) and is_busier and used.size > at and used[at] > 0:
            line = 8 * rate * 100 / float(used[at])  # the fuller direction is what sar divides
            tolerance = max(tolerance, SAR_UTILIZATION_STEP / float(used[at]))
        if line > 0:
            limits.append(_line(min(mean, 1514.0), line, tolerance))
        if stated.device_pps is not None:
            values = {"device_pps": stated.device_pps, "payload_bytes": mean, "share": 1.0}
            most = 8 * mean * stated.device_pps
            limits.append(Limit("packet-rate", most, "bit/s", COUNT_TOLERANCE, values))
        findings.append(
            Finding(
                label=f"{name}, {direction}", measured=8 * rate, notices=tuple(said),
                limits=tuple(sorted(limits, key=lambda limit: limit.value)),
                missing=() if line > 0 else (Notice("ask-line"),), layer=FRAME,
            )
        )  # fmt: skip
    if not findings and not any(size.any() for size in sizes.values()):
        return [Finding(label=name, notices=(Notice("interface-idle"),))]
    return findings
