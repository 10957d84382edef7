"""The ``netcalc`` command: the same models, readers and experiments from a terminal.

Exit codes: 0 done; 1 some of several inputs failed; 2 the user's mistake; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import gc
import os
import re
import select
import signal
import sys
import textwrap
import threading
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import click

from netcalc.cli import mistakes
from netcalc.errors import DoubtWarning, NetcalcError, doubts
from netcalc.printable import json_text, printable_lines
from netcalc.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


SILENT_S = 1.0
"""How long an input may say nothing until the command says that it waits. [s]"""
_closed: set[str] = set()


def open_closed() -> None:
    """Give a standard stream that is closed to the null device; output then is an error."""
    _closed.clear()
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            _closed.add(name)
            if name == "stdout":  # not open for writing: what is written is refused, not lost
                stream = os.fdopen(os.open(os.devnull, os.O_RDONLY), mode)
            else:
                stream = open(os.devnull, mode)  # noqa: PTH123, SIM115 - to the end
            setattr(sys, name, stream)


def output_is_closed() -> bool:
    """Whether the command was started without a standard output."""
    return "stdout" in _closed


def drop_output() -> None:
    """Give what is left of the output to the null device: Python would fail on it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def standard_input() -> BinaryIO:
    """Return the standard input; say on standard error that the command waits for it.

    Raises
    ------
    CommandError
        If it is closed.
    """
    from netcalc.messages import Notice

    if "stdin" in _closed:
        raise mistakes.CommandError("input-closed")
    if sys.stdin.isatty():
        complain(str(Notice("waiting-for-text")))
    elif _is_silent():
        complain(str(Notice("waiting-for-input")))
    return sys.stdin.buffer


def _is_silent() -> bool:
    """Whether nothing came within a moment; False where the system cannot say."""
    with contextlib.suppress(OSError, ValueError):  # no descriptor; on Windows, no socket
        return not select.select([sys.stdin.fileno()], [], [], SILENT_S)[0]
    return False


COMMANDS = {
    "ask": "Answer a question in a sentence; the word ask may be left out.",
    "billing": "Compute the rate that a provider bills by the 95th percentile.",
    "book": "Recompute the numbers printed in five sources.",
    "calc": "Evaluate a formula; quantities carry their units.",
    "class": "Make exercises for a class, and collect the marks.",
    "classroom": "Serve the lessons to a class from this machine.",
    "congestion": "Compute how flows share a bottleneck: goodput, queue, drops.",
    "convert": "Convert a quantity into another unit.",
    "data": "List, describe and print the bundled measurements.",
    "doctor": "Report what this machine can measure and emulate, and how accurately.",
    "exercise": "Ask exercises, check answers and name the mistake.",
    "explain": "Explain what limits a path, with the arithmetic.",
    "export": "Write the raw samples of a file as CSV, JSON or Parquet.",
    "lab": "Open the lessons in the browser.",
    "mixes": "Find link combinations that explain a round-trip time.",
    "peer": "Serve the live runs of another machine, which has the token.",
    "plan": "Plan capacity: transfers, links, voice, tunnels, buffers, backups, networks.",
    "read": "Read measurements: ping output, columns, saved runs.",
    "run": "Run a live experiment on this machine, or to a peer.",
    "site": "Write the lessons as pages that need no Python and no network.",
    "validate": (
        "Run every experiment on emulated links with known parameters and compare with theory."
    ),
}
"""Each command, and its line in the help."""
_MODULES = {
    "billing": "export",
    "class": "classes",
    "classroom": "classroom.command",
    "exercise": "classes",
    "site": "lab",
}
"""Modules of commands that are not in a module of their name."""
INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended, as that of a shell."""
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
"""Variable of the environment for the threads of the library behind numpy and scipy."""
NUMPY_BYTES = 144_000_000
"""Memory for a command that needs numpy alone: ``calc`` addresses 113 MB, ``book`` 129. [byte]"""
MEMORY_BYTES = 280_000_000
"""Memory for one that needs scipy too, with one thread: ``read`` addresses
206 MB, ``run transactions`` 256 MB; ``--plot`` addresses more, and where a library in C finds none
it ends the program with its own words (seen at 268 MB, not at 276). [byte]"""
_WITH_SCIPY = frozenset({"classroom", "lab", "read", "run", "site", "validate"})
_added: set[str] = set()  # variables of the environment that this command has set for itself
_ALIASES = {"truth": "validate"}
"""Names that commands had before; they work, and are not in the help."""


class _ReaderGone(Exception):  # noqa: N818 - no error
    """Nobody reads our output any more; a BrokenPipeError would have click end with code 1."""


@contextlib.contextmanager
def _broken_pipe_is_no_error() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGone from error


class LazyGroup(mistakes.Group):
    """Commands that are imported when they are used, so that each of them starts fast."""

    lines: Mapping[str, str] = {}
    """Each command, and its line in the help."""

    def place(self, name: str) -> str:
        """Return the module of a command and its name there, with a colon between them."""
        raise NotImplementedError

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None if there is none of that name."""
        if cmd_name not in self.lines:
            return None
        module, name = self.place(cmd_name).split(":")
        with ending_quietly():
            command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines.items()))


class _Commands(LazyGroup):
    """The commands of netcalc, and its formulas."""

    lines = COMMANDS

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        with _broken_pipe_is_no_error():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _broken_pipe_is_no_error():
            return super().invoke(ctx)

    def place(self, name: str) -> str:
        return f"netcalc.cli.{_MODULES.get(name, name)}:{'classes' if name == 'class' else name}"

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = _ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return self._formula(name)
        require_memory(name)
        return super().get_command(ctx, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; a sentence is a question."""
        if args[0] not in COMMANDS and args[0] not in _ALIASES and len(" ".join(args)) > 3:
            require_memory("ask")
            with ending_quietly():
                from netcalc.cli.ask import ask, is_sentence  # late: most lines name a command
            if is_sentence(args, list(COMMANDS)):
                return "ask", ask, args
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer commands, and with some letters of a name formulas, too."""
        completions = super().shell_complete(ctx, incomplete)
        if incomplete and incomplete[0] != "-":
            from click.shell_completion import CompletionItem

            from netcalc import calculator  # late: most lines name a command

            formula_commands = map(calculator.command, calculator.formulas().values())
            completions += [
                CompletionItem(name) for name in formula_commands if name.startswith(incomplete)
            ]
        return completions

    def nearest(self, ctx: click.Context, name: str) -> list[str]:
        """Return the commands that an unknown name may mean, then formulas."""
        near = super().nearest(ctx, name)
        if near:
            return near
        from netcalc import calculator  # late: most names are of commands

        try:
            calculator.formula(name)
        except NetcalcError as error:
            return [f"calc {suggestion}" for suggestion in error.values.get("suggestions", ())]
        return []

    def _formula(self, name: str) -> click.Command | None:
        """Return the command of a formula, whose ``calc`` may be left out."""
        require_memory("calc")
        with ending_quietly():
            from netcalc.cli.calc import formula_command  # late: most names are of commands

            return formula_command(name)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="netcalc")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Network performance calculator: theory drawn on measured points.

    A question may be a sentence. The word calc may be left out; calc --search finds a formula by
    everyday words.

    \b
    netcalc "4 TB over 10G at 80 ms rtt with a 64 KiB window"
    netcalc calc transfer 1MB --bandwidth T1 --latency 30ms
    netcalc calc --search "largest window"
    netcalc read ping.txt --plot ping.html
    netcalc run echo
    netcalc lab
    """
    show_help_alone(ctx)


def show_help_alone(ctx: click.Context) -> None:
    """Print the help of a group that was called without a command."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; never ends in a traceback for a user's mistake."""
    open_closed()
    # The matrices of a command are small. Each thread of BLAS takes memory, and where there can be
    # none, OpenBLAS interrupts the program as Ctrl-C does.
    if BLAS_THREADS not in os.environ:
        os.environ[BLAS_THREADS] = "1"
        _added.add(BLAS_THREADS)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="netcalc")
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    if as_json:
        import json  # noqa: F401 - loaded now, as an error may be that there is no memory
    try:
        with doubts() as doubtful:
            code = commands.main(arguments, prog_name="netcalc", standalone_mode=False)
        for said in dict.fromkeys(f"note: {_words(doubt)}." for doubt in doubtful):
            complain(said)
        sys.stdout.flush()
    except click.ClickException as error:
        code = _refuse(mistakes.command_error(error), as_json)
    except NetcalcError as error:
        code = _refuse(mistakes.for_command_line(error), as_json)
    except (click.Abort, KeyboardInterrupt):
        complain("stopped")
        code = INTERRUPTED
    except (_ReaderGone, BrokenPipeError):
        # The reader of our output has gone (netcalc ... | head): no more can be written.
        drop_output()
        code = 0
    except (MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and memory_limit_bytes() is None:
            raise
        lack = NetcalcError("no-memory", limit_bytes=memory_limit_bytes())
        code = _refuse(lack, as_json)
    except OSError as error:
        code = _refuse(_refused_by_system(error), as_json)
    except Exception as error:
        if not _is_of_interrupt(error):
            raise
        complain("stopped")
        code = INTERRUPTED
    if output_is_closed():
        drop_output()
    if arguments is None:  # done: one more Ctrl-C would only interrupt Python's own ending,
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.freeze()  # which need not search for garbage in what is left
    sys.exit(code if isinstance(code, int) else 0)


def _is_of_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is the cause of an error: numpy raises a TypeError of its own for one."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__
    return any(isinstance(each, KeyboardInterrupt) for each in causes)


def _refused_by_system(error: OSError) -> NetcalcError:
    """Return what the system refused; what is left of an output that it refuses is dropped."""
    if output_is_closed() and error.errno == errno.EBADF:
        return mistakes.CommandError("output-closed")
    if _is_of_output(error):
        drop_output()
        return mistakes.CommandError("output-refused", reason=error.strerror, errno=error.errno)
    return mistakes.system_error(error)


def _words(doubt: DoubtWarning) -> str:
    from netcalc.calculator import doubt_notice  # late: most answers are not doubtful

    return str(doubt_notice(doubt))


def _is_of_output(error: OSError) -> bool:
    """Whether an error is that of printing on standard output, and of no file or socket."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None or error.filename is not None:
        return False
    frame = at.tb_frame
    return frame.f_code is main.__code__ or (
        frame.f_code is click.echo.__code__ and not frame.f_locals.get("err")
    )


def user_environment() -> dict[str, str]:
    """Return the environment as the user has it: for programs that are not this command."""
    return {name: value for name, value in os.environ.items() if name not in _added}


def memory_limit_bytes() -> int | None:
    """Return how much memory this process may address (ulimit -v); None without a limit. [byte]"""
    try:
        import resource
    except ImportError:  # no such system
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def require_memory(command: str) -> None:
    """Refuse a command under too small a limit: OpenBLAS would end the program, or never return.

    Where numpy has room and scipy has none, a command that needs scipy for some of what it does is
    refused when it loads that.

    Raises
    ------
    NetcalcError
        If this process may address less than the command needs.
    """
    limit_bytes = memory_limit_bytes()
    if limit_bytes is None or limit_bytes >= MEMORY_BYTES:
        return
    if command in _WITH_SCIPY or limit_bytes < NUMPY_BYTES:
        needed_bytes = MEMORY_BYTES if command in _WITH_SCIPY else NUMPY_BYTES
        raise NetcalcError("memory-limit", limit_bytes=limit_bytes, needed_bytes=needed_bytes)
    sys.meta_path.insert(0, _NoRoomForScipy(limit_bytes))


class _NoRoomForScipy:
    """A finder of modules that refuses to load scipy under a limit of memory.

    It is none of ``importlib.abc``, which loads 20 modules in every command.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name == "scipy":
            raise NetcalcError(
                "memory-limit", limit_bytes=self._limit_bytes, needed_bytes=MEMORY_BYTES
            )


@contextlib.contextmanager
def ending_quietly() -> Iterator[None]:
    """Let Ctrl-C end the program at once: half-loaded modules raise errors of their own.

    Modules that load leave no garbage, so none is searched for.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or (
        threading.current_thread() is not threading.main_thread()
    ):
        yield
        return
    searches = gc.isenabled()
    gc.disable()
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if searches:
            gc.enable()


def print_json(document: Any) -> None:
    """Print one JSON document on one line; nan is null, and no file name is changed."""
    from netcalc.samples import json_ready

    _put_json(json_ready(document))


def _put_json(document: Any) -> None:
    """Print a document that is ready for JSON."""
    import json  # late: most answers are text

    utf8 = codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
    text = json_text(json.dumps(document, ensure_ascii=not utf8))
    click.echo(text.encode("utf-8", "backslashreplace"))


def put(text: str = "", *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """Print text, whatever file it comes from: a terminal obeys nothing in it."""
    text = printable_lines(text)
    click.echo(click.style(text, **style) if style else text, nl=nl, err=err)


def say(text: str) -> None:
    """Print prose; on a terminal its lines end between words."""
    put(wrapped(text, _terminal_width(sys.stdout)))


def complain(text: str) -> None:
    """Print a sentence on standard error; if that is full or closed, the work goes on."""
    with contextlib.suppress(OSError):
        put(wrapped(f"netcalc: {text}", _terminal_width(sys.stderr)), err=True)


def _terminal_width(stream: TextIO) -> int:
    """Return how many characters a line of a terminal has; 0 where the text goes elsewhere."""
    if not stream.isatty():
        return 0
    import shutil  # late: it loads all formats of archives

    return shutil.get_terminal_size().columns


def wrapped(text: str, width: int) -> str:
    """Break lines longer than ``width`` between words; 0 breaks none.

    Continued lines are indented by two characters, or to the second column of a list.

    Examples
    --------
    >>> print(wrapped("  one two three", 9))
      one two
        three
    """
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if 0 < width < len(line):
            name = re.match(r" *(?:[\w-]+ {2,})?", line)
            indent = name.end() if name and line[: name.end()].strip() else 0
            spaces = len(line) - len(line.lstrip())
            indent = indent if indent < width / 2 else 0
            lines[index] = textwrap.fill(
                line,
                width,
                subsequent_indent=" " * (indent or spaces + 2),
                break_long_words=False,
                break_on_hyphens=False,
            )
    return "\n".join(lines)


def _refuse(error: NetcalcError, as_json: bool) -> int:
    """Print an error, with ``--json`` also as an object; return the exit code."""
    if as_json:
        with contextlib.suppress(OSError):
            _put_json({"error": error.as_dict()})
    complain(str(error))
    return 2


def _plain_characters(error: UnicodeError) -> tuple[str, int]:
    """Encode what a terminal cannot show: the micro sign as u, the rest as a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = {"µ": "u", "±": "+-", "×": "x", "–": "-", "’": "'"}
    text = error.object[error.start : error.end]
    return "".join(plain.get(character, "?") for character in text), error.end


codecs.register_error("netcalc", _plain_characters)
