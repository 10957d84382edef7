"""The command of a formula: what people type for its options, and what its help says."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import click
import numpy as np

from netcalc import calculator, equations, units
from netcalc.calculator import Formula, Parameter
from netcalc.cli.formulas.words import joined
from netcalc.cli.mistakes import CommandError
from netcalc.cli.options import QuantityCommand
from netcalc.errors import UnitError
from netcalc.messages import Notice

_WIDTH = 74


def example(formula: Formula) -> list[str]:
    """Return the example as lines that a shell joins; nothing where there is none, or no short one.

    Examples
    --------
    >>> print(*example(calculator.formula("transfer")), sep="\\n")
    netcalc calc transfer 1MB --bandwidth 1.544Mbit/s --latency 30ms
    """
    given = formula.example
    words = [f"netcalc calc {calculator.command(formula)}"]
    for index, parameter in enumerate(formula.parameters):
        if parameter.name in given:
            text = _typed(parameter, given[parameter.name])
            words.append(text if index == 0 else f"--{formula.option(parameter.name)} {text}")
    if len(words) == 1:
        return []
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) > _WIDTH:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return lines if all(len(line) <= _WIDTH + 2 for line in lines) else []


def _typed(parameter: Parameter, value: Any) -> str:
    """Return a value as it is typed on a command line, quoted where a shell needs that."""
    if parameter.kind == "list":
        text = "; ".join(_one(parameter, one) for one in np.ravel(value))
    else:
        text = _one(parameter, value)
    return text if shlex.quote(text) == text else f'"{text}"'


def _one(parameter: Parameter, value: Any) -> str:
    if parameter.kind in ("choice", "text") or isinstance(value, bool | np.bool_ | str):
        return parameter.show(value)
    return re.sub(r"(?<=\d) (?=[A-Za-zµ%])", "", parameter.show(value, digits=15))


READ_AS = "netcalc.read-as"
"""Key of click's ``meta``: how words were read, to be said beside the answer."""
_ROUND_TRIPS = frozenset({"rtt", "base_rtt", "ping", "round-trip"})
_ARRIVALS = ("--lambda", "--arrival-rate", "--arrivals")
_SERVICES = ("--mu", "--service-rate")
_ANY_WAY = frozenset({"latency", "delay"})
"""Names that mean one way to some people, and a round trip to others."""
_COUNTED = re.compile(r"[+-]?\d[\d.,]*\s*[kMG]?")
_BETWEEN_LAYERS = frozenset({"over", "in"})
_UNITS_SPELLED = {"hz": "Hz", "khz": "kHz", "mhz": "MHz", "ghz": "GHz", "db": "dB", "mpps": "Mpps"}


class FormulaCommand(QuantityCommand):
    """The command of a formula: ``--bw`` for ``--bandwidth``, ``10 Mbit/s`` without quotes."""

    def __init__(self, name: str, formula: Formula, **more: Any) -> None:
        super().__init__(name, **more)
        self._formula = formula
        self._given: set[str] = set()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the formula says of itself: read from its docstring when it is asked for."""

        formula = self._formula
        written = equations.plain(formula.equation)
        shown = "\n".join(example(formula))
        equation = "\n".join(equation_lines(written)) if written else ""
        source = f"From: {formula.source}" if formula.source else ""
        kept = [f"\b\n{part}" if part else "" for part in (shown, equation)]
        parts = (formula.summary, *kept, formula.validity, source)
        self.help = "\n\n".join(filter(None, parts))
        super().format_help_text(ctx, formatter)

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the summary, for lists of commands and the completion of a shell."""
        return textwrap.shorten(self._formula.summary, limit, placeholder="...")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give options the names that the formula has for them, and numbers their unit."""
        if ctx.resilient_parsing:  # the shell asks how a line may go on
            return super().parse_args(ctx, args)
        options = [param for param in self.params if isinstance(param, click.Option)]
        known = {name for option in options for name in option.opts} | {"--help", "-h"}
        words = self._named(self._with_stack(joined(args)), known)
        self._check_values(ctx, words)
        return super().parse_args(ctx, self._options(ctx, words, known))

    def _check_values(self, ctx: click.Context, words: Sequence[str]) -> None:
        """Refuse an argument without a value, and one with two."""
        given: dict[str, str] = {}
        for word, after in zip(words, [*words[1:], "--"], strict=False):
            name, equals, value = word.partition("=")
            if not name.startswith("--") or name == "--":
                continue
            spoken = name[2:].replace("-", "_")
            own = [p for p in self._formula.parameters if spoken in (p.name, p.short_name)]
            meant = own or self._formula.called(spoken)
            if len(meant) != 1 or (not own and calculator.flag(self._formula, spoken)):
                continue
            if not equals and after[:2] == "--":
                raise CommandError("option-without-value", command=ctx.command_path, option=name)
            if (before := given.get(meant[0].name)) is not None:
                label = self._formula.label(meant[0].name)
                second = value if equals else after
                raise CommandError("argument-typed-twice", name=label, first=before, second=second)
            given[meant[0].name] = value if equals else after

    def _with_stack(self, words: list[str]) -> list[str]:
        """Put a stack of tunnels together: ``vxlan over ipsec``."""
        if all(parameter.name != "stack" for parameter in self._formula.parameters):
            return words
        found: list[str] = []
        for word in words:
            if found and (
                word in _BETWEEN_LAYERS or found[-1].rpartition(" ")[2] in _BETWEEN_LAYERS
            ):
                found[-1] += f" {word}"
            else:
                found.append(word)
        return found

    def _named(self, words: list[str], known: set[str]) -> list[str]:
        """Take ``rtt=40ms`` for ``--rtt=40ms``, but not behind an option such as --sweep."""
        flags = {
            name for param in self.params if getattr(param, "is_flag", False) for name in param.opts
        }
        found = []
        for before, word in zip(["", *words], words, strict=False):
            name, equals, _ = word.partition("=")
            of_option = before.startswith("--") and "=" not in before and before not in flags
            names = equals and name.isidentifier() and not of_option
            meant = names and (f"--{name}" in known or self._formula.called(name))
            found.append(f"--{word}" if meant else word)
        return found

    def _options(self, ctx: click.Context, words: Sequence[str], known: set[str]) -> list[str]:
        """Give the options of a line the names that the formula has for them."""
        found: list[str] = []
        halved, unit_word = False, ""
        self._given = self._sure(words)
        for word in self._of_rates(ctx, words):
            name, equals, value = word.partition("=")
            spoken = name[2:].lower() if name.startswith("--") else ""
            if halved:
                found.append(_half(ctx, word))
                halved = False
            elif unit_word:
                found.append(word + unit_word if _COUNTED.fullmatch(word) else word)
                unit_word = ""
            elif not equals and name not in known and (of := self._by_unit(spoken)) is not None:
                found.append("--" + of.name.replace("_", "-"))
                unit_word = _spelled(spoken)
            elif spoken in _ROUND_TRIPS and name not in known and self._is_one_way(spoken):
                found += ["--latency-s", *([_half(ctx, value)] if equals else [])]
                halved = not equals
            else:
                found.append(self._option(ctx, word, known))
                if found[-1] != word and not equals and _kinds(spoken):
                    unit_word = _spelled(spoken)
        return found

    def _sure(self, words: Sequence[str]) -> set[str]:
        """Return the arguments that the options of a line name for sure."""
        found = set()
        for word in words:
            spoken = word.partition("=")[0].removeprefix("--").replace("-", "_")
            if not word.startswith("--"):
                continue
            own = [p.name for p in self._formula.parameters if spoken in (p.name, p.short_name)]
            called = own or [p.name for p in self._formula.called(spoken)]
            found |= set(called) if len(called) == 1 else set()
        return found

    def _of_rates(self, ctx: click.Context, words: Sequence[str]) -> Sequence[str]:
        """Turn rates of arrivals and of service, as books have them, into load and service time."""
        given = {parameter.short_name for parameter in self._formula.parameters}
        flat = [
            part for word in words for part in (word.split("=", 1) if word[:2] == "--" else [word])
        ]
        rates: dict[str, str] = {}
        for names in (_ARRIVALS, _SERVICES):
            at = next((i for i, one in enumerate(flat[:-1]) if one.lower() in names), None)
            if at is None or not {"utilization", "service"} <= given:
                return words
            rates[flat[at]] = flat[at + 1]
            del flat[at : at + 2]
        arrival, service = (
            units.parse_typed(
                text if text[-1:].isalpha() else f"{text} pps", "packet/s", field=name
            )
            for name, text in rates.items()
        )
        if not service > 0:
            raise CommandError("service-rate-not-positive", text=list(rates.values())[1])
        time = f"{1 / service:.17g} s"
        (first, first_text), (second, second_text) = rates.items()
        values = {
            "name": f"{first} {first_text} and {second}", "text": second_text,
            "value": f"--utilization {arrival / service:.4g} "
            f"--service {units.show(1 / service, 's')}",
        }  # fmt: skip
        ctx.meta.setdefault(READ_AS, []).append(Notice("read-as", values))
        return [*flat, "--utilization", f"{arrival / service:.17g} ratio", "--service", time]

    def _of_part(self, spoken: str) -> Parameter | None:
        """Return the only argument whose name has a word: ``--scv`` is ``--service-scv``."""
        words = set(spoken.lower().replace("-", "_").split("_"))
        every = [p for p in self._formula.parameters if words <= set(p.short_name.split("_"))]
        return every[0] if len(every) == 1 else None

    def _by_unit(self, spoken: str) -> Parameter | None:
        """Return the only argument of the kind of a unit, as ``--years 3`` or ``--mbps 10`` has it.

        Of several, the only one that is required.
        """
        kinds = _kinds(spoken)
        if not kinds or self._formula.called(spoken):
            return None
        every = [parameter for parameter in self._formula.parameters if parameter.unit in kinds]
        needed = [one for one in every if one.required] or every
        return needed[0] if len(needed) == 1 else None

    def _is_one_way(self, spoken: str) -> bool:
        """Whether the formula has the time of one way, and no round trip."""
        one_way = any(parameter.name == "latency_s" for parameter in self._formula.parameters)
        return one_way and not self._formula.called(spoken)

    def _option(self, ctx: click.Context, word: str, known: set[str]) -> str:
        name, equals, value = word.partition("=")
        if not name.startswith("--") or len(name) < 3 or name in known:
            return word
        if name.lower() in known:
            return f"{name.lower()}{equals}{value}"
        command = calculator.command(self._formula)
        flag = calculator.flag(self._formula, name[2:]) if not equals else None
        if flag is not None:
            return f"--{flag[0].replace('_', '-')}={flag[1]}"
        meant = self._formula.called(name[2:])
        if len(meant) > 1:  # those that the line has by another name are not meant
            meant = [one for one in meant if one.name not in self._given] or meant
        if len(meant) > 1:
            choices = ["--" + self._formula.option(one.name) for one in meant]
            raise CommandError(
                "option-ambiguous", command=f"netcalc calc {command}", option=name, choices=choices
            )
        if not meant and (part := self._of_part(name[2:])):
            option = "--" + self._formula.option(part.name)
            said = Notice("option-read", {"name": name, "option": option})
            ctx.meta.setdefault(READ_AS, []).append(said)
            meant = [part]
        if meant:
            if meant[0].short_name in _ROUND_TRIPS and name[2:].lower() in _ANY_WAY:
                option = "--" + self._formula.option(meant[0].name)
                said = Notice("round-trip-read", {"name": name, "option": option})
                ctx.meta.setdefault(READ_AS, []).append(said)
            return f"--{meant[0].name.replace('_', '-')}{equals}{value}"
        from difflib import get_close_matches  # late: most options are known

        bare = [one.lstrip("-") for one in known]
        if not get_close_matches(name.lstrip("-"), bare, n=1, cutoff=0.7):
            options = [
                "--" + self._formula.option(parameter.name)
                for parameter in self._formula.parameters
            ]
            raise CommandError(
                "option-of-no-argument", command=f"netcalc calc {command}", option=name,
                options=options,
            )  # fmt: skip
        return word


def choices(parameter: Parameter) -> Callable[..., list[str]] | None:
    """Return what offers the choices of an argument to the shell; None where there are none."""
    if parameter.kind not in ("choice", "text", "bool"):
        return None

    def offered(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
        known = parameter.choices or calculator.known_names(parameter.name)
        known = known or (("yes", "no") if parameter.kind == "bool" else ())
        return [one for one in known if one.startswith(incomplete)]

    return offered


def _spelled(unit: str) -> str:
    """Return a unit as it is written, of one in lower case: ``MHz`` for ``mhz``."""
    return _UNITS_SPELLED.get(unit, unit)


def _kinds(spoken: str) -> list[str]:
    """Return the SI units that an option by the name of a unit may mean: ``--mbps``."""
    return units.kinds_of(_spelled(spoken)) if len(spoken) > 1 else []


def _half(ctx: click.Context, text: str) -> str:
    """Return half of a round trip, for an argument that is one way; said beside the answer.

    Raises
    ------
    CommandError
        If the round trip is not a single time.
    """
    try:
        one_way = units.show(units.parse_typed(text, "s") / 2, "s", digits=17)
    except UnitError:
        raise CommandError("round-trip-of-one-way", text=text) from None
    values = {"name": "--rtt", "text": text, "value": f"--latency {one_way}, one way"}
    ctx.meta.setdefault(READ_AS, []).append(Notice("read-as", values))
    return one_way


def equation_lines(written: str) -> list[str]:
    """Return an equation in lines that fit a terminal; parts of it begin lines of their own.

    Examples
    --------
    >>> equation_lines("t = d + 8 N / R")
    ['Equation: t = d + 8 N / R']
    """
    name, width = "Equation: ", 76
    if len(name) + len(written) <= width:
        return [name + written]
    lines: list[str] = []
    for part in re.split(r"(?<=,)\s{2,}", written):
        begin = " " * len(name) if lines else name
        lines += textwrap.wrap(
            part, width, initial_indent=begin, subsequent_indent=" " * (len(name) + 2)
        )
    return lines
