"""Terminal output of commands: tables and lines."""
