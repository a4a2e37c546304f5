"""The output of `keju data detect`, as lines for a terminal and as data for other programs."""

from __future__ import annotations

from collections.abc import Iterator

from keju.datasets.examine import Examined
from keju.datasets.preview import Preview
from keju.datasets.readers.detecting import LOWEST, Candidate
from keju.datasets.readers.obstacles import unpacking
from keju.datasets.readers.words import import_command, new_folder, shell_word
from keju.errors import shortened
from keju.items import Item

_LONGEST = 120
_METADATA = 8
_IMAGES = 3


def lines(found: Examined) -> Iterator[str]:
    """The findings, one line each; texts of the source are shortened."""
    yield f"{found.src}: {_counted(found)}"
    if found.obstacle:
        yield found.obstacle.problem
        yield f"  {found.obstacle.hint}"
        return
    if found.dataset:
        yield "This is a dataset of keju. Use it as it is:"
        yield f"  keju run {shell_word(str(found.src))} --model MODEL --out RUN"
        yield "Import it only if its items or images were changed by hand:"
    for name in found.seen.archives:
        yield f"not looked into: {name} ({unpacking(found.src / name)})"
    fitting = [each for each in found.candidates if each.detection.fit >= LOWEST]
    if fitting:
        yield from _best(found, fitting[0])
        yield from _others("Other formats that may fit:", found, found.candidates[1:])
    else:
        yield from _nothing(found)


def as_data(found: Examined) -> dict[str, object]:
    """The findings as JSON data; texts are whole."""
    return {
        "src": str(found.src),
        "seen": found.seen._asdict(),
        "obstacle": found.obstacle._asdict() if found.obstacle else None,
        "dataset": found.dataset,
        "candidates": [
            {
                "format": reader.name,
                "fit": round(detection.fit, 3),
                "what": detection.what,
                "options": dict(detection.options),
                "missing": detection.missing,
                "command": _command(found, each),
            }
            for each in found.candidates
            for reader, detection in [each]
        ],
        "inner": [
            {"folder": str(folder), "format": reader.name, "what": detection.what}
            for folder, (reader, detection) in found.inner
        ],
        "preview": _preview_data(found.preview) if found.preview else None,
    }


def _counted(found: Examined) -> str:
    seen = found.seen
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in seen.suffixes.items())
    more = "" if seen.complete else f" (the first {seen.files}; the others were not looked at)"
    return f"{seen.files} file{'s'[: seen.files != 1]}{more}: {kinds or 'nothing'}"


def _command(found: Examined, candidate: Candidate) -> str:
    """The command that imports a source, with the definition files that the best reader needs."""
    own = found.benchmarks if candidate is found.candidates[0] else ()
    reader, detection = candidate
    return import_command(reader.name, found.src, detection.options, benchmarks=own)


def _best(found: Examined, best: Candidate) -> Iterator[str]:
    detection = best.detection
    yield f"{best.reader.name} (fit {detection.fit:.2f}): {detection.what}"
    command = _command(found, best)
    if detection.missing:
        yield f"  needed: {detection.missing}"
        yield f"  then:   {command}"
    else:
        yield f"  {command}"
    if found.preview:
        yield from _items(found.preview)
    if found.preview and not found.preview.error:
        out = shell_word(str(new_folder(found.src)))
        yield "After the import (keju models lists what MODEL can be):"
        yield f"  keju run {out} --model MODEL --out RUN"
        yield "  keju score RUN"


def _items(preview: Preview) -> Iterator[str]:
    if preview.items:
        yield "The first items as they would be imported:"
    for item in preview.items:
        yield from _item(item)
    if preview.used:
        pairs = (f"{role} from {' and '.join(each)}" for role, each in preview.used.items())
        yield f"fields used: {', '.join(pairs)}"
    if preview.kept:
        yield f"fields kept as metadata: {', '.join(preview.kept)}"
    if preview.ignored:
        yield f"fields ignored: {', '.join(preview.ignored)}"
    if preview.error:
        yield f"The import would stop: {preview.error}"
    if preview.timed_out:
        yield "The preview was stopped by its time limit; the import has none."


def _item(item: Item) -> Iterator[str]:
    query = f"/{item.query}" if item.query else ""
    yield f"  {shortened(item.id)}: {item.benchmark} {item.task}{query}"
    images = [f"{ref.width}x{ref.height}" for ref in item.images]
    more = f" and {len(images) - _IMAGES} more" if len(images) > _IMAGES else ""
    facts = {
        "images": ", ".join(images[:_IMAGES]) + more or "none",
        "question": item.question,
        "options": " | ".join(item.options),
        "answer": _answer(item),
        "group": item.group,
        "metadata": ", ".join(
            f"{key}={shortened(value, 30)}"
            for key, value in list(item.metadata.items())[:_METADATA]
        ),
    }
    for name, text in facts.items():
        if text:
            yield f"    {name + ':':10}{shortened(' '.join(text.split()), _LONGEST)}"


def _answer(item: Item) -> str:
    """The answer of an item, in any form."""
    if item.relevant:
        places = ", ".join(str(place + 1) for place in item.relevant)
        return f"relevant: image{'s'[: len(item.relevant) > 1]} {places}"
    boxes = f"{len(item.boxes)} box{'es'[: 2 * (len(item.boxes) > 1)]}" if item.boxes else ""
    both = item.answer_simplified not in {"", item.answer}
    simplified = f" (simplified: {item.answer_simplified})" if item.answer and both else ""
    return item.answer + simplified or boxes or "none"


def _others(head: str, found: Examined, others: tuple[Candidate, ...]) -> Iterator[str]:
    if others:
        yield head
    for reader, detection in others:
        needs = f"; needed: {detection.missing}" if detection.missing else ""
        command = import_command(reader.name, found.src, detection.options)
        yield f"  {reader.name} (fit {detection.fit:.2f}): {detection.what}{needs}: {command}"


def _nothing(found: Examined) -> Iterator[str]:
    yield "No format fits."
    for name, columns in found.seen.tables.items():
        yield f"  {name}: {', '.join(columns) if columns else 'no records found'}"
    yield f"  first files: {', '.join(found.seen.names)}"
    yield from _others("The nearest formats:", found, found.candidates)
    if found.inner:
        yield "Folders in it that a format fits:"
    for folder, candidate in found.inner:
        options = candidate.detection.options
        command = import_command(candidate.reader.name, folder, options)
        yield f"  {folder.name}: {candidate.detection.what}: {command}"
    src = shell_word(str(found.src))
    yield "Describe the source in a mapping file, which keju drafts:"
    yield f"  keju data detect {src} --write-map mapping.toml"


def _preview_data(preview: Preview) -> dict[str, object]:
    return {
        "items": [
            {
                "id": item.id,
                "benchmark": item.benchmark,
                "task": item.task,
                "query": item.query,
                "question": item.question,
                "options": list(item.options),
                "answer": item.answer,
                "group": item.group,
                "relevant": list(item.relevant),
                "boxes": [[box.x0, box.y0, box.x1, box.y1] for box in item.boxes],
                "images": [[ref.width, ref.height] for ref in item.images],
                "metadata": item.metadata,
            }
            for item in preview.items
        ],
        "used": preview.used,
        "kept": preview.kept,
        "ignored": preview.ignored,
        "error": str(preview.error) if preview.error else None,
        "timed_out": preview.timed_out,
    }
