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
    "CHAPTERS", "FORMER_SUBJECTS", "SUBJECTS", "collectives", "delays", "hosts", "links",
    "measuring", "media", "queues", "rates", "sizes", "subject_module", "tcp", "users",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

CHAPTERS = {
    "sizes": ("framing", "fragmentation", "encapsulation", "vpn", "serial_lines"),
    "rates": ("line_rate", "goodput", "forwarding", "hashing", "voice"),
    "delays": ("latency", "store_and_forward", "asymmetry", "distribution", "courier"),
    "hosts": ("host_stack", "mbufs", "small_writes", "pcie"),
    "tcp": (
        "window", "handshakes", "slow_start", "short_transfers", "timers", "loss_limited", "pftk",
        "cubic", "bbr", "sharing", "policer", "ecn", "ceilings", "transfer_time",
    ),
    "queues": (
        "queueing", "mm1", "md1", "erlang", "backlog", "shared_buffer", "token_bucket",
        "scheduling", "networks",
    ),
    "media": ("wifi", "access"),
    "links": ("arq", "random_access", "channel"),
    "users": ("multiplexing", "growth", "availability"),
    "collectives": ("all_reduce", "broadcast", "bus_bandwidth"),
    "measuring": ("probing", "sample_statistics", "clock"),
}  # fmt: skip
"""The subjects of each chapter, in the order in which a course would take them."""

SUBJECTS = tuple(subject for subjects in CHAPTERS.values() for subject in subjects)
"""The files of formulas, by name, in that order."""

FORMER_SUBJECTS = {
    "access_node": "multiplexing", "aggregates": "wifi", "atm": "serial_lines",
    "billing": "sample_statistics", "bit_errors": "loss_limited", "burstiness": "backlog",
    "cardwell": "short_transfers",
    "congestion_controls": "ceilings", "cores": "host_stack", "cubic_under_loss": "cubic",
    "datagram_loss": "loss_limited", "dcf": "wifi", "delay_variation": "sample_statistics",
    "delayed_ack": "small_writes", "engset": "erlang", "erlang_a": "erlang",
    "esp": "vpn", "exchange": "store_and_forward", "fairness": "sharing",
    "finite_queues": "mm1", "kaufman_roberts": "erlang", "mg1_percentiles": "queueing",
    "mmc": "erlang", "mmck": "erlang", "network_calculus": "token_bucket",
    "packet_rates": "line_rate", "page_load": "handshakes", "path_mixes": "latency",
    "pftk_inverse": "pftk", "priorities": "scheduling", "rate_reading": "line_rate",
    "rfc6349": "window", "robust": "sample_statistics", "tfrc": "pftk",
    "wireguard": "vpn", "write_timeline": "small_writes",
}  # fmt: skip
"""Subjects that were renamed or joined to another, with their present names."""

_CHAPTER_OF = {subject: name for name, subjects in CHAPTERS.items() for subject in subjects}


@named_arguments
def subject_module(subject: str) -> ModuleType:
    """Return the module of a subject, whichever chapter it is in."""
    subject = FORMER_SUBJECTS.get(subject, subject)
    return import_module(f"netcalc.models.{_CHAPTER_OF[subject]}.{subject}")


def __getattr__(name: str) -> ModuleType:
    """Load a chapter when it is first used (PEP 562)."""
    if name in CHAPTERS:
        return import_module(f"netcalc.models.{name}")
    raise AttributeError(f"module 'netcalc.models' has no attribute {name!r}")
