"""`LabelledSide`: one run of a history with the scores of one model in one prompt variant."""

from __future__ import annotations

from typing import NamedTuple

from keju.analysis.comparison_sides import HASH, SideChoice, list_variants
from keju.analysis.score_sources import ScoreSource
from keju.errors import UsageError
from keju.items import PromptVariant, Protocol, Score, variant_of
from keju.messages import both, listed, message


class LabelledSide(NamedTuple):
    """The scores under one protocol of one model of a run, in one prompt variant."""

    run: ScoreSource
    model: str
    variant: PromptVariant
    scores: list[Score]


def only_side(run: ScoreSource, wanted: SideChoice, protocol: Protocol) -> LabelledSide:
    """The side of a run with its only model and prompt variant, or with the wanted ones.

    Raises:
        UsageError: the run does not have the model or variant, or has several that fit.
        DataError: a file of the run is damaged.
    """
    known = list(run.manifest().models)
    if wanted.model and wanted.model not in known:
        raise UsageError(
            message("analysis.no-model", path=run.path, name=wanted.model, known=listed(known))
        )
    if not wanted.model and len(known) != 1:
        raise UsageError(message("analysis.name-one-model", path=run.path, known=listed(known)))
    model, given = wanted.model or known[0], wanted.variant(0)
    found: dict[PromptVariant, list[Score]] = {}
    for score in run.scores(model):
        if score.protocol == protocol:
            found.setdefault(variant_of(score), []).append(score)
    fitting = [
        variant
        for variant in found
        if all(
            want in ("", part, HASH.sub("", part))
            for want, part in zip(given, variant, strict=True)
        )
    ]
    if not fitting:
        asked = both(filter(None, given)) or message("analysis.any-setting")
        raise UsageError(
            message(
                "analysis.no-answers-in", path=run.path, model=model, asked=asked,
                known=list_variants(found),
            )
        )  # fmt: skip
    if len(fitting) > 1:
        raise UsageError(
            message(
                "analysis.several-variants", path=run.path, model=model,
                known=list_variants(fitting),
            )
        )  # fmt: skip
    return LabelledSide(run, model, fitting[0], found[fitting[0]])
