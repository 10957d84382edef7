"""What is known about samples besides their numbers: tool, units, facts, the record of a live run.

The limits of these numbers are here, too: a name says what a number counts, and so what it may be.
netcalc writes no larger number: a count of 400 digits, or a size of 1e308 bytes, was written by
somebody else, and no model, sum or table has a place for it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, TypeAlias

from netcalc.checks import named_arguments
from netcalc.display import show, unit_of_name
from netcalc.errors import DomainError
from netcalc.messages import Notice

MOST = 2.0**64
"""Largest number of any kind: a counter of 64 bits, or a time since 1970 in nanoseconds. [1]"""
MOST_COUNTED = 2.0**53
"""Largest count, or size in bytes, of a column: from there on a float skips whole numbers. [1]"""

_COUNTED = (
    "count", "numbers", "sent", "received", "duplicates", "errors", "corrupted", "_bytes",
    "_ratio", "_bps", "_pps", "_ns", "_processor", "load_1min", "_s",
)  # fmt: skip
_SIGNED = (
    "offset",
    "step",
    "at_s",
    "start_s",
    "end_s",
    "intercept",
    "one_way",
    "lateness",
    "own_cost",
)
"""Names, or their beginnings or ends, of what may be below 0: differences, and times of day."""
OF_COLUMNS = ("sum:", "min:", "median:", "max:", "mean:")
"""Beginnings of the facts of a column, which has its name behind it."""
_OF_A_FILE = (*OF_COLUMNS, "counter:")
"""Facts of what a file counts: as large as it says, and below 0 where it says so."""
KNOWN_IN_EACH_ROW = frozenset(
    {"hop", "train", "index", "packet_bytes", "write_bytes", "write_count"}
)
"""Columns that say what a row is about: never unknown."""
_MOMENTS = frozenset({"sent_s", "received_s", "start_s", "time_s"})
_MAY_BE_NEGATIVE = frozenset({"sequence"})


def fault(value: float, name: str) -> str | None:
    """Return which limit a number breaks: the code of the error, None if it keeps them.

    >>> fault(-1, "sent_count"), fault(10**400, "late_p99_s"), fault(-0.5, "clock_offset_s")
    ('saved-negative', 'saved-too-large', None)
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "saved-not-finite"
    if abs(value) > (sys.float_info.max if name.startswith(_OF_A_FILE) else MOST):
        return "saved-too-large"
    signed = name.startswith(_OF_A_FILE) or any(part in name for part in _SIGNED)
    if value < 0 and name.endswith(_COUNTED) and not signed:
        return "saved-negative"
    return None


def first_fault(value: Any, field: str, name: str = "") -> tuple[str, str, Any] | None:
    """Return the first number in a part of a file that breaks a limit: code, field, number."""
    for where, what, number in _numbers(value, field, name):
        # Of an instrument nan is what it did not measure, which later versions write as null.
        not_measured = number != number and field == "meta.instrument"
        code = None if not_measured else fault(number, what)
        if code is not None:
            return code, where, number
    return None


def _numbers(value: Any, field: str, name: str) -> Iterator[tuple[str, str, Any]]:
    """Yield each number with its field and its name; those of a list have the name of the list."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers(item, f"{field}.{key}", str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _numbers(item, f"{field}[{index}]", name)
    elif type(value) in (int, float):
        yield field, name, value


def row_fault(value: float, name: str, unit: str) -> str | None:
    """Return which limit a number of a column breaks; nan is unknown, inf a rate in no time.

    >>> row_fault(1e308, "payload_bytes", "byte"), row_fault(float("nan"), "hop", "1")
    ('row-too-large', 'row-unknown')
    """
    if value != value:
        return "row-unknown" if unit and name in KNOWN_IN_EACH_ROW else None
    if name in _MOMENTS and abs(value) == math.inf:
        return "row-too-large"
    counted = unit in ("1", "byte")
    if counted and value < 0 and name not in _MAY_BE_NEGATIVE:
        return "row-negative"
    fits = abs(value) <= (MOST_COUNTED if counted else sys.float_info.max)
    return None if fits or (abs(value) == math.inf and not counted) else "row-too-large"


Fact: TypeAlias = str | int | float | bool
FactRow: TypeAlias = Mapping[str, Fact]

FACTS: Mapping[str, str] = {
    **dict.fromkeys(
        ("group", "target", "protocol", "direction", "congestion_control", "link_type", "operation",
         "way"), "text"
    ),
    "partial": "bool",
    **{
        name: unit_of_name(name)
        for name in (
            # probes and their replies
            "sent_count", "received_count", "duplicate_count", "rtt_min_s", "rtt_median_s",
            "rtt_max_s", "one_way_delay_min_s", "one_way_delay_median_s", "one_way_delay_max_s",
            "printed_loss_ratio", "loss_ratio", "probe_count", "reply_count",
            # transfers
            "stream_count", "sent_byte_count", "received_byte_count", "sent_rate_bps",
            "received_rate_bps", "duration_s", "omitted_s", "retransmit_count", "datagram_count",
            "lost_datagram_count", "out_of_order_count", "jitter_s", "rank_count",
            "bus_bandwidth_bps", "bus_factor", "wrong_count",
            # paths
            "hop_count", "responding_hop_count", "last_hop_rtt_median_s", "path_mtu_bytes",
            "packet_bytes",
            # sockets
            "connection_count", "tcp_connection_count", "rtt_s", "cwnd_packets", "mss_bytes",
            "retransmit_total_count", "busy_s", "receive_window_limited_s",
            "send_buffer_limited_s",
            # captures
            "packet_count", "captured_byte_count", "span_s", "tcp_flow_count", "udp_flow_count",
            "tcp_retransmission_count", "ipv4_packet_count", "ipv6_packet_count",
            "icmp_echo_pair_count", "handshake_rtt_min_s",
            # tables
            "row_count", "column_count",
        )
    },
    **dict.fromkeys(("bytes_acked", "bytes_sent", "bytes_retransmitted"), "byte"),
    "responsiveness_rpm": "round trips/min",
    # Wi-Fi
    **dict.fromkeys(("signal_dbm", "signal_average_dbm", "noise_dbm"), "dBm"),
    **dict.fromkeys(("frequency_hz", "channel_width_hz", "tx_width_hz", "rx_width_hz"), "Hz"),
    **dict.fromkeys(("tx_rate_bps", "rx_rate_bps"), "bit/s"),
    **dict.fromkeys(("channel", "tx_mcs", "rx_mcs", "tx_stream_count", "rx_stream_count"), "1"),
    "signal_ratio": "ratio",
}  # fmt: skip
"""Name of a fact -> its unit; ``counter:NAME`` and those of :data:`OF_COLUMNS` have names of the
file."""

COUNTER_LIMIT = 2.0**63
"""No counter of 64 bits has counted this far: it is a negative number, or was never set. [1]"""
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
        fact = _plain(value)
        if fact is None:
            continue
        of_a_file = name.startswith(_OF_A_FILE)
        is_signed = name.startswith(_OF_TWO_CLOCKS) or unit == "dBm"
        least = -math.inf if is_signed else 0.0
        if unit not in ("text", "bool") and not of_a_file and not least <= fact < math.inf:
            raise DomainError("is-negative", name, fact)
        whole = isinstance(fact, float) and abs(fact) <= MOST_COUNTED and fact.is_integer()
        if unit in ("1", "byte") and whole:
            fact = int(fact)
        row[name] = fact
    return row


@named_arguments
def unit_of_fact(name: str) -> str | None:
    """Return the unit of a fact; None if there is no such fact."""
    if name.startswith(OF_COLUMNS):
        return unit_of_name(name.partition(":")[2]) or "1"
    return "1" if name.startswith(_OF_A_FILE) else FACTS.get(name)


@named_arguments
def decimal_sizes(rows: Sequence[FactRow]) -> frozenset[str]:
    """Return the names of sizes that would be shown in MiB beside MB: more is then read as less.

    What was sent and received is compared, and every fact with that of other rows.

    >>> sorted(decimal_sizes([{"sent_byte_count": 60 * 1024**2, "received_byte_count": 62.7e6}]))
    ['received_byte_count', 'sent_byte_count']
    """
    systems: dict[str, set[bool]] = {}
    names = {
        name: "sizes" if name.endswith("_byte_count") else name for row in rows for name in row
    }
    for row in rows:
        for name, value in row.items():
            if unit_of_fact(name) == "byte" and value:
                is_binary = "iB" in show(float(value), "byte")
                systems.setdefault(names[name], set()).add(is_binary)
    return frozenset(name for name, group in names.items() if len(systems.get(group, ())) > 1)


def _plain(value: Any) -> Any:
    """Return a fact as JSON has it; None where nothing is known."""
    if hasattr(value, "item"):  # of numpy
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    return None if value == "" else value


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """Record of a live run, in SI units; ``None`` where a run did not measure it.

    The names are those of the nomenclature. A setting that differs by mode or protocol is a
    mapping from its name.
    """

    # The machine.
    kernel: str | None = None
    python: str | None = None
    cpu_count: int | None = None
    usable_cpu_count: int | None = None
    load_1min: float | None = None
    shared_processor: int | None = None
    loopback_mtu_bytes: int | None = None
    namespace: str | None = None
    offload: str | None = None
    tick_s: float | None = None
    timer_slack_s: float | None = None
    autocorking: bool | int | None = None
    lacks: Sequence[str] | None = None

    # The clock, and the run's own error.
    timer_resolution_s: float | None = None
    clock_call_s: float | None = None
    exchange_call_s: float | None = None
    own_cost_s: float | None = None
    own_exchanges_s: Mapping[str, Any] | None = None
    scheduling_delay_median_s: float | None = None
    scheduling_delay_p99_s: float | None = None
    scheduling_delay_count: int | None = None
    processor_ratio: float | None = None

    # When it ran, and how it ended.
    start_wall_ns: int | None = None
    start_monotonic_ns: int | None = None
    duration_s: float | None = None
    gaps: Sequence[Sequence[float]] | None = None
    ended_by: str | None = None

    # Its sockets, as the kernel granted them.
    address_family: str | None = None
    send_buffer_bytes: int | None = None
    receive_buffer_bytes: int | None = None
    congestion_control: str | None = None
    mss_bytes: int | None = None
    nodelay: bool | Mapping[str, bool] | None = None
    quickack: bool | None = None
    peer_send_buffer_bytes: int | None = None
    peer_receive_buffer_bytes: int | None = None
    peer_congestion_control: str | None = None
    peer_echoed_count: int | None = None
    peer_refused_count: int | None = None
    peer_unsent_count: int | None = None

    # The second machine.
    peer_machine: Mapping[str, Any] | None = None
    peer_limits: Mapping[str, Any] | None = None
    clock_error_s: float | None = None
    peer_timer_resolution_s: float | None = None
    peer_scheduling_delay_p99_s: float | None = None
    peer_processor_ratio: float | None = None
    round_trips: Mapping[str, Any] | None = None
    wifi: Mapping[str, Any] | None = None

    # Its path.
    truth: Mapping[str, Any] | None = None
    routed: Mapping[str, Any] | None = None
    rtt_s: float | None = None
    wire_lateness_p50_s: float | None = None
    wire_lateness_p95_s: float | None = None
    wire_lateness_p99_s: float | None = None
    wire_late_ratio: float | None = None
    wire_overdue_ratio: float | None = None
    wire_overdue_host_ratio: float | None = None

    # What it exchanged.
    write_bytes: Sequence[int] | None = None
    write_gap_s: float | None = None
    interval_s: float | None = None
    reply_bytes: int | None = None
    header_bytes: Mapping[str, Any] | None = None
    warm_up_count: int | None = None
    warm_up_first_rtt_s: float | None = None
    first_response_s: Mapping[str, float] | None = None
    intervals: Mapping[str, Sequence[float]] | None = None
    load_rates_bps: Mapping[str, float] | None = None
    ladder: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
    exchanges: Mapping[str, Any] | None = None
    waits: Mapping[str, Any] | None = None
    packets: Mapping[str, float] | None = None
    counters: Mapping[str, Mapping[str, int | Mapping[str, int]]] | None = None

    # What it left out.
    late_count: int | None = None
    foreign_count: int | None = None
    damaged_count: int | None = None
    duplicate_count: int | None = None
    lost_count: int | None = None
    cut_count: int | None = None

    other: Mapping[str, Any] = field(default_factory=dict)
    """Facts of a saved file under names that this version does not know."""

    def __post_init__(self) -> None:
        for item in fields(self):  # nan is "not measured", which a saved file writes as null
            value = getattr(self, item.name)
            if isinstance(value, float) and math.isnan(value):
                object.__setattr__(self, item.name, None)

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Instrument:
        """Return the facts as a saved file has them."""
        names = {item.name for item in fields(cls)} - {"other"}
        facts = {name: value for name, value in stored.items() if name in names}
        return cls(**facts, other={k: v for k, v in stored.items() if k not in names})

    def stored(self) -> dict[str, Any]:
        """Return the facts as a saved file has them: those that were measured, by name."""
        names = [item.name for item in fields(self) if item.name != "other"]
        measured = {name: getattr(self, name) for name in names}
        return {k: v for k, v in {**measured, **self.other}.items() if v is not None}

    def __bool__(self) -> bool:
        """Whether there is any fact: False for samples that no live run measured."""
        return bool(self.stored())


SCHEMA = 1
"""Number of the file format; a file with a higher one is refused by name."""

REVISION = 1
"""Grows with each kind of samples, column or field that comes: one without a place here is then
known to be of a newer version, and not damaged."""


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Facts about a set of samples other than its numbers.

    Parameters
    ----------
    tool, tool_version, command : str
        The program that measured, as far as its output shows.
    host, target : str
        The machine it ran on, and the target it measured.
    source, sha256 : str
        Base name and SHA-256 of the file the samples were read from.
    clock : str
        Which clock the times are from.
    start : str
        When it began, as ISO 8601 with a zone.
    note : str
        What a reader should know, in a sentence.
    units, layers : mapping of str to str
        Per column: its SI unit, and the layer a size or rate is counted at.
    resolutions : mapping of str to float
        Per column: the step in which its numbers were written, in its SI unit.
    printed : mapping
        The tool's own summary, as printed, beside what netcalc counts.
    experiment, protocol : str
        Which live experiment it was, and by which protocol; empty for a file of another tool.
    instrument : Instrument
        What a live run records of itself; a mapping is taken for its facts by name.
    facts : tuple of mappings
        What the file says in a few numbers: a row for each run, host or direction, by the names of
        :data:`netcalc.samples.FACTS`. Empty where the columns alone show it.
    guess : mapping
        What a reader of a lesson expected before the run: ``what``, ``unit``, ``value`` in this
        unit, ``text`` as typed, and ``time``, ISO 8601 with a zone; empty without one.
    warnings : tuple of Notice
        What was repaired, skipped or does not agree; text is taken for a sentence without a code.
    partial : bool
        True if the measurement ended before it was complete.
    schema : int
        Number of the file format.
    """

    tool: str = ""
    tool_version: str = ""
    command: str = ""
    host: str = ""
    target: str = ""
    source: str = ""
    sha256: str = ""
    clock: str = ""
    start: str = ""
    note: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    layers: Mapping[str, str] = field(default_factory=dict)
    resolutions: Mapping[str, float] = field(default_factory=dict)
    printed: Mapping[str, Any] = field(default_factory=dict)
    experiment: str = ""
    protocol: str = ""
    instrument: Instrument = field(default_factory=Instrument)
    facts: tuple[FactRow, ...] = ()
    guess: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()
    partial: bool = False
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        facts: Any = self.instrument
        if isinstance(facts, Mapping):
            object.__setattr__(self, "instrument", Instrument.load(facts))
        object.__setattr__(self, "facts", tuple(dict(row) for row in self.facts))
        warnings: tuple[Any, ...] = self.warnings
        notices = (x if isinstance(x, Notice) else Notice.load(x) for x in warnings)
        object.__setattr__(self, "warnings", tuple(notices))

    @property
    def start_epoch_s(self) -> float:
        """The start in seconds of the Unix epoch; nan where it is unknown, or without its zone."""
        try:
            start = datetime.fromisoformat(self.start)
        except ValueError:
            return math.nan
        return math.nan if start.tzinfo is None else start.timestamp()

    def stored(self) -> dict[str, Any]:
        """Return the facts as a saved file has them."""
        return {
            **{item.name: getattr(self, item.name) for item in fields(self)},
            "facts": [dict(row) for row in self.facts],
            "instrument": self.instrument.stored(),
            "warnings": [notice.stored() for notice in self.warnings],
        }
