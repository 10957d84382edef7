"""Transfers, a row each: bulk transfers, transactions, and the bytes of flows in each interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

import numpy as np

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.samples.columns import (
    ApplicationBytes,
    BoolColumn,
    Bytes,
    Column,
    Flags,
    FloatColumn,
    Numbers,
    Samples,
    Seconds,
    TextColumn,
    Texts,
    bools,
    floats,
    median,
    quotient,
)
from netcalc.samples.meta import Meta

DROP_PLACES = {
    "sender's queue": "sender_drop_count",
    "input of the box": "input_drop_count",
    "buffer of the line": "line_drop_count",
    "receiver": "receiver_drop_count",
}
"""Where a datagram may be dropped, in the order of its path, and the columns that count drops."""

MIN_DROP_RATIO = 0.01
"""A queue that drops this share of its arrivals is full. [ratio]"""

_MEDIANS = (
    "wall_s", "delivery_s", "user_s", "system_s", "sent_rate_bps", "goodput_bps", "sent_rate_pps",
    "rate_pps", "lost_count", "loss_ratio", "send_buffer_bytes", "receive_buffer_bytes",
    "window_bytes", "cycle_s", "sender_drop_count", "input_drop_count",
    "line_drop_count", "receiver_drop_count",
)  # fmt: skip


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TransferSamples(Samples):
    """Transfers of known size: how long each one took.

    Parameters
    ----------
    payload_bytes : array_like
        Bytes that the application sent. [byte]
    duration_s : array_like
        Time from the first to the last of them; nan where it failed. [s]
    failed : array_like of bool
        Transfers that did not complete.
    group : array_like of str
        Host or direction, where a file has several.
    """

    payload_bytes: ApplicationBytes
    duration_s: Seconds
    failed: Flags = ()
    group: Texts = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def measured(self) -> BoolColumn:
        """Rows with a known size and time that did not fail."""
        sizes, times = floats(self.payload_bytes), floats(self.duration_s)
        return ~bools(self.failed) & np.isfinite(sizes) & np.isfinite(times)


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BulkSamples(Samples):
    """Transfers from a source to a sink: bytes sent and received, losses, and CPU cost.

    Parameters
    ----------
    write_bytes : array_like
        Size of a write; over UDP, of a datagram. [byte]
    write_count : array_like
        Writes or datagrams sent. [1]
    sent_bytes, received_bytes : array_like
        Bytes that the source wrote, and that the sink read. [byte]
    wall_s : array_like
        From before the first write until the last one returned. [s]
    delivery_s : array_like
        From before the first write until the sink had read the last byte that arrived. [s]
    user_s, system_s : array_like
        Processor time of the source in user mode and in the kernel. [s]
    wait_count : array_like
        Voluntary context switches of the source: waits for the kernel. [1]
    receiver_user_s, receiver_system_s : array_like
        Processor time of the sink. [s]
    lost_count : array_like
        Datagrams that did not arrive. [1]
    pair_count : array_like
        Connections that sent at once. [1]
    send_buffer_bytes, receive_buffer_bytes : array_like
        Buffers of the two sockets, as the kernel granted them. [byte]
    asked_buffer_bytes : array_like
        Requested buffer; nan where the kernel chose. [byte]
    window_bytes : array_like
        Most bytes seen in flight over TCP: sent and not yet acknowledged. [byte]
    cycle_s : array_like
        Median time from a write to its response, where the source waits for one. [s]
    sender_drop_count, input_drop_count, line_drop_count, receiver_drop_count : array_like
        Datagrams dropped in the sender's own queue; at the input of a node on the path; in the
        buffer of its link; at the socket of the sink. [1]
    """

    write_bytes: ApplicationBytes
    write_count: Numbers
    sent_bytes: ApplicationBytes
    received_bytes: ApplicationBytes
    wall_s: Seconds
    delivery_s: Seconds
    user_s: Seconds = ()
    system_s: Seconds = ()
    wait_count: Numbers = ()
    receiver_user_s: Seconds = ()
    receiver_system_s: Seconds = ()
    lost_count: Numbers = ()
    pair_count: Numbers = ()
    send_buffer_bytes: Bytes = ()
    receive_buffer_bytes: Bytes = ()
    asked_buffer_bytes: Bytes = ()
    window_bytes: Bytes = ()
    cycle_s: Seconds = ()
    sender_drop_count: Numbers = ()
    input_drop_count: Numbers = ()
    line_drop_count: Numbers = ()
    receiver_drop_count: Numbers = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def sent_rate_bps(self) -> FloatColumn:
        """Rate at which the source wrote, delivered or not; inf in no time. [bit/s]"""
        return quotient(8.0 * floats(self.sent_bytes), self.wall_s)

    @property
    def goodput_bps(self) -> FloatColumn:
        """Rate at which the sink received. [bit/s]"""
        return quotient(8.0 * floats(self.received_bytes), self.delivery_s)

    @property
    def sent_rate_pps(self) -> FloatColumn:
        """Writes or datagrams a second. [packet/s]"""
        return quotient(floats(self.write_count), self.wall_s)

    @property
    def rate_pps(self) -> FloatColumn:
        """Writes or datagrams a second that arrived. [packet/s]"""
        arrived = quotient(floats(self.received_bytes), self.write_bytes)
        return quotient(arrived, self.delivery_s)

    @property
    def loss_ratio(self) -> FloatColumn:
        """Share of the datagrams sent that did not arrive; nan where none was sent. [ratio]"""
        return quotient(floats(self.lost_count), self.write_count)

    @property
    def sender_utilization(self) -> FloatColumn:
        """Share of one CPU that the source used. [ratio]"""
        return quotient(floats(self.user_s) + floats(self.system_s), self.wall_s)

    @property
    def saturated(self) -> BoolColumn:
        """Rows whose source was itself the limit: it used its CPU and hardly ever waited.

        The bounds are netcalc's own: a fifth of a CPU, as the kernel does not account all its work
        to the sender and other programs compete, and one wait in ten milliseconds.
        """
        waits_per_s = quotient(floats(self.wait_count), self.wall_s)
        return (self.sender_utilization >= 0.2) & (waits_per_s <= 100.0)

    @property
    def limit(self) -> TextColumn:
        """Limit of each row: a key of :data:`DROP_PLACES`, or ``"sender"``; empty if unknown.

        Each queue on the path passes at most what the one before it passed, so behind the last
        queue that dropped a hundredth of its arrivals nothing was overloaded: that queue is the
        limit. Where none did, and as much arrived, a saturated sender is: the path may carry more.
        """
        left = floats(self.write_count)
        arrived = ~(self.loss_ratio >= MIN_DROP_RATIO)
        limit = np.where(self.saturated & arrived, "sender", "").astype("<U32")
        for label, name in DROP_PLACES.items():
            dropped = np.nan_to_num(floats(getattr(self, name)))
            limit[dropped >= MIN_DROP_RATIO * np.maximum(left, 1.0)] = label
            left = left - dropped
        return limit

    def medians(self, *columns: str, by: str = "write_bytes") -> dict[str, FloatColumn]:
        """Return the median of columns, or of the rates above, for each value of one column."""
        at = floats(getattr(self, by))
        distinct = np.unique(at[~np.isnan(at)])
        medians = {by: distinct}
        for name in columns:
            values = floats(getattr(self, name))
            medians[name] = np.array([median(values[at == value]) for value in distinct])
        return medians

    def by_setting(self) -> list[dict[str, Any]]:
        """Return one row for each setting, in the order of their first transfers.

        A setting is a write size, a buffer and a number of pairs. A row has these, the number of
        its transfers, how many of them were ``saturated``, the ``limit`` of most of them, and the
        median of each time, rate, loss and drop count.
        """
        names = ("write_bytes", "asked_buffer_bytes", "pair_count")
        settings = np.stack([floats(getattr(self, name)) for name in names], axis=1)
        _, first, inverse = np.unique(
            np.nan_to_num(settings, nan=-1.0), axis=0, return_index=True, return_inverse=True
        )
        rows = []
        for index in np.argsort(first).tolist():
            chosen = inverse.ravel() == index
            row: dict[str, Any] = dict(zip(names, settings[first[index]].tolist(), strict=True))
            row["run_count"] = int(chosen.sum())
            limits, counts = np.unique(self.limit[chosen], return_counts=True)
            row["limit"] = str(limits[np.argmax(counts)])
            row["saturated_count"] = int(self.saturated[chosen].sum())
            rows.append(row | {n: median(floats(getattr(self, n))[chosen]) for n in _MEDIANS})
        return rows


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TransactionSamples(Samples):
    """Requests and their responses: how long a program waited for each response.

    Parameters
    ----------
    mode : array_like of str
        How the request was sent: the mode of writing, or the protocol. [text]
    sequence : array_like
        Number of the exchange within its mode, from 1. [1]
    payload_bytes, reply_bytes : array_like
        User data of the request and of the response. [byte]
    response_s : array_like
        From before the first write or packet until the response was read, by the program's clock;
        nan where none came. [s]
    tap_s : array_like
        From the first packet of the request to the last of the response, by the clock of a packet
        tap; nan where there is none. [s]
    failed : array_like of bool
        Exchanges without a response.
    warm_up : array_like of bool
        Exchanges that the kernel treats differently from those that follow.
    sent_s : array_like
        When the exchange began, by the clock that ``meta`` names. [s]
    """

    mode: Texts
    sequence: Numbers
    payload_bytes: ApplicationBytes
    response_s: Seconds
    reply_bytes: ApplicationBytes = ()
    tap_s: Seconds = ()
    failed: Flags = ()
    warm_up: Flags = ()
    sent_s: Seconds = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def measured(self) -> BoolColumn:
        """Rows with a response and its time."""
        return ~bools(self.failed) & np.isfinite(floats(self.response_s))

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes, in the order of their first row."""
        return tuple(dict.fromkeys(cast(TextColumn, self.mode).tolist()))

    def in_mode(self, mode: str, *, warm_up: bool = False) -> BoolColumn:
        """Return a mask of the rows of a mode that have a time, without those of the warm-up."""
        rows: BoolColumn = self.measured & (cast(TextColumn, self.mode) == mode)
        return rows if warm_up else rows & ~bools(self.warm_up)

    def minima(self, mode: str, *, column: str = "response_s") -> tuple[FloatColumn, FloatColumn]:
        """Return the sizes that were measured in a mode and the smallest time of each."""
        if column not in ("response_s", "tap_s"):
            raise DomainError("not-a-choice", "column", column, choices=["response_s", "tap_s"])
        times = floats(getattr(self, column))
        rows = self.in_mode(mode) & ~np.isnan(times)
        sizes, index = np.unique(floats(self.payload_bytes)[rows], return_inverse=True)
        smallest = np.full(sizes.size, np.inf)
        np.minimum.at(smallest, index, times[rows])
        return sizes, smallest


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FlowSeries(Samples):
    """Intervals of flows: one row for each interval of each stream, never for a sum of streams.

    Parameters
    ----------
    start_s : array_like
        Start of the interval, from the start of the run. [s]
    duration_s : array_like
        Its length. [s]
    payload_bytes : array_like
        Bytes of the application in it, as ``side`` counts them. [byte]
    throughput_bps : array_like
        Rate as the tool printed it; where it printed none, bytes over the length. [bit/s]
    group : array_like of str
        Run, host or direction; as in the row of facts of that name.
    stream : array_like of str
        Name of the stream in its run.
    side : array_like of str
        Who counted: ``"sender"``, ``"receiver"``, or empty if the file does not say.
    omitted : array_like of bool
        Intervals at the start that the tool leaves out of its results.
    retransmit_count, cwnd_bytes, rtt_s, rttvar_s, path_mtu_bytes : array_like
        Of TCP, at the end of the interval or in it; nan where not known.
    jitter_s, datagram_count, lost_count : array_like
        Of UDP; nan where not known.
    """

    start_s: Seconds
    duration_s: Seconds
    payload_bytes: ApplicationBytes = ()
    throughput_bps: Annotated[FloatColumn | Sequence[float], Column("bit/s", "application")] = ()
    group: Texts = ()
    stream: Texts = ()
    side: Texts = ()
    omitted: Flags = ()
    retransmit_count: Numbers = ()
    cwnd_bytes: Bytes = ()
    rtt_s: Seconds = ()
    rttvar_s: Seconds = ()
    path_mtu_bytes: Bytes = ()
    jitter_s: Seconds = ()
    datagram_count: Numbers = ()
    lost_count: Numbers = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def rate_bps(self) -> FloatColumn:
        """Rate of each row: bytes over the length, or the printed rate if the bytes are unknown."""
        counted = quotient(8.0 * floats(self.payload_bytes), self.duration_s)
        return np.where(np.isfinite(counted), counted, floats(self.throughput_bps))

    @property
    def measured(self) -> BoolColumn:
        """Rows that count: with a rate, and not omitted by the tool."""
        return ~bools(self.omitted) & np.isfinite(self.rate_bps)
