"""Suspicious references that probably differ from the image: markup, placeholders, copies.

All checks but that of damaged characters are of transcriptions, and every finding is a warning.
There are no findings in 227 real transcriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from keju.datasets.checks import CommonFindings, Finding
from keju.definitions import query_of
from keju.errors import DataError, printable
from keju.items import Item
from keju.text import counted, is_han
from keju.texts import Text, _

LEAST_COPIED = 20
"""Minimum length in characters of a text that two images cannot be expected to share."""

_MARKUP = {
    "RTF": re.compile(r"^\s*\{\\rtf"),
    "JSON": re.compile(r'^\s*[\[{]\s*[{"]'),
    _("HTML or XML tags"): re.compile(r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|<!--|<\?xml"),
    _("character entities"): re.compile(r"&#?[A-Za-z0-9][\w+-]{1,15};"),
    "Markdown": re.compile(r"^#{1,6} +\S|\*\*|```|^\|? *:?-{3,}:? *\||\]\(", re.MULTILINE),
    "LaTeX": re.compile(r"\\[A-Za-z]{2,}|\\[\[\]()]"),
}

_REPLACED = re.compile("锟斤拷|錕斤拷|ï¿½")
"""Results of reading U+FFFD in UTF-8 as GBK or Latin-1."""

_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff"
_CONTROL = re.compile(f"[{_CONTROLS}]")
"""Control characters, except tab and line break, and lone surrogates."""

_UNSHOWN = re.compile(f"[{_CONTROLS}\ue000-\uf8ff\ufdd0-\ufdef\ufffd-\uffff\U000f0000-\U0010ffff]")
"""Control, private-use and replacement characters, and codes without a character."""

_LIKE_HAN = re.compile("[\u2e80-\u2fdf\ue000-\uf8ff\U000f0000-\U0010ffff]")
_MOST_CODES = 5

_BLANK = re.compile(r"blank( page)?|empty( page)?|no text|空白[頁页]?|[無无]文字|[無无]字")
_PLACEHOLDER = re.compile(
    r"to ?do|tbd|tba|fixme|x{2,}|n ?a|none|null|nan|test|placeholder|lorem\b.*|foo|"
    r"待?[轉转]?[錄录]入?中?|待[補补定校填查處处核]|[暫暂][無无缺]|未[錄录]入?|同上|見下頁?|见下页?"
)
_INSIDE = re.compile(r"(?<![A-Za-z])(?:TODO|FIXME|TBD|[Ll]orem ipsum)(?![A-Za-z])")


def text_fault(text: str) -> Text | None:
    """Evidence that a text is not a transcription, with a hint; None where there is none."""
    bare = "".join(char if char.isalnum() else " " for char in text.casefold())
    bare = " ".join(bare.split())
    shown = text.strip()[:20]
    if _BLANK.fullmatch(bare):
        return _(
            "the text describes the page as blank ({!r})",
            shown,
            hint="If it is blank, import it as a blank page: see keju data formats pages",
        )
    is_placeholder = bool(_PLACEHOLDER.fullmatch(bare))
    for kind, pattern in _MARKUP.items() if not is_placeholder else ():
        if match := pattern.search(text):
            return _(
                "the text contains {} ({!r})",
                kind,
                " ".join(text[match.start() :].split())[:20],
                hint="Save it as plain text (.txt, UTF-8)",
            )
    if is_placeholder or _INSIDE.search(text):
        return _(
            "the text is a placeholder ({!r})",
            shown,
            hint="Write what the image shows, or drop it",
        )
    # Radicals count, and characters for private use, as rare ideographs are.
    if shown and not any(is_han(char) or _LIKE_HAN.match(char) for char in text):
        return _(
            "the text has no Chinese character ({!r})",
            shown,
            hint="Check that it is the right file",
        )
    return None


def check_texts(item: Item) -> Iterator[Finding]:
    """Yield the warnings about the texts of an item.

    Transcriptions with markup, placeholders and without a Chinese character; damaged and invisible
    characters of any reference.
    """
    texts = dict.fromkeys((item.transcription or "", _transcription_asked(item)))
    faults = map(text_fault, filter(str.strip, texts))
    for problem in (*_list_damage(item), *filter(None, faults)):
        yield Finding.of("warning", _name_of(item), problem)


def _transcription_asked(item: Item) -> str:
    """The answer, if the item asks for a transcription."""
    try:
        asks = query_of(item).form == "transcription"
    except DataError:
        asks = False
    return (item.answer or item.answer_simplified) if asks else ""


def _name_of(item: Item) -> str:
    file = item.metadata.get("file", "")
    return f"{item.id} ({file})" if file else item.id


def _list_damage(item: Item) -> Iterator[Text]:
    """Characters that no page shows; a model cannot give them back, so a right answer has errors.

    U+FFFD is not counted (`counted`), and what a model reads there is an insertion; a private-use
    character counts, and the right character is a substitution. For how many characters of the page
    such codes are is unknown, so that no scoring rule can correct this.
    """
    texts = (item.answer, item.answer_simplified, item.transcription or "", *item.also_accepted)
    others = (*item.options, *(line.text for line in item.lines), *item.fields.values())
    characters = {
        "id": [char for char in item.id if printable(char) != char],
        "group": [char for char in item.group if printable(char) != char],
        # Format characters in texts are not reported, because scoring ignores them.
        "question": _CONTROL.findall(item.question),
        "reference": _UNSHOWN.findall(_REPLACED.sub("\ufffd", "\n".join((*texts, *others)))),
    }
    for name, unshown in characters.items():
        codes = [f"U+{ord(char):04X}" for char in dict.fromkeys(unshown)]
        if codes:
            yield _(
                "its {} contains characters that no page shows: {}",
                name,
                ", ".join(codes[:_MOST_CODES]) + ("…" if len(codes) > _MOST_CODES else ""),
                hint=(
                    "Decode the source again in its own encoding, and import again. Replace "
                    "private-use characters by the Unicode character (fonts of the Kangxi "
                    "dictionary, GBK and Big5 with additions have tables), by a description such "
                    "as ⿰木皆, or by □"
                ),
            )


class CopiedTexts:
    """Transcriptions of `LEAST_COPIED` counted characters or more that several images share.

    Images are distinguished by their bytes. Texts are kept as hashes, so that a million items fit.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, tuple[int, str]] = {}
        self._others: dict[bytes, dict[int, str]] = {}

    def add(self, item: Item) -> None:
        """Add the next item."""
        text = counted(_transcription_asked(item))
        if item.images and len(text) >= LEAST_COPIED:
            key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            images = hash(tuple(image.sha256 for image in item.images))
            first_images, __ = self._first.setdefault(key, (images, _name_of(item)))
            if images != first_images:
                self._others.setdefault(key, {}).setdefault(images, _name_of(item))

    def list_all(self) -> Iterator[Finding]:
        """Yield a finding for each text of several images."""
        for key, others in self._others.items():
            names: str = ", ".join(list(others.values())[:3])
            if len(others) > 3:
                names = _("{} and {} more", names, len(others) - 3)
            problem = _(
                "the same text as {}, on another image",
                names,
                hint="Check which of the images it belongs to",
            )
            yield Finding.of("warning", self._first[key][1], problem)


def suspicious_texts(items: Iterable[Item]) -> Iterator[Finding]:
    """Yield the warnings about the texts of items, each once."""
    common, copies = CommonFindings(), CopiedTexts()
    for item in items:
        for finding in check_texts(item):
            common.add(finding)
        copies.add(item)
    yield from common.list_all()
    yield from copies.list_all()
