"""What is said about an answer."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "right", "named", "several", "power of ten", "unit missing", "unit wrong", "not named",
    "asked back", "unreadable",
)  # fmt: skip
"""The kinds of verdict; the last two do not count as a try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is said about an answer; the right number is in no part of it.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    names : tuple of str
        Names of the mistakes that lead to this answer.
    sentence : str
        What is wrong.
    question : str
        Question to ask back, before the mistake is named; empty if there is none.
    next_step : str
        What to do.
    """

    kind: str
    names: tuple[str, ...] = ()
    sentence: str = ""
    question: str = ""
    next_step: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the answer is right."""
        return self.kind == "right"

    @property
    def counts(self) -> bool:
        """Whether the answer counts as a try."""
        return self.kind not in ("asked back", "unreadable")

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "kind": self.kind,
            "names": list(self.names),
            "sentence": self.sentence,
            "question": self.question,
            "next_step": self.next_step,
            "counts": self.counts,
            "right": self.is_right,
        }

    def __str__(self) -> str:
        named = f"{self.kind}: {', '.join(self.names)}" if self.names else self.kind
        return " ".join(filter(None, (f"{named}.", self.sentence, self.question, self.next_step)))
