"""`import_command`: the command line that imports a source, quoted for the shell."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count
from pathlib import Path

from keju.datasets.readers.base import Options
from keju.definitions import definitions
from keju.errors import printable
from keju.local_paths import shell_quoted
from keju.registry import list_plugin_sources


def shell_word(text: str) -> str:
    """A text as one word of a POSIX shell, in printable characters."""
    if printable(text) == text:
        return shell_quoted(text)
    parts = (char if char.isprintable() and char not in "\\'" else _escaped(char) for char in text)
    return f"$'{''.join(parts)}'"


def import_command(
    name: str,
    src: Path,
    options: Options,
    *,
    benchmarks: Iterable[Path] = (),
) -> str:
    """The command that imports a source into a new directory with its name.

    `benchmarks` are the definition files of the benchmarks whose items the source has.
    """
    words = [*_program(), "data", "import", name, _path(src)]
    for file in benchmarks:
        words += ["--benchmark", _path(file)]
    given = dict(options)
    if "map" in given:
        words += ["--map", given.pop("map")]
    for key, value in given.items():
        words += ["--option", f"{key}={value}"]
    words += ["--out", _path(new_folder(src))]
    return " ".join(shell_word(word) for word in words)


def detect_command(src: Path, option: str = "", mapping: Path = Path()) -> str:
    """The command that examines a source, with ``--map`` or ``--write-map`` and a mapping file."""
    words = [*_program(), "data", "detect", _path(src)]
    for file in filter(None, (entry.file for entry in definitions())):
        words += ["--benchmark", _path(file)]
    words += [option, _path(mapping)] if option else []
    return " ".join(shell_word(word) for word in words)


def _program() -> list[str]:
    """The words before a command: with the plug-in files of this one."""
    files = (_path(Path(source.path)) for source in list_plugin_sources())
    return ["keju", *(word for file in files for word in ("--plugin", file))]


def new_folder(src: Path) -> Path:
    """A directory beside the current one for the import of a source."""
    whole = src.resolve()
    stem = whole.name.partition(".")[0] if src.is_file() else whole.name
    if whole.parent.name == "snapshots" and "--" in whole.parent.parent.name:
        stem = whole.parent.parent.name.rpartition("--")[2]  # Hugging Face's cache
    dataset_name = f"{stem or 'data'}-dataset".lstrip("-")
    numbered = (Path(f"{dataset_name}-{number}") for number in count(2))
    return next(folder for folder in chain([Path(dataset_name)], numbered) if not folder.exists())


def _path(path: Path) -> str:
    return f"./{path}" if str(path).startswith("-") else str(path)


def _escaped(char: str) -> str:
    undecoded = "\udc80" <= char <= "\udcff"  # Python's representation of a byte that is not UTF-8.
    data = char.encode("utf-8", "surrogateescape" if undecoded else "surrogatepass")
    return "".join(f"\\x{byte:02x}" for byte in data)
