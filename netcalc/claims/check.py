"""Claims recomputed, compared with the printed numbers and with the verdicts on record."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from netcalc import units
from netcalc.claims.expression import Quantity, evaluate_expression, parse_readings
from netcalc.claims.table import Claim
from netcalc.errors import DomainError, UnitError
from netcalc.messages import Notice

# Above the rounding of a long sum of floats (about 1e-12), and far below half a printed digit.
EXACT_RATIO = 1e-9
"""Numbers that differ by less than this are equal: the rounding of binary floating point."""
# Half of a single digit would be 50% of "about 1 ms", at which anything agrees.
ABOUT_RATIO = 0.1
"""Upper limit of a tolerance that follows from a single printed digit, such as "about 1 ms"."""
RECORD_RATIO = 1e-6
"""Precision of the computed numbers on record, which are stored with ten digits."""
# Far above any text, and below the depth at which Python's stack of 1000 frames ends the recursion.
MAX_CHAIN = 50
"""Longest chain of claims that refer to one another."""

_SINGLE = re.compile(r"\s*(?P<number>[+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*(?P<unit>[^\d\s*/+-]\S*)?\s*")
_FRACTION = re.compile(r"\s*(?P<numerator>\d+)\s*/\s*(?P<denominator>\d+)\s*(?:ratio)?\s*")
_BOUNDS = ("below", "above", "limit")
_TOLERANCES = {
    "": "half of the last printed digit",
    "about": "half of the last significant digit, at most 10 %",
    "cut": "one unit of the last printed digit, as the rest is cut off",
    "model": "half of the last printed digit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A claim and the result of its formula.

    Parameters
    ----------
    claim : Claim
        The claim.
    computed : tuple of float
        Result of each reading of the formula, in ``unit``; empty if there is no formula.
    unit : str
        SI unit of the computed values.
    verdict : str
        Verdict of the comparison; the one on record if nothing can be compared.
    tolerance : float or None
        Largest difference from the printed number that still agrees, in the unit of the claim;
        None if nothing is compared.
    fault : Notice or None
        Difference from the record; None if there is none.
    """

    claim: Claim
    computed: tuple[float, ...]
    unit: str
    verdict: str
    tolerance: float | None = None
    fault: Notice | None = None

    @property
    def basis(self) -> str:
        """Origin of the result, one of ``BASES``."""
        if not self.computed:
            return "recorded"
        return "implied" if self.claim.relation == "implies" else "computed"

    @property
    def printed_text(self) -> str:
        """The number as printed; ``< 1 ms`` if it is a bound."""
        sign = {"below": "< ", "above": "> "}.get(self.claim.relation, "")
        return sign + self.claim.printed

    @property
    def computed_text(self) -> str:
        """The computed values, in the printed unit."""
        return "; ".join(self._shown(value) for value in self.computed)

    @property
    def tolerance_reason(self) -> str:
        """Justification of the tolerance; empty if nothing is compared, or with a bound."""
        if not self.tolerance:
            return ""
        return self.claim.tolerance_reason or _TOLERANCES[self.claim.relation]

    @property
    def tolerance_text(self) -> str:
        """The tolerance in the printed unit, with its justification."""
        if not self.tolerance:
            return ""
        return f"Tolerance {self._shown(self.tolerance, digits=3)}: {self.tolerance_reason}"

    @property
    def fault_text(self) -> str:
        """Difference from the record, as text; empty if there is none."""
        return "" if self.fault is None else str(self.fault)

    @property
    def reason(self) -> str:
        """Explanation: the fault, the note on record, and the tolerance unless the digits agree."""
        exact = self.verdict in ("agree", "derived")
        return ". ".join(
            filter(None, (self.fault_text, self.claim.note, "" if exact else self.tolerance_text))
        )

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
            "unit": claim.unit or self.unit,
            "formula": claim.formula,
            "verdict": self.verdict,
            "recorded_verdict": claim.verdict,
            "reason": claim.note,
            "fault": self.fault_text,
            "basis": self.basis,
            "computed_unit": self.unit,
            "tolerance": self.tolerance,
            "tolerance_reason": self.tolerance_reason,
        }

    def _shown(self, value: float, *, digits: int = 6) -> str:
        written = _SINGLE.fullmatch(self.claim.printed)
        single = written is not None and written["unit"] and float(written["number"])
        if written is None or not single or self.basis == "implied":
            return units.show(value, self.unit, digits=digits)
        printed = len(re.sub(r"[.+-]|[eE].*", "", written["number"]).lstrip("0"))
        number = value / (float(self.claim.value or 1.0) / float(written["number"]))
        return f"{number:.{max(printed + 2, 4)}g} {written['unit']}"


BASES = {
    "computed": "the verdict is computed from a formula",
    "implied": "a value that follows from a measured or given number is computed",
    "recorded": "the verdict is taken from the record",
}
"""Origins of a result."""


def check(claims: Iterable[Claim]) -> list[Checked]:
    """Compute every claim and compare it with the printed number.

    Parameters
    ----------
    claims : iterable of Claim
        From :func:`~netcalc.claims.book` or :func:`~netcalc.claims.read`; a formula may refer to
        other claims.

    Returns
    -------
    list of Checked
        In the same order.

    Raises
    ------
    ReaderError
        If a formula is invalid, its unit does not match the printed one, or claims refer to one
        another in a circle; with file, line and field.
    """
    by_id = {claim.id: claim for claim in claims}
    numbers = _Numbers(by_id)
    return [_checked(claim, numbers.readings(claim)) for claim in by_id.values()]


def counts(checked: Iterable[Checked]) -> dict[str, int]:
    """Return the number of claims with each verdict, the most frequent first."""
    return dict(Counter(item.verdict for item in checked).most_common())


def basis_counts(checked: Iterable[Checked]) -> dict[str, int]:
    """Return the number of claims of each origin: computed, implied and recorded."""
    counted = Counter(item.basis for item in checked)
    return {basis: counted[basis] for basis in BASES}


class _Numbers:
    """Results of the formulas, each computed once; a name means the printed number if any."""

    def __init__(self, claims: Mapping[str, Claim]) -> None:
        self.claims = claims
        self.done: dict[str, tuple[Quantity, ...]] = {}
        self.open: list[str] = []

    def readings(self, claim: Claim) -> tuple[Quantity, ...]:
        """Return the result of each reading of the claim's formula."""
        if claim.id in self.done or not claim.formula:
            return self.done.get(claim.id, ())
        if claim.id in self.open:
            circle = " -> ".join([*self.open[self.open.index(claim.id) :], claim.id])
            raise claim.error("claim-circle", field="formula", circle=circle)
        if len(self.open) >= MAX_CHAIN:
            raise claim.error("claim-chain", field="formula", limit=MAX_CHAIN)
        self.open.append(claim.id)
        try:
            trees = parse_readings(claim.formula)
            self.done[claim.id] = tuple(evaluate_expression(tree, self.value) for tree in trees)
        except (DomainError, UnitError) as error:
            raise claim.error(
                "claim-formula-refused", field="formula", cause=error.code, reason=str(error)
            ) from None
        except RecursionError:
            raise claim.error("claim-formulas-nested", field="formula") from None
        self.open.pop()
        return self.done[claim.id]

    def value(self, name: str) -> Quantity:
        """Return the number that a name in a formula refers to."""
        claim = self.claims.get(name)
        if claim is None:
            code = "unknown-claim-with-minus" if "-" in name else "unknown-claim"
            raise DomainError(code, "name", name)
        if claim.relation == "implies" and claim.value is not None:
            return Quantity.of(claim.value, claim.unit)  # the formula follows from this number
        readings = self.readings(claim)  # of a printed number too: no claim may depend on itself
        if claim.value is not None:
            return Quantity.of(claim.value, claim.unit)
        return readings[0]


def _checked(claim: Claim, readings: Sequence[Quantity]) -> Checked:
    if not readings:
        return Checked(claim=claim, computed=(), unit=claim.unit, verdict=claim.verdict)
    implied = claim.relation == "implies"
    unit = (claim.implied_unit if implied else claim.unit) or readings[0].unit
    if not unit or any(result.value.size != 1 for result in readings):
        raise claim.error("claim-not-one-number", field="formula")
    for result in readings:
        if result.dimensions != Quantity.of(1, unit).dimensions:
            code = "claim-kind-printed" if claim.printed and not implied else "claim-kind-of-unit"
            values = {"computed": str(result), "kind": result.kind}
            values |= {"printed": claim.printed, "unit_wanted": unit}
            raise claim.error(code, field="formula", **values)
    computed = tuple(result.to(unit).item() for result in readings)
    tolerance = _tolerance(claim)
    if claim.relation == "model":
        verdict = _model_verdict(claim, computed, tolerance or 0.0)
    else:
        verdicts = {_verdict(claim, value, tolerance or 0.0) for value in computed}
        verdict = verdicts.pop() if len(verdicts) == 1 else "ambiguous"
    return Checked(
        claim=claim,
        computed=computed,
        unit=unit,
        verdict=verdict,
        tolerance=tolerance,
        fault=_fault(claim, computed[0], unit, verdict),
    )


def _tolerance(claim: Claim) -> float | None:
    """Return the largest difference that still agrees, from the printed digits if none is given."""
    if claim.value is None or claim.relation == "implies":
        return None
    if claim.relation in _BOUNDS:
        return 0.0
    if claim.tolerance is not None:
        return claim.tolerance
    if claim.relation == "cut":
        return _last_digit(claim)
    if claim.relation == "about":
        half = _last_digit(claim, significant=True) / 2
        return min(half or math.inf, ABOUT_RATIO * abs(claim.value) or math.inf)
    return _last_digit(claim) / 2


def _verdict(claim: Claim, computed: float, tolerance: float) -> str:
    if claim.relation == "implies":
        return claim.verdict
    if claim.value is None:
        return "derived"
    if claim.relation == "limit":
        return "agree" if _at_most(claim.value, computed) else "physically inconsistent"
    if claim.relation in ("below", "above"):
        low, high = (computed, claim.value)[:: 1 if claim.relation == "below" else -1]
        return "agree" if _at_most(low, high) else "disagree"
    if _near(computed, claim.value, EXACT_RATIO):
        return "agree"
    if claim.relation == "cut":
        rest = math.copysign(1, claim.value) * (computed - claim.value)
        return "agree" if 0 <= rest < tolerance else "disagree"
    if abs(computed - claim.value) > tolerance * (1 + EXACT_RATIO):
        return "disagree"
    return "agree rounded" if claim.relation == "about" else "agree"


def _model_verdict(claim: Claim, computed: Sequence[float], tolerance: float) -> str:
    """Compare a measured number with a model; several formulas are the ends of its range."""
    if claim.value is None:
        return "derived"
    margin = tolerance * (1 + EXACT_RATIO)
    fits = min(computed) - margin <= claim.value <= max(computed) + margin
    return "model fits" if fits else "model misses"


def _last_digit(claim: Claim, *, significant: bool = False) -> float:
    """Return one unit of the last printed digit; 0 for a product, and for an exact fraction.

    The zeros at the end of a whole number are not significant: 80 may be 78.9 rounded to tens.
    """
    assert claim.value is not None
    fraction = _FRACTION.fullmatch(claim.printed)
    if fraction and significant:  # 1/6 may be anything down to 1/6.5
        denominator = int(fraction["denominator"])
        return 2 * abs(claim.value) * (1 - denominator / (denominator + 0.5))
    written = _SINGLE.fullmatch(claim.printed)
    if written is None:
        return 0.0
    number = Decimal(written["number"])
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    mantissa = re.split("[eE]", written["number"])[0]
    if significant and number and "." not in mantissa:
        exponent += len(mantissa) - len(mantissa.rstrip("0"))
    if number == 0:
        unit = written["unit"] or ""
        return 10.0**exponent * (units.factor_of(unit, claim.unit) if unit else 1.0)
    return abs(claim.value) / float(abs(number)) * 10.0**exponent


def _fault(claim: Claim, computed: float, unit: str, verdict: str) -> Notice | None:
    if claim.verdict and claim.verdict != verdict:
        return Notice("record-verdict-differs", {"recorded": claim.verdict})
    if claim.recorded is not None and not _near(computed, claim.recorded, RECORD_RATIO):
        return Notice("record-value-differs", {"recorded": claim.recorded, "si_unit": unit})
    return None


def _near(first: float, second: float, ratio: float) -> bool:
    return abs(first - second) <= ratio * abs(second)


def _at_most(low: float, high: float) -> bool:
    return low <= high or _near(low, high, EXACT_RATIO)
