"""Texts that findings share: the hint as a sentence, and a name for several items."""

from __future__ import annotations

from collections.abc import Sequence

from keju.messages import Message, message


def hint_sentence(problem: Message) -> str:
    """The hint of a message with a full stop."""
    return message("datasets.hint-sentence", hint=problem.hint)


def name_of_several(names: Sequence[str]) -> str:
    """The first name, and the number of the others."""
    if len(names) < 2:
        return names[0]
    return message("datasets.first-and-more", first=names[0], count=len(names) - 1)
