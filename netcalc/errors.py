"""Every error a user can meet, and the one warning.

::

    NetcalcError
    +-- DomainError (ValueError)         a number that cannot be: a negative rate, a loss above 1
    +-- UnitError (ValueError)           text that is not one quantity of the unit wanted
    +-- ReaderError (ValueError)         a file or text that cannot be read right
    +-- DatasetError                     a bundled file that is missing or was changed
    +-- ConvergenceError (RuntimeError)  a search that ended without an answer
    +-- ExperimentError (RuntimeError)   a live run that could not start or go on
    +-- MissingPackageError (ImportError)  an extra that is not installed, or too old

    NotFiniteWarning (UserWarning)       nan or inf among good numbers

Each message says what is wrong, where, what was found, what was expected and what to do.
"""

from __future__ import annotations

from typing import Any

from netcalc.printable import printable_lines

LONGEST_SHOWN = 80
"""Of longer text that cannot be read, a message repeats so many characters."""


class NetcalcError(Exception):
    """Base of all errors that netcalc raises on purpose; its message can be printed anywhere."""

    def __init__(self, message: str = "") -> None:
        super().__init__(printable_lines(message))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by fields: a pool of processes hands errors over that way."""
        return _restored, (type(self), self.args, vars(self))

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the error, for JSON output."""
        fields = {name: value for name, value in vars(self).items() if value is not None}
        return {"type": type(self).__name__, "message": str(self), **fields}


class DomainError(NetcalcError, ValueError):
    """A number that cannot be: it names the argument, the value and the allowed range."""

    def __init__(self, name: str, value: object, allowed: str, *, hint: str | None = None) -> None:
        self.name = name
        self.value = value
        self.allowed = allowed
        self.hint = hint
        super().__init__(_sentences(f"{name} is {value!s}, allowed is {allowed}", hint))


class UnitError(NetcalcError, ValueError):
    """Text that cannot be read as one quantity of the unit wanted."""

    def __init__(
        self,
        text: object,
        *,
        expected: str,
        why: str,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.text = text
        self.expected = expected
        self.field = field
        self.hint = hint
        where = f"{field}: " if field else ""
        shown = repr(text)
        shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."
        super().__init__(_sentences(f"{where}cannot read {shown} as {expected}: {why}", hint))


class ReaderError(NetcalcError, ValueError):
    """A file or text that cannot be read right, with the place of the fault."""

    def __init__(
        self,
        what: str,
        *,
        file: str,
        line: int | None = None,
        offset: int | None = None,
        field: str | None = None,
        value: str | None = None,
        unit: str | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.what = what
        self.file = file
        self.line = line
        self.offset = offset
        self.field = field
        self.value = value
        self.unit = unit
        self.expected = expected
        self.hint = hint
        place = file
        if line is not None:
            place += f", line {line}"
        if offset is not None:
            place += f", byte {offset}"
        if field is not None:
            place += f", field {field}"
        details = what
        if value is not None:
            details += f"; found {value!r}"
        if expected is not None:
            details += f"; expected {expected}" + (f" [{unit}]" if unit else "")
        # "no measurement in ping.txt" names the file itself.
        named = place == file and what.startswith(f"no measurement in {file}")
        super().__init__(_sentences(details if named else f"{place}: {details}", hint))


class DatasetError(NetcalcError):
    """A bundled data file that is missing or differs from what was shipped."""

    def __init__(self, what: str, *, file: str, hint: str | None = None) -> None:
        self.what = what
        self.file = file
        self.hint = hint
        super().__init__(_sentences(f"{file}: {what}", hint))


class ConvergenceError(NetcalcError, RuntimeError):
    """A search that ended without an answer; the last iterate is told, never returned."""

    def __init__(self, what: str, *, iterations: int, residual: float, last: float) -> None:
        self.what = what
        self.iterations = iterations
        self.residual = residual
        self.last = last
        super().__init__(
            f"{what} did not converge in {iterations} iterations: "
            f"last value {last:g}, residual {residual:g}"
        )


class ExperimentError(NetcalcError, RuntimeError):
    """A live run that could not start or go on: the phase, the place and the way out.

    ``partial`` holds the samples that were measured before, if there are any.
    """

    def __init__(
        self,
        what: str,
        *,
        phase: str,
        host: str | None = None,
        port: int | None = None,
        hint: str | None = None,
        partial: Any = None,
    ) -> None:
        self.what = what
        self.phase = phase
        self.host = host
        self.port = port
        self.hint = hint
        self.partial = partial
        place = f" ({host}:{port})" if port is not None else f" ({host})" if host else ""
        super().__init__(_sentences(f"{phase}: {what}{place}", hint))

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the error without the samples, which have a form of their own."""
        return {name: value for name, value in super().as_dict().items() if name != "partial"}


class MissingPackageError(NetcalcError, ImportError):
    """An extra that is not installed, or too old, with the line that installs it."""

    def __init__(self, package: str, *, extra: str, purpose: str, found: str | None = None) -> None:
        self.package = package
        self.extra = extra
        self.found = found
        what = "which is not installed" if found is None else f"in a later version than {found}"
        super().__init__(
            f"{purpose} needs the package {package}, {what}. "
            f'Install it with: pip install "netcalc-lab[{extra}]"'
        )


class NotFiniteWarning(UserWarning):
    """nan or inf stood among good numbers; the result is nan there."""


def _restored(
    kind: type[NetcalcError], arguments: tuple[Any, ...], fields: dict[str, Any]
) -> NetcalcError:
    error = kind.__new__(kind, *arguments)
    vars(error).update(fields)
    return error


def _sentences(first: str, hint: str | None) -> str:
    return f"{first}. {hint}" if hint else first
