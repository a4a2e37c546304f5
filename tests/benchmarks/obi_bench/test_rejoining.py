"""Rejoining: pairs in tables and texts, and what becomes of other files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from keju.benchmarks.obi_bench.readers.rejoining import READER
from keju.errors import DataError
from keju.files import sha256_file
from tests.support.layouts import obi_rejoining as forms
from tests.support.released import obi_rejoining, put


def galleries(src: Path, done) -> dict[str, tuple[list[str], list[str]]]:
    """Of each query its candidates and those that are relevant, by their paths in the source."""
    files = {sha256_file(path): path.relative_to(src).as_posix() for path in src.rglob("*.png")}
    found = {}
    for item in done.items:
        query, *others = (files[ref.sha256] for ref in item.images)
        found[query] = (others, [others[place - 1] for place in item.relevant])
    return found


def test_pairs_that_do_not_adjoin_are_skipped_with_their_number(read, tmp_path):
    src = tmp_path / "OBI-rejoin"
    forms.labelled(src)
    done = read("obi-rejoining", src)
    assert "OBI-rejoin: skipped 2 pairs declared not to adjoin" in done.notes
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
    put(src / "adjacency.txt", text)
    assert len(galleries(src, read("obi-rejoining", src))) == 5


def test_fragments_of_a_bone_adjoin_one_another_after_the_command_of_the_layout(read, tmp_path):
    src = tmp_path / "OBI-rejoin"
    forms.fragments(src)
    program = READER.layout.partition("in the source's folder:\n")[2].partition("Each fragment")[0]
    subprocess.run(["sh", "-c", program], cwd=src, check=True)
    done = read("obi-rejoining", src)
    assert sorted(len(item.relevant) for item in done.items) == [1] * 4 + [2] * 6
