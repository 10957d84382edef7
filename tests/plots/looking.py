"""What figures are looked at with: colours by name, the legend, and the hovers."""

from __future__ import annotations

from bokeh.models import HoverTool, Legend

# Okabe and Ito, Color Universal Design (2008), as named there
ORANGE, SKY, GREEN, YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
BLUE, VERMILION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"
# In place of orange and sky blue on white, where these are too faint; tests/plots/test_colors.py
BROWN, VIOLET = "#6b4a00", "#9467ff"
PALETTE = {
    "light": [BLUE, VERMILION, GREEN, BROWN, PURPLE, VIOLET],
    "dark": [SKY, ORANGE, GREEN, PURPLE, YELLOW, VERMILION],
}
INK = {"light": "#000000", "dark": "#ffffff"}


def legend_of(chart):
    (legend,) = [one for one in chart.above if isinstance(one, Legend)]
    return {item.label.value: item.renderers for item in legend.items}


def hovers_of(chart):
    """For each hover: the names of what it follows, and what, column and suffix of each row."""
    found = []
    for tool in chart.tools:
        if isinstance(tool, HoverTool):
            rows = []
            for what, template in tool.tooltips:
                formatter = tool.formatters.get(template.replace("{custom}", ""))
                suffix = formatter.args["suffix"] if formatter else None
                rows.append((what, template.strip("@").partition("}")[0].strip("{"), suffix))
            assert rows.pop(0) == ("", "$name", None)
            found.append(([one.name for one in tool.renderers], rows))
    return found
