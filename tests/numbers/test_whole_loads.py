"""Counts of what fits: a load of n parts is n, whatever decimals and units it is written in."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from netcalc import units
from netcalc.models.collectives.broadcast import pipelined_broadcast_s
from netcalc.models.hosts.host_stack import core_count
from netcalc.models.queues.shared_buffer import incast_sender_count
from netcalc.models.rates.line_rate import saturating_pair_count
from netcalc.models.users.multiplexing import access_node_subscriber_count, supported_user_count

COUNTS = np.arange(1.0, 1001.0)
FITS = {  # the load of one as it is written, its unit, a load that comes besides, and the formula
    "users": ("1.7", "Mbit/s", "0", lambda load: supported_user_count(
        load, user_bps=1.7e6, active_ratio=1.0, quantile=0.99)),
    "subscribers": ("1.7", "Mbit/s", "120", lambda load: access_node_subscriber_count(
        load, mean_bps=1.7e6, sold_bps=100e6, peak_factor=1.2)),
    "pairs": ("8", "Mbit/s", "0", lambda load: saturating_pair_count(
        load, payload_bytes=1300, cycle_s=0.0013)),
    "cores": ("1.4", "Mpps", "0", lambda load: core_count(
        load, packet_cycles=1400, clock_hz=2.8e9, target_utilization=0.7)),
    "senders": ("1.1", "kB", "0", lambda load: incast_sender_count(
        load, burst_bytes=1100, sender_bps=1e9, bandwidth_bps=1.0)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::netcalc.errors.DoubtWarning")
@pytest.mark.each("what", FITS)
def test_a_load_of_so_many_parts_is_so_many(what):
    """Identity: n times the load of one, written with its decimals, is a load of n."""
    each, unit, besides, counted = FITS[what]
    texts = [float(int(n) * Fraction(each) + Fraction(besides)) for n in COUNTS]
    kind = units.kind_of(unit)
    load = np.array([units.parse(f"{text:.15g} {unit}", kind) for text in texts])
    assert counted(load).tolist() == COUNTS.tolist()


def test_pieces_of_a_message_are_counted_once():
    """Derived: 2.1 in pieces of 0.7 are three, whose quotient is 3.0000000000000004."""
    one = {"rank_count": 4, "latency_s": 1.0, "bandwidth_bps": 1e300}
    assert pipelined_broadcast_s(2.1, chunk_bytes=0.7, **one) == pytest.approx(3 + 4 - 2)
