"""Tasks of pairs: metrics of the ranking that the answers to all pairs of an item make."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from keju.items import AnswerForm, Protocol
from keju.metrics.ranking import (
    accuracy_at,
    auc,
    average_precision,
)
from keju.scoring.gallery import Gallery
from keju.scoring.metric import Preparation, RankingMetric, register
from keju.scoring.preparations import NO_TEXT


def ranking_preparation(name: str, protocol: Protocol) -> Preparation:
    """The ranking of a gallery, as a protocol reads the answers.

    Args:
        name: of the preparation, in signatures.
        protocol: which of the two.
    """
    return Preparation(name, NO_TEXT, lambda gallery: (gallery.ranking(protocol),))


def yes_answers(gallery: Gallery) -> tuple[list[bool | None], list[int]]:
    """Whether `official` reads a yes for each candidate, and the right ones."""
    values = gallery.values("official")
    return [None if value is None else value > 0 for value in values], gallery.relevant


def register_rankings(
    rules: dict[str, tuple[Callable[..., float], str]],
    form: AnswerForm,
    prepare: Preparation,
    **about: Any,  # noqa: ANN401 - fields of a metric
) -> None:
    """Add metrics of rankings: for each name the function and the rule, which share the rest."""
    for name, (function, rule) in rules.items():
        register(
            RankingMetric(
                name=name, form=form, prepare=prepare, function=function, rule=rule, **about
            )
        )


among_first = "1 if a right candidate is among the first {}, ties get the expected value".format
"""The rule of the accuracy at a rank after the first."""

_STRICT = {"protocol": "strict", "source": "keju"}

_BOTH: dict[str, tuple[Callable[..., float], str]] = {
    "AP": (average_precision, "average precision over all candidates, ties get the expected value"),
    "AUC": (
        auc,
        "area under the ROC curve: how often a right candidate is ranked above a wrong one; a tie "
        "counts half",
    ),
}
register_rankings(
    {
        "Acc@1": (
            partial(accuracy_at, k=1),
            "1 if a right candidate is first, ties get the expected value",
        ),
        **_BOTH,
    },
    "probability",
    ranking_preparation("one-probability", "strict"),
    **_STRICT,
)
register_rankings(
    {
        "Acc@1": (
            partial(accuracy_at, k=1),
            "1 if a right candidate is first, Yes before No, ties get the expected value",
        ),
        **_BOTH,
    },
    "yes-no",
    ranking_preparation("yes-no", "strict"),
    **_STRICT,
)
