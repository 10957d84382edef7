"""Datagrams to a host on which ``iperf3 -s`` runs: the program is started here, its JSON read."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from netcalc import readers
from netcalc.errors import ExperimentError, ReaderError
from netcalc.experiments.peers import helper
from netcalc.experiments.running.stopping import Stopping
from netcalc.printable import excerpt
from netcalc.samples import FlowSeries

PORT = 5201
"""Port of ``iperf3 -s``, where nobody says otherwise."""
LEAST_PAYLOAD_BYTES = 16
"""Smallest datagram of iperf3: its sequence and its time. [byte]"""
LEAST_DURATION_S = 3
"""Of a shorter run no second is whole, without its begin and its end. [s]"""
GRACE_S = 8.0
"""Time beside a run for its connection, its begin and its end. [s]"""
CONNECT_MS = 3000
SMALL_WRITE_BYTES = 1000
"""Write of a connection that leaves a path idle: the default of iperf3 fills its queue. [byte]"""
TRY_COUNT, AGAIN_S = 3, 1.0
"""Times that a server is asked which is busy or has ended a run [1], and the time between. [s]"""
_LEAST_VERSION, _BIDIR_VERSION = (3, 1), (3, 7)
_EDGE_S = 0.5
_SLICE_S = 0.05
_ERRORS = (
    ("refused", "iperf3-not-listening"),
    ("busy", "iperf3-busy"),
    ("no route", "iperf3-no-route"),
    ("network is unreachable", "iperf3-no-route"),
    ("timed out", "iperf3-unreachable"),
    ("stream socket", "iperf3-udp-blocked"),
    ("closed unexpectedly", "iperf3-gone"),
    ("server has terminated", "iperf3-gone"),
    ("reset by peer", "iperf3-gone"),
)
"""Parts of what iperf3 says, and the code of the error; the first one counts."""


class Passed(NamedTuple):
    """Datagrams of a direction: sent and arrived, and in which time. [1], [1], [s]"""

    sent: float
    arrived: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Iperf3:
    """The program on this machine, and the host that it sends to.

    Parameters
    ----------
    host : str
        Address where ``iperf3 -s`` listens.
    port : int
        Its port.
    stopping : Stopping
        Ends a run of it.
    program, version : str, tuple of int
        What is installed here.
    """

    host: str
    port: int
    stopping: Stopping
    program: str
    version: tuple[int, int]

    @classmethod
    def installed(cls, host: str, port: int, *, stopping: Stopping) -> Iperf3:
        """Return the program that is installed here.

        Raises
        ------
        ExperimentError
            If there is none, or it is too old.
        """
        program = shutil.which("iperf3")
        if program is None:
            raise ExperimentError("iperf3-missing", phase="iperf3")
        told = _output([program, "--version"], limit_s=GRACE_S, stopping=stopping)
        match = re.search(rb"iperf (\d+)\.(\d+)", told)
        version = (int(match[1]), int(match[2])) if match else (0, 0)
        if version < _LEAST_VERSION:
            raise ExperimentError("iperf3-too-old", phase="iperf3", program=program,
                                  version="{}.{}".format(*version))  # fmt: skip
        return cls(host, port, stopping, program, version)

    @property
    def has_both(self) -> bool:
        """Whether it sends in both directions at once."""
        return self.version >= _BIDIR_VERSION

    def send(
        self, payload_bytes: int, direction: str, *, duration_s: int, rate_bps: float = 0.0
    ) -> dict[str, Passed]:
        """Send datagrams at a rate; with 0 as fast as the sender can.

        Parameters
        ----------
        payload_bytes : int
            Payload of each. [byte]
        direction : {'forward', 'back', 'both'}
            To the host, from it, or both at once.
        duration_s : int
            How long: of :data:`LEAST_DURATION_S` or more the whole seconds within count, where no
            queue fills or drains; of less all of it. [s]
        rate_bps : float
            Rate of the payload of each direction. [bit/s, UDP payload]

        Returns
        -------
        dict of str to Passed
            ``"forward"`` and ``"back"``, those of the direction.
        """
        way = {"back": ["-R"], "both": ["--bidir"]}.get(direction, [])
        told = self._client(
            "-u", "-b", str(int(rate_bps)), "-l", str(payload_bytes), "-i", "1",
            "--get-server-output", *way, duration_s=duration_s,
        )  # fmt: skip
        reports = list(_reports(told))
        wanted = ("forward", "back") if direction == "both" else (direction,)
        passed = {}
        for name in wanted:
            within = [_within(report, name, duration_s) for report in reports]
            counted = [part for part in within if part.sent > 0] if duration_s > 1 else []
            passed[name] = counted[0] if counted else _total(reports[0], name, duration_s)
        return passed

    def round_trips(self, *, duration_s: int, rate_bps: float = 0.0) -> list[float]:
        """Return the round trips of a TCP connection, as the kernel of this host measures them. [s]

        They are of a rate, with 0 of all that it gets; empty where the kernel does not say.
        """
        rate = ["-b", str(int(rate_bps)), "-l", str(SMALL_WRITE_BYTES)] if rate_bps else []
        told = self._client("-i", "0.1", *rate, duration_s=duration_s)
        flows = next(_reports(told))
        late = np.asarray(flows.start_s) >= min(_EDGE_S, duration_s / 2)
        return [float(rtt) for rtt in np.asarray(flows.rtt_s)[late] if rtt > 0]

    @contextmanager
    def alone(self) -> Iterator[Iperf3]:
        """Start a server on the loopback of this host, and yield the program that sends to it."""
        address = "::1" if ":" in self.host else "127.0.0.1"
        with socket.socket(helper.address_family(address)) as sock:
            sock.bind((address, 0))
            port = sock.getsockname()[1]
        command = [self.program, "-s", "-B", address, "-p", str(port)]
        with _started(command) as server:
            own = Iperf3(address, port, self.stopping, self.program, self.version)
            end_s = time.monotonic() + GRACE_S
            while not _is_listening(address, port):
                if server.poll() is not None or time.monotonic() > end_s:
                    raise ExperimentError("iperf3-no-server", phase="iperf3", port=port)
                self.stopping.sleep(_SLICE_S)
            yield own

    def _client(self, *options: str, duration_s: int) -> bytes:
        """Run the program; return what it prints.

        A server that is not ready yet after the run before, or lost it in an overloaded queue, is
        asked again.

        Raises
        ------
        ExperimentError
            With what iperf3 says, in the words of this package where it is known.
        """
        timeout = ["--connect-timeout", str(CONNECT_MS)] if self.has_both else []
        command = [self.program, "-c", self.host, "-p", str(self.port), "-J", *timeout,
                   "-t", str(duration_s), *options]  # fmt: skip
        for left in reversed(range(TRY_COUNT)):
            try:
                told = _output(command, limit_s=duration_s + GRACE_S, stopping=self.stopping)
            except TimeoutError:
                code = "iperf3-udp-blocked" if "-u" in options else "iperf3-unreachable"
                raise self._failed(code) from None
            said = _error_of(told)
            if not said:
                break
            code = next((code for part, code in _ERRORS if part in said.lower()), "iperf3-failed")
            if not left or code not in ("iperf3-gone", "iperf3-busy"):
                raise self._failed(code, message=excerpt(said, 120))
            self.stopping.sleep(AGAIN_S)
        return told

    def _failed(self, code: str, **values: Any) -> ExperimentError:
        return ExperimentError(code, phase="iperf3", host=self.host, port=self.port, **values)


def _is_listening(address: str, port: int) -> bool:
    """Whether a server accepts connections; iperf3 drops one without a word and goes on."""
    with suppress(OSError), socket.create_connection((address, port), _SLICE_S):
        return True
    return False


def _error_of(told: bytes) -> str:
    """Return the error that iperf3 says; empty without one."""
    with suppress(ValueError):
        document = json.loads(told)
        error = document.get("error", "") if isinstance(document, Mapping) else ""
        return str(error)
    return (told.decode("utf-8", "replace").strip().splitlines() or ["no output"])[0]


def _reports(told: bytes) -> Iterator[FlowSeries]:
    """Yield what the client measured, and what the server did, if that is there."""
    document = json.loads(told)
    server = document.get("server_output_json") or document.get("server_output_text")
    texts = [json.dumps(server) if isinstance(server, Mapping) else server] if server else []
    for text in (told, *(str(each).encode() for each in texts)):
        try:
            report = readers.read(text)
        except ReaderError as error:
            raise ExperimentError(
                "iperf3-failed", phase="iperf3", message=excerpt(str(error), 120)
            ) from error
        if isinstance(report, FlowSeries):
            yield report


_DIRECTIONS = {"forward": "upload", "back": "download"}


def _within(report: FlowSeries, name: str, duration_s: float) -> Passed:
    """Return what a receiver counted in the whole seconds of a direction."""
    start, length = np.asarray(report.start_s), np.asarray(report.duration_s)
    several = len(report.facts()) > 1
    group = np.asarray(report.group) == (_DIRECTIONS[name] if several else "")
    alone = several or report.facts()[0].get("direction") == _DIRECTIONS[name]
    sent, lost = np.asarray(report.datagram_count), np.asarray(report.lost_count)
    rows = group & alone & (np.asarray(report.side) == "receiver") & np.isfinite(sent + lost)
    rows &= (start > _EDGE_S) & (start + length < duration_s - _EDGE_S)
    total = float(sent[rows].sum())
    return Passed(total, total - float(lost[rows].sum()), float(length[rows].sum()))


def _total(report: FlowSeries, name: str, duration_s: float) -> Passed:
    """Return what the receiver counted of all of a direction."""
    for facts in report.facts():
        if facts.get("direction") == _DIRECTIONS[name]:
            sent = float(facts.get("datagram_count", 0))
            return Passed(sent, sent - float(facts.get("lost_datagram_count", sent)), duration_s)
    return Passed(0.0, 0.0, duration_s)


@contextmanager
def _started(command: list[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program and end it; Ctrl-C is not for it, as it has a session of its own."""
    process = subprocess.Popen(
        command, start_new_session=True,
        **{**dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL), **options},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()  # it tells its server, which is free again
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _output(command: list[str], *, limit_s: float, stopping: Stopping) -> bytes:
    """Run a program; return what it prints, or else what it complains of.

    Raises
    ------
    TimeoutError
        If it takes longer.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        with _started(command, stdout=out, stderr=complaints) as process:
            end_s = time.monotonic() + limit_s
            while process.poll() is None:
                if time.monotonic() > end_s:
                    raise TimeoutError
                stopping.sleep(_SLICE_S)
        out.seek(0)
        complaints.seek(0)
        return out.read() or complaints.read()
