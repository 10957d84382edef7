"""Skip a test that needs network namespaces, or TUN devices in them, where there are none.

For the ``conftest.py`` of each folder that has such tests.
"""

from __future__ import annotations

from functools import cache

import pytest

from netcalc.emulation import capabilities
from netcalc.emulation.capability import Capabilities


@cache
def here() -> Capabilities:
    """Return what this machine can emulate; it is tried once, and takes some 0.1 s."""
    return capabilities()


def needs_tun(item: pytest.Item) -> bool:
    """Whether a test has the mark ``namespace("tun")``, or ``tun`` among its arguments."""
    values = getattr(item, "callspec", None)
    return any("tun" in mark.args for mark in item.iter_markers("namespace")) or (
        values is not None and "tun" in values.params.values()
    )


@pytest.hookimpl(tryfirst=True)
def setup(item: pytest.Item) -> None:
    """Skip a test marked ``namespace``, and say what is missing."""
    if item.get_closest_marker("namespace") is None:
        return
    if not here().wire:
        pytest.skip(f"no network namespace here: {here().why_not}")
    if needs_tun(item) and here().tun != "opens":
        pytest.skip(f"no TUN device here: {here().tun}")
