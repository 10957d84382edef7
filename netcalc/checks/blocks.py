"""Long arrays a block at a time: the temporaries of a formula stay in the cache, not in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks.foreign import PLAIN

BLOCK = 16_384
"""Elements of a long array that are checked, or computed, at a time: 128 KiB an array, so that the
few arrays of a formula stay in a second-level cache of 1 MiB or more. The memory of larger ones
goes back to the system with each block: with 256 KiB a formula takes twice the time."""

CACHED = 4 * BLOCK
"""Elements of one array that stay in a second-level cache: it alone, read twice."""


def in_blocks(*arrays: NDArray[Any]) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield arrays of one length piece by piece: what is computed of a piece takes little memory.

    >>> [[part.size for part in parts] for parts in in_blocks(np.zeros(BLOCK + 1))]
    [[16384], [1]]
    """
    for start in range(0, arrays[0].size, BLOCK):
        yield tuple(array[start : start + BLOCK] for array in arrays)


def by_blocks(
    run: Callable[[Mapping[str, Any]], Any], arguments: Mapping[str, Any], lists: Collection[str]
) -> Any | None:
    """Return the result of a formula whose arguments together are long, computed block by block.

    ``run`` computes it with some arguments replaced. Arrays are cut along their common shape;
    ``lists``, as of links, are one thing and go with each block.

    Returns
    -------
    The result as the formula has it: one array, or a named tuple of arrays. None if it is to be
    computed as a whole: the arguments are short or no arrays of numbers, one is refused (so that
    the error is about the whole), or the formula does not give an element for an element.
    """
    lists_of = [value for value in arguments.values() if isinstance(value, list | tuple)]
    if not all(PLAIN.issuperset(map(type, value)) for value in lists_of):
        return None  # numbers with a unit, or stand-ins: numpy would take them as bare numbers
    try:
        arrays = {
            name: np.asarray(value)
            for name, value in arguments.items()
            if name not in lists and isinstance(value, list | tuple | np.ndarray)
        }
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    # Lists of unequal length, shapes that do not fit, or an object whose ``__array__`` raises what
    # it likes: the checks of the whole say what is wrong.
    except Exception:
        return None
    size = prod(shape)
    is_cut = all(
        array.dtype.kind in "biuf" and type(arguments[name]) in (list, tuple, np.ndarray)
        for name, array in arrays.items()
    )
    if size <= BLOCK or not is_cut:
        return None
    if any(array.shape != shape for array in arrays.values() if array.size > 1):
        # What is computed of flat blocks has the common shape, also of a formula that leaves an
        # argument out: a corner says whether the whole would have it.
        corner = {n: a[tuple(slice(0, 2) for _ in a.shape)] for n, a in arrays.items()}
        try:
            values = run({name: part for name, part in corner.items() if part.ndim})
        except (ValueError, IndexError, TypeError):
            return None
        results_of = values if isinstance(values, tuple) else (values,)
        common = np.broadcast_shapes(*(part.shape for part in corner.values()))
        if any(np.shape(result) != common for result in results_of):
            return None
    flat = {
        name: array.reshape(-1)
        if array.size == size and array.flags.c_contiguous
        else np.broadcast_to(array, shape).flat
        for name, array in arrays.items()
        if array.size > 1
    }
    results: list[NDArray[Any]] = []
    for part in _parts(size):
        try:
            values = run({name: elements[part] for name, elements in flat.items()})
        except (ValueError, IndexError, TypeError):
            return None
        columns = [np.asarray(v) for v in (values if isinstance(values, tuple) else (values,))]
        results = results or [np.empty(size, column.dtype) for column in columns]
        pairs = list(zip(results, columns, strict=True))
        length = (part.stop - part.start,)
        if any(c.shape != length or c.dtype != result.dtype for result, c in pairs):
            return None
        for result, column in pairs:
            result[part] = column
    shaped = [result.reshape(shape) for result in results]
    return type(values)(*shaped) if isinstance(values, tuple) else shaped[0]


def _parts(size: int) -> Iterator[slice]:
    """Yield blocks of a long array, none of them a single element: of one, checks say less."""
    starts = range(0, size - 1, BLOCK)
    return map(slice, starts, (*starts[1:], size))
