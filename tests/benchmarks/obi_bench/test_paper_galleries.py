"""The galleries that the paper's tables are of, against the numbers that the readers draw by."""

from __future__ import annotations

from keju.benchmarks.obi_bench.readers.sources import Source, sources
from keju.published import paper_galleries

TASKS = ("rejoining", "classification", "retrieval")


def drawn(source: Source) -> int:
    """The candidates of a query as a reader draws them; without classes, all other images."""
    if not source.classes:
        return source.images - 1
    return source.classes * source.references + source.distractors


def test_the_galleries_have_the_sizes_that_the_readers_draw() -> None:
    for task in TASKS:
        expected = {source.name: drawn(source) for source in sources(task)}
        assert list(paper_galleries(task).items()) == list(expected.items())


def test_tasks_without_galleries_have_none() -> None:
    assert paper_galleries("recognition") == {}
    assert paper_galleries("T1") == {}
