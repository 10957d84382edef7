"""The transactions of one protocol: its server, its requests, the packets of each."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netcalc.errors import ExperimentError
from netcalc.experiments.exchanges.endpoints import (
    Endpoints,
    counter_growth,
    select_counters,
)
from netcalc.experiments.exchanges.requests import Requests
from netcalc.experiments.exchanges.responses import Responses
from netcalc.experiments.exchanges.tap import Packet, Tap, exchange_rows, exchange_s
from netcalc.experiments.peers.process import LIFETIME_S, PEER_BYTES, Peer, attribute_errors
from netcalc.experiments.peers.responder import CERTIFICATE, TAG_BYTES
from netcalc.experiments.running import instrument
from netcalc.path import Path

STREAMS = ("tfo", "tcp", "tls")
"""Protocols with a connection for each transaction."""
WARM_UP_COUNT = 3
"""Transactions of each protocol that are not among the samples: the first fetches the cookie of
Fast Open, the others fill caches. [1]"""
CLOSING_S = 60.0
"""Time after the timeout of a transaction in which a packet of it can arrive: as long as the kernel
keeps a closed connection. [s]"""
COUNTED = ("TCPFastOpenActive", "TCPFastOpenPassive", "TCPFastOpenActiveFail", "DelayedACKs")
"""Counters of the kernel that show the work of a protocol."""
_clock = time.perf_counter_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPlan:
    """The checked parameters of a run of transactions."""

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
        """Return the call that makes this plan."""
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
        endpoints: Endpoints,
        taps: Sequence[Tap],
        protocol: str,
        settle_s: float,
    ) -> None:
        self._run, self._plan, self._endpoints, self._taps = run, plan, endpoints, taps
        self._protocol = protocol
        self._settle_s = settle_s
        self._fastest_s: dict[int, float] = {}
        self._number = 0
        self._requests = Requests(
            protocol,
            endpoints,
            largest_bytes=max(plan.sizes),
            timeout_s=plan.timeout_s,
            stopping=run.stopping,
        )

    def measure(self) -> None:
        """Start the server, if there is one, and measure every size."""
        before = self._endpoints.counters()
        with ExitStack() as undo:
            peer = None if self._protocol == "ping" else self._server(undo)
            try:
                with attribute_errors(self._run, peer):
                    self._sizes()
            finally:
                self._run.facts["counters"][self._protocol] = select_counters(
                    counter_growth(before, self._endpoints.counters()), COUNTED
                )

    def _server(self, undo: ExitStack) -> Peer:
        """Start the process that answers, on a socket of the server's end."""
        plan, kind = self._plan, socket.SOCK_STREAM
        if self._protocol == "udp":
            kind = socket.SOCK_DGRAM
        listener = undo.enter_context(self._endpoints.listener(kind))
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
            "duration_s": LIFETIME_S,
            "bytes": PEER_BYTES,
            "message_bytes": self._size(max(plan.sizes)),
        }
        if self._protocol == "tls":
            ssl = _tls()
            settings["certificate"] = str(CERTIFICATE)
            self._requests.secure = _client_tls(ssl)
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
            # In turns: a machine that becomes faster or slower makes no step between two sizes.
            for sequence, asked in enumerate(plan.sizes * plan.count, start=1):
                size = self._size(asked)
                run.stopping.check()
                self._settle()
                sent_ns = _clock()
                response_ns = self._once(size)
                seen = self._seen()
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
            run.stopping.sleep(2e-3 + self._settle_s)  # for the last acknowledgements
            self._seen()
            found = self._taps[0].seen_count - before
            run.facts["packets"][self._protocol] = found / self._number

    def _settle(self) -> None:
        """Wait until the last packets of the previous connection have left the path."""
        if self._settle_s and self._protocol in STREAMS:
            self._run.stopping.sleep(self._settle_s)
        self._seen()

    def _seen(self) -> list[list[Packet]]:
        """Return what each tap saw since the last call."""
        return [tap.read() for tap in self._taps]

    def _note_exchange(self, seen: list[list[Packet]], size: int, response_s: float) -> None:
        """Keep the packets of the fastest transaction of each size."""
        if not any(seen) or response_s >= self._fastest_s.get(size, np.inf):
            return
        rows = exchange_rows(seen[0], seen[-1], server=self._requests.address[0])
        if rows:
            self._fastest_s[size] = response_s
            kept = self._run.facts["exchanges"].setdefault(self._protocol, {})
            kept[str(size)] = [row._asdict() for row in rows]

    def _tap_s(self, seen: list[list[Packet]]) -> float:
        """Return the time by the client's tap; nan without one. [s]"""
        if not any(seen):
            return np.nan
        longest_s = self._plan.timeout_s + CLOSING_S
        return exchange_s(seen[0], self._requests.address[0], longest_s=longest_s)

    def _size(self, wanted: int) -> int:
        """Return the size that this protocol carries: at least a tag, except over UDP."""
        return wanted if self._protocol == "udp" else max(wanted, TAG_BYTES)

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
    """Import Python's TLS."""
    try:
        import ssl
    except ImportError as error:
        raise ExperimentError("tls-unavailable", phase="tls", reason=str(error)) from error
    return ssl


def _client_tls(ssl: Any) -> Any:
    """Return the client's TLS 1.3 context, which trusts the test certificate alone."""
    secure = ssl.create_default_context(cafile=CERTIFICATE)
    secure.check_hostname = False  # the certificate names no host
    secure.options |= ssl.OP_IGNORE_UNEXPECTED_EOF  # a response ends with its stream
    secure.minimum_version = ssl.TLSVersion.TLSv1_3
    # Python 3.13 requires extensions that a test certificate need not have.
    secure.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return secure
