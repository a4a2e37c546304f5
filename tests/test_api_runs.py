"""Runs in Python: asking, resuming, stopping, scores, leaderboards and comparisons."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import keju
from keju.analysis.leaderboard import leaderboards
from keju.analysis.run_set import load_runs
from keju.errors import KejuError, PrerequisiteError
from tests.support.children import started

TASKS = ["T1", "T7"]


class Answers:
    """A function that answers alike and counts its calls."""

    def __init__(self, text: object = "答案：A") -> None:
        self.text = text
        self.calls = 0

    def __call__(self, images: list[bytes], prompt: str) -> object:
        assert all(isinstance(image, bytes) for image in images)
        assert prompt
        self.calls += 1
        return self.text


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> keju.Run:
    """A scored run of a function and a baseline."""
    models = [keju.PythonModel("always A", Answers()), "baseline:chance"]
    run = keju.run("mini", models, tmp_path_factory.mktemp("api") / "run", tasks=TASKS)
    run.score()
    return run


def test_a_run_is_asked_once_and_resumed(tmp_path):
    function = Answers()
    model = keju.PythonModel("mine", function, version="1")
    for limit, calls in ((1, 2), (None, 18), (None, 18)):
        run = keju.run(keju.load("mini"), model, tmp_path / "run", tasks=TASKS, limit=limit)
        assert (function.calls, run.summary.complete) == (calls, True)
    assert run.models == ["python:mine"]
    assert run.manifest.models["python:mine"] == {"kind": "python", "version": "1"}
    assert run.responses()["text"].unique().to_list() == ["答案：A"]
    assert len(run.items()) == run.responses().height == 18


def test_another_version_of_a_function_is_not_mixed_with_the_first(tmp_path):
    keju.run("mini", keju.PythonModel("mine", Answers()), tmp_path / "run", tasks="T7")
    with pytest.raises(KejuError, match="version of python:mine"):
        keju.run(
            "mini", keju.PythonModel("mine", Answers(), version="2"), tmp_path / "run", tasks="T7"
        )


def test_run_and_arun_work_inside_an_event_loop(tmp_path):
    loops = set()

    async def function(images: list[bytes], prompt: str) -> str:
        loops.add(asyncio.get_running_loop())
        return "B"

    async def main() -> None:
        model = keju.PythonModel("b", function)
        run = keju.run("mini", model, tmp_path / "run", tasks="T7")
        assert loops.isdisjoint({asyncio.get_running_loop()})
        assert run.summary.complete
        loops.clear()
        again = await keju.arun("mini", model, tmp_path / "other", tasks="T7")
        assert loops == {asyncio.get_running_loop()}
        assert again.responses().height == run.responses().height == 9

    asyncio.run(main())


def test_cancelling_arun_keeps_what_was_answered_and_the_same_call_resumes(tmp_path):
    calls = []
    fourth = asyncio.Event()

    async def slow(images: list[bytes], prompt: str) -> str:
        calls.append(prompt)
        if len(calls) == 4:
            fourth.set()
            await asyncio.sleep(60)
        return "A"

    async def main() -> keju.Run:
        model = keju.PythonModel("slow", slow)
        task = asyncio.create_task(keju.arun("mini", model, tmp_path / "run", tasks="T7"))
        await fourth.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert keju.open_run(tmp_path / "run").responses().height == 3
        return await keju.arun("mini", model, tmp_path / "run", tasks="T7")

    assert asyncio.run(main()).summary.complete
    assert len(calls) == 10


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize(
    "call",
    ["work()", "asyncio.run(main())", "asyncio.new_event_loop().run_until_complete(main())"],
)
def test_ctrl_c_stores_what_is_in_flight_and_raises(tmp_path, call):
    script = tmp_path / "script.py"
    script.write_text(
        "import asyncio, sys, time, keju\n"
        "def slow(images, prompt):\n"
        "    print('asked', flush=True)\n"
        "    time.sleep(.5)\n"
        "    return 'A'\n"
        "def work():\n"
        "    try:\n"
        "        keju.run('mini', keju.PythonModel('slow', slow), sys.argv[1], tasks='T7')\n"
        "    except KeyboardInterrupt as error:\n"
        "        print('stopped', keju.open_run(sys.argv[1]).responses().height, error)\n"
        "async def main():\n"
        "    work()\n"
        f"{call}\n",
        "utf-8",
    )
    process = started(
        [sys.executable, str(script), str(tmp_path / "run")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    lines = process.communicate(timeout=60)[0].splitlines()
    asked = 1 + lines.count("asked")
    assert lines[-1].startswith(f"stopped {asked} ")
    assert asked < 9


def test_a_function_that_fails_or_returns_no_text_gives_failures_and_a_warning(tmp_path):
    with pytest.warns(UserWarning, match="not complete"):
        run = keju.run(
            "mini", keju.PythonModel("none", Answers(None)), tmp_path / "run", tasks="T7"
        )
    assert run.summary.failures == 5, "a model that fails five times alike is asked no more"
    frame = run.responses()
    assert set(frame["error"]) == {"engine"}
    assert set(frame["text"]) == {""}
    assert "NoneType" in frame["message"][0]


def test_a_run_in_which_nothing_is_asked_warns(tmp_path):
    with pytest.warns(UserWarning, match="not_asked"):
        keju.run("mini", "baseline:chance", tmp_path / "run", tasks="T1")


@pytest.mark.parametrize(
    ("options", "error", "named"),
    [
        ({"task": "T1"}, TypeError, "'tasks'"),
        ({"limit": "3"}, TypeError, "limit"),
        ({"limit": True}, TypeError, "limit"),
        ({"limit": 1.5}, TypeError, "limit"),
        ({"tasks": [1]}, TypeError, "tasks"),
        ({"items": [1]}, TypeError, "items"),
        ({"prices": 3}, TypeError, "path"),
        ({"prompts": [3]}, TypeError, "path"),
        ({"extra_body": ["a=1"]}, TypeError, "extra_body"),
        ({"progress": "yes"}, TypeError, "progress"),
        ({"limit": 0}, KejuError, "limit"),
        ({"tasks": "T99"}, KejuError, "T99"),
        ({"extra_body": {"api_key": "x"}}, KejuError, "--extra-body: baseline:chance"),
        ({"temperature": float("nan")}, KejuError, "temperature"),
    ],
)
def test_run_refuses_wrong_options(tmp_path, options, error, named):
    with pytest.raises(error, match=named):
        keju.run("mini", "baseline:chance", tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_a_python_function_cannot_be_named_on_the_command_line(tmp_path):
    with pytest.raises(KejuError, match=r"keju\.run"):
        keju.run("mini", "python:mine", tmp_path / "run")


def test_a_function_is_not_asked_with_a_system_prompt(tmp_path):
    prompts = tmp_path / "prompts.toml"
    prompts.write_text('system = "Be short."\n', "utf-8")
    function = Answers()
    with pytest.warns(UserWarning, match="not_asked"):
        keju.run(
            "mini", keju.PythonModel("m", function), tmp_path / "run", prompts=prompts, limit=1
        )
    assert function.calls == 0


@pytest.mark.parametrize("models", [len, [len], 3, None, {"a": len}, [keju.PythonModel]])
def test_run_refuses_what_is_not_a_model(tmp_path, models):
    with pytest.raises(TypeError, match="models"):
        keju.run("mini", models, tmp_path / "run")


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        (("m", "f"), {}, TypeError),
        ((1, len), {}, TypeError),
        (("m", len), {"version": 2}, TypeError),
        (("m", len), {"concurrency": "2"}, TypeError),
        (("m", len), {"concurrency": 0}, ValueError),
        (("", len), {}, ValueError),
        (("a\nb", len), {}, ValueError),
        (("openai:x", len), {}, ValueError),
        (("../x", len), {}, ValueError),
    ],
)
def test_a_python_model_needs_a_plain_name_and_a_function(arguments, options, error):
    with pytest.raises(error):
        keju.PythonModel(*arguments, **options)


def test_a_run_is_its_path(made, tmp_path):
    opened = keju.open_run(made)
    assert (opened.path, opened.models, opened.summary) == (made.path, made.models, None)
    assert Path(opened) == made.path
    assert opened.dataset().manifest == keju.load("mini").manifest
    assert keju.score(made, protocol="strict").tasks.height
    made.score()
    with pytest.raises(KejuError):
        keju.open_run(tmp_path)


def test_failed_and_answered_responses_have_the_same_columns(made):
    assert made.responses().columns == [
        "item", "task", "query", "model", "setting", "script", "wording", "round", "candidate",
        "status", "text", "thinking", "finish_reason", "error", "message", "input_tokens",
        "output_tokens", "seconds", "attempts", "key",
    ]  # fmt: skip


def test_a_leaderboard_has_the_numbers_of_the_report(made):
    board = made.score().leaderboard()
    (found,) = leaderboards(run_set := load_runs([made.path]), run_set.results)
    rows = {(row["model"], row["protocol"]): row for row in board.overall.iter_rows(named=True)}
    assert set(rows) == set(found.results)
    for (model, protocol), row in rows.items():
        sure = found.resampled[protocol]
        assert row["value"] == found.results[model, protocol].overall.value
        assert (row["low"], row["high"]) == sure.overall.get(model, (None, None))
        assert row["rank"] == sure.ranks.get(model, (None, None))[0]
        assert row["role"] == ("baseline" if model.startswith("baseline:") else "model")
    assert board.tasks.filter(board.tasks["low"].is_not_null()).height >= 4
    assert set(board.domains["domain"]) == {"Ancient Chinese Text"}
    assert board.to_frame().equals(board.overall)
    assert repr(board) == "Leaderboard(2 models, 2 tasks)"


def test_a_leaderboard_is_of_a_run_alone(made):
    (item, *_) = [item for item in made.items() if item.task == "T7"]
    with pytest.raises(ValueError, match="run"):
        keju.score([(item, "A")]).leaderboard()


def test_pandas_is_used_where_it_is_installed(made, monkeypatch):
    pandas = pytest.importorskip("pandas")
    board = made.score().leaderboard()
    assert isinstance(board.to_pandas(), pandas.DataFrame)
    assert list(board.to_pandas()["model"]) == board.overall["model"].to_list()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PrerequisiteError, match="pip install pandas"):
        board.to_pandas()


def test_compare_has_the_numbers_of_the_command(made):
    models = ("python:always A", "baseline:chance")
    found = keju.compare(made, model=models)
    names = [word for model in models for word in ("--model", model)]
    command = [sys.executable, "-m", "keju", "compare", str(made.path), *names]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert found.to_dict() == json.loads(done.stdout)
    (row,) = found.tasks.iter_rows(named=True)
    assert row["difference"] == found.to_dict()["tasks"][0]["difference"]
    assert row["more_groups"] == 0
    (mean,) = found.overall.iter_rows(named=True)
    assert (mean["tasks"], mean["p"]) == (["T7"], row["p"])
    assert "No significant difference" in found.verdict
    assert found.to_frame().equals(found.tasks)


def test_compare_says_how_many_groups_are_lacking(tmp_path):
    models = [keju.PythonModel("a", Answers()), keju.PythonModel("b", Answers("答案：B"))]
    run = keju.run("mini", models, tmp_path / "run", tasks="T7", limit=4)
    run.score()
    found = keju.compare(run)
    (row,) = found.tasks.iter_rows(named=True)
    assert (row["groups"], row["needed"], row["more_groups"]) == (4, 6, 2)
    assert (row["p"], row["low"]) == (None, None)
    assert "2 more groups are needed" in found.verdict


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((None,), {}, TypeError),
        ((3,), {}, TypeError),
        (("run",), {"models": "ab"}, TypeError),
        (("run",), {"models": ("a",)}, TypeError),
        (("run",), {"model": 3}, TypeError),
        (("run",), {"protocol": "both"}, ValueError),
        (("run",), {"modles": ("a", "b")}, TypeError),
        (("run",), {}, KejuError),
    ],
)
def test_compare_refuses_wrong_arguments(tmp_path, monkeypatch, arguments, options, error):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        keju.compare(*arguments, **options)


def test_a_report_is_written_and_wrong_values_are_refused(made, tmp_path):
    page = made.report(tmp_path / "report.html", language="zh")
    assert '<html lang="zh">' in page.read_text("utf-8")
    for wrong, error in (
        ({"language": "de"}, ValueError),
        ({"others": "run"}, TypeError),
        ({"prices": 3}, TypeError),
    ):
        with pytest.raises(error):
            made.report(tmp_path / "other.html", **wrong)
    with pytest.raises(KejuError):
        made.report(tmp_path / "report.pdf")
