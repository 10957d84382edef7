"""Counters of hosts, queues and interfaces: what each means, and the limits that they imply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from netcalc.explain.evidence import NAN, Evidence, first_known
from netcalc.explain.finding import Finding
from netcalc.explain.interface_rates import interface_findings, sar_findings
from netcalc.explain.known import Known
from netcalc.explain.rate_limits import missing, rate_limits
from netcalc.messages import Notice
from netcalc.models.hosts.delayed_ack import LINUX_ATO_MIN_S
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
    ("counted-listen-drops", NAN, ("ListenDrops", "SYNs to LISTEN sockets dropped")),
    ("counted-receive-buffer", NAN, ("RcvbufErrors", "receive buffer errors")),
    ("counted-send-buffer", NAN, ("SndbufErrors", "send buffer errors")),
    ("counted-pruned", NAN, (
        "PruneCalled", "packets pruned from receive queue because of socket buffer overrun")),
    ("counted-backlog", NAN, ("TCPBacklogDrop",)),
    ("counted-zero-window", NAN, ("TCPToZeroWindowAdv",)),
    ("counted-spurious", NAN, ("TCPDSACKRecv", "TCPDSACKRecvSegs")),
    ("counted-reordering", NAN, ("TCPSACKReorder", "TCPTSReorder")),
    ("counted-congestion-marks", NAN, ("InCEPkts",)),
    ("counted-checksum-errors", NAN, ("InCsumErrors",)),
    ("counted-discards", NAN, ("InDiscards", "incoming packets discarded")),
    ("counted-fragments-lost", NAN, ("ReasmFails", "packet reassembles failed")),
)  # fmt: skip
"""Meanings of counters, the gravest first: the least wait that each stands for, and its names."""


def explain_counters(samples: Table, known: Known) -> tuple[Finding, ...]:
    """Return what counters say: loss and its ceilings, waits, drops; and what is missing.

    Parameters
    ----------
    samples : Table
        Columns ``group``, ``counter`` and ``value``, as readers of counters make them.
    known : Known
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
    found: list[Finding] = []
    others: dict[str, float] = {}
    for name, rows in _groups(samples).items():
        own = sar_findings(name, rows, known) or _of_group(name, rows, known)
        found += own
        if not own:
            for counter, values in rows.items():
                others[counter] = others.get(counter, 0.0) + values[0]
    if others or not found:
        said = _of_host(others, _busiest(samples), known)
        found += [said] if said.limits or said.notices[0].code != "counters-quiet" else []
        found = found or [said]
    return tuple(found)


def _groups(samples: Samples) -> dict[str, dict[str, list[float]]]:
    """Return the values of each counter of each group, in the order of the file."""
    columns = samples.columns()
    values = columns["value"].tolist()
    groups = columns.get("group", np.full(len(values), "", object))
    found: dict[str, dict[str, list[float]]] = {}
    for group, name, value in zip(
        groups.tolist(), columns["counter"].tolist(), values, strict=True
    ):
        found.setdefault(str(group), {}).setdefault(str(name), []).append(float(value))
    return found


def _of_group(name: str, rows: Mapping[str, list[float]], known: Known) -> list[Finding]:
    one = {counter: values[0] for counter, values in rows.items()}
    if "overlimits" in one:
        return [_of_queue(name, one, known)]
    return interface_findings(name, one, known)


def _first(counted: Mapping[str, float], names: Iterable[str]) -> float:
    values = (counted.get(f"{prefix}{name}") for name in names for prefix in _PREFIXES)
    return first_known(*(value for value in values if value is None or value < COUNTER_LIMIT))


def _busiest(samples: Samples) -> float:
    """Return how busy the processors were at most, of sar's idle times; nan without them."""
    rows = _groups(samples).values()
    idle = [value for one in rows for name in ("%idle", "idle") for value in one.get(name, ())]
    known = [value for value in idle if 0 <= value <= 100]
    return 1 - min(known) / 100 if known else NAN


def _of_host(counted: Mapping[str, float], busy_ratio: float, known: Known) -> Finding:
    """Return the loss of a host, and what its other counters mean."""
    again, sent = _first(counted, _RETRANSMITTED), _first(counted, _SENT)
    said: list[Notice] = []
    one = Evidence()
    if sent > 0 and again >= 0:
        values = {"count": int(again), "total": int(sent), "share": again / sent}
        said.append(Notice("segments-again", values))
        one = Evidence(loss_ratio=min(again / sent, 1.0))
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
        limits=rate_limits(one, known) if said else (),
        notices=tuple(said) or (Notice("counters-quiet"),),
        missing=missing(one, known) if one.loss_ratio >= 0 else (),
        layer=TCP_PAYLOAD,
    )


def _of_queue(name: str, one: Mapping[str, float], known: Known) -> Finding:
    """Return what a queueing discipline dropped, marked and holds."""
    passed = _first(one, ("pkt", "packets"))
    dropped = _first(one, ("dropped", "drops"))
    held = _first(one, ("backlog_bytes", "backlog"))
    said, seen = [], Evidence()
    if passed > 0 and dropped > 0:
        share = dropped / (passed + dropped)
        values = {"count": int(dropped), "total": int(passed + dropped), "share": share}
        said.append(Notice("queue-drops", values))
        seen = Evidence(loss_ratio=share)
    if one.get("ecn_mark", 0) > 0:
        said.append(Notice("queue-marks", {"count": int(one["ecn_mark"])}))
    if one["overlimits"] > 0:
        said.append(Notice("shaper-held", {"count": int(one["overlimits"])}))
    if held > 0 and known.line_bps is not None:
        values = {"queue_bytes": held, "delay_s": 8 * held / known.line_bps}
        said.append(Notice("queue-length", values))
    elif held > 0:
        said.append(Notice("queue-length-bytes", {"queue_bytes": held}))
    # What a queue passes is one direction of its interface.
    found = interface_findings(name, {"tx_bytes": one["bytes"], "tx_packets": passed}, known)[0]
    limits = [limit for limit in rate_limits(seen, known) if limit.name != "line"]
    return Finding(
        label=name,
        limits=tuple(sorted((*found.limits, *limits), key=lambda limit: limit.value)),
        notices=(*said, *found.notices),
        missing=missing(seen, known) if said else found.missing,
        layer=FRAME,
    )
