"""Speed tests and curl: the round trips of the same file are used, but not the loss of probes.

Expected values are derived by hand from the printed ones.
"""

from __future__ import annotations

import json

import pytest

from netcalc import readers
from netcalc.explain import Known, measurement

OOKLA = {
    "type": "result", "packetLoss": 0,
    "ping": {"jitter": 0.42, "latency": 12.34, "low": 11.9, "high": 13.1},
    "download": {
        "bandwidth": 11714043, "bytes": 117440512, "elapsed": 10005,
        "latency": {"iqm": 25.1, "low": 11.0, "high": 140.2, "jitter": 8.1},
    },
    "upload": {
        "bandwidth": 1404320, "bytes": 14680064, "elapsed": 10205,
        "latency": {"iqm": 95.1, "low": 11.0, "high": 340.2, "jitter": 18.1},
    },
    "server": {"host": "st.example.net"},
}  # fmt: skip


def explained(*documents, known=None):
    text = "".join(json.dumps(one) + "\n" for one in documents)
    return measurement(readers.read(text.encode()), known)


def test_the_latencies_of_a_speed_test_show_its_queue():
    """(95.1 - 12.34) ms x 11.23456 Mbit/s / 8 is 116.2 kB; 25.1 ms is 2.03 times 12.34 ms."""
    down, up = explained(OOKLA)
    for one, rtt_s, queue in ((down, 0.0251, 149_471), (up, 0.0951, 116_221)):
        (found,) = [said for said in one.notices if said.code == "queue-in-buffer"]
        assert found.values["rtt_s"] == pytest.approx(rtt_s)
        assert found.values["base_rtt_s"] == pytest.approx(0.01234)
        assert found.values["queue_bytes"] == pytest.approx(queue, rel=1e-4)
        assert {"ask-rtt", "ask-loss"} & {said.code for said in one.missing} == {"ask-loss"}
    # RFC 6349: (95.1 - 12.34) / 12.34
    assert up.metrics["buffer_delay_factor"] == pytest.approx(6.7066, rel=1e-4)


NETWORK_QUALITY = {
    "base_rtt": 20, "dl_flows": 12, "dl_throughput": 92000000, "responsiveness": 240,
    "ul_flows": 12, "ul_throughput": 18000000,
}  # fmt: skip


@pytest.mark.each("per_minute,is_said", [(240, True), (2000, False)])
def test_a_load_both_ways_shows_a_queue_of_one_of_them(per_minute, is_said):
    """60 s / 240 are 250 ms, 60 s / 2000 only 30 ms: less than twice the 20 ms without load."""
    down, up = explained({**NETWORK_QUALITY, "responsiveness": per_minute})
    found = [said.values for said in down.notices if said.code == "queue-both-ways"]
    assert found == ([{"rtt_s": 0.25, "base_rtt_s": 0.02}] if is_said else [])
    assert "queue-both-ways" not in {said.code for said in up.notices}


def test_each_run_has_its_own_ping():
    later = {**OOKLA, "ping": {"latency": 90.0}, "packetLoss": 2}
    found = explained(OOKLA, later)
    assert [one.label for one in found] == [
        "run 1 download, download", "run 1 upload, upload", "run 2 download, download",
        "run 2 upload, upload",
    ]  # fmt: skip
    bloated = ["queue-in-buffer" in {said.code for said in one.notices} for one in found]
    assert bloated == [True, True, False, False]


def test_the_loss_of_probes_over_udp_is_no_limit_of_tcp():
    for finding in explained({**OOKLA, "packetLoss": 2}):
        assert not any(limit.name.startswith("loss") for limit in finding.limits)


def test_a_stated_round_trip_counts_more_than_the_file():
    (_, up) = explained(OOKLA, known=Known(rtt_s=0.09))
    assert "queue-in-buffer" not in {said.code for said in up.notices}


def test_the_handshake_of_curl_is_a_round_trip():
    """23.456 - 4.012 ms is 19.444 ms: 64 KiB over it are 26.96 Mbit/s."""
    text = (
        "time_namelookup: 0.004012\ntime_connect: 0.023456\ntime_redirect: 0.000000\n"
        "time_total: 0.512345\nsize_download: 1048576\nspeed_download: 2046621\n"
    )
    (found,) = measurement(readers.read(text.encode()), Known(window_bytes=65536))
    assert "ask-rtt" not in {one.code for one in found.missing}
    (window,) = [one for one in found.limits if one.name == "window"]
    assert window.value == pytest.approx(8 * 65536 / 0.019444)


METER = """\
  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
                                 Dload  Upload   Total   Spent    Left  Speed
100  100M  100  100M    0     0  11.1M      0  0:00:09  0:00:09 --:--:-- 11.2M
"""


def test_a_rate_without_a_time_is_explained():
    """11.1 MiB/s are 93.11 Mbit/s, 99 % of the 94.15 (1448 of 1538) of the line; 4.1 MiB/s, 34.39
    Mbit/s, are 37 %, and no time shows round trips."""
    line = Known(line_bps=1e8)
    (of_curl,) = measurement(readers.read(METER), line)
    assert of_curl.measured == pytest.approx(11.1 * 2**20 * 8)
    assert of_curl.binding.name == "line"
    copied = readers.read("file.iso      37%   37MB   4.1MB/s   00:15 ETA\n")
    (of_scp,) = measurement(copied, line)
    assert of_scp.measured == pytest.approx(4.1 * 2**20 * 8)
    assert not of_scp.is_explained
    (asked,) = measurement(copied, Known(rtt_s=0.02))
    assert not asked.is_explained


def test_a_queue_of_an_upload_asks_for_the_line_up():
    """11.23 Mbit/s are far below 100 Mbit/s, and 83 ms of queue are no delay of the path."""
    _, up = explained(OOKLA, known=Known(line_bps=1e8))
    assert up.missing[0].code == "ask-line-up"
    known = Known(line_bps=1e8, line_up_bps=5e7)
    assert "ask-line-up" not in [note.code for note in explained(OOKLA, known=known)[1].missing]
