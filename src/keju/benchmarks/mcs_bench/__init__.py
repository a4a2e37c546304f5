"""MCS-Bench (45 tasks, 7 domains)."""

PROVIDES: dict[str, dict[str, str]] = {
    "keju.papers": {"MCS-Bench": "keju.benchmarks.mcs_bench.paper:PAPER"},
}
"""What is declared here, by entry-point group and name, as ``module:ATTRIBUTE``."""
