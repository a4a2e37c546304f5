"""TOML files: those of users, and those that keju ships."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from keju.errors import DataError, error_text
from keju.files.json_files import bounded_bytes
from keju.local_paths import check_local
from keju.texts import _

T = TypeVar("T")

MOST_TOML = 4_000_000
"""Maximum size of a TOML file in bytes."""

MOST_KEY_PARTS = 40
"""Maximum parts of a dotted key. The time to parse one grows with the square of its parts."""

_TOML_TEXT = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)'''
    r"""|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*\'?|\#[^\n]*""",
    re.DOTALL,
)
"""A string, which may be part of a key, or a comment."""

_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_KEY_PARTS}}}")


def read_toml(path: Path, shape: type[T], *, what: str = "", hint: str | None = None) -> T:
    """Read a TOML file as `shape`.

    Args:
        path: the file.
        shape: the type of its table.
        what: the kind of file for errors, such as "a price file".
        hint: the hint of errors.

    Raises:
        DataError: the file is missing, not a file, larger than `MOST_TOML`, not UTF-8, not TOML,
            has a key of more than `MOST_KEY_PARTS` parts, or does not have the shape.
        UsageError: the path is an address.
    """
    check_local(path)
    problem = f"not {what}" if what else "not readable as TOML"
    table = parse_toml(toml_text(path, problem), file=path, problem=problem, hint=hint)
    try:
        return msgspec.convert(table, type=shape)
    except (msgspec.ValidationError, RecursionError) as error:
        problem = f"not {what}" if what else "not readable"
        raise DataError("{}: {}", problem, error_text(error), file=path, hint=hint) from None


def shipped_toml(package: str, name: str, shape: type[T]) -> T:
    """Read a TOML file that a package such as ``keju.models`` contains, by its path with ``/``."""
    file = resources.files(package).joinpath(*name.split("/"))
    return msgspec.toml.decode(file.read_bytes(), type=shape)


def toml_text(path: Path, problem: str) -> str:
    """The text of a TOML file.

    Raises:
        DataError: the file is missing, not a file, larger than `MOST_TOML` or not UTF-8; `problem`
            is the error message about a wrong encoding.
    """
    try:
        return bounded_bytes(path, MOST_TOML).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("{}: not UTF-8", problem, file=path, hint="Save it as UTF-8") from None


def parse_toml(
    text: str, *, file: Path | str, problem: str, hint: str | None = None
) -> dict[str, Any]:
    """The table in a TOML text.

    Raises:
        DataError: the text is larger than `MOST_TOML`, not TOML, or has a key of more than
            `MOST_KEY_PARTS` parts; `problem` is the beginning of the error message.
    """
    if len(text) > MOST_TOML:
        raise DataError("larger than {:,} bytes", MOST_TOML, file=file, hint="Split the file")
    bare = _TOML_TEXT.sub(lambda token: "" if token[0][0] == "#" else "s", text)
    if _LONG_KEY.search(bare):
        raise DataError(
            "{}: a key has more than {} parts",
            problem,
            MOST_KEY_PARTS,
            file=file,
            hint="Shorten it",
        )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        slash = (
            _("Write / in paths, or put them into single quotes") if "\\" in str(error) else hint
        )
        raise DataError("{}: {}", problem, error_text(error), file=file, hint=slash) from None
