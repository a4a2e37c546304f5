"""MCS-Bench, `official`: what the authors' script does, quirks included."""

from __future__ import annotations

from functools import partial

from keju.benchmarks.mcs_bench import BENCHMARK, texts
from keju.benchmarks.mcs_bench.script import official_entities_prf, official_punctuation_prf
from keju.benchmarks.mcs_bench.segmentation import words
from keju.metrics import (
    PRF,
    EditCounts,
    UndefinedMetricError,
    accurate_rate,
    correct_rate,
    normalised_distance,
    rouge_l,
    rouge_n,
    sentence_bleu,
    set_prf,
)
from keju.metrics.base import TooLongError
from keju.scoring.metric import Preparation, declare
from keju.scoring.metric_value import MetricValue, mean
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.semantic import first_token_cosine

# jieba's time grows with the square of a run of characters that are in no word of its dictionary.
_LONGEST_CUT = 20_000

_CLEANED = (
    "letters, digits, ideographs are kept on both sides; then the response alone is made "
    "simplified, by phrases (zhconv)"
)
_CONVERTED = "the response alone is made simplified, by phrases (zhconv)"
CLEANED = Preparation("clean>convert", _CLEANED, texts.cleaned_pair)
CLEANED_WITH_ANSWER = CLEANED._replace(inputs=texts.cleaned_with_answer)
CLEANED_CHARACTERS = CLEANED_WITH_ANSWER._replace(name="clean>convert>chars")
EDITS = CLEANED._replace(inputs=lambda sample: (texts.edits(sample),))
CONTAINED = CLEANED._replace(
    inputs=lambda sample: (texts.simplified_answer(sample), texts.cleaned(sample))
)
CONVERTED = Preparation("convert", f"{_CONVERTED}; nothing is removed", texts.converted_pair)
CHARACTERS = CONVERTED._replace(name="convert>chars", inputs=texts.unspaced_pair)
WORDS = Preparation(
    "convert>jieba", f"{_CONVERTED}; both are cut into words (jieba)", texts.converted_pair
)

_official = partial(
    declare, protocol="official", benchmark=BENCHMARK, source="the authors' scoring script"
)
_ocr = partial(_official, form="transcription", prepare=CLEANED_WITH_ANSWER)
_text = partial(_official, form="text", prepare=CHARACTERS)
_punctuated = partial(_official, form="punctuated", prepare=CONVERTED)
_entities = partial(_official, form="entities", prepare=CONVERTED)


@_ocr(
    "AR",
    "1 - edits / true characters; below 0 where edits outnumber them",
    prepare=EDITS,
)
def cleaned_accurate_rate(counts: EditCounts) -> MetricValue:
    """AR of the cleaned texts."""
    return mean(accurate_rate(counts), **counts._asdict())


@_ocr(
    "CR",
    "share of the true characters kept along the edit path of the authors' script; added "
    "characters cost nothing",
    prepare=EDITS,
)
def cleaned_correct_rate(counts: EditCounts) -> MetricValue:
    """CR of the cleaned texts."""
    return mean(correct_rate(counts), **counts._asdict())


@_ocr(
    "Edit_Distance",
    "edit distance / the longer length",
    prepare=CLEANED,
    worst=1.0,
    higher_is_better=False,
)
def edit_distance(reference: str, response: str) -> float:
    """Normalised edit distance of the cleaned texts."""
    return normalised_distance(reference, response)


@_ocr("Recall", "recall of the sets of distinct characters", part="recall")
@_ocr("Precision", "precision of the sets of distinct characters", part="precision")
@_ocr("F1", "F1 of the sets of distinct characters; order and number do not count", part="f1")
def set_rates(reference: str, response: str) -> PRF:
    """Rates over sets of characters."""
    return set_prf(reference, response)


@_ocr("BLEU", "BLEU-4 of characters, method-1 smoothing", prepare=CLEANED_CHARACTERS)
def bleu_of_characters(reference: str, response: str) -> float:
    """BLEU over the characters of the cleaned texts, method-1 smoothing."""
    return sentence_bleu(reference, response)


@_text("BLEU", "BLEU-4 of words, method-4 smoothing", prepare=WORDS)
def bleu_of_words(reference: str, response: str) -> float:
    """BLEU over jieba's words, method-4 smoothing."""
    if max(len(reference), len(response)) > _LONGEST_CUT:
        error = UndefinedMetricError if len(reference) > _LONGEST_CUT else TooLongError
        raise error(f"longer than {_LONGEST_CUT:,} characters, too long for jieba")
    return sentence_bleu(words(reference), words(response), smoothing="method4")


@_text("ROUGE-1", "F1 of characters")
def rouge_1(reference: str, response: str) -> float:
    """F1 of characters."""
    return rouge_n(reference, response, 1).f1


@_text("ROUGE-2", "F1 of pairs of characters")
def rouge_2(reference: str, response: str) -> float:
    """F1 of pairs of characters."""
    return rouge_n(reference, response, 2).f1


@_text("ROUGE-L", "F1 of the longest common subsequence")
def rouge_longest(reference: str, response: str) -> float:
    """F1 of the longest common subsequence."""
    return rouge_l(reference, response).f1


@_text("ANLS", "1 - edit distance / the longer length, no threshold", prepare=CONVERTED)
def anls(reference: str, response: str) -> float:
    """ANLS as the script computes it: 1 where both texts are empty, for which it returns early."""
    return 1 - normalised_distance(reference, response) if reference or response else 1.0


@_punctuated(
    "Recall",
    "right pairs in the answer, repeats included / true marks; can be above 1",
    part="recall",
)
@_punctuated(
    "Precision",
    "share of the marks in the answer whose pair occurs anywhere in the true text",
    part="precision",
)
@_punctuated(
    "F1",
    "F1 of punctuation marks, each with the character before it; a right pair counts each time it "
    "is repeated, so the value can be above 1",
    part="f1",
)
def punctuation_rates(reference: str, response: str) -> PRF:
    """Rates of marks with the character before them; recall and F1 can pass 1."""
    return official_punctuation_prf(reference, response)


@_entities("Recall", "recall of sets of names, split at 、 only", part="recall")
@_entities("Precision", "precision of sets of names, split at 、 only", part="precision")
@_entities("F1", "F1 of sets of names, split at 、 only and compared as written", part="f1")
def entity_rates(reference: str, response: str) -> PRF:
    """Rates of names."""
    return official_entities_prf(reference, response)


@_official(
    "Acc",
    "1 if the letter of the right option occurs anywhere in the response",
    form="letter",
    prepare=CONTAINED,
)
@_official(
    "Acc",
    "1 if the true answer occurs anywhere in the response",
    form="short",
    prepare=CONTAINED,
)
def contains_answer(reference: str, response: str) -> float:
    """1 if the response, cleaned and converted, contains the answer unchanged."""
    return float(reference in response)


def _pair(sample: ScoringSample) -> tuple[str, str]:
    """Candidate and reference."""
    return texts.converted(sample), texts.simplified_answer(sample)


CANDIDATE_AND_ANSWER = CONVERTED._replace(inputs=_pair)

_encoded = partial(_text, prepare=CANDIDATE_AND_ANSWER, encoder="chinese-bert-wwm")
_encoded(
    "BERTScore",
    "cosine of the mean first-token vectors of blocks of 512 tokens, which is not BERTScore; "
    "unrelated text gets about half",
)(first_token_cosine)
_encoded("Avg", "mean of BERTScore and ANLS", beside="ANLS")(first_token_cosine)
