"""The declaration of a task, and how one is found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from keju.items import AnswerForm, Item, Record

CountKind = Literal["items", "items-implied", "images", "open"]
"""What a task's `count` counts: items printed by the paper, items implied by pages times questions
a page, or images; `open`: the definition states no number, and the count is 0."""


Candidates = Literal["", "fragments", "classes"]
"""What the candidates of a query are, where a definition says it."""


class Query(Record, frozen=True, kw_only=True):
    """One way of asking within a task.

    MCS-Bench and AncientDoc have one query a task, named ``""``; OBI-Bench has several (What,
    Yes-or-No, How, Where). `template` holds blanks such as ``{question}`` or ``{options}``; its
    last line is `requirement`, the answer-format sentence, where the benchmark has one.
    `official` and `strict` name the metrics of each protocol, the main one first; `official_note`
    is a sentence that a reader of the official values needs. `rubric` names the rubric by which a
    judge grades the answers, where the definition names one. `image` says whether items have
    images; those of a task about texts have none.
    """

    name: str = ""
    form: AnswerForm
    template: str
    requirement: str = ""
    official: tuple[str, ...]
    strict: tuple[str, ...]
    official_note: str = ""
    rubric: str = ""
    box_convention: str = ""
    image: bool = True


class Task(Record, frozen=True, kw_only=True):
    """One task of a benchmark, as its definition declares it.

    `published` says that a paper defines the task and keju ships the definition. `candidates` says
    what the candidates of a query are in a task of pairs: ``fragments`` of one thing, or crops of
    ``classes``. An item without a transcription has that of an item of the task
    `transcription_from` about the same images.
    """

    id: str
    benchmark: str
    name_zh: str
    name_en: str
    domain: str
    domain_zh: str = ""
    format: str
    queries: tuple[Query, ...]
    count: int
    count_kind: CountKind
    note: str = ""
    published: bool = False
    candidates: Candidates = ""
    transcription_from: str = ""

    @property
    def has_official(self) -> bool:
        """Whether the task has metrics of the `official` protocol."""
        return any(query.official for query in self.queries)

    @property
    def of_pairs(self) -> bool:
        """Whether two images are shown at a time, and an item's answers make a ranking."""
        return self.format == "pairs"

    @property
    def unit(self) -> str:
        """What `count` counts, as a word: items or images."""
        return "images" if self.count_kind == "images" else "items"

    def counted(self, items: Iterable[Item]) -> int:
        """The items of this task, or their different images, whichever `count` counts."""
        if self.count_kind == "images":
            return len({image.sha256 for item in items for image in item.images})
        return len({(item.query, item.id) for item in items})
