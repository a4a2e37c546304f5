"""The audit of a run: numbers that cannot be right, or that are easily misread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from keju.items import Response, Score
from keju.published import run_checks as look
from keju.published.audit import OF_A_RUN, Audit, Finding, PassedCheck, finding_of, held_check
from keju.published.checks import Check, Outcome, Size
from keju.published.run_checks import Places, RunData
from keju.published.served_checks import changed_served_models
from keju.runs import RecordList, RunFolder
from keju.scoring import aggregate, iter_stored_scores


class _RunCheck(Check, frozen=True, kw_only=True, tag=OF_A_RUN):
    """A check of a run, with the function that examines it."""

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
        outcomes = [
            Outcome(place, compared, tuple(wrong))
            for place, compared, wrong in check.look(seen)
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


_CHECKS = (
    _RunCheck(
        id="scores-and-responses",
        severity="error",
        holds="every response has its scores, and every score its response",
        says="Responses and scores do not match.",
        consequence="The numbers are of another state of the run. Score it again.",
        look=look.unscored_responses,
    ),
    _RunCheck(
        id="values",
        severity="error",
        holds="an item's value is what its own sums give",
        says="The value of an item is not the quotient of its sums, from which tasks and intervals "
        "are computed.",
        consequence="The file of scores was changed or damaged. Score the run again.",
        look=look.wrong_values,
    ),
    _RunCheck(
        id="whole-tasks",
        severity="caution",
        holds="every item of a task is asked",
        says="The run has fewer items or images of some tasks than the benchmark.",
        consequence="They are a sample of the benchmark, or other data. State this next to "
        "published values.",
        look=look.incomplete_tasks,
    ),
    _RunCheck(
        id="whole-means",
        severity="caution",
        holds="a mean over domains is over all their tasks",
        says="OverAll is a mean of only some tasks.",
        consequence="It is not the benchmark's OverAll. Two models can be compared only if both "
        "lack the same tasks.",
        look=look.incomplete_means,
    ),
    _RunCheck(
        id="failures",
        severity="caution",
        holds="at most one request in twenty fails",
        says="More than one request in twenty brought no answer.",
        consequence="Failures count as the worst value, so the task's number reflects the service, "
        "not the model. Run again with --retry-failed, or read the values without failures.",
        look=look.many_failures,
    ),
    _RunCheck(
        id="error-texts",
        severity="caution",
        holds="no answer looks like the error text of a program",
        says="Responses that were scored as answers look like the error texts of a program.",
        consequence="An error is not an answer, and a multiple-choice letter may have been read in "
        "it. Remove these answers from the file that was replayed, or run the items again.",
        look=look.error_texts,
    ),
    _RunCheck(
        id="one-letter",
        severity="meaning",
        holds="the letter that is chosen depends on the question",
        says="The same letter is chosen in nine of ten questions, whatever is asked.",
        consequence="The accuracy is the share of questions whose answer happens to be that "
        "letter.",
        look=look.single_letter_answers,
    ),
    _RunCheck(
        id="below-guessing",
        severity="meaning",
        holds="no accuracy is so far below guessing that luck cannot explain it",
        says="The accuracy is further below guessing than luck explains (less than 1 in 10,000).",
        consequence="A likely cause is that letters were missing or in another form. Check the "
        "extracted answers.",
        look=look.accuracy_below_guessing,
    ),
    _RunCheck(
        id="own-drafts",
        severity="caution",
        holds="no model is graded on items that it drafted itself",
        says="A model answered items that it had drafted itself, whoever accepted or corrected "
        "them.",
        consequence="What a person kept of a draft is the model's own answer, so the values favour "
        "it against models that drafted nothing. Compare on other items.",
        look=look.answered_own_drafts,
    ),
    _RunCheck(
        id="served-model",
        severity="caution",
        holds="the server reports one model under each name",
        says="The server reported several models under one name while it answered.",
        consequence="The values mix the answers of different models. Run the items again with "
        "another --label and --out.",
        look=changed_served_models,
    ),
    _RunCheck(
        id="same-answers",
        severity="conflict",
        holds="two models do not give the same wrong answers",
        says="Two models gave the same text to every open question, also where it is wrong.",
        consequence="One model answered under two names, or answers were copied.",
        look=look.same_answers,
    ),
    _RunCheck(
        id="same-rounds",
        severity="caution",
        holds="rounds differ",
        says="All rounds have the same answers.",
        consequence="The mean of the rounds equals one round, and their spread of 0 shows nothing.",
        look=look.same_rounds,
    ),
    _RunCheck(
        id="cr-without-precision",
        severity="meaning",
        holds="F1 is at least half of CR",
        says="F1 is less than half of CR: the answers contain much besides the correct characters.",
        consequence="CR does not penalise length. Read CharAcc of the strict protocol.",
        look=look.length_favoured,
    ),
    _RunCheck(
        id="one-sided",
        severity="caution",
        holds="a constant answer earns no more than chance",
        says="The value can be earned by one constant answer.",
        consequence="It does not show that the model used the image.",
        look=look.constant_answer_values,
    ),
    _RunCheck(
        id="unread-pairs",
        severity="caution",
        holds="an answer can be extracted for every pair of a ranking",
        says="Pairs of a ranking have no answer, or none that can be extracted.",
        consequence="These pairs rank last, so the value shows the form of the answers more than "
        "the model's choice. Look at the answers, and check the prompt and the failures.",
        look=look.unread_pairs,
    ),
)
