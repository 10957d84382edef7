"""What a person at a terminal sees: lines that fit its width, and that a search goes on."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from netcalc.cli import wrapped


def at_terminal(*arguments, columns):
    """Run the command at a terminal of so many columns; return what stands there, and its code."""
    return shown_by("-m", "netcalc", *arguments, columns=columns)


SEVERAL = """
import json, sys
from netcalc.cli import main
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as ended:
        print(end=f"\\0{ended.code}\\0", flush=True)
"""


def several_at_terminal(*commands, columns):
    """Run commands one after the other in one process; return what each shows, and its code."""
    shown, ended = shown_by("-c", SEVERAL, json.dumps(commands), columns=columns)
    *said, last = shown.split("\0")
    assert (ended, last) == (0, ""), shown
    return [(text, int(code)) for text, code in zip(said[::2], said[1::2], strict=True)]


def shown_by(*arguments, columns):
    """Run Python at a terminal of so many columns; return what stands there, and its code."""
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        unset = {
            name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")
        }
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=theirs, stdout=theirs, stderr=theirs, env={**unset, "TERM": "xterm"},
        )  # fmt: skip
    finally:
        os.close(theirs)
    shown = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        while data := read(terminal):
            shown += data
    code = process.wait(timeout=60)
    return shown.decode().replace("\r\n", "\n"), code


def read(terminal):
    """Read on; a terminal whose program has ended gives an error in place of an end."""
    try:
        return terminal.read(65_536)
    except OSError:
        return b""


def test_a_terminal_gets_styles_of_netcalc_alone(tmp_path):
    """Text of a file hides nothing, goes nowhere and sets no title, in a table of colours too."""
    evil = "\x1b]0;mine\x07\x1b[8m\x9b2J[link=//x]gone"
    claims = tmp_path / "claims.csv"
    claims.write_text(
        "id,quantity,printed,unit,formula,relation,verdict,note,source,place\n"
        f"a1,{evil},2,,1 + 1,,agree,{evil},{evil},{evil}\n",
        encoding="utf-8",
    )
    shown, code = at_terminal("book", "--claims", str(claims), columns=200)
    assert code == 0, shown
    assert "\x1b[32m" in shown, "agree is green"
    plain = re.sub(r"\x1b\[(0|1|2|3|3\d)m", "", shown)
    assert all(c.isprintable() or c == "\n" for c in plain), ascii(plain)
    assert r"\x9b2J[link=//x]gone" in "".join(plain.split())


@pytest.mark.each(
    ("text", "width", "lines"),
    [
        ("one two three", 0, ["one two three"]),
        ("one two three", 9, ["one two", "  three"]),
        ("  one two three\nfour", 9, ["  one two", "    three", "four"]),
        ("name    one two three", 18, ["name    one two", "        three"]),
        ("a-word-that-is-longer than", 10, ["a-word-that-is-longer", "  than"]),
        ("", 10, [""]),
    ],
)
def test_lines_end_between_words(text, width, lines):
    assert wrapped(text, width).split("\n") == lines


PROSE = [
    (["explain", "T1 5 ms, 10 Mbit/s", "--window", "64KiB"], 0),
    (["calc", "transfer", "1MB", "--bandwidth", "T1", "--latency", "1s", "--explain"], 0),
    (["mixes", "10ms"], 0),
    (["calc", "transfer", "1MB", "--bandwidth", "5M", "--latency", "1s"], 2),
    (["run", "echo", "--path", "1", "Gbit/s", "40", "ms"], 2),
]


@pytest.fixture(scope="module")
def prose():
    """Give what each command shows in 40 columns and in 400, with its code."""
    commands = [arguments for arguments, _ in PROSE]
    narrow, wide = (several_at_terminal(*commands, columns=columns) for columns in (40, 400))
    return list(zip(narrow, wide, strict=True))


@pytest.mark.each("number", range(len(PROSE)))
def test_prose_fits_the_terminal(number, prose):
    (shown, ended), (wide, _) = prose[number]
    assert ended == PROSE[number][1]
    assert max(map(len, shown.splitlines())) <= 40, shown
    assert " ".join(shown.split()) == " ".join(wide.split()), "the same words"


def test_prose_that_is_no_terminals_is_not_broken():
    done = subprocess.run(
        [sys.executable, "-m", "netcalc", "mixes", "10ms"],
        capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "COLUMNS": "40"},
    )  # fmt: skip
    assert len(done.stdout.splitlines()) == 2


def test_a_search_tells_that_it_goes_on():
    shown, code = at_terminal("calc", "mm1-wait", "--service", "1ms", "--solve", "utilization",
                              "--for", "1ms", columns=80)  # fmt: skip
    assert code == 0
    assert "searching; Ctrl-C stops" in shown
    assert re.search(r"50%\n$", shown)  # derived: W = s rho / (1 - rho)
