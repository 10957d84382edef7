"""Working with a spare

Two links of 99 % are down together for 53 minutes a year if they fail independently; with three
it is half a minute.
"""

import numpy as np

from netcalc import plots
from netcalc.models.users.availability import downtime_s, k_of_n_availability_ratio

one, lines = np.linspace(0.9, 0.9999, 200), {}
for count in (1, 2, 3):
    together = k_of_n_availability_ratio(one, needed_count=1, unit_count=count)
    lines[f"{count} link{'s' * (count > 1)}"] = downtime_s(together)
x_axis = plots.Axis("availability of a link", "ratio")
y_axis = plots.Axis("down in a year", "s", "log")
figure = plots.curves(one, lines, title="One is enough", x_axis=x_axis, y_axis=y_axis)
