"""`read_log`: the answers in a log of Inspect, ``.eval`` or ``.json``.

A sample's id is the item's, its epoch the round. Logs are untrusted: their size is limited.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, convert, field
from msgspec.structs import replace

from keju.errors import DataError
from keju.files import bounded_bytes, decode_json
from keju.items import Failure, Response, Usage
from keju.plugins import StoredAnswer

with suppress(ImportError):  # Python 3.14 reads it by itself.
    import zipfile_zstd  # noqa: F401  Inspect packs so, and brings this along

_MOST_BYTES = 1 << 30
_ATTACHED = "attachment://"


class _Message(Struct):
    content: str | list[dict[str, Any]] = ""


class _Choice(Struct):
    message: _Message = field(default_factory=_Message)
    stop_reason: str = ""


class _Tokens(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Output(Struct):
    choices: list[_Choice] = []
    usage: _Tokens | None = None
    error: str | None = None


class _Error(Struct):
    message: str = ""


class _Metadata(Struct):
    """The metadata of a response that keju exports."""

    keju: Response | None = None


class _Sample(Struct):
    id: int | str
    epoch: int = 1
    output: _Output = field(default_factory=_Output)
    error: _Error | None = None
    attachments: dict[str, str] = {}
    metadata: _Metadata = field(default_factory=_Metadata)


class _Log(Struct):
    eval: dict[str, Any]
    samples: list[_Sample]


def read_log(path: Path) -> Iterator[StoredAnswer]:
    """Yield the answer of each sample.

    Raises:
        DataError: the file is not a log, is too large, or is damaged.
    """
    try:
        samples = _packed(path) if zipfile.is_zipfile(path) else _plain(path)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise DataError("a damaged archive: {}", error, file=path) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise DataError("not a log of Inspect: {}", error, file=path) from None
    several = any(sample.epoch != 1 for sample in samples)
    for sample in samples:
        yield _answer_of(sample, several)


def _plain(path: Path) -> list[_Sample]:
    return decode_json(bounded_bytes(path), _Log).samples


def _packed(path: Path) -> list[_Sample]:
    with zipfile.ZipFile(path) as pack:
        if sum(each.file_size for each in pack.infolist()) > _MOST_BYTES:
            raise DataError("it would unpack to more than 1 GB", file=path)
        # Entries are named after items, some of which contain line breaks.
        names = [name for name in pack.namelist() if re.fullmatch(r"(?s)samples/.+\.json", name)]
        if not names:
            raise DataError("the archive is not a log of Inspect", file=path)
        return [decode_json(pack.read(name), _Sample) for name in names]


def _answer_of(sample: _Sample, several: bool) -> StoredAnswer:
    choice = sample.output.choices[0] if sample.output.choices else _Choice()
    content = choice.message.content
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    text = "\n".join(_texts_of(sample, parts, "text"))
    thinking = "\n".join(_texts_of(sample, parts, "reasoning"))
    if ours := sample.metadata.keju:
        # A response that keju exported: everything but its text is in the metadata.
        answer = convert(ours, StoredAnswer, from_attributes=True)
        return replace(answer, text=text, thinking=thinking, key="", task="", model="")
    wrong = sample.error.message if sample.error else sample.output.error or ""
    if not wrong and not sample.output.choices:
        wrong = "the sample has no output"
    tokens = sample.output.usage or _Tokens()
    return StoredAnswer(
        item=str(sample.id),
        text=text,
        round=sample.epoch if several else None,
        thinking=thinking,
        finish_reason=choice.stop_reason,
        usage=Usage(
            input_tokens=tokens.input_tokens,
            output_tokens=tokens.output_tokens,
            thinking_tokens=tokens.reasoning_tokens,
        ),
        error=Failure(kind="failed-elsewhere", message=" ".join(wrong.split())[:300])
        if wrong
        else None,
    )


def _texts_of(sample: _Sample, parts: list[dict[str, Any]], kind: str) -> Iterator[str]:
    for part in parts:
        text = part.get(kind)
        if part.get("type") == kind:
            text = text if isinstance(text, str) else ""
            yield sample.attachments.get(text.removeprefix(_ATTACHED), text)
