"""``netcalc lab --app``: who leaves a page ends its kernel, whatever page came first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

LESSON = "voila/render/11_calculator.ipynb"
LOOKS, PAUSE_S = 300, 0.2
"""How often it is looked whether kernels have ended: a busy machine is no wrong answer."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path]]:
    """The lessons as pages, as a user starts them: address, token and home."""
    home = tmp_path_factory.mktemp("home")
    command = [sys.executable, "-m", "netcalc", "lab", "--app", "--no-browser", "--allow-root"]
    with (
        (home / "stderr.txt").open("w") as log,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ | {"HOME": str(home), "BROWSER": "false"},
            start_new_session=True,
        ) as process,
    ):
        try:
            said = ""
            for line in process.stdout:
                said += line
                if "Ctrl-C" in line:
                    break
            found = re.search(r"(http://\S+/)\?token=(\S+)", said)
            assert found, said + (home / "stderr.txt").read_text()
            yield found[1], found[2], home
        finally:
            process.terminate()


def kernels(home: Path) -> int:
    """Return how many kernels run with this home."""
    mine, count = f"HOME={home}\0".encode(), 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mine in (folder / "environ").read_bytes():
                count += "ipykernel" in (folder / "cmdline").read_text()
        except OSError:
            continue
    return count


def wait_for_kernels(home: Path, count: int) -> None:
    """Wait until so many kernels run."""
    for _ in range(LOOKS):
        if kernels(home) == count:
            return
        time.sleep(PAUSE_S)
    raise AssertionError(f"{kernels(home)} kernels run, and not {count}")


@pytest.mark.parametrize(
    ("first", "leave"),
    [("", "to the list"), (LESSON, "to the list"), (LESSON, "to a lesson"), (LESSON, "closed")],
)
def test_leaving_a_page_ends_its_kernel(browser, address, first, leave):
    base, token, home = address
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{base}{first}?token={token}")
        if not first:
            page.goto(base + LESSON)
        page.locator(".netcalc-figure").first.wait_for()
        wait_for_kernels(home, 1)
        if leave == "closed":
            page.close(run_before_unload=True)
        else:
            page.goto(base + (LESSON if leave == "to a lesson" else ""))
        if leave == "to a lesson":  # the new page has a kernel of its own, and ends it as well
            page.locator(".netcalc-figure").first.wait_for()
            wait_for_kernels(home, 1)
            page.goto(base)
        wait_for_kernels(home, 0)
