"""The bundled exercises: their number, their answers by hand, their mistakes and their texts."""

from __future__ import annotations

import math
import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

from netcalc import datasets, exercises
from tests.exercises.worked_01_to_06 import WORKED as FIRST
from tests.exercises.worked_07_to_12 import WORKED as SECOND

ROOT = Path(__file__).parents[2]
TEMPLATES = exercises.templates()
BY_ID = {template.id: template for template in TEMPLATES}
WORKED = FIRST | SECOND
LESSONS = [f"{number:02}" for number in range(1, 14)]
STUDENTS = ("s1", "s2", "s3", "s4", "s5")
# The mistakes that the exercises were begun with.
MISTAKES = """
TR1: bytes taken for bits; 1024 for 1000; round trip for one way; latency left out; \
bandwidth left out; latency once per packet
TR2: only the bandwidth counts; faster lines are shorter; bytes taken for bits
TR3: latency only once; one way for the round trip; bytes taken for bits
UN1: MB for MiB
PR1: one way for the round trip; light in vacuum
PR2: there and back; light in vacuum; bytes for bits
WI1: one way for the round trip; the window field decides
WI2: bandwidth decides; bytes taken for bits; multiplied by the round trip; \
one way for the round trip; latency halves the line; Linux doubles it
WI3: the window is shared; bandwidth decides; the line is divided; bytes taken for bits
SF1: clocked once; counted routers, not lines; there and back
SF2: no pipeline; one packet too many; counted routers, not lines; bytes taken for bits
SF3: no pipeline
SF4: stored and forwarded
RT2: one way for the round trip; hop times taken for line times; hop times added
RT3: latency read as round trip; halved again
FR1: bytes taken for bits; preamble forgotten
FR2: FCS forgotten
FR3: a constant added; goodput divided by the frame; goodput divided by the wire; \
Ethernet header taken for payload
FR4: box and line added
FR5: an ACK for every segment; bytes taken for bits
OV1: no headers; time stamps forgotten; preamble and gap forgotten; overhead taken off twice; \
bytes for bits
OV2: preamble and gap forgotten; no headers
FG1: headers forgotten; IP header forgotten; TCP headers for a ping; \
Ethernet header taken off the MTU
FG2: headers forgotten; one IP header for all; UDP header in every fragment; TCP headers
FG3: all must be lost
NA1: two writes are free; both sides delay
NA2: flush or nodelay changes nothing; the answer waits for the delayed ACK
NA3: delayed from the start; fresh connections do not wait
UD1: sent taken for received; bytes taken for bits; headers counted as goodput; \
UDP repeats what is lost
SS1: the window stays; last window instead of the sum; factor 1.5; one more each round trip; \
doubled at every ACK
LO1: the root forgotten; percent taken for a ratio
LO2: loss of a percent costs a percent
QU1: time in the system; M/D/1
QU2: a buffer costs nothing; there and back
HS1: TLS forgotten; TLS 1.2; three messages, three half trips
AS1: an ACK for every segment; an ACK has 40 bytes
"""


def test_there_are_enough_for_every_lesson():
    count = Counter(template.lesson for template in TEMPLATES)
    assert sorted(count) == LESSONS
    assert len(TEMPLATES) >= 60
    assert min(count.values()) >= 3
    assert len(BY_ID) == len(TEMPLATES)


def test_the_first_mistakes_are_there():
    listed = 0
    for line in filter(None, MISTAKES.replace("\\\n", "").split("\n")):
        name, _, mistakes = line.partition(": ")
        wanted = mistakes.split("; ")
        listed += len(wanted)
        assert set(wanted) <= set(BY_ID[name].mistakes), name
    assert listed == 97


@pytest.mark.each("name", BY_ID)
def test_the_answer_is_that_worked_by_hand(name):
    template = BY_ID[name]
    assert len(WORKED[name]) >= 2
    for answer, values in WORKED[name]:
        assert set(values) == {variable.name for variable in template.variables}
        # An ordinary sum in another order: some 1e-16 for each step of it.
        assert math.isclose(template.right(values), answer, rel_tol=1e-11)
        assert math.isclose(template.second(values), answer, rel_tol=1e-11)


@pytest.mark.each("template", TEMPLATES, ids=lambda one: one.id)
def test_the_mistakes_have_names_and_lie_apart(template):
    assert len(template.mistakes) >= 5
    twins = {one.name for one in template.wrong if one.same_as}
    for student in STUDENTS:
        question = exercises.draw(template, student=student, sheet="templates")
        answers = [("", question.answer)]
        answers += [item for item in question.wrong_answers.items() if item[0] not in twins]
        for index, (name, value) in enumerate(answers):
            for other, near in answers[:index]:
                least = 2.5 * template.tolerance * max(abs(value), abs(near))
                assert abs(value - near) > least, (name, other)


@pytest.mark.each("template", TEMPLATES, ids=lambda one: one.id)
def test_the_texts_are_plain_english(template):
    texts = [template.text]
    for one in template.wrong:
        texts += [one.sentence, one.ask]
        assert one.ask.endswith("?"), one.name
        assert one.sentence.endswith("."), one.name
        assert len(sentences(one.sentence)) <= 2, one.sentence
        assert len(sentences(one.ask)) == 1, one.ask
        assert not one.name[0].isupper() or one.name.split()[0] in CAPITALS, one.name
        assert len(one.name) <= 50, one.name
        # The question comes first, and the name of the mistake only after another try.
        assert one.name.lower() not in one.ask.lower(), one.name
    for text in texts:
        assert re.fullmatch(r"[ -~]+", text), text
        assert "  " not in text
        assert all(len(sentence.split()) <= 40 for sentence in sentences(text)), text


CAPITALS = {
    "MB", "MiB", "Linux", "FCS", "TLS", "UDP", "IP", "TCP", "Ethernet", "ICMP", "IPv6", "M/D/1",
    "M/M/1", "ACK", "ACKs", "NAT", "Nyquist's", "Poisson", "CUBIC", "C", "IP,",
}  # fmt: skip


def sentences(text):
    return [part for part in re.split(r"(?<=[.?!:])\s+(?=[A-Z{])", text) if part]


@pytest.mark.each("template", TEMPLATES, ids=lambda one: one.id)
def test_files_are_named_by_the_lesson(template):
    assert re.search(rf"[/\\]{template.lesson}_[a-z_]+\.toml$", template.file)


def test_lessons_with_points_have_a_curve_over_them():
    with_points = {one.lesson for one in TEMPLATES if one.curve.get("points")}
    assert with_points >= {"01", "02", "03", "06", "07", "09", "10", "11"}
    for template in TEMPLATES:
        if template.curve.get("points"):
            columns = datasets.load(template.curve["points"]).columns()
            assert {template.curve["point_x"], template.curve["point_y"]} <= set(columns)


def test_the_right_curve_goes_through_the_points_it_explains():
    """[published] Stevens: T1 and T3; his third time belongs to another rate than it says."""
    found = exercises.draw("TR6").curves()
    times = [BY_ID["TR6"].right({"R": rate}) for rate in found.points_x]
    differences = [abs(a / b - 1) for a, b in zip(times, found.points_y, strict=True)]
    assert max(differences[:2]) < 0.002  # printed with three digits
    assert differences[2] > 0.01


def test_the_page_lists_them():
    table = runpy.run_path(str(ROOT / "tests" / "exercise_table.py"))
    assert table["PAGE"].read_text(encoding="utf-8") == table["page"](), (
        "run: python tests/exercise_table.py"
    )


def test_the_right_answers_are_those_printed_and_measured():
    # [published] Stevens, ten hops of 552 bytes: 28.6 ms on T1, 1.0 ms (0.98) on T3
    ten = BY_ID["SF6"].right
    assert math.isclose(ten({"R": 1.544e6}), 0.0286, rel_tol=0.002)
    assert math.isclose(ten({"R": 45e6}), 0.001, rel_tol=0.02)
    # [published] Snader: 440 of 5000 datagrams lost, 12 % above the 1.002 MB/s of TCP
    arrived = BY_ID["UD2"].right({"p": 440 / 5000})
    assert math.isclose(arrived, 1.12 * 8.016e6, rel_tol=0.005)
    # [measured] an emulated T1 with 5 ms: the least round trips are up to 0.3 ms late
    columns = datasets.load("ping_emulated_t1").columns()
    for size in (400, 1000, 1400):
        late = min(columns["rtt_s"][columns["payload_bytes"] == size])
        late -= BY_ID["RT4"].right({"s": size})
        assert 0 <= late <= 0.3e-3, size
