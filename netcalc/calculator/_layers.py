"""Layers of rates in questions and answers, and lines by name.

A line's name is its gross rate; a formula for what runs inside it takes its payload rate, and the
answer says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from netcalc import units
from netcalc.errors import DoubtWarning, UnitError, tell_doubts
from netcalc.rate_layers import ETHERNET_LINE, INSIDE_LINES, LINK_LAYERS, SAME_AS, UNKNOWN
from netcalc.units import NamedLine

if TYPE_CHECKING:
    from netcalc.calculator._formula import Formula


def named_line(text: str) -> NamedLine | None:
    """Return the line that a text names, and nothing besides.

    Examples
    --------
    >>> named_line("OC-3").exact_bps, named_line("10 Mbit/s"), named_line("T1 payload")
    (155520000.0, None, None)
    """
    try:
        return units.line(text)
    except UnitError:
        return None


def rate_of_line(line: NamedLine, layer: str) -> float:
    """Return what a line's name is worth at a layer, and say so where it is not the gross rate.

    Examples
    --------
    >>> from netcalc.errors import doubts
    >>> with doubts() as said:
    ...     rate_of_line(units.line("OC-3"), "cells"), rate_of_line(units.line("OC-3"), "payload")
    (149760000.0, 155520000.0)
    >>> print(said[0])
    OC-3 counts as 149.8 Mbit/s (cells), of 155.5 Mbit/s (line)
    """
    gross = units.show(line.exact_bps, "bit/s")
    if layer in INSIDE_LINES:
        values = {"line": line.name, "rate": units.show(line.payload_bps, "bit/s"), "gross": gross}
        tell_doubts([DoubtWarning("line-of-payload", layer=layer, **values)])
        return line.payload_bps
    if layer == ETHERNET_LINE or "link_layer" in layer:
        carried = units.show(line.payload_bps, "bit/s")
        values = {"line": line.name, "rate": gross, "payload": carried}
        tell_doubts([DoubtWarning("line-as-ethernet", **values)])
    return line.exact_bps


def layer_of(wanted: Formula, arguments: Mapping[str, Any]) -> str:
    """Return the layer of a formula's result, which may be that of one of its arguments.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> layer_of(formula("tcp_goodput_bps"), {}), layer_of(formula("max_min_bps"), {})
    ('TCP payload', 'layer of capacity')
    """
    return layer_text(wanted, wanted.layer, arguments)


def layer_text(wanted: Formula, layer: str, arguments: Mapping[str, Any]) -> str:
    """Return a layer as people read it: that of an argument by its value or its name."""
    if not layer.startswith(SAME_AS):
        return layer
    *others, last = map(wanted.parameter, layer.removeprefix(SAME_AS).split(" or "))
    parameter = last if arguments.get(last.name) is not None or not others else others[0]
    if parameter.kind == "choice":
        return LINK_LAYERS[arguments.get(parameter.name, parameter.default)]
    return parameter.layer or SAME_AS + parameter.short_name


def layers(wanted: Formula, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the layer of each argument that is a rate, by its name.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> layers(formula("tcp_goodput_bps"), {})
    {'bandwidth_bps': 'Ethernet line'}
    """
    return {
        one.name: layer_text(wanted, one.layer, arguments) or UNKNOWN
        for one in wanted.parameters
        if one.unit == "bit/s"
    }


def defaults_said(wanted: Formula, given: Collection[str]) -> dict[str, Any]:
    """Return the defaults that an answer names because others may expect another one.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> defaults_said(formula("timers.rto_s"), ["floor"])
    {'min_rto_s': 0.2}
    """
    return {
        name: wanted.parameter(name).default for name in wanted.said_defaults if name not in given
    }
