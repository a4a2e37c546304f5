"""Build steps that draw: `fragment` and `typeset`."""
