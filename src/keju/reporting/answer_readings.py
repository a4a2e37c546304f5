"""`AnswerReadings`: who read the answers of a model in a task, and how unclear ones are decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from keju.errors import DataError
from keju.formatting import percent, unclear_percent
from keju.items import ReadBy, variant_of
from keju.judging.extracting import extraction_request
from keju.judging.store import ExtractionFolder
from keju.local_paths import shell_quoted
from keju.running.prices import EXAMPLE, Prices, read_prices
from keju.running.tokens import text_tokens
from keju.runs import RunFolder
from keju.scoring import Result
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.stored import stored_frames
from keju.texts import Text, _, join_clauses, n_

MOST_UNCLEAR = 0.05
"""The share of unclear answers in a task above which `keju score` names the command for them."""

_PLACE = ("task", "query", "item", "round", "setting", "script", "wording")
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


def readings_lines(results: Sequence[Result]) -> Iterator[Text]:
    """A line for each model whose answers were not all read by the rules, then the unclear tasks.

    Args:
        results: the results of all models and prompt variants.
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
        shares = [row.share(name) for name in ("reader", "model", "person", "unclear")]
        yield _(
            "{}: read {} · model {} · people {} · unclear {} %",
            row.model,
            *(percent(share) if share else "0" for share in shares),
        )
    if tasks := [row for row in rows if row.share("unclear") > MOST_UNCLEAR]:
        yield _describe_unclear(sorted(tasks, key=lambda row: -row.share("unclear")))


def sum_of_tasks(rows: Sequence[AnswerReadings]) -> list[AnswerReadings]:
    """One row for each model, over all its tasks."""
    by_model: dict[str, dict[str, int]] = {}
    for row in rows:
        counts = by_model.setdefault(row.model, {})
        for name, count in row.counts.items():
            counts[name] = counts.get(name, 0) + count
    return [AnswerReadings(model, "", counts) for model, counts in by_model.items()]


def _describe_unclear(tasks: Sequence[AnswerReadings]) -> Text:
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


class ExtractionCost(NamedTuple):
    """The requests and tokens (estimated) with which an extractor model decides unclear answers."""

    requests: int
    input_tokens: int
    output_tokens: int

    def describe(self, prices: Prices) -> str:
        """Requests and tokens, and the price of the cheapest model where a price is known."""
        requests = n_("{n:,} request", "{n:,} requests", self.requests)
        tokens = _("about {:,} tokens in and {:,} out", self.input_tokens, self.output_tokens)
        costs = {
            price.names[0].rstrip("*"): price.of(self.input_tokens, self.output_tokens)
            for price in prices.models
        }
        if not costs:
            return join_clauses([requests, tokens])
        cheapest = min(costs, key=lambda name: costs[name])
        price = _(
            "about {} {} with {} at prices of {}",
            f"{costs[cheapest]:.2g}",
            prices.currency,
            cheapest,
            prices.seen,
        )
        return join_clauses([requests, tokens, price])


def decision_line(runs: Sequence[Path], *, name: str = "", prices: Prices | None = None) -> Text:
    """The commands that decide the unclear answers of runs, with the cost of an extractor.

    Args:
        runs: run directories; of a bundle neither commands nor cost are given.
        name: how the commands name the run, by default by its path.
        prices: the prices; by default those of the bundled price file.

    Raises:
        UsageError: a run has no scores, or has changed since they were computed.
        DataError: a file of a run is damaged.
    """
    if not all(run.is_dir() for run in runs):
        return _("Decide the unclear answers in the run of each bundle, and bundle it again")
    costs = [extraction_cost(RunFolder.open(run)) for run in runs]
    cost = ExtractionCost(*map(sum, zip(*costs, strict=True)))
    path = name or shell_quoted(str(runs[0]))
    if not cost.requests:
        return _("To decide the unclear answers by people: {}", f"keju serve {path}")
    return _(
        "To decide the unclear answers by a model ({}): {}; by people: {}",
        cost.describe(prices or read_prices(Path(EXAMPLE))),
        f"keju judge extract {path} --model M",
        f"keju serve {path}",
    )


def extraction_cost(run: RunFolder) -> ExtractionCost:
    """The requests about the answers that are unclear in the stored scores of a run.

    No answer is read again. Of a million unclear answers only hashes are in memory.
    """
    requests: set[int] = set()
    tokens = 0
    items = run.stored_items()
    for model, frames in stored_frames(run):
        unclear = {
            hash(place)
            for frame in frames
            for place in frame.filter(read_by="unclear").select(_PLACE).unique().iter_rows()
        }
        for response in run.responses(model) if unclear else ():
            item = items.item_of(response)
            if item is None:
                continue
            variant = variant_of(response)
            place = item.task, item.query, item.id, response.round, *variant
            # Of items that an incomplete dataset cannot ask, people alone can decide.
            with suppress(DataError):
                if hash(place) in unclear:
                    request = extraction_request(ScoringSample(item, response))
                    if (number := int(request.item, 16)) not in requests:
                        requests.add(number)
                        tokens += text_tokens(request.prompt)
    return ExtractionCost(len(requests), tokens, ExtractionFolder.reply_tokens * len(requests))
