"""The panels of the lessons, one file a lesson; built from the kit in ``netcalc.widgets``."""
