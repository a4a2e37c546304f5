"""Prompts of judges and extractors as data, versioned by hash; the answer in them is delimited.

The answer is untrusted. It is between two delimiters with a number that is computed from all texts
of the prompt; a text that contained the number would have another one. Brackets in the answer that
look like the delimiters' are replaced, so that it cannot close them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from keju.definitions import Definition, Query, definitions, prompt_of
from keju.errors import DataError, UsageError, shortened
from keju.files import read_toml, sha256_bytes, shipped_toml
from keju.items import AnswerForm, Item
from keju.running.requests import seal_of, without_marks
from keju.texts import _

_SHIPPED = "rubrics.toml"
_AS_BUNDLED = "\0"
"""In place of a part of the prompt that a file does not have; no TOML can contain it."""
_BLANKS = ("rubric", "question", "source", "reference", "author", "answer", "opening", "closing")
_BLANK = re.compile(r"\{([a-z]+)\}")


def _hash_of(record: msgspec.Struct) -> str:
    return sha256_bytes(msgspec.json.encode(record, order="deterministic"))[:8]


class Rubric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The criterion of one task, and the meaning of each grade.

    `tasks` are its queries, each as ``ID`` or ``ID/QUERY``; where a file has none, those of keju's
    benchmarks whose definition names the rubric (`Query.rubric`). An `open` rubric is used by
    default.
    """

    title: str
    says: str
    tasks: tuple[str, ...] = ()
    open: bool = True


class Rubrics(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A file of rubrics: the prompt around them, and one for each kind of task.

    A file without `template`, `source` or `author` has that of the bundled one. With `page_text`
    the judge also gets the text on the image, where the dataset has it.
    """

    mark: ClassVar[str] = "答卷"
    """The word of the delimiters around an answer."""
    name: str
    version: str
    template: str = _AS_BUNDLED
    source: str = _AS_BUNDLED
    author: str = _AS_BUNDLED
    rubrics: dict[str, Rubric]
    page_text: bool = False

    @cached_property
    def id(self) -> str:
        """Name, version and hash of the whole file; part of every grade's signature.

        It names ``page-text`` where the judge gets the text on the image.
        """
        return f"{self.name}-{self.version}{'-page-text' * self.page_text}-{_hash_of(self)}"

    @cached_property
    def queries(self) -> dict[str, Rubric]:
        """The rubric of each known query that has one, by ``ID`` or ``ID/QUERY``.

        A query that the file does not name has the rubric of its definition (`Query.rubric`).
        """
        own = _queries(benchmark for benchmark in definitions() if not benchmark.shipped)
        defined = {name: self.rubrics.get(query.rubric) for name, query in own.items()}
        listed = {name: rubric for rubric in self.rubrics.values() for name in rubric.tasks}
        return {name: rubric for name, rubric in defined.items() if rubric} | listed

    def rubric(self, task: str, query: str = "") -> Rubric | None:
        """The rubric for a query of a task, or None if there is none."""
        return self.queries.get(f"{task}/{query}" if query else task)

    def tasks(self, *, only_open: bool = False) -> set[str]:
        """The ids of the tasks that have a rubric, or of those that are graded by default."""
        return {
            name.partition("/")[0]
            for name, rubric in self.queries.items()
            if rubric.open or not only_open
        }


class _FormPrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: str
    reply: str


class ExtractionPrompts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The prompts of extractors, by form of the answer."""

    mark: ClassVar[str] = "回答"
    name: str
    version: str
    options: str
    template: str
    forms: dict[AnswerForm, _FormPrompt]

    @cached_property
    def id(self) -> str:
        """Name, version and hash of all prompts; part of the signature of what they decide."""
        return f"{self.name}-{self.version}-{_hash_of(self)}"


@cache
def extraction_prompts() -> ExtractionPrompts:
    """The prompts of extractors that keju ships."""
    return shipped_toml("keju.judging", "extract.toml", ExtractionPrompts)


def question_of(item: Item, boxes: str = "") -> str:
    """The prompt of an item for judges, extractors and people who read answers to it.

    Answers from elsewhere may be to items without options; then a blank for them stays empty.

    Raises:
        DataError: another blank of the prompt has no value.
    """
    return prompt_of(replace(item, fields={"options": " "} | item.fields), boxes)


def sealed_prompt(
    prompts: Rubrics | ExtractionPrompts, blanks: Mapping[str, str], text: str, *texts: str
) -> str:
    """The template of prompts, filled, with an untrusted text between two delimiters.

    The number of the delimiters is computed from the prompts, the text and further `texts`.
    """
    seal = seal_of(prompts.id, *texts, text)
    values = {
        **blanks,
        "opening": f"⟦{prompts.mark} {seal}⟧",
        "answer": without_marks(text),
        "closing": f"⟦{prompts.mark}完 {seal}⟧",
    }
    prompt = _BLANK.sub(lambda blank: values.get(blank[1], blank[0]), prompts.template.strip())
    return prompt.encode("utf-8", "replace").decode()


def _queries(benchmarks: Iterable[Definition]) -> dict[str, Query]:
    """The queries of benchmarks, by ``ID`` or ``ID/QUERY``."""
    return {
        f"{task.id}/{query.name}" if query.name else task.id: query
        for definition in benchmarks
        for task in definition.tasks
        for query in task.queries
    }


def check_rubrics(definition: Definition, place: str) -> None:
    """Check that the rubrics that a definition names are bundled.

    Raises:
        DataError: one is not; the message names the task and the available rubrics.
    """
    bundled = read_rubrics().rubrics
    for name, query in _queries([definition]).items():
        if query.rubric and query.rubric not in bundled:
            raise DataError(
                "no rubric {!r}",
                shortened(query.rubric),
                file=place,
                item=f"tasks.{name.partition('/')[0]}",
                hint=_("Rubrics: {}", ", ".join(bundled)),
            )


def read_rubrics(path: Path | None = None) -> Rubrics:
    """Read a file of rubrics, by default the bundled one.

    Raises:
        UsageError: there is no such file.
        DataError: it is not a file of rubrics, lacks a placeholder, or names an unknown query.
    """
    rubrics = bundled = shipped_toml("keju.judging", _SHIPPED, Rubrics)
    if path is not None and path.is_file():
        form = f"Its form is that of keju/judging/{_SHIPPED}"
        rubrics = read_toml(path, Rubrics, what="a file of rubrics", hint=form)
        parts = ("template", "source", "author")
        missing = [name for name in parts if getattr(rubrics, name) == _AS_BUNDLED]
        rubrics = replace(rubrics, **{name: getattr(bundled, name) for name in missing})
    elif path is not None:
        raise UsageError("{}: no such file of rubrics", path)
    name = str(path or _SHIPPED)
    if lacking := [blank for blank in _BLANKS if f"{{{blank}}}" not in rubrics.template]:
        raise DataError("the template does not contain the blank {{{}}}", lacking[0], file=name)
    shipped = _queries(benchmark for benchmark in definitions() if benchmark.shipped)
    for title, rubric in rubrics.rubrics.items():
        if not rubric.tasks:
            tasks = tuple(task for task, query in shipped.items() if query.rubric == title)
            rubrics.rubrics[title] = replace(rubric, tasks=tasks)
    counts = Counter(task for rubric in rubrics.rubrics.values() for task in rubric.tasks)
    if unknown := counts.keys() - _queries(definitions()):
        queries = ", ".join(sorted(unknown))
        raise DataError("no such query: {}", queries, file=name, hint="See: keju tasks")
    if counts.total() > len(counts):
        raise DataError("a query has two rubrics", file=name)
    return rubrics
