"""``netcalc read --anonymize``: an error names neither the file, nor its folder, nor an address."""

from __future__ import annotations

import json
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
