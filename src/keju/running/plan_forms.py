"""Comparison of the full protocol of pair tasks with its reduced forms in a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from keju.definitions import task
from keju.definitions.pair_forms import pair_form
from keju.items import Item
from keju.models import Model
from keju.running.pair_reducing import reduce_pairs
from keju.running.plan import estimate_items
from keju.running.plan_records import PairPlan, Plan
from keju.running.prices import Prices
from keju.running.selecting import Selection

SIZES = (20, 10, 5)
"""Sizes of the reduced forms that a plan shows: the first that is below the largest gallery and
leaves a candidate that is not relevant."""


def with_forms(
    plan: Plan,
    items: Sequence[Item],
    models: Sequence[Model],
    selection: Selection,
    *,
    prices: Prices | None = None,
    per_minute: float | None = None,
) -> Plan:
    """The plan of a full protocol, with the requests of the reduced forms of its pair tasks.

    Args:
        plan: the plan of all items.
        items: its items.
        models: the models.
        selection: the prompt variants; not in a reduced form.
        prices: the prices of a price file.
        per_minute: the number of requests that a model takes per minute.
    """
    pairs = [item for item in items if task(item.task).of_pairs]
    names = form_names(pairs)
    if not names:
        return plan
    asked = {item.task for item in pairs}
    whole = replace(plan, rows=tuple(row for row in plan.rows if row.task in asked))
    found = list(_rows("", whole, models, selection.rounds, per_minute))
    for name in names:
        fewer = reduce_pairs(pairs, pair_form(name))
        of_form = estimate_items(
            fewer, models, replace(selection, pairs=name), prices=prices, per_minute=per_minute
        )
        found += _rows(name, of_form, models, selection.rounds, per_minute)
    return replace(plan, forms=tuple(found))


def form_names(items: Sequence[Item]) -> list[str]:
    """The reduced forms that make items of pair tasks smaller, by name."""
    largest = max((len(item.images) - 1 for item in items), default=0)
    relevant = max((len(item.relevant) for item in items), default=0)
    size = next((size for size in SIZES if relevant < size < largest), 0)
    if not size:
        return []
    once = ["once"] if _asked_both_ways(items) else []
    return [*once, f"gallery={size}"]


def _asked_both_ways(items: Sequence[Item]) -> bool:
    """Whether any pair of images is compared in both directions."""
    seen: set[tuple[str, str, str, str]] = set()
    for item in items:
        first = item.images[0].sha256
        for ref in item.images[1:]:
            if (item.task, item.query, ref.sha256, first) in seen:
                return True
            seen.add((item.task, item.query, first, ref.sha256))
    return False


def _rows(
    name: str, plan: Plan, models: Sequence[Model], rounds: int, per_minute: float | None
) -> Iterator[PairPlan]:
    for model in models:
        rows = [row for row in plan.rows if row.model == model.name]
        calls = sum(row.calls for row in rows)
        known = [row.input_tokens for row in rows]
        money = [row.money for row in rows]
        timed = per_minute and "endpoint" in model.identity
        yield PairPlan(
            model=model.name,
            form=name,
            calls=calls,
            a_round=calls // rounds,
            input_tokens=None if None in known else sum(each or 0 for each in known),
            output_tokens=sum(row.output_tokens for row in rows),
            money=None if None in money else sum(each or 0.0 for each in money),
            hours=calls / per_minute / 60 if timed and per_minute else None,
        )
