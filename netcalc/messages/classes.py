"""Classes: lists of students, sheets of exercises, and notebooks that are collected."""

from __future__ import annotations

CLASSES: dict[str, str] = {
    # The list of a class.
    "roster-empty": "has no student",
    "roster-too-long": "has more than {limit:,} students",
    "roster-not-split": "cannot be split into cells ({reason})",
    "roster-cell-count": (
        "has {count:cell|cells}, and the headings are {header_count:,}: a comma in a name?"
    ),
    "roster-column-missing": "no column has the names of the students; columns: {columns:names}",
    "roster-column-twice": "two columns have this heading",
    "roster-name-missing": "a student without a name",
    "roster-id-missing": "a student without an id, where others have one",
    "roster-not-printable": "has characters that cannot be seen",
    "roster-text-long": "is longer than {limit:character|characters}",
    "roster-name-twice": "is the name in line {first_line}, too",
    "roster-id-twice": "is the id in line {first_line}, too",
    # The sheet.
    "sheet-name-not-plain": (
        "{name} must be letters, digits, blanks and . _ - and begin with a letter or digit, got "
        "{value!r}"
    ),
    "sheet-name-long": "{name} must have at most {limit:character|characters}, got {value!r}",
    "lessons-missing-in-option": "{option} needs the number of a lesson",
    "exercise-files-alike": "{option}: two files of one name",
    "class-file-exists": "{file} exists, and nothing is overwritten",
    "marks-exist": "{file} exists, and nothing is overwritten",
    "marks-name-not-plain": "{option} must be a name without a folder, got {value!r}",
    "class-folder-missing": "{folder} is no folder",
    # The record of a sheet.
    "record-damaged": "is a damaged record of a sheet",
    "record-of-other-version": "is the record of a sheet in form {schema}, of a later version",
    "record-missing": "{folder} has no record of a sheet (a file that ends with {suffix})",
    "sheet-name-twice": "two different sheets are called {name!r}",
    # A notebook that is not counted.
    "notebook-unreadable": "cannot be read: {reason}",
    "notebook-too-large": "is larger than {limit_bytes:byte}",
    "notebook-empty": "is an empty file",
    "notebook-not-text": "is no text: not UTF-8 from byte {offset}",
    "notebook-not-json": "is damaged: no notebook can be so deep",
    "notebook-damaged": "is damaged in line {line_number}",
    "notebook-is-none": "is no notebook",
    "notebook-version": "is a notebook of format {version}; format {read} is read",
    "notebook-of-no-sheet": "is no notebook of a sheet: its metadata do not say whose it is",
    "notebook-schema": "is a notebook of a sheet in form {schema}, of another version of netcalc",
    "notebook-facts-edited": (
        "name, sheet or exercises in its metadata were changed after it was handed out"
    ),
    "notebook-cells": "has cells that are no cells of a notebook",
    "notebook-of-other-sheet": "belongs to another sheet that is called {sheet!r}, too",
    "sheet-unknown": "belongs to the sheet {sheet!r}, of which no record is here",
    "student-unknown": "belongs to {student!r}, who is not in this class",
    "exercises-changed": "its exercises are not those of this version of netcalc",
    "answers-missing": "has no cell answers = {{...}}",
    "answers-not-python": "line {line_number} of the cell answers = {{...}} is not Python",
    "answers-no-dictionary": "its answers are no dictionary of texts",
    "notebook-missing": "no notebook",
    "notebooks-differ": "several notebooks with different answers: {files:names}",
    # A notebook that is counted.
    "notebook-renamed": "renamed, it was {expected!r}",
    "notebook-again": "there is also {files:names}",
    "answers-blank": "no answer to {ids}",
    "answers-unclear": "not readable or ambiguous: {ids}",
    "answers-of-others": "answers to exercises that are not on the sheet: {ids}",
    "answers-to-other-numbers": "answered with other numbers than those of the sheet: {ids}",
    "solution-was-shown": "the worked solution was shown: {ids}",
    "answers-twice": "answered twice, the last one counts: {ids}",
    "answers-changed-by-code": "code changes the answers, too, and is not run",
    "answers-are-code": "not evaluated, as it is neither text nor a number: {ids}",
    "answers-too-long": "longer than {limit:character|characters}: {ids}",
}
"""Sentences about classes."""

CLASSES_HINTS: dict[str, str] = {
    "roster-cell-count": 'Write a name with a comma in quotes: "Hopper, Grace"',
    "roster-column-missing": (
        "Write the heading name above the names, or first name and last name above their parts"
    ),
    "roster-empty": "Write the heading name in the first line, and a name in each line below it",
    "roster-name-twice": "Add a column id that distinguishes them",
    "roster-id-missing": "Fill the column id in, or leave it out",
    "roster-not-printable": "Type it again, without what was copied with it",
    "roster-not-split": "Close each quotation mark in the line that opens it",
    "lessons-missing-in-option": "Write for example --lessons 01,02",
    "marks-exist": "Give other names with --out",
    "marks-name-not-plain": "It names two files in DIR, with .csv and .html behind it",
    "class-file-exists": "Give the sheet another name, or another folder with --dir",
    "record-missing": "It was written next to the notebooks by netcalc class sheet; copy it there",
    "sheet-name-twice": "Collect them in two folders, one after the other",
}
"""What to do about it."""
