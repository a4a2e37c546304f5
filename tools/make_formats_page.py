"""Print docs/formats.md: what every form that keju reads and writes looks like.

    python tools/make_formats_page.py > docs/formats.md

Layouts and options are the readers' and writers' own, the numbers of OBI-Bench's sources those of
src/keju/datasets/readers/obi_sources.toml, the kinds of damage those of tests/support/damage.py;
the words between them are in tools/formats.toml.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from damage import DAMAGES, Damage

from keju.datasets.readers import FORMATS, Reader
from keju.datasets.readers._obi import Source, sources, sweep
from keju.datasets.writers import FORMATS as WRITTEN
from keju.errors import DataError

_WORDS = Path(__file__).with_name("formats.toml")

_INTRODUCTION = """\
# Forms that keju reads and writes

Made by `tools/make_formats_page.py`; the test suite holds this page to its output. The same layouts
are printed by `keju data formats`.

```
keju data import FORMAT SRC --out DATASET --licence … --source …  [--option NAME=VALUE …]
keju data export FORMAT DATASET --out DIR
```

What holds of every form:

- **Pictures are stored byte for byte**, each once, under its SHA-256: what was released is what
  models are sent. Whether a file is a picture is decided by its bytes, not by its name, except that
  a folder is searched for the names jpg, png, tif, webp, jp2, gif, bmp.
- **Nothing is guessed and nothing is dropped in silence.** Another layout is an error that shows
  what was expected and what was found; what is left out is a note with its number.
- **No file outside of the source is read.** Links to outside are refused, links to folders are not
  followed. An image that a record names with a path of another machine (`/data/mcs/images/1.jpg`,
  `C:\\…`, a URL) is found by the end of that path; with another suffix, if the named one is
  missing; by its file name, if there is one such image. Each of these ways is reported.
- **Tables** may be JSON (a list of objects, or an object that contains one), JSON lines, CSV, TSV,
  parquet or XLSX.
- **Litter is passed over**: hidden files, `Thumbs.db`, `desktop.ini`, `__MACOSX`, `@eaDir`.
- **Texts are UTF-8, UTF-16, GB18030 or Big5.** An encoding that is not UTF-8 is detected and
  reported; `--option encoding=NAME` sets it. Two that fit equally are an error, and so is a text in
  none of them. Of 9,632 pieces of real classical texts (10 to 1,000 characters in four encodings)
  one was read wrongly and 14, of 10 to 30 characters, were refused. XML names its own encoding.
- **The same source, options and seed give the same dataset**, hash included. What was drawn, and
  with which seed, stands in `dataset.json` under `made`.
- OBI-Bench's test images are on a network drive, whose layout was not seen, and only parts of
  MCS-Bench's field names are public; where a layout is our reading of the paper, it says so.
"""

_DAMAGE = """\
## What becomes of damage

Each kind is done to a small sound copy of every form that it fits (`tests/support/damage.py`). An
*error* is one line that names the file or item and the mend; *harmless* means that the items are
those of the sound copy; *noted* that the rest is imported, and a note or `keju data validate` names
what is wrong.

| damage | outcome | except |
|---|---|---|"""

_OUTCOMES = {"error": "error", "same": "harmless", "said": "noted"}


def page() -> str:
    """The whole page as Markdown.

    Raises:
        DataError: a form has no words, or words have no form.
    """
    words = tomllib.loads(_WORDS.read_text("utf-8"))
    if set(words) != set(FORMATS):
        raise DataError(f"forms and words differ: {set(words) ^ set(FORMATS)}", file=_WORDS)
    parts = [_INTRODUCTION, "## Read\n"]
    parts += [_form(reader, words[name]) for name, reader in FORMATS.items()]
    parts += ["### OBI-Bench's eleven sources\n", _sources(), "## Written\n"]
    parts += [
        f"### export {writer.name}\n\n{writer.what}.\n\n```\n{writer.layout}\n```\n"
        for writer in WRITTEN.values()
    ]
    parts += [_DAMAGE, *(_damage(kind, damage) for kind, damage in DAMAGES.items())]
    return "\n".join(parts) + "\n"


def _form(reader: Reader, words: dict[str, str]) -> str:
    options = "".join(f"\n| `{name}` | {text} |" for name, text in reader.every_option.items())
    table = f"\n| option | |\n|---|---|{options}\n" if options else ""
    return (
        f"### {reader.name}\n\n{reader.what[0].upper()}{reader.what[1:]}.\n\n"
        f"```\n{reader.layout}\n```\n\n"
        f"Taken: {words['taken']}\n\nPassed over: {words['passed']}\n{table}\n"
        f"```\n{words['command']}\n```\n"
    )


def _sources() -> str:
    rows = [
        "| source | task | kind | images | how they are made up |",
        "|---|---|---|---:|---|",
    ]
    for source in sources():
        subsets = ", ".join(f"{name} {count}" for name, count in source.subsets.items())
        made = _drawn(source) or subsets
        rows.append(
            f"| {source.name} | {source.task} | {source.type} | {source.images:,} | {made} |"
        )
    sizes = ", ".join(map(str, sweep()))
    rows.append(
        f"\nThe paper's classification sweep takes {sizes} classes of the three mixed: "
        "`--option mixed=yes --option classes=N`.\nMake a dataset and a run for each number, and "
        "give all runs to one command: `keju figures RUN10 RUN20 … --which classes`.\n"
    )
    return "\n".join(rows)


def _drawn(source: Source) -> str:
    """The classes, references, queries and distractors of a source of pairs."""
    if not source.classes:
        return ""
    references, queries = source.references, source.queries
    said = (
        f"{source.classes} classes of {references} reference{'s' * (references > 1)} and "
        f"{queries} {'query' if queries == 1 else 'queries'}"
    )
    return said + (f", {source.distractors} distractors" if source.distractors else "")


def _damage(kind: str, damage: Damage) -> str:
    apart: dict[str, list[str]] = {}
    for form, outcome in damage.otherwise.items():
        apart.setdefault(_OUTCOMES[outcome], []).append(form)
    said = "; ".join(f"{', '.join(forms)}: {outcome}" for outcome, forms in apart.items())
    return f"| {kind} | {_OUTCOMES[damage.outcome]} | {said} |"


if __name__ == "__main__":
    sys.stdout.write(page())
