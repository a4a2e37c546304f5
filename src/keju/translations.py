"""Translation of the texts of pages: the report, the figures and the annotation app.

The texts of pages are messages of `keju.messages`, found by their id. Files and benchmarks store
English texts without an id, such as the reason why a request was not sent. `Words` recognises
these by the English texts of the catalogues; other texts stay as they are. Texts of models and
datasets are never translated: they are not passed here as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, Self, get_args

from keju.definitions import definitions, folder_of, name_in_chinese, task
from keju.errors import DataError, UsageError, shortened
from keju.files import read_toml
from keju.messages import Message, templates
from keju.messages._catalogues import Entry, Template
from keju.scoring import metrics
from keju.texts import JoinedText, Text, Translatable, _

Language = Literal["en", "zh"]

REPORT = ("reporting", "analysis", "figures", "stored", "declarations")
"""The catalogues of the report and of figures."""

_FIELD = re.compile(r"\{(\w*)(?:![rs])?(?::([^{}]*))?\}")
_NEXT = "; "
_NUMBERS = frozenset({",", "d"})
_FEWEST_LETTERS = 4
_OF_BENCHMARK = "zh.toml"


_EXAM_WORDS = {"问题": "提示词", "道题目": "页", "道题": "页", "题目": "页", "题": "页"}
"""The words for items and questions of a user's own pages, which are not an exam."""
_EXAM = re.compile("|".join(_EXAM_WORDS))


class Words:
    """The texts of one set of pages in one language.

    Args:
        language: ``en`` or ``zh``.
        catalogues: the catalogues with the texts of these pages, by default the report's.
        own_pages: items are pages of one's own, and are called so in Chinese.
    """

    def __init__(
        self,
        language: str = "en",
        catalogues: Iterable[str] = REPORT,
        *,
        own_pages: bool = False,
    ) -> None:
        check_language(language)
        self.language = language
        self._own_pages = own_pages and language == "zh"
        self._templates: dict[str, Template] = {}
        self._packages: dict[str, Mapping[str, Entry]] = {}
        self._known: dict[str, str] = {}
        self.table: dict[str, str] = {}
        if language == "en":
            self._patterns: list[_Pattern] = []
            return
        self.table = _of_benchmarks() | self._of_catalogues(catalogues) | _of_plugins()
        found = [
            _Pattern.of(english, chinese)
            for english, chinese in self.table.items()
            if _FIELD.search(english)
        ]
        self._patterns = sorted(found, key=lambda each: -each.length)  # the most specific first

    def text(self, name: str, /, **fields: object) -> str:
        """The text with an id, with the values of its fields.

        Raises:
            KeyError: there is no such text, or a field has no value.
        """
        template = self._template(name)
        if template.plain is not None:
            return template.plain
        values = {field: self._value(value) for field, value in fields.items()}
        return template.fill(values, self.language)

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        """The texts with these ids, which have no fields."""
        return {name: self.text(name) for name in names}

    def sources(self, names: Iterable[str]) -> dict[str, str]:
        """The texts with these ids before their fields are filled, for scripts that fill them."""
        return {name: self._template(name).source for name in names}

    def __call__(self, text: str) -> str:
        """A message, or an English text that files store, in this language, line by line."""
        if isinstance(text, Message):
            return self.text(text.id, **text.fields)
        if isinstance(text, Text):
            template = text.template_in(self.language)
            if self._own_pages:
                template = _without_exam_words(template)
            return text.fill(template, [*map(self._value, text.values)], self.language)
        if isinstance(text, JoinedText):
            separator = text.separator.render(self.language)
            return separator.join(str(self._value(each)) for each in text.parts)
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

    def _template(self, name: str) -> Template:
        if name not in self._templates:
            package, __, short = name.partition(".")
            if package not in self._packages:
                self._packages[package] = templates(package, self.language)
            entry = self._packages[package][short]
            self._templates[name] = entry.text
            if self._own_pages:
                own = entry.own_pages.source or _without_exam_words(entry.text.source)
                self._templates[name] = Template(own)
        return self._templates[name]

    def _value(self, value: object) -> object:
        """The value of a field: a text in this language, or the Chinese name of a benchmark."""
        if isinstance(value, str) and isinstance(value, Translatable):
            return self(value)
        if isinstance(value, str) and self.language == "zh":
            return name_in_chinese(value) or value
        return value

    def of_field(self, value: str) -> str:
        """A value inside a line in Chinese, if it is the title or a domain of a benchmark."""
        return name_in_chinese(value) or value

    def _of_catalogues(self, catalogues: Iterable[str]) -> dict[str, str]:
        return {
            entry.text.source: self._template(f"{package}.{name}").source
            for package in catalogues
            for name, entry in templates(package, "en").items()
        }

    def _line(self, line: str) -> str:
        if not self.table or line in self.table:
            return self.table.get(line, line)
        if own := name_in_chinese(line):
            return own
        parts = line.split(_NEXT)
        if len(parts) > 1 and all(self._line(part) != part for part in parts):
            return "；".join(map(self._line, parts))
        for pattern in self._patterns:
            if (filled := pattern.translate(line, self.of_field)) is not None:
                return filled
        return line


class _Pattern(NamedTuple):
    """An English text with fields as a regular expression, and its Chinese text."""

    regex: re.Pattern[str]
    fields: tuple[str, ...]
    chinese: str
    length: int

    @classmethod
    @cache
    def of(cls, english: str, chinese: str) -> Self:
        """The pattern of a text; blanks without a name have the same order in both languages."""
        english, chinese = _with_names(english), _with_names(chinese)
        fields = tuple(field[1] for field in _FIELD.finditer(english))
        parts = _FIELD.split(english)
        regex = re.escape(_plain(parts[0]))
        for form, after in zip(parts[2::3], parts[3::3], strict=True):
            regex += _filling(english, form or "") + re.escape(_plain(after))
        return cls(re.compile(regex), fields, chinese, len(_FIELD.sub("{}", english)))

    def translate(self, line: str, of_field: Callable[[str], str]) -> str | None:
        """The Chinese text of a line that has this form, with its values as `of_field` has them."""
        if not (found := self.regex.fullmatch(line)):
            return None
        values = dict(zip(self.fields, found.groups(), strict=True))
        named = {field: of_field(value) for field, value in values.items()}
        return _plain(_FIELD.sub(lambda field: named[field[1]], self.chinese))


def check_language(language: str) -> None:
    """Refuse a language that reports do not have.

    Raises:
        UsageError: there is no such language.
    """
    if language not in get_args(Language):
        raise UsageError("no language {!r}; there are {}", language, ", ".join(get_args(Language)))


def _without_exam_words(text: str) -> str:
    return _EXAM.sub(lambda found: _EXAM_WORDS[found[0]], text)


def _with_names(text: str) -> str:
    """A text whose blanks without a name are numbered."""
    numbers = iter(range(text.count("{}")))
    return re.sub(r"\{\}", lambda _: f"{{blank{next(numbers)}}}", text)


def _plain(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")


def _filling(english: str, form: str) -> str:
    """A regular expression for a field: in ``{} to {}``, ``{} h`` and the like numbers only.

    Otherwise every sentence with "to" in it would be translated in its middle.
    """
    if "|" in form:
        return rf"([\d,]+) (?:{'|'.join(map(re.escape, form.split('|')))})"
    if form in _NUMBERS:
        return r"([\d,]+)"
    words = _FIELD.sub(lambda field: (field[2] or "").partition("|")[2], english)
    letters = sum(map(str.isalpha, words))
    return r"([-+−–]?[\d.,]+)" if letters < _FEWEST_LETTERS else "(.+?)"


def _of_plugins() -> dict[str, str]:
    """The Chinese descriptions of metrics of plug-ins, where they have them."""
    return {each.rule: each.rule_zh for each in metrics() if each.rule_zh}


def _of_benchmarks() -> dict[str, str]:
    """The Chinese texts of single benchmarks, from their directories."""
    folders = [folder for each in definitions() if (folder := folder_of(each.name))]
    found: dict[str, str] = {}
    for path in (folder / _OF_BENCHMARK for folder in folders):
        if path.is_file():
            found |= _read_words(path)
    return found


def _read_words(path: Path) -> Mapping[str, str]:
    words = read_toml(path, dict[str, str], what="a table of words")
    for english, chinese in words.items():
        if english.count("{}") != chinese.count("{}"):
            raise DataError(
                "the English text has {} {}, the Chinese one has {}",
                english.count("{}"),
                "{}",
                chinese.count("{}"),
                file=path,
                item=shortened(english),
                hint=_("Write {} as often in both texts", "{}"),
            )
    return words
