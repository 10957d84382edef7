"""After runs that end in every way at random times there is nothing that was not there before."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

pytestmark = [pytest.mark.live, pytest.mark.namespace]

SEED = int(os.environ.get("NETCALC_CENSUS_SEED", "4"))
ENDED = {
    "normal": {"whole"},
    "exception": {"Failed", "whole"},
    "SIGINT": {"partial: interrupt", "KeyboardInterrupt", "whole"},
    "SIGTERM": {"SIGTERM", "whole"},
    "SIGKILL": {"SIGKILL", "whole"},
    "SIGINT twice": {"partial: interrupt", "KeyboardInterrupt", "whole"},
    "SIGINT by a thread": {"partial: interrupt", "KeyboardInterrupt", "whole"},
    "SIGHUP": {"SIGHUP", "whole"},
    "SIGTERM twice": {"SIGTERM", "whole"},
    "SIGPIPE": {"whole"},
}
"""How a run may have ended, by the way it was ended; one that was quicker is whole. A Ctrl-C before
its first step or after its last one is Python's own."""


BY_SIGNAL = {
    "exception": {"Failed"},
    "SIGINT": {"partial: interrupt", "KeyboardInterrupt"},
    "SIGTERM": {"SIGTERM"},
    "SIGKILL": {"SIGKILL"},
}
"""How a run ends that its way did end, and that was not quicker."""
LEAST_COUNT = 8
"""Runs of ten that each way must really have ended; measured are ten of ten. The signal comes at a
random time within :data:`WITHIN_S`, before which a short run may have ended by itself. [1]"""
WITHIN_S = 0.3
"""Runs that are ended are longer, also on a machine that is quick. [s]"""


def a_user():
    """Return the number of a user without a name and without a right."""
    return random.randrange(61_000, 64_000)


@pytest.fixture(scope="module")
def census():
    place = Path(__file__).with_name("census.py")
    spec = importlib.util.spec_from_file_location("census", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def counted(census, count, ways, *, user=None, seed=SEED, kinds=(), **environment):
    """Do runs in a process with namespaces of its own; return what it found."""
    arguments = ["--count", str(count), "--ways", ",".join(ways), "--seed", str(seed)]
    arguments += ["--within", str(WITHIN_S)]
    if kinds:
        arguments += ["--kinds", ";".join(kinds)]
    out, err = census.start(arguments, user=user, **environment).communicate(timeout=300)
    assert out.startswith("{"), err
    return json.loads(out), err


def assert_nothing_is_left(found, err):
    for run in found["runs"]:
        assert "error" not in run, run["error"]
        assert run["ended"] in ENDED[run["way"]], run
        assert run.get("left", {}) == {}, run
        assert run["processes"] == {}, run
    assert found["difference"] == {}
    assert found["other files"] == []
    assert err == "", "a run that is ended has nothing to say on its standard error"


@pytest.mark.parametrize("user", [None, a_user()], ids=["root", "a user without rights"])
def test_fifty_runs_that_end_in_five_ways(census, user):
    """Faults E7 and E8, issue's census: as root, and as a user without any right."""
    found, err = counted(census, 50, census.WAYS, user=user)
    assert Counter(run["way"] for run in found["runs"]) == dict.fromkeys(census.WAYS, 10)
    assert_nothing_is_left(found, err)
    ended = Counter(
        run["way"] for run in found["runs"] if run["ended"] in BY_SIGNAL.get(run["way"], ())
    )
    print(f"ended by their way, of 10 each: {dict(ended)}")
    assert all(ended[way] >= LEAST_COUNT for way in BY_SIGNAL), ended


def test_runs_that_are_ended_twice_by_a_thread_and_by_a_terminal(census):
    """Fault E7: Ctrl-C twice, from a thread, the terminal is gone, SIGTERM twice, a pipe."""
    found, err = counted(census, 26, census.MORE_WAYS, user=a_user())
    assert_nothing_is_left(found, err)


def test_the_census_finds_what_is_left(census):
    """A run that leaves and changes everything it can."""
    found, _ = counted(census, 1, ["normal"], kinds=["leaks"], NETCALC_CENSUS_GONE_S="0.1")
    (run,) = found["runs"]
    assert set(run["left"]) == {
        "children", "descriptors", "threads", "processors", "handlers", "collector"
    }  # fmt: skip
    assert list(run["processes"].values()) == ["sleep 60 "]
    by_tc = {"queueing disciplines"} if shutil.which("tc") else set()
    assert set(found["difference"]) == {"links", "sysctls", "files"} | by_tc
    assert [Path(path).name for path in found["other files"]] == ["left", "left.part"]
