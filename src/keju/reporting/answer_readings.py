"""`AnswerReadings`: who read the answers of a model in a task, and how unclear ones are decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from keju.analysis.run_set import RunSet
from keju.definitions import options_of, query_of
from keju.formatting import percent, unclear_percent
from keju.items import ReadBy
from keju.local_paths import shell_quoted
from keju.running.prices import Prices
from keju.running.tokens import text_tokens
from keju.scoring import Result
from keju.texts import Text, _, join_clauses, n_

MOST_UNCLEAR = 0.05
"""The share of unclear answers in a task above which `keju score` names the command for them."""

_INSTRUCTION_TOKENS = 200
_DECISION_TOKENS = 20
"""Estimates of what an extractor's request has beside question, options and answer, and its reply.
"""

_MOST_NAMED = 6
_MOST_LINES = 20
"""Models with a line in the terminal; the report has all of them."""


class AnswerReadings(NamedTuple):
    """The answers of a model in a task (or one query of it) to its main metric under `strict`.

    `counts` are by who read them. Tasks whose answers are passages have no readings.
    """

    model: str
    task: str
    counts: Mapping[str, int]

    @property
    def answers(self) -> int:
        """The number of answers."""
        return sum(self.counts.values())

    def share(self, read_by: ReadBy) -> float:
        """The share of the answers that were read in this way."""
        return self.counts.get(read_by, 0) / max(1, self.answers)

    @property
    def is_plain(self) -> bool:
        """Whether the rules read all answers, or no answer was given."""
        return not any(self.counts.get(name) for name in ("model", "person", "unclear"))


def answer_readings(results: Iterable[Result]) -> list[AnswerReadings]:
    """The readings of every model and task, of results under any protocol."""
    return [
        AnswerReadings(result.model, task.name, task.read_by)
        for result in results
        for task in result.tasks
        if result.protocol == "strict" and task.read_by
    ]


def shown_readings(results: Iterable[Result]) -> list[AnswerReadings]:
    """`answer_readings`, if any answer is unclear or was decided by a model or by people."""
    readings = answer_readings(results)
    return [] if all(row.is_plain for row in readings) else readings


def readings_lines(results: Sequence[Result], run: str) -> Iterator[Text]:
    """A line for each model whose answers were not all read by the rules, then what decides them.

    The commands are named if more than 5 % of the answers in a task are unclear.

    Args:
        results: the results of all models and prompt variants.
        run: the run directory; empty for a file of responses, for which there are no decisions.
    """
    variants = {result.variant for result in results}
    rows = []
    for result in results:
        label = result.variant.label(variants) if len(variants) > 1 else ""
        model = " · ".join(filter(None, (result.model, label)))
        rows += [row._replace(model=model) for row in answer_readings([result])]
    if all(row.is_plain for row in rows):
        return
    for row in sum_of_tasks(rows)[:_MOST_LINES]:
        yield _("{}: {}", row.model, _readings_text(row))
    if (unclear := _describe_unclear(rows)) is not None:
        yield unclear
        if run:
            yield describe_decision(run, count_unclear(rows))


def _readings_text(row: AnswerReadings) -> Text:
    """The shares in percent, in one line."""
    shares = [row.share(name) for name in ("reader", "model", "person", "unclear")]
    return _(
        "read {} · model {} · people {} · unclear {} %",
        *(percent(share) if share else "0" for share in shares),
    )


def sum_of_tasks(rows: Sequence[AnswerReadings]) -> list[AnswerReadings]:
    """One row for each model, over all its tasks."""
    by_model: dict[str, dict[str, int]] = {}
    for row in rows:
        counts = by_model.setdefault(row.model, {})
        for name, count in row.counts.items():
            counts[name] = counts.get(name, 0) + count
    return [AnswerReadings(model, "", counts) for model, counts in by_model.items()]


def _describe_unclear(rows: Iterable[AnswerReadings]) -> Text | None:
    """The tasks with more than 5 % unclear answers; None without any."""
    tasks = sorted(
        (row for row in rows if row.share("unclear") > MOST_UNCLEAR),
        key=lambda row: -row.share("unclear"),
    )
    if not tasks:
        return None
    parts = [
        _("{} {} % ({})", row.task, unclear_percent(row.share("unclear")), row.model)
        for row in tasks[:_MOST_NAMED]
    ]
    hidden = len(tasks) - _MOST_NAMED
    names = join_clauses(parts)
    return _(
        "More than 5 % of the answers are unclear, so values are ranges: {}",
        _("{} and {:,} more", names, hidden) if hidden > 0 else names,
    )


def describe_decision(run: str, answers: int = 0, price: Text | None = None) -> Text:
    """The commands that decide unclear answers.

    Args:
        run: the run directory, or ``RUN``.
        answers: the number of unclear answers; 0 if it is not known.
        price: the estimated price, if known.
    """
    path = shell_quoted(run) if run != "RUN" else run
    model, people = f"keju judge extract {path} --model M", f"keju serve {path}"
    if not answers:
        return _("To decide them by a model: {}; by people: {}", model, people)
    requests = n_("{n:,} request", "{n:,} requests", answers)
    return _(
        "To decide them by a model ({}): {}; by people: {}",
        requests if price is None else join_clauses([requests, price]),
        model,
        people,
    )


def count_unclear(rows: Iterable[AnswerReadings]) -> int:
    """The number of unclear answers."""
    return sum(row.counts.get("unclear", 0) for row in rows)


def estimate_price(run_set: RunSet, prices: Prices | None) -> Text | None:
    """The price of deciding the unclear answers with the cheapest model of a price file.

    A request has the question, the options and the answer, and no image. Our estimate.
    """
    if prices is None or not prices.models:
        return None
    sent = received = 0
    for input_tokens in _unclear_tokens(run_set):
        sent += input_tokens + _INSTRUCTION_TOKENS
        received += _DECISION_TOKENS
    cheapest = min(prices.models, key=lambda price: price.of(sent, received))
    return _(
        "about {} {} with {}",
        f"{cheapest.of(sent, received):.2g}",
        prices.currency,
        cheapest.names[0].rstrip("*"),
    )


def _unclear_tokens(run_set: RunSet) -> Iterator[int]:
    for asked in run_set.asked:
        item = asked.item
        question = "\n".join([item.question or query_of(item).template, *options_of(item)])
        for answer in asked.answers:
            if any(score.read_by == "unclear" for score in answer.scores):
                yield text_tokens(question) + text_tokens(answer.response.text)
