"""A worker of this machine for systems that pass no sockets to another process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from netcalc.errors import ExperimentError
from netcalc.experiments.peers import bulk_peer
from netcalc.experiments.peers.job import Job
from netcalc.experiments.running.stopping import Stopping

END_S = 1.0
"""Time for a program to end after its sockets are shut down. [s]"""


class ThreadWorker:
    """Sends or receives in a thread, with the interface of a worker process.

    That is :class:`netcalc.experiments.peers.process.Worker`. While it works, this thread wakes
    ten times a second, so that it hardly takes the interpreter from it.
    """

    def __init__(self, *, stopping: Stopping) -> None:
        self.report: dict[str, Any] = {"timer_slack_s": None}
        self._stopping = stopping
        self._job: Job | None = None
        self._done = threading.Event()

    @property
    def so_far(self) -> dict[str, Any]:
        """What the present order has counted so far."""
        if (job := self._job) is None:
            return {}
        at_ns = time.perf_counter_ns() if job.report is None else job.report["end_ns"]
        return {"at_ns": at_ns, **vars(job.counts)}

    def order(self, order: dict[str, Any], socks: Sequence[socket.socket] = ()) -> None:
        """Order what to do, and on which sockets; they stay the caller's."""
        if order["do"] != "end":
            self._done.clear()
            self._job = Job(
                bulk_peer.WORKS[order["do"]], [sock.dup() for sock in socks], order,
                bulk_peer.ByteCounts(), ended=self._done.set,
            )  # fmt: skip
        elif self._job is not None:
            self._job.end = order
            if order["now"]:
                self._job.stop()

    def answer(
        self, limit_s: float, *, watch: bool = True, meanwhile: Callable[[], object] = bool
    ) -> dict[str, Any] | None:
        """Wait for the report of an order; None at the limit. Checks for a reason to end."""
        return self._stopping.wait_for(
            lambda: self._job.report if self._job is not None and self._done.is_set() else None,
            self._done.wait, limit_s, watch=watch, meanwhile=meanwhile,
        )  # fmt: skip

    def poll(self) -> None:
        """Do nothing: the counts are those of the program."""

    def explain(self, error: ExperimentError) -> ExperimentError:
        """Return the error of a run: a thread does not end without a report."""
        return error

    def close(self) -> None:
        """End the program."""
        if self._job is not None:
            self._job.stop()
            self._job.join(END_S)
