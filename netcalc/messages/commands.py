"""The command line: words, options and output files that do not fit, and hints to who typed it."""

from __future__ import annotations

COMMAND_LINE: dict[str, str] = {
    "unknown-command": "{command} has no command {name!r}",
    "unknown-option": "{command} has no option {option}",
    "option-of-others": "{command} has no option {option}",
    "option-ambiguous": "{option} of {command} may be {choices:or}",
    "option-of-no-argument": "{command} has no option {option}",
    "too-many-sweeps": "{count} arguments have several values, and a table has room for two",
    "read-as": "{name} {text} is read as {value}",
    "load-in-erlang": (
        "{offered:g} is read as erlang, {share} of {servers:g} servers; multiply a share of them "
        "by their number first"
    ),
    "option-read": "{name} is read as {option}",
    "round-trip-read": "{name} is read as {option}, the round trip",
    "round-trip-of-one-way": "--rtt {text} is a round trip, and the formula takes one way",
    "service-rate-not-positive": "the service rate must be greater than 0, got {text}",
    "order-read": "without names, the values are read as {options}",
    "command-of-its-own": "{name} is a command, not a formula",
    "argument-missing": "{name} is required",
    "unexpected-argument": "unexpected argument: {words}",
    "option-without-value": "{option} requires a value",
    "option-takes-no-value": "{option} takes no value",
    "refused-as-typed": "{reason}",
    "system-refused": "{reason}",
    "file-refused": "{file}: {reason}",
    "options-exclusive": "{first} and {second} cannot be combined",
    "no-scenario": "SCENARIO.json or --preset is required",
    "option-requires": "{option} requires {required}",
    "icmp-requires-path": "--protocol icmp requires a --path",
    "node-rate-requires-links": "--node-rate requires a --path of at least two links",
    "range-of-no-number": "{name} takes no range: it is not a single number",
    "argument-typed-twice": "{name} is given twice: {first!r} and {second!r}",
    "plot-of-several-files": "--plot takes one FILE, got {count}",
    "output-name-empty": "the name of the output file is empty",
    "output-is-picture": "{file}: figures are written as HTML, SVG or PNG",
    "output-is-input": "{file} is an input file",
    "output-is-directory": "{file} is a directory",
    "output-is-device": "{file} is a device or a pipe",
    "output-exists": "{file} exists",
    "output-folder-missing": "{file}: the folder {folder} does not exist",
    "output-folder-not-writable": "{file}: the folder {folder} is not writable",
    "folder-is-file": "{file} is a file, not a folder",
    "folder-name-empty": "{name} is empty: it is the name of a folder",
    "output-named-twice": "{file} is named for two outputs",
    "partial-samples-above": "the samples measured so far are summarized above",
    "files-not-read": "{count} of {total} not read: {names}",
    "waiting-for-input": "waiting for the standard input; nothing has arrived so far",
    "input-closed": "the standard input is closed",
    "output-closed": "the standard output is closed: nothing can be printed",
    "output-refused": "the standard output cannot be written: {reason}",
    "waiting-for-text": "waiting for text; end it with Ctrl-D on a line of its own",
    "server-as-root": (
        "run as root, the server gives a root terminal to everyone who has the token in its address"
    ),
    "server-port-in-use": "port {port} is in use",
    "server-port-not-permitted": "port {port} requires a privilege",
    "home-unknown": "{file}: there is no such home directory",
    "lab-folder-refused": "the lessons cannot be written to {file}: {reason}",
    "lab-folder-full": "there is no room for the lessons in {file}: {reason}",
    "lab-folder-busy": "another netcalc lab starts or ends with the lessons in {file}",
    "lab-running-otherwise": (
        "netcalc lab runs with the lessons in {file} at port {port}: {options} requires a restart"
    ),
    "lesson-unknown": "there is no lesson {number!r}",
    "class-as-root": "run as root, the kernels of all students would run as root",
    "class-needs-linux": "a class is served on Linux only, not on {platform}",
    "class-certificate": ("the certificate {file} with the key {keyfile} cannot be used: {reason}"),
    "class-address": "{address!r} is not an address such as 127.0.0.1 or 192.0.2.5",
    "class-address-elsewhere": "{address} is not an address of this machine",
    "class-memory-small": (
        "{memory_bytes:byte} of memory is too little for a kernel: the lessons need "
        "{least_bytes:byte}"
    ),
    "class-processor-short": "{processor_s:s} of processor time is too short for a kernel",
    "lessons-missing": "there are no lessons in this folder",
    "server-silent": "the server did not respond within {limit_s:s}",
    "server-ended": "the server ended with exit code {exit_code}",
    "nothing-to-draw": "has no sizes and times to draw",
    "dataset-not-drawn": "there is no figure of the data set {name}: {drawn} have one",
    "nothing-matches": "no formula matches {words!r}",
    "flows-of-capture": "{file} is not a capture: --flows has nothing to write",
    "parquet-packages-missing": "Parquet needs the packages pandas and pyarrow",
    "table-of-other-form": "{file}: tables are written as .csv, .json or .parquet",
    "vary-malformed": "--vary must be NAME=VALUE,VALUE,..., got {text!r}",
    "vary-twice": "{name} is varied twice",
    "several-results": "{formula} returns several results, and a plot shows one",
    "malformed-argument-sweep": (
        "{name} must be ARGUMENT=LOW:HIGH:STEPS, such as rtt=1ms:300ms:log50, got {value!r}"
    ),
    "malformed-count": "{name} must be a number or a range, such as 13 or 12-13, got {value!r}",
    "not-a-whole-number": "{name} must be a whole number, got {value!r}",
}
"""Refused before anything is computed or measured."""

COMMAND_LINE_HINTS: dict[str, str] = {
    "no-scenario": "netcalc congestion --list shows the presets",
    "vary-malformed": "Write for example --vary buffer_bdp=0.5,1,2",
    "vary-twice": "Give all its values in one --vary",
    "table-of-other-form": "Write for example --table results.csv",
    "parquet-packages-missing": "Install them with: pip install pandas pyarrow",
    "unknown-command": "{command} --help lists its commands",
    "unknown-option": "{command} --help lists its options",
    "option-of-others": "It is an option of {others:or}",
    "option-ambiguous": "Write the full name of the option",
    "round-trip-of-one-way": "Give half of the round trip as --latency",
    "command-of-its-own": "Write netcalc {name}; netcalc {name} --help lists its options",
    "option-of-no-argument": "Its arguments are {options}",
    "too-many-sweeps": "Give at most {high} arguments a list or a --sweep",
    "argument-missing": "See {command} --help",
    "unexpected-argument": (
        'A value that contains spaces needs quotes, as in "1 Gbit/s 40 ms"; {command} --help '
        "lists the arguments"
    ),
    "option-requires": "{example}",
    "icmp-requires-path": (
        'Add for example --path "10 Mbit/s 1 ms": ICMP needs raw sockets, which the emulated hosts '
        "have"
    ),
    "range-of-no-number": "Numbers of this formula: {numbers}",
    "output-name-empty": "Name a file",
    "output-is-picture": "Use {suggestion}",
    "output-is-input": "Use another name",
    "output-is-directory": "Name a file in it",
    "output-is-device": "Name a file",
    "output-exists": "Use another name or --force",
    "folder-is-file": "Name a folder with --dir",
    "folder-name-empty": "Write . for the current folder",
    "output-named-twice": "Use another name for one of them",
    "output-refused": "Redirect it to another file or disk",
    "server-as-root": "Start it as another user, or add --allow-root",
    "server-port-in-use": "Without --port a free one is chosen",
    "server-port-not-permitted": (
        "Name one from 1024 to 65535; without --port a free one is chosen"
    ),
    "home-unknown": "Name a folder with its whole path",
    "lab-folder-refused": "Name another folder with --dir",
    "lab-folder-full": "Free some, or name a folder on another disk with --dir",
    "lab-folder-busy": "Try again in a minute, or name another folder with --dir",
    "lab-running-otherwise": (
        "Stop it with Ctrl-C where it was started, or name another folder with --dir"
    ),
    "lesson-unknown": "Lessons are {known:or}",
    "class-as-root": "Start it as a user without rights, or add --allow-root",
    "class-needs-linux": "Write the lessons as pages with netcalc site",
    "class-certificate": (
        "Give a certificate in PEM, and with --keyfile its own key without a passphrase"
    ),
    "class-address": "ip address lists those of this machine",
    "class-address-elsewhere": "ip address lists those of this machine",
    "class-memory-small": "Use --memory 800MB",
    "class-processor-short": "Use --processor 600s",
    "lessons-missing": "Install this copy of netcalc again; its files are missing",
    "server-ended": "Its output is above",
    "nothing-matches": "netcalc calc --list lists all formulas",
    "several-results": "Print the sweep without --plot",
    "nothing-to-draw": (
        "Without --plot it is summarized; a figure requires columns such as size and rtt"
    ),
}

_LOOPBACK = (
    "netcalc run without --path and --routed uses the loopback, and netcalc congestion computes by "
    "theory; netcalc doctor reports what this machine can emulate"
)
TYPED_HINTS: dict[str, str] = {
    "draws-impossible": (
        "Narrow the distribution, or leave the impossible part out by --truncate or truncated(...)"
    ),
    "draws-refused": "Narrow the distributions, or leave these draws out by --truncate",
    "claim-without-facts": (
        "Add for a rate --line, or --rtt and --window or --loss; for a packet rate --line and "
        "--frame; for a time a PATH and --size"
    ),
    "no-header": "Add a header, or name the columns: --columns size_bytes,rtt_ms",
    "data-for-header": "Add a header, or name the columns: --columns size_bytes,rtt_ms",
    "column-without-unit": "Write {column} [{example}] in the header",
    "named-column-without-unit": "Name the columns with units: --columns {names}",
    "namespaces-not-linux": _LOOPBACK,
    "namespaces-not-permitted": (
        "Check the sysctls user.max_user_namespaces and "
        "kernel.apparmor_restrict_unprivileged_userns, or the settings of the container. "
        + _LOOPBACK
    ),
    "namespaces-exhausted": (
        "Raise the sysctls user.max_user_namespaces and user.max_net_namespaces. " + _LOOPBACK
    ),
    "namespaces-refused": _LOOPBACK,
    "tun-refused": "Load the module of TUN devices (modprobe tun). " + _LOOPBACK,
    "no-answers": "Increase --timeout",
    "no-packets": "Increase --timeout",
    "no-response": "The path takes longer than --timeout, or the peer hangs",
    "percent-for-ratio": "",
    "tls-unavailable": "Name protocols other than tls by --protocol",
    "address-missing": "This host has no such address. Try --host 127.0.0.1",
    "port-in-use": "Another program holds it. Without --port the kernel picks a free one",
    "port-not-permitted": (
        "Ports below 1024 require a privilege. Without --port the kernel picks a free one"
    ),
    "namespace-refused": "Without --mtu the run uses the loopback of this machine",
    "samples-not-saved": "The summary of the samples is above",
}
"""Hints to those who typed a command, where the hint of the code is for callers from Python."""
