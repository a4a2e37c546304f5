"""`TextSample`: a reference and an answer without an item of a benchmark."""

from __future__ import annotations

from keju.extraction import Reading
from keju.items import AnswerForm, Item, Response
from keju.scoring.decisions import NO_DECISIONS
from keju.scoring.scoring_sample import Defect, ScoringSample


class TextSample(ScoringSample):
    """A reference with the whole of a text as the answer to it: nothing is read from it."""

    def __init__(self, form: AnswerForm, reference: str, hypothesis: str) -> None:
        self.item = Item(
            id="", benchmark="", task="", answer=reference, answer_simplified=reference
        )
        self.response = Response(
            key="", item="", model="", benchmark="", task="", status="answered", text=hypothesis
        )
        self.defect, self.decisions, self.signature_part = Defect(), NO_DECISIONS, ""
        self.text = hypothesis
        self.form = form
        self.reading = Reading("read", hypothesis, "the whole text", hypothesis)
        self.options = ()
