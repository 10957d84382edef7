"""What the panels of lesson 12 share: one network, whose numbers go from step to step."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from functools import partial
from threading import Lock, Timer
from typing import Any

import ipywidgets

from netcalc import fit
from netcalc.errors import ReaderError
from netcalc.language import term
from netcalc.models.users.growth import YEAR_S
from netcalc.planning import Plan
from netcalc.planning.link import SIZES_BPS
from netcalc.rate_layers import IN_HEADING, LINE, named
from netcalc.samples import RttSamples
from netcalc.uncertain import Known, uniform
from netcalc.units import parse, show, show_rate
from netcalc.widgets.controls import Quantity, choice, switch
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel

LAG_S = 0.3
"""Time without a change after which the other panels follow one whose slider moves. [s]"""
HORIZON_S = 3.0 * YEAR_S
"""Time for which the line must be enough. [s]"""
TARGET_UTILIZATION = 0.8
"""Utilization at which a line counts as full. [ratio]"""
MOST_LINES = 4
MOST_DIGITS = 6
"""Digits of the numbers in boxes and commands. [1]"""
SPREADS = {
    "user_count": ("users ±", 0.2),
    "user_bps": (term("rate of a user ±"), 0.2),
    "active_ratio": (term("active share ±"), 0.2),
    "annual_growth": ("growth ±", 0.4),
}
"""Inputs of the line that are known as ranges: label, and half of the range over its middle."""
_POSSIBLE = {"user_count": (1.0, math.inf), "active_ratio": (0.0, 1.0)}
"""Where a range ends at the latest."""
_START: dict[str, Any] = {
    "payload_bytes": 1e9,
    "window_bytes": 65_536.0,
    "loss_ratio": 1e-5,
    "user_count": 120.0,
    "user_bps": 2e6,
    "active_ratio": 0.1,
    "quantile": 0.95,
    "annual_growth": 0.25,
    "bandwidth_bps": 100e6,
    "link_count": 2,
    "is_spared": True,
    **{f"{name}_spread": start for name, (_, start) in SPREADS.items()},
}


class Story:
    """The numbers of one network, and the panels that show them.

    A value that a panel changes goes to the other panels that need it, once it has not changed for
    a moment.

    Parameters
    ----------
    ping : RttSamples
        Round trips over the line of today.
    start : datetime.date
        Day on which the users are counted.
    """

    def __init__(self, ping: RttSamples, *, start: date) -> None:
        self.start, self.ping = start, ping
        self.values: dict[str, Any] = {**_START, **path_of(ping)}
        self.values.setdefault("line_bps", 100e6)
        self.plans: dict[tuple[Any, ...], Plan] = {}  # the latest two, by the values they are of
        self._panels: dict[int, tuple[Panel, Collection[str]]] = {}
        self._changed: dict[str, Panel] = {}
        self._told: dict[tuple[str, Panel], Any] = {}
        self._timer: Timer | None = None
        self._lock = Lock()

    def panel(
        self,
        figure: Figure,
        names: Sequence[str],
        update: Callable[..., None],
        *,
        step: int,
        needs: Collection[str] = (),
        more: Mapping[str, ipywidgets.Widget] | None = None,
        below: Sequence[ipywidgets.Widget] = (),
    ) -> Panel:
        """Return a panel with controls for some of the values.

        Parameters
        ----------
        figure : Figure
            The figure.
        names : sequence of str
            Values that it has controls for.
        update : callable
            Draws the figure from ``values``; it gets those of ``more`` by name.
        step : int
            Number of the step; of two panels of one step the newer one follows.
        needs : collection of str
            Values of other panels that it follows.
        more : mapping of str to ipywidgets.Widget, optional
            Controls of its own.
        below : sequence of ipywidgets.Widget
            What is below the figure.
        """
        shared = {name: _control(name, self.values[name]) for name in names}
        own: list[Panel] = []
        for name, control in shared.items():  # before the panel, which then draws the new value
            control.observe(
                lambda change, name=name: self._moved(name, change["new"], own), "value"
            )
        made = panel(
            figure, {**shared, **(more or {})}, partial(_without, shared, update), below=below
        )
        own.append(made)
        self._panels[step] = (made, {*names, *needs})
        return made

    def take_ping(self, ping: RttSamples, by: Panel) -> None:
        """Put another ping in place of the first one, and what it says in place of the path."""
        found = path_of(ping)
        self.ping = ping
        self.values.update(found)
        self._note(found, by)

    def settle(self) -> None:
        """Bring the panels up to date now that others have changed."""
        with self._lock:
            changed, self._changed, self._timer = self._changed, {}, None
        for one, needs in self._panels.values():
            others = {name for name, by in changed.items() if name in needs and by is not one}
            if not others:
                continue
            late = [
                name
                for name in others & one.controls.keys()
                if one.controls[name].value != self.values[name]
            ]
            for name in late:
                self._told[name, one] = self.values[name]
                one.controls[name].value = self.values[name]
            if not late:
                one.refresh()

    def _moved(self, name: str, value: Any, own: Sequence[Panel]) -> None:
        """Take a value of a control, unless the control only followed another one."""
        by = own[0]
        if self._told.pop((name, by), None) == value:
            return
        self.values[name] = value
        self._note({name}, by)

    def _note(self, names: Collection[str], by: Panel) -> None:
        with self._lock:
            self._changed.update(dict.fromkeys(names, by))
            if self._timer is not None:
                self._timer.cancel()
            self._timer = Timer(LAG_S, self.settle)
            self._timer.daemon = True
            self._timer.start()

    def link(self) -> dict[str, Any]:
        """Return the arguments of :func:`netcalc.planning.link`, without ranges."""
        wanted = (*SPREADS, "quantile", "bandwidth_bps", "link_count")
        return {
            **{name: self.values[name] for name in wanted},
            "failed_count": int(self.values["is_spared"]),
            "horizon_s": HORIZON_S,
            "target_utilization": TARGET_UTILIZATION,
        }

    def ranges(self) -> dict[str, Known]:
        """Return the inputs of the line as ranges around their values, each value alike."""
        found: dict[str, Known] = {}
        for name in SPREADS:
            middle, share = self.values[name], self.values[f"{name}_spread"]
            least, most = _POSSIBLE.get(name, (0.0, math.inf))
            low, high = max(middle * (1.0 - share), least), min(middle * (1.0 + share), most)
            found[name] = uniform(low, high) if low < high else middle
        return found

    def transfer(self) -> dict[str, Any]:
        """Return the arguments of :func:`netcalc.planning.transfer` but for the line."""
        return {name: self.values[name] for name in ("payload_bytes", "rtt_s", "window_bytes")}


def _without(names: Collection[str], update: Callable[..., None], **given: Any) -> None:
    """Draw with the values of a panel's own controls: the shared ones are in the story."""
    update(**{name: value for name, value in given.items() if name not in names})


def path_of(ping: RttSamples) -> dict[str, float]:
    """Return the round trip of an idle path, and its rate where probes of several sizes tell it.

    Raises
    ------
    ReaderError
        If no probe was answered with a time.

    Examples
    --------
    >>> path_of(RttSamples(payload_bytes=[56, 56], rtt_s=[0.031, 0.03]))
    {'rtt_s': 0.03}
    """
    _, least_s = ping.minima()
    if not least_s.size:
        raise ReaderError(
            "no-sizes-and-times", file=ping.meta.source or "this file", expected="a ping"
        )
    line = fit.rtt_against_size(ping).params
    found = {"rtt_s": float(line["base_rtt_s"])}
    if not found["rtt_s"] > 0.0:
        found["rtt_s"] = float(least_s.min())
    if 0.0 < line["bandwidth_bps"] < math.inf:
        found["line_bps"] = float(line["bandwidth_bps"])
    return found


def _control(name: str, value: Any) -> ipywidgets.Widget:
    """Return the control of a value."""
    if name == "bandwidth_bps":
        rates = {show_rate(rate, IN_HEADING): rate for rate in SIZES_BPS}
        return choice(named("each line bought", LINE), rates, value)
    if name == "link_count":
        return choice("lines", {str(n): n for n in range(1, MOST_LINES + 1)}, value)
    if name == "is_spared":
        return switch("one of them may fail (N-1)", value)
    if name.endswith("_spread"):
        label, _ = SPREADS[name.removesuffix("_spread")]
        return Quantity(label, value, unit="ratio", low=0.0, high=0.9, scale="linear")
    one = _QUANTITIES[name]
    text = text_of(value, one["unit"])
    return Quantity(**one, start=text if parse(text, one["unit"]) == value else value)


def text_of(value: float, unit: str) -> str:
    """Write a number so that it is read back with six digits: 64 KiB rather than 65.536 kB.

    Examples
    --------
    >>> text_of(65536, "byte"), text_of(10.0933e-3, "s")
    ('64 KiB', '10.0933 ms')
    """
    short = show(value, unit)
    return short if parse(short, unit) == value else show(value, unit, digits=MOST_DIGITS)


_QUANTITIES: dict[str, dict[str, Any]] = {
    "payload_bytes": {"label": "transfer", "unit": "byte", "low": "1 kB", "high": "100 TB"},
    "line_bps": {"label": "line", "unit": "bit/s", "low": "10 kbit/s", "high": "400 Gbit/s"},
    "rtt_s": {"label": term("round trip"), "unit": "s", "low": "10 us", "high": "2 s"},
    "window_bytes": {"label": "window", "unit": "byte", "low": "4 KiB", "high": "1 GiB"},
    "loss_ratio": {"label": "loss", "unit": "ratio", "low": 1e-7, "high": 0.1},
    "user_count": {"label": "users", "unit": "1", "low": 1.0, "high": 1e4, "whole": True},
    "user_bps": {
        "label": term("rate of a user"), "unit": "bit/s", "low": "10 kbit/s", "high": "1 Gbit/s",
    },
    "active_ratio": {"label": term("active share"), "unit": "ratio", "low": 0.001, "high": 1.0},
    "quantile": {
        "label": "percentile", "unit": "ratio", "low": 0.5, "high": 0.9999, "scale": "linear",
    },
    "annual_growth": {
        "label": "growth a year", "unit": "ratio", "low": 0.0, "high": 1.0, "scale": "linear",
    },
}  # fmt: skip
