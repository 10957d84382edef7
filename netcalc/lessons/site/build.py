"""A site: every lesson run once, each in a process of its own, and written as a page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from bokeh.resources import Resources

from netcalc import language, widgets
from netcalc.errors import NetcalcError
from netcalc.lessons.site import calculator_page
from netcalc.lessons.site import folder as folders
from netcalc.lessons.site.html import (
    CALCULATOR_LINK,
    LIBRARY,
    PROGRAM,
    SCRIPTS,
    STYLE,
    THEME,
    contents_page,
    lesson_page,
    title_of,
)
from netcalc.widgets.figure import THEME_SCRIPT, page_words

_HERE = Path(__file__).parent
TABLES = ("guess.js", "access.js")
"""What makes tables of values, in notebooks and in pages."""
PAGE_LIMIT_BYTES = 2_000_000
"""Largest page, without the library that all pages share. [byte]"""


def build(
    folder: str | Path,
    *,
    lessons: Sequence[Path],
    live: bool = False,
    with_calculator: bool = False,
    jobs: int | None = None,
    positions: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> list[Path]:
    """Write lessons as pages that open from a disk or any web server, without a network.

    Parameters
    ----------
    folder : str or pathlib.Path
        Where the pages go: a new or an empty folder, or one with an older site, which is replaced.
    lessons : sequence of pathlib.Path
        The notebooks, in their order.
    live : bool
        Whether the experiments of the lessons run on this machine, so that the pages show them.
    with_calculator : bool
        Whether the calculator is one of the pages; its formulas are recorded, in about a minute.
    jobs : int, optional
        Lessons that run at once; by default one for each processor, and one with ``live``.
    positions : int, optional
        Positions of its controls that are stored for a panel, about; by default as many as the
        time of one allows, which takes minutes for all lessons.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of lessons.

    Returns
    -------
    list of pathlib.Path
        The pages, the list of lessons first.

    Raises
    ------
    NetcalcError
        If the folder is refused, or a lesson does not run.
    """
    language.use(language.ENGLISH)  # as all that is around the panels
    folder = Path(folder)
    folders.check(folder)
    folders.written_before(folder)  # a damaged list is refused before the work
    options = [*(["--live"] if live else []), *([f"--positions={positions}"] if positions else [])]
    jobs = 1 if live else jobs or os.cpu_count() or 1
    contents = _run_all(lessons, options, jobs=jobs, progress=progress)
    listed = [(str(one["name"]), title_of(one)) for one in contents]
    more = CALCULATOR_LINK if with_calculator else ""
    files = {"index.html": contents_page(listed, more=more).encode()}
    if with_calculator:
        files["calculator.html"] = calculator_page.page().encode()
    for one in contents:
        page = lesson_page(one, listed).encode()
        if len(page) > PAGE_LIMIT_BYTES:
            raise NetcalcError(
                "site-page-too-large",
                file=str(one["name"]),
                size_bytes=len(page),
                limit_bytes=PAGE_LIMIT_BYTES,
            )
        files[f"{one['name']}.html"] = page
    pages = [folder / name for name in files]
    files[LIBRARY] = b"\n".join(Path(path).read_bytes() for path in _library())
    files[THEME] = THEME_SCRIPT.encode()
    files |= {name: (_HERE / name).read_bytes() for name in (*SCRIPTS, STYLE) if name not in files}
    files[PROGRAM] += _tables().encode()
    folders.write(folder, files)
    return pages


def _tables() -> str:
    """Return the program that makes a figure's table of values, as in notebooks."""
    folder = Path(widgets.__file__).parent
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in TABLES)
    words = json.dumps(page_words())
    given = f"{{ sayWhenSettled, valuesTable, words: {words} }}"
    return f"(() => {{\n{text}\nwindow.netcalcTables = {given};\n}})();\n"


def _library() -> list[str]:
    return list(Resources(mode="absolute", components=["bokeh"], minified=True).js_files)


def _run_all(
    lessons: Sequence[Path],
    options: Sequence[str],
    *,
    jobs: int,
    progress: Callable[[int, int], object] | None,
) -> list[dict[str, Any]]:
    """Run the lessons; those at work end when one fails or the user stops."""
    told = progress or (lambda done, total: None)
    told(0, len(lessons))
    at_work: list[subprocess.Popen[str]] = []
    with tempfile.TemporaryDirectory(prefix="netcalc-site-") as place:
        pool = ThreadPoolExecutor(max_workers=jobs)
        try:
            runs = [pool.submit(_run, one, Path(place), options, at_work) for one in lessons]
            left = set(runs)
            while left:
                done, left = wait(left, return_when=FIRST_COMPLETED)
                for one in done:
                    one.result()
                told(len(lessons) - len(left), len(lessons))
            return [one.result() for one in runs]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in at_work:
                process.terminate()
            pool.shutdown(wait=True)


def _run(
    lesson: Path, place: Path, options: Sequence[str], at_work: list[subprocess.Popen[str]]
) -> dict[str, Any]:
    result = place / f"{lesson.stem}.json"
    command = [sys.executable, "-m", "netcalc.lessons.site.cells", str(lesson), str(result)]
    process = subprocess.Popen(
        [*command, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "NETCALC_LANGUAGE": language.ENGLISH},
    )
    at_work.append(process)
    _, said = process.communicate()
    if process.returncode or not result.exists():
        last = said.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        raise NetcalcError("lesson-does-not-run", file=lesson.name, reason=last[0])
    content: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return content
