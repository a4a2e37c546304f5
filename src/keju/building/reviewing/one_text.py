"""Corrections of transcribed pages: keep answer, transcription and lines the same text."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from keju.building.reviewing.verdicts import Verdict
from keju.definitions import query_of
from keju.errors import DataError, UsageError
from keju.items import Item, Line
from keju.messages import message


def is_transcribed(item: Item) -> bool:
    """Whether its answer is the transcription of its images."""
    try:
        return query_of(item).form == "transcription"
    except (DataError, UsageError):
        return False


def on_one_text(item: Item, verdict: Verdict) -> Verdict:
    """The verdict with its new transcription as the new answer; others unchanged.

    Raises:
        DataError: it has a new answer and a different new transcription.
    """
    told = verdict.mended.fields()
    if "transcription" not in told or not is_transcribed(item):
        return verdict
    text = verdict.mended.transcription
    if told.get("answer", text) != text:
        raise DataError(message("building.two-new-texts"), item=item.id)
    mended = replace(verdict.mended, answer=text, transcription=UNSET)
    return replace(verdict, mended=mended)


def mended_item(item: Item, verdict: Verdict) -> Item:
    """The item with the verdict's corrections.

    A corrected answer also replaces the simplified one, which was made from the old one. Of a
    transcription task it is the transcription as well, and the lines get it; of others, it replaces
    a transcription with the same old text.
    """
    told = on_one_text(item, verdict).mended.fields()
    answer = told.get("answer")
    if isinstance(answer, str):
        told.setdefault("also_accepted", ())
        told["answer_simplified"] = ""
        transcribed = is_transcribed(item)
        if transcribed or (item.transcription is not None and item.transcription == item.answer):
            told.setdefault("transcription", answer)
        if transcribed:
            told["lines"] = lines_saying(item.lines, item.answer, answer)
    return replace(item, **told)


def lines_saying(lines: Sequence[Line], old: str, new: str) -> tuple[Line, ...]:
    """The lines of a page with a corrected text, or none if lines cannot be matched.

    The lines from which the old text was made are found in it one after another; others (notes and
    marginal text, if they are not part of it) stay as they are. A line that changes is not an
    engine's transcription any more.

    Args:
        lines: the page's, in reading order.
        old: the old text, one line each.
        new: the corrected text. With more or fewer lines than before, no line can be kept.
    """
    before, after = old.strip("\n").split("\n"), new.strip("\n").split("\n")
    if len(before) != len(after):
        return ()
    made = list(lines)
    place = 0
    for was, now in zip(before, after, strict=True):
        found = next((n for n in range(place, len(made)) if lines[n].text == was), None)
        if found is None:
            return ()
        if was != now:
            made[found] = replace(made[found], text=now, confidence=None)
        place = found + 1
    return tuple(made)
