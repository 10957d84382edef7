"""Text that is not one quantity, one name or one formula.

``shown`` is the text, quoted and cut where it is long; ``expected`` is the required quantity.
"""

from __future__ import annotations

# The book check: quantities, formulas and files of claims.
CLAIMS: dict[str, str] = {
    "wrong-kind": "{shown} is {kind}, not {expected}",
    "cannot-add": "{shown} is {kind} and cannot be added to {expected}",
    "cannot-subtract": "{shown} is {kind} and cannot be subtracted from {expected}",
    "cannot-join": "{shown} is {kind} and cannot be in one list with {expected}",
    "division-by-zero": "the divisor is 0",
    "exponent-with-unit": "the exponent must be a pure number, got {value}",
    "exponent-out-of-range": (
        "the exponent of {kind} must be a whole number from -2 to 3, got {value:g}"
    ),
    "empty-list": "a list must contain at least one quantity",
    "formula-several": "{shown} is more than one formula",
    "formula-too-long": "the formula is longer than {limit} characters",
    "formula-too-deep": "{shown}: brackets are nested deeper than {limit}",
    "formula-nested": "{shown} is nested too deeply",
    "formula-chain": "{shown} has too many operators in a row",
    "formula-character": "{shown} is not a formula: the character {character!r} is not allowed",
    "formula-number": "{shown} is not a formula: {number!r} is not a number",
    "formula-ambiguous-unit": ("{shown} is ambiguous: the unit {unit!r} may be {readings:or}"),
    "formula-unknown-unit": "{shown} is not a formula: the unit {unit!r} is unknown",
    "formula-empty": "{shown} is not a formula: it is empty",
    "formula-syntax": "{shown} is not a formula: {reason}",
    "formula-language": "{shown}: {node} is not part of the formula language",
    "not-computable": "the formula cannot be computed: {reason}",
    "result-not-finite": "the result must be finite, got {value}",
    "several-columns": "the result has the columns {columns}; append the name of one: .{example}",
    "no-columns": "the result has no columns, and no column {value!r}",
    "given-twice": "{name} is given twice",
    "text-for-quantity": "a quantity is required here, got the text {value!r}",
    "quantity-for-name": "a name is required here, got {value}",
    "quantity-for-choice": "{name} must be one of {choices}, got a quantity",
    "quantity-for-text": "{name} must be a name or a text in quotes, got a quantity",
    "call-of-result": "only a model or a function can be called, not a result",
    "wrong-argument-count": "{name} takes {expected:argument|arguments}, got {value}",
    "too-few-arguments": "{name} takes at least {expected:argument|arguments}, got {value}",
    "no-keywords": "{name} takes no keyword arguments",
    "keywords-needed": (
        "{name} takes one argument without a keyword, got {value}; the others are {keywords}"
    ),
    "data-arguments": "data takes the names of a data set and a column, got {value:name|names}",
    "no-matching-row": "no row of {value} matches",
    "text-column": "the column {value!r} contains text, not numbers",
    "too-few-numbers": "{name} needs at least {expected:number|numbers}, got {value}",
    "unknown-name": "{value!r} is neither a named line such as T1 nor a model with arguments",
    "unknown-claim": (
        "{value!r} is neither a named line such as T1, nor a model with arguments, nor the id of a "
        "claim"
    ),
    "unknown-claim-with-minus": (
        "{value!r} is neither a named line such as T1, nor a model with arguments, nor the id of a "
        "claim"
    ),
    "claim-circle": "refers to itself: {circle} (claim {claim})",
    "claim-chain": "depends on a chain of more than {limit} claims (claim {claim})",
    "claim-formulas-nested": "depends on formulas that are nested too deeply (claim {claim})",
    "claim-formula-refused": "{reason} (claim {claim})",
    "claim-not-one-number": "does not give a single number of a known unit (claim {claim})",
    "claim-kind-printed": "is {computed}, {kind}, but {printed!r} is printed (claim {claim})",
    "claim-kind-of-unit": "is {computed}, {kind}, but the unit is {unit_wanted} (claim {claim})",
    "claim-id-in-use": "is already used in line {first_line} (claim {claim})",
    "too-many-claims": "contains more than {limit} claims",
    "no-claims": "contains no claims",
    "claims-not-split": "cannot be split into cells: {reason}",
    "claims-cell-count": "has {count:cell|cells}, but the header has {header_count}",
    "claims-column-twice": "appears twice",
    "claims-column-unknown": "is not a column of claims",
    "claims-columns-missing": "required columns are missing: {columns}",
    "claim-id-malformed": (
        "{id!r} is not a valid id: use letters, digits, _ - and . as in A-2, and not the name of a "
        "line"
    ),
    "relation-unknown": "{relation!r} is unknown; use {known}, or leave it empty",
    "verdict-of-computed": (
        "{verdict!r} is not a verdict for a claim with a formula to compare; use one of {allowed}"
    ),
    "verdict-of-uncomputed": (
        "{verdict!r} is not a verdict for a claim without a formula to compare; use one of "
        "{allowed}"
    ),
    "verdict-missing": "is empty; without a formula to compare it must be one of {allowed}",
    "printed-missing": "is empty, and there is no formula to derive the number from",
    "relation-without-number": "is {relation}, but no number is printed",
    "relation-without-formula": "is {relation}, but there is no formula",
    "tolerance-without-about": "is given, but the relation is not about",
    "tolerance-not-positive": "{text!r} is not a positive difference in {unit_wanted}",
    "quantity-refused": "{reason}",
    "not-one-quantity": "{text!r} is not a single quantity of a known kind",
    "record-verdict-differs": "The verdict on record is {recorded}",
    "record-value-differs": "The computed value on record is {recorded:.10g} {si_unit}",
}

_QUOTE_CELLS = "Put double quotes around a cell that contains a comma"
CLAIMS_HINTS: dict[str, str] = {
    "formula-several": "Remove the semicolon",
    "formula-chain": "Use sum([...])",
    "formula-number": "Write 1000, not 1,000",
    "result-not-finite": "It is outside the range of the model",
    "unknown-claim-with-minus": "Put spaces around a minus sign",
    "no-claims": "The header needs {columns}; docs/claims.md lists all columns",
    "claims-not-split": _QUOTE_CELLS,
    "claims-cell-count": _QUOTE_CELLS,
}

TEXTS: dict[str, str] = {
    **CLAIMS,
    "text-empty": "{expected} is required, got an empty text",
    "no-number": "{shown} is not {expected}: it does not start with a number",
    "malformed-number": "{shown} is not {expected}: {number!r} is not one number",
    "number-too-large": "{shown} is too large for a number",
    "ambiguous-number": "{shown} is ambiguous: write {readings:or}",
    "ambiguous-unit": "{shown} is ambiguous: write {readings:or}",
    "unit-missing": "{shown} needs a unit: {readings:or}",
    "unit-of-other-kind": "{shown} is not {expected}: {written!r} is a unit of {kind}",
    "unit-unknown": "{shown} is not {expected}: the unit {written!r} is unknown",
    "units-incomparable": "{shown} measures {kind}, {to_unit!r} measures {to_kind}",
    "kind-unknown": "{shown} is not a supported unit; use one of {known}",
    "line-unknown": "{shown} is not a named line",
}

TEXTS_HINTS: dict[str, str] = {
    **CLAIMS_HINTS,
    "text-empty": "Write for example {example}",
    "no-number": "Write for example {example}",
    "unit-of-other-kind": "Write for example {example}",
    "unit-unknown": "Write for example {example}",
    "line-unknown": "Named lines: {known}",
}
