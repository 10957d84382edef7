"""Transactions, a row each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.samples._base import BoolColumn, FloatColumn, Samples, TextColumn, bools, floats
from netcalc.samples._meta import Meta


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
