"""What TCP stacks do differently with the same algorithms."""

from __future__ import annotations

from dataclasses import dataclass

from netcalc.checks import FloatArray, choice


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
    late_packets : float
        Packets of an ACK before the one by which Vegas measures the round-trip time.
    bbr_bias_packets : float
        Packets by which BBR counts too much delivered in a round trip; of one scenario, or shape
        (scenario, 1). [packet]
    bbr_quantum_packets : float
        Least quantum that BBR sends at once. [packet]
    repair_packets : float
        Packets that the window of Reno has gained at the end of a repair. [packet]
    tail_packets : int
        Last packets of a request whose loss no later packet reports. [packet]
    report_rounds : float
        Round trips that another lost packet of a request costs.
    paced_rounds : float
        Round trips over which a request loop of BBR spreads a request of some packets.
    keeps_first_rate : bool
        True if such a loop keeps the rate of its first packets up to its first loss.
    """

    name: str
    second_reduction: bool
    delay_share: float
    least_delay_s: float
    most_delay_s: float
    train_share: float
    ack_packets: float
    late_packets: float
    bbr_bias_packets: float | FloatArray
    bbr_quantum_packets: float
    repair_packets: float
    tail_packets: int
    report_rounds: float
    paced_rounds: float
    keeps_first_rate: bool


STACKS = {
    "linux": Stack(
        "linux", False, 1 / 8, 0.004, 0.016, 0.5, 2.0, 0.0, 0.41, 2.0, 0.0, 1, 1.25, 4 / 3, True
    ),
    "ns3": Stack("ns3", True, 1.0, 0.004, 1.0, 1.0, 2.0, 1.0, 1.8, 1.0, 1.0, 3, 1.0, 1.0, False),
}
"""Linux: net/ipv4/tcp_cubic.c of version 6; ns-3: tcp-cubic.cc and tcp-prr-recovery.cc of 3.44.

Linux probes a lost tail of two packets in two round trips and one of a single packet with the timer
(RFC 8985, section 7.2), and waits a quarter of a round trip for reordered ones; ns-3 needs three
duplicate ACKs. Both take an ACK for two packets in slow start: at 10 Mbit/s, where these come
2.4 ms apart, HyStart sees no train of ACKs, live as in ns-3. The rounds of paced loops are measured
at 10 Mbit/s and 40 ms: live 2.4 round trips at half a product and at one, in ns-3 1.95 to 2.0 at
one, two and four.
"""


def stack_of(name: str) -> Stack:
    """Return a stack by its name."""
    return STACKS[choice("stack", name, tuple(STACKS))]
