"""Numbers that no network has are unknown, with a warning; what was read can be saved and loaded.

A file of a tool is changed in one number. What may be is that of the room: a round trip of an hour,
100 Tbit/s, a share of 1, counts that a float holds exactly.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import mutants
import pytest
from samples_seen import codes, fact, noted

from netcalc.errors import ReaderError
from netcalc.explain import Known, measurement
from netcalc.readers import read, read_columns, read_ping
from netcalc.readers.ranges import settled
from netcalc.readers.transfers.transfer import number_of
from netcalc.samples import FlowSeries, Meta, RttSamples, Table, loads

INPUTS = Path(__file__).parent / "inputs"
NAN = math.nan


def changed(name, before, after):
    text = (INPUTS / name).read_text()
    assert before in text
    return read(text.replace(before, after, 1))


def column_notices(samples):
    kept = ("name", "count", "row")
    return [
        tuple(one.values[name] for name in kept)
        for one in samples.meta.warnings
        if one.code == "column-out-of-range"
    ]


def fact_notices(samples):
    return [
        (one.values["name"], one.values["place"])
        for one in samples.meta.warnings
        if one.code == "fact-out-of-range"
    ]


@pytest.mark.each("time", ["1e300 ms", "4294967296 ms", "3600000.1 ms"])
def test_a_round_trip_beyond_an_hour_is_unknown(time):
    found = read_columns(f"size [B],rtt\n56,0.4 ms\n57,{time}\n58,0.6 ms\n")
    assert found.rtt_s.tolist() == pytest.approx([0.0004, NAN, 0.0006], nan_ok=True)
    assert column_notices(found) == [("rtt_s", 1, 2)]
    assert found.facts()[0]["rtt_max_s"] == 0.0006
    assert found.facts()[0]["rtt_median_s"] == pytest.approx(0.0005)
    said = str(found.meta.warnings[-1])
    assert said.startswith("rtt_s: 1 value counts as unknown, the first in row 2, line 3: ")
    assert said.endswith(", which must be from 0 to 3600 s")


def test_numbers_at_the_ends_of_their_ranges_stay():
    found = read_columns("size [B],rtt [s]\n56,3600\n57,0\n")
    assert found.rtt_s.tolist() == [3600.0, 0.0]
    rates = read_columns("load [%],rate [bit/s],loss [%]\n120,1e14,100\n1,0,0\n")
    assert rates["rate_bps"].tolist() == [1e14, 0.0]
    assert rates["loss_ratio"].tolist() == [1.0, 0.0]
    assert rates["load_ratio"].tolist() == [1.2, 0.01], "what is offered may be more than the link"
    assert codes(found) == codes(rates) == []


def test_a_column_of_a_table_and_its_facts_follow_the_range():
    found = read_columns("name,rate [bit/s],loss [%]\na,1e308,1\nb,5e6,101\nc,7e6,3\n")
    assert found["rate_bps"].tolist() == pytest.approx([NAN, 5e6, 7e6], nan_ok=True)
    assert found["loss_ratio"].tolist() == pytest.approx([0.01, NAN, 0.03], nan_ok=True)
    assert column_notices(found) == [("rate_bps", 1, 1), ("loss_ratio", 1, 2)]
    assert fact(found, "max:rate_bps", "median:rate_bps", "mean:loss_ratio") == (7e6, 6e6, 0.02)


def test_ping_read_by_its_own_name_passes_the_same_door():
    text = "64 bytes from 192.0.2.1: icmp_seq={} ttl=64 time={} ms\n"
    lines = "".join(text.format(n, t) for n, t in enumerate(("0.5", "9999999", "0.7"), 1))
    for found in (read_ping(lines), read(lines)):
        assert found.rtt_s.tolist() == pytest.approx([0.0005, NAN, 0.0007], nan_ok=True)
        assert found.received == 3, "a reply without a time is a reply"
        assert column_notices(found) == [("rtt_s", 1, 2)]


def test_a_rate_beyond_all_lines_is_unknown():
    found = changed("transfers/ndt7_summary.json", '"Value":19.3', '"Value":9e8')
    assert [name for name, _ in fact_notices(found)] == ["received_rate_bps"]
    assert fact(found, "received_rate_bps", row=1) == (None,)


def test_a_part_is_not_above_its_whole():
    rows = [{"group": "a", "sent_count": 3, "received_count": 4, "duplicate_count": 9},
            {"group": "b", "duration_s": 2.0, "jitter_s": 2.5, "hop_count": 3,
             "responding_hop_count": 3}]  # fmt: skip
    given = RttSamples(payload_bytes=[56.0], rtt_s=[0.1], meta=Meta(tool="x", facts=rows))
    found = settled(given)
    assert found.facts() == [
        {"group": "a", "sent_count": 3, "duplicate_count": 9},
        {"group": "b", "duration_s": 2.0, "hop_count": 3, "responding_hop_count": 3},
    ]
    assert fact_notices(found) == [("received_count", "a"), ("jitter_s", "b")]
    assert settled(found) is found


def test_ends_that_cross_are_both_unknown():
    text = (INPUTS / "pings/junos_rapid.txt").read_text()
    summary = next(line for line in text.splitlines() if "min/avg/max" in line)
    least = summary.partition("= ")[2].partition("/")[0]
    found = read(text.replace(f"= {least}/", f"= 99{least}/"))
    assert fact(found, "rtt_min_s", "rtt_max_s") == (None, None)
    assert [name for name, _ in fact_notices(found)] == ["rtt_min_s", "rtt_max_s"]
    assert "which must be at most rtt_max_s" in str(found.meta.warnings[-2])


def test_a_median_outside_its_ends_is_unknown():
    text = (INPUTS / "transfers/netperf_rr_keyval.txt").read_text()
    values = dict(line.split("=", 1) for line in text.splitlines() if "_LATENCY=" in line)
    found = read(text)
    least, middle, most = fact(found, "rtt_min_s", "rtt_median_s", "rtt_max_s")
    assert least <= middle <= most
    found = read(text.replace(f"P50_LATENCY={values['P50_LATENCY']}", "P50_LATENCY=987654321"))
    assert fact(found, "rtt_min_s", "rtt_median_s", "rtt_max_s") == (least, None, most)
    assert [name for name, _ in fact_notices(found)] == ["rtt_median_s"]


def test_a_number_in_the_syntax_of_python_is_no_number_of_a_tool():
    text = (INPUTS / "transfers/netperf_rr_keyval.txt").read_text()
    middle = next(line for line in text.splitlines() if line.startswith("P50_LATENCY="))
    found = read(text.replace(middle, "P50_LATENCY=1_000"))
    assert fact(found, "rtt_median_s") == (None,)
    assert codes(found) == ["transfer-lines-unread"]
    assert [number_of(one) for one in ("1_0", "1e5_0", "1e5")] == pytest.approx(
        [NAN, NAN, 1e5], nan_ok=True
    )
    export = (INPUTS / "exported/ping.csv").read_text()
    assert "\n56.0," in export
    with pytest.raises(ReaderError, match="is not a number"):
        read(export.replace("\n56.0,", "\n5_6.0,", 1))


def test_jitter_is_shorter_than_its_run_and_bytes_fit_their_interval():
    """2 s in all; 100 Tbit/s carry 12.5 TB in a second."""
    found = settled(
        FlowSeries(
            start_s=[0.0, 1.0, 0.0], duration_s=[1.0, 1.0, 0.0], payload_bytes=[1.25e13, 1.3e13, 1],
            jitter_s=[2.0, 2.1, NAN], datagram_count=[5, 5, 5], lost_count=[6, 5, 0],
        )
    )  # fmt: skip
    assert found.jitter_s.tolist() == pytest.approx([2.0, NAN, NAN], nan_ok=True)
    assert found.payload_bytes.tolist() == pytest.approx([1.25e13, NAN, 1], nan_ok=True)
    assert found.lost_count.tolist() == pytest.approx([NAN, 5, 0], nan_ok=True)
    assert column_notices(found) == [
        ("lost_count", 1, 1), ("jitter_s", 1, 2), ("payload_bytes", 1, 2),
    ]  # fmt: skip


def test_what_a_tool_printed_passes_the_same_ranges():
    printed = {"rtt_avg_s": 1e9, "sent": 3, "runs": [{"loss_ratio": 2.0, "sent": 3}], "name": "x"}
    given = RttSamples(payload_bytes=[56.0], rtt_s=[0.1], meta=Meta(printed=printed))
    found = settled(given)
    assert found.meta.printed == {"sent": 3, "runs": [{"sent": 3}], "name": "x"}
    assert [name for name, _ in fact_notices(found)] == ["rtt_avg_s", "loss_ratio"]
    assert loads(found.dumps()) == found


def test_a_total_that_no_float_holds_is_refused():
    given = RttSamples(payload_bytes=[], rtt_s=[], sent_count=2**53 + 2, received_count=1)
    with pytest.raises(ReaderError) as error:
        settled(given, "a.txt")
    assert (error.value.code, error.value.field) == ("total-out-of-range", "sent_count")


ATLAS = (INPUTS / "paths" / "atlas_traceroute.json").read_text()


def test_a_path_with_a_hop_of_no_number_is_saved_and_loaded():
    found = read(ATLAS.replace('"hop":1,', "", 1))
    assert unknown_in(found.hop) == 3
    assert dict(noted(found))["implausible-hops"] == {"count": 1}
    assert loads(found.dumps()) == found
    answered = read(ATLAS.replace('{"hop":3,', '{"hop":255,', 1))  # the last try, of any hop
    assert unknown_in(answered.hop) > 0
    assert loads(answered.dumps()) == answered


def unknown_in(column):
    return sum(value != value for value in column.tolist())


def test_a_hop_of_another_kind_is_never_unknown():
    saved = json.loads(read(ATLAS).dumps())
    saved["kind"] = "HopSamples"
    rows = len(saved["columns"]["rtt_s"])
    saved["columns"] = {"hop": [None] * rows, "packet_bytes": [60.0] * rows,
                        "rtt_s": [0.1] * rows}  # fmt: skip
    with pytest.raises(ReaderError, match="row 1 has no number"):
        loads(json.dumps(saved).encode())


def test_all_inputs_are_the_same_when_they_were_saved_and_loaded():
    count = 0
    for name, data in mutants.seeds().items():
        try:
            found = read(data)
        except ReaderError:
            continue
        assert loads(found.dumps()) == found, name
        assert mutants.absurd(found) == "", name
        assert not {"column-out-of-range", "fact-out-of-range"} & set(codes(found)), name
        count += 1
    assert count > 400


def test_samples_of_a_program_pass_the_door_when_they_are_read():
    found = RttSamples(payload_bytes=[56.0, 56.0], rtt_s=[math.inf, 0.1])
    again = read(found.dumps())
    assert again.rtt_s.tolist() == pytest.approx([NAN, 0.1], nan_ok=True)
    assert column_notices(again) == [("rtt_s", 1, 1)]
    assert read(again.dumps()) == again


def explained(samples):
    return [str(finding) for finding in measurement(samples, Known())]


def test_segments_of_no_byte_are_segments_of_unknown_size():
    found = changed("transfers/ndt7_server.json", '"SndMSS": 1448', '"SndMSS": 0')
    assert explained(found)
    text = (INPUTS / "transfers/netperf_keyval.txt").read_text()
    assert explained(read(text.replace("TRANSPORT_MSS=1448", "TRANSPORT_MSS=0")))


def test_a_test_that_carried_nothing_in_no_known_time_is_explained():
    found = changed("transfers/speedtest_librespeed.json", '"upload": 20.0', '"upload": 0.0')
    assert explained(found)


def test_a_queue_that_says_no_bytes_is_explained():
    found = changed("counters/tc_noqueue.json", '"bytes":0,', "")
    assert explained(found)


def test_probes_of_a_number_that_no_float_divides_are_read():
    text = (INPUTS / "transfers/flent_2_http.json").read_text()
    document = json.loads(text)
    for probe in document["raw_values"]["HTTP latency"]:
        probe["val"] = 1e308
    document["results"]["HTTP latency"] = [1e-10 for _ in document["results"]["HTTP latency"]]
    assert "rtt_min_s" not in read(json.dumps(document) + "\n").facts()[0]


@pytest.mark.each("percent", [100.3, 278.4])
def test_threads_together_take_more_than_a_processor(percent):
    """published: iperf3 prints the processor time of all its threads by the time of the run."""
    name = "transfers/iperf3_reverse.json"
    document = json.loads((INPUTS / name).read_text())
    document["end"]["cpu_utilization_percent"]["host_total"] = percent
    found = read(json.dumps(document, indent=1))
    shares = [value for key, value in found.meta.printed.items() if key.endswith("processor_ratio")]
    assert pytest.approx(percent / 100) in shares
    assert "fact-out-of-range" not in codes(found)


def test_a_column_of_times_of_day_stays_whatever_it_is_called():
    found = read_columns(
        "time_s,ping_timestamp_s,rtt_ms\n0,1700000000.25,1\n1,1700000001.25,2\n", name="a.csv"
    )
    assert column_notices(found) == []


def test_a_run_that_is_printed_as_of_no_time_keeps_its_jitter():
    """identity: iperf 2 prints 0.0- 0.0 sec for a short transfer."""
    columns = {"start_s": [0.0], "duration_s": [0.0], "payload_bytes": [14_700.0],
               "jitter_s": [1.2e-5]}  # fmt: skip
    found = settled(FlowSeries(**columns))
    assert found.jitter_s.tolist() == [1.2e-5]


PING = """\
PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.481 ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time={} ms
64 bytes from 192.0.2.1: icmp_seq=3 ttl=64 time={} ms
"""


def places(samples):
    return [one.values.get("place") for one in samples.meta.warnings if "range" in one.code]


@pytest.mark.each("times, place", [
    (("5020000.5", "0.4"), "row 2, line 3"),
    (("0.4", "5020000.5"), "row 3, line 4"),
    (("5020000.5", "5020000.5"), "row 2"),  # the first of two: which line, the digits do not say
    (("4294967.295", "4294.967295"), "row 2"),  # the same digits in another line
    (("4294967.295", "42949.67295"), "row 2, line 3"),  # no unit is ten of another
    (("5000000", "0.4"), "row 2"),  # few digits are anywhere by chance
])  # fmt: skip
def test_the_line_of_a_number_is_named_where_one_alone_has_it(times, place):
    text = PING.format(*times)
    assert places(read(text)) == [place]
    assert places(read_ping(text)) == [place]
    assert places(read_columns("seq,rtt [ms]\n" + "".join(
        f"{number},{time}\n" for number, time in enumerate(("0.481", *times), 1)
    ))) == [place]  # fmt: skip


@pytest.mark.each("text, place", [
    ("seq,rtt [h]\n1,0.001\n2,2\n3,0.0072\n", "row 2"),
    ("# one h 7.2345\nrtt [h]\n2.3333\n0.1\n", "row 1, line 3"),
    ("seq;rtt [ms]\n1;0,4\n2;5020000,5\n3;50200005\n", "row 2, line 3"),
    ("seq,rtt [ms]\n1,0.4\n2,1e300\n", "row 2, line 3"),
    ("a,loss [%]\n1,2.5\n2,123.45\n", "row 2, line 3"),
])  # fmt: skip
def test_no_line_is_named_by_chance(text, place):
    assert places(read(text)) == [place]


def test_lines_are_looked_for_in_one_pass_and_for_the_first_warnings_alone():
    """Of many runs with numbers of their own, as many warnings as facts."""
    runs = [PING.format(f"50{number}.5", f"50{number}.7") for number in range(20_000, 20_030)]
    named = [("line" in place) for place in places(read("".join(runs)))]
    assert sum(named) == sum(named[:10]) > 0


def test_a_large_text_is_not_kept_to_name_a_line():
    text = "size [B],rtt [ms]\n" + "56,0.4\n" * 200_000 + "57,5020000.5\n"
    assert places(read(text)) == ["row 200001"]


@pytest.mark.each("number", ["1e308", "-1e101", "2e100"])
def test_no_number_of_any_unit_is_beyond_all_measure(number):
    found = read(f"size [B],score\n1,5\n2,{number}\n3,1e100\n")
    assert found["score"].tolist() == pytest.approx([5.0, NAN, 1e100], nan_ok=True)
    assert column_notices(found) == [("score", 1, 2)]


def test_a_round_trip_by_time_stamps_is_no_time_of_day():
    """As captures with a damaged stamp have it: 52,480 s."""
    data = {"timestamp_rtt_min_s": [0.1, 52_480.0], "ping_timestamp": [1.7e9, 1.7e9]}
    found = settled(Table(data=data, meta=Meta(units=dict.fromkeys(data, "s"))))
    assert found["timestamp_rtt_min_s"].tolist() == pytest.approx([0.1, NAN], nan_ok=True)
    assert found["ping_timestamp"].tolist() == [1.7e9, 1.7e9]
