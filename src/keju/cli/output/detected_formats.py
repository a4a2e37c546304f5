"""The output of `keju data detect`, as lines for a terminal and as data for other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.cells import cell_len

from keju.cli.output.console import translate
from keju.datasets.examine import Examination, Preview
from keju.datasets.readers.draft import Drafted, mapping_lines, mapping_text
from keju.datasets.readers.listing import Candidate, Listing, unpacking_command
from keju.datasets.readers.words import (
    detect_command,
    import_command,
    new_folder,
    shell_word,
)
from keju.datasets.scan_import import is_dataset
from keju.errors import shortened
from keju.items import Item
from keju.texts import _, in_english, in_terminal, language, n_, recognised

_LONGEST = 120
_METADATA = 8
_IMAGES = 3
_LINES = 60
_PLACES = 10
_SUFFIXES = 12
_ARCHIVES = 5


def describe_findings(found: Examination) -> Iterator[str]:
    """The findings, one line each; texts of the source are shortened."""
    yield _count_files(found.listing)
    if found.obstacle:
        yield found.obstacle.problem
        yield _("  {}", found.obstacle.hint)
        return
    src = found.listing.src
    if is_dataset(src):
        yield _("This is a dataset of keju. Use it as it is:")
        yield f"  keju run {shell_word(str(src))} --model MODEL --out RUN"
        yield _("Import it only if its items or images were changed by hand:")
    for path in found.listing.archives[:_ARCHIVES]:
        yield _("not examined: {} ({})", path, unpacking_command(found.listing.root / path))
    if found.best:
        yield from _best(found, found.best)
        yield from _others(_("Other formats that may fit:"), found, found.candidates[1:])
    else:
        yield from _nothing(found)


def as_data(found: Examination) -> dict[str, object]:
    """The findings as JSON data; texts are whole."""
    listing, obstacle = found.listing, found.obstacle
    return {
        "src": str(listing.src),
        "seen": {
            "files": len(listing.files),
            "complete": listing.complete,
            "suffixes": dict(_suffixes(listing)),
            "archives": list(map(str, listing.archives[:_ARCHIVES])),
        },
        "obstacle": {
            "problem": in_english(obstacle.problem),
            "hint": in_english(obstacle.hint or ""),
        }
        if obstacle
        else None,
        "dataset": is_dataset(listing.src),
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
        "preview": _preview_data(found.preview) if found.preview else None,
        "mapping": mapping_text(found.draft) if found.draft else None,
        "todo": [list(map(in_english, each)) for each in found.draft.todos] if found.draft else [],
    }


def _suffixes(listing: Listing) -> list[tuple[str, int]]:
    """The most frequent suffixes of the files, with their numbers."""
    suffixes = Counter(path.suffix.casefold() or "(none)" for path in listing.files)
    return suffixes.most_common(_SUFFIXES)


def _count_files(listing: Listing) -> str:
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in _suffixes(listing)) or _("none")
    if listing.complete:
        count = len(listing.files)
        return n_("{}: {n:,} file: {}", "{}: {n:,} files: {}", count, listing.src, kinds)
    return n_(
        "{}: {n:,} file (the first ones; the others were not examined): {}",
        "{}: {n:,} files (the first ones; the others were not examined): {}",
        len(listing.files),
        listing.src,
        kinds,
    )


def _command(found: Examination, candidate: Candidate) -> str:
    """The command that imports a source, with the definition files that the best reader needs."""
    own = found.benchmarks if candidate is found.candidates[0] else ()
    reader, detection = candidate
    return import_command(reader.name, found.listing.src, detection.options, benchmarks=own)


def _best(found: Examination, best: Candidate) -> Iterator[str]:
    detection = best.detection
    what = translate(detection.what)
    yield _("{} (fit {:.2f}): {}", best.reader.name, detection.fit, what)
    command = _command(found, best)
    if not detection.missing:
        yield f"  {command}"
    elif not found.draft:
        yield _("  needed: {}", recognised(detection.missing))
        yield _("  then:   {}", command)
    if found.draft:
        yield from _mapping(found.listing.src, found.draft)
    if found.preview:
        yield from _items(found.preview)
    if found.preview and not found.preview.error:
        out = shell_word(str(new_folder(found.listing.src)))
        yield _("After the import (keju models lists what MODEL can be):")
        yield f"  keju run {out} --model MODEL --out RUN"
        yield "  keju score RUN"


def _items(preview: Preview) -> Iterator[str]:
    if preview.items:
        yield _("The first items as they would be imported:")
    for item in preview.items:
        yield from _item(item)
    yield from preview.log.field_notes()
    if preview.error:
        yield _("The import would stop: {}", preview.error)
    if preview.timed_out:
        yield _("The preview was stopped by its time limit; the import has none.")


def _item(item: Item) -> Iterator[str]:
    query = f"/{item.query}" if item.query else ""
    yield f"  {shortened(item.id)}: {item.benchmark} {item.task}{query}"
    facts = {
        _("images:"): _describe_images(item),
        _("question:"): item.question,
        _("options:"): " | ".join(item.options),
        _("answer:"): _describe_answer(item),
        _("group:"): item.group,
        _("metadata:"): ", ".join(
            f"{key}={shortened(value, 30)}"
            for key, value in list(item.metadata.items())[:_METADATA]
        ),
    }
    for name, text in facts.items():
        if text:
            head, line = in_terminal(name), in_terminal(text)
            spaces = " " * (10 - cell_len(head))
            yield f"    {head}{spaces}{shortened(' '.join(line.split()), _LONGEST)}"


def _describe_images(item: Item) -> str:
    sizes = [f"{ref.width}x{ref.height}" for ref in item.images]
    shown = ", ".join(sizes[:_IMAGES]) or _("none")
    more = len(sizes) - _IMAGES
    return _("{} and {:,} more", shown, more) if more > 0 else shown


def _describe_answer(item: Item) -> str:
    """The answer of an item, in any form."""
    if item.relevant:
        places = ", ".join(str(place + 1) for place in item.relevant)
        return _("relevant images: {}", places)
    if item.answer and item.answer_simplified not in {"", item.answer}:
        simplified = item.answer_simplified
        return _("{} (simplified: {})", item.answer, simplified)
    boxes = n_("{n:,} box", "{n:,} boxes", len(item.boxes)) if item.boxes else ""
    return item.answer or boxes or _("none")


def _others(head: str, found: Examination, others: tuple[Candidate, ...]) -> Iterator[str]:
    if others:
        yield head
    for reader, detection in others:
        what = translate(detection.what)
        if detection.missing:
            needed = _("needed: {}", translate(detection.missing))
            what = _("{}; {}", what, needed)
        fit = _("{} (fit {:.2f}): {}", reader.name, detection.fit, what)
        command = import_command(reader.name, found.listing.src, detection.options)
        yield _("  {}: {}", fit, command)


def _nothing(found: Examination) -> Iterator[str]:
    yield _("No format fits.")
    yield from _others(_("The nearest formats:"), found, found.candidates)
    if found.draft:
        yield from _mapping(found.listing.src, found.draft)
    if found.problem:
        yield _("No mapping can be drafted: {}", found.problem)


def _mapping(src: Path, draft: Drafted) -> Iterator[str]:
    """The mapping, what a person must complete in it, and the commands for it."""
    lines = mapping_lines(draft, language())
    yield _("The mapping that keju drafts:")
    yield from (f"  {line}" if line else "" for line in lines[:_LINES])
    if (more := len(lines) - _LINES) > 0:
        yield n_("  … {n:,} more line", "  … {n:,} more lines", more)
    file = Path("mapping.toml")
    if not draft.todos:
        yield _(
            "To change the mapping, write it to a file: {}",
            detect_command(src, "--write-map", file),
        )
        return
    yield from _places(draft)
    yield _("Write the mapping to a file, complete each TODO, and look at the items:")
    yield f"  {detect_command(src, '--write-map', file)}"
    yield f"  {detect_command(src, '--map', file)}"


def _places(draft: Drafted) -> Iterator[str]:
    places = draft.todos
    yield n_("keju cannot decide {n:,} place:", "keju cannot decide {n:,} places:", len(places))
    for place, reason in places[:_PLACES]:
        yield _("  {} = TODO: {}", place, reason)
    if (more := len(places) - _PLACES) > 0:
        yield n_("  … {n:,} more place", "  … {n:,} more places", more)


def describe_written(src: Path, file: Path, draft: Drafted) -> Iterator[str]:
    """The steps that follow after a mapping file was written."""
    yield _("Wrote {}.", file)
    if draft.todos:
        yield from _places(draft)
        yield _("Complete each TODO in {}, then look at the items:", file)
    else:
        yield _("Edit {} as you like, then look at the items:", file)
    yield f"  {detect_command(src, '--map', file)}"


def _preview_data(preview: Preview) -> dict[str, object]:
    used, kept, ignored = preview.log.fields()
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
        "used": used,
        "kept": kept,
        "ignored": ignored,
        "error": str(preview.error) if preview.error else None,
        "timed_out": preview.timed_out,
    }
