"""What a model is asked, to the letter.

`prompts.json` holds the prompt of every query for one made-up item. After a wanted change write
it anew with ``KEJU_WRITE_PROMPTS=1 pytest tests/definitions/test_prompts.py`` and read the diff.
"""

import json
import os
from pathlib import Path

import pytest

from keju.definitions import choices_of, options_of, prompt_of, query_of, task, tasks
from keju.errors import DataError
from keju.items import Item
from keju.text import in_script, is_han

SNAPSHOT = Path(__file__).with_name("prompts.json")
TRADITIONAL = Path(__file__).with_name("prompts-traditional.json")
FIELDS = {"term": "風雅", "character": "月", "book": "山海經"}


def item_for(task_id: str, query: str = "", **changes: object) -> Item:
    given = {
        "id": "x1",
        "benchmark": task(task_id).benchmark,
        "task": task_id,
        "query": query,
        "question": "圖中有幾隻鶴？",
        "options": ("甲", "乙", "丙", "丁"),
        "fields": FIELDS,
    }
    return Item(**(given | changes))


def prompts() -> dict[str, str]:
    return {
        f"{task.id} {query.name}".strip(): prompt_of(item_for(task.id, query.name))
        for task in tasks()
        for query in task.queries
    }


def test_every_prompt_can_be_asked_in_either_script() -> None:
    """What differs between the two is Han characters alone, and turning twice changes nothing."""
    turned = 0
    for name, prompt in prompts().items():
        simplified, traditional = in_script(prompt, "simplified"), in_script(prompt, "traditional")
        assert in_script(simplified, "simplified") == simplified, name
        assert in_script(traditional, "simplified") == simplified, name
        pairs = list(zip(simplified, traditional, strict=True))
        assert all(a == b or (is_han(a) and is_han(b)) for a, b in pairs), name
        turned += simplified != traditional
    assert turned >= 50


def test_a_released_wording_is_asked_and_only_the_rest_is_converted() -> None:
    """OpenCC would write 谁 as 誰 and turn 台 into 臺; the released wording stays."""
    given = {"simplified": "谁登台？", "traditional": "孰登台？"}
    item = item_for("T6", question="谁登台？", question_in=given)
    for script, other in (("simplified", "traditional"), ("traditional", "simplified")):
        prompt = prompt_of(item, script=script)
        assert given[script] in prompt
        rest = prompt.replace(given[script], "")
        assert rest == in_script(rest, script) != in_script(rest, other)
    whole = item_for("T6", question="谁登台？", question_in=given, verbatim=True)
    assert prompt_of(whole, script="traditional") == "孰登台？"
    without = item_for("T6", question="谁登台？", verbatim=True)
    assert prompt_of(without, script="traditional") == in_script("谁登台？", "traditional")


def test_every_prompt_is_the_one_in_the_snapshot() -> None:
    if os.environ.get("KEJU_WRITE_PROMPTS"):
        text = json.dumps(prompts(), ensure_ascii=False, indent=1)
        SNAPSHOT.write_text(text + "\n", "utf-8")
    assert prompts() == json.loads(SNAPSHOT.read_text("utf-8"))


def test_the_traditional_prompts_are_those_in_their_snapshot() -> None:
    found = {name: in_script(prompt, "traditional") for name, prompt in prompts().items()}
    if os.environ.get("KEJU_WRITE_PROMPTS"):
        TRADITIONAL.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")
    assert found == json.loads(TRADITIONAL.read_text("utf-8"))


@pytest.mark.parametrize(
    ("convention", "says"),
    [
        ("", "character in [xmin, ymin, xmax, ymax] format."),
        ("xywh", "character in [xmin, ymin, width, height] format."),
        (
            "yxyx-1000",
            "character in [ymin, xmin, ymax, xmax], scaled to 0-1000 of the image's width and "
            "height, in this format.",
        ),
    ],
)
def test_boxes_can_be_asked_in_another_convention(convention: str, says: str) -> None:
    assert prompt_of(item_for("recognition", "Where"), convention).endswith(says)


def test_a_choice_prints_its_options_as_the_paper_does(shared: Path) -> None:
    registry = json.loads((shared / "published/mcs_task_registry.json").read_text("utf-8"))
    stray_stop = {"T5", "T40"}
    for row in registry["tasks"]:
        if row["format"] != "MCQ":
            continue
        options = tuple(option.replace(", ", "，") for option in row["example"]["options"])
        prompt = prompt_of(item_for(row["id"], options=options, fields={"term": "承袭"}))
        printed = row["prompt_fullwidth"]
        if row["id"] in stray_stop:
            printed = printed.replace("。\n要求", "\n要求")
        assert prompt == printed, row["id"]


def test_a_verbatim_question_is_the_whole_prompt() -> None:
    released = "{question} 任意\nA、一 B、二"
    item = item_for("T10", question=released, verbatim=True, options=())
    assert prompt_of(item) == released


def test_what_is_filled_in_is_not_filled_again() -> None:
    item = item_for("T6", question="{term}與{options}何意？")
    assert prompt_of(item) == "根据图像回答下列问题：{term}與{options}何意？"


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (item_for("T5", fields={}), r"^x1: the blank \{term\} of task 'T5'"),
        (item_for("T10", options=()), r"^x1: the blank \{options\}"),
        (item_for("T21", question=""), r"^x1: the blank \{question\}"),
        (item_for("T9", question="", verbatim=True), r"^x1: the blank \{question\}"),
        (item_for("T10", options=("甲",) * 27), "27 options, but letters end at Z"),
        (item_for("T1", task="T99"), "^x1: no task 'T99'"),
        (item_for("recognition", "Why"), "Queries: What, Yes-or-No, How, Where"),
        (item_for("T1", "What"), "no query 'What'"),
    ],
)
def test_an_item_that_cannot_be_asked_is_named(item: Item, message: str) -> None:
    with pytest.raises(DataError, match=message):
        prompt_of(item)


def test_an_item_of_many_queries_asks_its_own() -> None:
    assert query_of(item_for("recognition", "Where")).form == "boxes"
    assert query_of(item_for("T1")).form == "transcription"


def test_letters_on_offer_follow_the_options() -> None:
    assert choices_of(item_for("T13", options=tuple("甲乙丙丁戊"))) == tuple("ABCDE")
    released = item_for(
        "T23", question="属于？\nA、工笔 B、水墨 C、写意", verbatim=True, options=()
    )
    assert choices_of(released) == ("A", "B", "C")
    assert options_of(released) == ("工笔", "水墨", "写意")
    assert choices_of(item_for("T10", question="哪个？", verbatim=True, options=())) == ()


def test_a_query_that_asks_for_no_letter_offers_none() -> None:
    assert choices_of(item_for("T1")) == ()
    assert options_of(item_for("recognition", "How")) == ()
