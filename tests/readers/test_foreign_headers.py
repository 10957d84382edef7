"""Columns that are named in German, French, Spanish or Chinese, with the numbers of such tables."""

from __future__ import annotations

from typing import Any

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "sizes and times in German": (
        "Größe (Byte);Zeit (ms)\n100;1,5\n1500;3,25\n",
        {"max:payload_bytes": 1500, "min:duration_s": 0.0015, "max:duration_s": 0.00325},
    ),
    "round trips in German": (
        "Paketgröße [Byte];Umlaufzeit [ms]\n100;1,5\n1500;3,25\n",
        {"rtt_min_s": 0.0015, "rtt_max_s": 0.00325, "max:payload_bytes": 1500},
    ),
    "seconds in German": (
        "Dateigröße (MB);Dauer (Sek.)\n1;0,5\n20;1,75\n",
        {"max:payload_bytes": 20e6, "max:duration_s": 1.75},
    ),
    "a load in German": (
        "Auslastung;Verzögerung (ms)\n0,1;1,1\n0,9;10\n",
        {"max:utilization_ratio": 0.9, "max:delay_s": 0.01},
    ),
    "a rate in French": (
        "Débit (Mbit/s);Latence (ms)\n10,5;100\n40,2;25\n",
        {"min:throughput_bps": 10.5e6, "max:latency_s": 0.1},
    ),
    "bytes a second in French": (
        "Débit (Mo/s);Latence (ms)\n1,25;100\n5;25\n",
        {"min:throughput_bps": 10e6, "max:throughput_bps": 40e6},
    ),
    "a rate with a large B in German": (
        "Durchsatz (MBit/s);Latenz (ms)\n10,5;100\n40,2;25\n",
        {"min:throughput_bps": 10.5e6, "max:throughput_bps": 40.2e6},
    ),
    "a size in French": (
        "Taille (octets);Temps (ms)\n100;1,5\n1500;3,25\n",
        {"max:payload_bytes": 1500, "max:duration_s": 0.00325},
    ),
    "a size in Spanish": (
        "Tamaño (bytes);Tiempo (ms)\n100;1,5\n1500;3,25\n",
        {"max:payload_bytes": 1500, "max:duration_s": 0.00325},
    ),
    "a window in Spanish": (
        "Ventana (kB);Ancho de banda (Mbit/s)\n64;5,5\n128;10,25\n",
        {"max:window_bytes": 128e3, "max:bandwidth_bps": 10.25e6},
    ),
    "flows in Spanish": (
        "Flujos paralelos;Caudal (Mbit/s)\n1;9,1\n4;35,5\n",
        {"max:flows": 4, "max:throughput_bps": 35.5e6},
    ),
    "a window in French": (
        "Taille de fenêtre (Kio);Débit (Mbit/s)\n8;1,64\n16;3,28\n",
        {"max:window_bytes": 16384, "max:throughput_bps": 3.28e6},
    ),
    "wide commas in Chinese": (
        "窗口大小（KiB），吞吐量（Mbit/s）\n8，1.64\n16，3.28\n",
        {"max:window_bytes": 16384, "max:throughput_bps": 3.28e6},
    ),
    "a rate in Chinese": (
        "延迟(ms),带宽（Mbit/s）\n100,1.5\n25,6.25\n",
        {"min:latency_s": 0.025, "max:bandwidth_bps": 6.25e6},
    ),
    "a number of flows in Spanish": (
        "Número de flujos;Caudal (Mb/s)\n1;31,2\n4;94,0\n",
        {"max:flows": 4, "max:throughput_bps": 94e6},
    ),
    "a number of flows in French": (
        "nombre de flux;débit [Mbit/s]\n1;31\n4;94\n",
        {"max:flows": 4, "max:throughput_bps": 94e6},
    ),
    "a distance in Italian": (
        "Distanza [km],RTT [ms]\n100,1.1\n500,5.4\n", {"max:distance_m": 500e3},
    ),
    "a window in Portuguese": (
        "janela [KiB];vazão [Mbit/s]\n64;10,5\n128;21\n",
        {"max:window_bytes": 131072, "max:throughput_bps": 21e6},
    ),
    "a distance in Japanese": (
        "距離 (km),往復時間 (ms)\n100,1.1\n500,5.4\n",
        {"max:distance_m": 500e3, "max:rtt_s": 0.0054},
    ),
    "units in Russian": (
        "RTT мс,Скорость Мбит/с\n10,400\n20,200\n",
        {"max:RTT_s": 0.02, "max:speed_bps": 400e6},
    ),
    "a share in the name": (
        "loss%,Mbps\n0.1,40\n1,12.6\n", {"mean:loss_ratio": 0.0055, "max:rate_bps": 40e6},
    ),
    "packets a second alone": ("frame [B],pps\n64,1488095\n512,234962\n",
                               {"max:frame_bytes": 512, "max:rate_pps": 1488095}),
}  # fmt: skip


@pytest.mark.parametrize("what", TABLES)
def test_a_column_of_another_language_is_the_english_one(what: str) -> None:
    text, expected = TABLES[what]
    facts = read(text).facts()[0]
    assert {name: facts.get(name) for name in expected} == pytest.approx(expected)


def test_a_refusal_has_the_unit_that_is_in_the_file() -> None:
    with pytest.raises(ReaderError, match="the unit 'Ko' is ambiguous"):
        read("Taille (Ko);Temps (ms)\n1;1,5\n2;3,25\n")


def test_a_refusal_has_the_name_that_is_in_the_file() -> None:
    with pytest.raises(ReaderError, match="field Durchsatz: has no unit"):
        read("Zeit (s);Durchsatz\n1;5\n2;6\n")


def test_two_columns_of_one_meaning_keep_their_names() -> None:
    names = set(read("Durchsatz (Mbit/s);throughput (Mbit/s)\n1;2\n3;4\n").columns())
    assert names == {"Durchsatz_bps", "throughput_bps"}
