"""A process that sends or receives transfers, and the control socket for its orders."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Sequence
from typing import Any

from netcalc.experiments.peers.process import LIFETIME_S, ControlledPeer
from netcalc.experiments.running.stopping import SLICE_S, Stopping
from netcalc.experiments.running.waiting import readable

_REPORT_BYTES = 1 << 16


class Worker(ControlledPeer):
    """A process that sends or receives on the sockets it is handed."""

    def __init__(self, *, stopping: Stopping) -> None:
        self._stopping = stopping
        self._answer: dict[str, Any] | None = None
        self.so_far: dict[str, Any] = {}
        super().__init__("bulk_peer", stopping=stopping, duration_s=LIFETIME_S)

    def order(self, order: dict[str, Any], socks: Sequence[socket.socket] = ()) -> None:
        """Order what to do, and on which sockets."""
        if socks:
            self.so_far = {}
        self.send(order, socks)

    def answer(
        self, limit_s: float, *, watch: bool = True, meanwhile: Callable[[], object] = bool
    ) -> dict[str, Any] | None:
        """Wait for the report of an order; None at the limit. Checks for a reason to end."""
        clock = self._stopping.clock
        end_ns = clock.now_ns() + int(limit_s * 1e9)
        while self._answer is None:
            if watch:
                self._stopping.check()
            left_s = (end_ns - clock.now_ns()) * 1e-9
            readable(self.control, max(0.0, min(left_s, SLICE_S)))
            self.poll()
            meanwhile()
            if left_s <= 0:
                break
        answer, self._answer = self._answer, None
        return answer

    def poll(self) -> None:
        """Read the reports that are there, without waiting."""
        while self._answer is None and readable(self.control, 0.0):
            try:
                data = self.control.recv(_REPORT_BYTES)
            except ConnectionResetError:
                data = b""
            if not data:
                self.fail(None)
            report = json.loads(data)
            if report.get("so_far"):
                self.so_far = report
            else:
                self._answer = report
