"""A helper program that opens sockets and files in a network namespace, for its parent.

Started by :mod:`netcalc.experiments.peers.process` for a
:class:`~netcalc.experiments.peers.process.Namespace`; it needs the standard library only.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any

from netcalc.experiments.peers.lifetime import die_with_parent, read_settings, start

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS, _SIOCSIFMTU, _IFF_UP, _IFF_RUNNING = 0x8914, 0x8922, 0x1, 0x40


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
    """Make a network namespace, with a user namespace where needed, and bring up its lo."""
    import fcntl

    user, group = os.geteuid(), os.getegid()
    try:
        call_c("unshare", _CLONE_NEWUSER | _CLONE_NEWNET)
        for name, text in (
            ("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1"),
        ):  # fmt: skip
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
                file.write(text)
    except OSError:
        call_c("unshare", _CLONE_NEWNET)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, _SIOCSIFMTU, struct.pack("16si20x", b"lo", mtu_bytes))
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP | _IFF_RUNNING))


def call_c(name: str, *numbers: int) -> None:
    """Call a function of the C library; raise its error if it does not return 0."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*numbers) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
