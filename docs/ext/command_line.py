"""The page of the command line: each command with its help as printed, and examples."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from console import answer

from netcalc.cli import commands

DATA = Path(__file__).parents[2] / "data"
FILES = ("ping_emulated_t1.txt", "puzzles/line.json", "puzzles/window.pcap.gz")
"""What the examples read."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "book": ("netcalc book --source nagle --verdict disagree",),
    "calc": ("netcalc calc transfer 1MB --bandwidth T1 --latency 30ms --explain",),
    "class collect": (
        "netcalc class sheet monday --roster class.csv --lessons 01",
        "netcalc class collect monday",
    ),
    "class sheet": ("netcalc class sheet friday --roster class.csv --lessons 01,02",),
    "congestion": ("netcalc congestion --list",),
    "convert": ("netcalc convert 12 MB/s Mbit/s",),
    "data": ("netcalc data wan_curves",),
    "exercise": (
        "netcalc exercise TR1 --student s1",
        'netcalc exercise TR1 --student s1 --answer TR1="0.34 s"',
        'netcalc exercise TR1 --student s1 --answer TR1="1.39 s"',
    ),
    "explain": ('netcalc explain "1 Gbit/s 40 ms" --window 64KiB',),
    "export": ("netcalc export line.json --to csv --output line.csv",),
    "mixes": ('netcalc mixes 187ms --kind T1 --kind "10 Mbit/s" --kind T3',),
    "plan backup": ('netcalc plan backup 50TB --change 3% --in 8h --path "1 Gbit/s 20 ms"',),
    "plan buffer": ("netcalc plan buffer 10Gbit/s --rtt 250ms --flows 50000",),
    "plan buy": ("netcalc plan buy 1GB --rate 1Gbit/s --rtt 40ms --window 64KiB",),
    "plan link": (
        "netcalc plan link 500 --each 5Mbit/s --active 10% --growth 25% --from 2026-01-31",
    ),
    "plan network": ("netcalc plan network links.csv demands.csv --from 2026-01-31",),
    "plan transfer": ('netcalc plan transfer 10GB --path "1 Gbit/s 20 ms" --window 1MiB',),
    "plan tunnel": ("netcalc plan tunnel vxlan4+wireguard4",),
    "plan voice": ('netcalc plan voice "1200 calls/h" --codec G.729 --tunnel wireguard4',),
    "read": ("netcalc read line.json",),
    "billing": ("netcalc billing november.csv",),
}
"""Lines that are run when the page is written: they give the same everywhere."""
SHOWN_ELSEWHERE = {
    "doctor": "{doc}`howto/measure_my_machine` has its output on one machine.",
    "lab": "{doc}`getting_started` goes through it.",
    "peer": "{doc}`peer` has a session.",
    "run": "What a run prints is different on every machine; {doc}`howto/measure_my_machine` "
    "has whole ones.",
    "run router-queue": "{doc}`howto/queue_of_a_router` has a run with its output.",
    "run echo": "{doc}`howto/measure_my_machine` has a run with its output.",
    "site": "{doc}`howto/static_pages` has the output.",
    "validate": "{doc}`truth` has a whole table.",
}
"""Commands that take minutes or answer differently on every machine, and the page that has them."""


def _write_inputs() -> None:
    for name in FILES:
        shutil.copy(DATA / name, Path(name).name)
    Path("class.csv").write_text("name,id\nAda,s1\nBen,s2\n", encoding="utf-8")
    Path("links.csv").write_text(
        "from,to,rate,latency\nvienna,graz,10 Gbit/s,1.2 ms\ngraz,linz,1 Gbit/s,2 ms\n"
        "vienna,linz,10 Gbit/s,1.1 ms\n",
        encoding="utf-8",
    )
    Path("demands.csv").write_text(
        "from,to,rate,growth\nvienna,linz,800 Mbit/s,30 %\ngraz,linz,250 Mbit/s,20 %\n",
        encoding="utf-8",
    )
    rows = (f"{5 * n // 60:02}:{5 * n % 60:02},{40 + n % 7},{12 + n % 5}" for n in range(100))
    Path("november.csv").write_text("time,in_Mbps,out_Mbps\n" + "\n".join(rows), encoding="utf-8")


def _below(command: click.Command, context: click.Context, path: str) -> Iterator[str]:
    yield path
    if isinstance(command, click.Group) and path != "calc":  # one formula a command: the reference
        for name in command.list_commands(context):
            known = command.get_command(context, name)
            assert known is not None
            yield from _below(known, context, f"{path} {name}".strip())


def paths() -> list[str]:
    """Return each command and subcommand by the words after ``netcalc``, that without any first."""
    return list(_below(commands, click.Context(commands, info_name="netcalc"), ""))


def _run(line: str) -> str:
    said = answer(line)
    if said.startswith("netcalc: ") and not said.startswith("netcalc: note"):
        raise ValueError(f"an example is refused: {line}\n{said}")
    return f"$ {line}\n{said}"


def _block(text: str) -> str:
    return f"```console\n{text}\n```\n"


def text() -> str:
    """Return the sections of the page, one for each command."""
    parts = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _write_inputs()
        for path in paths():
            typed = f"netcalc {path}".strip()
            level = "##" if path.count(" ") == 0 else "###"
            parts += [f"{level} `{typed}`", "", _block(_run(f"{typed} --help"))]
            lines = EXAMPLES.get(path, ())
            if lines:
                parts += ["An example:" if len(lines) == 1 else "Examples:", ""]
                parts.append(_block("\n".join(map(_run, lines))))
            if path in SHOWN_ELSEWHERE:
                parts += [SHOWN_ELSEWHERE[path], ""]
    return "\n".join(parts)
