"""A device of twice the packet rate on the same line."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.lessons import line_rate


def test_twice_the_packets_show_with_small_frames_only():
    panel = line_rate.two_devices_panel()
    plot = panel.figure.plot.sources

    def at(name, captured):
        return np.interp(captured, plot[name].data["x"], plot[name].data["y"])

    # derived: 10 bytes of payload in 64 captured, 1460 in 1514; 8127 frames of 1518 a second
    assert at("the one device", 64) == pytest.approx(10_000 * 10 * 8, rel=1e-3)
    assert at("the other device", 64) == pytest.approx(20_000 * 10 * 8, rel=1e-3)
    assert at("the one device", 1514) == at("the other device", 1514)
    assert at("the one device", 1514) == pytest.approx(1e8 * 1460 / 1538)
    said = panel.figure.description
    assert "2.00 times as much, at 1514 1.00 times" in said
    assert "1/14.9" in said  # published: about 1/14
    panel.controls["device_pps"].value = 1000
    panel.controls["other_pps"].value = 2000
    assert "at 1514 2.00 times" in panel.figure.description
    # published: 0.281 and 43.633 Mbit/s of the router of 100 yuan
    assert plot["router of 100 yuan"].data["y"].tolist() == [281_000, 43_633_000]
