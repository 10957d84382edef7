"""The load of a network

Half of each link is coloured by the load of the direction that begins there; the bars below add
the load after the worst failure.
"""

from netcalc import plots
from netcalc.planning import network

ways = ["berlin,hamburg", "hamburg,cologne", "cologne,munich", "munich,berlin", "berlin,cologne"]
links = "from,to,rate,latency\n" + "".join(f"{way},10 Gbit/s,4 ms\n" for way in ways)
demands = "from,to,rate [Gbit/s]\nberlin,munich,4\nhamburg,munich,5\ncologne,berlin,3\n"
places = "node,lat,lon\nberlin,52.5,13.4\nhamburg,53.6,10.0\ncologne,50.9,7.0\nmunich,48.1,11.6\n"
figure = plots.network(network.plan(network.read(links, demands=demands, nodes=places)))
