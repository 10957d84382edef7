"""A look at all kernels every few seconds, for those that nobody reads and those too large."""

from __future__ import annotations

import time

from netcalc.cli.classroom.kernels import ClassKernels, Seat

LEFT_S = 60.0
"""A kernel without a page ends after this time; a page that lost its line has it to return. [s]"""


class Watch:
    """Ends what should have ended."""

    def __init__(self, kernels: ClassKernels) -> None:
        self._kernels = kernels

    async def look(self) -> None:
        """Look at each kernel."""
        now_s = time.monotonic()
        for kernel_id, seat in list(self._kernels.seats.items()):
            if self._is_left(kernel_id, seat, now_s) or await self._is_dead(kernel_id):
                await self._kernels.end(kernel_id)
                continue
            seat.memory_seen_bytes = seat.memory_bytes()
            if seat.memory_seen_bytes > 2 * self._kernels.memory_bytes:
                await self._kernels.end(kernel_id)  # one process has a limit, all of them not

    def _is_left(self, kernel_id: str, seat: Seat, now_s: float) -> bool:
        if not seat.is_delivered or self._kernels.connected(kernel_id):
            seat.left_s = None
            return False
        seat.left_s = seat.left_s or now_s
        return now_s - seat.left_s > LEFT_S

    async def _is_dead(self, kernel_id: str) -> bool:
        if kernel_id not in self._kernels:
            return False  # not yet
        return not await self._kernels.is_alive(kernel_id)
