"""Lessons and the calculator as pages that need neither a kernel nor a network."""
