"""OBI-Bench's sources of single characters, as they are released or listed in a table."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from keju.benchmarks.obi_bench.readers.characters import tier_of
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.definitions import NO_REFERENCE, is_undeciphered
from keju.errors import DataError
from keju.files import sha256_file
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.commanding import keju
from tests.support.layouts import obi_characters as trees
from tests.support.released import obi_classes, obi_deciphering, picture, put


def what(done) -> dict[str, dict[str, str]]:
    """Metadata of the items that ask What, by file."""
    return {item.metadata["file"]: item.metadata for item in done.items if item.query == "What"}


def test_hust_obc_gives_one_image_of_each_deciphered_character(read, tmp_path: Path):
    done = read("obi-deciphering", trees.hust(tmp_path))
    found = what(done)
    assert len(done.items) == 2 * len(found) == 8
    classes = {about["class"]: about["character"] for about in found.values()}
    assert classes == {"0001": "一", "0011_0012": "⊥", "0157": "王", "0482": "雨"}
    origins = {about["class"]: about["origin"] for about in found.values()}
    assert origins["0482"] == "YinQiWenYuan"
    assert origins["0011_0012"] == "New Compilation of Oracle Bone Scripts"
    assert {about["class"]: about["frequency"] for about in found.values()}["0157"] == "3"
    assert {item.group for item in done.items} == {f"HUST-OBS/{label}" for label in classes}
    assert {item.answer for item in done.items} == {""}
    assert not any(is_undeciphered(item) for item in done.items)
    assert "HUST-OBS: skipped 1 image: GuoXueDaShi_1390" in done.notes
    assert "HUST-OBS: skipped 3 images: undeciphered" in done.notes


def test_tiers_are_given_by_the_number_of_images(read, tmp_path: Path):
    counts = {"0001": 501, "0002": 101, "0003": 11, "0004": 5}
    for label, count in counts.items():
        for number in range(count):
            place = int(label) * 1000 + number
            put(tmp_path / f"HUST-OBC/deciphered/{label}/X_{label}_{number}.png", picture(place))
    done = read("obi-deciphering", tmp_path / "HUST-OBC")
    subsets = {about["class"]: about.get("subset", "") for about in what(done).values()}
    assert subsets == {"0001": "tier-1", "0002": "tier-2", "0003": "tier-3", "0004": ""}
    assert "no table" not in " ".join(done.notes)
    assert any("characters of the classes are unknown" in note for note in done.notes)


def test_a_table_in_a_release_keeps_its_characters_and_ids(read, tmp_path: Path):
    src = trees.hust_table(tmp_path)
    (one,) = [item for item in read("obi-deciphering", src).items if item.query == "What"]
    assert one.answer == "A king."
    assert (one.metadata["character"], one.metadata["frequency"]) == ("王", "3")
    assert one.id == "HUST-OBS/0157/X_0157_3803_2.png#What"


def test_an_undeciphered_character_of_a_table_is_asked_and_marked(read, tmp_path: Path):
    src = trees.hust(tmp_path)
    put(src / "descriptions.csv", "image,description\nundeciphered/X/9/X_9_7252_1.png,\n")
    done = read("obi-deciphering", src)
    assert [is_undeciphered(item) for item in done.items] == [True, True]
    assert not any("character" in item.metadata for item in done.items)


def test_evobc_asks_about_oracle_bone_characters_alone(read, tmp_path: Path):
    done = read("obi-deciphering", trees.evobc(tmp_path))
    found = [(one["class"], one["character"], one["era"], one["origin"])
             for one in what(done).values()]  # fmt: skip
    assert found == [
        ("00001", "天", "Oracle Bone Characters", "Book"),
        ("00002", "王", "Oracle Bone Characters", "說文Web"),
    ]
    assert "EVOBC: skipped 3 images: other eras" in done.notes


def test_of_a_component_the_annotated_images_are_asked(read, tmp_path: Path):
    src = trees.component(tmp_path)
    done = read("obi-deciphering", src)
    found = what(done)
    assert len(found) == 20 * 5
    assert all(name.endswith("_a.png") for name in found)
    assert {one["class"]: one["character"] for one in found.values()}["17"] == "王"
    assert {one["subset"] for one in found.values()} == {"radical"}


@pytest.mark.parametrize(
    ("build", "character"),
    [
        (trees.with_names("HWOBC", trees.CODES, "ID_to_chinese.json"), "大"),
        (trees.class_folders("Oracle-50K", trees.HAN), "大"),
        (trees.class_folders("HWOBC", trees.CODES), None),
    ],
)
def test_a_class_has_its_character_as_metadata(read, tmp_path: Path, build, character):
    done = read("obi-classification", build(tmp_path), classes="4")
    first = min(item.metadata["class"] for item in done.items)
    found = {item.metadata.get("character") for item in done.items
             if item.metadata["class"] == first}  # fmt: skip
    assert found == {character}


def test_merged_classes_have_all_of_their_characters(read, tmp_path: Path):
    src = trees.class_folders("mine", ("7", "0008_0009"))(tmp_path)
    names = put(src / "ID_to_chinese.json", json.dumps({"7": "七", "0008": "八", "0009": "九"}))
    done = read("obi-classification", src)
    found = {item.metadata["class"]: item.metadata["character"] for item in done.items}
    assert found == {"7": "七", "0008_0009": "八九"}
    put(names, '{"7": ["七"]}')
    with pytest.raises(DataError, match=r"not readable as JSON: .*got `array`"):
        read("obi-classification", src)


def shared_image(src: Path) -> None:
    """Classes of six images; one image is in c0 and in c3, one is twice in c1."""
    obi_classes(src, classes=6, images=6)
    put(src / "c3/copy.png", (src / "c0/0.png").read_bytes())
    put(src / "c1/copy.png", (src / "c1/0.png").read_bytes())


def used(done) -> set[str]:
    return {ref.sha256 for item in done.items for ref in item.images}


@pytest.mark.parametrize("seed", [str(seed) for seed in range(12)])
def test_an_image_in_two_classes_is_used_in_neither_whatever_is_drawn(
    read, tmp_path: Path, seed: str
):
    shared_image(tmp_path / "s")
    twice = sha256_file(tmp_path / "s/c0/0.png")
    done = read("obi-classification", tmp_path / "s", seed=seed)
    assert twice not in used(done)
    assert {item.metadata["class"] for item in done.items} == {f"c{n}" for n in range(6)}
    small = read("obi-classification", tmp_path / "s", seed=seed, classes="3")
    files = {item.metadata["file"] for item in small.items}
    assert files < {item.metadata["file"] for item in done.items}
    retrieval = read("obi-retrieval", tmp_path / "s", seed=seed, classes="2")
    assert twice not in used(retrieval)


def test_an_image_in_two_classes_is_reported(read, tmp_path: Path):
    src = tmp_path / "s"
    for label in ("a", "b"):
        for number in range(5):
            put(src / f"{label}/{number}.png", picture(number + 10 * (label == "b")))
    put(src / "b/5.png", (src / "a/0.png").read_bytes())
    done = read("obi-classification", src)
    assert {item.metadata["class"] for item in done.items} == {"b"}
    assert (
        "1 image exists byte by byte in several classes, used in no class: s/a/0.png = s/b/5.png"
    ) in done.notes


def test_copies_in_two_sources_matter_only_in_one_gallery(read, tmp_path: Path):
    src = trees.several(tmp_path / "all")
    put(src / "OBI125/王/more.png", (src / "HWOBC/大/大_0.png").read_bytes())
    apart = read("obi-classification", src, classes="4")
    assert not any("several classes" in note for note in apart.notes)
    with pytest.raises(DataError, match="3 of its 4 classes have 5 different images"):
        read("obi-classification", src, classes="12", mixed="yes")


def test_a_release_with_a_character_in_two_classes_drops_the_image(read, tmp_path: Path):
    src = trees.hust(tmp_path)
    put(
        src / "deciphered/0482/X_0482_1.png",
        (src / "deciphered/0001/G_0001_甲骨文2.png").read_bytes(),
    )
    done = read("obi-deciphering", src)
    assert {about["class"] for about in what(done).values()} == {"0011_0012", "0157", "0482"}


def finished(*arguments: object) -> str:
    done = keju(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_hust_obc_is_imported_run_and_scored_in_three_commands(tmp_path: Path):
    src, data, run = trees.hust_table(tmp_path / "src"), tmp_path / "data", tmp_path / "run"
    (src / "descriptions.csv").unlink()
    finished("data", "import", "auto", src, "--out", data, "--licence", "x", "--source", "x")
    answers = "".join(
        json.dumps({"item": item.id, "text": "It means king."}) + "\n"
        for item in Dataset.open(data).items()
        if item.query == "What"
    )
    model = f"replay:{put(tmp_path / 'answers.jsonl', answers)}"
    finished("run", data, "--model", model, "--task", "deciphering/What", "--out", run)
    finished("score", run)
    scores = score_run(RunFolder.open(run))
    assert len({score.item for score in scores}) == 4
    assert {(score.value, score.reason) for score in scores} == {(None, NO_REFERENCE)}


def test_class_folders_are_imported_run_and_scored_in_three_commands(tmp_path: Path):
    src = trees.class_folders("OBI125", trees.HAN, "train:3,test:2")(tmp_path / "src")
    data, run = tmp_path / "data", tmp_path / "run"
    finished("data", "import", "auto", src, "--out", data, "--licence", "x", "--source", "x",
             "--option", "classes=4")  # fmt: skip
    task = "classification/How"
    finished("run", data, "--model", "baseline:hog", "--task", task, "--rounds", 1, "--out", run)
    finished("score", run)
    values = [score.value for score in score_run(RunFolder.open(run)) if score.metric == "Acc@1"]
    assert values
    assert all(value is not None for value in values)


@pytest.mark.parametrize(
    ("build", "file"),
    [(trees.hust, "deciphered/ID_to_chinese.json"), (trees.evobc, "Key&Value.json")],
)  # fmt: skip
def test_no_damage_to_a_table_of_characters_ends_in_a_traceback(read, tmp_path, build, file):
    chance = random.Random(f"characters {file}")
    src = build(tmp_path)
    sound = (src / file).read_bytes()
    refused: list[DataError] = []
    for _ in range(25):
        data = bytearray(sound)
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(data))
            data[place : place + chance.randrange(3)] = chance.choice(
                (b'"', b"{", b"[1]", b"\xff", b"null", b"\0", b"1e999", b"\\ud800", b"\n", b"")
            )
        (src / file).write_bytes(bytes(data))
        try:
            read("obi-deciphering", src)
        except DataError as error:
            refused.append(error)
    assert 0 < len(refused) <= 25
    assert all(error.file and error.hint and str(error).isprintable() for error in refused)


def test_each_picture_is_asked_what_and_how_and_only_what_has_an_answer(
    read, tmp_path: Path
) -> None:
    obi_deciphering(tmp_path / "HUST-OBS")
    done = read("obi-deciphering", tmp_path / "HUST-OBS")
    answers = {(item.metadata["character"], item.query): item.answer for item in done.items}
    assert answers["王", "What"] == "It means king."
    assert answers["王", "How"] == ""
    assert {item.metadata["character"]: item.metadata["subset"] for item in done.items} == {
        "王": "pictograph", "雨": "tier-1", "子": "tier-3",
    }  # fmt: skip
    assert done.items[0].group == "HUST-OBS/王"
    assert done.notes == ("HUST-OBS: 3 images; the paper has 40",)
    assert list(validate(done.path)) == []


def test_a_frequency_of_thousands_of_digits_is_refused(read, tmp_path: Path) -> None:
    obi_deciphering(tmp_path / "s")
    listed = tmp_path / "s/descriptions.csv"
    put(listed, listed.read_text().replace("700", "7" * 5000))
    with pytest.raises(DataError, match=r"line 3: the frequency '7{20}' is not a number"):
        read("obi-deciphering", tmp_path / "s")


@pytest.mark.parametrize(
    ("frequency", "tier"),
    [(501, "tier-1"), (500, "tier-2"), (101, "tier-2"), (100, "tier-3"), (11, "tier-3"), (10, "")],
)
def test_tiers_begin_above_their_bound(frequency: int, tier: str) -> None:
    assert tier_of(frequency) == tier


def flat(src: Path) -> Path:
    """All images in one folder, named after their class."""
    for place, label in enumerate(trees.CODES):
        for number in range(5):
            put(src / f"HWOBC/{label}_{number}.png", picture(10 * place + number))
    return src / "HWOBC"


def copies_alone(src: Path) -> Path:
    """Of EVOBC only the folder OBC, whose images a release has twice."""
    trees.images(src / "EVOBC", {f"OBC/{name}": n for name, n in trees.EVOBC_IMAGES.items()})
    return src / "EVOBC"


@pytest.mark.parametrize(
    ("form", "write", "path"),
    [
        ("obi-classification", flat, "001000_0.png"),
        ("obi-deciphering", copies_alone, "OBC/00001/00001_Book_OBC_1_3.jpg"),
    ],
)
def test_an_image_of_another_layout_is_named(
    read, tmp_path: Path, form: str, write: Callable[[Path], Path], path: str
):
    src = write(tmp_path)
    says = f"not one of the layout of .*keju data formats {form}"
    with pytest.raises(DataError, match=says) as refused:
        read(form, src)
    assert refused.value.file == str(src / path)
