"""`Definition`: a benchmark as its definition file (TOML) declares it, and the parser of the file.

Bundled benchmarks and those of users have the same file format and the same parser. A definition is
data: nothing of it is imported or evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Literal, NoReturn, TypeVar, cast, get_args

import msgspec
from msgspec import field

from keju.definitions.tasks import AnswerLanguage, Candidates, CountKind, Query, Task
from keju.errors import DataError, UsageError, error_text, shortened, unknown_name
from keju.files import parse_toml
from keju.items import AnswerForm, Record
from keju.metrics.boxes import box_convention
from keju.texts import _, either

_FORMS: tuple[str, ...] = get_args(AnswerForm)
_PAIR_FORMS = ("yes-no", "probability")
_NAME = re.compile(r"\w[\w .-]{0,63}")
_ID = re.compile(r"\w[\w.-]{0,63}")
_BLANK = re.compile(r"\{([A-Za-z_][A-Za-z0-9_ ]*)\}")
_UNKNOWN_FIELD = re.compile(r"contains unknown field `(.+?)`")
_BIBTEX = re.compile(r"@[A-Za-z]+\{[^\s,{}\"#%'()=~\\]+,")
_Table = dict[str, Any]
_Shape = TypeVar("_Shape", bound=msgspec.Struct)


class Mean(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mean in addition to the overall mean: over domains, of some tasks only.

    `formats` are the formats of its tasks, and `without` the ids of tasks that do not count.
    """

    formats: tuple[str, ...]
    without: tuple[str, ...] = ()

    def tasks_of(self, tasks: Iterable[Task]) -> list[Task]:
        """Those of some tasks that this mean includes."""
        return [
            each for each in tasks if each.format in self.formats and each.id not in self.without
        ]


class Drafts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tasks that `keju build draft` makes from a kind of draft.

    `tasks` are those that the drafts can be of, that of new items first. `show` is the material
    from which they are drafted; empty: that of the kind's stages.
    """

    tasks: tuple[str, ...]
    show: Literal["", "text", "image", "image-and-text"] = ""


class Definition(Record, frozen=True, kw_only=True):
    """A benchmark: its metadata, and its tasks in their order.

    `title` and `title_zh` are the name in headings. `plugins` are the distributions that must be
    installed. The metrics of the `official` protocol are computed as those of the published
    benchmark `official_as`, where it names one. `means` are shown in addition to the overall mean.
    `printed_metrics` maps the metric names of a paper to metrics of the `official` protocol.
    `reading_task` is the task whose prompt a model gets that transcribes an image before it
    answers; `drafts` has the kinds of drafts that make items. `official_with_reasoning` states
    that `official` is also computed with reasoning that came in a field of its own. The ids of
    numbered tasks are `number_prefix` and the number. `citation` is one line, `bibtex` an entry,
    and `data` a text that says where to get the data.
    """

    name: str
    version: str
    title: str
    title_zh: str
    url: str
    citation: str
    licence: str
    plugins: tuple[str, ...]
    official_as: str
    official_with_reasoning: bool
    number_prefix: str
    means: dict[str, Mean]
    printed_metrics: dict[str, tuple[str, ...]]
    tasks: tuple[Task, ...]
    reading_task: str = ""
    drafts: dict[str, Drafts] = field(default_factory=dict)
    bibtex: str = ""
    data: str = ""


class _Family(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    form: str
    strict: tuple[str, ...]
    official: tuple[str, ...] = ()
    official_note: str = ""
    rubric: str = ""
    translation: bool = False
    image: bool = True


class _Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    family: str = ""
    ask: str = ""
    requirement: str = ""
    box_convention: str = ""
    rubric: str = ""


class _QueryRow(_Question, frozen=True, kw_only=True):
    family: str
    ask: str


class _TaskRow(_Question, frozen=True, kw_only=True):
    name_zh: str
    name_en: str
    domain: str
    format: str
    count: int = 0
    note: str = ""
    direction: str = ""
    candidates: Candidates = ""
    transcription_from: str = ""
    queries: dict[str, _Table] = field(default_factory=dict)


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    version: str
    tasks: dict[str, _Table]
    families: dict[str, _Table]
    title: str = ""
    title_zh: str = ""
    url: str = ""
    citation: str = ""
    licence: str = ""
    plugins: tuple[str, ...] = ()
    official_as: str = ""
    official_with_reasoning: bool = False
    number_prefix: str = ""
    answer_language: AnswerLanguage = ""
    count_kind: CountKind = "open"
    domains_zh: dict[str, str] = field(default_factory=dict)
    means: dict[str, _Table] = field(default_factory=dict)
    printed_metrics: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reading_task: str = ""
    drafts: dict[str, _Table] = field(default_factory=dict)
    bibtex: str = ""
    data: str = ""


def parse_definition(text: str, place: str, *, bundled: bool = False) -> Definition:
    """The definition in a TOML text.

    Args:
        text: the file's content.
        place: the name of the file in errors.
        bundled: whether keju contains the definition. Its tasks are then `from_paper` if they have
            counts and a family has official metrics.

    Raises:
        DataError: the text is not a definition; the error names the table in it, with a hint.
    """
    return _Parser(text, place).definition(bundled=bundled)


def _filled(shape: type[_Shape], row: msgspec.Struct, parsed: _Table) -> _Shape:
    """A record of the parsed values, and of those that a table states under the same names."""
    known = msgspec.structs.asdict(row) | parsed
    return shape(**{name: known[name] for name in shape.__struct_fields__ if name in known})


class _Parser:
    def __init__(self, text: str, place: str) -> None:
        self._place = place
        table = parse_toml(text, file=place, problem="not a benchmark definition")
        self._file = self._shaped(table, _File, "")
        self._families = {
            name: self._family(name, each) for name, each in self._file.families.items()
        }

    def definition(self, *, bundled: bool) -> Definition:
        file = self._file
        if not _NAME.fullmatch(file.name):
            self._fail(
                _(
                    "the name {!r} is not usable",
                    shortened(file.name),
                    hint="Use letters, digits, spaces, points and hyphens, at most 64",
                )
            )
        if not file.version.strip():
            self._fail(_("the version is empty", hint='Write a version, such as version = "1"'))
        if not file.tasks:
            self._fail(_("no tasks", hint="Declare at least one, as [tasks.NAME]"))
        self._check_numbers(file.number_prefix)
        has_official = any(each.official for each in self._families.values())
        from_paper = bundled and has_official and file.count_kind != "open"
        tasks = tuple(self._task(name, row, from_paper) for name, row in file.tasks.items())
        for each in tasks:
            self._transcribing(f"tasks.{each.id}", each.transcription_from, tasks)
        self._check_bibtex(file.bibtex)
        named = {name for each in tasks for name in (each.domain, each.direction)} - {""}
        self._known("domains_zh", file.domains_zh, named, "domain")
        parsed: _Table = {
            "means": {name: self._mean(name, row, tasks) for name, row in file.means.items()},
            "tasks": tasks,
            "reading_task": self._transcribing("reading_task", file.reading_task, tasks),
            "drafts": {name: self._drafts(name, row) for name, row in file.drafts.items()},
        }
        return _filled(Definition, file, parsed)

    def _check_bibtex(self, text: str) -> None:
        """Check that a text is one entry, so that it cannot break the file that it is copied to."""
        entry = text.strip()
        # The depth of braces is 0 at the end of the entry, and nowhere after its beginning.
        depths = list(accumulate({"{": 1, "}": -1}.get(char, 0) for char in entry))
        is_whole = depths[-1:] == [0] and 0 not in depths[entry.find("{") : -1]
        if text and not (_BIBTEX.match(entry) and is_whole):
            self._fail(
                _("bibtex is not one entry", hint="Write one, such as @misc{key, title = {…}}"),
                item="bibtex",
            )

    def _check_numbers(self, prefix: str) -> None:
        numbered = (name.partition(prefix)[::2] for name in self._file.tasks if prefix)
        if prefix and not any(not left and right.isdecimal() for left, right in numbered):
            self._fail(
                _(
                    "number_prefix is {!r}, but no task has a number after it",
                    shortened(prefix),
                    hint=_(
                        "Name the tasks {0}1, {0}2, …, or remove number_prefix", shortened(prefix)
                    ),
                )
            )

    def _drafts(self, name: str, row: _Table) -> Drafts:
        item = f"drafts.{name}"
        drafts = self._shaped(row, Drafts, item)
        self._known(item, drafts.tasks, self._file.tasks, "task")
        if not drafts.tasks:
            self._fail(
                _("the group has no tasks", hint='Name at least one, such as tasks = ["TASK"]'),
                item=item,
            )
        return drafts

    def _transcribing(self, item: str, name: str, tasks: Iterable[Task]) -> str:
        """A task that asks for the text of images, or an empty name."""
        if name:
            known = [each.id for each in tasks if each.queries[0].form == "transcription"]
            self._known(item, [name], known, "task of the form transcription")
        return name

    def _family(self, name: str, row: _Table) -> _Family:
        item = f"families.{name}"
        family = self._shaped(row, _Family, item)
        self._known(item, [family.form], _FORMS, "answer form")
        if family.translation and family.form != "text":
            self._fail(
                _(
                    "translation, but the answer form is {}",
                    family.form,
                    hint='A translation has form = "text"',
                ),
                item=item,
            )
        return family

    def _mean(self, name: str, row: _Table, tasks: Iterable[Task]) -> Mean:
        item = f"means.{name}"
        mean = self._shaped(row, Mean, item)
        self._known(item, mean.formats, {each.format for each in tasks}, "format")
        self._known(item, mean.without, {each.id for each in tasks}, "task")
        return mean

    def _task(self, task_id: str, table: _Table, from_paper: bool) -> Task:
        item = f"tasks.{task_id}"
        row, file = self._shaped(table, _TaskRow, item), self._file
        self._check_id(task_id, item)
        self._check_names(row, item)
        if bool(row.count) == (file.count_kind == "open") or row.count < 0:
            self._fail(
                _(
                    "the task gives count as {}, but the count_kind of the file is {!r}",
                    row.count,
                    file.count_kind,
                    hint=(
                        'Give every task its number of items and set count_kind = "items", or '
                        "remove every count"
                    ),
                ),
                item=item,
            )
        if bool(row.queries) == bool(row.family and row.ask):
            self._fail(
                _(
                    "needs either queries, or a family and what it asks",
                    hint='Write family = "…" and ask = "…", or tables [tasks.NAME.queries.QUERY]',
                ),
                item=item,
            )
        if row.candidates and row.format != "pairs":
            self._fail(_("the task has candidates, but its format is not pairs"), item=item)
        parsed: _Table = {
            "id": task_id,
            "benchmark": file.name,
            "domain_zh": file.domains_zh.get(row.domain, ""),
            "direction_zh": file.domains_zh.get(row.direction, ""),
            "queries": tuple(self._queries(item, row)),
            "count_kind": file.count_kind,
            "from_paper": from_paper,
        }
        return _filled(Task, row, parsed)

    def _queries(self, item: str, row: _TaskRow) -> Iterator[Query]:
        if not row.queries:
            yield self._query(item, "", row, row.format)
            return
        if row.family or row.ask or row.requirement or row.box_convention or row.rubric:
            self._fail(
                _(
                    "family, ask, requirement, box_convention and rubric belong to its queries",
                    hint="Move them into the tables of the queries",
                ),
                item=item,
            )
        for name, table in row.queries.items():
            place = f"{item}.queries.{name}"
            self._check_id(name, place)
            yield self._query(place, name, self._shaped(table, _QueryRow, place), row.format)

    def _query(self, item: str, name: str, row: _Question, format_: str) -> Query:
        self._known(item, [row.family], self._families, "family")
        family = self._families[row.family]
        form = cast("AnswerForm", family.form)
        template = "\n".join(part for part in (row.ask, row.requirement) if part)
        self._check_blanks(item, template)
        if format_ == "pairs" and form not in _PAIR_FORMS:
            self._fail(
                _(
                    "format pairs, but the answer form is {}",
                    form,
                    hint=_("Pairs are answered as {}", either(_PAIR_FORMS)),
                ),
                item=item,
            )
        self._check_boxes(item, row.box_convention, form, template)
        parsed: _Table = {
            "name": name,
            "template": template,
            "requirement": row.requirement,
            "rubric": row.rubric or family.rubric,
            "answer_language": self._file.answer_language,
            "box_convention": row.box_convention,
        }
        return _filled(Query, family, parsed)

    def _check_id(self, name: str, item: str) -> None:
        if not _ID.fullmatch(name):
            self._fail(
                _(
                    "the name {!r} is not usable",
                    shortened(name),
                    hint="Use letters, digits, _, . and -, at most 64",
                ),
                item=item,
            )

    def _check_names(self, row: _TaskRow, item: str) -> None:
        for name in ("name_zh", "name_en", "domain", "format"):
            if not getattr(row, name).strip():
                self._fail(_("{} is empty", name, hint="Fill it in"), item=item)

    def _check_blanks(self, item: str, template: str) -> None:
        for name in _BLANK.findall(template):
            if not re.fullmatch("[a-z_]+", name):
                self._fail(
                    _(
                        "the blank {{{}}} would not be filled",
                        name,
                        hint="Write the names of blanks in small letters and _",
                    ),
                    item=item,
                )

    def _check_boxes(self, item: str, convention: str, form: AnswerForm, template: str) -> None:
        if convention:
            try:
                box_convention(convention)
            except UsageError as error:
                self._fail(error_text(error), item=item)
        elif form == "boxes" or "{box_format}" in template:
            self._fail(
                _(
                    "asks for boxes without a box_convention",
                    hint='Write, for example, box_convention = "xyxy"',
                ),
                item=item,
            )

    def _shaped(self, table: Any, shape: type[_Shape], item: str) -> _Shape:  # noqa: ANN401
        try:
            return msgspec.convert(table, shape)
        except msgspec.ValidationError as error:
            said = str(error).removesuffix(" - at `$`")
            if found := _UNKNOWN_FIELD.search(said):
                self._known(item, [found[1]], shape.__struct_fields__, "key")
            problem = said.replace("`$.", "`").replace("Object ", "")
            self._fail(
                problem, item=item, hint=_("Compare it with a draft: keju benchmark new NAME")
            )

    def _known(
        self, item: str, names: Iterable[str], known: Iterable[str] | Mapping[str, Any], what: str
    ) -> None:
        """Check that names are among the known ones."""
        there = list(known)
        for name in names:
            if name not in there:
                self._fail(unknown_name(name, sorted(there), what), item=item)

    def _fail(self, problem: str, *, item: str = "", hint: str | None = None) -> NoReturn:
        raise DataError(problem, file=self._place, item=item or None, hint=hint) from None
