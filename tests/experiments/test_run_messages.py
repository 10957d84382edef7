"""The messages of live runs: each code in the source has a sentence, and gives its values."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

import netcalc.experiments
from netcalc import messages
from netcalc.errors import DomainError, ExperimentError

FOLDER = Path(netcalc.experiments.__file__).parent
GIVEN = {
    "ExperimentError": {"phase", "host", "port"},
    "DomainError": {"name", "value"},
    "Notice": set(),
}
"""What each class takes beside the values of a code."""


def used_codes():
    """Find the calls with a literal code: file, line, code, names of the values."""
    for file in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id not in GIVEN or not isinstance(node.args[0], ast.Constant):
                continue
            names = GIVEN[node.func.id] | {one.arg for one in node.keywords if one.arg}
            complete = all(one.arg for one in node.keywords)
            if node.func.id == "Notice" and len(node.args) == 2:
                keys = getattr(node.args[1], "keys", [None])
                complete = None not in keys
                names |= {key.value for key in keys if key is not None}
            yield node.args[0].value, names, complete, f"{file.stem}-{node.lineno}"


def placeholders(template):
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.each(("code", "names", "complete", "where"), list(used_codes()))
def test_every_code_has_a_sentence_with_its_values(code, names, complete, where):
    template = messages.MESSAGES[code]
    if complete:
        assert placeholders(template) <= names
        assert placeholders(messages.HINTS.get(code, "")) <= names


@pytest.mark.each(
    ("error", "said"),
    [
        (
            ExperimentError("too-many-probes", phase="plan", count=150_000, limit=100_000),
            "plan: the run would send 150,000 probes, the limit is 100,000. Use fewer or "
            "smaller probes, a shorter interval or a faster path",
        ),
        (
            ExperimentError("peer-ended", phase="echo", host="::1", port=7, status="SIGKILL"),
            "echo: the peer process ended (SIGKILL) (::1:7)",
        ),
        (
            DomainError(
                "size-for-tcp", "payload_bytes[1]", 7.0, low=8, high=1 << 20, carrier="TCP"
            ),
            "payload_bytes[1] must be a whole number from 8 to 1048576 for TCP, got 7. A message "
            "starts with 4 bytes of length and 4 of sequence",
        ),
        (
            messages.Notice("run-suspended", {"count": 1, "at_s": 3.0, "longest_s": 2.0}),
            "the run was suspended for 2 s, 3 s after its start (1 gap in all); exchanges in "
            "progress contain the gap",
        ),
        (
            messages.Notice("limited-by-emulator", {"count": 3}),
            "3 transfers were limited by the emulator's send queue, not by the path",
        ),
    ],
)
def test_sentences(error, said):
    assert str(error) == said
