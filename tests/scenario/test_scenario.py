"""Scenarios: sizes, presets, JSON there and back, and every refusal with its place."""

from __future__ import annotations

import json

import pytest

from netcalc import scenario as scenarios
from netcalc.errors import ArgumentTypeError, DomainError, ReaderError
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario, as_document, from_document

GOOD = {
    "rate_bps": 1e7, "rtt_s": 0.04, "buffer_packets": 33, "loss_ratio": 0.001, "end_s": 60,
    "warm_s": 5, "seed": 7,
    "flows": [
        {"algorithm": "cubic", "start_s": 0, "stop_s": 60, "size_bytes": None},
        {"algorithm": "bbr", "start_s": 22, "size_bytes": 1e6},
    ],
}  # fmt: skip


@pytest.mark.each(
    "bdp, packets, source",
    [
        (0.5, 16, "published: buffers of Fig. 20, 25000 B"),
        (1, 33, "published: 50000 B"),
        (2, 66, "published: 100000 B"),
        (4, 133, "published: 200000 B"),
        (8, 266, "published: 400000 B"),
    ],
)
def test_buffers_of_the_figure_in_packets(bdp, packets, source):
    link = Bottleneck.of(rate_bps=10e6, rtt_s=0.04, buffer_bdp=bdp)
    assert link.buffer_packets == packets, source


def test_a_buffer_in_packets_holds_as_many():
    for packets in range(1, 400):
        link = Bottleneck.of(rate_bps=10e6, rtt_s=0.04, buffer_packets=packets)
        assert link.buffer_packets == packets, "identity: as given"


def test_marking_begins_above_a_seventh_of_the_bdp():
    link = Bottleneck.of(rate_bps=100e6, rtt_s=0.04, buffer_bdp=1)
    assert link.marking_packets == 57, "derived: 0.17 x 500000 / 1500 = 56.7, next packet"
    assert Bottleneck.of(rate_bps=1e6, rtt_s=0.001, buffer_packets=9).marking_packets == 1


def test_what_has_no_stop_and_no_size_runs_to_the_end():
    """A flow itself does not know the end, and is refused without one."""
    loop = {"request_bytes": 10_000}
    found = scenarios.from_document(GOOD | {"flows": [{"algorithm": "reno"}], "requests": [loop]})
    assert (found.flows[0].stop_s, found.requests[0].stop_s) == (60.0, 60.0)
    with pytest.raises(DomainError) as refused:
        Flow(algorithm="reno")
    assert (refused.value.code, refused.value.name) == ("flow-endless", "stop_s")


def test_json_gives_the_scenario():
    found = scenarios.from_document(json.dumps(GOOD))
    assert found.bottleneck == Bottleneck(
        rate_bps=1e7, rtt_s=0.04, buffer_bytes=49500, loss_ratio=0.001
    ), "derived: 33 x 1500 B"
    assert found.flows == (
        Flow(algorithm="cubic", stop_s=60),
        Flow(algorithm="bbr", start_s=22, size_bytes=1e6),
    )
    assert (found.end_s, found.warm_s, found.seed) == (60.0, 5.0, 7)


def test_round_trips_are_those_of_flows_or_spread():
    flows = [{"algorithm": "reno"}, {"algorithm": "reno", "rtt_s": 0.3}, {"algorithm": "bbr"}]
    document = {**GOOD, "flows": flows, "rtt_s": 0.1, "rtt_spread_ratio": 0.2}
    found = scenarios.from_document(document)
    assert found.rtts_s() == pytest.approx((0.08, 0.3, 0.12)), "derived: 0.1 x 0.8, its own, 1.2"
    assert scenarios.from_document(scenarios.as_document(found)) == found, "identity"
    common = scenarios.from_document({**GOOD, "rtt_spread_ratio": 0})
    assert common.has_one_rtt
    assert "rtt_s" not in scenarios.as_document(common)["flows"][0], "as files had it before"


@pytest.mark.each("name", scenarios.presets())
def test_presets_are_written_and_read_again(name):
    found = scenarios.preset(name, algorithm="bbr")
    again = scenarios.from_document(json.dumps(scenarios.as_document(found)))
    assert again == found, "identity: written and read"
    assert {load.algorithm for load in (*found.flows, *found.requests)} == {"bbr"}


@pytest.mark.each(
    "name, times, source",
    [
        ("two-flows", [(0, 60), (22, 42)], "published: 0-60 s and 22-42 s"),
        ("three-flows", [(0, 60), (12, 52), (26, 46)], "published: text of 3.4.1"),
        ("two-flows-netesto", [(0, 60), (23, 43)], "derived: 60/3 + 3"),
        ("three-flows-netesto", [(0, 60), (13, 53), (25, 45)], "derived: 60/6 + 3, 60/3 + 5"),
    ],
)
def test_flows_of_presets_come_and_go(name, times, source):
    flows = scenarios.preset(name).flows
    assert [(flow.start_s, flow.stop_s) for flow in flows] == times, source


def test_requests_run_against_streams():
    found = scenarios.preset("requests-1MB-against-16")
    assert len(found.flows) == 16
    assert [(loop.request_bytes, loop.reply_bytes) for loop in found.requests] == [(1e6, 1.0)]


WRONG = [
    ("rate_bps", -1, "rate_bps", "scenario-number"),
    ("rate_bps", "10M", "rate_bps", "scenario-wrong-kind"),
    ("rate_bps", True, "rate_bps", "scenario-wrong-kind"),
    ("rate_bps", None, "rate_bps", "scenario-key-missing"),
    ("rtt_s", 0, "rtt_s", "scenario-number"),
    ("rtt_s", 10**400, "rtt_s", "scenario-too-large"),
    ("buffer_packets", 0.5, "buffer_packets", "scenario-number"),
    ("buffer_packets", 2.7, "buffer_packets", "scenario-number"),
    ("buffer_packets", None, "buffer_packets", "scenario-one-buffer"),
    ("buffer_bdp", 1, "buffer_packets", "scenario-one-buffer"),
    ("rtt_spread_ratio", 1, "rtt_spread_ratio", "scenario-number"),
    ("rtt_spread_ratio", -0.1, "rtt_spread_ratio", "scenario-number"),
    ("flows", [{"algorithm": "reno", "rtt_s": 0}], "flows[0].rtt_s", "scenario-number"),
    ("loss_ratio", 1, "loss_ratio", "all-packets-lost"),
    ("loss_ratio", 2, "loss_ratio", "scenario-number"),
    ("seed", 1.5, "seed", "scenario-number"),
    ("warm_s", 60, "warm_s", "warm-after-end"),
    ("flows", [], "flows", "no-flows"),
    ("flows", {}, "flows", "scenario-wrong-kind"),
    ("flows", [3], "flows[0]", "scenario-wrong-kind"),
    ("flows", [{"stop_s": 4}], "flows[0].algorithm", "scenario-key-missing"),
    ("flows", [{"algorithm": 4, "stop_s": 4}], "flows[0].algorithm", "scenario-wrong-kind"),
    ("flows", [{"algorithm": "cubix", "stop_s": 4}], "flows[0].algorithm", "scenario-number"),
    ("flows", [{"algorithm": "cubic", "start_s": 60}], "flows[0].start_s", "starts-after-end"),
    ("seed", 2**53 + 1, "seed", "scenario-number"),
    ("end_s", 0, "end_s", "scenario-number"),
    (
        "flows",
        [{"algorithm": "cubic", "start_s": 5, "stop_s": 5}],
        "flows[0].stop_s",
        "stop-not-after-start",
    ),
    (
        "flows",
        [{"algorithm": "cubic", "start_s": 60, "stop_s": 70}],
        "flows[0].start_s",
        "starts-after-end",
    ),
    ("flows", [{"algorithm": "cubic", "size_bytes": 0}], "flows[0].size_bytes", "scenario-number"),
    ("flows", [{"algorithm": "cubic", "stop": 5}], "flows[0].stop", "scenario-key-unknown"),
    ("requests", [{"stop_s": 5}], "requests[0].request_bytes", "scenario-key-missing"),
    ("delay_on_acks", 1, "delay_on_acks", "scenario-wrong-kind"),
    ("bandwidth", 1, "bandwidth", "scenario-key-unknown"),
]


@pytest.mark.each("key, value, field, code", WRONG)
def test_refusals_name_the_field(key, value, field, code):
    with pytest.raises(ReaderError) as refused:
        scenarios.from_document(GOOD | {key: value}, name="s.json")
    assert (refused.value.field, refused.value.code) == (field, code)
    assert str(refused.value).startswith(f"s.json, field {field}: ")
    assert refused.value.expected


@pytest.mark.each(
    "text, code",
    [
        ("", "scenario-not-json"),
        ("[" * 100_000, "scenario-not-json"),
        ("[1, 2]", "scenario-wrong-kind"),
        ('{"rate_bps": NaN, "rtt_s": 1, "end_s": 1, "buffer_bdp": 1}', "scenario-not-finite"),
        ('{"rate_bps": 1, "rtt_s": 1, "end_s": 1, "flows": [NaN]}', "scenario-one-buffer"),
        (
            '{"rate_bps": 1e7, "rtt_s": 1, "end_s": 1, "buffer_bdp": 1, "flows": [NaN]}',
            "scenario-wrong-kind",
        ),
        ('{"rate_bps": 1e999, "rtt_s": 1, "end_s": 1}', "scenario-one-buffer"),
        (
            '{"rate_bps": 1e999, "rtt_s": 1, "end_s": 1, "buffer_bdp": 1}',
            "scenario-not-finite",
        ),
        ('{"rate_bps": 1, "rate_bps": 2}', "scenario-key-repeated"),
        ('{"rate_bps": 1,\n "rtt_s": oops}', "scenario-not-json"),
    ],
)
def test_text_that_is_no_scenario_is_refused(text, code):
    with pytest.raises(ReaderError) as refused:
        scenarios.from_document(text)
    assert refused.value.code == code
    assert str(refused.value)


def test_files_that_are_no_scenario_are_refused(tmp_path):
    path = tmp_path / "s.json"
    path.write_bytes(b'{"rate_bps": \xff}')
    with pytest.raises(ReaderError, match=r"s\.json, line 1, byte 13: is not UTF-8 text"):
        scenarios.read(path)
    path.write_bytes(b" " * 10_000_001)
    with pytest.raises(ReaderError, match="is longer than any scenario"):
        scenarios.read(path)
    path.write_text(json.dumps(GOOD))
    assert scenarios.read(path) == scenarios.from_document(GOOD)


def test_a_marking_threshold_is_written_where_there_is_one():
    marked = scenarios.from_document(GOOD | {"marking_bytes": 30_000})
    assert scenarios.as_document(marked)["marking_bytes"] == 30_000
    assert scenarios.from_document(scenarios.as_document(marked)) == marked
    assert "marking_bytes" not in scenarios.as_document(scenarios.from_document(GOOD))


def test_a_refusal_shows_what_was_found_and_not_all_of_it():
    """The first 40 characters of a line that cannot be read, or of a word as long."""
    with pytest.raises(ReaderError) as refused:
        scenarios.from_document('{"rate_bps": ' + "x" * 50 + "\nyy}")
    assert refused.value.value == "x" * 40
    with pytest.raises(ReaderError) as refused:
        scenarios.from_document('{"seed": 1, "end_s": 1, "rtt_s": 2, "rtt_s": 3, "end_s": 2}')
    assert refused.value.field == "end_s"
    with pytest.raises(ReaderError) as refused:
        scenarios.from_document(GOOD | {"rtt_s": float("inf")})
    assert refused.value.value == "inf"
    with pytest.raises(ReaderError) as refused:
        scenarios.from_document(GOOD | {"rtt_s": 10**400})
    assert refused.value.value.startswith("1000000000")
    assert len(refused.value.value) < 100
    with pytest.raises(ReaderError) as refused:
        scenarios.from_document(GOOD | {"rtt_s": -3})
    assert (refused.value.value, refused.value.expected) == ("-3.0", "greater than 0")


def test_a_file_that_holds_no_object_is_refused(tmp_path):
    path = tmp_path / "s.json"
    path.write_text("[]")
    with pytest.raises(ReaderError) as refused:
        scenarios.read_document(path)
    assert refused.value.code == "scenario-wrong-kind"
    path.write_bytes(json.dumps(GOOD).encode().ljust(10_000_000))
    assert scenarios.read(path) == scenarios.from_document(GOOD), "the longest that is read"


def test_the_facts_refuse_by_themselves():
    link = Bottleneck.of(rate_bps=10e6, rtt_s=0.04, buffer_bdp=1)
    with pytest.raises(DomainError):
        Bottleneck(rate_bps=10e6, rtt_s=0.04, buffer_bytes=1499)
    with pytest.raises(DomainError):
        Bottleneck.of(rate_bps=10e6, rtt_s=0.04)
    with pytest.raises(DomainError):
        Flow(algorithm="cubic", stop_s=float("inf"))
    with pytest.raises(ArgumentTypeError):
        Scenario(bottleneck=link, flows=("cubic",), end_s=10)
    with pytest.raises(ArgumentTypeError):
        Scenario(bottleneck=link, flows=7, end_s=10)
    with pytest.raises(ArgumentTypeError):
        Scenario(bottleneck="T1", flows=(), end_s=10)
    with pytest.raises(DomainError):
        Requests(request_bytes=1e4, stop_s=0)
    with pytest.raises(DomainError):
        Scenario(bottleneck=link, flows=(Flow(algorithm="reno", stop_s=1),) * 1001, end_s=10)
    with pytest.raises(DomainError):
        scenarios.preset("two-flow")


def test_senders_are_kept_and_one_is_not_written():
    """identity: a file without them has one, and its document and key are as before."""
    text = {"rate_bps": 1e7, "rtt_s": 0.04, "buffer_bdp": 1, "end_s": 9,
            "flows": [{"algorithm": "reno"}] * 4}  # fmt: skip
    one, three = from_document(text), from_document({**text, "senders": 3})
    assert (one.senders, three.senders) == (1, 3)
    assert "senders" not in as_document(one)
    assert as_document(three)["senders"] == 3
    assert from_document(as_document(three)) == three
    assert [three.sender_of(at) for at in range(4)] == [0, 1, 2, 0]
    assert [one.sender_of(at) for at in range(4)] == [0] * 4


@pytest.mark.each("senders", [0, 9, 1.5, -1, float("inf"), True, "2"])
def test_other_numbers_of_senders_are_refused(senders):
    text = {"rate_bps": 1e7, "rtt_s": 0.04, "buffer_bdp": 1, "end_s": 9, "senders": senders,
            "flows": [{"algorithm": "reno"}]}  # fmt: skip
    with pytest.raises(ReaderError) as refused:
        from_document(text)
    assert refused.value.field == "senders"
