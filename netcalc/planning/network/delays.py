"""Delay of a link under load: its latency, a packet's time on the line, and the wait for it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray
from netcalc.models.queues.md1 import md1_wait_s
from netcalc.models.queues.mm1 import mm1_wait_s
from netcalc.models.queues.queueing import packet_mix_wait_s
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.models.sizes.mixes import SIMPLE_IMIX_BYTES, SIMPLE_IMIX_WEIGHTS

Queue = Literal["imix", "mm1", "md1"]

IMIX_BYTES = ethernet_wire_bytes(SIMPLE_IMIX_BYTES)
"""Sizes of the simple IMIX on the wire, preamble and gap included. [byte]"""
FULL_BYTES = float(ethernet_wire_bytes(1500.0))
"""A full Ethernet frame on the wire, the packets of ``md1``. [byte]"""
MEAN_BYTES = float(np.average(IMIX_BYTES, weights=SIMPLE_IMIX_WEIGHTS))
"""Mean size of the mix, that of ``mm1``, too. [byte]"""

QUEUES: dict[Queue, tuple[str, str]] = {
    "imix": ("M/G/1, simple IMIX", "netcalc.models.queues.queueing.packet_mix_wait_s"),
    "mm1": ("M/M/1, mean of the simple IMIX", "netcalc.models.queues.mm1.mm1_wait_s"),
    "md1": ("M/D/1, full frames", "netcalc.models.queues.md1.md1_wait_s"),
}
"""What each queue is called, and the model that gives its wait."""


def delay_s(
    utilization: ArrayLike, *, bandwidth_bps: ArrayLike, latency_s: ArrayLike, queue: Queue
) -> FloatArray:
    """Return the mean delay of a packet over a link.

    Parameters
    ----------
    utilization : array_like
        Load over rate. [ratio]
    bandwidth_bps : array_like
        Line rate. [bit/s]
    latency_s : array_like
        Latency without load. [s]
    queue : {'imix', 'mm1', 'md1'}
        The model of the wait, see :data:`QUEUES`.

    Returns
    -------
    numpy.ndarray
        Latency, wait and serialization; ``inf`` from a utilization of 1. [s]

    Examples
    --------
    >>> round(float(delay_s(0.5, bandwidth_bps=10e6, latency_s=0.005, queue="md1")), 9)
    0.0068456
    """
    size = FULL_BYTES if queue == "md1" else MEAN_BYTES
    service = 8.0 * size / np.asarray(bandwidth_bps)
    if queue == "imix":
        wait = packet_mix_wait_s(
            utilization,
            wire_bytes=IMIX_BYTES,
            weight=SIMPLE_IMIX_WEIGHTS,
            bandwidth_bps=bandwidth_bps,
        )
    else:
        wait = {"mm1": mm1_wait_s, "md1": md1_wait_s}[queue](utilization, service_s=service)
    return np.asarray(latency_s) + service + wait
