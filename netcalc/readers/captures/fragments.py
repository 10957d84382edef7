"""Transport headers that are spread over several fragments, put together within a block."""

from __future__ import annotations

import numpy as np

from netcalc.readers.captures.blocks import PAD_BYTES, Ints
from netcalc.readers.captures.layers import PROTOCOL, Layers
from netcalc.readers.captures.network import Addresses
from netcalc.samples import Layer

_HEADER_BYTES = 60
"""The longest header of TCP. [byte]"""

_MOST = 100_000
"""Fragments of a block that are looked at."""

_TRANSPORTS = np.uint32(Layer.TCP | Layer.UDP | Layer.ICMP)
_Key = tuple[int, ...]


def put_together(layers: Layers, addresses: Addresses) -> Ints:
    """Put headers together that are longer than their first fragment.

    The bytes are laid behind those of the block, and the row of the first fragment begins there.

    Returns
    -------
    array
        The rows whose transport header can now be read.
    """
    if not layers.parts:
        return np.empty(0, np.int64)
    rows = np.concatenate([rows for rows, _ in layers.parts])
    offsets = np.concatenate([offsets for _, offsets in layers.parts]) * 8
    first: Ints = rows[(offsets == 0) & (layers.layers[rows] & _TRANSPORTS == 0)]
    if not first.size:
        return first
    same = np.isin(layers.columns["ip_id"][rows], layers.columns["ip_id"][first])
    rows, offsets = rows[same][:_MOST], offsets[same][:_MOST]
    parts: dict[tuple[_Key, int], list[int]] = {}
    for row, offset in zip(rows.tolist(), offsets.tolist(), strict=True):
        parts.setdefault((_key(layers, addresses, row), offset), []).append(row)
    found: dict[int, bytes] = {}
    for row in first.tolist():
        header = _header(layers, addresses, row, parts)
        if header:
            found[row] = header
    return _laid_behind(layers, found)


def _key(layers: Layers, addresses: Addresses, row: int) -> _Key:
    """Return what the fragments of one packet have in common."""
    columns = layers.columns
    return (
        *addresses.source[row].tolist(),
        *addresses.destination[row].tolist(),
        *(int(columns[name][row]) for name in ("ip_id", "ip_protocol", "ip_version")),
    )


def _header(
    layers: Layers, addresses: Addresses, first: int, parts: dict[tuple[_Key, int], list[int]]
) -> bytes:
    """Return the bytes from the first fragment on, as far as a header goes; empty with a gap."""
    key = _key(layers, addresses, first)
    data, row = b"", first
    while len(data) < _HEADER_BYTES:
        size = int(layers.left[row])
        at = int(layers.at[row])
        if size <= 0 or at + size > int(layers.end[row]):  # the snap length cut it
            return b""
        data += layers.data[at : at + size].tobytes()
        following = parts.get((key, len(data)), [])
        if not following:  # the last one, or a gap: whether it is long enough its decoder says
            break
        row = min(following, key=lambda one: abs(one - first))  # numbers are used again
    return data if row != first else b""


def _laid_behind(layers: Layers, found: dict[int, bytes]) -> Ints:
    rows = np.array(list(found), np.int64)
    if not rows.size:
        return rows
    sizes = np.array([len(data) for data in found.values()], np.int64)
    begin = layers.data.size - PAD_BYTES
    more = np.frombuffer(b"".join(found.values()), np.uint8)
    layers.data = np.concatenate([layers.data[:begin], more, np.zeros(PAD_BYTES, np.uint8)])
    layers.at[rows] = begin + np.cumsum(sizes) - sizes
    layers.end[rows] = layers.at[rows] + sizes
    layers.left[rows] = sizes
    layers.kind[rows] = PROTOCOL + layers.columns["ip_protocol"][rows].astype(np.int64)
    return rows
