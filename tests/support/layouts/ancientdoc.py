"""Layouts of AncientDoc: its README's JSON lines, the wide table on Hugging Face, and variants."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from keju.datasets.readers.draft import Drafted, Preset, mapping_text
from keju.datasets.readers.mapping import Mapping, mapping_from
from tests.support.layouts import MAP, Evidence, Layout
from tests.support.released import picture, put

_README = "https://github.com/bytedance/AncientDoc (README: Data Format)"
_CODE = (
    "https://github.com/Dexin-Huang/palimpsest (columns type, name, OCR; 14 categories; literal "
    "\\n; 385 copies under imgs/imgs). No code that was found reads columns of other tasks"
)
_VIEWER = "https://huggingface.co/datasets/ByteDance/AncientDoc (viewer: one column, image)"

READ = "请从图像中提取文本，并按阅读顺序输出。"
TRANSLATE = "请将图像中的文本翻译为现代汉语。"

PAGES = ("兵家类/兵垣四編/page_5.png", "艺术类/書譜/page_12.png")
TEXTS = {
    PAGES[0]: {
        "OCR": "兵垣四編\n孫子曰兵者國之大事",
        "Translation": "孙子说：\n战争是国家的大事。",
        "Reasoning Question 1": "为何慎战？",
        "Reasoning Answer 1": "关乎存亡。",
        "Reasoning Question 2": "何以知胜？",
        "Reasoning Answer 2": "以五事校之。",
        "Knowledge Question 1": "作者何人？",
        "Knowledge Answer 1": "孙武。",
        "Knowledge Question 2": "成书于何时？",
        "Knowledge Answer 2": "春秋末年。",
        "Variant Question 1": "用何修辞？",
        "Variant Answer 1": "排比。",
        "Variant Question 2": "属何文体？",
        "Variant Answer 2": "兵书。",
    },
    PAGES[1]: {"OCR": "書譜卷上\n吳郡孫過庭撰", "Translation": "孙过庭\n撰写。"},
}
"""What the tables say of each page; the second page has no questions."""

_TASKS = {
    "Reasoning": "Reasoning-based QA",
    "Knowledge": "Knowledge-based QA",
    "Variant": "Linguistic Variant QA",
}
_CHINESE = {
    "type": "类别", "name": "图片", "OCR": "原文", "Translation": "白话文翻译",
    **{
        f"{task} {kind} {n}": f"{chinese}{kind_chinese}{n}"
        for task, chinese in (("Reasoning", "推理"), ("Knowledge", "知识"), ("Variant", "语言变体"))
        for kind, kind_chinese in (("Question", "问题"), ("Answer", "答案"))
        for n in (1, 2)
    },
}  # fmt: skip

_TRADITIONAL = {"兵家类": "兵家類", "艺术类": "藝術類"}

Rows = list[dict[str, Any]]


def questions(*, ocr_only: bool = False) -> Rows:
    """The questions as the README has them: one record each."""
    found: Rows = []
    for page, texts in TEXTS.items():
        found.append({"image": page, "task": "OCR", "question": READ, "answer": texts["OCR"]})
        if ocr_only:
            continue
        found.append(
            {"image": page, "task": "Vernacular Translation", "question": TRANSLATE,
             "answer": texts["Translation"]}
        )  # fmt: skip
        found += [
            {"image": page, "task": name, "question": texts[f"{task} Question {n}"],
             "answer": texts[f"{task} Answer {n}"]}
            for task, name in _TASKS.items() for n in (1, 2) if f"{task} Question {n}" in texts
        ]  # fmt: skip
    return found


def wide(*, ocr_only: bool = False, literal: bool = True) -> Rows:
    """The rows of ``label.csv``: one per page, line breaks as a literal ``\\n``."""
    columns = ["OCR"] if ocr_only else list(TEXTS[PAGES[0]])
    return [
        {"type": category, "name": f"{book}{page}"}
        | {name: _literal(texts.get(name, ""), literal) for name in columns}
        for path, texts in TEXTS.items()
        for category, book, page in [path.split("/")]
    ]


def _literal(text: str, literal: bool) -> str:
    return text.replace("\n", "\\n") if literal else text


def images(folder: Path, *roots: str) -> None:
    """Write the images of all pages under each of these folders."""
    for root in roots or (".",):
        for number, page in enumerate(PAGES, start=1):
            put(folder / root / page, picture(number))


def write_csv(file: Path, rows: Rows, separator: str = ",") -> None:
    """Write a CSV or TSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    put(file, out.getvalue())


def write_lines(file: Path, rows: Iterable[object]) -> None:
    """Write JSON lines."""
    put(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_json(file: Path, content: object) -> None:
    """Write JSON."""
    put(file, json.dumps(content, ensure_ascii=False))


def write_parquet(file: Path, rows: Rows) -> None:
    """Write parquet."""
    file.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_parquet(file)


def embedded(page: str) -> dict[str, object]:
    """A cell that contains the image, as the hub writes it."""
    return {"bytes": picture(PAGES.index(page) + 1), "path": page}


def readme(folder: Path) -> Path:
    write_lines(folder / "data.jsonl", questions())
    images(folder)
    return folder


def _readme_ocr(folder: Path) -> Path:
    write_lines(folder / "data.jsonl", questions(ocr_only=True))
    images(folder)
    return folder


def _readme_list(folder: Path) -> Path:
    write_json(folder / "data.json", questions())
    images(folder)
    return folder


def _readme_wrapped(folder: Path) -> Path:
    write_json(folder / "data.json", {"data": questions()})
    images(folder, "imgs")
    return folder


def _readme_csv(folder: Path) -> Path:
    write_csv(folder / "data.csv", questions())
    images(folder, "images")
    return folder


def _readme_parquet(folder: Path) -> Path:
    rows = [row | {"image": embedded(row["image"])} for row in questions()]
    write_parquet(folder / "data/train-00000-of-00001.parquet", rows)
    return folder


def hub(folder: Path) -> Path:
    write_csv(folder / "label.csv", wide())
    images(folder, "imgs")
    return folder


def hub_ocr(folder: Path) -> Path:
    write_csv(folder / "label.csv", wide(ocr_only=True))
    images(folder, "imgs")
    return folder


def _hub_twice(folder: Path) -> Path:
    images(hub_ocr(folder), "imgs/imgs")
    return folder


def _hub_file(folder: Path) -> Path:
    return hub(folder) / "label.csv"


def _hub_traditional(folder: Path) -> Path:
    rows = [row | {"type": _TRADITIONAL[row["type"]]} for row in wide()]
    write_csv(folder / "label.csv", rows)
    images(folder, "imgs")
    return folder


def _hub_chinese(folder: Path) -> Path:
    rows = [{_CHINESE[key]: value for key, value in row.items()} for row in wide(literal=False)]
    write_csv(folder / "label.tsv", rows, "\t")
    images(folder, "imgs")
    return folder


def _hub_slash(folder: Path) -> Path:
    rows = [row | {"name": row["name"].replace("page_", "/page_")} for row in wide()]
    write_json(folder / "label.json", rows)
    images(folder, "imgs")
    return folder


def _hub_pairs(folder: Path) -> Path:
    rows: Rows = []
    for row in wide():
        short = {key: row[key] for key in ("type", "name", "OCR", "Translation")}
        for task, name in _TASKS.items():
            pairs = [
                {"question": row[f"{task} Question {n}"], "answer": row[f"{task} Answer {n}"]}
                for n in (1, 2)
            ]
            asked = [pair for pair in pairs if pair["question"]]
            short[name] = json.dumps(asked, ensure_ascii=False) if asked else ""
        rows.append(short)
    write_csv(folder / "label.csv", rows)
    images(folder, "imgs")
    return folder


def _hub_marked(folder: Path) -> Path:
    rows: Rows = []
    for row in wide():
        short = {key: row[key] for key in ("type", "name", "OCR", "Translation")}
        for task, name in _TASKS.items():
            short[name] = "\\n".join(
                f"问题{n}：{row[f'{task} Question {n}']}\\n答案{n}：{row[f'{task} Answer {n}']}"
                for n in (1, 2)
                if row[f"{task} Question {n}"]
            )
        rows.append(short)
    write_csv(folder / "label.csv", rows)
    images(folder, "imgs")
    return folder


def _hub_parquet(folder: Path) -> Path:
    pages = [embedded(page) for page in PAGES]
    rows = [row | {"image": page} for row, page in zip(wide(), pages, strict=True)]
    write_parquet(folder / "data/train-00000-of-00001.parquet", rows)
    return folder


def _hub_joined(folder: Path) -> Path:
    write_csv(folder / "label.csv", wide())
    write_parquet(folder / "train.parquet", [{"image": embedded(page)} for page in PAGES])
    return folder


def images_alone(folder: Path) -> Path:
    rows = [{"image": embedded(page) | {"path": Path(page).name}} for page in PAGES]
    write_parquet(folder / "data/train-00000-of-00001.parquet", rows)
    return folder


def _tree_alone(folder: Path) -> Path:
    images(folder, "imgs")
    return folder


def _without_images(folder: Path) -> Path:
    write_csv(folder / "label.csv", wide(ocr_only=True))
    return folder


PRESETS = Path(__file__).parents[3] / "src/keju/benchmarks/ancientdoc/presets"


class Edit(NamedTuple):
    """A preset, the lines of it that are replaced, and lines added at its end."""

    preset: str
    lines: dict[str, str]
    added: str = ""


def question_items(*columns: tuple[str, str, str]) -> str:
    """`[[items]]` of questions: task, column of the question, column of the answer."""
    return "".join(
        f'[[mapping.items]]\ntask = "{task}"\nquestion = "{question}"\nanswer = "{answer}"\n'
        for task, question, answer in columns
    )


_TRANSLATION = '[[mapping.items]]\ntask = "vernacular_translation"\nanswer = "{}"\n'
_TASK_IDS = {"Reasoning": "reasoning_qa", "Knowledge": "knowledge_qa",
         "Variant": "linguistic_variant_qa"}  # fmt: skip
_QUESTIONS = _TRANSLATION.format("Translation") + question_items(
    *(
        (task, f"{name} Question {number}", f"{name} Answer {number}")
        for name, task in _TASK_IDS.items()
        for number in (1, 2)
    )
)
_CHINESE_ITEMS = _TRANSLATION.format("白话文翻译") + question_items(
    *(
        (task, f"{name}问题{number}", f"{name}答案{number}")
        for name, task in zip(("推理", "知识", "语言变体"), _TASK_IDS.values(), strict=True)
        for number in (1, 2)
    )
)
_CELLS = _TRANSLATION.format("Translation") + question_items(
    *((task, f"{task}_q{number}", f"{task}_a{number}") for task in _TASK_IDS.values()
      for number in (1, 2))
)  # fmt: skip
_CELL_NAMES = {"reasoning_qa": "Reasoning-based QA", "knowledge_qa": "Knowledge-based QA",
              "linguistic_variant_qa": "Linguistic Variant QA"}  # fmt: skip


def _cell_patterns(question: str, answer: str, between: str, around: tuple[str, str]) -> str:
    """Regular expressions for cells with two questions and answers."""
    return "".join(
        f'"{column}" = \'{around[0]}'
        + between.join(
            f'{question.format(n)}(?P<{task}_q{n}>[^"\\\\]*){answer.format(n)}'
            f'(?P<{task}_a{n}>[^"\\\\]*)'
            for n in (1, 2)
        )
        + f"{around[1]}'\n"
        for task, column in _CELL_NAMES.items()
    )


_TABLE = 'path = "label.csv"'
_LINES = 'path = "data.jsonl"'
_IMAGE = 'image = "imgs/{type}/{book}/{page}.{suffix}"'
_SPLIT = "[mapping.split]\n"

EDITS = {
    "JSON list": Edit("ancientdoc-lines", {_LINES: 'path = "data.json"'}),
    "JSON object with a list": Edit(
        "ancientdoc-lines",
        {_LINES: 'path = "data.json"\nkey = "data"', 'image = "image"': 'image = "imgs/{image}"'},
    ),
    "CSV, one row per question": Edit("ancientdoc-lines", {_LINES: 'path = "data.csv"'}),
    "parquet with images": Edit(
        "ancientdoc-lines", {_LINES: 'path = "*.parquet"', "image = '": "\"image.path\" = '"}
    ),
    "label.csv with all tasks": Edit("ancientdoc", {}, _QUESTIONS),
    "label.csv given as a file": Edit("ancientdoc", {}, _QUESTIONS),
    "traditional category names": Edit(
        "ancientdoc",
        {
            'category = "type"': 'category = "type"\nfolder_name = "type"',
            "{type}": "{folder_name}",
            "[mapping.values.category]": "[mapping.values.category]\n"
            '"兵家類" = "The Philosophy of War"\n"藝術類" = "Art"',
        },
        _QUESTIONS + '[mapping.values.folder_name]\n"兵家類" = "兵家类"\n"藝術類" = "艺术类"\n',
    ),
    "Chinese column names": Edit(
        "ancientdoc",
        {_TABLE: 'path = "label.tsv"', "{type}": "{类别}", 'category = "type"': 'category = "类别"',
         "name = '": "\"图片\" = '", 'answer = "OCR"': 'answer = "原文"'},
        _CHINESE_ITEMS,
    ),
    "names with a slash": Edit("ancientdoc", {_TABLE: 'path = "label.json"'}, _QUESTIONS),
    "questions and answers as JSON in one cell": Edit(
        "ancientdoc",
        {_SPLIT: _SPLIT + _cell_patterns(r'\{{"question": "', '", "answer": "', '"}, ',
                                      (r"\[", r'"\}\]'))},
        _CELLS,
    ),
    "questions and answers marked in one cell": Edit(
        "ancientdoc",
        {_SPLIT: _SPLIT + _cell_patterns("问题{}：", r"\\n答案{}：", r"\\n", ("", ""))},
        _CELLS,
    ),
    "wide parquet with images": Edit(
        "ancientdoc", {_TABLE: 'path = "*.parquet"', _IMAGE: 'image = "image"'}, _QUESTIONS
    ),
    "label.csv with images in parquet": Edit(
        "ancientdoc",
        {_IMAGE: 'image = "image"'},
        _QUESTIONS + '[[mapping.lookup]]\npath = "train.parquet"\nkey = "image.path"\n'
        'by = "{type}/{book}/{page}.{suffix}"\n',
    ),
}  # fmt: skip
"""Of each layout that nobody has seen, the edit of a preset that reads it."""


def preset_text(edit: Edit) -> str:
    """The content of a preset after an edit."""
    text = (PRESETS / f"{edit.preset}.toml").read_text("utf-8")
    for line, new in edit.lines.items():
        assert line in text
        text = text.replace(line, new)
    return text + edit.added


def mapping_of(edit: Edit) -> Mapping:
    """The mapping of a preset after an edit."""
    return mapping_from(msgspec.toml.decode(preset_text(edit), type=Preset).mapping, PRESETS)


def mapping_file(edit: Edit) -> str:
    """The content of a mapping file for a preset after an edit."""
    return mapping_text(Drafted(mapping_of(edit)))


def _edited(write: Callable[[Path], Path], edit: Edit) -> Callable[[Path], Path]:
    """Writes a source and, beside it, the mapping file that reads it."""

    def write_both(folder: Path) -> Path:
        src = write(folder)
        put(folder / MAP, mapping_file(edit))
        return src

    return write_both


_FIRST = "ancientdoc: JSON lines of the README"
_OCR = "ancientdoc: JSON lines with OCR alone"
_RELEASE: Evidence = "seen in a release"
_READ: Evidence = "seen in code that reads the release"


def _layout(
    name: str, files: str, write: Callable[[Path], Path], canonical: str = _FIRST
) -> Layout:
    edit = EDITS.get(name)
    return Layout(
        name=f"ancientdoc: {name}", source="AncientDoc", files=files, evidence="assumed", where="",
        reader="mapped" if edit else "ancientdoc", write=_edited(write, edit) if edit else write,
        options={"map": MAP} if edit else {}, canonical=canonical,
    )  # fmt: skip


LAYOUTS = (
    _layout("JSON lines of the README", "data.jsonl; CATEGORY/BOOK/page_N.png", readme)._replace(
        evidence=_RELEASE, where=_README, reader="ancientdoc-lines"
    ),
    _layout(
        "JSON lines with OCR alone", "data.jsonl: OCR alone; CATEGORY/BOOK/page_N.png", _readme_ocr,
        _OCR,
    )._replace(evidence=_RELEASE, where=_README, reader="ancientdoc-lines"),
    _layout("JSON list", "data.json: [{…}]", _readme_list),
    _layout("JSON object with a list", "data.json: {\"data\": [...]}; imgs/", _readme_wrapped),
    _layout("CSV, one row per question", "data.csv; images/", _readme_csv),
    _layout("parquet with images", "data/*.parquet: image, task, question …", _readme_parquet),
    _layout(
        "label.csv with OCR alone", "label.csv: type, name, OCR; imgs/CATEGORY/BOOK/page_N.png",
        hub_ocr, _OCR,
    )._replace(evidence=_READ, where=_CODE),
    _layout(
        "images twice", "label.csv: type, name, OCR; imgs/…; imgs/imgs/…", _hub_twice, _OCR
    )._replace(evidence=_READ, where=_CODE),
    _layout(
        "label.csv with all tasks",
        "label.csv: type, name, OCR, Translation, Reasoning Question 1 …; imgs/…", hub,
    ),
    _layout("label.csv given as a file", "label.csv (given as SRC); imgs/…", _hub_file),
    _layout("traditional category names", "label.csv: type 兵家類", _hub_traditional),
    _layout("Chinese column names", "label.tsv: 类别, 图片, 原文, 推理问题1 …", _hub_chinese),
    _layout("names with a slash", "label.json: name BOOK/page_N.png", _hub_slash),
    _layout(
        "questions and answers as JSON in one cell",
        "label.csv: [{\"question\": …, \"answer\": …}] in a cell", _hub_pairs,
    ),
    _layout("questions and answers marked in one cell", "label.csv: 问题1：…答案1：…", _hub_marked),
    _layout("wide parquet with images", "data/*.parquet: image, type, name, OCR …", _hub_parquet),
    _layout("label.csv with images in parquet", "label.csv; *.parquet: image", _hub_joined),
    _layout(
        "images alone in parquet", "data/train-*.parquet: image", images_alone,
        "ancientdoc: images alone in parquet",
    )._replace(evidence=_RELEASE, where=_VIEWER, reader="ancientdoc-images"),
    _layout(
        "images without label.csv", "imgs/CATEGORY/BOOK/page_N.png",
        _edited(_tree_alone, Edit("ancientdoc", {})),
    )._replace(
        missing="no table is called label.csv", reader="mapped", options={"map": MAP}
    ),
    _layout("label.csv without images", "label.csv alone", _without_images)._replace(
        missing="2 files are missing"
    ),
)  # fmt: skip
