"""What a registry offers: built-in names, entry points, plug-in files, and what it refuses."""

import hashlib
import importlib
import os
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
    check_installed,
    declare,
)
from tests.support.plugged import distribution, forget_plugins


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    forget_plugins(monkeypatch)


def number(name, found):
    if not isinstance(found, int):
        raise TypeError(f"expected a number for {name}")
    return found


def registry(builtin, *, group=""):
    return Registry("number", group or uuid.uuid4().hex, builtin, number)


def module():
    return f"numbers_{uuid.uuid4().hex}"


def test_built_in_names_keep_their_order_and_are_imported_when_they_are_looked_up():
    one = registry({"seven": 7, "infinite": "sys:maxsize", "gone": "no.such.module:X"})
    assert list(one) == ["seven", "infinite", "gone"]
    assert "gone" in one
    assert (one["seven"], one["infinite"], one.find("seven")) == (7, sys.maxsize, 7)
    assert one.get_plugin("seven") is None
    with pytest.raises(ModuleNotFoundError):
        one["gone"]


def test_built_in_names_may_come_from_a_function():
    asked = []
    one = registry(lambda: asked.append(1) or {"a": 1})
    assert (asked, one["a"], list(one), asked) == ([1], 1, ["a"], [1])


def test_an_unknown_name_has_the_nearest_one_and_all_names_in_its_error():
    one = registry({"seven": 7, "eight": 8})
    wrong = r"x.toml: no number 'sevn'\. Did you mean 'seven'\? Choose from: seven, eight"
    with pytest.raises(UsageError, match=wrong):
        one.find("sevn", place="x.toml")
    with pytest.raises(KeyError):
        one["sevn"]


def test_a_name_of_an_optional_package_is_an_error_that_names_the_package():
    one = registry({"seven": 7})
    other = Registry("number", one.group, {"seven": 7}, number, elsewhere={"pi": "the package pie"})
    missing = r"^x.toml: the number 'pi' is not installed\. It is in the package pie$"
    with pytest.raises(PluginError, match=missing):
        other.find("pi", place="x.toml")
    assert "pi" not in other
    assert isinstance(other.make_unknown_error("seve", known=["eight"], kind="form"), UsageError)
    assert str(other.make_unknown_error("seve", known=["eight"], kind="form")).endswith(
        "Choose from: eight"
    )


def declaring(group, **numbers):
    """The code of a module that declares numbers."""
    lines = [f"declare({group!r}, {name!r}, {value}, f)" for name, value in numbers.items()]
    return "\n".join(["from keju.registry import declare", "def f(): ...", *lines, ""])


def test_installed_names_come_after_built_in_ones_with_their_distribution(tmp_path, monkeypatch):
    name, one = module(), registry({"zero": 0})
    code = declaring(one.group, two=2, one=1)
    distribution(tmp_path, "some-numbers", "1.2", {"numbers": name}, **{name: code})
    monkeypatch.syspath_prepend(tmp_path)
    assert one["zero"] == 0
    assert one.get_plugin("zero") is None
    assert name not in sys.modules
    assert list(one) == ["zero", "one", "two"]
    assert len(one) == 3
    assert one["two"] == 2
    assert one.get_plugin("two") == Plugin(name="some-numbers", version="1.2")
    said = [entry.describe(str) for entry in one.iter_entries()]
    assert said == ["0", "1 [some-numbers 1.2]", "2 [some-numbers 1.2]"]


def test_a_module_that_is_imported_first_belongs_to_its_distribution_too(tmp_path, monkeypatch):
    name, one = module(), registry({})
    distribution(
        tmp_path, "some-numbers", "1.2", {"numbers": name}, **{name: declaring(one.group, one=1)}
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module(name)
    assert one["one"] == 1
    assert one.get_plugin("one") == Plugin(name="some-numbers", version="1.2")


def test_a_plug_in_that_imports_another_declares_only_its_own_names(tmp_path, monkeypatch):
    first, second, one = module(), module(), registry({})
    code = f"import {second}\n{declaring(one.group, one=1)}"
    distribution(tmp_path, "first-numbers", "1", {"first": first}, **{first: code})
    other = declaring(one.group, two=2)
    distribution(tmp_path, "second-numbers", "2", {"second": second}, **{second: other})
    monkeypatch.syspath_prepend(tmp_path)
    assert [str(one.get_plugin(name)) for name in one] == ["first-numbers 1", "second-numbers 2"]


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


def test_a_declaration_of_another_type_is_an_error_of_its_name(tmp_path, monkeypatch):
    name, one = module(), registry({"zero": 0})
    code = declaring(one.group, one="'one'", two=2)
    distribution(tmp_path, "bad-numbers", "0.1", {"bad": name}, **{name: code})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match=r"bad-numbers 0\.1: not a number: expected a"):
        one.find("one")
    assert one.list_usable() == [0, 2]


def test_two_providers_of_a_name_are_both_named(tmp_path, monkeypatch):
    one = registry({"zero": 0, "five": 5})
    for dist in ("first-numbers", "second-numbers"):
        name = module()
        code = declaring(one.group, one=1, zero=1)
        distribution(tmp_path / dist, dist, "1", {dist: name}, **{name: code})
        monkeypatch.syspath_prepend(tmp_path / dist)
    with pytest.raises(PluginError, match=r"'one' is provided by second-numbers.*first-numbers"):
        one["one"]
    with pytest.raises(PluginError, match="'zero' is provided by keju and by second-numbers"):
        one.find("zero")
    assert one["five"] == 5


def test_a_declaration_of_a_session_replaces_the_one_before(tmp_path):
    one = registry({})

    def first(): ...
    def second(): ...

    assert declare(one.group, "n", 1, first) is first
    assert one["n"] == 1
    declare(one.group, "n", 2, second)
    assert one["n"] == 2
    assert one.get_plugin("n").name == "test_registry.py"


def plugin_file(path, group, body="declare({group!r}, 'nine', 9, nine)"):
    code = "from keju.registry import declare\ndef nine(): ...\n" + body.format(group=group) + "\n"
    path.write_text(code, "utf-8")
    return path


def test_a_plugin_file_is_recorded_by_name_and_hash_and_given_to_child_processes(tmp_path):
    one = registry({"zero": 0})
    file = plugin_file(tmp_path / "mine.py", one.group)
    add_plugin_files([file, file])
    assert list(one) == ["zero", "nine"]
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert one.get_plugin("nine") == Plugin(name="mine.py", sha256=digest)
    assert str(one.get_plugin("nine")) == f"mine.py (sha256 {digest[:12]})"
    assert os.environ[PLUGIN_FILES] == str(file)
    code = (
        "from keju.registry import Registry; "
        f"print(Registry('number', {one.group!r}, {{}}, lambda n, x: x)['nine'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("9\n", "")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit", "SystemExit"),
        (
            "declare({group!r}, 'n', 1, nine); declare({group!r}, 'n', 2, nine)",
            "declares 'n' twice",
        ),
    ],
)
def test_a_broken_plugin_file_is_one_line_each_time(tmp_path, body, reason):
    one = registry({})
    file = plugin_file(tmp_path / "broken.py", one.group, body)
    for use in (lambda: add_plugin_files([file]), lambda: list(one)):
        with pytest.raises(PluginError) as failed:
            use()
        assert "broken.py" in str(failed.value)
        assert reason in str(failed.value)
        assert "\n" not in str(failed.value)


def test_a_plugin_file_must_exist_and_be_python(tmp_path):
    with pytest.raises(PluginError, match=r"none\.py: No such file"):
        add_plugin_files([tmp_path / "none.py"])
    text = tmp_path / "text.txt"
    text.write_text("x")
    os.environ[PLUGIN_FILES] = ""
    with pytest.raises(PluginError, match=r"text\.txt: not a Python file"):
        add_plugin_files([text])
    os.environ[PLUGIN_FILES] = ""
    with pytest.raises(PluginError, match="its path contains"):
        add_plugin_files([tmp_path / f"a{os.pathsep}b.py"])


def test_a_file_and_a_distribution_with_the_same_name_clash(tmp_path, monkeypatch):
    name, one = module(), registry({})
    distribution(tmp_path, "nines", "1", {"n": name}, **{name: declaring(one.group, nine=9000)})
    monkeypatch.syspath_prepend(tmp_path)
    add_plugin_files([plugin_file(tmp_path / "own_nine.py", one.group)])
    with pytest.raises(PluginError, match=r"by own_nine\.py \(sha256 .* and by nines 1"):
        one["nine"]


@pytest.mark.parametrize("imported_first", [True, False])
def test_a_plugin_file_that_is_imported_too_is_one_provider(tmp_path, monkeypatch, imported_first):
    name, one = module(), registry({})
    file = plugin_file(tmp_path / f"{name}.py", one.group)
    monkeypatch.syspath_prepend(tmp_path)
    actions = [lambda: importlib.import_module(name), lambda: add_plugin_files([file])]
    for action in actions if imported_first else reversed(actions):
        action()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert one["nine"] == 9
    assert one.get_plugin("nine") == Plugin(name=file.name, sha256=digest)
    assert list(one) == ["nine"]


def test_two_plugin_files_with_one_name_clash(tmp_path, monkeypatch):
    name, one = module(), registry({})
    plugin_file(tmp_path / f"{name}.py", one.group, "declare({group!r}, 'nine', 99, nine)")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module(name)
    add_plugin_files([plugin_file(tmp_path / "nine.py", one.group)])
    with pytest.raises(PluginError, match=rf"by {name}\.py \(sha256 .* and by nine\.py \(sha256"):
        one["nine"]


def test_a_missing_plugin_is_named_and_another_version_is_noted(tmp_path, monkeypatch):
    gone = Plugin(name="no-such-plugin", version="1.2")
    wrong = r"the run R needs the plug-in no-such-plugin 1\.2 \(installed: none\)"
    with pytest.raises(PluginError, match=wrong):
        check_installed([gone], "the run R")
    file = plugin_file(tmp_path / "known.py", "keju.test.known")
    with pytest.raises(
        PluginError, match=r"known\.py \(sha256 0{12}\) \(installed: none\).*--plugin"
    ):
        check_installed([Plugin(name="known.py", sha256="0" * 64)], "the run R")
    add_plugin_files([file])
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert check_installed([Plugin(name="known.py", sha256=digest)], "the run R") == []
    notes = check_installed([Plugin(name="known.py", sha256="0" * 64)], "the run R")
    assert digest[:12] in notes[0]
    distribution(tmp_path / "site", "some-plugin", "1.3", {})
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert check_installed([Plugin(name="some-plugin", version="1.3")], "R") == []
    notes = check_installed([Plugin(name="some-plugin", version="1.2")], "R")
    assert notes == ["R needs the plug-in some-plugin 1.2 (installed: some-plugin 1.3)"]
