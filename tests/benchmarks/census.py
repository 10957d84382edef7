"""Many runs that end in every way at random times, and a census of what they left.

Run as ``python tests/benchmarks/census.py [--count 130] [--seed 1]``; takes some two minutes. As
root it does all of it as root and as a user without any right. It prints how the runs ended, how
long that took, and every difference between what there was before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import census

A_USER = 61_234
"""A number that no user has."""


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=130)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    left = 0
    for user in (None, A_USER):
        for ways in (census.WAYS, census.MORE_WAYS):
            left += report(asked, ways, user)
    sys.exit(1 if left else 0)


def report(asked: argparse.Namespace, ways: tuple[str, ...], user: int | None) -> int:
    """Do the runs in these ways, print what became of them; return the number of differences."""
    begin_s = time.monotonic()
    hosts = census.of_namespace()
    arguments = ["--count", str(asked.count), "--seed", str(asked.seed), "--ways", ",".join(ways)]
    out, err = census.start(arguments, user=user).communicate()
    if not out.startswith("{"):
        sys.exit(err)
    found = json.loads(out)
    found["difference"] |= census.difference(hosts, census.of_namespace())
    who = "user without rights" if user else f"user {os.geteuid()}"
    print(f"\n{asked.count} runs as {who}, {time.monotonic() - begin_s:.0f} s")
    ended, times_s = defaultdict(Counter), defaultdict(list)
    for run in found["runs"]:
        ended[run["way"]][run.get("ended", "error")] += 1
        if "ending_s" in run:
            times_s[run["way"]].append(run["ending_s"])
    for way in ways:
        counts = ", ".join(f"{count} {how}" for how, count in ended[way].most_common())
        took = f"; at most {max(times_s[way]):.2f} s after the signal" if times_s[way] else ""
        print(f"  {way}: {counts}{took}")
    faults = [run for run in found["runs"] if run.get("left") or run["processes"] or "error" in run]
    print(f"  runs that left something in their process or beside it: {len(faults)}")
    print(
        f"  half-written files of killed runs, gone with the next: {found['parts of killed runs']}"
    )
    print(f"  other files: {found['other files']}")
    print(f"  closed connections that the kernel remembers: {found['waiting connections']}")
    print(f"  differences in the namespace and on the host: {found['difference'] or 'none'}")
    for run in faults:
        print("   ", run)
    if err:
        print(err)
    return len(faults) + len(found["difference"]) + len(found["other files"]) + bool(err)


if __name__ == "__main__":
    main()
