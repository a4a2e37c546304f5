"""OBI-Bench, `official`: our reading of the paper and of its tables; no scorer was published.

Section 3.4 defines mean average precision, Table 5 prints "mAP@5". Its values are multiples of
0.02 with the ceiling of precision at 5 where 4 are relevant, so they are read as precision at 5.
Both are metrics: `mAP` is what the text defines, `Precision@5` what the table fits. There is no
formula of mAP@|Yes|, which is read as the mean of the average precision within the candidates
answered yes, and no rule for Where, whose boxes are matched one to one.
"""

from __future__ import annotations

from functools import partial

from keju.metrics.ranking import (
    accuracy_at,
    average_precision,
    average_precision_of_yes,
    precision_at,
    recall_at,
)
from keju.scoring.declared.detection import (
    FIRST_YES_NO,
    OFFICIAL_BOXES,
    OFFICIAL_NUMBER,
    mean_overlap,
    relative_error,
    right_polarity,
)
from keju.scoring.declared.pairs import (
    among_first,
    ranking_preparation,
    register_rankings,
    yes_answers,
)
from keju.scoring.declared.text import floor_matched
from keju.scoring.metric import EncoderMetric, declare, register
from keju.scoring.semantic import CANDIDATE_AS_IT_IS, sentence_cosine, token_match_f1_rescaled

_BENCHMARK = "OBI-Bench"
_SOURCE = "the paper's tables, our reading"
_official = partial(declare, protocol="official", benchmark=_BENCHMARK, source=_SOURCE)
_encoded = partial(
    EncoderMetric,
    form="text",
    protocol="official",
    benchmark=_BENCHMARK,
    prepare=CANDIDATE_AS_IT_IS,
    source=_SOURCE,
)

_official(
    "Acc",
    "1 if the extracted word (yes or no) is the reference",
    form="yes-no",
    prepare=FIRST_YES_NO,
)(right_polarity)
_official(
    "MRE",
    "relative error of the count, without an upper bound; an answer without a number is an error "
    "of 1",
    form="number",
    prepare=OFFICIAL_NUMBER,
    worst=1.0,
    higher_is_better=False,
)(relative_error)
_official(
    "mIoU",
    "sum of the IoU of boxes matched one to one / the greater number of boxes",
    form="boxes",
    prepare=OFFICIAL_BOXES,
)(mean_overlap)

register(
    _encoded(
        name="cosine",
        encoder="minilm",
        function=sentence_cosine,
        rule="cosine of sentence vectors; unrelated Chinese texts get more than 0",
    )
)
register(
    _encoded(
        name="BERTScore",
        encoder="roberta-large",
        function=token_match_f1_rescaled,
        rule="BERTScore F1 by token matching, rescaled by its published baseline",
    )
)
register(floor_matched(benchmark=_BENCHMARK))

_rankings = partial(register_rankings, protocol="official", benchmark=_BENCHMARK, source=_SOURCE)
_rankings(
    {
        "Acc@1": (
            partial(accuracy_at, k=1),
            "1 if a right candidate is first, ties get the expected value",
        ),
        "Acc@5": (partial(accuracy_at, k=5), among_first(5)),
        "Acc@10": (partial(accuracy_at, k=10), among_first(10)),
        "Recall@1": (
            partial(recall_at, k=1),
            "share of the right candidates that is ranked first; 4 are right, so .25 at most",
        ),
        "Recall@3": (partial(recall_at, k=3), "share of the right candidates among the first 3"),
        "Recall@10": (partial(recall_at, k=10), "share of the right candidates among the first 10"),
        "Precision@5": (
            partial(precision_at, k=5),
            "number of right candidates among the first 5, divided by 5, which fits what the paper "
            "prints as mAP@5; ties get the expected value",
        ),
        "mAP": (
            average_precision,
            "mean average precision over all candidates, which section 3.4 of the paper names; "
            "ties get the expected value",
        ),
    },
    "probability",
    ranking_preparation("one-probability", "official"),
)
_YES_NO = ranking_preparation("first-yes-no", "official")
_rankings(
    {
        "Acc@5": (
            partial(accuracy_at, k=5),
            "1 if a right candidate is among the first 5, Yes before No, ties get the expected "
            "value",
        )
    },
    "yes-no",
    _YES_NO,
)
_rankings(
    {
        "mAP@|Yes|": (
            average_precision_of_yes,
            "average precision within the candidates answered Yes, ties get the expected value",
        )
    },
    "yes-no",
    _YES_NO._replace(inputs=yes_answers),
)
