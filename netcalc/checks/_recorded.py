"""Stand-ins for numbers: a model that is run once with them is written down.

A check cannot look at a stand-in. It hands its rules over, to be applied to each number that takes
its place. No package is imported for it: what has ``__netcalc_recorded__`` is one.
"""

from __future__ import annotations

from typing import Any, TypeGuard


def is_recorded(value: Any) -> TypeGuard[Any]:
    """Whether a value stands for a number, or for an array of them.

    It has two methods more than an array: ``checked(name, **rules)`` returns it as a check returns
    an argument, ``judged(values, low, high, codes, said, where=, warns=)`` keeps the notes for
    numbers outside a range.

    >>> is_recorded(1500.0)
    False
    """
    return hasattr(type(value), "__netcalc_recorded__")


def has_recorded(value: Any) -> bool:
    """Whether a list has a stand-in among its numbers."""
    kinds = set(map(type, value)) if isinstance(value, list | tuple) else ()
    return any(hasattr(kind, "__netcalc_recorded__") for kind in kinds)
