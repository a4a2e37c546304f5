"""The command blocks of docs/reproducing.md: what each runs, promises and needs."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reproducing.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n+((?:[^\n]+\n)*)", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`]+)`")
_RESULT, _FULL, _PRINTS, _NOT_RUN = (
    "**Result:**", "**At the paper's size:**", "**Prints:**", "**Not run in tests:**"
)  # fmt: skip
_MARKS = re.compile("|".join(map(re.escape, (_RESULT, _FULL, _PRINTS, _NOT_RUN))))


@dataclass(frozen=True)
class Block:
    """A fenced block and the paragraph under it.

    `commands` are the command lines as written, continued lines joined. `files`,
    `at_full_size` and `prints` are what the paragraph promises. `not_run` is the reason why tests
    do not run the block.
    """

    heading: str
    number: int
    language: str
    commands: tuple[str, ...]
    files: tuple[str, ...]
    at_full_size: tuple[str, ...]
    prints: tuple[str, ...]
    not_run: str

    @property
    def name(self) -> str:
        """A name for test reports."""
        return f"{self.number:02d}-{re.sub(r'[^a-z0-9]+', '-', self.heading.lower()).strip('-')}"


def page_text() -> str:
    """The whole page."""
    return PAGE.read_text("utf-8")


def blocks_of(text: str) -> list[Block]:
    """Every fenced block of a page, in order."""
    found = []
    for number, each in enumerate(_BLOCK.finditer(text), 1):
        headings = re.findall(r"^#+ (.+)$", text[: each.start()], re.MULTILINE)
        joined = each[2].replace("\\\n", " ")
        lines = tuple(line.strip() for line in joined.splitlines() if line.strip())
        told = _told(each[3])
        found.append(
            Block(
                heading=headings[-1] if headings else "",
                number=number,
                language=each[1],
                commands=lines,
                files=tuple(_SPAN.findall(told.get(_RESULT, ""))),
                at_full_size=tuple(_SPAN.findall(told.get(_FULL, ""))),
                prints=tuple(_SPAN.findall(told.get(_PRINTS, ""))),
                not_run=told.get(_NOT_RUN, "").strip(),
            )
        )
    return found


def _told(paragraph: str) -> dict[str, str]:
    """The parts of the paragraph under a block, by the bold word that begins each."""
    pairs = zip(_MARKS.findall(paragraph), _MARKS.split(paragraph)[1:], strict=True)
    return {mark: " ".join(rest.split()) for mark, rest in pairs}


def arguments_of(command: str) -> list[str]:
    """The words of a command line, with the environment's variables in it."""
    missing = [name for name in re.findall(r"\$(\w+)", command) if name not in os.environ]
    if missing:
        raise KeyError(f"the page uses variables that it does not declare: {missing}")
    return shlex.split(os.path.expandvars(command))
