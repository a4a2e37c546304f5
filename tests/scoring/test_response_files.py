"""Forms of response files: those of plug-ins, and plug-ins that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import keju
from keju.errors import DataError
from keju.registry import PluginError, register
from keju.scoring.response_files import read_responses
from tests.support.plugged import forget_plugins


def broken(path: Path) -> list[object]:
    raise KeyError(path.name)


def other(path: Path) -> list[object]:
    return [path]


def pair(path: Path) -> list[object]:
    return [("a", "b")]


def not_this_form(path: Path) -> list[object]:
    raise DataError("not this form", file=path, item="line 7")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "r.json").write_text("[1]", "utf-8")
    return tmp_path / "r.json"


@pytest.mark.parametrize(
    ("function", "reason"),
    [(other, "PosixPath, not pairs of an Item and a str"),
     (pair, "a pair of str and str, not pairs of an Item")],
)  # fmt: skip
def test_a_form_that_returns_something_else_is_named(
    monkeypatch: pytest.MonkeyPatch, file: Path, function: Callable[..., object], reason: str
) -> None:
    forget_plugins(monkeypatch)
    register("responses", "own", function, function)
    with pytest.raises(PluginError, match=f"the form of response files 'own' returned {reason}"):
        read_responses(file)


def test_a_file_in_no_form_has_the_reason_of_each(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    forget_plugins(monkeypatch)
    with pytest.raises(DataError) as alone:
        read_responses(file)
    register("responses", "own", not_this_form, not_this_form)
    with pytest.raises(DataError) as both:
        read_responses(file)
    expected = f"{alone.value.problem}; not in the form 'own': line 7: not this form"
    assert both.value.problem == expected
    assert (both.value.file, both.value.hint) == (alone.value.file, alone.value.hint)


def test_pairs_of_a_plug_in_are_scored(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    forget_plugins(monkeypatch)

    @keju.responses("own")
    def read(path: Path) -> Iterator[tuple[keju.Item, str | None]]:
        for name, text in (("a", "天地"), ("b", " "), ("c", None)):
            yield keju.Item(id=name, benchmark="pages", task="page_ocr", answer="天地"), text

    samples = read_responses(file)
    assert [each.response.status for each in samples] == ["answered", "empty", "failed"]
    assert {each.response.model for each in samples} == {"r"}
    tasks = keju.score(file, protocol="strict").tasks
    (value,) = tasks.filter(tasks["main"])["value"]
    assert value == pytest.approx(1 / 3)
