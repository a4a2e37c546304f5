"""Seals: legends in a squared seal script, carved and pressed."""
