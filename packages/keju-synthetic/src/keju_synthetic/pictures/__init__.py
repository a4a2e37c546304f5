"""Paintings and woodblock illustrations, drawn stroke by stroke with countable things."""
