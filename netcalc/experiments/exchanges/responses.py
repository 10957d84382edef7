"""The exchanges of one run, each a request and its response."""

from __future__ import annotations

from typing import Any

import numpy as np

from netcalc.experiments.running.run import Record
from netcalc.messages import Notice
from netcalc.samples import TransactionSamples


class Responses(Record[TransactionSamples]):
    """The exchanges of one run in progress, each a request and its response."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._rows: list[tuple[str, int, int, int, int, int | None, float, bool]] = []

    def add(
        self,
        mode: str,
        sequence: int,
        *,
        payload_bytes: int,
        reply_bytes: int,
        sent_ns: int,
        response_ns: int | None,
        tap_s: float = np.nan,
        warm_up: bool = False,
    ) -> None:
        """Add an exchange."""
        self._rows.append(
            (mode, sequence, payload_bytes, reply_bytes, sent_ns, response_ns, tap_s, warm_up)
        )
        self.advance(np.nan if response_ns is None else response_ns * 1e-9)

    @property
    def done_count(self) -> int:
        """Exchanges so far."""
        return len(self._rows)

    def samples(self) -> TransactionSamples:
        """Return the samples so far."""
        rows = self._rows
        return TransactionSamples(
            mode=[row[0] for row in rows],
            sequence=[row[1] for row in rows],
            payload_bytes=[row[2] for row in rows],
            reply_bytes=[row[3] for row in rows],
            sent_s=[self.since_start_s(row[4]) for row in rows],
            response_s=[np.nan if row[5] is None else row[5] * 1e-9 for row in rows],
            tap_s=[row[6] for row in rows],
            failed=[row[5] is None for row in rows],
            warm_up=[row[7] for row in rows],
            meta=self.meta(warnings=self._warnings()),
        )

    def _warnings(self) -> list[Notice]:
        failed = sum(row[5] is None for row in self._rows)
        return [Notice("no-responses", {"count": failed})] if failed else []
