"""Flows over time: the bytes of each stream in each interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from netcalc.checks import named_arguments
from netcalc.samples._base import (
    BoolColumn,
    FloatColumn,
    Samples,
    TextColumn,
    bools,
    floats,
    quotient,
)
from netcalc.samples._meta import Meta


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

    column_units: ClassVar[Mapping[str, str]] = {
        "start_s": "s",
        "duration_s": "s",
        "payload_bytes": "byte",
        "throughput_bps": "bit/s",
        "group": "text",
        "stream": "text",
        "side": "text",
        "omitted": "bool",
        "retransmit_count": "1",
        "cwnd_bytes": "byte",
        "rtt_s": "s",
        "rttvar_s": "s",
        "path_mtu_bytes": "byte",
        "jitter_s": "s",
        "datagram_count": "1",
        "lost_count": "1",
    }
    column_layers: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("payload_bytes", "throughput_bps"), "application"
    )

    start_s: FloatColumn | Sequence[float]
    duration_s: FloatColumn | Sequence[float]
    payload_bytes: FloatColumn | Sequence[float] = ()
    throughput_bps: FloatColumn | Sequence[float] = ()
    group: TextColumn | Sequence[str] = ()
    stream: TextColumn | Sequence[str] = ()
    side: TextColumn | Sequence[str] = ()
    omitted: BoolColumn | Sequence[bool] = ()
    retransmit_count: FloatColumn | Sequence[float] = ()
    cwnd_bytes: FloatColumn | Sequence[float] = ()
    rtt_s: FloatColumn | Sequence[float] = ()
    rttvar_s: FloatColumn | Sequence[float] = ()
    path_mtu_bytes: FloatColumn | Sequence[float] = ()
    jitter_s: FloatColumn | Sequence[float] = ()
    datagram_count: FloatColumn | Sequence[float] = ()
    lost_count: FloatColumn | Sequence[float] = ()
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
