"""Static pages of the lessons: figures with sliders that need no kernel and no network."""

from netcalc.lessons.site.build import build

__all__ = ["build"]
