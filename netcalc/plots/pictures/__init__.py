"""Figures as files without a page: SVG of a few kilobytes, and PNG and SVG by matplotlib."""

from netcalc.plots.pictures.drawn import PICTURE_SUFFIXES as PICTURE_SUFFIXES
from netcalc.plots.pictures.drawn import save_picture as save_picture
from netcalc.plots.pictures.svg import svg as svg
