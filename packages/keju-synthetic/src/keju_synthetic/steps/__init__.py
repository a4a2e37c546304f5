"""Build steps that draw: `fragment`, `compose-inscriptions` and `typeset`."""
