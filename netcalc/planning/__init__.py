"""From models to a page that a planner can use: a few answers, the arithmetic, the next step.

>>> from netcalc import planning
>>> planning.buffer(1e9, rtt_s=0.1).sentence
'1 flow needs 12.5 MB of buffer, which adds 100 ms when it is full.'
"""

from importlib import import_module
from types import ModuleType

from netcalc.planning.buffer import buffer
from netcalc.planning.goal import with_goal
from netcalc.planning.host import host
from netcalc.planning.link import link
from netcalc.planning.page import Answer, BindingMap, Chart, Need, Plan, Setting, Step
from netcalc.planning.transfer import backup, buy, transfer
from netcalc.planning.tunnel import tunnel
from netcalc.planning.voice import voice

__all__ = [
    "Answer",
    "BindingMap",
    "Chart",
    "Need",
    "Plan",
    "Setting",
    "Step",
    "backup",
    "buffer",
    "buy",
    "host",
    "link",
    "network",
    "transfer",
    "tunnel",
    "voice",
    "with_goal",
]
__dir__ = __all__.copy  # what TAB offers


def __getattr__(name: str) -> ModuleType:
    """Load the plans of networks when they are first used (PEP 562)."""
    if name == "network":
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
