"""`apply_corrections`: an item with a reviewer's corrections.

The answer, the transcription and the lines of a transcribed page remain the same text.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from keju.building.reviewing.verdicts import Verdict
from keju.definitions import query_of
from keju.errors import DataError, UsageError
from keju.items import Item, Line


def is_transcribed(item: Item) -> bool:
    """Whether the item's answer is the transcription of its images."""
    try:
        return query_of(item).form == "transcription"
    except (DataError, UsageError):
        return False


def unify_texts(item: Item, verdict: Verdict) -> Verdict:
    """Store the new transcription of a transcribed page as its new answer.

    Returns:
        The changed verdict; for other items and verdicts, the given one.

    Raises:
        DataError: the verdict has a new answer and a different new transcription.
    """
    corrected = verdict.corrections.fields()
    if "transcription" not in corrected or not is_transcribed(item):
        return verdict
    text = verdict.corrections.transcription
    if corrected.get("answer", text) != text:
        raise DataError(
            "the new answer and the new transcription differ, but are the same text in this task",
            item=item.id,
            hint="Write the new text in one of the two",
        )
    corrections = replace(verdict.corrections, answer=text, transcription=UNSET)
    return replace(verdict, corrections=corrections)


def apply_corrections(item: Item, verdict: Verdict) -> Item:
    """The item with the corrections of a verdict.

    A corrected answer removes the simplified answer, which was made from the old one. In a
    transcription task, the corrected answer is also the new transcription and the new text of the
    lines. In other tasks it replaces a transcription that had the same text as the old answer.
    """
    values = unify_texts(item, verdict).corrections.fields()
    answer = values.get("answer")
    if isinstance(answer, str):
        values.setdefault("also_accepted", ())
        values["answer_simplified"] = ""
        transcribed = is_transcribed(item)
        if transcribed or (item.transcription is not None and item.transcription == item.answer):
            values.setdefault("transcription", answer)
        if transcribed:
            values["lines"] = correct_lines(item.lines, item.answer, answer)
    return replace(item, **values)


def correct_lines(lines: Sequence[Line], old: str, new: str) -> tuple[Line, ...]:
    """The lines of a page with a corrected text, or no lines if they cannot be matched.

    Each line of the old text is searched among `lines`, in order. Lines that are not part of the
    text (notes, marginal text) do not change. A corrected line loses its confidence, because it is
    not the engine's transcription any more.
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
