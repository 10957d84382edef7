"""The field for a peer on a second machine: its address, its token, and the direction of the data.

The token is in no trait and in no error: what the page shows, a notebook saves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import ipywidgets
import traitlets

from netcalc.errors import NetcalcError
from netcalc.experiments.peers.remote import FarPeer, peer_at
from netcalc.language import phrase, term
from netcalc.printable import html_text
from netcalc.widgets.controls import Quantity
from netcalc.widgets.panel import Message

DIRECTIONS = {"forward": term("to it"), "back": term("from it"), "both": term("both at once")}
"""Directions of an experiment with a peer, as the field names them."""


class PeerInputs(anywidget.AnyWidget):
    """The inputs of the page, folded until they are asked for."""

    _esm = Path(__file__).with_name("peer.js")
    _css = Path(__file__).with_name("peer.css")
    address = traitlets.Unicode().tag(sync=True)
    direction = traitlets.Unicode("forward").tag(sync=True)
    directions = traitlets.Dict().tag(sync=True)
    """Texts of the directions."""
    has_token = traitlets.Bool(False).tag(sync=True)
    words = traitlets.Dict().tag(sync=True)


class PeerField(ipywidgets.VBox):
    """A field for a peer on a second machine, with which an experiment runs instead of this one.

    Parameters
    ----------
    without : sequence of ipywidgets.Widget
        Controls that do not go with a peer: they are off as long as there is an address.
    directions : sequence of str
        Directions that the experiment has, of :data:`DIRECTIONS`; with none it takes none.
    """

    _tokens: ClassVar[dict[str, str]] = {}  # by address: typed once for all panels of a kernel

    def __init__(
        self, *, without: Sequence[ipywidgets.Widget] = (), directions: Sequence[str] = ()
    ) -> None:
        self._without = without
        self.inputs = PeerInputs(
            directions={name: phrase(DIRECTIONS[name]) for name in directions},
            words={
                "title": phrase("With a second machine"),
                "address": phrase("address"),
                "token": phrase("token"),
                "direction": phrase("direction"),
                "has_token": phrase("known until the kernel ends"),
                "help": phrase("On the other machine, netcalc peer --listen all shows both."),
            },
        )
        self.message = Message()
        super().__init__([self.inputs, self.message], layout=ipywidgets.Layout(width="100%"))
        self.inputs.on_msg(self._receive)
        self.inputs.observe(self._moved, "address")

    @property
    def address(self) -> str:
        """The address that was typed; empty for a run on this machine."""
        return self.inputs.address.strip()

    def saved_text(self) -> str:
        """Return the address as text, for a notebook without a kernel."""
        shown = phrase("second machine: {address}", address=self.address)
        return html_text(shown) if self.address else ""

    def peer(self) -> FarPeer | None:
        """Return the peer; None where no address was typed.

        Raises
        ------
        NetcalcError
            If that is no address, or the token is none.
        """
        return (
            peer_at(self.address, token=self._tokens.get(self.address, ""))
            if self.address
            else None
        )

    def options(self) -> dict[str, Any]:
        """Return the arguments of an experiment: nothing for a run on this machine."""
        peer = self.peer()
        if peer is None:
            return {}
        has_direction = bool(self.inputs.directions)
        return {"peer": peer, **({"direction": self.inputs.direction} if has_direction else {})}

    def _receive(self, _inputs: object, content: Mapping[str, Any], _buffers: object) -> None:
        self._tokens[self.address] = str(content.get("token", ""))
        self._check()

    def _moved(self, _change: object) -> None:
        if self.address and "" in self._tokens:  # a token that was typed before its address
            self._tokens[self.address] = self._tokens.pop("")
        for control in self._without:
            _switch_off(control, bool(self.address))
        self._check()

    def _check(self) -> None:
        """Say what is wrong with the address or the token, and which controls are off."""
        self.inputs.has_token = self.address in self._tokens
        try:
            self.peer()
        except NetcalcError as error:
            if self.inputs.has_token or error.code != "no-token":  # else it is typed next
                self.message.say(str(error), alert=True)
                return
        names = [
            control.label if isinstance(control, Quantity) else control.description
            for control in self._without
        ]
        said = phrase("Not with a second machine: {names}.", names=", ".join(names))
        self.message.say(said if self.address and names else "")


def _switch_off(control: ipywidgets.Widget, is_off: bool) -> None:
    if control.has_trait("disabled"):
        control.disabled = is_off
    for part in getattr(control, "children", ()):
        _switch_off(part, is_off)
