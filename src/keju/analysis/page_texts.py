"""`PageTexts`: the references and transcriptions of a report, each transcription taken once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from keju.analysis.labels import task_name
from keju.definitions import query_of
from keju.extraction import read
from keju.items import Response
from keju.runs import RecordList

if TYPE_CHECKING:
    from keju.analysis.asked_items import AskedItem

LONGEST = 20_000
"""Maximum characters of a response whose transcription is examined."""

_ITEMS_IN_MEMORY = 2_000
"""Items up to which the texts are kept in memory; more are in a temporary file."""


class PageText(NamedTuple):
    """The reference of an item and its transcriptions.

    Attributes:
        task: the task's name; empty where the item is not a transcription.
        truth: the reference as it is written.
        said: the transcription in each response, in the order of the item's answers; only the first
            `LONGEST` characters of a response are examined.
    """

    task: str = ""
    truth: str = ""
    said: tuple[str, ...] = ()


class PageTexts:
    """The texts of all items of a report by the item's index. Many are on disk (`RecordList`).

    Args:
        asked: the items with their answers, in the report's order.
    """

    def __init__(self, asked: Iterable[AskedItem]) -> None:
        self._texts: RecordList[PageText] = RecordList(PageText, most=_ITEMS_IN_MEMORY)
        for each in asked:
            self._texts.append(_page_text(each))

    def __getitem__(self, place: int) -> PageText:
        return self._texts[place]

    def __iter__(self) -> Iterator[PageText]:
        return iter(self._texts)


def transcription(response: Response) -> str:
    """The transcription in the first `LONGEST` characters of a response; empty without one."""
    return read("transcription", response.text[:LONGEST]).value


def _page_text(asked: AskedItem) -> PageText:
    item = asked.item
    if query_of(item).form != "transcription":
        return PageText()
    said = tuple(transcription(answer.response) for answer in asked.answers)
    reference = item.answer or item.answer_simplified
    return PageText(task_name(item.task, item.query), reference, said)
