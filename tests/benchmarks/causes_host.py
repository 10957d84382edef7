"""A host of ``causes.py``: one end of one TCP connection, with the standard library only.

``causes_host.py PLAN`` with a plan in JSON; it prints ``ready`` when it listens, and at its end a
row with the kernel's counters of the connection (``TCP_INFO``) and its times.
"""

from __future__ import annotations

import array
import fcntl
import json
import socket
import struct
import sys
import termios
import threading
import time
from typing import Any

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
DROP_ALL = struct.pack("HBBI", 0x06, 0, 0, 0)
"""A filter of one instruction: of each packet nothing is kept."""
INFO_BYTES = 232
MOST_WAIT_S = 10.0
LAST_S = 3.0
"""Longest wait for the last acknowledgement. [s]"""


def set_up(sock: socket.socket, plan: dict[str, Any]) -> None:
    """Set the options of a plan."""
    algorithm = plan.get("algorithm", "cubic").encode()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm)
    if plan.get("receive_buffer_bytes"):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, plan["receive_buffer_bytes"])
    if plan.get("send_buffer_bytes"):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, plan["send_buffer_bytes"])
    if plan.get("mss_bytes"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, plan["mss_bytes"])
    if plan.get("is_prompt"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def deaf(sock: socket.socket, lasts_s: float) -> None:
    """Let the kernel drop all that a socket receives, for a time."""
    program = array.array("B", DROP_ALL)
    address, _ = program.buffer_info()
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", 1, address))
    time.sleep(lasts_s)
    sock.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)


def connection(plan: dict[str, Any]) -> socket.socket:
    """Return the connection, opened by this host or by the other one."""
    if plan.get("lookup"):
        asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        name = b"".join(bytes([len(part)]) + part for part in (b"server", b"example", b""))
        question = b"\x12\x34\x01\x00\x00\x01" + bytes(6) + name + b"\x00\x01\x00\x01"
        asked.sendto(question, (plan["peer"], 53))
        asked.settimeout(10)
        asked.recv(2000)
    if not plan["listens"]:
        sock = socket.socket()
        set_up(sock, plan)
        sock.connect((plan["peer"], plan["port"]))
        return sock
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        set_up(listener, plan)
        listener.bind((plan["own"], plan["port"]))
        listener.listen(1)
        if plan.get("lookup_s"):
            names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            names.bind((plan["own"], 53))
            threading.Thread(target=answer_name, args=(names, plan["lookup_s"])).start()
        print("ready", flush=True)
        if plan.get("deaf_first_s"):
            deaf(listener, plan["deaf_first_s"])
        sock, _ = listener.accept()
        set_up(sock, plan)
        return sock


def answer_name(sock: socket.socket, after_s: float) -> None:
    """Answer one question for a name, late."""
    question, asker = sock.recvfrom(2000)
    time.sleep(after_s)
    answer = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04" + socket.inet_aton("192.0.2.1")
    sock.sendto(
        question[:2] + b"\x81\x80\x00\x01\x00\x01" + bytes(4) + question[12:] + answer, asker
    )


def unacknowledged(sock: socket.socket) -> int:
    count = array.array("i", [0])
    fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, count)
    return count[0]


def send(sock: socket.socket, plan: dict[str, Any]) -> None:
    """Send for a time or a size, in chunks with or without pauses."""
    chunk, begin_s, sent = bytes(plan.get("chunk_bytes", 65_536)), time.monotonic(), 0
    size, lasts_s = plan.get("size_bytes", 1 << 60), plan.get("lasts_s", 1e9)
    while sent < size and time.monotonic() - begin_s < lasts_s:
        sock.sendall(chunk[: size - sent])
        sent += min(len(chunk), size - sent)
        if plan.get("pause_s") and sent < size:
            time.sleep(plan["pause_s"])


def receive(sock: socket.socket, plan: dict[str, Any]) -> None:
    """Read to the end, slowly or with a stop where the plan has one."""
    got, begin_s, stops = 0, time.monotonic(), "stop_bytes" in plan
    if plan.get("deaf_s"):
        wait = threading.Timer(plan["deaf_from_s"], deaf, (sock, plan["deaf_s"]))
        wait.start()
    while data := sock.recv(plan.get("read_bytes", 65_536)):
        got += len(data)
        if stops and got >= plan["stop_bytes"]:
            stops = False
            time.sleep(plan["stop_s"])
        if plan.get("read_bps"):
            time.sleep(max(0.0, 8 * got / plan["read_bps"] - (time.monotonic() - begin_s)))


def exactly(sock: socket.socket, size: int) -> bool:
    """Read so many bytes; False at the end."""
    while size:
        data = sock.recv(size)
        if not data:
            return False
        size -= len(data)
    return True


def ask(sock: socket.socket, plan: dict[str, Any]) -> None:
    """Ask again and again, each time when the answer is there."""
    for _ in range(plan["request_count"]):
        for size in plan["write_bytes"]:
            sock.sendall(bytes(size))
        exactly(sock, plan["reply_bytes"])


def answer(sock: socket.socket, plan: dict[str, Any]) -> None:
    """Answer each request after a time."""
    while exactly(sock, sum(plan["write_bytes"])):
        time.sleep(plan.get("think_s", 0.0))
        sock.sendall(bytes(plan["reply_bytes"]))


def main(plan: dict[str, Any]) -> None:
    sock = connection(plan)
    if plan.get("polls"):
        sock.settimeout(MOST_WAIT_S)
    begin_s = time.monotonic()
    {"send": send, "receive": receive, "ask": ask, "answer": answer}[plan["does"]](sock, plan)
    while unacknowledged(sock) and time.monotonic() - begin_s < plan["most_s"]:
        time.sleep(0.001)
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
    print(json.dumps({"info": info.hex(), "took_s": time.monotonic() - begin_s}), flush=True)
    if plan["does"] in ("send", "ask"):
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(LAST_S)
        sock.recv(1)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
