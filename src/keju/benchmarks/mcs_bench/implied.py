"""Tables that the paper does not print: what the tasks and the printed ones imply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from keju.benchmarks.mcs_bench import BENCHMARK
from keju.definitions import Task, benchmark
from keju.published.tables import Cell, PrintedTable

_MEANS = {"avg_q": "avg_q_len", "avg_a": "avg_a_len", "avg_pv": "avg_pv", "avg_ar": "avg_ar"}
_EXTREMES: dict[str, Callable[[Iterable[float]], float]] = {
    "max_pv": max, "min_pv": min, "max_ar": max, "min_ar": min,
}  # fmt: skip


def implied_tables(printed: Mapping[str, PrintedTable]) -> Iterator[PrintedTable]:
    """The tables that can be computed from the printed ones.

    ``Registry by domain`` counts tasks and questions; ``Table 5 by domain`` takes Table 5's lengths
    and pictures together, weighted by questions; ``Registry by task`` has the length of the prompt
    where every question of a task is that prompt; ``Text`` ticks the ways of making that the
    paper's text names; ``Solved`` has T45, whose own table is not in the transcription.
    """
    declared = list(benchmark(BENCHMARK).tasks)
    domains = {
        name: [task for task in declared if task.domain == name]
        for name in dict.fromkeys(task.domain for task in declared)
    } | {"OverAll": declared}

    def by_domain(number: Callable[[Sequence[Task]], float]) -> dict[str, float]:
        return {name: number(tasks) for name, tasks in domains.items()}

    counts = {
        "n_task": by_domain(len),
        "n_mcq_task": by_domain(lambda tasks: sum(task.format == "MCQ" for task in tasks)),
        "n_qa_task": by_domain(lambda tasks: sum(task.format == "QA" for task in tasks)),
        "n_q": by_domain(_questions),
    }
    yield _table("Registry by domain", counts)
    lengths = printed["Table 5"].columns
    columns: dict[str, dict[str, float]] = {}
    for name, source in _MEANS.items():
        values = lengths[source].values
        columns[name] = {
            domain: sum(task.count * values[task.id] for task in tasks) / _questions(tasks)
            for domain, tasks in domains.items()
        }
    for name, pick in _EXTREMES.items():
        values = lengths[name].values
        columns[name] = {
            domain: pick(values[task.id] for task in tasks) for domain, tasks in domains.items()
        }
    halves = {name: lengths[source].half for name, source in _MEANS.items()}
    yield _table("Table 5 by domain", columns, halves)
    constant = {
        task.id: float(len("".join(task.queries[0].template.split())))
        for task in declared
        if "{" not in task.queries[0].template
    }
    yield _table("Registry by task", {"avg_q_len": constant})
    yield _solved(printed)
    ways: dict[str, dict[str, float]] = {}
    for row, cell in printed["Table 13"].columns["in_text"].cells.items():
        ways.setdefault(cell.text, {})[row] = 1.0
    yield _table("Text", dict(sorted(ways.items())))


def _questions(tasks: Iterable[Task]) -> int:
    return sum(task.count for task in tasks)


def _solved(printed: Mapping[str, PrintedTable]) -> PrintedTable:
    """T45, solved for from the printed QA means, if those leave out T39.

    Over the seven domains QA sums to seven times its mean. Less the six domains that are printed,
    that is the mean of Illustration's T37, T38, T44 and T45, of which three are printed.
    """
    overall = printed["Table 3"].columns["QA:mean"]
    domains = [printed[f"Table {number}"].columns["QA:mean"] for number in range(15, 21)]
    halves = [
        printed["Table 28"].columns[f"{name}:{metric}"]
        for name in ("T38", "T44")
        for metric in ("BERTScore", "ANLS")
    ]
    recognition = printed["Table 4"].columns["T37:CR"]
    values = {
        row: 4 * (7 * mean - sum(column.values[row] for column in domains))
        - recognition.values[row]
        - sum(column.values[row] for column in halves) / 2
        for row, mean in overall.values.items()
    }
    half = 4 * (7 * overall.half + sum(column.half for column in domains)) + recognition.half
    half += sum(column.half for column in halves) / 2
    return _table("Solved", {"T45:Acc": values}, {"T45:Acc": half})


def _table(
    name: str,
    columns: Mapping[str, Mapping[str, float]],
    halves: Mapping[str, float] | None = None,
) -> PrintedTable:
    rows: dict[str, dict[str, Cell]] = {}
    for column, values in columns.items():
        for row, value in values.items():
            cell = Cell(text=f"{value:g}", value=float(value), decimals=0)
            rows.setdefault(row, {})[column] = cell
    exact = dict.fromkeys(columns, 0.0)
    return PrintedTable(
        benchmark=BENCHMARK, name=name, rows=rows, halves=exact | dict(halves or {})
    )
