"""The transactions of one protocol: its server, its requests, what the taps saw of each."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netcalc.errors import ExperimentError
from netcalc.experiments.exchanges.requests import Requests
from netcalc.experiments.exchanges.responses import Place, Responses, counted, grown
from netcalc.experiments.exchanges.tap import Packet, Tap, exchange_rows, exchange_s
from netcalc.experiments.peers import certificate
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.peers.responder import TAG_BYTES
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import MAX_BYTES, MAX_DURATION_S
from netcalc.path import Path

STREAMS = ("tfo", "tcp", "tls")
"""Protocols with a connection for each transaction."""
WARM_UP_COUNT = 3
"""Transactions of each protocol that are not among the samples; one fetches Fast Open's cookie."""
CLOSING_S = 60.0
"""So long after the time limit of a transaction a packet of it may come, at most. [s]"""
COUNTED = ("TCPFastOpenActive", "TCPFastOpenPassive", "TCPFastOpenActiveFail", "DelayedACKs")
"""Counters of the kernel that tell what a protocol really did."""
_clock = time.perf_counter_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPlan:
    """What was asked for, checked."""

    sizes: tuple[int, ...]
    protocols: tuple[str, ...]
    count: int
    mtu_bytes: int
    timeout_s: float
    tap: bool
    host: str
    session: bytes = field(default_factory=lambda: secrets.token_bytes(TAG_BYTES))

    @property
    def transaction_count(self) -> int:
        """Transactions of the whole run."""
        return len(self.protocols) * len(self.sizes) * self.count

    @property
    def version(self) -> int:
        """Version of IP."""
        return 6 if ":" in self.host else 4

    def command(self, standard: tuple[int, ...], path: Path | None) -> str:
        """Return the call that asks for this plan."""
        book = self.sizes == standard
        sizes = "BOOK_TRANSACTION_SIZES" if book else str(list(self.sizes))
        where = f"mtu_bytes={self.mtu_bytes}" if path is None else f"path={path}"
        return (
            f"transactions({sizes}, protocols={list(self.protocols)}, count={self.count}, "
            f"{where}, timeout_s={self.timeout_s:g}, tap={self.tap}, host={self.host!r})"
        )


class Transactions:
    """The transactions of one protocol."""

    def __init__(
        self,
        run: Responses,
        plan: TransactionPlan,
        place: Place,
        taps: Sequence[Tap],
        protocol: str,
        settle_s: float,
    ) -> None:
        self._run, self._plan, self._place, self._taps = run, plan, place, taps
        self._protocol = protocol
        self._settle_s = settle_s
        self._fastest_s: dict[int, float] = {}
        self._number = 0
        self._requests = Requests(
            protocol,
            place,
            largest_bytes=max(plan.sizes),
            timeout_s=plan.timeout_s,
            stopping=run.stopping,
        )

    def go(self) -> None:
        """Start the server, if there is one, and measure; say how it ended if it did."""
        before = self._place.counters()
        with ExitStack() as undo:
            peer = None if self._protocol == "ping" else self._server(undo)
            try:
                self._sizes()
            except (OSError, ExperimentError) as error:
                run = self._run
                failure = run.failure(error) if isinstance(error, OSError) else error
                death = peer and peer.death()
                if death:
                    failure = ExperimentError(
                        f"{failure.what}; {death}",
                        phase=failure.phase,
                        host=run.host,
                        port=run.port,
                    )
                raise failure from error
            finally:
                self._run.facts["counters"][self._protocol] = counted(
                    grown(before, self._place.counters()), COUNTED
                )

    def _server(self, undo: ExitStack) -> Peer:
        """Start the process that answers."""
        plan, kind = self._plan, socket.SOCK_STREAM
        if self._protocol == "udp":
            kind = socket.SOCK_DGRAM
        listener = undo.enter_context(self._place.listener(kind))
        if self._protocol == "tfo":
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 64)
        self._requests.address = address = listener.getsockname()
        self._run.port = address[1]
        passed = [listener.fileno()]
        settings = {
            "protocol": "udp" if self._protocol == "udp" else "transactions",
            "host": address[0],
            "port": address[1],
            "fd": listener.fileno(),
            "session": plan.session.hex(),
            "duration_s": MAX_DURATION_S + 30,
            "bytes": MAX_BYTES + 100_000_000,
            "message_bytes": self._size(max(plan.sizes)),
        }
        if self._protocol == "tls":
            ssl = _tls()
            pem = certificate.self_signed()
            descriptor = certificate.in_memory(pem)
            undo.callback(os.close, descriptor)
            passed.append(descriptor)
            settings["certificate"] = f"/proc/self/fd/{descriptor}"
            self._requests.secure = _trusting(pem, ssl)
        peer = undo.enter_context(Peer(settings, stopping=self._run.stopping, passed=passed))
        listener.close()
        return peer

    def _sizes(self) -> None:
        run, plan = self._run, self._plan
        run.phase = self._protocol
        self._seen()
        before = sum(tap.seen_count for tap in self._taps[:1])
        with instrument.collector_off():
            for number in range(WARM_UP_COUNT):
                run.stopping.check()
                run.facts["warm_up_count"] += 1
                first_ns = self._once(self._size(plan.sizes[0]))
                if number == 0 and first_ns is not None:
                    run.facts["first_response_s"][self._protocol] = first_ns * 1e-9
            sequence = 0
            for asked in plan.sizes:
                size = self._size(asked)
                for _ in range(plan.count):
                    run.stopping.check()
                    self._settle()
                    sent_ns = _clock()
                    response_ns = self._once(size)
                    seen = self._seen()
                    sequence += 1
                    run.add(
                        self._protocol,
                        sequence,
                        payload_bytes=size,
                        reply_bytes=size,
                        sent_ns=sent_ns,
                        response_ns=response_ns,
                        tap_s=self._tap_s(seen),
                    )
                    if response_ns is not None:
                        self._note_exchange(seen, size, response_ns * 1e-9)
        if self._taps and self._number:
            run.stopping.sleep(2e-3 + self._settle_s)  # the last acknowledgements
            self._seen()
            found = self._taps[0].seen_count - before
            run.facts["packets"][self._protocol] = found / self._number

    def _settle(self) -> None:
        """Let the line carry the last packets of the connection before: they are not this one's."""
        if self._settle_s and self._protocol in STREAMS:
            self._run.stopping.sleep(self._settle_s)
        self._seen()

    def _seen(self) -> list[list[Packet]]:
        """Return what each tap saw since the last call."""
        return [tap.read() for tap in self._taps]

    def _note_exchange(self, seen: list[list[Packet]], size: int, response_s: float) -> None:
        """Keep the packets of the fastest transaction of a size."""
        if not any(seen) or response_s >= self._fastest_s.get(size, np.inf):
            return
        rows = exchange_rows(seen[0], seen[-1], server=self._requests.address[0])
        if rows:
            self._fastest_s[size] = response_s
            kept = self._run.facts["exchanges"].setdefault(self._protocol, {})
            kept[str(size)] = rows

    def _tap_s(self, seen: list[list[Packet]]) -> float:
        """Return the time that the near tap saw; nan where there is none. [s]"""
        if not any(seen):
            return np.nan
        longest_s = self._plan.timeout_s + CLOSING_S
        return exchange_s(seen[0], self._requests.address[0], longest_s=longest_s)

    def _size(self, asked: int) -> int:
        """Return the size that this protocol carries: a datagram may be empty, others have 8."""
        return asked if self._protocol == "udp" else max(asked, TAG_BYTES)

    def _once(self, size: int) -> int | None:
        """Make one transaction; return its time, or None without a response. [ns]"""
        self._number += 1
        tag = self._number.to_bytes(4, "little") + self._plan.session[:4]
        if self._protocol in STREAMS:
            tag = size.to_bytes(4, "little") + self._plan.session[:4]
        request = (tag + bytes(range(256)) * (size // 256 + 1))[:size]
        try:
            return self._requests.response_ns(request, self._number)
        except TimeoutError:
            return None


def _tls() -> Any:
    """Return Python's TLS; say so where it has none."""
    try:
        import ssl
    except ImportError as error:
        raise ExperimentError(
            f"this Python has no TLS: {error}", phase="tls", hint="Ask for protocols without 'tls'"
        ) from error
    return ssl


def _trusting(pem: bytes, ssl: Any) -> Any:
    """Return what makes TLS 1.3 of a connection to who has this certificate, made for the run."""
    own = pem[pem.index(b"-----BEGIN CERTIFICATE") :].decode()
    secure = ssl.create_default_context(cadata=own)
    secure.check_hostname = False  # it has no name: it is for this run
    secure.options |= ssl.OP_IGNORE_UNEXPECTED_EOF  # the stream's end is the end
    secure.minimum_version = ssl.TLSVersion.TLSv1_3
    # Python 3.13 wants extensions that a certificate of one run need not have.
    secure.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return secure
