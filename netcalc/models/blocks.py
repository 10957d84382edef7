"""Long formulas a block at a time: their temporaries stay in the cache, not in memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import numpy as np

from netcalc.checks import BLOCK, FloatArray, Model, Trial, stands_for_numbers


def in_blocks(function: Callable[..., FloatArray], *inputs: FloatArray) -> FloatArray:
    """Apply an element-wise function to inputs of any shape, as columns of at most a block.

    An input of one element stays a column of one, so that what depends on it alone is done once.
    """
    shape = np.broadcast_shapes(*(np.shape(values) for values in inputs))
    if any(map(stands_for_numbers, inputs)):
        return function(*map(np.ravel, inputs)).reshape(shape)
    columns = [
        np.ravel(values) if np.size(values) == 1 else np.broadcast_to(values, shape).reshape(-1)
        for values in inputs
    ]
    result = np.empty(math.prod(shape))
    for start in range(0, result.size, BLOCK):
        part = slice(start, start + BLOCK)
        result[part] = function(*(c if c.size == 1 else c[part] for c in columns))
    return result.reshape(shape)


def blockwise(function: Model) -> Model:
    """Decorate an element-wise model, under ``model``: a long first argument goes in blocks.

    Arguments of the same shape are cut along with it; single numbers go with every block. Where
    that is not enough, because a value is refused, doubtful or not finite or shapes are broadcast,
    the model is called with everything, so that errors and notes are about the whole argument. A
    model of several results gives them as a named tuple of arrays. None may take a list, as of
    links: one as long as the argument would be cut.
    """

    @wraps(function)
    def model(*swept: Any, **others: Any) -> Any:
        if len(swept) != 1 or not _is_long(swept[0]):
            return function(*swept, **others)
        shape = swept[0].shape
        try:
            along = {name: value for name, value in others.items() if np.shape(value) == shape}
        except Exception:  # of a list in a list, or an object that is no array: it is refused
            return function(*swept, **others)
        if not all(map(_is_long, along.values())):
            return function(*swept, **others)
        trial = Trial()
        flat = swept[0].reshape(-1)
        results: list[FloatArray] = []
        for start in range(0, flat.size, BLOCK):
            part = slice(start, start + BLOCK)
            block = {name: value.reshape(-1)[part] for name, value in along.items()}
            try:
                values = function(flat[part], **(others | block))
            except ValueError:  # refused, or shapes that fit only the whole
                break
            columns = values if isinstance(values, tuple) else (values,)
            if not trial.is_quiet() or any(np.shape(c) != flat[part].shape for c in columns):
                break
            results = results or [np.empty(flat.size) for _ in columns]
            for result, column in zip(results, columns, strict=True):
                result[part] = column
        else:
            return _shaped(values, results, shape)
        trial.forget()
        return function(*swept, **others)

    return cast(Model, model)


def _shaped(values: Any, results: list[FloatArray], shape: tuple[int, ...]) -> Any:
    """Return the results in a shape, as a model gives its values: one array, or a tuple of them."""
    shaped = [result.reshape(shape) for result in results]
    return type(values)(*shaped) if isinstance(values, tuple) else shaped[0]


def _is_long(values: Any) -> bool:
    is_plain = type(values) is np.ndarray and values.dtype == np.float64
    return bool(is_plain and values.size > BLOCK and values.flags.c_contiguous)
