"""What TCP stacks do differently with the same algorithms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netcalc.checks import choice


@dataclass(frozen=True, slots=True)
class Stack:
    """How a stack leaves slow start, and how far a window falls at a full buffer.

    Parameters
    ----------
    name : str
        "linux" or "ns3".
    second_reduction : bool
        True if packets lost while a loss is repaired reduce the window again.
    delay_share : float
        Increase of the round-trip time over its minimum at which CUBIC leaves slow start.
    least_delay_s, most_delay_s : float
        Bounds of that increase. [s]
    train_share : float
        Length of a train of ACKs over the minimum round-trip time at which CUBIC leaves slow start.
    ack_packets : float
        Packets per ACK in slow start.
    bbr_bias_packets : float
        Packets by which BBR counts too much delivered in a round trip. [packet]
    bbr_quantum_packets : float
        Least quantum that BBR sends at once. [packet]
    repair_packets : float
        Packets that the window of Reno has gained at the end of a repair. [packet]
    """

    name: str
    second_reduction: bool
    delay_share: float
    least_delay_s: float
    most_delay_s: float
    train_share: float
    ack_packets: float
    bbr_bias_packets: float
    bbr_quantum_packets: float
    repair_packets: float


STACKS = {
    "linux": Stack("linux", False, 1 / 8, 0.004, 0.016, 0.5, 1.0, 0.4, 2.0, 0.0),
    "ns3": Stack("ns3", True, 1.0, 0.004, 1.0, np.inf, 2.0, 1.5, 1.0, 1.0),
}
"""Linux: net/ipv4/tcp_cubic.c of version 6; ns-3: tcp-cubic.cc and tcp-prr-recovery.cc of 3.44."""


def stack_of(name: str) -> Stack:
    """Return a stack by its name."""
    return STACKS[choice("stack", name, tuple(STACKS))]
