"""Two quantities in place of an argument that they give, as books and bills have them.

Rates of arrivals and of service give a load and a service time; the rate of a line and a size, the
service time of a packet; calls an hour and their holding time, a load in erlang.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from netcalc import calculator, units
from netcalc.calculator import Formula, Parameter
from netcalc.checks import positive
from netcalc.cli.mistakes import CommandError
from netcalc.errors import doubts
from netcalc.messages import Notice
from netcalc.models.rates.line_rate import frame_rate_pps
from netcalc.models.sizes.framing import ethernet_wire_bytes

_LINES = tuple(
    f"--{name}"
    for name in ("rate", "bandwidth", "bw", "line", "line-rate", "link", "link-rate", "speed")
)
_FRAMES = ("--frame", "--frame-size")
_PACKETS = ("--packet", "--packet-size", "--mtu")
_WIRES = ("--wire", "--wire-size")
_HOUR_S = 3600.0

Typed = tuple[str, str]
"""The name of an option, and its text."""


class _Pair(NamedTuple):
    """Names of two options, and the arguments that they give, each with its unit."""

    first: Sequence[str]
    second: Sequence[str]
    given: Sequence[str]
    values: Callable[[Typed, Typed], Sequence[float]]


def substituted(formula: Formula, words: Sequence[str]) -> tuple[Sequence[str], list[Notice]]:
    """Return a line with the arguments in place of what gives them, and how it was read.

    Raises
    ------
    UnitError, DomainError
        If a text or a number is refused.
    CommandError
        If a rate of service is not above 0, or an argument that a pair gives is there, too.
    """
    flat = [part for word in words for part in (word.split("=", 1) if word[:2] == "--" else [word])]
    own = {parameter.short_name: parameter for parameter in formula.parameters}
    taken = {f"--{name.replace('_', '-')}" for name in own}
    for pair in _PAIRS:
        given = [own[name] for name in pair.given if name in own]
        if len(given) < len(pair.given) and pair.given[0] not in own:
            continue
        if not given or any(parameter.kind == "list" for parameter in given):
            continue
        names = (set(pair.first) - taken, set(pair.second) - taken)
        places = [
            next((i for i, part in enumerate(flat[:-1]) if part.lower() in group), None)
            for group in names
        ]
        first, second = places
        if first is None or second is None:
            continue
        with doubts() as doubtful:
            numbers = pair.values((flat[first], flat[first + 1]), (flat[second], flat[second + 1]))
        by_name = dict(zip(pair.given, numbers, strict=True))
        typed = [f"{flat[at]} {flat[at + 1]}" for at in sorted((first, second))]
        shown = [
            f"--{formula.option(p.name)} {_shown(by_name[p.short_name], p.unit)}" for p in given
        ]
        _refuse_second(formula, given, flat, (first, second))
        rest = [p for i, p in enumerate(flat) if not {first, second} & {i, i - 1}]
        for parameter in given:
            text = f"{by_name[parameter.short_name]:.17g}"
            unit = "" if parameter.unit == "1" else f" {parameter.unit}"
            rest += [f"--{formula.option(parameter.name)}", f"{text}{unit}"]
        values = {"name": typed[0] + " and", "text": typed[1], "value": " ".join(shown)}
        notes = [calculator.doubt_notice(doubt) for doubt in doubtful]
        return rest, [Notice("read-as", values), *notes]
    return words, []


def _refuse_second(
    formula: Formula, given: Sequence[Parameter], flat: Sequence[str], pair: tuple[int, int]
) -> None:
    """Refuse an option, by any of its names, of an argument that a pair gives."""
    for at, part in enumerate(flat[:-1]):
        spoken = part[2:].lower().replace("-", "_")
        if part[:2] != "--" or at in pair:
            continue
        own = [p for p in formula.parameters if spoken in (p.name, p.short_name)]
        meant = own or formula.called(spoken)
        if len(meant) == 1 and meant[0] in given:
            first, second = (
                f"{part} {flat[at + 1]}",
                " ".join(f"{flat[i]} {flat[i + 1]}" for i in pair),
            )
            label = formula.label(meant[0].name)
            raise CommandError("argument-typed-twice", name=label, first=first, second=second)


def _shown(number: float, unit: str) -> str:
    return f"{number:.4g}" if unit in ("1", "ratio") else units.show(number, unit)


def completed(formula: Formula, options: Mapping[str, str]) -> list[str]:
    """Return the two quantities of which one was typed, where both would give an argument.

    Examples
    --------
    >>> from netcalc import calculator
    >>> completed(calculator.formula("mm1-wait"), {"rate": "10G"})
    ['--rate 10G --frame FRAME']
    """
    short_names = {parameter.short_name for parameter in formula.parameters}
    for pair in _PAIRS:
        for names, others in ((pair.first, pair.second), (pair.second, pair.first)):
            for name, text in options.items():
                if (
                    f"--{name}" in names
                    and not {f"--{one}" for one in options} & set(others)
                    and pair.given[0] in short_names
                    and name not in short_names
                ):
                    return [f"--{name} {text} {others[0]} {others[0][2:].upper()}"]
    return []


def _load_and_service(arrival: Typed, service: Typed) -> tuple[float, float]:
    arrivals, services = (
        units.parse_typed(
            text if text[-1:].isalpha() else f"{text} pps", "packet/s", field=name
        )
        for name, text in (arrival, service)
    )  # fmt: skip
    if not services > 0:
        raise CommandError("service-rate-not-positive", text=service[1])
    return arrivals / services, 1 / services


def _service_of(size_bytes: Callable[[float], float]) -> Callable[[Typed, Typed], tuple[float]]:
    """Return what gives the service time of a size on a line."""

    def service_s(line: Typed, size: Typed) -> tuple[float]:
        rate = positive(line[0], units.parse_typed(line[1], "bit/s", field=line[0]))
        number = positive(size[0], units.parse_typed(size[1], "byte", field=size[0], bare=True))
        return (8.0 * size_bytes(float(number)) / float(rate),)

    return service_s


def _frame_wire_bytes(frame_bytes: float) -> float:
    return 1.0 / (8.0 * float(frame_rate_pps(frame_bytes, bandwidth_bps=1.0)))


def _packet_wire_bytes(packet_bytes: float) -> float:
    return float(ethernet_wire_bytes(packet_bytes))


def _trip(distance: Typed, speed: Typed) -> tuple[float]:
    metres = units.parse_typed(distance[1], "m", field=distance[0])
    return (metres / float(positive(speed[0], units.parse_typed(speed[1], "m/s", field=speed[0]))),)


def _erlang(calls: Typed, holding: Typed) -> tuple[float, float]:
    """Return the load of calls an hour, and the holding time."""
    text = calls[1] if calls[1][-1:].isalpha() else f"{calls[1]} calls/h"
    each_s = units.parse_typed(holding[1], "s", field=holding[0])
    return units.parse_typed(text, "call/s", field=calls[0]) * each_s, each_s


_PAIRS = (
    _Pair(("--lambda", "--arrival-rate", "--arrivals"), ("--mu", "--service-rate"),
          ("utilization", "service"), _load_and_service),
    _Pair(_LINES, _FRAMES, ("service",), _service_of(_frame_wire_bytes)),
    _Pair(_LINES, _PACKETS, ("service",), _service_of(_packet_wire_bytes)),
    _Pair(_LINES, _WIRES, ("service",), _service_of(float)),
    _Pair(("--distance",), ("--speed",), ("trip",), _trip),
    _Pair(("--calls-per-hour", "--calls", "--call-rate", "--bhca"),
          ("--holding", "--holding-time", "--aht", "--duration", "--hold"),
          ("offered_erlang", "service"), _erlang),
)  # fmt: skip
