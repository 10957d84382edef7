"""Exercises: files of them, their formulas, and the ids that a person asks for."""

from __future__ import annotations

EXERCISES: dict[str, str] = {
    "exercises-too-large": "the file is larger than {limit:byte}",
    "exercises-not-utf8": "the file is not UTF-8 text",
    "exercises-no-file": "this is not a regular file",
    "exercises-toml": "this is not TOML: {reason}",
    "exercises-key-long": "a key or a number has more than {limit} dots",
    "no-exercises": "there is no exercise in the file",
    "too-many-exercises": "there are more than {limit} exercises in the file",
    "exercise-field-unknown": "this field is unknown",
    "exercise-field-missing": "this field is required",
    "exercise-not-table": "this must be {wanted}",
    "exercise-not-text": "this must be text",
    "exercise-not-quantity": "this must be a number with its unit",
    "exercise-text-empty": "the text is empty",
    "exercise-text-long": "the text is longer than {limit} characters",
    "exercise-not-printable": "the text contains characters that cannot be printed",
    "exercise-whole-number": "this must be a whole number from {low} to {high}",
    "exercise-too-many": "there are more than {limit} of them",
    "exercise-id-malformed": "this is not a valid id",
    "exercise-id-in-use": "this id is already used in line {first_line}",
    "exercise-id-bundled": "this id is already used in {other}",
    "exercise-lesson": "this is not the number of a lesson",
    "exercise-unit": "this is not a unit to compute in",
    "exercise-tolerance": "the tolerance must be from 0 to {most:ratio}",
    "exercise-variable-name": "{name!r} is not a name for a variable",
    "exercise-variable-hidden": "the text does not show {name}, which a formula uses",
    "exercise-range": "low must be above 0 and below high",
    "exercise-step": "step must be above 0, and at most the distance from low to high",
    "exercise-values-and-range": "a variable with values has no range",
    "exercise-placeholder": "{{{name}}} is not a variable of this exercise",
    "exercise-mistake-twice": "the name {name!r} is already used",
    "exercise-column": "{name!r} is not a column of numbers of this data set",
    "exercise-same-as": "{name!r} is not the name of an earlier mistake",
    "exercise-formula-refused": "{reason}",
    "exercise-ways-differ": "right gives {first:.10g} and second {second:.10g} with {numbers}",
    "exercise-not-separable": (
        "the answers of {names} coincide within 2.5 tolerances in all {draws} draws"
    ),
    "exercise-answer-said": (
        "the sentences of the mistakes contain the right answer in all {draws} draws"
    ),
    "exercise-too-slow": "drawing numbers takes longer than {limit_s:s}",
    "formula-not-one-number": "the formula gives {value} numbers, not one",
    "exercise-without-answer": "the formulas have no answer in any of {draws} draws: {reason}",
    "exercise-conditions-not-met": "the conditions fail in all {draws} draws",
    "exercise-unknown": "there is no exercise {value!r}",
    "exercise-lesson-empty": "there is no exercise of lesson {value!r}",
    "exercise-mistake-unknown": "exercise {exercise} has no mistake {value!r}",
    "exercise-without-curve": "exercise {value!r} has no figure of its formulas",
    "exercise-answer-form": "the answer {found!r} names no exercise",
    "exercise-answer-twice": "exercise {exercise} is answered twice",
    "exercise-not-asked": "exercise {value!r} is answered but not in the selected lessons",
    "answers-not-by-exercise": "{name} must be a dict of answers by exercise, got {found}",
    "unknown-variable": (
        "{value!r} is neither a variable of this exercise, nor a named line such as T1, nor a "
        "model with arguments"
    ),
    "unknown-variable-with-minus": (
        "{value!r} is neither a variable of this exercise, nor a named line such as T1, nor a "
        "model with arguments"
    ),
}

EXERCISES_HINTS: dict[str, str] = {
    "exercises-toml": "Check quotes and brackets near this line",
    "no-exercises": "Begin each exercise with [[exercise]]; docs/exercises.md has the format",
    "exercise-field-unknown": "Known are {known}",
    "exercise-id-malformed": "Begin with a letter; use letters, digits, - and _, at most 40",
    "exercise-id-bundled": "Choose another id",
    "exercise-lesson": 'Write two digits, as in "02"',
    "exercise-unit": "Use one of {known}",
    "exercise-variable-name": (
        "Begin with a letter; use letters, digits and _, and not the name of a line such as T1"
    ),
    "exercise-variable-hidden": "Write {{{name}}} in the text",
    "exercise-column": "Its columns of numbers are {known}",
    "exercise-ways-differ": "Formulas have plain SI numbers: bytes, bit/s, s",
    "exercise-not-separable": (
        "Change a formula or the ranges; if two mistakes always lead to one number, give the later "
        "one same_as"
    ),
    "exercise-too-slow": "Use smaller ranges or simpler models",
    "formula-not-one-number": "Use sum, min, max or item",
    "exercise-unknown": "netcalc exercise --list lists all",
    "exercise-mistake-unknown": "Its mistakes are {known}",
    "answers-not-by-exercise": 'Write {{"TR1": "13.2 ms"}}',
    "exercise-answer-form": "Write --answer TR1='13.2 ms'",
    "exercise-not-asked": "Name its lesson, or its id, as well",
    "exercise-lesson-empty": "Lessons with exercises: {known}",
    "unknown-variable-with-minus": "Put spaces around a minus sign",
}
