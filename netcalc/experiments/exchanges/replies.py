"""Replies other than the expected one: late, duplicate, damaged, or of another run."""

from __future__ import annotations

from dataclasses import dataclass, field

UNCOUNTED_FROM = 1 << 31
"""Sequence numbers from here on belong to the warm-up."""
MAX_DUPLICATES = 10_000
"""Duplicates that are kept as rows; further ones are only counted, so that memory is bounded."""


@dataclass(slots=True)
class _Probe:
    payload_bytes: int
    sent_ns: int
    answered: bool = False


@dataclass(slots=True)
class Replies:
    """Counts the replies other than the expected one of each probe."""

    late_count: int = 0
    foreign_count: int = 0
    damaged_count: int = 0
    duplicate_count: int = 0
    duplicates: list[tuple[int, int]] = field(default_factory=list)
    _probes: dict[int, _Probe] = field(default_factory=dict)

    def sent(self, sequence: int, payload_bytes: int, sent_ns: int) -> _Probe:
        """Record a probe that was sent."""
        probe = self._probes[sequence] = _Probe(payload_bytes, sent_ns)
        return probe

    def sort(self, sequence: int, payload_bytes: int, arrived_ns: int, *, expected: int) -> None:
        """Count a reply of this run that is not the expected one."""
        probe = self._probes.get(sequence)
        if sequence >= UNCOUNTED_FROM and probe is not None:
            return
        if probe is None or probe.payload_bytes != payload_bytes:
            self.damaged_count += 1
        elif not probe.answered:
            self.damaged_count += sequence == expected
            self.late_count += sequence != expected
        else:
            self.duplicate_count += 1
            if len(self.duplicates) < MAX_DUPLICATES:
                self.duplicates.append((sequence, arrived_ns - probe.sent_ns))
