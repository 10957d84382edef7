"""Counts files and lines of code, without blank lines, comments and docstrings.

Run: python .ci/size.py FOLDER
"""

from __future__ import annotations

import ast
import sys
import tokenize
from pathlib import Path

NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(path: Path) -> int:
    """Return the number of lines on which something is computed or stated."""
    with path.open("rb") as file:
        tokens = [token for token in tokenize.tokenize(file.readline) if token.type not in NO_CODE]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(path.read_bytes())):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


for folder in ("netcalc", "tests"):
    files = sorted((Path(sys.argv[1]) / folder).rglob("*.py"))
    print(f"{folder}: {sum(map(code_lines, files)):,} lines of code in {len(files)} files")
