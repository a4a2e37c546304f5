"""From responses to scores: extraction, protocols, verdicts, aggregation."""
