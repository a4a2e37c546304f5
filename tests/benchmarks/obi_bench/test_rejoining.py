"""Rejoining: pairs in other files, bones by file name, whole bones, and lists of items."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from keju.benchmarks.obi_bench.readers.rejoining import READER, whole_images
from keju.errors import DataError
from keju.files import sha256_file
from tests.support.layouts import obi_rejoining as forms
from tests.support.released import obi_rejoining, put, table


def galleries(src: Path, done) -> dict[str, tuple[list[str], list[str]]]:
    """Of each query its candidates and those that are relevant, by their paths in the source."""
    files = {sha256_file(path): path.relative_to(src).as_posix() for path in src.rglob("*.png")}
    found = {}
    for item in done.items:
        query, *others = (files[ref.sha256] for ref in item.images)
        found[query] = (others, [others[place - 1] for place in item.relevant])
    return found


def test_a_list_of_fragments_limits_queries_and_candidates(read, tmp_path):
    src = tmp_path / "OBI-rejoin"
    obi_rejoining(src)
    names = str(put(tmp_path / "list.txt", "b1/1.png\nb1/2\nb2/1.png\n"))
    done = read("obi-rejoining", src, items=names)
    assert galleries(src, done) == {
        "b1/1.png": (["b1/2.png", "b2/1.png"], ["b1/2.png"]),
        "b1/2.png": (["b1/1.png", "b2/1.png"], ["b1/1.png"]),
    }
    assert any("1 fragment adjoins none" in note and "b2/1.png" in note for note in done.notes)
    assert done.manifest.made["items"] == "3"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("b1/1\nb1/1\n", "line 2: b1/1 is also in line 1"),
        ("b9/9\n", "line 1: the source has no image 'b9/9'"),
        ("b1/1 b1/2 1\n", "3 names"),
        ("b1/1\nb2/1\n", "no two fragments adjoin"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(read, tmp_path, text, says):
    obi_rejoining(tmp_path / "OBI-rejoin")
    with pytest.raises(DataError, match=says):
        read("obi-rejoining", tmp_path / "OBI-rejoin", items=str(put(tmp_path / "l.txt", text)))


def test_a_whole_bone_is_no_fragment_unless_a_pair_names_it(read, tmp_path):
    src = tmp_path / "OBI-rejoin"
    forms.with_whole(src)
    done = read("obi-rejoining", src)
    assert "OBI-rejoin: skipped 2 images of whole bones: b1/whole.png, b2/b2.png" in done.notes
    with (src / "adjacency.csv").open("a") as pairs:
        pairs.write("b2/1.png,b2/b2.png\n")
    done = read("obi-rejoining", src)
    assert "OBI-rejoin: skipped 1 image of whole bones: b1/whole.png" in done.notes
    assert "b2/b2.png" in galleries(src, done)


def test_whole_bones_are_recognised_by_name_and_folder():
    assert whole_images(["a/1.png", "a/2.png", "a/full.png"]) == {"a/full.png"}
    assert whole_images(["a/1.png", "a/2.png", "original/a.png"]) == {"original/a.png"}
    assert whole_images(["a/whole.png", "b/whole.png"]) == set()
    assert whole_images(["original/a/1.png", "original/a/2.png"]) == set()


def test_fragments_of_all_bones_in_one_folder_need_pairs(read, tmp_path):
    forms.groups(tmp_path / "flat")
    with pytest.raises(DataError, match="all fragments are in one folder"):
        read("obi-rejoining", tmp_path / "flat", adjacency="all")


def test_pairs_that_do_not_adjoin_are_skipped_with_their_number(read, tmp_path):
    src = tmp_path / "OBI-rejoin"
    forms.labelled(src)
    done = read("obi-rejoining", src)
    assert "OBI-rejoin: skipped 2 pairs declared not to adjoin" in done.notes
    assert "OBI-rejoin: pairs read from pairs.csv" in done.notes


def test_a_file_of_any_name_can_be_named(read, tmp_path):
    src = tmp_path / "OBI-rejoin"
    forms.fragments(src)
    table(src / "关系.csv", ("fragment", "adjoins"), *forms.PAIRS)
    with pytest.raises(DataError, match=r"expected adjacency\.csv"):
        read("obi-rejoining", src)
    done = read("obi-rejoining", src, pairs="关系.csv")
    assert len(galleries(src, done)) == 5


HOSTILE = {
    "a label that is no label": ("adjacency.csv", "a,b,label\nb1/1,b1/2,perhaps\n", "'perhaps'"),
    "one name a line": ("adjacency.txt", "b1/1\n", "line 1: 'b1/1' is not a pair"),
    "a name of many": ("adjacency.txt", "1 2\n", "several images fit '1': b1/1.png, b2/1.png"),
    "three names": ("adjacency.txt", "b1/1 b1/2 b1/3\n", "is not a pair of names"),
    "nested JSON": ("adjacency.json", "[" * 100_000, "expected adjacency.csv"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pairs_are_refused_in_one_line(read, tmp_path, name):
    file, text, says = HOSTILE[name]
    forms.fragments(tmp_path / "s")
    put(tmp_path / "s" / file, text)
    with pytest.raises(DataError, match=says) as refused:
        read("obi-rejoining", tmp_path / "s")
    assert "\n" not in str(refused.value)
    assert refused.value.hint


def test_other_tables_are_not_taken_for_pairs(read, tmp_path):
    src = tmp_path / "OBI-rejoin"
    obi_rejoining(src)
    put(src / "README.txt", "Two fragments adjoin where their edges fit.\n")
    put(src / "metadata.json", '{"images": ["b1/1.png"]}')
    assert len(galleries(src, read("obi-rejoining", src))) == 5
    (src / "adjacency.csv").rename(src / "notes.csv")
    with pytest.raises(DataError, match=r"Not recognised as pairs: README.txt, metadata.json, not"):
        read("obi-rejoining", src)
    assert len(galleries(src, read("obi-rejoining", src, pairs="notes.csv"))) == 5


@pytest.mark.parametrize(
    ("write", "program"),
    [
        (forms.json_pairs, '.[] | join(" ")'),
        (forms.mutual, 'to_entries[] | .key + " " + .value[]'),
        (forms.json_objects, '.pairs[] | .a + " " + .b'),
    ],
)
def test_pairs_in_json_are_a_text_after_the_command_of_the_layout(read, tmp_path, write, program):
    src = tmp_path / "OBI-rejoin"
    write(src)
    with pytest.raises(DataError, match=r"Not recognised as pairs: .*\.json.*keju data formats"):
        read("obi-rejoining", src)
    assert f"jq -r '{program}'" in READER.layout
    (file,) = src.glob("*.json")
    jq = shutil.which("jq")
    if jq is None:
        pytest.skip("jq is not installed")
    text = subprocess.run([jq, "-r", program, file], capture_output=True, check=True).stdout
    put(src / "pairs.txt", text)
    assert len(galleries(src, read("obi-rejoining", src))) == 5


def test_a_lone_image_of_a_folder_can_be_a_whole_bone():
    assert whole_images(["a/whole.png", "b/whole.png", "b/1.png"]) == {"a/whole.png", "b/whole.png"}
