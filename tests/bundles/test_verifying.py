"""A verification computes the scores again and names every alteration."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.bundles import (
    Verification,
    open_bundle,
    verify_bundle,
    write_bundle,
    write_statement,
)
from keju.datasets import mini
from keju.errors import DataError
from keju.files import read_json
from keju.scoring.stored import read_fingerprint
from tests.bundles.bundling import altered, members_of, places
from tests.support.scored_runs import make_scored_run
from tests.support.stored_scores import read_scores, write_scores

Change = Callable[[bytes], bytes]


def member_of(bundle: Path, start: str, end: str = "") -> str:
    return next(
        name for name in members_of(bundle) if name.startswith(start) and name.endswith(end)
    )


def test_scores_of_a_protocol_that_the_bundle_lacks_are_listed(tmp_path: Path) -> None:
    run = make_scored_run(tmp_path)
    data = run.parent / "set"
    lacking = 0
    for path in run.glob("scores/**/*.parquet"):
        scores, fingerprint = list(read_scores(path)), read_fingerprint(path)
        assert fingerprint is not None
        strict = [each for each in scores if each.protocol == "strict"]
        lacking += len(scores) - len(strict)
        write_scores(path, strict, fingerprint)
    assert lacking > 0
    found = verify_bundle(write_bundle(run, tmp_path / "strict.zip").path, data)
    assert (found.result, found.differences) == ("verified", ())
    listed = [each for each in found.not_verified if "official" in each.part]
    assert sum(each.count for each in listed) == lacking
    assert not any(each.needed for each in listed)


def test_scores_follow_from_the_responses_in_another_folder(
    bundle: Path, data: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "elsewhere" / "x.zip"
    moved.parent.mkdir()
    moved.write_bytes(bundle.read_bytes())
    found = verify_bundle(moved, data, verified_by="Anna")
    assert (found.result, found.differences) == ("verified", ())
    compared = {each.id: each.compared for each in found.checks}
    with open_bundle(moved) as opened:
        assert compared["members"] == len(opened.manifest.members)
        assert compared["scores"] == sum(each.scores for each in opened.manifest.models.values())
        assert compared["responses"] == 6
        assert found.bundle_sha256 == opened.sha256
    assert compared["items"] == 3
    assert compared["images"] == 2
    assert compared["keys"] == 6
    assert found.verified_by == "Anna"
    (origin,) = found.not_verified
    assert (origin.needed, "created" in origin.part) == (False, True)
    assert found.dataset is not None
    assert found.dataset.name == "small"


def test_without_the_dataset_nothing_differs_but_scores_are_not_verified(bundle: Path) -> None:
    found = verify_bundle(bundle)
    assert (found.result, found.differences, found.dataset) == ("incomplete", (), None)
    assert [each.needed for each in found.not_verified] == [False, True]
    assert "scores" not in {each.id for each in found.checks}


def test_a_bundle_with_its_data_is_verified_alone(shared_run: Path, tmp_path: Path) -> None:
    written = write_bundle(shared_run, tmp_path / "x.zip", include_data=True)
    found = verify_bundle(written.path)
    assert found.result == "verified"
    assert found.dataset is not None
    assert found.dataset.included
    image = member_of(written.path, "images/")
    other = altered(written.path, tmp_path / "y.zip", image, lambda x: x + b"0", rehash=True)
    assert image in {member for member, _ in places(verify_bundle(other))}


@pytest.mark.parametrize("rehash", [True, False])
def test_one_space_more_in_a_response_is_named(
    bundle: Path, data: Path, tmp_path: Path, *, rehash: bool
) -> None:
    member = member_of(bundle, "run/responses/replay_good", "/T1.jsonl")

    def change(content: bytes) -> bytes:
        return content.replace('宇宙洪荒"'.encode(), '宇宙洪荒 "'.encode(), 1)

    assert change(members_of(bundle)[member]) != members_of(bundle)[member]
    other = altered(bundle, tmp_path / "x.zip", member, change, rehash=rehash)
    found = verify_bundle(other, data)
    assert found.result == "differs"
    assert (member, "") in places(found)


def test_an_altered_score_is_named(bundle: Path, data: Path, tmp_path: Path) -> None:
    member = member_of(bundle, "run/scores/replay_good")

    def change(content: bytes) -> bytes:
        path = tmp_path / "scores.parquet"
        path.write_bytes(content)
        scores = read_scores(path)
        place = next(n for n, each in enumerate(scores) if each.item == "page-1" and each.value)
        value = scores[place].value
        assert value is not None
        scores[place] = replace(scores[place], value=value + 1e-12)
        write_scores(path, scores, read_fingerprint(path))
        return path.read_bytes()

    other = altered(bundle, tmp_path / "x.zip", member, change, rehash=True)
    found = verify_bundle(other, data)
    assert places(found) == {(member, "page-1")}


def test_a_score_that_was_added_or_removed_is_named(
    bundle: Path, data: Path, tmp_path: Path
) -> None:
    member = member_of(bundle, "run/scores/replay_good")

    def without_one(content: bytes) -> bytes:
        path = tmp_path / "scores.parquet"
        path.write_bytes(content)
        scores = [each for each in read_scores(path) if each.item != "question"]
        write_scores(path, scores, read_fingerprint(path))
        return path.read_bytes()

    other = altered(bundle, tmp_path / "x.zip", member, without_one, rehash=True)
    counted = ("bundle.json", "models.replay:good.jsonl.scores")
    assert places(verify_bundle(other, data)) == {(member, "question"), counted}


def test_an_identity_that_was_changed_everywhere_is_named_by_the_keys(
    bundle: Path, data: Path, tmp_path: Path
) -> None:
    def other_model(content: bytes) -> bytes:
        about = json.loads(content)
        models = about["models"]
        for name, each in models.items():
            if "identity" in each:
                models[name]["identity"] = {**each["identity"], "temperature": "0"}
            else:
                models[name] = {**each, "temperature": "0"}
        return json.dumps(about).encode()

    first = altered(bundle, tmp_path / "x.zip", "run/run.json", other_model, rehash=True)
    other = altered(first, tmp_path / "y.zip", "bundle.json", other_model, rehash=True)
    found = verify_bundle(other, data)
    assert {each.id for each in found.checks if each.differ} == {"keys"}
    assert (member_of(bundle, "run/responses/replay_good", "T7.jsonl"), "question") in places(found)


def test_an_altered_definition_is_named_with_its_line(
    bundle: Path, data: Path, tmp_path: Path
) -> None:
    member = "definitions/mcs-bench.toml"
    lines = members_of(bundle)[member].splitlines(keepends=True)
    lines[9] = lines[9][:-1] + b" #\n"
    other = altered(bundle, tmp_path / "x.zip", member, lambda _: b"".join(lines), rehash=True)
    assert (member, "line 10") in places(verify_bundle(other, data))


def test_an_altered_byte_of_the_file_is_named_or_refused(bundle: Path, tmp_path: Path) -> None:
    whole = bundle.read_bytes()
    other = tmp_path / "x.zip"
    outcomes = Counter[str]()
    for place in range(7, len(whole), len(whole) // 40):
        other.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            outcomes[verify_bundle(other).result] += 1
        except DataError:
            outcomes["refused"] += 1
    assert outcomes["differs"] + outcomes["refused"] > 35
    assert outcomes["verified"] == 0


def test_a_table_with_a_damaged_byte_is_not_opened(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyarrow can end the process on damaged metadata."""
    opened: list[str] = []
    monkeypatch.setattr(
        "keju.bundles.reading.check_table", lambda path, schema: opened.append(path.name)
    )
    member = member_of(bundle, "run/scores/replay_good", ".parquet")
    data = bytearray(bundle.read_bytes())
    data[data.index(member.encode()) + len(member) + 100] ^= 0x10
    (tmp_path / "x.zip").write_bytes(data)
    found = verify_bundle(tmp_path / "x.zip")
    assert (member, "") in places(found)
    assert opened
    assert Path(member).name not in opened


def test_another_dataset_is_named(bundle: Path) -> None:
    found = verify_bundle(bundle, mini.path())
    assert found.result == "differs"
    assert ("items.parquet", "page-0") in places(found)
    assert ("run/run.json", "dataset") in places(found)


def test_a_line_that_is_not_a_response_is_named(bundle: Path, data: Path, tmp_path: Path) -> None:
    member = member_of(bundle, "run/responses/replay_good", "/T1.jsonl")

    def change(content: bytes) -> bytes:
        first, rest = content.split(b"\n", 1)
        return first + b"\n{" + rest

    other = altered(bundle, tmp_path / "x.zip", member, change, rehash=True)
    assert (member, "line 2") in places(verify_bundle(other, data))


def test_a_statement_is_stored_in_english_and_read_back(
    bundle: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEJU_LANG", "zh")
    found = verify_bundle(bundle, data)
    write_statement(found, tmp_path / "statement.json")
    stored = read_json(tmp_path / "statement.json", Verification)
    assert stored.result == "verified"
    assert stored.meaning.startswith('"Verified" means')
    assert read_json(tmp_path / "statement.json", dict)["bundle_sha256"] == found.bundle_sha256
