"""The kinds of samples: probes, transfers, and packets, each with a row for each of them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import in_blocks, named_arguments
from netcalc.errors import DomainError
from netcalc.samples.columns import (
    ApplicationBytes,
    BoolColumn,
    Bytes,
    Column,
    Flags,
    FloatColumn,
    Numbers,
    PacketBytes,
    Samples,
    Seconds,
    TextColumn,
    Texts,
    bools,
    floats,
    median,
    quotient,
)
from netcalc.samples.meta import Fact, Meta, fact_row

if TYPE_CHECKING:
    import pandas as pd


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RttSamples(Samples):
    """Round trips of an echo: one row for each probe sent, and one for each duplicate reply.

    Parameters
    ----------
    payload_bytes : array_like
        User data of the probe, as ``ping -s`` counts it. [byte]
    rtt_s : array_like
        Round-trip time; nan where none is known. [s]
    sequence : array_like
        Sequence number, unwrapped; nan where none is known. [1]
    lost, duplicate : array_like of bool
        Probes without a reply; replies beyond the first to one probe. Neither enters a statistic.
    error_reply : array_like of bool
        Probes answered with an error message instead of an echo; they are also lost.
    resolution_s : array_like
        Width of the interval in which the time is known to lie; 0 if unknown. A time printed as
        ``<1 ms`` is stored as 0.5 ms with a width of 1 ms. [s]
    sent_s : array_like
        When the probe was sent, by the clock that ``meta`` names. [s]
    ttl : array_like
        Time to live of the reply. [1]
    group : array_like of str
        Host or run, where a file has several that must not be mixed.
    sent_count, received_count, error_count : int or None
        Totals, where the rows do not give them (a summary without lines).
    """

    payload_bytes: Annotated[FloatColumn | Sequence[float], Column("byte", "echo user data")]
    rtt_s: Seconds
    sequence: Numbers = ()
    lost: Flags = ()
    duplicate: Flags = ()
    error_reply: Flags = ()
    resolution_s: Seconds = ()
    sent_s: Seconds = ()
    ttl: Numbers = ()
    group: Texts = ()
    sent_count: int | None = None
    received_count: int | None = None
    error_count: int | None = None
    meta: Meta = field(default_factory=Meta)

    @property
    def replied(self) -> BoolColumn:
        """Rows that are the first reply to a probe, with or without a time."""
        return ~bools(self.lost) & ~bools(self.duplicate)

    @property
    def measured(self) -> BoolColumn:
        """Rows that are the first reply to a probe and carry a time."""
        return self.replied & np.isfinite(floats(self.rtt_s))

    @property
    def best_s(self) -> FloatColumn:
        """Round-trip times of first replies, in the order of the rows. [s]"""
        return floats(self.rtt_s)[self.measured]

    @property
    def sent(self) -> int:
        """Probes sent."""
        if self.sent_count is not None:
            return self.sent_count
        return int((~bools(self.duplicate)).sum())

    @property
    def received(self) -> int:
        """Probes that were answered by an echo."""
        return int(self.replied.sum()) if self.received_count is None else self.received_count

    @property
    def duplicates(self) -> int:
        """Replies beyond the first to one probe."""
        return int(bools(self.duplicate).sum())

    @property
    def errors(self) -> int:
        """Probes answered by an error message."""
        return int(bools(self.error_reply).sum()) if self.error_count is None else self.error_count

    @property
    def loss_ratio(self) -> float:
        """Share of the probes that were not answered by an echo; nan if none was sent."""
        return 1.0 - self.received / self.sent if self.sent else math.nan

    @property
    def groups(self) -> list[str]:
        """The groups in the order of their rows."""
        return list(dict.fromkeys(np.asarray(self.group).tolist()))

    def counted_facts(self) -> list[dict[str, Fact]]:
        """Return what the rows show of all probes together."""
        rtt = self.best_s
        return [
            fact_row(
                target=self.meta.target,
                sent_count=self.sent,
                received_count=self.received,
                duplicate_count=self.duplicates,
                rtt_min_s=rtt.min() if rtt.size else None,
                rtt_max_s=rtt.max() if rtt.size else None,
                rtt_median_s=np.median(rtt, overwrite_input=True) if rtt.size else None,
                loss_ratio=self.loss_ratio,
                partial=self.meta.partial,
            )
        ]

    def minima(self, rows: BoolColumn | None = None) -> tuple[FloatColumn, FloatColumn]:
        """Return the sizes that were measured, ascending, and the smallest round trip of each.

        Parameters
        ----------
        rows : array_like of bool, optional
            Rows to which the result is limited; by default all.
        """
        taken = self.measured & np.isfinite(floats(self.payload_bytes))
        if rows is not None:
            taken &= rows
        columns = (floats(self.payload_bytes), floats(self.rtt_s), taken)
        some = [np.unique(sizes[mask]) for sizes, _, mask in in_blocks(*columns)]
        distinct = np.unique(np.concatenate(some)) if some else np.empty(0)
        smallest = np.full(distinct.size, np.inf)
        for sizes, rtts, mask in in_blocks(*columns):
            np.minimum.at(smallest, np.searchsorted(distinct, sizes[mask]), rtts[mask])
        return distinct, smallest


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HopSamples(Samples):
    """Round trips to each node of a path: one row for each probe sent.

    Parameters
    ----------
    hop : array_like
        Time to live of the probe: with 1 it ends at the first node. [1]
    packet_bytes : array_like
        Size of the probe with its headers. [byte]
    rtt_s : array_like
        From before the probe was sent until its reply was read; nan without one. [s]
    answer_bytes : array_like
        Size of the reply with its headers: it quotes the probe, or the beginning of it. [byte]
    sequence : array_like
        Number of the probe in the run, from 1. [1]
    lost : array_like of bool
        Probes without a reply.
    sent_s : array_like
        When the probe was sent, by the clock that ``meta`` names. [s]
    node : array_like of str
        Address that replied; empty without a reply. [text]
    """

    hop: Numbers
    packet_bytes: PacketBytes
    rtt_s: Seconds
    answer_bytes: PacketBytes = ()
    sequence: Numbers = ()
    lost: Flags = ()
    sent_s: Seconds = ()
    node: Texts = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def measured(self) -> BoolColumn:
        """Rows with a reply and its time."""
        return ~bools(self.lost) & np.isfinite(floats(self.rtt_s))

    @property
    def hops(self) -> tuple[int, ...]:
        """Hops with at least one measured time, in order."""
        return tuple(np.unique(floats(self.hop)[self.measured]).astype(int).tolist())

    def minima(self, hop: int) -> tuple[FloatColumn, FloatColumn]:
        """Return the sizes that were measured to a hop and the smallest round trip of each.

        Only probes whose replies are as large as the largest reply count: the reply to a longer
        probe then takes as long to come back.
        """
        rows = self.measured & (floats(self.hop) == hop)
        answers = floats(self.answer_bytes)[rows]
        if np.isfinite(answers).any():
            rows[rows] = answers == np.nanmax(answers)
        sizes, index = np.unique(floats(self.packet_bytes)[rows], return_inverse=True)
        smallest = np.full(sizes.size, np.inf)
        np.minimum.at(smallest, index, floats(self.rtt_s)[rows])
        return sizes, smallest


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TrainSamples(Samples):
    """Packets sent back to back, in pairs or longer trains: one row for each packet.

    Parameters
    ----------
    train : array_like
        Number of the train, from 1. [1]
    index : array_like
        Index of the packet in the train, from 1. [1]
    packet_bytes : array_like
        Size of the packet with its headers. [byte]
    sent_s : array_like
        When it was handed to the kernel, from the start of the run. [s]
    received_s : array_like
        When its last bit had arrived, by the kernel's clock at the far end, from the start of the
        run; nan if it never did. [s]
    crossed : array_like of bool
        Packets before which a packet of cross traffic was sent.
    """

    train: Numbers
    index: Numbers
    packet_bytes: PacketBytes
    sent_s: Seconds
    received_s: Seconds
    crossed: Flags = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def lost_count(self) -> int:
        """Packets that did not arrive."""
        return int(np.isnan(floats(self.received_s)).sum())

    def trains(self) -> dict[str, FloatColumn]:
        """Return one row for each train that arrived completely, by columns.

        ``train``, ``packet_bytes``, ``packet_count``; ``dispersion_s`` from the first arrival to
        the last; ``one_way_s`` from before the first packet was sent to the last arrival;
        ``crossed_count``.
        """
        number, inverse = np.unique(floats(self.train), return_inverse=True)
        rows: list[tuple[float, ...]] = []
        for index, train in enumerate(number.tolist()):
            chosen = inverse == index
            arrived = floats(self.received_s)[chosen]
            if np.isnan(arrived).any() or arrived.size < 2:
                continue
            rows.append(
                (
                    train,
                    float(floats(self.packet_bytes)[chosen][0]),
                    arrived.size,
                    float(arrived.max() - arrived.min()),
                    float(arrived.max() - floats(self.sent_s)[chosen].min()),
                    int(bools(self.crossed)[chosen].sum()),
                )
            )
        table = np.array(rows, dtype=np.float64).reshape(-1, 6)
        names = (
            "train", "packet_bytes", "packet_count", "dispersion_s", "one_way_s", "crossed_count",
        )  # fmt: skip
        return dict(zip(names, table.T, strict=True))


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PathSamples(Samples):
    """Probes to each hop of one or several paths: one row for each probe.

    Parameters
    ----------
    hop : array_like
        Hops that the probe was let go; 1 ends at the first node; nan where it was let go to the
        target, however far that is. [1]
    rtt_s : array_like
        Round trip to the node that answered; nan without an answer or a time. [s]
    lost : array_like of bool
        Probes without an answer.
    node : array_like of str
        Address that answered, or its name where only that is printed; empty without an answer.
    node_name : array_like of str
        Its name, where the file has both.
    mark : array_like of str
        What the tool says of the answer: ``!H``, ``!X``, ``!F-1300``; several joined by blanks.
    group : array_like of str
        Run or target, where the file has several; as in the row of facts of that name.
    sequence : array_like
        Number of the probe at its hop, from 1. [1]
    ttl : array_like
        Time to live of the answer. [1]
    resolution_s : array_like
        Width of the interval in which the time is known to lie; 0 if unknown. A time printed as
        ``<1 ms`` is stored as 0.5 ms with a width of 1 ms. [s]
    """

    may_be_unknown: ClassVar[frozenset[str]] = frozenset({"hop"})

    hop: Numbers
    rtt_s: Seconds
    lost: Flags = ()
    node: Texts = ()
    node_name: Texts = ()
    mark: Texts = ()
    group: Texts = ()
    sequence: Numbers = ()
    ttl: Numbers = ()
    resolution_s: Seconds = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def waited(self) -> BoolColumn:
        """Rows whose node asked for the target's link address, in vain: no delay of the path.

        Their mark is ``!H``, which some tools write ``!A`` of IPv6, and they took
        :data:`LEAST_WAIT_S` or more. A node that answers at once did not ask.
        """
        marks, nodes = np.asarray(self.mark), np.asarray(self.node)
        waits = floats(self.rtt_s) >= LEAST_WAIT_S
        for index in np.flatnonzero(waits):
            pattern = _NO_HOST_IPV6 if ":" in nodes[index] else _NO_HOST
            waits[index] = pattern.search(marks[index]) is not None
        return waits

    @property
    def measured(self) -> BoolColumn:
        """Rows with an answer and a time, which is a delay of the path."""
        return ~bools(self.lost) & np.isfinite(floats(self.rtt_s)) & ~self.waited

    def hop_facts(self, group: str = "", rows: NDArray[np.int64] | None = None) -> dict[str, Fact]:
        """Return what the probes of one group say: hops, hops that answered, probes, replies.

        ``rows`` are those of the group, where they are known (:meth:`rows_by_group`).
        The last hop is the highest number in the file, whether it answered or not; where the target
        answered a try whose number of hops is unknown (nan), the number of hops is left out, and
        the last round trip is that of the try.
        """
        if rows is None:
            rows = np.flatnonzero(np.asarray(self.group) == group)
        hops = floats(self.hop)[rows]
        lost = bools(self.lost)[rows]
        tries = np.isnan(hops)
        last = tries if tries.any() else hops == hops.max(initial=0)
        times = floats(self.rtt_s)[rows]
        return fact_row(
            hop_count=math.nan if tries.any() else hops.max(initial=0),
            responding_hop_count=len(set(hops[~lost & ~tries].tolist())),
            probe_count=hops.size,
            reply_count=np.count_nonzero(~lost),
            last_hop_rtt_median_s=median(times[last & ~lost]),
        )

    def counted_facts(self) -> list[dict[str, Fact]]:
        """Return a row of facts for each group."""
        return [
            {**fact_row(group=group), **self.hop_facts(group, rows)}
            for group, rows in self.rows_by_group().items()
        ]

    def rows_by_group(self) -> dict[str, NDArray[np.int64]]:
        """Return the rows of each group, in the order of the first ones.

        A file may have thousands of groups, so none of them looks at all rows.
        """
        rows: dict[str, list[int]] = {}
        for row, group in enumerate(np.asarray(self.group).tolist()):
            rows.setdefault(group, []).append(row)
        return {group: np.array(numbers) for group, numbers in rows.items()}


LEAST_WAIT_S = 0.1
"""A node that asks for an address (ARP, ND) gives up after one to three seconds; less than this is
a round trip. [s]"""
_NO_HOST, _NO_HOST_IPV6 = re.compile(r"!H"), re.compile(r"![HA]")

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
        Processor time of the source in user mode and in the kernel; where the system does not
        divide it, all in ``user_s``, and ``system_s`` is nan. [s]
    wait_count : array_like
        Voluntary context switches of the source: waits for the kernel; nan where the system does
        not count them. [1]
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
    direction : array_like of str
        Between two machines: ``"forward"``, ``"back"``, or both at once, ``"forward of both"`` and
        ``"back of both"``; of a host over its own loopback ``"this host alone"`` or ``"peer
        alone"``; empty on one machine. [text]
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
    direction: Texts = ()
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
        used_s = floats(self.user_s) + np.nan_to_num(floats(self.system_s))
        return quotient(used_s, self.wall_s)

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

        A setting is a direction, a write size, a buffer and a number of pairs. A row has these, the
        number of its transfers, how many of them were ``saturated``, the ``limit`` of most of them,
        and the median of each time, rate, loss and drop count.
        """
        names = ("write_bytes", "asked_buffer_bytes", "pair_count")
        ways, way = np.unique(np.asarray(self.direction, str), return_inverse=True)
        settings = np.stack([floats(getattr(self, name)) for name in names] + [way], axis=1)
        _, first, inverse = np.unique(
            np.nan_to_num(settings, nan=-1.0), axis=0, return_index=True, return_inverse=True
        )
        rows = []
        for index in np.argsort(first).tolist():
            chosen = inverse.ravel() == index
            row: dict[str, Any] = dict(zip(names, settings[first[index]].tolist(), strict=False))
            row["direction"] = str(ways[way[first[index]]])
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


IntColumn: TypeAlias = NDArray[np.integer[Any]] | Sequence[int]
UInt8: TypeAlias = Annotated[IntColumn, Column("1", whole=np.uint8)]
UInt16: TypeAlias = Annotated[IntColumn, Column("1", whole=np.uint16)]
UInt32: TypeAlias = Annotated[IntColumn, Column("1", whole=np.uint32)]


class Layer(IntFlag):
    """What a packet holds, and what of it could not be read: bits of the column ``layers``."""

    IPV4 = 1
    IPV6 = 2
    TCP = 4
    """The header of the innermost packet is there as a whole; so UDP and ICMP."""
    UDP = 8
    ICMP = 16
    VLAN = 32
    MPLS = 64
    PPPOE = 128
    GRE = 256
    VXLAN = 512
    """VXLAN or Geneve."""
    TUNNEL = 1024
    """An IP packet in another one; the columns are those of the inner one."""
    EXTENSION = 2048
    """Extension headers of IPv6, fragments apart."""
    FRAGMENT = 4096
    LATER_FRAGMENT = 8192
    """A fragment behind the first, which has no transport header."""
    LLC = 16384
    """802.2 instead of an EtherType."""
    ARP = 32768
    CUT = 65536
    """The snap length cut a header."""
    MALFORMED = 131072
    """A length that does not agree with those around it."""
    OFFLOADED = 262144
    """An IP length of 0: the network card was to cut the data into packets."""
    TIMESTAMPS = 524288
    WINDOW_SCALE = 1048576
    SACK_PERMITTED = 2097152


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PacketTrace(Samples):
    """Packets of a capture: one row each, in the order of the file.

    Of a packet in another one (a tunnel) the columns are those of the inner one. A field that a
    packet does not have is 0; ``layers`` says which it has.

    Parameters
    ----------
    time_s : array_like
        When it was captured, from the first packet with a time on; nan where the file has none. [s]
    kept_bytes, original_bytes : array_like
        Bytes of the frame that the file holds, and those it had when it was captured. [byte]
    layers : array_like
        The headers it has: :class:`Layer`. [1]
    interface, link_number : array_like
        Number of the interface in the file, and its link type. [1]
    tag_count : array_like
        VLAN tags. [1]
    ip_version, ip_protocol, ttl, traffic_class, ip_id : array_like
        Fields of the IP header; ``ip_protocol`` is that behind the extension headers. [1]
    packet_bytes : array_like
        Length of the IP packet, as its header says. [byte]
    source, destination : array_like
        Index into ``addresses``. [1]
    source_port, destination_port : array_like
        Ports of TCP or UDP. [1]
    payload_bytes : array_like
        Bytes behind the transport header, by the lengths in the headers. [byte]
    tcp_sequence, acknowledged, tcp_flags, window : array_like
        Fields of the TCP header; the flags are the lower nine bits. [1]
    timestamp, timestamp_echo : array_like
        The option of RFC 7323. [1]
    shift, sack_count : array_like
        Shift of the window scale option, and ranges that SACK reports. [1]
    sack_left, sack_right : array_like
        The first of these ranges, which has the newest segment (RFC 2018), as sequence numbers. [1]
    mss_bytes : array_like
        The MSS option; 0 without it. [byte]
    icmp_type, icmp_code, echo_id, echo_sequence : array_like
        Fields of ICMP. [1]
    addresses : tuple of str
        The addresses, each once.
    start_ns : int or None
        When ``time_s`` is 0: nanoseconds since 1970 by the clock of the capture.
    snap_bytes : int or None
        Longest frame that was kept whole, as the file says; the least of several interfaces. [byte]
    """

    text_lists: ClassVar[frozenset[str]] = frozenset({"addresses"})

    time_s: Seconds
    kept_bytes: Annotated[IntColumn, Column("byte", "captured frame", np.uint32)]
    original_bytes: Annotated[IntColumn, Column("byte", "captured frame", np.uint32)]
    layers: UInt32 = ()
    interface: UInt32 = ()
    link_number: UInt16 = ()
    tag_count: UInt8 = ()
    ip_version: UInt8 = ()
    ip_protocol: UInt8 = ()
    ttl: UInt8 = ()
    traffic_class: UInt8 = ()
    ip_id: UInt16 = ()
    packet_bytes: Annotated[IntColumn, Column("byte", "IP packet", np.uint32)] = ()
    source: UInt32 = ()
    destination: UInt32 = ()
    source_port: UInt16 = ()
    destination_port: UInt16 = ()
    payload_bytes: Annotated[IntColumn, Column("byte", "TCP, UDP or ICMP payload", np.uint32)] = ()
    tcp_sequence: UInt32 = ()
    acknowledged: UInt32 = ()
    tcp_flags: UInt16 = ()
    window: UInt16 = ()
    timestamp: UInt32 = ()
    timestamp_echo: UInt32 = ()
    shift: UInt8 = ()
    sack_count: UInt8 = ()
    sack_left: UInt32 = ()
    sack_right: UInt32 = ()
    mss_bytes: Annotated[IntColumn, Column("byte", whole=np.uint16)] = ()
    icmp_type: UInt8 = ()
    icmp_code: UInt8 = ()
    echo_id: UInt16 = ()
    echo_sequence: UInt16 = ()
    addresses: tuple[str, ...] = ()
    start_ns: int | None = None
    snap_bytes: int | None = None
    meta: Meta = field(default_factory=Meta)

    def __post_init__(self) -> None:
        Samples.__post_init__(self)
        object.__setattr__(self, "addresses", tuple(self.addresses))
        highest = max(int(self.ints(name).max(initial=0)) for name in ("source", "destination"))
        if highest >= max(len(self.addresses), 1):
            raise DomainError("address-index", "addresses", len(self.addresses), index=highest)

    def ints(self, name: str) -> NDArray[Any]:
        """Return a column of whole numbers, which the constructor made an array."""
        column: NDArray[Any] = getattr(self, name)
        return column

    def has(self, layer: int) -> NDArray[np.bool_]:
        """Return a mask of the packets that have one of these :class:`Layer` bits."""
        mask: NDArray[np.bool_] = self.ints("layers") & np.uint32(layer) != 0
        return mask

    @property
    def span_s(self) -> float:
        """Time from the earliest packet to the latest; nan if no packet has a time. [s]"""
        times = np.asarray(self.time_s)
        times = times[~np.isnan(times)]
        return float(times.max() - times.min()) if times.size else float("nan")

    def rows(self, chosen: NDArray[Any] | slice) -> PacketTrace:
        """Return some of the packets, as a trace of its own."""
        columns: dict[str, Any] = {name: each[chosen] for name, each in self.columns().items()}
        return replace(self, **columns)

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas frame, with the addresses as text."""
        frame = Samples.to_frame(self)
        names = np.array(self.addresses or ("",), dtype=object)
        for name in ("source", "destination"):
            frame[name] = names[self.ints(name)]
        return frame
