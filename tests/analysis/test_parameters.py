"""What a report says of decoding is what a server was really sent."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from lxml import html

from keju.analysis.parameters import parameters
from keju.analysis.run_set import load_runs
from keju.datasets.store import DatasetWriter
from keju.definitions import OWN_BENCHMARK, OWN_PAGE
from keju.items import Item
from keju.models import Decoding, ModelOptions
from keju.reporting.csv_export import write_csv
from keju.reporting.page import write_report
from keju.running import preset, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.api_keys import set_api_keys
from tests.support.making import make_dataset, picture
from tests.support.needing import inspect_missing
from tests.support.serving import Chat

KEY = "sk-parameters-0123456789abcdef"
HYBRID, OWN = "openai:qwen3", "inspect:openai-api/local/served"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    set_api_keys(monkeypatch, KEY)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("parameters") / "d", pages=3, first=8500)


def asked(
    dataset: Path, out: Path, chat: Chat, model: str, *, dtype: str = "unknown", **more: object
) -> Path:
    decoding = preset("mcs-bench").decoding(Decoding(**more))
    options = ModelOptions(base_url=chat.url, decoding=decoding, dtype=dtype)
    assert run(dataset, [model], out, options=options).complete
    list(score_run(RunFolder(out)))
    return out


def test_thinking_on_and_off_have_rows_in_one_report(chat: Chat, dataset: Path, tmp_path: Path):
    """App. F.3 extended: the same model with thinking on and off, side by side."""
    chat.plan(images=True)
    on, off = (
        asked(
            dataset, tmp_path / f"thinking-{name}", chat, HYBRID,
            extra_body={"chat_template_kwargs": {"enable_thinking": name == "on"}},
        )
        for name in ("on", "off")
    )  # fmt: skip
    switches = [
        json.loads(body)["chat_template_kwargs"]["enable_thinking"]
        for body in chat.stats()["bodies"]
    ]
    assert switches == [True] * 3 + [False] * 3
    run_set = load_runs([on, off])
    labels = [f"{HYBRID} · thinking-on", f"{HYBRID} · thinking-off"]
    assert run_set.models == labels
    assert all(len(each.answers) == 2 for each in run_set.asked)
    first, second = parameters(run_set)
    assert (first.model, second.model) == tuple(labels)
    assert 'chat_template_kwargs={"enable_thinking":true}' in first.asked_for
    assert '"enable_thinking":true' in str(first.sent[0].parameters)
    assert '"enable_thinking":false' in str(second.sent[0].parameters)
    report = write_report([on, off], tmp_path / "report.html")
    write_csv(report, tmp_path / "csv")
    table = pl.read_csv(tmp_path / "csv" / "parameters.csv")
    assert table["model"].to_list() == labels
    assert table["answers"].to_list() == [3, 3]


def test_a_report_shows_what_was_not_sent_and_what_is_unlike_the_paper(
    chat: Chat, dataset: Path, tmp_path: Path
):
    body = {"error": {"message": "Unrecognized request argument supplied: top_k"}}
    chat.plan(images=True, refusals=[{"has": ["top_k"], "status": 400, "body": body}])
    path = asked(dataset, tmp_path / "r", chat, "openai:served", dtype="bf16", temperature=0.2)
    (row,) = parameters(load_runs([path]))
    assert row.not_sent == [("top_k", 3)]
    assert (row.dtype, row.sent[0].answers) == ("bf16", 3)
    assert row.differences == [
        "MCS-Bench: temperature is 0.2 (paper: 0.8)", "MCS-Bench: top_k was not sent (paper: 50)",
    ]  # fmt: skip
    write_report([path], tmp_path / "report.html")
    page = html.fromstring((tmp_path / "report.html").read_text("utf-8"))
    (table,) = page.xpath("//h3[@id='parameters']/following::table[1]")
    assert "top_k (3)" in table.text_content()


@inspect_missing
def test_top_k_that_inspect_drops_is_not_claimed(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(images=True)
    path = asked(dataset, tmp_path / "r", chat, OWN)
    assert not any("top_k" in json.loads(body) for body in chat.stats()["bodies"])
    (row,) = parameters(load_runs([path]))
    assert "top_k=50" in row.asked_for
    assert "top_k" not in str(row.sent[0].parameters)
    assert row.not_sent == [("top_k", 3)]
    assert row.differences == [
        "MCS-Bench: top_k was not sent (paper: 50)", "MCS-Bench: dtype is unknown (paper: bf16)",
    ]  # fmt: skip


def test_without_a_papers_settings_there_is_no_column_for_them(chat: Chat, tmp_path: Path):
    pages = tmp_path / "d"
    with DatasetWriter(pages, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        ref = writer.add_image(picture(8600), "page")
        writer.add(
            Item(id="p", benchmark=OWN_BENCHMARK, task=OWN_PAGE, images=(ref,), answer="天地玄黃")
        )
    chat.plan(images=True)
    out = tmp_path / "run"
    assert run(pages, [HYBRID], out, options=ModelOptions(base_url=chat.url)).complete
    list(score_run(RunFolder(out)))
    (row,) = parameters(load_runs([out]))
    assert row.differences is None
    page = tmp_path / "report.html"
    write_csv(write_report([out], page), tmp_path / "csv")
    assert 'id="parameters"' in page.read_text("utf-8")
    assert "differs from the paper" not in page.read_text("utf-8")
    assert "unlike_the_paper" not in pl.read_csv(tmp_path / "csv" / "parameters.csv").columns


def test_engines_and_baselines_have_no_row(dataset: Path, tmp_path: Path):
    run(dataset, ["baseline:copy"], tmp_path / "r")
    list(score_run(RunFolder(tmp_path / "r")))
    assert parameters(load_runs([tmp_path / "r"])) == []
