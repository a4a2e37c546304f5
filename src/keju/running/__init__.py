"""Asking: plan, ask concurrently, store, resume."""
