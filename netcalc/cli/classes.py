"""Exercises: ``netcalc exercise`` asks and checks them, ``netcalc class`` hands them out.

A class gets a notebook for each student; the marks are of the notebooks that come back.
"""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from netcalc import exercises
from netcalc.cli import complain, output, print_json, put, say, show_help_alone, standard_input
from netcalc.cli.class_page import in_percent, interval, points_apart
from netcalc.cli.mistakes import CommandError, Group
from netcalc.cli.options import JSON, command
from netcalc.errors import DomainError, ReaderError
from netcalc.exercises import Question, Template, Verdict
from netcalc.exercises.classes import Collected, Gain, Row, Sheet, collecting, sheets
from netcalc.exercises.classes.notebooks import MAX_NOTEBOOK_BYTES, NotebookError
from netcalc.printable import printable, spreadsheet_text

_LEFT_OUT = ".ipynb_checkpoints"


@click.group("class", cls=Group, invoke_without_command=True)
@click.pass_context
def classes(ctx: click.Context) -> None:
    """Give exercises to a class, and collect what comes back.

    \b
    netcalc class sheet monday --roster class.csv --lessons 01,02
    netcalc class collect monday
    netcalc class collect monday friday
    """
    show_help_alone(ctx)


@command(
    JSON,
    group=classes,
    names={"roster_file": "--roster", "folder": "--dir", "sources": "--file"},
    metavars={"lessons": "01,02"},
)
def sheet(
    name: str,
    *,
    roster_file: str,
    lessons: str,
    folder: str | None = None,
    sources: tuple[str, ...] = (),
    as_json: bool,
) -> None:
    """Make one notebook for each student, with numbers of its own.

    \b
    netcalc class sheet monday --roster class.csv --lessons 01,02
    netcalc class sheet friday --roster class.csv --lessons 01,02

    Another NAME has other numbers. NAME.class.json says what was handed out: keep it, the notebooks
    are collected by it. A FILE of your own is copied beside them, and is handed out with them.
    Nothing is overwritten.

    Parameters
    ----------
    name : NAME
        Name of the sheet.
    roster_file : FILE.csv
        The class: a column name, and id where two have one name.
    lessons : str
        Lessons whose exercises it has.
    folder : DIR
        Where to write the notebooks; NAME if left out.
    sources : FILE.toml
        Use exercises of your own, too.
    """
    numbers = [part.strip() for part in lessons.split(",") if part.strip()]
    if not numbers:
        raise CommandError("lessons-missing-in-option", option="--lessons")
    name = sheets.checked_name(name)
    source = standard_input() if roster_file == "-" else Path(roster_file)
    students = sheets.read(source, name="<stdin>" if roster_file == "-" else None)
    for notice in students.notices:
        complain(f"{printable(roster_file)}: {notice}.")
    made = datetime.now(UTC).isoformat(timespec="seconds")
    paths = list(map(Path, dict.fromkeys(sources)))
    if len({path.name for path in paths}) < len(paths):
        raise CommandError("exercise-files-alike", option="--file")
    unnamed = next((path for path in paths if not path.name.isprintable()), None)
    if unnamed is not None:  # the record names it
        raise ReaderError("invalid-file-name", file=str(unnamed))
    drawn = sheets.make(name, students=students.students, lessons=numbers, made=made, paths=paths)
    own = {path.name: path.read_bytes() for path in paths}  # which are no pipes: they were read
    target = Path(folder if folder is not None else name)
    _write_sheet(drawn, target, own)
    if as_json:
        print_json(
            {
                "sheet": drawn.name,
                "folder": str(target),
                "record": str(target / drawn.record_file),
                "exercises": list(drawn.ids),
                "notebooks": [
                    {"name": part.name, "id": part.id, "file": file}
                    for part, file in zip(drawn.students, drawn.files, strict=True)
                ],
            }
        )
        return
    count = len(drawn.students)
    notebooks = f"{count} notebook{'s' * (count != 1)}"
    say(f"{notebooks} with {len(drawn.ids)} exercises each in {printable(str(target))}.")
    say(f"Keep {printable(str(target / drawn.record_file))}: netcalc class collect needs it.")


def _write_sheet(drawn: Sheet, target: Path, own: Mapping[str, bytes]) -> None:
    """Write all files of a sheet, or none; ``own`` are a teacher's files of exercises."""
    if target.exists() and not target.is_dir():
        raise CommandError("folder-is-file", file=str(target))
    names = [drawn.record_file, *own, *drawn.files]
    for name in names:
        if os.path.lexists(target / name):
            raise CommandError("class-file-exists", file=str(target / name))
    target.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    try:
        for name, content in _contents(drawn, own):
            path = target / name
            with path.open("xb") as stream:
                written.append(path)
                stream.write(content)
    except BaseException as error:
        for path in written:  # half a class would be handed out
            with suppress(OSError):
                path.unlink()
        if isinstance(error, FileExistsError):
            raise CommandError("class-file-exists", file=str(error.filename)) from None
        raise


def _contents(drawn: Sheet, own: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    yield drawn.record_file, sheets.record_text(drawn).encode()
    yield from own.items()
    for student, file in zip(drawn.students, drawn.files, strict=True):
        yield file, sheets.notebook_text(drawn, student).encode()


@command(
    click.Argument(["folders"], metavar="DIR...", nargs=-1, required=True), JSON, group=classes
)
def collect(*, folders: tuple[str, ...], out: str = "marks", as_json: bool) -> None:
    """Check the notebooks in DIR: marks.csv and the page marks.html.

    \b
    netcalc class collect monday
    netcalc class collect monday friday

    The answers are read, nothing in a notebook is run. With several sheets the page shows the gain
    from the first to the last. A notebook that cannot be counted costs its own row and is named;
    the exit code is then 1.

    Parameters
    ----------
    out : NAME
        Name of the two files, written in the last DIR.
    """
    if not out.isprintable() or not out or Path(out).name != out:
        raise CommandError("marks-name-not-plain", option="--out", value=out)
    records, files = _handed_in(folders)
    written = [Path(folders[-1]) / f"{out}{suffix}" for suffix in (".csv", ".html")]
    for path in written:
        if os.path.lexists(path):
            raise CommandError("marks-exist", file=str(path))
    collected = collecting.collect(files, records=records)
    gained = collecting.gain(collected[0], collected[-1]) if len(collected) > 1 else None
    from netcalc.cli.class_page import page  # late: bokeh takes its time

    texts = (marks(collected), page(collected, gained))
    for path, text in zip(written, texts, strict=True):
        with path.open("x", encoding="utf-8", newline="") as stream:
            stream.write(text)
    if as_json:
        print_json(
            {
                "files": list(map(str, written)),
                "sheets": [_as_dict(marked) for marked in collected],
                "gain": _gain_dict(gained),
            }
        )
    else:
        for marked in collected:
            _print(marked)
        if gained is not None:
            say(_gain_line(gained))
    output.print_written(*map(str, written))
    rows = [row for marked in collected for row in (*marked.rows, *marked.refused)]
    refused = [row for row in rows if row.file and not row.counted]
    for row in refused:
        complain(f"{printable(row.file)}: {reasons(row)}.")
    if refused:
        sys.exit(1)


def _handed_in(folders: Sequence[str]) -> tuple[list[Sheet], dict[str, bytes | NotebookError]]:
    """Return the records of the sheets in some folders, and the notebooks by their names."""
    records: list[Sheet] = []
    files: dict[str, bytes | NotebookError] = {}
    for folder in dict.fromkeys(folders):
        if not Path(folder).is_dir():
            raise CommandError("class-folder-missing", folder=folder)
        records += _records(Path(folder))
        files |= _notebooks(Path(folder), prefix=f"{folder}/" if len(folders) > 1 else "")
    if not records:
        raise CommandError("record-missing", folder=folders[0], suffix=sheets.RECORD_SUFFIX)
    return records, files


def _records(folder: Path) -> list[Sheet]:
    return [
        sheets.read_record(
            path.read_text(encoding="utf-8", errors="replace"), file=str(path), folder=path.parent
        )
        for path in sorted(folder.rglob(f"*{sheets.RECORD_SUFFIX}"))
        if path.is_file()
    ]


def _notebooks(folder: Path, *, prefix: str) -> dict[str, bytes | NotebookError]:
    """Read the notebooks below a folder, without those that Jupyter keeps of before."""
    contents: dict[str, bytes | NotebookError] = {}
    for path in sorted(folder.rglob("*.ipynb")):
        if _LEFT_OUT in path.parts:
            continue
        contents[f"{prefix}{path.relative_to(folder).as_posix()}"] = _content(path)
    return contents


def _content(path: Path) -> bytes | NotebookError:
    from netcalc.readers.source import open_source

    try:
        data = open_source(path).data
    except ReaderError as error:
        return NotebookError("notebook-unreadable", reason=error.what)
    if len(data) > MAX_NOTEBOOK_BYTES:
        return NotebookError("notebook-too-large", limit_bytes=MAX_NOTEBOOK_BYTES)
    return data


def reasons(row: Row) -> str:
    """Return what there is to say about a notebook, in one line."""
    return printable("; ".join(map(str, row.remarks)))


def marks(collected: Sequence[Collected]) -> str:
    """Return the marks of all sheets as CSV: a row for each student and sheet, and strangers."""
    ids = list(dict.fromkeys(marked for it in collected for marked in it.sheet.ids))
    columns = [name for marked in ids for name in (marked, f"{marked} mistake")]
    stream = io.StringIO()
    stream.write("\ufeff")  # a spreadsheet takes the file for UTF-8
    rows = csv.writer(stream, lineterminator="\n")
    first, last = ("sheet", "student", "id", "points", "of"), ("counted", "file", "remark")
    rows.writerow([*first, *(spreadsheet_text(printable(name)) for name in columns), *last])
    for marked in collected:
        for row in (*marked.rows, *marked.refused):
            rows.writerow(
                [spreadsheet_text(printable(text)) for text in _cells(row, marked.sheet, ids)]
            )
    return stream.getvalue()


def _cells(row: Row, sheet: Sheet, ids: Iterable[str]) -> Iterator[str]:
    yield from (row.sheet, row.student.name, row.student.id)
    yield from (str(row.points), str(len(sheet.ids))) if row.counted else ("", str(len(sheet.ids)))
    for exercise in ids:
        answered = row.counted and exercise in row.verdicts
        yield str(int(row.is_right(exercise))) if answered else ""
        yield mistake_text(row, exercise)
    yield from ("yes" if row.counted else "no", row.file, reasons(row))


def mistake_text(row: Row, exercise: str) -> str:
    """Return the mistake in an answer in a few words; empty if it is right or there is none."""
    verdict = row.verdicts.get(exercise)
    if verdict is None or verdict.is_right:
        return ""
    return " or ".join(row.mistakes(exercise)) or verdict.kind


def _print(collected: Collected) -> None:
    count, total = len(collected.counted), len(collected.rows)
    say(f"{printable(collected.sheet.name)}: {count} of {total} notebooks counted.")
    shares = {name: collected.share(name) for name in collected.sheet.ids}
    headings = ("exercise", "right", "95 %")
    rows = [(name, in_percent(share.value), interval(share)) for name, share in shares.items()]
    output.print_rows(headings, rows, left=headings)
    for mistake in collected.commonest():
        number = len(mistake.students)
        say(f"  {printable(mistake.name)} ({printable(mistake.exercise)}): {number} of {count}")


def _gain_line(gained: Gain) -> str:
    share = gained.of_class
    return (
        f"From {printable(gained.before)} to {printable(gained.after)}: {points_apart(share)} in "
        f"{gained.count} students who handed in both."
    )


def _as_dict(collected: Collected) -> dict[str, Any]:
    return {
        "sheet": collected.sheet.name,
        "students": [
            {
                "name": row.student.name,
                "id": row.student.id,
                "file": row.file,
                "counted": row.counted,
                "points": row.points if row.counted else None,
                "verdicts": {
                    name: {"kind": it.kind, "names": list(it.names)}
                    for name, it in row.verdicts.items()
                },
                "remarks": [note.stored() for note in row.remarks],
            }
            for row in (*collected.rows, *collected.refused)
        ],
        "exercises": {
            name: {"right": share.value, "low": share.low, "high": share.high}
            for name, share in ((name, collected.share(name)) for name in collected.sheet.ids)
        },
        "mistakes": [
            {
                "exercise": it.exercise,
                "name": it.name,
                "students": [student.name for student in it.students],
                "perhaps": [student.name for student in it.perhaps],
            }
            for it in collected.mistakes()
        ],
    }


def _gain_dict(gained: Gain | None) -> dict[str, Any] | None:
    if gained is None:
        return None
    shares = {"class": gained.of_class, **gained.of_exercise}
    return {
        "before": gained.before,
        "after": gained.after,
        "students": gained.count,
        **{name: {"gain": it.value, "low": it.low, "high": it.high} for name, it in shares.items()},
    }


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
    words : [LESSON | ID]...
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
