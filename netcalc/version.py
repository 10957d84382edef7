"""The version of the package, in a file of its own: rooms that record it load nothing else."""

from __future__ import annotations

__version__ = "0.1.0"
