"""Score the answers to a table of sentences: ``python calculator_sentences_score.py FILE.csv``.

Columns: sentence, answer (several with ``|`` between them, or ``REFUSE``), unit, reading. An answer
is right if its first reading is within 1 % of one of them; ``also`` counts those of which a further
reading is.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from pathlib import Path

from netcalc import calculator, units
from netcalc.errors import NetcalcError

YEAR_S = 31_557_600.0


def expected(answer: str, unit: str) -> list[float]:
    """Return the answers of a row in the unit in which netcalc computes."""
    values = []
    for text in answer.split("|"):
        number, own = re.fullmatch(r"\s*([-+\d.eE]+)\s*(.*)", text).groups()
        written = own.strip() or unit.strip()
        if written == "years":
            values.append(float(number) * YEAR_S)
            continue
        kinds = units.kinds_of(written) if written not in ("", "1", "erl") else []
        values.append(
            units.parse(f"{float(number):.12g} {written}", kinds[0]) if kinds else float(number)
        )
    return values


def judged(row: dict[str, str], ask=calculator.ask) -> tuple[str, str]:
    """Return a verdict on a row, and what was answered."""
    try:
        asked = ask(row["sentence"])
    except NetcalcError as error:
        return "right" if row["answer"] == "REFUSE" else "refused", str(error)
    said = " | ".join(f"{r.value:.7g} {r.unit} [{r.question}]" for r in asked.readings)
    if row["answer"] == "REFUSE":
        return "WRONG", said
    if not row["answer"]:
        return "right", said
    wanted = expected(row["answer"], row["unit"])
    fits = [any(abs(r.value / w - 1) < 0.01 for w in wanted) for r in asked.readings]
    return ("right" if fits[0] else "also" if any(fits) else "WRONG"), said


def main(name: str) -> None:
    counts: Counter[str] = Counter()
    with Path(name).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            verdict, said = judged(row)
            counts[verdict] += 1
            if verdict != "right":
                print(f"{verdict:8} {row['sentence']}\n         {said}\n         {row['answer']}")
    print(*(f"{verdict} {count}" for verdict, count in counts.most_common()), sep=", ")


if __name__ == "__main__":
    main(sys.argv[1])
