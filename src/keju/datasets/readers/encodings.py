"""`decode`: texts in UTF-8, UTF-16, GB18030 and Big5, the encoding given or detected.

UTF-16 is known by its byte-order mark. Any other text that is not UTF-8 is decoded as GB18030, Big5
and Shift_JIS. If only GB18030 or only Big5 decodes it to characters that texts have, it is that
one; else the user must name it. Of 3,589 pieces of classical texts in GB18030 and Big5, none was
read wrongly and 151 were refused, 142 of them of 10 characters (benchmarks/encoding_detection.py).
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from pathlib import Path

from keju.errors import DataError, UsageError
from keju.texts import Text, _, join_parts

UTF_8 = "utf-8-sig"
"""The encoding of a text in UTF-8, with or without byte-order mark."""

OPTION = "encoding"
OPTION_HELP = (
    "the encoding of the texts: UTF-8, UTF-16, GB18030, Big5 or another one that Python knows "
    "(default: detected and reported)"
)

HEAD = 1 << 18
"""Bytes of a text from which its encoding is seen."""

_OTHERS = {"GB18030": "gb18030", "Big5": "cp950", "Shift_JIS": "cp932"}
"""Encodings of texts without a mark, with the codecs that have the characters of Windows."""

_IN_NO_TEXT = re.compile("[\ue000-\uf8ff\uff61-\uff9f]")
"""Private characters and narrow kana, which appear where a text is decoded in another encoding."""

_NO_TEXTS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf", b"%PDF-")
"""The beginnings of archives, Office files, Rich Text and PDFs, often given in place of a text."""


def decode(data: bytes, file: Path, encoding: str = "") -> tuple[str, str]:
    """The text of a file without byte-order mark, and its encoding: the given or detected one.

    Raises:
        UsageError: there is no encoding of that name.
        DataError: it is not in that encoding, or it is uncertain in which one it is.
    """
    encoding = encoding or encoding_of(data, file)
    try:
        return data.decode(codec_of(encoding)).removeprefix("\ufeff"), encoding
    except UnicodeError as error:
        raise undecodable(file, encoding, error) from None


def encoding_of(data: bytes, file: Path) -> str:
    """The encoding of a text from its first `HEAD` bytes, so that the rest can be streamed.

    Raises:
        DataError: as `decode`.
    """
    head, is_whole = data[:HEAD], len(data) < HEAD  # A longer text may be cut in a character.
    if head.startswith(_NO_TEXTS):
        raise DataError(
            "an archive, a PDF or a file of an office program, not a text",
            file=file,
            hint="Save it as plain text, a table as CSV (UTF-8)",
        )
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, is_whole)
    except UnicodeDecodeError as error:
        text = head.decode("utf-8", "replace")
        wrong = text.count("\ufffd")
        if sum(char > "\u07ff" for char in text) > 2 * wrong:  # Most of it is UTF-8, but damaged.
            raise undecodable(file, UTF_8, error) from None
    else:
        if 3 * head.count(0) > len(head):  # Letters in UTF-16 without its mark.
            raise undecodable(file)
        return UTF_8
    samples: dict[str, Text] = {}
    for name, codec in _OTHERS.items():
        with suppress(UnicodeDecodeError):
            text = codecs.getincrementaldecoder(codec)().decode(head, is_whole)
            if not _IN_NO_TEXT.search(text):
                samples[name] = _("{} as {}", _sample(text), name)
    if not samples.keys() & {"GB18030", "Big5"}:
        raise undecodable(file)
    if len(samples) > 1:
        problem = _("the encoding is uncertain: {}", join_parts(list(samples.values())))
        hint = _("Name it: --option {}=NAME, or convert the file to UTF-8", OPTION)
        raise DataError(problem, file=file, hint=hint)
    return next(iter(samples))


def codec_of(encoding: str) -> str:
    """The codec of an encoding; of UTF-8 the one that skips a byte-order mark.

    Raises:
        UsageError: there is none for texts.
    """
    try:
        "a".encode(encoding)  # A LookupError also for rot13 and the like, which encode no texts.
    except (LookupError, ValueError):
        raise UsageError(
            "option {}={}: unknown encoding. Known: UTF-8, UTF-16, GB18030, Big5 …",
            OPTION,
            encoding,
        ) from None
    return UTF_8 if codecs.lookup(encoding).name == "utf-8" else _OTHERS.get(encoding, encoding)


def undecodable(file: Path, encoding: str = "", error: UnicodeError | None = None) -> DataError:
    """The error for a text that is not in an encoding, or in none of the known ones."""
    problem = _("the text is not UTF-8, UTF-16, GB18030 or Big5")
    if encoding:
        place = ""
        if isinstance(error, UnicodeDecodeError):
            place = _(": byte {} is not valid", error.start)
        problem = _("the text is not {}{}", encoding.upper().removesuffix("-SIG"), place)
    hint = _("Name its encoding: --option {}=NAME, or convert it to UTF-8", OPTION)
    return DataError(problem, file=file, hint=hint)


def _sample(text: str) -> str:
    """The first characters of a text that encodings write differently."""
    first = next((place for place, char in enumerate(text) if not char.isascii()), 0)
    return repr(text[first : first + 12])
