"""FORMAT ``mcs-bench``: MCS-Bench's questions as its JSON, with their images."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from keju.benchmarks.mcs_bench import BENCHMARK
from keju.benchmarks.mcs_bench.reader.items import RENAMED, RENAMED_FROM, SCRIPTS
from keju.datasets.store import Dataset
from keju.datasets.writers.base import ItemFilter, Writer, copy_image, not_a_question_of
from keju.definitions import options_of, prompt_of, task
from keju.files import write_json
from keju.items import Item

LAYOUT = """\
OUT/
  data.json               ID, Task_ID, Domain, Task_Name, Question (the whole prompt), Image,
                          Answer, Answer_Simplified, Options, Transcription, Group;
                          Question_Simplified and Question_Traditional where both were released
  images/<sha256>.<ext>   the images
Skipped, with their number: other benchmarks' items, items without image, the reference split."""


def write_mcs_bench(dataset: Dataset, items: list[Item], out: Path) -> Iterator[str]:
    """Write the items of MCS-Bench; yields notes on skipped items.

    Raises:
        DataError: there is none, or an image is missing or altered.
    """
    chosen = ItemFilter("mcs-bench", _objection)
    records = []
    for item in chosen.supported(items):
        for ref in item.images:
            copy_image(dataset, ref, out / ref.path)
        records.append(_record(item))
    write_json(out / "data.json", records)
    yield from chosen.notes()


WRITER = Writer("mcs-bench", "MCS-Bench's JSON with its images", LAYOUT, write_mcs_bench)


def _objection(item: Item) -> str:
    return not_a_question_of(BENCHMARK, item) or ("" if item.images else "without an image")


def wordings(item: Item) -> dict[str, str]:
    """The whole prompts in both scripts, of an item that was released in both."""
    return {
        f"Question_{script.capitalize()}": prompt_of(item, script=script)
        for script in SCRIPTS
        if item.question_in
    }


def released_id(item: Item) -> str:
    """The ID that the item has in the release; its own unless the import put the task before it."""
    notes = (each.note for each in item.provenance if each.step == RENAMED)
    return next((note.removeprefix(RENAMED_FROM) for note in notes), item.id)


def _record(item: Item) -> dict[str, object]:
    declared = task(item.task)
    names = [ref.path for ref in item.images]
    record: dict[str, object] = {
        "ID": released_id(item),
        "Task_ID": int(item.task.removeprefix("T")),
        "Domain": item.metadata.get("Domain", declared.domain_zh),
        "Task_Name": item.metadata.get("Task_Name", declared.name_zh),
        "Question": prompt_of(item),
        **wordings(item),
        "Image": names if len(names) > 1 else names[0],
        "Answer": item.answer,
        "Answer_Simplified": item.answer_simplified,
        "Transcription": item.transcription,
        "Group": item.group,
    }
    if options := options_of(item):
        record["Options"] = list(options)
    return record
