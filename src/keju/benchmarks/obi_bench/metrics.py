"""OBI-Bench, `official`: our reading of the paper and of its tables; no scorer was published.

Section 3.4 defines mean average precision, Table 5 prints "mAP@5". Its values are multiples of
0.02 with the ceiling of precision at 5 where 4 are relevant, so they are read as precision at 5.
Both are metrics: `mAP` is what the text defines, `Precision@5` what the table fits. There is no
formula of mAP@|Yes|, which is read as the mean of the average precision within the candidates
answered yes, and no rule for Where, whose boxes are matched one to one.
"""

from __future__ import annotations

from functools import partial

from keju.metrics.boxes import mean_iou
from keju.metrics.ranking import (
    accuracy_at,
    average_precision,
    average_precision_of_yes,
    precision_at,
    recall_at,
)
from keju.scoring.metric import declare
from keju.scoring.preparations import (
    CANDIDATE_AS_IT_IS,
    FIRST_YES_NO,
    OFFICIAL_BOXES,
    OFFICIAL_NUMBER,
    ranking_preparation,
)
from keju.scoring.rankings import Gallery
from keju.scoring.semantic import (
    sentence_cosine,
    token_match_f1_above_floor,
    token_match_f1_rescaled,
)
from keju.scoring.strict import (
    ANSWER_ONCE,
    FIRST,
    matched_above_floor,
    relative_error,
    right_polarity,
)

_BENCHMARK = "OBI-Bench"
_SOURCE = "the paper's tables, our reading"
_official = partial(declare, protocol="official", benchmark=_BENCHMARK, source=_SOURCE)
_encoded = partial(_official, form="text", prepare=CANDIDATE_AS_IT_IS)

_official(
    "Acc",
    "1 if the extracted word (yes or no) is the reference",
    rule_zh="提取的词（是或否）与参考答案相同，即得 1",
    form="yes-no",
    prepare=FIRST_YES_NO,
)(right_polarity)
_official(
    "MRE",
    "relative error of the count, without an upper bound; an answer without a number is an error "
    "of 1",
    rule_zh="计数的相对误差，没有上限；没有数字的回答误差为 1",
    form="number",
    prepare=OFFICIAL_NUMBER,
    worst=1.0,
    higher_is_better=False,
)(relative_error)
_official(
    "mIoU",
    "sum of the IoU of boxes matched one to one / the greater number of boxes",
    rule_zh="一一配对的框的 IoU 之和，除以两边中较多的框数",
    form="boxes",
    prepare=OFFICIAL_BOXES,
)(mean_iou)

_encoded(
    "cosine",
    "cosine of sentence vectors; unrelated Chinese texts get more than 0",
    rule_zh="句向量的余弦；无关的中文文本也高于 0",
    encoder="minilm",
)(sentence_cosine)
_encoded(
    "BERTScore",
    "BERTScore F1 by token matching, rescaled by its published baseline",
    rule_zh="逐词元匹配的 BERTScore F1，按其发布的基线重新标度",
    encoder="roberta-large",
)(token_match_f1_rescaled)
matched_above_floor(benchmark=_BENCHMARK, encoder="roberta-large", prepare=ANSWER_ONCE)(
    token_match_f1_above_floor
)

_of_probabilities = partial(
    _official,
    form="probability",
    prepare=ranking_preparation("one-probability", "official"),
    of_pairs=True,
)
_of_yes_no = partial(
    _official,
    form="yes-no",
    prepare=ranking_preparation("first-yes-no", "official"),
    of_pairs=True,
)


def _yes_answers(gallery: Gallery) -> tuple[list[bool | None], list[int]]:
    """Whether `official` reads a yes for each candidate, and the right ones."""
    values = gallery.values("official")
    return [None if value is None else value > 0 for value in values], gallery.relevant


_of_probabilities("Acc@1", FIRST)(partial(accuracy_at, k=1))
for k in (5, 10):
    _of_probabilities(
        f"Acc@{k}",
        f"1 if a right candidate is among the first {k}, ties get the expected value",
    )(partial(accuracy_at, k=k))
_of_probabilities(
    "Recall@1",
    "share of the right candidates that is ranked first; 4 are right, so .25 at most",
    rule_zh="正确的候选中排在第一的比例；正确的有 4 个，所以最多 0.25",
)(partial(recall_at, k=1))
for k in (3, 10):
    _of_probabilities(
        f"Recall@{k}",
        f"share of the right candidates among the first {k}",
        rule_zh=f"正确的候选中排在前 {k} 者的比例",
    )(partial(recall_at, k=k))
_of_probabilities(
    "Precision@5",
    "number of right candidates among the first 5, divided by 5, which fits what the paper prints "
    "as mAP@5; ties get the expected value",
    rule_zh=("前 5 个候选中正确的个数除以 5，与论文以 mAP@5 之名所载的数值相符；并列取期望值"),
)(partial(precision_at, k=5))
_of_probabilities(
    "mAP",
    "mean average precision over all candidates, which section 3.4 of the paper names; ties get "
    "the expected value",
    rule_zh="全部候选的平均精度均值，即论文 3.4 节所称的 mAP；并列取期望值",
)(average_precision)
_of_yes_no(
    "Acc@5",
    "1 if a right candidate is among the first 5, Yes before No, ties get the expected value",
    rule_zh="前 5 个候选中有正确的，即得 1；回答“是”的在前，并列取期望值",
)(partial(accuracy_at, k=5))
_of_yes_no(
    "mAP@|Yes|",
    "average precision within the candidates answered Yes, ties get the expected value",
    rule_zh="回答“是”的候选之内的平均精度，其顺序取期望值",
    prepare=ranking_preparation("first-yes-no", "official")._replace(inputs=_yes_answers),
)(average_precision_of_yes)
