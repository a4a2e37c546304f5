"""`Definition`, `Task`, `Query`: the records of a definition file (TOML), and its parser.

The fields of the records are the keys of the file. A query has the keys of its family, which are
defaults, those of its own table, and those of the file. Bundled benchmarks and those of users have
the same format and parser. A definition is data: nothing of it is imported or evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from msgspec import field
from msgspec.structs import replace

from keju.definitions.protocols import PROTOCOL_ROWS
from keju.errors import DataError, UsageError, shortened, unknown_name
from keju.files import parse_toml
from keju.items import AnswerForm, Item, Protocol, Record
from keju.metrics.boxes import box_convention
from keju.settings import convert_settings
from keju.texts import _, either

CountKind = Literal["items", "items-implied", "images", "open"]
"""The unit of a task's `count`: items printed by the paper, items implied by pages times questions
per page, or images; `open`: the definition states no number, and the count is 0."""

AnswerLanguage = Literal["", "en"]
"""The language of free answers, where one in another language is to be marked."""

Candidates = Literal["", "fragments", "classes"]
"""The kind of a query's candidates, where a definition states it."""

NAME = re.compile(r"\w[\w .-]{0,63}")
"""The form of a benchmark's name."""

_ID = re.compile(r"\w[\w.-]{0,63}")
BLANK = re.compile(r"\{([a-z_]+)\}")
"""A placeholder of a template."""

_WRONG_BLANK = re.compile(r"\{(?![a-z_]+\})([A-Za-z_][A-Za-z0-9_ ]*)\}")
_PAIR_FORMS = ("yes-no", "probability")
_Table = dict[str, Any]


class Query(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question form of a task.

    A task's only query is named ``""``. `ask` has placeholders such as ``{question}`` or
    ``{options}``; `requirement` is the answer-format sentence, where the benchmark has one.
    `official`, `strict` and `printed` name the metrics of each protocol, the main one first; the
    name of a printed one is that of an official one and ``_`` with more. `official_note` is a
    sentence that a reader of the official values needs. `rubric` names the rubric by which a
    judge grades the answers, where the definition names one. A `translation` is extracted without
    the original and notes. `image` states whether items have images; those of a task about texts
    have none. `answer_language` is that of the file.
    """

    name: str = ""
    family: str = ""
    form: AnswerForm
    strict: tuple[str, ...]
    official: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    official_note: str = ""
    rubric: str = ""
    translation: bool = False
    image: bool = True
    ask: str = ""
    requirement: str = ""
    box_convention: str = ""
    answer_language: AnswerLanguage = ""

    def metrics(self, protocol: Protocol) -> tuple[str, ...]:
        """The names of the metrics of a protocol, the main one first."""
        names: tuple[str, ...] = getattr(self, PROTOCOL_ROWS[protocol].metrics)
        return names

    @property
    def template(self) -> str:
        """The prompt with its placeholders: `ask`, and `requirement` on a line of its own."""
        return "\n".join(filter(None, (self.ask, self.requirement)))


class Task(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task of a benchmark.

    `candidates` is the kind of a query's candidates in a pair task: ``fragments`` of one thing, or
    crops of ``classes``. An item without a transcription has that of an item of the task
    `transcription_from` about the same images. `direction` divides a domain, where the definition
    does so: tasks of one direction have a mean of their own within it.
    """

    id: str
    benchmark: str
    name_zh: str
    name_en: str
    domain: str
    domain_zh: str = ""
    direction: str = ""
    direction_zh: str = ""
    format: str
    queries: tuple[Query, ...] = ()
    count: int = 0
    count_kind: CountKind
    note: str = ""
    candidates: Candidates = ""
    transcription_from: str = ""

    @property
    def row(self) -> dict[str, object]:
        """The task as ``keju tasks --json`` lists it, with the metrics of all its queries."""
        official = dict.fromkeys(name for query in self.queries for name in query.official)
        strict = dict.fromkeys(name for query in self.queries for name in query.strict)
        names = ("id", "benchmark", "name_zh", "name_en", "domain", "format")
        row = {name: getattr(self, name) for name in names}
        row["metrics"] = {"official": list(official), "strict": list(strict)}
        return row | {"count": self.count, "count_kind": self.count_kind}

    @property
    def has_official(self) -> bool:
        """Whether the task has metrics of the `official` protocol."""
        return any(query.official for query in self.queries)

    @property
    def of_pairs(self) -> bool:
        """Whether two images are sent at a time, and an item's answers form a ranking."""
        return self.format == "pairs"

    @property
    def unit(self) -> str:
        """The unit of `count`, as a word: items or images."""
        return "images" if self.count_kind == "images" else "items"

    def counted(self, items: Iterable[Item]) -> int:
        """The number of items of this task, or of their different images, as `count` counts."""
        if self.count_kind == "images":
            return len({image.sha256 for item in items for image in item.images})
        return len({(item.query, item.id) for item in items})


class Mean(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mean in addition to the overall mean: over domains, of some tasks only.

    `formats` are the formats of its tasks, and `without` the ids of tasks that do not count.
    """

    formats: tuple[str, ...]
    without: tuple[str, ...] = ()

    def tasks_of(self, tasks: Iterable[Task]) -> list[Task]:
        """Those of some tasks that this mean includes."""
        return [
            task for task in tasks if task.format in self.formats and task.id not in self.without
        ]


class Drafts(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tasks that `keju build draft` makes from a kind of draft.

    `tasks` are those that the drafts can be of, that of new items first. `show` is the material
    from which they are drafted; empty: that of the kind's stages.
    """

    tasks: tuple[str, ...]
    show: Literal["", "text", "image", "image-and-text"] = ""


class Definition(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark: its metadata, and its tasks in their order.

    `title` (by default `name`) and `title_zh` are the name in headings. `plugins` are the
    distributions and files that must be there. The metrics of the `official` protocol are computed
    as those of the published benchmark `official_as`, where it names one. `means` are shown in
    addition to the overall mean.
    `printed_metrics` maps the metric names of a paper to metrics of the `official` protocol.
    `reading_task` is the task whose prompt a model gets that transcribes an image before it
    answers; `drafts` has the kinds of drafts that make items. `official_with_reasoning` states
    that `official` is also computed with reasoning that came in a field of its own. The ids of
    numbered tasks are `number_prefix` and the number. `citation` is one line, `bibtex` an entry,
    and `data` a text that says where to get the data.

    The file does not have the last four: its `text` and its `place` for messages; whether keju
    bundles it; and its `folder`, None where the text is in a dataset or run.
    """

    name: str
    version: str
    title: str = ""
    title_zh: str = ""
    url: str = ""
    citation: str = ""
    bibtex: str = ""
    data: str = ""
    licence: str = ""
    plugins: tuple[str, ...] = ()
    official_as: str = ""
    official_with_reasoning: bool = False
    number_prefix: str = ""
    answer_language: AnswerLanguage = ""
    count_kind: CountKind = "open"
    reading_task: str = ""
    printed_metrics: dict[str, tuple[str, ...]] = field(default_factory=dict)
    domains_zh: dict[str, str] = field(default_factory=dict)
    families: dict[str, dict[str, Any]] = field(default_factory=dict)
    means: dict[str, Mean] = field(default_factory=dict)
    drafts: dict[str, Drafts] = field(default_factory=dict)
    tasks: tuple[Task, ...] = ()
    text: str = ""
    place: str = ""
    shipped: bool = False
    folder: Path | None = None

    @property
    def content(self) -> Definition:
        """The definition without where it comes from, to compare it with another one."""
        return replace(self, text="", place="", shipped=False, folder=None)

    @property
    def has_official(self) -> bool:
        """Whether a task has metrics of the `official` protocol."""
        return any(task.has_official for task in self.tasks)

    @property
    def from_paper(self) -> bool:
        """Whether it is bundled and has what a paper states: counts, and `official` metrics."""
        return self.shipped and self.has_official and self.count_kind != "open"

    @property
    def file(self) -> Path | None:
        """The file, where the user named it, as with ``--benchmark``."""
        path = Path(self.place)
        return path if self.folder == path.parent else None


_QUERY_KEYS = [key for key in Query.__struct_fields__ if key not in {"name", "answer_language"}]
"""The keys of a query's table."""


def parse_definition(
    text: str, place: str, *, bundled: bool = False, folder: Path | None = None
) -> Definition:
    """The definition in a TOML text.

    Args:
        text: the file's content.
        place: the name of the file in errors.
        bundled: whether keju contains the definition.
        folder: the file's directory.

    Raises:
        DataError: the text is not a definition; the error names the table in it, with a hint.
    """
    table = parse_toml(text, file=place, problem="not a benchmark definition")
    try:
        tasks, means, drafts = (take_rows("", table, key) for key in ("tasks", "means", "drafts"))
        about = {"text": text, "place": place, "shipped": bundled, "folder": folder}
        file = convert_settings(table, Definition, place="", derived=about)
        _check_name("", file.name, NAME)
        for name, family in file.families.items():
            # A family is checked alone too, so that an error does not name one of its tasks.
            query = {"form": "text", "strict": [], **family}
            derived = {"name": "", "answer_language": ""}
            convert_settings(query, Query, place=f"families.{name}", derived=derived)
        file = replace(
            file,
            title=file.title or file.name,
            tasks=tuple(_task(file, name, row) for name, row in tasks.items()),
            means={
                name: convert_settings(row, Mean, place=f"means.{name}")
                for name, row in means.items()
            },
            drafts={
                name: convert_settings(row, Drafts, place=f"drafts.{name}")
                for name, row in drafts.items()
            },
        )
        _check_content(file)
    except DataError as error:
        hint = error.hint or _("Compare it with a draft: keju benchmark new NAME")
        raise DataError(error.problem, file=place, item=error.item, hint=hint) from None
    return file


def take_rows(item: str, table: _Table, key: str) -> dict[str, _Table]:
    """The table of tables with a key, which is removed from a table."""
    rows = table.pop(key, {})
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise DataError("{} needs a table for each name", key, item=item or None)
    return rows


def _check_content(file: Definition) -> None:
    """Check that nothing is empty, and the names of tasks, domains and formats in other tables."""
    if not file.version.strip():
        raise DataError("the version is empty", hint='Write a version, such as version = "1"')
    if not file.tasks:
        raise DataError("no tasks", hint="Declare at least one, as [tasks.NAME]")
    ids = [task.id for task in file.tasks]
    domains = {name for task in file.tasks for name in (task.domain, task.direction)}
    formats = {task.format for task in file.tasks}
    transcribing = [task.id for task in file.tasks if task.queries[0].form == "transcription"]
    sources = [(f"tasks.{task.id}", task.transcription_from) for task in file.tasks]
    for item, name in [*sources, ("reading_task", file.reading_task)]:
        _check_known(item, [name], ["", *transcribing], "task of the form transcription")
    _check_known("domains_zh", file.domains_zh, domains, "domain")
    for name, mean in file.means.items():
        _check_known(f"means.{name}", mean.formats, formats, "format")
        _check_known(f"means.{name}", mean.without, ids, "task")
    for name, group in file.drafts.items():
        _check_known(f"drafts.{name}", group.tasks, ids, "task")
        if not group.tasks:
            hint = _('Name at least one, such as tasks = ["TASK"]')
            raise DataError("the group has no tasks", item=f"drafts.{name}", hint=hint)


def _task(file: Definition, task_id: str, table: _Table) -> Task:
    item = f"tasks.{task_id}"
    _check_name(item, task_id, _ID)
    own_query = {key: table.pop(key) for key in _QUERY_KEYS if key in table}
    queries = take_rows(item, table, "queries")
    derived = {
        "id": task_id,
        "benchmark": file.name,
        "domain_zh": file.domains_zh.get(str(table.get("domain")), ""),
        "direction_zh": file.domains_zh.get(str(table.get("direction")), ""),
        "count_kind": file.count_kind,
        "queries": (),
    }
    more_keys = (*_QUERY_KEYS, "queries")
    task = convert_settings(table, Task, place=item, derived=derived, more_keys=more_keys)
    for name in ("name_zh", "name_en", "domain", "format"):
        if not getattr(task, name).strip():
            raise DataError("{} is empty", name, item=item, hint="Fill it in")
    if bool(task.count) == (task.count_kind == "open") or task.count < 0:
        raise DataError(
            "the task gives count as {}, but the count_kind of the file is {!r}",
            task.count,
            task.count_kind,
            item=item,
            hint='Give every task its number of items and set count_kind = "items", or '
            "remove every count",
        )
    if queries and own_query:
        raise DataError("{} belong to its queries", ", ".join(own_query), item=item)
    if not queries and not own_query.get("ask"):
        raise DataError(
            "needs either queries, or a family and what it asks",
            item=item,
            hint='Write family = "…" and ask = "…", or tables [tasks.NAME.queries.QUERY]',
        )
    rows = [(f"{item}.queries.{name}", name, query) for name, query in queries.items()]
    return replace(
        task, queries=tuple(_query(*row, file, task) for row in rows or [(item, "", own_query)])
    )


def _query(item: str, name: str, table: _Table, file: Definition, task: Task) -> Query:
    if name:
        _check_name(item, name, _ID)
    family = {}
    if "family" in table:
        _check_known(item, [table["family"]], file.families, "family")
        family = file.families[table["family"]]
    derived = {"name": name, "answer_language": file.answer_language}
    query = convert_settings(family | table, Query, place=item, derived=derived)
    if blank := _WRONG_BLANK.search(f"{query.ask} {query.requirement}"):
        hint = _("Write the names of blanks in small letters and _")
        raise DataError("the blank {{{}}} would not be filled", blank[1], item=item, hint=hint)
    if task.of_pairs and query.form not in _PAIR_FORMS:
        hint = _("Pairs are answered as {}", either(_PAIR_FORMS))
        raise DataError("format pairs, but the answer form is {}", query.form, item=item, hint=hint)
    if query.box_convention:
        try:
            box_convention(query.box_convention)
        except UsageError as error:
            raise DataError(error.problem, item=item) from None
    elif query.form == "boxes" or "{box_format}" in query.ask:
        hint = _('Write, for example, box_convention = "xyxy"')
        raise DataError("asks for boxes without a box_convention", item=item, hint=hint)
    return query


def _check_name(item: str, name: str, form: re.Pattern[str]) -> None:
    if not form.fullmatch(name):
        hint = _("Use letters, digits, _, . and -, at most 64")
        raise DataError("the name {!r} is not usable", shortened(name), item=item, hint=hint)


def _check_known(item: str, names: Iterable[str], known: Iterable[str], word: str) -> None:
    """Check that names are among the known ones."""
    choices = sorted(known)
    for name in names:
        if name not in choices:
            raise DataError(unknown_name(str(name), choices, word), item=item)
