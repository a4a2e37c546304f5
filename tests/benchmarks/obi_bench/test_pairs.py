"""OBI-Bench's rejoining, classification and retrieval: each query picture against its gallery."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from keju.benchmarks.obi_bench.readers.sources import sources
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.errors import DataError, UsageError
from keju.files import sha256_file
from keju.items import Item
from keju.published import paper_galleries
from tests.support.planning import requests
from tests.support.released import obi_classes, obi_rejoining, picture, put


def test_the_sources_are_those_of_the_published_registry(shared: Path) -> None:
    registry = json.loads((shared / "published/obi_registry.json").read_text())
    printed = {
        row["dataset"]: (row["task"], row["sampled_size"], row["type"])
        for row in registry["datasets"]
    }
    ours = {source.name: (source.task, source.images, source.type) for source in sources()}
    assert ours == printed
    assert sum(source.images for source in sources()) == registry["total_images"]


def test_the_numbers_of_every_source_make_its_printed_size() -> None:
    for source in sources("classification") + sources("retrieval"):
        images = source.references + source.queries
        assert source.classes * images + source.distractors == source.images
    for source in sources("deciphering"):
        assert sum(source.subsets.values()) == source.images


def test_the_papers_galleries_have_the_sizes_that_the_readers_draw() -> None:
    for name in ("rejoining", "classification", "retrieval"):
        # Without classes, all other images are candidates of a query.
        drawn = [
            (source.name, source.classes * source.references + source.distractors
             or source.images - 1)
            for source in sources(name)
        ]  # fmt: skip
        assert list(paper_galleries(name).items()) == drawn
    assert paper_galleries("recognition") == paper_galleries("T1") == {}


def shown(item: Item, files: dict[str, str]) -> list[str]:
    return [files[ref.sha256] for ref in item.images]


def files_in(src: Path) -> dict[str, str]:
    return {sha256_file(path): path.relative_to(src).as_posix() for path in src.rglob("*.png")}


def test_each_fragment_is_held_against_all_others(read, tmp_path: Path) -> None:
    src = tmp_path / "OBI-rejoin"
    obi_rejoining(src)
    done = read("obi-rejoining", src)
    files = files_in(src)
    for query in ("Yes-or-No", "How"):
        items = [item for item in done.items if item.query == query]
        assert len(items) == 5
        for item in items:
            first, *others = shown(item, files)
            assert first == item.metadata["file"]
            assert sorted([first, *others]) == sorted(files.values())
    joins = {
        item.metadata["file"]: [shown(item, files)[place] for place in item.relevant]
        for item in done.items
    }
    assert joins == {
        "b1/1.png": ["b1/2.png"], "b1/2.png": ["b1/1.png", "b1/3.png"], "b1/3.png": ["b1/2.png"],
        "b2/1.png": ["b2/2.png"], "b2/2.png": ["b2/1.png"],
    }  # fmt: skip
    assert {item.group for item in done.items} == {"OBI-rejoin/b1", "OBI-rejoin/b2"}
    assert "OBI-rejoin: 5 fragments; the paper has 483" in done.notes
    assert list(validate(done.path)) == []


def test_an_imported_gallery_is_asked_pair_by_pair(read, tmp_path: Path) -> None:
    obi_rejoining(tmp_path / "s")
    dataset = Dataset.open(read("obi-rejoining", tmp_path / "s").path)
    asked = [request for _, request in requests(dataset)]
    assert len(asked) == 5 * 2 * 4
    for request in asked:
        assert len(request.images) == 2
        assert request.images[0] != request.images[1]


def test_galleries_share_their_images_when_they_are_read(read, tmp_path: Path) -> None:
    obi_rejoining(tmp_path / "s")
    items = Dataset.open(read("obi-rejoining", tmp_path / "s").path).items()
    shown = [ref for item in items for ref in item.images]
    assert len(shown) == 50
    assert len({id(ref) for ref in shown}) == 5


def test_fragments_need_a_list_of_pairs(read, tmp_path: Path) -> None:
    obi_rejoining(tmp_path / "s")
    (tmp_path / "s/adjacency.csv").unlink()
    with pytest.raises(DataError, match=r"expected adjacency\.csv.* found none\. Write it, or"):
        read("obi-rejoining", tmp_path / "s")


def test_tables_may_lie_in_the_bones_folders_and_lone_fragments_are_candidates(
    read, tmp_path: Path
) -> None:
    obi_rejoining(tmp_path / "s")
    (tmp_path / "s/adjacency.csv").unlink()
    put(tmp_path / "s/b1/adjacency.csv", "a,b\n1,2\n")
    done = read("obi-rejoining", tmp_path / "s")
    assert {item.metadata["file"] for item in done.items} == {"b1/1.png", "b1/2.png"}
    assert all(len(item.images) == 5 for item in done.items)
    assert done.notes == (
        "s: 3 fragments adjoin none, so they are only candidates: b1/3.png, b2/1.png, b2/2.png",
        "fields used: fragment (a), adjoins (b)",
    )


def test_fragments_in_one_folder_are_bones_by_what_hangs_together(read, tmp_path: Path) -> None:
    for number in range(5):
        put(tmp_path / f"s/{number}.png", picture(number))
    put(tmp_path / "s/adjacency.csv", "fragment,adjoins\n0,1\n1,2\n3,4\n")
    done = read("obi-rejoining", tmp_path / "s")
    assert {item.group for item in done.items} == {"s/0.png", "s/3.png"}


def test_a_query_is_held_against_one_reference_of_every_class(read, tmp_path: Path) -> None:
    obi_classes(tmp_path / "s", classes=4, images=7)
    done = read("obi-classification", tmp_path / "s")
    assert len(done.items) == 4 * 4 * 2
    files = files_in(tmp_path / "s")
    galleries = {tuple(item.images[1:]) for item in done.items}
    assert len(galleries) == 1
    for item in done.items:
        query, *references = shown(item, files)
        (place,) = item.relevant
        assert references[place - 1].split("/")[0] == query.split("/")[0] == item.metadata["class"]
        assert query not in references
        assert item.group == f"s/{item.metadata['class']}"
    assert list(validate(done.path)) == []


def test_the_sweep_goes_on_with_the_classes_it_has(read, tmp_path: Path) -> None:
    obi_classes(tmp_path / "HWOBC", classes=30)

    def classes(number: int, seed: str = "0") -> set[str]:
        done = read("obi-classification", tmp_path / "HWOBC", classes=str(number), seed=seed)
        assert done.manifest.made["classes"] == f"HWOBC {number}"
        assert all(len(item.images) == 1 + number for item in done.items)
        return {item.metadata["class"] for item in done.items}

    assert classes(10) < classes(20) < classes(30)
    assert classes(10) == classes(10)
    assert classes(10) != classes(10, "1")
    with pytest.raises(
        DataError, match="30 of its 30 classes have 5 different images; wanted are 100"
    ):
        read("obi-classification", tmp_path / "HWOBC")


def test_a_mixed_gallery_shares_the_classes_and_says_how_they_divide(read, tmp_path: Path) -> None:
    for shift, name in enumerate(("HWOBC", "Oracle-50K", "OBI125")):
        for label in range(5):
            for number in range(5):
                put(tmp_path / f"all/{name}/{label}/{number}.png",
                    picture(shift * 1000 + label * 100 + number))  # fmt: skip
    done = read("obi-classification", tmp_path / "all", classes="10", mixed="yes")
    assert all(len(item.images) == 11 for item in done.items)
    assert done.notes == ("classes that do not divide evenly: HWOBC 4, Oracle-50K 3, OBI125 3",)
    assert done.manifest.made["classes"] == "HWOBC 4, Oracle-50K 3, OBI125 3"
    apart = read("obi-classification", tmp_path / "all", classes="4")
    assert all(len(item.images) == 5 for item in apart.items)
    with pytest.raises(DataError, match="0 of its 5 classes have 5 different images"):
        read("obi-classification", tmp_path / "all", classes="2", mixed="yes")


def test_classes_that_all_repeat_their_images_are_too_few(read, tmp_path: Path) -> None:
    for label in range(2):
        for number in range(5):
            put(tmp_path / f"s/{label}/{number}.png", picture(label))
    with pytest.raises(DataError, match=r"s: 0 of its 2 classes have 5 .*\. A class"):
        read("obi-classification", tmp_path / "s")


def test_retrieval_holds_a_query_against_all_relevant_images_and_distractors(
    read, tmp_path: Path
) -> None:
    obi_classes(tmp_path / "s", classes=8)
    done = read("obi-retrieval", tmp_path / "s", classes="3")
    files = files_in(tmp_path / "s")
    assert len(done.items) == 3 * 2
    taken = {item.metadata["class"] for item in done.items}
    for item in done.items:
        query, *gallery = (name.split("/")[0] for name in shown(item, files))
        assert [place for place, name in enumerate(gallery, 1) if name == query] == list(
            item.relevant
        )
        assert len(item.relevant) == 4
        others = [name for name in gallery if name not in taken]
        assert len(others) == 15
        assert set(Counter(others).values()) == {3}, "one of each class before a second of any"
    assert list(validate(done.path)) == []
    few = read("obi-retrieval", tmp_path / "s", classes="3", distractors="2")
    assert {len(item.images) for item in few.items} == {1 + 12 + 2}
    with pytest.raises(DataError, match=r"25 images of other classes; wanted are 99 distractors"):
        read("obi-retrieval", tmp_path / "s", classes="3", distractors="99")


def test_distractors_that_no_class_is_left_for_are_said_with_their_mend(
    read, tmp_path: Path
) -> None:
    obi_classes(tmp_path / "s", classes=4)
    (note,) = read("obi-retrieval", tmp_path / "s").notes
    assert note == "s: 4 classes and 0 distractors, of the classes left over"
    (note,) = read("obi-retrieval", tmp_path / "s", classes="3").notes
    assert note.startswith("s: 3 classes and 5 distractors")
    with pytest.raises(DataError, match=r"0 images of other classes; wanted are 9 .*classes=N"):
        read("obi-retrieval", tmp_path / "s", distractors="9")


def test_small_classes_and_repeated_images_are_passed_over(read, tmp_path: Path) -> None:
    obi_classes(tmp_path / "s", classes=4)
    (tmp_path / "s/c1/4.png").unlink()
    put(tmp_path / "s/c2/4.png", (tmp_path / "s/c2/3.png").read_bytes())
    done = read("obi-classification", tmp_path / "s")
    assert {item.metadata["class"] for item in done.items} == {"c0", "c3"}
    assert done.notes == ("s: skipped 2 classes of fewer than 5 different images: c1, c2",)


def test_folders_of_one_name_are_one_class(read, tmp_path: Path) -> None:
    for label in ("大", "小"):
        for number in range(5):
            part = "train" if number < 3 else "test"
            put(tmp_path / f"s/{part}/{label}/{number}.png", picture(ord(label) + number))
    done = read("obi-classification", tmp_path / "s")
    assert {item.metadata["class"] for item in done.items} == {"大", "小"}


def test_a_source_of_another_task_is_wrong_use(read, tmp_path: Path) -> None:
    obi_classes(tmp_path / "s")
    with pytest.raises(
        UsageError,
        match=r"OBC306 is a source of retrieval\. Sources of classification: HWOBC, Oracle-50K, O",
    ):
        read("obi-classification", tmp_path / "s", source="OBC306")
    with pytest.raises(UsageError, match="classes: expected a whole number, got 'none'"):
        read("obi-classification", tmp_path / "s", classes="none")
    put(tmp_path / "all/HWOBC/1/1.png", picture(1))
    put(tmp_path / "all/notes/1.png", picture(1))
    with pytest.raises(
        DataError, match=r"expected folders called after sources of .* found also notes"
    ):
        read("obi-classification", tmp_path / "all")


def test_a_name_that_is_not_utf8_is_named(read, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\xfe")
    obi_classes(tmp_path / "s")
    obi_classes(tmp_path / "t")
    try:
        (tmp_path / "s/c1").rename(tmp_path / "s" / name)
        (tmp_path / "t").rename(tmp_path / name)
    except OSError:
        pytest.skip("this file system takes no name that is not UTF-8")
    says = r"s/\udcff\udcfe/0.png: the name '\udcff\udcfe' is not UTF-8. Rename it"
    for form in ("obi-classification", "obi-retrieval", "obi-rejoining"):
        with pytest.raises(DataError) as caught:
            read(form, tmp_path / "s")
        assert says in str(caught.value)
    with pytest.raises(DataError, match=r"is not UTF-8\. Rename the folder, or name the source"):
        read("obi-classification", tmp_path / name)
    assert len(read("obi-classification", tmp_path / name, source="mine").items) == 6 * 4 * 2
