"""Metrics of the protocol `strict`: the sound reading."""

from __future__ import annotations

from keju.metrics import (
    EditCounts,
    ErrorParts,
    UndefinedMetricError,
    chrf_counts,
    chrf_of_counts,
    distance,
    error_parts,
    flexible_edits,
    prf,
    sentence_bleu,
)
from keju.scoring.case import Case
from keju.scoring.measured import Measured, mean, ratio
from keju.scoring.short import same_short
from keju.text import LAYERS


def error_rate(case: Case) -> Measured:
    """CER at the last layer, with edits and length at each layer (`edits_exact` …)."""
    stats = {}
    for layer in LAYERS:
        pair = case.pairs[layer]
        stats[f"edits_{layer}"] = distance(*pair)
        stats[f"length_{layer}"] = len(pair.reference)
    _counts(case)
    edits, length = stats["edits_script"], stats["length_script"]
    return ratio(edits, length, edits / length, **stats)


def character_accuracy(case: Case) -> Measured:
    """1 - min(1, CER): bounded, higher is better."""
    counts = _counts(case)
    return mean(1 - min(1.0, counts.distance / counts.expected))


def recognition_error(case: Case) -> Measured:
    """Bag-of-characters error: CER if the characters read could stand in any order."""
    parts = _parts(case)
    return ratio(parts.recognition, parts.expected, parts.recognition_error)


def layout_error(case: Case) -> Measured:
    """CER minus the recognition error."""
    parts = _parts(case)
    return ratio(parts.layout, parts.expected, parts.layout_error)


def flexible_accuracy(case: Case) -> Measured:
    """Flexible character accuracy of the lines, at the last layer (`keju.metrics.flexible`)."""
    _counts(case)
    return mean(flexible_edits(*case.lines).accuracy)


def aligned_precision(case: Case) -> Measured:
    """Share of the characters read that match the truth in the alignment with most matches."""
    counts = _counts(case)
    return _rate(counts.matches, counts.predicted)


def aligned_recall(case: Case) -> Measured:
    """Share of the true characters that are matched."""
    counts = _counts(case)
    return _rate(counts.matches, counts.expected)


def aligned_f1(case: Case) -> Measured:
    """F1 of both."""
    counts = _counts(case)
    return _f1(counts.matches, counts.predicted, counts.expected)


def _parts(case: Case) -> ErrorParts:
    _counts(case)
    return error_parts(*case.pairs["script"])


def _counts(case: Case) -> EditCounts:
    """The edits of a transcription whose truth has anything to read."""
    if not case.best_counts.expected:
        raise UndefinedMetricError("the true text has no character that counts")
    return case.best_counts


def right_letter(case: Case) -> Measured:
    """1 if the one option that was taken is the right one; unparsable is wrong."""
    return mean(float(case.taken.answer == case.truth.strip().upper()))


def right_letter_above_chance(case: Case) -> Measured:
    """Right 1, wrong -1/(k-1) for k options, no answer 0: chance and silence both earn 0."""
    offered = len(case.options)
    if offered < 2:
        raise UndefinedMetricError("the number of options is not known")
    if case.taken.answer is None:
        return mean(0.0)
    return mean(1.0 if case.taken.answer == case.truth.strip().upper() else -1 / (offered - 1))


def exact_match(case: Case) -> Measured:
    """1 if the short answer is the true one or an accepted one, numbers by value."""
    accepted = (case.truth, *case.item.also_accepted)
    readings = case.taken.readings
    return mean(float(any(same_short(each, said) for each in accepted for said in readings)))


def marks_precision(case: Case) -> Measured:
    """Share of the predicted marks that are right."""
    return _rate(case.marks.hits, case.marks.predicted)


def marks_recall(case: Case) -> Measured:
    """Share of the true marks that were set."""
    return _rate(case.marks.hits, case.marks.expected)


def marks_f1(case: Case) -> Measured:
    """F1 of marks over all items of the task together."""
    return _f1(*case.marks)


def marks_f1_macro(case: Case) -> Measured:
    """F1 of marks, averaged over items."""
    return mean(_f1(*case.marks).value)


def names_precision(case: Case) -> Measured:
    """Share of the predicted names that are right."""
    truth, found = case.names
    return _rate(len(truth & found), len(found))


def names_recall(case: Case) -> Measured:
    """Share of the true names that were found."""
    truth, found = case.names
    return _rate(len(truth & found), len(truth))


def names_f1(case: Case) -> Measured:
    """F1 of names over all items of the task together."""
    truth, found = case.names
    return _f1(len(truth & found), len(found), len(truth))


def names_f1_macro(case: Case) -> Measured:
    """F1 of names, averaged over items."""
    return mean(names_f1(case).value)


def chrf_of_characters(case: Case) -> Measured:
    """Mean sentence chrF over runs of 2 to 6 characters.

    Single characters are left out, since a text read backwards has them all and would earn a
    sixth; they count only where the truth is a single character.
    """
    counts = chrf_counts(*case.strict_texts)
    return mean(chrf_of_counts(counts[1:] if counts[1].expected else counts))


def bleu_of_characters(case: Case) -> Measured:
    """Mean sentence BLEU over characters, white space left out, method-1 smoothing."""
    truth, text = ("".join(each.split()) for each in case.strict_texts)
    return mean(sentence_bleu(truth, text))


def _rate(hits: int, total: int) -> Measured:
    return ratio(hits, total, hits / total if total else 0.0)


def _f1(hits: int, predicted: int, expected: int) -> Measured:
    """F1 as a ratio of sums; nothing predicted where nothing was to be found is right."""
    value = prf(hits, predicted, expected).f1 if predicted or expected else 1.0
    return ratio(
        2 * hits, predicted + expected, value, hits=hits, predicted=predicted, expected=expected
    )
