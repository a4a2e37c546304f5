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
from keju.texts import _


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
        holds=_("every response has its scores, and every score its response"),
        says=_("Responses and scores do not match."),
        consequence=_("The numbers are of another state of the run. Score it again."),
        look=look.unscored_responses,
    ),
    _RunCheck(
        id="values",
        severity="error",
        holds=_("an item's value is what its own sums give"),
        says=_(
            "The value of an item is not the quotient of its sums, from which tasks and intervals "
            "are computed."
        ),
        consequence=_("The file of scores was changed or damaged. Score the run again."),
        look=look.wrong_values,
    ),
    _RunCheck(
        id="whole-tasks",
        severity="caution",
        holds=_("every item of a task is asked"),
        says=_("The run has fewer items or images of some tasks than the benchmark."),
        consequence=_(
            "They are a sample of the benchmark, or other data. State this next to "
            "published values."
        ),
        look=look.incomplete_tasks,
    ),
    _RunCheck(
        id="whole-means",
        severity="caution",
        holds=_("a mean over domains is over all their tasks"),
        says=_("OverAll is a mean of only some tasks."),
        consequence=_(
            "It is not the benchmark's OverAll. Two models can be compared only if both "
            "lack the same tasks."
        ),
        look=look.incomplete_means,
    ),
    _RunCheck(
        id="failures",
        severity="caution",
        holds=_("at most one request in twenty fails"),
        says=_("More than one request in twenty brought no answer."),
        consequence=_(
            "Failures count as the worst value, so the task's number reflects the service, "
            "not the model. Run again with --retry-failed, or read the values without failures."
        ),
        look=look.many_failures,
    ),
    _RunCheck(
        id="error-texts",
        severity="caution",
        holds=_("no answer looks like the error text of a program"),
        says=_("Responses that were scored as answers look like the error texts of a program."),
        consequence=_(
            "An error is not an answer, and a multiple-choice letter may have been read in "
            "it. Remove these answers from the file that was replayed, or run the items again."
        ),
        look=look.error_texts,
    ),
    _RunCheck(
        id="one-letter",
        severity="meaning",
        holds=_("the letter that is chosen depends on the question"),
        says=_("The same letter is chosen in nine of ten questions, whatever is asked."),
        consequence=_(
            "The accuracy is the share of questions whose answer happens to be that letter."
        ),
        look=look.single_letter_answers,
    ),
    _RunCheck(
        id="below-guessing",
        severity="meaning",
        holds=_("no accuracy is so far below guessing that luck cannot explain it"),
        says=_(
            "The accuracy is further below guessing than luck explains (less than 1 in 10,000)."
        ),
        consequence=_(
            "A likely cause is that letters were missing or in another form. Check the "
            "extracted answers."
        ),
        look=look.accuracy_below_guessing,
    ),
    _RunCheck(
        id="own-drafts",
        severity="caution",
        holds=_("no model is graded on items that it drafted itself"),
        says=_(
            "A model answered items that it had drafted itself, whoever accepted or corrected them."
        ),
        consequence=_(
            "What a person kept of a draft is the model's own answer, so the values favour "
            "it against models that drafted nothing. Compare on other items."
        ),
        look=look.answered_own_drafts,
    ),
    _RunCheck(
        id="served-model",
        severity="caution",
        holds=_("the server reports one model under each name"),
        says=_("The server reported several models under one name while it answered."),
        consequence=_(
            "The values mix the answers of different models. Run the items again with "
            "another --label and --out."
        ),
        look=changed_served_models,
    ),
    _RunCheck(
        id="same-answers",
        severity="conflict",
        holds=_("two models do not give the same wrong answers"),
        says=_("Two models gave the same text to every open question, also where it is wrong."),
        consequence=_("One model answered under two names, or answers were copied."),
        look=look.same_answers,
    ),
    _RunCheck(
        id="same-rounds",
        severity="caution",
        holds=_("rounds differ"),
        says=_("All rounds have the same answers."),
        consequence=_(
            "The mean of the rounds equals one round, and their spread of 0 shows nothing."
        ),
        look=look.same_rounds,
    ),
    _RunCheck(
        id="cr-without-precision",
        severity="meaning",
        holds=_("F1 is at least half of CR"),
        says=_(
            "F1 is less than half of CR: the answers contain much besides the correct characters."
        ),
        consequence=_("CR does not penalise length. Read CharAcc of the strict protocol."),
        look=look.length_favoured,
    ),
    _RunCheck(
        id="one-sided",
        severity="caution",
        holds=_("a constant answer earns no more than chance"),
        says=_("The value can be earned by one constant answer."),
        consequence=_("It does not show that the model used the image."),
        look=look.constant_answer_values,
    ),
    _RunCheck(
        id="unread-pairs",
        severity="caution",
        holds=_("an answer can be extracted for every pair of a ranking"),
        says=_("Pairs of a ranking have no answer, or none that can be extracted."),
        consequence=_(
            "These pairs rank last, so the value shows the form of the answers more than "
            "the model's choice. Look at the answers, and check the prompt and the failures."
        ),
        look=look.unread_pairs,
    ),
)
