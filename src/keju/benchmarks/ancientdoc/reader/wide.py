"""AncientDoc's wide table ``label.csv``: one row per page, columns for each task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath

import msgspec

from keju.benchmarks.ancientdoc.reader.columns import (
    QA_TASKS,
    TEXT_TASKS,
    WIDE_FIELDS,
    TaskColumns,
    WideColumns,
    wide_columns,
    without_task_columns,
)
from keju.benchmarks.ancientdoc.reader.images import PageImage, PageImages, page_path
from keju.benchmarks.ancientdoc.reader.items import STRATA, make_item
from keju.benchmarks.ancientdoc.reader.long import embedded, page_of
from keju.benchmarks.ancientdoc.reader.tables import image_in
from keju.datasets.newlines import Newlines
from keju.datasets.readers.base import join_names
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.metadata import metadata_of, other_metadata
from keju.datasets.readers.records import JsonObject, Place, map_fields, text_of
from keju.datasets.readers.tables import Row
from keju.datasets.store import DatasetWriter
from keju.definitions import task as find_task
from keju.errors import DataError, number_of, shortened
from keju.files import decode_json
from keju.items import Item
from keju.texts import _, n_

_MARKS = re.compile(
    r"(?:^|\n)\s*(?P<kind>问题?|問題?|Q(?:uestion)?|答案?|A(?:nswer)?)\s*\d*\s*[:：]\s*",
    re.IGNORECASE,
)


_NAME = re.compile(r"(?P<book>.+?)(?P<page>page_\d+\.\w+)", re.IGNORECASE)


class WideTable:
    """Reads a wide table.

    Args:
        file: the table.
        rows: its rows.
        given: names of columns, from the options ``field.NAME``.

    Raises:
        UsageError: an option names a column that does not exist.
        DataError: no column has the page's name.
    """

    def __init__(self, file: Path, rows: Sequence[Row], given: Mapping[str, str]) -> None:
        self.file = file
        self.rows = rows
        records = [row.cells for row in rows]
        names = list(dict.fromkeys(key for record in records for key in record))
        self.columns = wide_columns(names, given) or WideColumns((), tuple(names))
        self.fields = map_fields(file, records, WIDE_FIELDS, without_task_columns(given))
        self._others = self._log(records)
        self._empty: Counter[str] = Counter()
        self._unread: list[str] = []
        self._again: list[str] = []
        self.missing: dict[str, str] = {}
        self._texts: dict[str, tuple[str, str]] = {}

    def _log(self, records: Sequence[JsonObject]) -> tuple[str, ...]:
        for role, field in self.fields.items():
            import_log().used(role, field)
        for task, *columns in self.columns.asked:
            for column in filter(None, columns):
                import_log().used(task, column)
        unused = [each for each in self.columns.others if each not in self.fields.values()]
        return other_metadata(records, unused)

    def items(
        self, images: PageImages, writer: DatasetWriter, newlines: Newlines
    ) -> Iterator[Item]:
        """The items of all rows whose image is found; the others are in `missing`.

        Raises:
            DataError: a row without a name, or a broken image.
        """
        for place, cells in self.rows:
            image = self._image(place, cells, images, writer)
            if image is None:
                continue
            known = metadata_of(cells, self._others)
            known |= {"page": page_path(image.page).as_posix()}
            for role in STRATA:
                if role in self.fields and self.fields[role] != self.fields["image"]:
                    known[role] = text_of(cells, self.fields[role], place)
            found = [
                (asked.task, *pair)
                for asked in self.columns.asked
                for pair in self._questions(place, cells, asked, newlines)
            ]
            found = self._new(found, known["page"], place)
            if found:
                ref = image.store(writer)
                for task, question, answer in found:
                    yield make_item(find_task(task), question, answer, ref, known)

    def _new(
        self, found: list[tuple[str, str, str]], page: str, place: Place
    ) -> list[tuple[str, str, str]]:
        """The questions without the text of a page that an earlier row has too.

        Raises:
            DataError: the earlier row has another text.
        """
        new: list[tuple[str, str, str]] = []
        for task, question, answer in found:
            if task not in TEXT_TASKS:
                new.append((task, question, answer))
                continue
            text, earlier = self._texts.setdefault(f"{task} {page}", (answer, place.item))
            if text != answer:
                raise place.error(
                    _(
                        "{} of {} differs from {}",
                        task,
                        shortened(page),
                        earlier,
                        hint="Keep the row that is right",
                    )
                )
            if earlier == place.item:
                new.append((task, question, answer))
            else:
                self._again.append(place.item)
        return new

    def _image(
        self, place: Place, cells: JsonObject, images: PageImages, writer: DatasetWriter
    ) -> PageImage | None:
        category = text_of(cells, self.fields.get("category"), place).strip()
        stated = cells.get(self.fields["image"])
        name = "" if isinstance(stated, Mapping | bytes) else str(stated or "").strip()
        if inside := image_in(cells):
            path, ref = embedded(inside, place, writer)
            return PageImage(_page(category, name, path), ref=ref)
        if not name:
            raise place.error(_("the row has no page name", hint="Write the name"))
        found = images.find(category, name)
        if found is None:
            self.missing[f"{category}/{name}" if category else name] = place.item
        return found

    def _questions(
        self, place: Place, cells: JsonObject, asked: TaskColumns, newlines: Newlines
    ) -> Iterator[tuple[str, str]]:
        """The questions of a row in these columns, each with its answer; blank ones are counted."""
        if asked.question == asked.answer:
            pairs = pairs_in(cells.get(asked.answer), newlines)
            if not pairs and cells.get(asked.answer):
                self._unread.append(f"{asked.answer} of {place.item}")
                return
        else:
            question = text_of(cells, asked.question or None, place)
            answer = text_of(cells, asked.answer, place)
            pairs = [(newlines.convert(question), newlines.convert(answer))]
        whole = [
            (question, answer)
            for question, answer in pairs
            if answer.strip() and (question.strip() or not asked.question)
        ]
        self._empty[asked.task] += not whole
        yield from whole

    def raise_if_missing(self) -> None:
        """Raise for rows without an image.

        Raises:
            DataError: naming the first.
        """
        if self.missing:
            names = join_names(
                f"{shortened(name)} (of {item})" for name, item in self.missing.items()
            )
            raise DataError(
                n_(
                    "{n:,} row without image: {}; expected imgs/CATEGORY/BOOK/page_N.png",
                    "{n:,} rows without image: {}; expected imgs/CATEGORY/BOOK/page_N.png",
                    len(self.missing),
                    names,
                    hint=(
                        "Put imgs beside the table, give its folder: --option images=FOLDER, or "
                        "skip these rows: --option skip-missing=yes"
                    ),
                ),
                file=self.file,
            )

    def notes(self) -> Iterator[str]:
        """Rows without image, tasks without columns, and cells without text."""
        if self.missing:
            yield (
                f"skipped {number_of(len(self.missing), 'row')} without image: "
                f"{join_names(self.missing)}"
            )
        present = {asked.task for asked in self.columns.asked}
        absent = [task for task in (*TEXT_TASKS, *QA_TASKS) if task not in present]
        if absent:
            yield (
                f"no columns for {', '.join(absent)}, so no items of these tasks; other columns: "
                f"{join_names(self.columns.others, 10)}. Name them: --option field.TASK=COLUMN, or "
                "field.TASK_question_1=COLUMN and field.TASK_answer_1=COLUMN"
            )
        if self._unread:
            yield (
                f"{number_of(len(self._unread), 'cell does', 'cells do')} not separate question "
                "and answer and give no items: "
                f"{join_names(self._unread)}"
            )
        if self._again:
            yield (
                f"{number_of(len(self._again), 'text was', 'texts were')} already read: "
                f"{join_names(self._again)}"
            )
        if self._empty:
            empty = {task: count for task, count in self._empty.items() if count}
            counts = ", ".join(f"{count} of {task}" for task, count in empty.items())
            if counts:
                yield f"no item from cells without question or answer: {counts}"


def _page(category: str, name: str, path: str) -> PurePosixPath:
    """The path of a page whose image is in the table: as it says, else from category and name."""
    page = page_of(path)
    if len(page.parts) > 1 or not (parts := _NAME.fullmatch(name)):
        return page
    return PurePosixPath(category, parts["book"].strip("/"), parts["page"])


def pairs_in(cell: object, newlines: Newlines) -> list[tuple[str, str]]:
    """The questions and answers in one cell: JSON objects, or texts marked 问：… 答：….

    Empty if they cannot be separated.
    """
    if isinstance(cell, str):
        text = newlines.convert(cell)
        try:
            cell = decode_json(cell) if cell.lstrip().startswith(("[", "{")) else None
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            cell = None
        if cell is None:
            return _marked(text)
    records = [cell] if isinstance(cell, Mapping) else cell
    if not isinstance(records, list):
        return []
    return [
        (newlines.convert(question), newlines.convert(answer))
        for record in records
        if isinstance(record, Mapping)
        for question in [_value(record, ("question", "q", "问题", "问"))]
        for answer in [_value(record, ("answer", "a", "答案", "答"))]
    ]


def _value(record: Mapping[object, object], names: Iterable[str]) -> str:
    plain = {str(key).casefold(): value for key, value in record.items()}
    return next((str(plain[name]) for name in names if isinstance(plain.get(name), str)), "")


def _marked(text: str) -> list[tuple[str, str]]:
    marks = list(_MARKS.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    parts = [
        (mark["kind"][0].casefold() in "问問q", text[mark.end() : end].strip())
        for mark, end in zip(marks, ends, strict=True)
    ]
    return [
        (question, answer)
        for (asks, question), (asks_too, answer) in pairwise(parts)
        if asks and not asks_too
    ]
