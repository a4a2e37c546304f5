"""Calligraphy: a famous work's text written, mounted or rubbed from stone, and asked about."""
