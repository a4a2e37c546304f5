"""What a verification names when one byte, or one field with all hashes again, was altered."""

from __future__ import annotations

import copy
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from msgspec.structs import replace

from keju.bundles import Verification, open_bundle, verify_bundle, write_bundle
from keju.items import Response
from keju.runs import RunFolder
from keju.scoring.stored import read_fingerprint
from tests.bundles.bundling import agreeing, altered, members_of, pack, places
from tests.bundles.test_cleaning import change_run
from tests.support.stored_scores import read_scores, write_scores

BUNDLE_MANIFEST, RUN, ENVIRONMENT, CRATE = (
    "bundle.json", "run/run.json", "environment.json", "ro-crate-metadata.json",
)  # fmt: skip
ORIGIN = {"created", "keju", "run_keju", "settings", ENVIRONMENT}
"""What a file cannot show."""

Path_ = tuple[str | int, ...]


def stated(found: Verification) -> set[str]:
    """The fields that the verification lists as shown by nothing."""
    (part,) = (each.part for each in found.not_verified if "origin" in each.part)
    return {*re.findall(r"[\w.]+", part.partition("(")[2])}


def leaves(value: Any, place: Path_ = ()) -> Iterator[Path_]:
    """The places of all simple values and of all empty lists and objects."""
    rows: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict | list):
        rows = value.items() if isinstance(value, dict) else enumerate(value)
    found = False
    for name, each in rows:
        found = True
        yield from leaves(each, (*place, name))
    if not found:
        yield place


def changed(document: Any, place: Path_) -> Any:
    """A copy of a document with another value of the same type at one place."""
    document = copy.deepcopy(document)
    inner = document
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = another(inner[place[-1]], str(place[-1]))
    return document


def another(value: Any, name: str) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    full: dict[str, Any] = {
        "plugins": [{"name": "x", "version": "1"}], "roles": {"replay:good.jsonl": "judge"},
        "benchmarks": {"Other": 'name = "Other"'}, "not_asked": {"replay:good.jsonl": {"x": 1}},
    }  # fmt: skip
    return full.get(name, {"x": "y"})


def with_field(source: Path, target: Path, member: str, place: Path_) -> Path:
    members = members_of(source)
    document = changed(json.loads(members[member]), place)
    members[member] = json.dumps(document).encode()
    return pack(target, agreeing(members, member).items())


KINDS = (
    "bundle.json", "definitions/", "environment.json", "items.parquet", "ro-crate", "run/responses",
    "run/run.json", "run/scores",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_one_altered_byte_of_each_kind_of_file_is_named(
    bundle: Path, data: Path, tmp_path: Path, kind: str
) -> None:
    (member, *_) = (name for name in members_of(bundle) if name.startswith(kind))

    def change(content: bytes) -> bytes:
        place = content.rindex(b"sha256") + 12 if member == BUNDLE_MANIFEST else len(content) // 2
        byte = bytes([content[place] ^ 1])
        return content[:place] + byte + content[place + 1 :]

    found = verify_bundle(altered(bundle, tmp_path / "x.zip", member, change, rehash=False), data)
    assert found.result == "differs"
    named = {each.member for each in found.differences}
    with open_bundle(bundle) as opened:
        # A changed hash in bundle.json names the member that does not have it.
        assert named & ({*opened.manifest.members} if member == BUNDLE_MANIFEST else {member})


def test_every_kind_of_file_has_a_case(bundle: Path) -> None:
    assert all(name.startswith(KINDS) for name in members_of(bundle))


def fields_of(bundle: Path, member: str) -> list[Path_]:
    document = json.loads(members_of(bundle)[member])
    document.pop("members", None)
    return [*leaves(document)]


@pytest.mark.slow
def test_each_field_of_bundle_json_is_named(bundle: Path, data: Path, tmp_path: Path) -> None:
    accepted = {}
    for place in fields_of(bundle, BUNDLE_MANIFEST):
        if place[0] in {"format", "benchmarks"}:
            continue
        other = with_field(bundle, tmp_path / "x.zip", BUNDLE_MANIFEST, place)
        name = ".".join(map(str, place))
        field = name.removeprefix("dataset.") if name != "dataset.name" else "dataset"
        named = {name, field, f"dataset_{field}", str(place[0])}
        # Most of it is named without the scores, which takes less time.
        for given in (None, data):
            found = verify_bundle(other, given)
            if named & {item for _, item in places(found)}:
                break
        else:
            accepted[name] = {each.part.partition(" (")[0] for each in found.not_verified}
    origin = "the statements of the bundle about its origin"
    keys = {
        f"models.replay:{name}.jsonl.cleaned": {
            origin, f"keys of the responses of replay:{name}.jsonl"
        }
        for name in ("good", "bad")
    }  # fmt: skip
    licence = {origin, "dataset.licence of bundle.json"}
    assert accepted == {"keju": {origin}, "dataset.licence": licence, **keys}


def test_each_field_of_a_benchmark_is_named(bundle: Path, data: Path, tmp_path: Path) -> None:
    version = with_field(bundle, tmp_path / "x.zip", BUNDLE_MANIFEST, ("benchmarks", 0, "version"))
    assert (BUNDLE_MANIFEST, "benchmarks.MCS-Bench.version") in places(verify_bundle(version))
    for field in ("name", "definition"):
        other = with_field(bundle, tmp_path / "x.zip", BUNDLE_MANIFEST, ("benchmarks", 0, field))
        member = "definitions/mcs-bench.toml" + ("x" if field == "definition" else "")
        assert (member, "") in places(verify_bundle(other, data))


@pytest.mark.slow
def test_each_field_of_run_json_is_named(bundle: Path, data: Path, tmp_path: Path) -> None:
    accepted = {}
    for place in fields_of(bundle, RUN):
        found = verify_bundle(with_field(bundle, tmp_path / "x.zip", RUN, place), data)
        named = {str(place[0]).replace("keju", "run_keju"), ""}
        if not {(RUN, name) for name in named} & places(found):
            accepted[str(place[0])] = stated(found)
    assert {name for name, fields in accepted.items() if name in fields} == set(accepted)
    assert set(accepted) == {"not_asked", "plugins", "unit"}


@pytest.mark.slow
def test_each_field_of_the_metadata_is_compared(bundle: Path, data: Path, tmp_path: Path) -> None:
    document = json.loads(members_of(bundle)[CRATE])
    graph = [(*("@graph", number), *rest) for number in (0, 1, 2, 3, 5)
             for rest in leaves(document["@graph"][number])]  # fmt: skip
    for place in [("@context",), *graph]:
        found = verify_bundle(with_field(bundle, tmp_path / "x.zip", CRATE, place))
        assert {each.member for each in found.differences} == {CRATE}, place


def test_what_nothing_shows_is_listed(bundle: Path, data: Path, tmp_path: Path) -> None:
    found = verify_bundle(with_field(bundle, tmp_path / "x.zip", ENVIRONMENT, ("numpy",)), data)
    assert (found.result, stated(found) >= ORIGIN) == ("verified", True)
    members = members_of(bundle)
    for name in (BUNDLE_MANIFEST, RUN):
        members[name] = json.dumps({**json.loads(members[name]), "created": "2020"}).encode()
    other = pack(tmp_path / "y.zip", agreeing(members, RUN).items())
    found = verify_bundle(other, data)
    assert (found.result, stated(found) >= ORIGIN) == ("verified", True)


def test_other_packages_take_the_signatures_out_of_the_comparison(
    bundle: Path, data: Path, tmp_path: Path
) -> None:
    found = verify_bundle(with_field(bundle, tmp_path / "x.zip", ENVIRONMENT, ("jieba",)), data)
    assert "signatures" in {each.part for each in found.not_verified}


@pytest.mark.parametrize("column", [
    "id", "benchmark", "task", "query", "domain", "group", "dynasty", "period", "script",
    "category", "source", "hash",
])  # fmt: skip
@pytest.mark.slow
def test_each_column_of_the_items_is_named(
    bundle: Path, data: Path, tmp_path: Path, column: str
) -> None:
    def change(content: bytes) -> bytes:
        frame = pl.read_parquet(io.BytesIO(content))
        target = io.BytesIO()
        values = [f"{frame[column][0]}x", *frame[column][1:]]
        frame.with_columns(pl.Series(column, values)).write_parquet(target)
        return target.getvalue()

    other = altered(bundle, tmp_path / "x.zip", "items.parquet", change, rehash=True)
    found = verify_bundle(other, data)
    named = {item for member, item in places(found) if member == "items.parquet"}
    assert "page-0x" in named if column == "id" else named == {"page-0"}


@pytest.mark.slow
def test_each_field_of_a_score_is_named(bundle: Path, data: Path, tmp_path: Path) -> None:
    (member, *_) = (
        name for name in members_of(bundle) if name.startswith("run/scores/replay_good")
    )
    source = tmp_path / "scores.parquet"
    source.write_bytes(members_of(bundle)[member])
    scores = read_scores(source)
    place = next(
        n
        for n, each in enumerate(scores)
        if each.item == "page-1" and each.protocol == "official" and each.stats
    )
    others: dict[str, Any] = {
        "value": 0.123, "protocol": "strict", "setting": "gold-text", "script": "traditional",
        "status": "failed", "round": 2, "stats": {"x": 1.0}, "read_by": "person",
        "if_right": {"x": 1.0},
    }  # fmt: skip
    for name in msgspec.structs.fields(type(scores[0])):
        value = others.get(name.name, "x")
        rows = [*scores]
        rows[place] = replace(rows[place], **{name.name: value})
        write_scores(tmp_path / "other.parquet", rows, read_fingerprint(source))
        content = (tmp_path / "other.parquet").read_bytes()
        other = altered(bundle, tmp_path / "x.zip", member, lambda _, c=content: c, rehash=True)
        item = "x" if name.name == "item" else "page-1"
        named = {(member, "page-1"), (member, item)}
        assert places(verify_bundle(other, data)) == named, name.name


@pytest.mark.slow
def test_each_field_of_a_response_is_named(bundle: Path, data: Path, tmp_path: Path) -> None:
    (member,) = (
        name for name in members_of(bundle)
        if name.startswith("run/responses/replay_good") and name.endswith("T7.jsonl")
    )  # fmt: skip
    (line,) = members_of(bundle)[member].splitlines()
    response = msgspec.json.decode(line, type=Response)
    others: dict[str, Any] = {
        "status": "empty", "setting": "gold-text", "script": "traditional", "round": 2,
        "attempts": 2,
        "seconds": 9.0, "usage": {"input_tokens": 1}, "uncounted": {"input_tokens": 1},
        "candidate": 1,
        "error": {"kind": "auth", "message": "x"}, "lines": [], "refused": ["x"],
        "examples": ["x"], "decoding": {"x": "y"},
    }  # fmt: skip
    for field in msgspec.structs.fields(Response):
        if field.name == "lines":
            continue
        row = {**msgspec.to_builtins(response), field.name: others.get(field.name, "x")}
        content = msgspec.json.encode(row) + b"\n"
        assert msgspec.json.decode(content, type=Response) != response, field.name
        other = altered(bundle, tmp_path / "x.zip", member, lambda _, c=content: c, rehash=True)
        named = {each.member for each in verify_bundle(other, data).differences}
        assert member in named, field.name


def test_a_member_that_nothing_reads_is_named(bundle: Path, data: Path, tmp_path: Path) -> None:
    members = members_of(bundle) | {"run/notes.txt": b"x"}
    other = pack(tmp_path / "x.zip", agreeing(members, "run/notes.txt").items())
    assert places(verify_bundle(other, data)) == {("run/notes.txt", "")}


def test_a_forged_response_that_was_scored_again_is_another_bundle(
    scored_run: Path, tmp_path: Path
) -> None:
    first = write_bundle(scored_run, tmp_path / "first.zip")
    good = next(iter(RunFolder.open(scored_run).manifest().models))
    change_run(scored_run, good, text="天地玄黃")
    second = write_bundle(scored_run, tmp_path / "second.zip")
    # No file shows who made a response. The statement refers to one bundle by its hash.
    found = verify_bundle(second.path, scored_run.parent / "set")
    assert found.result == "verified"
    assert found.bundle_sha256 == second.sha256 != first.sha256
    assert "not mean that the named model" in found.meaning
