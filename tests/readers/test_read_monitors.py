"""Monitors that probe in rounds: SmokePing's archive, and a probe of the blackbox exporter."""

from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "pings"
SMOKEPING = (INPUTS / "smokeping.txt").read_text()
BLACKBOX = (INPUTS / "blackbox_icmp.txt").read_text()


def test_a_round_of_smokeping_has_a_share_of_lost_probes_and_its_times():
    """Of 4 probes 0, 1, 0.4 and 4 were lost; the fifth round is unknown."""
    samples = read(INPUTS / "smokeping.txt")
    data = samples.data
    assert data["time_s"].tolist() == [1795348800 + 300 * n for n in range(4)]
    assert data["loss_ratio"].tolist() == [0, 0.25, pytest.approx(0.1), 1]
    assert data["round_median_s"][:3].tolist() == [0.0125, 0.013, 0.0135]
    assert data["round_min_s"][:3].tolist() == [0.012, 0.0125, 0.012]
    assert data["round_max_s"][:3].tolist() == [0.014, 0.0145, 0.016]
    row = samples.facts()[0]
    assert (row["row_count"], row["median:round_median_s"]) == (4, 0.013)
    assert row["mean:loss_ratio"] == pytest.approx((0 + 0.25 + 0.1 + 1) / 4)


def test_smokeping_without_uptime_and_with_letters_for_the_unknown():
    """The form of rrdtool lastupdate, and of an archive without the first column."""
    samples = read(
        "loss median ping1 ping2\n\n1795348800: 1 .0 U 1.0e-02\n".replace(" .0", " 0.01")
    )
    assert samples.data["loss_ratio"].tolist() == [0.5]
    assert samples.data["round_max_s"].tolist() == [0.01]


@pytest.mark.each(
    ("damage", "code"),
    [
        (("4.0000000000e+00", "9.0000000000e+00"), "smokeping-loss"),
        (("4.0000000000e+00", "2.0000000000e+00"), "smokeping-loss"),
        (("00e", "00x"), "smokeping-nothing"),
    ],
)
def test_a_damaged_loss_of_smokeping_is_refused(damage, code):
    with pytest.raises(ReaderError) as refused:
        read(SMOKEPING.replace(*damage))
    assert refused.value.code == code


def test_rows_of_smokeping_without_their_names_are_refused_by_the_name_of_the_tool():
    with pytest.raises(ReaderError, match="SmokePing") as refused:
        read("".join(SMOKEPING.splitlines(keepends=True)[2:5]))
    assert refused.value.code == "part-of-output"


def test_a_probe_of_the_blackbox_exporter():
    samples = read(INPUTS / "blackbox_icmp.txt")
    assert (samples.sent, samples.received, samples.meta.partial) == (1, 1, False)
    assert samples.best_s.tolist() == [0.012456226]
    assert samples.ttl.tolist() == [49]
    assert samples.meta.printed["probe_duration_seconds"] == 0.378563375


def test_a_probe_without_success_has_no_round_trip():
    samples = read(BLACKBOX.replace("probe_success 1", "probe_success 0"))
    assert (samples.sent, samples.received) == (1, 0)
    assert samples.best_s.size == 0


@pytest.mark.each(
    ("lines", "protocol", "trip"),
    [
        ('probe_http_duration_seconds{phase="connect"} 0.02\n'
         'probe_http_duration_seconds{phase="transfer"} 0.5\n', "tcp", 0.02),
        ('probe_dns_duration_seconds{phase="request"} 0.03\n', "dns", 0.03),
        ("probe_duration_seconds 0.25\n", None, None),
    ],
)  # fmt: skip
def test_the_round_trip_is_that_of_the_probe(lines, protocol, trip):
    samples = read(lines + "probe_success 1\n")
    assert samples.facts()[0].get("protocol") == protocol
    assert samples.best_s.tolist() == ([] if trip is None else [trip])
    assert samples.received == 1


def test_a_query_of_prometheus_has_several_targets():
    text = "".join(
        f'probe_icmp_duration_seconds{{instance="192.0.2.{n}",job="icmp",phase="rtt"}} 0.0{n}\n'
        f'probe_success{{instance="192.0.2.{n}",job="icmp"}} {n % 2} 1795348800000\n'
        for n in (1, 2)
    )
    rows = read(text).facts()
    assert [(row["target"], row["received_count"]) for row in rows] == [
        ("192.0.2.1", 1), ("192.0.2.2", 0),
    ]  # fmt: skip


def test_gauges_without_success_are_no_probe():
    with pytest.raises(ReaderError) as refused:
        read("probe_ip_protocol 4\nprobe_duration_seconds 0.3\n")
    assert refused.value.code == "no-probe"
