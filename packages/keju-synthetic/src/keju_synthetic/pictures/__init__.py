"""Paintings and woodblock illustrations, drawn stroke by stroke, with counts of their motifs."""
