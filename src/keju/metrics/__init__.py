"""Pure functions on strings, sets, boxes, rankings and vectors; plain Python and numpy."""
