"""Classes: lists of students, sheets of exercises, and notebooks that are collected."""

from __future__ import annotations

CLASSES: dict[str, str] = {
    # The list of a class.
    "roster-empty": "the list has no students",
    "roster-too-long": "the list has more than {limit:,} students",
    "roster-not-split": "this line cannot be split into cells ({reason})",
    "roster-cell-count": (
        "the line has {count:cell|cells} for {header_count:,} headings: a comma in a name?"
    ),
    "roster-column-missing": "there is no column of names; the columns are {columns:names}",
    "roster-column-twice": "two columns have this heading",
    "roster-name-missing": "this student has no name",
    "roster-id-missing": "this student has no id, but others have one",
    "roster-not-printable": "the text contains invisible characters",
    "roster-text-long": "the text is longer than {limit:character|characters}",
    "roster-name-twice": "line {first_line} has the same name",
    "roster-id-twice": "line {first_line} has the same id",
    # The sheet.
    "sheet-name-not-plain": (
        "{name} must be letters, digits, blanks and . _ - and begin with a letter or digit, got "
        "{value!r}"
    ),
    "sheet-name-long": "{name} must have at most {limit:character|characters}, got {value!r}",
    "lessons-missing-in-option": "{option} needs the number of a lesson",
    "exercise-files-alike": "{option}: two files have the same name",
    "class-file-exists": "{file} exists and is not overwritten",
    "marks-exist": "{file} exists and is not overwritten",
    "marks-name-not-plain": "{option} must be a name without a folder, got {value!r}",
    "class-folder-missing": "{folder} is not a folder",
    # The record of a sheet.
    "record-damaged": "the record of the sheet is damaged",
    "record-of-other-version": "the record has format {schema}, of another version of netcalc",
    "record-missing": "{folder} has no record of a sheet (a file that ends with {suffix})",
    "sheet-name-twice": "two different sheets are called {name!r}",
    # A notebook that is not counted.
    "notebook-unreadable": "cannot be read: {reason}",
    "notebook-too-large": "is larger than {limit_bytes:byte}",
    "notebook-empty": "is an empty file",
    "notebook-not-text": "is not UTF-8 text from byte {offset} on",
    "notebook-not-json": "is damaged: its JSON is nested too deeply",
    "notebook-damaged": "is damaged in line {line_number}",
    "notebook-is-none": "is not a notebook",
    "notebook-version": "is a notebook of format {version}; netcalc reads format {read}",
    "notebook-of-no-sheet": "is not from a sheet: its metadata name no student",
    "notebook-schema": "has sheet format {schema}, of another version of netcalc",
    "notebook-facts-edited": (
        "the name, sheet or exercises in its metadata were edited after it was handed out"
    ),
    "notebook-cells": "contains invalid cells",
    "notebook-of-other-sheet": "belongs to another sheet of the same name, {sheet!r}",
    "sheet-unknown": "belongs to sheet {sheet!r}, whose record is not in this folder",
    "student-unknown": "belongs to {student!r}, who is not in the class",
    "exercises-changed": "its exercises differ from this version of netcalc",
    "answers-missing": "has no cell with answers = {{...}}",
    "answers-not-python": "line {line_number} of the cell answers = {{...}} is not Python",
    "answers-no-dictionary": "answers is not a dictionary of texts",
    "notebook-missing": "no notebook was handed in",
    "notebooks-differ": "several notebooks with different answers: {files:names}",
    # A notebook that is counted.
    "notebook-renamed": "the file was renamed; its name was {expected!r}",
    "notebook-again": "another notebook was handed in: {files:names}",
    "answers-blank": "no answer to {ids}",
    "answers-unclear": "not readable or ambiguous: {ids}",
    "answers-of-others": "answers to exercises that are not on the sheet: {ids}",
    "answers-to-other-numbers": "answered with numbers of another sheet: {ids}",
    "solution-was-shown": "the worked solution was shown: {ids}",
    "answers-twice": "answered twice, the last one counts: {ids}",
    "answers-changed-by-code": "code that changes the answers was not run",
    "answers-are-code": "not evaluated, because neither text nor a number: {ids}",
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
