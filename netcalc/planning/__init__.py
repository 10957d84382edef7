"""From models to a page that a planner can use: a few answers, the arithmetic, the next step."""
