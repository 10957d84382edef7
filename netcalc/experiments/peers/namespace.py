"""A network namespace for one run: sockets are opened in it and used from outside.

A socket belongs to the namespace in which it was made. A helper process makes the namespace and the
sockets and hands them over; this process uses them like its own. Once that process and the sockets
are gone, the kernel removes the namespace: nothing is left behind, however a run ends. No privilege
is needed where the system lets users create namespaces.
"""

from __future__ import annotations

import errno
import os
import socket
from typing import Any, NoReturn

from netcalc.errors import ExperimentError
from netcalc.experiments.peers.process import ControlledPeer
from netcalc.experiments.running.stopping import Stopping

LOOPBACK_MTU_BYTES = 65_536
"""MTU of the loopback of Linux. [byte]"""
ANSWER_S = 5.0
"""Timeout of a request to the helper, which takes well under a millisecond. [s]"""
_READ_BYTES = 1 << 16


class Namespace(ControlledPeer):
    """Opens sockets in a network namespace, for as long as this object is open.

    Parameters
    ----------
    own : bool
        Make a namespace, whose only interface is ``lo``; with False sockets are the host's.
    mtu_bytes : int
        MTU of ``lo`` in a namespace of its own. [byte]

    Attributes
    ----------
    refused : str
        Why there is no namespace; empty if there is one. Sockets are then those of the host.
    """

    def __init__(
        self, *, stopping: Stopping, own: bool = True, mtu_bytes: int = LOOPBACK_MTU_BYTES
    ) -> None:
        self._files: dict[str, int] = {}
        super().__init__("namespace_holder", stopping=stopping, own=own, mtu_bytes=mtu_bytes)
        self.refused: str = self.report["refused"]
        self.own = own and not self.refused
        self.control.settimeout(ANSWER_S)

    def close(self) -> dict[str, int]:
        """End the process that holds the namespace; sockets that were passed on stay open."""
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
        return super().close()

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket in the namespace."""
        return socket.socket(fileno=self._ask({"socket": [int(family), int(kind), protocol]}))

    def read(self, path: str) -> str:
        """Read a file of the kernel as seen in the namespace."""
        if path not in self._files:
            self._files[path] = self._ask({"file": path})
        return os.pread(self._files[path], _READ_BYTES, 0).decode("ascii", "replace")

    def write(self, path: str, text: str) -> None:
        """Write a setting of the kernel in a namespace of its own, never of the host."""
        if not self.own:
            raise ExperimentError("host-settings-kept", phase="start")
        os.close(self._ask({"write": path, "text": text}))

    def _ask(self, request: dict[str, Any]) -> int:
        """Send a request and return the descriptor of the answer."""
        self.send(request)
        answer, descriptors = self.receive()
        if "error" in answer:
            raise OSError(answer["error"], answer["text"])
        if not descriptors:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return descriptors[0]

    def fail(self, cause: BaseException | None) -> NoReturn:
        """Raise the error of a namespace whose process is gone or does not respond."""
        status = self.status()
        code = "namespace-silent" if status is None else "namespace-ended"
        raise ExperimentError(code, phase="namespace", status=status) from cause
