"""A network namespace for one run: sockets are opened in it, and used from outside.

A socket belongs to the namespace in which it was made. A process of its own makes the namespace and
the sockets, and hands them over; this process uses them as its own. When that process and the
sockets are gone, the kernel takes the namespace away: nothing is left behind, however a run ends.
No privilege is needed where the system lets users make namespaces.
"""

from __future__ import annotations

import json
import os
import socket
from types import TracebackType
from typing import Any, Self

from netcalc.errors import ExperimentError
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.running.stopping import Stopping

LOOPBACK_MTU_BYTES = 65_536
"""What Linux gives its loopback. [byte]"""
_READ_BYTES = 1 << 16


class Namespace:
    """Opens sockets in a namespace, for as long as this object is open.

    Parameters
    ----------
    own : bool
        Make a namespace, whose only interface is ``lo``; with False sockets are the host's.
    mtu_bytes : int
        Largest packet of ``lo`` in a namespace of its own. [byte]

    Attributes
    ----------
    refused : str
        Why there is no namespace; empty if there is one. Sockets are then those of the host.
    """

    def __init__(
        self,
        *,
        stopping: Stopping,
        own: bool = True,
        mtu_bytes: int = LOOPBACK_MTU_BYTES,
    ) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        settings: dict[str, Any] = {
            "host": "",
            "port": 0,
            "fd": theirs.fileno(),
            "own": own,
            "mtu_bytes": mtu_bytes,
        }
        try:
            with theirs:
                self._keeper = Peer(
                    settings,
                    stopping=stopping,
                    passed=[theirs.fileno()],
                    program="namespace_holder",
                )
        except BaseException:
            ours.close()
            raise
        self.refused: str = self._keeper.report["refused"]
        self.own = own and not self.refused
        self._control.settimeout(5.0)
        self._files: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process that keeps the namespace; sockets that were handed over live on."""
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
        self._control.close()
        self._keeper.close()

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket in the namespace."""
        return socket.socket(fileno=self._ask({"socket": [int(family), int(kind), protocol]}))

    def read(self, path: str) -> str:
        """Read a file of the kernel as it is in the namespace."""
        if path not in self._files:
            self._files[path] = self._ask({"file": path})
        return os.pread(self._files[path], _READ_BYTES, 0).decode("ascii", "replace")

    def write(self, path: str, text: str) -> None:
        """Write a setting of the kernel: of a namespace of its own, never of the host."""
        if not self.own:
            raise ExperimentError("settings of the host are not changed", phase="start")
        os.close(self._ask({"write": path, "text": text}))

    def _ask(self, request: dict[str, Any]) -> int:
        """Send a request and return the descriptor that comes back."""
        try:
            self._control.send(json.dumps(request).encode())
            data, descriptors, _, _ = socket.recv_fds(self._control, 4096, 1)
        except OSError as error:
            raise self._lost() from error
        if not data:
            raise self._lost()
        answer = json.loads(data)
        if "error" in answer:
            raise OSError(answer["error"], answer["text"])
        if not descriptors:
            raise OSError(24, "Too many open files")
        return descriptors[0]

    def _lost(self) -> ExperimentError:
        death = self._keeper.death() or "it does not answer"
        return ExperimentError(f"the namespace of this run is gone: {death}", phase="namespace")
