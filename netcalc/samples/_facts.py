"""What a measurement says in a few numbers: one row of facts for each run, host or direction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.samples._limits import MOST_COUNTED

Fact: TypeAlias = str | int | float | bool
FactRow: TypeAlias = Mapping[str, Fact]

FACTS: Mapping[str, str] = {
    "group": "text",
    "target": "text",
    "protocol": "text",
    "direction": "text",
    "partial": "bool",
    # probes and their replies
    "sent_count": "1",
    "received_count": "1",
    "duplicate_count": "1",
    "rtt_min_s": "s",
    "rtt_median_s": "s",
    "rtt_max_s": "s",
    "one_way_delay_min_s": "s",
    "one_way_delay_median_s": "s",
    "one_way_delay_max_s": "s",
    "printed_loss_ratio": "ratio",
    "loss_ratio": "ratio",
    "probe_count": "1",
    "reply_count": "1",
    # transfers
    "stream_count": "1",
    "sent_byte_count": "byte",
    "received_byte_count": "byte",
    "sent_rate_bps": "bit/s",
    "received_rate_bps": "bit/s",
    "duration_s": "s",
    "omitted_s": "s",
    "retransmit_count": "1",
    "datagram_count": "1",
    "lost_datagram_count": "1",
    "jitter_s": "s",
    # paths
    "hop_count": "1",
    "responding_hop_count": "1",
    "last_hop_rtt_median_s": "s",
    "path_mtu_bytes": "byte",
    # sockets
    "connection_count": "1",
    "tcp_connection_count": "1",
    "rtt_s": "s",
    "cwnd_packets": "1",
    "mss_bytes": "byte",
    "retransmit_total_count": "1",
    "bytes_acked": "byte",
    "bytes_sent": "byte",
    "bytes_retransmitted": "byte",
    "busy_s": "s",
    "receive_window_limited_s": "s",
    "send_buffer_limited_s": "s",
    "congestion_control": "text",
    # captures
    "packet_count": "1",
    "captured_byte_count": "byte",
    "span_s": "s",
    "tcp_flow_count": "1",
    "udp_flow_count": "1",
    "tcp_retransmission_count": "1",
    "ipv4_packet_count": "1",
    "ipv6_packet_count": "1",
    "icmp_echo_pair_count": "1",
    "handshake_rtt_min_s": "s",
    "link_type": "text",
    # tables
    "row_count": "1",
    "column_count": "1",
}
"""Name of a fact -> its unit; ``counter:NAME`` and ``sum:NAME`` have names of the file."""

COUNTER_LIMIT = 2.0**63
"""No counter of 64 bits has counted this far: it is a negative number, or was never set. [1]"""
_OF_THE_FILE = ("counter:", "sum:")
_OF_TWO_CLOCKS = "one_way_delay_"
"""Facts that are a difference of two clocks, and can be negative."""


def fact_row(named: Mapping[str, Any] | None = None, /, **facts: Any) -> dict[str, Fact]:
    """Return one row of facts; unknown ones (None, nan, empty text) are left out.

    Parameters
    ----------
    named : mapping, optional
        Facts whose names are not words of Python: ``counter:NAME``, ``sum:NAME``.
    **facts
        The others, by the names of :data:`FACTS`, in SI units.

    Raises
    ------
    DomainError
        If a name is none of :data:`FACTS`, or a number is below 0 or infinite.

    Examples
    --------
    >>> fact_row({"counter:InSegs": 12.0}, sent_count=3, rtt_min_s=float("nan"), partial=False)
    {'sent_count': 3, 'partial': False, 'counter:InSegs': 12}
    """
    row: dict[str, Fact] = {}
    for name, value in {**facts, **(named or {})}.items():
        unit = unit_of_fact(name)
        if unit is None:
            raise DomainError("not-a-choice", "fact", name, choices=list(FACTS))
        known = _plain(value)
        if known is None:
            continue
        of_the_file = name.startswith(_OF_THE_FILE)
        least = -math.inf if name.startswith(_OF_TWO_CLOCKS) else 0.0
        if unit not in ("text", "bool") and not of_the_file and not least <= known < math.inf:
            raise DomainError("is-negative", name, known)
        whole = isinstance(known, float) and abs(known) <= MOST_COUNTED and known.is_integer()
        if unit in ("1", "byte") and whole:
            known = int(known)
        row[name] = known
    return row


@named_arguments
def unit_of_fact(name: str) -> str | None:
    """Return the unit of a fact; None if there is no such fact."""
    return "1" if name.startswith(_OF_THE_FILE) else FACTS.get(name)


def _plain(value: Any) -> Any:
    """Return a fact as JSON has it; None where nothing is known."""
    if hasattr(value, "item"):  # of numpy
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    return None if value == "" else value
