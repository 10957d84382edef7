"""Claims computed again, compared with what is printed, and held against the record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from netcalc import units
from netcalc.claims.expression import evaluate_expression, parse_readings
from netcalc.claims.quantity import Quantity
from netcalc.claims.table import Claim
from netcalc.errors import DomainError, UnitError

EXACT_RATIO = 1e-9
"""Numbers that differ by less than this are equal."""
ABOUT_RATIO = 0.1
"""What a text may call "about"."""
RECORD_RATIO = 1e-6
"""Precision of the numbers on record."""
MAX_CHAIN = 50
"""Most claims that lean on one another in a row."""

_SINGLE = re.compile(r"\s*(?P<number>[+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*(?P<unit>[^\d\s*/+-]\S*)?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A claim with what its formula gives now.

    Parameters
    ----------
    claim : Claim
        The claim.
    computed : tuple of float
        What each reading of the formula gives, in ``unit``; none if there is no formula.
    unit : str
        SI unit.
    verdict : str
        What follows from the comparison; for a number without a formula, the one on record.
    fault : str
        How this differs from the record; empty if it does not.
    """

    claim: Claim
    computed: tuple[float, ...]
    unit: str
    verdict: str
    fault: str = ""

    @property
    def printed_text(self) -> str:
        """The number as printed; ``< 1 ms`` if it is a bound."""
        sign = {"below": "< ", "above": "> "}.get(self.claim.relation, "")
        return sign + self.claim.printed

    @property
    def computed_text(self) -> str:
        """What the formula gives, in the unit that is printed."""
        return "; ".join(self._shown(value) for value in self.computed)

    @property
    def reason(self) -> str:
        """Why, in a sentence or two: the fault, and the note on record."""
        return ". ".join(filter(None, (self.fault, self.claim.note)))

    def as_dict(self) -> dict[str, object]:
        """Return it as a row, for JSON and CSV."""
        claim = self.claim
        return {
            "source": claim.source,
            "work": claim.work,
            "place": claim.place,
            "id": claim.id,
            "quantity": claim.quantity,
            "printed": claim.printed,
            "relation": claim.relation,
            "value": claim.value,
            "computed": list(self.computed),
            "unit": self.unit,
            "formula": claim.formula,
            "verdict": self.verdict,
            "recorded_verdict": claim.verdict,
            "reason": claim.note,
            "fault": self.fault,
        }

    def _shown(self, value: float) -> str:
        found = _SINGLE.fullmatch(self.claim.printed)
        if found is None or not found["unit"] or not float(found["number"]):
            return units.show(value, self.unit, digits=6)
        digits = len(re.sub(r"[.+-]|[eE].*", "", found["number"]).lstrip("0"))
        number = value / (float(self.claim.value or 1.0) / float(found["number"]))
        return f"{number:.{max(digits + 2, 4)}g} {found['unit']}"


def check(claims: Iterable[Claim]) -> list[Checked]:
    """Compute every claim and compare.

    Parameters
    ----------
    claims : iterable of Claim
        Of :func:`~netcalc.claims.book` or :func:`~netcalc.claims.read`; formulas may name one
        another's numbers.

    Returns
    -------
    list of Checked
        In the same order.

    Raises
    ------
    ReaderError
        If a formula cannot be read or computed, its unit does not fit what is printed, or claims
        lean on each other in a circle; with file, line and field.
    """
    known = {claim.id: claim for claim in claims}
    numbers = _Numbers(known)
    return [_checked(claim, numbers.readings(claim)) for claim in known.values()]


def counts(checked: Iterable[Checked]) -> dict[str, int]:
    """Return how many claims have each verdict, the most frequent first."""
    return dict(Counter(item.verdict for item in checked).most_common())


class _Numbers:
    """What formulas give, each computed once; a name means the printed number if there is one."""

    def __init__(self, known: Mapping[str, Claim]) -> None:
        self.known = known
        self.done: dict[str, tuple[Quantity, ...]] = {}
        self.open: list[str] = []

    def readings(self, claim: Claim) -> tuple[Quantity, ...]:
        """Return what each reading of the claim's formula gives."""
        if claim.id in self.done or not claim.formula:
            return self.done.get(claim.id, ())
        if claim.id in self.open:
            circle = " -> ".join([*self.open[self.open.index(claim.id) :], claim.id])
            raise claim.error(f"leans on itself: {circle}", field="formula")
        if len(self.open) >= MAX_CHAIN:
            raise claim.error(f"leans on more than {MAX_CHAIN} claims in a row", field="formula")
        self.open.append(claim.id)
        try:
            trees = parse_readings(claim.formula)
            self.done[claim.id] = tuple(evaluate_expression(tree, self.value) for tree in trees)
        except (DomainError, UnitError) as error:
            raise claim.error(str(error), field="formula") from None
        except RecursionError:
            raise claim.error("is too long to be computed", field="formula") from None
        self.open.pop()
        return self.done[claim.id]

    def value(self, name: str) -> Quantity:
        """Return the number that a name in a formula means."""
        claim = self.known.get(name)
        if claim is None:
            why = "a model with arguments, a named line, or the id of a claim"
            hint = "Put blanks round a minus" if "-" in name else None
            raise DomainError("name", repr(name), why, hint=hint)
        found = self.readings(claim)  # also of a printed one: no number may prove itself
        if claim.value is not None:
            return Quantity.of(claim.value, claim.unit)
        return found[0]


def _checked(claim: Claim, readings: Sequence[Quantity]) -> Checked:
    if not readings:
        return Checked(claim=claim, computed=(), unit=claim.unit, verdict=claim.verdict)
    unit = claim.unit or readings[0].unit
    if not unit or any(found.value.size != 1 for found in readings):
        raise claim.error("gives no single number of a known unit", field="formula")
    for found in readings:
        if found.dimensions != Quantity.of(1, unit).dimensions:
            wanted = f"printed is {claim.printed!r}" if claim.printed else f"its unit is {unit}"
            raise claim.error(f"gives {found}, {found.kind}, but {wanted}", field="formula")
    computed = tuple(found.to(unit).item() for found in readings)
    verdicts = {_verdict(claim, value) for value in computed}
    verdict = verdicts.pop() if len(verdicts) == 1 else "ambiguous"
    return Checked(
        claim=claim,
        computed=computed,
        unit=unit,
        verdict=verdict,
        fault=_fault(claim, computed[0], verdict),
    )


def _verdict(claim: Claim, computed: float) -> str:
    if claim.value is None:
        return "derived"
    if claim.relation == "limit":
        return "agree" if _at_most(claim.value, computed) else "physically inconsistent"
    if claim.relation in ("below", "above"):
        low, high = (computed, claim.value)[:: 1 if claim.relation == "below" else -1]
        return "agree" if _at_most(low, high) else "disagree"
    if _near(computed, claim.value, EXACT_RATIO):
        return "agree"
    if claim.relation == "about":
        return "agree rounded" if _near(computed, claim.value, ABOUT_RATIO) else "disagree"
    step = _last_digit(claim)
    if claim.relation == "cut":
        return "agree" if 0 <= abs(computed) - abs(claim.value) < step else "disagree"
    half = step / 2 * (1 + EXACT_RATIO)
    return "agree" if abs(computed - claim.value) <= half else "disagree"


def _last_digit(claim: Claim) -> float:
    """Return what one step of the last printed digit is worth; 0 for fractions and products."""
    found = _SINGLE.fullmatch(claim.printed)
    if found is None or claim.value is None:
        return 0.0
    number = Decimal(found["number"])
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    if number == 0:
        written = found["unit"] or ""
        return 10.0**exponent * (units.factor_of(written, claim.unit) if written else 1.0)
    return abs(claim.value) / float(abs(number)) * 10.0**exponent


def _fault(claim: Claim, computed: float, verdict: str) -> str:
    if claim.verdict and claim.verdict != verdict:
        return f"on record: {claim.verdict}"
    if claim.recorded is not None and not _near(computed, claim.recorded, RECORD_RATIO):
        return f"on record: computed {claim.recorded:.10g} {claim.unit}"
    return ""


def _near(first: float, second: float, ratio: float) -> bool:
    return abs(first - second) <= ratio * abs(second)


def _at_most(low: float, high: float) -> bool:
    return low <= high or _near(low, high, EXACT_RATIO)
