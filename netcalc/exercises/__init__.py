"""Exercises: numbers for each student, answers checked with their units, mistakes by name.

>>> question = draw("TR1", student="s1", sheet="monday")
>>> print(question.text)  # doctest: +ELLIPSIS
A file of ... crosses a line of ... with a one-way latency of ...
>>> question.check("12").kind
'unit missing'

Exercises are data. A file of them is TOML; the bundled ones are ``data/exercises/NN_topic.toml``::

    [[exercise]]
    id = "TR1"               # letters, digits, - and _; unique
    lesson = "01"
    topic = "transfer time"
    text = "A file of {N} crosses a line of {R} with a one-way latency of {d}. When is it there?"
    unit = "s"               # SI unit of the answer: s, bit/s, byte, bit, packet/s, call/s, ratio,
                             # m, m/s, s/byte, Hz, or 1 for counts and factors
    tolerance = "1 %"        # default 1 %; "0" for counts and bytes; "0.15 %" asks for four digits
    digits = 4               # optional: digits asked for (default 3; 4 below 0.5 %; none at "0")
    right = "transfer(N, bandwidth=R, latency=d)"
    second = "d + 8 * N / R" # another way: must agree within 1e-9
    positive = ["N - 1000"]  # optional: formulas that must be above 0, else new numbers are drawn
    curve = { x = "N", low = "1 kB", high = "100 MB" }  # optional: what a figure is drawn over;
                             # points, point_x, point_y: a data set and two columns to put on it

    [exercise.variables]     # each must be shown in the text
    N = { low = "1 MB", high = "50 MB", digits = 2 }  # log-uniform, rounded to 2 (default) digits
    n = { low = 2, high = 12, step = 1 }              # equal chances
    R = { values = ["T1", "10 Mbit/s"] }              # listed; unit = "byte" where text has none

    [[exercise.wrong]]
    name = "bytes taken for bits"
    formula = "d + N / R"
    sentence = "The size is in bytes and the rate in bit/s: a byte has 8 bits."
    ask = "How many bits are in the file?"    # asked before the mistake is named
    same_as = "other name"   # only if it always leads to the same number as that earlier mistake
    seen = "where it was really made"         # optional

**Formulas** are in the language of ``netcalc book`` (``docs/claims.md``) with one difference: each
variable, quantity and result of a model is a plain number in its SI unit (bytes, bit/s, s; ``30
ms`` is 0.03, ``T1`` is 1544000, ``5 %`` is 0.05), and no units are checked. So a size over a rate
is written ``8 * N / R`` in all formulas. Besides the functions of claims (``min max sum mean median
count round floor ceil item rest``) there are ``sqrt``, ``log`` (natural), ``log2`` and ``exp``;
``//`` is ``floor(a / b)``. Put spaces around a minus sign. ``sentence`` and ``ask`` may contain
``{N}``, too.

Numbers come from the SHA-256 of id, student and sheet, and are drawn again until the right answer
and all wrong ones lie 2.5 tolerances apart (counts: more than 0.5). A file in which that never
happens is refused, as is one whose formulas are anything else than arithmetic and models.
"""

from __future__ import annotations

from netcalc.exercises.answers import KINDS, Verdict, rules
from netcalc.exercises.files import (
    Points,
    check,
    draw,
    lesson_number,
    points,
    read_file,
    sheet_of,
    templates,
    unknown_exercise,
)
from netcalc.exercises.question import AnswerCurves, Question, Solution
from netcalc.exercises.template import Template, Variable, Wrong

__all__ = [
    "KINDS", "AnswerCurves", "Points", "Question", "Solution", "Template", "Variable", "Verdict",
    "Wrong", "check", "draw", "lesson_number", "points", "read_file", "rules", "sheet_of",
    "templates", "unknown_exercise",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers
