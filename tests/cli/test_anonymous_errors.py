"""``netcalc read --anonymize``: an error names neither the file, nor its folder, nor an address."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.errors import ReaderError
from netcalc.readers.captures import anonymized_error

SECRETS = ("alice", "ping_to_10.1.2.3", "10.1.2.3", "192.0.2.77", "2001:db8::77")


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "alice"
    path.mkdir()
    return path


def run(*arguments):
    return CliRunner().invoke(commands, ["read", "--anonymize", *map(str, arguments)])


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "no-such-file"),
        (b"", "file-empty"),
        (b"%PDF-1.7", "other-format"),
        (b"PAR1 nothing", "parquet-damaged"),
        (b"\xd4\xc3\xb2\xa1 nothing", None),
        (b"PING 192.0.2.77 (192.0.2.77): 56 data bytes\nping: sendto: 2001:db8::77\n", None),
        (b"host,time\n192.0.2.77,x\n", None),
    ],
)
def test_no_error_names_a_file_or_an_address(folder, content, code):
    path = folder / "ping_to_10.1.2.3.txt"
    (folder / "ping_to_10.1.2.4.txt").write_bytes(b"")  # a name that could be suggested
    if content is not None:
        path.write_bytes(content)
    for arguments in ([path], [path, "--json"], [path, path]):
        done = run(*arguments)
        if done.exit_code == 0:
            assert code is None
            continue
        assert "file 1" in done.output
        for secret in (*SECRETS, str(folder), "ping_to"):
            assert secret not in done.output, (secret, done.output)
    if code is not None:
        document = json.loads(run(path, "--json").stdout.splitlines()[0])
        assert document["file"] == "file 1"
        assert document["error"]["code"] == code
        assert document["error"]["file"] == "file 1"


def test_the_error_is_whole_without_the_option(folder):
    done = CliRunner().invoke(commands, ["read", str(folder / "ping_to_10.1.2.3.txt")])
    assert "ping_to_10.1.2.3.txt" in done.output


def test_an_address_in_an_error_is_that_of_the_samples():
    """Identity: the same key replaces an address in the same way, wherever it is."""
    made = []
    for text in ("192.0.2.77", "at 192.0.2.77 and a.txt"):
        error = ReaderError("no-number", file="a.txt", value=text, field="a", names=["a.txt", text])
        anonymized_error(error, names=["a.txt"], shown="file 1", key=b"k")
        made.append(error.value)
        assert error.file == error.values["file"] == "file 1"
        assert error.field == "a"  # a part of the name is not the name
        assert error.values["names"] == ["file 1", error.value]
    assert made[0] != "192.0.2.77"
    assert made[1] == f"at {made[0]} and file 1"


def test_the_command_itself_hides_them(folder):
    done = subprocess.run(
        [sys.executable, "-m", "netcalc", "read", "--anonymize", str(folder / "10.1.2.3.pcap")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "file 1" in done.stderr
    assert "10.1.2.3" not in done.stderr + done.stdout


NAMES = ("web1", "dbmaster", "jdoe", "buildhost", "secretplan", "corp", "192.0.2.17")


@pytest.mark.parametrize(
    "content",
    [
        "PING dbmaster (192.0.2.17) 56(84) bytes of data.\n"
        "64 bytes from dbmaster (192.0.2.17): icmp_seq=1 ttl=64 time=1,0x1 ms\n",
        "64 bytes from dbmaster.corp.example (192.0.2.17): icmp_seq=1 ttl=64 time=1,0x1 ms\n",
        "jdoe@buildhost:/home/jdoe/secretplan.tar.gz   100%  100QB  11.2QB/s   00:08\n",
    ],
)
def test_the_line_that_an_error_quotes_names_nobody(tmp_path, content):
    file = tmp_path / "lines.txt"
    file.write_text(content)
    for words in (["read"], ["read", "--json"], ["export", "--to", "csv"]):
        done = CliRunner().invoke(commands, [*words, "--anonymize", str(file)])
        assert done.exit_code != 0
        said = done.output + str(done.exception)
        assert [name for name in (*NAMES, str(tmp_path)) if name in said] == []


@pytest.mark.parametrize(
    "content",
    [
        "web1 : 12.1 13.2 - 12.8\ndbmaster : 1.21 1.32 1.44 1.28\n",
        "web1 : [0], 64 bytes, 12.1 ms (12.1 avg, 0% loss)\n\n"
        "web1 : xmt/rcv/%loss = 1/1/0%, min/avg/max = 12.1/12.1/12.1\n",
        "10:00:00.000000 IP web1.40000 > dbmaster.http: Flags [S], seq 100, win 64240, length 0\n"
        "10:00:00.001000 IP dbmaster.http > web1.40000: Flags [S.], seq 9, ack 101, win 1, "
        "length 0\n",
    ],
)
def test_a_host_of_one_word_has_the_same_other_word_everywhere(tmp_path, content):
    file, drawn = tmp_path / "lines.txt", tmp_path / "drawn.svg"
    file.write_text(content)
    ways = [["read"], ["read", "--json"], ["export", "--to", "csv"], ["export", "--to", "json"]]
    if "Flags" not in content:
        ways.append(["read", "--plot", str(drawn)])
    for words in ways:
        done = CliRunner().invoke(commands, [*words, "--anonymize", str(file)])
        assert done.exit_code == 0, done.output
        said = done.output + (drawn.read_text() if drawn.exists() else "")
        assert [name for name in NAMES if name in said] == []
        if "dbmaster" in content and words[0] == "export":
            assert len(set(re.findall(r"host-[0-9a-f]{8}", said))) == 2
