"""Two printed points, and the path through them

Stevens printed two points of this path; seven T1 lines and a base round trip of 80 ms miss them
by less than 10 ms.
"""

from netcalc import compare, datasets, plots
from netcalc.path import Path

samples = datasets.load("wan_curves", series="connix.com - noao.edu")
path = Path.parse("7 x T1 5.7 ms")
figure = plots.overlay(compare.overlay(samples, path=path), title="connix.com to noao.edu")
