"""Results of speed tests in all forms: one measurement has one reading, whatever wrote it.

by hand: 93.54 Mbit/s down, 19.29 Mbit/s up and a ping of 18.2 ms in the form of each client, after
its source or its manual.
"""

from __future__ import annotations

import json

import pytest

from netcalc.errors import ReaderError
from netcalc.explain import measurement
from netcalc.readers import read, sniff

OOKLA = [
    "Example - Town", "12345", "18.2", "0.4", "N/A", "11692500", "2411250", "117642500", "20000000",
    "https://www.speedtest.net/result/c/x",
]  # fmt: skip
FULL = [*OOKLA, "1", "35.1", "4.1", "10.2", "88.0", "60.5", "7.5", "12.1", "120.4", "9.5", "10.6"]
CLI = (
    '1,Sponsor,"Town, ST",2024-06-15T10:00:00.000000Z,12.34,18.2,93540000.5,19290000.25,,192.0.2.7'
)
LIBRE = (
    "2024-06-15T10:00:00.5+02:00,Town,https://speed.example.net/,18.2,1.2,93.54,19.29,,192.0.2.7"
)
FORMS = {
    "Ookla csv": ",".join(f'"{cell}"' for cell in FULL) + "\n",
    "Ookla csv, old": ",".join(f'"{cell}"' for cell in OOKLA) + "\n",
    "Ookla tsv": "\t".join(FULL) + "\n",
    "Ookla csv behind a date": "2024-06-15 10:00:00," + ",".join(f'"{c}"' for c in FULL) + "\n",
    "Ookla -u MB/s": "   Download:    11.6925 MB/s (data used: 1 MB)\n   Latency: 18.2 ms\n"
                     "     Upload:     2411.25 kB/s (data used: 1 MB)\n",
    "speedtest-cli": CLI + "\n",
    "speedtest-cli, no line end": CLI,
    "speedtest-cli --csv-delimiter": CLI.replace('"Town, ST"', "Town").replace(",", ";") + "\n",
    "speedtest-cli --simple": "Ping: 18.2 ms\nDownload: 93.54 Mbit/s\nUpload: 19.29 Mbit/s",
    "librespeed-cli": LIBRE + "\n",
    "librespeed-cli --simple": "Ping:\t18.20 ms\tJitter:\t1.20 ms\nDownload rate:\t93.54 Mbps\n"
                               "Upload rate:\t19.29 Mbps\n",
    "networkQuality": "==== SUMMARY ====\nUplink capacity: 19.290 Mbps\n"
                      "Downlink capacity: 93.540 Mbps\nResponsiveness: Low (103 RPM)\n"
                      "Idle Latency: 18.2 milliseconds | 3297 RPM",
    "cfspeedtest -o simple": "↓ 93.54 Mbps  ↑ 19.29 Mbps  ⏱ 18.2ms\n",
    "speed-cloudflare-cli": "         Latency: 18.20 ms\n          Jitter: 1.20 ms\n"
                            "     100kB speed: 12.34 Mbps\n  Download speed: 93.54 Mbps\n"
                            "    Upload speed: 19.29 Mbps\n",
    "Cloudflare's module": json.dumps({
        "download": 93540000, "upload": 19290000, "latency": 18.2, "downLoadedLatency": 40.5}),
    "cloudflarepycli": json.dumps({"tests": {
        "latency": {"value": 18.2}, "1MB_down_mbps": {"value": 7},
        "90th_percentile_down_mbps": {"value": 93.54}, "90th_percentile_up_mbps": {"value": 19.29},
    }}),
}  # fmt: skip


def fact(samples, name, group=""):
    return [row[name] for row in samples.facts() if name in row and row["group"].endswith(group)]


@pytest.mark.each("form", FORMS)
def test_one_measurement_in_the_form_of_each_client(form):
    samples = read(FORMS[form] if "\n" in FORMS[form] else FORMS[form].encode())
    assert fact(samples, "received_rate_bps", "download") == pytest.approx([93.54e6], rel=1e-7)
    assert fact(samples, "sent_rate_bps", "upload") == pytest.approx([19.29e6], rel=1e-7)
    if not form.startswith("Ookla -u"):
        assert not samples.meta.partial
    assert fact(samples, "rtt_s", "ping") == pytest.approx([0.0182])


def test_rates_of_fast_in_text_and_in_old_units():
    samples = read("\n    93 Mbps ↓ / 820 Kbps ↑\n\n")
    assert fact(samples, "received_rate_bps") == [93e6]
    assert fact(samples, "sent_rate_bps") == [820e3]
    old = {"downloadSpeed": 1.5, "downloadUnit": "Gbps", "latency": 9}
    assert fact(read(json.dumps(old) + "\n"), "received_rate_bps") == [1.5e9]
    apart = {**old, "uploadSpeed": 20, "uploadUnit": "Mbps"}  # which of them was converted?
    assert sniff(json.dumps(apart) + "\n") == "speedtest"
    with pytest.raises(ReaderError):
        read(json.dumps(apart) + "\n")


def test_a_log_of_days_with_errors_between():
    """A header again, an error, a test that failed, one without an upload: each is told apart."""
    head = "Server ID,Sponsor,Server Name,Timestamp,Distance,Ping,Download,Upload,Share,IP Address"
    later = CLI.replace("T10:", "T12:").replace("19290000.25", "0")
    lines = [head, CLI, "ERROR: No matched servers: 7", head, ",".join(["NA"] * 10), later, ""]
    samples = read("\n".join(lines))
    assert [row["group"] for row in samples.facts()] == [
        "run 1 download", "run 1 upload", "run 2 download", "run 1 ping", "run 2 ping",
    ]  # fmt: skip
    assert samples.start_s.tolist() == [0, 0, 7200]
    assert samples.meta.start == "2024-06-15T10:00:00.000000Z"
    ignored = samples.meta.warnings[0]
    assert (ignored.code, ignored.values["numbers"]) == ("speedtest-lines-ignored", [3, 5])


def test_a_log_of_json_with_errors_between():
    result = {"download": 93540000, "upload": 19290000, "ping": 18.2}
    lines = [
        "ERROR: Unable to connect",
        json.dumps(result),
        "x",
        json.dumps(result),
        '{"download": 9',
    ]
    samples = read("\n".join(lines))
    assert fact(samples, "received_rate_bps") == [93540000, 93540000]
    assert samples.meta.partial
    assert samples.meta.warnings[0].values["numbers"] == [1, 3]


def test_a_log_of_text_is_several_runs():
    text = "Ping: {} ms\nDownload: 93.54 Mbit/s\nUpload: 19.29 Mbit/s\n"
    samples = read(text.format(18.2) + text.format(17.5))
    assert fact(samples, "rtt_s") == pytest.approx([0.0182, 0.0175])
    assert {row["group"] for row in samples.facts()} == {
        f"run {run} {part}" for run in (1, 2) for part in ("download", "upload", "ping")
    }


def test_a_number_without_its_end_is_unknown():
    samples = read("\t".join(FULL).encode())
    assert fact(samples, "rtt_min_s", "ping") == pytest.approx([0.0095])
    assert fact(samples, "rtt_max_s", "ping") == []
    cut = read(FORMS["Ookla csv"] + FORMS["Ookla csv"][:120])
    assert len(fact(cut, "sent_rate_bps")) == 1
    assert cut.meta.partial
    lost = read("Ping: 18.2 ms\nDownload: 93.54 Mbit/s\nUpload: 19.29 Mbi")
    assert fact(lost, "sent_rate_bps") == []
    assert lost.meta.partial


def test_the_jitter_of_older_versions():
    text = "    Latency:     4.26 ms   (0.64 ms jitter)\n   Download:    67.36 Mbps "
    assert fact(read(text + "(data used: 80.5 MB)\n"), "jitter_s", "ping") == pytest.approx(
        [0.00064]
    )


def test_a_ping_without_an_answer_is_no_time():
    """speedtest-cli counts 3600 s for each of three requests, and halves their mean."""
    samples = read(CLI.replace(",18.2,", ",1800000.0,") + "\n")
    assert fact(samples, "rtt_s") == []
    (notice,) = samples.meta.warnings
    assert (notice.code, notice.values["values"]) == ("impossible-values", ["1800000"])


def test_json_whose_names_say_direction_and_unit():
    flat = {"download_mbps": 93.54, "upload_mbps": 19.29, "latency_ms": 18.2, "jitter_ms": 1}
    nested = {"download": {"mbps": 93.54}, "upload": {"mbps": 19.29}, "idleLatencyMs": 18.2}
    for document in (flat, nested):
        samples = read(json.dumps(document) + "\n")
        assert fact(samples, "received_rate_bps") == pytest.approx([93.54e6])
        assert fact(samples, "sent_rate_bps") == pytest.approx([19.29e6])
        assert fact(samples, "rtt_s") == pytest.approx([0.0182])
    for document in (
        {"download": 93.54, "upload": 19.29, "latency": 18.2},  # without a unit
        {"download_MBps": 11.7, "upload_MBps": 2.4},  # bytes, or bits written so
        {"10MB_down_mbps": 1, "25MB_down_mbps": 2, "up_mbps": 3},  # which of both
    ):
        assert sniff(json.dumps(document) + "\n") == "JSON"


def test_lines_of_progress_are_no_result():
    text = (
        "    Download:    12.34 Mbps [=/    ]  11%\r    Download:    93.54 Mbps (data used: 1 MB)\n"
    )
    assert fact(read(text), "received_rate_bps") == [93.54e6]


def test_three_lines_are_read_in_part_or_refused_by_name():
    samples = read("     Upload:    20.00 Mbps (data used: 20.0 MB)\n Packet Loss:     0.5%\n")
    assert samples.meta.partial
    with pytest.raises(ReaderError) as refused:
        read("Retrieving speedtest.net configuration...\nTesting from Example (192.0.2.2)...\n")
    assert refused.value.code == "part-of-output"
    assert "a line of a download or an upload" in str(refused.value)


def test_sizes_of_cfspeedtest():
    row = {"test_type": "Download", "payload_size": 100000, "min": 1, "q1": 2, "median": 3, "q3": 4}
    listed = read(json.dumps([row, {**row, "test_type": "Upload", "median": 2}]) + "\n")
    assert fact(listed, "received_rate_bps", "100 kB download") == [3e6]
    assert fact(listed, "sent_rate_bps", "100 kB upload") == [2e6]
    table = read("test_type,payload_size,min,q1,median,q3,max,avg\n"
                 "latency,0,10.00,,12.00,,15.00,12.00\n"
                 "download,1000000,1,2,3,4,5,3.1\n")  # fmt: skip
    assert fact(table, "received_rate_bps", "1000 kB download") == [3e6]
    assert fact(table, "rtt_s", "ping") == [0.012]
    text = read("Type     Payload |  min/max/avg in mbit/s\n"
                "Download  100KB  |  min 12.62   max 31.15   avg 21.67  \n")  # fmt: skip
    assert fact(text, "received_rate_bps", "100 kB download") == [21.67e6]


def test_explain_uses_the_rates_and_the_wait_under_load():
    """Derived: 94.11 Mbit/s for (250 - 12.5) ms are 2.79 MB."""
    down, up = measurement(read(
        '{"dl_throughput": 94110000, "ul_throughput": 20500000, "dl_responsiveness": 240, '
        '"base_rtt": 12.5}\n'))  # fmt: skip
    assert (down.label, up.label) == ("download", "upload")
    (wait,) = (notice for notice in down.notices if notice.code == "queue-in-buffer")
    assert wait.values["queue_bytes"] == pytest.approx(94.11e6 / 8 * (0.25 - 0.0125))
