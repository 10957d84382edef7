"""The Wi-Fi links of this machine, where the system says their rates and retries."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from netcalc import readers
from netcalc.errors import ReaderError

_WIRELESS, _DEVICES = Path("/proc/net/wireless"), Path("/sys/class/net")
_ANSWER_S = 2.0


def wifi_links() -> list[dict[str, Any]]:
    """Return the facts of each Wi-Fi link: rates, signal, and counters such as retries.

    They are what ``iw`` says of each device, and /proc/net/wireless without it; empty where there
    is no Wi-Fi, or the system does not say.
    """
    texts = []
    with suppress(OSError):
        names = [path.parent.name for path in sorted(_DEVICES.glob("*/phy80211"))]
        program = shutil.which("iw", path="/usr/sbin:/sbin:/usr/bin:/bin")
        for name in names if program else []:
            command = [str(program), "dev", name, "station", "dump"]
            with suppress(subprocess.TimeoutExpired):
                done = subprocess.run(
                    command, capture_output=True, timeout=_ANSWER_S, check=False,
                    stdin=subprocess.DEVNULL,
                )  # fmt: skip
                texts.append(done.stdout)
    if not texts:
        with suppress(OSError):
            texts.append(_WIRELESS.read_bytes())
    links: list[dict[str, Any]] = []
    for text in texts:
        with suppress(ReaderError):  # no station, or none of the lines that are read
            told = readers.read(text)
            links += [{"group": told.meta.target, **facts} for facts in told.facts()]
    return links
