"""Names are taken from what lists them, and not from the sentences beside it."""

import pytest

from keju.scoring.entities import extract_entities

LISTED = "子产、郑国、然明"


@pytest.mark.parametrize(
    "response",
    [
        f"起初我以为赤壁也是人名，细看之后排除。\n\n{LISTED}",
        f"{LISTED}。\n\n其余词语如赤壁、曹操等均为一般词汇。",
        f"{LISTED}\n\n参考：《赤壁》及相关注本。",
        "子产、郑国为人名，然明为地名。",
        "首先是子产，其次是郑国，最后是然明。",
        "子产｜郑国｜然明\n置信度：高。",
        f"初稿：赤壁、子产\n修订：{LISTED}",
        f"因此最终保留{LISTED}三个实体。",
        'Here they are.\n\n["子产", "郑国", "然明"]\n\nConfidence: high.',
        '结果：\n```json\n{"result": "子产、郑国、然明"}\n```\n以上。',
        "The text names two people, 子产 and 郑国, and one place, 然明.",
        f"At first I took 赤壁 to be a name, but it is a title.\n\n{LISTED}\n\nNo dates occur.",
    ],
)
def test_the_names_of_the_list_are_taken(response):
    assert extract_entities(response).answer == LISTED


def test_names_in_latin_letters_are_taken_where_there_are_no_others():
    assert extract_entities("Confucius, Yan Hui").answer == "Confucius、Yan Hui"


@pytest.mark.parametrize(
    "response",
    [
        "永和九年，岁在癸丑，会于会稽山阴之兰亭。群贤毕至，少长咸集。",
        '{"entities": [], "note": "图片过于模糊"}',
    ],
)
def test_kinds_and_pages_are_no_names(response):
    assert extract_entities(response).answer is None
