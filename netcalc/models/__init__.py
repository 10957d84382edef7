"""Pure formulas over numpy arrays, in chapters, one file a subject: no objects, files or clocks.

Every function takes the swept quantity first, everything else by keyword, in SI units that its
name carries (``_s``, ``_bps``, ``_bytes``, ``_pps``, ``_ratio``), and broadcasts.

All of them refuse the same with :class:`~netcalc.errors.DomainError`: a negative size, time, load
or count, a rate or another divisor of 0, a ratio outside 0 to 1, a fraction of a count, a packet
beyond the 65,535 bytes of IP, a fraction of a byte where it is padded, a word that is not listed,
an empty list, lists of different lengths. A ``Raises`` section names only what goes beyond that,
such as headers that do not fit.

A body is written as its equation. Where it has brackets that the equation has not, as in
``8.0 * (size / rate)``, they keep a product of two large numbers from overflowing before it is
divided: arguments up to 1e308 give what the equation gives.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from netcalc.checks import named_arguments

__all__ = [
    "CHAPTERS", "SUBJECTS", "delays", "hosts", "links", "measuring", "media", "queues", "rates",
    "sizes", "subject_module", "tcp", "users",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

CHAPTERS = {
    "sizes": (
        "framing", "fragmentation", "encapsulation", "esp", "wireguard", "atm", "serial_lines",
    ),
    "rates": ("line_rate", "goodput", "packet_rates", "forwarding", "hashing", "voice"),
    "delays": (
        "latency", "store_and_forward", "exchange", "path_mixes", "asymmetry",
        "distribution",
    ),
    "hosts": (
        "host_stack", "mbufs", "small_writes", "write_timeline", "delayed_ack", "cores", "pcie",
    ),
    "tcp": (
        "window", "handshakes", "slow_start", "short_transfers", "cardwell", "timers",
        "loss_limited", "pftk", "tfrc", "cubic", "bbr", "sharing", "fairness", "rfc6349",
        "datagram_loss", "bit_errors", "policer", "ecn", "congestion_controls", "ceilings",
        "transfer_time", "page_load",
    ),
    "queues": (
        "queueing", "mm1", "md1", "mmc", "erlang", "finite_queues", "backlog", "shared_buffer",
        "token_bucket", "mg1_percentiles", "priorities", "scheduling", "network_calculus",
        "burstiness", "mmck", "engset", "kaufman_roberts", "erlang_a", "networks",
    ),
    "media": ("dcf", "aggregates", "access"),
    "links": ("arq", "random_access", "channel"),
    "users": ("multiplexing", "access_node", "growth", "availability"),
    "measuring": ("probing", "delay_variation", "robust", "billing", "clock"),
}  # fmt: skip
"""The subjects of each chapter, in the order in which a course would take them."""

SUBJECTS = tuple(subject for subjects in CHAPTERS.values() for subject in subjects)
"""The files of formulas, by name, in that order."""

_CHAPTER_OF = {subject: name for name, subjects in CHAPTERS.items() for subject in subjects}


@named_arguments
def subject_module(subject: str) -> ModuleType:
    """Return the module of a subject, whichever chapter it is in."""
    return import_module(f"netcalc.models.{_CHAPTER_OF[subject]}.{subject}")


def __getattr__(name: str) -> ModuleType:
    """Load a chapter when it is first used (PEP 562)."""
    if name in CHAPTERS:
        return import_module(f"netcalc.models.{name}")
    raise AttributeError(f"module 'netcalc.models' has no attribute {name!r}")
