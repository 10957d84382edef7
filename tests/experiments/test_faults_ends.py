"""Fault E7: Ctrl-C twice and three times, at the worst moments; a closed pipe; the command line.

Random moments of all runs are those of the census.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from itertools import chain

import pytest

from netcalc.errors import ExperimentError
from netcalc.experiments import EXPERIMENTS, bulk, echo, small_writes
from netcalc.experiments.peers import process as _process
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.running.stopping import Ended, Stopping
from netcalc.experiments.transfer import TransferEnds
from netcalc.samples import RttSamples

pytestmark = [
    pytest.mark.live, pytest.mark.namespace, pytest.mark.usefixtures("every_row_is_told"),
]  # fmt: skip


def interrupt(count=1):
    for _ in range(count):
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("moment", ["_ready", "close"])
def test_ctrl_c_twice_in_set_up_and_clean_up_tears_nothing(
    moment, nothing_left, monkeypatch, tmp_path
):
    """The second one is raised when all is closed; what was measured is in the file."""
    method = getattr(Peer, moment)

    def interrupted(peer, *arguments):
        interrupt(2)
        return method(peer, *arguments)

    monkeypatch.setattr(Peer, moment, interrupted)
    with pytest.raises(KeyboardInterrupt):
        echo(8, count=3, save=tmp_path / "run.json")
    measured = 0 if moment == "_ready" else 3
    assert len(RttSamples.load(tmp_path / "run.json")) == measured


def test_ctrl_c_twice_while_a_process_is_being_started(nothing_left, monkeypatch):
    """Right after the fork, before anybody knows the number of the new process."""
    popen = subprocess.Popen

    def interrupted(*arguments, **options):
        process = popen(*arguments, **options)
        interrupt(2)
        return process

    monkeypatch.setattr(_process.subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bulk(100, write_count=5, run_count=2)


def test_ctrl_c_twice_while_a_file_is_written(nothing_left, monkeypatch, tmp_path):
    saved = RttSamples.save

    def interrupted(samples, path):
        interrupt(2)
        return saved(samples, path)

    monkeypatch.setattr(RttSamples, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        echo(8, count=3, save=tmp_path / "run.json")
    assert len(RttSamples.load(tmp_path / "run.json")) == 3


def test_a_third_ctrl_c_ends_what_hangs(nothing_left):
    """Wherever it is: here in a wait that looks at nothing."""
    hanging = threading.Event()
    timer = threading.Timer(0.05, interrupt)
    with Stopping(None, limit_s=60.0) as stopping:
        interrupt(2)
        assert stopping.reason == "interrupt"
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - a signal may come between two waits
            timer.start()
            for _ in range(600):
                hanging.wait(0.1)
        timer.join()


@pytest.mark.parametrize("where", ["progress", "stop"])
def test_a_second_ctrl_c_ends_a_function_of_the_caller(where, nothing_left):
    calls = []

    def hang(*_):
        calls.append(1)
        if len(calls) > 3:
            interrupt(2)
            raise AssertionError("it went on")
        return False

    with pytest.raises(KeyboardInterrupt):
        echo(8, count=50, **{where: hang})


def test_the_first_ctrl_c_in_a_function_of_the_caller_lets_it_go_on(nothing_left):
    went_on = []

    def progress(done, total, value):
        interrupt()
        went_on.append(done)

    assert len(echo(8, count=50, progress=progress)) == 1
    assert went_on == [1]


def test_a_handler_of_the_caller_gets_the_second_ctrl_c(nothing_left):
    """A kernel's, for instance: it is called once, when the run is over, and stays in its place."""
    noted = []
    mine = signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    try:
        result = echo(
            8, count=50, stop=lambda: False, progress=lambda done, *_: done == 3 and interrupt(2)
        )
        assert signal.getsignal(signal.SIGINT)(signal.SIGINT, None) is None
    finally:
        signal.signal(signal.SIGINT, mine)
    assert (len(result), noted[0]) == (3, signal.SIGINT)


def test_a_termination_after_ctrl_c_and_the_other_way_round():
    """Both are heard: the first names the reason, the second takes its effect."""
    script = """
import os, signal, sys
from netcalc.experiments import echo
from netcalc.experiments.running import record as _run
_run.PROGRESS_S = 0.0
def both(done, total, value):
    for name in sys.argv[1:]:
        os.kill(os.getpid(), getattr(signal, name))
echo(8, count=50, progress=both)
print("went on")
"""
    for names in (("SIGINT", "SIGTERM"), ("SIGTERM", "SIGINT"), ("SIGHUP", "SIGTERM")):
        done = subprocess.run(
            [sys.executable, "-c", script, *names], capture_output=True, text=True, timeout=60,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "", ""), names


def test_a_program_that_dies_of_closed_pipes_does_not_die_of_a_run():
    """SIGPIPE has its default effect there; a worker that is gone is an error all the same."""
    script = """
import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
from netcalc.errors import ExperimentError
from netcalc.experiments import bulk
from netcalc.experiments.transfer import TransferEnds
move = TransferEnds.move
def killed(ends, transfer):
    for worker in (ends.source, ends.sink):
        os.kill(worker.pid, signal.SIGKILL)
        worker._process.wait()
    move(ends, transfer)
TransferEnds.move = killed
try:
    bulk(100, write_count=5, run_count=2)
except ExperimentError as error:
    print(error.code, error.values["status"])
print(signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "peer-ended SIGKILL\nTrue\n"


def test_an_error_of_the_callers_own_stays_its_own(nothing_left):
    """An OSError of a progress function is no error of the run."""

    def full(*_):
        raise BrokenPipeError(32, "the reader of this progress is gone")

    with pytest.raises(BrokenPipeError, match="the reader of this progress"):
        echo(8, count=50, progress=full)


def test_an_error_of_the_system_in_the_middle_keeps_what_was_measured(nothing_left, monkeypatch):
    """Wherever it comes from, it is one of the run, with its phase."""
    move, done = TransferEnds.move, []

    def failing(ends, transfer):
        done.append(1)
        if len(done) == 3:
            raise OSError(24, "Too many open files")
        move(ends, transfer)

    monkeypatch.setattr(TransferEnds, "move", failing)
    with pytest.raises(ExperimentError) as caught:
        bulk(100, write_count=5, run_count=5)
    assert (caught.value.code, caught.value.values["errno"]) == ("out-of-files", 24)
    assert len(caught.value.partial) == 2


def test_no_memory_in_the_middle_keeps_what_was_measured(nothing_left, monkeypatch):
    done = []

    def failing(*_, **__):
        done.append(1)
        if len(done) == 3:
            raise MemoryError
        return False

    monkeypatch.setattr(importlib.import_module(small_writes.__module__), "_has_more", failing)
    with pytest.raises(ExperimentError) as caught:
        small_writes(modes=["single"], count=5)
    assert caught.value.code == "out-of-memory"
    assert len(caught.value.partial) == 2


def test_reasons_of_an_end_are_kept_in_order():
    stopping = Stopping(lambda: True, limit_s=60.0)
    with pytest.raises(Ended, match="stop"):
        stopping.check()
    stopping.end("interrupt")
    assert stopping.reason == "stop"


def lasting(experiment):
    """Return the words of a command that goes on for seconds, over a path where one is needed."""
    options = dict(experiment.lasting)
    if "path" in experiment.shortest:
        options["path"] = "100 Mbit/s 1 ms"
    words = ([f"--{name.replace('_', '-')}", str(options[name])] for name in options)
    return [experiment.command, *chain.from_iterable(words)]


COMMANDS = [lasting(experiment) for experiment in EXPERIMENTS.values()]


@pytest.mark.parametrize("count", [1, 2])
def test_ctrl_c_at_the_terminal(count, bench):
    """Every command at once, at seeded moments: what was measured, no traceback, exit code 130."""
    moment, pause = random.Random(count), threading.Event()
    programs = [
        subprocess.Popen(
            [sys.executable, "-m", "netcalc", "run", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )
        for command in COMMANDS
    ]  # fmt: skip
    with ExitStack() as all_ended:
        for program in programs:
            all_ended.enter_context(program)
            all_ended.callback(program.kill)
        for program in programs:  # past their imports, when they have made a process of their own
            while not bench.children(program.pid):
                assert program.poll() is None, program.communicate()
                pause.wait(0.02)
        for program in programs:
            for _ in range(count):
                pause.wait(0.2 * moment.random())
                os.killpg(program.pid, signal.SIGINT)
        for program, command in zip(programs, COMMANDS, strict=True):
            out, err = program.communicate(timeout=60)
            assert "Traceback" not in err, command
            # A signal that comes when Python is ending by itself ends it: -2.
            assert program.returncode in (130, -signal.SIGINT), (command, program.returncode, err)
            if count == 1:
                told = [line for line in err.splitlines() if "read as one way" not in line]
                assert (told, out == "") == ([], False), f"{command} shows what it measured"
