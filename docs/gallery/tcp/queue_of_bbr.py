"""The queue that BBR leaves

Every ten seconds BBR sends nearly nothing, so that the queue empties and it sees the round trip
without one.
"""

from netcalc import plots
from netcalc.congestion import theory
from netcalc.scenario import preset

scenario = preset("wan-10m", algorithm="bbr")
figure = plots.courses([theory.run(scenario)], parts=["window", "queue"])
