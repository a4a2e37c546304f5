"""BibTeX of benchmarks and of keju: valid entries, and the same facts wherever they are printed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from keju import __version__
from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.definitions import Definition, benchmark, parse_definition
from keju.definitions.draft import KEJU_AUTHOR, KEJU_TITLE, benchmark_entry, keju_entry
from keju.runs import RunFolder, RunManifest
from tests.support import commanding

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ("MCS-Bench", "AncientDoc", "OBI-Bench")
MANUSCRIPTS = (ROOT / "examples/manuscripts/manuscripts.toml").read_text("utf-8")


def parsed(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    """The entries of a .bib file by key: a parser of its own, which counts braces.

    Text outside of entries, an unbalanced brace or an unfinished field is an AssertionError.
    """
    found: dict[str, tuple[str, dict[str, str]]] = {}
    place = 0
    while match := re.compile(r"\s*@(\w+)\{([^\s,{}\"#%'()=~\\]+),").match(text, place):
        kind, key = match.groups()
        place, fields = match.end(), {}
        while field := re.compile(r"\s*([a-z]+)\s*=\s*\{").match(text, place):
            place, value = closed(text, field.end())
            assert field[1] not in fields
            fields[field[1]] = value
            assert text[place] == ","
            place += 1
        end = re.compile(r"\s*\}").match(text, place)
        assert end, text[place : place + 40]
        place = end.end()
        assert key not in found
        found[key] = (kind, fields)
    assert not text[place:].strip(), text[place : place + 40]
    return found


def closed(text: str, start: int) -> tuple[int, str]:
    """The end of a field and its value, which begins after a brace; escaped braces count too."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1, text[start:place]
    raise AssertionError(text[start : start + 40])


def cite(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return commanding.keju("cite", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def everything() -> str:
    done = cite()
    assert done.returncode == 0
    return done.stdout


def test_the_command_prints_all_benchmarks_and_keju_with_its_version(everything: str):
    found = parsed(everything)
    assert list(found) == ["mcs-bench", "ancientdoc", "obi-bench", "keju"]
    assert found["keju"][1]["version"] == __version__
    assert found["ancientdoc"][1] == {
        "author": "Haiyang Yu and Yuchuan Wu and Fan Shi and Jinghui Lu and Ke Niu and Xiaodong Ge"
        " and Minghan Zhuo and Jingqun Tang and Bin Li",
        "title": "{Benchmarking Vision-Language Models on Chinese Ancient Documents: From OCR to"
        " Knowledge Reasoning}",
        "year": "2025",
        "eprint": "2509.09731",
        "archiveprefix": "arXiv",
        "url": "https://arxiv.org/abs/2509.09731",
        "note": r"Benchmark AncientDoc. Data: \url{https://huggingface.co/datasets/ByteDance/"
        "AncientDoc}. Data licence: CC0-1.0",
    }


@pytest.mark.parametrize("name", ["README.md", "README.zh.md", "docs/citing.md"])
def test_the_pages_have_the_entries_that_the_command_prints(name: str, everything: str):
    assert f"```\n{everything}```" in (ROOT / name).read_text("utf-8")


def test_the_citation_file_has_the_same_facts():
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cff["title"], cff["version"]) == (KEJU_TITLE, __version__)
    assert cff["authors"] == [{"name": KEJU_AUTHOR}]
    for name, stated in zip(PUBLISHED, cff["references"], strict=True):
        definition = benchmark(name)
        ((_kind, entry),) = parsed(benchmark_entry(definition)).values()
        names = [f"{each['given-names']} {each['family-names']}" for each in stated["authors"]]
        assert entry["author"] == " and ".join(names)
        assert entry["title"] == f"{{{stated['title']}}}"
        assert entry.get("year", "0") == str(stated.get("year", 0))
        identifiers = [each["value"] for each in stated.get("identifiers", [])]
        assert identifiers == [f"arXiv:{entry['eprint']}" for _ in identifiers]
        assert entry["url"] == stated["url"]
        assert entry["note"].replace("\\url{", "").replace("}", "") == stated["notes"]
        for fact in (*names, stated["title"], *identifiers):
            assert fact in definition.citation
        for fact in (definition.data, definition.licence):
            assert fact in stated["notes"]
        assert ("licence" in stated["notes"]) == bool(definition.licence)


def test_authors_and_titles_are_those_that_the_papers_print(shared: Path):
    for name, file in zip(PUBLISHED, ("mcs-bench", "ancientdoc", "obi-bench"), strict=True):
        head = (shared / "papers" / f"{file}.txt").read_text("utf-8")[:1000]
        ((_kind, entry),) = parsed(benchmark_entry(benchmark(name))).values()
        assert all(author in head for author in entry["author"].split(" and "))
        assert entry["title"].strip("{}").lower() in head.lower()


def test_a_run_is_cited_with_its_benchmarks_and_its_version_of_keju(tmp_path: Path):
    folder = RunFolder(tmp_path / "run")
    items = [i for i in Dataset.open(mini.path()).items() if i.task in ("T1", "page_level_ocr")]
    folder.write_items(items)
    folder.write_manifest(
        RunManifest(keju="0.0.9", dataset="d", dataset_version="1", dataset_hash="h")
    )
    done = cite(folder.path)
    assert done.returncode == 0, done.stderr
    found = parsed(done.stdout)
    assert set(found) == {"mcs-bench", "ancientdoc", "keju"}
    assert found["keju"][1]["version"] == "0.0.9"


def test_an_unknown_name_is_one_line_with_the_known_ones():
    done = cite("MCSBench")
    assert (done.returncode, done.stdout) == (2, "")
    assert "neither a run directory nor a benchmark" in done.stderr
    assert "MCS-Bench" in done.stderr


def test_own_pages_have_no_entry_but_keju():
    assert set(parsed(cite("pages").stdout)) == {"keju"}


def defined(bibtex: str) -> Definition:
    text = MANUSCRIPTS.replace("[domains_zh]", f"bibtex = '''\n{bibtex}\n'''\n[domains_zh]", 1)
    return parse_definition(text, "own.toml")


def test_a_definition_has_its_own_entry():
    entry = "@article{seals,\n  title = {Seals {\\&} relics},\n}"
    assert benchmark_entry(defined(f"  {entry}\n")) == f"{entry}\n"


def test_a_definition_without_an_entry_is_cited_in_a_comment():
    text = MANUSCRIPTS.replace('citation = "', 'citation = "by a@b.org\\n', 1)
    definition = parse_definition(text, "own.toml")
    (line,) = benchmark_entry(definition).splitlines()
    assert line.startswith(f"% {definition.title}")
    assert "by a(at)b.org" in line


def test_a_version_of_a_damaged_run_does_not_break_the_entry():
    assert parsed(keju_entry("1.0}\n@misc{x,"))["keju"][1]["version"] == "1.0miscx"
