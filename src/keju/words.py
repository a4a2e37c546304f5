"""The texts of pages and figures in their language: the report, the audit, the site.

Sentences of the code are `keju.texts`. Files and benchmarks store English texts, such as the reason
why a request was not sent: those that are a sentence of a catalogue are found by it, and others
stay as they are. Texts of models and datasets are never translated: they are not passed here.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

from keju.definitions import definitions, folder_of, name_in_chinese, task
from keju.encoders.weights import unavailable_reasons
from keju.errors import UsageError
from keju.scoring import metrics
from keju.texts import JoinedText, Text, Translatable, add_translations, n_, p_

Language = Literal["en", "zh"]

OWN_PAGES = "own pages"
"""The context of the Chinese sentences that a report on a user's own pages has instead."""

_EXAM_WORDS = {"问题": "提示词", "道题目": "页", "道题": "页", "题目": "页", "题": "页"}
"""The words for items and questions of a user's own pages, which are not an exam."""
_EXAM = re.compile("|".join(_EXAM_WORDS))


class Words:
    """Shows texts in the language of a page.

    Args:
        language: ``en`` or ``zh``.
        own_pages: items are pages of one's own, and are called so in Chinese.
    """

    def __init__(self, language: str = "en", *, own_pages: bool = False) -> None:
        check_language(language)
        self.language = language
        self._own_pages = own_pages and language == "zh"
        self._plain: dict[str, str] = {}
        if language == "zh":
            # The folders of the definitions of this process may have sentences of their own.
            for folder in filter(
                None, (folder_of(definition.name) for definition in definitions())
            ):
                for file in sorted(folder.glob("*.mo")):
                    add_translations(file)

    def __call__(self, text: str, /, *values: object) -> str:
        """A text, a sentence with values, or an English text of a file, in the page's language."""
        if values:
            text = Text(text, values)
        if isinstance(text, JoinedText):
            return self(text.separator).join(str(self._value(each)) for each in text.parts)
        if isinstance(text, Text) and (text.values or text.plural or text.context):
            return text.fill(self._template(text), [*map(self._value, text.values)], self.language)
        if text not in self._plain:
            self._plain[text] = self._translate(str(text))
        return self._plain[text]

    def number(self, singular: str, plural: str, count: int, /, *values: object) -> str:
        """A sentence with a number, as `keju.texts.n_`: ``n_`` of the templates of pages."""
        return self(n_(singular, plural, count, *values))

    def in_context(self, context: str, template: str, /, *values: object) -> str:
        """A sentence with a context, as `keju.texts.p_`: ``p_`` of the templates of pages."""
        return self(p_(context, template, *values))

    def in_script(self, script: str) -> dict[str, str]:
        """The sentences of a script, ``say("…")``, in the page's language; none in English."""
        if self.language == "en":
            return {}
        return {text: self._template(Text(text)) for text in SENTENCE_OF_SCRIPT.findall(script)}

    def task_title(self, label: str) -> str:
        """The names of a task, given as ``T1`` or ``recognition/What``: one on a Chinese page."""
        entry = task(label.partition("/")[0])
        return entry.name_zh if self.language == "zh" else f"{entry.name_zh} {entry.name_en}"

    def task_name(self, name: str) -> str:
        """The name of a task in only the page's language."""
        entry = task(name)
        return entry.name_zh if self.language == "zh" else entry.name_en

    def _template(self, text: Text) -> str:
        template = text.template_in(self.language)
        if not self._own_pages or template == text.template_in("en"):
            return template
        own = Text(
            text.template, text.values, plural=text.plural, number=text.number, context=OWN_PAGES
        )
        if (chinese := own.template_in("zh")) != own.template_in("en"):
            return chinese
        return self._of_pages(template)

    def _rule(self, text: str) -> str:
        """The Chinese rule of a metric, where its declaration has one."""
        rule = next(
            (metric.rule_zh for metric in metrics() if metric.rule_zh and metric.rule == text), ""
        )
        return self._of_pages(rule) if self._own_pages else rule

    def _of_pages(self, chinese: str) -> str:
        return _EXAM.sub(lambda match: _EXAM_WORDS[match[0]], chinese)

    def _value(self, value: object) -> object:
        """The value of a field: a text in this language, or the Chinese name of a benchmark."""
        if isinstance(value, str) and isinstance(value, Translatable):
            return self(value)
        if isinstance(value, str) and self.language == "zh":
            return name_in_chinese(value) or value
        return value

    def _translate(self, text: str) -> str:
        """A text without values: the whole, its lines, or its clauses are in a catalogue."""
        if self.language == "en" or not text:
            return text
        sentence = self._template(Text(text))
        if sentence != text or (sentence := self._rule(text)):
            return sentence
        for between, chinese in (("\n", "\n"), ("; ", "；")):
            parts = text.split(between)
            if len(parts) > 1:
                shown = [*map(self._translate, parts)]
                if between == "\n" or all(map(str.__ne__, shown, parts)):
                    return chinese.join(shown)
                return text
        if reason := unavailable_reasons().get(text):
            return self(reason)
        return name_in_chinese(text) or text


SENTENCE_OF_SCRIPT = re.compile(r'\bsay\("((?:[^"\\]|\\.)+)"')
"""A sentence of a script."""


def check_language(language: str) -> None:
    """Refuse a language that reports do not have, with a `UsageError`."""
    if language not in get_args(Language):
        raise UsageError("no language {!r}; there are {}", language, ", ".join(get_args(Language)))
