"""MCS-Bench in the layouts in which it may be released: the same 50 items in each.

Of the release only the fields of RESPONSES.json are known, from the authors' calculate_metrics.py,
and that every entry has task ID, domain and task name (section 2.2.3 of the paper). All other
layouts are assumed. The items cover every task, so that each form of answer is among them; T1 to T6
show one image, T7 has six items.
"""

from __future__ import annotations

import csv
import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from keju.definitions import Task, tasks
from keju.text import in_script
from tests.support.layouts import Evidence, Layout
from tests.support.released import picture, put
from tests.support.workbooks import write_workbook

Json = dict[str, Any]

SCRIPT = "https://github.com/SCUT-DLVCLab/MCS-Bench/blob/main/calculate_metrics.py"

OPTIONS = ("论语", "说苑", "后汉书", "孟子")
META = (("王羲之", "东晋", "兰亭序", "行书"), ("赵孟頫", "元", "胆巴碑", "楷书"),
        ("", "清", "芥子园画传", ""))  # fmt: skip


class Said(NamedTuple):
    """What an item says, before it is written in a layout."""

    number: int
    task: Task
    place: int
    """Its number in the task."""
    stem: str
    """The question without options and requirement, simplified."""
    options: tuple[str, ...]
    answer: str
    """Simplified; the letter of a multiple-choice question."""
    image: int

    @property
    def t(self) -> int:
        return int(self.task.id.removeprefix("T"))

    @property
    def question(self) -> str:
        lettered = " ".join(f"{'ABCD'[n]}、{text}" for n, text in enumerate(self.options))
        parts = (self.stem, lettered, self.task.queries[0].requirement)
        return "\n".join(part for part in parts if part)

    @property
    def text(self) -> str:
        """The answer as text."""
        return self.options["ABCD".index(self.answer)] if self.options else self.answer

    @property
    def metadata(self) -> Json:
        author, dynasty, title, script = META[self.number % 3]
        return {"Author": author, "Dynasty": dynasty, "Title": title, "Script": script}


@cache
def said() -> tuple[Said, ...]:
    mine = [task for task in tasks() if task.benchmark == "MCS-Bench"]
    asked = sorted([*mine, *[mine[6]] * 5], key=lambda task: int(task.id[1:]))
    found: list[Said] = []
    for number, task in enumerate(asked, start=1):
        form, of_task = task.queries[0].form, sum(each.task == task for each in found)
        ask = task.queries[0].template.partition("要求：")[0].split("\n{options}")[0].strip()
        for blank, filled in (("{term}", "趋"), ("{question}", f"宋意上疏的目的{number}是什么？"),
                              ("{character}", "马"), ("{book}", "西厢记")):  # fmt: skip
            ask = ask.replace(blank, filled)
        answer = {
            "transcription": f"学而时习之\n不亦说乎{number}",
            "punctuated": "学而时习之，不亦说乎？",
            "entities": "宋意、章帝、汝南",
            "letter": "ABCD"[(number + of_task) % 4],
            "short": f"{number}匹马",
        }.get(form, f"这幅作品第{number}，创作于后汉时期。")
        image = 1 if number <= 6 else number
        options = OPTIONS if form == "letter" else ()
        found.append(Said(number, task, of_task + 1, ask, options, answer, image))
    return tuple(found)


def png(number: int) -> bytes:
    return picture(number, (8, 12))


def images(src: Path, name: Callable[[Said], str], which: Iterable[Said] | None = None) -> None:
    for each in which or said():
        put(src / name(each), png(each.image))


def usual_images(src: Path) -> None:
    images(src, lambda each: f"images/{each.image}.png")


def record(each: Said, **other: Any) -> Json:
    """The canonical record; fields that are None in `other` are dropped."""
    found = {
        "ID": each.number, "Task_ID": each.t, "Domain": each.task.domain_zh,
        "Task_Name": each.task.name_zh, "Question": each.question, "Answer": each.answer,
        "Image": f"images/{each.image}.png", **each.metadata,
    }  # fmt: skip
    return {key: value for key, value in (found | other).items() if value is not None}


def dumped(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1)


def lines(records: Iterable[Json]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)


def delimited(records: list[Json], separator: str) -> str:
    out = io.StringIO()
    heads = list(dict.fromkeys(key for each in records for key in each))
    writer = csv.DictWriter(out, heads, delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


Change = Callable[[Said], Json]
NOTHING: Change = lambda _: {}  # noqa: E731


def listed(change: Change = NOTHING, name: str = "data.json") -> Callable[[Path], Path]:
    """One JSON list, with changed fields, and images in images/."""

    def write(src: Path) -> Path:
        put(src / name, dumped([record(each, **change(each)) for each in said()]))
        usual_images(src)
        return src

    return write


def shaped(name: str, shape: Callable[[list[Json]], str | bytes]) -> Callable[[Path], Path]:
    """One file of another form."""

    def write(src: Path) -> Path:
        put(src / name, shape([record(each) for each in said()]))
        usual_images(src)
        return src

    return write


def parquet(records: list[Json]) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(records).write_parquet(out)
    return out.getvalue()


def by_task(
    name: Callable[[Task], str], image: Callable[[Said], str] | None = None, **fields: Any
) -> Callable[[Path], Path]:
    """A file for each task, without fields that name the task, IDs from 1 in each."""

    def write(src: Path) -> Path:
        for task in {each.task.id: each.task for each in said()}.values():
            of_task = [each for each in said() if each.task == task]
            without = {"Task_ID": None, "Domain": None, "Task_Name": None, **fields}
            records = [record(each, ID=each.place, **without) for each in of_task]
            path = src / name(task)
            shape = lines if path.suffix == ".jsonl" else dumped
            put(path, shape(records))
        if image is None:
            usual_images(src)
        else:
            images(src, image)
        return src

    return write


def with_images(image: Callable[[Said], str], field: Callable[[Said], Any] | None,
                change: Change | None = None) -> Callable[[Path], Path]:  # fmt: skip
    """Images under other names: where they are, and what the field says (None: no field)."""

    def write(src: Path) -> Path:
        records = [
            record(each, Image=field(each) if field else None, **(change or NOTHING)(each))
            for each in said()
        ]
        put(src / "data.json", dumped(records))
        images(src, image)
        return src

    return write


def inline(prefix: str) -> Callable[[Path], Path]:
    def write(src: Path) -> Path:
        encoded = [prefix + b64encode(png(each.image)).decode() for each in said()]
        put(
            src / "data.json",
            dumped([record(e, Image=x) for e, x in zip(said(), encoded, strict=True)]),
        )
        return src

    return write


def parquet_bytes(src: Path) -> Path:
    """The form of the Hub: each image as bytes and path."""
    records = [record(e, Image={"bytes": png(e.image), "path": f"{e.image}.png"}) for e in said()]
    put(src / "data" / "test-00000-of-00001.parquet", parquet(records))
    return src


def _bare(each: Said) -> Json:
    found = record(each)
    for key in ("Question", "Answer", "Image"):
        del found[key]
    return found


def openai(url: Callable[[Said], str]) -> Callable[[Path], Path]:
    def write(src: Path) -> Path:
        records = []
        for each in said():
            shown = {"type": "image_url", "image_url": {"url": url(each)}}
            content = [shown, {"type": "text", "text": each.question}]
            records.append(_bare(each) | {"messages": [
                {"role": "user", "content": content},
                {"role": "assistant", "content": each.answer},
            ]})  # fmt: skip
        put(src / "data.jsonl", lines(records))
        usual_images(src)
        return src

    return write


def llava(src: Path) -> Path:
    records = [
        _bare(each) | {"image": f"{each.image}.png", "conversations": [
            {"from": "human", "value": f"<image>\n{each.question}"},
            {"from": "gpt", "value": each.answer},
        ]}
        for each in said()
    ]  # fmt: skip
    put(src / "mcs_bench.json", dumped(records))
    usual_images(src)
    return src


def sharegpt(src: Path) -> Path:
    records = [
        _bare(each) | {"images": [f"images/{each.image}.png"], "messages": [
            {"role": "system", "content": "你是古籍专家。"},
            {"role": "user", "content": f"<image>{each.question}"},
            {"role": "assistant", "content": each.answer},
        ]}
        for each in said()
    ]  # fmt: skip
    put(src / "data.json", dumped(records))
    usual_images(src)
    return src


def renamed(names: dict[str, str], name: str = "data.json") -> Callable[[Path], Path]:
    def write(src: Path) -> Path:
        records = [{names.get(k, k): v for k, v in record(e).items()} for e in said()]
        put(src / name, dumped(records))
        usual_images(src)
        return src

    return write


CHINESE = {
    "ID": "编号", "Task_ID": "任务编号", "Domain": "领域", "Task_Name": "任务名称",
    "Question": "问题", "Answer": "答案", "Image": "图片", "Author": "作者", "Dynasty": "朝代",
    "Title": "题目", "Script": "书体",
}  # fmt: skip
ENGLISH = {
    "ID": "question_id", "Task_ID": "task", "Domain": "subdomain", "Task_Name": "task_type",
    "Question": "prompt", "Answer": "ground_truth", "Image": "img_path", "Author": "artist",
    "Dynasty": "dynasty", "Title": "work title", "Script": "font",
}  # fmt: skip


def apart(fields: Callable[[Said], Json]) -> Change:
    """Options in fields of their own, the question without them."""

    def change(each: Said) -> Json:
        stem = f"{each.stem}\n{each.task.queries[0].requirement}".strip()
        return {"Question": stem, **fields(each)} if each.options else fields(each)

    return change


def columns(name: str) -> Callable[[Said], Json]:
    def fields(each: Said) -> Json:
        options = [*each.options, *[""] * (4 - len(each.options))]
        return {name.format("ABCD"[n], "abcd"[n]): text for n, text in enumerate(options)}

    return fields


def trad(text: str) -> str:
    return in_script(text, "traditional")


def both(each: Said, **other: Any) -> Json:
    """A record with both scripts."""
    return record(
        each,
        Question=None, Answer=None,
        Question_Simplified=each.question, Question_Traditional=trad(each.question),
        Answer_Simplified=each.answer, Answer_Traditional=trad(each.answer), **other,
    )  # fmt: skip


def in_both(src: Path) -> Path:
    put(src / "data.json", dumped([both(each) for each in said()]))
    usual_images(src)
    return src


def in_both_nested(src: Path) -> Path:
    records = [
        record(each,
               Question={"simplified": each.question, "traditional": trad(each.question)},
               Answer={"simplified": each.answer, "traditional": trad(each.answer)})
        for each in said()
    ]  # fmt: skip
    put(src / "data.json", dumped(records))
    usual_images(src)
    return src


def in_two(simplified: str, traditional: str, **fields: Any) -> Callable[[Path], Path]:
    """The scripts in two files."""

    def write(src: Path) -> Path:
        for name, to in ((simplified, str), (traditional, trad)):
            records = [
                record(e, Question=to(e.question), Answer=to(e.answer), **fields) for e in said()
            ]
            put(src / name, dumped(records))
        usual_images(src)
        return src

    return write


def in_two_by_task(src: Path) -> Path:
    """A file for each task and script, IDs from 1 in each."""
    for each in said():
        of_task = [other for other in said() if other.task == each.task]
        for script, to in (("简体", str), ("繁体", trad)):
            records = [
                record(e, ID=e.place, Task_ID=None, Domain=None, Task_Name=None,
                       Question=to(e.question), Answer=to(e.answer))
                for e in of_task
            ]  # fmt: skip
            put(src / script / f"{each.task.id}.json", dumped(records))
    usual_images(src)
    return src


def by_language(src: Path) -> Path:
    records = [
        record(e, Question=to(e.question), Answer=to(e.answer), Language=language)
        for e in said()
        for language, to in (("zh-CN", str), ("zh-TW", trad))
    ]
    put(src / "data.json", dumped(records))
    usual_images(src)
    return src


def by_letter(each: Said) -> dict[str, str]:
    return dict(zip("ABCD", each.options, strict=False))


def options_in_csv(src: Path) -> Path:
    records = [record(each, **apart(columns("Option_{}"))(each)) for each in said()]
    put(src / "data.csv", delimited(records, ","))
    usual_images(src)
    return src


def workbook(src: Path) -> Path:
    records = [record(each) for each in said()]
    heads = list(records[0])
    rows = [[each.get(head) for head in heads] for each in records]
    src.mkdir(parents=True, exist_ok=True)
    write_workbook(src / "data.xlsx", [heads, *rows])
    usual_images(src)
    return src


def without_images(**fields: Any) -> Callable[[Path], Path]:
    def write(src: Path) -> Path:
        put(src / "data.json", dumped([record(each, **fields) for each in said()]))
        return src

    return write


def in_folders(src: Path) -> Path:
    """A folder for each domain, in it one for each task with its records and images."""
    for each in said():
        of_task = [other for other in said() if other.task == each.task]
        folder = src / each.task.domain / f"{each.t:02}_{each.task.name_en.replace(' ', '_')}"
        records = [
            record(e, ID=e.place, Task_ID=None, Domain=None, Task_Name=None,
                   Image=f"{e.place}.png")
            for e in of_task
        ]  # fmt: skip
        put(folder / "data.json", dumped(records))
        put(folder / "images" / f"{each.place}.png", png(each.image))
    return src


def keyed(records: list[Json]) -> str:
    found: dict[str, list[Json]] = {}
    for each in records:
        bare = {k: v for k, v in each.items() if k not in {"Task_ID", "Domain", "Task_Name"}}
        found.setdefault(f"T{each['Task_ID']}", []).append(bare)
    return dumped(found)


def by_key(records: list[Json]) -> str:
    return dumped({str(each.pop("ID")): each for each in records})


FIRST = "mcs-bench: one JSON list"
BOTH = "mcs-bench: both scripts in one list"


def layout(
    name: str, files: str, write: Callable[[Path], Path], *, evidence: Evidence = "assumed",
    where: str = "", canonical: str = FIRST, **other: Any,
) -> Layout:  # fmt: skip
    return Layout(
        f"mcs-bench: {name}", "MCS-Bench", files, evidence, where, "mcs-bench", write,
        canonical=canonical, **other,
    )  # fmt: skip


LAYOUTS = [
    layout("one JSON list", "data.json; images/", listed()),
    layout("JSON lines", "data.jsonl; images/", shaped("data.jsonl", lines)),
    layout("CSV", "data.csv; images/", shaped("data.csv", lambda r: delimited(r, ","))),
    layout("TSV", "data.tsv; images/", shaped("data.tsv", lambda r: delimited(r, "\t"))),
    layout("XLSX", "data.xlsx; images/", workbook),
    layout("parquet", "data.parquet; images/", shaped("data.parquet", parquet)),
    layout("parquet with images", "data/test-00000-of-00001.parquet", parquet_bytes),
    layout(
        "a list in an object",
        '{"data": […]}; images/',
        shaped("data.json", lambda r: dumped({"version": "1", "data": r})),
    ),
    layout(
        "lists by task in an object", '{"T1": […], "T2": […]}; images/', shaped("data.json", keyed)
    ),
    layout("objects by ID", '{"1": {…}, "2": {…}}; images/', shaped("data.json", by_key)),
    layout(
        "a file a task, called by number", "7.json; images/", by_task(lambda t: f"{t.id[1:]}.json")
    ),
    layout("a file a task, called T7", "T7.json; images/", by_task(lambda t: f"{t.id}.json")),
    layout(
        "a file a task, called task_07",
        "task_07.jsonl; images/",
        by_task(lambda t: f"task_{int(t.id[1:]):02}.jsonl"),
    ),
    layout(
        "a file a task, called in Chinese, in folders of domains",
        "书法/作者识别.json; images/",
        by_task(lambda t: f"{t.domain_zh}/{t.name_zh}.json"),
    ),
    layout(
        "a file a task, called in English, in folders of domains",
        "Calligraphy/Author Identification.json; images/",
        by_task(lambda t: f"{t.domain}/{t.name_en}.json"),
    ),
    layout(
        "a folder a task with its images",
        "Calligraphy/10_Author_Identification/data.json; …/images/",
        in_folders,
    ),
    layout(
        "IDs from 1 in every task, images by task and ID",
        "data.json; images/T7/1.png",
        with_images(lambda e: f"images/{e.task.id}/{e.place}.png", None, lambda e: {"ID": e.place}),
        options={"fields.image": "images/{task}/{ID}.*"},
        detected=False,
    ),
    layout(
        "the task by its Chinese name",
        "data.json without Task_ID; images/",
        listed(lambda e: {"Task_ID": None}),
    ),
    layout(
        "the task by its English name",
        "data.json without Task_ID; images/",
        listed(lambda e: {"Task_ID": None, "Task_Name": e.task.name_en, "Domain": e.task.domain}),
    ),
    layout(
        "the task's name in Task_ID",
        "data.json; images/",
        listed(lambda e: {"Task_ID": f"{e.task.id} {e.task.name_zh}", "Task_Name": None}),
    ),
    layout("options in columns A to D", "data.json; images/", listed(apart(columns("{}")))),
    layout(
        "options in option_a to option_d",
        "data.json; images/",
        listed(apart(columns("option_{1}"))),
    ),
    layout("options in 选项A to 选项D", "data.json; images/", listed(apart(columns("选项{}")))),
    layout("options in columns of a CSV", "data.csv; images/", options_in_csv),
    layout(
        "options as a list",
        "data.json; images/",
        listed(apart(lambda e: {"Options": list(e.options)})),
    ),
    layout(
        "options as a list with letters",
        "data.json; images/",
        listed(apart(lambda e: {"Options": [f"{x}. {o}" for x, o in by_letter(e).items()]})),
    ),
    layout(
        "options as an object",
        "data.json; images/",
        listed(apart(lambda e: {"Options": by_letter(e)})),
    ),
    layout(
        "options in one text",
        "data.json; images/",
        listed(
            apart(lambda e: {"Options": "\n".join(f"{x}、{o}" for x, o in by_letter(e).items())})
        ),
    ),
    layout("answers as text", "data.json; images/", listed(lambda e: {"Answer": e.text})),
    layout(
        "answers as small letters",
        "data.json; images/",
        listed(lambda e: {"Answer": e.answer.lower() if e.options else e.answer}),
    ),
    layout(
        "answers as lists",
        "data.json; images/",
        listed(lambda e: {"Answer": e.answer.split("、") if "、" in e.answer else [e.answer]}),
    ),
    layout(
        "answers as numbers of options, from 0",
        "data.json; images/",
        listed(lambda e: {"Answer": "ABCD".index(e.answer) if e.options else e.answer}),
        options={"answer-is": "from-0"},
        detected=False,
    ),
    layout(
        "answers as numbers of options, from 1",
        "data.json; images/",
        listed(lambda e: {"Answer": "ABCD".index(e.answer) + 1 if e.options else e.answer}),
        options={"answer-is": "from-1"},
        detected=False,
    ),
    layout(
        "images by ID",
        "data.json; images/<ID>.png",
        with_images(lambda e: f"images/{e.number}.png", None),
        options={"fields.image": "images/{ID}.*"},
        detected=False,
    ),
    layout(
        "images by ID with leading zeros",
        "data.json; images/0007.png",
        with_images(lambda e: f"images/{e.number:04}.png", None),
        options={"fields.image": "images/{ID:04}.*"},
        detected=False,
    ),
    layout(
        "images as lists", "data.json; images/", listed(lambda e: {"Image": [f"{e.image}.png"]})
    ),
    layout(
        "images with another suffix",
        "data.json names .jpg; images/7.png",
        with_images(lambda e: f"images/{e.image}.png", lambda e: f"images/{e.image}.jpg"),
    ),
    layout(
        "images with a path before them",
        "data.json names MCS-Bench/data/images/7.png; images/",
        with_images(
            lambda e: f"images/{e.image}.png", lambda e: f"MCS-Bench/data/images/{e.image}.png"
        ),
    ),
    layout(
        "images with an absolute path",
        "data.json names /mnt/data/images/7.png; images/",
        with_images(lambda e: f"images/{e.image}.png", lambda e: f"/mnt/data/images/{e.image}.png"),
    ),
    layout(
        "images in folders of tasks, by name",
        "data.json names 1.png; images/task_7/1.png",
        with_images(lambda e: f"images/task_{e.t}/{e.place}.png", lambda e: f"{e.place}.png"),
        options={"fields.image": "images/task_{Task_ID}/{Image}"},
        detected=False,
    ),
    layout(
        "images in folders of domains, by name",
        "data.json names 7.png; images/书法/7.png",
        with_images(
            lambda e: f"images/{e.task.domain_zh}/{e.number}.png", lambda e: f"{e.number}.png"
        ),
    ),
    layout("images as base64", "data.json", inline("")),
    layout("images as data URLs", "data.json", inline("data:image/png;base64,")),
    layout(
        "messages with names of images",
        "data.jsonl; images/",
        openai(lambda e: f"images/{e.image}.png"),
    ),
    layout(
        "messages with data URLs",
        "data.jsonl",
        openai(lambda e: "data:image/png;base64," + b64encode(png(e.image)).decode()),
    ),
    layout("LLaVA's conversations", "mcs_bench.json; images/", llava),
    layout("messages beside a list of images", "data.json; images/", sharegpt),
    layout("field names in Chinese", "data.json; images/", renamed(CHINESE)),
    layout("other field names in English", "data.json; images/", renamed(ENGLISH)),
    layout(
        "metadata in an object",
        "data.json; images/",
        listed(lambda e: {**dict.fromkeys(e.metadata), "metadata": e.metadata}),
    ),
    layout(
        "without answers",
        "data.json; images/",
        listed(lambda e: {"Answer": None}),
        ignoring=("answer", "transcription"),
    ),
    layout("without IDs", "data.json; images/", listed(lambda e: {"ID": None})),
    layout(
        "both scripts in one list",
        "a list with Task_ID and Answer_Simplified (seen); its other fields and images/ (assumed)",
        in_both,
        canonical=BOTH,
        evidence="seen in code that reads the release",
        where=SCRIPT,
    ),
    layout("both scripts in objects", "data.json; images/", in_both_nested, canonical=BOTH),
    layout(
        "both scripts in two files",
        "data_simplified.json; data_traditional.json; images/",
        in_two("data_simplified.json", "data_traditional.json"),
        missing="is also that of",
    ),
    layout(
        "both scripts in two folders",
        "zh-CN/data.json; zh-TW/data.json; images/",
        in_two("zh-CN/data.json", "zh-TW/data.json"),
        missing="is also that of",
    ),
    layout(
        "both scripts in two files, one without a name",
        "data.json; data_traditional.json; images/",
        in_two("data.json", "data_traditional.json"),
        missing="is also that of",
    ),
    layout(
        "both scripts in a file a task",
        "简体/T7.json; 繁体/T7.json; images/",
        in_two_by_task,
        missing="is also that of",
    ),
    layout(
        "both scripts in records of their own",
        "data.json with Language; images/",
        by_language,
        missing="is also that of",
    ),
    layout(
        "no task anywhere",
        "data.json; images/",
        listed(lambda e: {"Task_ID": None, "Task_Name": None, "Domain": None}),
        missing="tables 1.task = TODO",
        detected=False,
    ),
    layout(
        "names of tasks that several domains have",
        "data.json; images/",
        listed(lambda e: {"Task_ID": None, "Domain": None}),
        missing="values.task.作者识别 = TODO: T10 or T18",
    ),
    layout(
        "no image anywhere",
        "data.json",
        without_images(Image=None),
        missing="fields.image = TODO",
    ),
    layout(
        "names of images that are not there",
        "data.json",
        without_images(),
        missing="files are missing",
    ),
    layout(
        "numbers of options that may count from 0 or 1",
        "data.json; images/",
        listed(lambda e: {"Answer": 2 if e.options else e.answer}),
        missing="the answer '2' is not one of the options",
    ),
    layout(
        "no question anywhere",
        "data.json; images/",
        listed(lambda e: {"Question": None}),
        missing="fields.question = TODO",
    ),
]
