"""The glossary: one file of words, from which its page and the lists of the lessons are written."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
GLOSSARY = runpy.run_path(str(ROOT / "tests" / "glossary.py"))
WORDS = GLOSSARY["words"]()
NUMBERS = [GLOSSARY["number"](path) for path in GLOSSARY["LESSONS"]]


def test_each_word_has_one_meaning_in_at_most_two_sentences():
    assert len(WORDS) >= 80
    names = [one["word"].lower() for one in WORDS]
    assert len(set(names)) == len(names)
    for one in WORDS:
        assert set(one) == {"word", "meaning", "lessons"}, one["word"]
        assert one["meaning"].endswith("."), one["word"]
        assert len(re.findall(r"[.:;](?=\s|$)", one["meaning"])) <= 3, one["word"]
        assert len(re.findall(r"\.(?=\s|$)", one["meaning"])) <= 2, one["word"]
        assert "|" not in one["word"] + one["meaning"]


def test_each_word_belongs_to_lessons_that_exist():
    assert {lesson for one in WORDS for lesson in one["lessons"]} <= set(NUMBERS)


def test_each_lesson_has_words_of_its_own():
    counted = {lesson: sum(lesson in one["lessons"] for one in WORDS) for lesson in NUMBERS[1:]}
    assert [lesson for lesson, count in counted.items() if count < 3] == []


def test_the_page_and_the_lists_are_those_of_the_file():
    assert GLOSSARY["PAGE"].read_text(encoding="utf-8") == GLOSSARY["page"](), (
        "run: python tests/glossary.py"
    )
    for path in GLOSSARY["LESSONS"]:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.source.startswith(GLOSSARY["HEADING"]):
                expected = GLOSSARY["listed"](GLOSSARY["number"](path))
                assert cell.source == expected, "run: python tests/glossary.py"
