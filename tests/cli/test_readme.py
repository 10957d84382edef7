"""The README's one-line answers are what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from netcalc.cli import commands, main

README_FOLDER = Path(__file__).parents[2]
README = (README_FOLDER / "README.md").read_text(encoding="utf-8")
ANSWERS = re.findall(r"^\$ netcalc (.+?)\s*(?:#.*)?\n(.+)$", README, flags=re.MULTILINE)


def test_there_are_ten():
    assert len(ANSWERS) == 10


@pytest.mark.each(("command", "answer"), ANSWERS, ids=[c.split()[1] for c, _ in ANSWERS])
def test_an_answer_is_what_the_command_prints(command, answer):
    done = CliRunner().invoke(commands, shlex.split(command))
    assert done.exception is None
    assert done.stdout.strip() == answer


def test_the_mistake_in_the_documentation_is_what_the_command_prints(capsys):
    page = (README_FOLDER / "docs" / "getting_started.md").read_text(encoding="utf-8")
    typed, said = re.search(r"^\$ netcalc (run .+)\n(netcalc: .+)$", page, re.MULTILINE).groups()
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(typed))
    assert ended.value.code == 2
    assert capsys.readouterr().err.strip() == said


def test_the_explanation_in_the_documentation_is_what_the_command_prints():
    page = README_FOLDER / "docs" / "getting_started.md"
    shown = re.findall(
        r"^\$ netcalc (explain .+)\n((?:.+\n)+?)```", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(shown) == 2
    for typed, said in shown:
        assert CliRunner().invoke(commands, shlex.split(typed)).output == said
