"""The probes of one echo: their plan, their exchange, their samples."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netcalc.experiments.exchanges.exchange import Exchange
from netcalc.experiments.exchanges.replies import UNCOUNTED_FROM, Replies
from netcalc.experiments.running import instrument
from netcalc.experiments.running.run import Record
from netcalc.messages import Notice
from netcalc.samples import RttSamples

WARM_UP_COUNT = 5
"""Exchanges before the probes of each size, not among the samples: the first one or two fill caches
and resolve addresses, and five distinguish a lossy path from a silent peer. [1]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The checked parameters of an echo."""

    sizes: list[int]
    count: int
    protocol: str
    host: str
    port: int
    interval_s: float
    timeout_s: float
    session: bytes = field(default_factory=lambda: secrets.token_bytes(8))

    @property
    def probe_count(self) -> int:
        """Probes of the whole run."""
        return len(self.sizes) * self.count

    @property
    def carried_bytes(self) -> int:
        """Payload of the whole run in both directions, warm-up included."""
        return 2 * sum(self.sizes) * (self.count + WARM_UP_COUNT)

    def command(self, standard: tuple[int, ...], path: object = None) -> str:
        """Return the call that makes this plan."""
        sizes = "BOOK_SIZES" if tuple(self.sizes) == standard else str(self.sizes)
        if len(self.sizes) > 32 and tuple(self.sizes) != standard:
            sizes = f"[{self.sizes[0]}, ... {len(self.sizes)} sizes ..., {self.sizes[-1]}]"
        return (
            f"echo({sizes}, protocol={self.protocol!r}, count={self.count}, "
            f"interval_s={self.interval_s:g}, timeout_s={self.timeout_s:g}, "
            + (f"host={self.host!r}, port={self.port})" if path is None else f"path={path!r})")
        )


class Run(Record[RttSamples]):
    """The probes of one echo in progress."""

    def __init__(self, plan: Plan, *, command: str = "", **options: Any) -> None:
        super().__init__(
            experiment="echo",
            protocol=plan.protocol,
            target=f"{plan.host}, {plan.protocol.upper()}",
            layers={"payload_bytes": f"{plan.protocol.upper()} payload"},
            total_count=plan.probe_count,
            unit="probes",
            host=plan.host,
            port=plan.port or None,
            command=command,
            **options,
        )
        self.plan = plan
        self._rows: list[tuple[int, int, int, int | None]] = []  # size, sequence, sent, rtt
        self._replies = Replies()
        self._warm_up_count = 0

    def probe(self, exchange: Exchange) -> None:
        """Send every probe, size by size, each after the reply to the one before."""
        self._replies = exchange.replies
        sequence = 0
        with instrument.collector_off():
            for size in self.plan.sizes:
                payload = bytearray((bytes(range(256)) * (size // 256 + 1))[:size])
                self._warm_up(exchange, payload)
                self.phase = "echo"
                for _ in range(self.plan.count):
                    if self._rows and self.plan.interval_s:
                        self.pace(self._rows[-1][2], self.plan.interval_s)
                    self.stopping.check()
                    sequence += 1
                    sent_ns, rtt_ns = self._exchange(exchange, payload, sequence)
                    self._rows.append((size, sequence, sent_ns, rtt_ns))
                    self.count_silence(
                        rtt_ns is not None, "no-replies", timeout_s=self.plan.timeout_s
                    )
                    self.advance(np.nan if rtt_ns is None else rtt_ns * 1e-9)
            exchange.linger()

    @property
    def done_count(self) -> int:
        """Probes answered or lost so far."""
        return len(self._rows)

    def samples(self) -> RttSamples:
        """Return the samples so far."""
        replies = self._replies
        sent = {sequence: (size, sent_ns) for size, sequence, sent_ns, _ in self._rows}
        rows = [(seq, size, at_ns, rtt_ns, False) for size, seq, at_ns, rtt_ns in self._rows]
        rows += [
            (seq, *sent[seq], rtt_ns, True) for seq, rtt_ns in replies.duplicates if seq in sent
        ]
        rows.sort(key=lambda row: (row[0], row[4]))
        rtts = [np.nan if rtt_ns is None else rtt_ns * 1e-9 for *_, rtt_ns, _ in rows]
        resolution_s = self.facts.get("timer_resolution_s", np.nan)
        return RttSamples(
            payload_bytes=[row[1] for row in rows],
            rtt_s=rtts,
            sequence=[row[0] for row in rows],
            lost=[row[3] is None for row in rows],
            duplicate=[row[4] for row in rows],
            resolution_s=[resolution_s] * len(rows),
            sent_s=[self.since_start_s(row[2]) for row in rows],
            meta=self.meta(
                {
                    "warm_up_count": self._warm_up_count,
                    "late_count": replies.late_count,
                    "foreign_count": replies.foreign_count,
                    "damaged_count": replies.damaged_count,
                    "duplicate_count": replies.duplicate_count,
                },
                _warnings(replies, self.plan.timeout_s),
            ),
        )

    def _exchange(
        self, exchange: Exchange, payload: bytearray, sequence: int
    ) -> tuple[int, int | None]:
        try:
            return exchange.exchange(payload, sequence)
        except OSError as error:
            raise self.failure(error) from error

    def _warm_up(self, exchange: Exchange, payload: bytearray) -> None:
        """Warm up the path; refuse a peer that answers none of the first exchanges."""
        self.phase = "warm-up"
        self.delays_s += instrument.scheduling_delays_s(3)
        for attempt in range(WARM_UP_COUNT):
            self.stopping.check()
            self._warm_up_count += 1
            _, rtt_ns = self._exchange(exchange, payload, UNCOUNTED_FROM + self._warm_up_count)
            if rtt_ns is not None and "warm_up_first_rtt_s" not in self.facts:
                self.facts["warm_up_first_rtt_s"] = rtt_ns * 1e-9
            if rtt_ns is None and self._rows:
                return  # the peer is known to answer: spend no second timeout on it
            if rtt_ns is None and attempt == WARM_UP_COUNT - 1:
                raise self.silence("no-replies", count=WARM_UP_COUNT, timeout_s=self.plan.timeout_s)


def _warnings(replies: Replies, timeout_s: float) -> list[Notice]:
    """Return the warnings about replies other than the expected ones."""
    found = []
    if count := replies.late_count:
        found.append(Notice("late-replies", {"count": count, "timeout_s": timeout_s}))
    if count := replies.foreign_count:
        found.append(Notice("stray-datagrams", {"count": count}))
    if count := replies.damaged_count:
        found.append(Notice("damaged-replies", {"count": count}))
    if (count := replies.duplicate_count) > (kept := len(replies.duplicates)):
        found.append(Notice("duplicates-not-kept", {"count": count, "kept": kept}))
    return found
