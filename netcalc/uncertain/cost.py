"""How many draws come soon: fewer of a model that is known to take long for each.

A trial with a clock would give other draws, and so another answer, on a busy machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SLOW_DRAWS = 1000
"""Draws of a model that takes long, unless their number is given. [1]"""


def is_slow(model: Callable[..., Any]) -> bool:
    """Whether a model is marked by :func:`netcalc.checks.takes_long`."""
    return bool(getattr(model, "takes_long", False))
