"""The audit of a run: numbers that cannot be right, or that are easily misread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from keju.items import Response, Score
from keju.published import run_checks as look
from keju.published.audit import OF_A_RUN, Audit, Finding, PassedCheck
from keju.published.checks import Severity, Size
from keju.published.run_checks import Places, RunData
from keju.published.served_checks import changed_served_models
from keju.runs import RecordList, RunFolder
from keju.scoring import aggregate, iter_stored_scores


class _Check(NamedTuple):
    """One check of a run."""

    id: str
    severity: Severity
    holds: str
    says: str
    consequence: str
    look: Callable[[RunData], Places]


def audit_run(path: Path) -> Audit:
    """Check a scored run of one's own.

    Raises:
        UsageError: it is not a run, or it has no scores or has changed since.
        DataError: a file of it is damaged.
    """
    folder = RunFolder.open(path)
    scores = RecordList(
        Score, (score for _, of_model in iter_stored_scores(folder) for score in of_model)
    )
    seen = RunData(
        {(item.task, item.query, item.id): item for item in folder.iter_items()},
        RecordList(Response, folder.responses()),
        scores,
        aggregate(scores),
    )
    findings: list[Finding] = []
    held: list[PassedCheck] = []
    for check in _CHECKS:
        places = list(check.look(seen))
        findings += [
            Finding(
                benchmark=path.name,
                place=place,
                check=check.id,
                kind=OF_A_RUN,
                severity=check.severity,
                says=check.says,
                consequence=check.consequence,
                compared=compared,
                cells=len(wrong),
                mismatches=tuple(wrong),
                size=Size(cells=len(wrong), compared=compared),
                topic=check.id,
                title=check.id,
            )
            for place, compared, wrong in places
            if wrong
        ]
        if kept := [compared for _, compared, wrong in places if not wrong and compared]:
            held.append(
                PassedCheck(
                    benchmark=path.name,
                    check=check.id,
                    holds=check.holds,
                    places=len(kept),
                    compared=sum(kept),
                )
            )
    return Audit(findings=tuple(findings), held=tuple(held))


_CHECKS = (
    _Check(
        "scores-and-responses",
        "error",
        "every response has its scores, and every score its response",
        "Responses and scores do not match.",
        "The numbers are of another state of the run. Score it again.",
        look.unscored_responses,
    ),
    _Check(
        "values",
        "error",
        "an item's value is what its own sums give",
        "The value of an item is not the quotient of its sums, from which tasks and intervals are "
        "computed.",
        "The file of scores was changed or damaged. Score the run again.",
        look.wrong_values,
    ),
    _Check(
        "whole-tasks",
        "caution",
        "every item of a task is asked",
        "The run has fewer items or images of some tasks than the benchmark.",
        "They are a sample of the benchmark, or other data. State this next to published values.",
        look.incomplete_tasks,
    ),
    _Check(
        "whole-means",
        "caution",
        "a mean over domains is over all their tasks",
        "OverAll is a mean of only some tasks.",
        "It is not the benchmark's OverAll. Two models can be compared only if both lack the same "
        "tasks.",
        look.incomplete_means,
    ),
    _Check(
        "failures",
        "caution",
        "at most one request in twenty fails",
        "More than one request in twenty brought no answer.",
        "Failures count as the worst value, so the task's number reflects the service, not the "
        "model. Run again with --retry-failed, or read the values without failures.",
        look.many_failures,
    ),
    _Check(
        "error-texts",
        "caution",
        "no answer looks like the error text of a program",
        "Responses that were scored as answers look like the error texts of a program.",
        "An error is not an answer, and a multiple-choice letter may have been read in it. Remove "
        "these answers from the file that was replayed, or run the items again.",
        look.error_texts,
    ),
    _Check(
        "one-letter",
        "meaning",
        "the letter that is chosen depends on the question",
        "The same letter is chosen in nine of ten questions, whatever is asked.",
        "The accuracy is the share of questions whose answer happens to be that letter.",
        look.single_letter_answers,
    ),
    _Check(
        "below-guessing",
        "meaning",
        "no accuracy is so far below guessing that luck cannot explain it",
        "The accuracy is further below guessing than luck explains (less than 1 in 10,000).",
        "A likely cause is that letters were missing or in another form. Check the extracted "
        "answers.",
        look.accuracy_below_guessing,
    ),
    _Check(
        "own-drafts",
        "caution",
        "no model is graded on items that it drafted itself",
        "A model answered items that it had drafted itself, whoever accepted or corrected them.",
        "What a person kept of a draft is the model's own answer, so the values favour it against "
        "models that drafted nothing. Compare on other items.",
        look.answered_own_drafts,
    ),
    _Check(
        "served-model",
        "caution",
        "the server reports one model under each name",
        "The server reported several models under one name while it answered.",
        "The values mix the answers of different models. Run the items again with another --label "
        "and --out.",
        changed_served_models,
    ),
    _Check(
        "same-answers",
        "conflict",
        "two models do not give the same wrong answers",
        "Two models gave the same text to every open question, also where it is wrong.",
        "One model answered under two names, or answers were copied.",
        look.same_answers,
    ),
    _Check(
        "same-rounds",
        "caution",
        "rounds differ",
        "All rounds have the same answers.",
        "The mean of the rounds equals one round, and their spread of 0 shows nothing.",
        look.same_rounds,
    ),
    _Check(
        "cr-without-precision",
        "meaning",
        "F1 is at least half of CR",
        "F1 is less than half of CR: the answers contain much besides the correct characters.",
        "CR does not penalise length. Read CharAcc of the strict protocol.",
        look.length_favoured,
    ),
    _Check(
        "one-sided",
        "caution",
        "a constant answer earns no more than chance",
        "The value can be earned by one constant answer.",
        "It does not show that the model used the image.",
        look.constant_answer_values,
    ),
)
