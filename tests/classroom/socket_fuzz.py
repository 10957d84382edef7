"""100,000 messages to the web socket of a kernel: run in a process whose memory is limited.

What is well-formed is known here by how each message was made, not by a reading of it.
"""

from __future__ import annotations

import json
import random
import resource
import struct
import sys

from jupyter_server.services.kernels.kernelmanager import (
    AsyncMappingKernelManager,
    ServerKernelManager,
)
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

from netcalc.cli.lesson_pages import PromptConnection

V1 = "v1.kernel.websocket.jupyter.org"
HEADER = {
    "msg_id": "1", "msg_type": "comm_msg", "username": "", "session": "s", "version": "5.3",
    "date": "2026-01-01T00:00:00Z",
}  # fmt: skip
HOSTILE_NUMBERS = (0, 1, 5, 6, 7, 255, 1000, 1001, 10**6, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63)


class Handler(KernelWebsocketHandler):
    """The server's end of a socket; it counts how often the browser is sent away."""

    selected_subprotocol = current_user = None

    def __init__(self, subprotocol: str | None) -> None:
        self.closed = 0
        self.selected_subprotocol = subprotocol

    def close(self, code=None, reason=None):  # the signature is Tornado's
        self.closed += 1


class Channel:
    """The socket to a kernel: what arrived, in bytes and in messages."""

    def __init__(self) -> None:
        self.messages = self.bytes = 0

    def send_multipart(self, parts, *_, **__):
        self.messages += 1
        self.bytes += sum(len(part) for part in parts)


def connection(subprotocol: str | None) -> tuple[PromptConnection, Handler, Channel]:
    """Return a connection as in a class, which lets messages of widgets through, with no kernel."""
    kernels = AsyncMappingKernelManager(allowed_message_types=["comm_msg", "comm_open"])
    handler, channel = Handler(subprotocol), Channel()
    made = PromptConnection(parent=ServerKernelManager(parent=kernels), websocket_handler=handler)
    # A message to "iopub" would wait in the server until the connection ends.
    made.channels = dict.fromkeys(("shell", "control", "stdin", "iopub"), channel)
    return made, handler, channel


def framed(parts: list[bytes], *, is_v1: bool) -> tuple[list[int], bytes]:
    """Return the numbers in front of some parts, and the parts."""
    count = len(parts) + is_v1  # v1 ends with the place of the end
    offsets = [(count + 1) * (8 if is_v1 else 4)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return [count, *offsets[:count]], b"".join(parts)


def message(draw: random.Random, *, is_v1: bool, is_malformed: bool) -> bytes | str:
    """Return a message of widgets, or that message with a false frame or a torn content."""
    buffers = [draw.randbytes(draw.randrange(200)) for _ in range(draw.choice([0, 0, 1, 3, 40]))]
    content = {"comm_id": "c", "data": {"value": draw.random()}}
    if is_v1:
        sent = [b"shell", *(json.dumps(part).encode() for part in (HEADER, {}, {}, content))]
    else:
        whole = {"header": HEADER, "parent_header": {}, "metadata": {}, "content": content}
        sent = [json.dumps(whole | {"channel": "shell"}).encode()]
        if not buffers and draw.random() < 0.5:
            return "[" * 50_000 if is_malformed else sent[0].decode()
    kind = draw.choice(["count", "offset", "swap", "torn", "header", "overlap", "iopub", "large"])
    if is_malformed and kind in ("iopub", "large"):  # well-formed, and costly to the server
        large = {"metadata": {"x": [0] * 40_000}} if kind == "large" else {}
        channel = "iopub" if kind == "iopub" else "shell"
        whole = {"header": HEADER, "parent_header": {}, "metadata": {}, "content": content} | large
        if not is_v1:
            return json.dumps(whole | {"channel": channel})
        names = ("header", "parent_header", "metadata", "content")
        sent = [channel.encode(), *(json.dumps(whole[name]).encode() for name in names)]
    if is_malformed and kind == "header":
        sent[1 if is_v1 else 0] = draw.choice(
            [b"", b"[]", b"{", b"{}", b"null", b"\xff", b"[" * 9999]
        )
    numbers, body = framed(sent + buffers, is_v1=is_v1)
    most = 2**64 - 1 if is_v1 else 2**32 - 1
    if is_malformed and kind == "count":
        numbers[0] = draw.choice([n for n in HOSTILE_NUMBERS if n <= most and n > len(numbers)])
    elif is_malformed and kind == "offset":
        numbers[draw.randrange(1, len(numbers))] = most - draw.randrange(1000)
    elif is_malformed and kind in ("swap", "overlap"):
        # Every other part is the whole body again: the square of the message, if it is copied.
        end = len(numbers) * (8 if is_v1 else 4) + len(body)
        numbers = [900, *[0, end] * 450] if kind == "overlap" else [numbers[0], end, *numbers[2:]]
        body = (
            bytes(200_000) if kind == "overlap" else body + bytes(1) if len(numbers) == 2 else body
        )
    form = f"<{len(numbers)}Q" if is_v1 else f">{len(numbers)}I"
    whole = struct.pack(form, *numbers) + body
    return whole[: draw.randrange(8)] if is_malformed and kind == "torn" else whole


def main(count: int) -> None:
    """Send the messages, half of them malformed, and print what became of them."""
    memory = 1 << 30
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
    draw = random.Random(20261128)
    result = {}
    for subprotocol in (V1, None):
        made, handler, channel = connection(subprotocol)
        sent = {False: 0, True: 0}
        wrong = []
        for _ in range(count // 2):
            is_malformed = draw.random() < 0.5
            text = message(draw, is_v1=bool(subprotocol), is_malformed=is_malformed)
            before = (handler.closed, channel.messages)
            made.handle_incoming_message(text)
            after = (handler.closed - before[0], channel.messages - before[1])
            sent[is_malformed] += 1
            if after != ((1, 0) if is_malformed else (0, 1)):
                wrong.append((is_malformed, after, repr(text[:80])))
        result[subprotocol or "legacy"] = {
            "well formed": sent[False], "malformed": sent[True], "closed": handler.closed,
            "passed": channel.messages, "wrong": wrong[:5],
        }  # fmt: skip
    print(json.dumps(result))


if __name__ == "__main__":
    main(int(sys.argv[1]))
