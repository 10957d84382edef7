"""Every error and warning that a user can meet: a code with values each.

::

    NetcalcError
    +-- DomainError (ValueError)         a number that cannot be: a negative rate, a loss above 1
    +-- ArgumentTypeError (TypeError)    an argument of the wrong kind: text for a number
    +-- UnitError (ValueError)           text that is not one quantity of the unit wanted
    +-- ReaderError (ValueError)         a file or text that cannot be read right
    +-- DatasetError                     a bundled file that is missing or was changed
    +-- ConvergenceError (RuntimeError)  a search that ended without an answer
    +-- ExperimentError (RuntimeError)   a live run that could not start or go on
    +-- MissingPackageError (ImportError)  an extra that is not installed, or too old

    NotFiniteWarning (UserWarning)       nan or inf among good numbers
    DoubtWarning (UserWarning)           an answer beyond where its formula is known to hold
    MixedInstallationWarning (UserWarning)  another distribution's netcalc lies in the same place

``code`` says which error it is, ``values`` holds its facts; a program reads those. ``str`` writes
the sentence, from :mod:`netcalc.messages`: what is wrong, where, what was found, what was expected
and what to do.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from netcalc import messages
from netcalc.printable import printable, printable_lines, safe_repr, safe_str

__all__ = [
    "ArgumentTypeError", "ConvergenceError", "DatasetError", "DomainError", "DoubtWarning",
    "ExperimentError", "MissingPackageError", "MixedInstallationWarning", "NetcalcError",
    "NotFiniteWarning", "ReaderError", "UnitError", "doubts", "tell_doubts",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers


class NetcalcError(Exception):
    """Base of all errors that netcalc raises on purpose.

    Parameters
    ----------
    code : str
        Which error it is: a key of :data:`netcalc.messages.MESSAGES`.
    **values
        Its facts, by name. ``suggestions`` are the nearest known names.
    """

    code: str
    values: dict[str, Any]

    def __init__(self, code: str, **values: Any) -> None:
        self.code = code
        self.values = values
        super().__init__(code)

    def __str__(self) -> str:
        """Write the whole message, which can be printed anywhere."""
        return _sentences(self.what, self.hint)

    @property
    def what(self) -> str:
        """What is wrong, in a sentence without a full stop."""
        return messages.sentence(self.code, self.values)

    @property
    def hint(self) -> str | None:
        """What to do about it, if there is anything."""
        return messages.hint(self.code, self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by fields: a pool of processes hands errors over that way."""
        return _restored, (type(self), self.args, vars(self))

    def as_dict(self) -> dict[str, Any]:
        """Return the facts of the error as JSON can hold them: nan is null, inf a text."""
        facts = {
            "type": type(self).__name__,
            "code": self.code,
            "message": str(self),
            **self.values,
            **self._shown(),
            "hint": self.hint,
        }
        return {name: _plain(value) for name, value in facts.items() if value is not None}

    def _shown(self) -> dict[str, Any]:
        """Return what ``as_dict`` says besides the values."""
        return {}


class DomainError(NetcalcError, ValueError):
    """A number that cannot be: it names the argument, the value and the allowed range."""

    def __init__(self, code: str, name: str, value: Any = None, **values: Any) -> None:
        super().__init__(code, name=name, value=value, **values)

    @property
    def what(self) -> str:
        """What is wrong, and at which element of a longer argument."""
        said = messages.sentence(self.code, self._with_units())
        index = self.values.get("index")
        return said if index is None else f"{said} (at index {index})"

    @property
    def name(self) -> str:
        """The argument."""
        return str(self.values["name"])

    @property
    def value(self) -> Any:
        """What was found."""
        return self.values["value"]

    @property
    def allowed(self) -> str | None:
        """What it must be, in a few words; None where the sentence has another form."""
        return messages.allowed(self.code, self._with_units())

    def _with_units(self) -> dict[str, Any]:
        """Return the values for the sentence: bounds with the unit, the value also as typed."""
        unit = str(self.values.get("unit"))
        bounds = {"low", "high"} & self.values.keys() if unit in messages.UNITS else set()
        shown: dict[str, Any] = {name: messages.bound(self.values[name], unit) for name in bounds}
        choices = self.values.get("choices", ())
        if unit == "Hz" and not any(isinstance(one, str) for one in choices):
            shown["choices"] = [messages.bound(one, unit) for one in choices]
        text, value = self.values.get("typed_text"), safe_str(self.value)
        if text is not None and text.replace(" ", "") != value.replace(" ", ""):
            shown["value"] = f"{text} ({value})"
        return self.values | shown

    def _shown(self) -> dict[str, Any]:
        return {"allowed": self.allowed}


class ArgumentTypeError(NetcalcError, TypeError):
    """An argument of a kind that a function cannot use: text for a number, a list for one flag.

    ``found`` is its class, or what is printed of it; of a ``value`` it is what Python writes.
    """

    def __init__(
        self, code: str, name: str, found: object = None, *, value: object = None, **values: Any
    ) -> None:
        shown = safe_repr(value) if found is None else safe_str(found)
        super().__init__(code, name=name, found=shown, **values)


class UnitError(NetcalcError, ValueError):
    """Text that cannot be read as one quantity of the unit wanted."""

    def __init__(
        self,
        code: str,
        text: object,
        *,
        expected: str,
        field: str | None = None,
        **values: Any,
    ) -> None:
        super().__init__(code, text=text, expected=expected, field=field, **values)

    @property
    def text(self) -> object:
        """The text."""
        return self.values["text"]

    @property
    def expected(self) -> str:
        """The quantity wanted, with its unit."""
        return str(self.values["expected"])

    @property
    def field(self) -> str | None:
        """The argument, the option or the column it was given for."""
        field = self.values["field"]
        return None if field is None else str(field)

    @property
    def what(self) -> str:
        """What is wrong, with the field before it where one is known."""
        said = messages.sentence(self.code, {**self.values, "shown": safe_repr(self.text)})
        return f"{self.field}: {said}" if self.field else said


class ReaderError(NetcalcError, ValueError):
    """A file or text that cannot be read right, with file, line, byte and field."""

    def __init__(
        self,
        code: str,
        *,
        file: str,
        line: int | None = None,
        offset: int | None = None,
        field: str | None = None,
        value: str | None = None,
        unit: str | None = None,
        expected: str | None = None,
        **values: Any,
    ) -> None:
        super().__init__(
            code,
            file=file,
            line=line,
            offset=offset,
            field=field,
            value=value,
            unit=unit,
            expected=expected,
            **values,
        )
        self.file = file
        self.line = line
        self.offset = offset
        self.field = field
        self.value = value
        self.unit = unit
        if self.python_hint is not None:
            self.add_note(self.python_hint)

    @property
    def expected(self) -> str | None:
        """What should be there, in a few words."""
        return self.values["expected"] or messages.expected(self.code, self.values)

    @property
    def python_hint(self) -> str | None:
        """What a caller in Python can do besides the hint; the note of a traceback has it."""
        return messages.python_hint(self.code, self.values)

    @property
    def fault(self) -> str:
        """What is wrong, without the file, with the text found and expected."""
        said = messages.sentence(self.code, self.values)
        if self.value is not None:
            said += f"; found {self.value!r}"
        if self.expected is not None:
            said += f"; expected {self.expected}" + (f" [{self.unit}]" if self.unit else "")
        return said

    def __str__(self) -> str:
        where = printable(self.file)
        if self.line is not None:
            where += f", line {self.line}"
        if self.offset is not None:
            where += f", byte {self.offset}"
        if self.field is not None:
            where += f", field {printable(self.field)}"
        return _sentences(f"{where}: {self.fault}", self.hint)

    def _shown(self) -> dict[str, Any]:
        return {"what": self.what, "expected": self.expected}


class DatasetError(NetcalcError):
    """A bundled data file that is missing or was changed."""

    def __init__(self, code: str, *, file: str, **values: Any) -> None:
        super().__init__(code, file=file, **values)
        self.file = file

    def __str__(self) -> str:
        return _sentences(f"{self.file}: {self.what}", self.hint)

    def _shown(self) -> dict[str, Any]:
        return {"what": self.what}


class ConvergenceError(NetcalcError, RuntimeError):
    """A search that ended without an answer; the last value is reported, never returned."""

    def __init__(self, what: str, *, iterations: int, residual: float, last: float) -> None:
        super().__init__(
            "not-converged", what=what, iterations=iterations, residual=residual, last=last
        )
        self.iterations = iterations
        self.residual = residual
        self.last = last


class ExperimentError(NetcalcError, RuntimeError):
    """A live run that could not start or go on: the phase, the address and the way out.

    ``partial`` holds the samples that were measured before, if there are any.
    """

    def __init__(
        self,
        code: str,
        *,
        phase: str,
        host: str | None = None,
        port: int | None = None,
        partial: Any = None,
        **values: Any,
    ) -> None:
        super().__init__(code, phase=phase, host=host, port=port, **values)
        self.phase = phase
        self.host = host
        self.port = port
        self.partial = partial

    def __str__(self) -> str:
        address = (
            f" ({self.host}:{self.port})"
            if self.port  # 0 is any free one: no part of an address
            else f" ({self.host})"
            if self.host
            else ""
        )
        return _sentences(f"{self.phase}: {self.what}{address}", self.hint)

    def _shown(self) -> dict[str, Any]:
        return {"what": self.what}


class MissingPackageError(NetcalcError, ImportError):
    """An extra that is not installed, or too old, with the line that installs it."""

    def __init__(self, package: str, *, extra: str, purpose: str, found: str | None = None) -> None:
        code = "package-missing" if found is None else "package-too-old"
        super().__init__(code, package=package, extra=extra, purpose=purpose, found=found)
        self.package = package
        self.extra = extra
        self.found = found


class _CodedWarning(UserWarning):
    """A warning that is a code with values, as an error is."""

    def __init__(self, code: str, **values: Any) -> None:
        self.code = code
        self.values = values
        super().__init__(code)

    def __str__(self) -> str:
        return messages.sentence(self.code, self.values)


class NotFiniteWarning(_CodedWarning):
    """nan or inf among good numbers; the result is nan there."""


class DoubtWarning(_CodedWarning):
    """A number that is returned, but is doubtful; the code names the reason.

    Beyond the range that the source of a formula vouches for, or with an argument that no such
    network has. Python shows it once for each line that calls; ``warnings.simplefilter("ignore",
    DoubtWarning)`` silences it. One with ``warns`` false is for people who read an answer: it
    names what the formula leaves out, which a programmer reads in its docstring.
    """

    warns = True


class MixedInstallationWarning(_CodedWarning):
    """Another distribution has a package ``netcalc`` in the same folder: their files mix."""

    def __str__(self) -> str:
        return _sentences(super().__str__(), messages.hint(self.code, self.values))


_listener: ContextVar[list[DoubtWarning] | None] = ContextVar("_listener", default=None)


@contextmanager
def doubts() -> Iterator[list[DoubtWarning]]:
    """Collect the doubts about the models that are called inside, in place of warnings.

    >>> from netcalc.models.tcp.loss_limited import mathis_throughput_bps
    >>> with doubts() as found:
    ...     rate = mathis_throughput_bps(0.3, mss_bytes=1460, rtt_s=0.1)
    >>> [doubt.code for doubt in found]
    ['beyond-published-range']
    """
    doubt_warnings: list[DoubtWarning] = []
    token = _listener.set(doubt_warnings)
    try:
        yield doubt_warnings
    finally:
        _listener.reset(token)


def tell_doubts(doubt_warnings: Sequence[DoubtWarning]) -> None:
    """Hand doubts to whoever collects them, else warn at the line that called the caller."""
    listener = _listener.get()
    if listener is not None:
        listener.extend(doubt_warnings)
        return
    for doubt in doubt_warnings:
        if doubt.warns:
            warnings.warn(doubt, stacklevel=3)


def _restored(
    kind: type[NetcalcError], arguments: tuple[Any, ...], fields: dict[str, Any]
) -> NetcalcError:
    error = kind.__new__(kind, *arguments)
    vars(error).update(fields)
    return error


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: a limit may be inf, a value an array or an object."""
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if isinstance(value, str | int | float | None) else safe_str(value)


def _sentences(first: str, hint: str | None) -> str:
    return printable_lines(f"{first}. {hint}" if hint else first)
