"""Segmentation into words as jieba's default mode does it, for the one metric that needs it.

jieba spends most of its time in generators and tuples. Here is the same search over the same
dictionary and probabilities, adding the same numbers in the same order, so the words are the same
to the last; a test holds it to jieba itself.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from functools import cache
from math import log
from pathlib import Path

from keju.errors import PrerequisiteError
from keju.object_stores import cache_folder
from keju.texts import _

_BLOCK = re.compile(r"([\u4E00-\u9FD5a-zA-Z0-9+#&\._%\-]+)")
_SPACE = re.compile(r"(\r\n|\s)")
_HAN = re.compile(r"([\u4E00-\u9FD5]+)")
_OTHER = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")
_NEVER = -3.14e100


def words(text: str) -> list[str]:
    """The words that jieba's default mode cuts a text into (T2).

    Raises:
        PrerequisiteError: jieba is not installed.
    """
    return _cutter().cut(text)


class _Cutter:
    """The likeliest path through jieba's dictionary, and a guess at what is left between its words.

    Args:
        counts: how often jieba's corpus has each word; 0 for the beginnings of words.
        total: the sum of all counts.
        guess: cuts what the dictionary leaves over.
    """

    def __init__(
        self, counts: Mapping[str, int], total: int, guess: Callable[[str], list[str]]
    ) -> None:
        self._counts = counts
        self._log_total = log(total)
        self._logs: dict[int, float] = {}
        self._guess = guess

    def cut(self, text: str) -> list[str]:
        """Cut a text."""
        out: list[str] = []
        for place, block in enumerate(_BLOCK.split(text)):
            if place % 2:
                self._cut_block(block, out)
                continue
            for part in _SPACE.split(block):
                out += [part] if _SPACE.match(part) else part
        return out

    def _cut_block(self, block: str, out: list[str]) -> None:
        ends = self._ends(block)
        single = start = 0
        while start < len(block):
            end = ends[start]
            if end - start > 1:
                self._cut_singles(block[single:start], out)
                out.append(block[start:end])
                single = end
            start = end
        self._cut_singles(block[single:], out)

    def _cut_singles(self, left: str, out: list[str]) -> None:
        if len(left) > 1 and not self._counts.get(left):
            out += self._guess(left)
        else:
            out += left

    def _ends(self, block: str) -> list[int]:
        """Where the word that begins at each place ends, on the likeliest path from there on."""
        counts, logs, size = self._counts, self._logs, len(block)
        best, ends = [0.0] * (size + 1), [0] * size
        for start in range(size - 1, -1, -1):
            top, last, end = None, start + 1, start + 1
            count = counts.get(block[start])
            while count is not None:
                if count:
                    value = (logs[count] if count in logs else self._log(count)) + best[end]
                    if top is None or value >= top:
                        top, last = value, end
                end += 1
                count = counts.get(block[start:end]) if end <= size else None
            best[start] = self._log(1) + best[last] if top is None else top
            ends[start] = last
        return ends

    def _log(self, count: int) -> float:
        found = self._logs.get(count)
        if found is None:
            found = self._logs[count] = log(count) - self._log_total
        return found


class _Guesser:
    """jieba's hidden Markov model: each character begins, continues, ends or is a word.

    Args:
        start: log probability of each tag (B, M, E, S) for the first character.
        moves: of each tag after another.
        emits: of each character under each tag.
        apart: words that are always cut into characters.
    """

    def __init__(
        self,
        start: Mapping[str, float],
        moves: Mapping[str, Mapping[str, float]],
        emits: Mapping[str, Mapping[str, float]],
        apart: Collection[str],
    ) -> None:
        self._start, self._apart = start, apart
        chars = {char for emitted in emits.values() for char in emitted}
        self._emits = {char: [emits[tag].get(char, _NEVER) for tag in "BMES"] for char in chars}
        self._moves = {
            one + two: moves[one].get(two, _NEVER)
            for one, two in ("EB", "SB", "BM", "MM", "BE", "ME", "ES", "SS")
        }

    def cut(self, text: str) -> list[str]:
        """Cut what the dictionary left over."""
        out: list[str] = []
        for place, block in enumerate(_HAN.split(text)):
            if place % 2:
                for word in self._words(block):
                    out += word if word in self._apart else [word]
            else:
                out += [part for part in _OTHER.split(block) if part]
        return out

    def _words(self, block: str) -> list[str]:
        found, begin = [], 0
        for place, tag in enumerate(self._tags(block)):
            if tag in "ES":
                found.append(block[begin : place + 1])
                begin = place + 1
        return [*found, *([block[begin:]] if begin < len(block) else [])]

    def _tags(self, block: str) -> list[str]:
        emits, never = self._emits, [_NEVER] * 4
        eb, sb, bm, mm, be, me, es, ss = self._moves.values()
        begin, middle, end, single = (
            self._start[tag] + emitted
            for tag, emitted in zip("BMES", emits.get(block[0], never), strict=True)
        )
        came: list[dict[str, str]] = []
        # Each tag may follow two others; of equals jieba takes the later letter, here the second.
        for char in block[1:]:
            to_begin, to_middle, to_end, to_single = emits.get(char, never)
            begins = end + eb + to_begin, single + sb + to_begin
            middles = begin + bm + to_middle, middle + mm + to_middle
            ends = begin + be + to_end, middle + me + to_end
            singles = end + es + to_single, single + ss + to_single
            came.append(
                {
                    "B": "ES"[begins[1] >= begins[0]],
                    "M": "BM"[middles[1] >= middles[0]],
                    "E": "BM"[ends[1] >= ends[0]],
                    "S": "ES"[singles[1] >= singles[0]],
                }
            )
            begin, middle, end, single = max(begins), max(middles), max(ends), max(singles)
        tags = ["S" if single >= end else "E"]
        for origin in reversed(came):
            tags.append(origin[tags[-1]])
        return tags[::-1]


@cache
def _cutter() -> _Cutter:
    try:
        # Importing jieba takes pkg_resources along, which warns of its own age.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jieba  # noqa: PLC0415
            from jieba import finalseg  # noqa: PLC0415
    except ImportError:
        raise PrerequisiteError(
            _("BLEU over words, which needs jieba,"), 'pip install "keju[official]"'
        ) from None
    jieba.setLogLevel(logging.WARNING)
    folder = _cache_folder()
    if folder:
        # By default jieba unmarshals a file in the shared temporary folder.
        jieba.dt.tmp_dir = str(folder)
    jieba.initialize()
    guesser = _Guesser(
        finalseg.start_P, finalseg.trans_P, finalseg.emit_P, finalseg.Force_Split_Words
    )
    return _Cutter(jieba.dt.FREQ, jieba.dt.total, guesser.cut)


def _cache_folder() -> Path | None:
    """Our own folder for the parsed dictionary, or None where none can be made."""
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder
