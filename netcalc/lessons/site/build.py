"""A site: every lesson run once, each in a process of its own, and written into a folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from bokeh.resources import Resources

from netcalc import language, version, widgets
from netcalc.errors import NetcalcError
from netcalc.lessons.site import calculator_page, html
from netcalc.samples import write_atomically
from netcalc.widgets.figure import THEME_SCRIPT, page_words

MARKER = ".netcalc-site.json"
"""Lists the files of a site: those may be replaced by the next one."""
_NAME = re.compile(r"[^/\\\x00-\x1f\ud800-\udfff]+\.(html|js|css)")
ROOM_BYTES = 40_000_000
"""Room that a site is refused without: more than twice what one takes. [byte]"""


def check(folder: Path) -> None:
    """Refuse a folder that a site cannot be written to.

    Raises
    ------
    NetcalcError
        If it is a file, cannot be written, has files that are not of a site, or has no room.
    """
    if folder.exists() and not folder.is_dir():
        raise NetcalcError("site-folder-is-file", file=str(folder))
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        names = sorted(path.name for path in folder.iterdir())
        raise NetcalcError("site-folder-not-empty", file=str(folder), found=names[0])
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise NetcalcError("site-folder-unwritable", file=str(folder), place=str(there))
    left = shutil.disk_usage(there).free
    if left < ROOM_BYTES:
        raise NetcalcError(
            "site-no-room", file=str(folder), size_bytes=left, limit_bytes=ROOM_BYTES
        )


def written_before(folder: Path) -> list[str]:
    """Return the names of the files that the last site in a folder consists of.

    Raises
    ------
    NetcalcError
        If the list of them is damaged.
    """
    marker = folder / MARKER
    if not marker.is_file():
        return []
    try:
        names = json.loads(marker.read_text(encoding="utf-8"))["files"]
        # Of no other kind: what is listed and no more of the site is taken away.
        plain = isinstance(names, list) and all(map(_NAME.fullmatch, names))
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        plain = False
    if not plain:
        raise NetcalcError("site-marker-damaged", file=str(marker))
    return list(names)


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a site, and take away those of the last one that it has no more.

    Raises
    ------
    NetcalcError
        If a file of that name is there which is not of a site.
    OSError
        If the system refuses a file.
    """
    old = written_before(folder)
    for name in files:
        if name not in old and (folder / name).exists():
            raise NetcalcError("site-folder-not-empty", file=str(folder), found=name)
    folder.mkdir(parents=True, exist_ok=True)
    listed = {"netcalc": version.__version__, "files": sorted({*files, *old})}
    write_atomically(folder / MARKER, json.dumps(listed, indent=1).encode() + b"\n")
    for name, data in files.items():
        write_atomically(folder / name, data)
    for name in set(old) - set(files):
        (folder / name).unlink(missing_ok=True)
    listed["files"] = sorted(files)
    write_atomically(folder / MARKER, json.dumps(listed, indent=1).encode() + b"\n")


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
    check(folder)
    written_before(folder)  # a damaged list is refused before the work
    options = [*(["--live"] if live else []), *([f"--positions={positions}"] if positions else [])]
    jobs = 1 if live else jobs or os.cpu_count() or 1
    contents = _run_all(lessons, options, jobs=jobs, progress=progress)
    listed = [(str(content["name"]), html.title_of(content)) for content in contents]
    more = html.CALCULATOR_LINK if with_calculator else ""
    files = {"index.html": html.contents_page(listed, more=more).encode()}
    if with_calculator:
        files["calculator.html"] = calculator_page.page().encode()
    for content in contents:
        page = html.lesson_page(content, listed).encode()
        if len(page) > PAGE_LIMIT_BYTES:
            raise NetcalcError(
                "site-page-too-large",
                file=str(content["name"]),
                size_bytes=len(page),
                limit_bytes=PAGE_LIMIT_BYTES,
            )
        files[f"{content['name']}.html"] = page
    pages = [folder / name for name in files]
    files[html.LIBRARY] = b"\n".join(Path(path).read_bytes() for path in _library())
    files[html.THEME] = THEME_SCRIPT.encode()
    files |= {
        name: (_HERE / name).read_bytes()
        for name in (*html.SCRIPTS, html.STYLE)
        if name not in files
    }
    files[html.PROGRAM] += _tables().encode()
    write(folder, files)
    return pages


def _tables() -> str:
    """Return the program that makes a figure's table of values, as in notebooks."""
    folder = Path(widgets.__file__).parent
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in TABLES)
    words = json.dumps(page_words())
    functions = f"{{ sayWhenSettled, valuesTable, words: {words} }}"
    return f"(() => {{\n{text}\nwindow.netcalcTables = {functions};\n}})();\n"


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
            runs = [pool.submit(_run, lesson, Path(place), options, at_work) for lesson in lessons]
            left = set(runs)
            while left:
                done, left = wait(left, return_when=FIRST_COMPLETED)
                for lesson in done:
                    lesson.result()
                told(len(lessons) - len(left), len(lessons))
            return [lesson.result() for lesson in runs]
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
