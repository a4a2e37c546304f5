"""MCS-Bench's metrics as its paper prints them, where its script computes something else.

They are named variants for a comparison of the two; no protocol uses them. All but BERTScore take
(reference, hypothesis), two texts prepared alike, and return 0 to 1.
"""

from __future__ import annotations

from functools import partial

from keju.benchmarks.mcs_bench import BENCHMARK, texts
from keju.benchmarks.mcs_bench.metrics import (
    CANDIDATE_AND_ANSWER,
    CHARACTERS,
    CLEANED_CHARACTERS,
    CONTAINED,
    CONVERTED,
    contains_answer,
)
from keju.definitions import choices_of
from keju.metrics import bleu_unsmoothed, distance, f_beta, rouge_l, rouge_n
from keju.scoring.metric import Metric
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.semantic import token_match_f1
from keju.scoring.variants import Variant, register_encoded_variant, register_variant


def bleu_eq5(reference: str, hypothesis: str) -> float:
    """MCS-Bench eqs. 5 and 6: BP x exp(sum of log p_n / 4), over characters, without smoothing.

    An order without a match makes it 0, so that texts of fewer than four characters earn nothing.
    """
    return bleu_unsmoothed(reference, hypothesis)


def rouge_1_recall(reference: str, hypothesis: str) -> float:
    """MCS-Bench eq. 11: the share of the reference's characters that are met."""
    return rouge_n(reference, hypothesis, 1).recall


def rouge_2_recall(reference: str, hypothesis: str) -> float:
    """MCS-Bench eq. 12: the share of the reference's pairs of characters."""
    return rouge_n(reference, hypothesis, 2).recall


def rouge_l_leaning(reference: str, hypothesis: str) -> float:
    """MCS-Bench eqs. 13 to 15: F of the longest common subsequence, beta 1.2."""
    return f_beta(rouge_l(reference, hypothesis), 1.2)


def anls_paper(reference: str, hypothesis: str) -> float:
    """The paper's eqs. 7, 8: max(0, 1 - NLD / len(reference)), NLD normalised already."""
    longer = max(len(reference), len(hypothesis))
    if not reference:
        return float(not hypothesis)
    return max(0.0, 1 - distance(reference, hypothesis) / longer / len(reference))


def anls_threshold(reference: str, hypothesis: str, *, threshold: float = 0.5) -> float:
    """Biten et al. 2019: the script's value where the normalised distance is under `threshold`."""
    longer = max(len(reference), len(hypothesis))
    normalised = distance(reference, hypothesis) / longer if longer else 0.0
    return 1 - normalised if normalised < threshold else 0.0


def reviewed_pair(sample: ScoringSample) -> tuple[str, str]:
    """Answer and response as the script compares them; after a review, the option that is chosen.

    The script counts "ABCD" as right, so the authors reviewed answers with several letters by hand
    (C.2). Here such an answer counts by the letter that is read or decided, as does every answer
    that people or a model decided. Which ones the authors reviewed is not published.
    """
    pair = CONTAINED.inputs(sample)
    letters = choices_of(sample.item) or "ABCDEF"
    if sample.decision is None and sum(letter in sample.text for letter in letters) < 2:
        return pair
    return sample.reference.strip().upper(), sample.reading.value


# ANLS_eq7 is eqs. 7 and 8; ANLS_biten is as Biten et al. have it (threshold .5).
_of_text = partial(Variant, benchmark=BENCHMARK, form="text", prepare=CHARACTERS)
_CONVERTED_CHARACTERS = CHARACTERS._replace(inputs=texts.converted_pair)
for each in (
    Variant(
        name="BLEU_eq5",
        benchmark=BENCHMARK,
        form="transcription",
        beside="BLEU",
        prepare=CLEANED_CHARACTERS,
        function=bleu_eq5,
    ),
    _of_text(name="BLEU_eq5", beside="BLEU", function=bleu_eq5, prepare=_CONVERTED_CHARACTERS),
    _of_text(name="ROUGE-1_recall", beside="ROUGE-1", function=rouge_1_recall),
    _of_text(name="ROUGE-2_recall", beside="ROUGE-2", function=rouge_2_recall),
    _of_text(name="ROUGE-L_beta1.2", beside="ROUGE-L", function=rouge_l_leaning),
    _of_text(name="ANLS_eq7", beside="ANLS", function=anls_paper, prepare=CONVERTED),
    _of_text(name="ANLS_biten", beside="ANLS", function=anls_threshold, prepare=CONVERTED),
    Variant(
        name="Acc_reviewed",
        benchmark=BENCHMARK,
        form="letter",
        beside="Acc",
        prepare=CONTAINED._replace(name="one letter", inputs=reviewed_pair),
        function=contains_answer,
    ),
):
    register_variant(each)

# C.2 and 3.2 name BERTScore (Zhang et al. 2020), F1 by token matching; the script computes another
# number. The paper names neither encoder, layer nor rescaling. Ours are bert-score's defaults for
# Chinese: bert-base-chinese, layer 8, not rescaled (our reading).
register_encoded_variant(
    Metric(
        name="BERTScore_zhang",
        form="text",
        protocol="official",
        benchmark=BENCHMARK,
        prepare=CANDIDATE_AND_ANSWER,
        encoder="bert-base-chinese",
        function=token_match_f1,
        rule="BERTScore F1 by token matching (Zhang et al. 2020), not rescaled",
        source="the paper's C.2; the encoder is our reading",
    ),
    beside="BERTScore",
)
