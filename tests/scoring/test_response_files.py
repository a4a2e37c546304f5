"""Forms of response files: those of plug-ins, and plug-ins that fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keju.errors import DataError
from keju.registry import PluginError, declare
from keju.scoring.response_files import read_responses
from tests.support.plugged import forget_plugins


def broken(path: Path) -> list[object]:
    raise KeyError(path.name)


def other(path: Path) -> list[object]:
    return [path]


def not_this_form(path: Path) -> list[object]:
    raise DataError("not this form", file=path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "r.json").write_text("[1]", "utf-8")
    return tmp_path / "r.json"


@pytest.mark.parametrize(
    ("function", "reason"),
    [(broken, "broken .* raised KeyError: 'r.json'"),
     (other, "other .* raised TypeError: it returned PosixPath, not ScoringSample")],
)  # fmt: skip
def test_a_form_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, file: Path, function: Callable[..., object], reason: str
) -> None:
    forget_plugins(monkeypatch)
    declare("keju.responses", "own", function, function)
    with pytest.raises(PluginError, match=f"plug-in .*: {reason}"):
        read_responses(file)


def test_a_file_in_no_form_is_an_error_of_the_first_form(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    forget_plugins(monkeypatch)
    with pytest.raises(DataError) as alone:
        read_responses(file)
    declare("keju.responses", "own", not_this_form, not_this_form)
    with pytest.raises(DataError) as both:
        read_responses(file)
    assert str(both.value) == str(alone.value)
