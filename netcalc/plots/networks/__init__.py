"""A planned network: a map of its links by their load, and bars of the most loaded ones."""

from __future__ import annotations

from netcalc.checks import named_arguments
from netcalc.planning.network import NetworkPlan
from netcalc.plots.networks.bars import bars
from netcalc.plots.networks.map import network_map
from netcalc.plots.plot import Plot, together
from netcalc.plots.style import Theme


@named_arguments
def network(plan: NetworkPlan, *, theme: Theme = "light") -> Plot:
    """Draw a planned network: a map, and below it a bar for the load of each direction.

    Parameters
    ----------
    plan : NetworkPlan
        As :func:`netcalc.planning.network.plan` returns it.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        Sources of the map: one for each class of load (columns ``xs``, ``ys`` and texts for
        hovering), ``full now``, ``failed``, ``failed at``, ``full then``, and in small networks
        ``nodes`` and ``names``. Of the bars: ``load``, ``worst failure``, ``full``, and with ranges
        ``p5 to p95`` and ``p5 to p95 after the failure``.
    """
    return together(network_map(plan, theme=theme), bars(plan, theme=theme))
