"""Translation of the texts of pages: the report and the annotation app.

English is the key: a sentence, or a pattern with ``{}`` in place of numbers and names. Texts
without an entry stay English. Texts of models and datasets are never translated: they are not
passed here as a whole.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

from keju.definitions import definitions, folder_of, name_in_chinese, task
from keju.errors import DataError, UsageError, shortened
from keju.files import read_toml, shipped_toml
from keju.messages import message
from keju.scoring import metrics

Language = Literal["en", "zh"]

_BLANK = "{}"
_NEXT = "; "
_FEWEST_LETTERS = 4
_OF_BENCHMARK = "zh.toml"


_EXAM_WORDS = {"问题": "提示词", "道题目": "页", "道题": "页", "题目": "页", "题": "页"}
"""What items and questions are called where the items are pages of one's own, and no exam."""


class Words:
    """Translates the texts of one set of pages, by default the report's, into one language.

    Args:
        language: ``en`` or ``zh``.
        room: the package whose words these are.
        own_pages: items are pages of one's own, and are called so in Chinese.
    """

    def __init__(
        self, language: str = "en", room: str = "keju.reporting", *, own_pages: bool = False
    ) -> None:
        check_language(language)
        self.language = language
        self.table: dict[str, str] = {}
        if language != "en":
            self.table = _of_benchmarks() | _table(language, room) | _of_plugins()
        if self.table and own_pages:
            self.table = _of_own_pages(self.table) | _table(f"{language}_pages", room)
        self._patterns = [
            (re.compile(_filling(english).join(map(_fixed, english.split(_BLANK)))), said)
            for english, said in sorted(self.table.items(), key=lambda pair: -len(pair[0]))
            if _BLANK in english  # the longest first, as it is the most specific
        ]
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """The text in this language, line by line."""
        if text not in self._known:
            self._known[text] = "\n".join(map(self._line, text.split("\n")))
        return self._known[text]

    def task_title(self, label: str) -> str:
        """The names of a task, given as ``T1`` or ``recognition/What``: one on a Chinese page."""
        known = task(label.partition("/")[0])
        return known.name_zh if self.language == "zh" else f"{known.name_zh} {known.name_en}"

    def task_name(self, name: str) -> str:
        """The name of a task in only the page's language."""
        known = task(name)
        return known.name_zh if self.language == "zh" else known.name_en

    def _line(self, line: str) -> str:
        if not self.table or line in self.table:
            return self.table.get(line, line)
        if own := name_in_chinese(line):
            return own
        parts = line.split(_NEXT)
        if len(parts) > 1 and all(self._line(part) != part for part in parts):
            return "；".join(map(self._line, parts))
        for pattern, said in self._patterns:
            if found := pattern.fullmatch(line):
                return _filled(said, line, found)
        return line


def check_language(language: str) -> None:
    """Refuse a language that reports do not have.

    Raises:
        UsageError: there is no such language.
    """
    if language not in get_args(Language):
        raise UsageError(
            message(
                "translations.no-language", language=language, known=", ".join(get_args(Language))
            )
        )


def _of_own_pages(table: dict[str, str]) -> dict[str, str]:
    exam = re.compile("|".join(_EXAM_WORDS))
    return {
        english: exam.sub(lambda found: _EXAM_WORDS[found[0]], said)
        for english, said in table.items()
    }


def _fixed(part: str) -> str:
    return f"({re.escape(part)})"


def _filling(english: str) -> str:
    """A pattern for placeholders: in ``{} to {}``, ``{} h`` and the like numbers only.

    Otherwise every sentence with "to" in it would be translated in its middle.
    """
    letters = sum(map(str.isalpha, english))
    return r"[-+−–]?[\d.,]+" if letters < _FEWEST_LETTERS else ".+?"


def _of_plugins() -> dict[str, str]:
    """The Chinese descriptions of metrics of plug-ins, where they have them."""
    return {each.rule: each.rule_zh for each in metrics() if each.rule_zh}


def _of_benchmarks() -> dict[str, str]:
    """The Chinese texts of single benchmarks, from their directories."""
    folders = [folder for each in definitions() if (folder := folder_of(each.name))]
    found: dict[str, str] = {}
    for path in (folder / _OF_BENCHMARK for folder in folders):
        if path.is_file():
            words = read_toml(path, dict[str, str], what="a table of words")
            _check_blanks(words, path)
            found |= words
    return found


def _check_blanks(words: dict[str, str], path: Path) -> None:
    for english, said in words.items():
        if english.count(_BLANK) != said.count(_BLANK):
            raise DataError(
                message(
                    "translations.blanks-differ",
                    count=english.count(_BLANK),
                    blank=_BLANK,
                    chinese=said.count(_BLANK),
                ),
                file=path,
                item=shortened(english),
            )


def _filled(said: str, line: str, found: re.Match[str]) -> str:
    """The translation with the values of its placeholders, from left to right.

    A value that is the title or a domain of a benchmark is translated too.
    """
    fixed = [found.span(number) for number in range(1, found.re.groups + 1)]
    values = (line[left[1] : right[0]] for left, right in pairwise(fixed))
    gaps = [name_in_chinese(each) or each for each in values]
    parts = said.split(_BLANK)
    return parts[0] + "".join(gap + part for gap, part in zip(gaps, parts[1:], strict=True))


@cache
def _table(language: str, room: str) -> dict[str, str]:
    return shipped_toml(room, f"assets/{language}.toml", dict[str, str])
