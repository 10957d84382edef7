"""iperf3 and iperf 2: JSON, text and lines of commas.

Expected numbers are read off the recorded files by eye (``tests/readers/inputs/transfers``), or
computed by hand from the text beside them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff
from netcalc.samples import FlowSeries

INPUTS = Path(__file__).parent / "inputs" / "transfers"
KIB, MIB = 1024, 1024**2

TCP = {"protocol": "tcp", "direction": "upload", "stream_count": 1, "partial": False}
UDP = {**TCP, "protocol": "udp"}

FACTS = {
    "iperf3_tcp.json": [
        TCP | {"sent_byte_count": 50069504, "received_byte_count": 50069504,
               "sent_rate_bps": pytest.approx(200.266e6, rel=1e-5),
               "received_rate_bps": pytest.approx(200.258e6, rel=1e-5),
               "duration_s": 2.000118, "retransmit_count": 0, "congestion_control": "bbr"}],
    "iperf3_reverse.json": [TCP | {"direction": "download", "sent_byte_count": 50069504}],
    "iperf3_bidir_omit.json": [
        TCP | {"group": "upload", "stream_count": 2, "sent_byte_count": 25165824, "omitted_s": 1},
        TCP | {"group": "download", "direction": "download", "stream_count": 2,
               "received_byte_count": 25165824, "omitted_s": 1}],
    "iperf3_bidir_3.9.json": [
        TCP | {"group": "upload", "sent_byte_count": 5_000_000, "retransmit_count": 3},
        TCP | {"group": "download", "direction": "download", "received_byte_count": 2_500_000}],
    "iperf2_bounceback.txt": [{"protocol": "tcp", "reply_count": 20, "rtt_s": 0.002512}],
    "iperf3_udp.json": [
        UDP | {"sent_byte_count": 501000, "received_byte_count": 500000, "datagram_count": 501,
               "lost_datagram_count": 0, "jitter_s": pytest.approx(7.448e-6, rel=1e-3)}],
    "iperf3_udp_reverse.json": [UDP | {"direction": "download", "datagram_count": 500}],
    "iperf3_server.json": [
        TCP | {"received_byte_count": 12582912, "sent_byte_count": None, "sent_rate_bps": None}],
    "iperf3_interrupted.json": [
        TCP | {"partial": True, "sent_byte_count": 15597568, "received_byte_count": None,
               "duration_s": 2.492222}],
    # The last of three intervals is the second one again: 2 * 6291456 bytes.
    "iperf3_server_gone.json": [TCP | {"partial": True, "sent_byte_count": 12582912}],
    "iperf3_stream.json": [TCP | {"sent_byte_count": 50069504, "received_byte_count": 50069504}],
    "iperf3_cut.json": [TCP | {"partial": True, "received_byte_count": None}],
    "iperf2_fields.csv": [
        {"target": "192.0.2.9", "sent_byte_count": 23375000, "retransmit_count": 4}],
    "iperf2_fields_udp.csv": [
        {"target": "192.0.2.9", "received_byte_count": 260190, "lost_datagram_count": 2}],
    "iperf3_stream_cut.json": [TCP | {"partial": True, "received_byte_count": None}],
    "iperf3_udp_3.1.json": [
        UDP | {"sent_byte_count": 250000, "received_byte_count": None, "datagram_count": 250,
               "lost_datagram_count": 5, "loss_ratio": 0.02, "jitter_s": 5e-5}],
    "iperf3_tcp.txt": [
        TCP | {"sent_rate_bps": 200e6, "sent_byte_count": round(71.6 * MIB), "duration_s": 3}],
    "iperf3_streams_omit.txt": [
        TCP | {"stream_count": 2, "omitted_s": 1, "sent_byte_count": 24 * MIB,
               "sent_rate_bps": 101e6, "received_rate_bps": 101e6}],
    "iperf3_bidir.txt": [
        TCP | {"group": "upload", "retransmit_count": 0},
        TCP | {"group": "download", "direction": "download", "received_byte_count": 12 * MIB}],
    "iperf3_udp.txt": [
        UDP | {"sent_byte_count": 512 * KIB, "datagram_count": 16, "lost_datagram_count": 0,
               "jitter_s": 0.000699}],
    # 0.25 MBytes/sec are 0.25 * 1024**2 * 8 bit/s
    "iperf3_udp_reverse_bytes.txt": [
        UDP | {"direction": "download", "received_rate_bps": 2097152, "jitter_s": 6e-6}],
    "iperf3_verbose.txt": [
        TCP | {"sent_rate_bps": 50279e3, "received_rate_bps": 50250e3,
               "congestion_control": "bbr"}],
    "iperf3_server.txt": [TCP | {"received_rate_bps": 50.3e6, "sent_byte_count": None}],
    "iperf3_interrupted.txt": [
        TCP | {"partial": True, "sent_rate_bps": 50.3e6, "received_byte_count": None}],
    "iperf3_udp_3.0.txt": [
        UDP | {"sent_byte_count": 248 * KIB, "received_byte_count": None, "datagram_count": 31,
               "lost_datagram_count": 1, "jitter_s": 0.000123}],
    "iperf2_tcp.txt": [TCP | {"sent_byte_count": 36 * MIB, "sent_rate_bps": 99.3e6}],
    "iperf2_tcp_server.txt": [TCP | {"received_rate_bps": 100e6, "sent_byte_count": None}],
    "iperf2_parallel_enhanced.txt": [
        TCP | {"stream_count": 2, "sent_rate_bps": pytest.approx(100.8e6), "retransmit_count": 0}],
    "iperf2_udp.txt": [
        UDP | {"sent_rate_bps": 2.01e6, "received_rate_bps": 2.02e6, "datagram_count": 344,
               "lost_datagram_count": 0, "jitter_s": 6e-6}],
    "iperf2_udp_server_enhanced.txt": [UDP | {"received_rate_bps": 2.02e6, "datagram_count": 344}],
    "iperf2_dual.txt": [
        TCP | {"group": "upload", "sent_rate_bps": 50.4e6, "received_rate_bps": None},
        TCP | {"group": "download", "direction": "download", "received_rate_bps": 50e6}],
    "iperf2_reverse.txt": [TCP | {"direction": "download", "received_rate_bps": 50e6}],
    # 6.02 and 5.96 MBytes/sec
    "iperf2_full_duplex.txt": [
        TCP | {"group": "upload", "sent_rate_bps": pytest.approx(6.02 * MIB * 8)},
        TCP | {"group": "download", "direction": "download",
               "received_rate_bps": pytest.approx(5.96 * MIB * 8)}],
    "iperf2_tcp.csv": [TCP | {"sent_byte_count": 12714044, "sent_rate_bps": 50437469}],
    "iperf2_udp_server.csv": [
        UDP | {"received_byte_count": 505680, "datagram_count": 344, "jitter_s": 3e-6}],
    "iperf2_enhanced.csv": [TCP | {"stream_count": 2, "sent_rate_bps": 50286604 + 50306626}],
    "iperf2_udp_2.0.csv": [
        UDP | {"sent_byte_count": 262000, "received_byte_count": 257000, "datagram_count": 178,
               "lost_datagram_count": 4, "jitter_s": 0.00025}],
    "iperf2_tcp_server_2.0.csv": [TCP | {"received_rate_bps": 100e6, "sent_rate_bps": None}],
}  # fmt: skip


def notices(samples):
    return [notice.code for notice in samples.meta.warnings]


@pytest.mark.each("name", sorted(FACTS))
def test_facts_of_recorded_files(name):
    found = read(INPUTS / name).facts()
    assert len(found) == len(FACTS[name])
    for row, wanted in zip(found, FACTS[name], strict=True):
        assert {key: row.get(key) for key in wanted} == wanted


def test_every_recorded_file_has_expected_facts():
    assert {path.name for path in INPUTS.glob("iperf*")} == set(FACTS)


def test_intervals_of_json_are_rows_with_si_units():
    """The first interval of the file: snd_cwnd in bytes, rtt 135 us or less, pmtu 65535."""
    samples = read(INPUTS / "iperf3_tcp.json")
    assert isinstance(samples, FlowSeries)
    assert len(samples) == 4
    assert set(samples.side) == {"sender"}
    assert samples.cwnd_bytes[0] == 785796
    assert samples.path_mtu_bytes[0] == 65535
    assert 11e-6 < samples.rtt_s.min() <= samples.rtt_s.max() == pytest.approx(135e-6)
    assert samples.rate_bps == pytest.approx(samples.throughput_bps, rel=1e-6)


def test_omitted_intervals_are_marked_and_in_no_total():
    samples = read(INPUTS / "iperf3_bidir_omit.json")
    omitted = samples.omitted
    assert omitted.sum() == 4  # two streams each way, one second
    assert len(samples) == 12
    kept = samples.payload_bytes[~omitted & (samples.group == "upload")]
    assert kept.sum() == samples.facts()[0]["sent_byte_count"]


def test_sums_are_no_rows():
    for name, streams in (("iperf3_streams_omit.txt", 2), ("iperf2_parallel_enhanced.txt", 2)):
        samples = read(INPUTS / name)
        assert len(set(samples.stream)) == streams
        assert samples.duration_s.max() <= 1.01


def test_enhanced_lines_have_the_state_of_the_socket():
    """767K/115(27) us in the first line."""
    samples = read(INPUTS / "iperf2_parallel_enhanced.txt")
    assert samples.cwnd_bytes[0] == 767 * 1024
    assert (samples.rtt_s[0], samples.rttvar_s[0]) == (115e-6, 27e-6)


def test_enhanced_lines_of_connections_have_its_first_round_trip():
    """icwnd/mss/irtt=319/32741/10 and .../34: the median of two streams is 22 us."""
    row = read(INPUTS / "iperf2_parallel_enhanced.txt").facts()[0]
    assert (row["rtt_s"], row["mss_bytes"]) == (22e-6, 32741)
    text = (INPUTS / "iperf2_parallel_enhanced.txt").read_text()
    odd = read(text.replace("319/32741/34", "319/1448/34")).facts()[0]
    assert "mss_bytes" not in odd
    one_only = read(text.replace("(icwnd/mss/irtt=319/32741/34) ", "")).facts()[0]
    assert not {"rtt_s", "mss_bytes"} & one_only.keys()


def test_text_and_json_of_a_server_do_not_say_what_was_sent():
    for name in ("iperf3_server.json", "iperf3_server.txt", "iperf2_tcp_server.txt"):
        samples = read(INPUTS / name)
        assert "sent_byte_count" not in samples.facts()[0]
        assert set(samples.side) == {"receiver"}


def changed(name, change):
    document = json.loads((INPUTS / name).read_text())
    change(document)
    return json.dumps(document) + "\n"


def test_a_file_of_an_error_alone_is_refused_with_its_message():
    refused = {"start": {"connected": [], "version": "iperf 3.12"}, "intervals": [], "end": {}}
    for text in (
        json.dumps({**refused, "error": "unable to connect to server"}) + "\n",
        '{"event":"start","data":{"version":"iperf 3.17"}}\n'
        '{"event":"error","data":"unable to connect to server"}\n',
    ):
        with pytest.raises(ReaderError) as caught:
            read(text)
        assert caught.value.code == "iperf-error-only"
        assert "unable to connect to server" in str(caught.value)
    with pytest.raises(ReaderError) as caught:
        read(json.dumps(refused) + "\n")
    assert caught.value.code == "iperf-nothing"


def test_several_documents_are_runs():
    text = (INPUTS / "iperf3_tcp.json").read_text() + (INPUTS / "iperf3_udp.json").read_text()
    samples = read(text)
    assert [row["group"] for row in samples.facts()] == ["run 1", "run 2"]
    assert [row["protocol"] for row in samples.facts()] == ["tcp", "udp"]
    assert set(samples.group) == {"run 1", "run 2"}
    cut = read(text[:-100])
    assert [row["partial"] for row in cut.facts()] == [False, True]
    assert cut.meta.partial
    assert "iperf3-document-cut" in notices(cut)


def test_a_run_of_a_stream_without_its_end_is_partial_before_another():
    first, second = ((INPUTS / f"iperf3_stream{name}.json").read_text() for name in ("_cut", ""))
    samples = read(first[: first.rfind("\n") + 1] + second)
    assert [row["partial"] for row in samples.facts()] == [True, False]


@pytest.mark.each("around", [("$ iperf3 -J -c a\n", ""), ("", "\nreal 0m2.0s\n"), ("w: {x}\n", "")])
def test_text_beside_the_document_is_left_out(around):
    before, after = around
    plain = (INPUTS / "iperf3_tcp.json").read_text()
    samples = read(before + plain + after)
    assert samples.facts() == read(plain).facts()
    assert "text-beside-json" in notices(samples)


def test_a_document_cut_before_its_first_interval_is_refused_with_its_place():
    text = (INPUTS / "iperf3_tcp.json").read_text()
    at = text.index('"streams"')
    with pytest.raises(ReaderError) as caught:
        read(text[:at])
    assert caught.value.line == text[:at].count("\n") + 1


def test_numbers_that_are_none_are_unknown():
    text = (INPUTS / "iperf3_udp.json").read_text()
    text = re.sub(r'"jitter_ms":\s*[0-9.e-]+', '"jitter_ms": -nan', text)
    samples = read(text)
    assert "jitter_s" not in samples.facts()[0]
    assert samples.facts()[0]["received_byte_count"] == 500000
    assert "json-no-number" in notices(samples)


def test_implausible_values_are_unknown_and_named():
    def change(document):
        for part in ("sum", "sum_received"):
            document["end"][part] |= {"lost_packets": -1, "jitter_ms": -0.5}

    samples = read(changed("iperf3_udp.json", change))
    row = samples.facts()[0]
    assert not {"lost_datagram_count", "loss_ratio", "jitter_s"} & set(row)
    assert notices(samples).count("impossible-values") == 2  # lost_packets, jitter_ms

    text = (
        (INPUTS / "iperf3_udp.txt")
        .read_text()
        .replace("0/16 (0%)  receiver", "17/16 (107%)  receiver")
    )
    samples = read(text)
    assert "lost_datagram_count" not in samples.facts()[0]
    assert "implausible-lines" in notices(samples)


def test_events_and_the_full_document_of_one_run_are_one_run():
    """--json-stream-full-output writes both."""
    whole = json.loads((INPUTS / "iperf3_tcp.json").read_text())
    text = (INPUTS / "iperf3_stream.json").read_text() + json.dumps(whole) + "\n"
    assert read(text).facts() == read(INPUTS / "iperf3_tcp.json").facts()


def test_a_decimal_comma_never_makes_a_factor_of_1000():
    plain = (INPUTS / "iperf3_tcp.txt").read_text()
    comma = re.sub(r"(\d)\.(\d+)(?= [MK]| {3}sec| {2}sec|-)", r"\1,\2", plain)
    assert comma != plain
    assert read(comma).facts() == read(plain).facts()
    odd = plain.replace("71.6 MBytes", "71,600 MBytes")
    assert "iperf-lines-unread" in notices(read(odd))


@pytest.mark.each("name", [name for name in sorted(FACTS) if name.endswith((".txt", ".csv"))])
def test_line_ends_and_encodings(name):
    plain = (INPUTS / name).read_text()
    whole = read(plain).facts()
    for data in (plain.replace("\n", "\r\n").encode(), plain.encode("utf-16")):
        assert read(data).facts() == whole


@pytest.mark.parametrize("cuts", [15, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.each("name", sorted(FACTS))
def test_a_file_cut_anywhere_is_partial_right_or_refused(name, cuts):
    """Bytes of a cut run are never more than those of the whole one."""
    data = (INPUTS / name).read_bytes()
    whole = read(data)
    most = {key: max(row.get(key, 0) for row in whole.facts())
            for key in ("sent_byte_count", "received_byte_count")}  # fmt: skip
    for end in range(0, len(data), max(1, len(data) // cuts)):
        try:
            found = read(data[:end])
        except ReaderError:
            continue
        for row in found.facts():
            for key, limit in most.items():
                # A number may lose its last digits, and intervals are rounded.
                assert row.get(key, 0) <= 1.1 * limit or limit == 0


def test_csv_of_another_width_is_refused():
    line = (INPUTS / "iperf2_tcp.csv").read_text().splitlines()[0]
    with pytest.raises(ReaderError) as caught:
        read(line + ",1,2\n")
    assert (caught.value.code, caught.value.line) == ("iperf-csv-width", 1)


def test_csv_of_a_client_says_that_the_side_is_not_in_it():
    assert "iperf-csv-side" in notices(read(INPUTS / "iperf2_tcp.csv"))
    assert notices(read(INPUTS / "iperf2_tcp_server_2.0.csv")) == []


def test_several_runs_of_text():
    one = (INPUTS / "iperf3_tcp.txt").read_text()
    two = (INPUTS / "iperf2_tcp.txt").read_text()
    for text, rate in (
        (one + re.sub(r"port \d+ conn", "port 40001 conn", one), 200e6),
        (two + re.sub(r"port \d+ conn", "port 40001 conn", two), 99.3e6),
    ):
        rows = read(text).facts()
        assert [row["group"] for row in rows] == ["run 1", "run 2"]
        assert {row["sent_rate_bps"] for row in rows} == {rate}


def test_a_server_with_two_clients_has_two_runs():
    server = (INPUTS / "iperf2_tcp_server.txt").read_text()
    again = server[server.index("[  1] local") :].replace(" 48532 ", " 48533 ")
    assert len(read(server + again).facts()) == 2


def test_the_time_of_a_line_that_is_missing_is_not_counted():
    """By hand: 2 x 112 MiB in the 2 s of both lines are 939.5 Mbit/s; over 3 s it were 626.3."""
    lines = [
        f"[  5]   {n}.00-{n + 1}.00   sec   112 MBytes   941 Mbits/sec" for n in range(4)
    ]  # fmt: skip
    for text in (lines[0], lines[1].replace("941", "9l1"), lines[2]), (lines[0], lines[2]):
        (row,) = read("\n".join(text) + "\n").facts()
        assert row["sent_rate_bps"] == pytest.approx(8 * 112 * 2**20)
        assert (row["duration_s"], row["partial"]) == (2.0, True)


def test_a_message_of_iperf3_alone_is_no_unknown_text():
    """A client of iperf3 that is refused prints nothing else."""
    message = "error - unable to connect to server: Connection refused"
    for before in ("", "$ iperf3 -c 192.0.2.1\n"):
        with pytest.raises(ReaderError) as caught:
            read(f"{before}iperf3: {message}\n")
        assert (caught.value.code, caught.value.values["message"]) == ("iperf-error-only", message)


def test_messages_of_the_tool_are_kept():
    """A client that was refused, as iperf 2.1.8 prints it."""
    text = (
        "tcp connect failed: Connection refused\n" + "-" * 60 + "\n"
        "Client connecting to 127.0.0.1, TCP port 16999\n" + "-" * 60 + "\n"
    )
    with pytest.raises(ReaderError) as caught:
        read(text)
    assert caught.value.code == "iperf-error-only"
    with pytest.raises(ReaderError) as caught:
        read("iperf3: error - unable to connect to server\nConnecting to host a, port 1\n")
    assert "unable to connect" in str(caught.value)


def test_formats_are_told_apart():
    for name in FACTS:
        kind = sniff(INPUTS / name)
        wanted = "iperf3" if name.startswith("iperf3") else "iperf 2"
        assert kind.startswith(wanted)
        assert kind.endswith({".json": "JSON", ".csv": "CSV"}.get(Path(name).suffix, kind))


def test_an_interval_without_a_rate_has_one():
    samples = read(INPUTS / "iperf2_tcp.csv")
    assert np.isfinite(samples.rate_bps).all()


def mutants(data, random, count):
    """Yield changed copies: bits, cuts, doubled lines, and numbers that are none."""
    for _ in range(count):
        changed = bytearray(data)
        index = random.randrange(len(changed))
        kind = random.randrange(5)
        if kind == 0:
            changed[index] ^= 1 << random.randrange(8)
        elif kind == 1:
            del changed[index : index + random.randrange(1, 40)]
        elif kind == 2:
            lines = bytes(changed).split(b"\n")
            place = random.randrange(len(lines))
            lines.insert(place, lines[place])
            changed = bytearray(b"\n".join(lines))
        else:
            numbers = [found.span() for found in re.finditer(rb"\d+", bytes(changed))]
            begin, end = random.choice(numbers)
            odd = [b"-1", b"nan", b"1e400", b"9" * 400, b"null", b'"x"', b"[]", b"{}", b"1,5"]
            changed[begin:end] = random.choice(odd)
        yield bytes(changed)


@pytest.mark.slow
@pytest.mark.each("name", sorted(FACTS))
def test_damaged_files_are_read_or_refused(name):
    """Any other error than a ReaderError fails this test."""
    for data in mutants((INPUTS / name).read_bytes(), Random(name), 40):
        try:
            found = read(data)
        except ReaderError:
            continue
        assert not [row for row in found.facts() if row.get("lost_datagram_count", 0) < 0]
