"""What fails in a plan: each link, each node, and each group of links that share a risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from netcalc.planning.network.facts import Network
from netcalc.planning.network.routing import Arcs, Ints

Fail = Literal["links", "nodes", "both"]
FAILS: tuple[Fail, ...] = ("links", "nodes", "both")
Kind = Literal["link", "node", "group"]
KINDS: tuple[Kind, ...] = ("link", "node", "group")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One failure.

    Attributes
    ----------
    kind : {'link', 'node', 'group'}
        What fails.
    name : str
        Of the link, the node or the group.
    number : int
        Of the link or the node in the network, of the group among the groups.
    arcs : numpy.ndarray
        Numbers of the arcs that are lost.
    """

    kind: Kind
    name: str
    number: int
    arcs: Ints

    @property
    def shown(self) -> str:
        """The name, with its kind unless it is a link."""
        return self.name if self.kind == "link" else f"{self.kind} {self.name}"


def cases(network: Network, *, arcs: Arcs, link_of: Ints, fail: Fail) -> tuple[Case, ...]:
    """Return the failures of a plan, one after the other.

    Parameters
    ----------
    network : Network
        The network; groups of its links fail wherever links do.
    arcs : Arcs
        Its directions.
    link_of : numpy.ndarray
        Number of the link of each arc.
    fail : {'links', 'nodes', 'both'}
        What fails. A group of one link is the failure of this link.

    Returns
    -------
    tuple of Case
        Links, nodes and groups in the order of the network.
    """
    found: list[Case] = []
    if fail != "nodes":
        of_link = _grouped(link_of, len(network.links))
        found += [Case("link", link.name, n, of_link[n]) for n, link in enumerate(network.links)]
    if fail != "links":
        found += [
            Case("node", node, n, np.flatnonzero((arcs.tail == n) | (arcs.head == n)))
            for n, node in enumerate(network.nodes)
        ]
    if fail != "nodes":
        members: dict[str, list[int]] = {}
        for n, link in enumerate(network.links):
            for group in link.groups:
                members.setdefault(group, []).append(n)
        several = [(name, some) for name, some in members.items() if len(some) > 1]
        found += [
            Case("group", name, n, np.concatenate([of_link[one] for one in some]))
            for n, (name, some) in enumerate(several)
        ]
    return tuple(found)


def _grouped(index: Ints, count: int) -> list[Ints]:
    order = np.argsort(index, kind="stable")
    return np.split(order, np.cumsum(np.bincount(index, minlength=count))[:-1])
