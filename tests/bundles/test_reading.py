"""A bundle is read as the run it was made from, without its references."""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path

import polars as pl
import pytest

from keju.bundles import number_groups, open_bundle, verify_bundle, write_bundle
from keju.bundles.manifest import scores_member
from keju.errors import DataError
from keju.items import Score, get_group
from keju.runs import RunFolder
from keju.scoring import stored_scores
from tests.bundles.bundling import altered, members_of, pack


def test_responses_scores_and_items_are_those_of_the_run(bundle: Path, shared_run: Path) -> None:
    run = RunFolder.open(shared_run)
    stored = {model: list(stored_scores(run, [model])) for model in run.manifest().models}
    with open_bundle(bundle) as opened:
        assert opened.models == ["replay:good.jsonl", "replay:bad.jsonl"]
        for model, scores in stored.items():
            name = f"replay:{Path(model).name}"
            assert _values(opened.scores(name)) == _values(scores)
            texts = [each.text for each in run.responses(model)]
            assert [each.text for each in opened.responses(name)] == texts
            assert opened.manifest.models[name].scores == len(scores)
        items = list(opened.items())
        assert [each.id for each in items] == list(run.iter_item_ids())
        assert items[1].dynasty == "唐"
        units = [get_group(item) for item in run.iter_items()]
        numbers = number_groups(units)
        assert [each.group for each in items] == [numbers[unit] for unit in units]
        assert items[0].domain
        assert items[0].images == tuple(ref.sha256 for ref in run.items()[0].images)
        assert "MCS-Bench" in opened.definitions()
        assert opened.run_manifest.dataset == "small"


def _values(scores: object) -> list[tuple[object, ...]]:
    assert hasattr(scores, "__iter__")
    found: list[Score] = list(scores)
    return [(s.item, s.metric, s.protocol, s.value, s.stats, s.extracted) for s in found]


def test_closing_removes_the_temporary_folder(bundle: Path) -> None:
    with open_bundle(bundle) as opened:
        file = opened.file("items.parquet")
        assert file.is_relative_to(tempfile.gettempdir())
    assert not file.exists()


def test_two_bundles_of_a_run_are_equal(bundle: Path, tmp_path: Path, shared_run: Path) -> None:
    again = write_bundle(shared_run, tmp_path / "again.keju.zip")
    assert again.path.read_bytes() == bundle.read_bytes()
    with open_bundle(bundle) as opened:
        assert opened.sha256 == again.sha256
    times = {info.date_time for info in zipfile.ZipFile(bundle).infolist()}
    assert times == {(1980, 1, 1, 0, 0, 0)}


def test_a_bundle_without_data_has_no_reference_and_no_question(bundle: Path) -> None:
    columns = set(pl.read_parquet(members_of(bundle)["items.parquet"]).columns)
    assert not columns & {"answer", "question", "transcription", "options", "lines", "metadata"}
    assert not any(name.startswith("images/") for name in members_of(bundle))
    assert "run/items.parquet" not in members_of(bundle)


def test_every_member_is_in_the_crate_and_in_bundle_json(bundle: Path) -> None:
    members = members_of(bundle)
    about = json.loads(members["bundle.json"])
    assert set(about["members"]) == set(members) - {"bundle.json"}
    graph = json.loads(members["ro-crate-metadata.json"])["@graph"]
    parts = {part["@id"] for each in graph if each["@id"] == "./" for part in each["hasPart"]}
    assert parts == set(about["members"]) - {"ro-crate-metadata.json"}
    assert not any(each["@type"] == "Person" for each in graph)


@pytest.mark.parametrize("member", ["run/run.json", "definitions/mcs-bench.toml", "items.parquet"])
def test_a_changed_member_is_refused_when_it_is_read(
    bundle: Path, tmp_path: Path, member: str
) -> None:
    other = altered(bundle, tmp_path / "x.zip", member, lambda data: data + b"\n", rehash=False)
    with open_bundle(other) as opened, pytest.raises(DataError) as raised:
        opened.file(member)
    assert (raised.value.file, raised.value.item) == (str(other), member)


def test_members_that_bundle_json_does_not_list_are_refused(bundle: Path, tmp_path: Path) -> None:
    members = members_of(bundle)
    more = pack(tmp_path / "more.zip", [*members.items(), ("extra.txt", b"x")])
    with pytest.raises(DataError, match=r"extra\.txt"):
        open_bundle(more)
    fewer = [(name, data) for name, data in members.items() if name != "environment.json"]
    with pytest.raises(DataError, match=r"environment\.json"):
        open_bundle(pack(tmp_path / "fewer.zip", fewer))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b"[" * 100_000,
        b'{"format": "other"}',
        b'{"format": "keju-bundle-1"}',
        b"\xff\xfe",
    ],
)
def test_a_wrong_bundle_json_is_an_error_that_names_it(tmp_path: Path, text: bytes) -> None:
    path = pack(tmp_path / "x.zip", [("bundle.json", text)])
    with pytest.raises(DataError) as raised:
        open_bundle(path)
    assert raised.value.item == "bundle.json"
    assert "\n" not in str(raised.value)


def test_a_table_that_would_fill_the_memory_is_refused(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keju.bundles.tables.MOST_GROUP", 1 << 20)

    def repeat_texts(data: bytes) -> bytes:
        frame = pl.read_parquet(data)
        large = frame.head(1).with_columns(id=pl.lit("x" * 10_000)).select(frame.columns)
        target = tmp_path / "large.parquet"
        pl.concat([large] * 1000).write_parquet(target, use_pyarrow=True)
        assert target.stat().st_size < 100_000
        return target.read_bytes()

    other = altered(bundle, tmp_path / "x.zip", "items.parquet", repeat_texts, rehash=True)
    with open_bundle(other) as opened, pytest.raises(DataError) as raised:
        list(opened.items())
    assert raised.value.item == "items.parquet"


def test_a_table_with_other_columns_is_refused(bundle: Path, tmp_path: Path) -> None:
    def other_columns(_: bytes) -> bytes:
        target = tmp_path / "other.parquet"
        pl.DataFrame({"a": [1]}).write_parquet(target)
        return target.read_bytes()

    with open_bundle(bundle) as opened:
        member = next(name for name in opened.archive.names if name.startswith("run/scores/"))
        model = opened.models[1] if "bad" in member else opened.models[0]
    other = altered(bundle, tmp_path / "x.zip", member, other_columns, rehash=True)
    with open_bundle(other) as opened, pytest.raises(DataError) as raised:
        list(opened.scores(model))
    assert raised.value.item == member


@pytest.mark.parametrize("values", [None, [None], [1.0] * 99])
def test_missing_statistics_of_a_score_are_an_error_of_the_bundle(
    bundle: Path, shared_run: Path, tmp_path: Path, values: list[object] | None
) -> None:
    with open_bundle(bundle) as opened:
        member = next(name for name in opened.archive.names if name.startswith("run/scores/"))
        model = next(each for each in opened.models if scores_member(each) == member)

    def without(data: bytes) -> bytes:
        frame = pl.read_parquet(data)
        stats = pl.Series("parts", [values] * frame.height, dtype=frame.schema["parts"])
        target = tmp_path / "x.parquet"
        frame.with_columns(stats).write_parquet(target)
        return target.read_bytes()

    other = altered(bundle, tmp_path / "x.zip", member, without, rehash=True)
    with open_bundle(other) as opened:
        for read in (opened.scores, opened.score_frames):
            with pytest.raises(DataError) as raised:
                list(read(model))
            assert (raised.value.file, raised.value.item) == (str(other), member)
    found = verify_bundle(other, shared_run.parent / "set")
    assert {each.member for each in found.differences} >= {member}
