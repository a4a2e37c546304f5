"""The published benchmarks are folders of the package, found as any other definition."""

from keju.benchmarks import folders
from keju.definitions import benchmark
from keju.registry import list_provided, list_shipped_folders
from tests.support.bundled import FOLDERS, PAPERS, TASKS


def test_every_folder_has_a_definition_and_a_position_of_its_own() -> None:
    there = {
        each.parent.name for each in (list_shipped_folders()[0].parent).glob("*/benchmark.toml")
    }
    names = [folder.__name__.rpartition(".")[2] for folder in folders()]
    assert there == set(names)
    assert [folder.name for folder in list_shipped_folders()] == names
    assert names[:3] == ["mcs_bench", "ancientdoc", "obi_bench"]
    positions = [folder.POSITION for folder in folders()]
    assert positions == sorted(set(positions))


def test_the_definitions_of_the_folders_are_those_that_keju_ships() -> None:
    assert all(benchmark(name).shipped for name in FOLDERS)
    assert {name: [each.id for each in benchmark(name).tasks] for name in TASKS} == TASKS
    assert [len(benchmark(name).tasks) for name in PAPERS] == [45, 5, 5]


def test_a_group_that_no_folder_names_is_empty() -> None:
    assert list_provided("keju.nothing") == {}
