"""Codecs of telephony by name: their rate, the voice time of a frame, and the usual packet."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from netcalc.checks import named_arguments
from netcalc.errors import DomainError, doubts
from netcalc.models.rates.voice import codec_payload_bytes

_WHOLE = 1e-9


class Codec(NamedTuple):
    """A codec of a constant rate.

    Parameters
    ----------
    name : str
        Its name in the recommendation.
    codec_bps : float
        Rate of the voice. [bit/s]
    frame_s : float
        Voice time of a frame: a packet holds whole frames. [s]
    interval_s : float
        Usual voice time of a packet. [s]
    """

    name: str
    codec_bps: float
    frame_s: float
    interval_s: float

    @property
    def payload_bytes(self) -> float:
        """Voice bytes of the usual packet. [byte]"""
        return frames_payload_bytes(self, interval_s=self.interval_s)


# Rates, frames and usual packets: ITU-T G.711, G.722, G.723.1, G.726, G.728, G.729; RFC 3551 and
# RFC 3951; the packets of Cisco, Voice over IP - per call bandwidth consumption.
CODECS = {
    codec.name.lower(): codec
    for codec in (
        Codec("G.711", 64e3, 0.000125, 0.02),
        Codec("G.722", 64e3, 0.000125, 0.02),
        Codec("G.723.1", 6.3e3, 0.03, 0.03),
        Codec("G.723.1-5.3", 5.3e3, 0.03, 0.03),
        Codec("G.726", 32e3, 0.005, 0.02),
        Codec("G.726-24", 24e3, 0.005, 0.02),
        Codec("G.728", 16e3, 0.005, 0.03),
        Codec("G.729", 8e3, 0.01, 0.02),
        Codec("iLBC", 15.2e3, 0.02, 0.02),
        Codec("iLBC-13.3", 13.33e3, 0.03, 0.03),
    )
}
"""The codecs by their names in small letters."""

ALIASES = {"pcmu": "g.711", "pcma": "g.711", "ulaw": "g.711", "alaw": "g.711"}
"""Other names of a codec: RFC 3551's, and the two laws of G.711."""


@named_arguments
def find_codec(name: str) -> Codec | None:
    """Return a codec by its name: ``G.729``, ``g729`` and ``G729a`` are one; None if there is none.

    Examples
    --------
    >>> find_codec("g729a").name, find_codec("PCMU").name, find_codec("opus")
    ('G.729', 'G.711', None)
    """
    plain = _plain(name)
    if plain in ALIASES:
        return CODECS[ALIASES[plain]]
    for candidate in CODECS.values():
        own = _plain(candidate.name)
        if plain == own or re.fullmatch(rf"{re.escape(own)}(?:[abu]|ab|alaw|ulaw)", plain):
            return candidate
    return None


@named_arguments
def codec(name: str) -> Codec:
    """Return a codec by its name.

    Raises
    ------
    DomainError
        If there is none of that name.

    Examples
    --------
    >>> codec("g729a").name, codec("G.711").payload_bytes
    ('G.729', 160.0)
    """
    match = find_codec(name) if isinstance(name, str) else None
    if match is None:
        names = [entry.name for entry in CODECS.values()]
        raise DomainError("not-a-choice", "codec", name, choices=names)
    return match


@named_arguments
def has_one_rate(codec: Codec) -> bool:
    """Return whether a name stands for one rate: G.726 and others have several.

    Examples
    --------
    >>> [one.name for one in CODECS.values() if has_one_rate(one)]
    ['G.711', 'G.722', 'G.728', 'G.729']
    """
    name, *_ = codec.name.split("-")
    return sum(entry.name.split("-")[0] == name for entry in CODECS.values()) == 1


@named_arguments
def frames_payload_bytes(codec: Codec, *, interval_s: float) -> float:
    """Return the voice bytes of a packet; each frame is whole bytes. [byte]

    Raises
    ------
    DomainError
        If the interval is no whole number of frames.

    Examples
    --------
    >>> frames_payload_bytes(CODECS["g.723.1"], interval_s=0.06)
    48.0
    """
    frames = interval_s / codec.frame_s
    if abs(frames - round(frames)) > _WHOLE or round(frames) < 1:
        raise DomainError(
            "not-whole-frames", "interval_s", interval_s, codec=codec.name, frame_s=codec.frame_s
        )
    with doubts():  # of a part of a byte, which is filled here
        each = float(codec_payload_bytes(codec.codec_bps, interval_s=codec.frame_s))
    return float(round(frames) * math.ceil(each - _WHOLE))


def _plain(name: str) -> str:
    return re.sub(r"[\s._-]", "", name.lower())
