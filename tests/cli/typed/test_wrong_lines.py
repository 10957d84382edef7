"""Wrong command lines: each is refused in one sentence, with exit code 2, and never by Python."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.reference.test_phrasings import said

LINES = Path(__file__).with_name("wrong_lines.txt").read_text(encoding="utf-8").splitlines()
MOST_CHARACTERS = 1500  # the presets of a command are many


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("wrong")
    rows = "".join(f"{n},{n / 2}\n" for n in range(1, 41))
    (path / "november.csv").write_text(f"in [Mbit/s],out [Mbit/s]\n{rows}", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        yield


def test_there_are_at_least_200():
    assert len(set(LINES)) == len(LINES) >= 200


@pytest.mark.each("line", LINES)
def test_a_wrong_line_is_refused_in_the_form_of_the_house(line):
    code, answer, errors = said(line)
    assert (code, answer) == (2, "")
    assert "Traceback" not in errors
    *notes, sentence = errors.rstrip("\n").split("\n")
    assert sentence.startswith("netcalc: ")
    assert all(note.startswith("netcalc: note: ") for note in notes), errors
    assert len(sentence) < MOST_CHARACTERS
    assert "_ratio" not in sentence or "--set" in line
    assert "_bytes" not in sentence or "--set" in line
    assert sentence.isprintable()


def test_the_lines_are_read_as_a_shell_does():
    assert all(shlex.split(line) for line in LINES)


@pytest.mark.each("text", ["1e400", "9" * 400, "-1e400", "1e308 GB", "0x10"])
def test_a_number_beyond_all_numbers_is_refused(text):
    for line in (f"calc frame-rate '{text}' 1G", f"calc transfer '{text}' 1G 5ms"):
        code, answer, errors = said(line)
        assert (code, answer) == (2, ""), (line, errors)
