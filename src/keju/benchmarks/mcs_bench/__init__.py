"""MCS-Bench (45 tasks, 7 domains)."""

from pathlib import Path

from keju.texts import add_translations

BENCHMARK = "MCS-Bench"

POSITION = 1

PROVIDES: dict[str, dict[str, str]] = {
    "papers": {BENCHMARK: "keju.benchmarks.mcs_bench.implied:implied_tables"},
    "readers": {"mcs-bench": "keju.benchmarks.mcs_bench.preset:READER"},
    "exports": {"mcs-bench": "keju.benchmarks.mcs_bench.export:EXPORT"},
    "responses": {"mcs_bench": "keju.benchmarks.mcs_bench.responses:read_responses"},
    "metrics": {"mcs_bench": "keju.benchmarks.mcs_bench.metrics"},
}

add_translations(Path(__file__).with_name("mcs-bench.mo"))
