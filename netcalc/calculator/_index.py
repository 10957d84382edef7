"""The names of all public models, read from their files: none is loaded to find another by name."""

from __future__ import annotations

import inspect
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import ModuleType

from netcalc import models
from netcalc.calculator._parameter import SUFFIX

_FUNCTION = re.compile(rb"\ndef ([a-z]\w*)")


def public_names(module: ModuleType) -> list[str]:
    """Return the names of the public models of a file.

    Examples
    --------
    >>> public_names(models.subject_module("channel"))
    ['nyquist_bps', 'shannon_bps', 'shannon_snr_db']
    """
    return [
        name
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and function.__module__ == module.__name__
    ]


@cache
def defined() -> Mapping[str, Sequence[str]]:
    """Return the names of the public models of each subject, in their order.

    Examples
    --------
    >>> defined()["channel"]
    ['nyquist_bps', 'shannon_bps', 'shannon_snr_db']
    """
    folder = os.path.dirname(models.__file__)  # noqa: PTH120 - pathlib takes 2 ms to load
    found = {}
    for chapter, subjects in models.CHAPTERS.items():
        for subject in subjects:
            try:
                with open(f"{folder}/{chapter}/{subject}.py", "rb") as file:  # noqa: PTH123
                    found[subject] = [one.decode() for one in _FUNCTION.findall(file.read())]
            except OSError:  # where a program and its modules are one file
                found[subject] = public_names(models.subject_module(subject))
    return found


@cache
def exact() -> Mapping[str, Sequence[str]]:
    """Return the full names of models by their names with the unit: ``transfer_s``."""
    return _by_name(lambda name: name)


@cache
def short() -> Mapping[str, Sequence[str]]:
    """Return the full names of models by their names without the unit: ``transfer``."""
    return _by_name(lambda name: SUFFIX.sub("", name))


def _by_name(called: Callable[[str], str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for subject, names in defined().items():
        for name in names:
            word = called(name)
            found.setdefault(word, []).append(f"{subject}.{name}")
            found.setdefault(f"{subject}.{word}", []).append(f"{subject}.{name}")
    return found


@cache
def times_used() -> Counter[str]:
    """Return how many models each name may mean, with the unit and without it."""
    names = [name for names in defined().values() for name in names]
    return Counter(one for name in names for one in {name, SUFFIX.sub("", name)})
