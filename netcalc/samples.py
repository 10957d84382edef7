"""Containers of measurements: raw, self-describing, saved and loaded without loss.

One container per kind of measurement. Each is a set of columns of equal length and one
:class:`Meta` that says what they are: unit and layer of each column, tool, host, clock, start, the
hash of the source. A lost probe is a row whose mask says so, never a number that stands for it;
nothing is resampled.

>>> import numpy as np
>>> samples = RttSamples(
...     payload_bytes=[56, 56, 56], sequence=[1, 2, 3], rtt_s=[0.0113, np.nan, 0.0109],
...     lost=[False, True, False], meta=Meta(tool="ping"))
>>> samples.sent, samples.received, float(samples.best_s.min())
(3, 2, 0.0109)
"""

from __future__ import annotations

import errno
import glob
import gzip
import io
import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.errors import DomainError, MissingPackageError, ReaderError

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Number of the file format; a file with a higher one is refused by name."""

MAX_FILE_BYTES = 1 << 30
"""Largest file of saved samples that is read, compressed or not. [byte]"""

DROP_PLACES = {
    "sender's queue": "sender_drop_count",
    "input of the box": "input_drop_count",
    "buffer of the line": "line_drop_count",
    "receiver": "receiver_drop_count",
}
"""Where a datagram may be dropped, in the order of its way, and the columns that count it."""
MIN_DROP_RATIO = 0.01
"""A place that drops this share of what comes to it is full. [ratio]"""

FloatColumn: TypeAlias = NDArray[np.float64]
BoolColumn: TypeAlias = NDArray[np.bool_]
TextColumn: TypeAlias = NDArray[np.str_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What is known about a set of samples beside its numbers.

    Parameters
    ----------
    tool, tool_version, command : str
        The program that measured, as far as its output tells.
    host, target : str
        Where it ran, and what it measured.
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
    printed : mapping
        The tool's own summary, as printed, beside what netcalc counts.
    instrument : mapping
        What a live run knows of its own error, in SI units by name.
    warnings : tuple of str
        What was repaired, skipped or does not agree.
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
    printed: Mapping[str, Any] = field(default_factory=dict)
    instrument: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    partial: bool = False
    schema: int = SCHEMA


class Samples:
    """What all containers share: columns of equal length, :class:`Meta`, files and frames.

    A subclass is a frozen dataclass; its fields with a unit in ``column_units`` are its columns.
    """

    column_units: ClassVar[Mapping[str, str]] = {}
    column_layers: ClassVar[Mapping[str, str]] = {}
    meta: Meta

    def __post_init__(self) -> None:
        length: int | None = None
        for name in self.column_units:
            column = _column(name, getattr(self, name), self.column_units[name])
            if length is None:
                length = column.size
            elif column.size == 0 and length:
                column = _filler(self.column_units[name], length)
            elif column.size != length:
                raise DomainError(name, f"{column.size} long", f"{length} long, as the others are")
            object.__setattr__(self, name, column)
        meta = replace(
            self.meta,
            units={**self.column_units, **self.meta.units},
            layers={**self.column_layers, **self.meta.layers},
        )
        object.__setattr__(self, "meta", meta)

    def __len__(self) -> int:
        return int(getattr(self, next(iter(self.column_units))).size)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return {name: getattr(self, name) for name in self.column_units}

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas frame; units, layers and the rest are in ``attrs``.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPackageError("pandas", extra="lab", purpose="to_frame()") from error
        frame = pd.DataFrame(self.columns())
        frame.attrs.update(asdict(self.meta))
        return frame

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the samples to a JSON file (compressed if it ends in ``.gz``); return its path.

        The file is complete or not there: it is written beside its place and then moved.
        """
        path = Path(path)
        data = self.dumps()
        if path.suffix == ".gz":
            data = gzip.compress(data, mtime=0)
        write_atomically(path, data)
        return path

    def dumps(self) -> bytes:
        """Return what :meth:`save` writes: JSON in UTF-8, not compressed."""
        document = {
            "format": "netcalc samples",
            "schema": SCHEMA,
            "kind": type(self).__name__,
            "meta": json_ready(asdict(self.meta)),
            "fields": json_ready(
                {
                    f.name: getattr(self, f.name)
                    for f in fields(cast(Any, self))
                    if f.name not in self.column_units and f.name != "meta"
                }
            ),
            "columns": {name: json_ready(column) for name, column in self.columns().items()},
        }
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        return text.encode("utf-8", "surrogatepass")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read samples back from :meth:`save`.

        Raises
        ------
        ReaderError
            If the file is damaged, of another kind, or of a later schema.
        """
        samples = load(path)
        if not isinstance(samples, cls):
            raise ReaderError(
                "holds samples of another kind",
                file=str(path),
                value=type(samples).__name__,
                expected=cls.__name__,
                hint="netcalc.samples.load reads every kind",
            )
        return samples


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RttSamples(Samples):
    """Round trips of an echo: one row for each probe sent, and one for each duplicate reply.

    Parameters
    ----------
    payload_bytes : array_like
        User data of the probe: what ``ping -s`` counts. [byte]
    rtt_s : array_like
        Round-trip time; nan where none is known. [s]
    sequence : array_like
        Sequence number, unwrapped; nan where none is known. [1]
    lost, duplicate : array_like of bool
        Probes without a reply; replies beyond the first to one probe. Neither enters a statistic.
    error_reply : array_like of bool
        Probes that somebody answered with an error instead of an echo; they are also lost.
    resolution_s : array_like
        Width of the interval in which the time is known to lie; 0 if unknown. A time printed as
        ``<1 ms`` is stored as 0.5 ms with a width of 1 ms. [s]
    sent_s : array_like
        When the probe was sent, by the clock that ``meta`` names. [s]
    ttl : array_like
        Time to live of the reply. [1]
    sent_count, received_count, error_count : int or None
        Totals, where they are known from elsewhere than the rows (a summary without lines).
    """

    column_units: ClassVar[Mapping[str, str]] = {
        "payload_bytes": "byte",
        "rtt_s": "s",
        "sequence": "1",
        "lost": "bool",
        "duplicate": "bool",
        "error_reply": "bool",
        "resolution_s": "s",
        "sent_s": "s",
        "ttl": "1",
    }
    column_layers: ClassVar[Mapping[str, str]] = {"payload_bytes": "echo user data"}

    payload_bytes: FloatColumn | Sequence[float]
    rtt_s: FloatColumn | Sequence[float]
    sequence: FloatColumn | Sequence[float] = ()
    lost: BoolColumn | Sequence[bool] = ()
    duplicate: BoolColumn | Sequence[bool] = ()
    error_reply: BoolColumn | Sequence[bool] = ()
    resolution_s: FloatColumn | Sequence[float] = ()
    sent_s: FloatColumn | Sequence[float] = ()
    ttl: FloatColumn | Sequence[float] = ()
    sent_count: int | None = None
    received_count: int | None = None
    error_count: int | None = None
    meta: Meta = field(default_factory=Meta)

    @property
    def replied(self) -> BoolColumn:
        """Rows that are the first reply to a probe, with or without a time."""
        return ~_bools(self.lost) & ~_bools(self.duplicate)

    @property
    def measured(self) -> BoolColumn:
        """Rows that are the first reply to a probe and carry a time."""
        return self.replied & np.isfinite(_floats(self.rtt_s))

    @property
    def best_s(self) -> FloatColumn:
        """Round-trip times of first replies, in the order of the rows. [s]"""
        return _floats(self.rtt_s)[self.measured]

    @property
    def sent(self) -> int:
        """Probes sent."""
        if self.sent_count is not None:
            return self.sent_count
        return int((~_bools(self.duplicate)).sum())

    @property
    def received(self) -> int:
        """Probes that were answered by an echo."""
        return int(self.replied.sum()) if self.received_count is None else self.received_count

    @property
    def duplicates(self) -> int:
        """Replies beyond the first to one probe."""
        return int(_bools(self.duplicate).sum())

    @property
    def errors(self) -> int:
        """Probes answered by an error message."""
        return int(_bools(self.error_reply).sum()) if self.error_count is None else self.error_count

    @property
    def loss_ratio(self) -> float:
        """Share of the probes that were not answered by an echo; nan if none was sent."""
        return 1.0 - self.received / self.sent if self.sent else math.nan

    def minima(self) -> tuple[FloatColumn, FloatColumn]:
        """Return the sizes that were measured and the smallest round trip of each."""
        sizes, rtts = _floats(self.payload_bytes)[self.measured], self.best_s
        known = np.isfinite(sizes)
        distinct, place = np.unique(sizes[known], return_inverse=True)
        smallest = np.full(distinct.size, np.inf)
        np.minimum.at(smallest, place, rtts[known])
        return distinct, smallest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TransferSamples(Samples):
    """Transfers of known size: how long each one took.

    Parameters
    ----------
    payload_bytes : array_like
        Bytes handed over by the application. [byte]
    duration_s : array_like
        Time from the first to the last of them; nan where it failed. [s]
    failed : array_like of bool
        Transfers that did not complete.
    """

    column_units: ClassVar[Mapping[str, str]] = {
        "payload_bytes": "byte",
        "duration_s": "s",
        "failed": "bool",
    }
    column_layers: ClassVar[Mapping[str, str]] = {"payload_bytes": "application"}

    payload_bytes: FloatColumn | Sequence[float]
    duration_s: FloatColumn | Sequence[float]
    failed: BoolColumn | Sequence[bool] = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def measured(self) -> BoolColumn:
        """Rows with a known size and time that did not fail."""
        sizes, times = _floats(self.payload_bytes), _floats(self.duration_s)
        return ~_bools(self.failed) & np.isfinite(sizes) & np.isfinite(times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TransactionSamples(Samples):
    """Requests, each with its response: how long a program waited for an answer.

    Parameters
    ----------
    mode : array_like of str
        How the request was sent: the way of writing it, or the protocol. [text]
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
        Exchanges that the kernel treats in another way than those that follow.
    sent_s : array_like
        When the exchange began, by the clock that ``meta`` names. [s]
    """

    column_units: ClassVar[Mapping[str, str]] = {
        "mode": "text",
        "sequence": "1",
        "payload_bytes": "byte",
        "response_s": "s",
        "reply_bytes": "byte",
        "tap_s": "s",
        "failed": "bool",
        "warm_up": "bool",
        "sent_s": "s",
    }
    column_layers: ClassVar[Mapping[str, str]] = {
        "payload_bytes": "application",
        "reply_bytes": "application",
    }

    mode: TextColumn | Sequence[str]
    sequence: FloatColumn | Sequence[float]
    payload_bytes: FloatColumn | Sequence[float]
    response_s: FloatColumn | Sequence[float]
    reply_bytes: FloatColumn | Sequence[float] = ()
    tap_s: FloatColumn | Sequence[float] = ()
    failed: BoolColumn | Sequence[bool] = ()
    warm_up: BoolColumn | Sequence[bool] = ()
    sent_s: FloatColumn | Sequence[float] = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def measured(self) -> BoolColumn:
        """Rows with a response and its time."""
        return ~_bools(self.failed) & ~np.isnan(_floats(self.response_s))

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes, in the order of their first row."""
        return tuple(dict.fromkeys(cast(TextColumn, self.mode).tolist()))

    def of_mode(self, mode: str, *, warm_up: bool = False) -> BoolColumn:
        """Return which rows of a mode have a time; those of the warm-up only if asked for."""
        rows: BoolColumn = self.measured & (cast(TextColumn, self.mode) == mode)
        return rows if warm_up else rows & ~_bools(self.warm_up)

    def minima(self, mode: str, *, column: str = "response_s") -> tuple[FloatColumn, FloatColumn]:
        """Return the sizes that were measured in a mode and the smallest time of each."""
        if column not in ("response_s", "tap_s"):
            raise DomainError("column", repr(column), "'response_s' or 'tap_s'")
        times = _floats(getattr(self, column))
        rows = self.of_mode(mode) & ~np.isnan(times)
        sizes, place = np.unique(_floats(self.payload_bytes)[rows], return_inverse=True)
        smallest = np.full(sizes.size, np.inf)
        np.minimum.at(smallest, place, times[rows])
        return sizes, smallest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BulkSamples(Samples):
    """Transfers from a source to a sink: what was sent, what arrived, and what it cost.

    Parameters
    ----------
    write_bytes : array_like
        Size of a write; over UDP, of a datagram. [byte]
    write_count : array_like
        Writes or datagrams sent. [1]
    sent_bytes, received_bytes : array_like
        What the source wrote, and what the sink read. [byte]
    wall_s : array_like
        From before the first write until the last one returned. [s]
    delivery_s : array_like
        From before the first write until the sink had read the last byte that came. [s]
    user_s, system_s : array_like
        Processor time of the source in user mode and in the kernel. [s]
    wait_count : array_like
        How often the source gave its processor up to wait for the kernel. [1]
    receiver_user_s, receiver_system_s : array_like
        Processor time of the sink. [s]
    lost_count : array_like
        Datagrams that did not arrive. [1]
    pair_count : array_like
        Connections that sent at once. [1]
    send_buffer_bytes, receive_buffer_bytes : array_like
        Buffers of the two sockets, as the kernel granted them. [byte]
    asked_buffer_bytes : array_like
        Buffer that was asked for; nan where the kernel chose. [byte]
    window_bytes : array_like
        Most that was seen in flight at once over TCP, sent and not yet acknowledged. [byte]
    cycle_s : array_like
        Median time from a write to its answer, where the source waits for one. [s]
    sender_drop_count, input_drop_count, line_drop_count, receiver_drop_count : array_like
        Datagrams that were dropped in the sender's own queue; at the input of a box on the way; in
        the buffer of its line; at the socket of the sink. [1]
    """

    column_units: ClassVar[Mapping[str, str]] = {
        "write_bytes": "byte",
        "write_count": "1",
        "sent_bytes": "byte",
        "received_bytes": "byte",
        "wall_s": "s",
        "delivery_s": "s",
        "user_s": "s",
        "system_s": "s",
        "wait_count": "1",
        "receiver_user_s": "s",
        "receiver_system_s": "s",
        "lost_count": "1",
        "pair_count": "1",
        "send_buffer_bytes": "byte",
        "receive_buffer_bytes": "byte",
        "asked_buffer_bytes": "byte",
        "window_bytes": "byte",
        "cycle_s": "s",
        "sender_drop_count": "1",
        "input_drop_count": "1",
        "line_drop_count": "1",
        "receiver_drop_count": "1",
    }
    column_layers: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("write_bytes", "sent_bytes", "received_bytes"), "application"
    )

    write_bytes: FloatColumn | Sequence[float]
    write_count: FloatColumn | Sequence[float]
    sent_bytes: FloatColumn | Sequence[float]
    received_bytes: FloatColumn | Sequence[float]
    wall_s: FloatColumn | Sequence[float]
    delivery_s: FloatColumn | Sequence[float]
    user_s: FloatColumn | Sequence[float] = ()
    system_s: FloatColumn | Sequence[float] = ()
    wait_count: FloatColumn | Sequence[float] = ()
    receiver_user_s: FloatColumn | Sequence[float] = ()
    receiver_system_s: FloatColumn | Sequence[float] = ()
    lost_count: FloatColumn | Sequence[float] = ()
    pair_count: FloatColumn | Sequence[float] = ()
    send_buffer_bytes: FloatColumn | Sequence[float] = ()
    receive_buffer_bytes: FloatColumn | Sequence[float] = ()
    asked_buffer_bytes: FloatColumn | Sequence[float] = ()
    window_bytes: FloatColumn | Sequence[float] = ()
    cycle_s: FloatColumn | Sequence[float] = ()
    sender_drop_count: FloatColumn | Sequence[float] = ()
    input_drop_count: FloatColumn | Sequence[float] = ()
    line_drop_count: FloatColumn | Sequence[float] = ()
    receiver_drop_count: FloatColumn | Sequence[float] = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def sent_rate_bps(self) -> FloatColumn:
        """Rate at which the source wrote, whatever became of it; inf in no time. [bit/s]"""
        return _ratio(8.0 * _floats(self.sent_bytes), self.wall_s)

    @property
    def goodput_bps(self) -> FloatColumn:
        """Rate at which the sink received. [bit/s]"""
        return _ratio(8.0 * _floats(self.received_bytes), self.delivery_s)

    @property
    def sent_rate_pps(self) -> FloatColumn:
        """Writes or datagrams a second. [packet/s]"""
        return _ratio(_floats(self.write_count), self.wall_s)

    @property
    def rate_pps(self) -> FloatColumn:
        """Writes or datagrams a second that arrived. [packet/s]"""
        arrived = _ratio(_floats(self.received_bytes), self.write_bytes)
        return _ratio(arrived, self.delivery_s)

    @property
    def loss_ratio(self) -> FloatColumn:
        """Share of what was sent that did not arrive; nan where nothing was sent. [ratio]"""
        return _ratio(_floats(self.lost_count), self.write_count)

    @property
    def sender_utilization(self) -> FloatColumn:
        """Share of one processor that the source was seen to take. [ratio]"""
        return _ratio(_floats(self.user_s) + _floats(self.system_s), self.wall_s)

    @property
    def saturated(self) -> BoolColumn:
        """Rows whose source was itself the limit: it worked and hardly ever waited.

        The bounds are netcalc's own: a fifth of a processor, as the kernel does not count all that
        it does for a sender and other programs want theirs, and a wait in ten milliseconds.
        """
        waits_per_s = _ratio(_floats(self.wait_count), self.wall_s)
        return (self.sender_utilization >= 0.2) & (waits_per_s <= 100.0)

    @property
    def limit(self) -> TextColumn:
        """What limited each row: a place of :data:`DROP_PLACES`, or ``"sender"``; empty if unknown.

        In a row of places each of which passes less than the one before, all but the last drop
        nothing more: so the last place that dropped a hundredth of what came to it is the limit.
        Where none did, and as much arrived, a saturated sender is it: what is behind may carry
        more.
        """
        left = _floats(self.write_count)
        arrived = ~(self.loss_ratio >= MIN_DROP_RATIO)
        limit = np.where(self.saturated & arrived, "sender", "").astype("<U32")
        for place, name in DROP_PLACES.items():
            dropped = np.nan_to_num(_floats(getattr(self, name)))
            limit[dropped >= MIN_DROP_RATIO * np.maximum(left, 1.0)] = place
            left = left - dropped
        return limit

    def medians(self, *columns: str, by: str = "write_bytes") -> dict[str, FloatColumn]:
        """Return the median of columns, or of the rates above, for each value of one column."""
        at = _floats(getattr(self, by))
        distinct = np.unique(at[~np.isnan(at)])
        found = {by: distinct}
        for name in columns:
            values = _floats(getattr(self, name))
            found[name] = np.array([_median(values[at == value]) for value in distinct])
        return found

    def by_setting(self) -> list[dict[str, Any]]:
        """Return one row for each setting, in the order of their first transfers.

        A setting is a size of the write, a buffer and a number of pairs. A row has these, the
        number of its transfers, how many of them were ``saturated``, the ``limit`` of most of them,
        and the median of each time, rate, loss and count of drops.
        """
        names = ("write_bytes", "asked_buffer_bytes", "pair_count")
        settings = np.stack([_floats(getattr(self, name)) for name in names], axis=1)
        _, first, place = np.unique(
            np.nan_to_num(settings, nan=-1.0), axis=0, return_index=True, return_inverse=True
        )
        rows = []
        for at in np.argsort(first).tolist():
            chosen = place.ravel() == at
            row: dict[str, Any] = dict(zip(names, settings[first[at]].tolist(), strict=True))
            row["run_count"] = int(chosen.sum())
            found, count = np.unique(self.limit[chosen], return_counts=True)
            row["limit"] = str(found[np.argmax(count)])
            row["saturated_count"] = int(self.saturated[chosen].sum())
            rows.append(row | {n: _median(_floats(getattr(self, n))[chosen]) for n in _MEDIANS})
        return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HopSamples(Samples):
    """Round trips to each node of a path: one row for each probe sent.

    Parameters
    ----------
    hop : array_like
        Hops that the probe was let go: 1 ends at the first node. [1]
    packet_bytes : array_like
        Size of the probe with its headers. [byte]
    rtt_s : array_like
        From before the probe was sent until its answer was read; nan without one. [s]
    answer_bytes : array_like
        Size of the answer with its headers: it quotes the probe, or the beginning of it. [byte]
    sequence : array_like
        Number of the probe in the run, from 1. [1]
    lost : array_like of bool
        Probes without an answer.
    sent_s : array_like
        When the probe was sent, by the clock that ``meta`` names. [s]
    node : array_like of str
        Address that answered; empty without an answer. [text]
    """

    column_units: ClassVar[Mapping[str, str]] = {
        "hop": "1",
        "packet_bytes": "byte",
        "rtt_s": "s",
        "answer_bytes": "byte",
        "sequence": "1",
        "lost": "bool",
        "sent_s": "s",
        "node": "text",
    }
    column_layers: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("packet_bytes", "answer_bytes"), "IP packet"
    )

    hop: FloatColumn | Sequence[float]
    packet_bytes: FloatColumn | Sequence[float]
    rtt_s: FloatColumn | Sequence[float]
    answer_bytes: FloatColumn | Sequence[float] = ()
    sequence: FloatColumn | Sequence[float] = ()
    lost: BoolColumn | Sequence[bool] = ()
    sent_s: FloatColumn | Sequence[float] = ()
    node: TextColumn | Sequence[str] = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def measured(self) -> BoolColumn:
        """Rows with an answer and its time."""
        return ~_bools(self.lost) & np.isfinite(_floats(self.rtt_s))

    @property
    def hops(self) -> tuple[int, ...]:
        """Hops of which there is a time, in order."""
        return tuple(np.unique(_floats(self.hop)[self.measured]).astype(int).tolist())

    def minima(self, hop: int) -> tuple[FloatColumn, FloatColumn]:
        """Return the sizes that were measured to a hop and the smallest round trip of each.

        Only probes whose answers are as large as the largest of them: a longer probe then has the
        same way back.
        """
        rows = self.measured & (_floats(self.hop) == hop)
        answers = _floats(self.answer_bytes)[rows]
        if np.isfinite(answers).any():
            rows[rows] = answers == np.nanmax(answers)
        sizes, place = np.unique(_floats(self.packet_bytes)[rows], return_inverse=True)
        smallest = np.full(sizes.size, np.inf)
        np.minimum.at(smallest, place, _floats(self.rtt_s)[rows])
        return sizes, smallest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainSamples(Samples):
    """Packets sent back to back, in pairs or longer trains: one row for each packet.

    Parameters
    ----------
    train : array_like
        Number of the train, from 1. [1]
    place : array_like
        Place of the packet in it, from 1. [1]
    packet_bytes : array_like
        Size of the packet with its headers. [byte]
    sent_s : array_like
        When it was handed to the kernel, from the start of the run. [s]
    received_s : array_like
        When the last of it had arrived, by the kernel's clock at the far end, from the start of
        the run; nan if it never did. [s]
    crossed : array_like of bool
        Packets before which one of somebody else's was sent.
    """

    column_units: ClassVar[Mapping[str, str]] = {
        "train": "1",
        "place": "1",
        "packet_bytes": "byte",
        "sent_s": "s",
        "received_s": "s",
        "crossed": "bool",
    }
    column_layers: ClassVar[Mapping[str, str]] = {"packet_bytes": "IP packet"}

    train: FloatColumn | Sequence[float]
    place: FloatColumn | Sequence[float]
    packet_bytes: FloatColumn | Sequence[float]
    sent_s: FloatColumn | Sequence[float]
    received_s: FloatColumn | Sequence[float]
    crossed: BoolColumn | Sequence[bool] = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def lost_count(self) -> int:
        """Packets that did not arrive."""
        return int(np.isnan(_floats(self.received_s)).sum())

    def trains(self) -> dict[str, FloatColumn]:
        """Return one row for each train that arrived whole, by columns.

        ``train``, ``packet_bytes``, ``packet_count``; ``dispersion_s`` from the first arrival to
        the last; ``one_way_s`` from before the first packet was sent to the last arrival;
        ``crossed_count``.
        """
        number, place = np.unique(_floats(self.train), return_inverse=True)
        rows: list[tuple[float, ...]] = []
        for at, train in enumerate(number.tolist()):
            chosen = place == at
            arrived = _floats(self.received_s)[chosen]
            if np.isnan(arrived).any() or arrived.size < 2:
                continue
            rows.append(
                (
                    train,
                    float(_floats(self.packet_bytes)[chosen][0]),
                    arrived.size,
                    float(arrived.max() - arrived.min()),
                    float(arrived.max() - _floats(self.sent_s)[chosen].min()),
                    int(_bools(self.crossed)[chosen].sum()),
                )
            )
        table = np.array(rows, dtype=np.float64).reshape(-1, 6)
        names = (
            "train", "packet_bytes", "packet_count", "dispersion_s", "one_way_s", "crossed_count",
        )  # fmt: skip
        return dict(zip(names, table.T, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table(Samples):
    """Columns of any names and units: a data set of a book, or a user's CSV.

    Parameters
    ----------
    data : mapping of str to array_like
        Columns by name: numbers as float64, everything else as text.
    meta : Meta
        ``meta.units`` has the unit of each numeric column.
    """

    data: Mapping[str, ArrayLike]
    meta: Meta = field(default_factory=Meta)

    def __post_init__(self) -> None:
        columns = {name: _table_column(values) for name, values in self.data.items()}
        lengths = {name: column.size for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise DomainError("data", lengths, "columns of one length")
        object.__setattr__(self, "data", columns)

    def __len__(self) -> int:
        return next((column.size for column in self.columns().values()), 0)

    def __getitem__(self, name: str) -> NDArray[Any]:
        columns = self.columns()
        if name not in columns:
            raise DomainError("column", repr(name), "one of " + ", ".join(columns))
        return columns[name]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return cast(dict[str, NDArray[Any]], dict(self.data))


KINDS: dict[str, Callable[..., Samples]] = {
    kind.__name__: kind
    for kind in (
        RttSamples, TransferSamples, TransactionSamples, BulkSamples, HopSamples, TrainSamples,
        Table,
    )
}  # fmt: skip


def load(path: str | os.PathLike[str]) -> Samples:
    """Read samples of any kind back from :meth:`Samples.save`.

    Raises
    ------
    ReaderError
        If the file is no file of netcalc, is damaged, or is of a later schema.
    """
    name = Path(path).name
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ReaderError(f"cannot be read: {error.strerror}", file=str(path)) from error
    return loads(data, file=name)


def loads(data: bytes, *, file: str = "samples") -> Samples:
    """Read samples from the bytes of a saved file."""
    try:
        if data[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(MAX_FILE_BYTES + 1)
        document = json.loads(data) if len(data) <= MAX_FILE_BYTES else None
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise ReaderError("is damaged: no complete JSON in it", file=file) from error
    if len(data) > MAX_FILE_BYTES:
        raise ReaderError("is too large", file=file, expected=f"at most {MAX_FILE_BYTES} bytes")
    if not isinstance(document, dict) or document.get("format") != "netcalc samples":
        raise ReaderError("is not a file of saved samples", file=file, expected="netcalc samples")
    schema, kind = document.get("schema"), document.get("kind")
    if not isinstance(schema, int) or schema > SCHEMA:
        raise ReaderError(
            "is of a later format",
            file=file,
            field="schema",
            value=str(schema),
            expected=f"{SCHEMA} or less",
            hint="Update netcalc-lab",
        )
    if kind not in KINDS:
        raise ReaderError(
            "is of an unknown kind", file=file, field="kind", value=str(kind),
            expected=", ".join(KINDS),
        )  # fmt: skip
    try:
        meta = document["meta"]
        known = {f.name for f in fields(Meta)}
        meta = Meta(**{key: value for key, value in meta.items() if key in known})
        meta = replace(meta, warnings=tuple(meta.warnings))
        columns, extra = document["columns"], dict(document.get("fields", {}))
        if kind == "Table":
            return Table(data={n: _from_json(c) for n, c in columns.items()}, meta=meta)
        columns = {n: _from_json(c) for n, c in columns.items()}
        return KINDS[kind](**columns, **extra, meta=meta)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReaderError(f"is damaged: {error}", file=file) from error


_PART = ".netcalc-"
_NAME_CHARS = 50  # of a file's name in that of its part, which may not be longer than 255 bytes


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that is complete or not there; where a link leads, the link stays.

    Raises
    ------
    OSError
        With the name of the file: the disk is full, or the place is no file's (a device, a pipe).
    """
    place = path.resolve()
    if place.exists() and not place.is_file():
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    try:
        _write_and_move(place, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _write_and_move(path: Path, data: bytes) -> None:
    _remove_leftovers(path)
    handle, temporary = _own_part(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _own_part(path: Path) -> tuple[int, Path]:
    """Open a new file beside another one, locked so that nobody takes it for a leftover."""
    prefix = path.name[:_NAME_CHARS] + _PART
    for _ in range(3):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=".part")
        _lock(handle, wait=True)
        if os.fstat(handle).st_nlink:
            break
        os.close(handle)  # somebody removed it before it was locked
    return handle, Path(name)


def _remove_leftovers(path: Path) -> None:
    """Remove what a program that was killed has left beside a file: nobody holds its lock."""
    for left in path.parent.glob(glob.escape(path.name[:_NAME_CHARS]) + _PART + "*.part"):
        with suppress(OSError), left.open("rb") as stream:
            if _lock(stream.fileno(), wait=False):
                left.unlink()


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock a file for as long as it is open; False if another program has, or none can here."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


_NEVER_NEGATIVE = {"rtt_s", "duration_s", "response_s"}


def _column(name: str, values: object, unit: str) -> NDArray[Any]:
    wanted: type[Any] = {"bool": np.bool_, "text": np.str_}.get(unit, np.float64)
    if isinstance(values, np.ma.MaskedArray) and wanted is np.float64:
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        column: NDArray[Any] = np.array(values, dtype=wanted)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a column of numbers") from error
    if column.ndim != 1:
        raise DomainError(name, f"of shape {column.shape}", "one column")
    if unit == "byte" or name in _NEVER_NEGATIVE:
        negative = np.flatnonzero(column < 0)
        if negative.size:
            value = f"{column[negative[0]]:g} in row {negative[0] + 1}"
            raise DomainError(name, value, "0 or more, nan where it is not known")
    column.flags.writeable = False
    return column


def _filler(unit: str, length: int) -> NDArray[Any]:
    column: NDArray[Any] = np.full(length, np.nan)
    if unit in ("bool", "text"):
        column = np.zeros(length, np.bool_ if unit == "bool" else np.str_)
    column.flags.writeable = False
    return column


def _table_column(values: ArrayLike) -> NDArray[Any]:
    column: NDArray[Any] = np.asarray(values)
    if column.dtype.kind in "iuf":
        column = column.astype(np.float64)
    elif column.dtype.kind == "O":
        column = np.array(["" if v is None else str(v) for v in column.flat], dtype=np.str_)
    if column.ndim != 1:
        raise DomainError("data", f"a column of shape {column.shape}", "columns")
    return column


def _floats(values: FloatColumn | Sequence[float]) -> FloatColumn:
    return cast(FloatColumn, values)


_MEDIANS = (
    "wall_s", "delivery_s", "user_s", "system_s", "sent_rate_bps", "goodput_bps", "sent_rate_pps",
    "rate_pps", "lost_count", "loss_ratio", "send_buffer_bytes", "receive_buffer_bytes",
    "window_bytes", "cycle_s", "sender_drop_count", "input_drop_count",
    "line_drop_count", "receiver_drop_count",
)  # fmt: skip


def _ratio(numerator: FloatColumn, denominator: FloatColumn | Sequence[float]) -> FloatColumn:
    with np.errstate(divide="ignore", invalid="ignore"):
        return numerator / _floats(denominator)


def _median(values: FloatColumn) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else math.nan


def _bools(values: BoolColumn | Sequence[bool]) -> BoolColumn:
    return cast(BoolColumn, values)


def json_ready(value: Any) -> Any:
    """Turn arrays, mappings and numbers into what JSON knows; nan is null, inf a text."""
    if isinstance(value, np.ndarray):
        return [json_ready(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        return json_ready(value.item())
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _from_json(column: Any) -> list[Any]:
    """Undo :func:`json_ready` for a column: null is nan among numbers, "inf" is inf."""
    if not isinstance(column, list):
        raise TypeError("a column is not a list")
    if any(isinstance(item, str) and item not in ("inf", "-inf") for item in column):
        return column
    return [math.nan if item is None else float(item) if isinstance(item, str) else item
            for item in column]  # fmt: skip
