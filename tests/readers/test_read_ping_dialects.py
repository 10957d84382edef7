"""Pings of systems and languages that are not at hand, written out as those tools print them."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import read, read_ping, sniff

WINDOWS_ENGLISH = """\

Pinging host.example [192.0.2.9] with 32 bytes of data:
Reply from 192.0.2.254: Destination host unreachable.
Request timed out.
Reply from 192.0.2.9: bytes=32 time<1ms TTL=64
Reply from 192.0.2.9: bytes=32 time=3ms TTL=64

Ping statistics for 192.0.2.9:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 3ms, Average = 1ms
"""
WINDOWS_GERMAN = """\

Ping wird ausgeführt für 192.0.2.1 mit 32 Bytes Daten:
Antwort von 192.0.2.254: Zielhost nicht erreichbar.
Antwort von 192.0.2.1: Bytes=32 Zeit=14ms TTL=64
Zeitüberschreitung der Anforderung.

Ping-Statistik für 192.0.2.1:
    Pakete: Gesendet = 3, Empfangen = 2, Verloren = 1
    (33% Verlust),
Ca. Zeitangaben in Millisek.:
    Minimum = 14ms, Maximum = 14ms, Mittelwert = 14ms
"""
WINDOWS_RUSSIAN = """\

Обмен пакетами с 192.0.2.1 по с 32 байтами данных:
Ответ от 192.0.2.1: число байт=32 время=36мс TTL=56
Превышен интервал ожидания для запроса.
Ответ от 192.0.2.1: число байт=32 время<1мс TTL=56

Статистика Ping для 192.0.2.1:
    Пакетов: отправлено = 3, получено = 2, потеряно = 1
    (33% потерь)
Приблизительное время приема-передачи в мс:
    Минимальное = 0мсек, Максимальное = 36 мсек, Среднее = 18 мсек
"""
WINDOWS_CHINESE = """\

正在 Ping host.example [192.0.2.1] 具有 32 字节的数据:
来自 192.0.2.1 的回复: 字节=32 时间=26ms TTL=46
请求超时。
来自 192.0.2.254 的回复: 无法访问目标主机。

192.0.2.1 的 Ping 统计信息:
    数据包: 已发送 = 3，已接收 = 2，丢失 = 1 (33% 丢失)，
往返行程的估计时间(以毫秒为单位):
    最短 = 26ms，最长 = 26ms，平均 = 26ms
"""
WINDOWS_JAPANESE = """\

192.0.2.1 に ping を送信しています 32 バイトのデータ:
192.0.2.1 からの応答: バイト数 =32 時間 =20ms TTL=117
要求がタイムアウトしました。
192.0.2.1 からの応答: バイト数 =32 時間 <1ms TTL=117

192.0.2.1 の ping 統計:
    パケット数: 送信 = 3、受信 = 2、損失 = 1 (33% の損失)、
ラウンド トリップの概算時間 (ミリ秒):
    最小 = 0ms、最大 = 20ms、平均 = 10ms
"""
WINDOWS_KOREAN = """\

Ping 192.0.2.1 32바이트 데이터 사용:
192.0.2.1의 응답: 바이트=32 시간=34ms TTL=57
요청 시간이 만료되었습니다.

192.0.2.1에 대한 Ping 통계:
    패킷: 보냄 = 2, 받음 = 1, 손실 = 1 (50% 손실),
왕복 시간(밀리초):
    최소 = 34ms, 최대 = 34ms, 평균 = 34ms
"""
WINDOWS_FRENCH = """\

Envoi d’une requête 'Ping'  192.0.2.1 avec 32 octets de données :
Réponse de 192.0.2.1 : octets=32 temps=12 ms TTL=117
Délai d’attente de la demande dépassé.
Réponse de 192.0.2.254 : Impossible de joindre l’hôte de destination.
Réponse de 192.0.2.1 : octets=32 temps<1ms TTL=117

Statistiques Ping pour 192.0.2.1:
    Paquets : envoyés = 4, reçus = 3, perdus = 1 (perte 25%),
Durée approximative des boucles en millisecondes :
    Minimum = 0ms, Maximum = 12ms, Moyenne = 6ms
"""
WINDOWS_SPANISH = """\

Haciendo ping a 192.0.2.1 con 32 bytes de datos:
Respuesta desde 192.0.2.1: bytes=32 tiempo<1m TTL=64
Tiempo de espera agotado para esta solicitud.
Respuesta desde 192.0.2.1: bytes=32 tiempo=3ms TTL=64

Estadísticas de ping para 192.0.2.1:
    Paquetes: enviados = 3, recibidos = 2, perdidos = 1
    (33% perdidos),
Tiempos aproximados de ida y vuelta en milisegundos:
    Mínimo = 0ms, Máximo = 3ms, Media = 1ms
"""
WINDOWS_POLISH = """\

Badanie 192.0.2.1 z 32 bajtami danych:
Odpowiedź z 192.0.2.1: bajtów=32 czas=14ms TTL=57
Upłynął limit czasu żądania.
Odpowiedź z 192.0.2.1: bajtów=32 czas<1 ms TTL=57

Statystyka badania ping dla 192.0.2.1:
    Pakiety: Wysłane = 3, Odebrane = 2, Utracone = 1
    (33% straty),
Szacunkowy czas błądzenia pakietów w millisekundach:
    Minimum = 0 ms, Maksimum = 14 ms, Czas średni = 7 ms
"""
WINDOWS_IPV6 = """\

Pinging ::1 with 32 bytes of data:
Reply from ::1: time<1ms
Reply from ::1: time=2ms
Reply from 2001:db8::254: Destination host unreachable.
PING: transmit failed. General failure.

Ping statistics for ::1:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 2ms, Average = 1ms
"""
# text -> sent, received, errors, times [ms]
WINDOWS = {
    "English": (WINDOWS_ENGLISH, 4, 2, 1, [0.5, 3]),
    "German": (WINDOWS_GERMAN, 3, 1, 1, [14]),
    "Russian": (WINDOWS_RUSSIAN, 3, 2, 0, [36, 0.5]),
    "Chinese": (WINDOWS_CHINESE, 3, 1, 1, [26]),
    "Japanese": (WINDOWS_JAPANESE, 3, 2, 0, [20, 0.5]),
    "Korean": (WINDOWS_KOREAN, 2, 1, 0, [34]),
    "French": (WINDOWS_FRENCH, 4, 2, 1, [12, 0.5]),
    "Spanish": (WINDOWS_SPANISH, 3, 2, 0, [0.5, 3]),
    "Polish": (WINDOWS_POLISH, 3, 2, 0, [14, 0.5]),
    "IPv6": (WINDOWS_IPV6, 4, 2, 1, [0.5, 2]),
}
LINUX = {
    "German, both decimal signs": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) Bytes an Daten.\n"
        "64 Bytes von 192.0.2.1: icmp_seq=1 ttl=64 Zeit=0,481 ms\n"
        "64 Bytes von 192.0.2.1: icmp_seq=2 ttl=64 Zeit=12.5 ms\n"
        "Von 192.0.2.254 icmp_seq=3 Zielhost nicht erreichbar\n"
        "noch keine Antwort für icmp_seq=4\n\n"
        "--- 192.0.2.1 ping-Statistik ---\n"
        "4 Pakete übertragen, 2 empfangen, +1 Fehler, 50% Paketverlust, Zeit 3004ms\n"
        "rtt min/avg/max/mdev = 0,481/6,491/12,500/6,009 ms\n",
        4, 2, 1, [0.481, 12.5],
    ),
    "French": (
        "PING host.example (192.0.2.1) 56(84) octets de données.\n"
        "64 octets de host.example (192.0.2.1) : icmp_seq=1 ttl=64 temps=31.4 ms\n"
        "De 192.0.2.254 (192.0.2.254) icmp_seq=2 Hôte de destination injoignable\n\n"
        "--- statistiques ping host.example ---\n"
        "2 paquets transmis, 1 reçus, +1 erreurs, 50% packet loss, time 1002ms\n"
        "rtt min/avg/max/mdev = 31.400/31.400/31.400/0.000 ms\n",
        2, 1, 1, [31.4],
    ),
    "Russian": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) байт(а) данных.\n"
        "64 байт из 192.0.2.1: icmp_seq=1 ttl=64 время=0.037 мс\n"
        "64 байт из 192.0.2.1: icmp_seq=3 ttl=64 время=1,25 мс\n\n"
        "--- статистика ping 192.0.2.1 ---\n"
        "3 пакетов передано, 2 получено, 33,3333% packet loss, time 2030ms\n"
        "rtt min/avg/max/mdev = 0.037/0.643/1.250/0.606 ms\n",
        3, 2, 0, [0.037, 1.25],
    ),
    "Chinese": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) 字节的数据。\n"
        "64 字节，来自 192.0.2.1: icmp_seq=1 ttl=64 时间=0.037 毫秒\n"
        "64 字节，来自 192.0.2.1: icmp_seq=2 ttl=64 时间=0.047 毫秒\n\n"
        "--- 192.0.2.1 ping 统计 ---\n"
        "已发送 2 个包， 已接收 2 个包, 0% 包丢失, 耗时 0 毫秒\n"
        "rtt min/avg/max/mdev = 0.037/0.042/0.047/0.005 ms\n",
        2, 2, 0, [0.037, 0.047],
    ),
    "Japanese": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) バイトのデータ\n"
        "64 バイト応答 送信元 192.0.2.1: icmp_seq=1 ttl=64 時間=0.049ミリ秒\n"
        "icmp_seq=2 が未応答です\n\n"
        "--- 192.0.2.1 ping 統計 ---\n"
        "送信パケット数 2, 受信パケット数 1, 50% packet loss, time 1002ms\n"
        "rtt min/avg/max/mdev = 0.049/0.049/0.049/0.000 ms\n",
        2, 1, 0, [0.049],
    ),
    "Turkish": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) bayt veri.\n"
        "64 bayt, 192.0.2.1'den: icmp_seq=1 ttl=64 süre=0.049 ms\n"
        "192.0.2.254'den: icmp_seq=2 Ulaşılamayan Hedef Ana Makine\n\n"
        "--- 192.0.2.1 ping istatistiği ---\n"
        "2 paket gönderildi, 1 alındı, %50 packet loss, time 1002ms\n"
        "rtt min/avg/max/mdev = 0.049/0.049/0.049/0.000 ms\n",
        2, 1, 1, [0.049],
    ),
    "IPv6, source given": (
        "PING 2001:db8::1(2001:db8::1) from 2001:db8::2 eth0: 56 data bytes\n"
        "64 bytes from 2001:db8::1%eth0: icmp_seq=1 ttl=64 time=13.4 ms\n"
        "From 2001:db8::fe icmp_seq=2 Destination unreachable: Address unreachable\n\n"
        "--- 2001:db8::1 ping statistics ---\n"
        "2 packets transmitted, 1 received, +1 errors, 50% packet loss, time 1001ms\n"
        "rtt min/avg/max/mdev = 13.400/13.400/13.400/0.000 ms\n",
        2, 1, 1, [13.4],
    ),
    "old Debian: icmp_req": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
        "64 bytes from 192.0.2.1: icmp_req=1 ttl=64 time=13.4 ms\n\n"
        "--- 192.0.2.1 ping statistics ---\n"
        "1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
        "rtt min/avg/max/mdev = 13.400/13.400/13.400/0.000 ms\n",
        1, 1, 0, [13.4],
    ),
}  # fmt: skip
MACOS_UNREACHABLE = """\
PING 192.0.2.220 (192.0.2.220): 56 data bytes
Request timeout for icmp_seq 0
92 bytes from gw.example (192.0.2.254): Destination Host Unreachable
Vr HL TOS  Len   ID Flg  off TTL Pro  cks      Src      Dst
 4  5  00 5400 567b   0 0000  3f  01 a024 192.0.2.221  192.0.2.220

Request timeout for icmp_seq 1
Request timeout for icmp_seq 2
64 bytes from 192.0.2.220: icmp_seq=3 ttl=64 time=0.500 ms

--- 192.0.2.220 ping statistics ---
4 packets transmitted, 1 packets received, 75.0% packet loss
round-trip min/avg/max/stddev = 0.500/0.500/0.500/0.000 ms
"""
MACOS_SWEEP = """\
PING 192.0.2.1 (192.0.2.1): (100 ... 500) data bytes
108 bytes from 192.0.2.1: icmp_seq=0 ttl=64 time=1.100 ms
208 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.200 ms
Request timeout for icmp_seq 2
408 bytes from 192.0.2.1: icmp_seq=3 ttl=64 time=1.400 ms
508 bytes from 192.0.2.1: icmp_seq=4 ttl=64 time=1.500 ms

--- 192.0.2.1 ping statistics ---
5 packets transmitted, 4 packets received, 20.0% packet loss
round-trip min/avg/max/stddev = 1.100/1.300/1.500/0.158 ms
"""
PING6 = """\
PING6(56=40+8+8 bytes) 2001:db8::2 --> 2001:db8::1
16 bytes from 2001:db8::1, icmp_seq=0 hlim=64 time=0.036 ms
16 bytes from 2001:db8::1, icmp_seq=2 hlim=64 time=0.048 ms

--- 2001:db8::1 ping6 statistics ---
3 packets transmitted, 2 packets received, 33.3% packet loss
round-trip min/avg/max/std-dev = 0.036/0.042/0.048/0.006 ms
"""
SOLARIS = """\
PING 192.0.2.1: 56 data bytes
64 bytes from host (192.0.2.1): icmp_seq=0. time=0.560 ms
64 bytes from host (192.0.2.1): icmp_seq=1. time=0.460 ms

----192.0.2.1 PING Statistics----
2 packets transmitted, 2 packets received, 0% packet loss
round-trip (ms)  min/avg/max/stddev = 0.460/0.510/0.560/0.050
"""


@pytest.mark.each("language", WINDOWS)
def test_windows(language):
    text, sent, received, errors, times = WINDOWS[language]
    samples = read(text)
    assert (samples.sent, samples.received, samples.errors) == (sent, received, errors)
    assert (samples.best_s * 1e3).tolist() == pytest.approx(times)
    assert set(samples.payload_bytes) == {32}
    assert np.isnan(samples.sequence).all()
    assert samples.meta.tool == "ping (Windows)"
    assert not samples.meta.partial
    # Windows calls an error a reply; both counts are kept.
    assert samples.meta.printed["received"] == received + errors
    counted = {"counted": received + errors, "count": errors, "answered": received}
    notice = Notice("errors-counted-as-replies", counted)
    assert bool(errors) == (notice in samples.meta.warnings)


@pytest.mark.each(
    ("language", "encoding"),
    [
        ("German", "cp850"), ("German", "cp1252"), ("French", "cp850"), ("Spanish", "cp850"),
        ("Russian", "cp866"), ("Russian", "cp1251"), ("Russian", "koi8_r"), ("Chinese", "gbk"),
        ("Japanese", "cp932"), ("Korean", "cp949"), ("Polish", "cp852"), ("English", "utf-16"),
        ("Russian", "utf-16"), ("Japanese", "utf-16-le"), ("Chinese", "utf-8-sig"),
    ],
)  # fmt: skip
def test_windows_in_the_encoding_of_a_console(language, encoding):
    text, sent, received, errors, times = WINDOWS[language]
    if encoding == "cp850":
        text = text.replace("’", "'")
    samples = read(text.replace("\n", "\r\n").encode(encoding))
    assert (samples.sent, samples.received, samples.errors) == (sent, received, errors)
    assert (samples.best_s * 1e3).tolist() == pytest.approx(times)


def test_an_encoding_that_had_to_be_guessed_is_named_with_its_offset():
    warnings = read(WINDOWS_GERMAN.encode("cp850")).meta.warnings
    first = WINDOWS_GERMAN.index("ü")
    assert Notice("not-utf-8", {"encoding": "cp850", "offset": first}) in warnings


def test_less_than_one_millisecond_is_an_interval():
    samples = read_ping(WINDOWS_ENGLISH)
    least = samples.rtt_s == 0.5e-3
    assert samples.resolution_s[least].tolist() == [1e-3]
    assert samples.resolution_s[samples.rtt_s == 3e-3].tolist() == [1e-3]


def test_windows_without_summary_counts_its_lines():
    text = WINDOWS_ENGLISH.partition("\n\nPing statistics")[0] + "\n"
    samples = read_ping(text)
    assert (samples.sent, samples.received, samples.errors) == (4, 2, 1)
    assert samples.meta.partial


def test_windows_words_beyond_the_probes_are_no_timeouts():
    text = WINDOWS_ENGLISH.replace("Request timed", "something of the shell\nRequest timed")
    samples = read_ping(text)
    assert (samples.sent, samples.received, samples.errors) == (4, 2, 1)
    assert Notice("not-about-a-probe", {"numbers": [4]}) in samples.meta.warnings


@pytest.mark.each("name", LINUX)
def test_linux(name):
    text, sent, received, errors, times = LINUX[name]
    samples = read(text)
    assert (samples.sent, samples.received, samples.errors) == (sent, received, errors)
    assert (samples.best_s * 1e3).tolist() == pytest.approx(times)
    assert set(samples.payload_bytes) == {56}
    assert samples.meta.tool == "ping (iputils)"
    assert all(each.code.startswith("error-") for each in samples.meta.warnings), "of a router"


def test_macos_timeouts_and_a_quoted_packet():
    samples = read_ping(MACOS_UNREACHABLE)
    assert (samples.sent, samples.received, samples.errors) == (4, 1, 1)
    assert samples.sequence.tolist() == [0, 1, 2, 3]
    assert samples.meta.tool == "ping (macOS)"


def test_macos_size_sweep_has_the_size_of_each_line():
    samples = read_ping(MACOS_SWEEP)
    assert (samples.sent, samples.received) == (5, 4)
    sizes, minima = samples.minima()
    assert sizes.tolist() == [100, 200, 400, 500]
    assert (minima * 1e3).tolist() == pytest.approx([1.1, 1.2, 1.4, 1.5])


def test_freebsd_ping6():
    samples = read_ping(PING6)
    assert (samples.sent, samples.received) == (3, 2)
    assert set(samples.payload_bytes) == {8}
    assert samples.ttl[0] == 64
    assert samples.meta.target == "2001:db8::1"


def test_solaris():
    samples = read_ping(SOLARIS)
    assert (samples.sent, samples.received, samples.meta.partial) == (2, 2, False)
    assert (samples.best_s * 1e3).tolist() == pytest.approx([0.56, 0.46])


@pytest.mark.each(
    ("kind", "text"),
    [
        ("Huawei ping", "  PING 192.0.2.1: 56  data bytes, press CTRL_C to break\n"),
        ("MikroTik ping", "  SEQ HOST                                     SIZE TTL TIME  STATUS\n"),
        ("router ping", "PING 192.0.2.1 56 data bytes\nRequest timed out. icmp_seq=1.\n"),
        ("hrping", "Reply from 192.0.2.1: seq=0001 time=0.22ms TTL=64 ID=1f2e\n"),
        ("Test-Connection", "Ping Source           Address                   Latency BufferSize\n"),
    ],
)  # fmt: skip
def test_other_dialects_are_not_ping(kind, text):
    assert sniff(text) == kind
    with pytest.raises(ReaderError) as caught:
        read_ping(text)
    assert (caught.value.code, caught.value.values["kind"]) == ("not-ping-output", kind)


def test_a_log_of_a_firewall_is_no_ping():
    """SEQ= in capitals is a field of a packet; no ping prints it so."""
    line = (
        "Mar  1 10:00:0{} host kernel: IN=eth0 OUT= SRC=192.0.2.1 DST=192.0.2.2 LEN=84 TTL=64 "
        "ID=0 DF PROTO=ICMP TYPE=8 CODE=0 ID=1 SEQ={} \n"
    )
    text = line.format(0, 1) + line.format(1, 2)
    assert sniff(text) != "ping"
    with pytest.raises(ReaderError):
        read(text)


def test_extremes_of_replies_whose_lines_cannot_be_read_are_those_of_the_summary():
    """The summary knows all three replies, the lines two; of none missing the lines decide."""
    text = (
        "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
        "64 bytes from 192.0.2.1: icmp_seq=0 ttl=64 time=0.071 ms\n"
        "64 bytes from 192.0.2.1: strange\n"
        "64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=0.122 ms\n\n"
        "--- 192.0.2.1 ping statistics ---\n"
        "3 packets transmitted, 3 packets received, 0.0% packet loss\n"
        "round-trip min/avg/max/stddev = {}/0.115/{}/0.034 ms\n"
    )

    def extremes(text):
        (row,) = read(text).facts()
        return pytest.approx([row["rtt_min_s"] * 1e3, row["rtt_max_s"] * 1e3])

    assert extremes(text.format("0.071", "0.153")) == [0.071, 0.153]
    assert extremes(text.format("0.050", "0.122")) == [0.050, 0.122]
    assert extremes(text.format("0.0715", "0.1225")) == [0.071, 0.122], "within the last digit"
    whole = text.replace("strange", "icmp_seq=1 ttl=64 time=0.100 ms")
    assert extremes(whole.format("0.050", "0.153")) == [0.071, 0.122]
