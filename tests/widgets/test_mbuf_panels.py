"""The panels of lesson 04 without a browser: the book's numbers on the curves, controls, words."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.lessons import mbufs as mbuf_panels


def at(panel, name, x):
    """The value of a curve at one x."""
    data = panel.figure.plot.sources[name].data
    [found] = np.asarray(data["y"])[np.asarray(data["x"]) == x]
    return found


@pytest.mark.each(
    "make",
    [
        mbuf_panels.mbuf_panel,
        mbuf_panels.calls_panel,
        mbuf_panels.wait_panel,
        mbuf_panels.fragment_panel,
        mbuf_panels.transaction_panel,
        mbuf_panels.today_panel,
    ],
)
def test_every_panel_survives_the_ends_of_its_controls(make):
    panel = make()
    assert not panel.message.value
    for control in panel.controls.values():
        start = control.value
        values = [control.low, control.high] if hasattr(control, "low") else [
            option[1] if isinstance(option, tuple) else option
            for option in getattr(control, "options", {True: True, False: False}.items())
        ]  # fmt: skip
        if isinstance(getattr(control, "options", None), dict):
            values = [value for _, value in control.options]
        for value in values:
            control.value = value
            assert not panel.message.value, (control, value)
            assert panel.figure.description
        control.value = start


@pytest.mark.each(
    ("size", "mbufs", "clusters", "source"),
    [
        (0, 1, 0, "published: Stevens vol. 3, A.2"),
        (100, 2, 0, "published: Stevens vol. 3, A.2"),
        (200, 3, 0, "published: Stevens vol. 3, A.2"),
        (300, 2, 1, "published: a cluster, A.2; derived: and the mbuf of the headers"),
        (72, 1, 0, "derived: 100 - 72 leaves the 28 bytes of the headers"),
        (73, 2, 0, "derived: 100 - 73 leaves less"),
        (207, 3, 0, "derived: one byte below MINCLSIZE"),
        (208, 2, 1, "derived: MINCLSIZE itself, 4.4BSD compares with >="),
    ],
)
def test_udp_takes_these_buffers(size, mbufs, clusters, source):
    panel = mbuf_panels.mbuf_panel()
    assert at(panel, "UDP: mbufs", size) == mbufs, source
    assert at(panel, "UDP: clusters", size) == clusters, source


def test_the_points_are_the_printed_ones():
    panel = mbuf_panels.mbuf_panel()
    sources = panel.figure.plot.sources
    # published: Stevens vol. 3, A.2
    assert sources["Stevens, UDP: mbufs"].data["y"].tolist() == [1, 2, 3]
    assert sources["Stevens, ping: mbufs"].data["x"].tolist() == [8, 100, 200]
    assert sources["Stevens: clusters"].data["x"].tolist() == [300]
    assert "5 of Stevens' 7 numbers" in panel.figure.description
    panel.controls["compare"].value = ">"
    # derived: ping hands over 208 bytes at 200, which then take mbufs; at 100 still one too many
    assert at(panel, "ping: mbufs", 200) == 3
    assert "6 of Stevens' 7 numbers" in panel.figure.description


def test_minclsize_101_takes_the_bump_away():
    panel = mbuf_panels.mbuf_panel()
    panel.controls["minclsize_bytes"].value = 101.0
    # published: Stevens vol. 3, A.2 on Fig. 1-14
    assert at(panel, "UDP: clusters", 200) == 1
    assert at(panel, "UDP: mbufs", 200) == at(panel, "UDP: mbufs", 300)
    assert at(panel, "UDP: mbufs", 100) == 2


def test_the_slider_reaches_both_kernels():
    slider = mbuf_panels.mbuf_panel().controls["minclsize_bytes"]
    for wanted in (101.0, 208.0):
        slider.slider.value = int(wanted) - 64
        assert slider.value == wanted


def test_a_stream_is_cut_where_tcpdump_saw_it():
    panel = mbuf_panels.calls_panel()
    # published: Stevens vol. 3, A.2: two calls and two segments at 200 bytes
    assert at(panel, "4.4BSD: calls", 200) == 2
    assert at(panel, "4.4BSD: segments", 200) == 2
    # derived: 100 + 100 + 7 are three calls, of which Nagle's rule joins the last two
    assert (at(panel, "4.4BSD: calls", 207), at(panel, "4.4BSD: segments", 207)) == (3, 2)
    assert "101 to 207 bytes" in panel.figure.description
    panel.controls["nodelay"].value = True
    assert at(panel, "4.4BSD: segments", 207) == 3
    panel.controls["minclsize_bytes"].value = 101.0
    assert at(panel, "4.4BSD: segments", 200) == 1
    assert "leaves in one" in panel.figure.description


def test_a_cut_request_waits_a_round_trip_and_a_timer():
    panel = mbuf_panels.wait_panel()
    # derived: RTT, and RTT + delayed ACK + RTT, at 30 ms and 100 ms
    assert at(panel, "4.4BSD", 100) == pytest.approx(0.03)
    assert at(panel, "4.4BSD", 150) == pytest.approx(0.16)
    assert at(panel, "4.4BSD with TCP_NODELAY", 150) == pytest.approx(0.03)
    panel.controls["delayed_ack_s"].value = 0.2
    assert at(panel, "4.4BSD", 150) == pytest.approx(0.26)
    panel.controls["minclsize_bytes"].value = 101.0
    assert at(panel, "4.4BSD", 150) == pytest.approx(0.03)


def test_fragments_of_1509_bytes():
    panel = mbuf_panels.fragment_panel()
    # published: Stevens vol. 3, A.2: 1508 is whole, 1509 is not
    assert at(panel, "fragments", 1508) == 1
    assert at(panel, "fragments", 1509) == 2
    # derived: 1509 + 8 = 1512 + 5, since offsets count in eights
    assert "2 packets of 1512 + 5 bytes" in panel.figure.description
    assert "Up to 1508 bytes of data fit a packet of 1536" in panel.figure.description
    panel.controls["payload_bytes"].value = 3020.0
    assert "3 packets of 1512 + 1512 + 4" in panel.figure.description
    panel.controls["algorithm"].value = "rfc791"
    assert "2 packets of 1512 + 1516" in panel.figure.description
    panel.controls["mtu_bytes"].value = 1500.0
    assert at(panel, "fragments", 1472) == 1  # published: 1500 - 20 - 8, RFC 791 and 768
    assert at(panel, "fragments", 1476) == 2


def test_costs_beside_what_the_book_says_of_its_curves():
    panel = mbuf_panels.transaction_panel()
    table = panel.children[-1]
    # published: Stevens vol. 3, A.2
    for printed in ("3 ms to 4 ms", "5 ms to 6 ms", "almost 25% more", "about 1.5", "about 4 ms"):
        assert printed in table.value
    more = at(panel, "TCP, 9 packets", 1400) - at(panel, "T/TCP, 3 packets", 1400)
    assert more == pytest.approx(0.004, abs=1e-5)  # published: about 4 ms at every size
    step = at(panel, "UDP, 2 packets", 1509) - at(panel, "UDP, 2 packets", 1508)
    # derived: one packet more each way, and a byte copied and summed four times
    assert step == pytest.approx(2 * 0.667e-3 + 4 * 120e-9)
    panel.controls["mtu_bytes"].value = 65536.0
    step = at(panel, "UDP, 2 packets", 1509) - at(panel, "UDP, 2 packets", 1508)
    assert step == pytest.approx(4 * 120e-9)


def test_the_bump_of_tcp_is_larger_than_that_of_udp_and_goes():
    panel = mbuf_panels.transaction_panel()

    def bump(name):
        return at(panel, name, 200) - at(panel, name, 300)

    # published: Stevens vol. 3, A.2: much larger for TCP and T/TCP than for UDP and ping
    assert bump("TCP, 9 packets") > 5 * bump("UDP, 2 packets") > 0
    panel.controls["minclsize_bytes"].value = 101.0
    assert bump("TCP, 9 packets") < 0


def test_today_nothing_is_cut():
    panel = mbuf_panels.today_panel()
    # published: FreeBSD, MINCLSIZE = MHLEN + 1 = 169; one call a write
    assert "2 calls, 2 mbufs in 4.4BSD, 1 call, 1 mbuf in FreeBSD" in panel.figure.description
    assert at(panel, "FreeBSD: clusters", 200) == 1
    assert at(panel, "FreeBSD: clusters", 160) == 0
    # derived: 10 000 = 4 x 2048 + 1808; today 2 pages of 4096 and a cluster for 1808
    assert at(panel, "4.4BSD: clusters", 10_000) == 5
    assert at(panel, "FreeBSD: clusters", 10_000) == 3


def test_the_sizes_of_the_book():
    # published: Stevens vol. 3, A.2: 23 sizes
    assert len(mbuf_panels.BOOK_SIZES) == 23
