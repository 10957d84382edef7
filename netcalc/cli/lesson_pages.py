"""What a notebook server of lessons loads: its pages in Voila, and the web socket to the kernels.

A page has the title and the question of its lesson, and the ways to the lessons before and after.
The web socket is prompt, and judges messages first.

Prompt: after a slider has moved, the kernel answers with several small messages: busy, an echo, the
columns of the figure. Tornado leaves Nagle's algorithm on, so all but the first wait for an
acknowledgement that the browser delays by up to 40 ms: the stall of the lesson on small writes, in
the lesson itself. With this class the 95th percentile from slider to picture fell from 98 to 70 ms
in JupyterLab and from 84 to 49 ms in Voila (two busy cores, headless Chromium).

Judged: Jupyter's server was written for a browser of its owner, and believes the number and the
places of the parts that a message states of itself. One process serves a whole class.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import stat
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
import nbformat
from jinja2.bccache import Bucket
from jinja2.ext import Extension
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

from netcalc.language import notebooks
from netcalc.lessons.site.html import without_cells
from netcalc.printable import excerpt, printable

_LESSON = re.compile(r"\d\d[a-z]?_")
_TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)
_QUESTION = re.compile(r"^\*\*(.+?)\*\*$", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(r"[*`$\\]")
_HOST = re.compile(r"[\w.-]+(:\d+)?", re.ASCII)
_WRITTEN = ("window.voila_heartbeat()", "window.netcalc_ended()")
"""Scripts of a page that are not its template's: a sign of life of Voila's, and an end of ours."""
_MOST_BYTES, _MOST_TEXT, _MOST_TITLE = 8 << 20, 2000, 200
"""Largest notebook that is read for its title [byte], where that is looked for, and its length."""
_LATE_S = 30
"""After so long a page says that its kernel has not started. [s]"""
KEEP_ALIVE_S = 5
"""How often a page that waits says so: it is how it knows that the kernel does not start. [s]"""


def listed(folder: Path) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the lessons of a folder in their order, and its other notebooks.

    Each has its file's ``name``, its ``title`` and one ``sentence``, which may be empty.
    """
    lessons: list[dict[str, str]] = []
    others: list[dict[str, str]] = []
    for file in sorted(folder.glob("*.ipynb")):
        with suppress(OSError, UnicodeError):  # a link that leads nowhere; a name that is no text
            state = file.stat()
            if stat.S_ISREG(state.st_mode) and not file.name.encode().startswith(b"."):
                title, sentence = _described(file, state.st_mtime_ns)
                entry = {"name": file.name, "title": title, "sentence": sentence}
                (lessons if _LESSON.match(file.name) else others).append(entry)
    return lessons, others


@lru_cache(maxsize=256)
def _described(file: Path, changed_ns: int) -> tuple[str, str]:
    """Return the title and the question of a notebook; its name if it is not read.

    Whoever lists a folder waits for each of its notebooks, so a large one is not read.
    """
    plain = excerpt(file.stem.replace("_", " "), _MOST_TITLE)
    try:
        if file.stat().st_size > _MOST_BYTES:
            return plain, ""
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(c["source"]) for c in cells[:1] if c["cell_type"] == "markdown")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return plain, ""
    text = text[:_MOST_TEXT]
    title, question = _TITLE.search(text), _QUESTION.search(text)
    sentence = _MARKS.sub("", question[1]).replace("\n", " ") if question else ""
    named = excerpt(_MARKS.sub("", title[1]).strip(), _MOST_TITLE) if title else plain
    return named, printable(sentence)


def prepare_page(handler: Any, **arguments: Any) -> None:
    """Prepare the page of a lesson: what Voila calls before it runs the first cell.

    Reading the token sets the cookie without which the page's call to end its kernel is refused.
    The list of lessons sets it too, but a lesson may be opened by its own address. A notebook that
    is none is refused here: what fails in the middle of a page leaves it loading for ever.
    """
    _ = handler.xsrf_token
    nbformat.validate(arguments["notebook"])
    nonce = secrets.token_urlsafe(16)
    handler.set_header("Content-Security-Policy", policy(nonce, handler.request.host))
    arguments["notebook"].metadata["netcalc_nonce"] = nonce
    root = Path(handler.settings["contents_manager"].root_dir)
    prepare(arguments["notebook"], root / handler.path_args[0].strip("/"), root)


def policy(nonce: str, host: str) -> str:
    """Return the content policy of a page of a lesson: scripts of its own, nothing from elsewhere.

    Its own are those of the server, those that the templates and figures mark with the nonce, the
    two of ``_WRITTEN``, and the modules of widgets, which anywidget loads from blobs. What a text
    or an output brings along does not run. Safari before version 16 takes no web socket for one of
    'self', so those of the page's own host are named, if it is not an IPv6 address.
    """
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    written = " ".join(f"'sha256-{_hash(script)}'" for script in _WRITTEN)
    return (
        "default-src 'self'; "
        f"connect-src 'self'{sockets}; "
        f"script-src 'self' blob: 'nonce-{nonce}' {written}; script-src-attr 'none'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
        "media-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'self'"
    )


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def prepare(notebook: Any, file: Path, root: Path) -> None:
    """Give a notebook what its page shows around it, and leave out what is about cells.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        The notebook; its texts and its metadata are changed.
    file : pathlib.Path
        Where it is.
    root : pathlib.Path
        The folder that is served.
    """
    lessons, _ = listed(file.parent)
    names = [lesson["name"] for lesson in lessons]
    ways: dict[str, dict[str, str]] = {}
    if file.name in names:
        at = names.index(file.name)
        if at:
            ways["previous"] = lessons[at - 1]
        if at + 1 < len(lessons):
            ways["next"] = lessons[at + 1]
    title, _ = _described(file, file.stat().st_mtime_ns)
    notebook.metadata["title"] = title
    notebook.metadata["netcalc_ways"] = ways
    notebook.metadata["netcalc_words"] = notebooks.words()
    notebook.metadata["netcalc_late_s"] = _LATE_S
    folder = file.parent.relative_to(root).as_posix()
    notebook.metadata["netcalc_folder"] = "" if folder == "." else folder
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = without_cells(cell.source)


class _Compiled(jinja2.BytecodeCache):
    """Templates as they were compiled, by name and checksum."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template what it was compiled to before."""
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what a template was compiled to."""
        self._kept[bucket.key, bucket.checksum] = bucket.code


_compiled = _Compiled()


class CompiledOnce(Extension):
    """Lets an environment of templates use what others have compiled."""

    def __init__(self, environment: jinja2.Environment) -> None:
        super().__init__(environment)
        environment.bytecode_cache = _compiled


def compile_templates_once() -> None:
    """Compile each template of Voila's pages once, and not for each page.

    Nobody else is served meanwhile: 0.13 s of processor time for each page.
    """
    from nbconvert.exporters import templateexporter  # late: it is for pages alone

    name = f"{CompiledOnce.__module__}.{CompiledOnce.__name__}"
    if name not in templateexporter.JINJA_EXTENSIONS:
        templateexporter.JINJA_EXTENSIONS.append(name)


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
OF_WIDGETS = ("comm_open", "comm_msg", "comm_close", "comm_info_request", "kernel_info_request")
"""Messages that a page of widgets sends to its kernel: open, tell and close a widget, ask which
there are, and ask, when it connects, which protocol the kernel speaks. All go to ``shell``.
"""


class PromptConnection(ZMQChannelsWebsocketConnection):
    """Jupyter's own connection, with ``TCP_NODELAY``; a malformed message ends it, and no more."""

    def connect(self) -> Any:
        """Connect the socket to the kernel."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()

    def handle_incoming_message(self, incoming_msg: str | bytes) -> None:
        """Hand a message to the kernel, or close the connection that sent what is none."""
        try:
            channel, kind = read_message(incoming_msg, is_v1=self.subprotocol == _V1)
            # Voila's pages are of widgets; JupyterLab's owner may do all that Jupyter does.
            is_limited = bool(self.multi_kernel_manager.allowed_message_types)
            if is_limited and (channel != "shell" or kind not in OF_WIDGETS):
                self.log.error("Message %.60r to %s dropped%s", kind, channel, self._sender())
                return
            super().handle_incoming_message(incoming_msg)
        except Exception as error:
            # Whatever the server stumbles over is what this message holds: its sender alone pays.
            size, sender = len(incoming_msg), self._sender()
            self.log.error("Message of %d bytes refused%s: %.200r", size, sender, error)
            self.websocket_handler.close(_INVALID_DATA, _REASON)

    def _sender(self) -> str:
        user = self.websocket_handler.current_user
        return f", from {user.name!r}" if user else ""


def read_message(message: str | bytes, *, is_v1: bool) -> tuple[str, str]:
    """Return the channel and the type of a message.

    Raises
    ------
    Exception
        Where a message is malformed, or costs the server more than its sender.
    """
    parts = [message] if isinstance(message, str) and not is_v1 else _parts(message, is_v1=is_v1)
    read = parts[1:4] if is_v1 else parts[:1]  # header, parent and metadata; or all of it
    if any(len(part) > _MOST_READ for part in read):
        raise ValueError(f"a part of {max(map(len, read))} to be read")
    if is_v1:
        channel, header = str(parts[0], "ascii"), json.loads(parts[1])  # type: ignore[arg-type]
    else:
        whole = json.loads(parts[0])
        channel, header = whole.get("channel") or "shell", whole["header"]
    if channel not in _CHANNELS:
        raise ValueError(f"channel {channel!r}")
    return channel, header["msg_type"]


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
