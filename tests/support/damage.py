"""Kinds of damage that a source may have, each done to a copy of it where it fits."""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from tests.support.released import picture, put

Outcome = Literal["error", "mapping", "same", "said", "fewer"]
"""``error``: the import stops, and names what is damaged. ``mapping``: the import stops, because
the mapping that was drafted or shipped does not fit; the key to look at is named. ``same``: it is
harmless by rule, and the items are those of the sound source. ``said``: it is imported, and a note
or ``validate`` names it. ``fewer``: what is left is a sound source with a part of the items."""


class Damage(NamedTuple):
    """A kind of damage.

    `do` damages a source and gives back what must be named, or None where it does not fit.
    `otherwise` are the forms with another outcome, and the rule.
    """

    do: Callable[[Path], str | None]
    outcome: Outcome = "error"
    otherwise: dict[str, Outcome] = {}  # noqa: RUF012 - never changed


def _pictures(src: Path) -> list[Path]:
    return sorted(src.rglob("*.png"))


def _texts(src: Path, *suffixes: str) -> list[Path]:
    wanted = suffixes or (".json", ".jsonl", ".csv", ".tsv", ".txt", ".xml")
    # What a dataset says of itself is no part of what is read.
    found = (path for path in src.rglob("*") if path.name != "dataset.json")
    return sorted(path for path in found if path.suffix in wanted)


def to_picture(change: Callable[[Path], object]) -> Callable[[Path], str | None]:
    """Damage to the first picture."""

    def do(src: Path) -> str | None:
        for path in _pictures(src)[:1]:
            change(path)
            return path.stem
        return None

    return do


def to_text(change: Callable[[Path], object], *suffixes: str) -> Callable[[Path], str | None]:
    """Damage to the first text file; where `change` gives back False, it does not fit."""

    def do(src: Path) -> str | None:
        for path in _texts(src, *suffixes)[:1]:
            return None if change(path) is False else path.name
        return None

    return do


def to_file(change: Callable[[Path], object]) -> Callable[[Path], str | None]:
    """Damage to the first file that is no picture: a text, a parquet table."""

    def do(src: Path) -> str | None:
        for path in (*_texts(src), *sorted(src.rglob("*.parquet")))[:1]:
            change(path)
            return path.name
        return None

    return do


def unlisted(damage: Callable[[Path], str | None]) -> Callable[[Path], str | None]:
    """Damage by which a file is none any more, so that only its folder can be named."""
    return lambda src: src.name if damage(src) else None


def cells(file: str, *changes: tuple[str, str], says: str = "") -> Callable[[Path], str | None]:
    """Other words in one kind of file; `says` must be named, by default the file."""

    def do(src: Path) -> str | None:
        for path in sorted(src.rglob(file))[:1]:
            old = text = path.read_text("utf-8")
            for pattern, new in changes:
                text = re.sub(pattern, new, text, count=1)
            if text == old:
                return None
            path.write_text(text, "utf-8")
            return says or path.name
        return None

    return do


def any_of(*damages: Callable[[Path], str | None]) -> Callable[[Path], str | None]:
    """The first of several that fits: one kind of damage in the words of several forms."""

    def do(src: Path) -> str | None:
        return next((said for damage in damages if (said := damage(src))), None)

    return do


def _half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def _bomb(path: Path) -> None:
    head = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk)


def _folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe_instead(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link_out(path: Path) -> None:
    src = next(folder for folder in path.parents if folder.name == "src")
    path.replace(target := put(src.parent / "outside" / path.name, b""))
    path.symlink_to(target)


def _mark(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def _recode(encoding: str) -> Callable[[Path], object]:
    def change(path: Path) -> object:
        data = path.read_bytes()
        if data.isascii() and encoding != "utf-16":
            return False
        path.write_bytes(data.decode("utf-8").encode(encoding, "replace"))
        return True

    return change


def _litter(src: Path) -> str | None:
    for name in ("Thumbs.db", ".DS_Store", "desktop.ini", ".hidden.png", "__MACOSX/._p.png",
                 "__MACOSX/src/._data.json", "__MACOSX/._x.xml", "._adjacency.csv"):  # fmt: skip
        put(src / name, b"\x00\x05\x16\x07 no picture and no text")
    return "litter"


def _repeat_record(src: Path) -> str | None:
    for path in sorted(src.rglob("*.json")):
        records = json.loads(path.read_text("utf-8"))
        if isinstance(records, list):
            path.write_text(json.dumps([*records, records[0]], ensure_ascii=False), "utf-8")
            return str(records[0]["ID"])
    for path in sorted((*src.rglob("*.tsv"), *src.rglob("descriptions.csv"))):
        lines = path.read_text("utf-8").splitlines()
        path.write_text("\n".join([*lines, lines[1]]) + "\n", "utf-8")
        return lines[1].split("\t")[0] if path.suffix == ".tsv" else "line 5"
    return None


def _drop_column(src: Path) -> str | None:
    for path in _texts(src, ".csv", ".tsv"):
        mark = "\t" if path.suffix == ".tsv" else ","
        rows = [line.split(mark) for line in path.read_text("utf-8").splitlines()]
        path.write_text("\n".join(mark.join(row[1:]) for row in rows) + "\n", "utf-8")
        return path.name
    for path in _texts(src, ".json", ".jsonl"):
        text = re.sub(r'"(question|Question)":', '"said":', path.read_text("utf-8"))
        if "said" in text:
            path.write_text(text, "utf-8")
            return path.name
    return None


def _swap_columns(src: Path) -> str | None:
    for path in _texts(src, ".csv", ".tsv"):
        mark = "\t" if path.suffix == ".tsv" else ","
        head, *lines = path.read_text("utf-8").splitlines()
        first, second, *others = head.split(mark)
        put(path, "\n".join([mark.join([second, first, *others]), *lines]) + "\n")
        return path.name
    return None


def _rename(old: str, new: str) -> Callable[[Path], str | None]:
    def do(src: Path) -> str | None:
        files = sorted(src.rglob(f"*{old}"))
        for path in files:
            path.rename(path.with_suffix(new))
        return src.name if files else None

    return do


def _small_class(src: Path) -> str | None:
    if not (src / "c0").is_dir():
        return None
    for path in sorted((src / "c0").iterdir())[1:]:
        path.unlink()
    return "c0"


def _same_picture(src: Path) -> str | None:
    """The same picture in two classes or under two fragments' names."""
    found = _pictures(src)
    if not ((src / "c0").is_dir() or (src / "b1").is_dir()):
        return None
    put(found[-1], found[0].read_bytes())
    return found[0].stem


def _no_class(src: Path) -> str | None:
    return put(src / "astray.png", picture(77)).stem if (src / "c0").is_dir() else None


def _bomb_xml(path: Path) -> None:
    text = path.read_text("utf-8")
    entities = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'
    path.write_text(entities + text, "utf-8")


def _name_of_picture(new: str) -> Callable[[Path], str | None]:
    """Another name where a table names its first picture."""
    quoted = json.dumps(new, ensure_ascii=False)[1:-1].replace("\\", "\\\\")
    return any_of(
        cells("data.json", (r'"Image": "p1\.png"', f'"Image": "{quoted}"'), says="object 1"),
        cells("data.jsonl", (r'"image": "[^"]*"', f'"image": "{quoted}"'), says="record 1"),
        cells("boxes.csv", (r"images/bone1\.png", quoted), says="line 2"),
        cells("descriptions.csv", (r"wang\.png", quoted), says="line 2"),
        cells("adjacency.csv", (r"b1/1\.png", quoted), says="line 2"),
    )


DAMAGES: dict[str, Damage] = {
    "an image is missing": Damage(
        to_picture(Path.unlink), otherwise={"page-xml": "said", "alto": "said", "hocr": "said",
                                            "obi-classification": "said", "obi-retrieval": "said"},
    ),
    "an image is cut off": Damage(to_picture(_half)),
    "an image is empty": Damage(to_picture(lambda path: path.write_bytes(b""))),
    "an image is a web page": Damage(
        to_picture(lambda path: path.write_bytes(b"<!DOCTYPE html><html>404"))
    ),
    "an image is a folder": Damage(
        to_picture(_folder_instead), otherwise={"page-xml": "said", "alto": "said", "hocr": "said"}
    ),
    "an image is a pipe": Damage(
        to_picture(_pipe_instead), otherwise={"page-xml": "said", "alto": "said", "hocr": "said"}
    ),
    "an image is a link to outside": Damage(to_picture(_link_out)),
    "an image claims ten gigapixels": Damage(to_picture(_bomb)),
    "a file is cut off": Damage(
        # Cut at the end of a cell.
        to_file(_half), otherwise={"ancientdoc, OCR alone": "fewer"}
    ),
    "a file is empty": Damage(
        # A page of M5HisDoc without any line is a blank page.
        to_file(lambda path: path.write_bytes(b"")), otherwise={"hisdoc": "said"},
    ),
    "a file is a folder": Damage(unlisted(to_file(_folder_instead))),
    "a file is a pipe": Damage(to_file(_pipe_instead)),
    "a file is a link to outside": Damage(to_file(_link_out)),
    "a text begins with a byte-order mark": Damage(to_text(_mark), "same"),
    "a text is in GB18030": Damage(
        # XML names its own encoding, and without a name it is UTF-8. In a text with one Chinese
        # character GB18030 is not certain.
        to_text(_recode("gb18030")), "same",
        dict.fromkeys(
            ("page-xml", "alto", "obi-recognition", "obi-deciphering", "obi-recognition, labelme"),
            "error",
        ),
    ),
    "a text is in UTF-16": Damage(to_text(_recode("utf-16")), "same"),
    "an item occurs twice": Damage(_repeat_record),
    "a required column is missing": Damage(
        _drop_column,
        otherwise=dict.fromkeys(("mcs-bench", "mcs-bench, tables by task", "ancientdoc",
                                 "ancientdoc, OCR alone"), "mapping"),
    ),
    "two columns are swapped": Damage(
        # Adjoining is mutual, so the two columns say the same either way.
        _swap_columns, otherwise={"obi-rejoining": "same", "ancientdoc, OCR alone": "mapping"},
    ),
    "a file has another suffix": Damage(any_of(
        _rename(".parquet", ".bin"), _rename(".jsonl", ".txt"), _rename(".json", ".txt"),
        _rename(".csv", ".doc"),
        _rename(".tsv", ".txt"), _rename(".xml", ".txt"),
    ), otherwise={"pages": "same"}),
    "quotes are never closed": Damage(any_of(
        cells("*.csv", (r"\n", '\n"')), cells("*.tsv", (r"\n", '\n"')),
    )),
    "a line has a cell too many": Damage(any_of(
        cells("*.csv", (r"\n([^\n]+)\n", r"\n\1,more\n")),
        cells("*.tsv", (r"\n([^\n]+)\n", r"\n\1\tmore\n")),
    )),
    "JSON contains half a character": Damage(any_of(
        cells("data.json", (r'"學習"', r'"學\\ud800習"'), says="object 3"),
        cells("data.jsonl", (r'"好学。"', r'"好\\udc00学。"'), says="line 2"),
    )),
    "XML with entities that swell": Damage(to_text(_bomb_xml, ".xml")),
    "a name leads out of the folder": Damage(_name_of_picture("../../secret.png")),
    "a name is absolute": Damage(_name_of_picture("/etc/passwd")),
    "a name contains a null byte": Damage(
        any_of(
            cells("data.json", (r'"p1\.png"', r'"p\\u0000.png"'), says="object 1"),
            cells("data.jsonl", (r'"image": "[^"]*"', r'"image": "p\\u0000"'), says="record 1"),
        )
    ),
    "a name is of 5,000 characters": Damage(_name_of_picture("x" * 5000)),
    "a name belongs to no file": Damage(_name_of_picture("nobody.png")),
    "the task is unknown": Damage(any_of(
        cells("data.json", (r'"Task_ID": 1,', '"Task_ID": 99,'), says="object 1"),
        cells("data.jsonl", ("Page-level OCR", "Poetry"), says="record 1"),
    ), otherwise={"mcs-bench": "mapping"}),
    "the question is empty": Damage(any_of(
        cells("data.json", (r'"Question": "[^"]*"', '"Question": ""'), says="object 1"),
        # The first record's task, OCR, needs no question.
        cells("data.jsonl", (r'"question": "为何？"', '"question": " "'), says="record 2"),
        cells("T7.tsv", ("第0問？", ""), says="line 2"),
    )),
    "the answer is empty": Damage(any_of(
        cells("data.json", ('"學習"', '""'), ('"学习"', '""'), says="a3"),
        cells("data.jsonl", ('"學而時習之"', '""'), says="p01"),
        cells("T7.tsv", ("論語\tB\t", "論語\t\t"), says="0"),
        cells("descriptions.csv", ("It means king.", ""), says="line 2"),
        cells("p0.txt", (r"(?s).+", "\n")),
    ), "said", {"pages": "error"}),
    "the answer is not a letter of an option": Damage(any_of(
        cells("data.json", (r'"Answer": "B"', '"Answer": "Q"'), says="object 2"),
        cells("T7.tsv", ("論語\tB\t", "論語\tQ\t"), says="line 2"),
    ), "said", {"vlmevalkit-tsv": "error", "mcs-bench": "error"}),
    "a number is not numeric": Damage(any_of(
        cells("boxes.csv", (r",1,1,9,20", ",1,one,9,20"), says="line 2"),
        cells("bone1.xml", ("<xmin>1<", "<xmin>one<")),
        cells("descriptions.csv", (",700", ",often"), says="line 3"),
        cells("p1.xml", ("30,1", "30,one")), cells("p1.xml", ('HPOS="30"', 'HPOS="left"')),
    )),
    "a number is absurd": Damage(any_of(
        cells("boxes.csv", (r",1,1,9,20", ",1,1,1e999,20"), says="line 2"),
        cells("bone1.xml", ("<xmax>10<", "<xmax>1e999<")),
        cells("p1.xml", ("30,1", "1e99,1")), cells("p1.xml", ('HPOS="30"', 'HPOS="1e99"')),
    )),
    "a box leaves its image": Damage(any_of(
        cells("boxes.csv", (r",1,1,9,20", ",1,1,90,20"), says="line 2"),
        cells("bone1.xml", ("<xmax>10<", "<xmax>100<")),
    )),
    "a box has no area": Damage(any_of(
        cells("boxes.csv", (r",1,1,9,20", ",9,1,9,20"), says="line 2"),
        cells("bone1.xml", ("<xmax>10<", "<xmax>1<")),
    )),
    "a class has too few images": Damage(_small_class, "said"),
    "an image belongs to no class": Damage(_no_class),
    "one image has two labels": Damage(
        # Used in neither class by default: `duplicates=drop`.
        _same_picture, otherwise={"obi-classification": "said", "obi-retrieval": "said"}
    ),
    "a fragment adjoins a missing one": Damage(any_of(
        cells("adjacency.csv", ("b1/3", "b1/9"), says="line 3"),
    )),
    "a fragment adjoins itself": Damage(any_of(
        cells("adjacency.csv", ("b1/2,b1/3", "b1/3,b1/3"), says="line 3"),
    )),
    "a fragment adjoins another bone's": Damage(
        cells("adjacency.csv", ("b1/2,b1/3", "b1/2,b2/1"), says="line 3")
    ),
    "files of desktops and archives": Damage(_litter, "same"),
}  # fmt: skip
