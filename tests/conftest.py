"""Settings of the whole test run."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("netcalc", deadline=None)  # a slow machine is no wrong answer
settings.load_profile("netcalc")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background job of a shell ignores Ctrl-C and hands that on to the programs tested here.
    signal.signal(signal.SIGINT, signal.default_int_handler)

REQUIRED = frozenset(filter(None, os.environ.get("NETCALC_REQUIRE", "").split(",")))
"""Markers whose tests may not be skipped here: continuous integration names them."""

MEASURED = frozenset({"live", "namespace", "browser"})
"""Markers of tests that measure, or wait for, what shares the machine with other programs."""
TRIES = 3
"""A test that measures fails if it does so this often in a row."""


def pytest_collection_modifyitems(items):
    """Let a test that measures do so again when it fails: another program may have disturbed it.

    Those that were repeated are listed when the run ends, each with what had failed.
    """
    for item in items:
        if MEASURED.intersection(mark.name for mark in item.iter_markers()):
            item.add_marker(pytest.mark.flaky(reruns=TRIES - 1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Turn a skip into a failure where the test's kind is required."""
    report = yield
    required = REQUIRED.intersection(mark.name for mark in item.iter_markers())
    if report.skipped and required:
        report.outcome = "failed"
        report.longrepr = (
            f"{item.nodeid} was skipped, but NETCALC_REQUIRE names {required}: {report.longrepr}"
        )
    return report
