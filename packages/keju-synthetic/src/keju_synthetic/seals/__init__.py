"""Seals: legends in a squared seal script, cut, pressed, and asked about."""
