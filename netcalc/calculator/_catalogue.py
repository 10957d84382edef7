"""Every public model by name: listed, found, searched."""

from __future__ import annotations

import re
import sys
from functools import cache

from netcalc import models
from netcalc.calculator import _formula_names, _index
from netcalc.calculator._formula import Formula
from netcalc.errors import DomainError, NetcalcError

FORMER_SUBJECTS = {
    "cubic_under_loss": "cubic",
    "pftk_inverse": "pftk",
    "rate_reading": "packet_rates",
}
"""Subjects that were renamed or joined to another, with their present names."""

FORMER_NAMES = {
    "balance": "half_rate",
    "balance_bytes": "half_rate_bytes",
    "mm1_state": "mm1_state_probability",
    "mm1_state_ratio": "mm1_state_probability",
}
"""Former names of formulas, with and without their unit: what people typed keeps working."""


class Formulas(list[Formula]):
    """Formulas, one a line where they are printed."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "[]"


@cache
def formulas() -> dict[str, Formula]:
    """Return every public model by its full name, in the order of the chapters.

    Examples
    --------
    >>> "latency.transfer_s" in formulas()
    True
    """
    found: dict[str, Formula] = {}
    for subject in models.SUBJECTS:
        found |= subject_formulas(subject)
    return found


@cache
def subject_formulas(subject: str) -> dict[str, Formula]:
    """Return the public models of one file by their full name.

    Raises
    ------
    NetcalcError
        If there are no docstrings, from which formulas are made: ``python -OO`` removes them.
    """
    if sys.flags.optimize > 1:
        raise NetcalcError("docstrings-removed")
    module = models.subject_module(subject)
    return {
        f"{subject}.{name}": Formula(f"{subject}.{name}", getattr(module, name))
        for name in _index.public_names(module)
    }


def formula(name: str) -> Formula:
    """Return a formula by name: ``transfer``, ``transfer_s`` or ``latency.transfer_s``.

    Former names are understood, too, and what people call a formula (``mathis``, ``pps``).

    Raises
    ------
    DomainError
        If no formula has that name, or several do; the nearest are named.
    """
    wanted = _present_name(re.sub(r"[-\s]+", "_", name.strip()))
    exact, short = _index.exact(), _index.short()
    found = exact.get(wanted) or short.get(wanted) or []
    if not found:
        found = exact.get(wanted.lower()) or short.get(wanted.lower()) or []
    if len(found) != 1 and (called := _formula_names.called(wanted)):
        found = exact.get(called) or short.get(called) or []
    if len(found) == 1:
        return subject_formulas(found[0].partition(".")[0])[found[0]]
    if found:
        choices = [command(formula(one)) for one in found]
        raise DomainError("formula-ambiguous", "formula", name, choices=choices)
    raise DomainError("formula-unknown", "formula", name, suggestions=_near(name, wanted))


def _near(name: str, wanted: str) -> list[str]:
    """Return the commands that an unknown name may mean: those alike, and those that answer it."""
    from difflib import get_close_matches  # late: most names are known

    known = {f.short_name: f for f in formulas().values()}
    close = get_close_matches(wanted, known, n=3, cutoff=0.7)
    close += [command(f) for f in search(name.replace("-", " "))[: 4 - len(close)]]
    close = close or get_close_matches(wanted, known, n=4, cutoff=0.5)
    return list(dict.fromkeys(one.replace("_", "-") for one in close))


def _present_name(name: str) -> str:
    """Return a name with its subject and its formula as they are called now."""
    subject, dot, short = name.rpartition(".")
    return FORMER_SUBJECTS.get(subject, subject) + dot + FORMER_NAMES.get(short, short)


def command(wanted: Formula) -> str:
    """Return the shortest name that means only this formula, as it is typed.

    Examples
    --------
    >>> command(formula("latency.satellite_rtt_s"))
    'satellite-rtt'
    """
    used = _index.times_used()
    for name in (wanted.short_name, wanted.function_name):
        if used[name] == 1:
            return name.replace("_", "-")
    return wanted.name.replace("_", "-")


def search(words: str) -> list[Formula]:
    """Return the formulas that answer a question, the best first; without words, all of them.

    All begin with those that most questions need, as :func:`listed` has them.

    Parameters
    ----------
    words : str
        A few words as people use them: ``"vpn overhead"``, ``"packets per second"``.

    Returns
    -------
    list of Formula
        Each with ``name``, ``summary``, ``parameters`` and ``function``; it is called as that.

    Examples
    --------
    >>> search("speed of light")
    propagation: One-way propagation delay over a distance; propagation_s(distance_m, *, ...)
    signal-speed: Speed of light in a fibre; signal_speed_m_s(refractive_index)
    >>> search("bandwidth delay")[0](0.1, bandwidth_bps=1e9)
    12500000.0
    >>> [command(found) for found in search("satellite")][:1]
    ['satellite-rtt']
    >>> command(search("fiber latency")[0])
    'propagation'
    """
    if not words.strip():
        return Formulas(dict.fromkeys(one for _, _, found in listed() for one in found))
    from netcalc.calculator import _search  # late: most formulas are asked for by name

    return Formulas(_search.ranked(words, formulas().values()))


def datasets(words: str) -> list[str]:
    """Return the bundled tables that answer a question beside formulas.

    Examples
    --------
    >>> datasets("5G latency"), datasets("vxlan")
    (['access_latencies'], [])
    """
    from netcalc.calculator import _search  # late: most answers come without a search

    return _search.datasets(words)


def asked_for(wanted: Formula) -> tuple[str, ...]:
    """Return what people ask a formula for, in their words.

    Examples
    --------
    >>> "link utilization" in asked_for(formula("line-utilization"))
    True
    """
    from netcalc.calculator import _search  # late, as above

    return _search.asked_for(wanted)


def synonyms() -> dict[str, tuple[str, ...]]:
    """Return words of a question, each with others that mean the same.

    Examples
    --------
    >>> "wait" in synonyms()["delay"]
    True
    """
    from netcalc.calculator import _search  # late, as above

    return _search.synonyms()


def listed() -> list[tuple[str, str, list[Formula]]]:
    """Return the catalogue in parts: chapter, subject and formulas, those most needed first.

    The first part has no subject; its formulas are in their chapters, too.

    Examples
    --------
    >>> title, _, found = listed()[0]
    >>> title, len(found), command(found[0])
    ('most needed', 15, 'transfer-time')
    """
    from netcalc.calculator import _synonyms  # late, as the search

    parts = [("most needed", "", [formula(name) for name in _synonyms.MOST_NEEDED])]
    for chapter, subjects in models.CHAPTERS.items():
        parts += [(chapter, one, list(subject_formulas(one).values())) for one in subjects]
    return parts
