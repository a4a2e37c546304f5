"""`Acc_reviewed`: accuracy after the review of answers with several letters, with its means.

A script that counts an answer as right that contains the right letter anywhere accepts "ABCD". The
authors of a benchmark therefore review such answers by hand, without publishing which ones, and how
they decided. Here people decide which option an answer chose if no rule extracts one letter
(``keju serve``). The result is a metric of its own with its own means; no mean of a protocol
includes it.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import msgspec

from keju.definitions import choices_of
from keju.errors import DataError, UsageError, english_problem
from keju.files import sha256_bytes, sha256_file
from keju.items import Item, PromptVariant, Record, Response, Score, variant_of
from keju.metrics import UndefinedMetricError
from keju.runs import RunFolder
from keju.scoring.extraction import body_of
from keju.scoring.means import benchmark_result
from keju.scoring.metric import keju_metric
from keju.scoring.metric_value import mean
from keju.scoring.results import MetricResult, Result
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.signatures import signature

REVIEWED = "Acc_reviewed"
NONE = "none"
"""No one option was chosen: the answer is wrong."""

SEVERAL = "several_letters"
"""Statistic of a score: whether the answer contains the letters of several options."""
PEOPLE, RULES, SCRIPT, UNDECIDED = "people", "rules", "script", "undecided"
"""Statistics of a score: what its value rests on."""
HIGHEST = "highest"
"""Statistic of a score: its value if an undecided answer counts as the authors' script has it."""
_COUNTED = (SEVERAL, PEOPLE, RULES, UNDECIDED)

CODE, LETTER = "answer_key", "letter"
_FAILED = frozenset({"failed", "filtered"})
_WITHOUT = _FAILED | {"empty"}
_LETTERS = tuple("ABCDEF")


class Decisions(NamedTuple):
    """People's decisions: the letter, or `NONE`, by code of the answer; and the file's hash."""

    letters: Mapping[str, str]
    id: str


NO_DECISIONS = Decisions({}, "none")


def is_unclear(item: Item, response: Response) -> bool:
    """Whether an answer to a question with options is there, and no rule takes one of them."""
    if response.status in _WITHOUT or not body_of(response.text).strip():
        return False
    sample = ScoringSample(item, response)
    return sample.form == "letter" and sample.extracted.answer is None


def answer_code(response: Response) -> str:
    """A code that identifies an answer and its text, but not who gave it."""
    spelled = msgspec.json.encode(
        (
            response.model,
            response.key,
            response.item,
            response.task,
            response.query,
            response.setting,
            response.round,
            response.text,
        )
    )
    return sha256_bytes(spelled)[:16]


def read_decisions(path: Path) -> Decisions:
    """Read the decisions that ``keju serve`` wrote. Of several people the majority counts.

    An answer on which they are divided evenly stays undecided.

    Raises:
        UsageError: the file does not exist.
        DataError: it is not a table of decisions.
    """
    if not path.is_file():
        raise UsageError("{}: no such file", path)
    said: dict[str, Counter[str]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for line, row in enumerate(csv.DictReader(stream), start=2):
                code, letter = row.get(CODE), (row.get(LETTER) or "").strip()
                if not code or not (letter == NONE or (len(letter) == 1 and letter.isalpha())):
                    raise DataError(
                        "the row is not a decision: fill answer_key, and write one letter into "
                        "letter or leave it empty",
                        file=path,
                        item=f"row {line}",
                        hint="Write the file with keju serve"
                    )  # fmt: skip
                said.setdefault(code, Counter())[letter] += 1
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError("not a CSV file in UTF-8: {}", error, file=path) from None
    letters = {code: most for code, votes in said.items() if (most := _most(votes))}
    return Decisions(letters, sha256_file(path)[:8])


def unused_decisions(decisions: Decisions, run: RunFolder) -> int:
    """How many decisions are of answers that the run does not have, or no longer has.

    Raises:
        DataError: a stored line is damaged.
    """
    present = {answer_code(response) for response in run.responses()}
    return len(decisions.letters.keys() - present)


def _most(votes: Counter[str]) -> str:
    (letter, count), *others = votes.most_common()
    return "" if others and others[0][1] == count else letter


def collect_reviewed_scores(
    samples: Iterable[ScoringSample], decisions: Decisions, scores: list[Score]
) -> Iterator[ScoringSample]:
    """Yield the samples unchanged; for those with options, add their `REVIEWED` score to the list.

    A person's decision counts for every answer that has one. Of the others, an answer that contains
    the letters of several options counts by the letter that keju's rules read, and is undecided
    where they read none; all others keep the value of the authors' script.
    """
    for sample in samples:
        if sample.form == "letter" and (sample.item.answer or sample.item.answer_simplified):
            scores.append(_reviewed_score(sample, decisions))
        yield sample


def _reviewed_score(sample: ScoringSample, decisions: Decisions) -> Score:
    letter, stats, reason = "", dict[str, float](), ""
    try:
        script = _script_value(sample)
        how, letter = _reviewed(sample, decisions)
        value = script if how == SCRIPT else float(letter == sample.reference.strip().upper())
        if sample.response.status in _FAILED:
            value = script = 0.0
        stats = mean(value).stats | {
            how: 1.0,
            SEVERAL: float(has_several_letters(sample)),
            HIGHEST: script if how == UNDECIDED else value,
        }
    except UndefinedMetricError as error:
        reason = english_problem(error)
    return Score(
        **sample.score_fields,
        protocol="official",
        metric=REVIEWED,
        value=stats.get("numerator"),
        reason=reason,
        extracted=letter,
        stats=stats,
        signature=signature("official", REVIEWED, "one letter", label=f"reviewed:{decisions.id}")
        if stats
        else "",
    )


def has_several_letters(sample: ScoringSample) -> bool:
    """Whether an answer contains the letters of two or more options, as the script finds them."""
    offered = choices_of(sample.item) or _LETTERS
    return sum(letter in sample.text for letter in offered) > 1


def _script_value(sample: ScoringSample) -> float:
    """The value of the benchmark's `official` accuracy; 1 or 0 by the rules where it has none."""
    metric = keju_metric("official", sample.item.benchmark, "letter", "Acc")
    if metric is None or "Acc" not in sample.query.official:
        return float(sample.extracted.answer == sample.reference.strip().upper())
    return metric.measure(sample).value


def _reviewed(sample: ScoringSample, decisions: Decisions) -> tuple[str, str]:
    """Who decided which option an answer chose, and its letter, empty for none."""
    code = answer_code(sample.response)
    if code in decisions.letters:
        letter = decisions.letters[code]
        return PEOPLE, "" if letter == NONE else letter
    if not has_several_letters(sample):
        return SCRIPT, sample.extracted.answer or ""
    letter = sample.extracted.answer or ""
    return (RULES if letter else UNDECIDED), letter


class ReviewedResult(Record, frozen=True, kw_only=True):
    """`official` of one model in one prompt variant with `REVIEWED` in the place of Acc.

    `lowest` counts undecided answers as wrong, `highest` as the authors' script counts them.
    `counts` has for each task, and for all under "", how many answers contain several letters,
    and how many values people decided, keju's rules read, or are undecided.
    """

    lowest: Result
    highest: Result
    counts: dict[str, dict[str, int]]


def reviewed_results(
    results: Iterable[Result], scores: Iterable[Score]
) -> Iterator[ReviewedResult]:
    """The values after the review, with the means of the benchmark.

    Args:
        results: of the model; those of `official` are used.
        scores: all its variants.
    """
    reviewed: dict[PromptVariant, dict[tuple[str, str], list[Score]]] = {}
    for score in scores:
        if score.metric == REVIEWED:
            by_task = reviewed.setdefault(variant_of(score), {})
            by_task.setdefault((score.task, score.query), []).append(score)
    for result in results:
        if result.protocol == "official" and result.variant in reviewed:
            result_reviewed = reviewed[result.variant]
            yield ReviewedResult(
                lowest=_with_reviewed(result, result_reviewed, "numerator"),
                highest=_with_reviewed(result, result_reviewed, HIGHEST),
                counts=_counts(result_reviewed),
            )


def _with_reviewed(
    result: Result, reviewed: Mapping[tuple[str, str], Sequence[Score]], part: str
) -> Result:
    tasks = tuple(
        msgspec.structs.replace(each, metrics=(_metric_result(scores, part), *each.metrics[1:]))
        if (scores := reviewed.get((each.task, each.query)))
        and each.main
        and each.main.metric == "Acc"
        else each
        for each in result.tasks
    )
    benchmarks = tuple(
        benchmark_result(each.benchmark, "official", tasks) for each in result.benchmarks
    )
    return msgspec.structs.replace(result, tasks=tasks, benchmarks=benchmarks)


def _metric_result(scores: Sequence[Score], part: str) -> MetricResult:
    values = [score.stats[part] for score in scores if score.stats]
    answered = [s.stats[part] for s in scores if s.stats and s.status not in _FAILED]
    reasons = Counter(score.reason for score in scores if score.reason)
    return MetricResult(
        metric=REVIEWED,
        value=fmean(values) if values else None,
        without_failures=fmean(answered) if answered else None,
        item_mean=fmean(values) if values else None,
        items=len(scores),
        scored=len(values),
        unscored=dict(reasons),
        signature=next((score.signature for score in scores if score.signature), ""),
    )


def _counts(reviewed: Mapping[tuple[str, str], Sequence[Score]]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {"": Counter()}
    for (task, _), scores in reviewed.items():
        for score in scores:
            found = {name: int(score.stats.get(name, 0)) for name in _COUNTED}
            counts.setdefault(task, Counter()).update(found)
            counts[""].update(found)
    return {task: {name: found[name] for name in _COUNTED} for task, found in counts.items()}
