"""Bulk transfers: their ends, their placement, their samples."""
