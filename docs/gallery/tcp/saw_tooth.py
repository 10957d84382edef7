"""The saw-tooth of TCP

The window of one Reno flow grows by about a packet a round trip until the buffer overflows,
then it is halved, again and again.
"""

from netcalc import plots
from netcalc.congestion import theory
from netcalc.scenario import preset

scenario = preset("wan-10m", algorithm="reno")
figure = plots.courses([theory.run(scenario)], parts=["window", "queue"])
