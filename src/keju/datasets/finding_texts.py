"""Texts that findings share: the hint as a sentence, and a name for several items."""

from __future__ import annotations

from keju.messages import Message, message


def hint_sentence(problem: Message) -> str:
    """The hint of a message with a full stop."""
    return message("datasets.hint-sentence", hint=problem.hint)


class NameCount:
    """The first of several names, and their number."""

    def __init__(self) -> None:
        self.first = ""
        self.count = 0

    def add(self, name: str) -> None:
        """Add the next name."""
        self.first = self.first if self.count else name
        self.count += 1

    def __str__(self) -> str:
        if self.count < 2:
            return self.first
        return message("datasets.first-and-more", first=self.first, count=self.count - 1)
