"""Models behind a stated number: each value, which one fits, and what is said of it, by hand."""

from __future__ import annotations

import math

import pytest

from netcalc.errors import DomainError, UnitError
from netcalc.explain import Claim, Evidence, Known, Model, claim
from netcalc.path import Path
from netcalc.units import show

NAN = math.nan
LINE = Known(line_bps=1e8)
RECEIVER, SENDER = ("receiver", True), ("sender", False)


def model(named, value):
    name, is_right = named
    return Model(name, value, is_right, {})


def stated(*models, rounding=1e-3):
    """Return a claim of 100 bit/s beside models."""
    return Claim("100 bit/s", 100.0, "bit/s", rounding, models)


def best(*models, **more):
    found = stated(*models, **more).best
    return None if found is None else (found.name, found.value)


def test_the_distance_of_a_model():
    """By hand: 103 is 3 % above 100, and 97 as far below."""
    found = stated()
    assert found.error_ratio(model(RECEIVER, 103.0)) == pytest.approx(0.03)
    assert found.error_ratio(model(RECEIVER, 97.0)) == pytest.approx(0.03)
    assert Claim("", 50.0, "s", 0.1, ()).error_ratio(model(SENDER, 200.0)) == pytest.approx(3.0)
    half = stated(rounding=0.5)
    assert half.agrees(model(RECEIVER, 150.0))
    assert not half.agrees(model(RECEIVER, 150.1))
    assert half.agrees(model(RECEIVER, 50.0))


@pytest.mark.each(
    ("right", "wrong", "fits"),
    [
        (100.05, 100.0, "receiver"),  # both as rounded to 0.1 %
        (100.9, 100.0, "sender"),  # only the wrong one
        (100.9, 100.5, "receiver"),  # neither, and within 1 %
        (101.1, 100.5, "sender"),  # neither, and no more than 1 %: the nearest
        (104.9, 105.5, "receiver"),
        (104.9, 101.1, "receiver"),  # a mistake is no nearer than by chance
        (105.5, 104.9, None),
        (105.5, 100.9, "sender"),  # within 1 %
        (105.1, 105.2, None),  # further than 5 %
        (95.1, 94.9, "receiver"),
        (94.9, 95.1, None),
    ],
)
def test_the_model_that_fits(right, wrong, fits):
    near_first = sorted(
        (model(RECEIVER, right), model(SENDER, wrong)), key=lambda one: abs(one.value - 100)
    )
    found = stated(*near_first)
    assert (found.best and found.best.name) == fits
    gives = abs(wrong / 100 - 1) <= 1e-3  # a mistake that is only near is none
    assert found.is_misconception is (fits == "sender" and gives)


def test_of_several_that_fit_the_nearest_stands():
    assert best(model(RECEIVER, 100.01), model(RECEIVER, 100.02)) == ("receiver", 100.01)
    assert best(model(SENDER, 100.6), model(RECEIVER, 104.0)) == ("sender", 100.6)
    assert best(model(SENDER, 103.0), model(RECEIVER, 104.0)) == ("receiver", 104.0)
    assert best() is None


def test_what_is_said():
    right, wrong = model(RECEIVER, 100.0), model(SENDER, 102.0)
    found = stated(right, wrong)
    assert found.said.code == "claim-right"
    assert found.said.values == {
        "claim": "100 bit/s", "model": str(right.said), "value": "100 bit/s",
        "right": str(right.said), "right_value": "100 bit/s",
    }  # fmt: skip
    others = (model(RECEIVER, 300.0), model(RECEIVER, 400.0))
    mistaken, near = stated(model(SENDER, 100.1), *others), stated(model(SENDER, 100.9), *others)
    assert mistaken.said.code == "claim-misconception"
    assert mistaken.said.values == {
        "claim": "100 bit/s", "model": str(wrong.said), "value": "100.1 bit/s",
        "right": str(right.said), "right_value": "300 bit/s",
    }  # fmt: skip
    assert near.said.code == "claim-near-misconception"
    assert near.said.values["off"] == pytest.approx(0.009)
    assert "0.9% off" in near.sentence
    assert stated(model(RECEIVER, 100.5)).said.code == "claim-nearly-right"
    unknown = stated(model(RECEIVER, 200.0)).said
    assert (unknown.code, unknown.values) == ("claim-unknown", {"claim": "100 bit/s"})
    assert stated(model(SENDER, 100.0)).said.code == "claim-unknown", "nothing right beside it"
    for one in (found, mistaken, near, stated()):
        assert one.sentence[0].isupper() or not one.sentence[0].isalpha()
        assert one.sentence.lower() == f"{one.said}.".lower()
    assert stated().sentence.startswith("No model, right or wrong,")


def test_a_claim_in_json():
    found = stated(model(SENDER, 100.08), model(RECEIVER, 96.0))
    assert found.as_dict() == {
        "claim": "100 bit/s", "value": 100.0, "unit": "bit/s",
        "layer": "unknown", "rounding_ratio": 1e-3,
        "sentence": found.sentence, "code": "claim-misconception", "best": "sender",
        "is_misconception": True,
        "models": [
            {"name": "sender", "value": 100.08, "is_right": False,
             "error_ratio": pytest.approx(0.0008), "text": str(model(SENDER, 0.0).said)},
            {"name": "receiver", "value": 96.0, "is_right": True,
             "error_ratio": pytest.approx(0.04), "text": str(model(RECEIVER, 0.0).said)},
        ],
    }  # fmt: skip
    assert stated().as_dict()["best"] is None


def test_the_models_that_are_shown():
    """Those within 2 %, no more than eight, and the nearest right one."""
    near = [model(SENDER, 100.0 + n / 10) for n in range(10)]
    assert len(str(stated(*near)).splitlines()) == 1 + 8
    some = stated(model(SENDER, 101.9), model(SENDER, 97.9), model(RECEIVER, 104.0))
    assert str(some).splitlines() == [
        some.sentence,
        f"  101.9 bit/s (1.9% off), wrong: {model(SENDER, 0.0).said}",
        f"  104 bit/s (4% off), right: {model(RECEIVER, 0.0).said}",
    ]
    right = stated(model(RECEIVER, 99.0), model(SENDER, 102.1), model(RECEIVER, 150.0))
    assert str(right).splitlines()[1:] == [
        f"  99 bit/s (-1% off), right: {model(RECEIVER, 0.0).said}"
    ]
    assert len(str(stated(model(SENDER, 200.0))).splitlines()) == 1


@pytest.mark.each(
    ("text", "ratio"),
    [
        ("94 Mbit/s", 0.5 / 94), ("94.2 Mbit/s", 0.05 / 94.2), ("94,2 Mbit/s", 0.05 / 94.2),
        ("94.15 Mbit/s", 5e-4), ("5 Mbit/s", 0.1), ("0.5 Mbit/s", 0.1),
        ("940.00 Mbit/s", 5e-4), ("1000 Mbit/s", 5e-4), ("990 Mbit/s", 0.5 / 990),
    ],
)  # fmt: skip
def test_half_of_the_last_digit(text, ratio):
    assert claim(text, LINE).rounding_ratio == pytest.approx(ratio)


def test_separators_of_thousands_have_no_digits_to_round():
    assert claim("1,000,000 pps", LINE, frame_bytes=64).rounding_ratio == 5e-4


@pytest.mark.each(
    ("text", "unit", "value"),
    [("94 Mbit/s", "bit/s", 94e6), ("5 kpps", "packet/s", 5e3), ("5 ms", "s", 5e-3),
     ("0.5 bit/s", "bit/s", 0.5)],
)  # fmt: skip
def test_the_quantity_of_a_claim(text, unit, value):
    path = Path.parse("1 Mbit/s 1 ms")
    found = claim(text, LINE, frame_bytes=64, path=path, size_bytes=100)
    assert (found.text, found.unit, found.value) == (text, unit, pytest.approx(value))


def test_claims_that_are_no_claims():
    with pytest.raises(DomainError) as refused:
        claim("0 Mbit/s", LINE)
    assert (refused.value.code, refused.value.name) == ("not-positive", "claim")
    with pytest.raises(DomainError) as bare:
        claim("94 Mbit/s", Known(rtt_s=0.1, mtu_bytes=1000))
    assert (bare.value.code, bare.value.name) == ("claim-without-facts", "claim")
    assert bare.value.values["unit"] == "bit/s"
    for text, known in (("94 pps", Known(rtt_s=0.1)), ("5 ms", Known(line_bps=1e6))):
        with pytest.raises(DomainError, match="judged"):
            claim(text, known)
    with pytest.raises(UnitError) as other:
        claim("94 kg", LINE)
    with pytest.raises(UnitError) as first:
        claim("ninety", LINE)
    assert other.value.field == first.value.field == "claim"
    with pytest.raises(DomainError):
        claim("5 ms", LINE, size_bytes=100)
    with pytest.raises(DomainError):
        claim("5 kpps", Known(), frame_bytes=64)


def by_name(text, known, **more):
    return {one.name: one for one in claim(text, known, **more).models}


def test_the_models_of_a_line():
    """By hand: 1000 B less 52 of headers; 38 more on the wire, 20 of them outside of the frame."""
    found = by_name("9 Mbit/s", Known(line_bps=1e7, mtu_bytes=1000))
    values = {"line_bps": 1e7, "segment_bytes": 948, "mtu_bytes": 1000}
    for name, share, is_right in (
        ("tcp-timestamps", 948 / 1038, True), ("tcp-plain", 960 / 1038, True),
        ("udp", 972 / 1038, True), ("frames", 1018 / 1038, True),
        ("no-preamble", 948 / 1018, False), ("no-fcs", 948 / 1034, False),
        ("no-headers", 1.0, False),
    ):  # fmt: skip
        assert found[name].value == pytest.approx(1e7 * share), name
        assert (found[name].is_right, found[name].values) == (is_right, values), name
    wrong = found["constant-overhead"]
    assert (wrong.value, wrong.is_right) == (4e6, False)
    assert wrong.values == {**values, "overhead_bps": 6e6}
    assert "constant-overhead" not in by_name("5 Mbit/s", Known(line_bps=6e6))
    assert by_name("5 Mbit/s", LINE)["udp"].values["mtu_bytes"] == 1500
    assert not {"window", "mathis", "receiver"} & set(found)


def test_the_models_of_a_window_and_of_loss():
    """By hand: 948 B in 0.1 s; CUBIC by RFC 9438, 5.1, of more packets than Reno's 122."""
    known = Known(rtt_s=0.1, window_bytes=10_000, loss_ratio=1e-4, mtu_bytes=1000)
    found = by_name("6 Mbit/s", known)
    assert found["window"].values == {"window_bytes": 10_000.0, "rtt_s": 0.1}
    assert found["one-way"].values == {"window_bytes": 10_000.0, "rtt_s": 0.1, "one_way_s": 0.05}
    packets = (0.4 * 3.7 / 1.2) ** 0.25 * (0.1 / 1e-4) ** 0.75
    assert packets > math.sqrt(1.5e4)
    for name, value, is_right in (
        ("window", 8e5, True), ("one-way", 16e5, False),
        ("mathis", 8 * 948 / 0.1 * math.sqrt(1.5e4), True),
        ("mathis-of-one", 8 * 948 / 0.1 * 100, False),
        ("cubic", 8 * 948 / 0.1 * packets, True),
    ):  # fmt: skip
        assert found[name].value == pytest.approx(value), name
        assert found[name].is_right is is_right, name
    for name in ("mathis", "mathis-of-one", "cubic"):
        assert found[name].values == {"loss_ratio": 1e-4, "rtt_s": 0.1}
    assert by_name("6 Mbit/s", Known(rtt_s=0.1, loss_ratio=0.01))["mathis"].value == pytest.approx(
        8 * 1448 / 0.1 * math.sqrt(150)
    )
    assert "window" not in by_name("6 Mbit/s", Known(rtt_s=0.1, loss_ratio=0.01))
    for loss in (0.0, 1.0, None):
        some = Known(rtt_s=0.1, window_bytes=1e4, loss_ratio=loss)
        assert not {"mathis", "cubic", "mathis-of-one"} & set(by_name("6 Mbit/s", some))
    late = by_name("1 Mbit/s", Known(line_bps=1e8, window_bytes=1e4, loss_ratio=0.1))
    assert not {"window", "mathis"} & set(late), "a rate needs the round trip"


def test_the_counts_of_a_measurement():
    seen = by_name("6 Mbit/s", Known(), evidence=Evidence(received_rate_bps=5e6, sent_rate_bps=7e6))
    assert seen["receiver"] == Model("receiver", 5e6, True, {})
    assert seen["sender"] == Model("sender", 7e6, False, {}, "receiver")
    for rate in (0.0, NAN):
        one = Evidence(received_rate_bps=5e6, sent_rate_bps=rate)
        assert "sender" not in by_name("6 Mbit/s", Known(), evidence=one)
    assert "receiver" not in by_name("6 Mbit/s", LINE, evidence=Evidence(sent_rate_bps=7e6))


def test_the_models_of_frames():
    found = by_name("1 kpps", LINE, frame_bytes=1000)
    values = {"line_bps": 1e8, "frame_bytes": 1000}
    for name, pps, is_right in (
        ("frame-rate", 1e8 / 8160, True), ("frames-without-gap", 1e8 / 8000, False),
        ("frames-without-fcs", 1e8 / 8128, False), ("both-directions", 2e8 / 8160, False),
    ):  # fmt: skip
        distorted = "" if is_right else "frame-rate"
        assert found[name] == Model(name, pytest.approx(pps), is_right, values, distorted)


def test_the_models_of_a_time():
    """By hand: 1000 B take 4, 8 and 1 ms; 3 ms of latency; the way back is the same."""
    path = Path.parse("2 Mbit/s 1 ms, 1 Mbit/s 2 ms, 8 Mbit/s")
    found = by_name("16 ms", Known(), path=path, size_bytes=1000)
    values = {"size_bytes": 1000, "links": 3}
    for name, time_s, is_right in (
        ("one-way-time", 0.016, True), ("round-trip-time", 0.032, True),
        ("cut-through", 0.011, False), ("no-last-hop", 0.015, False),
    ):  # fmt: skip
        distorted = "" if is_right else "one-way-time"
        assert found[name] == Model(name, pytest.approx(time_s), is_right, values, distorted)
    one = by_name("5 ms", Known(), path=Path.parse("2 Mbit/s 1 ms"), size_bytes=1000)
    assert set(one) == {
        "one-way-time", "round-trip-time", "bytes-for-bits-in-time", "bits-for-bytes-in-time",
        "binary-prefix-in-time", "double-latency", "no-latency", "no-serialization",
    }  # fmt: skip
    assert one["bits-for-bytes-in-time"].value == pytest.approx(0.033)  # 8 x 4 + 1 ms
    assert one["binary-prefix-in-time"].value == pytest.approx(0.005096)  # 1.024 x 4 + 1 ms
    assert one["double-latency"].value == pytest.approx(0.006)
    assert one["bytes-for-bits-in-time"].value == pytest.approx(0.0015)  # 4 / 8 + 1 ms
    nothing = Path.parse("2 Mbit/s, 1 Mbit/s")
    with pytest.raises(DomainError):
        claim("5 ms", Known(), path=nothing, size_bytes=0)


@pytest.mark.each(
    ("text", "power"),
    [
        ("900 kbit/s", 1), ("900 Kbit/s", 1), ("90 Mbit/s", 2), ("90Mbit/s", 2), ("9 Gbit/s", 3),
        ("0.9 Tbit/s", 4), ("90 MiB/s", 2), ("90 MB/s", 2), ("90 bit/s", 0),
    ],
)  # fmt: skip
def test_the_mistakes_of_units(text, power):
    """A receiver's 5 Mbit/s, an eighth, eight times, and over 1024 / 1000 for each prefix."""
    evidence = Evidence(received_rate_bps=5e6, sent_rate_bps=7e6)
    found = claim(text, Known(), evidence=evidence).models
    rates = {one.name: one.value for one in found}
    wanted = {"receiver": 5e6, "sender": 7e6, "bits-for-bytes": 625e3, "bytes-for-bits": 4e7}
    if power:
        wanted["binary-prefix"] = 5e6 / 1.024**power
    assert rates == pytest.approx(wanted)
    right = str(Model("receiver", 5e6, True, {}).said)
    for one in found:
        is_unit = one.name in ("bits-for-bytes", "bytes-for-bits", "binary-prefix")
        assert one.is_right is (one.name == "receiver")
        assert dict(one.values) == ({"right": right} if is_unit else {})


def test_units_are_mistaken_in_rates_only():
    packets = by_name("5 kpps", LINE, frame_bytes=64)
    times = by_name("5 ms", LINE, path=Path.parse("1 Mbit/s 1 ms"), size_bytes=64)
    for found in (packets, times):
        assert not {"bits-for-bytes", "bytes-for-bits", "binary-prefix"} & set(found)


def test_models_are_in_the_order_of_their_distance():
    """A half is as far as the double, so that 2.5 and 40 Mbit/s are on both sides of 10."""
    one = Evidence(received_rate_bps=9e6, sent_rate_bps=18e6)
    found = [each.value for each in claim("10 Mbit/s", Known(), evidence=one).models]
    assert found == sorted(found, key=lambda value: max(value / 1e7, 1e7 / value))
    assert found[0] == 9e6
    assert len(found) == 5


def test_what_a_model_computes():
    said = Model("window", 1.0, True, {"window_bytes": 65535.0, "rtt_s": 0.04}).said
    assert str(said) == "window of 65.53 kB divided by a round trip of 40 ms"
    assert str(Model("receiver", 1.0, True, {}).said) == "what the receiver counted"


def test_the_distance_is_shown_with_two_digits():
    shown = str(stated(model(RECEIVER, 101.234))).splitlines()[1]
    assert shown.startswith("  101.2 bit/s (1.2% off), right: what the receiver counted")


def test_a_claim_that_is_shown():
    found = claim("94 Mbit/s", LINE)
    lines = str(found).splitlines()
    assert lines[0] == found.sentence
    assert f"  {show(94e6, 'bit/s')} (0% off), wrong: " in "\n".join(lines)
    assert all(", right: " in line or ", wrong: " in line for line in lines[1:])
