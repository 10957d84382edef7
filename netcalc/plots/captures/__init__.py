"""Figures of the flows of a capture: what each moment was waited for."""
