"""FORMAT ``mcs-bench``: MCS-Bench's questions in every form in which they may be released.

Of the released files only the names ``ID``, ``Task_ID``, ``Answer_Simplified`` and ``Response`` are
known, from the authors' calculate_metrics.py; the other forms and names are assumed, and each name
can be mapped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from keju.benchmarks.mcs_bench.reader.detection import detect_mcs_bench
from keju.benchmarks.mcs_bench.reader.entries import Entry, entries_in
from keju.benchmarks.mcs_bench.reader.fields import FIELDS, no_field
from keju.benchmarks.mcs_bench.reader.images import ReleaseImages
from keju.benchmarks.mcs_bench.reader.items import index_origin, item_of, with_transcriptions
from keju.benchmarks.mcs_bench.reader.joining import join_scripts, with_own_ids
from keju.benchmarks.mcs_bench.reader.settings import McsBenchSettings
from keju.benchmarks.mcs_bench.reader.sources import Table, tables_in
from keju.datasets.readers.base import Reader, join_names
from keju.datasets.store import DatasetWriter
from keju.errors import number_of
from keju.items import Item

LAYOUT = """\
SRC                       a file, or a folder with files in it:
                          .json, .jsonl, .csv, .tsv, .xlsx or .parquet
  data.json               a list of objects: ID, Task_ID (1 to 45 or T1 to T45), Question,
                          Answer and/or Answer_Simplified, Image (a name or a list of names),
                          and where there are: Domain, Task_Name (they find the task where there is
                          no Task_ID, and must not contradict it), Options, Transcription, Group,
                          Question_Simplified, Question_Traditional (both are kept)
  images/...              the images, named relative to the file or to its images folder
Read as well: {"data": [...]}, {"T1": [...]}, one file or folder a task (7.json, T7.json, task_07/,
判断出处.json, in folders of domains), IDs that start again in every task, both scripts in two files
or folders, options in fields A to E, as a list, an object or one text, answers as letter, text,
list or number of the option, images by ID, with another suffix or path, as base64, in folders of
tasks or domains, OpenAI's messages, LLaVA's conversations, names in Chinese, no answers at all.
Only ID, Task_ID and Answer_Simplified are known from print. Give other names with options, e.g.
--option field.question=Question_Traditional --option field.image=img_path"""

MOST_MISSING = 1000
"""Items without image after which an import stops, unless it is to skip them."""


def read_mcs_bench(src: Path, writer: DatasetWriter, settings: McsBenchSettings) -> Iterator[str]:
    """Read MCS-Bench's questions word for word, with their answers and images.

    Raises:
        UsageError: a field is mapped that this format does not have.
        DataError: records are missing, a field or an image is missing, the task is unknown, or a
            name leads out of the folder.
    """
    tables, passed = tables_in(src)
    if passed:
        yield f"files without questions, not read: {join_names(passed)}"
    entries, notes = join_scripts(each for table in tables for each in entries_in(table, settings))
    yield from notes
    named, notes = with_own_ids(entries)
    yield from notes
    images = ReleaseImages(writer, src, settings.images, entries)
    _check_images(tables, entries, images)
    items: list[Item] = []
    skipped: list[str] = []
    skip = settings.skip_missing
    first = index_origin(entries, settings.answers_from)
    for name, entry in named:
        refs = images.of(entry)
        if refs is None:
            skipped.append(name)
        else:
            items.append(item_of(name, entry, refs, first))
        if len(skipped) == MOST_MISSING and not skip:
            images.raise_if_missing(more=True)
    if not skip:
        images.raise_if_missing()
    for item in with_transcriptions(items):
        writer.add(item)
    yield from images.notes()
    yield from _notes(items, skipped)


def _check_images(tables: Sequence[Table], entries: Sequence[Entry], images: ReleaseImages) -> None:
    """Refuse records none of which has an image.

    Raises:
        DataError: no field has one, and no image is named like an ID.
    """
    if any(entry.images for entry in entries) or any(map(images.has_of_id, entries)):
        return
    keys = [key for table in tables for row in table.rows[:20] for key in row.cells]
    if not any(_has_image_field(key) for key in keys):
        raise no_field("image", dict.fromkeys(keys), tables[0].file)


def _has_image_field(key: str) -> bool:
    return key.casefold() in {name.casefold() for name in FIELDS["image"].names}


def _notes(items: Sequence[Item], skipped: Sequence[str]) -> Iterator[str]:
    if skipped:
        yield f"skipped {number_of(len(skipped), 'item')} without image: {join_names(skipped)}"
    if bare := [item.id for item in items if not (item.answer or item.answer_simplified)]:
        yield (
            f"{len(bare)} of {len(items)} items have no answer: they can be run, and are not "
            "scored here. keju export mcs-bench RUN writes the responses for scoring elsewhere"
        )


READER = Reader(
    "mcs-bench",
    "MCS-Bench's questions in JSON or tables, with images",
    LAYOUT,
    read_mcs_bench,
    McsBenchSettings,
    detect_mcs_bench,
    group_option="--option field.group=COLUMN",
)
