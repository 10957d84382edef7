"""Facts about a set of samples other than its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from netcalc.checks import named_arguments
from netcalc.messages import Notice
from netcalc.samples._facts import FactRow
from netcalc.samples._instrument import Instrument

SCHEMA = 1
"""Number of the file format; a file with a higher one is refused by name."""


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Facts about a set of samples other than its numbers.

    Parameters
    ----------
    tool, tool_version, command : str
        The program that measured, as far as its output shows.
    host, target : str
        The machine it ran on, and the target it measured.
    source, sha256 : str
        Base name and SHA-256 of the file the samples were read from.
    clock : str
        Which clock the times are from.
    start : str
        When it began, as ISO 8601 with a zone.
    note : str
        What a reader should know, in a sentence.
    units, layers : mapping of str to str
        Per column: its SI unit, and the layer a size or rate is counted at.
    resolutions : mapping of str to float
        Per column: the step in which its numbers were written, in its SI unit.
    printed : mapping
        The tool's own summary, as printed, beside what netcalc counts.
    experiment, protocol : str
        Which live experiment it was, and by which protocol; empty for a file of another tool.
    instrument : Instrument
        What a live run records of itself; a mapping is taken for its facts by name.
    facts : tuple of mappings
        What the file says in a few numbers: a row for each run, host or direction, by the names of
        :data:`netcalc.samples.FACTS`. Empty where the columns alone show it.
    guess : mapping
        What a reader of a lesson expected before the run: ``what``, ``unit``, ``value`` in this
        unit, ``text`` as typed, and ``time``, ISO 8601 with a zone; empty without one.
    warnings : tuple of Notice
        What was repaired, skipped or does not agree; text is taken for a sentence without a code.
    partial : bool
        True if the measurement ended before it was complete.
    schema : int
        Number of the file format.
    """

    tool: str = ""
    tool_version: str = ""
    command: str = ""
    host: str = ""
    target: str = ""
    source: str = ""
    sha256: str = ""
    clock: str = ""
    start: str = ""
    note: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    layers: Mapping[str, str] = field(default_factory=dict)
    resolutions: Mapping[str, float] = field(default_factory=dict)
    printed: Mapping[str, Any] = field(default_factory=dict)
    experiment: str = ""
    protocol: str = ""
    instrument: Instrument = field(default_factory=Instrument)
    facts: tuple[FactRow, ...] = ()
    guess: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()
    partial: bool = False
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        facts: Any = self.instrument
        if isinstance(facts, Mapping):
            object.__setattr__(self, "instrument", Instrument.load(facts))
        object.__setattr__(self, "facts", tuple(dict(row) for row in self.facts))
        given: tuple[Any, ...] = self.warnings
        notices = (one if isinstance(one, Notice) else Notice.load(one) for one in given)
        object.__setattr__(self, "warnings", tuple(notices))

    def stored(self) -> dict[str, Any]:
        """Return the facts as a saved file has them."""
        found: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        found["facts"] = [dict(row) for row in self.facts]
        found["instrument"] = self.instrument.stored()
        found["warnings"] = [notice.stored() for notice in self.warnings]
        return found
