"""Faults of the outputs of tools: languages, dialects, paths, iperf3, irtt, ss, flent, JSON, files.

As in ``test_fault_lines.py``; the values are written down from the texts here, which have them.
"""

from __future__ import annotations

import ast
import gzip
import json
import lzma
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from netcalc import compare, messages
from netcalc.errors import NetcalcError, ReaderError
from netcalc.readers import read
from netcalc.samples import RttSamples

INPUTS = Path(__file__).with_name("inputs")
READERS = Path(__file__).parents[2] / "netcalc" / "readers"


def text_of(name: str) -> str:
    """Return the text of a recorded file."""
    return (INPUTS / name).read_text()


def changed(name: str, **parts: Any) -> str:
    """Return a recorded document with some of its members replaced, a line each."""
    return json.dumps({**json.loads(text_of(name)), **parts}, indent=1)


def windows(head: str, reply: str, lost: str, counts: str) -> str:
    """Return what ping of Windows prints in a language: one reply in 14 ms, and one lost."""
    return f"{head}\n{reply}\n{lost}\n\n{counts}\n"


LANGUAGES = {
    "R13 German of iputils, comma and point": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) Bytes an Daten.\n"
        "64 Bytes von 192.0.2.1: icmp_seq=1 ttl=64 Zeit=14,0 ms\n\n"
        "--- 192.0.2.1 Ping-Statistiken ---\n"
        "2 Pakete übertragen, 1 empfangen, 50% packet loss, time 1001ms\n"
        "rtt min/avg/max/mdev = 14.000/14.000/14.000/0.000 ms\n"
    ).encode(),
    "R13 French": windows(
        "Envoi d’une requête 'Ping'  192.0.2.1 avec 32 octets de données :",
        "Réponse de 192.0.2.1 : octets=32 temps=14 ms TTL=57",
        "Délai d’attente de la demande dépassé.",
        "Statistiques Ping pour 192.0.2.1:\n"
        "    Paquets : envoyés = 2, reçus = 1, perdus = 1 (perte 50%),",
    ).encode("cp1252"),
    "R13 Russian": windows(
        "Обмен пакетами с 192.0.2.1 по с 32 байтами данных:",
        "Ответ от 192.0.2.1: число байт=32 время=14мс TTL=57",
        "Превышен интервал ожидания для запроса.",
        "Статистика Ping для 192.0.2.1:\n"
        "    Пакетов: отправлено = 2, получено = 1, потеряно = 1\n    (50% потерь)",
    ).encode("cp866"),
    "R13 Chinese": windows(
        "正在 Ping 192.0.2.1 具有 32 字节的数据:",
        "来自 192.0.2.1 的回复: 字节=32 时间=14ms TTL=57",
        "请求超时。",
        "192.0.2.1 的 Ping 统计信息:\n    数据包: 已发送 = 2，已接收 = 1，丢失 = 1 (50% 丢失)，",
    ).encode("gbk"),
    "R13 Polish": windows(
        "Badanie 192.0.2.1 z 32 bajtami danych:",
        "Odpowiedź z 192.0.2.1: bajtów=32 czas=14ms TTL=57",
        "Upłynął limit czasu żądania.",
        "Statystyka badania ping dla 192.0.2.1:\n"
        "    Pakiety: Wysłane = 2, Odebrane = 1, Utracone = 1\n             (50% straty),",
    ).encode("cp852"),
    "R14 BusyBox": (
        b"PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
        b"64 bytes from 192.0.2.1: seq=0 ttl=64 time=14.000 ms\n\n"
        b"--- 192.0.2.1 ping statistics ---\n"
        b"2 packets transmitted, 1 packets received, 50% packet loss\n"
        b"round-trip min/avg/max = 14.000/14.000/14.000 ms\n"
    ),
    "R14 inetutils with a decimal comma": (
        b"PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
        b"64 bytes from 192.0.2.1: icmp_seq=0 ttl=64 time=14,000 ms\n"
        b"--- 192.0.2.1 ping statistics ---\n"
        b"2 packets transmitted, 1 packets received, 50% packet loss\n"
        b"round-trip min/avg/max/stddev = 14,000/14,000/14,000/0,000 ms\n"
    ),
    "R14 ping6 of FreeBSD": (
        b"PING6(56=40+8+8 bytes) 2001:db8::1 --> 2001:db8::2\n"
        b"16 bytes from 2001:db8::2, icmp_seq=0 hlim=64 time=14.000 ms\n\n"
        b"--- 2001:db8::2 ping6 statistics ---\n"
        b"2 packets transmitted, 1 packets received, 50.0% packet loss\n"
        b"round-trip min/avg/max/std-dev = 14.000/14.000/14.000/0.000 ms\n"
    ),
    "R14 hping": (
        b"HPING 192.0.2.1 (eth0 192.0.2.1): S set, 40 headers + 0 data bytes\n"
        b"len=44 ip=192.0.2.1 ttl=64 DF id=0 sport=80 flags=SA seq=0 win=65495 rtt=14.0 ms\n\n"
        b"--- 192.0.2.1 hping statistic ---\n"
        b"2 packets transmitted, 1 packets received, 50% packet loss\n"
        b"round-trip min/avg/max = 14.0/14.0/14.0 ms\n"
    ),
    "R14 fping -C": b"192.0.2.1 : 14.00 -\n",
}


@pytest.mark.each("fault", LANGUAGES)
def test_one_reply_in_14_ms_of_two_in_any_language_and_dialect(fault):
    samples = read(LANGUAGES[fault])
    assert isinstance(samples, RttSamples)
    assert (samples.sent, samples.received) == (2, 1)
    assert samples.best_s.tolist() == [0.014]


class Read(NamedTuple):
    """A file of which something is right: rows of facts, and the words of a warning."""

    content: str | bytes
    facts: list[dict[str, Any]]
    said: str


def mtr(head: str, *rows: str) -> str:
    """Return a report of mtr."""
    lines = "\n".join(rows)
    return f"Start: 2026-11-22T10:00:00+0000\nHOST: here                       {head}\n{lines}\n"


USUAL = "Loss%   Snt   Last   Avg  Best  Wrst StDev"
RUN = "transfers/iperf3_tcp.json"
UDP = json.loads(text_of("transfers/iperf3_udp.json"))
SENT = 50069504
"""Bytes of the recorded run, as its sum_sent has them."""
ODD_UDP = {**UDP["end"]["sum_received"], "packets": 0, "lost_packets": 3, "jitter_ms": -0.5}
IRTT = json.loads(text_of("pings/irtt.json"))
SS = "State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
SOCKET = "ESTAB 0 0 192.0.2.1:5201 192.0.2.2:40000"
FLENT = json.loads(text_of("transfers/flent_4.json"))
TWO_RUNS = text_of(RUN) + text_of(RUN)
READ = {
    "R3 iperf3 named .res": Read(text_of(RUN), [{"sent_byte_count": SENT}], ""),
    "R16 two targets": Read(
        mtr(USUAL, "  1.|-- 192.0.2.1     0.0%    10    1.0   1.5   1.0   2.0   0.3") * 2,
        [{"group": "run 1", "hop_count": 1}, {"group": "run 2", "hop_count": 1}], ""),
    "R16 silent hops": Read(
        mtr(USUAL, "  1.|-- 192.0.2.1   100.0%    10    0.0   0.0   0.0   0.0   0.0",
            "  2.|-- ???         100.0    10    0.0   0.0   0.0   0.0   0.0",
            "  3.|-- 192.0.2.9     0.0%    10    9.0   9.5   9.0  10.0   0.3",
            "        192.0.2.10"),
        [{"hop_count": 3, "responding_hop_count": 1, "loss_ratio": None}],
        "line 6: further nodes of the hop above, which have no figures of their own"),
    "R17 interrupted with an empty end": Read(
        changed(RUN, end={}),
        [{"sent_byte_count": SENT, "received_byte_count": None, "partial": True}], ""),
    "R17 a name twice": Read(
        text_of(RUN).rstrip()[:-1] + ', "end": {}}\n', [{"partial": True}],
        "a JSON object repeats names, and the last value of each is used: 'end'"),
    "R17 several documents, the second cut": Read(
        TWO_RUNS[: int(0.8 * len(TWO_RUNS))],
        [{"group": "run 1", "sent_byte_count": SENT, "partial": False},
         {"group": "run 2", "received_byte_count": None, "partial": True}],
        "the last document is cut at line "),
    "R17 text behind": Read(
        text_of(RUN) + "\niperf Done.\n", [{"sent_byte_count": SENT}], "not JSON"),
    "R17 no number": Read(
        text_of(RUN).replace('"retransmits":\t0', '"retransmits": nan'),
        [{"retransmit_count": None}], "not a number (nan or inf): taken as unknown"),
    "R18 packets 0 with 3 lost": Read(
        changed("transfers/iperf3_udp.json", end={**UDP["end"], "sum": ODD_UDP,
                                                  "sum_received": ODD_UDP}),
        [{"loss_ratio": None, "lost_datagram_count": None, "jitter_s": None}],
        "of lost_packets as unknown"),
    "R18 loss of -1": Read(
        changed("transfers/iperf3_udp.json", end={**UDP["end"], "sum": ODD_UDP | {
            "packets": 9, "lost_packets": -1, "lost_percent": 107.0}}),
        [{"loss_ratio": None, "lost_datagram_count": None}], "of lost_packets as unknown"),
    "R19 absurd percent": Read(
        changed("pings/irtt.json", stats={**IRTT["stats"], "packet_loss_percent": 1e22}),
        [{"sent_count": 5, "received_count": 5, "loss_ratio": 0.0, "printed_loss_ratio": None}],
        "the printed loss of 1e+22 % cannot be right and is not used"),
    "R19 lost on the way there": Read(
        changed("pings/irtt.json", round_trips=[
            {**IRTT["round_trips"][0], "lost": "true_up"}, *IRTT["round_trips"][1:]]),
        [{"sent_count": 5, "received_count": 4}], "the summary says 5 received, the lines show 4"),
    "R20 a process glued to the port": Read(
        SS + SOCKET + 'users:(("iperf3",pid=7,fd=5)) cgroup:/a.slice\n'
        "\t bbr wscale:7,7 rto:204 bbr:(bw:98.1Mbps,mrtt:1.5,pacing_gain:1.25) cwnd:10 new:17\n",
        [{"connection_count": 1, "tcp_connection_count": 1, "cwnd_packets": 10,
          "congestion_control": "bbr", "rtt_s": None}], ""),
    "R20 several lines": Read(
        SS + SOCKET + "\n\t cubic rto:204 rtt:1.5/0.5\n\t mss:1448 cwnd:10\n",
        [{"rtt_s": 0.0015, "mss_bytes": 1448, "cwnd_packets": 10}], ""),
    "R21 version 1": Read(
        json.dumps({**FLENT, "version": 1}, indent=1),
        [{"group": "Ping (ms) ICMP", "rtt_min_s": pytest.approx(0.0201)},
         {"group": "TCP upload"}], ""),
    "R22 xz": Read(lzma.compress(text_of(RUN).encode()), [{"sent_byte_count": SENT}], ""),
    "R24 UTF-8 mark": Read(
        b"\xef\xbb\xbf" + text_of(RUN).encode(), [{"sent_byte_count": SENT}], ""),
    "R24 more digits than a float has": Read(
        text_of(RUN).replace(f'"bytes":\t{SENT}', f'"bytes": {"9" * 400}'),
        [{"sent_byte_count": SENT}], ""),  # that of the intervals
}  # fmt: skip


@pytest.mark.each("fault", READ)
def test_what_is_right_is_read_and_the_rest_is_said(fault, tmp_path):
    content, facts, said = READ[fault]
    path = tmp_path / ("capture.pcap" if "R3" in fault else "a.res")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    samples = read(path)
    rows = samples.facts()
    assert len(rows) == len(facts)
    for row, wanted in zip(rows, facts, strict=True):
        assert {name: row.get(name) for name in wanted} == wanted
    assert said in " ".join(map(str, samples.meta.warnings))


def test_each_probe_of_a_traceroute_keeps_its_own_address():
    """R15: names with brackets and HTML, a star between times, marks, a hop that is missing."""
    samples = read(
        "traceroute to 192.0.2.9 (192.0.2.9), 30 hops max, 60 byte packets\n"
        " 1  a (192.0.2.1)  0.5 ms *  b (192.0.2.2)  1.5 ms\n"
        " 2  192.0.2.3 (192.0.2.3) [AS64500]  1.5 ms !H  2.5 ms !X  3.5 ms !F-1300\n"
        " 4  evil (x) <b>&amp;</b> (192.0.2.9)  2.5 ms  3.5 ms  4.5 ms\n"
    )
    assert samples.hop.tolist() == [1, 1, 1, 2, 2, 2, 4, 4, 4]
    assert samples.node.tolist() == [
        "192.0.2.1", "", "192.0.2.2", *["192.0.2.3"] * 3, *["192.0.2.9"] * 3,
    ]  # fmt: skip
    assert samples.lost.tolist() == [False, True, *[False] * 7]
    assert samples.rtt_s[samples.hop > 1].tolist() == pytest.approx(
        [0.0015, 0.0025, 0.0035, 0.0025, 0.0035, 0.0045]
    )
    assert samples.mark.tolist()[3:6] == ["!H", "!X", "!F-1300"]
    assert not samples.meta.partial


def test_columns_of_mtr_are_those_of_its_header():
    """R16: another order of the fields; what no reply has, has no time of 0."""
    table = read(mtr("Snt  Wrst Loss%   Avg", "  1.|-- 192.0.2.1    10   2.0  10.0%   1.5"))
    found = {name: table.data[name].tolist() for name in ("probe_count", "rtt_max_s", "loss_ratio")}
    assert found == {"probe_count": [10], "rtt_max_s": [0.002], "loss_ratio": [0.1]}
    silent = read(READ["R16 silent hops"].content)
    assert np.isnan(silent.data["rtt_min_s"]).tolist() == [True, True, False]
    assert silent.data["rtt_min_s"][2] == pytest.approx(0.009)


def test_unknown_names_of_ss_are_kept_as_text():
    """R20."""
    table = read(READ["R20 a process glued to the port"].content)
    (other,) = table.data["other"]
    assert all(word in other for word in ('users:(("iperf3",pid=7,fd=5))', "new:17", "bbr:(bw"))


class Refused(NamedTuple):
    """A file that is refused: the whole text of its error, behind the name."""

    content: str | bytes
    said: str


CUT = gzip.compress(json.dumps(FLENT).encode(), mtime=0)[:200]
SAVE_AGAIN = "Save or copy the file again"
FORMATS = "netcalc read --formats lists the formats"
REFUSED = {
    "R13 points and commas": Refused(
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
        "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.500,25 ms\n",
        ", line 2, field reply: no reply can be read with certainty; found '64 bytes from "
        "192.0.2.1: icmp_seq=1 ttl=64 time=1.500,25 ms'; expected a time such as time=1.23 ms "
        "[ms]. Use the file that ping wrote, not an edited copy"),
    "R14 unknown dialect": Refused(
        "Sonde 192.0.2.1 gestartet\nAntwort 1 nach 3 Einheiten\n",
        ": contains no measurement: neither the output of a known tool nor columns; expected "
        "lines as a measuring tool prints them (ping, traceroute, iperf3), or rows of numbers "
        f"below names with units, such as size/B, rtt [ms]. {FORMATS}"),
    "R17 error document": Refused(
        json.dumps({"start": {"connected": [], "version": "iperf 3.12"}, "intervals": [],
                    "end": {}, "error": "unable to connect to server: Connection refused"}) + "\n",
        ": contains no measurement; iperf reported 'unable to connect to server: Connection "
        "refused'. Fix what the message says, and run iperf again"),
    "R17 cut before an interval": Refused(
        '{"start": {"version": "iperf 3.12"},\n "intervals": [',
        ", line 2, byte 52: is JSON that ends too early. " + SAVE_AGAIN),
    "R21 a later version": Refused(
        json.dumps({**FLENT, "version": 5}, indent=1),
        ", field version: is of an unsupported version; found '5'; expected a whole number "
        "from 1 to 4. Write it again with the flent that made it, or update this copy of "
        "netcalc"),
    "R21 unequal lengths": Refused(
        json.dumps({**FLENT, "results": {"Ping (ms) ICMP": [20.5]}}, indent=1),
        ", field Ping (ms) ICMP: has 1 value, but there are 6 times. Use the output as the tool "
        "wrote it, not an edited copy"),
    "R22 cut gzip": Refused(
        CUT, f", byte 200: is gzip data that ends too early. {SAVE_AGAIN}"),
    "R22 bomb": Refused(
        gzip.compress(b"1,2\n" * 17_500_000, 1),
        ": is larger than 64 MiB when uncompressed. Split it into parts"),
    "R24 depth": Refused(
        "[" * 100_000 + "\n",
        ": is JSON with too many nested levels. Check what wrote it: no measuring tool nests so "
        "deeply"),
    # Python 3.13 and 3.11 name different places for a comma before a bracket, but not for two
    "R24 comma after a comma": Refused(
        '{"start": {}, "intervals": [],\n "end": {},, "a": 1}\n',
        f", line 2, byte 42: is damaged JSON; found ', \"a\": 1}}'. {SAVE_AGAIN}"),
}  # fmt: skip


@pytest.mark.each("fault", REFUSED)
def test_the_error_says_where_what_and_what_to_do(fault, tmp_path):
    content, said = REFUSED[fault]
    path = tmp_path / "f.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ReaderError) as caught:
        read(path)
    assert str(caught.value) == f"f.txt{said}"


def test_what_is_no_file_is_refused_at_once(tmp_path):
    """R33: none of them is waited for."""
    os.mkfifo(tmp_path / "fifo")
    pipe = "is a device or a pipe, not a regular file. Name a regular file; netcalc read - reads "
    for path, said in (
        (tmp_path / "fifo", pipe + "standard input"),
        (Path("/dev/zero"), pipe + "standard input"),
        (tmp_path, "is a directory, not a file. Name a regular file"),
        (tmp_path / "none", "there is no such file. Check the name and the folder"),
    ):
        with pytest.raises(ReaderError) as caught:
            read(path)
        assert str(caught.value) == f"{path}: {said}"


def test_two_files_are_on_one_axis_with_a_stated_offset_only():
    """R34."""
    one = read(LANGUAGES["R14 BusyBox"])
    with pytest.raises(NetcalcError) as caught:
        compare.on_one_axis({"a": one, "b": one})
    assert str(caught.value) == (
        "one time axis needs the offset of the clocks: clock_offset_s is not given. State it, such "
        "as 0.012 for 12 ms; 0 if one clock made both files"
    )


HOSTILE = (
    "<script>alert(1)</script>",
    "$(reboot)",
    "../../etc/passwd",
    r"\input{x}",
    "\x1b]0;x\x07a",
)


@pytest.mark.each("name", HOSTILE)
def test_names_are_text_wherever_they_are_shown(name):
    """R35: no control character is left, and nothing of it is looked up or run."""
    samples = read(
        f"PING {name} (192.0.2.1) 56(84) bytes of data.\n"
        f"64 bytes from {name} (192.0.2.1): icmp_seq=1 ttl=64 time=1.50 ms\n"
    )
    assert samples.rtt_s.tolist() == [0.0015]
    shown = [repr(samples), str(samples.meta), *map(str, samples.meta.warnings)]
    assert all("\x1b" not in text and "\x07" not in text for text in shown)
    assert "\\u001b" not in json.dumps(samples.facts())


def codes_of_readers() -> set[str]:
    """Return the codes of the errors that the readers raise."""
    found = set()
    for path in READERS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            if called in ("ReaderError", "refusal") and node.args:
                found |= {
                    one.value
                    for one in ast.walk(node.args[0])
                    if isinstance(one, ast.Constant) and isinstance(one.value, str)
                }
    return found


SAID_ALREADY = {"ambiguous-column-unit"}
"""Errors whose sentence is what to do: write one of the units that it lists."""


def test_every_refusal_of_a_reader_says_what_to_do():
    codes = codes_of_readers() - SAID_ALREADY
    assert len(codes) > 80
    assert codes - set(messages.HINTS) == set()


def test_no_code_has_two_sentences():
    """A second one would replace the first without a word."""
    seen: set[str] = set()
    for path in sorted(Path(messages.__file__).parent.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if not (isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)):
                continue
            kind = ast.unparse(node.target).rpartition("_")[2]
            if kind in ("EXPECTED", "HINTS", "HINT"):
                continue
            keys = {ast.unparse(key) for key in node.value.keys if key is not None}
            assert seen & keys == set()
            seen |= keys
