"""Long formulas a block at a time: their temporaries stay in the cache, not in memory."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from netcalc.models._domain import FloatArray

BLOCK = 16_384
"""Elements computed at a time."""


def in_blocks(function: Callable[..., FloatArray], *inputs: FloatArray) -> FloatArray:
    """Apply an element-wise function to inputs of any shape, as columns of at most a block.

    An input of one element stays a column of one, so that what depends on it alone is done once.
    """
    shape = np.broadcast_shapes(*(np.shape(values) for values in inputs))
    columns = [
        np.ravel(values) if np.size(values) == 1 else np.broadcast_to(values, shape).reshape(-1)
        for values in inputs
    ]
    result = np.empty(math.prod(shape))
    for start in range(0, result.size, BLOCK):
        part = slice(start, start + BLOCK)
        result[part] = function(*(c if c.size == 1 else c[part] for c in columns))
    return result.reshape(shape)
