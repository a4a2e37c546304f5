"""Tasks of pairs: metrics of the ranking that the answers to all pairs of an item make."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from keju.items import AnswerForm, Protocol
from keju.metrics.ranking import (
    accuracy_at,
    auc,
    average_precision,
    average_precision_of_yes,
    precision_at,
    recall_at,
)
from keju.scoring.metric import Preparation, RankingMetric, register
from keju.scoring.preparations import NO_TEXT

if TYPE_CHECKING:
    from keju.scoring.rankings import Gallery


def _ranked(name: str, protocol: Protocol) -> Preparation:
    return Preparation(name, NO_TEXT, lambda gallery: (gallery.ranking(protocol),))


def _yeses(gallery: Gallery) -> tuple[list[bool | None], list[int]]:
    """What `official` takes as said of each candidate, and the right ones."""
    said = [None if value is None else value > 0 for value in gallery.values("official")]
    return said + [False] * (gallery.candidates - gallery.asked), gallery.relevant


def _register(
    rules: dict[str, tuple[Callable[..., float], str]],
    form: AnswerForm,
    prepare: Preparation,
    **about: Any,  # noqa: ANN401 - fields of a metric
) -> None:
    for name, (function, rule) in rules.items():
        register(
            RankingMetric(
                name=name, form=form, prepare=prepare, function=function, rule=rule, **about
            )
        )


_among = partial(partial, accuracy_at)
_first = "1 if a right candidate is among the first {}, ties by expectation".format
_OBI = {
    "protocol": "official",
    "benchmark": "OBI-Bench",
    "source": "the paper's tables, our reading",
}
_STRICT = {"protocol": "strict", "source": "keju"}
_YES_NO = _ranked("first-yes-no", "official")

_register(
    {
        "Acc@1": (_among(k=1), "1 if a right candidate is first, ties by expectation"),
        "Acc@5": (_among(k=5), _first(5)),
        "Acc@10": (_among(k=10), _first(10)),
        "Recall@1": (
            partial(recall_at, k=1),
            "share of the right candidates that is ranked first; 4 are right, so .25 at most",
        ),
        "Recall@3": (partial(recall_at, k=3), "share of the right candidates among the first 3"),
        "Recall@10": (partial(recall_at, k=10), "share of the right candidates among the first 10"),
        "mAP@5": (
            partial(precision_at, k=5),
            "right candidates among the first 5 / 5, which agrees with the printed values",
        ),
    },
    "probability",
    _ranked("one-probability", "official"),
    **_OBI,
)
_register(
    {
        "Acc@5": (
            _among(k=5),
            "1 if a right candidate is among the first 5, Yes before No, ties by expectation",
        )
    },
    "yes-no",
    _YES_NO,
    **_OBI,
)
_register(
    {
        "mAP@|Yes|": (
            average_precision_of_yes,
            "average precision within the candidates answered Yes, their order by expectation",
        )
    },
    "yes-no",
    _YES_NO._replace(given=_yeses),
    **_OBI,
)

_BOTH: dict[str, tuple[Callable[..., float], str]] = {
    "AP": (average_precision, "average precision over all candidates, ties by expectation"),
    "AUC": (
        auc,
        "area under the ROC curve: how often a right candidate is ranked above a wrong one; a tie "
        "counts half",
    ),
}
_register(
    {"Acc@1": (_among(k=1), "1 if a right candidate is first, ties by expectation"), **_BOTH},
    "probability",
    _ranked("one-probability", "strict"),
    **_STRICT,
)
_register(
    {
        "Acc@1": (
            _among(k=1),
            "1 if a right candidate is first, Yes before No, ties by expectation",
        ),
        **_BOTH,
    },
    "yes-no",
    _ranked("yes-no", "strict"),
    **_STRICT,
)
