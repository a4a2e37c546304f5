"""Interoperability with other harnesses: keju's tasks in Inspect, and its runs as Inspect logs."""
