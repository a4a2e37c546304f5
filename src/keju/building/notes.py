"""Notes of steps in the current language; step.json and build.json store them in English."""

from __future__ import annotations

from functools import cache

from keju.messages import Translatable, language, registered
from keju.translations import REPORT, Words

_SEPARATOR = ", "


class _NoteWords(Words):
    """The texts of notes, with texts inside of them."""

    def of_field(self, value: str) -> str:
        """A value of a note in Chinese, if it is a text with an id or a list of such texts."""
        is_sentence = " " in value  # the value of a field in it is shorter, so this ends
        return self(value) if is_sentence else self.table.get(value, value)

    def _line(self, line: str) -> str:
        parts = line.split(_SEPARATOR)
        translated = [super(_NoteWords, self)._line(part) for part in parts]
        if all(map(str.__ne__, parts, translated)):
            return "、".join(translated)
        return super()._line(line)


def translate_note(note: str) -> str:
    """A note in the current language.

    Args:
        note: a message, or the English text of one, which was read from step.json. A text that is
            not one of a message stays as it is.
    """
    if isinstance(note, Translatable) or language() == "en":
        return note
    return _read_words()(note)


@cache
def _read_words() -> _NoteWords:
    return _NoteWords("zh", ("steps", "nouns", "building", "datasets", *registered(), *REPORT))
