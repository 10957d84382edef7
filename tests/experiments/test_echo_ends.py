"""However a run ends, nothing is left behind, and what was measured is kept."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading

import pytest

from netcalc import samples
from netcalc.errors import ExperimentError
from netcalc.experiments import echo
from netcalc.experiments.peers import process
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.running import record as run_module
from netcalc.experiments.running.stopping import Ended, Stopping

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("every_row_is_told")]


def after(count, act):
    """Return a progress function that acts once, after ``count`` probes."""

    def progress(done, total, rtt_s):
        if done == count:
            act()

    return progress


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def fail():
    raise RuntimeError("the figure could not be drawn")


def test_normal_end(nothing_left):
    assert not echo([8, 16], count=5).meta.partial


def test_stop_by_an_event(nothing_left, tmp_path):
    stop = threading.Event()
    result = echo(8, count=50, stop=stop, progress=after(7, stop.set), save=tmp_path / "run.json")
    assert (result.sent, result.received, result.meta.partial) == (7, 7, True)
    assert result.meta.instrument.ended_by == "stop"
    assert result.meta.warnings[0].values == {
        "reason": "stop", "done": 7, "total": 50, "unit": "probes"
    }  # fmt: skip
    assert samples.RttSamples.load(tmp_path / "run.json").sent == 7


def test_stop_by_a_function(nothing_left):
    asked = iter([False] * 20)
    result = echo(8, count=50, stop=lambda: next(asked, True))
    assert result.meta.partial
    assert result.received == result.sent < 50


def test_stop_before_the_start(nothing_left):
    stop = threading.Event()
    stop.set()
    result = echo(8, stop=stop)
    assert (len(result), result.meta.partial) == (0, True)


def test_first_ctrl_c_gives_back_what_was_measured(nothing_left, tmp_path):
    result = echo(8, count=50, progress=after(7, interrupt), save=tmp_path / "run.json")
    assert (result.sent, result.meta.partial) == (7, True)
    assert result.meta.instrument.ended_by == "interrupt"
    assert samples.RttSamples.load(tmp_path / "run.json").sent == 7


def test_ctrl_c_in_the_set_up(nothing_left, monkeypatch):
    ready = Peer._ready

    def interrupted(peer, stopping):
        interrupt()
        return ready(peer, stopping)

    monkeypatch.setattr(Peer, "_ready", interrupted)
    result = echo(8, count=50)
    assert (len(result), result.meta.instrument.ended_by) == (0, "interrupt")


def test_second_ctrl_c_forces(nothing_left, tmp_path):
    def twice():
        interrupt()
        interrupt()

    with pytest.raises(KeyboardInterrupt):
        echo(8, count=50, progress=after(7, twice), save=tmp_path / "run.json")
    assert samples.RttSamples.load(tmp_path / "run.json").sent == 7


def test_ctrl_c_in_the_clean_up(nothing_left, monkeypatch):
    close = Peer.close
    once = iter([interrupt])

    def interrupted(peer):
        next(once, bool)()
        return close(peer)

    monkeypatch.setattr(Peer, "close", interrupted)
    result = echo(8, count=3)
    assert (result.received, result.meta.partial) == (3, False)


def test_ctrl_c_raised_by_somebody_else(nothing_left):
    def raised():
        raise KeyboardInterrupt

    result = echo(8, count=50, progress=after(7, raised))
    assert (result.sent, result.meta.instrument.ended_by) == (7, "interrupt")


def test_handlers_of_the_caller_are_respected(nothing_left):
    noted = []
    mine = signal.signal(signal.SIGTERM, lambda *_: noted.append("SIGTERM"))
    try:
        result = echo(8, count=9, progress=after(3, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    finally:
        signal.signal(signal.SIGTERM, mine)
    assert (noted, result.sent) == (["SIGTERM"], 9)


def test_failing_progress_function(nothing_left, tmp_path):
    with pytest.raises(RuntimeError, match="could not be drawn"):
        echo(8, count=50, progress=after(7, fail), save=tmp_path / "run.json")
    kept = samples.RttSamples.load(tmp_path / "run.json")
    assert (kept.sent, kept.meta.partial) == (7, True)


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_killed_peer(protocol, nothing_left, tmp_path, bench):
    others = set(bench.children(os.getpid()))  # of the tests before, such as a browser

    def kill():
        (peer,) = set(bench.children(os.getpid())) - others
        os.kill(peer, signal.SIGKILL)
        os.waitid(os.P_PID, peer, os.WEXITED | os.WNOWAIT)

    with pytest.raises(ExperimentError) as caught:
        echo(
            [8, 16], count=50, protocol=protocol, progress=after(7, kill),
            save=tmp_path / "run.json",
        )  # fmt: skip
    error = caught.value
    assert (error.phase, error.host) == ("echo", "127.0.0.1")
    assert error.port > 0
    assert (error.code, error.values["status"]) == ("peer-ended", "SIGKILL")
    assert (error.partial.received, error.partial.meta.partial) == (7, True)
    assert "partial" not in error.as_dict()
    assert samples.RttSamples.load(tmp_path / "run.json").received == 7


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_stopped_peer_is_silent_and_still_goes(protocol, nothing_left, bench, monkeypatch):
    monkeypatch.setattr(process, "END_LIMIT_S", 0.01)
    others = set(bench.children(os.getpid()))

    def halt():
        (peer,) = set(bench.children(os.getpid())) - others
        os.kill(peer, signal.SIGSTOP)
        os.waitid(os.P_PID, peer, os.WSTOPPED | os.WNOWAIT)

    with pytest.raises(ExperimentError) as caught:
        echo(8, count=50, protocol=protocol, timeout_s=0.02, progress=after(7, halt))
    assert (caught.value.code, caught.value.values["count"]) == ("no-replies", 20)
    partial = caught.value.partial
    assert (caught.value.phase, partial.received, partial.sent) == ("echo", 7, 27)


def test_time_limit(nothing_left, monkeypatch):
    monkeypatch.setattr(run_module.limits, "MAX_DURATION_S", 0.0)
    result = echo(8, count=50)
    assert (result.meta.partial, result.meta.instrument.ended_by) == (True, "limit of 0 s")


def test_byte_limit_of_the_peer(nothing_left, monkeypatch):
    monkeypatch.setattr(process, "PEER_BYTES", 2 * 8 * 12)
    with pytest.raises(ExperimentError) as caught:
        echo(8, count=50)
    assert caught.value.code == "peer-at-limit"
    assert caught.value.partial.received == 7, "12 exchanges of 8 bytes each way, 5 are warm-up"


@pytest.mark.parametrize("way", ["stop", "interrupt"])
@pytest.mark.parametrize("size", [4, 8])
def test_an_end_while_a_reply_is_awaited(way, size, nothing_left, bench):
    stop, seen = threading.Event(), []

    def silent_at_the_end(peer, data, sender):
        seen.append(data)
        if len(seen) <= 8:
            peer.answer(data, sender)
        else:
            (stop.set if way == "stop" else interrupt)()

    with bench.FalsePeer(silent_at_the_end, echo_warm_up=False) as peer:
        result = bench.measured_at(peer.address, [size], count=50, timeout_s=60.0, stop=stop)
    assert (result.sent, result.received) == (3, 3), "5 of the 8 are warm-up; the last is open"
    assert result.meta.instrument.ended_by == way


def test_an_end_between_two_probes(nothing_left):
    stop = threading.Event()
    result = echo(8, count=3, interval_s=60.0, stop=stop, progress=lambda *_: stop.set())
    assert result.sent == 1


def test_a_thread_leaves_signals_alone(nothing_left):
    results = []
    thread = threading.Thread(target=lambda: results.append(echo(8, count=5)))
    thread.start()
    thread.join()
    assert results[0].received == 5


def test_many_runs_leave_nothing(nothing_left):
    for protocol in ("udp", "tcp") * 2:
        echo([0, 8] if protocol == "udp" else 8, count=2, protocol=protocol)


def test_stopping_keeps_the_first_reason():
    stopping = Stopping(None, limit_s=60.0)
    stopping.check()
    stopping.end("interrupt")
    stopping.end("stop")
    with pytest.raises(Ended, match="interrupt"):
        stopping.check()
    assert stopping.reason == "interrupt"


# --- The program itself is ended from outside -------------------------------------------------

PROGRAM = """
import os, signal, sys
from pathlib import Path
from netcalc.experiments import echo
from netcalc.experiments.running import record as _run
_run.PROGRESS_S = 0.0

def parent(stat):
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:  # another program, which has just ended
        return 0

def tell(done, total, rtt_s):
    if done == 7:
        peers = [stat.parent.name for stat in Path("/proc").glob("[0-9]*/stat")
                 if parent(stat) == os.getpid()]
        {fork}
        print(*peers, flush=True)
        os.kill(os.getpid(), signal.{how})

result = echo(8, count=50, progress=tell, save=sys.argv[1])
print("went on")
"""
FORK = "os.fork() or (os.read(0, 1), os._exit(0))"


def run_program(how, path, *, fork="", stdin=subprocess.DEVNULL):
    script = PROGRAM.format(how=how, fork=fork)
    return subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ends_within(pid, limit_s):
    """Wait until a process that is not our child has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], limit_s)[0])
    finally:
        os.close(handle)


@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP"])
def test_terminated_program_saves_and_cleans_up(how, tmp_path):
    program = run_program(how, tmp_path / "run.json")
    out, err = program.communicate(timeout=30)
    assert (program.returncode, err) == (-signal.Signals[how], "")
    assert "went on" not in out
    assert ends_within(int(out), 1.0)
    kept = samples.RttSamples.load(tmp_path / "run.json")
    assert (kept.sent, kept.meta.instrument.ended_by) == (7, how)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_peer_ends_when_its_parent_is_killed(tmp_path):
    program = run_program("SIGKILL", tmp_path / "run.json")
    out, _ = program.communicate(timeout=30)
    assert program.returncode == -signal.SIGKILL
    assert ends_within(int(out), 1.0)
    assert list(tmp_path.iterdir()) == []


def test_peer_ends_even_if_somebody_else_holds_its_input(tmp_path):
    """A forked child of the killed program keeps the pipe open: the kernel's signal remains."""
    program = run_program("SIGKILL", tmp_path / "run.json", fork=FORK, stdin=subprocess.PIPE)
    peer = int(program.stdout.readline())
    program.wait(timeout=30)
    assert ends_within(peer, 1.0)
    program.communicate(timeout=30)  # closes the input of the child, which ends it


def test_ctrl_c_from_a_terminal_reaches_the_program_alone(tmp_path):
    program = run_program("SIGINT", tmp_path / "run.json")
    out, err = program.communicate(timeout=30)
    assert (program.returncode, err) == (0, "")
    assert out.endswith("went on\n"), "the first Ctrl-C gives the samples back"
    peer = int(out.split()[0])
    assert ends_within(peer, 1.0)
