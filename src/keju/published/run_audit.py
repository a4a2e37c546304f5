"""The audit of a run: numbers that cannot be right, or that are easily misread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from keju.definitions import has_reference, is_undeciphered, task
from keju.items import Item, Response, Score
from keju.models import drafted_by
from keju.models.replay import looks_like_error
from keju.published.audit import OF_A_RUN, Audit, Finding, PassedCheck, finding_of, held_check
from keju.published.checks import Check, Mismatch, Outcome, Severity, Size
from keju.published.checks.grids import TOO_LITTLE_FOR_LUCK, at_most
from keju.published.tables import EPSILON
from keju.runs import RecordList, RunFolder
from keju.runs.served_models import count_served
from keju.scoring import Result, aggregate, stored_scores
from keju.scoring.aggregate import is_ratio_of_sums
from keju.text import answer_part
from keju.texts import _, p_

Failure = tuple[str, str, str]
"""Where a check fails, what is there, and what it is compared with."""

Places = Iterator[tuple[str, int, Sequence[Failure]]]
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


class _RunCheck(Check, frozen=True, kw_only=True, tag=OF_A_RUN):
    """A check of a run, with the function that examines it."""

    look: Callable[[RunData], Places]


_CHECKS: list[_RunCheck] = []


def _check(
    name: str, severity: Severity, *, holds: str, says: str, consequence: str
) -> Callable[[Callable[[RunData], Places]], None]:
    """Declare the check that the function below it makes."""

    def declare(look: Callable[[RunData], Places]) -> None:
        check = _RunCheck(
            id=name, severity=severity, holds=holds, says=says, consequence=consequence, look=look
        )
        _CHECKS.append(check)

    return declare


def audit_run(path: Path) -> Audit:
    """Check a scored run of one's own.

    Raises:
        UsageError: it is not a run, or it has no scores or has changed since.
        DataError: a file of it is damaged.
    """
    folder = RunFolder.open(path)
    scores = RecordList(Score, stored_scores(folder))
    data = RunData(
        {(item.task, item.query, item.id): item for item in folder.iter_items()},
        RecordList(Response, folder.responses()),
        scores,
        aggregate(scores),
    )
    findings: list[Finding] = []
    held: list[PassedCheck] = []
    for check in _CHECKS:
        outcomes = [
            Outcome(
                place,
                compared,
                tuple(
                    Mismatch(where=where, printed=printed, recomputed=recomputed)
                    for where, printed, recomputed in wrong
                ),
            )
            for place, compared, wrong in check.look(data)
            if wrong or compared
        ]
        findings += [
            replace(
                finding_of(path.name, check, each, Size(cells=each.cells, compared=each.compared)),
                title=check.id,
            )
            for each in outcomes
            if each.mismatches
        ]
        held += held_check(path.name, check, outcomes)
    return Audit(findings=tuple(findings), held=tuple(held))


@_check(
    "values",
    "error",
    holds=_("an item's value is what its own sums give"),
    says=_(
        "The value of an item is not the quotient of its sums, from which tasks and intervals are "
        "computed."
    ),
    consequence=_("The file of scores was changed or damaged. Score the run again."),
)
def _wrong_values(data: RunData) -> Places:
    for (model, protocol), scores in _grouped(data.scores, lambda s: (s.model, s.protocol)):
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
                name = "/".join(filter(None, (score.task, score.query, score.item)))
                wrong.append((f"{name}, {score.metric}", f"{score.value:g}", f"{due:g}"))
        yield f"{model}, {protocol}", compared, wrong


@_check(
    "whole-tasks",
    "caution",
    holds=_("every item of a task is asked"),
    says=_("The run has fewer items or images of some tasks than the benchmark."),
    consequence=_(
        "They are a sample of the benchmark, or other data. State this next to published values."
    ),
)
def _incomplete_tasks(data: RunData) -> Places:
    items: dict[str, list[Item]] = defaultdict(list)
    for item in data.items.values():
        if not is_undeciphered(item):
            items[item.task].append(item)
    for benchmark, names in _grouped(items, lambda name: task(name).benchmark):
        # Counts that a paper only implies are not compared.
        printed = [each for each in map(task, names) if each.count_kind in {"items", "images"}]
        counts = {each.id: each.counted(items[each.id]) for each in printed}
        yield (
            benchmark,
            len(printed),
            [
                (
                    each.id,
                    _("{:,} images", counts[each.id])
                    if each.unit == "images"
                    else _("{:,} items", counts[each.id]),
                    _("the benchmark has {:,}", each.count),
                )
                for each in printed
                if counts[each.id] < each.count
            ],
        )


@_check(
    "failures",
    "caution",
    holds=_("at most one request in twenty fails"),
    says=_("More than one request in twenty brought no answer."),
    consequence=_(
        "Failures count as the worst value, so the task's number reflects the service, not the "
        "model. Run again with --retry-failed, or read the values without failures."
    ),
)
def _many_failures(data: RunData) -> Places:
    for model, responses in _grouped(data.responses, lambda each: each.model):
        failed = Counter(each.task for each in responses if each.status in {"failed", "filtered"})
        requests = Counter(each.task for each in responses)
        wrong = [
            (name, _("{:,} failed", failed[name]), _("of {:,} asked", count))
            for name, count in requests.items()
            if failed[name] > _MANY_FAILURES * count
        ]
        yield model, len(requests), wrong


@_check(
    "error-texts",
    "caution",
    holds=_("no answer looks like the error text of a program"),
    says=_("Responses that were scored as answers look like the error texts of a program."),
    consequence=_(
        "An error is not an answer, and a multiple-choice letter may have been read in it. Remove "
        "these answers from the file that was replayed, or run the items again."
    ),
)
def _error_texts(data: RunData) -> Places:
    for model, responses in _grouped(data.responses, lambda each: each.model):
        answers = [each for each in responses if each.status in {"answered", "truncated"}]
        wrong = []
        for name, of_task in _grouped(answers, lambda each: each.task):
            if errors := [each for each in of_task if looks_like_error(answer_part(each.text))]:
                first = _("they look like errors, the first at {}", errors[0].item)
                wrong.append((name, _("{:,} scored as answers", len(errors)), first))
        yield model, len(answers), wrong


@_check(
    "one-letter",
    "meaning",
    holds=_("the letter that is chosen depends on the question"),
    says=_("The same letter is chosen in nine of ten questions, whatever is asked."),
    consequence=_("The accuracy is the share of questions whose answer happens to be that letter."),
)
def _single_letter_answers(data: RunData) -> Places:
    for place, answers in _chosen(data).items():
        letter, count = Counter(score.extracted for _, score in answers).most_common(1)[0]
        varied = len({item.answer for item, _ in answers}) > 1
        constant = len(answers) >= _FEWEST and varied and letter
        wrong = (letter, _("{} of {} times", count, len(answers)), _("the true one varies"))
        failing = constant and count >= _NEARLY_ALL * len(answers)
        yield ", ".join(place), _enough(len(answers)), [wrong] if failing else []


@_check(
    "below-guessing",
    "meaning",
    holds=_("no accuracy is so far below guessing that luck cannot explain it"),
    says=_("The accuracy is further below guessing than luck explains (less than 1 in 10,000)."),
    consequence=_(
        "A likely cause is that letters were missing or in another form. Check the extracted "
        "answers."
    ),
)
def _accuracy_below_guessing(data: RunData) -> Places:
    for place, answers in _chosen(data).items():
        chance = sum(1 / len(item.options) for item, _ in answers) / len(answers)
        count = round(sum(score.value or 0.0 for _, score in answers))
        wrong = (
            place[1],
            p_("count", "{} of {}", count, len(answers)),
            _("guessing gets {}", f"{chance * len(answers):.1f}"),
        )
        far = at_most(count, len(answers), chance) < TOO_LITTLE_FOR_LUCK
        yield ", ".join(place), len(answers), [wrong] if far else []


def _chosen(data: RunData) -> dict[tuple[str, str, str], list[tuple[Item, Score]]]:
    """The options that each model chose, in its first round, by model, task and setting."""
    choices: dict[tuple[str, str, str], list[tuple[Item, Score]]] = defaultdict(list)
    for score in data.scores:
        item = data.items.get((score.task, score.query, score.item))
        is_strict_accuracy = (score.metric, score.protocol, score.round) == ("Acc", "strict", 1)
        if item and item.options and is_strict_accuracy and score.value is not None:
            choices[score.model, score.task, _variant_label(score)].append((item, score))
    return choices


@_check(
    "own-drafts",
    "caution",
    holds=_("no model is graded on items that it drafted itself"),
    says=_(
        "A model answered items that it had drafted itself, whoever accepted or corrected them."
    ),
    consequence=_(
        "What a person kept of a draft is the model's own answer, so the values favour it against "
        "models that drafted nothing. Compare on other items."
    ),
)
def _answered_own_drafts(data: RunData) -> Places:
    for model, responses in _grouped(data.responses, lambda each: each.model):
        answered = {(each.task, each.query, each.item) for each in responses}
        items = [item for key in sorted(answered) if (item := data.items.get(key))]
        wrong = [
            (name, _("{} of {} items", own, len(task_items)), _("drafted by this model itself"))
            for name, task_items in _grouped(items, lambda item: item.task)
            if (own := sum(drafted_by(item, model) for item in task_items))
        ]
        yield model, len(items), wrong


@_check(
    "served-model",
    "caution",
    holds=_("the server reports one model under each name"),
    says=_("The server reported several models under one name while it answered."),
    consequence=_(
        "The values mix the answers of different models. Run the items again with another --label "
        "and --out."
    ),
)
def _changed_served_models(data: RunData) -> Places:
    for model, counts in sorted(count_served(data.responses).items()):
        total = counts.total()
        served = [
            (name, _("{} of {} items", number, total), name) for name, number in counts.items()
        ]
        yield model, total, served if len(counts) > 1 else []


@_check(
    "same-answers",
    "conflict",
    holds=_("two models do not give the same wrong answers"),
    says=_("Two models gave the same text to every open question, also where it is wrong."),
    consequence=_("One model answered under two names, or answers were copied."),
)
def _same_answers(data: RunData) -> Places:
    texts: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for each in data.responses:
        item = data.items.get((each.task, each.query, each.item))
        answer = answer_part(each.text)
        if item is None or item.options or not has_reference(item):
            continue
        if answer.strip() != item.answer.strip() and each.status == "answered":
            place = (each.item, each.task, each.query, _variant_label(each))
            texts[each.model][*place, str(each.round), str(each.candidate)] = answer
    for first, second in combinations(sorted(texts), 2):
        common_keys = texts[first].keys() & texts[second].keys()
        equal_answers = sum(texts[first][key] == texts[second][key] for key in common_keys)
        wrong = (second, _("{} wrong answers", equal_answers), _("those of {}", first))
        everything = equal_answers == len(texts[first]) == len(texts[second])
        varied = len({texts[first][key] for key in common_keys}) > 2
        copied = everything and varied and equal_answers >= _FEWEST
        yield f"{first}, {second}", _enough(len(common_keys)), [wrong] if copied else []


@_check(
    "same-rounds",
    "caution",
    holds=_("rounds differ"),
    says=_("All rounds have the same answers."),
    consequence=_("The mean of the rounds equals one round, and their spread of 0 shows nothing."),
)
def _same_rounds(data: RunData) -> Places:
    for model, responses in _grouped(data.responses, lambda each: each.model):
        by_place: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for each in responses:
            place = (each.item, each.task, each.query, _variant_label(each), str(each.candidate))
            by_place[place].append(answer_part(each.text))
        several = [texts for texts in by_place.values() if len(texts) > 1]
        alike = all(len(set(texts)) == 1 for texts in several) and len(several) >= _FEWEST
        wrong = (
            model,
            _("{} rounds", max(map(len, several), default=0)),
            _("the same answer in all {:,} places", len(several)),
        )
        yield model, _enough(len(several)), [wrong] if alike else []


@_check(
    "cr-without-precision",
    "meaning",
    holds=_("F1 is at least half of CR"),
    says=_("F1 is less than half of CR: the answers contain much besides the correct characters."),
    consequence=_("CR does not penalise length. Read CharAcc of the strict protocol."),
)
def _length_favoured(data: RunData) -> Places:
    for result in data.results:
        if result.protocol != "official":
            continue
        for task_result in result.tasks:
            values = {each.metric: each.value for each in task_result.metrics}
            rate, f1 = values.get("CR"), values.get("F1")
            if rate is None or f1 is None:
                continue
            wrong = (task_result.name, f"F1 {100 * f1:.2f}", f"CR is {100 * rate:.2f}")
            place = f"{result.model}, {_variant_label(result)}, {task_result.name}"
            yield place, 1, [wrong] if f1 < rate / 2 else []


def _enough(count: int) -> int:
    """The number of compared answers; 0 where they are too few to show anything."""
    return count if count >= _FEWEST else 0


def _grouped(things: Iterable[T], key: Callable[[T], K]) -> Iterator[tuple[K, list[T]]]:
    groups: dict[K, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    yield from groups.items()


def _variant_label(record: Response | Score | Result) -> str:
    """The prompt variant: the setting, and the script where one was chosen."""
    chosen = [each for each in (record.script, record.wording) if each != "released"]
    return " · ".join([record.setting, *chosen])
