"""Commands for teaching: exercises, classes, static pages."""
