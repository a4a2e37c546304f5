"""Rating: people grade answers from 0 to 10 against the reference, blind to the model."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

from keju.annotation.events import Event, EventLog, decode_event
from keju.annotation.queue import Form, Queue, describe_task, format_csv
from keju.errors import UsageError
from keju.files import cell_text, sha256_bytes
from keju.items import Record
from keju.judging.answers import GradableAnswer
from keju.judging.grades import LEAST, MOST
from keju.judging.prompting import Rubrics, question_of
from keju.judging.raters import CODE

COLUMNS = (CODE, "task", "query", "rater", "score", "seconds")


class RatedScore(Record, frozen=True, kw_only=True):
    """One stored rating."""

    score: float


class Rating(Queue):
    """The rating queue: a sample of answers, in each rater's own order.

    `known` are all answers of the run, whose ratings are exported; by default the sample.
    """

    name = "rating"

    def __init__(
        self,
        sample: Sequence[GradableAnswer],
        rubrics: Rubrics,
        seed: int = 0,
        *,
        known: Sequence[GradableAnswer] = (),
    ) -> None:
        self._judged = {answer.code: answer for answer in sample}
        self._items = {answer.code: answer.item for answer in known or sample}
        self._rubrics = rubrics
        self._seed = seed
        self._order = cache(self._shuffle)

    def list_subjects(self, person: str) -> Sequence[str]:
        """The codes of the answers, shuffled by seed and name."""
        return self._order(person)

    def _shuffle(self, person: str) -> list[str]:
        codes = list(self._judged)
        random.Random(sha256_bytes(f"{self._seed}:{person}:order".encode())).shuffle(codes)  # noqa: S311
        return codes

    def build_card(self, subject: str, event: Event | None, language: str) -> dict[str, object]:
        """Question, reference and answer, and the rubric; not the model."""
        judged = self._judged[subject]
        item = judged.item
        rubric = self._rubrics.rubric(item.task, item.query)
        rated = decode_event(event, RatedScore)
        return {
            **describe_task(item, language),
            "images": item.images,
            "question": question_of(item),
            "source": "" if item.transcription == item.answer else item.transcription or "",
            "reference": item.answer,
            "answer": judged.text,
            "rubric": rubric.says.strip() if rubric else "",
            "rubric_title": rubric.title if rubric else "",
            "score": "" if rated is None else f"{rated.score:g}",
            "least": LEAST,
            "most": MOST,
        }

    def get_content(self, subject: str) -> object:
        """The item, the answer, and the rubric."""
        judged = self._judged[subject]
        rubric = self._rubrics.rubric(judged.item.task, judged.item.query)
        texts = (rubric.title, rubric.says) if rubric else None
        return judged.item, question_of(judged.item), judged.text, texts

    def read(self, subject: str, form: Form) -> RatedScore:
        """Read the score.

        Raises:
            UsageError: it is not a number from 0 to 10.
        """
        del subject
        try:
            score = float(form.get("score", ""))
        except ValueError:
            score = -1.0
        if not LEAST <= score <= MOST:
            raise UsageError("Enter a number from 0 to 10")
        return RatedScore(score=score)

    def export(self, events: EventLog) -> str:
        """The ratings in the format of ``keju judge align``, one row per rating, by rater.

        An answer is identified by its code, which the run can resolve, so no model is named. The
        ratings include those of an earlier sample.
        """
        return format_csv(COLUMNS, self._list_rows(events))

    def _list_rows(self, events: EventLog) -> Iterator[Sequence[object]]:
        for (person, code), event in events.find_latest(self.name).items():
            item, rated = self._items.get(code), decode_event(event, RatedScore)
            if item is None or rated is None:
                continue
            values = (f"{rated.score:g}", f"{event.seconds:.1f}")
            yield (code, item.task, item.query, cell_text(person), *values)
