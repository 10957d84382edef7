"""The samples of a run as a file for the reader, and such a file opened again."""

from __future__ import annotations

import base64
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import ipywidgets

from netcalc import readers
from netcalc.congestion.recording import Recording, as_table
from netcalc.errors import ReaderError
from netcalc.language import phrase
from netcalc.printable import html_text
from netcalc.samples import Samples, loads
from netcalc.widgets.guess import Prediction
from netcalc.widgets.panel import Message
from netcalc.widgets.upload import MAX_BYTES, Upload

MAX_RUNS = 100
"""Runs in one file, at most."""


class Keep(ipywidgets.VBox):
    """A link that saves the samples of a run, and a field that opens them again.

    The file goes to the reader's own machine by the browser: nothing is written where the kernel
    runs. One run is a file as :meth:`netcalc.samples.Samples.save` writes it; several runs of one
    button are such files in a zip.

    Parameters
    ----------
    done : callable
        Called with the opened samples, or a list of them.
    key : str
        The name of the button's experiment, for the file's name.
    tool : str
        What ``meta.tool`` of samples must be to be opened here; with none no field is shown.
    several : bool
        Whether a result is several runs.
    """

    def __init__(
        self, done: Callable[[Any], object], *, key: str, tool: str = "", several: bool = False
    ) -> None:
        self._done, self._key, self._tool, self._several = done, key, tool, several
        self.prediction: Prediction | None = None
        self.link = Message()
        self.field = Upload(
            "Open saved samples", self._open, read=self._read, say=self._origin, accept=".gz,.json"
        )  # fmt: skip
        if several:
            self.field.field.accept = ".zip"
        children = [self.link, self.field] if tool else [self.link]
        super().__init__(children, layout=ipywidgets.Layout(width="100%"))

    def saved_text(self) -> str:
        """Return nothing: the samples themselves are not part of the notebook."""
        return ""

    def offer(self, result: Any, *, is_new: bool = True) -> None:
        """Put the samples of a result into the link, a new one with the reader's guess."""
        runs = runs_of(result)
        if not any(map(len, runs)):
            self.link.say("")
            return
        if is_new and self.prediction is not None and (guess := self.prediction.stored()):
            runs = [replace(run, meta=replace(run.meta, guess=guess)) for run in runs]  # type: ignore[type-var]
        many = self._several or len(runs) > 1
        data = _zip(runs, self._key) if many else gzip.compress(runs[0].dumps(), mtime=0)
        ending, kind = ("zip", "zip") if many else ("json.gz", "gzip")
        start = re.sub(r"[^0-9T]", "", runs[0].meta.start[:19]).replace("T", "-")
        name = f"{_slug(self._key)}-{start or 'run'}.{ending}"
        text = base64.b64encode(data).decode()
        label = html_text(phrase("Save these samples"))
        self.link.show(
            f'<a class="netcalc-save" download="{html_text(name)}" '
            f'href="data:application/{kind};base64,{text}">{label}</a> '
            f'<span class="netcalc-note">({len(data) / 1000:.3g} kB, {html_text(name)})</span>'
        )

    def _read(self, data: bytes, name: str) -> Any:
        runs = _unzip(data, name, self._key) if self._several else [readers.read(data, name=name)]
        for run in runs:
            # Packet trains had a blank in their tool's name before; their files are still read.
            if run.meta.tool.replace("packet trains", "packet-trains") != self._tool:
                raise ReaderError(
                    "other-experiment",
                    file=name,
                    value=run.meta.tool or type(run).__name__,
                    expected=self._tool,
                )
        return runs if self._several else runs[0]

    def _open(self, result: Any) -> None:
        self._done(result)
        guess = runs_of(result)[0].meta.guess
        if self.prediction is not None and guess:
            self.prediction.restore(guess)
        self.offer(result, is_new=False)

    def _origin(self, result: Any) -> str:
        start = runs_of(result)[0].meta.start[:19].replace("T", " ")
        return phrase("Measured {start} UTC.", start=start) if start else ""


def runs_of(result: Any) -> list[Samples]:
    """Return the samples of a result: one run, or several, also within tuples."""
    if isinstance(result, Samples):
        return [result]
    if isinstance(result, Recording):
        return [as_table(result)]
    if isinstance(result, str) or not isinstance(result, Sequence):
        return []
    return [run for part in result for run in runs_of(part)]


def _zip(runs: list[Samples], key: str) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = key.encode()
        for number, run in enumerate(runs, 1):
            archive.writestr(f"{_slug(key)}-{number:02d}.json", run.dumps())
    return whole.getvalue()


def _unzip(data: bytes, name: str, key: str) -> list[Samples]:
    """Return the runs of a zip that a button of this key made."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = sorted(archive.infolist(), key=lambda part: part.filename)
            size = sum(part.file_size for part in parts)
            if archive.comment != key.encode() or not parts:
                raise ReaderError("other-experiment", file=name, expected=key)
            if len(parts) > MAX_RUNS or size > 4 * MAX_BYTES:
                raise ReaderError("runs-too-large", file=name, size_bytes=size)
            return [loads(archive.read(part), file=f"{name}, {part.filename}") for part in parts]
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError) as error:
        if isinstance(error, ReaderError):
            raise
        raise ReaderError("not-saved-runs", file=name) from error


def _slug(key: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-") or "run"
