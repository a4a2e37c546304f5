"""`decode`: texts in UTF-8, UTF-16, GB18030 and Big5, the encoding given or detected.

UTF-16 is known by its byte-order mark. Any other text that is not UTF-8 is decoded as GB18030 and
as Big5. The one in which most of its characters are common ones is used; if both fit equally, the
user must choose. Of 7,909 pieces of real classical texts, 2 were decoded wrongly and 7 were
rejected, all of them of 10 characters. Of the pieces of 10 characters in GB18030 and Big5,
charset-normalizer decodes 31 % and 47 % wrongly (benchmarks/encoding_detection.py).
"""

from __future__ import annotations

import codecs
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from keju.errors import DataError, UsageError
from keju.texts import _

UTF_8 = "utf-8-sig"
"""The encoding of a text in UTF-8, with or without byte-order mark."""

OPTION = "encoding"
OPTION_HELP = (
    "the encoding of the texts: UTF-8, UTF-16, GB18030, Big5 or another one that Python knows "
    "(default: detected and reported)"
)

HEAD = 1 << 18
"""Bytes of a text from which its encoding is detected."""

_FAMILIES = {
    "GB18030": ("gb18030",),
    # The second and third add characters of Windows and of Hong Kong.
    "Big5": ("big5", "cp950", "big5hkscs"),
}
_LEAST = 0.3
"""Mean commonness below which a text is in neither of the encodings."""

_MARGIN = 0.05
"""Difference in commonness up to which two encodings fit equally."""

_ASCII = re.compile("[\t\n\v\f\r -~]+")

_KANA = re.compile("[\u3041-\u30ff]")
_PUNCTUATION = "，。、；：？！「」『』（）《》〈〉【】〔〕“”‘’—…·．　○〇□■"


class Decoded(NamedTuple):
    """A text and the name of its encoding."""

    text: str
    encoding: str


def decode(data: bytes, file: Path, encoding: str = "") -> Decoded:
    """The text of a file in a given or, if it is empty, detected encoding, without byte-order mark.

    Raises:
        UsageError: there is no encoding of that name.
        DataError: it is not in that encoding, or fits none of the known ones, or two equally.
    """
    if encoding:
        codecs_to_try: tuple[str, ...] = (_with_mark(check_encoding(encoding)),)
    else:
        encoding = detect_encoding(data[:HEAD], file, whole=len(data) <= HEAD)
        codecs_to_try = _FAMILIES.get(encoding, (encoding,))
    for codec in codecs_to_try:
        try:
            return Decoded(data.decode(codec).removeprefix("\ufeff"), encoding)
        except UnicodeError:
            continue
    raise _undecodable(data, file, "" if encoding in _FAMILIES else encoding)


def codec_of(data: bytes, file: Path, encoding: str = "") -> str:
    """The codec of a file, from its beginning, so that the rest can be streamed.

    Raises:
        UsageError: there is no encoding of that name.
        DataError: as `decode`.
    """
    if encoding:
        return _with_mark(check_encoding(encoding))
    name = detect_encoding(data[:HEAD], file, whole=False)
    return _FAMILIES.get(name, (name,))[0]


def detect_encoding(head: bytes, file: Path, *, whole: bool) -> str:
    """The encoding of a text from its beginning.

    Args:
        head: the beginning.
        file: its name, for errors.
        whole: whether this is the whole text, so that it does not end within a character.

    Returns:
        `UTF_8`, ``UTF-16`` or the name of one of the other encodings.

    Raises:
        DataError: none fits, both fit equally, or it is UTF-8 with damage.
    """
    if head.startswith(_NO_TEXTS):
        raise DataError(
            "an archive, a PDF or a file of an office program, not a text",
            file=file,
            hint="Save it as plain text, a table as CSV (UTF-8)",
        )
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    try:
        codecs.utf_8_decode(head, "strict", whole)
    except UnicodeDecodeError:
        pass
    else:
        if 3 * head.count(0) > len(head):  # Letters in UTF-16 without its mark.
            raise _undecodable(head, file, "")
        return UTF_8
    if _seems_utf8(head):
        raise _undecodable(head, file, "utf-8")
    fits = sorted(
        ((score, name) for name in _FAMILIES if (score := _fit(head, name, whole=whole)) > _LEAST),
        reverse=True,
    )
    if _japanese(head, whole=whole) > max([_LEAST, *(fit for fit, _ in fits)]):
        raise DataError(  # As GB18030 it would often be accepted.
            "the text seems to be Shift_JIS, which is not detected",
            file=file,
            hint=_("Give --option {}=shift_jis, or convert the file to UTF-8", OPTION),
        )
    if not fits:
        raise _undecodable(head, file, "")
    if len(fits) > 1 and fits[0][0] - fits[1][0] <= _MARGIN:
        first, second = fits[0][1], fits[1][1]
        raise DataError(
            "the encoding is uncertain: {} as {}, {} as {}",
            _sample(head, first),
            first,
            _sample(head, second),
            second,
            file=file,
            hint=_("Name it: --option {}=NAME, or convert the file to UTF-8", OPTION),
        )
    return fits[0][1]


def check_encoding(encoding: str) -> str:
    """The codec of that name.

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
    return encoding


def _with_mark(encoding: str) -> str:
    return UTF_8 if codecs.lookup(encoding).name == "utf-8" else encoding


def _seems_utf8(head: bytes) -> bool:
    """Whether most of a text is UTF-8, so that the rest is damaged."""
    text = head.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return sum(char > "\u07ff" for char in text) - wrong > wrong


def _fit(head: bytes, name: str, *, whole: bool) -> float:
    """How common the characters are when a text is decoded in an encoding; 0 if it cannot be."""
    for codec in _FAMILIES[name]:
        decoder = codecs.getincrementaldecoder(codec)()
        try:
            return _commonness(decoder.decode(head, whole))
        except UnicodeDecodeError:
            continue
    return 0.0


def _japanese(head: bytes, *, whole: bool) -> float:
    """How common the characters of a text in Shift_JIS are, with kana as common; 0 if it is not."""
    try:
        text = codecs.getincrementaldecoder("cp932")().decode(head, whole)
    except UnicodeDecodeError:
        return 0.0
    return _commonness(_KANA.sub("之", text))


def _commonness(text: str) -> float:
    """Mean over all characters except printable ASCII: 1 common, .2 rare Han, -1 anything else."""
    common = _common()
    found = _ASCII.sub("", text)
    if not found:
        return 1.0
    total = sum(1.0 if char in common else 0.2 if _is_han(char) else -1.0 for char in found)
    return total / len(found)


def _is_han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff"


@cache
def _common() -> frozenset[str]:
    """The first levels of GB 2312 and Big5: 7,000 characters of modern texts."""
    levels = (("gb2312", range(0xB0, 0xD8)), ("big5", range(0xA4, 0xC7)))
    return frozenset(_PUNCTUATION) | {
        char
        for codec, rows in levels
        for row in rows
        for cell in range(0x40, 0xFF)
        for char in bytes([row, cell]).decode(codec, "ignore")
        if _is_han(char)
    }


_NO_TEXTS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf", b"%PDF-")
"""The beginnings of archives, Office files, Rich Text and PDFs, often given in place of a text."""


def _undecodable(data: bytes, file: Path, encoding: str) -> DataError:
    """The error for a text that is not in an encoding, or in none of the known ones."""
    problem = _("the text is not UTF-8, UTF-16, GB18030 or Big5")
    if encoding:
        place = ""
        try:
            data.decode(encoding)
        except UnicodeDecodeError as error:
            place = _(": byte {} is not valid", error.start)
        except UnicodeError:
            pass
        problem = _("the text is not {}{}", encoding.upper().removesuffix("-SIG"), place)
    hint = _("Name its encoding: --option {}=NAME, or convert it to UTF-8", OPTION)
    return DataError(problem, file=file, hint=hint)


def _sample(head: bytes, name: str) -> str:
    text = head[:4000].decode(_FAMILIES[name][-1], "ignore")
    beyond = next((place for place, char in enumerate(text) if not char.isascii()), 0)
    return repr(text[beyond : beyond + 12])
