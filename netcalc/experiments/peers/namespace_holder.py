"""A helper program that opens sockets and files in a network namespace, for its parent.

Started by :mod:`netcalc.experiments.peers.process` for a
:class:`~netcalc.experiments.peers.process.Namespace`; it needs the standard library only.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from netcalc.emulation.wire import kernel
from netcalc.experiments.peers.lifetime import die_with_parent, read_settings, start


def main() -> int:
    """Enter a network namespace, then open what the parent requests and hand it over."""
    settings = read_settings()
    control = socket.socket(fileno=settings["fd"])
    report = {"refused": ""}
    try:
        if settings["own"]:
            make_namespace(settings["mtu_bytes"])
    except OSError as error:
        report["refused"] = error.strerror or str(error)
    die_with_parent(settings["parent"])  # again: a change of credentials clears the first call
    start(settings, report)
    while request := control.recv(4096):
        descriptors: list[int] = []
        try:
            descriptors.append(open_descriptor(json.loads(request)))
            answer: dict[str, Any] = {}
        except OSError as error:
            answer = {"error": error.errno, "text": error.strerror or str(error)}
        socket.send_fds(control, [json.dumps(answer).encode()], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
    return 0


def open_descriptor(request: dict[str, Any]) -> int:
    """Open a socket or a file and return its descriptor."""
    if "file" in request:
        return os.open(request["file"], os.O_RDONLY | os.O_CLOEXEC)
    if "write" in request:
        with open(request["write"], "w") as file:  # noqa: PTH123 - no pathlib here
            file.write(request["text"])
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    return socket.socket(*request["socket"]).detach()


def make_namespace(mtu_bytes: int) -> None:
    """Make a network namespace, with a user namespace where one is allowed, and bring up its lo."""
    try:
        kernel.enter_user_namespace_as_root(kernel.NEW_NET)
    except OSError:
        kernel.unshare(kernel.NEW_NET, "create network namespace")
    kernel.set_up("lo", [], mtu_bytes=mtu_bytes)
