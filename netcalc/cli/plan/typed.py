"""What people type for the options of a plan: ``--bw`` for ``--rate``, ``10 GB`` without quotes."""

from __future__ import annotations

import re
from typing import Any

import click

from netcalc import units
from netcalc.cli.mistakes import CommandError, typed_name
from netcalc.cli.quantity import Quantity, QuantityCommand
from netcalc.errors import UnitError

ALIKE = (
    ("rate", "bw", "bandwidth", "speed", "line", "link", "line-rate", "link-rate", "capacity",
     "uplink"),
    ("each", "user", "per-user", "rate-per-user"),
    ("rtt", "ping", "round-trip"),
    ("flows", "flow", "connections", "streams", "parallel", "n"),
    ("algorithm", "cc", "congestion", "congestion-control"),
    ("loss", "plr", "packet-loss", "loss-rate", "loss-ratio"),
    ("percentile", "quantile", "p"),
    ("active", "activity", "concurrency", "concurrent", "active-share"),
    ("holding", "holding-time", "aht", "duration", "hold", "call-duration"),
    ("blocking", "gos", "grade-of-service", "blocking-probability"),
    ("tunnel", "stack", "vpn", "encap", "encapsulation"),
    ("window", "rwnd", "max-window", "receive-window"),
    ("growth", "annual-growth", "cagr"),
    ("erlang", "erlangs", "load", "traffic"),
    ("change", "change-rate", "changed", "churn"),
    ("interval", "ptime", "packetization"),
    ("size", "file", "file-size", "volume", "bytes"),
    ("line-up", "up", "upload", "uplink"),
    ("data", "dataset", "size", "volume"),
    ("users", "subscribers", "customers"),
    ("calls", "call-rate", "bhca"),
    ("in", "within", "time-window", "backup-window", "deadline"),
    ("lasts", "horizon", "years", "for"),
    ("target", "target-utilization", "full-at", "max-utilization"),
)  # fmt: skip
"""Names of options that mean the same to most people, without their dashes."""
_ALGORITHMS = frozenset({"cubic", "reno", "bbr"})
"""Congestion controls that people type as an option."""


_PERCENTILE = re.compile(
    r"p\s*(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*(?:st|nd|rd|th)|([1-9]\d(?:\.\d+)?)", re.IGNORECASE
)


class Percentile(Quantity):
    """A share of the time, or the percentile by its name: ``p95``, ``95th``."""

    def __init__(self) -> None:
        super().__init__("ratio")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the text; a mistake names the option."""
        found = _PERCENTILE.fullmatch(value) if isinstance(value, str) else None
        text = f"{found[1] or found[2] or found[3]}%" if found else value
        return super().convert(text, param, ctx)


class PlannersCommand(QuantityCommand):
    """A command whose options may have the names that the field has for them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give options their names here, and numbers their unit where that is a word of its own.

        Raises
        ------
        UnitError
            For a quantity that another option takes, with the names of those.
        """
        if ctx.resilient_parsing:  # the shell asks how a line may go on
            return super().parse_args(ctx, args)
        if any(one.replace(".", "").isdecimal() for one in args):
            from netcalc.cli.formula_words import joined  # late: it loads the calculator

            args = joined(args)
        options = [one for one in self.params if isinstance(one, click.Option)]
        known = {name for option in options for name in (*option.opts, *option.secondary_opts)}
        named = [one for word in args for one in self._named(ctx, word, {*known, "--help"})]
        try:
            return super().parse_args(ctx, named)
        except UnitError as error:
            if error.code == "unit-of-other-kind":
                self._name_takers(error)
            raise

    def _name_takers(self, error: UnitError) -> None:
        """Name the options that take a quantity of the kind that was typed."""
        kind = units.kind_of(error.values.get("written", ""))
        takers = [
            typed_name(one)
            for one in self.params
            if getattr(one.type, "unit", None) == kind and typed_name(one) != error.field
        ]
        if takers:
            error.values |= {"suggestions": takers}

    def _named(self, ctx: click.Context, word: str, known: set[str]) -> list[str]:
        name, equals, value = word.partition("=")
        if not name.startswith("--") or len(name) < 3 or name in known:
            return [word]
        spoken = name[2:].lower().replace("_", "-")
        if f"--{spoken}" in known:
            return [f"--{spoken}{equals}{value}"]
        alike = {one for group in ALIKE if spoken in group for one in group} | {spoken}
        meant = [one for one in sorted(known) if one[2:] in alike]
        if len(meant) > 1:
            raise CommandError(
                "option-ambiguous", command=ctx.command_path, option=name, choices=meant
            )
        if not meant and spoken in _ALGORITHMS and not equals and "--algorithm" in known:
            return [f"--algorithm={spoken}"]
        if meant:
            return [f"{meant[0]}{equals}{value}"]
        arguments = [one for one in self.params if isinstance(one, click.Argument)]
        if any(typed_name(one).lower() in alike for one in arguments):
            return [value] if equals else []  # the value of an argument that has no option
        return [word]
