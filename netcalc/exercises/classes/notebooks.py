"""Notebooks that come back: what a student wrote into one, read without running anything in it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netcalc.errors import NetcalcError
from netcalc.exercises.classes.sheets import SCHEMA, seal
from netcalc.messages import Notice
from netcalc.printable import excerpt

NBFORMAT = 4
"""The version of notebooks that is read; its minor versions differ in nothing that is."""
MAX_NOTEBOOK_BYTES = 32 * 1024 * 1024
"""Largest notebook that is read. [byte]"""
MAX_ANSWER = 200
"""Longest answer that is read. [characters]"""
BLANK, SOLVED = "__________", "Worked solution:"
"""What a box without an answer says in its text, and one that shows the solution."""
_MOST_CELLS = 2000


class NotebookError(NetcalcError):
    """A notebook that cannot be counted, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxed:
    """What was saved of the box of an exercise: its question, the last answer, the solution."""

    question: str
    answer: str
    is_solved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What one notebook says.

    Parameters
    ----------
    file : str
        Its file name.
    sheet, student, name : str
        Name of the sheet, key and name of the student.
    ids : tuple of str
        The exercises it had when it was handed out.
    drawn : str
        The digest of its questions.
    answers : mapping
        Of each exercise the text of the answer; one that is blank is not in it.
    boxes : mapping
        What was saved of the boxes of exercises.
    notices : tuple of Notice
        What was left out.
    """

    file: str
    sheet: str
    student: str
    name: str
    ids: tuple[str, ...]
    drawn: str
    answers: Mapping[str, str]
    boxes: Mapping[str, Boxed] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


def read(data: bytes, *, file: str) -> Handed:
    """Read a notebook that was handed in.

    Parameters
    ----------
    data : bytes
        The content of the file.
    file : str
        Its name, for messages.

    Returns
    -------
    Handed
        Whose it is, and the answers.

    Raises
    ------
    NotebookError
        If it is no notebook of a sheet, is damaged, or its facts were changed.
    """
    document = _document(data)
    facts = _facts(document)
    sources = _sources(document)
    answers, notices = _typed(sources)
    asked = facts["exercises"]
    if strange := sorted(excerpt(id_) for id_ in set(answers) - set(asked)):
        notices.append(Notice("answers-of-others", {"ids": strange}))
    return Handed(
        file=file,
        sheet=facts["sheet"],
        student=facts["student"],
        name=facts["name"],
        ids=tuple(asked),
        drawn=facts["drawn"],
        answers={id_: answers[id_] for id_ in asked if answers.get(id_)},
        boxes={id_: box for id_, box in _boxes(document).items() if id_ in asked},
        notices=tuple(notices),
    )


def _document(data: bytes) -> Mapping[str, Any]:
    if not data.strip():
        raise NotebookError("notebook-empty")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise NotebookError("notebook-not-text", offset=error.start) from None
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        if line is None:
            raise NotebookError("notebook-not-json") from None
        raise NotebookError("notebook-damaged", line_number=line) from None
    if not isinstance(document, dict) or not isinstance(document.get("nbformat"), int):
        raise NotebookError("notebook-is-none")
    if document["nbformat"] != NBFORMAT:
        raise NotebookError("notebook-version", version=document["nbformat"], read=NBFORMAT)
    return document


def _facts(document: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = document.get("metadata")
    facts = metadata.get("netcalc") if isinstance(metadata, dict) else None
    if not isinstance(facts, dict):
        raise NotebookError("notebook-of-no-sheet")
    if facts.get("schema") != SCHEMA:
        raise NotebookError("notebook-schema", schema=excerpt(str(facts.get("schema"))))
    ids = facts.get("exercises")
    texts = [facts.get(name) for name in ("sheet", "student", "name", "drawn", "seal")]
    whole = isinstance(ids, list) and all(isinstance(text, str) for text in [*ids, *texts])
    if not whole or facts["seal"] != seal(facts):
        raise NotebookError("notebook-facts-edited")
    return facts


def _sources(document: Mapping[str, Any]) -> list[str]:
    """Return the text of the cells of code."""
    cells = document.get("cells")
    if not isinstance(cells, list) or len(cells) > _MOST_CELLS:
        raise NotebookError("notebook-cells")
    sources = []
    for cell in cells:
        if not isinstance(cell, dict):
            raise NotebookError("notebook-cells")
        source = cell.get("source", "")
        lines = [source] if isinstance(source, str) else source
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise NotebookError("notebook-cells")
        if cell.get("cell_type") == "code":
            sources.append("".join(lines))
    return sources


def _typed(sources: Sequence[str]) -> tuple[dict[str, str], list[Notice]]:
    """Return the answers of the last cell that assigns a dictionary to ``answers``.

    ``answers["TR1"] = "3 s"`` behind it counts, too; whatever else changes them is only named.
    """
    written: list[tuple[ast.expr | None, ast.expr]] | None = None
    fault: NotebookError | None = None
    changed = False
    for source in sources:
        if "answers" not in source:
            continue
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            fault = NotebookError("answers-not-python", line_number=line)
            continue
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id="answers")], value=ast.Dict() as value):
                    fault, changed = None, False
                    written = list(zip(value.keys, value.values, strict=True))
                case ast.Assign(targets=[ast.Name(id="answers")]):
                    fault = NotebookError("answers-no-dictionary")
                case ast.Assign(
                    targets=[ast.Subscript(value=ast.Name(id="answers"), slice=key)], value=value
                ) if written is not None:
                    written.append((key, value))
                case _:
                    changed = changed or any(map(_changes_answers, ast.walk(node)))
    if fault is not None:  # of a later cell than any that could be read
        raise fault
    if written is None:
        raise NotebookError("answers-missing")
    answers, notices = _answers_of(written)
    return answers, [*notices, Notice("answers-changed-by-code")] if changed else notices


_CHANGES = ("update", "pop", "popitem", "clear", "setdefault", "__setitem__")


def _changes_answers(node: ast.AST) -> bool:
    match node:
        case ast.Name(id="answers", ctx=ast.Store() | ast.Del()):
            return True
        case ast.Subscript(value=ast.Name(id="answers"), ctx=ast.Store() | ast.Del()):
            return True
        case ast.Attribute(value=ast.Name(id="answers"), attr=name):
            return name in _CHANGES
    return False


def _answers_of(
    written: Sequence[tuple[ast.expr | None, ast.expr]],
) -> tuple[dict[str, str], list[Notice]]:
    """Return the answers as they are written; one that is no plain text or number is named."""
    texts: dict[str, str] = {}
    twice: list[str] = []
    code: list[str] = []
    long: list[str] = []
    for key, value in written:
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise NotebookError("answers-no-dictionary")
        name, text = key.value, _literal(value)
        if texts.get(name):
            twice.append(excerpt(name))
        if text is None or len(text) > MAX_ANSWER:
            (code if text is None else long).append(excerpt(name))
            text = ""
        texts[name] = text.strip()
    faults: dict[str, dict[str, Any]] = {
        "answers-twice": {"ids": twice},
        "answers-are-code": {"ids": code},
        "answers-too-long": {"ids": long, "limit": MAX_ANSWER},
    }
    notices = [Notice(name, values) for name, values in faults.items() if values["ids"]]
    kept = {name: text for name, text in texts.items() if text or name in (*code, *long)}
    return kept, notices


def _literal(node: ast.expr) -> str | None:
    """Return an answer that is a text or a number as it is written; None if it is anything else."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return str(value)
    except ValueError:  # more digits than Python writes
        return None


def _boxes(document: Mapping[str, Any]) -> dict[str, Boxed]:
    """Return what was typed into the boxes: their text, as the front end saved it."""
    boxes: dict[str, Boxed] = {}
    for cell in document["cells"]:
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            data = output.get("data") if isinstance(output, dict) else None
            plain = data.get("text/plain") if isinstance(data, dict) else None
            lines = plain if isinstance(plain, list) else [plain]
            asked, *rest = "".join(line for line in lines if isinstance(line, str)).split("\n")
            question = _ASKED.fullmatch(asked)
            answer = _ANSWERED.fullmatch(rest[0]) if rest else None
            if question is None or answer is None:
                continue
            text = answer["answer"].strip()
            boxes[question["id"]] = Boxed(
                question=question["text"],
                answer="" if text == BLANK or len(text) > MAX_ANSWER else text,
                is_solved=SOLVED in rest,
            )
    return boxes


_ASKED = re.compile(r"(?P<topic>.*?) \((?P<id>[\w-]+)\)\. (?P<text>.*)")
_ANSWERED = re.compile(r"Answer, [^:]*: ?(?P<answer>.*)")
