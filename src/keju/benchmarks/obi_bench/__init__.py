"""OBI-Bench (oracle-bone recognition, rejoining, classification, retrieval, deciphering)."""

PROVIDES: dict[str, dict[str, str]] = {
    "keju.metrics": {"obi_bench": "keju.benchmarks.obi_bench.metrics"},
}
"""What is declared here, by entry-point group and name, as ``module:ATTRIBUTE``.

Metrics are declared by the import of a module.
"""
