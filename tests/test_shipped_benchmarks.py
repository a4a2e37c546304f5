"""The published benchmarks are folders of the package, found as any other definition."""

from keju.benchmarks import folders
from keju.definitions import benchmark, is_shipped
from keju.registry import list_provided, list_shipped_folders


def test_every_folder_has_a_definition_and_is_listed_by_its_place() -> None:
    there = {
        each.parent.name for each in (list_shipped_folders()[0].parent).glob("*/benchmark.toml")
    }
    assert there == set(folders())
    assert [folder.name for folder in list_shipped_folders()] == folders()
    assert folders() == ["mcs_bench", "ancientdoc", "obi_bench"]


def test_the_definitions_of_the_folders_are_those_that_keju_ships() -> None:
    names = ("MCS-Bench", "AncientDoc", "OBI-Bench")
    assert all(is_shipped(name) for name in names)
    assert [len(benchmark(name).tasks) for name in names] == [45, 5, 5]


def test_a_group_that_no_folder_names_is_empty() -> None:
    assert list_provided("keju.nothing") == {}
