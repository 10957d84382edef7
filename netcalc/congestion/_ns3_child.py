"""The program that runs ns-3 in its own process: scenarios in as JSON lines, results out.

It is started by the interpreter that has ns-3, which need not have netcalc: it imports nothing
else. Each simulation is one C++ function, in the file beside this one; calls from Python for each
packet would take minutes.
"""

import json
import os
import sys
from pathlib import Path

NUMBERS = ("rate_bps", "rtt_s", "buffer_packets", "marking_packets", "mtu_bytes", "loss_ratio",
           "end_s", "warm_s", "seed", "step_s", "delay_on_acks")  # fmt: skip
LISTS = ("hosts", "host_rtts", "algorithms", "starts", "stops", "sizes", "loop_algorithms",
         "loop_starts", "loop_stops", "loop_sizes", "loop_replies")  # fmt: skip


def main() -> None:
    """Answer each line of standard input with a line of standard output."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what ns-3 and the compiler print is no answer
    # The folder of this file has a module of the name of ns-3's package.
    sys.path[:] = [entry for entry in sys.path if entry != os.path.dirname(__file__)]  # noqa: PTH120
    from importlib import metadata

    import cppyy
    from ns import ns

    cppyy.cppdef(Path(__file__).with_suffix(".cc").read_text(encoding="utf-8"))
    vector, simulate = cppyy.gbl.std.vector, cppyy.gbl.NetcalcSimulate
    ready = {"ready": ns.__name__, "version": metadata.version("ns3")}
    print(json.dumps(ready), file=answers, flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        kinds = ["std::string" if key.endswith("algorithms") else "double" for key in LISTS]
        lists = [vector[kind](order[key]) for kind, key in zip(kinds, LISTS, strict=True)]
        numbers = [order[key] for key in NUMBERS]
        (drops, payload), samples, *rest = map(list, simulate(*numbers, *lists))
        count = len(order["algorithms"])
        answer = {"drops": drops, "payload_bytes": payload, "samples": samples,
                  "flows": rest[:count], "loops": rest[count:]}  # fmt: skip
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
