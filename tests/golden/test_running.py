"""What a run asks: request keys, drawn samples, identities of models, and what a server receives.

keju is driven by its command line alone (a Python function by `keju.run`). Every part is read from
what a run wrote or a server received: ``responses/`` and ``readings/`` (keys and what they belong
to), ``models`` of run.json (identities), and the recorded requests. `Trial` alone knows where these
are. An address is the same on every machine, since the server is the commands' proxy.

Parts begin with what they contain: ``keys``, ``identities``, ``requests``, ``items`` or
``responses``. A part whose name begins with ``moves:`` is of a kind of file that is to be replaced;
it may move once, with that. What is to go (``--thinking``, ``--boxes MODEL=``) has no part.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import pytest

import keju
from tests.support.commanding import keju as command
from tests.support.released import FORMS, put
from tests.support.serving import Chat
from tests.support.small_got import write_got
from tests.support.snapshots import compare_snapshot

pytest.importorskip("aiohttp", reason="an extra: pip install 'keju[api]'")

Parts = dict[str, list[Any]]

SERVER = "http://models.example/v1"
OCR = "http://ocr.example/ocr_api"
CHAT = ("--model", "openai:served", "--base-url", SERVER)
COPY = ("--model", "baseline:copy")
SETTINGS = ("image", "own-ocr", "gold-ocr", "own-text", "gold-text")
KEYS = {
    "OPENAI_API_KEY": "sk-test-0123456789abcdef",
    "OTHER_KEY": "sk-other-0123456789abcdef",
    "KANDIANGUJI_TOKEN": "token-0123456789abcdef",
    "KANDIANGUJI_EMAIL": "reader@example.org",
}  # fmt: skip

DEFAULTS = {
    "query": "", "setting": "image", "script": "released", "wording": "released", "round": 1,
    "candidate": 0, "box_convention": "", "examples": [], "source_sha256": "",
}  # fmt: skip
"""The fields that distinguish the requests of an item, with the values that are not stored."""

PROGRAMS = {
    "openai": {"resize"},
    "http-ocr": {"resize"},
    "inspect": {"resize", "inspect_ai"},
    "ppocr": {"rapidocr", "onnxruntime", "model_Det", "model_Rec"},
    "tesseract": {"tesseract", "language_data", "orientation_data"},
    "got": {"weights", "transformers", "torch", "dtype"},
}
"""The parts of identities, by kind, that an installed program or a downloaded file decides."""

SHORT = """
source = "prompts.toml"
system = "You know <b>old</b> books."
[prompts.T7]
ask = "Which book is it?\\n{options}\\nAnswer with one letter."
system = "Be brief."
[prompts.T1]
ask = "{prompt}\\n逐列抄錄。"
"""
WRAPPED = """
source = "prompts.toml"
[prompts.T2]
ask = "请看图。{prompt}"
[prompts."recognition/Where"]
ask = "Look closely. {prompt}"
box_convention = "cxcywh-1000"
"""
PROMPTS = ("--prompts", "short.toml", "--prompts", "wrapped.toml")

PLUGIN = """
import keju
from keju.plugins import Answer, Model


@keju.model("first", summary="the first option", role="baseline", local=True)
class First(Model):
    def __init__(self, options):
        self.temperature = options.decoding.temperature

    @property
    def identity(self):
        return {"temperature": str(self.temperature)}

    async def answer(self, request, images):
        return Answer(text="A")
"""


class Trial:
    """Runs commands in a folder, with a recording server as their proxy."""

    def __init__(self, folder: Path, server: Chat) -> None:
        self.folder = folder
        self.server = server
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.lower().endswith("_proxy") and not name.startswith(("OPENAI_", "KEJU_P"))
        }
        self.environment |= {"http_proxy": server.url.removesuffix("/v1"), **KEYS}
        self._runs = 0

    def run(
        self,
        dataset: str,
        *options: object,
        out: str = "",
        status: int = 0,
        environment: Mapping[str, str] | None = None,
        **plan: object,
    ) -> str:
        """Run ``keju run`` and return the run's folder; the server forgets what it received."""
        self.server.plan(**plan)
        self._runs += 1
        out = out or f"run-{self._runs}"
        self.call("run", dataset, "-o", out, *options, status=status, environment=environment)
        return out

    def call(
        self, *words: object, status: int = 0, environment: Mapping[str, str] | None = None
    ) -> None:
        """Run a command that ends with an exit status."""
        variables = {**self.environment, **(environment or {})}
        process = command(*words, cwd=self.folder, env={k: v for k, v in variables.items() if v})
        assert process.returncode == status, (words, process.stdout, process.stderr)

    def keys(self, run: str) -> list[Any]:
        """Task, item, what distinguishes the request, and key of each stored response."""
        files = sorted((self.folder / run).glob("responses/*/*.jsonl"))
        files += sorted((self.folder / run).glob("readings/*.jsonl"))
        rows = []
        for file in files:
            for row in map(json.loads, file.read_text("utf-8").splitlines()):
                parts = {name: row.get(name, default) for name, default in DEFAULTS.items()}
                parts = {name: value for name, value in parts.items() if value != DEFAULTS[name]}
                rows.append([row["task"], row["item"], parts, row["key"]])
        return in_order(rows)

    def responses(self, run: str, *fields: str) -> list[Any]:
        """Fields of each stored response."""
        files = (self.folder / run).glob("responses/*/*.jsonl")
        lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
        return in_order([[row["item"], *map(row.get, fields)] for row in map(json.loads, lines)])

    def identities(self, run: str) -> list[Any]:
        """Name and identity of each model of a run, without versions of programs."""
        models = json.loads((self.folder / run / "run.json").read_text("utf-8"))["models"]
        return [[name, without_programs(identity)] for name, identity in sorted(models.items())]

    def models_of(self, run: str) -> list[tuple[str, dict[str, str], str]]:
        """Name, whole identity and the key of one response of each model of a run."""
        models = json.loads((self.folder / run / "run.json").read_text("utf-8"))["models"]
        files = (self.folder / run).glob("responses/*/*.jsonl")
        rows = (json.loads(file.read_text("utf-8").splitlines()[0]) for file in files)
        return sorted((row["model"], models[row["model"]], row["key"]) for row in rows)

    def items(self, run: str) -> list[Any]:
        """The items of a run, each with the number of its requests."""
        counts: dict[str, int] = {}
        for _, item, *_ in self.keys(run):
            counts[item] = counts.get(item, 0) + 1
        return sorted(counts.items())

    def requests(self) -> list[Any]:
        """Method, address, headers and body of each request since the server's last plan."""
        return self.server.get("recorded")


class Page(NamedTuple):
    """A request for the transcription of an image, by all that decides its key but the model."""

    prompt: str
    image: str

    def key(self, identity: Mapping[str, str]) -> str:
        """The key that an identity gives it: the form is written here a second time."""
        fields = {
            "": "keju-key-1", "box_convention": "", "choices": [], "form": "transcription",
            "identity": {k: v for k, v in identity.items() if (k, v) != ("dtype", "unknown")},
            "images": [self.image], "prompt": self.prompt, "query": "", "round": 1,
            "setting": "image", "source": "",
        }  # fmt: skip
        text = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def in_order(rows: Iterable[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: json.dumps(row, ensure_ascii=False, sort_keys=True))


def without_programs(identity: Mapping[str, str]) -> dict[str, str]:
    programs = PROGRAMS.get(identity["kind"], set())
    return {name: "*" if name in programs else value for name, value in identity.items()}


def plain_png(shade: int, width: int = 40, height: int = 60) -> bytes:
    """A grey image, whose bytes no version of a compressor changes."""
    rows = (b"\0" + bytes([shade]) * width) * height
    data = b"\x78\x01\x01" + struct.pack("<HH", len(rows), len(rows) ^ 0xFFFF)
    data += rows + struct.pack(">I", zlib.adler32(rows))
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", data),
        (b"IEND", b""),
    ]
    png = b"\x89PNG\r\n\x1a\n"
    for name, body in chunks:
        png += struct.pack(">I", len(body)) + name + body
        png += struct.pack(">I", zlib.crc32(name + body))
    return png


def keys_of_the_bundled_set(trial: Trial) -> Parts:
    """The whole set: settings, scripts, rounds, wordings, boxes, own prompts and a label."""
    put(trial.folder / "short.toml", SHORT)
    put(trial.folder / "wrapped.toml", WRAPPED)
    scripts = ("--script", "simplified", "--script", "traditional")
    variants: dict[str, tuple[object, ...]] = {
        "image, two rounds": ("--rounds", 2),
        **{setting: ("--setting", setting, "--script", "released", *scripts)
           for setting in SETTINGS},
        "own-ocr and own-text, two rounds": (
            "--setting", "own-ocr", "--setting", "own-text", "--rounds", 2, "--task", "T7",
        ),
        "wordings": ("--wording", "released", "--wording", "obi-gemini", *scripts,
                     "--task", "recognition", "--rounds", 2),
        "own prompts": (*PROMPTS, *scripts),
        "own prompts and the released one": (
            *PROMPTS, "--wording", "released", "--setting", "gold-ocr",
            "--setting", "image", "--task", "T7", "--task", "T2", "--task", "T1",
        ),
        "a label": ("--label", "step-2000", "--limit", 1),
    }  # fmt: skip
    parts = {
        f"keys: bundled set, {name}": trial.keys(trial.run("mini", *COPY, *options))
        for name, options in variants.items()
    }
    parts["keys: bundled set, box conventions"] = [
        [name, *row]
        for name in ("yxyx", "xywh", "cxcywh", "xyxy-unit", "yxyx-1000", "cxcywh-1000")
        for row in trial.keys(trial.run("mini", *COPY, "--boxes", name, "--task", "recognition"))
    ]
    return parts


def pairs(trial: Trial) -> Parts:
    """Reduced forms of pairs, drawn with several seeds."""
    rejoining = ("--task", "rejoining")
    forms: dict[str, tuple[object, ...]] = {
        "once": rejoining,
        "gallery=4": rejoining,
        "gallery=5": (),
        "gallery=5,seed=7": (),
        "gallery=9,seed=1": ("--rounds", 2, "--task", "retrieval"),
    }  # fmt: skip
    return {
        f"keys: pairs, {form}": trial.keys(
            trial.run("mini", *COPY, "--pairs", form, "--task", "T7", *options)
            if options
            else trial.run("mini", *COPY, "--pairs", form)
        )
        for form, options in forms.items()
    }


def samples(trial: Trial) -> Parts:
    """The items that are drawn, and how they are divided."""
    put(trial.folder / "ids.txt", "".join(f"{name}\n" for name, _ in trial.items("run-1")[::3]))
    tasks = ("--task", "T7", "--task", "recognition/Where", "--task", "classification")
    choices: list[tuple[object, ...]] = [
        ("--sample", size, "--seed", seed) for size in (1, 7, 40, 300) for seed in (0, 5)
    ]
    choices += [
        ("--limit", 3),
        ("--limit", 2, "--sample", 50, "--seed", 1),
        ("--sample", 9, *tasks),
        ("--sample", 30, "--items", "ids.txt"),
        *[("--shard", f"{number}/3") for number in (1, 2, 3)],
        ("--shard", "2/2", "--sample", 60, "--seed", 3),
    ]
    runs = {" ".join(map(str, choice)): trial.run("mini", *COPY, *choice) for choice in choices}
    shards = [run for name, run in runs.items() if "/3" in name]
    trial.call("merge", *shards, "--out", "merged")
    parts = {f"items: {name}": trial.items(run) for name, run in runs.items()}
    return {**parts, "keys: merged shards": trial.keys("merged")}


def import_form(trial: Trial, name: str) -> str:
    """Import a source of `FORMS`, whose images are replaced; return the dataset's folder."""
    form, folder = FORMS[name], name.replace(" ", "-")
    form.build(trial.folder / folder)
    for place, path in enumerate(sorted((trial.folder / folder).rglob("*.png"))):
        path.write_bytes(plain_png(20 * place % 251))
    trial.call(
        "data", "import", form.name, folder, "--out", f"{folder}-data",
        "--licence", "CC0-1.0", "--source", "made for a test",
        *(f"--option={option}={value}" for option, value in form.options.items()),
    )  # fmt: skip
    return f"{folder}-data"


def layouts(trial: Trial) -> Parts:
    """Imported sources, through a server: questions as released, pages, boxes and pairs."""
    parts: Parts = {}
    names = (
        "pages", "mcs-bench", "mcs-bench, tables by task", "ancientdoc",
        "obi-recognition, boxes.csv", "obi-rejoining", "obi-deciphering",
    )  # fmt: skip
    for name in names:
        run = trial.run(
            import_form(trial, name), *CHAT, "--setting", "image", "--setting", "own-ocr",
            "--script", "released", "--script", "traditional",
        )  # fmt: skip
        parts[f"keys: layout {name}"] = trial.keys(run)
        parts[f"requests: layout {name}"] = in_order(trial.requests())
    return parts


def prompts_to_a_server(trial: Trial) -> Parts:
    """One item of each task in every setting and script, and whatever else changes a prompt."""
    scripts = ("--script", "released", "--script", "simplified", "--script", "traditional")
    tasks = ("--task", "T7", "--task", "T2", "--task", "recognition", "--limit", 2)
    variants: dict[str, tuple[object, ...]] = {
        **{setting: ("--setting", setting, "--limit", 1, *scripts) for setting in SETTINGS},
        "rounds": (*tasks, "--rounds", 3, "--setting", "own-text", "--setting", "image"),
        "wordings": ("--wording", "released", "--wording", "obi-gemini", "--task", "recognition"),
        "own prompts": (*PROMPTS, "--wording", "released", *tasks),
        "boxes": (*tasks, "--boxes", "yxyx-1000"),
        "pairs": ("--pairs", "gallery=4", "--task", "rejoining", "--limit", 4),
        "a label": (*tasks, "--label", "step-2000"),
    }  # fmt: skip
    parts: Parts = {}
    for name, options in variants.items():
        run = trial.run("mini", *CHAT, *options)
        parts[f"keys: server, {name}"] = trial.keys(run)
        parts[f"requests: {name}"] = in_order(trial.requests())
    return parts


def options_of_a_server(trial: Trial) -> Parts:
    """Decoding, system prompts, presets, keys and addresses, with the identities that they make."""
    put(trial.folder / "system.txt", "惜墨如金。\n第二行\n")
    decoding = ("--temperature", 0.8, "--top-p", 0.95, "--top-k", 50, "--max-tokens", 2048)
    thinking = 'chat_template_kwargs={"enable_thinking": false, "budget": 1.5}'
    variants: dict[str, tuple[object, ...]] = {
        "defaults": (),
        "decoding": decoding,
        "temperature of 0": ("--temperature", 0),
        "a sampling seed": ("--temperature", 1, "--sampling-seed", 11),
        "reasoning effort": ("--reasoning-effort", "low"),
        "extra body": (
            "--extra-body",
            thinking,
            "--extra-body",
            "logprobs=true",
            "--extra-body",
            'user="k"',
        ),
        "system prompt": ("--system-prompt", "Answer in Chinese."),
        "system prompt of a file": ("--system", "@system.txt"),
        "dtype": ("--dtype", "bfloat16"),
        "preset": ("--preset", "mcs-bench"),
        "preset, overridden": ("--preset", "mcs-bench", "--temperature", 0.2, "--rounds", 2),
        "another key": ("--api-key-env", "OTHER_KEY"),
        "no key": ("--api-key-env", "NO_SUCH_KEY"),
    }
    parts: Parts = {}
    for name, options in variants.items():
        run = trial.run("mini", *CHAT, "--task", "T7", "--limit", 2, *options)
        parts[f"identities: openai, {name}"] = trial.identities(run)
        parts[f"keys: openai, {name}"] = trial.keys(run)
        parts[f"requests: openai, {name}"] = in_order(trial.requests())
    bone = ("--limit", 1, "--task", "recognition")
    run = trial.run("mini", *CHAT, *bone, "--preset", "obi-bench")
    parts["keys: openai, preset of rounds"] = trial.keys(run)
    address = {"OPENAI_BASE_URL": "http://other.example/v1/"}
    run = trial.run("mini", "--model", "openai:a/b@c", *bone, environment=address)
    parts["identities: openai, address of the environment"] = trial.identities(run)
    parts["keys: openai, address of the environment"] = trial.keys(run)
    parts["requests: openai, address of the environment"] = in_order(trial.requests())
    # The bytes of a smaller image, and so its key, depend on Pillow.
    for option, limit in (("--max-pixels", 20000), ("--max-bytes", 9000)):
        run = trial.run(
            "mini", *CHAT, option, limit, "--task", "T1", "--task", "rejoining", "--limit", 2,
            images="pixels" if option == "--max-pixels" else "format",
        )  # fmt: skip
        parts[f"identities: openai, {option}"] = trial.identities(run)
        parts[f"requests: openai, {option}"] = in_order(trial.requests())
    return parts


def resumed_runs(trial: Trial) -> Parts:
    """The same command with more rounds and items sends what is missing, and no more."""
    options = (*CHAT, "--task", "T7", "--setting", "own-text")
    run = trial.run("mini", *options, "--limit", 1)
    trial.run("mini", *options, "--limit", 2, "--rounds", 2, out=run)
    requests = in_order(trial.requests())
    trial.run("mini", *options, "--limit", 2, "--rounds", 2, out=run)
    assert trial.requests() == []
    return {"requests: resumed run": requests, "keys: resumed run": trial.keys(run)}


def refused_parameters(trial: Trial) -> Parts:
    """One request after the other to a server that takes neither parameter."""
    refusals = [
        {"has": [name], "status": 400, "body": {"error": {"message": message, "type": "invalid"}}}
        for name, message in (
            ("temperature", "Unsupported value: 'temperature' does not support 0.8 with this "
             "model. Only the default (1) value is supported."),
            ("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. "
             "Use 'max_completion_tokens' instead."),
        )
    ]  # fmt: skip
    run = trial.run(
        "mini", *CHAT, "--temperature", 0.8, "--max-tokens", 64, "--task", "T7", "--limit", 3,
        "--concurrency", 1, refusals=refusals,
    )  # fmt: skip
    return {
        "requests: refused parameters, in their order": trial.requests(),
        "keys: refused parameters": trial.keys(run),
        "identities: refused parameters": trial.identities(run),
        "responses: refused parameters": trial.responses(run, "refused", "decoding"),
    }


def batches(trial: Trial) -> Parts:
    """The same requests in a batch; only how its lines and itself are named may differ."""
    options = (
        *CHAT,
        "--task",
        "T7",
        "--task",
        "T1",
        "--limit",
        3,
        "--temperature",
        0,
        "--batch",
    )
    run = trial.run("mini", *options, status=1)
    trial.server.post("work", {})
    trial.call("run", "mini", "-o", run, *options)
    requests = trial.requests()
    lines = [
        line for _, _, _, body in requests if body and "lines" in body for line in body["lines"]
    ]
    assert len({line.pop("custom_id") for line in lines}) == len(lines)
    for _, _, _, body in requests:
        if body and "lines" in body:
            body["lines"] = in_order(body["lines"])
        if body and "metadata" in body:
            body["metadata"] = dict.fromkeys(body["metadata"], "*")
    return {
        "requests: batch, sent": in_order([row for row in requests if row[0] == "POST"]),
        "requests: batch, collected": in_order([row for row in requests if row[0] != "POST"]),
        "keys: batch": trial.keys(run),
    }


def other_models(trial: Trial) -> Parts:
    """Every other kind whose identity no installed program changes."""
    put(trial.folder / "first.py", PLUGIN)
    pages = "pages-data"
    names = [name for name, _ in trial.items("run-1") if name.endswith("t7")]
    lines = [{"item": name, "text": "ABCD"[place % 4]} for place, name in enumerate(names)]
    put(trial.folder / "answers.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    rows = [{"ID": line["item"], "Task_ID": "T7", "Response": line["text"]} for line in lines]
    put(trial.folder / "RESPONSES.json", json.dumps(rows))
    put(trial.folder / "both/1.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines[::2]))
    put(trial.folder / "both/2.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines[1::2]))
    for number in range(3):
        put(trial.folder / f"texts/book/p{number}.txt", f"第{number}頁\n天地\n")
    put(trial.folder / "mixed/p0.txt", "第零頁")
    put(trial.folder / "mixed/p1.txt", "第一頁\n")
    t7, t1 = ("--task", "T7", "--limit", 2), ("--task", "T1", "--limit", 2)
    runs: dict[str, tuple[str, tuple[object, ...]]] = {
        "blind": ("mini", ("--model", "blind:openai:served", *t7)),
        "blind, decoding": (
            "mini", ("--model", "blind:openai:served", *t7, "--temperature", 0, "--rounds", 2)),
        "shuffled": ("mini", ("--model", "shuffled:openai:served", "--limit", 1)),
        "shuffled, seed 3": ("mini", ("--model", "shuffled:openai:served", *t7, "--seed", 3)),
        "shuffled engine": (
            "mini", ("--model", f"shuffled:http-ocr:{OCR}", "--task", "T1", "--limit", 3)),
        "http-ocr": ("mini", ("--model", f"http-ocr:{OCR}", *t1)),
        "ocr+llm": ("mini", ("--model", f"ocr+llm:http-ocr:{OCR}+openai:served", *t7)),
        "ocr+llm, scripts": (
            "mini", ("--model", f"ocr+llm:http-ocr:{OCR}+openai:served", *t7,
                     "--temperature", 0.5, "--script", "traditional", "--rounds", 2)),
        "ocr+llm of a baseline": (
            "mini", ("--model", f"ocr+llm:http-ocr:{OCR}+baseline:copy", *t7)),
    }  # fmt: skip
    parts: Parts = {}
    for name, (dataset, options) in runs.items():
        run = trial.run(dataset, "--base-url", SERVER, *options)
        parts[f"identities: {name}"] = trial.identities(run)
        parts[f"keys: {name}"] = trial.keys(run)
        parts[f"requests: {name}"] = in_order(trial.requests())
    runs = {
        "replay": ("mini", ("--model", "replay:answers.jsonl", *t7)),
        "replay of RESPONSES.json": ("mini", ("--model", "replay:RESPONSES.json", *t7)),
        "results of an engine": (pages, ("--model", "replay:text-engine=texts")),
        "results of an engine, a page missing": (pages, ("--model", "replay:b=mixed")),
        "baselines": (
            "mini", ("--model", "baseline:chance", "--model", "baseline:majority")),
        "baselines, seed 9": (
            "mini", ("--model", "baseline:chance", "--seed", 9, "--task", "T7", "--limit", 4)),
        "baselines of another dataset": (
            "obi-rejoining-data", ("--model", "baseline:majority", *COPY)),
        "plug-in": ("mini", ("--model", "first", "--plugin", "first.py", *t7)),
        "plug-in, decoding": (
            "mini", ("--model", "first", "--plugin", "first.py", "--temperature", 0.5, *t7)),
    }  # fmt: skip
    for name, (dataset, options) in runs.items():
        run = trial.run(dataset, *options, status=int("missing" in name))
        parts[f"identities: {name}"] = trial.identities(run)
        parts[f"keys: {name}"] = trial.keys(run)
        if name.startswith("baselines"):
            parts[f"responses: {name}"] = trial.responses(
                run, "model", "round", "candidate", "text"
            )
    run = trial.run("mini", "--model", "replay:both", *t7)
    parts["moves: identities: replay of a folder"] = trial.identities(run)
    run = trial.run("mini", "--model", "baseline:hog", "--task", "classification", "--limit", 2)
    parts["identities: baseline:hog"] = trial.identities(run)
    return parts


def python_functions(trial: Trial) -> Parts:
    """A user's functions, in this process."""
    parts: Parts = {}
    for version in ("", "2"):
        model = keju.PythonModel("mine", lambda images, prompt: prompt, version=version)
        out = f"python-{version or 0}"
        keju.run("mini", model, trial.folder / out, tasks=["T7"], limit=2)
        parts[f"identities: python function, version {version!r}"] = trial.identities(out)
        parts[f"keys: python function, version {version!r}"] = trial.keys(out)
    return parts


def judges(trial: Trial) -> Parts:
    """What a judge is asked about open answers."""
    run = trial.run("mini", *COPY, "--task", "T2", "--task", "T15", "--limit", 2)
    trial.call("score", run)
    trial.server.plan(says='{"reason": "fair", "score": 7}')
    trial.call(
        "judge", "grade", run, "--model", "openai:judge", "--base-url", SERVER, "--repeats", 2
    )
    return {"requests: judge": in_order(trial.requests())}


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    server = Chat("recording_server")
    yield Trial(tmp_path, server)
    server.stop()


def engines(trial: Trial) -> Parts:
    """Kinds that need installed programs; keys are compared with what the identity makes them."""
    write_got(trial.folder / "got")
    data = import_form(trial, "pages")
    run = trial.run(data, *COPY, "--limit", 1)
    image = next(iter(keju.load(trial.folder / data))).images[0].sha256
    ((_, prompt),) = trial.responses(run, "text")
    page = Page(prompt, image)
    assert [page.key(identity) for _, identity, _ in trial.models_of(run)] == [
        key for *_, key in trial.keys(run)
    ]
    runs: dict[str, tuple[object, ...]] = {
        "engines": (
            "--model", "ppocr", "--model", "tesseract",
            "--model", "tesseract:psm=6", "--model", "got:got", "--max-tokens", 4),
        "engines, their own order": (
            "--model", "ppocr", "--model", "tesseract:lang=chi_tra_vert,psm=5",
            "--model", "got:got", "--max-tokens", 5, "--no-reading-order"),
        "inspect": ("--model", "inspect:openai/served", "--base-url", SERVER),
        "inspect, decoding": (
            "--model", "inspect:openai/served", "--base-url", SERVER, "--temperature", 0.5,
            "--max-tokens", 64, "--system-prompt", "Be brief.", "--max-pixels", 20000),
    }  # fmt: skip
    parts: Parts = {}
    for name, options in runs.items():
        run = trial.run(data, "--limit", 1, *options)
        parts[f"identities: {name}"] = trial.identities(run)
        parts[f"keys: {name}"] = [
            [model, key == page.key(identity)] for model, identity, key in trial.models_of(run)
        ]
    baselines = {
        "components": ("--task", "recognition/Where"),
        "edges": ("--task", "rejoining"),
    }
    for name, options in baselines.items():
        run = trial.run("mini", "--model", f"baseline:{name}", "--limit", 1, *options)
        parts[f"identities: baseline:{name}"] = trial.identities(run)
    return parts


def lacks_engines() -> bool:
    packages = ("rapidocr", "torch", "transformers", "inspect_ai")
    return not all(map(find_spec, packages)) or which("tesseract") is None


GROUPS: tuple[Callable[[Trial], Parts], ...] = (
    keys_of_the_bundled_set, pairs, samples, layouts, prompts_to_a_server,
    options_of_a_server, resumed_runs, refused_parameters, batches, other_models,
    python_functions, judges,
)  # fmt: skip


def test_keys_samples_identities_and_requests_are_the_recorded_ones(trial: Trial):
    parts: Parts = {}
    for group in GROUPS:
        parts |= group(trial)
    compare_snapshot("running", parts)


@pytest.mark.skipif(lacks_engines(), reason="an engine is not installed: make install-semantic")
def test_identities_of_engines_are_the_recorded_ones(trial: Trial):
    compare_snapshot("running_engines", engines(trial))
