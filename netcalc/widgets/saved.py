"""What a saved notebook shows where no kernel runs: figures as pictures, controls as text.

A widget is shown by three outputs of its cell: the picture as SVG, a paragraph of HTML, and the
widget itself. Front ends, exports and code hosts show those they know. While the figure is drawn,
the style sheet hides the first two; where the widget is gone, it hides what is left of it.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import ipywidgets
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from netcalc.language import phrase
from netcalc.printable import html_text

LAG_S = 0.5
"""How long the figure rests before the picture and the text follow it: they would take the kernel
and the page from a slider that is dragged. [s]"""

# What remains of a widget without its model: a line of words, or its views without a figure.
_NEXT = ".jp-OutputArea-child:has(.netcalc-saved) + .jp-OutputArea-child"
_STYLE = f"""<style>
{_NEXT}:not(:has(.jp-OutputArea-output > *)),
{_NEXT}:has(.jupyter-widgets-disconnected):not(:has(.netcalc-drawn)) {{ display: none; }}
</style>"""


class SavedOutputs:
    """The picture and the text of one widget in the notebook's file.

    Parameters
    ----------
    picture : callable
        Returns the figure as SVG, or nothing while there is none.
    words : callable
        Returns the text of the figure.
    parts : callable
        Returns the widgets whose values are in the text.
    """

    def __init__(
        self,
        picture: Callable[[], str],
        words: Callable[[], str],
        parts: Callable[[], Iterator[ipywidgets.Widget]] = lambda: iter(()),
    ) -> None:
        self._picture, self._words, self._parts = picture, words, parts
        self._key = uuid.uuid4().hex  # of the outputs, wherever the widget is shown
        self._shown = False
        self._timer: threading.Timer | None = None
        self._due_s = 0.0  # by the monotonic clock

    def show(self) -> None:
        """Put the outputs below the cell that runs."""
        if not InteractiveShell.initialized():
            return
        self._shown = True
        for name, data in self.outputs().items():
            _display(data, display_id=f"{name}-{self._key}")

    def outputs(self) -> dict[str, dict[str, str]]:
        """Return the data of each output, by type."""
        words = self._words()
        values = [text for part in self._parts() for text in _texts(part)]
        plain = "".join(f"<li>{text}</li>" for text in values)
        html = f'{_STYLE}<div class="netcalc-saved"><p>{html_text(words)}</p><ul>{plain}</ul></div>'
        return {
            "picture": {**self.drawn(), "text/plain": words},
            "values": {"text/html": html, "text/plain": ""},
        }

    def drawn(self) -> dict[str, str]:
        """Return the picture by its type; nothing while there is none."""
        picture = self._picture()
        return {"image/svg+xml": picture} if picture else {}

    def renew(self) -> None:
        """Bring the outputs up to date soon: once for many steps of a slider."""
        self._due_s = time.monotonic() + LAG_S
        if self._shown and self._timer is None:
            self._timer = threading.Timer(LAG_S, self._update)
            self._timer.daemon = True
            self._timer.start()

    def _update(self) -> None:
        while (left_s := self._due_s - time.monotonic()) > 0:  # renewed meanwhile
            time.sleep(left_s)
        self._timer = None
        with suppress(Exception):  # the widget may be closed meanwhile, or the kernel end
            for name, data in self.outputs().items():
                _display(data, display_id=f"{name}-{self._key}", update=True)


def show_widget(bundle: Any) -> None:
    """Show a widget below its saved outputs; an export, which has those, shows nothing here."""
    data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
    _display({**data, "text/plain": ""}, metadata=metadata)


def _display(data: dict[str, Any], **options: Any) -> None:
    display(data, raw=True, **options)  # type: ignore[no-untyped-call]


def _texts(part: Any) -> Iterator[str]:
    """Return what a widget and those inside it say, as HTML."""
    if part.layout.display == "none" or part.has_trait("bar_style"):
        return
    label, value = getattr(part, "description", ""), getattr(part, "value", None)
    if hasattr(part, "saved_text"):
        yield from filter(None, [part.saved_text()])
    elif isinstance(part, ipywidgets.Box):
        for child in part.children:
            yield from _texts(child)
    elif isinstance(part, ipywidgets.HTML):  # of netcalc's own, which escapes what is not
        # Old news: a reader aloud is not to announce it.
        yield from filter(None, [re.sub(r' role="[a-z]+"', "", str(value))])
    elif isinstance(part, ipywidgets.Checkbox):
        yield f"{html_text(label)}: {html_text(phrase('yes' if value else 'no'))}"
    elif label and value not in (None, "") and not isinstance(part, ipywidgets.Button):
        yield f"{html_text(label)}: {html_text(str(getattr(part, 'label', None) or value))}"
