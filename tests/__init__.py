"""The tests of keju."""
