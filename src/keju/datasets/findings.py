"""`Finding`: an error, warning or notice about an item of a dataset, with a hint."""

from __future__ import annotations

from typing import Literal, NamedTuple

from keju.errors import printable
from keju.texts import Text, _

Severity = Literal["error", "warning", "notice"]


class Finding(NamedTuple):
    """One finding."""

    severity: Severity
    item: str
    """The item's id, or the file if no item is affected."""
    problem: str
    hint: str

    @classmethod
    def of(cls, severity: Severity, item: str, problem: Text) -> Finding:
        """The finding with the hint of a message."""
        return cls(severity, item, problem, as_sentence(problem.hint))

    @property
    def line(self) -> str:
        """The finding in one line."""
        __, item, problem, hint = self
        if self.severity == "error":
            return _("error: {}: {}. {}", item, problem, hint)
        if self.severity == "warning":
            return _("warning: {}: {}. {}", item, problem, hint)
        return _("notice: {}: {}. {}", item, problem, hint)

    def __str__(self) -> str:
        return printable(" ".join(self.line.split()))


def as_sentence(hint: str) -> str:
    """A hint with a full stop."""
    return _("{}.", hint)


class NameCount:
    """The first of several names, and their number."""

    def __init__(self) -> None:
        self.first = ""
        self.count = 0

    def add(self, name: str) -> None:
        """Add the next name."""
        self.first = self.first if self.count else name
        self.count += 1

    @property
    def text(self) -> str:
        """The first name, and how many more there are."""
        if self.count < 2:
            return self.first
        return _("{} and {} more", self.first, self.count - 1)
