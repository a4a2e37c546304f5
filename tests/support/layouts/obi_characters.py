"""OBI-Bench's sources of single characters: HUST-OBC, EVOBC, class folders and the others."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from PIL import Image

from tests.support.layouts import Layout
from tests.support.released import picture, put, table

SEEN, READ = "seen in a release", "seen in code that reads the release"

HUST = "https://github.com/Pengjie-W/HUST-OBC: README.md, Validation/Validation_test.json"
EVOBC = "https://github.com/RomanticGodVAN/character-Evolution-Dataset: README.md, Key&Value.json"
COMPONENT = "https://github.com/hutt94/Component-Level_OBI_Retrieval: OBI_Component_20/README.md"
ORACLE_FS = "programs that read oracle_source_img and oracle_fs (wenhui-han/Oracle-50K links them)"
OBI125 = "a program that joins Oracle-50K/<character> with OBI125/train and OBI125/test"
OBC306 = "a program that opens OBC306/…/001000/001000d00039-1.bmp"
SAF_VIT = "README of wuzike/SAF-ViT: OBC306/train, OBC306/val"

CHARACTERS = {"0001": "一", "0011": "上", "0012": "⊥", "0157": "王", "0482": "雨"}

HUST_IMAGES = {
    "deciphered/0001/G_0001_甲骨文2.png": 1,
    "deciphered/0011_0012/0012/X_0012_3170_1.png": 2,
    "deciphered/0157/X_0157_3803_2.png": 3,
    "deciphered/0157/L_0157_13972.jpg": 4,
    "deciphered/0157/H_0157_60ECC_11.png": 5,
    "deciphered/0482/Y_0482_60F93.jpg": 6,
    "undeciphered/L/276/L_276_14.jpg": 7,
    "undeciphered/X/9/X_9_7252_1.png": 8,
    "undeciphered/Y+H/60082/H_60082_1.png": 9,
}


def one_image(number: int, name: str) -> bytes:
    form = {"jpg": "JPEG", "bmp": "BMP"}.get(name.rpartition(".")[2], "PNG")
    # JPEG gives the same bytes to colours that differ by one.
    return picture(number * 8 if form == "JPEG" else number, form=form)


def images(folder: Path, names: dict[str, int]) -> None:
    for name, number in names.items():
        put(folder / name, one_image(number, name))


def dumped(path: Path, value: object) -> None:
    put(path, json.dumps(value, ensure_ascii=False))


def hust(src: Path, name: str = "HUST-OBC") -> Path:
    """HUST-OBC as it is unpacked; the images of GuoXueDaShi_1390 repeat some of the others."""
    images(src / name, HUST_IMAGES)
    put(src / name / "GuoXueDaShi_1390/0001/G_0001_甲骨文2.png", picture(1))
    dumped(src / name / "deciphered/ID_to_chinese.json", CHARACTERS)
    dumped(src / name / "GuoXueDaShi_1390/ID_to_chinese.json", {"0001": "丁"})
    return src / name


def hust_twice(src: Path) -> Path:
    """Unpacked into a folder of the archive's name, as some programs do."""
    hust(src / "HUST-OBC")
    return src / "HUST-OBC"


def hust_table(src: Path) -> Path:
    """With a table that describes one character."""
    hust(src)
    rows = [("deciphered/0157/X_0157_3803_2.png", "A king.")]
    table(src / "HUST-OBC/descriptions.csv", ("image", "description"), *rows)
    return src / "HUST-OBC"


EVOBC_IMAGES = {
    "00001/00001_Book_OBC_1_3.jpg": 11,
    "00001/00001_Web_BI_1_4.jpg": 12,
    "00002/00002_說文Web_OBC_2.jpg": 13,
    "00002/00002_Web_SS_3.jpg": 14,
    "00003/00003_Web_WSC_1.jpg": 15,
}
EVOBC_NAMES = {"00001": "天", "00002": "王", "00003": "水"}


def evobc(src: Path) -> Path:
    """EVOBC as its README draws it."""
    images(src / "Data/EVOBC", EVOBC_IMAGES)
    images(src / "Data/OBC", {name: n for name, n in EVOBC_IMAGES.items() if "OBC" in name})
    dumped(src / "Data/Key&Value.json", EVOBC_NAMES)
    dumped(src / "Data/List_of_EVOBC.json", [])
    return src / "Data"


def evobc_repository(src: Path) -> Path:
    """The repository with the data in it: the table is beside the folder Data."""
    folder = src / "character-Evolution-Dataset"
    evobc(folder)
    (folder / "Data/Key&Value.json").rename(folder / "Key&Value.json")
    put(folder / "README.md", "# Evolution Dataset")
    return folder


def evobc_alone(src: Path) -> Path:
    """The class folders alone, with the table among them."""
    images(src / "EVOBC", EVOBC_IMAGES)
    dumped(src / "EVOBC/Key&Value.json", EVOBC_NAMES)
    return src / "EVOBC"


def component_image(number: int, *, annotated: bool) -> bytes:
    """A transparent image, as 小學堂 publishes them; the component is red where it is annotated."""
    image = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    image.putpixel((number // 40, 0), (0, 0, 0, 255))
    for x in range(5, 30):
        image.putpixel((x, number % 40), (255 if annotated else 0, 0, 0, 255))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def component(src: Path, folder: str = "OBI_Component_20") -> Path:
    for label in range(20):
        for form in range(6):
            name = f"{label}/{form + 1}_{label + 40}no{form + 1}"
            number = label * 10 + form
            put(src / folder / f"{name}.png", component_image(number, annotated=False))
            mark = component_image(number, annotated=True) + bytes([label, form])
            put(src / folder / f"{name}_a.png", mark)
    return src / folder


def component_repository(src: Path) -> Path:
    """Its folder within the repository, beside the lists of images."""
    component(src)
    put(src / "datalist/TE_OBI_com.txt", "../OBI_Component_20/7/1_47no1_a.png 13\n")
    put(src / "mapper.txt", "47no1 0\n")
    return src


def classes(
    folder: Path, labels: Iterable[str], before: str = "", suffix: str = "png", shift: int = 0
) -> None:
    """Five images a class; with `before` as ``train:3,test:2`` the folders above their class."""
    parts = [part.partition(":") for part in before.split(",")] if before else [("", "", "5")]
    for place, label in enumerate(labels):
        number = 0
        for part, _, count in parts:
            for _ in range(int(count)):
                name = f"{part}/{label}/{label}_{number}.{suffix}".lstrip("/")
                put(folder / name, one_image(shift + place * 10 + number, name))
                number += 1


CODES = ("001000", "001003", "060011", "060ECC")
HAN = ("大", "小", "日", "王")


def class_folders(
    name: str, labels: Iterable[str], before: str = "", suffix: str = "png"
) -> Callable[[Path], Path]:
    def write(src: Path) -> Path:
        classes(src / name, labels, before, suffix)
        return src / name

    return write


def with_names(name: str, labels: Iterable[str], file: str) -> Callable[[Path], Path]:
    """Class folders called by codes, with a table of their characters."""

    def write(src: Path) -> Path:
        classes(src / name, labels)
        dumped(src / name / file, dict(zip(labels, HAN, strict=True)))
        return src / name

    return write


def oracle_source(src: Path) -> Path:
    """The unlabelled data published with Oracle-50K: other scripts beside the oracle characters."""
    root = src / "oracle_source/oracle_source_img"
    classes(root / "oracle_54081", HAN, suffix="jpg")
    classes(root / "gbk_bronze_lst_seal", HAN, suffix="jpg", shift=500)
    images(root / "bnu_xxt_hard", {f"{n}.jpg": 700 + n for n in range(6)})
    return src / "oracle_source"


def oracle_fs(src: Path) -> Path:
    """The few-shot sets: the same images under several numbers of shots."""
    root = src / "oracle_fs/img"
    classes(root, HAN, "oracle_200_3_shot/train:3,oracle_200_3_shot/test:2", "jpg")
    for place, label in enumerate(HAN):
        name = f"oracle_200_1_shot/train/{label}/{label}_0.jpg"
        put(root / name, one_image(place * 10, name))
    return src / "oracle_fs"


def several(src: Path) -> Path:
    """A folder for each source of classification."""
    for shift, name in enumerate(("HWOBC", "Oracle-50K", "OBI125")):
        classes(src / name, HAN, shift=shift * 100)
    return src


def too_few(src: Path) -> Path:
    images(src / "HWOBC", {f"{label}/{n}.png": n for label in HAN for n in range(3)})
    return src / "HWOBC"


def no_descriptions(src: Path) -> Path:
    images(src / "EVOBC", {f"images/{n}.png": n for n in range(4)})
    return src / "EVOBC"


_CLASSES = {"classes": "4"}
_DRAWN = {"classes": "2", "distractors": "10"}


def _of(source: str, files: str, where: str, evidence: str = READ, **more: object) -> Layout:
    task = str(more.pop("task", "classification"))
    options = _CLASSES if task == "classification" else _DRAWN
    given: dict[str, object] = {
        "reader": f"obi-{task}",
        "options": options,
        "name": f"{source}: {files}",
        # These sources are smaller than the paper's, so that the number of classes is an option.
        "detected": task == "deciphering",
    }
    return Layout(  # type: ignore[arg-type]
        source=f"OBI-Bench: {source}",
        files=files,
        where=where,
        evidence=evidence if where else "assumed",
        **(given | more),
    )


def _hust(files: str, write: Callable[[Path], Path], **more: object) -> Layout:
    given: dict[str, object] = {
        "canonical": "HUST-OBC",
        "task": "deciphering",
        "options": {},
        "name": f"HUST-OBC: {files}",
    }
    return _of("HUST-OBC", files, str(more.pop("where", "")), write=write, **(given | more))


def _evobc(files: str, write: Callable[[Path], Path], **more: object) -> Layout:
    given: dict[str, object] = {
        "canonical": "EVOBC",
        "task": "deciphering",
        "options": {},
        "name": f"EVOBC: {files}",
        "ignoring": ("metadata",),
    }
    return _of("EVOBC", files, "", write=write, **(given | more))


LAYOUTS = [
    _of("HUST-OBC", "deciphered/0157/X_0157_3803_2.png; deciphered/0327_0328/0328/…; "
        "deciphered/ID_to_chinese.json; undeciphered/L/276/…; GuoXueDaShi_1390/0001/…", HUST, SEEN,
        task="deciphering", options={}, name="HUST-OBC", write=hust),
    _hust("the folder called HUST-OBS, as at first", lambda src: hust(src, "HUST-OBS"),
          where=HUST, evidence=READ),
    _hust("HUST-OBC/HUST-OBC/deciphered/…", hust_twice),
    _hust("descriptions.csv in it", hust_table, canonical=""),
    _of("EVOBC", "Data/EVOBC/00001/00001_Book_OBC_1_3.jpg; Data/OBC/00001/…; Key&Value.json; "
        "List_of_EVOBC.json", EVOBC, SEEN, task="deciphering", options={}, name="EVOBC",
        write=evobc),
    _evobc("the repository, Key&Value.json beside Data", evobc_repository),
    _evobc("EVOBC/00001/…; EVOBC/Key&Value.json", evobc_alone),
    _evobc("images without class folders or table", no_descriptions, canonical="",
           missing="not one of the layout of EVOBC", ignoring=()),
    _of("OBI Component 20", "8/422_5154no1.png; 8/422_5154no1_a.png (folders 0 to 19)", COMPONENT,
        SEEN, task="deciphering", options={}, name="OBI Component 20", write=component),
    _of("OBI Component 20", "OBI_Component_20/8/…; datalist/TE_OBI_com.txt; mapper.txt", COMPONENT,
        SEEN, task="deciphering", options={}, canonical="OBI Component 20",
        write=component_repository),
    _of("HWOBC", "HWOBC/60ECC/60ECC_1.png", "", write=class_folders("HWOBC", CODES), name="HWOBC"),
    _of("HWOBC", "HWOBC/60ECC/…; ID_to_chinese.json", "",
        write=with_names("HWOBC", CODES, "ID_to_chinese.json"), canonical="HWOBC",
        ignoring=("metadata",)),
    _of("HWOBC", "classes of fewer than five images", "", write=too_few, options={},
        detected=True, missing="0 of its 4 classes have 5 different images"),
    _of("Oracle-50K", "Oracle-50K/<character>/….jpg", OBI125, name="Oracle-50K",
        write=class_folders("Oracle-50K", HAN, suffix="jpg")),
    _of("Oracle-50K", "oracle_source/oracle_source_img/oracle_54081/<character>/….jpg; "
        "gbk_bronze_lst_seal/…; bnu_xxt_hard/….jpg", ORACLE_FS, canonical="Oracle-50K",
        write=oracle_source, ignoring=("metadata",)),
    _of("Oracle-50K", "oracle_fs/img/oracle_200_1_shot/train/<character>/….jpg; …/test/…",
        ORACLE_FS, write=oracle_fs, name="Oracle-FS"),
    _of("OBI125", "OBI125/<character>/….png", "", name="OBI125",
        write=class_folders("OBI125", HAN)),
    _of("OBI125", "OBI125/train/<character>/….png; OBI125/test/<character>/….png", OBI125,
        canonical="OBI125", write=class_folders("OBI125", HAN, "train:3,test:2"),
        ignoring=("metadata",)),
    _of("HWOBC, Oracle-50K, OBI125", "a folder for each", "", write=several),
    _of("OBC306", "OBC306/001000/001000d00039-1.bmp", OBC306, task="retrieval", name="OBC306",
        write=class_folders("OBC306", CODES, suffix="bmp")),
    _of("OBC306", "OBC306/train/001000/….bmp; OBC306/val/001000/….bmp", SAF_VIT, task="retrieval",
        canonical="OBC306", write=class_folders("OBC306", CODES, "train:3,val:2", "bmp"),
        ignoring=("metadata",)),
    _of("OBI-IJDH", "OBI-IJDH/<character>/….png", "", task="retrieval", name="OBI-IJDH",
        write=class_folders("OBI-IJDH", HAN)),
    _of("OBI-IJDH", "OBI-IJDH/train/<character>/….png; OBI-IJDH/test/<character>/….png", "",
        task="retrieval", canonical="OBI-IJDH",
        write=class_folders("OBI-IJDH", HAN, "train:4,test:1"), ignoring=("metadata",)),
    _of("Oracle-MNIST", "train/<class>/….bmp; test/<class>/….bmp (the original images)", "",
        write=class_folders("Oracle-MNIST", ("0", "1", "2", "3"), "train:3,test:2", "bmp"),
        options={}, detected=False),
]  # fmt: skip
