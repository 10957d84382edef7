"""Settings of the whole test run: what runs beside what, and how often a test may fail."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from hypothesis import settings

from netcalc.emulation import capabilities
from netcalc.emulation.wire.emulated_path import Capabilities

settings.register_profile("netcalc", deadline=None)  # a slow machine is no wrong answer
settings.load_profile("netcalc")
# It would read the source of each module here for numbers to draw: 4 s in every worker.
with suppress(ImportError):  # old ones do not
    from hypothesis.internal.conjecture import providers

    providers.is_local_module_file = lambda path: False

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background job of a shell ignores Ctrl-C and hands that on to the programs tested here.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Some 500 processes of the tests import netcalc; without bytecode each one compiles it again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Texts are compared in English, whatever the language of the machine.
os.environ["NETCALC_LANGUAGE"] = "en"

# The tests and what they import are a million objects that live to the end. Looking through them
# for cycles, again and again, took a tenth of the processor time of the quick check.
gc.set_threshold(100_000, 50, 100)

GROUPS = "netcalc_groups"
"""Under this name the first worker is told where to write the group of each test."""
GROUPS_FILE = pytest.StashKey[Path]()

REQUIRED = frozenset(filter(None, os.environ.get("NETCALC_REQUIRE", "").split(",")))
"""Markers whose tests may not be skipped here: continuous integration names them."""

QUICK = "core or not (slow or live or namespace or browser)"
"""What runs without a path and without ``-m``: all that is deterministic and cheap, and of what
needs sockets, namespaces or a browser the core. ``-m ""`` runs everything."""

MEASURED = frozenset({"live", "namespace", "browser"})
"""Markers of tests that measure, or wait for, what shares the machine with other programs."""
REPEATED = {
    "tests/browser/test_calculator_lesson.py::test_the_calculator_is_played_through": (
        "Voila beside other tests has shown two of four figures for 60 s, once; why is not known"
    ),
    "tests/browser/test_proof.py::test_a_reload_brings_the_figure_back_as_it_was": (
        "Notebook, reloaded beside other tests, has shown no figure for 60 s; why is not known"
    ),
}
"""Tests that are run again when they fail, and why; all other ones have one try."""
TRIES = 3

LEAST_FREE_BYTES = 300e6
"""Room that tests need where temporary files are: the quick ones were seen to leave 132 MB."""

UNTIMED = {
    "untimed refusals": {
        "test_commands", "test_census", "test_door", "test_faults_limits", "test_hub",
        "test_lab", "test_peer_attacks", "test_routed", "test_scarcity", "test_validate",
    },
    "untimed runs": {
        "test_beside_others", "test_blasts", "test_bulk", "test_dead_carrier", "test_echo",
        "test_echo_ends", "test_faults_ends", "test_peer",
        "test_faults_peers", "test_faults_places", "test_lessons_again", "test_live_rate_panels",
        "test_probing_panels", "test_protocol_stack_panels", "test_run_exchanges",
        "test_run_probing", "test_run_transfers", "test_saved_runs", "test_small_writes_panels",
        "test_transfer_panels", "test_wire_ends", "test_wire_machines",
    },
}  # fmt: skip
"""Files whose live tests judge how a run is refused, fails, ends or is kept, and no time that a
busy machine would miss: two groups that take about equally long. All that limit what a user may
have are in the first."""

BROWSERS = ("browser lab", "browser lessons", "browser other")
"""Groups of browser tests: two in JupyterLab, and all other ones. Each has its own browser."""
FIRST = ("untimed refusals", "browser lessons", "browser lab", "untimed runs", "browser other")
"""Groups that have ended before anything is measured, in the order in which they are begun: what
takes longest comes first."""


def group_of(item: pytest.Item) -> str | None:
    """Return the name of the group that an item shares one worker with; None for a file's own."""
    marks = {mark.name for mark in item.iter_markers()}
    if shown := item.get_closest_marker("browser"):
        return " ".join(["browser", *shown.args])  # one browser, one server of each kind
    if marks.isdisjoint(MEASURED) or "core" in marks or item.path.suffix == ".ipynb":
        return None
    return next((name for name, files in UNTIMED.items() if item.path.stem in files), "measured")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put in order what runs beside what; name to the scheduler the group of each test."""
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker("live")  # a kernel is spoken to through sockets on loopback
        if item.nodeid.partition("[")[0] in REPEATED:
            item.add_marker(pytest.mark.flaky(reruns=TRIES - 1))
    groups = {item: group_of(item) for item in items}
    if GROUPS in getattr(config, "workerinput", {}):
        # The scheduler collects nothing itself. xdist would write a group into the test's id, but
        # pytest 9 makes ids from parts, so that it stays unwritten.
        written = {item.nodeid: group for item, group in groups.items() if group}
        Path(config.workerinput[GROUPS]).write_text(json.dumps(written))
    # Pure tests first, measured ones last, with one worker or several; a sort keeps the rest. The
    # table of truth judges most finely: by then the pure tests of the other workers have ended.
    order = [None, *BROWSERS, *UNTIMED, "measured"]
    items.sort(key=lambda item: (order.index(groups[item]), item.path.stem == "test_truth"))


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was collected: it stays."""
    gc.collect()
    gc.freeze()


class CollectionProgress:
    """Says every few seconds how many tests the first worker has collected."""

    EVERY_S = 5.0

    def __init__(self, config: pytest.Config) -> None:
        self._capture = config.pluginmanager.getplugin("capturemanager")
        self._count, self._said_s = 0, time.monotonic()

    def pytest_itemcollected(self) -> None:
        self._count += 1
        if time.monotonic() > self._said_s + self.EVERY_S:
            self._said_s = time.monotonic()
            with self._capture.global_and_fixture_disabled():
                print(f"collected so far: {self._count} tests", file=sys.stderr, flush=True)


def pytest_configure(config: pytest.Config) -> None:
    """Show that tests are being collected, where the controller shows nothing of it."""
    if getattr(config, "workerinput", {}).get("workerid") == "gw0":
        config.pluginmanager.register(CollectionProgress(config))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for no examples in the docstrings of tests: there are none, and it takes seconds."""
    return [found for found in (yield) if type(found).__name__ != "DoctestModule"]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs network namespaces, or TUN devices in them, where there are none."""
    if item.get_closest_marker("namespace") is None:
        return
    if not emulated().wire:
        pytest.skip(f"no network namespace here: {emulated().why_not}")
    if needs_tun(item) and emulated().tun != "opens":
        pytest.skip(f"no TUN device here: {emulated().tun}")


@cache
def emulated() -> Capabilities:
    """Return what this machine can emulate; it is tried once, and takes some 0.1 s."""
    return capabilities()


def needs_tun(item: pytest.Item) -> bool:
    """Whether a test has the mark ``namespace("tun")``, or ``tun`` among its arguments."""
    case = getattr(item, "callspec", None)
    return any("tun" in mark.args for mark in item.iter_markers("namespace")) or (
        case is not None and any(isinstance(v, str) and v == "tun" for v in case.params.values())
    )


def cases_of(item: pytest.Function) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the name and the arguments of each case: of several marks ``each``, all pairs."""
    for cases in product(*(cases_of_mark(mark) for mark in item.iter_markers("each"))):
        names, arguments = zip(*cases, strict=True)
        yield "-".join(names), {name: one[name] for one in arguments for name in one}


def cases_of_mark(mark: pytest.Mark) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the name and the arguments of each case of one mark ``each``."""
    names, values = mark.args
    names = names.replace(",", " ").split() if isinstance(names, str) else names
    ids = mark.kwargs.get("ids", lambda value: getattr(value, "__name__", repr(value)))
    ids = ids if callable(ids) else list(ids)
    for place, case in enumerate(values):
        parts = (case,) if len(names) == 1 else tuple(case)
        name = "-".join(str(ids(part)) for part in parts) if callable(ids) else str(ids[place])
        yield name, dict(zip(names, parts, strict=True))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item of all cases of a mark ``each``; with ``-k``, one of each, chosen by name."""
    for mark in metafunc.definition.iter_markers("each"):
        names, values = mark.args
        names = names.replace(",", " ").split() if isinstance(names, str) else names
        if metafunc.config.option.keyword:
            ids, cases = zip(*cases_of_mark(mark), strict=True)
            rows = [tuple(arguments[name] for name in names) for arguments in cases]
            metafunc.parametrize(names, rows, ids=ids)
        else:  # what the cases are is looked up when the item runs
            metafunc.parametrize(names, [(values,) * len(names)], ids=[f"{len(values)} cases"])


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test with the mark ``each`` once for every case; name each one that fails."""
    is_one_case = bool(pyfuncitem.config.option.keyword)
    if pyfuncitem.get_closest_marker("each") is None or is_one_case:
        return None
    fixed = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    failed = {}
    for name, arguments in cases_of(pyfuncitem):
        try:
            pyfuncitem.obj(**{**fixed, **arguments})
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            error.add_note(f"case {name}")
            failed[name] = error
    if failed:
        said = f"{len(failed)} cases fail: {', '.join(failed)}"
        raise BaseExceptionGroup(said, list(failed.values()))
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Choose the quick tests and the number of workers, where the command names neither.

    A worker for each processor; two more where all kinds of tests run, as those of a browser and
    those that are refused or end wait a lot.
    """
    option = config.option
    if hasattr(config, "workerinput"):  # it reads the same command again, and chooses the same
        option.markexpr = config.workerinput["markexpr"]
        return
    free_bytes = shutil.disk_usage(tempfile.gettempdir()).free
    if free_bytes < LEAST_FREE_BYTES:
        raise pytest.UsageError(
            f"{tempfile.gettempdir()} has {free_bytes / 1e6:.0f} MB free, and the tests need "
            f"{LEAST_FREE_BYTES / 1e6:.0f} MB: free some, or set TMPDIR to another folder"
        )
    is_whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    words = config.invocation_params.args
    is_chosen = bool(option.markexpr) or any(re.match("-[A-Za-z]*m", word) for word in words)
    if is_whole and not is_chosen:
        option.markexpr = QUICK
    if not config.pluginmanager.hasplugin("xdist"):
        return
    if option.numprocesses is None and is_whole and not option.usepdb and not option.collectonly:
        more = 0 if option.markexpr == QUICK else 2
        option.numprocesses = max(2, min(8, len(os.sched_getaffinity(0)) + more))
    if option.numprocesses and option.dist == "no":
        option.dist = "loadscope"


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what begins, before the seconds in which tests are collected."""
    workers = getattr(config.option, "numprocesses", None) or 1
    chosen = config.option.markexpr
    kind = "the quick tests" if chosen == QUICK else f"tests -m {chosen!r}" if chosen else "tests"
    return [f"netcalc: {kind}, {workers} at a time; they are collected first"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Keep the bytecode of the tests before there are workers: each one would make all of it."""
    is_whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    for file in Path(__file__).parent.rglob("test_*.py") if is_whole else ():
        kept = rewrite.get_cache_dir(file) / (file.stem + rewrite.PYC_TAIL)
        is_kept = kept.exists() and kept.stat().st_mtime > file.stat().st_mtime
        if not is_kept and rewrite.try_makedirs(kept.parent):
            with suppress(SyntaxError):  # the workers will say so
                source, code = rewrite._rewrite_test(file, config)
                rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, kept)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """Tell the workers what was chosen, and the first one where to write the group of each test."""
    node.workerinput["markexpr"] = node.config.option.markexpr
    if node.gateway.id == "gw0":
        node.workerinput[GROUPS] = str(_groups_file(node.config))


def _groups_file(config: pytest.Config) -> Path:
    """Return the file through which the scheduler learns the group of each test."""
    if GROUPS_FILE not in config.stash:
        folder = tempfile.TemporaryDirectory()
        config.add_cleanup(folder.cleanup)
        config.stash[GROUPS_FILE] = Path(folder.name) / "groups.json"
    return config.stash[GROUPS_FILE]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep what belongs together in one worker, and little beside what is measured."""
    if config.option.dist != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class QuietScheduling(LoadScopeScheduling):
        """One unit of work is a file or a group; ``measured`` has half of the processors."""

        def schedule(self):
            self.groups = json.loads(_groups_file(config).read_text())
            super().schedule()

        def _split_scope(self, nodeid):
            return self.groups.get(nodeid, nodeid.partition("::")[0])

        def _may_measure(self):
            """Whether all that uses many processes, a browser above all, has ended."""
            if "measured" not in self.workqueue or any(group in self.workqueue for group in FIRST):
                return False
            given = (unit for units in self.assigned_work.values() for unit in units.items())
            return all(all(done.values()) for group, done in given if group in FIRST)

        def _assign_work_unit(self, node):
            for group in (*reversed(FIRST), "measured"):
                if group in self.workqueue:
                    self.workqueue.move_to_end(group, last=group == "measured")
            working = sum(not other.shutting_down for other in self.nodes)
            if self._may_measure():
                if working > 1 + max(1, len(os.sched_getaffinity(0)) // 2):
                    node.shutdown()
                    return
                self.workqueue.move_to_end("measured", last=False)
            elif next(iter(self.workqueue)) == "measured" and working > 1:
                node.shutdown()  # the worker that is left begins it when its group has ended
                return
            super()._assign_work_unit(node)

        def remove_node(self, node):
            crashed = super().remove_node(node)
            for left in self.nodes:
                self._reschedule(left)
            return crashed

    return QuietScheduling(config, log)


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


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    """Say in a line each what was left out, and why."""
    reports = terminalreporter.stats.get("skipped", [])
    for reason, count in Counter(_reason(report) for report in reports).most_common():
        terminalreporter.write_line(f"left out: {count} test{'s' * (count > 1)}: {reason}")


def _reason(report: pytest.TestReport) -> str:
    """Return why a test was skipped."""
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return said.removeprefix("Skipped: ")


def pytest_keyboard_interrupt() -> None:
    """After Ctrl-C let what is dropped go without a word: each object's warning is no fault."""
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None
