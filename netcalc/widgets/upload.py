"""A file chosen by the user, read and passed to a callback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from netcalc import readers
from netcalc.errors import ReaderError
from netcalc.language import phrase
from netcalc.printable import excerpt
from netcalc.samples import Samples
from netcalc.widgets.panel import Message, ResultSource

MAX_BYTES = 32 * 1024 * 1024
"""Largest file that is taken. [byte]"""


class FileField(anywidget.AnyWidget):
    """The field that sends a file in pieces; front ends' own sends it whole and breaks the line."""

    _esm = Path(__file__).with_name("upload.js")
    label = traitlets.Unicode().tag(sync=True)
    accept = traitlets.Unicode().tag(sync=True)
    max_bytes = traitlets.Int().tag(sync=True)
    failed = traitlets.Unicode().tag(sync=True)
    """What the page says of a file that it cannot read; it fills the braces."""


class Upload(ResultSource):
    """A file field, and a message about the file that was read."""

    def __init__(
        self,
        label: str,
        done: Callable[[Samples], object],
        *,
        read: Callable[[bytes, str], Samples] | None = None,
        max_bytes: int = MAX_BYTES,
        say: Callable[[Samples], str] | None = None,
        accept: str = "",
    ) -> None:
        self._done, self._say = done, say or _notes
        self._read = read or (lambda data, name: readers.read(data, name=name))
        self._upload, self._data = "", bytearray()
        self._max_bytes = max_bytes  # the field's own can be changed from the page
        self.field = FileField(
            label=phrase(label),
            failed=phrase("The file cannot be read: {reason}"),
            max_bytes=max_bytes,
            accept=accept,
        )
        self.message = Message()
        super().__init__([self.field, self.message], layout=ipywidgets.Layout(width="100%"))
        self.field.on_msg(self._receive)

    def take(self, data: bytes, name: str) -> None:
        """Read a file and hand over its samples, or say why not."""
        name = base_name(name)
        try:
            samples = self._read(data, name)
            self._done(samples)
        except Exception as error:
            self.message.blame(error)
            self.changed()
            return
        self.clear_others()
        said = phrase("Read {name}.", name=name)
        self.message.say(f"{said} {self._say(samples)}".strip())
        self.changed()

    def clear_result(self) -> None:
        """Hide the message about the last file."""
        self.message.say("")

    def _receive(
        self, _field: object, content: Mapping[str, Any], buffers: Sequence[memoryview]
    ) -> None:
        name = str(content.get("name", ""))
        if content.get("kind") == "refused":
            self.message.blame(self._too_large(name, int(content.get("size", 0))))
        if content.get("kind") != "piece":
            return
        if content.get("upload") != self._upload:
            self._upload, self._data = str(content.get("upload")), bytearray()
        for piece in buffers:
            self._data += piece
        if len(self._data) > self._max_bytes:
            self.message.blame(self._too_large(name, len(self._data)))
            self._data = bytearray()
        elif content.get("last"):
            data, self._data = bytes(self._data), bytearray()
            self.take(data, name)

    def _too_large(self, name: str, size: int) -> ReaderError:
        return ReaderError(
            "upload-too-large",
            file=base_name(name),
            size_bytes=size,
            limit_bytes=self._max_bytes,
        )


def _notes(samples: Samples) -> str:
    notes = "; ".join(map(str, samples.meta.warnings))
    return phrase("Note: {notes}.", notes=notes) if notes else ""


def base_name(name: str) -> str:
    """Return the last part of a file's name, whatever system it comes from, safe to show."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = excerpt(last, 120)
    return shown if shown.strip(". ") else "upload"


def upload(
    label: str,
    done: Callable[[Samples], object],
    *,
    read: Callable[[bytes, str], Samples] | None = None,
    max_bytes: int = MAX_BYTES,
) -> Upload:
    """Offer to read a file chosen by the user.

    Parameters
    ----------
    label : str
        The label of the field: ``"Your own ping file"``.
    done : callable
        Called with the samples.
    read : callable, optional
        ``read(data, name)``; by default :func:`netcalc.readers.read`.
    max_bytes : int
        Larger files are refused before they are read. [byte]

    Returns
    -------
    Upload
        The widget to show.
    """
    return Upload(label, done, read=read, max_bytes=max_bytes)
