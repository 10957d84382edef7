"""The command of a formula: its help, the names of its options, and values without a name.

Values that have no name before them are given to the arguments that they fit, and how they were
read is said.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

import click
import numpy as np

from netcalc import calculator, equations, units
from netcalc.calculator import Formula, Parameter
from netcalc.cli.mistakes import CommandError
from netcalc.cli.options import NUMBER, QuantityCommand, joined
from netcalc.cli.substitutes import completed, substituted
from netcalc.errors import DomainError, NetcalcError, UnitError, doubts
from netcalc.messages import Notice

_MANY_SWEEPS = 2
_OF_OTHERS = frozenset({"option-of-no-argument", "unexpected-argument", "unit-of-other-kind"})
"""Errors about what one formula does not take, and another one may."""
_OTHER_UNIT = frozenset({"unit-of-other-kind", "unit-unknown"})
_DOUBTFUL_SHARES = re.compile(r"loss|blocking|error|retransmi")
"""Shares that people also type in percent: how a number alone was read is said."""


class Fitness(Enum):
    """Whether a word can be the value of an argument."""

    YES = "it reads as one"
    PERHAPS = "it has two readings, or the name of a file does not say what is in it"
    NO = "it is refused"


def assigned(formula: Formula, words: Sequence[str], options: Mapping[str, str]) -> dict[str, str]:
    """Return which argument each value without a name is: by its unit, then by the order.

    ``options`` are the arguments that were typed with their names.

    Raises
    ------
    CommandError
        If there are more values than arguments.
    """
    left = [parameter for parameter in formula.parameters if parameter.name not in options]
    _refuse_second_value(formula, words, left, options)
    words = [word.rstrip(",") or word for word in words] if len(words) > 1 else words
    values: dict[str, str] = {}
    if left and left[0].kind == "list" and (count := _listed_words(left, words)) > 1:
        values[left.pop(0).name] = "; ".join(words[:count])
        words = words[count:]
    # A word that can be the value of one argument only takes it, before the others go by the order.
    is_sure = [_fits_one(word, left) for word in words]
    names: dict[int, str] = {}
    for index in sorted(range(len(words)), key=lambda index: not is_sure[index]):
        parameter = _argument_for(words[index], left)
        if parameter is None:
            command = f"netcalc calc {calculator.command(formula)}"
            raise CommandError("unexpected-argument", command=command, words=words[index])
        left = [other for other in left if other is not parameter]
        names[index] = parameter.name
    return values | {names[index]: word for index, word in enumerate(words)}


def _refuse_second_value(
    formula: Formula, words: Sequence[str], left: Sequence[Parameter], options: Mapping[str, str]
) -> None:
    """Refuse a lone value that can only be the first argument, which has one by its option."""
    if len(words) != 1 or not formula.parameters or formula.parameters[0].name not in options:
        return
    first, [word] = formula.parameters[0], words
    can_be_first = NUMBER.fullmatch(word) or _fit(first, word) is not Fitness.NO
    if can_be_first and not any(_fit(p, word) is Fitness.YES for p in left if p.required):
        name, before = formula.label(first.name), options[first.name]
        raise CommandError("argument-typed-twice", name=name, first=word, second=before)


def _needed(left: Sequence[Parameter]) -> list[Parameter]:
    """Return the arguments that people type without a name: the first, and those required."""
    return [p for index, p in enumerate(left) if p.required or index == 0]


def _fits_one(word: str, left: Sequence[Parameter]) -> bool:
    """Whether a value can be that of one argument only, whatever the others are."""
    fits = [_fit(parameter, word) for parameter in _needed(left)]
    return fits.count(Fitness.YES) == 1 and fits.count(Fitness.NO) == len(fits) - 1


def _listed_words(left: Sequence[Parameter], words: Sequence[str]) -> int:
    """Return how many words, from the first, are the numbers of an argument that takes a list.

    With one argument all of them; with several, those that are no value of another one.
    """
    first, *others = left
    others = [parameter for parameter in others if parameter.required]
    count = 0
    for word in words:
        if "," in word or ";" in word or _fit(first, word) is Fitness.NO:
            break
        if not NUMBER.fullmatch(word) and any(_fit(p, word) is Fitness.YES for p in others):
            break
        count += 1
    return count if count == len(words) or not NUMBER.fullmatch(words[0]) else 0


def _argument_for(word: str, left: Sequence[Parameter]) -> Parameter | None:
    """Return which of the arguments that are left a value is for.

    The first that people type without a name and that it can be; another one only where it reads
    as that and as none of them.
    """
    if not left:
        return None
    needed = _needed(left)
    possible = [p for p in needed if _fit(p, word) is not Fitness.NO]
    sure = [p for p in possible if _fit(p, word) is Fitness.YES]
    sure.sort(key=lambda p: p.kind == "text" and not calculator.known_names(p.name))
    # 1500 has two readings, but as the size of a packet it is bytes: a later argument that it
    # reads as goes first.
    if sure and (sure[0] is possible[0] or possible[0].packet_sized):
        return sure[0]
    if possible:
        return possible[0]
    if NUMBER.fullmatch(word):
        return needed[0]
    return next((p for p in left if _fit(p, word) is Fitness.YES), needed[0])


def _fit(parameter: Parameter, word: str) -> Fitness:
    """Return whether a text is a value of an argument."""
    if calculator.is_range(parameter, word):
        return _fit_range(parameter, word)
    try:
        with doubts():  # said when the value is read for its argument
            for text in parameter.values(word):
                value = parameter.read(text)
    except UnitError as error:
        return (
            Fitness.PERHAPS if error.code in ("ambiguous-unit", "ambiguous-number") else Fitness.NO
        )
    except DomainError:
        return Fitness.NO
    names = calculator.known_names(parameter.name)
    return Fitness.NO if parameter.kind == "text" and names and value not in names else Fitness.YES


def is_value(parameter: Parameter, word: str) -> bool:
    """Whether a text can be the value of an argument."""
    return _fit(parameter, word) is not Fitness.NO


def _fit_range(parameter: Parameter, word: str) -> Fitness:
    from pathlib import Path  # late: most answers are of numbers

    if word.startswith("@") or Path(word.rpartition(":")[0]).is_file():
        return Fitness.PERHAPS
    try:
        with doubts():
            calculator.read_range(parameter, word)
    except UnitError as error:
        return Fitness.NO if error.code in _OTHER_UNIT else Fitness.PERHAPS
    except NetcalcError:  # of a file that is not there, or a range of what cannot be
        return Fitness.PERHAPS
    return Fitness.YES


def name_propagation(formula: Formula, error: UnitError) -> None:
    """Say which formula makes a time of a distance, where none is asked for."""
    distance = error.code == "unit-of-other-kind" and (
        units.kind_of(error.values["written"]) == "m"
    )
    if distance and all(parameter.unit != "m" for parameter in formula.parameters):
        text = str(error.values["text"]).strip()
        error.values["suggestions"] = [f"netcalc calc propagation {text}, its time one way"]


def in_order(formula: Formula, unnamed: Mapping[str, str]) -> list[Notice]:
    """Return how values without a name were read, where their units leave open which is which."""
    units_of = [formula.parameter(name).unit for name in unnamed]
    same = [n for n, unit in zip(unnamed, units_of, strict=True) if units_of.count(unit) > 1]
    same = [name for name in same if formula.parameter(name).kind == "number"]
    if len(same) < 2 or not all(
        _fit(formula.parameter(name), unnamed[other]) is Fitness.YES
        for name in same
        for other in same
    ):
        return []
    options = [f"--{formula.option(name)} {unnamed[name]}" for name in same]
    return [Notice("order-read", {"options": ", ".join(options)})]


def check_sweeps(count: int) -> None:
    """Refuse more sweeps than a table has sides.

    Raises
    ------
    CommandError
        If there are more than two.
    """
    if count > _MANY_SWEEPS:
        raise CommandError("too-many-sweeps", count=count, high=_MANY_SWEEPS)


def readings_said(
    formula: Formula, texts: Mapping[str, str], arguments: Mapping[str, Any]
) -> list[Notice]:
    """Return how texts were read that may have meant something else."""
    notices = []
    for name, text in texts.items():
        parameter, value = formula.parameter(name), arguments.get(name)
        if parameter.kind in ("text", "choice"):
            doubtful = calculator.plain_name(str(value)) != calculator.plain_name(text)
        else:
            doubtful = (
                parameter.unit == "ratio" and _DOUBTFUL_SHARES.search(parameter.name) is not None
                and NUMBER.fullmatch(text.strip()) is not None and value != 0
            )  # fmt: skip
            doubtful = doubtful or formula.voice_bps(parameter, text) is not None
        doubtful = doubtful or calculator.codec_bps(text) is not None
        doubtful = doubtful or (
            parameter.name in ("altitude_m", "speed_m_s") and text[:1].isalpha()
        )
        if doubtful:
            option = "--" + formula.option(name)
            shown = parameter.show(value)
            notices.append(Notice("read-as", {"name": option, "text": text, "value": shown}))
    return notices + _small_loads(texts, arguments)


def _small_loads(texts: Mapping[str, str], arguments: Mapping[str, Any]) -> list[Notice]:
    """Say that a load below 1 of several servers is not a share of them."""
    offered, servers = arguments.get("offered_erlang"), arguments.get("server_count")
    if not isinstance(offered, float) or not isinstance(servers, float):
        return []
    if not (0 < offered < 1 < servers and NUMBER.fullmatch(texts["offered_erlang"].strip())):
        return []
    share = units.show(offered / servers, "ratio")
    return [Notice("load-in-erlang", {"offered": offered, "servers": servers, "share": share})]


_WIDTH = 74


def example(formula: Formula) -> list[str]:
    """Return the example as lines that a shell joins; nothing where there is none, or no short one.

    Examples
    --------
    >>> print(*example(calculator.formula("transfer")), sep="\\n")
    netcalc calc transfer 1MB --bandwidth 1.544Mbit/s --latency 30ms
    """
    arguments = formula.example
    words = [f"netcalc calc {calculator.command(formula)}"]
    for index, parameter in enumerate(formula.parameters):
        if parameter.name in arguments:
            text = _typed(parameter, arguments[parameter.name])
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
        text = "; ".join(_one(parameter, item) for item in np.ravel(value))
    else:
        text = _one(parameter, value)
    return text if shlex.quote(text) == text else f'"{text}"'


def _one(parameter: Parameter, value: Any) -> str:
    if parameter.kind in ("choice", "text") or isinstance(value, bool | np.bool_ | str):
        return parameter.show(value)
    return re.sub(r"(?<=\d) (?=[A-Za-zµ%])", "", parameter.show(value, digits=15))


HOW_LONG = {
    "latency.transfer_s": Notice("how-long-of-tcp"),
    "transfer_time.transfer_time_s": Notice("how-long-and-why"),
}
"""Formulas of the time of a transfer, and the other commands that answer how long it takes."""
READ_AS = "netcalc.read-as"
"""Key of click's ``meta``: how words were read, to be said beside the answer."""
_ROUND_TRIPS = frozenset({"rtt", "base_rtt", "ping", "round-trip"})
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
        self._typed_words: list[str] = []

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the formula says of itself: read from its docstring when it is asked for."""

        formula = self._formula
        written = equations.plain(formula.equation)
        shown = "\n".join(example(formula))
        equation = "\n".join(equation_lines(written)) if written else ""
        source = f"From: {formula.source}" if formula.source else ""
        kept = [f"\b\n{part}" if part else "" for part in (shown, equation)]
        others = f"{HOW_LONG[formula.name]}." if formula.name in HOW_LONG else ""
        parts = (formula.summary, *kept, formula.validity, source, others)
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
        names = {name for option in options for name in option.opts} | {"--help", "-h"}
        words = self._named(self._with_stack(joined(args)), names)
        self._check_values(ctx, words)
        self._typed_words = words
        with self._naming_others():
            return super().parse_args(ctx, self._options(ctx, words, names))

    def invoke(self, ctx: click.Context) -> Any:
        """Answer; what this formula does not take, another one may."""
        with self._naming_others():
            return super().invoke(ctx)

    @contextlib.contextmanager
    def _naming_others(self) -> Iterator[None]:
        """Name the formulas that take what was typed, where this one refuses a part of it."""
        try:
            yield
        except (CommandError, UnitError) as error:
            if error.code in _OF_OTHERS and not error.values.get("suggestions"):
                from netcalc.cli.right_calls import right_calls  # late: most lines are right

                words, options = self._words_and_options()
                is_unknown = error.code == "option-of-no-argument"
                calls = completed(self._formula, options) if is_unknown else []
                if calls := calls or right_calls(self._formula, words, options):
                    error.values["suggestions"] = calls
            raise

    def _words_and_options(self) -> tuple[list[str], dict[str, str]]:
        """Return the values without a name, and those with one by the name, as they were typed."""
        unnamed: list[str] = []
        options: dict[str, str] = {}
        waiting = ""
        for word in self._typed_words:
            name, equals, value = word.removeprefix("--").partition("=")
            if waiting:
                options[waiting] = word
                waiting = ""
            elif not word.startswith("--"):
                unnamed.append(word)
            elif equals:
                options[name] = value
            elif not any(f"--{name}" in p.opts and getattr(p, "is_flag", 0) for p in self.params):
                waiting = name
        return unnamed, {**options, waiting: ""} if waiting else options

    def _check_values(self, ctx: click.Context, words: Sequence[str]) -> None:
        """Refuse an argument without a value, and one with two."""
        texts: dict[str, str] = {}
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
            if (before := texts.get(meant[0].name)) is not None:
                label = self._formula.label(meant[0].name)
                second = value if equals else after
                raise CommandError("argument-typed-twice", name=label, first=before, second=second)
            texts[meant[0].name] = value if equals else after

    def _with_stack(self, words: list[str]) -> list[str]:
        """Put a stack of tunnels together: ``vxlan over ipsec``, ``pppoe wireguard``."""
        if all(parameter.name != "stack" for parameter in self._formula.parameters):
            return words
        joined_words: list[str] = []
        for word in words:
            before = joined_words[-1].rpartition(" ")[2] if joined_words else ""
            if (
                before in _BETWEEN_LAYERS or (before and word in _BETWEEN_LAYERS)
                or (calculator.is_layer(before) and calculator.is_layer(word))
            ):  # fmt: skip
                joined_words[-1] += f" {word}"
            else:
                joined_words.append(word)
        return joined_words

    def _named(self, words: list[str], option_names: set[str]) -> list[str]:
        """Take ``rtt=40ms`` for ``--rtt=40ms``, but not behind an option such as --sweep."""
        flags = {
            name for param in self.params if getattr(param, "is_flag", False) for name in param.opts
        }
        named = []
        for before, word in zip(["", *words], words, strict=False):
            name, equals, _ = word.partition("=")
            of_option = before.startswith("--") and "=" not in before and before not in flags
            names = equals and name.isidentifier() and not of_option
            meant = names and (f"--{name}" in option_names or self._formula.called(name))
            named.append(f"--{word}" if meant else word)
        return named

    def _options(self, ctx: click.Context, words: Sequence[str], names: set[str]) -> list[str]:
        """Give the options of a line the names that the formula has for them."""
        arguments: list[str] = []
        halved, unit_word = False, ""
        self._given = self._sure(words)
        words, readings = substituted(self._formula, words)
        ctx.meta.setdefault(READ_AS, []).extend(readings)
        for word in words:
            name, equals, value = word.partition("=")
            spoken = name[2:].lower() if name.startswith("--") else ""
            if halved:
                arguments.append(_half(ctx, word))
                halved = False
            elif unit_word:
                arguments.append(word + unit_word if _COUNTED.fullmatch(word) else word)
                unit_word = ""
            elif not equals and name not in names and (of := self._by_unit(spoken)) is not None:
                arguments.append("--" + of.name.replace("_", "-"))
                unit_word = _spelled(spoken)
            elif spoken in _ROUND_TRIPS and name not in names and self._is_one_way(spoken):
                arguments += ["--latency-s", *([_half(ctx, value)] if equals else [])]
                halved = not equals
            else:
                arguments.append(self._option(ctx, word, names))
                if arguments[-1] != word and not equals and _kinds(spoken):
                    unit_word = _spelled(spoken)
        return arguments

    def _sure(self, words: Sequence[str]) -> set[str]:
        """Return the arguments that the options of a line name for sure."""
        sure = set()
        for word in words:
            spoken = word.partition("=")[0].removeprefix("--").replace("-", "_")
            if not word.startswith("--"):
                continue
            own = [p.name for p in self._formula.parameters if spoken in (p.name, p.short_name)]
            called = own or [p.name for p in self._formula.called(spoken)]
            sure |= set(called) if len(called) == 1 else set()
        return sure

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
        needed = [parameter for parameter in every if parameter.required] or every
        return needed[0] if len(needed) == 1 else None

    def _is_one_way(self, spoken: str) -> bool:
        """Whether the formula has the time of one way, and no round trip."""
        one_way = any(parameter.name == "latency_s" for parameter in self._formula.parameters)
        return one_way and not self._formula.called(spoken)

    def _option(self, ctx: click.Context, word: str, names: set[str]) -> str:
        name, equals, value = word.partition("=")
        if not name.startswith("--") or len(name) < 3 or name in names:
            return word
        if name.lower() in names:
            return f"{name.lower()}{equals}{value}"
        flag = calculator.flag(self._formula, name[2:]) if not equals else None
        if flag is not None:
            return f"--{flag[0].replace('_', '-')}={flag[1]}"
        parameter = self._meant(ctx, name)
        if parameter is not None:
            return f"--{parameter.name.replace('_', '-')}{equals}{value}"
        from difflib import get_close_matches  # late: most options are known

        bare = [known_name.lstrip("-") for known_name in names]
        is_slip = get_close_matches(name.lstrip("-"), bare, n=1, cutoff=0.7)
        if calculator.names_argument(name[2:]) or not is_slip:
            every = map(self._typed, self._formula.parameters)
            raise self._refused("option-of-no-argument", option=name, options=list(every))
        return word

    def _meant(self, ctx: click.Context, name: str) -> Parameter | None:
        """Return the argument that an option means by another name; it is said how it was read."""
        meant = self._formula.called(name[2:])
        if len(meant) > 1:  # those that the line has by another name are not meant
            meant = [parameter for parameter in meant if parameter.name not in self._given] or meant
        if len(meant) > 1:
            choices = list(map(self._typed, meant))
            raise self._refused("option-ambiguous", option=name, choices=choices)
        parameter = meant[0] if meant else self._of_part(name[2:])
        if parameter is None:
            return None
        readings = [] if meant else ["option-read"]
        if parameter.short_name in _ROUND_TRIPS and name[2:].lower() in _ANY_WAY:
            readings.append("round-trip-read")
        for code in readings:
            said = Notice(code, {"name": name, "option": self._typed(parameter)})
            ctx.meta.setdefault(READ_AS, []).append(said)
        return parameter

    def _typed(self, parameter: Parameter) -> str:
        return "--" + self._formula.option(parameter.name)

    def _refused(self, code: str, **values: Any) -> CommandError:
        return CommandError(
            code, command=f"netcalc calc {calculator.command(self._formula)}", **values
        )


def choices(parameter: Parameter) -> Callable[..., list[str]] | None:
    """Return what offers the choices of an argument to the shell; None where there are none."""
    if parameter.kind not in ("choice", "text", "bool"):
        return None

    def offered(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
        offers = parameter.choices or calculator.known_names(parameter.name)
        offers = offers or (("yes", "no") if parameter.kind == "bool" else ())
        return [offer for offer in offers if offer.startswith(incomplete)]

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
