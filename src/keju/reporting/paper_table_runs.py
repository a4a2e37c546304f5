"""A run's `official` values of one benchmark, for the paper tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from itertools import permutations

from keju.analysis.asked_items import item_name
from keju.analysis.galleries import (
    galleries,
    gallery_notes,
    other_galleries,
    reduced_forms,
    reduced_notes,
)
from keju.analysis.labels import task_name
from keju.analysis.leaderboard import Results
from keju.analysis.run_set import PEOPLE, RunSet, sees_image
from keju.definitions import Task, tasks
from keju.definitions import benchmark as benchmark_named
from keju.items import Item, Score
from keju.judging.grading import TaskGrade
from keju.published import Column, PrintedTable
from keju.reporting.paper_table_form import GradedCount
from keju.scoring import TaskResult
from keju.scoring.aggregate import task_value
from keju.texts import Text, _, listed, n_

Given = Mapping[tuple[str, str], Mapping[str, TaskGrade]]
"""Judges' grades by model and task."""

JUDGED = "GPT4oScore"
"""The column of a judge's grades, 0 to 10."""
_UNRANKED = {"baseline", "human"}


class RunValues:
    """A run's data of one benchmark.

    Items of other galleries than the paper's and in a reduced form are excluded. `tasks` are those
    of the run, in the paper's order. Answers to another prompt than the paper's (own wording,
    examples, ``--system-prompt``) are excluded too.
    """

    def __init__(self, run_set: RunSet, results: Results, benchmark: str, given: Given) -> None:
        self._given = given
        self._people: tuple[str, ...] = ()
        self._results = results
        self._drawn = {run.name for run in run_set.runs if run.manifest.synthetic}
        self.by_model = {
            name: model_responses
            for name, model_responses in run_set.by_model.items()
            if not model_responses.own_prompt
        }
        self._reworded = [name for name in run_set.by_model if name not in self.by_model]
        self.benchmark = benchmark
        every = {
            item_name(item): item for item in run_set.iter_items() if item.benchmark == benchmark
        }
        others, reduced = other_galleries(galleries(run_set)), reduced_forms(run_set)
        self._others = {place: each for place, each in others.items() if place in every}
        self._reduced = {place: form for place, form in reduced.items() if place in every}
        left_out = {*self._others, *self._reduced}
        self._items = {place: item for place, item in every.items() if place not in left_out}
        there = {item.task for item in every.values()}
        self.tasks = [each for each in tasks() if each.id in there]
        self._scores: dict[tuple[str, str, str, str], list[Score]] = {}
        answered: dict[tuple[str, str], dict[str, set[str]]] = {}
        for score in run_set.scores if self.tasks else ():
            kept = (score.task, score.query, score.item) in self._items
            kept = kept and score.model in self.by_model
            if score.protocol == "official" and score.value is not None and kept:
                key = (score.model, score.task, score.query, score.metric)
                self._scores.setdefault(key, []).append(score)
                if self.by_model[score.model].role not in _UNRANKED:
                    by_model = answered.setdefault((score.task, score.query), {})
                    by_model.setdefault(score.model, set()).add(score.item)
        self._lacking = _count_lacking(answered.values())

    def notes(self, table: PrintedTable) -> tuple[Text, ...]:
        """The parts of the run that are not in a table, and where they are shown instead."""
        of_table = {column.task for column in table.columns.values()}
        theirs = (*gallery_notes(self._others), *reduced_notes(self._reduced))
        notes = [note for task, note in theirs if task in of_table]
        if self._people:
            notes.append(
                _(
                    "{}: the mean over the answers of all these people, as one row. The paper "
                    "prints one value of several people and does not say how it is computed (our "
                    "reading). Each of them has a row in the leaderboard",
                    listed(self._people),
                )
            )
        if self._reworded:
            notes.append(
                _(
                    "Results with other prompts than the paper's are not in this table: {}. They "
                    "are in the leaderboard and in the scores by task.",
                    listed(self._reworded),
                )
            )
        notes += [
            n_(
                "{} is not ranked or marked: it lacks {n:,} item of its tasks that another model "
                "of the report has.",
                "{} is not ranked or marked: it lacks {n:,} items of its tasks that another "
                "model of the report has.",
                count,
                model,
            )
            for model, count in self._lacking.items()
            if model in self.by_model
        ]
        if any(self.judge(model, table) for model in self.by_model):
            notes.append(
                _(
                    "GPT4oScore: the paper's judge is GPT-4o, and its prompt is not in the "
                    "paper's text. The rows of this run are graded with keju's rubrics by the "
                    "judge that they name. For this reason no difference is shown, and marks "
                    "compare only rows of the same judge."
                )
            )
        return tuple(notes)

    def judge(self, model: str, table: PrintedTable) -> str:
        """The judge of a model's answers for a table's column of grades; empty without a grade."""
        return ", ".join(dict.fromkeys(each.judge for each in self._grades(model, table)))

    def graded(self, model: str, table: PrintedTable) -> GradedCount | None:
        """The number of answers in a table's grades; None where all are."""
        grades = self._grades(model, table)
        if not any(each.missing or each.no_reply for each in grades):
            return None
        answers = sum(each.answers for each in grades)
        return GradedCount(answers - sum(e.missing + e.no_reply for e in grades), answers)

    def _grades(self, model: str, table: PrintedTable) -> list[TaskGrade]:
        judged = [each for each in table.columns.values() if each.metric == JUDGED]
        grades = [self._given.get((model, task_name(c.task, c.query)), {}) for c in judged]
        return [next(iter(each.values())) for each in grades if len(each) == 1]

    def seeing(self) -> RunValues:
        """The same, restricted to models that got only the image (`image`)."""
        kept = copy(self)
        kept.by_model = {
            name: model_responses
            for name, model_responses in self.by_model.items()
            if sees_image(model_responses)
        }
        return kept

    def without_single_people(self, several: Collection[str]) -> RunValues:
        """The same, with people only in rows of several."""
        values = copy(self)
        values.by_model = {
            name: model_responses
            for name, model_responses in self.by_model.items()
            if model_responses.role != PEOPLE or name in several
        }
        values._people = tuple(name for name in values.by_model if name in several)
        return values

    def has(self, column: Column) -> bool:
        """Whether an item is in the column's subset."""
        return any(
            (item.task, item.query) == (column.task, column.query) and _is_of(item, column.subset)
            for item in self._items.values()
        )

    def value(self, model: str, column: Column, subset: str) -> float | None:
        """A model's value of the column's metric over the items of a subset; "" is all."""
        if column.metric == JUDGED:
            grades = self._given.get((model, task_name(column.task, column.query)), {})
            mean = next(iter(grades.values())).mean if len(grades) == 1 and not subset else None
            return None if mean is None else mean / 10
        key = (model, column.task, column.query, own_metric(column))
        scores = self._scores.get(key, ())
        kept = [s for s in scores if _is_of(self._items[s.task, s.query, s.item], subset)]
        return task_value(kept)

    def valued(self, model: str, wanted: Task) -> bool:
        """Whether a model has a value of a task's main metric."""
        query = wanted.queries[0]
        return (model, wanted.id, query.name, query.official[0]) in self._scores

    def results(self, model: str) -> dict[tuple[str, str], TaskResult]:
        """A model's results by task and query."""
        found = self._results.get((model, "official"))
        return {(each.task, each.query): each for each in found.tasks} if found else {}

    def is_ranked(self, model: str) -> bool:
        """Whether a row is of a model with the paper's conditions: not a baseline, not a person.

        Of settings only `image` counts; with a transcription the task is a different one. A model
        that lacks items of its tasks is not ranked.
        """
        model_responses = self.by_model[model]
        comparable = model not in self._lacking and model_responses.setting == "image"
        return comparable and model_responses.role not in _UNRANKED

    def is_drawn(self, model: str) -> bool:
        """Whether a row is of a synthetic dataset, not of the benchmark's own data."""
        return self.by_model[model].run in self._drawn


def _count_lacking(tasks_answered: Iterable[Mapping[str, set[str]]]) -> Counter[str]:
    """How many items with a value of its tasks a model lacks that the model with the most has."""
    lacking: Counter[str] = Counter()
    for by_model in tasks_answered:
        fullest = max((by_model[model] for model in sorted(by_model)), key=len)
        for model, items in by_model.items():
            if missing := len(fullest - items):
                lacking[model] += missing
    return lacking


def own_metric(column: Column) -> str:
    """The `official` metric that a printed column is: another one where the printed name misleads.

    The names are those of `Definition.printed_metrics`, the metric that the values fit first.
    """
    meant = benchmark_named(column.benchmark).printed_metrics.get(column.metric, ())
    return meant[0] if meant and column.metric not in meant else column.metric


def _is_of(item: Item, subset: str) -> bool:
    """Whether an item is of a printed subset: a value of its metadata, or two joined ones."""
    if not subset:
        return True
    said = [value.casefold() for value in item.metadata.values()]
    pairs = (" ".join(pair) for pair in permutations(said, 2))
    return subset.casefold() in said or subset.casefold() in pairs
