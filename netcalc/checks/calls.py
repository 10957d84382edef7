"""Calls that do not fit a function: the argument that is wrong, and the one that was meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from netcalc.errors import ArgumentTypeError
from netcalc.printable import safe_repr

Called = TypeVar("Called", bound=Callable[..., Any])
_ALIKE = 0.7
"""Share of letters in common above which a name is taken for a misspelling, as for an option."""
_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_STARS: Mapping[Any, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
"""How a parameter that takes any number of arguments is written."""


def named_arguments(function: Called) -> Called:
    """Decorate a function or a class: a call that does not fit names the argument, and the nearest.

    A call that fits costs one more call; a TypeError from inside the function stays as it is.

    Examples
    --------
    >>> @named_arguments
    ... def total(rate_bps, *, time_s): ...
    >>> total(1e6, time=2)
    Traceback (most recent call last):
    netcalc.errors.ArgumentTypeError: total has no argument time; it takes rate_bps, time_s. Did
    you mean time_s?
    """
    if isinstance(function, type):
        function.__init__ = named_arguments(function.__init__)  # type: ignore[misc]
        return function

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            refuse_unfit(function, args, kwargs)
            raise

    return called  # type: ignore[return-value]


def refuse_unfit(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Raise an error that names the argument by which a call does not fit a function.

    Raises
    ------
    ArgumentTypeError
        If an argument is unknown or missing, or too many are without a name.
    TypeError
        If the call does not fit for another reason: an argument is there twice.
    """
    taken = signature(function)
    try:
        taken.bind(*args, **kwargs)
    except TypeError as error:
        refused = error
    else:
        return
    parameters = list(taken.parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters, args = parameters[1:], args[1:]
    named = [parameter for parameter in parameters if parameter.kind not in _STARS]
    names = [parameter.name for parameter in named]
    positions = [parameter.name for parameter in named if parameter.kind in _BY_POSITION]
    takes = [_STARS.get(parameter.kind, "") + parameter.name for parameter in parameters]
    said = {"function": function.__qualname__.removesuffix(".__init__"), "takes": takes}
    free = [name for name in names if name not in (*kwargs, *positions[: len(args)])]
    kinds = {parameter.kind for parameter in parameters}
    unknown = [name for name in kwargs if name not in names]
    if unknown and Parameter.VAR_KEYWORD not in kinds:
        name, value = unknown[0], safe_repr(kwargs[unknown[0]])
        near = _nearest(name, free)
        raise ArgumentTypeError("no-such-argument", name, value, suggestions=near, **said) from None
    if len(args) > len(positions) and Parameter.VAR_POSITIONAL not in kinds:
        name, value = ", ".join(free), safe_repr(args[len(positions)])
        code = "argument-without-name" if free else "too-many-arguments"
        raise ArgumentTypeError(code, name, value, high=len(positions), **said) from None
    for parameter in named:
        if parameter.name in free and parameter.default is Parameter.empty:
            name = parameter.name
            raise ArgumentTypeError("argument-not-given", name, "nothing", **said) from None
    raise refused from None


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    """Return the argument that a wrong name may mean: with its unit, or without it."""
    from difflib import get_close_matches  # late: most calls are right

    plain = {without: whole for whole in names for without in (whole.rpartition("_")[0], whole)}
    return [plain[near] for near in get_close_matches(name, plain, n=1, cutoff=_ALIKE)]
