"""Hostile arguments for every public model, for paths, the solver and units, drawn with a seed.

Each call starts from arguments at which the function gives a number and replaces one to three of
them by things that nobody should pass. A call may give a result, or raise an error of netcalc;
any other exception is foreign and a fault, and so is a negative result where none can be, -inf,
and a call that takes long. Ends with 1 if there is a fault.

Run: python tests/benchmarks/hostile_arguments.py [COUNT [SEED]]
"""

from __future__ import annotations

import inspect
import random
import resource
import signal
import sys
import time
import warnings
from array import array
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from base_arguments import BASE, SIGNED

from netcalc import calculator, checks, path, samples, solver, units
from netcalc.errors import NetcalcError
from netcalc.models.sizes import headers, layers
from netcalc.printable import safe_repr

COUNT = 20_000
SEED = 8
SLOW_S = 2.0
LIMIT_S = 10
"""A call that takes longer is ended: of processor time, as others use the machine, too. [s]"""
MEMORY_BYTES = 4 << 30

MAY_BE_NEGATIVE = {
    **SIGNED,
    "sample_statistics.median": "a value of the list",
    "sample_statistics.percentile": "a value of the list",
    "checks.real": "any number",
    "checks.as_float": "any number",
}
"""Results that may be below zero, and why."""


class TooLong(BaseException):
    """A call took longer than the limit."""


def stop(*_: object) -> None:
    """End the call."""
    raise TooLong


class Odd:
    """Fails when it is asked for a number, as a broken object of somebody else's does."""

    def __float__(self) -> float:
        raise RuntimeError("no number today")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array today")

    def __repr__(self) -> str:
        return "Odd()"


class Mute:
    """Fails when it is to be shown, and when it is compared."""

    def __repr__(self) -> str:
        raise RuntimeError("no name today")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no equal today")

    __hash__ = None  # type: ignore[assignment]


class Blank(str):
    """Text of another class."""


def deep(levels: int) -> list[Any]:
    """Lists in lists, more than numpy has dimensions."""
    found: list[Any] = [1.0]
    for _ in range(levels):
        found = [found]
    return found


VALUES: tuple[Any, ...] = (
    # numbers
    0, 0.0, -0.0, 1, -1, 1e-300, 5e-324, 1e300, 1.7e308, -1e300, 0.5, 1.5, 2, 3, 7, 100, 1e6, 1e9,
    1e15, 2**31, 2**53 + 1, 2**63, 2**64, 10**30, 10**400, -(10**400), float("nan"), float("inf"),
    -float("inf"), 1 - 1e-16, 1 + 1e-15, 99.9, 65_535, 65_536, 1500, 28, 0.999999,
    # numbers of other classes
    True, False, np.True_, np.float16(65_504), np.float32(1e38), np.longdouble("1e4000"),
    np.int8(-128), np.uint8(255), np.int64(-(2**63)), np.uint64(2**64 - 1), 1 + 0j, complex("nan"),
    Decimal("1.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999999"),
    Fraction(1, 3), Fraction(10**400, 3), np.datetime64("2026-01-01"), np.timedelta64(1, "s"),
    timedelta(seconds=1),
    # no numbers
    None, "", "1", "1.5 ms", "T1", "\x00", "x" * 10_000, "\ud800", Blank("a"), b"", b"1", object,
    object(), Odd(), Mute(), [Mute()], np.void(b"1"), np.str_("a"), bytearray(b"x"), Ellipsis,
    NotImplemented, {}, {"a": 1}, set(), {1.0}, frozenset({2}), range(0),
    range(3), slice(None), print, lambda: 1, memoryview(b"12"), array("d", [1.0, 2.0]),
    # lists and arrays
    [], (), [[]], [[], []], [1.0], [1.0, 2.0], [1.0, 2.0, 3.0], [-1.0, 1.0], [0.0, 0.0],
    [1.0, None], [1.0, "a"], [1.0, [2.0]], [[1.0, 2.0], [3.0]], [[1.0, 2.0], [3.0, 4.0]],
    [float("nan"), 1.0], [float("inf"), 1.0], [Decimal("sNaN"), 1.0], [Odd()], deep(10), deep(100),
    np.array([]), np.empty((0, 3)), np.empty((2, 0)), np.ones(2), np.ones(3), np.ones(5),
    np.ones((2, 1)), np.ones((1, 3)), np.ones((2, 3)), np.ones((2, 2, 2)), np.arange(4.0),
    np.arange(4)[::-1], np.ones(3, ">f8"), np.ones(3, bool), np.ones(2, complex),
    np.array([1, None], object), np.array([Decimal("sNaN")], object), np.array(["a", "b"]),
    np.array([[1.0, 2.0]], order="F"), np.ma.masked_array([1.0, 2.0], [True, False]),
    np.ma.masked, np.ma.masked_array([1.0], [True]), np.array([(1.0, 2)], "f8,i4"),
    np.array(np.nan), np.array(["NaT"], "datetime64[s]"), np.full(3, np.nan), np.ones((1000, 1)),
    np.ones((1, 1001)), np.ones((50_000, 1)), np.ones((1, 50_001)),
)  # fmt: skip

TEXTS = (
    "", " ", "1", "10", "1e999", "-1e-999", "nan", "inf", "1,5", "1.500,25", "1,500", "1 500",
    "0x10", "T1", "OC-999", "OC-3c", "STM-", "1 ms", "1ms30s", "1min30sec", "1h1h", "5 mb",
    "5 parsec", "%", "50%", "--1", "+-1 s", "1 s\n", "\x00", "\u0661\u0662 ms", "1\u00a0500 ms",
    "\u221e s", "9" * 5000, "9" * 5000 + " s", "1e" + "9" * 400 + " s", "1" + ",000" * 100,
    "." * 1000, "1 " + "m" * 10_000, "\ud800 ms", "T1 5 ms", "T1 5 ms; 10 Mbit/s", ";;",
    "T1 5 ms;" * 50, "1e3s" * 500, "\u00b5s", "1 \u03bcs", "1" * 100 + "." + "1" * 100 + " Mbit/s",
    "\u4e94 ms", "\u00bd s", "\u00b2 s", "1.5e3.2 s", "1'000'00 s",
)  # fmt: skip


def checked(name: str) -> Callable[[Any], Any]:
    """Return a check of an argument."""
    return lambda value: getattr(checks, name)("x", value)


def targets() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return what is called, and arguments at which it gives a result."""
    found: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        name: (formula.function, dict(BASE[name]))
        for name, formula in calculator.formulas().items()
    }
    link = path.Link(bandwidth_bps=1e6, latency_s=0.01)
    whole = path.Path.parse("T1 5 ms; 10 Mbit/s 1 ms")
    transfer = calculator.formula("latency.transfer_s").function
    found |= {
        "path.Link": (path.Link, {"bandwidth_bps": 1e6, "latency_s": 0.01}),
        "path.Link.parse": (path.Link.parse, {"text": "T1 5 ms"}),
        "path.Link.serialization_s": (link.serialization_s, {"packet_bytes": 1500.0}),
        "path.Link.transfer_s": (link.transfer_s, {"payload_bytes": 1500.0}),
        "path.Hop": (path.Hop, {"link": link}),
        "path.Path": (path.Path, {"hops": (path.Hop(link=link),)}),
        "path.Path.of": (path.Path.of, {"links": [link, link]}),
        "path.Path.parse": (path.Path.parse, {"text": "T1 5 ms; 10 Mbit/s 1 ms"}),
        "path.Path.from_truth": (path.Path.from_truth, {"truth": {"hops": []}}),
        "path.Path.until": (whole.until, {"hop": 1}),
        "path.Path.one_way_s": (whole.one_way_s, {"packet_bytes": 1500.0, "packet_count": 2}),
        "path.Path.rtt_s": (whole.rtt_s, {"packet_bytes": 1500.0, "reply_bytes": 40.0}),
        "path.Path.timeline": (whole.timeline, {"packet_bytes": [100.0, 200.0]}),
        "solver.solve": (
            lambda **given: solver.solve(transfer, **given),
            {"for_": "payload_bytes", "result": 1.0, "bandwidth_bps": 1e6, "latency_s": 0.1,
             "low": 1.0, "high": 1e9},
        ),
        "solver.evaluate": (
            lambda **given: solver.evaluate(transfer, given),
            {"payload_bytes": 1e6, "bandwidth_bps": 1e6, "latency_s": 0.1},
        ),
        "solver.default_range": (solver.default_range, {"name": "loss_ratio"}),
        "units.parse": (units.parse, {"text": "30 ms", "unit": "s"}),
        "units.convert": (units.convert, {"value": 1.0, "from_unit": "MB/s", "to_unit": "Mbit/s"}),
        "units.kind_of": (units.kind_of, {"written_unit": "ms"}),
        "units.readings_of": (units.readings_of, {"written_unit": "mb"}),
        "units.factor_of": (units.factor_of, {"written_unit": "ms", "unit": "s"}),
        "units.example": (units.example, {"unit": "s"}),
        "units.line": (units.line, {"name": "T1"}),
        "suites.suite_sizes": (headers.suite_sizes, {"suite": "aes-gcm-16"}),
        "layers.stack_layers": (layers.stack_layers, {"stack": "gre4"}),
        "samples.loads": (samples.loads, {"data": '{"format": "netcalc samples"}'}),
        "units.parse_number": (units.parse_number, {"text": "1.5"}),
        **{
            f"checks.{name}": (checked(name), {"value": 1.0})
            for name in ("positive", "non_negative", "ratio", "real", "whole", "flag", "flags",
                         "as_float")
        },
    }  # fmt: skip
    return found


def drawn(
    rng: random.Random, function: Callable[..., Any], base: dict[str, Any], texts: bool
) -> dict[str, Any]:
    """Return arguments of which one to three are hostile."""
    names = [name for name in inspect.signature(function).parameters if name not in ("given",)]
    names = list(dict.fromkeys([*names, *base]))
    arguments = dict(base)
    for name in rng.sample(names, min(len(names), rng.choice((1, 1, 2, 2, 3)))):
        arguments[name] = rng.choice(TEXTS if texts and rng.random() < 0.7 else VALUES)
    return arguments


def called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a function with its positional arguments in place."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        parameters = ()  # type: ignore[assignment]
    first = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY or (
        p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty)]  # fmt: skip
    ahead = [arguments[name] for name in first if name in arguments]
    if len(ahead) < len(first):
        ahead, first = [], []
    rest = {name: value for name, value in arguments.items() if name not in first}
    return function(*ahead, **rest)


def fault_of(name: str, result: Any) -> str:
    """Return what a result should not be; nothing if it is right."""
    parts = result if isinstance(result, tuple) else (result,)
    for part in parts:
        if isinstance(part, list | dict | str | type(None)) or hasattr(part, "__dict__"):
            continue
        try:
            values = np.asarray(part)
        except ValueError:
            continue
        if values.dtype.kind != "f":
            continue
        if np.isneginf(values).any() and name != "checks.as_float":
            return "-inf"
        may = name in MAY_BE_NEGATIVE or name.startswith("units")
        if not may and (values < 0).any():
            return f"below zero: {values[values < 0].flat[0]:g}"
    return ""


def shown(arguments: dict[str, Any]) -> str:
    """Return arguments in a line."""
    parts = []
    for name, value in arguments.items():
        if isinstance(value, np.ndarray) and value.size > 12:
            parts.append(f"{name}=ones{value.shape}")
        else:
            text = safe_repr(value)
            parts.append(f"{name}={text if len(text) <= 60 else text[:57] + '...'}")
    return ", ".join(parts)


def run(
    count: int, seed: int, *, told: bool = False, timed: bool = True
) -> tuple[Counter[str], list[str], float]:
    """Make the calls; return what came of them, the faults, and the longest time."""
    rng = random.Random(seed)
    found, faults, worst_s = Counter[str](), list[str](), 0.0
    all_targets = targets()
    names = list(all_targets)
    for number in range(count):
        name = names[number % len(names)] if number < 2 * len(names) else rng.choice(names)
        function, base = all_targets[name]
        arguments = drawn(rng, function, base, name.startswith(("units", "path")))
        start_s = time.process_time()
        fault = ""
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S if timed else 0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", UserWarning)
                result = called(function, arguments)
            found["a result"] += 1
            fault = fault_of(name, result)
        except NetcalcError as error:
            found[type(error).__name__] += 1
            try:
                if not str(error) or not error.as_dict():
                    fault = "an error without a sentence"
            except Exception as second:
                fault = f"no sentence for {error.code}: {type(second).__name__}: {second}"
        except Exception as error:
            found["foreign"] += 1
            fault = f"{type(error).__name__}: {str(error)[:100]}"
        except TooLong:
            fault = f"ended after {LIMIT_S} s"
        signal.setitimer(signal.ITIMER_PROF, 0)
        took_s = time.process_time() - start_s
        worst_s = max(worst_s, took_s)
        if timed and not fault and took_s > SLOW_S:
            fault = f"{took_s:.1f} s"
        if fault:
            faults.append(f"{name}({shown(arguments)}): {fault}")
            if told:
                print(f"  {faults[-1]}", flush=True)
    return found, faults, worst_s


def main(count: int = COUNT, seed: int = SEED) -> int:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))
    signal.signal(signal.SIGPROF, stop)
    found, faults, worst_s = run(count, seed, told=True)
    for what, number in found.most_common():
        print(f"{what:24}{number:8,}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{'calls':24}{count:8,}\n{'faults':24}{len(faults):8,}")
    print(f"longest call {worst_s:.2f} s, peak memory {peak / 1e6:.0f} MB, seed {seed}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
