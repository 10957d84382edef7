"""Web socket frames as no browser sends them."""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from contextlib import suppress
from urllib.parse import urlsplit

from students import Student

TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9


def frame(kind: int, data: bytes = b"", *, bits: int = 0x80, length: int | None = None) -> bytes:
    """Return a frame: first byte, length, a mask of zeros, data (RFC 6455, section 5.2)."""
    stated = len(data) if length is None else length
    size = bytes([0x80 | stated]) if stated < 126 else struct.pack("!BQ", 0x80 | 127, stated)
    return bytes([bits | kind]) + size + bytes(4) + data


MALFORMED = (
    frame(TEXT, b"\xff\xfe"),  # no UTF-8
    frame(TEXT, b"x", bits=0xA0),  # a bit that nobody has agreed on
    frame(TEXT, b"no deflate", bits=0xC0),
    frame(3, b"x"),  # kinds that do not exist
    frame(11),
    frame(CLOSE, b"\x03"),  # half a code
    frame(CLOSE, b"\x03\xe8\xff\xff"),  # a reason that is no UTF-8
    frame(CLOSE, b"\0\0"),
    frame(BINARY, b"x", length=1 << 40),
    frame(BINARY, b"x", length=(1 << 63) + 5),
    frame(PING, b"x" * 200),
    frame(PING, b"x", bits=0),
    frame(0, b"x"),  # goes on with nothing
    frame(TEXT, b"{", bits=0) + frame(TEXT, b"}"),
    frame(TEXT, b"[]"),
    frame(TEXT, b'{"header": {"msg_type": {}}}'),
    frame(TEXT, b'{"header": {"msg_type": "comm_msg"}, "channel": "shell\\n\\u001b[2J"}'),
    frame(BINARY, b""),
)


async def send(student: Student, sent: bytes) -> None:
    """Connect to a student's kernel, send some bytes, and wait for the server to close."""
    url = urlsplit(student.base)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    lines = (
        f"GET /api/kernels/{student.kernel_id}/channels?session_id=x HTTP/1.1",
        f"Host: {url.netloc}", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", "Sec-WebSocket-Extensions: permessage-deflate",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        f"Cookie: {student.cookie}", "", "",
    )  # fmt: skip
    writer.write("\r\n".join(lines).encode())
    assert b" 101 " in await reader.readline()
    await reader.readuntil(b"\r\n\r\n")
    with suppress(OSError):
        # After it a close: the connection ends even where the frame is one that may be ignored.
        writer.write(sent + frame(CLOSE, b"\x03\xe8"))
        await asyncio.wait_for(reader.read(), 60)
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
