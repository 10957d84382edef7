"""A class that opens lesson 01 at once, and the same number of plain kernels that run its cells.

    python tests/benchmarks/classroom.py [STUDENTS] [ROUNDS]

One after the other, in pairs: as many plain kernels as Jupyter starts, each with all the cells of
the lesson; then as many students of ``netcalc classroom``, by what their browsers send: the code,
the page of the lesson, the web socket, the state of all widgets. Prints the time until the last one
has all, and the memory of each kernel (PSS) with its share of what all have in common, and that of
the servers. Prints figures; asserts nothing but that every cell ran.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil
from jupyter_client.manager import AsyncKernelManager

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
os.environ["PYTHONPATH"] = str(ROOT)
sys.path[:0] = [str(HERE.parent / "classroom"), str(ROOT)]

from running import RunningClass  # noqa: E402
from students import Student  # noqa: E402

LESSON = ROOT / "notebooks" / "01_latency_and_bandwidth.ipynb"


def memory_bytes(pids: list[int]) -> list[int]:
    """Return the PSS of processes."""
    return [psutil.Process(pid).memory_full_info().pss for pid in pids]


async def plain(count: int) -> tuple[float, list[int]]:
    """Run the cells of the lesson in kernels of their own, all at once."""
    notebook = json.loads(LESSON.read_text())
    cells = ["".join(one["source"]) for one in notebook["cells"] if one["cell_type"] == "code"]
    folder = tempfile.TemporaryDirectory(prefix="plain-")
    # Not TCP: among many that start at once, one may take a port that another was to have.
    managers = [
        AsyncKernelManager(transport="ipc", ip=f"{folder.name}/{number}") for number in range(count)
    ]

    async def one(manager: AsyncKernelManager) -> None:
        await manager.start_kernel(cwd=str(LESSON.parent))
        client = manager.client()
        client.start_channels()
        await client.wait_for_ready(timeout=300)
        for cell in cells:
            reply = await client.execute(cell, reply=True, timeout=300)
            assert reply["content"]["status"] == "ok", reply["content"]
        client.stop_channels()

    begin_s = time.monotonic()
    try:
        await asyncio.gather(*map(one, managers))
        took_s = time.monotonic() - begin_s
        return took_s, memory_bytes([manager.provisioner.pid for manager in managers])
    finally:
        await asyncio.gather(*(one.shutdown_kernel(now=True) for one in managers))
        folder.cleanup()


async def students(base: str, code: str, count: int) -> tuple[float, list[Student]]:
    """Let students enter, and open the lesson, all at once."""
    many = [Student(base) for _ in range(count)]

    async def one(student: Student, number: int) -> None:
        answer = await student.enter(code, f"Student {number}")
        assert answer.code == 302, answer.code
        await student.open(LESSON.name)
        assert student.kernel_id, student.page[-1000:]
        await student.connect()
        assert len(await student.widgets()) > 10

    begin_s = time.monotonic()
    await asyncio.gather(*(one(student, i) for i, student in enumerate(many)))
    return time.monotonic() - begin_s, many


async def classroom(count: int) -> tuple[float, list[int], int]:
    """Run a class; return its time, the memory of its kernels, and that of its servers."""
    with tempfile.TemporaryDirectory() as folder:
        begin_s = time.monotonic()
        running = RunningClass(Path(folder), "--students", str(count))
        ready_s = time.monotonic() - begin_s
        try:
            took_s, many = await students(running.base, running.code, count)
            tree = psutil.Process(running.process.pid).children(recursive=True)
            depth = {one.pid: len(one.parents()) for one in tree}  # server, parent, kernels
            kernels = [pid for pid, steps in depth.items() if steps == max(depth.values())]
            found = memory_bytes(kernels)
            rest = sum(memory_bytes([one.pid for one in tree if one.pid not in kernels]))
            print(f"  class ready after {ready_s:.1f} s")
            for student in many:
                student.leave()
        finally:
            running.stop()
        return took_s, found, rest


def main(count: int, rounds: int) -> None:
    ratios = []
    for _ in range(rounds):
        load = os.getloadavg()[0]
        plain_s, plain_bytes = asyncio.run(plain(count))
        class_s, class_bytes, rest_bytes = asyncio.run(classroom(count))
        ratios.append(class_s / plain_s)
        print(
            f"{count} plain kernels {plain_s:.1f} s, {statistics.mean(plain_bytes) / 1e6:.0f} MB "
            f"each; classroom {class_s:.1f} s, {statistics.mean(class_bytes) / 1e6:.0f} MB each "
            f"({len(class_bytes)} kernels), servers {rest_bytes / 1e6:.0f} MB; "
            f"ratio {ratios[-1]:.2f}; load before {load:.1f}",
            flush=True,
        )
    print(f"ratio of times: median {statistics.median(ratios):.2f} of {rounds}")


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]] + [30, 3][len(sys.argv) - 1 :]
    main(*numbers)
