"""Measuring items, dropping what is not good enough, evening out what is left: nothing silently."""
