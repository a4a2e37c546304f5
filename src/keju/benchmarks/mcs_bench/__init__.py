"""MCS-Bench (45 tasks, 7 domains)."""

from pathlib import Path

from keju.texts import add_translations

BENCHMARK = "MCS-Bench"

POSITION = 1
"""The benchmark's position in lists."""

PROVIDES: dict[str, dict[str, str]] = {
    "papers": {BENCHMARK: "keju.benchmarks.mcs_bench.implied:implied_tables"},
    "readers": {"mcs-bench": "keju.benchmarks.mcs_bench.preset:READER"},
    "exports": {"mcs-bench": "keju.benchmarks.mcs_bench.export:EXPORT"},
    "responses": {"mcs_bench": "keju.benchmarks.mcs_bench.responses:read_responses"},
    "metrics": {"mcs_bench": "keju.benchmarks.mcs_bench.metrics"},
}
"""The declarations of this folder, by entry-point group and name, as ``module:ATTRIBUTE``.

Metrics are declared by the import of a module.
"""

add_translations(Path(__file__).with_name("mcs-bench.mo"))
