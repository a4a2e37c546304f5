"""Making a benchmark."""
