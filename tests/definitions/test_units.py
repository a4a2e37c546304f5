"""What the units of independence of items are, and how that is said."""

from __future__ import annotations

import pytest

from keju.definitions import UnitCounter, Units, describe_ungrouped, describe_units
from keju.items import ImageRef, Item
from keju.texts import in_terminal, using

PAGE = ImageRef(path="images/a.png", sha256="a" * 64, width=1, height=1, size=1)
OTHER = ImageRef(path="images/b.png", sha256="b" * 64, width=1, height=1, size=1)


def item(group: str = "", *images: ImageRef) -> Item:
    return Item(id=f"{group} {len(images)}", benchmark="b", task="t", group=group, images=images)


@pytest.mark.parametrize(
    ("items", "units", "sentence"),
    [
        (
            [item("史記"), item("史記"), item("史記"), item("漢書")],
            Units("group", "Book", 2, 4, 0.75),
            "Unit of independence: 2 groups of the dataset (“Book”), the largest with 75 % of the "
            "4 items",
        ),
        (
            # Only the first image counts; some formats store its hash as the group.
            [item("", PAGE, OTHER), item("", PAGE), item("a" * 64, PAGE), item("", OTHER)],
            Units("image", "Book", 2, 4, 0.75),
            "Unit of independence: 2 images, the largest with 75 % of the 4 items",
        ),
        (
            [item("史記", PAGE), item("", PAGE)],
            Units("mixed", "Book", 2, 2, 0.5),
            "Unit of independence: 2 units (groups of the dataset; images of items without a "
            "group), the largest with 50 % of the 2 items",
        ),
        (
            [item()],
            Units("item", "Book", 1, 1, 1.0),
            "Unit of independence: 1 item, the largest with 100 % of the 1 item",
        ),
    ],
)
def test_units_are_counted_and_described(items: list[Item], units: Units, sentence: str) -> None:
    result = UnitCounter(items).units("Book")
    assert result == units
    assert describe_units(result) == sentence


def test_units_are_described_in_chinese() -> None:
    with using("zh"):
        assert in_terminal(
            describe_units(UnitCounter([item("史記"), item("漢書")]).units("書名"))
        ) == ("独立单位：数据集的 2 组（“書名”），最大的一个占 2 道题的 50%")
        ungrouped = describe_ungrouped(
            UnitCounter([item("", PAGE)]).units(), "--option field.group=COLUMN"
        )
        assert in_terminal(ungrouped) == (
            "并非每道题都有分组：没有分组的题以第一张图像或该题本身为独立单位（共 1 个）。"
            "如果有些图像出自同一部书、同一图版或同一甲骨，"
            "它们并不独立：请用 --option field.group=COLUMN 指明该列"
        )


def test_nothing_is_said_of_items_that_all_have_a_group() -> None:
    assert (
        describe_ungrouped(UnitCounter([item("史記")]).units(), "--option field.group=COLUMN")
        is None
    )
