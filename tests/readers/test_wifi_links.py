"""Wi-Fi links: one link has one reading in the output of each tool, in each language.

by hand: -52 dBm, 866.7 Mbit/s sent with scheme 9 in 80 MHz over two streams, 780 Mbit/s received;
the forms are those of the tools' sources and of published outputs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.errors import NetcalcError, ReaderError
from netcalc.explain import measurement
from netcalc.readers import places, read, sniff

INPUTS = Path(__file__).parent / "inputs" / "wifi"
RATES = {"tx_rate_bps": 866.7e6, "rx_rate_bps": 780e6}
FRAMES = {"tx_mcs": 9, "rx_mcs": 8, "tx_width_hz": 80e6, "rx_width_hz": 80e6,
          "tx_stream_count": 2, "rx_stream_count": 2}  # fmt: skip
LINKS = {
    "iw_link.txt": RATES | FRAMES | {
        "signal_dbm": -52, "frequency_hz": 5.18e9, "counter:tx packets": 226},
    "iw_station.txt": RATES | FRAMES | {
        "signal_dbm": -52, "signal_average_dbm": -51, "counter:tx retries": 12,
        "counter:tx failed": 3, "counter:rx bytes": 7007190},
    "iwconfig.txt": {"signal_dbm": -52, "tx_rate_bps": 866.7e6, "frequency_hz": 5.18e9,
                     "counter:Tx excessive retries": 3, "counter:Invalid misc": 202},
    "proc_wireless.txt": {"signal_dbm": -52, "noise_dbm": None, "counter:retry": 3},
    "netsh_wlan.txt": RATES | {"signal_ratio": 0.81, "channel": 36, "signal_dbm": None},
    "netsh_wlan_german.txt": RATES | {"signal_ratio": 0.81, "channel": 36, "signal_dbm": -61},
    "airport.txt": {"signal_dbm": -45, "noise_dbm": -92, "tx_rate_bps": 1.3e9, "tx_mcs": 9,
                    "tx_stream_count": 3, "channel": 149, "channel_width_hz": 80e6},
    "wdutil.txt": {"signal_dbm": -58, "noise_dbm": -96, "tx_rate_bps": 173e6, "tx_mcs": 8,
                   "channel": 165, "channel_width_hz": 20e6},
    "system_profiler.txt": {"signal_dbm": -53, "noise_dbm": -90, "tx_rate_bps": 206e6,
                            "tx_mcs": 8, "channel": 64, "channel_width_hz": 80e6},
}  # fmt: skip


@pytest.mark.each("name", LINKS)
def test_facts_of_a_link(name):
    samples = read(INPUTS / name)
    (row,) = samples.facts()
    assert {fact: row.get(fact) for fact in LINKS[name]} == LINKS[name]
    assert (samples.meta.partial, samples.meta.warnings) == (False, ())
    assert len(samples) == 1


def test_places_and_layers():
    samples = read(INPUTS / "iw_link.txt")
    (row,) = samples.facts()
    assert places.layers_of_row(samples, row) == {"rx_rate_bps": "line", "tx_rate_bps": "line"}
    assert str(places.place(samples, row, "signal_dbm")) == "Wi-Fi frames received, this host"
    with pytest.raises(NetcalcError):  # a rate on the air is no measured transfer
        measurement(samples)


BITRATES = {
    "1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0": (1200.9e6, 11, 80e6, 2),
    "72.2 MBit/s MCS 7 short GI": (72.2e6, 7, None, None),
    "300.0 MBit/s MCS 15 40MHz short GI": (300e6, 15, 40e6, None),
    "2882.3 MBit/s 160MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0": (2882.3e6, 13, 160e6, 2),
    "6.0 MBit/s": (6e6, None, None, None),
}


@pytest.mark.each("printed", BITRATES)
def test_bit_rates_of_iw(printed):
    head = "Station 02:00:00:00:00:02 (on wlan0)\n\tsignal:  \t-52 [-53, -58] dBm\n"
    (row,) = read(f"{head}\ttx bitrate:\t{printed}\n").facts()
    names = ("tx_rate_bps", "tx_mcs", "tx_width_hz", "tx_stream_count")
    assert tuple(row.get(name) for name in names) == BITRATES[printed]


def test_several_stations_are_groups():
    text = (INPUTS / "iw_station.txt").read_text()
    samples = read(text + text.replace("00:02 (on", "00:03 (on").replace("\t-52 [", "\t-70 ["))
    assert [(row["group"], row["signal_dbm"]) for row in samples.facts()] == [
        ("02:00:00:00:00:02", -52), ("02:00:00:00:00:03", -70),
    ]  # fmt: skip
    assert samples["tx retries"].tolist() == [12, 12]


def test_netsh_in_a_language_without_a_table():
    text = (INPUTS / "netsh_wlan.txt").read_text()
    russian = text.replace("Receive rate (Mbps)   ", "Скорость получения (Мбит/с)")
    russian = russian.replace("Transmit rate (Mbps)  ", "Скорость передачи (Мбит/с)")
    (row,) = read(russian.replace("Signal ", "Сигнал ")).facts()
    assert {name: row[name] for name in RATES} == RATES
    assert row["signal_ratio"] == 0.81
    sent = "".join(line for line in text.splitlines(keepends=True) if "Receive" not in line)
    (row,) = read(sent).facts()
    assert (row.get("rx_rate_bps"), row["tx_rate_bps"]) == (None, 866.7e6)


def test_networks_that_are_only_heard_are_no_link():
    text = (INPUTS / "system_profiler.txt").read_text()
    heard = text[text.index("          Other Local") :]
    with pytest.raises(ReaderError) as refused:
        read(heard)
    assert refused.value.code == "wifi-nothing"
    for scan in (
        "BSS 02:00:00:00:00:02(on wlan0)\n\tfreq: 2412\n\tsignal: -64.00 dBm\n",
        "SSID 1 : Home\n    BSSID 1   : 02:00:00:00:00:02\n         Basic rates (Mbps) : 12\n",
        "wlan0     Scan completed :\n          Cell 01 - Address: 02:00:00:00:00:02\n",
    ):
        assert sniff(scan) == "Wi-Fi scan"


def test_an_interface_without_a_link_is_refused_by_name():
    text = (INPUTS / "netsh_wlan.txt").read_text()
    alone = text[: text.index("    SSID")]
    for form in ("Not connected.\n", "wlan0     IEEE 802.11  ESSID:off/any  \n"):
        with pytest.raises(ReaderError) as refused:
            read(form)
        assert refused.value.code == "wifi-nothing"
    with pytest.raises(ReaderError) as refused:
        read(alone)
    assert "netsh wlan" in str(refused.value)


def test_impossible_powers_are_unknown():
    text = (INPUTS / "proc_wireless.txt").read_text()
    (row,) = read(text.replace("-256", " -95")).facts()
    assert row["noise_dbm"] == -95
    samples = read((INPUTS / "wdutil.txt").read_text().replace("-58 dBm", "-580 dBm"))
    assert "signal_dbm" not in samples.facts()[0]
    (notice,) = samples.meta.warnings
    assert (notice.code, notice.values["names"]) == ("wifi-implausible", ["signal_dbm -580 dBm"])


@pytest.mark.parametrize("step", [29, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.each("name", LINKS)
def test_a_cut_link_is_right_or_refused(name, step):
    """Identity: each fact of a cut file is that of the whole file."""
    data = (INPUTS / name).read_bytes()
    samples = read(data)
    (whole,), tool = samples.facts(), samples.meta.tool
    for end in range(20, len(data), step):
        try:
            samples = read(data[:end])
        except ReaderError:
            continue
        if samples.meta.tool != tool:
            continue
        for row in samples.facts():
            facts = {key: value for key, value in row.items() if key != "partial"}
            assert facts.items() <= whole.items(), data[:end][-40:]


@pytest.mark.each(
    ("lines", "code"),
    [
        ("\tsignal:  \t-52 dBm\n\tsignal avg:\t-51 dBm\n\ttx bitrate:\t6.0 MBit/s\n", ""),
        ("\trx bytes:\t7007190\n\trx packets:\t72847\n\ttx bytes:\t20015\n", "part-of-output"),
        ("\tauthorized:\tyes\n\tWMM/WME:\tyes\n\tMFP:\t\tno\n", "part-of-output"),
        ("    Receive rate (Mbps)    : 780\n    Transmit rate (Mbps)   : 866.7\n", ""),
    ],
)
def test_three_lines_are_read_in_part_or_refused_by_name(lines, code):
    if not code:
        assert read(lines).meta.partial
        return
    with pytest.raises(ReaderError) as refused:
        read(lines)
    assert refused.value.code == code
