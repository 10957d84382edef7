"""Layers of rates in answers, lines by name, and the defaults that an answer says."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from netcalc import calculator, units
from netcalc.cli import commands
from netcalc.errors import doubts


def run(*arguments):
    done = CliRunner().invoke(commands, ["calc", *arguments])
    assert done.exception is None, done.exception
    return done


def document(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


@pytest.mark.each(
    ("arguments", "said", "layer", "source"),
    [
        (["transfer-bandwidth", "1s", "--payload", "10MB", "--latency", "30ms"],
         "82.47 Mbit/s (line)", "line", "derived: 8e7 bit in 0.97 s"),
        (["goodput.tcp_goodput_bps", "1500B", "--bandwidth", "1Gbit/s", "--tcp-option", "12B"],
         "941.5 Mbit/s (TCP payload)", "TCP payload", "derived: 1448 of 1538 bytes"),
        (["frame-throughput", "64B", "--bandwidth", "1Gbit/s"],
         "761.9 Mbit/s (Ethernet frame)", "Ethernet frame", "derived: 64 of 84 bytes"),
        (["sonet-payload", "3"], "149.8 Mbit/s (SONET payload)", "SONET payload",
         "published: ANSI T1.105, 260 of 270 columns"),
        (["voip-bandwidth", "160B"], "95.2 kbit/s (Ethernet line)", "Ethernet line",
         "derived: 238 bytes fifty times a second"),
        (["voip-bandwidth", "160B", "--link-layer", "frame"], "87.2 kbit/s (Ethernet frame)",
         "Ethernet frame", "published: Cisco's table, G.711 on Ethernet"),
        (["voip-bandwidth", "160B", "--link-bytes", "0B"], "80 kbit/s (layer of link)",
         "layer of link", "derived: 200 bytes fifty times a second"),
        (["throughput", "65535B", "--rtt", "100ms"], "5.243 Mbit/s (TCP payload)", "TCP payload",
         "derived: 8 x 65,535 in 0.1 s"),
    ],
)  # fmt: skip
def test_a_rate_has_its_layer_behind_it(arguments, said, layer, source):
    assert run(*arguments).stdout.strip() == said, source
    assert document(*arguments)["layer"] == layer


def test_explained_and_swept_and_solved_rates_name_it_too():
    shown = run("frame-throughput", "64B", "--bandwidth", "1Gbit/s", "--explain").stdout
    assert "bandwidth_bps = 1 Gbit/s (Ethernet line)" in shown
    assert "761.9 Mbit/s (Ethernet frame)" in shown
    swept = run("frame-throughput", "--bandwidth", "1Gbit/s", "--sweep", "frame=64B:128B:2").stdout
    assert "frame_throughput (Ethernet frame)" in swept
    solved = run("transfer", "1MB", "--solve", "bandwidth", "--for", "1.03s", "--latency", "30ms")
    assert solved.stdout.strip() == "8 Mbit/s (line)"


def test_other_quantities_have_no_layer():
    assert document("serialization", "1538B", "--bandwidth", "1Gbit/s")["layer"] == ""


@pytest.mark.each(
    ("arguments", "value", "note", "source"),
    [
        # derived: 1500 B and 10 of PPPoA and AAL5 are 32 cells of 53 bytes
        (["atm-packet-rate", "1500B", "--bandwidth", "OC-3"], 149.76e6 / (32 * 53 * 8),
         "OC-3 is taken as 149.8 Mbit/s (cells), out of 155.5 Mbit/s (line)",
         "published: ITU-T I.432"),
        (["ppp-packet-rate", "1500B", "--bandwidth", "T1"], 127.3,
         "T1 is taken as 1.536 Mbit/s (channel payload), out of 1.544 Mbit/s (line)",
         "published: ANSI T1.107, 24 channels of 64 kbit/s"),
        (["ppp-packet-rate", "1500B", "--bandwidth", "E1"], 1.984 / 1.536 * 127.3,
         "E1 is taken as 1.984 Mbit/s (channel payload), out of 2.048 Mbit/s (line)",
         "published: ITU-T G.704, 31 of 32 slots"),
        (["ppp-packet-rate", "1500B", "--bandwidth", "1.544Mbit/s"], 127.3 * 1.544 / 1.536, "",
         "identity: a rate in numbers is that rate"),
        (["frame-rate", "64B", "--bandwidth", "OC-192"], 192 * 51.84e6 / 672,
         "which it is not; its payload is 9.585 Gbit/s", "derived: 84 bytes a frame"),
        (["voip-call-count", "E1"], 21, "E1 is treated as an Ethernet of 2.048 Mbit/s (line)",
         "derived: 2048 / 95.2 = 21.5"),
        (["voip-call-count", "E1 payload", "--payload", "20B", "--link-layer", "ppp"], 74, "",
         "derived: 1984 / 26.8 = 74.03"),
        (["transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms"], 5.2113, "",
         "published: Stevens A.3, the gross line"),
    ],
)  # fmt: skip
def test_a_line_by_name_is_what_runs_inside_where_that_is_asked(arguments, value, note, source):
    found = document(*arguments)
    assert found["result"] == pytest.approx(value, rel=1e-3), source
    assert note in found["note"]
    if not note:
        assert found["note"] == ""
        assert "note:" not in run(*arguments).stderr


@pytest.mark.each(
    ("name", "payload_bps"),
    [
        # published: RFC 5180, A.2, and G.707: 149.76 Mbit/s of STM-1, 4 and 16 times that
        ("OC-3", 149.76e6),
        ("STM-1", 149.76e6),
        ("sts-12c", 599.04e6),
        ("OC-48", 2396.16e6),
        ("STM-16", 2396.16e6),
        ("oc48c", 2396.16e6),
        ("STM-8", 8 * 149.76e6),  # a count, though no line has that name
    ],
)
def test_a_count_of_sonet_may_be_its_name(name, payload_bps):
    assert document("sonet-payload", name)["result"] == pytest.approx(payload_bps)
    assert document("pos-frame-rate", "64B", "--sts", name)["result"] == pytest.approx(
        payload_bps / 8 / 65
    )


def test_python_hears_of_a_named_line():
    with doubts() as said:
        given = calculator.formula("atm-packet-rate").arguments({"bandwidth": "OC-3"})
    assert given["bandwidth_bps"] == units.line("OC-3").payload_bps
    assert [one.code for one in said] == ["line-of-payload"]


@pytest.mark.each(
    ("arguments", "assumed"),
    [
        (["lossy-transfer", "100", "--rtt", "50ms", "--loss", "1%"],
         {"segments_per_ack": 1, "rto_s": None, "delayed_ack_s": 0.1}),
        (["lossy-transfer", "100", "--rtt", "50ms", "--loss", "1%", "--rto", "1s"],
         {"segments_per_ack": 1, "delayed_ack_s": 0.1}),
        (["transfer-time", "1GB", "--rtt", "40ms", "--bandwidth", "1Gbit/s"],
         {"congestion_control": "cubic", "segments_per_ack": 1, "min_rto_s": 0.2,
          "tcp_option_bytes": 12}),
        (["rto-s", "50ms", "--rttvar", "0s"], {"min_rto_s": 0.2, "floor": "variation"}),
        (["buffer-rule", "10Gbit/s", "--rtt", "100ms"], {"flow_count": 1}),
        (["voip-call-count", "10Mbit/s"], {"link_layer": "ethernet"}),
        (["voip-call-count", "10Mbit/s", "--link", "26B"], {}),  # the bytes say it
        (["first-byte", "50ms"], {"transport": "tcp", "security": "none"}),
        (["serialization", "1538B", "--bandwidth", "1Gbit/s"], {}),
    ],
)  # fmt: skip
def test_defaults_that_others_expect_otherwise_are_said(arguments, assumed):
    assert document(*arguments)["assumed"] == assumed
    said = run(*arguments).stderr
    assert ("assumed:" in said) == bool(assumed)
    if "rto_s" in assumed:
        assert "--rto that of Linux" in said
        assert "None" not in said


def test_linux_delays_an_acknowledgement_by_40_ms():
    # published: include/net/tcp.h, TCP_DELACK_MIN HZ/25
    assert document("delayed-ack", "linux")["result"] == 0.04
