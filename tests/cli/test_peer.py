"""``netcalc peer`` as its user starts it, and ``netcalc run --peer`` on the other side."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from netcalc import experiments
from netcalc.cli import peer as peer_module
from netcalc.cli.options import TOKEN_VARIABLE, read_peer
from netcalc.cli.run import run as run_group
from netcalc.emulation import EmulatedPath
from netcalc.errors import DomainError, ExperimentError, NetcalcError
from netcalc.experiments.peers import remote
from netcalc.path import Path as LinkPath
from tests.cli.test_commands import assert_mistake, netcalc, process

live = pytest.mark.live
TOKEN = "abcd-efgh-ijkm-npqr"


@contextmanager
def started(*options):
    """Start a peer on loopback; give its process, its port, its token and what it printed."""
    with subprocess.Popen(
        [sys.executable, "-m", "netcalc", "peer", "--port", "0", *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as own:  # fmt: skip
        try:
            shown = []
            while not shown or not shown[-1].startswith("Each run"):
                shown.append(own.stdout.readline())
                assert shown[-1], own.stderr.read()
            text = "".join(shown)
            yield SimpleNamespace(
                process=own, text=text,
                port=int(re.search(r"port (\d+)", text)[1]),
                token=re.search(r"^Token: (\S+)$", text, re.MULTILINE)[1],
            )  # fmt: skip
        finally:
            own.kill()


def line_with(shown, words):
    """Read what a peer prints until a line has these words."""
    while words not in (line := shown.process.stdout.readline()):
        assert line, "the peer has ended"
    return line


def at(shown):
    return experiments.Peer("127.0.0.1", token=shown.token, port=shown.port)


@live
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
def test_an_idle_peer_is_small_and_asleep():
    with started() as shown:
        line_with(shown, "Only this machine")
        folder = Path(f"/proc/{shown.process.pid}")

        def status(name):
            return int(re.search(rf"^{name}:\s+(\d+)", (folder / "status").read_text(), re.M)[1])

        before = status("voluntary_ctxt_switches")
        time.sleep(2.0)
        assert status("voluntary_ctxt_switches") - before <= 5, "it looks at its end each second"
        assert status("VmRSS") < 30_000  # kB: measured 25 MB
        assert "numpy" not in (folder / "maps").read_text()
        words = (folder / "cmdline").read_text() + (folder / "environ").read_text()
        assert shown.token not in words


@live
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_it_with_a_summary(number):
    with started() as shown:
        samples = experiments.echo([100], count=2, peer=at(shown))
        line_with(shown, "ended its run")
        shown.process.send_signal(getattr(signal, number))
        rest = shown.process.communicate(timeout=20)
        assert shown.process.returncode == 0, rest
        # 2 probes and 5 of warm-up, of 100 bytes in each direction
        assert "ended after 1 run with 1400 B" in rest[0]
        assert rest[1] == ""
        with socket.socket() as sock:  # nothing listens any more
            assert sock.connect_ex(("127.0.0.1", shown.port)) != 0
    assert len(samples) == 2


@live
def test_it_ends_after_its_time():
    done = process("peer", "--port", "0", "--for", "1s")
    assert (done.returncode, done.stderr) == (0, "")
    last = done.stdout.splitlines()[-1]
    assert re.search(r"ended after 0 runs with 0 B; turned away: 0 wrong tokens, ", last)


@live
def test_a_run_by_the_command_line_and_the_log_of_the_peer(tmp_path):
    log = tmp_path / "peer.log"
    with started("--log", str(log)) as shown:
        where = f"127.0.0.1:{shown.port}"
        done = process(
            "run", "echo", "--peer", where, "--size", "100B", "--count", "3", "--json",
            env={TOKEN_VARIABLE: shown.token},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["file"] == f"echo over udp, the peer {where}"
        done = process("run", "bulk", "--peer", where, "-c", "5", "--token", "2" * 16)
        assert_mistake(done, "refuses the token", "each start of netcalc peer makes a new one")
        line_with(shown, "wrong token, 1 so far")
        written = log.read_text(encoding="utf-8")
        assert written.splitlines()[0].endswith(" 127.0.0.1 begins a run")
        assert shown.token not in written + shown.text.replace(f"Token: {shown.token}", "")


@live
def test_a_peer_that_dies_leaves_the_samples_so_far():
    with started() as shown:

        def kill(rows, *_):
            if rows >= 5:
                shown.process.kill()

        with pytest.raises(ExperimentError) as raised:
            experiments.echo(
                [100], count=5000, interval_s=0.01, timeout_s=0.2, peer=at(shown), progress=kill
            )
    assert raised.value.code == "far-peer-gone"
    assert 5 <= len(raised.value.partial) < 5000


@live
def test_a_client_that_dies_leaves_the_peer_free():
    with started() as shown:
        client = subprocess.Popen(
            [sys.executable, "-m", "netcalc", "run", "echo", "--peer", f"127.0.0.1:{shown.port}",
             "--size", "100B", "--count", "5000", "--interval", "20ms"],
            env={**os.environ, TOKEN_VARIABLE: shown.token},
        )  # fmt: skip
        line_with(shown, "begins a run")
        client.kill()
        client.wait()
        line_with(shown, "ended its run")
        assert len(experiments.echo([100], count=2, peer=at(shown))) == 2


@live
@pytest.mark.each("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_port_in_use_is_refused(kind):
    with socket.socket(type=kind) as other:
        other.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            other.listen()
        port = other.getsockname()[1]
        done = netcalc("peer", "--port", str(port))
        assert_mistake(done, f"port {port} of 127.0.0.1 is in use", "--port 0")


@pytest.mark.each(
    ("options", "words"),
    [
        (["--listen", "here"], "'here' is not an address such as"),
        (["--listen", "224.0.0.1"], "is not an address such as"),
        (["--listen", "255.255.255.255"], "is not an address such as"),
        (["--listen", "192.0.2.250"], "cannot listen at 192.0.2.250"),  # of documentation
        (["--listen", "fe80::250"], "fe80::250%eth0"),
        (["--listen", "fe80::250%nosuch"], "is not an address such as"),
        (["--for", "2d"], "--for must be from 1 s to 1 d"),
        (["--for", "0s"], "--for must be from 1 s"),
        (["--duration", "1h"], "--duration must be from 1 s to 600 s"),
        (["--bytes", "0B"], "--bytes must be from 1 B"),
        (["--rate", "1bit/s"], "--rate must be from 1 kbit/s to 1 Tbit/s"),
        (["--connections", "0"], "--connections must be 1 or greater"),
        (["--port", "70000"], "--port must be at most 65535"),
        (["--log", "/nosuch/folder/log"], "/nosuch/folder/log: No such file"),
        (["192.0.2.7"], "unexpected argument"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(options, words):
    assert_mistake(netcalc("peer", *options), words)


@pytest.mark.each(
    ("number", "code"),
    [
        ("EACCES", "peer-port-not-permitted"),
        ("EAFNOSUPPORT", "peer-without-ipv6"),
        ("EADDRNOTAVAIL", "peer-address-elsewhere"),
    ],
)
def test_what_the_system_refuses(number, code, monkeypatch):
    def refuse(*_, **__):
        number_of = getattr(__import__("errno"), number)
        raise OSError(number_of, f"{os.strerror(number_of)} (while attempting to bind)")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(NetcalcError) as raised:
        peer_module.listen("::1", 80)
    assert raised.value.code == code
    assert "attempting" not in str(raised.value)


def test_the_port_is_that_of_the_client():
    with click.Context(click.Command("x")):
        assert read_peer("192.0.2.7", TOKEN).port == remote.PORT
    port = next(option for option in peer_module.peer.params if option.name == "port")
    assert port.default == remote.PORT


@pytest.mark.each(
    ("text", "host", "port"),
    [
        ("192.0.2.7", "192.0.2.7", 20_521),
        ("192.0.2.7:99", "192.0.2.7", 99),
        ("2001:db8::7", "2001:db8::7", 20_521),
        ("::1", "::1", 20_521),
        ("[2001:db8::7]", "2001:db8::7", 20_521),
        ("[fe80::1%eth0]:20522", "fe80::1%eth0", 20_522),
        ("fe80::1%eth0", "fe80::1%eth0", 20_521),
    ],
)
def test_a_peer_as_it_is_typed(text, host, port):
    with click.Context(click.Command("x")):
        peer = read_peer(text, TOKEN)
    assert (peer.host, peer.port) == (host, port)


@pytest.mark.each("text", ["", "[]", "example.org", "::1:", "[::1"])
def test_no_peer_as_it_is_typed(text):
    with click.Context(click.Command("x")), pytest.raises(ExperimentError) as raised:
        read_peer(text, TOKEN)
    assert raised.value.code == "target-not-an-address"


@pytest.mark.each("text", ["192.0.2.7:x", "[::1]:", "192.0.2.7:99999", "192.0.2.7: 80"])
def test_no_port_as_it_is_typed(text):
    with (
        click.Context(click.Command("x")),
        pytest.raises(DomainError, match="the port of --peer must be a whole number"),
    ):
        read_peer(text, TOKEN)


PEER = ["--peer", "192.0.2.7"]


@pytest.mark.each(
    ("options", "words"),
    [
        ([*PEER], f"Set {TOKEN_VARIABLE}"),
        ([*PEER, "--token", "abcd"], "16 letters and digits"),
        (["--peer", "192.0.2.7:70000", "--token", TOKEN], "the port of --peer must be"),
        ([*PEER, "--path", "T1 5 ms"], "--peer and --path cannot be combined"),
        ([*PEER, "--host", "127.0.0.1"], "--peer and --host cannot be combined"),
        ([*PEER, "--mtu", "1500B"], "--peer and --mtu cannot be combined"),
        (["--token", TOKEN], "--token requires --peer"),
    ],
)
def test_what_does_not_go_with_a_peer(options, words):
    done = netcalc("run", "bulk", *options, env={TOKEN_VARIABLE: ""})
    assert_mistake(done, words)
    assert TOKEN not in done.stdout + done.stderr
    assert "abcd" not in done.stderr


def test_a_token_that_cannot_be_is_in_no_error():
    with pytest.raises(DomainError) as raised:
        experiments.Peer("192.0.2.7", token="my-secret")
    assert "my-secret" not in f"{raised.value}{raised.value.as_dict()}{raised.value.values}"


def test_the_token_typed_goes_before_that_of_the_environment(monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "2222-2222-2222-2222")
    with click.Context(click.Command("x")):
        assert read_peer("192.0.2.7", TOKEN).token == TOKEN
        assert read_peer("192.0.2.7", None).token == "2222-2222-2222-2222"


def test_a_token_is_asked_for_without_an_echo(monkeypatch):
    asked = {}

    def prompt(text, **options):
        asked.update(options)
        return TOKEN

    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(click, "prompt", prompt)
    with click.Context(click.Command("x")):
        assert read_peer("192.0.2.7", None).token == TOKEN
    assert asked == {"hide_input": True, "err": True}


def test_the_help_of_runs_says_when_packets_leave_the_machine():
    said = " ".join(netcalc("run", "--help").stdout.split())
    assert "No packet leaves the machine without --peer or --iperf3." in said
    for name, command in run_group.commands.items():
        options = {option for param in command.params for option in param.opts}
        assert ("--peer" in options) == ("--token" in options), name


def test_a_flood_of_one_kind_leaves_few_lines(monkeypatch, capsys):
    """1000 wrong tokens in a minute, and one a minute later, which says how many were left out."""
    now_s = [50.0]
    monkeypatch.setattr(peer_module.time, "monotonic", lambda: now_s[0])
    log = peer_module.Log()
    for number in range(1000):
        log("peer-wrong-token", host="192.0.2.66", count=number + 1)
    log("peer-run-begins", host="::ffff:192.0.2.1")
    now_s[0] += 60.0
    log("peer-wrong-token", host="192.0.2.66", count=1001)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == peer_module.LINES_A_MINUTE + 2
    assert lines[-2].endswith(" 192.0.2.1 begins a run")
    assert lines[-1].endswith("wrong token, 1001 so far (940 more like this were not printed)")


def test_a_full_disk_of_the_log_ends_nothing(capsys):
    class Full:
        def write(self, _):
            raise OSError(28, "No space left on device")

    log = peer_module.Log(Full())
    for _ in range(2):
        log("peer-run-begins", host="192.0.2.1")
    said = capsys.readouterr()
    assert said.out.count("begins a run") == 2
    assert said.err.count("the log file cannot be written any more: No space left on device") == 1


@live
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_all_addresses_serve_both_versions_of_ip(host):
    """By a listener of both, where a host of IPv4 has its own name in the log."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, 0), family=family).close()
    except OSError as error:
        pytest.skip(f"no {host} here: {error.strerror}")
    with started("--listen", "all") as shown:
        peer = experiments.Peer(host, token=shown.token, port=shown.port)
        for protocol in ("udp", "tcp"):
            samples = experiments.echo([100], count=2, protocol=protocol, peer=peer)
            assert not samples.lost.any()
            assert f" {host} begins a run" in line_with(shown, "begins a run")
        rows = experiments.bulk([100], protocol="udp", write_count=9, run_count=1, peer=peer)
        assert rows.received_bytes.tolist() == [900.0]
        shown.process.terminate()
        warning = shown.process.communicate(timeout=20)[1]
    assert "every host that reaches this machine by any of its networks" in warning


@pytest.mark.slow
@pytest.mark.namespace("tun")
def test_two_machines_and_the_cable_between_them():
    """Of ordinary users, in two namespaces; the cable is pulled where the carrier is stopped.

    While it is, the peer notices that its client is gone, and then serves the next.
    """
    with EmulatedPath(LinkPath.parse("100 Mbit/s 1 ms")) as path:
        command = [sys.executable, "-m", "netcalc"]
        own = path.start(
            [*command, "peer", "--listen", "all"], side="B", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        shown = SimpleNamespace(process=own)
        token = line_with(shown, "Token: ").split()[1]
        address = path.address("B")
        assert line_with(shown, f"netcalc run echo --peer {address}\n")
        run = [*command, "run", "echo", "--peer", address, "--size", "100B", "--count"]
        theirs = {**os.environ, TOKEN_VARIABLE: token}
        client = path.start([*run, "5000"], side="A", env=theirs, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)  # fmt: skip
        line_with(shown, f" {path.address('A')} begins a run")
        os.kill(path._control.pid, signal.SIGSTOP)
        line_with(shown, "lost the connection")
        line_with(shown, "ended its run")
        os.kill(path._control.pid, signal.SIGCONT)
        client.kill()
        client.wait()
        done = path.run([*run, "3"], side="A", env=theirs)
        assert (done.returncode, done.stderr) == (0, "")
        assert "sent 3, received 3" in done.stdout
        own.kill()
        own.communicate()


@live
def test_all_addresses_are_of_this_machine_and_open_to_it():
    """Each of them is one that a socket can be bound to; the loopback is not among them."""
    for address in peer_module.own_addresses():
        found = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(found[0], socket.SOCK_STREAM) as sock:
            sock.bind(found[4])
        assert not address.startswith("127."), address


@live
@pytest.mark.slow
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_it_starts_where_python_has_less(system):
    """Nobody here has these systems: see :mod:`tests.experiments.other_system`."""
    code = (
        "import click\nfrom tests.experiments.other_system import become\n"
        f"become({system!r})\nfrom netcalc.cli import main\n"
        "main(['peer', '--listen', 'all', '--port', '0', '--for', '1s'])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False,
        cwd=root, env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ended after 0 runs" in done.stdout
