"""The command line as people use it: answers, JSON, mistakes, pipes, other locales."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

import netcalc as netcalc_package
from netcalc.cli import main

PING = """PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.
64 bytes from 192.0.2.7: icmp_seq=1 ttl=64 time=10.1 ms
64 bytes from 192.0.2.7: icmp_seq=2 ttl=64 time=9.84 ms
64 bytes from 192.0.2.7: icmp_seq=4 ttl=64 time=12.3 ms

--- 192.0.2.7 ping statistics ---
4 packets transmitted, 3 received, 25% packet loss, time 3004ms
rtt min/avg/max/mdev = 9.840/10.746/12.300/1.104 ms
"""


def netcalc(*arguments, text="", env=None):
    """Run the command in this process: its output, its exit code, its errors.

    What a process has before Python starts in it (languages, descriptors) is for ``process``.
    """
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
    streams["stdin"] = io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8")
    with (
        mock.patch.multiple(sys, **streams),
        mock.patch.dict(os.environ, env or {}),
        pytest.raises(SystemExit) as ended,
    ):
        main(arguments)
    said = {}
    for name in ("stdout", "stderr"):
        streams[name].flush()
        said[name] = streams[name].buffer.getvalue().decode()
    return SimpleNamespace(returncode=ended.value.code, **said)


def process(*arguments, text="", env=None, cwd=None):
    """Run the command in a process of its own, as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "netcalc", *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        check=False,
    )


SEVERAL = """
import sys
from netcalc.cli import main
words = sys.argv[1:]
while words:
    end = words.index("; then")
    try:
        main(words[:end])
    except SystemExit as ended:
        assert not ended.code, (words, ended.code)
    print(end="\\0", flush=True)
    words = words[end + 1 :]
"""


def answers(*commands, env=None, cwd=None):
    """Run commands one after the other in one process of their own; return what each answers."""
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL, *(word for one in commands for word in (*one, "; then"))],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    *said, last = done.stdout.split("\0")
    assert (len(said), last) == (len(commands), "")
    return said


FORKED = """
import json, os, sys
from netcalc.__main__ import main
import netcalc.cli.data, netcalc.cli.calc, netcalc.cli.data, netcalc.cli.read
output, text, *lines = sys.argv[1:]
for line in lines:
    said, errors = os.pipe()
    given, giver = os.pipe()
    os.write(giver, text.encode())
    os.close(giver)
    if os.fork() == 0:
        gone, nobody_reads = os.pipe()
        os.close(gone)
        for number, stream in enumerate(
            (given, os.open(output, os.O_WRONLY) if output else nobody_reads, errors)
        ):
            os.dup2(stream, number)
        os.closerange(3, 100)
        sys.argv = ["netcalc", *line.split()]
        main()
    os.close(given)
    os.close(errors)
    with open(said) as stream:
        error = stream.read()
    print(json.dumps([os.waitstatus_to_exitcode(os.wait()[1]), error]), flush=True)
"""


def forked(*lines, output="", text=""):
    """Run commands in forks of one process; return the exit code and the errors of each.

    Their output goes to a file, or to a pipe that nobody reads.
    """
    done = subprocess.run(
        [sys.executable, "-c", FORKED, output, text, *lines],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    return dict(zip(lines, said, strict=True))


def assert_mistake(done, *said):
    """One clear sentence on standard error, exit code 2, no traceback."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("netcalc: ")
    for part in said:
        assert part in done.stderr


@pytest.fixture
def ping_file(tmp_path):
    path = tmp_path / "ping.txt"
    path.write_text(PING)
    return path


def test_calc_in_one_line():
    done = process("calc", "transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms")
    assert (done.returncode, done.stdout) == (0, "5.211 s\n")  # Stevens: 5.21 s


def test_calc_explains_with_the_numbers_in_the_equation():
    done = netcalc("calc", "transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms", "--explain")
    # published: Stevens vol. 3, A.3: 5.18 + 0.03 s
    assert "  t = d + 8 N / R\n" in done.stdout
    assert "  t = 30 ms + 8 · 1 MB / 1.544 Mbit/s = 5.211 s\n" in done.stdout
    assert "Stevens" in done.stdout


def test_calc_json_carries_units_and_arguments():
    done = netcalc("calc", "frame-rate", "64B", "--bandwidth", "10 Gbit/s", "--json")
    document = json.loads(done.stdout)
    assert document["result"] == pytest.approx(14_880_952.38)  # RFC 5180: 14,880,952
    assert document["unit"] == "packet/s"
    assert document["arguments"]["bandwidth_bps"] == 1e10
    assert document["units"]["frame_bytes"] == "byte"


def test_a_path_is_explained_without_quotes_too():
    quoted = netcalc("explain", "2 x T1 1 ms, 10 Mbit/s", "--loss", "1%")
    bare = netcalc("explain", *["2", "x", "T1", "1", "ms,", "10", "Mbit/s", "--loss", "1%"])
    assert (bare.returncode, bare.stdout) == (0, quoted.stdout)


def test_calc_lists_searches_and_helps():
    assert len(json.loads(netcalc("calc", "--json").stdout)) > 200
    assert "transfer-throughput" in netcalc("calc", "--list").stdout
    assert "satellite-rtt" in netcalc("calc", "--search", "satellite").stdout
    shown = netcalc("calc", "transfer", "--help").stdout
    assert "t = d + 8 N / R" in shown
    assert "--bandwidth" in shown
    assert "Stevens" in shown


@pytest.mark.each(
    ("arguments", "said"),
    [
        (["calc", "transfer", "1MB"], ["bandwidth is required", "10 Mbit/s"]),
        (["calc", "transfer", "1MB", "--bandwidth", "5M", "--latency", "1s"], ["MB/s", "Mbit/s"]),
        (
            ["calc", "transfer", "1MB", "--bandwidth", "-1 Mbit/s", "--latency", "1s"],
            ["greater than 0"],
        ),
        (["calc", "transfer", "1MB", "--bandwidth", "30ms", "--latency", "1s"], ["unit of a time"]),
        (["calc", "transfer", "1MB", "--bandwith", "T1"], ["--bandwidth"]),
        (["calc", "transfer", "-1MB", "--bandwith", "T1"], ["--bandwidth"]),
        (["calc", "transfer", "-1"], ["payload: '-1' needs a unit: -1 B (bytes)"]),
        (
            ["calc", "transfer", "--bandwidth", "T1", "--latency", "-1s", "1B"],
            ["--latency must be 0 or greater, got -1 s"],
        ),
        (
            ["calc", "transfer", "--latency", "1s", "-1B", "--bandwidth", "T1"],
            ["payload must be 0 or greater, got -1 B"],
        ),
        (["calc", "path-mixes", "1s", "--link-count", "1,250"], ["1.250", '"1, 250"']),
        (["calc", "mmc-wait", "1", "--server-count", "2,5"], ["'2,5' is ambiguous", "2 or 5"]),
        (
            ["run", "echo", "--path", "1", "Gbit/s", "40", "ms"],
            ["argument: Gbit/s 40 ms", "quotes"],
        ),
        (["explain", "T1", "--loss", "200%"], ["--loss must be from 0% to 100%, got 200%\n"]),
        (["explain", "T1", "--mtu", "10B"], ["--mtu", "10 B"]),
        (["explain", "T1", "--size", "-1B"], ["--size must be 0 or greater, got -1 B"]),
        (["explain", "1", "gb"], ["1 Gbit"]),
        (["calc", "transfr"], ["transfer"]),
        (["calc", "transfer", "1", "--payload", "2"], ["twice"]),
        (["calc", "--search", "zzzz"], ["--list"]),
        (["clac"], ["calc"]),
        (["read"], ["FILE"]),
        (["read", "none.txt"], ["none.txt"]),
        (["data", "nonsense"], ["nonsense"]),
        (["run", "echo", "--size", "65508B"], ["65507"]),
        (["run", "echo", "--size", "abc"], ["size"]),
        (["run", "echo", "--host", "192.0.2.1"], ["192.0.2.1"]),
        (["run", "echo", "--count", "0"], ["--count must be a whole number, 1 or greater, got 0"]),
        (["run", "echo", "--count", "ten"], ["--count must be a whole number, got 'ten'"]),
        (["run", "lockstep", "--pairs", "33"], ["--pairs", "33", "from 1 to 32"]),
        (
            ["run", "echo", "--routed"],
            ["has no option --routed. It is an option of run line-rate or run lockstep"],
        ),
        (
            ["calc", "transfer", "1MB", "--bandwidth", "T1", "--latency", "-1ms"],
            ["--latency must be 0 or greater, got -1ms (-0.001 s)"],
        ),
        (["export", "x", "--to", "cvs"], ["--to must be one of csv, json, parquet", "mean csv?"]),
        (["explain", "--claim", "94 foo"], ["--claim: '94 foo' is not a rate"]),
        (["explain", "--claim", "94 Mbit/s"], ["--line, or --rtt and --window or --loss"]),
        (
            ["lab", "--allow-root", "--dir", "/dev/null"],
            ["/dev/null is a file, not a folder. Name a folder with --dir"],
        ),
        (["run", "nosuch"], ["netcalc run has no command 'nosuch'. netcalc run --help"]),
        (["read"], ["FILE is required", "netcalc read --help"]),
        (["doctor", "extra"], ["argument: extra", "netcalc doctor --help"]),
        (["data", "audit", "--json", "--csv"], ["--json and --csv cannot be combined"]),
        (["calc", "db", "1", "--json", "--csv"], ["db"]),
        (["explain", "T1 -5 ms"], ["latency of a link in PATH must be 0 or greater, got -0.005 s"]),
        (["explain", "0 bit/s"], ["rate of a link in PATH must be greater than 0, got 0 bit/s"]),
        (["data", "audit", "--sheet", "--json"], ["--sheet and --json cannot be combined"]),
        (
            [
                "calc",
                "transfer",
                "--sweep",
                "latency=1ms:3ms:3",
                "--solve",
                "bandwidth",
                "--for",
                "1s",
            ],
            ["--sweep and --solve cannot be combined"],
        ),
        (
            ["calc", "write-timeline", "1ms", "--write-bytes", "1B, 2B", "--rtt", "1ms"],
            ["--write-bytes"],
        ),
        (["explain", "T1 5"], ["latency of a link in PATH: '5' needs a unit: 5 s or 5 ms"]),
        (["run", "echo", "--timeout", "5"], ["--timeout: '5' needs a unit"]),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(arguments, said):
    assert_mistake(netcalc(*arguments), *said)


def test_a_hint_is_for_the_command_line(tmp_path):
    bare = tmp_path / "bare.csv"
    bare.write_text("size,time\n1,2\n")
    assert_mistake(netcalc("read", str(bare)), "Write time [ms] in the header\n")
    bare.write_text("1 2\n3 4\n")
    assert_mistake(netcalc("read", str(bare)), "name the columns: --columns size_bytes,rtt_ms\n")


@pytest.mark.each(
    ("arguments", "facts"),
    [
        (["clac"], {"code": "unknown-command", "name": "clac", "suggestions": ["calc"]}),
        (["run", "ecko"], {"code": "unknown-command", "command": "netcalc run",
                           "suggestions": ["echo"]}),
        (["run", "nosuch"], {"code": "unknown-command",
                             "hint": "netcalc run --help lists its commands"}),
        (["calc", "transfer", "--bandwith", "T1"],
         {"code": "unknown-option", "option": "--bandwith", "suggestions": ["--bandwidth"]}),
        (["run", "echo", "--zzzzzz"], {"code": "unknown-option", "option": "--zzzzzz"}),
        (["run", "echo", "--routed"],  # six letters, three of them those of --count
         {"code": "option-of-others", "suggestions": None,
          "others": ["run line-rate", "run lockstep"]}),
        (["read", "--count"], {"code": "unknown-option", "suggestions": None}),
        (["run", "echo", "--protocol", "tpc"],
         {"code": "not-a-choice", "name": "--protocol", "value": "tpc", "suggestions": ["tcp"]}),
        (["run", "echo", "--size"], {"code": "option-without-value", "option": "--size"}),
        (["read"], {"code": "argument-missing", "name": "FILE"}),
        (["doctor", "extra"], {"code": "unexpected-argument", "words": "extra"}),
        (["mixes", "187ms", "--base", "-3ms"], {"code": "is-negative", "name": "--base"}),
        (["mixes", "187ms", "--processing", "-3ms"],
         {"code": "is-negative", "name": "--processing", "typed_text": "-3ms"}),
        (["calc", "erlang-b", "-1", "--server-count", "3"],
         {"code": "is-negative", "value": -1.0, "typed_text": None}),
        (["mixes", "--links", "many"], {"code": "malformed-count", "name": "--links"}),
        (["mixes", "--routers", "-1"], {"code": "below-minimum", "name": "--routers", "low": 0}),
        (["calc", "transfer", "1MB", "--latency", "-1ms", "--bandwidth", "T1"],
         {"code": "is-negative", "name": "--latency", "value": "-0.001 s", "typed_text": "-1ms"}),
        (["run", "echo", "--timeout", "5"], {"code": "unit-missing", "field": "--timeout"}),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_a_mistake_has_a_code_and_facts(arguments, facts):
    done = netcalc(*arguments, "--json") if arguments[-1] != "--size" else netcalc(
        "run", "echo", "--json", "--size")  # fmt: skip
    error = json.loads(done.stdout)["error"]
    assert {name: error.get(name) for name in facts} == facts
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_a_former_command_works_and_is_not_listed():
    assert "truth" not in netcalc("--help").stdout
    assert netcalc("truth", "--help").stdout.startswith("Usage: netcalc truth")


def test_a_mistake_with_json_is_still_one_document():
    done = netcalc("calc", "transfer", "1MB", "--json")
    assert "bandwidth" in json.loads(done.stdout)["error"]["message"]
    assert done.returncode == 2


def test_read_json_has_the_counts(ping_file):
    document = json.loads(netcalc("read", str(ping_file), "--json").stdout)
    # by hand from the text above
    assert document["file"] == str(ping_file)
    assert document["kind"] == "RttSamples"
    assert (document["sent"], document["received"]) == (4, 3)
    assert (document["duplicates"], document["errors"], document["partial"]) == (0, 0, False)
    assert document["rtt_s"] == {"count": 3, "min": 0.00984, "median": 0.0101, "max": 0.0123}
    assert document["meta"]["sha256"]
    assert document["warnings"] == []


def test_read_says_what_it_found(ping_file):
    shown = netcalc("read", str(ping_file)).stdout
    assert "sent 4, received 3 (25% lost)" in shown
    assert "min 9.84 ms" in shown
    assert "the rate needs several sizes" in netcalc("read", str(ping_file), "--all").stdout


def test_read_from_standard_input():
    document = json.loads(netcalc("read", "-", "--json", text=PING).stdout)
    assert document["received"] == 3


def test_of_several_files_the_good_ones_are_read(tmp_path, ping_file):
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    done = netcalc("read", str(empty), str(ping_file), "--json")
    bad, good = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 1
    assert "empty.txt" in bad["error"]["message"]
    assert good["received"] == 3
    assert "1 of 2 files could not be read" in done.stderr


def test_read_draws_one_file_without_network(tmp_path, ping_file):
    out = tmp_path / "ping.html"
    assert netcalc("read", str(ping_file), "--plot", str(out)).returncode == 0
    html = out.read_text()
    assert "Bokeh" in html
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=[\"']?http", html)


@pytest.mark.parametrize("case", ["input", "directory", "exists", "no folder"])
def test_an_output_that_should_not_be_written_is_refused_before_the_work(tmp_path, ping_file, case):
    taken = tmp_path / "taken.html"
    taken.write_text("mine")
    out = {
        "input": ping_file, "directory": tmp_path, "exists": taken,
        "no folder": tmp_path / "none" / "x.html",
    }[case]  # fmt: skip
    assert_mistake(netcalc("read", str(ping_file), "--plot", str(out)), str(out.name))
    assert taken.read_text() == "mine"
    assert ping_file.read_text() == PING


def test_files_with_odd_names(tmp_path):
    names = ("--help", "a\nb", "ü\udcff.txt")
    for name in names:
        (tmp_path / name).write_text(PING)
    for said in answers(*(["read", "--json", "--", name] for name in names), cwd=tmp_path):
        assert json.loads(said)["received"] == 3
    assert netcalc("read", "x" * 4096).returncode == 2


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m netcalc calc --list | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout
    assert done.stderr == ""


def test_data_lists_prints_and_describes():
    names = netcalc("data").stdout
    assert "router_forwarding" in names
    assert "|" in netcalc("data", "router_forwarding", "--sheet").stdout
    table = netcalc("data", "nagle_round_trips", "--csv").stdout.splitlines()
    assert len(table) == 41  # four runs of ten rounds, and the heading
    assert json.loads(netcalc("data", "nagle_round_trips", "--json").stdout)["columns"]


def test_the_same_command_twice_gives_the_same_bytes(ping_file):
    commands = (["calc", "--list"], ["read", str(ping_file), "--json"], ["data"])
    assert answers(*commands) == answers(*commands)


@pytest.mark.live
def test_run_echo_measures_saves_and_reads_back(tmp_path):
    saved = tmp_path / "echo.json"
    arguments = ["run", "echo", "--size", "64B", "--size", "1400B", "--count", "3"]
    done = netcalc(*arguments, "--json", "--save", str(saved))
    document = json.loads(done.stdout)
    assert (document["sent"], document["received"]) == (6, 6)
    again = json.loads(netcalc("read", str(saved), "--json").stdout)
    assert again["rtt_s"] == document["rtt_s"]


@pytest.mark.live
def test_ctrl_c_keeps_what_was_measured(tmp_path):
    saved = tmp_path / "echo.json"
    saving = (
        "from netcalc.experiments.running import record\n"
        "from netcalc.__main__ import main\n"
        "record.SAVE_S = 0.0\n"
        "main()\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", saving, "run", "echo", "--size", "64B", "--count", "1000",
         "--interval", "20ms", "--save", str(saved), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # the first file may be written before the first reply
        if saved.exists() and netcalc_package.read(saved).received:
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, error = running.communicate(timeout=60)
    assert running.returncode == 130, error
    assert "Traceback" not in error
    document = json.loads(out)
    assert document["partial"]
    assert document["received"] >= 1
    assert json.loads(netcalc("read", str(saved), "--json").stdout)["partial"]


def shell(command, **options):
    """Run a line of a shell, with this netcalc in it."""
    script = f'netcalc() {{ {sys.executable} -m netcalc "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False, **options
    )


def test_nothing_is_loaded_before_the_interrupt_is_handled():
    """Whatever loads before is time in which Ctrl-C shows a traceback; Python's own part stays."""
    steps = (
        f"import os, sys; sys.path.insert(0, {str(Path(netcalc_package.__file__).parents[1])!r})",
        "old = set(sys.modules); import netcalc.__main__",
        "print(*sorted(set(sys.modules) - old))",
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "; ".join(steps)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["__future__", "netcalc", "netcalc.__main__", "netcalc.version"]


def test_a_reader_that_has_gone_is_no_error():
    found = forked(
        "--help", "calc --list", "calc transfer --help", "data audit", "data audit --json", "book"
    )
    assert found == dict.fromkeys(found, (0, ""))


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_closed_standard_streams(closed, ping_file):
    done = shell(f"netcalc read {ping_file} {closed}")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "10.0.0.1" in done.stdout or "ping" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", ["read {}", "read --json {}", "calc --list", "--help"])
def test_a_closed_output_loses_the_answer_and_says_so(command, ping_file):
    done = shell(f"netcalc {command.format(ping_file)} >&-")
    assert done.returncode == 2
    assert done.stderr == "netcalc: the standard output is closed, so nothing can be printed\n"
    assert shell(f"netcalc read {ping_file} <&- >&- 2>&-").returncode == 2


def test_an_input_that_says_nothing_is_waited_for_aloud():
    """The answer comes only after the sentence was read: no time decides."""
    program = [sys.executable, "-m", "netcalc", "read", "-"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(program, text=True, **pipes) as running:
        assert "waiting for the standard input" in running.stderr.readline()
        answer, errors = running.communicate(PING, timeout=60)
    assert (running.returncode, errors) == (0, "")
    assert "Measured: sent " in answer


@pytest.mark.each("closed", ["<&-", "<&- >&- 2>&-"])
def test_a_closed_input_cannot_be_read(closed):
    done = shell(f"netcalc read - {closed}")
    assert done.returncode == 2
    said = "netcalc: the standard input is closed\n"
    assert done.stderr == ("" if "2>&-" in closed else said)


def test_a_full_disk_behind_the_output():
    found = forked(
        "data audit", "calc --list", "--help", "read - --json", output="/dev/full", text=PING
    )
    said = (
        "netcalc: the standard output cannot be written: No space left on device. Redirect it to "
        "another file or disk\n"
    )
    assert found == dict.fromkeys(found, (2, said))


def test_a_full_disk_behind_the_errors_loses_no_answer(ping_file):
    done = shell(f"netcalc read none.txt {ping_file} --json 2>/dev/full")
    bad, good = map(json.loads, done.stdout.splitlines())
    assert "error" in bad
    assert good["received"] == 3


@pytest.mark.each("group", [[], ["run"], ["calc"]])
def test_a_group_alone_shows_its_help(group):
    done = netcalc(*group)
    assert done.returncode == 0
    assert done.stdout.startswith(" ".join(["Usage: netcalc", *group]))


def test_two_outputs_into_one_file_are_refused(tmp_path):
    out = str(tmp_path / "one.html")
    done = netcalc("run", "echo", "--save", out, "--plot", out)
    assert_mistake(done, "one.html", "two outputs")
    assert not (tmp_path / "one.html").exists()


@pytest.mark.parametrize(
    "arguments",
    [["read", "-", "--plot"], ["run", "echo", "--save"],
     ["calc", "frame-rate", "--bandwidth", "T1", "--sweep", "frame=64B:1518B", "--plot"]],
)  # fmt: skip
def test_a_pipe_is_not_replaced_by_a_file(arguments, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert_mistake(netcalc(*arguments, str(fifo), "--force", text=PING), "device or a pipe")
    assert fifo.is_fifo()


@pytest.mark.slow
@pytest.mark.each("env", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}])
def test_a_name_is_printed_so_that_it_does_no_harm_and_found_again_in_json(env, tmp_path):
    names = ("a\nb\x1b[31m", "ü\udcff.txt")
    for name in names:
        (tmp_path / name).write_text(PING)
    read = [["read", *options, "--", name] for name in names for options in ([], ["--json"])]
    said = iter(answers(*read, cwd=tmp_path, env=env))
    for name in names:
        shown, document = next(said), next(said)
        assert "\x1b" not in shown
        assert shown.splitlines()[0].endswith("ping (iputils), 4 rows")
        found = json.loads(document)["file"]
        assert found.encode("utf-8", "surrogateescape") == os.fsencode(name)


def test_replies_without_a_time_are_counted():
    text = PING.replace(" time=9.84 ms", "")
    assert "2 of 3 replies have a time" in netcalc("read", "-", text=text).stdout
    assert "have a time" not in netcalc("read", "-", text=PING).stdout


def test_a_sheet_of_nothing_is_refused():
    assert_mistake(netcalc("data", "--sheet"), "NAME")


@pytest.mark.live
def test_a_disk_that_fills_during_a_run_loses_no_measurement(tmp_path, monkeypatch):
    def full(path, data, **_):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("netcalc.samples.saved.write_atomically", full)
    saved = str(tmp_path / "x.json")
    done = netcalc("run", "echo", "--size", "64B", "--count", "3", "--json", "--save", saved)
    assert_mistake(done, "No space left", "summarized above")
    document = json.loads(done.stdout)
    assert document["received"] == 3
    assert "No space left" in document["error"]["message"]


@pytest.mark.slow
@pytest.mark.each(
    "env",
    [{"LC_ALL": "C", "LANG": "C", "TZ": ":/nowhere"},
     {"LC_ALL": "ar_EG.UTF-8", "PYTHONIOENCODING": "ascii"},
     {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Pacific/Apia"},
     {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8",
      "NO_COLOR": "1", "COLUMNS": "20", "TERM": "dumb"}],
)  # fmt: skip
def test_every_place_language_and_terminal_gives_the_same_bytes(env, ping_file, plain):
    commands, said = plain
    document, result, _ = answers(*commands, cwd=ping_file.parent, env=env)
    assert document == said[0]
    assert result in ("8 µs\n", "8 us\n")


@pytest.fixture
def plain(ping_file):
    """Give commands, and what they say where nothing is unusual."""
    calculate = ["calc", "serialization", "100B", "--bandwidth", "100 Mbit/s"]
    commands = ["read", ping_file.name, "--json"], calculate, ["data"]
    return commands, answers(*commands, cwd=ping_file.parent, env={"LC_ALL": "C.UTF-8"})


def test_no_colour_without_a_terminal_and_none_where_it_is_not_wanted():
    short = ["data", "mbufs"], ["calc", "--list"]
    for env, commands in (
        ({}, [*short, ["book", "--source", "nagle"]]),
        *((env, short) for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"COLUMNS": "20"})),
    ):
        for arguments in commands:
            done = netcalc(*arguments, env=env)
            assert done.returncode == 0
            assert "\x1b" not in done.stdout


def test_ctrl_c_between_two_files_keeps_the_one_that_is_read(ping_file):
    running = subprocess.Popen(
        [sys.executable, "-m", "netcalc", "read", str(ping_file), "-", "--json"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    first = running.stdout.readline()  # the second file, standard input, is awaited
    running.send_signal(signal.SIGINT)
    rest, error = running.communicate(timeout=20)
    assert json.loads(first)["received"] == 3
    assert (running.returncode, rest) == (130, "")
    assert error.strip() == "netcalc: stopped"


@pytest.mark.each("columns", ["1", "20", "80", "500"])
def test_a_table_on_a_terminal_of_any_width_has_all_its_cells(columns):
    shown = netcalc("data", "transfer_times", env={"COLUMNS": columns}).stdout
    cells = netcalc("data", "transfer_times", "--csv").stdout.replace("\n", ",").split(",")
    numbers = [cell for cell in cells if re.fullmatch(r"[\d.]{1,6}", cell)]
    assert numbers
    assert all(number in shown for number in numbers)


def test_a_wide_table_is_printed_a_line_for_each_value():
    """Squeezed into 80 columns, its words would be torn to pieces."""
    shown = netcalc("data", "router_forwarding", env={"COLUMNS": "80"}).stdout
    rows = list(csv.reader(netcalc("data", "router_forwarding", "--csv").stdout.splitlines()))
    assert shown.count("\nrow ") == len(rows) - 2  # the first row begins the text
    for heading, text in zip(rows[0], rows[1], strict=True):
        assert (f"  {heading}: {text}\n" in shown) == bool(text)


@pytest.mark.each(
    ("arguments", "said"),
    [
        (["calc", "tunnel-packet", "1500B", "--solve", "stack", "--for", "1B"], "stack"),
        (["calc", "round-trips", "--sweep", "transport=1:5:3"], "transport"),
        (["calc", "transfer", "1MB", "--sweep", "latency=1ms:2ms", "--plot", "x.jpg"], "x.html"),
        (["run", "line-rate", "--node-input", "10"], "requires a --path"),
        (["run", "bulk", "--link-buffer", "10kB"], "requires a --path"),
        (["run", "bulk", "--loss", "1%"], "--loss requires a --path"),
    ],
)
def test_options_that_cannot_count_are_refused(arguments, said):
    assert_mistake(netcalc(*arguments), said)


def test_a_lone_truth_value_is_json():
    assert json.loads(netcalc("calc", "is-stable", "80%", "--json").stdout)["result"] is True
