"""The arguments of the functions of plug-ins' metrics, by answer form."""

from __future__ import annotations

from typing import Any

from keju.items import AnswerForm, Protocol
from keju.scoring.declared.choices import ONE_LETTER
from keju.scoring.declared.detection import (
    BOXES,
    FIRST_YES_NO,
    OFFICIAL_BOXES,
    OFFICIAL_NUMBER,
    ONE_NUMBER,
    YES_NO,
)
from keju.scoring.gallery import Gallery
from keju.scoring.metric import Preparation
from keju.scoring.preparations import AS_IT_IS, COUNTED, NAMES, NO_TEXT, RAW, SCRIPT
from keju.scoring.scoring_sample import ScoringSample
from keju.text import Pair, counted_pair


def _extracted(sample: ScoringSample) -> Pair:
    return Pair(sample.reference, sample.answer or "")


def _counted(sample: ScoringSample) -> Pair:
    return counted_pair(sample.reference, sample.answer or "")


def _floats(prepare: Preparation) -> Preparation:
    """The count as a float too."""

    def inputs(sample: ScoringSample) -> tuple[float, float | None]:
        truth, stated = prepare.inputs(sample)
        return truth, None if stated is None else float(stated)

    return prepare._replace(inputs=inputs)


def _ranked(protocol: Protocol) -> Preparation:
    def inputs(gallery: Gallery) -> tuple[list[int], list[float | None]]:
        return gallery.relevant, gallery.values(protocol)

    return Preparation("one-probability", NO_TEXT, inputs)


def _lists(prepare: Preparation) -> Preparation:
    """Boxes as lists of ``(x0, y0, x1, y1)``."""

    def inputs(sample: ScoringSample) -> tuple[list[Any], list[Any]]:
        truth, predicted = prepare.inputs(sample)
        lists = [[tuple(map(float, box)) for box in boxes] for boxes in (truth, predicted)]
        return lists[0], lists[1]

    return prepare._replace(inputs=inputs)


_EXTRACTED = Preparation("raw", AS_IT_IS, _extracted)
_SHORT = COUNTED._replace(inputs=_counted)
_STRICT: dict[AnswerForm, tuple[Preparation, ...]] = {
    "transcription": (COUNTED, SCRIPT, _EXTRACTED),
    "text": (SCRIPT, _SHORT, _EXTRACTED),
    "punctuated": (SCRIPT, _SHORT, _EXTRACTED),
    "short": (_SHORT, SCRIPT, _EXTRACTED),
    "entities": (NAMES,),
    "letter": (ONE_LETTER,),
    "yes-no": (YES_NO,),
    "number": (_floats(ONE_NUMBER),),
    "boxes": (_lists(BOXES),),
    "probability": (_ranked("strict"),),
}
_OFFICIAL: dict[AnswerForm, tuple[Preparation, ...]] = {
    "transcription": (RAW,),
    "text": (RAW,),
    "punctuated": (RAW,),
    "short": (RAW,),
    "entities": (RAW,),
    "letter": (RAW,),
    "yes-no": (FIRST_YES_NO,),
    "number": (_floats(OFFICIAL_NUMBER),),
    "boxes": (_lists(OFFICIAL_BOXES),),
    "probability": (_ranked("official"),),
}


def preparations(protocol: Protocol, form: AnswerForm) -> dict[str, Preparation]:
    """The preparations that a metric of that form can have, by name; the first is the default."""
    forms = _STRICT if protocol == "strict" else _OFFICIAL
    return {each.name: each for each in forms[form]}
