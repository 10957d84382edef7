"""What each run of ping says in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.readers._ping_runs import Probes, Run
from netcalc.samples import Fact, fact_row


def groups_of_rows(runs: Sequence[Run], results: Sequence[Probes]) -> NDArray[np.object_]:
    """Return the group of each row: its target, where a file has more than one."""
    targets = [_target(run) for run in runs]
    if len(set(targets)) < 2:
        return np.empty(0, dtype=object)
    return np.repeat(np.array(targets, dtype=object), [len(result.rows) for result in results])


def facts_of_runs(
    runs: Sequence[Run], results: Sequence[Probes], *, cut: bool, unfinished: Sequence[bool]
) -> tuple[dict[str, Fact], ...]:
    """Return a row of facts for each run; ``cut`` is true of the last one only."""
    last = len(runs) - 1
    return tuple(
        _facts(run, result, partial=unfinished[number] or (cut and number == last))
        for number, (run, result) in enumerate(zip(runs, results, strict=True))
    )


def _facts(run: Run, result: Probes, *, partial: bool) -> dict[str, Fact]:
    rows = result.rows
    first = ~rows.duplicate
    replies = first & ~rows.lost
    times = rows.rtt_s[replies & ~np.isnan(rows.rtt_s)]
    sent = result.sent if result.counted_only else int(first.sum())
    received = result.received if result.counted_only else int(replies.sum())
    known: dict[str, Any] = {}
    if times.size:
        known = {
            "rtt_min_s": times.min(),
            "rtt_median_s": np.median(times),
            "rtt_max_s": times.max(),
        }
        if times.size < received and not rows.duplicate.any():
            known |= _wider(run, known, float(rows.resolution_s.max()))
    elif result.counted_only and not run.counts.get("duplicates"):
        # Duplicates would be in these two; the mean is not a median.
        known = {name: run.spread.get(name) for name in ("rtt_min_s", "rtt_max_s")}
    return fact_row(
        target=_target(run),
        sent_count=sent,
        received_count=received,
        duplicate_count=(
            run.counts.get("duplicates", 0) if result.counted_only else int(rows.duplicate.sum())
        ),
        **known,
        printed_loss_ratio=_plausible(run.counts.get("loss_ratio")),
        loss_ratio=1.0 - received / sent if sent else None,
        partial=partial,
    )


def _wider(run: Run, known: dict[str, Any], width_s: float) -> dict[str, Any]:
    """Return the summary's extremes beyond those of the lines: of replies without a time."""
    low, high = (run.spread.get(f"rtt_{name}_s") for name in ("min", "max"))
    found: dict[str, Any] = {}
    if low is not None and 0 < low < known["rtt_min_s"] - width_s:
        found["rtt_min_s"] = low
    if high is not None and high > known["rtt_max_s"] + width_s:
        found["rtt_max_s"] = high
    return found


def _target(run: Run) -> str:
    return run.header.target if run.header else ""


def _plausible(ratio: float | None) -> float | None:
    """Return a loss that can be; a printed -1 or 107 % is none."""
    return ratio if ratio is not None and 0.0 <= ratio <= 1.0 else None
