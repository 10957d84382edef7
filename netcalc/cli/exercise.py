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
    words: tuple[str, ...],
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
    answered = _pairs(answers)
    chosen = _chosen(words, answered, files)
    if listed or mistakes or not (words or answered):
        _list(chosen, mistakes=mistakes, as_json=as_json)
        return
    questions = exercises.sheet_of(chosen, student=student, sheet=sheet)
    if answered:
        sys.exit(_check(questions, answered, solution=solution, as_json=as_json))
    if as_json:
        print_json({"exercises": [_fields(question, solution=solution) for question in questions]})
    elif not solution and sys.stdin.isatty() and sys.stdout.isatty():
        _ask(questions)
    else:
        _print_sheet(questions, solution=solution)


def _pairs(answers: Sequence[str]) -> dict[str, str]:
    answered: dict[str, str] = {}
    for pair in answers:
        name, equals, answer = pair.partition("=")
        if not equals:
            raise CommandError("exercise-answer-form", found=pair)
        if name.strip() in answered:
            raise CommandError("exercise-answer-twice", exercise=name.strip())
        answered[name.strip()] = answer
    return answered


def _chosen(
    words: Sequence[str], answered: Mapping[str, str], files: Sequence[str]
) -> list[Template]:
    """Return the exercises of the lessons and ids named; those answered if none are."""
    by_id = {template.id: template for template in exercises.templates(paths=files)}
    chosen: dict[str, Template] = {}
    for word in (*words, *answered):
        if word in by_id:
            chosen[word] = by_id[word]
        elif word in words and word[:1].isdecimal():
            of_lesson = exercises.templates(lesson=word, paths=files)
            chosen |= {template.id: template for template in of_lesson}
        else:
            raise exercises.unknown_exercise(word, by_id)
    unasked = [name for name in answered if words and not _is_asked(name, words, chosen)]
    if unasked:
        raise DomainError("exercise-not-asked", "--answer", unasked[0])
    return list(chosen.values() if words or answered else by_id.values())


def _is_asked(name: str, words: Sequence[str], chosen: Mapping[str, Template]) -> bool:
    lesson = chosen[name].lesson
    numbers = map(exercises.lesson_number, words)
    return name in words or any(lesson in (number, number[:2]) for number in numbers)


def _list(chosen: Sequence[Template], *, mistakes: bool, as_json: bool) -> None:
    if as_json:
        print_json([
            {"id": template.id, "lesson": template.lesson, "topic": template.topic,
             "unit": template.unit, "text": template.text, "mistakes": template.mistakes}
            for template in chosen
        ])  # fmt: skip
        return
    width = max(len(template.id) for template in chosen)
    for template in chosen:
        put(f"{template.lesson:3}  {template.id:{width}}  {template.topic}")
        for name in template.mistakes if mistakes else ():
            put(f"{'':{width + 7}}{name}")
    count = sum(len(template.mistakes) for template in chosen)
    plural = "" if len(chosen) == 1 else "s"
    put(f"{len(chosen)} exercise{plural}, {count} mistakes with a name.")


def _fields(question: Question, *, solution: bool) -> dict[str, object]:
    fields = question.as_dict()
    if solution:
        fields["solution"] = str(question.solution())
    return fields


def _check(
    questions: Sequence[Question], answered: Mapping[str, str], *, solution: bool, as_json: bool
) -> int:
    """Print what is said about each answer; return the exit code."""
    verdicts = {
        question.id: question.check(answered.get(question.id, "")) for question in questions
    }
    right = sum(verdict.is_right for verdict in verdicts.values())
    if as_json:
        rows = [
            {**_fields(question, solution=solution), "verdict": verdicts[question.id].as_dict()}
            for question in questions
        ]
        print_json({"exercises": rows, "points": right, "most": len(rows)})
    else:
        for question in questions:
            say(f"{question.id}: {verdicts[question.id]}")
            if solution:
                _print_solution(question)
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
