"""Pictures of every lesson in every front end, as its readers meet it.

    python tests/browser/lesson_pictures.py FOLDER [lab] [notebook] [voila] [exported] [LESSON ...]

``netcalc lab --app`` serves Voila, as it does for users. Of each lesson: run, in light and
in dark, on a projector, on a phone (Voila, exported), and in JupyterLab and Notebook the next day,
saved and opened again without a run. Exported ones are what ``jupyter nbconvert --to html`` writes
of the stored notebook. Prints what each page complained about, and how many figures it shows.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import conftest as harness

LESSONS = sorted((harness.ROOT / "notebooks").glob("*.ipynb"))
SCREEN, PROJECTOR, PHONE = (1280, 900), (1920, 1080), (390, 844)
TALLEST = 12_000
"""Highest picture of a page. [px]"""
HEIGHT = "() => Math.max(...[...document.querySelectorAll('*')].map(el => el.scrollHeight))"
TO_THE_TOP = """() => document.querySelectorAll('.jp-WindowedPanel-outer, .jp-Notebook')
  .forEach(el => el.scrollTo(0, 0))"""
SHOWN = """() => [...document.querySelectorAll('.netcalc-figure')]
  .filter(el => el.netcalc && el.netcalc.document.is_idle).length"""
THEME = "name => jupyterapp.commands.execute('apputils:change-theme', { theme: name })"


@contextmanager
def served(front_end: str, place: Path) -> Iterator[Callable[[Path], str]]:
    """Start a server; yield what gives the address of a lesson."""
    if front_end != "voila":
        with harness.serving(front_end, place) as server:
            server.wait()
            for lesson in LESSONS:
                (server.folder / lesson.name).write_bytes(lesson.read_bytes())
            yield lambda lesson: server.url(lesson.name)
        return
    program = "from netcalc.__main__ import main; main()"
    command = [sys.executable, "-c", program, "lab", "--app", "--no-browser"]
    command += ["--dir", str(place / "copy"), *(["--allow-root"] if os.geteuid() == 0 else [])]
    environment = {**os.environ, "HOME": str(place), "PYTHONPATH": str(harness.ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            found = next(filter(None, (re.search(r"(http\S+?:\d+)/\S*?token=(\S+)", line)
                                       for line in process.stdout)))  # fmt: skip
            host, token = found.groups()
            yield lambda lesson: f"{host}/voila/render/{lesson.name}?token={token}"
        finally:
            process.terminate()
            process.wait(30)


def shoot(page: Any, path: Path, size: tuple[int, int], *, whole: bool = True) -> None:
    """Take a picture of a page at a size of the window, of all of its height if that is wished."""
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(400)
    if whole:
        tall = min(TALLEST, int(page.evaluate(HEIGHT)) + 120)
        page.set_viewport_size({"width": width, "height": tall})
        page.wait_for_timeout(600)
    page.evaluate(TO_THE_TOP)
    page.wait_for_timeout(200)
    page.screenshot(path=path)


def wait_run(page: Any, front_end: str, expected: int) -> None:
    """Run a lesson in a front end with cells, and wait for its figures."""
    if front_end != "voila":
        page.wait_for_function(harness.READY, timeout=60_000)
        page.evaluate(harness.RUN_ALL)
    page.wait_for_function(
        f"count => ({SHOWN})() >= count", arg=expected, timeout=120_000, polling=200
    )
    page.wait_for_timeout(500)


def panels_of(lesson: Path) -> int:
    """Return how many panels a lesson shows, by its stored outputs."""
    return lesson.read_text(encoding="utf-8").count('"image/svg+xml"')


def picture(page: Any, front_end: str, lesson: Path, folder: Path) -> str:
    """Take all pictures of one lesson in one front end; return what is to be told of it."""
    name = f"{front_end}-{lesson.stem[:2]}{lesson.stem[2:3].strip('_')}"
    wait_run(page, front_end, 1)
    page.wait_for_timeout(4000)
    shoot(page, folder / f"{name}-fresh.png", SCREEN)
    figures = page.evaluate(SHOWN)
    if front_end == "voila":
        page.emulate_media(color_scheme="dark")
    else:
        page.evaluate(THEME, "JupyterLab Dark")
    shoot(page, folder / f"{name}-dark.png", SCREEN)
    if front_end == "voila":
        page.emulate_media(color_scheme="light")
        shoot(page, folder / f"{name}-phone.png", PHONE)
    else:
        page.evaluate(THEME, "JupyterLab Light")
    shoot(page, folder / f"{name}-projector.png", PROJECTOR, whole=False)
    if front_end != "voila":
        page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")
        page.evaluate(harness.SHUT_DOWN)
        page.reload()
        page.wait_for_function(harness.ATTACHED, timeout=60_000)
        page.wait_for_timeout(2500)
        shoot(page, folder / f"{name}-nextday.png", SCREEN)
    return f"{figures} figures drawn, {panels_of(lesson)} stored pictures"


def exported(browser: Any, lessons: list[Path], folder: Path) -> None:
    """Write lessons as HTML, and take pictures of that."""
    with tempfile.TemporaryDirectory() as place:
        for lesson in lessons:
            command = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "html", str(lesson)]
            command += ["--output-dir", place, "--log-level", "ERROR"]
            subprocess.run(command, check=True)
            for scheme, size in (("light", SCREEN), ("dark", SCREEN), ("light", PHONE)):
                context = browser.new_context(color_scheme=scheme, device_scale_factor=0.5)
                page, asked = context.new_page(), []
                page.on("request", lambda one, asked=asked: asked.append(one.url))
                page.goto((Path(place) / f"{lesson.stem}.html").as_uri())
                kind = "phone" if size == PHONE else scheme
                shoot(page, folder / f"exported-{lesson.stem[:3].strip('_')}-{kind}.png", size)
                left = sorted({url for url in asked if not url.startswith(("file:", "data:"))})
                figures = page.locator("img[src^='data:image/svg'], svg").count()
                print(f"exported {lesson.stem} {kind}: {figures} pictures; asked elsewhere: {left}")
                context.close()


def main(arguments: list[str]) -> None:
    """Take the pictures that the command line names."""
    if reason := harness.missing():
        sys.exit(reason)
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    ends = [one for one in arguments if one in ("lab", "notebook", "voila", "exported")]
    names = [one for one in arguments[1:] if one not in ends]
    lessons = [one for one in LESSONS if not names or one.stem.split("_")[0] in names]
    with harness.chromium() as browser:
        for front_end in ends or ["lab", "notebook", "voila", "exported"]:
            if front_end == "exported":
                exported(browser, lessons, folder)
                continue
            with tempfile.TemporaryDirectory() as place, served(front_end, Path(place)) as address:
                for lesson in lessons:
                    context = browser.new_context(device_scale_factor=0.5)
                    page, complaints = context.new_page(), []
                    page.on("pageerror", lambda error, said=complaints: said.append(str(error)))
                    try:
                        page.goto(address(lesson), wait_until="domcontentloaded")
                        told = picture(page, front_end, lesson, folder)
                    except Exception as error:
                        told = f"FAILED: {str(error).splitlines()[0]}"
                        page.screenshot(path=folder / f"{front_end}-{lesson.stem[:3]}-failed.png")
                    print(f"{front_end} {lesson.stem}: {told} {complaints[:3] or ''}", flush=True)
                    context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
