"""`LmmsSample`: a line of lmms-eval's ``*_samples_*.jsonl``, and the responses of such a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from keju.errors import number_of
from keju.items import Failure
from keju.models.other_harnesses import ReplayedAnswer


class _Doc(Struct):
    id: int | str | None = None


class LmmsSample(Struct):
    """A line of lmms-eval's ``*_samples_*.jsonl``.

    Since version 0.7 a single response is a text and no longer a list, and `doc` is never written.
    `doc_id` is the row of the task's data. `resps` exists only where reasoning was removed from the
    response; for a task with a filter the file contains only the filter's result, which may be a
    letter of an error message.
    """

    doc_id: int | str
    filtered_resps: Any
    resps: Any = None
    doc: _Doc | None = None
    input: Any = None
    token_counts: Any = None

    @property
    def tokens(self) -> int | None:
        """Tokens that were counted for the item; None where nothing was counted."""
        counts = self.token_counts if isinstance(self.token_counts, list) else []
        numbers = [
            each.get(name)
            for each in counts
            if isinstance(each, dict)
            for name in ("input_tokens", "output_tokens")
        ]
        found = [number for number in numbers if isinstance(number, int)]
        return sum(found) if found else None

    def to_answer(self) -> ReplayedAnswer:
        """The model's own response, before any filter where that was kept.

        Raises:
            ValueError: the item was sent several times, or the response is not text.
        """
        text = _only_text(self.filtered_resps if self.resps is None else self.resps)
        prompt = self.input if isinstance(self.input, str) else ""
        if self.doc and self.doc.id is not None:
            return ReplayedAnswer(item=str(self.doc.id), text=text)
        return ReplayedAnswer(item=str(self.doc_id), text=text, by_row=True, prompt=prompt)


def lmms_answers(samples: Sequence[LmmsSample]) -> list[ReplayedAnswer]:
    """The responses of a file of lmms-eval.

    lmms-eval counts no tokens for a request that failed. Its filters extract a letter even from an
    error message, so that the count decides where other items of the file have one.
    """
    answers = [sample.to_answer() for sample in samples]
    if not any(sample.tokens for sample in samples):
        return answers
    return [
        replace(
            answer,
            error=Failure(
                kind="failed-elsewhere",
                message=f"no tokens counted: {' '.join(answer.text.split())}"[:300],
            ),
        )
        if sample.tokens == 0
        else answer
        for sample, answer in zip(samples, answers, strict=True)
    ]


def _only_text(value: object) -> str:
    """The text in nested lists of one element; an empty list has no text."""
    while isinstance(value, list):
        if len(value) > 1:
            raise ValueError(
                f"{number_of(len(value), 'response')} to one item, which cannot be distinguished"
            )
        value = value[0] if value else ""
    if not isinstance(value, str):
        raise ValueError("the response is not text")  # noqa: TRY004 - a reader catches ValueError
    return value
