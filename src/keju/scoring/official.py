"""Metrics of the protocol `official`: what the authors' code or paper does, quirks included."""

from __future__ import annotations

from keju.metrics import (
    PRF,
    UndefinedMetricError,
    accurate_rate,
    anls_script,
    character_error_rate,
    chrf,
    correct_rate,
    distance,
    normalised_distance,
    official_entities_prf,
    official_punctuation_prf,
    position_prf,
    rouge_l,
    rouge_n,
    sentence_bleu,
    set_prf,
)
from keju.metrics.base import TooLongError
from keju.scoring.case import Case
from keju.scoring.measured import Measured, mean, ratio
from keju.scoring.words import words

# jieba's time grows with the square of a run of characters that are in no word of its dictionary.
_LONGEST_CUT = 20_000


def accurate(case: Case) -> Measured:
    """AR of the cleaned texts."""
    counts = case.official_counts
    return mean(accurate_rate(counts), **counts._asdict())


def correct(case: Case) -> Measured:
    """CR of the cleaned texts."""
    counts = case.official_counts
    return mean(correct_rate(counts), **counts._asdict())


def edit_distance(case: Case) -> Measured:
    """Normalised edit distance of the cleaned texts."""
    return mean(normalised_distance(*case.official_pair))


def set_precision(case: Case) -> Measured:
    """Precision over sets of characters."""
    return mean(_sets(case).precision)


def set_recall(case: Case) -> Measured:
    """Recall over sets of characters."""
    return mean(_sets(case).recall)


def set_f1(case: Case) -> Measured:
    """F1 over sets of characters."""
    return mean(_sets(case).f1)


def _sets(case: Case) -> PRF:
    case.require_answer()
    return set_prf(*case.official_pair)


def bleu_of_characters(case: Case) -> Measured:
    """BLEU over the characters of the cleaned texts, method-1 smoothing."""
    case.require_answer()
    return mean(sentence_bleu(*case.official_pair))


def bleu_of_words(case: Case) -> Measured:
    """BLEU over jieba's words, method-4 smoothing."""
    texts = (case.official_truth, case.official_text)
    if max(map(len, texts)) > _LONGEST_CUT:
        error = UndefinedMetricError if len(texts[0]) > _LONGEST_CUT else TooLongError
        raise error(f"longer than {_LONGEST_CUT:,} characters, too long for jieba")
    truth, text = map(words, texts)
    return mean(sentence_bleu(truth, text, smoothing="method4"))


def rouge_1(case: Case) -> Measured:
    """F1 of characters."""
    return mean(rouge_n(case.official_truth, case.official_unspaced, 1).f1)


def rouge_2(case: Case) -> Measured:
    """F1 of pairs of characters."""
    return mean(rouge_n(case.official_truth, case.official_unspaced, 2).f1)


def rouge_longest(case: Case) -> Measured:
    """F1 of the longest common subsequence."""
    return mean(rouge_l(case.official_truth, case.official_unspaced).f1)


def punctuation_precision(case: Case) -> Measured:
    """Precision of marks with the character before them."""
    return mean(_punctuation(case).precision)


def punctuation_recall(case: Case) -> Measured:
    """Recall of marks; it can pass 1."""
    return mean(_punctuation(case).recall)


def punctuation_f1(case: Case) -> Measured:
    """F1 of marks; it can pass 1."""
    return mean(_punctuation(case).f1)


def _punctuation(case: Case) -> PRF:
    return official_punctuation_prf(case.official_truth, case.official_text)


def entities_precision(case: Case) -> Measured:
    """Precision of names."""
    return mean(_entities(case).precision)


def entities_recall(case: Case) -> Measured:
    """Recall of names."""
    return mean(_entities(case).recall)


def entities_f1(case: Case) -> Measured:
    """F1 of names."""
    return mean(_entities(case).f1)


def _entities(case: Case) -> PRF:
    return official_entities_prf(case.official_truth, case.official_text)


def contained(case: Case) -> Measured:
    """1 if the response, cleaned and converted, contains the answer as it stands."""
    return mean(float(case.official_truth in case.official_cleaned))


def anls(case: Case) -> Measured:
    """ANLS as the script computes it."""
    return mean(anls_script(case.official_truth, case.official_text))


def error_rate(case: Case) -> Measured:
    """CER of the texts as they are (AncientDoc)."""
    pair = case.raw_pair
    value = character_error_rate(*pair)
    return mean(value, edits=distance(*pair), length=len(pair.reference))


def position_precision(case: Case) -> Measured:
    """Precision of characters at equal positions (AncientDoc)."""
    return mean(position_prf(*case.raw_pair).precision)


def position_recall(case: Case) -> Measured:
    """Recall of characters at equal positions (AncientDoc)."""
    return mean(position_prf(*case.raw_pair).recall)


def position_f1(case: Case) -> Measured:
    """F1 of one page; a task's is the harmonic mean of mean precision and mean recall."""
    rates = position_prf(*case.raw_pair)
    return ratio(rates.f1, 1, rates.f1, precision=rates.precision, recall=rates.recall)


def chrf_plus_plus(case: Case) -> Measured:
    """Sentence chrF++ of the texts as they are (sacrebleu, word order 2)."""
    return mean(chrf(*case.raw_pair, word_orders=2))
