"""Portions of work on the workers of a Dask scheduler, each handed back when it is done."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from netcalc.errors import MissingPackageError, NetcalcError

LOCAL = "local"
"""The address that stands for workers on this machine."""

REACHED_S = "10 s"
"""Longest time to reach a scheduler, as Dask reads it."""


def on_workers(
    address: str, function: Callable[..., Any], portions: Sequence[list[Any]], *more: Any
) -> Iterator[list[Any]]:
    """Call a function with each portion; yield pairs of its items with their results.

    Raises
    ------
    MissingPackageError
        If Dask is not installed.
    NetcalcError
        If the scheduler cannot be reached, or a worker fails.
    """
    try:
        dask: Any = importlib.import_module("distributed")  # late: an extra
    except ImportError:
        raise MissingPackageError("distributed", extra="dask", purpose="--dask") from None
    try:
        client = dask.Client(None if address == LOCAL else address, timeout=REACHED_S)
    except (OSError, ValueError) as error:
        raise NetcalcError("dask-unreachable", address=address, reason=str(error)) from None
    with client:
        waiting = {client.submit(function, some, *more, pure=False): some for some in portions}
        for future in dask.as_completed(list(waiting)):
            try:
                results = future.result()
            except Exception as error:  # whatever a worker raised, or that it has died
                reason = f"{type(error).__name__}: {error}"
                raise NetcalcError("dask-failed", address=address, reason=reason) from None
            yield list(zip(waiting.pop(future), results, strict=True))
