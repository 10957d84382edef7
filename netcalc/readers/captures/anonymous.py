"""Replaced addresses of a capture: hosts stay secret, shared networks stay visible."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import NetcalcError
from netcalc.samples import Meta, PacketTrace, Samples, Table


def anonymized(trace: PacketTrace, *, key: bytes) -> PacketTrace:
    """Replace the addresses of a trace, so that common prefixes stay common.

    Two addresses that share their first n bits share exactly the first n bits afterwards; the same
    key gives the same replacement in every capture. Ports, times and sizes stay, and may still say
    who it was.

    Parameters
    ----------
    trace : PacketTrace
        A capture.
    key : bytes
        A secret; whoever has it can repeat the replacement.

    Returns
    -------
    PacketTrace
        The same packets with other addresses, without the names of host and file.

    References
    ----------
    J. Xu, J. Fan, M. H. Ammar, S. B. Moon, "Prefix-preserving IP address anonymization",
    Proc. IEEE ICNP 2002, doi:10.1109/ICNP.2002.1181415
    """
    replaced = trace.rows(slice(None))
    meta = replace(trace.meta, host="", target="", source="", sha256="", command="")
    object.__setattr__(
        replaced, "addresses", tuple(_replaced(text, key) for text in trace.addresses)
    )
    object.__setattr__(replaced, "meta", meta)
    return replaced


def _replaced(text: str, key: bytes) -> str:
    """Flip each bit of an address or not, as a keyed hash of the bits before it says."""
    if not text:
        return text
    address = ipaddress.ip_address(text)
    width, number, flips = address.max_prefixlen, int(address), 0
    for length in range(width):
        prefix = f"{address.version}/{length}/{number >> (width - length):x}"
        digest = hmac.new(key, prefix.encode(), hashlib.sha256).digest()
        flips = flips << 1 | digest[0] >> 7
    return str(type(address)(number ^ flips))


_MAC = re.compile(r"(?<![0-9A-Fa-f:])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}(?![0-9A-Fa-f:])")
_IPV6 = re.compile(r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}")
_IPV4 = re.compile(r"(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\d)")
_NAMES = ("node_name",)
"""Columns of names of hosts beside their addresses."""
_NODES = ("node", "host", "server", "target", "source", "destination")
"""Columns of hosts: each text is an address, or else a name."""
_HOSTS = ("group", *_NODES)
"""Columns and facts whose texts may have names of hosts in them."""
_HOST_NAME = re.compile(
    r"(?<![\w.-])(?:[A-Za-z0-9_](?:[\w-]{0,61}[A-Za-z0-9_])?\.){1,20}[A-Za-z][\w-]{1,62}\.?(?![\w-])"
)
_ONE_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,252}")
"""A target that is the name of a host, of one word or more."""
_NAME_IN_LINE = re.compile(
    r"\S{1,100}@\S{1,200}|(?<=\bfrom )[A-Za-z]\S{0,200}|(?<=\bto )[A-Za-z]\S{0,200}"
    r"|(?<=\bPING )[A-Za-z][\w.-]{0,200}|(?<=\bPinging )[A-Za-z][\w.-]{0,200}"
    r"|(?<=--- )[A-Za-z]\S{0,200}|\b[A-Za-z][\w.-]{0,200}(?=\s{1,40}: )|(?:/[\w.~-]{1,200}){2,40}"
)
"""What names a host, a person or a file in the line of a tool that an error quotes."""
_OWN_WORDS = ("file", "field", "unit", "expected", "what", "hint", "code", "fault", "choices")
"""Values of an error that never quote a line of the file."""


def anonymized_samples(samples: Samples, *, key: bytes) -> Samples:
    """Replace the addresses in samples of any kind, and leave out the names that they keep.

    Texts of columns keep their other words, such as ports: addresses in them are replaced as
    :func:`anonymized` does, names of hosts by a word that is the same for the same name; columns
    of names beside an address are emptied. What a tool printed as a summary,
    and warnings that quote an address, are left out.

    Parameters
    ----------
    samples : Samples
        Any samples.
    key : bytes
        A secret; whoever has it can repeat the replacement.
    """
    if isinstance(samples, PacketTrace):
        return anonymized(samples, key=key)
    columns: dict[str, NDArray[Any]] = {}
    hosts = _targets(samples.meta)
    for name, column in samples.columns().items():
        if column.dtype.kind != "O":
            continue
        replaced = {text: _in_column(name, text, key, hosts) for text in set(column)}
        columns[name] = np.array([replaced[text] for text in column], dtype=object)
    meta = replace(
        samples.meta,
        host="",
        target="",
        source="",
        sha256="",
        command="",
        note=_within(samples.meta.note, key),
        printed={},
        facts=tuple(
            {name: _in_column(name, value, key, hosts) if isinstance(value, str) else value
             for name, value in row.items() if name != "target"}
            for row in samples.meta.facts
        ),
        warnings=tuple(
            warning for warning in samples.meta.warnings
            if str(warning) == _within(str(warning), key)
        ),
    )  # fmt: skip
    if isinstance(samples, Table):
        return Table(data={**samples.columns(), **columns}, meta=meta)
    return replace(samples, **columns, meta=meta)  # type: ignore[type-var]


def anonymized_error(
    error: NetcalcError, *, names: Iterable[str], shown: str, key: bytes
) -> NetcalcError:
    """Replace the names of a file and the addresses in what an error says.

    Parameters
    ----------
    error : NetcalcError
        The error; changed in its values, in all of their texts. Names of files beside it, which it
        may suggest, are left out.
    names : iterable of str
        What the file is called: its path as typed, and its parts.
    shown : str
        What stands for it.
    key : bytes
        The secret of the addresses, as of :func:`anonymized_samples`.
    """
    longest = sorted(filter(None, names), key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in longest))

    def hidden(name: str, value: Any) -> Any:
        if isinstance(value, str):
            text = _within(pattern.sub(lambda _: shown, value) if longest else value, key)
            return text if name in _OWN_WORDS else _without_names(text, key)
        if isinstance(value, list | tuple):
            return type(value)(hidden(name, part) for part in value)
        return value

    error.values.pop("suggestions", None)
    error.values |= {name: hidden(name, value) for name, value in error.values.items()}
    for name in ("file", "field", "value"):
        if isinstance(getattr(error, name, None), str) and name in vars(error):
            setattr(error, name, hidden(name, getattr(error, name)))
    return error


def _without_names(text: str, key: bytes) -> str:
    """Replace what names a host, a person or a file in a line of a tool."""
    return _without_hosts(text, key, _NAME_IN_LINE, _HOST_NAME)


def _without_hosts(text: str, key: bytes, *patterns: re.Pattern[str] | None) -> str:
    for pattern in filter(None, patterns):
        text = pattern.sub(lambda match: _host(match[0], key), text)
    return text


def _targets(meta: Meta) -> re.Pattern[str] | None:
    """Return a pattern of the names of hosts that a tool was aimed at; None without any."""
    listed = [str(row.get("target", "")) for row in meta.facts] + meta.target.split(", ")
    names = {name for name in listed if _ONE_NAME.fullmatch(name) and not _IPV4.fullmatch(name)}
    if not names:
        return None
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w.-])(?:{either})(?![\w-])")


def _in_column(name: str, text: str, key: bytes, hosts: re.Pattern[str] | None) -> str:
    """Replace what a text of a column or a fact says of a host."""
    if name in _NAMES:
        return ""
    replaced = _within(text, key)
    if name in _NODES and text and replaced == text:
        return _host(text, key)
    if name in _HOSTS:
        return _without_hosts(replaced, key, hosts, _HOST_NAME)
    return replaced


def _host(name: str, key: bytes) -> str:
    """Return the word that stands for the name of a host."""
    digest = hmac.new(key, name.lower().rstrip(".").encode(), hashlib.sha256).hexdigest()
    return f"host-{digest[:8]}"


def _within(text: str, key: bytes) -> str:
    """Replace every address in a text: of IP so that prefixes stay common, of Ethernet as a whole.

    >>> _within("at 12:30:05.5", b"k")
    'at 12:30:05.5'
    """
    if "." not in text and ":" not in text:
        return text

    def mac(match: re.Match[str]) -> str:
        digest = hmac.new(key, match[0].lower().encode(), hashlib.sha256).digest()
        return ":".join(f"{byte:02x}" for byte in (digest[0] & 0xFC | 2, *digest[1:6]))

    def ip(match: re.Match[str]) -> str:
        # tcpdump and Wireshark put a colon behind an address.
        for address in (match[0], match[0].removesuffix(":"), match[0].removeprefix(":")):
            try:
                return match[0].replace(address, _replaced(address, key), 1)
            except ValueError:
                continue
        return match[0]

    return _IPV4.sub(ip, _IPV6.sub(ip, _MAC.sub(mac, text)))
