"""A trunk for the calls of an office

At 600 calls an hour of three minutes each, 42 trunks block fewer than one call in a hundred.
"""

from netcalc import planning, plots

found = planning.voice(600 / 3600, holding_s=180, codec_name="G.711", blocking_ratio=0.01)
figure = plots.plan(found)
