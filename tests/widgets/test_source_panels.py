"""Source and sink: another host, processor time, and the rates of other networks."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import column

from netcalc.lessons import transfers
from netcalc.samples import BulkSamples


def test_the_sparc_is_limited_by_its_line():
    panel = transfers.sparc_panel()
    name = "maximum of 10 Mbit/s Ethernet"
    sizes = column(panel, name, "x")
    # derived: of a packet 52 bytes are headers, of its time on the wire 90 bytes
    fits = sizes <= 1448
    wire_bps = 10e6 * sizes[fits] / (sizes[fits] + 90)
    assert column(panel, name)[fits] == pytest.approx(wire_bps)
    assert np.isnan(column(panel, name)[sizes > 1448]).all()
    drawn = column(panel, "two costs and the line")[fits]
    assert (drawn <= wire_bps * (1 + 1e-12)).all()
    assert drawn[-1] == pytest.approx(wire_bps[-1])
    assert "the line is the limit" in panel.figure.description
    panel.controls["packet_cost"].value = 2e-3  # derived: 1448 x 8 / (2 ms + 155 us) = 5.4 Mbit/s
    assert "the hosts are the limit" in panel.figure.description
    # published: table 2.2, 7.2 MB in 7.1882 s
    assert column(panel, "TCP, writes of 1440 B") == pytest.approx(8.016e6)


def test_processor_time_of_the_tables_and_of_a_run():
    panel = transfers.processor_panel()
    # published: tables 2.2 and 2.3, 0.844 s and 1.4352 s of system time for 5000 datagrams
    assert column(panel, "Snader, UDP to the sparc") == pytest.approx([168.8e-6, 287.04e-6])
    panel.controls["part"].value = "user"
    assert column(panel, "Snader, UDP to the sparc") == pytest.approx([11.28e-6, 5.56e-6])
    assert column(panel, "yours, TCP").size == 0
    rows = {
        "write_bytes": [64, 1440], "write_count": [1000, 1000], "wall_s": [1.0, 1.0],
        "sent_bytes": [64e3, 1.44e6], "received_bytes": [64e3, 1.44e6], "delivery_s": [1.0, 1.0],
    }  # fmt: skip
    stream = BulkSamples(**rows, user_s=[1e-3, 2e-3], system_s=[4e-3, 6e-3])
    datagrams = BulkSamples(**rows, user_s=[2e-3, 2e-3], system_s=[5e-3, 7e-3])
    button = next(child for child in panel.children if hasattr(child, "start"))
    button._show((stream, datagrams))
    assert column(panel, "yours, TCP") == pytest.approx([1e-6, 2e-6])
    panel.controls["part"].value = "system"
    assert column(panel, "yours, UDP") == pytest.approx([5e-6, 7e-6])
    assert "Yours, UDP: 5 µs for a write of 64 B. Yours, UDP: 7 µs" in panel.figure.description


def test_the_rates_of_other_networks_are_level_lines():
    panel = transfers.source_sink_panel()
    stated = {
        "FDDI, line": 1e8,
        "Myrinet 1999, XP1000": 1e9,
        "Myrinet 1999, PII-450: more than": 8e8,
    }
    for name, rate_bps in stated.items():  # published: Snader, tip on TCP and UDP
        assert set(column(panel, name)) == {rate_bps}
