"""Points for a cell of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netcalc.exercises._verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Points for several answers: one for each right one.

    Parameters
    ----------
    verdicts : mapping of str to Verdict
        What is said about each answer, by the id of its exercise.
    """

    verdicts: Mapping[str, Verdict]

    @property
    def total(self) -> int:
        """Number of right answers."""
        return sum(verdict.is_right for verdict in self.verdicts.values())

    @property
    def most(self) -> int:
        """Number of answers."""
        return len(self.verdicts)

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        answers = {name: verdict.as_dict() for name, verdict in self.verdicts.items()}
        return {"points": self.total, "most": self.most, "answers": answers}

    def __str__(self) -> str:
        lines = [f"{name}: {verdict}" for name, verdict in self.verdicts.items()]
        return "\n".join([f"{self.total} of {self.most} points", *lines])
