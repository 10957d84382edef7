"""The catalogues of texts: what the sources have, what is translated, and what is compiled.

``python tests/catalogues.py`` brings them up to date: it extracts the texts, drops translations of
texts that are gone, and compiles the files that are read. With ``--all`` the files of translations
have the texts that are not translated, too: for whoever translates more. They are not committed.
"""

from __future__ import annotations

import io
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from netcalc import calculator, datasets

ROOT = Path(__file__).parents[1]
LOCALE = ROOT / "netcalc" / "language" / "locale"
METHODS = {
    "netcalc": [
        ("netcalc/messages/*.json", "netcalc.language.extraction:sentences"),
        ("netcalc/**.py", "netcalc.language.extraction:code"),
        ("data/puzzles/manifest.json", "netcalc.language.extraction:puzzles"),
        ("data/exercises/*.toml", "netcalc.language.extraction:exercises"),
    ],
    "lessons": [("notebooks/*.ipynb", "netcalc.language.extraction:notebook")],
}
"""How each domain is extracted: patterns of files, and functions."""
NEVER = datetime(2000, 1, 1, tzinfo=UTC)  # a date would change the files without a change of a text


@cache
def extracted(domain: str) -> Catalog:
    """Return the texts of the sources."""
    catalog = Catalog(project="netcalc", charset="utf-8", creation_date=NEVER, revision_date=NEVER)
    kept = {"netcalc", "data", "notebooks"}

    def is_looked_at(folder: str) -> bool:
        path = Path(folder)
        inside = path.is_relative_to(ROOT) and path != ROOT
        first = path.relative_to(ROOT).parts[0] if inside else ""
        return (not inside or first in kept) and not path.name.startswith((".", "_"))

    found = extract_from_dir(ROOT, METHODS[domain], directory_filter=is_looked_at)
    for file, _, text, comments, _ in sorted(found, key=lambda one: (one[0], one[1])):
        if not file.startswith("netcalc/cli/"):
            catalog.add(text, locations=[(file, None)], auto_comments=comments, flags=set())
    if domain == "netcalc":
        for name in datasets.names():
            catalog.add(datasets.info(name).title, locations=[("data", None)])
        for name, formula in calculator.formulas().items():
            about = [formula.title, formula.summary, formula.validity, formula.returns]
            for text in filter(None, (*about, *(one.description for one in formula.parameters))):
                catalog.add(text, locations=[("netcalc/models", None)], auto_comments=[name])
    for message in catalog:
        message.flags.discard("python-format")
    return catalog


def languages() -> list[str]:
    """Return the codes of the languages that have a catalogue."""
    return sorted(path.name for path in LOCALE.iterdir() if path.is_dir())


def po_file(language: str, domain: str) -> Path:
    """Return the file of the translations."""
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.po"


def translations(language: str, domain: str) -> Catalog:
    """Return the translations of a language."""
    with po_file(language, domain).open("rb") as file:
        return read_po(file, locale=language, domain=domain)


def compiled(catalog: Catalog) -> bytes:
    """Return a catalogue as gettext reads it."""
    out = io.BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def merged(language: str, domain: str, template: Catalog, *, every: bool = False) -> Catalog:
    """Return the translations of the texts of the sources; with ``every`` the other texts, too."""
    old = translations(language, domain) if po_file(language, domain).exists() else {}
    new = Catalog(
        locale=language, project="netcalc", charset="utf-8", creation_date=NEVER,
        revision_date=NEVER, last_translator="netcalc", language_team=language,
    )  # fmt: skip
    for message in template:
        known = old.get(message.id) if old and message.id else None
        if message.id and (every or (known is not None and known.string)):
            new.add(
                message.id,
                known.string if known is not None else "",
                locations=message.locations,
                auto_comments=message.auto_comments,
            )
    for message in new:
        message.flags.discard("python-format")
    return new


def main(every: bool) -> None:
    for domain in METHODS:
        template = extracted(domain)
        for language in languages():
            path = po_file(language, domain)
            path.parent.mkdir(parents=True, exist_ok=True)
            catalog = merged(language, domain, template, every=every)
            with path.open("wb") as file:
                write_po(file, catalog, width=100, omit_header=False, include_lineno=False)
            path.with_suffix(".mo").write_bytes(compiled(translations(language, domain)))
            done = sum(bool(one.string) for one in catalog if one.id)
            print(f"{language} {domain}: {done} of {len(template)} texts are translated")


if __name__ == "__main__":
    main("--all" in sys.argv)
