"""Other harnesses: keju's tasks inside Inspect, and its runs in Inspect's logs."""
