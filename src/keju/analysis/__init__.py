"""Numbers of runs: leaderboards, breakdowns, comparisons, errors. Nothing here draws or prints."""
