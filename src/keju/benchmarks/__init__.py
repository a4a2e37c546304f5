"""The published benchmarks that keju ships, one folder each.

A folder has all that only its benchmark needs, and is the only place that knows its name:
``benchmark.toml`` is its definition, ``PROVIDES`` in ``__init__.py`` names the readers, writers
and metrics that it declares, by entry-point group as an installed package would.
"""

FOLDERS = ("mcs_bench", "ancientdoc", "obi_bench")
"""The folders, in the order in which lists show the benchmarks."""
