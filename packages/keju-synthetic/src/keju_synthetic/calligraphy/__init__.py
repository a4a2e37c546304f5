"""Calligraphy: texts of famous works, written and mounted, or as stone rubbings."""
