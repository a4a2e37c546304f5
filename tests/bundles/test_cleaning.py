"""Neither secrets nor local paths enter a bundle."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import polars as pl
import pytest
from msgspec.structs import replace

from keju.bundles import open_bundle, verify_bundle, write_bundle
from keju.bundles.cleaning import Cleaner
from keju.datasets.licences import forbids_copies
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError
from keju.files import read_jsonl
from keju.items import Failure, Item, Provenance, Response
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from keju.texts import Text
from tests.bundles.bundling import members_of
from tests.support.making import picture

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
    shared_run: Path, scored_run: Path, monkeypatch: pytest.MonkeyPatch
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
    folders = (str(scored_run.parent), str(shared_run.parent))  # The models are in the second.
    for hidden in (KEY, "somebody", *folders, "user:pass", "abcdef"):
        assert hidden.encode() not in texts, hidden
    with open_bundle(written.path) as opened:
        kept = opened.manifest.models["replay:good.jsonl"].identity
        assert kept["endpoint"] == "https://gpu.example.org:8000/v1"
        assert kept["weights"] == "qwen"
        assert kept["system_prompt"] == "/no_think 回答問題"
        assert opened.manifest.settings["items"] == "list.txt"
        assert opened.run_manifest.dataset_path == ""
        failed = [each.error for each in opened.responses("replay:bad.jsonl") if each.error]
        assert failed == [Failure(kind="auth", message="*** at scan.png refused")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"the key is {KEY}", "{}: contains the value of an environment variable that"),
        ("see {run}/x", "{}: contains the path of a folder of this machine, which"),
    ],
)
def test_an_answer_is_never_changed_but_refused(
    scored_run: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    good = next(iter(RunFolder.open(scored_run).manifest().models))
    change_run(scored_run, good, text=text.format(run=scored_run.parent))
    with pytest.raises(UsageError) as raised:
        write_bundle(scored_run, scored_run.parent / "x.keju.zip")
    assert isinstance(raised.value.problem, Text)
    assert raised.value.template.startswith(problem)
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
        ("at file:///srv/a/x.txt", "at x.txt"),
        ("找不到/srv/a/模型/z", "找不到z"),
        ("/opt/two words/models/x.bin, /srv/a/y.bin", "x.bin, y.bin"),
        ("see /a/b and then c", "see b and then c"),
        ("/home/somebody", "path"),
        ("C:\\Users\\somebody", "path"),
        ("socks5://a:b@host:1080", "socks5://host:1080"),
        ("s3://bucket/a/b", "s3://bucket/a/b"),
    ],
)
def test_texts_without_credentials_and_paths(tmp_path: Path, text: str, clean: str) -> None:
    assert Cleaner(tmp_path, {}).hide(text) == clean


def test_a_home_with_a_space_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "Two Words"))
    cleaner = Cleaner(tmp_path / "run", {})
    home = str(tmp_path / "Two Words")
    assert cleaner.hide(f"{home}/data/x.png is missing") == "x.png is missing"
    assert cleaner.hide(f"no space left in {home}") == "no space left in path"


def test_a_key_is_recognised_by_any_spelling_of_its_variable(tmp_path: Path) -> None:
    for name in ("my_api_key", "DB_PASSWD", "CLOUD_CREDENTIALS"):
        assert Cleaner(tmp_path, {name: KEY}).hide(f"x {KEY}") == "x ***"


def test_parameters_and_the_served_model_of_a_response_are_cleaned(
    scored_run: Path, tmp_path: Path
) -> None:
    good = next(iter(RunFolder.open(scored_run).manifest().models))
    change_run(
        scored_run, good, served_model="/srv/a/models/qwen",
        decoding={"metadata": '{"path":"/srv/a/x"}'}, refused=("/srv/a/seed",),
    )  # fmt: skip
    written = write_bundle(scored_run, tmp_path / "x.keju.zip")
    assert b"/srv/a" not in every_text(written.path)
    with open_bundle(written.path) as opened:
        first = next(opened.responses(opened.models[0]))
    assert (first.served_model, first.decoding) == ("qwen", {"metadata": '{"path":"x"}'})


def test_a_system_prompt_is_not_changed_because_signatures_have_its_hash(
    scored_run: Path, tmp_path: Path
) -> None:
    folder = RunFolder.open(scored_run)
    manifest = folder.manifest()
    text = "Answer as in /data/forms/one.txt"
    models = {name: {**each, "system_prompt": text} for name, each in manifest.models.items()}
    folder.write_manifest(replace(manifest, models=models))
    score_run(folder)
    written = write_bundle(scored_run, tmp_path / "x.keju.zip")
    assert {each.identity["system_prompt"] for each in written.manifest.models.values()} == {text}
    found = verify_bundle(written.path, scored_run.parent / "set")
    assert not [each for each in found.differences if each.member.startswith("run/scores")]


def test_models_that_are_files_keep_their_names_apart(tmp_path: Path) -> None:
    names = Cleaner(tmp_path, {}).names_of(
        [
            "replay:/a/x.jsonl", "replay:/b/x.jsonl", "got:../w/got", "openai:org/m", "ppocr",
            "openai:/data/a/models/qwen", "replay:Kraken=../out",
            "http-ocr:http://localhost:1/a/b", "ocr+llm:ppocr+openai:/d/e/f",
        ]
    )  # fmt: skip
    assert list(names.values()) == [
        "replay:x.jsonl", "replay:x.jsonl#2", "got:got", "openai:org/m", "ppocr", "openai:qwen",
        "replay:Kraken=out", "http-ocr:http://localhost:1/a/b",
        "ocr+llm:ppocr+openai:f",
    ]  # fmt: skip


def test_a_licence_of_items_that_forbids_copies_is_that_of_the_bundle(tmp_path: Path) -> None:
    with DatasetWriter(
        tmp_path / "set", name="small", version="1", licence="CC0-1.0 OR MIT", source="tests"
    ) as writer:
        image = writer.add_image(picture(100), "page")
        for name, licence in (("open", ""), ("closed", "all rights reserved")):
            steps = (Provenance(step="import", licence=licence),)
            writer.add(Item(id=name, benchmark="MCS-Bench", task="T1", images=(image,),
                            answer="天地", provenance=steps))  # fmt: skip
        writer.close()
    answers = tmp_path / "x.jsonl"
    lines = [f'{{"item": "{name}", "text": "天"}}\n' for name in ("open", "closed")]
    answers.write_text("".join(lines), "utf-8")
    run(tmp_path / "set", [f"replay:{answers}"], tmp_path / "run")
    score_run(RunFolder.open(tmp_path / "run"))
    written = write_bundle(tmp_path / "run", tmp_path / "x.keju.zip")
    assert forbids_copies(written.manifest.dataset.licence)
    with pytest.raises(DataError):
        write_bundle(tmp_path / "run", tmp_path / "y.keju.zip", include_data=True)
