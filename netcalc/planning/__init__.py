"""From models to a page that a planner can use: a few answers, the arithmetic, the next step.

>>> from netcalc import planning
>>> planning.buffer(1e9, rtt_s=0.1).sentence
'1 flow needs 12.5 MB of buffer, which adds 100 ms when it is full.'
"""

from netcalc.planning.backup import backup
from netcalc.planning.buffer import buffer
from netcalc.planning.buy import buy
from netcalc.planning.link import link
from netcalc.planning.page import Answer, BindingMap, Chart, Plan, Step
from netcalc.planning.transfer import transfer
from netcalc.planning.tunnel import tunnel
from netcalc.planning.voice import voice

__all__ = [
    "Answer",
    "BindingMap",
    "Chart",
    "Plan",
    "Step",
    "backup",
    "buffer",
    "buy",
    "link",
    "transfer",
    "tunnel",
    "voice",
]
