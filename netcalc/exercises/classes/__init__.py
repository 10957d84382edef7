"""A class: one notebook for each student, and what comes back.

``roster`` reads the list of a class, ``sheets`` makes the notebooks, ``notebooks`` reads what was
written into one, ``collecting`` checks those of a class, ``shares`` has the statistics. Nothing
here runs what is in a notebook, and nothing writes a file.
"""

from netcalc.exercises.classes.collecting import Collected, Gain, Mistake, Row, collect, gain
from netcalc.exercises.classes.roster import Roster, Student
from netcalc.exercises.classes.sheets import Sheet, make

__all__ = [
    "Collected", "Gain", "Mistake", "Roster", "Row", "Sheet", "Student", "collect", "gain", "make",
]  # fmt: skip
