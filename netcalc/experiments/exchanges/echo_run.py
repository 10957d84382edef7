"""The probes of one echo: what was asked for, and what came back."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field

import numpy as np

from netcalc.errors import ExperimentError
from netcalc.experiments.exchanges.exchange import Exchange
from netcalc.experiments.exchanges.replies import UNCOUNTED_FROM, Replies
from netcalc.experiments.running import instrument
from netcalc.experiments.running.run import SILENT_COUNT, Progress, Record
from netcalc.experiments.running.stopping import Stopping
from netcalc.samples import Meta, RttSamples
from netcalc.units import show

WARM_UP_COUNT = 5
"""Exchanges before the probes of each size; they are not among the samples. [1]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was asked for, checked."""

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
        """Payload of the whole run in both directions, with the warm-up."""
        return 2 * sum(self.sizes) * (self.count + WARM_UP_COUNT)

    def command(self, standard: tuple[int, ...], path: object = None) -> str:
        """Return the call that asks for this plan."""
        sizes = "BOOK_SIZES" if tuple(self.sizes) == standard else str(self.sizes)
        if len(self.sizes) > 32 and tuple(self.sizes) != standard:
            sizes = f"[{self.sizes[0]}, ... {len(self.sizes)} sizes ..., {self.sizes[-1]}]"
        return (
            f"echo({sizes}, protocol={self.protocol!r}, count={self.count}, "
            f"interval_s={self.interval_s:g}, timeout_s={self.timeout_s:g}, "
            + (f"host={self.host!r}, port={self.port})" if path is None else f"path={path!r})")
        )


class Run(Record[RttSamples]):
    """The probes of one echo, as they come."""

    def __init__(
        self,
        plan: Plan,
        *,
        stopping: Stopping,
        progress: Progress | None = None,
        save: str | os.PathLike[str] | None = None,
        command: str = "",
    ) -> None:
        super().__init__(
            total_count=plan.probe_count,
            unit="probes",
            host=plan.host,
            port=plan.port or None,
            stopping=stopping,
            progress=progress,
            save=save,
            command=command,
        )
        self.plan = plan
        self._rows: list[tuple[int, int, int, int | None]] = []  # size, sequence, sent, rtt
        self._replies = Replies()
        self._silent_count = 0
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
                    self._listen_to_silence(rtt_ns)
                    self.tell(np.nan if rtt_ns is None else rtt_ns * 1e-9)
            exchange.linger()

    @property
    def done_count(self) -> int:
        """Probes sent and answered or lost so far."""
        return len(self._rows)

    def samples(self) -> RttSamples:
        """Return what was measured so far."""
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
            meta=self._meta_of_echo(),
        )

    def _exchange(
        self, exchange: Exchange, payload: bytearray, sequence: int
    ) -> tuple[int, int | None]:
        try:
            return exchange.exchange(payload, sequence)
        except OSError as error:
            raise self.failure(error) from error

    def _warm_up(self, exchange: Exchange, payload: bytearray) -> None:
        """Fill caches before the clock counts; the first of them finds out if anybody answers."""
        self.phase = "warm-up"
        self.delays_s += instrument.scheduling_delays_s(3)
        for attempt in range(WARM_UP_COUNT):
            self.stopping.check()
            self._warm_up_count += 1
            _, rtt_ns = self._exchange(exchange, payload, UNCOUNTED_FROM + self._warm_up_count)
            if rtt_ns is not None and "warm_up_first_rtt_s" not in self.facts:
                self.facts["warm_up_first_rtt_s"] = rtt_ns * 1e-9
            if rtt_ns is None and self._rows:
                return  # a lossy path is known to answer: no second time limit is spent on it
            if rtt_ns is None and attempt == WARM_UP_COUNT - 1:
                self._refuse_silence(WARM_UP_COUNT)

    def _listen_to_silence(self, rtt_ns: int | None) -> None:
        self._silent_count = 0 if rtt_ns is not None else self._silent_count + 1
        if self._silent_count >= SILENT_COUNT:
            self._refuse_silence(self._silent_count)

    def _refuse_silence(self, count: int) -> None:
        raise ExperimentError(
            f"{count} probes in a row had no reply within {show(self.plan.timeout_s, 's')} each",
            phase=self.phase,
            host=self.plan.host,
            port=self.port,
            hint="The peer hangs, or a firewall drops the packets",
        )

    def _meta_of_echo(self) -> Meta:
        plan, replies = self.plan, self._replies
        return self.meta(
            tool="netcalc echo",
            target=f"{plan.host}, {plan.protocol.upper()}",
            layers={"payload_bytes": f"{plan.protocol.upper()} payload"},
            counts={
                "warm_up_count": self._warm_up_count,
                "late_count": replies.late_count,
                "foreign_count": replies.foreign_count,
                "damaged_count": replies.damaged_count,
                "duplicate_count": replies.duplicate_count,
            },
            remarks=_remarks(replies, plan.timeout_s),
        )


def _remarks(replies: Replies, timeout_s: float) -> list[str]:
    """Say what came beside the replies that count."""
    remarks = []
    if count := replies.late_count:
        limit = show(timeout_s, "s")
        remarks.append(f"replies after the time limit of {limit}, their probes are lost: {count}")
    if count := replies.foreign_count:
        remarks.append(f"datagrams that are not of this run, ignored: {count}")
    if count := replies.damaged_count:
        remarks.append(f"damaged replies, ignored: {count}")
    if (count := replies.duplicate_count) > len(replies.duplicates):
        remarks.append(f"duplicates: {count}, kept as rows: {len(replies.duplicates)}")
    return remarks
