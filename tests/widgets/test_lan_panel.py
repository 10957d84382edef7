"""Round trips on one Ethernet: the least of the wire, the hosts, and the card of the laptop."""

from __future__ import annotations

import pytest
from panels_seen import column

from netcalc.lessons import latency, store_and_forward


def test_the_wire_alone_is_the_least_and_pads_small_pings():
    panel = store_and_forward.lan_panel()
    sizes, wire = column(panel, "the wire alone", "x"), column(panel, "the wire alone")
    # derived: 64 bytes of frame and 20 of preamble and gap, there and back at 10 Mbit/s
    assert wire[sizes <= 18] == pytest.approx(2 * 84 * 0.8e-6)
    # derived: 1400 + 28 of IP and ICMP + 38 of Ethernet
    assert wire[-1] == pytest.approx(2 * 1466 * 0.8e-6)
    # derived: 1.6 us for each byte, less where pings are padded: 1382 of 1392 bytes count
    assert store_and_forward.slope_s(wire) == pytest.approx(1.6e-6 * 1382 / 1392)
    assert (column(panel, "with the hosts") > wire).all()
    panel.controls["packet_s"].value = panel.controls["byte_s"].value = 1e-9
    assert column(panel, "with the hosts") == pytest.approx(wire, abs=6e-6)


def test_the_laptop_looks_as_if_it_were_far_away():
    panel = store_and_forward.lan_panel()
    slow = store_and_forward.slope_s(column(panel, "with a card on the parallel port"))
    # derived: both lines one after the other, and four host passes of 0.2 us
    assert slow == pytest.approx(1.6e-6 * 1382 / 1392 + 16 / 1e6 + 0.8e-6)
    assert "looks like a WAN" in panel.figure.description
    panel.controls["port_bps"].value = 10e6
    assert store_and_forward.slope_s(column(panel, "with a card on the parallel port")) < slow / 3


def test_the_echo_has_a_lan_without_points_that_nobody_printed():
    panel = latency.echo_panel(latency.LAN)
    assert "193 ms" not in panel.figure.description
    assert not any("Stevens" in name for name in panel.figure.plot.sources)
    # derived: 28 bytes are padded to 84 on the wire; half a millisecond of router is not there
    assert "Theory: 134.4 µs with no data" in panel.figure.description
