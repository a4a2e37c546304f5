"""What a registry offers: built-in names, entry points, plug-in files, and what it refuses."""

import hashlib
import importlib
import os
import re
import subprocess
import sys
import uuid

import pytest

from keju.errors import UsageError
from keju.registry import (
    PLUGIN_FILES,
    Plugin,
    PluginError,
    Registry,
    add_plugin_files,
    register,
)
from tests.support.plugged import distribution, forget_plugins


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    forget_plugins(monkeypatch)


def registry(builtin):
    return Registry("number", uuid.uuid4().hex, builtin)


def module():
    return f"numbers_{uuid.uuid4().hex}"


def test_built_in_names_keep_their_order_and_are_imported_when_they_are_looked_up():
    one = registry({"seven": 7, "infinite": "sys:maxsize", "gone": "no.such.module:X"})
    assert list(one) == ["seven", "infinite", "gone"]
    assert "gone" in one
    assert (one["seven"], one["infinite"], one.find("seven")) == (7, sys.maxsize, 7)
    assert one.plugin_of("seven") is None
    with pytest.raises(ModuleNotFoundError):
        one["gone"]


def test_an_unknown_name_has_the_nearest_one_and_all_names_in_its_error():
    one = registry({"seven": 7, "eight": 8})
    wrong = r"x.toml: no number 'sevn'\. Did you mean 'seven'\? Choose from: seven, eight"
    with pytest.raises(UsageError, match=wrong):
        one.find("sevn", place="x.toml")
    with pytest.raises(KeyError):
        one["sevn"]


def test_a_name_of_an_optional_package_is_an_error_that_names_the_package():
    one = registry({"seven": 7})
    other = Registry("number", one.kind, {"seven": 7}, elsewhere={"pi": "the package pie"})
    missing = r"^x.toml: the number 'pi' is not installed\. It is in the package pie$"
    with pytest.raises(PluginError, match=missing):
        other.find("pi", place="x.toml")
    assert "pi" not in other
    assert isinstance(other.make_unknown_error("seve", known=["eight"], word="form"), UsageError)
    assert str(other.make_unknown_error("seve", known=["eight"], word="form")).endswith(
        "Choose from: eight"
    )


def declaring(group, **numbers):
    """The code of a module that declares numbers."""
    lines = [f"register({group!r}, {name!r}, {value}, f)" for name, value in numbers.items()]
    return "\n".join(["from keju.registry import register", "def f(): ...", *lines, ""])


def test_installed_names_come_after_built_in_ones_with_their_distribution(tmp_path, monkeypatch):
    name, one = module(), registry({"zero": 0})
    code = declaring(one.kind, two=2, one=1)
    distribution(tmp_path, "some-numbers", "1.2", {"numbers": name}, **{name: code})
    monkeypatch.syspath_prepend(tmp_path)
    assert one["zero"] == 0
    assert one.plugin_of("zero") is None
    assert name not in sys.modules
    assert list(one) == ["zero", "one", "two"]
    assert len(one) == 3
    assert one["two"] == 2
    assert one.plugin_of("two") == Plugin(name="some-numbers", version="1.2")
    said = [entry.describe(str) for entry in one.iter_entries()]
    assert said == ["0", "1 [some-numbers 1.2]", "2 [some-numbers 1.2]"]


def test_a_module_that_is_imported_first_belongs_to_its_distribution_too(tmp_path, monkeypatch):
    name, one = module(), registry({})
    distribution(
        tmp_path, "some-numbers", "1.2", {"numbers": name}, **{name: declaring(one.kind, one=1)}
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module(name)
    assert one["one"] == 1
    assert one.plugin_of("one") == Plugin(name="some-numbers", version="1.2")


def test_a_plug_in_that_imports_another_declares_only_its_own_names(tmp_path, monkeypatch):
    first, second, one = module(), module(), registry({})
    code = f"import {second}\n{declaring(one.kind, one=1)}"
    distribution(tmp_path, "first-numbers", "1", {"first": first}, **{first: code})
    other = declaring(one.kind, two=2)
    distribution(tmp_path, "second-numbers", "2", {"second": second}, **{second: other})
    monkeypatch.syspath_prepend(tmp_path)
    assert [str(one.plugin_of(name)) for name in one] == ["first-numbers 1", "second-numbers 2"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [("raise ImportError('needs libnumbers')", "ImportError: needs libnumbers"),
     ("ONE = (", "SyntaxError"),
     ("raise SystemExit", "SystemExit")],
)  # fmt: skip
def test_a_broken_plug_in_is_named_in_lists_and_for_unknown_names(
    tmp_path, monkeypatch, code, reason
):
    name, one = module(), registry({"zero": 0})
    distribution(tmp_path, "bad-numbers", "0.1", {"bad": name}, **{name: code})
    monkeypatch.syspath_prepend(tmp_path)
    assert one["zero"] == 0
    assert one.list_usable() == [0]
    with pytest.raises(PluginError) as failed:
        one.find("bad")
    assert str(failed.value).startswith(f"plug-in bad-numbers 0.1 (entry point bad = {name}): ")
    assert reason in str(failed.value)
    listed = list(one.iter_entries())[1]
    assert (listed.thing, listed.problem) == (None, str(failed.value))
    with pytest.raises(UsageError, match="no number 'one'") as unknown:
        one.find("one")
    assert str(failed.value) in str(unknown.value)


def test_two_providers_of_a_name_are_both_named(tmp_path, monkeypatch):
    one = registry({"zero": 0, "five": 5})
    for dist in ("first-numbers", "second-numbers"):
        name = module()
        code = declaring(one.kind, one=1, zero=1)
        distribution(tmp_path / dist, dist, "1", {dist: name}, **{name: code})
        monkeypatch.syspath_prepend(tmp_path / dist)
    wrong = r"'one' of .* is provided by (second|first)-numbers 1 and by (second|first)-numbers 1"
    assert "one" in one
    (problem,) = (entry.problem for entry in one.iter_entries() if "'one'" in entry.problem)
    assert re.search(wrong, problem)
    with pytest.raises(PluginError, match=r"'zero' of .* is provided by keju and by .*-numbers 1"):
        one.find("zero")
    assert one["five"] == 5


def test_a_declaration_of_a_session_replaces_the_one_before(tmp_path):
    one = registry({})

    def first(): ...
    def second(): ...

    assert register(one.kind, "n", 1, first) is first
    assert one["n"] == 1
    register(one.kind, "n", 2, second)
    assert one["n"] == 2
    assert one.plugin_of("n").name == "test_registry.py"


def plugin_file(path, group, body="register({group!r}, 'nine', 9, nine)"):
    code = "from keju.registry import register\ndef nine(): ...\n" + body.format(group=group) + "\n"
    path.write_text(code, "utf-8")
    return path


def test_a_plugin_file_is_recorded_by_name_and_hash_and_given_to_child_processes(tmp_path):
    one = registry({"zero": 0})
    file = plugin_file(tmp_path / "mine.py", one.kind)
    add_plugin_files([file, file])
    assert list(one) == ["zero", "nine"]
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert one.plugin_of("nine") == Plugin(name="mine.py", sha256=digest)
    assert str(one.plugin_of("nine")) == f"mine.py (sha256 {digest[:12]})"
    assert os.environ[PLUGIN_FILES] == str(file)
    code = (
        f"from keju.registry import Registry; print(Registry('number', {one.kind!r}, {{}})['nine'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("9\n", "")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit", "SystemExit"),
    ],
)
def test_a_broken_plugin_file_is_one_line_each_time(tmp_path, body, reason):
    one = registry({})
    file = plugin_file(tmp_path / "broken.py", one.kind, body)
    for use in (lambda: add_plugin_files([file]), lambda: list(one)):
        with pytest.raises(PluginError) as failed:
            use()
        assert "broken.py" in str(failed.value)
        assert reason in str(failed.value)
        assert "\n" not in str(failed.value)


def test_a_plugin_file_must_exist(tmp_path):
    with pytest.raises(PluginError, match=r"none\.py: No such file"):
        add_plugin_files([tmp_path / "none.py"])


def test_a_broken_plugin_file_that_was_corrected_is_loaded(tmp_path):
    one = registry({})
    file = plugin_file(tmp_path / "mine.py", one.kind, "register({group!r}, 'n', 1, nine); 1 / 0")
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        add_plugin_files([file])
    plugin_file(file, one.kind)
    assert list(one) == ["nine"]


def test_a_file_and_a_distribution_with_the_same_name_clash(tmp_path, monkeypatch):
    name, one = module(), registry({})
    distribution(tmp_path, "nines", "1", {"n": name}, **{name: declaring(one.kind, nine=9000)})
    monkeypatch.syspath_prepend(tmp_path)
    add_plugin_files([plugin_file(tmp_path / "own_nine.py", one.kind)])
    with pytest.raises(PluginError, match=r"by own_nine\.py \(sha256 .* and by nines 1"):
        one["nine"]


@pytest.mark.parametrize("imported_first", [True, False])
def test_a_plugin_file_that_is_imported_too_is_one_provider(tmp_path, monkeypatch, imported_first):
    name, one = module(), registry({})
    file = plugin_file(tmp_path / f"{name}.py", one.kind)
    monkeypatch.syspath_prepend(tmp_path)
    actions = [lambda: importlib.import_module(name), lambda: add_plugin_files([file])]
    for action in actions if imported_first else reversed(actions):
        action()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert one["nine"] == 9
    assert one.plugin_of("nine") == Plugin(name=file.name, sha256=digest)
    assert list(one) == ["nine"]


def test_two_plugin_files_with_one_name_clash(tmp_path, monkeypatch):
    name, one = module(), registry({})
    plugin_file(tmp_path / f"{name}.py", one.kind, "register({group!r}, 'nine', 99, nine)")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module(name)
    with pytest.raises(PluginError, match=rf"by {name}\.py \(sha256 .* and by nine\.py \(sha256"):
        add_plugin_files([plugin_file(tmp_path / "nine.py", one.kind)])
