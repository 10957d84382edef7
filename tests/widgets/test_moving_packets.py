"""Packets that move along a path: where they are at a moment, by theory and as captured."""

from __future__ import annotations

import re

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.lessons import small_writes, store_and_forward
from netcalc.models.hosts.small_writes import write_timeline
from netcalc.widgets.playback import MARGIN, WIDTH, Crossing, Playback


def rectangles(svg):
    return [
        (float(x), float(width), "stroke" not in look)
        for x, width, look in re.findall(
            r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"(.*?)>', svg
        )
    ]


def playback_of(panel):
    return next(child for child in panel.children if isinstance(child, Playback))


def test_a_packet_stretches_from_its_last_bit_to_its_first():
    played = Playback(["A", "B"])
    # leaves for 2 s, takes 4 s: after 3 s the head is at 3/4 of the way, the tail at 1/4
    played.show([Crossing("one", 0, 1, 0.0, 2.0, 4.0, 6.0)])
    span = WIDTH - 2 * MARGIN
    ((x, width, filled),) = rectangles(played.picture(3.0))
    assert (x, width, filled) == (MARGIN + span / 4, span / 2, False)
    assert rectangles(played.picture(6.1)) == []
    assert played.end_s == 6.0


def test_captured_packets_are_filled_and_the_way_back_is_on_the_other_side():
    played = Playback(["A", "B"])
    played.show(
        [
            Crossing("theory", 0, 1, 0.0, 0.0, 1.0, 1.0),
            Crossing("real", 1, 0, 0.0, 0.0, 1.0, 1.0, kind="captured", small=True),
        ]
    )
    picture = played.picture(0.5)
    assert [filled for *_, filled in rectangles(picture)] == [False, True]
    heights = [float(y) for y in re.findall(r'<rect [^>]*?y="([\d.]+)"', picture)]
    assert heights[0] < 85 < heights[1]
    assert "1 captured ones" in played.description


@pytest.mark.parametrize(
    "wrong",
    [
        Crossing("late", 0, 1, 1.0, 1.0, 0.5, 2.0),
        Crossing("nowhere", 0, 5, 0.0, 0.0, 1.0, 1.0),
        Crossing("backwards in time", 0, 1, 0.0, 3.0, 1.0, 2.0),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(DomainError):
        Playback(["A", "B"]).show([wrong])


def test_names_from_files_are_text():
    played = Playback(["<script>", "B"])
    played.show([Crossing("<img onerror=x>", 0, 1, 0.0, 0.0, 1.0, 1.0)])
    assert "<script" not in played.picture(0.5)
    assert "<img" not in played.picture(0.5)


def test_the_lesson_plays_its_timeline():
    panel = store_and_forward.timeline_panel()
    played = playback_of(panel)
    # published, Fig. A-9: leaves at 1 ms, first bit at the router at 6 ms, last at 13.5 ms
    first = played.crossings[0]
    found = [first[name] for name in ("leaves_s", "left_s", "reaches_s", "reached_s")]
    assert found == pytest.approx([0.001, 0.0085, 0.006, 0.0135])
    assert played.end_s == pytest.approx(0.024)
    panel.controls["packet_count"].value = 3
    assert len(played.crossings) == 6


def test_a_captured_train_is_late_by_what_was_measured():
    path = store_and_forward.book_path()
    steps = path.timeline([1428.0] * 2)
    nodes = ["source", "router", "destination"]
    done_s = np.add(steps.done_s, [1e-4, 3e-4]).tolist()
    crossings, _ = store_and_forward.along(steps, nodes, done_s=done_s)
    late = {
        (one.packet, one.start): one.reached_s
        for one in crossings if one.kind == "captured"
    }  # fmt: skip
    for number, more_s in enumerate((1e-4, 3e-4)):
        expected = steps.last_bit_s[number, 1] + more_s
        assert late[f"packet {number + 1}", 1] == pytest.approx(expected)
    panel = store_and_forward.train_panel()
    panel.controls["router_count"].value = 2
    played = playback_of(panel)
    assert played.nodes == ["source", "router 1", "router 2", "destination"]
    assert len(played.crossings) == 10 * 3


def test_the_ladder_plays_segments_acknowledgements_and_waits():
    panel = small_writes.ladder_panel()
    played = playback_of(panel)
    # derived: 30 ms, 40 ms: the first part arrives at 15 ms, its acknowledgement leaves at 55 ms
    there = [one for one in played.crossings if one["start"] == 0]
    back = [one for one in played.crossings if one["start"] == 1]
    assert there[0]["reached_s"] == pytest.approx(0.015)
    assert back[0]["leaves_s"] == pytest.approx(0.055)
    assert back[0]["small"]
    held = [one for one in played.waitings if one["text"] == "holds acknowledgement"]
    assert [(one["node"], one["start_s"], one["end_s"]) for one in held] == [
        (1, pytest.approx(0.015), pytest.approx(0.055))
    ]
    steps = write_timeline([0, 0], write_bytes=[6, 7], rtt_s=0.03)
    crossings, waitings = small_writes.between(steps, kind="captured")
    assert {one.kind for one in (*crossings, *waitings)} == {"captured"}


@pytest.mark.live
@pytest.mark.namespace
def test_a_live_run_is_played_over_its_theory():
    panel = small_writes.live_panel()
    button = next(child for child in panel.children if hasattr(child, "start"))
    button.start()
    button._thread.join(60)
    played = playback_of(panel)
    assert played.layout.display == "none"
    panel.controls["view"].value = "nagle"
    assert played.layout.display is None
    kinds = {one["kind"] for one in played.crossings}
    assert kinds == {"theory", "captured"}
    # Derived: one way is 15 ms, and no captured segment is faster.
    ways_s = [one["reached_s"] - one["leaves_s"] for one in played.crossings]
    assert min(ways_s) > 0.0149
