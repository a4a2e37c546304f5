"""Further fields of a request: what the server gets, what the run records, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.errors import UsageError
from keju.models import Decoding, ModelOptions, open_model, open_models
from keju.models.decoding import (
    declared_dtype,
    fields_of,
    parse_extra_body,
    read_system_prompt,
)
from keju.running import run
from keju.runs import RunFolder
from tests.models.conftest import ask_once
from tests.support.api_keys import set_api_keys
from tests.support.making import make_dataset
from tests.support.needing import inspect_missing
from tests.support.serving import Chat

KEY = "sk-fields-0123456789abcdef"
OPENAI, OWN = "openai:served", "inspect:openai-api/local/served"
BOTH = [OPENAI, pytest.param(OWN, marks=inspect_missing)]
ASKED = Decoding(
    seed=11,
    reasoning_effort="low",
    extra_body={"min_p": 0.1, "tag": "甲", "chat_template_kwargs": {"enable_thinking": False}},
)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    set_api_keys(monkeypatch, KEY)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("fields") / "d", pages=3, first=8600)


@pytest.mark.parametrize("spec", BOTH)
def test_every_field_reaches_the_server_and_the_record(
    chat: Chat, dataset: Path, tmp_path: Path, spec: str
):
    chat.plan(images=True)
    options = ModelOptions(
        base_url=chat.url, decoding=ASKED, system_prompt="只答一字。", dtype="bf16"
    )
    assert run(dataset, [spec], tmp_path / "r", options=options).complete
    for body in map(json.loads, chat.stats()["bodies"]):
        assert (body["seed"], body["reasoning_effort"], body["min_p"]) == (11, "low", 0.1)
        assert body["tag"] == "甲"
        assert body["chat_template_kwargs"] == {"enable_thinking": False}
        assert [each["role"] for each in body["messages"]] == ["system", "user"]
        assert body["messages"][0]["content"] == "只答一字。"
        assert "dtype" not in body
    folder = RunFolder.open(tmp_path / "r")
    identity = folder.manifest().models[spec]
    said = {
        "seed": "11", "reasoning_effort": "low", "extra_body.min_p": "0.1",
        "extra_body.chat_template_kwargs": '{"enable_thinking":false}', "extra_body.tag": '"甲"',
        "system_prompt": "只答一字。", "dtype": "bf16",
    }  # fmt: skip
    assert said.items() <= identity.items()
    for response in folder.responses():
        assert response.decoding == {
            "seed": "11", "reasoning_effort": "low", "min_p": "0.1", "tag": "甲",
            "chat_template_kwargs": '{"enable_thinking":false}',
        }  # fmt: skip
        assert not response.refused


@pytest.mark.parametrize("spec", BOTH)
def test_each_of_them_makes_another_key(chat: Chat, dataset: Path, tmp_path: Path, spec: str):
    chat.plan()
    variants = {
        "plain": ModelOptions(),
        "dtype": ModelOptions(dtype="bf16"),
        "system": ModelOptions(system_prompt="只答一字。"),
        "seed": ModelOptions(decoding=Decoding(seed=1)),
        "effort": ModelOptions(decoding=Decoding(reasoning_effort="high")),
        "other effort": ModelOptions(decoding=Decoding(reasoning_effort="low")),
        "extra": ModelOptions(decoding=Decoding(extra_body={"min_p": 0.1})),
    }
    keys = {}
    for name, options in variants.items():
        run(dataset, [spec], tmp_path / name, options=replace(options, base_url=chat.url))
        keys[name] = {each.key for each in RunFolder.open(tmp_path / name).responses()}
    assert len(set.union(*keys.values())) == 3 * len(variants)
    with pytest.raises(UsageError, match="min_p"):
        run(
            dataset, [spec], tmp_path / "extra",
            options=ModelOptions(base_url=chat.url, decoding=Decoding(extra_body={"min_p": 0.2})),
        )  # fmt: skip


def test_a_dtype_is_unknown_unless_declared(chat: Chat):
    model = open_model(OPENAI, ModelOptions(base_url=chat.url))
    assert model.identity["dtype"] == "unknown"
    assert declared_dtype("BFloat16") == "bf16"
    assert declared_dtype("int4-awq") == "int4-awq"
    with pytest.raises(UsageError, match="--dtype"):
        declared_dtype("the usual one")


@inspect_missing
def test_a_parameter_that_inspect_drops_can_be_sent_as_an_extra_field(chat: Chat):
    """`--preset mcs-bench --extra-body top_k=50` sends the paper's top-k through Inspect."""
    chat.plan(images=True)
    asked = Decoding(temperature=0.8, top_k=50, extra_body={"top_k": 50})
    said = ask_once(OWN, base_url=chat.url, decoding=asked)
    assert said.decoding == {"temperature": "0.8", "top_k": "50"}
    assert json.loads(chat.stats()["bodies"][0])["top_k"] == 50


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("min_p", "NAME=JSON"), ("=1", "NAME=JSON"), ("a b=1", "NAME=JSON"),
        ("model=\"x\"", "keju sets"), ("messages=[]", "keju sets"),
        ("stream=true", "keju sets"), ("word=hello", "NAME=JSON"), ("api_key=\"x\"", "secret"),
        ('headers=[{"Authorization": "x"}]', "secret"),
    ],
)  # fmt: skip
def test_a_wrong_extra_field_is_refused(given: str, words: str):
    with pytest.raises(UsageError, match=words):
        fields_of(Decoding(extra_body=parse_extra_body([given])))


@pytest.mark.parametrize(("name", "option"), [("seed", "--sampling-seed"), ("top_p", "--top-p")])
def test_a_parameter_given_twice_names_the_option(name: str, option: str):
    decoding = Decoding(**{name: 1}, extra_body={name: 2})
    with pytest.raises(UsageError, match=f"by {option} or a preset"):
        fields_of(decoding)
    same = Decoding(top_k=50, extra_body={"top_k": 50})
    assert fields_of(same) == {"top_k": 50}


def test_extra_fields_are_read_as_json():
    assert parse_extra_body(["a=1", 'b={"c": [true, null]}', 'd="天"']) == {
        "a": 1, "b": {"c": [True, None]}, "d": "天",
    }  # fmt: skip
    with pytest.raises(UsageError, match="each name once"):
        parse_extra_body(["a=1", "a=2"])


@pytest.mark.parametrize("spec", BOTH)
@pytest.mark.parametrize(
    "options",
    [
        {"system_prompt": f"use {KEY}"},
        {"decoding": Decoding(extra_body={"x": {"deep": [f"Bearer {KEY}"]}})},
        {"decoding": Decoding(extra_body={"x": {KEY: 1}})},
    ],
)
def test_a_key_is_not_accepted_into_what_is_stored(spec: str, options: dict[str, object]):
    with pytest.raises(UsageError, match="contains a key") as caught:
        open_model(spec, ModelOptions(base_url="http://localhost:9/v1", **options))
    assert KEY not in str(caught.value)


def test_a_system_prompt_is_read_from_a_file(tmp_path: Path):
    file = tmp_path / "p.txt"
    file.write_text("第一行\n第二行\n", "utf-8")
    assert read_system_prompt(f"@{file}") == "第一行\n第二行"
    assert read_system_prompt("只答一字。") == "只答一字。"
    with pytest.raises(UsageError, match="cannot be read"):
        read_system_prompt(f"@{tmp_path / 'no'}")
    file.write_text(" \n", "utf-8")
    with pytest.raises(UsageError, match="no text"):
        read_system_prompt(f"@{file}")


def test_fields_are_refused_where_no_model_sends_any():
    with pytest.raises(UsageError, match="--dtype"):
        open_models(["baseline:copy"], ModelOptions(dtype="bf16"))


@inspect_missing
def test_an_effort_that_inspect_does_not_know_is_refused():
    options = ModelOptions(
        base_url="http://localhost:9/v1", decoding=Decoding(reasoning_effort="x")
    )
    with pytest.raises(UsageError, match="--reasoning-effort"):
        open_model(OWN, options)
