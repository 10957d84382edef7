"""What is known of a path and its hosts beside a measurement."""

from __future__ import annotations

from dataclasses import dataclass, replace

from netcalc.checks import positive, ratio
from netcalc.errors import DomainError

DEFAULT_MTU_BYTES = 1500.0
"""Largest packet of Ethernet, taken where nothing says another. [byte]"""
CONGESTION_CONTROLS = ("cubic", "reno", "bbr")
"""Algorithms whose answer to a loss is computed; any other counts as CUBIC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a path and its hosts; None where it is not: nothing is guessed.

    Parameters
    ----------
    rtt_s : float, optional
        Round-trip time of the path without load. [s]
    line_bps : float, optional
        Rate of the slowest line, as its name says (layer 1); with ``line_up_bps``, that of
        downloads. [bit/s]
    line_up_bps : float, optional
        Rate of the line for uploads, where it differs, as that of an access line does. [bit/s]
    window_bytes : float, optional
        Largest window: the smaller of both hosts' buffers. [byte]
    loss_ratio : float, optional
        Random packet loss, not that of a full buffer. [ratio]
    mtu_bytes : float, optional
        Largest packet of the path. [byte]
    reverse_bps : float, optional
        Rate of the reverse direction, which carries the acknowledgements. [bit/s]
    device_pps : float, optional
        Packets that a device on the path forwards, both directions together. [packet/s]
    buffer_bytes : float, optional
        Buffer in front of the slowest line. [byte]
    congestion_control : str, optional
        Algorithm of the sender: ``cubic``, ``reno`` or ``bbr``.

    Raises
    ------
    DomainError
        If a quantity is impossible.

    Examples
    --------
    >>> Known(rtt_s=0.04, line_bps=1e8).window_bytes is None
    True
    """

    rtt_s: float | None = None
    line_bps: float | None = None
    line_up_bps: float | None = None
    window_bytes: float | None = None
    loss_ratio: float | None = None
    mtu_bytes: float | None = None
    reverse_bps: float | None = None
    device_pps: float | None = None
    buffer_bytes: float | None = None
    congestion_control: str | None = None

    def __post_init__(self) -> None:
        for name in (
            "rtt_s",
            "line_bps",
            "line_up_bps",
            "window_bytes",
            "mtu_bytes",
            "reverse_bps",
            "device_pps",
            "buffer_bytes",
        ):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, float(positive(name, value)))
        if self.loss_ratio is not None:
            object.__setattr__(self, "loss_ratio", float(ratio("loss_ratio", self.loss_ratio)))
        named = self.congestion_control
        if named is not None and named not in CONGESTION_CONTROLS:
            choices = list(CONGESTION_CONTROLS)
            raise DomainError("not-a-choice", "congestion_control", named, choices=choices)

    def toward(self, direction: str) -> Known:
        """Return what is known of one direction of a line whose rates differ.

        Parameters
        ----------
        direction : str
            ``upload`` or ``download``; of any other, ``line_bps`` stays that of the line.

        Examples
        --------
        >>> Known(line_bps=1e8, line_up_bps=2e7).toward("upload")  # doctest: +ELLIPSIS
        Known(rtt_s=None, line_bps=20000000.0, ..., reverse_bps=100000000.0, ...)
        """
        if self.line_up_bps is None or direction not in ("upload", "download"):
            return self
        ways = (self.line_up_bps, self.line_bps)
        line, other = ways if direction == "upload" else ways[::-1]
        reverse = other if self.reverse_bps is None else self.reverse_bps
        return replace(self, line_bps=line, line_up_bps=None, reverse_bps=reverse)
