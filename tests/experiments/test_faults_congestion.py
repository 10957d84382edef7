"""Faults of live scenarios and their batches, by their numbers: N1 to N14, E1 to E19.

docs/congestion.md says which of them cannot happen here, and which are tested elsewhere.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netcalc import samples
from netcalc.cli import INTERRUPTED
from netcalc.congestion import live
from netcalc.congestion.quantities import document
from netcalc.congestion.recording import from_table
from netcalc.emulation.wire import control, emulated_path
from netcalc.errors import ExperimentError
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

pytestmark = [pytest.mark.live, pytest.mark.namespace]

LINK = {"rate_bps": 10e6, "rtt_s": 0.02, "buffer_bdp": 1}
ROOT = [] if os.geteuid() == 0 else ["-Ur"]
COMMAND = [sys.executable, "-m", "netcalc", "congestion"]


def scenario(end_s=1.0, algorithm="reno", **shared):
    flows = [Flow(algorithm=algorithm, stop_s=end_s)]
    return Scenario(bottleneck=Bottleneck.of(**{**LINK, **shared}), flows=flows, end_s=end_s)


def written(path, end_s=1.0, algorithm="reno", **more):
    flow = {"algorithm": algorithm, "stop_s": end_s}
    path.write_text(json.dumps({**LINK, "end_s": end_s, "flows": [flow], **more}))
    return str(path)


def at_second(moment_s, do):
    """Return a progress function that does something once, after some seconds of the run."""
    done = []

    def progress(done_s, *_):
        if done_s >= moment_s and not done:
            done.append(do())

    return progress


@pytest.fixture
def carriers(monkeypatch):
    """Note the number of each carrier of an emulated path."""
    found, made = [], control.Control.__init__

    def noted(one):
        made(one)
        found.append(one.pid)

    monkeypatch.setattr(control.Control, "__init__", noted)
    return found


# --- What dies in the middle --------------------------------------------------------------------


@pytest.mark.parametrize("host", [0, 1], ids=["receiver", "sender"])
def test_a_killed_host_is_named_and_what_it_logged_is_kept(host, peers, nothing_left):
    """E1: in the middle of a run."""
    progress = at_second(2.0, lambda: os.kill(peers[host], signal.SIGKILL))
    with pytest.raises(ExperimentError) as caught:
        live.record(scenario(30.0), progress=progress)
    error = caught.value
    role = ("receiver", "sender")[host]
    assert (error.code, error.values["status"]) == ("host-ended", "SIGKILL")
    assert error.as_dict()["role"] == role
    assert f"the process of the {role} ended (SIGKILL)" in str(error)
    kept = error.partial
    assert kept.meta.partial
    assert not kept.meta.warnings or "queue-log-lost" not in {w.code for w in kept.meta.warnings}
    for rows in (kept.states, kept.received):
        assert rows.size > 50
        assert rows["at_ns"].max() >= 1.5e9
    assert 2.0 <= kept.ended_s < 10.0
    # the bottleneck lives on. derived: one product of buffer that Reno fills, 25 kB, and drops
    means = kept.result()
    assert 2_000 < means.queue_mean_bytes <= 25_000
    assert means.queue_mean_bytes <= means.queue_p95_bytes <= 25_000
    assert means.drop_count >= 1
    # identity: every byte that arrived had passed it
    arrived = kept.queue.packet_bytes[np.isfinite(kept.queue.departure_s)].sum()
    assert arrived >= kept.received["value"].max()
    # identity: a ping finds that queue, beside the round trip without load
    ping_s = means.probe_rtt_s(means.queue_mean_bytes)
    assert ping_s == pytest.approx(0.02 + 8 * (means.queue_mean_bytes + 84) / 10e6)


def test_one_of_several_senders_is_named_by_its_number(peers, nothing_left):
    """E1: the receiver starts first."""
    flows = [Flow(algorithm="reno", stop_s=30.0)] * 3
    given = replace(scenario(30.0), flows=flows, senders=3)
    progress = at_second(2.0, lambda: os.kill(peers[2], signal.SIGKILL))
    with pytest.raises(ExperimentError) as caught:
        live.record(given, progress=progress)
    error = caught.value
    assert (error.code, error.values["role"], error.values["number"]) == ("host-ended", "sender", 2)
    assert "the process of the second sender ended (SIGKILL)" in str(error)
    kept = error.partial
    assert sorted(set(kept.states["index"].tolist())) == [0, 1, 2]
    assert kept.result().queue_mean_bytes > 0
    # identity: those that live on have reported, the killed one could not
    assert np.isnan(kept.cpu_s).tolist() == [False, True, False, False]


def test_a_carrier_that_goes_away_is_named(carriers, nothing_left):
    """N14: with it go both devices and the namespaces."""
    progress = at_second(1.0, lambda: os.kill(carriers[0], signal.SIGKILL))
    with pytest.raises(ExperimentError) as caught:
        live.record(scenario(30.0), progress=progress)
    error = caught.value
    assert (error.code, error.as_dict()["role"]) == ("emulator-ended", "bottleneck")
    assert str(error).startswith("bottleneck: ")
    require_no_queue(error.partial)


def require_no_queue(kept):
    """Judge a run whose bottleneck took its log with it: unknown, not zero, and said so."""
    assert kept.received["value"].max() > 100_000
    assert kept.queue is None
    assert "queue-log-lost" in {notice.code for notice in kept.meta.warnings}
    means = document(kept.result())
    for name in ("queue_mean_bytes", "queue_median_bytes", "queue_p95_bytes", "drop_count",
                 "probe_rtt_mean_s", "probe_rtt_p95_s"):  # fmt: skip
        assert means[name] is None, name
    assert means["goodput_bps"][0] > 1e6


def test_a_host_that_hangs_is_given_up(peers, nothing_left, monkeypatch):
    """E1: a sender that is stopped does not report; the run ends after its time of grace."""
    monkeypatch.setattr(live, "GRACE_S", 0.3)
    progress = at_second(1.0, lambda: os.kill(peers[1], signal.SIGSTOP))
    with pytest.raises(ExperimentError) as caught:
        live.record(scenario(1.5), progress=progress)
    assert (caught.value.code, caught.value.values["role"]) == ("host-silent", "sender")
    assert caught.value.partial.received.size > 10


def test_a_carrier_that_is_stopped_is_named(carriers, nothing_left):
    """N8: by kill -STOP, a debugger, or a container that is frozen; none is left hanging."""
    progress = at_second(1.0, lambda: os.kill(carriers[0], signal.SIGSTOP))
    with pytest.raises(ExperimentError) as caught:
        live.record(scenario(30.0), progress=progress)
    assert (caught.value.code, caught.value.values["role"]) == ("emulator-stopped", "bottleneck")
    require_no_queue(caught.value.partial)


def test_an_emulator_that_falls_behind_marks_the_run(nothing_left, monkeypatch):
    """N8: the limit is taken below any lateness; the share is that of the carrier's own count."""
    monkeypatch.setattr(emulated_path, "MAX_LATE_RATIO", -1.0)
    found = live.record(scenario())
    [late] = [notice for notice in found.meta.warnings if notice.code == "packets-late"]
    assert late.values["late_ratio"] == found.meta.instrument.wire_late_ratio
    assert 0 < found.meta.instrument.wire_lateness_p99_s < 1.0
    assert 0 <= found.meta.instrument.wire_overdue_host_ratio <= 1


def test_a_host_without_processor_time_marks_the_run(nothing_left, monkeypatch):
    """E10: the limit is taken as low as the run is light."""
    monkeypatch.setattr(live, "MOST_CPU_RATIO", 1e-4)
    found = live.record(scenario())
    marks = [notice for notice in found.meta.warnings if notice.code == "host-cpu-limit"]
    assert {notice.values["host"] for notice in marks} == {"sending", "receiving"}
    for notice, spent_s in zip(marks, found.cpu_s, strict=True):
        assert notice.values["cpu_ratio"] == pytest.approx(spent_s / found.ended_s)


# --- How a run may end --------------------------------------------------------------------------


def test_ctrl_c_keeps_what_was_recorded(nothing_left):
    """E7: the first one."""
    progress = at_second(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    found = live.record(scenario(30.0), progress=progress)
    assert found.meta.partial
    assert found.meta.instrument.ended_by == "interrupt"
    assert found.received["value"].max() > 100_000
    assert len(found.queue) > 100


def test_a_run_that_is_stopped_before_it_begins_has_nothing(nothing_left):
    """E7: in set-up; every mean is unknown, none is zero."""
    found = live.record(scenario(), stop=lambda: True)
    assert found.meta.partial
    assert (found.ended_s, found.states.size, found.received.size) == (0.0, 0, 0)
    assert np.isnan(found.result().goodput_bps).all()
    assert np.isnan(found.result().utilization)


def ended_by(number, arguments, *, after, user=(), target=None):
    """Start a command, send it a signal in a run once a condition holds, and return its end.

    ``target`` picks the process of the run that gets the signal in place of the command. However
    that ends, none of its processes and none of its network namespaces is left.
    """
    before = namespaces([os.getpid()])
    with ExitStack() as held, subprocess.Popen(
        [*user, *COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        process_group=0,
    ) as process:  # fmt: skip
        try:
            end_s, helpers, spaces = time.monotonic() + 60.0, set(), set()
            # between two runs of a batch there is no process
            while not (spaces and after()) and time.monotonic() < end_s:
                time.sleep(0.05)
                held.close()
                helpers = offspring(process.pid)
                spaces = namespaces(helpers, held) - before
            if target is None:
                process.send_signal(number)
            else:
                os.kill(target(process.pid), number)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
        until_s = time.monotonic() + 5.0
        while any(map(lives, helpers)) and time.monotonic() < until_s:
            time.sleep(0.01)
        assert spaces
        assert not [pid for pid in helpers if lives(pid)]
        others = {int(path.name) for path in Path("/proc").glob("[0-9]*")} - {os.getpid()}
        assert not spaces & namespaces(others)
    return process.returncode, out, err


def namespaces(pids, held=None):
    """Return the network namespaces in which processes are, or of which they hold one open.

    They may be ``held`` open, and only those returned that are: the kernel gives the number of one
    that is gone to the next one that anybody makes.
    """
    found = set()
    for pid in pids:
        try:
            files = [f"/proc/{pid}/ns/net", *Path(f"/proc/{pid}/fd").iterdir()]
        except OSError:  # it has ended, or is not ours
            continue
        for file in files:
            with suppress(OSError):
                target = os.readlink(file)  # noqa: PTH115 - no path
                if held is not None and target.startswith("net:"):
                    kept = os.open(file, os.O_RDONLY)
                    held.callback(os.close, kept)
                    target = os.readlink(f"/proc/self/fd/{kept}")  # noqa: PTH115
                found |= {target} if target.startswith("net:") else set()
    return found


def offspring(pid):
    """Return all processes below one."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, grown = {pid}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in found} - found
        found, grown = found | more, bool(more)
    return found - {pid}


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def results(path):
    """Return how many results a file has."""
    return path.read_text().count('{"kind": "result"') if path.exists() else 0


ENDS = {
    signal.SIGINT: INTERRUPTED, signal.SIGTERM: -signal.SIGTERM, signal.SIGKILL: -signal.SIGKILL,
}  # fmt: skip


@pytest.mark.parametrize("number", ENDS)
def test_a_batch_that_is_ended_keeps_its_results_and_goes_on(number, tmp_path):
    """E7, E8: no process outlives it, nothing is left beside its file, nothing is run twice."""
    out = tmp_path / "out.jsonl"
    arguments = [written(tmp_path / "one.json"), "--by", "live", "--vary", "buffer_bdp=1,2,4",
                 "--out", str(out)]  # fmt: skip
    code, _, said = ended_by(number, arguments, after=lambda: results(out) == 1)
    assert code == ENDS[number]
    assert "Traceback" not in said
    kept = results(out)
    assert kept in (1, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "out.jsonl"]
    done = subprocess.run(
        [*COMMAND, *arguments, "--json"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["before"], found["finished"], found["left"]) == (kept, 3 - kept, 0)
    assert results(out) == 3


def test_a_command_that_is_interrupted_prints_and_saves_what_it_has(tmp_path):
    """E7: exit 130 like every other command."""
    one = written(tmp_path / "one.json", end_s=30.0)
    code, out, said = ended_by(
        signal.SIGINT, [one, "--by", "live", "--json", "--save", str(tmp_path / "run.json")],
        after=in_the_run(3.0),
    )  # fmt: skip
    assert code == INTERRUPTED, said
    found = json.loads(out)
    assert found["partial"]
    assert 0 < found["ended_s"] < 30
    assert (tmp_path / "run.json").stat().st_size > 1000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_terminated_saves_and_prints_what_it_has(number, tmp_path):
    """E7: then the signal takes effect, as for every other command with --save."""
    one, kept = written(tmp_path / "one.json", end_s=30.0), tmp_path / "run.json.gz"
    code, out, said = ended_by(
        number, [one, "--by", "live", "--json", "--save", str(kept)], after=in_the_run(3.0)
    )
    assert code == -number, said
    assert "Traceback" not in said
    found = json.loads(out)
    assert found["partial"]
    assert 0 < found["ended_s"] < 30
    assert found["goodput_bps"][0] > 1e6
    recording = from_table(samples.load(kept), file=str(kept))
    assert recording.meta.partial
    assert recording.meta.instrument.ended_by == signal.Signals(number).name
    # identity: the file has the run that was printed
    assert recording.result().goodput_bps.tolist() == found["goodput_bps"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "run.json.gz"]


def test_other_ways_are_left_out_after_a_signal(tmp_path):
    """E7: a simulation of a minute does not hold back the end of the command."""
    one = written(tmp_path / "one.json", end_s=30.0)
    arguments = [one, "--by", "theory,live,ns3", "--python", sys.executable, "--json"]
    code, out, said = ended_by(signal.SIGTERM, arguments, after=in_the_run(3.0))
    assert code == -signal.SIGTERM, said
    found = json.loads(out)
    assert found["by"] == ["theory", "live"]
    assert found["absent"]["ns3"]["code"] == "way-skipped"


def in_the_run(moment_s):
    """Return a condition that holds some time after it was first asked: a process was there."""
    begun_s = []

    def holds():
        begun_s.append(time.monotonic())
        return begun_s[-1] - begun_s[0] > moment_s

    return holds


USERS = {
    "a plain user": ["unshare", "--user", "--map-user=1000", "--map-group=1000"],
    "root without capabilities": ["setpriv", "--bounding-set=-all", "--inh-caps=-all"],
}
"""How root becomes somebody without rights who still may read the interpreter's files."""


def child_of(command, wanted):
    """Return the process of a host or of the bottleneck, by what its command line ends with."""
    words = {"bottleneck": "carrier", "sender": "flows_peer", "receiver": "flows_peer"}
    found = []
    for pid in sorted(offspring(command)):
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
        if words[wanted] in line:
            found.append(pid)
    return found[wanted == "sender"]


@pytest.mark.parametrize("user", [None, "a plain user"])
@pytest.mark.parametrize("killed", ["sender", "receiver", "bottleneck", "command"])
def test_a_kill_leaves_nothing_behind(killed, user, tmp_path):
    """E8: SIGKILL for each process of a run; the command names the one that is gone."""
    one, kept = written(tmp_path / "one.json", end_s=30.0), tmp_path / "run.json"
    as_user = USERS[user] if user and os.geteuid() == 0 else []
    target = None if killed == "command" else lambda pid: child_of(pid, killed)
    code, out, said = ended_by(
        signal.SIGKILL, [one, "--by", "live", "--json", "--save", str(kept)],
        after=in_the_run(3.0), user=as_user, target=target,
    )  # fmt: skip
    assert "Traceback" not in said
    names = {path.name for path in tmp_path.iterdir()}
    if killed == "command":
        assert (code, out, names) == (-signal.SIGKILL, "", {"one.json", "run.json"})
        left = from_table(samples.load(kept))
        assert left.meta.partial
        assert 0 < left.ended_s < 3.5
        assert left.goodput_bps()[0] > 0
        return
    assert (code, names) == (2, {"one.json", "run.json"}), said
    found = json.loads(out)
    assert found["error"]["role"] == killed
    assert killed in said
    assert (found["queue_mean_bytes"] is None) == (killed == "bottleneck")
    assert (found["drop_count"] is None) == (killed == "bottleneck")
    codes = {mark["code"] for mark in found["warnings"]}
    assert ("queue-log-lost" in codes) == (killed == "bottleneck")


# --- What a machine lacks -----------------------------------------------------------------------


def said_by(arguments, *, inside=()):
    """Return the exit code of a command and what it said, inside a place that lacks something."""
    done = subprocess.run(
        [*inside, *COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_without_namespaces_theory_goes_on_and_a_run_says_why_not(tmp_path):
    """N1, E19: one sentence with the cause, of a run and of a batch."""
    one = written(tmp_path / "one.json")
    shell = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'
    inside = ["unshare", "-Urn", "sh", "-c", shell, "sh"]
    code, _, said = said_by([one, "--by", "live"], inside=inside)
    assert code == 2
    assert "max_net_namespaces" in said
    assert len(said.splitlines()) == 1
    batch = [one, "--vary", "buffer_bdp=1,2", "--out", str(tmp_path / "out.jsonl")]
    code, _, said = said_by([*batch, "--by", "live"], inside=inside)
    assert code == 1
    assert said.count("max_net_namespaces") == 1, "once, not for each run"
    assert "(and 1 more)" in said
    assert "2 of 2 have no result" in said
    assert said_by([one], inside=inside)[0] == 0


def test_without_tun_a_pair_of_devices_serves(tmp_path):
    """N2."""
    inside = ["unshare", "--mount", *ROOT, "sh", "-c",
              'mount --bind /dev/null /dev/net/tun && exec "$@"', "sh"]  # fmt: skip
    code, out, said = said_by(
        [written(tmp_path / "one.json"), "--by", "live", "--json"], inside=inside
    )
    assert code == 0, said
    assert 0 < json.loads(out)["goodput_bps"][0] <= 10e6


def test_a_full_disk_ends_a_batch_with_its_name_and_keeps_what_it_has(tmp_path):
    """E6: a file system of three pages; the file before stays whole."""
    one = written(tmp_path / "one.json", end_s=0.3)
    shell = (
        f"mount -t tmpfs -o size=12k none /mnt; cp {one} /mnt/one.json; "
        f'"$@"; code=$?; cp /mnt/out.jsonl {tmp_path}/kept.jsonl; exit $code'
    )
    inside = ["unshare", "--mount", *ROOT, "sh", "-c", shell, "sh"]
    values = ",".join(str(1 + at) for at in range(8))
    arguments = [one, "--by", "live", "--vary", f"buffer_bdp={values}", "--out", "/mnt/out.jsonl"]
    code, _, said = said_by(arguments, inside=inside)
    assert code == 2
    assert "No space left" in said
    assert "/mnt/out.jsonl" in said
    text = (tmp_path / "kept.jsonl").read_text()
    assert text.endswith("}\n")
    assert 1 <= results(tmp_path / "kept.jsonl") < 8


BY_NOBODY = """
import sys
from netcalc.congestion import live
from netcalc.congestion.quantities import document
from netcalc.congestion.recording import from_table
from netcalc.errors import ExperimentError
from netcalc.scenario import Bottleneck, Flow, Scenario
link = Bottleneck.of(rate_bps=10e6, rtt_s=0.02, buffer_bdp=1)
for algorithm in ("reno", "cubic", "vegas"):
    one = Scenario(bottleneck=link, flows=[Flow(algorithm=algorithm, stop_s=0.8)], end_s=0.8)
    try:
        found = live.record(one)
        way = found.meta.instrument.truth["way"]
        print(algorithm, "|", found.result().goodput_bps[0] > 1e6, way)
    except ExperimentError as error:
        print(algorithm, "|", error.code, error)
"""


def words(name):
    return Path(f"/proc/sys/net/ipv4/tcp_{name}_congestion_control").read_text().split()


@pytest.mark.parametrize("user", USERS)
def test_a_user_without_any_right_runs_what_the_kernel_grants(user):
    """N1, E12: in a namespace of its own; what is refused is named with what is granted."""
    as_user = USERS[user] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*as_user, sys.executable, "-c", BY_NOBODY], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    said = dict(line.split(" | ") for line in done.stdout.splitlines())
    allowed = words("allowed")
    for algorithm, text in said.items():
        refused = text.startswith("congestion-control-refused") and ", ".join(allowed) in text
        ran = text == "True user namespace"
        # what the kernel restricts is granted in a namespace of one's own, by some kernels
        assert ran or (refused and algorithm not in allowed), text
        assert refused or algorithm in words("available"), text


@pytest.mark.usefixtures("popen_closes")
def test_few_open_files_are_said_so_and_none_stays_open(nothing_left):
    """E6: at any number of them the run is whole, or says that there are no more."""
    import resource

    live.record(scenario(0.3))  # loads what is loaded late
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    used = len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 - names, not paths
    for more in (*range(14), 16, 18, 20, 30):
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + more, hard))
        try:
            found = live.record(scenario(0.3))
            assert found.received.size
        except ExperimentError as error:
            assert "Too many open files" in str(error.values.get("reason")), more  # noqa: PT017
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        assert len(os.listdir("/proc/self/fd")) - 1 == used, more  # noqa: PTH208


def test_what_happened_to_each_flow_is_read_back():
    """E12, E14: another default of the system changes nothing; windows are not cut by buffers."""
    found = live.record(scenario(1.5, rtt_s=0.1, buffer_bdp=8))
    # derived: of a queue of 8 BDP nothing fits into the 64 kB of a window that was not scaled
    assert found.states["cwnd"].max() * 1448 > 65_536
    assert found.meta.instrument.truth["there"]["buffer_bytes"] == 1_000_000


# --- Several runs -------------------------------------------------------------------------------


def test_two_programs_at_once_do_not_meet(tmp_path):
    """E18: names, ports and namespaces are of each alone."""
    one = written(tmp_path / "one.json", end_s=1.0)
    runs = [
        subprocess.Popen([*COMMAND, one, "--by", "live", "--json"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]  # fmt: skip
    ends = [run.communicate(timeout=60) for run in runs]
    for run, (out, said) in zip(runs, ends, strict=True):
        assert run.returncode == 0, said
        assert 0 < json.loads(out)["goodput_bps"][0] <= 10e6


def test_ten_runs_leave_no_more_than_one(nothing_left):
    """N11, N13: and no value of the machine is changed."""
    before = readable("/proc/sys/net")
    for _ in range(10):
        assert live.record(scenario(0.2)).received.size
    after = readable("/proc/sys/net")
    both = before.keys() & after.keys()  # others add devices, and take them away
    assert {path for path in both if before[path] != after[path]} <= changing(before)


def readable(folder):
    """Return what is in the files that can be read."""
    values = {}
    for place, _, names in os.walk(folder):  # passes over a device that is gone
        for path in (Path(place, name) for name in names):
            with suppress(OSError):
                values[path] = path.read_bytes()
    return values


def changing(values):
    """Return what counts by itself."""
    return {path for path in values if path.name in ("nf_conntrack_count", "file-nr")}


def test_the_same_seed_loses_the_same_packets(nothing_left):
    """N10: a request after the other, so that packets come in the same order; counted exactly."""
    loop = Requests(request_bytes=500, algorithm="reno", stop_s=3.0)
    lost = []
    for seed in (5, 5, 6):
        given = Scenario(
            bottleneck=Bottleneck.of(**LINK, loss_ratio=0.1), requests=[loop], end_s=3.0, seed=seed
        )
        fates = live.record(given).queue.fate
        lost.append(tuple((fates[:40] == 2).tolist()))
    assert lost[0] == lost[1]
    assert lost[0] != lost[2]
    assert 0 < sum(lost[0]) < 20


DEFERRED = """
import os, signal
from netcalc.experiments.running.stopping import Deferral, Stopping
with Deferral() as deferral:
    print("begun")
    {}
    print("printed", deferral.name)
print("never")
"""
KILL = "os.kill(os.getpid(), signal.SIGHUP)"


@pytest.mark.parametrize(
    ("does", "printed"),
    [
        (KILL, "begun\nprinted SIGHUP\n"),
        (f"with Stopping(None, limit_s=9.0): {KILL}", "begun\nprinted SIGHUP\n"),
        (f"{KILL}; {KILL}", ""),
        (f"with Stopping(None, limit_s=9.0): {KILL}; {KILL}", ""),
        (f"with deferral.lifted(): {KILL}", ""),
    ],
    ids=["alone", "in a run", "twice", "twice in a run", "lifted"],
)
def test_a_signal_waits_for_what_follows_a_run(does, printed):
    """identity: once, to the end of the block; what a killed process had not flushed is lost."""
    done = subprocess.run(
        [sys.executable, "-c", DEFERRED.format(does)], capture_output=True, text=True, timeout=30,
        check=False, env={**os.environ, "PYTHONUNBUFFERED": ""},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGHUP, printed, "")


def test_a_signal_before_a_run_ends_it_at_its_first_check():
    """identity: what waits for the end of the block does not wait for a whole run in it."""
    does = f"""{KILL}
    with Stopping(None, limit_s=9.0) as stopping:
        print(stopping.reason)"""
    done = subprocess.run(
        [sys.executable, "-c", DEFERRED.format(does)], capture_output=True, text=True, timeout=30,
        check=False, env={**os.environ, "PYTHONUNBUFFERED": ""},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (-signal.SIGHUP, "")
    assert done.stdout == "begun\nSIGHUP\nprinted SIGHUP\n"
