"""Draws outside the range that a formula was published for, with their share."""

from __future__ import annotations

from collections.abc import Sequence

from netcalc.errors import DoubtWarning
from netcalc.messages import Notice
from netcalc.uncertain.draws import Plan
from netcalc.uncertain.evaluation import Evaluation

COUNTED = 1 << 10
"""Draws that are asked one by one how many of them are doubtful, at most; an eighth of fewer than
8,192 draws, as a call of its own for each would take longer than all of them together. [1]"""
ASKED = 1 << 6
"""Draws that are asked in any case, as some models judge single numbers only. [1]"""
_BEYOND, _BELOW = "beyond-published-range", "below-published-range"


def doubtful(
    evaluation: Evaluation, plan: Plan, given: Sequence[DoubtWarning], draws: int
) -> dict[str, Notice]:
    """Return a note for each kind of doubt, with the share of draws that have it.

    The share of an input beyond a limit is that of its distribution; others are counted among the
    first draws, which are as even as all of them.
    """
    worst: dict[tuple[str, str], DoubtWarning] = {}
    asked = evaluation.doubts_of(plan.block(0, min(ASKED, draws)))
    for doubt in (*given, *(doubt for found in asked for doubt in found)):
        key = _key(doubt)
        if key not in worst or _is_worse(doubt, worst[key]):
            worst[key] = doubt
    counted = min(COUNTED, max(ASKED, draws // 8), draws)
    times = dict.fromkeys(worst, 0)
    if any(_share_of_input(plan, doubt) is None for doubt in worst.values()):
        for found in evaluation.doubts_of(plan.block(0, counted)):
            for key in {_key(doubt) for doubt in found} & times.keys():
                times[key] += 1
    notes = {}
    for key, doubt in worst.items():
        share = _share_of_input(plan, doubt)
        share = times[key] / counted if share is None else share
        code = "draws-doubtful" if share else "draws-rarely-doubtful"
        notes[f"doubtful {key}"] = Notice(code, {"share": share or 1 / counted, "doubt": doubt})
    return notes


def _key(doubt: DoubtWarning) -> tuple[str, str]:
    return doubt.code, str(doubt.values.get("name", ""))


def _is_worse(doubt: DoubtWarning, other: DoubtWarning) -> bool:
    one, two = doubt.values.get("value"), other.values.get("value")
    if not (isinstance(one, int | float) and isinstance(two, int | float)):
        return False
    end, other_end = doubt.values.get("limit"), other.values.get("limit")
    if isinstance(end, int | float) and isinstance(other_end, int | float):
        return abs(one - end) > abs(two - other_end)  # each is beyond a limit of its own
    return one > two


def _share_of_input(plan: Plan, doubt: DoubtWarning) -> float | None:
    """Return the share of an input beyond a limit; None of any other doubt."""
    one = plan.inputs.get(str(doubt.values.get("name")))
    if one is None or doubt.code not in (_BEYOND, _BELOW):
        return None
    limit = float(doubt.values["limit"])
    return one.below(limit) if doubt.code == _BELOW else 1.0 - one.below(limit, or_equal=True)
