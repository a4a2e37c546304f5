"""Neither secrets nor local paths enter a bundle."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import polars as pl
import pytest
from msgspec.structs import replace

from keju.bundles import open_bundle, write_bundle
from keju.bundles.cleaning import Cleaner
from keju.errors import UsageError
from keju.files import read_jsonl
from keju.items import Failure, Response
from keju.messages import Message
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.bundles.bundling import members_of

KEY = "sk-proj-0123456789abcdefXYZ"


def change_run(run: Path, model: str, **fields: object) -> None:
    """Change the first response of a model, and score the run again."""
    folder = RunFolder.open(run)
    path = folder.response_files(model)[0]
    first, *rest = read_jsonl(path, Response)
    lines = [msgspec.json.encode(each) + b"\n" for each in (replace(first, **fields), *rest)]
    path.write_bytes(b"".join(lines))
    score_run(folder)


def every_text(bundle: Path) -> bytes:
    """The bytes of all members, tables as text."""
    texts = []
    for name, data in members_of(bundle).items():
        texts.append(name.encode() + data)
        if name.endswith(".parquet"):
            frame = pl.read_parquet(io.BytesIO(data))
            texts.append(frame.write_ndjson().encode())
    return b"\n".join(texts)


def test_no_member_has_the_key_the_home_or_the_folder_of_the_run(
    scored_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    monkeypatch.setenv("HOME", "/home/somebody")
    folder = RunFolder.open(scored_run)
    manifest = folder.manifest()
    good, bad = manifest.models
    identity = {
        "kind": "openai",
        "endpoint": "https://user:pass@gpu.example.org:8000/v1?token=abcdef#x",
        "weights": "/home/somebody/models/qwen",
        "extra": f"Bearer {KEY}",
        "system_prompt": "/no_think 回答問題",
    }
    settings = {**manifest.settings, "items": f"{scored_run.parent}/list.txt"}
    folder.write_manifest(replace(manifest, models={good: identity, bad: {}}, settings=settings))
    failure = Failure(kind="auth", message=f"{KEY} at {scored_run.parent}/scan.png refused")
    change_run(scored_run, bad, status="failed", text="", error=failure)
    written = write_bundle(scored_run, scored_run.parent / "x.keju.zip")
    texts = every_text(written.path)
    for hidden in (KEY, "somebody", str(scored_run.parent), "user:pass", "abcdef"):
        assert hidden.encode() not in texts, hidden
    with open_bundle(written.path) as opened:
        kept = opened.about.models["replay:good.jsonl"].identity
        assert kept["endpoint"] == "https://gpu.example.org:8000/v1"
        assert kept["weights"] == "qwen"
        assert kept["system_prompt"] == "/no_think 回答問題"
        assert opened.about.settings["items"] == "list.txt"
        assert opened.manifest.dataset_path == ""
        failed = [each.error for each in opened.responses("replay:bad.jsonl") if each.error]
        assert failed == [Failure(kind="auth", message="*** at scan.png refused")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [(f"the key is {KEY}", "bundles.has-secret"), ("see {run}/x", "bundles.has-path")],
)
def test_an_answer_is_never_changed_but_refused(
    scored_run: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    good = next(iter(RunFolder.open(scored_run).manifest().models))
    change_run(scored_run, good, text=text.format(run=scored_run.parent))
    with pytest.raises(UsageError) as raised:
        write_bundle(scored_run, scored_run.parent / "x.keju.zip")
    assert isinstance(raised.value.message, Message)
    assert raised.value.message.id == problem
    assert "page-0" in str(raised.value)
    assert KEY not in str(raised.value)
    assert not (scored_run.parent / "x.keju.zip").exists()


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("no such file: /data/scans/a.png", "no such file: a.png"),
        ("C:\\Users\\a\\model", "model"),
        ("~/weights/got", "got"),
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("https://a:b@host/v1/x?key=1", "https://host/v1/x"),
        ("org/model", "org/model"),
        ("和/或/且", "和/或/且"),
        ("/no_think", "/no_think"),
        ("2026/11/23", "2026/11/23"),
    ],
)
def test_texts_without_credentials_and_paths(tmp_path: Path, text: str, clean: str) -> None:
    assert Cleaner(tmp_path, {}).hide(text) == clean


def test_models_that_are_files_keep_their_names_apart(tmp_path: Path) -> None:
    names = Cleaner(tmp_path, {}).names_of(
        ["replay:/a/x.jsonl", "replay:/b/x.jsonl", "got:../w/got", "openai:org/m", "ppocr"]
    )
    assert list(names.values()) == [
        "replay:x.jsonl", "replay:x.jsonl#2", "got:got", "openai:org/m", "ppocr",
    ]  # fmt: skip
