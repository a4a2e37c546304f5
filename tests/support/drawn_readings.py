"""Pages set in columns with known reading order, and readings of them in known patterns."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

STEP = 50
"""Height of a row, in pixels."""

UNREPEATED = (
    "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜"
    "金生麗水玉出崑岡劍號巨闕珠稱夜光果珍李柰菜重芥薑海鹹河淡鱗潛羽翔龍師火帝鳥官人皇"
    "始制文字乃服衣裳推位讓國有虞陶唐弔民伐罪周發殷湯坐朝問道垂拱平章愛育黎首臣伏戎羌"
    "遐邇壹體率賓歸王"
)
REPEATED = {
    "sutra": (
        "觀自在菩薩行深般若波羅蜜多時照見五蘊皆空度一切苦厄舍利子色不異空空不異色色即是空"
        "空即是色受想行識亦復如是舍利子是諸法空相不生不滅不垢不淨不增不減是故空中無色無受"
        "想行識無眼耳鼻舌身意無色聲香味觸法無眼界乃至無意識界無無明亦無無明盡乃至無老死亦"
        "無老死盡無苦集滅道無智亦無得"
    ),
    "great learning": (
        "古之欲明明德於天下者先治其國欲治其國者先齊其家欲齊其家者先修其身欲修其身者先正其"
        "心欲正其心者先誠其意欲誠其意者先致其知致知在格物物格而後知至知至而後意誠意誠而後"
        "心正心正而後身修身修而後家齊家齊而後國治國治而後天下平自天子以至於庶人壹是皆以修"
        "身為本其本亂而末治者否矣"
    ),
    "songs": (
        "采采芣苢薄言采之采采芣苢薄言有之采采芣苢薄言掇之采采芣苢薄言捋之采采芣苢薄言袺之"
        "采采芣苢薄言襭之桃之夭夭灼灼其華之子于歸宜其室家桃之夭夭有蕡其實之子于歸宜其家室"
        "桃之夭夭其葉蓁蓁之子于歸宜其家人"
    ),
    "accounts": (
        "三月初五日收銀二兩四錢六分三月初七日付銀一兩五錢二分四月初二日買米三兩一錢八分四"
        "月初九日買布六兩二錢五月初一日支錢七兩三錢五分五月初六日收銀四兩八錢一分六月初三"
        "日入租九兩二錢四分六月初八日付銀五兩六錢三分七月初四日買米八兩一錢七分七月初十日"
        "收銀二兩九錢五分八月初二日支錢六兩四錢一分"
    ),
}
SHAPES = ((8, 16), (10, 12), (6, 20))
"""Columns, and characters of a whole column."""


class Glyph(NamedTuple):
    """A character on a page: its centre, its column counted from the right, whether in a note."""

    char: str
    x: float
    y: float
    column: int
    note: bool


def drawn(text: str, shape: tuple[int, int], seed: int, *, notes: bool = False) -> list[Glyph]:
    """The characters of a page in true order; columns begin and end at different heights.

    Notes are pieces of the text in two rows of half the size, the right row first.
    """
    draw = random.Random(seed)
    columns, depth = shape
    glyphs: list[Glyph] = []
    for column in range(columns):
        row = float(draw.choice([0, 0, 0, 1, 2]))
        end = depth if column < columns - 1 else depth - draw.randrange(depth // 2)
        while row < end and len(glyphs) < len(text):
            rest = text[len(glyphs) :]
            half = draw.choice([3, 4, 5])
            if notes and draw.random() < 0.12 and row + 3 <= end and len(rest) > 2 * half:
                for at, char in enumerate(rest[: 2 * half]):
                    x = (columns - column) * 60 + (13 if at < half else -13)
                    y = (row + at % half * 0.55 + 0.3) * STEP
                    glyphs.append(Glyph(char, x, y, column, note=True))
                row += half * 0.55 + 0.2
            else:
                x, y = (columns - column) * 60, (row + 0.5) * STEP
                glyphs.append(Glyph(rest[0], x, y, column, note=False))
                row += 1
    return glyphs


def across(glyphs: Sequence[Glyph], side: int) -> list[Glyph]:
    """The characters as rows, from the left (1) or from the right (-1)."""
    return sorted(glyphs, key=lambda each: (each.y // STEP, side * each.x, each.y))


def pairs_of_columns(glyphs: Sequence[Glyph]) -> Iterator[list[Glyph]]:
    """Two columns at a time."""
    for first in range(0, max(each.column for each in glyphs) + 1, 2):
        yield [each for each in glyphs if first <= each.column <= first + 1]


def mixed(glyphs: Sequence[Glyph], draw: random.Random) -> list[Glyph]:
    """Two neighbouring columns, of each one or two characters by turns."""
    found: list[Glyph] = []
    y = 0
    while len(found) < len(glyphs):
        height = draw.choice([1, 1, 2]) * STEP
        part = [each for each in glyphs if y <= each.y < y + height]
        found += sorted(part, key=lambda each: each.column)
        y += height
    return found


def reading(glyphs: Sequence[Glyph], way: str, seed: int) -> str:
    """What an engine without recognition errors returns, if it reads the page in some way."""
    draw = random.Random(seed)
    columns = range(max(each.column for each in glyphs) + 1)
    match way:
        case "rows from the right" | "rows from the left":
            found = across(glyphs, -1 if way.endswith("right") else 1)
        case "left to right":
            found = [each for at in reversed(columns) for each in glyphs if each.column == at]
        case "merged":
            found = [each for pair in pairs_of_columns(glyphs) for each in across(pair, -1)]
        case "mixed":
            found = [each for pair in pairs_of_columns(glyphs) for each in mixed(pair, draw)]
        case "notes at the end":
            found = sorted(glyphs, key=lambda each: each.note)
        case "notes behind the column":
            found = sorted(glyphs, key=lambda each: (each.column, each.note))
        case "halves exchanged":
            found = sorted(glyphs, key=lambda each: 2 * each.column < len(columns))
        case _:
            found = list(glyphs)
    return "".join(each.char for each in found)


def misread(text: str, share: float, seed: int) -> str:
    """A share of the characters dropped, replaced by others, or by others of the same page."""
    draw = random.Random(seed)
    said = []
    for char in text:
        kind = draw.random() / share if share else 1
        others = ("", chr(draw.randrange(0x6000, 0x7000)), draw.choice(text))
        said.append(char if kind >= 1 else others[int(kind * 3)])
    return "".join(said)
