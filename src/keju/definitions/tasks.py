"""`Task` and `Query`: the declaration of a task and of its question forms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from keju.items import AnswerForm, Item, Record

CountKind = Literal["items", "items-implied", "images", "open"]
"""The unit of a task's `count`: items printed by the paper, items implied by pages times questions
per page, or images; `open`: the definition states no number, and the count is 0."""

AnswerLanguage = Literal["", "en"]
"""The language of free answers, where one in another language is to be marked."""


Candidates = Literal["", "fragments", "classes"]
"""The kind of a query's candidates, where a definition states it."""


class Query(Record, frozen=True, kw_only=True):
    """One question form of a task.

    A task's only query is named ``""``. `template` contains placeholders such as ``{question}`` or
    ``{options}``; its last line is `requirement`, the answer-format sentence, where the benchmark
    has one. `official` and `strict` name the metrics of each protocol, the main one first;
    `official_note` is a sentence that a reader of the official values needs. `rubric` names the
    rubric by which a judge grades the answers, where the definition names one. A `translation` is
    extracted without the original and notes. `image` states whether items have images; those of a
    task about texts have none.
    """

    name: str = ""
    form: AnswerForm
    template: str
    requirement: str = ""
    official: tuple[str, ...]
    strict: tuple[str, ...]
    official_note: str = ""
    rubric: str = ""
    translation: bool = False
    answer_language: AnswerLanguage = ""
    box_convention: str = ""
    image: bool = True


class Task(Record, frozen=True, kw_only=True):
    """One task of a benchmark, as its definition declares it.

    `from_paper` means that the definition is bundled and has what a paper states: counts of items
    or images (`count_kind` is not ``open``) and metrics of the `official` protocol. `candidates` is
    the kind of a query's candidates in a pair task: ``fragments`` of one thing, or crops of
    ``classes``. An item without a transcription has that of an item of the task
    `transcription_from` about the same images. `direction` divides a domain, where the definition
    does so: tasks of one direction have a mean of their own within it.
    """

    id: str
    benchmark: str
    name_zh: str
    name_en: str
    domain: str
    domain_zh: str = ""
    direction: str = ""
    direction_zh: str = ""
    format: str
    queries: tuple[Query, ...]
    count: int
    count_kind: CountKind
    note: str = ""
    from_paper: bool = False
    candidates: Candidates = ""
    transcription_from: str = ""

    @property
    def has_official(self) -> bool:
        """Whether the task has metrics of the `official` protocol."""
        return any(query.official for query in self.queries)

    @property
    def of_pairs(self) -> bool:
        """Whether two images are sent at a time, and an item's answers form a ranking."""
        return self.format == "pairs"

    @property
    def unit(self) -> str:
        """The unit of `count`, as a word: items or images."""
        return "images" if self.count_kind == "images" else "items"

    def counted(self, items: Iterable[Item]) -> int:
        """The number of items of this task, or of their different images, as `count` counts."""
        if self.count_kind == "images":
            return len({image.sha256 for item in items for image in item.images})
        return len({(item.query, item.id) for item in items})
