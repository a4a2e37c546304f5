"""The benchmark's name."""

BENCHMARK = "MCS-Bench"
