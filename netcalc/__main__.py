"""``python -m netcalc`` is the ``netcalc`` command."""

from netcalc.cli import main

main()
