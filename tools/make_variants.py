"""Make the tables of src/keju/text/data from the Unicode Character Database.

    python -m tools.make_variants [FOLDER]

FOLDER holds Unihan_Variants.txt, Unihan_Readings.txt, Unihan_OtherMappings.txt and
EquivalentUnifiedIdeograph.txt, plain or .bz2 (Debian's package unicode-data has them in
/usr/share/unicode).

variants.txt joins two characters only where they are one character written in two ways:

* Candidates are the pairs of kZVariant, the pairs of kSemanticVariant that both sides state, and
  the librarians' codes kCCCII and kEACC, which give a character and its variants one code and
  different layers (layer 1 is simplified and left out).
* Both must have one first Mandarin reading (kMandarin): this parts most different words.
* A pair that Unihan calls simplified and traditional, and that OpenCC's t2s unites, belongs to
  the layer `script`.
* Two of Big5's 5,401 common characters are words that modern spelling keeps apart (遊 and 游, 采
  and 採): only kZVariant may join them.
* Chains don't join: a variant goes to one standard character that it is directly paired with. If
  it is paired with several, the best attested one wins, and with none best it goes nowhere.
* A Japanese form goes to the standard of the one traditional character that it replaced (OpenCC's
  jp2t and t2jp: 鉄 to 鐵, 鉱 by 鑛 to 礦). Readings are not compared, because Unihan gives many
  forms that of an old, other character (豊 lǐ, 浜 bāng). Forms that are common words in Big5 (芸,
  予, 缶) and simplified ones of another character (沪 of 滬) stay apart.
* The standard character is the one in Big5's common part, then in Big5, then in most of GB 2312,
  JIS X 0208 and KS X 1001.
* A later layer may not part what this one joined. So a variant whose simplified form is a common
  character (GB 2312) other than its standard's simplified form stays apart (紬 and 綢 have 䌷 and
  绸), and a rare simplified form joins its traditional one.
* APART and TOGETHER are corrections made by reading the whole table.
"""

from __future__ import annotations

import bz2
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from unicodedata import is_normalized

import opencc

FOLDER = Path("/usr/share/unicode")
DATA = Path(__file__).resolve().parents[1] / "src" / "keju" / "text" / "data"

BIG5_COMMON = range(0xA440, 0xC67F)
SIMPLIFIED_LAYER = 1
RADICALS = range(0x2E80, 0x2FE0)
HAN = [
    char
    for code in (*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000), *range(0x20000, 0x323B0))
    if is_normalized("NFC", char := chr(code))
]
"""Ideographs, without those that Unicode itself replaces."""

APART = (
    "鍛煅 冪鼏 一壱 二弐 二贰 三叁 帳账 巨钜 店坫 朐鴝 朐鸜 徭繇 梟鴞 柩柾 牟麰 甬埇 訕赸 夯䂫 旗旂"
)
TOGETHER = "弊獘 尚尙 錄録 飲飮 步歩 涉渉 每毎 廉亷 旨㫖 閱閲 兌兊 曾曽 遙遥 隸隷 虛虗"

HEADER = """\
# {what}
# Made by tools/make_variants.py of keju from the Unicode Character Database {version} and
# OpenCC {opencc}; that script states the rules. Modified data, derived from Unicode data files,
# copyright Unicode, Inc., under the licence in UNICODE-LICENSE.txt beside this file.
"""

Pair = tuple[str, str]


class Unihan(NamedTuple):
    """What the rules need to know of the characters.

    `simplified` holds traditional and simplified, in this order; the other pairs are sorted.
    """

    evidence: dict[Pair, int]
    japanese: tuple[Pair, ...]
    z_variants: set[Pair]
    simplified: set[Pair]
    reading: dict[str, str]
    common: set[str]
    big5: set[str]
    standards: tuple[set[str], ...]

    def rank(self, char: str) -> tuple[int, int, int]:
        """The lower, the more standard."""
        shelf = 0 if char in self.common else 1 if char in self.big5 else 2
        return shelf, -sum(char in each for each in self.standards), ord(char)


def main() -> None:
    """Write both tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    version = next(
        line.split(":")[1].strip()
        for line in _read(folder, "Unihan_Variants").splitlines()
        if line.startswith("# Unicode version")
    )
    marks = {"version": version, "opencc": opencc.__version__}
    groups = groups_of(without_contradictions(read_unihan(folder)))
    lines = [standard + "".join(sorted(groups[standard])) for standard in sorted(groups)]
    title = "Variant characters: the first of a line is the standard form of the others."
    _write("variants.txt", HEADER.format(what=title, **marks), lines)
    title = "Radicals encoded apart, each with its ideograph."
    _write("radicals.txt", HEADER.format(what=title, **marks), sorted(radicals(folder)))


def read_unihan(folder: Path) -> Unihan:
    """Read all that the rules need."""
    z_variants = set(_relation(folder, "kZVariant"))
    semantic = set(_relation(folder, "kSemanticVariant"))
    both_ways = {(a, b) for a, b in semantic if (b, a) in semantic}
    evidence: dict[Pair, int] = defaultdict(int)
    for pairs, weight in (
        (z_variants, 2),
        (both_ways, 1),
        (_layers(folder, "kCCCII"), 1),
        (_layers(folder, "kEACC"), 1),
    ):
        for pair in {_sorted(*each) for each in pairs}:
            evidence[pair] += weight
    big5 = {c: int(v.split()[0], 16) for c, v in _field(folder, "Unihan_OtherMappings", "kBigFive")}
    return Unihan(
        evidence=dict(evidence),
        japanese=tuple(_japanese_forms()),
        z_variants={_sorted(*pair) for pair in z_variants},
        simplified=set(_relation(folder, "kSimplifiedVariant")),
        reading={c: v.split()[0] for c, v in _field(folder, "Unihan_Readings", "kMandarin")},
        common={char for char, code in big5.items() if code in BIG5_COMMON},
        big5=set(big5),
        standards=tuple(
            {char for char, _ in _field(folder, "Unihan_OtherMappings", name)}
            for name in ("kGB0", "kJis0", "kKSC0")
        ),
    )


def standard_forms(unihan: Unihan) -> dict[str, str]:
    """Character → its standard form, which may be itself."""
    to_simplified = _simplifier()
    apart = {_sorted(*pair) for pair in APART.split()}

    def script_only(pair: Pair) -> bool:
        a, b = pair
        known = not unihan.simplified.isdisjoint(((a, b), (b, a)))
        return known and to_simplified(a) == to_simplified(b)

    def sound(pair: Pair) -> bool:
        a, b = pair
        if a == b or pair in apart or script_only(pair) or not is_normalized("NFC", a + b):
            return False
        if not unihan.reading.get(a) or unihan.reading.get(a) != unihan.reading.get(b):
            return False
        return pair in unihan.z_variants or not unihan.common.issuperset(pair)

    near: dict[str, set[str]] = defaultdict(set)
    for a, b in filter(sound, unihan.evidence):
        near[a].add(b)
        near[b].add(a)
    standard_of: dict[str, str] = {}
    for char in sorted(near, key=unihan.rank):
        tops = {other for other in near[char] if standard_of.get(other) == other}
        if not tops:
            standard_of[char] = char
            continue
        best = _best(unihan, char, tops)
        if best:
            standard_of[char] = best
    for form, char in unihan.japanese:
        if not unihan.common.issuperset((form, char)) and not script_only(_sorted(form, char)):
            _join_japanese(unihan, standard_of, form, char)
    for standard, variant in TOGETHER.split():
        standard_of[variant] = standard_of.get(standard, standard)
    return standard_of


def _join_japanese(unihan: Unihan, standard_of: dict[str, str], form: str, char: str) -> None:
    """Join a Japanese form, and its own variants, with a traditional character's standard."""
    standard, other = standard_of.get(char, char), form
    if unihan.rank(form) < unihan.rank(standard):
        standard, other = form, char
    if standard_of.get(other, other) == other:
        for variant in [each for each, top in standard_of.items() if top == other]:
            standard_of[variant] = standard
        standard_of[other] = standard


def without_contradictions(unihan: Unihan) -> dict[str, str]:
    """The standard forms, so that simplifying never parts two characters that were joined."""
    simplify = _simplifier()
    gb2312 = unihan.standards[0]
    forms = {char: form for char, form in standard_forms(unihan).items() if char != form}
    for char, form in sorted(forms.items()):
        simple = simplify(char)
        if simple != char and simplify(forms.get(simple, simple)) != simplify(form):
            if simple in gb2312 or simple in forms or simple in forms.values():
                del forms[char]
            else:
                forms[simple] = form
    while parted := [
        char
        for char in HAN
        if simplify(forms.get(simple := simplify(char), simple)) != simplify(forms.get(char, char))
    ]:
        for char in parted:
            forms.pop(simplify(char), None) or forms.pop(char, None)
    return forms


def groups_of(standard_of: dict[str, str]) -> dict[str, set[str]]:
    """Standard character → its variants."""
    groups: dict[str, set[str]] = defaultdict(set)
    for char, standard in standard_of.items():
        groups[standard].add(char)
    return groups


def _japanese_forms() -> Iterator[Pair]:
    """Japanese forms, each with the only traditional character that it replaced."""
    to_traditional, to_japanese = opencc.OpenCC("jp2t").convert, opencc.OpenCC("t2jp").convert
    from_simplified = opencc.OpenCC("s2t").convert
    replaced: dict[str, set[str]] = defaultdict(set)
    for char in HAN:
        if (form := to_japanese(char)) != char:
            replaced[form].add(char)
    for form in HAN:
        char = to_traditional(form)
        if char != form and replaced[form] <= {char} and from_simplified(form) in {form, char}:
            yield form, char


def _simplifier() -> Callable[[str], str]:
    """OpenCC's t2s on one character, again until nothing changes: 薴 becomes 苧, and that 苎."""
    convert = opencc.OpenCC("t2s").convert

    def simplify(char: str) -> str:
        while (simple := convert(char)) != char:
            char = simple
        return char

    return simplify


def _best(unihan: Unihan, char: str, tops: set[str]) -> str:
    """The one standard form of `char`, or nothing where none stands out."""
    for a in sorted(tops):
        for b in sorted(tops):
            if a != b and (a, b) in unihan.simplified:
                tops = tops - {b}
    weight = {top: unihan.evidence[_sorted(char, top)] for top in tops}
    best = [top for top in tops if weight[top] == max(weight.values())]
    return best[0] if len(best) == 1 else ""


def radicals(folder: Path) -> Iterator[str]:
    """Radical and ideograph, for the two blocks of radicals."""
    for line in _read(folder, "EquivalentUnifiedIdeograph").splitlines():
        data = line.split("#")[0].strip()
        if not data:
            continue
        codes, ideograph = (part.strip() for part in data.split(";"))
        first, _, last = codes.partition("..")
        for code in range(int(first, 16), int(last or first, 16) + 1):
            if code in RADICALS:
                yield chr(code) + chr(int(ideograph, 16))


def _relation(folder: Path, field: str) -> Iterator[Pair]:
    for char, value in _field(folder, "Unihan_Variants", field):
        for target in value.split():
            yield char, _char(target.partition("<")[0])


def _layers(folder: Path, field: str) -> Iterator[Pair]:
    """Pairs of a character and its variant: one place in a plane, planes six apart."""
    places: dict[tuple[int, str], dict[int, str]] = defaultdict(dict)
    for char, value in _field(folder, "Unihan_OtherMappings", field):
        code = value.split()[0]
        layer, plane = divmod(int(code[:2], 16) - 0x21, 6)
        places[plane, code[2:]][layer] = char
    for layers in places.values():
        for layer, char in layers.items():
            if 0 in layers and SIMPLIFIED_LAYER < layer < 8:
                yield layers[0], char


def _field(folder: Path, name: str, field: str) -> Iterator[tuple[str, str]]:
    for line in _read(folder, name).splitlines():
        if line and not line.startswith("#"):
            code, key, value = line.split("\t")
            if key == field:
                yield _char(code), value


def _char(code: str) -> str:
    return chr(int(code.removeprefix("U+"), 16))


def _read(folder: Path, name: str) -> str:
    plain = folder / f"{name}.txt"
    if plain.exists():
        return plain.read_text("utf-8")
    return bz2.decompress((folder / f"{name}.txt.bz2").read_bytes()).decode()


def _sorted(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)


def _write(name: str, header: str, lines: list[str]) -> None:
    (DATA / name).write_text(header + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
