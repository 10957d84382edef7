"""Files that cannot be read right, and what was repaired or left out of them."""

from __future__ import annotations

FILES: dict[str, str] = {
    "no-header": "there is no header that names the columns",
    "column-without-unit": "has no unit",
    "package-missing": "{purpose} needs the package {package}, which is not installed",
    "package-too-old": "{purpose} needs the package {package}, in a later version than {found}",
}

FILES_HINTS: dict[str, str] = {
    "no-header": 'Add a header, or give columns=("size_bytes", "rtt_ms")',
    "column-without-unit": (
        'Write {column} [{example}] in the header, or give units={{"{column}": "{example}"}}'
    ),
    "package-missing": 'Install it with: pip install "netcalc-lab[{extra}]"',
    "package-too-old": 'Install it with: pip install "netcalc-lab[{extra}]"',
}
