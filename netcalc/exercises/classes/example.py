"""The numbers with which an exercise is talked about in class: those nearest to measured points."""

from __future__ import annotations

import numpy as np

from netcalc import exercises

NOBODY = "the class"
"""Student whose numbers an example has, with a number behind it: nobody of the class."""
DRAWS = 40
"""Draws among which the nearest one is chosen."""


def example(exercise: str | exercises.Template, *, sheet: str) -> exercises.Question:
    """Draw an exercise for the whole class.

    Where the exercise names measured points, they belong to one line or one device, and most draws
    are far from it. Of 40 draws this is the one whose right curve is nearest to the points, in the
    median of the ratios.

    Parameters
    ----------
    exercise : str or Template
        Its id, or the exercise.
    sheet : str
        Name of the sheet.

    Returns
    -------
    Question
        The exercise with its numbers.

    Examples
    --------
    >>> example("TR1", sheet="monday").student
    'the class 1'
    """
    first = exercises.draw(exercise, student=f"{NOBODY} 1", sheet=sheet)
    if not first.template.curve.get("points"):
        return first
    others = [
        exercises.draw(exercise, student=f"{NOBODY} {number}", sheet=sheet)
        for number in range(2, DRAWS + 1)
    ]
    return min([first, *others], key=distance)


def distance(question: exercises.Question) -> float:
    """Return how far the measured points are from the right curve: the median of |ln ratio|."""
    found = question.curves()
    inside = (found.points_x >= found.x[0]) & (found.points_x <= found.x[-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        curve = np.interp(np.log(found.points_x[inside]), np.log(found.x), np.log(found.right))
        apart = np.abs(np.log(found.points_y[inside]) - curve)
    known = apart[np.isfinite(apart)]
    return float(np.median(known)) if known.size else float("inf")
