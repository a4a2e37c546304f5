"""Steps that measure items, drop those beyond limits, and balance the rest.

Every drop is listed.
"""
