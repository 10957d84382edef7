"""Codes of errors and warnings: each has a sentence, each sentence has a use and its values."""

from __future__ import annotations

import ast
import json
import re
import string
from functools import cache
from pathlib import Path

import pytest

from netcalc import messages

PACKAGE = Path(__file__).parents[2] / "netcalc"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent.name != "messages")
NAMES = [str(path.relative_to(PACKAGE)) for path in MODULES]

CODE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")

GIVEN = {  # values that a call has by position, and those its class adds
    "NetcalcError": ((), ()),
    "CommandError": ((), ()),
    "NotebookError": ((), ()),
    "DomainError": (("name", "value"), ("name", "value")),
    "ArgumentTypeError": (("name", "found"), ()),
    "UnitError": (("text",), ("shown", "text", "field", "expected")),
    "ReaderError": (
        (),
        ("file", "line", "offset", "field", "value", "unit", "expected"),
    ),
    "refusal": ((), ("file", "line", "offset", "field", "value", "unit", "expected")),
    "DatasetError": ((), ()),
    "ExperimentError": ((), ("phase", "host", "port")),
    "NotFiniteWarning": ((), ()),
    "MixedInstallationWarning": ((), ()),
    "_MixedInstallationWarning": ((), ()),
    "Notice": ((), ()),
}
"""Class -> names of the values after the code, names that are there in any case."""

TABLES = (
    messages.MESSAGES,
    messages.HINTS,
    messages.EXPECTED,
    messages.PYTHON_HINTS,
    messages.ALLOWED,
    messages.TYPED_HINTS,
)
FIELDS = {"note", "sentence", "hint", "typed_hint", "python_hint", "expected", "allowed"}


@cache  # every test here looks at every file
def nodes(path: Path) -> list[ast.AST]:
    """Return the calls and the texts of a file."""
    wanted = (ast.Call, ast.Constant, ast.JoinedStr)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, wanted)]


@cache
def calls(path: Path) -> list[tuple[str, ast.Call]]:
    """Find the calls that make an error or a warning."""
    found = [node for node in nodes(path) if isinstance(node, ast.Call) and node.args]
    named = [(getattr(call.func, "id", getattr(call.func, "attr", "")), call) for call in found]
    return [(name, call) for name, call in named if name in GIVEN]


def literals(node: ast.expr) -> list[str]:
    """Return the texts that an expression may be, as far as it shows them."""
    if isinstance(node, ast.IfExp):
        return literals(node.body) + literals(node.orelse)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return []


def is_sentence(node: ast.expr) -> bool:
    """Whether an expression is text that is no code."""
    if isinstance(node, ast.IfExp):
        return is_sentence(node.body) or is_sentence(node.orelse)
    if isinstance(node, ast.BinOp):
        return is_sentence(node.left) or is_sentence(node.right)
    return isinstance(node, ast.JoinedStr) or any(
        not CODE.fullmatch(text) and text != "verbatim" for text in literals(node)
    )


def allows_in_words(call: ast.Call) -> bool:
    """Whether a DomainError begins with the name of an argument and ends with what is allowed."""
    first, last = call.args[0], call.args[-1]
    return not literals(first) and ast.unparse(first) != "code" and is_sentence(last)


def legacy_uses(path: Path) -> list[int]:
    """Return the lines of errors and warnings that are made of a sentence."""
    found = [
        call.lineno
        for name, call in calls(path)
        if is_sentence(call.args[0]) or (name == "DomainError" and allows_in_words(call))
    ]
    for node in nodes(path):
        if not isinstance(node, ast.Call):
            continue
        if any(keyword.arg == "why" for keyword in node.keywords):
            found.append(node.lineno)
        appends = isinstance(node.func, ast.Attribute) and node.func.attr == "append"
        if appends and ast.unparse(node.func).endswith("warnings.append"):
            found += [node.lineno for argument in node.args if is_sentence(argument)]
    return found


def placeholders(code: str) -> set[str]:
    """Return the values that the sentence of a code and all that goes with it name."""
    templates = [table[code] for table in TABLES if code in table]
    fields = (field for text in templates for _, field, _, _ in string.Formatter().parse(text))
    return {re.split(r"[.\[]", field)[0] for field in fields if field}


def given(name: str, call: ast.Call) -> set[str] | None:
    """Return the names of the values of a call, or None if they do not all show in it."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    if name == "Notice":
        values = call.args[1] if len(call.args) > 1 else ast.Dict([], [])
        if not isinstance(values, ast.Dict) or None in values.keys:
            return None
        return {text for key in values.keys if key is not None for text in literals(key)}
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    positional, always = GIVEN[name]
    by_name = {keyword.arg for keyword in call.keywords if keyword.arg}
    if name == "ArgumentTypeError" and "value" in by_name:
        by_name.add("found")  # what Python writes of the value
    return by_name | set(positional[: len(call.args) - 1]) | set(always)


@pytest.mark.each("path", MODULES, ids=NAMES)
def test_every_code_has_a_sentence_and_its_values(path):
    for name, call in calls(path):
        for code in literals(call.args[0]):
            if not CODE.fullmatch(code):
                continue
            assert code in messages.MESSAGES, f"{path}:{call.lineno}: {code} has no sentence"
            known = given(name, call)
            if known is not None:
                missing = placeholders(code) - known
                assert not missing, f"{path}:{call.lineno}: {code} lacks {sorted(missing)}"


def written_texts() -> tuple[set[str], list[re.Pattern[str]]]:
    """Return the texts in the package, and patterns of those put together of parts of codes."""
    texts, patterns = set(), []
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            if isinstance(node, ast.JoinedStr):
                parts = [literals(part)[0] if literals(part) else None for part in node.values]
                if re.fullmatch(r"[a-z0-9]+-[a-z0-9-]*", parts[0] or ""):
                    known = (".+" if part is None else re.escape(part) for part in parts)
                    patterns.append(re.compile("".join(known)))
    return texts, patterns


def test_every_sentence_is_used():
    texts, patterns = written_texts()
    unused = {
        code
        for code in set(messages.MESSAGES) - texts - {"verbatim"}  # that of a saved file
        if not any(pattern.fullmatch(code) for pattern in patterns)
    }
    assert unused == set()


@pytest.mark.each("table", TABLES[1:])
def test_a_hint_belongs_to_a_sentence(table):
    assert set(table) <= set(messages.MESSAGES)


@pytest.mark.each("code", sorted(messages.MESSAGES))
def test_a_code_is_words_joined_by_hyphens(code):
    assert CODE.fullmatch(code) or code == "verbatim"


def test_every_room_says_everything_by_codes():
    found = {str(path): lines for path in MODULES if (lines := legacy_uses(path))}
    assert found == {}


def test_a_sentence_in_place_of_a_code_is_found(tmp_path):
    """The checks above can fail: each old form is one of them, the new ones are not."""
    old = [
        'DomainError("latency_s", -1, "above 0")',
        'DomainError(name, value, f"above {low}")',
        'ReaderError(f"has {n} columns", file=name)',
        'ExperimentError("the peer " + reason, phase="echo")',
        'UnitError("5M", expected="a time", why="it is short")',
        'Notice("is whole" if whole else "not-whole")',
        'run.warnings.append("not saved")',
    ]
    new = [
        'DomainError("is-negative", "latency_s", -1)',
        'run.warnings.append(Notice("file-grew"))',
    ]
    path = tmp_path / "room.py"
    path.write_text("\n".join(old + new))
    assert sorted(set(legacy_uses(path))) == list(range(1, len(old) + 1))
    assert placeholders("is-negative") == {"name", "value"}
    (_, call), *_ = calls(path)
    assert given("DomainError", call) == {"name", "value"}


def test_a_code_is_in_one_file_and_once():
    """Of two sentences of one code the later one would hide the other."""
    codes = []
    for path in (PACKAGE / "messages").glob("*.json"):
        tables = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=list)
        codes += [code for code, _ in tables]
        for code, entry in tables:
            fields = [field for field, _ in entry]
            assert len(set(fields)) == len(fields), code
            assert set(fields) <= FIELDS, code
            assert "sentence" in fields, code
    assert "unequal-columns" in codes
    assert sorted(codes) == sorted(set(codes)) == sorted(messages.MESSAGES)
