"""Emulated paths: links as queues in virtual time, and namespaces that carry real packets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netcalc.emulation.chain import Chain, Simulated, chain_of, link_settings, simulate
    from netcalc.emulation.queue import FATES, Delay, Events, Faults, Line, LinkQueue, Loss, Node
    from netcalc.emulation.relay import NOT_SHOWN, Relay
    from netcalc.emulation.wire.control import REFUSALS
    from netcalc.emulation.wire.emulated_path import (
        Capabilities,
        EmulatedPath,
        Forwarding,
        Routed,
        Statistics,
        capabilities,
    )

__all__ = [
    "FATES",
    "NOT_SHOWN",
    "REFUSALS",
    "Capabilities",
    "Chain",
    "Delay",
    "EmulatedPath",
    "Events",
    "Faults",
    "Forwarding",
    "Line",
    "LinkQueue",
    "Loss",
    "Node",
    "Relay",
    "Routed",
    "Simulated",
    "Statistics",
    "capabilities",
    "chain_of",
    "link_settings",
    "simulate",
]
__dir__ = __all__.copy  # what TAB offers

# The process of an emulated path imports this package too, and must not wait for numpy.
_MODULES = {
    "chain": ("Chain", "Simulated", "chain_of", "link_settings", "simulate"),
    "queue": ("FATES", "Delay", "Events", "Faults", "Line", "LinkQueue", "Loss", "Node"),
    "relay": ("NOT_SHOWN", "Relay"),
    "wire.control": ("REFUSALS",),
    "wire.emulated_path": (
        "Capabilities", "EmulatedPath", "Forwarding", "Routed", "Statistics", "capabilities",
    ),
}  # fmt: skip
_NAMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"netcalc.emulation.{_NAMES[name]}"), name)
