"""Logs of Inspect, in the forms in which it writes them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from keju.errors import DataError
from keju.models import AskError, ModelOptions, open_model
from keju.plugins import StoredAnswer
from tests.models.conftest import replayed
from tests.support.needing import inspect_missing

pytestmark = inspect_missing


def read(path: Path) -> list[StoredAnswer]:
    from keju_inspect.logs import read_log

    return list(read_log(path))


def failure(path: Path, item: str, **fields: object) -> AskError:
    with pytest.raises(AskError) as caught:
        replayed(path, item, **fields)
    return caught.value


def sample(name: object, content: object, *, epoch: int = 1, **fields: object) -> dict[str, object]:
    """A sample as Inspect logs it, what keju does not look at included."""
    choice = {"message": {"role": "assistant", "content": content}, "stop_reason": "stop"}
    return {
        "id": name,
        "epoch": epoch,
        "input": [{"role": "user", "content": [{"type": "image", "image": "data:image/png;…"}]}],
        "target": "天",
        "output": {
            "model": "m",
            "choices": [choice],
            "usage": {"input_tokens": 9, "output_tokens": 3, "reasoning_tokens": 2},
        },
        "scores": {"match": {"value": "C"}},
        **fields,
    }


def log(path: Path, *samples: dict[str, object]) -> Path:
    whole = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples}
    path.write_text(json.dumps(whole, indent=2, ensure_ascii=False), "utf-8")
    return path


def packed(path: Path, *samples: dict[str, object]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("header.json", "{}")
        pack.writestr("summaries.json", "[]")
        for each in samples:
            pack.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    return path


@pytest.mark.parametrize(("write", "name"), [(log, "a.json"), (packed, "a.eval")])
def test_an_inspect_log(tmp_path: Path, write: object, name: str):
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "天地"}]
    cut = sample("cut", "天")
    cut["output"]["choices"][0]["stop_reason"] = "max_tokens"
    silent = sample("silent", "", error={"message": "RateLimitError: slower", "traceback": "…"})
    nothing = sample("nothing", "")
    nothing["output"]["choices"] = []
    attached = sample("long", "attachment://ab12", attachments={"ab12": "玄" * 200})
    file = write(
        tmp_path / name, sample("x", parts), sample(7, "地"), cut, silent, nothing, attached,
        sample("of two\nlines", "玄"),
    )  # fmt: skip
    assert replayed(file, "of two\nlines").text == "玄"
    answer = replayed(file, "x", round=4)
    assert (answer.text, answer.thinking, answer.status) == ("天地", "hm", "answered")
    assert (answer.usage.input_tokens, answer.usage.thinking_tokens) == (9, 2)
    assert replayed(file, "7").text == "地"
    assert replayed(file, "cut").status == "truncated"
    assert replayed(file, "long").text == "玄" * 200
    assert (failure(file, "silent").kind, str(failure(file, "silent"))) == (
        "failed-elsewhere", "RateLimitError: slower",
    )  # fmt: skip
    assert failure(file, "nothing").kind == "failed-elsewhere"


@pytest.mark.parametrize(("write", "name"), [(log, "a.json"), (packed, "a.eval")])
def test_a_score_that_is_no_number(tmp_path: Path, write: object, name: str):
    """Inspect writes NaN where a sample has no score, which is no JSON."""
    file = write(tmp_path / name, sample("x", "天", scores={"s": {"value": float("nan")}}))
    assert replayed(file, "x").text == "天"


def test_a_response_of_kejus_that_is_none_is_named(tmp_path: Path):
    file = packed(tmp_path / "a.eval", sample("x", "天", metadata={"keju": {"item": 7}}))
    with pytest.raises(DataError, match=r"a\.eval: not a log of Inspect"):
        read(file)


def test_epochs_are_rounds(tmp_path: Path):
    file = packed(tmp_path / "a.eval", sample("x", "one"), sample("x", "two", epoch=2))
    assert [replayed(file, "x", round=number).text for number in (1, 2)] == ["one", "two"]
    assert failure(file, "x", round=3).kind == "missing-answer"


def broken(path: Path, data: bytes, words: str) -> None:
    path.write_bytes(data)
    with pytest.raises(DataError, match=words) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="none of the endings"):
        open_model(f"replay:{path}", ModelOptions())


def test_a_bad_log_is_one_line(tmp_path: Path):
    good = packed(tmp_path / "good.eval", sample("x", "天" * 500)).read_bytes()
    broken(tmp_path / "a.eval", good[: len(good) // 2], "not a log of Inspect")
    rotten = good.replace(b"samples/x_epoch_1.json", b"samples/x_epoch_1.txt!")
    broken(tmp_path / "b.eval", rotten, "the archive is not a log of Inspect")
    with zipfile.ZipFile(tmp_path / "deflated.eval", "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("samples/x_epoch_1.json", json.dumps(sample("x", "天地玄黃" * 50)))
    deflated = bytearray((tmp_path / "deflated.eval").read_bytes())
    start = deflated.index(b"x_epoch_1.json") + len("x_epoch_1.json")
    deflated[start : start + 40] = b"\xff" * 40
    broken(tmp_path / "g.eval", bytes(deflated), "damaged archive: Error -3 while decompressing")
