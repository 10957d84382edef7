"""A process that pours or drains, and the socket on which it is told to."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from netcalc.errors import ExperimentError
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.running.limits import MAX_DURATION_S
from netcalc.experiments.running.stopping import SLICE_S, Stopping
from netcalc.experiments.running.waiting import readable

_ANSWER_BYTES = 1 << 16


class Worker(Peer):
    """A process that pours or drains on the sockets it is handed."""

    def __init__(self, *, stopping: Stopping) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control, self._stopping = ours, stopping
        self._answered: dict[str, Any] | None = None
        self.so_far: dict[str, Any] = {}
        settings = {
            "host": "",
            "port": 0,
            "fd": theirs.fileno(),
            "duration_s": MAX_DURATION_S + 30,
        }
        try:
            with theirs:
                super().__init__(
                    settings, stopping=stopping, passed=[theirs.fileno()], program="bulk_peer"
                )
        except BaseException:
            ours.close()
            raise

    def close(self) -> dict[str, int]:
        """End the process."""
        self._control.close()
        return super().close()

    def order(self, what: dict[str, Any], socks: Sequence[socket.socket] = ()) -> None:
        """Tell it what to do, and on which sockets."""
        if socks:
            self.so_far = {}
        data = [json.dumps(what).encode()]
        try:
            if socks:
                socket.send_fds(self._control, data, [sock.fileno() for sock in socks])
            else:
                self._control.send(data[0])
        except (BrokenPipeError, ConnectionResetError):
            self._lost()

    def answer(
        self, limit_s: float, *, watch: bool = True, meanwhile: Callable[[], object] = bool
    ) -> dict[str, Any] | None:
        """Wait for what it did; None if the time is over. Looks for a reason to end the run."""
        end_s = time.monotonic() + limit_s
        while self._answered is None:
            if watch:
                self._stopping.check()
            left_s = end_s - time.monotonic()
            readable(self._control, max(0.0, min(left_s, SLICE_S)))
            self.hear()
            meanwhile()
            if left_s <= 0:
                break
        answered, self._answered = self._answered, None
        return answered

    def hear(self) -> None:
        """Take what it has said so far, without waiting."""
        while self._answered is None and readable(self._control, 0.0):
            try:
                data = self._control.recv(_ANSWER_BYTES)
            except ConnectionResetError:
                data = b""
            if not data:
                self._lost()
            report = json.loads(data)
            if report.get("so_far"):
                self.so_far = report
            else:
                self._answered = report

    def _lost(self) -> NoReturn:
        raise ExperimentError(self.death() or "the peer process does not answer", phase="transfer")
