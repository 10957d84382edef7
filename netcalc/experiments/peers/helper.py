"""How a helper program of a run starts, takes orders and ends, and its sockets.

It needs the standard library only, because a helper starts fast without numpy.

A helper reads its settings as one line of JSON from its standard input, reports that it is ready
with one line of JSON, and ends when its input closes: the run is over, or the parent is gone. On
Linux the kernel also kills it with its parent, which reaches a helper that is suspended; and a
helper has a time limit, which holds where a fork of the parent keeps the input open.

The program of this module itself holds a network namespace for its parent, and opens sockets and
files in it (:class:`netcalc.experiments.peers.process.Namespace`).
"""

from __future__ import annotations

import errno
import json
import os
import random
import select
import selectors
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, Protocol, TypeVar

LIMIT_REACHED = 3
"""Exit code of a helper that reached its limit of time or bytes."""
SETTINGS_BYTES = ORDER_BYTES = 4096
"""Longest line of settings, and longest order. [byte]"""
MAX_DESCRIPTORS = 253
"""Descriptors of one order: as many as Linux passes in one message (SCM_MAX_FD). [1]"""
PASSES_SOCKETS = sys.platform == "linux"
"""Whether a process can pass sockets to another by whole messages: macOS has no ``SOCK_SEQPACKET``
between processes, Windows none of either."""
ENDLESS_BYTES = 1 << 60
"""More than any job carries. [byte]"""
REPORT_NS = 100_000_000
"""Time between two reports of progress: as often as a person can see. [ns]"""
_PR_SET_PDEATHSIG = 1
Opened = TypeVar("Opened", bound="Closable")


class HelperCounts:
    """What a helper counted: messages echoed, refused for another session, and not sent."""

    def __init__(self) -> None:
        self.echoed = self.refused = self.unsent = 0


class Orders:
    """The control socket of a helper: orders in, progress out, the order to end the present one.

    Parameters
    ----------
    control : socket.socket
        The control socket.
    counts : object
        What was counted so far; its attributes are reported.
    """

    def __init__(self, control: socket.socket, counts: object) -> None:
        self.control, self.counts = control, counts
        self.begin()

    def begin(self) -> None:
        """Begin another order: count from 0."""
        vars(self.counts).update(dict.fromkeys(vars(self.counts), 0))
        self.end: dict[str, Any] | None = None
        self._reported_ns = time.perf_counter_ns()

    def next(self) -> tuple[dict[str, Any], list[int]] | None:
        """Wait for an order and its descriptors; None at the end of the run."""
        data, descriptors, flags, _ = socket.recv_fds(self.control, ORDER_BYTES, MAX_DESCRIPTORS)
        if flags & socket.MSG_CTRUNC:  # the kernel had no numbers for all of them in this process
            failed = {"error": errno.EMFILE, "text": os.strerror(errno.EMFILE)}
            self.control.send(json.dumps(failed).encode())
            self.control.recv(ORDER_BYTES)  # until the parent has read that
            return None
        return (json.loads(data), list(descriptors)) if data else None

    def look(self, now_ns: int) -> bool:
        """Report progress; return True if the present order is to end at once."""
        if now_ns - self._reported_ns > REPORT_NS:
            self._reported_ns = now_ns
            self.report(now_ns)
        with suppress(BlockingIOError):
            if data := self.control.recv(ORDER_BYTES, socket.MSG_DONTWAIT):
                self.end = json.loads(data)
        return self.end is not None and self.end.get("now", True)

    def report(self, now_ns: int) -> None:
        """Report the counts so far."""
        so_far = {"so_far": True, "at_ns": now_ns, **vars(self.counts)}
        with suppress(BlockingIOError):  # a full socket: the next report has more
            self.control.send(json.dumps(so_far).encode(), socket.MSG_DONTWAIT)


def read_settings() -> dict[str, Any]:
    """Read the settings that the parent writes first, and bind the lifetime to the parent's."""
    settings: dict[str, Any] = json.loads(sys.stdin.buffer.readline(SETTINGS_BYTES))
    die_with_parent(settings["parent"])
    return settings


def start(settings: dict[str, Any], report: dict[str, Any], counts: object = None) -> None:
    """Report that the helper is ready; from now on it ends with its input, or at its limit."""
    try:
        threading.Thread(
            target=_end_with_input, args=(counts or HelperCounts(),), daemon=True
        ).start()
        if "duration_s" in settings:
            alarm = threading.Timer(settings["duration_s"], os._exit, (LIMIT_REACHED,))
            alarm.daemon = True
            alarm.start()
    except RuntimeError:  # the system has no thread left
        say({"error": errno.EAGAIN, "text": os.strerror(errno.EAGAIN)})
        os._exit(1)
    say(report)


def die_with_parent(parent: int) -> None:
    """Ask the kernel to end this process with its parent (Linux)."""
    if sys.platform != "linux":
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return
    if os.getppid() not in (parent, 0):  # it ended before; 0: it is in another PID namespace
        os._exit(1)


def _end_with_input(counts: object) -> None:
    """End the process when its input closes, with a last report of its counts."""
    while sys.stdin.buffer.read(1):
        pass
    say(vars(counts))
    os._exit(0)


def say(report: dict[str, Any]) -> None:
    """Write one line to the parent; end if it is gone."""
    try:
        os.write(1, json.dumps(report).encode() + b"\n")
    except OSError:
        os._exit(1)


BACKLOG = 4096
"""Connections that wait to be accepted, as many as Linux allows: it drops what comes beyond, and
the client of a run would send its SYN again after 1 s. [1]"""

_SO_ATTACH_FILTER = 26
_SKF_NET_OFF, _SOURCE_AT = 0xFFF00000, 12
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06  # BPF_LD | BPF_W | BPF_ABS and so on


def address_family(host: str) -> socket.AddressFamily:
    """Return the address family of an IP address."""
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def system_error(number: int) -> OSError:
    """Return the error of the system with a number: of its class, with its text."""
    if sys.platform == "win32":  # os.strerror has no text for the numbers of its sockets
        import ctypes

        return ctypes.WinError(number)
    return OSError(number, os.strerror(number))


def error_report(error: OSError | MemoryError) -> dict[str, Any]:
    """Return the report of an error of the system; other systems have another number for it."""
    if isinstance(error, MemoryError):
        error = system_error(errno.ENOMEM)
    number = error.errno or 0
    name = errno.errorcode.get(number, "").removeprefix("WSA")  # as Windows names those of sockets
    return {"error": number, "name": name, "text": error.strerror or str(error)}


def reported_error(report: Mapping[str, Any]) -> OSError:
    """Return a reported error as one of this system."""
    number = getattr(errno, str(report.get("name")), None)
    return OSError(number if isinstance(number, int) else report["error"], report["text"])


def timed_receive(sock: socket.socket, limit_s: float) -> Callable[..., int]:
    """Return ``recv_into`` of a blocking socket, with BlockingIOError after a time without data.

    The time is the kernel's, which needs no further call; but on Windows, where a connection must
    not be used after that has passed, ``select`` is called before.
    """
    if sys.platform == "win32":
        sock.settimeout(None)

        def receive(buffer: bytearray | memoryview, size: int = 0) -> int:
            if not select.select((sock,), (), (), limit_s)[0]:
                raise BlockingIOError
            return sock.recv_into(buffer, size)

        return receive
    set_call_timeout(sock, limit_s)
    return sock.recv_into


def set_call_timeout(
    sock: socket.socket, limit_s: float, options: Sequence[int] = (socket.SO_RCVTIMEO,)
) -> None:
    """Set the timeout of calls of a blocking socket: the kernel's, which needs no further call.

    On Windows it is Python's, and a call raises TimeoutError instead of BlockingIOError.
    """
    if sys.platform == "win32":
        sock.settimeout(limit_s)
        return
    timeval = struct.pack("ll", int(limit_s), max(1, int(limit_s % 1.0 * 1e6)))
    for option in options:
        sock.setsockopt(socket.SOL_SOCKET, option, timeval)


class Closable(Protocol):
    """What can be closed."""

    def close(self) -> object:
        """Close it."""


@contextmanager
def kept(opened: Opened) -> Iterator[Opened]:
    """Close a socket or a process if what is done within fails; otherwise leave it open."""
    try:
        yield opened
    except BaseException:
        opened.close()
        raise


def own_source(host: str) -> str | None:
    """Return a random IPv4 loopback address for the client of a run; None if the server has none.

    Programs that know nothing of the run connect from 127.0.0.1. On a shared loopback the server
    can so tell its own client from them before it has accepted anything. IPv6 has one loopback
    address only.
    """
    if not host.startswith("127."):
        return None
    return ".".join(str(part) for part in (127, *(random.randint(1, 254) for _ in range(3))))


def accept_only_from(listener: socket.socket, source: str) -> None:
    """Let the kernel drop every segment for a listener that is not from an IPv4 address.

    A flood of connections would otherwise fill the queue of those to be accepted, and each
    connection of the client would wait behind them. The filter passes on to accepted connections,
    where it costs some 10 ns a segment. Where the kernel refuses it, or is not Linux, all are
    accepted and judged by their first bytes, as they are anyway.
    """
    if sys.platform != "linux":
        return
    import ctypes

    instructions = (
        (_LOAD, 0, 0, _SKF_NET_OFF + _SOURCE_AT),
        (_JUMP_IF_EQUAL, 0, 1, int.from_bytes(socket.inet_aton(source), "big")),
        (_RETURN, 0, 0, 0xFFFFFFFF),
        (_RETURN, 0, 0, 0),
    )
    packed = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    program = ctypes.create_string_buffer(packed)
    code = struct.pack("HP", len(instructions), ctypes.addressof(program))
    with suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, code)


def request_buffers(sock: socket.socket, size: int) -> None:
    """Request a size of both buffers; macOS refuses a large one, of which Linux grants a part."""
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        with suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, option, size)


def granted(sock: socket.socket) -> dict[str, Any]:
    """Read back the granted buffers and congestion control."""
    report: dict[str, Any] = {
        "send_buffer_bytes": sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
        "receive_buffer_bytes": sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
    }
    if sock.type == socket.SOCK_STREAM and hasattr(socket, "TCP_CONGESTION"):
        name = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        report["congestion_control"] = name.rstrip(b"\0").decode("ascii", "replace")
    return report


SO_TIMESTAMPNS = 35
"""Socket option for arrival stamps in nanoseconds. [1]"""
CONTROL_BYTES = 64
"""Room for the stamp in the ancillary data of a packet. [byte]"""
LATEST_READ_NS = 10**9
"""A packet does not wait longer in the kernel: where it seems to, the wall clock was set. [ns]"""
_TIMESPEC = struct.Struct("=qq")


def stamp_ns(control: list[tuple[int, int, bytes]]) -> int:
    """Return the stamp in the ancillary data of a packet, by the wall clock; 0 without one. [ns]"""
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, rest_ns = _TIMESPEC.unpack_from(data)
            return int(seconds * 10**9 + rest_ns)
    return 0


def arrival_ns(
    control: list[tuple[int, int, bytes]], clock_ns: Callable[[], int], since_ns: int = 0
) -> int:
    """Return when the kernel had received a packet that was read just now, by another clock. [ns]

    The time of reading, where there is no stamp, or the wall clock was set meanwhile: the stamp is
    of the future, or long ago, or of before the packet can have been sent.
    """
    stamped_ns = stamp_ns(control)
    waited_ns = time.time_ns() - stamped_ns
    now_ns = clock_ns()  # after the wall clock: an interruption between them only adds
    longest_ns = min(LATEST_READ_NS, now_ns - since_ns)
    return now_ns - waited_ns if stamped_ns and 0 <= waited_ns <= longest_ns else now_ns


def readable(source: socket.socket | IO[bytes], wait_s: float) -> bool:
    """Wait for data or the end of the stream; False at the timeout."""
    return _ready(source, selectors.EVENT_READ, wait_s)


def writable(sock: socket.socket, wait_s: float) -> bool:
    """Wait for buffer space, or for a connection to succeed or fail; False at the timeout."""
    return _ready(sock, selectors.EVENT_WRITE, wait_s)


def _ready(source: socket.socket | IO[bytes], events: int, wait_s: float) -> bool:
    with _Selector() as selector:
        selector.register(source, events)
        return bool(selector.select(wait_s))


_Selector: type[selectors.BaseSelector] = getattr(
    selectors, "PollSelector", selectors.SelectSelector
)


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
    from netcalc.emulation.wire import kernel  # late: other helpers start without it

    try:
        kernel.enter_user_namespace_as_root(kernel.NEW_NET)
    except OSError:
        kernel.unshare(kernel.NEW_NET, "create network namespace")
    kernel.set_up("lo", [], mtu_bytes=mtu_bytes)
