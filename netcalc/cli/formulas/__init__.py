"""Formulas on the command line: the files they are drawn into."""
