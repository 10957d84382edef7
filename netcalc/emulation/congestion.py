"""Congestion windows of a stream in virtual time: Reno and CUBIC, and their reduction.

Windows count whole segments, as Linux does.
"""

from __future__ import annotations

import math

CUBIC_C = 0.4
"""Constant of CUBIC's growth. (RFC 9438, 5) [1/s^3]"""
CUBIC_KEPT = 717.0 / 1024.0
"""What CUBIC keeps of a window after a loss: 0.7 in 1/1024. [ratio]"""
CUBIC_HOLD_S = 1.0 / 32.0
"""How long Linux keeps CUBIC's growth while the window stays as it is (bictcp_update): on a path of
10 ms for three round trips. [s]"""
RENO_ACKS_RATIO = 15.0 / 8.0
"""Windows of acknowledged segments for which Reno's estimate grows by one: (1 + b) / (3 (1 - b)) of
RFC 9438, in Linux' eighths (beta_scale). [ratio]"""


class Window:
    """Reno's window: slow start, a segment per round trip, half after a loss. (RFC 5681)

    Parameters
    ----------
    first : int
        First window. [1]
    slow_start : bool
        Whether it begins with slow start.
    """

    _before: int  # a reduction: the window before it, segments delivered and sent in it
    _delivered: int
    _sent: int

    def __init__(self, first: int, *, slow_start: bool = True) -> None:
        self.size = first
        self.threshold = math.inf if slow_start else float(first)
        self.is_reducing = False
        self._counted = 0

    def acknowledged(self, count: int, now_s: float, rtt_s: float, in_flight: int) -> None:
        """Grow by acknowledged segments; one that was not in use does not grow."""
        if self.size < self.threshold:
            if in_flight * 2 <= self.size:
                return
            before = self.size
            self.size = int(min(self.size + count, self.threshold))
            count -= self.size - before
            if not count:
                return
        if in_flight >= self.size - 1:
            self._avoid(count, now_s, rtt_s)

    def _avoid(self, count: int, now_s: float, rtt_s: float) -> None:
        self._count(count, self.size)

    def _count(self, count: int, per_segment: int) -> None:
        """Add a segment for every ``per_segment`` acknowledged ones."""
        if self._counted >= per_segment:
            self._counted = 0
            self.size += 1
        self._counted += count
        if self._counted >= per_segment:
            more = self._counted // per_segment
            self._counted -= more * per_segment
            self.size += more

    def _reduced(self) -> int:
        return max(self.size // 2, 2)

    def reduce(self, now_s: float) -> None:
        """Begin a reduction after a loss."""
        self._before, self.threshold = self.size, self._reduced()
        self._counted = self._delivered = self._sent = 0
        self.is_reducing = True

    def proportion(self, delivered: int, in_flight: int, *, advanced: bool) -> None:
        """Reduce the window in proportion to the data delivered. (RFC 6937)"""
        self._delivered += delivered
        target = int(self.threshold)
        missing = target - in_flight
        if missing < 0:
            sends = -(-target * self._delivered // self._before) - self._sent
        else:
            sends = max(self._delivered - self._sent, delivered) + advanced
            sends = min(missing, sends)
        sends = max(sends, 0 if self._sent else 1)
        self.size = in_flight + sends

    def sent(self) -> None:
        """Count a transmission during a reduction."""
        if self.is_reducing:
            self._sent += 1

    def end_reduction(self) -> None:
        """End it: the window is the threshold."""
        if self.is_reducing:
            self.size = int(self.threshold)
        self.is_reducing = False

    def time_out(self, *, is_first: bool = True) -> None:
        """Begin again with one segment; a repeated timeout leaves the threshold. (RFC 5681, 3.1)"""
        if is_first:
            self.threshold = self._reduced()
        self.size, self._counted, self.is_reducing = 1, 0, False


class CubicWindow(Window):
    """CUBIC's window: the larger of its cubic function and of Reno's estimate. (RFC 9438)"""

    def __init__(self, first: int, *, slow_start: bool = True) -> None:
        super().__init__(first, slow_start=slow_start)
        self._last_max = 0.0
        self._epoch_s = math.nan
        self._origin = self._time_to_origin_s = 0.0
        self._reno = self._reno_acked = 0
        self._per_segment, self._updated_s, self._updated_size = 0, -math.inf, 0

    def _avoid(self, count: int, now_s: float, rtt_s: float) -> None:
        self._reno_acked += count
        if self.size != self._updated_size or now_s - self._updated_s > CUBIC_HOLD_S:
            self._update(count, now_s, rtt_s)
        self._count(count, self._per_segment)

    def _update(self, count: int, now_s: float, rtt_s: float) -> None:
        """Set after how many acknowledged segments the window grows by one."""
        size = self.size
        self._updated_s, self._updated_size = now_s, size
        if math.isnan(self._epoch_s):
            self._epoch_s, self._reno, self._reno_acked = now_s, size, count
            self._origin = max(self._last_max, float(size))
            self._time_to_origin_s = ((self._origin - size) / CUBIC_C) ** (1.0 / 3.0)
        since_s = now_s + rtt_s - self._epoch_s - self._time_to_origin_s
        target = self._origin + CUBIC_C * since_s**3
        per_segment = size / (target - size) if target > size else 100.0 * size
        if not self._last_max:
            per_segment = min(per_segment, 20.0)
        # Reno's estimate: as fast as a window that grows by 3 (1 - b) / (1 + b) a round trip.
        each = int(size * RENO_ACKS_RATIO)
        more = max(0, -(-self._reno_acked // each) - 1)
        self._reno, self._reno_acked = self._reno + more, self._reno_acked - more * each
        if self._reno > size:
            per_segment = min(per_segment, size // (self._reno - size))
        self._per_segment = max(int(per_segment), 2)

    def _reduced(self) -> int:
        size = self.size
        # A window that has not reached its last maximum leaves room for other flows.
        falls = size < self._last_max
        self._last_max = size * (1.0 + CUBIC_KEPT) / 2.0 if falls else float(size)
        self._epoch_s = math.nan
        return max(int(size * CUBIC_KEPT), 2)


RULES: dict[str, type[Window]] = {"reno": Window, "cubic": CubicWindow}
"""The congestion controls by name."""
