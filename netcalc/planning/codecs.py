"""Codecs of telephony by name: the bytes of a frame and the voice time that it holds."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from netcalc.errors import DomainError, doubts
from netcalc.models.rates.voice import codec_payload_bytes

_WHOLE = 1e-9


@dataclass(frozen=True, slots=True)
class Codec:
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

    def payload_bytes(self, interval_s: float) -> float:
        """Return the voice bytes of a packet; each frame is whole bytes. [byte]

        Raises
        ------
        DomainError
            If the interval is no whole number of frames.
        """
        frames = interval_s / self.frame_s
        if abs(frames - round(frames)) > _WHOLE or round(frames) < 1:
            raise DomainError(
                "not-whole-frames", "interval_s", interval_s, codec=self.name, frame_s=self.frame_s
            )
        with doubts():  # of a part of a byte, which is filled here
            each = float(codec_payload_bytes(self.codec_bps, interval_s=self.frame_s))
        return float(round(frames) * math.ceil(each - _WHOLE))


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


def codec(name: str) -> Codec:
    """Return a codec by its name: ``G.729``, ``g729`` and ``G729a`` are one.

    Raises
    ------
    DomainError
        If there is none of that name.

    Examples
    --------
    >>> codec("g729a").name, codec("G.711").payload_bytes(0.02)
    ('G.729', 160.0)
    """
    plain = _plain(name) if isinstance(name, str) else ""
    for found in CODECS.values():
        own = _plain(found.name)
        if plain == own or re.fullmatch(rf"{re.escape(own)}(?:[abu]|ab|alaw|ulaw)", plain):
            return found
    raise DomainError("not-a-choice", "codec", name, choices=[one.name for one in CODECS.values()])


def _plain(name: str) -> str:
    return re.sub(r"[\s._-]", "", name.lower())
