"""``netcalc exercise``: ask exercises, check answers, print a sheet."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from netcalc import exercises
from netcalc.cli import print_json, put, say
from netcalc.cli.mistakes import CommandError
from netcalc.cli.options import JSON, command
from netcalc.errors import DomainError
from netcalc.exercises import Question, Template, Verdict

TRIES = 3
"""Answers that count before the worked solution is shown."""


@command(
    JSON,
    names={"answers": "--answer", "files": "--file", "listed": "--list"},
)
def exercise(
    wanted: tuple[str, ...],
    *,
    student: str = "",
    sheet: str = "",
    answers: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    listed: bool = False,
    mistakes: bool = False,
    solution: bool = False,
    as_json: bool,
) -> None:
    """Ask the exercises of a lesson, and name the mistake in a wrong answer.

    \b
    netcalc exercise --list
    netcalc exercise 02 --student s1
    netcalc exercise SF1 --student s1 --answer SF1="739.2 us"
    netcalc exercise 01 02 --student s1 --sheet friday > sheet.txt

    On a terminal each question is asked, three times at most; otherwise the sheet is printed. Each
    student and each sheet has numbers of its own. docs/exercises.md describes the format of a file.

    Parameters
    ----------
    wanted : [LESSON | ID]...
        Lessons, and exercises.
    student : NAME
        Draw the numbers of this student.
    sheet : NAME
        Draw the numbers of this sheet.
    answers : ID=ANSWER
        Check an answer, e.g. TR1='13.2 ms'; the exit code is 1 unless all are right.
    files : FILE.toml
        Use exercises of your own, too.
    listed : bool
        List the exercises.
    mistakes : bool
        List them with the mistakes that have a name.
    solution : bool
        Print the worked solutions.
    """
    given = _pairs(answers)
    chosen = _chosen(wanted, given, files)
    if listed or mistakes or not (wanted or given):
        _list(chosen, mistakes=mistakes, as_json=as_json)
        return
    questions = exercises.sheet_of(chosen, student=student, sheet=sheet)
    if given:
        sys.exit(_check(questions, given, solution=solution, as_json=as_json))
    if as_json:
        print_json({"exercises": [_fields(question, solution=solution) for question in questions]})
    elif not solution and sys.stdin.isatty() and sys.stdout.isatty():
        _ask(questions)
    else:
        _print_sheet(questions, solution=solution)


def _pairs(answers: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in answers:
        name, equals, answer = pair.partition("=")
        if not equals:
            raise CommandError("exercise-answer-form", found=pair)
        if name.strip() in found:
            raise CommandError("exercise-answer-twice", exercise=name.strip())
        found[name.strip()] = answer
    return found


def _chosen(
    wanted: Sequence[str], given: Mapping[str, str], files: Sequence[str]
) -> list[Template]:
    """Return the exercises of the lessons and ids named; those answered if none are."""
    known = {template.id: template for template in exercises.templates(paths=files)}
    found: dict[str, Template] = {}
    for word in (*wanted, *given):
        if word in known:
            found[word] = known[word]
        elif word in wanted and word[:1].isdecimal():
            of_lesson = exercises.templates(lesson=word, paths=files)
            found |= {template.id: template for template in of_lesson}
        else:
            raise exercises.unknown_exercise(word, known)
    unasked = [name for name in given if wanted and not _is_asked(name, wanted, found)]
    if unasked:
        raise DomainError("exercise-not-asked", "--answer", unasked[0])
    return list(found.values() if wanted or given else known.values())


def _is_asked(name: str, wanted: Sequence[str], found: Mapping[str, Template]) -> bool:
    lesson = found[name].lesson
    numbers = map(exercises.lesson_number, wanted)
    return name in wanted or any(lesson in (number, number[:2]) for number in numbers)


def _list(chosen: Sequence[Template], *, mistakes: bool, as_json: bool) -> None:
    if as_json:
        print_json([
            {"id": one.id, "lesson": one.lesson, "topic": one.topic, "unit": one.unit,
             "text": one.text, "mistakes": one.mistakes}
            for one in chosen
        ])  # fmt: skip
        return
    width = max(len(one.id) for one in chosen)
    for one in chosen:
        put(f"{one.lesson:3}  {one.id:{width}}  {one.topic}")
        for name in one.mistakes if mistakes else ():
            put(f"{'':{width + 7}}{name}")
    count = sum(len(one.mistakes) for one in chosen)
    plural = "" if len(chosen) == 1 else "s"
    put(f"{len(chosen)} exercise{plural}, {count} mistakes with a name.")


def _fields(question: Question, *, solution: bool) -> dict[str, object]:
    fields = question.as_dict()
    if solution:
        fields["solution"] = str(question.solution())
    return fields


def _check(
    questions: Sequence[Question], given: Mapping[str, str], *, solution: bool, as_json: bool
) -> int:
    """Print what is said about each answer; return the exit code."""
    verdicts = {one.id: one.check(given.get(one.id, "")) for one in questions}
    right = sum(verdict.is_right for verdict in verdicts.values())
    if as_json:
        rows = [
            {**_fields(one, solution=solution), "verdict": verdicts[one.id].as_dict()}
            for one in questions
        ]
        print_json({"exercises": rows, "points": right, "most": len(rows)})
    else:
        for one in questions:
            say(f"{one.id}: {verdicts[one.id]}")
            if solution:
                _print_solution(one)
        put(f"{right} of {len(questions)} right.")
    return 0 if right == len(questions) else 1


def _print_sheet(questions: Sequence[Question], *, solution: bool) -> None:
    for number, question in enumerate(questions, 1):
        if number > 1:
            put()
        say(f"{number}. {question.text} [{question.id}]")
        if solution:
            _print_solution(question)


def _print_solution(question: Question) -> None:
    for line in str(question.solution()).splitlines():
        say(f"   {line}")


def _ask(questions: Sequence[Question]) -> None:
    """Ask each question until it is answered right, three times at most."""
    put("Answer with a number and its unit; an empty line goes on, Ctrl-D ends.")
    right = 0
    for number, question in enumerate(questions, 1):
        put()
        say(f"{number} of {len(questions)}. {question.text} [{question.id}]")
        solved = _ask_one(question)
        if solved is None:
            break
        right += solved
    put(f"{right} of {len(questions)} right.")


def _ask_one(question: Question) -> bool | None:
    """Ask one question; return whether it was answered right, None if no more is to be asked."""
    tries = 0
    while tries < TRIES:
        try:
            answer = input("> ")
        except UnicodeDecodeError:
            answer = "\x00"  # not text: unreadable, as any other control character
        except EOFError:
            put()
            return None
        if not answer.strip():
            return False
        verdict = question.check(answer)
        tries += verdict.counts
        if verdict.is_right:
            put("Right.", fg="green")
            return True
        say(_feedback(verdict, tries))
    _print_solution(question)
    return False


def _feedback(verdict: Verdict, tries: int) -> str:
    """Return a question at the first wrong answer, the name of the mistake from the second on."""
    if verdict.names and tries == 1:
        return f"Not right. {verdict.question}"
    return str(verdict)
