"""The sources of the data of a paper's tasks, and their licences, as its table prints them."""

from __future__ import annotations

from keju.items import Record
from keju.published.papers import csv_rows, paper, paper_file, papers


class TaskSources(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The sources of one task: the method of generation, links and licences, in the printed order.

    A licence is ``-`` as printed. Where a task has more or fewer licences than links, the paper
    does not show which licence belongs to which link.
    """

    benchmark: str
    task: str
    method: str
    links: tuple[str, ...]
    licences: tuple[str, ...]


def task_sources() -> tuple[TaskSources, ...]:
    """The sources of the tasks of all papers that print them, in the order of the papers.

    Raises:
        DataError: a file of sources is not what it must be.
    """
    return tuple(
        TaskSources(
            benchmark=name,
            task=str(row.cells["task"]),
            method=str(row.cells["method"]),
            links=tuple(str(row.cells["links"]).split()),
            licences=tuple(str(row.cells["licences"]).split("; ")),
        )
        for name in papers()
        if (table := paper(name).sources_table)
        for row in csv_rows(paper_file(name, f"sources-{table}.csv".lower().replace(" ", "-")))
    )
