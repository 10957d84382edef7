"""The peer and its client where sockets, signals and calls are those of Windows, or of macOS.

Nobody here has these systems: each test is a process without what their Python lacks, see
:mod:`tests.experiments.other_system`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from netcalc import experiments
from netcalc.errors import ExperimentError
from netcalc.experiments.peers import helper
from tests.experiments.other_system import names

ROOT = Path(__file__).parents[2]
PEER_MODULES = (
    "bulk_peer channel door far_costs far_echo far_flows far_trains helper job responder service"
)

pytestmark = [pytest.mark.live, pytest.mark.slow]


@pytest.fixture(params=["win32", "darwin"])
def system(request):
    return request.param


def run_as(system, code):
    """Run a program as on a system; return what it prints, a JSON object a line."""
    begin = f"from tests.experiments.other_system import become\nbecome({system!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", begin + code],
        capture_output=True, text=True, timeout=120, check=False,
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert not done.stderr, done.stderr
    assert not done.returncode
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_the_systems_lack_is_what_they_are_known_to_lack():
    """A few that are well known, so that typeshed is read right."""
    linux, windows, macos = (names("socket", name) for name in ("linux", "win32", "darwin"))
    assert {"TCP_INFO", "MSG_FASTOPEN", "TCP_QUICKACK", "SO_BINDTODEVICE"} <= linux
    assert not {"TCP_INFO", "MSG_FASTOPEN", "TCP_QUICKACK", "SO_BINDTODEVICE"} & (windows | macos)
    assert {"MSG_DONTWAIT", "AF_UNIX", "send_fds"} <= macos - windows
    assert "SIO_RCVALL" in windows - macos - linux
    assert "epoll" not in names("select", "win32") | names("select", "darwin")
    assert "recvmsg" not in names("_socket", "win32", within="socket")


PEER = f"""
import json, sys
FOLDER = {str(ROOT / "netcalc")!r}
from types import ModuleType
for name in ("netcalc.emulation", "numpy", "scipy"):
    sys.modules[name] = None
for name, path in (("netcalc", FOLDER), ("netcalc.experiments", FOLDER + "/experiments")):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [path]
from importlib import import_module
for name in {PEER_MODULES.split()!r}:
    import_module("netcalc.experiments.peers." + name)
print(json.dumps(sorted(name for name in sys.modules if name.startswith("netcalc."))))
"""


def test_the_program_of_a_peer_needs_nothing_of_linux_and_no_other_room(system):
    (modules,) = run_as(system, PEER)
    own = {f"netcalc.experiments.peers.{name}" for name in PEER_MODULES.split()}
    assert own <= set(modules)
    assert not [name for name in modules if name.startswith("netcalc.models")]


RUNS = """
import json
import numpy as np
from netcalc import experiments
from netcalc.errors import ExperimentError
from netcalc.samples import load
from tests.experiments.conftest import serving

def show(name, samples, **more):
    facts = samples.meta.instrument
    row = {"name": name, "rows": len(samples), "warnings": [n.code for n in samples.meta.warnings],
           "lacks": [facts.lacks, facts.peer_machine["lacks"]]}
    print(json.dumps({**row, **more}))

with serving(carried_bytes=10**11) as far:
    peer = far.peer
    for protocol in ("udp", "tcp"):
        samples = experiments.echo([8, 1400], protocol=protocol, count=5, peer=peer)
        echoed = samples.meta.instrument.peer_echoed_count
        show("echo " + protocol, samples, lost=int(samples.lost.sum()), echoed=echoed)
        for direction in ("forward", "back", "both"):
            samples = experiments.bulk(
                1000, protocol=protocol, direction=direction, write_count=50, run_count=3,
                buffer_bytes=1 << 20, peer=peer,
            )
            lost = np.nan_to_num(samples.lost_count)
            arrived = samples.received_bytes + 1000 * lost
            columns = {name: np.isfinite(getattr(samples, name)).tolist()
                       for name in ("window_bytes", "wait_count", "system_s", "user_s")}
            show(f"bulk {protocol} {direction}", samples, arrived=arrived.tolist(),
                 limit=samples.limit.tolist(), **columns)
    samples = experiments.line_rate([64, 1518], duration_s=0.05, run_count=3, peer=peer)
    show("line_rate", samples, counts=(samples.write_count > 0).tolist())
    samples = experiments.lockstep([1, 4], duration_s=0.1, run_count=1, peer=peer)
    show("lockstep", samples, cycles=(samples.cycle_s > 0).tolist())
    for direction in ("forward", "back"):
        samples = experiments.small_writes(count=3, peer=peer, direction=direction)
        show(f"small_writes {direction}", samples, failed=int(samples.failed.sum()))
        samples = experiments.packet_trains(count=3, peer=peer, direction=direction)
        show(f"packet_trains {direction}", samples)
    samples = experiments.transactions([8, 1400], count=3, peer=peer)
    show("transactions", samples, failed=int(samples.failed.sum()), modes=samples.modes)
    samples = experiments.router([64, 1514], duration_s=0.05, run_count=1, peer=peer)
    show("router", samples, sent=(samples.write_count > 0).tolist())
    samples = experiments.working_latency(duration_s=0.2, warm_s=0.1, timeout_s=1, peer=peer)
    show("working_latency", samples, groups=samples.groups, received=samples.received)
    experiments.echo([100], count=2, peer=peer, save=FILE)
    show("saved", load(FILE))
    for name, options in {
        "small_writes": {"modes": ["cork"]},
        "bulk": {"protocol": "udp", "write_bytes": 100, "datagrams_per_call": 4},
    }.items():
        try:
            getattr(experiments, name)(**options, peer=peer)
        except ExperimentError as error:
            print(json.dumps({"name": name + " refused", "code": error.code}))
"""


LACKS = ["window_bytes", "receiver_drop_count", "system_s", "wait_count", "arrival_stamps",
         "congestion_control", "datagrams_per_call", "quickack", "tfo", "cork", "more"]  # fmt: skip
"""Both systems have nothing of what only Linux counts, or can do."""


def test_the_experiments_run_with_a_peer(system, tmp_path):
    code = f"FILE = {str(tmp_path / 'echo.json')!r}\n{RUNS}"
    rows = {row.pop("name"): row for row in run_as(system, code)}
    assert all(row["lacks"] == [LACKS, LACKS] for row in rows.values() if "rows" in row)
    for protocol in ("udp", "tcp"):
        echo = rows[f"echo {protocol}"]
        assert (echo["rows"], echo["lost"], echo["echoed"]) == (10, 0, 20)  # with the warm-up
        for direction in ("forward", "back", "both"):
            bulk = rows[f"bulk {protocol} {direction}"]
            count = 6 if direction == "both" else 3
            assert bulk["arrived"] == [50_000.0] * count
            # Only Linux counts what is in flight, and the waits and parts of a thread's time.
            for name in ("window_bytes", "wait_count", "system_s"):
                assert not any(bulk[name]), name
            assert all(bulk["user_s"])
            assert bulk["limit"] == [""] * count
    assert rows["line_rate"]["counts"] == [True] * 6
    # Two sizes: each end alone; forward, back, and both at once, which makes two rows.
    assert rows["router"]["sent"] == [True] * 2 * (2 + 4)
    assert rows["lockstep"]["cycles"] == [True, True]
    for direction in ("forward", "back"):
        writes = rows[f"small_writes {direction}"]
        assert (writes["rows"], writes["failed"]) == (12, 0)
        assert rows[f"packet_trains {direction}"]["rows"] == 3 * 2  # packets of a train
    transactions = rows["transactions"]
    assert (transactions["rows"], transactions["failed"]) == (18, 0)
    assert transactions["modes"] == ["udp", "tcp", "tls"]
    assert transactions["warnings"][:2] == ["left-out-with-peer"] * 2  # ping, Fast Open
    working = rows["working_latency"]
    assert working["groups"] == ["idle", "forward", "back", "both", "idle after"]
    assert working["rows"] == working["received"] == 50  # 0.2 / 0.02 in each phase
    assert rows["saved"]["rows"] == 2
    assert rows["small_writes refused"]["code"] == "option-unavailable"
    assert rows["bulk refused"]["code"] == "needs-linux"


DOCTOR = """
import json
from click.testing import CliRunner
from netcalc.cli.doctor import doctor
for options in ([], ["--json"]):
    result = CliRunner().invoke(doctor, options)
    assert result.exception is None, result.output
    print(json.dumps(result.output))
"""


def test_doctor_says_what_is_left_out(system):
    text, described = run_as(system, DOCTOR)
    report = json.loads(described)
    assert report["peer"]["lacks"] == LACKS
    assert report["wire"] is False
    assert "namespaces   no: " in text
    assert "does not count data in flight, drops at a socket, " in text
    assert "does not have a choice of congestion control, " in text


PEER_COMMAND = """
from netcalc.cli.peer import peer
peer.main(["--port", "0", "--for", "60s"], standalone_mode=False)
"""


@pytest.fixture(scope="module", params=["win32", "darwin"])
def other_peer(request):
    """The command ``netcalc peer`` on another system."""
    begin = f"from tests.experiments.other_system import become\nbecome({request.param!r})\n"
    with subprocess.Popen(
        [sys.executable, "-u", "-c", begin + PEER_COMMAND],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:  # fmt: skip
        said = [process.stdout.readline() for _ in range(2)]
        port, token = re.search(r"port (\d+), ", said[0])[1], said[1].split()[-1]
        yield experiments.Peer("127.0.0.1", port=int(port), token=token)
        process.terminate()
        process.communicate(timeout=10)
    assert process.returncode == 0


def test_a_peer_on_another_system_serves_this_one(other_peer):
    samples = experiments.echo([8, 1400], count=5, peer=other_peer)
    assert not samples.lost.any()
    assert samples.meta.instrument.lacks == []
    assert samples.meta.instrument.peer_machine["lacks"] == LACKS
    samples = experiments.bulk(
        1000, write_count=50, run_count=1, direction="both", buffer_bytes=None, peer=other_peer
    )
    assert samples.received_bytes.tolist() == [50_000.0] * 2
    # What this machine counts is there, and what the other one does not count is not.
    assert np.isfinite(samples.wait_count).tolist() == [True, False]


@pytest.mark.parametrize(
    ("name", "options", "lacking"),
    [
        ("small_writes", {"quickack": True}, "quickack"),
        ("small_writes", {"modes": ["more"], "direction": "back"}, "more"),
        ("bulk", {"congestion_control": "reno", "direction": "back"}, "congestion_control"),
        ("bulk", {"protocol": "udp", "write_bytes": 100, "datagrams_per_call": 4,
                  "direction": "back"}, "datagrams_per_call"),
    ],
)  # fmt: skip
def test_what_a_peer_does_not_have_is_refused_by_name(other_peer, name, options, lacking):
    with pytest.raises(ExperimentError) as caught:
        getattr(experiments, name)(**options, peer=other_peer)
    assert (caught.value.code, caught.value.values["option"]) == ("far-peer-lacks", lacking)


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        # Numbers of Winsock and of macOS (sys/errno.h) for what is 104 and 111 on Linux.
        ({"error": 10_054, "name": "ECONNRESET", "text": "reset"}, ConnectionResetError),
        ({"error": 61, "name": "ECONNREFUSED", "text": "refused"}, ConnectionRefusedError),
        ({"error": 104, "text": "reset"}, ConnectionResetError),
        ({"error": 104, "name": "errorcode", "text": "reset"}, ConnectionResetError),
    ],
)
def test_an_error_of_another_system_is_one_of_this(report, kind):
    error = helper.reported_error(report)
    assert type(error) is kind
    assert error.strerror == report["text"]
