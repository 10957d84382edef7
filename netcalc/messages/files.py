"""Files that cannot be read right, and repairs and omissions.

A sentence follows the name of the file, the line and the field, so it begins with the fault
there. Text of a file is quoted (``!r``, ``names``), which makes it safe to show.
"""

from __future__ import annotations

FILES: dict[str, str] = {
    "exported-damaged": "is a damaged export of netcalc: its first line or its rows",
    "parquet-package-missing": "reading Parquet requires the package pyarrow",
    "parquet-of-others": "is a Parquet file of another program, without units",
    "parquet-damaged": "is a damaged Parquet file",
    "parquet-column": "column {field!r} has a type that netcalc does not export",
    "parquet-too-large": "has {count} values, more than {limit}",
    "exported-columns": "lacks columns that its first line lists: {wanted:names}",
    "package-missing": "{purpose} needs the package {package}, which is not installed",
    "package-too-old": "{purpose} needs the package {package}, in a later version than {found}",
    "mixed-installation": (
        "another distribution has a package netcalc in the same folder, {folder} ({names}); files "
        "of one have overwritten files of the other"
    ),
    # opening
    "no-such-file": "there is no such file",
    "no-permission": "no permission to read it",
    "is-directory": "is a directory, not a file",
    "not-regular-file": "is a device or a pipe, not a regular file",
    "unreadable-file": "cannot be read: {reason}",
    "invalid-file-name": "is not a valid file name",
    "wrong-encoding": "is not text in the encoding it was opened with",
    "file-too-large": "is larger than {limit_bytes:byte}",
    "too-large-uncompressed": "is larger than {limit_bytes:byte} when uncompressed",
    "damaged-gzip": "is damaged gzip data",
    "gzip-cut-short": "is gzip data that ends too early",
    "damaged-packing": "is damaged compressed data",
    "packing-cut-short": "is compressed data that ends too early",
    "binary-data": "is binary data, not text",
    "file-grew": "the file grew while it was read; the appended part is not included",
    # text and its lines
    "terminal-codes-removed": "removed terminal codes from {numbers:lines}",
    "lines-too-long": "skipped {numbers:lines}: longer than {limit:,} characters",
    "no-byte-order-mark": "no byte order mark; read as {encoding}",
    "bytes-replaced": "not {encoding} from byte {offset}; unreadable characters were replaced",
    "not-utf-8": "not UTF-8 from byte {offset}; read as {encoding}",
    "cut-in-character": "the text ends in the middle of a character",
    "last-line-cut": "line {number}, the last one, is incomplete and was not used",
    # what it is
    "other-format": "looks like {format}, which this version does not read",
    "trace-without-unit": (
        "is one column of whole numbers that never decrease, as a packet trace of mahimahi: it "
        "names no unit"
    ),
    "unknown-json": "is JSON of an unknown kind; its members begin with {names:names}",
    "unknown-xml": "is XML, with the root element {root!r}, which this version does not read",
    "not-columns": "looks like {format}",
    "not-ping-output": "looks like {format}",
    "damaged-json": "is damaged JSON",
    "json-cut-short": "is JSON that ends too early",
    "json-too-deep": "is JSON with too many nested levels",
    "json-twins": "duplicate names in a JSON object: used the last value of {names:names}",
    "json-no-number": "{count:value is|values are} no number (nan or inf) and taken as unknown",
    "file-blank": "no measurement: the file has only white space",
    "file-empty": "no measurement: the file is empty",
    "neither-ping-nor-columns": "no measurement: neither the output of a known tool nor columns",
    "only-long-lines": "no measurement; {numbers:lines} not read: longer than {limit:,} characters",
    # ping
    "no-ping": "no measurement: neither a reply nor the summary of a ping",
    "no-ping-but-message": "no measurement; ping reported {message!r}",
    "unreadable-replies": "no reply can be read with certainty",
    "contradictory-summary": (
        "the summary contradicts itself: {sent:,} sent and {received:,} received, but "
        "{loss_ratio:ratio} loss"
    ),
    "wrong-scale": "the times of the lines are {factor:.3g} times those of the summary",
    "joined-lines": "cannot read {numbers:lines}: several replies run together",
    "no-sequence-number": "cannot read {numbers:lines}: no sequence number",
    "sequence-too-large": "cannot read {numbers:lines}: a sequence number above 65535",
    "sequences-too-far": ("the sequence numbers span {count:,} probes, far more than the lines"),
    "sequence-jumps": "cannot read {numbers:lines}: the sequence number is far from its neighbours",
    "no-reply-size": "cannot read {numbers:lines}: no size",
    "impossible-reply-size": "cannot read {numbers:lines}: no reply has {found:or} bytes",
    "no-time": "cannot read {numbers:lines}: no time",
    "several-times": "cannot read {numbers:lines}: more than one time",
    "time-without-unit": "cannot read {numbers:lines}: a number without a unit",
    "unknown-time-unit": "cannot read {numbers:lines}: unknown unit of time {found:names}",
    "text-after-numbers": "ignored text after the numbers in {numbers:lines}",
    "not-ping": "skipped {numbers:lines}: not ping output",
    "ping-message": "ping reported {message!r} ({numbers:lines})",
    "summary-only": "no reply has a line: only the counts of the summary are known",
    "probes-without-line": "counted as lost: {count:probe|probes} of the summary without a line",
    "errors-counted-as-replies": (
        "the tool counts {counted} received, including {count:error message|error messages}; the "
        "target answered {answered}"
    ),
    "not-about-a-probe": "ignored {numbers:lines}: not about a probe",
    "beginning-missing": (
        "the beginning of the output is missing: {answered} of {received} replies have a line; sent"
        " and received are those of the summary"
    ),
    "sequence-begins-late": (
        "the first sequence number is {first}: the run began before the file did or was told to "
        "begin there; what came before is not counted as lost"
    ),
    "sequence-beyond-sent": "sequence numbers go up to {highest}, but only {sent} were sent",
    "too-many-unseen": "ignored the summary's count of {sent:,} sent: far more than the lines show",
    "short-replies": (
        "replies shorter than the {reply_bytes} bytes expected for {payload_bytes} bytes of data: "
        "{numbers:lines}"
    ),
    "long-replies": (
        "replies longer than the {reply_bytes} bytes expected for {payload_bytes} bytes of data: "
        "{numbers:lines}"
    ),
    "bad-checksums": "counted as lost: replies with a bad checksum ({numbers:lines})",
    "duplicates-without-first": (
        "no first reply has a line, only the duplicates of it in {numbers:lines}; it counts as "
        "received, its time is unknown"
    ),
    "redirects-ignored": "ignored ICMP redirects ({numbers:lines})",
    "no-summary": "no summary: the run was interrupted or the file is incomplete",
    "count-differs": "the summary says {printed} {quantity}, the lines show {counted}",
    "time-differs": (
        "the summary says {quantity} {printed_s:s.6}, the lines show {computed_s:s.6}"
    ),
    # columns
    "only-a-header": "no measurement: only a header",
    "no-number-column": "no measurement: no column of numbers",
    "no-header": "there is no header that names the columns",
    "data-for-header": (
        "there is no header that names the columns: the first row ({first!r}) holds a value as the "
        "rows below do"
    ),
    "too-many-columns": "has {count:column|columns}",
    "unequal-rows": "most rows do not have the {width:cell|cells} of the header",
    "units-apart": "the cells have units of their own, and blanks separate them from the numbers",
    "malformed-quotes": "a quoted cell does not end where it should: {reason!r}",
    "no-such-column": "there is no column {column!r}, for which a unit is given",
    "column-not-there": "there is no column {column!r}",
    "column-with-gaps": "{count} of {total:value|values} are missing, the first in this line",
    "column-empty": "the column has no values",
    "columns-of-one-name": "{count:column has|columns have} the name {column!r}",
    "ambiguous-columns": "more than one column may be meant: {columns:names}",
    "column-without-unit": "has no unit",
    "named-column-without-unit": "has no unit",
    "ambiguous-column-unit": "the unit {written!r} is ambiguous: write {readings:or}",
    "unknown-column-unit": "the unit {written!r} is unknown",
    "column-unit-of-other-kind": "{written!r} is a unit of {kind}",
    "infinite-cell": "is infinite",
    "cell-without-unit": "has no unit of the kind that the other cells of the column have",
    "not-a-number": "is not a number",
    "ambiguous-cell": "is ambiguous: {readings:or}",
    "negative-cell": "is negative",
    "sample-missing": "is missing",
    "sample-negative": "is negative",
    "sample-not-whole": "the row is cut, or has more or fewer cells than the header",
    "interval-uneven": "is not {step} after the one before",
    "billing-layer-unknown": (
        "The file does not say what its rates count: an interface's counters of SNMP count "
        "Ethernet frames with FCS (RFC 3635). State --layer"
    ),
    "no-direction": "has no column of rates or of bytes",
    "too-many-directions": "has {columns} as columns of rates or of bytes",
    "not-a-flag": "is neither true nor false",
    "rows-skipped": "skipped {numbers:lines}: not {width:cell|cells}",
    "unit-ignored": "ignored the unknown unit {written!r} of column {column!r}",
    "unnamed-column": "column {number} has no name; it is now {column!r}",
    "columns-numbered": "numbered {count:column|columns} named {column!r}",
    "columns-ignored": "ignored {count:column|columns}: {columns:names}",
    "rows-without-time": "counted as lost: {count:row|rows} without a round-trip time",
    "not-evaluated": "holds a number that no model takes: {reason}",
    # saved samples
    "samples-too-large": "is larger than {limit_bytes:byte}",
    "not-saved-samples": "is not a file of saved samples",
    "no-schema": "does not say its format",
    "later-schema": "is in a later format",
    "unknown-kind": "holds samples of an unknown kind",
    "other-kind": "holds samples of another kind",
    "incomplete-json": "is damaged: no complete JSON",
    "two-of-one-name": "is damaged: a name appears twice",
    "damaged-samples": "is damaged",
    "part-missing": "is damaged: a part is missing",
    "part-of-other-type": "is damaged: not {wanted}",
    "row-of-other-type": "is damaged: not {wanted} in row {row}",
    "row-too-large": "is damaged: {found} in row {row} is too large for what it counts",
    "row-not-whole": "is damaged: {found:g} in row {row}, not a whole number in range",
    "negative-number": "cannot be {found:g}",
    "row-negative": "is damaged: {found} in row {row}",
    "row-unknown": "is damaged: no number in row {row}",
    "saved-not-finite": "is damaged: not a finite number",
    "saved-too-large": "is damaged: too large for what it counts",
    "saved-negative": "is damaged: a number below 0",
    "saved-unit": "is damaged: not the unit of this column",
    "line-too-long": "a line of {length:,} characters in {format}",
    "columns-of-other-length": "is damaged: {found:row|rows}, the other columns have {wanted}",
    "no-such-part": "is damaged: no part of such samples",
    "unequal-columns": "{name} has {value:row|rows}, {other} has {expected}",
    "column-not-whole": "{name} must be whole numbers from 0 to {high}, got {value}",
    "address-index": "{name} has {value} entries, but a packet refers to entry {index}",
    "not-a-column": "{name} must be one column, got an array of {value:dimension|dimensions}",
    "unequal-table": "{name} must be columns of equal length, got {value:or} rows",
    # data sets
    "no-such-dataset": "there is no data set {value!r}",
    "no-series": "the data set {dataset} has no series, got {value!r}",
    "no-such-series": "there is no series {value!r} in {dataset}",
    "data-missing": "is missing",
    "data-changed": "differs from the file that was shipped (SHA-256 mismatch)",
    "data-unreadable": "cannot be read: {reason}",
    "index-damaged": "is damaged: not an index of data sets",
    "sheet-damaged": "is damaged: not text",
}

_WHAT_IS_READ = "a format that netcalc reads"
_LIST_FORMATS = "netcalc read --formats lists the formats"
_IN_THE_HEADER = "a unit such as {example}"

FILES_EXPECTED: dict[str, str] = {
    "binary-data": _WHAT_IS_READ,
    "other-format": _WHAT_IS_READ,
    "unknown-json": _WHAT_IS_READ,
    "unknown-xml": _WHAT_IS_READ,
    "not-columns": "columns of numbers",
    "not-ping-output": "the output of ping",
    "neither-ping-nor-columns": (
        "lines as a measuring tool prints them (ping, traceroute, iperf3), or rows of numbers "
        "below names with units, such as size/B, rtt [ms]"
    ),
    "only-long-lines": _WHAT_IS_READ,
    "no-ping": "lines with replies, or the summary of a ping",
    "no-ping-but-message": "lines with replies, or the summary of a ping",
    "unreadable-replies": "a time such as time=1.23 ms",
    "contradictory-summary": "counts that fit the loss, as there are no lines to count",
    "wrong-scale": "the same unit in lines and summary",
    "no-header": "names with units, such as size/B, rtt [ms]",
    "data-for-header": "names with units, such as size/B, rtt [ms]",
    "too-many-columns": "at most {limit}",
    "unequal-rows": "{width:cell|cells} separated by {separator}",
    "units-apart": "{width:cell|cells} separated by {separator}",
    "malformed-quotes": "the end of a quoted cell before the next separator",
    "no-such-column": "one of {columns:names}",
    "column-not-there": "one of {columns:names}",
    "column-without-unit": "a unit: {readings:or}",
    "named-column-without-unit": "a unit: {readings:or}",
    "unknown-column-unit": _IN_THE_HEADER,
    "column-unit-of-other-kind": _IN_THE_HEADER,
    "infinite-cell": "a finite number, or an empty cell where it is missing",
    "cell-without-unit": "a number with its unit",
    "not-a-number": "a finite number, or an empty cell where it is missing",
    "ambiguous-cell": "an unambiguous number",
    "negative-cell": "0 or greater, or an empty cell where it is missing",
    "sample-negative": "0 or greater",
    "sample-missing": "a number: without it the bill would be another",
    "no-direction": "one or two such columns, one for each direction",
    "too-many-directions": "one or two such columns, one for each direction",
    "interval-uneven": "samples at even intervals, none missing",
    "not-a-flag": "true, false, yes, no, 1 or 0",
    "not-saved-samples": "netcalc samples",
    "no-schema": "a whole number from 1 to {highest}",
    "later-schema": "{highest} or less",
    "unknown-kind": "one of {known}",
    "other-kind": "{wanted}",
    "negative-number": "0 or greater",
    "saved-negative": "0 or greater",
    "saved-unit": "{wanted}",
    "row-unknown": "a number in each row",
    "line-too-long": "at most {longest:,}: the file is damaged, or two were joined",
    "row-negative": "0 or greater, null where it is unknown",
}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

_SAVE_AGAIN = "Save or copy the file again"
_EXPORT_AGAIN = "Export the samples again: netcalc export"
_SAMPLES_AGAIN = "Save the samples again, or take an older copy"
_EMPTY_CELL = "Correct the cell, or leave it empty"
_RUN_AGAIN = "Run the tool again, and keep all that it prints"
_AS_WRITTEN = "Use the file as the tool wrote it, not an edited copy"
_NAME_A_FILE = "Name a regular file"
_SHIPPED_AGAIN = "Install this copy of netcalc again, or in a checkout: git checkout -- data/{name}"

FILES_HINTS: dict[str, str] = {
    "column-not-there": "Name one of the columns that it lists, or give its number",
    "column-empty": "Name a column with numbers",
    "sample-not-whole": "Export the samples again, or delete the row if it is the last one",
    "interval-uneven": (
        "Export all samples; billing counts a missing one, so netcalc invents none in its place"
    ),
    "package-missing": "Install it with: pip install {extra:copy}",
    "package-too-old": "Install it with: pip install {extra:copy}",
    "mixed-installation": (
        "Run: pip uninstall netcalc; and, as that removes shared files: pip install "
        "--force-reinstall --no-deps {extra:copy}"
    ),
    "parquet-package-missing": "Install it with: pip install pyarrow",
    "parquet-of-others": "Export it as CSV, with units in the header",
    "parquet-damaged": "Export it again",
    "parquet-column": "Export it again, and change no type of its columns",
    "parquet-too-large": "Export it in parts",
    "no-such-file": "Check the name and the folder",
    "no-permission": "Ask its owner, or copy it to a folder of your own",
    "invalid-file-name": _NAME_A_FILE,
    "unreadable-file": "Copy it to a local folder, and read the copy",
    "wrong-encoding": "Read it by its name",
    "is-directory": _NAME_A_FILE,
    "not-regular-file": _NAME_A_FILE + "; netcalc read - reads standard input",
    "file-too-large": "Split it into parts",
    "too-large-uncompressed": "Split it into parts",
    "trace-without-unit": "If it is one: --columns time_ms",
    "binary-data": _LIST_FORMATS,
    "not-columns": "Read it without naming columns",
    "not-ping-output": "Read it without naming a tool",
    "other-format": _LIST_FORMATS,
    "unknown-json": _LIST_FORMATS,
    "unknown-xml": _LIST_FORMATS,
    "neither-ping-nor-columns": _LIST_FORMATS,
    "damaged-packing": _SAVE_AGAIN,
    "packing-cut-short": _SAVE_AGAIN,
    "file-empty": _RUN_AGAIN,
    "file-blank": _RUN_AGAIN,
    "line-too-long": _SAVE_AGAIN,
    "only-long-lines": "Break the lines as the tool wrote them",
    "no-ping": _RUN_AGAIN,
    "no-ping-but-message": "Mend what the message says, and run ping again",
    "contradictory-summary": _AS_WRITTEN,
    "wrong-scale": _AS_WRITTEN,
    "sequences-too-far": _AS_WRITTEN,
    "json-too-deep": "Check what wrote it: no tool nests so deep",
    "damaged-xml": _SAVE_AGAIN,
    "exported-damaged": _EXPORT_AGAIN,
    "exported-columns": _EXPORT_AGAIN,
    "damaged-json": _SAVE_AGAIN,
    "json-cut-short": _SAVE_AGAIN,
    "damaged-gzip": _SAVE_AGAIN,
    "gzip-cut-short": _SAVE_AGAIN,
    "unreadable-replies": "Use the file that ping wrote, not an edited copy",
    "only-a-header": "Add a row of values for each measurement",
    "no-number-column": "Add a column of numbers, with its unit in the header",
    "too-many-columns": "Leave out the columns that are not needed",
    "unequal-rows": "Give each row as many cells as the header has, empty ones included",
    "units-apart": (
        "Put the units into the header, such as rtt [ms], or separate the columns by tabs"
    ),
    "malformed-quotes": "Close the quotes of that cell",
    "no-such-column": "Give the unit for a column of the header",
    "unknown-column-unit": "Write the unit of the column in the header as SI has it",
    "column-unit-of-other-kind": "Change the unit, or the name of the column",
    "infinite-cell": _EMPTY_CELL,
    "cell-without-unit": "Put the unit into the header, such as rtt [ms], or into every cell",
    "not-a-number": _EMPTY_CELL,
    "ambiguous-cell": "Write a decimal point and no separators of thousands",
    "negative-cell": _EMPTY_CELL,
    "not-a-flag": "Write true or false",
    "no-header": "Add a header",
    "data-for-header": "Add a header",
    "columns-of-one-name": "Rename all but one",
    "column-with-gaps": "Remove the rows without a value, if they may be left out",
    "ambiguous-columns": "Rename or remove all but one",
    "column-without-unit": "Write {column} [{example}] in the header",
    "no-direction": "Write a header such as: in [Mbit/s],out [Mbit/s]",
    "too-many-directions": "Leave the other columns out",
    "named-column-without-unit": "Name the columns with units: {names}",
    "later-schema": "Update this copy of netcalc",
    "samples-too-large": "Save fewer samples",
    "not-saved-samples": "netcalc read reads files of other tools",
    "no-schema": _SAMPLES_AGAIN,
    "unknown-kind": "Update this copy of netcalc, or save the samples again",
    "other-kind": "netcalc read reads every kind",
    "incomplete-json": _SAMPLES_AGAIN,
    "two-of-one-name": _SAMPLES_AGAIN,
    "damaged-samples": _SAMPLES_AGAIN,
    "part-missing": _SAMPLES_AGAIN,
    "part-of-other-type": _SAMPLES_AGAIN,
    "row-of-other-type": _SAMPLES_AGAIN,
    "row-too-large": _SAMPLES_AGAIN,
    "row-not-whole": _SAMPLES_AGAIN,
    "row-negative": _SAMPLES_AGAIN,
    "negative-number": _AS_WRITTEN,
    "columns-of-other-length": _SAMPLES_AGAIN,
    "no-such-part": _SAMPLES_AGAIN,
    "no-such-dataset": "Available: {known}",
    "no-such-series": "Available: {known:names}",
    "data-missing": _SHIPPED_AGAIN,
    "data-changed": _SHIPPED_AGAIN,
    "data-unreadable": _SHIPPED_AGAIN,
    "index-damaged": _SHIPPED_AGAIN,
    "sheet-damaged": _SHIPPED_AGAIN,
}

_NAME_THEM = 'Or name the columns: columns=("size_bytes", "rtt_ms")'

FILES_PYTHON_HINTS: dict[str, str] = {
    "no-such-file": "A str is read as text if it contains a line break, otherwise as a path",
    "not-regular-file": "A pipe can be read as a file object",
    "wrong-encoding": "Open it in binary mode",
    "trace-without-unit": 'Name the column with its unit: columns=["time_ms"]',
    "no-header": _NAME_THEM,
    "data-for-header": _NAME_THEM,
    "column-without-unit": "Or give the unit: units={{{column!r}: {example!r}}}",
    "named-column-without-unit": "Or give the unit: units={{{column!r}: {example!r}}}",
    "other-kind": "netcalc.samples.load reads every kind",
}
"""What a caller in Python can do: shown with the traceback, not by the command."""
