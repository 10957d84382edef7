"""Links and paths hand their fields to the models, and read what people write."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from netcalc.emulation import simulate
from netcalc.errors import DomainError, UnitError
from netcalc.models.delays import latency, store_and_forward
from netcalc.path import Hop, Link, Path, latency_reading


@pytest.mark.each(
    ("text", "rate", "delay"),
    [
        ("T1", 1.544e6, 0),
        ("T1, 5 ms", 1.544e6, 0.005),
        ("T1 5ms", 1.544e6, 0.005),
        ("10 Mbit/s 5 ms", 10e6, 0.005),
        ("10 Mbit/s; 1,5 ms", 10e6, 0.0015),
        ("1,5 Mbit/s, 20 ms", 1.5e6, 0.02),
        ("56kbps @ 100 ms", 56e3, 0.1),
        ("T3 nominal, 30 ms", 45e6, 0.03),
        ("80 ms 10G", 10e9, 0.08),
        ("10G rtt 80ms", 10e9, 0.04),  # half of a round trip is one way
        ("rtt 80 ms 10G", 10e9, 0.04),
        ("10 Gbit/s 80 ms rtt", 10e9, 0.04),
        ("80ms rtt 10 Gbit/s", 10e9, 0.04),
        ("10G, RTT: 80 ms", 10e9, 0.04),
        ("10G round-trip time 1,5 ms", 10e9, 0.00075),
        ("10 Mbit/s Ethernet ping 2 ms", 10e6, 0.001),
        ("10G one-way 40 ms", 10e9, 0.04),
        ("rtt 0 10G", 10e9, 0),
    ],
)
def test_link_parse(text, rate, delay):
    link = Link.parse(text)
    assert (link.bandwidth_bps, link.latency_s) == (rate, delay)


@pytest.mark.each(
    ("text", "code"),
    [
        ("rtt", "link-without-time"), ("10G rtt", "link-without-time"),
        ("10G rtt 80", "link-without-time"), ("10G rtt 5 mss", "link-without-time"),
        ("rtt 80ms", "link-without-rate"), ("10G rtt 80ms rtt 90ms", "link-times"),
        ("80ms 10G 20ms", "link-times"), ("10G 20ms rtt 80ms", "link-times"),
        ("20ms 10G rtt 80ms", "link-times"), ("10G 20ms 30ms", "link-times"),
        ("10G 20 ms rtt 80 ms", "link-times"), ("10G rtt 80ms one way 40ms", "link-times"),
        ("10G 1e12s", "beyond-light-year"), ("10G rtt 3 y", "beyond-light-year"),
        ("10G rtt -80ms", "is-negative"), ("10G -80ms", "is-negative"),
    ],
)  # fmt: skip
def test_a_link_with_two_times_or_an_impossible_one_is_refused(text, code):
    with pytest.raises((UnitError, DomainError)) as refused:
        Path.parse(text)
    assert refused.value.code == code
    if code == "is-negative":
        assert refused.value.values["value"] == -0.08  # as it was typed, not its half


def test_a_light_year_is_as_far_as_a_path_goes():
    year_s = 365.25 * 86400  # definition: the year of a light year is the Julian one
    assert Path.parse(f"10G {year_s} s").latency_s == year_s
    assert Path.parse(f"10G rtt {2 * year_s} s").latency_s == year_s
    for beyond in (f"10G {year_s + 1} s", f"10G rtt {2 * year_s + 2} s"):
        with pytest.raises(DomainError):
            Path.parse(beyond)


@pytest.mark.each(
    ("text", "code"),
    [
        ("10G 80ms", "read-as-one-way"), ("10G rtt 80ms", "read-as-round-trip"),
        ("10G 80ms, T1 1 ms", "sum-read-as-one-way"),
        ("10G rtt 80ms, T1 1 ms", "round-trip-of-path"), ("10G", None), ("10G one way 80 ms", None),
    ],
)  # fmt: skip
def test_a_path_says_which_latency_it_took(text, code):
    path = Path.parse(text)
    notice = latency_reading(text, path)
    assert (notice and notice.code) == code
    if notice:
        assert notice.values == {"latency_s": path.latency_s, "rtt_s": 2 * path.latency_s}


@pytest.mark.each("text", ["", "5 ms", "10", "10 Mbit/s, fast", "10 Mbit/s, 5", "10 mb"])
def test_link_parse_refuses(text):
    with pytest.raises(UnitError):
        Link.parse(text)


def test_what_is_no_link_is_told_in_its_own_terms():
    with pytest.raises(DomainError) as refused:
        Link.parse("T1 -1 ms")
    assert (refused.value.code, refused.value.name) == ("is-negative", "latency_s")
    assert refused.value.value == -0.001
    for text in (None, 5):
        with pytest.raises(UnitError, match="link rate"):
            Path.parse(text)
    with pytest.raises(TypeError, match=r"Path\.of"):
        Path((Link(1.544e6),))


def test_a_latency_that_cannot_be_read_is_the_one_that_is_named():
    with pytest.raises(UnitError, match="latency: '5' needs a unit"):
        Link.parse("T1 5")
    with pytest.raises(UnitError, match="latency: '5 mss' is not a time"):
        Link.parse("T1 5 mss")


@pytest.mark.each(("rate", "delay"), [(0, 0), (-1, 0), (1e6, -1), (float("nan"), 0)])
def test_impossible_links(rate, delay):
    with pytest.raises(DomainError, match=r"bandwidth_bps|latency_s"):
        Link(rate, delay)


def test_path_parse_repeats_and_keeps_the_order():
    path = Path.parse("2 x T1 1 ms, 10 Mbit/s; T3 2 ms", processing_s=0.0005)
    assert [link.name for link in path.links] == ["T1", "T1", "10 Mbit/s", "T3"]
    assert path.latency_s == pytest.approx(0.004)
    assert path.processing_s == pytest.approx(0.0015)  # three routers, no host
    assert path.bottleneck_bps == 1.544e6
    with pytest.raises(DomainError) as refused:
        Path.parse("100000 x T1")
    assert (refused.value.code, refused.value.values["high"]) == ("out-of-range", 1000)
    with pytest.raises(DomainError) as refused:
        Path(())
    assert refused.value.code == "no-hops"


def test_links_hand_their_fields_to_the_models():
    link = Link(2e6, 0.01)
    assert link.serialization_s(500) == latency.serialization_s(500, bandwidth_bps=2e6)
    assert link.transfer_s(500) == latency.transfer_s(500, bandwidth_bps=2e6, latency_s=0.01)
    assert link.half_rate_bytes() == latency.half_rate_bytes(0.01, bandwidth_bps=2e6)


def test_paths_hand_their_fields_to_the_models():
    path = Path((Hop(Link(2e6, 0.01), 0.001), Hop(Link(1e6, 0.02), 0.002)), 0.003)
    fields = {
        "bandwidth_bps": [2e6, 1e6],
        "latency_s": [0.01, 0.02],
        "processing_s": [0.001],
        "source_processing_s": 0.003,
        "destination_processing_s": 0.002,
    }
    expected = store_and_forward.store_and_forward_s(700, packet_count=3, **fields)
    assert path.one_way_s(700, packet_count=3) == expected
    train = store_and_forward.pipeline_timeline([700, 300], **fields)
    assert path.timeline([700, 300]).done_s.tolist() == train.done_s.tolist()
    assert path.equivalent_bps == store_and_forward.equivalent_bandwidth_bps([2e6, 1e6])


def test_the_round_trip_counts_the_turning_point_once():
    # derived by hand: 8 ms + 10 ms there and back for 1000 bytes, 30 ms latency each way, 1 ms in
    # the router each way, 3 ms in the source at both ends, 2 ms in the destination once.
    path = Path((Hop(Link(1e6, 0.01), 0.001), Hop(Link(8e5, 0.02), 0.002)), 0.003)
    assert path.rtt_s(1000) == pytest.approx(2 * (0.008 + 0.010 + 0.030 + 0.001 + 0.003) + 0.002)
    # a reply without bits costs no clocking on the way back
    assert path.rtt_s(1000, reply_bytes=0) == pytest.approx(path.rtt_s(1000) - 0.018)


def test_reverse_twice_is_the_path():
    path = Path.parse("T1 5 ms, T3 1 ms", processing_s=0.001, source_processing_s=0.002)
    assert path.reverse.links[0].name == "T3"
    assert path.reverse.reverse == path
    assert path.reverse.one_way_s(1500) == pytest.approx(path.one_way_s(1500))


def test_repr_is_how_to_make_it():
    path = Path.parse("T1 5 ms", source_processing_s=0.001)
    assert eval(repr(path)) == path


def test_a_path_survives_pickling_and_is_equal_to_its_like():
    path = Path.parse("6 x T1 1 ms, T3 5 ms")
    for again in (pickle.loads(pickle.dumps(path)), copy.deepcopy(path)):
        assert again == path
        assert hash(again) == hash(path)
        assert again.rtt_s(1500) == path.rtt_s(1500)


def test_a_path_is_made_of_what_a_run_noted():
    """Each number differs, so none can take another's place."""
    truth = {
        "bandwidths_bps": [1e6, 2e6], "latencies_s": [0.003, 0.004],
        "processings_s": [0.01, 0.02, 0.05],
    }  # fmt: skip
    path = Path.from_truth(truth)
    assert [(link.bandwidth_bps, link.latency_s) for link in path.links] == [
        (1e6, 0.003), (2e6, 0.004),
    ]  # fmt: skip
    assert [hop.processing_s for hop in path.hops] == [0.02, 0.05]
    assert path.source_processing_s == 0.01
    for name in truth:
        with pytest.raises(DomainError) as refused:
            Path.from_truth({**truth, name: truth[name] + [1.0]})
        assert refused.value.code == "path-record-damaged"


def test_until_keeps_the_first_hops_and_the_source():
    path = Path.parse("T1 1 ms, T3 2 ms, 10 Mbit/s 3 ms", source_processing_s=0.25)
    for hop, latency_s in ((1, 0.001), (2, 0.003), (3, 0.006)):
        part = path.until(hop)
        assert len(part.hops) == hop
        assert part.latency_s == pytest.approx(latency_s)
        assert part.source_processing_s == 0.25
    with pytest.raises(DomainError) as refused:
        path.until(-1)
    assert (refused.value.name, refused.value.value) == ("hop", -1)
    for hop in (0, 4):
        with pytest.raises(DomainError) as refused:
            path.until(hop)
        assert (refused.value.name, refused.value.value) == ("hop", hop)
        assert (refused.value.values["low"], refused.value.values["high"]) == (1, 3)


@pytest.mark.each("count", [1, 1000])
def test_as_many_links_as_are_allowed(count):
    assert len(Path.parse(f"{count} x T1").hops) == count


@pytest.mark.each("count", [0, 1001])
def test_more_or_fewer_links_are_refused(count):
    with pytest.raises(DomainError) as refused:
        Path.parse(f"{count} x T1")
    values = refused.value.values
    assert (refused.value.value, values["low"], values["high"]) == (count, 1, 1000)


def test_the_text_of_a_path_keeps_twelve_digits():
    path = Path.of([Link(1_234_567.89012, 0.00123456789012)])
    assert path.text == "1.23456789012 Mbit/s 1.23456789012 ms"
    short = Path.of([Link(1.25e6, 0.0005), Link(3e6, 0.25)])
    assert Path.parse(short.text).same_lines(short)
    assert path.same_lines(
        Path.of([Link(1_234_567.89012, 0.00123456789012, "named")], processing_s=1.0)
    )
    assert not path.same_lines(Path.of([Link(1_234_567.89012, 0.00123456789013)]))
    assert not path.same_lines(Path.of([Link(1_234_567.89013, 0.00123456789012)]))


def test_a_path_of_a_list_is_frozen_and_its_numbers_are_floats():
    path = Path([Hop(Link(1_000_000), 1)], 2)
    assert isinstance(path.hops, tuple)
    assert hash(path) == hash(Path((Hop(Link(1e6), 1.0),), 2.0))
    assert isinstance(path.source_processing_s, float)
    assert isinstance(path.hops[0].processing_s, float)
    assert isinstance(path.links[0].bandwidth_bps, float)


def test_the_reverse_exchanges_hosts_and_order():
    """By hand: source 1, nodes 2 and 3, destination 4; the other way 4, 3, 2, 1."""
    path = Path((Hop(Link(1e6, 0.1), 2.0), Hop(Link(2e6, 0.2), 3.0), Hop(Link(3e6, 0.3), 4.0)), 1.0)
    other = path.reverse
    assert other.source_processing_s == 4.0
    assert [hop.processing_s for hop in other.hops] == [3.0, 2.0, 1.0]
    assert [link.latency_s for link in other.links] == [0.3, 0.2, 0.1]
    assert path.processing_s == 10.0
    assert path.bottleneck_bps == 1e6
    # derived: 1000 B take 8 + 4 + 8/3 ms there and back, the nodes 1 + 2 + 3 + 4 + 3 + 2 + 1 s
    assert path.rtt_s(1000) == pytest.approx(2 * (0.008 + 0.004 + 0.008 / 3 + 0.6) + 16)
    assert path.rtt_s(1000, reply_bytes=0) == pytest.approx(0.008 + 0.004 + 0.008 / 3 + 1.2 + 16)
    assert path.one_way_s(1000) == pytest.approx(0.008 + 0.004 + 0.008 / 3 + 0.6 + 10)
    # derived: 1/R = 1/1 + 1/2 + 1/3 Mbit/s
    assert path.equivalent_bps == pytest.approx(1e6 / (1 + 1 / 2 + 1 / 3))


def test_numbers_that_are_no_single_finite_one():
    for wrong in ([1e6, 2e6], float("inf"), float("nan")):
        with pytest.raises(DomainError):
            Link(wrong)
        with pytest.raises(DomainError):
            Hop(Link(1e6), wrong)
        with pytest.raises(DomainError):
            Path((Hop(Link(1e6)),), wrong)


def test_ethernet_pads_small_packets_and_adds_its_framing() -> None:
    """RFC 2544 appendix B: 148,809 frames of 64 bytes a second at 100 Mbit/s, 8,127 of 1518."""
    lan = Link.parse("100 Mbit/s Ethernet 1 ms")
    assert lan == Link(100e6, 0.001, "100 Mbit/s", "ethernet")
    for packet_bytes, most_pps in ((46, 148_809), (1500, 8_127)):
        assert int(1.0 / float(lan.serialization_s(packet_bytes))) == most_pps
    # Pings below the smallest frame take as long as one of 46 bytes: 84 bytes on the wire.
    path = Path.parse("10 Mbit/s Ethernet")
    assert path.rtt_s([28, 36, 46]) == pytest.approx([2 * 84 * 0.8e-6] * 3)
    # Above it, each byte takes 0.8 us in each direction, and there is nothing faster.
    slope_s = np.diff(path.rtt_s([46, 1428])) / (1428 - 46)
    assert slope_s == pytest.approx(1.6e-6)


def test_a_train_over_mixed_framing_is_that_of_the_timeline_and_of_the_emulation() -> None:
    path = Path.parse("10 Mbit/s Ethernet 1 ms, T1 5 ms, 100 Mbit/s Ethernet", processing_s=1e-4)
    done_s = path.timeline([20] * 5).done_s[-1]
    assert path.one_way_s(20, packet_count=5) == pytest.approx(done_s)
    # By hand: 84, 20 and 84 bytes on the wires; the T1 (103.6 us) is the slowest after 67.2 us.
    clocked_s = 84 * 8 / 10e6 + 20 * 8 / 1.544e6 + 84 * 8 / 100e6
    assert done_s == pytest.approx(clocked_s + 6e-3 + 2e-4 + 4 * 20 * 8 / 1.544e6)
    run = simulate(path, packet_bytes=[20] * 5, sent_s=[0.0] * 5)
    assert run.received_s[-1] == pytest.approx(done_s)


def test_the_record_of_a_run_keeps_the_framing() -> None:
    path = Path.parse("10 Mbit/s Ethernet 1 ms, T1 5 ms")
    assert Path.parse(path.text).same_lines(path)
    truth = {
        "bandwidths_bps": [10e6, 1.544e6], "latencies_s": [0.001, 0.005],
        "processings_s": [0.0, 0.0, 0.0], **path.noted_framings(),
    }  # fmt: skip
    assert truth["framings"] == ["ethernet", "none"]
    assert Path.from_truth(truth).same_lines(path)
    assert Path.parse("T1").noted_framings() == {}
    with pytest.raises(DomainError, match="framing"):
        Link(1e6, framing="token-ring")  # type: ignore[arg-type]


def test_a_path_is_printed_in_a_line():
    """By hand; the text of the links is what Path.parse reads, apart from names."""
    access = Link(1e9, 0.001, name="access", framing="ethernet")
    path = Path((Hop(access, 0.002), Hop(Link(1e7)), Hop(Link(1e7))), source_processing_s=0.001)
    assert str(path) == "access: 1 Gbit/s Ethernet 1 ms, 2 x 10 Mbit/s, processing 3 ms"
    assert str(path.hops[0]) == "access: 1 Gbit/s Ethernet 1 ms, processing 2 ms"
    assert str(path.hops[1]) == str(Link(1e7)) == "10 Mbit/s"
    assert f"{Path.parse('10 Mbit/s 5 ms')}" == "10 Mbit/s 5 ms"


def test_a_path_of_many_links_is_printed_as_their_sum():
    many = Path.of([Link(rate * 1e6, 0.001) for rate in range(1, 13)], processing_s=0.0005)
    assert str(many) == "12 links, slowest 1 Mbit/s, latency 12 ms, processing 5.5 ms"
    hostile = Path.of([Link(1e6, name="n\x1b[2J\n" * 50)])
    assert len(str(hostile)) <= 100
    assert str(hostile).isprintable()


def test_what_a_path_is_made_of_stays_its_repr():
    assert (
        repr(Link(1e6)) == "Link(bandwidth_bps=1000000.0, latency_s=0.0, name='', framing='none')"
    )
