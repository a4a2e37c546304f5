"""Checks of a user's own run: each yields the places that it examined."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

from keju.definitions import has_reference, is_undeciphered, task
from keju.items import Item, Response, Score
from keju.models import drafted_by
from keju.models.error_texts import looks_like_error
from keju.published.checks.base import Mismatch
from keju.published.checks.grids import TOO_LITTLE_FOR_LUCK, at_most
from keju.published.tables import EPSILON
from keju.scoring import BenchmarkResult, Result
from keju.scoring.aggregate import is_ratio_of_sums
from keju.text import answer_part
from keju.texts import _, p_

Places = Iterator[tuple[str, int, list[Mismatch]]]
"""An examined place, the number of comparisons there, and the failures."""

T = TypeVar("T")
K = TypeVar("K")

_FEWEST = 20
"""Minimum number of answers; fewer may be similar by chance."""

_NEARLY_ALL = 0.9
_MANY_FAILURES = 0.05


class RunData(NamedTuple):
    """The data of a run for the checks; items by task, query and id."""

    items: dict[tuple[str, str, str], Item]
    responses: Sequence[Response]
    scores: Sequence[Score]
    results: list[Result]


def unscored_responses(seen: RunData) -> Places:
    """Responses without a score, and scores without a response, by model."""
    scored = {(score.model, score.item, score.task, score.query) for score in seen.scores}
    there = {
        (each.model, each.item, each.task, each.query)
        for each in seen.responses
        if _is_scored(each)
    }
    for model in sorted({key[0] for key in scored | there}):
        lacking = sorted(key for key in there - scored if key[0] == model)
        stray = sorted(key for key in scored - there if key[0] == model)
        yield (
            model,
            sum(key[0] == model for key in scored | there),
            [
                Mismatch(
                    where=_name(*key[1:]),
                    printed=_("a response"),
                    recomputed=_("no score"),
                )
                for key in lacking
            ]
            + [
                Mismatch(
                    where=_name(*key[1:]),
                    printed=_("a score"),
                    recomputed=_("no response"),
                )
                for key in stray
            ],
        )


def _is_scored(response: Response) -> bool:
    """Whether the query has any metric: some answers are only read by people."""
    queries = {each.name: each for each in task(response.task).queries}
    asked = queries.get(response.query)
    return asked is None or bool(asked.official or asked.strict)


def wrong_values(seen: RunData) -> Places:
    """Values of items that differ from the quotient of their own sums."""
    for (model, protocol), scores in _grouped(seen.scores, lambda s: (s.model, s.protocol)):
        compared, wrong = 0, []
        for score in scores:
            stats = score.stats
            if score.value is None or not is_ratio_of_sums(score):
                continue
            if "numerator" not in stats or not stats.get("denominator"):
                continue
            compared += 1
            due = stats["numerator"] / stats["denominator"]
            if abs(due - score.value) > EPSILON * max(1.0, abs(due)):
                where = f"{_name(score.item, score.task, score.query)}, {score.metric}"
                wrong.append(
                    Mismatch(where=where, printed=f"{score.value:g}", recomputed=f"{due:g}")
                )
        yield f"{model}, {protocol}", compared, wrong


def incomplete_tasks(seen: RunData) -> Places:
    """Tasks with fewer items, or images, than in the benchmark.

    Counts that a paper only implies are not compared.
    """
    items: dict[str, list[Item]] = defaultdict(list)
    for item in seen.items.values():
        if not is_undeciphered(item):
            items[item.task].append(item)
    for benchmark, names in _grouped(items, lambda name: task(name).benchmark):
        counted = ("items", "images")
        printed = [each for each in map(task, names) if each.count_kind in counted]
        counts = {each.id: each.counted(items[each.id]) for each in printed}
        yield (
            benchmark,
            len(printed),
            [
                Mismatch(
                    where=each.id,
                    printed=_count(counts[each.id], each.unit),
                    recomputed=_("the benchmark has {:,}", each.count),
                )
                for each in printed
                if counts[each.id] < each.count
            ],
        )


def _count(count: int, unit: str) -> str:
    if unit == "images":
        return _("{:,} images", count)
    return _("{:,} items", count)


def incomplete_means(seen: RunData) -> Places:
    """Models without some tasks in their mean over domains."""
    means = [(result, each) for result in seen.results for each in result.benchmarks]
    for (benchmark, protocol), found in _grouped(
        means, lambda pair: (pair[1].benchmark, pair[0].protocol)
    ):
        yield (
            f"{benchmark}, {protocol}, OverAll",
            len(found),
            [
                Mismatch(
                    where=f"{result.model}, {_variant_label(result)}",
                    printed=_(
                        "{} of {} domains whole", _complete_domains(each), len(each.overall.parts)
                    ),
                    recomputed=_("lacks {} tasks", _missing_tasks(each)),
                )
                for result, each in found
                if each.overall.missing
            ],
        )


def _complete_domains(found: BenchmarkResult) -> int:
    return len(found.overall.parts) - len(found.overall.missing)


def _missing_tasks(found: BenchmarkResult) -> int:
    return sum(len(domain.missing) for domain in found.domains.values())


def many_failures(seen: RunData) -> Places:
    """Tasks in which more than one request in twenty got no answer."""
    for model, responses in _grouped(seen.responses, lambda each: each.model):
        failed = Counter(each.task for each in responses if each.status in {"failed", "filtered"})
        asked = Counter(each.task for each in responses)
        yield (
            model,
            len(asked),
            [
                Mismatch(
                    where=name,
                    printed=_("{:,} failed", failed[name]),
                    recomputed=_("of {:,} asked", count),
                )
                for name, count in asked.items()
                if failed[name] > _MANY_FAILURES * count
            ],
        )


def error_texts(seen: RunData) -> Places:
    """Responses that count as answers and look like an error message of a program, by task."""
    for model, responses in _grouped(seen.responses, lambda each: each.model):
        answers = [each for each in responses if each.status in {"answered", "truncated"}]
        found = [
            (name, [each for each in of_task if looks_like_error(answer_part(each.text))])
            for name, of_task in _grouped(answers, lambda each: each.task)
        ]
        yield (
            model,
            len(answers),
            [
                Mismatch(
                    where=name,
                    printed=_("{:,} scored as answers", len(errors)),
                    recomputed=_("they look like errors, the first at {}", errors[0].item),
                )
                for name, errors in found
                if errors
            ],
        )


def single_letter_answers(seen: RunData) -> Places:
    """Models that choose the same letter in nine of ten questions."""
    for place, answers in _chosen(seen).items():
        letter, count = Counter(score.extracted for _, score in answers).most_common(1)[0]
        varied = len({item.answer for item, _ in answers}) > 1
        constant = len(answers) >= _FEWEST and varied and letter
        wrong = Mismatch(
            where=letter,
            printed=_("{} of {} times", count, len(answers)),
            recomputed=_("the true one varies"),
        )
        failing = constant and count >= _NEARLY_ALL * len(answers)
        yield ", ".join(place), _enough(len(answers)), [wrong] if failing else []


def accuracy_below_guessing(seen: RunData) -> Places:
    """Accuracies too far below guessing to be explained by chance."""
    for place, answers in _chosen(seen).items():
        chance = sum(1 / len(item.options) for item, _ in answers) / len(answers)
        count = round(sum(score.value or 0.0 for _, score in answers))
        wrong = Mismatch(
            where=place[1],
            printed=p_("count", "{} of {}", count, len(answers)),
            recomputed=_("guessing gets {}", f"{chance * len(answers):.1f}"),
        )
        far = at_most(count, len(answers), chance) < TOO_LITTLE_FOR_LUCK
        yield ", ".join(place), len(answers), [wrong] if far else []


def _chosen(seen: RunData) -> dict[tuple[str, str, str], list[tuple[Item, Score]]]:
    """The options that each model chose, in its first round, by model, task and setting."""
    found: dict[tuple[str, str, str], list[tuple[Item, Score]]] = defaultdict(list)
    for score in seen.scores:
        item = seen.items.get((score.task, score.query, score.item))
        wanted = (score.metric, score.protocol, score.round) == ("Acc", "strict", 1)
        if item and item.options and wanted and score.value is not None:
            found[score.model, score.task, _variant_label(score)].append((item, score))
    return found


def answered_own_drafts(seen: RunData) -> Places:
    """Models that answered items which they drafted themselves, by task."""
    for model, responses in _grouped(seen.responses, lambda each: each.model):
        answered = {(each.task, each.query, each.item) for each in responses}
        items = [item for key in sorted(answered) if (item := seen.items.get(key))]
        yield (
            model,
            len(items),
            [
                Mismatch(
                    where=name,
                    printed=_("{} of {} items", own, len(asked)),
                    recomputed=_("drafted by this model itself"),
                )
                for name, asked in _grouped(items, lambda item: item.task)
                if (own := sum(drafted_by(item, model) for item in asked))
            ],
        )


def same_answers(seen: RunData) -> Places:
    """Pairs of models whose answers are all identical, including the wrong ones."""
    texts: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for each in seen.responses:
        item = seen.items.get((each.task, each.query, each.item))
        said = answer_part(each.text)
        if item is None or item.options or not has_reference(item):
            continue
        if said.strip() != item.answer.strip() and each.status == "answered":
            place = (each.item, each.task, each.query, _variant_label(each))
            texts[each.model][*place, str(each.round), str(each.candidate)] = said
    for first, second in combinations(sorted(texts), 2):
        both = texts[first].keys() & texts[second].keys()
        same = sum(texts[first][key] == texts[second][key] for key in both)
        wrong = Mismatch(
            where=second,
            printed=_("{} wrong answers", same),
            recomputed=_("those of {}", first),
        )
        everything = same == len(texts[first]) == len(texts[second])
        varied = len({texts[first][key] for key in both}) > 2
        copied = everything and varied and same >= _FEWEST
        yield f"{first}, {second}", _enough(len(both)), [wrong] if copied else []


def same_rounds(seen: RunData) -> Places:
    """Models whose rounds are all identical."""
    for model, responses in _grouped(seen.responses, lambda each: each.model):
        by_place: dict[tuple[str, ...], set[str]] = defaultdict(set)
        rounds: dict[tuple[str, ...], int] = Counter()
        for each in responses:
            place = (each.item, each.task, each.query, _variant_label(each), str(each.candidate))
            by_place[place].add(answer_part(each.text))
            rounds[place] += 1
        several = [place for place, count in rounds.items() if count > 1]
        same = [place for place in several if len(by_place[place]) == 1]
        wrong = Mismatch(
            where=model,
            printed=_("{} rounds", max(rounds.values(), default=0)),
            recomputed=_("the same answer in all {:,} places", len(same)),
        )
        alike = len(several) >= _FEWEST and len(same) == len(several)
        yield model, _enough(len(several)), [wrong] if alike else []


def length_favoured(seen: RunData) -> Places:
    """`official` CR values whose F1 is less than half."""
    for result in seen.results:
        if result.protocol != "official":
            continue
        for found in result.tasks:
            values = {each.metric: each.value for each in found.metrics}
            rate, f1 = values.get("CR"), values.get("F1")
            if rate is None or f1 is None:
                continue
            wrong = Mismatch(
                where=found.name, printed=f"F1 {100 * f1:.2f}", recomputed=f"CR is {100 * rate:.2f}"
            )
            paid = f1 < rate / 2
            yield (
                f"{result.model}, {_variant_label(result)}, {found.name}",
                1,
                [wrong] if paid else [],
            )


def constant_answer_values(seen: RunData) -> Places:
    """Values that one constant answer achieves."""
    for result in seen.results:
        for found in result.tasks:
            yield (
                f"{result.model}, {_variant_label(result)}, {result.protocol}, {found.name}",
                len(found.metrics),
                [
                    Mismatch(
                        where=each.metric, printed=_percent(each.value), recomputed=each.one_sided
                    )
                    for each in found.metrics
                    if each.one_sided
                ],
            )


def unread_pairs(seen: RunData) -> Places:
    """Values of tasks of pairs in which pairs have no answer, or none that can be extracted."""
    for result in seen.results:
        for found in result.tasks:
            yield (
                f"{result.model}, {_variant_label(result)}, {result.protocol}, {found.name}",
                len(found.metrics),
                [
                    Mismatch(
                        where=each.metric,
                        printed=_percent(each.value),
                        recomputed=each.unranked_pairs,
                    )
                    for each in found.metrics
                    if each.unranked_pairs
                ],
            )


def _enough(count: int) -> int:
    """The number of compared answers; 0 where they are too few to show anything."""
    return count if count >= _FEWEST else 0


def _grouped(things: Iterable[T], key: Callable[[T], K]) -> Iterator[tuple[K, list[T]]]:
    groups: dict[K, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    yield from groups.items()


def _name(item: str, task_id: str, query: str) -> str:
    return "/".join(filter(None, (task_id, query, item)))


def _percent(value: float | None) -> str:
    return "unscored" if value is None else f"{100 * value:.2f}"


def _variant_label(record: Response | Score | Result) -> str:
    """The prompt variant: the setting, and the script where one was chosen."""
    chosen = [each for each in (record.script, record.wording) if each != "released"]
    return " · ".join([record.setting, *chosen])
