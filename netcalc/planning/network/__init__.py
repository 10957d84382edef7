"""Plans of networks: the load of each link by shortest paths, single failures, growth.

Read links and demands (:func:`read`), or take a graph of networkx (:func:`from_graph`), and
:func:`plan` it.
"""

from __future__ import annotations

from netcalc.planning.network.facts import Demand, Direction, Link, Network, from_graph, to_graph
from netcalc.planning.network.files import read
from netcalc.planning.network.plan import FailureResult, NetworkPlan, Settings, plan

__all__ = [
    "Demand", "Direction", "FailureResult", "Link", "Network", "NetworkPlan", "Settings",
    "from_graph", "plan", "read", "to_graph",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers
