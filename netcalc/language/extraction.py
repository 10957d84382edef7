"""What Babel extracts: texts of the code, tables of sentences, exercises and notebooks.

Its functions have the form that Babel asks of an extractor; ``tests/catalogues.py`` names them.
What Babel gives them besides the file says nothing about these files.
A text is found where it is given to :func:`netcalc.language.phrase` or ``term``, and where it is
given to one of the functions that translate what they show: labels, axes, titles, names of curves.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from typing import IO

from netcalc.language.notebooks import blocks

Found = tuple[int, str, str, list[str]]

FIRST = frozenset({
    "phrase", "term", "Quantity", "choice", "switch", "run_button", "upload", "Axis", "path_box",
    "Upload", "Playback", "named",
})  # fmt: skip
"""Functions that show their first argument in the reader's language."""
EVERY = frozenset({"term"})
"""Functions of which every argument is such a text."""
NAMED = frozenset({"title", "predict", "description", "label", "when_empty", "mark", "tooltip"})
"""Keywords of such arguments, of any function."""
KEYS = frozenset({"choice", "curves"})
"""Functions that show the keys of the mappings they are given, and the items of their lists."""
_WORD = re.compile(r"[^\W\d_]{2}")
_NAME = re.compile(r"[a-z]{2}.* |[ ,].*[a-z]{2}")
"""A name for people, and not one of the code: it has a blank."""


def code(file: IO[bytes], *_asked: object, **_options: object) -> Iterator[Found]:
    """Yield the texts of a Python file."""
    for node in ast.walk(ast.parse(file.read())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            for line, text in _texts(name, node):
                if _WORD.search(text):
                    yield line, "", text, []
        elif isinstance(node, ast.Dict):
            for key in node.keys:  # names of curves, and options of a choice
                for line, text in _constants(key):
                    if _NAME.search(text):
                        yield line, "", text, []


def _texts(name: str, call: ast.Call) -> Iterator[tuple[int, str]]:
    shown: list[ast.expr] = []
    if name in EVERY:
        shown += call.args
    elif name in FIRST:
        shown += call.args[:1]
    shown += [word.value for word in call.keywords if word.arg in NAMED]
    if name in KEYS:
        for argument in (*call.args[1:], *(word.value for word in call.keywords)):
            if isinstance(argument, ast.Dict):
                shown += [key for key in argument.keys if key is not None]
            elif isinstance(argument, ast.List):
                shown += argument.elts
    for expression in shown:
        yield from _constants(expression)


def _constants(node: ast.expr | None) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.IfExp):
        yield from _constants(node.body)
        yield from _constants(node.orelse)


def sentences(file: IO[bytes], *_asked: object, **_options: object) -> Iterator[Found]:
    """Yield the texts of a file of messages, with their codes and notes for the translator."""
    for code, entry in json.loads(file.read()).items():
        note = entry.pop("note", "")
        for text in filter(None, entry.values()):
            yield 1, "", text, [code, *filter(None, [note])]


def exercises(file: IO[bytes], *_asked: object, **_options: object) -> Iterator[Found]:
    """Yield the texts of a file of exercises."""
    for exercise in tomllib.loads(file.read().decode())["exercise"]:
        texts = [exercise["topic"], exercise["text"]]
        for wrong in exercise.get("wrong", ()):
            texts += [wrong["name"], wrong["sentence"], wrong["ask"]]
        for text in texts:
            yield 1, "", text, [exercise["id"]]


def puzzles(file: IO[bytes], *_asked: object, **_options: object) -> Iterator[Found]:
    """Yield the titles, questions and answers of recorded measurements."""
    for puzzle in json.loads(file.read())["puzzles"]:
        for text in (puzzle["title"], puzzle["question"], puzzle["answer"]):
            yield 1, "", text, [puzzle["name"]]


def notebook(file: IO[bytes], *_asked: object, **_options: object) -> Iterator[Found]:
    """Yield the paragraphs of a notebook."""
    for number, cell in enumerate(json.loads(file.read())["cells"], 1):
        if cell["cell_type"] == "markdown":
            for block in blocks("".join(cell["source"])):
                if _WORD.search(block):
                    yield number, "", block, []
