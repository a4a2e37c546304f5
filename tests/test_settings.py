"""Typed settings: their options, and tables of a recipe with all errors at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta
from msgspec.structs import fields

from keju.errors import ProblemsError
from keju.settings import (
    Settings,
    convert_settings,
    list_options,
    unwrap_type,
)


class Every(Settings, frozen=True, kw_only=True):
    needed: Annotated[int, Meta(description="how many", ge=1, le=9)]
    long_name: Annotated[bool, Meta(description="yes or no")] = False
    choice: Annotated[Literal["a", "b"] | None, Meta(description="a or b")] = None
    folder: Path | None = None
    field: Annotated[dict[str, str], Meta(description="columns")] = msgspec.field(
        default_factory=dict
    )
    name: Annotated[str, Meta(min_length=1)] = "x"
    other: str = msgspec.field(default="", name="as_Given")


def test_each_field_is_an_option_with_its_help():
    assert list_options(Every) == {
        "needed": "how many",
        "long-name": "yes or no",
        "choice": "a or b",
        "folder": "",
        "field.NAME": "columns",
        "name": "",
        "as_Given": "",
    }


def test_a_type_is_found_without_annotation_and_none():
    kinds = {each.name: each.type for each in fields(Every)}
    assert unwrap_type(kinds["needed"]) is int
    assert unwrap_type(kinds["folder"]) is Path
    assert unwrap_type(kinds["choice"]) == Literal["a", "b"]
    assert unwrap_type(int | str) == int | str


def test_a_table_becomes_settings_with_paths_from_its_folder():
    table = {"needed": 2, "long-name": True, "folder": "x", "field": {"id": "编号"}}
    found = convert_settings(table, Every, place="recipe", base=Path("base"))
    expected = Every(needed=2, long_name=True, folder=Path("base/x"), field={"id": "编号"})
    assert found == expected


def test_a_key_in_two_spellings_is_refused():
    table = {"needed": 2, "long-name": True, "long_name": False}
    with pytest.raises(ProblemsError, match="recipe: long-name is there in two spellings"):
        convert_settings(table, Every, place="recipe")


def test_all_errors_of_a_table_are_reported_at_once():
    table = {"long-name": "x", "choise": "a", "choice": "c", "folder": "s3://bucket/x"}
    with pytest.raises(ProblemsError) as error:
        convert_settings(table, Every, place="recipe")
    lines = error.value.lines
    assert len(lines) == 5
    assert all(line.startswith("recipe: ") for line in lines)
    unknown, needed, flag, choice, folder = lines
    assert "'choise'" in unknown
    assert needed == "recipe: it needs needed = … (how many)"
    assert flag == "recipe: long_name: expected true or false, got text"
    assert "'c'" in choice
    assert "s3://bucket/x" in folder


@pytest.mark.parametrize(
    ("table", "english", "chinese"),
    [
        ({}, "it needs needed = … (how many)", "需要 needed = … (how many)"),
        ({"needed": 0}, "needed: expected a whole number >= 1", "needed：应为 >= 1 的整数"),
        ({"needed": 1, "folder": 2}, "folder: expected a path, got a whole number",
         "folder：应为路径，得到整数"),
        ({"needed": 1, "name": ""}, "name: expected text of length >= 1",
         "name：应为长度 >= 1 的文本"),
        ({"needed": 1, "field": {"a": 1}}, "field: expected text, got a whole number",
         "field：应为文本，得到整数"),
    ],
)  # fmt: skip
def test_an_error_of_a_table_is_in_the_language_of_the_terminal(table, english, chinese):
    with pytest.raises(ProblemsError) as error:
        convert_settings(table, Every, place="recipe")
    assert str(error.value) == f"recipe: {english}"
    assert error.value.render("zh").removeprefix("recipe").lstrip("：: ") == chinese
