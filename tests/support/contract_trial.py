"""The dataset that is exchanged with other programs, its answers, and what keju makes of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Item
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.commanding import keju
from tests.support.contract_servers import NAMED, Recorder
from tests.support.contracting import Contract, Exchanged, compared
from tests.support.making import picture

Told = dict[str, list[str]]
"""Status and text of each response, by item."""

ANSWERS: dict[str, str | int] = {
    "c1": "天地玄黃\n宇宙洪荒，𠀀",
    "c2": "=1+1 之乎者也",
    "c3": "答案：B",
    "c4": 400,
    "c5": "007",
    "c6": "<think>先看圖。</think>\n日月盈昃，辰宿列張。",
    "c7": "TRUE",
    "c8": '{"答案": "C"}, \\ "quoted"\tand a tab',
}
"""The answer to each item; a number is the HTTP status of a failure."""

REASONING = "c6"
"""The item whose answer begins with reasoning, which some programs move to a field of its own."""

_TASKS = {
    "c1": ("T1", "識別圖中文字。", "天地玄黃宇宙洪荒", ()),
    "c2": ("T1", "識別圖中文字，另一頁。", "之乎者也", ()),
    "c3": ("T11", "朝代？A. 唐 B. 宋 C. 元 D. 明", "B", ("唐", "宋", "元", "明")),
    "c4": ("T11", "年代？A. 唐 B. 宋 C. 元 D. 明", "D", ("唐", "宋", "元", "明")),
    "c5": ("T21", "畫中有幾隻鳥？", "007", ()),
    "c6": ("T3", "為此文加標點。", "日月盈昃，辰宿列張。", ()),
    "c7": ("T21", "Is it true?", "TRUE", ()),
    "c8": ("T11", "兩圖朝代？A. 唐 B. 宋 C. 元 D. 明", "C", ("唐", "宋", "元", "明")),
}

QUESTIONS = {name: f"[item {name}] {question}" for name, (_, question, _, _) in _TASKS.items()}
"""The prompt of each item."""


def trial(path: Path, names: Iterable[str] = ANSWERS) -> Path:
    """Write the items named; the prompt of each names it. c8 has two images."""
    with DatasetWriter(
        path, name="contract", version="1", licence="CC0-1.0", source="made by the tests"
    ) as writer:
        for name in names:
            task, _, answer, options = _TASKS[name]
            number = int(name[1:])
            images = [writer.add_image(picture(number), name)]
            if name == "c8":
                images.append(writer.add_image(picture(20), "second"))
            writer.add(
                Item(
                    id=name, benchmark="MCS-Bench", task=task, question=QUESTIONS[name],
                    verbatim=True, answer=answer, options=options, images=tuple(images), group=name,
                    transcription="天地玄黃",
                )
            )  # fmt: skip
    return path


def images_of(dataset: Path, name: str) -> list[Path]:
    """The image files of an item."""
    opened = Dataset.open(dataset)
    (item,) = (each for each in opened.items() if each.id == name)
    return [opened.path / ref.path for ref in item.images]


def item_of(prompt: str) -> str:
    """The item that a prompt names; empty if it names none."""
    found = NAMED.search(prompt)
    return found[1] if found else ""


def run(dataset: Path, out: Path, model: str, *options: object, code: int | None = None) -> str:
    """`keju run` as a command; what it prints.

    Raises:
        RuntimeError: it ends with another status than `code` (None: 0, or 1 for failed responses).
    """
    done = keju("run", dataset, "--model", model, "--out", out, *options)
    if done.returncode not in ({0, 1} if code is None else {code}):
        raise RuntimeError(f"keju run {model} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout + done.stderr


def told(out: Path) -> Told:
    """Status and text of the stored responses, by item; a failure has no text."""
    return {each.item: [each.status, each.text] for each in RunFolder.open(out).responses()}


def scores(out: Path) -> dict[str, float | None]:
    """Every score of a run, by item, protocol and metric."""
    return {
        f"{each.item} {each.protocol} {each.metric}": each.value
        for each in score_run(RunFolder.open(out))
    }


def main_scores(out: Path) -> dict[str, dict[str, float | None]]:
    """The main score of each item by protocol, which is its first."""
    found: dict[str, dict[str, float | None]] = {}
    for each in score_run(RunFolder.open(out)):
        found.setdefault(each.item, {}).setdefault(each.protocol, each.value)
    return found


def thinking(out: Path) -> dict[str, str]:
    """The reasoning that is stored apart from the text, by item."""
    return {each.item: each.thinking for each in RunFolder.open(out).responses()}


def usage(out: Path) -> dict[str, tuple[int | None, int | None]]:
    """Tokens in and out of each response, by item."""
    found = RunFolder.open(out).responses()
    return {each.item: (each.usage.input_tokens, each.usage.output_tokens) for each in found}


def stopped(
    contract: Contract,
    server: Recorder,
    what: str,
    model: str,
    words: str,
    *,
    key: str,
    status: int,
    url: str = "",
    options: tuple[str, ...] = (),
) -> Iterator[Exchanged]:
    """A run of which every request fails alike: stopped after five, with a hint of these words."""
    os.environ["OPENAI_API_KEY"] = key
    name = what.replace(" ", "-").replace("/", "")
    server.notes.clear()
    data = trial(contract.work / f"{name}-data")
    out = contract.work / name
    said = run(data, out, model, "--base-url", url or server.url, *options, code=1)
    posts = [each for each in server.record() if each["request"]["method"] == "POST"]
    contract.keep(f"{name}.json", posts[:1])
    hint = " ".join(said.split())
    yield compared(
        f"{what}: stopped after 5 requests with a hint",
        (5, {status}, True),
        (len(posts), {each["reply"]["status"] for each in posts}, words in hint),
        detail=f"HTTP {status}, 5 requests: {words}",
    )
