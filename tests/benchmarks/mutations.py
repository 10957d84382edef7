"""Small faults put into the code on purpose: which of them do the tests notice?

Run as ``python tests/benchmarks/mutations.py [room ...] [--seed 1] [--count 60] [--jobs 2]``;
``--count 0`` tries every mutant, ``--list`` names the rooms. A mutant is one changed operator,
comparison, constant, condition, order of arguments, statement or returned value. It is compiled in
memory in a forked copy of this process, where the tests of its room are run until the first
failure; no file changes. A mutant that the tests do not notice has survived, unless
``equivalent_mutants.toml`` says why no test can notice it. A test that runs for far longer than
without a fault counts as a failure.

A room whose tests fail without a fault is reported and left out.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import faulthandler
import importlib
import importlib.abc
import importlib.util
import os
import random
import resource
import signal
import sys
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
MEMORY_BYTES = 6 * 2**30
"""A mutant may try to allocate without end."""


@dataclass(frozen=True)
class Room:
    """Source files, and the tests that judge them, the quickest first; patterns of files."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    but: str = ""
    """Words in the names of tests that are left out: slow ones, or ones of another room."""


def _models(names: str) -> tuple[str, ...]:
    return tuple(f"tests/models/test_{name}.py" for name in names.split())


ROOMS = {
    "fit": Room(
        ("netcalc/fit/*.py",),
        ("tests/fit/test_*.py", "tests/test_fit*.py", "tests/test_frame_rates.py"),
    ),
    "solver": Room(
        ("netcalc/solver.py",), ("tests/test_solver_numbers.py", "tests/test_solver.py"),
        but="sweep or terminal",
    ),
    "uncertain": Room(
        ("netcalc/uncertain/*.py", "netcalc/readers/columns.py"),
        ("tests/uncertain/test_*.py",), but="interrupted",
    ),
    "plans": Room(("netcalc/planning/*.py",), ("tests/planning/test_*.py",), but="drawn"),
    "planned_networks": Room(
        ("netcalc/planning/network/*.py", "netcalc/models/sizes/headers.py"),
        ("tests/planning/network/test_*.py",), but="figure",
    ),
    "compare": Room(
        ("netcalc/compare/*.py",),
        ("tests/compare/test_*.py", "tests/test_compare*.py", "tests/test_frame_rates.py",
         "tests/test_fit_probes.py"),
        but="95_of_100 or as_often_as or honest or saved",
    ),
    "explain": Room(
        ("netcalc/explain/*.py", "netcalc/explain/causes/*.py"),
        ("tests/explain/test_limit_numbers.py", "tests/test_explain_numbers.py",
         "tests/test_explain*.py", "tests/explain/test_*.py"),
        but="terminal",
    ),
    "units": Room(("netcalc/units.py",), ("tests/test_units*.py",)),
    "documents": Room(("netcalc/documents.py",), ("tests/test_documents.py",)),
    "scenario": Room(("netcalc/scenario/*.py",), ("tests/scenario/test_*.py",)),
    "congestion": Room(  # but what runs live, and ns-3
        ("netcalc/congestion/[!_ln]*.py", "netcalc/congestion/_[!n]*.py",
         "netcalc/workers.py"),
        ("tests/congestion/test_[!l]*.py",),
    ),
    "language": Room(("netcalc/language/*.py",), ("tests/widgets/test_languages.py",)),
    "equations": Room(("netcalc/equations.py",), ("tests/test_equations.py",)),
    "ping": Room(
        ("netcalc/readers/pings/ping*.py",),
        ("tests/readers/test_read_ping_numbers.py", "tests/readers/test_read_ping*.py",
         "tests/readers/test_read_converted.py"),
        but="cut_anywhere or fuzz",
    ),
    "columns": Room(
        tuple(f"netcalc/readers/{name}.py"
              for name in ("columns", "source", "cells", "quantities", "frames", "ranges")),
        ("tests/readers/test_read_columns_numbers.py", "tests/readers/test_read_frames.py",
         "tests/readers/test_read_cells.py",
         "tests/readers/test_headers.py", "tests/readers/test_read_columns.py",
         "tests/readers/test_read_sources.py", "tests/readers/test_faults_of_files.py",
         "tests/readers/test_read_tcp_info.py", "tests/readers/test_read_documents.py",
         "tests/numbers/test_billing.py"),
    ),
    "bounds": Room(("netcalc/models/bounds.py",), ("tests/numbers/test_physical_limits.py",)),
    "chapters": Room(("netcalc/models/chapters.py",), ("tests/house/test_import.py",)),
    "formats": Room(
        tuple(f"netcalc/readers/{name}.py"
              for name in ("__init__", "document", "format", "formats", "pastes", "places")),
        ("tests/readers/test_pastes.py",
         "tests/readers/test_read_tcp_info.py", "tests/readers/test_read_documents.py",
         "tests/readers/test_headers.py",
         "tests/house/test_formats.py", "tests/readers/test_read_sources.py",
         "tests/readers/test_other_pings.py", "tests/readers/test_places.py",
         "tests/readers/test_layers_of_tools.py"),
    ),
    "exports": Room(
        ("netcalc/readers/saved.py",
         "netcalc/readers/captures/anonymous.py", "netcalc/cli/export.py"),
        ("tests/readers/test_exported.py", "tests/test_faults_of_saved_samples.py",
         "tests/readers/test_read_parquet.py", "tests/cli/test_read_captures.py",
         "tests/cli/test_ranges.py", "tests/cli/test_places_printed.py",
         "tests/cli/test_commands.py"),
    ),
    "captures": Room(
        ("netcalc/readers/captures/*.py", "netcalc/readers/captures/lists/*.py"),
        ("tests/readers/captures/test_packet_list_numbers.py",
         "tests/readers/captures/test_*.py", "tests/readers/test_exported.py",
         "tests/readers/test_facts.py"),
        but="mutants or parquet",
    ),
    "counters": Room(
        ("netcalc/readers/counters/*.py",),
        ("tests/readers/test_read_counter_numbers.py", "tests/readers/test_read_counters.py",
         "tests/readers/test_read_ss.py", "tests/readers/test_read_socket_lists.py",
         "tests/readers/test_read_tcp_info.py", "tests/readers/test_read_converted.py",
         "tests/readers/test_facts.py"),
    ),
    "paths": Room(
        ("netcalc/readers/paths/*.py",),
        ("tests/readers/test_read_path_numbers.py", "tests/readers/test_hops.py",
         "tests/readers/test_read_mtr.py",
         "tests/readers/test_read_trace*.py", "tests/readers/test_read_pathping.py",
         "tests/readers/test_read_dublin.py", "tests/readers/test_read_converted.py",
         "tests/readers/test_read_irtt_sockperf_atlas.py", "tests/readers/test_facts.py"),
    ),
    "pings": Room(
        ("netcalc/readers/lines.py", "netcalc/readers/pings/[!p]*.py",
         "netcalc/readers/pings/ping_json.py"),
        ("tests/readers/test_read_other_ping_numbers.py", "tests/readers/test_read_fping.py",
         "tests/readers/test_other_pings.py", "tests/readers/test_read_other_pings.py",
         "tests/readers/test_read_router_pings.py", "tests/readers/test_read_twping.py",
         "tests/readers/test_read_converted.py", "tests/readers/test_read_monitors.py",
         "tests/readers/test_read_ping_parts.py",
         "tests/readers/test_read_irtt_sockperf_atlas.py", "tests/readers/test_facts.py"),
    ),
    "transfers": Room(
        ("netcalc/readers/transfers/*.py",),
        ("tests/readers/test_read_transfer_details.py", "tests/readers/test_read_transfer_runs.py",
         "tests/readers/test_read_transfer_numbers.py", "tests/readers/test_read_flow_numbers.py",
         "tests/readers/test_read_lines.py", "tests/readers/test_read_collectives.py",
         "tests/readers/test_read_flent.py",
         "tests/readers/test_read_iperf.py", "tests/readers/test_read_net*.py",
         "tests/readers/test_read_other_transfers.py",
         "tests/readers/test_read_models.py", "tests/readers/test_facts.py"),
    ),
    "layers": Room(
        ("netcalc/models/sizes/layers.py",),
        ("tests/models/test_layers.py", "tests/models/test_encapsulation.py",
         "tests/models/test_goodput.py"),
    ),
    "sizes": Room(
        tuple(f"netcalc/models/sizes/{name}.py"
              for name in ("__init__", "encapsulation", "fragmentation", "framing", "serial_lines",
                           "vpn", "headers")),
        _models("defaults encapsulation fragmentation framing serial_lines atm esp wireguard "
                "goodput datagram_loss faults_of_numbers limits_of_arguments"),
    ),
    "rates": Room(
        ("netcalc/models/rates/*.py",),
        ("tests/models/devices/test_hashing.py", *_models(
            "defaults line_rate goodput voice forwarding packet_rates faults_of_numbers "
            "limits_of_arguments")),
    ),
    "delays": Room(
        ("netcalc/models/delays/*.py",),
        ("tests/models/links/test_distribution.py", "tests/models/links/test_courier.py", *_models(
            "defaults latency store_and_forward asymmetry path_mixes exchange "
            "faults_of_numbers limits_of_arguments")),
    ),
    "collectives": Room(
        ("netcalc/models/collectives/*.py",),
        (*_models("defaults collectives limits_of_arguments"),),
    ),
    "hosts": Room(
        ("netcalc/models/hosts/*.py",),
        ("tests/models/devices/test_cores.py", "tests/models/devices/test_pcie.py", *_models(
            "defaults delayed_ack small_writes write_timeline host_stack mbufs blocks "
            "limits_of_arguments")),
    ),
    "tcp": Room(
        ("netcalc/models/tcp/*.py",),
        ("tests/models/tcp", "tests/models/links/test_page_load.py",
         *_models("defaults numbers_of_tcp window slow_start handshakes datagram_loss "
                  "loss_limited timers rfc6349 sharing fairness cardwell short_transfers pftk "
                  "cubic numbers_of_loss_and_queues faults_of_numbers limits_of_arguments")),
    ),
    "queues": Room(
        ("netcalc/models/queues/*.py",),
        ("tests/models/queues", "tests/models/devices/test_shared_buffer.py",
         "tests/models/links/test_networks.py",
         *_models("defaults load backlog token_bucket erlang queueing md1 finite_queues "
                  "numbers_of_loss_and_queues faults_of_numbers limits_of_arguments")),
    ),
    "links": Room(
        ("netcalc/models/links/*.py",),
        ("tests/models/links/test_arq.py", "tests/models/links/test_random_access.py",
         "tests/models/links/test_channel.py", *_models("defaults")),
    ),
    "media": Room(
        ("netcalc/models/media/*.py",), ("tests/models/media/*.py", *_models("defaults")),
    ),
    "users": Room(
        ("netcalc/models/users/*.py",),
        ("tests/models/users", *_models("grid defaults")),
    ),
    "measuring": Room(
        ("netcalc/models/measuring/*.py",),
        ("tests/numbers/test_billing.py",
         *_models("defaults numbers_of_measuring robust delay_variation probing "
                  "numbers_of_loss_and_queues limits_of_arguments")),
    ),
    "checks": Room(
        ("netcalc/checks/*.py", "netcalc/models/*.py"),
        ("tests/test_checks.py", "tests/numbers/test_units_of_arguments.py",
         "tests/numbers/test_labels.py", "tests/numbers/test_single_numbers.py",
         *_models("domain odd_arguments blocks")),
    ),
    "messages": Room(
        ("netcalc/messages/*.py", "netcalc/errors.py"),
        ("tests/test_errors.py", "tests/test_sentences.py", "tests/house/test_messages.py"),
    ),
    "display": Room(
        ("netcalc/display.py", "netcalc/printable.py", "netcalc/rate_layers.py"),
        (
            "tests/test_display.py",
            "tests/test_printable.py",
            "tests/test_errors.py",
            "tests/house/test_rate_layers.py",
        ),
        but="cli or widget or upload",
    ),
    "path": Room(("netcalc/path.py",), ("tests/test_path.py", *_models("path_mixes exchange"))),
    "calculator": Room(
        ("netcalc/calculator/*.py",), (
            "tests/test_calculator_numbers.py",
            "tests/test_calculator.py",
            "tests/test_calculator_layers.py",
            "tests/calculator/test_asking.py",
            "tests/plots/test_formula_curves.py",
            "tests/reference/test_searches.py",
            "tests/test_solver.py",
        ),
        but="terminal",
    ),
    "datasets": Room(("netcalc/datasets.py",), ("tests/test_datasets.py",)),
    "samples": Room(
        ("netcalc/samples/*.py",),
        ("tests/test_sample_numbers.py", "tests/test_samples.py",
         "tests/test_saved_samples_nested.py", "tests/readers/captures/test_packet_trace.py",
         "tests/test_faults_of_saved_samples.py"),
    ),
    "emulation": Room(
        tuple(f"netcalc/emulation/{name}.py"
              for name in ("__init__", "queue", "chain")),
        tuple(f"tests/emulation/test_{name}.py"
              for name in ("link_queue", "stages", "chain", "joined")),
    ),
    "streams": Room(
        ("netcalc/emulation/stream.py",),
        ("tests/emulation/test_stream_recovery.py", "tests/emulation/test_congestion_windows.py",
         "tests/emulation/test_stream.py"),
    ),
    "plotted_networks": Room(
        ("netcalc/plots/plans.py",),
        ("tests/plots/test_plans_plot.py", "tests/planning/network/test_network_figure.py"),
    ),
    "plots": Room(
        ("netcalc/plots/*.py",),
        ("tests/plots/test_*.py",),
        but="two_hundred_flows or no_network",
    ),
    "claims": Room(("netcalc/claims/*.py",), ("tests/claims/test_claim*.py",)),
    "exercises": Room(("netcalc/exercises/*.py",), ("tests/exercises/test_*.py",)),
    "classes": Room(("netcalc/exercises/classes/*.py",), ("tests/exercises/test_class_*.py",)),
}  # fmt: skip

ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.MatMult: ast.Mult,
}  # fmt: skip
COMPARISON = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
SYMMETRIC = frozenset({"max", "min", "hypot", "maximum", "minimum", "fmax", "fmin", "isclose"})
"""Functions whose arguments may be exchanged."""


@dataclass(frozen=True)
class Mutant:
    """One change: the node of this number, in the order of ``ast.walk``, in its n-th variant."""

    source: Path
    line: int
    change: str
    node: int
    variant: int
    text: str = ""

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.source.relative_to(ROOT)}:{self.line}"


@dataclass
class Report:
    """What became of the mutants of one room."""

    killed: int = 0
    equivalent: int = 0
    survived: list[Mutant] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Share of the mutants that are no equivalents that the tests noticed."""
        judged = self.killed + len(self.survived)
        return self.killed / judged if judged else float("nan")


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may take the place of a node."""
    match node:
        case ast.BinOp() | ast.AugAssign() if type(node.op) in ARITHMETIC:
            yield _with(node, op=ARITHMETIC[type(node.op)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield node.operand
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.Compare():
            for number, op in enumerate(node.ops):
                for other in COMPARISON[type(op)]:
                    ops = [*node.ops[:number], other(), *node.ops[number + 1 :]]
                    yield _with(node, ops=ops)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield from (ast.Constant(other) for other in (value + 1, value - 1))
        case ast.Constant(value=float() as value):
            yield ast.Constant(value * 1.1 if value else 1.0)
        case ast.Call():
            yield from _exchanged(node)
        case ast.IfExp():
            yield _with(node, body=node.orelse, orelse=node.body)
        case ast.If() | ast.While():
            yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.comprehension() if node.ifs:
            yield _with(node, ifs=[ast.UnaryOp(ast.Not(), node.ifs[0]), *node.ifs[1:]])
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue():
            yield ast.Pass()
        case ast.Break() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Name(id=name)]) if name in _names(node.value):
            yield ast.Pass()
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield _with(node, value=ast.Constant(None))
            if isinstance(value, ast.Tuple) and len(value.elts) > 1:
                yield _with(node, value=ast.Tuple(value.elts[::-1], ast.Load()))
    if isinstance(node, ast.AugAssign):
        yield ast.Pass()


def _exchanged(call: ast.Call) -> Iterator[ast.AST]:
    """Yield a call with two arguments of one kind exchanged."""
    name = _written(call.func).rpartition(".")[2]
    for number, pair in enumerate(zip(call.args, call.args[1:], strict=False)):
        if name == "keep_nan" and number > 0:  # its inputs may be in any order
            continue
        if name not in SYMMETRIC and _alike(*pair):
            args = [*call.args[:number], *pair[::-1], *call.args[number + 2 :]]
            yield _with(call, args=args)
    for number, (one, other) in enumerate(zip(call.keywords, call.keywords[1:], strict=False)):
        if one.arg and other.arg and _alike(one.value, other.value):
            pair = [_with(one, value=other.value), _with(other, value=one.value)]
            keywords = [*call.keywords[:number], *pair, *call.keywords[number + 2 :]]
            yield _with(call, keywords=keywords)


def _alike(one: ast.expr, other: ast.expr) -> bool:
    if ast.dump(one) == ast.dump(other):
        return False
    kinds = (ast.Name, ast.Attribute, ast.Subscript)
    if isinstance(one, ast.Constant) and isinstance(other, ast.Constant):
        return type(one.value) is type(other.value)
    return isinstance(one, kinds) and isinstance(other, kinds)


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def mutants(source: Path, only: frozenset[str] | None = None) -> Iterator[Mutant]:
    """Yield every mutant of a file, without those of annotations, which nothing evaluates.

    With ``only``, those of lines with one of these texts.
    """
    text = source.read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    left_out = {
        id(part)
        for node in ast.walk(tree)
        for unread in (
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
            node if _is_declaration(node) else None,
        )
        if unread is not None
        for part in ast.walk(unread)
    }
    line = 0
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in left_out:
            continue
        for variant, changed in enumerate(variants(node)):
            line = _line(node)
            text = lines[line - 1].strip()
            if only is None or text in only:
                change = f"{_written(node)} -> {_written(changed)}"
                yield Mutant(source, line, change, number, variant, text)


def _is_declaration(node: ast.AST) -> bool:
    """Whether a node says only what is exported or of which kind a class is."""
    if isinstance(node, ast.Assign):
        return any(isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets)
    return isinstance(node, ast.Call) and _written(node.func) in ("dataclass", "TypeVar")


def _line(node: ast.AST) -> int:
    return next(one.lineno for one in ast.walk(node) if hasattr(one, "lineno"))


def _written(node: ast.AST) -> str:
    if isinstance(node, ast.comprehension):
        return "if " + ast.unparse(node.ifs[0])
    if isinstance(node, ast.If | ast.While):
        return "if " + ast.unparse(node.test)
    return " ".join(ast.unparse(node).split())


def mutated(mutant: Mutant) -> ast.Module:
    """Return the tree of the file with the change in it."""
    tree = ast.parse(mutant.source.read_text(encoding="utf-8"))
    target = list(ast.walk(tree))[mutant.node]
    replacement = list(variants(target))[mutant.variant]
    for child in ast.walk(replacement):
        if isinstance(child, ast.expr | ast.stmt) and not hasattr(child, "lineno"):
            ast.copy_location(child, target if hasattr(target, "lineno") else tree.body[0])

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return replacement if node is target else self.generic_visit(node)

    return ast.fix_missing_locations(Put().visit(tree))


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a tree in memory."""

    def __init__(self, source: Path, tree: ast.Module) -> None:
        self.source, self.code = source, compile(tree, source, "exec")
        parts = source.relative_to(ROOT).with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name != self.name:
            return None
        is_package = self.source.name == "__init__.py"
        return importlib.util.spec_from_file_location(
            name, self.source, loader=self,
            submodule_search_locations=[str(self.source.parent)] if is_package else None,
        )  # fmt: skip

    def exec_module(self, module: Any) -> None:
        exec(self.code, module.__dict__)


def passes(tests: list[str], mutant: Mutant | None, *, limit_s: float) -> tuple[bool, float]:
    """Run the tests in a forked copy of this process, on a mutant or on the code as it is.

    Returns whether they pass, and the processor time that they took: on a busy machine the clock
    on the wall would end tests that do nothing wrong.
    """
    child = os.fork()
    if child == 0:
        _run_and_exit(tests, mutant, limit_s)
    _, status, used = os.wait4(child, 0)
    return status == 0, used.ru_utime + used.ru_stime


def _run_and_exit(tests: list[str], mutant: Mutant | None, limit_s: float) -> None:
    status = 1
    try:
        faulthandler.disable()
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends this process, whatever it does
        signal.setitimer(signal.ITIMER_PROF, limit_s)
        signal.alarm(int(60 + 20 * limit_s))  # or whatever it waits for
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        if mutant is not None:
            finder = Finder(mutant.source, mutated(mutant))
            sys.meta_path.insert(0, finder)
            importlib.import_module(finder.name)
        import pytest

        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a third of the time of a mutant
        options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider"]
        options += ["-o", "addopts=--import-mode=importlib"]
        options += ["-m", "not live", "-W", "ignore::pytest.PytestUnknownMarkWarning"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is here already
        status = int(pytest.main([*options, *tests]))
    finally:
        os._exit(status)


def try_room(
    name: str, *, seed: int, count: int, jobs: int, known: list[dict[str, Any]]
) -> Report | None:
    """Try mutants of a room; None if its tests fail without one."""
    room = ROOMS[name]
    found = (path for pattern in room.tests for path in sorted(ROOT.glob(pattern)))
    tests = [str(path) for path in dict.fromkeys(found)]
    if tests and room.but:
        tests += ["-k", f"not ({room.but})"]
    fit_to_judge, spent_s = passes(tests, None, limit_s=600.0) if tests else (False, 0.0)
    if not fit_to_judge:
        return None
    limit_s = 5.0 + 5.0 * spent_s
    sources = [path for pattern in room.sources for path in sorted(ROOT.glob(pattern))]
    every = [mutant for source in sources for mutant in mutants(source)]
    chosen = random.Random(f"{name} {seed}").sample(every, min(count or len(every), len(every)))
    report = Report()
    judged = [mutant for mutant in chosen if not _is_equivalent(mutant, known)]
    report.equivalent = len(chosen) - len(judged)
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda mutant: passes(tests, mutant, limit_s=limit_s), judged)
        for mutant, (survived, _) in zip(judged, found, strict=True):
            if survived:
                report.survived.append(mutant)
                print(f"  survived: {mutant.where}: {mutant.change}", file=sys.stderr, flush=True)
            else:
                report.killed += 1
    report.survived.sort(key=lambda mutant: (str(mutant.source), mutant.line))
    return report


def _is_equivalent(mutant: Mutant, known: list[dict[str, Any]]) -> bool:
    return any(
        mutant.source.name == one["file"]
        and mutant.text == one["line"]
        and mutant.change in one["changes"]
        for one in known
    )


def main() -> None:
    """Print a table by room, and every mutant that survived."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rooms", nargs="*", default=list(ROOMS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60, help="mutants of a room; 0: all")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--list", action="store_true", help="name the rooms and their mutants")
    asked = parser.parse_args()
    if asked.list:
        for name, room in ROOMS.items():
            files = [path for pattern in room.sources for path in sorted(ROOT.glob(pattern))]
            total = sum(1 for source in files for _ in mutants(source))
            print(f"{name:<10} {total:>6} mutants in {len(files)} files")
        return
    known = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("equivalent", [])
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    sys.dont_write_bytecode = False
    for late in ("pytest", "numpy", "scipy.optimize", "scipy.special", "hypothesis", "pandas",
                 "_pytest.assertion.rewrite", "bokeh.plotting", "mpmath"):  # fmt: skip
        with contextlib.suppress(ImportError):
            importlib.import_module(late)
    reports = {}
    print(
        f"{'room':<10} {'mutants':>8} {'equivalent':>11} {'killed':>7} {'survived':>9} {'ratio':>7}"
    )
    for name in asked.rooms:
        begin_s = time.monotonic()
        report = try_room(name, seed=asked.seed, count=asked.count, jobs=asked.jobs, known=known)
        if report is None:
            print(f"{name:<10} its tests fail without a fault")
            continue
        reports[name] = report
        judged = report.killed + len(report.survived)
        print(
            f"{name:<10} {judged + report.equivalent:>8} {report.equivalent:>11} "
            f"{report.killed:>7} {len(report.survived):>9} {report.ratio:>7.0%}"
            f"   {time.monotonic() - begin_s:.0f} s",
            flush=True,
        )
    for name, report in reports.items():
        print(f"\n{name}: survived" if report.survived else f"\n{name}: nothing survived")
        for mutant in report.survived:
            print(f"  {mutant.where}: {mutant.change}\n      {mutant.text}")


if __name__ == "__main__":
    main()
