"""``netcalc site``: the lessons as pages that open from a disk or any web server."""

from __future__ import annotations

import signal
from importlib.util import find_spec
from pathlib import Path

from netcalc.cli import put
from netcalc.cli.lab import find_lessons
from netcalc.cli.mistakes import CommandError
from netcalc.cli.options import FolderName, command
from netcalc.cli.output import Progress
from netcalc.errors import MissingPackageError

_PACKAGES = ("bokeh", "ipywidgets", "nbconvert", "latex2mathml")


@command(names={"chosen": "--lesson"}, types={"folder": FolderName()})
def site(folder: Path, *, chosen: tuple[str, ...] = (), live: bool = False) -> None:
    """Write the lessons as pages into DIR.

    \b
    netcalc site lessons-as-pages

    The pages open from a disk or any web server, in any browser, without Python and without a
    network; their sliders work. DIR is a new or an empty folder, or one with an older site, which
    is replaced. Ctrl-C stops; what was in DIR before is then unchanged. It takes some minutes.

    Parameters
    ----------
    folder : DIR
        The folder of the pages.
    chosen : NUMBER
        Only this lesson, such as 03 or 02b.
    live : bool
        Run the experiments of the lessons on this machine first; takes minutes.
    """
    for package in _PACKAGES:
        if find_spec(package) is None:
            raise MissingPackageError(package, extra="lab", purpose="netcalc site")
    from netcalc.lessons.site.build import build  # late: it loads the front end's packages

    lessons = _chosen(sorted(find_lessons().glob("*.ipynb")), chosen)
    # Ended from elsewhere, it ends the lessons at work as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Progress("lessons") as progress:
        pages = build(folder, lessons=lessons, live=live, with_calculator=True, progress=progress)
    put(f"{len(pages)} pages are in {folder}\nOpen {pages[0]}")


def _chosen(lessons: list[Path], numbers: tuple[str, ...]) -> list[Path]:
    """Return the lessons with these numbers, in order; all if there is none."""
    by_number = {lesson.name.partition("_")[0]: lesson for lesson in lessons}
    chosen = {number.strip().lower().zfill(2) for number in numbers}
    if unknown := sorted(chosen - by_number.keys()):
        raise CommandError("lesson-unknown", number=unknown[0], known=list(by_number))
    return [lesson for number, lesson in by_number.items() if not chosen or number in chosen]
