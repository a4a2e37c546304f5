"""Build steps that draw: `tear`, `composites` and `set-type`."""
