"""``netcalc classroom``: the lessons for a class, served by one machine.

The server is Voila's. Added are who may enter, whose kernel is whose, what a kernel may use, and
the teacher's page. Only the command is loaded with the command line; the rest needs Jupyter.
"""
