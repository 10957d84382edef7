"""Pings that were answered by errors: a dead target, and packets too large for the path."""

import math
from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import read, sniff

UNREACHABLE = {  # of a host in the own network, as each Windows prints it and counts it
    "English": (
        "Pinging 192.0.2.77 with 32 bytes of data:",
        "Reply from 192.0.2.10: Destination host unreachable.",
        "Ping statistics for 192.0.2.77:",
        "    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),",
    ),
    "no route": (
        "Pinging 192.0.2.77 with 32 bytes of data:",
        "Reply from 192.0.2.10: TTL expired in transit.",
        "Ping statistics for 192.0.2.77:",
        "    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),",
    ),
    "too large": (
        "Pinging 192.0.2.77 with 1472 bytes of data:",
        "Reply from 192.0.2.10: Packet needs to be fragmented but DF set.",
        "Ping statistics for 192.0.2.77:",
        "    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),",
    ),
    "IPv6": (
        "Pinging 2001:db8::77 with 32 bytes of data:",
        "Reply from 2001:db8::10: Destination host unreachable.",
        "Ping statistics for 2001:db8::77:",
        "    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),\n"
        "Approximate round trip times in milli-seconds:\n"
        "    Minimum = 0ms, Maximum = 0ms, Average = 0ms",
    ),
    "German": (
        "Ping wird ausgeführt für 192.0.2.77 mit 32 Bytes Daten:",
        "Antwort von 192.0.2.10: Zielhost nicht erreichbar.",
        "Ping-Statistik für 192.0.2.77:",
        "    Pakete: Gesendet = 4, Empfangen = 4, Verloren = 0\n    (0% Verlust),",
    ),
    "French": (
        "Envoi d’une requête 'Ping'  192.0.2.77 avec 32 octets de données :",
        "Réponse de 192.0.2.10 : Impossible de joindre l’hôte de destination.",
        "Statistiques Ping pour 192.0.2.77:",
        "    Paquets : envoyés = 4, reçus = 4, perdus = 0 (perte 0%),",
    ),
    "Italian": (
        "Esecuzione di Ping 192.0.2.77 con 32 byte di dati:",
        "Risposta da 192.0.2.10: Host di destinazione non raggiungibile.",
        "Statistiche Ping per 192.0.2.77:",
        "    Pacchetti: Trasmessi = 4, Ricevuti = 4,\n    Persi = 0 (0% persi),",
    ),
    "Russian": (
        "Обмен пакетами с 192.0.2.77 по с 32 байтами данных:",
        "Ответ от 192.0.2.10: Заданный узел недоступен.",
        "Статистика Ping для 192.0.2.77:",
        "    Пакетов: отправлено = 4, получено = 4, потеряно = 0\n    (0% потерь)",
    ),
    "Chinese": (
        "正在 Ping 192.0.2.77 具有 32 字节的数据:",
        "来自 192.0.2.10 的回复: 无法访问目标主机。",
        "192.0.2.77 的 Ping 统计信息:",
        "    数据包: 已发送 = 4，已接收 = 4，丢失 = 0 (0% 丢失)，",
    ),
    "Japanese": (
        "192.0.2.77 に ping を送信しています 32 バイトのデータ:",
        "192.0.2.10 からの応答: 宛先ホストに到達できません。",
        "192.0.2.77 の ping 統計:",
        "    パケット数: 送信 = 4、受信 = 4、損失 = 0 (0% の損失)、",
    ),
    "Korean": (
        "Ping 192.0.2.77 32바이트 데이터 사용:",
        "192.0.2.10의 응답: 대상 호스트에 연결할 수 없습니다.",
        "192.0.2.77에 대한 Ping 통계:",
        "    패킷: 보냄 = 4, 받음 = 4, 손실 = 0 (0% 손실),",
    ),
    "Turkish": (
        "192.0.2.77 adresine 32 bayt veri ile ping gönderiliyor:",
        "192.0.2.10 cevabı: Hedef ana bilgisayara ulaşılamıyor.",
        "192.0.2.77 için Ping istatistiği:",
        "    Paket: Giden = 4, Gelen = 4, Kaybolan = 0 (%0 kayıp),",
    ),
}


def windows(errors, head, error, title, counts):
    return f"\n{head}\n" + f"{error}\n" * errors + f"\n{title}\n{counts}\n"


@pytest.mark.each("language", UNREACHABLE)
def test_an_error_that_windows_counts_as_received_is_no_reply(language):
    samples = read(windows(4, *UNREACHABLE[language]))
    assert (samples.sent, samples.received, samples.errors) == (4, 0, 4)
    assert samples.loss_ratio == 1.0
    assert samples.meta.facts[0]["target"] == samples.meta.target != ""
    assert "rtt_min_s" not in samples.meta.facts[0]
    assert not samples.meta.partial
    counted = {"counted": 4, "count": 4, "answered": 0}
    assert Notice("errors-counted-as-replies", counted) in samples.meta.warnings


ERROR, TIMEOUT = "Reply from 192.0.2.10: TTL expired in transit.\n", "Request timed out.\n"
SUMMARY = "\nPing statistics for 192.0.2.77:\n    Packets: Sent = 4, Received = {}, Lost = {}\n"
HEAD = "\nPinging 192.0.2.77 with 32 bytes of data:\n"


@pytest.mark.each(
    ("lines", "received", "errors"),
    [
        (ERROR * 2 + TIMEOUT * 2, 2, 2),
        (ERROR + TIMEOUT * 3, 1, 1),
        ("General failure.\n" * 4, 0, 0),
        ("PING: transmit failed. General failure.\n" * 4, 0, 0),
    ],
)
def test_of_errors_and_timeouts_none_is_a_reply(lines, received, errors):
    for head in (HEAD, "") if errors else (HEAD,):
        samples = read(head + lines + SUMMARY.format(received, 4 - received))
        assert (samples.sent, samples.received, samples.errors) == (4, 0, errors)


def test_a_summary_alone_is_believed():
    samples = read(HEAD + SUMMARY.format(3, 1))
    assert (samples.sent, samples.received) == (4, 3)


def test_errors_beside_probes_without_a_line_say_nothing_about_those():
    for lines in (ERROR, ERROR + TIMEOUT):
        samples = read(HEAD + lines + SUMMARY.format(3, 1))
        assert (samples.sent, samples.received) == (lines.count("\n"), 0)
        assert samples.meta.partial
        missing = Notice("errors-among-unseen", {"count": 4 - samples.sent})
        assert missing in samples.meta.warnings


@pytest.mark.each("lines", [ERROR * 3, ERROR + TIMEOUT + ERROR, TIMEOUT * 3])
def test_lines_of_windows_without_their_head_are_probes_that_were_lost(lines):
    samples = read(lines)
    assert (samples.sent, samples.received) == (3, 0)
    assert samples.errors == lines.count(ERROR)
    assert samples.meta.partial
    assert math.isnan(samples.payload_bytes[0])


def test_a_summary_that_counts_its_errors_as_received_is_not_believed_elsewhere():
    unreachable = "From 192.0.2.2 icmp_seq={} Destination Host Unreachable\n"
    head = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
    end = (
        "\n--- 192.0.2.1 ping statistics ---\n{} packets transmitted, 2 received, {}% packet loss\n"
    )
    both = unreachable.format(1) + unreachable.format(2)
    assert read(head + both + end.format(2, 0)).received == 0
    assert read(head + both + end.format(4, 50)).received == 2  # quiet: replies have no line


HPING = "HPING 192.0.2.9 (eth0 192.0.2.9): S set, 40 headers + 0 data bytes\n"
HPING_END = """
--- 192.0.2.9 hping statistic ---
{} packets transmitted, {} packets received, {}% packet loss
round-trip min/avg/max = 0.0/0.0/0.0 ms
"""


def test_hping_counts_errors_as_received_and_prints_none_if_quiet():
    error = "ICMP Host Unreachable from ip=192.0.2.1 name=gw\n"
    samples = read(HPING + error * 2 + HPING_END.format(2, 2, 0))
    assert (samples.sent, samples.received) == (2, 0)
    samples = read(HPING + HPING_END.format(4, 3, 25))
    assert (samples.sent, samples.received) == (4, 3)


PING = "PING 203.0.113.9 (203.0.113.9) 1472(1500) bytes of data.\n"
LOCAL = "ping: local error: message too long, mtu=1420\n"
END = (
    "\n--- x ping statistics ---\n"
    "{0} packets transmitted, 0 received, +{0} errors, 100% packet loss\n"
)
NEEDED = "556 bytes from gw.example (192.0.2.238): frag needed and DF set (MTU 1460)\n"
DUMP = (
    "Vr HL TOS  Len   ID Flg  off TTL Pro  cks      Src      Dst\n"
    " 4  5  00 c605 eca0   0 0000  3f  01 c24e 192.0.2.2  203.0.113.9 \n\n"
)
TOO_LARGE = {
    "iputils": (
        PING + "From 192.0.2.1 icmp_seq=1 Frag needed and DF set (mtu = 1420)\n"
        + LOCAL * 2 + END.format(3), 3, 1420,
    ),
    "local error": (PING + LOCAL * 2 + END.format(2), 2, 1420),
    "German": (
        PING + "ping: lokaler Fehler: Nachricht zu lang, MTU=1420\n" + END.format(1), 1, 1420,
    ),
    "IPv6": (
        "PING 2001:db8::9(2001:db8::9) 1452 data bytes\n"
        "From 2001:db8::2 icmp_seq=1 Packet too big: mtu=1400\n"
        "ping: local error: message too long, mtu: 1400\n" + END.format(2), 2, 1400,
    ),
    "macOS": (
        "PING 203.0.113.9 (203.0.113.9): 1450 data bytes\n"
        + NEEDED + DUMP + "Request timeout for icmp_seq 0\n" + NEEDED + DUMP
        + END.format(2), 2, 1460,
    ),
    "BSD, IPv6": (
        "PING6(1500=40+8+1452 bytes) 2001:db8::2 --> 2001:db8::9\n"
        "1240 bytes from 2001:db8::1: Packet too big mtu = 1280\n"
        "ICMP6: type = 128, code = 0\n" + END.format(1), 1, 1280,
    ),
    "two routers": (
        PING + "From 192.0.2.1 icmp_seq=1 Frag needed and DF set (mtu = 1480)\n"
        "From 192.0.2.9 icmp_seq=2 Frag needed and DF set (mtu = 1420)\n" + END.format(2), 2, 1420,
    ),
    "a router that says none": (
        PING + "From 192.0.2.1 icmp_seq=1 Frag needed and DF set (mtu = 0)\n" + END.format(1),
        1, None,
    ),
    "macOS, its own link": (
        "PING 203.0.113.9 (203.0.113.9): 1473 data bytes\nping: sendto: Message too long\n"
        "ping: sendto: Message too long\nRequest timeout for icmp_seq 0\n" + END.format(2), 2, None,
    ),
}  # fmt: skip


@pytest.mark.each("case", TOO_LARGE)
def test_a_packet_that_is_too_large_is_an_error_and_tells_the_path_mtu(case):
    text, errors, mtu = TOO_LARGE[case]
    samples = read(text)
    assert (samples.sent, samples.received, samples.errors) == (errors, 0, errors)
    assert samples.meta.facts[0].get("path_mtu_bytes") == mtu
    assert not any(notice.code == "not-ping" for notice in samples.meta.warnings)


def test_local_errors_alone_are_probes():
    samples = read(LOCAL * 3)
    assert (samples.sent, samples.errors) == (3, 3)
    assert samples.meta.facts[0]["path_mtu_bytes"] == 1420
    assert samples.meta.partial


def test_nothing_is_read_where_ping_could_not_send_at_all():
    with pytest.raises(ReaderError, match="Network is unreachable"):
        read(PING + "ping: connect: Network is unreachable\n")


@pytest.mark.each("name", ["audit.csv", "loopback_transactions.csv"])
def test_a_table_that_speaks_of_packets_and_fragments_is_no_ping(name):
    assert sniff(Path(__file__).parents[2] / "data" / name) == "columns"
