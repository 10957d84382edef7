"""A class: one notebook for each student, and what comes back.

``sheets`` reads the list of a class and makes the notebooks, ``notebooks`` reads what was written
into one, ``collecting`` checks those of a class and counts its shares. Nothing here runs what is in
a notebook, and nothing writes a file.
"""

from netcalc.exercises.classes.collecting import Collected as Collected
from netcalc.exercises.classes.collecting import Gain as Gain
from netcalc.exercises.classes.collecting import Mistake as Mistake
from netcalc.exercises.classes.collecting import Row as Row
from netcalc.exercises.classes.collecting import collect as collect
from netcalc.exercises.classes.collecting import gain as gain
from netcalc.exercises.classes.sheets import Roster as Roster
from netcalc.exercises.classes.sheets import Sheet as Sheet
from netcalc.exercises.classes.sheets import Student as Student
from netcalc.exercises.classes.sheets import make as make
