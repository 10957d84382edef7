"""What limits a measurement: every limit, which one binds, how sure that is, and how to test it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from netcalc.explain.causes.cause import HIGH, MEDIUM, UNKNOWN_CAUSE, Cause, cause_of_limit
from netcalc.language import phrase, term
from netcalc.messages import Notice
from netcalc.rate_layers import UNKNOWN, named
from netcalc.units import show

APART_RATIO = 1.5
"""The next limit is clearly another one if it is this many times higher. [ratio]"""
SURE_TOLERANCE = 0.2
"""A limit that is known this well can be recognized with high confidence. [ratio]"""

LINE_NAMES = ("line", "fragments")
"""Limits that are the rate of the line."""
CONFIDENCES = (term("high"), term("medium"), term("low"))
"""How sure a finding is."""
STATED, SURE_LIMIT = ("line", "fragments", "packet-rate"), 0.05
"""Limits that somebody stated, or that several sizes show: a rate at one of them is explained."""
DISTURBED = (
    "probes-at-once",
    "few-answers",
    "rtt-refuted",
    "idle-refuted",
    "runs-apart",
    "whole-table-low",
)
"""Notices of measurements that changed what they measured, or are too few to show it."""
MOST_OF_LIMIT, FULL_LIMIT = 1.01, 0.99
"""Above the first a limit is not that sure; from the second on it is reached. [ratio]"""
LOSS_NAMES = "loss-"
"""How the names of limits by loss begin."""


FINDING_SCHEMA = 1
"""Version of the members of a finding in JSON."""
_OF_LAYER = frozenset({
    "offered", "processor", "receiver-processor", "pair-share", "saturation",
    "rates-over-time",
    "limit-refuted", "link",
})  # fmt: skip
"""Limits and notices whose sentences have a rate of the layer of the measurement."""


@dataclass(frozen=True, slots=True)
class Limit:
    """An upper limit of a rate, or a part of a time, with its arithmetic and how to test it.

    ``values`` are those of its sentences; ``tolerance_ratio`` says how well it is known: 0.5 where
    a measurement within a factor of 1.5 agrees with it. A limit ``for_comparison`` is not one
    of this sender: another algorithm, or a consequence of the others.
    """

    name: str
    value: float
    unit: str
    tolerance_ratio: float
    values: Mapping[str, Any] = field(default_factory=dict)
    for_comparison: bool = False

    @property
    def subject(self) -> str:
        """What it is, in a few words."""
        code = f"limit-{self.name}"
        return str(Notice(code, dict(self.values)))

    @property
    def arithmetic(self) -> Notice:
        """The numbers behind it."""
        code = f"how-{self.name}"
        own = {"layer": UNKNOWN} if self.name in _OF_LAYER else {}
        return Notice(code, {**own, **self.values})

    @property
    def assumption(self) -> Notice:
        """What it takes for granted, where that matters most."""
        code = f"assumes-{self.name}"
        return Notice(code, dict(self.values))

    @property
    def test(self) -> Notice:
        """The cheapest test that would confirm it."""
        code = f"confirm-{self.name}"
        return Notice(code, dict(self.values))

    def agrees(self, measured: float) -> bool:
        """Whether a measured value is that of the limit, as well as it is known."""
        within = 1.0 + self.tolerance_ratio
        return bool(self.value > 0 and 1 / within <= measured / self.value <= within)

    def refuted(self, measured: float) -> bool:
        """Whether more was measured than it allows, so that something assumed is wrong."""
        return bool(measured > self.value * (1.0 + self.tolerance_ratio))

    def as_dict(self) -> dict[str, Any]:
        """Return the limit as JSON has it."""
        return {
            "name": self.name,
            "subject": self.subject,
            "value": self.value,
            "unit": self.unit,
            "tolerance_ratio": self.tolerance_ratio,
            "for_comparison": self.for_comparison,
            "values": dict(self.values),
            "arithmetic": str(self.arithmetic),
            "assumption": str(self.assumption),
            "test": str(self.test),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What limits one run, flow or target.

    Parameters
    ----------
    label : str
        Which one, where there are several.
    unit : {'bit/s', 's'}
        That of a rate with its ceilings, or of a time with its parts.
    measured : float
        The rate or the time; nan where the file has none.
    limits : tuple of Limit
        All that could be computed: ceilings from the lowest, parts from the largest.
    notices : tuple of Notice
        What else the numbers show: loss between two counts, a queue that grew.
    missing : tuple of Notice
        What to state for further limits.
    metrics : mapping
        Quantities that judge the measurement, by name, in SI units.
    cause : Cause, optional
        What the time was waited for, where the measurement shows it; otherwise the limit that
        agrees with the rate says it.
    layer : str
        Layer of the rates, as in :mod:`netcalc.rate_layers`; ``unknown`` where nobody says it,
        empty for times.
    """

    label: str = ""
    unit: str = "bit/s"
    measured: float = math.nan
    limits: tuple[Limit, ...] = ()
    notices: tuple[Notice, ...] = ()
    missing: tuple[Notice, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    layer: str = ""
    cause: Cause | None = None

    def __post_init__(self) -> None:
        if self.unit != "bit/s":
            return
        layer = self.layer or UNKNOWN

        def layered(said: Any, name: str) -> Any:
            return (
                replace(said, values={**said.values, "layer": layer}) if name in _OF_LAYER else said
            )

        limits = tuple(layered(limit, limit.name) for limit in self.limits)
        notices = tuple(layered(notice, notice.code) for notice in self.notices)
        for name, value in (("layer", layer), ("limits", limits), ("notices", notices)):
            object.__setattr__(self, name, value)

    @property
    def candidates(self) -> tuple[Limit, ...]:
        """The limits that can bind: neither for comparison nor refuted by the measurement."""
        own = (limit for limit in self.limits if not limit.for_comparison)
        if self.unit == "s" or math.isnan(self.measured):
            return tuple(own)
        return tuple(limit for limit in own if not limit.refuted(self.measured))

    @property
    def is_explained(self) -> bool:
        """Whether a cause is known, or a limit agrees with the measurement."""
        if self.cause is not None:
            return self.cause.code != UNKNOWN_CAUSE
        if self.unit == "s":
            return bool(self.limits)
        return any(candidate.agrees(self.measured) for candidate in self.candidates)

    @property
    def binding(self) -> Limit | None:
        """The limit that binds; where none agrees with the measurement, the lowest one.

        Of several that agree it is the one known best: a transfer at line rate loses packets in the
        full buffer, so that the formulas of loss agree with it too, within their factor.
        """
        candidates, cause = self.candidates, self.cause
        if cause is not None:
            of_cause = (each for each in self.limits if self._is_of_cause(each.name, cause.code))
            candidates = tuple(of_cause)
        if cause is not None or self.unit == "bit/s":
            own = (each for each in candidates if not each.for_comparison)
            agreeing = [each for each in own if each.agrees(self.measured)]
            if agreeing:
                return min(agreeing, key=self._distance)
        return next(iter(candidates), None)

    @staticmethod
    def _is_of_cause(name: str, code: str) -> bool:
        """Whether a limit is of a cause: what waits above the least may be in front of a line."""
        return cause_of_limit(name) == code or (name, code) == ("queue-above-least", "line")

    def _distance(self, limit: Limit) -> tuple[float, float]:
        return limit.tolerance_ratio, abs(math.log(self.measured / limit.value))

    @property
    def following(self) -> Limit | None:
        """The next limit: what would bind if the first one were gone."""
        first = self.binding
        others = [candidate for candidate in self.candidates if candidate is not first]
        if first is not None and self.unit == "bit/s":
            above = [limit for limit in others if limit.value >= first.value]
            others = above or others
        return others[0] if others else None

    @property
    def share_ratio(self) -> float:
        """The measured rate over the binding ceiling, or the largest part over the time."""
        first = self.binding
        if first is None or first.value <= 0:
            return math.nan
        if self.unit == "s":
            return first.value / self.measured if self.measured > 0 else math.nan
        return self.measured / first.value

    @property
    def confidence(self) -> str:
        """``high``, ``medium`` or ``low``: how well the limit is known, and how far the next is."""
        if self.cause is not None:
            return self.cause.confidence
        first, second = self.binding, self.following
        if first is None or math.isnan(self.measured) or not self.is_explained:
            return "low"
        doubts = DISTURBED if first.name in LINE_NAMES else (*DISTURBED, "two-points")
        is_doubtful = any(notice.code in doubts for notice in self.notices)
        if is_doubtful or cause_of_limit(first.name) == UNKNOWN_CAUSE:
            return "low"
        if self.unit == "s":
            # Of a response alone nobody knows how many round trips it took.
            is_sure = all(question.code != "ask-rtt" for question in self.missing)
            is_sure &= first.tolerance_ratio <= SURE_TOLERANCE
            return "high" if self.share_ratio >= 0.8 and is_sure else "medium"
        if self.may_be_line:
            return "low"
        apart = second is None or second.value >= APART_RATIO * first.value
        return "high" if apart and first.tolerance_ratio <= SURE_TOLERANCE else "medium"

    @property
    def may_be_line(self) -> bool:
        """Whether loss explains the rate, but may be that of the full buffer of an unknown line."""
        first = self.binding
        if first is None or not first.name.startswith(LOSS_NAMES) or not self.is_explained:
            return False
        return not any(limit.name in LINE_NAMES for limit in self.limits)

    @property
    def said(self) -> Notice:
        """The finding in one sentence, as a code with values."""
        if self.cause is not None:
            return self.cause.said
        first, second = self.binding, self.following
        if first is None and self.measured > 0 and self.unit == "bit/s":
            own = [limit for limit in self.limits if not limit.for_comparison]
            if own:  # all of them refuted
                layer = {"layer": self.layer}
                return Notice("explained-above-all", {"measured": self.measured, **layer})
        if first is None:
            return self._silence or Notice("explained-nothing")
        values = {
            "subject": first.subject,
            "value": first.value,
            "measured": self.measured,
            "share": self.share_ratio,
            "next": "" if second is None else second.subject,
            "next_value": math.nan if second is None else second.value,
            "layer": self.layer,
        }
        # A lower limit than the one that binds is not the next: the rate is above it.
        alone = second is None or (self.unit == "bit/s" and second.value < first.value)
        if first.name == "clock":
            return Notice("explained-clock", {"measured": self.measured, **first.values})
        if self.unit == "s":
            return Notice("explained-time" if alone else "explained-time-next", values)
        if math.isnan(self.measured):
            return Notice("explained-ceiling" if alone else "explained-ceiling-next", values)
        if not self.is_explained:
            return Notice("explained-gap", values)
        return Notice("explained-rate" if alone else "explained-rate-next", values)

    @property
    def _silence(self) -> Notice | None:
        """What says that nothing was answered, which is then the finding; None of others."""
        codes = "none-answered", "none-answered-but", "routing-loop"
        return next((notice for notice in self.notices if notice.code in codes), None)

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        if self.cause is not None:
            return self.cause.sentence if self._limit_of_cause is None else self._said_at_limit
        text = str(self.said)
        return f"{text[:1].upper()}{text[1:]}."

    @property
    def _limit_of_cause(self) -> Limit | None:
        """The limit of a cause without a share of the time, where the rate agrees with it."""
        first, cause = self.binding, self.cause
        if cause is None or first is None or self.unit != "bit/s":
            return None
        if cause.variant or cause.share_of_time > 0:
            return None
        return first if first.agrees(self.measured) else None

    @property
    def _said_at_limit(self) -> str:
        first, said = self._limit_of_cause, str(self.said)
        assert first is not None
        values = {
            "cause": f"{said[:1].upper()}{said[1:]}", "measured": self.measured,
            "share": self.share_ratio, "value": first.value, "layer": self.layer,
        }  # fmt: skip
        return f"{Notice('cause-at-limit', values)}."

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the table of the limits: name, value, measured over it, arithmetic."""
        rows = []
        for limit in self.limits:
            if self._says_nothing(limit):
                continue
            share = math.nan
            if self.unit == "bit/s":
                share = self.measured / limit.value
            elif self.measured > 0:
                share = limit.value / self.measured
            mark = "" if math.isnan(share) else f"{share:.0%}"
            if limit.for_comparison:
                mark = phrase("{share}, for comparison", share=mark) if mark else ""
            rows.append((limit.subject, self._shown(limit.value), mark, str(limit.arithmetic)))
        return rows

    def _says_nothing(self, limit: Limit) -> bool:
        """Whether a limit would be a row beside the cause: what a full line drops allows no rate,
        slow start no rate of a flow of hundreds of round trips, and what is for comparison says
        nothing where its value is that of another limit.
        """
        if limit.for_comparison and self._is_said_before(limit):
            return True
        if self.cause is None or self.cause.code in ("random-loss", UNKNOWN_CAUSE):
            return limit.name == "slow-start" and limit.for_comparison
        is_loss = limit.name.startswith(LOSS_NAMES) and limit.refuted(self.measured)
        return is_loss or (limit.name == "slow-start" and limit.for_comparison)

    def _is_said_before(self, limit: Limit) -> bool:
        """Whether another formula of loss gives the same: CUBIC below its own growth is Reno."""
        if not limit.name.startswith(LOSS_NAMES):
            return False
        others = [each for each in self.limits if each.name.startswith(LOSS_NAMES)]
        row = others.index(limit)
        same = [each for each in others if math.isclose(each.value, limit.value, rel_tol=1e-6)]
        return any(not each.for_comparison or others.index(each) < row for each in same)

    def _shown(self, value: float) -> str:
        return named(show(value, self.unit), self.layer)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON has it."""
        first, second = self.binding, self.following
        return {
            "schema": FINDING_SCHEMA,
            "label": self.label,
            **self._cause.as_dict(),
            "unit": self.unit,
            "layer": self.layer,
            "measured": None if math.isnan(self.measured) else self.measured,
            "sentence": self.sentence,
            "code": self.said.code,
            "binding": None if first is None else first.name,
            "next": None if second is None else second.name,
            "share_ratio": None if math.isnan(self.share_ratio) else self.share_ratio,
            "is_explained": self.is_explained,
            "confidence": self.confidence,
            "assumption": None if first is None else str(first.assumption),
            "test": None if self.test is None else str(self.test),
            "limits": [{**limit.as_dict(), "layer": self.layer} for limit in self.limits],
            "metrics": {k: v for k, v in self.metrics.items() if not math.isnan(v)},
            "notices": [notice.stored() for notice in self.notices],
            "missing": [question.stored() for question in self.missing],
        }

    @property
    def _cause(self) -> Cause:
        """The cause, or that of the limit that agrees with the measurement."""
        if self.cause is not None:
            return self._shared(self.cause)
        first = self.binding
        if first is None or not self.is_explained:
            return Cause()
        share = self.share_ratio if self.unit == "s" else math.nan
        return self._shared(Cause(code=cause_of_limit(first.name), share_of_time=share))

    def _shared(self, cause: Cause) -> Cause:
        """Return the cause of a time with all shares of it: its own, and the rest."""
        share = cause.share_of_time
        if self.unit != "s" or cause.shares or not 0 < share <= 1:
            return cause
        shares = {cause.code: share}
        if self.cause is None:
            for limit in self.limits:
                code = cause_of_limit(limit.name)
                part = 0.0 if limit is self.binding else limit.value / self.measured
                shares[code] = shares.get(code, 0.0) + part
        elif share < 1:
            shares["delay-variation" if cause.code == "distance" else "distance"] = 1 - share
        ordered = sorted(shares.items(), key=lambda item: -item[1])
        return replace(cause, shares=dict(ordered))

    @property
    def _stated(self) -> Limit | None:
        """The limit that is known as well as the line, and that agrees; else None."""
        sure = (each for each in self.candidates if each.tolerance_ratio <= SURE_LIMIT)
        agreeing = (each for each in sure if each.name in STATED and each.agrees(self.measured))
        return min(agreeing, key=self._distance, default=None)

    @property
    def stated(self) -> Cause | None:
        """The cause of a limit that is known as well as the line, and that agrees; else None."""
        first = self._stated
        if first is None:
            return None
        sure = HIGH if self.measured <= MOST_OF_LIMIT * first.value else MEDIUM
        return Cause(code=cause_of_limit(first.name), confidence=sure)

    @property
    def is_below_stated(self) -> bool:
        """Whether the rate does not quite reach the stated limit with which it agrees."""
        first = self._stated
        return first is not None and self.measured < FULL_LIMIT * first.value

    @property
    def test(self) -> Notice | None:
        """The cheapest test that would confirm the cause, or decide which it is."""
        if self.cause is not None:
            return self.cause.test
        if self._is_riddle:
            return Cause().test
        return None if self.binding is None else self.binding.test

    @property
    def _is_riddle(self) -> bool:
        """Whether a rate was measured that no limit explains: then none of them is advised on."""
        return self.unit == "bit/s" and not math.isnan(self.measured) and not self.is_explained

    @property
    def sureness(self) -> str:
        """How sure the binding limit is, and on what assumption; empty without one."""
        if self.cause is not None:
            return phrase("Confidence: {confidence}.", confidence=phrase(self.cause.confidence))
        if self.binding is None:
            return ""
        if self._is_riddle:
            return phrase("Confidence: {confidence}.", confidence=phrase(self.confidence))
        return phrase(
            "Confidence: {confidence}, if {assumption}.",
            confidence=phrase(self.confidence),
            assumption=self.binding.assumption,
        )

    @property
    def headline(self) -> str:
        """The sentence, behind the label."""
        return f"{self.label}: {self.sentence}" if self.label else self.sentence

    @property
    def arithmetic(self) -> list[str]:
        """The numbers behind the sentence: signs of the cause, and each limit, a line each."""
        lines = [] if self.cause is None else [f"  {line}" for line in self.cause.lines()]
        for subject, value, share, how in self.rows():
            lines.append(f"  {subject}: {value}{f' [{share}]' if share else ''}: {how}")
        return lines

    @property
    def remarks(self) -> list[str]:
        """What else is to be known: notes, the confidence, the test, what is not known."""
        notes = (notice for notice in self.notices if notice is not self._silence)
        lines = [phrase("  note: {one}", one=note) for note in notes]
        if self.sureness:
            lines.append(self.sureness)
        if self.test is not None:
            decide = "To decide: {test}." if not self.is_explained else "To confirm: {test}."
            lines.append(phrase(decide, test=self.test))
        return lines + [phrase("Not known: {one}.", one=question) for question in self.missing]

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.arithmetic, *self.remarks])
