"""The process that carries a wire's packets, as its owner sees it: started, asked, ended."""

from __future__ import annotations

import array
import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path as File
from typing import Any

from netcalc.emulation.wire.kernel import TUN_NODE
from netcalc.errors import ExperimentError

START_LIMIT_S = 15.0
"""How long the wire may take until it stands, or to answer. [s]"""
END_LIMIT_S = 1.0
"""How long its process may take to end by itself. [s]"""
_PACKAGE = File(__file__).absolute().parents[3]
_START = (
    "import sys; sys.path.insert(0, sys.argv[2]); "
    "from netcalc.emulation.wire.carrier import main; sys.exit(main())"
)
_HINTS = {
    1: "The system does not let this user make namespaces (user.max_user_namespaces, "
    "kernel.apparmor_restrict_unprivileged_userns, or a container). The relay works without",
    2: "Load the module of TUN devices (modprobe tun), or use the relay",
    13: f"This user may not open {TUN_NODE}, or not make namespaces. The relay works without",
    28: "Too many namespaces: user.max_user_namespaces or user.max_net_namespaces",
}


class Control:
    """A carrying process, from its start to its end; it may be asked from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stands = self._torn = False
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(START_LIMIT_S)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _START, "0", str(_PACKAGE)],
                    stdin=theirs.fileno(),  # as 0, because select() takes no number above 1023
                    start_new_session=True,
                )
            except BaseException:
                self._socket.close()
                raise

    @property
    def pid(self) -> int:
        """The number of the carrying process."""
        return self._process.pid

    def set_up(self, settings: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        """Let it make the wire; return what it chose, and the descriptors of what it made."""
        line = json.dumps({**settings, "parent": os.getpid()}).encode() + b"\n"
        chosen, descriptors, _ = self._exchange(line)
        self._stands = True
        return chosen, descriptors

    def ask(self, do: str, **arguments: Any) -> tuple[dict[str, Any], list[int], bytes]:
        """Ask for something; return what it says, descriptors beside it, and bytes behind it."""
        with self._lock:
            return self._exchange(json.dumps({"do": do, "with": arguments}).encode() + b"\n")

    def close(self) -> None:
        """End the process: by itself when nobody can ask any more, otherwise by force."""
        self._socket.close()
        try:
            self._process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        finally:
            self._process.wait()

    def _exchange(self, line: bytes) -> tuple[dict[str, Any], list[int], bytes]:
        if self._torn:
            raise ExperimentError(
                "a question to the wire was interrupted, its answers no longer fit",
                phase="wire",
                hint="Open the wire anew",
            )
        self._torn = True
        found: list[int] = []
        try:
            self._socket.sendall(line)
            reply, data = self._receive(found)
            self._torn = False
            if "error" in reply:
                what = f"the system refuses: {reply['text']}"
                hint = None if self._stands else _HINTS.get(reply["error"])
                raise ExperimentError(what, phase="wire", hint=hint)
            if reply.get("broken"):
                raise ExperimentError(reply["broken"], phase="wire")
            return reply, found, data
        except BaseException as error:
            for descriptor in found:
                os.close(descriptor)
            if isinstance(error, TimeoutError):
                raise ExperimentError(
                    f"the wire's process did not answer in {START_LIMIT_S:g} s", phase="wire"
                ) from error
            if isinstance(error, OSError):
                self._torn = False  # it is asked again, and answers the same
                raise self._lost() from error
            raise

    def _receive(self, found: list[int]) -> tuple[dict[str, Any], bytes]:
        """Read one answer: a line, descriptors beside it (to ``found``), and what follows it."""
        data = b""
        while b"\n" not in data:
            more, control, _, _ = self._socket.recvmsg(65_536, socket.CMSG_LEN(12))
            for level, kind, payload in control:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    found += array.array("i", payload[: len(payload) // 4 * 4])
            if not more:
                raise ConnectionError
            data += more
        line, _, data = data.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        parts = [data]
        left = reply.get("bytes", 0) - len(data)
        while left > 0:
            more = self._socket.recv(min(left, 1 << 20))
            if not more:
                raise ConnectionError
            parts.append(more)
            left -= len(more)
        return reply, b"".join(parts)

    def _lost(self) -> ExperimentError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_LIMIT_S)
        code = self._process.returncode
        how = "" if code is None else f" (signal {-code})" if code < 0 else f" (status {code})"
        return ExperimentError(f"the process that carries packets has ended{how}", phase="wire")
