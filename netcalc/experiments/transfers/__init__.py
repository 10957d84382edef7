"""Bulk transfers: their two ends, where they run, what they count."""
