"""Source ``rows``: a table of texts or of questions, whose columns are mapped to items' fields.

An existing set of questions is thus converted to items of a benchmark's tasks: by a mapping of
columns, of kinds to tasks and of options, declared in the recipe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from keju.building.drafting.templates import DESCRIPTION, KEYWORDS, NOTES
from keju.building.dropped import Dropped, write_dropped
from keju.building.sources.base import Site, SourceForm, writing
from keju.building.sources.rows_settings import (
    LIST_ROLES,
    AnswerIs,
    Role,
    RowsSettings,
    check_columns,
    check_settings,
    load_tasks,
)
from keju.building.sources.saved_pages import SavedPage, read_saved
from keju.datasets.readers.base import inside
from keju.datasets.readers.import_log import logging_import
from keju.datasets.readers.option_lines import insert_options
from keju.datasets.readers.records import JsonObject, Pictures, Place, text_of, texts_of
from keju.datasets.readers.tables import Row, read_table
from keju.definitions import Task, options_in, prompt_of
from keju.errors import DataError, UsageError, english_problem, shortened
from keju.items import Item, Provenance
from keju.texts import _, n_


def _list_images(settings: RowsSettings) -> Iterator[Path]:
    """List the images beside the table; a directory of images is a path of the settings itself."""
    column = settings.columns.get("image")
    if column and settings.images is None:
        for row in read_table(settings.path):
            if isinstance(name := row.cells.get(column), str) and name.strip():
                yield settings.path.parent / name.strip()


def read_rows(settings: RowsSettings, site: Site) -> Iterable[str]:
    """Convert the rows of a table to items; list those that are not valid.

    Raises:
        ProblemsError: columns that the table does not have.
        DataError: the table is not readable, or no row is valid.
    """
    with logging_import() as log:
        return [*_convert_rows(settings, site), *log.notes()]


def _convert_rows(settings: RowsSettings, site: Site) -> Iterable[str]:
    rows = read_table(settings.path)
    tasks = load_tasks(settings)
    check_columns(settings, rows)
    left: list[Dropped] = []
    with writing(site.out, "rows", licence=settings.licence, source=settings.source) as writer:
        taken: dict[str, Place] = {}
        roots = [settings.images or settings.path.parent]
        maker = _RowConverter(settings, tasks, Pictures(writer, roots))
        blind = 0
        for number, row in enumerate(rows, start=1):
            try:
                item = maker.convert(row, number)
                prompt_of(item)
                _check_unique_id(item, taken)
            except (DataError, UsageError) as error:
                left.append(Dropped(row.place.item, english_problem(error)))
                continue
            taken[item.id] = row.place
            blind += not item.images and item.transcription is None
            writer.add(item)
        if not taken:
            raise DataError(
                "no row could be converted to an item. The first error: {}",
                left[0].reason,
                file=settings.path,
            )
        write_dropped(site.out, left)
    return list(_describe_dropped(len(rows), left, blind))


def _describe_dropped(rows: int, left: list[Dropped], blind: int) -> Iterator[str]:
    if left:
        yield _(
            "{} of {} rows dropped: tables/dropped.csv; the first: {}",
            len(left),
            rows,
            left[0].reason,
        )
    if blind:
        yield n_(
            "{n:,} item has neither an image nor a transcription and cannot be sent to a model. "
            "Name their column in columns.image or columns.transcription",
            "{n:,} items have neither an image nor a transcription and cannot be sent to a "
            "model. Name their column in columns.image or columns.transcription",
            blind,
        )


SOURCE = SourceForm(
    "rows",
    "a table of texts or questions, mapped to items",
    RowsSettings,
    read_rows,
    version=2,
    check=check_settings,
    reads=_list_images,
)


class _RowConverter(NamedTuple):
    """Converts the rows of a table to items."""

    settings: RowsSettings
    tasks: dict[str, Task]
    pictures: Pictures

    def convert(self, row: Row, number: int) -> Item:
        """Convert a row to an item.

        Raises:
            DataError: it has no task, no answer or image, or its options are not valid.
        """
        settings, place = self.settings, row.place
        kind = self._get_task(row)
        cells = {
            role: _read_text(row.cells, column, place)
            for role, column in settings.columns.items()
            if role not in LIST_ROLES
        }
        question = cells.get("question", "")
        if settings.verbatim and not question:
            raise DataError("the question is empty")
        options = self._read_options(row)
        if settings.verbatim and kind.queries[0].form == "letter":
            printed = options_in(question)
            question = question if printed else insert_options(question, options, kind)
            options = printed or options
        image = cells.get("image", "")
        ref = self.pictures.store(image, place) if image else None
        if image and ref is None:
            where = settings.images or settings.path.parent
            hint = "" if settings.images else _("; set their directory: images = FOLDER")
            raise DataError("no image {!r} in {}{}", shortened(image), where, hint)
        if "image" in settings.columns and not image:
            raise DataError("the row does not name an image")
        answer = cells.get("answer", "")
        pages = self._read_pages(row)
        own = (cells.get("licence", ""), cells.get("source", ""))
        provenance = Provenance(
            step="rows", licence=own[0] or settings.licence, source=own[1] or settings.source
        )
        provenances = (provenance,) if any(own) or pages else ()
        return Item(
            id=cells.get("id", "") or f"{settings.path.stem}-{number:06}",
            benchmark=kind.benchmark,
            task=kind.id,
            query=kind.queries[0].name,
            images=(ref,) if ref else (),
            question=question,
            verbatim=settings.verbatim,
            fields={
                blank: value
                for blank, column in settings.fields.items()
                if (value := _read_text(row.cells, column, place))
            },
            options=options,
            answer=_find_letter(answer, options, settings.answer_is) if options else answer,
            answer_simplified="" if options else cells.get("answer_simplified", ""),
            transcription=cells.get("transcription") or None,
            group=cells.get("group", ""),
            metadata={
                column: value
                for column in settings.metadata
                if (value := _read_text(row.cells, column, place))
            }
            | self._collect_facts(row, cells, pages),
            provenance=(*provenances, *(page.provenance for page in pages)),
            draft=not answer,
        )

    def _read_pages(self, row: Row) -> list[SavedPage]:
        """Read the saved web pages that a row names.

        Raises:
            DataError: one is missing, or has no licence, address or text.
        """
        folder = self.settings.pages
        column = self.settings.columns.get("page")
        if folder is None or column is None:
            return []
        cells = texts_of(row.cells, column, row.place)
        names = [name.strip() for cell in cells for name in cell.split("|") if name.strip()]
        found = []
        for name in names:
            file = inside(folder, name, file=row.place.file, item=row.place.item)
            if not file.is_file():
                raise DataError("no web page {!r} in {}", shortened(name), folder)
            address = self.settings.pages_address and self.settings.pages_address + name
            found.append(
                read_saved(file, licence=self.settings.pages_licence, address=address, shortest=1)
            )
        return found

    def _collect_facts(
        self, row: Row, cells: dict[Role, str], pages: list[SavedPage]
    ) -> dict[str, str]:
        """Collect facts about a row's image from the row and its web pages, by metadata name."""
        notes = [cells.get("notes", ""), *(page.text for page in pages)]
        keywords = texts_of(row.cells, self.settings.columns.get("keywords"), row.place)
        facts = {
            NOTES: "\n\n".join(filter(None, notes)),
            DESCRIPTION: cells.get("description", ""),
            KEYWORDS: "、".join(each.strip() for each in keywords),
        }
        return {name: text for name, text in facts.items() if text}

    def _get_task(self, row: Row) -> Task:
        if not self.settings.kind:
            return self.tasks[""]
        kind = _read_text(row.cells, self.settings.kind, row.place)
        if kind not in self.tasks:
            raise DataError("no task is declared for the kind {!r}", kind)
        return self.tasks[kind]

    def _read_options(self, row: Row) -> tuple[str, ...]:
        names = self.settings.options
        if len(names) == 1:
            return tuple(text.strip() for text in texts_of(row.cells, names[0], row.place))
        options = [_read_text(row.cells, name, row.place) for name in names]
        while options and not options[-1]:
            options.pop()
        if not all(options):
            # Dropping it would change the letters of the options after it.
            raise DataError("an option between others is empty")
        return tuple(options)


def _check_unique_id(item: Item, taken: dict[str, Place]) -> None:
    if first := taken.get(item.id):
        raise DataError("the id {!r} is already used at {}", item.id, first.item)


def _read_text(cells: JsonObject, column: str, place: Place) -> str:
    return text_of(cells, column, place).strip()


def _find_letter(answer: str, options: tuple[str, ...], said: AnswerIs) -> str:
    """Find the letter of the correct option from the value in the source."""
    letters = ascii_uppercase[: len(options)]
    if not answer:
        return ""
    if said == "option":
        same = [letter for letter, text in zip(letters, options, strict=False) if text == answer]
        if len(same) == 1:
            return same[0]
        raise DataError(
            "the answer {!r} is {} of the options", answer[:20], _("several") if same else _("none")
        )
    if said in {"from-0", "from-1"}:
        number = int(answer) if re.fullmatch("[0-9]{1,9}", answer) else -1
        place = number - (said == "from-1")
        if 0 <= place < len(letters):
            return letters[place]
    elif len(answer) == 1 and answer.upper() in letters:
        return answer.upper()
    raise DataError("the answer {!r} names none of {} options", answer[:20], len(options))
