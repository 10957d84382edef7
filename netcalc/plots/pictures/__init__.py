"""Figures as files without a page: SVG of a few kilobytes, and PNG and SVG by matplotlib."""

from netcalc.plots.pictures.drawn import PICTURE_SUFFIXES, save_picture
from netcalc.plots.pictures.svg import svg

__all__ = ["PICTURE_SUFFIXES", "save_picture", "svg"]
