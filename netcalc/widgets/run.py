"""What hands results to a figure: a file of the user, and a button that runs an experiment.

The experiment runs in the background; its samples are a file, saved and opened again.
"""

from __future__ import annotations

import base64
import gzip
import io
import re
import threading
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import ipywidgets
import traitlets

from netcalc import experiments, readers
from netcalc.congestion.recording import Recording, as_table
from netcalc.errors import ExperimentError, ReaderError
from netcalc.experiments.running.stopping import turn
from netcalc.language import phrase
from netcalc.printable import excerpt, html_text
from netcalc.samples import Samples, loads
from netcalc.widgets.guess import Prediction
from netcalc.widgets.panel import Message, ResultSource
from netcalc.widgets.peer import PeerField

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
    """A field for a file of the user, and a message about the file that was read.

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
    say : callable, optional
        What is said about the samples; by default the reader's warnings.
    accept : str
        The endings of the files that the browser offers.
    """

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

    def _receive(self, _field: object, content: object, buffers: Sequence[memoryview]) -> None:
        """Take a message of the page; what its own program does not send is passed over."""
        match content:
            case {"kind": "refused", "name": str(name), "size": int() | float() as size} if (
                0 < size < 1 << 63
            ):
                self.message.blame(self._too_large(name, int(size)))
            case {"kind": "piece", "upload": str(upload), "name": str(name), "last": bool(last)}:
                self._take_piece(upload, name, buffers, is_last=last)

    def _take_piece(
        self, upload: str, name: str, buffers: Sequence[memoryview], *, is_last: bool
    ) -> None:
        if upload != self._upload:
            self._upload, self._data = upload, bytearray()
        for piece in buffers:
            self._data += piece
        if len(self._data) > self._max_bytes:
            self.message.blame(self._too_large(name, len(self._data)))
            self._data = bytearray()
        elif is_last:
            data, self._data = bytes(self._data), bytearray()
            self.take(data, name)

    def _too_large(self, name: str, size: int) -> ReaderError:
        return ReaderError(
            "upload-too-large", file=base_name(name), size_bytes=size, limit_bytes=self._max_bytes
        )


def _notes(samples: Samples) -> str:
    notes = "; ".join(map(str, samples.meta.warnings))
    return phrase("Note: {notes}.", notes=notes) if notes else ""


def base_name(name: str) -> str:
    """Return the last part of a file's name, whatever system it comes from, safe to show."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = excerpt(last, 120)
    return shown if shown.strip(". ") else "upload"


upload = Upload


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
    experiment : str
        What ``meta.experiment`` of samples must be to be opened here; with none no field is shown.
    several : bool
        Whether a result is several runs.
    """

    def __init__(
        self,
        done: Callable[[Any], object],
        *,
        key: str,
        experiment: str = "",
        several: bool = False,
    ) -> None:
        self._done, self._key, self._several = done, key, several
        self._experiment = experiment
        self.prediction: Prediction | None = None
        self.link = Message()
        self.field = Upload(
            "Open saved samples", self._open, read=self._read, say=self._origin, accept=".gz,.json"
        )  # fmt: skip
        if several:
            self.field.field.accept = ".zip"
        children = [self.link, self.field] if experiment else [self.link]
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
            if run.meta.experiment != self._experiment:
                raise ReaderError(
                    "other-experiment",
                    file=name,
                    value=run.meta.tool or type(run).__name__,
                    expected=f"netcalc {self._experiment.replace('_', '-')}",
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


STOP_LIMIT_S = 3.0
"""How long an older run is waited for; experiments end within a second of the order."""


class RunButton(ResultSource):
    """Run and stop buttons, a progress bar and a status line for one experiment.

    Below them are the measurement error of the run, a link that saves its samples, and a field
    that opens saved ones.

    The experiment works in a thread of its own. Only one runs in a kernel at a time, because two
    disturb each other's times: a new run ends the one before it first. Showing the same button
    again, by running its cell again, ends its old run too. ``start()`` and ``stop()`` are its two
    buttons, ``running`` says whether it is at work.

    Parameters
    ----------
    label : str
        The label of the button: ``"Ping this machine"``.
    run : callable
        Called in a thread as ``run(progress=..., stop=...)``: ``progress(done, total)`` moves the
        bar, ``stop`` is a :class:`threading.Event`. Experiments take both under these names. With
        a peer it is called with the arguments ``peer`` and, if there is a choice, ``direction``.
    done : callable
        Called with the result, also after a stop, and with the ``partial`` of an error.
    key : str
        What makes this the same experiment when its cell runs again; by default ``run``'s name.
    experiment : str
        The experiment whose saved samples can be opened here: ``"echo"``; with none, none can.
    several : bool
        Whether a result is a sequence of samples; they are saved together.
    peer : PeerField, optional
        The field for a peer on a second machine, below the buttons.
    """

    _current: ClassVar[RunButton | None] = None
    _turn: ClassVar[threading.Lock] = threading.Lock()

    def __init__(
        self,
        label: str,
        run: Callable[..., Any],
        done: Callable[[Any], object],
        *,
        key: str = "",
        experiment: str = "",
        several: bool = False,
        peer: PeerField | None = None,
    ) -> None:
        self.label, self.experiment, self.peer = phrase(label), experiment, peer
        self._run, self._done = run, done
        self._key = key or _name_of(run, label)
        self._stop = threading.Event()
        self._waiting_text = ""
        self._thread: threading.Thread | None = None
        self.start_button = ipywidgets.Button(
            description=self.label, button_style="primary",
            tooltip=phrase("Start: {label}", label=self.label),
            layout=ipywidgets.Layout(width="auto"),
        )  # fmt: skip
        self.stop_button = ipywidgets.Button(
            description=phrase("Stop"), disabled=True,
            tooltip=phrase("Stop: {label}", label=self.label),
            layout=ipywidgets.Layout(width="auto"),
        )  # fmt: skip
        self.progress = ipywidgets.FloatProgress(
            min=0, max=1, layout=ipywidgets.Layout(flex="1 1 120px", min_width="80px")
        )
        self.message, self.about = Message(), Message()
        self.keep = Keep(self._opened, key=key or label, experiment=experiment, several=several)
        self.keep.field.changed = lambda: self.changed()
        row = ipywidgets.HBox(
            [self.start_button, self.stop_button, self.progress],
            layout=ipywidgets.Layout(width="100%", align_items="center", flex_flow="row wrap"),
        )
        fields = [] if peer is None else [peer]
        super().__init__(
            [row, *fields, self.message, self.about, self.keep],
            layout=ipywidgets.Layout(width="100%"),
        )
        self.add_class("netcalc-run")
        if peer is not None:
            peer.inputs.observe(self._name_peer, "address")
        self.start_button.on_click(lambda _: self.start())
        self.stop_button.on_click(lambda _: self.stop())
        older = RunButton._current
        if older is not None and older._key == self._key:
            older.stop(wait=True)

    @property
    def running(self) -> bool:
        """Whether the experiment is at work."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the experiment; one that is at work is ended first."""
        with RunButton._turn:
            older = RunButton._current
            if older is not None and older.running:
                older.stop(wait=True)
                if older.running:
                    self.message.say(
                        phrase("Another experiment is still running; try again in a moment."),
                        alert=True,
                    )
                    return
            RunButton._current = self
            self._stop = threading.Event()
            self._waiting_text = ""
            self.start_button.disabled, self.stop_button.disabled = True, False
            self.progress.value, self.progress.bar_style = 0, ""
            self.message.say(phrase("running"))
            self._thread = threading.Thread(
                target=self.run_here, args=(self._stop,), name="netcalc experiment", daemon=True
            )
            self._thread.start()

    def stop(self, *, wait: bool = False) -> None:
        """Stop the experiment; the samples so far are kept."""
        self._stop.set()
        if self.running:
            self.message.say(phrase("stopping"))
            if wait and self._thread is not threading.current_thread():
                self._thread.join(STOP_LIMIT_S)  # type: ignore[union-attr]

    def run_here(self, stop: threading.Event) -> None:
        """Run the experiment, and return when it is done: in its thread, or for a page."""
        has_begun = False
        try:
            with turn(stop, self._say_waiting) as tell:
                if tell is not None:
                    has_begun = True
                    self.message.say(phrase("running"))
                    self._run_and_show(stop, tell)
        except Exception as error:
            partial = getattr(error, "partial", None)
            if partial is not None:
                with suppress(Exception):
                    self._show(partial)
            self.progress.bar_style = "danger"
            self.message.blame(error)
        else:
            self.progress.bar_style = "warning" if stop.is_set() else "success"
            if not has_begun:
                ended = phrase("stopped before its turn")
            elif stop.is_set():
                ended = phrase("stopped: the samples so far are kept")
            else:
                ended = phrase("done")
            self.message.say(ended)
        finally:
            self.start_button.disabled, self.stop_button.disabled = False, True
            self.changed()

    def _run_and_show(self, stop: threading.Event, tell: Callable[[float, float], object]) -> None:
        def advance(done: float, total: int, *_more: object) -> None:
            self.progress.max, self.progress.value = max(total, 1), done
            tell(done, total)

        where = {} if self.peer is None else self.peer.options()
        self._show(self._run(progress=advance, stop=stop, **where))

    def _name_peer(self, change: Mapping[str, Any]) -> None:
        """Say on the button where the run goes."""
        text = phrase("Run with {address}", address=excerpt(change["new"], 60))
        self.start_button.description = text if change["new"] else self.label

    def _say_waiting(self, before: int, wait_s: float) -> None:
        """Say how many have their turn before, and how long that may take; once for each text."""
        seconds = max(1, round(wait_s))
        text = phrase(
            "waiting: 1 other before you, about {seconds} s"
            if before == 1
            else "waiting: {count} others before you, about {seconds} s",
            count=before,
            seconds=seconds,
        )
        if text != self._waiting_text:
            self._waiting_text = text
            self.message.say(text)

    def _show(self, result: Any) -> None:
        self.about.say(_about(result))
        self.keep.offer(result)
        self.keep.field.message.say("")  # of a file that was opened before this run
        self.clear_others()
        self._done(result)

    def take_prediction(self, prediction: Prediction) -> None:
        """Save the reader's guess with a run, and show that of a run that is opened."""
        self.keep.prediction = prediction

    def clear_result(self) -> None:
        """Hide the measurement error, the samples and the progress of the last run."""
        for message in (self.about, self.keep.link, self.keep.field.message):
            message.say("")
        if not self.running:
            self.message.say("")
            self.progress.value = 0

    def _opened(self, result: Any) -> None:
        if self.running:
            raise ExperimentError("run-in-progress", phase="open")
        self._done(result)
        self.clear_others()
        self.about.say(_about(result))
        self.message.say("")


def _about(result: Any) -> str:
    """Return what kind of second machine a run was with, and its measurement error."""
    runs = runs_of(result)
    machines = [run.meta.instrument.peer_machine or {} for run in runs]
    names = dict.fromkeys(str(machine["host"]) for machine in machines if "host" in machine)
    said = [phrase("With a second machine: {name}.", name=name) for name in names]
    return " ".join([*said, experiments.measurement_error(*runs)])


def _name_of(run: Callable[..., Any], label: str) -> str:
    """Return what tells an experiment from others: all nameless functions have one name."""
    function = getattr(run, "func", run)  # of a partial one
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{function.__module__}.{name} {label if '<lambda>' in name else ''}".strip()


run_button = RunButton
