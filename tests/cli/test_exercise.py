"""``netcalc exercise`` as people use it: a list, a sheet, answers, and questions on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from netcalc import exercises
from netcalc.cli import commands, main


def exercise(*arguments):
    return CliRunner().invoke(commands, ["exercise", *arguments])


def test_the_list_has_every_exercise():
    lines = exercise("--list").stdout.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == [one.id for one in exercises.templates()]
    assert exercise().stdout == exercise("--list").stdout
    known = json.loads(exercise("--list", "--json").stdout)
    assert known[0]["mistakes"] == list(exercises.templates()[0].mistakes)


def test_mistakes_are_listed_when_asked_for():
    name = exercises.templates()[0].mistakes[0]
    assert name in exercise("--mistakes").stdout
    assert name not in exercise("--list").stdout


def test_without_a_terminal_the_sheet_is_printed():
    done = exercise("02", "--student", "s1", "--sheet", "friday")
    question = exercises.draw("SF1", student="s1", sheet="friday")
    assert done.exit_code == 0
    assert question.text in done.stdout.replace("\n", " ")
    assert question.solution().result not in done.stdout
    solved = exercise("02", "--student", "s1", "--sheet", "friday", "--solution")
    assert question.solution().result in solved.stdout


def test_answers_are_checked():
    question = exercises.draw("SF1", student="s1")
    right = f"SF1={question.answer * 1e3:.4g} ms"
    done = exercise("SF1", "--student", "s1", "--answer", right)
    assert (done.exit_code, done.stdout) == (0, "SF1: right.\n1 of 1 right.\n")
    name, wrong = next(iter(question.wrong_answers.items()))
    done = exercise("--student", "s1", "--answer", f"SF1={wrong * 1e3:.4g} ms")
    assert done.exit_code == 1
    assert f"named: {name}." in done.stdout


def test_json_has_points_and_no_answer():
    question = exercises.draw("SF1", student="s1")
    done = exercise("--student", "s1", "--answer", "SF1=7 ms", "--json")
    document = json.loads(done.stdout)
    assert (document["points"], document["most"]) == (0, 1)
    assert document["exercises"][0]["verdict"]["kind"] == "not named"
    assert document["exercises"][0]["values"] == question.values
    assert "solution" not in document["exercises"][0]


@pytest.mark.each(
    ("arguments", "code"),
    [
        (["99"], "exercise-lesson-empty"),
        (["SFF1"], "exercise-unknown"),
        (["--answer", "SF1"], "exercise-answer-form"),
        (["--answer", "SF1=1 s", "--answer", "SF1=2 s"], "exercise-answer-twice"),
        (["02", "--answer", "TR1=1 s"], "exercise-not-asked"),
        (["--file", "/none.toml", "02"], "file-refused"),
        (["--file", "/", "02"], "exercises-no-file"),
    ],
)
def test_mistakes_of_the_command_line_are_sentences(arguments, code, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["exercise", *arguments, "--json"])
    printed = capsys.readouterr()
    assert ended.value.code == 2
    assert json.loads(printed.out)["error"]["code"] == code
    assert "Traceback" not in printed.err


class Terminal:
    """The command at a terminal."""

    def __init__(self, *arguments):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "netcalc", "exercise", *arguments],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "1000"},
        )  # fmt: skip
        os.close(theirs)
        self.text = ""

    def until(self, wanted, count=1):
        end = time.monotonic() + 30
        while self.text.count(wanted) < count:
            assert time.monotonic() < end, self.text
            try:
                data = os.read(self.ours, 65536)
            except OSError:
                break
            if not data:
                break
            self.text += data.decode(errors="replace").replace("\r\n", "\n")
        assert self.text.count(wanted) >= count, self.text

    def type(self, line):
        os.write(self.ours, line.encode("utf-8", "surrogateescape"))

    def end(self):
        code = self.process.wait(timeout=30)
        os.close(self.ours)
        return code


@pytest.mark.slow
def test_three_wrong_answers_bring_the_worked_solution():
    question = exercises.draw("SF1", student="s1")
    mistake = question.template.wrong[0]
    wrong = f"{question.wrong_answers[mistake.name] * 1e3:.4g} ms\n"
    terminal = Terminal("SF1", "--student", "s1")
    terminal.until("> ")
    terminal.type(wrong)
    terminal.until("> ", 2)
    assert f"Not right. {mistake.ask}" in terminal.text
    assert mistake.name not in terminal.text  # the question before the name
    terminal.type("soon\n")  # unreadable: not counted
    terminal.until("> ", 3)
    terminal.type(wrong)
    terminal.until("> ", 4)
    assert f"named: {mistake.name}" in terminal.text
    assert question.solution().result not in terminal.text
    terminal.type("\udcff\udcfe 7 ms\n")  # bytes of another encoding
    terminal.until("> ", 5)
    terminal.type("7 s\n")
    terminal.until("0 of 1 right.")
    assert f"Answer: {question.solution().result}" in terminal.text
    assert terminal.end() == 0


def test_a_right_answer_ends_a_question():
    question = exercises.draw("SF1", student="s1")
    terminal = Terminal("SF1", "--student", "s1")
    terminal.until("> ")
    terminal.type(f"{question.answer * 1e3:.4g} ms\n")
    terminal.until("1 of 1 right.")
    assert terminal.end() == 0


def test_ctrl_c_ends_cleanly():
    terminal = Terminal("01", "02")
    terminal.until("> ")
    for _ in range(20):  # one that comes just before Python reads is seen with the next key
        os.kill(terminal.process.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            terminal.process.wait(timeout=1)
            break
    assert terminal.end() == 130
    assert "Traceback" not in terminal.text


def test_ctrl_d_ends_with_what_was_right():
    terminal = Terminal("01", "02")
    terminal.until("> ")
    terminal.type("\x04")
    terminal.until("0 of ")
    assert terminal.end() == 0


def test_the_second_part_of_a_lesson_asks_its_exercises():
    first, second = (exercise(lesson, "--student", "s1") for lesson in ("02", "02b"))
    assert second.exit_code == 0
    assert second.stdout == first.stdout


def test_one_exercise_is_one():
    assert "1 exercise, " in exercise("TR1", "--list").stdout
