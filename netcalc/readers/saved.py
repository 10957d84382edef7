"""Samples that netcalc saved: runs of its own, or files it read before."""

from __future__ import annotations

from netcalc import samples as _samples
from netcalc.readers.format import Format, Input
from netcalc.readers.source import read_head


def recognize(given: Input) -> bool:
    """Whether this is a file of :meth:`netcalc.samples.Samples.save`."""
    if given.head.lstrip()[:1] != b"{":
        return False
    if b'"netcalc samples"' in given.head[:2000]:
        return True
    documents = given.json.documents
    first = documents[0] if documents else None
    return isinstance(first, dict) and first.get("format") == "netcalc samples"


def read(given: Input) -> _samples.Samples:
    """Read samples back; a file by the limits of saved samples, which are wider than a text's."""
    if given.path is not None and read_head(given.path, 1) in (b"{", b"\x1f"):
        return _samples.load(given.path)
    return _samples.loads(given.data, file=given.unpacked.name)


FORMAT = Format(
    name="netcalc samples",
    description="saved netcalc samples",
    recognize=recognize,
    read=read,
    traps=(
        "A file of a later schema is refused by its number, never read in part.",
        "Of two values of one name neither is certain, so that the file is refused.",
        "Files of before have warnings as sentences and no facts; facts then come from the rows.",
    ),
)
