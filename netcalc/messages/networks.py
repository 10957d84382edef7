"""Networks: files of links and demands, what is planned of them, and how far a scan came."""

from __future__ import annotations

NETWORKS: dict[str, str] = {
    # Files; a sentence follows the name of the file, the line and the field.
    "network-file-empty": "there is no row",
    "network-no-rows": "there is no row after the headings",
    "network-rows": "has {count:,} rows, more than {limit:,}",
    "network-line-long": "is longer than any line that is read",
    "network-column-missing": "the column is missing; there are {columns:names}",
    "network-column-named": "the column is missing; {near:or} may be meant",
    "network-column-unknown": "is not a known column",
    "network-column-twice": "is a second column for the same quantity",
    "network-columns-ignored": "{file}: columns not used: {columns:names}",
    "network-unit-unwanted": "has a unit, but the column holds names or plain numbers",
    "network-row-length": "has {count:cell|cells}, the header has {wanted}",
    "network-cell-empty": "the cell is empty",
    "network-cell-unreadable": "{reason}",
    "network-cost": "is not a cost",
    "network-coordinate": "is not a coordinate",
    "network-degrees": "is not a coordinate in degrees",
    "network-coordinate-alone": "the column {column} is missing beside it",
    "network-one-number": "an availability is one number, not a range",
    "network-number-impossible": "is impossible: it must be {limits}",
    "network-range-impossible": ("{share:ratio} of this range is impossible: it must be {limits}"),
    "network-loop": "begins and ends at the same node",
    "network-node-unknown": "is not a node of the network",
    "network-node-twice": "the node is named twice",
    "network-link-twice": "the link of line {first} has the same ends or the same name",
    "network-directions-differ": "differs from line {first}, the other direction of this link",
    "network-demand-twice": "the row repeats line {first}",
    "network-both-directions": (
        "line {first} is the other direction of this link, but each line is both directions"
    ),
    "network-disconnected": "no path leads there from {start}",
    # Objects and graphs.
    "network-empty": "there are no {name}",
    "network-positions": "{name}: {value} for {nodes:node|nodes}",
    "network-name-twice": "{name}: {value!r} occurs twice",
    "network-draws-impossible": (
        "{share:ratio} of the draws of {name} are impossible: {name} must be {limits}, and {value} "
        "is not"
    ),
    "network-node-nameless": "{name} has no name",
    "network-not-a-graph": "{name} must be a graph of networkx, got {found}",
    "network-edge-without": "the edge {start}-{end} has no {name}",
    "network-no-path": "{name}: no path from {value}",
    "network-cost-missing": "the link {value} has no cost",
    # What was planned.
    "network-size": (
        "{nodes:node|nodes}, {links:link|links}, {demands:demand|demands} of {rate_bps:bit/s} "
        "(line) together, at the layer of the rates of the links"
    ),
    "network-busiest": "busiest: {start} to {end} with {ratio:ratio} of {rate_bps:bit/s} (line)",
    "network-tried": (
        "failures tried, each alone: {links:link|links}, {nodes:node|nodes}, {groups:group|groups} "
        "of links"
    ),
    "network-worst-failure": (
        "worst single failure: {failed}; then {start} to {end} has {ratio:ratio} of "
        "{rate_bps:bit/s} (line)"
    ),
    "network-worst-cut": (
        "worst single failure: {failed} cuts off {rate_bps:bit/s} (line) of "
        "{count:demand|demands}: no other path"
    ),
    "network-heaviest": (
        "highest load after a single failure: {start} to {end} with {ratio:ratio} of "
        "{rate_bps:bit/s} (line), if {failed} fails"
    ),
    "network-worst-share": (
        "in {share:ratio} of the draws it is the worst of {count} failures: those that are the "
        "worst at the medians for a link or for the network"
    ),
    "network-cut": (
        "the failure of {failed} cuts off {rate_bps:bit/s} (line) of {count:demand|demands}: no "
        "other path"
    ),
    "network-cuts-more": "{count:more failure cuts|more failures cut} demands off",
    "network-full": "full first: {start} to {end} on {date}",
    "network-full-now": "full already: {start} to {end}",
    "network-full-never": "no link is full within 100 years",
    "network-full-failed": (
        "full first with any one failure: {start} to {end} on {date}, if {failed} fails"
    ),
    "network-full-failed-now": (
        "full already with one failure: {start} to {end}, if {failed} fails"
    ),
    "network-slowest": "longest mean delay of a demand: {delay_s:s} from {start} to {end}",
    "network-slowest-endless": (
        "infinite mean delay: the demand from {start} to {end} crosses a full link"
    ),
    "network-costs-given": "shortest paths by the costs of the file, equal split at each node",
    "network-costs-ospf": (
        "shortest paths by OSPF's cost, {reference_bps:bit/s} (line) over the rate; equal split at "
        "each node"
    ),
    "network-costs-hops": "shortest paths by hops, equal split at each node",
    "network-costs-latency": "shortest paths by latency in microseconds, equal split at each node",
    "network-queue": "delays are means: latency, serialization and the wait of {queue} ({model})",
    "network-drawn": (
        "ranges are p5 to p95 of {draws:draw|draws}; paths and the worst failures are those at the "
        "medians"
    ),
    "network-interrupted": (
        "stopped after {done} of {total:failure|failures}; the page covers only these"
    ),
    "network-no-ranges": (
        "stopped before the ranges were drawn; all numbers are those at the medians"
    ),
    "network-continued": "continued: {done} of {total:failure|failures} were saved",
    "network-saved-other": "has the failures of another network or of other settings",
    "network-saved-damaged": "is not a line that a scan writes",
    "network-saved-busy": "{file}: another process writes its failures there",
}

NETWORKS_HINTS: dict[str, str] = {
    "network-column-missing": "Name it in the first line",
    "network-column-named": "Rename it",
    "network-column-unknown": "Rename it, or give it a name unlike those of known columns",
    "network-cell-unreadable": "{advice}",
    "network-column-twice": "Remove or rename one of them",
    "network-cell-empty": "Fill it in, or remove the row",
    "network-loop": "Correct one of the two names, or remove the row",
    "network-node-unknown": "Names are compared as they are written, upper and lower case too",
    "network-draws-impossible": (
        "Narrow the distribution, or leave the impossible part out: truncated(...)"
    ),
    "network-range-impossible": (
        "Narrow the range, or write truncated({value}) to leave the impossible part out"
    ),
    "network-directions-differ": "Write the same value in both: a link has one for both directions",
    "network-demand-twice": "Remove it, or add up both rates in one row",
    "network-link-twice": "Give parallel links names of their own in a column name",
    "network-both-directions": (
        "If each line is one direction, add --one-way; if they are two links, give them names in a "
        "column name"
    ),
    "network-disconnected": "Add the link that is missing, or remove the demand",
    "network-cost-missing": "Give all links a cost, or plan with another rule",
    "network-edge-without": "Give it {name} as a number, or {attribute} as text with a unit",
    "network-saved-other": "Save into a new file, or add --force to write it anew",
    "network-saved-damaged": "Save into a new file, or add --force to write it anew",
    "network-interrupted": "The same command continues where --save has it",
}

NETWORKS_EXPECTED: dict[str, str] = {
    "network-file-empty": "a first line with {columns:names}",
    "network-cost": "a whole number from 1 to {high}",
    "network-coordinate": "a number without a unit",
    "network-degrees": "a number from {low:g} to {high:g}",
    "network-row-length": "{wanted:cell|cells}",
}
