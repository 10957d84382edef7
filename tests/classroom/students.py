"""Students of a class as their browsers speak with it: requests and a web socket, no page drawn."""

from __future__ import annotations

import json
import re
import uuid
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.websocket import WebSocketClientConnection, websocket_connect


class Student:
    """One browser, with its cookies."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.cookies: dict[str, str] = {}
        self.kernel_id = ""
        self.page = ""
        self.socket: WebSocketClientConnection | None = None
        self._http = AsyncHTTPClient(force_instance=True, defaults={"request_timeout": 300.0})

    async def ask(self, path: str, form: dict[str, str] | None = None, **more: Any) -> HTTPResponse:
        """Get a page, or send a form with the token of its page; no redirect is followed."""
        headers = {"Cookie": self.cookie, **more.pop("headers", {})}
        if form is not None:
            more |= {"method": "POST", "body": urlencode({"_xsrf": self.xsrf, **form})}
        answer = await self._http.fetch(
            HTTPRequest(self.base + path, headers=headers, follow_redirects=False, **more),
            raise_error=False,
        )
        for line in answer.headers.get_list("Set-Cookie"):
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        return answer

    @property
    def cookie(self) -> str:
        """The header that a browser sends."""
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    @property
    def xsrf(self) -> str:
        """The token of forms."""
        return self.cookies.get("_xsrf", "")

    async def enter(self, code: str, name: str = "") -> HTTPResponse:
        """Enter a code at the door."""
        await self.ask("login")
        return await self.ask("login", {"code": code, "name": name})

    async def open(self, lesson: str) -> HTTPResponse:
        """Open a lesson; the page is whole when all its cells have run."""
        answer = await self.ask(f"voila/render/{lesson}")
        self.page = answer.body.decode()
        found = re.search(r'"kernelId": ?"([\w-]+)"', self.page)
        self.kernel_id = found[1] if found else ""
        return answer

    async def connect(
        self, kernel_id: str = "", subprotocols: list[str] | None = None, **headers: str
    ) -> WebSocketClientConnection:
        """Connect to a kernel, by default the student's own, in place of the connection before."""
        if self.socket:
            self.socket.close()
        url = f"{self.base}api/kernels/{kernel_id or self.kernel_id}/channels"
        request = HTTPRequest(
            f"{url.replace('http', 'ws', 1)}?session_id={uuid.uuid4().hex}",
            headers={"Cookie": self.cookie, "Origin": self.base.rstrip("/"), **headers},
        )
        self.socket = await websocket_connect(
            request, max_message_size=100 << 20, subprotocols=subprotocols
        )
        return self.socket

    async def send(self, kind: str, content: dict[str, Any], channel: str = "shell") -> str:
        """Send a message of Jupyter's; return its number."""
        assert self.socket
        number = uuid.uuid4().hex
        header = {
            "msg_id": number, "msg_type": kind, "username": "", "session": "s", "version": "5.3",
            "date": "2026-01-01T00:00:00Z",
        }  # fmt: skip
        message = {
            "header": header, "parent_header": {}, "metadata": {"version": "1.0.0"},
            "content": content, "channel": channel, "buffers": [],
        }  # fmt: skip
        await self.socket.write_message(json.dumps(message))
        return number

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None at the end."""
        assert self.socket
        got = await self.socket.read_message()
        if isinstance(got, bytes):  # the number of parts, where each begins, the parts
            first = int.from_bytes(got[4:8], "big")
            got = got[first : int.from_bytes(got[8:12], "big") or None].decode()
        message: dict[str, Any] | None = None if got is None else json.loads(got)
        return message

    async def widgets(self) -> dict[str, Any]:
        """Ask for the state of all widgets, as Voila's page does when it has loaded."""
        comm = uuid.uuid4().hex
        opened = {"comm_id": comm, "target_name": "jupyter.widget.control", "data": {}}
        await self.send("comm_open", opened)
        asked = {"comm_id": comm, "data": {"method": "request_states"}}
        await self.send("comm_msg", asked)
        while message := await self.receive():
            content = message["content"]
            if message["msg_type"] == "comm_msg" and content["comm_id"] == comm:
                states: dict[str, Any] = content["data"]["states"]
                return states
            if message["msg_type"] == "comm_close":
                break
        return {}

    def leave(self) -> None:
        """Close the page without a word, as a browser that crashes."""
        if self.socket:
            cut(self.socket)
        self._http.close()


def cut(socket: WebSocketClientConnection) -> None:
    """Close a connection at once: a loop that ends would not hear the server's answer."""
    if socket.protocol:
        stream = socket.protocol.stream
        socket.close()
        stream.close()
