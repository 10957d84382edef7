"""The ends of a transfer between this machine and a peer on a second one."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from netcalc.errors import ExperimentError
from netcalc.experiments import transfer as transfers
from netcalc.experiments.exchange import set_timeout
from netcalc.experiments.peers import helper, process
from netcalc.experiments.peers.job import even_out
from netcalc.experiments.peers.remote import FarEnd, FarLine, FarPeer, FarWorker
from netcalc.experiments.peers.thread_worker import ThreadWorker
from netcalc.experiments.running import limits
from netcalc.experiments.running.record import measuring_with
from netcalc.printable import excerpt

DIRECTIONS: Mapping[str, tuple[str, ...]] = {
    "forward": ("forward",),
    "back": ("back",),
    "both": ("forward of both", "back of both"),
}
"""Where a transfer goes: to the peer, from it, or both at once; and the ways of each."""
READ_BYTES = 1 << 20
"""Largest read of a stream from another machine: with 128 KiB, as between processes of one, writes
of 128 KiB arrived 6% slower over a pair of devices. [byte]"""
GONE = frozenset((
    "far-peer-gone", "far-peer-silent", "peer-ends", "peer-limit-bytes", "peer-limit-duration",
    "transfer-overdue",
))  # fmt: skip
"""Errors by which a peer leaves in the middle of a transfer, of which the rest is kept."""


class FarWay(transfers.Way):
    """A transfer between this machine and a peer.

    Parameters
    ----------
    here, there : Worker
        The worker of this machine, and the job of the peer.
    socks : sequence of socket.socket
        The sockets of this machine.
    line : FarLine
        The line between the two.
    direction : str
        Where it goes.
    most_bps : float
        Rate that the user of the peer allows. [bit/s]
    """

    def __init__(
        self,
        here: transfers.TransferWorker,
        there: FarWorker,
        socks: Sequence[socket.socket],
        line: FarLine,
        *,
        direction: str,
        most_bps: float,
    ) -> None:
        is_forward = direction.startswith("forward")
        source, sink = (here, there) if is_forward else (there, here)
        super().__init__(source, sink, direction=direction)
        self._there, self._socks, self._line, self._is_forward = there, socks, line, is_forward
        self._most_bps = most_bps

    def buffers(self, transfer: transfers.Transfer) -> dict[str, float]:
        """Return the requested buffer and the ones granted."""
        ends = (helper.granted(self._socks[0]), self._line.granted)
        source, sink = ends if self._is_forward else reversed(ends)
        return transfers.buffer_columns(transfer, source, sink)

    def granted(self) -> dict[str, Any]:
        """Return what else the kernel granted to the source."""
        if self._is_forward:
            return transfers.granted_besides(self._socks[0])
        return {name: self._line.granted[name] for name in self._line.granted
                if not name.endswith("buffer_bytes")}  # fmt: skip

    def start(self, source_does: dict[str, Any], sink_does: dict[str, Any]) -> None:
        """Give the orders, first to the sink."""
        self._there.line = self._line
        if self._is_forward and source_does["do"] == "send":
            source_does = dict(source_does)
            is_stream = self._socks[0].type == socket.SOCK_STREAM
            even_out(source_does, self._most_bps, is_stream=is_stream)
        if "read_bytes" in sink_does:
            sink_does = {**sink_does, "read_bytes": READ_BYTES}
        self.sink.order(sink_does, () if self._is_forward else self._socks)
        self.source.order(source_does, self._socks if self._is_forward else ())

    def leave_sink(self) -> None:
        """Close the sink's sockets here."""
        if not self._is_forward:
            self._close()

    def leave_source(self) -> None:
        """Close the source's sockets here."""
        if self._is_forward:
            self._close()

    def wake_source(self) -> None:
        """Wake a source whose buffer is full."""
        if self._is_forward:
            for sock in self._socks:
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def _close(self) -> None:
        for sock in self._socks:
            sock.close()


class FarEnds(transfers.TransferEnds):
    """The workers of this machine, and the jobs of a peer.

    Parameters
    ----------
    run : Transfers
        The run of the transfers.
    far : FarEnd
        The peer.
    directions : sequence of str
        The ways of each transfer.
    """

    def __init__(self, run: transfers.Transfers, far: FarEnd, directions: Sequence[str]) -> None:
        self._run, self._far, self._directions = run, far, directions
        self._wake_bytes = transfers.WAKE_BYTES
        self._drops, self._empty = dict, lambda: True
        self._workers: list[process.Worker | ThreadWorker] = []
        worker = process.Worker if helper.PASSES_SOCKETS else ThreadWorker
        with helper.kept(self):
            for _ in directions:
                self._workers.append(worker(stopping=run.stopping))
        run.facts["timer_slack_s"] = self._workers[0].report["timer_slack_s"]

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers of this machine."""
        for worker in self._workers:
            worker.close()

    def ways(self, transfer: transfers.Transfer) -> Iterator[transfers.Way]:
        """Open the ways of a transfer: datagrams of both directions share one pair of sockets."""
        self._run.phase = "connect"
        self._run.facts["clock_error_s"] = max(
            self._far.measure_clock().error_ns * 1e-9, self._run.facts.get("clock_error_s", 0.0)
        )
        opened: tuple[list[socket.socket], FarLine] | None = None
        for worker, direction in zip(self._workers, self._directions, strict=True):
            if opened is None or transfer.protocol == "tcp":
                opened = self._opened(transfer, direction)
                socks = opened[0]
            else:
                socks = [opened[0][0].dup()]
            there = FarWorker(self._far, stopping=self._run.stopping)
            yield FarWay(
                worker, there, socks, opened[1], direction=direction,
                most_bps=self._far.limits["rate_bps"],
            )  # fmt: skip

    def _opened(
        self, transfer: transfers.Transfer, direction: str
    ) -> tuple[list[socket.socket], FarLine]:
        """Open the sockets of this machine, and connect them to the peer."""
        is_forward = direction.startswith("forward")
        needs = {"datagrams_per_call": transfer.datagrams_per_call > 1,
                 "congestion_control": transfer.congestion_control}  # fmt: skip
        if not is_forward:
            self._far.require(*(option for option, is_needed in needs.items() if is_needed))
        size, both = transfer.buffer_bytes, transfer.buffer_end == "both"
        family = helper.address_family(self._run.host)
        socks: list[socket.socket] = []
        try:
            for _ in range(transfer.pair_count):
                sock = socket.socket(family, transfer.kind)
                socks.append(sock)
                if size is not None and (both or not is_forward):
                    helper.request_buffers(sock, size)
                if transfer.protocol == "tcp" and is_forward:
                    transfers.set_congestion_control(sock, transfer.congestion_control)
            line = self._far.open(
                socks,
                buffer_bytes=size if both or is_forward else None,
                congestion_control="" if is_forward else transfer.congestion_control,
            )
            if not is_forward:
                self._require_granted(transfer.congestion_control, line)
            for sock in socks:
                if transfer.reply_bytes:
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if not is_forward and transfer.protocol == "tcp":
                    set_timeout(sock, transfers.SLICE_S)
        except BaseException:
            for sock in socks:
                sock.close()
            raise
        return socks, line

    def _require_granted(self, name: str, line: FarLine) -> None:
        """Refuse a congestion control that the peer's system did not grant to its sender."""
        granted = str(line.granted.get("congestion_control", ""))
        if name and granted != name:
            raise self._run.silence(
                "far-congestion-control-refused", wanted=name, granted=excerpt(granted)
            )

    def _lost_path(
        self, error: ExperimentError, ways: Sequence[transfers.Way]
    ) -> ExperimentError | None:
        """Return the error by which a transfer broke off, so that the rest is kept."""
        if error.code == "transfer-overdue" and not any(
            way.sink.so_far.get("received_bytes", 0) for way in ways
        ):
            return self._run.silence("far-large-packets-lost")
        return error if error.code in GONE else None


@contextmanager
def far_ends(
    run: transfers.Transfers, *, peer: FarPeer, direction: str
) -> Iterator[transfers.TransferEnds]:
    """Start the workers of this machine, and reach the peer."""
    run.record_machine(limits.ip_version(run.host))
    run.host, run.port, run.phase = peer.host, peer.port, "peer"
    with (
        FarEnd(peer, stopping=run.stopping) as far,
        FarEnds(run, far, DIRECTIONS[direction]) as ends,
        measuring_with(run, far),
    ):
        yield ends
